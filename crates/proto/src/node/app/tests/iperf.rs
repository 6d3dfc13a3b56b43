use crate::node::app::iperf::IperfStyle;
use crate::node::app::tests::testing::{Faults, Net, ms, run};
use crate::node::app::{App, Endpoint, IperfClient, IperfServer, IperfSetup};
use crate::wire::iperf2::{Carrier, ClientHeader, Datagram, Width};
use espbench_model::sample::{Interval, Observer};
use espbench_model::time::Duration;
use espbench_model::workload::{Direction, Iperf, Transport};
use proptest::prelude::*;
use std::vec::Vec;

const WORK: Iperf = Iperf {
    transport: Transport::Udp,
    direction: Direction::Forward,
    time: Duration::from_millis(300),
    bytes: None,
    interval: Duration::from_millis(100),
    length: 0,
    bandwidth: None,
    parallel: 1,
    window: None,
    no_delay: false,
    ..Iperf::DEFAULT
};
const TCP: Iperf = Iperf { transport: Transport::Tcp, ..WORK };
const SERVER: Endpoint = Endpoint::new([10, 0, 0, 2], 5001);

struct Test {
    net: Net,
    done: Vec<bool>,
}

impl Test {
    fn of(work: Iperf, client: IperfStyle, server: IperfStyle, faults: Faults) -> Self {
        let mut net = Net::new(2, faults);
        let mut client = IperfClient::<16384>::new(IperfSetup::of(&work, client), SERVER);
        let mut server = IperfServer::<16384, 2>::new(IperfSetup::of(&work, server), 5001);
        let done = run(&mut net, &mut [&mut client, &mut server], ms(120_000));
        Self { net, done }
    }

    fn total(&self, host: usize, observer: Observer) -> Interval {
        let all = self.net.hosts[host].intervals();
        *all.iter().find(|i| i.total && i.observer == observer).unwrap()
    }

    fn parts(&self, host: usize) -> Vec<u64> {
        let all = self.net.hosts[host].intervals();
        all.iter().filter(|i| !i.total).map(|i| i.bytes).collect()
    }

    fn numbers(&self) -> Vec<i64> {
        let sent = &self.net.hosts[0].sent;
        sent.iter().map(|bytes| Datagram::new(bytes).unwrap().id(Width::Told)).collect()
    }
}

#[test]
fn a_pc_says_what_it_wants_ends_its_flow_and_gets_the_report() {
    let work = Iperf { bandwidth: Some(1_176_000), ..WORK };
    let test = Test::of(work, IperfStyle::Pc, IperfStyle::Pc, Faults::default());
    assert_eq!(test.done, [true, true]);
    let first = &test.net.hosts[0].sent[0];
    let header = ClientHeader::parse(&first[16..], Carrier::Datagram).unwrap().unwrap();
    assert_eq!((first.len(), header.port, header.extension.unwrap().rate), (1470, 5001, 1_176_000));
    // 100 datagrams a second, and the last one counts.
    assert_eq!(test.numbers(), (1..=30).chain([-31]).collect::<Vec<_>>());
    let (sender, receiver) = (test.total(0, Observer::Sender), test.total(1, Observer::Receiver));
    assert_eq!(
        (sender.datagrams, receiver.datagrams, receiver.lost),
        (Some(31), Some(31), Some(0))
    );
    assert_eq!(test.total(0, Observer::Peer).bytes, 31 * 1470);
    // The first left 20 us late, so the eleventh is within 100 ms of it.
    assert_eq!(test.parts(1), [11 * 1470, 10 * 1470, 10 * 1470]);
}

#[test]
fn the_last_datagram_is_repeated_until_the_report_comes() {
    // Every seventh is lost: one of thirty at the end, and the report with it.
    for lossy in 2..9 {
        let work = Iperf { bandwidth: Some(1_176_000), ..WORK };
        let faults = Faults { lossy, ..Faults::default() };
        let test = Test::of(work, IperfStyle::Pc, IperfStyle::Pc, faults);
        let (receiver, peer) = (test.total(1, Observer::Receiver), test.total(0, Observer::Peer));
        assert_eq!((peer.lost, peer.datagrams), (receiver.lost, receiver.datagrams), "{lossy}");
        assert!(receiver.lost.unwrap() >= 30 / lossy - 1);
    }
}

