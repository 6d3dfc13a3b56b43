//! Explains which rules a line meets, and why others do not.

use super::rule::Rule;
use super::search::RecordReading;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

/// Rules that are told of a record, at most.
const MOST: usize = 40;

/// Outcome of a rule for a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// The rule tells what the record says.
    Tells,
    /// Another rule of its topic comes first.
    Behind(String),
    /// Belongs to a topic that is asked only where those before it tell nothing, and one of them tells something.
    NotAsked,
    /// The rule is of another component, level or time.
    OtherPart,
    /// A list of `with` has no pattern that is there, by its place from 1.
    Lacks(usize),
    /// A pattern of `without` is there.
    Excluded,
    /// The numbers or words of the pattern are not those of the rule, or what has to stand before or behind it does not.
    OtherValue,
    /// The rule is of the reading by words, which other rules make needless.
    Words,
}

impl fmt::Display for RuleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tells => f.write_str("tells"),
            Self::Behind(other) => write!(f, "meets, and {other} comes first in its topic"),
            Self::NotAsked => f.write_str("meets, and rules of an earlier turn tell more"),
            Self::OtherPart => f.write_str("is of another component, level or time"),
            Self::Lacks(list) => write!(f, "lacks a pattern of list {list} of `with`"),
            Self::Excluded => f.write_str("has a pattern of `without`"),
            Self::OtherValue => f.write_str("has other numbers, or another order"),
            Self::Words => f.write_str("meets, by words"),
        }
    }
}

/// A rule whose pattern a record has, with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedRule {
    /// Name of the rule.
    pub name: String,
    /// Event, sign or reading of the rule; empty of one that says that a line is in order.
    pub says: String,
    /// Outcome.
    pub outcome: RuleOutcome,
}

impl Rule {
    /// Returns what the rule says: its event, its sign, or what it reads.
    #[must_use]
    pub fn says(&self) -> String {
        match (&self.event, &self.sign, &self.reads, &self.family) {
            (Some(event), ..) => format!("{event:?}"),
            (_, Some(sign), ..) => format!("sign {sign}"),
            (_, _, Some(reading), _) => format!("{reading:?}"),
            (_, _, _, Some(family)) => format!("subject {}", family.name()),
            _ => String::new(),
        }
    }
}

impl RecordReading<'_> {
    /// Returns the rules one of whose patterns the record has: those that tell first.
    #[must_use]
    pub fn explain(&self) -> Vec<ExplainedRule> {
        let told = self.told();
        let met = self.met();
        let mut all: Vec<ExplainedRule> = Vec::new();
        for rule in self.touched() {
            let is = |it: &&Rule| it.name == rule.name;
            let outcome = if told.iter().any(|it| is(&it.rule)) {
                RuleOutcome::Tells
            } else if met.iter().any(is) {
                RuleOutcome::NotAsked
            } else {
                self.why_not(rule, &met)
            };
            all.push(ExplainedRule { name: rule.name.clone(), says: rule.says(), outcome });
        }
        if told.iter().all(|it| it.event.is_none()) {
            all.extend(self.word_rules(None).into_iter().map(|it| ExplainedRule {
                name: it.name.to_string(),
                says: it.says(),
                outcome: RuleOutcome::Words,
            }));
        }
        all.sort_by_key(|it| match it.outcome {
            RuleOutcome::Tells => 0,
            RuleOutcome::Words => 1,
            RuleOutcome::NotAsked | RuleOutcome::Behind(_) => 2,
            _ => 3,
        });
        all.truncate(MOST);
        all
    }
}
