//! The comparisons in few lines: one for each metric, verdict and set of reasons.

use super::{Column, Table, TableRow};
use crate::cell::{Cell, Origin};
use crate::compare::{self, Comparison, ReasonKind, Verdict};
use crate::digits;
use crate::label;
use crate::report::digest::Material;
use crate::settings::Setting;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::discriminant;
use espbench_model::text::count;

/// Comparisons of one metric that end the same way.
struct ComparedGroup<'a> {
    members: Vec<&'a Comparison>,
    verdict: &'static str,
    why: String,
}

/// Returns the table; `None` where nothing was compared.
pub(crate) fn table(material: &Material<'_>, comparisons: &[Comparison]) -> Option<Table> {
    let groups = groups(comparisons);
    (!groups.is_empty()).then(|| Table {
        id: "comparison".into(),
        section: "comparison".into(),
        title: "Beside the published figures".into(),
        columns: alloc::vec![
            Column::words("result"),
            Column::words("compared with"),
            Column::setting("cells", ""),
            Column::result("ours / theirs", "", material.origin),
            Column::words("verdict"),
        ],
        rows: groups.iter().map(|group| row(group).into()).collect(),
        notes: notes(comparisons),
        ..Table::default()
    })
}

/// Returns the pairs that differ, and a line for all that do not; what differs between the two runs stands in the
/// notes.
#[must_use]
pub fn folded(
    comparisons: &[Comparison],
    title: &str,
    origin: Origin,
    differences: &[String],
) -> Table {
    let (same, others): (Vec<Comparison>, Vec<Comparison>) =
        comparisons.iter().cloned().partition(|it| it.verdict == Verdict::NoDifferenceShown);
    let mut table = pairs(&others, title, origin);
    for words in unshown(&same) {
        table.rows.push(alloc::vec![Some(words), None, None, None, None]);
    }
    table.notes.extend(undecided(comparisons));
    table.notes.extend(differences.iter().cloned());
    table
}

/// Counts the results of which no difference is shown: those that have an interval or are equal, and those that have
/// none. What is none of them is left out.
#[must_use]
pub fn counted_unshown(comparisons: &[Comparison]) -> Vec<(usize, &'static str)> {
    let of = |lacks: bool| {
        let it = comparisons.iter().filter(|it| it.verdict == Verdict::NoDifferenceShown);
        it.filter(|it| it.lacks_interval == lacks).count()
    };
    let all = [(of(false), "without a difference shown"), (of(true), "without an interval")];
    all.into_iter().filter(|it| it.0 > 0).collect()
}

/// Says how many results there are of which no difference is shown.
#[must_use]
pub fn unshown(comparisons: &[Comparison]) -> Vec<String> {
    let all = counted_unshown(comparisons).into_iter();
    all.map(|(n, words)| format!("{} {words}", count(n, "result"))).collect()
}

/// Share by which a figure without a whole interval must differ to be named.
const NOTABLE: f64 = 0.1;

/// Says how many figures differ clearly of which nothing is shown, since no interval has both ends, and names the largest
/// change; `None` where there is none.
#[must_use]
pub fn undecided(comparisons: &[Comparison]) -> Option<String> {
    // Of what was 0 there is no ratio.
    let change = |it: &&Comparison| it.ratio.map_or(f64::INFINITY, |it| libm::fabs(libm::log(it)));
    let is_open = |it: &&Comparison| it.is_open() && change(it) > libm::log1p(NOTABLE);
    let open: Vec<&Comparison> = comparisons.iter().filter(is_open).collect();
    let most = open.iter().copied().max_by(|a, b| change(a).total_cmp(&change(b)))?;
    let [name, this, other, ratio] =
        texts(most, Apart::of(comparisons)).map(Option::unwrap_or_default);
    let ratio = if ratio.is_empty() { ratio } else { format!(" (x {ratio})") };
    let differ = if open.len() == 1 { "differs" } else { "differ" };
    Some(format!(
        "{} {differ} by more than a tenth, with no interval that could show it; the largest change: {name}, {this} against {other}{ratio}",
        count(open.len(), "result")
    ))
}

