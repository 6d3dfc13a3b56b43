//! Errors as a user is told of them, in three lines at most: what failed, why, and what to do.

use crate::render::fitting;
use crate::say::{self, say};
use espbench_model::sdkconfig::ChipWithoutWifi;
use espbench_model::speech::{self, Asker};
use espbench_model::untrusted::Untrusted;
use espbench_sim::lab::file::FileError;
use std::fmt;

/// An error for the user of the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserError {
    /// Action or thing that failed.
    pub what: String,
    /// Cause, where there is more to say of it.
    pub why: String,
    /// Advice, where there is some.
    pub remedy: String,
}

impl UserError {
    /// Creates an error of which no more is known yet.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(self, why: impl fmt::Display) -> Self {
        Self { why: why.to_string(), ..self }
    }

    /// Adds what to do.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// Adds what to do where nothing is said of it.
    #[must_use]
    pub fn or_remedy(self, remedy: &str) -> Self {
        if self.remedy.is_empty() { self.remedy(remedy) } else { self }
    }

    /// Prints it to stderr.
    pub fn say(&self) {
        let [what, why, remedy] = self.shown();
        let mut text = format!("espbench: {what}");
        for (head, part) in [("why", why), ("do", remedy)] {
            if !part.is_empty() {
                // Further lines begin below the text.
                let head = format!("  {:<5}", format!("{head}:"));
                let part = format!("{:1$}{part}", "", head.len());
                let lines = match say::columns() {
                    Some(columns) => fitting(&part, columns),
                    None => part,
                };
                text += &format!("\n{head}{}", lines[head.len()..].trim_end());
            }
        }
        say!("{text}");
    }

    /// Returns what failed, why, and what to do, each in one line that a terminal may show.
    #[must_use]
    pub fn shown(&self) -> [String; 3] {
        [&self.what, &self.why, &self.remedy].map(|it| one_line(it))
    }
}

/// Returns a text in one line that a terminal may show.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Untrusted::line(&words).to_string()
}

/// Draws it in one line, as it stands in the store and in reports.
impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, why, remedy } = self;
        for (before, part) in [("", what), (": ", why), ("; ", remedy)] {
            if before.is_empty() || !part.is_empty() {
                write!(f, "{before}{}", Untrusted::line(part))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for UserError {}

impl From<ChipWithoutWifi> for UserError {
    fn from(chip: ChipWithoutWifi) -> Self {
        Self::new(format!("{} has no Wi-Fi", chip.title()))
            .because(chip.why())
            .remedy(chip.remedy())
    }
}

impl From<String> for UserError {
    fn from(what: String) -> Self {
        Self::new(what)
    }
}

/// Says where the names and keys of a lab's files are listed.
impl From<&FileError> for UserError {
    fn from(wrong: &FileError) -> Self {
        let remedy = match speech::asker() {
            Asker::Terminal => {
                "`espbench lab list` shows labs, profiles and environments; docs/labs.md has every key"
            }
            Asker::Caller => "docs/labs.md has every key",
        };
        Self::new(wrong.to_string()).remedy(remedy)
    }
}

/// Keeps the parts of an error that has them; another's whole chain is what failed.
impl From<anyhow::Error> for UserError {
    fn from(error: anyhow::Error) -> Self {
        if let Some(wrong) = error.downcast_ref::<FileError>() {
            return Self::from(wrong);
        }
        error.downcast().unwrap_or_else(|other| Self::new(format!("{other:#}")))
    }
}

/// Adds what was done and what to do to a result that failed.
pub trait ForUser<T> {
    /// Says what failed and what to do; the error is the cause.
    ///
    /// # Errors
    /// Those of the result.
    fn for_user(self, what: impl FnOnce() -> String, remedy: &str) -> Result<T, UserError>;
}

impl<T, E: fmt::Display> ForUser<T> for Result<T, E> {
    fn for_user(self, what: impl FnOnce() -> String, remedy: &str) -> Result<T, UserError> {
        self.map_err(|error| UserError::new(what()).because(error).remedy(remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_all_parts() {
        let error = UserError::new("no reply").because("3 probes lost").remedy("check the power");
        assert_eq!(error.to_string(), "no reply: 3 probes lost; check the power");
        assert_eq!(UserError::new("stopped").to_string(), "stopped");
    }
}
