//! What an access point keeps for stations that sleep (11.2.3.5, 11.2.3.6).

use super::{Ap, Turn};
use crate::mac::Room;
use crate::wifi::Msdu;
use crate::wifi::above::{Above, Sent};
use alloc::vec::Vec;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;

/// A packet that waits, or is with the MAC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) tag: u64,
    pub(super) octets: u32,
    /// Its place among those of its receiver.
    pub(super) order: u32,
    /// Since when.
    pub(super) since: Instant,
}

impl Kept {
    pub(super) const fn new(since: Instant, packet: Msdu) -> Self {
        Self { tag: packet.tag, octets: packet.octets, order: 0, since }
    }
}

impl Ap {
    /// Keeps a packet for a member, in its order: what comes back from the MAC is older than what
    /// waits already. (Newer ones that are with the MAC still may go before it, if its station wakes
    /// meanwhile. It takes an access point that is busy for longer than its station stays awake.)
    pub(super) fn keep(&mut self, aid: u16, kept: Kept) {
        let Some(member) = self.member(aid) else { return };
        let first = member.kept.is_empty();
        let newer = |it: &Kept| it.order.wrapping_sub(kept.order) as i32 > 0;
        let at = member.kept.iter().rposition(|it| !newer(it)).map_or(0, |at| at + 1);
        member.kept.insert(at, kept);
        if first {
            let bit = usize::from(aid);
            self.waits[bit / 64] |= 1 << (bit % 64);
            self.waiting += 1;
        }
    }

    /// Nothing waits for a member any more.
    pub(super) fn waits_no_more(&mut self, aid: u16) {
        let bit = usize::from(aid);
        self.waits[bit / 64] &= !(1 << (bit % 64));
        self.waiting -= 1;
    }

    /// Whether the last beacon has said that something waits for that member.
    pub(in crate::wifi) fn has_told(&self, aid: u16) -> bool {
        let bit = usize::from(aid);
        self.told.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Hands what waits for members that are awake to the MAC, as far as it has buffers.
    pub(super) fn drain(&mut self, room: &mut Room) {
        while let Some(&aid) = self.drains.front() {
            while let Some((kept, more)) = self.oldest(aid) {
                if !self.transmit(room, aid, kept, Turn { more, ahead: false }) {
                    return;
                }
                self.taken(aid);
            }
            self.drains.pop_front();
        }
    }

    /// A sleeping member asks for one packet (11.2.3.6).
    pub(in crate::wifi) fn polled(&mut self, room: &mut Room, station: u32) {
        let Some(aid) = self.aid(station) else { return };
        if let Some((kept, more)) = self.oldest(aid)
            && self.transmit(room, aid, kept, Turn { more, ahead: true })
        {
            self.taken(aid);
        }
    }

    /// The oldest packet that waits for a member, and whether there are more.
    fn oldest(&mut self, aid: u16) -> Option<(Kept, bool)> {
        let member = self.member(aid)?;
        member.kept.front().map(|&kept| (kept, member.kept.len() > 1))
    }

    /// The oldest packet went to the MAC.
    fn taken(&mut self, aid: u16) {
        let Some(member) = self.member(aid) else { return };
        member.kept.pop_front();
        if member.kept.is_empty() {
            self.waits_no_more(aid);
        }
    }

    /// Hands multicast to the MAC after a DTIM, or when nobody sleeps any more.
    pub(super) fn send_kept_group(&mut self, room: &mut Room) {
        while let Some(&kept) = self.group.front() {
            let more = self.group.len() > 1;
            if !self.transmit_group(room, kept, Turn { more, ahead: true }) {
                // The rest goes after the next DTIM.
                return;
            }
            self.group.pop_front();
        }
    }

    /// Nobody sleeps any more: multicast need not wait.
    pub(super) fn release_group(&mut self, room: &mut Room) {
        if self.sleepers == 0 {
            self.send_kept_group(room);
        }
    }

    /// Drops what has waited for too long: looked for at each beacon.
    pub(super) fn age(&mut self, room: &mut Room, above: &mut dyn Above) {
        if self.waiting == 0 {
            return;
        }
        let (now, most) = (room.now(), self.config.aging);
        let mut old = Vec::new();
        for at in 0..self.members.len() {
            let Some(member) = &mut self.members[at] else { continue };
            let first = old.len();
            while let Some(kept) = member.kept.front().filter(|it| now.since(it.since) > most) {
                old.push(kept.tag);
                member.kept.pop_front();
            }
            if member.kept.is_empty() && old.len() > first {
                self.waits_no_more(at as u16 + 1);
            }
        }
        for tag in old {
            self.counters.aged += 1;
            self.end(room, Sent { tag, lost: Some(Cause::Aged), attempts: 0 }, above);
        }
    }
}
