//! The answer on one card: the verdict, the figures that lead, what limits them, and what to change.

use super::answer::{change_sentence, milliseconds};
use super::change::ChangeTried;
use super::limit;
use super::point::PointEstimates;
use super::report::{PredictAnswer, PredictQuestion};
use crate::cell::Estimate;
use crate::report::GlanceValue;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Question of a prediction, without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    /// One fleet, or several numbers of devices.
    Fleet,
    /// The largest fleet that keeps limits.
    LargestFleet,
    /// PHY rates compared.
    Rate,
}

/// Place of a row among those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowStanding {
    /// Nothing is ranked.
    Unranked,
    /// The best estimate.
    Best,
    /// Its interval overlaps that of the best.
    Tied,
    /// Worse than the best by more than chance.
    Behind,
    /// A limit is broken: it has no place.
    LeftOut,
}

/// The figures of one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionRow {
    /// Devices that send.
    pub devices: u32,
    /// PHY rate.
    pub rate: String,
    /// Messages lost, in percent.
    pub loss_percent: Option<GlanceValue>,
    /// 99th percentile of the latency, in milliseconds.
    pub p99_ms: Option<GlanceValue>,
    /// Time in which somebody sends, in percent.
    pub channel_busy_percent: Option<GlanceValue>,
    /// Distance at which nine in ten frames still arrive, in metres, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_m: Option<f64>,
    /// True where the model of the place ends at that distance: the range is at least so long.
    #[serde(default)]
    pub range_is_bounded: bool,
    /// Place among the rows.
    pub standing: RowStanding,
}

/// The largest share of something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitShare {
    /// Quantity of which it is a share: latency, loss.
    pub of: String,
    /// The part.
    pub part: String,
    /// Share, 0 to 1.
    pub share: f64,
}

/// A change that was tried in the lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeOutcome {
    /// Flag of the command that makes it.
    pub flag: String,
    /// Its value.
    pub to: String,
    /// The figures with it.
    pub figures: PredictionRow,
    /// The limits hold by the estimates.
    pub keeps_limits: bool,
    /// It is better by more than chance.
    pub helps: bool,
}

/// The answer on one card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The question.
    pub question: QuestionKind,
    /// The fleet and its place.
    pub title: String,
    /// The answer in a sentence, where figures alone are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The figures, the most important first.
    pub rows: Vec<PredictionRow>,
    /// The largest share of the latency, and of the loss where it is worth a word.
    pub limited_by: Vec<LimitShare>,
    /// Changes that were tried, each alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeOutcome>,
    /// The change to make next, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Reasons to read the figures with care.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl PredictAnswer {
    /// Returns the answer's card.
    #[must_use]
    pub fn card(&self) -> Prediction {
        let kind = match self.question {
            PredictQuestion::Fleet => QuestionKind::Fleet,
            PredictQuestion::LargestFleet(_) => QuestionKind::LargestFleet,
            PredictQuestion::Rate => QuestionKind::Rate,
        };
        let told = self.told();
        Prediction {
            question: kind,
            title: self.title.clone(),
            verdict: self.verdict(),
            rows: self.rows(),
            limited_by: told.map(limited_by).unwrap_or_default(),
            changes: self.changes.iter().map(|it| self.outcome(it)).collect(),
            next: self.next(),
            warnings: self.warnings(),
        }
    }

    /// Returns the point that is told of: the one, the largest, or the best.
    pub(super) fn told(&self) -> Option<&PointEstimates> {
        match &self.question {
            PredictQuestion::Fleet => self.points.last(),
            PredictQuestion::LargestFleet(largest) => {
                let best = largest.best?;
                self.points.iter().find(|it| it.setting.devices == best)
            }
            PredictQuestion::Rate => {
                let standings = self.standings();
                let best = standings.iter().position(|it| *it == RowStanding::Best)?;
                self.points.get(best)
            }
        }
    }

    /// Returns the place of each point among all: by the 99th percentile of the latency, of those
    /// that keep the limits.
    #[must_use]
    pub fn standings(&self) -> Vec<RowStanding> {
        if self.question != PredictQuestion::Rate {
            return alloc::vec![RowStanding::Unranked; self.points.len()];
        }
        let allowed = |it: &&PointEstimates| it.p99.value.is_some() && self.keeps(it);
        let best = (self.points.iter().filter(allowed))
            .min_by(|a, b| a.p99.value.unwrap_or(0.0).total_cmp(&b.p99.value.unwrap_or(0.0)));
        let standing = |it: &PointEstimates| match best {
            _ if !allowed(&it) => RowStanding::LeftOut,
            Some(best) if best.setting == it.setting => RowStanding::Best,
            Some(best) if overlap(&best.p99, &it.p99) => RowStanding::Tied,
            _ => RowStanding::Behind,
        };
        self.points.iter().map(standing).collect()
    }

    /// Returns whether a point keeps the limits by its estimates.
    pub(super) fn keeps(&self, point: &PointEstimates) -> bool {
        self.limits.broken(point).is_empty()
    }

    /// Returns the rows; those that are ranked in the order of their rank.
    fn rows(&self) -> Vec<PredictionRow> {
        let mut rows: Vec<PredictionRow> = self
            .points
            .iter()
            .zip(self.standings())
            .map(|(it, standing)| row(it, standing))
            .collect();
        if self.question == PredictQuestion::Rate {
            let p99 = |it: &PredictionRow| it.p99_ms.as_ref().map_or(f64::INFINITY, |it| it.value);
            rows.sort_by(|a, b| {
                (a.standing as u8).cmp(&(b.standing as u8)).then(p99(a).total_cmp(&p99(b)))
            });
        }
        rows
    }

    fn outcome(&self, tried: &ChangeTried) -> ChangeOutcome {
        ChangeOutcome {
            flag: tried.change.flag().to_string(),
            to: tried.change.value(),
            figures: row(&tried.point, RowStanding::Unranked),
            keeps_limits: self.keeps(&tried.point),
            helps: self.helps(tried),
        }
    }

    /// Returns whether a change makes the leading figure better by more than chance, and breaks no
    /// limit.
    pub(super) fn helps(&self, tried: &ChangeTried) -> bool {
        let Some(now) = self.told() else { return false };
        let is_lower = |new: &Estimate, old: &Estimate| match (new.value, old.value) {
            (Some(new_value), Some(old_value)) => new_value < old_value && !overlap(new, old),
            _ => false,
        };
        let is_allowed = self.keeps(&tried.point) || !self.keeps(now);
        let loses_more = is_lower(&now.loss, &tried.point.loss);
        let is_better = if self.is_about_loss(now) {
            is_lower(&tried.point.loss, &now.loss)
        } else {
            is_lower(&tried.point.p99, &now.p99) && !loses_more
        };
        is_allowed && is_better
    }

    /// Returns whether loss matters more than latency: its limit is broken, or it is high.
    pub(super) fn is_about_loss(&self, point: &PointEstimates) -> bool {
        let most = self.limits.loss.unwrap_or(MUCH_LOSS);
        point.loss.value.is_some_and(|it| it > most)
    }

    /// Returns the change that helps most, and its share of the leading figure that is left.
    pub(super) fn best_change(&self) -> Option<(&ChangeTried, f64)> {
        let now = self.told()?;
        let about_loss = self.is_about_loss(now);
        let figure = |it: &PointEstimates| if about_loss { it.loss.value } else { it.p99.value };
        let before = figure(now)?;
        let helpful = self.changes.iter().filter(|it| self.helps(it));
        let with_figure = helpful.filter_map(|it| Some((it, figure(&it.point)? / before)));
        // What keeps the limits comes before what only brings nearer to them.
        let breaks = |it: &ChangeTried| !self.keeps(&it.point);
        with_figure.min_by(|a, b| breaks(a.0).cmp(&breaks(b.0)).then(a.1.total_cmp(&b.1)))
    }

    fn next(&self) -> Option<String> {
        change_sentence(self)
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let grows = self.told().is_some_and(|it| it.grows);
        if grows {
            warnings.push(
                "messages take longer and longer: more are due than get through, and no latency \
                 is a steady one"
                    .into(),
            );
        }
        if self.stopped {
            warnings.push("stopped: what was done by then stands here".into());
        }
        warnings
    }
}

