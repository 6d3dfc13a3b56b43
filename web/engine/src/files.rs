//! Logs and sdkconfig files, and their diagnosis: as `espbench doctor --no-proof` has it.

use crate::answer::PageError;
use espbench_doctor::incident::{Incident, diagnose as diagnosed};
use espbench_doctor::log::{LogReader, LogSummary};
use espbench_doctor::report::{DiagnosisEntry, DoctorDocument, SCHEMA, answer};
use espbench_doctor::settings::ConfigFile;
use espbench_engine::proof::proof_round_trip;
use espbench_measure::tune::RoundTrip;
use espbench_sim::lab::file::Library;

/// Beginning of a file that tells what it is, in bytes.
const HEAD: usize = 64 * 1024;

/// Files beyond this are no sdkconfig.
const LARGEST_CONFIG: usize = 16 << 20;

/// Most files of one diagnosis.
const FILES: usize = 50;

/// A file whose bytes come.
struct OpenFile {
    name: String,
    /// Bytes of a file that is not yet known, or is an sdkconfig.
    kept: Vec<u8>,
    /// Reader of a log.
    log: Option<LogReader>,
}

/// Files of one diagnosis.
#[derive(Default)]
pub(crate) struct OpenFiles {
    files: Vec<OpenFile>,
}

impl OpenFiles {
    /// Opens a file: what is put belongs to it.
    pub(crate) fn open(&mut self, name: String) -> Result<(), PageError> {
        if self.files.len() >= FILES {
            let why = format!("{FILES} files are read at once");
            return Err(PageError::new("too many files", why, "give those of one device"));
        }
        self.files.push(OpenFile { name, kept: Vec::new(), log: None });
        Ok(())
    }

    /// Returns whether a file is open.
    pub(crate) const fn is_open(&self) -> bool {
        !self.files.is_empty()
    }

    /// Takes the next bytes of the file that was opened last. A log is read in constant memory.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Some(file) = self.files.last_mut() else { return };
        if let Some(log) = &mut file.log {
            return log.push(bytes);
        }
        file.kept.extend_from_slice(bytes);
        if file.kept.len() >= HEAD
            && (!is_sdkconfig(&file.kept[..HEAD]) || file.kept.len() > LARGEST_CONFIG)
        {
            let mut log = LogReader::new();
            log.push(&std::mem::take(&mut file.kept));
            file.log = Some(log);
        }
    }
}

/// A file by what it holds.
enum Held {
    Log(String, LogSummary),
    Config(String, Box<ConfigFile>),
}

/// Returns the diagnosis of all files, as the command writes it in JSON.
pub(crate) fn diagnose(files: OpenFiles) -> Result<String, PageError> {
    let held = files.files.into_iter().map(held).collect::<Result<Vec<_>, _>>()?;
    let (mut logs, mut configs) = (Vec::new(), Vec::new());
    for it in &held {
        match it {
            Held::Log(name, log) => logs.push((name.as_str(), log)),
            Held::Config(name, config) => configs.push((name.as_str(), &**config)),
        }
    }
    if logs.is_empty() && configs.is_empty() {
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
    let library = Library::built_in();
    let rtt = proof_round_trip(&library).map_err(|why| {
        PageError::new("the lab of proofs cannot be made", why, "load the page again")
    })?;
    let config = configs.first().copied();
    let mut diagnoses: Vec<DiagnosisEntry> =
        logs.iter().map(|log| entry(Some(*log), config, &rtt)).collect();
    if logs.is_empty() {
        diagnoses.extend(configs.iter().map(|config| entry(None, Some(*config), &rtt)));
    }
    let document = DoctorDocument { schema: SCHEMA, diagnoses };
    let text = serde_json::to_string_pretty(&document);
    text.map(|it| it + "\n")
        .map_err(|why| PageError::new("the diagnosis cannot be written", why, "tell us"))
}

fn entry(
    log: Option<(&str, &LogSummary)>,
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
    DiagnosisEntry {
        files,
        lines: log.map(|it| it.1.lines),
        recorded: log.map(|it| it.1.recorded),
        answer: answer(&found.diagnosis),
        diagnosis: found.diagnosis,
        proof: None,
    }
}

/// Reads a file to its end.
fn held(file: OpenFile) -> Result<Held, PageError> {
    let OpenFile { name, kept, log } = file;
    if let Some(log) = log {
        return Ok(Held::Log(name, log.finish()));
    }
    let refuse =
        |is: &str, remedy: &str| PageError::new(format!("{name} is no console log"), is, remedy);
    let text = "give a log that a terminal has kept as text";
    match kept.as_slice() {
        [] => return Err(refuse("it is empty", text)),
        [0xd4, 0xc3, 0xb2, 0xa1, ..]
        | [0xa1, 0xb2, 0xc3, 0xd4, ..]
        | [0x4d, 0x3c, 0xb2, 0xa1, ..]
        | [0x0a, 0x0d, 0x0d, 0x0a, ..] => {
            let is = "it is a capture, which the doctor does not read yet";
            return Err(refuse(is, "give the board's console log of that time"));
        }
        _ => {}
    }
    let of_text = |it: &&u8| matches!(**it, b'\t' | b'\n' | b'\r' | 0x08 | 0x1b) || **it >= b' ';
    let strange = kept.len() - kept.iter().filter(of_text).count();
    if strange * 10 >= kept.len() {
        return Err(refuse("it holds bytes that no text has", text));
    }
    if is_sdkconfig(&kept) {
        let remedy = "give the sdkconfig that idf.py has written into the project's folder";
        let wrong = |why: &dyn std::fmt::Display| {
            PageError::new(format!("{name} cannot be read as an sdkconfig"), why, remedy)
        };
        let text = std::str::from_utf8(&kept).map_err(|why| wrong(&why))?;
        let config = ConfigFile::read(text).map_err(|why| wrong(&why))?;
        return Ok(Held::Config(name.clone(), Box::new(config)));
    }
    let mut log = LogReader::new();
    log.push(&kept);
    Ok(Held::Log(name.clone(), log.finish()))
}

/// Returns whether most lines are settings of a build.
fn is_sdkconfig(head: &[u8]) -> bool {
    let lines = head.split(|it| *it == b'\n').map(<[u8]>::trim_ascii).filter(|it| !it.is_empty());
    let (mut others, mut settings) = (0_usize, 0_usize);
    for line in lines {
        let is_setting = line.starts_with(b"CONFIG_") || line.starts_with(b"# CONFIG_");
        settings += usize::from(is_setting);
        others += usize::from(!is_setting && !line.starts_with(b"#"));
    }
    settings > others
}
