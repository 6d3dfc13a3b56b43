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
//! `docs/labs.md` describes all keys.
//!
//! | module | what |
//! |---|---|
//! | [`key`] | what a key may be: for reading, for errors, for the documentation |
//! | `block` | tables of a TOML text, with the place of everything in it |
//! | `constant` | numbers with their sources |
//! | `profile`, `environment`, `lab` | the three kinds of file |
//! | `overrides` | what a test or a plan sets of a lab, in place of what its file says |
//! | `link_trace` | measured links: the `[link]` of a lab, and its CSV file |
//! | `barrier` | walls and floors of a lab |
//! | `pattern`, `firmware` | how a group stands, and what its firmware was built with |
//! | `fitted` | what a lab was fitted to: run, plan, figures and constants |
//! | `built_in` | the files of the repository |
//! | `document` | the keys as tables for the documentation |
//! | `example` | examples of keys, for the documentation |
//! | `wrong` | what is wrong with a file, and where |

mod barrier;
mod block;
mod built_in;
mod constant;
mod document;
mod environment;
mod example;
mod firmware;
mod fitted;
pub mod key;
mod lab;
mod link_trace;
mod overrides;
mod pattern;
mod profile;
#[cfg(test)]
mod tests;
mod wrong;

pub(in crate::lab) use barrier::material_constants;
pub use barrier::{material_db, materials};
pub use document::{Constant, Constants, constants, document};
pub use fitted::FitRecord;
pub(in crate::lab) use lab::{ANTENNA_DBI, ANTENNAS, IDLE_TICKS};
pub(in crate::lab) use overrides::no_bluetooth;
pub use overrides::{LEAST_WITH_WIFI_MHZ, OF_NODES, Overrides, scales_to};
pub use wrong::FileError;

use super::profile::Profile;
use super::scene::{Background, Environment, LinkTrace, Scene};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use block::TomlText;
use esp_now::component::{ComponentRelease, Idf};
use once_cell::race::OnceBox;
use sha2::{Digest as _, Sha256};

/// Kind of thing that a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A chip with its firmware.
    Profile,
    /// A place.
    Environment,
    /// A room with all that is in it.
    Lab,
}

impl FileKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Profile, Self::Environment, Self::Lab];

    /// Returns the folder of the files of this kind.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Profile => "profiles",
            Self::Environment => "environments",
            Self::Lab => "labs",
        }
    }

    /// Returns the word for it in sentences.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Environment => "environment",
            Self::Lab => "lab",
        }
    }

    /// Returns the kind of file that most keys of a text belong to; `None` where that is open.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let table = toml::de::DeTable::parse(text).ok()?;
        let count = |keys: &[key::KeySpec]| {
            let known = |name: &str| keys.iter().any(|key| key.name == name);
            table.get_ref().keys().filter(|name| known(name.get_ref())).count()
        };
        let counts = [count(&profile::KEYS), count(&environment::KEYS), count(&lab::KEYS)];
        let most = counts.into_iter().max()?;
        let mut kinds = Self::ALL.into_iter().zip(counts).filter(|(_, count)| *count == most);
        let (kind, _) = kinds.next()?;
        kinds.next().is_none().then_some(kind)
    }

    /// Returns the name that errors give to a file of this kind.
    fn file(self, name: &str) -> String {
        if is_path(name) { name.to_string() } else { format!("{}/{name}.toml", self.folder()) }
    }
}

/// Returns whether a name is that of a user's file, and not of one of the library.
#[must_use]
pub fn is_path(name: &str) -> bool {
    name.ends_with(".toml")
}

/// Something that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Kind of the file.
    pub kind: FileKind,
    /// Name of the file.
    pub name: String,
    /// Line at which it is named, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Need {
    fn at(kind: FileKind, (name, offset): &block::Item<String>, text: &str) -> Self {
        let (line, column) = espbench_model::text::place(text, *offset);
        Self { kind, name: name.clone(), line, column }
    }
}

/// A place with the stations that are always there.
#[derive(Clone, Debug, PartialEq)]
pub struct Surroundings {
    /// One line for people.
    pub title: String,
    /// Radio environment of the place.
    pub environment: Environment,
    /// Stations of other people.
    pub background: Vec<Background>,
}

/// Returns the text of a built-in file.
#[must_use]
pub fn built_in_text(kind: FileKind, name: &str) -> Option<&'static str> {
    let mut files = built_in::FILES.iter();
    files.find(|(of, file, _)| *of == kind && *file == name).map(|(_, _, text)| *text)
}

/// A lab's file and its text.
type ReadLab = (Arc<lab::LabFile>, Arc<str>);

