//! Reasons for which there is no answer.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use espbench_measure::tune::Want;
use espbench_model::sdkconfig::{Chip, UnknownChip};
use espbench_sim::lab::file::FileError;
use espbench_sim::lab::suite::SuiteError;

/// The reason for which there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum TuneError {
    /// A file of the library is wrong or missing.
    File(Box<FileError>),
    /// The devices of the lab speak ESP-NOW only.
    NoVariants {
        /// The lab.
        lab: String,
    },
    /// A variant has no device.
    NoDevice {
        /// The variant.
        variant: String,
    },
    /// The device of a variant answers no ping.
    NoAnswer {
        /// The lab.
        lab: String,
        /// The variant.
        variant: String,
    },
    /// The device of a variant is an access point.
    NotStation {
        /// The variant.
        variant: String,
    },
    /// There is no profile of a chip.
    NoProfile {
        /// The chip.
        chip: Chip,
        /// Chips of which there is one.
        known: Vec<&'static str>,
    },
    /// Espressif's guide has no ranks of a chip.
    NoRanks {
        /// The chip.
        chip: Chip,
        /// Chips of which there are.
        known: Vec<&'static str>,
    },
    /// The device has no sdkconfig.
    NoSdkConfig {
        /// Name of the device's chip.
        name: String,
        /// Cause.
        why: UnknownChip,
    },
    /// The PC of a variant has no wire whose delay could be set.
    NoWire {
        /// The variant.
        variant: String,
    },
    /// A round trip is shorter than the lab's own.
    ShortRoundTrip {
        /// The round trip that was asked for, in milliseconds.
        ms: f64,
        /// Round trip of the lab, in milliseconds.
        least_ms: f64,
        /// The lab.
        lab: String,
    },
    /// PSRAM is said to be there, which the chip cannot have.
    NoPsram {
        /// The chip.
        chip: Chip,
    },
    /// More heap is wanted than there is before Wi-Fi starts.
    HeapBeyond {
        /// The want.
        want: Want,
        /// Heap before Wi-Fi starts, in KB.
        kb: f64,
        /// Somebody said how much it is; otherwise it is that of the profile.
        said: bool,
    },
    /// A metric is wanted twice.
    WantedTwice {
        /// Name of the metric.
        metric: &'static str,
    },
    /// A test could not be carried out.
    Test {
        /// Kind of the test.
        kind: &'static str,
        /// The lab.
        lab: String,
        /// Cause.
        why: Box<SuiteError>,
    },
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(wrong) => wrong.fmt(f),
            Self::NoVariants { lab } => {
                write!(f, "lab {lab}: its devices speak ESP-NOW only; name a lab with variants")
            }
            Self::NoDevice { variant } => write!(f, "variant {variant}: it has no device"),
            Self::NoAnswer { lab, variant } => {
                write!(f, "no ping is answered in lab {lab}, variant {variant}")
            }
            Self::NotStation { variant } => write!(
                f,
                "variant {variant}: its device is an access point; a search is for stations"
            ),
            Self::NoProfile { chip, known } => write!(
                f,
                "there is no profile of the {chip} to simulate; there are {}",
                known.join(", ")
            ),
            Self::NoRanks { chip, known } => write!(
                f,
                "Espressif's guide has no ranks of the {chip}; it has those of {}",
                known.join(", ")
            ),
            Self::NoSdkConfig { name, why } => {
                write!(f, "the device of this lab is an {name}, which is {why}: name a chip")
            }
            Self::NoWire { variant } => write!(
                f,
                "a round trip is set by the delay of the PC's wire, and the PC of variant {variant} has \
                 no wire"
            ),
            Self::ShortRoundTrip { ms, least_ms, lab } => write!(
                f,
                "a round trip of {ms:.2} ms is shorter than that of lab {lab}, which has {least_ms:.2} ms \
                 without any wire"
            ),
            Self::NoPsram { chip } => {
                write!(f, "no {chip} has PSRAM; there are")?;
                let have = Chip::ALL.iter().filter(|it| it.psram());
                have.enumerate()
                    .try_for_each(|(at, it)| write!(f, "{} {it}", if at == 0 { "" } else { "," }))
            }
            Self::HeapBeyond { want, kb, said } => write!(
                f,
                "{want} cannot be had: before Wi-Fi starts {kb:.0} KB are free{}",
                if *said { "" } else { " in a firmware as small as the iperf example" }
            ),
            Self::WantedTwice { metric } => write!(f, "{metric} is wanted twice: say each once"),
            Self::Test { kind, lab, why } => write!(f, "{kind} in lab {lab}: {why}"),
        }
    }
}

impl core::error::Error for TuneError {}

impl From<FileError> for TuneError {
    fn from(wrong: FileError) -> Self {
        Self::File(Box::new(wrong))
    }
}
