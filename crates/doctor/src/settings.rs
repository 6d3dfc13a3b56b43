//! Settings: those that a boot log prints, and those of an `sdkconfig`, checked as `espbench tune --check` does.
//!
//! | module | contents |
//! |---|---|
//! | `check` | from the check's findings to causes, and what the files say against each other |

mod check;
#[cfg(test)]
mod tests;

use crate::log::{EvidenceSource, LogEvent, LogPlace, LogSummary};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use espbench_model::sdkconfig::{ConfigOption, ParseError, ParsedSdkConfig, read};

pub(crate) use check::{Checkable, checked};

/// An `sdkconfig` or `sdkconfig.defaults`, with the lines of its options.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigFile {
    /// Contents.
    pub reading: ParsedSdkConfig,
    /// Last line of each option.
    pub lines: BTreeMap<ConfigOption, LogPlace>,
}

impl ConfigFile {
    /// Reads a file's text.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(text: &str) -> Result<Self, ParseError<'_>> {
        let reading = read(text)?;
        let mut lines = BTreeMap::new();
        for (number, line) in (1_u64..).zip(text.lines()) {
            if let Some(option) = option_of(line.trim())
                && reading.settings.get(option).is_some()
            {
                let text: String = line.trim().chars().take(120).collect();
                let place = LogPlace {
                    source: EvidenceSource::SdkConfig,
                    line: number,
                    uptime_ms: None,
                    text,
                };
                lines.insert(option, place);
            }
        }
        Ok(Self { reading, lines })
    }
}

/// Returns the option that a line sets.
fn option_of(line: &str) -> Option<ConfigOption> {
    let name = match line.strip_prefix("# ") {
        Some(comment) => comment.strip_suffix(" is not set")?,
        None => line.split_once('=')?.0.trim_end(),
    };
    let member = || ConfigOption::find_member(name).map(|it| it.0);
    name.starts_with("CONFIG_").then(|| ConfigOption::find(name).or_else(member))?
}

/// Settings that a log prints: the last value of each, with its line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedSettings {
    /// Values, the chip, the release and the clock.
    pub reading: ParsedSdkConfig,
    /// Line of each option.
    pub lines: BTreeMap<ConfigOption, LogPlace>,
    /// Line that names the chip.
    pub chip: Option<LogPlace>,
}

impl PrintedSettings {
    /// Takes the settings out of a log.
    #[must_use]
    pub fn of(log: &LogSummary) -> Self {
        let mut it = Self::default();
        let mut named: [u64; 2] = [0; 2];
        for (event, counts) in &log.events {
            let Some(place) = counts.places.last() else { continue };
            match event {
                LogEvent::Setting(option, value)
                    if it.lines.get(option).is_none_or(|before| before.line < place.line) =>
                {
                    it.reading.settings.set(*option, *value);
                    it.lines.insert(*option, place.clone());
                }
                LogEvent::Chip(chip) if named[0] < place.line => {
                    named[0] = place.line;
                    it.reading.chip = Some(*chip);
                    it.chip = Some(place.clone());
                }
                LogEvent::Release(release) if named[1] < place.line => {
                    named[1] = place.line;
                    it.reading.release = Some(*release);
                }
                LogEvent::Clock(mhz) => it.reading.clock_mhz = Some((*mhz).into()),
                _ => {}
            }
        }
        it
    }
}

/// Returns a place in words: `line 7 of the log`.
pub(crate) fn place_words(place: &LogPlace) -> String {
    let of = match place.source {
        EvidenceSource::Log => "the log",
        EvidenceSource::SdkConfig => "the sdkconfig",
        EvidenceSource::Run => "the run",
        EvidenceSource::Capture => "the capture",
        EvidenceSource::CoreDump => "the core dump",
    };
    let mut words = String::from("line ");
    words.push_str(&place.line.to_string());
    words.push_str(" of ");
    words.push_str(of);
    words
}
