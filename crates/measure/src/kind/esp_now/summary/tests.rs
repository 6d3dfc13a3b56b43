//! Tests of the summary of recorded cells; every published cell of the report must have one of
//! ours.

use super::*;
use crate::cell::Origin;
use crate::compare::{Verdict, compare};
use crate::plan::Plan;
use crate::run::{RunFacts, Site};
use crate::truth::{self, Documents};
use alloc::collections::BTreeMap;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::Workload;
use espbench_stats::Estimate;

fn at(ms: f64) -> Instant {
    Instant::from_nanos((ms * 1e6) as u64)
}

fn probe(link: u16, seq: u64, due: f64, received: Option<f64>) -> Sample {
    Sample::Probe(Probe {
        link: Link(link),
        seq,
        due: at(due),
        sent: Some(at(due + 0.4)),
        received: received.map(at),
        fate: if received.is_some() { Fate::Delivered } else { Fate::Lost(Cause::Collision) },
        ..Probe::default()
    })
}

fn total(link: u16, seconds: f64, datagrams: u64, lost: u64) -> Sample {
    Sample::Interval(Interval {
        link: Link(link),
        total: true,
        observer: Observer::Receiver,
        start: at(1000.0),
        end: at(1000.0 + 1000.0 * seconds),
        bytes: datagrams * 230,
        datagrams: Some(datagrams),
        lost: Some(lost),
        ..Interval::default()
    })
}

/// Samples of the form that the lab gives for a test.
fn samples(w: &EspNow) -> Vec<Sample> {
    match w.test {
        EspNowTest::OneWay | EspNowTest::Ping => {
            (0..20).map(|i| probe(1, i, 10.0 * i as f64, Some(10.0 * i as f64 + 2.9))).collect()
        }
        EspNowTest::MultiPing => (1..=w.devices)
            .flat_map(|link| {
                (0..4).map(move |i| {
                    let due = 100.0 * i as f64;
                    probe(link, i, due, (i > 0).then_some(due + f64::from(link)))
                })
            })
            .collect(),
        EspNowTest::Throughput => [total(0, 60.0, 11_735, 4)].into(),
        EspNowTest::Crypto => [total(0, 1.0, 10_000, 0), total(1, 1.1, 10_000, 0)].into(),
        EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning => {
            let mut all = Vec::from([total(0, 22.7, w.devices.into(), 0)]);
            all.extend(
                (1..=w.devices).map(|link| probe(link, 0, 1000.0, Some(1000.0 + f64::from(link)))),
            );
            all
        }
    }
}

