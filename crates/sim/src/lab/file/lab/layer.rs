//! Layers: the values that a lab or one of its variants states, by table and key.

use super::super::block::{Plain, TomlTable};
use super::super::constant::{NOTES, Notes, SOURCE};
use super::super::firmware::{self, Firmware};
use super::super::key::{KeySpec, KeyType};
use super::super::pattern::{self, Pattern};
use super::super::wrong::FileError;
use super::keys::{GROUP, ROUTER, TABLES};
use crate::lab::profile::Source;
use crate::lab::scene::Point;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_model::sdkconfig;
use espbench_model::text;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Word(usize),
    Text(String),
    Switch(bool),
    Place(Point),
    Modes(Vec<WifiMode>),
    Pattern(Pattern),
    Firmware(Firmware),
}

/// The key under which a table's pattern is kept.
pub(super) const PATTERN: &str = "pattern";
/// The key under which a group's settings of the esp-now component are kept.
pub(super) const FIRMWARE: &str = "firmware";
/// The tables of which routers and groups are.
pub(super) const DEVICE_TABLE: &str = "device";
pub(super) const ROUTER_TABLE: &str = "access_point";

/// A `[[router]]` or a `[[group]]`.
#[derive(Clone, Debug)]
pub(super) struct LayerPart {
    /// Table whose keys it has: [`ROUTER_TABLE`] or [`DEVICE_TABLE`].
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) layer: Layer,
}

/// A value with its key, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) table: &'static str,
    pub(super) key: &'static str,
    pub(super) value: Value,
    pub(super) at: usize,
}

/// Values that one part of a file states.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    pub(super) values: Vec<Entry>,
    pub(super) sdk: Vec<(sdkconfig::ConfigOption, u32, usize)>,
    pub(super) sources: Vec<Source>,
    /// Notes on the numbers of each table.
    pub(super) notes: Vec<(&'static str, Notes)>,
    pub(super) parts: Vec<LayerPart>,
    /// Begin of the part in the text.
    pub(super) start: usize,
}

impl Layer {
    /// Nothing is said.
    pub(super) const NOTHING: Self = Self {
        values: Vec::new(),
        sdk: Vec::new(),
        sources: Vec::new(),
        notes: Vec::new(),
        parts: Vec::new(),
        start: 0,
    };

    /// Reads the values of a block and its tables.
    pub(super) fn read(block: &TomlTable<'_>, own: &'static [KeySpec]) -> Result<Self, FileError> {
        let mut layer = Self { start: block.start, ..Self::default() };
        layer.table("", block, own)?;
        for (name, keys) in TABLES {
            let Some(table) = block.table(name, keys)? else { continue };
            layer.table(name, &table, keys)?;
            layer.source(name, &table, keys)?;
        }
        layer.settings(block)?;
        for (blocks, table, keys) in
            [("router", ROUTER_TABLE, &ROUTER[..]), ("group", DEVICE_TABLE, &GROUP[..])]
        {
            for it in block.blocks(blocks, keys)? {
                layer.part(table, &it, keys)?;
            }
        }
        Ok(layer)
    }

    /// Reads a router or a group.
    fn part(
        &mut self,
        table: &'static str,
        block: &TomlTable<'_>,
        keys: &'static [KeySpec],
    ) -> Result<(), FileError> {
        let name = block.must("name", block.text("name")?)?;
        if self.parts.iter().any(|it| it.table == table && it.name == name) {
            let what = if table == ROUTER_TABLE { "routers" } else { "groups" };
            return Err(block.wrong_value("name", format_args!("two {what} have this name")));
        }
        let mut layer = Self { start: block.start, ..Self::default() };
        layer.table(table, block, keys)?;
        layer.source(table, block, keys)?;
        if table == DEVICE_TABLE {
            layer.settings(block)?;
        }
        if table == DEVICE_TABLE && block.has(FIRMWARE) {
            let value = Value::Firmware(firmware::read(block)?);
            let at = block.place_of(FIRMWARE);
            layer.values.push(Entry { table, key: FIRMWARE, value, at });
        }
        self.parts.push(LayerPart { table, name, layer });
        Ok(())
    }

    /// Puts what another layer says over this one.
    pub(super) fn put_over(&mut self, upper: &Self) {
        for entry in &upper.values {
            self.values.retain(|it| (it.table, it.key) != (entry.table, entry.key));
            self.values.push(entry.clone());
        }
        for entry in &upper.sdk {
            self.sdk.retain(|it| it.0 != entry.0);
            self.sdk.push(*entry);
        }
        self.start = upper.start;
    }

