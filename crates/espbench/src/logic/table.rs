//! CSV files: as sigrok's output module `csv` writes them, one row a sample, and as Saleae's Logic 2
//! exports digital data, one row a change (`Time [s],Channel 0,…`; `X` where nothing is known).
//!
//! sigrok cuts the time between two samples to a whole number of its unit: at 24 MHz its column of
//! times counts 41 ns a sample, not 41.67. So where such a file says its sample rate, a time stands
//! for a number of samples.

use super::{
    CHANNELS_MAX, ChannelLevels, LogicChange, LogicError, PS_PER_S, sample_rate, sample_time,
};
use csv::{ByteRecord, ReaderBuilder};
use std::fmt;
use std::io::{BufRead, Cursor, Read};

/// Longest line before the first sample.
const LINE_MAX: u64 = 1 << 16;

/// Most lines before the first sample.
const HEAD_MAX: usize = 1000;

/// The meaning of a row's first field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeColumn {
    /// There is none: rows are samples, one after the other.
    None,
    /// Times in units of so many picoseconds.
    Unit { ps: u64 },
    /// Times in units of so many picoseconds, of which each sample takes a whole number.
    Samples { units: u64 },
}

/// A CSV file whose head is read.
pub struct TableCapture {
    source: Box<dyn BufRead>,
    /// The first row, where the file has no row of names.
    first: Vec<u8>,
    channels: Vec<String>,
    time: TimeColumn,
    samplerate: Option<u64>,
}

impl fmt::Debug for TableCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableCapture").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl TableCapture {
    /// Reads the head of a file. `samplerate` holds where the file says none.
    ///
    /// # Errors
    /// No head that is known, or a file that does not say its times.
    pub fn new(mut source: Box<dyn BufRead>, samplerate: Option<u64>) -> Result<Self, LogicError> {
        let mut found = None;
        let mut names = None;
        let mut is_sigrok = false;
        for _ in 0..HEAD_MAX {
            let line = line(&mut source)?;
            let text = line.trim();
            if let Some(comment) = text.strip_prefix(';') {
                is_sigrok = true;
                note(comment.trim(), &mut found, &mut names);
            } else if let Some(rate) = text.strip_prefix("META samplerate:") {
                found = sample_rate(rate);
            } else if line.is_empty() {
                break;
            } else if !text.is_empty() {
                let table = Self::of_first_row(source, line, names, found.or(samplerate));
                return match table {
                    Err(LogicError::NoSampleRate) if !is_sigrok => Err(unknown()),
                    table => table,
                };
            }
        }
        Err(LogicError::malformed("no samples in the CSV file"))
    }

    fn of_first_row(
        source: Box<dyn BufRead>,
        line: String,
        names: Option<Vec<String>>,
        samplerate: Option<u64>,
    ) -> Result<Self, LogicError> {
        let fields: Vec<String> = line.trim().split(',').map(|it| it.trim().into()).collect();
        let is_data = fields.iter().all(|it| it.parse::<f64>().is_ok() || it == "X");
        let first = if is_data { line.into_bytes() } else { Vec::new() };
        let time = match is_data {
            true => TimeColumn::None,
            false => time_column(&fields[0], samplerate)?,
        };
        let skipped = usize::from(time != TimeColumn::None);
        let columns = fields.len() - skipped;
        // A row of units names nobody: the comment before it does.
        let is_units = is_data || fields.iter().skip(skipped).all(|it| it == "logic");
        let channels = match names.filter(|names| is_units && names.len() == columns) {
            Some(names) => names,
            None if is_units => (0..columns).map(|i| format!("D{i}")).collect(),
            None => fields.into_iter().skip(skipped).collect(),
        };
        if channels.is_empty() || channels.len() > CHANNELS_MAX {
            let text = "the first row of a CSV file names its columns: Time [s],D0,D1 …";
            return Err(LogicError::malformed(text));
        }
        if time == TimeColumn::None && samplerate.is_none() {
            return Err(LogicError::NoSampleRate);
        }
        Ok(Self { source, first, channels, time, samplerate })
    }

    pub(super) fn channels(&self) -> &[String] {
        &self.channels
    }

    pub(super) fn read(self, each: &mut dyn FnMut(LogicChange)) -> Result<(), LogicError> {
        let Self { source, first, channels, time, samplerate } = self;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b';'))
            .from_reader(Cursor::new(first).chain(source));
        let skipped = usize::from(time != TimeColumn::None);
        let mut levels = ChannelLevels::new(channels.len());
        let mut row = ByteRecord::new();
        let (mut number, mut at) = (0, None);
        while reader.read_byte_record(&mut row).map_err(csv_error)? {
            let fault = |text: &str| {
                let line = row.position().map_or(0, csv::Position::line);
                LogicError::malformed(format!(
                    "row {} (line {line} of the samples): {text}",
                    number + 1
                ))
            };
            if row.len() < channels.len() + skipped {
                return Err(fault("fewer fields than the file has columns"));
            }
            let now = match time {
                TimeColumn::None => sample_time(number, samplerate.unwrap_or(1)),
                TimeColumn::Unit { ps } => decimal_ps(&row[0], ps),
                TimeColumn::Samples { units } => std::str::from_utf8(&row[0])
                    .ok()
                    .and_then(|text| text.trim().parse::<u64>().ok())
                    .and_then(|time| sample_time(time / units, samplerate.unwrap_or(1))),
            };
            let Some(now) = now else { return Err(fault("the first field is not a time")) };
            if at.is_some_and(|before| now < before) {
                return Err(fault("time runs backwards"));
            }
            at = Some(now);
            for channel in 0..channels.len() {
                let level = match &row[channel + skipped] {
                    b"0" => Some(false),
                    b"1" => Some(true),
                    b"X" | b"x" | b"" => None,
                    _ => {
                        return Err(fault(
                            "a level that is not 0, 1 or X: leave analog channels out",
                        ));
                    }
                };
                levels.set(now, channel, level, each);
            }
            number += 1;
        }
        each(LogicChange::End { at: at.unwrap_or(0) });
        Ok(())
    }
}

