use crate::node::app::mqtt::{
    LabBroker, ListenerMemory, Mqtt, MqttListener, PublisherMemory, SmoothMqtt, SmoothSetup, join,
};
use crate::node::app::tests::testing::{Faults, Net, ms, run};
use crate::node::app::{App, Endpoint, SocketId, Sockets, Wait};
use crate::node::mqtt::{MqttSettings, OfferedLoad};
use crate::wire::mqtt::Version;
use espbench_model::sample::{Cause, Fate, Link, Observer, Probe};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{MqttMode, MqttRate};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const BROKER: Endpoint = Endpoint::new([10, 0, 0, 2], 1883);

const SETTINGS: MqttSettings<'static> = MqttSettings {
    version: Version::V311,
    qos: 1,
    size: 20,
    topic: "network_test",
    client_ids: ["device", "pc"],
    username: None,
    password: None,
    pace: OfferedLoad::Rate(100.0),
    in_flight: 10,
    queue: 50,
    time: Duration::from_secs(1),
    count: None,
    drain: Duration::from_secs(1),
    patience: Duration::from_secs(5),
    resume: false,
    sender: 0,
    retain: false,
    clean_start: true,
    session_expiry: None,
    keep_alive: crate::node::mqtt::KEEP_ALIVE,
    link: Link(0),
};

/// A program that begins when the others are ready: QoS 0 waits for no subscriber.
struct Later<'a>(&'a mut dyn App);

impl App for Later<'_> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if now < ms(100) { Wait::Sleep(ms(100)) } else { self.0.poll(now, sockets) }
    }
}

/// Runs a device, a broker, and a listener for a little longer.
fn exchange(device: &mut dyn App, settings: MqttSettings<'_>, faults: Faults) -> Net {
    let mut net = Net::new(3, faults);
    let mut broker = LabBroker::<4, 2048, 16384>::new(1883);
    let mut memory = ListenerMemory::<2048, 256>::new();
    let listening = MqttSettings { time: settings.time + Duration::from_secs(2), ..settings };
    let mut listener = MqttListener::new(listening, BROKER, memory.lend());
    let done = run(&mut net, &mut [&mut Later(device), &mut broker, &mut listener], ms(90_000));
    assert!(done[0] && !done[1] && done[2], "{done:?}");
    net
}

fn publish(settings: MqttSettings<'_>, faults: Faults) -> Net {
    let mut memory = PublisherMemory::<1460, 32, 256>::new();
    let (storage, out) = memory.lend();
    exchange(&mut Mqtt::new(settings, BROKER, storage, out), settings, faults)
}

fn smooth(work: MqttRate, subscribes: bool, faults: Faults) -> Net {
    let setup = SmoothSetup {
        work,
        link: Link(0),
        topic: SETTINGS.topic,
        client_id: "ESP32",
        subscribes,
        draws: None,
        drain: Duration::from_secs(5),
    };
    let settings = MqttSettings { qos: work.qos, time: work.time, ..SETTINGS };
    exchange(&mut SmoothMqtt::new(setup, BROKER), settings, faults)
}

fn joined(net: &Net) -> Vec<Probe> {
    let received = net.hosts[2].probes();
    let other = |seq| received.iter().find(|p| p.seq == seq);
    net.hosts[0].probes().iter().map(|p| join(p, other(p.seq))).collect()
}

#[test]
fn a_good_client_delivers_all_with_every_quality_and_version() {
    for (version, qos) in
        [(Version::V311, 0), (Version::V311, 1), (Version::V311, 2), (Version::V5, 2)]
    {
        let net = publish(MqttSettings { version, qos, ..SETTINGS }, Faults::default());
        let probes = joined(&net);
        assert_eq!(probes.len(), 100, "{version:?} {qos}");
        for (seq, p) in (0..).zip(&probes) {
            assert_eq!((p.seq, p.fate, p.bytes), (seq, Fate::Delivered, 20));
            // Two ways of 1 ms, and the calls of three programs.
            let took = p.received.unwrap().since(p.due);
            assert!((2..3).contains(&took.as_millis()), "{took:?}");
            assert_eq!(p.acked.is_some(), qos > 0);
        }
        let total = net.hosts[0].intervals();
        assert_eq!(
            (total.len(), total[0].observer, total[0].datagrams),
            (1, Observer::Sender, Some(100))
        );
        assert_eq!(net.hosts[1].count("broker-malformed"), 0);
        assert!(net.no_delay(0, 0) || net.no_delay(1, 0));
    }
}

