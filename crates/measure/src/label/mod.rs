//! Words for settings, made where something is drawn: `udp-echo, 100 B, binary, 8 in flight`.
//!
//! A setting has a word in two lists. *Of the plan* says all that tells a cell from the others of its
//! plan, in the order in which a plan is read. *Of a result* says what no identity column holds, and
//! nothing where a document's own procedure was followed. Nothing decides by these words: what
//! compares, compares [`Settings`].

mod read;
#[cfg(test)]
mod tests;
mod words;

pub use read::{Unknown, read};
pub(crate) use words::test_case;

use crate::cell::Cell;
use crate::run::Recorded;
use crate::settings::{SettingKey, Settings};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use esp_now::transcript::session::LinkEnds;
use espbench_ieee80211::mac::Mac;
use espbench_model::text;
use espbench_model::workload::Workload;

/// The settings of a firmware that are said at once.
pub(crate) const BUFFERS: [SettingKey; 7] = [
    SettingKey::StaticRx,
    SettingKey::DynamicRx,
    SettingKey::Tx,
    SettingKey::RxBaWindow,
    SettingKey::TxBaWindow,
    SettingKey::TcpWindow,
    SettingKey::TcpSendBuffer,
];

/// Words for one setting, or for several that are said at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelWords {
    /// The settings that it says.
    pub(crate) keys: Vec<SettingKey>,
    /// The words.
    pub(crate) text: String,
}

/// Names a recorded cell, with everything that tells it from the plan's other cells.
#[must_use]
pub fn of(recorded: &Recorded) -> String {
    place(recorded.workload.kind(), &Settings::of(&recorded.workload), recorded.repetition)
}

/// Names a cell that is to be measured.
#[must_use]
pub fn of_workload(workload: &Workload) -> String {
    place(workload.kind(), &Settings::of(workload), 0)
}

/// Names a cell by its kind, its settings and its repetition, from 0.
#[must_use]
pub fn place(kind: &str, settings: &Settings, repetition: u32) -> String {
    place_as(kind, kind, settings, repetition)
}

/// Names a cell as [`place`] does, with another name for its kind.
pub(crate) fn place_as(name: &str, kind: &str, settings: &Settings, repetition: u32) -> String {
    let mut parts = alloc::vec![String::from(name)];
    parts.extend(words::of_plan(kind, settings).into_iter().map(|word| word.text));
    if repetition > 0 {
        parts.push(self::repetition(repetition));
    }
    parts.join(", ")
}

/// Names a repetition, from 0, of a cell.
#[must_use]
pub fn repetition(repetition: u32) -> String {
    format!("repetition {}", repetition + 1)
}

/// Says the settings of a workload; usual ones are not named.
#[must_use]
pub fn settings(workload: &Workload) -> String {
    plan(workload.kind(), &Settings::of(workload), |_| true)
}

/// Says those of a cell's settings of which the words are to be kept.
pub(crate) fn plan(kind: &str, settings: &Settings, keep: impl Fn(&LabelWords) -> bool) -> String {
    each(kind, settings, keep).join(", ")
}

/// Says the same, each setting on its own.
pub(crate) fn each(
    kind: &str,
    settings: &Settings,
    keep: impl Fn(&LabelWords) -> bool,
) -> Vec<String> {
    let words = words::of_plan(kind, settings).into_iter().filter(|word| keep(word));
    words.map(|word| word.text).collect()
}

/// Returns whether some words of a cell say a setting that is not shared.
pub(crate) fn differs(kind: &str, settings: &Settings, shared: &Settings) -> bool {
    words::of_plan(kind, settings).iter().any(|word| !word.is_of(settings, shared))
}

/// Says the settings of a result; `None` where none is beyond the identity columns.
#[must_use]
pub fn result(settings: &Settings) -> Option<String> {
    let words: Vec<String> = words::of_result(settings).into_iter().map(|it| it.text).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Names the test of a result by all that tells it from another: a name that stays from run to run, for those who
/// keep figures by name.
#[must_use]
pub fn test(cell: &Cell) -> String {
    let id = &cell.id;
    let mut parts: Vec<String> = [&id.table, &id.chip, &id.transport, &id.mode]
        .into_iter()
        .filter(|word| !word.is_empty())
        .cloned()
        .collect();
    parts.extend(id.payload_bytes.map(|it| format!("{it} B")));
    parts.extend(id.devices.map(|it| devices(it.into())));
    parts.extend(id.distance_m.map(|it| format!("{it} m")));
    parts.extend(id.security.iter().chain(&id.environment).cloned());
    parts.extend(result(&cell.settings));
    parts.dedup();
    parts.join(", ")
}

/// Says between which devices a link is, as far as a console told.
pub(crate) fn ends(ends: LinkEnds) -> String {
    let name = |mac: Option<Mac>| mac.map_or_else(|| "?".into(), |mac| mac.to_string());
    format!("{} to {}", name(ends.from), name(ends.to))
}

/// Prints `1 device`, `10 devices`.
pub(crate) fn devices(number: u64) -> String {
    text::counted(number, "device", "devices").to_string()
}

impl LabelWords {
    fn new(keys: &[SettingKey], text: impl Into<String>) -> Self {
        Self { keys: keys.into(), text: text.into() }
    }

    /// Returns whether every setting that it says of a cell is one of these, which others share.
    pub(crate) fn is_of(&self, settings: &Settings, shared: &Settings) -> bool {
        self.keys.iter().filter_map(|key| settings.get(*key)).all(|it| shared.has(it))
    }

    /// Returns whether it says one of these settings.
    pub(crate) fn says(&self, keys: &[SettingKey]) -> bool {
        self.keys.iter().any(|key| keys.contains(key))
    }
}
