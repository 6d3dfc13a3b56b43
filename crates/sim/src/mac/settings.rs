//! What a station and a medium can be told.

use crate::air::Adjacent;
use crate::radio::{BasicRates, Mode, Output, Timing};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A frame to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// To whom: a station, or [`GROUP`](super::GROUP).
    pub to: u32,
    /// Octets of the MPDU with its FCS.
    pub octets: u32,
    /// How, the first time.
    pub mode: Mode,
    /// By what the host knows it.
    pub tag: u64,
}

/// The settings of a station's MAC.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Slot, SIFS and contention windows.
    pub timing: Timing,
    /// `dot11ShortRetryLimit`: how often a frame is sent in all (Annex C: 7).
    pub short_retry_limit: u8,
    /// `dot11LongRetryLimit`, for frames longer than `rts_threshold` (Annex C: 4).
    pub long_retry_limit: u8,
    /// `dot11RTSThreshold`, in octets. Only the choice of the limit follows it: RTS is not sent.
    pub rts_threshold: u32,
    /// What ACKs are sent at.
    pub basic: BasicRates,
    /// Modes of the second and later attempts of a unicast frame; the last one is kept. Empty:
    /// that of the first attempt.
    pub fallback: Vec<Mode>,
    /// TX buffers of the driver: frames that can wait, with the one being sent.
    pub buffers: usize,
    /// The channel it starts on, 1 to 14.
    pub channel: u8,
    /// Which of the room's receivers it has.
    pub receiver: u8,
    /// With what power it sends each mode; `None`: all of them with that of the links.
    pub output: Option<Arc<Output>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timing: Timing::HR,
            short_retry_limit: 7,
            long_retry_limit: 4,
            rts_threshold: u32::MAX,
            basic: BasicRates::NONE,
            fallback: Vec::new(),
            buffers: 32,
            channel: 1,
            receiver: 0,
            output: None,
        }
    }
}

/// What holds for the whole medium.
#[derive(Clone, Debug)]
pub struct Medium {
    /// What arrives on other channels.
    pub adjacent: Adjacent,
    /// A station whose back-off ends within this time of the beginning of another's frame sends
    /// nevertheless: it has already turned from receiving to sending (`aRxTxTurnaroundTime`,
    /// 10.3.7; at most 5 us with clauses 15 and 16).
    pub turnaround_ns: u64,
}

impl Default for Medium {
    fn default() -> Self {
        Self { adjacent: Adjacent::default(), turnaround_ns: 5_000 }
    }
}