/// Returns each pair that could be judged, and one line for each group that could not, as `espbench
/// compare --full` prints them.
#[must_use]
pub fn pairs(comparisons: &[Comparison], title: &str, origin: Origin) -> Table {
    let judged = |c: &&Comparison| !matches!(c.verdict, Verdict::NotComparable(_));
    let apart = Apart::of(comparisons);
    let mut rows: Vec<TableRow> =
        comparisons.iter().filter(judged).map(|it| pair(it, apart)).collect();
    let others: Vec<Comparison> = comparisons.iter().filter(|c| !judged(c)).cloned().collect();
    rows.extend(groups(&others).iter().map(|group| {
        let [what, against, cells, ratio, verdict] = row(group);
        let what = what.map(|w| format!("{w} ({} pairs)", cells.unwrap_or_default()));
        alloc::vec![what, None, against, ratio, verdict]
    }));
    Table {
        id: "comparison".into(),
        section: "comparison".into(),
        title: title.into(),
        columns: alloc::vec![
            Column::words("result"),
            Column::result("this", "", origin),
            Column::result("other", "", origin),
            Column::setting("this / other", ""),
            Column::words("verdict"),
        ],
        rows,
        notes: alloc::vec![
            "Ratios with their 95 % intervals. Of twenty pairs without any difference, one is \
             expected to show one by chance."
                .into()
        ],
        ..Table::default()
    }
}

/// Returns the pairs that differ, the largest change first. What a constant of the lab was fitted to is no test of
/// it, and comes last.
#[must_use]
pub fn differing(comparisons: &[Comparison]) -> Vec<&Comparison> {
    let mut all: Vec<&Comparison> =
        comparisons.iter().filter(|it| it.verdict.kind().is_difference()).collect();
    let rank = |c: &Comparison| (is_fitted(c), c.shown_change());
    all.sort_by(|a, b| {
        let ((a, x), (b, y)) = (rank(a), rank(b));
        a.cmp(&b).then(y.total_cmp(&x))
    });
    all
}

/// Returns whether a constant of the lab was fitted to one of the two.
#[must_use]
pub fn is_fitted(c: &Comparison) -> bool {
    compare::is_fitted(&c.ours, &c.other)
}

/// Returns for each set of reasons for which pairs cannot be compared how many these are, and the reasons in words; those
/// of most pairs first.
#[must_use]
pub fn excluded(comparisons: &[Comparison]) -> Vec<(usize, String)> {
    let mut sets: Vec<(usize, &Comparison)> = Vec::new();
    let is_out = |it: &&Comparison| !it.verdict.reasons().is_empty();
    for comparison in comparisons.iter().filter(is_out) {
        let same =
            |it: &&mut (usize, &Comparison)| kinds(&it.1.verdict) == kinds(&comparison.verdict);
        match sets.iter_mut().find(same) {
            Some(set) => set.0 += 1,
            None => sets.push((1, comparison)),
        }
    }
    sets.sort_by_key(|it| core::cmp::Reverse(it.0));
    sets.into_iter().map(|(pairs, first)| (pairs, compare::briefly(first))).collect()
}

/// Returns a pair in words: the result, this and the other value, and the ratio, where there is one.
#[must_use]
pub fn texts(c: &Comparison, apart: Apart) -> [Option<String>; 4] {
    let value =
        |cell: &Cell| Some(format!("{} {}", digits::unmarked(cell)?, super::unit_sign(&cell.unit)));
    [Some(apart.named(&c.ours)), value(&c.ours), value(&c.other), ratio(&[c])]
}

fn pair(c: &Comparison, apart: Apart) -> Vec<Option<String>> {
    let verdict = words(&c.verdict);
    let notes =
        if c.notes.is_empty() { String::new() } else { format!(": {}", c.notes.join("; ")) };
    let verdict = Some(format!("{verdict}{notes}"));
    texts(c, apart).into_iter().chain([verdict]).collect()
}

