//! One direction of a connection, judged segment by segment.
//!
//! The rules, and their order, are those of Wireshark's TCP analysis (user's guide, "TCP Analysis"; checked against
//! tshark 4.0 by `tests/tshark.rs`).

use super::limit::LimitClock;
use super::segment::{TcpFlags, TcpSegment};
use crate::air::link::SeenFrames;
use alloc::collections::VecDeque;

/// Segments that wait for their acknowledgement; beyond, the oldest are given up.
const MOST_UNACKED: usize = 1000;

/// A retransmission within this of a duplicate acknowledgement is a fast one.
const FAST_NS: u64 = 20_000_000;

/// A segment that comes within this of a later one was overtaken, where no round trip is known.
const OVERTAKEN_NS: u64 = 3_000_000;

/// Window scale: what the handshake told of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowScale {
    /// The handshake was not captured.
    #[default]
    Unknown,
    /// The handshake had no such option.
    None,
    /// Bits to shift.
    Bits(u8),
}

/// Round trips: from a segment to the acknowledgement of its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttCount {
    /// Number of round trips.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u64,
    /// Shortest and longest.
    pub range_ns: Option<(u64, u64)>,
}

impl RttCount {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        let (low, high) = self.range_ns.unwrap_or((ns, ns));
        self.range_ns = Some((low.min(ns), high.max(ns)));
    }

    /// Returns the mean in milliseconds.
    #[must_use]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e6)
    }
}

#[derive(Clone, Copy, Debug)]
struct Unacked {
    sequence: u32,
    next: u32,
    at_ns: Option<u64>,
}

/// Kind of the segment before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LastKind {
    keep_alive: bool,
    probe: bool,
}

/// A direction: what one end sent, and how.
#[derive(Clone, Debug, Default)]
pub struct TcpEnd {
    /// Segments.
    pub segments: u64,
    /// Octets of data, those that were sent again included.
    pub octets: u64,
    /// Retransmissions of any kind, as a sum: those below without the ones out of order.
    pub resent: SeenFrames,
    /// Retransmissions after a time-out.
    pub retransmissions: u64,
    /// Retransmissions after duplicate acknowledgements.
    pub fast_retransmissions: u64,
    /// Retransmissions of what had been acknowledged.
    pub spurious_retransmissions: u64,
    /// Segments out of order.
    pub out_of_order: SeenFrames,
    /// Duplicate acknowledgements.
    pub duplicate_acks: SeenFrames,
    /// Segments that say that no window is left.
    pub zero_windows: SeenFrames,
    /// Probes of a window of zero.
    pub zero_window_probes: u64,
    /// Segments that fill the other end's window.
    pub window_full: SeenFrames,
    /// Acknowledgements that open the window only.
    pub window_updates: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Segments before which others are missing in the capture.
    pub after_gap: SeenFrames,
    /// Acknowledgements of data that the capture does not have.
    pub acked_unseen: u64,
    /// Round trips of its data.
    pub rtt: RttCount,
    /// Maximum segment size of its SYN.
    pub mss: Option<u16>,
    /// Scale of its windows.
    pub scale: WindowScale,
    /// Greatest window that it offered, in octets.
    pub most_window: u32,
    /// Most data in flight.
    pub most_in_flight: u32,
    /// Longest segment.
    pub longest: u32,
    /// First and last time with data.
    pub data_times: Option<(u64, u64)>,
    /// Who limited it, and for how long.
    pub limits: LimitClock,
    seen: bool,
    pub(super) next: Option<u32>,
    next_at: Option<u64>,
    most_acked: Option<u32>,
    /// Whether an acknowledgement beyond `most_acked` was counted since the last data.
    is_told: bool,
    window: u16,
    pub(super) last_ack: u32,
    last_ack_at: Option<u64>,
    duplicates: u64,
    last: LastKind,
    sacks: bool,
    sack_ranges: [(u32, u32); 4],
    unacked: VecDeque<Unacked>,
    pub(super) last_length: u32,
    pub(super) recover: Option<u32>,
}

/// A segment with its frame.
pub(super) struct SegmentView<'a> {
    pub(super) number: u64,
    pub(super) at_ns: Option<u64>,
    pub(super) segment: &'a TcpSegment<'a>,
    pub(super) first_rtt_ns: Option<u64>,
}

