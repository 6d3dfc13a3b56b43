//! Traces of links from what people have: captures, console logs and tables of others, to the CSV file that
//! drives links of a lab (`[link] trace`).
//!
//! | module | contents |
//! |---|---|
//! | `capture` | pcap and pcapng of IEEE 802.11: RSSI, and delivery by sequence numbers and retries |
//! | `console` | the esp-now component's lines with an RSSI |
//! | `rows` | CSV with columns time, from, to, rssi, delivered |
//! | `windows` | frames to measurements: one row for each link and window |
//!
//! Bytes come in chunks of any size; memory is bounded by the links and windows that a trace may have.

mod capture;
mod console;
mod rows;
mod windows;

pub use capture::CaptureTrace;
pub use console::ConsoleReader;
pub use rows::RowReader;
pub use windows::{Sighting, TraceCounts, TraceGap, TraceSettings, TraceWindows};

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// The reason for which bytes make no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Fault, with its line or its place.
    pub what: String,
}

impl TraceError {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl core::error::Error for TraceError {}

/// Reader of bytes in one of the formats, which its first bytes tell.
#[derive(Debug)]
pub enum TraceReader {
    /// A capture.
    Capture(Box<CaptureTrace>),
    /// A console's log.
    Console(Box<ConsoleReader>),
    /// CSV.
    Rows(RowReader),
}

impl TraceReader {
    /// Returns the reader for a file with these first bytes.
    #[must_use]
    pub fn of(first: &[u8]) -> Self {
        if CaptureTrace::knows(first) {
            return Self::Capture(Box::default());
        }
        if RowReader::knows(first) {
            return Self::Rows(RowReader::default());
        }
        Self::Console(Box::default())
    }

    /// Returns the name of the format.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        match self {
            Self::Capture(_) => "capture",
            Self::Console(_) => "console log",
            Self::Rows(_) => "CSV",
        }
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// The bytes are not of the format: what is wrong, and where.
    pub fn push(&mut self, bytes: &[u8], windows: &mut TraceWindows) -> Result<(), TraceError> {
        match self {
            Self::Capture(reader) => reader.push(bytes, windows),
            Self::Console(reader) => {
                reader.push(bytes, windows);
                Ok(())
            }
            Self::Rows(reader) => reader.push(bytes, windows),
        }
    }

    /// Takes the end of the bytes.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(&mut self, windows: &mut TraceWindows) -> Result<(), TraceError> {
        match self {
            Self::Capture(reader) => reader.finish(),
            Self::Console(reader) => {
                reader.finish(windows);
                Ok(())
            }
            Self::Rows(reader) => reader.finish(windows),
        }
    }
}

#[cfg(test)]
mod replay;
#[cfg(test)]
mod tests;
