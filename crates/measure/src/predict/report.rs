//! Predictions as a report.

use super::battery::Battery;
use super::change::ChangeTried;
use super::cut::SettingsDue;
use super::largest::FleetSearched;
use super::limits::FleetLimits;
use super::on_air::RateInForce;
use super::point::PointEstimates;
use super::range::RangeWanted;
use super::{figures, tables};
use crate::cell::{Cell, Identity};
use crate::report::{Report, add_run, known};
use crate::run::RunFacts;
use crate::settings::Settings;
use alloc::string::String;
use alloc::vec::Vec;

/// Question of a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PredictQuestion {
    /// Loss and latency of one fleet, or by the number of devices.
    Fleet,
    /// The largest fleet that keeps the limits, and what the search has come to.
    LargestFleet(FleetSearched),
    /// The effect of the PHY rate.
    Rate,
    /// Which rate is on the air, and what it costs against the default.
    OnAir(RateInForce),
    /// How far messages reach.
    Range(RangeWanted),
    /// Which profile of a chip serves the fleet best.
    Profiles,
}

impl PredictQuestion {
    /// Returns the identity column `table` of the answer's cells.
    #[must_use]
    pub const fn table(&self) -> &'static str {
        match self {
            Self::Fleet => "predict-fleet",
            Self::LargestFleet(_) => "predict-largest-fleet",
            Self::Rate => "predict-rate",
            Self::OnAir(_) => "predict-rate-in-force",
            Self::Range(_) => "predict-range",
            Self::Profiles => "predict-profiles",
        }
    }
}

/// Answer of a prediction.
#[derive(Clone, Debug)]
pub struct PredictAnswer {
    /// The question.
    pub question: PredictQuestion,
    /// The fleet and its place in a few words.
    pub title: String,
    /// Limits that the fleet should keep; none where nobody asked.
    pub limits: FleetLimits,
    /// Battery of the devices, where they have one.
    pub battery: Option<Battery>,
    /// Largest current of the chip while it sends, in milliamperes, where that is known.
    pub peak_ma: Option<f64>,
    /// Distance of the farthest device, and the one to which the model of the place holds, in metres, where that is
    /// nearer.
    pub beyond_m: Option<[f64; 2]>,
    /// Description of the settings that all points share: payload, how often, how sent.
    pub shared: String,
    /// Settings that all points share, as values for the result cells.
    pub settings: Settings,
    /// Payload in bytes.
    pub payload_bytes: u32,
    /// The settings, in order.
    pub points: Vec<PointEstimates>,
    /// Changes of the setting that were tried, each alone.
    pub changes: Vec<ChangeTried>,
    /// Remarks on the lab that matter for reading the figures, in sentences.
    pub notes: Vec<String>,
    /// Remarks that belong beside the figures, such as what was left out, in sentences.
    pub remarks: Vec<String>,
    /// Settings, rooms and changes that were due.
    pub due: SettingsDue,
    /// The sweep was stopped before its end.
    pub stopped: bool,
}

/// Returns the report of an answer: a pure function of it and the facts.
#[must_use]
pub fn report(facts: &RunFacts, answer: &PredictAnswer) -> Report {
    let site = &facts.site;
    let id = Identity {
        table: answer.question.table().into(),
        chip: site.chip.clone(),
        transport: "esp-now".into(),
        mode: site.mode.clone(),
        metric: String::new(),
        payload_bytes: Some(answer.payload_bytes),
        devices: None,
        distance_m: site.distance_m,
        security: site.security.clone(),
        environment: site.environment.clone(),
    };
    let mut cells: Vec<Cell> = fleet_cell(answer, &id).into_iter().collect();
    cells.extend(answer.points.iter().filter_map(|it| life_cell(answer, it, &id)));
    cells.extend(answer.points.iter().flat_map(|it| it.with_doubts().cells(&id, &answer.settings)));
    for cell in &mut cells {
        known(cell);
    }
    add_run(&mut cells, facts);
    Report {
        prediction: Some(answer.card()),
        incomplete: answer.stopped,
        cells,
        tables: tables::of(answer),
        figures: figures::of(&answer.with_doubts()),
        ..Report::empty(facts.clone())
    }
}

impl PredictAnswer {
    /// Returns it with points whose latencies hold what is not known of the wake times.
    fn with_doubts(&self) -> Self {
        let points = self.points.iter().map(PointEstimates::with_doubts).collect();
        Self { points, ..self.clone() }
    }
}

