//! Parses options as argtable3 does, which ESP-IDF's consoles use.
//!
//! `-x value`, `-xvalue`, `--long value`, `--long=value`, unique beginnings of long names, letters
//! without values in one word (`-pA`), words in any order, and `--` before words that begin with a
//! dash. Integers are decimal, or `0x`, `0o`, `0b`, with `KB`, `MB` or `GB` behind.

use super::table::{CommandSpec, Opt, OptionType};
use core::fmt;
use heapless::Vec;

/// Greatest number of values in a line of fifteen words.
const VALUES: usize = 2 * super::words::WORDS_MAX;
/// Greatest number of errors that are reported; further ones are not.
pub const FAULTS: usize = 3;

/// A mistake in a word, printed as argtable3 prints it.
#[derive(Clone, Copy, Debug)]
pub enum ArgError<'a> {
    /// No option has this letter.
    Letter(u8),
    /// No long option has this name, or several begin with it, or the option takes no value.
    Long(&'a [u8]),
    /// An option lacks its value.
    NoValue(&'a [u8]),
    /// A word is left over.
    Unexpected(&'a [u8]),
    /// A required option is missing.
    Missing(&'static Opt),
    /// An option was given too often.
    Excess(&'static Opt, &'a [u8]),
    /// A value is no number.
    BadInt(&'static Opt, &'a [u8]),
    /// A number exceeds 32 bits.
    Overflow(&'static Opt, &'a [u8]),
}

/// Mistakes of a line.
pub type ArgErrors<'a> = Vec<ArgError<'a>, FAULTS>;

/// Parsed options of a command.
#[derive(Clone, Debug)]
pub struct ParsedArgs<'a> {
    spec: &'static CommandSpec,
    values: Vec<(u8, ArgValue<'a>), VALUES>,
}

/// Parsed value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgValue<'a> {
    Flag,
    Int(i32),
    Text(&'a [u8]),
}

impl<'a> ParsedArgs<'a> {
    /// Parses the words after the command's name.
    ///
    /// # Errors
    ///
    /// Returns all mistakes, up to [`FAULTS`].
    pub fn read(spec: &'static CommandSpec, words: &[&'a [u8]]) -> Result<Self, ArgErrors<'a>> {
        let mut reader = ArgParser { args: Self { spec, values: Vec::new() }, faults: Vec::new() };
        reader.all(words);
        if reader.faults.is_empty() {
            reader.check();
        }
        if reader.faults.is_empty() { Ok(reader.args) } else { Err(reader.faults) }
    }

    /// Returns whether the option of that long name was given.
    #[must_use]
    pub fn has(&self, long: &str) -> bool {
        self.given(long).next().is_some()
    }

    /// Returns the integer value of an option.
    #[must_use]
    pub fn int(&self, long: &str) -> Option<i32> {
        self.ints(long).next()
    }

    /// Returns every integer of an option that may be repeated.
    pub fn ints(&self, long: &str) -> impl Iterator<Item = i32> {
        self.given(long).filter_map(|value| match value {
            ArgValue::Int(n) => Some(n),
            _ => None,
        })
    }

    /// Returns an integer that cannot be below zero; a negative value counts as zero.
    #[must_use]
    pub fn count(&self, long: &str) -> Option<u32> {
        self.int(long).map(|n| u32::try_from(n).unwrap_or(0))
    }

    /// Returns the text value of an option.
    #[must_use]
    pub fn text(&self, long: &str) -> Option<&'a [u8]> {
        self.given(long).find_map(|value| match value {
            ArgValue::Text(text) => Some(text),
            _ => None,
        })
    }

    fn given(&self, long: &str) -> impl Iterator<Item = ArgValue<'a>> {
        let index = self.spec.options.iter().position(|opt| opt.long == long);
        debug_assert!(index.is_some(), "no option {long}");
        let index = index.unwrap_or(usize::MAX);
        self.values.iter().filter(move |(at, _)| usize::from(*at) == index).map(|&(_, v)| v)
    }

    fn times(&self, index: usize) -> usize {
        self.values.iter().filter(|(at, _)| usize::from(*at) == index).count()
    }
}

struct ArgParser<'a> {
    args: ParsedArgs<'a>,
    faults: ArgErrors<'a>,
}

impl<'a> ArgParser<'a> {
    fn fault(&mut self, fault: ArgError<'a>) {
        // Mistakes beyond the limit are not reported.
        let _ = self.faults.push(fault);
    }

