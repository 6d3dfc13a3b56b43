//! Which candidate to try next.
//!
//! Three stages share a budget of evaluations. First the build's defaults, the ranks of the chip's
//! document and places drawn by chance are tried, once each. Then the search goes from the best ones
//! a knob at a time to what was not tried yet (coordinate search from several starts: Kolda, Lewis
//! and Torczon 2003, "Optimization by direct search", 3; the best are the Pareto front, ordered by
//! how much of what is wanted is missing). At the end the best are tried again with further seeds,
//! half of them after each round (successive halving: Jamieson and Talwalkar 2016, "Non-stochastic
//! best arm identification and hyperparameter optimization", 3).
//!
//! What comes next depends on the seed and on outcomes alone, and batches have a fixed size: the
//! answer is the same with any number of threads.

#[cfg(test)]
mod tests;

use super::outcome::Evaluation;
use super::pareto;
use super::space::{Candidate, KnobLevels, SearchSpace};
use super::want::{Metric, Want, objectives};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use espbench_model::random::Xoshiro256PlusPlus;

/// Evaluations that are handed out at a time.
pub const BATCH: usize = 8;

/// Share of the budget for the first stage, in percent.
const FIRST: usize = 25;

/// Share of the budget that is kept for trying the best again, in percent.
const AGAIN: usize = 20;

/// Places that the second stage goes on from at a time.
const PARENTS: usize = 4;

/// Order in which these places are continued: the best one most often, the others to widen the front.
const TURNS: [usize; BATCH] = [0, 1, 0, 2, 0, 1, 0, 3];

/// Seeds that the best are tried with, at most.
const SEEDS: usize = 4;

/// An evaluation to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Which of the candidates tried.
    pub index: usize,
    /// The candidate to evaluate.
    pub candidate: Candidate,
    /// Which seed of the run, from 0.
    pub seed: usize,
}

/// A candidate with what it did.
#[derive(Clone, Debug)]
pub struct TriedCandidate {
    /// The candidate that was tried.
    pub candidate: Candidate,
    /// Outcomes by seed; empty where nothing could be measured.
    pub outcomes: Vec<Evaluation>,
    place: KnobLevels,
    /// The place that it is one step from.
    from: Option<KnobLevels>,
}

impl TriedCandidate {
    /// Returns the mean of the outcomes.
    #[must_use]
    pub fn mean(&self) -> Evaluation {
        Evaluation::mean(&self.outcomes)
    }
}

/// The search.
#[derive(Clone, Debug)]
pub struct Search {
    space: SearchSpace,
    wants: Vec<Want>,
    objectives: Vec<Metric>,
    random: Xoshiro256PlusPlus,
    budget: usize,
    spent: usize,
    tried: Vec<TriedCandidate>,
    seen: BTreeSet<KnobLevels>,
    /// Places that are still to be tried in the first stage.
    starts: Vec<KnobLevels>,
    /// Candidates that are being tried again, and with which seed.
    finals: Option<(Vec<usize>, usize)>,
    over: bool,
}

impl Search {
    /// Creates a search in a space for goals, with so many evaluations.
    #[must_use]
    pub fn new(space: SearchSpace, wants: &[Want], seed: u64, budget: usize) -> Self {
        let mut random = Xoshiro256PlusPlus::new(seed);
        let mut starts = space.starts();
        let first = (budget * FIRST / 100).max(1);
        let mut drawn = 0;
        while starts.len() < first && drawn < 4 * first {
            let place = space.any(&mut random);
            if !starts.contains(&place) {
                starts.push(place);
            }
            drawn += 1;
        }
        starts.truncate(first.max(1));
        starts.reverse();
        Self {
            space,
            wants: wants.into(),
            objectives: objectives(wants),
            random,
            budget,
            spent: 0,
            tried: Vec::new(),
            seen: BTreeSet::new(),
            starts,
            finals: None,
            over: false,
        }
    }

