//! UDP round trips: table 1 of the published ESP32 UDP echo benchmark, then what it leaves out.

use super::KIND;
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::table::Show::{Interval, Published, Value};
use crate::table::round_trips::{LOSS, form, form_of, size};
use crate::table::{Column, Lead, Spec, Table, TableFrame, of_frames, repetition};
use alloc::format;
use alloc::vec::Vec;

/// The document's columns, in its order, and the published values beside them.
const ROUND_TRIPS: &[Spec] = &[
    ("rtt_avg", "AVE", Value),
    ("rtt_max", "MAX", Value),
    ("rtt_min", "MIN", Value),
    ("rtt_3sigma", "3σ", Value),
    ("rtt_6sigma", "6σ", Value),
    ("effective_rate", "effective rate", Value),
    ("rtt_avg", "AVE", Published),
    ("rtt_max", "MAX", Published),
    ("rtt_min", "MIN", Published),
    ("effective_rate", "effective rate", Published),
];

const QUANTILES: &[Spec] = &[
    ("rtt_avg", "AVE 95 % interval", Interval),
    ("rtt_p50", "p50", Value),
    ("rtt_p50", "p50 95 % interval", Interval),
    ("rtt_p90", "p90", Value),
    ("rtt_p90", "p90 95 % interval", Interval),
    ("rtt_p99", "p99", Value),
    ("rtt_p99", "p99 95 % interval", Interval),
    ("rtt_p999", "p99.9", Value),
    ("rtt_p999", "p99.9 95 % interval", Interval),
];

/// Counted from the due time, where a rate was offered.
const RESPONSE: &[Spec] = &[
    ("response_avg", "AVE", Value),
    ("response_avg", "AVE 95 % interval", Interval),
    ("response_max", "MAX", Value),
    ("response_min", "MIN", Value),
    ("response_p50", "p50", Value),
    ("response_p90", "p90", Value),
    ("response_p99", "p99", Value),
    ("response_p99", "p99 95 % interval", Interval),
    ("response_p999", "p99.9", Value),
];

/// Returns the tables of all cells of the kind.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let mut digests = material.of_kind(KIND);
    digests.sort_by_key(|d| (form(d), size(d), d.repetition));
    of_frames(KIND, &FRAMES, material, &digests, &leads(&digests))
}

const FRAMES: [(TableFrame<'_>, &[Spec]); 4] = [
    (
        TableFrame {
            id: "udp-echo-rtt",
            section: KIND,
            title: "UDP echo: round-trip time by size",
            notes: &[
                "3σ is three standard deviations (not the mean plus three), 6σ six. The effective \
                 rate counts the payload in both directions without the line feed: 2 x 8 x bytes / AVE.",
            ],
        },
        ROUND_TRIPS,
    ),
    (
        TableFrame {
            id: "udp-echo-quantiles",
            section: KIND,
            title: "UDP echo: quantiles of the round-trip time",
            notes: &["95 % intervals.", digits::ONE_END],
        },
        QUANTILES,
    ),
    (
        TableFrame {
            id: "udp-echo-loss",
            section: KIND,
            title: "UDP echo: loss",
            notes: &[
                "Late replies came after the time-out; they count neither as lost nor as round \
                 trips. Corrupt replies came back changed and count as lost (RFC 7680). Times up to \
                 the kernel's stamp leave out how long this process waited for the processor.",
            ],
        },
        LOSS,
    ),
    (
        TableFrame {
            id: "udp-echo-response",
            section: KIND,
            title: "UDP echo: response time, from the due time",
            notes: &[
                "A probe that was sent late counts from when it was due, so that its wait is not \
                 hidden (coordinated omission).",
            ],
        },
        RESPONSE,
    ),
];

fn leads(digests: &[&Digest]) -> Vec<Lead> {
    let mut leads: Vec<Lead> =
        alloc::vec![(Column::setting("bytes", ""), |d| size(d).map(|s| format!("{s}")))];
    if digests.iter().any(|d| !form_of(d).is_empty()) {
        leads.push((Column::words("form"), |d| {
            Some(if form_of(d).is_empty() { "ASCII".into() } else { form(d) })
        }));
    }
    leads.extend(repetition(digests));
    leads
}
