//! The answer on one card: the verdict, the figures that lead, what limits them, and what to change.

use super::answer::change_sentence;
use super::battery::Battery;
use super::change::ChangeTried;
use super::energy::ChargePart;
use super::frames::FramesRow;
use super::limit;
use super::on_air::RateInForce;
use super::point::{DistanceRow, PointEstimates};
use super::report::{PredictAnswer, PredictQuestion};
use crate::digits;
use crate::report::GlanceValue;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_stats::Estimate;
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
    /// Which rate is on the air, and what it costs.
    RateInForce,
    /// One long frame or several short ones.
    Frames,
    /// How far messages reach.
    Range,
    /// Profiles of chips compared.
    Profiles,
}

/// Place of a row among those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowStanding {
    /// Nothing is ranked.
    Unranked,
    /// The best estimate.
    Best,
    /// Whether the interval overlaps that of the best.
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
    /// Profile of the devices, where several are compared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// The largest part of what ranks the profiles, with its share: the charge of a battery's device, else the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<LimitShare>,
    /// Parts of the charge that rest on constants of low confidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub little_known: Vec<String>,
    /// Messages lost, in percent.
    pub loss_percent: Option<GlanceValue>,
    /// 99th percentile of the latency, in milliseconds.
    pub p99_ms: Option<GlanceValue>,
    /// True where wake times that are not known well are a part of it: then it is worth two digits.
    #[serde(default)]
    pub p99_is_in_doubt: bool,
    /// Time in which somebody sends, in percent.
    pub channel_busy_percent: Option<GlanceValue>,
    /// Time in which a frame of the devices, a repetition or an acknowledgement of theirs is on the air, in percent:
    /// a part of the above, in which what overlaps counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_busy_percent: Option<f64>,
    /// Life of the battery in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life_days: Option<GlanceValue>,
    /// Range in metres, where that was asked: the distance at which as many messages are lost as is allowed, over
    /// all places so far away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_m: Option<f64>,
    /// Lower end of its interval, at 95 %, by what is not known of the place, the walls and the boards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_low_m: Option<f64>,
    /// Upper end of it; none where it is beyond the model of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_high_m: Option<f64>,
    /// Distance without shadowing and fading: in the middle of all places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_median_m: Option<f64>,
    /// True where the model of the place ends at that distance: what is farther is not known.
    #[serde(default)]
    pub range_is_bounded: bool,
    /// True where the model of the place ends at the distance in the middle of all places.
    #[serde(default)]
    pub range_median_is_bounded: bool,
    /// True where the rate's sensitivity is inferred, and in no datasheet.
    #[serde(default)]
    pub range_is_inferred: bool,
    /// Standing of the rate, where it was asked which one is on the air.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<RateCost>,
    /// Place among the rows.
    pub standing: RowStanding,
    /// True of one that ties by a wider interval than that of a row with a better estimate, which is behind.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_less_certain: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A rate's part in an answer about the one on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateRole {
    /// The rate is on the air, and ESP-NOW's default.
    OnAirByDefault,
    /// The rate is on the air.
    OnAir,
    /// ESP-NOW's default, which is not on the air.
    Default,
    /// The rate was asked for, and is not on the air.
    Wanted,
}

impl RateRole {
    /// Returns the role in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnAirByDefault => "on the air (default)",
            Self::OnAir => "on the air",
            Self::Default => "default",
            Self::Wanted => "not in force",
        }
    }
}

/// The cost of a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateCost {
    /// The rate's part.
    pub role: RateRole,
    /// Time of one frame on the air, in microseconds.
    pub air_us: f64,
    /// Time for which the devices' frames are on the air, in percent.
    pub own_air_percent: Option<GlanceValue>,
    /// Time of a message and an answer as long, in milliseconds.
    pub round_trip_ms: Option<GlanceValue>,
    /// Payload that one device gets through when it always sends, in Mbit/s.
    pub throughput_mbit_s: Option<GlanceValue>,
    /// Charge that a message's frames take on the air, in microcoulombs.
    pub charge_uc: Option<GlanceValue>,
}

/// The largest share of something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitShare {
    /// Quantity of which it is a share: charge, latency, loss.
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
    /// Value of the flag.
    pub to: String,
    /// Value of the flag in milliseconds, where it is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<f64>,
    /// The figures with it.
    pub figures: PredictionRow,
    /// The limits hold by the estimates.
    pub keeps_limits: bool,
    /// Whether the figure is better by more than chance.
    pub helps: bool,
    /// Place among those that help, from 1; what asks less of the fleet comes last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
}

