//! Digests: the parts of a recorded cell that a report keeps once the cell's samples are gone.
//! Samples of one cell may fill a good part of the memory, so that a report never holds those of
//! two at once.

use crate::binning;
use crate::cell::{Cell, Origin};
use crate::figure::{FigurePoint, Scale};
use crate::kind::{self, TestKind};
use crate::label::{self, LabelWords};
use crate::report::stations::Stations;
use crate::run::Recorded;
use crate::series;
use crate::settings::{SettingKey, Settings};
use crate::warning::Warning;
use crate::wifi;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::Link;
use espbench_model::workload::Workload;
use espbench_stats::quantile::Sorted;

/// A recorded cell without its samples.
#[derive(Clone, Debug)]
pub(crate) struct Digest {
    pub(crate) workload: Workload,
    pub(crate) ordinal: u32,
    pub(crate) repetition: u32,
    /// Number of repetitions that its figures are the means of.
    pub(crate) repetitions: u32,
    /// Everything that tells it from the plan's other cells of its kind.
    pub(crate) settings: Settings,
    /// The settings that all cells of its kind share, where each has a word for one that they do not.
    pub(crate) shared: Settings,
    pub(crate) cells: Vec<Cell>,
    pub(crate) facts: BTreeMap<String, String>,
    /// The values of the distribution where they are few, so that repetitions can be put together.
    pub(crate) few: Vec<f64>,
    /// The result in the line of the program that people know for the test, of what was measured.
    pub(crate) usual_line: Option<String>,
    /// The distribution of round trips, or of the latency of messages.
    pub(crate) distribution: Option<Distribution>,
    /// The rate over time, one curve for each observer.
    pub(crate) timelines: Vec<RateCurve>,
    /// The stations of a test that several carry out at once.
    pub(crate) stations: Stations,
    /// Round trips of echo probes over the idle link and beside the streams, where there were any.
    pub(crate) latency: [Option<Distribution>; 2],
}

/// A distribution in few points, in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    pub(crate) scale: Scale,
    pub(crate) histogram: Vec<FigurePoint>,
    pub(crate) cumulative: Vec<FigurePoint>,
}

/// A rate over time.
#[derive(Clone, Debug)]
pub(crate) struct RateCurve {
    pub(crate) observer: &'static str,
    /// `x`: end of the interval in seconds from the first one's start; `y`: Mbit/s for streams,
    /// messages a second for message rates.
    pub(crate) points: Vec<FigurePoint>,
}

impl Digest {
    pub(crate) fn new(recorded: &Recorded, cells: Vec<Cell>) -> Self {
        let kind = kind::of(&recorded.workload);
        let values = kind.times(recorded);
        let few = kind.is_pooled() && values.len() <= FEW;
        Self {
            workload: recorded.workload,
            ordinal: recorded.ordinal,
            repetition: recorded.repetition,
            repetitions: 1,
            settings: Settings::of(&recorded.workload),
            shared: Settings::default(),
            facts: crate::air::other_facts(&recorded.facts),
            usual_line: cells
                .first()
                .filter(|it| it.origin.is_real_time())
                .and_then(|_| kind.usual_line(recorded)),
            few: if few { values.clone() } else { Vec::new() },
            cells,
            distribution: Distribution::new(values),
            timelines: kind.rates(recorded),
            stations: Stations::of(recorded),
            latency: [Link::IDLE, Link::LOADED]
                .map(|link| Distribution::new(series::round_trips_on(link, &recorded.samples))),
        }
    }

    /// Names the cell, with everything that tells it from others.
    pub(crate) fn place(&self) -> String {
        label::place(self.workload.kind(), &self.settings, self.repetition)
    }

    /// Says its settings.
    pub(crate) fn words(&self) -> String {
        self.words_but(&[])
    }

    /// Says its settings but for those keys.
    pub(crate) fn words_but(&self, keys: &[SettingKey]) -> String {
        self.say(|word| !word.says(keys))
    }

    /// Says the settings that not all cells of the kind share, but for those keys.
    pub(crate) fn brief_but(&self, keys: &[SettingKey]) -> String {
        self.say(|word| !word.says(keys) && !word.is_of(&self.settings, &self.shared))
    }

