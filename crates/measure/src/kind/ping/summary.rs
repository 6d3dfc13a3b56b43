//! Result cells of the `ping` workload: ICMP round trips.
//!
//! Times and losses are those of all round trips, under the same names; the spread is one
//! standard deviation, `rtt_stddev` (`mdev` of iputils' ping). Requests are sent at an interval,
//! so `response_*` is always there. A request that an ICMP error answered is lost, with the cause that
//! the error names.

use super::KIND;
use crate::cell::Cell;
use crate::kind::TestKind;
use crate::run::Recorded;
use crate::series;
use crate::summary::round_trips::{ProbeCounts, RoundTripCells};
use crate::summary::{CellColumns, SummaryContext};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Ping;
use espbench_stats::Estimate;
use espbench_stats::interval::{self, stddev};
use espbench_stats::quantile::Sorted;

/// Returns the result cells of one recorded cell.
#[must_use]
pub(super) fn summarize(
    workload: &Ping,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "icmp",
        payload_bytes: Some(workload.size),
        devices: 1,
        settings: workload.settings().beyond_columns(),
    };
    let mut out = RoundTripCells::new(place, recorded, context);
    let tally = ProbeCounts::of_cell(recorded);
    let times = series::round_trips_ms(recorded);
    let left_out = tally.left_out(workload.timeout);
    out.latency("rtt", &times, left_out.as_deref());
    let spread = Estimate { value: stddev(&times), n: times.len() as u64, ..Estimate::default() };
    out.push("rtt_stddev", "ms", spread);
    out.loss(&tally);
    out.latency("response", &series::responses_ms(recorded), left_out.as_deref());
    out.kernel(&Sorted::new(series::kernel_round_trips_ms(recorded)));
    out.cells
}

/// Says the round trips as iputils' ping does. Its mdev is the deviation of these round trips, not that of all
/// that they are a sample of.
pub(super) fn usual_line(recorded: &Recorded) -> Option<String> {
    let times = series::round_trips_ms(recorded);
    let mean = interval::mean(&times)?;
    let (least, most) =
        (times.iter().copied().reduce(f64::min)?, times.iter().copied().reduce(f64::max)?);
    let squares: f64 = times.iter().map(|it| (it - mean) * (it - mean)).sum();
    let mdev = libm::sqrt(squares / times.len() as f64);
    Some(format!("rtt min/avg/max/mdev = {least:.3}/{mean:.3}/{most:.3}/{mdev:.3} ms"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::run::Site;
    use alloc::collections::BTreeMap;
    use core::time::Duration;
    use espbench_model::sample::{Cause, Fate, Probe, Sample};
    use espbench_model::time::Instant;
    use espbench_model::workload::Workload;

    #[test]
    fn round_trips_losses_and_what_the_kernel_stamped() {
        let work = Ping {
            size: 56,
            count: 4,
            discard: 0,
            interval: Duration::from_millis(10),
            timeout: Duration::from_secs(1),
            tos: None,
            ttl: Some(3),
        };
        let at = |us: u64| Instant::from_nanos(us * 1000);
        // Sent when due, and once 2 ms late.
        let answered = |due: u64, sent: u64| Probe {
            due: at(due),
            sent: Some(at(sent)),
            received: Some(at(sent + 3000)),
            stamped: Some(at(sent + 2500)),
            ..Probe::default()
        };
        let lost = Probe { fate: Fate::Lost(Cause::HopLimit), ..Probe::default() };
        let probes = [answered(0, 0), answered(10_000, 12_000), answered(20_000, 20_000), lost];
        let recorded = Recorded {
            ordinal: 0,
            repetition: 0,
            workload: Workload::Ping(work),
            samples: probes.into_iter().map(Sample::Probe).collect(),
            counters: BTreeMap::new(),
            facts: BTreeMap::new(),
            error: None,
        };
        let site = Site::default();
        let context = SummaryContext { site: &site, origin: Origin::Measured, seed: 1 };
        let cells = summarize(&work, &recorded, &context);
        let value = |metric: &str| {
            cells.iter().find(|c| c.id.metric == metric).and_then(|c| c.value).unwrap()
        };
        assert_eq!((value("rtt_min"), value("rtt_p50"), value("rtt_max")), (3.0, 3.0, 3.0));
        assert_eq!((value("rtt_stddev"), value("rtt_kernel_p50")), (0.0, 2.5));
        assert_eq!((value("response_min"), value("response_max")), (3.0, 5.0));
        assert_eq!(value("loss"), 25.0);
        let line = usual_line(&recorded).unwrap();
        assert_eq!(line, "rtt min/avg/max/mdev = 3.000/3.000/3.000/0.000 ms");
        assert!(cells.iter().all(|c| c.id.transport == "icmp" && c.id.payload_bytes == Some(56)));
        let words = crate::label::result(&cells[0].settings);
        assert_eq!(words.as_deref(), Some("one every 10 ms, TTL 3"));
        assert!(cells[0].note.as_deref().unwrap().starts_with("1 of 4 probes is not in it"));
    }
}
