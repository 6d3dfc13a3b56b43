//! Which cells stand side by side.

use crate::bounds;
use crate::cell::{Cell, Identity, Origin, TestFacts};
use crate::kind::{self, TestKind};
use crate::metric::{self, Better, Statistic};
use crate::units::Dimension;
use crate::wifi;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use espbench_stats::Estimate;
use espbench_stats::interval::{self, Z95, mean_t, wilson, wilson_share};

/// Two cells to be compared.
pub(super) struct CellPair {
    pub(super) ours: Cell,
    pub(super) other: Cell,
    /// True where both cells are means over repetitions.
    pub(super) pooled: bool,
}

/// Returns the pairs, in the order of `ours`, then of `others`.
pub(super) fn pairs(ours: &[Cell], others: &[Cell]) -> Vec<CellPair> {
    let (published, runs): (Vec<&Cell>, Vec<&Cell>) =
        others.iter().partition(|c| c.origin == Origin::Published);
    let single = |a: &Cell, b: &Cell| CellPair { ours: a.clone(), other: b.clone(), pooled: false };
    let mut pairs = Vec::new();
    for (position, cell) in ours.iter().enumerate() {
        let repetition = ours[..position].iter().filter(|c| same_cell(c, cell)).count();
        let mut theirs = with_runs(cell, &runs);
        if printed(cell, &mut ours.iter()) {
            theirs.retain(|it| !printed(it, &mut runs.iter().copied()));
        }
        // Pooled pairs stand for all repetitions, in the place of the first.
        match pooled(cell, ours, &theirs) {
            Some(pair) if repetition == 0 => pairs.push(pair),
            Some(_) => {}
            None => pairs.extend(theirs.get(repetition).map(|other| single(cell, other))),
        }
        if let Some(own) = wifi::same(cell, repetition, &published) {
            pairs.extend(own.map(|other| single(cell, other)));
            continue;
        }
        pairs.extend(with_published(cell, &published).into_iter().map(|other| single(cell, other)));
    }
    pairs
}

/// Returns whether a simulated figure is one that a console cuts or rounds, and the exact one stands beside it: only
/// against published ones, which were printed so, is it compared. A board's are all as its console prints them.
fn printed(cell: &Cell, all: &mut dyn Iterator<Item = &Cell>) -> bool {
    cell.origin == Origin::Simulated && kind::exact_beside(cell, all).is_some()
}

/// Returns the pair of means, where both sides have repetitions.
fn pooled(cell: &Cell, ours: &[Cell], theirs: &[&Cell]) -> Option<CellPair> {
    if theirs.len() < 2 {
        return None;
    }
    let ours: Vec<&Cell> = ours.iter().filter(|c| same_cell(c, cell)).collect();
    Some(CellPair { ours: pool(&ours)?, other: pool(theirs)?, pooled: true })
}

/// Returns the mean of repetitions, with Student's t interval of their values: the scatter from one
/// repetition to the next, which the interval of a single one does not hold (Kalibera and Jones
/// 2013, "Rigorous benchmarking in reasonable time"). Shares of what was counted, such as losses, are those of
/// all repetitions together, with Wilson's interval: wider where the repetitions differ by more than chance. `None` for fewer than two values.
pub(crate) fn pool(repetitions: &[&Cell]) -> Option<Cell> {
    let values: Vec<f64> = repetitions.iter().filter_map(|c| c.value).collect();
    let first = repetitions.first()?;
    if values.len() < 2 || repetitions.iter().any(|c| c.unit != first.unit) {
        return None;
    }
    let all = share(repetitions);
    let note = match all {
        Some(_) => format!("of {} repetitions together", values.len()),
        None => {
            // It is none over all of them: the mean is what two runs can be held against each other by.
            let of = match metric::parse(&first.id.metric).1 {
                Statistic::Max => "the largest of each of ",
                Statistic::Min => "the smallest of each of ",
                _ => "",
            };
            let n = values.len();
            format!("mean of {of}{n} repetitions, with the interval of their scatter")
        }
    };
    let mean = all.unwrap_or_else(|| scatter(&values, repetitions));
    let mut cell = Cell {
        test: facts_of_all(repetitions),
        value: mean.value,
        n: Some(mean.n),
        ci_low: mean.low,
        ci_high: mean.high,
        note: Some(note),
        ..(*first).clone()
    };
    bounds::limit(&mut cell, repetitions.iter().filter_map(|it| it.n).max());
    Some(cell)
}

/// Returns the facts of the test of all repetitions.
pub(crate) fn facts_of_all(repetitions: &[&Cell]) -> TestFacts {
    let first = repetitions.first().map(|it| it.test.clone()).unwrap_or_default();
    TestFacts {
        repetition: None,
        repetitions: u32::try_from(repetitions.len()).ok(),
        probes: None,
        lost: None,
        ..first
    }
}

/// A share of what was counted in a repetition.
struct CountedShare {
    hits: u64,
    all: u64,
    /// Number of independent observations whose Wilson interval is as wide as the repetition's own: fewer than all
    /// where observations come in groups, such as the pings of a device.
    independent: f64,
}

