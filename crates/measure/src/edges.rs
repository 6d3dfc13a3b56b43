//! One-way delays from the edges of two pins: the sender's, which falls when it begins to send, and
//! the receiver's, which falls when it has the packet (Espressif's ESP-NOW test report, section 1).
//!
//! An edge of the receiver belongs to the last edge of the sender before it, if it came within the
//! window. So no delay may be longer than the time between two packets.

use alloc::vec::Vec;
use espbench_model::sample::{Cause, Fate, Probe};
use espbench_model::time::{Duration, Instant};

/// The pin that an edge is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgePin {
    /// The pin of the device that sends.
    Sender,
    /// The pin of the device that receives.
    Receiver,
}

/// Results of the edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    /// Edges of the sender.
    pub sent: u64,
    /// Edges of the receiver.
    pub received: u64,
    /// Packets with a delay.
    pub delivered: u64,
    /// Packets that the receiver shows no edge of.
    pub lost: u64,
    /// Further edges of the receiver after one packet.
    pub doubled: u64,
    /// Edges of the receiver that belong to no packet: before the first, or after the window.
    pub stray: u64,
    /// Packets whose fate the capture does not tell: its end or a gap came within the window.
    pub cut: u64,
    /// Longest delay.
    pub longest: Duration,
    /// Shortest time between two edges of the sender; `None` of fewer than two.
    pub shortest_period: Option<Duration>,
}

impl EdgeCounts {
    /// Returns whether a delay may be longer than it seems: some were longer than half the time
    /// between two packets, so that an edge may belong to the packet before.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.shortest_period.is_some_and(|period| self.longest * 2 > period)
    }
}

/// A packet that was sent and is waited for.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    at: Instant,
    received: Option<Instant>,
}

/// Pairs edges as they come, in the order of time, in bounded memory.
#[derive(Clone, Debug)]
pub struct EdgePairing {
    window: Duration,
    bytes: u32,
    packet: Option<SentPacket>,
    counts: EdgeCounts,
}

impl EdgePairing {
    /// Creates a pairing of packets of so many bytes; a receiver's edge later than `window` after
    /// the sender's does not belong to it.
    #[must_use]
    pub fn new(window: Duration, bytes: u32) -> Self {
        Self { window, bytes, packet: None, counts: EdgeCounts::default() }
    }

    /// Takes an edge. Adds what it ends to `probes`: the packet before, or a doubled one.
    pub fn edge(&mut self, at: Instant, pin: EdgePin, probes: &mut Vec<Probe>) {
        match pin {
            EdgePin::Sender => {
                if let Some(before) = self.packet {
                    let period = at.since(before.at);
                    let shortest = self.counts.shortest_period.get_or_insert(period);
                    *shortest = (*shortest).min(period);
                }
                self.close(probes);
                self.counts.sent += 1;
                self.packet = Some(SentPacket { at, received: None });
            }
            EdgePin::Receiver => self.arrival(at, probes),
        }
    }

    fn arrival(&mut self, at: Instant, probes: &mut Vec<Probe>) {
        self.counts.received += 1;
        let packet = self.packet.as_mut().filter(|packet| at.since(packet.at) <= self.window);
        let Some(packet) = packet else {
            self.counts.stray += 1;
            return;
        };
        if packet.received.is_none() {
            packet.received = Some(at);
            return;
        }
        self.counts.doubled += 1;
        let sent = packet.at;
        probes.push(self.probe(sent, Some(at), Fate::Duplicate));
    }

    /// Notes that the capture has a gap that begins at this time: the fate of a packet whose window
    /// reaches into it is not known.
    pub fn gap(&mut self, at: Instant, probes: &mut Vec<Probe>) {
        if let Some(packet) = self.packet
            && packet.received.is_none()
            && at.since(packet.at) < self.window
        {
            self.counts.sent -= 1;
            self.counts.cut += 1;
            self.packet = None;
        }
        self.close(probes);
    }

    /// Ends the capture at this time, and returns the counts.
    pub fn finish(mut self, at: Instant, probes: &mut Vec<Probe>) -> EdgeCounts {
        self.gap(at, probes);
        self.counts
    }

