use super::*;
use crate::report::{Report, report};
use crate::run::{RunFacts, Site};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::name::PHY_MODE;
use espbench_model::sample::{Interval, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{Direction, Transport, Workload};
use espbench_stats::Estimate;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Returns the cells of a plan, each with facts of its own and those samples.
fn carried_out(
    plan: &str,
    samples: impl Fn(&Workload) -> Vec<Sample>,
    facts: impl Fn(&str) -> Vec<(&'static str, &'static str)>,
) -> Vec<Recorded> {
    let workloads = crate::plan::Plan::parse(plan).unwrap().workloads;
    let one = |(ordinal, workload): (usize, Workload)| Recorded {
        ordinal: ordinal as u32,
        repetition: 0,
        workload,
        samples: samples(&workload),
        counters: BTreeMap::new(),
        facts: facts(workload.variant().unwrap().as_str())
            .into_iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
        error: None,
    };
    workloads.into_iter().enumerate().map(one).collect()
}

fn reported(plan: &str, recorded: &[Recorded]) -> Report {
    let facts = RunFacts {
        origin: Origin::Simulated,
        plan_text: plan.into(),
        plan_name: "wifi".into(),
        site: Site::default(),
        ..RunFacts::default()
    };
    report(&facts, None, recorded, recorded.len(), &crate::published::shipped())
}

/// Ours and the published value that stands beside it, in words.
fn pairs(report: &Report) -> Vec<String> {
    let word = |it: &Option<String>| it.clone().unwrap_or_default();
    report
        .comparisons
        .iter()
        .map(|it| {
            let id = &it.ours.id;
            format!(
                "{} {} {} {} {} {} {} = {} beside {} {} {} ({})",
                id.table,
                id.chip,
                id.transport,
                id.mode,
                word(&id.security),
                word(&id.environment),
                id.metric,
                crate::digits::plain(it.ours.value.unwrap()),
                it.other.id.metric,
                it.other.value.unwrap(),
                it.other.unit,
                word(&it.other.note),
            )
        })
        .collect()
}

/// Makes ten seconds of ten intervals, of which one is the best, as that end saw them.
fn seen(observer: Observer, megabits: f64) -> Vec<Sample> {
    let interval = |seq: u64| Interval {
        observer,
        seq,
        start: at(seq * 1000),
        end: at((seq + 1) * 1000),
        bytes: (megabits * 125_000.0 * if seq == 3 { 1.1 } else { 1.0 }) as u64,
        ..Interval::default()
    };
    (0..10).map(|seq| Sample::Interval(interval(seq))).collect()
}

fn iperf(work: &Workload) -> Vec<Sample> {
    let Some(espbench_model::workload::IpTest::Iperf(w)) = work.ip() else {
        panic!("another kind")
    };
    let udp = w.transport == Transport::Udp;
    let mut samples = Vec::new();
    match w.direction {
        Direction::Forward => {
            samples.extend(seen(Observer::Sender, if udp { 40.0 } else { 7.3 }));
            samples.extend(seen(Observer::Peer, if udp { 15.0 } else { 7.0 }));
        }
        _ => {
            samples.extend(seen(Observer::Peer, 12.0));
            samples.extend(seen(Observer::Receiver, if udp { 11.0 } else { 7.1 }));
        }
    }
    samples
}

#[test]
fn the_sdk_tells_rows_of_the_esp8266_apart() {
    let plan = "name = \"esp8266-iperf\"\n[[measure]]\nkind = \"iperf\"\n\
                variant = [\"softap-open-sdk-2.2\", \"softap-open-sdk-1.4\"]\n\
                transport = [\"tcp\", \"udp\"]\ndirection = [\"forward\", \"reverse\"]\n";
    let facts = |variant: &str| {
        let sdk = if variant.ends_with("2.2") { "RTOS SDK 2.2" } else { "RTOS SDK 1.4.x" };
        alloc::vec![
            (fact::CHIP, "esp8266"),
            (fact::MODE, "softap"),
            (fact::SECURITY, "open"),
            (fact::ENVIRONMENT, "unstated"),
            (fact::FIRMWARE, sdk),
        ]
    };
    let report = reported(plan, &carried_out(plan, iperf, facts));
    let told = pairs(&report).join("\n");
    insta::assert_snapshot!(told);
    // Without the fact, the variant's name tells.
    let fewer = |variant: &str| -> Vec<_> {
        facts(variant).into_iter().filter(|(name, _)| *name != fact::FIRMWARE).collect()
    };
    let report = reported(plan, &carried_out(plan, iperf, fewer));
    assert_eq!(pairs(&report).join("\n"), told);
}

/// Returns the facts of the ESP32-C3 in its document.
fn esp32c3(_variant: &str) -> Vec<(&'static str, &'static str)> {
    alloc::vec![
        (fact::CHIP, "esp32c3"),
        (fact::MODE, "station"),
        (fact::SECURITY, "open"),
        (fact::ENVIRONMENT, "shield-box"),
    ]
}

#[test]
fn a_document_of_best_seconds_stands_beside_the_best_second_and_a_rank_is_its_variant() {
    let plan = |name: &str, variant: &str| {
        format!(
            "name = \"{name}\"\n[[measure]]\nkind = \"iperf\"\nvariant = \"{variant}\"\n\
             transport = [\"tcp\", \"udp\"]\ndirection = [\"forward\", \"reverse\"]\n"
        )
    };
    let best = plan("esp32c3-best", "best-shield-box");
    let rank = plan("esp32c3-rank", "rank-default");
    let told = [best, rank].map(|it| pairs(&reported(&it, &carried_out(&it, iperf, esp32c3))));
    insta::assert_snapshot!(told.concat().join("\n"));
}

/// Rates of raw 802.11, which are computed, stand beside the document's, once for each direction.
#[test]
fn raw_802_11_is_a_cell_of_its_own() {
    let plan = "name = \"esp32c3-best\"\n[[measure]]\nkind = \"iperf\"\n\
                variant = \"best-shield-box\"\ntransport = [\"tcp\", \"udp\"]\n\
                direction = [\"forward\", \"reverse\"]\n";
    let run = RunFacts { origin: Origin::Simulated, plan_text: plan.into(), ..RunFacts::default() };
    let mut builder = crate::report::Builder::new(&run);
    let on_air = |variant: &str| {
        let mut facts = esp32c3(variant);
        facts.push((PHY_MODE.name(), "HT40-MCS7"));
        facts
    };
    carried_out(plan, iperf, on_air).into_iter().for_each(|it| builder.add(it));
    let report = builder.finish(None, 4, &crate::published::shipped());
    let raw: Vec<String> =
        pairs(&report).into_iter().filter(|it| it.contains(" 802.11 raw ")).collect();
    assert_eq!(raw.len(), 2, "{raw:?}");
    assert!(raw[0].contains("throughput_rx = 127.7 beside throughput_rx 130 Mbit/s"), "{raw:?}");
    let truth = report.truth_wifi.unwrap();
    assert_eq!(truth.rows.iter().filter(|it| it.id.transport == "802.11").count(), 2);
}

/// Runs of a second: 4000 messages in the first, 10 more in each after it.
fn runs(work: &Workload) -> Vec<Sample> {
    let Some(espbench_model::workload::IpTest::TcpRate(w)) = work.ip() else {
        panic!("another kind")
    };
    let run = |seq: u64| Interval {
        observer: Observer::Sender,
        seq,
        start: at(seq * 1000),
        end: at((seq + 1) * 1000),
        datagrams: Some(4000 + 10 * seq),
        ..Interval::default()
    };
    (0..u64::from(w.runs)).map(|seq| Sample::Interval(run(seq))).collect()
}

#[test]
fn runs_of_tcp_rate_are_told_apart_by_their_order_and_counted_over_both_places() {
    let plan = "name = \"wifi-tcp-rate\"\n[[measure]]\nkind = \"tcp-rate\"\n\
                variant = \"idf-room\"\nruns = 4\n[[measure]]\nkind = \"tcp-rate\"\n\
                variant = \"idf\"\nruns = 6\n";
    let facts = |variant: &str| {
        let room = if variant == "idf" { "2 m, no obstacle" } else { "closed room" };
        alloc::vec![
            (fact::CHIP, "esp32"),
            (fact::MODE, "station"),
            (fact::SECURITY, "open"),
            (fact::ENVIRONMENT, room),
        ]
    };
    let report = reported(plan, &carried_out(plan, runs, facts));
    insta::assert_snapshot!(pairs(&report).join("\n"));
}

#[test]
fn round_trips_of_the_sketch_are_those_of_the_document() {
    let plan = |rest: &str| {
        format!(
            "name = \"wifi-udp-echo\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 100\n\
             variant = \"arduino\"\n{rest}"
        )
    };
    let samples = |_: &Workload| {
        (0..100)
            .map(|seq| {
                let sent = at(seq * 10);
                Sample::Probe(Probe {
                    seq,
                    bytes: 100,
                    due: sent,
                    sent: Some(sent),
                    received: Some(sent + Duration::from_micros(7000 + 10 * seq)),
                    ..Probe::default()
                })
            })
            .collect()
    };
    let facts = |_: &str| {
        alloc::vec![
            (fact::CHIP, "esp32"),
            (fact::MODE, "station"),
            (fact::SECURITY, "unstated"),
            (fact::ENVIRONMENT, "home"),
        ]
    };
    let told = |text: &str| pairs(&reported(text, &carried_out(text, samples, facts)));
    let (own, other) = (plan(""), plan("interval = \"10 ms\"\n"));
    insta::assert_snapshot!(told(&own).join("\n"));
    // Another procedure is not the document's.
    assert!(told(&other).is_empty());
}

#[test]
fn charge_is_current_charge_for_a_message_and_life() {
    let plan = "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"max-modem\"\n";
    let samples = |_: &Workload| {
        let probe = |seq| Probe { seq, ..Probe::default() };
        (0..10).map(|seq| Sample::Probe(probe(seq))).collect()
    };
    let mut recorded = carried_out(plan, samples, |_| Vec::new());
    recorded[0].counters =
        [(fact::CHARGE_NC.into(), 50_000_000), (fact::TIME_NS.into(), 10_000_000_000)].into();
    let report = reported(plan, &recorded);
    let told: Vec<String> = ["current_mean", "charge_per_message", "battery_life"]
        .iter()
        .map(|metric| {
            let cell = report.cells.iter().find(|c| c.id.metric == *metric).unwrap();
            format!("{:.0} {}", cell.value.unwrap(), cell.unit)
        })
        .collect();
    // 3000 mAh of an 18650, which loses 0.8 % by itself meanwhile.
    assert_eq!(told, ["5 mA", "5000 uC", "594 h"]);
    assert!(report.losses[0].counters.contains_key(fact::CHARGE_NC));
}

/// A coin cell gives 15 mA, and a chip that sends takes more: its life is of no use.
#[test]
fn a_battery_that_cannot_give_the_pulses_is_told_before_its_life_and_once_for_all_repetitions() {
    let told = |battery: &str, repetitions: u32| {
        let plan = format!(
            "name = \"x\"\nrepetitions = {repetitions}\nbattery = \"{battery}\"\n\
             [[measure]]\nkind = \"udp-echo\"\nvariant = \"max-modem\"\n"
        );
        let samples = |_: &Workload| alloc::vec![Sample::Probe(Probe::default())];
        let one = carried_out(&plan, samples, |_| Vec::new()).remove(0);
        let counted = |state: &str, milliamperes: u64| {
            [
                (format!("{}{state}", fact::CHARGE_NC), 1000 * milliamperes),
                (format!("{}{state}", fact::TIME_NS), 1_000_000),
            ]
        };
        let counters = [counted("", 5), counted("-listen", 95), counted("-send-11n", 335)].concat();
        let all: Vec<Recorded> = (0..repetitions)
            .map(|repetition| Recorded {
                repetition,
                // Shorter pulses of a repetition are no further sentence.
                counters: counters
                    .iter()
                    .map(|(name, n)| match name.strip_suffix("-send-11n") {
                        Some(of) if of == fact::CHARGE_NC => {
                            (name.clone(), n - 1000 * u64::from(repetition))
                        }
                        _ => (name.clone(), *n),
                    })
                    .collect(),
                ..one.clone()
            })
            .collect();
        let report = reported(&plan, &all);
        let lines = report.headlines();
        lines.into_iter().filter(|it| it.contains("pulses")).collect::<Vec<_>>()
    };
    let once = told("CR2032", 1);
    assert!(
        once.len() == 1 && once[0].starts_with("CR2032 cannot give the pulses: 448 mA"),
        "{once:?}"
    );
    assert!(once[0].ends_with("or another battery."), "{once:?}");
    let thrice = told("CR2032", 3);
    assert!(
        thrice.len() == 1 && thrice[0].ends_with("battery. (in 3 of 3 repetitions)"),
        "{thrice:?}"
    );
    assert_eq!(told("18650", 1), [""; 0]);
}

#[test]
fn only_what_names_a_device_is_of_a_test_over_wifi() {
    let id = Identity { table: "udp-echo".into(), ..Identity::default() };
    let cell = |words: &str| Cell {
        settings: crate::label::read(words).unwrap(),
        ..Cell::of(Estimate::exact(1.0, 1), id.clone(), "ms", Origin::Simulated)
    };
    assert_eq!(device(&cell("binary, device arduino")), Some("arduino"));
    assert_eq!(device(&cell("binary, 8 in flight")), None);
    assert_eq!(device(&cell("")), None);
    assert_eq!(Document::of_plan("wifi-udp-echo", "udp-echo").map(|it| it.table), Some("udp-echo"));
    assert_eq!(Document::of_plan("esp32c3-rank", "tcp-rate"), None);
    assert_eq!(kind_of("esp32c3-rank"), "iperf");
}

#[test]
fn latency_stands_beside_current_in_a_table_and_a_figure() {
    let plan = "name = \"power-save\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 64\n\
                variant = [\"ps-none\", \"ps-min\", \"ps-max\"]\n";
    let step = |work: &Workload| match work.variant().unwrap().as_str() {
        "ps-none" => 0,
        "ps-min" => 1,
        _ => 3,
    };
    let samples = |work: &Workload| {
        let late = step(work);
        let probe = |seq: u64| Probe {
            seq,
            due: at(seq * 1000),
            sent: Some(at(seq * 1000)),
            received: Some(at(seq * 1000 + 3 + late * (seq % 100))),
            ..Probe::default()
        };
        (0..200).map(|seq| Sample::Probe(probe(seq))).collect()
    };
    let mut recorded = carried_out(plan, samples, |_| Vec::new());
    for it in &mut recorded {
        let milliamperes = [90, 22, 2, 1][step(&it.workload) as usize];
        let time = 200_000_000_000;
        it.counters =
            [(fact::CHARGE_NC.into(), milliamperes * time / 1_000), (fact::TIME_NS.into(), time)]
                .into();
    }
    let report = reported(plan, &recorded);
    let table = report.tables.iter().find(|it| it.id == "power").unwrap();
    let figure = report.figures.iter().find(|it| it.id == "power-figure").unwrap();
    let mut text = String::new();
    for row in &table.rows {
        let words: Vec<&str> = row.iter().map(|it| it.as_deref().unwrap_or("?")).collect();
        text += &format!("{}\n", words.join(" | "));
    }
    for series in &figure.series {
        let points: Vec<String> =
            series.points.iter().map(|it| format!("({}, {})", it.x, it.y)).collect();
        text += &format!("{}: {}\n", series.name, points.join(" "));
    }
    insta::assert_snapshot!(format!("{text}{}\n", figure.alt));
    assert!(report.sections().iter().any(|it| it.id == "power"));
}

/// Makes the report of four tests of two ranks, in which so many KB were in use at most.
fn ranks(plan: &str, peak_kb: impl Fn(&Workload) -> u64) -> Report {
    let facts = |variant: &str| {
        let mode = if variant.ends_with("iperf") { "rank-iperf" } else { "rank-default" };
        alloc::vec![
            ("chip", "esp32c3"),
            ("mode", mode),
            ("security", "off"),
            ("environment", "shield-box"),
        ]
    };
    let mut all = carried_out(plan, iperf, facts);
    for it in &mut all {
        let peak = peak_kb(&it.workload) << 10;
        let counted = [
            (fact::HEAP_STARTED, 160 << 10),
            (fact::HEAP_PEAK, peak),
            (fact::HEAP_DRIVER_PEAK, peak / 2),
            (fact::HEAP_DRIVER_BOUND, 128 << 10),
        ];
        it.counters = counted.map(|(name, bytes)| (name.to_string(), bytes)).into();
    }
    reported(plan, &all)
}

const RANKS: &str = "name = \"esp32c3-rank\"\n[[measure]]\nkind = \"iperf\"\n\
                     variant = [\"rank-iperf\", \"rank-default\"]\ntransport = [\"tcp\", \"udp\"]\n\
                     direction = [\"forward\", \"reverse\"]\ntime = \"10 s\"\n";

#[test]
fn the_least_heap_of_a_ranks_tests_is_its_available_heap() {
    let peak = |work: &Workload| match work.variant().unwrap().as_str() {
        "rank-iperf" => 90,
        _ => 30,
    };
    let report = ranks(RANKS, peak);
    let heap: Vec<String> =
        pairs(&report).into_iter().filter(|it| it.contains("available_heap")).collect();
    assert_eq!(
        heap,
        [
            "esp32c3-rank esp32c3 config rank-iperf off shield-box available_heap = 70.00 beside \
             available_heap 59 KB ()",
            "esp32c3-rank esp32c3 config rank-default off shield-box available_heap = 130.0 beside \
             available_heap 160 KB ()",
        ]
    );
    let rows = &report.truth_wifi.as_ref().unwrap().rows;
    assert_eq!(rows.iter().filter(|it| it.id.metric == "available_heap").count(), 2);
    let table = |id: &str| report.tables.iter().find(|it| it.id == id).unwrap();
    assert_eq!(table("heap").rows.len(), 8);
    let first: Vec<_> = table("heap").rows[0].iter().map(|it| it.as_deref().unwrap()).collect();
    assert_eq!(first[2..], ["160", "90", "45", "128", "70"]);
    let ranks: Vec<_> = table("heap-ranks").rows.iter().map(|row| row[..4].to_vec()).collect();
    let words = |row: &[&str]| row.iter().map(|it| Some((*it).to_string())).collect::<Vec<_>>();
    assert_eq!(ranks[0], words(&["rank-iperf", "70", "59", "1.19"]));
    assert_eq!(ranks[1], words(&["rank-default", "130", "160", "0.812"]));
}

#[test]
fn a_part_of_the_tests_has_no_available_heap() {
    let report = ranks(&RANKS.replace("[\"tcp\", \"udp\"]", "[\"udp\"]"), |_| 200);
    assert!(report.cells.iter().all(|it| it.id.metric != "available_heap"));
    let least = report.cells.iter().find(|it| it.id.metric == "free_heap_min").unwrap();
    assert_eq!(least.value, Some(0.0), "more than there was: nothing is left");
}
