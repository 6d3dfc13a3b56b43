//! Round-trip times: distributions in the published document's four groups of sizes, cumulative
//! curves, and the course over size with the published points over it.

use super::{Axis, Figure, FigurePoint, Mark, Scale, Series, spread};
use crate::cell::{Cell, Origin};
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::table::round_trips::{form, form_of, size};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Most curves that can be told apart without colour in one figure.
const MOST_CURVES: usize = 6;

/// Makes the figures of the cells of a kind: those of the published procedure, then those of each other
/// form. `groups`: the sizes that figures of the document share, if there is one.
pub(crate) fn figures(
    kind: &'static str,
    groups: Option<&'static [(u32, u32)]>,
    material: &Material<'_>,
) -> Vec<Figure> {
    let mut digests = material.of_kind(kind);
    digests.retain(|d| d.repetition == 0);
    digests.sort_by_key(|d| (form(d), size(d)));
    let mut figures = Vec::new();
    // Many devices with one size each stand side by side, not in figures of one point.
    let alone = |d: &&&Digest| {
        d.workload.variant().is_some()
            && digests.iter().filter(|it| form_of(it) == form_of(d)).count() == 1
    };
    let devices: Vec<&Digest> = digests.iter().filter(alone).copied().collect();
    if devices.len() > 1 {
        let form =
            Form { kind, groups, material, digests: &devices, name: String::new(), devices: true };
        figures.extend(form.rows(&devices, "devices", "by device"));
        figures.extend(form.cumulative());
        digests.retain(|d| !devices.iter().any(|it| form_of(it) == form_of(d)));
    }
    for of_form in digests.chunk_by(|a, b| form_of(a) == form_of(b)) {
        let form = Form {
            kind,
            groups,
            material,
            digests: of_form,
            name: form(of_form[0]),
            devices: false,
        };
        figures.extend(form.by_size());
        if let Some(groups) = form.published_groups() {
            figures.extend(groups.iter().filter_map(|&group| form.group(group)));
            figures.extend(form.other_sizes(groups));
        } else {
            figures.extend(form.rows(of_form, "all", "all sizes"));
        }
        figures.extend(form.cumulative());
    }
    figures
}

/// The cells of one form of probes, by size.
struct Form<'a> {
    kind: &'static str,
    groups: Option<&'static [(u32, u32)]>,
    material: &'a Material<'a>,
    digests: &'a [&'a Digest],
    /// Name of the form, where it is not the published procedure; empty for that one, and for
    /// devices.
    name: String,
    /// True where the cells differ by their device and not by their size.
    devices: bool,
}

