//! When an associated station sleeps (11.2.3), and what ESP-IDF makes of it: "modem sleep".

use super::radio::{ACTIVE, BEACON, GROUP, POLL, SEND};
use super::{Link, Station, deadline};
use crate::mac::Room;
use crate::wifi::above::Above;
use crate::wifi::config::{Fetch, Sleep};
use crate::wifi::frame::{FrameInfo, Frames, Subtype, Tim};
use core::time::Duration;
use espbench_proto::time::Instant;

/// What a station has told its access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doze {
    /// That it is awake.
    Awake,
    /// It is about to tell that it sleeps.
    Nodding,
    /// That it sleeps.
    Asleep,
}

/// A beacon of its own access point, as a station hears it.
#[derive(Clone, Copy, Debug)]
pub(in crate::wifi) struct HeardBeacon {
    pub(in crate::wifi) tim: Tim,
    /// Its own bit.
    pub(in crate::wifi) mine: bool,
    pub(in crate::wifi) tbtt: Instant,
}

impl Station {
    /// A packet came or went: it stays awake for a while.
    pub(super) fn active(&mut self, room: &mut Room) {
        if self.sleeps_ever() && self.doze == Doze::Awake {
            self.rest_later(room);
        }
    }

    /// There is something to send. What is sent tells that it is awake (11.2.3.2).
    pub(super) fn stir(&mut self, room: &mut Room) {
        if self.doze == Doze::Asleep {
            self.doze = Doze::Awake;
            self.clock.stop(deadline::BEACON);
            let on = room.now() + self.config.times.radio_on;
            self.clock.set(room, deadline::RADIO, on);
        }
        self.active(room);
    }

    fn rest_later(&mut self, room: &mut Room) {
        let at = room.now() + self.config.times.min_active;
        self.clock.set(room, deadline::IDLE, at);
    }

    /// It has sent something.
    pub(super) fn has_sent(&mut self, room: &mut Room) {
        let at = room.now() + self.config.times.keep_alive;
        self.clock.set(room, deadline::KEEP_ALIVE, at);
    }

    /// Nothing has happened for a while: it tells that it sleeps.
    pub(super) fn idle(&mut self, room: &mut Room, frames: &mut Frames) {
        if self.doze != Doze::Awake || self.link.is_none() {
            return;
        }
        if room.queued(self.number) == 0 && self.send_null(room, frames, true) {
            self.doze = Doze::Nodding;
        } else {
            self.rest_later(room);
        }
    }

    pub(super) fn send_null(&mut self, room: &mut Room, frames: &mut Frames, asleep: bool) -> bool {
        let info = FrameInfo::bare(Subtype::Null { qos: false });
        self.send_frame(room, frames, FrameInfo { power_management: asleep, ..info })
    }

    /// The MAC is done with a Null frame.
    pub(super) fn null_done(
        &mut self,
        room: &mut Room,
        asleep: bool,
        delivered: bool,
        above: &mut dyn Above,
    ) {
        if self.doze == Doze::Nodding && asleep {
            if delivered && room.queued(self.number) == 0 {
                self.doze = Doze::Asleep;
                self.next_beacon(room);
                self.want(room, ACTIVE, false, above);
            } else {
                self.doze = Doze::Awake;
                self.rest_later(room);
            }
        }
        self.want(room, SEND, false, above);
    }

    /// It has sent nothing for long: the access point shall not forget it.
    pub(super) fn keep_alive(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        above: &mut dyn Above,
    ) {
        if self.link.is_none() {
            return;
        }
        let asleep = self.doze == Doze::Asleep;
        if self.doze != Doze::Nodding && self.send_null(room, frames, asleep) {
            self.want(room, SEND, true, above);
        } else {
            self.has_sent(room);
        }
    }

    /// The time in which it should hear three beacons.
    pub(super) fn three_beacons(&self) -> Duration {
        let Some(link) = self.link else { return Duration::ZERO };
        let every = match self.config.sleep {
            Sleep::MaxModem { listen_interval } => u32::from(listen_interval.max(1)),
            Sleep::MinModem => u32::from(link.dtim_period),
            Sleep::None => 1,
        };
        link.interval * (3 * every)
    }

    /// Sets the time at which a sleeping station wakes for its next beacon.
    fn next_beacon(&mut self, room: &mut Room) {
        let Some(link) = self.link else { return };
        let (from, every) = match self.config.sleep {
            // After a miss it listens to every beacon.
            _ if link.misses > 0 => (link.anchor, 1),
            Sleep::MaxModem { listen_interval } => (link.anchor, u32::from(listen_interval.max(1))),
            Sleep::MinModem | Sleep::None => (link.dtim, u32::from(link.dtim_period)),
        };
        let times = &self.config.times;
        let step = link.interval * every;
        let first = first_after(from, step, room.now() + times.early);
        let drift = first.since(link.heard).as_nanos() as u64 / 1_000_000;
        let early = times.early + Duration::from_nanos(drift * u64::from(times.drift_ppm));
        if let Some(link) = &mut self.link {
            link.anchor = first;
        }
        let at = first.as_nanos().saturating_sub(early.as_nanos() as u64);
        self.clock.set(room, deadline::BEACON, Instant::from_nanos(at));
    }

