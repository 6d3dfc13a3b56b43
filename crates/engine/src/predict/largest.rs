//! The largest fleet that keeps limits.
//!
//! Bounded by the channel, whose time the messages take one after the other; begun with few devices, so that a
//! time that is over cuts off large fleets, and searched by bisection. Each number is looked at in few rooms
//! first, and in more while its intervals leave it in doubt; the numbers that decide have as many as any. The
//! search has so much work to spend, in the unit of [`Predictor::weight`], and so its answer does not
//! depend on the machine, unless that is so slow that the time is over first.

use super::error::PredictError;
use super::rooms::{Predictor, RoomCase, RoomRunner, SearchPlan};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::{
    FleetSearched, PointEstimates, PredictAnswer, PredictQuestion, RoomTrial, devices as count,
};
use espbench_measure::search::fleet::{FleetBound, FleetSearch, SearchEnd, Standing};

/// Part of the rooms of a figure in which a number is looked at first.
const LOOK: u32 = 4;

/// Rooms of a number in doubt at most, in those of a figure.
const DOUBT: u32 = 4;

/// Work of a search for each second that it may take: a machine with a core to spare is done in time.
const WORK: f64 = 0.7;

/// Work of a search that finds a border, in that of the first look: those near it are in doubt.
const BORDER: u32 = 30;

/// Work of a search that ends at the largest number, in that of the first look.
const OPEN: u32 = 6;

/// Part of the work that the first number may take, one in so many.
const FIRST: u32 = 6;

/// Range of the numbers, and time that a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// The largest number to try.
    pub most: u32,
    /// Longest time.
    pub time: Duration,
}

/// Finds the largest fleet, of at most so many devices, that keeps the limits.
///
/// # Errors
/// The runner's.
pub fn largest_fleet(
    predictor: &Predictor,
    limits: SearchLimits,
    mode: WifiMode,
    runner: &mut dyn RoomRunner,
) -> Result<PredictAnswer, PredictError> {
    let bound = bound(predictor, limits.most, mode);
    let budget = limits.time.mul_f64(WORK);
    let trials = BTreeMap::new();
    let mut tries = Tries { predictor, mode, budget, spent: Duration::ZERO, trials };
    let guess = tries.fewest(&bound);
    let mut search = FleetSearch::new(1, bound.devices).guessing(guess);
    if bound.is_capacity() {
        search = search.closed();
    }
    let first = predictor.weight(&tries.case(guess)) * tries.look();
    let expected = (first * if bound.is_capacity() { BORDER } else { OPEN }).min(budget);
    let plan = SearchPlan { bound, expected, time_limit: limits.time };
    runner.begin_search(predictor, &tries.case(guess.min(SAMPLE)), &plan)?;
    let end = tries.search(&mut search, runner)?;
    let largest = search.largest();
    // The title names the devices that the figures are of: where none holds, the fewest that were tried.
    let told = largest.best.or_else(|| tries.trials.keys().next().copied());
    let devices = told.map_or_else(|| "no device".into(), count);
    let question = PredictQuestion::LargestFleet(FleetSearched { largest, bound, end });
    let mut answer = predictor.answer(question, &devices, &format!("at {mode}"));
    answer.notes.extend(tries.note());
    Ok(PredictAnswer { points: tries.points(), stopped: end == SearchEnd::Interrupted, ..answer })
}

/// Devices of the rooms that tell how fast a machine is.
const SAMPLE: u32 = 100;

/// Returns the bound above which nothing is tried: a message that arrives has the listener's channel
/// for itself, so more than a second's worth of them do not arrive in a second.
fn bound(predictor: &Predictor, most: u32, mode: WifiMode) -> FleetBound {
    let setup = predictor.setup();
    let exchange = predictor.exchange(mode);
    // What may be lost may be sent beyond that.
    let arrive = 1.0 - setup.limits.loss.unwrap_or(0.0);
    let devices = setup.every.as_secs_f64() / exchange.as_secs_f64() / arrive;
    let capacity = (devices as u32).max(1);
    FleetBound { devices: capacity.min(most), capacity, exchange_us: exchange.as_secs_f64() * 1e6 }
}

/// The rooms of each number that was tried.
struct Tries<'a> {
    predictor: &'a Predictor,
    mode: WifiMode,
    /// Work of the whole search at most.
    budget: Duration,
    /// Work that is done.
    spent: Duration,
    trials: BTreeMap<u32, Vec<RoomTrial>>,
}