impl Form<'_> {
    /// Returns the document's groups of sizes, where it has this form.
    fn published_groups(&self) -> Option<&'static [(u32, u32)]> {
        self.groups.filter(|_| self.name.is_empty() && !self.devices)
    }

    /// Returns the words that tell a cell from the others.
    fn label(&self, digest: &Digest) -> String {
        match digest.workload.variant().filter(|_| self.devices) {
            Some(device) => device.as_str().into(),
            None => label(digest),
        }
    }

    /// Returns a result of a cell in words.
    fn told(&self, digest: &Digest, metric: &str) -> Option<String> {
        let value = digits::sentence(digest.cell(metric)?)?;
        Some(format!("{} {value}", self.label(digest)))
    }

    fn id(&self, id: &str) -> String {
        let name = if self.devices { "devices".into() } else { super::slug(&self.name) };
        let kind = self.kind;
        if name.is_empty() { format!("{kind}-{id}") } else { format!("{kind}-{name}-{id}") }
    }

    fn title(&self, title: &str) -> String {
        if self.name.is_empty() {
            return title.into();
        }
        format!("{title}; {}", self.name)
    }

    fn group(&self, (low, high): (u32, u32)) -> Option<Figure> {
        let within = |d: &&&Digest| size(d).is_some_and(|s| (low..=high).contains(&s));
        let digests: Vec<&Digest> = self.digests.iter().filter(within).copied().collect();
        self.rows(&digests, &format!("{low}-{high}"), &format!("{low} to {high} bytes"))
    }

    /// Sizes above the document's largest.
    fn other_sizes(&self, groups: &[(u32, u32)]) -> Option<Figure> {
        let largest = groups.last()?.1;
        let above = |d: &&&Digest| size(d).is_some_and(|s| s > largest);
        let digests: Vec<&Digest> = self.digests.iter().filter(above).copied().collect();
        self.rows(&digests, "larger", &format!("more than {largest} bytes"))
    }

    fn rows(&self, digests: &[&Digest], id: &str, group: &str) -> Option<Figure> {
        let with: Vec<&&Digest> = digests.iter().filter(|d| d.distribution.is_some()).collect();
        let row = |d: &&&Digest| {
            Some(Series {
                name: self.label(d),
                origin: self.material.origin,
                mark: Mark::Row,
                points: d.distribution.as_ref()?.histogram.clone(),
                ..Series::default()
            })
        };
        let mut series: Vec<Series> = with.iter().filter_map(row).collect();
        if series.is_empty() {
            return None;
        }
        let scale = spread(series.iter().flat_map(|s| &s.points).map(|p| p.x));
        if self.published_groups().is_some() {
            let means = published_means(self.kind, self.material, &with, &series);
            series.extend(means);
        }
        let medians: Vec<String> = digests.iter().filter_map(|d| self.told(d, "rtt_p50")).collect();
        let each = if self.devices { "device" } else { "size" };
        Some(Figure {
            id: self.id(&format!("distribution-{id}")),
            section: self.kind.into(),
            title: self.title(&format!("Distribution of the round-trip time, {group}")),
            alt: format!(
                "Histograms of the round-trip time, one row for each {each}.{}",
                super::listed("Medians", &medians)
            ),
            x: milliseconds(scale),
            y: Axis {
                label: "share of the round trips".into(),
                unit: "%".into(),
                ..Axis::default()
            },
            series,
        })
    }

    /// Draws cumulative curves of a few sizes spread over all: the curves of all sizes would hide
    /// each other.
    fn cumulative(&self) -> Option<Figure> {
        let with: Vec<&Digest> =
            self.digests.iter().filter(|d| d.distribution.is_some()).copied().collect();
        let last = with.len().checked_sub(1)?;
        let curves = with.len().min(MOST_CURVES);
        let at = |i| if curves > 1 { i * last / (curves - 1) } else { 0 };
        let digests: Vec<&Digest> = (0..curves).map(|i| with[at(i)]).collect();
        let curve = |d: &&Digest| {
            Some(Series {
                name: self.label(d),
                origin: self.material.origin,
                mark: Mark::Step,
                points: d.distribution.as_ref()?.cumulative.clone(),
                ..Series::default()
            })
        };
        let series: Vec<Series> = digests.iter().filter_map(curve).collect();
        let p99: Vec<String> = digests.iter().filter_map(|d| self.told(d, "rtt_p99")).collect();
        let some = if self.devices { "devices" } else { "sizes" };
        Some(Figure {
            id: self.id("cumulative"),
            section: self.kind.into(),
            title: self.title("Round-trip time: cumulative distribution"),
            alt: format!(
                "Share of the round trips that took no longer than a time, for some of the {some}.{}",
                super::listed("99 % were done within", &p99)
            ),
            x: milliseconds(spread(series.iter().flat_map(|s| &s.points).map(|p| p.x))),
            y: Axis { label: "round trips within".into(), unit: "%".into(), ..Axis::default() },
            series,
        })
    }

    /// Draws median, 99th percentile and mean over size with the published points over them. Where
    /// the published points lie far away, a second figure leaves them out: beside them ours would
    /// be flat lines.
    fn by_size(&self) -> Vec<Figure> {
        let ours = self.ours_by_size();
        if ours.is_empty() {
            return Vec::new();
        }
        let theirs = if self.published_groups().is_some() {
            published_by_size(self.kind, self.material)
        } else {
            Vec::new()
        };
        let mut figures = Vec::new();
        if theirs.is_empty() || far_apart(&ours, &theirs) {
            let title = "Round-trip time by payload size";
            figures.push(self.size_figure("size", title, ours.clone()));
        }
        if !theirs.is_empty() {
            let title = "Round-trip time by payload size, and published";
            let all = ours.into_iter().chain(theirs).collect();
            figures.push(self.size_figure("size-published", title, all));
        }
        figures
    }

    fn ours_by_size(&self) -> Vec<Series> {
        let curve = |(metric, name): (&str, &str)| {
            // Three sets of intervals at one abscissa would hide each other.
            let bare =
                |p: FigurePoint| if metric == "rtt_p50" { p } else { FigurePoint::new(p.x, p.y) };
            let points = self.digests.iter().filter_map(|d| point(size(d)?, d.cell(metric)?));
            Series {
                name: name.into(),
                origin: self.material.origin,
                mark: Mark::Line,
                points: points.map(bare).collect(),
                ..Series::default()
            }
        };
        let curves = [("rtt_p50", "median"), ("rtt_p99", "p99"), ("rtt_avg", "mean")].map(curve);
        curves.into_iter().filter(|s| !s.points.is_empty()).collect()
    }

    fn size_figure(&self, id: &str, title: &str, series: Vec<Series>) -> Figure {
        let points = || series.iter().flat_map(|s| &s.points);
        Figure {
            id: self.id(id),
            section: self.kind.into(),
            title: self.title(title),
            alt: by_size_alt(self.digests, &series),
            x: Axis {
                label: "payload".into(),
                unit: "bytes".into(),
                scale: spread(points().map(|p| p.x)),
                ..Axis::default()
            },
            y: milliseconds(spread(points().map(|p| p.y))),
            series,
        }
    }
}

