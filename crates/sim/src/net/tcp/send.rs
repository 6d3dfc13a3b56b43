//! Transmission: the segments that a connection sends, and their times.

use super::segment::{SynOptions, TcpHeader};
use super::{Io, LONGEST, SentSegment, TcpConnection, TcpState, after};
use crate::net::stack::TcpTimers;
use espbench_model::time::Instant;
use smoltcp::wire::TcpControl;

/// The next thing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextSegment {
    Nothing,
    /// A segment with data, SYN or FIN.
    Segment,
    /// Data that the window does not admit.
    TooSmall,
}

/// A segment with bytes of the send buffer, or with a SYN or FIN.
#[derive(Clone, Copy, Debug)]
struct OutSegment {
    /// The place of the text behind the first unacknowledged byte.
    offset: u32,
    len: u32,
    control: TcpControl,
}

impl OutSegment {
    /// Returns the sequence numbers that the segment occupies (SEG.LEN).
    fn sequence_len(&self) -> u32 {
        self.len + u32::from(matches!(self.control, TcpControl::Syn | TcpControl::Fin))
    }
}

impl TcpConnection {
    /// Returns the bytes handed over and not sent.
    pub(super) fn unsent(&self) -> u32 {
        (self.send_buffer.len() as u32).saturating_sub(self.snd.in_flight())
    }

    /// Returns the bytes that may be in flight.
    fn allowed(&self) -> u32 {
        self.snd.wnd.min(self.control.window())
    }

    fn due(&self, io: &Io<'_>) -> NextSegment {
        let flight = self.snd.in_flight();
        if self.state.is_handshake() {
            return if flight == 0 { NextSegment::Segment } else { NextSegment::Nothing };
        }
        let closing = self.state.ends_with_fin();
        if !closing && !self.state.takes_bytes() {
            return NextSegment::Nothing;
        }
        let unsent = self.unsent();
        if unsent == 0 {
            let without_fin = flight <= self.send_buffer.len() as u32;
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
                && self.snd.wnd > 0
                && self.snd.wnd >= self.snd.widest / 2;
            return if fair { NextSegment::Segment } else { NextSegment::TooSmall };
        }
        // `tcp_do_output_nagle`.
        let full = len >= self.mss || unsent > len;
        let crowded = self.send_buffer.is_full();
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
                    if self.snd.in_flight() == 0 && self.probe_at.is_none() {
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
            self.send_next(now, io);
        }
    }

    /// Takes note that the driver has no room.
    fn block(&mut self, now: Instant, io: &mut Io<'_>) {
        if !self.blocked {
            io.counters.blocked += 1;
        }
        self.blocked = true;
        self.unblock_at = (!io.stack.sends_on_room).then(|| io.clock.slow(now, 1));
    }

    /// Sends the next segment, as far as the peer's window goes, but for a byte that probes it. The
    /// congestion window is the caller's to mind.
    pub(super) fn send_next(&mut self, now: Instant, io: &mut Io<'_>) {
        let offset = self.snd.in_flight();
        if self.state.is_handshake() {
            if offset == 0 {
                self.send(now, io, OutSegment { offset, len: 0, control: TcpControl::Syn });
            }
            return;
        }
        let open = self.snd.wnd.max(1).saturating_sub(offset);
        self.send_from(now, io, offset, open);
    }

    /// Retransmits the first unacknowledged segment, and nothing else.
    pub(super) fn retransmit(&mut self, now: Instant, io: &mut Io<'_>) {
        if self.send_buffer.is_empty() || io.lower.room() == 0 {
            return;
        }
        self.send_from(now, io, 0, u32::MAX);
        self.retransmit_at = Some(self.timeout.due(io.clock, now));
    }

    /// Sends at most `most` bytes from a place of the send buffer on, with a FIN if they are the
    /// last; nothing if there are none.
    fn send_from(&mut self, now: Instant, io: &mut Io<'_>, offset: u32, most: u32) {
        let Some(left) = (self.send_buffer.len() as u32).checked_sub(offset) else { return };
        let len = left.min(self.mss).min(most);
        // A segment ends where the ring of the send buffer does, unlike those of lwIP and Linux. The
        // constants of docs/fit.md were fitted so: whole segments move TCP's rates of the ranks by up
        // to 2 %.
        let len = self.send_buffer.get_allocated(offset as usize, len as usize).len() as u32;
        let control = match len {
            _ if len == left && self.state.ends_with_fin() => TcpControl::Fin,
            0 => return,
            _ if len == left => TcpControl::Psh,
            _ => TcpControl::None,
        };
        self.send(now, io, OutSegment { offset, len, control });
    }

