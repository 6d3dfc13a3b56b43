//! The doze state of power save, in which a station's receiver is off (11.2.3).

use super::Room;
use crate::mac::timers::NEVER;

impl Room {
    /// Lets a station doze: it receives nothing, answers nobody and sends nothing; its queue is
    /// kept, and takes frames. An exchange in progress goes on first: the station dozes when it has
    /// its response, or none came in time, and when it has sent the acknowledgement that it owes.
    pub fn doze(&mut self, station: u32) {
        let at = station as usize;
        let Some(it) = self.stations.get_mut(at) else { return };
        if it.off || it.dozing {
            return;
        }
        it.drowsy = true;
        self.nod_off(station);
    }

    /// Wakes a station up. It senses the energy on the air, but receives only frames that begin
    /// from now on, because it does not know the duration of a frame that it slept through. So it
    /// may send into an exchange that it does not sense; the standard's `ProbeDelay` (11.2.3.2),
    /// for which it should wait, is left out.
    pub fn rouse(&mut self, station: u32) {
        let at = station as usize;
        let Some(it) = self.stations.get_mut(at) else { return };
        it.drowsy = false;
        if !it.dozing {
            return;
        }
        it.dozing = false;
        self.hot[at].ear.deaf = it.tuned > self.now;
        self.sense(station);
        self.note(station);
        self.contend(station);
    }

    /// Lets a station doze if it wants to and nothing is in the way.
    #[inline]
    pub(super) fn nod_off(&mut self, station: u32) {
        if self.stations[station as usize].drowsy {
            self.fall_asleep(station);
        }
    }

    fn fall_asleep(&mut self, station: u32) {
        let at = station as usize;
        let (it, hot) = (&mut self.stations[at], &mut self.hot[at]);
        if it.engaged || it.owes > 0 || hot.ear.sending {
            return;
        }
        it.drowsy = false;
        it.dozing = true;
        hot.ear.go_deaf();
        hot.access.contending = false;
        self.timers.set(station, NEVER);
        self.sense(station);
        self.note(station);
    }
}
