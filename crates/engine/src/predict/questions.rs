//! From a question to its answer.

use super::changes;
use super::error::PredictError;
use super::rooms::{Predictor, RoomCase, RoomRunner};
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::on_air::RateInForce;
use espbench_measure::predict::point::OperatingPoint;
use espbench_measure::predict::{
    PointEstimates, PredictAnswer, PredictQuestion, RoomTrial, SettingsDue, devices as count,
};
use espbench_model::text::count as plural;
use espbench_sim::lab::predict::{Arrival, Load};
use espbench_stats::Estimate;
use espbench_stats::interval::mean_t;

/// Rooms for the throughput of one device: with two, an interval of means would say nothing.
const FLOODS: u32 = 5;

/// How long one device sends without rest, for its throughput.
const FLOOD: Duration = Duration::from_secs(2);

/// Predicts loss, latency and channel occupancy for each of these numbers of devices; of a single one
/// also the change to make next.
///
/// # Errors
/// The runner's.
pub fn fleet(
    predictor: &Predictor,
    numbers: &[u32],
    mode: WifiMode,
    runner: &mut dyn RoomRunner,
) -> Result<PredictAnswer, PredictError> {
    let rooms = predictor.setup().effort.rooms;
    let cases: Vec<RoomCase> = numbers.iter().map(|n| predictor.case(*n, mode)).collect();
    let worth = match cases.as_slice() {
        [only] => changes::worth(predictor, only),
        _ => Vec::new(),
    };
    let expected: Vec<RoomCase> =
        cases.iter().copied().chain(worth.iter().map(|it| it.1)).collect();
    runner.begin(predictor, &expected, rooms);
    let trials = runner.trials(predictor, &cases, 0..rooms, &|case| count(case.devices))?;
    let done = cases.iter().zip(&trials).filter(|it| !it.1.is_empty());
    let points = done.map(|(case, trials)| predictor.point(case, trials)).collect();
    let devices = match numbers {
        [only] => count(*only),
        [first, .., last] => format!("{first} to {last} devices"),
        [] => "no devices".into(),
    };
    let due = SettingsDue { settings: cases.len() as u32, rooms, changes: worth.len() as u32 };
    let changes = match worth.is_empty() || runner.cancelled() {
        true => Vec::new(),
        false => changes::try_all(predictor, worth, runner)?,
    };
    let answer = predictor.answer(PredictQuestion::Fleet, &devices, &format!("at {mode}"));
    let is_cut = lacks(&trials, rooms) || changes.len() < due.changes as usize;
    let stopped = runner.cancelled() && is_cut;
    Ok(PredictAnswer { points, changes, due, stopped, ..answer })
}

/// Tells whether a case has not all of its rooms: a signal that comes after the last one cuts nothing.
pub(super) fn lacks<T>(trials: &[Vec<T>], rooms: u32) -> bool {
    trials.iter().any(|it| it.len() < rooms as usize)
}

/// Compares PHY rates by latency, loss, throughput and range, with so many devices. Rates that the
/// chip does not read are left out.
///
/// # Errors
/// The runner's.
pub fn rate(
    predictor: &Predictor,
    devices: u32,
    modes: &[WifiMode],
    runner: &mut dyn RoomRunner,
) -> Result<PredictAnswer, PredictError> {
    let rooms = predictor.setup().effort.rooms;
    let read = modes.iter().filter(|mode| predictor.reads(**mode));
    let cases: Vec<RoomCase> = read.map(|mode| predictor.case(devices, *mode)).collect();
    // A lab with several groups has no room of one device.
    let is_alone = predictor.has_room_of_one();
    let floods: Vec<RoomCase> = cases.iter().filter(|_| is_alone).map(flood).collect();
    let all: Vec<RoomCase> = cases.iter().chain(&floods).copied().collect();
    runner.begin(predictor, &all, rooms);
    let label = |case: &RoomCase| match case.load.arrival {
        Arrival::Always => format!("{}, one that always sends", case.mode),
        _ => format!("{}, {}", case.mode, count(case.devices)),
    };
    let trials = runner.trials(predictor, &cases, 0..rooms, &label)?;
    let mut alone = runner.trials(predictor, &floods, 0..FLOODS, &label)?;
    let is_cut = lacks(&trials, rooms) || lacks(&alone, FLOODS);
    alone.resize_with(cases.len(), Vec::new);
    let points = cases.iter().zip(trials.iter().zip(&alone)).filter(|it| !it.1.0.is_empty());
    let points = points.map(|(case, (trials, alone))| rate_point(predictor, case, trials, alone));
    let points: Vec<PointEstimates> = points.collect();
    let rates = format!("at {}", plural(points.len(), "rate"));
    let mut answer = predictor.answer(PredictQuestion::Rate, &count(devices), &rates);
    answer.notes.push(predictor.range_doubts(false).words());
    if !is_alone {
        let lab = &predictor.setup().lab;
        answer.notes.push(format!(
            "Lab {lab} has no room of one device: the throughput of one is not known."
        ));
    }
    let due = SettingsDue { settings: cases.len() as u32, rooms, changes: 0 };
    Ok(PredictAnswer { points, due, stopped: runner.cancelled() && is_cut, ..answer })
}

