//! The parts of a report that are not results, as tables: facts of the run, advice, failures,
//! thresholds, losses, the tool's own cost.

use super::{Column, Table, TableRow, unit_sign};
use crate::digits;
use crate::report::{CellFailure, Check, Losses, Overhead, Report};
use crate::run::RunFacts;
use crate::warning::Warning;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::discriminant;
use espbench_model::text::count;
use espbench_stats::interval::wilson;

fn table(id: &str, section: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    Table {
        id: id.into(),
        section: section.into(),
        title: title.into(),
        columns,
        rows,
        ..Table::default()
    }
}

fn pair(name: &str, value: &str) -> TableRow {
    alloc::vec![Some(name.to_string()), (!value.is_empty()).then(|| value.to_string())]
}

/// Returns the table of the run's facts.
#[must_use]
pub fn facts(report: &Report) -> Table {
    let RunFacts { name, tool, started, target, origin, seed, plan_name, site, host, .. } =
        &report.run;
    let mut rows = alloc::vec![
        pair("run", name),
        pair("origin", origin.name()),
        pair("target", target),
        pair("plan", plan_name),
        pair("seed", &digits::count(*seed)),
        pair("started (UTC)", started),
        pair("espbench", tool),
    ];
    let device = [("device", &site.chip), ("attached as", &site.mode)];
    rows.extend(device.iter().filter(|it| !it.1.is_empty()).map(|(name, value)| pair(name, value)));
    let distance = site.distance_m.map(|d| format!("{d} m"));
    let optional = [
        ("distance", &distance),
        ("security", &site.security),
        ("environment", &site.environment),
        ("raw samples in", &report.stored),
    ];
    for (name, value) in optional {
        rows.extend(value.as_deref().map(|value| pair(name, value)));
    }
    rows.extend(host.iter().map(|(name, value)| pair(name, value)));
    table("run", "run", "The run", ["fact", "value"].map(Column::words).into(), rows)
}

/// Returns the table of advice; `None` where there is none. One kind of advice about many cells of
/// a kind is one piece of advice, with the figures of the worst cell.
#[must_use]
pub fn warnings(report: &Report) -> Option<Table> {
    let mut groups: Vec<Vec<&Warning>> = Vec::new();
    for warning in &report.warnings {
        let same = |g: &&mut Vec<&Warning>| {
            discriminant(&g[0].advice) == discriminant(&warning.advice)
                && g[0].workload == warning.workload
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(warning),
            None => groups.push(alloc::vec![warning]),
        }
    }
    (!groups.is_empty()).then(|| {
        let columns = ["cell", "what to know"].map(Column::words).into();
        let rows = groups.iter().map(|g| advice(g)).collect();
        table("warnings", "warnings", "Warnings", columns, rows)
    })
}

fn advice(group: &[&Warning]) -> TableRow {
    let shown = Warning::worst(group);
    let text = shown.advice.text();
    let differ = group.iter().any(|w| w.advice.text() != text);
    let mut places: Vec<&str> = group.iter().map(|w| w.place.as_str()).collect();
    places.dedup();
    let place = match places.as_slice() {
        [first, .., last] => format!("{} cells: {first} to {last}", places.len()),
        _ => shown.place.clone(),
    };
    let text = if differ { format!("{text} (Figures of {}.)", shown.place) } else { text };
    alloc::vec![Some(place), Some(text)]
}

/// Returns the table of cells that failed; `None` where none did.
#[must_use]
pub fn failures(report: &Report) -> Option<Table> {
    let row = |f: &CellFailure| alloc::vec![Some(f.place.clone()), Some(f.error.clone())];
    (!report.failures.is_empty()).then(|| {
        let columns = ["cell", "why"].map(Column::words).into();
        let rows = report.failures.iter().map(row).collect();
        table("failures", "warnings", "Cells that failed", columns, rows)
    })
}

/// Thresholds and what became of them; `None` where the plan has none.
#[must_use]
pub fn checks(report: &Report) -> Option<Table> {
    let row = |c: &Check| {
        let value = c.value.map(|v| format!("{} {}", digits::plain(v), unit_sign(&c.unit)));
        let outcome = if c.passed { "held" } else { "FAILED" };
        alloc::vec![
            Some(outcome.to_string()),
            Some(c.threshold.clone()),
            Some(c.place.clone()),
            value,
        ]
    };
    (!report.checks.is_empty()).then(|| {
        let mut columns: Vec<Column> = ["outcome", "threshold", "cell"].map(Column::words).into();
        columns.push(Column::result("value", "", report.run.origin));
        let rows = report.checks.iter().map(row).collect();
        table("checks", "warnings", "Thresholds", columns, rows)
    })
}

