//! A queue of events by time; events at one time come in the order in which they were pushed.

use alloc::collections::BinaryHeap;
use core::cmp::Ordering;

#[derive(Debug)]
struct ScheduledEvent<At, What> {
    at: At,
    order: u64,
    what: What,
}

impl<At: Ord, What> PartialEq for ScheduledEvent<At, What> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<At: Ord, What> Eq for ScheduledEvent<At, What> {}

impl<At: Ord, What> PartialOrd for ScheduledEvent<At, What> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<At: Ord, What> Ord for ScheduledEvent<At, What> {
    /// Orders entries so that the heap, which gives its greatest entry first, gives the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.at, other.order).cmp(&(&self.at, self.order))
    }
}

/// A queue of events, each with its time.
#[derive(Debug)]
pub struct Scheduler<At, What> {
    heap: BinaryHeap<ScheduledEvent<At, What>>,
    order: u64,
}

impl<At: Ord, What> Default for Scheduler<At, What> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), order: 0 }
    }
}

impl<At: Ord + Copy, What> Scheduler<At, What> {
    /// Adds an event, after all that are already there for its time.
    pub fn push(&mut self, at: At, what: What) {
        self.order += 1;
        self.heap.push(ScheduledEvent { at, order: self.order, what });
    }

    /// Returns the time of the next event.
    #[must_use]
    pub fn next(&self) -> Option<At> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Removes and returns the next event.
    pub fn pop(&mut self) -> Option<(At, What)> {
        self.heap.pop().map(|entry| (entry.at, entry.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn by_time_and_then_by_order() {
        let mut events = Scheduler::default();
        for (what, at) in [(0, 5), (1, 3), (2, 5), (3, 3), (4, 9)] {
            events.push(at, what);
        }
        assert_eq!(events.next(), Some(3));
        let order: Vec<(u64, u16)> = core::iter::from_fn(|| events.pop()).collect();
        assert_eq!(order, [(3, 1), (3, 3), (5, 0), (5, 2), (9, 4)]);
        assert_eq!(events.next(), None);
    }
}
