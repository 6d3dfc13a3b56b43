//! Conversations of the echo prober with a scripted peer, on virtual time.

use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{EchoFormat, Ping, UdpEcho};
use espbench_proto::node::Output;
use espbench_proto::node::echo::Prober;
use espbench_proto::wire::icmp::{Echo, EchoType, IcmpFailure, IcmpVersion};
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn work(count: u32, format: EchoFormat) -> UdpEcho {
    UdpEcho {
        size: 20,
        count,
        discard: 1,
        format,
        in_flight: if format == EchoFormat::Ascii { 1 } else { 4 },
        interval: None,
        timeout: MS * 10,
    }
}

/// Runs the prober against a peer that says, for the n-th datagram, after which delays which bytes
/// come back. Returns what was recorded and when it ended.
fn converse(
    work: UdpEcho,
    peer: impl FnMut(u64, &[u8]) -> Vec<(Duration, Vec<u8>)>,
) -> (Vec<Probe>, Instant) {
    converse_with(Prober::new(work, 7, Instant::ZERO), peer)
}

fn converse_with(
    mut prober: Prober,
    mut peer: impl FnMut(u64, &[u8]) -> Vec<(Duration, Vec<u8>)>,
) -> (Vec<Probe>, Instant) {
    let mut now = Instant::ZERO;
    let mut buf = [0; 2048];
    let mut on_the_way: Vec<(Instant, Vec<u8>)> = Vec::new();
    let mut probes = Vec::new();
    let mut sent = 0;
    for _ in 0..1_000_000 {
        match prober.poll(now, &mut buf) {
            Output::Send { len } => {
                for (delay, bytes) in peer(sent, &buf[..len]) {
                    on_the_way.push((now + delay, bytes));
                }
                sent += 1;
                on_the_way.sort_by_key(|(at, _)| *at);
            }
            Output::Sample(Sample::Probe(probe)) => probes.push(probe),
            Output::Sample(Sample::Interval(_)) => panic!("a prober records probes"),
            Output::WaitUntil(wake) => {
                assert!(wake > now, "asked to wait for the past: {wake:?} at {now:?}");
                match on_the_way.first() {
                    Some((at, _)) if *at <= wake => {
                        let (at, bytes) = on_the_way.remove(0);
                        now = now.max(at);
                        prober.handle(now, &bytes, None);
                    }
                    _ => now = wake,
                }
            }
            Output::Done => return (probes, now),
        }
    }
    panic!("the prober did not come to an end");
}

fn fates(probes: &[Probe]) -> Vec<(u64, Fate)> {
    probes.iter().map(|p| (p.seq, p.fate)).collect()
}

#[test]
fn one_at_a_time_and_the_first_is_not_recorded() {
    let (probes, end) = converse(work(3, EchoFormat::Ascii), |n, bytes| {
        let text: &[u8; 21] = match n {
            0 => b"01234567801234567801\n",
            1 => b"12345678012345678012\n",
            2 => b"23456780123456780123\n",
            _ => b"34567801234567801234\n",
        };
        assert_eq!(bytes, text);
        vec![(MS * (n as u32 + 1), bytes.to_vec())]
    });
    assert_eq!(fates(&probes), [0, 1, 2].map(|seq| (seq, Fate::Delivered)));
    let rtt: Vec<_> = probes.iter().map(|p| p.received.unwrap().since(p.sent.unwrap())).collect();
    assert_eq!(rtt, [MS * 2, MS * 3, MS * 4]);
    assert_eq!(end, Instant::ZERO + MS * 10);
}

#[test]
fn a_lost_reply_costs_one_probe_and_a_late_one_is_named() {
    let (probes, _) = converse(work(4, EchoFormat::Ascii), |n, bytes| match n {
        2 => vec![],
        3 => vec![(MS * 15, bytes.to_vec())],
        _ => vec![(MS, bytes.to_vec())],
    });
    let mut fates = fates(&probes);
    fates.sort_by_key(|(seq, _)| *seq);
    assert_eq!(
        fates,
        [
            (0, Fate::Delivered),
            (1, Fate::Lost(Cause::Unknown)),
            (2, Fate::Late),
            (3, Fate::Delivered)
        ]
    );
}

