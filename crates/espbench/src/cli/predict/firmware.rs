//! The firmware of the devices: an sdkconfig, and options of one.

use crate::cli::common::idle;
use crate::cli::sdkconfig;
use crate::user_error::{ForUser as _, UserError};
use espbench_engine::predict::NodeFirmware;
use espbench_model::sdkconfig::{
    Chip, ConfigOption, ParsedSdkConfig, SCALES_CLOCK, SKIPS_CHECK, SdkContext, TX_POWER,
    ValueType, read,
};
use espbench_model::speech::FlagValue;
use std::path::PathBuf;

/// Clock of the processor, a choice of sdkconfig.
const CLOCK: &str = "CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_…";

/// The firmware of the devices.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The firmware")]
pub(super) struct FirmwareArgs {
    /// sdkconfig of the devices: its chip, clock, flash, tick, transmit power and check of the image at wake
    /// act, as far as the question depends on them
    #[arg(long, value_name = "FILE")]
    sdkconfig: Option<PathBuf>,
    /// Option of the devices' sdkconfig, in place of the file's or the profile's (repeatable):
    /// CONFIG_ESPTOOLPY_FLASHFREQ_80M=y
    #[arg(long, value_name = "CONFIG_NAME=VALUE")]
    set: Vec<String>,
}

/// Parts of a firmware that a question depends on. Its transmit power always acts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActingParts {
    /// The processor takes its time.
    pub clock: bool,
    /// The processor rests while nothing runs.
    pub rests: bool,
    /// Code comes out of flash while a message is sent.
    pub flash: bool,
    /// Somebody waits for ticks of `FreeRTOS`.
    pub ticks: bool,
    /// The devices boot when they wake.
    pub boots: bool,
}

impl ActingParts {
    /// Returns the names of the options that act.
    fn names(&self) -> Vec<&'static str> {
        let mut names = vec![TX_POWER];
        names.extend(self.clock.then_some(CLOCK));
        names.extend(self.rests.then_some(SCALES_CLOCK));
        names.extend(self.options().iter().map(|it| it.name()));
        names.extend(self.boots.then_some(SKIPS_CHECK));
        names
    }

    /// Returns the options that act, beside the clock and the power.
    fn options(&self) -> Vec<ConfigOption> {
        let flash = [ConfigOption::FlashMode, ConfigOption::FlashClock];
        let flash = flash.into_iter().filter(|_| self.flash);
        flash.chain(self.ticks.then_some(ConfigOption::TickHz)).collect()
    }

    /// Returns what of a file acts.
    fn of(&self, reading: &ParsedSdkConfig) -> FleetFirmware {
        let mut node = NodeFirmware {
            clock_mhz: reading.clock_mhz.filter(|_| self.clock),
            scales_clock: self.rests && reading.scales_clock == Some(true) && may_scale(reading),
            tx_power_dbm: reading.tx_power_dbm,
            ..NodeFirmware::default()
        };
        let options = self.options();
        for (key, value) in reading.settings.given().filter(|it| options.contains(&it.0)) {
            node.options.set(key, value);
        }
        let skips_check = reading.skips_check.filter(|_| self.boots);
        FleetFirmware { node, chip: reading.chip, skips_check }
    }
}

/// Returns whether scaling does something at a file's clock, as far as it names chip and clock.
fn may_scale(reading: &ParsedSdkConfig) -> bool {
    let known = reading.chip.zip(reading.clock_mhz);
    known.is_none_or(|(chip, mhz)| NodeFirmware::scales(chip, mhz))
}

/// The firmware of a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FleetFirmware {
    /// Settings of its nodes.
    pub node: NodeFirmware,
    /// Chip of the file.
    pub chip: Option<Chip>,
    /// Whether the check of the image at wake is left out.
    pub skips_check: Option<bool>,
}