    /// Parses named options first, as getopt does, then the words that are left.
    fn all(&mut self, words: &[&'a [u8]]) {
        let mut loose: Vec<&'a [u8], { super::words::WORDS_MAX }> = Vec::new();
        let mut rest = words;
        while let [word, tail @ ..] = rest {
            rest = tail;
            match *word {
                b"--" => break,
                [b'-', b'-', name @ ..] => self.long(word, name, &mut rest),
                [b'-', letters @ ..] if !letters.is_empty() => {
                    self.letters(word, letters, &mut rest);
                }
                _ => {
                    // There are never more words than places.
                    let _ = loose.push(word);
                }
            }
        }
        for word in loose.iter().chain(rest) {
            self.word(word);
        }
    }

    fn long(&mut self, word: &'a [u8], name: &'a [u8], rest: &mut &[&'a [u8]]) {
        let cut = name.iter().position(|&byte| byte == b'=');
        let (name, value) = match cut {
            Some(at) => (name.get(..at).unwrap_or_default(), name.get(at + 1..)),
            None => (name, None),
        };
        let Some((index, opt)) = self.named(name) else {
            return self.fault(ArgError::Long(word));
        };
        match (opt.kind, value) {
            (OptionType::Flag, Some(_)) => self.fault(ArgError::Long(word)),
            (OptionType::Flag, None) => self.keep(index, opt, &[]),
            (_, Some(value)) => self.keep(index, opt, value),
            (_, None) => self.next(index, opt, word, rest),
        }
    }

    /// Finds the option of that long name, or the only one whose name begins so.
    fn named(&self, name: &[u8]) -> Option<(usize, &'static Opt)> {
        let options = self.args.spec.options;
        let named = || options.iter().enumerate().filter(|(_, opt)| !opt.positional());
        if let Some(exact) = named().find(|(_, opt)| opt.long.as_bytes() == name) {
            return Some(exact);
        }
        let mut near = named().filter(|(_, opt)| opt.long.as_bytes().starts_with(name));
        let first = near.next()?;
        near.next().is_none().then_some(first)
    }

    /// Parses letters in one word: flags, and at most one option with its value behind it.
    fn letters(&mut self, word: &'a [u8], letters: &'a [u8], rest: &mut &[&'a [u8]]) {
        let mut letters = letters;
        while let [letter, tail @ ..] = letters {
            letters = tail;
            let options = self.args.spec.options;
            let found = options.iter().enumerate();
            let found = found.into_iter().find(|(_, opt)| opt.short.as_bytes().contains(letter));
            match found {
                None => self.fault(ArgError::Letter(*letter)),
                Some((index, opt)) if opt.kind == OptionType::Flag => self.keep(index, opt, &[]),
                Some((index, opt)) if tail.is_empty() => {
                    return self.next(index, opt, word, rest);
                }
                Some((index, opt)) => return self.keep(index, opt, tail),
            }
        }
    }

    /// Takes the next word, whatever it looks like, as the value of an option.
    fn next(&mut self, index: usize, opt: &'static Opt, word: &'a [u8], rest: &mut &[&'a [u8]]) {
        match *rest {
            [value, tail @ ..] => {
                *rest = tail;
                self.keep(index, opt, value);
            }
            [] => self.fault(ArgError::NoValue(word)),
        }
    }

    /// Gives a word without an option to the first unnamed argument that has room for it.
    fn word(&mut self, word: &'a [u8]) {
        let mut options = self.args.spec.options.iter().enumerate();
        let args = &self.args;
        let free = |(index, opt): &(usize, &'static Opt)| {
            opt.positional() && args.times(*index) < usize::from(opt.max)
        };
        match options.find(free) {
            Some((index, opt)) => self.keep(index, opt, word),
            None => self.fault(ArgError::Unexpected(word)),
        }
    }

    fn keep(&mut self, index: usize, opt: &'static Opt, text: &'a [u8]) {
        if self.args.times(index) >= usize::from(opt.max) {
            return self.fault(ArgError::Excess(opt, text));
        }
        let value = match opt.kind {
            OptionType::Flag => ArgValue::Flag,
            OptionType::Text => ArgValue::Text(text),
            OptionType::Int => match integer(text) {
                Ok(n) => ArgValue::Int(n),
                Err(IntError::Bad) => return self.fault(ArgError::BadInt(opt, text)),
                Err(IntError::Overflow) => return self.fault(ArgError::Overflow(opt, text)),
            },
        };
        if self.args.values.push((index as u8, value)).is_err() {
            self.fault(ArgError::Excess(opt, text));
        }
    }

    fn check(&mut self) {
        for (index, opt) in self.args.spec.options.iter().enumerate() {
            if self.args.times(index) < usize::from(opt.min) {
                self.fault(ArgError::Missing(opt));
            }
        }
    }
}

enum IntError {
    Bad,
    Overflow,
}

/// Parses an integer as argtable3 does (`arg_int_scanfn`).
fn integer(text: &[u8]) -> Result<i32, IntError> {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] if starts(rest, 16) => (16, rest),
        [b'0', b'o' | b'O', rest @ ..] if starts(rest, 8) => (8, rest),
        [b'0', b'b' | b'B', rest @ ..] if starts(rest, 2) => (2, rest),
        _ => (10, digits),
    };
    let len = digits.iter().take_while(|&&byte| digit(byte, base).is_some()).count();
    let (digits, suffix) = digits.split_at_checked(len).ok_or(IntError::Bad)?;
    if digits.is_empty() {
        return Err(IntError::Bad);
    }
    let unit: i64 = match suffix.trim_ascii_end() {
        [] => 1,
        s if s.eq_ignore_ascii_case(b"KB") => 1 << 10,
        s if s.eq_ignore_ascii_case(b"MB") => 1 << 20,
        s if s.eq_ignore_ascii_case(b"GB") => 1 << 30,
        _ => return Err(IntError::Bad),
    };
    let add = |n: i64, &byte: &u8| {
        n.saturating_mul(i64::from(base)).saturating_add(i64::from(digit(byte, base).unwrap_or(0)))
    };
    let n = digits.iter().fold(0, add).saturating_mul(unit);
    let n = if negative { n.saturating_neg() } else { n };
    i32::try_from(n).map_err(|_| IntError::Overflow)
}

fn digit(byte: u8, base: u32) -> Option<u32> {
    char::from(byte).to_digit(base)
}

fn starts(digits: &[u8], base: u32) -> bool {
    digits.first().is_some_and(|&byte| digit(byte, base).is_some())
}

/// Bytes as text: a question mark replaces invalid UTF-8.
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a [u8]);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.utf8_chunks() {
            f.write_str(part.valid())?;
            if !part.invalid().is_empty() {
                f.write_str("?")?;
            }
        }
        Ok(())
    }
}