    /// A sleeping station wakes for a beacon.
    pub(super) fn expect_beacon(&mut self, room: &mut Room, above: &mut dyn Above) {
        let Some(Link { anchor, .. }) = self.link else { return };
        if self.doze == Doze::Asleep {
            let end = anchor + self.config.times.missed;
            self.clock.set(room, deadline::BEACON_END, end);
            self.want(room, BEACON, true, above);
        }
    }

    /// The beacon did not come.
    pub(super) fn no_beacon(&mut self, room: &mut Room, above: &mut dyn Above) {
        if !self.radio.wanted(BEACON) {
            return;
        }
        self.counters.beacons_missed += 1;
        if let Some(link) = &mut self.link {
            link.misses = link.misses.saturating_add(1);
        }
        if self.doze == Doze::Asleep {
            self.next_beacon(room);
        }
        self.want(room, BEACON, false, above);
    }

    /// A beacon of its access point.
    pub(in crate::wifi) fn beacon(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        it: HeardBeacon,
        above: &mut dyn Above,
    ) {
        let Some(link) = &mut self.link else { return };
        self.counters.beacons += 1;
        link.heard = room.now();
        link.misses = 0;
        link.dtim_period = it.tim.dtim_period.max(1);
        link.dtim = it.tbtt + link.interval * u32::from(it.tim.dtim_count);
        self.expect_beacons(room);
        match self.doze {
            Doze::Asleep => self.beacon_asleep(room, frames, it, above),
            // The access point takes it for asleep.
            Doze::Awake if it.mine => {
                self.send_null(room, frames, false);
            }
            Doze::Awake | Doze::Nodding => {}
        }
        self.clock.stop(deadline::BEACON_END);
        self.want(room, BEACON, false, above);
    }

    /// A beacon for which it woke, most of the time.
    fn beacon_asleep(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        it: HeardBeacon,
        above: &mut dyn Above,
    ) {
        if it.tim.dtim_count == 0 && it.tim.group {
            let end = room.now() + self.config.times.wait_group;
            self.clock.set(room, deadline::GROUP_END, end);
            self.want(room, GROUP, true, above);
        }
        if it.mine {
            self.fetch(room, frames, above);
        }
        if self.doze == Doze::Asleep {
            self.next_beacon(room);
        }
    }

    /// Something waits for it.
    fn fetch(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        match self.config.times.fetch {
            Fetch::Null => {
                if self.send_null(room, frames, false) {
                    self.doze = Doze::Awake;
                    self.clock.stop(deadline::BEACON);
                    self.rest_later(room);
                    self.want(room, ACTIVE, true, above);
                }
            }
            Fetch::PsPoll => self.poll(room, frames, above),
        }
    }

    /// Asks for one packet. It waits for it as for multicast.
    fn poll(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        let info = FrameInfo::bare(Subtype::PsPoll);
        let info = FrameInfo { power_management: true, ..info };
        if self.send_frame(room, frames, info) {
            let end = room.now() + self.config.times.wait_group;
            self.clock.set(room, deadline::GROUP_END, end);
            self.want(room, POLL, true, above);
        }
    }

    /// A packet came.
    pub(in crate::wifi) fn packet_heard(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        (group, more): (bool, bool),
        above: &mut dyn Above,
    ) {
        if group {
            if !self.radio.wanted(GROUP) {
                return;
            }
            if more {
                let end = room.now() + self.config.times.wait_group;
                self.clock.set(room, deadline::GROUP_END, end);
            } else {
                self.want(room, GROUP, false, above);
            }
        } else if self.radio.wanted(POLL) {
            if more {
                self.poll(room, frames, above);
            } else {
                self.want(room, POLL, false, above);
            }
        } else {
            self.active(room);
        }
    }

    /// Multicast, or what was asked for, has not come.
    pub(super) fn group_over(&mut self, room: &mut Room, above: &mut dyn Above) {
        self.want(room, GROUP | POLL, false, above);
    }
}

/// The first of `from`, `from + step`, … that is after `now`.
fn first_after(from: Instant, step: Duration, now: Instant) -> Instant {
    let step = (step.as_nanos() as u64).max(1);
    if from > now {
        return from;
    }
    let steps = now.since(from).as_nanos() as u64 / step + 1;
    from.after_nanos(steps * step)
}
