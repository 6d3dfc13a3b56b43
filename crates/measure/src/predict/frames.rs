//! One long frame or several short ones: the answer, its tables and its figure.

use super::SECTION;
use super::answer::milliseconds;
use super::card::{Prediction, QuestionKind, RowStanding, overlap, value};
use super::cut::SettingsDue;
use super::figures::{axis, figure, series};
use super::range::{beyond, metres_of};
use super::tables::{interval, result, table};
use crate::cell::{Cell, Identity, Origin, TestFacts};
use crate::digits;
use crate::figure::{FigurePoint, Mark};
use crate::report::{GlanceValue, Report, add_run, known};
use crate::run::RunFacts;
use crate::settings::{Setting, Settings};
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::workload::Name;
use espbench_stats::Estimate;
use espbench_stats::cluster;
use serde::{Deserialize, Serialize};

/// One simulated room of messages, each in so many frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageTrial {
    /// Messages that were sent.
    pub messages: u64,
    /// Times until all of a message was there, in milliseconds, of those of which all came.
    pub whole_ms: Vec<f64>,
    /// Sum of the times until the sender was done with a message, in milliseconds.
    pub span_ms: f64,
    /// Time of the sender's frames on the air, with repetitions, in milliseconds.
    pub air_ms: f64,
    /// Charge of the sender meanwhile, in microcoulombs.
    pub charge_uc: f64,
}

/// A division of a message at a distance, and what becomes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramesPoint {
    /// Frames of a message.
    pub frames: u32,
    /// Bytes of each frame's body; the last may be shorter.
    pub bytes: u32,
    /// Distance, in metres.
    pub metres: f64,
    /// Rooms behind it.
    pub rooms: u32,
    /// Messages of which all frames came, 0 to 1.
    pub delivery: Estimate,
    /// Mean time until all of a message is there, in milliseconds.
    pub whole: Estimate,
    /// 99th percentile of it.
    pub whole_p99: Estimate,
    /// Time of a message's frames on the air, with repetitions, in milliseconds.
    pub air: Estimate,
    /// Payload of whole messages a second, in Mbit/s.
    pub throughput: Estimate,
    /// Charge of the sender for a message, in microcoulombs.
    pub charge: Estimate,
}

impl FramesPoint {
    /// Estimates a division of messages of so many bytes from its trials.
    #[must_use]
    pub fn of(
        (frames, bytes): (u32, u32),
        metres: f64,
        message: u32,
        trials: &[MessageTrial],
    ) -> Self {
        let per_message = |of: fn(&MessageTrial) -> f64| {
            let sums: Vec<(f64, u64)> = trials.iter().map(|it| (of(it), it.messages)).collect();
            cluster::mean(&sums).not_negative()
        };
        let whole: Vec<Vec<f64>> = trials.iter().map(|it| it.whole_ms.clone()).collect();
        let shares: Vec<(u64, u64)> =
            trials.iter().map(|it| (it.whole_ms.len() as u64, it.messages)).collect();
        let means: Vec<(f64, u64)> =
            whole.iter().map(|it| (it.iter().sum(), it.len() as u64)).collect();
        // Bits that arrived over time, both of rooms: a ratio of sums, in nanoseconds.
        let bits: Vec<(f64, u64)> = trials
            .iter()
            .map(|it| {
                let bits = 8.0 * f64::from(message) * it.whole_ms.len() as f64;
                (1e3 * bits, (1e6 * it.span_ms) as u64)
            })
            .collect();
        Self {
            frames,
            bytes,
            metres,
            rooms: trials.len() as u32,
            delivery: cluster::proportion(&shares),
            whole: cluster::mean(&means).not_negative(),
            whole_p99: cluster::quantile(&whole, 0.99),
            air: per_message(|it| it.air_ms),
            throughput: Estimate { n: shares.iter().map(|it| it.1).sum(), ..cluster::mean(&bits) }
                .not_negative(),
            charge: per_message(|it| it.charge_uc),
        }
    }

    /// Describes the division: `1 × 1000 B`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} × {} B", self.frames, self.bytes)
    }
}