    /// Returns the candidates that were tried.
    #[must_use]
    pub fn tried(&self) -> &[TriedCandidate] {
        &self.tried
    }

    /// Returns the metrics that candidates are compared by.
    #[must_use]
    pub fn objectives(&self) -> &[Metric] {
        &self.objectives
    }

    /// Returns the goals.
    #[must_use]
    pub fn wants(&self) -> &[Want] {
        &self.wants
    }

    /// Returns the candidates that there are.
    #[must_use]
    pub const fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// Evaluations handed out so far.
    #[must_use]
    pub const fn spent(&self) -> usize {
        self.spent
    }

    /// Returns the evaluations to be made now; none at the end. They count as spent.
    pub fn batch(&mut self) -> Vec<Trial> {
        let left = self.budget.saturating_sub(self.spent);
        if left == 0 || self.over {
            return Vec::new();
        }
        let again = self.budget * AGAIN / 100;
        let mut batch = match self.finals {
            None if left > again => self.fresh(BATCH.min(left - again)),
            _ => Vec::new(),
        };
        if batch.is_empty() {
            batch = self.repeated(left);
        }
        self.spent += batch.len();
        self.over = batch.is_empty();
        batch
    }

    /// Takes the outcomes of a batch; `None` for one that could not be found out.
    pub fn record(&mut self, results: &[(Trial, Option<Evaluation>)]) {
        for (trial, outcome) in results {
            if let (Some(tried), Some(outcome)) = (self.tried.get_mut(trial.index), outcome) {
                tried.outcomes.push(*outcome);
            }
        }
    }

    /// Candidates that were not tried yet.
    fn fresh(&mut self, most: usize) -> Vec<Trial> {
        let mut places: Vec<(KnobLevels, Option<KnobLevels>)> = Vec::new();
        while places.len() < most {
            let Some(place) = self.starts.pop() else { break };
            if self.seen.insert(place) {
                places.push((place, None));
            }
        }
        if places.is_empty() {
            places = self.steps(most);
        }
        places.into_iter().map(|place| self.begin(place)).collect()
    }

    fn begin(&mut self, (place, from): (KnobLevels, Option<KnobLevels>)) -> Trial {
        let candidate = self.space.candidate(&place);
        self.tried.push(TriedCandidate { candidate, outcomes: Vec::new(), place, from });
        Trial { index: self.tried.len() - 1, candidate, seed: 0 }
    }

    /// Returns places one step from the best, in any order; places by chance where all around them
    /// was tried.
    fn steps(&mut self, most: usize) -> Vec<(KnobLevels, Option<KnobLevels>)> {
        let best = self.best();
        let mut around: Vec<(KnobLevels, Vec<KnobLevels>)> = Vec::new();
        for index in best {
            let place = self.tried[index].place;
            let mut next = self.space.neighbours(&place);
            next.retain(|it| !self.seen.contains(it));
            self.shuffle(&mut next);
            // The last comes first: where something is missing, what takes more memory, otherwise
            // what takes less.
            let more = self.missing(index) > 0.0;
            next.sort_by_key(|it| (*it > place) == more);
            // What was good once may be so again (Hooke and Jeeves 1961, "Direct search", the
            // pattern move).
            let again = self.tried[index].from.and_then(|from| self.space.onwards(&from, &place));
            next.extend(again.filter(|it| !self.seen.contains(it)));
            if !next.is_empty() {
                around.push((place, next));
            }
            if around.len() == PARENTS {
                break;
            }
        }
        let mut places = Vec::new();
        let mut turn = 0;
        while places.len() < most && around.iter().any(|it| !it.1.is_empty()) {
            let whose = TURNS[turn % TURNS.len()].min(around.len() - 1);
            turn += 1;
            let (from, next) = &mut around[whose];
            if let Some(place) = next.pop()
                && self.seen.insert(place)
            {
                places.push((place, Some(*from)));
            }
        }
        let mut drawn = 0;
        while places.len() < most && drawn < 64 {
            let place = self.space.any(&mut self.random);
            if self.seen.insert(place) {
                places.push((place, None));
            }
            drawn += 1;
        }
        places
    }

