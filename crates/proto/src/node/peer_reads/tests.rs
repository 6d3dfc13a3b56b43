use super::*;
use std::vec::Vec;

const fn ms(n: u64) -> Instant {
    Instant::from_nanos(1_000_000_000 + n * 1_000_000)
}

/// A peer that holds `holds` octets, reads `rate` a second, and opens its window only when its
/// buffer has room for `opens` octets; the sender always has more. It looks every 2 ms.
struct Peer {
    holds: u64,
    opens: u64,
    rate: u64,
    acknowledged: u64,
    edge: u64,
}

impl Peer {
    fn read(&self, at: u64) -> u64 {
        (self.rate * at / 1000).min(self.acknowledged)
    }

    /// Returns acknowledged octets and window after `at` milliseconds.
    fn at(&mut self, at: u64) -> (u64, u64) {
        let room = self.read(at) + self.holds;
        // A window shrinks with what comes; only reading opens it, and only by a good part.
        if room - self.edge >= self.opens || self.acknowledged == 0 {
            self.edge = room;
        }
        // What there is room for comes within a look or two.
        let come = (self.edge - self.acknowledged).min(6000);
        self.acknowledged += come;
        (self.acknowledged, self.edge - self.acknowledged)
    }
}

fn watch(peer: &mut Peer, length: u64) -> (PeerReads, Vec<PeerReadStep>) {
    let mut taken = PeerReads::new(ms(0));
    let mut steps = Vec::new();
    // Linux advertises half of a small buffer before anything has come.
    taken.observe(ms(0), 0, Some(peer.holds / 2));
    for at in (0..length).step_by(2) {
        let (acknowledged, window) = peer.at(at);
        taken.observe(ms(at), acknowledged, Some(window));
        let step = taken.step(ms(at));
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }
    (taken, steps)
}

fn rate(from: PeerReadStep, to: PeerReadStep) -> f64 {
    (to.octets - from.octets) as f64 / to.at.since(from.at).as_secs_f64()
}

#[test]
fn a_slow_reader_is_measured_from_step_to_step() {
    for (read, opens) in [(19_000, 8688), (76_000, 1448), (250_000, 8688), (2_000_000, 2896)] {
        let mut peer = Peer { holds: 8688, opens, rate: read, acknowledged: 0, edge: 0 };
        let (taken, steps) = watch(&mut peer, 5000);
        let (first, last) = (steps[2], steps[steps.len() - 1]);
        let got = rate(first, last);
        assert!((got / read as f64 - 1.0).abs() < 0.01, "{got} of {read}");
        let read = peer.read(4998);
        assert!(taken.octets() <= read && taken.octets() + 2 * 8688 >= read, "{taken:?} {read}");
    }
}

#[test]
fn a_peer_that_never_reads_takes_nothing() {
    let mut peer = Peer { holds: 100_000, opens: 1448, rate: 0, acknowledged: 0, edge: 0 };
    let (taken, _) = watch(&mut peer, 1000);
    assert_eq!((taken.octets(), taken.acknowledged()), (0, 100_000));
    assert!(taken.closed().is_some());
}

#[test]
fn a_window_that_grew_while_it_filled_is_no_octet_taken() {
    // As Linux does with a buffer of its default size: 64 KiB at first, then more, then closed.
    let mut taken = PeerReads::new(ms(0));
    for (at, acknowledged, window) in
        [(0, 0, 65_160), (2, 16_326, 69_632), (4, 86_235, 25_600), (6, 115_663, 0), (8, 115_663, 0)]
    {
        taken.observe(ms(at), acknowledged, Some(window));
    }
    assert_eq!(taken.octets(), 0);
    taken.observe(ms(1088), 130_143, Some(9216));
    assert_eq!(taken.octets(), 23_696, "what its application read meanwhile");
}

#[test]
fn a_reader_that_keeps_up_takes_what_it_acknowledges() {
    let mut taken = PeerReads::new(ms(0));
    for at in 0..1000 {
        // The window grows by itself, and is never closed.
        taken.observe(ms(at), at * 10_000, Some(64_000 + at * 1000));
    }
    assert_eq!((taken.octets(), taken.closed()), (9_990_000, None));
    assert_eq!(taken.step(ms(1000)).octets, 9_990_000);
    // A system that tells no window.
    let mut taken = PeerReads::new(ms(0));
    taken.observe(ms(5), 777, None);
    assert_eq!(taken.octets(), 777);
    assert!(taken.is_open(None));
}

#[test]
fn a_window_that_closes_late_says_nothing_of_the_buffer() {
    let mut taken = PeerReads::new(ms(0));
    taken.observe(ms(0), 0, Some(10_000));
    taken.observe(ms(10), 100_000, Some(10_000));
    taken.observe(ms(20), 200_000, Some(0));
    assert_eq!(taken.octets(), 190_000, "all but what its window tells");
}

#[test]
fn a_burst_is_one_step() {
    let mut taken = PeerReads::new(ms(0));
    taken.observe(ms(0), 0, Some(4344));
    taken.observe(ms(2), 8688, Some(0));
    for burst in 1..5_u64 {
        let at = burst * 456;
        for part in 0..3 {
            let edge = 8688 * burst + 2896 * (part + 1);
            taken.observe(ms(at + 2 * part), edge, Some(0));
            if burst > 2 {
                let step = taken.step(ms(at + 2 * part));
                assert_eq!(step.octets, 8688 * (burst - 1), "the burst is not over");
            }
        }
        let step = taken.step(ms(at + 300));
        assert_eq!((step.at, step.octets), (ms(at + 4), 8688 * burst));
    }
}

#[test]
fn all_is_taken_where_the_peer_closed() {
    let mut taken = PeerReads::new(ms(0));
    taken.observe(ms(0), 0, Some(8000));
    taken.observe(ms(2), 8000, Some(0));
    taken.all(ms(50), 8000);
    assert_eq!(taken.step(ms(50)), PeerReadStep { at: ms(50), octets: 8000 });
}
