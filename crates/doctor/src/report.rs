//! Diagnoses as a document for programs, and as a report for pages and tables.

use crate::crash::report::{CrashFrame, CrashReport};
use crate::finding::{CauseFinding, Certainty, Diagnosis, DiagnosisVerdict, TroubleCause};
use crate::log::{EvidenceSource, LogPlace};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_measure::report::{DIAGNOSIS, Report};
use espbench_measure::run::RunFacts;
use espbench_measure::table::{Column, Table, TableRow};
use espbench_measure::tune::TuneCard;
use serde::Serialize;

/// Version of the JSON form.
pub const SCHEMA: &str = "espbench-doctor/1";

/// Value of a proof, as the files describe the device and with the remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProofValue {
    /// Stable name of the metric.
    pub metric: String,
    /// Metric in words.
    pub words: String,
    /// Unit of the values.
    pub unit: String,
    /// Whether more is better.
    pub more: bool,
    /// Mean and interval at 95 % over seeds, as the files describe the device.
    pub before: [f64; 3],
    /// Mean and interval with the remedy.
    pub after: [f64; 3],
}

impl ProofValue {
    /// Returns whether the remedy makes it better, and the intervals lie apart.
    #[must_use]
    pub fn improves(&self) -> bool {
        let ([_, low, high], [_, after_low, after_high]) = (self.before, self.after);
        if self.more { after_low > high } else { after_high < low }
    }

    /// Returns whether the remedy makes it worse, and the intervals lie apart.
    fn worsens(&self) -> bool {
        let ([_, low, high], [_, after_low, after_high]) = (self.before, self.after);
        if self.more { after_high < low } else { after_low > high }
    }
}

/// Outcome of showing a cause in the lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownProof {
    /// Cause that the lab was set up for.
    pub cause: TroubleCause,
    /// Place and firmware that the lab had.
    pub place: String,
    /// Whether the complaint came in the lab and the remedy took it away: the intervals lie apart.
    pub reproduced: bool,
    /// Remedy that was tried.
    pub remedy: String,
    /// Values, that of the complaint first.
    pub values: Vec<ProofValue>,
    /// Seeds.
    pub seeds: u32,
}

/// Answer to whether the lab shows the first cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofOutcome {
    /// The lab was asked.
    Lab(ShownProof),
    /// The lab cannot show it, for that reason.
    CannotShow(String),
}

/// Diagnosis of one incident, with its files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagnosisEntry {
    /// Names of the files, or of the stored run.
    pub files: Vec<String>,
    /// Lines of the log; absent without one.
    pub lines: Option<u64>,
    /// Lines of the log in a known format; absent without one.
    pub recorded: Option<u64>,
    /// Answer in a sentence.
    pub answer: String,
    /// The diagnosis.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// Crashes with their frames: core dumps, and backtraces where a program was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<CrashReport>,
    /// Proof of the first cause that the lab can show; absent where it was not asked for.
    pub proof: Option<ProofOutcome>,
}

/// Diagnoses of all files of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoctorDocument {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Diagnoses, in the order of the files.
    pub diagnoses: Vec<DiagnosisEntry>,
}

/// Devices from which on a document leads with who suffers from what.
const GROUPED: usize = 3;

/// Names of files in a row of the table of groups, at most; a page has all.
const NAMES: usize = 4;

/// Diagnoses whose first cause is the same.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseGroup<'a> {
    /// Stable name of the cause; none where no cause was found.
    pub cause: Option<String>,
    /// Diagnoses, in the order of the files.
    pub entries: Vec<&'a DiagnosisEntry>,
}

impl DoctorDocument {
    /// Returns whether it is of so many devices that who suffers from what comes first.
    #[must_use]
    pub const fn is_grouped(&self) -> bool {
        self.diagnoses.len() >= GROUPED
    }

