//! Power save of an associated station (11.2.3), as ESP-IDF's "modem sleep".

use super::radio::{ACTIVE, BEACON, GROUP, POLL, SEND};
use super::{Association, WifiStation, deadline};
use crate::mac::WirelessMedium;
use crate::wifi::config::{FetchMethod, PowerSave};
use crate::wifi::frame::{FrameInfo, FrameStore, Subtype, TimInfo};
use crate::wifi::upper::UpperLayer;
use core::time::Duration;
use espbench_model::time::Instant;

/// The power state that a station has told its access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnnouncedState {
    /// Awake.
    Awake,
    /// Awake, and about to tell that it sleeps.
    Nodding,
    /// Asleep.
    Asleep,
}

/// A beacon of the station's own access point.
#[derive(Clone, Copy, Debug)]
pub(in crate::wifi) struct ReceivedBeacon {
    pub(in crate::wifi) tim: TimInfo,
    /// The station's bit in the traffic indication map.
    pub(in crate::wifi) mine: bool,
    pub(in crate::wifi) tbtt: Instant,
    /// The time at which its TIM had been received.
    pub(in crate::wifi) tim_end: Instant,
}

impl WifiStation {
    /// Keeps the station awake for a while, because a packet came or went.
    pub(super) fn active(&mut self, medium: &mut WirelessMedium) {
        if self.sleeps_ever() && self.doze == AnnouncedState::Awake {
            self.restart_idle_timer(medium);
        }
    }

    /// Sets how the station saves power from now on. One that is asleep and is to sleep no more tells so
    /// at its next beacon.
    pub(in crate::wifi) fn set_sleep(&mut self, medium: &mut WirelessMedium, sleep: PowerSave) {
        self.config.sleep = sleep;
        if self.link.is_some() {
            self.active(medium);
        }
    }

    /// Wakes the station because it has a frame to send. The frame tells that it is awake
    /// (11.2.3.2).
    pub(super) fn wake_to_send(&mut self, medium: &mut WirelessMedium) {
        if self.doze == AnnouncedState::Asleep {
            self.doze = AnnouncedState::Awake;
            self.clock.stop(deadline::BEACON);
            let on = medium.now() + self.config.times.radio_on;
            self.clock.set(medium, deadline::RADIO, on);
        }
        self.active(medium);
    }

    fn restart_idle_timer(&mut self, medium: &mut WirelessMedium) {
        let at = medium.now() + self.config.times.min_active;
        self.clock.set(medium, deadline::IDLE, at);
    }

    /// Restarts the keep-alive time, because the station has sent a frame.
    pub(super) fn restart_keep_alive(&mut self, medium: &mut WirelessMedium) {
        let at = medium.now() + self.config.times.keep_alive;
        self.clock.set(medium, deadline::KEEP_ALIVE, at);
    }

    /// Tells the access point that the station sleeps, because nothing has happened for a while.
    pub(super) fn idle(&mut self, medium: &mut WirelessMedium, frames: &mut FrameStore) {
        if self.doze != AnnouncedState::Awake || self.link.is_none() || !self.sleeps_ever() {
            return;
        }
        if medium.queued(self.number) == 0 && self.send_null(medium, frames, true) {
            self.doze = AnnouncedState::Nodding;
        } else {
            self.restart_idle_timer(medium);
        }
    }

    pub(super) fn send_null(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
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
        upper: &mut dyn UpperLayer,
    ) {
        if self.doze == AnnouncedState::Nodding && asleep {
            if delivered && medium.queued(self.number) == 0 {
                self.doze = AnnouncedState::Asleep;
                self.next_beacon(medium);
                self.want(medium, ACTIVE, false, upper);
            } else {
                self.doze = AnnouncedState::Awake;
                self.restart_idle_timer(medium);
            }
        }
        self.want(medium, SEND, false, upper);
    }

    /// Sends a Null frame, so that the access point does not forget a station that has sent nothing
    /// for long.
    pub(super) fn keep_alive(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        if self.link.is_none() {
            return;
        }
        let asleep = self.doze == AnnouncedState::Asleep;
        if self.doze != AnnouncedState::Nodding && self.send_null(medium, frames, asleep) {
            self.want(medium, SEND, true, upper);
        } else {
            self.restart_keep_alive(medium);
        }
    }

    /// Returns the time in which the station should receive three beacons.
    pub(super) fn three_beacons(&self) -> Duration {
        let Some(link) = self.link else { return Duration::ZERO };
        let every = match self.config.sleep {
            PowerSave::MaxModem { listen_interval } => u32::from(listen_interval.max(1)),
            PowerSave::MinModem => u32::from(link.dtim_period),
            PowerSave::None => 1,
        };
        link.interval * (3 * every)
    }

