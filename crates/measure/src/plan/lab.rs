//! Keys of a lab, which kinds over IP and ESP-NOW share: what a plan sets of a room and its devices, in
//! place of what the lab's file says.
//!
//! `variant` makes a test over IP one of a device over Wi-Fi, whose firmware, role and network the variant
//! stands for. The other keys of a lab need it there.

use super::key::{PlanKey, PlanValue};
use super::print::quoted;
use super::read::Scalar;
use super::value::metres;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_model::overrides::LabOverrides;
use espbench_model::sdkconfig::{self, ConfigOption, OptionValues};
use espbench_model::text;
use espbench_model::workload::{Name, Wifi, Workload};

const VARIANT: &str = "variant";
const DEVICES: &str = "devices";
const DISTANCE: &str = "distance";
/// Stands before the names of sdkconfig's options.
const CONFIG: &str = "CONFIG_";
/// Words for what a key that is left out means.
const FILE: &str = "what the lab's file says";
/// Keys of every lab.
pub(super) const KEYS: [PlanKey; 7] = [
    PlanKey::new(
        "profile",
        PlanValue::Form("name of a profile: `espbench lab list`"),
        "\"esp32c6\"",
        "chip and firmware of the measured devices",
    )
    .or(FILE),
    PlanKey::new(
        "environment",
        PlanValue::Form("name of an environment: `espbench lab list`"),
        "\"office\"",
        "the place: path loss, noise, other people's stations",
    )
    .or(FILE),
    PlanKey::new(
        "phy_rate",
        PlanValue::Form("a Wi-Fi mode"),
        "\"HT20-MCS7\"",
        "rate at which the measured devices send their frames of data",
    )
    .or(FILE),
    PlanKey::new(
        "power_dbm",
        PlanValue::Number(-20.0, 30.0),
        "11",
        "transmit power of the measured devices",
    )
    .or(FILE),
    PlanKey::new("clock_mhz", PlanValue::Whole(10, 1000), "80", "clock of their processors")
        .or(FILE),
    PlanKey::new(
        "idle_clock_mhz",
        PlanValue::Whole(10, 1000),
        "80",
        "clock of their processors while nothing runs (DFS)",
    )
    .or(FILE),
    PlanKey::new(
        "CONFIG_NAME",
        PlanValue::Form("a whole number, true and false, or a word such as `\"QIO\"`"),
        "16",
        "an option of sdkconfig by its name, such as `CONFIG_LWIP_UDP_RECVMBOX_SIZE`; \
         [docs/labs.md](labs.md) lists those that the lab knows",
    )
    .or(FILE),
];
/// Keys of a lab over Wi-Fi; a cell of ESP-NOW has keys of its own for devices and distance.
pub(super) const OVER_WIFI: [PlanKey; 3] = [
    PlanKey::new(
        VARIANT,
        PlanValue::Form("name of a variant of the lab"),
        "\"ps-none\"",
        "the device over Wi-Fi that is measured, with its firmware, role and network; the keys below need it",
    )
    .or("a real device"),
    PlanKey::new(DEVICES, PlanValue::Whole(1, 1000), "10", "how many of them are measured at once")
        .or(FILE),
    PlanKey::new(
        DISTANCE,
        PlanValue::Form("0.01 m to 100 km"),
        "\"10 m\"",
        "distance of the device from the router",
    )
    .or(FILE),
];

/// A cell in the making.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct CellDraft {
    pub(super) work: Workload,
    lab: LabOverrides,
}

/// Returns the keys by which a plan may vary a lab: those of all kinds, and those of kinds over Wi-Fi.
#[must_use]
pub fn lab_keys() -> (Vec<&'static str>, Vec<&'static str>) {
    (KEYS.iter().map(|it| it.name).collect(), OVER_WIFI.iter().map(|it| it.name).collect())
}

/// Returns the keys that a block of that kind may have of a lab.
pub(super) fn keys(work: &Workload) -> Vec<PlanKey> {
    let over_wifi = OVER_WIFI.into_iter().filter(|_| work.ip().is_some());
    over_wifi.chain(KEYS).collect()
}

/// Returns whether a key is that of an option of sdkconfig.
pub(super) fn is_option(key: &str) -> bool {
    key.starts_with(CONFIG)
}

impl CellDraft {
    /// Returns a draft of that work, in a lab as its file has it.
    pub(super) const fn new(work: Workload) -> Self {
        Self { work, lab: LabOverrides::NONE }
    }

