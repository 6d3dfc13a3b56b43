//! The programs of `proto::node::app` over real sockets, against the programs that they stand for.

use crate::iperf::{TCP, Theirs, UDP, bytes, their_client, totals, wait_for_closed, wait_for_port};
use crate::mqtt::Mosquitto;
use crate::util::{free_port, peer};
use espbench::clock::Clock;
use espbench::pump::app::{ProgramOutput, StdSockets, run};
use espbench_model::sample::{Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{
    EchoFormat, Iperf, MqttMode, MqttRate, TcpRate, Transport, UdpEcho,
};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::mqtt::{ListenerMemory, PublisherMemory, SmoothSetup, join};
use espbench_proto::node::app::{
    App, ArduinoEcho, EchoProbe, EchoServer, Endpoint, IperfClient, IperfServer, IperfSetup,
    LabBroker, Mqtt, MqttListener, SmoothMqtt, Sockets, TcpSender, TcpSink, Wait,
};
use espbench_proto::node::mqtt::{MqttSettings, OfferedLoad};
use espbench_proto::wire::mqtt::Version;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

const LOCAL: [u8; 4] = [127, 0, 0, 1];

/// Samples, counters and prints of a program.
#[derive(Debug, Default)]
struct Heard {
    samples: Vec<Sample>,
    counts: BTreeMap<&'static str, u64>,
}

impl Heard {
    fn probes(&self) -> Vec<Probe> {
        let probe = |sample: &Sample| match sample {
            Sample::Probe(probe) => Some(*probe),
            Sample::Interval(_) => None,
        };
        self.samples.iter().filter_map(probe).collect()
    }

    fn intervals(&self) -> Vec<Interval> {
        let interval = |sample: &Sample| match sample {
            Sample::Interval(interval) => Some(*interval),
            Sample::Probe(_) => None,
        };
        self.samples.iter().filter_map(interval).collect()
    }
}

fn play(app: &mut dyn App, clock: &Clock, stop: &AtomicBool) -> Heard {
    let mut heard = Heard::default();
    let mut said = |said: ProgramOutput<'_>| match said {
        ProgramOutput::Sample(sample) => heard.samples.push(sample),
        ProgramOutput::Count(name, by) => *heard.counts.entry(name).or_default() += by,
        ProgramOutput::Text(_) => {}
    };
    let mut sockets = StdSockets::new(Ipv4Addr::from(LOCAL), &mut said);
    run(app, &mut sockets, clock, stop).expect("the system waits");
    heard
}

/// Runs one that never ends, at `port`, beside one that does; what they said, the one that ends last.
fn beside(
    (server, port, udp): (&mut (dyn App + Send), u16, bool),
    app: &mut dyn App,
) -> [Heard; 2] {
    let (clock, stop) = (Clock::start(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| play(server, &clock, &stop));
        // A datagram to a port that nobody has opened is lost.
        wait_for_port(port, udp);
        let heard = play(app, &clock, &stop);
        wait_for_closed(port);
        stop.store(true, Ordering::Relaxed);
        let served = serving.join().expect("the server's thread");
        assert_eq!(served.counts.get("failed"), None, "the server did not get its port");
        [served, heard]
    })
}

fn alone(app: &mut dyn App) -> Heard {
    play(app, &Clock::start(), &AtomicBool::new(false))
}

fn local(port: u16) -> Endpoint {
    Endpoint::new(LOCAL, port)
}

#[test]
fn both_echoes_answer_the_probe() {
    let work = UdpEcho {
        size: 100,
        count: 50,
        discard: 1,
        format: EchoFormat::Ascii,
        in_flight: 1,
        interval: None,
        timeout: Duration::from_secs(5),
    };
    // A port is taken once: a command that another test just starts holds the closed one for a moment.
    let [first, second, first_pc, pc] = std::array::from_fn(|_| free_port());
    let servers: [(&mut (dyn App + Send), u16, u16); 2] = [
        (&mut EchoServer::<1472>::new(first), first, first_pc),
        (&mut ArduinoEcho::new(second, local(pc)), second, pc),
    ];
    for (server, device, pc) in servers {
        let mut probe = EchoProbe::<1472>::new(work, 1, pc, local(device));
        let [_, heard] = beside((server, device, true), &mut probe);
        let probes = heard.probes();
        assert_eq!(probes.len(), 50);
        assert!(probes.iter().all(|p| p.fate == Fate::Delivered), "{probes:?}");
    }
}