#[test]
fn esp_idf_uses_up_a_number_for_each_refusal_and_v4_waits() {
    let faults = Faults { no_memory: 5, ..Faults::default() };
    let spins = Test::of(WORK, IperfStyle::EspIdf, IperfStyle::Pc, faults);
    assert_eq!(spins.numbers()[..6], [0, 1, 2, 3, 5, 6], "from 0, without the refused");
    let total = spins.total(1, Observer::Receiver);
    let refused = spins.net.hosts[0].count("no-buffers");
    // 20 us a call for 300 ms; the last five have no successor to show them.
    assert_eq!((spins.net.hosts[0].sends, refused), (14_999, 2_999));
    assert!(total.lost.unwrap().abs_diff(refused) <= 1);
    assert_eq!(total.bytes, 12_000 * 1472);
    assert_eq!(spins.net.hosts[1].sends, 0, "it is owed no report");

    let waits = Test::of(WORK, IperfStyle::EspIdfV4, IperfStyle::Pc, faults);
    assert_eq!(waits.numbers(), (1..=waits.numbers().len() as i64).collect::<Vec<_>>());
    let total = waits.total(1, Observer::Receiver);
    assert_eq!((total.lost, total.datagrams), (Some(0), Some(waits.numbers().len() as u64)));
    // Four in a tick of 10 ms.
    assert!((120..=125).contains(&waits.numbers().len()), "{}", waits.numbers().len());
}

#[test]
fn waits_of_v4_double_to_64_ticks() {
    let faults = Faults { no_memory: 1, ..Faults::default() };
    let work = Iperf { time: Duration::from_secs(3), ..WORK };
    let mut net = Net::new(2, faults);
    let mut client = IperfClient::<1472>::new(IperfSetup::of(&work, IperfStyle::EspIdfV4), SERVER);
    run(&mut net, &mut [&mut client], ms(5_000));
    // After 1, 2, 4, 8, 16, 32, 64 and 64 ticks: at 0, 10, 30, 70, 150, 310, 630, 1270, 1910, 2550.
    assert_eq!((net.hosts[0].sends, net.hosts[0].sent.len()), (10, 0));
    assert_eq!(net.hosts[0].count("no-buffers"), 10);
}

#[test]
fn espconn_sends_zeros_that_a_pc_counts_all_the_same() {
    let test = Test::of(WORK, IperfStyle::EspConn, IperfStyle::Pc, Faults::default());
    assert!(
        test.net.hosts[0]
            .sent
            .iter()
            .all(|bytes| bytes.len() == 1460 && bytes.iter().all(|&b| b == 0))
    );
    let total = test.total(1, Observer::Receiver);
    assert_eq!(total.bytes, test.net.hosts[0].sent.len() as u64 * 1460);
    assert_eq!(total.lost, Some(0));
}

#[test]
fn an_esp_holds_its_rate_by_being_busy() {
    let work = Iperf { bandwidth: Some(11_776_000), ..WORK };
    // One each ms; the loop takes part of it.
    let test = Test::of(work, IperfStyle::EspIdf, IperfStyle::EspIdf, Faults::default());
    let sent = test.net.hosts[0].sends;
    assert!((296..=301).contains(&sent), "{sent}");
    assert_eq!(test.total(1, Observer::Receiver).bytes, sent * 1472);
}

#[test]
fn an_esp_holds_its_rate_while_memory_is_short_and_tells_what_was_refused() {
    let work = Iperf { bandwidth: Some(11_776_000), ..WORK };
    for no_memory in [1, 2, 3, 7] {
        let faults = Faults { no_memory, ..Faults::default() };
        let test = Test::of(work, IperfStyle::EspIdf, IperfStyle::Pc, faults);
        // One each ms, taken or refused; at most two more, as a refusal forgives what the loop was late by.
        let offered = test.net.hosts[0].sends;
        assert!((290..=301).contains(&offered), "{no_memory}: {offered}");
        let all = test.net.hosts[0].intervals();
        let total = test.total(0, Observer::Sender);
        let refused = u64::from(total.errors.unwrap());
        assert_eq!(total.datagrams.unwrap() + refused, offered);
        assert_eq!(refused, test.net.hosts[0].count("no-buffers"));
        let parts = all.iter().filter(|i| !i.total).map(|i| u64::from(i.errors.unwrap()));
        assert!(
            refused - parts.sum::<u64>() <= 1,
            "what comes after the last interval is in the total"
        );
    }
}

#[test]
fn espconn_has_two_segments_on_the_way_and_waits_for_both() {
    let work = Iperf { time: Duration::from_millis(210), ..TCP };
    let test = Test::of(work, IperfStyle::EspConn, IperfStyle::Pc, Faults::default());
    // A round trip is 2 ms: a pair each.
    let total = test.total(0, Observer::Sender);
    assert_eq!(total.bytes, 105 * 2880);
    assert!(test.net.no_delay(0, 0));
    // And esp-idf's fills the send buffer of twice that.
    let window = Test::of(work, IperfStyle::EspIdf, IperfStyle::Pc, Faults::default());
    assert_eq!(window.total(1, Observer::Receiver).bytes, 105 * 5760);
    assert!(!window.net.no_delay(0, 0));
    assert_eq!((test.done[0], test.done[1], window.done[1]), (true, true, true));
}

