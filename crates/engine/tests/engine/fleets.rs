//! The search for the largest fleet, in rooms whose loss is known; and a range that is stopped.

use core::cell::Cell;
use core::ops::Range;
use core::time::Duration;
use espbench_dot11::radio::WifiMode;
use espbench_engine::predict::{
    NodeFirmware, PredictError, PredictSetup, Predictor, QUEUE, RoomCase, RoomRunner, SearchLimits,
    largest_fleet, range,
};
use espbench_measure::predict::effort::Effort;
use espbench_measure::predict::{
    FleetLimits, FleetSearched, PointEstimates, PredictAnswer, PredictQuestion, RangeWanted,
    RoomTrial,
};
use espbench_measure::search::fleet::{Largest, SearchEnd, Standing};
use espbench_model::random::Xoshiro256PlusPlus;
use espbench_model::sample::Cause;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::predict::Arrival;
use proptest::prelude::*;

const MESSAGES: u64 = 400;

/// Rooms in which no more than `border` devices keep the limit of 1 %.
struct KnownRooms {
    border: u32,
    /// Rooms until somebody stops, or time is over.
    most: Option<(u64, bool)>,
    /// Seed of rooms in which chance is larger than what devices do; none of rooms that are alike.
    noise: Option<u64>,
    simulated: u64,
    tried: Vec<u32>,
}

impl KnownRooms {
    fn new(border: u32) -> Self {
        Self { border, most: None, noise: None, simulated: 0, tried: Vec::new() }
    }
}

impl RoomRunner for KnownRooms {
    fn trials(
        &mut self,
        _: &Predictor,
        cases: &[RoomCase],
        rooms: Range<u32>,
        _: &dyn Fn(&RoomCase) -> String,
    ) -> Result<Vec<Vec<RoomTrial>>, PredictError> {
        let of = |case: &RoomCase| {
            self.tried.push(case.devices);
            let mut trials = Vec::new();
            for room in rooms.clone() {
                if self.most.is_some_and(|(most, _)| self.simulated >= most) {
                    break;
                }
                self.simulated += 1;
                trials.push(match self.noise {
                    None => trial(case.devices > self.border, room),
                    Some(seed) => noisy(case.devices, self.border, room, seed),
                });
            }
            trials
        };
        Ok(cases.iter().map(of).collect())
    }

    fn cancelled(&self) -> bool {
        self.most.is_some_and(|(most, _)| self.simulated >= most)
    }

    fn is_late(&self) -> bool {
        self.most.is_some_and(|(most, late)| late && self.simulated >= most)
    }
}

/// Returns a room that loses nothing, or a tenth of the messages, and no two alike.
fn trial(loses: bool, room: u32) -> RoomTrial {
    let lost = if loses { MESSAGES / 10 + u64::from(room % 3) } else { 0 };
    let latency_ms = (0..MESSAGES - lost).map(|n| 2.0 + ((n * 7 + u64::from(room)) % 11) as f64);
    RoomTrial {
        messages: MESSAGES,
        lost: [(Cause::Collision, lost)].into_iter().filter(|it| it.1 > 0).collect(),
        latency_ms: latency_ms.collect(),
        ..RoomTrial::default()
    }
}

/// Returns a room whose loss crosses 1 % about the border, and which chance halves or doubles. Of one number in
/// four the first rooms are all far worse.
fn noisy(devices: u32, border: u32, room: u32, seed: u64) -> RoomTrial {
    let of = |seed: u64| Xoshiro256PlusPlus::new(seed).bits();
    let number = seed ^ u64::from(devices) << 32;
    let is_unlucky = of(number).is_multiple_of(4) && room < Effort::default().rooms / 4;
    let chance = of(number ^ u64::from(room + 1));
    let chance = if is_unlucky { 60 + chance % 3 } else { 10 + chance % 10 };
    let lost = (4 * u64::from(devices) * chance / (15 * u64::from(border))).min(MESSAGES);
    RoomTrial {
        messages: MESSAGES,
        lost: [(Cause::Collision, lost)].into(),
        latency_ms: vec![2.0; (MESSAGES - lost) as usize],
        ..RoomTrial::default()
    }
}