/// Words of the identity columns that names of results have only where they tell results apart.
const APART: [fn(&Cell) -> Option<String>; 6] = [
    |cell| compare::stated(&cell.id.chip),
    |cell| compare::stated(&cell.id.mode),
    // Not where the settings say them.
    |cell| {
        let devices = cell.id.devices;
        devices
            .filter(|it| !cell.settings.has(&Setting::Devices(*it)))
            .map(|it| label::devices(it.into()))
    },
    |cell| cell.id.distance_m.map(|it| format!("{it} m")),
    |cell| cell.id.security.clone(),
    |cell| cell.id.environment.clone(),
];

/// Columns in which compared results differ, so that their names have them.
#[derive(Clone, Copy, Debug)]
pub struct Apart([bool; APART.len()]);

impl Apart {
    /// Finds the columns in which results of one table differ.
    #[must_use]
    pub fn of(comparisons: &[Comparison]) -> Self {
        let mut first: BTreeMap<&str, &Cell> = BTreeMap::new();
        let mut apart = [false; APART.len()];
        for cell in comparisons.iter().map(|it| &it.ours) {
            let other = first.entry(&cell.id.table).or_insert(cell);
            for (differs, word) in apart.iter_mut().zip(APART) {
                *differs |= word(cell) != word(other);
            }
        }
        Self(apart)
    }

    /// Returns a cell in words.
    fn named(self, cell: &Cell) -> String {
        let mut parts = alloc::vec![format!("{} {}", cell.id.table, cell.id.metric)];
        parts.extend(cell.id.payload_bytes.map(|bytes| format!("{bytes} B")));
        let words = APART.into_iter().zip(self.0).filter(|(_, differs)| *differs);
        parts.extend(words.filter_map(|(word, _)| word(cell)));
        parts.extend(label::result(&cell.settings));
        parts.join(", ")
    }
}

/// Returns how to read the table, and the notes of the comparisons themselves, each once.
fn notes(comparisons: &[Comparison]) -> Vec<String> {
    let mut notes = alloc::vec![
        "One line for each metric and verdict; what cannot be compared has one line for each set of \
         reasons. A ratio of several cells is a range. JSON has each pair, with its reasons in full."
            .to_string()
    ];
    let judged = comparisons.iter().filter(|c| !matches!(c.verdict, Verdict::NotComparable(_)));
    for note in judged.flat_map(|c| &c.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

fn groups(comparisons: &[Comparison]) -> Vec<ComparedGroup<'_>> {
    let mut groups: Vec<ComparedGroup<'_>> = Vec::new();
    for comparison in comparisons {
        let kinds = kinds(&comparison.verdict);
        // What cannot be compared for the same reasons is one line, whatever the metric.
        let any_metric = !kinds.is_empty();
        let same = |g: &&mut ComparedGroup<'_>| {
            let first = g.members[0];
            discriminant(&first.verdict) == discriminant(&comparison.verdict)
                && self::kinds(&first.verdict) == kinds
                && first.lacks_interval == comparison.lacks_interval
                && (any_metric || first.ours.id.metric == comparison.ours.id.metric)
                && first.ours.id.table == comparison.ours.id.table
                && (any_metric || first.ours.id.transport == comparison.ours.id.transport)
                && first.other.source == comparison.other.source
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.members.push(comparison),
            None => groups.push(ComparedGroup {
                members: alloc::vec![comparison],
                verdict: match comparison.lacks_interval {
                    true => "no interval",
                    false => words(&comparison.verdict),
                },
                why: compare::briefly(comparison),
            }),
        }
    }
    groups
}

/// Returns the kinds of the reasons against a comparison.
fn kinds(verdict: &Verdict) -> Vec<ReasonKind> {
    verdict.reasons().iter().map(|it| it.kind).collect()
}

