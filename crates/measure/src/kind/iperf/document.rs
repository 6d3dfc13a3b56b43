//! Espressif's tables of throughput.

use super::KIND;
use crate::cell::{Cell, Identity};
use crate::kind::around;
use crate::wifi::{Document, ModeColumn, heap};
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_stats::Estimate;

const BEST: &str = "esp32c3-best";
const RANK: &str = "esp32c3-rank";

/// The best figures of Espressif's document; its ranks are described the same way.
const ESP32C3: Document = Document {
    table: BEST,
    source: "esp-idf-wifi-performance-esp32c3",
    kind: KIND,
    payload: false,
    devices: true,
    open: "off",
    mode: ModeColumn::Same,
    firmware: false,
    ordered: false,
};

pub(super) const DOCUMENTS: [Document; 3] = [
    Document {
        table: "esp8266-iperf",
        source: "esp8266-iperf-test",
        kind: KIND,
        payload: false,
        devices: true,
        open: "open",
        mode: ModeColumn::Same,
        firmware: true,
        ordered: false,
    },
    ESP32C3,
    Document { table: RANK, mode: ModeColumn::Variant, ..ESP32C3 },
];

/// Returns the smallest and the largest value that a document prints as this one: throughput to
/// 0.1 Mbit/s, and the best of the ESP32-C3 to 1 Mbit/s.
pub(super) fn printed(id: &Identity, value: f64) -> (f64, f64) {
    let in_wholes = id.table == BEST || (id.table == RANK && id.metric == heap::AVAILABLE);
    around(value, if in_wholes { 0.5 } else { 0.05 })
}

/// Says what tells the documents' cells apart.
pub(super) fn words(id: &Identity) -> Vec<String> {
    let place = if id.table == BEST { &id.environment } else { &id.security };
    let mut words = alloc::vec![id.transport.clone(), id.mode.clone()];
    words.extend(place.clone().filter(|it| it != "unstated" && it != "off"));
    words
}

/// Makes the figure of raw 802.11 that the document gives beside a cell, with no network in it: computed
/// from the air time of frames.
pub(super) fn raw(w: &Iperf, cells: &[Cell], megabits: f64) -> Option<Cell> {
    let like = cells.first()?;
    let shielded = like.id.environment.as_deref() == Some("shield-box");
    let metric = match w.direction {
        Direction::Forward => "throughput_rx",
        Direction::Reverse => "throughput_tx",
        _ => return None,
    };
    let is_it = like.id.table == BEST && w.transport == Transport::Udp && shielded;
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
        ..Cell::of(
            Estimate { value: Some(megabits), n: 0, low: None, high: None },
            id,
            "Mbit/s",
            like.origin,
        )
    })
}
