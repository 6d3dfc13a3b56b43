//! Heads of records: ESP-IDF, Arduino, ESPHome, Tasmota, ESPEasy, Zephyr and Rust.

use super::prefix::clock;
use super::record::RecordLevel;

/// Longest name of a part that wrote a record, in bytes.
const LONGEST_TAG: usize = 64;

/// The head of a record: where it starts, and where its message does.
pub(super) struct LineHead {
    pub(super) start: usize,
    pub(super) level: RecordLevel,
    pub(super) uptime_ms: Option<u64>,
    pub(super) tag: (usize, usize),
    pub(super) text: usize,
}

/// Finds the next head of a line from a place on.
pub(super) fn next_head(line: &str, from: usize) -> Option<LineHead> {
    let bytes = line.as_bytes();
    (from..bytes.len()).find_map(|at| match bytes[at] {
        b'[' => bracketed(line, at).or_else(|| zephyr(line, at)).or_else(|| rust(line, at)),
        b'0'..=b'9' if begins(line, at) => tasmota(line, at).or_else(|| espeasy(line, at)),
        b'E' | b'W' | b'I' | b'D' | b'V' | b'C' => {
            idf(line, at).or_else(|| untimed(line, at)).or_else(|| rust(line, at))
        }
        _ => None,
    })
}

/// Returns whether a word begins at a place, and nothing but a time stamp stands before it.
fn begins(line: &str, at: usize) -> bool {
    let before = &line.as_bytes()[..at];
    before.last().is_none_or(|it| b" ]>|".contains(it))
        && before.iter().all(|it| it.is_ascii_digit() || b" []>-|:.".contains(it))
}

/// Reads `I (1234) tag: text`, or `I (12:34:56.789) tag: text` with the time of day.
fn idf(line: &str, at: usize) -> Option<LineHead> {
    let level = RecordLevel::of(*line.as_bytes().get(at)?)?;
    let rest = line.get(at + 1..)?;
    // OpenThread's lines have no space there.
    let rest = rest.strip_prefix(' ').unwrap_or(rest).strip_prefix('(')?;
    let close = rest.find(')')?;
    let time = &rest[..close];
    let is_clock =
        time.len() <= 24 && time.bytes().all(|it| it.is_ascii_digit() || b":. -".contains(&it));
    if time.is_empty() || !is_clock {
        return None;
    }
    let after = rest[close + 1..].strip_prefix(' ')?;
    let begin = line.len() - after.len();
    let colon = after.find(':').filter(|it| *it <= LONGEST_TAG)?;
    let tag = &after[..colon];
    (!tag.is_empty()).then(|| LineHead {
        start: at,
        level,
        uptime_ms: time.parse().ok(),
        tag: (begin, begin + colon),
        text: begin + colon + 1,
    })
}

/// Longest hours of a time since the device's start, in digits.
const LONGEST_HOURS: usize = 5;

/// Longest tag of a record without a time, in bytes.
const LONGEST_UNTIMED: usize = 24;

/// Reads `E tag: text` at a line's begin, as a firmware prints it that has no time stamps (`CONFIG_LOG_TIMESTAMP_SOURCE_NONE`).
fn untimed(line: &str, at: usize) -> Option<LineHead> {
    if !begins(line, at) || line.as_bytes()[at] == b'C' {
        return None;
    }
    let level = RecordLevel::of(*line.as_bytes().get(at)?)?;
    let rest = line.get(at + 1..)?.strip_prefix(' ')?;
    let (tag, _) = rest.split_once(": ")?;
    let is_part = |it: u8| it.is_ascii_alphanumeric() || b"_-.".contains(&it);
    let is_tag = (2..=LONGEST_UNTIMED).contains(&tag.len()) && tag.bytes().all(is_part);
    let begin = at + 2;
    is_tag.then(|| LineHead {
        start: at,
        level,
        uptime_ms: None,
        tag: (begin, begin + tag.len()),
        text: begin + tag.len() + 1,
    })
}

