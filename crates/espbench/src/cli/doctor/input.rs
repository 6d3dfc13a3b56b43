//! Files as they are recognised by their contents: logs, captures, sdkconfig files; names of stored runs.

use super::diag::DiagReport;
use super::folder;
use super::pipe::{LiveTold, StdinPipe};
use crate::cli::common::StoreArgs;
use crate::cli::output;
use crate::named_file::{is_for_later, unpacked};
use crate::say::say;
use crate::store::{Store, StoreError};
use crate::user_error::UserError;
use espbench_doctor::captured::scene::{CapturedScene, scene};
use espbench_doctor::crash::core_dump::CoreDump;
use espbench_doctor::crash::report::core_entry;
use espbench_doctor::crash::trace::CrashTraces;
use espbench_doctor::file::{DoctorFile, DoctorFileFault, DoctorFileReader, capture_entry};
use espbench_doctor::log::LogSummary;
use espbench_doctor::matcher::RuleBook;
use espbench_doctor::report::{DiagnosisEntry, answer};
use espbench_doctor::settings::ConfigFile;
use espbench_doctor::stored::RunLosses;
use espbench_measure::label;
use espbench_measure::warning::Warning;
use espbench_model::speech::{self, Asker};
use espbench_model::text::counted;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Warnings of a run that are told.
const WARNINGS: usize = 5;

/// Files of a folder that are left out and named, at most.
const NAMED: usize = 3;

/// Reason for which a file tells nothing.
struct InputFault {
    told: UserError,
    /// Whether it is none that the doctor reads; else it is one that is damaged or cannot be read.
    is_other: bool,
}

impl From<InputFault> for anyhow::Error {
    fn from(fault: InputFault) -> Self {
        fault.told.into()
    }
}

/// Returns the fault of a file that cannot be read.
fn unreadable(name: &str, why: &io::Error, remedy: &str) -> InputFault {
    let told = UserError::new(format!("cannot read {name}")).because(why).remedy(remedy);
    InputFault { told, is_other: false }
}

/// A file or run by what it holds.
pub(super) enum Found {
    /// A console log.
    Log(String, LogSummary, Box<CrashTraces>),
    /// An sdkconfig.
    Config(String, Box<ConfigFile>),
    /// A stored run, diagnosed.
    Run(Box<DiagnosisEntry>),
    /// A capture, diagnosed, with what it tells of its place.
    Capture(Box<DiagnosisEntry>, CapturedScene),
    /// A core dump, diagnosed.
    CoreDump(Box<DiagnosisEntry>, Box<CoreDump>),
}

/// A file or run, with its group: an sdkconfig is of the firmware of the logs in its group.
pub(super) struct FoundFile {
    /// [`NAMED_GROUP`], or a folder within one that was named.
    pub(super) group: usize,
    /// The file or run.
    pub(super) found: Found,
}

/// Group of the files that were named one by one. An sdkconfig of it is of all logs without one of their own.
pub(super) const NAMED_GROUP: usize = 0;

/// Reader of what names on the command line stand for.
pub(super) struct InputReader<'a> {
    store: &'a StoreArgs,
    book: &'static RuleBook,
    /// Flag of an interrupt, which ends what is being read: the answer is of what was read.
    cancel: Arc<AtomicBool>,
    /// Groups so far.
    groups: usize,
}

impl<'a> InputReader<'a> {
    /// Creates a reader that reads logs by these rules until the flag is set.
    pub(super) const fn new(
        store: &'a StoreArgs,
        book: &'static RuleBook,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        Self { store, book, cancel, groups: NAMED_GROUP + 1 }
    }

