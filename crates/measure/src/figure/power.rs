//! Latency and delivery against mean current: the price of being reached soon and reliably.

use super::{Axis, Figure, FigurePoint, MOST_SERIES, Mark, Scale, Series};
use crate::kind;
use crate::predict::battery::Battery;
use crate::report::digest::{Digest, Material};
use crate::settings::SettingKey;
use crate::table::power::{SECTION, kind, test, thrifty};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns the figures: latency, and delivery where something was lost, each over mean current.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let all = thrifty(material);
    let echoes: Vec<_> =
        all.into_iter().filter(|it| kind::of(&it.0.workload).is_lasting()).collect();
    [latency(material, &echoes), delivery(material, &echoes)].into_iter().flatten().collect()
}

/// Means and 99th percentiles of latency over mean current, a series of points for each test; the
/// devices' names beside the means.
fn latency(material: &Material<'_>, all: &[(&Digest, f64)]) -> Option<Figure> {
    let mut plot = Plot::new(material);
    let mut told: Vec<String> = Vec::new();
    for (digest, current) in all {
        for (metric, word) in [("response_avg", "mean"), ("response_p99", "p99")] {
            let Some(latency) = digest.cell(metric).and_then(|it| it.value) else { continue };
            let point = FigurePoint::new(*current, latency);
            plot.point(&format!("{}: {word}", brief(digest, all)), point);
            if metric == "response_avg" {
                plot.name(digest, point);
                told.push(format!("{}: {latency:.1} ms at {current:.2} mA", device(digest)));
            }
        }
    }
    let battery = Battery::usual();
    let alt = format!(
        "Latency over mean current; an {} gives 1 mA for {} days.{}",
        battery.name,
        crate::digits::two(battery.days(1.0)),
        super::listed("Mean latencies", &told)
    );
    let y =
        Axis { label: "latency".into(), unit: "ms".into(), scale: Scale::Log, ..Axis::default() };
    plot.figure("power-figure", "Latency against current", alt, y)
}

/// Draws the share of messages that arrived over mean current.
fn delivery(material: &Material<'_>, all: &[(&Digest, f64)]) -> Option<Figure> {
    let mut plot = Plot::new(material);
    let mut told: Vec<String> = Vec::new();
    for (digest, current) in all {
        let Some(lost) = digest.cell("loss").and_then(|it| it.value) else { continue };
        let point = FigurePoint::new(*current, 100.0 - lost);
        plot.point(&brief(digest, all), point);
        if lost > 0.0 {
            plot.name(digest, point);
            told.push(format!("{}: {:.0} % at {current:.2} mA", device(digest), 100.0 - lost));
        }
    }
    if told.is_empty() {
        return None;
    }
    let alt = format!(
        "Share of the messages that were answered in time, over mean current.{}",
        super::listed("Not all were", &told)
    );
    let y = Axis { label: "delivered".into(), unit: "%".into(), ..Axis::default() };
    plot.figure("power-delivery", "Delivery against current", alt, y)
}

/// Returns the kind of test, with its settings where there are several of a kind.
fn brief(digest: &Digest, all: &[(&Digest, f64)]) -> String {
    let setup = |it: &Digest| (it.settings.without(&[SettingKey::LabVariant]), it.repetition);
    let of_kind = |it: &&(&Digest, f64)| kind(it.0) == kind(digest);
    let others = all.iter().filter(of_kind).any(|it| setup(it.0) != setup(digest));
    // Each test may have two series.
    if others && 2 * tests(all) <= MOST_SERIES { test(digest) } else { kind(digest) }
}

/// Returns the number of different tests.
fn tests(all: &[(&Digest, f64)]) -> usize {
    all.iter().map(|it| test(it.0)).collect::<BTreeSet<String>>().len()
}

fn device(digest: &Digest) -> String {
    digest.workload.variant().map_or_else(|| "?".into(), |it| it.as_str().into())
}

/// Points of several tests, and names beside them.
struct Plot<'m> {
    material: &'m Material<'m>,
    series: Vec<Series>,
    names: Vec<Series>,
}

impl<'m> Plot<'m> {
    const fn new(material: &'m Material<'m>) -> Self {
        Self { material, series: Vec::new(), names: Vec::new() }
    }

    fn point(&mut self, name: &str, point: FigurePoint) {
        match self.series.iter_mut().find(|it| it.name == name) {
            Some(it) => it.points.push(point),
            None => {
                let origin = self.material.origin;
                let (name, points) = (name.into(), alloc::vec![point]);
                self.series.push(Series {
                    name,
                    origin,
                    mark: Mark::Points,
                    points,
                    ..Series::default()
                });
            }
        }
    }

    fn name(&mut self, digest: &Digest, point: FigurePoint) {
        let (name, origin) = (device(digest), self.material.origin);
        let points = alloc::vec![point];
        self.names.push(Series { name, origin, mark: Mark::Label, points, ..Series::default() });
    }

    fn figure(mut self, id: &str, title: &str, alt: String, y: Axis) -> Option<Figure> {
        if self.series.iter().map(|it| it.points.len()).max().unwrap_or(0) < 2 {
            return None;
        }
        self.series.append(&mut self.names);
        Some(Figure {
            id: id.into(),
            section: SECTION.into(),
            title: title.into(),
            alt,
            x: Axis {
                label: "mean current".into(),
                unit: "mA".into(),
                scale: Scale::Log,
                ..Axis::default()
            },
            y,
            series: self.series,
        })
    }
}
