//! Result cells of the `esp-now` workload: the ten tests of Espressif's ESP-NOW test report.

use super::{Context, Place};
use crate::bootstrap;
use crate::cell::Cell;
use crate::interval::wilson;
use crate::quantile::Sorted;
use crate::run::Recorded;
use crate::series;
use crate::summary::udp_echo::Tally;
use alloc::vec::Vec;
use espbench_proto::workload::{EspNow, EspNowTest};

/// The result cells of one recorded cell.
#[must_use]
pub fn summarize(workload: &EspNow, recorded: &Recorded, context: &Context<'_>) -> Vec<Cell> {
    if !matches!(workload.test, EspNowTest::Ping) {
        return Vec::new();
    }
    let place = Place {
        table: "round-trip",
        transport: "esp-now",
        payload_bytes: Some(workload.size),
        devices: 1,
        variant: None,
    };
    let times = series::round_trips_ms(recorded);
    let sorted = Sorted::new(times.clone());
    let seed = context.seed_of(u64::from(recorded.ordinal) << 32 | u64::from(recorded.repetition));
    let tally = Tally::of(&recorded.samples);
    let cell = |metric: &str, unit: &str, estimate| context.cell(&place, metric, unit, estimate);
    alloc::vec![
        cell("rtt_avg", "ms", bootstrap::mean(&times, seed)),
        cell("rtt_max", "ms", sorted.max()),
        cell("rtt_min", "ms", sorted.min()),
        cell("loss", "percent", wilson(tally.lost, tally.probes).scaled(100.0)),
    ]
}
