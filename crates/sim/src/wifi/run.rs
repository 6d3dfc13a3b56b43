//! The room's callbacks: a world hands them on, where [`is_ours`](super::is_ours) says so.

use super::above::{Above, Received, Sent};
use super::frame::{Frame, MARK, Subtype};
use super::{Counters, Node, Wifi};
use crate::mac::{Done, Heard, Missed, OnAir, Room};
use espbench_proto::sample::Cause;

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
        let _ = missed;
        let Some(&Frame { info, from, .. }) = self.frames.get(frame.tag) else { return };
        for &Heard { station, rssi } in heard {
            match (info.subtype, info.packet) {
                (Subtype::Data { .. }, Some((tag, octets))) => {
                    if let Some(counters) = self.takes(from, station) {
                        counters.received += 1;
                        let group = frame.is_group();
                        above.received(room, station, Received { from, tag, octets, rssi, group });
                    }
                }
                (Subtype::Beacon, _) => self.beacon_heard(from, station),
                _ => {}
            }
        }
    }

    /// The MAC is done with a frame of this layer: see [`Host::done`](crate::mac::Host::done).
    pub fn done(&mut self, room: &mut Room, station: u32, done: Done, above: &mut dyn Above) {
        let Some(frame) = self.frames.take(done.tag) else { return };
        if let (Subtype::Beacon, Some(Node::Ap(ap))) =
            (frame.info.subtype, self.nodes.get_mut(station as usize))
        {
            ap.beacon_done();
        }
        if let Some((tag, _)) = frame.info.packet {
            let lost = (!done.delivered).then_some(Cause::RetryLimit);
            if let Some(counters) = self.counters_of(station) {
                counters.sent += u64::from(done.delivered);
                counters.lost += u64::from(!done.delivered);
            }
            above.sent(room, station, Sent { tag, lost, attempts: done.attempts });
        }
    }

    /// A time that this layer asked for: see [`Host::wake`](crate::mac::Host::wake).
    pub fn wake(&mut self, room: &mut Room, token: u64, above: &mut dyn Above) {
        let _ = above;
        let number = (token & !MARK) as u32;
        if let Some(Node::Ap(ap)) = self.nodes.get_mut(number as usize)
            && room.now() >= ap.next_beacon()
        {
            ap.beacon(room, &mut self.frames, number);
        }
    }

    fn counters_of(&mut self, number: u32) -> Option<&mut Counters> {
        match self.nodes.get_mut(number as usize)? {
            Node::Station(it) => Some(&mut it.counters),
            Node::Ap(it) => Some(&mut it.counters),
            Node::Foreign => None,
        }
    }

    /// The counters of a station that takes data from that one: it is associated with it.
    fn takes(&mut self, from: u32, station: u32) -> Option<&mut Counters> {
        match self.nodes.get_mut(station as usize)? {
            Node::Station(it) => (it.ap() == Some(from)).then_some(&mut it.counters),
            Node::Ap(it) => it.aid(from).is_some().then_some(&mut it.counters),
            Node::Foreign => None,
        }
    }

    fn beacon_heard(&mut self, from: u32, station: u32) {
        if let Some(Node::Station(it)) = self.nodes.get_mut(station as usize)
            && it.ap() == Some(from)
        {
            it.counters.beacons += 1;
        }
    }
}
