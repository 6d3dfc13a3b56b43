//! Texts in which many words are looked for.

use super::record::{LogRecord, RecordLevel};
use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Deref;

/// Bits of pairs of letters.
const BITS: usize = 1024;

/// A text that knows its pairs of letters: most words have one that the text has not, and need not be looked for.
pub(super) struct SearchText<'a> {
    text: Cow<'a, str>,
    /// One bit for each pair of neighbouring bytes; several pairs share one.
    pairs: [u64; BITS / 64],
}

impl<'a> SearchText<'a> {
    /// Reads the pairs of a text.
    pub(super) fn of(text: &'a str) -> Self {
        Self::new(Cow::Borrowed(text))
    }

    /// Reads the pairs of a text in lower case.
    pub(super) fn lower(text: &str) -> SearchText<'static> {
        SearchText::new(Cow::Owned(text.to_ascii_lowercase()))
    }

    fn new(text: Cow<'a, str>) -> Self {
        let mut pairs = [0; BITS / 64];
        for bit in bits(&text) {
            pairs[bit / 64] |= 1 << (bit % 64);
        }
        Self { text, pairs }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    fn has_pairs_of(&self, words: &str) -> bool {
        bits(words).all(|bit| self.pairs[bit / 64] & 1 << (bit % 64) != 0)
    }

    /// Returns whether the text has these words, as [`str::contains`].
    pub(super) fn contains(&self, words: &str) -> bool {
        self.has_pairs_of(words) && self.text.contains(words)
    }

    /// Returns whether the text has this number, as [`has_number`].
    pub(super) fn has_number(&self, number: &str) -> bool {
        self.has_pairs_of(number) && has_number(&self.text, number)
    }

    /// Returns where these words begin, as [`str::find`].
    pub(super) fn find(&self, words: &str) -> Option<usize> {
        self.has_pairs_of(words).then(|| self.text.find(words)).flatten()
    }

    /// Returns what stands before and behind these words, as [`str::split_once`].
    pub(super) fn split_once(&self, words: &str) -> Option<(&str, &str)> {
        self.has_pairs_of(words).then(|| self.text.split_once(words)).flatten()
    }
}

/// Returns whether a text has a number as it is written, and not as a part of another.
pub(super) fn has_number(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + number.len()..].chars().next();
        !before.is_some_and(|it| it.is_ascii_alphanumeric())
            && !after.is_some_and(|it| it.is_ascii_alphanumeric())
    })
}

/// Returns the bit of each pair of neighbouring bytes.
fn bits(text: &str) -> impl Iterator<Item = usize> {
    let second = text.bytes().skip(1);
    text.bytes().zip(second).map(|(a, b)| (usize::from(a) << 5 ^ usize::from(b)) % BITS)
}

/// A record as all readers look at it.
pub(super) struct SearchRecord<'a> {
    pub(super) level: Option<RecordLevel>,
    pub(super) uptime_ms: Option<u64>,
    /// The tag in lower case.
    pub(super) tag: String,
    pub(super) text: SearchText<'a>,
    /// The text in lower case.
    pub(super) lower: SearchText<'static>,
}

impl<'a> SearchRecord<'a> {
    pub(super) fn of(record: &LogRecord<'a>) -> Self {
        let LogRecord { level, uptime_ms, tag, text } = *record;
        let lower = SearchText::lower(text);
        let tag = tag.to_ascii_lowercase();
        Self { level, uptime_ms, tag, text: SearchText::of(text), lower }
    }
}

impl Deref for SearchText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_found_as_in_any_text(text in "[a-cA-C é]{0,12}", words in "[a-c é]{0,3}") {
            let search = SearchText::of(&text);
            prop_assert_eq!(search.contains(&words), text.contains(&words));
            prop_assert_eq!(search.find(&words), text.find(&words));
            prop_assert_eq!(search.split_once(&words), text.split_once(&words));
            let lower = text.to_ascii_lowercase();
            prop_assert_eq!(SearchText::lower(&text).find(&words), lower.find(&words));
        }
    }
}
