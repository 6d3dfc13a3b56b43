//! The shape of a line.
//!
//! ```text
//! [24:0a:c4:00:00:01][1][-40]: I (1205) iperf_cmd: seq=3 Destination Host Unreachable
//! └── a monitor's prefix ─────┘ │  │    │          └ text
//!                         level ┘  │    └ tag
//!             ms since start, of the device that logs
//! ```

use super::scan::LineCursor;
use crate::node::print::LogLevel;
use espbench_ieee80211::mac::Mac;

/// Parts of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleLine<'a> {
    /// Device that logged the line, if it came over the air.
    pub remote: Option<MonitorPrefix>,
    /// Level, time and tag, if it is a log line.
    pub log: Option<LogHeader<'a>>,
    /// Rest of the line; the whole line for plain text.
    pub text: &'a str,
    /// Whether the end of the line is missing.
    pub cut: bool,
}

/// Prefix that a monitor prints before a line of another device: `[<MAC>][<channel>][<rssi>]: `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorPrefix {
    /// Address of the device.
    pub mac: Mac,
    /// Channel on which it was heard.
    pub channel: u8,
    /// Signal strength at the monitor, dBm.
    pub rssi: i8,
}

/// Header of a log line of ESP-IDF: `<L> (<ms>) <tag>: `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHeader<'a> {
    /// Severity.
    pub level: LogLevel,
    /// Whole milliseconds since the device's start. 32 bits on the device: they start again after
    /// 49.7 days.
    pub ms: u32,
    /// Tag: the module that logs.
    pub tag: &'a str,
}

impl<'a> ConsoleLine<'a> {
    /// Parses a line. A line without such a shape is all text.
    #[must_use]
    pub fn parse(text: &'a str, cut: bool) -> Self {
        let (remote, text) = prefix(text).map_or((None, text), |(r, rest)| (Some(r), rest));
        let (log, text) = header(text).map_or((None, text), |(log, rest)| (Some(log), rest));
        Self { remote, log, text, cut }
    }

    /// Returns the tag; empty for plain text.
    #[must_use]
    pub fn tag(&self) -> &'a str {
        self.log.map_or("", |log| log.tag)
    }
}

fn prefix(text: &str) -> Option<(MonitorPrefix, &str)> {
    let mut scan = LineCursor::new(text);
    scan.lit("[")?;
    let mac = scan.mac()?;
    scan.lit("][")?;
    let channel = scan.int()?;
    scan.lit("][")?;
    let rssi = scan.int()?;
    scan.lit("]:")?;
    Some((MonitorPrefix { mac, channel, rssi }, scan.rest().trim_start_matches(' ')))
}

fn header(text: &str) -> Option<(LogHeader<'_>, &str)> {
    let (letter, rest) = text.split_at_checked(1)?;
    let level = match letter {
        "E" => LogLevel::Error,
        "W" => LogLevel::Warn,
        "I" => LogLevel::Info,
        "D" => LogLevel::Debug,
        "V" => LogLevel::Verbose,
        _ => return None,
    };
    let mut scan = LineCursor::new(rest.strip_prefix(" (")?);
    let ms = scan.int()?;
    scan.lit(") ")?;
    let (tag, text) = match scan.until(": ") {
        Some(tag) => (tag, scan.rest()),
        // Nothing follows the tag: the blank at the line's end is gone.
        None => (scan.rest().strip_suffix(':')?, ""),
    };
    // A real tag is short, unlike text that happens to look like a header.
    (!tag.is_empty() && tag.len() <= 48).then_some((LogHeader { level, ms, tag }, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line =
            ConsoleLine::parse("[24:0a:c4:00:00:01][1][-40]: W (12) iperf_cmd: seq=3: x", false);
        let mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
        assert_eq!(line.remote, Some(MonitorPrefix { mac, channel: 1, rssi: -40 }));
        assert_eq!(line.log, Some(LogHeader { level: LogLevel::Warn, ms: 12, tag: "iperf_cmd" }));
        assert_eq!((line.text, line.tag()), ("seq=3: x", "iperf_cmd"));
        let bare = ConsoleLine::parse("I (5) tag:", true);
        assert_eq!((bare.tag(), bare.text, bare.cut), ("tag", "", true));
        for plain in ["I (5 tag: x", "X (5) tag: x", "I (99999999999) tag: x", "I (-5) t: x", "E"] {
            let line = ConsoleLine::parse(plain, false);
            assert_eq!((line.remote, line.log, line.text), (None, None, plain));
        }
        // An impossible signal strength: not a prefix.
        assert!(ConsoleLine::parse("[24:0a:c4:00:00:01][1][-400]: x", false).remote.is_none());
    }
}
