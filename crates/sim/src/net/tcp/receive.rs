//! Handling of incoming segments (RFC 9293 section 3.10.7).

use super::control::{AckAction, AckedData};
use super::{ConnectionOwner, Io, Segment, TcpConnection, TcpState, after};
use core::time::Duration;
use espbench_model::time::Instant;

/// The least time between two answers to segments without data that are not acceptable (RFC 5961
/// section 7; Linux's `tcp_invalid_ratelimit`): two ends that misunderstand each other would answer
/// each other's answers.
const BETWEEN_CHALLENGES: Duration = Duration::from_millis(500);

impl TcpConnection {
    /// Handles a segment; returns whether something has changed for a program.
    pub(in super::super) fn receive(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
    ) -> bool {
        let (state, text) = (self.state, segment.len() > 0 && !self.finished);
        match state {
            TcpState::Closed => false,
            TcpState::SynSent => self.receive_syn(now, io, segment),
            _ if segment.rst => self.receive_reset(io, segment),
            TcpState::SynReceived => !segment.syn && self.arrive(now, io, segment),
            _ if segment.syn => {
                // RFC 9293 section 3.10.7.4: a challenge ACK.
                self.ack_state.at_once = true;
                self.acknowledge(now, io);
                false
            }
            _ if text && self.mailbox.refused() && !self.mailbox.retry() => {
                io.counters.tcp_mailbox_full += 1;
                self.ack_state.at_once |= self.rcv.window() == 0;
                self.acknowledge(now, io);
                false
            }
            _ if self.is_duplicate(segment) => self.duplicate(now, io),
            _ if text && after(segment.seq, self.rcv.nxt) && !self.keeps(io, segment) => {
                self.ack_state.at_once = true;
                self.acknowledge(now, io);
                false
            }
            _ => self.arrive(now, io, segment),
        }
    }

    /// Handles the answer to a SYN. A SYN that is no answer is ignored: there is no simultaneous
    /// open.
    fn receive_syn(&mut self, now: Instant, io: &mut Io<'_>, segment: &Segment<'_>) -> bool {
        let Some(ack) = segment.ack else { return false };
        let expected = self.snd.una.wrapping_add(1);
        let acceptable = ack == expected && self.snd.max == expected;
        if segment.rst {
            if acceptable {
                self.end(io);
            }
            return acceptable;
        }
        if !acceptable || !segment.syn {
            if !acceptable && !segment.fin {
                self.refuse(io, ack);
            }
            return false;
        }
        self.synchronize(io.stack, segment);
        self.state = TcpState::Established;
        (self.snd.una, self.snd.nxt, self.retransmitted_to) = (ack, ack, ack);
        self.rcv.announced_in_syn(u16::try_from(io.stack.tcp_window).unwrap_or(u16::MAX));
        self.retransmit_at = None;
        self.timeout.acknowledged(io.clock, now, ack, None);
        self.ack_state.at_once = true;
        self.acknowledge(now, io);
        self.output(now, io);
        true
    }

    /// Handles a reset.
    fn receive_reset(&mut self, io: &mut Io<'_>, segment: &Segment<'_>) -> bool {
        if !self.is_in_window(segment) {
            return false;
        }
        self.broken = true;
        self.end(io);
        true
    }

    /// Returns whether the segment is a duplicate acknowledgement (RFC 5681 section 2).
    fn is_duplicate(&self, segment: &Segment<'_>) -> bool {
        segment.is_bare()
            && segment.ack == Some(self.snd.una)
            && self.snd.max != self.snd.una
            && self.probes == 0
            && self.snd.window_of(segment) == self.snd.wnd
    }

