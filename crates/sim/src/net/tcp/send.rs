//! Transmission: the segments that a connection sends, and their times.

use super::header::{self, HEADERS};
use super::{Io, SentSegment, TcpConnection, after};
use crate::net::device::SinglePacketDevice;
use crate::net::stack::TcpTimers;
use espbench_model::time::Instant;
use smoltcp::iface::SocketSet;
use smoltcp::socket::tcp::State;
use smoltcp::time::Instant as Smol;
use smoltcp::wire::{TcpPacket, TcpSeqNumber};

/// A time longer than any timeout of smoltcp, in microseconds.
pub(super) const AGES: i64 = 120_000_000;

/// The next thing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextSegment {
    Nothing,
    /// A segment with data, SYN or FIN.
    Segment,
    /// Data that the window does not admit.
    TooSmall,
}

impl TcpConnection {
    /// Returns the bytes sent and not acknowledged.
    pub(super) const fn in_flight(&self) -> u32 {
        self.nxt.wrapping_sub(self.una)
    }

    /// Returns the bytes handed over and not sent.
    pub(super) fn unsent(&self) -> u32 {
        (self.tcp().send_queue() as u32).saturating_sub(self.in_flight())
    }

    /// Returns the bytes that may be in flight.
    fn allowed(&self) -> u32 {
        self.window.min(self.control.window())
    }

    fn due(&self, io: &Io<'_>) -> NextSegment {
        let flight = self.in_flight();
        let closing = match self.tcp().state() {
            State::SynSent | State::SynReceived if flight == 0 => return NextSegment::Segment,
            State::Established | State::CloseWait => false,
            State::FinWait1 | State::Closing | State::LastAck => true,
            _ => return NextSegment::Nothing,
        };
        let unsent = self.unsent();
        if unsent == 0 {
            let without_fin = flight <= self.tcp().send_queue() as u32;
            return if closing && without_fin {
                NextSegment::Segment
            } else {
                NextSegment::Nothing
            };
        }
        let len = unsent.min(self.mss);
        if flight + len > self.allowed() {
            // RFC 9293 section 3.8.6.2.1: half of the widest window is worth sending, too. lwIP
            // waits for its timer.
            let fair = matches!(io.stack.timers, TcpTimers::Exact { .. })
                && flight == 0
                && self.window > 0
                && self.window >= self.widest / 2;
            return if fair { NextSegment::Segment } else { NextSegment::TooSmall };
        }
        // `tcp_do_output_nagle`.
        let full = len >= self.mss || unsent > len;
        let crowded = self.tcp().send_queue() == self.tcp().send_capacity();
        let goes = flight == 0
            || full
            || crowded
            || self.no_delay
            || closing
            || self.control.in_recovery();
        if goes { NextSegment::Segment } else { NextSegment::Nothing }
    }

    /// Sends the segments that are due.
    pub(in super::super) fn output(&mut self, now: Instant, io: &mut Io<'_>) {
        loop {
            match self.due(io) {
                NextSegment::Segment => {}
                NextSegment::Nothing => break,
                NextSegment::TooSmall => {
                    if self.in_flight() == 0 && self.probe_at.is_none() {
                        self.probes = 0;
                        self.probe_at = Some(self.timeout.probe(io.clock, now, 0));
                    }
                    break;
                }
            }
            if self.probes == 0 {
                self.probe_at = None;
            }
            if io.lower.room() == 0 {
                self.block(now, io);
                break;
            }
            self.blocked = false;
            self.unblock_at = None;
            if !self.send_one(now, io) && !self.send_behind_smoltcp(now, io) {
                break;
            }
        }
    }

    /// Sends a segment that smoltcp still counts as sent: after a fast retransmission it does not go
    /// back to the first lost byte, and a FIN behind it would never be repeated. Returns false if
    /// segments are in flight, whose timer does the same later, or if there is nothing to send.
    fn send_behind_smoltcp(&mut self, now: Instant, io: &mut Io<'_>) -> bool {
        if self.in_flight() > 0 {
            return false;
        }
        self.rewind();
        self.send_one(now, io)
    }

    /// Takes note that the driver has no room.
    fn block(&mut self, now: Instant, io: &mut Io<'_>) {
        if !self.blocked {
            io.counters.blocked += 1;
        }
        self.blocked = true;
        self.unblock_at = (!io.stack.sends_on_room).then(|| io.clock.slow(now, 1));
    }

