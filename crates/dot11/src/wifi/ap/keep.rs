//! Frames that an access point buffers for sleeping stations (11.2.3.5, 11.2.3.6).

use super::{TxFlags, WifiAp};
use crate::mac::WirelessMedium;
use crate::wifi::Msdu;
use crate::wifi::upper::{SentPacket, UpperLayer};
use alloc::vec::Vec;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// A packet that is buffered, or is with the MAC.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferedPacket {
    pub(super) tag: u64,
    pub(super) octets: u32,
    /// The packet's number in the order of its receiver's packets.
    pub(super) order: u32,
    /// The time at which the packet was taken.
    pub(super) since: Instant,
}

impl BufferedPacket {
    pub(super) const fn new(since: Instant, packet: Msdu) -> Self {
        Self { tag: packet.tag, octets: packet.octets, order: 0, since }
    }
}

impl WifiAp {
    /// Buffers a packet for a station in its order: a packet that comes back from the MAC is older
    /// than those buffered already. (Newer packets that are with the MAC may still go before it, if
    /// the station wakes meanwhile. The access point must be busy for longer than its station stays
    /// awake for that.)
    pub(super) fn keep(&mut self, aid: u16, kept: BufferedPacket) {
        let Some(member) = self.member(aid) else { return };
        let first = member.kept.is_empty();
        let newer = |it: &BufferedPacket| it.order.wrapping_sub(kept.order) as i32 > 0;
        let at = member.kept.iter().rposition(|it| !newer(it)).map_or(0, |at| at + 1);
        member.kept.insert(at, kept);
        if first {
            let bit = usize::from(aid);
            self.waits[bit / 64] |= 1 << (bit % 64);
            self.waiting += 1;
        }
    }

    /// Clears a station's bit in the traffic indication map.
    pub(super) fn clear_tim_bit(&mut self, aid: u16) {
        let bit = usize::from(aid);
        self.waits[bit / 64] &= !(1 << (bit % 64));
        self.waiting -= 1;
    }

    /// Returns whether the last beacon has announced buffered frames for a station.
    pub(in crate::wifi) fn tim_announced(&self, aid: u16) -> bool {
        let bit = usize::from(aid);
        self.told.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Hands the buffered packets of awake stations to the MAC, as far as it has buffers.
    pub(super) fn drain(&mut self, medium: &mut WirelessMedium) {
        while let Some(&aid) = self.drains.front() {
            while let Some((kept, more)) = self.oldest(aid) {
                if !self.transmit(medium, aid, kept, TxFlags { more, ahead: false }) {
                    return;
                }
                self.taken(aid);
            }
            self.drains.pop_front();
        }
    }

    /// Answers a PS-Poll of a sleeping station with one packet (11.2.3.6).
    pub(in crate::wifi) fn on_ps_poll(&mut self, medium: &mut WirelessMedium, station: u32) {
        let Some(aid) = self.aid(station) else { return };
        if let Some((kept, more)) = self.oldest(aid)
            && self.transmit(medium, aid, kept, TxFlags { more, ahead: true })
        {
            self.taken(aid);
        }
    }

    /// Returns the oldest packet buffered for a station, and whether there are more.
    fn oldest(&mut self, aid: u16) -> Option<(BufferedPacket, bool)> {
        let member = self.member(aid)?;
        member.kept.front().map(|&kept| (kept, member.kept.len() > 1))
    }

    /// Removes the oldest packet, which went to the MAC.
    fn taken(&mut self, aid: u16) {
        let Some(member) = self.member(aid) else { return };
        member.kept.pop_front();
        if member.kept.is_empty() {
            self.clear_tim_bit(aid);
        }
    }

    /// Hands multicast to the MAC after a DTIM, or when no station sleeps any more.
    pub(super) fn send_kept_group(&mut self, medium: &mut WirelessMedium) {
        while let Some(&kept) = self.group.front() {
            let more = self.group.len() > 1;
            if !self.transmit_group(medium, kept, TxFlags { more, ahead: true }) {
                // The rest goes after the next DTIM.
                return;
            }
            self.group.pop_front();
        }
    }

    /// Sends the buffered multicast if no station sleeps any more.
    pub(super) fn release_group(&mut self, medium: &mut WirelessMedium) {
        if self.sleepers == 0 {
            self.send_kept_group(medium);
        }
    }

    /// Drops packets that have been buffered for too long; called at each beacon.
    pub(super) fn age(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        if self.waiting == 0 {
            return;
        }
        let (now, most) = (medium.now(), self.config.aging);
        let mut old = Vec::new();
        for at in 0..self.members.len() {
            let Some(member) = &mut self.members[at] else { continue };
            let first = old.len();
            while let Some(kept) = member.kept.front().filter(|it| now.since(it.since) > most) {
                old.push(kept.tag);
                member.kept.pop_front();
            }
            if member.kept.is_empty() && old.len() > first {
                self.clear_tim_bit(at as u16 + 1);
            }
        }
        for tag in old {
            self.counters.aged += 1;
            self.end(medium, SentPacket { tag, lost: Some(Cause::Aged), attempts: 0 }, upper);
        }
    }
}
