//! Records of a console log.

use super::format::next_head;
use super::prefix::{unquoted, untimed};
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::untrusted::is_unsafe;
use serde::Deserialize;

/// Severity of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordLevel {
    /// `E`
    Error,
    /// `W`
    Warning,
    /// `I`
    Info,
    /// `D`
    Debug,
    /// `V`
    Verbose,
}

impl RecordLevel {
    pub(super) const fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b'E' => Self::Error,
            b'W' => Self::Warning,
            // ESPHome writes a configuration as C.
            b'I' | b'C' => Self::Info,
            b'D' => Self::Debug,
            b'V' => Self::Verbose,
            _ => return None,
        })
    }
}

/// A record of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRecord<'a> {
    /// Severity; `None` of a line in no known format.
    pub level: Option<RecordLevel>,
    /// Time since the device started in milliseconds, where the record has it.
    pub uptime_ms: Option<u64>,
    /// Name of the part that wrote it; empty of a line in no known format.
    pub tag: &'a str,
    /// Message.
    pub text: &'a str,
}

/// Characters that pages write by name.
const ENTITIES: [(&str, char); 7] = [
    ("&gt;", '>'),
    ("&lt;", '<'),
    ("&amp;", '&'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&nbsp;", ' '),
];

/// Removes what terminals do with colours (`ESC [ … letter`), also where a page has lost the `ESC`, other control characters,
/// those that stand for them (`␛`), what pages make of a line (`&gt;`, `<br>`), and the line's end.
///
/// ```
/// assert_eq!(espbench_doctor::log::plain("\u{1b}[0;31mE (5) wifi: x\u{1b}[0m\r\n"), "E (5) wifi: x");
/// assert_eq!(espbench_doctor::log::plain("[0;31mstate: run -&gt; init (0)[0m<br>"), "state: run -> init (0)");
/// ```
#[must_use]
pub fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    loop {
        let as_it_is = rest.bytes().position(may_go).unwrap_or(rest.len());
        out.push_str(&rest[..as_it_is]);
        rest = &rest[as_it_is..];
        let Some(char) = rest.chars().next() else { break };
        let behind = &rest[char.len_utf8()..];
        rest = behind;
        match char {
            '\u{1b}' | '\u{241b}' => {
                if let Some(control) = behind.strip_prefix('[') {
                    // The parameters end with a character from @ to ~ (ECMA-48, 5.4).
                    let end = control.find(|it| ('@'..='~').contains(&it));
                    rest = end.map_or("", |it| &control[it + 1..]);
                }
            }
            '[' => match colour(behind) {
                Some(text) => rest = text,
                None => out.push(char),
            },
            '&' => {
                let front = &line[line.len() - behind.len() - 1..];
                let named = ENTITIES.iter().find(|it| front.starts_with(it.0));
                out.push(named.map_or(char, |it| it.1));
                rest = named.map_or(behind, |it| &front[it.0.len()..]);
            }
            '\t' => out.push(char),
            '\u{2400}'..='\u{2426}' | '\u{feff}' => {}
            _ if is_unsafe(char) => {}
            _ => out.push(char),
        }
    }
    for end in ["<br>", "<br/>", "<br />"] {
        if out.ends_with(end) {
            out.truncate(out.len() - end.len());
        }
    }
    out
}

/// Returns whether a byte, the first of its character, may be one that is not kept as it is.
const fn may_go(it: u8) -> bool {
    matches!(it, b'[' | b'&') || it < b' ' || it >= 0x7f
}

/// Returns what stands behind the parameters and the letter of a colour (`0;32m`), whose `ESC [` is before it.
fn colour(text: &str) -> Option<&str> {
    let end = text.find(|it: char| !(it.is_ascii_digit() || it == ';'))?;
    let behind = text[end..].strip_prefix('m')?;
    (1..=10).contains(&end).then_some(behind)
}

/// First words of the ROM of the ESP32 and later chips.
const ROM: [&str; 3] = ["ets Jun ", "ets Jul ", "ESP-ROM:esp32"];

