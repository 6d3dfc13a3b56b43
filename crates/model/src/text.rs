//! Help for error messages about a text that somebody wrote: the position of a mistake, and the
//! word that was probably meant. The readers of plans, labs and profiles use it.

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

/// Finds the known word that a misspelt one most resembles: at most three edits away, and fewer
/// edits than the longer of the two words has letters.
#[must_use]
pub fn meant<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let with = |known: &'k str| Some((distance(word, known)?, known));
    let near = known.iter().filter_map(|known| with(known)).min_by_key(|(distance, _)| *distance);
    let (distance, near) = near?;
    let long = word.chars().count().max(near.chars().count());
    (distance <= 3 && distance < long).then_some(near)
}

/// Greatest length of a word that is compared, in characters.
const LONGEST: usize = 64;

/// Computes Levenshtein's edit distance (1966); `None` where `b` is longer than [`LONGEST`].
fn distance(a: &str, b: &str) -> Option<usize> {
    let b: heapless::Vec<char, LONGEST> = collect(b)?;
    let mut row: [usize; LONGEST + 1] = core::array::from_fn(|at| at);
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
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
        let long = "a".repeat(100_000);
        assert_eq!(meant(&long, &known), None);
        assert_eq!(meant("channel", &[&long, "channels"]), Some("channels"));
    }

    #[test]
    fn the_distance_is_levenshteins() {
        for (a, b, edits) in [("kitten", "sitting", 3), ("flaw", "lawn", 2), ("", "abc", 3)] {
            assert_eq!((distance(a, b), distance(b, a)), (Some(edits), Some(edits)));
        }
    }
}