/// Reads Arduino's `[  1234][E][WiFi.cpp:12] f(): text` and ESPHome's `[12:34:56][E][wifi:12]: text`, both also without
/// the time, ESPHome's with a task behind the tag, and the table of its page: `12:34:56 | [E] | [wifi:12] | text`.
fn bracketed(line: &str, at: usize) -> Option<LineHead> {
    let (first, next) = bracket(line, at)?;
    let time = first.trim();
    let is_clock =
        !time.is_empty() && time.bytes().all(|it| it.is_ascii_digit() || b":.".contains(&it));
    let (level, next) = if is_clock { bracket(line, next)? } else { (first, next) };
    let [letter] = level.as_bytes() else { return None };
    let level = RecordLevel::of(*letter)?;
    let (tag, mut next) = bracket(line, next)?;
    // Without a time the tag must look like one, or words in brackets would be records; one of capitals does.
    let is_tag = tag.contains([':', '.'])
        || (tag.starts_with(|it: char| it.is_ascii_uppercase()) && line[next..].starts_with(' '));
    if !is_clock && !is_tag {
        return None;
    }
    let begin = next - 1 - tag.len();
    // The tag may have the source's line behind it.
    let name = tag.split_once(':').map_or(tag, |it| it.0);
    if let Some((_, after)) = bracket(line, next)
        && line[after..].starts_with(':')
    {
        next = after;
    }
    let text = [":", " | "]
        .iter()
        .find(|it| line[next..].starts_with(**it))
        .map_or(next, |it| next + it.len());
    Some(LineHead {
        start: at,
        level,
        uptime_ms: time.parse().ok().filter(|_| is_clock),
        tag: (begin, begin + name.len()),
        text,
    })
}

/// Returns what stands between the bracket at that place, or behind a column's end there, and its end, and the place behind it.
fn bracket(line: &str, at: usize) -> Option<(&str, usize)> {
    let from = line.get(at..)?;
    let rest = from.strip_prefix(" | ").unwrap_or(from).strip_prefix('[')?;
    let close = rest.find(']').filter(|it| *it <= LONGEST_TAG)?;
    Some((&rest[..close], line.len() - rest.len() + close + 1))
}

/// Reads `[00:00:00.638,000] <inf> tag: text`.
fn zephyr(line: &str, at: usize) -> Option<LineHead> {
    let (time, next) = bracket(line, at)?;
    let rest = line[next..].strip_prefix(" <")?;
    let (word, rest) = rest.split_once("> ")?;
    let level = match word {
        "err" => RecordLevel::Error,
        "wrn" => RecordLevel::Warning,
        "inf" => RecordLevel::Info,
        "dbg" => RecordLevel::Debug,
        _ => return None,
    };
    let begin = line.len() - rest.len();
    let colon = rest.find(':').filter(|it| *it <= LONGEST_TAG)?;
    let uptime_ms = clock(time, LONGEST_HOURS).map(|it| it.ms);
    Some(LineHead {
        start: at,
        level,
        uptime_ms,
        tag: (begin, begin + colon),
        text: begin + colon + 1,
    })
}

/// Reads `INFO - text` and `[INFO ] text` of Rust's loggers.
fn rust(line: &str, at: usize) -> Option<LineHead> {
    if !begins(line, at) {
        return None;
    }
    let rest = &line[at..];
    let (level, behind) = [
        ("ERROR", RecordLevel::Error),
        ("WARN", RecordLevel::Warning),
        ("INFO", RecordLevel::Info),
        ("DEBUG", RecordLevel::Debug),
    ]
    .into_iter()
    .find_map(|(word, level)| {
        let plain = rest.strip_prefix(word).and_then(|it| it.strip_prefix(" - "));
        let framed = rest
            .strip_prefix('[')
            .and_then(|it| it.strip_prefix(word)?.trim_start().strip_prefix("] "));
        Some((level, plain.or(framed)?))
    })?;
    let text = line.len() - behind.len();
    Some(LineHead { start: at, level, uptime_ms: None, tag: (text, text), text })
}

/// Reads Tasmota's `00:00:10 WIF: text` and `22:59:25.768-031 WIF: text`.
fn tasmota(line: &str, at: usize) -> Option<LineHead> {
    let (time, rest) = line[at..].split_once(' ')?;
    let is_clock = time.len() >= 8
        && time.bytes().filter(|it| *it == b':').count() == 2
        && time.bytes().all(|it| it.is_ascii_digit() || b":.-/".contains(&it));
    let tag = rest
        .get(..3)
        .filter(|it| it.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit()))?;
    rest[3..].strip_prefix(": ")?;
    let begin = line.len() - rest.len();
    is_clock.then(|| LineHead {
        start: at,
        level: RecordLevel::Info,
        uptime_ms: None,
        tag: (begin, begin + tag.len()),
        text: begin + tag.len() + 2,
    })
}

