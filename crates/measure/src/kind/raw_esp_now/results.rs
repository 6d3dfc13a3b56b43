//! Result cells of `esp_now_send`, with their table and figure.
//!
//! | metric | meaning |
//! |---|---|
//! | `interarrival_…` | from one receive callback to the next; a lost frame makes one twice as long |
//! | `callback_time_…` | from a call of `esp_now_send` to its send callback |
//! | `throughput` | bytes of bodies received, over the time from the first to the last callback |
//! | `loss` | frames that the other board never got |

use super::KIND;
use crate::cell::Cell;
use crate::digits;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, listed};
use crate::kind::TestKind;
use crate::report::digest::{Digest, Material};
use crate::run::Recorded;
use crate::summary::round_trips::ProbeCounts;
use crate::summary::{CellColumns, SummaryContext};
use crate::table::{Column, Show, Spec, Table, remaining};
use crate::units::megabits;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::RawEspNow;
use espbench_stats::Estimate;
use espbench_stats::bootstrap;
use espbench_stats::interval::wilson;
use espbench_stats::quantile::Sorted;

const P50: &str = "interarrival_p50";
const THROUGHPUT: &str = "throughput";
const LOSS: &str = "loss";

/// Columns of the table: metric, name, unit.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("interarrival_p05", "p05", "us"),
    (P50, "median", "us"),
    ("interarrival_p95", "p95", "us"),
    ("interarrival_p99", "p99", "us"),
    ("interarrival_avg", "mean", "us"),
    ("callback_time_p50", "callback after, median", "us"),
    (THROUGHPUT, "throughput", "Mbit/s"),
    (LOSS, "lost", "percent"),
];

/// Makes the result cells of one recorded cell.
pub(super) fn summarize(
    workload: &RawEspNow,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "esp-now",
        payload_bytes: Some(workload.size),
        devices: 1,
        settings: workload.settings(),
    };
    let mut cells = Vec::new();
    let mut push = |metric: &str, unit: &str, estimate: Estimate| {
        cells.push(context.cell(&place, metric, unit, estimate));
    };
    let probes: Vec<&Probe> = recorded
        .samples
        .iter()
        .filter_map(|it| if let Sample::Probe(probe) = it { Some(probe) } else { None })
        .collect();
    let mut arrivals: Vec<Instant> = probes.iter().filter_map(|it| it.received).collect();
    arrivals.sort_unstable();
    let gaps: Vec<f64> =
        arrivals.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() * 1e6).collect();
    let mean = bootstrap::mean(&gaps, context.seed_of_cell(recorded));
    let sorted = Sorted::new(gaps);
    let quantiles = [
        ("interarrival_p05", 0.05),
        (P50, 0.5),
        ("interarrival_p95", 0.95),
        ("interarrival_p99", 0.99),
    ];
    for (metric, q) in quantiles {
        push(metric, "us", sorted.quantile(q));
    }
    push("interarrival_avg", "us", mean);
    let called = probes.iter().filter_map(|it| Some(it.acked?.since(it.due).as_secs_f64() * 1e6));
    let called = Sorted::new(called.collect());
    for (metric, q) in [("callback_time_p50", 0.5), ("callback_time_p99", 0.99)] {
        push(metric, "us", called.quantile(q));
    }
    if let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) {
        // Of the first frame nothing tells how long it took.
        let bytes = (arrivals.len() as u64 - 1) * u64::from(workload.size);
        if let Some(rate) = megabits(bytes, last.since(*first)) {
            push(THROUGHPUT, "Mbit/s", Estimate::exact(rate, arrivals.len() as u64 - 1));
        }
    }
    let (lost, of) = ProbeCounts::of(&recorded.samples).loss_of(workload.late());
    push(LOSS, "percent", wilson(lost, of).scaled(100.0));
    cells
}

