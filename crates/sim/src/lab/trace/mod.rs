//! What was on the air, and what became of it.
//!
//! | module | what |
//! |---|---|
//! | [`Tracer`] | watches a lab, and keeps what a report shows of it |
//! | [`occupancy`] | what a channel's time goes to |
//! | `levels` | how windows, queues and memory went in them |
//! | `windows` | which stretches of time are kept: the start, and around the worst moment |
//! | `write` | as text, as counters and as a fact of a cell |

mod levels;
pub mod occupancy;
#[cfg(test)]
mod tests;
mod tracer;
mod windows;
mod write;

/// What a frame was.
pub use espbench_model::excerpt::AirtimeKind;
pub use levels::Courses;
pub use tracer::Tracer;
pub use windows::{Limits, Probe, Shown, Window};

use crate::radio::WifiMode;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::time::Instant;
use occupancy::Usage;

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// What it was.
    pub what: AirtimeKind,
    /// Who sent it: a station of the room. Devices come first, then routers, then background.
    pub from: u32,
    /// To whom; `None` is to all.
    pub to: Option<u32>,
    /// When its sender had it in its queue.
    pub queued: Instant,
    /// When it began.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
    /// On which channel.
    pub channel: u8,
    /// How it was sent.
    pub mode: WifiMode,
    /// Octets of the MPDU with FCS.
    pub octets: u32,
    /// Sequence number of the station.
    pub sequence: u16,
    /// Attempt, from 1.
    pub attempt: u8,
    /// Stations for which it was and that read it, also one that has it already.
    pub heard: u32,
    /// Stations for which it was and that could not, by cause.
    pub collided: u32,
    /// The same, too weak.
    pub noise: u32,
    /// Frames in the sender's queue when it began, with it.
    pub queue: u16,
    /// MPDUs in it: from 2 on it is an A-MPDU.
    pub mpdus: u8,
    /// Of these, those that its addressee could not read or had no buffer for.
    pub lost: u8,
}

/// What a lab's history leaves: stretches of it, bounded, and what the channels' time went to.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Names of the stations.
    pub stations: Vec<String>,
    /// Stretches of time, in their order; they may overlap.
    pub windows: Vec<Window>,
    /// The channels that were used, and what for.
    pub channels: BTreeMap<u8, Usage>,
    /// How long it was watched.
    pub time: Duration,
}
