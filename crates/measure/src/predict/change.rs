//! Changes of a setting that are tried in the lab, each alone, to find the one to make next.

use super::point::PointEstimates;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString as _};
use core::time::Duration;
use espbench_model::speech::FlagValue;

/// One change of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another PHY rate.
    Rate(String),
    /// Another time between two messages.
    Every(Duration),
    /// Another sleep.
    Sleep(String),
    /// Another number of attempts for a message.
    Attempts(u8),
    /// An option of sdkconfig, as its line.
    Sdkconfig(String),
    /// A bootloader that does not check the image at each wake.
    FastBoot,
}

impl Change {
    /// Returns whether the fleet would do less with it than it was asked to.
    #[must_use]
    pub const fn asks_less(&self) -> bool {
        matches!(self, Self::Every(_))
    }

    /// Returns the flag of the command that makes it.
    #[must_use]
    pub const fn flag(&self) -> &'static str {
        match self {
            Self::Rate(_) => "--phy-rate",
            Self::Every(_) => "--every",
            Self::Sleep(_) => "--sleep",
            Self::Attempts(_) => "--attempts",
            Self::Sdkconfig(_) => "--set",
            Self::FastBoot => "--boot",
        }
    }

    /// Returns the flag's value.
    #[must_use]
    pub fn value(&self) -> String {
        match self {
            Self::Rate(name) | Self::Sleep(name) | Self::Sdkconfig(name) => name.clone(),
            Self::Attempts(number) => format!("{number}"),
            Self::FastBoot => "fast".into(),
            Self::Every(time) => print_duration(*time).replace(' ', ""),
        }
    }

    /// Returns the flag's value in milliseconds, where it is a time.
    #[must_use]
    pub fn value_ms(&self) -> Option<f64> {
        match self {
            Self::Every(time) => Some(time.as_secs_f64() * 1e3),
            _ => None,
        }
    }

    /// Returns the change as it is typed.
    #[must_use]
    pub fn words(&self) -> String {
        FlagValue(self.flag(), self.value()).to_string()
    }
}

/// A change, and what became of the setting with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeTried {
    /// The change.
    pub change: Change,
    /// The setting with it.
    pub point: PointEstimates,
}
