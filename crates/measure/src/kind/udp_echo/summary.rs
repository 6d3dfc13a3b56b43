//! Result cells of the `udp-echo` workload.
//!
//! The metrics are those of the published ESP32 benchmark (smellbomb-udp, table 1), and those that it
//! lacks: quantiles, loss, late, duplicate and corrupt replies. See `summary::round_trips` for what a
//! time counts.

use super::KIND;
use crate::cell::Cell;
use crate::kind::TestKind;
use crate::run::Recorded;
use crate::series;
use crate::summary::round_trips::{ProbeCounts, RoundTripCells};
use crate::summary::{CellColumns, SummaryContext};
use alloc::vec::Vec;
use espbench_model::workload::UdpEcho;
use espbench_stats::Estimate;
use espbench_stats::interval::stddev;
use espbench_stats::quantile::Sorted;

/// Returns the result cells of one recorded cell.
#[must_use]
pub(super) fn summarize(
    workload: &UdpEcho,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "udp",
        payload_bytes: Some(workload.size),
        devices: 1,
        settings: workload.settings().beyond_columns(),
    };
    let mut out = RoundTripCells::new(place, recorded, context);
    let tally = ProbeCounts::of_cell(recorded);
    let times = series::round_trips_ms(recorded);
    let left_out = tally.left_out(workload.timeout);
    let mean = out.latency("rtt", &times, left_out.as_deref());
    document_rows(&mut out, workload, &times, &mean);
    out.loss(&tally);
    if workload.interval.is_some() {
        out.latency("response", &series::responses_ms(recorded), left_out.as_deref());
    }
    out.kernel(&Sorted::new(series::kernel_round_trips_ms(recorded)));
    out.cells
}

/// Adds the other columns of the document's table: three and six standard deviations of the sample
/// (not the mean plus these), and the payload of both ways over the mean time.
fn document_rows(out: &mut RoundTripCells<'_>, workload: &UdpEcho, times: &[f64], mean: &Estimate) {
    let n = times.len() as u64;
    let sigma = Estimate { value: stddev(times), n, ..Estimate::default() };
    out.push("rtt_3sigma", "ms", sigma.scaled(3.0));
    out.push("rtt_6sigma", "ms", sigma.scaled(6.0));
    let bits = 2.0 * 8.0 * f64::from(workload.size);
    out.push("effective_rate", "bit/s", bits_over(bits, &mean.scaled(1e-3)));
}

/// Divides `bits` by a time, whereby the interval's ends change places. A time of zero has no rate.
fn bits_over(bits: f64, seconds: &Estimate) -> Estimate {
    let over = |t: Option<f64>| t.filter(|&t| t > 0.0).map(|t| bits / t);
    Estimate {
        value: over(seconds.value),
        n: seconds.n,
        low: over(seconds.high),
        high: over(seconds.low),
    }
}

#[cfg(test)]
mod tests;