#[test]
fn what_the_broker_took_and_nobody_got_is_lost_in_it() {
    let lost = |cause| Probe { fate: Fate::Lost(cause), ..Probe::default() };
    let (taken, dropped) = (Probe::default(), lost(Cause::ApplicationQueue));
    let arrived = Probe { received: Some(ms(5)), ..Probe::default() };
    assert_eq!(join(&taken, None).fate, Fate::Lost(Cause::Broker));
    assert_eq!(join(&taken, Some(&lost(Cause::Unknown))).fate, Fate::Lost(Cause::Broker));
    assert_eq!(join(&dropped, None), dropped);
    // Its acknowledgement was lost, the message was not.
    assert_eq!(join(&lost(Cause::Disconnected), Some(&arrived)), arrived);
}

#[test]
fn a_full_queue_refuses_messages_and_says_so() {
    // One in flight, and 10 ms there and back.
    let settings =
        MqttSettings { pace: OfferedLoad::Rate(200.0), in_flight: 1, queue: 5, ..SETTINGS };
    let net = publish(settings, Faults { latency: Duration::from_millis(5), ..Faults::default() });
    let probes = joined(&net);
    let dropped = probes.iter().filter(|p| p.fate == Fate::Lost(Cause::ApplicationQueue));
    assert!((95..=100).contains(&dropped.clone().count()), "{}", dropped.count());
    assert_eq!(probes.len(), 200);
}

const WORK: MqttRate = MqttRate {
    version: Version::V311,
    qos: 2,
    size: 20,
    mode: MqttMode::Offered(20.0),
    in_flight: 1,
    time: Duration::from_secs(20),
    count: None,
    queue: 10,
    clients: 1,
    retain: false,
    clean_start: true,
    session_expiry: None,
};

const WIFI: Faults = Faults {
    latency: Duration::from_millis(2),
    send_buffer: 5760,
    short: 0,
    no_memory: 0,
    lossy: 0,
    cut: Instant::NEVER,
};

#[test]
fn smooths_rate_is_what_its_two_tasks_wait_for_each_other() {
    let rate = |qos, subscribes, round_trip_ms: u64| {
        let faults = Faults { latency: Duration::from_micros(round_trip_ms * 500), ..WIFI };
        let net = smooth(MqttRate { qos, mode: MqttMode::Saturate, ..WORK }, subscribes, faults);
        let probes = joined(&net);
        assert!(probes.iter().all(|p| p.fate == Fate::Delivered && p.received.is_some()));
        // In 20 s, and the ten on the list then.
        (probes.len() - 10) as u64 * 50
    };
    // 70 ms and two round trips: 12.8 a second, 11.1 over a slower way.
    assert_eq!((rate(2, false, 4), rate(2, false, 10)), (12_800, 11_100));
    // 60 ms and one; 60 ms.
    assert_eq!((rate(1, false, 4), rate(0, false, 4)), (15_550, 16_600));
    // With a subscription to its own topic the messages that come back are events, too.
    assert_eq!(rate(2, true, 4), 11_400);
}

#[test]
fn twenty_a_second_do_not_all_enter_smooths_queue_and_twelve_do() {
    let net = smooth(WORK, false, WIFI);
    let probes = joined(&net);
    assert_eq!(probes.len(), 400);
    let dropped = probes.iter().filter(|p| p.fate == Fate::Lost(Cause::ApplicationQueue)).count();
    // The document: about five a second; here 7.2, but for the ten that the list holds.
    assert!((130..=140).contains(&dropped), "{dropped}");
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered || p.queued.is_none()));
    let net = smooth(MqttRate { mode: MqttMode::Offered(12.0), ..WORK }, false, WIFI);
    let probes = joined(&net);
    assert_eq!(probes.len(), 240);
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered && p.acked > p.sent));
}