/// Labs, profiles and environments by name. Clones share the files that neither changes.
#[derive(Clone, Debug, Default)]
pub struct Library {
    profiles: BTreeMap<String, Arc<profile::ProfileFile>>,
    /// Profiles with all that they lean on, as far as somebody has asked.
    whole_profiles: BTreeMap<String, Arc<OnceBox<Arc<Profile>>>>,
    environments: BTreeMap<String, Arc<Surroundings>>,
    labs: BTreeMap<String, ReadLab>,
    link_traces: BTreeMap<String, Arc<LinkTrace>>,
    /// Texts of all files.
    texts: BTreeMap<(FileKind, String), Arc<str>>,
    /// Releases that all nodes of ESP-NOW have, in place of those of their labs.
    releases: (Option<ComponentRelease>, Option<Idf>),
}

/// Profiles that may lean on each other.
const MOST_LIKE: usize = 8;

impl Library {
    /// Creates an empty library.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a library of the files of the repository.
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
    pub fn add(&mut self, kind: FileKind, name: &str, text: &str) -> Result<(), FileError> {
        let file = kind.file(name);
        let source = TomlText { file: &file, text };
        match kind {
            FileKind::Profile => {
                self.profiles.insert(name.to_string(), Arc::new(profile::read(source)?));
                self.whole_profiles.insert(name.to_string(), Arc::default());
                self.forget_whole_profiles();
            }
            FileKind::Environment => {
                let short = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".toml");
                let place = environment::read(source, short)?;
                self.environments.insert(name.to_string(), Arc::new(place));
            }
            FileKind::Lab => {
                let file = Arc::new(lab::read(source)?);
                self.labs.insert(name.to_string(), (file, text.into()));
            }
        }
        self.texts.insert((kind, name.to_string()), text.into());
        Ok(())
    }

    /// Returns the SHA-256 of the files that cells of that lab, or of any lab of the library, may be of: all that are
    /// no user's, and those of the user's that the lab names. Two of one digest simulate the same.
    #[must_use]
    pub fn digest(&self, lab: Option<&str>) -> String {
        let named = self.named_by(lab);
        let mut all = Sha256::new();
        for ((kind, name), text) in &self.texts {
            if is_path(name) && !named.contains(&(*kind, name.clone())) {
                continue;
            }
            for part in [kind.folder(), name.as_str(), text] {
                // With its length, a part is told apart from the next.
                all.update((part.len() as u64).to_le_bytes());
                all.update(part.as_bytes());
            }
        }
        let traces = named.iter().filter(|it| it.0 == FileKind::Lab);
        let traces = traces.filter_map(|it| self.link_traces.get(self.link_trace_of(&it.1)?.0));
        traces.for_each(|it| all.update(format!("{it:?}").as_bytes()));
        all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns a lab with all files that it names, that those name, and so on.
    fn named_by(&self, lab: Option<&str>) -> BTreeSet<(FileKind, String)> {
        let mut named = BTreeSet::new();
        let mut todo: Vec<_> =
            lab.map(|lab| (FileKind::Lab, lab.to_string())).into_iter().collect();
        while let Some((kind, name)) = todo.pop() {
            let needs = self.needs(kind, &name).into_iter().map(|it| (it.kind, it.name));
            if named.insert((kind, name)) {
                todo.extend(needs);
            }
        }
        named
    }

    /// Adds a trace of links, or puts it in the place of one with the same name.
    ///
    /// # Errors
    /// What is wrong in the text, with its line.
    pub fn add_link_trace(&mut self, name: &str, text: &str) -> Result<(), FileError> {
        self.link_traces.insert(name.to_string(), Arc::new(link_trace::read(name, text)?));
        Ok(())
    }

    /// Returns the name of the trace that drives links of a lab, and the line and the column, from 1,
    /// where its file says so.
    #[must_use]
    pub fn link_trace_of(&self, lab: &str) -> Option<(&str, usize, usize)> {
        let (file, text) = self.labs.get(lab)?;
        let (name, at) = &file.link.as_ref()?.trace;
        let (line, column) = espbench_model::text::place(text, *at);
        Some((name, line, column))
    }

    /// Returns the names of all files of a kind, in order.
    pub fn names(&self, kind: FileKind) -> impl Iterator<Item = &str> {
        let (profiles, environments, labs) = match kind {
            FileKind::Profile => (Some(self.profiles.keys()), None, None),
            FileKind::Environment => (None, Some(self.environments.keys()), None),
            FileKind::Lab => (None, None, Some(self.labs.keys())),
        };
        let names = profiles.into_iter().flatten();
        let names = names.chain(environments.into_iter().flatten());
        names.chain(labs.into_iter().flatten()).map(String::as_str)
    }

    /// Checks that there is a file of that name.
    ///
    /// # Errors
    /// There is none; the error lists the names that there are.
    pub fn knows(&self, kind: FileKind, name: &str) -> Result<(), FileError> {
        if self.names(kind).any(|known| known == name) {
            return Ok(());
        }
        Err(FileError::unknown(kind, name, self.names(kind)))
    }

    /// Returns one line for people about a file.
    #[must_use]
    pub fn title(&self, kind: FileKind, name: &str) -> Option<&str> {
        Some(match kind {
            FileKind::Profile => &self.profiles.get(name)?.title,
            FileKind::Environment => &self.environments.get(name)?.title,
            FileKind::Lab => &self.labs.get(name)?.0.title,
        })
    }

    /// Returns what a lab was fitted to: one record for each run.
    #[must_use]
    pub fn fit_records(&self, lab: &str) -> &[FitRecord] {
        self.labs.get(lab).map_or(&[], |(lab, _)| &lab.fitted)
    }

    /// Returns the files that a lab or a profile names.
    #[must_use]
    pub fn needs(&self, kind: FileKind, name: &str) -> Vec<Need> {
        let needs = match kind {
            FileKind::Lab => self.labs.get(name).map(|(lab, text)| lab.needs(text)),
            FileKind::Profile => {
                self.profiles.get(name).map(|it| it.like.iter().cloned().collect())
            }
            FileKind::Environment => None,
        };
        needs.unwrap_or_default()
    }

    /// Returns a profile.
    ///
    /// # Errors
    /// There is none of that name, or its base is missing.
    pub fn profile(&self, name: &str) -> Result<Arc<Profile>, FileError> {
        let known = self.whole_profiles.get(name);
        if let Some(profile) = known.and_then(|it| it.get()) {
            return Ok(profile.clone());
        }
        let profile = Arc::new(self.whole_profile(name)?.profile(name));
        if let Some(known) = known {
            // Where another thread was faster, its profile is the same.
            let _ = known.set(Box::new(profile.clone()));
        }
        Ok(profile)
    }

    /// Forgets the profiles with what they lean on, since a file has changed. Clones keep theirs.
    fn forget_whole_profiles(&mut self) {
        self.whole_profiles.values_mut().for_each(|it| *it = Arc::default());
    }

    /// Returns the profile of a device.
    ///
    /// # Errors
    /// As [`Library::profile`]; or it is work for the profiles that lean on it, and has no chip.
    pub(super) fn chip(&self, name: &str) -> Result<Arc<Profile>, FileError> {
        if self.profiles.get(name).is_some_and(|it| it.is_work()) {
            let message =
                "it is the work of all chips, and no device: name a profile with a `chip`";
            return Err(FileError::whole(FileKind::Profile.file(name), message));
        }
        self.profile(name)
    }

    fn whole_profile(&self, name: &str) -> Result<profile::ProfileFile, FileError> {
        let unknown =
            |name: &str| FileError::unknown(FileKind::Profile, name, self.names(FileKind::Profile));
        let mut whole =
            profile::ProfileFile::clone(self.profiles.get(name).ok_or_else(|| unknown(name))?);
        for _ in 0..MOST_LIKE {
            let Some(like) = &whole.like else { return Ok(whole) };
            let base = self.profiles.get(&like.name).ok_or_else(|| {
                let file = FileKind::Profile.file(name);
                FileError { file, line: like.line, column: like.column, ..unknown(&like.name) }
            })?;
            whole = whole.over(&like.name, base);
        }
        let message = format!("`like` goes on for more than {MOST_LIKE} profiles: is it a circle?");
        Err(FileError::whole(FileKind::Profile.file(name), message))
    }

    /// Returns an environment.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn environment(&self, name: &str) -> Result<Surroundings, FileError> {
        self.environments.get(name).map(|it| Surroundings::clone(it)).ok_or_else(|| {
            FileError::unknown(FileKind::Environment, name, self.names(FileKind::Environment))
        })
    }

    /// Sets one constant of a profile or an environment by its key (`receive.fixed_us`,
    /// `path_loss.exponent`, `background.NAME.rate_hz`): for fitting.
    ///
    /// # Errors
    /// No such file or key, or the value is out of range.
    pub fn tune(
        &mut self,
        kind: FileKind,
        name: &str,
        key: &str,
        value: f64,
    ) -> Result<(), FileError> {
        let tuned = match kind {
            FileKind::Profile => {
                self.forget_whole_profiles();
                self.profiles.get_mut(name).map(|it| document::tune(Arc::make_mut(it), key, value))
            }
            FileKind::Environment => self
                .environments
                .get_mut(name)
                .map(|it| document::tune_place(Arc::make_mut(it), key, value)),
            FileKind::Lab => {
                (self.labs.get_mut(name)).map(|(file, _)| Arc::make_mut(file).tune(key, value))
            }
        };
        let unknown = || FileError::unknown(kind, name, self.names(kind));
        tuned.ok_or_else(unknown)?.map_err(|message| FileError::whole(kind.file(name), message))
    }

    /// Lists the numbers that a lab states, with their origins; none of a lab that is not here.
    #[must_use]
    pub fn lab_constants(&self, lab: &str) -> Vec<Constant> {
        self.labs.get(lab).map_or_else(Vec::new, |(file, _)| file.constants())
    }

    /// Names of a lab's variants, in the order of its file; none of a lab for ESP-NOW.
    #[must_use]
    pub fn variants(&self, lab: &str) -> Vec<&str> {
        self.labs.get(lab).map_or_else(Vec::new, |(file, _)| file.names().collect())
    }

    /// Returns the lab that has a variant of this name, if there is one: names of variants of the
    /// built-in labs differ.
    #[must_use]
    pub fn lab_of(&self, variant: &str) -> Option<&str> {
        let has = |lab: &&String| self.variants(lab).contains(&variant);
        self.labs.keys().find(has).map(String::as_str)
    }

    /// Returns the room of a variant of a lab.
    ///
    /// # Errors
    /// There is no such lab or variant, it names an environment or a profile that is not here, or
    /// what it asks for does not fit together: with what to do.
    pub fn variant_scene(&self, lab: &str, variant: &str) -> Result<Scene, FileError> {
        self.variant_scene_with(lab, variant, &Overrides::default())
    }

    /// Returns the room of a variant of a lab, with what a plan sets of it.
    ///
    /// # Errors
    /// As [`Library::variant_scene`]; or what is set cannot be, with what to write instead.
    pub fn variant_scene_with(
        &self,
        lab: &str,
        variant: &str,
        set: &Overrides,
    ) -> Result<Scene, FileError> {
        let ((file, text), name) = self.lab(lab)?;
        if file.names().next().is_none() {
            let message = "it has no variants: its devices speak ESP-NOW only";
            return Err(FileError::whole(name, message));
        }
        let wrong = |message: String| FileError::whole(name.clone(), message);
        let is_lone = file.names().any(|it| it == variant) && !file.has_places(variant);
        if let Some(devices) = set.devices.filter(|it| *it > 1 && is_lone) {
            return Err(wrong(format!(
                "{variant} is one device, and there is no place for {devices}: take a lab that has a `cluster`, \
                 `grid`, `line` or `ring` of them, such as forty-stations"
            )));
        }
        let none = Overrides::default();
        let own = match *set == none {
            true => None,
            false => Some(file.set(variant, set, set.mode().map_err(wrong)?)),
        };
        let file = own.as_ref().unwrap_or(&**file);
        let text = TomlText { file: &name, text };
        let build = lab::Build { library: self, lab, variant, file, text, change: &none, seed: 0 };
        build.scene()
    }

    /// Sets the releases of the esp-now component and of ESP-IDF on all nodes, as far as they are given.
    pub const fn set_releases(&mut self, component: Option<ComponentRelease>, idf: Option<Idf>) {
        self.releases = (component, idf);
    }

    /// Returns the room of a lab without variants. The same seed gives the same places.
    ///
    /// # Errors
    /// There is no such lab, it names an environment or a profile that is not here, or what is to
    /// be changed cannot be: with what to do.
    pub fn scene(&self, lab: &str, change: &Overrides, seed: u64) -> Result<Scene, FileError> {
        let (file, name) = self.lab(lab)?;
        let known: Vec<&str> = file.0.names().collect();
        if !known.is_empty() {
            let message = format!("it has no ESP-NOW devices, but variants: {}", known.join(", "));
            return Err(FileError::whole(name, message));
        }
        let ((file, text), name) = self.lab(lab)?;
        let text = TomlText { file: &name, text };
        let mut scene =
            lab::Build { library: self, lab, variant: "", file, text, change, seed }.scene()?;
        let (component, idf) = self.releases;
        for node in &mut scene.nodes {
            firmware::set_releases(node, component, idf);
        }
        Ok(scene)
    }

    /// Returns a lab's file with its text, and what errors call it.
    fn lab(&self, lab: &str) -> Result<(&ReadLab, String), FileError> {
        let unknown = || FileError::unknown(FileKind::Lab, lab, self.names(FileKind::Lab));
        Ok((self.labs.get(lab).ok_or_else(unknown)?, FileKind::Lab.file(lab)))
    }
}
