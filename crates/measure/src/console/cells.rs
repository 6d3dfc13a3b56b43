//! Result cells of a test.

use super::Test;
use crate::bootstrap;
use crate::cell::{Cell, Estimate};
use crate::interval::wilson;
use crate::quantile::Sorted;
use crate::series;
use crate::summary::iperf::megabits;
use crate::summary::udp_echo::Tally;
use crate::summary::{Context, Place};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_proto::node::esp_now::transcript::Finding;
use espbench_proto::node::esp_now::transcript::item::iperf::Role;
use espbench_proto::node::esp_now::transcript::session::{
    CryptoResult, HandshakeResult, Run, ThroughputResult, UpdateResult,
};
use espbench_proto::sample::{Interval, Observer, Sample};
use espbench_proto::time::Duration;

/// The quantiles of round trips.
const QUANTILES: [(&str, f64); 3] = [("rtt_p50", 0.5), ("rtt_p90", 0.9), ("rtt_p99", 0.99)];

/// The cells of test number `number`.
pub(super) fn of(test: &Test, number: u64, context: &Context<'_>) -> Vec<Cell> {
    let mut out = Out {
        context,
        table: "",
        mode: test.mode.as_deref(),
        bytes: None,
        devices: 1,
        cells: Vec::new(),
    };
    match &test.finding {
        Finding::Ping(_) => out.ping(test, number),
        Finding::Throughput(result) => {
            out.throughput(test);
            out.counts(result);
        }
        Finding::Unfinished(unfinished) => match unfinished.run {
            Some(Run::Ping) => out.ping(test, number),
            Some(Run::Sending | Run::Receiving) => out.throughput(test),
            None => {}
        },
        Finding::Crypto(result) => out.crypto(result),
        Finding::Update(result) => out.update(result),
        Finding::Handshake(result) => out.handshake(result),
    }
    out.cells
}

/// The payload of a test, from its samples or its start-up lines.
pub(super) fn payload(test: &Test) -> Option<u32> {
    let told = match &test.finding {
        Finding::Ping(result) => result.len,
        Finding::Throughput(result) => result.len,
        Finding::Crypto(result) => Some(result.bytes),
        _ => None,
    };
    let sample = |s: &Sample| match s {
        // A ping that was not answered tells no length.
        Sample::Probe(probe) => Some(probe.bytes).filter(|&bytes| bytes > 0),
        Sample::Interval(_) => None,
    };
    told.or_else(|| test.samples.iter().find_map(sample))
}

/// The cells as they are made.
struct Out<'a> {
    context: &'a Context<'a>,
    table: &'static str,
    /// Where the test tells it.
    mode: Option<&'a str>,
    bytes: Option<u32>,
    devices: u32,
    cells: Vec<Cell>,
}

impl Out<'_> {
    fn push(&mut self, metric: &str, unit: &str, estimate: Estimate, note: Option<&str>) {
        let place = Place {
            table: self.table,
            transport: "esp-now",
            payload_bytes: self.bytes,
            devices: self.devices,
            variant: None,
        };
        let mut cell = self.context.cell(&place, metric, unit, estimate);
        cell.note = note.map(ToString::to_string);
        if let Some(mode) = self.mode {
            cell.id.mode = mode.into();
        }
        self.cells.push(cell);
    }

    fn ping(&mut self, test: &Test, number: u64) {
        self.table = "round-trip";
        self.bytes = payload(test);
        let tally = Tally::of(&test.samples);
        let times = series::round_trips(&test.samples);
        let sorted = Sorted::new(times.clone());
        let note = Some("printed in whole milliseconds, cut: the true value is up to 1 ms more");
        self.push("rtt_avg", "ms", bootstrap::mean(&times, self.context.seed_of(number)), note);
        self.push("rtt_max", "ms", sorted.max(), note);
        self.push("rtt_min", "ms", sorted.min(), note);
        for (metric, q) in QUANTILES {
            self.push(metric, "ms", sorted.quantile(q), note);
        }
        let lost = wilson(tally.lost, tally.probes).scaled(100.0);
        self.push("loss", "percent", lost, Some("late answers are not lost"));
        let late = Estimate::exact(tally.late as f64, tally.probes);
        self.push("probes_late", "probes", late, None);
    }

    fn throughput(&mut self, test: &Test) {
        self.table = "throughput";
        self.bytes = payload(test);
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
        self.push("packets_lost", "packets", Estimate::exact(lost as f64, total), Some(&note));
        self.push("packets_total", "packets", Estimate::exact(total as f64, total), Some(&note));
        self.push("loss", "percent", wilson(lost, total).scaled(100.0), Some(&note));
    }

    fn crypto(&mut self, result: &CryptoResult) {
        (self.table, self.mode, self.bytes) = ("crypto-time", Some("cpu"), Some(result.bytes));
        let metric = if result.encrypting { "encrypt_time" } else { "decrypt_time" };
        self.told(metric, "us", result.us as f64, "the device's own mean, cut to whole µs");
        // Of how many messages, the line does not say.
        self.cells.iter_mut().for_each(|cell| cell.n = None);
    }

    fn update(&mut self, result: &UpdateResult) {
        (self.table, self.mode) = ("ota", Some("ota"));
        self.devices = result.successed;
        let Some(seconds) = result.seconds else { return };
        let bytes = result.bytes.map_or_else(String::new, |n| format!("image {n} bytes; "));
        let note =
            format!("{bytes}{} unfinished; printed in whole seconds, cut", result.unfinished);
        self.told("ota_time", "s", f64::from(seconds), &note);
    }

    fn handshake(&mut self, result: &HandshakeResult) {
        (self.table, self.mode) = ("handshake", Some("security-handshake"));
        self.devices = result.successed;
        let Some(ms) = result.ms else { return };
        let scan = result.scan_ms.map_or_else(String::new, |ms| format!("; {ms} ms of scanning"));
        let note = format!("{} unfinished{scan}", result.unfinished);
        self.told("handshake_time", "s", f64::from(ms) / 1000.0, &note);
    }

    /// A figure as the device told it.
    fn told(&mut self, metric: &str, unit: &str, value: f64, note: &str) {
        self.push(metric, unit, Estimate::exact(value, 1), Some(note));
    }
}

/// Which end told of a throughput test.
pub(super) fn observer(test: &Test) -> Observer {
    let received = match &test.finding {
        Finding::Throughput(result) => result.printed.role == Role::Responder,
        Finding::Unfinished(unfinished) => unfinished.run == Some(Run::Receiving),
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

/// Bytes and time of the test: of its total, or of its periodic lines; and which of the two.
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

/// Mbit/s, and whether of the total.
fn rate(test: &Test) -> Option<(Estimate, bool)> {
    let (bytes, span, total) = amount(test)?;
    let lines = intervals(test).filter(|i| !i.total).count() as u64;
    let value = megabits(bytes, span);
    Some((Estimate { value, n: lines.max(1), low: None, high: None }, total))
}
