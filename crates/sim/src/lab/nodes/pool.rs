//! Frames on the air: each is kept once, however many receivers wait for it, and its memory is
//! used again.

use super::device::NodeId;
use alloc::vec::Vec;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// A frame in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handle(u32);

impl Handle {
    /// Returns the handle as a number, for whoever keeps handles as such.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Makes the handle from its [`number`](Handle::number).
    pub(crate) const fn of(number: u32) -> Self {
        Self(number)
    }
}

/// The origin of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameOrigin {
    /// Time at which it was handed to the driver.
    pub(crate) at: Instant,
    /// Number of the frame in the conversation.
    pub(crate) number: u64,
    /// Sender of the frame.
    pub(crate) node: NodeId,
    /// Number of the sender's life.
    pub(crate) life: u32,
}

/// A frame as it was handed to a driver.
#[derive(Clone, Debug)]
pub(crate) struct PooledFrame {
    pub(crate) data: Vec<u8>,
    pub(crate) at: Instant,
    pub(crate) number: u64,
    pub(crate) node: NodeId,
    pub(crate) life: u32,
    pub(crate) from: Mac,
    pub(crate) to: Mac,
    pub(crate) channel: u8,
    holders: u32,
}

#[derive(Debug, Default)]
pub(crate) struct FramePool {
    frames: Vec<PooledFrame>,
    free: Vec<Handle>,
}

impl FramePool {
    /// Takes a frame in, held once.
    pub(crate) fn put(&mut self, stamp: FrameOrigin, to: Mac, channel: u8, data: &[u8]) -> Handle {
        let FrameOrigin { at, number, node, life } = stamp;
        let from = node.mac();
        let frame =
            |data| PooledFrame { data, at, number, node, life, from, to, channel, holders: 1 };
        if let Some(handle) = self.free.pop()
            && let Some(place) = self.frames.get_mut(handle.0 as usize)
        {
            let mut kept = core::mem::take(&mut place.data);
            kept.clear();
            kept.extend_from_slice(data);
            *place = frame(kept);
            return handle;
        }
        let handle = Handle(self.frames.len() as u32);
        self.frames.push(frame(data.into()));
        handle
    }

    pub(crate) fn get(&self, handle: Handle) -> &PooledFrame {
        &self.frames[handle.0 as usize]
    }

    /// Lends the bytes of a frame that is held, to be given back with
    /// [`take_back`](Self::take_back); with them its sender's address and its receiver's.
    pub(crate) fn lend(&mut self, handle: Handle) -> (Vec<u8>, Mac, Mac) {
        let frame = &mut self.frames[handle.0 as usize];
        (core::mem::take(&mut frame.data), frame.from, frame.to)
    }

    /// Takes back the bytes that were lent.
    pub(crate) fn take_back(&mut self, handle: Handle, data: Vec<u8>) {
        self.frames[handle.0 as usize].data = data;
    }

    /// Counts one more holder of the frame.
    pub(crate) fn share(&mut self, handle: Handle) {
        self.frames[handle.0 as usize].holders += 1;
    }

    /// Counts one fewer holder of the frame.
    pub(crate) fn release(&mut self, handle: Handle) {
        let frame = &mut self.frames[handle.0 as usize];
        frame.holders -= 1;
        if frame.holders == 0 {
            self.free.push(handle);
        }
    }

    /// Returns the number of frames that are in use.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.frames.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_nobody_holds_it() {
        let mut pool = FramePool::default();
        let stamp = FrameOrigin { at: Instant::ZERO, number: 1, node: NodeId(0), life: 0 };
        let put = |pool: &mut FramePool, data: &[u8]| pool.put(stamp, Mac::BROADCAST, 1, data);
        let first = put(&mut pool, b"first");
        pool.share(first);
        pool.release(first);
        let second = put(&mut pool, b"2");
        assert_ne!(first, second);
        assert_eq!(
            (&pool.get(first).data[..], &pool.get(second).data[..]),
            (&b"first"[..], &b"2"[..])
        );
        pool.release(first);
        assert_eq!((put(&mut pool, b"third"), pool.held()), (first, 2));
        assert_eq!(pool.get(first).data, b"third");
    }
}
