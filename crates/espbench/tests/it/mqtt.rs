//! MQTT rates against mosquitto, the embedded broker, and brokers that misbehave; and mosquitto's
//! clients against the embedded broker.

use crate::sink::KeptSamples;
use crate::util::{ChildProcess, TestDir, bound_again, peer};
use espbench::render;
use espbench::respond::mqtt::BrokerLimits;
use espbench::respond::{Service, ServiceLog, mqtt};
use espbench::target::loopback::LoopbackTarget;
use espbench::target::mqtt::MqttTarget;
use espbench::target::{Target as _, TargetError};
use espbench_measure::report::Builder;
use espbench_measure::run::{Recorded, RunFacts, Site};
use espbench_model::sample::{Cause, Fate, Observer};
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion, Workload};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub fn work() -> MqttRate {
    MqttRate {
        version: MqttVersion::V311,
        qos: 0,
        size: 64,
        mode: MqttMode::Offered(500.0),
        in_flight: 50,
        time: Duration::from_millis(300),
        count: None,
        queue: 10_000,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    }
}

pub fn target(address: SocketAddr) -> MqttTarget {
    MqttTarget::new(address, Site::default())
}

fn run(target: &MqttTarget, work: MqttRate, kept: &mut KeptSamples) -> Result<(), TargetError> {
    target.clone().run(&Workload::MqttRate(work), kept)
}

pub fn embedded() -> Service {
    let log: ServiceLog = Arc::new(|_| {});
    mqtt::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &log).expect("a broker")
}

/// A mosquitto of the test's own.
pub struct Mosquitto {
    _process: ChildProcess,
    pub address: SocketAddr,
    _folder: TestDir,
}

impl Mosquitto {
    pub fn start(settings: &str) -> Option<Self> {
        if !peer("mosquitto") {
            return None;
        }
        let bench = TestDir::new();
        let address = free_address();
        let conf = format!("listener {} 127.0.0.1\n{settings}\n", address.port());
        let conf = bench.write("mosquitto.conf", &conf);
        let mut command = Command::new("mosquitto");
        command.arg("-c").arg(&conf).arg("-v");
        let process = ChildProcess::start(&mut command, true);
        process.line("running");
        Some(Self { _process: process, address, _folder: bench })
    }
}

/// Returns a port that was free a moment ago: mosquitto does not say which one it was given.
pub fn free_address() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, crate::util::free_port()).into()
}

fn every_version_and_quality(address: SocketAddr) {
    for version in [MqttVersion::V311, MqttVersion::V5] {
        for qos in 0..=2 {
            let mut kept = KeptSamples::default();
            run(&target(address), MqttRate { version, qos, ..work() }, &mut kept).unwrap();
            assert_eq!(kept.probes().count(), 150, "{version:?} QoS {qos}");
            for probe in kept.probes() {
                assert_eq!(probe.fate, Fate::Delivered, "{version:?} QoS {qos}: {probe:?}");
                let (sent, received) = (probe.sent.unwrap(), probe.received.unwrap());
                assert!(probe.due <= probe.queued.unwrap() && sent <= received);
                assert_eq!(probe.acked.is_some(), qos > 0);
            }
            let totals = kept.intervals(Observer::Receiver);
            let total = totals.last().unwrap();
            assert_eq!(
                (total.datagrams, total.lost, total.duplicates),
                (Some(150), Some(0), Some(0))
            );
        }
    }
}

#[test]
fn mosquitto_in_both_versions_and_all_qualities() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    every_version_and_quality(broker.address);
}

#[test]
fn the_embedded_broker_in_both_versions_and_all_qualities() {
    every_version_and_quality(embedded().address);
}

