//! Tests of devices over Wi-Fi: what a cell is called, and which published cell is the same.
//!
//! A workload of a variant has the metrics of its kind of test. What the device was, the target
//! tells by facts ([`espbench_model::fact`]); they become identity columns. A plan that is named as a
//! published table (with `wifi-` before it where another plan has the name) gives cells of that
//! table, with the columns that the document fills ([`Document`]; each kind of test has its own).
//!
//! Rows that differ by the SDK alone share all columns: their notes begin with its name, and so do those of
//! our cells, from the fact `firmware`; else the variant's name tells. Runs of one cell are told apart by
//! their order.

pub(crate) mod heap;
pub mod power;
#[cfg(test)]
mod tests;

use crate::cell::{Cell, Identity, Origin};
use crate::kind::{self, TestKind};
use crate::metric;
use crate::run::Recorded;
use crate::settings::{Setting, SettingKey, Settings, metres};
use alloc::format;
use alloc::string::String;
use espbench_model::fact;
use espbench_model::workload::Name;

/// A published table of tests over Wi-Fi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name of the table in `published.csv`.
    pub table: &'static str,
    /// The document, as `published.csv` names it.
    pub source: &'static str,
    /// The kind of workload that gives its cells.
    pub kind: &'static str,
    /// True where the document tells payload sizes.
    pub(crate) payload: bool,
    /// True where the document tells numbers of devices.
    pub(crate) devices: bool,
    /// Word of the document for a network without a key.
    pub(crate) open: &'static str,
    /// Mode as the document names it.
    pub(crate) mode: ModeColumn,
    /// True where rows with the same columns are of several firmwares.
    pub(crate) firmware: bool,
    /// True where rows with the same columns stand in the order in which they were taken.
    pub(crate) ordered: bool,
}

/// Content of a document's column of modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeColumn {
    /// Mode as the target states it.
    Same,
    /// Mode of this name where the target states a station.
    Station(&'static str),
    /// Name of the variant.
    Variant,
}

/// Returns all documents, in the order in which suites are carried out.
pub(crate) fn documents() -> impl Iterator<Item = &'static Document> {
    kind::all().flat_map(TestKind::documents)
}

/// Stands before the name of a suite whose table's name is that of a plan for real devices.
pub const PREFIX: &str = "wifi-";

impl Document {
    /// Returns the document of that table.
    #[must_use]
    pub fn of_table(table: &str) -> Option<&'static Self> {
        documents().find(|it| it.table == table)
    }

    /// Returns the document that a plan of that name carries out, for cells of that kind.
    #[must_use]
    pub fn of_plan(name: &str, kind: &str) -> Option<&'static Self> {
        Self::of_table(name.strip_prefix(PREFIX).unwrap_or(name)).filter(|it| it.kind == kind)
    }
}

/// Gives the cells of a test over Wi-Fi what the target told of the device; other cells stay as they
/// are.
pub(crate) fn told(recorded: &Recorded, cells: &mut [Cell]) {
    let Some(variant) = recorded.workload.variant() else { return };
    let fact = |name: &str| recorded.facts.get(name).filter(|it| !it.is_empty()).cloned();
    for cell in cells {
        let id = &mut cell.id;
        id.chip = fact(fact::CHIP).unwrap_or_else(|| core::mem::take(&mut id.chip));
        id.mode = fact(fact::MODE).unwrap_or_else(|| core::mem::take(&mut id.mode));
        id.transport = fact(fact::TRANSPORT).unwrap_or_else(|| core::mem::take(&mut id.transport));
        id.security = fact(fact::SECURITY).or(id.security.take());
        id.devices = recorded.told(fact::DEVICES).or(id.devices);
        id.environment = fact(fact::ENVIRONMENT).or(id.environment.take());
        id.distance_m = recorded.workload.lab().distance_m.map(metres).or(id.distance_m);
        cell.settings.set(Setting::LabVariant(*variant));
        cell.settings.extend(Settings::of_lab(&recorded.workload).iter().cloned());
        cell.firmware = fact(fact::FIRMWARE);
        cell.note = match (fact(fact::FIRMWARE), cell.note.take()) {
            (Some(firmware), Some(note)) => Some(format!("{firmware}; {note}")),
            (firmware, note) => firmware.or(note),
        };
    }
}

