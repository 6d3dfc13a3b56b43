//! How far messages reach: the answer in sentences, its table and its figure.
//!
//! Range has one meaning in all answers: the distance at which as many messages are lost as is allowed
//! ([`RANGE_LOSS`] where nobody says otherwise), over all places so far away, with all attempts or copies of a
//! message, and with nobody else on the air.

use super::figures::{axis, families, figure, series};
use super::point::{DistanceRow, OperatingPoint, PlaceSpread, PointEstimates};
use super::report::PredictAnswer;
use super::tables::{exactly, result, table};
use super::{SECTION, tables};
use crate::digits;
use crate::figure::{Figure, FigurePoint, Mark, Scale, Series, SeriesMeaning};
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Most of the messages that may be lost at the end of a range, 0 to 1, where nobody says otherwise.
pub const RANGE_LOSS: f64 = 0.01;

/// Says what a range is, for the notes of a table.
pub(super) fn meaning(loss: f64) -> String {
    format!(
        "Range: the distance at which {} % of the messages are lost, over all places at that distance, by the chip's \
         transmit power and sensitivity, the path loss, the walls, the shadowing and the fading of the place; all \
         attempts or copies of a message count, and nobody else is on the air. Beyond the distance for which the \
         model of the place holds it is not known.",
        digits::three(100.0 * loss)
    )
}

/// Prints a range, or that it is not known beyond the model of the place. Two digits are all that path loss is worth.
pub(super) fn range_words(metres: f64, is_bounded: bool) -> String {
    match is_bounded {
        true => format!("not known beyond {}", metres_of(metres)),
        false => digits::two(metres),
    }
}

/// Says where knowledge of a place ends, without a full stop.
pub(super) fn beyond(metres: f64) -> String {
    format!("Nothing is known beyond {} m, where the model of the place ends", metres_of(metres))
}

impl PredictAnswer {
    /// Says that devices are farther away than the model of the place reaches.
    pub(super) fn beyond_place(&self) -> Option<String> {
        let [farthest, valid] = self.beyond_m?;
        let far = metres_of(farthest);
        Some(format!(
            "{}, and devices are up to {far} m away: the figures may be far off.",
            beyond(valid)
        ))
    }
}

/// Prints the interval of a range; its lower end alone where the range is not known, and none where that is not, either.
pub(super) fn range_interval(it: &OperatingPoint) -> Option<String> {
    interval_words(it.range_m, [it.range_low_m, it.range_high_m])
}

/// Prints the ends of a range's interval that are known.
pub(super) fn interval_words(metres: Option<f64>, ends: [Option<f64>; 2]) -> Option<String> {
    let is_somewhere = metres? > 0.0;
    digits::interval_in_two(ends[0].filter(|_| is_somewhere), ends[1])
}

/// Range that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeWanted {
    /// Most of the messages that may be lost, 0 to 1.
    pub loss: f64,
    /// Distance that is to be reached, in metres, where one was named.
    pub distance_m: Option<f64>,
}

impl RangeWanted {
    /// Returns whether a rate reaches the distance; `None` where the model of the place ends before.
    pub(super) fn is_reached(&self, point: &PointEstimates) -> Option<bool> {
        let metres = point.setting.range_m.unwrap_or(0.0);
        let is_reached = self.distance_m.is_none_or(|it| metres >= it);
        (is_reached || !point.setting.range_is_bounded).then_some(is_reached)
    }
}

impl PredictAnswer {
    /// Returns the answer in sentences: the rate that reaches farthest, and the fastest that reaches what
    /// was asked.
    pub(super) fn range(&self, wanted: &RangeWanted) -> Vec<String> {
        let Some(farthest) = self.points.first() else { return Vec::new() };
        let loss = digits::three(100.0 * wanted.loss);
        let rate = &farthest.setting.rate;
        let metres = farthest.setting.range_m.unwrap_or(0.0);
        let mut lines = alloc::vec![if metres == 0.0 {
            format!("no rate reaches anywhere with at most {loss} % of the messages lost.")
        } else if farthest.setting.range_is_bounded {
            let all = self.points.iter().filter(|it| it.setting.range_is_bounded).count();
            let named = match all {
                1 => format!("{rate} reaches"),
                n => format!("{n} rates reach"),
            };
            let fastest = if all > 1 { format!("; the fastest is {rate}") } else { String::new() };
            // The first of them is the one that is known least.
            let interval = range_interval(&farthest.setting);
            let fastest =
                interval.map(|it| format!("{fastest} (at 95 %: {it} m)")).unwrap_or(fastest);
            let metres = metres_of(metres);
            format!(
                "{named} {metres} m with at most {loss} % of the messages lost{fastest}. {}.",
                beyond(farthest.setting.range_m.unwrap_or(0.0))
            )
        } else {
            let interval = range_interval(&farthest.setting);
            let interval = interval.map(|it| format!(" [{it}]")).unwrap_or_default();
            format!(
                "{rate} reaches farthest, {} m{interval}, with at most {loss} % of the messages lost.",
                range_words(metres, false)
            )
        }];
        lines.extend(self.inferred());
        lines.extend(wanted.distance_m.map(|asked| self.reaches(wanted, asked)));
        lines
    }