    fn table(
        &mut self,
        name: &'static str,
        block: &TomlTable<'_>,
        keys: &'static [KeySpec],
    ) -> Result<(), FileError> {
        for key in keys.iter().filter(|it| !is_note(it)) {
            let value = match key.is {
                KeyType::Number(..) | KeyType::Whole(..) => {
                    block.number(key.name)?.map(Value::Number)
                }
                KeyType::Word(_) => block.word(key.name)?.map(Value::Word),
                KeyType::Text => block.text(key.name)?.map(Value::Text),
                KeyType::Switch => block.switch(key.name)?.map(Value::Switch),
                KeyType::Place => block.place(key.name)?.map(Value::Place),
                KeyType::Mode => block.mode(key.name)?.map(|it| Value::Modes([it].into())),
                KeyType::Modes => {
                    Some(block.modes(key.name)?).filter(|it| !it.is_empty()).map(Value::Modes)
                }
                KeyType::Words(_) | KeyType::Texts | KeyType::Table | KeyType::Blocks => None,
            };
            let Some(value) = value else { continue };
            let at = block.place_of(key.name);
            self.values.push(Entry { table: name, key: key.name, value, at });
        }
        if name == DEVICE_TABLE
            && let Some(pattern) = pattern::read(block)?
        {
            let value = Value::Pattern(pattern);
            self.values.push(Entry { table: name, key: PATTERN, value, at: block.start });
        }
        Ok(())
    }

    /// Reads the source of a table's numbers.
    fn source(
        &mut self,
        name: &'static str,
        block: &TomlTable<'_>,
        keys: &'static [KeySpec],
    ) -> Result<(), FileError> {
        let source = block.text(SOURCE.name)?;
        let known =
            keys.iter().filter(|it| matches!(it.is, KeyType::Number(..) | KeyType::Whole(..)));
        let known = known.map(|it| it.name);
        let given = known.clone().filter(|it| block.has(it));
        // What is guessed or fitted: delays. The rest is a choice.
        if given.clone().any(|it| it.ends_with("_us")) {
            block.must(SOURCE.name, source.clone())?;
        }
        let places = keys.iter().filter(|it| it.is == KeyType::Place).map(|it| it.name);
        let notes = Notes::read(block, known.chain(places))?;
        if source.is_some() {
            self.sources.extend(given.map(|key| notes.of(key, format!("{name}.{key}"))));
        }
        self.notes.push((name, notes));
        Ok(())
    }

    fn settings(&mut self, block: &TomlTable<'_>) -> Result<(), FileError> {
        for setting in block.settings("sdkconfig")? {
            // ESP-IDF's guide leaves out `ESP_`.
            let guide = || sdkconfig::ConfigOption::find(&format!("ESP_{}", setting.name));
            let Some(key) = sdkconfig::ConfigOption::find(&setting.name).or_else(guide) else {
                let known: Vec<&str> =
                    sdkconfig::ConfigOption::all().map(|it| bare(it.name())).collect();
                let guess = text::meant(bare(&setting.name), &known)
                    .map(|it| format!("did you mean `{it}`?"))
                    .unwrap_or_else(|| "`docs/labs.md` lists those that the lab knows".into());
                let message = format!("unknown setting `{}`: {guess}", setting.name);
                return Err(block.source.wrong(setting.at, message));
            };
            let value = match (key.fact().kind, setting.value) {
                (sdkconfig::ValueType::Flag, Some(Plain::Flag(on))) => Some(u32::from(on)),
                (sdkconfig::ValueType::Number, Some(Plain::Number(number))) => Some(number),
                (sdkconfig::ValueType::Choice(_), Some(Plain::Word(word))) => key.of_word(&word),
                _ => None,
            };
            let Some(value) = value else {
                let message = format!("`{}`: use {}", setting.name, wants(key));
                return Err(block.source.wrong(setting.value_at, message));
            };
            if self.sdk.iter().any(|(other, ..)| *other == key) {
                let message = format!("`{}` is given twice, with two of its names", setting.name);
                return Err(block.source.wrong(setting.at, message));
            }
            self.sdk.push((key, value, setting.value_at));
        }
        Ok(())
    }

    pub(super) fn find(&self, table: &str, key: &str) -> Option<&Entry> {
        self.values.iter().find(|it| it.table == table && it.key == key)
    }
}

/// Returns what a value of an option is, in words.
fn wants(key: sdkconfig::ConfigOption) -> String {
    match key.fact().kind {
        sdkconfig::ValueType::Flag => "true or false".into(),
        sdkconfig::ValueType::Number => "a whole number".into(),
        sdkconfig::ValueType::Choice(words) => {
            let words: Vec<String> = words.iter().map(|it| format!("\"{}\"", it.1)).collect();
            format!("one of {}", words.join(", "))
        }
    }
}

/// Returns a name without `CONFIG_`.
fn bare(name: &str) -> &str {
    name.strip_prefix("CONFIG_").unwrap_or(name)
}

/// Returns whether a key is a note on the table's numbers: source, confidence or fitted.
fn is_note(key: &KeySpec) -> bool {
    NOTES.iter().any(|it| it.name == key.name)
}

/// A variant over its lab.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layers<'l> {
    pub(super) variant: &'l Layer,
    pub(super) lab: &'l Layer,
}

