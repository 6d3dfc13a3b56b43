//! Labs, profiles and environments as files: TOML in, a [`Scene`] out.
//!
//! | file | says |
//! |---|---|
//! | `profiles/NAME.toml` | the constants of a chip with its firmware, each with its source |
//! | `environments/NAME.toml` | the constants of a place, and other people's stations there |
//! | `labs/NAME.toml` | what stands where: groups of devices, routers, and which environment |
//!
//! A lab names its environment and its profiles; a name that ends in `.toml` is a file beside it.
//! [`Library`] holds what was read; it does no I/O: the host adds the user's files.
//! `docs/lab.md` describes all keys.
//!
//! | module | what |
//! |---|---|
//! | [`key`] | what a key may be: for reading, for errors, for the documentation |
//! | `block` | tables of a TOML text, with the place of everything in it |
//! | `constant` | numbers with their sources |
//! | `profile`, `environment`, `lab` | the three kinds of file |
//! | `net` | labs with variants: devices that speak IP |
//! | `pattern`, `firmware` | how a group stands, and what its firmware was built with |
//! | `build` | a lab and what a test changes of it, to a scene |
//! | `document` | the keys as tables for the documentation |

mod block;
mod build;
mod built_in;
mod constant;
mod document;
mod environment;
mod firmware;
pub mod key;
mod lab;
mod net;
mod pattern;
mod profile;
#[cfg(test)]
mod tests;
mod wrong;

pub use document::{Constant, Constants, constants, document};
pub use wrong::Wrong;

use super::profile::Profile;
use super::scene::{Background, Environment, Scene};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use block::Source;
use espbench_model::workload::EspNow;

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A chip with its firmware.
    Profile,
    /// A place.
    Environment,
    /// A room with all that is in it.
    Lab,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Profile, Self::Environment, Self::Lab];

    /// The folder of its files.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Profile => "profiles",
            Self::Environment => "environments",
            Self::Lab => "labs",
        }
    }

    /// As sentences call it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Environment => "environment",
            Self::Lab => "lab",
        }
    }

    /// The kind of file that most keys of a text are of; nothing where that is open.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let table = toml::de::DeTable::parse(text).ok()?;
        let count = |keys: &[key::Key]| {
            let known = |name: &str| keys.iter().any(|key| key.name == name);
            table.get_ref().keys().filter(|name| known(name.get_ref())).count()
        };
        let lab = count(&lab::KEYS).max(count(&net::KEYS));
        let counts = [count(&profile::KEYS), count(&environment::KEYS), lab];
        let most = counts.into_iter().max()?;
        let mut kinds = Self::ALL.into_iter().zip(counts).filter(|(_, count)| *count == most);
        let (kind, _) = kinds.next()?;
        kinds.next().is_none().then_some(kind)
    }

    /// As errors call a file of this kind.
    fn file(self, name: &str) -> String {
        if is_path(name) { name.to_string() } else { format!("{}/{name}.toml", self.folder()) }
    }
}

/// Whether a name is that of a user's file, not of one of the library.
#[must_use]
pub fn is_path(name: &str) -> bool {
    name.ends_with(".toml")
}

/// Something that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Where it is named: line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Need {
    fn at(kind: Kind, (name, offset): &block::Item<String>, text: &str) -> Self {
        let (line, column) = espbench_model::text::place(text, *offset);
        Self { kind, name: name.clone(), line, column }
    }
}

/// What a suite changes of a lab.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Devices beside the initiator.
    pub devices: Option<u16>,
    /// Metres from the initiator to the nearest and the farthest of the other devices. Where both
    /// are the same, it is the middle of the group that is moved there.
    pub distance_m: Option<(f64, f64)>,
    /// Whether the devices' services encrypt.
    pub encrypted: Option<bool>,
    /// The profile of all devices.
    pub profile: Option<String>,
}

impl From<&EspNow> for Overrides {
    fn from(cell: &EspNow) -> Self {
        let (nearest, farthest) = cell.distance_m;
        Self {
            devices: Some(cell.devices),
            distance_m: Some((f64::from(nearest), f64::from(farthest))),
            encrypted: Some(cell.encrypted),
            profile: None,
        }
    }
}

/// A place with the stations that are always there.
#[derive(Clone, Debug, PartialEq)]
pub struct Surroundings {
    /// One line for people.
    pub title: String,
    /// What the place does to radio.
    pub environment: Environment,
    /// Other people's stations.
    pub background: Vec<Background>,
}

/// Labs, profiles and environments by name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    profiles: BTreeMap<String, profile::File>,
    environments: BTreeMap<String, Surroundings>,
    labs: BTreeMap<String, (Room, Arc<str>)>,
}

