//! Received bytes that the program has not read: lwIP's receive mailbox, with one entry for each
//! segment in order, and the segments out of order.

use super::sequence::after;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// An entry: the bytes of one segment, with those out of order that it completed.
#[derive(Clone, Copy, Debug)]
struct MailboxEntry {
    bytes: u32,
    packets: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    /// The limit on entries; 0 for none.
    most: usize,
    entries: VecDeque<MailboxEntry>,
    /// Whether the first entry has been read in part: the reader holds it then (`lastdata` of a
    /// socket).
    begun: bool,
    /// The bytes of all entries.
    readable: u32,
    /// The segment that came when the mailbox was full (`refused_data`).
    refused: Option<MailboxEntry>,
    /// The ends of the segments out of order.
    apart: Vec<u32>,
    /// The number of packets in all of these.
    packets: u32,
}

impl Mailbox {
    pub(super) const fn new(most: u16) -> Self {
        Self {
            most: most as usize,
            entries: VecDeque::new(),
            begun: false,
            readable: 0,
            refused: None,
            apart: Vec::new(),
            packets: 0,
        }
    }

    /// Puts a segment of `bytes` bytes in order, up to `next`; returns false if it is refused.
    pub(super) fn put(&mut self, bytes: u32, next: u32) -> bool {
        let before = self.apart.len();
        self.apart.retain(|&end| after(end, next));
        let joined = (before - self.apart.len()) as u32;
        // A packet out of order was counted when it came.
        self.packets += 1;
        let entry = MailboxEntry { bytes, packets: 1 + joined };
        if self.full() {
            self.refused = Some(entry);
            return false;
        }
        self.accept(entry);
        true
    }

    fn full(&self) -> bool {
        self.most > 0 && self.entries() >= self.most
    }

    fn accept(&mut self, entry: MailboxEntry) {
        self.readable += entry.bytes;
        self.entries.push_back(entry);
    }

    /// Returns whether a segment was refused and waits.
    pub(super) const fn refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Tries again to put in the refused segment; returns true if none is refused any more.
    pub(super) fn retry(&mut self) -> bool {
        if self.full() {
            return self.refused.is_none();
        }
        if let Some(entry) = self.refused.take() {
            self.accept(entry);
        }
        true
    }

    /// Adds a packet out of order that ends at `end`; returns false if there is no room.
    pub(super) fn apart(&mut self, end: u32, most: u16) -> bool {
        if self.apart.contains(&end) {
            return true;
        }
        if most > 0 && self.apart.len() >= usize::from(most) {
            return false;
        }
        self.apart.push(end);
        self.packets += 1;
        true
    }

    /// Returns the bytes that a program may read.
    pub(super) const fn readable(&self) -> u32 {
        self.readable
    }

    /// Returns the number of waiting entries.
    pub(super) fn entries(&self) -> usize {
        self.entries.len() - usize::from(self.begun)
    }

    /// Returns the number of packets out of order.
    pub(super) fn out_of_order(&self) -> u32 {
        self.apart.len() as u32
    }

    /// Returns the number of packets kept.
    pub(super) const fn packets(&self) -> u32 {
        self.packets
    }

    /// Discards everything.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.apart.clear();
        self.refused = None;
        (self.begun, self.readable, self.packets) = (false, 0, 0);
    }

    /// Takes note that bytes were read.
    pub(super) fn read(&mut self, bytes: u32) {
        self.readable -= bytes;
        let mut left = bytes;
        while let Some(first) = self.entries.front_mut() {
            if first.bytes > left {
                first.bytes -= left;
                self.begun |= left > 0;
                break;
            }
            left -= first.bytes;
            self.packets -= first.packets;
            self.entries.pop_front();
            self.begun = false;
        }
    }
}
