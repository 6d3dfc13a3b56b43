//! Values that a test or a plan sets of a lab, in place of what its file says.

use crate::lab::profile::Profile;
use crate::lab::scene::Device;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use esp_now::node::tick::Tick;
use espbench_dot11::radio::{Channel, RadioChip, WifiMode};
use espbench_model::overrides::{LabOverrides, OpenPlaces};
use espbench_model::sdkconfig::{Chip, ConfigOption, MemoryOptions, OptionValues, SdkContext};
use espbench_model::workload::{EspNow, Name};

/// Properties of a lab that a test or a plan sets; those that are `None` are as the file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Number of devices beside the initiator or, over Wi-Fi, of those that are measured.
    pub devices: Option<u16>,
    /// Metres from the initiator to the nearest and the farthest of the other devices. Where both
    /// are the same, it is the middle of the group that is moved there. Over Wi-Fi, the distance of the
    /// measured devices from their router.
    pub distance_m: Option<(f64, f64)>,
    /// Whether the devices' services encrypt.
    pub encrypted: Option<bool>,
    /// Name of the profile of all devices or, over Wi-Fi, of those that are measured.
    pub profile: Option<String>,
    /// Name of the environment.
    pub environment: Option<String>,
    /// Name of the PHY mode of frames with payload.
    pub phy_rate: Option<String>,
    /// Channel of all nodes of ESP-NOW.
    pub channel: Option<u8>,
    /// Transmit power in dBm.
    pub power_dbm: Option<f64>,
    /// Clock of the processor in MHz.
    pub clock_mhz: Option<u32>,
    /// Clock of the processor in MHz while nothing runs (DFS).
    pub idle_clock_mhz: Option<u32>,
    /// Options of the firmware's sdkconfig.
    pub sdkconfig: OptionValues,
}

impl From<&LabOverrides> for Overrides {
    fn from(lab: &LabOverrides) -> Self {
        let text = |name: Option<Name>| name.map(|it| it.as_str().to_string());
        Self {
            profile: text(lab.profile),
            environment: text(lab.environment),
            phy_rate: text(lab.phy_rate),
            channel: None,
            power_dbm: lab.power_dbm,
            clock_mhz: lab.clock_mhz,
            idle_clock_mhz: lab.idle_clock_mhz,
            devices: lab.devices,
            distance_m: lab.distance_m.map(|it| (f64::from(it), f64::from(it))),
            encrypted: None,
            sdkconfig: lab.sdkconfig,
        }
    }
}

impl From<&EspNow> for Overrides {
    fn from(cell: &EspNow) -> Self {
        let (nearest, farthest) = cell.distance_m;
        Self {
            devices: Some(cell.devices),
            distance_m: Some((f64::from(nearest), f64::from(farthest))),
            encrypted: Some(cell.encrypted),
            ..Self::from(&cell.lab)
        }
    }
}

impl Overrides {
    /// Leaves to a lab that somebody has named what the plan leaves open.
    #[must_use]
    pub(in crate::lab) fn leaving(self, open: OpenPlaces) -> Self {
        Self {
            devices: self.devices.filter(|_| !open.devices),
            distance_m: self.distance_m.filter(|_| !open.distance),
            ..self
        }
    }
}

/// Clocks of an ESP8266 (`system_update_cpu_freq`), whose SDK has no sdkconfig for it.
const ESP8266_CLOCKS: [u32; 2] = [80, 160];

/// Options of sdkconfig that a node of ESP-NOW is simulated with.
pub const OF_NODES: [ConfigOption; 4] = [
    ConfigOption::TickHz,
    ConfigOption::DynamicTx,
    ConfigOption::FlashMode,
    ConfigOption::FlashClock,
];

