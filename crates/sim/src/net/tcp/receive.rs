//! Handling of incoming segments.

use super::control::{AckAction, AckedData};
use super::header::{self, SegmentHeader, SynOptions};
use super::send::ingress;
use super::{CongestionState, ConnectionOwner, Io, TcpConnection, after};
use crate::net::device::MTU;
use crate::net::stack::Stack;
use espbench_model::time::Instant;
use smoltcp::socket::tcp::State;

/// The state before a segment.
#[derive(Clone, Copy)]
struct StateBefore {
    state: State,
    /// The bytes kept for retransmission.
    kept: u32,
    /// The bytes received and not read.
    received: u32,
    /// The bytes in flight.
    flight: u32,
}

impl TcpConnection {
    /// Handles a segment; returns whether something has changed for a program.
    pub(in super::super) fn receive(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        packet: &[u8],
        segment: &SegmentHeader,
    ) -> bool {
        if self.dead {
            return false;
        }
        match self.tcp().state() {
            State::Listen | State::SynSent => self.handshake(now, io, packet, segment),
            State::SynReceived => self.take(now, io, packet, segment),
            _ if segment.syn => {
                // RFC 9293 section 3.10.7.4: a challenge ACK.
                self.ack_state.at_once = true;
                self.acknowledge(now, io);
                false
            }
            _ if segment.len > 0 && self.mailbox.refused() && !self.mailbox.retry() => {
                io.counters.tcp_mailbox_full += 1;
                self.ack_state.at_once |= self.ack_state.window() == 0;
                self.acknowledge(now, io);
                false
            }
            _ if self.is_duplicate(segment) => self.duplicate(now, io),
            _ if segment.len > 0
                && after(segment.seq, self.expected)
                && !self.keeps(io, segment) =>
            {
                self.ack_state.at_once = true;
                self.acknowledge(now, io);
                false
            }
            _ if segment.segment_len() == 0
                && segment.has_ack
                && !segment.rst
                && after(segment.seq, self.expected) =>
            {
                self.accept_ack_ahead(now, io, packet, segment)
            }
            _ => self.take(now, io, packet, segment),
        }
    }

    /// Handles an acknowledgement without data, behind bytes that have not come. lwIP
    /// (`tcp_receive`) and Linux (`tcp_sequence`) accept it up to and including the end of the
    /// window; smoltcp does not accept it there, and two ends that both wait for an acknowledgement
    /// would wait for ever.
    fn accept_ack_ahead(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        packet: &[u8],
        segment: &SegmentHeader,
    ) -> bool {
        let mut copy = [0; 120];
        let Some(copy) = copy.get_mut(..packet.len()) else { return false };
        copy.copy_from_slice(packet);
        let head = usize::from(copy[0] & 0xF) * 4;
        let Some(seq) = copy.get_mut(head + 4..head + 8) else { return false };
        seq.copy_from_slice(&self.expected.to_be_bytes());
        self.take(now, io, copy, &SegmentHeader { seq: self.expected, ..*segment })
    }

    /// Handles the first segment of a peer.
    fn handshake(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        packet: &[u8],
        segment: &SegmentHeader,
    ) -> bool {
        // A SYN without data fits this buffer.
        let mut copy = [0; 120];
        let Some(copy) = copy.get_mut(..packet.len()) else { return false };
        copy.copy_from_slice(packet);
        let head = usize::from(copy[0] & 0xF) * 4;
        let Some(tcp) = copy.get_mut(head..) else { return false };
        let offer = if segment.syn {
            header::options(tcp, io.stack.mss, io.stack.scales())
        } else {
            SynOptions::default()
        };
        let state = self.tcp().state();
        ingress(io, self.time, &mut self.set, copy);
        let new = self.tcp().state();
        if new != state && segment.syn && !segment.rst {
            self.apply_options(io.stack, &offer, segment);
        }
        match new {
            State::Established => {
                self.una = segment.ack;
                (self.nxt, self.max, self.retransmitted_to) = (self.una, self.una, self.una);
                self.ack_state.told(self.expected, io.stack.tcp_window.min(0xFFFF));
                self.retransmit_at = None;
                self.timeout.acknowledged(io.clock, now, self.una, None);
                self.ack_state.at_once = true;
                self.acknowledge(now, io);
            }
            State::Closed => self.end(io),
            _ => self.transmit(io),
        }
        self.output(now, io);
        new != state
    }