/// The figures of one division at one distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FramesRow {
    /// Distance, in metres.
    pub metres: f64,
    /// Frames of a message.
    pub frames: u32,
    /// Bytes of each frame's body; the last may be shorter.
    pub bytes: u32,
    /// Messages of which all frames came, in percent.
    pub delivered_percent: Option<GlanceValue>,
    /// Mean time until all of a message is there, in milliseconds.
    pub whole_ms: Option<GlanceValue>,
    /// Time of a message's frames on the air, with repetitions, in milliseconds.
    pub air_ms: Option<GlanceValue>,
    /// Charge of the sender for a message, in microcoulombs.
    pub charge_uc: Option<GlanceValue>,
    /// Place among the divisions at that distance.
    pub standing: RowStanding,
}

/// Answer to the question in how many frames a message is sent best.
#[derive(Clone, Debug)]
pub struct FramesAnswer {
    /// The message and its place in a few words.
    pub title: String,
    /// Bytes of the whole message.
    pub message: u32,
    /// PHY rate.
    pub rate: String,
    /// Settings that all points share, as values for the result cells.
    pub settings: Settings,
    /// Points, by distance.
    pub points: Vec<FramesPoint>,
    /// Distances that were asked and of which nothing is known, in metres.
    pub unknown_m: Vec<f64>,
    /// Farthest distance for which the model of the place holds, in metres.
    pub valid_m: f64,
    /// Remarks on the lab that matter for reading the figures, in sentences.
    pub notes: Vec<String>,
    /// Divisions of all distances, and their rooms, that were due.
    pub due: SettingsDue,
    /// Whether the search was stopped before its end.
    pub stopped: bool,
}

impl FramesAnswer {
    /// Returns the points of each distance, in order.
    fn by_distance(&self) -> impl Iterator<Item = &[FramesPoint]> {
        self.points.chunk_by(|a, b| a.metres == b.metres)
    }

    /// Returns the place of each point among those at its distance. First counts how many messages come whole,
    /// then how soon they are there; what overlaps with the best in both ties. Where it was stopped, none is the best.
    #[must_use]
    pub fn standings(&self) -> Vec<RowStanding> {
        if self.lacks_rooms() {
            return alloc::vec![RowStanding::Unranked; self.points.len()];
        }
        self.by_distance().flat_map(rank).collect()
    }

