//! Errors that keep a prediction from being made.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use espbench_dot11::radio::{RadioChip, WifiMode};
use espbench_sim::lab::file::FileError;
use espbench_sim::lab::run::Livelock;

/// The reason for which there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum PredictError {
    /// A file of the library is wrong or missing.
    File(Box<FileError>),
    /// The lab has no devices.
    NoDevices,
    /// The firmware sends no message so long.
    TooLong {
        /// Bytes of the message.
        payload: u32,
        /// Most bytes that the firmware sends.
        most: u32,
        /// The lab.
        lab: String,
        /// Messages are encrypted.
        encrypted: bool,
    },
    /// The devices' chip does not have the band of the channel.
    NoBand {
        /// Their chip.
        chip: RadioChip,
        /// The channel.
        channel: u8,
    },
    /// The devices of the lab send in several modes, and a prediction is of one.
    SeveralModes {
        /// The lab.
        lab: String,
        /// Their modes.
        modes: Vec<WifiMode>,
    },
    /// A simulation did not come to its end.
    Livelock {
        /// Devices that send.
        devices: u32,
        /// PHY rate.
        mode: WifiMode,
        /// Seed of the room.
        seed: u64,
        /// Cause.
        why: Box<Livelock>,
    },
    /// Somebody stopped it.
    Stopped,
}

impl fmt::Display for PredictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(wrong) => wrong.fmt(f),
            Self::NoDevices => f.write_str("the lab has no devices"),
            Self::NoBand { chip, channel } => {
                write!(f, "channel {channel} is in 5 GHz, which an {} does not have", chip.name())
            }
            Self::TooLong { payload, most, lab, encrypted } => {
                let sealed = if *encrypted { ", encrypted" } else { "" };
                write!(
                    f,
                    "a payload of {payload}: the firmware of lab {lab} sends at most {most} bytes{sealed}"
                )
            }
            Self::SeveralModes { lab, modes } => {
                let modes: Vec<String> = modes.iter().map(WifiMode::to_string).collect();
                let modes = modes.join(", ");
                write!(
                    f,
                    "the devices of lab {lab} send in several modes ({modes}), and a prediction is of one"
                )
            }
            Self::Livelock { devices, mode, seed, why } => {
                write!(f, "with {devices} devices at {mode}, in the room of seed {seed}: {why}")
            }
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl core::error::Error for PredictError {}

impl From<FileError> for PredictError {
    fn from(wrong: FileError) -> Self {
        Self::File(Box::new(wrong))
    }
}
