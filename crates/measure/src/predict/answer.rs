//! The answer in sentences, the most important first.

use super::card::LeadingFigure;
use super::limit;
use super::limits::FleetLimits;
use super::on_air::RateInForce;
use super::point::PointEstimates;
use super::report::{PredictAnswer, PredictQuestion};
use super::tables::capitalized;
use crate::cell::Origin;
use crate::digits;
use crate::search::fleet::{SearchEnd, Standing};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::speech::FlagValue;
use espbench_model::text::counted;
use espbench_stats::Estimate;

impl PredictAnswer {
    /// Returns the answer in sentences, the most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = match &self.question {
            PredictQuestion::LargestFleet(search) => self.largest_fleet(search),
            PredictQuestion::Fleet => self.fleet(),
            PredictQuestion::Rate | PredictQuestion::Profiles => self.ranking(),
            PredictQuestion::OnAir(force) => self.on_air(force),
            PredictQuestion::Range(wanted) => self.range(wanted),
        };
        for first in self.cannot_give().into_iter().chain(self.beyond_place()) {
            lines.insert(0, first);
        }
        if let Some(first) = lines.first_mut() {
            *first = format!("{}: {first}", capitalized(Origin::Simulated.name()));
        }
        let remedy = self.rate_in_force().and_then(RateInForce::remedy);
        lines.extend(remedy.map(|it| format!("Next: {it}.")));
        for line in lines.iter_mut().skip(1) {
            *line = capitalized(line);
        }
        lines.extend(change_sentence(self).map(|it| format!("Next: {it}.")));
        if let Some(cut) = self.cut_short() {
            lines.insert(0, cut);
        }
        lines
    }

    /// Returns the answer in a sentence, where the figures alone are none.
    pub(super) fn verdict(&self) -> Option<String> {
        let parts =
            [self.beyond_place(), self.cut_short(), self.cannot_give(), self.whole_verdict()];
        let lines: Vec<String> = parts.into_iter().flatten().collect();
        let lines: Vec<String> = lines.iter().map(|it| capitalized(it)).collect();
        (!lines.is_empty()).then(|| lines.join(" "))
    }

    /// Returns the answer of what was simulated.
    fn whole_verdict(&self) -> Option<String> {
        if self.points.is_empty() && self.stopped {
            return None;
        }
        match &self.question {
            PredictQuestion::Fleet => self.kept(),
            PredictQuestion::LargestFleet(search) => {
                let lines = self.largest_fleet(search);
                (!lines.is_empty()).then(|| lines.join(" "))
            }
            PredictQuestion::Rate | PredictQuestion::Profiles => {
                let lines = self.ranking();
                (!lines.is_empty()).then(|| lines.join(" "))
            }
            PredictQuestion::OnAir(force) => Some(self.on_air(force).join(" ")),
            PredictQuestion::Range(wanted) => Some(self.range(wanted).join(" ")),
        }
    }

    /// Returns whether these limits are kept: by each fleet that was asked for, or by some of what was compared or
    /// looked for. None where nothing was found out.
    #[must_use]
    pub fn keeps_limits(&self, limits: &FleetLimits) -> Option<bool> {
        let keeps = |it: &PointEstimates| limits.standing(&it.with_doubts()) <= Standing::MayHold;
        let is_any = !self.points.is_empty();
        match &self.question {
            PredictQuestion::Fleet => is_any.then(|| self.points.iter().all(keeps)),
            PredictQuestion::LargestFleet(search) => {
                let is_found = search.largest.last.is_some();
                let is_known = is_any && (is_found || search.end == SearchEnd::Found);
                is_known.then_some(is_found)
            }
            PredictQuestion::OnAir(_) => self.told().map(keeps),
            PredictQuestion::Rate | PredictQuestion::Profiles => {
                is_any.then(|| self.points.iter().any(keeps))
            }
            PredictQuestion::Range(_) => is_any.then_some(true),
        }
    }

    /// Says whether the fleets keep their limits, where they have some.
    fn kept(&self) -> Option<String> {
        if self.limits == FleetLimits::default() || self.points.is_empty() {
            return None;
        }
        let (text, many) = (self.limits.text(), self.limits.settings().iter().count() > 1);
        let limits = if many { "The limits" } else { "The limit" };
        let is = |one: &str, several: &str| if many { several.to_string() } else { one.into() };
        let doubt = " by the estimates, not by all of their intervals";
        // What is shown beside it has these intervals, too.
        let standing = |it: &PointEstimates| self.limits.standing(&it.with_doubts());
        if let [only] = self.points.as_slice() {
            return Some(match standing(only) {
                Standing::Holds => format!("{limits} ({text}) {}.", is("holds", "hold")),
                Standing::MayHold => format!("{limits} ({text}) {}{doubt}.", is("holds", "hold")),
                Standing::MayFail => {
                    format!("{limits} ({text}) {} broken{doubt}.", is("is", "are"))
                }
                Standing::Fails => format!("{limits} ({text}) {} broken.", is("is", "are")),
            });
        }
        let breaks = |it: &&PointEstimates| standing(it) > Standing::MayHold;
        let broken: Vec<String> =
            (self.points.iter().filter(breaks)).map(|it| it.setting.devices.to_string()).collect();
        Some(match broken.as_slice() {
            [] => format!("{limits} ({text}) {} with each number.", is("holds", "hold")),
            some => {
                format!(
                    "{limits} ({text}) {} broken with {} devices.",
                    is("is", "are"),
                    some.join(", ")
                )
            }
        })
    }

    fn fleet(&self) -> Vec<String> {
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
}

