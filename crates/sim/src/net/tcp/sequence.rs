//! Sequence numbers, and the variables of a connection that are counted in them (RFC 9293 sections
//! 3.3.1 and 3.4).

use super::super::stack::Stack;
use super::segment::Segment;

/// Returns whether sequence number `a` comes after `b` (RFC 9293 section 3.4).
pub(super) const fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The send sequence variables of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SendSequence {
    /// The first unacknowledged byte (SND.UNA).
    pub(super) una: u32,
    /// The next byte to be sent (SND.NXT); a timeout moves it back to the first unacknowledged one.
    pub(super) nxt: u32,
    /// The first byte that was never sent.
    pub(super) max: u32,
    /// The peer's window (SND.WND).
    pub(super) wnd: u32,
    /// The widest window that the peer has announced (Max(SND.WND)).
    pub(super) widest: u32,
    /// The segment that announced the window: its sequence and acknowledgement numbers (SND.WL1,
    /// SND.WL2).
    wl1: u32,
    wl2: u32,
    /// The scale of the peer's windows (Snd.Wind.Shift; RFC 7323 section 2.2).
    shift: u8,
}

impl SendSequence {
    /// Returns the variables of a connection that begins with the sequence number `iss` (ISS).
    pub(super) const fn new(iss: u32) -> Self {
        Self { una: iss, nxt: iss, max: iss, wnd: 0, widest: 0, wl1: 0, wl2: 0, shift: 0 }
    }

    /// Takes over the window of the peer's SYN, which is not scaled, and the scale of later ones.
    pub(super) fn synchronize(&mut self, segment: &Segment<'_>, shift: u8) {
        self.shift = shift;
        self.wnd = u32::from(segment.window);
        self.widest = self.wnd;
        (self.wl1, self.wl2) = (segment.seq, segment.ack.unwrap_or(self.una));
    }

    /// Returns the sequence numbers sent and not acknowledged.
    pub(super) const fn in_flight(&self) -> u32 {
        self.nxt.wrapping_sub(self.una)
    }

    /// Goes back to the first unacknowledged byte, so that everything from there is sent again.
    pub(super) const fn rewind(&mut self) {
        self.nxt = self.una;
    }

    /// Takes note of an acknowledgement of new bytes.
    pub(super) const fn acknowledge(&mut self, ack: u32) {
        self.una = ack;
        if after(ack, self.nxt) {
            self.nxt = ack;
        }
    }

    /// Returns the window that a segment announces.
    pub(super) const fn window_of(&self, segment: &Segment<'_>) -> u32 {
        (segment.window as u32) << self.shift
    }

    /// Takes over the peer's window if the segment is newer than the last one that announced it
    /// (`tcp_receive`; RFC 9293 section 3.10.7.4).
    pub(super) fn update_window(&mut self, segment: &Segment<'_>, ack: u32) {
        let window = self.window_of(segment);
        let newer = after(segment.seq, self.wl1)
            || segment.seq == self.wl1 && after(ack, self.wl2)
            || ack == self.wl2 && window > self.wnd;
        if newer {
            self.wnd = window;
            self.widest = self.widest.max(window);
            (self.wl1, self.wl2) = (segment.seq, ack);
        }
    }
}

/// The receive sequence variables of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiveSequence {
    /// The next byte expected (RCV.NXT).
    pub(super) nxt: u32,
    /// The window that the next segment announces (RCV.WND; lwIP's `rcv_ann_wnd`). The buffer may
    /// have room for more.
    wnd: u32,
    /// The right edge of the window as last announced (lwIP's `rcv_ann_right_edge`).
    edge: u32,
    /// The scale of our windows (Rcv.Wind.Shift; RFC 7323 section 2.2).
    shift: u8,
}

impl ReceiveSequence {
    pub(super) const fn new(wnd: u32) -> Self {
        Self { nxt: 0, wnd, edge: 0, shift: 0 }
    }

    /// Takes over the sequence number of the peer's SYN, and the scale of our later windows.
    pub(super) const fn synchronize(&mut self, segment: &Segment<'_>, shift: u8) {
        self.nxt = segment.seq.wrapping_add(1);
        self.shift = shift;
    }

    /// Returns the window that the next segment announces.
    pub(super) const fn window(&self) -> u32 {
        self.wnd
    }

    /// Returns the bytes that the peer may still send by what it was told.
    pub(super) const fn told(&self) -> u32 {
        self.edge.wrapping_sub(self.nxt)
    }

    /// Moves the window's edge if that is worth it (`tcp_update_rcv_ann_wnd`; RFC 9293 section
    /// 3.8.6.2.2); the buffer has room for `free` bytes. Returns the growth in bytes.
    pub(super) fn open(&mut self, stack: &Stack, free: u32) -> u32 {
        let edge = self.nxt.wrapping_add(free);
        let step = (stack.tcp_window / 2).min(u32::from(stack.mss));
        if !after(self.edge.wrapping_add(step), edge) {
            self.wnd = free;
            return edge.wrapping_sub(self.edge);
        }
        self.wnd = if after(self.nxt, self.edge) { 0 } else { self.edge.wrapping_sub(self.nxt) };
        0
    }

    /// Returns the field of the next segment's header.
    pub(super) fn field(&self) -> u16 {
        u16::try_from(self.wnd >> self.shift).unwrap_or(u16::MAX)
    }

    /// Takes note that the window of a header has been announced.
    pub(super) fn announced(&mut self, field: u16) {
        self.edge = self.nxt.wrapping_add(u32::from(field) << self.shift);
    }

    /// Takes note that a window has been announced in a SYN, where it is not scaled.
    pub(super) fn announced_in_syn(&mut self, field: u16) {
        self.edge = self.nxt.wrapping_add(u32::from(field));
    }
}
