//! Splits a line into words, as ESP-IDF's console does (`esp_console_split_argv`).
//!
//! Words end at spaces. `"…"` holds a word together; a backslash takes a backslash, a quote or a
//! space literally, and drops any other character with itself. Text behind the last word that there
//! is room for is ignored.

/// Greatest number of words in a line: sixteen places, of which ESP-IDF keeps one for the
/// terminator.
pub const WORDS_MAX: usize = 15;

/// Words of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words<'a> {
    words: [&'a [u8]; WORDS_MAX],
    len: usize,
}

impl<'a> Words<'a> {
    /// Splits a line. Escapes and quotes are removed in place. The line ends at a NUL.
    #[must_use]
    pub fn split(line: &'a mut [u8]) -> Self {
        let mut bounds = [(0, 0); WORDS_MAX];
        let len = unescape(line, &mut bounds);
        let line: &'a [u8] = line;
        let mut words: [&'a [u8]; WORDS_MAX] = [&[]; WORDS_MAX];
        for (word, &(start, end)) in words.iter_mut().zip(&bounds) {
            *word = line.get(start..end).unwrap_or_default();
        }
        Self { words, len }
    }

    /// Returns the words.
    #[must_use]
    pub fn as_slice(&self) -> &[&'a [u8]] {
        self.words.get(..self.len).unwrap_or_default()
    }
}

/// State of the scanner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Space,
    Word { quoted: bool },
    Escape { quoted: bool },
}

/// Writes the words' characters over the line, never ahead of the character being read, records
/// where each word lies, and returns their number.
fn unescape(line: &mut [u8], bounds: &mut [(usize, usize); WORDS_MAX]) -> usize {
    let (mut state, mut to, mut start, mut count) = (ScanState::Space, 0, 0, 0);
    for from in 0..line.len() {
        let Some(&byte) = line.get(from) else { break };
        if byte == 0 || count == WORDS_MAX {
            break;
        }
        let (next, keep) = step(state, byte);
        match (state, next) {
            (ScanState::Space, ScanState::Word { .. } | ScanState::Escape { .. }) => start = to,
            (ScanState::Word { .. }, ScanState::Space) => {
                if let Some(bound) = bounds.get_mut(count) {
                    *bound = (start, to);
                }
                count += 1;
            }
            _ => {}
        }
        state = next;
        if let (true, Some(place)) = (keep, line.get_mut(to)) {
            *place = byte;
            to += 1;
        }
    }
    if let (true, Some(bound)) = (state != ScanState::Space, bounds.get_mut(count)) {
        *bound = (start, to);
        count += 1;
    }
    count
}

/// Processes one character: returns the next state, and whether the character belongs to the word.
fn step(state: ScanState, byte: u8) -> (ScanState, bool) {
    match (state, byte) {
        (ScanState::Space, b' ') => (ScanState::Space, false),
        (ScanState::Space, b'"') => (ScanState::Word { quoted: true }, false),
        (ScanState::Space, b'\\') => (ScanState::Escape { quoted: false }, false),
        (ScanState::Space, _) => (ScanState::Word { quoted: false }, true),
        (ScanState::Word { quoted }, b'\\') => (ScanState::Escape { quoted }, false),
        // A closing quote ends the word; inside an unquoted word a quote stands for itself.
        (ScanState::Word { quoted: true }, b'"') | (ScanState::Word { quoted: false }, b' ') => {
            (ScanState::Space, false)
        }
        (ScanState::Word { quoted }, _) => (ScanState::Word { quoted }, true),
        (ScanState::Escape { quoted }, b'\\' | b'"' | b' ') => (ScanState::Word { quoted }, true),
        (ScanState::Escape { quoted }, _) => (ScanState::Word { quoted }, false),
    }
}
