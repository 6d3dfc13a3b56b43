//! Logs, captures and sdkconfig files, and their diagnosis: as `espbench doctor --no-proof` has it.

use crate::answer::PageError;
use espbench_doctor::crash::report::{add_dump, add_traces, core_entry};
use espbench_doctor::crash::trace::CrashTraces;
use espbench_doctor::file::{DoctorFile, DoctorFileFault, DoctorFileReader, capture_entry};
use espbench_doctor::incident::{Incident, diagnose as diagnosed};
use espbench_doctor::log::LogSummary;
use espbench_doctor::matcher::RuleBook;
use espbench_doctor::report::{DiagnosisEntry, DoctorDocument, SCHEMA, answer};
use espbench_doctor::settings::ConfigFile;
use espbench_engine::proof::built_in_round_trip;
use espbench_measure::tune::RoundTrip;

/// Most files of one diagnosis.
const FILES: usize = 50;

/// Files of one diagnosis: those that were read, and the one whose bytes come.
#[derive(Default)]
pub(crate) struct OpenFiles {
    read: Vec<(String, Result<DoctorFile, DoctorFileFault>)>,
    open: Option<(String, DoctorFileReader)>,
}

impl OpenFiles {
    /// Opens a file: what is put belongs to it.
    pub(crate) fn open(&mut self, name: String) -> Result<(), PageError> {
        if self.read.len() + 1 >= FILES {
            let why = format!("{FILES} files are read at once");
            return Err(PageError::new("too many files", why, "give those of one device"));
        }
        self.close();
        self.open = Some((name, DoctorFileReader::default()));
        Ok(())
    }

    fn close(&mut self) {
        self.read.extend(self.open.take().map(|(name, reader)| (name, reader.finish())));
    }

    /// Returns whether a file is open.
    pub(crate) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the next bytes of the file that was opened last. Logs and captures are read in constant memory.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some((_, reader)) = &mut self.open {
            reader.push(bytes);
        }
    }
}

/// Returns the diagnosis of all files, as the command writes it in JSON: captures first, then logs with the
/// sdkconfig beside them.
pub(crate) fn diagnose(mut files: OpenFiles) -> Result<String, PageError> {
    files.close();
    let (mut logs, mut configs, mut diagnoses) = (Vec::new(), Vec::new(), Vec::new());
    for (name, file) in &files.read {
        match file {
            Ok(DoctorFile::Log(log, crashes)) => logs.push((name.as_str(), log, &**crashes)),
            Ok(DoctorFile::Config(config)) => configs.push((name.as_str(), &**config)),
            Ok(DoctorFile::Capture(seen)) => diagnoses.push(capture_entry(name.clone(), seen)),
            Ok(DoctorFile::CoreDump(dump)) => {
                let mut entry = core_entry(name.clone(), dump, RuleBook::built_in());
                add_dump(None, dump, None, &mut entry);
                diagnoses.push(entry);
            }
            Err(fault) => return Err(refused(name, fault)),
        }
    }
    if files.read.is_empty() {
        return Err(PageError::new(
            "there is no file",
            "none was given",
            "drop a console log or an sdkconfig",
        ));
    }
    if let ([_, second, ..], false) = (configs.as_slice(), logs.is_empty()) {
        return Err(PageError::new(
            format!("{} is a second sdkconfig beside logs", second.0),
            "logs and sdkconfig are of one firmware",
            "give the sdkconfig that the firmware was built with, alone",
        ));
    }
    let rtt = built_in_round_trip();
    let config = configs.first().copied();
    diagnoses.extend(logs.iter().map(|log| entry(Some(*log), config, &rtt)));
    if logs.is_empty() {
        diagnoses.extend(configs.iter().map(|config| entry(None, Some(*config), &rtt)));
    }
    let document = DoctorDocument { schema: SCHEMA, diagnoses };
    let text = serde_json::to_string_pretty(&document);
    text.map(|it| it + "\n")
        .map_err(|why| PageError::new("the diagnosis cannot be written", why, "tell us"))
}

fn entry(
    log: Option<(&str, &LogSummary, &CrashTraces)>,
    config: Option<(&str, &ConfigFile)>,
    rtt: &RoundTrip,
) -> DiagnosisEntry {
    let names = log.map(|it| it.0).into_iter().chain(config.map(|it| it.0));
    let files: Vec<String> = names.map(String::from).collect();
    let found = diagnosed(&Incident {
        name: &files.join(" and "),
        log: log.map(|it| it.1),
        config: config.map(|it| it.1),
        rtt: rtt.clone(),
    });
    let mut entry = DiagnosisEntry {
        files,
        lines: log.map(|it| it.1.lines),
        recorded: log.map(|it| it.1.recorded),
        answer: answer(&found.diagnosis),
        diagnosis: found.diagnosis,
        crashes: Vec::new(),
        proof: None,
    };
    if let Some((.., crashes)) = log {
        add_traces(None, crashes, &mut entry);
    }
    entry
}

fn refused(name: &str, fault: &DoctorFileFault) -> PageError {
    let remedy = match fault {
        DoctorFileFault::Empty | DoctorFileFault::Binary => {
            "give a log that a terminal has kept as text"
        }
        DoctorFileFault::LongConfig | DoctorFileFault::Config(_) | DoctorFileFault::NoOption => {
            "give the sdkconfig that idf.py has written into the project's folder"
        }
        DoctorFileFault::Capture(_) => {
            "give a capture that Wireshark, tshark or tcpdump has written"
        }
        DoctorFileFault::CoreDump(_) => "give the core dump of the device, whole",
        DoctorFileFault::Own(_) => "give a console log of the device",
    };
    PageError::new(format!("{name} {}", fault.refused()), fault, remedy)
}
