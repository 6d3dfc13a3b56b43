//! Distributions of the round trip over the idle link and under load, one figure for each test.

use crate::digits;
use crate::figure::{Axis, Figure, Mark, Series, spread};
use crate::kind::iperf::KIND;
use crate::report::digest::{Digest, Material};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Makes the figures of all cells of the kind.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    material.of_kind(KIND).iter().filter_map(|digest| figure(material, digest)).collect()
}

fn figure(material: &Material<'_>, digest: &Digest) -> Option<Figure> {
    let curve = |(name, of): (&str, &Option<crate::report::digest::Distribution>)| {
        Some(Series {
            name: name.into(),
            origin: material.origin,
            mark: Mark::Step,
            points: of.as_ref()?.cumulative.clone(),
            ..Series::default()
        })
    };
    let series: Vec<Series> =
        ["idle", "under load"].into_iter().zip(&digest.latency).filter_map(curve).collect();
    if series.is_empty() {
        return None;
    }
    let medians: Vec<String> = [("idle", "rtt_idle_p50"), ("under load", "rtt_loaded_p50")]
        .into_iter()
        .filter_map(|(name, metric)| {
            Some(format!("{name} {}", digits::sentence(digest.cell(metric)?)?))
        })
        .collect();
    let scale = spread(series.iter().flat_map(|s| &s.points).map(|p| p.x));
    Some(Figure {
        id: format!("iperf-latency-{}-{}", digest.ordinal, digest.repetition),
        section: KIND.into(),
        title: format!("Round trip, idle and under load; {}", digest.place()),
        alt: format!(
            "Share of the round trips that took no longer than a time.{}",
            crate::figure::listed("Medians", &medians)
        ),
        x: Axis { label: "round-trip time".into(), unit: "ms".into(), scale, ..Axis::default() },
        y: Axis { label: "round trips within".into(), unit: "%".into(), ..Axis::default() },
        series,
    })
}
