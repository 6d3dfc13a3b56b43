//! Reports of the ESP-NOW suites, from a made-up run of a few of their cells. No number in it came
//! from the lab.

use crate::synthetic::{SplitMix, at, recorded};
use espbench::render;
use espbench_dot11::radio::name::ESP_NOW_PHY_MODES;
use espbench_engine::published;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::plan::Plan;
use espbench_measure::report::{Builder, Report};
use espbench_measure::run::{Recorded, RunFacts, Site};
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::workload::{EspNow, EspNowTest, Workload};

const PLAN: &str = r#"
name = "some-suites"
repetitions = 2
[[measure]]
kind = "esp-now"
test = "one-way"
cast = "broadcast"
size = [10, 230]
distance = "0.5 m"
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 100, 230]
[[measure]]
kind = "esp-now"
test = "throughput"
cast = "broadcast"
size = [10, 230]
[[measure]]
kind = "esp-now"
test = "crypto"
size = [10, 226]
[[measure]]
kind = "esp-now"
test = "multi-ping"
cast = "broadcast"
devices = [30, 50]
distance = "3 m"
[[measure]]
kind = "esp-now"
test = "ota"
devices = [1, 10]
distance = "0.5 m to 1 m"
[[measure]]
kind = "esp-now"
test = "ota"
devices = 100
distance = ["3 m", "10 m"]
[[measure]]
kind = "esp-now"
test = ["handshake", "provisioning"]
devices = [1, 10]
distance = "1 m"
"#;

/// Makes round trips of one device, one after the other, each a little longer than the two frames.
fn pings(w: &EspNow, link: u16, count: u64, random: &mut SplitMix) -> Vec<Sample> {
    let mut now = 0.0;
    let mut probe = |seq| {
        let lost = random.unit() < 0.004 * f64::from(w.devices);
        let tail = 0.8 * f64::from(w.devices).sqrt() * (0.7 * random.normal()).exp();
        let took = 1.5 + 0.02 * f64::from(w.size) + tail;
        let probe = Probe {
            link: Link(link),
            seq,
            bytes: w.size,
            due: at(now),
            sent: Some(at(now + 0.3)),
            received: (!lost).then(|| at(now + took)),
            fate: if lost { Fate::Lost(Cause::Collision) } else { Fate::Delivered },
            ..Probe::default()
        };
        now += if lost { 3000.0 } else { took };
        Sample::Probe(probe)
    };
    (0..count).map(&mut probe).collect()
}

fn total(link: u16, seconds: f64, datagrams: u64, lost: u64) -> Interval {
    Interval {
        link: Link(link),
        total: true,
        observer: Observer::Receiver,
        start: at(500.0),
        end: at(500.0 + 1000.0 * seconds),
        datagrams: Some(datagrams),
        lost: Some(lost),
        ..Interval::default()
    }
}

fn stream(w: &EspNow, random: &mut SplitMix) -> Vec<Sample> {
    let each = 1.5 + 0.009 * f64::from(w.size);
    let mut samples: Vec<Sample> = Vec::new();
    let mut received = 0;
    for seq in 0..20 {
        let datagrams = (3000.0 / each * (1.0 + 0.02 * random.normal())) as u64;
        received += datagrams;
        samples.push(Sample::Interval(Interval {
            seq,
            total: false,
            start: at(500.0 + 3000.0 * seq as f64),
            end: at(3500.0 + 3000.0 * seq as f64),
            bytes: datagrams * u64::from(w.size),
            ..total(0, 0.0, datagrams, 0)
        }));
    }
    let bytes = received * u64::from(w.size);
    samples.push(Sample::Interval(Interval { bytes, ..total(0, 60.0, received, received / 20) }));
    samples
}

/// Makes the samples of devices that are all served, one after the other.
fn served(w: &EspNow, seconds: f64, random: &mut SplitMix) -> Vec<Sample> {
    let seconds = seconds * (1.0 + 0.02 * random.normal());
    let each = 1000.0 * seconds / f64::from(w.devices);
    let done = total(0, seconds, w.devices.into(), 0);
    let device = |link| {
        Sample::Probe(Probe {
            link: Link(link),
            due: done.start,
            received: Some(at(500.0 + each * f64::from(link))),
            ..Probe::default()
        })
    };
    [Sample::Interval(done)].into_iter().chain((1..=w.devices).map(device)).collect()
}

fn samples(w: &EspNow, random: &mut SplitMix) -> Vec<Sample> {
    let devices = f64::from(w.devices);
    match w.test {
        EspNowTest::OneWay => pings(w, 1, 10, random),
        EspNowTest::Ping => pings(w, 1, 500, random),
        EspNowTest::MultiPing => {
            (1..=w.devices).flat_map(|link| pings(w, link, 20, random)).collect()
        }
        EspNowTest::Throughput => stream(w, random),
        EspNowTest::Crypto => {
            let time = |per_byte: f64| 0.3 + 0.01 * per_byte * f64::from(w.size);
            [(0, 1.353), (1, 1.361)]
                .map(|(link, per_byte)| Sample::Interval(total(link, time(per_byte), 10_000, 0)))
                .into()
        }
        EspNowTest::Ota => {
            served(w, 20.0 + 0.2 * devices + 3.0 * f64::from(w.distance_m.1), random)
        }
        EspNowTest::Handshake => served(w, 3.2 + 0.34 * devices, random),
        EspNowTest::Provisioning => served(w, 4.8 + 0.13 * devices, random),
    }
}

