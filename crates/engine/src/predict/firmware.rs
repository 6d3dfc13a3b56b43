//! The firmware of a fleet's devices: what options of sdkconfig change of a node of ESP-NOW.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_dot11::radio::RadioChip;
use espbench_measure::settings::Setting;
use espbench_model::sdkconfig::{
    Chip, ConfigOption, OptionValues, SCALES_CLOCK, SdkContext, TX_POWER, ValueType, clock,
};
use espbench_sim::lab::file::{LEAST_WITH_WIFI_MHZ, scales_to};

/// Flag that [`SCALES_CLOCK`] needs.
const POWER_MANAGEMENT: &str = "CONFIG_PM_ENABLE";

/// Settings of sdkconfig that act on a node of ESP-NOW, in place of its profile's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeFirmware {
    /// Clock of the processor in MHz.
    pub clock_mhz: Option<u32>,
    /// Whether the clock falls while nothing runs (dynamic frequency scaling).
    pub scales_clock: bool,
    /// Largest transmit power in dBm.
    pub tx_power_dbm: Option<u8>,
    /// Tick, send buffers and flash.
    pub options: OptionValues,
}

impl NodeFirmware {
    /// Returns the settings as lines of a chip's sdkconfig.
    #[must_use]
    pub fn lines(&self, chip: Chip) -> Vec<String> {
        let release = SdkContext::default().release;
        let mut lines = Vec::new();
        if let Some(mhz) = self.clock_mhz {
            let mut line = String::new();
            // A string takes all that is written to it.
            let _ = clock(&mut line, chip, release, mhz);
            lines.push(line.trim_end().into());
        }
        if self.scales_clock {
            lines.extend([SCALES_CLOCK, POWER_MANAGEMENT].map(|it| format!("{it}=y")));
        }
        lines.extend(self.tx_power_dbm.map(|dbm| format!("{TX_POWER}={dbm}")));
        lines.extend(self.options.given().map(|(key, value)| {
            let (name, text) = (key.name_for(chip, release), key.text(value));
            match key.fact().kind {
                ValueType::Choice(_) => format!("{name}_{text}=y"),
                ValueType::Flag | ValueType::Number => format!("{name}={text}"),
            }
        }));
        lines
    }

    /// Returns the settings as values of a report.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut all = Vec::new();
        all.extend(self.clock_mhz.map(Setting::Clock));
        all.extend(self.idle_clock_mhz().map(Setting::IdleClock));
        all.extend(self.tx_power_dbm.map(|dbm| Setting::TxPower(dbm.into())));
        all.extend(self.options.given().map(|(key, value)| Setting::Sdkconfig(key, value)));
        all
    }

    /// Returns the clock of the processor in MHz while nothing runs, where it is another then.
    #[must_use]
    pub fn idle_clock_mhz(&self) -> Option<u32> {
        self.scales_clock.then_some(LEAST_WITH_WIFI_MHZ)
    }

    /// Returns whether dynamic frequency scaling does something on a chip at that clock in MHz.
    #[must_use]
    pub fn scales(chip: Chip, clock_mhz: u32) -> bool {
        let chip = RadioChip::ALL.into_iter().find(|it| it.name() == chip.name());
        chip.is_some_and(|it| scales_to(it, clock_mhz, LEAST_WITH_WIFI_MHZ).is_ok())
    }

    /// Returns the firmware with dynamic frequency scaling.
    #[must_use]
    pub const fn scaling(self) -> Self {
        Self { scales_clock: true, ..self }
    }

    /// Returns the firmware with another clock.
    #[must_use]
    pub const fn at_clock(self, mhz: u32) -> Self {
        Self { clock_mhz: Some(mhz), ..self }
    }

    /// Returns the firmware with another value of an option.
    #[must_use]
    pub const fn with(mut self, key: ConfigOption, value: u32) -> Self {
        self.options.set(key, value);
        self
    }

    /// Describes the settings in a few words for a title; empty where there are none.
    pub(super) fn words(&self) -> String {
        match (self.settings().len(), self.clock_mhz, self.tx_power_dbm) {
            (0, ..) => String::new(),
            (1, Some(mhz), _) => format!("{mhz} MHz"),
            (1, ..) if self.scales_clock => format!("{LEAST_WITH_WIFI_MHZ} MHz idle"),
            (1, _, Some(dbm)) => format!("{dbm} dBm"),
            (1, ..) => {
                let named = |(key, value): (ConfigOption, u32)| {
                    format!("{} {}", key.name().trim_start_matches("CONFIG_"), key.text(value))
                };
                self.options.given().next().map(named).unwrap_or_default()
            }
            (n, ..) => n.to_string() + " options of sdkconfig",
        }
    }
}
