//! What was on the air, and what became of it.

use crate::radio::Mode;
use alloc::vec::Vec;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;

/// What a frame was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A frame of a device.
    Data,
    /// An acknowledgement.
    Ack,
    /// A beacon.
    Beacon,
    /// A frame of a background station.
    Background,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// What it was.
    pub what: What,
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
    pub mode: Mode,
    /// Octets of the MPDU with FCS.
    pub octets: u32,
    /// Sequence number of the station.
    pub sequence: u16,
    /// Attempt, from 1.
    pub attempt: u8,
    /// Stations for which it was and that read it.
    pub heard: u32,
    /// Stations for which it was and that could not, by cause.
    pub collided: u32,
    /// The same, too weak.
    pub noise: u32,
    /// Frames in the sender's queue when it began, with it.
    pub queue: u16,
}

/// A stretch of the medium's history, bounded; what does not fit is counted.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Frames, in the order of their ends.
    pub flights: Vec<Flight>,
    /// Frames that found no room.
    pub dropped: u64,
    /// Names of the stations.
    pub stations: Vec<alloc::string::String>,
    /// What was lost at which node, and why.
    pub losses: Vec<(Instant, u32, Cause)>,
}
