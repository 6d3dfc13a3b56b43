//! Patterns of rules: literal text with typed captures.
//!
//! | in a pattern | stands for |
//! |---|---|
//! | `{number}` | decimal digits |
//! | `{signed}` | the same, with a minus or without |
//! | `{hex}` | hexadecimal digits, with `0x` or without |
//! | `{address}` | a MAC address or an IPv4 address |
//! | `{host}` | a name with a dot in it, or with a port |
//! | `{domain}` | a host's name under a top-level domain |
//! | `{duration}` | a number and `ms`, `s`, `min` or `h` |
//! | `{word}` | letters, digits, `_`, `-`, `.` |
//! | `{ip}` | an IPv4 address, whose number is kept |
//! | `{bytes}` | a number of bytes, with `k` or `KB` or without, and no percentage |
//! | `{sep}` | blanks and any of `: = ( ) [ ] ' " # > ,`; also nothing |
//! | `{gap}` | signs that are neither a digit nor a minus; also nothing |
//! | `{text}` | any text, also none |
//! | `^`, `$` | the begin and the end of the message |
//! | `\|` | a border: no letter or digit stands on the other side |
//!
//! Letters are matched whatever their case. A backslash takes the next sign as it is.

use super::digits::mask;
use alloc::string::String;
use alloc::vec::Vec;

/// Numbers that a pattern keeps.
pub const CAPTURES: usize = 4;

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Number,
    Signed,
    Hex,
    Address,
    Host,
    Domain,
    Duration,
    Word,
    Ip,
    Bytes,
    Sep,
    Gap,
    Border,
}

/// Names of captures.
const CAPTURE_NAMES: [(&str, Piece); 12] = [
    ("number", Piece::Number),
    ("signed", Piece::Signed),
    ("hex", Piece::Hex),
    ("address", Piece::Address),
    ("host", Piece::Host),
    ("domain", Piece::Domain),
    ("duration", Piece::Duration),
    ("word", Piece::Word),
    ("ip", Piece::Ip),
    ("bytes", Piece::Bytes),
    ("sep", Piece::Sep),
    ("gap", Piece::Gap),
];

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePattern {
    /// Pieces between which any text may stand.
    segments: Vec<Vec<Piece>>,
    /// Whether the message begins with the first segment.
    begins: bool,
    /// Whether the message ends with the last one.
    ends: bool,
}

/// Place and captures of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// First byte.
    pub start: usize,
    /// Byte behind the last one.
    pub end: usize,
    /// Numbers in the order of the pattern, as many as `count`.
    numbers: [i64; CAPTURES],
    count: u8,
    /// The first address, as a number: two addresses of one text are one number.
    pub address: Option<u64>,
    /// Where the first word begins and ends.
    pub word: Option<(usize, usize)>,
}

impl Match {
    /// Returns the first number.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        self.numbers().first().copied()
    }

    /// Returns the numbers in the order of the pattern.
    #[must_use]
    pub fn numbers(&self) -> &[i64] {
        &self.numbers[..usize::from(self.count)]
    }

    fn keep(&mut self, value: i64) {
        if let Some(free) = self.numbers.get_mut(usize::from(self.count)) {
            *free = value;
            self.count += 1;
        }
    }
}

