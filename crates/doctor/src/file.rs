//! Kind of a file by its contents: a console log, a capture, an `sdkconfig` or a core dump, in pieces as they come.
//!
//! The first 64 KB tell the kind. Logs and captures are read in constant memory; an `sdkconfig` and a core dump have bounds.

mod own;
#[cfg(test)]
mod tests;

pub use own::OwnForm;

use crate::captured;
use crate::crash::core_dump::{CoreDump, CoreDumpFault, MOST_BYTES};
use crate::crash::trace::{CrashReader, CrashTraces};
use crate::finding::DiagnosisVerdict;
use crate::log::{LogReader, LogSummary};
use crate::matcher::{RuleBook, RulesOfLog};
use crate::report::{DiagnosisEntry, answer};
use crate::settings::ConfigFile;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use espbench_capture::air::esp_now::CaptureKeys;
use espbench_capture::analysis::{CaptureAnalysis, CaptureSummary};
use espbench_capture::file::{CaptureError, CaptureReader};

/// Octets at the begin of a file that tell its kind.
const HEAD: usize = 64 * 1024;

/// Largest `sdkconfig`, in octets: usual ones have some 100 KB.
const LARGEST_CONFIG: usize = 16 << 20;

/// Largest core dump, in octets: base64 has four for three.
const LARGEST_DUMP: usize = MOST_BYTES / 2 * 3;

/// File that was read, by its kind.
#[derive(Debug)]
pub enum DoctorFile {
    /// A console log, and the crashes in it by their addresses.
    Log(LogSummary, Box<CrashTraces>),
    /// An `sdkconfig`.
    Config(Box<ConfigFile>),
    /// A capture.
    Capture(Box<CaptureSummary>),
    /// A core dump.
    CoreDump(Box<CoreDump>),
}

/// Reason for which a file is none that the doctor reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoctorFileFault {
    /// Nothing is in it.
    Empty,
    /// One octet in ten or more is none of a text.
    Binary,
    /// Text that begins as an `sdkconfig` and is larger than any.
    LongConfig,
    /// Text that begins as an `sdkconfig` and has a mistake, in words.
    Config(String),
    /// Settings of a build, none of which the doctor knows.
    NoOption,
    /// File that begins as a capture and holds no packet.
    Capture(CaptureError),
    /// File that begins as a core dump and is none.
    CoreDump(CoreDumpFault),
    /// File that espbench has written of a run: it holds figures, and no line of a console.
    Own(OwnForm),
}

impl DoctorFileFault {
    /// Returns whether the file is none that the doctor reads, in place of one that is damaged or too long.
    #[must_use]
    pub const fn is_other(&self) -> bool {
        matches!(self, Self::Empty | Self::Binary | Self::NoOption | Self::Own(_))
    }

    /// Returns what the file was taken for, as the end of a sentence.
    #[must_use]
    pub const fn refused(&self) -> &'static str {
        match self {
            Self::Empty | Self::Binary => "is no console log",
            Self::LongConfig => "is no sdkconfig",
            Self::Config(_) => "cannot be read as an sdkconfig",
            Self::NoOption => "says nothing about a device",
            Self::Capture(_) => "is no capture",
            Self::CoreDump(_) => "cannot be read as a core dump",
            Self::Own(form) => form.words(),
        }
    }
}

impl fmt::Display for DoctorFileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Binary => f.write_str("it holds bytes that no text has"),
            Self::LongConfig => write!(f, "it is larger than {} MB", LARGEST_CONFIG >> 20),
            Self::Config(why) => f.write_str(why),
            Self::NoOption => f.write_str("the doctor knows none of its options"),
            Self::Capture(why) => why.fmt(f),
            Self::CoreDump(why) => why.fmt(f),
            Self::Own(_) => f.write_str("it has what espbench found, and no line of a console"),
        }
    }
}

/// State of a reader.
#[derive(Debug)]
enum Reading {
    /// Too little is there to tell the kind.
    Head(Vec<u8>),
    Log(Box<LogReader>, Box<CrashReader>),
    Config(Vec<u8>),
    /// A core dump, as octets or in base64.
    CoreDump(Vec<u8>),
    Capture(Box<CaptureAnalysis>, Option<CaptureError>),
    Refused(DoctorFileFault),
}