#[test]
fn a_pc_sends_tcp_at_a_rate_with_its_header_in_front() {
    let work = Iperf { bandwidth: Some(800_000), length: 1000, ..TCP };
    let test = Test::of(work, IperfStyle::Pc, IperfStyle::EspIdf, Faults::default());
    // 100 writes a second, and 60 bytes.
    assert_eq!(test.parts(0), [10_060, 10_000, 10_000]);
    let (sent, got) = (test.total(0, Observer::Sender), test.total(1, Observer::Receiver));
    assert_eq!((sent.bytes, got.bytes), (30_060, 30_060));
    assert_eq!(sent.end.since(sent.start), Duration::from_millis(300), "all was acknowledged");
    let bytes = Iperf { bytes: Some(100_000), ..TCP };
    let test = Test::of(bytes, IperfStyle::Pc, IperfStyle::EspConn, Faults::default());
    assert_eq!(test.total(1, Observer::Receiver).bytes, 100_000);
}

#[test]
fn a_server_takes_several_streams_at_once_and_no_more_than_it_has_room_for() {
    for work in [WORK, TCP] {
        let work = Iperf { parallel: 2, bandwidth: Some(1_000_000), length: 500, ..work };
        let mut net = Net::new(4, Faults::default());
        let to = Endpoint::new([10, 0, 0, 4], 5001);
        let mut clients =
            [(); 3].map(|()| IperfClient::<1472>::new(IperfSetup::of(&work, IperfStyle::Pc), to));
        let [a, b, c] = &mut clients;
        let mut server = IperfServer::<4096, 2>::new(IperfSetup::of(&work, IperfStyle::Pc), 5001);
        let apps: &mut [&mut dyn App] = &mut [a, b, c, &mut server];
        let done = run(&mut net, apps, ms(20_000));
        assert!(done[3], "{:?}", work.transport);
        let totals: Vec<_> =
            net.hosts[3].intervals().into_iter().filter(|i| i.total).map(|i| i.link.0).collect();
        assert_eq!(totals.len(), 2);
        assert_ne!(totals[0], totals[1]);
    }
}

#[test]
fn nobody_there() {
    for work in [WORK, TCP] {
        let mut net = Net::new(2, Faults::default());
        let work = Iperf { bandwidth: Some(100_000), ..work };
        let mut client = IperfClient::<1472>::new(IperfSetup::of(&work, IperfStyle::Pc), SERVER);
        let done = run(&mut net, &mut [&mut client], ms(20_000));
        assert_eq!(done, [true]);
        assert_eq!(net.hosts[0].count("failed"), u64::from(work.transport == Transport::Tcp));
    }
}

const STYLES: [IperfStyle; 4] =
    [IperfStyle::Pc, IperfStyle::EspIdf, IperfStyle::EspIdfV4, IperfStyle::EspConn];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn both_ends_count_the_same_bytes_however_they_are_cut(
        short in 1u64.., client in 0usize..4, server in 0usize..4, length in 1u32..5000,
        buffer in 500usize..9000,
    ) {
        let work = Iperf { length, time: Duration::from_millis(50), ..TCP };
        let faults = Faults { short, send_buffer: buffer, ..Faults::default() };
        let test = Test::of(work, STYLES[client], STYLES[server], faults);
        prop_assert_eq!(&test.done, &[true, true]);
        let (sent, got) = (test.total(0, Observer::Sender), test.total(1, Observer::Receiver));
        prop_assert_eq!(sent.bytes, got.bytes);
        prop_assert_eq!(test.parts(1).iter().sum::<u64>(), got.bytes);
    }

    #[test]
    fn whatever_happens_both_ends_end(
        udp: bool, client in 0usize..4, server in 0usize..4, cut in 0u64..400,
        no_memory in 0u64..5, lossy in 0u64..5,
    ) {
        let work = if udp { WORK } else { TCP };
        let work = Iperf { bandwidth: Some(2_000_000), length: 1000, ..work };
        let faults = Faults { cut: ms(cut), no_memory, lossy, ..Faults::default() };
        let test = Test::of(work, STYLES[client], STYLES[server], faults);
        prop_assert!(test.done[0]);
        // A server that nobody reached waits on.
        let reached = !test.net.hosts[1].samples.is_empty();
        prop_assert!(test.done[1] || !reached);
    }
}
