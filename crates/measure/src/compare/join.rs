//! Which cells stand side by side.

use crate::cell::{Cell, Identity, Origin};
use crate::metric::{self, Statistic};
use alloc::vec::Vec;

/// Tables of the published file that hold what our table of another name does.
const SAME_TABLES: [(&str, &[&str]); 1] =
    [("iperf", &["esp8266-iperf", "esp32c3-best", "esp32c3-rank"])];

/// The pairs, in the order of `ours`, then of `others`.
pub(super) fn pairs<'a>(ours: &'a [Cell], others: &'a [Cell]) -> Vec<(&'a Cell, &'a Cell)> {
    let (published, runs): (Vec<&Cell>, Vec<&Cell>) =
        others.iter().partition(|c| c.origin == Origin::Published);
    let mut pairs = Vec::new();
    for (position, cell) in ours.iter().enumerate() {
        let matches = with_runs(cell, earlier_equals(ours, position), &runs);
        pairs.extend(matches.into_iter().map(|other| (cell, other)));
        pairs.extend(with_published(cell, &published).into_iter().map(|other| (cell, other)));
    }
    pairs
}

/// How many cells before this one are the same cell: its repetition, counted from 0.
fn earlier_equals(cells: &[Cell], position: usize) -> usize {
    let cell = &cells[position];
    cells[..position].iter().filter(|c| same_cell(c, cell)).count()
}

fn same_cell(a: &Cell, b: &Cell) -> bool {
    // What differs most often is compared first: this runs for each pair of cells.
    a.id.metric == b.id.metric && a.id == b.id && a.variant == b.variant
}

/// Identity and variant; where that finds nothing, the same workload and metric elsewhere. The
/// repetitions of a cell pair off in order: the first with the first, and so on.
fn with_runs<'a>(cell: &Cell, repetition: usize, runs: &[&'a Cell]) -> Option<&'a Cell> {
    let mut same = runs.iter().filter(|c| same_cell(c, cell)).peekable();
    if same.peek().is_some() {
        return same.nth(repetition).copied();
    }
    let elsewhere = |c: &&&Cell| same_work(&c.id, &cell.id) && c.variant == cell.variant;
    runs.iter().filter(elsewhere).nth(repetition).copied()
}

fn same_work(a: &Identity, b: &Identity) -> bool {
    a.table == b.table
        && a.transport == b.transport
        && a.metric == b.metric
        && a.payload_bytes == b.payload_bytes
}

/// The same transport, quantity and payload; of these, the same table and the same mode where there
/// are such; of these, the same statistic, or the nearest one where the document gives no such.
fn with_published<'a>(cell: &Cell, published: &[&'a Cell]) -> Vec<&'a Cell> {
    let (quantity, statistic) = metric::of(cell);
    let mut found: Vec<&Cell> = published
        .iter()
        .filter(|c| c.id.transport == cell.id.transport)
        .filter(|c| c.id.payload_bytes.is_none() || c.id.payload_bytes == cell.id.payload_bytes)
        .filter(|c| metric::of(c).0 == quantity)
        .copied()
        .collect();
    prefer(&mut found, |c| same_table(&cell.id.table, &c.id.table));
    prefer(&mut found, |c| c.id.mode == cell.id.mode);
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

fn same_table(ours: &str, published: &str) -> bool {
    let named = SAME_TABLES.iter().find(|(name, _)| *name == ours);
    ours == published || named.is_some_and(|(_, tables)| tables.contains(&published))
}

/// The statistic itself, or the one nearest to it on the way from the smallest to the largest.
/// Spreads have no place on it and match themselves only.
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
