//! Packets on their way: each is kept once, under a number, and its memory is used again.

use alloc::vec::Vec;

/// What is known of a packet beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The machine that it comes from.
    pub(super) from: u16,
    /// The machine that it goes to; [`ALL`] for multicast.
    pub(super) to: u16,
    /// When it came to the queue of the station that has it, in nanoseconds.
    pub(super) queued: u64,
}

/// To every machine.
pub(super) const ALL: u16 = u16::MAX;

/// Who still needs a packet whose sender is done with it.
#[derive(Clone, Copy, Debug, Default)]
struct Needed {
    /// Receivers that have it and have not handed it up: it waits in a reorder buffer.
    up: u8,
    /// Its sender is done with it.
    forgotten: bool,
}

/// The packets of a world.
#[derive(Debug, Default)]
pub(super) struct Pool {
    packets: Vec<(Head, Vec<u8>)>,
    needed: Vec<Needed>,
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
            && let Some((its, memory)) = self.packets.get_mut(number as usize)
        {
            *its = head;
            memory.clear();
            memory.extend_from_slice(bytes);
            return number;
        }
        self.packets.push((head, bytes.into()));
        self.needed.push(Needed::default());
        (self.packets.len() - 1) as u32
    }

    /// Who sends it to whom.
    pub(super) fn head(&self, number: u32) -> Head {
        self.packets.get(number as usize).map_or_else(Head::default, |it| it.0)
    }

    /// It comes to a station's queue.
    pub(super) fn stamp(&mut self, number: u32, now: u64) {
        if let Some(it) = self.packets.get_mut(number as usize) {
            it.0.queued = now;
        }
    }

    /// Its bytes.
    pub(super) fn bytes(&self, number: u32) -> &[u8] {
        self.packets.get(number as usize).map_or(&[], |it| &it.1)
    }

    /// Takes its bytes out, for somebody who also puts packets in meanwhile.
    pub(super) fn take(&mut self, number: u32) -> Vec<u8> {
        self.packets
            .get_mut(number as usize)
            .map(|it| core::mem::take(&mut it.1))
            .unwrap_or_default()
    }

    /// Puts them back.
    pub(super) fn give_back(&mut self, number: u32, bytes: Vec<u8>) {
        if let Some(it) = self.packets.get_mut(number as usize) {
            it.1 = bytes;
        }
    }

    /// It has arrived, or is lost. What waits in a reorder buffer stays until it goes up.
    pub(super) fn forget(&mut self, number: u32) {
        let Some(needed) = self.needed.get_mut(number as usize) else { return };
        if needed.up > 0 {
            needed.forgotten = true;
            return;
        }
        self.held -= 1;
        self.free.push(number);
    }

    /// A receiver has taken it, and will say when it hands it up.
    pub(super) fn taken(&mut self, number: u32) {
        if let Some(needed) = self.needed.get_mut(number as usize) {
            needed.up = needed.up.saturating_add(1);
        }
    }

    /// A receiver has handed it up, or has had it before.
    pub(super) fn handed_up(&mut self, number: u32) {
        let Some(needed) = self.needed.get_mut(number as usize) else { return };
        needed.up = needed.up.saturating_sub(1);
        if needed.up == 0 && core::mem::take(&mut needed.forgotten) {
            self.forget(number);
        }
    }

    /// Packets that are on their way.
    #[cfg(test)]
    pub(super) const fn held(&self) -> usize {
        self.held
    }

    /// The most there ever were.
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
    fn what_waits_in_a_reorder_buffer_outlives_its_sending() {
        let mut pool = Pool::default();
        let head = Head { from: 1, to: 2, queued: 0 };
        let early = pool.put(head, &[1, 2]);
        pool.taken(early);
        // Its acknowledgement was lost: it comes once more.
        pool.taken(early);
        pool.handed_up(early);
        pool.forget(early);
        let next = pool.put(head, &[3]);
        assert_eq!((pool.bytes(early), pool.bytes(next)), (&[1, 2][..], &[3][..]));
        pool.handed_up(early);
        assert_eq!((pool.held(), pool.put(head, &[4])), (1, early));
    }
}
