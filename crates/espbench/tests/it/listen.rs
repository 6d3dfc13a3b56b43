//! Listening to a device that publishes numbered messages: mosquitto's client and one of our own,
//! through mosquitto and through the embedded broker.

use crate::mqtt::{Mosquitto, embedded, target};
use crate::sink::KeptSamples;
use crate::util::{TestDir, peer};
use espbench::target::loopback::LoopbackTarget;
use espbench::target::mqtt::MqttTarget;
use espbench::target::{Target as _, TargetError};
use espbench_model::sample::{Cause, Fate, Observer};
use espbench_model::time::Instant;
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion, Workload};
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn work() -> MqttRate {
    MqttRate {
        version: MqttVersion::V311,
        qos: 0,
        size: 64,
        mode: MqttMode::Listen,
        in_flight: 20,
        time: Duration::from_secs(2),
        count: None,
        queue: 1000,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    }
}

fn listening(address: SocketAddr) -> MqttTarget {
    MqttTarget { topic: Some("sensor/#".into()), ..target(address) }
}

/// A device made of mosquitto's client: it sends each line of its input.
struct Device(Child);

impl Device {
    fn start(broker: SocketAddr, topic: &str) -> Option<Self> {
        if !peer("mosquitto_pub") {
            return None;
        }
        let port = broker.port().to_string();
        let child = Command::new("mosquitto_pub")
            .args(["-h", "127.0.0.1", "-p", &port, "-t", topic, "-q", "1", "-l"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("mosquitto_pub starts");
        Some(Self(child))
    }

    fn say(&mut self, line: &str) {
        let input = self.0.stdin.as_mut().expect("its input");
        input.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns whether a device skips that number.
fn is_skipped(number: u64) -> bool {
    number % 10 == 2
}

/// Listens to a device that sends without end, skipping every number that ends in 2.
fn heard(address: SocketAddr, qos: u8, version: MqttVersion) -> Option<KeptSamples> {
    let mut device = Device::start(address, "sensor/a")?;
    let worker = std::thread::spawn(move || {
        let mut kept = KeptSamples::default();
        let work = Workload::MqttRate(MqttRate { qos, version, ..work() });
        listening(address).run(&work, &mut kept).map(|()| kept)
    });
    let mut number = 10_280;
    while !worker.is_finished() {
        if !is_skipped(number) {
            device.say(&format!("Sample #{number}"));
        }
        number += 1;
        std::thread::sleep(Duration::from_millis(10));
    }
    Some(worker.join().expect("no panic").expect("it listens"))
}

fn every_version_and_quality(address: SocketAddr) {
    for (version, qos) in [(MqttVersion::V311, 0), (MqttVersion::V5, 1), (MqttVersion::V311, 2)] {
        let Some(kept) = heard(address, qos, version) else { return };
        let (mut delivered, mut lost) = (Vec::new(), Vec::new());
        for probe in kept.probes() {
            match probe.fate {
                Fate::Delivered => delivered.push(probe.seq),
                Fate::Lost(Cause::Unknown) => lost.push(probe.seq),
                other => panic!("{version:?} QoS {qos}: {other:?}"),
            }
        }
        let (first, last) = (delivered[0], *delivered.last().unwrap());
        assert!(last - first > 20, "it heard some: {first} to {last}");
        assert_eq!(lost, (first..last).filter(|n| is_skipped(*n)).collect::<Vec<_>>());
        assert_eq!(delivered, (first..=last).filter(|n| !is_skipped(*n)).collect::<Vec<_>>());
        let missing = &kept.facts["missing_sequence_numbers"];
        assert!(missing.starts_with(&lost[0].to_string()), "{missing}");
        let total = *kept.intervals(Observer::Receiver).last().unwrap();
        assert!(total.total);
        assert_eq!(total.end.since(total.start), Duration::from_secs(2));
        let share = lost.len() as f64 / (lost.len() + delivered.len()) as f64;
        let times: Vec<_> = kept.probes().filter_map(|it| it.received).collect();
        let time = times[times.len() - 1].since(times[0]).as_secs_f64();
        let cells = kept.cells(Workload::MqttRate(work()));
        let value = |metric| cells.iter().find(|c| c.id.metric == metric).unwrap().value.unwrap();
        assert!((value("loss") - 100.0 * share).abs() < 1e-9);
        // n messages have n - 1 periods between them; those that came together with the first are in no rate.
        let periods = (times.len() - 1) as f64;
        let is_together =
            |pair: &&[Instant]| pair[1].since(pair[0]).as_secs_f64() < time / periods / 4.0;
        let burst = times.windows(2).take_while(is_together).count();
        let steady = times[times.len() - 1].since(times[burst]).as_secs_f64();
        let wanted = (periods - burst as f64) / steady;
        assert!((value("message_rate") - wanted).abs() < 1e-6, "{burst} of {periods}");
    }
}

#[test]
fn a_device_on_mosquitto_is_measured() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    every_version_and_quality(broker.address);
}

#[test]
fn a_device_on_the_embedded_broker_is_measured() {
    every_version_and_quality(embedded().address);
}

/// A retained message has an old number; a restarted one begins again; some have none.
#[test]
fn kept_restarted_and_unnumbered_messages_are_told_apart() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    if !peer("mosquitto_pub") {
        return;
    }
    let port = broker.address.port().to_string();
    let kept_before = Command::new("mosquitto_pub")
        .args(["-h", "127.0.0.1", "-p", &port, "-t", "sensor/a", "-r", "-m", "Sample #7"])
        .status();
    assert!(kept_before.unwrap().success());
    let address = broker.address;
    let mut device = Device::start(address, "sensor/a").expect("asked for above");
    let worker = std::thread::spawn(move || {
        let mut kept = KeptSamples::default();
        listening(address).run(&Workload::MqttRate(work()), &mut kept).map(|()| kept)
    });
    for start in [100_000, 50_000].into_iter().cycle() {
        if worker.is_finished() {
            break;
        }
        for number in start..start + 5 {
            device.say(&format!("Sample #{number}"));
        }
        device.say("hello");
        std::thread::sleep(Duration::from_millis(100));
    }
    let kept = worker.join().unwrap().expect("it listens");
    assert_eq!(kept.counters["retained"], 1);
    assert!(kept.counters["restarts"] > 2 && kept.counters["unnumbered"] > 2);
    assert!(kept.lost().is_empty(), "{:?}", kept.lost());
}

/// Two devices to one filter: each has a counter of its own, and one is restarted.
#[test]
fn several_devices_are_counted_each_by_itself() {
    let broker = embedded();
    let address = broker.address;
    let Some(mut first) = Device::start(address, "sensor/a") else { return };
    let mut second = Device::start(address, "sensor/b").expect("asked for above");
    let worker = std::thread::spawn(move || {
        let mut kept = KeptSamples::default();
        listening(address).run(&Workload::MqttRate(work()), &mut kept).map(|()| kept)
    });
    let restarts_at = 60;
    for number in 0_u64.. {
        if worker.is_finished() {
            break;
        }
        if !is_skipped(number) {
            first.say(&format!("{{\"seq\":{number}}}"));
        }
        second.say(&format!("{{\"seq\":{}}}", number % restarts_at));
        std::thread::sleep(Duration::from_millis(10));
    }
    let kept = worker.join().unwrap().expect("it listens");
    assert!(kept.counters["restarts"] >= 1, "{:?}", kept.counters);
    assert!(!kept.probes().any(|it| it.fate == Fate::Duplicate), "no copy was sent");
    let lost = kept.lost();
    assert!(!lost.is_empty());
    assert!(kept.facts["missing_sequence_numbers"].starts_with("sensor/a: "), "{:?}", kept.facts);
    let cells = kept.cells(Workload::MqttRate(work()));
    let value = |metric| cells.iter().find(|c| c.id.metric == metric).unwrap().value.unwrap();
    assert_eq!((value("messages_duplicate"), value("messages_lost")), (0.0, lost.len() as f64));
    // One in ten of one device's numbers.
    assert!((2.0..8.0).contains(&value("loss")), "{}", value("loss"));
}

/// Listens by the command while a device says so many messages; then the broker may go.
fn listened(messages: u32, goes: bool) -> crate::util::Ran {
    let broker = embedded();
    let address = broker.address;
    let mut device = Device::start(address, "sensor/a").expect("a client");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let teller = std::thread::spawn(move || {
        let mut number = 0;
        // The listener is there before the only message.
        std::thread::sleep(Duration::from_millis(if messages == 1 { 1500 } else { 0 }));
        while number < messages && stopped.recv_timeout(Duration::from_millis(10)).is_err() {
            device.say(&format!("Sample #{number}"));
            number += 1;
        }
        if goes {
            drop(broker);
        } else {
            let _ = stopped.recv_timeout(Duration::from_secs(20));
            drop(broker);
        }
    });
    let bench = TestDir::new();
    let address = address.to_string();
    let time = if goes { "30 s" } else { "1 s" };
    let ran = bench.run(&[
        "rate", "mqtt", &address, "--listen", "--topic", "sensor/#", "--time", time, "--quiet",
    ]);
    drop(stop);
    teller.join().unwrap();
    ran
}

#[test]
fn one_message_is_no_result_and_a_broker_that_goes_cuts_it() {
    if !peer("mosquitto_pub") {
        return;
    }
    let one = listened(1, false);
    assert_eq!(one.status, Some(2), "{}{}", one.out, one.err);
    assert!(one.err.contains("one message came, and a rate takes two"), "{}{}", one.out, one.err);
    let cut = listened(200, true);
    assert_eq!(cut.status, Some(2), "{}{}", cut.out, cut.err);
    assert!(cut.out.contains(" of 30 s: the figures are of that time"), "{}{}", cut.out, cut.err);
    assert!(cut.out.contains("delivered"), "the result stays: {}", cut.out);
}

#[test]
fn a_device_that_is_off_is_said() {
    let broker = embedded();
    let quick = MqttTarget { patience: Duration::from_millis(300), ..listening(broker.address) };
    let short = MqttRate { time: Duration::from_millis(200), ..work() };
    let result = quick.clone().run(&Workload::MqttRate(short), &mut KeptSamples::default());
    let text = result.expect_err("nobody publishes").to_string();
    assert!(text.contains("no message came on `sensor/#`"), "{text}");
    assert!(text.contains("publishes to this topic on this broker"), "{text}");
}

#[test]
fn a_stop_ends_the_wait() {
    let broker = embedded();
    let mut kept = KeptSamples { stop_after: Some(0), ..KeptSamples::default() };
    let long = MqttRate { time: Duration::from_secs(3600), ..work() };
    let result = listening(broker.address).run(&Workload::MqttRate(long), &mut kept);
    assert!(matches!(result, Err(TargetError::Cancelled)), "{result:?}");
}

#[test]
fn what_cannot_be_listened_to_is_refused() {
    let listen = Workload::MqttRate(work());
    let refused = |result: Result<(), TargetError>| result.expect_err("refused").to_string();
    let text = refused(LoopbackTarget::default().check(&listen));
    assert!(text.contains("nothing publishes there"), "{text}");
    let broker = SocketAddr::from(([127, 0, 0, 1], 1883));
    let text = refused(target(broker).check(&listen));
    assert!(text.contains("--topic"), "{text}");
    let publish = MqttRate { mode: MqttMode::Saturate, ..work() };
    let text = refused(listening(broker).check(&Workload::MqttRate(publish)));
    assert!(text.contains("--listen"), "{text}");
}

#[test]
fn the_command_listens_and_reports() {
    let broker = embedded();
    let address = broker.address;
    let Some(mut device) = Device::start(address, "sensor/kitchen") else { return };
    let worker = std::thread::spawn(move || {
        let bench = TestDir::new();
        let address = address.to_string();
        let topic = ["--listen", "--topic", "sensor/#", "--time", "1 s"];
        let rest = ["--quiet", "--format", "csv"];
        bench.run(&[&["rate", "mqtt", &address], &topic[..], &rest[..]].concat()).ok()
    });
    for number in (0..).filter(|n| !is_skipped(*n)) {
        if worker.is_finished() {
            break;
        }
        device.say(&format!("{{\"seq\":{number}}}"));
        std::thread::sleep(Duration::from_millis(10));
    }
    let csv = worker.join().unwrap();
    for metric in ["message_rate", "loss", "messages_lost", "interarrival_p50"] {
        assert!(csv.contains(&format!(",{metric},")), "{metric}: {csv}");
    }
    let head = csv.lines().next().unwrap();
    assert!(head.contains(",listening") && !csv.contains(",message_rate_offered,"), "{csv}");
}