    /// Returns the answer in sentences: which division is best at each distance.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        if self.lacks_rooms() {
            return self.cut_short().into_iter().chain(self.unknown()).collect();
        }
        let mut told: Vec<DistanceVerdict> = Vec::new();
        for points in self.by_distance() {
            let found = DistanceVerdict::of(points);
            match told.iter_mut().find(|it| (&it.best, &it.tied) == (&found.best, &found.tied)) {
                Some(same) => same.metres.extend(found.metres),
                None => told.push(found),
            }
        }
        let sentence = |it: &DistanceVerdict| it.words();
        let mut lines: Vec<String> = told.iter().map(sentence).collect();
        if let Some(first) = lines.first_mut() {
            *first = super::tables::capitalized(first);
        }
        let told = (!lines.is_empty()).then(|| format!("{}.", lines.join("; ")));
        self.cut_short().into_iter().chain(self.unknown()).chain(told).chain(self.gain()).collect()
    }

    /// Says of which distances nothing is known.
    fn unknown(&self) -> Option<String> {
        let metres: Vec<String> = self.unknown_m.iter().map(|it| metres_of(*it)).collect();
        let told = format!(
            "{}: what becomes of a message at {} m is not",
            beyond(self.valid_m),
            metres.join(", ")
        );
        (!metres.is_empty()).then(|| format!("{told}."))
    }

    /// Says by how much the best and the worst differ at the nearest distance.
    fn gain(&self) -> Option<String> {
        let points = self.by_distance().next()?;
        let time = |it: &&FramesPoint| it.whole.value.map(|ms| (ms, (*it).clone()));
        let all: Vec<(f64, FramesPoint)> = points.iter().filter_map(|it| time(&it)).collect();
        let least = all.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = all.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        (least.1 != most.1).then(|| {
            let of = |it: &FramesPoint| {
                format!("{} in {}", milliseconds(&it.whole).unwrap_or_default(), it.name())
            };
            format!(
                "At {} m all is there after {}, and after {}.",
                metres_of(points[0].metres),
                of(&least.1),
                of(&most.1)
            )
        })
    }

    /// Returns the answer's card.
    #[must_use]
    pub fn card(&self) -> Prediction {
        let standings = self.standings();
        let row = |(it, standing): (&FramesPoint, RowStanding)| FramesRow {
            metres: it.metres,
            frames: it.frames,
            bytes: it.bytes,
            delivered_percent: value(&it.delivery.scaled(100.0)),
            whole_ms: value(&it.whole),
            air_ms: value(&it.air),
            charge_uc: value(&it.charge),
            standing,
        };
        Prediction {
            question: QuestionKind::Frames,
            title: self.title.clone(),
            verdict: Some(self.sentences().join(" ")),
            rows: Vec::new(),
            distances: Vec::new(),
            frames: self.points.iter().zip(standings).map(row).collect(),
            energy: None,
            limited_by: Vec::new(),
            changes: Vec::new(),
            next: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the report of the answer: a pure function of it and the facts.
    #[must_use]
    pub fn report(&self, facts: &RunFacts) -> Report {
        let mut cells: Vec<Cell> =
            self.points.iter().flat_map(|it| self.cells(facts, it)).collect();
        for cell in &mut cells {
            known(cell);
        }
        add_run(&mut cells, facts);
        Report {
            incomplete: self.stopped,
            prediction: Some(self.card()),
            cells,
            tables: self.tables(),
            figures: alloc::vec![self.times()],
            ..Report::empty(facts.clone())
        }
    }

    fn cells(&self, facts: &RunFacts, point: &FramesPoint) -> Vec<Cell> {
        let site = &facts.site;
        let cell = |metric: &str, unit: &str, estimate: Estimate| {
            let id = Identity {
                table: "predict-frames".into(),
                chip: site.chip.clone(),
                transport: "esp-now".into(),
                mode: site.mode.clone(),
                metric: metric.into(),
                payload_bytes: Some(point.bytes),
                devices: Some(1),
                distance_m: Some(point.metres),
                security: site.security.clone(),
                environment: site.environment.clone(),
            };
            let mut settings = self.settings.clone();
            settings.extend(Name::new(&self.rate).map(Setting::PhyRate));
            let test = TestFacts { phy_rate: self.rate.parse().ok(), ..TestFacts::default() };
            Cell { settings, test, ..Cell::of(estimate, id, unit, Origin::Simulated) }
        };
        let lost = |it: Estimate| Estimate {
            value: it.value.map(|it| 1.0 - it),
            low: it.high.map(|it| 1.0 - it),
            high: it.low.map(|it| 1.0 - it),
            n: it.n,
        };
        alloc::vec![
            cell("loss", "percent", lost(point.delivery).scaled(100.0)),
            cell("latency_avg", "ms", point.whole),
            cell("latency_p99", "ms", point.whole_p99),
            cell("throughput", "Mbit/s", point.throughput),
            cell("charge_per_message", "uC", point.charge),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        let rows: Vec<TableRow> =
            self.sentences().into_iter().map(|it| alloc::vec![Some(it)]).collect();
        let columns = alloc::vec![Column::words("answer")];
        let answer = table("predict-answer", "overview", "The answer", columns, rows);
        let row = |point: &FramesPoint| -> TableRow {
            let delivery = point.delivery.scaled(100.0);
            alloc::vec![
                Some(metres_of(point.metres)),
                Some(point.frames.to_string()),
                Some(point.bytes.to_string()),
                digits::estimate(&delivery),
                interval(&delivery),
                digits::estimate(&point.whole),
                interval(&point.whole),
                digits::estimate(&point.whole_p99),
                digits::estimate(&point.air),
                digits::estimate(&point.throughput),
                digits::estimate(&point.charge),
            ]
        };
        let columns = alloc::vec![
            Column::setting("distance", "m"),
            Column::setting("frames", ""),
            Column::setting("bytes of a frame", "B"),
            result("delivered whole", "percent"),
            result("delivered 95 %", "percent"),
            result("all there", "ms"),
            result("all there 95 %", "ms"),
            result("all there p99", "ms"),
            result("on the air", "ms"),
            result("throughput", "Mbit/s"),
            result("charge", "uC"),
        ];
        let rows = self.points.iter().map(row).collect();
        let title = "A message in one frame or in several";
        let mut all = table("predict-frames", SECTION, title, columns, rows);
        all.notes.push(
            "A message is whole where each of its frames came; unicast has the MAC's repetitions, and the \
             application repeats none. All there: from the first call of esp_now_send until the listener has the \
             last frame; each call waits for the callback of the one before. On the air: the sender's frames, \
             repetitions too. Charge: the sender's from the first call until the last callback, sending and else \
             listening. Intervals at 95 % from rooms with seeds of their own (places, shadowing, phases)."
                .into(),
        );
        all.notes.extend(self.notes.iter().cloned());
        alloc::vec![answer, all]
    }

    /// Draws the time until all is there against the distance.
    fn times(&self) -> crate::figure::Figure {
        let mut names: Vec<String> = self.points.iter().map(FramesPoint::name).collect();
        names.sort();
        names.dedup();
        let line = |name: &String| {
            let dot = |it: &FramesPoint| {
                let Estimate { value, low, high, .. } = it.whole;
                Some(FigurePoint { x: it.metres, y: value?, low, high }.rounded())
            };
            let points = self.points.iter().filter(|it| it.name() == *name);
            series(name, Mark::Line, points.filter_map(dot).collect())
        };
        figure(
            "predict-frames-time",
            "Time until all of a message is there",
            "Mean time until all frames of a message are there, against the distance.".into(),
            [axis("distance", "m"), axis("all there", "ms")],
            names.iter().map(line).collect(),
        )
    }
}

/// The best divisions at distances where they are the same.
struct DistanceVerdict {
    best: Option<String>,
    tied: Vec<String>,
    metres: Vec<f64>,
}

impl DistanceVerdict {
    /// Ranks the divisions at one distance.
    fn of(points: &[FramesPoint]) -> Self {
        let standings = rank(points);
        let of = |wanted: RowStanding| {
            let all = points.iter().zip(&standings).filter(move |it| *it.1 == wanted);
            all.map(|it| it.0.name())
        };
        Self {
            best: of(RowStanding::Best).next(),
            tied: of(RowStanding::Tied).collect(),
            metres: points.first().map(|it| it.metres).into_iter().collect(),
        }
    }

    /// Says which division is best there.
    fn words(&self) -> String {
        let metres: Vec<String> = self.metres.iter().map(|it| metres_of(*it)).collect();
        let place = format!("at {} m", metres.join(", "));
        match (&self.best, self.tied.as_slice()) {
            (None, _) => format!("{place} no message comes whole"),
            (Some(best), []) => format!("{place} {best} is best"),
            (Some(best), [one]) => format!("{place} {best} is best, and {one} ties with it"),
            (Some(best), tied) => {
                format!("{place} {best} is best, and {} tie with it", tied.join(", "))
            }
        }
    }
}

/// Ranks the divisions at one distance.
fn rank(points: &[FramesPoint]) -> Vec<RowStanding> {
    let share = |it: &FramesPoint| it.delivery.value.unwrap_or(0.0);
    let time = |it: &FramesPoint| it.whole.value.unwrap_or(f64::INFINITY);
    let comes = |it: &&FramesPoint| share(it) > 0.0;
    let most = points.iter().filter(comes).max_by(|a, b| share(a).total_cmp(&share(b)));
    let Some(most) = most else { return alloc::vec![RowStanding::LeftOut; points.len()] };
    let is_first = |it: &FramesPoint| comes(&it) && overlap(&most.delivery, &it.delivery);
    let best = points.iter().filter(|it| is_first(it)).min_by(|a, b| time(a).total_cmp(&time(b)));
    let standing = |it: &FramesPoint| match best {
        Some(best) if best == it => RowStanding::Best,
        Some(best) if is_first(it) && overlap(&best.whole, &it.whole) => RowStanding::Tied,
        _ if share(it) == 0.0 => RowStanding::LeftOut,
        _ => RowStanding::Behind,
    };
    points.iter().map(standing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(frames: u32, metres: f64, delivery: [f64; 3], whole: [f64; 3]) -> FramesPoint {
        let estimate = |[low, value, high]: [f64; 3]| Estimate {
            value: Some(value),
            n: 100,
            low: Some(low),
            high: Some(high),
        };
        FramesPoint {
            frames,
            bytes: 1000 / frames,
            metres,
            delivery: estimate(delivery),
            whole: estimate(whole),
            ..FramesPoint::default()
        }
    }

    fn answer(points: Vec<FramesPoint>) -> FramesAnswer {
        FramesAnswer {
            title: "1000 B".into(),
            message: 1000,
            rate: "1M".into(),
            settings: Settings::default(),
            points,
            unknown_m: Vec::new(),
            valid_m: 30.0,
            notes: Vec::new(),
            due: SettingsDue::default(),
            stopped: false,
        }
    }

    #[test]
    fn delivery_counts_first_and_then_time_and_what_overlaps_ties() {
        use RowStanding::{Behind, Best, LeftOut, Tied};
        let all = [0.98, 0.99, 1.0];
        let few = [0.5, 0.6, 0.7];
        let answer = answer(alloc::vec![
            point(1, 5.0, all, [9.0, 10.0, 11.0]),
            point(2, 5.0, all, [10.5, 12.0, 13.0]),
            point(4, 5.0, all, [19.0, 20.0, 21.0]),
            // The fastest loses more than chance.
            point(1, 50.0, few, [9.0, 10.0, 11.0]),
            point(4, 50.0, all, [19.0, 20.0, 21.0]),
            point(1, 90.0, [0.0; 3], [9.0, 10.0, 11.0]),
        ]);
        assert_eq!(answer.standings(), [Best, Tied, Behind, Behind, Best, LeftOut]);
        let told = answer.sentences();
        let wanted = "At 5.0 m 1 × 1000 B is best, and 2 × 500 B ties with it; at 50 m 4 × 250 B is best; \
                      at 90 m no message comes whole.";
        assert_eq!(told[0], wanted);
        assert!(told[1].starts_with("At 5.0 m all is there after 10"), "{told:?}");
        assert_eq!(answer.card().frames.len(), 6);
        let due = SettingsDue { settings: 8, rooms: 0, changes: 0 };
        let cut = FramesAnswer { stopped: true, due, ..answer.clone() };
        let nothing = "Stopped before the first room was done: nothing is known.";
        assert_eq!(cut.sentences(), [nothing]);
        let mut few = cut;
        few.points.iter_mut().for_each(|it| it.rooms = 2);
        let wanted = "Stopped: 6 of 8 divisions were tried; no best can be named.";
        assert_eq!(few.sentences(), [wanted]);
        assert!(few.card().frames.iter().all(|it| it.standing == RowStanding::Unranked));
        few.due = SettingsDue { settings: 6, rooms: 20, changes: 0 };
        let told = few.sentences();
        assert!(told[0].ends_with("wider. No best can be named."), "{told:?}");
        assert_eq!(told.len(), 1);
        let far = FramesAnswer { unknown_m: alloc::vec![60.0], ..answer };
        assert!(
            far.card().verdict.unwrap().starts_with(
                "Nothing is known beyond 30 m, where the model of the place ends: what becomes of a message at 60 m \
                 is not. At 5.0 m"
            ),
            "{far:?}"
        );
    }

    #[test]
    fn a_report_says_that_it_is_simulated() {
        let trial = MessageTrial {
            messages: 10,
            whole_ms: alloc::vec![4.0; 9],
            span_ms: 50.0,
            air_ms: 20.0,
            charge_uc: 100.0,
        };
        let point = FramesPoint::of((2, 500), 3.0, 1000, &[trial.clone(), trial]);
        assert_eq!(point.delivery.value, Some(0.9));
        assert_eq!(point.air.value, Some(2.0));
        assert_eq!(point.charge.value, Some(10.0));
        // 9 messages of 8000 bits in 50 ms.
        assert!((point.throughput.value.unwrap() - 1.44).abs() < 1e-9);
        let report = answer(alloc::vec![point]).report(&RunFacts::default());
        assert!(report.tables.iter().all(|it| it.full_title().ends_with("(simulated)")));
        assert!(report.cells.iter().all(|it| it.origin == Origin::Simulated));
        let loss = report.cells.iter().find(|it| it.id.metric == "loss").unwrap();
        assert!((loss.value.unwrap() - 10.0).abs() < 1e-9);
        for table in &report.tables {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        }
    }
}
