//! The keys as tables, and constants by their names: for the documentation, for `espbench lab
//! profile`, and for fitting.

use super::constant::{CONFIDENCE, ConstantGroup, ConstantKey as Number, FITTED, SOURCE, find};
use super::environment::{self, LOAD};
use super::key::{KeySpec, KeyType};
use super::{FileKind, Surroundings, firmware, lab, pattern, profile};
use crate::lab::profile::{Confidence, Profile, Source};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sdkconfig;

/// A constant of a profile or an environment, with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// `receive.fixed_us`.
    pub key: String,
    /// Value of the constant; `None` where it is left out.
    pub value: Option<f64>,
    /// Meaning of the constant.
    pub about: String,
    /// Source of the constant; empty where nothing is stated.
    pub source: String,
    /// Whether it was fitted to published cells.
    pub fitted: bool,
    /// Confidence in it, where that is stated.
    pub confidence: Option<Confidence>,
}

/// Owner of the constants that are listed.
#[derive(Clone, Copy, Debug)]
pub enum Constants<'c> {
    /// A profile.
    Profile(&'c Profile),
    /// An environment with its stations.
    Environment(&'c Surroundings),
}

/// Lists all constants, in the order of the documentation.
#[must_use]
pub fn constants(of: Constants<'_>) -> Vec<Constant> {
    match of {
        Constants::Profile(it) => listed(profile::GROUPS, it, &it.sources),
        Constants::Environment(it) => {
            let sources = &it.environment.sources;
            let mut list = listed(environment::GROUPS, &it.environment, sources);
            for station in &it.background {
                for constant in &LOAD {
                    let key = format!("background.{}.{}", station.name, constant.key.name);
                    list.push(one(key, constant.key.about, (constant.get)(station), sources));
                }
            }
            list
        }
    }
}

fn listed<T>(groups: &'static [ConstantGroup<T>], of: &T, sources: &[Source]) -> Vec<Constant> {
    let mut list = Vec::new();
    for group in groups {
        for constant in group.constants {
            let key = format!("{}.{}", group.table, constant.key.name);
            let about = format!("{}: {}", group.about, constant.key.about);
            list.push(one(key, &about, (constant.get)(of), sources));
        }
    }
    list
}

fn one(key: String, about: &str, value: Option<f64>, sources: &[Source]) -> Constant {
    let source = sources.iter().find(|it| it.key == key);
    Constant {
        value,
        about: about.to_string(),
        source: source.map(|it| it.text.clone()).unwrap_or_default(),
        fitted: source.is_some_and(|it| it.fitted),
        confidence: source.and_then(|it| it.confidence),
        key,
    }
}

/// Checks that a number is in the range of a key; the error says what is.
pub(super) fn in_range(key: &KeySpec, value: f64) -> Result<(), String> {
    let fits = match key.is {
        KeyType::Number(least, most) => (least..=most).contains(&value),
        KeyType::Whole(least, most) => {
            libm::rint(value) == value && (least as f64..=most as f64).contains(&value)
        }
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("`{}`: found {value}, use {}", key.name, key.is)) }
}

fn no_constant(key: &str) -> String {
    format!("it has no constant `{key}`")
}

/// Finds a constant of one of these groups by its whole key, and checks that the number is in its
/// range.
fn checked<T>(
    groups: &'static [ConstantGroup<T>],
    key: &str,
    value: f64,
) -> Result<(&'static str, &'static Number<T>), String> {
    let found = key.split_once('.').and_then(|(table, name)| find(groups, table, name));
    let (table, constant) = found.ok_or_else(|| no_constant(key))?;
    in_range(&constant.key, value)?;
    Ok((table, constant))
}

/// Sets a constant of a profile.
pub(super) fn tune(file: &mut profile::ProfileFile, key: &str, value: f64) -> Result<(), String> {
    let (table, constant) = checked(profile::GROUPS, key, value)?;
    file.values.set(table, constant.key.name, value);
    Ok(())
}