    /// Says that the sensitivity of the rate that reaches farthest is inferred, and which of the others does.
    fn inferred(&self) -> Option<String> {
        let farthest = self.points.first().filter(|it| it.setting.is_inferred)?;
        let known = self.points.iter().find(|it| !it.setting.is_inferred);
        let rest = known.and_then(|it| {
            let (rate, is_bounded) = (&it.setting.rate, it.setting.range_is_bounded);
            let far = range_words(it.setting.range_m?, is_bounded);
            Some(match is_bounded {
                true => {
                    format!(" Of the rates with one {rate} reaches farthest; its range is {far} m.")
                }
                false => format!(" Of the rates with one {rate} reaches farthest, {far} m."),
            })
        });
        Some(format!(
            "The sensitivity of {} is inferred: no datasheet has one.{}",
            farthest.setting.rate,
            rest.unwrap_or_default()
        ))
    }

    /// Says which rates reach a distance.
    fn reaches(&self, wanted: &RangeWanted, asked: f64) -> String {
        let reach = |it: &&PointEstimates| wanted.is_reached(it) == Some(true);
        let is_open = self.points.iter().any(|it| wanted.is_reached(it).is_none());
        let count = self.points.iter().filter(reach).count();
        let asked = metres_of(asked);
        match self.points.iter().filter(reach).max_by_key(|it| it.setting.kbit_s) {
            None if is_open => format!("Whether any reaches {asked} m is not known."),
            None => format!("No rate reaches {asked} m."),
            Some(fastest) => format!(
                "{count} of {} rates reach {asked} m, the fastest is {}.",
                self.points.len(),
                fastest.setting.rate
            ),
        }
    }
}

/// Prints a distance: to a decimetre below ten metres.
pub(super) fn metres_of(metres: f64) -> String {
    if metres < 10.0 { format!("{metres:.1}") } else { format!("{metres:.0}") }
}

/// Returns the word for whether a distance is reached.
const fn word(is_reached: Option<bool>) -> &'static str {
    match is_reached {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    }
}

/// Makes the table of ranges.
pub(super) fn ranges(answer: &PredictAnswer, wanted: &RangeWanted) -> Table {
    let row = |point: &PointEstimates| -> TableRow {
        let it = &point.setting;
        alloc::vec![
            Some(it.rate.clone()),
            Some(exactly(f64::from(it.kbit_s) / 1000.0)),
            Some(exactly(it.air_us)),
            it.range_m.map(|metres| range_words(metres, it.range_is_bounded)),
            range_interval(it),
            it.range_median_m.map(|metres| range_words(metres, it.range_median_is_bounded)),
            Some(if it.is_inferred { "inferred" } else { "datasheet" }.into()),
            wanted.distance_m.map(|_| word(wanted.is_reached(point)).to_string()),
        ]
    };
    let columns = alloc::vec![
        Column::words("PHY rate"),
        Column::setting("rate", "Mbit/s"),
        Column::setting("frame on the air", "us"),
        result("range", "m"),
        result("range 95 %", "m"),
        result("without fading", "m"),
        Column::words("sensitivity"),
        Column::words("reaches the distance"),
    ];
    let rows = answer.points.iter().map(row).collect();
    let mut table = table("predict-ranges", SECTION, "How far messages reach", columns, rows);
    table.notes.push(format!("{}.", tables::capitalized(&answer.shared)));
    table.notes.push(format!(
        "{} Without fading: where nothing shadows the signal and nobody moves. Inferred: of Long Range only \"about 4 dB\" better \
         than 1M are published, and no sensitivity.",
        meaning(wanted.loss)
    ));
    table.notes.extend(answer.notes.iter().cloned());
    table
}

/// Draws range against rate.
pub(super) fn reach(answer: &PredictAnswer) -> Figure {
    let mut all = Vec::new();
    for (name, points) in families(answer) {
        let dot = |it: &&PointEstimates| {
            let range = it.setting.range();
            let y = range.value.filter(|it| *it > 0.0)?;
            let x = f64::from(it.setting.kbit_s) / 1000.0;
            Some(FigurePoint { x, y, low: range.low, high: range.high }.rounded())
        };
        let mut dots: Vec<FigurePoint> = points.iter().filter_map(dot).collect();
        dots.sort_by(|a, b| a.x.total_cmp(&b.x));
        all.push(series(&name, Mark::Line, dots));
    }
    let known =
        "Distance that messages reach with the loss that was allowed, against the data rate.";
    let bounded = answer.points.iter().find(|it| it.setting.range_is_bounded);
    let end = bounded.and_then(|it| it.setting.range_m);
    all.extend(end.and_then(|end| place_end(answer, end)));
    let alt = end.map_or_else(|| known.into(), |end| format!("{known} {}.", beyond(end)));
    figure(
        "predict-range",
        "Range by PHY rate",
        alt,
        [
            crate::figure::Axis { scale: Scale::Log, ..axis("PHY rate", "Mbit/s") },
            axis("range", "m"),
        ],
        all,
    )
}