/// Reader of a file whose kind its contents tell.
///
/// ```
/// use espbench_doctor::file::{DoctorFile, DoctorFileReader};
/// let mut reader = DoctorFileReader::default();
/// reader.push(b"CONFIG_IDF_TARGET=\"esp32c3\"\n");
/// assert!(matches!(reader.finish(), Ok(DoctorFile::Config(_))));
/// ```
#[derive(Debug, Default)]
pub struct DoctorFileReader {
    reading: Reading,
    rules: RulesOfLog,
}

impl DoctorFileReader {
    /// Creates a reader whose logs are read with other rules than the doctor's own.
    #[must_use]
    pub fn with_rules(rules: &'static RuleBook) -> Self {
        Self { reading: Reading::default(), rules: RulesOfLog(rules) }
    }

    /// Takes octets. Returns whether further ones may change the outcome.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        match &mut self.reading {
            Reading::Head(kept) => {
                kept.extend_from_slice(bytes);
                if kept.len() >= HEAD {
                    let kept = core::mem::take(kept);
                    self.reading = Reading::of(kept, self.rules);
                }
            }
            Reading::Log(log, traces) => {
                log.push(bytes);
                traces.push(bytes);
            }
            Reading::CoreDump(kept) if kept.len() + bytes.len() > LARGEST_DUMP => {
                self.reading = Reading::Refused(DoctorFileFault::CoreDump(CoreDumpFault::Long));
            }
            Reading::CoreDump(kept) => kept.extend_from_slice(bytes),
            Reading::Config(kept) if kept.len() + bytes.len() > LARGEST_CONFIG => {
                self.reading = Reading::Refused(DoctorFileFault::LongConfig);
            }
            Reading::Config(kept) => kept.extend_from_slice(bytes),
            Reading::Capture(analysis, fault) if fault.is_none() => {
                *fault = analysis.push(bytes).err();
            }
            Reading::Capture(..) | Reading::Refused(_) => {}
        }
        !matches!(self.reading, Reading::Capture(_, Some(_)) | Reading::Refused(_))
    }

    /// Returns whether it is a file of any length, a log or a capture, whose reading may be ended anywhere. Others have a
    /// bound, and tell nothing in part.
    #[must_use]
    pub const fn is_endless(&self) -> bool {
        matches!(self.reading, Reading::Log(..) | Reading::Capture(..))
    }

    /// Returns what a log tells so far, as if it ended here; none of a file of another kind.
    #[must_use]
    pub fn log_so_far(&self) -> Option<LogSummary> {
        match &self.reading {
            Reading::Log(log, _) => Some((**log).clone().finish()),
            Reading::Head(kept) => match Reading::of(kept.clone(), self.rules) {
                Reading::Log(log, _) => Some(log.finish()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes the end of the file.
    ///
    /// # Errors
    /// The doctor does not read it.
    pub fn finish(self) -> Result<DoctorFile, DoctorFileFault> {
        let reading = match self.reading {
            Reading::Head(kept) => Reading::of(kept, self.rules),
            known => known,
        };
        match reading {
            Reading::Log(log, traces) => {
                Ok(DoctorFile::Log(log.finish(), Box::new(traces.finish())))
            }
            Reading::CoreDump(bytes) => {
                let dump = match CoreDump::knows(&bytes) {
                    true => CoreDump::read(&bytes),
                    false => CoreDump::of_base64(&bytes),
                };
                Ok(DoctorFile::CoreDump(Box::new(dump.map_err(DoctorFileFault::CoreDump)?)))
            }
            Reading::Config(bytes) => config(&bytes).map(|it| DoctorFile::Config(Box::new(it))),
            Reading::Capture(analysis, fault) => {
                let seen = analysis.finish(fault).map_err(DoctorFileFault::Capture)?;
                Ok(DoctorFile::Capture(Box::new(seen)))
            }
            Reading::Refused(fault) => Err(fault),
            Reading::Head(_) => Err(DoctorFileFault::Empty),
        }
    }
}

impl Default for Reading {
    fn default() -> Self {
        Self::Head(Vec::new())
    }
}

impl Reading {
    /// Returns the state after the begin of a file.
    fn of(head: Vec<u8>, rules: RulesOfLog) -> Self {
        if CaptureReader::knows(&head) {
            let mut analysis = Box::new(CaptureAnalysis::new(CaptureKeys::default()));
            let fault = analysis.push(&head).err();
            return Self::Capture(analysis, fault);
        }
        if CoreDump::knows(&head) || CoreDump::knows_base64(&head) {
            return match head.len() > LARGEST_DUMP {
                true => Self::Refused(DoctorFileFault::CoreDump(CoreDumpFault::Long)),
                false => Self::CoreDump(head),
            };
        }
        let begin = &head[..head.len().min(HEAD)];
        if begin.is_empty() {
            return Self::Refused(DoctorFileFault::Empty);
        }
        if is_binary(begin) {
            return Self::Refused(DoctorFileFault::Binary);
        }
        if let Some(form) = OwnForm::of(&plain(begin)) {
            return Self::Refused(DoctorFileFault::Own(form));
        }
        if is_sdkconfig(&plain(begin)) {
            return match head.len() > LARGEST_CONFIG {
                true => Self::Refused(DoctorFileFault::LongConfig),
                false => Self::Config(head),
            };
        }
        let mut log = Box::new(LogReader::with_rules(rules.0));
        log.push(&head);
        let mut traces = Box::new(CrashReader::new());
        traces.push(&head);
        Self::Log(log, traces)
    }
}

/// Returns the diagnosis of a capture as an entry of a document.
#[must_use]
pub fn capture_entry(name: String, seen: &CaptureSummary) -> DiagnosisEntry {
    let diagnosis = captured::diagnose(seen);
    let answer = match diagnosis.verdict {
        DiagnosisVerdict::CannotTell => {
            "this file cannot tell: no frame of IEEE 802.11 and no packet of IP in it can be read"
                .into()
        }
        _ => answer(&diagnosis),
    };
    let files = alloc::vec![name];
    DiagnosisEntry {
        files,
        lines: None,
        recorded: None,
        answer,
        diagnosis,
        crashes: Vec::new(),
        proof: None,
    }
}

fn config(bytes: &[u8]) -> Result<ConfigFile, DoctorFileFault> {
    let bytes = plain(bytes);
    let text =
        core::str::from_utf8(&bytes).map_err(|why| DoctorFileFault::Config(why.to_string()))?;
    let file = ConfigFile::read(text).map_err(|why| DoctorFileFault::Config(why.to_string()))?;
    if file.reading.knows_nothing() {
        return Err(DoctorFileFault::NoOption);
    }
    Ok(file)
}

/// Returns whether a file is UTF-16, which PowerShell and some terminals write: by its mark, or by zeros in every second
/// place.
fn is_utf16(head: &[u8]) -> bool {
    has_mark(head) || {
        let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|it| **it == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        // Signs beyond Latin have both bytes.
        let most = head.len() * 2 / 5;
        head.len() >= 8 && (even == 0 && odd >= most || odd == 0 && even >= most)
    }
}

const fn has_mark(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Returns the bytes of a text in ASCII. Of UTF-16 every second one is zero; the log reader leaves zeros out, too.
fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !is_utf16(bytes) {
        return bytes.into();
    }
    let text = if has_mark(bytes) { &bytes[2..] } else { bytes };
    text.iter().copied().filter(|it| *it != 0).collect::<Vec<u8>>().into()
}

/// Returns whether the beginning of a file is that of no log: one byte in ten or more is none of a text, and it is not
/// UTF-16. A console that resets or is unplugged leaves a few.
#[must_use]
pub fn is_binary(head: &[u8]) -> bool {
    if is_utf16(head) {
        return false;
    }
    let of_text = |it: &u8| matches!(it, b'\t' | b'\n' | b'\r' | 0x08 | 0x1b) || *it >= b' ';
    head.iter().filter(|it| !of_text(it)).count() * 10 >= head.len()
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
