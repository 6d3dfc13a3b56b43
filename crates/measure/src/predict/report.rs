//! Predictions as a report.

use super::battery::Battery;
use super::change::ChangeTried;
use super::limits::FleetLimits;
use super::point::PointEstimates;
use super::{figures, tables};
use crate::cell::{Cell, Identity};
use crate::report::{Report, add_run, known};
use crate::run::RunFacts;
use crate::search::fleet::Largest;
use crate::settings::{Setting, Settings};
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Name;

/// Question of a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PredictQuestion {
    /// Loss and latency of one fleet, or by the number of devices.
    Fleet,
    /// The largest fleet that keeps the limits, and what the search has come to.
    LargestFleet(Largest),
    /// The effect of the PHY rate.
    Rate,
}

impl PredictQuestion {
    /// Returns the identity column `table` of the answer's cells.
    #[must_use]
    pub const fn table(&self) -> &'static str {
        match self {
            Self::Fleet => "predict-fleet",
            Self::LargestFleet(_) => "predict-largest-fleet",
            Self::Rate => "predict-rate",
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
    cells.extend(answer.points.iter().flat_map(|it| it.cells(&id, &answer.settings)));
    for cell in &mut cells {
        known(cell);
    }
    add_run(&mut cells, facts);
    Report {
        prediction: Some(answer.card()),
        cells,
        tables: tables::of(answer),
        figures: figures::of(answer),
        ..Report::empty(facts.clone())
    }
}

/// Returns the cell of how long a battery lasts.
fn life_cell(answer: &PredictAnswer, point: &PointEstimates, id: &Identity) -> Option<Cell> {
    let hours = point.energy.as_ref()?.days(answer.battery.as_ref()?).scaled(24.0);
    let id = Identity {
        metric: "battery_life".into(),
        devices: Some(point.setting.devices),
        ..id.clone()
    };
    let mut settings = answer.settings.clone();
    settings.extend(Name::new(&point.setting.rate).map(Setting::PhyRate));
    let cell = hours.into_cell(id, "h", crate::cell::Origin::Simulated);
    Some(Cell { settings, ..cell })
}

fn fleet_cell(answer: &PredictAnswer, id: &Identity) -> Option<Cell> {
    let PredictQuestion::LargestFleet(largest) = &answer.question else { return None };
    let number = |devices: Option<u32>| Some(f64::from(devices.unwrap_or(0)));
    let estimate = crate::cell::Estimate {
        value: number(largest.best),
        n: answer.points.iter().map(|it| it.messages).sum(),
        low: number(largest.surely),
        high: number(largest.at_most).filter(|_| !largest.open),
    };
    let id = Identity { metric: "largest_fleet".into(), ..id.clone() };
    let mut settings = answer.settings.clone();
    settings.extend(answer.limits.settings().iter().cloned());
    let cell = estimate.into_cell(id, "devices", crate::cell::Origin::Simulated);
    Some(Cell { settings, ..cell })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Estimate, Origin};
    use crate::predict::card::RowStanding;
    use crate::predict::change::{Change, ChangeTried};
    use crate::predict::point::OperatingPoint;
    use crate::predict::{ChannelUse, RoomTrial};
    use alloc::format;
    use alloc::string::String;

    const STOPPED: &str = "The sweep was stopped: what was done by then stands here.";

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
            changes: Vec::new(),
            shared: "100 B every 1 s".into(),
            settings: crate::label::read("one every 1 s").unwrap(),
            payload_bytes: 100,
            points: alloc::vec![point(10), point(40)],
            notes: Vec::new(),
            stopped: true,
        }
    }

    #[test]
    fn a_fleet_is_told_with_its_uncertainty() {
        let limits = FleetLimits { loss: Some(0.02), p99_ms: None };
        let largest = Largest { surely: Some(8), best: Some(10), at_most: Some(13), open: false };
        let answer = PredictAnswer {
            stopped: false,
            limits,
            ..answer(PredictQuestion::LargestFleet(largest))
        };
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

    /// Returns the first sentence, where the search has come to that, and to its end.
    fn told(surely: Option<u32>, best: Option<u32>, at_most: Option<u32>, open: bool) -> String {
        let limits = FleetLimits { loss: Some(0.02), p99_ms: Some(5.0) };
        let largest = Largest { surely, best, at_most, open };
        let answer = PredictAnswer { limits, ..answer(PredictQuestion::LargestFleet(largest)) };
        PredictAnswer { stopped: false, ..answer }.sentences().remove(0)
    }

    #[test]
    fn a_search_that_was_stopped_has_no_largest() {
        let limits = FleetLimits { loss: Some(0.5), p99_ms: None };
        let tried = Some(40);
        let largest = Largest { surely: tried, best: tried, at_most: tried, open: false };
        let lines =
            PredictAnswer { limits, ..answer(PredictQuestion::LargestFleet(largest)) }.sentences();
        assert!(lines.last().unwrap().contains("stopped"));
        assert_eq!(
            lines[0],
            "Simulated: of the numbers tried by then, 40 is the largest that keeps loss at most 50 %."
        );
    }

    #[test]
    fn a_fleet_without_a_border_is_told() {
        let keep = "keep loss at most 2 %, p99 at most 5 ms";
        let keeps = keep.replacen("keep", "keeps", 1);
        assert_eq!(
            told(None, None, None, false),
            format!("Simulated: no fleet {keeps}, not even one device.")
        );
        assert_eq!(
            told(None, None, Some(3), false),
            format!(
                "Simulated: by its estimates not even one device {keeps}; the intervals allow 3."
            )
        );
        assert_eq!(
            told(Some(40), Some(40), Some(40), true),
            format!("Simulated: 40 devices {keep}, the most that were allowed.")
        );
        assert_eq!(
            told(None, Some(40), Some(40), true),
            format!(
                "Simulated: 40 devices, the most that were allowed, {keep} by their estimates, \
                 none even by the far ends of the intervals."
            )
        );
        assert_eq!(
            told(Some(1), Some(1), Some(1), false),
            format!("Simulated: the largest fleet that {keeps} has 1 device.")
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
        let wanted = ["Simulated: 54M has the lowest p99, 19.900 ms.", "It reaches 291 m."];
        assert_eq!(rates.sentences(), [wanted[0], wanted[1], STOPPED]);
        // Nobody can tell rates apart whose intervals overlap.
        rates.points[1].p99.low = Some(19.0);
        rates.points[1].setting.range_is_bounded = true;
        let tied = rates.sentences();
        assert!(tied[0].contains("All 2 rates tie"), "{tied:?}");
        assert!(tied[1].starts_with("1 of these reach 7086 m, where the model"), "{tied:?}");
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
        assert_eq!(none, "none of the 2 rates keeps loss at most 0.1 %.");
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
        assert_eq!(next(&answer), "none of --rate 2M loses less by more than chance");
        answer.changes.extend([tried("11M", 20), tried("54M", 10)]);
        assert_eq!(next(&answer), "--rate 54M: loss 1.05 % in place of 4.05 %");
        // One that keeps the limits comes before one that does not, whatever it gains.
        answer.limits = FleetLimits { loss: Some(0.03), p99_ms: Some(25.0) };
        answer.changes[2].point.p99 = Estimate::exact(30.0, 1000);
        answer.changes[1].point.p99 = Estimate::exact(24.0, 1000);
        assert_eq!(
            next(&answer),
            "--rate 11M: loss 2.05 % in place of 4.05 %, and the limits hold"
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
