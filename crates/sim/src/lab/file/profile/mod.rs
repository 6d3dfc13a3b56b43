//! Profiles: the constants of a chip with its firmware.

mod device;
mod link;

use super::block::{Keys, TomlText};
use super::constant::{ConstantGroup, Values};
use super::key::{KeySpec, KeyType, key};
use super::wrong::FileError;
use super::{FileKind, Need};
use crate::lab::profile::Profile;
use alloc::string::String;
use espbench_dot11::radio::RadioChip;

pub(super) use device::COST;

/// The words of the key `chip`.
const CHIPS: [&str; RadioChip::ALL.len()] = {
    let mut names = [""; RadioChip::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = RadioChip::ALL[at].name();
        at += 1;
    }
    names
};

/// All constants of a profile, in the order of the documentation.
pub(super) static GROUPS: &[ConstantGroup<Profile>] = &ALL;
const ALL: [ConstantGroup<Profile>; device::GROUPS.len() + link::GROUPS.len()] = {
    let mut all = [device::GROUPS[0]; device::GROUPS.len() + link::GROUPS.len()];
    let mut at = 0;
    while at < all.len() {
        let before = device::GROUPS.len();
        all[at] = if at < before { device::GROUPS[at] } else { link::GROUPS[at - before] };
        at += 1;
    }
    all
};

/// The keys beside the constants.
pub(super) const OWN: [KeySpec; 4] = [
    key("title", KeyType::Text, "", "one line for people"),
    key(
        "chip",
        KeyType::Word(&CHIPS),
        "that of `like`",
        "the radio: sensitivities and powers come from its datasheet (`dot11::radio::chip`)",
    ),
    key("chip_name", KeyType::Text, "the chip's", "identity column `chip` of results"),
    key(
        "like",
        KeyType::Text,
        "none",
        "a profile whose constants hold where this one says nothing",
    ),
];

/// All keys of a profile.
pub(super) static KEYS: [KeySpec; OWN.len() + ALL.len()] = {
    let mut keys = [OWN[0]; OWN.len() + ALL.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = if at < OWN.len() {
            OWN[at]
        } else {
            key(ALL[at - OWN.len()].table, KeyType::Table, "", "constants, see below")
        };
        at += 1;
    }
    keys
};

/// A profile's file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProfileFile {
    pub(super) title: String,
    pub(super) chip: Option<RadioChip>,
    pub(super) chip_name: Option<String>,
    /// The profile it leans on.
    pub(super) like: Option<Need>,
    pub(super) values: Values,
}

/// Reads a profile.
pub(super) fn read(text: TomlText<'_>) -> Result<ProfileFile, FileError> {
    let keys: Keys = &KEYS;
    let block = text.block(keys)?;
    let title = block.text("title")?;
    let like = block.text("like")?.map(|name| (name, block.place_of("like")));
    let file = ProfileFile {
        title: block.must("title", title)?,
        chip: block.word("chip")?.map(|at| RadioChip::ALL[at]),
        chip_name: block.text("chip_name")?,
        like: like.map(|it| Need::at(FileKind::Profile, &it, text.text)),
        values: Values::read(&block, GROUPS)?,
    };
    if file.like.is_none() && !file.is_work() {
        block.must("chip", file.chip)?;
        if let Some(key) = file.values.missing(GROUPS) {
            let message = "is missing: give it, or name a profile with `like` that has it";
            return Err(block.wrong(alloc::format!("`{key}` {message}")));
        }
    }
    Ok(file)
}

/// Tables of a processor's work, which a core's speed changes. What is left are flash and radio, settings
/// of the firmware, memory and currents.
pub(super) const WORK: [&str; 29] = [
    "receive",
    "dispatch",
    "transmit",
    "esp_now_send",
    "send_latency",
    "sent_latency",
    "driver_task",
    "resume",
    "seal",
    "open",
    "key_pair",
    "shared_secret",
    "wifi_receive",
    "wifi_send",
    "wifi_start",
    "wifi_sent",
    "udp_receive",
    "udp_send",
    "tcp_receive",
    "tcp_write",
    "tcp_send",
    "ack_receive",
    "ack_send",
    "socket_send",
    "socket_receive",
    "copy",
    "bytewise",
    "print",
    "round",
];

/// Speed at which a firmware's work is done.
#[derive(Clone, Copy, Debug)]
struct Core {
    clock_mhz: f64,
    coremark_per_mhz: f64,
    work_percent: f64,
}

impl Default for Core {
    fn default() -> Self {
        Self { clock_mhz: 160.0, coremark_per_mhz: 1.0, work_percent: 100.0 }
    }
}

impl Core {
    /// Returns the speed that a file states, and that of another core where it says nothing.
    fn of(values: &Values, other: Self) -> Self {
        let stated = |table, key, other| values.number(table, key).unwrap_or(other);
        Self {
            clock_mhz: stated("processor", "clock_mhz", other.clock_mhz),
            coremark_per_mhz: stated("processor", "coremark_per_mhz", other.coremark_per_mhz),
            work_percent: stated("software", "work_percent", other.work_percent),
        }
    }

    /// Returns the time that work takes here, as a part of what it takes on another core.
    fn time_of(self, other: Self) -> f64 {
        let speed = |it: Self| it.clock_mhz * it.coremark_per_mhz / it.work_percent;
        speed(other) / speed(self)
    }
}

impl ProfileFile {
    /// Returns whether this is work for the profiles that lean on it, and not a chip: it states the core for
    /// which it holds.
    pub(super) fn is_work(&self) -> bool {
        let states_core = self.values.number("processor", "coremark_per_mhz").is_some();
        states_core && self.chip.is_none() && self.like.is_none()
    }

    /// Returns this profile on top of `base`, called `name`, whose values hold where this one has
    /// none.
    pub(super) fn over(&self, name: &str, base: &Self) -> Self {
        let mut values = base.values.clone();
        if base.is_work() {
            let core = Core::of(&self.values, Core::of(&base.values, Core::default()));
            values.scale(&WORK, core.time_of(Core::of(&base.values, Core::default())));
        }
        let other = self.chip.is_some() && base.chip.is_some() && self.chip != base.chip;
        for source in &mut values.sources {
            source.confidence = source.confidence.map(|it| if other { it.elsewhere() } else { it });
            // What was found out about another chip is a guess about this one.
            source.text = alloc::format!("as {name}: {}", source.text);
        }
        values.overlay(&self.values);
        Self {
            title: self.title.clone(),
            chip: self.chip.or(base.chip),
            chip_name: self.chip_name.clone().or_else(|| {
                // Another chip has another name.
                self.chip.is_none().then(|| base.chip_name.clone()).flatten()
            }),
            like: base.like.clone(),
            values,
        }
    }

    /// Returns the profile, which must be complete, or be on a base that is.
    pub(super) fn profile(&self, name: &str) -> Profile {
        let mut profile = Profile::free(name, self.chip.unwrap_or(RadioChip::Esp32));
        if let Some(chip_name) = &self.chip_name {
            profile.chip_name.clone_from(chip_name);
        }
        self.values.apply(&mut profile, GROUPS);
        profile.sources.clone_from(&self.values.sources);
        profile
    }
}
