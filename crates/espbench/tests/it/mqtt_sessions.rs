//! Sessions that outlive their connections: kept, resumed, expired, with mosquitto and the embedded broker.

use crate::mqtt::{Mosquitto, embedded, free_address, target, work};
use crate::sink::KeptSamples;
use crate::util::TestDir;
use espbench::target::Target as _;
use espbench::target::mqtt::MqttTarget;
use espbench_model::sample::Fate;
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion, Workload};
use std::net::SocketAddr;
use std::time::Duration;

/// Sends twenty messages of a client of that name; asserts that all are delivered.
fn run(address: SocketAddr, name: &str, topic: &str, some: MqttRate) -> KeptSamples {
    let mut target = MqttTarget {
        client_id: Some(name.into()),
        topic: Some(topic.into()),
        drain: Duration::from_secs(10),
        ..target(address)
    };
    let some = MqttRate { qos: 1, count: Some(20), time: Duration::from_secs(60), ..some };
    let mut kept = KeptSamples::default();
    target.run(&Workload::MqttRate(some), &mut kept).unwrap_or_else(|e| panic!("{some:?}: {e}"));
    let delivered = kept.probes().filter(|probe| probe.fate == Fate::Delivered).count();
    assert_eq!((delivered, kept.probes().count()), (20, 20), "{some:?}: {:?}", kept.counters);
    kept
}

/// Returns whether the broker said that it had the sessions of publisher and subscriber.
fn present(kept: &KeptSamples) -> [Option<&str>; 2] {
    ["session_present_publisher", "session_present_subscriber"]
        .map(|name| kept.facts.get(name).map(String::as_str))
}

const NEW: [Option<&str>; 2] = [Some("no"); 2];
const RESUMED: [Option<&str>; 2] = [Some("yes"); 2];

fn kept_and_resumed(address: SocketAddr) {
    let clean = work();
    let resuming = MqttRate { clean_start: false, ..clean };
    let told = |some| present(&run(address, "old", "t", some)).map(|it| it.map(str::to_owned));
    let is = |some, wanted: [Option<&str>; 2]| {
        assert_eq!(told(some), wanted.map(|it| it.map(str::to_owned)), "{some:?}");
    };
    is(resuming, NEW);
    is(resuming, RESUMED);
    is(clean, [None; 2]);
    is(resuming, NEW);

    // In version 5 the end of the connection ends the session, unless it is told otherwise.
    let name = "five";
    let v5 = MqttRate { version: MqttVersion::V5, ..resuming };
    let long = MqttRate { session_expiry: Some(3600), ..v5 };
    let told = |some| run(address, name, "t", some);
    assert_eq!(present(&told(v5)), NEW);
    assert_eq!(present(&told(v5)), NEW);
    assert_eq!(present(&told(long)), NEW);
    assert_eq!(present(&told(v5)), RESUMED);
    assert_eq!(present(&told(v5)), NEW);
    let for_ever = MqttRate { session_expiry: Some(u32::MAX), clean_start: true, ..v5 };
    assert_eq!(present(&told(for_ever)), [None; 2]);
    assert_eq!(present(&told(v5)), RESUMED);
}

#[test]
fn the_embedded_broker_keeps_sessions() {
    kept_and_resumed(embedded().address);
}

#[test]
fn mosquitto_keeps_sessions() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    kept_and_resumed(broker.address);
}

/// A kept session still has the subscription of its last run; what came on it since is delivered to the
/// next one, which must not take it for its own.
#[test]
fn messages_for_an_earlier_run_are_foreign() {
    let broker = embedded();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    for address in mosquitto.iter().map(|m| m.address).chain([broker.address]) {
        let resuming = MqttRate { clean_start: false, ..work() };
        run(address, "kept", "first", resuming);
        run(address, "other", "first", work());
        let kept = run(address, "kept", "second", resuming);
        assert_eq!(present(&kept), RESUMED);
        assert_eq!(kept.counters.get("foreign-messages"), Some(&20), "{:?}", kept.counters);
    }
}

#[test]
fn the_sessions_of_many_clients_are_counted() {
    let broker = embedded();
    let mode = MqttMode::Offered(2000.0);
    let crowd = MqttRate { clients: 5, mode, clean_start: false, ..work() };
    for wanted in ["0 of 5", "5 of 5"] {
        let kept = run(broker.address, "crowd", "t", crowd);
        assert_eq!(kept.facts["session_present_publishers"], wanted);
    }
}

#[test]
fn what_cannot_be_resumed_or_kept_is_said() {
    let bench = TestDir::new();
    let nobody = free_address().to_string();
    for (args, wanted) in [
        (&["--clean-start", "false"][..], "--client-id"),
        (&["--clean-session", "false", "-V", "5"], "--client-id"),
        (&["--session-expiry", "60"], "set the version to 5"),
        (&["--session-expiry", "4294967296", "-V", "5"], "--session-expiry"),
    ] {
        let ran = bench.run(&[&["rate", "mqtt", &nobody], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(
            ran.err.contains(wanted) && !ran.err.contains("stored as"),
            "{args:?}: {}",
            ran.err
        );
    }
}

#[test]
fn the_command_tells_of_a_resumed_session() {
    let broker = embedded();
    let bench = TestDir::new();
    let address = broker.address.to_string();
    for wanted in ["no", "yes"] {
        let args = ["rate", "mqtt", &address, "--client-id", "me", "-n", "5", "--rate", "100"];
        let more =
            ["-V", "5", "--clean-start", "false", "--session-expiry", "90", "--format", "json"];
        let report = bench.run(&[&args[..], &more].concat()).ok();
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let text = report.to_string();
        assert!(text.contains(&format!("\"session_present_subscriber\",\"{wanted}\"")), "{text}");
        assert!(text.contains("session resumed") && text.contains("session kept 90 s"), "{text}");
    }
}

/// Flags of the broker are for brokers: on any other target they are refused.
#[test]
fn insecure_is_warned_of_where_there_is_a_broker() {
    let bench = TestDir::new();
    let plan =
        bench.write("plan.toml", "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\ncount = 5\n");
    let plan = plan.to_str().expect("a path");
    let ran = bench.run(&["run", plan, "--on", "loopback", "--insecure"]);
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    assert!(ran.err.contains("--insecure does nothing with the target loopback"), "{}", ran.err);
    let nobody = format!("mqtts://{}", free_address());
    let ran = bench.run(&["run", plan, "--on", &nobody, "--insecure"]);
    assert!(ran.err.contains("warning: --insecure"), "{}", ran.err);
}
