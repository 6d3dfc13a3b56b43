//! Keys of a plan, with the values that they take: one table for reading, for errors and for `docs/plans.md`.

use super::read::Scalar;
use crate::units::print_duration;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

/// The values that a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlanValue {
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A number from the first to the second.
    Number(f64, f64),
    /// Bytes, from the first to the second: a number, or a text with a unit.
    Bytes(u64, u64),
    /// A time, from the first to the second: a text with a unit.
    Time(Duration, Duration),
    /// True or false.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A value in a form of its own, described in words; who sets the key checks it.
    Form(&'static str),
}

/// A key of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlanKey {
    pub(crate) name: &'static str,
    pub(crate) takes: PlanValue,
    /// Value where the key is left out, in words; empty where the kind's default says it.
    pub(crate) usual: &'static str,
    /// Value as TOML.
    pub(crate) example: &'static str,
    /// Meaning of the key.
    pub(crate) about: &'static str,
}

impl PlanKey {
    /// Makes a key in one line of a list.
    pub(crate) const fn new(
        name: &'static str,
        takes: PlanValue,
        example: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, takes, usual: "", example, about }
    }

    /// Says what holds where the key is left out.
    pub(crate) const fn or(self, usual: &'static str) -> Self {
        Self { usual, ..self }
    }

    /// Checks that the key takes a value.
    pub(crate) fn check(&self, value: &Scalar) -> Result<(), String> {
        match self.takes {
            PlanValue::Whole(least, most) => value.int_in(least..=most).map(drop),
            PlanValue::Number(least, most) => value.number_in(least..=most).map(drop),
            PlanValue::Bytes(least, most) => value.bytes_in(least..=most).map(drop),
            PlanValue::Time(least, most) => value.duration_in(least..=most).map(drop),
            PlanValue::Switch => value.bool().map(drop),
            PlanValue::Word(words) => value.one_of(words),
            PlanValue::Form(_) => Ok(()),
        }
    }
}

/// Returns the words of a closed set.
pub(crate) const fn words<T, const N: usize>(
    of: &'static [(&'static str, T); N],
) -> [&'static str; N] {
    let mut words = [""; N];
    let mut at = 0;
    while at < N {
        words[at] = of[at].0;
        at += 1;
    }
    words
}

/// Says what a key takes.
impl core::fmt::Display for PlanValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Whole(least, u64::MAX) => write!(f, "a whole number from {least}"),
            Self::Whole(least, most) => write!(f, "{least} to {most}"),
            Self::Number(least, most) => write!(f, "{least} to {most}"),
            Self::Bytes(least, most) => write!(f, "{least} to {most} bytes"),
            Self::Time(least, most) => {
                write!(f, "{} to {}", print_duration(*least), print_duration(*most))
            }
            Self::Switch => f.write_str("true or false"),
            Self::Word(words) => {
                let quoted: alloc::vec::Vec<String> =
                    words.iter().map(|word| format!("\"{word}\"")).collect();
                f.write_str(&quoted.join(", "))
            }
            Self::Form(words) => f.write_str(words),
        }
    }
}
