//! Packets on their way: each is kept once, under a number, for all who hold it, and its memory is used
//! again.

use alloc::vec::Vec;

/// Facts about a packet beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The machine that it comes from.
    pub(super) from: u16,
    /// The machine that it goes to; [`ALL`] for multicast.
    pub(super) to: u16,
    /// Time at which it came to the queue of the station that has it, in nanoseconds.
    pub(super) queued: u64,
}

/// To every machine.
pub(super) const ALL: u16 = u16::MAX;

#[derive(Debug)]
struct Packet {
    head: Head,
    bytes: Vec<u8>,
    /// Number of its holders: its sender, a reorder buffer, and its receivers.
    holders: u16,
    /// True where it waits in a reorder buffer.
    waits: bool,
}

/// The packets of a lab.
#[derive(Debug, Default)]
pub(super) struct Pool {
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// Packets that are held now, and the most there were.
    held: usize,
    most: usize,
}

impl Pool {
    /// Takes a packet in.
    pub(super) fn put(&mut self, head: Head, bytes: &[u8]) -> u32 {
        self.held += 1;
        self.most = self.most.max(self.held);
        if let Some(number) = self.free.pop()
            && let Some(it) = self.packets.get_mut(number as usize)
        {
            it.head = head;
            it.holders = 1;
            it.bytes.clear();
            it.bytes.extend_from_slice(bytes);
            return number;
        }
        self.packets.push(Packet { head, bytes: bytes.into(), holders: 1, waits: false });
        (self.packets.len() - 1) as u32
    }

    /// Adds a holder of the packet, who changes nothing of it.
    pub(super) fn share(&mut self, number: u32) {
        if let Some(it) = self.packets.get_mut(number as usize) {
            it.holders += 1;
        }
    }

    /// Notes that a reorder buffer holds the packet.
    pub(super) fn wait(&mut self, number: u32) {
        if let Some(it) = self.packets.get_mut(number as usize).filter(|it| !it.waits) {
            it.waits = true;
            it.holders += 1;
        }
    }

    /// Notes that the packet has gone up: if it had to wait, no reorder buffer holds it any more.
    pub(super) fn waited(&mut self, number: u32) {
        if self.packets.get_mut(number as usize).is_some_and(|it| core::mem::take(&mut it.waits)) {
            self.forget(number);
        }
    }

    /// Returns who sends the packet to whom.
    pub(super) fn head(&self, number: u32) -> Head {
        self.packets.get(number as usize).map_or_else(Head::default, |it| it.head)
    }

    /// Notes the time at which the packet comes to a station's queue.
    pub(super) fn stamp(&mut self, number: u32, now: u64) {
        if let Some(it) = self.packets.get_mut(number as usize) {
            it.head.queued = now;
        }
    }

    /// Returns the bytes of the packet.
    pub(super) fn bytes(&self, number: u32) -> &[u8] {
        self.packets.get(number as usize).map_or(&[], |it| &it.bytes)
    }

    /// Takes its bytes out, for somebody who also puts packets in meanwhile.
    pub(super) fn take(&mut self, number: u32) -> Vec<u8> {
        self.packets
            .get_mut(number as usize)
            .map(|it| core::mem::take(&mut it.bytes))
            .unwrap_or_default()
    }

    /// Puts them back.
    pub(super) fn give_back(&mut self, number: u32, bytes: Vec<u8>) {
        if let Some(it) = self.packets.get_mut(number as usize) {
            it.bytes = bytes;
        }
    }

    /// Removes a holder of the packet, which has arrived or is lost. Without holders its place is
    /// free.
    pub(super) fn forget(&mut self, number: u32) {
        let Some(it) = self.packets.get_mut(number as usize) else { return };
        it.holders -= 1;
        if it.holders == 0 {
            self.held -= 1;
            self.free.push(number);
        }
    }

    /// Returns the number of packets that are on their way.
    #[cfg(test)]
    pub(super) const fn held(&self) -> usize {
        self.held
    }

    /// Returns the largest number of packets at one time.
    #[cfg(test)]
    pub(super) const fn most(&self) -> usize {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let mut pool = Pool::default();
        let head = Head { from: 1, to: 2, queued: 0 };
        for round in 0..100_u8 {
            let (a, b) = (pool.put(head, &[round; 9]), pool.put(head, &[round + 1; 3]));
            assert_eq!((pool.bytes(a), pool.bytes(b)), (&[round; 9][..], &[round + 1; 3][..]));
            assert_eq!(pool.head(b), head);
            pool.forget(a);
            pool.forget(b);
        }
        assert_eq!((pool.held(), pool.most(), pool.packets.len()), (0, 2, 2));
    }

    #[test]
    fn a_packet_is_there_until_its_last_holder_forgets_it() {
        let mut pool = Pool::default();
        let packet = pool.put(Head::default(), &[1, 2, 3]);
        pool.share(packet);
        pool.forget(packet);
        let other = pool.put(Head::default(), &[4]);
        assert_eq!((pool.bytes(packet), pool.bytes(other)), (&[1, 2, 3][..], &[4][..]));
        pool.forget(packet);
        assert_eq!((pool.put(Head::default(), &[5]), pool.held()), (packet, 2));
    }
}
