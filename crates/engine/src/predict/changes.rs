//! Changes of a fleet's setting, each simulated alone.

use super::error::PredictError;
use super::firmware::NodeFirmware;
use super::rooms::{Predictor, RoomCase, RoomRunner};
use alloc::string::ToString as _;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::change::{Change, ChangeTried};
use espbench_model::sdkconfig::ConfigOption;
use espbench_sim::lab::predict::Load;
use espbench_sim::lab::predict::sleep::{SleepMode, SleepPlan};

/// PHY rates that are tried, where they are faster than the fleet's and the chip reads them.
const RATES: [&str; 3] = ["11M", "24M", "HT20-MCS7"];

/// Finest tick of FreeRTOS that is tried.
const FINE_TICK_HZ: u32 = 1000;

/// Simulates each of these changes with its case. Where it is stopped, the changes that have all of their rooms are
/// returned.
///
/// # Errors
/// The runner's.
pub(super) fn try_all(
    predictor: &Predictor,
    changes: Vec<(Change, RoomCase)>,
    runner: &mut dyn RoomRunner,
) -> Result<Vec<ChangeTried>, PredictError> {
    let (changes, cases): (Vec<Change>, Vec<RoomCase>) = changes.into_iter().unzip();
    let rooms = predictor.setup().effort.rooms;
    let label = |it: &RoomCase| {
        let at = cases.iter().position(|other| other == it);
        at.map_or_else(|| "a change".to_string(), |at| changes[at].words())
    };
    let trials = runner.trials(predictor, &cases, 0..rooms, &label)?;
    let tried = changes.iter().zip(&cases).zip(&trials).filter(|it| it.1.len() >= rooms as usize);
    Ok(tried
        .map(|((change, case), trials)| ChangeTried {
            change: change.clone(),
            point: predictor.point(case, trials),
        })
        .collect())
}

/// Returns the changes that may help, with their cases.
pub(super) fn worth(predictor: &Predictor, case: &RoomCase) -> Vec<(Change, RoomCase)> {
    let mut changes = Vec::new();
    for name in RATES {
        let Ok(mode) = name.parse::<WifiMode>() else { continue };
        if predictor.reads(mode) && mode.kbit_s() > case.mode.kbit_s() {
            changes.push((Change::Rate(name.into()), RoomCase { mode, ..*case }));
        }
    }
    let mode = predictor.usual_mode();
    if case.mode != mode && changes.is_empty() {
        // The fastest already: a slower one is sturdier.
        changes.push((Change::Rate(mode.to_string()), RoomCase { mode, ..*case }));
    }
    let every = 2 * case.load.every;
    let load = predictor.setup().load_every(case.devices, every);
    changes.push((Change::Every(every), RoomCase { load, ..*case }));
    changes.extend(case.load.sleep.into_iter().flat_map(|plan| of_sleep(case, plan)));
    changes.extend(of_firmware(predictor, case));
    changes
}

/// Returns the changes of sdkconfig that may help: a faster clock, or a slower one where devices that sleep keep
/// their processor on, or one that falls while nothing runs, and a finer tick where somebody waits for ticks. A slower clock is not tried in deep sleep,
/// since the times of wake and boot are a profile's at any clock.
fn of_firmware(predictor: &Predictor, case: &RoomCase) -> Vec<(Change, RoomCase)> {
    let Some((profile, chip)) = predictor.profile().zip(predictor.chip()) else {
        return Vec::new();
    };
    if predictor.setup().bare {
        return Vec::new();
    }
    // A lab may have several chips: a clock is for all of them.
    let clocks = chip.clocks_mhz().iter().copied().filter(|it| predictor.all_run_at(*it));
    let clock = match case.load.sleep.map(|it| it.mode) {
        None => clocks.max(),
        Some(SleepMode::None | SleepMode::Modem) => clocks.min(),
        Some(SleepMode::Light | SleepMode::Deep) => None,
    };
    let now = case.firmware.clock_mhz.unwrap_or(profile.processor.clock_mhz);
    let clock = clock.filter(|it| *it != now).map(|it| case.firmware.at_clock(it));
    // A clock that scaling leaves as it is would be another firmware than the one that was asked for.
    let clock = clock.filter(|it| !it.scales_clock || predictor.all_scale(it));
    let keeps_on =
        matches!(case.load.sleep.map(|it| it.mode), Some(SleepMode::None | SleepMode::Modem));
    let scaling = (keeps_on && !case.firmware.scales_clock && predictor.all_scale(&case.firmware))
        .then(|| case.firmware.scaling());
    let tick_hz = case.firmware.options.get(ConfigOption::TickHz).unwrap_or(profile.tick_hz);
    let is_coarse = case.load.ack() && tick_hz < FINE_TICK_HZ;
    let tick = is_coarse.then(|| case.firmware.with(ConfigOption::TickHz, FINE_TICK_HZ));
    let change = |firmware: NodeFirmware| {
        let before = case.firmware.lines(chip);
        // The first line is the one that acts.
        let line = firmware.lines(chip).into_iter().find(|it| !before.contains(it));
        (Change::Sdkconfig(line.unwrap_or_default()), RoomCase { firmware, ..*case })
    };
    [clock, scaling, tick].into_iter().flatten().map(change).collect()
}

/// Returns the changes of a battery's firmware.
fn of_sleep(case: &RoomCase, plan: SleepPlan) -> Vec<(Change, RoomCase)> {
    let with = |plan| RoomCase { load: Load { sleep: Some(plan), ..case.load }, ..*case };
    let mut changes = Vec::new();
    if plan.mode == SleepMode::Deep && plan.validates {
        changes.push((Change::FastBoot, with(SleepPlan { validates: false, ..plan })));
    }
    if plan.attempts > 1 {
        changes.push((Change::Attempts(1), with(SleepPlan { attempts: 1, ..plan })));
    }
    for mode in [SleepMode::Deep, SleepMode::Light].into_iter().filter(|it| *it != plan.mode) {
        let change = Change::Sleep(mode.name().into());
        changes.push((change, with(SleepPlan { mode, ..plan })));
    }
    changes
}