/// A device that answers after 5 ms loses, doubles and changes replies: no copy is taken for the reply to the
/// next probe, which no device could have given so soon.
#[test]
fn doubled_ascii_replies_are_no_replies_to_the_next_probe() {
    let peer = |n: u64, bytes: &[u8]| {
        let mut changed = bytes.to_vec();
        changed[18] ^= 0x55;
        let bytes = bytes.to_vec();
        match n % 20 {
            7 => vec![],
            9 => vec![(MS * 5, changed.clone()), (MS * 6, changed)],
            11 | 12 => vec![(MS * 5, bytes.clone()), (MS * 5 + Duration::from_micros(30), bytes)],
            13 => vec![(MS * 12, bytes.clone()), (MS * 23, bytes)],
            _ => vec![(MS * 5, bytes)],
        }
    };
    for format in [EchoFormat::Ascii, EchoFormat::Binary] {
        let (probes, _) = converse(UdpEcho { in_flight: 1, ..work(199, format) }, peer);
        let count = |fate: Fate| probes.iter().filter(|p| p.fate == fate).count();
        let counts = [
            Fate::Delivered,
            Fate::Lost(Cause::Unknown),
            Fate::Corrupt,
            Fate::Duplicate,
            Fate::Late,
        ];
        assert_eq!(counts.map(count), [169, 10, 10, 30, 10], "{format:?}");
        let delivered = probes.iter().filter(|p| p.fate == Fate::Delivered);
        let least = delivered.map(|p| p.received.unwrap().since(p.sent.unwrap())).min();
        assert_eq!(least, Some(MS * 5), "{format:?}");
    }
}

/// A copy that comes nine probes later looks like the reply to the ninth: its stamp tells.
#[test]
fn a_copy_stamped_before_the_probe_that_looks_the_same_is_no_reply_to_that() {
    let mut prober = Prober::new(work(20, EchoFormat::Ascii), 7, Instant::ZERO);
    let (mut now, mut buf, mut fates) = (Instant::ZERO, [0; 64], Vec::new());
    let mut replies: Vec<Vec<u8>> = Vec::new();
    for n in 0..11_usize {
        let len = loop {
            match prober.poll(now, &mut buf) {
                Output::Send { len } => break len,
                Output::Sample(Sample::Probe(probe)) => fates.push((probe.seq, probe.fate)),
                other => panic!("{other:?}"),
            }
        };
        replies.push(buf[..len].to_vec());
        if n == 10 {
            assert_eq!(replies[10], replies[1]);
            // The kernel had it before this probe left.
            prober.handle(now, &replies[1], Some(Instant::from_nanos(now.as_nanos() - 10)));
            assert!(matches!(
                prober.poll(now, &mut buf),
                Output::Sample(Sample::Probe(Probe { seq: 0, fate: Fate::Duplicate, .. }))
            ));
        }
        now = now + MS;
        prober.handle(now, &replies[n], Some(now));
        now = now + MS;
    }
    assert!(fates.iter().all(|it| it.1 == Fate::Delivered) && fates.len() == 9, "{fates:?}");
}

#[test]
fn several_in_flight_duplicates_and_changed_content() {
    let (probes, _) = converse(work(6, EchoFormat::Binary), |n, bytes| {
        let mut changed = bytes.to_vec();
        changed[19] ^= 0x80;
        match n {
            2 => vec![(MS, bytes.to_vec()), (MS * 2, bytes.to_vec())],
            3 => vec![(MS, changed)],
            4 => vec![(MS, bytes[..18].to_vec())],
            5 => vec![(MS, b"what?".to_vec()), (MS * 4, bytes.to_vec())],
            _ => vec![(MS * 3, bytes.to_vec())],
        }
    });
    let mut fates = fates(&probes);
    fates.sort_by_key(|(seq, _)| *seq);
    assert_eq!(
        fates,
        [
            (0, Fate::Delivered),
            (1, Fate::Delivered),
            (1, Fate::Duplicate),
            (2, Fate::Corrupt),
            (3, Fate::Corrupt),
            (4, Fate::Delivered),
            (5, Fate::Delivered)
        ]
    );
}