#[test]
fn the_iperf_server_takes_debians_client() {
    if !peer("iperf") {
        return;
    }
    for (work, flags) in [(UDP, ["-u", "-b", "8M"].as_slice()), (TCP, &["-b", "80M"])] {
        let port = free_port();
        let mut server = IperfServer::<16384, 2>::new(IperfSetup::of(&work, IperfStyle::Pc), port);
        let heard = std::thread::scope(|scope| {
            let serving = scope.spawn(|| alone(&mut server));
            wait_for_port(port, work.transport == Transport::Udp);
            let port = port.to_string();
            let args = ["-c", "127.0.0.1", "-p", &port, "-t", "1", "-y", "C"];
            let text = their_client(&[&args[..], flags].concat());
            let lines: Vec<Vec<String>> =
                text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect();
            (serving.join().expect("the server's thread"), lines)
        });
        let (heard, lines) = heard;
        let ours = totals(&heard.intervals(), Observer::Receiver);
        assert_eq!(ours.len(), 1);
        // The client's last line: over UDP what our report told it.
        let theirs: u64 = lines.last().expect("a line")[7].parse().expect("bytes");
        assert_eq!(bytes(&ours), theirs, "{lines:?}");
        assert!(ours[0].lost.is_none_or(|lost| lost == 0));
    }
}

#[test]
fn each_iperf_client_reaches_debians_server() {
    use IperfStyle::{EspConn, EspIdf, EspIdfV4, Pc};
    for (style, work) in
        [(Pc, UDP), (EspIdf, UDP), (EspIdfV4, UDP), (Pc, TCP), (EspIdf, TCP), (EspConn, TCP)]
    {
        let udp = work.transport == Transport::Udp;
        let Some(server) = Theirs::start(if udp { &["-u"] } else { &[] }) else { return };
        let work = Iperf { length: 0, time: Duration::from_millis(300), ..work };
        let setup = IperfSetup::of(&work, style);
        let mut client = IperfClient::<16384>::new(setup, local(server.address.port()));
        let heard = alone(&mut client);
        let sent = totals(&heard.intervals(), Observer::Sender);
        assert_eq!((sent.len(), heard.counts.get("failed")), (1, None), "{style:?}");
        let reported = totals(&heard.intervals(), Observer::Peer);
        assert_eq!(reported.len(), usize::from(udp && style == IperfStyle::Pc));
        if udp && style != IperfStyle::Pc {
            // It sends no last datagram, and their server waits for one.
            continue;
        }
        let lines = server.lines();
        let theirs: u64 = lines[0][7].parse().expect("bytes");
        // Where there is no header, their server takes the first word for one, and counts it
        // for nothing.
        let word = if style == IperfStyle::Pc { 0 } else { 4 };
        assert_eq!(bytes(&sent) - word, theirs, "{style:?} {lines:?}");
    }
}

#[test]
fn tcp_messages_are_counted_and_arrive() {
    let work = TcpRate {
        size: 20,
        runs: 2,
        discard: 1,
        run_time: Duration::from_millis(100),
        no_delay: false,
    };
    let port = free_port();
    let mut sender = TcpSender::<64>::new(work, local(port), None);
    let [sink, heard] = beside((&mut TcpSink::<65536, 2>::new(port), port, false), &mut sender);
    let sent: Vec<_> =
        heard.intervals().into_iter().filter(|i| i.observer == Observer::Sender).collect();
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|i| i.datagrams > Some(100)), "{sent:?}");
    assert!(sink.counts["sink-bytes"] >= sent.iter().map(|i| i.bytes).sum());
}

const SETTINGS: MqttSettings<'static> = MqttSettings {
    version: Version::V311,
    qos: 0,
    size: 40,
    topic: "apps/test",
    client_ids: ["apps-device", "apps-pc"],
    username: None,
    password: None,
    pace: OfferedLoad::Rate(200.0),
    in_flight: 10,
    queue: 100,
    time: Duration::from_millis(300),
    count: None,
    drain: Duration::from_secs(2),
    patience: Duration::from_secs(10),
    resume: false,
    sender: 0,
    retain: false,
    clean_start: true,
    session_expiry: None,
    keep_alive: espbench_proto::node::mqtt::KEEP_ALIVE,
    link: Link(0),
};

/// A listener that says when its subscription is granted.
struct WatchedListener<'a> {
    listener: MqttListener<'a>,
    ready: &'a AtomicBool,
}

impl App for WatchedListener<'_> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let wait = self.listener.poll(now, sockets);
        self.ready.store(self.listener.is_ready(), Ordering::Relaxed);
        wait
    }
}