/// Returns whether a record begins with what the ROM prints at each start.
pub(super) fn is_rom_banner(record: &LogRecord<'_>) -> bool {
    ROM.iter().any(|it| record.text.starts_with(it))
}

/// Returns the records of a line without colours. Lines of two tasks are sometimes mixed, so that a
/// record begins within another one's line; and a reset cuts a line off, so that the ROM's follows in it.
#[must_use]
pub fn records(line: &str) -> Vec<LogRecord<'_>> {
    let line = unquoted(line);
    let rom = ROM.iter().filter_map(|it| line.find(it)).min();
    let (line, rom) = rom.map_or((line, ""), |at| line.split_at(at));
    let mut found = records_before_rom(line);
    if !rom.is_empty() {
        found.push(LogRecord { level: None, uptime_ms: None, tag: "", text: rom.trim() });
    }
    found
}

/// The end of a line as programs write it into one.
const LINE_END: &str = "\\n";

/// Ends of lines in a line, from which on it is a log that a program has written into one.
const ESCAPED: usize = 3;

/// Records in a line, from which on a page has made one line of a log: two tasks mix two, seldom three.
const JOINED: usize = 4;

/// Returns the lines of a log that a program or a page has made one line of; none of any other line.
pub(super) fn lines_in_one(line: &str) -> Vec<&str> {
    let bytes = || line.bytes();
    if bytes().any(|it| it == b'\\') && line.matches(LINE_END).count() >= ESCAPED {
        return line.split(LINE_END).map(|it| it.trim_end_matches("\\r")).collect();
    }
    // Nearly every head has one of these.
    if bytes().filter(|it| matches!(it, b'(' | b'[')).count() < JOINED {
        return Vec::new();
    }
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(head) = next_head(line, from) {
        from = head.text;
        starts.push(head.start);
    }
    if starts.len() < JOINED {
        return Vec::new();
    }
    let ends = starts.iter().skip(1).copied().chain(core::iter::once(line.len()));
    let before = Some(&line[..starts[0]]).filter(|it| !it.trim().is_empty());
    let pieces = starts.iter().zip(ends).map(|(from, to)| &line[*from..to]);
    before.into_iter().chain(pieces).collect()
}

fn records_before_rom(line: &str) -> Vec<LogRecord<'_>> {
    let mut heads = Vec::new();
    let mut from = 0;
    while let Some(head) = next_head(line, from) {
        from = head.text;
        heads.push(head);
    }
    let ends = heads.iter().skip(1).map(|it| it.start).chain(core::iter::once(line.len()));
    let mut found: Vec<LogRecord<'_>> = Vec::new();
    let before = heads.first().map_or(line, |it| &line[..it.start]);
    // What stands before the first record is a monitor's time stamp, or the rest of a broken line.
    let text = without_dots(untimed(before).trim());
    if !text.is_empty() {
        found.push(LogRecord { level: None, uptime_ms: None, tag: "", text });
    }
    for (head, end) in heads.iter().zip(ends) {
        found.push(LogRecord {
            level: Some(head.level),
            uptime_ms: head.uptime_ms,
            tag: &line[head.tag.0..head.tag.1],
            text: line[head.text..end].trim(),
        });
    }
    found
}

/// First words of what the driver of the ESP8266 prints into the dots of a program that waits.
const DRIVER: [&str; 6] =
    ["state: ", "connected with ", "dhcp client start", "pm open,", "ip:", "bcn_timout,"];

