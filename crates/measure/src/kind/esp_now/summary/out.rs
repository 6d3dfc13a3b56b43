//! Cells as they are made: for tests of a plan, and for those that a console's log tells of.

use crate::cell::{Cell, Identity, print_distances};
use crate::settings::Settings;
use crate::summary::SummaryContext;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use espbench_stats::Estimate;
use espbench_stats::bootstrap;
use espbench_stats::interval::wilson;
use espbench_stats::quantile::Sorted;

/// Note on the resolution of a console's round trips.
pub(crate) const CUT: &str =
    "printed in whole milliseconds, cut: the true value is up to 1 ms more";

/// The cells of one test.
pub(crate) struct EspNowCells<'a> {
    context: &'a SummaryContext<'a>,
    /// Identity columns, all but the metric.
    pub(crate) id: Identity,
    pub(crate) settings: Settings,
    /// Nearest and farthest of several devices, in metres, which every cell has and its note says.
    pub(crate) distances_m: Option<(f64, f64)>,
    pub(crate) cells: Vec<Cell>,
}

impl<'a> EspNowCells<'a> {
    pub(crate) fn new(context: &'a SummaryContext<'a>, id: Identity) -> Self {
        Self { context, id, settings: Settings::default(), distances_m: None, cells: Vec::new() }
    }

    pub(crate) fn push(
        &mut self,
        metric: &str,
        unit: &str,
        estimate: Estimate,
        note: Option<&str>,
    ) {
        let id = Identity { metric: metric.into(), ..self.id.clone() };
        let place = self.distances_m.map(|it| format!("distance {}", print_distances(it)));
        let note = match (place, note) {
            (Some(place), Some(note)) => Some(format!("{place}; {note}")),
            (place, note) => place.or_else(|| note.map(ToString::to_string)),
        };
        let mut cell = Cell::of(estimate, id, unit, self.context.origin);
        cell.test.distances_m = self.distances_m;
        self.cells.push(Cell { settings: self.settings.clone(), note, ..cell });
    }

    /// Adds a result without an interval.
    pub(crate) fn exact(&mut self, metric: &str, unit: &str, value: f64, n: u64) {
        self.push(metric, unit, Estimate::exact(value, n), None);
    }

    /// Adds mean, largest and smallest of times in milliseconds.
    pub(crate) fn extremes(&mut self, base: &str, times: &[f64], seed: u64, note: Option<&str>) {
        let sorted = Sorted::new(times.to_vec());
        self.push(&format!("{base}_avg"), "ms", bootstrap::mean(times, seed), note);
        self.push(&format!("{base}_max"), "ms", sorted.max(), note);
        self.push(&format!("{base}_min"), "ms", sorted.min(), note);
    }

    /// Adds median, 90th and 99th percentile of times in milliseconds.
    pub(crate) fn quantiles(&mut self, base: &str, times: &[f64], note: Option<&str>) {
        let sorted = Sorted::new(times.to_vec());
        for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            self.push(&format!("{base}_{name}"), "ms", sorted.quantile(q), note);
        }
    }

    pub(crate) fn loss(&mut self, lost: u64, of: u64, note: Option<&str>) {
        self.push("loss", "percent", wilson(lost, of).scaled(100.0), note);
    }

    /// Adds the packets lost and the packets in all, as the final report of a throughput test
    /// counts them.
    pub(crate) fn packets(&mut self, lost: u64, total: u64, note: &str) {
        for (metric, count) in [("packets_lost", lost), ("packets_total", total)] {
            self.push(metric, "packets", Estimate::exact(count as f64, total), Some(note));
        }
    }
}
