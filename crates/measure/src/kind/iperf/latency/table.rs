//! Latency of the idle link against that under load.

use crate::digits;
use crate::kind::iperf::KIND;
use crate::report::digest::{Digest, Material};
use crate::table::Show::{Interval, Value};
use crate::table::{Lead, Spec, Table, TableFrame, of_metrics};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Columns of the table.
pub(crate) const LATENCY: &[Spec] = &[
    ("rtt_idle_p50", "idle p50", Value),
    ("rtt_idle_p50", "idle p50 95 % interval", Interval),
    ("rtt_loaded_p50", "loaded p50", Value),
    ("rtt_loaded_p50", "loaded p50 95 % interval", Interval),
    ("rtt_added_p50", "added p50", Value),
    ("rtt_added_p50", "added p50 95 % interval", Interval),
    ("rtt_idle_p95", "idle p95", Value),
    ("rtt_idle_p95", "idle p95 95 % interval", Interval),
    ("rtt_loaded_p95", "loaded p95", Value),
    ("rtt_loaded_p95", "loaded p95 95 % interval", Interval),
    ("rtt_added_p95", "added p95", Value),
    ("rtt_added_p95", "added p95 95 % interval", Interval),
    ("rtt_idle_p99", "idle p99", Value),
    ("rtt_idle_p99", "idle p99 95 % interval", Interval),
    ("rtt_loaded_p99", "loaded p99", Value),
    ("rtt_loaded_p99", "loaded p99 95 % interval", Interval),
    ("rtt_added_p99", "added p99", Value),
    ("rtt_added_p99", "added p99 95 % interval", Interval),
    ("loss_idle", "idle loss", Value),
    ("loss_idle", "idle loss 95 % interval", Interval),
    ("loss_loaded", "loaded loss", Value),
    ("loss_loaded", "loaded loss 95 % interval", Interval),
];

const FRAME: TableFrame<'_> = TableFrame {
    id: "iperf-latency",
    section: KIND,
    title: "iperf: latency of the idle link and under load",
    notes: &[
        "Round trips of echo probes to the server's host, before the streams begin and beside them. The \
         interval of a difference is at 95 %.",
        digits::ONE_END,
    ],
};

/// Returns the table, with a sentence on each test; `None` where nothing was probed.
pub(crate) fn table(material: &Material<'_>, digests: &[&Digest], leads: &[Lead]) -> Option<Table> {
    let probed: Vec<&Digest> =
        digests.iter().filter(|d| d.cell("rtt_loaded_p50").is_some()).copied().collect();
    let mut table = of_metrics(&FRAME, material, &probed, leads, LATENCY)?;
    table.notes.extend(probed.iter().filter_map(|d| sentence(d)));
    Some(table)
}

/// Returns a sentence such as `TCP to the device: loaded p50 is 48 ms (45–51) above idle: the load adds
/// latency.`
fn sentence(digest: &Digest) -> Option<String> {
    let added = digest.cell("rtt_added_p50")?;
    let verdict = added.note.as_deref()?;
    let place = digest.place();
    let Some(value) = added.value else { return Some(format!("{place}: {verdict}.")) };
    let unsigned = |v: Option<f64>| v.map(f64::abs);
    let below = value < 0.0;
    let (low, high) = (added.ci_low, added.ci_high);
    let (low, high) = if below { (unsigned(high), unsigned(low)) } else { (low, high) };
    let interval = digits::interval(low, high).map_or_else(String::new, |it| format!(" ({it})"));
    let by = digits::worth(value.abs(), low, high);
    let side = if below { "below" } else { "above" };
    Some(format!("{place}: loaded p50 is {by} ms{interval} {side} idle: {verdict}."))
}
