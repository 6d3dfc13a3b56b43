//! Stations.

mod join;
mod radio;
mod share;
mod sleep;

use super::above::{Above, Sent};
use super::clock::Clock;
use super::config::{Sleep, StationConfig};
use super::elements::Elements;
use super::frame::{Frame, FrameInfo, Frames, Says, Subtype};
use super::octets::Wrap;
use super::rate::Rate;
use super::tag::DataTag;
use super::{Counters, Msdu, Refused};
use crate::mac::{Done, Packet, Room};
use crate::radio::Mode;
use core::time::Duration;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;
use join::Joining;
use radio::{ACTIVE, FOREIGN, Radio, WINDOW};
use share::Slice;
use sleep::Doze;
pub(super) use sleep::HeardBeacon;

/// Deadlines of a station, in the order in which they are looked at.
mod deadline {
    /// The radio is on for what is to be sent.
    pub(super) const RADIO: usize = 0;
    /// Nothing has happened for so long that it may sleep.
    pub(super) const IDLE: usize = 1;
    /// It wakes for a beacon.
    pub(super) const BEACON: usize = 2;
    /// The beacon has not come.
    pub(super) const BEACON_END: usize = 3;
    /// Multicast has not come, or has ended.
    pub(super) const GROUP_END: usize = 4;
    /// It has sent nothing for long.
    pub(super) const KEEP_ALIVE: usize = 5;
    /// Joining goes on, or has failed.
    pub(super) const JOIN: usize = 6;
    /// Something is computed.
    pub(super) const WORK: usize = 7;
    /// There was no beacon for long.
    pub(super) const LOST: usize = 8;
    /// A window of the connectionless modules begins, or ends.
    pub(super) const WINDOW: usize = 9;
    pub(super) const WINDOW_END: usize = 10;
    /// The radio is on for frames of no network.
    pub(super) const FOREIGN: usize = 11;
    /// A slice of coexistence is about to end, ends, or begins.
    pub(super) const SLICE: usize = 12;
    pub(super) const COUNT: usize = 13;
    /// What ends with an association.
    pub(super) const OF_A_LINK: [usize; 9] =
        [RADIO, IDLE, BEACON, BEACON_END, GROUP_END, KEEP_ALIVE, JOIN, WORK, LOST];
}

/// What a station learns of an access point from its beacons and probe responses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) ap: u32,
    pub(super) channel: u8,
    pub(super) network: u16,
    pub(super) elements: Elements,
    pub(super) wrap: Wrap,
    /// A basic rate: how management and Null frames are sent.
    pub(super) basic: Mode,
    /// A target beacon transmission time, and beacons from there to a DTIM.
    pub(super) beacon: (Instant, u8),
    pub(super) interval: Duration,
    pub(super) dtim_period: u8,
}

/// What a station knows of the access point that it is associated with.
#[derive(Clone, Copy, Debug)]
struct Link {
    ap: u32,
    aid: u16,
    wrap: Wrap,
    basic: Mode,
    /// Time from beacon to beacon.
    interval: Duration,
    dtim_period: u8,
    /// The target time of a beacon for which it woke, and of one that is a DTIM.
    anchor: Instant,
    dtim: Instant,
    /// When it has heard a beacon.
    heard: Instant,
    /// Beacons missed in a row.
    misses: u16,
}

#[derive(Debug)]
pub(super) struct Station {
    pub(super) config: StationConfig,
    pub(super) counters: Counters,
    number: u32,
    powered: bool,
    clock: Clock<{ deadline::COUNT }>,
    rate: Rate,
    link: Option<Link>,
    joining: Joining,
    /// It knows the key of its password.
    has_key: bool,
    slice: Slice,
    radio: Radio,
    doze: Doze,
}

impl Station {
    pub(super) fn new(number: u32, config: StationConfig) -> Self {
        Self {
            counters: Counters::default(),
            number,
            powered: true,
            clock: Clock::new(number),
            rate: Rate::new(&config.rates),
            link: None,
            joining: Joining::new(),
            has_key: false,
            slice: Slice::Wifi,
            radio: Radio::default(),
            doze: Doze::Awake,
            config,
        }
    }

    pub(super) fn ap(&self) -> Option<u32> {
        self.link.map(|link| link.ap)
    }

    pub(super) const fn is_awake(&self) -> bool {
        self.radio.is_on()
    }

    /// Whether the radio is on, and was then.
    pub(super) fn was_awake(&self, at: Instant) -> bool {
        self.radio.was_on(at)
    }

    /// How data frames of its access point are wrapped.
    pub(super) fn wrap(&self) -> Wrap {
        self.link.map_or_else(Wrap::default, |link| link.wrap)
    }

    /// Whether a packet of that access point, with that identifier in its tag, is for it.
    pub(super) fn takes(&self, ap: u32, aid: u16) -> bool {
        self.link.is_some_and(|link| link.ap == ap && (aid == 0 || aid == link.aid))
    }