    /// Reads what a name stands for: of a folder all that it holds.
    ///
    /// # Errors
    /// It cannot be read, or is none of what the doctor reads.
    pub(super) fn read(&mut self, path: &Path) -> anyhow::Result<Vec<FoundFile>> {
        let in_group = |found| FoundFile { group: NAMED_GROUP, found };
        let named = |found: Option<Found>| found.into_iter().map(in_group).collect();
        if path == Path::new("-") {
            let pipe = StdinPipe::start(Arc::clone(&self.cancel))?;
            return Ok(named(self.stream("stdin".into(), pipe, &mut LiveTold::default())?));
        }
        if path.is_dir() {
            return match DiagReport::of_folder(path)? {
                Some(report) => self.report(path, report),
                None => self.folder(path),
            };
        }
        match File::open(path) {
            Ok(mut file) => match DiagReport::of_zip(path, &mut file)? {
                Some(report) => self.report(path, report),
                None => Ok(named(self.file(path, file)?)),
            },
            Err(why) if why.kind() == io::ErrorKind::NotFound => {
                self.run(path).map(|it| named(Some(it)))
            }
            Err(why) => {
                let remedy = "name a log that a terminal has kept, or - for stdin";
                Err(unreadable(&path.display().to_string(), &why, remedy).into())
            }
        }
    }

    fn file(&self, path: &Path, file: File) -> Result<Option<Found>, InputFault> {
        self.stream(path.display().to_string(), file, &mut LiveTold::nobody())
    }

