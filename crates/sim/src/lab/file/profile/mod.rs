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
    if file.like.is_none() {
        block.must("chip", file.chip)?;
        if let Some(key) = file.values.missing(GROUPS) {
            let message = "is missing: give it, or name a profile with `like` that has it";
            return Err(block.wrong(alloc::format!("`{key}` {message}")));
        }
    }
    Ok(file)
}

impl ProfileFile {
    /// Returns this profile on top of `base`, called `name`, whose values hold where this one has
    /// none.
    pub(super) fn over(&self, name: &str, base: &Self) -> Self {
        let mut values = base.values.clone();
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
