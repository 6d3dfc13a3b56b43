//! The callbacks of the medium, which the caller hands on where [`is_ours`](super::is_ours) says
//! so.

use super::frame::{FrameContents, FrameInfo, MARK, Subtype, WifiFrame};
use super::octets::Encapsulation;
use super::station::ReceivedBeacon;
use super::tag::DataTag;
use super::upper::{ReceivedPacket, UpperLayer};
use super::{WifiCounters, WifiLayer, WifiNode};
use crate::mac::{MissedReception, Ppdu, Reception, TxStatus, WirelessMedium};
use crate::radio::airtime;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

impl WifiLayer {
    /// Handles the end of a frame of this layer; see
    /// [`MacUser::on_data`](crate::mac::MacUser::on_data).
    pub fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
        upper: &mut dyn UpperLayer,
    ) {
        if let Some(data) = DataTag::unpack(frame.tag) {
            if frame.is_group() {
                self.group_missed(medium, frame, data, missed, upper);
            }
            for &heard in heard {
                self.data_heard(medium, frame, data, heard, upper);
            }
        } else if let Some(&it) = self.frames.get(frame.tag) {
            for &heard in heard {
                self.frame_heard(medium, frame, &it, heard, upper);
            }
        }
    }

    fn data_heard(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        data: DataTag,
        Reception { station, rssi }: Reception,
        upper: &mut dyn UpperLayer,
    ) {
        let wrap = self.wrap(frame.from, data.aid);
        let asleep = self.announces_power_save(frame.from);
        let Self { nodes, frames } = self;
        match nodes.get_mut(station as usize) {
            Some(WifiNode::Station(it)) if it.takes(frame.from, data.aid) => {
                it.counters.received += 1;
                it.packet_heard(medium, frames, (frame.is_group(), data.more), upper);
            }
            Some(WifiNode::Ap(it)) if !frame.is_group() && !it.knows(frame.from) => {
                it.on_unassociated_data(medium, frame.from);
                return;
            }
            Some(WifiNode::Ap(it)) if !frame.is_group() => {
                it.counters.received += 1;
                it.on_heard(medium, frame.from);
                // The frame's power management bit, which is clear mostly: see `Station::active`.
                it.set_power_save(medium, frame.from, asleep);
            }
            _ => return,
        }
        let octets = frame.octets.saturating_sub(wrap.data(0));
        let (from, tag, group) = (frame.from, data.packet, frame.is_group());
        upper.on_received(medium, station, ReceivedPacket { from, tag, octets, rssi, group });
    }

    /// Returns whether data frames of a sender have the power management bit set.
    fn announces_power_save(&self, from: u32) -> bool {
        matches!(self.nodes.get(from as usize), Some(WifiNode::Station(it)) if it.yields_radio())
    }

    /// Returns the encapsulation of a sender's data frames.
    fn wrap(&self, from: u32, aid: u16) -> Encapsulation {
        match self.nodes.get(from as usize) {
            Some(WifiNode::Station(it)) => it.wrap(),
            Some(WifiNode::Ap(it)) => it.wrap_to(aid),
            _ => Encapsulation::default(),
        }
    }

    /// Reports associated stations that have not received multicast.
    fn group_missed(
        &self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        data: DataTag,
        missed: &[MissedReception],
        upper: &mut dyn UpperLayer,
    ) {
        for &MissedReception { station, cause } in missed {
            if let Some(WifiNode::Station(it)) = self.nodes.get(station as usize)
                && it.takes(frame.from, data.aid)
            {
                let begin = Instant::from_nanos(frame.begin);
                let cause = if it.was_awake(begin) { cause } else { Cause::Asleep };
                upper.on_missed(medium, station, data.packet, cause);
            }
        }
    }

    fn frame_heard(
        &mut self,
        medium: &mut WirelessMedium,
        ppdu: &Ppdu,
        frame: &WifiFrame,
        Reception { station, rssi }: Reception,
        upper: &mut dyn UpperLayer,
    ) {
        let from = ppdu.from;
        let offer = match self.nodes.get(from as usize) {
            Some(WifiNode::Ap(ap)) => {
                let mine = ap.aid(station).is_some_and(|aid| ap.tim_announced(aid));
                Some((ap.terms(medium.channel(from)), mine, ap.up_to_tim()))
            }
            _ => None,
        };
        let Self { nodes, frames } = self;
        match (nodes.get_mut(station as usize), offer) {
            (Some(WifiNode::Station(it)), Some((terms, mine, octets))) => {
                match frame.info.subtype {
                    Subtype::Beacon => {
                        it.found(medium, (terms, rssi), upper);
                        if let (FrameContents::Tbtt(tbtt), Some(tim)) = (frame.says, frame.info.tim)
                            && it.ap() == Some(from)
                        {
                            let tim_end = ppdu.begin + airtime(ppdu.mode, octets);
                            let tim_end = Instant::from_nanos(tim_end.min(ppdu.end));
                            let beacon = ReceivedBeacon { tim, mine, tbtt, tim_end };
                            it.beacon(medium, frames, beacon, upper);
                        }
                    }
                    Subtype::ProbeResponse => it.found(medium, (terms, rssi), upper),
                    _ => it.answered(medium, (from, frame), upper),
                }
            }
            (Some(WifiNode::Ap(ap)), None) => ap.frame(medium, from, frame, upper),
            _ => {}
        }
    }

    /// Handles the outcome of a frame of this layer; see
    /// [`MacUser::on_tx_status`](crate::mac::MacUser::on_tx_status). With
    /// [`WifiLayer::send_foreign`] also of a frame of no network, so that the radio may sleep
    /// again.
    pub fn on_tx_status(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        done: TxStatus,
        upper: &mut dyn UpperLayer,
    ) {
        if !super::is_ours(done.tag) {
            if let Some(WifiNode::Station(it)) = self.nodes.get_mut(station as usize) {
                it.foreign_done(medium, upper);
            }
            return;
        }
        let data = DataTag::unpack(done.tag);
        let frame = if data.is_none() { self.frames.take(done.tag) } else { None };
        match (self.nodes.get_mut(station as usize), data, frame) {
            (Some(WifiNode::Station(it)), Some(data), _) => it.data_done(medium, data, done, upper),
            (Some(WifiNode::Ap(it)), Some(data), _) => it.data_done(medium, data, done, upper),
            (Some(WifiNode::Station(it)), None, Some(frame)) => {
                it.frame_done(medium, &frame, done.delivered, upper);
            }
            (Some(WifiNode::Ap(it)), None, Some(frame)) => {
                it.frame_done(medium, &frame, done.delivered)
            }
            _ => {}
        }
    }

    /// Handles a time that this layer asked for; see
    /// [`MacUser::on_wake`](crate::mac::MacUser::on_wake).
    pub fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64, upper: &mut dyn UpperLayer) {
        let Self { nodes, frames } = self;
        match nodes.get_mut((token & !MARK) as usize) {
            Some(WifiNode::Station(it)) => it.wake(medium, frames, upper),
            Some(WifiNode::Ap(it)) => it.wake(medium, frames, upper),
            _ => {}
        }
    }

    /// Returns the properties of a frame for a capture, beside those that the MAC knows, while the
    /// frame is on the air (from [`MacUser::on_tx_start`](crate::mac::MacUser::on_tx_start) to its
    /// `on_tx_status`); of an A-MPDU, those of its first frame.
    #[must_use]
    pub fn info(&self, frame: &Ppdu) -> Option<FrameInfo> {
        self.info_of(frame.from, frame.tag, frame.octets)
    }

    /// Returns the properties of a frame in an A-MPDU, by its sender, tag and octets; see
    /// [`WifiLayer::info`].
    #[must_use]
    pub fn info_of(&self, from: u32, tag: u64, octets: u32) -> Option<FrameInfo> {
        let Some(data) = DataTag::unpack(tag) else {
            return self.frames.get(tag).map(|it| it.info);
        };
        let wrap = self.wrap(from, data.aid);
        Some(FrameInfo {
            protected: wrap.protected,
            more_data: data.more,
            power_management: self.announces_power_save(from),
            packet: Some((data.packet, octets.saturating_sub(wrap.data(0)))),
            ..FrameInfo::bare(Subtype::Data { qos: wrap.qos })
        })
    }

    /// Returns the counters of a station or access point.
    #[must_use]
    pub fn counters(&self, number: u32) -> WifiCounters {
        match self.nodes.get(number as usize) {
            Some(WifiNode::Station(it)) => it.counters,
            Some(WifiNode::Ap(it)) => it.counters,
            _ => WifiCounters::default(),
        }
    }
}
