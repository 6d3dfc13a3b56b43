//! A table of the document: statistics down, payloads or devices across; of each statistic what was
//! found, what was published, how they compare, and how many times the limit both are.

use super::group::DocumentTable;
use super::{published, work};
use crate::cell::{Cell, Origin};
use crate::digits;
use crate::label;
use crate::metric;
use crate::report::digest::{Digest, Material};
use crate::settings::Settings;
use crate::table::{Column, Show, Spec, Table, over_repetitions, unit_sign};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// The document's figures, in its order.
pub(super) const FIGURES: &[Spec] = &[
    ("latency_min", "MIN", Show::Value),
    ("latency_max", "MAX", Show::Value),
    ("latency_avg", "AVG", Show::Value),
    ("rtt_min", "MIN", Show::Value),
    ("rtt_max", "MAX", Show::Value),
    ("rtt_avg", "AVG", Show::Value),
    ("throughput", "throughput", Show::Value),
    ("packets_lost", "lost", Show::Value),
    ("packets_total", "total", Show::Value),
    ("encrypt_time", "encrypt", Show::Value),
    ("decrypt_time", "decrypt", Show::Value),
    ("ota_time", "time", Show::Value),
    ("handshake_time", "time", Show::Value),
    ("provisioning_time", "time", Show::Value),
    ("loss", "loss", Show::Value),
];

/// Ratio of anything to zero.
pub(super) const INFINITE: &str = "∞";

/// Marks a published value that a constant was fitted to.
const FITTED: &str = " †";

pub(super) fn table(material: &Material<'_>, group: &DocumentTable<'_>) -> Table {
    let mut columns = alloc::vec![Column::words("figure")];
    columns.extend(group.digests.iter().filter_map(|d| {
        let (name, unit) = group.column(&work(d)?);
        Some(Column::setting(&name.to_string(), unit))
    }));
    let mut rows: Vec<DocumentRow> = Vec::new();
    for &(metric, name, _) in FIGURES {
        let shown = shown(material, group, metric);
        let pairs: Vec<Option<Pair<'_>>> =
            group.digests.iter().map(|it| Pair::of(material, it, metric, shown)).collect();
        // The document has no loss of a throughput test but its counts.
        let theirs = pairs.iter().flatten().any(|p| p.theirs.is_some());
        if pairs.iter().any(Option::is_some) && (theirs || metric != "loss") {
            rows.extend(figure(material.origin, name, &pairs));
        }
    }
    let (row_origins, rows) = rows.into_iter().unzip();
    Table {
        id: group.id(),
        section: super::section(&group.work).into(),
        title: group.title(),
        columns,
        rows,
        row_origins,
        notes: notes(material, group),
        origin: None,
    }
}

/// Returns the metric that a table shows of one that a console cuts or rounds: as it is printed only beside
/// published figures that were printed so, else the exact one.
pub(crate) fn shown(
    material: &Material<'_>,
    group: &DocumentTable<'_>,
    metric: &'static str,
) -> &'static str {
    let mut printed = group.digests.iter().filter_map(|d| d.cell(metric));
    match super::exact(metric) {
        Some(exact) if !printed.any(|it| published(material, it).is_some()) => exact,
        _ => metric,
    }
}

fn notes(material: &Material<'_>, group: &DocumentTable<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut constants: Vec<&str> = Vec::new();
    let cells = group.digests.iter().flat_map(|d| &d.cells);
    for fitted in cells.filter_map(|c| published(material, c)).filter(|p| p.fitted) {
        let name = fitted.fitted_constant.as_deref().unwrap_or("a constant");
        if !constants.contains(&name) {
            constants.push(name);
        }
    }
    if !constants.is_empty() {
        notes.push(format!("† The simulator was fitted to this value: {}.", constants.join(", ")));
    }
    let mut others: Vec<&Settings> = Vec::new();
    for cell in group.digests.iter().filter_map(|d| d.cells.first()) {
        if !cell.settings.is_empty() && !others.contains(&&cell.settings) {
            others.push(&cell.settings);
        }
    }
    let others: Vec<String> = others.into_iter().filter_map(label::result).collect();
    if !others.is_empty() {
        notes.push(format!("Not as the document has it: {}.", others.join("; ")));
    }
    notes
}

