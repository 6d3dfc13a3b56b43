//! From wants to the answer.

use super::error::TuneError;
use super::lab::TuneLab;
use alloc::vec::Vec;
use espbench_measure::tune::answer::{TuneAnswer, Without};
use espbench_measure::tune::{Candidate, Evaluation, Metric, Search, SearchSpace, Trial};

/// A part of the work, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneStage {
    /// Candidates are tried.
    Search,
    /// The best is tried without each of its settings.
    Without,
    /// Settings that seem to be good for nothing are left out.
    Plain,
}

/// Makes the evaluations that an answer takes.
pub trait TrialRunner {
    /// Takes note that a part begins, of so many evaluations at most.
    fn begin(&mut self, stage: TuneStage, most: usize) {
        let _ = (stage, most);
    }

    /// Tries candidates, each with a seed ([`TuneLab::evaluate`]), and returns the outcomes in their
    /// order; `None` for those that were not begun any more, or stopped.
    ///
    /// # Errors
    /// That of the first evaluation that has one.
    fn trials(
        &mut self,
        lab: &TuneLab,
        trials: &[(Candidate, u32)],
    ) -> Result<Vec<Option<Evaluation>>, TuneError>;

    /// Returns whether somebody wants to stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Makes one evaluation after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct InTurn;

impl TrialRunner for InTurn {
    fn trials(
        &mut self,
        lab: &TuneLab,
        trials: &[(Candidate, u32)],
    ) -> Result<Vec<Option<Evaluation>>, TuneError> {
        trials.iter().map(|it| lab.evaluate(&it.0, it.1, &|| false).map(Some)).collect()
    }
}

/// Searches settings that reach what is wanted.
///
/// # Errors
/// The runner's.
pub fn search(lab: &TuneLab, runner: &mut dyn TrialRunner) -> Result<TuneAnswer, TuneError> {
    let setup = lab.setup();
    let wanted: Vec<Metric> = setup.wants.iter().map(|it| it.metric).collect();
    let space = SearchSpace::new(*lab.context(), &wanted, setup.streams);
    let mut search = Search::new(space, &setup.wants, setup.seed, setup.budget);
    runner.begin(TuneStage::Search, setup.budget);
    loop {
        let batch = search.batch();
        if batch.is_empty() || runner.cancelled() {
            break;
        }
        let trials: Vec<(Candidate, u32)> =
            batch.iter().map(|it| (it.candidate, it.seed as u32)).collect();
        let outcomes = runner.trials(lab, &trials)?;
        let results: Vec<(Trial, Option<Evaluation>)> = batch.into_iter().zip(outcomes).collect();
        search.record(&results);
    }
    let mut answer = TuneAnswer::of(&search, *lab.context(), setup.streams);
    without(lab, runner, &mut answer)?;
    if let Some(plain) = answer.plain().filter(|_| !runner.cancelled()) {
        let seeds = answer.best().map_or(1, |it| it.outcomes.len()) as u32;
        let trials: Vec<(Candidate, u32)> = (0..seeds).map(|seed| (plain, seed)).collect();
        runner.begin(TuneStage::Plain, trials.len());
        let outcomes: Vec<Evaluation> =
            runner.trials(lab, &trials)?.into_iter().flatten().collect();
        answer.spent += outcomes.len();
        if answer.prefer(plain, outcomes) {
            without(lab, runner, &mut answer)?;
        }
    }
    answer.stopped = runner.cancelled();
    answer.notes = lab.notes();
    Ok(answer)
}

/// Tries the recommended candidate without each of its settings: what each is good for.
fn without(
    lab: &TuneLab,
    runner: &mut dyn TrialRunner,
    answer: &mut TuneAnswer,
) -> Result<(), TuneError> {
    let Some(best) = answer.best() else { return Ok(()) };
    let changes = best.candidate.changes(&answer.context);
    let trial = |it: &(_, u32)| (best.candidate.without(it.0, &answer.context), 0);
    let trials: Vec<(Candidate, u32)> = changes.iter().map(trial).collect();
    runner.begin(TuneStage::Without, trials.len());
    let outcomes = runner.trials(lab, &trials)?;
    answer.spent += trials.len();
    let pairs = changes.into_iter().zip(outcomes);
    answer.without = pairs.map(|((key, value), outcome)| Without { key, value, outcome }).collect();
    Ok(())
}
