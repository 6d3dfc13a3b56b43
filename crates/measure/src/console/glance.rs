//! The answer of a log: the figures that lead, by kind of test.

use super::{Digest, SECTION, cells};
use crate::cell::Cell;
use crate::compare::Comparison;
use crate::kind::headline::Headline;
use crate::plan::Goal;
use crate::report::{GlanceGroup, GlanceMetric, GlanceRow, GlanceValue, agreement};
use crate::tune::words::count;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Figures that lead, by their importance.
const HEADLINES: [Headline; 8] = [
    Headline::new(Goal::Latency, "rtt_avg", "round trip", "mean"),
    Headline::new(Goal::Latency, "rtt_p99", "round trip", "p99"),
    Headline::new(Goal::Throughput, "throughput", "throughput", ""),
    Headline::new(Goal::Latency, "encrypt_time", "encrypt", ""),
    Headline::new(Goal::Latency, "decrypt_time", "decrypt", ""),
    Headline::new(Goal::Latency, "ota_time", "update", ""),
    Headline::new(Goal::Latency, "handshake_time", "handshake", ""),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

/// Returns the groups in the order in which the log has their first tests. `problems` is how many things the log
/// says that are no results.
pub(super) fn groups(
    digests: &[Digest<'_>],
    comparisons: &[Comparison],
    problems: usize,
) -> Vec<GlanceGroup> {
    let mut names: Vec<&str> = Vec::new();
    for digest in digests.iter().filter(|it| leading(it).next().is_some()) {
        if !names.contains(&digest.test.what()) {
            names.push(digest.test.what());
        }
    }
    let group = |name: &&str| {
        let of: Vec<&Digest<'_>> = digests.iter().filter(|it| it.test.what() == *name).collect();
        group(name, &of, comparisons, problems)
    };
    names.iter().filter_map(group).collect()
}

/// Returns the leading figures of a test.
fn leading<'a>(digest: &'a Digest<'_>) -> impl Iterator<Item = (&'static Headline, &'a Cell)> {
    HEADLINES.iter().filter_map(|it| Some((it, digest.cell(it.metric)?)))
}

fn group(
    name: &str,
    digests: &[&Digest<'_>],
    comparisons: &[Comparison],
    problems: usize,
) -> Option<GlanceGroup> {
    let is_known = |it: &&Headline| digests.iter().any(|of| of.cell(it.metric).is_some());
    let headlines: Vec<&Headline> = HEADLINES.iter().filter(is_known).collect();
    let first = headlines.first()?;
    let metric = |it: &&Headline| {
        let cell = digests.iter().find_map(|of| of.cell(it.metric))?;
        Some(GlanceMetric {
            metric: it.metric.into(),
            quantity: it.quantity.into(),
            statistic: it.statistic.into(),
            unit: cell.unit.clone(),
        })
    };
    let ours: Vec<&Cell> = digests.iter().filter_map(|it| it.cell(first.metric)).collect();
    let mut shared = match digests {
        [only] => place(only),
        _ => String::new(),
    };
    if problems > 0 {
        let problems =
            count(u32::try_from(problems).unwrap_or(u32::MAX), "problem") + " in the log";
        shared = if shared.is_empty() { problems } else { format!("{shared}; {problems}") };
    }
    Some(GlanceGroup {
        name: name.into(),
        kind: SECTION.into(),
        goal: None,
        battery: None,
        rows: digests.iter().map(|it| row(it, &headlines)).collect(),
        shared,
        axis_ms: None,
        published: agreement(&ours, comparisons),
        times_limit: None,
        metrics: headlines.iter().filter_map(metric).collect(),
    })
}

fn row(digest: &Digest<'_>, headlines: &[&Headline]) -> GlanceRow {
    GlanceRow {
        place: place(digest),
        words: Vec::new(),
        values: headlines.iter().map(|it| value(digest.cell(it.metric)?)).collect(),
        published: None,
        printed: None,
        limit: None,
        histogram: Vec::new(),
        usual_line: None,
        leads: true,
        failed: false,
    }
}

/// Returns between whom a test was, and its payload.
fn place(digest: &Digest<'_>) -> String {
    let ends = digest.test.between();
    let bytes = cells::payload(digest.test).map(|it| format!("{it} B"));
    let parts: Vec<String> =
        [Some(ends), bytes].into_iter().flatten().filter(|it| !it.is_empty()).collect();
    match parts.is_empty() {
        true => digest.test.what().to_string(),
        false => parts.join(", "),
    }
}

fn value(cell: &Cell) -> Option<GlanceValue> {
    let (ci_low, ci_high) = (cell.ci_low, cell.ci_high);
    Some(GlanceValue { value: cell.value?, ci_low, ci_high, fitted: false, of: None })
}
