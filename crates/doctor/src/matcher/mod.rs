//! Rules as data, and what finds them in a log.
//!
//! | module | contents |
//! |---|---|
//! | `cause` | causes as data, by the signs that rules name |
//! | `denial` | signs of failure that are denied by what stands around them |
//! | `event` | what a rule that matched tells |
//! | `load` | rules that were read, made ready for the search |
//! | `mbedtls` | errors of mbedTLS by number |
//! | `pattern` | the language of patterns |
//! | `rule` | files of rules as people write them |
//!
//! One automaton looks for the longest literal text of each pattern; only patterns whose text is there are tried, and only
//! rules whose patterns match.

pub mod cause;
mod denial;
mod event;
mod load;
pub mod mbedtls;
pub mod pattern;
pub mod rule;

pub use load::RuleFault;

use crate::log::{LogEvent, LogRecord};
use aho_corasick::AhoCorasick;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use cause::CauseRecord;
use denial::is_denied;
use mbedtls::TlsCodes;
use once_cell::race::OnceBox;
use pattern::{Match, Pattern};
use rule::Rule;

/// A set of groups of patterns, a bit each.
type Groups = Box<[u64]>;

/// A rule that was made ready.
#[derive(Debug)]
struct ReadyRule {
    rule: Rule,
    topic: usize,
    /// Groups of which each has a match.
    needs: Groups,
    /// Groups of which none has one.
    excludes: Groups,
    /// Groups beside which those do not count.
    excuses: Groups,
    /// Group of the rule's own patterns; none of a rule that is of a component alone.
    key: Option<usize>,
    /// Group of which one stands behind the rule's own patterns.
    behind: Option<usize>,
    /// Group of which one stands in front of them.
    in_front: Option<usize>,
}

/// A topic of rules.
#[derive(Debug)]
struct Topic {
    name: String,
    turn: u8,
    aside: bool,
}

/// Rules, ready for the search.
#[derive(Debug)]
pub struct RuleBook {
    /// Looks for the keys of all patterns.
    automaton: AhoCorasick,
    /// For each key its patterns.
    patterns_of: Vec<Vec<usize>>,
    patterns: Vec<SearchPattern>,
    /// For each pattern the groups that it is in where the message has it.
    groups_of: Vec<Groups>,
    /// The same where the tag has it.
    tag_groups_of: Vec<Groups>,
    /// For each group the rules whose own patterns it has.
    rules_of: Vec<Vec<usize>>,
    /// Rules of a component alone.
    of_component: Vec<usize>,
    rules: Vec<ReadyRule>,
    topics: Vec<Topic>,
    causes: Vec<CauseRecord>,
    tls: TlsCodes,
    /// Number of groups.
    groups: usize,
}

/// A pattern that is looked for.
#[derive(Debug)]
struct SearchPattern {
    pattern: Pattern,
    /// Whether it counts only where nothing denies it.
    denied: bool,
}

/// A pattern that matched.
#[derive(Clone, Copy, Debug)]
struct Hit {
    pattern: usize,
    found: Match,
}

/// A rule that tells what a record says.
#[derive(Clone, Copy, Debug)]
pub struct RuleHit {
    /// The rule.
    pub rule: &'static Rule,
    /// Where its pattern is in the message, and its captures.
    pub found: Match,
    /// Event; none where the line is in order.
    pub event: Option<LogEvent>,
    /// Topic of the rule.
    pub topic: &'static str,
    /// Whether the line is in order, whatever else it says.
    pub is_harmless: bool,
}

static BUILT_IN: OnceBox<RuleBook> = OnceBox::new();

