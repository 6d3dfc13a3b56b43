//! ICMP round trips, by size.

use super::KIND;
use crate::report::digest::{Digest, Material};
use crate::settings::SettingKey;
use crate::table::Show::{Interval, Value};
use crate::table::round_trips::{LOSS, size};
use crate::table::{Column, Lead, Spec, Table, TableFrame, of_frames, repetition};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// In the order of ping's last line, then the quantiles.
const ROUND_TRIPS: &[Spec] = &[
    ("rtt_min", "min", Value),
    ("rtt_avg", "avg", Value),
    ("rtt_avg", "avg 95 % interval", Interval),
    ("rtt_max", "max", Value),
    ("rtt_stddev", "mdev", Value),
    ("rtt_p50", "p50", Value),
    ("rtt_p50", "p50 95 % interval", Interval),
    ("rtt_p90", "p90", Value),
    ("rtt_p99", "p99", Value),
    ("rtt_p99", "p99 95 % interval", Interval),
    ("rtt_p999", "p99.9", Value),
];

/// Counted from the due time.
const RESPONSE: &[Spec] = &[
    ("response_avg", "avg", Value),
    ("response_avg", "avg 95 % interval", Interval),
    ("response_max", "max", Value),
    ("response_min", "min", Value),
    ("response_p50", "p50", Value),
    ("response_p90", "p90", Value),
    ("response_p99", "p99", Value),
    ("response_p99", "p99 95 % interval", Interval),
    ("response_p999", "p99.9", Value),
];

/// Returns the tables of all cells of the kind.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let mut digests = material.of_kind(KIND);
    digests.sort_by_key(|d| (requests(d), size(d), d.repetition));
    of_frames(KIND, &FRAMES, material, &digests, &leads(&digests))
}

const FRAMES: [(TableFrame<'_>, &[Spec]); 3] = [
    (
        TableFrame {
            id: "ping-rtt",
            section: KIND,
            title: "Ping: round-trip time by size",
            notes: &[
                "The mean deviation (mdev) is one standard deviation. Devices may answer ICMP sooner \
                 or later than what a program of theirs answers: it is the stack that replies.",
            ],
        },
        ROUND_TRIPS,
    ),
    (
        TableFrame {
            id: "ping-loss",
            section: KIND,
            title: "Ping: loss",
            notes: &[
                "Late replies came after the time-out; they count neither as lost nor as round \
                 trips. Times up to the kernel's stamp leave out how long this process waited for \
                 the processor.",
            ],
        },
        LOSS,
    ),
    (
        TableFrame {
            id: "ping-response",
            section: KIND,
            title: "Ping: response time, from the due time",
            notes: &[
                "A request that was sent late counts from when it was due, so that its wait is not \
                 hidden (coordinated omission).",
            ],
        },
        RESPONSE,
    ),
];

fn leads(digests: &[&Digest]) -> Vec<Lead> {
    let mut leads: Vec<Lead> = alloc::vec![
        (Column::setting("bytes", ""), |d: &Digest| size(d).map(|s| s.to_string())),
        (Column::words("requests"), |d: &Digest| Some(requests(d))),
    ];
    leads.extend(repetition(digests));
    leads
}

/// Says the interval, and fields of the IP header.
fn requests(digest: &Digest) -> String {
    digest.words_but(&[SettingKey::Size, SettingKey::LabVariant])
}
