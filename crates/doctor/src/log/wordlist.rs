//! Words of the second reading, and how they are found: each at the begin of a word.

/// A sign of failure and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Hit {
    pub(super) const fn plain(start: usize) -> Self {
        Self { start, end: start }
    }
}

/// Words of three bytes and more, with a bit for the threes of bytes that they begin with: at most places a text does not
/// begin as any of them.
#[derive(Debug)]
pub(super) struct PhraseList {
    pub(super) words: &'static [&'static str],
    threes: [u64; 64],
}

impl PhraseList {
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let mut threes = [0; 64];
        let mut at = 0;
        while at < words.len() {
            let bit = three(words[at].as_bytes(), 0);
            threes[bit / 64] |= 1 << (bit % 64);
            at += 1;
        }
        Self { words, threes }
    }

    /// Returns the words that a text may have at a place.
    fn at<'a>(&'static self, text: &'a str, at: usize) -> impl Iterator<Item = &'static str> + 'a {
        let bytes = text.as_bytes();
        let may = at + 3 <= bytes.len() && {
            let bit = three(bytes, at);
            self.threes[bit / 64] & 1 << (bit % 64) != 0
        };
        let words = if may { self.words } else { &[] };
        words.iter().copied().filter(move |word| bytes[at..].starts_with(word.as_bytes()))
    }

    /// Returns the place of the first of the words that a text has, each at the begin of a word.
    pub(super) fn find(&'static self, text: &str) -> Option<usize> {
        begins(text).find(|at| self.at(text, *at).next().is_some())
    }

    /// Returns whether a text has one of the words, each at the begin of a word.
    pub(super) fn is_in(&'static self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Returns the first sign of failure that is not denied: "error: 0", "0 errors", "no errors" are none.
    pub(super) fn hit(&'static self, text: &str) -> Option<Hit> {
        begins(text).find_map(|start| {
            self.at(text, start)
                .map(|word| Hit { start, end: start + word.len() })
                .find(|it| !is_short(text, *it) && !is_denied(text, *it))
        })
    }
}

/// Returns a number of 12 bits for three bytes.
const fn three(bytes: &[u8], at: usize) -> usize {
    (bytes[at] as usize ^ (bytes[at + 1] as usize) << 3 ^ (bytes[at + 2] as usize) << 6) & 0xfff
}

/// Returns whether a text has one of a few words, each at the begin of a word.
pub(super) fn has(text: &str, words: &[&str]) -> bool {
    find(text, words).is_some()
}

/// Returns whether a text has one of the words, each by itself.
pub(super) fn has_whole(text: &str, words: &[&str]) -> bool {
    begins(text).any(|at| {
        words.iter().any(|word| {
            text[at..]
                .strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|it: char| it.is_ascii_alphanumeric()))
        })
    })
}

/// Returns the place of the first of a few words that a text has, each at the begin of a word.
pub(super) fn find(text: &str, words: &[&str]) -> Option<usize> {
    let bytes = text.as_bytes();
    let is = |at: usize, word: &[u8]| bytes[at] == word[0] && bytes[at..].starts_with(word);
    begins(text).find(|at| words.iter().any(|word| is(*at, word.as_bytes())))
}

/// Returns the places where words begin. Signs beyond ASCII stand without spaces between words, and "wifi" ends names of functions.
fn begins(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(move |at| {
        let byte = bytes[*at];
        let first = *at == 0 || !bytes[*at - 1].is_ascii_alphanumeric();
        (byte.is_ascii_alphanumeric() && first)
            || (byte >= 0xc0)
            || (byte == b'w' && bytes[*at..].starts_with(b"wifi"))
    })
}

/// Returns whether "err" is a part of another word.
fn is_short(text: &str, hit: Hit) -> bool {
    &text[hit.start..hit.end] == "err"
        && text[hit.end..].starts_with(|it: char| it.is_ascii_alphabetic())
}

/// Returns whether the rest of a name, such as "invalid_password: NO", has a value that denies it.
fn says_no(behind: &str) -> bool {
    let name = behind.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(0);
    let value = behind[name..]
        .trim_start()
        .strip_prefix([':', '='])
        .map(|it| it.trim_matches([' ', '\'', '"']));
    matches!(value, Some("no" | "false" | "none" | "off"))
}

/// Returns whether a sign of failure is denied by what stands around it.
fn is_denied(text: &str, hit: Hit) -> bool {
    let before = text[..hit.start].trim_end_matches([' ', '_', '-', '=', ':']);
    let word = before.rsplit(|it: char| !it.is_alphanumeric() && it != '\'').next().unwrap_or("");
    if matches!(word, "no" | "not" | "0" | "without" | "zero" | "never" | "any" | "kein" | "keine")
    {
        return true;
    }
    if says_no(&text[hit.end..]) {
        return true;
    }
    // Behind the rest of the word and of "error code", a zero.
    let rest = text[hit.end..].trim_start_matches(|it: char| it.is_ascii_alphabetic() || it == '_');
    let rest = rest.trim_start_matches([' ', ':', '=', '(', '[', '#']);
    let rest = [
        "code",
        "count",
        "number",
        "status",
        "s",
        "reported from esp-tls",
        "captured from",
        "codes",
    ]
    .iter()
    .find_map(|it| rest.strip_prefix(it))
    .unwrap_or(rest)
    .trim_start_matches([' ', ':', '=', '(', '[']);
    let zero = rest.strip_prefix("0x0").or_else(|| rest.strip_prefix('0'));
    zero.is_some_and(|it| {
        let it = it.trim_start_matches('0');
        !it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '.')
    })
}
