//! Files as they are recognised by their contents: logs, captures, sdkconfig files; names of stored runs.

use super::diag::DiagReport;
use super::folder;
use super::pipe::{LiveTold, StdinPipe};
use crate::cli::common::StoreArgs;
use crate::cli::output;
use crate::named_file::{is_for_later, unpacked};
use crate::say::say;
use crate::store::{Store, StoreError};
use crate::user_error::{ForUser as _, UserError};
use anyhow::bail;
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
    /// Flag that ends the reading of stdin.
    cancel: Arc<AtomicBool>,
    /// Groups so far.
    groups: usize,
}

impl<'a> InputReader<'a> {
    /// Creates a reader that reads logs by these rules, and stdin until the flag is set.
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
        let named = |found| vec![FoundFile { group: NAMED_GROUP, found }];
        if path == Path::new("-") {
            let pipe = StdinPipe::start(Arc::clone(&self.cancel))?;
            return self.stream("stdin".into(), pipe, &mut LiveTold::default()).map(named);
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
                None => self.file(path, file).map(named),
            },
            Err(why) if why.kind() == io::ErrorKind::NotFound => self.run(path).map(named),
            Err(why) => {
                let remedy = "name a log that a terminal has kept, or - for stdin";
                let what = || format!("cannot read {}", path.display());
                Err(why).for_user(what, remedy).map_err(Into::into)
            }
        }
    }

    fn file(&self, path: &Path, file: File) -> anyhow::Result<Found> {
        self.stream(path.display().to_string(), file, &mut LiveTold::nobody())
    }

    /// Reads a report of `idf.py diag`: its logs one behind the other, and its sdkconfig.
    fn report(&mut self, path: &Path, mut report: DiagReport) -> anyhow::Result<Vec<FoundFile>> {
        let name = path.display().to_string();
        let remedy = "make the report again, or name a log in it";
        let group = self.groups;
        self.groups += 1;
        let mut all = Vec::new();
        let mut reader = DoctorFileReader::with_rules(self.book);
        for part in report.logs.clone() {
            let what = || format!("cannot read {part} of {name}");
            report.read(&part, &mut |it| reader.push(it)).for_user(what, remedy)?;
            reader.push(b"\n");
        }
        if !report.logs.is_empty() {
            let found = self.told(name.clone(), reader)?;
            all.push(FoundFile { group, found });
        }
        if let Some(part) = report.config.clone() {
            let what = || format!("cannot read {part} of {name}");
            let mut reader = DoctorFileReader::with_rules(self.book);
            report.read(&part, &mut |it| reader.push(it)).for_user(what, remedy)?;
            let found = self.told(format!("{name}/{part}"), reader)?;
            all.push(FoundFile { group, found });
        }
        if all.is_empty() {
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
        for file in folder::files(path)? {
            let read = File::open(&file).map_err(Into::into).and_then(|it| self.file(&file, it));
            match read {
                Ok(found) if !is_silent(&found) => {
                    let next = self.groups + groups.len();
                    let of = file.parent().unwrap_or(path).to_owned();
                    let group = *groups.entry(of).or_insert(next);
                    all.push((file, FoundFile { group, found }));
                }
                _ => others.push(file.display().to_string()),
            }
        }
        self.groups += groups.len();
        without_old_configs(&mut all);
        let folder = path.display();
        if all.is_empty() {
            return Err(UserError::new(format!("no log is in the folder {folder}"))
                .because(match others.len() {
                    0 => "it has no files".to_owned(),
                    count => format!("it has {count} files, and none that the doctor reads"),
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

    /// Reads a log, an sdkconfig or a capture to its end, which may be gzip.
    fn stream(&self, name: String, from: impl Read, live: &mut LiveTold) -> anyhow::Result<Found> {
        let cannot = || format!("cannot read {name}");
        let mut from = unpacked(from).for_user(cannot, "name a log that a terminal has kept")?;
        let mut reader = DoctorFileReader::with_rules(self.book);
        let mut buffer = vec![0; CHUNK];
        // A signal ends it: the answer is of what was read.
        while !self.cancel.load(Ordering::Relaxed) {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) if reader.push(&buffer[..length]) => live.came(&reader),
                // The rest changes nothing.
                Ok(_) => break,
                Err(why) if is_for_later(&why) => live.waits(&reader),
                Err(why) => bail!(
                    UserError::new(cannot())
                        .because(why)
                        .remedy("copy the file again, or name it as it was before it was packed")
                ),
            }
        }
        self.told(name, reader)
    }

    /// Takes what a file was.
    fn told(&self, name: String, reader: DoctorFileReader) -> anyhow::Result<Found> {
        match reader.finish() {
            Ok(DoctorFile::Log(log, crashes)) => Ok(Found::Log(name, log, crashes)),
            Ok(DoctorFile::Config(config)) => Ok(Found::Config(name, config)),
            Ok(DoctorFile::Capture(seen)) => {
                let entry = Box::new(capture_entry(name, &seen));
                Ok(Found::Capture(entry, scene(&seen)))
            }
            Ok(DoctorFile::CoreDump(dump)) => {
                Ok(Found::CoreDump(Box::new(core_entry(name, &dump, self.book)), dump))
            }
            Err(fault) => Err(UserError::new(format!("{name} {}", fault.refused()))
                .remedy(remedy(&fault))
                .because(fault)
                .into()),
        }
    }

    /// Reads what is no file: a stored run by its name.
    fn run(&self, path: &Path) -> anyhow::Result<Found> {
        let name = path.display().to_string();
        run(&name, self.store).map_err(|of_run| {
            let remedy = "name a log that a terminal has kept, an sdkconfig, a run of `espbench runs`, or - for stdin";
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
