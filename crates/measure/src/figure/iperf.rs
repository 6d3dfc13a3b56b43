//! Throughput over time, one figure for each test case.

use super::{Axis, Figure, Mark, Series};
use crate::digits;
use crate::place;
use crate::report::digest::{Digest, Material};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_proto::workload::IpTest;

const KIND: &str = "iperf";

/// Its figures.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let digests = material.of_kind(KIND);
    let mut cases: Vec<String> = digests.iter().filter_map(|d| case(d)).collect();
    cases.sort();
    cases.dedup();
    cases.iter().filter_map(|case| over_time(material, &digests, case)).collect()
}

fn case(digest: &Digest) -> Option<String> {
    match digest.workload.ip() {
        Some(IpTest::Iperf(w)) => Some(place::test_case(&w)),
        _ => None,
    }
}

fn over_time(material: &Material<'_>, all: &[&Digest], name: &str) -> Option<Figure> {
    let mut series = Vec::new();
    let mut means = Vec::new();
    for digest in all.iter().filter(|d| case(d).as_deref() == Some(name)) {
        let settings = settings(digest);
        for line in digest.timelines.iter().filter(|l| !l.points.is_empty()) {
            series.push(Series {
                name: format!("{settings}, {}", line.observer),
                origin: material.origin,
                mark: Mark::Line,
                points: line.points.clone(),
            });
        }
        let cells = ["throughput_rx", "throughput_tx"].into_iter().filter_map(|m| digest.cell(m));
        means.extend(cells.filter_map(|c| Some(format!("{settings}: {}", digits::sentence(c)?))));
    }
    (!series.is_empty()).then(|| Figure {
        id: format!("iperf-{}", super::slug(name)),
        section: KIND.into(),
        title: material.titled(&format!("Throughput over time, {name}")),
        alt: format!("Throughput in each interval of the test.{}", super::listed("Means", &means)),
        x: Axis { label: "time".into(), unit: "s".into(), ..Axis::default() },
        y: Axis { label: "throughput".into(), unit: "Mbit/s".into(), ..Axis::default() },
        series,
    })
}

/// Without the test case, and with the repetition.
fn settings(digest: &Digest) -> String {
    let rest = digest.settings.split_once(", ").map_or("", |(_, rest)| rest);
    if digest.repetition == 0 {
        return rest.into();
    }
    format!("{rest}, repetition {}", digest.repetition + 1)
}
