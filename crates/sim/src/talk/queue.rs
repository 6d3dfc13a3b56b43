//! What is to happen, by time; at one time, in the order in which it was scheduled.

use super::device::NodeId;
use super::pool::Handle;
use alloc::collections::BinaryHeap;
use core::cmp::Ordering;
use espbench_proto::time::Instant;

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
    /// It is switched on.
    Start,
    /// The time that it waits for.
    Wake,
    /// An attempt of its transmission ends.
    AirEnd,
    /// A frame reaches it.
    Arrive { frame: Handle, rssi: i8 },
    /// Its console has answers to cursor queries.
    Answer,
    /// The command at the head of its console's queue is typed.
    Type,
    /// And the carriage return after it.
    Enter,
}

#[derive(Debug)]
struct Entry {
    at: Instant,
    order: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The heap gives its greatest entry first: the earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Entry>,
    order: u64,
}

impl Queue {
    pub(super) fn push(&mut self, at: Instant, event: Event) {
        self.order += 1;
        self.heap.push(Entry { at, order: self.order, event });
    }

    /// The next event, if it is not after `until`.
    pub(super) fn pop(&mut self, until: Instant) -> Option<(Instant, Event)> {
        if self.heap.peek()?.at > until {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn by_time_and_then_by_order() {
        let mut queue = Queue::default();
        for (node, at) in [(0, 5), (1, 3), (2, 5), (3, 3), (4, 9)] {
            let event = Event { node: NodeId(node), life: 0, what: What::Wake };
            queue.push(Instant::from_nanos(at), event);
        }
        let until = Instant::from_nanos(8);
        let order: Vec<u16> =
            core::iter::from_fn(|| queue.pop(until)).map(|(_, event)| event.node.0).collect();
        assert_eq!(order, [1, 3, 0, 2]);
        assert!(queue.pop(Instant::NEVER).is_some());
    }
}