/// Name of an option as argtable3 writes it: `-x|--long=<value>`.
struct OptionName<'a>(&'static Opt, &'a [u8]);

impl fmt::Display for OptionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opt = self.0;
        if opt.positional() {
            return if self.1.is_empty() {
                write!(f, "<{}>", opt.long)
            } else {
                Printable(self.1).fmt(f)
            };
        }
        if let Some(letter) = opt.short.chars().next() {
            write!(f, "-{letter}|")?;
        }
        write!(f, "--{}", opt.long)?;
        match opt.kind {
            OptionType::Flag => Ok(()),
            _ if self.1.is_empty() => write!(f, "={}", opt.value),
            _ => write!(f, "={}", Printable(self.1)),
        }
    }
}

impl fmt::Display for ArgError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Letter(letter) => write!(f, "invalid option \"-{}\"", Printable(&[letter])),
            Self::Long(word) => write!(f, "invalid option \"{}\"", Printable(word)),
            Self::NoValue(word) => write!(f, "option \"{}\" requires an argument", Printable(word)),
            Self::Unexpected(word) => write!(f, "unexpected argument \"{}\"", Printable(word)),
            Self::Missing(opt) => write!(f, "missing option {}", OptionName(opt, &[])),
            Self::Excess(opt, _) if opt.kind == OptionType::Flag => {
                write!(f, "extraneous option {}", OptionName(opt, &[]))
            }
            Self::Excess(opt, value) => write!(f, "excess option {}", OptionName(opt, value)),
            Self::BadInt(opt, value) => {
                write!(
                    f,
                    "invalid argument \"{}\" to option {}",
                    Printable(value),
                    OptionName(opt, &[])
                )
            }
            Self::Overflow(opt, value) => write!(
                f,
                "integer overflow at option {} ({} is too large)",
                OptionName(opt, &[]),
                Printable(value)
            ),
        }
    }
}
