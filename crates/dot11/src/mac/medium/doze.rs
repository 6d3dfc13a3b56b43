//! The doze state of power save, in which a station's receiver is off (11.2.3).

use super::WirelessMedium;
use crate::mac::timers::NEVER;

impl WirelessMedium {
    /// Lets a station doze: it receives nothing, answers nobody and sends nothing; its queue is
    /// kept, and takes frames. An exchange in progress goes on first: the station dozes when it has
    /// its response, or none came in time, and when it has sent the acknowledgement that it owes.
    pub fn doze(&mut self, station: u32) {
        let at = station as usize;
        let Some(it) = self.stations.get_mut(at) else { return };
        if it.off || it.dozing {
            return;
        }
        it.doze_pending = true;
        self.doze_if_idle(station);
    }

    /// Wakes a station up. It senses the energy on the air, but receives only frames that begin
    /// from now on, because it does not know the duration of a frame that it slept through. So it
    /// may send into an exchange that it does not sense; the standard's `ProbeDelay` (11.2.3.2),
    /// for which it should wait, is left out.
    pub fn wake_up(&mut self, station: u32) {
        self.touch(station);
        let at = station as usize;
        let Some(it) = self.stations.get_mut(at) else { return };
        it.doze_pending = false;
        if !it.dozing {
            return;
        }
        it.dozing = false;
        self.states[at].receiver.set_deaf(it.tuned > self.now);
        self.update_cca(station);
        self.update_meter(station);
        self.request_access(station);
    }

    /// Lets a station doze if it wants to and nothing is in the way.
    #[inline]
    pub(super) fn doze_if_idle(&mut self, station: u32) {
        if self.stations[station as usize].doze_pending {
            self.fall_asleep(station);
        }
    }

    fn fall_asleep(&mut self, station: u32) {
        self.touch(station);
        let at = station as usize;
        let (it, state) = (&mut self.stations[at], &mut self.states[at]);
        if it.engaged || it.owed_responses > 0 || state.receiver.sending() {
            return;
        }
        it.doze_pending = false;
        it.dozing = true;
        state.receiver.turn_off();
        state.access.set_contending(false);
        self.timers.set(station, NEVER);
        self.update_cca(station);
        self.update_meter(station);
    }
}