/// A part of a device's charge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyShare {
    /// The part: wake, boot, radio on, send, retries, sleep; of a battery also converter or regulator, and
    /// self-discharge.
    pub part: String,
    /// Time of one message, in milliseconds; of sleep, until the next message.
    pub message_ms: f64,
    /// Charge of one message, in millicoulombs: that of the battery, where there is one.
    pub message_mc: f64,
    /// Charge of a day, in mAh.
    pub day_mah: f64,
    /// Share of the charge, 0 to 1.
    pub share: f64,
}

/// The charge of a device, and what it goes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyBudget {
    /// Mean current of a device at the chip's supply, in milliamperes.
    pub mean_ma: Option<GlanceValue>,
    /// The battery with its regulator, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub battery: Option<String>,
    /// Life of the battery in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life_days: Option<GlanceValue>,
    /// Life of the battery of the device that draws more than 19 in 20, in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weakest_days: Option<f64>,
    /// Parts of the charge, in the order of a cycle.
    pub parts: Vec<EnergyShare>,
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
    /// Delivery of messages by distance, at the rate that reaches farthest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<DistanceRow>,
    /// One long frame or several short ones, by distance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FramesRow>,
    /// The charge of a device and what it goes to, where devices sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyBudget>,
    /// The largest share of the charge and of the latency, and of the loss where it is worth a word.
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
            PredictQuestion::OnAir(_) => QuestionKind::RateInForce,
            PredictQuestion::Range(_) => QuestionKind::Range,
            PredictQuestion::Profiles => QuestionKind::Profiles,
        };
        let told = self.told();
        // Each profile has its own limit and its own doubts, which stand in its row.
        let only = told.filter(|_| kind != QuestionKind::Profiles);
        Prediction {
            question: kind,
            title: self.title.clone(),
            verdict: self.verdict(),
            rows: self.rows(),
            distances: self
                .points
                .first()
                .map(|it| it.setting.distances.clone())
                .unwrap_or_default(),
            frames: Vec::new(),
            energy: only.and_then(|it| self.budget(it)),
            limited_by: only.map(|it| self.limited_by(it)).unwrap_or_default(),
            changes: self.outcomes(),
            next: self.next(),
            warnings: self.warnings(),
        }
    }

    /// Returns what limits a point; of several fleets with how many devices it is.
    fn limited_by(&self, point: &PointEstimates) -> Vec<LimitShare> {
        let loss = limit::share_of_loss(point)
            .filter(|_| point.loss.value.is_some_and(|it| it > limit::LITTLE));
        let charge = limit::share_of_charge(point, self.battery.as_ref());
        let all = charge.into_iter().chain(limit::share_of_latency(point)).chain(loss);
        let is_of_several =
            self.points.iter().any(|it| it.setting.devices != point.setting.devices);
        let place = match is_of_several {
            true => format!(" with {} devices", point.setting.devices),
            false => String::new(),
        };
        all.map(|it| LimitShare { of: format!("{}{place}", it.of), ..it }).collect()
    }

    /// Returns the point that is told of: the one, the largest, or the best.
    pub(super) fn told(&self) -> Option<&PointEstimates> {
        match &self.question {
            PredictQuestion::Fleet => self.points.last(),
            PredictQuestion::LargestFleet(search) => {
                // Where nothing holds, the smallest shows why.
                let is_best = |it: &&PointEstimates| {
                    search.largest.best.is_none_or(|n| it.setting.devices == n)
                };
                self.points.iter().find(is_best)
            }
            PredictQuestion::Range(_) => None,
            PredictQuestion::OnAir(force) => {
                let name = force.on_air.to_string();
                self.points.iter().find(|it| it.setting.rate == name)
            }
            PredictQuestion::Rate | PredictQuestion::Profiles => {
                let standings = self.standings();
                let best = standings.iter().position(|it| *it == RowStanding::Best)?;
                self.points.get(best)
            }
        }
    }

    /// Returns whether a point keeps the limits by its estimates.
    pub(super) fn keeps(&self, point: &PointEstimates) -> bool {
        self.limits.broken(point).is_empty()
    }

    pub(super) fn row(&self, point: &PointEstimates, standing: RowStanding) -> PredictionRow {
        let (shown, is_in_doubt) = (point.with_doubts(), point.has_doubted_latency());
        let latency = |it: &Estimate| match is_in_doubt {
            true => value(it).map(|it| rounded(it, 2)),
            false => value(it),
        };
        let two = |it: f64| digits::significant(it, 2);
        PredictionRow {
            devices: point.setting.devices,
            rate: point.setting.rate.clone(),
            profile: point.setting.profile.clone(),
            limited_by: self.limits_rank(point),
            little_known: self.little_known(point),
            loss_percent: value(&point.loss.scaled(100.0)),
            p99_ms: latency(&shown.p99),
            p99_is_in_doubt: is_in_doubt,
            channel_busy_percent: value(&point.busy.scaled(100.0)).map(|it| rounded(it, 4)),
            own_busy_percent: point.busy.value.map(|_| digits::six(100.0 * point.own_busy)),
            life_days: self.life(point),
            range_m: point.setting.range_m,
            range_low_m: point.setting.range_low_m.map(two),
            range_high_m: point.setting.range_high_m.map(two),
            range_is_bounded: point.setting.range_is_bounded,
            range_median_m: point.setting.range_median_m,
            range_median_is_bounded: point.setting.range_median_is_bounded,
            range_is_inferred: point.setting.is_inferred,
            cost: self.rate_in_force().map(|force| RateCost {
                role: force.role(&point.setting.rate),
                air_us: point.setting.air_us,
                own_air_percent: value(&point.sent_share.scaled(100.0)),
                round_trip_ms: latency(&shown.round_trip_ms()),
                throughput_mbit_s: point.setting.throughput.as_ref().and_then(value),
                charge_uc: value(&point.charge_uc()),
            }),
            standing,
            is_less_certain: false,
        }
    }

    /// Returns how long the battery lasts at a point.
    fn life(&self, point: &PointEstimates) -> Option<GlanceValue> {
        let days = point.energy.as_ref()?.days(self.battery.as_ref()?);
        value(&days).map(|it| rounded(it, 2))
    }

    /// Returns what the charge of a device goes to.
    fn budget(&self, point: &PointEstimates) -> Option<EnergyBudget> {
        let energy = point.energy.as_ref()?;
        let mean_ma = energy.mean_ma.value.unwrap_or_default();
        let drain = self.battery.as_ref().map(|it| it.drain(mean_ma));
        let all_ma = drain.map_or(mean_ma, |it| it.chip_ma + it.regulator_ma + it.self_ma);
        let share = |part: ChargePart| EnergyShare {
            part: part.name.into(),
            message_ms: part.message_ms,
            message_mc: part.message_mc,
            day_mah: 24.0 * all_ma * part.share,
            share: part.share,
        };
        Some(EnergyBudget {
            mean_ma: value(&energy.current()).map(|it| rounded(it, 2)),
            battery: self.battery.as_ref().map(Battery::words),
            life_days: self.life(point),
            weakest_days: self.battery.as_ref().map(|it| it.days(energy.most_ma)),
            parts: energy.parts(self.battery.as_ref()).into_iter().map(share).collect(),
        })
    }

    /// Returns what became of each change, in the order in which they were tried.
    fn outcomes(&self) -> Vec<ChangeOutcome> {
        let mut outcomes: Vec<ChangeOutcome> =
            self.changes.iter().map(|it| self.outcome(it)).collect();
        let asks =
            |asks_less: bool| self.helpful(asks_less).into_iter().map(|(it, _)| it.change.words());
        for (place, words) in asks(false).chain(asks(true)).enumerate() {
            let same = |it: &(&mut ChangeOutcome, &ChangeTried)| it.1.change.words() == words;
            if let Some((outcome, _)) = outcomes.iter_mut().zip(&self.changes).find(same) {
                outcome.place = Some(place + 1);
            }
        }
        outcomes
    }

    fn outcome(&self, tried: &ChangeTried) -> ChangeOutcome {
        ChangeOutcome {
            flag: tried.change.flag().to_string(),
            to: tried.change.value(),
            to_ms: tried.change.value_ms(),
            figures: self.row(&tried.point, RowStanding::Unranked),
            keeps_limits: self.keeps(&tried.point),
            helps: self.helps(tried),
            place: None,
        }
    }

    /// Returns whether a change makes the leading figure visibly better, by more than chance, and breaks no limit.
    pub(super) fn helps(&self, tried: &ChangeTried) -> bool {
        let Some(now) = self.told() else { return false };
        let is_lower = |new: &Estimate, old: &Estimate| match (new.value, old.value) {
            (Some(new_value), Some(old_value)) => new_value < old_value && !overlap(new, old),
            _ => false,
        };
        let is_allowed = self.keeps(&tried.point) || !self.keeps(now);
        let loses_more = is_lower(&now.loss, &tried.point.loss);
        let lead = self.lead(now);
        let is_better = is_lower(&lead.of(&tried.point), &lead.of(now))
            && lead.words(self, &tried.point) != lead.words(self, now);
        // The rooms of both are the same, and their charge is far less known than the rooms' chance shows.
        let saves = |new: f64, old: f64| new <= (1.0 - SAVES) * old;
        let is_worth = lead != LeadingFigure::Current
            || (lead.of(&tried.point).value.zip(lead.of(now).value))
                .is_some_and(|(new, old)| saves(new, old));
        is_allowed && is_better && is_worth && (lead == LeadingFigure::Loss || !loses_more)
    }

    /// Returns the figure that a change is to make better: what breaks a limit, else the charge of a
    /// battery, else the latency.
    pub(super) fn lead(&self, now: &PointEstimates) -> LeadingFigure {
        let broken = self.limits.broken(now);
        if self.is_about_loss(now) {
            LeadingFigure::Loss
        } else if broken.is_empty() && now.energy.is_some() {
            LeadingFigure::Current
        } else {
            LeadingFigure::P99
        }
    }

    /// Returns whether loss matters more than latency: its limit is broken, or it is high.
    pub(super) fn is_about_loss(&self, point: &PointEstimates) -> bool {
        let most = self.limits.loss.unwrap_or(MUCH_LOSS);
        point.loss.value.is_some_and(|it| it > most)
    }

    /// Returns the change that helps most, of those that ask less of the fleet or of the others, and its share of the leading figure that is left.
    pub(super) fn best_change(&self, asks_less: bool) -> Option<(&ChangeTried, f64)> {
        self.helpful(asks_less).into_iter().next()
    }

    /// Returns the changes that help, of those that ask less of the fleet or of the others: the one that helps most first.
    fn helpful(&self, asks_less: bool) -> Vec<(&ChangeTried, f64)> {
        let Some(now) = self.told().filter(|_| !self.lacks_changes()) else { return Vec::new() };
        let lead = self.lead(now);
        let figure = |it: &PointEstimates| lead.of(it).value;
        let Some(before) = figure(now) else { return Vec::new() };
        let helpful =
            self.changes.iter().filter(|it| it.change.asks_less() == asks_less && self.helps(it));
        let mut all: Vec<_> =
            helpful.filter_map(|it| Some((it, figure(&it.point)? / before))).collect();
        // What keeps the limits comes before what only brings nearer to them.
        let breaks = |it: &ChangeTried| !self.keeps(&it.point);
        all.sort_by(|a, b| breaks(a.0).cmp(&breaks(b.0)).then(a.1.total_cmp(&b.1)));
        all
    }

    fn next(&self) -> Option<String> {
        let remedy = self.rate_in_force().and_then(RateInForce::remedy);
        remedy.or_else(|| change_sentence(self))
    }

    /// Returns what is known least of the charge, in sentences.
    pub(super) fn doubts(&self) -> Vec<String> {
        if self.question == PredictQuestion::Profiles {
            return Vec::new();
        }
        let energy = self.told().and_then(|it| it.energy.as_ref());
        energy.map(|it| it.remarks().into_iter().map(String::from).collect()).unwrap_or_default()
    }

    /// Says that the battery cannot give what the chip draws while it sends: then its life is of no use.
    pub(super) fn cannot_give(&self) -> Option<String> {
        if self.question == PredictQuestion::Profiles {
            return self.profiles_without_pulses();
        }
        self.battery.as_ref()?.warning(self.peak_ma?).map(|it| format!("{it}."))
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.told().is_some_and(|it| it.grows) {
            warnings.push(
                "messages take longer and longer: more are due than get through, and no latency \
                 is a steady one"
                    .into(),
            );
        }
        warnings.extend(self.remarks.iter().cloned());
        warnings.extend(self.doubts());
        warnings
    }
}

