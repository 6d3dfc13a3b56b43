//! Words of messages: numbers of things, and help about a text that somebody wrote: the position of a mistake, and the
//! word that was probably meant. The readers of plans, labs and profiles use it.

use core::fmt;

/// A number of things in words: `1 cell`, `2 cells`.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    n: u64,
    one: &'a str,
    many: Option<&'a str>,
}

/// Counts things whose plural has an `s` more: `count(2, "more cell")`.
#[must_use]
pub const fn count(n: usize, one: &str) -> Counted<'_> {
    Counted { n: n as u64, one, many: None }
}

/// Counts things whose plural is a word of its own: `counted(2, "copy", "copies")`.
#[must_use]
pub const fn counted<'a>(n: u64, one: &'a str, many: &'a str) -> Counted<'a> {
    Counted { n, one, many: Some(many) }
}

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, one, many } = *self;
        match many {
            _ if n == 1 => write!(f, "{n} {one}"),
            Some(many) => write!(f, "{n} {many}"),
            None => write!(f, "{n} {one}s"),
        }
    }
}

/// Returns line and column of a byte of a text, both from 1; columns count characters.
#[must_use]
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Words that people write for a key or a test, and its name.
const SYNONYMS: [(&str, &str); 15] = [
    ("devices", "count"),
    ("number", "count"),
    ("count", "runs"),
    ("runs", "count"),
    ("nodes", "devices"),
    ("stations", "devices"),
    ("duration", "time"),
    ("seconds", "time"),
    ("bytes", "size"),
    ("length", "size"),
    ("payload", "size"),
    ("distance", "distance_m"),
    ("power", "power_dbm"),
    ("rate", "offered"),
    ("round-trip", "ping"),
];

/// Finds the known word that was probably meant: another word for the same, or else the one that a misspelt word most
/// resembles, with at most three edits, and fewer than half of the letters of the longer word.
#[must_use]
pub fn meant<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let same = SYNONYMS.iter().filter(|it| it.0 == word);
    let same = same.filter_map(|it| known.iter().find(|known| **known == it.1)).next();
    same.copied().or_else(|| {
        let (edits, near) = ranked(word, known).first().copied()?;
        let long = word.chars().count().max(near.chars().count());
        (edits <= 3 && 2 * edits < long).then_some(near)
    })
}

/// Number of words that [`Hint`] names of many.
const NEAREST: usize = 5;

/// Returns the known words that need the fewest edits, with their number.
fn ranked<'k>(word: &str, known: &[&'k str]) -> heapless::Vec<(usize, &'k str), NEAREST> {
    let mut best: heapless::Vec<(usize, &'k str), NEAREST> = heapless::Vec::new();
    for known in known {
        let Some(edits) = distance(word, known) else { continue };
        let at = best.iter().position(|it| edits < it.0).unwrap_or(best.len());
        if best.is_full() && at < NEAREST {
            best.pop();
        }
        // Where it is full, this one is farther than all.
        let _ = best.insert(at, (edits, known));
    }
    best
}

/// Known words beside which those few are named that are near.
const MOST_LISTED: usize = 32;

/// Known words that are still listed beside a guess.
const MOST_BESIDE_GUESS: usize = 12;

/// A hint at the words to use instead of an unknown one: what was probably meant, and those that are known, or the
/// nearest of many.
#[derive(Clone, Copy, Debug)]
pub struct Hint<'a> {
    /// The unknown word.
    pub word: &'a str,
    /// The known ones.
    pub known: &'a [&'a str],
}

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, known } = *self;
        let guess = meant(word, known);
        match guess {
            _ if known.is_empty() => return f.write_str(": none is known here"),
            Some(guess) => write!(f, ". Did you mean `{guess}`?")?,
            None => f.write_str(".")?,
        }
        match (guess, known.len()) {
            (Some(_), 0..=MOST_BESIDE_GUESS) | (None, 0..=MOST_LISTED) => {
                f.write_str(" Known here: ")?;
                list(f, known.iter())
            }
            (Some(_), _) => Ok(()),
            (None, many) => {
                write!(f, " The nearest of {many} are ")?;
                list(f, ranked(word, known).iter().map(|it| &it.1))
            }
        }
    }
}

