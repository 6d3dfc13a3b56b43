//! The tests of Espressif's ESP-NOW report: its tables, with the published figures and the limits
//! beside ours, and what it leaves out.

pub(crate) mod document;
mod group;
mod limits;

use super::KIND;
use super::document::exact;
use super::summary;
use crate::cell::Cell;
use crate::report::digest::{Digest, Material};
use crate::table::Show::{Interval, Value};
use crate::table::{Column, Lead, Spec, Table, TableFrame, of_metrics, remaining};
use alloc::vec::Vec;
use espbench_model::workload::{EspNow, EspNowTest, Workload};
pub(crate) use group::{Across, DocumentTable, groups};
pub(crate) use limits::{leading, limits, quantity};

/// Columns of round trips beyond the document's figures.
const ROUND_TRIPS: &[Spec] = &[
    ("rtt_exact_avg", "AVG", Value),
    ("rtt_exact_avg", "AVG 95 % interval", Interval),
    ("rtt_exact_min", "MIN", Value),
    ("rtt_exact_p50", "p50", Value),
    ("rtt_exact_p90", "p90", Value),
    ("rtt_exact_p99", "p99", Value),
    ("rtt_exact_p99", "p99 95 % interval", Interval),
    ("rtt_exact_max", "MAX", Value),
    ("jitter", "jitter", Value),
    ("probes_late", "late", Value),
];

/// Differences between devices that ask at once.
const DEVICES: &[Spec] = &[
    ("fairness", "Jain's index", Value),
    ("device_rtt_min", "best device", Value),
    ("device_rtt_max", "worst device", Value),
    ("device_rtt_stddev", "deviation between devices", Value),
];

const ONE_WAY: &[Spec] = &[("latency_stddev", "deviation", Value), ("loss", "loss", Value)];

const STREAMS: &[Spec] = &[
    ("throughput_sent", "sent", Value),
    ("throughput_sent", "sent 95 % interval", Interval),
    ("throughput_received", "received", Value),
    ("throughput_received", "received 95 % interval", Interval),
    ("loss", "loss", Value),
    ("loss", "loss 95 % interval", Interval),
];

const CRYPTO: &[Spec] =
    &[("encrypt_time_exact", "encrypt", Value), ("decrypt_time_exact", "decrypt", Value)];

const SERVED: &[Spec] = &[
    ("ota_time_exact", "image sent", Value),
    ("ota_time_exact", "95 % interval", Interval),
    ("devices_served", "served", Value),
    ("device_time_min", "first device", Value),
    ("device_time_avg", "mean device", Value),
    ("device_time_max", "last device", Value),
];

const FRAMES: [(TableFrame<'_>, &[Spec], &[EspNowTest]); 6] = [
    (
        TableFrame {
            id: "esp-now-round-trips",
            section: KIND,
            title: "Round trips without the console's rounding",
            notes: &[
                "Jitter: mean size of the difference of a round trip from the one before it. Late: \
                 answered after 3 s, which the console counts as lost.",
            ],
        },
        ROUND_TRIPS,
        &[EspNowTest::Ping, EspNowTest::MultiPing],
    ),
    (
        TableFrame {
            id: "esp-now-devices",
            section: KIND,
            title: "Fairness between devices that send at once",
            notes: &[
                "Jain's fairness index of the devices' answers per second: 1 if all get the same, \
                 1/n if one device gets all. Best and worst device: by mean round trip.",
            ],
        },
        DEVICES,
        &[EspNowTest::MultiPing],
    ),
    (
        TableFrame {
            id: "esp-now-one-way",
            section: KIND,
            title: "Delay: scatter and loss",
            notes: &[],
        },
        ONE_WAY,
        &[EspNowTest::OneWay],
    ),
    (
        TableFrame {
            id: "esp-now-streams",
            section: KIND,
            title: "Throughput without the console's rounding",
            notes: &[
                "The published report counts what was sent. The 95 % intervals come from how much \
                 the receiver's intervals vary.",
            ],
        },
        STREAMS,
        &[EspNowTest::Throughput],
    ),
    (
        TableFrame {
            id: "esp-now-crypto-exact",
            section: KIND,
            title: "Encryption without the console's rounding",
            notes: &[],
        },
        CRYPTO,
        &[EspNowTest::Crypto],
    ),
    (
        TableFrame {
            id: "esp-now-served",
            section: KIND,
            title: "When each of many devices was served",
            notes: &[
                "First, mean and last device: from the start until it was served. Image sent: the \
                 document's time without the console's cutting to whole seconds.",
            ],
        },
        SERVED,
        &[EspNowTest::Ota, EspNowTest::Handshake, EspNowTest::Provisioning],
    ),
];

/// The chapters of the tests, in the document's order: their names and titles.
pub(crate) const CHAPTERS: [(&str, &str); 10] = [
    ("one-way-latency", "One-way delay"),
    ("round-trip", "Round trip"),
    ("throughput", "Throughput"),
    ("crypto-time", "Encryption time"),
    ("one-way-latency-secure", "One-way delay, encrypted"),
    ("round-trip-secure", "Round trip, encrypted"),
    ("multi-device-round-trip", "Round trips of many devices"),
    ("ota", "OTA"),
    ("handshake", "Security handshake"),
    ("provisioning", "Provisioning"),
];

/// Returns the chapter of a cell.
pub(crate) fn section(work: &EspNow) -> &'static str {
    summary::table(work)
}

/// Makes the tables of all cells of the kind.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    let mut tables: Vec<Table> =
        groups(&digests).iter().map(|group| document::table(material, group)).collect();
    let mut shown: Vec<&[Spec]> = Vec::new();
    for (frame, specs, tests) in &FRAMES {
        let of_test = |d: &&&Digest| work(d).is_some_and(|w| tests.contains(&w.test));
        let digests: Vec<&Digest> = digests.iter().filter(of_test).copied().collect();
        tables.extend(of_metrics(frame, material, &digests, &leads(), specs));
        shown.push(specs);
    }
    shown.push(document::FIGURES);
    tables.extend(remaining(KIND, material, &digests, &shown));
    tables
}

fn leads() -> Vec<Lead> {
    alloc::vec![(Column::words("cell"), |d| Some(d.brief()))]
}

/// Returns the workload of a digest of this kind.
pub(crate) fn work(digest: &Digest) -> Option<EspNow> {
    match digest.workload {
        Workload::EspNow(work) => Some(work),
        _ => None,
    }
}

/// Returns the published cell of the same identity.
pub(crate) fn published<'a>(material: &Material<'a>, cell: &Cell) -> Option<&'a Cell> {
    material.published.iter().find(|p| p.id == cell.id)
}
