//! A record that is read: which patterns it has, and which rules it meets.

use super::denial::{is_denied, is_setting};
use super::explain::RuleOutcome;
use super::pattern::{self, Match};
use super::rule::Rule;
use super::{Groups, ReadyRule, RuleBook, RuleHit, SearchPattern, event};
use crate::log::{LogRecord, RecordLevel};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::cmp::Reverse;
use core::ops::Range;

/// A key that a text has: its number and its place.
#[derive(Clone, Copy, Debug)]
struct KeyHit {
    key: usize,
    start: usize,
    end: usize,
}

/// A pattern that matched.
#[derive(Clone, Copy, Debug)]
struct Hit {
    pattern: usize,
    found: Match,
}

/// A part of the text of a record, or its tag, with the patterns that it has.
#[derive(Clone, Debug)]
pub(super) struct TextView {
    part: Range<usize>,
    in_tag: bool,
    hits: Vec<Hit>,
    pub(super) groups: Groups,
}

/// Rules that come first in their topics: topic, rule and match.
#[derive(Debug, Default)]
pub(super) struct BestRules(Vec<(usize, usize, Match)>);

impl BestRules {
    /// Returns the rule that comes first in a topic, with its match.
    pub(super) fn of(&self, topic: usize) -> Option<(usize, Match)> {
        self.0.iter().find(|it| it.0 == topic).map(|it| (it.1, it.2))
    }

    /// Returns all rules.
    pub(super) fn rules(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|it| it.1)
    }
}

/// A record that is read.
#[derive(Debug)]
pub struct RecordReading<'r> {
    pub(super) book: &'static RuleBook,
    pub(super) record: &'r LogRecord<'r>,
    /// Text and tag in lower case.
    pub(super) text: String,
    pub(super) tag: String,
    keys: Vec<KeyHit>,
    tag_keys: Vec<KeyHit>,
    /// The whole text.
    pub(super) whole: TextView,
    /// Rules of the reading by words that the whole text meets.
    words: OnceCell<BestRules>,
}

impl<'r> RecordReading<'r> {
    pub(super) fn of(book: &'static RuleBook, record: &'r LogRecord<'r>) -> Self {
        let (text, tag) = (pattern::lower(record.text), pattern::lower(record.tag));
        let (keys, tag_keys) = (book.keys(&text), book.keys(&tag));
        let mut whole = book.view(&text, 0..text.len(), &keys);
        book.add_tag(&mut whole.groups, &tag, &tag_keys);
        Self { book, record, text, tag, keys, tag_keys, whole, words: OnceCell::new() }
    }

    /// Returns the text of a part.
    pub(super) fn text_of(&self, view: &TextView) -> &str {
        let text = if view.in_tag { &self.tag } else { &self.text };
        &text[view.part.clone()]
    }

    /// Returns the rules of the reading by words that the whole text meets.
    pub(super) fn whole_words(&self) -> &BestRules {
        self.words.get_or_init(|| self.best(&self.whole, true))
    }

    /// Returns whether a rule of the reading by words may meet the record.
    pub(super) fn may_speak(&self) -> bool {
        meet(&self.whole.groups, &self.book.word_keys)
    }

    /// Returns whether a rule of the reading by words may tell something: the text has a sign, or what tells without one.
    pub(super) fn may_tell(&self) -> bool {
        meet(&self.whole.groups, &self.book.word_tells)
    }

    /// Returns the rules that tell what the record says: of each topic the one that comes first.
    #[must_use]
    pub fn told(&self) -> Vec<RuleHit> {
        let book = self.book;
        let best = self.best(&self.whole, false);
        let mut told: Vec<RuleHit> = Vec::new();
        let (mut turn, mut decided) = (0, false);
        for &topic in &book.turns {
            let next = book.topics[topic].turn;
            if next > turn && decided {
                break;
            }
            turn = next;
            let Some((at, found)) = best.of(topic) else { continue };
            let rule = &book.rules[at].rule;
            let event = event::of(rule, &found, self.record.text, &self.text);
            decided |= turn == 0 || event.is_some() && !book.topics[topic].aside;
            let topic = &book.topics[topic].name;
            told.push(RuleHit { rule, found, event, topic, is_harmless: turn == 0 });
        }
        told
    }