#[test]
fn with_an_offered_rate_latency_counts_from_the_due_time() {
    // The peer stalls for 8 ms once; a closed loop would hide the probes that were due meanwhile.
    let work = UdpEcho { interval: Some(MS), in_flight: 1, ..work(10, EchoFormat::Binary) };
    let (probes, _) = converse(work, |n, bytes| {
        vec![(if n == 3 { MS * 8 } else { Duration::from_micros(100) }, bytes.to_vec())]
    });
    let from_due: Vec<u128> =
        probes.iter().map(|p| p.received.unwrap().since(p.due).as_micros()).collect();
    assert_eq!(from_due[2], 8000);
    assert_eq!(from_due[3], 7100, "was due 1 ms after the stall began");
    assert!(probes.iter().all(|p| p.sent.unwrap().since(p.due) <= MS * 8));
    assert_eq!(probes[9].due, Instant::ZERO + MS * 10);
}

#[test]
fn a_stop_names_what_was_outstanding() {
    let mut prober = Prober::new(work(9, EchoFormat::Binary), 7, Instant::ZERO);
    let mut buf = [0; 64];
    let mut sent = 0;
    while let Output::Send { .. } = prober.poll(Instant::ZERO, &mut buf) {
        sent += 1;
    }
    assert_eq!(sent, 4);
    prober.stop();
    let mut lost = Vec::new();
    while let Output::Sample(Sample::Probe(probe)) = prober.poll(Instant::ZERO, &mut buf) {
        lost.push((probe.seq, probe.fate));
    }
    assert_eq!(lost, [0, 1, 2].map(|seq| (seq, Fate::Lost(Cause::Stopped))));
    assert_eq!(prober.poll(Instant::ZERO, &mut buf), Output::Done);
}

#[test]
fn a_refused_send_is_not_lost_on_the_air() {
    let mut prober =
        Prober::new(UdpEcho { discard: 0, ..work(1, EchoFormat::Binary) }, 7, Instant::ZERO);
    let mut buf = [0; 64];
    assert_eq!(prober.poll(Instant::ZERO, &mut buf), Output::Send { len: 20 });
    prober.refused(Cause::NoBuffers);
    let Output::Sample(Sample::Probe(probe)) = prober.poll(Instant::ZERO, &mut buf) else {
        panic!("the refusal is recorded")
    };
    assert_eq!((probe.fate, probe.sent), (Fate::Lost(Cause::NoBuffers), None));
    assert_eq!(prober.poll(Instant::ZERO, &mut buf), Output::Done);
}

fn ping(count: u32) -> Ping {
    Ping { size: 20, count, discard: 0, interval: MS, timeout: MS * 10, tos: None, ttl: None }
}

fn pinger(work: Ping) -> Prober {
    Prober::ping(work, IcmpVersion::V4, 0xBEEF, Instant::ZERO)
}

/// Returns the reply to a request.
fn reply(request: &[u8]) -> Vec<u8> {
    let (echo, data) = Echo::parse(IcmpVersion::V4, request).unwrap();
    let mut reply = request.to_vec();
    Echo { kind: EchoType::Reply, ..echo }.emit(IcmpVersion::V4, data.len(), &mut reply).unwrap();
    reply
}

