//! Frames on the air, and their fates.
//!
//! | module | content |
//! |---|---|
//! | `tracer` | [`Tracer`]: watches a lab, and keeps the parts that a report shows |
//! | [`occupancy`] | shares of a channel's time |
//! | `levels` | the courses of windows, queues and memory in the stretches that are kept |
//! | `windows` | the stretches of time that are kept: the start, and around the worst moment |
//! | `write` | the trace as text, as counters and as a fact of a cell |

mod levels;
pub mod occupancy;
#[cfg(test)]
mod tests;
mod tracer;
mod windows;
mod write;

/// The kind of a frame.
pub use espbench_model::excerpt::AirtimeKind;
pub use levels::Courses;
pub use tracer::Tracer;
pub use windows::{Limits, QueuedFlight, TracedProbe, Window};

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::mac::{MissedReception, Ppdu};
use espbench_dot11::radio::WifiMode;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use occupancy::Usage;

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// Kind of the frame.
    pub what: AirtimeKind,
    /// Sender: a station of the room. Devices come first, then routers, then background.
    pub from: u32,
    /// Addressee; `None`: all.
    pub to: Option<u32>,
    /// Time at which its sender had it in its queue.
    pub queued: Instant,
    /// Time at which it begins.
    pub begin: Instant,
    /// Time at which it ends.
    pub end: Instant,
    /// Channel it is sent on.
    pub channel: u8,
    /// Mode in which it was sent.
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
    /// Stations for which it was and that found it too weak.
    pub noise: u32,
    /// Frames in the sender's queue when it began, with it.
    pub queue: u16,
    /// MPDUs in it: from 2 on it is an A-MPDU.
    pub mpdus: u8,
    /// MPDUs of these that the addressee could not read, or had no buffer for.
    pub lost: u8,
}

impl Flight {
    /// Makes the flight of a PPDU that nobody has read yet and that never waited: one MPDU of somebody's
    /// background, unless the caller knows more.
    #[must_use]
    pub fn of(frame: &Ppdu) -> Self {
        let begin = Instant::from_nanos(frame.begin);
        Self {
            what: AirtimeKind::Background,
            from: frame.from,
            to: (!frame.is_group()).then_some(frame.to),
            queued: begin,
            begin,
            end: Instant::from_nanos(frame.end),
            channel: frame.channel,
            mode: frame.mode,
            octets: frame.octets,
            sequence: frame.sequence,
            attempt: frame.attempt,
            heard: 0,
            collided: 0,
            noise: 0,
            queue: 1,
            mpdus: 1,
            lost: 0,
        }
    }
}

/// Returns how many of those who missed a frame missed it for a collision, and how many since it was
/// too weak.
#[must_use]
pub fn missed_by_cause(missed: &[MissedReception]) -> (u32, u32) {
    let collided = missed.iter().filter(|it| it.cause == Cause::Collision).count() as u32;
    (collided, missed.len() as u32 - collided)
}

/// The remains of a lab's history: stretches of it, bounded, and what the channels' time went to.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Names of the stations.
    pub stations: Vec<String>,
    /// Stretches of time, in their order; they may overlap.
    pub windows: Vec<Window>,
    /// The channels that were used, and what for.
    pub channels: BTreeMap<u8, Usage>,
    /// Time for which it was watched.
    pub time: Duration,
}
