//! Charge that a cell took from the battery, where the target counted it
//! ([`fact::CHARGE_NC`](espbench_model::fact::CHARGE_NC)).
//!
//! | metric | meaning |
//! |---|---|
//! | `current_mean` | the charge over the time in which it was counted |
//! | `charge_per_message` | the charge over the messages that arrived; of iperf there is none |
//! | `response_avg`, `response_p99` | from when a message was due until it had arrived; of an echo, until it was back |
//! | `battery_life` | for how long a battery gives that current: [`Battery::usual`], or the plan's |
//!
//! All hold for the cell's own rate of messages: at another rate they are others.

use crate::cell::{Cell, Identity};
use crate::kind;
use crate::predict::battery::Battery;
use crate::run::Recorded;
use crate::series;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact::{CHARGE_NC, TIME_NS};
use espbench_model::sample::{Fate, Link, Sample};
use espbench_stats::Estimate;
use espbench_stats::quantile::Sorted;

/// Returns the cells that are not among those of the same work, which give the identity columns; none where no charge
/// was counted.
pub(crate) fn cells(recorded: &Recorded, known: &[Cell]) -> Vec<Cell> {
    let Some(like) = known.first() else { return Vec::new() };
    let count = |name: &str| recorded.counters.get(name).copied();
    let (Some(charge), Some(time)) = (count(CHARGE_NC), count(TIME_NS).filter(|it| *it > 0)) else {
        return Vec::new();
    };
    // nC over ns is A.
    let milliamperes = charge as f64 / time as f64 * 1e3;
    let mut cells = Vec::new();
    let mut push = |metric: &str, unit: &str, value: f64, n: u64| {
        let id = Identity { metric: metric.into(), ..like.id.clone() };
        let settings = like.settings.clone();
        cells.push(Cell { settings, ..Cell::of(Estimate::exact(value, n), id, unit, like.origin) });
    };
    push("current_mean", "mA", milliamperes, 1);
    let messages = delivered(recorded);
    if messages > 0 {
        push("charge_per_message", "uC", charge as f64 / 1e3 / messages as f64, messages);
    }
    let times = series::responses_ms(recorded);
    let is_known = known.iter().any(|it| it.id.metric == "response_avg");
    if !times.is_empty() && !is_known {
        let n = times.len() as u64;
        push("response_avg", "ms", times.iter().sum::<f64>() / n as f64, n);
        let p99 = Sorted::new(times).quantile(0.99);
        push("response_p99", "ms", p99.value.unwrap_or_default(), n);
    }
    if !kind::of(&recorded.workload).is_lasting() {
        return cells;
    }
    if milliamperes > 0.0 {
        push("battery_life", "h", 0.0, 1);
        lasts(&Battery::usual(), &mut cells);
    }
    cells
}

/// Says in the cells for how long that battery gives the current that stands beside it.
pub(crate) fn lasts(battery: &Battery, cells: &mut [Cell]) {
    let current = cells.iter().find(|it| it.id.metric == "current_mean");
    let Some(current) = current.and_then(|it| it.value) else { return };
    if let Some(life) = cells.iter_mut().find(|it| it.id.metric == "battery_life") {
        life.value = Some(battery.hours(current));
        let plain = format!("{:.0} mAh", battery.capacity_mah);
        let what = if battery.volts.is_some() { battery.words() } else { plain };
        life.note = Some(format!("of {what}, at this rate of messages"));
    }
}

/// Returns the current of the power state that took most, in milliamperes: that of sending. `None` where no charge was
/// counted by state, or the test is of no lasting work.
pub(crate) fn peak_ma(recorded: &Recorded) -> Option<f64> {
    let counters = &recorded.counters;
    kind::of(&recorded.workload).is_lasting().then_some(())?;
    let current = |(name, charge): (&String, &u64)| {
        let state = name.strip_prefix(CHARGE_NC)?.strip_prefix('-')?;
        let time = counters.get(&format!("{TIME_NS}-{state}")).filter(|it| **it > 0)?;
        Some(*charge as f64 / *time as f64 * 1e3)
    };
    counters.iter().filter_map(current).reduce(f64::max)
}

/// Returns how many messages arrived of the device whose charge is known, the first of several; copies count once.
fn delivered(recorded: &Recorded) -> u64 {
    let is_lone = series::devices(recorded) == 1;
    let is_own = |link: Link| is_lone || link == Link(0);
    let arrived = |it: &&Sample| matches!(it, Sample::Probe(p) if p.fate == Fate::Delivered && is_own(p.link));
    recorded.samples.iter().filter(arrived).count() as u64
}
