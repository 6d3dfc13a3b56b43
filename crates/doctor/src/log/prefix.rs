//! Text that monitors, journals, editors and pages put before a line: times, names of hosts and programs, quotes.

/// Names in the date of a monitor.
const DATES: [&str; 19] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon",
    "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
];

/// Longest name of a host or a program in a journal, in bytes.
const LONGEST_NAME: usize = 64;

/// Milliseconds of a day.
pub(super) const DAY_MS: u64 = 86_400_000;

/// First characters of what prints bytes in Python.
const BYTES: [&str; 2] = ["b'", "b\""];

/// Names of the line in a journal of JSON.
const MEMBERS: [&str; 3] = ["\"log\":", "\"msg\":", "\"message\":"];

/// Removes quotes of Markdown, Python's prompt and what a journal writes: `Nov 27 12:00:00 host esp[123]: `.
pub(super) fn unquoted(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '\t', '>', '`']);
    let line = line.strip_suffix('`').unwrap_or(line);
    let member = || {
        let object = line.strip_prefix('{')?;
        let (_, value) = MEMBERS.iter().find_map(|it| object.split_once(it))?;
        let text = value.trim_start().strip_prefix('"')?;
        // The text ends at the first quotation mark that has no backslash before it.
        let quotes = text.match_indices('"').find(|it| !text[..it.0].ends_with('\\'));
        Some(quotes.map_or(text, |it| &text[..it.0]))
    };
    let Some(line) = BYTES.iter().find_map(|it| line.strip_prefix(it)).or_else(member) else {
        return journal(line).unwrap_or(line);
    };
    line.trim_end_matches(['\'', '"']).trim_end_matches("\\n").trim_end_matches("\\r")
}

/// Removes times that monitors write before a line, one behind the other: `12:34:56.789 -> `, `[2026-01-02 12:34:56] `,
/// `243380> `; and the points of a list.
pub(super) fn untimed(line: &str) -> &str {
    timed(line).0
}

/// Removes the same; returns the first time of day of it, too, in milliseconds.
fn timed(line: &str) -> (&str, Option<u64>) {
    let (mut rest, mut first) = (line, None);
    for _ in 0..3 {
        let text = rest.trim_start_matches([' ', '\t', '>', '`', '|']);
        let text = ["- ", "* "].iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text);
        let read = time(text);
        first = first.or_else(|| read.and_then(|it| it.1));
        rest = read.map(|it| it.0).or_else(|| milliseconds(text)).unwrap_or(text);
        if rest.len() == text.len() {
            break;
        }
    }
    (rest, first)
}

/// Returns the time of day that a monitor, a journal or the head of a record has put before a line's text, in milliseconds: one
/// within the text is of something else.
pub(super) fn time_of_day(line: &str) -> Option<u64> {
    let line = line.trim_start_matches([' ', '\t', '>', '`']);
    let (rest, first) = timed(line);
    // `I (12:34:56.789) tag: text`
    let head = || {
        let behind = rest.strip_prefix(['E', 'W', 'I', 'D', 'V'])?;
        let (time, _) =
            behind.strip_prefix(" (").or_else(|| behind.strip_prefix('('))?.split_once(')')?;
        clock(dated(time), 2).filter(|it| it.rest.is_empty())?.of_day()
    };
    first.or_else(head)
}

/// Numbers of lines that an editor or a page puts before them: known by their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    last: Option<u64>,
    /// Lines whose numbers followed each other.
    run: u32,
}

impl Numbering {
    /// Returns a line without its number, where the two lines before had the numbers before it.
    pub(super) fn without<'a>(&mut self, line: &'a str) -> &'a str {
        let Some((number, text)) = numbered(line) else { return line };
        let follows = self.last.is_some_and(|it| it.checked_add(1) == Some(number));
        self.run = if follows { self.run.saturating_add(1) } else { 0 };
        self.last = Some(number);
        if self.run >= 2 { text } else { line }
    }
}

/// Reads `12: text`, `  12 | text` and `12`, a tabulator, and text.
pub(super) fn numbered(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start();
    let rest = digits(line, 9)?;
    let number = line[..line.len() - rest.len()].parse().ok()?;
    let text = match rest.strip_prefix([':', '\t', ')', '.']) {
        Some(text) if rest.starts_with('\t') || text.is_empty() || text.starts_with(' ') => text,
        _ => rest.trim_start_matches(' ').strip_prefix('|')?,
    };
    Some((number, text.strip_prefix(' ').unwrap_or(text)))
}

