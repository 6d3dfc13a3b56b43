//! TCP connections as a capture shows them.
//!
//! | module | contents |
//! |---|---|
//! | [`segment`] | headers of IP and TCP |
//! | [`end`] | one direction: what is sent again, out of order, too much; round trips |
//! | [`limit`] | who limits a direction: sender, window, or network |
//!
//! Segments are judged by the rules that Wireshark's expert follows ("TCP Analysis" of its user's guide), in the same
//! order, so that the counts are the same.

pub mod end;
pub mod limit;
pub mod segment;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use end::{SegmentView, TcpEnd};
use segment::{IpPacket, TcpFlags, TcpSegment};

/// The most connections at a time, and the most that are told of when they have ended.
const MOST_OPEN: usize = 2048;
const MOST_ENDED: usize = 2048;

/// After this, a SYN behind a handshake is no retransmission, though it has the number of the first: its sender has
/// started again.
const RESTART_NS: u64 = 1_000_000_000;

/// An end of a connection.
pub type TcpAddress = (IpAddr, u16);

/// A connection.
#[derive(Clone, Debug)]
pub struct TcpFlow {
    /// Ends; the first sent the first segment that was captured.
    pub ends: [TcpAddress; 2],
    /// Number of the first frame.
    pub first: u64,
    /// Number in the order of first segments, from 0, as Wireshark's `tcp.stream`.
    pub stream: u64,
    /// Whether the handshake was captured.
    pub opened: bool,
    /// Whether an end was reset.
    pub reset: bool,
    /// Directions, by their sender.
    pub directions: [TcpEnd; 2],
    /// First and last time.
    pub times: Option<(u64, u64)>,
    /// Round trip of the handshake, from SYN to the acknowledgement of its answer.
    pub first_rtt_ns: Option<u64>,
    syn: Option<(u32, Option<u64>)>,
}

/// Connections of a capture, in bounded memory.
#[derive(Debug, Default)]
pub struct TcpAnalysis {
    /// Packets of IP, those of UDP, and those of ICMP.
    pub packets: [u64; 3],
    /// Segments.
    pub segments: u64,
    /// Fragments of IP behind the first, which are not read.
    pub fragments: u64,
    /// Packets of IP that are shorter than their headers.
    pub malformed: u64,
    /// Connections that found no room: the oldest gave way, or was not kept.
    pub dropped: u64,
    streams: u64,
    open: BTreeMap<(TcpAddress, TcpAddress), Box<TcpFlow>>,
    ended: Vec<TcpFlow>,
}

impl TcpAnalysis {
    /// Takes an IP packet.
    pub fn take(&mut self, number: u64, at_ns: Option<u64>, bytes: &[u8]) {
        self.packets[0] += 1;
        let Some(packet) = IpPacket::parse(bytes) else {
            self.malformed += 1;
            return;
        };
        if packet.is_later_fragment {
            self.fragments += 1;
            return;
        }
        match packet.protocol {
            6 => {}
            17 => return self.packets[1] += 1,
            1 | 58 => return self.packets[2] += 1,
            _ => return,
        }
        let Some(segment) = TcpSegment::parse(&packet) else {
            self.malformed += 1;
            return;
        };
        self.segments += 1;
        let from = (packet.from, segment.source);
        let to = (packet.to, segment.destination);
        let key = (from.min(to), from.max(to));
        let begins = segment.flags.has(TcpFlags::SYN) && !segment.flags.has(TcpFlags::ACK);
        let is_new = |it: &TcpFlow| {
            let since = at_ns.zip(it.times).map_or(0, |(now, times)| now.saturating_sub(times.1));
            let has_restarted = it.first_rtt_ns.is_some() && since > RESTART_NS;
            let is_other = it.syn.is_none_or(|syn| syn.0 != segment.sequence);
            begins && it.ends[0] == from && (is_other || has_restarted)
                || begins && it.ends[1] == from && it.opened
        };
        if self.open.get(&key).is_some_and(|it| is_new(it))
            && let Some(old) = self.open.remove(&key)
        {
            self.end(old);
        }
        if !self.open.contains_key(&key) {
            self.make_room();
            let flow = TcpFlow::new([from, to], number, self.streams);
            self.streams += 1;
            self.open.insert(key, Box::new(flow));
        }
        if let Some(flow) = self.open.get_mut(&key) {
            flow.take(number, at_ns, from, &segment);
        }
    }

    /// Ends the connection that was silent for longest, where there are too many.
    fn make_room(&mut self) {
        if self.open.len() < MOST_OPEN {
            return;
        }
        let last = |it: &TcpFlow| (it.times.map(|it| it.1), it.stream);
        let oldest = self.open.iter().min_by_key(|it| last(it.1)).map(|it| *it.0);
        if let Some(old) = oldest.and_then(|key| self.open.remove(&key)) {
            self.end(old);
        }
    }

    fn end(&mut self, flow: Box<TcpFlow>) {
        if self.ended.len() < MOST_ENDED {
            self.ended.push(*flow);
        } else {
            self.dropped += 1;
        }
    }

    /// Ends the analysis: returns all connections in the order of their first segments.
    #[must_use]
    pub fn finish(&mut self) -> Vec<TcpFlow> {
        let open = core::mem::take(&mut self.open);
        let mut all: Vec<TcpFlow> =
            self.ended.drain(..).chain(open.into_values().map(|it| *it)).collect();
        all.sort_by_key(|it| it.stream);
        all
    }
}

impl TcpFlow {
    fn new(ends: [TcpAddress; 2], first: u64, stream: u64) -> Self {
        Self {
            ends,
            first,
            stream,
            opened: false,
            reset: false,
            directions: [TcpEnd::default(), TcpEnd::default()],
            times: None,
            first_rtt_ns: None,
            syn: None,
        }
    }

    fn take(
        &mut self,
        number: u64,
        at_ns: Option<u64>,
        from: TcpAddress,
        segment: &TcpSegment<'_>,
    ) {
        if let Some(at) = at_ns {
            let (first, last) = self.times.unwrap_or((at, at));
            self.times = Some((first.min(at), last.max(at)));
        }
        let flags = segment.flags;
        self.reset |= flags.has(TcpFlags::RST);
        if flags.has(TcpFlags::SYN) {
            self.opened |= flags.has(TcpFlags::ACK);
            if !flags.has(TcpFlags::ACK) && self.syn.is_none_or(|it| it.0 != segment.sequence) {
                self.syn = Some((segment.sequence, at_ns));
            }
        } else if self.opened && self.first_rtt_ns.is_none() && flags.has(TcpFlags::ACK) {
            let since = self.syn.and_then(|it| it.1).zip(at_ns);
            self.first_rtt_ns = since.map(|(from, until)| until.saturating_sub(from));
        }
        let [one, other] = &mut self.directions;
        let (fwd, rev) = if from == self.ends[0] { (one, other) } else { (other, one) };
        let view = SegmentView { number, at_ns, segment, first_rtt_ns: self.first_rtt_ns };
        limit::charge(at_ns, fwd, rev);
        end::take(&view, fwd, rev);
    }
}

#[cfg(test)]
mod tests;
