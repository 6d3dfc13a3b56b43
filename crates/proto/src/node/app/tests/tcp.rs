use crate::node::app::tests::testing::{Faults, Net, ms, run};
use crate::node::app::{Endpoint, TcpSender, TcpSink};
use espbench_model::sample::{Interval, Observer};
use espbench_model::time::Duration;
use espbench_model::workload::TcpRate;
use proptest::prelude::*;
use std::vec::Vec;

const WORK: TcpRate =
    TcpRate { size: 20, runs: 2, discard: 1, run_time: Duration::from_millis(50), no_delay: false };

const PC: [u8; 4] = [10, 0, 0, 2];

fn send(work: TcpRate, print: Option<&'static str>, faults: Faults) -> (Net, Vec<Interval>) {
    let mut net = Net::new(2, faults);
    let mut sender = TcpSender::<1460>::new(work, Endpoint::new(PC, 9), print);
    let mut sink = TcpSink::<4096, 2>::new(9);
    let done = run(&mut net, &mut [&mut sender, &mut sink], ms(60_000));
    assert!(done[0] && !done[1]);
    let intervals = net.hosts[0].intervals();
    (net, intervals)
}

fn told(intervals: &[Interval], observer: Observer) -> Vec<(u64, u64)> {
    let of = intervals.iter().filter(|i| i.observer == observer);
    of.map(|i| (i.seq, i.datagrams.unwrap())).collect()
}

#[test]
fn as_many_messages_as_the_processor_and_the_window_allow() {
    // 20 us a call, and less in the buffer than it holds.
    let (net, intervals) = send(WORK, None, Faults::default());
    let sent = told(&intervals, Observer::Sender);
    assert_eq!(sent, [(0, 2499), (1, 2499)]);
    // A round trip of 2 ms is on its way.
    assert_eq!(told(&intervals, Observer::Peer), [(0, 2400), (1, 2400)]);
    assert_eq!(net.hosts[1].count("sink-bytes"), 3 * 2499 * 20);
    assert!(!net.no_delay(0, 0));
    // 1000 bytes each 2 ms.
    let narrow = Faults { send_buffer: 1000, ..Faults::default() };
    assert_eq!(told(&send(WORK, None, narrow).1, Observer::Sender), [(0, 1250), (1, 1250)]);
}

#[test]
fn a_print_for_each_send_is_what_the_time_goes_to() {
    let work = TcpRate { no_delay: true, ..WORK };
    let (net, intervals) = send(work, Some("Message sent 1\r\n"), Faults::default());
    // 16 characters at 115200 baud are 1.39 ms, as in the document's first two runs (684 a second).
    let sent = told(&intervals, Observer::Sender);
    assert_eq!(sent, [(0, 35), (1, 35)]);
    assert_eq!(net.hosts[0].printed.lines().count(), 3 * 35);
    assert!(net.no_delay(0, 0) && net.no_delay(2, 0));
}

#[test]
fn runs_without_a_connection_are_counted_as_failed() {
    let mut net = Net::new(2, Faults::default());
    let mut sender = TcpSender::<1460>::new(WORK, Endpoint::new(PC, 9), None);
    let mut elsewhere = TcpSink::<64, 1>::new(10);
    let done = run(&mut net, &mut [&mut sender, &mut elsewhere], ms(60_000));
    assert!(done[0]);
    assert_eq!((net.hosts[0].count("failed"), net.hosts[0].samples.len()), (3, 0));
}

#[test]
fn a_connection_that_breaks_ends_its_run() {
    // In the first recorded run; the network does not come back.
    let faults = Faults { cut: ms(270), ..Faults::default() };
    let (net, intervals) = send(WORK, None, faults);
    assert_eq!((net.hosts[0].count("failed"), intervals.len()), (2, 0));
}

#[test]
fn a_sink_has_room_for_so_many_streams() {
    let mut net = Net::new(4, Faults::default());
    let mut senders =
        [(); 3].map(|()| TcpSender::<64>::new(WORK, Endpoint::new([10, 0, 0, 4], 9), None));
    let [a, b, c] = &mut senders;
    let mut sink = TcpSink::<4096, 2>::new(9);
    run(&mut net, &mut [a, b, c, &mut sink], ms(60_000));
    assert_eq!(net.hosts[3].count("refused-streams"), 3);
    assert!(net.hosts[3].count("sink-bytes") > 100_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn what_is_counted_arrives_however_it_is_cut(short: u64, size in 1u32..1460, buffer in 1usize..9000) {
        let work = TcpRate { size, runs: 1, discard: 0, ..WORK };
        let faults = Faults { short, send_buffer: buffer, ..Faults::default() };
        let (net, intervals) = send(work, None, faults);
        let sent = told(&intervals, Observer::Sender)[0].1;
        let arrived = net.hosts[1].count("sink-bytes");
        let bytes = sent * u64::from(size);
        // And of the last one, a part.
        prop_assert!((bytes..bytes + u64::from(size)).contains(&arrived), "{} {}", bytes, arrived);
    }
}