/// Sets a constant of an environment.
pub(super) fn tune_place(place: &mut Surroundings, key: &str, value: f64) -> Result<(), String> {
    if let Some((name, of)) = key.strip_prefix("background.").and_then(|it| it.rsplit_once('.')) {
        let constant = LOAD.iter().find(|it| it.key.name == of);
        let station = place.background.iter_mut().find(|it| it.name == name);
        let (constant, station) = constant.zip(station).ok_or_else(|| no_constant(key))?;
        in_range(&constant.key, value)?;
        (constant.set)(station, value);
        return Ok(());
    }
    let (_, constant) = checked(environment::GROUPS, key, value)?;
    (constant.set)(&mut place.environment, value);
    Ok(())
}

/// Writes the tables of keys of a kind of file in Markdown: `docs/lab.md` has them.
#[must_use]
pub fn document(kind: FileKind) -> String {
    let mut text = String::new();
    match kind {
        FileKind::Profile => {
            table(&mut text, "", &profile::KEYS[..profile::OWN.len()]);
            groups(&mut text, profile::GROUPS);
        }
        FileKind::Environment => {
            let own = environment::KEYS.iter().filter(|key| key.is != KeyType::Table);
            table(&mut text, "", own);
            groups(&mut text, environment::GROUPS);
            table(&mut text, "`[[background]]`", &environment::BACKGROUND);
        }
        FileKind::Lab => {
            table(&mut text, "", &lab::KEYS);
            table(&mut text, "`[[variant]]`", &lab::VARIANT);
            table(&mut text, "`[device]`, `[other]` and `[[group]]`", &lab::DEVICE);
            let own = &lab::GROUP[lab::DEVICE.len()..];
            table(&mut text, "`[[group]]` beside these", own);
            table(&mut text, "`[group.line]`", &pattern::LINE);
            table(&mut text, "`[group.grid]`", &pattern::GRID);
            table(&mut text, "`[group.ring]`", &pattern::RING);
            table(&mut text, "`[group.cluster]`", &pattern::CLUSTER);
            table(&mut text, "`[group.firmware]`", &firmware::KEYS);
            table(&mut text, "`[access_point]` and `[[router]]`", &lab::ACCESS_POINT);
            let own = lab::ROUTER.iter().filter(|it| !lab::ACCESS_POINT.contains(it));
            table(&mut text, "`[[router]]` beside these", own);
            text += "\n`[[background]]` is that of environments.\n";
            table(&mut text, "`[pc]`", &lab::PC);
            text += "\n`[sdkconfig]`:\n\n| key | value | what |\n|---|---|---|\n";
            for fact in sdkconfig::FACTS {
                let name = fact.name.trim_start_matches("CONFIG_");
                let is = match fact.kind {
                    sdkconfig::ValueType::Flag => "true or false",
                    sdkconfig::ValueType::Number => fact.unit,
                };
                text += &format!("| `{name}` | {is} | {} |\n", fact.meaning);
            }
        }
    }
    text
}

/// Writes the tables of constants. Those of costs have the same keys.
fn groups<T>(text: &mut String, groups: &'static [ConstantGroup<T>]) {
    table(text, "Every table of constants has", [&SOURCE, &CONFIDENCE, &FITTED]);
    let is_cost = |group: &&ConstantGroup<T>| group.constants[0].key == profile::COST[0];
    let costs: Vec<_> = groups.iter().filter(is_cost).collect();
    if !costs.is_empty() {
        *text += "\nTimes:\n\n| table | what takes so long |\n|---|---|\n";
        for group in costs {
            *text += &format!("| `[{}]` | {} |\n", group.table, group.about);
        }
        table(text, "Each of these has", &profile::COST);
    }
    for group in groups.iter().filter(|group| !is_cost(group)) {
        let heading = format!("`[{}]`: {}", group.table, group.about);
        table(text, &heading, group.constants.iter().map(|constant| &constant.key));
    }
}

fn table<'k>(text: &mut String, heading: &str, keys: impl IntoIterator<Item = &'k KeySpec>) {
    if !heading.is_empty() {
        *text += &format!("\n{heading}\n");
    }
    *text += "\n| key | value | if left out | what |\n|---|---|---|---|\n";
    for key in keys {
        let usual = if key.usual.is_empty() { "must be given" } else { key.usual };
        *text += &format!("| `{}` | {} | {usual} | {} |\n", key.name, key.is, key.about);
    }
}
