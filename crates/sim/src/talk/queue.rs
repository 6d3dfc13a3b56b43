//! The queue of a fleet's events.

use super::device::NodeId;
use super::device_set::Cue;
use super::pool::Handle;
use espbench_dot11::events::Scheduler;
use espbench_model::time::Instant;

/// The events that are to happen, by time.
pub(super) type Queue = Scheduler<Instant, FleetEvent>;

/// An event of a node. One that was scheduled for a former life of the node (`life` counts its
/// starts) does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FleetEvent {
    pub(super) node: NodeId,
    pub(super) life: u32,
    pub(super) what: FleetEventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FleetEventKind {
    /// Start of the node, or something at its console.
    Cue(Cue),
    /// Time that the node waits for.
    Wake,
    /// End of an attempt of the node's transmission.
    AirEnd,
    /// Arrival of a frame.
    Arrive { frame: Handle, rssi: i8 },
}
