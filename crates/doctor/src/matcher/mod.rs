//! Rules as data, and what finds them in a log.
//!
//! | module | contents |
//! |---|---|
//! | `cause` | causes as data, by the signs that rules name |
//! | `load` | rules that were read, made ready for the search |
//! | `mbedtls` | errors of mbedTLS by number |
//! | `pattern` | the language of patterns |
//! | `rule` | files of rules as people write them |
//!
//! One automaton looks for the longest literal text of each pattern; only patterns whose text is there are tried, and only
//! rules whose patterns match.

pub mod cause;
mod load;
pub mod mbedtls;
pub mod pattern;
pub mod rule;

pub use load::RuleFault;

use crate::log::{LogEvent, LogRecord, RecordLevel, SignName};
use aho_corasick::AhoCorasick;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use cause::CauseRecord;
use mbedtls::TlsCodes;
use once_cell::race::OnceBox;
use pattern::{Match, Pattern};
use rule::{Rule, RuleReading};

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
    /// Group of the rule's own patterns; none of a rule that is of a component alone.
    key: Option<usize>,
}

/// A topic of rules.
#[derive(Debug)]
struct Topic {
    name: String,
    turn: u8,
}

/// Rules, ready for the search.
#[derive(Debug)]
pub struct RuleBook {
    /// Looks for the keys of all patterns.
    automaton: AhoCorasick,
    /// For each key its patterns.
    patterns_of: Vec<Vec<usize>>,
    patterns: Vec<Pattern>,
    /// For each pattern the groups that it is in.
    groups_of: Vec<Groups>,
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
        let (hits, groups) = self.hits(&text);
        if hits.is_empty() && (self.of_component.is_empty() || record.tag.is_empty()) {
            return Vec::new();
        }
        let tag = pattern::lower(record.tag);
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
            if let Some(found) = self.meets(ready, record.level, &tag, &hits, &groups) {
                *place = Some((at, found));
            }
        }
        let mut turns: Vec<usize> = (0..self.topics.len()).collect();
        turns.sort_by_key(|it| self.topics[*it].turn);
        let mut told: Vec<RuleHit> = Vec::new();
        let mut turn = 0;
        for topic in turns {
            let next = self.topics[topic].turn;
            if next > turn && !told.is_empty() {
                break;
            }
            turn = next;
            told.extend(best[topic].map(|(at, found)| {
                let rule = &self.rules[at].rule;
                RuleHit { rule, found, event: rule.event_of(&found), is_harmless: turn == 0 }
            }));
        }
        told
    }

    /// Finds the patterns of a text of lower case, and the groups that they are in.
    fn hits(&self, text: &str) -> (Vec<Hit>, Groups) {
        let mut groups = alloc::vec![0; self.groups.div_ceil(64)].into_boxed_slice();
        let mut hits = Vec::new();
        for key in self.automaton.find_overlapping_iter(text) {
            for &pattern in &self.patterns_of[key.pattern().as_usize()] {
                if let Some(found) = self.patterns[pattern].at(text, key.start()) {
                    hits.push(Hit { pattern, found });
                    unite(&mut groups, &self.groups_of[pattern]);
                }
            }
        }
        (hits, groups)
    }

    /// Returns the match of a rule that a record meets.
    fn meets(
        &self,
        ready: &ReadyRule,
        level: Option<RecordLevel>,
        tag: &str,
        hits: &[Hit],
        groups: &[u64],
    ) -> Option<Match> {
        let rule = &ready.rule;
        let has_level = rule.level.is_empty() || level.is_some_and(|it| rule.level.contains(&it));
        let fits = has_level
            && rule.is_of(tag)
            && covers(groups, &ready.needs)
            && !meet(groups, &ready.excludes);
        if !fits {
            return None;
        }
        let Some(key) = ready.key else { return Some(Match::default()) };
        let own = hits.iter().filter(|it| has(&self.groups_of[it.pattern], key));
        own.map(|it| it.found).find(|it| rule.takes(it))
    }
}

impl Rule {
    /// Returns whether the rule is of a tag, which is of lower case.
    fn is_of(&self, tag: &str) -> bool {
        self.component.is_empty()
            || self.component.iter().any(|it| match it.strip_suffix('*') {
                Some(begin) => tag.starts_with(begin),
                None => tag == it,
            })
    }

    /// Returns whether the numbers of a match are those of the rule.
    fn takes(&self, found: &Match) -> bool {
        let within = |it: i64| self.values.iter().any(|[from, to]| (*from..=*to).contains(&it));
        let number = |at: usize| found.numbers.get(at.checked_sub(1)?).copied().flatten();
        (self.values.is_empty() || found.number().is_some_and(within))
            && self.differ.is_none_or(|[a, b]| number(a) != number(b))
    }

    /// Returns the event of a match.
    fn event_of(&'static self, found: &Match) -> Option<LogEvent> {
        if let Some(sign) = &self.sign {
            return Some(LogEvent::Sign(SignName(sign)));
        }
        let Some(reading) = self.reads else { return self.event };
        let number = found.number()?;
        match reading {
            RuleReading::ClientLeft => u8::try_from(number).ok().map(LogEvent::ClientLeftAp),
            RuleReading::Strength => i8::try_from(number).ok().map(LogEvent::OtherRssi),
            RuleReading::TlsCode => {
                u32::try_from(number.unsigned_abs()).ok().map(LogEvent::TlsCode)
            }
        }
    }
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
