//! Tests of devices over Wi-Fi: what a cell is called, and which published cell is the same.
//!
//! A workload of a variant has the metrics of its kind of test. What the device was, the target
//! tells by facts ([`espbench_model::fact`]); they become identity columns. A plan that is named as a
//! published table (with `wifi-` before it where another plan has the name) gives cells of that
//! table, with the columns that the document fills:
//!
//! | table | kind | mode | payload, devices |
//! |---|---|---|---|
//! | `udp-echo` | udp-echo | `station-echo` | both |
//! | `esp8266-iperf` | iperf | `softap`, `station` | devices |
//! | `esp32c3-best` | iperf | `station` | devices |
//! | `esp32c3-rank` | iperf | the variant | devices |
//! | `tcp-rate` | tcp-rate | `station` | none |
//! | `mqtt-rate` | mqtt-rate | `station` | none |
//!
//! Rows of `esp8266-iperf` that differ by the SDK alone share all columns: their notes begin with
//! its name, and so do those of our cells, from the fact `firmware`; else the variant's name tells. Runs of `tcp-rate` are told
//! apart by their order.

pub(crate) mod heap;
pub mod power;
mod rooms;
#[cfg(test)]
mod tests;

pub(crate) use rooms::over_rooms;

use crate::cell::{Cell, Estimate, Identity, Origin};
use crate::metric;
use crate::run::Recorded;
use crate::settings::{Key, Setting};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::fact;
use espbench_model::workload::{Direction, IpTest, Name, Transport};

/// A published table of tests over Wi-Fi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its name in `published.csv`.
    pub table: &'static str,
    /// The document, as `published.csv` names it.
    pub source: &'static str,
    /// The kind of workload that gives its cells.
    pub kind: &'static str,
    /// Whether it tells payload sizes.
    payload: bool,
    /// Whether it tells numbers of devices.
    devices: bool,
    /// What it says of a network without a key.
    open: &'static str,
    /// Whether rows with the same columns are of several firmwares.
    firmware: bool,
    /// Whether rows with the same columns stand in the order in which they were taken.
    ordered: bool,
}

/// The best figures of Espressif's document; its ranks are described the same way.
const ESP32C3: Document = Document {
    table: "esp32c3-best",
    source: "esp-idf-wifi-performance-esp32c3",
    kind: "iperf",
    payload: false,
    devices: true,
    open: "off",
    firmware: false,
    ordered: false,
};

/// All of them, in the order in which suites are carried out.
pub const DOCUMENTS: [Document; 6] = [
    Document {
        table: "udp-echo",
        source: "smellbomb-udp",
        kind: "udp-echo",
        payload: true,
        devices: true,
        open: "open",
        firmware: false,
        ordered: false,
    },
    Document {
        table: "esp8266-iperf",
        source: "esp8266-iperf-test",
        kind: "iperf",
        payload: false,
        devices: true,
        open: "open",
        firmware: true,
        ordered: false,
    },
    ESP32C3,
    Document { table: "esp32c3-rank", ..ESP32C3 },
    Document {
        table: "tcp-rate",
        source: "smooth-mqtt-benchmark",
        kind: "tcp-rate",
        payload: false,
        devices: false,
        open: "off",
        firmware: false,
        ordered: true,
    },
    Document {
        table: "mqtt-rate",
        source: "smooth-mqtt-benchmark",
        kind: "mqtt-rate",
        payload: false,
        devices: false,
        open: "off",
        firmware: false,
        ordered: false,
    },
];

/// Stands before the name of a suite whose table's name is that of a plan for real devices.
pub const PREFIX: &str = "wifi-";

/// Among the floors of a cell, the figure of raw 802.11: that which nothing but frames makes.
pub const RAW: &str = "raw-802.11";

impl Document {
    /// The document of that table.
    #[must_use]
    pub fn of_table(table: &str) -> Option<&'static Self> {
        DOCUMENTS.iter().find(|it| it.table == table)
    }

    /// The document that a plan of that name carries out, for cells of that kind.
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
        id.devices = fact(fact::DEVICES).and_then(|it| it.parse().ok()).or(id.devices);
        id.environment = fact(fact::ENVIRONMENT).or(id.environment.take());
        cell.settings.set(Setting::LabVariant(*variant));
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
        match document.table {
            "udp-echo" if id.mode == "station" => id.mode = "station-echo".into(),
            "esp32c3-rank" => id.mode = variant.as_str().into(),
            _ => {}
        }
    }
}

