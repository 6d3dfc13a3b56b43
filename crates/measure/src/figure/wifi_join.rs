//! Joining a network: what each device takes for which step, as stacked bars.

use super::{Axis, Figure, Mark, Point, Scale, Series};
use crate::report::digest::{Digest, Material};
use crate::settings::Setting;
use crate::summary::wifi_join::STEPS;
use crate::table::wifi_join::KIND;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The device's variant, and whether it knew the key already.
pub(crate) fn device(digest: &Digest) -> String {
    let variant = digest.workload.variant();
    variant.as_ref().map_or("?", |it| it.as_str()).into()
}

fn name(digest: &Digest) -> String {
    let known = if digest.settings.has(&Setting::KeyKnown(true)) { ", key known" } else { "" };
    format!("{}{known}", device(digest))
}

/// The figure; none where nothing has joined.
pub(crate) fn figures(material: &Material<'_>) -> Option<Figure> {
    let digests = material.of_kind(KIND);
    let value = |digest: &Digest, metric: &str| digest.cell(metric).and_then(|it| it.value);
    let joined: Vec<_> =
        digests.into_iter().filter(|it| value(it, "join_time_avg").is_some()).collect();
    if joined.is_empty() {
        return None;
    }
    let series = STEPS.iter().enumerate().map(|(number, (metric, name))| Series {
        name: (*name).into(),
        origin: material.origin,
        mark: if number == 0 { Mark::Bars } else { Mark::Stacked },
        points: (0..)
            .zip(&joined)
            .map(|(at, digest)| Point::new(f64::from(at), value(digest, metric).unwrap_or(0.0)))
            .collect(),
    });
    let told: Vec<String> = joined
        .iter()
        .filter_map(|it| Some(format!("{}: {:.0} ms", name(it), value(it, "join_time_avg")?)))
        .collect();
    Some(Figure {
        id: "wifi-join-figure".into(),
        section: KIND.into(),
        title: material.titled("Time to join, by its steps"),
        alt: format!("Means of each step.{}", super::listed("Mean of the whole", &told)),
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
