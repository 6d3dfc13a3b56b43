//! Live fleets of the command against the same plans in virtual time.
//!
//! Only what devices measure on their own clocks is compared, so that a machine which falls behind the clock changes no
//! figure. Where a run fails while its fleet was behind, it is repeated; otherwise it is a failure. What the lab does by chance in
//! one run of some hundred, too, may come once, and not twice.

use super::{json, plan};
use crate::live_pty::LiveProcess;
use crate::util::TestDir;
use espbench_stats::Estimate;
use espbench_stats::interval::{difference, wilson_at};
use espbench_stats::special::student_quantile;
use serde_json::Value;
use std::collections::BTreeSet;

/// Repetitions in real time, and in virtual time.
const REAL: u32 = 2;
const VIRTUAL: u32 = 12;
/// Repetitions in virtual time of what has rare outliers.
const MANY: u32 = 100;
/// A tick of the boards, in seconds.
const TICK_S: f64 = 0.01;
/// Confidence of the intervals: one comparison in a thousand fails by chance.
const CONFIDENCE: f64 = 0.999;
/// Times that a run is tried where its fleet was behind the clock.
const TRIES: usize = 3;

/// Returns the report of a plan in virtual time.
fn in_virtual_time(bench: &TestDir, text: &str) -> Value {
    json(&simulated(bench, &format!("repetitions = {VIRTUAL}\n{text}"), "json"))
}

/// Returns what the command prints of a plan with its own repetitions in virtual time.
fn simulated(bench: &TestDir, text: &str, format: &str) -> String {
    bench.write("virtual.toml", text);
    bench.run(&["run", "virtual.toml", "--on", "sim", "--format", format]).ok()
}

/// Returns the report of a plan at the consoles of a live fleet, with that fleet's flags.
fn in_real_time(bench: &TestDir, text: &str, fleet: &[&str]) -> Value {
    json(&at_consoles(bench, &format!("repetitions = {REAL}\n{text}"), fleet, "json"))
}

/// Returns what the command prints of a plan with its own repetitions at the consoles of a live fleet.
fn at_consoles(bench: &TestDir, text: &str, fleet: &[&str], format: &str) -> String {
    bench.write("real.toml", text);
    for _ in 0..TRIES {
        let live = LiveProcess::start(bench, fleet);
        let ports: Vec<_> = (0..live.devices.len()).map(|it| live.port(it)).collect();
        let ports: Vec<_> = ports.iter().map(|it| it.to_str().unwrap()).collect();
        let on = format!("serial:{}", ports.join(","));
        let ran = bench.run(&["run", "real.toml", "--on", &on, "--format", format]);
        let end = live.interrupt();
        // A failure that a busy machine explains proves nothing either way.
        if ran.status == Some(0) || end["behind_times"] == 0 {
            return ran.ok();
        }
        eprintln!("repeated, since the fleet was behind the clock: {end}\n{}", ran.err);
    }
    panic!("the machine is too busy: {TRIES} fleets were behind the clock, and their runs failed");
}

/// Returns the only cell of that metric.
#[track_caller]
fn cell<'a>(report: &'a Value, metric: &str) -> &'a Value {
    let cells: Vec<_> =
        report["cells"].as_array().unwrap().iter().filter(|it| it["metric"] == metric).collect();
    assert_eq!(cells.len(), 1, "{metric}: {report}");
    cells[0]
}

fn value(report: &Value, metric: &str) -> f64 {
    cell(report, metric)["value"].as_f64().unwrap()
}

/// Returns whether 0 is in the interval of a difference.
fn is_none(difference: &Estimate) -> bool {
    difference.low.unwrap() <= 0.0 && difference.high.unwrap() >= 0.0
}