/// A lab's file.
#[derive(Clone, Debug)]
enum Room {
    /// Devices that speak ESP-NOW.
    EspNow(lab::File),
    /// Devices that speak IP.
    Net(net::File),
}

impl Room {
    fn read(source: Source<'_>) -> Result<Self, Wrong> {
        if net::is_one(source.text) {
            net::read(source).map(Self::Net)
        } else {
            lab::read(source).map(Self::EspNow)
        }
    }

    fn title(&self) -> &str {
        match self {
            Self::EspNow(file) => &file.title,
            Self::Net(file) => &file.title,
        }
    }

    fn needs(&self, text: &str) -> Vec<Need> {
        match self {
            Self::EspNow(file) => file.needs(text),
            Self::Net(file) => file.needs(text),
        }
    }
}

/// Profiles that may lean on each other.
const MOST_LIKE: usize = 8;

impl Library {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The files of the repository.
    #[must_use]
    pub fn built_in() -> Self {
        let mut library = Self::new();
        for (kind, name, text) in built_in::FILES {
            // A test reads them all.
            let _ = library.add(kind, name, text);
        }
        library
    }

    /// Adds a file, or puts it in the place of one with the same name. `name` has no ending for a
    /// file of the library; a file of the user's has the name that a lab gives it.
    ///
    /// # Errors
    /// What is wrong in the text, with line and column. What a file refers to is looked up in
    /// [`Library::scene`].
    pub fn add(&mut self, kind: Kind, name: &str, text: &str) -> Result<(), Wrong> {
        let file = kind.file(name);
        let source = Source { file: &file, text };
        match kind {
            Kind::Profile => {
                self.profiles.insert(name.to_string(), profile::read(source)?);
            }
            Kind::Environment => {
                let short = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".toml");
                self.environments.insert(name.to_string(), environment::read(source, short)?);
            }
            Kind::Lab => {
                self.labs.insert(name.to_string(), (Room::read(source)?, text.into()));
            }
        }
        Ok(())
    }

    /// The names of what there is of a kind, in order.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let (profiles, environments, labs) = match kind {
            Kind::Profile => (Some(self.profiles.keys()), None, None),
            Kind::Environment => (None, Some(self.environments.keys()), None),
            Kind::Lab => (None, None, Some(self.labs.keys())),
        };
        let names = profiles.into_iter().flatten();
        let names = names.chain(environments.into_iter().flatten());
        names.chain(labs.into_iter().flatten()).map(String::as_str)
    }

    /// Whether there is something of that name.
    ///
    /// # Errors
    /// There is not: with the names that there are.
    pub fn knows(&self, kind: Kind, name: &str) -> Result<(), Wrong> {
        if self.names(kind).any(|known| known == name) {
            return Ok(());
        }
        Err(Wrong::unknown(kind, name, self.names(kind)))
    }

    /// One line for people about what there is.
    #[must_use]
    pub fn title(&self, kind: Kind, name: &str) -> Option<&str> {
        Some(match kind {
            Kind::Profile => &self.profiles.get(name)?.title,
            Kind::Environment => &self.environments.get(name)?.title,
            Kind::Lab => self.labs.get(name)?.0.title(),
        })
    }

    /// What a lab or a profile names.
    #[must_use]
    pub fn needs(&self, kind: Kind, name: &str) -> Vec<Need> {
        let needs = match kind {
            Kind::Lab => self.labs.get(name).map(|(lab, text)| lab.needs(text)),
            Kind::Profile => self.profiles.get(name).map(|it| it.like.iter().cloned().collect()),
            Kind::Environment => None,
        };
        needs.unwrap_or_default()
    }

    /// A profile.
    ///
    /// # Errors
    /// There is none of that name, or what it leans on is not here.
    pub fn profile(&self, name: &str) -> Result<Arc<Profile>, Wrong> {
        Ok(Arc::new(self.whole_profile(name)?.profile(name)))
    }

    fn whole_profile(&self, name: &str) -> Result<profile::File, Wrong> {
        let unknown = |name: &str| Wrong::unknown(Kind::Profile, name, self.names(Kind::Profile));
        let mut whole = self.profiles.get(name).ok_or_else(|| unknown(name))?.clone();
        for _ in 0..MOST_LIKE {
            let Some(like) = &whole.like else { return Ok(whole) };
            let base = self.profiles.get(&like.name).ok_or_else(|| {
                let file = Kind::Profile.file(name);
                Wrong { file, line: like.line, column: like.column, ..unknown(&like.name) }
            })?;
            whole = whole.over(&like.name, base);
        }
        let message = format!("`like` goes on for more than {MOST_LIKE} profiles: is it a circle?");
        Err(Wrong::whole(Kind::Profile.file(name), message))
    }

    /// An environment.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn environment(&self, name: &str) -> Result<Surroundings, Wrong> {
        self.environments
            .get(name)
            .cloned()
            .ok_or_else(|| Wrong::unknown(Kind::Environment, name, self.names(Kind::Environment)))
    }

    /// Sets one constant of a profile or an environment by its key (`receive.fixed_us`,
    /// `path_loss.exponent`, `background.NAME.rate_hz`): for fitting.
    ///
    /// # Errors
    /// No such file or key, or the value is out of range.
    pub fn tune(&mut self, kind: Kind, name: &str, key: &str, value: f64) -> Result<(), Wrong> {
        let tuned = match kind {
            Kind::Profile => self.profiles.get_mut(name).map(|it| document::tune(it, key, value)),
            Kind::Environment => {
                self.environments.get_mut(name).map(|it| document::tune_place(it, key, value))
            }
            Kind::Lab => match self.labs.get_mut(name) {
                Some((Room::Net(file), _)) => Some(file.tune(key, value)),
                Some((Room::EspNow(_), _)) => {
                    let message = "a lab has no constants: tune its profiles or its environment";
                    return Err(Wrong::whole(kind.file(name), message));
                }
                None => None,
            },
        };
        let unknown = || Wrong::unknown(kind, name, self.names(kind));
        tuned.ok_or_else(unknown)?.map_err(|message| Wrong::whole(kind.file(name), message))
    }

    /// Names of a lab's variants, in the order of its file; none of a lab for ESP-NOW.
    #[must_use]
    pub fn variants(&self, lab: &str) -> Vec<&str> {
        match self.labs.get(lab) {
            Some((Room::Net(file), _)) => file.names().collect(),
            _ => Vec::new(),
        }
    }

    /// The lab that has a variant of this name, if there is one: names of variants of the built-in
    /// labs differ.
    #[must_use]
    pub fn lab_of(&self, variant: &str) -> Option<&str> {
        let has = |lab: &&String| self.variants(lab).contains(&variant);
        self.labs.keys().find(has).map(String::as_str)
    }

    /// The room of a variant of a lab.
    ///
    /// # Errors
    /// There is no such lab or variant, it names an environment or a profile that is not here, or
    /// what it asks for does not fit together: with what to do.
    pub fn net_scene(&self, lab: &str, variant: &str) -> Result<Scene, Wrong> {
        let unknown = || Wrong::unknown(Kind::Lab, lab, self.names(Kind::Lab));
        let (file, text) = self.labs.get(lab).ok_or_else(unknown)?;
        let name = Kind::Lab.file(lab);
        let Room::Net(file) = file else {
            let message = "it has no variants: its devices speak ESP-NOW only";
            return Err(Wrong::whole(name, message));
        };
        let text = Source { file: &name, text };
        net::Build { library: self, lab, variant, file, text }.scene()
    }

    /// The room of a lab. The same seed gives the same places.
    ///
    /// # Errors
    /// There is no such lab, it names an environment or a profile that is not here, or what is to
    /// be changed cannot be: with what to do.
    pub fn scene(&self, lab: &str, change: &Overrides, seed: u64) -> Result<Scene, Wrong> {
        let unknown = || Wrong::unknown(Kind::Lab, lab, self.names(Kind::Lab));
        let (file, text) = self.labs.get(lab).ok_or_else(unknown)?;
        let name = Kind::Lab.file(lab);
        let file = match file {
            Room::EspNow(file) => file,
            Room::Net(file) => {
                let known: Vec<&str> = file.names().collect();
                let message =
                    format!("it has no ESP-NOW devices, but variants: {}", known.join(", "));
                return Err(Wrong::whole(name, message));
            }
        };
        let source = Source { file: &name, text };
        // What is missing is shown where the lab names it.
        let missing = |at: usize, error: &Wrong| source.wrong(at, error.to_string());
        let (environment, at) = &file.environment;
        let surroundings = self.environment(environment).map_err(|it| missing(*at, &it))?;
        let mut profiles = Vec::new();
        for group in &file.groups {
            let profile = match &change.profile {
                Some(profile) => self.profile(profile)?,
                None => {
                    self.profile(&group.profile.0).map_err(|it| missing(group.profile.1, &it))?
                }
            };
            if let Some(message) = group.unable(profile.chip) {
                return Err(source.wrong(group.start, message));
            }
            profiles.push(profile);
        }
        let build = build::Build { name: lab, file: &name, lab: file, surroundings, profiles };
        build.scene(change, seed)
    }
}
