//! The answer in sentences, the most important first.

use super::limit;
use super::limits::FleetLimits;
use super::point::PointEstimates;
use super::report::{PredictAnswer, PredictQuestion};
use super::tables::capitalized;
use crate::cell::{Estimate, Origin};
use crate::digits;
use crate::search::fleet::Largest;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A rate whose p99 is at most so many times the lowest is as good as that one, nearly.
const NEARLY: f64 = 1.25;

impl PredictAnswer {
    /// Returns the answer in sentences, the most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = match &self.question {
            PredictQuestion::Fleet(limits, largest) => self.fleet(limits, largest),
            PredictQuestion::Nodes => self.nodes(),
            PredictQuestion::Phy => self.phy(),
        };
        if let Some(first) = lines.first_mut() {
            *first = format!("{}: {first}", capitalized(Origin::Simulated.name()));
        }
        if self.stopped {
            lines.push("The sweep was stopped: what was done by then stands here.".into());
        }
        lines
    }

    fn nodes(&self) -> Vec<String> {
        let [first, rest @ ..] = self.points.as_slice() else { return Vec::new() };
        let worst = rest.last().unwrap_or(first);
        let with = |it: &PointEstimates| format!("with {}", devices(it.setting.devices));
        let mut line = format!("{} {}", with(first), fate(first));
        if !rest.is_empty() {
            line = format!("{line}; {} {}", with(worst), fate(worst));
        }
        let mut lines = alloc::vec![format!("{line}.")];
        if let Some(full) = self.points.iter().find(|it| it.grows) {
            lines.push(format!(
                "From {} on messages take longer and longer: more are due than get through.",
                devices(full.setting.devices)
            ));
        }
        let advice = limit::advice(worst, false);
        lines.extend(advice.map(|it| format!("{}: {it}", capitalized(&with(worst)))));
        lines
    }

    fn phy(&self) -> Vec<String> {
        let p99 = |it: &PointEstimates| it.p99.value;
        let known = || self.points.iter().filter_map(|it| Some((it, p99(it)?)));
        let Some((best, lowest)) = known().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return alloc::vec!["nothing arrives at any of these rates.".into()];
        };
        let within = |it: &PointEstimates| {
            let ms = milliseconds(&it.p99).unwrap_or_default();
            format!("{ms} at {}", it.setting.rate)
        };
        let worst = known().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(best, |it| it.0);
        let with = devices(best.setting.devices);
        let line = match best.setting.rate == worst.setting.rate {
            true => format!("with {with} 99 % of what arrives does so within {}.", within(best)),
            false => format!(
                "with {with} 99 % of what arrives does so within {}, the best of these rates, and \
                 within {}, the worst.",
                within(best),
                within(worst)
            ),
        };
        let mut lines = alloc::vec![line];
        let good = known().filter(|it| it.1 <= NEARLY * lowest);
        let reach = good.filter_map(|it| Some((it.0, it.0.setting.range_m?)));
        if let Some((rate, metres)) = reach.max_by(|a, b| a.1.total_cmp(&b.1)) {
            lines.push(format!(
                "Of the rates that are within {:.0} % of the best, {} reaches farthest: {metres:.0} m.",
                100.0 * (NEARLY - 1.0),
                rate.setting.rate
            ));
        }
        lines
    }

    fn fleet(&self, limits: &FleetLimits, largest: &Largest) -> Vec<String> {
        let text = limits.text();
        let (surely, most) = (largest.surely.unwrap_or(0), largest.at_most.unwrap_or(0));
        let first = match largest.best {
            _ if self.points.is_empty() => return Vec::new(),
            None if most == 0 => format!("no fleet keeps {text}, not even one device."),
            None => format!(
                "by its estimates not even one device keeps {text}; the intervals allow {most}."
            ),
            Some(best) if self.stopped => {
                format!("of the numbers tried by then, {best} is the largest that keeps {text}.")
            }
            Some(best) if largest.open && surely == best => {
                format!("{} keep {text}, the most that were allowed.", devices(best))
            }
            Some(best) if largest.open => format!(
                "{}, the most that were allowed, keep {text} by their estimates, {} even by the far \
                 ends of the intervals.",
                devices(best),
                if surely == 0 { "none".into() } else { surely.to_string() }
            ),
            Some(best) if surely == best && most == best => {
                format!("the largest fleet that keeps {text} has {}.", devices(best))
            }
            Some(best) => format!(
                "the largest fleet that keeps {text} has {}; the intervals allow from {surely} to \
                 {most}.",
                devices(best)
            ),
        };
        let mut above =
            self.points.iter().filter(|it| largest.best.is_none_or(|n| it.setting.devices > n));
        let beyond = above.next().and_then(|it| beyond(limits, it));
        [Some(first), beyond].into_iter().flatten().collect()
    }
}

fn beyond(limits: &FleetLimits, point: &PointEstimates) -> Option<String> {
    let broken = limits.broken(point);
    if broken.is_empty() {
        return None;
    }
    let with = devices(point.setting.devices);
    let loss = broken.contains(&"loss");
    let why = limit::advice(point, loss).map(|why| format!(" {why}")).unwrap_or_default();
    Some(format!(
        "With {with} the limit of {} is broken: {}.{why}",
        broken.join(" and "),
        fate(point)
    ))
}

/// Describes the fate of a point's messages.
fn fate(point: &PointEstimates) -> String {
    let lost = digits::estimate(&point.loss.scaled(100.0)).unwrap_or_else(|| "?".into());
    match milliseconds(&point.p99) {
        Some(p99) => {
            format!("{lost} % of the messages are lost and 99 % of the rest arrive within {p99}")
        }
        None => format!("{lost} % of the messages are lost"),
    }
}

fn milliseconds(estimate: &Estimate) -> Option<String> {
    digits::estimate(estimate).map(|ms| format!("{ms} ms"))
}

/// Prints a number of devices.
#[must_use]
pub fn devices(number: u32) -> String {
    if number == 1 { "1 device".into() } else { format!("{number} devices") }
}