/// Compares profiles of chips, each as all devices of one fleet, in rooms of the same seeds: by the life of a battery
/// where the devices have one, else by latency. With each profile stands the mode in which it sends.
///
/// # Errors
/// There is no profile; the runner's.
pub fn compare(
    profiles: &[(Predictor, WifiMode)],
    devices: u32,
    runner: &mut dyn RoomRunner,
) -> Result<PredictAnswer, PredictError> {
    let (first, mode) = profiles.first().ok_or(PredictError::NoDevices)?;
    let rooms = first.setup().effort.rooms;
    let cases: Vec<RoomCase> = profiles.iter().map(|(it, mode)| it.case(devices, *mode)).collect();
    runner.begin(first, &cases, rooms);
    let (mut points, mut is_cut) = (Vec::new(), false);
    for ((predictor, _), case) in profiles.iter().zip(&cases) {
        let name = predictor.profile_name();
        let trials = runner.trials(predictor, &[*case], 0..rooms, &|_| name.into())?;
        is_cut |= lacks(&trials, rooms);
        for trials in trials.iter().filter(|it| !it.is_empty()) {
            let setting = predictor.with_range(case, predictor.setting(case));
            let setting = OperatingPoint {
                profile: name.into(),
                chip: predictor.chip_name().into(),
                peak_ma: predictor.setup().sleep.and_then(|_| predictor.peak_ma()),
                ..setting
            };
            points.push(predictor.estimates(setting, case, trials));
        }
    }
    let rate = match profiles.iter().all(|it| it.1 == *mode) {
        true => format!("at {mode}"),
        false => "at each profile's rate".into(),
    };
    let compared = format!("{rate}, {}", plural(profiles.len(), "profile"));
    let mut answer = first.answer(PredictQuestion::Profiles, &count(devices), &compared);
    // What is said of one profile is not of the others.
    answer.notes.retain(|note| profiles.iter().all(|it| it.0.notes().contains(note)));
    let charges = points.iter().filter_map(|it: &PointEstimates| it.energy.as_ref());
    answer.notes.extend(charges.flat_map(|it| it.remarks()).map(|it| format!("{it}.")));
    answer.notes.push(first.range_doubts(false).words());
    let due = SettingsDue { settings: cases.len() as u32, rooms, changes: 0 };
    Ok(PredictAnswer { points, due, stopped: runner.cancelled() && is_cut, ..answer })
}

/// Tells which PHY rate is on the air, and what the one that was asked for costs against the default: latency,
/// loss, throughput, range and charge of both.
///
/// # Errors
/// The runner's.
pub fn rate_in_force(
    predictor: &Predictor,
    devices: u32,
    force: RateInForce,
    runner: &mut dyn RoomRunner,
) -> Result<PredictAnswer, PredictError> {
    let usual = force.request.usual;
    let mut modes = alloc::vec![usual];
    let asked = Some(force.request.mode).filter(|mode| *mode != usual && predictor.sends(*mode));
    modes.extend(asked);
    let mut answer = rate(predictor, devices, &modes, runner)?;
    for (point, mode) in answer.points.iter_mut().zip(modes) {
        point.setting.send_ma = predictor.send_ma(mode);
    }
    let rates = format!("at {}", force.request.mode);
    let question = PredictQuestion::OnAir(force);
    let PredictAnswer { points, due, stopped, notes, .. } = answer;
    let answer = predictor.answer(question, &count(devices), &rates);
    Ok(PredictAnswer { points, due, stopped, notes, ..answer })
}

/// Returns the case of one device that always sends.
fn flood(case: &RoomCase) -> RoomCase {
    let load = Load {
        arrival: Arrival::Always,
        warm_up: Duration::from_millis(500),
        time: FLOOD,
        sleep: None,
        ..case.load
    };
    RoomCase { devices: 1, load, ..*case }
}

fn rate_point(
    predictor: &Predictor,
    case: &RoomCase,
    trials: &[RoomTrial],
    alone: &[RoomTrial],
) -> PointEstimates {
    let rates: Vec<f64> = alone
        .iter()
        .map(|it| {
            let bits = 8.0 * f64::from(case.load.payload) * it.latency_ms.len() as f64;
            bits / (it.air.window_ns as f64 / 1e9) / 1e6
        })
        .collect();
    let throughput: Estimate = mean_t(&rates);
    let setting = OperatingPoint {
        throughput: (!rates.is_empty()).then_some(throughput),
        ..predictor.with_range(case, predictor.setting(case))
    };
    predictor.estimates(setting, case, trials)
}
