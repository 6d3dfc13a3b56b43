//! Result cells of joins, with their table and figure: how long a station takes into its network, and for which
//! of its steps (IEEE Std 802.11-2020, 11.1.4, 11.3, 12.4, 12.7.6). The end is that packets may flow: an
//! address comes on top of it, where DHCP gives one.
//!
//! | metric | from | to |
//! |---|---|---|
//! | `join_time_…` | it is told to join | it has its keys |
//! | `scan_time_avg` | it is told to join | it has found its access point |
//! | `authentication_time_avg` | | it is authenticated: before it the key of a WPA2 password is computed, or SAE is done |
//! | `association_time_avg` | | it is associated |
//! | `handshake_time_avg` | | it has its keys; nothing where there are none |

use super::KIND;
use crate::cell::Cell;
use crate::digits;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, listed};
use crate::kind::TestKind;
use crate::report::digest::{Digest, Material};
use crate::run::Recorded;
use crate::series;
use crate::settings::Setting;
use crate::summary::round_trips::ProbeCounts;
use crate::summary::{CellColumns, SummaryContext};
use crate::table::{Column, Show, Spec, Table, remaining};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::workload::WifiJoin;
use espbench_stats::Estimate;
use espbench_stats::bootstrap;
use espbench_stats::interval::wilson;
use espbench_stats::quantile::Sorted;

/// The steps, in their order: metric, and name.
const STEPS: [(&str, &str); 4] = [
    ("scan_time_avg", "scan"),
    ("authentication_time_avg", "authentication"),
    ("association_time_avg", "association"),
    ("handshake_time_avg", "4-way handshake"),
];

/// Makes the result cells of one recorded cell.
pub(super) fn summarize(
    workload: &WifiJoin,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "802.11",
        payload_bytes: None,
        devices: 1,
        settings: workload.settings().beyond_columns(),
    };
    let mut cells = Vec::new();
    let mut push = |metric: &str, unit: &str, estimate: Estimate| {
        cells.push(context.cell(&place, metric, unit, estimate));
    };
    let seed = context.seed_of_cell(recorded);
    let times = series::responses_ms(recorded);
    push(TIME, "ms", bootstrap::mean(&times, seed));
    let sorted = Sorted::new(times);
    push("join_time_min", "ms", sorted.min());
    for (metric, q) in [("join_time_p50", 0.5), (P99, 0.99)] {
        push(metric, "ms", sorted.quantile(q));
    }
    push("join_time_max", "ms", sorted.max());
    for ((metric, _), times) in STEPS.iter().zip(series::join_steps_ms(recorded)) {
        push(metric, "ms", bootstrap::mean(&times, seed));
    }
    let (lost, of) = ProbeCounts::of(&recorded.samples).loss_of(workload.late());
    push(LOSS, "percent", wilson(lost, of).scaled(100.0));
    cells
}

const TIME: &str = "join_time_avg";
const P99: &str = "join_time_p99";
const LOSS: &str = "loss";
const CHARGE: &str = "charge_per_message";

/// Makes the table, and the one of further results.
pub(super) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    if digests.is_empty() {
        return Vec::new();
    }
    let results = || {
        [(TIME, "join, mean", "ms"), (P99, "join, p99", "ms")]
            .into_iter()
            .chain(STEPS.map(|(metric, name)| (metric, name, "ms")))
            .chain([(LOSS, "not joined", "percent"), (CHARGE, "charge a join", "uC")])
    };
    let mut columns = ["device", "security", "key"].map(Column::words).to_vec();
    columns.extend(results().map(|it| Column::result(it.1, it.2, material.origin)));
    let row = |digest: &&Digest| {
        let cell = digest.cell(TIME);
        let key = match cell.and_then(|it| it.id.security.as_deref()) {
            Some("open") => "none",
            Some("wpa3") => "by SAE",
            _ if digest.settings.has(&Setting::KeyKnown(true)) => "known",
            _ => "computed",
        };
        let mut row = alloc::vec![
            Some(device(digest)),
            cell.and_then(|it| it.id.security.clone()),
            Some(key.to_string()),
        ];
        row.extend(results().map(|(metric, ..)| digest.cell(metric).and_then(digits::value)));
        row
    };
    let table = Table {
        id: KIND.into(),
        section: KIND.into(),
        title: "From being told to join until packets may flow".into(),
        columns,
        rows: digests.iter().map(row).collect(),
        notes: alloc::vec![
            "The key of a WPA2 password is computed before authentication, once; SAE of WPA3 is \
             part of authentication, each time. DHCP comes on top of all this."
                .into()
        ],
        ..Table::default()
    };
    let specs: Vec<Spec> = results()
        .map(|it| it.0)
        .chain(["response_avg", "response_p99", "current_mean"])
        .map(|metric| (metric, "", Show::Value))
        .collect();
    let mut tables = alloc::vec![table];
    tables.extend(remaining(KIND, material, &digests, &[&specs]));
    tables
}