impl<'l> Layers<'l> {
    pub(super) fn find(self, table: &str, key: &str) -> Option<&'l Entry> {
        self.variant.find(table, key).or_else(|| self.lab.find(table, key))
    }

    pub(super) fn number(self, table: &str, key: &str) -> Option<f64> {
        match self.find(table, key)?.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn word(self, table: &str, key: &str) -> usize {
        match self.find(table, key).map(|it| &it.value) {
            Some(Value::Word(at)) => *at,
            _ => 0,
        }
    }

    pub(super) fn text(self, table: &str, key: &str) -> Option<&'l str> {
        match &self.find(table, key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn switch(self, table: &str, key: &str) -> Option<bool> {
        match self.find(table, key)?.value {
            Value::Switch(switch) => Some(switch),
            _ => None,
        }
    }

    pub(super) fn place(self, table: &str, key: &str) -> Option<Point> {
        match self.find(table, key)?.value {
            Value::Place(place) => Some(place),
            _ => None,
        }
    }

    pub(super) fn modes(self, table: &str, key: &str) -> Option<&'l [WifiMode]> {
        match &self.find(table, key)?.value {
            Value::Modes(modes) => Some(modes),
            _ => None,
        }
    }

    /// Returns how the devices of a table stand.
    pub(super) fn pattern(self, table: &str) -> Option<Pattern> {
        match self.find(table, PATTERN)?.value {
            Value::Pattern(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// Returns the settings of the esp-now component: its defaults, where nothing is said.
    pub(super) fn firmware(self, table: &str) -> Firmware {
        match self.find(table, FIRMWARE).map(|it| &it.value) {
            Some(Value::Firmware(firmware)) => firmware.clone(),
            _ => Firmware::default(),
        }
    }

    /// Returns the names of the routers or groups: those of the lab, then those that only the
    /// variant has.
    pub(super) fn parts(self, table: &'static str) -> Vec<&'l str> {
        let all = self.lab.parts.iter().chain(&self.variant.parts);
        let mut names: Vec<&str> = Vec::new();
        for it in all.filter(|it| it.table == table) {
            if !names.contains(&it.name.as_str()) {
                names.push(&it.name);
            }
        }
        names
    }

    /// Returns what is said of a router or a group: by the lab, and over that by the variant.
    pub(super) fn part(self, table: &'static str, name: &str) -> Layer {
        let mut whole = Layer { start: self.variant.start, ..Layer::default() };
        self.put_part_over(&mut whole, table, name);
        whole
    }

    /// Returns what is said of a router: for the rest that of `[access_point]`.
    pub(super) fn router(self, name: &str) -> Layer {
        let mut whole = Layer { start: self.variant.start, ..Layer::default() };
        for layer in [self.lab, self.variant] {
            let values = layer.values.iter().filter(|it| it.table == ROUTER_TABLE);
            let values = values.cloned().collect();
            whole.put_over(&Layer { values, start: whole.start, ..Layer::default() });
        }
        self.put_part_over(&mut whole, ROUTER_TABLE, name);
        whole
    }

    fn put_part_over(self, whole: &mut Layer, table: &'static str, name: &str) {
        let named = |it: &&LayerPart| it.table == table && it.name == name;
        for layer in [self.lab, self.variant] {
            layer.parts.iter().filter(named).for_each(|it| whole.put_over(&it.layer));
        }
    }

    /// Returns whether the lab or the variant has a table.
    pub(super) fn has(self, table: &str) -> bool {
        let has = |layer: &Layer| layer.values.iter().any(|it| it.table == table);
        has(self.variant) || has(self.lab)
    }

    /// Returns the place of a key; that of the variant where the key is nowhere.
    pub(super) fn at(self, table: &str, key: &str) -> usize {
        self.find(table, key).map_or(self.variant.start, |it| it.at)
    }

    /// Returns the settings of the firmware with their places: the variant's go before those of the
    /// lab.
    pub(super) fn settings(self) -> Vec<(sdkconfig::ConfigOption, u32, usize)> {
        let mut all = self.lab.sdk.clone();
        for &(key, value, at) in &self.variant.sdk {
            match all.iter_mut().find(|it| it.0 == key) {
                Some(it) => *it = (key, value, at),
                None => all.push((key, value, at)),
            }
        }
        all
    }

    /// Sources of what holds.
    pub(super) fn sources(self) -> Vec<Source> {
        let mut all = self.lab.sources.clone();
        all.retain(|it| !self.variant.sources.iter().any(|own| own.key == it.key));
        all.extend(self.variant.sources.iter().cloned());
        for part in self.lab.parts.iter().chain(&self.variant.parts) {
            let named =
                |it: &Source| Source { key: format!("{}.{}", part.name, it.key), ..it.clone() };
            all.extend(part.layer.sources.iter().map(named));
        }
        all
    }
}