/// Removes the dots of a program that waits in front of a line of the driver: `...pm open,type:2 0`.
fn without_dots(text: &str) -> &str {
    let line = text.trim_start_matches('.');
    if DRIVER.iter().any(|it| line.starts_with(it)) { line } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(line: &str) -> (Option<RecordLevel>, Option<u64>, &str, &str) {
        let found = records(line);
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0].level, found[0].uptime_ms, found[0].tag, found[0].text)
    }

    #[test]
    fn each_program_writes_records_of_its_own() {
        use RecordLevel::{Error, Info, Warning};
        let idf = one("I (95683) wifi:bcn_timeout,ap_probe_send_start");
        assert_eq!(idf, (Some(Info), Some(95_683), "wifi", "bcn_timeout,ap_probe_send_start"));
        let clock = one("W (12:34:56.789) app: low");
        assert_eq!(clock, (Some(Warning), None, "app", "low"));
        let monitor = one("2026-03-01 10:11:12.345 E (5) net: gone");
        assert_eq!(monitor, (Some(Error), Some(5), "net", "gone"));
        let arduino =
            one("[  2411][W][WiFiGeneric.cpp:1062] _eventCallback(): Reason: 201 - NO_AP_FOUND");
        assert_eq!(
            arduino,
            (
                Some(Warning),
                Some(2411),
                "WiFiGeneric.cpp",
                "_eventCallback(): Reason: 201 - NO_AP_FOUND"
            )
        );
        let esphome = one("[21:04:11.123][W][wifi:618]: Error while connecting to network.");
        assert_eq!(esphome, (Some(Warning), None, "wifi", "Error while connecting to network."));
        let table = one("21:04:11 | [W] | [wifi:618] | Error while connecting to network.");
        assert_eq!(table, esphome);
        let plain = one("Brownout detector was triggered");
        assert_eq!(plain, (None, None, "", "Brownout detector was triggered"));
        assert_eq!(one("...pm open,type:2 0").3, "pm open,type:2 0");
        assert_eq!(one(".-2").3, ".-2");
    }

    #[test]
    fn records_of_two_tasks_in_one_line_are_told_apart() {
        let found = records("I (10) wifi:state: ruE (11) app: errno 12n -> init");
        let texts: Vec<_> = found.iter().map(|it| (it.tag, it.text)).collect();
        assert_eq!(texts, [("wifi", "state: ru"), ("app", "errno 12n -> init")]);
        let found = records("half a lineW (3) a: b");
        assert_eq!(found[0].text, "half a line");
        assert_eq!((found[1].tag, found[1].text), ("a", "b"));
    }

    #[test]
    fn a_line_that_a_reset_cuts_off_ends_where_the_rom_begins() {
        let found = records("I (2076) phy: phy_vets Jun  8 2016 00:22:57");
        assert_eq!((found.len(), found[0].tag, found[0].text), (2, "phy", "phy_v"));
        assert_eq!(found[1].text, "ets Jun  8 2016 00:22:57");
        assert_eq!(
            one("12:34:56.789 -> ESP-ROM:esp32c3-api1-20210207").3,
            "ESP-ROM:esp32c3-api1-20210207"
        );
    }

    #[test]
    fn a_log_in_one_line_has_its_lines() {
        let log = "I (1) a: x I (2) b: y E (3) c: z W (4) d: w";
        assert_eq!(lines_in_one(log), ["I (1) a: x ", "I (2) b: y ", "E (3) c: z ", "W (4) d: w"]);
        assert_eq!(lines_in_one("one\\r\\ntwo\\r\\nthree\\r\\n"), ["one", "two", "three", ""]);
        assert!(lines_in_one("I (10) wifi:state: ruE (11) app: errno 12n -> init").is_empty());
        assert!(lines_in_one("printf(\"x\\n\")").is_empty());
    }

    #[test]
    fn words_in_brackets_are_no_record() {
        assert_eq!(records("[I][am][no] record")[0].level, None);
        assert_eq!(records("A (5) x: y")[0].level, None);
        assert!(records("").is_empty() && records("   ").is_empty());
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic_and_texts_are_of_the_line(line in "[EWI \\[\\]():0-9a-zé\u{1b}m;.]{0,60}") {
            let line = plain(&line);
            for record in records(&line) {
                prop_assert!(line.contains(record.text) && line.contains(record.tag));
            }
        }
    }
}
