//! Properties of a lab that a plan sets for a cell, in place of what the lab's file says.

use crate::sdkconfig::OptionValues;
use crate::workload::Name;

/// What a plan leaves open of a room's places: a lab that somebody names says it then, and the usual lab of a
/// test has the plan's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPlaces {
    /// How many devices there are.
    pub devices: bool,
    /// How far away they are.
    pub distance: bool,
}

/// Properties of a lab that a plan sets. What is `None` is as the lab's file has it.
///
/// In a lab of ESP-NOW they are those of all devices, in one over Wi-Fi those of the measured devices; the
/// environment is the room's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabOverrides {
    /// Name of the profile: the chip with its firmware.
    pub profile: Option<Name>,
    /// Name of the environment.
    pub environment: Option<Name>,
    /// PHY mode of frames with payload, by its name: `1M`, `HT20-MCS7`. Over Wi-Fi it is that of both
    /// directions.
    pub phy_rate: Option<Name>,
    /// Transmit power in dBm.
    pub power_dbm: Option<f64>,
    /// Clock of the processor in MHz.
    pub clock_mhz: Option<u32>,
    /// Clock of the processor in MHz while nothing runs, of a node of ESP-NOW (DFS).
    pub idle_clock_mhz: Option<u32>,
    /// Number of devices that are measured at once over Wi-Fi. A cell of ESP-NOW has its own.
    pub devices: Option<u16>,
    /// Distance of the measured devices from their router in metres, over Wi-Fi. A cell of ESP-NOW has its
    /// own.
    pub distance_m: Option<f32>,
    /// Options of the firmware's sdkconfig.
    pub sdkconfig: OptionValues,
    /// Numbers of a cell of ESP-NOW that are its defaults, since the plan does not say them.
    pub open: OpenPlaces,
}

impl LabOverrides {
    /// Overrides that set nothing.
    pub const NONE: Self = Self {
        profile: None,
        environment: None,
        phy_rate: None,
        power_dbm: None,
        clock_mhz: None,
        idle_clock_mhz: None,
        devices: None,
        distance_m: None,
        sdkconfig: OptionValues::NONE,
        open: OpenPlaces { devices: false, distance: false },
    };

    /// Returns whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Self { open: OpenPlaces::default(), ..*self } == Self::NONE
    }
}
