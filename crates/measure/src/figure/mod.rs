//! Figures as data. A drawing has nothing left to compute but pixels.

pub(crate) mod losses;
pub(crate) mod power;
pub(crate) mod round_trips;

use crate::cell::Origin;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Division of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors.
    Log,
    /// Named positions 0, 1, 2, …: see [`Axis::categories`].
    Category,
}

/// One axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Name of the quantity, without the unit.
    pub label: String,
    /// Unit, empty where there is none.
    pub unit: String,
    /// Division.
    pub scale: Scale,
    /// Names of the positions of a category axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
}

/// Drawing of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Points joined by a line.
    #[default]
    Line,
    /// Horizontal from each point to the next (cumulative distributions).
    Step,
    /// Points alone.
    Points,
    /// The name of the series beside its points, which others have drawn; not in the legend.
    Label,
    /// Bars from zero.
    Bars,
    /// Bars stacked on the series before it.
    Stacked,
    /// A histogram in a row of its own: corner points as [`crate::binning::histogram`] makes them.
    /// Rows stand in the order of the series and share the horizontal axis; each is as high as its
    /// own tallest bar. Points of other series in the figure lie on the row whose number, from 0,
    /// is their `y`.
    Row,
}

/// One point; `low` and `high` are its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigurePoint {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// Lower end of the interval of `y`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the interval of `y`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl FigurePoint {
    /// Returns a point without an interval.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, low: None, high: None }
    }

    /// Returns the point with six significant digits: no drawing shows more, and reports stay
    /// small.
    #[must_use]
    pub fn rounded(self) -> Self {
        let six = crate::digits::six;
        Self { x: six(self.x), y: six(self.y), low: self.low.map(six), high: self.high.map(six) }
    }
}

/// Most series that one chart tells apart; a drawing of more has a small chart for each.
pub const MOST_SERIES: usize = 6;

/// Meaning of a series that has a colour of its own, the same in every chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesMeaning {
    /// A limit, theoretical or asked for.
    Limit,
    /// Data frames of devices.
    Data,
    /// Acknowledgements and other control frames.
    Control,
    /// Beacons and other management frames.
    Management,
    /// Frames of other people's stations.
    Background,
    /// Frames at the same time, and what was lost by it.
    Collided,
}

/// One curve or group of bars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Measured, simulated or published; drawings mark them apart.
    pub origin: Origin,
    /// Drawing of the series.
    pub mark: Mark,
    /// Meaning that sets the colour; `None` for one of several of a kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<SeriesMeaning>,
    /// The points, in drawing order.
    pub points: Vec<FigurePoint>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Stable name, usable as an anchor.
    pub id: String,
    /// The kind of workload that it belongs to, as [`crate::table::Table::section`].
    pub section: String,
    /// Title.
    pub title: String,
    /// The figure in words, for those who cannot see it: what it shows and what stands out.
    pub alt: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series of the figure.
    pub series: Vec<Series>,
}

impl Figure {
    /// Returns where the values come from; that of ours where published ones stand beside them.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        let mut all = self.series.iter().map(|it| it.origin);
        let first = all.clone().next();
        all.find(|it| *it != Origin::Published).or(first)
    }

    /// Returns the title with the word for simulated values, for a drawing that says it nowhere else.
    #[must_use]
    pub fn full_title(&self) -> String {
        titled(&self.title, self.origin())
    }
}

pub(crate) fn titled(title: &str, origin: Option<Origin>) -> String {
    match origin {
        Some(Origin::Simulated) => alloc::format!("{title} (simulated)"),
        Some(Origin::Live) => alloc::format!("{title} (live: simulated devices in real time)"),
        Some(Origin::Measured | Origin::Published) | None => title.into(),
    }
}

/// Returns a name that can stand in an anchor: lower-case letters and digits joined by hyphens.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').into()
}

/// Returns the division that suits these values: published and measured may lie far apart.
pub(crate) fn spread(values: impl Iterator<Item = f64> + Clone) -> Scale {
    match (values.clone().reduce(f64::min), values.reduce(f64::max)) {
        (Some(low), Some(high)) if low > 0.0 && high / low >= crate::binning::SKEWED => Scale::Log,
        _ => Scale::Linear,
    }
}

/// Returns a sentence that lists the items, for a figure's words; empty where there are none.
pub(crate) fn listed(what: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    alloc::format!(" {what}: {}.", items.join("; "))
}
