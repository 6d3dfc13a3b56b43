//! The keys as tables, and constants by their names: for the documentation, for `espbench lab
//! profile`, and for fitting.

use super::constant::{ConstantGroup, ConstantKey as Number, NOTES, find};
use super::environment::{self, LOAD, PLACE};
use super::example::{self, Examples};
use super::key::{KeySpec, KeyType, ROOM_M, key};
use super::{FileKind, Surroundings, barrier, firmware, fitted, lab, link_trace, pattern, profile};
use crate::lab::profile::{Confidence, ConstantOrigin, Profile, Source};
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
    /// Origin of the value, where that is stated.
    pub origin: Option<ConstantOrigin>,
    /// Figures that were looked at, where a person chose the value after that.
    pub looked_at: String,
    /// Confidence in it, where that is stated.
    pub confidence: Option<Confidence>,
}

impl Constant {
    /// Returns whether it was fitted.
    #[must_use]
    pub fn fitted(&self) -> bool {
        self.origin == Some(ConstantOrigin::Fitted)
    }

    /// Returns the unit of the value, which its key ends in; empty of counts and shares.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        unit(&self.key)
    }
}

/// Units of constants by the ends of their keys; the first that fits holds.
const UNITS: [(&str, &str); 24] = [
    ("work_percent", "%"),
    ("_percent", "%"),
    ("_per_mhz", "1/MHz"),
    ("_per_byte_ns", "ns"),
    ("_us", "us"),
    ("_ns", "ns"),
    ("_ms", "ms"),
    (".ms", "ms"),
    ("_s", "s"),
    ("_dbm", "dBm"),
    ("_dbi", "dBi"),
    ("_db", "dB"),
    ("_mhz", "MHz"),
    ("_hz", "Hz"),
    ("_ppm", "ppm"),
    ("_mbit", "Mbit/s"),
    ("_bytes", "bytes"),
    ("octets", "octets"),
    ("_deg", "degrees"),
    ("at_x", "m"),
    ("at_y", "m"),
    ("at_z", "m"),
    ("_m", "m"),
    ("_v", "V"),
];

/// Tables whose other numbers have one unit.
const TABLE_UNITS: [(&str, &str); 3] =
    [("current.", "mA"), ("sleep_current.", "mA"), ("memory.", "bytes")];