    /// Shuffles places by Fisher and Yates, as Durstenfeld 1964 has it (Communications of the ACM
    /// 7(7), algorithm 235).
    fn shuffle(&mut self, places: &mut [KnobLevels]) {
        for at in (1..places.len()).rev() {
            let below = u32::try_from(at + 1).unwrap_or(u32::MAX);
            places.swap(at, self.random.two_below(below)[0]);
        }
    }

    /// Returns the best candidates again, with a further seed; half of them the next time.
    fn repeated(&mut self, left: usize) -> Vec<Trial> {
        let (chosen, seed) = match self.finals.take() {
            None => (self.best(), 1),
            Some((before, seed)) => {
                let order = self.best();
                let kept = before.len().div_ceil(2);
                let still = order.into_iter().filter(|it| before.contains(it)).take(kept);
                (still.collect(), seed + 1)
            }
        };
        if seed >= SEEDS {
            return Vec::new();
        }
        // Enough is left for those and half of them and so on: twice as many.
        let most = (left / 2).max(1);
        let chosen: Vec<usize> = chosen.into_iter().take(most).collect();
        let trial =
            |index: &usize| Trial { index: *index, candidate: self.tried[*index].candidate, seed };
        let batch = chosen.iter().take(left).map(trial).collect();
        self.finals = Some((chosen, seed));
        batch
    }

    /// Candidates that no other is better than in everything, where differences below 1 %, and of
    /// heap below 1 KB, are none, and of equal ones one; those that are nearest to what is wanted
    /// first, and of these the ones that change least.
    #[must_use]
    pub fn best(&self) -> Vec<usize> {
        let known: Vec<usize> = self.known().collect();
        let goods: Vec<Vec<f64>> =
            known.iter().map(|it| self.tried[*it].mean().goods(&self.objectives)).collect();
        let mut front = pareto::front(&goods);
        // Of those that are equal, the one with the fewest changes.
        front.sort_by_key(|it| (self.changes(known[*it]), *it));
        let mut kept: Vec<usize> = Vec::new();
        for it in front {
            if kept.iter().all(|other| goods[*other] != goods[it]) {
                kept.push(it);
            }
        }
        let mut front: Vec<usize> = kept.into_iter().map(|it| known[it]).collect();
        self.rank(&mut front);
        front
    }

    /// Returns all candidates of which something is known, those that are nearest to what is wanted
    /// first, and of these the ones that change least.
    #[must_use]
    pub fn ranked(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.known().collect();
        self.rank(&mut all);
        all
    }

    fn known(&self) -> impl Iterator<Item = usize> {
        (0..self.tried.len()).filter(|it| !self.tried[*it].outcomes.is_empty())
    }

    fn changes(&self, index: usize) -> usize {
        self.tried[index].candidate.changes(self.space.base()).len()
    }

    /// Puts candidates in order: what misses less of the wants, what changes less, what was tried
    /// more often.
    fn rank(&self, all: &mut [usize]) {
        all.sort_by(|a, b| {
            let missing = self.missing(*a).total_cmp(&self.missing(*b));
            let tried = |it: usize| core::cmp::Reverse(self.tried[it].outcomes.len());
            missing
                .then_with(|| self.changes(*a).cmp(&self.changes(*b)))
                .then_with(|| tried(*a).cmp(&tried(*b)))
                .then(a.cmp(b))
        });
    }

    /// Returns how much of the goals a candidate misses: the sum of the shares.
    #[must_use]
    pub fn missing(&self, index: usize) -> f64 {
        let mean = self.tried[index].mean();
        self.wants.iter().map(|it| it.shortfall(&mean)).sum()
    }
}
