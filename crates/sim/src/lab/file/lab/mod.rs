//! Labs: what stands where.
//!
//! A lab without variants has nodes of ESP-NOW. With variants it has devices that speak IP over Wi-Fi as
//! well: each variant is another firmware, role, security or place. One grammar serves both: what a
//! lab says, what a variant says over it, and groups and routers that each of the two may have.
//!
//! | module | contents |
//! |---|---|
//! | [`keys`] | the keys |
//! | `layer` | what the lab says, and what a variant says over it |
//! | `constants` | the numbers of a lab with their origins |
//! | `build` | both, with profiles and environment, to a [`Scene`](crate::lab::scene::Scene) |
//! | `network` | routers and the PC |
//! | `device` | devices that speak IP |
//! | `set` | what a plan sets of a variant |
//! | `node` | groups whose devices run the esp-now component, and what a test changes of them |

mod build;
mod constants;
mod device;
mod keys;
mod layer;
mod network;
mod node;
mod set;

pub(super) use build::Build;
pub(in crate::lab) use device::IDLE_TICKS;
pub(super) use keys::{ACCESS_POINT, DEVICE, GROUP, KEYS, PC, ROUTER, VARIANT};
pub(in crate::lab) use keys::{ANTENNA_DBI, ANTENNAS};

use super::block::{Item, TomlTable, TomlText};
use super::constant::Notes;
use super::fitted::{self, FitRecord};
use super::key::KeyType;
use super::link_trace::{self, LinkTraceTable};
use super::wrong::{FileError, hint};
use super::{FileKind, Need, barrier, environment};
use crate::lab::profile::Source;
use crate::lab::scene::{Background, Barriers};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_model::workload::Name;
use layer::{DEVICE_TABLE, Layer, Layers, Value};

/// The most variants of a lab.
const MOST_VARIANTS: usize = 1000;

/// A lab's file.
#[derive(Clone, Debug)]
pub(super) struct LabFile {
    pub(super) title: String,
    lab: Layer,
    variants: Vec<(String, Layer)>,
    pub(super) background: Vec<Background>,
    pub(super) sources: Vec<Source>,
    pub(super) fitted: Vec<FitRecord>,
    pub(super) link: Option<LinkTraceTable>,
    /// Notes on numbers whose tables have none.
    notes: Notes,
    pub(super) barriers: Arc<Barriers>,
}

/// Reads a lab.
pub(super) fn read(text: TomlText<'_>) -> Result<LabFile, FileError> {
    let block = text.block(&KEYS)?;
    let title = block.must("title", block.text("title")?)?;
    let lab = Layer::read(&block, &KEYS)?;
    let mut variants: Vec<(String, Layer)> = Vec::new();
    for it in block.blocks("variant", &VARIANT)? {
        let name = it.must("name", it.text("name")?)?;
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if Name::new(&name).is_none() || !name.chars().all(known) {
            let most = Name::LEN;
            let message = format!("1 to {most} letters, digits, `-`, `_` and `.`");
            return Err(it.wrong_value("name", message));
        }
        if variants.iter().any(|(other, _)| *other == name) {
            return Err(it.wrong_value("name", "two variants have this name"));
        }
        if variants.len() == MOST_VARIANTS {
            return Err(it.wrong(format!("a lab has at most {MOST_VARIANTS} variants")));
        }
        variants.push((name, Layer::read(&it, &VARIANT)?));
    }
    if block.has("variant") && variants.is_empty() {
        return Err(block.wrong("no variants: add a [[variant]]"));
    }
    complete(&block, &lab)?;
    let (background, sources) = environment::background(&block)?;
    let fitted = fitted::read(&block)?;
    let link = link_trace::table(&block)?;
    let barriers = barrier::read(&block)?.into();
    let notes = Notes::read(&block, core::iter::empty())?;
    Ok(LabFile { title, lab, variants, background, sources, fitted, link, notes, barriers })
}

/// Checks that a lab has what it must have, with variants or without.
fn complete(block: &TomlTable<'_>, lab: &Layer) -> Result<(), FileError> {
    let has = |keys: &'static [&str]| keys.iter().copied().find(|it| block.has(it));
    if block.has("variant") {
        return match has(&keys::OF_TESTS) {
            Some(key) => Err(block.wrong_value(key, "a lab with variants has none")),
            None => Ok(()),
        };
    }
    if let Some(key) = has(&keys::OF_VARIANTS) {
        let message = "it is for devices that speak IP: add a [[variant]]";
        return Err(block.wrong_value(key, message));
    }
    block.must("environment", block.text("environment")?)?;
    if !lab.parts.iter().any(|it| it.table == DEVICE_TABLE) {
        return Err(block.wrong("no devices: add a [[group]]"));
    }
    Ok(())
}

impl LabFile {
    /// Returns the names of its variants, in the order of the file; none of a lab of nodes alone.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|(name, _)| name.as_str())
    }

    /// Returns one of its variants; of a lab without variants the lab, whose name as one is empty.
    fn layers(&self, variant: &str) -> Result<Layers<'_>, FileError> {
        if self.variants.is_empty() && variant.is_empty() {
            return Ok(Layers { variant: &self.lab, lab: &build::NOTHING });
        }
        match self.variants.iter().find(|(name, _)| name == variant) {
            Some((_, variant)) => Ok(Layers { variant, lab: &self.lab }),
            None => {
                let known: Vec<&str> = self.names().collect();
                let message = format!("no variant is called `{variant}`{}", hint(variant, &known));
                Err(FileError::whole("", message))
            }
        }
    }

    /// Returns what it names, and where.
    pub(super) fn needs(&self, text: &str) -> Vec<Need> {
        let layers = core::iter::once(&self.lab).chain(self.variants.iter().map(|(_, it)| it));
        let layers =
            layers.flat_map(|it| core::iter::once(it).chain(it.parts.iter().map(|it| &it.layer)));
        let mut needs: Vec<Need> = Vec::new();
        for entry in layers.flat_map(|layer| &layer.values) {
            let kind = match (entry.table, entry.key) {
                ("", "environment") => FileKind::Environment,
                (DEVICE_TABLE | "other", "profile") => FileKind::Profile,
                _ => continue,
            };
            let Value::Text(name) = &entry.value else { continue };
            if !needs.iter().any(|it| it.kind == kind && it.name == *name) {
                let item: Item<String> = (name.clone(), entry.at);
                needs.push(Need::at(kind, &item, text));
            }
        }
        needs
    }

    /// Sets a number of the lab by its whole key (`pc.turn_us`): for fitting.
    pub(super) fn tune(&mut self, key: &str, value: f64) -> Result<(), String> {
        if self.variants.is_empty() {
            return Err("a lab has no constants: tune its profiles or its environment".into());
        }
        let found = key.split_once('.').and_then(|(table, name)| {
            let (table, keys) = keys::TABLES.into_iter().find(|it| it.0 == table)?;
            Some((table, keys.iter().find(|it| it.name == name)?))
        });
        let (table, key) = found
            .filter(|(_, key)| matches!(key.is, KeyType::Number(..) | KeyType::Whole(..)))
            .ok_or_else(|| format!("it has no constant `{key}`"))?;
        super::document::in_range(key, value)?;
        let value = Value::Number(value);
        match self.lab.values.iter_mut().find(|it| it.table == table && it.key == key.name) {
            Some(it) => it.value = value,
            None => {
                let at = self.lab.start;
                self.lab.values.push(layer::Entry { table, key: key.name, value, at });
            }
        }
        Ok(())
    }
}