/// Makes the predictor of a lab on a bench.
fn predictor() -> Predictor {
    let setup = PredictSetup {
        lab: "two-boards".into(),
        profile: None,
        firmware: NodeFirmware::default(),
        place: "bench".into(),
        walls: 0,
        wall_db: None,
        wall_is_said: false,
        distance_m: None,
        channel: None,
        bare: false,
        cast: EspNowCast::Unicast,
        encrypted: false,
        encrypts_as_lab: false,
        arrival: Arrival::Periodic,
        every: Duration::from_secs(1),
        payload: 50,
        queue: QUEUE,
        sleep: None,
        battery: None,
        limits: FleetLimits { loss: Some(0.01), p99_ms: None },
        effort: Effort::default(),
        seed: 1,
    };
    Predictor::new(setup, Library::built_in()).unwrap()
}

fn search(rooms: &mut KnownRooms, most: u32) -> (FleetSearched, PredictAnswer) {
    let predictor = predictor();
    let limits = SearchLimits { most, time: Duration::from_hours(1) };
    let mode: WifiMode = "24M".parse().unwrap();
    let answer = largest_fleet(&predictor, limits, mode, rooms).unwrap();
    let PredictQuestion::LargestFleet(searched) = answer.question else {
        panic!("another question")
    };
    (searched, answer)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Known to one part in fifty, as docs/predict.md says.
    #[test]
    fn the_border_is_found_to_a_fiftieth(border in 1u32..900) {
        let mut rooms = KnownRooms::new(border);
        let (found, answer) = search(&mut rooms, 1000);
        prop_assert_eq!(found.end, SearchEnd::Found);
        let best = found.largest.best.unwrap();
        prop_assert!(best <= border && border - best <= border.div_ceil(50), "{best} of {border}");
        prop_assert!(rooms.tried.iter().all(|devices| (1..=1000).contains(devices)));
        // Each number that was tried is a line of the answer's table.
        rooms.tried.sort_unstable();
        rooms.tried.dedup();
        let points: Vec<u32> = answer.points.iter().map(|it| it.setting.devices).collect();
        prop_assert_eq!(points, rooms.tried);
    }

    /// No row above the largest fleet that is named keeps the limits, and the rows that decide have all rooms.
    #[test]
    fn an_answer_does_not_contradict_its_table(border in 10u32..300, seed: u64) {
        let mut rooms = KnownRooms { noise: Some(seed), ..KnownRooms::new(border) };
        let (found, answer) = search(&mut rooms, 1000);
        let Largest { best, last, .. } = found.largest;
        let keeps = |it: &&PointEstimates| answer.limits.standing(it) <= Standing::MayHold;
        let most = answer.points.iter().filter(keeps).map(|it| it.setting.devices).max();
        prop_assert_eq!(most, last);
        let told = answer.sentences().join(" ");
        if last > best {
            let range = format!("has {} to {} devices", best.unwrap_or(0), last.unwrap());
            prop_assert!(told.contains(&range), "{}", told);
        }
        // The numbers that decide have as many rooms as any.
        let first = answer.points.iter().find(|it| Some(it.setting.devices) > best);
        let of = |it: &&PointEstimates| [best, last].contains(&Some(it.setting.devices));
        for point in answer.points.iter().filter(of).chain(first) {
            prop_assert!(point.rooms >= Effort::default().rooms, "{}", told);
        }
    }
}

/// A search begins with few devices: what its time cuts off are the large fleets.
#[test]
fn a_search_begins_with_few_devices() {
    let mut rooms = KnownRooms { most: Some((14, true)), ..KnownRooms::new(700) };
    let (found, answer) = search(&mut rooms, 1000);
    assert_eq!(found.end, SearchEnd::OutOfTime);
    assert!(found.largest.best.is_some_and(|it| it < 200), "{:?}", found.largest);
    assert!(rooms.tried[0] <= 2 && rooms.tried.is_sorted(), "{:?}", rooms.tried);
    assert!(!answer.title.contains("no device"), "{}", answer.title);
    // Where none holds the title says how many devices the figures are of.
    let (_, none) = search(&mut KnownRooms::new(0), 1000);
    assert!(none.title.starts_with("1 device,"), "{}", none.title);
}

#[test]
fn no_fleet_is_the_answer_where_one_device_breaks_the_limit() {
    let (found, answer) = search(&mut KnownRooms::new(0), 1000);
    assert_eq!((found.largest.best, found.end), (None, SearchEnd::Found));
    assert!(answer.points.iter().any(|it| it.setting.devices == 1));
}

