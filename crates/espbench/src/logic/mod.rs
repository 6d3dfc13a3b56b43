//! Captures of logic analysers: the levels of digital channels over time.
//!
//! | module | format |
//! |---|---|
//! | [`table`] | CSV, as sigrok's and Saleae's programs export it |
//! | [`session`] | sigrok session files (`.sr`), of PulseView and sigrok-cli |
//! | [`vcd`] | Value Change Dump (IEEE 1364-2005, clause 18) |
//!
//! A capture is read once, from front to back, in memory that does not grow with it. The format is
//! told by the first bytes, not by the file's name.

pub mod session;
pub mod table;
pub mod vcd;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _};
use std::path::Path;

/// Picoseconds of a second.
pub(crate) const PS_PER_S: u64 = 1_000_000_000_000;

/// Most channels of a capture.
pub const CHANNELS_MAX: usize = 1024;

/// A change that a capture shows. Times are in picoseconds, and may be negative where the capture
/// counts from its trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicChange {
    /// A channel has this level from here on. The first level of a channel is a change, too.
    Level {
        /// Time in ps.
        at: i64,
        /// Index of the channel.
        channel: usize,
        /// Whether the level is high.
        high: bool,
    },
    /// Nothing is known of a channel from here on, until its next level.
    Gap {
        /// Time in ps.
        at: i64,
        /// Index of the channel.
        channel: usize,
    },
    /// The capture ends.
    End {
        /// Time in ps.
        at: i64,
    },
}

/// Reasons why a capture cannot be read. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LogicError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is none of the formats, or not whole.
    #[error("{0}")]
    Malformed(String),
    /// The times of the samples are not in the file.
    #[error("the capture does not say its sample rate: give it with --samplerate, such as 24MHz")]
    NoSampleRate,
}

impl LogicError {
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::Malformed(text.into())
    }
}

/// A capture whose channels are known, ready to be read.
#[derive(Debug)]
pub enum LogicCapture {
    /// A Value Change Dump.
    Vcd(vcd::VcdCapture),
    /// A sigrok session.
    Session(session::SessionCapture),
    /// A CSV file.
    Table(Box<table::TableCapture>),
}

impl LogicCapture {
    /// Opens a capture; `-` is stdin. `samplerate` is in hertz, for files that do not say theirs.
    ///
    /// # Errors
    /// The file cannot be read, or is no capture.
    pub fn open(path: &Path, samplerate: Option<u64>) -> Result<Self, LogicError> {
        if path == Path::new("-") {
            return Self::of_text(Box::new(BufReader::new(io::stdin())), samplerate);
        }
        let mut file = File::open(path)?;
        let mut magic = [0; 4];
        let read = file.read(&mut magic)?;
        file.rewind()?;
        if read == 4 && &magic == b"PK\x03\x04" {
            return session::SessionCapture::open(file, samplerate).map(Self::Session);
        }
        Self::of_text(Box::new(BufReader::with_capacity(1 << 18, file)), samplerate)
    }

    /// Opens a capture in one of the two text formats.
    ///
    /// # Errors
    /// As [`LogicCapture::open`].
    pub fn of_text(
        mut source: Box<dyn BufRead>,
        samplerate: Option<u64>,
    ) -> Result<Self, LogicError> {
        let first = source.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        match first {
            None => Err(LogicError::malformed("the file is empty")),
            Some(b'$') => vcd::VcdCapture::new(source).map(Self::Vcd),
            Some(b'P') if source.fill_buf()?.starts_with(b"PK\x03\x04") => {
                Err(LogicError::malformed(
                    "a sigrok session cannot be read from stdin: give the file's name",
                ))
            }
            Some(_) => table::TableCapture::new(source, samplerate)
                .map(|table| Self::Table(Box::new(table))),
        }
    }

    /// Returns the names of the channels, in the file's order.
    #[must_use]
    pub fn channels(&self) -> &[String] {
        match self {
            Self::Vcd(it) => it.channels(),
            Self::Session(it) => it.channels(),
            Self::Table(it) => it.channels(),
        }
    }

    /// Returns the format in words.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        match self {
            Self::Vcd(_) => "VCD",
            Self::Session(_) => "sigrok session",
            Self::Table(_) => "CSV",
        }
    }

    /// Reads all changes in the order of time, the end last.
    ///
    /// # Errors
    /// The file is not whole, or its times run backwards. What came before was handed over.
    pub fn read(self, each: &mut dyn FnMut(LogicChange)) -> Result<(), LogicError> {
        match self {
            Self::Vcd(it) => it.read(each),
            Self::Session(it) => it.read(each),
            Self::Table(it) => it.read(each),
        }
    }
}

/// ChannelLevels of some channels, of which only changes are handed on.
#[derive(Debug)]
pub(crate) struct ChannelLevels(Vec<Option<bool>>);

impl ChannelLevels {
    pub(crate) fn new(channels: usize) -> Self {
        Self(vec![None; channels])
    }

    /// Takes a level, or `None` for an unknown one, and hands a change on.
    #[inline]
    pub(crate) fn set(
        &mut self,
        at: i64,
        channel: usize,
        level: Option<bool>,
        each: &mut dyn FnMut(LogicChange),
    ) {
        let Some(before) = self.0.get_mut(channel) else { return };
        if *before == level {
            return;
        }
        *before = level;
        each(match level {
            Some(high) => LogicChange::Level { at, channel, high },
            None => LogicChange::Gap { at, channel },
        });
    }
}

/// Returns the time of a sample in picoseconds; `None` beyond 106 days.
pub(crate) fn sample_time(sample: u64, samplerate: u64) -> Option<i64> {
    let ps = u128::from(sample) * u128::from(PS_PER_S) / u128::from(samplerate.max(1));
    i64::try_from(ps).ok()
}

/// Reads a sample rate such as `24 MHz`, `500 kHz` or `1000000`, in hertz.
#[must_use]
pub fn sample_rate(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "hz" => 1.0,
        "k" | "khz" => 1e3,
        "m" | "mhz" => 1e6,
        "g" | "ghz" => 1e9,
        _ => return None,
    };
    let hertz = number.parse::<f64>().ok()? * factor;
    (1.0..=1e12).contains(&hertz).then(|| hertz.round() as u64)
}

#[cfg(test)]
mod tests;
