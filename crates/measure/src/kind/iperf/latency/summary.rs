//! Result cells of echo probes around the streams of another test: latency of the idle link against that
//! under load, as flent's tests (Høiland-Jørgensen et al. 2017, "Flent: The FLExible Network Tester") and
//! "Responsiveness under Working Conditions" (draft-ietf-ippm-responsiveness) have it.
//!
//! - `rtt_idle_*` and `rtt_loaded_*` are received - sent of the probes that came back whole and in time,
//!   before the streams begin and from their beginning to their end.
//! - `rtt_added_*` is the difference of the two quantiles, with its interval by the method of variance
//!   estimates recovery ([`interval::difference`]).
//! - `loss_idle` and `loss_loaded` are the shares of probes that were lost or corrupt.

use crate::cell::Cell;
use crate::series;
use crate::summary::round_trips::ProbeCounts;
use crate::summary::{CellColumns, SummaryContext};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use espbench_model::sample::{Link, Sample};
use espbench_stats::Estimate;
use espbench_stats::interval::{self, wilson};
use espbench_stats::quantile::Sorted;

/// Quantiles shown, and how metrics name them.
pub(crate) const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];

/// Returns the cells of the probes among those samples; none where there are no probes.
#[must_use]
pub(in crate::kind::iperf) fn summarize(
    place: &CellColumns<'_>,
    samples: &[Sample],
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let phases = [("idle", Link::IDLE), ("loaded", Link::LOADED)]
        .map(|(name, link)| (name, Phase::of(link, samples)));
    let mut cells = Vec::new();
    if phases.iter().all(|(_, phase)| phase.tally.probes == 0) {
        return cells;
    }
    let mut push = |metric: &str, unit: &str, estimate: Estimate, note: Option<&str>| {
        let cell = context.cell(place, metric, unit, estimate);
        cells.push(Cell { note: note.map(ToString::to_string), ..cell });
    };
    for (name, phase) in &phases {
        for (ending, q) in QUANTILES {
            push(&format!("rtt_{name}_{ending}"), "ms", phase.times.quantile(q), None);
        }
        let ProbeCounts { probes, lost, corrupt, .. } = phase.tally;
        push(
            &format!("loss_{name}"),
            "percent",
            wilson(lost + corrupt, probes).scaled(100.0),
            None,
        );
    }
    let [(_, idle), (_, loaded)] = &phases;
    for (ending, q) in QUANTILES {
        let added = interval::difference(&loaded.times.quantile(q), &idle.times.quantile(q));
        push(&format!("rtt_added_{ending}"), "ms", added, Some(verdict(&added)));
    }
    cells
}

/// Returns the verdict that the interval of a difference allows.
fn verdict(added: &Estimate) -> &'static str {
    match (added.low, added.high) {
        (Some(low), _) if low > 0.0 => "the load adds latency",
        (_, Some(high)) if high < 0.0 => {
            "latency is lower under load: the device may sleep when idle"
        }
        (Some(_), Some(_)) => "no difference shown",
        _ => "too few probes to say",
    }
}

/// The probes of one link.
struct Phase {
    times: Sorted,
    tally: ProbeCounts,
}

impl Phase {
    fn of(link: Link, samples: &[Sample]) -> Self {
        let of_link = |s: &&Sample| matches!(s, Sample::Probe(p) if p.link == link);
        let probes: Vec<Sample> = samples.iter().filter(of_link).copied().collect();
        Self { times: Sorted::new(series::round_trips(&probes)), tally: ProbeCounts::of(&probes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::run::Site;
    use crate::settings::Settings;
    use espbench_model::sample::{Cause, Fate, Probe};
    use espbench_model::time::Instant;

    fn probes(link: Link, ms: impl Iterator<Item = u64>) -> Vec<Sample> {
        let probe = |(seq, ms): (u64, u64)| {
            let at = |ms: u64| Some(Instant::from_nanos(ms * 1_000_000));
            let (sent, received) = (at(seq * 50), at(seq * 50 + ms));
            Sample::Probe(Probe { link, seq, sent, received, ..Probe::default() })
        };
        (0..).zip(ms).map(probe).collect()
    }

    fn cells(samples: &[Sample]) -> Vec<Cell> {
        let site = Site::default();
        let context = SummaryContext { site: &site, origin: Origin::Measured, seed: 1 };
        let place = CellColumns {
            table: crate::kind::iperf::KIND,
            transport: "tcp",
            payload_bytes: None,
            devices: 1,
            settings: Settings::default(),
        };
        summarize(&place, samples, &context)
    }

    #[track_caller]
    fn cell<'a>(cells: &'a [Cell], metric: &str) -> &'a Cell {
        cells.iter().find(|c| c.id.metric == metric).unwrap()
    }

    #[test]
    fn what_the_load_adds_is_the_difference_of_the_quantiles() {
        let lost =
            Probe { link: Link::LOADED, fate: Fate::Lost(Cause::Unknown), ..Probe::default() };
        let mut samples = probes(Link::IDLE, (0..100).map(|n| 2 + n % 3));
        samples.extend(probes(Link::LOADED, (0..99).map(|n| 50 + n % 5)));
        samples.push(Sample::Probe(lost));
        // A stream's own link is none of ours.
        samples.extend(probes(Link(0), (0..50).map(|_| 7)));
        let cells = cells(&samples);
        assert_eq!(cell(&cells, "rtt_idle_p50").value, Some(3.0));
        assert_eq!(cell(&cells, "rtt_loaded_p50").value, Some(52.0));
        assert_eq!(cell(&cells, "loss_idle").value, Some(0.0));
        assert_eq!(cell(&cells, "loss_loaded").value, Some(1.0));
        let added = cell(&cells, "rtt_added_p50");
        assert_eq!(
            (added.value, added.note.as_deref()),
            (Some(49.0), Some("the load adds latency"))
        );
        assert!(added.ci_low.unwrap() > 45.0 && added.ci_high.unwrap() < 52.0, "{added:?}");
    }

    #[test]
    fn without_a_difference_none_is_claimed() {
        let mut samples = probes(Link::IDLE, (0..100).map(|n| 2 + n % 9));
        samples.extend(probes(Link::LOADED, (0..100).map(|n| 2 + n % 9)));
        let same = cells(&samples);
        assert_eq!(cell(&same, "rtt_added_p50").note.as_deref(), Some("no difference shown"));
        let few = cells(&probes(Link::IDLE, (0..3).map(|_| 2)));
        assert_eq!(cell(&few, "rtt_added_p50").value, None);
        assert_eq!(cell(&few, "rtt_added_p50").note.as_deref(), Some("too few probes to say"));
        assert_eq!(cells(&probes(Link(0), (0..3).map(|_| 2))), []);
    }
}
