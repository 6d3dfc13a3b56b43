//! MPDUs of an agreement at their recipient: the reorder buffer (10.25.6).

use super::Room;
use super::events::What;
use crate::mac::agreement::{Arrival, Held};
use crate::mac::frame::{Fate, OnAir};
use crate::mac::host::{Heard, Host, Missed};
use espbench_proto::sample::Cause;

impl Room {
    /// Takes an MPDU that its addressee has read under an agreement. Returns the MPDU's fate.
    pub(super) fn take<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        agreement: u32,
        frame: &OnAir,
        rssi: i8,
    ) -> Fate {
        let station = frame.to;
        // The MPDU has ended, its A-MPDU has not.
        if !host.accepts(station, &OnAir { end: self.now, ..*frame }) {
            let cause = Cause::ReceiveQueue;
            self.counted(host, frame, Err(Missed { station, cause }));
            return Fate::Refused;
        }
        let counters = &mut self.stations[station as usize].counters;
        let it = &mut self.agreements[agreement as usize];
        let heard = Held { frame: *frame, rssi };
        match it.receive(frame.sequence) {
            Arrival::Next => {
                self.go_up(host, heard);
                self.release(host, agreement);
            }
            Arrival::Early => {
                self.release(host, agreement);
                if let Some(heard) = self.agreements[agreement as usize].hold(heard) {
                    self.go_up(host, heard);
                } else {
                    host.waits(frame);
                    self.look_after(agreement);
                }
                self.release(host, agreement);
            }
            Arrival::Late => {
                counters.late += 1;
                host.heard(self, &OnAir { repeated: true, ..*frame }, &[], &[]);
            }
            Arrival::Repeated => {
                counters.duplicates += 1;
                host.heard(self, &OnAir { repeated: true, ..*frame }, &[], &[]);
                return Fate::Repeated;
            }
        }
        Fate::Taken
    }

    /// Hands a single frame up, or reports that it was lost.
    pub(super) fn counted<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        frame: &OnAir,
        fate: Result<Heard, Missed>,
    ) {
        match fate {
            Ok(heard) => {
                self.stations[heard.station as usize].counters.received += 1;
                host.heard(self, frame, &[heard], &[]);
            }
            Err(missed) => {
                let counters = &mut self.stations[missed.station as usize].counters;
                counters.missed(missed.cause);
                host.heard(self, frame, &[], &[missed]);
            }
        }
    }

    fn go_up<H: Host + ?Sized>(&mut self, host: &mut H, held: Held) {
        let Held { frame, rssi } = held;
        self.counted(host, &frame, Ok(Heard { station: frame.to, rssi }));
    }

    /// Hands up the MPDUs that need not wait any more.
    pub(super) fn release<H: Host + ?Sized>(&mut self, host: &mut H, agreement: u32) {
        while let Some(held) = self.agreements[agreement as usize].release() {
            self.go_up(host, held);
        }
    }

    /// Schedules the event at which waiting MPDUs have waited too long.
    fn look_after(&mut self, agreement: u32) {
        let it = &mut self.agreements[agreement as usize];
        if !it.watched
            && let Some(due) = it.due()
        {
            it.watched = true;
            self.events.push(due.max(self.now), What::Watch(agreement));
        }
    }

    /// Gives up what MPDUs have waited for too long.
    #[inline(never)]
    pub(super) fn watch<H: Host + ?Sized>(&mut self, host: &mut H, agreement: u32) {
        let it = &mut self.agreements[agreement as usize];
        it.watched = false;
        it.lose_patience(self.now);
        self.release(host, agreement);
        self.look_after(agreement);
    }
}
