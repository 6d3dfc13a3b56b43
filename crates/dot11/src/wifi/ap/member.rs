//! The associated stations of an access point.

use super::keep::BufferedPacket;
use super::{LARGEST_AID, WifiAp};
use crate::mac::WirelessMedium;
use crate::wifi::Msdu;
use crate::wifi::rate::RateControl;
use crate::wifi::upper::{SentPacket, UpperLayer};
use alloc::collections::VecDeque;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// A station that is associated with the access point.
#[derive(Clone, Debug)]
pub(super) struct AssociatedStation {
    /// The number of the station in the medium.
    pub(super) station: u32,
    /// Whether the station has its keys, so that packets may flow.
    pub(super) open: bool,
    /// The time at which the station was last heard.
    pub(super) heard: Instant,
    /// Whether the station has QoS.
    pub(super) qos: bool,
    /// Whether the station has told that it sleeps.
    pub(super) asleep: bool,
    /// The packets buffered for the station.
    pub(super) kept: VecDeque<BufferedPacket>,
    /// The packets in the MAC's queue for the station.
    pub(super) in_flight: VecDeque<BufferedPacket>,
    /// The rate control towards the station.
    pub(super) rate: RateControl,
    order: u32,
}

impl AssociatedStation {
    /// Returns a packet for the station, with its number in the order of all its packets.
    pub(super) const fn packet(&mut self, now: Instant, packet: Msdu) -> BufferedPacket {
        self.order = self.order.wrapping_add(1);
        BufferedPacket { order: self.order, ..BufferedPacket::new(now, packet) }
    }

    /// Removes a packet that the MAC is done with: mostly the oldest, else one of the same A-MPDU.
    pub(super) fn take_in_flight(&mut self, tag: u64) -> Option<BufferedPacket> {
        let at = self.in_flight.iter().position(|it| it.tag == tag)?;
        self.in_flight.remove(at)
    }
}

impl WifiAp {
    pub(super) fn member(&mut self, aid: u16) -> Option<&mut AssociatedStation> {
        self.members.get_mut(usize::from(aid).checked_sub(1)?)?.as_mut()
    }

    /// Returns the association identifier of a station.
    pub(in crate::wifi) fn aid(&self, station: u32) -> Option<u16> {
        self.aids.get(station as usize).copied().filter(|&aid| aid != 0)
    }

    /// Returns the associated stations, in the order of their identifiers.
    pub(in crate::wifi) fn stations(&self) -> impl Iterator<Item = u32> {
        self.members.iter().flatten().map(|member| member.station)
    }

    /// Returns whether a station is associated and has its keys.
    pub(in crate::wifi) fn knows(&self, station: u32) -> bool {
        let member = self.aid(station).and_then(|aid| self.members.get(usize::from(aid) - 1));
        member.is_some_and(|it| it.as_ref().is_some_and(|it| it.open))
    }

    /// Admits a station and returns its association identifier, or `None` if there are too many.
    pub(in crate::wifi) fn admit(&mut self, station: u32, qos: bool) -> Option<u16> {
        if let Some(aid) = self.aid(station) {
            return Some(aid);
        }
        let free = self.members.iter().position(Option::is_none).unwrap_or(self.members.len());
        let most = self.config.most_stations.min(LARGEST_AID);
        if free >= usize::from(most) {
            return None;
        }
        if free == self.members.len() {
            self.members.push(None);
        }
        self.members[free] = Some(AssociatedStation {
            station,
            open: false,
            heard: Instant::ZERO,
            qos,
            asleep: false,
            kept: VecDeque::new(),
            in_flight: VecDeque::new(),
            rate: RateControl::new(&self.config.rates),
            order: 0,
        });
        let words = self.members.len() / 64 + 1;
        self.told.resize(words, 0);
        self.waits.resize(words, 0);
        let at = station as usize;
        if self.aids.len() <= at {
            self.aids.resize(at + 1, 0);
        }
        let aid = free as u16 + 1;
        self.aids[at] = aid;
        Some(aid)
    }

    /// Admits a station that is associated and has its keys from the start.
    pub(in crate::wifi) fn admit_open(&mut self, station: u32, qos: bool) -> Option<u16> {
        let aid = self.admit(station, qos)?;
        if let Some(member) = self.member(aid) {
            member.open = true;
        }
        Some(aid)
    }

    /// Takes note that a station was heard.
    pub(in crate::wifi) fn on_heard(&mut self, medium: &WirelessMedium, station: u32) {
        if let Some(aid) = self.aid(station)
            && let Some(member) = self.member(aid)
        {
            member.heard = medium.now();
        }
    }

    /// Deauthenticates stations that were not heard for long, one at a time; called at each beacon.
    pub(super) fn forget(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        let (now, most) = (medium.now(), self.config.inactive);
        let gone = self.members.iter().flatten().find(|it| now.since(it.heard) > most);
        if let Some(station) = gone.map(|it| it.station) {
            self.deauthenticate(medium, station, upper);
        }
    }

    /// Forgets a station, and its progress in joining.
    pub(in crate::wifi) fn forget_station(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        upper: &mut dyn UpperLayer,
    ) {
        self.guests.remove(&station);
        self.disassociate(medium, station, upper);
    }

    /// Forgets an associated station. Its buffered packets are lost; those in the MAC's queue are
    /// sent.
    pub(super) fn disassociate(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        upper: &mut dyn UpperLayer,
    ) {
        let Some(aid) = self.aid(station) else { return };
        self.aids[station as usize] = 0;
        let Some(member) = self.members[usize::from(aid) - 1].take() else { return };
        self.sleepers -= u16::from(member.asleep);
        if !member.kept.is_empty() {
            self.clear_tim_bit(aid);
        }
        for kept in member.kept {
            let lost = Some(Cause::Disconnected);
            self.end(medium, SentPacket { tag: kept.tag, lost, attempts: 0 }, upper);
        }
        self.release_group(medium);
    }

    /// Takes note of a station's power management bit.
    pub(in crate::wifi) fn set_power_save(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        asleep: bool,
    ) {
        let Some(aid) = self.aid(station) else { return };
        let Some(member) = self.member(aid) else { return };
        if member.asleep == asleep {
            return;
        }
        member.asleep = asleep;
        let waits = !member.kept.is_empty();
        if asleep {
            self.sleepers += 1;
            self.drains.retain(|&it| it != aid);
            return;
        }
        self.sleepers -= 1;
        if waits {
            self.drains.push_back(aid);
            self.drain(medium);
        }
        self.release_group(medium);
    }
}