/// Returns what stands behind the time, the host and the program of a journal.
fn journal(line: &str) -> Option<&str> {
    let (rest, _) = time(line)?;
    let (host, rest) = rest.split_once(' ')?;
    let (program, rest) = rest.split_once(": ")?;
    let (name, process) = program.strip_suffix(']')?.split_once('[')?;
    let is_name = |it: &str| {
        !it.is_empty() && it.len() <= LONGEST_NAME && !it.contains([' ', '[', ']', '(', ')'])
    };
    let is_number = !process.is_empty() && process.bytes().all(|it| it.is_ascii_digit());
    (is_name(host) && is_name(name) && is_number).then_some(rest)
}

/// Returns what stands behind the milliseconds of esp-link and Espruino: `243380> `.
fn milliseconds(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
    if rest.len() == text.len() { None } else { rest.strip_prefix('>') }
}

/// Returns what stands behind a time of the day with its date, if any, and that time in milliseconds: where it has seconds or a
/// date, and ends as one.
fn time(text: &str) -> Option<(&str, Option<u64>)> {
    let open = text.strip_prefix(['[', '(']);
    let rest = dated(open.unwrap_or(text));
    let clock = clock(rest, 2)?;
    let is_whole = clock.seconds || rest.len() < open.unwrap_or(text).len();
    let (of_day, rest) = (clock.of_day(), zone(clock.rest));
    let rest = year(rest);
    if !is_whole {
        return None;
    }
    if open.is_some() {
        let rest = rest.trim_start().strip_prefix([']', ')'])?;
        return Some((separated(rest), of_day));
    }
    let ends =
        rest.is_empty() || rest.starts_with([' ', '\t', '>', '|', ']']) || rest.starts_with("->");
    ends.then(|| (separated(rest), of_day))
}

/// Removes the mark between a time and the text.
fn separated(rest: &str) -> &str {
    let text = rest.trim_start();
    let marks = ["->", ">", "|", "]", "-", ":"];
    let behind = marks.iter().find_map(|it| {
        let behind = text.strip_prefix(it)?;
        (behind.is_empty() || behind.starts_with(' ')).then_some(behind)
    });
    behind.unwrap_or(text).trim_start()
}

/// Removes a date: `2026-01-02T`, `02.01.2026 `, `Fri Jan 2 `.
fn dated(text: &str) -> &str {
    let mut rest = text;
    while let Some(behind) =
        DATES.iter().find_map(|it| rest.strip_prefix(it)?.strip_prefix([' ', ',']))
    {
        rest = behind.trim_start();
    }
    if rest.len() < text.len() {
        // The day, and a year, of such a date.
        for _ in 0..2 {
            let behind = digits(rest, 4);
            rest = behind
                .filter(|it| it.starts_with([' ', ',']))
                .map_or(rest, |it| it[1..].trim_start());
        }
        return rest;
    }
    let date = || {
        let mut rest = text;
        for part in 0..3 {
            rest = digits(rest, 4)?;
            if part < 2 {
                rest = rest.strip_prefix(['-', '/', '.'])?;
            }
        }
        rest.strip_prefix(['T', ' ', ',', '_']).map(str::trim_start)
    };
    date().unwrap_or(text)
}

/// A time that was read.
pub(super) struct ClockTime<'a> {
    rest: &'a str,
    seconds: bool,
    /// The time, in milliseconds.
    pub(super) ms: u64,
}

impl ClockTime<'_> {
    /// Returns the time where it is one of a day and has seconds, in milliseconds.
    fn of_day(&self) -> Option<u64> {
        Some(self.ms).filter(|it| self.seconds && *it < DAY_MS)
    }
}

