//! Shares of a channel's time.

use super::{SECTION, Timeline};
use crate::cell::Origin;
use crate::digits::six;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, SeriesMeaning};
use crate::label;
use crate::run::Recorded;
use crate::table::{Column, Table};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Beginning of the names of these counters; a channel, a hyphen and a word of [`KINDS`] follow.
const COUNTER: &str = "air-ns-ch";
/// Uses of a channel's time, in the order of the stacks.
const KINDS: [&str; 10] = [
    "data",
    "block-ack",
    "rts-cts",
    "management",
    "null",
    "ack",
    "beacon",
    "background",
    "collided",
    "idle",
];
/// Kinds that a chart shows as one, in the order of the stacks, with its name and meaning.
const CHARTED: [(&str, SeriesMeaning, &[&str]); 5] = [
    ("data", SeriesMeaning::Data, &["data"]),
    (
        "control (ACK, block ACK, RTS, CTS)",
        SeriesMeaning::Control,
        &["ack", "block-ack", "rts-cts"],
    ),
    ("management (beacon, null)", SeriesMeaning::Management, &["beacon", "management", "null"]),
    ("background (other people’s)", SeriesMeaning::Background, &["background"]),
    ("collided", SeriesMeaning::Collided, &["collided"]),
];
/// Kinds that only Wi-Fi has: they get no column where there is none of it.
const WIFI: [&str; 4] = ["block-ack", "rts-cts", "management", "null"];
const IDLE: &str = "idle";
/// Bars shown, the busiest first; the table has all.
const MOST: usize = 12;

/// Uses of the time of one channel in one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelOccupancy {
    /// Name of the cell, in words.
    pub place: String,
    /// The channel.
    pub channel: u8,
    /// Time for which the channel was watched.
    pub time_ns: u64,
    /// Nanoseconds by the words of [`AirtimeKind`](espbench_model::excerpt::AirtimeKind), `collided` (two frames
    /// or more at once) and `idle`.
    pub spent_ns: BTreeMap<String, u64>,
}

impl ChannelOccupancy {
    /// Returns the share of one kind, in percent.
    #[must_use]
    pub fn share(&self, kind: &str) -> f64 {
        let spent = self.spent_ns.get(kind).copied().unwrap_or_default();
        if self.time_ns == 0 { 0.0 } else { 100.0 * spent as f64 / self.time_ns as f64 }
    }

    /// Adds that of a repetition.
    pub(crate) fn add(&mut self, other: &Self) {
        self.time_ns += other.time_ns;
        for (kind, ns) in &other.spent_ns {
            *self.spent_ns.entry(kind.clone()).or_default() += ns;
        }
    }

    /// Returns the share in which anything was on the air, in percent.
    #[must_use]
    pub fn busy(&self) -> f64 {
        KINDS.iter().filter(|kind| **kind != IDLE).map(|kind| self.share(kind)).sum()
    }
}

/// Returns channel and kind of a counter, if it is one of these.
fn counter(name: &str) -> Option<(u8, &'static str)> {
    let (channel, kind) = name.strip_prefix(COUNTER)?.split_once('-')?;
    let kind = KINDS.into_iter().find(|it| *it == kind)?;
    Some((channel.parse().ok()?, kind))
}

/// Returns whether a counter is shown here and not among the target's counters.
#[must_use]
pub fn is_counter(name: &str) -> bool {
    counter(name).is_some()
}

/// Returns the occupancies of a recorded cell: one for each channel that was used.
#[must_use]
pub fn of(recorded: &Recorded) -> Vec<ChannelOccupancy> {
    let mut channels: BTreeMap<u8, BTreeMap<String, u64>> = BTreeMap::new();
    for (name, ns) in &recorded.counters {
        if let Some((channel, kind)) = counter(name) {
            channels.entry(channel).or_default().insert(kind.into(), *ns);
        }
    }
    // Repetitions are put together, so their number is not named; nor is the kind, as there is but
    // one that has a medium of the lab's.
    let place = label::settings(&recorded.workload);
    let one = |(channel, spent_ns): (u8, BTreeMap<String, u64>)| ChannelOccupancy {
        place: place.clone(),
        channel,
        time_ns: spent_ns.values().sum(),
        spent_ns,
    };
    channels.into_iter().map(one).collect()
}