    /// Lets smoltcp send one segment; returns false if it has none.
    pub(super) fn send_one(&mut self, now: Instant, io: &mut Io<'_>) -> bool {
        self.egress(io);
        let whole = io.out.len;
        let Some(head) = io.out.packet().and_then(header::tcp_header_mut) else { return false };
        let tcp = TcpPacket::new_unchecked(&*head);
        let seq = tcp.seq_number().0 as u32;
        let control = u32::from(tcp.syn()) + u32::from(tcp.fin());
        let len = (whole + 20 - HEADERS - head.len()) as u32;
        if tcp.syn() && self.max == self.una && self.nxt == self.una {
            // For the first segment, smoltcp has chosen the initial sequence number.
            (self.una, self.nxt, self.max, self.retransmitted_to) = (seq, seq, seq, seq);
        }
        let end = seq.wrapping_add(len + control);
        self.account(now, io, seq, end, len);
        self.transmit(io);
        len + control > 0
    }

    /// Takes note of a segment that goes out.
    fn account(&mut self, now: Instant, io: &mut Io<'_>, seq: u32, end: u32, len: u32) {
        if end == seq {
            return;
        }
        if after(self.max, seq) {
            self.retransmitted_to = self.max;
            self.timeout.sent_again();
            io.counters.retransmitted += u64::from(len > 0);
        }
        if after(end, self.max) {
            if len > 0 {
                self.sent.push_back(SentSegment { end, at: now });
                self.ack_state.on_data_sent(now, io.stack);
            }
            self.timeout.sent(io.clock, now, end);
            self.max = end;
        }
        if after(end, self.nxt) {
            self.nxt = end;
        }
        if self.retransmit_at.is_none() && self.probes == 0 {
            self.retransmit_at = Some(self.timeout.due(io.clock, now));
        }
    }

    /// Goes back to the first unacknowledged byte, so that everything from there is sent again.
    pub(super) const fn rewind(&mut self) {
        self.time += AGES;
        self.nxt = self.una;
    }

    /// Retransmits the first unacknowledged segment, and nothing else.
    pub(super) fn retransmit(&mut self, now: Instant, io: &mut Io<'_>) {
        if self.tcp().send_queue() == 0 || io.lower.room() == 0 {
            return;
        }
        // smoltcp repeats a segment after three duplicates; the first here may be a window update.
        for _ in 0..4 {
            let (seq, ack, field) = (self.expected, self.una, self.field);
            let forged = self.forged.acknowledgement(seq, ack, field);
            ingress(io, self.time, &mut self.set, forged);
        }
        io.out.len = 0;
        self.send_one(now, io);
        self.retransmit_at = Some(self.timeout.due(io.clock, now));
    }

    /// Sends an acknowledgement if one must go out at once.
    pub(super) fn acknowledge(&mut self, now: Instant, io: &mut Io<'_>) {
        if !self.ack_state.at_once {
            return;
        }
        if io.lower.room() == 0 {
            self.ack_state.postpone(now, io.clock, io.stack);
            return;
        }
        self.ack_state.at_once = false;
        let forged = self.forged.keep_alive(self.expected, self.una, self.field);
        ingress(io, self.time, &mut self.set, forged);
        self.transmit(io);
    }

    /// Asks smoltcp for a segment.
    pub(super) fn egress(&mut self, io: &mut Io<'_>) {
        let mut once = SinglePacketDevice { packet: None, out: io.out };
        io.interface.poll_egress(Smol::from_micros(self.time), &mut once, &mut self.set);
    }

    /// Hands smoltcp's packet to the driver, with our window in its header. The packet is lost if
    /// the driver does not take it.
    pub(super) fn transmit(&mut self, io: &mut Io<'_>) {
        let free = self.free().min(0xFFFF);
        let len = io.out.len;
        let Some(head) = io.out.packet().and_then(header::tcp_header_mut) else {
            io.out.len = 0;
            return;
        };
        let bare = head.len() + 20 == len;
        let mut tcp = TcpPacket::new_unchecked(&mut *head);
        let (syn, rst, pure) = (tcp.syn(), tcp.rst(), bare && !tcp.fin());
        let (acks, ack) = (tcp.ack(), tcp.ack_number().0 as u32);
        let mut told = free;
        if !syn && !rst {
            let field =
                u16::try_from(self.ack_state.window() >> self.our_shift).unwrap_or(u16::MAX);
            tcp.set_window_len(field);
            told = u32::from(field) << self.our_shift;
            if pure {
                // A number after everything sent is in the peer's window; a rewound one is not.
                tcp.set_seq_number(TcpSeqNumber(self.max as i32));
            }
        } else if syn {
            header::options(head, io.stack.mss, io.stack.scales());
        }
        io.out.len = 0;
        if !io.lower.send(&io.out.bytes[..len]) {
            return;
        }
        io.counters.sent += 1;
        io.counters.acks += u64::from(pure && acks && !syn && !rst);
        if acks && !rst {
            self.ack_state.told(ack, told);
        }
    }
}

/// Hands smoltcp a packet.
pub(super) fn ingress(io: &mut Io<'_>, time: i64, set: &mut SocketSet<'static>, packet: &[u8]) {
    let mut once = SinglePacketDevice { packet: Some(packet), out: io.out };
    io.interface.poll_ingress_single(Smol::from_micros(time), &mut once, set);
}
