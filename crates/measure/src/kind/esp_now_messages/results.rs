//! Result cells of messages among nodes, with their table and figure.
//!
//! | metric | meaning |
//! |---|---|
//! | `response_…` | from when a message was due until its receiver's application had it |
//! | `hop_time_…` | of a relay line: that over the hops |
//! | `hops_reached_avg` | of a relay line: hops that messages have gone, those that were lost with them |
//! | `frames_per_message` | frames with the message on the air: relays', copies and repetitions |
//! | `loss` | messages, at each of their receivers, that did not arrive |

use super::KIND;
use crate::cell::Cell;
use crate::digits;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, listed};
use crate::kind::TestKind;
use crate::report::digest::{Digest, Material};
use crate::run::Recorded;
use crate::series;
use crate::summary::round_trips::{ProbeCounts, RoundTripCells};
use crate::summary::{CellColumns, SummaryContext};
use crate::table::{Column, Show, Spec, Table, remaining};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::messages::{EspNowMessages, MessagePattern};
use espbench_stats::Estimate;
use espbench_stats::quantile::Sorted;

const P50: &str = "response_p50";
const P99: &str = "response_p99";
const LOSS: &str = "loss";
const FRAMES: &str = "frames_per_message";
const HOPS: &str = "hops_reached_avg";

/// Columns of the table: metric, name, unit.
const COLUMNS: [(&str, &str, &str); 8] = [
    (LOSS, "lost", "percent"),
    (P50, "delay, median", "ms"),
    (P99, "delay, p99", "ms"),
    ("response_max", "delay, max", "ms"),
    ("hop_time_p50", "a hop, median", "ms"),
    (HOPS, "hops gone, mean", "hops"),
    (FRAMES, "frames a message", "frames"),
    ("current_mean", "current of a node", "mA"),
];

/// Makes the result cells of one recorded cell.
pub(super) fn summarize(
    workload: &EspNowMessages,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "esp-now",
        payload_bytes: Some(workload.size),
        devices: workload.devices.into(),
        settings: workload.settings(),
    };
    let mut cells = RoundTripCells::new(place, recorded, context);
    let times = series::responses_ms(recorded);
    cells.latency("response", &times, None);
    let count = |name: &str| recorded.counters.get(name).copied();
    if workload.pattern == MessagePattern::RelayLine {
        let hops = f64::from(workload.devices);
        let each = Sorted::new(times.iter().map(|it| it / hops).collect());
        cells.push("hop_time_p50", "ms", each.quantile(0.5));
        cells.push("hop_time_p99", "ms", each.quantile(0.99));
    }
    if let Some(messages) = count("messages").filter(|it| *it > 0) {
        let a_message = |it: u64| Estimate::exact(it as f64 / messages as f64, messages);
        if let Some(frames) = count("message-frames") {
            cells.push(FRAMES, "frames", a_message(frames));
        }
        if let Some(hops) = count("hops-reached") {
            cells.push(HOPS, "hops", a_message(hops));
        }
    }
    cells.loss(&ProbeCounts::of(&recorded.samples));
    cells.cells
}

/// Makes the table, and the one of further results.
pub(super) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    if digests.is_empty() {
        return Vec::new();
    }
    let has = |metric: &str| digests.iter().any(|it| it.cell(metric).is_some());
    let shown: Vec<_> = COLUMNS.into_iter().filter(|it| has(it.0)).collect();
    let mut columns = [Column::words("messages")].to_vec();
    columns.extend(shown.iter().map(|it| Column::result(it.1, it.2, material.origin)));
    let row = |digest: &&Digest| {
        let mut row = alloc::vec![Some(digest.words())];
        row.extend(shown.iter().map(|it| digest.cell(it.0).and_then(digits::value)));
        row
    };
    let table = Table {
        id: KIND.into(),
        section: KIND.into(),
        title: "From when a message was due until its receiver had it".into(),
        columns,
        rows: digests.iter().map(row).collect(),
        notes: alloc::vec![
            "A relay sends on what it hears for the first time, if its TTL lasts and it is a broadcast. A \
             message counts once at each receiver. The current is that of radio and idle processor, of all \
             nodes in the mean, without a coordinator that only receives."
                .into()
        ],
        ..Table::default()
    };
    let specs: Vec<Spec> = shown
        .iter()
        .map(|it| it.0)
        .chain(["response_min", "hop_time_p99"])
        .map(|metric| (metric, "", Show::Value))
        .collect();
    let mut tables = alloc::vec![table];
    tables.extend(remaining(KIND, material, &digests, &[&specs]));
    tables
}

/// Makes the figure, of bars; none where nothing has arrived.
pub(super) fn figure(material: &Material<'_>) -> Option<Figure> {
    let digests = material.of_kind(KIND);
    let value = |digest: &Digest, metric: &str| digest.cell(metric).and_then(|it| it.value);
    let shown: Vec<_> = digests.into_iter().filter(|it| value(it, P99).is_some()).collect();
    if shown.is_empty() {
        return None;
    }
    let bars = |(metric, name): (&str, &str)| Series {
        name: name.into(),
        origin: material.origin,
        mark: Mark::Bars,
        points: (0..)
            .zip(&shown)
            .map(|(at, digest)| {
                FigurePoint::new(f64::from(at), value(digest, metric).unwrap_or_default())
            })
            .collect(),
        ..Series::default()
    };
    let told: Vec<String> = shown
        .iter()
        .filter_map(|it| Some(format!("{}: {:.1} ms", it.words(), value(it, P99)?)))
        .collect();
    Some(Figure {
        id: "esp-now-messages-figure".into(),
        section: KIND.into(),
        title: "Delay of messages, p99".into(),
        alt: format!("The 99th percentile of each delay.{}", listed("p99", &told)),
        x: Axis {
            label: "messages".into(),
            scale: Scale::Category,
            categories: shown.iter().map(|it| it.words()).collect(),
            ..Axis::default()
        },
        y: Axis { label: "delay".into(), unit: "ms".into(), ..Axis::default() },
        series: alloc::vec![bars((P99, "p99"))],
    })
}