/// Makes the table, and the one of further results.
pub(super) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    if digests.is_empty() {
        return Vec::new();
    }
    let mut columns = [Column::words("frames")].to_vec();
    columns.extend(COLUMNS.map(|it| Column::result(it.1, it.2, material.origin)));
    let row = |digest: &&Digest| {
        let mut row = alloc::vec![Some(name(digest))];
        row.extend(COLUMNS.iter().map(|it| digest.cell(it.0).and_then(digits::value)));
        row
    };
    let table = Table {
        id: KIND.into(),
        section: KIND.into(),
        title: "From one frame to the next, at the receiver".into(),
        columns,
        rows: digests.iter().map(row).collect(),
        notes: alloc::vec![
            "esp_now_send is called without Espressif's component. The next call waits for the send \
             callback, unless the row says at once again."
                .into()
        ],
        ..Table::default()
    };
    let specs: Vec<Spec> = COLUMNS
        .iter()
        .map(|it| it.0)
        .chain(["callback_time_p99"])
        .map(|metric| (metric, "", Show::Value))
        .collect();
    let mut tables = alloc::vec![table];
    tables.extend(remaining(KIND, material, &digests, &[&specs]));
    tables
}

fn name(digest: &Digest) -> String {
    digest.words()
}

/// Makes the figure, of bars; none where nothing has arrived.
pub(super) fn figure(material: &Material<'_>) -> Option<Figure> {
    let digests = material.of_kind(KIND);
    let median = |digest: &Digest| digest.cell(P50).and_then(|it| it.value);
    let shown: Vec<_> = digests.into_iter().filter(|it| median(it).is_some()).collect();
    if shown.is_empty() {
        return None;
    }
    let points = (0..)
        .zip(&shown)
        .map(|(at, digest)| FigurePoint::new(f64::from(at), median(digest).unwrap_or_default()));
    let told: Vec<String> = shown
        .iter()
        .filter_map(|it| Some(format!("{}: {:.0} us", name(it), median(it)?)))
        .collect();
    Some(Figure {
        id: "raw-esp-now-figure".into(),
        section: KIND.into(),
        title: "From one frame to the next, median".into(),
        alt: format!("Medians of the time from one frame to the next.{}", listed("Median", &told)),
        x: Axis {
            label: "frames".into(),
            scale: Scale::Category,
            categories: shown.iter().map(|it| name(it)).collect(),
            ..Axis::default()
        },
        y: Axis { label: "time".into(), unit: "us".into(), ..Axis::default() },
        series: alloc::vec![Series {
            name: "median".into(),
            origin: material.origin,
            mark: Mark::Bars,
            points: points.collect(),
            ..Series::default()
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::kind::raw_esp_now::DEFAULT;
    use crate::run::Site;
    use espbench_model::sample::{Cause, Fate};
    use espbench_model::workload::Workload;

    fn frame(seq: u64, due: u64, received: Option<u64>) -> Sample {
        let us = |us: u64| Instant::from_nanos(us * 1000);
        Sample::Probe(Probe {
            seq,
            due: us(due),
            received: received.map(us),
            acked: Some(us(due + 3000)),
            fate: if received.is_some() { Fate::Delivered } else { Fate::Lost(Cause::Noise) },
            ..Probe::default()
        })
    }

    #[test]
    fn a_lost_frame_makes_one_time_longer() {
        let recorded = Recorded {
            workload: Workload::RawEspNow(DEFAULT),
            samples: [
                frame(0, 0, Some(2900)),
                frame(1, 3100, Some(6000)),
                frame(2, 6200, None),
                frame(3, 9300, Some(12_200)),
            ]
            .into(),
            ordinal: 0,
            repetition: 0,
            counters: Default::default(),
            facts: Default::default(),
            error: None,
        };
        let site = Site::default();
        let context = SummaryContext { site: &site, origin: Origin::Simulated, seed: 1 };
        let cells = summarize(&DEFAULT, &recorded, &context);
        let value = |metric: &str| {
            cells.iter().find(|it| it.id.metric == metric).and_then(|it| it.value).unwrap()
        };
        assert!((value("interarrival_avg") - 4650.0).abs() < 1e-6);
        assert_eq!((value(LOSS), value("callback_time_p50")), (25.0, 3000.0));
        // Two frames of 250 bytes in 9.3 ms, and the third.
        assert!((value(THROUGHPUT) - 500.0 * 8.0 / 9300.0).abs() < 1e-9);
    }
}
