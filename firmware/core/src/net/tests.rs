//! Two hosts on one wire: a station that asks for its address, and an access point that gives it.

use super::*;
use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::RefCell;
use espbench_model::sample::{Fate, Interval, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{EchoFormat, Iperf, TcpRate, Transport, UdpEcho};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{
    App, EchoProbe, Endpoint, IperfClient, IperfServer, IperfSetup, LabBroker, TcpSink,
};
use espbench_proto::wire::iperf2;
use programs::{ECHO_PORT, MQTT_PORT, TCP_PORT};
use smoltcp::phy::{DeviceCapabilities, Medium, RxToken, TxToken};
use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec as StdVec;

type Wire = Rc<RefCell<VecDeque<StdVec<u8>>>>;

/// An end of a wire: of `lose` frames sent, the last is lost.
struct End {
    from: Wire,
    to: Wire,
    lose: Option<u32>,
    sent: u32,
}

struct Frame(StdVec<u8>);
struct Room<'a>(&'a mut End);

impl RxToken for Frame {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        let mut frame = std::vec![0; len];
        let result = fill(&mut frame);
        self.0.sent += 1;
        if self.0.lose.is_none_or(|it| !self.0.sent.is_multiple_of(it)) {
            self.0.to.borrow_mut().push_back(frame);
        }
        result
    }
}

impl Device for End {
    type RxToken<'a> = Frame;
    type TxToken<'a> = Room<'a>;

    fn receive(&mut self, _: StackInstant) -> Option<(Frame, Room<'_>)> {
        let frame = self.from.borrow_mut().pop_front()?;
        Some((Frame(frame), Room(self)))
    }

    fn transmit(&mut self, _: StackInstant) -> Option<Room<'_>> {
        // As the radio's queue: what is not sent yet takes room.
        if self.to.borrow().len() < 8 { Some(Room(self)) } else { None }
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        it.medium = Medium::Ethernet;
        it.max_transmission_unit = 1514;
        it
    }
}

#[derive(Default)]
struct Record {
    samples: StdVec<Sample>,
    counts: StdVec<(&'static str, u64)>,
}

impl Out for Record {
    fn print(&mut self, _: &[u8]) {}
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }
    fn count(&mut self, name: &'static str, by: u64) {
        self.counts.push((name, by));
    }
}

impl Record {
    fn total(&self) -> Interval {
        let total = self.samples.iter().find_map(|it| match it {
            Sample::Interval(it) if it.total => Some(*it),
            _ => None,
        });
        total.unwrap()
    }

    fn delivered(&self) -> usize {
        let is = |it: &&Sample| matches!(it, Sample::Probe(it) if it.fate == Fate::Delivered);
        self.samples.iter().filter(is).count()
    }
}

struct Side {
    host: IpHost,
    end: End,
    run: Option<ProgramRun>,
    record: Record,
}

/// Station and access point.
struct Pair {
    sides: [Side; 2],
    now: Instant,
}

impl Pair {
    fn new(sizes: BufferSizes, lose: Option<u32>) -> Self {
        let wires: [Wire; 2] = Default::default();
        let now = Instant::ZERO;
        let sides = [0, 1].map(|i| {
            let (from, to) = (wires[i].clone(), wires[1 - i].clone());
            let mut end = End { from, to, lose, sent: 0 };
            let source = [AddressSource::Dhcp, AddressSource::AccessPoint][i];
            let mac = Mac([2, 0, 0, 0, 0, i as u8]);
            let host = IpHost::new(now, &mut end, mac, source, sizes, 7 + i as u64);
            Side { host, end, run: None, record: Record::default() }
        });
        let mut pair = Self { sides, now };
        pair.run(Duration::from_secs(20), |pair| pair.sides[0].host.address().is_some());
        assert_eq!(pair.sides[0].host.address(), Some([192, 168, 4, 2]));
        pair
    }

    fn start(&mut self, i: usize, app: Box<dyn App>) {
        self.sides[i].run = Some(ProgramRun::of(app));
    }

    /// Runs until `done`, in steps of 100 us.
    fn run(&mut self, time: Duration, done: impl Fn(&Self) -> bool) {
        let end = self.now + time;
        while !done(self) {
            assert!(self.now < end, "nothing more happens");
            for side in &mut self.sides {
                let changed = side.host.poll(self.now, &mut side.end);
                if let Some(mut run) = side.run.take()
                    && run.turn(self.now, &mut side.host, changed, &mut side.record)
                {
                    side.run = Some(run);
                }
            }
            self.now = self.now + Duration::from_micros(100);
        }
    }

    fn run_until_idle(&mut self, i: usize) {
        self.run(Duration::from_secs(120), |pair| pair.sides[i].run.is_none());
    }
}

const STATION: [u8; 4] = [192, 168, 4, 2];