/// Returns the line at which the model of the place ends: a range there may be longer.
fn place_end(answer: &PredictAnswer, end: f64) -> Option<Series> {
    let rates = || answer.points.iter().map(|it| it.setting.kbit_s);
    let ends = [rates().min()?, rates().max()?];
    let dots = ends.map(|it| FigurePoint::new(f64::from(it) / 1000.0, end)).to_vec();
    let name = format!("not known beyond {} m", metres_of(end));
    Some(Series { meaning: Some(SeriesMeaning::Limit), ..series(&name, Mark::Line, dots) })
}

/// Prints a quantity over places: the middle, and between what the worst and the best tenth have, the smaller first.
#[must_use]
pub fn over_places(of: &PlaceSpread) -> String {
    let one = |it: Option<f64>| it.map_or_else(|| "?".into(), digits::three);
    // Only of a time the worst may be unknown: nothing arrives there.
    let is_turned = of.best.is_some_and(|best| of.worst.is_none_or(|worst| worst > best));
    let (low, high) = if is_turned { (of.best, of.worst) } else { (of.worst, of.best) };
    let [low, median, high] = [low, of.median, high].map(one);
    if low == high { median } else { format!("{median} [{low}–{high}]") }
}

/// Makes the table of what becomes of messages by distance; `None` where that was not asked.
pub(super) fn distances(answer: &PredictAnswer) -> Option<Table> {
    let with = answer.points.iter().filter(|it| !it.setting.distances.is_empty());
    let row = |point: &PointEstimates, it: &DistanceRow| -> TableRow {
        alloc::vec![
            Some(point.setting.rate.clone()),
            Some(metres_of(it.metres)),
            Some(over_places(&it.delivery_percent)),
            Some(over_places(&it.throughput_mbit_s)),
            Some(over_places(&it.round_trip_ms)),
        ]
    };
    let rows: Vec<TableRow> = with
        .flat_map(|point| point.setting.distances.iter().map(move |it| row(point, it)))
        .collect();
    let columns = alloc::vec![
        Column::words("PHY rate"),
        Column::setting("distance", "m"),
        result("delivered", "percent"),
        result("throughput", "Mbit/s"),
        result("round trip", "ms"),
    ];
    let title = "What becomes of messages by distance";
    (!rows.is_empty()).then(|| {
        let mut table = table("predict-distances", SECTION, title, columns, rows);
        let is_unknown = |it: &PlaceSpread| [it.worst, it.median, it.best].contains(&None);
        let of = |it: &DistanceRow| {
            [it.delivery_percent, it.throughput_mbit_s, it.round_trip_ms].iter().any(is_unknown)
        };
        let mut all = answer.points.iter().flat_map(|it| &it.setting.distances);
        let marked = all.any(of).then(|| "?: nothing arrives there.".to_string());
        table.notes.push(
            "At the median place at that distance, and in brackets at the worst and the best tenth of places \
             (shadowing, people and doors). Throughput: payload of one device that always sends. Round trip: the \
             mean of a message and an answer as long that arrive. Nobody else is on the air."
                .into(),
        );
        table.notes.extend(marked);
        table
    })
}

/// Draws delivery against distance, with the places' spread; `None` where that was not asked.
pub(super) fn delivery(answer: &PredictAnswer) -> Option<Figure> {
    let with = answer.points.iter().filter(|it| !it.setting.distances.is_empty());
    let all: Vec<_> = with
        .map(|point| {
            let dot = |it: &DistanceRow| {
                let PlaceSpread { worst: low, median, best: high } = it.delivery_percent;
                Some(FigurePoint { x: it.metres, y: median?, low, high })
            };
            let dots = point.setting.distances.iter().filter_map(dot).collect();
            series(&point.setting.rate, Mark::Line, dots)
        })
        .collect();
    (!all.is_empty()).then(|| {
        figure(
            "predict-delivery",
            "Messages that arrive by distance",
            "Messages that arrive against the distance, in the middle of the places, and from the worst to \
             the best tenth of them."
                .into(),
            [
                crate::figure::Axis { scale: Scale::Log, ..axis("distance", "m") },
                axis("delivered", "%"),
            ],
            all,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_over_places_begins_with_its_smaller_end() {
        let of = |worst, median, best| over_places(&PlaceSpread { worst, median, best });
        assert_eq!(of(Some(28.3), Some(100.0), Some(100.0)), "100 [28.3–100]");
        assert_eq!(of(Some(60.4), Some(5.78), Some(5.77)), "5.78 [5.77–60.4]");
        assert_eq!(of(None, None, Some(6.02)), "? [6.02–?]");
        assert_eq!(of(None, None, None), "?");
    }
}