fn milliseconds(scale: Scale) -> Axis {
    Axis { label: "round-trip time".into(), unit: "ms".into(), scale, ..Axis::default() }
}

/// Returns the published means on the rows of their sizes, as long as they lie among the measured
/// values: means far away would squeeze the histograms.
fn published_means(
    table: &str,
    material: &Material<'_>,
    rows: &[&&Digest],
    series: &[Series],
) -> Option<Series> {
    let xs = || series.iter().flat_map(|s| &s.points).map(|p| p.x);
    let (low, high) = (xs().reduce(f64::min)?, xs().reduce(f64::max)?);
    let mean = |(row, digest): (usize, &&&Digest)| {
        let cells = material.published.iter();
        let mut of_size = cells.filter(|c| {
            c.id.table == table && c.id.metric == "rtt_avg" && c.id.payload_bytes == size(digest)
        });
        Some(FigurePoint::new(of_size.next()?.value?, row as f64))
    };
    let points: Vec<FigurePoint> = rows.iter().enumerate().filter_map(mean).collect();
    let among = points.iter().all(|p| (low..=high).contains(&p.x));
    (among && !points.is_empty()).then(|| Series {
        name: "mean, ESP32".into(),
        origin: Origin::Published,
        mark: Mark::Points,
        points,
        ..Series::default()
    })
}

fn label(digest: &Digest) -> String {
    size(digest).map_or_else(String::new, |size| format!("{size} B"))
}

fn median(digest: &Digest) -> Option<String> {
    Some(format!("{} {}", label(digest), digits::sentence(digest.cell("rtt_p50")?)?))
}

fn published_by_size(table: &str, material: &Material<'_>) -> Vec<Series> {
    [("rtt_avg", "mean, ESP32"), ("rtt_max", "max, ESP32"), ("rtt_min", "min, ESP32")]
        .into_iter()
        .filter_map(|(metric, label)| published(table, material, metric, label))
        .collect()
}

/// Returns whether a gap of a factor of three or more lies between the two.
fn far_apart(ours: &[Series], theirs: &[Series]) -> bool {
    let end = |series: &[Series], pick: fn(f64, f64) -> f64| {
        series.iter().flat_map(|s| &s.points).map(|p| p.y).reduce(pick)
    };
    let gap = |low: Option<f64>, high: Option<f64>| {
        low.zip(high).is_some_and(|(low, high)| low > 3.0 * high)
    };
    gap(end(theirs, f64::min), end(ours, f64::max))
        || gap(end(ours, f64::min), end(theirs, f64::max))
}

fn point(size: u32, cell: &Cell) -> Option<FigurePoint> {
    Some(FigurePoint { x: f64::from(size), y: cell.value?, low: cell.ci_low, high: cell.ci_high })
}

fn published(table: &str, material: &Material<'_>, metric: &str, label: &str) -> Option<Series> {
    let of_metric = |c: &&Cell| c.id.table == table && c.id.metric == metric;
    let mut points: Vec<FigurePoint> = material
        .published
        .iter()
        .filter(of_metric)
        .filter_map(|c| point(c.id.payload_bytes?, c))
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    (!points.is_empty()).then(|| Series {
        name: label.to_string(),
        origin: Origin::Published,
        mark: Mark::Points,
        points,
        ..Series::default()
    })
}

fn by_size_alt(digests: &[&Digest], series: &[Series]) -> String {
    let ends: Vec<String> =
        [digests.first(), digests.last()].into_iter().flatten().filter_map(|d| median(d)).collect();
    let published = series.iter().any(|s| s.origin == Origin::Published);
    format!(
        "Median with its 95 % interval, 99th percentile and mean of the round-trip time against the payload size{}.{}",
        if published { ", with published means and extremes over them" } else { "" },
        super::listed("Median at the smallest and the largest size", &ends)
    )
}