impl CountedShare {
    /// Returns what was counted for a cell; `None` of a figure that is no such share.
    fn of(cell: &Cell) -> Option<Self> {
        let (_, part) = Dimension::of(&cell.unit).filter(|it| it.0 == Dimension::Proportion)?;
        let all = cell.n.filter(|n| *n > 0)?;
        let counted = cell.value? * part * all as f64;
        let hits = libm::round(counted);
        if (counted - hits).abs() > 1e-6 * all as f64 || hits < 0.0 {
            return None;
        }
        let width = |it: Option<f64>, low: Option<f64>| Some(it? - low?);
        let plain = wilson(hits as u64, all);
        let narrower = width(plain.high, plain.low)
            .zip(width(cell.ci_high, cell.ci_low))
            .map_or(1.0, |(plain, own)| plain / (own * part));
        // Of rounding alone an interval is no wider.
        let is_wider = narrower.is_finite() && narrower < 1.0 - 1e-6;
        let share = if is_wider { narrower * narrower } else { 1.0 };
        Some(Self { hits: hits as u64, all, independent: share * all as f64 })
    }
}

/// Returns the share of what was counted in all repetitions together; `None` of figures that are no such share.
///
/// Student's interval of the repetitions' shares is narrower for one loss in all than for none, and of two repetitions it
/// says nothing. Repetitions that differ by more than chance (the chi-squared test of homogeneity at 10 %, Pearson 1900, with
/// the quantile of Wilson and Hilferty 1931) count as fewer observations: by how far they are beyond it. The interval of
/// few repetitions that differ so is still too narrow, since their scatter is known no better than by their number.
fn share(repetitions: &[&Cell]) -> Option<Estimate> {
    let counted: Option<Vec<CountedShare>> =
        repetitions.iter().map(|it| CountedShare::of(it)).collect();
    let counted = counted?;
    let (_, part) = Dimension::of(&repetitions.first()?.unit)?;
    let hits: u64 = counted.iter().map(|it| it.hits).sum();
    let all: u64 = counted.iter().map(|it| it.all).sum();
    let share = hits as f64 / all as f64;
    let off = |it: &CountedShare| {
        let difference = it.hits as f64 / it.all as f64 - share;
        it.independent * difference * difference
    };
    let chi_squared = counted.iter().map(off).sum::<f64>() / (share * (1.0 - share));
    let freedom = (counted.len() - 1) as f64;
    let narrow = 2.0 / (9.0 * freedom);
    let root = 1.0 - narrow + 1.281_551_566 * libm::sqrt(narrow);
    // Where nothing is lost there is no chi-squared.
    let dispersion = (chi_squared / (freedom * root * root * root)).max(1.0);
    let independent = counted.iter().map(|it| it.independent).sum::<f64>() / dispersion;
    let estimate = Estimate { n: all, ..wilson_share(share, independent, Z95) };
    Some(estimate.scaled(1.0 / part))
}

/// Returns the figures of runs among `others` that decide something and that nothing of `ours` stands beside: what a gate
/// would miss without a word.
#[must_use]
pub fn vanished<'a>(ours: &[Cell], others: &'a [Cell]) -> Vec<&'a Cell> {
    let decides = |it: &&Cell| {
        it.origin != Origin::Published
            && it.value.is_some()
            && metric::better(&it.id.metric, &it.unit) != Better::Neither
    };
    let all: Vec<&Cell> = others.iter().filter(decides).collect();
    let mut left = all.clone();
    for cell in ours.iter().filter(|it| it.value.is_some()) {
        let found = with_runs(cell, &all);
        left.retain(|it| !found.iter().any(|other| core::ptr::eq(*it, *other)));
    }
    left
}

/// Returns the mean of values with the interval of their scatter.
fn scatter(values: &[f64], repetitions: &[&Cell]) -> Estimate {
    let mut mean = mean_t(values);
    if mean.low == mean.high {
        // Values that are all alike are still only as sure as each is.
        let end = |of: fn(&Cell) -> Option<f64>| {
            let ends: Option<Vec<f64>> = repetitions.iter().map(|c| of(c)).collect();
            interval::mean(&ends?)
        };
        (mean.low, mean.high) = (end(|c| c.ci_low), end(|c| c.ci_high));
    }
    mean
}

/// Returns each figure once: where there are repetitions of a test, their mean with the interval of their
/// scatter, in the place of the first.
#[must_use]
pub fn pool_all(cells: &[Cell]) -> Vec<Cell> {
    groups(cells)
        .iter()
        .filter_map(|group| pool(group).or_else(|| Some((*group.first()?).clone())))
        .collect()
}

