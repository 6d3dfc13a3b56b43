//! Files as they are recognised by their contents: logs, captures, sdkconfig files; names of stored runs.

use crate::cli::common::StoreArgs;
use crate::cli::output;
use crate::store::{Store, StoreError};
use crate::user_error::{ForUser as _, UserError};
use anyhow::bail;
use espbench_doctor::captured::scene::{CapturedScene, scene};
use espbench_doctor::file::{DoctorFile, DoctorFileFault, DoctorFileReader, capture_entry};
use espbench_doctor::log::LogSummary;
use espbench_doctor::report::{DiagnosisEntry, answer};
use espbench_doctor::settings::ConfigFile;
use espbench_doctor::stored::RunLosses;
use espbench_measure::label;
use espbench_measure::warning::Warning;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Warnings of a run that are told.
const WARNINGS: usize = 5;

/// A file or run by what it holds.
pub(super) enum Found {
    /// A console log.
    Log(String, LogSummary),
    /// An sdkconfig.
    Config(String, Box<ConfigFile>),
    /// A stored run, diagnosed.
    Run(Box<DiagnosisEntry>),
    /// A capture, diagnosed, with what it tells of its place.
    Capture(Box<DiagnosisEntry>, CapturedScene),
}

/// Reads what a name on the command line stands for.
///
/// # Errors
/// It cannot be read, or is none of them.
pub(super) fn read(path: &Path, store: &StoreArgs) -> anyhow::Result<Found> {
    if path == Path::new("-") {
        return stream("stdin".into(), io::stdin().lock());
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => stream(name, file),
        Err(why) if why.kind() == io::ErrorKind::NotFound => run(&name, store).map_err(|of_run| {
            let remedy = "name a log that a terminal has kept, an sdkconfig, a run of `espbench runs`, or - for stdin";
            let is_none = matches!(of_run.downcast_ref(), Some(StoreError::NoRun { .. }));
            let because = match of_run {
                _ if is_none || !store.path().is_ok_and(|it| it.exists()) => {
                    "there is no such file, and no stored run of that name".to_string()
                }
                other => format!("there is no such file, and as a run: {other:#}"),
            };
            UserError::new(format!("cannot read {name}")).because(because).remedy(remedy).into()
        }),
        Err(why) => {
            let remedy = "name a log that a terminal has kept, or - for stdin";
            Err(why).for_user(|| format!("cannot read {name}"), remedy).map_err(Into::into)
        }
    }
}

/// Reads a log, an sdkconfig or a capture to its end.
fn stream(name: String, mut from: impl Read) -> anyhow::Result<Found> {
    let mut reader = DoctorFileReader::default();
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) if reader.push(&buffer[..length]) => {}
            // The rest changes nothing.
            Ok(_) => break,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => bail!(UserError::new(format!("cannot read {name}")).because(why)),
        }
    }
    match reader.finish() {
        Ok(DoctorFile::Log(log)) => Ok(Found::Log(name, log)),
        Ok(DoctorFile::Config(config)) => Ok(Found::Config(name, config)),
        Ok(DoctorFile::Capture(seen)) => {
            let entry = Box::new(capture_entry(name, &seen));
            Ok(Found::Capture(entry, scene(&seen)))
        }
        Err(fault) => Err(UserError::new(format!("{name} {}", fault.refused()))
            .remedy(remedy(&fault))
            .because(fault)
            .into()),
    }
}

/// Returns what to do about a file that is none.
const fn remedy(fault: &DoctorFileFault) -> &'static str {
    match fault {
        DoctorFileFault::Empty => "name a log that a terminal has kept",
        DoctorFileFault::Binary => "name a log that a terminal has kept as text",
        DoctorFileFault::LongConfig | DoctorFileFault::Config(_) => {
            "name the sdkconfig that idf.py has written into the project's folder"
        }
        DoctorFileFault::Capture(_) => {
            "name a file that Wireshark, tshark, tcpdump or espbench --pcap has written"
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
        proof: None,
    })))
}
