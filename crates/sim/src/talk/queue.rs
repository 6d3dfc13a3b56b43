//! What happens in a fleet.

use super::crew::Cue;
use super::device::NodeId;
use super::pool::Handle;
use crate::events::Scheduler;
use espbench_proto::time::Instant;

/// What is to happen, by time.
pub(super) type Queue = Scheduler<Instant, Event>;

/// Something that happens to a node. What was scheduled for a former life of the node (`life`
/// counts its starts) does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) node: NodeId,
    pub(super) life: u32,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Its start, or something at its console.
    Cue(Cue),
    /// The time that it waits for.
    Wake,
    /// An attempt of its transmission ends.
    AirEnd,
    /// A frame reaches it.
    Arrive { frame: Handle, rssi: i8 },
}