    /// Says the settings that not all cells of the kind share.
    pub(crate) fn brief(&self) -> String {
        self.brief_but(&[])
    }

    /// Says the settings that all cells of the kind share; nothing where there is only one.
    pub(crate) fn common(&self) -> String {
        self.say(|word| word.is_of(&self.settings, &self.shared))
    }

    fn say(&self, keep: impl Fn(&LabelWords) -> bool) -> String {
        label::plan(self.workload.kind(), &self.settings, keep)
    }

    /// Returns the first cell of that metric.
    pub(crate) fn cell(&self, metric: &str) -> Option<&Cell> {
        self.cells.iter().find(|c| c.id.metric == metric)
    }

    /// Returns the cells of that metric, where there is one for each run or step.
    pub(crate) fn all<'a>(&'a self, metric: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |c| c.id.metric == metric)
    }
}

/// Adds their length to the settings of cells that nothing else tells apart, and returns where these are.
fn add_lengths(digests: &mut [Digest]) -> Vec<usize> {
    let mut changed = Vec::new();
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, digest) in digests.iter().enumerate() {
        named.entry(digest.place()).or_default().push(at);
    }
    for same in named.into_values().filter(|it| it.len() > 1) {
        let lengths: Vec<_> =
            same.iter().map(|at| kind::of(&digests[*at].workload).length()).collect();
        if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        for (at, length) in same.into_iter().zip(lengths) {
            digests[at].settings.extend(length);
            changed.push(at);
        }
    }
    changed
}

/// Separates what tells the cells of a kind apart from what they share, so that names stay short;
/// warnings have the names of their cells.
pub(crate) fn shorten(digests: &mut [Digest], warnings: &mut [Warning]) {
    let named = add_lengths(digests);
    for warning in warnings {
        let is_of = |at: &&usize| digests[**at].ordinal + 1 == warning.cell;
        if let Some(at) = named.iter().find(is_of) {
            warning.place = digests[*at].place();
        }
    }
    for kind in kind::all().map(TestKind::name) {
        let of_kind = || digests.iter().filter(|d| d.workload.kind() == kind);
        let shared = Settings::shared(of_kind().map(|d| &d.settings));
        if !of_kind().all(|d| label::differs(kind, &d.settings, &shared)) {
            continue;
        }
        for digest in digests.iter_mut().filter(|d| d.workload.kind() == kind) {
            digest.shared = shared.clone();
        }
    }
}

/// Values that a digest may keep.
const FEW: usize = 1000;

impl Distribution {
    pub(crate) fn new(values: Vec<f64>) -> Option<Self> {
        let sorted = Sorted::new(values);
        if sorted.values().is_empty() {
            return None;
        }
        let scale = binning::scale(&sorted);
        Some(Self {
            scale,
            histogram: binning::histogram(&sorted, scale),
            cumulative: binning::cumulative(&sorted),
        })
    }
}

/// Material of tables and figures.
pub(crate) struct Material<'a> {
    pub(crate) origin: Origin,
    pub(crate) digests: &'a [Digest],
    pub(crate) published: &'a [Cell],
}

impl Material<'_> {
    /// Returns the digests of one kind.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<&Digest> {
        self.digests.iter().filter(|d| d.workload.kind() == kind).collect()
    }

    /// Returns the published cells of the same thing as `cell`, whatever the device and the place:
    /// the same metric over the same transport, at the same payload where both name one.
    pub(crate) fn beside(&self, cell: &Cell) -> Vec<&Cell> {
        if let Some(own) = wifi::same(cell, 0, &self.published.iter().collect::<Vec<_>>()) {
            return own.into_iter().collect();
        }
        // Settings are another procedure where a document's has none.
        if !cell.settings.is_empty() && kind::named(&cell.id.table).is_some_and(TestKind::is_plain)
        {
            return Vec::new();
        }
        let same = |p: &&Cell| {
            p.id.metric == cell.id.metric
                && p.id.transport == cell.id.transport
                && p.unit == cell.unit
                && p.value.is_some()
                && (p.id.payload_bytes == cell.id.payload_bytes || p.id.payload_bytes.is_none())
        };
        self.published.iter().filter(same).collect()
    }
}
