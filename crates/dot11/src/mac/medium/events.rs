//! The events of a medium.

use crate::mac::frame::FrameKind;
use crate::radio::WifiMode;

/// The scheduled events, by nanoseconds.
pub(super) type MediumEvents = crate::events::Scheduler<u64, MediumEvent>;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) enum MediumEvent {
    /// A frame ends.
    End(u32),
    /// A station sends a response.
    Answer { station: u32, to: u32, mode: WifiMode, kind: FrameKind },
    /// A station that is clear to send sends.
    Clear(u32),
    /// A station goes on in its TXOP.
    Burst(u32),
    /// An MPDU may have waited too long in a reorder buffer.
    ReorderTimeout(u32),
    /// A station has reached its new channel.
    Tuned(u32),
    /// A station begins to emit noise on a channel, until a time.
    Noise { station: u32, channel: u8, until: u64 },
    /// The user asked to be called.
    Wake(u64),
}
