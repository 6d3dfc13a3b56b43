//! Switching stations off and on, and alarms for the user of the MAC.

use super::WirelessMedium;
use crate::mac::timers::NEVER;
use alloc::vec::Vec;
use espbench_model::time::Instant;

impl WirelessMedium {
    /// Calls [`MacUser::on_alarm`](crate::mac::MacUser::on_alarm) for a station at a time, or next
    /// if it is past; `None` cancels the alarm. A station has one alarm, which costs no event.
    #[inline]
    pub fn alarm(&mut self, station: u32, at: Option<Instant>) {
        let at = at.map_or(NEVER, |at| at.as_nanos().max(self.now));
        self.alarms.set(station, at);
    }

    /// Switches a station off: it receives nothing and answers nobody, and its queue is emptied.
    /// Returns the tags of the packets lost. A frame on the air goes on to its end; it is not
    /// repeated, and [`MacUser::on_tx_status`](crate::mac::MacUser::on_tx_status) is still called
    /// for it.
    pub fn switch_off(&mut self, station: u32) -> Vec<u64> {
        self.touch(station);
        let at = station as usize;
        let (Some(it), Some(state)) = (self.stations.get_mut(at), self.states.get_mut(at)) else {
            return Vec::new();
        };
        let gone = it.flush_queue();
        it.tuned = NEVER;
        it.off = true;
        for agreement in &mut self.agreements {
            if agreement.to == station || agreement.from == station {
                agreement.forget();
            }
        }
        (it.dozing, it.doze_pending) = (false, false);
        state.receiver.turn_off();
        self.update_cca(station);
        self.update_meter(station);
        let state = &mut self.states[at];
        if state.access.contending() {
            state.access.set_contending(false);
            self.timers.set(station, NEVER);
        }
        // With its time-out past, the station was waiting for the end of the frame it received.
        if state.access.awaiting_response()
            && !state.receiver.sending()
            && !self.timers.runs(station)
        {
            self.timers.set(station, self.now);
        }
        gone
    }

    /// Switches a station on, on the channel it was tuned to.
    pub fn switch_on(&mut self, station: u32) {
        self.touch(station);
        let at = station as usize;
        let (Some(it), Some(state)) = (self.stations.get_mut(at), self.states.get_mut(at)) else {
            return;
        };
        if it.off {
            it.off = false;
            it.tuned = self.now;
            state.receiver.set_deaf(false);
            self.update_cca(station);
            self.update_meter(station);
        }
    }
}