    /// Closes the packet that is waited for.
    fn close(&mut self, probes: &mut Vec<Probe>) {
        let Some(SentPacket { at, received }) = self.packet.take() else { return };
        let fate = match received {
            Some(received) => {
                self.counts.longest = self.counts.longest.max(received.since(at));
                Fate::Delivered
            }
            None => Fate::Lost(Cause::Unknown),
        };
        probes.push(self.probe(at, received, fate));
        match received {
            Some(_) => self.counts.delivered += 1,
            None => self.counts.lost += 1,
        }
    }

    fn probe(&self, sent: Instant, received: Option<Instant>, fate: Fate) -> Probe {
        Probe {
            // Each packet that is closed has the next number; a doubled one has that of the packet
            // that is still open.
            seq: self.counts.delivered + self.counts.lost,
            bytes: self.bytes,
            due: sent,
            sent: Some(sent),
            received,
            fate,
            ..Probe::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Duration = Duration::from_millis(10);

    fn ms(at: u64) -> Instant {
        Instant::from_nanos(at * 1_000_000)
    }

    /// Pairs edges at whole milliseconds, and ends the capture.
    fn pair(edges: &[(u64, EdgePin)], end: u64) -> (Vec<Probe>, EdgeCounts) {
        let mut probes = Vec::new();
        let mut pairing = EdgePairing::new(WINDOW, 50);
        for &(at, pin) in edges {
            pairing.edge(ms(at), pin, &mut probes);
        }
        let counts = pairing.finish(ms(end), &mut probes);
        (probes, counts)
    }

    #[test]
    fn delays_losses_doubles_and_strays_are_told_apart() {
        use EdgePin::{Receiver, Sender};
        let edges = [
            (1, Receiver),
            (5, Sender),
            (8, Receiver),
            (9, Receiver),
            (100, Sender),
            (200, Sender),
            (203, Receiver),
            (215, Receiver),
            (300, Sender),
        ];
        let (probes, counts) = pair(&edges, 305);
        let fates: Vec<(u64, Fate)> = probes.iter().map(|it| (it.seq, it.fate)).collect();
        let lost = Fate::Lost(Cause::Unknown);
        let expected =
            [(0, Fate::Duplicate), (0, Fate::Delivered), (1, lost), (2, Fate::Delivered)];
        assert_eq!(fates, expected);
        assert_eq!(
            counts,
            EdgeCounts {
                sent: 3,
                received: 5,
                delivered: 2,
                lost: 1,
                doubled: 1,
                stray: 2,
                cut: 1,
                longest: Duration::from_millis(3),
                shortest_period: Some(Duration::from_millis(95)),
            }
        );
        assert!(!counts.is_ambiguous());
    }

    #[test]
    fn a_packet_at_the_end_is_lost_once_its_window_is_over() {
        let (_, counts) = pair(&[(0, EdgePin::Sender)], 10);
        assert_eq!((counts.lost, counts.cut), (1, 0));
    }

    #[test]
    fn delays_near_the_period_are_ambiguous() {
        use EdgePin::{Receiver, Sender};
        let (_, counts) = pair(&[(0, Sender), (4, Receiver), (6, Sender), (7, Receiver)], 20);
        assert!(counts.is_ambiguous());
    }

    proptest! {
        #[test]
        fn every_edge_is_counted_once(edges in prop::collection::vec((0_u64..30, prop::bool::ANY), 0..60)) {
            let mut at = 0;
            let edges: Vec<(u64, EdgePin)> = edges
                .into_iter()
                .map(|(step, sender)| {
                    at += step;
                    (at, if sender { EdgePin::Sender } else { EdgePin::Receiver })
                })
                .collect();
            let (probes, counts) = pair(&edges, at + 5);
            prop_assert_eq!(counts.sent, counts.delivered + counts.lost);
            prop_assert_eq!(counts.received, counts.delivered + counts.doubled + counts.stray);
            let senders = edges.iter().filter(|(_, pin)| *pin == EdgePin::Sender).count() as u64;
            prop_assert_eq!(senders, counts.sent + counts.cut);
            prop_assert_eq!(probes.len() as u64, counts.sent + counts.doubled);
            for probe in &probes {
                if let Some(received) = probe.received {
                    prop_assert!(received >= probe.due && received.since(probe.due) <= WINDOW);
                }
            }
        }
    }
}
