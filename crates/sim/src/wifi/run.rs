//! The room's callbacks: a world hands them on, where [`is_ours`](super::is_ours) says so.

use super::above::{Above, Received};
use super::frame::{Frame, FrameInfo, MARK, Says, Subtype};
use super::octets::Wrap;
use super::station::HeardBeacon;
use super::tag::DataTag;
use super::{Counters, Node, Wifi};
use crate::mac::{Done, Heard, Missed, OnAir, Room};
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;

impl Wifi {
    /// A frame of this layer has ended: see [`Host::heard`](crate::mac::Host::heard).
    pub fn heard(
        &mut self,
        room: &mut Room,
        frame: &OnAir,
        heard: &[Heard],
        missed: &[Missed],
        above: &mut dyn Above,
    ) {
        if let Some(data) = DataTag::unpack(frame.tag) {
            if frame.is_group() {
                self.group_missed(room, frame, data, missed, above);
            }
            for &heard in heard {
                self.data_heard(room, frame, data, heard, above);
            }
        } else if let Some(&it) = self.frames.get(frame.tag) {
            for &heard in heard {
                self.frame_heard(room, frame.from, &it, heard, above);
            }
        }
    }

    fn data_heard(
        &mut self,
        room: &mut Room,
        frame: &OnAir,
        data: DataTag,
        Heard { station, rssi }: Heard,
        above: &mut dyn Above,
    ) {
        let wrap = self.wrap(frame.from, data.aid);
        let asleep = self.tells_sleep(frame.from);
        let Self { nodes, frames } = self;
        match nodes.get_mut(station as usize) {
            Some(Node::Station(it)) if it.takes(frame.from, data.aid) => {
                it.counters.received += 1;
                it.packet_heard(room, frames, (frame.is_group(), data.more), above);
            }
            Some(Node::Ap(it)) if !frame.is_group() && !it.knows(frame.from) => {
                it.stranger(room, frame.from);
                return;
            }
            Some(Node::Ap(it)) if !frame.is_group() => {
                it.counters.received += 1;
                it.hears(room, frame.from);
                // Its power management bit, which is clear mostly: see `Station::active`.
                it.sleeps(room, frame.from, asleep);
            }
            _ => return,
        }
        let octets = frame.octets.saturating_sub(wrap.data(0));
        let (from, tag, group) = (frame.from, data.packet, frame.is_group());
        above.received(room, station, Received { from, tag, octets, rssi, group });
    }

    /// Whether data frames of a sender have the power management bit set.
    fn tells_sleep(&self, from: u32) -> bool {
        matches!(self.nodes.get(from as usize), Some(Node::Station(it)) if it.gives_way())
    }

    /// How data frames of a sender are wrapped.
    fn wrap(&self, from: u32, aid: u16) -> Wrap {
        match self.nodes.get(from as usize) {
            Some(Node::Station(it)) => it.wrap(),
            Some(Node::Ap(it)) => it.wrap_to(aid),
            _ => Wrap::default(),
        }
    }

    /// Members that have not received multicast.
    fn group_missed(
        &self,
        room: &mut Room,
        frame: &OnAir,
        data: DataTag,
        missed: &[Missed],
        above: &mut dyn Above,
    ) {
        for &Missed { station, cause } in missed {
            if let Some(Node::Station(it)) = self.nodes.get(station as usize)
                && it.takes(frame.from, data.aid)
            {
                let begin = Instant::from_nanos(frame.begin);
                let cause = if it.was_awake(begin) { cause } else { Cause::Asleep };
                above.missed(room, station, data.packet, cause);
            }
        }
    }