    fn send(&mut self, now: Instant, io: &mut Io<'_>, segment: OutSegment) {
        let seq = self.snd.una.wrapping_add(segment.offset);
        self.account(now, io, seq, segment);
        self.transmit(io, seq, segment);
    }

    /// Takes note of a segment that goes out.
    fn account(&mut self, now: Instant, io: &mut Io<'_>, seq: u32, segment: OutSegment) {
        let end = seq.wrapping_add(segment.sequence_len());
        if after(self.snd.max, seq) {
            self.retransmitted_to = self.snd.max;
            self.timeout.sent_again();
            io.counters.retransmitted += u64::from(segment.len > 0);
        }
        if after(end, self.snd.max) {
            if segment.len > 0 {
                self.sent.push_back(SentSegment { end, at: now });
                self.ack_state.on_data_sent(now, io.stack);
            }
            self.timeout.sent(io.clock, now, end);
            self.snd.max = end;
        }
        if after(end, self.snd.nxt) {
            self.snd.nxt = end;
        }
        if self.retransmit_at.is_none() && self.probes == 0 {
            self.retransmit_at = Some(self.timeout.due(io.clock, now));
        }
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
        self.send_ack(io);
    }

    /// Sends an acknowledgement without data. A number after everything sent is in the peer's
    /// window; one that a timeout has moved back is not.
    pub(super) fn send_ack(&mut self, io: &mut Io<'_>) {
        let bare = OutSegment { offset: 0, len: 0, control: TcpControl::None };
        self.transmit(io, self.snd.max, bare);
    }

    /// Ends the connection with a reset.
    pub(in super::super) fn abort(&mut self, io: &mut Io<'_>) {
        let reset = OutSegment { offset: 0, len: 0, control: TcpControl::Rst };
        self.transmit(io, self.snd.max, reset);
        self.state = TcpState::Closed;
    }

    /// Answers an unacceptable acknowledgement of the SYN with a reset (RFC 9293 section 3.10.7.3).
    pub(super) fn refuse(&self, io: &mut Io<'_>, ack: u32) {
        let header = TcpHeader { ack: None, seq: ack, ..self.header(TcpControl::Rst) };
        let len = header.write(io.out, 0);
        io.counters.sent += u64::from(io.lower.send(&io.out[..len]));
    }

    /// Returns the header of a segment that goes now.
    fn header(&self, control: TcpControl) -> TcpHeader {
        let ack = (self.state != TcpState::SynSent).then_some(self.rcv.nxt);
        let (from, to, window) = (self.local, self.remote, self.rcv.field());
        TcpHeader { from, to, seq: self.snd.nxt, ack, window, control, options: None }
    }

    /// Hands a segment to the driver. It is lost if the driver does not take it.
    fn transmit(&mut self, io: &mut Io<'_>, seq: u32, segment: OutSegment) {
        let OutSegment { offset, len, control } = segment;
        let mut header = TcpHeader { seq, ..self.header(control) };
        if control == TcpControl::Syn {
            // The window of a SYN is not scaled.
            header.window = u16::try_from(self.receive_buffer.free()).unwrap_or(u16::MAX);
            header.options = Some(SynOptions {
                mss: io.stack.mss.min(LONGEST),
                shift: io.stack.scales().then(|| io.stack.window_shift()),
                padded: self.state == TcpState::SynSent,
            });
        }
        let text = header.write(io.out, len as usize);
        let end = text + len as usize;
        let copied = self.send_buffer.read_allocated(offset as usize, &mut io.out[text..end]);
        debug_assert_eq!(copied, len as usize, "the text is in the buffer");
        if !io.lower.send(&io.out[..end]) {
            return;
        }
        io.counters.sent += 1;
        io.counters.acks += u64::from(len == 0 && control == TcpControl::None);
        if header.ack.is_none() || control == TcpControl::Rst {
            return;
        }
        match control {
            TcpControl::Syn => self.rcv.announced_in_syn(header.window),
            _ => self.rcv.announced(header.window),
        }
        self.ack_state.sent();
    }
}
