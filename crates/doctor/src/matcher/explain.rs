//! Explains which rules a line meets, and why others do not.

use super::rule::Rule;
use super::search::RecordReading;
use super::{RuleBook, RuleFault};
use crate::log::{plain, records};
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
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
    /// File that it comes from.
    pub file: String,
    /// Stable names of the causes that its sign is of.
    pub causes: Vec<String>,
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
            all.push(self.explained(rule, outcome));
        }
        if told.iter().all(|it| it.event.is_none()) {
            let words = self.word_rules(None).into_iter();
            all.extend(words.map(|it| self.explained(it, RuleOutcome::Words)));
        }
        let is_built_in = |name: &str| RuleBook::built_in().rules().any(|it| it.name == name);
        // A team's own rules come before others that meet as much.
        all.sort_by_cached_key(|it| {
            let rank = match it.outcome {
                RuleOutcome::Tells => 0,
                RuleOutcome::Words => 1,
                RuleOutcome::NotAsked | RuleOutcome::Behind(_) => 2,
                _ => 3,
            };
            (rank, is_built_in(&it.name))
        });
        all.truncate(MOST);
        all
    }

    fn explained(&self, rule: &Rule, outcome: RuleOutcome) -> ExplainedRule {
        let is_of = |sign: &String| rule.sign.as_ref() == Some(sign);
        let causes = self.book.causes().filter(|it| it.signs.iter().any(is_of));
        ExplainedRule {
            name: rule.name.clone(),
            file: rule.file.clone(),
            causes: causes.map(|it| it.stable_name().to_owned()).collect(),
            says: rule.says(),
            outcome,
        }
    }
}

impl RuleBook {
    /// Finds what a rule says of its own lines and is not so: an example that does not meet it, or a line of `not` that
    /// does. Whether another topic tells more of a line is left open.
    ///
    /// # Errors
    /// The rule lacks an example or its source, or a line is not as it says.
    pub fn try_examples(&'static self, rule: &Rule) -> Result<(), RuleFault> {
        let fault = |why: String| RuleFault::of(&rule.file, format!("rule {}: {why}", rule.name));
        if rule.examples.is_empty() || rule.source.is_empty() {
            return Err(fault("it lacks an example or its source".into()));
        }
        for line in &rule.examples {
            let met = self.met_by(line);
            if !met.contains(&&*rule.name) {
                let others = match met.is_empty() {
                    true => "no rule".into(),
                    false => met.join(", "),
                };
                return Err(fault(format!("its example {line:?} meets {others}")));
            }
        }
        match rule.not.iter().find(|it| self.met_by(it).contains(&&*rule.name)) {
            Some(line) => Err(fault(format!("it is met by {line:?}, which stands under `not`"))),
            None => Ok(()),
        }
    }

    /// Returns the names of the rules that a line meets, whatever the turn of their topics.
    fn met_by(&'static self, line: &str) -> Vec<&'static str> {
        let line = plain(line);
        let mut met = Vec::new();
        for record in records(&line) {
            let reading = self.read(&record);
            // A bare failure is of what the lines before it speak of: an example may begin with that.
            met.extend(
                reading.met().into_iter().chain(reading.word_rules(None)).map(|it| &*it.name),
            );
        }
        met
    }
}
