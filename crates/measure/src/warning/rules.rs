//! Rules by which each piece of advice is given.

use super::{Advice, BEACON_PERIOD, Warning, in_phase};
use crate::cell::Cell;
use crate::kind::{self, SenderPace};
use crate::label;
use crate::metric::{self, Statistic};
use crate::quantile::{Sorted, needed};
use crate::run::Recorded;
use crate::units::conversion;
use crate::{modes, trend};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact::{self, CertificateCheck};

/// A sender that keeps less than this part of the rate asked fell behind.
const KEPT: f64 = 0.98;

/// A clock whose step is more than this part of the median is too coarse.
const COARSE: f64 = 0.05;

/// Returns the advice on one recorded cell and the result cells made of it.
#[must_use]
pub fn advise(recorded: &Recorded, cells: &[Cell]) -> Vec<Warning> {
    let rules = [
        few_samples(cells),
        bimodal(recorded),
        drifting(recorded),
        overflow(recorded),
        sender_behind(recorded),
        command_cut(recorded),
        partly_served(cells),
        sends_refused(cells),
        beacon_comb(recorded),
        not_verified(recorded),
        beyond_model(recorded),
    ];
    let place = label::of(recorded);
    let warning = |advice| {
        let (place, workload) = (place.clone(), recorded.workload.kind().into());
        Warning { place, workload, advice }
    };
    rules.into_iter().flatten().map(warning).collect()
}

/// Returns the advice on the step of the host's clock, which only a calibration knows. `cells` are
/// the result cells of one recorded cell; `kind` is that of its workload, and `place` names it.
#[must_use]
pub fn clock(kind: &str, place: &str, cells: &[Cell], step_ns: u64) -> Option<Warning> {
    let medians = cells.iter().filter(|c| metric::of(c).1 == Statistic::P50);
    let in_ns = medians.filter_map(|c| Some(c.value? * conversion(&c.unit, "ns")?));
    let median = in_ns.filter(|ns| ns.is_finite()).reduce(f64::min)?;
    (step_ns as f64 > COARSE * median).then(|| Warning {
        place: place.into(),
        workload: kind.into(),
        advice: Advice::ClockTooCoarse { step_ns, median_ns: libm::round(median) as u64 },
    })
}

/// Returns the quantile that a metric's name stands for.
const fn level(statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::P50 => Some(0.5),
        Statistic::P90 => Some(0.9),
        Statistic::P95 => Some(0.95),
        Statistic::P99 => Some(0.99),
        Statistic::P999 => Some(0.999),
        _ => None,
    }
}

/// Finds quantiles with a value, but without both ends of their interval. All of a cell's are one
/// advice.
fn few_samples(cells: &[Cell]) -> Option<Advice> {
    let mut found: Option<(String, u64, u64)> = None;
    for cell in cells {
        let Some(q) = level(metric::of(cell).1) else { continue };
        let (Some(n), Some(_)) = (cell.n, cell.value) else { continue };
        let wanted = needed(q);
        if n >= wanted {
            continue;
        }
        found = Some(match found {
            None => (cell.id.metric.clone(), n, wanted),
            Some((metrics, least, most)) => {
                (format!("{metrics}, {}", cell.id.metric), least.min(n), most.max(wanted))
            }
        });
    }
    found.map(|(metrics, n, needed)| Advice::FewSamples { metrics, n, needed })
}

fn bimodal(recorded: &Recorded) -> Option<Advice> {
    let sorted = Sorted::new(kind::of(&recorded.workload).latencies(recorded));
    let modes = modes::two_modes(sorted.values(), u64::from(recorded.ordinal))?;
    Some(Advice::Bimodal { low: modes.low, high: modes.high, unit: "ms".into() })
}

fn drifting(recorded: &Recorded) -> Option<Advice> {
    let values = kind::of(&recorded.workload).course(recorded);
    trend::drift(&values).map(|ratio| Advice::Drifting { ratio })
}

fn overflow(recorded: &Recorded) -> Option<Advice> {
    let dropped = *recorded.counters.get("socket-overflow")?;
    (dropped > 0).then_some(Advice::SocketBufferOverflow { dropped })
}

fn sender_behind(recorded: &Recorded) -> Option<Advice> {
    let SenderPace { asked, kept, unit } = kind::of(&recorded.workload).pace(recorded)?;
    let behind = asked.is_finite() && kept < KEPT * asked;
    behind.then(|| Advice::SenderBehind { asked, kept, unit: unit.into() })
}

fn command_cut(recorded: &Recorded) -> Option<Advice> {
    let characters = *recorded.counters.get(fact::TYPED_LOST)?;
    (characters > 0).then_some(Advice::CommandCut { characters })
}

fn partly_served(cells: &[Cell]) -> Option<Advice> {
    let (served, devices) = count(cells, "devices_served")?;
    (served < devices).then_some(Advice::PartlyServed { served, devices })
}

/// Finds sends that were refused where a rate was offered; a sender without one asks until it is refused.
fn sends_refused(cells: &[Cell]) -> Option<Advice> {
    cells.iter().find(|it| it.id.metric == "loss_of_offered")?;
    let (refused, offered) = count(cells, "packets_refused")?;
    (refused > 0).then_some(Advice::SendsRefused { refused, offered })
}

/// Returns a count and what it is of.
fn count(cells: &[Cell], metric: &str) -> Option<(u64, u64)> {
    let cell = cells.iter().find(|it| it.id.metric == metric)?;
    Some((cell.value? as u64, cell.n?))
}

fn beacon_comb(recorded: &Recorded) -> Option<Advice> {
    let paced = kind::of(&recorded.workload).is_periodic()?;
    let strength = in_phase(recorded, paced)?;
    let period_ms = BEACON_PERIOD.as_nanos() as f64 / 1e6;
    Some(Advice::BeaconComb { period_ms, strength })
}

fn beyond_model(recorded: &Recorded) -> Option<Advice> {
    let metres = |fact| recorded.told(fact).filter(|it: &f64| it.is_finite());
    let (farthest_m, valid_m) = (metres(fact::FARTHEST_M)?, metres(fact::MODEL_ENDS_M)?);
    Some(Advice::BeyondModel { farthest_m, valid_m })
}

fn not_verified(recorded: &Recorded) -> Option<Advice> {
    let certificate = recorded.told(fact::TLS_CERTIFICATE)?;
    (certificate == CertificateCheck::NotVerified).then_some(Advice::CertificateNotVerified)
}
