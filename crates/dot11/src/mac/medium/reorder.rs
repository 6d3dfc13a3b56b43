//! MPDUs of an agreement at their recipient: the reorder buffer (10.25.6).

use super::WirelessMedium;
use super::events::MediumEvent;
use crate::mac::block_ack::{BufferedMpdu, MpduArrival};
use crate::mac::frame::{MpduFate, Ppdu};
use crate::mac::user::{MacUser, MissedReception, Reception};
use espbench_model::sample::Cause;

impl WirelessMedium {
    /// Takes an MPDU that its addressee has read under an agreement. Returns the MPDU's fate.
    pub(super) fn receive_mpdu<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        agreement: u32,
        frame: &Ppdu,
        rssi: i8,
    ) -> MpduFate {
        let station = frame.to;
        // The MPDU has ended, its A-MPDU has not.
        if !user.accepts(station, &Ppdu { end: self.now, ..*frame }) {
            let cause = Cause::ReceiveQueue;
            self.report(user, frame, Err(MissedReception { station, cause }));
            return MpduFate::Refused;
        }
        let counters = &mut self.stations[station as usize].counters;
        let it = &mut self.agreements[agreement as usize];
        let heard = BufferedMpdu { frame: *frame, rssi };
        match it.receive(frame.sequence) {
            MpduArrival::Next => {
                self.hand_up_mpdu(user, heard);
                self.release(user, agreement);
            }
            MpduArrival::Early => {
                self.release(user, agreement);
                if let Some(heard) = self.agreements[agreement as usize].hold(heard) {
                    self.hand_up_mpdu(user, heard);
                } else {
                    user.on_buffered(frame);
                    self.schedule_reorder_timeout(agreement);
                }
                self.release(user, agreement);
            }
            MpduArrival::Late => {
                counters.late += 1;
                user.on_data(self, &Ppdu { repeated: true, ..*frame }, &[], &[]);
            }
            MpduArrival::Repeated => {
                counters.duplicates += 1;
                user.on_data(self, &Ppdu { repeated: true, ..*frame }, &[], &[]);
                return MpduFate::Repeated;
            }
        }
        MpduFate::Taken
    }

    /// Hands a single frame up, or reports that it was lost.
    pub(super) fn report<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        frame: &Ppdu,
        fate: Result<Reception, MissedReception>,
    ) {
        match fate {
            Ok(heard) => {
                self.received[heard.station as usize] += 1;
                user.on_data(self, frame, &[heard], &[]);
            }
            Err(missed) => {
                let counters = &mut self.stations[missed.station as usize].counters;
                counters.missed(missed.cause);
                user.on_data(self, frame, &[], &[missed]);
            }
        }
    }

    fn hand_up_mpdu<H: MacUser + ?Sized>(&mut self, user: &mut H, held: BufferedMpdu) {
        let BufferedMpdu { frame, rssi } = held;
        self.report(user, &frame, Ok(Reception { station: frame.to, rssi }));
    }

    /// Hands up the MPDUs that need not wait any more.
    pub(super) fn release<H: MacUser + ?Sized>(&mut self, user: &mut H, agreement: u32) {
        while let Some(held) = self.agreements[agreement as usize].release() {
            self.hand_up_mpdu(user, held);
        }
    }

    /// Schedules the event at which waiting MPDUs have waited too long.
    fn schedule_reorder_timeout(&mut self, agreement: u32) {
        let it = &mut self.agreements[agreement as usize];
        if !it.timeout_scheduled
            && let Some(due) = it.due()
        {
            it.timeout_scheduled = true;
            self.events.push(due.max(self.now), MediumEvent::ReorderTimeout(agreement));
        }
    }

    /// Gives up what MPDUs have waited for too long.
    #[inline(never)]
    pub(super) fn reorder_timeout<H: MacUser + ?Sized>(&mut self, user: &mut H, agreement: u32) {
        let it = &mut self.agreements[agreement as usize];
        it.timeout_scheduled = false;
        it.give_up_overdue(self.now);
        self.release(user, agreement);
        self.schedule_reorder_timeout(agreement);
    }
}