    fn is_stopped(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Reads a report of `idf.py diag`: its logs one behind the other, and its sdkconfig.
    fn report(&mut self, path: &Path, mut report: DiagReport) -> anyhow::Result<Vec<FoundFile>> {
        let name = path.display().to_string();
        let remedy = "make the report again, or name a log in it";
        let group = self.groups;
        self.groups += 1;
        let mut all = Vec::new();
        let config = report.config.clone();
        let config = config.map(|it| (format!("{name}/{it}"), vec![it]));
        let parts = [(name.clone(), report.logs.clone())].into_iter().chain(config);
        for (file, parts) in parts.filter(|it| !it.1.is_empty()) {
            let mut input = OpenInput::new(self);
            for part in parts {
                let read = report
                    .open(&part)
                    .and_then(|mut it| self.pour(&mut *it, &mut input, &mut LiveTold::nobody()));
                read.map_err(|why| unreadable(&format!("{part} of {name}"), &why, remedy))?;
                input.reader.push(b"\n");
            }
            let found = self.told(file, input)?;
            all.extend(found.map(|found| FoundFile { group, found }));
        }
        if report.logs.is_empty() && report.config.is_none() {
            return Err(UserError::new(format!("{name} has nothing that the doctor reads"))
                .because("the report has neither a log of the monitor nor an sdkconfig")
                .remedy("start idf.py monitor in the project before idf.py diag, so that there is a log")
                .into());
        }
        Ok(all)
    }

    /// Reads the files of a folder. What is no log, sdkconfig or capture is left out, and told.
    fn folder(&mut self, path: &Path) -> anyhow::Result<Vec<FoundFile>> {
        let mut groups: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let mut all: Vec<(PathBuf, FoundFile)> = Vec::new();
        let mut others: Vec<String> = Vec::new();
        let mut broken: Vec<UserError> = Vec::new();
        for file in folder::files(path, &|_| true)? {
            let name = file.display().to_string();
            let opened = File::open(&file);
            let opened = opened.map_err(|it| unreadable(&name, &it, "let yourself read it"));
            match opened.and_then(|it| self.file(&file, it)) {
                Ok(None) => {}
                Ok(Some(found)) if !is_silent(&found) => {
                    let next = self.groups + groups.len();
                    let of = file.parent().unwrap_or(path).to_owned();
                    let group = *groups.entry(of).or_insert(next);
                    all.push((file, FoundFile { group, found }));
                }
                Err(fault) if !fault.is_other => broken.push(fault.told),
                _ => others.push(name),
            }
        }
        self.groups += groups.len();
        without_old_configs(&mut all);
        let folder = path.display();
        for it in broken.iter().take(NAMED) {
            say!("left out of {folder}: {}: {}", it.what, it.why);
        }
        if let more @ 1.. = broken.len().saturating_sub(NAMED) {
            let more = counted(more as u64, "more file", "more files");
            say!("left out of {folder}: {more} that cannot be read");
        }
        if all.is_empty() && !self.is_stopped() {
            return Err(UserError::new(format!("no log is in the folder {folder}"))
                .because(match (others.len(), broken.len()) {
                    (0, 0) => "it has no files".to_owned(),
                    (count, 0) => {
                        let count = counted(count as u64, "file", "files");
                        format!("it has {count}, and none that the doctor reads")
                    }
                    _ => "what could be one cannot be read".to_owned(),
                })
                .remedy("name the folder of the logs that terminals have kept")
                .into());
        }
        if !others.is_empty() {
            let more = if others.len() > NAMED { ", …" } else { "" };
            let names = others[..others.len().min(NAMED)].join(", ");
            say!(
                "left out of {folder}, for they are no logs: {names}{more} ({} in all)",
                others.len()
            );
        }
        Ok(all.into_iter().map(|it| it.1).collect())
    }

    /// Reads a log, an sdkconfig or a capture, which may be gzip.
    fn stream(
        &self,
        name: String,
        from: impl Read,
        live: &mut LiveTold,
    ) -> Result<Option<Found>, InputFault> {
        let mut input = OpenInput::new(self);
        let read = unpacked(from).and_then(|mut it| self.pour(&mut *it, &mut input, live));
        let remedy = "copy the file again, or name it as it was before it was packed";
        read.map_err(|why| unreadable(&name, &why, remedy))?;
        self.told(name, input)
    }

    /// Reads a stream to its end. An interrupt ends what is being read and may be of any length, and no such file begins behind it.
    fn pour(
        &self,
        from: &mut dyn Read,
        input: &mut OpenInput,
        live: &mut LiveTold,
    ) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK];
        while !(self.is_stopped() && input.reader.is_endless()) {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) if input.reader.push(&buffer[..length]) => live.came(&input.reader),
                // The rest changes nothing.
                Ok(_) => return Ok(()),
                Err(why) if is_for_later(&why) => live.waits(&input.reader),
                // Packed bytes of a pipe end anywhere.
                Err(_) if self.is_stopped() && !input.is_late => return Ok(()),
                Err(why) => return Err(why),
            }
        }
        input.is_left_out = input.is_late;
        Ok(())
    }

    /// Takes what a file was; none where an interrupt came before it was read.
    fn told(&self, name: String, input: OpenInput) -> Result<Option<Found>, InputFault> {
        let found = match input.reader.finish() {
            Err(DoctorFileFault::Empty) if self.is_stopped() => None,
            _ if input.is_left_out => None,
            Ok(DoctorFile::Log(log, crashes)) => Some(Found::Log(name.clone(), log, crashes)),
            Ok(DoctorFile::Config(config)) => Some(Found::Config(name.clone(), config)),
            Ok(DoctorFile::Capture(seen)) => {
                let entry = Box::new(capture_entry(name.clone(), &seen));
                Some(Found::Capture(entry, scene(&seen)))
            }
            Ok(DoctorFile::CoreDump(dump)) => {
                let entry = Box::new(core_entry(name.clone(), &dump, self.book));
                Some(Found::CoreDump(entry, dump))
            }
            Err(fault) => {
                let is_other = fault.is_other();
                let told = UserError::new(format!("{name} {}", fault.refused()));
                let told = told.remedy(remedy(&fault)).because(fault);
                return Err(InputFault { told, is_other });
            }
        };
        if found.is_none() {
            say!("left out {name}: stopped before it was read");
        }
        Ok(found)
    }

    /// Reads what is no file: a stored run by its name.
    fn run(&self, path: &Path) -> anyhow::Result<Found> {
        let name = path.display().to_string();
        run(&name, self.store).map_err(|of_run| {
            let remedy = match speech::asker() {
                Asker::Terminal => {
                    "name a log that a terminal has kept, an sdkconfig, a run of `espbench runs`, or - for stdin"
                }
                Asker::Caller => "name a log that a terminal has kept, an sdkconfig, or a stored run",
            };
            let is_none = matches!(of_run.downcast_ref(), Some(StoreError::NoRun { .. }));
            let because = match of_run {
                _ if is_none || !self.store.path().is_ok_and(|it| it.exists()) => {
                    "there is no such file, and no stored run of that name".to_string()
                }
                other => format!("there is no such file, and as a run: {other:#}"),
            };
            UserError::new(format!("cannot read {name}")).because(because).remedy(remedy).into()
        })
    }
}