    /// Handles a duplicate acknowledgement.
    fn duplicate(&mut self, now: Instant, io: &mut Io<'_>) -> bool {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates > 3 {
            self.control.duplicate();
        } else if self.duplicates == 3 && !self.control.in_recovery() {
            io.counters.fast_retransmits += 1;
            self.control.lost(self.snd.wnd, self.snd.max);
            self.retransmit(now, io);
        }
        self.output(now, io);
        false
    }

    /// Returns whether there is room for a segment out of order.
    fn keeps(&mut self, io: &mut Io<'_>, segment: &Segment<'_>) -> bool {
        io.counters.out_of_order += 1;
        let end = segment.end();
        if after(end, self.rcv.nxt.wrapping_add(self.receive_buffer.free())) {
            return true;
        }
        let kept = self.mailbox.apart(end, io.stack.tcp_out_of_order);
        io.counters.out_of_order_dropped += u64::from(!kept);
        kept
    }

    /// Returns whether a part of the segment is in the receive window (RFC 9293 section 3.4), which
    /// reaches as far as there is room, whatever was announced.
    fn is_in_window(&self, segment: &Segment<'_>) -> bool {
        let (len, window) = (segment.len(), self.receive_buffer.free());
        let begin = segment.seq.wrapping_sub(self.rcv.nxt);
        let last = begin.wrapping_add(len).wrapping_sub(1);
        match (len, window) {
            (0, 0) => begin == 0,
            (_, 0) => false,
            (0, _) => begin < window,
            _ => begin < window || last < window,
        }
    }

    /// Returns whether the segment is acceptable. An acknowledgement without data is so, too, behind
    /// bytes that have not come: lwIP (`tcp_receive`) and Linux (`tcp_sequence`) accept it up to and
    /// including the end of the window, and two ends that both wait for one would wait for ever.
    fn is_acceptable(&self, segment: &Segment<'_>, ack: u32) -> bool {
        let ahead = segment.is_bare() && after(segment.seq, self.rcv.nxt);
        (ahead || self.is_in_window(segment)) && !after(ack, self.snd.max)
    }

    /// Answers a segment that is not acceptable with an acknowledgement (RFC 9293 section 3.10.7.4).
    fn challenge(&mut self, now: Instant, io: &mut Io<'_>, segment: &Segment<'_>) {
        let last = self.challenged.map(|at| at + BETWEEN_CHALLENGES);
        if segment.is_bare() && last.is_some_and(|until| now < until) {
            return;
        }
        self.challenged = Some(now);
        self.rcv.open(io.stack, self.room());
        self.send_ack(io);
    }

    /// Handles a segment of a connection that is synchronized, or becomes so.
    fn arrive(&mut self, now: Instant, io: &mut Io<'_>, segment: &Segment<'_>) -> bool {
        let Some(ack) = segment.ack else { return false };
        let past = !after(segment.end(), self.rcv.nxt);
        io.counters.duplicates += u64::from(segment.len() > 0 && past);
        let handshake = self.state == TcpState::SynReceived;
        if handshake && (self.snd.in_flight() == 0 || ack != self.snd.nxt) {
            self.refuse(io, ack);
            return false;
        }
        if !self.is_acceptable(segment, ack) {
            self.challenge(now, io, segment);
            return false;
        }
        let before = self.state;
        let new = if after(ack, self.snd.una) { ack.wrapping_sub(self.snd.una) } else { 0 };
        let of_fin = !handshake && new > self.send_buffer.len() as u32;
        self.state = self.state.acknowledged(of_fin);
        let mut changed = self.take_text(now, io, segment);
        changed |= self.process_ack(now, io, segment, ack);
        if self.state == TcpState::Closed {
            self.end(io);
            return true;
        }
        self.output(now, io);
        self.acknowledge(now, io);
        self.settle(now, io);
        changed || self.state != before
    }

    /// Takes the text of a segment, and its FIN; returns whether there is more to read.
    fn take_text(&mut self, now: Instant, io: &mut Io<'_>, segment: &Segment<'_>) -> bool {
        let (had_gap, mut new, mut put) = (self.receive_buffer.has_gap(), 0, false);
        let mut fin = false;
        if self.state.takes_text() {
            let known = self.rcv.nxt.wrapping_sub(segment.seq);
            let ahead = after(segment.seq, self.rcv.nxt);
            let (offset, known) = if ahead { (known.wrapping_neg(), 0) } else { (0, known) };
            let text = segment.text.get(known as usize..).unwrap_or_default();
            let room = self.receive_buffer.free().saturating_sub(offset);
            put = !text.is_empty() && room > 0;
            new = self.receive_buffer.put(offset, text);
            // A FIN behind a gap is not kept; it comes again.
            fin = segment.fin && !ahead && text.len() as u32 <= room;
        }
        self.rcv.nxt = self.rcv.nxt.wrapping_add(new + u32::from(fin));
        if fin {
            self.finished = true;
            self.state = self.state.finished();
        }
        let kept = new > 0 && self.keep(now, io, new);
        self.rcv.open(io.stack, self.room());
        if put && (had_gap || self.receive_buffer.has_gap()) {
            // RFC 5681 section 4.2: what is out of order, or fills a gap, is answered at once.
            self.send_ack(io);
        } else if new > 0 {
            let timeout = self.timeout.length(io.clock);
            self.ack_state.data(now, io.clock, io.stack, new, timeout);
        }
        self.ack_state.at_once |= fin;
        kept
    }

    /// Puts new bytes in order into the mailbox; returns whether there was room.
    fn keep(&mut self, now: Instant, io: &mut Io<'_>, bytes: u32) -> bool {
        let kept = self.mailbox.put(bytes, self.rcv.nxt);
        if !kept {
            self.offer_at = Some(io.clock.fast(now));
        }
        if self.owner == ConnectionOwner::Nobody {
            // As in lwIP's tcp_recv_null, the bytes are taken although nobody reads them.
            self.receive_buffer.discard();
            self.mailbox.clear();
            self.reading = 0;
            self.offer_at = None;
            self.open_window(io.stack);
        }
        kept
    }

    /// Handles the acknowledgement and the window of a segment.
    fn process_ack(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
        ack: u32,
    ) -> bool {
        self.snd.update_window(segment, ack);
        let mut bytes = 0;
        if after(ack, self.snd.una) {
            let flight = self.snd.in_flight();
            bytes = ack.wrapping_sub(self.snd.una).min(self.send_buffer.len() as u32);
            self.send_buffer.dequeue_allocated(bytes as usize);
            self.snd.acknowledge(ack);
            self.progress(now, io, bytes, flight);
        } else if !self.is_duplicate(segment) {
            self.duplicates = 0;
        }
        if self.snd.wnd > 0 && self.probes > 0 {
            // The byte of the probe may have been discarded.
            self.probes = 0;
            self.probe_at = None;
            self.snd.rewind();
        }
        bytes > 0
    }

    /// Takes note of newly acknowledged bytes.
    fn progress(&mut self, now: Instant, io: &mut Io<'_>, bytes: u32, flight: u32) {
        self.duplicates = 0;
        let una = self.snd.una;
        let mut took = None;
        while let Some(first) = self.sent.front()
            && !after(first.end, una)
        {
            // Karn: a segment that was sent twice measures nothing.
            took = after(first.end, self.retransmitted_to).then(|| now.since(first.at));
            self.sent.pop_front();
        }
        self.timeout.acknowledged(io.clock, now, una, took);
        self.retransmit_at = (self.snd.in_flight() > 0).then(|| self.timeout.due(io.clock, now));
        if bytes == 0 {
            return;
        }
        let round_trip = self.timeout.smoothed().unwrap_or(0);
        let ack = AckedData { now, bytes, una, flight, round_trip };
        if self.control.acknowledged(ack) == AckAction::Retransmit {
            self.retransmit(now, io);
        }
    }

    /// Ends the connection.
    pub(super) fn end(&mut self, io: &mut Io<'_>) {
        io.counters.broken += u64::from(self.broken || !self.finished);
        self.broken |= !self.finished;
        self.state = TcpState::Closed;
    }

    /// Sets the time for which a closing connection is remembered.
    pub(super) fn settle(&mut self, now: Instant, io: &Io<'_>) {
        let wait = match self.state {
            TcpState::TimeWait => io.stack.time_wait,
            TcpState::FinWait2 if self.owner == ConnectionOwner::Nobody => io.stack.fin_wait,
            _ => return,
        };
        let lingers = self.in_time_wait();
        if self.end_at.is_none() || lingers && !core::mem::replace(&mut self.lingered, lingers) {
            self.end_at = Some(now + wait);
        }
    }
}