fn unit(key: &str) -> &'static str {
    if ["fast_fading.nakagami_m"].contains(&key) {
        return "";
    }
    let by_end = UNITS.iter().find(|it| key.ends_with(it.0));
    by_end.or_else(|| TABLE_UNITS.iter().find(|it| key.starts_with(it.0))).map_or("", |it| it.1)
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
                let at = [station.at.x, station.at.y, station.at.z];
                for (name, metres) in PLACE.into_iter().zip(at) {
                    let key = format!("background.{}.{name}", station.name);
                    list.push(one(key, "where the station is, in metres", Some(metres), sources));
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
        origin: source.and_then(|it| it.origin),
        looked_at: source.and_then(|it| it.looked_at.clone()).unwrap_or_default(),
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

/// Range of a coordinate.
const METRES: KeySpec = key("at", KeyType::Number(-ROOM_M, ROOM_M), "", "where it is");

/// Sets a constant of an environment.
pub(super) fn tune_place(place: &mut Surroundings, key: &str, value: f64) -> Result<(), String> {
    if let Some((name, of)) = key.strip_prefix("background.").and_then(|it| it.rsplit_once('.')) {
        let constant = LOAD.iter().find(|it| it.key.name == of);
        let station = place.background.iter_mut().find(|it| it.name == name);
        if let Some(axis) = PLACE.iter().position(|it| *it == of) {
            let station = station.ok_or_else(|| no_constant(key))?;
            in_range(&METRES, value)?;
            let at = &mut station.at;
            *[&mut at.x, &mut at.y, &mut at.z][axis] = value;
            return Ok(());
        }
        let (constant, station) = constant.zip(station).ok_or_else(|| no_constant(key))?;
        in_range(&constant.key, value)?;
        (constant.set)(station, value);
        return Ok(());
    }
    let (_, constant) = checked(environment::GROUPS, key, value)?;
    (constant.set)(&mut place.environment, value);
    Ok(())
}

/// Writes the tables of keys of a kind of file in Markdown: `docs/labs.md` has them.
#[must_use]
pub fn document(kind: FileKind) -> String {
    let mut page = KeyTables { text: String::new(), examples: Examples::of(kind) };
    match kind {
        FileKind::Profile => {
            page.table("", &[""], &profile::KEYS[..profile::OWN.len()]);
            page.groups(profile::GROUPS);
        }
        FileKind::Environment => {
            let own = environment::KEYS.iter().filter(|key| key.is != KeyType::Table);
            page.table("", &[""], own);
            page.groups(environment::GROUPS);
            page.table("`[[background]]`", &["background"], &environment::BACKGROUND);
            page.table("`[[interferer]]`", &["interferer"], &environment::INTERFERER);
        }
        FileKind::Lab => page.lab(),
    }
    page.text
}

/// The page of tables while it is written.
struct KeyTables {
    text: String,
    examples: Examples,
}

impl KeyTables {
    fn lab(&mut self) {
        let devices = ["device", "other", "group"];
        self.table("", &[""], &lab::KEYS);
        self.table("`[[variant]]`", &["variant"], &lab::VARIANT);
        self.table("`[device]`, `[other]` and `[[group]]`", &devices, &lab::DEVICE);
        let own = &lab::GROUP[lab::DEVICE.len()..];
        self.table("`[[group]]` beside these", &["group"], own);
        self.table("`[group.line]`", &["line"], &pattern::LINE);
        self.table("`[group.grid]`", &["grid"], &pattern::GRID);
        self.table("`[group.ring]`", &["ring"], &pattern::RING);
        self.table("`[group.cluster]`", &["cluster"], &pattern::CLUSTER);
        self.table("`[group.firmware]`", &["firmware"], &firmware::KEYS);
        self.table("`[[wall]]`", &["wall"], &barrier::WALL);
        self.table("`[[floor]]`", &["floor"], &barrier::FLOOR);
        self.table("`[link]`", &["link"], &link_trace::KEYS);
        let routers = ["access_point", "router"];
        self.table("`[access_point]` and `[[router]]`", &routers, &lab::ACCESS_POINT);
        let own = lab::ROUTER.iter().filter(|it| !lab::ACCESS_POINT.contains(it));
        self.table("`[[router]]` beside these", &["router"], own);
        self.text += "\n`[[background]]` and `[[interferer]]` are those of environments.\n";
        self.table("`[pc]`", &["pc"], &lab::PC);
        self.table("`[[fitted]]`", &["fitted"], &fitted::KEYS);
        self.table("`[[fitted.cells]]`", &["cells"], &fitted::CELL);
        self.text += "\n`[sdkconfig]`; what it does not name has ESP-IDF's default:\n\n\
                      | key | value | example | what |\n|---|---|---|---|\n";
        for fact in sdkconfig::FACTS {
            let name = fact.name.trim_start_matches("CONFIG_");
            let (is, usual) = match fact.kind {
                sdkconfig::ValueType::Flag => ("true or false".into(), "true".into()),
                sdkconfig::ValueType::Number => (fact.unit.to_string(), "16".to_string()),
                sdkconfig::ValueType::Choice(words) => {
                    let all: Vec<String> =
                        words.iter().map(|it| format!("`\"{}\"`", it.1)).collect();
                    (all.join(", "), format!("\"{}\"", words[words.len() / 2].1))
                }
            };
            let found = self.examples.of_key(&["sdkconfig"], name);
            let value = found.unwrap_or(usual);
            self.text += &format!("| `{name}` | {is} | `{name} = {value}` | {} |\n", fact.meaning);
        }
    }

    /// Writes the tables of constants. Those of costs have the same keys.
    fn groups<T>(&mut self, groups: &'static [ConstantGroup<T>]) {
        let all: Vec<&str> = groups.iter().map(|it| it.table).collect();
        self.table("Every table of constants has", &all, &NOTES);
        let is_cost = |group: &&ConstantGroup<T>| group.constants[0].key == profile::COST[0];
        let costs: Vec<_> = groups.iter().filter(is_cost).collect();
        if !costs.is_empty() {
            self.text += "\nTimes:\n\n| table | what takes so long |\n|---|---|\n";
            for group in &costs {
                self.text += &format!("| `[{}]` | {} |\n", group.table, group.about);
            }
            let names: Vec<&str> = costs.iter().map(|it| it.table).collect();
            self.table("Each of these has", &names, &profile::COST);
        }
        for group in groups.iter().filter(|group| !is_cost(group)) {
            let heading = format!("`[{}]`: {}", group.table, group.about);
            self.table(&heading, &[group.table], group.constants.iter().map(|it| &it.key));
        }
    }

    /// Writes the table of keys that tables of these names have.
    fn table<'k>(
        &mut self,
        heading: &str,
        tables: &[&str],
        keys: impl IntoIterator<Item = &'k KeySpec>,
    ) {
        if !heading.is_empty() {
            self.text += &format!("\n{heading}\n");
        }
        self.text += "\n| key | value | if left out | example | what |\n|---|---|---|---|---|\n";
        for key in keys {
            let usual = if key.usual.is_empty() { "must be given" } else { key.usual };
            let example = match key.is {
                KeyType::Table | KeyType::Blocks => String::new(),
                _ => {
                    let found = self.examples.of_key(tables, key.name);
                    format!("`{} = {}`", key.name, found.unwrap_or_else(|| example::typical(key)))
                }
            };
            let (name, is, about) = (key.name, key.is, key.about);
            self.text += &format!("| `{name}` | {is} | {usual} | {example} | {about} |\n");
        }
    }
}
