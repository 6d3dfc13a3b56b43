//! What a connection has received and its program has not read: lwIP's receive mailbox, with one
//! entry for each segment in order, and what waits out of order.

use super::after;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// An entry: what one segment brought, with what it made whole.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes: u32,
    packets: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    /// How many entries it takes; 0: any number.
    most: usize,
    entries: VecDeque<Entry>,
    /// Whether the first has been read in part: it is the reader's then (`lastdata` of a socket).
    begun: bool,
    /// Bytes of all entries.
    readable: u32,
    /// What came when it was full (`refused_data`).
    refused: Option<Entry>,
    /// Where the segments out of order end.
    apart: Vec<u32>,
    /// Packets of all these.
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

    /// So many bytes are in order now, up to `next`; false where they are refused.
    pub(super) fn put(&mut self, bytes: u32, next: u32) -> bool {
        let before = self.apart.len();
        self.apart.retain(|&end| after(end, next));
        let joined = (before - self.apart.len()) as u32;
        // A packet out of order has been counted when it came.
        self.packets += 1;
        let entry = Entry { bytes, packets: 1 + joined };
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

    fn accept(&mut self, entry: Entry) {
        self.readable += entry.bytes;
        self.entries.push_back(entry);
    }

    /// Whether something waits that was refused.
    pub(super) const fn refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Tries once more to put it in; true where nothing is refused any more.
    pub(super) fn retry(&mut self) -> bool {
        if self.full() {
            return self.refused.is_none();
        }
        if let Some(entry) = self.refused.take() {
            self.accept(entry);
        }
        true
    }

    /// A packet out of order that ends there; false where that place is taken.
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

    /// Bytes that a program may read.
    pub(super) const fn readable(&self) -> u32 {
        self.readable
    }

    /// Entries that wait.
    pub(super) fn entries(&self) -> usize {
        self.entries.len() - usize::from(self.begun)
    }

    /// Packets that came out of order.
    pub(super) fn out_of_order(&self) -> u32 {
        self.apart.len() as u32
    }

    /// Packets that are kept.
    pub(super) const fn packets(&self) -> u32 {
        self.packets
    }

    /// Everything was thrown away.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.apart.clear();
        self.refused = None;
        (self.begun, self.readable, self.packets) = (false, 0, 0);
    }

    /// So many bytes were read.
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