/// File that is being read.
struct OpenInput {
    reader: DoctorFileReader,
    /// Whether an interrupt came before it.
    is_late: bool,
    /// Whether it is left out for that.
    is_left_out: bool,
}

impl OpenInput {
    fn new(of: &InputReader<'_>) -> Self {
        let reader = DoctorFileReader::with_rules(of.book);
        Self { reader, is_late: of.is_stopped(), is_left_out: false }
    }
}

/// Returns whether a text has neither a record nor an event nor a crash: a file of a folder that is no log.
fn is_silent(found: &Found) -> bool {
    matches!(found, Found::Log(_, log, crashes)
        if log.recorded == 0 && log.events.is_empty() && crashes.is_empty())
}

/// Removes sdkconfig.old, sdkconfig.defaults and others that stand beside an sdkconfig: the firmware was built with that.
fn without_old_configs(all: &mut Vec<(PathBuf, FoundFile)>) {
    let is_built =
        |path: &Path| path.file_name().is_some_and(|it| it == "sdkconfig" || it == "sdkconfig.gz");
    let is_config = |it: &FoundFile| matches!(it.found, Found::Config(..));
    let built = all.iter().filter(|it| is_config(&it.1) && is_built(&it.0));
    let built: Vec<usize> = built.map(|it| it.1.group).collect();
    all.retain(|(path, it)| !is_config(it) || is_built(path) || !built.contains(&it.group));
}

/// Returns what to do about a file that is none.
const fn remedy(fault: &DoctorFileFault) -> &'static str {
    match fault {
        DoctorFileFault::Empty => "name a log that a terminal has kept",
        DoctorFileFault::Binary => "name a log that a terminal has kept as text",
        DoctorFileFault::LongConfig | DoctorFileFault::Config(_) | DoctorFileFault::NoOption => {
            "name the sdkconfig that idf.py has written into the project's folder"
        }
        DoctorFileFault::Capture(_) => {
            "name a file that Wireshark, tshark, tcpdump or espbench --pcap has written"
        }
        DoctorFileFault::CoreDump(_) => {
            "copy it again, whole: all lines from CORE DUMP START to CORE DUMP END, or the file of esp-coredump"
        }
        DoctorFileFault::Own(_) => {
            "name the run instead, as `espbench runs` lists it, or a console log of the device; \
             Python reads the .json of a report by espbench.read"
        }
    }
}

/// Diagnoses a stored run.
fn run(name: &str, store: &StoreArgs) -> anyhow::Result<Found> {
    let store: Store = store.to_read()?;
    let run = store.run(name)?;
    let mut losses = RunLosses::default();
    for cell in &run.cells {
        let Some(recorded) = store.recorded(cell)? else { continue };
        losses.begin(&label::of(&recorded), recorded.error.as_deref());
        recorded.samples.iter().for_each(|it| losses.add(it));
    }
    let report = output::report(&store, name)?;
    let warnings = report.warnings.iter().take(WARNINGS).map(Warning::text).collect();
    let diagnosis = losses.finish(warnings);
    Ok(Found::Run(Box::new(DiagnosisEntry {
        files: vec![run.facts.name],
        lines: None,
        recorded: None,
        answer: answer(&diagnosis),
        diagnosis,
        crashes: Vec::new(),
        proof: None,
    })))
}
