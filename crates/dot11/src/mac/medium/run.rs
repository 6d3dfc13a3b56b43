//! The event loop.

use super::WirelessMedium;
use super::events::MediumEvent;
use crate::mac::timers::NEVER;
use crate::mac::user::MacUser;
use espbench_model::time::Instant;

impl WirelessMedium {
    /// Runs until the time `until`, including the events at that time.
    pub fn run<H: MacUser + ?Sized>(&mut self, user: &mut H, until: Instant) {
        while self.step(user, until) {}
    }

    /// Returns the time of the next event; `None` if nothing is left to do.
    pub fn next_event(&mut self) -> Option<Instant> {
        let event = self.events.next().unwrap_or(NEVER);
        let at = event.min(self.timers.next()).min(self.alarms.next());
        (at != NEVER).then(|| Instant::from_nanos(at))
    }

    /// Handles the next event if it is not after `until`. Otherwise sets the time to `until` and
    /// returns false.
    #[inline]
    pub fn step<H: MacUser + ?Sized>(&mut self, user: &mut H, until: Instant) -> bool {
        let until = until.as_nanos();
        let event = self.events.next().unwrap_or(NEVER);
        let (timer, alarm) = (self.timers.next(), self.alarms.next());
        let at = event.min(timer).min(alarm);
        // At the end of time nothing is left to do.
        if at > until || at == NEVER {
            self.now = self.now.max(until);
            return false;
        }
        self.now = at;
        if event == at {
            self.handle_event(user);
        } else if timer == at {
            self.timers_end(user);
        } else {
            self.ring_alarms(user);
        }
        true
    }

    /// Calls the alarms that are due now, in the order of their stations.
    fn ring_alarms<H: MacUser + ?Sized>(&mut self, user: &mut H) {
        let mut due = core::mem::take(&mut self.scratch.rings);
        self.alarms.take(self.now, &mut due);
        for &station in &due {
            user.on_alarm(self, station);
        }
        due.clear();
        self.scratch.rings = due;
    }

    fn handle_event<H: MacUser + ?Sized>(&mut self, user: &mut H) {
        match self.events.pop().map(|(_, what)| what) {
            Some(MediumEvent::End(transmission)) => self.end_tx(user, transmission),
            Some(MediumEvent::Answer { station, to, mode, kind }) => {
                self.answer(user, station, to, mode, kind);
            }
            Some(MediumEvent::Clear(station)) => self.send_cleared(user, station),
            Some(MediumEvent::Burst(station)) => self.burst(user, station),
            Some(MediumEvent::ReorderTimeout(agreement)) => self.reorder_timeout(user, agreement),
            Some(MediumEvent::Tuned(station)) => self.tuned(station),
            Some(MediumEvent::Noise { station, channel, until }) => {
                self.begin_noise(user, station, channel, until);
            }
            Some(MediumEvent::Wake(token)) => user.on_wake(self, token),
            None => {}
        }
    }

    /// Handles time-outs and back-offs that end now.
    fn timers_end<H: MacUser + ?Sized>(&mut self, user: &mut H) {
        let mut due = core::mem::take(&mut self.scratch.due);
        self.timers.take(self.now, &mut due);
        // Stations that send now do so independently of each other: first all turn to sending.
        for &station in &due {
            let state = &mut self.states[station as usize];
            // A station that is sending learns that a part of its A-MPDU has ended.
            if !state.access.awaiting_response() && !state.receiver.sending() {
                state.access.on_tx_start();
                state.receiver.on_tx_start();
            }
        }
        for &station in &due {
            if self.states[station as usize].access.awaiting_response() {
                self.on_response_timeout(user, station);
            } else if self.stations[station as usize].exchange.on_air {
                self.on_part_end(user, station);
            } else {
                self.attempt(user, station);
            }
        }
        due.clear();
        self.scratch.due = due;
    }
}
