//! Rows of currents: a station in a shield box that nobody asks anything, and that sleeps in one of ESP-IDF's ways.

use super::rows::MeasuredRow;
use super::{Fault, MeasuredSetup};
use alloc::format;
use alloc::string::ToString as _;
use alloc::sync::Arc;
use core::time::Duration;
use espbench_model::sdkconfig::Chip;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::nodes::Conversation as _;
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::suite::SuiteError;
use espbench_sim::lab::wifi::MachineId;

/// Environment of the room, in the measurement's place.
const ENVIRONMENT: &str = "shield-box";

/// Time until the station sleeps, and time of which the current is the mean: whole intervals of ten beacons.
const SETTLE: Duration = Duration::from_secs(2);
const MEAN: Duration = Duration::from_millis(30 * 1024);

/// Returns the clock that a chip has in the guide's tables, and that of its crystal, in MHz: the guide's example
/// lets the clock fall to it (`examples/wifi/power_save`).
const fn clocks_mhz(chip: Chip) -> (u32, u32) {
    match chip {
        Chip::Esp32c2 => (120, 26),
        Chip::Esp32c5 => (240, 48),
        _ => (160, 40),
    }
}

/// Makes the room of a row.
fn scene(row: &MeasuredRow, library: &Library) -> Result<Scene, Fault> {
    let (mode, dtim) = row.variant.rsplit_once("-dtim").unwrap_or_default();
    let light = mode == "auto-light-sleep";
    if !["modem-sleep", "modem-sleep-dfs", "auto-light-sleep"].contains(&mode) {
        return Err(Fault(format!("`{mode}` is no way of sleeping")));
    }
    let variant = format!("ps-min-dtim{dtim}");
    let mut scene = library.variant_scene(row.table.lab(), &variant)?;
    scene.environment = library.environment(ENVIRONMENT)?.environment;
    scene.background.clear();
    scene.devices.truncate(1);
    let profile = library.profile(&row.profile)?;
    let (clock, crystal) = clocks_mhz(row.chip);
    let idle = (mode != "modem-sleep").then_some(crystal);
    for device in &mut scene.devices {
        let at_clock = profile.at_clock(clock);
        device.profile = Arc::new(Profile { idle_clock_mhz: idle, ..at_clock });
        device.light_sleep = device.light_sleep.filter(|_| light);
    }
    Ok(scene)
}

/// Returns the mean current in mA.
pub(super) fn simulate(
    row: &MeasuredRow,
    setup: MeasuredSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<f64, Fault> {
    let scene = scene(row, library)?;
    let device = scene.devices.first().ok_or_else(|| Fault("no device".to_string()))?;
    setup.mean(|seed| {
        if stop() {
            return Err(SuiteError::Cancelled.into());
        }
        let mut lab = Lab::new(&scene, 1 + u64::from(seed), ());
        let times = |lab: &Lab<'_, ()>| lab.times(MachineId(0)).unwrap_or_default();
        lab.run_for(SETTLE)?;
        let before = times(&lab);
        lab.run_for(MEAN)?;
        let spent = times(&lab).since(&before);
        let mean = device.draw().charge(&spent).mean_na(spent.total_ns());
        Ok(mean.unwrap_or_default() as f64 / 1e6)
    })
}