    /// Sets the time at which a sleeping station wakes for its next beacon.
    fn next_beacon(&mut self, medium: &mut WirelessMedium) {
        let Some(link) = self.link else { return };
        let (from, every) = match self.config.sleep {
            // After a miss the station listens to every beacon.
            _ if link.misses > 0 => (link.anchor, 1),
            PowerSave::MaxModem { listen_interval } => {
                (link.anchor, u32::from(listen_interval.max(1)))
            }
            PowerSave::MinModem | PowerSave::None => (link.dtim, u32::from(link.dtim_period)),
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
    pub(super) fn expect_beacon(
        &mut self,
        medium: &mut WirelessMedium,
        upper: &mut dyn UpperLayer,
    ) {
        let Some(Association { anchor, .. }) = self.link else { return };
        if self.doze == AnnouncedState::Asleep {
            let end = anchor + self.config.times.missed;
            self.clock.set(medium, deadline::BEACON_END, end);
            self.want(medium, BEACON, true, upper);
        }
    }

    /// Takes note that a beacon did not come.
    pub(super) fn no_beacon(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        if !self.radio.wanted(BEACON) {
            return;
        }
        self.counters.beacons_missed += 1;
        if let Some(link) = &mut self.link {
            link.misses = link.misses.saturating_add(1);
        }
        if self.doze == AnnouncedState::Asleep {
            self.next_beacon(medium);
        }
        self.want(medium, BEACON, false, upper);
    }

    /// Handles a beacon of the station's access point.
    pub(in crate::wifi) fn beacon(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        it: ReceivedBeacon,
        upper: &mut dyn UpperLayer,
    ) {
        let Some(link) = &mut self.link else { return };
        self.counters.beacons += 1;
        link.heard = medium.now();
        link.misses = 0;
        link.dtim_period = it.tim.dtim_period.max(1);
        link.dtim = it.tbtt + link.interval * u32::from(it.tim.dtim_count);
        self.expect_beacons(medium);
        match self.doze {
            AnnouncedState::Asleep => self.beacon_asleep(medium, frames, it, upper),
            // The access point believes that the station sleeps.
            AnnouncedState::Awake if it.mine => {
                self.send_null(medium, frames, false);
            }
            AnnouncedState::Awake | AnnouncedState::Nodding => {}
        }
        self.clock.stop(deadline::BEACON_END);
        if self.config.times.stop_at_tim && self.doze == AnnouncedState::Asleep {
            self.stop_at_tim(medium, it, upper);
        }
        self.want(medium, BEACON, false, upper);
    }

    /// Reports that the radio was off from the end of the TIM on, where the beacon was all that it was
    /// on for. Nothing else could have been received meanwhile.
    fn stop_at_tim(
        &self,
        medium: &mut WirelessMedium,
        it: ReceivedBeacon,
        upper: &mut dyn UpperLayer,
    ) {
        if self.radio.wanted_only(BEACON) {
            upper.on_stopped(medium, self.number, it.tim_end);
        }
    }

    /// Handles a beacon while the station sleeps, for which it mostly woke.
    fn beacon_asleep(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        it: ReceivedBeacon,
        upper: &mut dyn UpperLayer,
    ) {
        if it.tim.dtim_count == 0 && it.tim.group {
            let end = medium.now() + self.config.times.wait_group;
            self.clock.set(medium, deadline::GROUP_END, end);
            self.want(medium, GROUP, true, upper);
        }
        if !self.sleeps_ever() {
            self.rise(medium, frames, upper);
        } else if it.mine {
            self.fetch(medium, frames, upper);
        }
        if self.doze == AnnouncedState::Asleep {
            self.next_beacon(medium);
        }
    }

    /// Fetches the buffered frames.
    fn fetch(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        match self.config.times.fetch {
            FetchMethod::Null => self.rise(medium, frames, upper),
            FetchMethod::PsPoll => self.poll(medium, frames, upper),
        }
    }

    /// Tells the access point that the station is awake.
    fn rise(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        if self.send_null(medium, frames, false) {
            self.doze = AnnouncedState::Awake;
            self.clock.stop(deadline::BEACON);
            self.restart_idle_timer(medium);
            self.want(medium, ACTIVE, true, upper);
        }
    }

    /// Asks for one buffered packet with PS-Poll, and waits for it as for multicast.
    fn poll(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        let info = FrameInfo::bare(Subtype::PsPoll);
        let info = FrameInfo { power_management: true, ..info };
        if self.send_frame(medium, frames, info) {
            let end = medium.now() + self.config.times.wait_group;
            self.clock.set(medium, deadline::GROUP_END, end);
            self.want(medium, POLL, true, upper);
        }
    }

    /// Handles a packet that has come.
    pub(in crate::wifi) fn packet_heard(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        (group, more): (bool, bool),
        upper: &mut dyn UpperLayer,
    ) {
        if group {
            if !self.radio.wanted(GROUP) {
                return;
            }
            if more {
                let end = medium.now() + self.config.times.wait_group;
                self.clock.set(medium, deadline::GROUP_END, end);
            } else {
                self.want(medium, GROUP, false, upper);
            }
        } else if self.radio.wanted(POLL) {
            if more {
                self.poll(medium, frames, upper);
            } else {
                self.want(medium, POLL, false, upper);
            }
        } else {
            self.active(medium);
        }
    }

    /// Stops waiting for multicast, or for a polled packet, that has not come.
    pub(super) fn group_over(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        self.want(medium, GROUP | POLL, false, upper);
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