/// Runs a publisher and a listener at a broker; returns the messages as both ends know them.
fn exchange(device: &mut dyn App, settings: MqttSettings<'_>, broker: Endpoint) -> Vec<Probe> {
    let clock = Clock::start();
    let mut memory = ListenerMemory::<4096, 256>::new();
    let listening = MqttSettings { time: settings.time + Duration::from_millis(500), ..settings };
    let listener = MqttListener::new(listening, broker, memory.lend());
    let ready = AtomicBool::new(false);
    let mut listener = WatchedListener { listener, ready: &ready };
    let never = AtomicBool::new(false);
    let (published, received) = std::thread::scope(|scope| {
        let listening = scope.spawn(|| play(&mut listener, &clock, &never));
        // QoS 0 waits for no subscriber.
        while !ready.load(Ordering::Relaxed) {
            assert!(!listening.is_finished(), "the listener did not subscribe");
            std::thread::sleep(Duration::from_millis(5));
        }
        let published = play(device, &clock, &never);
        (published, listening.join().expect("the listener's thread"))
    });
    let received = received.probes();
    let other = |seq| received.iter().find(|p| p.seq == seq);
    published.probes().iter().map(|p| join(p, other(p.seq))).collect()
}

fn well_written_at(broker: Endpoint) {
    for (version, qos) in
        [(Version::V311, 0), (Version::V311, 1), (Version::V311, 2), (Version::V5, 2)]
    {
        let settings = MqttSettings { version, qos, ..SETTINGS };
        let mut memory = PublisherMemory::<1460, 10, 256>::new();
        let (storage, out) = memory.lend();
        let mut device = Mqtt::new(settings, broker, storage, out);
        let probes = exchange(&mut device, settings, broker);
        assert_eq!(probes.len(), 60, "{version:?} {qos}");
        for p in probes {
            assert!(p.fate == Fate::Delivered && p.received >= p.sent, "{p:?}");
            assert_eq!(p.acked.is_some(), qos > 0);
        }
    }
}

fn smooth_at(broker: Endpoint) {
    let work = MqttRate {
        version: Version::V311,
        qos: 2,
        size: 40,
        mode: MqttMode::Saturate,
        in_flight: 1,
        time: Duration::from_secs(1),
        count: None,
        queue: 10,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    };
    let setup = SmoothSetup {
        work,
        link: Link(0),
        topic: SETTINGS.topic,
        client_id: "apps-smooth",
        subscribes: false,
        draws: None,
        drain: Duration::from_secs(5),
    };
    let settings = MqttSettings { qos: 2, time: Duration::from_secs(2), ..SETTINGS };
    let probes = exchange(&mut SmoothMqtt::new(setup, broker), settings, broker);
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered && p.received.is_some()));
    // Each takes 70 ms, and more where the machine is busy: 14 in a second, and the ten on the list.
    assert!((12..=25).contains(&probes.len()), "{}", probes.len());
}

#[test]
fn the_good_mqtt_client_at_mosquitto() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    well_written_at(local(broker.address.port()));
}

#[test]
fn smooth_at_mosquitto() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    smooth_at(local(broker.address.port()));
}

/// Runs `body` beside a broker; returns what the broker reported.
fn with_broker(body: impl FnOnce(u16)) -> Heard {
    let port = free_port();
    let (clock, stop) = (Clock::start(), AtomicBool::new(false));
    let mut broker = Box::new(LabBroker::<4, 2048, 16384>::new(port));
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| play(broker.as_mut(), &clock, &stop));
        wait_for_port(port, false);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(port)));
        stop.store(true, Ordering::Relaxed);
        let heard = serving.join().expect("the broker's thread");
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        heard
    })
}

#[test]
fn both_mqtt_clients_at_our_broker() {
    for program in [well_written_at, smooth_at] {
        let heard = with_broker(|port| program(local(port)));
        assert_eq!(heard.counts, BTreeMap::new());
    }
}

#[test]
fn mosquittos_clients_at_our_broker() {
    if !peer("mosquitto_sub") || !peer("mosquitto_pub") {
        return;
    }
    for version in ["mqttv311", "mqttv5"] {
        let heard = with_broker(|port| {
            let address = SocketAddr::from((LOCAL, port)).port().to_string();
            let common = ["-h", "127.0.0.1", "-p", &address, "-V", version, "-q", "2"];
            let mut subscriber = Command::new("mosquitto_sub")
                .args(common)
                .args(["-t", "a/+", "-C", "3", "-W", "50"])
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts");
            // It says nothing of its subscription, so messages are sent until it has enough.
            while subscriber.try_wait().expect("its status").is_none() {
                let message = ["-t", "a/b", "-m", "hello"];
                let ran = Command::new("mosquitto_pub").args(common).args(message).status();
                assert!(ran.expect("it starts").success());
            }
            let output = subscriber.wait_with_output().expect("its output");
            assert_eq!(output.stdout, b"hello\nhello\nhello\n");
        });
        // In version 5 it takes twenty at a time, and what is beyond is dropped.
        assert_eq!(heard.counts.get("broker-malformed"), None, "{version}");
    }
}
