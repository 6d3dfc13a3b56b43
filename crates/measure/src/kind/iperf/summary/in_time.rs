//! The time of a test, and the rate in it.

use crate::series::{ByLink, IntervalPlace, MovedInTime, WHOLE};
use crate::units::megabits;
use espbench_model::sample::Interval;
use espbench_model::time::Instant;
use espbench_model::workload::Iperf;

/// Returns the sum of each stream's own rate; `None` without totals.
pub(super) fn total_rate(totals: &[Interval]) -> Option<f64> {
    if totals.is_empty() {
        return None;
    }
    totals.iter().map(|t| megabits(t.bytes, t.end.since(t.start))).sum()
}

/// Returns the rate of a test in its own time, as far as totals and intervals tell it: each stream has its own time. What
/// comes out of buffers after a test of time is of none of it. `None` where all intervals are whole: it is their mean.
pub(super) fn mean_of_test(
    parts: &[Interval],
    workload: &Iperf,
    totals: &[Interval],
) -> Option<f64> {
    if workload.bytes.is_some() && !totals.is_empty() {
        return total_rate(totals);
    }
    let begin = parts.iter().map(|it| it.start).min()?;
    let place = |it: &Interval| place_of(workload, begin, it);
    parts.iter().find(|it| place(it) == IntervalPlace::Cut)?;
    let mut streams = ByLink::<MovedInTime>::default();
    for part in parts.iter().filter(|it| place(it) != IntervalPlace::After) {
        streams.of(part.link).add(part);
    }
    streams.values().map(MovedInTime::megabits).sum()
}

/// Returns the place of a stream's interval in a test that began then.
pub(in crate::kind::iperf) fn place_of(
    workload: &Iperf,
    begin: Instant,
    part: &Interval,
) -> IntervalPlace {
    let span = part.end.since(part.start);
    let begins_after = workload.bytes.is_none() && part.start >= begin + workload.time;
    if part.end > latest(workload, begin) || begins_after {
        IntervalPlace::After
    } else if span.as_secs_f64() >= WHOLE * workload.interval.as_secs_f64() {
        IntervalPlace::Whole
    } else {
        IntervalPlace::Cut
    }
}

/// Returns when the last interval of a test ends that began then.
fn latest(workload: &Iperf, begin: Instant) -> Instant {
    match workload.bytes {
        None => begin + workload.time + workload.interval.mul_f64(1.0 - WHOLE),
        Some(_) => Instant::NEVER,
    }
}