/// Names the device's variant.
fn device(digest: &Digest) -> String {
    let variant = digest.workload.variant();
    variant.as_ref().map_or("?", |it| it.as_str()).into()
}

fn name(digest: &Digest) -> String {
    let known = if digest.settings.has(&Setting::KeyKnown(true)) { ", key known" } else { "" };
    format!("{}{known}", device(digest))
}

/// Makes the figure, of stacked bars; none where nothing has joined.
pub(super) fn figure(material: &Material<'_>) -> Option<Figure> {
    let digests = material.of_kind(KIND);
    let value = |digest: &Digest, metric: &str| digest.cell(metric).and_then(|it| it.value);
    let joined: Vec<_> = digests.into_iter().filter(|it| value(it, TIME).is_some()).collect();
    if joined.is_empty() {
        return None;
    }
    let series = STEPS.iter().enumerate().map(|(number, (metric, name))| Series {
        name: (*name).into(),
        origin: material.origin,
        mark: if number == 0 { Mark::Bars } else { Mark::Stacked },
        points: (0..)
            .zip(&joined)
            .map(|(at, digest)| {
                FigurePoint::new(f64::from(at), value(digest, metric).unwrap_or(0.0))
            })
            .collect(),
        ..Series::default()
    });
    let told: Vec<String> = joined
        .iter()
        .filter_map(|it| Some(format!("{}: {:.0} ms", name(it), value(it, TIME)?)))
        .collect();
    Some(Figure {
        id: "wifi-join-figure".into(),
        section: KIND.into(),
        title: "Time to join, by its steps".into(),
        alt: format!("Means of each step.{}", listed("Mean of the whole", &told)),
        x: Axis {
            label: "device".into(),
            scale: Scale::Category,
            categories: joined.iter().map(|it| name(it)).collect(),
            ..Axis::default()
        },
        y: Axis { label: "time".into(), unit: "ms".into(), ..Axis::default() },
        series: series.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::run::Site;
    use espbench_model::sample::{Cause, Fate, Probe, Sample};
    use espbench_model::time::{Duration, Instant};
    use espbench_model::workload::Workload;

    fn join(seq: u64, ms: [u64; 4]) -> Sample {
        let due = Instant::from_nanos(seq * 5_000_000_000);
        let after = |ms| Some(due + Duration::from_millis(ms));
        let [found, authenticated, associated, joined] = ms.map(after);
        Sample::Probe(Probe {
            seq,
            due,
            queued: found,
            sent: authenticated,
            acked: associated,
            received: joined,
            fate: Fate::Delivered,
            ..Probe::default()
        })
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        let work = WifiJoin {
            count: 3,
            discard: 0,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(20),
            cold: true,
        };
        let lost = Probe { fate: Fate::Lost(Cause::Disconnected), ..Probe::default() };
        let recorded = Recorded {
            workload: Workload::Join(work),
            samples: [
                join(0, [600, 760, 770, 800]),
                join(1, [640, 800, 812, 860]),
                Sample::Probe(lost),
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
        let cells = summarize(&work, &recorded, &context);
        let value = |metric: &str| {
            cells.iter().find(|it| it.id.metric == metric).and_then(|it| it.value).unwrap()
        };
        assert_eq!(STEPS.map(|it| value(it.0)), [620.0, 160.0, 11.0, 39.0]);
        assert_eq!((value("join_time_avg"), value("join_time_min")), (830.0, 800.0));
        assert!((value("loss") - 100.0 / 3.0).abs() < 1e-9);
    }
}