/// Levels of ESPEasy.
const ESPEASY: [(&str, RecordLevel); 4] = [
    ("Info", RecordLevel::Info),
    ("Error", RecordLevel::Error),
    ("Debug", RecordLevel::Debug),
    ("Debug More", RecordLevel::Verbose),
];

/// Reads ESPEasy's `443329 : WIFI : text`, and the newer `31.868 : (242124) Info   : WIFI : text` with the free heap.
fn espeasy(line: &str, at: usize) -> Option<LineHead> {
    let (time, rest) = line[at..].split_once(" : ")?;
    let heap = rest.strip_prefix('(').and_then(|it| it.split_once(") "));
    let (level, rest) = match heap {
        Some((heap, rest)) if heap.bytes().all(|it| it.is_ascii_digit()) => {
            let (word, rest) = rest.split_once(": ")?;
            (ESPEASY.iter().find(|it| it.0 == word.trim_end())?.1, rest)
        }
        _ => (RecordLevel::Info, rest),
    };
    let seconds = |it: (&str, &str)| {
        let milli = it.1.parse::<u64>().ok().filter(|_| it.1.len() == 3)?;
        it.0.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(milli)
    };
    let uptime_ms = time.parse().ok().or_else(|| time.split_once('.').and_then(seconds))?;
    let (tag, _) = rest.split_once(':')?;
    let name = tag.trim_end();
    let is_tag =
        (2..=12).contains(&name.len()) && name.bytes().all(|it| it.is_ascii_alphanumeric());
    let begin = line.len() - rest.len();
    is_tag.then(|| LineHead {
        start: at,
        level,
        uptime_ms: Some(uptime_ms),
        tag: (begin, begin + name.len()),
        text: begin + tag.len() + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::{RecordLevel, records};

    #[test]
    fn each_program_has_heads_of_its_own() {
        use RecordLevel::{Error, Info, Warning};
        for (line, level, uptime_ms, tag, text) in [
            ("[W][wifi:618]: Timeout", Warning, None, "wifi", "Timeout"),
            (
                "...[D][WiFiGeneric.cpp:182] _eventCallback(): x",
                RecordLevel::Debug,
                None,
                "WiFiGeneric.cpp",
                "_eventCallback(): x",
            ),
            ("[15:31:46][E][mqtt.idf:166][mqtt_task]: gone", Error, None, "mqtt.idf", "gone"),
            (
                "00:00:10 WIF: Connect failed as AP cannot be reached",
                Info,
                None,
                "WIF",
                "Connect failed as AP cannot be reached",
            ),
            ("[17:12:55]00:00:00.232 WIF: starts", Info, None, "WIF", "starts"),
            ("17:12:55.012 -> 00:00:00.232 WIF: starts", Info, None, "WIF", "starts"),
            ("443329 : WIFI : Disconnected!", Info, Some(443_329), "WIFI", "Disconnected!"),
            (
                "31.868 : (242124) Info   : WIFI : WL_DISCONNECTED 6",
                Info,
                Some(31_868),
                "WIFI",
                "WL_DISCONNECTED 6",
            ),
            (
                "[00:01:02.345,000] <wrn> net_arp: no gateway",
                Warning,
                Some(62_345),
                "net_arp",
                "no gateway",
            ),
            ("WARN - Unable to allocate", Warning, None, "", "Unable to allocate"),
            ("[INFO ] joined", Info, None, "", "joined"),
            ("> `␛[0;32mI (5) a: b␛[0m", Info, Some(5), "a", "b"),
        ] {
            let line = super::super::record::plain(line);
            let found = records(&line);
            let it = found.last().unwrap();
            assert_eq!(
                (it.level, it.uptime_ms, it.tag, it.text),
                (Some(level), uptime_ms, tag, text),
                "{line}"
            );
        }
        for line in
            ["[SUCCESS] = 13/57", "12: a line of a listing", "IN: OUT", "1 : 2 : 3", "[D] [x]"]
        {
            assert!(records(line).iter().all(|it| it.level.is_none()), "{line}");
        }
    }
}
