//! Session files of sigrok: zip archives with a `metadata` file and the samples of all digital
//! channels, a bit each, in files `logic-1-1`, `logic-1-2`, … (sigrok's wiki, "File format:sigrok/v2").

use super::{CHANNELS_MAX, ChannelLevels, LogicChange, LogicError, sample_rate, sample_time};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use zip::ZipArchive;
use zip::result::ZipError;

/// Longest `metadata` file that is read.
const METADATA_MAX: u64 = 1 << 20;

/// A session whose description is read.
#[derive(Debug)]
pub struct SessionCapture<R = File> {
    archive: ZipArchive<R>,
    channels: Vec<String>,
    /// Bit of each channel in a sample.
    bits: Vec<usize>,
    samplerate: u64,
    unit_bytes: usize,
    /// Names of the files of samples, in order.
    files: Vec<String>,
}

impl<R: Read + Seek> SessionCapture<R> {
    /// Reads the description of a session. `samplerate` holds where the session has none.
    ///
    /// # Errors
    /// No session of sigrok, or one without digital channels.
    pub fn open(file: R, samplerate: Option<u64>) -> Result<Self, LogicError> {
        let mut archive = ZipArchive::new(file).map_err(zip_error)?;
        let mut text = String::new();
        archive
            .by_name("metadata")
            .map_err(|_| LogicError::malformed("a zip archive without sigrok's `metadata` file"))?
            .take(METADATA_MAX)
            .read_to_string(&mut text)
            .map_err(|_| LogicError::malformed("sigrok's `metadata` file is not text"))?;
        let described = Metadata::parse(&text)?;
        let Metadata { capturefile, unit_bytes, channels, .. } = described;
        if channels.is_empty() {
            return Err(LogicError::malformed("the sigrok session has no digital channels"));
        }
        let samplerate = described.samplerate.or(samplerate).ok_or(LogicError::NoSampleRate)?;
        let mut files: Vec<(u64, String)> = archive
            .file_names()
            .filter_map(|name| {
                let name = name.ok()?;
                let rest = name.strip_prefix(&capturefile)?;
                let number =
                    if rest.is_empty() { 0 } else { rest.strip_prefix('-')?.parse().ok()? };
                Some((number, name.clone().into_owned()))
            })
            .collect();
        files.sort();
        if files.is_empty() {
            let text = format!("the sigrok session has no file of samples `{capturefile}-1`");
            return Err(LogicError::malformed(text));
        }
        let (bits, channels) = channels.into_iter().unzip();
        let files = files.into_iter().map(|(_, name)| name).collect();
        Ok(Self { archive, channels, bits, samplerate, unit_bytes, files })
    }

    /// Returns the names of the channels.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Reads all changes in the order of time, the end last.
    ///
    /// # Errors
    /// The file is not whole.
    pub fn read(mut self, each: &mut dyn FnMut(LogicChange)) -> Result<(), LogicError> {
        let mut reader = SampleReader {
            levels: ChannelLevels::new(self.bits.len()),
            before: None,
            sample: 0,
            samplerate: self.samplerate,
            bits: &self.bits,
        };
        let mut buffer = vec![0; self.unit_bytes << 15];
        for name in &self.files {
            let mut file = self.archive.by_name(name).map_err(zip_error)?;
            loop {
                let filled = fill(&mut file, &mut buffer)?;
                if filled == 0 {
                    break;
                }
                if filled % self.unit_bytes != 0 {
                    let text = format!("`{name}` of the sigrok session ends within a sample");
                    return Err(LogicError::malformed(text));
                }
                for unit in buffer[..filled].chunks_exact(self.unit_bytes) {
                    reader.sample(unit, each)?;
                }
            }
        }
        let at = reader.time()?;
        each(LogicChange::End { at });
        Ok(())
    }
}

struct SampleReader<'a> {
    levels: ChannelLevels,
    before: Option<u64>,
    sample: u64,
    samplerate: u64,
    bits: &'a [usize],
}

impl SampleReader<'_> {
    /// Takes a sample of at most eight bytes.
    #[inline]
    fn sample(&mut self, unit: &[u8], each: &mut dyn FnMut(LogicChange)) -> Result<(), LogicError> {
        let word = unit.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        if self.before != Some(word) {
            self.before = Some(word);
            let at = self.time()?;
            for (channel, bit) in self.bits.iter().enumerate() {
                self.levels.set(at, channel, Some(word >> bit & 1 == 1), each);
            }
        }
        self.sample += 1;
        Ok(())
    }

    fn time(&self) -> Result<i64, LogicError> {
        sample_time(self.sample, self.samplerate)
            .ok_or_else(|| LogicError::malformed("a time beyond 106 days"))
    }
}

/// Fills the buffer, or as much of it as is left.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> Result<usize, LogicError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                let text = format!("the sigrok session is damaged: {error}");
                return Err(LogicError::malformed(text));
            }
        }
    }
    Ok(filled)
}

fn zip_error(error: ZipError) -> LogicError {
    match error {
        ZipError::Io(error) if error.kind() != ErrorKind::UnexpectedEof => error.into(),
        error => LogicError::malformed(format!("the sigrok session is damaged: {error}")),
    }
}

/// Contents of the `metadata` file that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    capturefile: String,
    samplerate: Option<u64>,
    unit_bytes: usize,
    /// Bit and name of each digital channel.
    channels: Vec<(usize, String)>,
}

impl Metadata {
    /// Reads the file: keys and values of the first device.
    pub(super) fn parse(text: &str) -> Result<Self, LogicError> {
        let mut it = Self {
            capturefile: "logic-1".into(),
            samplerate: None,
            unit_bytes: 1,
            channels: Vec::new(),
        };
        let mut devices = 0;
        for line in text.lines() {
            if line.starts_with("[device ") {
                devices += 1;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            if devices != 1 {
                continue;
            }
            let (key, value) = (key.trim(), value.trim());
            match key {
                "capturefile" => it.capturefile = value.into(),
                "samplerate" => it.samplerate = sample_rate(value),
                "unitsize" => {
                    let read = value.parse().ok().filter(|bytes| (1..=8).contains(bytes));
                    it.unit_bytes = read.ok_or_else(|| {
                        let text = format!(
                            "a sigrok session with samples of {value} bytes: 1 to 8 can be read"
                        );
                        LogicError::malformed(text)
                    })?;
                }
                _ => {
                    let number = key.strip_prefix("probe").and_then(|n| n.parse::<usize>().ok());
                    if let Some(number) = number.filter(|n| (1..=CHANNELS_MAX).contains(n)) {
                        it.channels.push((number - 1, value.into()));
                    }
                }
            }
        }
        if it.channels.iter().any(|(bit, _)| *bit >= it.unit_bytes * 8) {
            return Err(LogicError::malformed("a sigrok session with more channels than bits"));
        }
        Ok(it)
    }
}