    /// Returns the diagnoses by their first causes: those of most devices first, those without a cause last.
    #[must_use]
    pub fn groups(&self) -> Vec<CauseGroup<'_>> {
        let mut groups: Vec<CauseGroup<'_>> = Vec::new();
        for entry in &self.diagnoses {
            let cause = entry.diagnosis.findings.first().map(|it| it.cause.name());
            let verdict = entry.diagnosis.verdict;
            let is_same = |it: &&mut CauseGroup<'_>| {
                it.cause == cause && it.entries[0].diagnosis.verdict == verdict
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.entries.push(entry),
                None => groups.push(CauseGroup { cause, entries: alloc::vec![entry] }),
            }
        }
        groups.sort_by_key(|it| (it.cause.is_none(), core::cmp::Reverse(it.entries.len())));
        groups
    }

    /// Returns the table of who suffers from what. Without `all`, a row names a few files.
    #[must_use]
    pub fn devices(&self, all: bool) -> Table {
        let columns = alloc::vec![
            Column::setting("devices", ""),
            Column::words("first cause"),
            Column::words("certainty"),
            Column::words("files"),
        ];
        let row = |it: &CauseGroup<'_>| -> TableRow {
            let most = if all { usize::MAX } else { NAMES };
            let names = it.entries.iter().map(|it| it.files.join(" and "));
            let mut names: Vec<String> = names.take(most).collect();
            let more = it.entries.len() - names.len();
            if more > 0 {
                names.push(format!("{more} more"));
            }
            alloc::vec![
                Some(it.entries.len().to_string()),
                Some(it.title()),
                it.certainty(),
                Some(names.join(", ")),
            ]
        };
        let rows = self.groups().iter().map(row).collect();
        table("doctor-devices", "Who suffers from what", columns, rows)
    }
}

impl CauseGroup<'_> {
    /// Returns what they have in common: the answer of all, or the cause without what one log tells of it.
    fn title(&self) -> String {
        let first = self.entries[0];
        let is_same = self.entries.iter().all(|it| it.answer == first.answer);
        let record = |it: &DiagnosisEntry| it.diagnosis.findings.first()?.record();
        let names = self.entries.iter().map(|it| record(it).map(|it| &*it.name));
        let is_one = names.collect::<BTreeSet<_>>().len() == 1;
        // Of several records the first one of their cause; a title with a place for a number is of one log.
        let of_cause = || first.diagnosis.findings.first()?.cause.record();
        let common = if is_one { record(first) } else { of_cause() };
        let common = common.filter(|it| !is_same && !it.title.contains('{'));
        common.map_or_else(|| first.answer.clone(), |it| it.title.clone())
    }

    /// Returns how sure its causes are: one word, or the least and the most.
    fn certainty(&self) -> Option<String> {
        let all = self.entries.iter().filter_map(|it| it.diagnosis.findings.first());
        let all: Vec<Certainty> = all.map(|it| it.certainty).collect();
        let (least, most) = (all.iter().min()?, all.iter().max()?);
        Some(match least == most {
            true => least.word().into(),
            false => format!("{} to {}", least.word(), most.word()),
        })
    }
}

/// Returns the answer of a diagnosis in a sentence without its full stop.
#[must_use]
pub fn answer(diagnosis: &Diagnosis) -> String {
    match (diagnosis.verdict, diagnosis.findings.first()) {
        (DiagnosisVerdict::Causes, Some(first)) => first.title.clone(),
        (DiagnosisVerdict::CannotTell, _) => {
            "this file cannot tell: it has no line of Wi-Fi or of a crash".into()
        }
        _ => "nothing wrong is seen".into(),
    }
}

impl DiagnosisEntry {
    /// Returns the files and the answer.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.files.join(" and "), self.answer)
    }
}

impl ShownProof {
    /// Returns whether the lab shows the cause, in a sentence without its full stop.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        match (self.reproduced, self.values.iter().any(ProofValue::worsens)) {
            (true, _) => "The lab shows it",
            (_, true) => "The lab contradicts it: it is worse with the remedy",
            _ => "The lab does not show it: the intervals overlap",
        }
    }

    /// Returns the outcome in sentences, with the first value.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { place, remedy, seeds, values, .. } = self;
        let outcome = self.outcome();
        let Some(ProofValue { words, unit, before, after, .. }) = values.first() else {
            return format!("{outcome}. With {place}; {seeds} seeds each, simulated.");
        };
        format!(
            "{outcome}. With {place}: {words} {} {unit} as the files describe the device, {} with {remedy}; {seeds} seeds each, simulated.",
            shown(*before),
            shown(*after)
        )
    }
}