impl LinePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// In words, where it is none.
    pub fn read(text: &str) -> Result<Self, String> {
        let (begins, rest) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut pattern = Self { segments: alloc::vec![Vec::new()], begins, ends: false };
        let mut literal = String::new();
        let mut chars = rest.char_indices();
        while let Some((at, char)) = chars.next() {
            let piece = match char {
                '\\' => {
                    let (_, next) = chars.next().ok_or("a backslash ends it")?;
                    literal.push(next);
                    continue;
                }
                '|' => Some(Piece::Border),
                '{' => {
                    let behind = &rest[at + 1..];
                    let close = behind.find('}').ok_or("a brace is not closed")?;
                    // The name and its brace are read.
                    chars.by_ref().take(behind[..=close].chars().count()).for_each(|_| {});
                    match &behind[..close] {
                        "text" => None,
                        name => {
                            let known = CAPTURE_NAMES.iter().find(|it| it.0 == name);
                            Some(
                                known
                                    .ok_or_else(|| ["no capture is {", name, "}"].concat())?
                                    .1
                                    .clone(),
                            )
                        }
                    }
                }
                '$' if at + 1 == rest.len() => {
                    pattern.ends = true;
                    continue;
                }
                char => {
                    literal.extend(lowered(char));
                    continue;
                }
            };
            pattern.end_literal(&mut literal);
            match piece {
                Some(piece) => pattern.last().push(piece),
                None => pattern.segments.push(Vec::new()),
            }
        }
        pattern.end_literal(&mut literal);
        // Text at the end is no condition.
        if pattern.segments.len() > 1 && pattern.last().is_empty() && !pattern.ends {
            pattern.segments.pop();
        }
        pattern.key().ok_or("it has no literal text")?;
        Ok(pattern)
    }

    fn last(&mut self) -> &mut Vec<Piece> {
        if self.segments.is_empty() {
            self.segments.push(Vec::new());
        }
        let last = self.segments.len() - 1;
        &mut self.segments[last]
    }

    fn end_literal(&mut self, literal: &mut String) {
        if !literal.is_empty() {
            let piece = Piece::Literal(core::mem::take(literal));
            self.last().push(piece);
        }
    }

    /// Returns the longest literal: a text without it does not match.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        let literals = self.segments.iter().flatten().filter_map(|it| match it {
            Piece::Literal(text) => Some(&**text),
            _ => None,
        });
        // Of two that are as long the first, which is met sooner.
        literals.rev().max_by_key(|it| it.len())
    }

    /// Returns whether digits decide on a match, or on what it keeps.
    pub(super) fn knows_digits(&self) -> bool {
        self.segments.iter().flatten().any(|it| match it {
            Piece::Literal(text) => text.bytes().any(|it| it.is_ascii_digit()),
            Piece::Sep | Piece::Gap | Piece::Border => false,
            _ => true,
        })
    }

    /// Returns the pattern without its begin and end: a clause of a text may begin and end anywhere.
    pub(super) fn anywhere(self) -> Self {
        Self { begins: false, ends: false, ..self }
    }

    /// Returns the pattern with 0 in place of each digit.
    pub(super) fn masked(&self) -> Self {
        let mut pattern = self.clone();
        for piece in pattern.segments.iter_mut().flatten() {
            if let Piece::Literal(text) = piece {
                *text = mask(text);
            }
        }
        pattern
    }

    /// Returns whether it is one literal, and what borders that has.
    fn plain(&self) -> Option<(&str, bool, bool)> {
        if self.begins || self.ends || self.segments.len() != 1 {
            return None;
        }
        match &*self.segments[0] {
            [Piece::Literal(text)] => Some((text, false, false)),
            [Piece::Border, Piece::Literal(text)] => Some((text, true, false)),
            [Piece::Literal(text), Piece::Border] => Some((text, false, true)),
            [Piece::Border, Piece::Literal(text), Piece::Border] => Some((text, true, true)),
            _ => None,
        }
    }

    /// Finds the pattern in a text of lower case, at a place where its key is. Returns `None` too where only another place
    /// matches that another place of the key leads to.
    #[must_use]
    pub fn at(&self, text: &str, key: usize) -> Option<Match> {
        if let Some((literal, left, right)) = self.plain() {
            let end = key + literal.len();
            let fits = (!left || is_border(text, key)) && (!right || is_border(text, end));
            return fits.then(|| Match { start: key, end, ..Match::default() });
        }
        let first = &self.segments[0];
        let starts_with_key =
            matches!(first.first(), Some(Piece::Literal(it)) if Some(&**it) == self.key());
        let mut found = Match::default();
        let mut end = if self.begins {
            run(first, text, 0, &mut found)?
        } else if starts_with_key {
            found.start = key;
            run(first, text, key, &mut found)?
        } else {
            let (start, end) = self.search(0, text, 0, &mut found)?;
            found.start = start;
            end
        };
        for at in 1..self.segments.len() {
            end = self.search(at, text, end, &mut found)?.1;
        }
        if self.ends && self.segments.len() == 1 && end != text.len() {
            return None;
        }
        found.end = end;
        Some(found)
    }

    /// Finds the pattern anywhere in a text of lower case.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Match> {
        let key = self.key()?;
        text.match_indices(key).find_map(|it| self.at(text, it.0))
    }

    /// Finds a segment from a place on; the last one at the text's end, where the pattern ends there.
    fn search(
        &self,
        segment: usize,
        text: &str,
        from: usize,
        found: &mut Match,
    ) -> Option<(usize, usize)> {
        let pieces = &self.segments[segment];
        let at_end = self.ends && segment + 1 == self.segments.len();
        if pieces.is_empty() {
            return Some((from, if at_end { text.len() } else { from }));
        }
        let kept = *found;
        let mut start = from;
        loop {
            start = match pieces.first() {
                Some(Piece::Literal(it)) => start + text.get(start..)?.find(&**it)?,
                _ => start,
            };
            *found = kept;
            let end = run(pieces, text, start, found);
            if let Some(end) = end.filter(|it| !at_end || *it == text.len()) {
                return Some((start, end));
            }
            start += text.get(start..)?.chars().next()?.len_utf8();
        }
    }
}

