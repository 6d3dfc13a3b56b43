//! Other uses of a station's radio: frames of no network, and other protocols.

use super::join::JoinState;
use super::radio::{ACTIVE, ANY, FOREIGN, WINDOW};
use super::sleep::AnnouncedState;
use super::{WifiStation, deadline};
use crate::mac::WirelessMedium;
use crate::wifi::config::{CoexistenceConfig, ConnectionlessWindow};
use crate::wifi::frame::FrameStore;
use crate::wifi::upper::UpperLayer;
use core::time::Duration;
use espbench_model::time::Instant;

/// The slice of coexistence that a station is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoexistenceSlice {
    /// Wi-Fi has the radio.
    Wifi,
    /// Wi-Fi has the radio, and the station has told its access point that it sleeps soon.
    Last,
    /// Another protocol has the radio.
    Others,
}

impl WifiStation {
    /// Starts windows and slices at the beginning of the simulation.
    pub(in crate::wifi) fn start(&mut self, medium: &mut WirelessMedium) {
        self.plan_window(medium);
        if let Some(it) = self.config.coexistence
            && it.wifi < it.period
        {
            let end = medium.now() + it.wifi.saturating_sub(it.guard);
            self.clock.set(medium, deadline::SLICE, end);
        }
    }

    /// Sets the time of the next window of the connectionless modules.
    pub(super) fn plan_window(&mut self, medium: &mut WirelessMedium) {
        let Some(ConnectionlessWindow { window, interval }) = self.config.connectionless else {
            return;
        };
        if window.is_zero() {
            return;
        }
        let Some(interval) = interval.filter(|&interval| window < interval) else {
            // The radio is always on, from now on.
            let now = medium.now();
            self.clock.set(medium, deadline::WINDOW, now);
            return;
        };
        let now = medium.now().as_nanos();
        let (from, step) = match self.link {
            Some(link) => {
                let beacon = (link.interval.as_nanos() as u64).max(1);
                let every = (interval.as_nanos() as u64 + beacon / 2) / beacon;
                // Beacons have a number in the time of their access point, equal for all of its
                // stations.
                (link.anchor.as_nanos() % beacon, beacon * every.max(1))
            }
            None => (0, interval.as_nanos() as u64),
        };
        let next = from + (now.saturating_sub(from) / step + u64::from(now >= from)) * step;
        self.clock.set(medium, deadline::WINDOW, Instant::from_nanos(next));
    }

    /// Begins a window.
    pub(super) fn window(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        let Some(ConnectionlessWindow { window, interval }) = self.config.connectionless else {
            return;
        };
        self.want(medium, WINDOW, true, upper);
        if interval.is_some_and(|interval| window < interval) {
            let end = medium.now() + window;
            self.clock.set(medium, deadline::WINDOW_END, end);
            self.plan_window(medium);
        }
        upper.on_window(medium, self.number);
    }

    /// Switches the radio on for a frame of no network that is in the MAC's queue.
    pub(in crate::wifi) fn send_foreign(&mut self, medium: &mut WirelessMedium) {
        if !self.radio.wanted(FOREIGN) {
            let on = if self.radio.is_on() { Duration::ZERO } else { self.config.times.radio_on };
            let at = medium.now() + on;
            self.clock.set(medium, deadline::FOREIGN, at);
        }
    }

    /// Handles the outcome of a frame of no network.
    pub(in crate::wifi) fn foreign_done(
        &mut self,
        medium: &mut WirelessMedium,
        upper: &mut dyn UpperLayer,
    ) {
        if medium.queued(self.number) == 0 {
            self.clock.stop(deadline::FOREIGN);
            self.want(medium, FOREIGN, false, upper);
        }
        self.rest_apart(medium, upper);
    }

    /// Returns the slices as they are now: while the station is associated, a period is the nearest
    /// number of beacon intervals, shared in the same proportion.
    fn slices(&self) -> Option<CoexistenceConfig> {
        let it = self.config.coexistence?;
        let Some(link) = self.link else { return Some(it) };
        let ns = |it: Duration| (it.as_nanos() as u64).max(1);
        let beacon = ns(link.interval);
        let period = (ns(it.period) + beacon / 2) / beacon * beacon;
        let period = period.max(beacon);
        let wifi = u128::from(ns(it.wifi)) * u128::from(period) / u128::from(ns(it.period));
        let [period, wifi] = [period, wifi as u64].map(Duration::from_nanos);
        Some(CoexistenceConfig { period, wifi, ..it })
    }

    /// Returns the time until Wi-Fi's next slice; while the station is associated, until a beacon's
    /// time.
    fn others_have(
        &self,
        now: Instant,
        CoexistenceConfig { period, wifi, .. }: CoexistenceConfig,
    ) -> Duration {
        let Some(link) = self.link else { return period.saturating_sub(wifi) };
        let step = period.as_nanos() as u64;
        let beacon = (link.interval.as_nanos() as u64).max(1);
        let (from, now) = (link.anchor.as_nanos() % beacon, now.as_nanos());
        let next = from + (now.saturating_sub(from) / step + u64::from(now >= from)) * step;
        Duration::from_nanos(next - now)
    }

    /// Returns whether the station has told that it sleeps because another protocol has the radio,
    /// or will soon; the frames that it still sends say so, too.
    pub(in crate::wifi) fn yields_radio(&self) -> bool {
        self.slice != CoexistenceSlice::Wifi
    }

    /// Goes on to the next slice of coexistence.
    pub(super) fn slice(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        let Some(slices) = self.slices() else { return };
        let guard = slices.guard.min(slices.wifi);
        let (next, wait) = match self.slice {
            CoexistenceSlice::Wifi => (CoexistenceSlice::Last, guard),
            CoexistenceSlice::Last => {
                (CoexistenceSlice::Others, self.others_have(medium.now(), slices))
            }
            CoexistenceSlice::Others => (CoexistenceSlice::Wifi, slices.wifi.saturating_sub(guard)),
        };
        self.slice = next;
        let at = medium.now() + wait;
        self.clock.set(medium, deadline::SLICE, at);
        let told_awake = self.link.is_some() && self.doze == AnnouncedState::Awake;
        match next {
            CoexistenceSlice::Last if told_awake => {
                self.send_null(medium, frames, true);
            }
            CoexistenceSlice::Last => {}
            CoexistenceSlice::Others => self.share(medium, true, upper),
            CoexistenceSlice::Wifi => {
                self.share(medium, false, upper);
                if told_awake {
                    self.send_null(medium, frames, false);
                }
            }
        }
    }

    /// Switches the station off.
    pub(in crate::wifi) fn switch_off(
        &mut self,
        medium: &mut WirelessMedium,
        upper: &mut dyn UpperLayer,
    ) {
        for what in 0..deadline::COUNT {
            self.clock.stop(what);
        }
        self.powered = false;
        self.link = None;
        self.doze = AnnouncedState::Awake;
        self.joining = JoinState::new();
        self.slice = CoexistenceSlice::Wifi;
        self.want(medium, ANY, false, upper);
    }

    /// Switches the station on.
    pub(in crate::wifi) fn switch_on(
        &mut self,
        medium: &mut WirelessMedium,
        upper: &mut dyn UpperLayer,
    ) {
        if self.powered {
            return;
        }
        self.powered = true;
        self.share(medium, false, upper);
        self.want(medium, ACTIVE, true, upper);
        self.start(medium);
    }
}
