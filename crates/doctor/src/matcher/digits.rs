//! Readings that do not depend on digits: the same line with other numbers and another time says the same.

use super::keys::KeySearch;
use super::pattern::LinePattern;
use super::rule::SubjectFamily;
use super::search::{RecordReading, bits, has, has_all, has_one, is_tag, unite};
use super::{Groups, ReadyRule, RuleBook, SearchPattern, Subject, load};
use alloc::string::String;
use alloc::vec::Vec;

/// Knowledge that rules have of digits.
#[derive(Debug)]
pub(super) struct DigitRules {
    /// Looks for the keys of patterns that other digits may meet.
    keys: KeySearch,
    /// For each key those patterns, with 0 in place of each digit, and their places.
    patterns_of: Vec<Vec<(LinePattern, usize)>>,
    /// Components that have digits, with 0 in place of each.
    components: Vec<String>,
    /// Rules that are of a time alone.
    timed: Vec<usize>,
}

/// Returns a byte, 0 in place of a digit.
pub(crate) const fn masked(byte: u8) -> u8 {
    if byte.is_ascii_digit() { b'0' } else { byte }
}

/// Returns a text with 0 in place of each digit.
pub(super) fn mask(text: &str) -> String {
    text.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect()
}

fn has_digits(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_digit())
}

impl SearchPattern {
    /// Returns whether digits decide on a match, or on what it keeps.
    fn knows_digits(&self) -> bool {
        self.denied || self.length || self.pattern.knows_digits()
    }
}

impl DigitRules {
    /// Collects what rules know of digits. `is_of_words` says whether the reading by words knows a pattern by its place.
    pub(super) fn of(
        patterns: &[SearchPattern],
        rules: &[ReadyRule],
        is_of_words: impl Fn(usize) -> bool,
    ) -> Result<Self, String> {
        let known = patterns.iter().enumerate().filter(|it| it.1.knows_digits());
        let masked = known.map(|(at, it)| {
            let pattern = it.pattern.masked();
            (if is_of_words(at) { pattern.anywhere() } else { pattern }, at)
        });
        let known: Vec<(LinePattern, usize)> = masked.collect();
        let (keys, patterns_of) = load::by_key(known.iter().map(|it| (it.0.key(), it.clone())))?;
        let (mut components, mut timed) = (Vec::new(), Vec::new());
        for (at, it) in rules.iter().enumerate() {
            let named = it.rule.component.iter().chain(&it.rule.not_component);
            components.extend(named.filter(|it| has_digits(it)).map(|it| mask(it)));
            if it.rule.from_ms.or(it.rule.until_ms).is_some() {
                timed.push(at);
            }
        }
        Ok(Self { keys, patterns_of, components, timed })
    }
}

impl RuleBook {
    /// Adds the groups of patterns that a text may have with other digits.
    fn add_varying(&self, groups: &mut Groups, text: &str, groups_of: &[Groups]) {
        if !has_digits(text) {
            return;
        }
        let text = mask(text);
        for hit in self.digits.keys.all(&text) {
            for (pattern, at) in &self.digits.patterns_of[hit.pattern().as_usize()] {
                if pattern.at(&text, hit.start()).is_some() {
                    unite(groups, &groups_of[*at]);
                }
            }
        }
    }
}

impl RecordReading<'_> {
    /// Returns whether the record would be read alike with other digits in the place of its own, and at another time.
    #[must_use]
    pub fn is_alike_for_all_digits(&self) -> bool {
        let book = self.book;
        let mut varying = book.no_groups();
        book.add_varying(&mut varying, &self.text, &book.groups_of);
        book.add_varying(&mut varying, &self.tag, &book.tag_groups_of);
        !self.has_numbered_tag() && !self.is_timed() && !self.may_change(&varying)
    }

    /// Returns whether a rule may come or go with groups of patterns.
    fn may_change(&self, varying: &Groups) -> bool {
        let book = self.book;
        if has_one(varying, &book.signs) {
            return true;
        }
        let mut all = self.whole.groups.clone();
        unite(&mut all, varying);
        let candidates = |words: usize| bits(&all).flat_map(move |it| &book.rules_of[words][it]);
        let own = candidates(0).chain(candidates(1)).chain(&book.of_component);
        // What the reader knows of a part of the text may be so.
        let mut known = all.clone();
        book.fact_groups_of.iter().for_each(|it| unite(&mut known, it));
        own.map(|it| &book.rules[*it]).any(|it| {
            let knows = [&it.needs, &it.excludes, &it.excuses];
            knows.iter().any(|it| has_one(varying, it))
                && has_all(&known, &it.needs)
                && it.rule.is_of_part(self.record.level, &self.tag)
        })
    }

    /// Returns whether a rule is of a component that has the tag's letters, and digits.
    fn has_numbered_tag(&self) -> bool {
        let of_tag = |tag: &str| self.book.digits.components.iter().any(|it| is_tag(it, tag));
        has_digits(&self.tag) && of_tag(&mask(&self.tag))
    }

    /// Returns whether a rule may meet the record at some times alone.
    fn is_timed(&self) -> bool {
        let is_timed = |it: &usize| {
            let ready = &self.book.rules[*it];
            ready.rule.is_of_part(self.record.level, &self.tag)
                && ready.key.is_none_or(|it| has(&self.whole.groups, it))
        };
        self.tag == "boot" || self.book.digits.timed.iter().any(is_timed)
    }

    /// Returns whether the record's words tell nothing, whatever the lines before it speak of.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        use SubjectFamily::{Broker, EspNow, Other, Server, Wifi};
        let subjects = [Wifi, Broker, Server, EspNow, Other].into_iter().flat_map(|family| {
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(pending, restarts)| Some(Subject { family, pending, restarts }))
        });
        !self.may_tell() || subjects.chain([None]).all(|it| self.words(it).is_none())
    }
}