    pub(super) const fn forget_key(&mut self) {
        self.has_key = false;
    }

    fn sleeps_ever(&self) -> bool {
        self.config.sleep != Sleep::None
    }

    /// It is associated, and has its keys.
    pub(super) fn associate(&mut self, room: &mut Room, terms: Terms, aid: u16) {
        let Terms { ap, wrap, basic, beacon: (tbtt, to_dtim), interval, dtim_period, .. } = terms;
        self.link = Some(Link {
            ap,
            aid,
            wrap: Wrap { qos: wrap.qos && self.config.capabilities.qos, ..wrap },
            basic,
            interval,
            dtim_period: dtim_period.max(1),
            anchor: tbtt,
            dtim: tbtt + interval * u32::from(to_dtim),
            heard: room.now(),
            misses: 0,
        });
        self.rate = Rate::new(&self.config.rates);
        self.doze = Doze::Awake;
        self.expect_beacons(room);
        self.has_sent(room);
        self.active(room);
        self.plan_window(room);
    }

    /// A time has come.
    pub(super) fn wake(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        while let Some(what) = self.clock.next_due(room.now()) {
            match what {
                deadline::RADIO => self.want(room, ACTIVE, true, above),
                deadline::IDLE => self.idle(room, frames),
                deadline::BEACON => self.expect_beacon(room, above),
                deadline::BEACON_END => self.no_beacon(room, above),
                deadline::GROUP_END => self.group_over(room, above),
                deadline::JOIN => self.join_late(room, frames, above),
                deadline::WORK => self.computed(room, frames),
                deadline::LOST => self.lost(room, frames, above),
                deadline::WINDOW => self.window(room, above),
                deadline::WINDOW_END => self.want(room, WINDOW, false, above),
                deadline::FOREIGN => self.want(room, FOREIGN, true, above),
                deadline::SLICE => self.slice(room, frames, above),
                _ => self.keep_alive(room, frames, above),
            }
        }
        self.clock.rearm(room);
    }

    pub(super) fn send(&mut self, room: &mut Room, packet: Msdu) -> Result<(), Refused> {
        let Some(link) = self.link else {
            self.counters.refused += 1;
            return Err(Refused::NotJoined);
        };
        let (rate, mode) = self.rate.pick();
        let tag = DataTag { packet: packet.tag, aid: link.aid, rate, more: false }.pack();
        let out = Packet::new(link.ap, link.wrap.data(packet.octets), mode, tag);
        let out = if link.wrap.qos { out.aggregated() } else { out };
        if room.send(self.number, out).is_err() {
            self.counters.refused += 1;
            return Err(Refused::NoBuffers);
        }
        self.counters.taken += 1;
        self.has_sent(room);
        self.stir(room);
        Ok(())
    }

    /// Sends a frame without a packet to the access point, if the MAC has a buffer.
    fn send_frame(&mut self, room: &mut Room, frames: &mut Frames, info: FrameInfo) -> bool {
        let Some(link) = self.link else { return false };
        let octets = match info.subtype {
            Subtype::PsPoll => super::octets::PS_POLL,
            _ => Wrap::default().empty(),
        };
        let out = (link.ap, link.basic, octets);
        self.hand_over(room, frames, out, info, Says::Nothing)
    }

    fn hand_over(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        (to, mode, octets): (u32, Mode, u32),
        info: FrameInfo,
        says: Says,
    ) -> bool {
        let tag = frames.keep(Frame { info, says, to });
        let packet = Packet::new(to, octets, mode, tag).at_once();
        let taken = room.send(self.number, packet).is_ok();
        if taken {
            self.has_sent(room);
        } else {
            frames.take(tag);
        }
        taken
    }

    /// The MAC is done with a packet.
    pub(super) fn data_done(
        &mut self,
        room: &mut Room,
        data: DataTag,
        done: Done,
        above: &mut dyn Above,
    ) {
        let lost = (!done.delivered).then_some(Cause::RetryLimit);
        self.rate.learn(data.rate, done.attempts, done.delivered);
        self.active(room);
        match lost {
            None => self.counters.sent += 1,
            Some(_) => self.counters.lost += 1,
        }
        above.sent(room, self.number, Sent { tag: data.packet, lost, attempts: done.attempts });
        self.rest_apart(room, above);
    }

    /// The MAC is done with another frame of this station.
    pub(super) fn frame_done(
        &mut self,
        room: &mut Room,
        frame: &Frame,
        delivered: bool,
        above: &mut dyn Above,
    ) {
        match frame.info.subtype {
            Subtype::Null { .. } => {
                self.null_done(room, frame.info.power_management, delivered, above);
            }
            subtype => self.join_done(room, subtype, delivered, above),
        }
    }
}
