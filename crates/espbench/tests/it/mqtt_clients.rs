//! Many publishers at once: every message has one fate, and each connection is recorded.

use crate::mqtt::{Mosquitto, embedded, listener, work};
use crate::sink::KeptSamples;
use crate::util::TestDir;
use espbench::target::mqtt::MqttTarget;
use espbench::target::{Target as _, TargetError};
use espbench_measure::run::Site;
use espbench_model::sample::{Cause, Fate, Observer};
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion, Workload};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

fn run(address: SocketAddr, work: MqttRate, kept: &mut KeptSamples) -> Result<(), TargetError> {
    let drain = Duration::from_secs(10);
    let mut target = MqttTarget { drain, ..MqttTarget::new(address, Site::default()) };
    target.run(&Workload::MqttRate(work), kept)
}

/// Asserts that each message of each client was delivered once, in the order of its client.
fn all_delivered(address: SocketAddr, some: MqttRate) -> KeptSamples {
    let (clients, count) = (usize::from(some.clients), some.count.expect("a count") as usize);
    let mut kept = KeptSamples::default();
    run(address, some, &mut kept).unwrap_or_else(|e| panic!("{some:?}: {e}"));
    let mut each: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    for probe in kept.probes() {
        assert_eq!(probe.fate, Fate::Delivered, "{some:?}: {probe:?}");
        each.entry(probe.link.0).or_default().push(probe.seq);
    }
    assert_eq!(each.len(), clients.min(count));
    assert_eq!(each.values().map(Vec::len).sum::<usize>(), count);
    assert!(each.values().all(|seqs| seqs.iter().copied().eq(0..seqs.len() as u64)));
    assert_eq!(kept.connections().len(), clients + 1);
    let totals = kept.intervals(Observer::Receiver);
    let total = totals.iter().find(|interval| interval.total).expect("a total");
    assert_eq!((total.datagrams, total.lost), (Some(count as u64), Some(0)));
    kept
}

#[test]
fn twenty_clients_in_every_version_and_quality() {
    let Some(broker) = Mosquitto::start("allow_anonymous true\nmax_queued_messages 0") else {
        return;
    };
    for version in [MqttVersion::V311, MqttVersion::V5] {
        for qos in 0..=2 {
            for mode in [MqttMode::Saturate, MqttMode::Offered(2000.0)] {
                let (clients, count) = (20, Some(403));
                let time = Duration::from_secs(60);
                let retain = qos == 1;
                let base = MqttRate { in_flight: 10, ..work() };
                let some = MqttRate { version, qos, mode, clients, count, time, retain, ..base };
                all_delivered(broker.address, some);
            }
        }
    }
}

#[test]
fn a_thousand_clients_are_opened_and_measured() {
    let broker = embedded();
    let time = Duration::from_secs(60);
    let some = MqttRate {
        clients: 1000,
        qos: 1,
        count: Some(3000),
        mode: MqttMode::Offered(3000.0),
        time,
        ..work()
    };
    let kept = all_delivered(broker.address, some);
    let cells = kept.cells(Workload::MqttRate(some));
    let value = |metric| cells.iter().find(|c| c.id.metric == metric).and_then(|c| c.value);
    assert!(value("connect_rate") > Some(0.0) && value("connect_p99") >= value("connect_p50"));
    assert_eq!(value("client_fairness"), Some(1.0), "three messages each");
    assert_eq!(cells[0].id.devices, Some(1000));
}

#[test]
fn a_broker_that_takes_no_more_clients_is_named_with_how_many_it_took() {
    let Some(broker) = Mosquitto::start("allow_anonymous true\nmax_connections 5") else { return };
    let error =
        run(broker.address, MqttRate { clients: 20, ..work() }, &mut KeptSamples::default());
    let text = error.expect_err("only five").to_string();
    assert!(text.contains("of 21; ") && text.contains("are open"), "{text}");
}

#[test]
fn a_broker_that_dies_under_many_clients_leaves_named_losses() {
    let broker = embedded();
    let address = broker.address;
    let some = MqttRate { clients: 30, qos: 1, time: Duration::from_secs(600), ..work() };
    // All have connected by then, each of which is a sample.
    let mut kept = KeptSamples::doing_after(100, move || drop(broker));
    let text = run(address, some, &mut kept).expect_err("it died").to_string();
    assert!(text.contains("of 31 connections broke"), "{text}");
    assert!(kept.lost().iter().all(|cause| *cause == Cause::Disconnected), "{:?}", kept.lost());
}

#[test]
fn a_stop_ends_many_clients() {
    let broker = embedded();
    let some = MqttRate { clients: 30, time: Duration::from_secs(600), ..work() };
    let mut kept = KeptSamples { stop_after: Some(100), ..KeptSamples::default() };
    let result = run(broker.address, some, &mut kept);
    assert!(matches!(result, Err(TargetError::Cancelled)), "{result:?}");
    assert!(kept.probes().any(|probe| probe.fate == Fate::Delivered));
}

#[test]
fn silence_and_garbage_end_the_opening() {
    let (address, _thread) = listener(1, |mut client| {
        let _ = client.read(&mut [0; 200]);
        let _ = client.write_all(b"\x20\x02\0\x05");
        let _ = client.read(&mut [0; 200]);
    });
    let text = run(address, MqttRate { clients: 3, ..work() }, &mut KeptSamples::default());
    let text = text.expect_err("refused").to_string();
    assert!(text.contains("not authorized") && text.contains("--username"), "{text}");

    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let patience = Duration::from_millis(300);
    let mut target = MqttTarget { patience, ..MqttTarget::new(address, Site::default()) };
    let some = Workload::MqttRate(MqttRate { clients: 3, ..work() });
    let text = target.run(&some, &mut KeptSamples::default()).expect_err("silent").to_string();
    assert!(text.contains("no CONNACK came"), "{text}");
}

#[test]
fn what_does_not_fit_into_memory_is_refused_before_measuring() {
    let some = MqttRate { clients: 1000, size: 1 << 20, ..work() };
    let text = run("127.0.0.1:9".parse().unwrap(), some, &mut KeptSamples::default());
    let text = text.expect_err("a gigabyte").to_string();
    assert!(text.contains("smaller --size"), "{text}");
    let ran = TestDir::new().run(&["rate", "mqtt", "127.0.0.1:9", "--clients", "20000"]);
    assert!(ran.status == Some(2) && ran.err.contains("`clients`"), "{}", ran.err);
}
