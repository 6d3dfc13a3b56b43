//! RTS and CTS before a frame, and CTS-to-self (10.3.2.9, 10.3.2.15).

use super::WirelessMedium;
use super::events::MediumEvent;
use crate::mac::exchange::ExchangeStep;
use crate::mac::frame::{FrameKind, GROUP, Ppdu};
use crate::mac::station::QueuedFrame;
use crate::mac::timers::NEVER;
use crate::mac::user::{MacUser, TxStatus};
use crate::radio::airtime::{CTS_OCTETS, RTS_OCTETS, psdu_airtime};
use crate::radio::{WifiMode, airtime};

impl WirelessMedium {
    /// Sends an RTS or CTS-to-self if the exchange needs one. Returns whether it did.
    #[inline(never)]
    pub(super) fn clearance<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
        to: u32,
    ) -> bool {
        let it = &self.stations[station as usize];
        let settings = &it.settings;
        let (mode, octets) = (it.exchange.mode, it.exchange.octets);
        if to == GROUP {
            return false;
        }
        let rts = settings.rts && octets > settings.rts_threshold;
        let to_self = settings.protect.is_some() && !matches!(mode, WifiMode::Hr(_));
        if !rts && !to_self {
            return false;
        }
        let sifs = settings.timing.sifs_ns;
        let control = match settings.protect {
            Some(protect) if to_self => protect,
            _ => settings.basic.response_to(mode),
        };
        let mpdus = it.exchange.mpdus.len().max(1) as u8;
        let data_ns = sifs + psdu_airtime(mode, octets) + self.answer_ns(station, mode, mpdus);
        let cts_ns = sifs + airtime(settings.basic.response_to(control), CTS_OCTETS);
        let (kind, to, octets, duration_ns) = if rts {
            (FrameKind::Rts, to, RTS_OCTETS, cts_ns + data_ns)
        } else {
            (FrameKind::Cts, station, CTS_OCTETS, data_ns)
        };
        let it = &mut self.stations[station as usize];
        it.exchange.stage = ExchangeStep::Clearance;
        it.counters.clearances += 1;
        let frame = Ppdu {
            kind,
            from: station,
            to,
            sequence: 0,
            mpdus: 1,
            attempt: 1,
            channel: self.states[station as usize].receiver.channel,
            mode: control,
            octets,
            begin: self.now,
            end: self.now + airtime(control, octets),
            duration_ns,
            tag: 0,
            repeated: false,
        };
        self.start_tx(user, frame);
        true
    }

    /// Handles the end of an RTS. Its addressee answers, unless its NAV is set.
    pub(super) fn rts_over(&mut self, frame: &Ppdu) {
        let heard = !self.scratch.heard.is_empty();
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        if heard && !self.states[frame.to as usize].access.nav_busy(self.now) {
            let it = &mut self.stations[frame.to as usize];
            let mode = it.settings.basic.response_to(frame.mode);
            let sifs = it.settings.timing.sifs_ns;
            it.owed_responses += 1;
            it.reserved_ns = frame.duration_ns.saturating_sub(sifs + airtime(mode, CTS_OCTETS));
            let what = MediumEvent::Answer {
                station: frame.to,
                to: frame.from,
                mode,
                kind: FrameKind::Cts,
            };
            self.events.push(self.now + sifs, what);
        }
        self.await_answer(frame.from, frame.mode, FrameKind::Cts);
    }

    /// Handles the end of a CTS. After a CTS-to-self its sender goes on; else the addressee does,
    /// which has read it.
    pub(super) fn cts_over(&mut self, frame: &Ppdu) {
        if frame.from == frame.to {
            self.schedule_cleared(frame.from);
        } else {
            self.scratch.heard.clear();
            self.scratch.missed.clear();
            self.doze_if_idle(frame.from);
        }
    }

    /// Schedules the data of a station that is clear to send.
    pub(super) fn schedule_cleared(&mut self, station: u32) {
        let it = &mut self.stations[station as usize];
        it.failed_rts = 0;
        let at = self.now + it.settings.timing.sifs_ns;
        self.states[station as usize].access.set_awaiting_response(false);
        self.timers.set(station, NEVER);
        self.events.push(at, MediumEvent::Clear(station));
    }

    /// Sends the data of a station that is clear to send.
    #[inline(never)]
    pub(super) fn send_cleared<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        if self.states[station as usize].receiver.deaf() {
            // The station was switched off, or tuned away, meanwhile.
            self.failed(user, station);
            return;
        }
        self.turn_to_tx(station);
        self.send_exchange(user, station);
    }

    /// Handles a missing CTS. The frame at the head of the queue is given up after as many of those
    /// as it would have had attempts (10.3.4.4).
    pub(super) fn on_cts_timeout<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        it.failed_rts += 1;
        let again = it.failed_rts < it.settings.short_retry_limit && !it.off;
        it.update_window(again);
        if again {
            self.back_off(station);
            return;
        }
        it.failed_rts = 0;
        it.counters.given_up += 1;
        let head = it.exchange.places.first().map_or(0, |&at| at as usize);
        let Some(entry) = it.queue.remove(head) else { return };
        if !it.off {
            self.queue_block_ack_request(station);
        }
        self.back_off(station);
        let QueuedFrame { packet, attempts, .. } = entry;
        user.on_tx_status(self, station, TxStatus { tag: packet.tag, delivered: false, attempts });
    }
}