fn recorded(ordinal: u32, w: EspNow, samples: Vec<Sample>) -> Recorded {
    Recorded {
        ordinal,
        repetition: 0,
        workload: Workload::EspNow(w),
        samples,
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

/// Returns the site as the virtual lab states it.
fn site() -> Site {
    Site { chip: "esp32".into(), environment: Some("office".into()), ..Site::default() }
}

fn cells(ordinal: u32, w: &EspNow, samples: Vec<Sample>) -> Vec<Cell> {
    let site = site();
    let context = SummaryContext { site: &site, origin: Origin::Simulated, seed: 1 };
    summarize(w, &recorded(ordinal, *w, samples), &context)
}

fn value(cells: &[Cell], metric: &str) -> f64 {
    let cell = cells.iter().find(|c| c.id.metric == metric);
    cell.unwrap_or_else(|| panic!("no {metric}")).value.unwrap_or(f64::NAN)
}

fn work(toml: &str) -> EspNow {
    let text = format!("name = \"x\"\n[[measure]]\nkind = \"esp-now\"\n{toml}");
    match Plan::parse(&text).unwrap().workloads[..] {
        [Workload::EspNow(w)] => w,
        _ => panic!("{toml}"),
    }
}

const SUITES: [&str; 10] = [
    include_str!("../../../../../../plans/esp-now-one-way-latency.toml"),
    include_str!("../../../../../../plans/esp-now-round-trip.toml"),
    include_str!("../../../../../../plans/esp-now-throughput.toml"),
    include_str!("../../../../../../plans/esp-now-crypto-time.toml"),
    include_str!("../../../../../../plans/esp-now-one-way-latency-secure.toml"),
    include_str!("../../../../../../plans/esp-now-round-trip-secure.toml"),
    include_str!("../../../../../../plans/esp-now-multi-device-round-trip.toml"),
    include_str!("../../../../../../plans/esp-now-ota.toml"),
    include_str!("../../../../../../plans/esp-now-handshake.toml"),
    include_str!("../../../../../../plans/esp-now-provisioning.toml"),
];

/// Holds that a figure stands before the one that a console has cut.
#[track_caller]
fn assert_exact_first(cells: &[Cell], exact: &str, cut: &str) {
    let place = |metric: &str| cells.iter().position(|it| it.id.metric == metric).unwrap();
    assert!(place(exact) < place(cut), "{exact} and {cut}");
}

#[test]
fn every_published_cell_of_the_report_stands_beside_one_of_ours() {
    let all = crate::published::shipped();
    let of_report = |c: &&Cell| c.source.as_deref() == Some("espressif-esp-now-report");
    let published: Vec<Cell> = all.iter().filter(of_report).cloned().collect();
    assert_eq!(published.len(), 285);
    let mut ours = Vec::new();
    for text in SUITES {
        for workload in Plan::parse(text).unwrap().workloads {
            let Workload::EspNow(w) = workload else { panic!("another kind") };
            ours.extend(cells(ours.len() as u32, &w, samples(&w)));
        }
    }
    let comparisons = compare(&ours, &all);
    for cell in &published {
        let beside: Vec<_> = comparisons.iter().filter(|c| c.other == *cell).collect();
        assert_eq!(beside.len(), 1, "{:?}", cell.id);
        let comparable = !matches!(beside[0].verdict, Verdict::NotComparable(_));
        assert!(comparable, "{:?}: {:?}", cell.id, beside[0].verdict);
        assert_eq!(beside[0].ours.id, cell.id);
        assert_eq!(beside[0].ours.unit, cell.unit, "{:?}", cell.id);
    }
    let others = comparisons.iter().filter(|c| !of_report(&&c.other));
    assert_eq!(others.count(), 0, "nothing else is of a radio");
    // The document's own procedure has no variant.
    assert!(ours.iter().all(|c| c.settings.is_empty()));
}

#[test]
fn round_trips_as_the_console_prints_them_and_as_they_were() {
    let w = work("test = \"ping\"\ncast = \"broadcast 3 + ack\"\ncount = 4");
    let samples = [
        probe(1, 0, 0.0, Some(2.9996)),
        probe(1, 1, 10.0005, Some(15.0)),
        probe(1, 2, 20.0, None),
        probe(1, 3, 3030.0, Some(3036.0)),
    ];
    let cells = cells(0, &w, samples.into());
    assert_eq!(cells[0].id.mode, "broadcast-3-ack");
    let words = crate::label::result(&cells[0].settings);
    assert_eq!(words.as_deref(), Some("4 pings"));
    // 2.9996 is 2; 4.9995 is 15,000 - 10,000 whole microseconds, so 5; 6.
    assert_eq!(value(&cells, "rtt_min"), 2.0);
    assert_eq!(value(&cells, "rtt_max"), 6.0);
    assert!((value(&cells, "rtt_avg") - 13.0 / 3.0).abs() < 1e-9);
    assert!((value(&cells, "rtt_exact_avg") - (2.9996 + 4.9995 + 6.0) / 3.0).abs() < 1e-6);
    assert_exact_first(&cells, "rtt_exact_avg", "rtt_avg");
    assert!((value(&cells, "jitter") - (1.9999 + 1.0005) / 2.0).abs() < 1e-6);
    assert_eq!(value(&cells, "loss"), 25.0);
}

#[test]
fn a_late_answer_is_lost_to_the_console() {
    let w = work("test = \"ping\"");
    let late =
        Sample::Probe(Probe { received: Some(at(3500.0)), fate: Fate::Late, ..Probe::default() });
    let cells = cells(0, &w, [late, probe(1, 1, 3000.0, Some(3004.0))].into());
    assert_eq!((value(&cells, "loss"), value(&cells, "probes_late")), (50.0, 1.0));
    assert_eq!(value(&cells, "rtt_max"), 4.0);
}

#[test]
fn many_devices_as_the_documents_note_has_it() {
    let w = work("test = \"multi-ping\"\ndevices = 2\ncount = 2");
    let samples = [
        // Means 10 and 40; losses 0 and 50 %.
        probe(1, 0, 0.0, Some(5.0)),
        probe(1, 1, 10.0, Some(25.0)),
        probe(2, 0, 0.0, Some(40.0)),
        probe(2, 1, 50.0, None),
    ];
    let cells = cells(0, &w, samples.into());
    assert_eq!(value(&cells, "rtt_avg"), 25.0, "each device counts once");
    assert_eq!((value(&cells, "rtt_max"), value(&cells, "loss")), (40.0, 25.0));
    assert_eq!(value(&cells, "rtt_exact_avg"), 20.0, "each round trip counts once");
    assert_exact_first(&cells, "rtt_exact_avg", "rtt_avg");
    assert_eq!((value(&cells, "device_rtt_min"), value(&cells, "device_rtt_max")), (10.0, 40.0));
    // 2 answers in 25 ms, 1 in 40 ms: rates of 80 and 25 a second.
    let jain = (80.0_f64 + 25.0).powi(2) / (2.0 * (80.0_f64.powi(2) + 25.0_f64.powi(2)));
    assert!((value(&cells, "fairness") - jain).abs() < 1e-12);
    let loss = cells.iter().find(|c| c.id.metric == "loss").unwrap();
    let ends = (loss.ci_low.unwrap(), loss.ci_high.unwrap());
    assert!(ends.0 < 2.0 && ends.1 > 85.0, "two devices say little: {ends:?}");
    assert_eq!(loss.n, Some(4), "pings, not devices");
}

#[test]
fn throughput_as_the_receiver_prints_it() {
    let w = work("test = \"throughput\"\ncast = \"broadcast\"");
    let part = |seq: u64, datagrams: u64| {
        Sample::Interval(Interval {
            seq,
            observer: Observer::Receiver,
            start: at(1000.0 + 3000.0 * seq as f64),
            end: at(4000.0 + 3000.0 * seq as f64),
            bytes: datagrams * 230,
            ..Interval::default()
        })
    };
    let samples = [part(0, 700), part(1, 760), total(0, 6.0, 1460, 39)];
    let cells = cells(0, &w, samples.into());
    // 1500 messages with STOP x 1840 bits in 6 s.
    assert_eq!(value(&cells, "throughput"), 0.46);
    assert_eq!((value(&cells, "packets_lost"), value(&cells, "packets_total")), (40.0, 1500.0));
    assert!((value(&cells, "throughput_sent") - 1499.0 * 1840.0 / 6e6).abs() < 1e-12);
    let received = cells.iter().find(|c| c.id.metric == "throughput_received").unwrap();
    assert!((received.value.unwrap() - 1460.0 * 1840.0 / 6e6).abs() < 1e-12);
    assert!(received.ci_low < received.value && received.value < received.ci_high);
    assert!((value(&cells, "loss") - 3900.0 / 1499.0).abs() < 1e-9);
}

#[test]
fn times_of_encryption_and_of_many_devices() {
    let w = work("test = \"crypto\"\nsize = 100");
    let crypto = cells(0, &w, [total(0, 1.7189, 10_000, 0), total(1, 1.7301, 10_000, 0)].into());
    assert_eq!((value(&crypto, "encrypt_time"), value(&crypto, "decrypt_time")), (171.0, 173.0));
    assert!((value(&crypto, "encrypt_time_exact") - 171.89).abs() < 1e-6);
    assert_exact_first(&crypto, "decrypt_time_exact", "decrypt_time");
    assert_eq!((crypto[0].id.distance_m, crypto[0].id.mode.as_str()), (None, "cpu"));

    let w = work("test = \"ota\"\ndevices = 3\ndistance = \"0.5 m to 1 m\"");
    let mut samples = samples(&w);
    samples[0] = total(0, 22.7, 3, 0);
    let ota = cells(0, &w, samples.clone());
    assert_eq!((value(&ota, "ota_time"), value(&ota, "ota_time_exact")), (22.0, 22.7));
    assert_exact_first(&ota, "ota_time_exact", "ota_time");
    assert_eq!((value(&ota, "devices_served"), value(&ota, "device_time_max")), (3.0, 0.003));
    assert!(ota[0].note.as_deref().unwrap().starts_with("distance 0.5-1 m"));
    assert_eq!(ota[0].id.distance_m, None);
}

/// A job that served a part has no time for all, and so none that a document's could be held against; it is told of
/// before all else.
#[test]
fn a_part_that_was_served_is_named_and_never_compared() {
    for (test, metric) in [
        ("ota", "ota_time"),
        ("handshake", "handshake_time"),
        ("provisioning", "provisioning_time"),
    ] {
        for served in 0..=20 {
            let w = work(&format!("test = \"{test}\"\ndevices = 20\ndistance = \"0.5 m to 1 m\""));
            let samples: Vec<Sample> = [total(0, 22.7, served, 20 - served)].into();
            let cells = cells(0, &w, samples.clone());
            let times: Vec<&Cell> =
                cells.iter().filter(|it| it.id.metric.starts_with(metric)).collect();
            let all = [recorded(0, w, samples)];
            let told = crate::report::report(&RunFacts::default(), None, &all, 1, &[]).doubts();
            assert_eq!(value(&cells, "devices_served"), served as f64);
            if served == 20 {
                assert!(times.iter().all(|it| it.value.is_some()) && told.is_empty(), "{test}");
                continue;
            }
            assert!(times.iter().all(|it| it.value.is_none()), "{test} {served}");
            let note = times[0].note.as_deref().unwrap();
            assert!(note.contains(&format!("{} of 20 devices not served", 20 - served)), "{note}");
            assert!(told[0].contains(&format!("Served {served} of 20 devices: ")), "{told:?}");
            let document =
                Cell::of(Estimate::exact(26.0, 1), times[0].id.clone(), "s", Origin::Published);
            assert_eq!(
                truth::truth(&cells, core::slice::from_ref(&document), Documents::EspNow),
                None
            );
            let beside = compare(&cells, &[document]);
            assert!(beside.iter().all(|it| it.ratio.is_none()), "{test} {served}");
        }
    }
}

/// A time for all is not that of the repetitions in which all were served: where one served a part, nothing published
/// stands beside it, and how many did is told before the first number.
#[test]
fn a_part_in_some_repetitions_leaves_no_time_for_all() {
    for (test, first_is_whole) in
        [("ota", true), ("ota", false), ("handshake", true), ("provisioning", false)]
    {
        let plan_text = format!(
            "name = \"x\"\nrepetitions = 10\n[[measure]]\nkind = \"esp-now\"\ntest = \"{test}\"\ndevices = 20\n"
        );
        let facts = RunFacts { plan_text, site: site(), ..RunFacts::default() };
        let w = work(&format!("test = \"{test}\"\ndevices = 20"));
        let all: Vec<Recorded> = (0..10)
            .map(|repetition| {
                let is_part = repetition < 2 && !first_is_whole || repetition > 7 && first_is_whole;
                let served = if is_part { 19 } else { 20 };
                let samples = [total(0, 22.7, served, 20 - served)].into();
                Recorded { repetition, ..recorded(0, w, samples) }
            })
            .collect();
        let report = crate::report::report(&facts, None, &all, 10, &crate::published::shipped());
        let times: Vec<&Cell> = report
            .cells
            .iter()
            .filter(|it| served::TIMES_FOR_ALL.contains(&&*it.id.metric))
            .collect();
        assert!(!times.is_empty() && times.iter().all(|it| it.value.is_none()), "{times:?}");
        assert!(times.iter().all(|it| it.test.repetitions == Some(10)), "{times:?}");
        assert!(report.comparisons.iter().all(|it| it.ratio.is_none()), "{test}");
        let count = report.cells.iter().find(|it| it.id.metric == "devices_served").unwrap();
        assert_eq!((count.value, count.ci_high), (Some(19.8), Some(20.0)), "{test}");
        let told = report.doubts();
        assert!(
            told[0].starts_with("Served 19 of 20 devices in 2 of 10 repetitions: "),
            "{told:?}"
        );
    }
}

/// A ping that came back changed is lost, in the value as in the interval.
#[test]
fn a_loss_and_its_interval_are_of_one_rule() {
    let w = work("test = \"multi-ping\"\ndevices = 4");
    let mut samples = Vec::new();
    for link in 0..4_u16 {
        for seq in 0..50 {
            let mut sample = probe(link, seq, 1000.0, Some(1004.0));
            if let Sample::Probe(probe) = &mut sample
                && seq % 2 == 0
            {
                probe.fate = Fate::Corrupt;
            }
            samples.push(sample);
        }
    }
    let cells = cells(0, &w, samples);
    let loss = cells.iter().find(|it| it.id.metric == "loss").unwrap();
    assert_eq!(loss.value, Some(50.0));
    assert!(loss.ci_low.unwrap() > 30.0 && loss.ci_high.unwrap() < 70.0, "{loss:?}");
}

#[test]
fn nothing_recorded_gives_no_figure_and_no_panic() {
    for test in ["one-way", "ping", "throughput", "crypto", "multi-ping", "ota", "provisioning"] {
        let w = work(&format!("test = \"{test}\""));
        let cells = cells(0, &w, Vec::new());
        let none = |c: &Cell| c.value.is_none() || c.id.metric == "probes_late";
        assert!(cells.iter().all(none), "{test}: {cells:?}");
    }
}
