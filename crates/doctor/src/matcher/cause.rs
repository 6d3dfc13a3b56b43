//! Causes as data: what a sign that rules name says about a log.

use super::load::RuleMistake;
use crate::finding::{Certainty, TroubleCause};
use crate::log::{LogEvent, WordCause};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};
use serde::Deserialize;

/// A cause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseRecord {
    /// Name, one of a kind.
    pub name: String,
    /// Stable name that findings have, where it is another: several records may be of one cause.
    pub cause: Option<String>,
    /// Signs of it, each by the name that rules give it.
    #[serde(default)]
    pub signs: Vec<String>,
    /// Events of it.
    #[serde(default)]
    pub events: Vec<LogEvent>,
    /// Name that programs give it in words of their own, where nothing else tells of it.
    pub words: Option<WordCause>,
    /// Whether a part of the doctor looks for it by a condition of its own.
    #[serde(default)]
    pub asked: bool,
    /// Reason of the end of a link whose remedy it has.
    pub reason: Option<u8>,
    /// The cause in words, as a sentence without its full stop.
    pub title: String,
    /// Remedy, as a sentence without its full stop; none where the reason of the end of a link has it.
    #[serde(default)]
    pub remedy: String,
    /// Observation that would confirm it.
    pub confirm: String,
    /// Page that tells more.
    pub link: Option<String>,
    /// Why the lab cannot show it, as the end of a sentence.
    pub lab: Option<String>,
    /// How sure it is.
    pub certainty: Certainty,
    /// Signs that make it a finding.
    #[serde(default = "one")]
    pub least: u64,
    /// Signs that make it good, where they come behind the last one.
    #[serde(default)]
    pub made_good_by: Vec<String>,
    /// Events that make it good, where they come behind the last sign.
    #[serde(default)]
    pub made_good_by_events: Vec<LogEvent>,
    /// Signs beside one of which it is one: without any it is one by itself.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Signs from which on it is a finding although it was made good.
    pub recurring: Option<u64>,
    /// Whether it is made good where it came at one moment alone, and the log of a device in its network goes on for long.
    #[serde(default)]
    pub passes: bool,
    /// Whether a task that has told of it makes it good by a connection, where it comes seldom.
    #[serde(default)]
    pub by_connection: bool,
    /// Stable names of causes beside which it is no finding.
    #[serde(default)]
    pub hidden_by: Vec<String>,
    /// Whether lines of one moment are one incident: what fails at one part of a program is told by each part above it.
    #[serde(default)]
    pub together: bool,
    /// Whether it is one only where nothing else is found.
    #[serde(default)]
    pub alone: bool,
    /// Whether each incident counts as much as the first, as frames and segments do.
    #[serde(default)]
    pub each: bool,
    /// How much it explains: a restart weighs 10, a link that ends 3, a connection 1.
    pub weight: f64,
    /// How much it explains where its certainty is low, where that is another weight.
    pub weight_if_low: Option<f64>,
    /// Stable names of causes that follow from it; `link-*` stands for all that begin so.
    #[serde(default)]
    pub makes: Vec<String>,
}

const fn one() -> u64 {
    1
}

/// A file of causes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseFile {
    /// Causes.
    #[serde(default, rename = "cause")]
    pub causes: Vec<CauseRecord>,
}

impl CauseRecord {
    /// Returns the stable name that its findings have.
    #[must_use]
    pub fn stable_name(&self) -> &str {
        self.cause.as_deref().unwrap_or(&self.name)
    }

    /// Returns the cause of its findings: one that the doctor knows by that name, or this record.
    #[must_use]
    pub fn trouble(&'static self) -> TroubleCause {
        TroubleCause::by_name(self.stable_name()).unwrap_or(TroubleCause::Named(NamedCause(self)))
    }

    /// Returns whether signs or events show it.
    pub(crate) fn is_shown(&self) -> bool {
        !self.signs.is_empty() || !self.events.is_empty()
    }

    /// Returns whether an event shows it.
    pub(crate) fn is_shown_by(&self, event: &LogEvent) -> bool {
        match event {
            LogEvent::Sign(sign) => self.signs.iter().any(|it| it == sign.0),
            event => self.events.contains(event),
        }
    }

    /// Returns whether a cause of that stable name follows from it.
    #[must_use]
    pub fn makes(&self, other: &str) -> bool {
        self.makes.iter().any(|it| match it.strip_suffix('*') {
            Some(begin) => other.starts_with(begin),
            None => it == other,
        })
    }

    /// Finds what is wrong with the record.
    pub(super) fn check(&self, signs: &[&str], causes: &[&str]) -> Result<(), RuleMistake> {
        let is_cause = |it: &str| match it.strip_suffix('*') {
            Some(begin) => causes.iter().any(|it| it.starts_with(begin)),
            None => causes.contains(&it),
        };
        let others = self.makes.iter().chain(&self.hidden_by);
        if let Some(other) = others.into_iter().find(|it| !is_cause(it)) {
            return Err(format!("cause {}: there is no cause {other}", self.name));
        }
        let unknown = self
            .signs
            .iter()
            .chain(&self.made_good_by)
            .chain(&self.beside)
            .find(|it| !signs.contains(&&***it));
        match unknown {
            Some(sign) => Err(format!("cause {}: no rule has the sign {sign}", self.name)),
            None if self.is_shown() || self.asked || self.words.is_some() => Ok(()),
            None => Err(format!("cause {}: it has no sign and no event", self.name)),
        }
    }
}

/// A cause that files of rules name, and nothing in the doctor treats by itself.
#[derive(Clone, Copy, Debug)]
pub struct NamedCause(pub &'static CauseRecord);

impl PartialEq for NamedCause {
    fn eq(&self, other: &Self) -> bool {
        self.0.stable_name() == other.0.stable_name()
    }
}

impl Eq for NamedCause {}

impl PartialOrd for NamedCause {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NamedCause {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.stable_name().cmp(other.0.stable_name())
    }
}

impl Hash for NamedCause {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.stable_name().hash(state);
    }
}