/// Returns why a chip's firmware cannot have a value of an option, and what it can.
pub(super) fn option_refused(
    option: ConfigOption,
    value: u32,
    context: &SdkContext,
) -> Option<String> {
    let chip = context.chip;
    let of_psram = [
        ConfigOption::Psram,
        ConfigOption::PsramMode,
        ConfigOption::PsramClock,
        ConfigOption::PsramWifi,
    ];
    if of_psram.contains(&option) && value != 0 && !chip.psram() {
        let have: Vec<&str> =
            Chip::ALL.iter().filter(|it| it.psram()).map(|it| it.name()).collect();
        return Some(format!(
            "no {chip} has PSRAM; leave it out, or take one of {}",
            have.join(", ")
        ));
    }
    if option.allows(value, context) {
        return None;
    }
    let choices: Vec<String> =
        option.choices(chip).map(|it| format!("\"{}\"", option.text(it))).collect();
    Some(match choices.as_slice() {
        [] => {
            let range = option.range(context);
            format!("found {value}, use {} to {}", range.start(), range.end())
        }
        [only] => format!("that of an {chip} cannot be chosen: it is {only}"),
        choices => format!(
            "an {chip} does not have \"{}\": use one of {}",
            option.text(value),
            choices.join(", ")
        ),
    })
}

/// Says why a chip does not send a mode that is not among its own, and which to use.
pub(super) fn unsent(chip: RadioChip, mode: WifiMode) -> String {
    let name = chip.name();
    let others: Vec<&str> =
        RadioChip::ALL.iter().filter(|it| it.sends(mode)).map(|it| it.name()).collect();
    let others = others.join(", ");
    match mode {
        WifiMode::He(_) => format!("an {name} has no 802.11ax ({others} have), use HT20"),
        WifiMode::Lr(_) => format!("an {name} has no Long Range ({others} have), use 1M"),
        _ => format!("an {name} has no channels of 40 MHz, use HT20"),
    }
}

/// Says why a chip cannot be on a channel; nothing if it can.
pub(super) fn channel_refused(chip: RadioChip, channel: u8) -> Option<String> {
    match Channel::of(channel) {
        None => Some(format!(
            "`channel`: found {channel}, use 1 to 14, or in 5 GHz 36 to 64 and 149 to 165 in steps of 4"
        )),
        Some(it) if it.is_5_ghz() && !chip.has_5_ghz() => {
            let others: Vec<&str> =
                RadioChip::ALL.iter().filter(|it| it.has_5_ghz()).map(|it| it.name()).collect();
            Some(format!(
                "`channel`: an {} has no 5 GHz ({} has), use 1 to 14",
                chip.name(),
                others.join(", ")
            ))
        }
        Some(_) => None,
    }
}

impl Overrides {
    /// Returns the PHY mode of frames with payload, where it is set.
    pub(super) fn mode(&self) -> Result<Option<WifiMode>, String> {
        let Some(name) = &self.phy_rate else { return Ok(None) };
        let mode = name.parse().map_err(|_| {
            format!(
                "`phy_rate`: `{name}` is no PHY mode: use one such as 1M, 54M, HT20-MCS7, HE20-MCS9, LR-250K"
            )
        })?;
        Ok(Some(mode))
    }

    /// Checks that a chip can run at the clock that is set.
    pub(super) fn check_clock(&self, chip: RadioChip) -> Result<(), String> {
        self.clock_mhz.map_or(Ok(()), |it| runs_at(chip, "clock_mhz", it))
    }

    /// Checks that nodes of ESP-NOW are simulated with the options that are set, and that these are
    /// in range.
    pub(super) fn check_options_of_nodes(&self, chip: RadioChip) -> Result<(), String> {
        let chip = chip.name().parse().unwrap_or(Chip::Esp32);
        let context = SdkContext { chip, ..SdkContext::default() };
        for (option, value) in self.sdkconfig.given() {
            let name = option.name();
            if !OF_NODES.contains(&option) {
                let [tick, tx, mode, clock] = OF_NODES.map(ConfigOption::name);
                return Err(format!(
                    "`{name}`: a node of ESP-NOW is simulated with {tick}, {tx}, {mode} and {clock} alone; \
                     leave it out, or vary it in a lab over Wi-Fi"
                ));
            }
            if let Some(why) = option_refused(option, value, &context) {
                return Err(format!("`{name}`: {why}"));
            }
        }
        Ok(())
    }

