use crate::node::app::tests::testing::{Faults, Net, ms, run, us};
use crate::node::app::{App, ArduinoEcho, EchoProbe, EchoServer, Endpoint, Sockets, Wait};
use espbench_model::sample::{Cause, Fate, Probe};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{EchoFormat, UdpEcho};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const WORK: UdpEcho = UdpEcho {
    size: 10,
    count: 20,
    discard: 1,
    format: EchoFormat::Ascii,
    in_flight: 1,
    interval: None,
    timeout: Duration::from_millis(100),
};

const DEVICE: [u8; 4] = [10, 0, 0, 1];
const PC: [u8; 4] = [10, 0, 0, 2];

fn measure(work: UdpEcho, device: &mut dyn App, faults: Faults) -> (Net, Vec<Probe>) {
    let mut net = Net::new(2, faults);
    let mut probe = EchoProbe::<1472>::new(work, 7, 10_001, Endpoint::new(DEVICE, 10_000));
    let done = run(&mut net, &mut [device, &mut probe], ms(60_000));
    assert!(done[1], "the measuring side ends");
    let probes = net.hosts[1].probes();
    (net, probes)
}

fn arduino() -> ArduinoEcho {
    ArduinoEcho::new(10_000, Endpoint::new(PC, 10_001))
}

fn round_trips(probes: &[Probe]) -> Vec<u64> {
    let trip = |p: &Probe| Some(p.received?.since(p.sent?).as_micros() as u64);
    probes.iter().filter_map(trip).collect()
}

#[test]
fn both_echoes_answer_and_the_sketch_takes_longer_with_each_byte() {
    let mut trips = vec![];
    for size in [1, 100, 900] {
        let work = UdpEcho { size, ..WORK };
        let (_, probes) = measure(work, &mut EchoServer::<1472>::new(10_000), Faults::default());
        let (net, slow) = measure(work, &mut arduino(), Faults::default());
        assert!(probes.iter().chain(&slow).all(|p| p.fate == Fate::Delivered && p.bytes == size));
        assert_eq!((probes.len(), slow.len()), (20, 20));
        assert_eq!(net.hosts[0].counts, [].into());
        trips.push((round_trips(&probes)[5], round_trips(&slow)[5]));
    }
    // Two ways of 1 ms, and the costs of the calls. 3 us are one byte read (testing::net).
    assert_eq!(trips[0], (2_020, 2_066));
    assert!(trips[1].0 == 2_020 && trips[2].0 == 2_020, "{trips:?}");
    assert_eq!(trips[2].1 - trips[1].1, 800 * 3 + 48);
}

#[test]
fn a_reply_without_a_buffer_is_tried_again_by_one_and_dropped_by_the_other() {
    let faults = Faults { no_memory: 4, ..Faults::default() };
    let (net, probes) = measure(WORK, &mut EchoServer::<1472>::new(10_000), faults);
    let refused: Vec<_> = probes.iter().filter(|p| p.fate != Fate::Delivered).collect();
    // The PC's own every fourth is refused to it, and never sent.
    assert!(refused.iter().all(|p| p.fate == Fate::Lost(Cause::NoBuffers) && p.sent.is_none()));
    assert_eq!((refused.len(), net.hosts[0].count("echo-no-buffers")), (5, 0));
    let (net, probes) = measure(WORK, &mut arduino(), faults);
    assert_eq!(net.hosts[0].count("echo-no-buffers"), 4);
    assert_eq!(probes.iter().filter(|p| p.fate == Fate::Lost(Cause::Unknown)).count(), 4);
}

#[test]
fn the_sketch_answers_its_fixed_end_and_not_the_sender() {
    let mut net = Net::new(2, Faults::default());
    let mut elsewhere = EchoProbe::<64>::new(WORK, 7, 9, Endpoint::new(DEVICE, 10_000));
    run(&mut net, &mut [&mut arduino(), &mut elsewhere], ms(60_000));
    assert!(net.hosts[1].probes().iter().all(|p| p.fate == Fate::Lost(Cause::Unknown)));
    assert_eq!(net.hosts[0].sent.len(), 21);
}

