//! Files as they are recognised by their contents: logs, captures, sdkconfig files; names of stored runs.

use crate::cli::capture;
use crate::cli::common::StoreArgs;
use crate::cli::output;
use crate::store::Store;
use crate::user_error::{ForUser as _, UserError};
use anyhow::bail;
use espbench_capture::air::esp_now::CaptureKeys;
use espbench_capture::file::CaptureReader;
use espbench_doctor::captured::{self, CapturedLoad};
use espbench_doctor::finding::DiagnosisVerdict;
use espbench_doctor::log::{LogReader, LogSummary};
use espbench_doctor::report::{DiagnosisEntry, answer};
use espbench_doctor::settings::ConfigFile;
use espbench_doctor::stored::RunLosses;
use espbench_measure::label;
use espbench_measure::warning::Warning;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Files beyond this are no sdkconfig: the largest have some 100 KB.
const LARGEST_CONFIG: usize = 16 << 20;

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
    /// A capture, diagnosed, with how its frames fill the air.
    Capture(Box<DiagnosisEntry>, Option<CapturedLoad>),
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
            let because = format!("there is no such file, and as a run: {of_run:#}");
            UserError::new(format!("cannot read {name}")).because(because).remedy(remedy).into()
        }),
        Err(why) => {
            let remedy = "name a log that a terminal has kept, or - for stdin";
            Err(why).for_user(|| format!("cannot read {name}"), remedy).map_err(Into::into)
        }
    }
}

/// Diagnoses a capture.
fn capture(name: String, head: &[u8], from: impl Read) -> anyhow::Result<Found> {
    let seen = capture::analyse(&name, CaptureKeys::default(), head.chain(from))?;
    let diagnosis = captured::diagnose(&seen);
    let answer = match diagnosis.verdict {
        DiagnosisVerdict::CannotTell => {
            "this file cannot tell: no frame of IEEE 802.11 and no packet of IP in it can be read"
                .into()
        }
        _ => answer(&diagnosis),
    };
    let (files, proof) = (vec![name], None);
    let entry = DiagnosisEntry { files, lines: None, recorded: None, answer, diagnosis, proof };
    Ok(Found::Capture(Box::new(entry), captured::load(&seen)))
}

/// Reads a log or an sdkconfig to its end.
fn stream(name: String, mut from: impl Read) -> anyhow::Result<Found> {
    let mut reader = LogReader::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut first = true;
    loop {
        let length = fill(&name, &mut from, &mut buffer, first)?;
        let read = &buffer[..length];
        if std::mem::take(&mut first) {
            if CaptureReader::knows(read) {
                return capture(name, read, from);
            }
            is_text(&name, read)?;
            if is_sdkconfig(&plain(read)) {
                return config(name, read, from);
            }
        }
        if length == 0 {
            return Ok(Found::Log(name, reader.finish()));
        }
        reader.push(read);
    }
}

/// Reads a piece; the first one is as long as the buffer, where there is as much: it tells what the file is.
fn fill(name: &str, from: &mut impl Read, buffer: &mut [u8], first: bool) -> anyhow::Result<usize> {
    let mut filled = 0;
    loop {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => return Ok(filled),
            Ok(length) => filled += length,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => bail!(UserError::new(format!("cannot read {name}")).because(why)),
        }
        if !first || filled == buffer.len() {
            return Ok(filled);
        }
    }
}

fn config(name: String, head: &[u8], from: impl Read) -> anyhow::Result<Found> {
    let mut bytes = head.to_vec();
    let remedy = "name the sdkconfig that idf.py has written into the project's folder";
    from.take(LARGEST_CONFIG as u64)
        .read_to_end(&mut bytes)
        .for_user(|| format!("cannot read {name}"), remedy)?;
    if bytes.len() > LARGEST_CONFIG {
        bail!(
            UserError::new(format!("{name} is no sdkconfig"))
                .because(format!("it is larger than {} MB", LARGEST_CONFIG >> 20))
                .remedy(remedy)
        );
    }
    let text = String::from_utf8(plain(&bytes).into_owned());
    let text = text.for_user(|| format!("{name} is no text"), remedy)?;
    let file = ConfigFile::read(&text)
        .for_user(|| format!("{name} cannot be read as an sdkconfig"), remedy)?;
    Ok(Found::Config(name, Box::new(file)))
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

/// Refuses files that are known to be something else, by their first bytes.
fn is_text(name: &str, head: &[u8]) -> anyhow::Result<()> {
    let refuse = |is: &str, remedy: &str| -> anyhow::Result<()> {
        bail!(UserError::new(format!("{name} is no console log")).because(is).remedy(remedy))
    };
    match head {
        [] => refuse("it is empty", "name a log that a terminal has kept"),
        _ if !is_utf16(head) && is_binary(head) => {
            refuse("it holds bytes that no text has", "name a log that a terminal has kept as text")
        }
        _ => Ok(()),
    }
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
fn plain(bytes: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if !is_utf16(bytes) {
        return bytes.into();
    }
    let text = if has_mark(bytes) { &bytes[2..] } else { bytes };
    text.iter().copied().filter(|it| *it != 0).collect::<Vec<u8>>().into()
}

/// Returns whether one byte in ten or more is none of a text. A console that resets or is unplugged leaves a few.
fn is_binary(head: &[u8]) -> bool {
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
