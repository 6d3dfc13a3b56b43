//! One event after the other.

use super::Room;
use super::events::What;
use crate::mac::host::Host;
use crate::mac::timers::NEVER;
use espbench_proto::time::Instant;

impl Room {
    /// Lets time go by until `until`; all that happens up to then, and then, has happened.
    pub fn run<H: Host + ?Sized>(&mut self, host: &mut H, until: Instant) {
        let until = until.as_nanos();
        loop {
            let (event, timer) = (self.events.next().unwrap_or(NEVER), self.timers.next());
            let at = event.min(timer);
            if at > until {
                self.now = self.now.max(until);
                return;
            }
            self.now = at;
            if event == at {
                self.happen(host);
            } else {
                self.timers_end(host);
            }
            // With `until` at the end of time there is no instant left to go on to.
            if at == u64::MAX {
                return;
            }
        }
    }

    fn happen<H: Host + ?Sized>(&mut self, host: &mut H) {
        match self.events.pop().map(|(_, what)| what) {
            Some(What::End(flight)) => self.end(host, flight),
            Some(What::Ack { station, to, mode }) => self.answer(host, station, to, mode),
            Some(What::Tuned(station)) => self.tuned(station),
            Some(What::Wake(token)) => host.wake(self, token),
            None => {}
        }
    }

    /// Time-outs and back-offs that end now.
    fn timers_end<H: Host + ?Sized>(&mut self, host: &mut H) {
        let mut due = core::mem::take(&mut self.scratch.due);
        self.timers.take(self.now, &mut due);
        // Whoever sends does so whatever the others do: first all turn to sending.
        for &station in &due {
            let hot = &mut self.hot[station as usize];
            if !hot.access.waiting {
                hot.access.sends();
                hot.ear.begin_sending();
            }
        }
        for &station in &due {
            if self.hot[station as usize].access.waiting {
                self.timed_out(host, station);
            } else {
                self.attempt(host, station);
            }
        }
        due.clear();
        self.scratch.due = due;
    }
}
