//! Result cells of the `wifi-join` workload: how long a station takes into its network, and for which
//! of its steps (IEEE Std 802.11-2020, 11.1.4, 11.3, 12.4, 12.7.6). The end is that packets may flow: an
//! address comes on top of it, where DHCP gives one.
//!
//! | metric | from | to |
//! |---|---|---|
//! | `join_time_…` | it is told to join | it has its keys |
//! | `scan_time_avg` | it is told to join | it has found its access point |
//! | `authentication_time_avg` | | it is authenticated: before it the key of a WPA2 password is computed, or SAE is done |
//! | `association_time_avg` | | it is associated |
//! | `handshake_time_avg` | | it has its keys; nothing where there are none |

use super::udp_echo::Tally;
use super::{Context, Place};
use crate::bootstrap;
use crate::cell::{Cell, Estimate};
use crate::interval::wilson;
use crate::quantile::Sorted;
use crate::run::Recorded;
use crate::series;
use crate::settings::Settings;
use alloc::vec::Vec;
use espbench_model::workload::{IpTest, WifiJoin};

/// The steps, in their order: metric, and name.
pub const STEPS: [(&str, &str); 4] = [
    ("scan_time_avg", "scan"),
    ("authentication_time_avg", "authentication"),
    ("association_time_avg", "association"),
    ("handshake_time_avg", "4-way handshake"),
];

/// The result cells of one recorded cell.
#[must_use]
pub fn summarize(workload: &WifiJoin, recorded: &Recorded, context: &Context<'_>) -> Vec<Cell> {
    let place = Place {
        table: "wifi-join",
        transport: "802.11",
        payload_bytes: None,
        devices: 1,
        settings: Settings::of_test(&IpTest::Join(*workload)).beyond_columns(),
    };
    let mut cells = Vec::new();
    let mut push = |metric: &str, unit: &str, estimate: Estimate| {
        cells.push(context.cell(&place, metric, unit, estimate));
    };
    let seed = context.seed_of(u64::from(recorded.ordinal) << 32 | u64::from(recorded.repetition));
    let times = series::responses_ms(recorded);
    push("join_time_avg", "ms", bootstrap::mean(&times, seed));
    let sorted = Sorted::new(times);
    push("join_time_min", "ms", sorted.min());
    for (metric, q) in [("join_time_p50", 0.5), ("join_time_p99", 0.99)] {
        push(metric, "ms", sorted.quantile(q));
    }
    push("join_time_max", "ms", sorted.max());
    for ((metric, _), times) in STEPS.iter().zip(series::join_steps_ms(recorded)) {
        push(metric, "ms", bootstrap::mean(&times, seed));
    }
    let tally = Tally::of(&recorded.samples);
    push("loss", "percent", wilson(tally.lost, tally.probes).scaled(100.0));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::run::Site;
    use espbench_model::sample::{Cause, Fate, Probe, Sample};
    use espbench_model::time::{Duration, Instant};
    use espbench_model::workload::Workload;

    fn join(seq: u64, ms: [u64; 4]) -> Sample {
        let due = Instant::from_nanos(seq * 5_000_000_000);
        let after = |ms| Some(due + Duration::from_millis(ms));
        let [found, authenticated, associated, joined] = ms.map(after);
        Sample::Probe(Probe {
            seq,
            due,
            queued: found,
            sent: authenticated,
            acked: associated,
            received: joined,
            fate: Fate::Delivered,
            ..Probe::default()
        })
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        let work = WifiJoin {
            count: 3,
            discard: 0,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(20),
            cold: true,
        };
        let lost = Probe { fate: Fate::Lost(Cause::Disconnected), ..Probe::default() };
        let recorded = Recorded {
            workload: Workload::Join(work),
            samples: [
                join(0, [600, 760, 770, 800]),
                join(1, [640, 800, 812, 860]),
                Sample::Probe(lost),
            ]
            .into(),
            ordinal: 0,
            repetition: 0,
            counters: Default::default(),
            facts: Default::default(),
            error: None,
        };
        let site = Site::default();
        let context = Context { site: &site, origin: Origin::Simulated, seed: 1 };
        let cells = summarize(&work, &recorded, &context);
        let value = |metric: &str| {
            cells.iter().find(|it| it.id.metric == metric).and_then(|it| it.value).unwrap()
        };
        assert_eq!(STEPS.map(|it| value(it.0)), [620.0, 160.0, 11.0, 39.0]);
        assert_eq!((value("join_time_avg"), value("join_time_min")), (830.0, 800.0));
        assert!((value("loss") - 100.0 / 3.0).abs() < 1e-9);
    }
}
