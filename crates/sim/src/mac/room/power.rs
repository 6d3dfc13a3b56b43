//! Switching stations off and on, and alarms for the user of the MAC.

use super::Room;
use crate::mac::timers::NEVER;
use alloc::vec::Vec;
use espbench_proto::time::Instant;

impl Room {
    /// Calls [`Host::alarm`](crate::mac::Host::alarm) for a station at a time, or next if it is
    /// past; `None` cancels the alarm. A station has one alarm, which costs no event.
    #[inline]
    pub fn alarm(&mut self, station: u32, at: Option<Instant>) {
        let at = at.map_or(NEVER, |at| at.as_nanos().max(self.now));
        self.alarms.set(station, at);
    }

    /// Switches a station off: it receives nothing and answers nobody, and its queue is emptied.
    /// Returns the tags of the packets lost. A frame on the air goes on to its end; it is not
    /// repeated, and [`Host::done`](crate::mac::Host::done) is still called for it.
    pub fn switch_off(&mut self, station: u32) -> Vec<u64> {
        let at = station as usize;
        let (Some(it), Some(hot)) = (self.stations.get_mut(at), self.hot.get_mut(at)) else {
            return Vec::new();
        };
        let gone = it.leave_queue();
        it.tuned = NEVER;
        it.off = true;
        for agreement in &mut self.agreements {
            if agreement.to == station || agreement.from == station {
                agreement.forget();
            }
        }
        (it.dozing, it.drowsy) = (false, false);
        hot.ear.go_deaf();
        self.sense(station);
        self.note(station);
        let hot = &mut self.hot[at];
        if hot.access.contending {
            hot.access.contending = false;
            self.timers.set(station, NEVER);
        }
        // With its time-out past, the station was waiting for the end of the frame it received.
        if hot.access.waiting && !hot.ear.sending && !self.timers.runs(station) {
            self.timers.set(station, self.now);
        }
        gone
    }

    /// Switches a station on, on the channel it was tuned to.
    pub fn switch_on(&mut self, station: u32) {
        let at = station as usize;
        let (Some(it), Some(hot)) = (self.stations.get_mut(at), self.hot.get_mut(at)) else {
            return;
        };
        if it.off {
            it.off = false;
            it.tuned = self.now;
            hot.ear.deaf = false;
            self.sense(station);
            self.note(station);
        }
    }
}