/// Returns the repetitions of each figure, in the order of the first ones.
pub(super) fn groups(cells: &[Cell]) -> Vec<Vec<&Cell>> {
    let mut groups: Vec<Vec<&Cell>> = Vec::new();
    // Most cells differ in these, so that few remain to be compared whole.
    let mut by_name: BTreeMap<(&str, &str, Option<u32>), Vec<usize>> = BTreeMap::new();
    for cell in cells {
        let name = (cell.id.metric.as_str(), cell.id.table.as_str(), cell.id.payload_bytes);
        let alike = by_name.entry(name).or_default();
        match alike.iter().find(|at| groups[**at].first().is_some_and(|it| same_cell(it, cell))) {
            Some(at) => groups[*at].push(cell),
            None => {
                alike.push(groups.len());
                groups.push(alloc::vec![cell]);
            }
        }
    }
    groups
}

fn same_cell(a: &Cell, b: &Cell) -> bool {
    // What differs most often is compared first: this runs for each pair of cells.
    a.id.metric == b.id.metric && a.id == b.id && a.settings == b.settings
}

/// Returns the cells of equal identity and settings; without such cells, those of the same workload
/// and metric in another place.
fn with_runs<'a>(cell: &Cell, runs: &[&'a Cell]) -> Vec<&'a Cell> {
    let same: Vec<&Cell> = runs.iter().filter(|c| same_cell(c, cell)).copied().collect();
    if !same.is_empty() {
        return same;
    }
    let elsewhere = |c: &&Cell| same_work(&c.id, &cell.id) && c.settings == cell.settings;
    let mut found: Vec<&Cell> = runs.iter().copied().filter(elsewhere).collect();
    prefer(&mut found, |c| c.id.mode == cell.id.mode);
    prefer(&mut found, |c| c.id.devices == cell.id.devices);
    prefer(&mut found, |c| c.id.distance_m == cell.id.distance_m);
    let Some(first) = found.first() else { return Vec::new() };
    // Of several places, one: the pair is not comparable anyway.
    runs.iter().filter(|c| same_cell(c, first)).copied().collect()
}

fn same_work(a: &Identity, b: &Identity) -> bool {
    a.table == b.table
        && a.transport == b.transport
        && a.metric == b.metric
        && a.payload_bytes == b.payload_bytes
}

/// Returns the published cells of the same transport, quantity and payload. Of these it prefers the
/// same table and the same mode, and then the same statistic, or the nearest one to it.
///
/// Tables and metrics of our ESP-NOW tests have the published names. Beside them stand only cells
/// of the same table and metric, and of the same number of devices and distance where there are
/// such.
fn with_published<'a>(cell: &Cell, published: &[&'a Cell]) -> Vec<&'a Cell> {
    let (quantity, statistic) = metric::of(cell);
    let mut found: Vec<&Cell> = published
        .iter()
        .filter(|c| c.id.transport == cell.id.transport)
        .filter(|c| c.id.payload_bytes.is_none() || c.id.payload_bytes == cell.id.payload_bytes)
        .filter(|c| metric::of(c).0 == quantity)
        .copied()
        .collect();
    if cell.id.transport == "esp-now" {
        found.retain(|c| c.id.table == cell.id.table && c.id.metric == cell.id.metric);
    }
    prefer(&mut found, |c| same_table(&cell.id.table, &c.id.table));
    prefer(&mut found, |c| c.id.mode == cell.id.mode);
    if cell.id.transport == "esp-now" {
        prefer(&mut found, |c| c.id.devices == cell.id.devices);
        prefer(&mut found, |c| c.distances_m() == cell.distances_m());
    }
    // A run of one second, `message_rate`, is not the mean of runs, `message_rate_avg`, though both
    // names stand for a mean.
    prefer(&mut found, |c| c.id.metric == cell.id.metric);
    // A document (or a table of it) that has the statistic answers with it; one that has not, with
    // its nearest.
    let all = found.clone();
    found.retain(|c| {
        let rivals = all.iter().filter(|r| r.source == c.source && r.id.table == c.id.table);
        nearest(statistic, rivals.map(|r| metric::of(r).1)) == Some(metric::of(c).1)
    });
    found
}

/// Keeps those that have the property, if any has.
fn prefer(cells: &mut Vec<&Cell>, has: impl Fn(&Cell) -> bool) {
    if cells.iter().any(|c| has(c)) {
        cells.retain(|c| has(c));
    }
}

/// Returns whether a table of the published file holds what ours does, maybe under another name.
fn same_table(ours: &str, published: &str) -> bool {
    let is_document = |kind: &dyn TestKind| kind.documents().iter().any(|it| it.table == published);
    ours == published || kind::named(ours).is_some_and(is_document)
}

/// Returns the statistic itself, or the one nearest to it on the way from the smallest to the
/// largest. Statistics of spread have no place on this way and match themselves only.
fn nearest(wanted: Statistic, there: impl Iterator<Item = Statistic> + Clone) -> Option<Statistic> {
    if there.clone().any(|s| s == wanted) {
        return Some(wanted);
    }
    let place = wanted.place()?;
    there
        .filter_map(|s| Some((s.place()?.abs_diff(place), s)))
        .min_by_key(|(distance, s)| (*distance, s.place()))
        .map(|(_, s)| s)
}
