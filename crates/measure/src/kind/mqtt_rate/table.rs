//! Message rate through an MQTT broker: what was offered, what arrived, and where the time went.

use super::KIND;
use crate::cell::Cell;
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::table::Show::{Interval, Published, Value};
use crate::table::{Column, Lead, Spec, Table, TableFrame, of_metrics, remaining, repetition};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const RATES: &[Spec] = &[
    ("message_rate_offered", "offered", Value),
    ("message_rate", "delivered", Value),
    ("message_rate", "delivered, 95 % interval", Interval),
    ("message_rate_min", "slowest second", Value),
    ("message_rate_max", "fastest second", Value),
    ("message_rate_reliable", "without loss", Value),
    ("message_rate_reliable", "highest passed and lowest failed", Interval),
    ("message_rate_reliable", "without loss", Published),
    ("loss", "loss", Value),
    ("loss", "loss, 95 % interval", Interval),
    ("queue_drop_rate", "queue drops", Value),
    ("messages_duplicate", "duplicates", Value),
    ("messages_out_of_order", "out of order", Value),
    ("messages_lost", "lost", Value),
    ("messages_corrupt", "corrupt", Value),
];

/// The stages that a message passes: cell metric stem, name.
pub(crate) const STAGES: [(&str, &str, &str); 4] = [
    ("stage_enqueue_p50", "stage_enqueue_p99", "enqueue"),
    ("stage_write_p50", "stage_write_p99", "write"),
    ("stage_ack_p50", "stage_ack_p99", "PUBACK or PUBCOMP"),
    ("stage_subscriber_p50", "stage_subscriber_p99", "subscriber"),
];

const LATENCY: &[Spec] = &[
    ("latency_p50", "p50", Value),
    ("latency_p50", "p50, 95 % interval", Interval),
    ("latency_p90", "p90", Value),
    ("latency_p99", "p99", Value),
    ("latency_p99", "p99, 95 % interval", Interval),
    ("latency_max", "MAX", Value),
];

const STAGE_COLUMNS: &[Spec] = &[
    ("stage_enqueue_p50", "enqueue p50", Value),
    ("stage_enqueue_p90", "enqueue p90", Value),
    ("stage_enqueue_p99", "enqueue p99", Value),
    ("stage_enqueue_max", "enqueue MAX", Value),
    ("stage_write_p50", "write p50", Value),
    ("stage_write_p90", "write p90", Value),
    ("stage_write_p99", "write p99", Value),
    ("stage_write_max", "write MAX", Value),
    ("stage_ack_p50", "PUBACK p50", Value),
    ("stage_ack_p90", "PUBACK p90", Value),
    ("stage_ack_p99", "PUBACK p99", Value),
    ("stage_ack_max", "PUBACK MAX", Value),
    ("stage_subscriber_p50", "subscriber p50", Value),
    ("stage_subscriber_p90", "subscriber p90", Value),
    ("stage_subscriber_p99", "subscriber p99", Value),
    ("stage_subscriber_max", "subscriber MAX", Value),
];

const ARRIVALS: &[Spec] = &[
    ("interarrival_p50", "p50", Value),
    ("interarrival_p99", "p99", Value),
    ("interarrival_max", "MAX", Value),
];

/// Makes the tables of all cells of the kind.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    let leads = leads(&digests);
    let mut tables = Vec::new();
    tables.extend(of_metrics(&RATE_FRAME, material, &digests, &leads, RATES).map(|mut table| {
        table.notes.extend(published(material));
        table
    }));
    tables.extend(of_metrics(&LATENCY_FRAME, material, &digests, &leads, LATENCY));
    tables.extend(of_metrics(&STAGE_FRAME, material, &digests, &leads, STAGE_COLUMNS));
    tables.extend(of_metrics(&ARRIVAL_FRAME, material, &digests, &leads, ARRIVALS));
    tables.extend(remaining(KIND, material, &digests, &[RATES, LATENCY, STAGE_COLUMNS, ARRIVALS]));
    tables
}

const RATE_FRAME: TableFrame<'_> = TableFrame {
    id: "mqtt-rate",
    section: KIND,
    title: "MQTT: offered, delivered and lost",
    notes: &[
        "Queue drops never entered the client's queue: the sender lost them, not the network.",
    ],
};

const LATENCY_FRAME: TableFrame<'_> = TableFrame {
    id: "mqtt-latency",
    section: KIND,
    title: "MQTT: latency, from due to the subscriber",
    notes: &[
        "A message that was sent late counts from when it was due, so that its wait is not hidden \
         (coordinated omission).",
    ],
};

const ARRIVAL_FRAME: TableFrame<'_> = TableFrame {
    id: "mqtt-arrivals",
    section: KIND,
    title: "MQTT: time from one message to the next, listening to a device",
    notes: &[],
};

const STAGE_FRAME: TableFrame<'_> = TableFrame {
    id: "mqtt-stages",
    section: KIND,
    title: "MQTT: the stages of a message",
    notes: &[
        "Enqueue: from when a message was due until it was queued. Write: from there until the \
         system took it. PUBACK (PUBCOMP for QoS 2): from there until it was acknowledged. \
         Subscriber: from there until the receiving application had it.",
    ],
};

/// Returns the published figures in words, each with its note: each holds at one offered rate only,
/// so that they have no column.
fn published(material: &Material<'_>) -> Vec<String> {
    let cells = material.published.iter().filter(|p| p.id.table == KIND);
    let words = |p: &Cell| {
        let note = p.note.as_deref().map_or_else(String::new, |n| format!(" ({n})"));
        Some(format!(
            "Published, {}: {} {} {}{note}.",
            p.id.chip,
            p.id.metric,
            digits::value(p)?,
            p.unit
        ))
    };
    cells.filter_map(words).collect()
}

fn leads(digests: &[&Digest]) -> Vec<Lead> {
    let mut leads: Vec<Lead> = alloc::vec![(Column::words("cell"), |d| Some(d.brief()))];
    leads.extend(repetition(digests));
    leads
}
