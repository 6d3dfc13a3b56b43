//! Value Change Dumps (IEEE 1364-2005, clause 18): what most programs for logic analysers and
//! simulators write. Only variables of one bit are read.
//!
//! The reader is our own: a file from outside must not decide about memory or the depth of the
//! stack, and the published parser takes words of any length and scopes of any depth.

use super::{CHANNELS_MAX, ChannelLevels, LogicChange, LogicError};
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, ErrorKind};

/// Longest word of a file, in bytes. Longer ones, such as texts without spaces, are cut.
const WORD_MAX: usize = 1024;

/// A dump whose head is read.
pub struct VcdCapture {
    words: Words,
    channels: Vec<String>,
    index: HashMap<Vec<u8>, usize>,
    /// Femtoseconds of a unit of time.
    unit_fs: u128,
}

impl fmt::Debug for VcdCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VcdCapture").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl VcdCapture {
    /// Reads the head of a dump.
    ///
    /// # Errors
    /// No VCD, without a time scale, or without a variable of one bit.
    pub fn new(source: Box<dyn BufRead>) -> Result<Self, LogicError> {
        let mut words = Words::new(source);
        let (mut channels, mut index, mut unit_fs) = (Vec::new(), HashMap::new(), None);
        loop {
            if !words.next()? {
                return Err(LogicError::malformed("the VCD file ends before $enddefinitions"));
            }
            match words.word.as_slice() {
                b"$enddefinitions" => break,
                b"$timescale" => unit_fs = Some(timescale(&words.section()?)?),
                b"$var" => {
                    // $var wire 1 ! name [0] $end
                    let section = words.section()?;
                    let [_, size, code, name, ..] = section.as_slice() else {
                        return Err(LogicError::malformed("a $var of the VCD file has no name"));
                    };
                    if size != b"1" || index.contains_key(code) {
                        continue;
                    }
                    if channels.len() == CHANNELS_MAX {
                        let text = format!("the VCD file has more than {CHANNELS_MAX} channels");
                        return Err(LogicError::malformed(text));
                    }
                    index.insert(code.clone(), channels.len());
                    channels.push(String::from_utf8_lossy(name).into_owned());
                }
                word if word.starts_with(b"$") => {
                    words.section()?;
                }
                _ => return Err(LogicError::malformed("not a VCD file: a word before its head")),
            }
        }
        words.section()?;
        let Some(unit_fs) = unit_fs else {
            return Err(LogicError::malformed("the VCD file has no $timescale"));
        };
        if channels.is_empty() {
            return Err(LogicError::malformed("the VCD file has no variable of one bit"));
        }
        Ok(Self { words, channels, index, unit_fs })
    }

    pub(super) fn channels(&self) -> &[String] {
        &self.channels
    }

    pub(super) fn read(self, each: &mut dyn FnMut(LogicChange)) -> Result<(), LogicError> {
        let Self { mut words, channels, index, unit_fs } = self;
        let mut levels = ChannelLevels::new(channels.len());
        // Nearly all codes are one byte long.
        let mut short = [None; 256];
        for (code, &channel) in &index {
            if let [byte] = code.as_slice() {
                short[usize::from(*byte)] = Some(channel);
            }
        }
        let mut at = 0;
        while words.next()? {
            let (first, rest) = match words.word.split_first() {
                Some((first, rest)) => (*first, rest),
                None => continue,
            };
            let level = match first {
                b'#' => {
                    at = time(rest, unit_fs, at)?;
                    continue;
                }
                b'0' => Some(false),
                b'1' => Some(true),
                b'x' | b'X' | b'z' | b'Z' => None,
                // A value of several bits or a real number, and the code of its variable.
                b'b' | b'B' | b'r' | b'R' | b's' | b'S' => {
                    words.next()?;
                    continue;
                }
                b'$' => {
                    // The values between $dumpvars and $end count; a comment's words do not.
                    if words.word == b"$comment" {
                        words.section()?;
                    }
                    continue;
                }
                _ => {
                    let text =
                        format!("the VCD file is damaged after {at} ps: a word that is no change");
                    return Err(LogicError::malformed(text));
                }
            };
            let channel = match rest {
                [byte] => short[usize::from(*byte)],
                code => index.get(code).copied(),
            };
            if let Some(channel) = channel {
                levels.set(at, channel, level, each);
            }
        }
        each(LogicChange::End { at });
        Ok(())
    }
}

/// Reads a time, in picoseconds, that is not before `before`.
fn time(digits: &[u8], unit_fs: u128, before: i64) -> Result<i64, LogicError> {
    let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u64>().ok());
    let number = number.ok_or_else(|| {
        LogicError::malformed("the VCD file is damaged: a # without a number behind it")
    })?;
    let at = i64::try_from(u128::from(number) * unit_fs / 1000)
        .map_err(|_| LogicError::malformed("a time beyond 106 days"))?;
    if at < before {
        return Err(LogicError::malformed(format!("time runs backwards at #{number}")));
    }
    Ok(at)
}

/// Reads a time scale, such as `10 ns`, in femtoseconds.
fn timescale(section: &[Vec<u8>]) -> Result<u128, LogicError> {
    let text = section.concat();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = match &text[..digits] {
        b"1" => Some(1),
        b"10" => Some(10),
        b"100" => Some(100),
        _ => None,
    };
    let unit = match &text[digits..] {
        b"s" => Some(1_000_000_000_000_000),
        b"ms" => Some(1_000_000_000_000),
        b"us" => Some(1_000_000_000),
        b"ns" => Some(1_000_000),
        b"ps" => Some(1000),
        b"fs" => Some(1),
        _ => None,
    };
    number.zip(unit).map(|(number, unit): (u128, u128)| number * unit).ok_or_else(|| {
        let text = String::from_utf8_lossy(&text);
        LogicError::malformed(format!("the $timescale `{text}` is not 1, 10 or 100 of s to fs"))
    })
}

/// The words of a file, between white space.
struct Words {
    source: Box<dyn BufRead>,
    /// The word that was read last, at most [`WORD_MAX`] bytes of it.
    word: Vec<u8>,
}

impl Words {
    fn new(source: Box<dyn BufRead>) -> Self {
        Self { source, word: Vec::new() }
    }

    /// Reads the next word; false at the end of the file.
    fn next(&mut self) -> Result<bool, LogicError> {
        self.word.clear();
        loop {
            let bytes = match self.source.fill_buf() {
                Ok([]) => return Ok(!self.word.is_empty()),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let skipped = match self.word.is_empty() {
                true => bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count(),
                false => 0,
            };
            let bytes = &bytes[skipped..];
            let taken = bytes.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
            let room = WORD_MAX - self.word.len();
            self.word.extend_from_slice(&bytes[..taken.min(room)]);
            let ended = taken < bytes.len();
            self.source.consume(skipped + taken);
            if ended && !self.word.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Reads the words up to `$end`, and returns the first few.
    fn section(&mut self) -> Result<Vec<Vec<u8>>, LogicError> {
        let mut section = Vec::new();
        while self.next()? {
            if self.word == b"$end" {
                return Ok(section);
            }
            if section.len() < 8 {
                section.push(self.word.clone());
            }
        }
        Err(LogicError::malformed("the VCD file ends within its head: an $end is missing"))
    }
}