impl Tries<'_> {
    fn case(&self, devices: u32) -> RoomCase {
        self.predictor.search_case(devices, self.mode)
    }

    /// Returns how many rooms a number is looked at in first.
    fn look(&self) -> u32 {
        self.predictor.setup().effort.rooms.div_ceil(LOOK).max(2)
    }

    /// Returns the number to begin with: the fewest that take no large part of the work, as few that send
    /// seldom and are watched for long do; where all do, those that take least.
    fn fewest(&self, bound: &FleetBound) -> u32 {
        let takes = |devices: &u32| self.predictor.weight(&self.case(*devices)) * self.look();
        let all = || (0..u32::BITS).map(|it| 1 << it).take_while(|it| *it <= bound.devices);
        let is_little = |it: &u32| takes(it) <= self.budget / FIRST;
        all().find(is_little).or_else(|| all().min_by_key(takes)).unwrap_or(1)
    }

    /// Tries one number after the other.
    fn search(
        &mut self,
        search: &mut FleetSearch,
        runner: &mut dyn RoomRunner,
    ) -> Result<SearchEnd, PredictError> {
        loop {
            let left = search.left();
            // What the answer rests on has its full number of rooms.
            let Some(devices) = search.next().or_else(|| self.shallow(search)) else {
                return Ok(SearchEnd::Found);
            };
            let each = self.predictor.weight(&self.case(devices));
            runner.expect((each * self.look() * left.max(1)).min(self.left()));
            let is_known = self.trials.contains_key(&devices);
            match self.settle(devices, left.max(1), runner)? {
                Some(standing) => search.record(devices, standing),
                None if runner.cancelled() && !runner.is_late() => {
                    return Ok(SearchEnd::Interrupted);
                }
                // The answer stands, if with fewer rooms.
                None if is_known => return Ok(SearchEnd::Found),
                None => return Ok(SearchEnd::OutOfTime),
            }
        }
    }

    fn left(&self) -> Duration {
        self.budget.saturating_sub(self.spent)
    }

    /// Returns a number that the answer rests on and that has not all of its rooms yet: no few of them decide.
    fn shallow(&self, search: &FleetSearch) -> Option<u32> {
        let effort = self.predictor.setup().effort.rooms;
        let has = |devices: &u32| self.trials.get(devices).map_or(0, Vec::len) as u32;
        search.deciding().find(|it| has(it) < effort)
    }

    /// Simulates a number until it stands clearly, or as long as is worth it; `None` where there was
    /// no time for it.
    fn settle(
        &mut self,
        devices: u32,
        left: u32,
        runner: &mut dyn RoomRunner,
    ) -> Result<Option<Standing>, PredictError> {
        let case = self.case(devices);
        let each = self.predictor.weight(&case).max(Duration::from_nanos(1));
        let effort = self.predictor.setup().effort.rooms;
        let had = self.trials.get(&devices).map_or(0, Vec::len) as u32;
        let share = self.left() / left;
        let mut used = Duration::ZERO;
        let mut standing = None;
        loop {
            let has = self.trials.get(&devices).map_or(0, Vec::len) as u32;
            let until = match has {
                0 => self.look(),
                has if had > 0 && has < effort => effort,
                has => 2 * has,
            };
            let work = each * (until - has);
            let is_first = has == had;
            // The first number is looked at in any case.
            let has_time = work <= self.left() || self.trials.is_empty();
            if !has_time || (!is_first && (used + work > share || until > DOUBT * effort)) {
                return Ok(standing);
            }
            let label = |case: &RoomCase| format!("{}, {until} rooms", count(case.devices));
            let new = runner.trials(self.predictor, &[case], has..until, &label)?;
            let new: Vec<RoomTrial> = new.into_iter().flatten().collect();
            if new.len() < (until - has) as usize {
                return Ok(standing);
            }
            self.spent += work;
            used += work;
            self.trials.entry(devices).or_default().extend(new);
            let point = self.point(devices);
            let now = self.predictor.setup().limits.standing(&point);
            // Where queues grow the limit is only not met yet.
            let now = if point.grows { now.max(Standing::MayFail) } else { now };
            standing = Some(now);
            if matches!(now, Standing::Holds | Standing::Fails) {
                return Ok(standing);
            }
        }
    }

    fn point(&self, devices: u32) -> PointEstimates {
        let trials = self.trials.get(&devices).map_or(&[][..], Vec::as_slice);
        self.predictor.point(&self.case(devices), trials)
    }

    fn points(&self) -> Vec<PointEstimates> {
        self.trials.keys().map(|devices| self.point(*devices)).collect()
    }

    /// Says where messages came more often than asked.
    fn note(&self) -> Option<alloc::string::String> {
        let asked = self.predictor.setup().every;
        let is_denser = |devices: &&u32| self.case(**devices).load.every < asked;
        let most = self.trials.keys().filter(is_denser).max()?;
        Some(format!(
            "Up to {} would use less than 0.2 % of the channel: their messages were simulated as \
             often as makes it that. What holds then holds with fewer.",
            count(*most)
        ))
    }
}