fn list<'a>(f: &mut fmt::Formatter<'_>, words: impl Iterator<Item = &'a &'a str>) -> fmt::Result {
    for (at, word) in words.enumerate() {
        write!(f, "{}{word}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}

/// Greatest length of a word that is compared, in characters.
const LONGEST: usize = 64;

/// Computes the edit distance with swapped neighbours as one edit (Damerau 1964, optimal string alignment); `None` where
/// `b` is longer than [`LONGEST`].
fn distance(a: &str, b: &str) -> Option<usize> {
    let b: heapless::Vec<char, LONGEST> = collect(b)?;
    let mut row: [usize; LONGEST + 1] = core::array::from_fn(|at| at);
    let mut above = row;
    let mut before = None;
    for (i, x) in a.chars().enumerate() {
        let older = core::mem::replace(&mut above, row);
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = above[j] + usize::from(x != *y);
            row[j + 1] = cost.min(row[j] + 1).min(above[j + 1] + 1);
            if j > 0 && before == Some(*y) && b[j - 1] == x {
                row[j + 1] = row[j + 1].min(older[j - 1] + 1);
            }
        }
        before = Some(x);
    }
    Some(row[b.len()])
}

fn collect(word: &str) -> Option<heapless::Vec<char, LONGEST>> {
    let mut list = heapless::Vec::new();
    word.chars().try_for_each(|letter| list.push(letter)).ok()?;
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let text = "title = \"Büro\"\r\nx = ü1";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, text.find('\r').unwrap()), (1, 15));
        assert_eq!(place(text, text.find('1').unwrap()), (2, 6));
        // Within a character: where the character begins; beyond the end: the end.
        assert_eq!(place(text, text.find("ü1").unwrap() + 1), (2, 5));
        assert_eq!(place(text, 1000), (2, 7));
    }

    #[test]
    fn a_misspelt_word_is_known_by_most_of_its_letters() {
        let known = ["channel", "chip", "at", "kitten"];
        assert_eq!(meant("chanel", &known), Some("channel"));
        assert_eq!(meant("sitting", &known), Some("kitten"));
        assert_eq!(meant("lgo", &["log", "release"]), Some("log"));
        assert_eq!([meant("x", &["y"]), meant("up", &["at"]), meant("colour", &known)], [None; 3]);
        assert_eq!(meant("", &known), None);
        assert_eq!(meant("nolab", &["ota", "room-home"]), None, "most of it is another word");
        assert_eq!(
            meant("devices", &["device", "count"]),
            Some("count"),
            "another word for the same"
        );
        let long = "a".repeat(100_000);
        assert_eq!(meant(&long, &known), None);
        assert_eq!(meant("channel", &[&long, "channels"]), Some("channels"));
    }

    #[test]
    fn the_distance_is_levenshteins_with_swaps() {
        for (a, b, edits) in
            [("kitten", "sitting", 3), ("flaw", "lawn", 2), ("", "abc", 3), ("lgo", "log", 1)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (Some(edits), Some(edits)));
        }
    }

    #[test]
    fn plurals_agree() {
        extern crate std;
        use std::string::ToString as _;
        let all = [0, 1, 2].map(|n| count(n, "more cell").to_string());
        assert_eq!(all, ["0 more cells", "1 more cell", "2 more cells"]);
        assert_eq!(
            [1, 3].map(|n| counted(n, "copy", "copies").to_string()),
            ["1 copy", "3 copies"]
        );
    }

    #[test]
    fn of_many_words_those_are_told_that_are_near() {
        extern crate std;
        use std::string::ToString as _;
        use std::vec::Vec;
        let hint = |word, known| Hint { word, known }.to_string();
        assert_eq!(hint("x", &[]), ": none is known here");
        assert_eq!(
            hint("chanel", &["at", "channel"]),
            ". Did you mean `channel`? Known here: at, channel"
        );
        assert_eq!(hint("zzzzzz", &["at", "channel"]), ". Known here: at, channel");
        let many: Vec<std::string::String> = (10..50).map(|it| std::format!("key{it}")).collect();
        let many: Vec<&str> = many.iter().map(|it| &**it).collect();
        assert_eq!(hint("key1", &many), ". Did you mean `key10`?");
        let far = hint("x12", &many);
        assert_eq!(far, ". The nearest of 40 are key12, key10, key11, key13, key14");
    }
}