/// Returns whether two means agree, by MOVER. How much repetitions scatter is known from virtual time, which has
/// more of them.
fn means_agree(real: &Value, other: &Value, metric: &str) -> bool {
    let it = cell(other, metric);
    let half = (it["ci_high"].as_f64().unwrap() - it["ci_low"].as_f64().unwrap()) / 2.0;
    let (count, freedom) = (f64::from(VIRTUAL), f64::from(VIRTUAL - 1));
    let one = half * count.sqrt() / student_quantile(0.975, freedom);
    let spread = one * student_quantile(0.5 + 0.5 * CONFIDENCE, freedom);
    let mean = |value: f64, n: u32| Estimate {
        value: Some(value),
        n: n.into(),
        low: Some(value - spread / f64::from(n).sqrt()),
        high: Some(value + spread / f64::from(n).sqrt()),
    };
    is_none(&difference(&mean(value(real, metric), REAL), &mean(value(other, metric), VIRTUAL)))
}

/// Returns whether two shares agree, by Wilson's intervals.
fn shares_agree(real: (u64, u64), other: (u64, u64)) -> bool {
    let share = |(lost, all)| wilson_at(lost, all, CONFIDENCE);
    is_none(&difference(&share(real), &share(other)))
}

/// Returns the seconds of each repetition's job in a stream of events, sorted, and the report at the end of it.
fn jobs(events: &str) -> (Vec<f64>, Value) {
    let lines: Vec<Value> = events.lines().map(json).collect();
    let seconds = |it: &Value| it["end_s"].as_f64().unwrap() - it["start_s"].as_f64().unwrap();
    let mut jobs: Vec<f64> = lines.iter().filter(|it| it["total"] == true).map(seconds).collect();
    jobs.sort_by(f64::total_cmp);
    (jobs, lines.into_iter().find(|it| it["type"] == "report").unwrap())
}

/// Returns whether the median of some repetitions is within the middle 98 % of many others. A device that misses an
/// answer makes its repetition seconds longer, once in some hundred: that moves a mean, and no median.
fn is_median_among(some: &[f64], many: &[f64]) -> bool {
    let median = f64::midpoint(some[(some.len() - 1) / 2], some[some.len() / 2]);
    let edge = many.len() / 100;
    // Boards print a time in whole ticks.
    (many[edge] - TICK_S..=many[many.len() - 1 - edge] + TICK_S).contains(&median)
}

/// Returns the lost probes of a report, and all of them.
fn lost(report: &Value) -> (u64, u64) {
    let it = cell(report, "loss");
    (it["lost"].as_u64().unwrap(), it["probes"].as_u64().unwrap())
}

#[test]
fn round_trips_in_real_time_are_those_of_virtual_time() {
    let bench = TestDir::new();
    let text =
        |size: u32| plan("ping", &format!("size = {size}\ncount = 300\ncast = \"broadcast\""));
    let real = in_real_time(
        &bench,
        &text(50),
        &["--lab", "two-boards", "--app", "solution", "--distance", "0.5"],
    );
    let same = in_virtual_time(&bench, &text(50));
    let (there, here) = (lost(&real), lost(&same));
    assert_eq!((there.1, here.1), (300 * u64::from(REAL), 300 * u64::from(VIRTUAL)));
    assert!(shares_agree(there, here), "{there:?} {here:?}");
    assert!(means_agree(&real, &same, "rtt_avg"), "{real}\n{same}");
    // The shortest is of frames that met nobody, in whole milliseconds: ticks may fall on either side.
    let shortest_agree = |other| (value(&real, "rtt_min") - value(other, "rtt_min")).abs() <= 1.0;
    assert!(shortest_agree(&same));
    // What differs is found.
    assert!(!shortest_agree(&in_virtual_time(&bench, &text(230))));
    assert!(!shares_agree((there.0 + 30, there.1), here));
    // The consoles are in the store.
    let run = bench.run(&["runs", "--consoles", "boards-1"]).ok();
    assert!(run.contains("=== /dev/") && run.contains(", cell 1: "), "{run}");
    assert!(run.contains("300 packets transmitted") && run.contains("listening"));
}

