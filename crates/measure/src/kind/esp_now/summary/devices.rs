//! Round trips that many devices ask for at once.
//!
//! The document's note: the mean is that of the devices' means, the largest that of their maxima,
//! the loss the mean of their losses. Intervals are Student's over the devices, of the loss that of a share
//! in groups; devices share one medium, so another run may lie farther off than they say.

use super::out::{CUT, EspNowCells};
use super::times;
use crate::live::LateProbes;
use crate::run::Recorded;
use crate::series::ByLink;
use crate::summary::round_trips::ProbeCounts;
use alloc::vec::Vec;
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_stats::Estimate;
use espbench_stats::cluster;
use espbench_stats::interval::{fairness, mean, mean_t, stddev};
use espbench_stats::quantile::Sorted;

/// Results of one device.
struct Device {
    printed: Vec<f64>,
    exact: Vec<f64>,
    tally: ProbeCounts,
    /// Answers a second, from its first ping to its last answer.
    rate: f64,
}

impl Device {
    fn of(samples: &[Sample]) -> Self {
        let all = samples.iter().filter_map(|sample| match sample {
            Sample::Probe(probe) => Some(probe),
            Sample::Interval(_) => None,
        });
        let whole: Vec<&Probe> = all.clone().filter(|p| p.fate == Fate::Delivered).collect();
        let begin = all.map(|p| p.due).min();
        let end = whole.iter().filter_map(|p| p.received).max();
        let seconds = begin.zip(end).map_or(0.0, |(b, e)| e.since(b).as_secs_f64());
        Self {
            printed: times::printed(&whole),
            exact: times::exact(&whole),
            tally: ProbeCounts::of(samples),
            rate: if seconds > 0.0 { whole.len() as f64 / seconds } else { 0.0 },
        }
    }

    /// Returns the device's losses in percent of its pings.
    fn loss(&self) -> Option<f64> {
        let (lost, of) = self.tally.loss_of(LateProbes::Lost);
        (of > 0).then(|| 100.0 * lost as f64 / of as f64)
    }
}

fn devices(recorded: &Recorded) -> Vec<Device> {
    let mut by_link = ByLink::<Vec<Sample>>::default();
    for sample in &recorded.samples {
        if let Sample::Probe(probe) = sample {
            by_link.of(probe.link).push(*sample);
        }
    }
    by_link.values().map(|samples| Device::of(samples)).collect()
}

pub(super) fn ping(out: &mut EspNowCells<'_>, recorded: &Recorded, seed: u64) {
    let devices = devices(recorded);
    let means = |times: fn(&Device) -> &Vec<f64>| -> Vec<f64> {
        devices.iter().filter_map(|d| mean(times(d))).collect()
    };
    let all = |times: fn(&Device) -> &Vec<f64>| -> Vec<f64> {
        devices.iter().flat_map(|d| times(d).iter().copied()).collect()
    };
    let times = all(|d| &d.exact);
    out.extremes("rtt_exact", &times, seed, None);
    out.quantiles("rtt_exact", &times, None);
    let printed = Sorted::new(all(|d| &d.printed));
    out.push("rtt_avg", "ms", mean_t(&means(|d| &d.printed)), Some(CUT));
    out.push("rtt_max", "ms", printed.max(), Some(CUT));
    out.push("rtt_min", "ms", printed.min(), Some(CUT));
    let late: u64 = devices.iter().map(|d| d.tally.late).sum();
    let probes: u64 = devices.iter().map(|d| d.tally.probes).sum();
    out.push("loss", "percent", loss(&devices), times::lateness(late));
    out.exact("probes_late", "probes", late as f64, probes);
    let jitters: Vec<f64> = devices.iter().filter_map(|d| times::jitter(&d.exact).value).collect();
    out.push("jitter", "ms", mean_t(&jitters), None);
    spread(out, &devices, &means(|d| &d.exact));
}

/// Adds how far the devices' results differ from one another.
fn spread(out: &mut EspNowCells<'_>, devices: &[Device], means: &[f64]) {
    let n = means.len() as u64;
    let sorted = Sorted::new(means.to_vec());
    out.push("device_rtt_min", "ms", sorted.min(), Some("the device of the smallest mean"));
    out.push("device_rtt_max", "ms", sorted.max(), Some("the device of the largest mean"));
    let deviation = Estimate { value: stddev(means), n, ..Estimate::default() };
    out.push("device_rtt_stddev", "ms", deviation, Some("of the devices' means"));
    let rates: Vec<f64> = devices.iter().map(|d| d.rate).collect();
    let index = Estimate { value: fairness(&rates), n: rates.len() as u64, ..Estimate::default() };
    out.push("fairness", "index", index, Some("Jain's index of the devices' answers a second"));
}

/// Returns the mean of the devices' losses in percent, with the interval of a share of pings whose losses come
/// by device: devices that lost nothing are only as sure as their pings are many.
fn loss(devices: &[Device]) -> Estimate {
    let losses: Vec<f64> = devices.iter().filter_map(Device::loss).collect();
    let counts: Vec<(u64, u64)> =
        devices.iter().map(|it| it.tally.loss_of(LateProbes::Lost)).collect();
    let share = cluster::proportion(&counts).scaled(100.0);
    // All devices ask equally often, so that both are the same but for what a stop left open.
    Estimate { value: mean(&losses), ..share }
}