/// Says which change to make next, or that none of those tried helps.
pub(super) fn change_sentence(answer: &PredictAnswer) -> Option<String> {
    if answer.changes.is_empty() || answer.lacks_changes() {
        return None;
    }
    let now = answer.told()?;
    let lead = answer.lead(now);
    let (better, less) = (answer.best_change(false), answer.best_change(true));
    let Some((best, _)) = better.or(less) else {
        let mut tried: Vec<(&str, Vec<String>)> = Vec::new();
        for it in answer.changes.iter().map(|it| &it.change) {
            // Values of one flag stand beside each other.
            match tried.last_mut().filter(|last| last.0 == it.flag()) {
                Some((_, values)) => values.push(it.value()),
                None => tried.push((it.flag(), alloc::vec![it.value()])),
            }
        }
        let tried: Vec<String> = tried
            .into_iter()
            .map(|(flag, values)| FlagValue(flag, values.join("|")).to_string())
            .collect();
        let what = match lead {
            LeadingFigure::Loss => "loses less",
            LeadingFigure::P99 => "lowers the p99",
            LeadingFigure::Current => "saves charge",
        };
        return Some(format!("nothing that was tried clearly {what} ({})", tried.join(", ")));
    };
    let words = best.change.words();
    let figure = |it: &PointEstimates| lead.words(answer, it);
    let name = match lead {
        LeadingFigure::Loss => "loss",
        LeadingFigure::P99 => "p99",
        LeadingFigure::Current if answer.battery.is_some() => "the battery lasts",
        LeadingFigure::Current => "a device draws",
    };
    let kept = match (answer.keeps(now), answer.keeps(&best.point)) {
        (false, true) => ", and the limits hold",
        (false, false) => ", and the limits are still broken",
        _ => "",
    };
    let or = match (better, less) {
        (Some(_), Some((less, _))) => {
            format!("; with {} {}", less.change.words(), figure(&less.point))
        }
        _ => String::new(),
    };
    Some(format!("{words}: {name} {} in place of {}{kept}{or}", figure(&best.point), figure(now)))
}

/// Describes the fate of a point's messages.
pub(super) fn fate(point: &PointEstimates) -> String {
    let lost = digits::estimate(&point.loss.scaled(100.0)).unwrap_or_else(|| "?".into());
    match p99_ms(point) {
        Some(p99) => {
            format!("{lost} % of the messages are lost and 99 % of the rest arrive within {p99}")
        }
        None => format!("{lost} % of the messages are lost"),
    }
}

pub(super) fn milliseconds(estimate: &Estimate) -> Option<String> {
    digits::estimate(estimate).map(|ms| format!("{ms} ms"))
}

/// Returns the 99th percentile of a point's latency in words: where wake times are in doubt, to two digits.
pub(super) fn p99_ms(point: &PointEstimates) -> Option<String> {
    let ms = match point.has_doubted_latency() {
        true => point.p99.value.map(digits::two),
        false => digits::estimate(&point.p99),
    };
    ms.map(|ms| format!("{ms} ms"))
}

/// Prints a number of devices.
#[must_use]
pub fn devices(number: u32) -> String {
    counted(number.into(), "device", "devices").to_string()
}
