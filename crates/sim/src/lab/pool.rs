//! Packets on their way: each is kept once for all who hold it, and its memory is used again.

use alloc::vec::Vec;

/// A packet in a [`PacketPool`].
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

/// A packet, and facts about it beside its bytes.
#[derive(Clone, Debug)]
pub(crate) struct PooledPacket<H> {
    pub(crate) head: H,
    pub(crate) data: Vec<u8>,
    holders: u32,
}

/// The packets of a lab, with the facts `H` about each.
#[derive(Debug)]
pub(crate) struct PacketPool<H> {
    packets: Vec<PooledPacket<H>>,
    free: Vec<Handle>,
}

impl<H> Default for PacketPool<H> {
    fn default() -> Self {
        Self { packets: Vec::new(), free: Vec::new() }
    }
}

impl<H> PacketPool<H> {
    /// Takes a packet in, held once.
    pub(crate) fn put(&mut self, head: H, data: &[u8]) -> Handle {
        if let Some(handle) = self.free.pop() {
            let packet = self.get_mut(handle);
            packet.head = head;
            packet.holders = 1;
            packet.data.clear();
            packet.data.extend_from_slice(data);
            return handle;
        }
        self.packets.push(PooledPacket { head, data: data.into(), holders: 1 });
        Handle((self.packets.len() - 1) as u32)
    }

    pub(crate) fn get(&self, handle: Handle) -> &PooledPacket<H> {
        &self.packets[handle.0 as usize]
    }

    fn get_mut(&mut self, handle: Handle) -> &mut PooledPacket<H> {
        &mut self.packets[handle.0 as usize]
    }

    /// Returns the facts about a packet, to be changed.
    pub(crate) fn head_mut(&mut self, handle: Handle) -> &mut H {
        &mut self.get_mut(handle).head
    }

    /// Lends the bytes of a packet, to somebody who also puts packets in meanwhile.
    /// [`take_back`](Self::take_back) gives them back.
    pub(crate) fn lend(&mut self, handle: Handle) -> Vec<u8> {
        core::mem::take(&mut self.get_mut(handle).data)
    }

    /// Takes back the bytes that were lent.
    pub(crate) fn take_back(&mut self, handle: Handle, data: Vec<u8>) {
        self.get_mut(handle).data = data;
    }

    /// Counts one more holder of the packet, who changes nothing of it.
    pub(crate) fn share(&mut self, handle: Handle) {
        self.get_mut(handle).holders += 1;
    }

    /// Counts one fewer holder of the packet. Without holders its place is free.
    pub(crate) fn release(&mut self, handle: Handle) {
        let packet = self.get_mut(handle);
        packet.holders -= 1;
        if packet.holders == 0 {
            self.free.push(handle);
        }
    }

    /// Returns the number of packets that are held.
    #[cfg(test)]
    pub(crate) const fn held(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let mut pool = PacketPool::default();
        for round in 0..100_u8 {
            let (a, b) = (pool.put(1, &[round; 9]), pool.put(2, &[round + 1; 3]));
            assert_eq!((&pool.get(a).data[..], pool.get(a).head), (&[round; 9][..], 1));
            assert_eq!((&pool.get(b).data[..], pool.get(b).head), (&[round + 1; 3][..], 2));
            pool.release(a);
            pool.release(b);
        }
        assert_eq!((pool.held(), pool.packets.len()), (0, 2));
    }

    #[test]
    fn a_packet_is_there_until_its_last_holder_releases_it() {
        let mut pool = PacketPool::default();
        let packet = pool.put((), &[1, 2, 3]);
        pool.share(packet);
        pool.release(packet);
        let other = pool.put((), &[4]);
        assert_eq!(pool.lend(packet), [1, 2, 3]);
        pool.take_back(packet, [5].into());
        assert_eq!((&pool.get(packet).data[..], &pool.get(other).data[..]), (&[5][..], &[4][..]));
        pool.release(packet);
        assert_eq!((pool.put((), &[6]), pool.held()), (packet, 2));
    }
}
