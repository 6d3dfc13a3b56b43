//! A check of an sdkconfig with what the lab adds to it: the processor's and the air's limits, and
//! the one setting that gives most.

use super::error::TuneError;
use super::lab::TuneLab;
use super::search::{TrialRunner, TuneStage};
use alloc::vec::Vec;
use espbench_measure::tune::check::{AdvisedChange, CheckAdvice, CheckInput, Checked, check};
use espbench_measure::tune::{Candidate, Evaluation, Metric, SearchSpace, TunedSetting, limit};
use espbench_model::sdkconfig::OptionValues;
use espbench_stats::interval::mean_t;

/// Directions that advice is about.
const TCP: [Metric; 2] = [Metric::TcpTx, Metric::TcpRx];

/// Seeds of the advice, beyond those with which it was found.
const SEEDS: core::ops::Range<u32> = 1000..1005;

/// A change that gives less than this share is not worth its line, and one that takes more is refused.
const GIVES: f64 = 1.02;

/// Of changes whose gain is at least this share of the best one's, the one that costs least is taken.
const NEARLY: f64 = 0.9;

/// Adds to the check of an input what the lab finds out about its file.
///
/// # Errors
/// The runner's.
pub fn simulate(
    checked: &mut Checked,
    input: &CheckInput,
    lab: &TuneLab,
    runner: &mut dyn TrialRunner,
) -> Result<(), TuneError> {
    checked.limits = lab.limits(lab.base(), &TCP, &|| false)?;
    checked.limits.extend(lab.bounds(lab.base(), &[Metric::UdpTx, Metric::UdpRx])?);
    limit::rank(&mut checked.limits);
    checked.place = Some(lab.place());
    let (advice, candidate) = advice(lab, runner)?.unzip();
    checked.advice = advice;
    if let Some(candidate) = candidate {
        let mut reading = input.reading.clone();
        for setting in candidate.changes(lab.base()) {
            if let TunedSetting::Option(key) = setting
                && let Some(value) = OptionValues::from(&candidate.config).get(key)
            {
                reading.settings.set(key, value);
            }
        }
        checked.mend(&check(&CheckInput { reading, ..input.clone() }));
    }
    // What the advice is about comes first.
    let advised = checked.advice.as_ref().map(|it| it.metric);
    checked.limits.sort_by_key(|it| Some(it.metric) != advised);
    Ok(())
}

/// A change with what it gives.
struct Gain {
    candidate: Candidate,
    metric: Metric,
    /// Throughput with it over that without.
    factor: f64,
    /// Heap that it leaves more, in bytes.
    heap: i64,
}

/// Returns the gain of a change: the larger of both directions, if none is the worse for it.
fn gain(candidate: Candidate, before: &Evaluation, after: &Evaluation) -> Option<Gain> {
    let factor = |it: Metric| Some((it, after.value(it)? / before.value(it)?.max(1e-3)));
    let factors: Vec<(Metric, f64)> = TCP.into_iter().filter_map(factor).collect();
    let worse = factors.iter().any(|it| it.1 < 1.0 / GIVES);
    let (metric, factor) = factors.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let heap = after.free_heap? - before.free_heap?;
    (!worse && factor > GIVES).then_some(Gain { candidate, metric, factor, heap })
}

/// Returns the change that gives most, with the firmware that has it.
fn advice(
    lab: &TuneLab,
    runner: &mut dyn TrialRunner,
) -> Result<Option<(CheckAdvice, Candidate)>, TuneError> {
    let (base, streams) = (*lab.base(), lab.setup().streams);
    let space = SearchSpace::new(*lab.context(), base, &TCP, streams, lab.psram());
    let mut changes = space.single_changes();
    changes.retain(|it| it.fits(streams) || !base.fits(streams));
    let trials: Vec<(Candidate, u32)> =
        core::iter::once(base).chain(changes.iter().copied()).map(|it| (it, 0)).collect();
    runner.begin(TuneStage::Search, trials.len());
    let outcomes = runner.trials(lab, &trials, &TCP)?;
    let [Some(before), rest @ ..] = outcomes.as_slice() else { return Ok(None) };
    let gains = changes.into_iter().zip(rest);
    let gains: Vec<Gain> =
        gains.filter_map(|(it, after)| gain(it, before, after.as_ref()?)).collect();
    let Some(most) = gains.iter().map(|it| it.factor - 1.0).reduce(f64::max) else {
        return Ok(None);
    };
    let good = gains.into_iter().filter(|it| it.factor - 1.0 >= NEARLY * most);
    let Some(best) = good.max_by_key(|it| it.heap) else { return Ok(None) };
    Ok(proved(lab, runner, &best)?.map(|it| (it, best.candidate)))
}

/// Tries a change again with new seeds: advice, if the intervals lie apart.
fn proved(
    lab: &TuneLab,
    runner: &mut dyn TrialRunner,
    best: &Gain,
) -> Result<Option<CheckAdvice>, TuneError> {
    let base = *lab.base();
    let both = [base, best.candidate];
    let trials: Vec<(Candidate, u32)> =
        both.iter().flat_map(|it| SEEDS.map(|seed| (*it, seed))).collect();
    runner.begin(TuneStage::Again, trials.len());
    let outcomes = runner.trials(lab, &trials, &[best.metric, Metric::Current])?;
    let [before, after] = [0, 1].map(|at| {
        let own = &outcomes[at * SEEDS.len()..(at + 1) * SEEDS.len()];
        own.iter().copied().flatten().collect::<Vec<Evaluation>>()
    });
    let interval = |of: &[Evaluation]| {
        let values: Vec<f64> = of.iter().filter_map(|it| it.value(best.metric)).collect();
        let it = mean_t(&values);
        Some([it.value?, it.low?, it.high?])
    };
    let Some((was, is)) = interval(&before).zip(interval(&after)) else { return Ok(None) };
    if is[1] <= was[2] {
        return Ok(None);
    }
    let [heap_before, heap_after] =
        [&before, &after].map(|of| of.iter().filter_map(|it| it.free_heap).min().unwrap_or(0));
    let current = |of: &[Evaluation]| Evaluation::mean(of).current_ma;
    let fixed = lab.static_tx();
    let change = |it: TunedSetting| AdvisedChange {
        line: it.line(&best.candidate, lab.context(), fixed),
        from: it.shown(&base),
    };
    Ok(Some(CheckAdvice {
        set: best.candidate.changes(&base).into_iter().map(change).collect(),
        metric: best.metric,
        before: was,
        after: is,
        heap_bytes: heap_after - heap_before,
        free_heap_bytes: [heap_before, heap_after],
        current_ma: current(&before).zip(current(&after)).map(|(was, is)| [was, is]),
    }))
}
