//! From wants to the answer.

use super::error::TuneError;
use super::lab::TuneLab;
use alloc::vec::Vec;
use espbench_measure::tune::answer::{Recommendation, RecommendedChange, TuneAnswer};
use espbench_measure::tune::{
    Candidate, Evaluation, Metric, Search, SearchSpace, Trial, TunedSetting,
};

/// A part of the work, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneStage {
    /// Candidates are tried.
    Search,
    /// Changes that the wants do not need are dropped.
    Prune,
    /// The candidates that are left are tried again, with new seeds.
    Again,
    /// Each change is left out, and taken back as far as it goes.
    Each,
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
        metrics: &[Metric],
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
        metrics: &[Metric],
    ) -> Result<Vec<Option<Evaluation>>, TuneError> {
        trials.iter().map(|it| lab.evaluate(&it.0, it.1, metrics, &|| false).map(Some)).collect()
    }
}

/// Seeds with which changes are dropped, from 0.
const PRUNING: u32 = 3;

/// The first of the seeds with which a recommendation is tried again, and how many there are: no
/// search goes so far.
const AGAIN: u32 = 1000;
const SEEDS: u32 = 5;

/// Candidates of the search that are tried again, if those before do not have what is wanted then.
const ATTEMPTS: usize = 3;

/// A candidate is nearer to the wants than another if it misses less by so much: 1 % of a value.
const NEARER: f64 = 0.01;

/// Searches settings that reach what is wanted, with the fewest changes to the firmware.
///
/// # Errors
/// The runner's.
pub fn search(lab: &TuneLab, runner: &mut dyn TrialRunner) -> Result<TuneAnswer, TuneError> {
    let setup = lab.setup();
    let wanted: Vec<Metric> = setup.wants.iter().map(|it| it.metric).collect();
    let space = SearchSpace::new(*lab.context(), *lab.base(), &wanted, setup.streams, lab.psram());
    let mut search = Search::new(space, &setup.wants, setup.seed, setup.budget);
    runner.begin(TuneStage::Search, setup.budget);
    loop {
        let batch = search.batch();
        if batch.is_empty() || runner.cancelled() {
            break;
        }
        let trials: Vec<(Candidate, u32)> =
            batch.iter().map(|it| (it.candidate, it.seed as u32)).collect();
        let outcomes = runner.trials(lab, &trials, lab.objectives())?;
        let results: Vec<(Trial, Option<Evaluation>)> = batch.into_iter().zip(outcomes).collect();
        search.record(&results);
    }
    let mut answer = TuneAnswer::of(&search, setup.streams, lab.rtt().clone());
    answer.file = setup.file.as_ref().map(|it| it.name.clone());
    answer.static_tx = lab.static_tx();
    answer.place = lab.place();
    answer.notes = lab.notes();
    answer.weak_battery = lab.weak_battery();
    let stop = || false;
    answer.beyond = lab.beyond_reach(&stop)?;
    let mut after = Afterwards { lab, runner, search: &search, spent: 0 };
    answer.recommended = after.recommendation(&mut answer.before)?;
    answer.spent += after.spent;
    answer.stopped = runner.cancelled();
    Ok(answer)
}

/// Ways to go on with the candidates of a search that is over.
struct Afterwards<'a> {
    lab: &'a TuneLab,
    runner: &'a mut dyn TrialRunner,
    search: &'a Search,
    spent: usize,
}