    /// Takes over the options of both ends.
    fn apply_options(&mut self, stack: &Stack, offer: &SynOptions, segment: &SegmentHeader) {
        // RFC 9293 section 3.7.1; smoltcp takes no less than 48.
        let theirs = offer.mss.filter(|&it| it > 0).unwrap_or(536).max(48);
        self.mss = u32::from(theirs.min(stack.mss));
        self.control = CongestionState::new(stack, self.mss);
        if let Some(shift) = offer.shift {
            self.their_shift = shift.min(14);
            // smoltcp derives its own from the length of the buffer.
            self.our_shift = (stack.tcp_window.ilog2() + 1).saturating_sub(16) as u8;
        }
        self.expected = segment.seq.wrapping_add(1);
        (self.window, self.widest) = (u32::from(segment.window), u32::from(segment.window));
        self.field = segment.window;
        (self.window_seq, self.window_ack) = (segment.seq, segment.ack);
    }

    /// Returns whether the segment is a duplicate acknowledgement (RFC 5681 section 2).
    fn is_duplicate(&self, segment: &SegmentHeader) -> bool {
        segment.has_ack
            && segment.segment_len() == 0
            && !segment.rst
            && segment.ack == self.una
            && self.max != self.una
            && self.probes == 0
            && u32::from(segment.window) << self.their_shift == self.window
    }