    /// Sets a key of a lab.
    pub(super) fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        let lab = &mut self.lab;
        match key {
            VARIANT => return variant(&mut self.work, value),
            DEVICES => lab.devices = Some(value.int()? as u16),
            DISTANCE => lab.distance_m = Some(metres(value.text()?)?),
            "profile" => lab.profile = Some(name(value.text()?, "a profile")?),
            "environment" => lab.environment = Some(name(value.text()?, "an environment")?),
            "phy_rate" => lab.phy_rate = Some(mode(value.text()?)?),
            "power_dbm" => lab.power_dbm = Some(value.number()?),
            "clock_mhz" => lab.clock_mhz = Some(value.int()? as u32),
            "idle_clock_mhz" => lab.idle_clock_mhz = Some(value.int()? as u32),
            option => set_option(&mut lab.sdkconfig, option, value)?,
        }
        Ok(())
    }

    /// Returns the cell's work.
    pub(super) fn done(self) -> Result<Workload, String> {
        let Self { mut work, lab } = self;
        match work.lab_mut() {
            Some(it) => *it = lab,
            None if lab.is_empty() => {}
            None => {
                return Err("only devices of a lab have that; name one with `variant`, such as \
                            variant = \"ps-none\" (`espbench lab list` shows all)"
                    .into());
            }
        }
        Ok(work)
    }
}

/// Makes a test over IP one of the variant of that name.
fn variant(work: &mut Workload, value: &Scalar) -> Result<(), String> {
    in_variant(work, value.text()?)
}

/// Returns whether a text can name a variant, a profile, an environment or a rate.
pub(crate) fn is_name(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(known)
}

/// Makes a test over IP that is in no variant yet one of the variant of that name.
///
/// # Errors
/// The text cannot be a name.
pub(super) fn in_variant(work: &mut Workload, text: &str) -> Result<(), String> {
    let name = Name::new(text).filter(|_| is_name(text));
    let variant = name.ok_or_else(|| {
        format!(
            "`{text}` is no name of a variant: 1 to {} letters, digits, `-`, `_` and `.`",
            Name::LEN
        )
    })?;
    if let Some(test) = work.ip() {
        *work = Workload::Wifi(Wifi::new(variant, test));
    }
    Ok(())
}

/// Reads the name of something that the lab or its library has.
fn name(text: &str, what: &str) -> Result<Name, String> {
    // Words for settings stand between commas.
    let known = |c: char| c.is_ascii_graphic() && c != ',';
    Name::new(text).filter(|_| !text.is_empty() && text.chars().all(known)).ok_or_else(|| {
        format!(
            "`{text}` is no name of {what}: 1 to {} characters of ASCII, no space and no comma",
            Name::LEN
        )
    })
}

/// Reads the name of a PHY mode.
fn mode(text: &str) -> Result<Name, String> {
    text.parse::<WifiMode>().map_err(|unknown| format!("`{text}` is {unknown}"))?;
    name(text, "a PHY mode")
}

/// Sets an option of sdkconfig by any of its names.
fn set_option(values: &mut OptionValues, key: &str, value: &Scalar) -> Result<(), String> {
    let option = ConfigOption::find(key).ok_or_else(|| {
        let known: Vec<&str> = ConfigOption::all().map(ConfigOption::name).collect();
        let near = text::meant(key, &known).map(|near| format!("Did you mean `{near}`? "));
        format!(
            "no option of sdkconfig that shapes links has this name. {}`docs/labs.md` lists them",
            near.unwrap_or_default()
        )
    })?;
    let number = match option.fact().kind {
        sdkconfig::ValueType::Flag => u32::from(value.bool()?),
        sdkconfig::ValueType::Number => value.int_in(0..=u32::MAX.into())? as u32,
        sdkconfig::ValueType::Choice(words) => {
            let text = value.text()?;
            option.of_word(text).ok_or_else(|| {
                let words: Vec<String> = words.iter().map(|it| quoted(it.1)).collect();
                format!("`{text}` is none of its values: use one of {}", words.join(", "))
            })?
        }
    };
    if values.set(option, number).is_some() {
        return Err(format!("it is given twice, with two of its names: `{}`", option.name()));
    }
    Ok(())
}

/// Returns the keys and values of what a plan sets of the lab, as TOML.
pub(super) fn print(work: &Workload) -> Vec<(&'static str, String)> {
    let lab = work.lab();
    let named = |key, name: Option<Name>| name.map(|it| (key, quoted(it.as_str())));
    let mut list: Vec<(&str, String)> = Vec::new();
    list.extend(work.variant().map(|it| (VARIANT, quoted(it.as_str()))));
    list.extend(lab.devices.map(|it| (DEVICES, it.to_string())));
    list.extend(lab.distance_m.map(|it| (DISTANCE, quoted(&format!("{it} m")))));
    list.extend(named("profile", lab.profile));
    list.extend(named("environment", lab.environment));
    list.extend(named("phy_rate", lab.phy_rate));
    list.extend(lab.power_dbm.map(|it| ("power_dbm", it.to_string())));
    list.extend(lab.clock_mhz.map(|it| ("clock_mhz", it.to_string())));
    list.extend(lab.idle_clock_mhz.map(|it| ("idle_clock_mhz", it.to_string())));
    list.extend(lab.sdkconfig.given().map(|(option, value)| {
        let text = match option.fact().kind {
            sdkconfig::ValueType::Flag => (value != 0).to_string(),
            sdkconfig::ValueType::Number => value.to_string(),
            sdkconfig::ValueType::Choice(_) => quoted(&option.text(value).to_string()),
        };
        (option.name(), text)
    }));
    list
}
