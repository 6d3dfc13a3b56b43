//! Power save of an associated station (11.2.3), as ESP-IDF's "modem sleep".

use super::radio::{ACTIVE, BEACON, GROUP, POLL, SEND};
use super::{Link, Station, deadline};
use crate::mac::WirelessMedium;
use crate::wifi::above::Above;
use crate::wifi::config::{Fetch, Sleep};
use crate::wifi::frame::{FrameInfo, Frames, Subtype, Tim};
use core::time::Duration;
use espbench_proto::time::Instant;

/// The power state that a station has told its access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doze {
    /// Awake.
    Awake,
    /// Awake, and about to tell that it sleeps.
    Nodding,
    /// Asleep.
    Asleep,
}

/// A beacon of the station's own access point.
#[derive(Clone, Copy, Debug)]
pub(in crate::wifi) struct HeardBeacon {
    pub(in crate::wifi) tim: Tim,
    /// The station's bit in the traffic indication map.
    pub(in crate::wifi) mine: bool,
    pub(in crate::wifi) tbtt: Instant,
}

impl Station {
    /// Keeps the station awake for a while, because a packet came or went.
    pub(super) fn active(&mut self, medium: &mut WirelessMedium) {
        if self.sleeps_ever() && self.doze == Doze::Awake {
            self.rest_later(medium);
        }
    }

    /// Wakes the station because it has a frame to send. The frame tells that it is awake
    /// (11.2.3.2).
    pub(super) fn stir(&mut self, medium: &mut WirelessMedium) {
        if self.doze == Doze::Asleep {
            self.doze = Doze::Awake;
            self.clock.stop(deadline::BEACON);
            let on = medium.now() + self.config.times.radio_on;
            self.clock.set(medium, deadline::RADIO, on);
        }
        self.active(medium);
    }

    fn rest_later(&mut self, medium: &mut WirelessMedium) {
        let at = medium.now() + self.config.times.min_active;
        self.clock.set(medium, deadline::IDLE, at);
    }

    /// Restarts the keep-alive time, because the station has sent a frame.
    pub(super) fn has_sent(&mut self, medium: &mut WirelessMedium) {
        let at = medium.now() + self.config.times.keep_alive;
        self.clock.set(medium, deadline::KEEP_ALIVE, at);
    }

    /// Tells the access point that the station sleeps, because nothing has happened for a while.
    pub(super) fn idle(&mut self, medium: &mut WirelessMedium, frames: &mut Frames) {
        if self.doze != Doze::Awake || self.link.is_none() {
            return;
        }
        if medium.queued(self.number) == 0 && self.send_null(medium, frames, true) {
            self.doze = Doze::Nodding;
        } else {
            self.rest_later(medium);
        }
    }

    pub(super) fn send_null(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        asleep: bool,
    ) -> bool {
        let info = FrameInfo::bare(Subtype::Null { qos: false });
        self.send_frame(medium, frames, FrameInfo { power_management: asleep, ..info })
    }

    /// Handles the outcome of a Null frame.
    pub(super) fn null_done(
        &mut self,
        medium: &mut WirelessMedium,
        asleep: bool,
        delivered: bool,
        above: &mut dyn Above,
    ) {
        if self.doze == Doze::Nodding && asleep {
            if delivered && medium.queued(self.number) == 0 {
                self.doze = Doze::Asleep;
                self.next_beacon(medium);
                self.want(medium, ACTIVE, false, above);
            } else {
                self.doze = Doze::Awake;
                self.rest_later(medium);
            }
        }
        self.want(medium, SEND, false, above);
    }

    /// Sends a Null frame, so that the access point does not forget a station that has sent nothing
    /// for long.
    pub(super) fn keep_alive(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        above: &mut dyn Above,
    ) {
        if self.link.is_none() {
            return;
        }
        let asleep = self.doze == Doze::Asleep;
        if self.doze != Doze::Nodding && self.send_null(medium, frames, asleep) {
            self.want(medium, SEND, true, above);
        } else {
            self.has_sent(medium);
        }
    }

    /// Returns the time in which the station should receive three beacons.
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
    fn next_beacon(&mut self, medium: &mut WirelessMedium) {
        let Some(link) = self.link else { return };
        let (from, every) = match self.config.sleep {
            // After a miss the station listens to every beacon.
            _ if link.misses > 0 => (link.anchor, 1),
            Sleep::MaxModem { listen_interval } => (link.anchor, u32::from(listen_interval.max(1))),
            Sleep::MinModem | Sleep::None => (link.dtim, u32::from(link.dtim_period)),
        };
        let times = &self.config.times;
        let step = link.interval * every;
        let first = first_after(from, step, medium.now() + times.early);
        let drift = first.since(link.heard).as_nanos() as u64 / 1_000_000;
        let early = times.early + Duration::from_nanos(drift * u64::from(times.drift_ppm));
        if let Some(link) = &mut self.link {
            link.anchor = first;
        }
        let at = first.as_nanos().saturating_sub(early.as_nanos() as u64);
        self.clock.set(medium, deadline::BEACON, Instant::from_nanos(at));
    }

