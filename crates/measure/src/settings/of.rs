//! The settings of a workload.

use super::{Setting, SettingKey, Settings};
use crate::kind;
use espbench_model::workload::{Direction, Workload};

/// Settings that identity columns of a result hold, and echo probes, whose results have metrics of
/// their own.
const COLUMNS: [SettingKey; 10] = [
    SettingKey::Test,
    SettingKey::Transport,
    SettingKey::Bounceback,
    SettingKey::Cast,
    SettingKey::Size,
    SettingKey::Devices,
    SettingKey::Nearest,
    SettingKey::Farthest,
    SettingKey::Encrypted,
    SettingKey::Echoes,
];

/// Returns a distance in metres in 64 bits, rounded to a millimetre: 0.3 m in 32 bits is another
/// number in 64.
pub(crate) fn metres(metres: f32) -> f64 {
    libm::round(f64::from(metres) * 1e3) / 1e3
}

impl Settings {
    /// Takes a workload apart: everything that tells it from the others of its kind. Counts and
    /// lengths of tests are named only where they are not the usual ones.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let mut settings = kind::of(workload).settings();
        settings.extend(workload.variant().map(|name| Setting::LabVariant(*name)));
        settings.extend(Self::of_lab(workload).0);
        settings
    }

    /// Returns what the plan sets of the lab. Devices and distance of ESP-NOW are settings of its test.
    #[must_use]
    pub fn of_lab(workload: &Workload) -> Self {
        let lab = workload.lab();
        let mut settings = Self::default();
        settings.extend(lab.profile.map(Setting::Profile));
        settings.extend(lab.environment.map(Setting::Environment));
        settings.extend(lab.phy_rate.map(Setting::PhyRate));
        settings.extend(lab.power_dbm.map(Setting::TxPower));
        settings.extend(lab.clock_mhz.map(Setting::Clock));
        settings.extend(lab.idle_clock_mhz.map(Setting::IdleClock));
        let options = lab.sdkconfig.given();
        settings.extend(options.map(|(option, value)| Setting::Sdkconfig(option, value)));
        settings.extend(lab.devices.map(|count| Setting::Devices(count.into())));
        let distance = lab.distance_m.map(metres);
        settings.extend(
            distance.into_iter().flat_map(|it| [Setting::Nearest(it), Setting::Farthest(it)]),
        );
        settings
    }

    /// Returns what no identity column of a result says, and what is not the plain procedure.
    #[must_use]
    pub fn beyond_columns(&self) -> Self {
        let plain = [Setting::Direction(Direction::Forward), Setting::KeyKnown(false)];
        self.filter(|it| !COLUMNS.contains(&it.key()) && !plain.contains(it))
    }
}
