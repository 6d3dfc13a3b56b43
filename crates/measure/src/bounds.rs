//! Natural ends of quantities, which no interval reaches beyond: Student's interval of a mean knows none.

use crate::cell::Cell;
use crate::metric;
use crate::units::Dimension;

/// Limits a cell's interval to what its quantity can be: times, rates, sizes and counts are not below 0, a share is no
/// more than the whole, and no more devices are served than there are. A difference, which may be negative, is left as
/// it is.
/// Of packets and messages `sent` are the most that a repetition of the figure sent: no more of them are lost.
pub(crate) fn limit(cell: &mut Cell, sent: Option<u64>) {
    let Some(value) = cell.value else { return };
    if value >= 0.0 && (Dimension::of(&cell.unit).is_some() || COUNTS.contains(&&*cell.unit)) {
        cell.ci_low = cell.ci_low.map(|low| low.max(0.0));
    }
    if let Some(most) = most(cell, sent).filter(|most| value <= *most) {
        cell.ci_high = cell.ci_high.map(|high| high.min(most));
    }
}

/// Units of what is counted.
const COUNTS: [&str; 9] = [
    "devices",
    "packets",
    "messages",
    "probes",
    "hops",
    "frames",
    "segments",
    "index",
    "connections",
];

/// Metric of the devices that a job has served.
const DEVICES_SERVED: &str = "devices_served";

/// Returns the devices that were to be served, of a count of those that were.
pub(crate) fn devices(cell: &Cell) -> Option<f64> {
    cell.id.devices.filter(|_| cell.id.metric == DEVICES_SERVED).map(f64::from)
}

/// Returns the largest value of a quantity that has one.
fn most(cell: &Cell, sent: Option<u64>) -> Option<f64> {
    match Dimension::of(&cell.unit) {
        Some((Dimension::Proportion, part)) => Some(1.0 / part),
        // Jain's fairness.
        None if cell.unit == "index" => Some(1.0),
        None if cell.id.metric == DEVICES_SERVED => devices(cell),
        None if metric::is_count_of_lost(&cell.id.metric) => sent.map(|it| it as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Identity, Origin};
    use crate::compare::pool;
    use alloc::vec::Vec;
    use espbench_stats::Estimate;
    use espbench_stats::interval::mean_t;

    /// Pools repetitions of a figure.
    fn pooled(metric: &str, unit: &str, values: &[f64]) -> Cell {
        let id = Identity { metric: metric.into(), devices: Some(100), ..Identity::default() };
        let cell =
            |it: &f64| Cell::of(Estimate::exact(*it, 7), id.clone(), unit, Origin::Simulated);
        let all: Vec<Cell> = values.iter().map(cell).collect();
        pool(&all.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn no_interval_of_repetitions_reaches_beyond_what_there_is() {
        let values = [100.0, 97.0, 100.0];
        assert!(mean_t(&values).high > Some(100.0), "Student's interval knows no end");
        for (metric, unit) in [("devices_served", "devices"), ("channel_busy", "percent")] {
            let cell = pooled(metric, unit, &values);
            assert_eq!((cell.value, cell.ci_high), (Some(99.0), Some(100.0)), "{metric}");
        }
        let fairness = pooled("fairness", "index", &[1.0, 0.7, 1.0]);
        assert_eq!(fairness.ci_high, Some(1.0));
        let few = pooled("packets_lost", "packets", &[0.0, 1.0, 0.0]);
        assert_eq!((few.ci_low, few.ci_high.map(|it| it > 1.5)), (Some(0.0), Some(true)));
        // Of seven that were sent in each repetition no more than seven are lost.
        let most = pooled("packets_lost", "packets", &[7.0, 2.0, 7.0]);
        assert_eq!((most.ci_low, most.ci_high), (Some(0.0), Some(7.0)));
        // A time has no upper end, and neither has a change that is more than the whole.
        assert!(pooled("rtt_avg", "ms", &values).ci_high > Some(100.0));
        assert!(pooled("overhead", "percent", &[150.0, 250.0]).ci_high > Some(250.0));
    }
}