impl ProofOutcome {
    /// Returns whether it is about that finding, which has this rank from 0.
    #[must_use]
    pub fn is_of(&self, rank: usize, finding: &CauseFinding) -> bool {
        match self {
            Self::Lab(it) => it.cause == finding.cause,
            Self::CannotShow(_) => rank == 0,
        }
    }

    /// Returns the outcome in sentences.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Lab(it) => it.words(),
            Self::CannotShow(why) => format!("The lab cannot show it: {why}."),
        }
    }
}

/// Returns a place as it is named beside its text: `line 7`, `sdkconfig line 3`, `sample 12`, `core dump`.
#[must_use]
pub fn place_name(place: &LogPlace) -> String {
    match place.source {
        EvidenceSource::Log => format!("line {}", place.line),
        EvidenceSource::SdkConfig => format!("sdkconfig line {}", place.line),
        EvidenceSource::Run => format!("sample {}", place.line),
        EvidenceSource::Capture => format!("frame {}", place.line),
        EvidenceSource::CoreDump => "core dump".into(),
    }
}

/// Returns the table of all causes.
#[must_use]
pub fn causes(document: &DoctorDocument) -> Table {
    let columns = alloc::vec![
        Column::words("file"),
        Column::setting("rank", ""),
        Column::words("cause"),
        Column::words("in words"),
        Column::words("certainty"),
        Column::setting("times", ""),
        Column::setting("share", "percent"),
        Column::words("first evidence"),
        Column::words("remedy"),
        Column::words("confirm"),
        Column::words("follows from"),
        Column::words("page"),
    ];
    let row = |entry: &DiagnosisEntry, at: usize, it: &CauseFinding| -> TableRow {
        let first = it.evidence.first().map(|it| format!("{}: {}", place_name(it), it.text));
        alloc::vec![
            Some(entry.files.join(" and ")),
            Some((at + 1).to_string()),
            Some(it.cause.name()),
            Some(it.title.clone()),
            Some(it.certainty.word().into()),
            Some(it.incidents.to_string()),
            Some(format!("{:.0}", 100.0 * it.share)),
            first,
            Some(it.remedy.clone()),
            Some(it.confirm.clone()),
            it.follows_from.map(TroubleCause::name),
            it.link.clone(),
        ]
    };
    let rows = document.diagnoses.iter().flat_map(|entry| {
        entry.diagnosis.findings.iter().enumerate().map(move |(at, it)| row(entry, at, it))
    });
    table("doctor-causes", "Causes, those first that explain most", columns, rows.collect())
}

/// Returns the columns of the causes for which a page has room: file, rank, words, certainty, share and remedy.
fn on_page(mut table: Table) -> Table {
    fn kept<T>(all: Vec<T>) -> Vec<T> {
        let shown = all.into_iter().enumerate().filter(|it| [0, 1, 3, 4, 6, 8].contains(&it.0));
        shown.map(|it| it.1).collect()
    }
    table.columns = kept(table.columns);
    table.rows = table.rows.into_iter().map(kept).collect();
    table
}

fn evidence(document: &DoctorDocument) -> Table {
    let columns = alloc::vec![
        Column::words("file"),
        Column::words("cause"),
        Column::words("place"),
        Column::words("text"),
    ];
    let mut rows = Vec::new();
    for entry in &document.diagnoses {
        for it in &entry.diagnosis.findings {
            rows.extend(it.evidence.iter().map(|place| {
                alloc::vec![
                    Some(entry.files.join(" and ")),
                    Some(it.cause.name()),
                    Some(place_name(place)),
                    Some(place.text.clone()),
                ]
            }));
        }
    }
    table("doctor-evidence", "Evidence", columns, rows)
}

/// Writes a mean with its interval; seeds that all give the same have none.
fn shown([mean, low, high]: [f64; 3]) -> String {
    if high - low < 0.005 {
        format!("{mean:.2} (each seed)")
    } else {
        format!("{mean:.2} [{low:.2}, {high:.2}]")
    }
}

/// Returns the table of the files, each with what was read of it and the answer.
fn files(document: &DoctorDocument) -> Table {
    let columns = alloc::vec![
        Column::words("file"),
        Column::setting("lines", ""),
        Column::setting("lines of a known format", ""),
        Column::words("answer"),
    ];
    let row = |it: &DiagnosisEntry| {
        let count = |it: Option<u64>| it.map(|it| it.to_string());
        alloc::vec![
            Some(it.files.join(" and ")),
            count(it.lines),
            count(it.recorded),
            Some(it.answer.clone()),
        ]
    };
    let rows = document.diagnoses.iter().map(row).collect();
    table("doctor-files", "Files", columns, rows)
}

