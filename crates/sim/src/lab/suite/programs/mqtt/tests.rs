use crate::lab::file::Library;
use crate::lab::record::Record;
use crate::lab::suite::{Seeds, SuiteError, run};
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::search::RateSearch;
use espbench_model::workload::{IpTest, MqttMode, MqttRate, MqttVersion, Name, Wifi, Workload};
use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec::Vec;

#[derive(Debug, Default)]
struct Found {
    probes: Vec<Probe>,
    intervals: Vec<Interval>,
    counts: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
    /// Number of questions after which it is told to stop.
    stop: Option<core::cell::Cell<u32>>,
}

impl Record for Found {
    fn sample(&mut self, sample: Sample) {
        match sample {
            Sample::Probe(it) => self.probes.push(it),
            Sample::Interval(it) => self.intervals.push(it),
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counts.entry(name.to_string()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.to_string(), value);
    }

    fn cancelled(&self) -> bool {
        let Some(left) = &self.stop else { return false };
        left.set(left.get().saturating_sub(1));
        left.get() == 0
    }
}

const WORK: MqttRate = MqttRate {
    version: MqttVersion::V311,
    qos: 1,
    size: 16,
    mode: MqttMode::Offered(20.0),
    in_flight: 20,
    time: Duration::from_secs(10),
    count: None,
    queue: 1000,
    clients: 1,
    retain: false,
    clean_start: true,
    session_expiry: None,
};

fn carry_out(variant: &str, work: MqttRate, found: &mut Found) -> Result<(), SuiteError> {
    let work = Wifi::new(Name::new(variant).unwrap(), IpTest::MqttRate(work));
    run(&Workload::Wifi(work), &Library::built_in(), None, Seeds::both(1), found)
}

fn found(variant: &str, work: MqttRate) -> Found {
    let mut found = Found::default();
    carry_out(variant, work, &mut found).unwrap();
    found
}

fn offered(rate: f64, qos: u8) -> MqttRate {
    MqttRate { mode: MqttMode::Offered(rate), qos, ..WORK }
}

fn total(found: &Found, observer: Observer) -> &Interval {
    let mut totals = found.intervals.iter().filter(|it| it.total && it.observer == observer);
    let total = totals.next().unwrap();
    assert_eq!(totals.next(), None);
    total
}

#[test]
fn twenty_a_second_do_not_all_enter_smooths_queue_and_twelve_do() {
    let twenty = found("smooth", offered(20.0, 2));
    let seqs: Vec<u64> = twenty.probes.iter().map(|it| it.seq).collect();
    assert_eq!(seqs, (0..200).collect::<Vec<_>>(), "one sample a message, in order");
    let refused = |it: &&Probe| it.fate == Fate::Lost(Cause::ApplicationQueue);
    let lost = twenty.probes.iter().filter(refused).count() as u64;
    // 12.8 a second leave, and the list holds ten: 200 - 128 - 10.
    assert!((58..=66).contains(&lost), "{lost}");
    for it in &twenty.probes {
        let arrived = it.fate == Fate::Delivered && it.queued <= it.sent && it.sent < it.acked;
        assert!(if refused(&it) { it.queued.is_none() } else { arrived }, "{it:?}");
        assert_eq!(it.received.is_some(), arrived);
    }
    let (sent, received) = (total(&twenty, Observer::Sender), total(&twenty, Observer::Receiver));
    assert_eq!(sent.datagrams, Some(200));
    assert_eq!((received.datagrams, received.lost), (Some(200 - lost), Some(lost)));
    let seconds = twenty.intervals.iter().filter(|it| !it.total);
    let of_seconds: u64 = seconds.clone().filter_map(|it| it.datagrams).sum();
    assert_eq!(of_seconds, 200 - lost);
    assert!(seconds.zip(0..).all(|(it, seq)| it.seq == seq && it.end <= received.end));

    let twelve = found("smooth", offered(12.0, 2));
    assert_eq!(twelve.probes.len(), 120);
    assert!(twelve.probes.iter().all(|it| it.fate == Fate::Delivered));
}

#[test]
fn a_good_client_loses_none_and_is_hundreds_of_times_as_fast() {
    for qos in 0..3 {
        let twenty = found("well", offered(20.0, qos));
        assert_eq!(twenty.probes.len(), 200);
        for it in &twenty.probes {
            assert_eq!((it.fate, it.acked.is_some()), (Fate::Delivered, qos > 0));
            assert!(it.received.unwrap().since(it.due) < Duration::from_millis(200), "{it:?}");
        }
    }
    let all = MqttRate { mode: MqttMode::Saturate, time: Duration::from_secs(1), ..WORK };
    let rate = total(&found("well", all), Observer::Receiver).datagrams.unwrap();
    assert!((1_000..10_000).contains(&rate), "{rate}");
    assert_eq!(found("well", MqttRate { count: Some(7), ..WORK }).probes.len(), 7);
}

#[test]
fn a_search_records_the_totals_of_its_steps() {
    let range = MqttMode::Search { low: 8.0, high: 32.0 };
    let of_search = found("smooth", MqttRate { mode: range, qos: 2, ..WORK });
    assert_eq!(of_search.probes, []);
    let mut search = RateSearch::new(8.0, 32.0);
    let mut lost = 0;
    for (link, step) in (0..).zip(of_search.intervals.chunks(2)) {
        let [sent, received] = step else { panic!("two totals: {step:?}") };
        assert_eq!((sent.observer, sent.link), (Observer::Sender, Link(link)));
        assert_eq!((received.observer, received.link), (Observer::Receiver, Link(link)));
        let (rate, _) = search.next().unwrap();
        let due = sent.datagrams.unwrap();
        assert!((due as f64 - 10.0 * rate).abs() <= 1.0, "{due} at {rate}/s");
        assert_eq!(received.datagrams.unwrap() + received.lost.unwrap(), due);
        lost += received.lost.unwrap();
        search.record(received.lost == Some(0));
    }
    assert_eq!(search.next(), None, "it goes on to its end");
    // 12.8 a second leave, and in 10 s the list takes one more.
    let (passed, failed) = (search.passed().unwrap(), search.failed().unwrap());
    assert!(passed > 13.2 && failed < 15.0, "{passed} to {failed}");
    assert_eq!(of_search.counts.get("lost-application-queue"), Some(&lost));
}

#[test]
fn what_a_client_cannot_do_is_said() {
    let refused = |variant: &str, work: MqttRate| {
        let mut found = Found::default();
        let failed = carry_out(variant, work, &mut found).unwrap_err();
        assert!(matches!(failed, SuiteError::Unable(..)));
        assert_eq!(found.probes, []);
        failed.to_string()
    };
    let v5 = MqttRate { version: MqttVersion::V5, ..WORK };
    assert!(refused("smooth", v5).contains("3.1.1"));
    assert!(refused("smooth", MqttRate { size: 500, ..WORK }).contains("448 bytes"));
    assert!(refused("well", MqttRate { size: 10_000, ..WORK }).contains("8128 bytes"));
    assert!(refused("well", MqttRate { size: 15, ..WORK }).contains("16 bytes"));
    assert!(refused("well", MqttRate { mode: MqttMode::Listen, ..WORK }).contains("mqtt:"));
    assert_eq!(found("well", v5).probes.len(), 200);
    let longest = MqttRate { size: 448, count: Some(20), ..WORK };
    assert!(found("smooth", longest).probes.iter().all(|it| it.fate == Fate::Delivered));
    let longest = MqttRate { size: 8128, count: Some(20), ..WORK };
    assert!(found("well", longest).probes.iter().all(|it| it.fate == Fate::Delivered));
}

#[test]
fn it_stops_when_it_is_told_to() {
    let stop = Some(core::cell::Cell::new(20));
    let mut found = Found { stop, ..Found::default() };
    assert_eq!(carry_out("smooth", WORK, &mut found), Err(SuiteError::Cancelled));
    // About 4 of 10 s have gone by; what was on the list is not lost to the queue.
    assert!((50..90).contains(&found.probes.len()), "{}", found.probes.len());
    assert!(found.probes.iter().all(|it| it.fate != Fate::Lost(Cause::Broker)));
}

/// The document's: of twenty a second about five do not enter the queue.
#[test]
fn the_example_draws_the_quality_of_service_of_each_message() {
    let minute = |rate| MqttRate { time: Duration::from_secs(60), ..offered(rate, 2) };
    let twenty = found("smooth-example", minute(20.0));
    let lost = twenty.probes.iter().filter(|it| it.fate != Fate::Delivered).count();
    assert!((280..330).contains(&lost), "{lost} of 1200");
    // One in three is of QoS 0, which nobody acknowledges.
    let acked = twenty.probes.iter().filter(|it| it.acked.is_some()).count();
    let left = 1200 - lost;
    assert!((left * 6 / 10..left * 8 / 10).contains(&acked), "{acked} of {left}");
    let twelve = found("smooth-example", minute(12.0));
    assert!(twelve.probes.iter().all(|it| it.fate == Fate::Delivered));
}