    /// Returns the rules that come first in their topics, whatever the turn: all but the reading by words.
    #[must_use]
    pub fn met(&self) -> Vec<&'static Rule> {
        let best = self.best(&self.whole, false);
        best.rules().map(|it| &self.book.rules[it].rule).collect()
    }

    /// Returns the rules one of whose own patterns the record has: all but the reading by words.
    pub(super) fn touched(&self) -> Vec<&'static Rule> {
        let rules_of = &self.book.rules_of[0];
        let mut rules: Vec<usize> =
            bits(&self.whole.groups).flat_map(|it| &rules_of[it]).copied().collect();
        rules.sort_unstable();
        rules.dedup();
        rules.into_iter().map(|it| &self.book.rules[it].rule).collect()
    }

    /// Returns why a rule does not tell, whose pattern the record has. `met` are those that come first in their topics.
    pub(super) fn why_not(&self, rule: &Rule, met: &[&'static Rule]) -> RuleOutcome {
        let Some(ready) = self.book.rules.iter().find(|it| core::ptr::eq(&raw const it.rule, rule))
        else {
            return RuleOutcome::OtherValue;
        };
        let groups = &self.whole.groups;
        if !rule.is_of(self.record, &self.tag) {
            return RuleOutcome::OtherPart;
        }
        let lacks = ready.with.iter().position(|it| !has(groups, *it));
        if let Some(list) = lacks {
            return RuleOutcome::Lacks(list + 1);
        }
        if has_one(groups, &ready.excludes) && !has_one(groups, &ready.excuses) {
            return RuleOutcome::Excluded;
        }
        let of_topic = |it: &&&'static Rule| {
            let other =
                self.book.rules.iter().find(|other| core::ptr::eq(&raw const other.rule, **it));
            other.is_some_and(|it| it.topic == ready.topic)
        };
        match met.iter().find(of_topic) {
            Some(first) if self.meets(ready, &self.whole).is_some() => {
                RuleOutcome::Behind(first.name.clone())
            }
            _ => RuleOutcome::OtherValue,
        }
    }

    /// Returns a part of the text with its patterns, and with those of the tag.
    pub(super) fn view(&self, part: Range<usize>) -> TextView {
        if part == self.whole.part {
            return self.whole.clone();
        }
        let mut view = self.book.view(&self.text, part, &self.keys);
        self.book.add_tag(&mut view.groups, &self.tag, &self.tag_keys);
        view
    }

    /// Returns the tag as a text.
    pub(super) fn tag_view(&self) -> TextView {
        let view = self.book.view(&self.tag, 0..self.tag.len(), &self.tag_keys);
        TextView { in_tag: true, ..view }
    }

    /// Returns the rules that come first in their topics: of the reading by words, or all others.
    pub(super) fn best(&self, view: &TextView, words: bool) -> BestRules {
        let book = self.book;
        let mut best = BestRules::default();
        let rules_of = &book.rules_of[usize::from(words)];
        let of_component: &[usize] = if words { &[] } else { &book.of_component };
        let candidates = bits(&view.groups).flat_map(|it| &rules_of[it]).chain(of_component);
        let rank = |at: usize| (book.rules[at].rule.priority, Reverse(at));
        for &at in candidates {
            let ready = &book.rules[at];
            let place = best.0.iter_mut().find(|it| it.0 == ready.topic);
            if place.as_ref().is_some_and(|it| rank(it.1) >= rank(at)) {
                continue;
            }
            let Some(found) = self.meets(ready, view) else { continue };
            match place {
                Some(place) => *place = (ready.topic, at, found),
                None => best.0.push((ready.topic, at, found)),
            }
        }
        best
    }

    /// Returns the match of a rule that a text of the record meets.
    fn meets(&self, ready: &ReadyRule, view: &TextView) -> Option<Match> {
        let (rule, groups) = (&ready.rule, &view.groups);
        let fits = has_all(groups, &ready.needs)
            && (!has_one(groups, &ready.excludes) || has_one(groups, &ready.excuses))
            && rule.is_of(self.record, &self.tag);
        if !fits {
            return None;
        }
        let Some(key) = ready.key else { return Some(Match::default()) };
        let groups_of = &self.book.groups_of;
        let of = |group: usize| {
            let own = view.hits.iter().filter(move |it| has(&groups_of[it.pattern], group));
            own.map(|it| it.found)
        };
        let stands = |group: Option<usize>, is: &dyn Fn(&Match) -> bool| {
            group.is_none_or(|it| of(it).any(|it| is(&it)))
        };
        // Where the tag has the pattern, there is no place in the message.
        let in_tag = of(key).next().is_none().then(Match::default);
        of(key).chain(in_tag).find(|own| {
            rule.takes(own, self.text_of(view))
                && rule.tls.is_none_or(|it| self.book.tls.meaning_of(own.number()) == Some(it))
                && stands(ready.behind, &|it| it.start >= own.end)
                && stands(ready.in_front, &|it| it.end <= own.start)
        })
    }
}

impl RuleBook {
    /// Finds the keys of a text of lower case.
    fn keys(&self, text: &str) -> Vec<KeyHit> {
        self.automaton
            .all(text)
            .map(|it| KeyHit { key: it.pattern().as_usize(), start: it.start(), end: it.end() })
            .collect()
    }