impl Afterwards<'_> {
    /// Tries candidates, each with the same seeds: outcomes for each, fewer where it was stopped.
    fn each(
        &mut self,
        candidates: &[Candidate],
        seeds: core::ops::Range<u32>,
        metrics: &[Metric],
    ) -> Result<Vec<Vec<Evaluation>>, TuneError> {
        let trials: Vec<(Candidate, u32)> =
            candidates.iter().flat_map(|it| seeds.clone().map(move |seed| (*it, seed))).collect();
        self.spent += trials.len();
        let outcomes = self.runner.trials(self.lab, &trials, metrics)?;
        let each = outcomes.chunks(seeds.len().max(1));
        Ok(each.map(|it| it.iter().copied().flatten().collect()).collect())
    }

    /// Returns the part of the wants that outcomes miss; all where there are none.
    fn missing(&self, outcomes: &[Evaluation]) -> f64 {
        let mean = Evaluation::mean(outcomes);
        self.lab.setup().wants.iter().map(|it| it.shortfall(&mean)).sum()
    }

    /// Returns the metrics that a recommendation is shown with: what it costs, too.
    fn shown(&self) -> Vec<Metric> {
        let mut all = self.lab.objectives().to_vec();
        all.extend([Metric::Heap, Metric::Current]);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Prunes the best candidates of the search and tries them again, until one has what is wanted; if
    /// none has, the nearest is returned. `before` takes the outcomes of the firmware itself.
    fn recommendation(
        &mut self,
        before: &mut Vec<Evaluation>,
    ) -> Result<Option<Recommendation>, TuneError> {
        let metrics = self.shown();
        let again = AGAIN..AGAIN + SEEDS;
        let mut nearest: Option<(Candidate, Vec<Evaluation>, f64)> = None;
        'attempts: for index in self.search.ranked().into_iter().take(ATTEMPTS) {
            let whole = self.search.tried()[index].candidate;
            let pruned = self.pruned(whole, self.search.missing(index))?;
            // The least that is enough is recommended; where new seeds say that it is not, one step more.
            let [least, spare] = self.tightened(pruned)?;
            let mut all = alloc::vec![least, spare, pruned, whole];
            all.dedup();
            for candidate in all {
                self.runner.begin(TuneStage::Again, SEEDS as usize);
                let outcomes = self.each(&[candidate], again.clone(), &metrics)?.remove(0);
                if outcomes.is_empty() {
                    break 'attempts;
                }
                let missing = self.missing(&outcomes);
                // More changes are worth it where they are nearer by more than can be told apart.
                if nearest.as_ref().is_none_or(|it| missing <= 0.0 || missing < it.2 - NEARER) {
                    nearest = Some((candidate, outcomes, missing));
                }
                if missing <= 0.0 {
                    break 'attempts;
                }
            }
        }
        let Some((mut candidate, mut outcomes, mut missing)) = nearest else { return Ok(None) };
        let base = *self.lab.base();
        *before = match candidate == base {
            true => outcomes.clone(),
            false => {
                self.runner.begin(TuneStage::Again, SEEDS as usize);
                self.each(&[base], again, &metrics)?.remove(0)
            }
        };
        let missed_before = self.missing(before);
        // Nobody changes a firmware for what cannot be told apart.
        if missing > 0.0 && !before.is_empty() && missing > missed_before - NEARER {
            (candidate, outcomes, missing) = (base, before.clone(), missed_before);
        }
        let (with, changes) = self.changes(&candidate, missing <= 0.0)?;
        let wanted: Vec<Metric> = self.lab.setup().wants.iter().map(|it| it.metric).collect();
        let limits = match self.runner.cancelled() {
            true => Vec::new(),
            false => self.lab.limits(&candidate, &wanted, &|| false)?,
        };
        Ok(Some(Recommendation { candidate, outcomes, missing, changes, with, limits }))
    }

    /// Drops the changes of a candidate that the wants do not need, one after the other, those first
    /// whose absence leaves the wants nearest.
    fn pruned(&mut self, whole: Candidate, missed: f64) -> Result<Candidate, TuneError> {
        let base = *self.lab.base();
        let streams = self.lab.setup().streams;
        let metrics = self.lab.objectives().to_vec();
        // What misses something already is to miss no more, but for what cannot be told apart.
        let allowed = if missed > 0.0 { missed + NEARER } else { 0.0 };
        let mut now = whole;
        loop {
            let changes = now.changes(&base);
            let dropped: Vec<Candidate> = changes
                .iter()
                .map(|it| it.taken(&now, &base))
                // What fits stays so.
                .filter(|it| *it != now && (it.fits(streams) || !now.fits(streams)))
                .collect();
            if dropped.is_empty() || self.runner.cancelled() {
                return Ok(now);
            }
            self.runner.begin(TuneStage::Prune, dropped.len() * PRUNING as usize);
            let outcomes = self.each(&dropped, 0..PRUNING, &metrics)?;
            let known = dropped.iter().zip(&outcomes).filter(|it| !it.1.is_empty());
            let holds = known.filter(|it| self.missing(it.1) <= allowed);
            let Some(next) = holds.map(|it| *it.0).max_by(|a, b| {
                // The one that is furthest from what it was is the first to go.
                let left = |it: &Candidate| it.changes(&base).len();
                left(b).cmp(&left(a))
            }) else {
                return Ok(now);
            };
            now = next;
        }
    }

    /// Tries the recommended candidate without each of its changes, and with a step less of each.
    fn changes(
        &mut self,
        candidate: &Candidate,
        reached: bool,
    ) -> Result<(Option<Evaluation>, Vec<RecommendedChange>), TuneError> {
        let base = *self.lab.base();
        let metrics = self.shown();
        let settings = candidate.changes(&base);
        let mut all: Vec<Candidate> =
            settings.iter().map(|it| it.taken(candidate, &base)).collect();
        all.push(*candidate);
        self.runner.begin(TuneStage::Each, all.len());
        let outcomes = self.each(&all, 0..1, &metrics)?;
        let first = |it: &Vec<Evaluation>| it.first().copied();
        let with = outcomes.last().and_then(first);
        let mut changes = Vec::new();
        for (setting, outcome) in settings.into_iter().zip(&outcomes) {
            let missed = if reached { self.missed(setting, candidate)? } else { None };
            changes.push(RecommendedChange { setting, without: first(outcome), missed });
        }
        Ok((with, changes))
    }

    /// Returns the candidate with a step less of a change, where it misses what is wanted then.
    fn missed(
        &mut self,
        setting: TunedSetting,
        candidate: &Candidate,
    ) -> Result<Option<Candidate>, TuneError> {
        let streams = self.lab.setup().streams;
        let between = self.search.space().between(setting, self.lab.base(), candidate);
        let fits = |it: &&Candidate| it.fits(streams) || !candidate.fits(streams);
        let Some(next) = between.iter().find(fits) else { return Ok(None) };
        let metrics = self.lab.objectives().to_vec();
        self.runner.begin(TuneStage::Each, SEEDS as usize);
        let outcomes = self.each(&[*next], AGAIN..AGAIN + SEEDS, &metrics)?.remove(0);
        Ok((!outcomes.is_empty() && self.missing(&outcomes) > 0.0).then_some(*next))
    }

    /// Takes each change of a candidate that has what is wanted back as far as the wants allow, for memory that nobody
    /// asked for is not taken: returns that candidate, and the one in which each change has one step to spare.
    fn tightened(&mut self, pruned: Candidate) -> Result<[Candidate; 2], TuneError> {
        let (mut least, mut spare) = (pruned, pruned);
        for setting in pruned.changes(self.lab.base()) {
            let holds = self.back(setting, &least)?;
            if let [.., near, _] = holds.as_slice() {
                spare = setting.taken(&spare, near);
            }
            least = holds.last().copied().unwrap_or(least);
        }
        Ok([least, spare])
    }

    /// Returns the candidate with a setting taken back a step after the other, as long as it has what is
    /// wanted.
    fn back(
        &mut self,
        setting: TunedSetting,
        candidate: &Candidate,
    ) -> Result<Vec<Candidate>, TuneError> {
        let base = self.lab.base();
        let streams = self.lab.setup().streams;
        let mut between = self.search.space().between(setting, base, candidate);
        between.retain(|it| it.fits(streams) || !candidate.fits(streams));
        let metrics = self.lab.objectives().to_vec();
        let mut holds = Vec::new();
        self.runner.begin(TuneStage::Each, between.len() * PRUNING as usize);
        for next in between {
            let outcomes = self.each(&[next], 0..PRUNING, &metrics)?.remove(0);
            if outcomes.is_empty() || self.missing(&outcomes) > 0.0 {
                break;
            }
            holds.push(next);
        }
        Ok(holds)
    }
}