/// Returns the letters of a character in lower case, where they take as many bytes.
pub fn lowered(char: char) -> impl Iterator<Item = char> {
    let mut lower = char.to_lowercase();
    let same = match (lower.next(), lower.next()) {
        (Some(only), None) if only.len_utf8() == char.len_utf8() => only,
        _ => char,
    };
    core::iter::once(same)
}

/// Puts a text in lower case into a buffer of as many bytes.
pub fn lower_into(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.extend(text.chars().flat_map(lowered));
    }
}

/// Returns a text in lower case, of as many bytes.
#[must_use]
pub fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    lower_into(text, &mut out);
    out
}

/// Returns whether no word goes on over a place. Signs beyond ASCII stand without spaces between words, and "wifi" ends
/// names of functions.
fn is_border(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let is_word = |it: Option<&u8>| it.is_some_and(u8::is_ascii_alphanumeric);
    let before = at.checked_sub(1).and_then(|it| bytes.get(it));
    !is_word(before) || !is_word(bytes.get(at)) || bytes[at..].starts_with(b"wifi")
}

/// Matches pieces from a place on, and returns where they end.
fn run(pieces: &[Piece], text: &str, from: usize, found: &mut Match) -> Option<usize> {
    let mut at = from;
    for piece in pieces {
        let rest = text.get(at..)?;
        at += match piece {
            Piece::Literal(literal) => rest.starts_with(&**literal).then_some(literal.len())?,
            Piece::Border => is_border(text, at).then_some(0)?,
            Piece::Sep => rest.len() - rest.trim_start_matches(SEPARATORS).len(),
            Piece::Gap => {
                rest.find(|it: char| it.is_ascii_digit() || it == '-').unwrap_or(rest.len())
            }
            Piece::Word => {
                let length = count(rest, |it| it.is_alphanumeric() || "_-.".contains(it))?;
                found.word = found.word.or(Some((at, at + length)));
                length
            }
            Piece::Ip => ip(rest, found)?,
            Piece::Bytes => bytes(rest, found)?,
            Piece::Number => digits(rest, found)?,
            Piece::Signed => signed(rest, found)?,
            Piece::Hex => hex(rest, found)?,
            Piece::Address => address(rest, found)?,
            Piece::Host => host(rest)?,
            Piece::Domain => domain(rest)?,
            Piece::Duration => duration(rest, found)?,
        };
    }
    Some(at)
}

/// Signs that stand between a name and its value.
const SEPARATORS: [char; 13] = [' ', '\t', ':', '=', '(', ')', '[', ']', '\'', '"', '#', '>', ','];

/// Returns the bytes of the characters that a text begins with, where there is one that fits.
fn count(text: &str, fits: impl Fn(char) -> bool) -> Option<usize> {
    let length = text.find(|it| !fits(it)).unwrap_or(text.len());
    (length > 0).then_some(length)
}