#[test]
fn smooth_connects_again_and_gives_up_in_the_end() {
    let faults = Faults { cut: ms(5_000), ..WIFI };
    let net = smooth(WORK, false, faults);
    let probes = net.hosts[0].probes();
    // Three tries of five seconds, and it has begun a little after the start.
    assert!((390..=400).contains(&probes.len()), "{}", probes.len());
    let after = probes
        .iter()
        .filter(|p| p.due > ms(6_000) && p.fate != Fate::Lost(Cause::ApplicationQueue));
    assert!(after.clone().all(|p| matches!(p.fate, Fate::Lost(_))));
    assert_eq!(net.hosts[0].count("failed"), 1);
}

/// A client that says what it is told, and keeps what it hears.
struct Script {
    say: Vec<(u64, Vec<u8>)>,
    heard: Vec<u8>,
    socket: Option<SocketId>,
}

impl Script {
    fn new(say: &[(u64, &[u8])]) -> Self {
        let say = say.iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect();
        Self { say, heard: vec![], socket: None }
    }
}

impl App for Script {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.tcp_connect(BROKER).ok();
            return Wait::Again;
        };
        let mut buf = [0; 64];
        if let Ok(len @ 1..) = sockets.tcp_receive(socket, &mut buf) {
            self.heard.extend(&buf[..len]);
            return Wait::Again;
        }
        match self.say.first() {
            Some((at, _)) if ms(*at) > now => Wait::Until(ms(*at)),
            Some(_) => {
                let (_, bytes) = self.say.remove(0);
                assert_eq!(sockets.tcp_send(socket, &bytes), Ok(bytes.len()));
                Wait::Again
            }
            None => Wait::Change,
        }
    }
}

fn talk(scripts: [&[(u64, &[u8])]; 2]) -> (Net, [Vec<u8>; 2]) {
    let mut net = Net::new(3, Faults::default());
    let mut broker = LabBroker::<2, 64, 128>::new(1883);
    let [mut a, mut b] = scripts.map(Script::new);
    run(&mut net, &mut [&mut a, &mut broker, &mut b], ms(100_000));
    (net, [a.heard, b.heard])
}

const CONNECT: &[u8] = b"\x10\x0d\0\x04MQTT\x04\x02\0\x0a\0\x01a";
const CONNECT_C: &[u8] = b"\x10\x0d\0\x04MQTT\x04\x02\0\0\0\x01c";
const CONNECT_B: &[u8] = b"\x10\x0d\0\x04MQTT\x04\x02\0\0\0\x01b";

#[test]
fn the_broker_answers_byte_for_byte() {
    let (net, [a, b]) = talk([
        &[
            (10, CONNECT),
            // QoS 2, sent twice before its release: it is handed on once. Then QoS 0.
            (40, b"\x34\x08\0\x01t\0\x07one"),
            (50, b"\x3c\x08\0\x01t\0\x07one"),
            (60, b"\x62\x02\0\x07"),
            (70, b"\x30\x06\0\x01ttwo\xc0\0"),
            (80, b"\xe0\0"),
        ],
        &[(10, CONNECT_B), (20, b"\x82\x06\0\x09\0\x01+\x01"), (60, b"\x40\x02\0\x01")],
    ]);
    assert_eq!(a, b"\x20\x02\0\0\x50\x02\0\x07\x50\x02\0\x07\x70\x02\0\x07\xd0\0");
    assert_eq!(b, b"\x20\x02\0\0\x90\x03\0\x09\x01\x32\x08\0\x01t\0\x01one\x30\x06\0\x01ttwo");
    assert_eq!(net.hosts[1].counts, [].into());
}

