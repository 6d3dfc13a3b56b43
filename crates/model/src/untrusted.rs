//! Text from outside (files, devices, servers, arguments) as it may be shown: a terminal must not obey it, and a reader
//! must see it in the order in which it is.

use core::fmt;

/// Returns whether a character may command a terminal (C0, DEL, C1), or changes the order in which text is drawn
/// (Unicode Standard Annex 9: bidirectional embeddings, overrides, isolates and marks).
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    let redraws = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    redraws || c.is_control()
}

/// Control characters that stay in a text that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// None: line ends and tabulators become spaces.
    Line,
    /// Line ends and tabulators.
    Lines,
    /// These, and colours (ECMA-48: SGR).
    Colours,
    /// These, and what an editor of lines in a console needs: movements within the line, erasure, and the query of
    /// the cursor's place.
    Console,
}

/// Text from outside, shown with U+FFFD in place of each unsafe character.
///
/// ```
/// # use espbench_model::untrusted::Untrusted;
/// extern crate std;
/// use std::string::ToString as _;
/// assert_eq!(Untrusted::line("a\u{1b}]0;b\u{7}\nc").to_string(), "a\u{fffd}]0;b\u{fffd} c");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Untrusted<'a> {
    text: &'a str,
    kept: Kept,
}

impl<'a> Untrusted<'a> {
    /// Shows a text on one line.
    #[must_use]
    pub const fn line(text: &'a str) -> Self {
        Self { text, kept: Kept::Line }
    }

    /// Shows a text with its lines and tabulators.
    #[must_use]
    pub const fn lines(text: &'a str) -> Self {
        Self { text, kept: Kept::Lines }
    }

    /// Shows a text with its lines, tabulators and colours: a drawing of ours.
    #[must_use]
    pub const fn coloured(text: &'a str) -> Self {
        Self { text, kept: Kept::Colours }
    }

    /// Shows what a console printed on a terminal that answers it.
    #[must_use]
    pub const fn console(text: &'a str) -> Self {
        Self { text, kept: Kept::Console }
    }
}

impl fmt::Display for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mut text, kept } = *self;
        while let Some(at) = text.find(is_unsafe) {
            f.write_str(&text[..at])?;
            text = &text[at..];
            let length = kept.kept_at(text);
            let (shown, rest) = text.split_at(length);
            f.write_str(shown)?;
            text = rest;
            if length > 0 {
                continue;
            }
            let mut rest = text.chars();
            let is_space = matches!(rest.next(), Some('\n' | '\r' | '\t')) && kept == Kept::Line;
            f.write_str(if is_space { " " } else { "\u{fffd}" })?;
            text = rest.as_str();
        }
        f.write_str(text)
    }
}

impl Kept {
    /// Returns the length of what stays as it is at the beginning of a text; 0 where that is replaced.
    fn kept_at(self, text: &str) -> usize {
        if self == Self::Line {
            return 0;
        }
        if text.starts_with(['\n', '\t']) {
            return 1;
        }
        if text.starts_with("\r\n") || (self == Self::Console && text.starts_with('\r')) {
            return 1;
        }
        let finals = match self {
            Self::Colours => "m",
            Self::Console => "mnCDGHJK",
            Self::Line | Self::Lines => return 0,
        };
        let Some(sequence) = text.strip_prefix("\x1b[") else { return 0 };
        let parameters = sequence.bytes().take_while(|it| matches!(it, b'0'..=b'9' | b';')).count();
        let is_kept = sequence[parameters..].starts_with(|it| finals.contains(it));
        if is_kept { "\x1b[".len() + parameters + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::{String, ToString as _};

    /// Returns every character that must not be shown as it is.
    fn hostile() -> impl Iterator<Item = char> {
        let control = ('\0'..'\u{a0}').filter(|it| it.is_control());
        let bidirectional = ['\u{61c}', '\u{200e}', '\u{200f}'];
        let drawn = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        control.chain(bidirectional).chain(drawn)
    }

    #[test]
    fn no_hostile_character_is_shown() {
        for c in hostile() {
            let text: String = ["a", &c.to_string(), "b"].concat();
            let line = Untrusted::line(&text).to_string();
            assert!(line == "a b" || line == "a\u{fffd}b", "{c:?}");
            let lines = Untrusted::lines(&text).to_string();
            assert_eq!(lines == text, matches!(c, '\n' | '\t'), "{c:?}");
            assert!(!lines.contains(is_unsafe) || lines == text, "{c:?}");
        }
        let plain = "Büro 日本 \u{fffd} \u{a0}\u{200d}e";
        assert_eq!(Untrusted::line(plain).to_string(), plain);
    }

    #[test]
    fn colours_stay_only_in_our_own_drawings() {
        let text = "\x1b[1;31mred\x1b[0m \x1b[2J\x1b]0;t\x07\x1b[31\x1b[6n\x1b[";
        let shown = "\u{fffd}[2J\u{fffd}]0;t\u{fffd}\u{fffd}[31";
        let coloured = Untrusted::coloured(text).to_string();
        assert_eq!(coloured, [&text[..15], shown, "\u{fffd}[6n\u{fffd}["].concat());
        assert!(!Untrusted::lines(text).to_string().contains('\x1b'));
        let console =
            Untrusted::console("\x1b[6n\x1b[999C\r\x1b[0K>\x1b[c\x1b]52;c;eA==\x07").to_string();
        assert_eq!(console, "\x1b[6n\x1b[999C\r\x1b[0K>\u{fffd}[c\u{fffd}]52;c;eA==\u{fffd}");
    }

    #[test]
    fn a_carriage_return_stays_only_before_a_line_feed() {
        assert_eq!(Untrusted::lines("a\r\nb\rc").to_string(), "a\r\nb\u{fffd}c");
        assert_eq!(Untrusted::line("a\r\nb").to_string(), "a  b");
    }
}