/// Reads a line, of limited length; empty at the end.
fn line(source: &mut dyn BufRead) -> Result<String, LogicError> {
    let mut line = Vec::new();
    source.take(LINE_MAX).read_until(b'\n', &mut line)?;
    if line.len() as u64 == LINE_MAX {
        return Err(LogicError::malformed(
            "a line of more than 64 KiB: this is no CSV of a capture",
        ));
    }
    String::from_utf8(line).map_err(|_| unknown())
}

/// Returns the error for a file of no format that is known.
fn unknown() -> LogicError {
    LogicError::malformed(
        "this is no VCD, no sigrok session, and no CSV with a column `Time [s]` or a sample rate: \
         export the capture again, or give --samplerate for one row a sample",
    )
}

/// Reads a comment of sigrok: the sample rate, or the names of the channels.
fn note(comment: &str, samplerate: &mut Option<u64>, names: &mut Option<Vec<String>>) {
    if let Some(rate) = comment.strip_prefix("Samplerate:") {
        *samplerate = sample_rate(rate);
    } else if let Some(rest) = comment.strip_prefix("Channels (")
        && let Some((_, list)) = rest.split_once("): ")
    {
        *names = Some(list.split(',').map(|name| name.trim().into()).collect());
    }
}

/// Returns the meaning of the first column by its name.
fn time_column(name: &str, samplerate: Option<u64>) -> Result<TimeColumn, LogicError> {
    let lower = name.to_ascii_lowercase();
    let ps = match lower.as_str() {
        "time [s]" | "time[s]" | "time (s)" | "time_s" | "seconds" => PS_PER_S,
        "time [ms]" | "time_ms" => 1_000_000_000,
        "time [us]" | "time_us" => 1_000_000,
        "time [ns]" | "time_ns" => 1000,
        // sigrok's units of the sample times; a sample takes a whole number of them.
        "milliseconds" => return whole_units(1000, 1_000_000_000, samplerate),
        "microseconds" => return whole_units(1_000_000, 1_000_000, samplerate),
        "nanoseconds" => return whole_units(1_000_000_000, 1000, samplerate),
        "picoseconds" => return whole_units(PS_PER_S, 1, samplerate),
        // Without a unit: sigrok takes the first power of a thousand that the rate does not exceed.
        "time" => {
            let rate = samplerate.ok_or(LogicError::NoSampleRate)?;
            let mut per_second = 1000;
            while rate > per_second && per_second < PS_PER_S {
                per_second *= 1000;
            }
            return whole_units(per_second, PS_PER_S / per_second, samplerate);
        }
        "samples" => {
            let text = "sigrok wrote no times into this file: export it again without its column \
                        of times, and with all rows";
            return Err(LogicError::malformed(text));
        }
        _ if lower.starts_with("time") => {
            let text = format!(
                "the column `{name}` has no unit that is known: export times in seconds (`Time [s]`)"
            );
            return Err(LogicError::malformed(text));
        }
        _ => return Ok(TimeColumn::None),
    };
    Ok(TimeColumn::Unit { ps })
}

/// Returns how to read times of which a second has `per_second` units of `ps` each.
fn whole_units(
    per_second: u64,
    ps: u64,
    samplerate: Option<u64>,
) -> Result<TimeColumn, LogicError> {
    Ok(match samplerate {
        Some(rate) if rate <= per_second => TimeColumn::Samples { units: per_second / rate.max(1) },
        _ => TimeColumn::Unit { ps },
    })
}

/// Reads a decimal number in units of `ps` picoseconds, to the picosecond.
fn decimal_ps(field: &[u8], ps: u64) -> Option<i64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(part) {
        // Such as 1.5e-05.
        let value = text.parse::<f64>().ok()? * ps as f64;
        return (value.abs() < 9.2e18).then(|| value.round() as i64);
    }
    let mut total = whole.parse::<u64>().ok()?.checked_mul(ps)?;
    let mut unit = ps;
    for digit in part.bytes() {
        unit /= 10;
        total = total.checked_add(u64::from(digit - b'0') * unit)?;
    }
    let total = i64::try_from(total).ok()?;
    Some(if negative { -total } else { total })
}

fn csv_error(error: csv::Error) -> LogicError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        kind => LogicError::malformed(format!("not CSV: {kind:?}")),
    }
}
