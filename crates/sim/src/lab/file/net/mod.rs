//! Labs with variants: devices that speak IP over Wi-Fi, each variant another firmware, role,
//! security or place.
//!
//! | module | what |
//! |---|---|
//! | [`keys`] | the keys |
//! | `layer` | what the lab says, and what a variant says over it |
//! | `node` | groups whose devices run the esp-now component |
//! | `build` | both, with profiles and environment, to a [`Scene`](crate::lab::scene::Scene) |

mod build;
mod keys;
mod layer;
mod node;

pub(super) use build::Build;
pub(super) use keys::{ACCESS_POINT, DEVICE, GROUP, KEYS, PC, VARIANT};

use super::block::{Item, Source as Text};
use super::key::Is;
use super::wrong::{Wrong, hint};
use super::{Kind, Need, environment};
use crate::lab::profile::Source;
use crate::lab::scene::Background;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Name;
use layer::{Layer, Layers, Value};

/// The most variants of a lab.
const MOST_VARIANTS: usize = 1000;

/// A lab's file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) title: String,
    lab: Layer,
    variants: Vec<(String, Layer)>,
    pub(super) background: Vec<Background>,
    pub(super) sources: Vec<Source>,
}

/// Whether a text is a lab with variants.
pub(super) fn is_one(text: &str) -> bool {
    let table = toml::de::DeTable::parse(text);
    table.is_ok_and(|table| table.get_ref().keys().any(|key| key.get_ref() == "variant"))
}

/// Reads a lab.
pub(super) fn read(text: Text<'_>) -> Result<File, Wrong> {
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
    if variants.is_empty() {
        return Err(block.wrong("no variants: add a [[variant]]"));
    }
    let (background, sources) = environment::background(&block)?;
    Ok(File { title, lab, variants, background, sources })
}

impl File {
    /// Names of its variants, in the order of the file.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|(name, _)| name.as_str())
    }

    /// One of its variants.
    fn layers(&self, variant: &str) -> Result<Layers<'_>, Wrong> {
        match self.variants.iter().find(|(name, _)| name == variant) {
            Some((_, variant)) => Ok(Layers { variant, lab: &self.lab }),
            None => {
                let known: Vec<&str> = self.names().collect();
                let message = format!("no variant is called `{variant}`{}", hint(variant, &known));
                Err(Wrong::whole("", message))
            }
        }
    }

    /// What it names, and where.
    pub(super) fn needs(&self, text: &str) -> Vec<Need> {
        let layers = core::iter::once(&self.lab).chain(self.variants.iter().map(|(_, it)| it));
        let layers =
            layers.flat_map(|it| core::iter::once(it).chain(it.parts.iter().map(|it| &it.layer)));
        let mut needs: Vec<Need> = Vec::new();
        for entry in layers.flat_map(|layer| &layer.values) {
            let kind = match (entry.table, entry.key) {
                ("", "environment") => Kind::Environment,
                ("device" | "other", "profile") => Kind::Profile,
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
        let found = key.split_once('.').and_then(|(table, name)| {
            let (table, keys) = keys::TABLES.into_iter().find(|it| it.0 == table)?;
            Some((table, keys.iter().find(|it| it.name == name)?))
        });
        let (table, key) = found
            .filter(|(_, key)| matches!(key.is, Is::Number(..) | Is::Whole(..)))
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
