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

impl Settings {
    /// Takes a workload apart: everything that tells it from the others of its kind. Counts and
    /// lengths of tests are named only where they are not the usual ones.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let mut settings = kind::of(workload).settings();
        settings.extend(workload.variant().map(|name| Setting::LabVariant(*name)));
        settings
    }

    /// Returns what no identity column of a result says, and what is not the plain procedure.
    #[must_use]
    pub fn beyond_columns(&self) -> Self {
        let plain = [Setting::Direction(Direction::Forward), Setting::KeyKnown(false)];
        self.filter(|it| !COLUMNS.contains(&it.key()) && !plain.contains(it))
    }
}
