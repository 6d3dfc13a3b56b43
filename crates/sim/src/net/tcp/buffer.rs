//! The received bytes of a connection: those in order that its program has not read, and those
//! behind gaps.

use alloc::vec;
use smoltcp::storage::{Assembler, RingBuffer};

pub(super) struct ReceiveBuffer {
    bytes: RingBuffer<'static, u8>,
    /// The places behind the bytes in order that are filled.
    filled: Assembler,
}

impl ReceiveBuffer {
    pub(super) fn new(len: u32) -> Self {
        Self { bytes: RingBuffer::new(vec![0; len as usize]), filled: Assembler::new() }
    }

    /// Returns the number of bytes in order.
    pub(super) fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Returns the number of bytes behind those in order that there is room for.
    pub(super) fn free(&self) -> u32 {
        self.bytes.window() as u32
    }

    /// Returns whether there are bytes behind a gap.
    pub(super) fn has_gap(&self) -> bool {
        !self.filled.is_empty()
    }

    /// Puts text at an offset behind the bytes in order, as far as there is room. Returns the number
    /// of bytes by which those in order have grown.
    pub(super) fn put(&mut self, offset: u32, text: &[u8]) -> u32 {
        let room = self.free().saturating_sub(offset) as usize;
        let (offset, text) = (offset as usize, &text[..text.len().min(room)]);
        // Text behind more gaps than the assembler counts is dropped; it comes again.
        let Ok(grown) = self.filled.add_then_remove_front(offset, text.len()) else { return 0 };
        let written = self.bytes.write_unallocated(offset, text);
        debug_assert_eq!(written, text.len(), "there was room");
        self.bytes.enqueue_unallocated(grown);
        grown as u32
    }

    /// Reads bytes in order; returns their number.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> u32 {
        self.bytes.dequeue_slice(buf) as u32
    }

    /// Discards the bytes in order.
    pub(super) fn discard(&mut self) {
        self.bytes.dequeue_allocated(self.bytes.len());
    }
}