/// Sends datagrams at given times and keeps what comes.
struct Script(Vec<(Instant, Vec<u8>)>, Vec<(Instant, Vec<u8>)>);

impl App for Script {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let socket = super::super::SocketId(1);
        if sockets.udp_bind(10_001).is_ok() {
            return Wait::Again;
        }
        let mut buf = [0; 2000];
        if let Some(datagram) = sockets.udp_receive(socket, &mut buf) {
            self.1.push((now, buf[..datagram.len].to_vec()));
            return Wait::Again;
        }
        match self.0.first() {
            Some((at, _)) if *at > now => Wait::Until(*at),
            Some(_) => {
                let (_, bytes) = self.0.remove(0);
                sockets.udp_send(socket, Endpoint::new(DEVICE, 10_000), &bytes).unwrap();
                Wait::Again
            }
            None => Wait::Change,
        }
    }
}

fn script(sent: &[(u64, &[u8])]) -> (Net, Vec<(Instant, Vec<u8>)>) {
    let mut net = Net::new(2, Faults::default());
    let sent = sent.iter().map(|(at, bytes)| (ms(*at), bytes.to_vec())).collect();
    let mut pc = Script(sent, vec![]);
    run(&mut net, &mut [&mut arduino(), &mut pc], ms(10_000));
    (net, pc.1)
}

#[test]
fn a_datagram_without_a_line_feed_is_waited_for_a_second() {
    let (_, got) = script(&[(1, b"01"), (2, b"2\n")]);
    let bytes: Vec<_> = got.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    assert_eq!(bytes, [b"01\n".as_slice(), b"2\n"]);
    assert!(got[0].0 > us(1_003_000) && got[0].0 < us(1_004_000), "{got:?}");
}

#[test]
fn bytes_behind_the_line_feed_stop_the_sketch_for_good() {
    let (net, got) = script(&[(1, b"0\n1\n"), (5, b"2\n"), (3000, b"3\n")]);
    assert_eq!(got.iter().map(|(_, b)| b.as_slice()).collect::<Vec<_>>(), [b"0\n"]);
    assert_eq!(net.hosts[0].count("echo-stuck"), 1);
}

#[test]
fn a_line_as_long_as_the_buffer_leaves_in_two_pieces() {
    let long = [b'7'; 1500];
    let (_, got) = script(&[(1, &long), (3000, b"\n"), (4000, b"")]);
    let lens: Vec<_> = got.iter().map(|(_, bytes)| bytes.len()).collect();
    // 1460 bytes and the line feed; then an empty line; nothing for an empty datagram.
    assert_eq!(lens, [1460, 1, 1]);
    assert_eq!(got[1].1, b"\n");
}

#[test]
fn without_a_network_every_probe_is_known_to_be_lost() {
    let faults = Faults { cut: ms(10), ..Faults::default() };
    let (net, probes) = measure(WORK, &mut EchoServer::<1472>::new(10_000), faults);
    assert_eq!(probes.len(), 20);
    let lost = |p: &&Probe| p.fate == Fate::Lost(Cause::Disconnected);
    assert!(probes.iter().filter(lost).count() >= 14);
    assert!(net.now < ms(2_000));
}

proptest! {
    #[test]
    fn every_probe_has_one_fate(
        size in 1u32..1400, no_memory in 0u64..9, lossy in 0u64..9, sketch: bool, in_flight in 1u16..20,
    ) {
        let format = if sketch { EchoFormat::Ascii } else { EchoFormat::Binary };
        let work = UdpEcho { size: size.max(16), format, in_flight, ..WORK };
        let faults = Faults { no_memory, lossy, ..Faults::default() };
        let (_, probes) = if sketch {
            measure(work, &mut arduino(), faults)
        } else {
            measure(work, &mut EchoServer::<1472>::new(10_000), faults)
        };
        let mut seqs: Vec<_> = probes.iter().map(|p| p.seq).collect();
        seqs.sort_unstable();
        prop_assert_eq!(seqs, (0..20).collect::<Vec<_>>());
        if no_memory == 0 && lossy == 0 {
            prop_assert!(probes.iter().all(|p| p.fate == Fate::Delivered));
        }
    }
}