fn digits(text: &str, found: &mut Match) -> Option<usize> {
    let length = count(text, |it| it.is_ascii_digit())?;
    found.keep(i64::from(text[..length].parse::<u32>().ok()?));
    Some(length)
}

fn signed(text: &str, found: &mut Match) -> Option<usize> {
    let Some(rest) = text.strip_prefix('-') else { return digits(text, found) };
    let length = count(rest, |it| it.is_ascii_digit())?;
    found.keep(-i64::from(rest[..length].parse::<u32>().ok()?));
    Some(length + 1)
}

fn hex(text: &str, found: &mut Match) -> Option<usize> {
    let rest = text.strip_prefix("0x").unwrap_or(text);
    let length = count(rest, |it| it.is_ascii_hexdigit())?;
    found.keep(i64::from(u32::from_str_radix(&rest[..length], 16).ok()?));
    Some(text.len() - rest.len() + length)
}

/// Reads `02:00:00:00:00:01`, also with hyphens, and `192.0.2.1`.
fn address(text: &str, found: &mut Match) -> Option<usize> {
    let is_part = |it: char| it.is_ascii_hexdigit() || ":-.".contains(it);
    let length = count(text, is_part)?;
    let whole = text[..length].trim_end_matches([':', '-', '.']);
    let mac: Option<u64> = whole.split([':', '-']).try_fold(1, |sum: u64, part| {
        let octet = u64::from(u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2)?);
        sum.checked_shl(8).filter(|it| it >> 56 == 0).map(|it| it | octet)
    });
    let ip: Option<u64> = whole
        .split('.')
        .try_fold((0, 0), |(sum, parts): (u64, u8), part| {
            Some((sum << 8 | u64::from(part.parse::<u8>().ok()?), parts.checked_add(1)?))
        })
        .filter(|it| it.1 == 4)
        .map(|it| it.0);
    let value = mac.filter(|it| it >> 48 == 1).or(ip)?;
    found.address = found.address.or(Some(value));
    Some(whole.len())
}

/// Reads four numbers, and what is behind the third dot up to its digits' end.
fn ip(text: &str, found: &mut Match) -> Option<usize> {
    let mut value = 0;
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            at += text[at..].strip_prefix('.').map(|_| 1)?;
        }
        let length = count(&text[at..], |it| it.is_ascii_digit())?;
        value = value << 8 | i64::from(text[at..at + length].parse::<u8>().ok()?);
        at += length;
    }
    found.keep(value);
    Some(at)
}

/// Reads `18504`, `95 kB` and `95.2 KB`.
fn bytes(text: &str, found: &mut Match) -> Option<usize> {
    let mut read = Match::default();
    let length = digits(text, &mut read)?;
    let unit = text[length..].trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let unit = unit.trim_start();
    if unit.starts_with('%') {
        return None;
    }
    let scale = if unit.starts_with('k') { 1024 } else { 1 };
    found.keep(read.number()?.checked_mul(scale)?);
    Some(length)
}

/// Reads `broker.example`, and `attic:1883`.
fn host(text: &str) -> Option<usize> {
    let word = text.split_whitespace().next()?;
    let word = word.trim_end_matches(['.', ',', ':']);
    let ports = word.split_once(':').is_some_and(|(name, port)| {
        !name.is_empty() && port.starts_with(|it: char| it.is_ascii_digit())
    });
    let dotted = word.split(':').next()?.split_once('.').is_some_and(|(name, behind)| {
        !name.is_empty() && behind.starts_with(|it: char| it.is_ascii_alphanumeric())
    });
    (text.starts_with(word) && (ports || dotted)).then_some(word.len())
}

/// Last parts of names of the network at large, and of one's own.
const TOP: [&str; 14] = [
    "com", "org", "net", "io", "edu", "gov", "info", "cloud", "dev", "app", "local", "lan", "home",
    "example",
];