    /// Returns a profile as it is with these clocks and the options that are set.
    pub(super) fn profile_of_node(
        &self,
        profile: Arc<Profile>,
        clock_mhz: Option<u32>,
        idle_clock_mhz: Option<u32>,
    ) -> Arc<Profile> {
        let [tick, tx, mode, flash] = OF_NODES.map(|it| self.sdkconfig.get(it));
        let clock = clock_mhz.filter(|it| *it != profile.processor.clock_mhz);
        if clock.is_none() && idle_clock_mhz.is_none() && [tick, tx, mode, flash] == [None; 4] {
            return profile;
        }
        let mut profile = clock.map_or_else(|| (*profile).clone(), |it| profile.node_at_clock(it));
        let mut memory = MemoryOptions::default();
        memory.set(ConfigOption::FlashMode, mode);
        memory.set(ConfigOption::FlashClock, flash);
        profile = profile.node_with_flash(memory);
        if let Some(idle) = idle_clock_mhz {
            profile = profile.node_with_idle_clock(idle);
        }
        profile.tick_hz = tick.unwrap_or(profile.tick_hz);
        profile.tx_buffers = tx.and_then(|it| it.try_into().ok()).unwrap_or(profile.tx_buffers);
        Arc::new(profile)
    }

    /// Sets a node's firmware as the options say that are set.
    pub(super) fn set_node(&self, mut device: Device) -> Device {
        if let Some(hz) = self.sdkconfig.get(ConfigOption::TickHz) {
            device.settings.tick = Tick::from_hz(hz);
        }
        device
    }
}

/// Returns the clocks that a chip's firmware can choose.
fn clocks_mhz(chip: RadioChip) -> &'static [u32] {
    chip.name().parse::<Chip>().map_or(&ESP8266_CLOCKS[..], Chip::clocks_mhz)
}

/// Checks that a chip can run at a clock, which is the value of that key.
pub(super) fn runs_at(chip: RadioChip, key: &str, clock_mhz: u32) -> Result<(), String> {
    let clocks = clocks_mhz(chip);
    if clocks.contains(&clock_mhz) {
        return Ok(());
    }
    let clocks: Vec<String> = clocks.iter().map(ToString::to_string).collect();
    let (chip, clocks) = (chip.name(), clocks.join(", "));
    Err(format!("`{key}`: an {chip} does not run at {clock_mhz} MHz: use one of {clocks}"))
}

/// Checks that dynamic frequency scaling down to a clock does something, while Wi-Fi is on and holds APB at 80 MHz
/// (ESP-IDF, `esp_pm`, `pm_impl.c`).
///
/// # Errors
/// It does nothing, or the chip cannot: with what to write instead.
pub fn scales_to(chip: RadioChip, clock_mhz: u32, idle_mhz: u32) -> Result<(), String> {
    let key = "idle_clock_mhz";
    if chip == RadioChip::Esp8266 {
        return Err(format!("`{key}`: an esp8266 has no dynamic frequency scaling; leave it out"));
    }
    if idle_mhz < LEAST_WITH_WIFI_MHZ {
        return Err(format!(
            "`{key}`: while Wi-Fi is on the clock does not fall below {LEAST_WITH_WIFI_MHZ} MHz; use {LEAST_WITH_WIFI_MHZ}"
        ));
    }
    runs_at(chip, key, idle_mhz)?;
    if chip == RadioChip::Esp32 && clock_mhz == 240 {
        return Err(format!(
            "`{key}`: an esp32 at 240 MHz keeps that clock while Wi-Fi is on, since 80 MHz need another PLL; \
             leave it out, or use `clock_mhz` = 160"
        ));
    }
    if idle_mhz >= clock_mhz {
        return Err(format!("`{key}`: the clock is {clock_mhz} MHz; use less, or leave it out"));
    }
    Ok(())
}

/// Clock in MHz below which no processor falls while Wi-Fi is on, which holds APB at that (ESP-IDF, `esp_pm`, `pm_impl.c`).
pub const LEAST_WITH_WIFI_MHZ: u32 = 80;

/// Says that a chip has no Bluetooth, and which have.
pub(in crate::lab) fn no_bluetooth(chip: RadioChip) -> String {
    let have: Vec<&str> =
        RadioChip::ALL.iter().filter(|it| it.has_bluetooth()).map(|it| it.name()).collect();
    format!("an {} has no Bluetooth: leave it out, or take one of {}", chip.name(), have.join(", "))
}