/// The figure of raw 802.11 that a document gives beside a cell, with no network in it: computed from
/// the air time of frames, where the host tells that ([`RAW`]).
pub(crate) fn raw(recorded: &Recorded, cells: &[Cell], megabits: f64) -> Option<Cell> {
    let IpTest::Iperf(w) = recorded.workload.ip()? else { return None };
    let like = cells.first()?;
    let shielded = like.id.environment.as_deref() == Some("shield-box");
    let metric = match w.direction {
        Direction::Forward => "throughput_rx",
        Direction::Reverse => "throughput_tx",
        _ => return None,
    };
    let is_it = like.id.table == "esp32c3-best" && w.transport == Transport::Udp && shielded;
    let id = Identity {
        transport: "802.11".into(),
        mode: "raw".into(),
        metric: metric.into(),
        devices: None,
        ..like.id.clone()
    };
    is_it.then(|| Cell {
        settings: like.settings.clone(),
        note: Some(
            "computed: A-MPDUs of 32 frames of 1500 octets with their block acks, HT40 MCS7 \
                    (135 Mbit/s), no network"
                .into(),
        ),
        ..Estimate { value: Some(megabits), n: 0, low: None, high: None }.into_cell(
            id,
            "Mbit/s",
            like.origin,
        )
    })
}

/// The device's variant that a cell of ours names, if it is of a test over Wi-Fi.
#[must_use]
pub fn device(cell: &Cell) -> Option<&str> {
    cell.settings.lab_variant().map(Name::as_str)
}

/// The kind of workload that gives cells of a table.
#[must_use]
pub fn kind_of(table: &str) -> &str {
    Document::of_table(table).map_or(table, |it| it.kind)
}

/// The published cell that is of the very same thing as `cell`, where that is a cell of a document's
/// test over Wi-Fi; there may be none. `number`: how many cells of ours with the same columns stand
/// before it.
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

/// The columns, and the statistic, which a document may name otherwise.
fn is_same(ours: &Cell, published: &Cell) -> bool {
    let columns = |id: &Identity| Identity { metric: String::new(), ..id.clone() };
    published.origin == Origin::Published
        && is_procedure(ours, published)
        && (metric::of(ours) == metric::of(published) || is_raw(ours, published))
        && ends_alike(&ours.id.metric, &published.id.metric)
        && columns(&ours.id) == columns(&published.id)
}

/// Whether ours was taken as the document took its own.
fn is_procedure(ours: &Cell, published: &Cell) -> bool {
    let settings = ours.settings.without(&[Key::LabVariant]);
    let all = |is: fn(&Setting) -> bool| settings.iter().all(is);
    match kind_of(&ours.id.table) {
        "udp-echo" => settings.is_empty(),
        "iperf" => {
            all(|it| matches!(it, Setting::Direction(Direction::Reverse) | Setting::OfferedBits(_)))
        }
        "tcp-rate" => all(|it| *it == Setting::Nagle(true)),
        _ => match published.settings.get(Key::Offered) {
            Some(offered) => settings.has(offered),
            None => true,
        },
    }
}

/// A figure without a network is no best second of one.
fn is_raw(ours: &Cell, published: &Cell) -> bool {
    published.id.transport == "802.11" && ours.id.metric == published.id.metric
}

/// `message_rate`, a run, is not `message_rate_avg`, though both names stand for a mean.
fn ends_alike(ours: &str, published: &str) -> bool {
    ours == published || !(ours.ends_with("_avg") || published.ends_with("_avg"))
}

/// Whether ours ran the row's firmware: what the target told, or, where it told none, by how the
/// variant's name ends (`…-sdk-2.2` is `RTOS SDK 2.2`).
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

/// The name of the plan of each position in a run's plans.
pub(crate) fn plan_names(text: &str) -> Vec<(core::ops::Range<u32>, String)> {
    let Ok(set) = crate::plan::Set::parse(text) else { return Vec::new() };
    let mut first = 0;
    let mut names = Vec::new();
    for plan in &set.plans {
        let next = first + u32::try_from(plan.workloads.len()).unwrap_or(u32::MAX - first);
        names.push((first..next, plan.name.to_string()));
        first = next;
    }
    names
}