#[test]
fn clients_that_do_not_keep_to_the_standard_are_let_go() {
    let cases: [&[u8]; 6] = [
        b"\x30\x06\0\x01ttwo",
        b"\x10\x0d\0\x04MQTX\x04\x02\0\x0a\0\x01a",
        b"\x10\x0d\0\x04MQTT\x04\x02\0\x0a\0\x01a\x10\x0d\0\x04MQTT\x04\x02\0\x0a\0\x01a",
        b"\x10\x0d\0\x04MQTT\x04\x02\0\x0a\0\x01a\x36\x01\0",
        b"\x10\xff\xff\xff\xff\x01",
        b"\x10\x7f\0\x04MQTT\x04\x02\0\x0a\0\x71aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ];
    for case in cases {
        let (net, _) = talk([&[(10, case)], &[]]);
        assert_eq!(net.hosts[1].count("broker-malformed"), 1, "{case:?}");
    }
}

#[test]
fn a_silent_client_and_an_older_one_of_the_same_name_end() {
    // Keep-alive of 10 s, and half as long again. It pings once.
    let (net, [_, b]) = talk([&[(10, CONNECT), (9_000, b"\xc0\0")], &[(10, CONNECT_B)]]);
    assert_eq!(net.hosts[1].tcp.len(), 1, "b has no keep-alive");
    assert_eq!(b, b"\x20\x02\0\0");
    let (net, [a, b]) = talk([&[(10, CONNECT)], &[(20, CONNECT)]]);
    assert_eq!((a.as_slice(), b), (b"\x20\x02\0\0".as_slice(), a.clone()));
    assert!(net.now < ms(100_000));
}

#[test]
fn messages_that_a_client_has_no_room_for_are_dropped_and_counted() {
    // 30 bytes go out in a round trip of 800 ms: enough for one publisher, not for what two send.
    // The subscriber's buffer of 128 bytes keeps 64 free for answers.
    let slow = Faults { send_buffer: 30, latency: Duration::from_millis(400), ..Faults::default() };
    let mut net = Net::new(4, slow);
    let mut broker = LabBroker::<3, 64, 128>::new(1883);
    let mut publishers = [CONNECT, CONNECT_C].map(|it| Script::new(&[(900, it)]));
    let mut subscriber = Script::new(&[(900, CONNECT_B), (3_000, b"\x82\x06\0\x09\0\x01#\0")]);
    for n in 0..12 {
        for it in &mut publishers {
            it.say.push((6_000 + n * 850, b"\x30\x1a\0\x01taaaaaaaaaaaaaaaaaaaaaaa".to_vec()));
        }
    }
    let [a, c] = &mut publishers;
    run(&mut net, &mut [a, &mut broker, &mut subscriber, c], ms(40_000));
    let came = subscriber.heard.iter().filter(|&&byte| byte == b't').count() as u64;
    let dropped = net.hosts[1].count("broker-dropped");
    assert_eq!(came + dropped, 24);
    assert!(came >= 12 && dropped > 0, "{came} came, {dropped} were dropped");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn however_the_streams_are_cut_all_arrives(short in 1u64.., qos in 0u8..3, well: bool) {
        let faults = Faults { short, ..Faults::default() };
        let net = if well {
            publish(MqttSettings { qos, ..SETTINGS }, faults)
        } else {
            smooth(MqttRate { qos, mode: MqttMode::Offered(8.0), time: Duration::from_secs(3), ..WORK }, true, faults)
        };
        let probes = joined(&net);
        prop_assert_eq!(probes.len(), if well { 100 } else { 24 });
        for p in &probes {
            prop_assert!(p.fate == Fate::Delivered && p.received.is_some(), "{:?}", p);
        }
        prop_assert_eq!(net.hosts[1].count("broker-malformed"), 0);
    }

    #[test]
    fn a_connection_that_breaks_leaves_one_fate_for_each_message(
        cut in 1u64..2500, qos in 0u8..3, well: bool, resume: bool,
    ) {
        let faults = Faults { cut: ms(cut), ..Faults::default() };
        let net = if well {
            publish(MqttSettings { qos, resume, ..SETTINGS }, faults)
        } else {
            smooth(MqttRate { qos, time: Duration::from_secs(3), ..WORK }, false, faults)
        };
        let mut seqs: Vec<_> = net.hosts[0].probes().iter().map(|p| p.seq).collect();
        seqs.sort_unstable();
        let all = seqs.len() as u64;
        prop_assert_eq!(seqs, (0..all).collect::<Vec<_>>());
    }
}