    fn frame_heard(
        &mut self,
        room: &mut Room,
        from: u32,
        frame: &Frame,
        Heard { station, rssi }: Heard,
        above: &mut dyn Above,
    ) {
        let offer = match self.nodes.get(from as usize) {
            Some(Node::Ap(ap)) => {
                let mine = ap.aid(station).is_some_and(|aid| ap.has_told(aid));
                Some((ap.terms(room.channel(from)), mine))
            }
            _ => None,
        };
        let Self { nodes, frames } = self;
        match (nodes.get_mut(station as usize), offer) {
            (Some(Node::Station(it)), Some((terms, mine))) => match frame.info.subtype {
                Subtype::Beacon => {
                    it.found(room, (terms, rssi), above);
                    if let (Says::Tbtt(tbtt), Some(tim)) = (frame.says, frame.info.tim)
                        && it.ap() == Some(from)
                    {
                        it.beacon(room, frames, HeardBeacon { tim, mine, tbtt }, above);
                    }
                }
                Subtype::ProbeResponse => it.found(room, (terms, rssi), above),
                _ => it.answered(room, (from, frame), above),
            },
            (Some(Node::Ap(ap)), None) => ap.frame(room, from, frame, above),
            _ => {}
        }
    }

    /// The MAC is done with a frame of this layer: see [`Host::done`](crate::mac::Host::done). With
    /// [`Wifi::send_foreign`] also one of no network, so that the radio may sleep again.
    pub fn done(&mut self, room: &mut Room, station: u32, done: Done, above: &mut dyn Above) {
        if !super::is_ours(done.tag) {
            if let Some(Node::Station(it)) = self.nodes.get_mut(station as usize) {
                it.foreign_done(room, above);
            }
            return;
        }
        let data = DataTag::unpack(done.tag);
        let frame = if data.is_none() { self.frames.take(done.tag) } else { None };
        match (self.nodes.get_mut(station as usize), data, frame) {
            (Some(Node::Station(it)), Some(data), _) => it.data_done(room, data, done, above),
            (Some(Node::Ap(it)), Some(data), _) => it.data_done(room, data, done, above),
            (Some(Node::Station(it)), None, Some(frame)) => {
                it.frame_done(room, &frame, done.delivered, above);
            }
            (Some(Node::Ap(it)), None, Some(frame)) => it.frame_done(room, &frame, done.delivered),
            _ => {}
        }
    }

    /// A time that this layer asked for: see [`Host::wake`](crate::mac::Host::wake).
    pub fn wake(&mut self, room: &mut Room, token: u64, above: &mut dyn Above) {
        let Self { nodes, frames } = self;
        match nodes.get_mut((token & !MARK) as usize) {
            Some(Node::Station(it)) => it.wake(room, frames, above),
            Some(Node::Ap(it)) => it.wake(room, frames, above),
            _ => {}
        }
    }

    /// What a capture shows of a frame of this layer, beside what the MAC knows, while it is on the
    /// air (from [`Host::began`](crate::mac::Host::began) to its `done`). Of an A-MPDU, what it
    /// shows of its first frame.
    #[must_use]
    pub fn info(&self, frame: &OnAir) -> Option<FrameInfo> {
        self.info_of(frame.from, frame.tag, frame.octets)
    }

    /// As [`Wifi::info`], for a frame in an A-MPDU: by its sender, tag and octets.
    #[must_use]
    pub fn info_of(&self, from: u32, tag: u64, octets: u32) -> Option<FrameInfo> {
        let Some(data) = DataTag::unpack(tag) else {
            return self.frames.get(tag).map(|it| it.info);
        };
        let wrap = self.wrap(from, data.aid);
        Some(FrameInfo {
            protected: wrap.protected,
            more_data: data.more,
            power_management: self.tells_sleep(from),
            packet: Some((data.packet, octets.saturating_sub(wrap.data(0)))),
            ..FrameInfo::bare(Subtype::Data { qos: wrap.qos })
        })
    }

    /// What a station or access point has counted.
    #[must_use]
    pub fn counters(&self, number: u32) -> Counters {
        match self.nodes.get(number as usize) {
            Some(Node::Station(it)) => it.counters,
            Some(Node::Ap(it)) => it.counters,
            _ => Counters::default(),
        }
    }
}