/// Returns whether a sequence number is before another (RFC 9293, 3.4).
pub(super) const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl TcpEnd {
    /// Returns the window that it offers, in octets; `None` where the scale is not known.
    pub(super) fn offered(&self) -> Option<u32> {
        match self.scale {
            WindowScale::Unknown => None,
            WindowScale::None => Some(u32::from(self.window)),
            WindowScale::Bits(bits) => Some(u32::from(self.window) << bits.min(14)),
        }
    }

    /// Returns whether it has sent a segment.
    #[must_use]
    pub const fn has_sent(&self) -> bool {
        self.seen
    }

    /// Returns the data in flight, of which `rev` acknowledges.
    pub(super) fn in_flight(&self, rev: &Self) -> u32 {
        match self.next {
            Some(next) if rev.seen && !before(next, rev.last_ack) => {
                next.wrapping_sub(rev.last_ack)
            }
            _ => 0,
        }
    }

    fn options(&mut self, segment: &TcpSegment<'_>) {
        if segment.flags.has(TcpFlags::SYN) {
            let mss = segment.option(2).and_then(|it| it.first_chunk().copied());
            self.mss = mss.map(u16::from_be_bytes).or(self.mss);
            let scale = segment.option(3).and_then(|it| it.first().copied());
            self.scale = scale.map_or(WindowScale::None, WindowScale::Bits);
        }
        self.sacks = false;
        if let Some(ranges) = segment.option(5) {
            let word = |it: &[u8]| it.first_chunk().copied().map_or(0, u32::from_be_bytes);
            for (at, range) in ranges.chunks_exact(8).take(4).enumerate() {
                self.sacks = true;
                self.sack_ranges[at] = (word(range), word(&range[4..]));
            }
        }
    }
}

/// Takes a segment that `fwd` sends.
pub(super) fn take(view: &SegmentView<'_>, fwd: &mut TcpEnd, rev: &mut TcpEnd) {
    let segment = view.segment;
    let had_scale = fwd.scale;
    fwd.options(segment);
    // A scale counts only where both ends have said one.
    if segment.flags.has(TcpFlags::SYN) && segment.flags.has(TcpFlags::ACK) {
        if fwd.scale == WindowScale::None {
            rev.scale = WindowScale::None;
        } else if rev.scale == WindowScale::None && rev.seen {
            fwd.scale = WindowScale::None;
        }
    } else if !segment.flags.has(TcpFlags::SYN) {
        fwd.scale = had_scale;
    }
    let kind = acknowledgements(view, fwd, rev);
    if segment.acknowledgement != fwd.last_ack {
        fwd.duplicates = 0;
    }
    let is_acked = segment.flags.has(TcpFlags::ACK);
    let is_unseen = rev.most_acked.is_some_and(|it| before(it, segment.acknowledgement));
    if is_acked && is_unseen && !rev.is_told {
        fwd.acked_unseen += 1;
        rev.is_told = true;
        rev.most_acked = rev.next;
    }
    if !kind.keep_alive {
        resent(view, fwd, rev);
    }
    advance(view, fwd, kind);
    round_trips(view, fwd, rev);
    count(view, fwd, rev);
}

/// Judges a segment by its window and its acknowledgement.
fn acknowledgements(view: &SegmentView<'_>, fwd: &mut TcpEnd, rev: &TcpEnd) -> LastKind {
    let TcpSegment { sequence, acknowledgement, window, length, flags, .. } = *view.segment;
    let number = view.number;
    let mut kind = LastKind::default();
    let opens_or_ends = flags.has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST);
    if length == 1 && fwd.next == Some(sequence) && rev.seen && rev.window == 0 {
        fwd.zero_window_probes += 1;
        kind.probe = true;
        return kind;
    }
    if window == 0 && !opens_or_ends {
        fwd.zero_windows.add(number);
    }
    if fwd.next.is_some_and(|next| before(next, sequence)) && !flags.has(TcpFlags::RST) {
        fwd.after_gap.add(number);
    }
    if length <= 1 && fwd.next == Some(sequence.wrapping_add(1)) && !opens_or_ends {
        fwd.keep_alives += 1;
        kind.keep_alive = true;
    }
    let stays = length == 0 && fwd.next == Some(sequence) && acknowledgement == fwd.last_ack;
    if stays && window != 0 && window != fwd.window && !opens_or_ends {
        fwd.window_updates += 1;
    }
    if length > 0
        && !opens_or_ends
        && let Some(offered) = rev.offered()
        && sequence.wrapping_add(length) == rev.last_ack.wrapping_add(offered)
    {
        fwd.window_full.add(number);
    }
    let same = stays && window == fwd.window && !opens_or_ends;
    if same && window != 0 && rev.last.keep_alive {
        return kind;
    }
    let is_probed = length == 0 && window == 0 && fwd.window == 0 && fwd.next == Some(sequence);
    let after_probe =
        acknowledgement == fwd.last_ack || acknowledgement == fwd.last_ack.wrapping_add(1);
    if is_probed && rev.last.probe && after_probe && !opens_or_ends {
        return kind;
    }
    if same && window != 0 {
        fwd.duplicates += 1;
        fwd.duplicate_acks.add(number);
    }
    kind
}

