//! Labs, profiles and environments as files: TOML in, a [`Scene`] out.
//!
//! | file | says |
//! |---|---|
//! | `profiles/NAME.toml` | the constants of a chip with its firmware, each with its source |
//! | `environments/NAME.toml` | the constants of a place, and other people's stations there |
//! | `labs/NAME.toml` | what stands where: groups of devices, routers, and which environment |
//!
//! A lab names its environment and its profiles; a name that ends in `.toml` is a file beside it.
//! [`Library`] holds the texts; it does no I/O: the host adds what it has read.

mod wrong;

pub use wrong::Wrong;

use super::profile::Profile;
use super::scene::{Background, Environment, Scene};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_proto::workload::EspNow;

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
    /// The folder of its files.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Profile => "profiles",
            Self::Environment => "environments",
            Self::Lab => "labs",
        }
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
    texts: BTreeMap<(Kind, String), Arc<str>>,
}

impl Library {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The files of the repository.
    #[must_use]
    pub fn built_in() -> Self {
        Self::default()
    }

    /// Adds a file, or puts it in the place of one with the same name, and checks it. `name` has no
    /// ending for a file of the library; a file of the user's has the name that a lab gives it.
    ///
    /// # Errors
    /// What is wrong in the text, with line and column. What a lab refers to is looked up in
    /// [`Library::scene`].
    pub fn add(&mut self, kind: Kind, name: &str, text: &str) -> Result<(), Wrong> {
        self.texts.insert((kind, name.to_string()), text.into());
        Ok(())
    }

    /// The names of what there is of a kind, in order.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.texts.keys().filter(move |(it, _)| *it == kind).map(|(_, name)| name.as_str())
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, kind: Kind, name: &str) -> Option<&str> {
        self.texts.get(&(kind, name.to_string())).map(|text| &**text)
    }

    /// A profile.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn profile(&self, name: &str) -> Result<Arc<Profile>, Wrong> {
        Err(Wrong::unknown(Kind::Profile, name, self.names(Kind::Profile)))
    }

    /// An environment.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn environment(&self, name: &str) -> Result<Surroundings, Wrong> {
        Err(Wrong::unknown(Kind::Environment, name, self.names(Kind::Environment)))
    }

    /// Sets one constant of a profile or an environment by its key (`receive.fixed_us`,
    /// `path_loss.exponent`, `background.NAME.rate_hz`): for fitting.
    ///
    /// # Errors
    /// No such file or key, or the value is out of range.
    pub fn tune(&mut self, kind: Kind, name: &str, key: &str, value: f64) -> Result<(), Wrong> {
        let _ = (key, value);
        Err(Wrong::unknown(kind, name, self.names(kind)))
    }

    /// The room of a lab. The same seed gives the same places.
    ///
    /// # Errors
    /// There is no such lab, it names an environment or a profile that is not here, or what is to
    /// be changed cannot be: with what to do.
    pub fn scene(&self, lab: &str, change: &Overrides, seed: u64) -> Result<Scene, Wrong> {
        let _ = (change, seed);
        Err(Wrong::unknown(Kind::Lab, lab, self.names(Kind::Lab)))
    }
}