#[test]
fn the_most_that_may_be_tried_is_the_answer_where_all_keep_the_limit() {
    let (found, _) = search(&mut KnownRooms::new(u32::MAX), 50);
    assert_eq!((found.largest.best, found.bound.devices), (Some(50), 50));
    assert!(!found.bound.is_capacity());
}

#[test]
fn nothing_is_tried_above_what_the_channel_carries() {
    let mut rooms = KnownRooms::new(u32::MAX);
    let (found, _) = search(&mut rooms, 1_000_000);
    assert!(found.bound.is_capacity());
    // A frame of some 90 octets at 24 Mbit/s, SIFS and an acknowledgement: a hundred microseconds.
    assert!((5_000..15_000).contains(&found.bound.capacity), "{:?}", found.bound);
    assert!(rooms.tried.iter().all(|devices| *devices <= found.bound.capacity));
}

#[test]
fn a_search_that_is_stopped_or_late_says_so_and_keeps_what_it_has() {
    for (late, end) in [(false, SearchEnd::Interrupted), (true, SearchEnd::OutOfTime)] {
        let mut rooms = KnownRooms { most: Some((40, late)), ..KnownRooms::new(100) };
        let (found, answer) = search(&mut rooms, 1000);
        assert_eq!((found.end, answer.stopped), (end, !late));
        assert!(!answer.points.is_empty());
        assert!(rooms.simulated <= 40);
    }
}

/// A range is computed rate by rate: what was done when somebody stops stands.
#[test]
fn a_range_that_is_stopped_has_the_rates_that_were_done() {
    let modes: Vec<WifiMode> = ["1M", "24M", "54M"].map(|it| it.parse().unwrap()).into();
    let wanted = RangeWanted { loss: 0.01, distance_m: None };
    let after = |most: u32| {
        let asked = Cell::new(0);
        let is_stopped = || asked.replace(asked.get() + 1) >= most;
        range(&predictor(), wanted, &modes, &is_stopped)
    };
    for (most, points) in [(0, 0), (2, 2)] {
        let answer = after(most);
        assert!(answer.stopped, "{most}");
        assert_eq!(answer.points.len(), points);
    }
    let whole = after(u32::MAX);
    assert_eq!((whole.stopped, whole.points.len()), (false, 3));
    assert!(whole.points.iter().any(|it| !it.setting.distances.is_empty()));
}

/// Rates, and changes of a fleet, of which some were not tried when somebody stopped: no best, and no advice.
#[test]
fn what_was_not_tried_is_told_and_nothing_is_the_best() {
    let predictor = predictor();
    let modes: Vec<WifiMode> =
        ["1M", "2M", "5.5M", "11M", "24M"].iter().map(|it| it.parse().unwrap()).collect();
    let each = u64::from(Effort::default().rooms);
    let mut stopped = KnownRooms { most: Some((2 * each, false)), ..KnownRooms::new(100) };
    let answer = espbench_engine::predict::rate(&predictor, 10, &modes, &mut stopped).unwrap();
    let wanted = "Stopped: 2 of 5 rates were tried; no best can be named.";
    assert_eq!((answer.stopped, answer.sentences()), (true, vec![wanted.to_string()]));
    let one = KnownRooms { most: Some((1, false)), ..KnownRooms::new(100) };
    let answer = espbench_engine::predict::rate(&predictor, 10, &modes, &mut { one }).unwrap();
    assert!(answer.title.contains("at 1 rate,"), "{}", answer.title);
    // The fleet itself and one change; of another a part of the rooms.
    let fleet = |rooms: Option<u64>| {
        let most = rooms.map(|it| (it, false));
        let mut runner = KnownRooms { most, ..KnownRooms::new(100) };
        espbench_engine::predict::fleet(&predictor, &[10], WifiMode::ESP_NOW, &mut runner).unwrap()
    };
    let all = fleet(None);
    let due = all.changes.len() as u32;
    assert_eq!((all.due.changes, all.stopped), (due, false));
    let cut = fleet(Some(2 * each + 1));
    assert_eq!((cut.stopped, cut.changes.len()), (true, 1));
    let told = cut.sentences();
    assert_eq!(told[0], format!("Stopped: 1 of {due} changes was tried."));
    assert!(!told.iter().any(|it| it.starts_with("Next")), "{told:?}");
    // A signal after the last room cuts nothing.
    assert!(!fleet(Some((1 + u64::from(due)) * each)).stopped);
}