#[test]
fn saturation_loses_nothing_in_a_broker_that_queues_or_waits() {
    let lossless = Mosquitto::start("allow_anonymous true\nmax_queued_messages 0");
    let built_in = embedded();
    for address in lossless.iter().map(|m| m.address).chain([built_in.address]) {
        for qos in 0..=2 {
            let saturated = MqttRate {
                qos,
                // Mosquitto closes a 3.1.1 connection with more QoS 2 messages in flight.
                in_flight: 20,
                mode: MqttMode::Saturate,
                count: Some(3000),
                time: Duration::from_secs(60),
                ..work()
            };
            let mut kept = KeptSamples::default();
            run(&target(address), saturated, &mut kept).unwrap();
            assert_eq!(kept.probes().filter(|p| p.fate == Fate::Delivered).count(), 3000);
        }
    }
}

/// Mosquitto's default is a queue of 1000 messages, dropped in silence and acknowledged all the same.
#[test]
fn a_broker_that_drops_silently_is_caught_and_named() {
    let slow = "allow_anonymous true\nmax_inflight_messages 1\nmax_queued_messages 10";
    let Some(broker) = Mosquitto::start(slow) else { return };
    let saturated = MqttRate {
        qos: 1,
        in_flight: 1000,
        mode: MqttMode::Saturate,
        count: Some(4000),
        time: Duration::from_secs(60),
        ..work()
    };
    let mut kept = KeptSamples::default();
    let target = MqttTarget { drain: Duration::from_millis(500), ..target(broker.address) };
    run(&target, saturated, &mut kept).unwrap();
    let lost = kept.lost();
    assert!(!lost.is_empty() && lost.iter().all(|cause| *cause == Cause::Broker), "{lost:?}");
    assert!(kept.probes().all(|probe| probe.acked.is_some()), "it acknowledged every one");
    // Which are dropped is the broker's affair: ranges, or each second one.
    let missing = &kept.facts["missing_sequence_numbers"];
    let has_all = missing.ends_with(&format!("{} in all", lost.len()));
    assert!(has_all || (!missing.is_empty() && !missing.contains("in all")), "{missing}");
    let count = lost.len() as f64;
    let cells = kept.cells(Workload::MqttRate(saturated));
    let loss = cells.iter().find(|c| c.id.metric == "messages_lost").unwrap();
    assert_eq!(loss.value, Some(count));
}

#[test]
fn the_clients_own_queue_is_told_apart_from_the_broker() {
    let broker = embedded();
    let narrow = MqttRate { qos: 2, in_flight: 1, queue: 1, ..work() };
    let burst = MqttRate { mode: MqttMode::Offered(1e6), count: Some(500), ..narrow };
    let mut kept = KeptSamples::default();
    run(&target(broker.address), burst, &mut kept).unwrap();
    let lost = kept.lost();
    assert!(lost.len() > 300, "{}", lost.len());
    assert!(lost.iter().all(|cause| *cause == Cause::ApplicationQueue), "{lost:?}");
    assert_eq!(kept.probes().count(), 500);
}

#[test]
fn a_search_ends_with_a_bracket() {
    let broker = embedded();
    let search = MqttRate {
        mode: MqttMode::Search { low: 50.0, high: 1e6 },
        // One at a time, and no queue to speak of: some rate between fails.
        qos: 2,
        in_flight: 1,
        queue: 2,
        time: Duration::from_millis(60),
        ..work()
    };
    let mut kept = KeptSamples::default();
    let target = MqttTarget { drain: Duration::from_millis(300), ..target(broker.address) };
    run(&target, search, &mut kept).unwrap();
    assert_eq!(kept.probes().count(), 0, "a search records totals");
    let cells = kept.cells(Workload::MqttRate(search));
    let [cell] = &cells[..] else { panic!("{cells:?}") };
    assert_eq!(cell.id.metric, "message_rate_reliable");
    let failed = cell.ci_high.expect("a million a second is too many");
    assert!(cell.value.is_none_or(|passed| passed < failed), "{cell:?}");
    assert!(!cell.note.as_deref().unwrap().contains("cut short"), "{cell:?}");
}

/// Starts a listener that does `serve` with its first `clients` clients.
pub fn listener(
    clients: usize,
    serve: impl Fn(TcpStream) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        for _ in 0..clients {
            serve(listener.accept().unwrap().0);
        }
    });
    (address, thread)
}

fn failure(target: &MqttTarget, work: MqttRate) -> String {
    let error = run(target, work, &mut KeptSamples::default()).expect_err("a fault");
    error.to_string()
}

