//! Predictions as a report.

use super::limits::Limits;
use super::point::Point;
use super::{figures, limit, tables};
use crate::cell::{Cell, Identity};
use crate::report::{Report, SCHEMA, known};
use crate::run::RunFacts;
use crate::search::fleet::Largest;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// Loss and latency by the number of devices.
    Nodes,
    /// The largest fleet that keeps limits, and what the search has come to.
    Fleet(Limits, Largest),
    /// The effect of the PHY rate.
    Phy,
}

impl Question {
    /// The identity column `table` of its cells.
    #[must_use]
    pub const fn table(&self) -> &'static str {
        match self {
            Self::Nodes => "predict-nodes",
            Self::Fleet(..) => "predict-fleet",
            Self::Phy => "predict-phy",
        }
    }
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub question: Question,
    /// What all settings share, in words: payload, how often, how sent.
    pub shared: String,
    /// Payload in bytes.
    pub payload_bytes: u32,
    /// The settings, in order.
    pub points: Vec<Point>,
    /// What is known of the lab that matters for reading the figures, in sentences.
    pub notes: Vec<String>,
    /// The sweep was stopped before its end.
    pub stopped: bool,
}

impl Answer {
    /// The answer in sentences, the most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Question::Fleet(limits, largest) = &self.question {
            lines.push(fleet(limits, largest));
            let broken = largest.best.and_then(|best| {
                let above = self.points.iter().filter(|it| it.setting.devices > best);
                above.min_by_key(|it| it.setting.devices)
            });
            lines.extend(broken.and_then(|point| beyond(limits, point)));
        } else if let Some(worst) = self.points.last().filter(|_| self.question == Question::Nodes)
        {
            lines.extend(
                limit::advice(worst)
                    .map(|advice| format!("With {} devices: {advice}", worst.setting.devices)),
            );
        }
        if self.stopped {
            lines.push("The sweep was stopped: what was done by then stands here.".into());
        }
        lines
    }
}

/// `Largest fleet: 36 devices (between 34 and 38).`
fn fleet(limits: &Limits, largest: &Largest) -> String {
    let limits = limits.text();
    let number = |devices: Option<u32>| devices.map_or_else(|| "none".into(), |n| n.to_string());
    match largest.best {
        None => format!("No fleet that was tried keeps {limits}."),
        Some(best) if largest.open => {
            format!("Simulated: {limits} is kept by {best} devices, the most that were allowed.")
        }
        Some(best) => format!(
            "Simulated: the largest fleet that keeps {limits} has {best} devices; the intervals \
             allow from {} to {}.",
            number(largest.surely),
            number(largest.at_most),
        ),
    }
}

fn beyond(limits: &Limits, point: &Point) -> Option<String> {
    let broken = limits.broken(point);
    if broken.is_empty() {
        return None;
    }
    let why = limit::advice(point)?;
    let devices = point.setting.devices;
    Some(format!("With {devices} it breaks the limit of {}: {why}", broken.join(" and ")))
}

/// The report of an answer: a pure function of it and the facts.
#[must_use]
pub fn report(facts: &RunFacts, answer: &Answer) -> Report {
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
    cells.extend(answer.points.iter().flat_map(|it| it.cells(&id, &answer.shared)));
    for cell in &mut cells {
        cell.source = Some(facts.name.clone());
        known(cell);
    }
    Report {
        schema: SCHEMA.into(),
        run: facts.clone(),
        incomplete: false,
        cells,
        comparisons: Vec::new(),
        tables: tables::of(answer),
        figures: figures::of(answer),
        occupancy: Vec::new(),
        timelines: Vec::new(),
        losses: Vec::new(),
        warnings: Vec::new(),
        checks: Vec::new(),
        failures: Vec::new(),
        truth: None,
        overhead: None,
        stored: None,
    }
}

fn fleet_cell(answer: &Answer, id: &Identity) -> Option<Cell> {
    let Question::Fleet(limits, largest) = &answer.question else { return None };
    let number = |devices: Option<u32>| devices.map(f64::from);
    let estimate = crate::cell::Estimate {
        value: Some(f64::from(largest.best.unwrap_or(0))),
        n: answer.points.iter().map(|it| it.messages).sum(),
        low: Some(number(largest.surely).unwrap_or(0.0)),
        high: number(largest.at_most).filter(|_| !largest.open),
    };
    let id = Identity { metric: "largest_fleet".into(), ..id.clone() };
    let variant = Some(format!("{}, {}", limits.text(), answer.shared));
    let cell = estimate.into_cell(id, "devices", crate::cell::Origin::Simulated);
    Some(Cell { variant, ..cell })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::predict::point::Setting;
    use crate::predict::{Air, Trial};

    /// Two rooms of so many devices, whose messages take longer the more there are.
    fn point(devices: u32) -> Point {
        let trial = |lost: u64| Trial {
            messages: 1000,
            lost: [(espbench_proto::sample::Cause::Collision, lost)].into(),
            latency_ms: (lost..1000).map(|i| f64::from(devices) + i as f64 * 0.01).collect(),
            stages_ns: [0, 1, 2, 3, 4, 5],
            air: Air { window_ns: 10_000_000_000, busy_ns: 1_000_000_000, ..Air::default() },
        };
        let lost = u64::from(devices);
        let setting = Setting { devices, rate: "1M".into(), kbit_s: 1000, ..Setting::default() };
        Point::of(setting, &[trial(lost), trial(lost + 1)])
    }

    fn answer(question: Question) -> Answer {
        Answer {
            question,
            shared: "100 B every 1 s".into(),
            payload_bytes: 100,
            points: alloc::vec![point(10), point(40)],
            notes: Vec::new(),
            stopped: true,
        }
    }

    #[test]
    fn a_fleet_is_told_with_its_uncertainty() {
        let limits = Limits { loss: Some(0.02), p99_ms: None };
        let largest = Largest { surely: Some(8), best: Some(10), at_most: Some(13), open: false };
        let answer = answer(Question::Fleet(limits, largest));
        let lines = answer.sentences();
        assert_eq!(
            lines[0],
            "Simulated: the largest fleet that keeps loss at most 2 % has 10 devices; the \
             intervals allow from 8 to 13."
        );
        assert!(lines[1].starts_with("With 40 it breaks the limit of loss: Loss is by collisions"));
        assert!(lines[2].contains("stopped"));
        let report = report(&RunFacts::default(), &answer);
        let cell = &report.cells[0];
        assert_eq!(cell.id.metric, "largest_fleet");
        assert_eq!((cell.value, cell.ci_low, cell.ci_high), (Some(10.0), Some(8.0), Some(13.0)));
        assert!(report.cells.iter().all(|cell| cell.origin == Origin::Simulated));
    }

    #[test]
    fn every_table_and_figure_says_that_it_is_simulated() {
        for question in [Question::Nodes, Question::Phy] {
            let report = report(&RunFacts::default(), &answer(question));
            assert!(!report.tables.is_empty() && report.figures.len() >= 3);
            assert!(report.tables.iter().all(|it| it.title.ends_with("(simulated)")));
            assert!(report.figures.iter().all(|it| it.title.ends_with("(simulated)")));
            for table in &report.tables {
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            }
        }
    }
}