/// Loss above this is told before latency, if no limit was given.
const MUCH_LOSS: f64 = 0.01;

/// Returns whether two intervals overlap. An end that the sample cannot give excludes nothing.
#[must_use]
pub fn overlap(a: &Estimate, b: &Estimate) -> bool {
    let low = |it: &Estimate| it.low.unwrap_or(f64::NEG_INFINITY);
    let high = |it: &Estimate| it.high.unwrap_or(f64::INFINITY);
    low(a) <= high(b) && low(b) <= high(a)
}

fn value(estimate: &Estimate) -> Option<GlanceValue> {
    let Estimate { value, low, high, .. } = *estimate;
    value.map(|value| GlanceValue { value, ci_low: low, ci_high: high })
}

fn row(point: &PointEstimates, standing: RowStanding) -> PredictionRow {
    PredictionRow {
        devices: point.setting.devices,
        rate: point.setting.rate.clone(),
        loss_percent: value(&point.loss.scaled(100.0)),
        p99_ms: value(&point.p99),
        channel_busy_percent: value(&point.busy.scaled(100.0)),
        range_m: point.setting.range_m,
        range_is_bounded: point.setting.range_is_bounded,
        standing,
    }
}

fn limited_by(point: &PointEstimates) -> Vec<LimitShare> {
    let share = |of: &str, (part, share): (String, f64)| LimitShare { of: of.into(), part, share };
    let latency = limit::largest_of_time(point).map(|it| share("latency", it));
    let loss = limit::largest_of_loss(point)
        .filter(|_| point.loss.value.is_some_and(|it| it > limit::LITTLE))
        .map(|it| share("loss", it));
    latency.into_iter().chain(loss).collect()
}

impl LimitShare {
    /// Returns the share in words: `waiting for the medium, 47 % of the latency`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}, {:.0} % of the {}", self.part, 100.0 * self.share, self.of)
    }
}

impl PredictionRow {
    /// Returns the range in words: `41 m`, or `30 m or more` where the model ends there.
    #[must_use]
    pub fn range(&self) -> Option<String> {
        let metres = self.range_m?;
        Some(match self.range_is_bounded {
            true => format!("≥ {metres:.0}"),
            false => format!("{metres:.0}"),
        })
    }
}

/// Returns the 99th percentile of a point in words.
pub(super) fn p99(point: &PointEstimates) -> String {
    milliseconds(&point.p99).unwrap_or_else(|| "no latency".into())
}
