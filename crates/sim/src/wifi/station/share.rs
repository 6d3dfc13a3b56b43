//! What else the radio of a station is for: frames of no network, and other radios.

use super::join::Joining;
use super::radio::{ACTIVE, ANY, FOREIGN, WINDOW};
use super::sleep::Doze;
use super::{Station, deadline};
use crate::mac::Room;
use crate::wifi::above::Above;
use crate::wifi::config::{Coexistence, Connectionless};
use crate::wifi::frame::Frames;
use core::time::Duration;
use espbench_proto::time::Instant;

/// Where a station is in its slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slice {
    /// Wi-Fi has the radio.
    Wifi,
    /// It has, and has told its access point that it sleeps soon.
    Last,
    /// Others have it.
    Others,
}

impl Station {
    /// The world begins.
    pub(in crate::wifi) fn start(&mut self, room: &mut Room) {
        self.plan_window(room);
        if let Some(it) = self.config.coexistence
            && it.wifi < it.period
        {
            let end = room.now() + it.wifi.saturating_sub(it.guard);
            self.clock.set(room, deadline::SLICE, end);
        }
    }

    /// Sets when the next window of the connectionless modules begins.
    pub(super) fn plan_window(&mut self, room: &mut Room) {
        let Some(Connectionless { window, interval }) = self.config.connectionless else { return };
        if window.is_zero() {
            return;
        }
        let Some(interval) = interval.filter(|&interval| window < interval) else {
            // Always on: from now on, and never off.
            let now = room.now();
            self.clock.set(room, deadline::WINDOW, now);
            return;
        };
        let now = room.now().as_nanos();
        let (from, step) = match self.link {
            Some(link) => {
                let beacon = (link.interval.as_nanos() as u64).max(1);
                let every = (interval.as_nanos() as u64 + beacon / 2) / beacon;
                // Beacons have a number in the time of their access point, the same for all of its
                // stations.
                (link.anchor.as_nanos() % beacon, beacon * every.max(1))
            }
            None => (0, interval.as_nanos() as u64),
        };
        let next = from + (now.saturating_sub(from) / step + u64::from(now >= from)) * step;
        self.clock.set(room, deadline::WINDOW, Instant::from_nanos(next));
    }

    /// A window begins.
    pub(super) fn window(&mut self, room: &mut Room, above: &mut dyn Above) {
        let Some(Connectionless { window, interval }) = self.config.connectionless else { return };
        self.want(room, WINDOW, true, above);
        if interval.is_some_and(|interval| window < interval) {
            let end = room.now() + window;
            self.clock.set(room, deadline::WINDOW_END, end);
            self.plan_window(room);
        }
        above.window(room, self.number);
    }

    /// A frame of no network is in the MAC's queue: the radio is switched on for it.
    pub(in crate::wifi) fn send_foreign(&mut self, room: &mut Room) {
        if !self.radio.wanted(FOREIGN) {
            let on = if self.radio.is_on() { Duration::ZERO } else { self.config.times.radio_on };
            let at = room.now() + on;
            self.clock.set(room, deadline::FOREIGN, at);
        }
    }

    /// The MAC is done with one.
    pub(in crate::wifi) fn foreign_done(&mut self, room: &mut Room, above: &mut dyn Above) {
        if room.queued(self.number) == 0 {
            self.clock.stop(deadline::FOREIGN);
            self.want(room, FOREIGN, false, above);
        }
        self.rest_apart(room, above);
    }

    /// Its slices as they are now: while it is associated, a period is as many beacon intervals as
    /// come nearest, shared in the same proportion.
    fn slices(&self) -> Option<Coexistence> {
        let it = self.config.coexistence?;
        let Some(link) = self.link else { return Some(it) };
        let ns = |it: Duration| (it.as_nanos() as u64).max(1);
        let beacon = ns(link.interval);
        let period = (ns(it.period) + beacon / 2) / beacon * beacon;
        let period = period.max(beacon);
        let wifi = u128::from(ns(it.wifi)) * u128::from(period) / u128::from(ns(it.period));
        let [period, wifi] = [period, wifi as u64].map(Duration::from_nanos);
        Some(Coexistence { period, wifi, ..it })
    }

    /// How long it is until Wi-Fi's next slice: while the station is associated, until a beacon's
    /// time.
    fn others_have(&self, now: Instant, Coexistence { period, wifi, .. }: Coexistence) -> Duration {
        let Some(link) = self.link else { return period.saturating_sub(wifi) };
        let step = period.as_nanos() as u64;
        let beacon = (link.interval.as_nanos() as u64).max(1);
        let (from, now) = (link.anchor.as_nanos() % beacon, now.as_nanos());
        let next = from + (now.saturating_sub(from) / step + u64::from(now >= from)) * step;
        Duration::from_nanos(next - now)
    }

    /// Whether it has told that it sleeps since others have the radio, or will soon: what it still
    /// sends says so, too.
    pub(in crate::wifi) fn gives_way(&self) -> bool {
        self.slice != Slice::Wifi
    }

    /// A slice of coexistence is about to end, ends, or begins.
    pub(super) fn slice(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        let Some(slices) = self.slices() else { return };
        let guard = slices.guard.min(slices.wifi);
        let (next, wait) = match self.slice {
            Slice::Wifi => (Slice::Last, guard),
            Slice::Last => (Slice::Others, self.others_have(room.now(), slices)),
            Slice::Others => (Slice::Wifi, slices.wifi.saturating_sub(guard)),
        };
        self.slice = next;
        let at = room.now() + wait;
        self.clock.set(room, deadline::SLICE, at);
        let told_awake = self.link.is_some() && self.doze == Doze::Awake;
        match next {
            Slice::Last if told_awake => {
                self.send_null(room, frames, true);
            }
            Slice::Last => {}
            Slice::Others => self.share(room, true, above),
            Slice::Wifi => {
                self.share(room, false, above);
                if told_awake {
                    self.send_null(room, frames, false);
                }
            }
        }
    }

    /// It is switched off.
    pub(in crate::wifi) fn switch_off(&mut self, room: &mut Room, above: &mut dyn Above) {
        for what in 0..deadline::COUNT {
            self.clock.stop(what);
        }
        self.powered = false;
        self.link = None;
        self.doze = Doze::Awake;
        self.joining = Joining::new();
        self.slice = Slice::Wifi;
        self.want(room, ANY, false, above);
    }

    /// It is switched on.
    pub(in crate::wifi) fn switch_on(&mut self, room: &mut Room, above: &mut dyn Above) {
        if self.powered {
            return;
        }
        self.powered = true;
        self.share(room, false, above);
        self.want(room, ACTIVE, true, above);
        self.start(room);
    }
}