/// A figure of ours, and the published one.
struct Pair<'a> {
    ours: &'a Cell,
    /// Figure without a console's rounding.
    exact: &'a Cell,
    theirs: Option<&'a Cell>,
}

impl<'a> Pair<'a> {
    /// Returns the figure that is shown of a metric.
    fn of(material: &Material<'a>, digest: &'a Digest, metric: &str, shown: &str) -> Option<Self> {
        let ours = digest.cell(shown)?;
        let exact = super::exact(metric).and_then(|it| digest.cell(it)).unwrap_or(ours);
        Some(Self { ours, exact, theirs: published(material, ours) })
    }

    fn found(&self) -> Option<String> {
        digits::value(self.ours)
    }

    fn published(&self) -> Option<String> {
        let theirs = self.theirs?;
        let mark = if theirs.fitted { FITTED } else { "" };
        digits::value(theirs).map(|value| format!("{value}{mark}"))
    }

    fn ratio(&self) -> Option<String> {
        if self.ours.counts_another_test() {
            return None;
        }
        quotient(self.ours.value?, self.theirs?.value?).map(|ratio| format!("{ratio:.2}"))
    }

    fn interval(&self) -> Option<String> {
        digits::interval(self.ours.ci_low, self.ours.ci_high)
    }

    /// Returns the limit of the published figure where it differs from ours: devices here may send
    /// at another rate.
    fn other_limit(&self) -> Option<String> {
        let limit = self.theirs?.limit?;
        (self.exact.limit != Some(limit)).then(|| digits::plain(limit))
    }

    fn ours_of_limit(&self) -> Option<String> {
        times(self.exact)
    }

    fn theirs_of_limit(&self) -> Option<String> {
        times(self.theirs?)
    }
}

/// Where a line's values come from, and its texts with its label first.
type DocumentRow = (Option<Origin>, Vec<Option<String>>);

/// The label of a line, where its values come from, and its texts.
type Line = (String, Option<Origin>, fn(&Pair<'_>) -> Option<String>);

/// Returns the lines of one statistic, without those that have no text.
fn figure(origin: Origin, name: &str, pairs: &[Option<Pair<'_>>]) -> Vec<DocumentRow> {
    let unit = pairs.iter().flatten().next().map_or("", |p| unit_sign(&p.ours.unit));
    let own = over_repetitions(name, pairs.iter().flatten().map(|p| p.ours));
    let published = Origin::Published.name();
    let lines: [Line; 8] = [
        (format!("{own} ({unit})"), Some(origin), |p| p.found()),
        (format!("{own}, 95 % interval ({unit})"), None, |p| p.interval()),
        (format!("{name}, {published} ({unit})"), Some(Origin::Published), |p| p.published()),
        (format!("{name}, ours / {published}"), None, |p| p.ratio()),
        (format!("{name}, limit ({unit})"), None, |p| p.exact.limit.map(digits::plain)),
        (format!("{name}, limit of the {published} ({unit})"), None, |p| p.other_limit()),
        (format!("{name}, times the limit"), None, |p| p.ours_of_limit()),
        (format!("{name}, {published}: times the limit"), None, |p| p.theirs_of_limit()),
    ];
    let line = |(label, origin, text): Line| {
        let texts: Vec<Option<String>> =
            pairs.iter().map(|pair| pair.as_ref().and_then(text)).collect();
        let known = texts.iter().any(Option::is_some);
        known.then(|| (origin, core::iter::once(Some(label)).chain(texts).collect()))
    };
    lines.into_iter().filter_map(line).collect()
}

pub(super) fn quotient(a: f64, b: f64) -> Option<f64> {
    (b != 0.0).then(|| a / b)
}

/// Returns how many times worse than its limit a cell is; of a rate, the limit divided by the rate.
/// Returns `None` where the work needs no frame, so that the factor would be infinite.
pub(super) fn factor(cell: &Cell) -> Option<f64> {
    let (value, limit) = (cell.value?, cell.limit?);
    let (a, b) = if metric::is_rate(&cell.unit) { (limit, value) } else { (value, limit) };
    (a > 0.0).then(|| a / b)
}

fn times(cell: &Cell) -> Option<String> {
    let text = |factor: f64| match factor {
        f64::INFINITY => INFINITE.into(),
        100.0.. => format!("{factor:.0}"),
        _ => format!("{factor:.2}"),
    };
    factor(cell).map(text)
}