/// Makes cells of a test over Wi-Fi those of the document that the plan carries out.
pub(crate) fn own_table(recorded: &Recorded, plan: &str, cells: &mut [Cell]) {
    let Some(variant) = recorded.workload.variant() else { return };
    let Some(document) = Document::of_plan(plan, recorded.workload.kind()) else { return };
    for Cell { id, .. } in cells {
        id.table = document.table.into();
        id.payload_bytes = id.payload_bytes.filter(|_| document.payload);
        id.devices = id.devices.filter(|_| document.devices);
        if id.security.as_deref() == Some("open") {
            id.security = Some(document.open.into());
        }
        match document.mode {
            ModeColumn::Station(name) if id.mode == "station" => id.mode = name.into(),
            ModeColumn::Variant => id.mode = variant.as_str().into(),
            ModeColumn::Station(_) | ModeColumn::Same => {}
        }
    }
}

/// Returns the device's variant that a cell of ours names, if it is of a test over Wi-Fi.
#[must_use]
pub fn device(cell: &Cell) -> Option<&str> {
    cell.settings.lab_variant().map(Name::as_str)
}

/// Returns the kind of workload that gives cells of a table.
#[must_use]
pub fn kind_of(table: &str) -> &str {
    Document::of_table(table).map_or(table, |it| it.kind)
}

/// Returns the published cell that is of the very same thing as `cell`, where that is a cell of a
/// document's test over Wi-Fi; there may be none. `number`: how many cells of ours with the same
/// columns stand before it.
///
/// `None` for other cells: what stands beside them is what is nearest.
#[must_use]
pub fn same<'a>(cell: &Cell, number: usize, published: &[&'a Cell]) -> Option<Option<&'a Cell>> {
    let document = Document::of_table(&cell.id.table).filter(|_| device(cell).is_some())?;
    let there = published.iter().filter(|it| it.value.is_some() && is_same(cell, it));
    let mut all = there.filter(|it| !document.firmware || is_firmware(cell, it));
    // Of several only their order tells them apart.
    Some(if document.ordered { all.nth(number) } else { all.next() }.copied())
}

/// Returns whether columns and statistic agree; a document may name the statistic otherwise.
fn is_same(ours: &Cell, published: &Cell) -> bool {
    let columns = |id: &Identity| Identity { metric: String::new(), ..id.clone() };
    published.origin == Origin::Published
        && is_procedure(ours, published)
        && (metric::of(ours) == metric::of(published) || is_raw(ours, published))
        && ends_alike(&ours.id.metric, &published.id.metric)
        && columns(&ours.id) == columns(&published.id)
}

/// Returns whether ours was taken as the document took its own.
pub(crate) fn is_procedure(ours: &Cell, published: &Cell) -> bool {
    let settings = ours.settings.without(&[SettingKey::LabVariant]);
    !settings.override_lab()
        && kind::named(kind_of(&ours.id.table))
            .is_some_and(|it| it.is_procedure(&settings, &published.settings))
}

/// Returns whether the published cell is of 802.11 frames without a network and has our metric. Its
/// statistic does not count then: over IP the document gives a best second, here it does not.
fn is_raw(ours: &Cell, published: &Cell) -> bool {
    published.id.transport == "802.11" && ours.id.metric == published.id.metric
}

/// Returns whether both metrics are means over runs, or neither: `message_rate`, of one run, is not
/// `message_rate_avg`, though both names stand for a mean.
fn ends_alike(ours: &str, published: &str) -> bool {
    ours == published || !(ours.ends_with("_avg") || published.ends_with("_avg"))
}

/// Returns whether ours ran the row's firmware: as the target told or, where it told none, by how
/// the variant's name ends (`…-sdk-2.2` is `RTOS SDK 2.2`).
fn is_firmware(ours: &Cell, published: &Cell) -> bool {
    let Some(wanted) = published.firmware.as_deref() else { return true };
    let slug = wanted.to_lowercase().replace(' ', "-");
    let ends = |name: &str| name.find("sdk").is_some_and(|at| slug.contains(&name[at..]));
    match ours.firmware.as_deref() {
        Some(firmware) => firmware == wanted,
        None => device(ours).is_some_and(ends),
    }
}

/// Reads the firmware that a note names first, in tables of which rows are told apart by it: notes of
/// the published file are typed by people, and those of our rows in CSV are like them.
#[must_use]
pub fn noted_firmware(table: &str, note: Option<&str>) -> Option<String> {
    Document::of_table(table).filter(|it| it.firmware)?;
    let note = note?;
    Some(note.split_once(';').map_or(note, |(first, _)| first).into())
}
