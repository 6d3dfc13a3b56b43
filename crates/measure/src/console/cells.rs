//! Result cells of a test.

use super::Test;
use crate::cell::{Cell, Identity};
use crate::kind::esp_now::summary::out::{CUT, EspNowCells};
use crate::series;
use crate::summary::SummaryContext;
use crate::summary::round_trips::ProbeCounts;
use crate::units::megabits;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::transcript::TestResult;
use esp_now::transcript::item::iperf::IperfRole;
use esp_now::transcript::session::{
    CryptoResult, HandshakeResult, IperfRun, ThroughputResult, UpdateResult,
};
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::Duration;
use espbench_stats::Estimate;

/// Returns the cells of test number `number`.
pub(super) fn of(test: &Test, number: u64, context: &SummaryContext<'_>) -> Vec<Cell> {
    let site = context.site;
    let id = Identity {
        chip: site.chip.clone(),
        transport: "esp-now".into(),
        mode: test.mode.clone().unwrap_or_else(|| site.mode.clone()),
        devices: Some(1),
        distance_m: site.distance_m,
        security: site.security.clone(),
        environment: site.environment.clone(),
        ..Identity::default()
    };
    let mut out = EspNowCells::new(context, id);
    let seed = context.seed_of(number);
    match &test.finding {
        TestResult::Ping(_) => out.ping(test, seed),
        TestResult::Throughput(result) => {
            out.throughput(test);
            out.counts(result);
        }
        TestResult::Unfinished(unfinished) => match unfinished.run {
            Some(IperfRun::Ping) => out.ping(test, seed),
            Some(IperfRun::Sending | IperfRun::Receiving) => out.throughput(test),
            None => {}
        },
        TestResult::Crypto(result) => out.crypto(result),
        TestResult::Update(result) => out.update(result),
        TestResult::Handshake(result) => out.handshake(result),
    }
    out.cells
}

/// Returns the payload of a test in bytes, from its result, its samples or its start-up lines.
pub(super) fn payload(test: &Test) -> Option<u32> {
    let told = match &test.finding {
        TestResult::Ping(result) => result.len,
        TestResult::Throughput(result) => result.len,
        TestResult::Crypto(result) => Some(result.bytes),
        _ => None,
    };
    let sample = |s: &Sample| match s {
        // A ping that was not answered tells no length.
        Sample::Probe(probe) => Some(probe.bytes).filter(|&bytes| bytes > 0),
        Sample::Interval(_) => None,
    };
    told.or_else(|| test.samples.iter().find_map(sample))
}

impl EspNowCells<'_> {
    fn ping(&mut self, test: &Test, seed: u64) {
        (self.id.table, self.id.payload_bytes) = ("round-trip".into(), payload(test));
        let tally = ProbeCounts::of(&test.samples);
        let times = series::round_trips(&test.samples);
        self.extremes("rtt", &times, seed, Some(CUT));
        self.quantiles("rtt", &times, Some(CUT));
        self.loss(tally.lost, tally.probes, Some("late answers are not lost"));
        self.exact("probes_late", "probes", tally.late as f64, tally.probes);
    }

    fn throughput(&mut self, test: &Test) {
        (self.id.table, self.id.payload_bytes) = ("throughput".into(), payload(test));
        let (metric, what) = match observer(test) {
            Observer::Receiver => ("throughput", "payload received"),
            Observer::Sender | Observer::Peer => {
                ("throughput_sent", "payload handed to the network")
            }
        };
        let (rate, from) = match rate(test) {
            Some((rate, true)) => (rate, "over the whole test"),
            Some((rate, false)) => {
                (rate, "over the periodic lines, for want of a total that holds")
            }
            None => (Estimate::default(), "which the lines do not tell"),
        };
        let note = format!("{what}, {from}; bytes are printed in steps of 10,000");
        self.push(metric, "Mbit/s", rate, Some(&note));
    }

    /// Counts of a final report, put right.
    fn counts(&mut self, result: &ThroughputResult) {
        let (Some(lost), Some(total)) = (result.lost, result.total) else { return };
        let printed = result.printed;
        let note = format!(
            "printed {}/{}; both ends count one loss too many{}",
            printed.lost,
            printed.total,
            if printed.total.unsigned_abs() == total { "" } else { ", the responder STOP, too" }
        );
        self.packets(lost, total, &note);
        self.loss(lost, total, Some(&note));
    }

    fn crypto(&mut self, result: &CryptoResult) {
        self.named("crypto-time", "cpu");
        self.id.payload_bytes = Some(result.bytes);
        let metric = if result.encrypting { "encrypt_time" } else { "decrypt_time" };
        self.told(metric, "us", result.us as f64, "the device's own mean, cut to whole µs");
        // Of how many messages, the line does not say.
        self.cells.iter_mut().for_each(|cell| cell.n = None);
    }

    fn update(&mut self, result: &UpdateResult) {
        self.named("ota", "ota");
        self.id.devices = Some(result.successed);
        let Some(seconds) = result.seconds else { return };
        let bytes = result.bytes.map_or_else(String::new, |n| format!("image {n} bytes; "));
        let note =
            format!("{bytes}{} unfinished; printed in whole seconds, cut", result.unfinished);
        self.told("ota_time", "s", f64::from(seconds), &note);
    }

    fn handshake(&mut self, result: &HandshakeResult) {
        self.named("handshake", "security-handshake");
        self.id.devices = Some(result.successed);
        let Some(ms) = result.ms else { return };
        let scan = result.scan_ms.map_or_else(String::new, |ms| format!("; {ms} ms of scanning"));
        let note = format!("{} unfinished{scan}", result.unfinished);
        self.told("handshake_time", "s", f64::from(ms) / 1000.0, &note);
    }

    fn named(&mut self, table: &str, mode: &str) {
        (self.id.table, self.id.mode) = (table.into(), mode.into());
    }

    /// Adds a figure that the device printed.
    fn told(&mut self, metric: &str, unit: &str, value: f64, note: &str) {
        self.push(metric, unit, Estimate::exact(value, 1), Some(note));
    }
}

/// Returns which end of a throughput test printed its figures.
pub(super) fn observer(test: &Test) -> Observer {
    let received = match &test.finding {
        TestResult::Throughput(result) => result.printed.role == IperfRole::Responder,
        TestResult::Unfinished(unfinished) => unfinished.run == Some(IperfRun::Receiving),
        _ => false,
    };
    if received { Observer::Receiver } else { Observer::Sender }
}

fn intervals(test: &Test) -> impl Iterator<Item = &Interval> {
    test.samples.iter().filter_map(|sample| match sample {
        Sample::Interval(interval) => Some(interval),
        Sample::Probe(_) => None,
    })
}

/// Returns bytes and time of the test, and whether they are those of its total; without a total
/// they are summed over its periodic lines.
pub(super) fn amount(test: &Test) -> Option<(u64, Duration, bool)> {
    if let Some(total) = intervals(test).find(|i| i.total) {
        return Some((total.bytes, series::span(total), true));
    }
    // A log may tell any figures: no sum of them overflows.
    intervals(test)
        .map(|i| (i.bytes, series::span(i)))
        .reduce(|a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
        .map(|(bytes, span)| (bytes, span, false))
}

/// Returns the rate in Mbit/s, and whether it is that of the total.
fn rate(test: &Test) -> Option<(Estimate, bool)> {
    let (bytes, span, total) = amount(test)?;
    let lines = intervals(test).filter(|i| !i.total).count() as u64;
    let value = megabits(bytes, span);
    Some((Estimate { value, n: lines.max(1), low: None, high: None }, total))
}