    /// Returns a part of a text with its patterns.
    fn view(&self, text: &str, part: Range<usize>, keys: &[KeyHit]) -> TextView {
        let (from, to) = (part.start, part.end);
        let text = &text[part.clone()];
        let mut groups = self.no_groups();
        let mut hits = Vec::new();
        for key in keys.iter().filter(|it| it.start >= from && it.end <= to) {
            for &at in &self.patterns_of[key.key] {
                if let Some(found) = self.patterns[at].at(text, key.start - from) {
                    hits.push(Hit { pattern: at, found });
                    unite(&mut groups, &self.groups_of[at]);
                }
            }
        }
        TextView { part, in_tag: false, hits, groups }
    }

    fn add_tag(&self, groups: &mut Groups, tag: &str, keys: &[KeyHit]) {
        for key in keys {
            for &at in &self.patterns_of[key.key] {
                if self.patterns[at].at(tag, key.start).is_some() {
                    unite(groups, &self.tag_groups_of[at]);
                }
            }
        }
    }

    pub(super) fn no_groups(&self) -> Groups {
        alloc::vec![0; self.groups.div_ceil(64)].into_boxed_slice()
    }
}

impl TextView {
    /// Returns where the first pattern of a group is.
    pub(super) fn first(&self, book: &RuleBook, group: usize) -> Option<usize> {
        if !has(&self.groups, group) {
            return None;
        }
        let own = self.hits.iter().filter(|it| has(&book.groups_of[it.pattern], group));
        own.map(|it| it.found.start).min()
    }

    /// Adds a fact that the reader knows of the text.
    pub(super) fn know(&mut self, book: &RuleBook, fact: usize) {
        unite(&mut self.groups, &book.fact_groups_of[fact]);
    }
}

impl SearchPattern {
    /// Finds the pattern at the place of its key.
    fn at(&self, text: &str, key: usize) -> Option<Match> {
        let counts = |it: &Match| {
            let is_none = self.denied && is_denied(text, it);
            !(is_none || self.length && is_setting(text, it))
        };
        self.pattern.at(text, key).filter(counts)
    }
}

impl Rule {
    /// Returns whether the rule is of the part, level and time of a record; `tag` is of lower case.
    fn is_of(&self, record: &LogRecord<'_>, tag: &str) -> bool {
        let since = self.from_ms.is_none_or(|from| record.uptime_ms.is_some_and(|it| it >= from));
        let until = self.until_ms.is_none_or(|to| record.uptime_ms.is_some_and(|it| it < to));
        self.is_of_part(record.level, tag) && since && until
    }

    /// Returns whether the rule is of a part and a level; `tag` is of lower case.
    pub(super) fn is_of_part(&self, level: Option<RecordLevel>, tag: &str) -> bool {
        let has = |tags: &[String]| tags.iter().any(|it| is_tag(it, tag));
        (self.level.is_empty() || level.is_some_and(|it| self.level.contains(&it)))
            && !level.is_some_and(|it| self.not_level.contains(&it))
            && (self.component.is_empty() || has(&self.component))
            && !has(&self.not_component)
    }

    /// Returns whether the numbers and the word of a match are those of the rule.
    fn takes(&self, found: &Match, text: &str) -> bool {
        let within = |it: i64| self.values.iter().any(|[from, to]| (*from..=*to).contains(&it));
        let number = |at: usize| found.numbers().get(at.checked_sub(1)?).copied();
        (self.values.is_empty() || found.number().is_some_and(within))
            && self.differ.is_none_or(|[a, b]| number(a) != number(b))
            && self.equal.is_none_or(|[a, b]| number(a) == number(b))
            && (self.map.is_empty()
                || word(found, text).is_some_and(|it| self.map.contains_key(it)))
    }
}

/// Returns whether a tag of lower case is one that a rule names.
pub(super) fn is_tag(named: &str, tag: &str) -> bool {
    match (named.strip_prefix('*'), named.strip_suffix('*')) {
        (Some(rest), Some(_)) => rest.strip_suffix('*').is_some_and(|it| tag.contains(it)),
        (None, Some(begin)) => tag.starts_with(begin),
        _ => tag == named,
    }
}

/// Returns the first word of a match.
pub(super) fn word<'a>(found: &Match, text: &'a str) -> Option<&'a str> {
    found.word.and_then(|(from, to)| text.get(from..to))
}

/// Returns the places of the bits of a set.
pub(super) fn bits(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(at, word)| Bits(*word).map(move |it| at * 64 + it))
}

/// Places of the bits of a word.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (at < 64).then_some(at)
    }
}

pub(super) fn unite(set: &mut [u64], with: &[u64]) {
    set.iter_mut().zip(with).for_each(|(a, b)| *a |= b);
}

pub(super) fn has_all(set: &[u64], bits: &[usize]) -> bool {
    bits.iter().all(|it| has(set, *it))
}

pub(super) fn has_one(set: &[u64], bits: &[usize]) -> bool {
    bits.iter().any(|it| has(set, *it))
}

fn meet(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

pub(super) fn has(set: &[u64], bit: usize) -> bool {
    set[bit / 64] & 1 << (bit % 64) != 0
}