impl RuleBook {
    /// Returns the rules that the doctor has of its own.
    ///
    /// # Panics
    /// Where they are wrong, which a test excludes.
    #[must_use]
    pub fn built_in() -> &'static Self {
        BUILT_IN.get_or_init(|| Box::new(Self::read(&[]).expect("the rules are tested")))
    }

    /// Returns all rules.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|it| &it.rule)
    }

    /// Returns the errors of mbedTLS.
    #[must_use]
    pub const fn tls(&self) -> &TlsCodes {
        &self.tls
    }

    /// Returns all causes that rules name.
    pub fn causes(&self) -> impl Iterator<Item = &CauseRecord> {
        self.causes.iter()
    }

    /// Returns the rules that tell what a record says: of each topic the one that comes first.
    #[must_use]
    pub fn told(&'static self, record: &LogRecord<'_>) -> Vec<RuleHit> {
        let text = pattern::lower(record.text);
        let mut groups = alloc::vec![0; self.groups.div_ceil(64)].into_boxed_slice();
        let hits = self.hits(&text, &self.groups_of, &mut groups);
        let tag = pattern::lower(record.tag);
        self.hits(&tag, &self.tag_groups_of, &mut groups);
        let mut best: Vec<Option<(usize, Match)>> = alloc::vec![None; self.topics.len()];
        let keys = groups
            .iter()
            .enumerate()
            .flat_map(|(word, bits)| Bits(*bits).map(move |it| word * 64 + it));
        let candidates = keys.flat_map(|it| &self.rules_of[it]).chain(&self.of_component);
        for &at in candidates {
            let ready = &self.rules[at];
            let place = &mut best[ready.topic];
            let before = |other: usize| {
                (self.rules[other].rule.priority, core::cmp::Reverse(other))
                    > (ready.rule.priority, core::cmp::Reverse(at))
            };
            if place.is_some_and(|it| it.0 == at || before(it.0)) {
                continue;
            }
            if let Some(found) = self.meets(ready, record, &tag, &text, &hits, &groups) {
                *place = Some((at, found));
            }
        }
        let mut turns: Vec<usize> = (0..self.topics.len()).collect();
        turns.sort_by_key(|it| self.topics[*it].turn);
        let mut told: Vec<RuleHit> = Vec::new();
        let (mut turn, mut decided) = (0, false);
        for topic in turns {
            let next = self.topics[topic].turn;
            if next > turn && decided {
                break;
            }
            turn = next;

            let Some((at, found)) = best[topic] else { continue };
            let rule = &self.rules[at].rule;
            let event = event::of(rule, &found, record.text, &text);
            decided |= turn == 0 || event.is_some() && !self.topics[topic].aside;
            let topic = &self.topics[topic].name;
            told.push(RuleHit { rule, found, event, topic, is_harmless: turn == 0 });
        }
        told
    }

    /// Finds the patterns of a text of lower case, and adds the groups that they are in.
    fn hits(&self, text: &str, groups_of: &[Groups], groups: &mut Groups) -> Vec<Hit> {
        let mut hits = Vec::new();
        for key in self.automaton.find_overlapping_iter(text) {
            for &at in &self.patterns_of[key.pattern().as_usize()] {
                let SearchPattern { pattern, denied } = &self.patterns[at];
                let found = pattern.at(text, key.start());
                if let Some(found) = found.filter(|it| !(*denied && is_denied(text, it))) {
                    hits.push(Hit { pattern: at, found });
                    unite(groups, &groups_of[at]);
                }
            }
        }
        hits
    }

    /// Returns the match of a rule that a record meets.
    fn meets(
        &self,
        ready: &ReadyRule,
        record: &LogRecord<'_>,
        tag: &str,
        text: &str,
        hits: &[Hit],
        groups: &[u64],
    ) -> Option<Match> {
        let rule = &ready.rule;
        let fits = rule.is_of(record, tag)
            && covers(groups, &ready.needs)
            && (!meet(groups, &ready.excludes) || meet(groups, &ready.excuses));
        if !fits {
            return None;
        }
        let Some(key) = ready.key else { return Some(Match::default()) };
        let of =
            |group: usize| hits.iter().filter(move |it| has(&self.groups_of[it.pattern], group));
        let stands = |group: Option<usize>, is: &dyn Fn(&Match) -> bool| {
            group.is_none_or(|it| of(it).any(|it| is(&it.found)))
        };
        // Where the tag has the pattern, there is no place in the message.
        let in_tag = of(key).next().is_none().then(Match::default);
        of(key).map(|it| it.found).chain(in_tag).find(|own| {
            rule.takes(own, text)
                && rule.tls.is_none_or(|it| self.tls.meaning_of(own.number()) == Some(it))
                && stands(ready.behind, &|it| it.start >= own.end)
                && stands(ready.in_front, &|it| it.end <= own.start)
        })
    }
}

impl Rule {
    /// Returns whether the rule is of the part, level and time of a record; `tag` is of lower case.
    fn is_of(&self, record: &LogRecord<'_>, tag: &str) -> bool {
        let has = |tags: &[String]| tags.iter().any(|it| is_tag(it, tag));
        let level = || record.level.is_some_and(|it| self.level.contains(&it));
        let since = self.from_ms.is_none_or(|from| record.uptime_ms.is_some_and(|it| it >= from));
        let until = self.until_ms.is_none_or(|to| record.uptime_ms.is_some_and(|it| it < to));
        (self.level.is_empty() || level())
            && (self.component.is_empty() || has(&self.component))
            && !has(&self.not_component)
            && since
            && until
    }

    /// Returns whether the numbers and the word of a match are those of the rule.
    fn takes(&self, found: &Match, text: &str) -> bool {
        let within = |it: i64| self.values.iter().any(|[from, to]| (*from..=*to).contains(&it));
        let number = |at: usize| found.numbers.get(at.checked_sub(1)?).copied().flatten();
        (self.values.is_empty() || found.number().is_some_and(within))
            && self.differ.is_none_or(|[a, b]| number(a) != number(b))
            && self.equal.is_none_or(|[a, b]| number(a) == number(b))
            && (self.map.is_empty()
                || word(found, text).is_some_and(|it| self.map.contains_key(it)))
    }
}

/// Returns whether a tag of lower case is one that a rule names.
fn is_tag(named: &str, tag: &str) -> bool {
    match (named.strip_prefix('*'), named.strip_suffix('*')) {
        (Some(rest), Some(_)) => rest.strip_suffix('*').is_some_and(|it| tag.contains(it)),
        (None, Some(begin)) => tag.starts_with(begin),
        _ => tag == named,
    }
}

/// Returns the first word of a match.
fn word<'a>(found: &Match, text: &'a str) -> Option<&'a str> {
    found.word.and_then(|(from, to)| text.get(from..to))
}

/// Rules that a log was read with.
#[derive(Clone, Copy, Debug)]
pub struct RulesOfLog(pub &'static RuleBook);

impl Default for RulesOfLog {
    fn default() -> Self {
        Self(RuleBook::built_in())
    }
}

impl PartialEq for RulesOfLog {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for RulesOfLog {}

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

fn unite(set: &mut [u64], with: &[u64]) {
    set.iter_mut().zip(with).for_each(|(a, b)| *a |= b);
}

fn covers(set: &[u64], part: &[u64]) -> bool {
    set.iter().zip(part).all(|(a, b)| a & b == *b)
}

fn meet(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

fn has(set: &[u64], bit: usize) -> bool {
    set[bit / 64] & 1 << (bit % 64) != 0
}