#[test]
fn handing_the_key_out_takes_as_long_as_in_virtual_time() {
    let bench = TestDir::new();
    let text =
        |devices: u32| plan("handshake", &format!("devices = {devices}")).replace("0.5 m", "1 m");
    let fleet = ["--lab", "handshake", "--app", "security", "--devices", "4", "--distance", "1"];
    let many = |devices: u32| format!("repetitions = {MANY}\n{}", text(devices));
    let real = at_consoles(&bench, &format!("repetitions = 4\n{}", text(3)), &fleet, "jsonl");
    let ((real, there), (same, here)) = (jobs(&real), jobs(&simulated(&bench, &many(3), "jsonl")));
    let (more, _) = jobs(&simulated(&bench, &many(12), "jsonl"));
    assert_eq!((real.len(), same.len()), (4, MANY as usize));
    // A frame may be lost with all its copies: a device is then not served, here as there.
    let missed = |report: &Value, repetitions: u32| {
        let all = 3 * u64::from(repetitions);
        let served = value(report, "devices_served") * f64::from(repetitions);
        (all - served.round() as u64, all)
    };
    let (there, here) = (missed(&there, 4), missed(&here, MANY));
    assert!(shares_agree(there, here) && !shares_agree((6, 12), here), "{there:?} {here:?}");
    assert!(is_median_among(&real, &same), "{real:?}\n{same:?}");
    assert!(!is_median_among(&real, &more), "{real:?}\n{more:?}");
}

#[test]
fn an_image_is_sent_in_the_time_of_virtual_time() {
    let bench = TestDir::new();
    let text = |size: u32| plan("ota", &format!("size = {size}\ndevices = 2"));
    let fleet = [
        "--lab",
        "ota",
        "--app",
        "ota",
        "--image",
        "131072",
        "--devices",
        "3",
        "--distance",
        "0.5",
    ];
    let mut real = in_real_time(&bench, &text(131_072), &fleet);
    // In virtual time one device of 600 is not served: a frame is lost with all its copies.
    if value(&real, "devices_served") < 2.0 {
        real = in_real_time(&bench, &text(131_072), &fleet);
    }
    let (same, larger) =
        (in_virtual_time(&bench, &text(131_072)), in_virtual_time(&bench, &text(524_288)));
    assert_eq!(value(&real, "devices_served"), 2.0);
    assert!(means_agree(&real, &same, "ota_time"), "{real}\n{same}");
    assert!(!means_agree(&real, &larger, "ota_time"), "{real}\n{larger}");
}

#[test]
fn throughput_in_real_time_is_that_of_virtual_time() {
    let bench = TestDir::new();
    let text = |size: u32| {
        plan("throughput", &format!("size = {size}\ntime = \"5 s\"\ncast = \"unicast\""))
    };
    let fleet = ["--lab", "two-boards", "--app", "get-started", "--distance", "0.5"];
    let real = in_real_time(&bench, &text(230), &fleet);
    let (same, small) = (in_virtual_time(&bench, &text(230)), in_virtual_time(&bench, &text(50)));
    assert!(means_agree(&real, &same, "throughput"), "{real}\n{same}");
    assert!(!means_agree(&real, &small, "throughput"), "{real}\n{small}");
}

#[test]
fn a_hundred_devices_are_measured_at_a_hundred_and_one_consoles() {
    let bench = TestDir::new();
    let text = plan("multi-ping", "size = 230\ncount = 2\ncast = \"unicast\"\ndevices = 100");
    let fleet =
        ["--lab", "many-boards", "--app", "solution", "--devices", "101", "--distance", "0.5"];
    let real = json(&at_consoles(&bench, &text, &fleet, "json"));
    let (lost, all) = lost(&real);
    assert!(all == 200 && lost < 20, "{lost} of {all}");
    let samples = bench.run(&["samples", "last"]).ok();
    let mut lines = samples.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let link = head.iter().position(|it| *it == "link").unwrap();
    assert_eq!(lines.map(|line| line[link].to_owned()).collect::<BTreeSet<_>>().len(), 100);
    let consoles = bench.run(&["runs", "--consoles", "last"]).ok();
    assert_eq!(consoles.matches("=== /dev/").count(), 101);
}
