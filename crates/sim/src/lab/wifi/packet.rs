//! Packets of programs over IP on their way from machine to machine.

use crate::lab::pool::{Handle, PacketPool};

/// Facts about a packet beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The machine that it comes from.
    pub(super) from: u16,
    /// The machine that it goes to; [`ALL`] for multicast.
    pub(super) to: u16,
    /// Time at which it came to the queue of the station that has it, in nanoseconds.
    pub(super) queued: u64,
    /// True where it waits in a reorder buffer, which holds it then.
    waits: bool,
}

/// To every machine.
pub(super) const ALL: u16 = u16::MAX;

impl Head {
    /// Returns the facts about a packet between two machines that is in no queue yet.
    pub(super) const fn new(from: u16, to: u16) -> Self {
        Self { from, to, queued: 0, waits: false }
    }

    /// Returns the facts about a copy, which no reorder buffer holds.
    pub(super) const fn of_copy(self) -> Self {
        Self { waits: false, ..self }
    }
}

/// Packets of a lab.
pub(super) type Pool = PacketPool<Head>;

impl Pool {
    /// Notes that a reorder buffer holds the packet.
    pub(super) fn wait(&mut self, handle: Handle) {
        if !core::mem::replace(&mut self.head_mut(handle).waits, true) {
            self.share(handle);
        }
    }

    /// Notes that the packet has gone up: if it had to wait, no reorder buffer holds it any more.
    pub(super) fn waited(&mut self, handle: Handle) {
        if core::mem::take(&mut self.head_mut(handle).waits) {
            self.release(handle);
        }
    }
}