    /// Wakes a sleeping station for a beacon.
    pub(super) fn expect_beacon(&mut self, medium: &mut WirelessMedium, above: &mut dyn Above) {
        let Some(Link { anchor, .. }) = self.link else { return };
        if self.doze == Doze::Asleep {
            let end = anchor + self.config.times.missed;
            self.clock.set(medium, deadline::BEACON_END, end);
            self.want(medium, BEACON, true, above);
        }
    }

    /// Takes note that a beacon did not come.
    pub(super) fn no_beacon(&mut self, medium: &mut WirelessMedium, above: &mut dyn Above) {
        if !self.radio.wanted(BEACON) {
            return;
        }
        self.counters.beacons_missed += 1;
        if let Some(link) = &mut self.link {
            link.misses = link.misses.saturating_add(1);
        }
        if self.doze == Doze::Asleep {
            self.next_beacon(medium);
        }
        self.want(medium, BEACON, false, above);
    }

    /// Handles a beacon of the station's access point.
    pub(in crate::wifi) fn beacon(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        it: HeardBeacon,
        above: &mut dyn Above,
    ) {
        let Some(link) = &mut self.link else { return };
        self.counters.beacons += 1;
        link.heard = medium.now();
        link.misses = 0;
        link.dtim_period = it.tim.dtim_period.max(1);
        link.dtim = it.tbtt + link.interval * u32::from(it.tim.dtim_count);
        self.expect_beacons(medium);
        match self.doze {
            Doze::Asleep => self.beacon_asleep(medium, frames, it, above),
            // The access point believes that the station sleeps.
            Doze::Awake if it.mine => {
                self.send_null(medium, frames, false);
            }
            Doze::Awake | Doze::Nodding => {}
        }
        self.clock.stop(deadline::BEACON_END);
        self.want(medium, BEACON, false, above);
    }

    /// Handles a beacon while the station sleeps, for which it mostly woke.
    fn beacon_asleep(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        it: HeardBeacon,
        above: &mut dyn Above,
    ) {
        if it.tim.dtim_count == 0 && it.tim.group {
            let end = medium.now() + self.config.times.wait_group;
            self.clock.set(medium, deadline::GROUP_END, end);
            self.want(medium, GROUP, true, above);
        }
        if it.mine {
            self.fetch(medium, frames, above);
        }
        if self.doze == Doze::Asleep {
            self.next_beacon(medium);
        }
    }

    /// Fetches the buffered frames.
    fn fetch(&mut self, medium: &mut WirelessMedium, frames: &mut Frames, above: &mut dyn Above) {
        match self.config.times.fetch {
            Fetch::Null => {
                if self.send_null(medium, frames, false) {
                    self.doze = Doze::Awake;
                    self.clock.stop(deadline::BEACON);
                    self.rest_later(medium);
                    self.want(medium, ACTIVE, true, above);
                }
            }
            Fetch::PsPoll => self.poll(medium, frames, above),
        }
    }

    /// Asks for one buffered packet with PS-Poll, and waits for it as for multicast.
    fn poll(&mut self, medium: &mut WirelessMedium, frames: &mut Frames, above: &mut dyn Above) {
        let info = FrameInfo::bare(Subtype::PsPoll);
        let info = FrameInfo { power_management: true, ..info };
        if self.send_frame(medium, frames, info) {
            let end = medium.now() + self.config.times.wait_group;
            self.clock.set(medium, deadline::GROUP_END, end);
            self.want(medium, POLL, true, above);
        }
    }

    /// Handles a packet that has come.
    pub(in crate::wifi) fn packet_heard(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        (group, more): (bool, bool),
        above: &mut dyn Above,
    ) {
        if group {
            if !self.radio.wanted(GROUP) {
                return;
            }
            if more {
                let end = medium.now() + self.config.times.wait_group;
                self.clock.set(medium, deadline::GROUP_END, end);
            } else {
                self.want(medium, GROUP, false, above);
            }
        } else if self.radio.wanted(POLL) {
            if more {
                self.poll(medium, frames, above);
            } else {
                self.want(medium, POLL, false, above);
            }
        } else {
            self.active(medium);
        }
    }

    /// Stops waiting for multicast, or for a polled packet, that has not come.
    pub(super) fn group_over(&mut self, medium: &mut WirelessMedium, above: &mut dyn Above) {
        self.want(medium, GROUP | POLL, false, above);
    }
}

/// Returns the first of `from`, `from + step`, … that is after `now`.
fn first_after(from: Instant, step: Duration, now: Instant) -> Instant {
    let step = (step.as_nanos() as u64).max(1);
    if from > now {
        return from;
    }
    let steps = now.since(from).as_nanos() as u64 / step + 1;
    from.after_nanos(steps * step)
}
