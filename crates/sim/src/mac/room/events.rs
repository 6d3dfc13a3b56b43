//! What is to happen, by time; at one time, in the order in which it was asked for.

use crate::radio::Mode;
use alloc::collections::BinaryHeap;
use core::cmp::Ordering;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A frame ends.
    End(u32),
    /// A station sends an ACK.
    Ack { station: u32, to: u32, mode: Mode },
    /// A station is on its new channel.
    Tuned(u32),
    /// The host wanted to be called.
    Wake(u64),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    order: u64,
    what: What,
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
pub(super) struct Events {
    heap: BinaryHeap<Entry>,
    order: u64,
}

impl Events {
    pub(super) fn push(&mut self, at: u64, what: What) {
        self.order += 1;
        self.heap.push(Entry { at, order: self.order, what });
    }

    /// When the next one is; never, if there is none.
    pub(super) fn next(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |entry| entry.at)
    }

    pub(super) fn pop(&mut self) -> Option<What> {
        self.heap.pop().map(|entry| entry.what)
    }
}
