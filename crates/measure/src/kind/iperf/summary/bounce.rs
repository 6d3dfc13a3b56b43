//! Result cells of an iperf test with `--bounceback`: round trips of requests.
//!
//! `rtt_*` is received - sent of the requests that came back whole, over TCP: a segment sent again is
//! in it. Requests of a burst follow one another, so `requests_rate` is what one connection does
//! when it never waits: the inverse of the mean. Intervals are those of
//! [`udp_echo`](crate::summary::udp_echo).

use crate::cell::Cell;
use crate::live::{FateCounts, LateProbes};
use crate::run::Recorded;
use crate::series;
use crate::summary::round_trips::QUANTILES;
use crate::summary::{CellColumns, SummaryContext};
use alloc::format;
use alloc::vec::Vec;
use espbench_stats::Estimate;
use espbench_stats::bootstrap;
use espbench_stats::interval::{stddev, wilson};
use espbench_stats::quantile::Sorted;

/// Returns the result cells of one recorded cell.
pub(super) fn summarize(
    place: CellColumns<'_>,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let seed = context.seed_of_cell(recorded);
    let times = series::round_trips_ms(recorded);
    let sorted = Sorted::new(times.clone());
    let n = times.len() as u64;
    let mean = bootstrap::mean(&times, seed);
    let mut cells = Vec::new();
    let mut push = |metric: &str, unit: &str, estimate: Estimate| {
        cells.push(context.cell(&place, metric, unit, estimate));
    };
    push("rtt_avg", "ms", mean);
    push("rtt_min", "ms", sorted.min());
    push("rtt_max", "ms", sorted.max());
    for (name, q) in QUANTILES {
        push(&format!("rtt_{name}"), "ms", sorted.quantile(q));
    }
    push("rtt_stddev", "ms", Estimate { value: stddev(&times), n, ..Estimate::default() });
    let rate = mean.value.filter(|&ms| ms > 0.0).map(|ms| 1000.0 / ms);
    push("requests_rate", "/s", Estimate { value: rate, n, ..Estimate::default() });
    let counts = FateCounts::of(&recorded.samples);
    let (lost, of) = counts.loss_of(LateProbes::Apart);
    push("loss", "percent", wilson(lost, of).scaled(100.0));
    let corrupt = counts.corrupt;
    if corrupt > 0 {
        push("probes_corrupt", "probes", Estimate::exact(corrupt as f64, of));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::run::Site;
    use alloc::collections::BTreeMap;
    use espbench_model::sample::{Cause, Fate, Probe, Sample};
    use espbench_model::time::Instant;
    use espbench_model::workload::{Bounceback, Iperf, Workload};

    #[test]
    fn round_trips_and_what_became_of_the_others() {
        let at = |us: u64| Instant::from_nanos(us * 1000);
        let answered =
            |us: u64| Probe { sent: Some(at(10)), received: Some(at(10 + us)), ..Probe::default() };
        let lost = Probe { fate: Fate::Lost(Cause::Disconnected), ..Probe::default() };
        let work = Iperf { bounceback: Some(Bounceback::DEFAULT), length: 100, ..Iperf::DEFAULT };
        let recorded = Recorded {
            ordinal: 0,
            repetition: 0,
            workload: Workload::Iperf(work),
            samples: [answered(200), answered(300), answered(400), lost].map(Sample::Probe).into(),
            counters: BTreeMap::new(),
            facts: BTreeMap::new(),
            error: None,
        };
        let site = Site::default();
        let context = SummaryContext { site: &site, origin: Origin::Measured, seed: 1 };
        let cells = super::super::summarize(&work, &recorded, &context);
        let value = |metric: &str| {
            cells.iter().find(|c| c.id.metric == metric).and_then(|c| c.value).unwrap()
        };
        assert!((value("rtt_avg") - 0.3).abs() < 1e-9 && (value("rtt_p50") - 0.3).abs() < 1e-9);
        assert_eq!((value("rtt_min"), value("rtt_max"), value("loss")), (0.2, 0.4, 25.0));
        assert!((value("requests_rate") - 10_000.0 / 3.0).abs() < 1e-6);
        assert!(cells.iter().all(|c| c.id.metric != "throughput_rx"));
        let words = crate::label::result(&cells[0].settings);
        assert_eq!(words.as_deref(), Some("10 requests every 1 s"));
    }
}
