//! Cells of round trips, for every kind of test that has such.
//!
//! # What a time counts
//!
//! - `rtt_*` is received - sent: what the link and the other side did with a probe. Only probes that
//!   came back whole and in time are in it; how many did not is said in a note, because a time-out
//!   cuts the distribution off.
//! - `response_*` is received - due, and exists with an offered interval only. A sender that falls
//!   behind sends late, and `sent` hides the wait that a user would have felt; the due time does not
//!   ("coordinated omission": Tene 2013, "How NOT to measure latency"; the README of wrk2).
//!   Without an interval nothing is due at any time: the next probe waits for the last reply, so a
//!   stall counts once however long it lasts. That is the published procedure, and so a
//!   limit of it.
//! - `loss` is the share of probes of which no whole reply came: what did not come, and what came back
//!   changed, since a packet that "arrives, but is corrupted" is counted as lost (RFC 7680 section 2.5).
//!   Copies count once (the same section), and a late reply is not lost: `probes_late` has it.
//! - `rtt_kernel_*` is stamped - sent: without the wait of this process for the processor.
//!
//! The interval of the mean is a bootstrap interval, as round trips are skewed; those of the
//! quantiles assume no shape. Both assume that round trips are independent.

use super::{CellColumns, SummaryContext};
use crate::cell::Cell;
use crate::live::LateProbes;
use crate::live::loss_of;
use crate::run::Recorded;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::fact;
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::text::counted;
use espbench_stats::Estimate;
use espbench_stats::bootstrap;
use espbench_stats::interval::wilson;
use espbench_stats::quantile::Sorted;

/// The quantiles shown, and how metrics name them.
pub(crate) const QUANTILES: [(&str, f64); 4] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)];

/// Counts of probes by their fate. A duplicate is a further copy, not a further probe.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProbeCounts {
    pub(crate) probes: u64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
    duplicate: u64,
    pub(crate) corrupt: u64,
}

impl ProbeCounts {
    pub(crate) fn of(samples: &[Sample]) -> Self {
        let mut tally = Self::default();
        for sample in samples {
            let Sample::Probe(probe) = sample else { continue };
            match probe.fate {
                Fate::Duplicate => {
                    tally.duplicate += 1;
                    continue;
                }
                // Its reply might have come: it was not waited for. It is no trial of the link.
                Fate::Lost(Cause::Stopped) => continue,
                Fate::Lost(_) => tally.lost += 1,
                Fate::Late => tally.late += 1,
                Fate::Corrupt => tally.corrupt += 1,
                Fate::Delivered => {}
            }
            tally.probes += 1;
        }
        tally
    }

    /// Counts the probes of a cell, with the copies that were counted and not kept.
    pub(crate) fn of_cell(recorded: &Recorded) -> Self {
        let mut tally = Self::of(&recorded.samples);
        let not_kept = recorded.counters.get(fact::DUPLICATES_NOT_KEPT);
        tally.duplicate += not_kept.copied().unwrap_or_default();
        tally
    }

    /// Returns how many are lost, and of how many.
    pub(crate) fn loss_of(&self, late: LateProbes) -> (u64, u64) {
        let Self { probes, lost, late: came_late, corrupt, .. } = *self;
        let delivered = probes - lost - came_late - corrupt;
        loss_of([delivered, lost, came_late, corrupt], late)
    }

    /// Returns the number of probes that the latency figures leave out, in words; `None` where
    /// there are none.
    pub(crate) fn left_out(&self, timeout: Duration) -> Option<String> {
        let missing = self.lost + self.late + self.corrupt;
        (missing > 0).then(|| {
            format!(
                "{missing} of {} {} not in it: {} lost, {} later than the time-out of {}, {} corrupt",
                counted(self.probes, "probe", "probes"), if missing == 1 { "is" } else { "are" }, self.lost, self.late, print_duration(timeout), self.corrupt
            )
        })
    }
}

/// The cells of a test of round trips as they are made.
pub(crate) struct RoundTripCells<'a> {
    place: CellColumns<'a>,
    context: &'a SummaryContext<'a>,
    seed: u64,
    pub(crate) cells: Vec<Cell>,
}

impl<'a> RoundTripCells<'a> {
    pub(crate) fn new(
        place: CellColumns<'a>,
        recorded: &Recorded,
        context: &'a SummaryContext<'a>,
    ) -> Self {
        Self { place, context, seed: context.seed_of_cell(recorded), cells: Vec::new() }
    }

    pub(crate) fn push(&mut self, metric: &str, unit: &str, estimate: Estimate) -> &mut Cell {
        self.cells.push(self.context.cell(&self.place, metric, unit, estimate));
        let last = self.cells.len() - 1;
        &mut self.cells[last]
    }

    /// Adds mean, extremes and quantiles of times in milliseconds; returns the mean.
    pub(crate) fn latency(&mut self, base: &str, times: &[f64], note: Option<&str>) -> Estimate {
        let sorted = Sorted::new(times.to_vec());
        let mean = bootstrap::mean(times, self.seed);
        let first = self.cells.len();
        self.push(&format!("{base}_avg"), "ms", mean);
        self.push(&format!("{base}_max"), "ms", sorted.max());
        self.push(&format!("{base}_min"), "ms", sorted.min());
        for (name, q) in QUANTILES {
            self.push(&format!("{base}_{name}"), "ms", sorted.quantile(q));
        }
        for cell in &mut self.cells[first..] {
            cell.note = note.map(ToString::to_string);
        }
        mean
    }

    pub(crate) fn loss(&mut self, tally: &ProbeCounts) {
        let (lost, of) = tally.loss_of(LateProbes::Apart);
        self.push("loss", "percent", wilson(lost, of).scaled(100.0));
        for (metric, count) in [
            ("probes_late", tally.late),
            ("probes_duplicate", tally.duplicate),
            ("probes_corrupt", tally.corrupt),
        ] {
            self.push(metric, "probes", Estimate::exact(count as f64, tally.probes));
        }
    }

    pub(crate) fn kernel(&mut self, stamped: &Sorted) {
        if stamped.values().is_empty() {
            return;
        }
        self.push("rtt_kernel_p50", "ms", stamped.quantile(0.5));
        self.push("rtt_kernel_p99", "ms", stamped.quantile(0.99));
    }
}
