//! Rules by which each piece of advice is given.

use super::{Advice, BEACON_PERIOD, BeaconPhase, Warning, in_phase};
use crate::cell::Cell;
use crate::kind::{self, Observations, SenderPace};
use crate::label;
use crate::metric::{self, Statistic};
use crate::run::Recorded;
use crate::series;
use crate::units::conversion;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact::{self, CertificateCheck};
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_stats::interval::mean;
use espbench_stats::modes;
use espbench_stats::quantile::{Sorted, needed};
use espbench_stats::trend::{self, Drift};

/// A sender that keeps less than this part of the rate asked fell behind.
const KEPT: f64 = 0.98;

/// A clock whose step is more than this part of a time is too coarse for it.
const COARSE: f64 = 0.05;

/// Times that differ by less say nothing of a link: a host that wakes another task, or changes its
/// frequency, takes as long.
const WORTH_MS: f64 = 0.1;

/// Returns the advice on one recorded cell.
#[must_use]
pub fn advise(recorded: &Recorded) -> Vec<Warning> {
    // Of a cell that failed the figures are a part, which asks for no other measurement.
    let figures = match &recorded.error {
        None => [
            bimodal(recorded),
            drifting(recorded),
            sender_behind(recorded),
            beacon_comb(recorded),
            beyond_model(recorded),
        ],
        Some(_) => [const { None }; 5],
    };
    let rules = [overflow(recorded), command_cut(recorded), not_verified(recorded)];
    let place = label::of(recorded);
    let warning = |advice| {
        let (place, workload) = (place.clone(), recorded.workload.kind().into());
        Warning { place, cell: recorded.ordinal + 1, workload, advice }
    };
    rules.into_iter().chain(figures).flatten().map(warning).collect()
}

/// Returns the advice on the step of the host's clock, which only a calibration knows, for a time that is
/// shown under that name.
pub(crate) fn clock(name: &str, cell: &Cell, step_ns: u64) -> Option<Advice> {
    let value = cell.value? * conversion(&cell.unit, "ns")?;
    let is_coarse = value.is_finite() && value > 0.0 && step_ns as f64 > COARSE * value;
    is_coarse.then(|| Advice::ClockTooCoarse {
        metric: name.into(),
        step_ns,
        value_ns: libm::round(value) as u64,
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

/// Returns the advice on a quantile that is shown under that name and has a value, but not both ends of
/// its interval.
pub(crate) fn few_samples(name: &str, cell: &Cell) -> Option<Advice> {
    let needed = needed(level(metric::of(cell).1)?);
    let (n, value) = (cell.n?, cell.value?);
    let is_open = cell.ci_low.is_none() || cell.ci_high.is_none();
    (is_open && n < needed).then(|| Advice::FewSamples {
        metric: name.into(),
        value,
        unit: cell.unit.clone(),
        n,
        needed,
    })
}

fn bimodal(recorded: &Recorded) -> Option<Advice> {
    // Several devices are groups by themselves: one is farther away than another.
    if series::devices(recorded) > 1 {
        return None;
    }
    let Observations { quantity, unit, values } =
        kind::of(&recorded.workload).latencies(recorded)?;
    let sorted = Sorted::new(values);
    let modes = modes::two_modes(sorted.values(), u64::from(recorded.ordinal))?;
    let (metric, unit) = (quantity.into(), String::from(unit));
    is_worth(modes.low, modes.high, &unit).then_some(Advice::Bimodal {
        metric,
        low: modes.low,
        high: modes.high,
        unit,
    })
}

fn drifting(recorded: &Recorded) -> Option<Advice> {
    let Observations { quantity, unit, values } = kind::of(&recorded.workload).course(recorded)?;
    let Drift { first, last } = trend::drift(&values)?;
    let (metric, unit) = (quantity.into(), String::from(unit));
    is_worth(first, last, &unit).then_some(Advice::Drifting { metric, first, last, unit })
}

/// Returns whether two levels are so far apart that something can be done about it: times by more than
/// a host's own scatter.
fn is_worth(one: f64, other: f64, unit: &str) -> bool {
    conversion(unit, "ms").is_none_or(|to_ms| (other - one).abs() * to_ms >= WORTH_MS)
}

fn overflow(recorded: &Recorded) -> Option<Advice> {
    let dropped = *recorded.counters.get("socket-overflow")?;
    (dropped > 0).then_some(Advice::SocketBufferOverflow { dropped })
}

fn sender_behind(recorded: &Recorded) -> Option<Advice> {
    let SenderPace { asked, kept, unit } = kind::of(&recorded.workload).pace(recorded)?;
    let behind = asked.is_finite() && kept < KEPT * asked && !is_mostly_lost(recorded);
    let simulated = recorded.facts.contains_key(fact::LAB);
    behind.then(|| Advice::SenderBehind {
        asked,
        kept,
        unit: unit.into(),
        response_ms: mean(&waiting_ms(recorded)),
        simulated,
    })
}

/// Returns the times from when probes were due, of a kind whose leading times count from when they were sent.
fn waiting_ms(recorded: &Recorded) -> Vec<f64> {
    let is_rtt = kind::of(&recorded.workload).live().times.is_some_and(|it| it.base == "rtt");
    if is_rtt { series::responses_ms(recorded) } else { Vec::new() }
}

/// Returns whether more than half of the probes that were sent are lost: a sender waits for each, and is late by that alone.
fn is_mostly_lost(recorded: &Recorded) -> bool {
    let (mut lost, mut all) = (0_u64, 0_u64);
    for sample in &recorded.samples {
        if let Sample::Probe(Probe { link, fate, sent: Some(_), .. }) = sample
            && !link.is_beside()
        {
            all += 1;
            lost += u64::from(matches!(fate, Fate::Lost(_)));
        }
    }
    2 * lost > all
}

fn command_cut(recorded: &Recorded) -> Option<Advice> {
    let characters = *recorded.counters.get(fact::TYPED_LOST)?;
    (characters > 0).then_some(Advice::CommandCut { characters })
}

/// Returns the advice on sends that were refused where a rate was offered, in the mean of the repetitions, which is the
/// figure that leads; a sender without a rate asks until it is refused.
pub(crate) fn sends_refused<'a>(repetitions: impl Iterator<Item = &'a [Cell]>) -> Option<Advice> {
    let is_offered = |it: &&[Cell]| it.iter().any(|cell| cell.id.metric == "loss_of_offered");
    let counts = repetitions.filter(is_offered).filter_map(|it| count(it, "packets_refused"));
    let counts: Vec<(u64, u64)> = counts.collect();
    let (refused, offered) = counts.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let mean = |sum: u64| libm::round(sum as f64 / counts.len() as f64) as u64;
    // Few in many repetitions are still some.
    (refused > 0)
        .then(|| Advice::SendsRefused { refused: mean(refused).max(1), offered: mean(offered) })
}

/// Returns a count and what it is of.
fn count(cells: &[Cell], metric: &str) -> Option<(u64, u64)> {
    let cell = cells.iter().find(|it| it.id.metric == metric)?;
    Some((libm::round(cell.value?) as u64, cell.n?))
}

fn beacon_comb(recorded: &Recorded) -> Option<Advice> {
    let paced = kind::of(&recorded.workload).is_periodic()?;
    let BeaconPhase { median_ms, strength } = in_phase(recorded, paced)?;
    let period_ms = BEACON_PERIOD.as_nanos() as f64 / 1e6;
    Some(Advice::BeaconComb { median_ms: Some(median_ms), period_ms, strength })
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