#[test]
fn requests_are_sent_when_due_whatever_became_of_the_others() {
    let (probes, end) = converse_with(pinger(ping(5)), |n, bytes| {
        assert_eq!(bytes.len(), 28);
        match n {
            1 => vec![],
            2 => vec![(MS * 15, reply(bytes))],
            _ => vec![(MS * 3, reply(bytes))],
        }
    });
    let mut fates = fates(&probes);
    fates.sort_by_key(|(seq, _)| *seq);
    let delivered = Fate::Delivered;
    let lost = Fate::Lost(Cause::Unknown);
    assert_eq!(fates, [(0, delivered), (1, lost), (2, Fate::Late), (3, delivered), (4, delivered)]);
    assert!(
        probes
            .iter()
            .all(|p| p.due == p.sent.unwrap() && p.due == Instant::ZERO + MS * p.seq as u32)
    );
    assert!(end >= Instant::ZERO + MS * 20, "late replies were waited for");
}

#[test]
fn icmp_replies_that_are_not_ours_are_told_from_damaged_ones() {
    let mut prober = pinger(ping(3));
    let mut buf = [0; 64];
    assert_eq!(prober.poll(Instant::ZERO, &mut buf), Output::Send { len: 28 });
    let request = buf[..28].to_vec();
    let mut hear = |bytes: &[u8]| {
        prober.handle(Instant::ZERO + MS / 2, bytes, None);
        let fate = match prober.poll(Instant::ZERO + MS / 2, &mut buf) {
            Output::Sample(Sample::Probe(probe)) => Some(probe.fate),
            _ => None,
        };
        (fate, prober.stray())
    };
    let made = |echo: Echo, data: usize| {
        let mut bytes = vec![0; data + 8];
        echo.emit(IcmpVersion::V4, data, &mut bytes).unwrap();
        bytes
    };
    let ours = Echo { kind: EchoType::Reply, identifier: 0xBEEF, sequence: 0 };
    assert_eq!(hear(&request), (None, 0), "a raw socket on loopback sees the request itself");
    assert_eq!(hear(&made(Echo { identifier: 1, ..ours }, 20)), (None, 0), "another program's");
    assert_eq!(hear(&[3, 1, 0xFC, 0xFE, 0, 0, 0, 0]), (None, 0), "an ICMP error");
    assert_eq!(hear(&[0, 0, 0]), (None, 1), "too short");
    let mut damaged = made(ours, 20);
    damaged[20] ^= 1;
    assert_eq!(hear(&damaged), (None, 2), "the checksum does not hold");
    assert_eq!(hear(&made(Echo { sequence: 9, ..ours }, 20)), (None, 3), "it was not sent yet");
    assert_eq!(hear(&made(ours, 19)), (Some(Fate::Corrupt), 3));
    assert_eq!(hear(&made(ours, 20)), (Some(Fate::Duplicate), 3));
}

#[test]
fn an_icmp_error_ends_the_request_that_it_quotes() {
    let mut prober = pinger(ping(2));
    let mut buf = [0; 64];
    let mut quoted = Vec::new();
    for n in 0..2 {
        let now = Instant::ZERO + MS * n;
        assert_eq!(prober.poll(now, &mut buf), Output::Send { len: 28 });
        quoted.push(buf[..28].to_vec());
    }
    let now = Instant::ZERO + MS * 2;
    let others = Echo { kind: EchoType::Request, identifier: 1, sequence: 0 };
    let mut bytes = [0; 8];
    others.emit(IcmpVersion::V4, 0, &mut bytes).unwrap();
    prober.failed(&bytes, IcmpFailure::HopLimit);
    prober.failed(&quoted[0][..7], IcmpFailure::HopLimit);
    assert!(matches!(prober.poll(now, &mut buf), Output::WaitUntil(_)), "neither is ours");
    prober.failed(&quoted[1][..8], IcmpFailure::HopLimit);
    let Output::Sample(Sample::Probe(probe)) = prober.poll(now, &mut buf) else { panic!() };
    assert_eq!((probe.seq, probe.fate), (1, Fate::Lost(Cause::HopLimit)));
    assert_eq!(probe.received, None);
    prober.failed(&quoted[1][..8], IcmpFailure::HopLimit);
    prober.handle(now, &reply(&quoted[1]), None);
    assert!(matches!(prober.poll(now, &mut buf), Output::WaitUntil(_)), "it has its end");
    prober.handle(now, &reply(&quoted[0]), None);
    let Output::Sample(Sample::Probe(probe)) = prober.poll(now, &mut buf) else { panic!() };
    assert_eq!((probe.seq, probe.fate), (0, Fate::Delivered));
    assert_eq!(prober.poll(now, &mut buf), Output::Done);
}