/// The figure that a change is to make better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeadingFigure {
    /// Share of messages lost.
    Loss,
    /// 99th percentile of the latency.
    P99,
    /// Mean current.
    Current,
}

impl LeadingFigure {
    /// Returns the figure of a point.
    fn of(self, point: &PointEstimates) -> Estimate {
        match self {
            Self::Loss => point.loss,
            Self::P99 => point.p99,
            Self::Current => point.energy.as_ref().map(|it| it.mean_ma).unwrap_or_default(),
        }
    }
}

/// Part of the charge that a change saves at least: less is little beside what is not known of the constants.
const SAVES: f64 = 0.1;

/// Loss above this is told before latency, if no limit was given.
const MUCH_LOSS: f64 = 0.01;

/// Returns whether two intervals overlap. An end that the sample cannot give excludes nothing.
#[must_use]
pub fn overlap(a: &Estimate, b: &Estimate) -> bool {
    let low = |it: &Estimate| it.low.unwrap_or(f64::NEG_INFINITY);
    let high = |it: &Estimate| it.high.unwrap_or(f64::INFINITY);
    low(a) <= high(b) && low(b) <= high(a)
}

pub(super) fn value(estimate: &Estimate) -> Option<GlanceValue> {
    let Estimate { value, low, high, .. } = *estimate;
    value.map(|value| GlanceValue { value, ci_low: low, ci_high: high, fitted: false, of: None })
}

/// Returns a value and its interval to so many significant digits.
fn rounded(it: GlanceValue, to: usize) -> GlanceValue {
    let round = |value| digits::significant(value, to);
    GlanceValue {
        value: round(it.value),
        ci_low: it.ci_low.map(round),
        ci_high: it.ci_high.map(round),
        ..it
    }
}