    /// Handles a duplicate acknowledgement. smoltcp is not told: the consequences are decided here.
    fn duplicate(&mut self, now: Instant, io: &mut Io<'_>) -> bool {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates > 3 {
            self.control.duplicate();
        } else if self.duplicates == 3 && !self.control.in_recovery() {
            io.counters.fast_retransmits += 1;
            self.control.lost(self.window, self.max);
            self.retransmit(now, io);
        }
        self.output(now, io);
        false
    }

    /// Returns whether there is room for a segment out of order.
    fn keeps(&mut self, io: &mut Io<'_>, segment: &SegmentHeader) -> bool {
        io.counters.out_of_order += 1;
        let end = segment.seq.wrapping_add(segment.len);
        if after(end, self.expected.wrapping_add(self.free())) {
            return true;
        }
        let kept = self.mailbox.apart(end, io.stack.tcp_out_of_order);
        io.counters.out_of_order_dropped += u64::from(!kept);
        kept
    }

    /// Hands a segment to smoltcp, and follows the changes.
    fn take(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        packet: &[u8],
        segment: &SegmentHeader,
    ) -> bool {
        let before = StateBefore {
            state: self.tcp().state(),
            kept: self.tcp().send_queue() as u32,
            received: self.tcp().recv_queue() as u32,
            flight: self.in_flight(),
        };
        let past = !after(segment.seq.wrapping_add(segment.len), self.expected);
        io.counters.duplicates += u64::from(segment.len > 0 && past);
        self.hand_to_smoltcp(io, packet, segment);
        let state = self.tcp().state();
        let new = self.tcp().recv_queue() as u32 - before.received;
        let finished = self.is_peer_fin(segment, before.state, state);
        self.expected = self.expected.wrapping_add(new + u32::from(finished));
        let mut changed = finished || state != before.state;
        if new > 0 {
            changed |= self.keep(now, io, new);
        }
        self.ack_state.open(io.stack, self.expected, self.free());
        if io.out.len > 0 {
            self.transmit(io);
        } else if new > 0 {
            let timeout = self.timeout.length(io.clock);
            self.ack_state.data(now, io.clock, io.stack, new, timeout);
        }
        if segment.has_ack && !segment.rst {
            changed |= self.process_ack(now, io, segment, before);
        }
        self.ack_state.at_once |= finished;
        if matches!(state, State::Closed | State::Listen) {
            self.broken |= segment.rst;
            self.end(io);
            return true;
        }
        self.output(now, io);
        self.acknowledge(now, io);
        self.settle(now, io);
        changed
    }

    /// Hands a packet to smoltcp, which is never told that the window is closed: probing is done
    /// here.
    fn hand_to_smoltcp(&mut self, io: &mut Io<'_>, packet: &[u8], segment: &SegmentHeader) {
        if segment.window > 0 || packet.len() > MTU {
            self.field = segment.window;
            ingress(io, self.time, &mut self.set, packet);
            return;
        }
        let mut copy = [0; MTU];
        let copy = &mut copy[..packet.len()];
        copy.copy_from_slice(packet);
        let tcp = usize::from(copy[0] & 0xF) * 4;
        copy[tcp + 15] = 1;
        self.field = 1;
        ingress(io, self.time, &mut self.set, copy);
    }

    /// Returns whether the segment was the peer's FIN, for the first time.
    fn is_peer_fin(&mut self, segment: &SegmentHeader, before: State, now: State) -> bool {
        let first = segment.fin
            && !self.finished
            && before != now
            && matches!(now, State::CloseWait | State::Closing | State::TimeWait);
        self.finished |= first;
        first
    }

    /// Puts new bytes in order into the mailbox; returns whether there was room.
    fn keep(&mut self, now: Instant, io: &mut Io<'_>, bytes: u32) -> bool {
        let kept = self.mailbox.put(bytes, self.expected);
        if !kept {
            self.offer_at = Some(io.clock.fast(now));
        }
        if self.owner == ConnectionOwner::Nobody {
            // As in lwIP's tcp_recv_null, the bytes are taken although nobody reads them.
            while self.tcp_mut().recv(|it| (it.len(), it.len())).is_ok_and(|len| len > 0) {}
            self.mailbox.clear();
            self.offer_at = None;
            self.ack_state.read(io.stack, self.expected, self.free());
        }
        kept
    }

    /// Handles the acknowledgement and the window of a segment.
    fn process_ack(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        segment: &SegmentHeader,
        before: StateBefore,
    ) -> bool {
        let state = self.tcp().state();
        let bytes = before.kept - self.tcp().send_queue() as u32;
        let control = match (before.state, state) {
            (State::SynReceived, State::SynReceived | State::Listen) => 0,
            (State::SynReceived, _) => 1,
            (State::FinWait1, State::FinWait2 | State::TimeWait)
            | (State::Closing, State::TimeWait)
            | (State::LastAck, State::Closed) => 1,
            _ => 0,
        };
        let opened = self.update_window(segment);
        if bytes + control > 0 {
            self.una = self.una.wrapping_add(bytes + control);
            self.progress(now, io, bytes, before.flight);
        } else if !self.is_duplicate(segment) {
            self.duplicates = 0;
        }
        if opened && self.probes > 0 {
            // The byte of the probe may have been discarded.
            self.probes = 0;
            self.probe_at = None;
            if self.in_flight() > 0 {
                self.rewind();
            }
        }
        bytes > 0
    }

    /// Takes over the peer's window if the segment is newer than the last one that announced it
    /// (`tcp_receive`; RFC 9293 section 3.10.7.4); returns whether the window is open.
    fn update_window(&mut self, segment: &SegmentHeader) -> bool {
        let window = u32::from(segment.window) << self.their_shift;
        let newer = after(segment.seq, self.window_seq)
            || segment.seq == self.window_seq && after(segment.ack, self.window_ack)
            || segment.ack == self.window_ack && window > self.window;
        if newer && !after(segment.ack, self.max) {
            self.window = window;
            self.widest = self.widest.max(window);
            (self.window_seq, self.window_ack) = (segment.seq, segment.ack);
        }
        self.window > 0
    }

    /// Takes note of newly acknowledged bytes.
    fn progress(&mut self, now: Instant, io: &mut Io<'_>, bytes: u32, flight: u32) {
        if after(self.una, self.nxt) {
            self.nxt = self.una;
        }
        if after(self.una, self.max) {
            self.max = self.una;
        }
        self.duplicates = 0;
        let mut took = None;
        while let Some(first) = self.sent.front()
            && !after(first.end, self.una)
        {
            // Karn: a segment that was sent twice measures nothing.
            took = after(first.end, self.retransmitted_to).then(|| now.since(first.at));
            self.sent.pop_front();
        }
        self.timeout.acknowledged(io.clock, now, self.una, took);
        self.retransmit_at = (self.in_flight() > 0).then(|| self.timeout.due(io.clock, now));
        if bytes == 0 {
            return;
        }
        let round_trip = self.timeout.smoothed().unwrap_or(0);
        let ack = AckedData { now, bytes, una: self.una, flight, round_trip };
        if self.control.acknowledged(ack) == AckAction::Retransmit {
            self.retransmit(now, io);
        }
    }

    /// Ends the connection.
    pub(super) fn end(&mut self, io: &mut Io<'_>) {
        io.out.len = 0;
        io.counters.broken += u64::from(self.broken || !self.finished);
        self.broken |= !self.finished;
        self.dead = true;
    }

    /// Sets the time for which a closing connection is remembered.
    pub(super) fn settle(&mut self, now: Instant, io: &Io<'_>) {
        let wait = match self.tcp().state() {
            State::TimeWait => io.stack.time_wait,
            State::FinWait2 if self.owner == ConnectionOwner::Nobody => io.stack.fin_wait,
            _ => return,
        };
        let lingers = self.in_time_wait();
        if self.end_at.is_none() || lingers && !core::mem::replace(&mut self.lingered, lingers) {
            self.end_at = Some(now + wait);
        }
    }
}