#[test]
fn a_closed_prober_sends_no_more_and_still_waits_for_replies() {
    let mut prober = pinger(Ping { discard: 1, ..ping(100) });
    let mut buf = [0; 64];
    let mut requests = Vec::new();
    for n in 0..3 {
        assert_eq!(prober.poll(Instant::ZERO + MS * n, &mut buf), Output::Send { len: 28 });
        requests.push(buf[..28].to_vec());
    }
    prober.close();
    let now = Instant::ZERO + MS * 5;
    assert!(matches!(prober.poll(now, &mut buf), Output::WaitUntil(_)), "none is due any more");
    let mut fates = Vec::new();
    for request in &requests[..2] {
        prober.handle(now, &reply(request), None);
        if let Output::Sample(Sample::Probe(probe)) = prober.poll(now, &mut buf) {
            fates.push((probe.seq, probe.fate));
        }
    }
    let end = Instant::ZERO + MS * 100;
    while let Output::WaitUntil(_) = prober.poll(now + MS * 10, &mut buf) {
        if let Output::Sample(Sample::Probe(probe)) = prober.poll(end, &mut buf) {
            fates.push((probe.seq, probe.fate));
        }
    }
    assert_eq!(fates, [(0, Fate::Delivered), (1, Fate::Lost(Cause::Unknown))]);
    assert_eq!((prober.poll(end, &mut buf), prober.sent()), (Output::Done, 3));
}

#[test]
fn sequence_numbers_of_sixteen_bits_are_enough_for_more_requests() {
    let count = 70_000;
    let (probes, _) = converse_with(pinger(ping(count)), |_, bytes| vec![(MS * 2, reply(bytes))]);
    assert_eq!(probes.len(), count as usize);
    assert!((0..).zip(&probes).all(|(n, p)| p.seq == n && p.fate == Fate::Delivered));
}

proptest! {
    /// Whatever the peer does, each probe has exactly one fate, and the machine ends.
    #[test]
    fn every_probe_has_one_fate(
        count in 1_u32..80,
        in_flight in 1_u16..20,
        binary: bool,
        interval in proptest::option::of(1_u32..5),
        script in proptest::collection::vec(
            proptest::collection::vec((0_u32..40, 0_u8..8), 0..3), 1..20),
    ) {
        let format = if binary { EchoFormat::Binary } else { EchoFormat::Ascii };
        let work = UdpEcho { in_flight, interval: interval.map(|i| MS * i), ..work(count, format) };
        let (probes, _) = converse(work, |n, bytes| {
            script[n as usize % script.len()].iter().map(|&(delay, kind)| {
                let mut bytes = bytes.to_vec();
                match kind {
                    0 => bytes.truncate(3),
                    1 => bytes[17] ^= 1,
                    2 => bytes[9] ^= 0x40,
                    _ => {}
                }
                (MS * delay, bytes)
            }).collect()
        });
        let mut seqs: Vec<u64> =
            probes.iter().filter(|p| p.fate != Fate::Duplicate).map(|p| p.seq).collect();
        seqs.sort_unstable();
        prop_assert_eq!(seqs, (0..u64::from(count)).collect::<Vec<_>>());
    }

    #[test]
    fn no_datagram_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80), binary: bool) {
        let format = if binary { EchoFormat::Binary } else { EchoFormat::Ascii };
        let mut prober = Prober::new(work(5, format), 7, Instant::ZERO);
        let mut buf = [0; 64];
        prober.handle(Instant::ZERO, &bytes, None);
        let _ = prober.poll(Instant::ZERO, &mut buf);
        prober.handle(Instant::ZERO, &bytes, Some(Instant::NEVER));
        let _ = prober.poll(Instant::NEVER, &mut buf);
    }
}