#[test]
fn a_broker_that_refuses_says_why_and_what_to_do() {
    let (address, thread) = listener(2, |mut client| {
        let _ = client.read(&mut [0; 200]);
        let _ = client.write_all(b"\x20\x02\0\x05");
        let _ = client.read(&mut [0; 200]);
    });
    let text = failure(&target(address), work());
    assert!(text.contains("not authorized") && text.contains("--username"), "{text}");
    thread.join().unwrap();
}

#[test]
fn a_wrong_protocol_version_is_said() {
    let (address, thread) = listener(2, |mut client| {
        let _ = client.read(&mut [0; 200]);
        let _ = client.write_all(b"\x20\x02\0\x01");
        let _ = client.read(&mut [0; 200]);
    });
    let text = failure(&target(address), MqttRate { version: MqttVersion::V5, ..work() });
    assert!(text.contains("unacceptable protocol version"), "{text}");
    assert!(text.contains("--mqtt-version"), "{text}");
    thread.join().unwrap();
}

#[test]
fn what_is_no_broker_is_said() {
    let (address, thread) = listener(2, |mut client| {
        let _ = client.read(&mut [0; 200]);
        let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let text = failure(&target(address), work());
    assert!(text.contains("answers in HTTP") && text.contains("ws://"), "{text}");
    thread.join().unwrap();

    let (address, thread) = listener(2, |mut client| {
        let _ = client.read(&mut [0; 200]);
        let _ = client.write_all(b"220 mail.example.org ESMTP\r\n");
    });
    let text = failure(&target(address), work());
    assert!(text.contains("check that an MQTT broker listens"), "{text}");
    thread.join().unwrap();
}

#[test]
fn a_listener_that_never_answers_is_given_up() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let patience = Duration::from_millis(300);
    let target = MqttTarget { patience, ..target(silent.local_addr().unwrap()) };
    let text = failure(&target, work());
    assert!(text.contains("no CONNACK came"), "{text}");
}

#[test]
fn nobody_there_is_said() {
    let text = failure(&target(free_address()), work());
    assert!(text.contains("start a broker there"), "{text}");
}

#[test]
fn a_broker_that_dies_midway_leaves_named_losses() {
    let broker = embedded();
    let address = broker.address;
    let long = MqttRate { time: Duration::from_secs(60), qos: 1, ..work() };
    let mut kept = KeptSamples::doing_after(20, move || drop(broker));
    let error = run(&target(address), long, &mut kept).expect_err("it died");
    let text = error.to_string();
    assert!(
        text.contains("closed the connection") || text.contains("ended the connection"),
        "{text}"
    );
    assert!(kept.probes().any(|probe| probe.fate == Fate::Delivered), "what came before stays");
    assert!(kept.lost().iter().all(|cause| *cause == Cause::Disconnected), "{:?}", kept.lost());
}

#[test]
fn a_stop_ends_it_and_keeps_what_came() {
    let broker = embedded();
    let long = MqttRate { time: Duration::from_secs(60), ..work() };
    let mut kept = KeptSamples { stop_after: Some(20), ..KeptSamples::default() };
    let result = run(&target(broker.address), long, &mut kept);
    assert!(matches!(result, Err(TargetError::Cancelled)), "{result:?}");
    assert!(kept.samples.len() >= 20);
}

#[test]
fn user_name_and_password_are_sent() {
    if !peer("mosquitto_passwd") {
        return;
    }
    let bench = TestDir::new();
    let users = bench.write("users", "");
    let made =
        Command::new("mosquitto_passwd").arg("-b").arg(&users).args(["me", "secret"]).status();
    assert!(made.unwrap().success());
    readable_by_all(&users);
    let settings = format!("allow_anonymous false\npassword_file {}", users.display());
    let Some(broker) = Mosquitto::start(&settings) else { return };
    let text = failure(&target(broker.address), work());
    assert!(text.contains("not authorized") && text.contains("--username"), "{text}");
    let known = MqttTarget {
        username: Some("me".into()),
        password: Some("secret".into()),
        ..target(broker.address)
    };
    let mut kept = KeptSamples::default();
    run(&known, work(), &mut kept).unwrap();
    assert!(kept.lost().is_empty());
}

/// Makes a file readable by all: mosquitto, started by root, reads its files as a user of its own.
#[cfg(unix)]
pub fn readable_by_all(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let folder = file.parent().unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
pub fn readable_by_all(_: &Path) {}

#[test]
fn mosquittos_clients_talk_through_the_embedded_broker() {
    if !peer("mosquitto_sub") || !peer("mosquitto_pub") {
        return;
    }
    let broker = embedded();
    let port = broker.address.port().to_string();
    for (version, qos) in [("mqttv311", "0"), ("mqttv311", "2"), ("mqttv5", "1"), ("mqttv5", "2")] {
        let common = ["-h", "127.0.0.1", "-p", &port, "-V", version, "-t", "a/b", "-q", qos];
        let mut subscriber = Command::new("mosquitto_sub")
            .args(common)
            .args(["-C", "3", "-W", "50"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // It says nothing of its subscription, so messages are sent until it has enough.
        while subscriber.try_wait().unwrap().is_none() {
            let publisher =
                Command::new("mosquitto_pub").args(common).args(["-m", "hello"]).status();
            assert!(publisher.unwrap().success());
        }
        let output = subscriber.wait_with_output().unwrap();
        assert!(output.status.success(), "{version} QoS {qos}");
        assert_eq!(output.stdout, b"hello\nhello\nhello\n");
    }
}

#[test]
fn a_dropped_broker_frees_its_port() {
    let broker = embedded();
    let address = broker.address;
    let _idle = TcpStream::connect(address).unwrap();
    drop(broker);
    let log: ServiceLog = Arc::new(|_| {});
    assert_eq!(bound_again(|| mqtt::start(address, &log)).address, address);
}

#[test]
fn the_command_measures_and_reports() {
    let broker = embedded();
    let bench = TestDir::new();
    let address = broker.address.to_string();
    let csv = bench
        .run(&[
            "rate",
            "mqtt",
            &address,
            "--rate",
            "200",
            "--qos",
            "1",
            "--mqtt-version",
            "5",
            "--time",
            "0.3 s",
            "--in-flight",
            "7",
            "--quiet",
            "--format",
            "csv",
        ])
        .ok();
    let offered = csv.lines().find(|l| l.contains(",message_rate_offered,")).expect("a row");
    assert!(offered.contains(",200,messages/s,"), "{offered}");
    let head: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
    let fields: Vec<&str> = offered.split(',').collect();
    let field = |name: &str| fields[head.iter().position(|it| *it == name).expect(name)];
    let settings = ["mqtt_version", "qos", "in_flight", "offered_per_s"].map(field);
    assert_eq!(settings, ["5", "1", "7", "200"], "{offered}");
    assert!(csv.contains(",stage_ack_p99,") && csv.contains(",stage_subscriber_p50,"));
}

/// Sends messages around the size of a batch. The first version of the client had room for batches
/// of 64 KiB, and never sent a message that did not fit into one: "0 messages/s", as if that had
/// been measured.
fn large_messages(address: SocketAddr) {
    for version in [MqttVersion::V311, MqttVersion::V5] {
        for qos in 0..=2 {
            let sizes = [65_400, 65_519, 65_520, 65_530, 65_535, 65_536, 65_540, 100_000, 1 << 20];
            for size in sizes {
                let few = MqttRate {
                    version,
                    qos,
                    size,
                    mode: MqttMode::Saturate,
                    count: Some(3),
                    time: Duration::from_secs(60),
                    ..work()
                };
                let mut kept = KeptSamples::default();
                run(&target(address), few, &mut kept).unwrap();
                let whole = kept.probes().filter(|p| p.fate == Fate::Delivered && p.bytes == size);
                assert_eq!(whole.count(), 3, "{version:?}, QoS {qos}, {size} bytes");
            }
        }
    }
}

#[test]
fn messages_of_up_to_a_mebibyte_go_through_mosquitto() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    large_messages(broker.address);
}

#[test]
fn an_offered_rate_of_large_messages_is_delivered() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    let mode = MqttMode::Offered(50.0);
    let few = MqttRate { size: 70_000, mode, count: Some(5), ..work() };
    let mut kept = KeptSamples::default();
    run(&target(broker.address), few, &mut kept).unwrap();
    assert_eq!(kept.probes().filter(|p| p.fate == Fate::Delivered).count(), 5);
}

#[test]
fn a_message_above_the_limit_is_refused_before_measuring() {
    let bench = TestDir::new();
    let nobody = free_address().to_string();
    let ran = bench.run(&["rate", "mqtt", &nobody, "--size", "1048577"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("`size`") && ran.err.contains("1048576"), "{}", ran.err);
    assert!(!ran.err.contains("stored as"), "{}", ran.err);
}

/// The loopback's own broker, without room for retained messages: it drops what it was to keep, and the
/// report says so.
#[test]
fn what_the_loopbacks_broker_drops_is_counted_in_the_report() {
    let limits = BrokerLimits { retained: 0, ..BrokerLimits::default() };
    let (mode, time) = (MqttMode::Saturate, Duration::from_secs(60));
    let few = MqttRate { qos: 1, mode, count: Some(200), retain: true, time, ..work() };
    let workload = Workload::MqttRate(few);
    let mut kept = KeptSamples::default();
    LoopbackTarget::with_limits(limits).run(&workload, &mut kept).unwrap();
    assert_eq!(kept.counters.get("broker-retained-refused"), Some(&200), "{:?}", kept.counters);
    assert_eq!(kept.lost(), [], "they are passed on all the same");
    let KeptSamples { samples, counters, facts, .. } = kept;
    let recorded =
        Recorded { ordinal: 0, repetition: 0, workload, samples, counters, facts, error: None };
    let mut builder = Builder::new(&RunFacts::default());
    builder.add(recorded.clone());
    let text = render::text::render(&builder.finish(None, 0, &[]));
    assert!(text.contains("broker-retained-refused 200"), "{text}");
}

/// A broker that takes every message and passes none on: access rules do that, in silence.
#[test]
fn a_broker_that_passes_nothing_on_is_no_result() {
    let bench = TestDir::new();
    let rules = bench.write("rules", "topic write #\n");
    readable_by_all(&rules);
    let settings = format!("allow_anonymous true\nacl_file {}", rules.display());
    let Some(broker) = Mosquitto::start(&settings) else { return };
    let few = MqttRate { count: Some(5), ..work() };
    let mut kept = KeptSamples::default();
    let target = MqttTarget { drain: Duration::from_millis(300), ..target(broker.address) };
    let text = run(&target, few, &mut kept).expect_err("nothing came").to_string();
    assert!(text.contains("passed on none of 5 messages"), "{text}");
    assert!(text.contains("access rules"), "{text}");
    let cells = kept.cells(Workload::MqttRate(few));
    let rate = cells.iter().find(|c| c.id.metric == "message_rate").unwrap();
    assert_eq!(rate.value, None, "no figure of nothing");
}

/// The review's: a port that speaks TLS was answered with "use a smaller --in-flight".
#[test]
fn a_tls_port_that_is_spoken_to_without_tls_is_said() {
    let (address, thread) = listener(2, |mut client| {
        let _ = client.read(&mut [0; 200]);
        // A fatal alert, as OpenSSL's: wrong version number.
        let _ = client.write_all(&[0x15, 3, 1, 0, 2, 2, 70]);
    });
    let text = failure(&target(address), work());
    assert!(text.contains("answers in TLS") && text.contains("mqtts://"), "{text}");
    thread.join().unwrap();

    let (address, thread) = listener(2, |mut client| {
        let _ = client.read(&mut [0; 200]);
    });
    let text = failure(&target(address), work());
    assert!(text.contains("before its CONNACK") && text.contains("mqtts://"), "{text}");
    assert!(!text.contains("--in-flight"), "{text}");
    thread.join().unwrap();
}