/// Reads `time.example.com`, and `a.example.de`.
fn domain(text: &str) -> Option<usize> {
    let length = count(text, |it| it.is_ascii_alphanumeric() || it == '-' || it == '.')?;
    let name = text[..length].trim_end_matches(['.', '-']);
    let dots = name.bytes().filter(|it| *it == b'.').count();
    let top = name.rsplit('.').next()?;
    let of_country = dots > 1 && top.len() == 2 && top.bytes().all(|it| it.is_ascii_alphabetic());
    (dots > 0 && (TOP.contains(&top) || of_country)).then_some(name.len())
}

/// Reads a time in milliseconds.
fn duration(text: &str, found: &mut Match) -> Option<usize> {
    let mut read = Match::default();
    let length = digits(text, &mut read)?;
    let rest = &text[length..];
    let gap = rest.len() - rest.trim_start().len();
    let unit = count(&rest[gap..], |it| it.is_ascii_alphabetic())?;
    let scale = match &rest[gap..gap + unit] {
        "ms" | "milliseconds" => 1,
        "s" | "sec" | "seconds" => 1000,
        "min" | "minutes" => 60_000,
        "h" | "hours" => 3_600_000,
        _ => return None,
    };
    found.keep(read.number()?.checked_mul(scale)?);
    Some(length + gap + unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(pattern: &str, text: &str) -> Option<Match> {
        LinePattern::read(pattern).unwrap().find(&lower(text))
    }

    #[test]
    fn pieces_match_what_they_name() {
        for (pattern, text) in [
            ("station: {address} leave", "station: 02:00:00:00:00:21 leave, AID = 1"),
            ("reason{sep}{number}", "AID = 1, reason = 4, bss_flags"),
            ("^m f ", "m f null"),
            ("|ota|", "an OTA. update"),
            ("returned {hex}$", "read returned 0x107"),
            ("from {address}{text}time={number}", "64 bytes from 192.0.2.1 seq=1 time=250 ms"),
            ("connecting to {host}", "Connecting to broker.example:1883"),
            ("Ошибка", "ОШИБКА сети"),
            ("after {duration}", "gave up after 10 s"),
            ("rssi{sep}{signed}", "rssi: -82"),
            ("rssi{gap}{signed}", "rssi of it is -82"),
            ("address{sep}{ip}", "IP address: 192.0.2.1"),
            ("free heap{sep}{bytes}", "free heap = 95.2 KB"),
            ("a\\|b", "A|b"),
            ("{text}done$", "all is done"),
            ("|fail{text}|at|", "failed what at once, at the"),
            ("|wifi", "esp_wifiphy"),
        ] {
            assert!(found(pattern, text).is_some(), "{pattern}: {text}");
        }
        for (pattern, text) in [
            ("station: {address} leave", "station: 02:00:00 leave"),
            ("^m f ", "am f x"),
            ("|ota|", "rotate"),
            ("returned {hex}$", "returned 0x107 x"),
            ("connecting to {host}", "connecting to attic"),
            ("done$", "done."),
            ("free heap{sep}{bytes}", "free heap: 95 %"),
            ("rssi{gap}-{number}", "rssi 5 of -8"),
        ] {
            assert!(found(pattern, text).is_none(), "{pattern}: {text}");
        }
        assert_eq!(found("reason{sep}{number}", "Reason: 202").unwrap().number(), Some(202));
        let channels = found("o:{number},{number} n:{number},{number}", "o:1,1 n:4,1").unwrap();
        assert_eq!(channels.numbers(), [1, 1, 4, 1]);
        let address = |text| found("from {address}", text).unwrap().address;
        assert_ne!(address("from 192.0.2.1"), address("from 192.0.2.2"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["", "{number}", "a{", "a{what}", "a\\", "^|$"] {
            assert!(LinePattern::read(pattern).is_err(), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn no_pattern_and_no_text_make_it_panic(pattern in "(\\{number\\}|\\{text\\}|\\{address\\}|\\||[\\^$ab é0:]){0,8}", text in "[ab é0-9:.\\-]{0,30}") {
            if let Ok(pattern) = LinePattern::read(&pattern) {
                let _ = pattern.find(&lower(&text));
            }
        }

        #[test]
        fn lower_case_has_as_many_bytes(text in ".{0,30}") {
            prop_assert_eq!(lower(&text).len(), text.len());
        }
    }
}