/// Returns the table of all cells and channels.
#[must_use]
pub fn table(all: &[ChannelOccupancy], origin: Origin) -> Option<Table> {
    let there =
        |kind: &&str| !WIFI.contains(kind) || all.iter().any(|it| it.spent_ns.contains_key(*kind));
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| there(kind)).collect();
    let row = |it: &ChannelOccupancy| {
        let shares = kinds.iter().map(|kind| Some(format!("{:.1}", it.share(kind))));
        let lead = [Some(it.place.clone()), Some(it.channel.to_string())];
        lead.into_iter().chain(shares).collect()
    };
    let columns = [Column::words("cell"), Column::setting("channel", "")]
        .into_iter()
        .chain(kinds.iter().map(|kind| Column::result(kind, "%", origin)));
    (!all.is_empty()).then(|| Table {
        id: "occupancy".into(),
        section: SECTION.into(),
        title: "Airtime by use".into(),
        columns: columns.collect(),
        rows: all.iter().map(row).collect(),
        notes: alloc::vec![
            "data: frames of the lab's devices; background: frames of other people's stations; \
             collided: two frames or more on the air at once, anywhere in the room."
                .into()
        ],
        ..Table::default()
    })
}

/// Returns figures of the busiest channels, and of the course of each timeline's cell.
#[must_use]
pub fn figures(all: &[ChannelOccupancy], timelines: &[Timeline], origin: Origin) -> Vec<Figure> {
    let courses = timelines.iter().filter_map(|it| course(it, origin));
    figure(all, origin).into_iter().chain(courses).collect()
}

/// Returns the figure of the busiest channels.
#[must_use]
pub fn figure(all: &[ChannelOccupancy], origin: Origin) -> Option<Figure> {
    let mut busy: Vec<&ChannelOccupancy> = all.iter().filter(|it| it.time_ns > 0).collect();
    let count = busy.len();
    busy.sort_by(|a, b| b.busy().total_cmp(&a.busy()));
    busy.truncate(MOST);
    let first = busy.first()?;
    let share = |it: &ChannelOccupancy, kinds: &[&str]| -> f64 {
        kinds.iter().map(|kind| it.share(kind)).sum()
    };
    let series = |(name, meaning, kinds): (&str, SeriesMeaning, &[&str])| Series {
        name: name.into(),
        origin,
        mark: Mark::Stacked,
        meaning: Some(meaning),
        points: busy
            .iter()
            .enumerate()
            .map(|(at, it)| FigurePoint::new(at as f64, six(share(it, kinds))))
            .collect(),
    };
    let used =
        CHARTED.into_iter().filter(|(_, _, kinds)| busy.iter().any(|it| share(it, kinds) > 0.0));
    let name = |it: &&ChannelOccupancy| format!("{}, channel {}", it.place, it.channel);
    Some(Figure {
        id: "occupancy-figure".into(),
        section: SECTION.into(),
        title: "Airtime by use".into(),
        alt: format!(
            "Share of the time in which something was on the air, stacked by what it was: the \
             busiest {} of {count}. Most in {}: {:.1} %.",
            busy.len(),
            name(first),
            first.busy()
        ),
        x: Axis {
            label: "cell".into(),
            scale: Scale::Category,
            categories: busy.iter().map(name).collect(),
            ..Axis::default()
        },
        y: Axis { label: "time taken".into(), unit: "%".into(), ..Axis::default() },
        series: used.map(series).collect(),
    })
}

/// Returns a figure of the time over the whole of a timeline's cell, for its busiest channel.
#[must_use]
pub fn course(timeline: &Timeline, origin: Origin) -> Option<Figure> {
    let sum = |channel: u8| -> u64 {
        let its = timeline.course.iter().filter(|it| it.channel == channel);
        its.flat_map(|it| &it.permille).map(|it| u64::from(*it)).sum()
    };
    let channel = timeline.course.iter().map(|it| it.channel).max_by_key(|it| sum(*it))?;
    let of_channel = || timeline.course.iter().filter(|it| it.channel == channel);
    let series = |(name, meaning, kinds): (&str, SeriesMeaning, &[&str])| {
        let parts = || of_channel().filter(|it| kinds.contains(&it.kind.as_str()));
        let step_s = parts().next()?.step_ns as f64 / 1e9;
        let steps = parts().map(|it| it.permille.len()).max()?;
        let permille = |at: usize| -> u32 {
            parts().filter_map(|it| it.permille.get(at)).map(|it| u32::from(*it)).sum()
        };
        let point =
            |at: usize| FigurePoint::new(six(at as f64 * step_s), f64::from(permille(at)) / 10.0);
        let points = (0..steps).map(point).collect();
        Some(Series { name: name.into(), origin, mark: Mark::Step, meaning: Some(meaning), points })
    };
    let series: Vec<Series> = CHARTED.into_iter().filter_map(series).collect();
    Some(Figure {
        id: format!("{}-course", timeline.id),
        section: SECTION.into(),
        title: format!("Channel {channel} over time: {}", timeline.place),
        alt: format!(
            "Share of each step of time in which channel {channel} was taken, by kind of frame."
        ),
        x: Axis { label: "time".into(), unit: "s".into(), ..Axis::default() },
        y: Axis { label: "time taken".into(), unit: "%".into(), ..Axis::default() },
        series,
    })
}