impl FleetFirmware {
    /// Returns whether nothing is set.
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes what is set in another over what is set here.
    fn take(&mut self, other: &Self) {
        let node = &mut self.node;
        node.clock_mhz = other.node.clock_mhz.or(node.clock_mhz);
        node.scales_clock |= other.node.scales_clock;
        node.tx_power_dbm = other.node.tx_power_dbm.or(node.tx_power_dbm);
        for (key, value) in other.node.options.given() {
            node.options.set(key, value);
        }
        self.chip = other.chip.or(self.chip);
        self.skips_check = other.skips_check.or(self.skips_check);
    }
}

/// Checks that numbers are in their ranges; what a chip's flash can is checked with the lab.
fn in_range(text: &str, firmware: &FleetFirmware) -> Result<(), UserError> {
    let context = SdkContext::default();
    for (key, value) in firmware.node.options.given() {
        let range = key.range(&context);
        if key.fact().kind == ValueType::Number && !range.contains(&value) {
            let unit = key.fact().unit;
            return Err(UserError::new(format!("{} is out of range", FlagValue("--set", text)))
                .because(format!("it takes {} to {} {unit}", range.start(), range.end()))
                .remedy(format!("write it as {}={}", key.name(), range.end())));
        }
    }
    Ok(())
}

impl FirmwareArgs {
    /// Returns whether a file was named.
    pub(super) const fn has_file(&self) -> bool {
        self.sdkconfig.is_some()
    }

    /// Returns the firmware that the flags ask for.
    ///
    /// # Errors
    /// A file or an option cannot be read, or does nothing here.
    pub(super) fn firmware(&self, parts: &ActingParts) -> anyhow::Result<FleetFirmware> {
        let mut all = FleetFirmware::default();
        let acting = || format!("here act {}", parts.names().join(", "));
        if let Some(path) = &self.sdkconfig {
            all = parts.of(&sdkconfig::file(path)?);
            if all.is_empty() {
                let flag = FlagValue("--sdkconfig", path.display());
                return Err(idle(flag, "here", "leave it out").because(acting()).into());
            }
        }
        for text in &self.set {
            let reading = read(text).for_user(
                || format!("{} cannot be read", FlagValue("--set", text)),
                "write it as a line of sdkconfig: CONFIG_ESPTOOLPY_FLASHFREQ_80M=y",
            )?;
            let one = parts.of(&reading);
            if one.is_empty() || one.chip.is_some() {
                let remedy = match one.chip {
                    Some(chip) => format!("say {}", FlagValue("--profile", chip)),
                    None => "leave it out".into(),
                };
                let flag = FlagValue("--set", text);
                return Err(idle(flag, "here", remedy).because(acting()).into());
            }
            in_range(text, &one)?;
            all.take(&one);
        }
        Ok(all)
    }
}

impl FleetFirmware {
    /// Returns the profile of the devices: the one that was said, or that of the file's chip.
    ///
    /// # Errors
    /// Each is of another chip, or the chip's clock cannot fall as the firmware asks.
    pub(super) fn profile(&self, said: Option<&str>) -> Result<Option<String>, UserError> {
        let chip = self.chip.or_else(|| said?.parse().ok());
        if let (true, Some(chip), Some(mhz)) = (self.node.scales_clock, chip, self.node.clock_mhz)
            && !NodeFirmware::scales(chip, mhz)
        {
            return Err(UserError::new(format!("{SCALES_CLOCK} does nothing here"))
                .because(format!("an {chip} at {mhz} MHz keeps its clock while Wi-Fi is on"))
                .remedy("leave it out, or say a slower clock"));
        }
        let Some(chip) = self.chip else { return Ok(said.map(Into::into)) };
        match said {
            Some(said) if said.parse::<Chip>().is_ok_and(|it| it != chip) => {
                let said = FlagValue("--profile", said);
                Err(UserError::new(format!("the sdkconfig is not for {said}"))
                    .because(format!("it says that it is for the {chip}"))
                    .remedy(format!("leave out {said}")))
            }
            Some(said) => Ok(Some(said.into())),
            None => Ok(Some(chip.name().into())),
        }
    }
}