/// Reads `12:34`, `12:34:56` and `12:34:56.789`, with so many digits of the hours at most.
pub(super) fn clock(text: &str, longest: usize) -> Option<ClockTime<'_>> {
    let (hours, rest) = value(text, longest)?;
    let (minutes, rest) = value(rest.strip_prefix(':')?, 2)?;
    let ms = (hours * 60 + minutes) * 60_000;
    let Some((seconds, whole)) = rest.strip_prefix(':').and_then(|it| value(it, 2)) else {
        return Some(ClockTime { rest, seconds: false, ms });
    };
    let ms = ms + seconds * 1000;
    let part = whole.strip_prefix(['.', ',', ':']);
    let Some((part, rest)) = part.and_then(|it| Some((it, digits(it, 9)?))) else {
        return Some(ClockTime { rest: whole, seconds: true, ms });
    };
    let part = part.bytes().take(part.len() - rest.len()).chain([b'0'; 2]).take(3);
    let milli = part.fold(0, |sum, it| 10 * sum + u64::from(it - b'0'));
    Some(ClockTime { rest, seconds: true, ms: ms + milli })
}

/// Returns the number that a text begins with, of so many digits at most, and what stands behind it.
fn value(text: &str, most: usize) -> Option<(u64, &str)> {
    let rest = digits(text, most)?;
    Some((text[..text.len() - rest.len()].parse().ok()?, rest))
}

/// Removes a zone behind a time: `Z`, `+01:00`, `+0100`, ` PM`.
fn zone(text: &str) -> &str {
    let word = ["Z", " AM", " PM", " am", " pm"].iter().find_map(|it| text.strip_prefix(it));
    let offset = || {
        let hours = digits(text.strip_prefix(['+', '-'])?, 4)?;
        Some(hours.strip_prefix(':').and_then(|it| digits(it, 2)).unwrap_or(hours))
    };
    word.or_else(offset).unwrap_or(text)
}

/// Removes the year behind a time, as `date` writes it: ` 2026 `.
fn year(text: &str) -> &str {
    let behind = text.strip_prefix(" 20").and_then(|it| digits(it, 2));
    behind.filter(|it| it.is_empty() || it.starts_with([' ', ']'])).unwrap_or(text)
}

/// Returns what stands behind the digits that a text begins with, where there are one and at most so many.
fn digits(text: &str, most: usize) -> Option<&str> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=most).contains(&count).then(|| &text[count..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString as _};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn times_of_monitors_journals_and_lists_are_left_out() {
        for line in [
            "18:39:43.662 -> ",
            "[19:46:42:120] ",
            "[19:46:42]",
            "> ",
            "2026-01-02 10:11:12.5 ",
            "2026-01-02T10:11:12.5Z ",
            "2026-01-02T10:11:12+01:00 ",
            "02.01.2026 10:11:12 | ",
            "[Jan 02 10:11:12.500] ",
            "Fri Jan 2 10:11:12 2026 ",
            "10:11:12 PM ",
            "12:00:00.123 > ",
            "  1042> ",
            "- ",
            "b'",
            "{\"time\":\"2026-01-02 10:11:12\",\"log\":\"",
            "Nov 27 12:00:07 mill stdbuf[2280]: ",
            "2026-11-21T02:48:42.260640+0100 mill stdbuf[2280]: ",
        ] {
            for text in ["state: x", "+CWJAP:1", "-2", "0.0.0.0", "64 bytes from 192.0.2.1"] {
                let whole = [line, text].concat();
                assert_eq!(untimed(unquoted(&whole)), text, "{whole}");
            }
        }
        for text in
            ["12:34 is no time of a monitor", "1.2.3.4", "192.0.2.7:8883 is open", "-2", "8:"]
        {
            assert_eq!(untimed(text), text);
        }
    }

    #[test]
    fn numbers_that_follow_each_other_are_left_out() {
        for form in ["{}: ", "  {} | ", "{}\t"] {
            let mut numbering = Numbering::default();
            let lines: Vec<String> = (7..11)
                .map(|it| [&*form.replace("{}", &it.to_string()), "state: x"].concat())
                .collect();
            let texts: Vec<&str> = lines.iter().map(|it| numbering.without(it)).collect();
            assert_eq!(texts[2..], ["state: x"; 2], "{form}");
        }
        let mut numbering = Numbering::default();
        for text in ["404: not found", "404: not found", "1 | 2", "443329 : WIFI : x", "12:34:56 x"]
        {
            assert_eq!(numbering.without(text), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_of_the_line(line in "[`\\[\\]()0-9:. \\->|TZJanFri+é]{0,30}") {
            prop_assert!(line.contains(untimed(unquoted(&line))));
        }
    }
}
