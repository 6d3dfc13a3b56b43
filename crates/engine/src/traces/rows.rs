//! Tables of others: CSV with a row for each frame or each measurement.

use super::TraceError;
use super::windows::{Sighting, TraceWindows};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// The longest line, and the most columns.
const MOST_LINE: usize = 4096;
const MOST_COLUMNS: usize = 64;

/// Names of each column, as people call them.
const NAMES: [&[&str]; 5] = [
    &["time", "time_s", "timestamp", "t"],
    &["from", "src", "source", "sender", "tx"],
    &["to", "dst", "destination", "receiver", "rx"],
    &["rssi", "rssi_dbm", "signal"],
    &["delivered", "delivery", "received", "ok"],
];

/// Reader of CSV.
#[derive(Debug, Default)]
pub struct RowReader {
    left: Vec<u8>,
    line: usize,
    /// Place of each column.
    columns: Option<[Option<usize>; 5]>,
}

impl RowReader {
    /// Returns whether a file with these first bytes is such a table: its first line names time, from and to.
    #[must_use]
    pub fn knows(first: &[u8]) -> bool {
        let line = first.split(|it| *it == b'\n').next().unwrap_or_default();
        let line = core::str::from_utf8(line).unwrap_or_default();
        let places = places(&fields(line.trim_end()));
        places[..3].iter().all(Option::is_some)
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn push(&mut self, bytes: &[u8], windows: &mut TraceWindows) -> Result<(), TraceError> {
        for &byte in bytes {
            if byte == b'\n' {
                let line = core::mem::take(&mut self.left);
                self.row(&line, windows)?;
            } else if self.left.len() >= MOST_LINE {
                self.line += 1;
                return Err(self.wrong("the line is too long"));
            } else {
                self.left.push(byte);
            }
        }
        Ok(())
    }

    /// Takes the end of the table.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(&mut self, windows: &mut TraceWindows) -> Result<(), TraceError> {
        let line = core::mem::take(&mut self.left);
        if line.is_empty() { Ok(()) } else { self.row(&line, windows) }
    }

    fn wrong(&self, what: &str) -> TraceError {
        TraceError::new(format!("line {}: {what}", self.line))
    }

    fn row(&mut self, line: &[u8], windows: &mut TraceWindows) -> Result<(), TraceError> {
        self.line += 1;
        let line = core::str::from_utf8(line).map_err(|_| self.wrong("it is not UTF-8"))?;
        let fields = fields(line.trim_end_matches('\r'));
        let Some(columns) = self.columns else {
            let places = places(&fields);
            if places[3].is_none() && places[4].is_none() {
                return Err(self.wrong("no column `rssi` and no column `delivered`: one is needed"));
            }
            self.columns = Some(places);
            return Ok(());
        };
        if line.trim().is_empty() {
            return Ok(());
        }
        let field = |column: usize| {
            let at = columns.get(column).copied().flatten();
            at.and_then(|at| fields.get(at)).map_or("", |it| it.trim())
        };
        let number = |column: usize, least: f64, most: f64| match field(column) {
            "" => Ok(None),
            text => {
                let number = text.parse::<f64>().ok().filter(|it| (least..=most).contains(it));
                let name = NAMES[column][0];
                let wrong = || format!("`{name}` is `{text}`: use a number from {least} to {most}");
                number.map(Some).ok_or_else(|| self.wrong(&wrong()))
            }
        };
        let Some(time_s) = number(0, 0.0, 1e10)? else { return Err(self.wrong("no time")) };
        let rssi_dbm = number(3, -127.0, 20.0)?;
        let delivered = match field(4) {
            "true" | "yes" => Some(1.0),
            "false" | "no" => Some(0.0),
            _ => number(4, 0.0, 1.0)?,
        };
        let (from, to) = (field(1), field(2));
        if from.is_empty() || to.is_empty() {
            return Err(self.wrong("`from` and `to` name two stations"));
        }
        windows.add(&Sighting {
            at_ns: libm::rint(time_s * 1e9) as u64,
            from: from.to_string(),
            to: Some(to.to_string()),
            rssi_dbm,
            sent: if delivered.is_some() { 1.0 } else { 0.0 },
            arrived: delivered.unwrap_or(0.0),
        });
        Ok(())
    }
}

/// Returns the place of each column in a head.
fn places(head: &[String]) -> [Option<usize>; 5] {
    NAMES.map(|names| head.iter().position(|it| names.contains(&it.trim().to_lowercase().as_str())))
}

/// Splits a line of CSV into its fields (RFC 4180). Line breaks in quotes are not read.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted && all.len() < MOST_COLUMNS => all.push(core::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    all.push(field);
    all
}