/// Judges a segment whose data, or a part of it, was sent before.
fn resent(view: &SegmentView<'_>, fwd: &mut TcpEnd, rev: &TcpEnd) {
    let TcpSegment { sequence, length, flags, .. } = *view.segment;
    if length > 0 && rev.seen && !before(rev.last_ack, sequence.wrapping_add(length)) {
        fwd.spurious_retransmissions += 1;
        return again(view, fwd);
    }
    let Some(next) = fwd.next.filter(|next| before(sequence, *next)) else { return };
    // A segment that begins with the octet of a zero window probe adds data.
    let is_after_probe = length > 1 && next.wrapping_sub(1) == sequence;
    let sends = length > 0 || flags.has(TcpFlags::SYN | TcpFlags::FIN);
    if !sends || is_after_probe {
        return;
    }
    let since = |at: Option<u64>| view.at_ns.zip(at).map(|(now, then)| now.saturating_sub(then));
    let is_soon = since(rev.last_ack_at).is_some_and(|it| it < FAST_NS);
    let is_sacked = rev.sacks
        && rev.sack_ranges.iter().any(|(left, right)| {
            !before(sequence, *left) && !before(*right, sequence.wrapping_add(length))
        });
    let is_missed = rev.last_ack == sequence || (rev.sacks && !is_sacked);
    if rev.duplicates >= 2 && is_soon && is_missed {
        fwd.fast_retransmissions += 1;
        return again(view, fwd);
    }
    let end = sequence
        .wrapping_add(length)
        .wrapping_add(u32::from(flags.has(TcpFlags::SYN | TcpFlags::FIN)));
    let threshold = view.first_rtt_ns.filter(|it| *it > 0).unwrap_or(OVERTAKEN_NS);
    if since(fwd.next_at).is_some_and(|it| it < threshold) && next != end {
        fwd.out_of_order.add(view.number);
        return;
    }
    fwd.retransmissions += 1;
    again(view, fwd);
}

fn again(view: &SegmentView<'_>, fwd: &mut TcpEnd) {
    fwd.resent.add(view.number);
    fwd.recover = fwd.next;
}

/// Remembers what was sent.
fn advance(view: &SegmentView<'_>, fwd: &mut TcpEnd, kind: LastKind) {
    let segment = view.segment;
    let takes = u32::from(segment.flags.has(TcpFlags::SYN | TcpFlags::FIN));
    let next = segment.sequence.wrapping_add(segment.length).wrapping_add(takes);
    if segment.length + takes > 0 {
        if fwd.unacked.len() >= MOST_UNACKED {
            fwd.unacked.pop_front();
        }
        fwd.is_told &= kind != LastKind::default();
        fwd.unacked.push_back(Unacked { sequence: segment.sequence, next, at_ns: view.at_ns });
    }
    if fwd.next.is_none_or(|it| before(it, next)) && !kind.probe {
        fwd.next = Some(next);
        fwd.next_at = view.at_ns;
    }
    if fwd.most_acked.is_none_or(|it| it == segment.sequence) && !kind.probe {
        fwd.most_acked = fwd.next;
    }
    fwd.window = segment.window;
    fwd.last_ack = segment.acknowledgement;
    fwd.last_ack_at = view.at_ns;
    fwd.last = kind;
    fwd.seen = true;
}

/// Finds the segments that this one acknowledges; the oldest that ends there tells a round trip.
fn round_trips(view: &SegmentView<'_>, fwd: &TcpEnd, rev: &mut TcpEnd) {
    if !view.segment.flags.has(TcpFlags::ACK) {
        return;
    }
    let ack = fwd.last_ack;
    let mut sent = None;
    rev.unacked.retain_mut(|it| {
        if it.next == ack {
            sent = sent.or(Some(it.at_ns));
            return false;
        }
        if before(ack, it.next) {
            if before(it.sequence, ack) {
                it.sequence = ack;
            }
            return true;
        }
        false
    });
    if let Some((now, then)) = sent.flatten().and_then(|then| Some((view.at_ns?, then))) {
        rev.rtt.add(now.saturating_sub(then));
    }
    if rev.recover.is_some_and(|it| !before(ack, it)) {
        rev.recover = None;
    }
}

/// Counts what was sent, and how much of it is on its way.
fn count(view: &SegmentView<'_>, fwd: &mut TcpEnd, rev: &TcpEnd) {
    let segment = view.segment;
    fwd.segments += 1;
    fwd.octets += u64::from(segment.length);
    fwd.longest = fwd.longest.max(segment.length);
    if let Some(offered) = fwd.offered().filter(|_| !segment.flags.has(TcpFlags::SYN)) {
        fwd.most_window = fwd.most_window.max(offered);
    }
    if segment.length > 0 {
        fwd.last_length = segment.length;
        fwd.most_in_flight = fwd.most_in_flight.max(fwd.in_flight(rev));
        if let Some(at) = view.at_ns {
            let (first, last) = fwd.data_times.unwrap_or((at, at));
            fwd.data_times = Some((first.min(at), last.max(at)));
        }
        fwd.limits.commit();
    }
}