/// Returns the table of the frames of crashes.
fn frames(document: &DoctorDocument) -> Table {
    let columns = alloc::vec![
        Column::words("file"),
        Column::words("crash"),
        Column::words("address"),
        Column::words("function"),
        Column::words("source"),
        Column::words("certain"),
    ];
    let mut rows = Vec::new();
    for entry in &document.diagnoses {
        for crash in &entry.crashes {
            let row = |it: &CrashFrame| {
                alloc::vec![
                    Some(entry.files.join(" and ")),
                    Some(crash.title()),
                    Some(format!("{:#010x}", it.address)),
                    it.function.clone(),
                    it.source(),
                    Some(if it.is_certain { "yes" } else { "no" }.into()),
                ]
            };
            rows.extend(crash.frames.iter().map(row));
        }
    }
    table("doctor-frames", "Frames of crashes", columns, rows)
}

/// Returns the table of what the lab shows, before and after the remedy.
fn proofs(document: &DoctorDocument) -> Table {
    let columns = alloc::vec![
        Column::words("file"),
        Column::words("metric"),
        Column::words("unit"),
        Column::words("as it is [95 % interval]"),
        Column::words("with the remedy"),
        Column::words("shown"),
    ];
    let mut rows = Vec::new();
    for entry in &document.diagnoses {
        let Some(ProofOutcome::Lab(it)) = &entry.proof else { continue };
        rows.extend(it.values.iter().map(|value| {
            alloc::vec![
                Some(entry.files.join(" and ")),
                Some(value.words.clone()),
                Some(value.unit.clone()),
                Some(shown(value.before)),
                Some(shown(value.after)),
                Some(if value.improves() { "yes" } else { "no" }.into()),
            ]
        }));
    }
    table("doctor-proof", "Proof: before and after the remedy, simulated", columns, rows)
}

fn table(id: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    let (id, section, title) = (id.into(), DIAGNOSIS.into(), title.into());
    Table { id, section, title, columns, rows, ..Table::default() }
}

/// Returns the card of the first diagnosis.
fn card(entry: &DiagnosisEntry, others: &[DiagnosisEntry]) -> TuneCard {
    let found = &entry.diagnosis;
    let first = found.findings.first();
    let mut context = match (entry.lines, entry.recorded) {
        (Some(lines), Some(recorded)) => {
            format!("{lines} lines of log, {recorded} of them of a known format")
        }
        _ => entry.files.join(" and "),
    };
    if let Some(it) = first {
        context += &format!(
            "; {} explains {:.0} % of what went wrong, certainty {}",
            it.cause.name(),
            100.0 * it.share,
            it.certainty.word()
        );
    }
    let mut notes: Vec<String> = Vec::new();
    if let Some(it) = first {
        let places = it.evidence.iter();
        notes.extend(places.map(|it| format!("Seen in {}: {}", place_name(it), it.text)));
        notes.push(format!("To confirm: {}.", it.confirm));
    }
    notes.extend(entry.proof.iter().map(ProofOutcome::words));
    notes.extend(found.notes.iter().cloned());
    let mut warnings = found.contradictions.clone();
    warnings.extend(found.findings.iter().skip(1).map(|it| it.title.clone()));
    warnings.extend(others.iter().map(DiagnosisEntry::title));
    TuneCard {
        verdict: entry.title(),
        context,
        advice: first.map(|it| format!("Do: {}.", it.remedy)),
        warnings,
        given: "as it is".into(),
        notes,
        ..TuneCard::default()
    }
}

/// Returns the report, for pages and tables.
#[must_use]
pub fn report(facts: RunFacts, document: &DoctorDocument) -> Report {
    let tuning = document.diagnoses.split_first().map(|(first, others)| card(first, others));
    let mut tables = alloc::vec![
        proofs(document),
        on_page(causes(document)),
        evidence(document),
        frames(document),
        files(document)
    ];
    if document.is_grouped() {
        tables.insert(0, document.devices(true));
    }
    tables.retain(|it| !it.rows.is_empty());
    Report { tuning, tables, ..Report::empty(facts) }
}