/// Returns the table of cells that lost something; `None` where all is clean.
#[must_use]
pub fn losses(report: &Report) -> Option<Table> {
    let told = |l: &&Losses| !l.is_clean();
    let row = |l: &Losses| {
        let share = digits::estimate(&wilson(l.lost(), l.probes).scaled(100.0));
        alloc::vec![
            Some(l.place.clone()),
            Some(digits::count(l.probes)),
            Some(digits::count(l.lost())),
            share,
            listed(&l.causes),
            listed(&l.others),
        ]
    };
    let rows: Vec<TableRow> = report.losses.iter().filter(told).map(row).collect();
    let origin = report.run.origin;
    (!rows.is_empty()).then(|| {
        let columns = alloc::vec![
            Column::words("cell"),
            Column::setting("probes", ""),
            Column::result("lost", "", origin),
            Column::result("lost", "percent", origin),
            Column::words("causes"),
            Column::words("not lost, not as sent"),
        ];
        let mut table = table("losses", "losses", "Losses", columns, rows);
        let clean = report.losses.len() - table.rows.len();
        if clean > 0 {
            table.notes.push(format!("{} lost nothing.", count(clean, "other cell")));
        }
        table
    })
}

/// Meaning of a lab's counters, which are of frames; causes of loss are of probes.
const COUNTED: &str = "Counters of the lab are of frames, summed over devices and repetitions, and \
    causes of loss are of probes: `frames-sent` with `retries`, each attempt; `acknowledged` and \
    `given-up`, how unicasts ended (given up is the cause retry-limit); `received`, read by a device, \
    `duplicates` among them; `collided` and `noise`, heard by a device and not read (the causes \
    collision and noise; a frame counts for each that heard it, strangers' too); `refused`, no buffer \
    to send (no-buffers); `receive-drops` and `queue-drops`, read and dropped before the application \
    (receive-queue).";

/// Returns the table of the targets' counters: drops, stalls, overflows; `None` where nothing was
/// counted.
#[must_use]
pub fn counters(report: &Report) -> Option<Table> {
    let row = |l: &Losses| Some(alloc::vec![Some(l.place.clone()), Some(listed(&l.counters)?)]);
    let rows: Vec<TableRow> = report.losses.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| {
        let columns = ["cell", "counted"].map(Column::words).into();
        let mut table = table("counters", "losses", "Counters of the target", columns, rows);
        if report.run.origin == crate::cell::Origin::Simulated {
            table.notes.push(COUNTED.into());
        }
        table
    })
}

fn listed(counts: &BTreeMap<String, u64>) -> Option<String> {
    let words: Vec<String> =
        counts.iter().filter(|(_, n)| **n > 0).map(|(name, n)| format!("{name} {n}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns the table of the tool's own cost; `None` where it was not measured.
#[must_use]
pub fn overhead(overhead: Option<&Overhead>) -> Option<Table> {
    let o = overhead?;
    let row = |name: &str, value: Option<f64>, unit: &str| {
        alloc::vec![Some(name.to_string()), value.map(|v| format!("{} {unit}", digits::plain(v)))]
    };
    let rows = alloc::vec![
        row("smallest step of the clock seen", Some(o.clock_step_ns as f64), "ns"),
        row("cost of reading the clock", Some(o.clock_read_ns), "ns"),
        row("round trip over loopback, median", o.rtt_p50_us, "µs"),
        row("round trip over loopback, p99", o.rtt_p99_us, "µs"),
        row("kernel's timestamp to application, median", o.wake_p50_us, "µs"),
    ];
    let columns = ["what", "cost"].map(Column::words).into();
    let mut table = table("overhead", "run", "The tool's own cost on this host", columns, rows);
    table.notes.push(format!(
        "Measured before the run against the tool's own responder over loopback; {} round trips. \
         Results near these figures say more about this host than about the link.",
        o.n
    ));
    Some(table)
}
