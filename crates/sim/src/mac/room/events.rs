//! What happens in a room.

use crate::mac::frame::Kind;
use crate::radio::Mode;

/// What is to happen, by nanoseconds.
pub(super) type Events = crate::events::Events<u64, What>;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A frame ends.
    End(u32),
    /// A station answers.
    Answer { station: u32, to: u32, mode: Mode, kind: Kind },
    /// A station that is clear to send sends.
    Clear(u32),
    /// Something may have waited too long in a reorder buffer.
    Watch(u32),
    /// A station is on its new channel.
    Tuned(u32),
    /// The host wanted to be called.
    Wake(u64),
}
