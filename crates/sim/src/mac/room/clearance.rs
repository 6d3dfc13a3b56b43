//! RTS and CTS before a frame, and CTS-to-self (10.3.2.9, 10.3.2.15).

use super::Room;
use super::events::What;
use crate::mac::burst::Stage;
use crate::mac::frame::{GROUP, Kind, OnAir};
use crate::mac::host::{Done, Host};
use crate::mac::station::Entry;
use crate::mac::timers::NEVER;
use crate::radio::airtime::{CTS_OCTETS, RTS_OCTETS};
use crate::radio::{Mode, airtime};

impl Room {
    /// Sends an RTS or CTS-to-self if the exchange needs one. Returns whether it did.
    #[inline(never)]
    pub(super) fn clearance<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        station: u32,
        to: u32,
    ) -> bool {
        let it = &self.stations[station as usize];
        let settings = &it.settings;
        let (mode, octets) = (it.burst.mode, it.burst.octets);
        if to == GROUP {
            return false;
        }
        let rts = settings.rts && octets > settings.rts_threshold;
        let to_self = settings.protect.is_some() && !matches!(mode, Mode::Hr(_));
        if !rts && !to_self {
            return false;
        }
        let sifs = settings.timing.sifs_ns;
        let control = match settings.protect {
            Some(protect) if to_self => protect,
            _ => settings.basic.response_to(mode),
        };
        let mpdus = it.burst.mpdus.len().max(1) as u8;
        let data_ns = sifs + airtime(mode, octets) + self.answer_ns(station, mode, mpdus);
        let cts_ns = sifs + airtime(settings.basic.response_to(control), CTS_OCTETS);
        let (kind, to, octets, duration_ns) = if rts {
            (Kind::Rts, to, RTS_OCTETS, cts_ns + data_ns)
        } else {
            (Kind::Cts, station, CTS_OCTETS, data_ns)
        };
        let it = &mut self.stations[station as usize];
        it.burst.stage = Stage::Clearance;
        it.counters.clearances += 1;
        let frame = OnAir {
            kind,
            from: station,
            to,
            sequence: 0,
            mpdus: 1,
            attempt: 1,
            channel: self.hot[station as usize].ear.channel,
            mode: control,
            octets,
            begin: self.now,
            end: self.now + airtime(control, octets),
            duration_ns,
            tag: 0,
            repeated: false,
        };
        self.begin(host, frame);
        true
    }

    /// Handles the end of an RTS. Its addressee answers, unless its NAV is set.
    pub(super) fn rts_over(&mut self, frame: &OnAir) {
        let heard = !self.scratch.heard.is_empty();
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        if heard && !self.hot[frame.to as usize].access.reserved(self.now) {
            let it = &mut self.stations[frame.to as usize];
            let mode = it.settings.basic.response_to(frame.mode);
            let sifs = it.settings.timing.sifs_ns;
            it.owes += 1;
            it.reserved_ns = frame.duration_ns.saturating_sub(sifs + airtime(mode, CTS_OCTETS));
            let what = What::Answer { station: frame.to, to: frame.from, mode, kind: Kind::Cts };
            self.events.push(self.now + sifs, what);
        }
        self.await_answer(frame.from, frame.mode, Kind::Cts);
    }

    /// Handles the end of a CTS. After a CTS-to-self its sender goes on; else the addressee does,
    /// which has read it.
    pub(super) fn cts_over(&mut self, frame: &OnAir) {
        if frame.from == frame.to {
            self.clear_soon(frame.from);
        } else {
            self.scratch.heard.clear();
            self.scratch.missed.clear();
            self.nod_off(frame.from);
        }
    }

    /// Schedules the data of a station that is clear to send.
    pub(super) fn clear_soon(&mut self, station: u32) {
        let it = &mut self.stations[station as usize];
        it.unanswered = 0;
        let at = self.now + it.settings.timing.sifs_ns;
        self.hot[station as usize].access.waiting = false;
        self.timers.set(station, NEVER);
        self.events.push(at, What::Clear(station));
    }

    /// Sends the data of a station that is clear to send.
    #[inline(never)]
    pub(super) fn clear<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        if self.hot[station as usize].ear.deaf {
            // The station was switched off, or tuned away, meanwhile.
            self.failed(host, station);
            return;
        }
        self.turn_to_sending(station);
        self.send_burst(host, station);
    }

    /// Handles a missing CTS. The frame at the head of the queue is given up after as many of those
    /// as it would have had attempts (10.3.4.4).
    pub(super) fn not_cleared<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        it.unanswered += 1;
        let again = it.unanswered < it.settings.short_retry_limit && !it.off;
        it.widen(again);
        if again {
            self.back_off(station);
            return;
        }
        it.unanswered = 0;
        it.counters.given_up += 1;
        let head = it.burst.places.first().map_or(0, |&at| at as usize);
        let Some(entry) = it.queue.remove(head) else { return };
        if !it.off {
            self.ask_to_move_on(station);
        }
        self.back_off(station);
        let Entry { packet, attempts, .. } = entry;
        host.done(self, station, Done { tag: packet.tag, delivered: false, attempts });
    }
}
