//! Accuracy of simulated cells against the documents of tests over Wi-Fi: see [`crate::wifi`].
//!
//! | group | metrics | asked |
//! |---|---|---|
//! | middle | throughput, mean round trips, rates | median error at most 10 %, nine in ten within 30 % |
//! | minima, maxima | `*_min`, `*_max` | as of ESP-NOW |
//! | spreads | `*_3sigma`, `*_6sigma`, `*_stddev`; runs of a second, of which two can lie apart by half | nothing |
//!
//! A figure that the document gives as the best second is held against our best second. Rows that
//! only tell a configuration are no results.

use super::{CellDeviation, CellGroup, Truth, count};
use crate::cell::{Cell, Identity, Origin};
use crate::kind;
use crate::metric::{self, Statistic};
use crate::settings::Setting;
use crate::wifi::{self, Document};
use alloc::vec::Vec;

/// Compares simulated cells with those of the documents; `None` where none is of both.
#[must_use]
pub fn truth(ours: &[Cell], published: &[Cell]) -> Option<Truth> {
    let document: Vec<&Cell> = published.iter().filter(|it| is_result(it)).collect();
    let mut numbers: Vec<(&Cell, usize)> = Vec::new();
    let mut rows: Vec<(&Cell, CellDeviation)> = Vec::new();
    for cell in ours.iter().filter(|c| c.origin == Origin::Simulated) {
        if wifi::device(cell).is_none() {
            continue;
        }
        let before = match numbers.iter_mut().find(|(other, _)| are_alike(other, cell)) {
            Some((_, number)) => core::mem::replace(number, *number + 1),
            None => {
                numbers.push((cell, 1));
                0
            }
        };
        let own = wifi::same(cell, before, &document).flatten();
        let Some(own) = own else { continue };
        if rows.iter().all(|(known, _)| !core::ptr::eq(*known, own)) {
            rows.extend(row(cell, own).map(|row| (own, row)));
        }
    }
    if rows.is_empty() {
        return None;
    }
    let missing = count(document.iter()) - count(rows.iter());
    Some(Truth::of(rows.into_iter().map(|(_, row)| row).collect(), missing, 0))
}

/// Returns whether a cell is a result of a test of the documents.
fn is_result(cell: &Cell) -> bool {
    Document::of_table(&cell.id.table).is_some_and(|it| cell.source.as_deref() == Some(it.source))
        && (cell.id.transport != "config" || cell.id.metric == wifi::heap::AVAILABLE)
        && cell.value.is_some()
}

/// Returns whether only their order tells two cells apart.
fn are_alike(a: &Cell, b: &Cell) -> bool {
    let columns = |id: &Identity| {
        (id.table.clone(), id.mode.clone(), id.metric.clone(), id.environment.clone())
    };
    columns(&a.id) == columns(&b.id) && a.settings == b.settings
}

fn row(ours: &Cell, published: &Cell) -> Option<CellDeviation> {
    let (value, simulated) = (published.value?, ours.value?);
    let group = group(published);
    Some(CellDeviation {
        id: published.id.clone(),
        unit: published.unit.clone(),
        published: value,
        fitted: super::constant(published),
        ..CellDeviation::between(simulated, printed(&published.id, value), group)
    })
}

/// Returns the group of a published cell.
fn group(cell: &Cell) -> CellGroup {
    // A run of several has an order, and is not the mean of them.
    let is_ordered = Document::of_table(&cell.id.table).is_some_and(|it| it.ordered);
    let single = is_ordered && cell.id.metric == "message_rate";
    // What prints waits for its console: run by run the same.
    let prints = cell.settings.has(&Setting::Prints(true));
    match metric::parse(&cell.id.metric).1 {
        Statistic::Min => CellGroup::Minima,
        Statistic::Max => CellGroup::Maxima,
        Statistic::Deviation | Statistic::Deviation3 | Statistic::Deviation6 => CellGroup::Spreads,
        _ if single && !prints => CellGroup::Spreads,
        _ => CellGroup::Middle,
    }
}

/// Returns the smallest and the largest value that the document prints as `value`.
fn printed(id: &Identity, value: f64) -> (f64, f64) {
    let kind = kind::named(wifi::kind_of(&id.table));
    kind.map_or_else(|| kind::around(value, 0.5), |it| it.printed(id, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Estimate;

    /// Ours of each published result, so many times as large.
    fn ours(published: &[Cell], factor: f64) -> Vec<Cell> {
        let words = |cell: &Cell| match cell.id.table.as_str() {
            "tcp-rate" => "device x, Nagle on",
            "mqtt-rate" => "device x, MQTT 3.1.1, QoS 0, offered 20/s",
            _ => "device x",
        };
        let own = |cell: &Cell| {
            let mut id = cell.id.clone();
            if id.table == "esp32c3-best" && id.transport != "802.11" {
                id.metric += "_best_second";
            }
            let value = cell.value.unwrap() * factor;
            Cell {
                settings: crate::label::read(words(cell)).unwrap(),
                note: cell.note.clone(),
                firmware: cell.firmware.clone(),
                ..Estimate::exact(value, 1).into_cell(id, &cell.unit, Origin::Simulated)
            }
        };
        published.iter().filter(|it| is_result(it)).map(own).collect()
    }

    #[test]
    fn every_published_result_finds_its_own() {
        let published = crate::published::shipped();
        let truth = truth(&ours(&published, 1.0), &published).unwrap();
        assert_eq!(truth.missing, 0);
        let told: Vec<(CellGroup, u32, Option<f64>)> =
            truth.groups.iter().map(|g| (g.kind, g.cells, g.median)).collect();
        let wanted = [
            (CellGroup::Middle, 103, Some(0.0)),
            (CellGroup::Minima, 24, Some(0.0)),
            (CellGroup::Maxima, 24, Some(0.0)),
            (CellGroup::Spreads, 57, Some(0.0)),
        ];
        assert_eq!(told, wanted);
        assert!(truth.holds());
        let off = super::truth(&ours(&published, 1.2), &published).unwrap();
        assert_eq!(off.groups[0].held, Some(false));
        assert!((off.groups[0].median.unwrap() - 0.2).abs() < 0.01);
    }

    #[test]
    fn fitted_cells_are_counted_apart_with_their_constant() {
        let mut published = crate::published::shipped();
        let cells = ours(&published, 1.5);
        let first = published.iter_mut().find(|it| it.id.table == "esp8266-iperf").unwrap();
        first.fitted = true;
        first.fitted_constant = Some("receive.fixed_us".into());
        let truth = truth(&cells, &published).unwrap();
        assert_eq!((truth.fitted.cells, truth.missing), (1, 0));
        assert_eq!(truth.rows.last().unwrap().fitted.as_deref(), Some("receive.fixed_us"));
    }

    #[test]
    fn what_was_measured_is_none_of_the_labs() {
        let published = crate::published::shipped();
        let mut cells = ours(&published, 1.0);
        cells.iter_mut().for_each(|it| it.origin = Origin::Measured);
        assert_eq!(truth(&cells, &published), None);
    }
}
