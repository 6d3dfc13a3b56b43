//! The event loop.

use super::Room;
use super::events::What;
use crate::mac::host::Host;
use crate::mac::timers::NEVER;
use espbench_proto::time::Instant;

impl Room {
    /// Runs until the time `until`, including the events at that time.
    pub fn run<H: Host + ?Sized>(&mut self, host: &mut H, until: Instant) {
        while self.step(host, until) {}
    }

    /// Handles the next event if it is not after `until`. Otherwise sets the time to `until` and
    /// returns false.
    #[inline]
    pub fn step<H: Host + ?Sized>(&mut self, host: &mut H, until: Instant) -> bool {
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
            self.happen(host);
        } else if timer == at {
            self.timers_end(host);
        } else {
            self.ring(host);
        }
        true
    }

    /// Calls the alarms that are due now, in the order of their stations.
    fn ring<H: Host + ?Sized>(&mut self, host: &mut H) {
        let mut due = core::mem::take(&mut self.scratch.rings);
        self.alarms.take(self.now, &mut due);
        for &station in &due {
            host.alarm(self, station);
        }
        due.clear();
        self.scratch.rings = due;
    }

    fn happen<H: Host + ?Sized>(&mut self, host: &mut H) {
        match self.events.pop().map(|(_, what)| what) {
            Some(What::End(flight)) => self.end(host, flight),
            Some(What::Answer { station, to, mode, kind }) => {
                self.answer(host, station, to, mode, kind);
            }
            Some(What::Clear(station)) => self.clear(host, station),
            Some(What::Watch(agreement)) => self.watch(host, agreement),
            Some(What::Tuned(station)) => self.tuned(station),
            Some(What::Wake(token)) => host.wake(self, token),
            None => {}
        }
    }

    /// Handles time-outs and back-offs that end now.
    fn timers_end<H: Host + ?Sized>(&mut self, host: &mut H) {
        let mut due = core::mem::take(&mut self.scratch.due);
        self.timers.take(self.now, &mut due);
        // Stations that send now do so independently of each other: first all turn to sending.
        for &station in &due {
            let hot = &mut self.hot[station as usize];
            // A station that is sending learns that a part of its A-MPDU has ended.
            if !hot.access.waiting && !hot.ear.sending {
                hot.access.sends();
                hot.ear.begin_sending();
            }
        }
        for &station in &due {
            if self.hot[station as usize].access.waiting {
                self.timed_out(host, station);
            } else if self.stations[station as usize].burst.flies {
                self.part(host, station);
            } else {
                self.attempt(host, station);
            }
        }
        due.clear();
        self.scratch.due = due;
    }
}