fn cells(mode: &str) -> Vec<Recorded> {
    let plan = Plan::parse(PLAN).unwrap();
    let mut random = SplitMix(3);
    let mut cells = Vec::new();
    for repetition in 0..plan.repetitions {
        for (ordinal, workload) in (0..).zip(&plan.workloads) {
            let Workload::EspNow(work) = workload else { panic!("another kind") };
            let samples = samples(work, &mut random);
            let facts = [(ESP_NOW_PHY_MODES.name().to_string(), mode.to_string())].into();
            cells.push(Recorded { repetition, facts, ..recorded(ordinal, *workload, samples) });
        }
    }
    cells
}

fn facts() -> RunFacts {
    RunFacts {
        name: "2026-11-21-sim".into(),
        tool: "espbench 0.1.0".into(),
        started: "2026-11-21T20:00:00Z".into(),
        target: "sim".into(),
        origin: Origin::Simulated,
        seed: 1,
        plan_name: "some-suites".into(),
        plan_text: PLAN.into(),
        site: Site { chip: "esp32".into(), environment: Some("office".into()), ..Site::default() },
        ..RunFacts::default()
    }
}

/// Returns the published cells, two of them fitted.
fn published() -> Vec<Cell> {
    let mut cells = published::built_in();
    for cell in &mut cells {
        // Whatever the shipped table has fitted by now.
        cell.fitted = false;
        cell.standing = None;
        let id = &cell.id;
        if id.table == "crypto-time" && id.metric == "encrypt_time" && id.payload_bytes != Some(50)
        {
            cell.fitted = true;
            cell.fitted_constant = Some("seal.per_byte_ns".into());
        }
    }
    cells
}

fn report() -> Report {
    report_of("1M")
}

/// Returns the report of devices that send in that mode.
fn report_of(mode: &str) -> Report {
    let mut builder = Builder::new(&facts());
    let cells = cells(mode);
    cells.iter().for_each(|cell| builder.add(cell.clone()));
    builder.finish(None, cells.len(), &published())
}

#[test]
fn text() {
    insta::assert_snapshot!(render::text::render(&report()));
}

#[test]
fn figures() {
    let report = report();
    let suites = report.figures.iter().filter(|f| f.id.starts_with("esp-now-"));
    let words = suites.map(|f| {
        let series: Vec<String> = f
            .series
            .iter()
            .map(|s| format!("  {} {} ({} points)", s.origin.name(), s.name, s.points.len()))
            .collect();
        format!("{} | {} | {}\n{}", f.section, f.title, f.alt, series.join("\n"))
    });
    insta::assert_snapshot!(words.collect::<Vec<String>>().join("\n"));
}

#[test]
fn every_other_drawing_has_the_same_and_says_where_numbers_come_from() {
    let report = report();
    crate::report::assert_valid(&report);
    let html = render::html::render(&report);
    let markdown = render::markdown::render(&report);
    for drawing in [&html, &markdown] {
        for words in [
            "ESP-NOW results, the published report and the theoretical limit",
            "published: times the limit",
            "† The simulator was fitted to this value: seal.per",
            "2 of them fitted",
            "How true the simulation is",
        ] {
            assert!(drawing.contains(words), "{words}");
        }
    }
    assert_eq!(html.matches("<span class=\"origin simulated\">simulated</span>").count(), 1);
    assert!(markdown.contains("All results are simulated"));
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    let csv = render::csv::render(&report);
    let ours: Vec<Cell> = report.cells.iter().map(|it| Cell { note: None, ..it.clone() }).collect();
    assert_eq!(published::parse("ours.csv", &csv).unwrap(), ours, "limits survive CSV");
}

#[test]
fn repetitions_are_one_cell_with_the_interval_of_their_scatter() {
    let report = report();
    let handshakes: Vec<&Cell> = report
        .cells
        .iter()
        .filter(|c| c.origin == Origin::Simulated && c.id.metric == "handshake_time")
        .collect();
    assert_eq!(handshakes.len(), 2, "one for each number of devices");
    for cell in handshakes {
        assert_eq!(cell.n, Some(2));
        assert!(cell.ci_low < cell.value && cell.value < cell.ci_high);
        assert!(cell.limit.unwrap() < cell.value.unwrap());
        assert!(cell.note.as_deref().unwrap().contains("mean of 2 repetitions"));
    }
    // The published cells beside them have the same limit.
    let report = report.with_published();
    let beside = report.cells.iter().filter(|c| c.origin == Origin::Published);
    assert!(beside.clone().count() > 30);
    for cell in beside.filter(|c| c.id.metric == "rtt_avg") {
        assert!(cell.limit.is_some(), "{:?}", cell.id);
    }
}

#[test]
fn a_limit_is_that_of_the_rate_that_was_sent_at() {
    let report = report_of("HT20-MCS7").with_published();
    let limit = |origin| {
        let of = |c: &&Cell| {
            // What a console cut has no limit: the exact figure has it.
            let metric = if origin == Origin::Published { "rtt_avg" } else { "rtt_exact_avg" };
            (c.origin, c.id.metric.as_str(), c.id.payload_bytes) == (origin, metric, Some(230))
                && c.id.table == "round-trip"
        };
        report.cells.iter().find(of).and_then(|c| c.limit).unwrap()
    };
    // The document's devices sent at 1 Mbit/s, whatever ours do.
    assert_eq!(limit(Origin::Published), 5.386);
    assert!(limit(Origin::Simulated) < 5.386 / 10.0);
    let text = render::text::render(&report);
    for words in ["AVG, limit of the published (ms)", "HT20-MCS7"] {
        assert!(text.contains(words), "{words}");
    }
}