#[test]
fn the_echo_answers_every_probe() {
    let mut pair = Pair::new(BufferSizes::default(), None);
    pair.sides[0].run = Some(ProgramRun::new(Order::Echo));
    let work = UdpEcho {
        size: 100,
        count: 50,
        discard: 0,
        format: EchoFormat::Binary,
        in_flight: 4,
        interval: Some(Duration::from_millis(10)),
        timeout: Duration::from_millis(500),
    };
    pair.start(1, Box::new(EchoProbe::<1472>::new(work, 1, 0, Endpoint::new(STATION, ECHO_PORT))));
    pair.run_until_idle(1);
    assert_eq!(pair.sides[1].record.delivered(), 50);
}

fn iperf(transport: Transport) -> IperfSetup {
    let time = Duration::from_secs(2);
    let bandwidth = (transport == Transport::Udp).then_some(2_000_000);
    let work = Iperf { transport, time, length: 0, bandwidth, ..Iperf::DEFAULT };
    IperfSetup::of(&work, IperfStyle::Pc)
}

#[test]
fn iperf_counts_the_same_at_both_ends_over_udp_and_tcp() {
    for transport in [Transport::Udp, Transport::Tcp] {
        let mut pair = Pair::new(BufferSizes::default(), None);
        pair.sides[0].run = Some(ProgramRun::new(Order::IperfServer(transport)));
        let to = Endpoint::new(STATION, iperf2::PORT);
        pair.start(1, Box::new(IperfClient::<8192>::new(iperf(transport), to)));
        pair.run_until_idle(0);
        let (sent, came) = (pair.sides[1].record.total(), pair.sides[0].record.total());
        assert_eq!(sent.bytes, came.bytes, "{transport:?}");
        assert!(came.bytes > 400_000, "{transport:?}: {came:?}");
    }
}

#[test]
fn the_device_is_a_client_of_iperf_too() {
    for transport in [Transport::Udp, Transport::Tcp] {
        let mut pair = Pair::new(BufferSizes::default(), None);
        pair.start(1, Box::new(IperfServer::<8192, 2>::new(iperf(transport), iperf2::PORT)));
        let order = Order::IperfClient { transport, to: ACCESS_POINT, seconds: 2 };
        pair.sides[0].run = Some(ProgramRun::new(order));
        pair.run_until_idle(0);
        let total = pair.sides[0].record.total();
        assert!(total.bytes > 400_000, "{transport:?}: {total:?}");
        let mut line = String::new();
        programs::print_interval(&mut line, &total).unwrap();
        assert!(line.starts_with("   0- 2 sec") && line.ends_with("Mbits/sec\r\n"), "{line}");
    }
}

#[test]
fn messages_over_tcp_arrive_though_frames_are_lost() {
    let mut pair = Pair::new(BufferSizes { datagrams: 6, send: 16_384, window: 16_384 }, Some(50));
    pair.start(1, Box::new(TcpSink::<8192>::new(TCP_PORT)));
    pair.sides[0].run = Some(ProgramRun::new(Order::Tcp(ACCESS_POINT)));
    pair.run_until_idle(0);
    let runs = pair.sides[0].record.samples.len();
    assert_eq!(runs, 20, "ten runs, each as handed over and as acknowledged");
    assert!(pair.sides[0].record.counts.is_empty(), "{:?}", pair.sides[0].record.counts);
}

#[test]
fn numbered_messages_reach_a_broker() {
    let mut pair = Pair::new(BufferSizes::default(), None);
    pair.start(1, Box::new(LabBroker::<4, 4096, 8192>::new(MQTT_PORT)));
    pair.sides[0].run = Some(ProgramRun::new(Order::Mqtt { to: ACCESS_POINT, rate: 20 }));
    pair.run_until_idle(0);
    assert_eq!(pair.sides[0].record.delivered(), 200);
}

#[test]
fn without_a_listener_a_connection_fails_and_sockets_are_given_back() {
    let mut pair = Pair::new(BufferSizes::default(), None);
    let work = TcpRate {
        size: 64,
        runs: 30,
        discard: 0,
        run_time: Duration::from_millis(10),
        no_delay: true,
    };
    let to = Endpoint::new(ACCESS_POINT, 9);
    pair.start(0, Box::new(espbench_proto::node::app::TcpSender::<64>::new(work, to, None)));
    pair.run_until_idle(0);
    assert_eq!(pair.sides[0].record.counts, std::vec![("failed", 1); 30]);
    pair.run(Duration::from_secs(60), |pair| pair.sides[0].host.closing.is_empty());
    assert!(pair.sides[0].host.entries.is_empty());
    assert_eq!(pair.sides[0].host.no_memory(), 0);
}

#[test]
fn stations_get_addresses_of_their_own_and_keep_them() {
    let mut set = SocketSet::new(StdVec::new());
    let mut server = LeaseServer::new(&mut set, ACCESS_POINT).unwrap();
    let station = |i: u8| EthernetAddress([2, 0, 0, 0, 1, i]);
    let places: StdVec<_> = (0..10).map(|i| server.place_of(station(i))).collect();
    assert_eq!(places, (0..10).collect::<StdVec<_>>());
    assert_eq!(server.place_of(station(3)), 3);
    assert_eq!(server.place_of(station(10)), 0, "the oldest makes room");
    assert_eq!(server.place_of(station(0)), 1);
}
