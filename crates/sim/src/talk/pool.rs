//! Frames on the air: each is kept once, however many receivers wait for it, and its memory is
//! used again.

use super::device::NodeId;
use alloc::vec::Vec;
use espbench_proto::wire::mac::Mac;

/// A frame in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handle(u32);

/// A frame as it was handed to a driver.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) data: Vec<u8>,
    pub(super) number: u64,
    pub(super) node: NodeId,
    pub(super) from: Mac,
    pub(super) to: Mac,
    pub(super) channel: u8,
    holders: u32,
}

#[derive(Debug, Default)]
pub(super) struct Pool {
    frames: Vec<Frame>,
    free: Vec<Handle>,
}

impl Pool {
    /// Takes a frame in, held once. `number` counts them.
    pub(super) fn put(
        &mut self,
        number: u64,
        node: NodeId,
        to: Mac,
        channel: u8,
        data: &[u8],
    ) -> Handle {
        let from = node.mac();
        if let Some(handle) = self.free.pop()
            && let Some(frame) = self.frames.get_mut(handle.0 as usize)
        {
            let mut kept = core::mem::take(&mut frame.data);
            kept.clear();
            kept.extend_from_slice(data);
            *frame = Frame { data: kept, number, node, from, to, channel, holders: 1 };
            return handle;
        }
        let handle = Handle(self.frames.len() as u32);
        self.frames.push(Frame { data: data.into(), number, node, from, to, channel, holders: 1 });
        handle
    }

    pub(super) fn get(&self, handle: Handle) -> &Frame {
        &self.frames[handle.0 as usize]
    }

    /// One more holds it.
    pub(super) fn share(&mut self, handle: Handle) {
        self.frames[handle.0 as usize].holders += 1;
    }

    /// One fewer holds it.
    pub(super) fn release(&mut self, handle: Handle) {
        let frame = &mut self.frames[handle.0 as usize];
        frame.holders -= 1;
        if frame.holders == 0 {
            self.free.push(handle);
        }
    }

    /// Frames that somebody holds.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.frames.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_nobody_holds_it() {
        let mut pool = Pool::default();
        let put = |pool: &mut Pool, data: &[u8]| pool.put(1, NodeId(0), Mac::BROADCAST, 1, data);
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
