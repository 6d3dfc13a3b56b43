//! Findings: cause, evidence, confidence, confirmation and remedy.

use crate::log::LogPlace;
use crate::matcher::RuleBook;
use crate::matcher::cause::{CauseRecord, NamedCause};
use crate::reason::ReasonGroup;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::tune::check::SettingChange;
use espbench_model::sample::Cause;
use serde::{Deserialize, Serialize, Serializer};

/// A cause of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleCause {
    /// The link ends, or is not made, for reasons of this kind.
    Disconnections(ReasonGroup),
    /// Settings of the firmware do not fit, or are small, by this rule of the check (its stable name).
    Settings(&'static str),
    /// The firmware on the board was not built with the sdkconfig that was given.
    OtherBuild,
    /// Probes of a stored run were lost for that cause.
    Losses(Cause),
    /// Cells of a stored run were not measured.
    CellsFailed,
    /// A cause that files of rules name.
    Named(NamedCause),
}

impl TroubleCause {
    /// Finds a cause of a log by its stable name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let groups = ReasonGroup::ALL.into_iter().map(Self::Disconnections);
        groups.into_iter().find(|it| it.name() == name).or_else(|| {
            let record = RuleBook::built_in().causes().find(|it| it.stable_name() == name)?;
            Some(Self::Named(NamedCause(record)))
        })
    }

    /// Returns a cause that the doctor's own files of causes name.
    ///
    /// # Panics
    /// Where they do not, which a test of each use excludes.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self::by_name(name).expect("the doctor has the cause")
    }

    /// Returns whether it has that stable name.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        debug_assert!(Self::by_name(name).is_some(), "no cause {name}");
        match self {
            Self::Named(it) => it.0.stable_name() == name,
            other => other.name() == name,
        }
    }

    /// Returns the record of the cause; of several that have its stable name the first.
    #[must_use]
    pub fn record(self) -> Option<&'static CauseRecord> {
        if let Self::Named(it) = self {
            return Some(it.0);
        }
        let name = self.name();
        RuleBook::built_in().causes().find(|it| it.stable_name() == name)
    }

    /// Returns the stable name, for JSON and tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Disconnections(group) => format!("link-{}", group.name()),
            Self::Settings(rule) => format!("settings-{rule}"),
            Self::OtherBuild => "other-build".into(),
            Self::Losses(cause) => format!("loss-{}", cause.name()),
            Self::CellsFailed => "cells-failed".into(),
            Self::Named(it) => it.0.stable_name().into(),
        }
    }
}

impl Serialize for TroubleCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Other causes are as likely.
    Low,
    /// Other causes are less likely.
    Medium,
    /// The file says so.
    High,
}

impl Certainty {
    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseFinding {
    /// The cause.
    pub cause: TroubleCause,
    /// Record that it was found by: of several that have the cause's stable name, its own weight counts.
    #[serde(skip)]
    pub record: Option<NamedCause>,
    /// The cause in words, as a sentence without its full stop.
    pub title: String,
    /// How sure it is.
    pub certainty: Certainty,
    /// Number of incidents that it explains.
    pub incidents: u64,
    /// Share of all incidents of the file that it explains, from 0 to 1.
    pub share: f64,
    /// The first places that show it.
    pub evidence: Vec<LogPlace>,
    /// Remedy, as a sentence.
    pub remedy: String,
    /// Observation that would confirm it.
    pub confirm: String,
    /// Page that tells more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Cause of another finding, from which this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows_from: Option<TroubleCause>,
    /// Settings to change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SettingChange>,
}

impl CauseFinding {
    /// Returns the record that it was found by, or the first one of its cause.
    #[must_use]
    pub fn record(&self) -> Option<&'static CauseRecord> {
        self.record.map(|it| it.0).or_else(|| self.cause.record())
    }

    /// Returns the finding with another certainty.
    #[must_use]
    pub(crate) fn sure(self, certainty: Certainty) -> Self {
        Self { certainty, ..self }
    }

    /// Returns the finding with another title.
    #[must_use]
    pub(crate) fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }
}

/// Verdict of the doctor on a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosisVerdict {
    /// Causes were found; the first explains most.
    Causes,
    /// The file shows a link that works, and nothing wrong.
    NothingWrong,
    /// The file shows nothing of a link.
    CannotTell,
}

/// The findings of a file, those first that explain most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The verdict.
    pub verdict: DiagnosisVerdict,
    /// Findings, ranked.
    pub findings: Vec<CauseFinding>,
    /// Contradictions between files, each a sentence with its lines.
    pub contradictions: Vec<String>,
    /// Observations that are no trouble by themselves.
    pub notes: Vec<String>,
}