/// Returns the cell of how long a battery lasts.
fn life_cell(answer: &PredictAnswer, point: &PointEstimates, id: &Identity) -> Option<Cell> {
    let hours = point.energy.as_ref()?.days(answer.battery.as_ref()?).scaled(24.0);
    let id = Identity {
        metric: "battery_life".into(),
        devices: Some(point.setting.devices),
        chip: point.setting.chip_or(&id.chip),
        ..id.clone()
    };
    let mut settings = answer.settings.clone();
    settings.extend(point.setting.of_point());
    let cell = Cell::of(hours, id, "h", crate::cell::Origin::Simulated);
    Some(Cell { settings, ..cell })
}

fn fleet_cell(answer: &PredictAnswer, id: &Identity) -> Option<Cell> {
    let PredictQuestion::LargestFleet(search) = &answer.question else { return None };
    let largest = &search.largest;
    let number = |devices: Option<u32>| Some(f64::from(devices.unwrap_or(0)));
    let estimate = espbench_stats::Estimate {
        value: number(largest.best),
        n: answer.points.iter().map(|it| it.messages).sum(),
        low: number(largest.surely),
        high: number(largest.at_most).filter(|_| !largest.open),
    };
    let id = Identity { metric: "largest_fleet".into(), ..id.clone() };
    let mut settings = answer.settings.clone();
    settings.extend(answer.limits.settings().iter().cloned());
    let cell = Cell::of(estimate, id, "devices", crate::cell::Origin::Simulated);
    Some(Cell { settings, ..cell })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::predict::card::RowStanding;
    use crate::predict::change::{Change, ChangeTried};
    use crate::predict::point::OperatingPoint;
    use crate::predict::{ChannelUse, RoomTrial};
    use crate::search::fleet::{FleetBound, Largest, SearchEnd};
    use alloc::format;
    use alloc::string::String;
    use espbench_stats::Estimate;

    const STOPPED: &str = "Stopped: each figure is of 2 of 20 rooms, and its interval is wider. No best can be named.";

    /// Makes two rooms of so many devices, whose messages take longer the more there are.
    fn point(devices: u32) -> PointEstimates {
        let trial = |lost: u64| RoomTrial {
            messages: 1000,
            lost: [(espbench_model::sample::Cause::Collision, lost)].into(),
            latency_ms: (lost..1000).map(|i| f64::from(devices) + i as f64 * 0.01).collect(),
            stages_ns: [0, 0, 1, 2, 3, 4, 5],
            told_ms: (2 * lost..1000).map(|i| i as f64).collect(),
            held_ns: 0,
            energy: Vec::new(),
            air: ChannelUse {
                window_ns: 10_000_000_000,
                busy_ns: 1_000_000_000,
                ..ChannelUse::default()
            },
        };
        let lost = u64::from(devices);
        let setting = OperatingPoint {
            devices,
            rate: "1M".into(),
            kbit_s: 1000,
            ..OperatingPoint::default()
        };
        PointEstimates::of(setting, &[trial(lost), trial(lost + 1)])
    }

    fn answer(question: PredictQuestion) -> PredictAnswer {
        PredictAnswer {
            question,
            title: "10 devices".into(),
            limits: FleetLimits::default(),
            battery: None,
            peak_ma: None,
            beyond_m: None,
            changes: Vec::new(),
            shared: "100 B every 1 s".into(),
            settings: crate::label::read("one every 1 s").unwrap(),
            payload_bytes: 100,
            points: alloc::vec![point(10), point(40)],
            notes: Vec::new(),
            remarks: Vec::new(),
            due: SettingsDue { settings: 2, rooms: 2, changes: 0 },
            stopped: false,
        }
    }

    #[test]
    fn a_fleet_is_told_with_its_uncertainty() {
        let limits = FleetLimits { loss: Some(0.02), p99_ms: None };
        let largest = Largest {
            surely: Some(8),
            best: Some(10),
            last: Some(10),
            at_most: Some(13),
            fails: Some(11),
            open: false,
        };
        let answer = searched(largest, SearchEnd::Found, limits);
        let lines = answer.sentences();
        assert_eq!(
            lines[0],
            "Simulated: the largest fleet that keeps loss at most 2 % has 10 devices; the \
             intervals allow from 8 to 13."
        );
        let wanted = "With 40 devices the limit of loss is broken: 4.05 % of the messages are lost and \
                      99 % of the rest arrive within 49.900 ms. Loss is by collisions";
        assert!(lines[1].starts_with(wanted), "{}", lines[1]);
        assert_eq!(lines.len(), 2);
        let report = report(&RunFacts::default(), &answer);
        let cell = &report.cells[0];
        assert_eq!(cell.id.metric, "largest_fleet");
        assert_eq!((cell.value, cell.ci_low, cell.ci_high), (Some(10.0), Some(8.0), Some(13.0)));
        assert!(report.cells.iter().all(|cell| cell.origin == Origin::Simulated));
    }

    /// Returns the answer of a search that has come to that.
    fn searched(largest: Largest, end: SearchEnd, limits: FleetLimits) -> PredictAnswer {
        let bound = FleetBound { devices: 40, capacity: 520, exchange_us: 1925.0 };
        let question = PredictQuestion::LargestFleet(FleetSearched { largest, bound, end });
        PredictAnswer { limits, ..answer(question) }
    }

    const LIMITS: FleetLimits = FleetLimits { loss: Some(0.02), p99_ms: Some(5.0) };

    /// Returns the first sentences, where the search has come to its end.
    fn told(numbers: [Option<u32>; 4], open: bool) -> String {
        let [surely, best, at_most, fails] = numbers;
        let largest = Largest { surely, best, last: best, at_most, fails, open };
        searched(largest, SearchEnd::Found, LIMITS).sentences().join(" ")
    }

    #[test]
    fn a_search_that_did_not_end_says_what_is_open() {
        let limits = FleetLimits { loss: Some(0.5), p99_ms: None };
        let tried = Some(40);
        let largest = Largest {
            surely: tried,
            best: tried,
            last: tried,
            at_most: tried,
            fails: Some(90),
            open: false,
        };
        let lines = |end, largest| searched(largest, end, limits).sentences();
        let late = lines(SearchEnd::OutOfTime, largest);
        assert_eq!(
            late[0],
            "Simulated: of the numbers tried by then, 40 is the largest that keeps loss at most 50 %."
        );
        assert_eq!(
            late[1],
            "The time that was left was too short for the next number: what is from 41 to 89 devices is not known. --time-limit gives it more."
        );
        let by_hand = lines(SearchEnd::Interrupted, Largest { fails: None, ..largest });
        assert!(
            by_hand[1].starts_with("The search was stopped: whether more than 40 do"),
            "{by_hand:?}"
        );
        let nothing = Largest { best: None, last: None, fails: Some(2), ..largest };
        let nothing = lines(SearchEnd::OutOfTime, nothing);
        assert!(nothing[0].ends_with("none of the numbers tried by then keeps loss at most 50 %."));
        assert!(nothing[1].contains("whether 1 device does is not known"), "{nothing:?}");
    }

    #[test]
    fn a_fleet_without_a_border_is_told() {
        let keep = "keep loss at most 2 %, p99 at most 5 ms";
        let keeps = keep.replacen("keep", "keeps", 1);
        let none = told([None, None, None, Some(1)], false);
        assert!(none.starts_with(&format!("Simulated: no fleet {keeps}, not even one device.")));
        let doubt = told([None, None, Some(3), Some(1)], false);
        assert!(doubt.starts_with(&format!(
            "Simulated: by its estimates not even one device {keeps}; the intervals allow 3."
        )));
        let met = "the most that were tried (--most): the limit is not reached. The channel carries the \
                   messages of at most 520 devices, 1.93 ms each.";
        assert_eq!(
            told([Some(40), Some(40), Some(40), None], true),
            format!("Simulated: 40 devices {keep}, {met}")
        );
        assert_eq!(
            told([None, Some(40), Some(40), None], true),
            format!(
                "Simulated: 40 devices {keep} by their estimates, not by all of their intervals, {met}"
            )
        );
        let one = told([Some(1), Some(1), Some(1), Some(2)], false);
        assert!(
            one.starts_with(&format!("Simulated: the largest fleet that {keeps} has 1 device."))
        );
        let many = told([Some(30), Some(40), Some(41), Some(44)], false);
        assert!(
            many.contains("has 40 devices, or up to 3 more; the intervals allow from 30 to 43."),
            "{many}"
        );
    }

    #[test]
    fn a_curve_and_rates_are_told() {
        let nodes = answer(PredictQuestion::Fleet).sentences();
        assert_eq!(
            nodes[0],
            "Simulated: with 10 devices 1.05 % of the messages are lost and 99 % of the rest arrive \
             within 19.900 ms; with 40 devices 4.05 % of the messages are lost and 99 % of the rest \
             arrive within 49.900 ms."
        );
        let mut rates = answer(PredictQuestion::Rate);
        for (point, (rate, metres)) in rates.points.iter_mut().zip([("54M", 291.0), ("1M", 7086.0)])
        {
            point.setting.rate = rate.into();
            point.setting.range_m = Some(metres);
        }
        let wanted = ["Simulated: 54M has the lowest p99, 19.90 ms.", "It reaches 290 m."];
        assert_eq!(rates.sentences(), wanted);
        let due = SettingsDue { settings: 2, rooms: 20, changes: 0 };
        let cut = PredictAnswer { stopped: true, due, ..rates.clone() };
        assert_eq!(cut.sentences(), [STOPPED]);
        // Nobody can tell rates apart whose intervals overlap.
        rates.points[1].p99.low = Some(19.0);
        rates.points[1].setting.range_is_bounded = true;
        let tied = rates.sentences();
        assert!(tied[0].contains("Both rates tie"), "{tied:?}");
        assert!(
            tied[1].starts_with("One of these reaches 7086 m; nothing is known beyond"),
            "{tied:?}"
        );
        let standings = [RowStanding::Best, RowStanding::Tied];
        assert_eq!(rates.card().rows.iter().map(|it| it.standing).collect::<Vec<_>>(), standings);
        // A rate that loses more than is allowed has no rank, and is behind all that have one.
        rates.limits.loss = Some(0.02);
        rates.points.swap(0, 1);
        let forbidden = rates.card();
        let standings: Vec<_> = forbidden.rows.iter().map(|it| it.standing).collect();
        assert_eq!(standings, [RowStanding::Best, RowStanding::LeftOut]);
        assert!(forbidden.verdict.unwrap().contains("forbids 1 rate"));
        rates.limits.loss = Some(0.001);
        let none = rates.card().verdict.unwrap();
        assert_eq!(none, "Neither rate keeps loss at most 0.1 %.");
    }

    #[test]
    fn a_change_is_recommended_only_where_it_helps() {
        let mut answer = answer(PredictQuestion::Fleet);
        answer.points.remove(0);
        let tried = |rate: &str, devices| ChangeTried {
            change: Change::Rate(rate.into()),
            point: point(devices),
        };
        answer.changes = alloc::vec![tried("2M", 40)];
        let next = |answer: &PredictAnswer| answer.card().next.unwrap();
        assert_eq!(next(&answer), "nothing that was tried clearly loses less (--phy-rate 2M)");
        answer.changes.extend([tried("11M", 20), tried("54M", 10)]);
        assert_eq!(next(&answer), "--phy-rate 54M: loss 1.05 % in place of 4.05 %");
        // One that keeps the limits comes before one that does not, whatever it gains.
        answer.limits = FleetLimits { loss: Some(0.03), p99_ms: Some(25.0) };
        answer.changes[2].point.p99 = Estimate::exact(30.0, 1000);
        answer.changes[1].point.p99 = Estimate::exact(24.0, 1000);
        assert_eq!(
            next(&answer),
            "--phy-rate 11M: loss 2.05 % in place of 4.05 %, and the limits hold"
        );
        let card = answer.card();
        assert_eq!(card.changes.iter().map(|it| it.helps).collect::<Vec<_>>(), [false, true, true]);
        assert!(card.verdict.unwrap().ends_with("p99 at most 25 ms) are broken."));
    }

    #[test]
    fn what_senders_are_told_stands_where_it_was_asked() {
        let mut answer = answer(PredictQuestion::Fleet);
        let find = |answer: &PredictAnswer| {
            let tables = report(&RunFacts::default(), answer).tables;
            tables.into_iter().find(|it| it.id == "predict-acknowledgements")
        };
        assert_eq!(find(&answer), None);
        answer.points.iter_mut().for_each(|it| it.setting.acknowledged = true);
        let table = find(&answer).unwrap();
        assert_eq!(table.rows[0][1].as_deref(), Some("97.90"));
        let figures = report(&RunFacts::default(), &answer).figures;
        assert!(figures[1].series.iter().any(|it| it.name == "p99 until its sender knows"));
        let cells = report(&RunFacts::default(), &answer).cells;
        assert!(cells.iter().any(|it| it.id.metric == "acknowledgement_p99"));
    }

    #[test]
    fn every_table_and_figure_says_that_it_is_simulated() {
        for question in [PredictQuestion::Fleet, PredictQuestion::Rate] {
            let report = report(&RunFacts::default(), &answer(question));
            assert!(!report.tables.is_empty() && report.figures.len() >= 3);
            assert!(report.tables.iter().all(|it| it.full_title().ends_with("(simulated)")));
            assert!(report.figures.iter().all(|it| it.full_title().ends_with("(simulated)")));
            for table in &report.tables {
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            }
        }
    }
}
