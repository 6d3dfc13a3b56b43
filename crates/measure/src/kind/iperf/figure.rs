//! Throughput over time, one figure for each test case.

use super::KIND;
use crate::digits;
use crate::figure::{Axis, Figure, Mark, Series};
use crate::label;
use crate::report::digest::{Digest, Material};
use crate::settings::{Setting, SettingKey, Settings};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::IpTest;

/// Makes the figures of all cells of the kind.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let digests = material.of_kind(KIND);
    let mut cases: Vec<(String, Settings)> = Vec::new();
    for digest in &digests {
        let Some(IpTest::Iperf(w)) = digest.workload.ip() else { continue };
        if cases.iter().all(|(_, known)| *known != case(digest)) {
            cases.push((super::test_case(&w), case(digest)));
        }
    }
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases.iter().filter_map(|(name, of)| over_time(material, &digests, (name, of))).collect()
}

/// Returns what makes a test case: transport and direction, or requests.
fn case(digest: &Digest) -> Settings {
    if digest.settings.has(&Setting::Bounceback(true)) {
        return digest.settings.only(&[SettingKey::Bounceback]);
    }
    digest.settings.only(&[SettingKey::Transport, SettingKey::Direction])
}

fn over_time(
    material: &Material<'_>,
    all: &[&Digest],
    (name, of): (&str, &Settings),
) -> Option<Figure> {
    let mut series = Vec::new();
    let mut means = Vec::new();
    for digest in all.iter().filter(|d| case(d) == *of) {
        let settings = settings(digest);
        for line in digest.timelines.iter().filter(|l| !l.points.is_empty()) {
            series.push(Series {
                name: format!("{settings}, {}", line.observer),
                origin: material.origin,
                mark: Mark::Line,
                points: line.points.clone(),
                ..Series::default()
            });
        }
        let cells = ["throughput_rx", "throughput_tx"].into_iter().filter_map(|m| digest.cell(m));
        means.extend(cells.filter_map(|c| Some(format!("{settings}: {}", digits::sentence(c)?))));
    }
    (!series.is_empty()).then(|| Figure {
        id: format!("iperf-{}", crate::figure::slug(name)),
        section: KIND.into(),
        title: format!("Throughput over time, {name}"),
        alt: format!(
            "Throughput in each interval of the test.{}",
            crate::figure::listed("Means", &means)
        ),
        x: Axis { label: "time".into(), unit: "s".into(), ..Axis::default() },
        y: Axis { label: "throughput".into(), unit: "Mbit/s".into(), ..Axis::default() },
        series,
    })
}

/// Returns the settings in words, without the test case and with the repetition.
fn settings(digest: &Digest) -> String {
    let rest = digest.words_but(&[SettingKey::Transport]);
    match digest.repetition {
        0 => rest,
        more => format!("{rest}, {}", label::repetition(more)),
    }
}
