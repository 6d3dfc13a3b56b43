//! Block acknowledgement requests, which tell the recipient what was given up (10.25.6.6.3).

use super::WirelessMedium;
use super::events::MediumEvent;
use crate::mac::config::TxFrame;
use crate::mac::exchange::{ALONE, ExchangeStep};
use crate::mac::frame::{FrameKind, Ppdu};
use crate::mac::station::QueuedFrame;
use crate::mac::user::MacUser;
use crate::radio::airtime;
use crate::radio::airtime::BLOCK_ACK_REQUEST_OCTETS;

impl WirelessMedium {
    /// Queues a request, so that the receiver does not wait for MPDUs that were given up.
    pub(super) fn queue_block_ack_request(&mut self, station: u32) {
        let it = &mut self.stations[station as usize];
        let Some(agreement) = self.agreements.get(it.exchange.agreement as usize) else { return };
        let to = agreement.to;
        let oldest = it.queue.iter().find(|entry| {
            entry.numbered && entry.packet.aggregate && entry.packet.to == to && !entry.request
        });
        let sequence = oldest.map_or(agreement.next, |entry| entry.sequence);
        if let Some(head) = it.queue.front_mut()
            && head.request
            && head.packet.to == to
        {
            (head.sequence, head.attempts) = (sequence, 0);
            return;
        }
        let mode = it.settings.basic.response_to(it.exchange.mode);
        let packet = TxFrame::new(to, BLOCK_ACK_REQUEST_OCTETS, mode, 0);
        it.requests += 1;
        it.queue.push_front(QueuedFrame { sequence, request: true, ..QueuedFrame::new(packet) });
    }

    /// Sends a block acknowledgement request with the number before which all was given up.
    pub(super) fn request<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
        entry: QueuedFrame,
    ) {
        let mode = entry.packet.mode;
        let it = &mut self.stations[station as usize];
        it.exchange.clear(ALONE, mode);
        it.exchange.stage = ExchangeStep::Request;
        if let Some(head) = it.queue.front_mut() {
            head.attempts = head.attempts.saturating_add(1);
        }
        let frame = Ppdu {
            kind: FrameKind::BlockAckRequest,
            from: station,
            to: entry.packet.to,
            sequence: entry.sequence,
            mpdus: 1,
            attempt: entry.attempts + 1,
            channel: self.states[station as usize].receiver.channel,
            mode,
            octets: BLOCK_ACK_REQUEST_OCTETS,
            begin: self.now,
            end: self.now + airtime(mode, BLOCK_ACK_REQUEST_OCTETS),
            duration_ns: self.answer_ns(station, mode, 2),
            tag: 0,
            repeated: false,
        };
        self.start_tx(user, frame);
    }

    /// Handles the end of a request. A recipient that has read it moves its window and answers.
    #[inline(never)]
    pub(super) fn request_over<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        let heard = !self.scratch.heard.is_empty();
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        let agreement = self.stations[frame.from as usize].agreements.get(&frame.to).copied();
        if heard && let Some(agreement) = agreement {
            let it = &mut self.stations[frame.to as usize];
            let mode = it.settings.basic.response_to(frame.mode);
            let at = self.now + it.settings.timing.sifs_ns;
            it.owed_responses += 1;
            let kind = FrameKind::BlockAck;
            self.events
                .push(at, MediumEvent::Answer { station: frame.to, to: frame.from, mode, kind });
            self.agreements[agreement as usize].give_up_before(frame.sequence);
            self.release(user, agreement);
        }
        self.await_answer(frame.from, frame.mode, FrameKind::BlockAck);
    }

    /// Ends a request, or repeats it if no answer came.
    pub(super) fn request_answered(&mut self, station: u32, answered: bool) {
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        if answered || it.off {
            it.on_success();
        }
        if answered || it.off || !it.on_failure() {
            it.queue.pop_front();
            it.requests -= 1;
        }
        self.back_off(station);
    }
}