/// Returns a verdict in words.
#[must_use]
pub fn words(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Differs => "differs; neither is better",
        Verdict::NoDifferenceShown => "no difference shown",
        Verdict::NotComparable(_) => "not comparable",
    }
}

/// Returns the metrics of a group, each once.
fn metrics(members: &[&Comparison]) -> Vec<String> {
    let mut metrics: Vec<String> = Vec::new();
    for member in members {
        if !metrics.contains(&member.ours.id.metric) {
            metrics.push(member.ours.id.metric.clone());
        }
    }
    metrics
}

fn row(group: &ComparedGroup<'_>) -> [Option<String>; 5] {
    let first = group.members[0];
    let metrics = metrics(&group.members);
    let verdict = if group.why.is_empty() {
        group.verdict.to_string()
    } else {
        format!("{}: {}", group.verdict, group.why)
    };
    [
        Some(format!("{}: {}", first.ours.id.table, metrics.join(", "))),
        first.other.source.clone(),
        Some(counted(&group.members)),
        // Ratios of different things have no common range.
        if metrics.len() == 1 { ratio(&group.members) } else { None },
        Some(verdict),
    ]
}

/// Returns how many pairs there are, and how many of them are no test of the simulator.
fn counted(members: &[&Comparison]) -> String {
    let fitted = members.iter().filter(|c| is_fitted(c)).count();
    let count = digits::count(members.len() as u64);
    if fitted == 0 { count } else { format!("{count}, {fitted} of them fitted") }
}

/// Returns the ratio with its interval, or the range of several ratios.
fn ratio(members: &[&Comparison]) -> Option<String> {
    let ratios = members.iter().filter_map(|c| c.ratio);
    let low = ratios.clone().reduce(f64::min)?;
    let high = ratios.reduce(f64::max)?;
    if members.len() > 1 {
        return Some(if low < high {
            format!("{}–{}", digits::plain(low), digits::plain(high))
        } else {
            digits::plain(low)
        });
    }
    let only = members[0];
    let (low_end, high_end) = (only.ratio_low, only.ratio_high);
    if low_end.is_none() && high_end.is_none() {
        return Some(digits::plain(low));
    }
    if is_wide(low_end, high_end) {
        return Some(format!("{} (too few data for an interval)", digits::three(low)));
    }
    let ratio = digits::worth(low, low_end, high_end);
    Some(match digits::interval(low_end, high_end) {
        Some(interval) => format!("{ratio} ({interval})"),
        None => ratio,
    })
}

/// Factor between the ends of a ratio's interval from which on it says nothing.
const WIDE: f64 = 100.0;

/// Returns whether an interval of a ratio leaves any ratio possible.
fn is_wide(low: Option<f64>, high: Option<f64>) -> bool {
    match (low, high) {
        (Some(low), Some(high)) => low <= 1.0 && high >= 1.0 && high >= WIDE * low,
        (low, None) => low.is_none_or(|low| low <= 0.0),
        (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Identity;
    use crate::settings::Settings;
    use espbench_stats::Estimate;

    fn of(devices: u32) -> Comparison {
        let id = Identity {
            table: "udp-echo".into(),
            metric: "loss".into(),
            devices: Some(devices),
            ..Identity::default()
        };
        let estimate = Estimate { value: Some(1.0), ..Estimate::default() };
        let cell = Cell::of(estimate, id, "percent", Origin::Simulated);
        compare::pair(&cell, &cell)
    }

    #[test]
    fn a_name_says_the_devices_once() {
        let mut both = [of(1), of(3)];
        let named = |all: &[Comparison]| texts(&all[1], Apart::of(all))[0].clone().unwrap();
        assert_eq!(named(&both), "udp-echo loss, 3 devices");
        for it in &mut both {
            let devices = Setting::Devices(it.ours.id.devices.unwrap());
            it.ours.settings = Settings::default().with(devices);
        }
        assert_eq!(named(&both), "udp-echo loss, 3 devices");
    }
}
