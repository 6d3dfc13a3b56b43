//! Order of rates and of profiles, and the answer which is the best.

use super::card::{LimitShare, PredictionRow, RowStanding, overlap};
use super::limit;
use super::point::PointEstimates;
use super::range::{metres_of, range_words};
use super::report::{PredictAnswer, PredictQuestion};
use super::tables::capitalized;
use super::words::p99;
use crate::digits;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::text::count;
use espbench_stats::Estimate;

/// Rates and profiles that are named one by one where they tie; of more their number is told.
const NAMED: usize = 6;

impl PredictAnswer {
    /// Returns whether the points are ranked: rates and profiles are.
    pub(super) const fn is_ranked(&self) -> bool {
        matches!(self.question, PredictQuestion::Rate | PredictQuestion::Profiles)
    }

    /// Returns whether a battery's charge ranks the points.
    pub(super) const fn ranks_charge(&self) -> bool {
        matches!(self.question, PredictQuestion::Profiles) && self.battery.is_some()
    }

    /// Returns the figure by which a point is ranked, of which less is better. What is not known of a profile's constants
    /// is a part of its interval; rates of one profile share it.
    pub(super) fn rank(&self, point: &PointEstimates) -> Estimate {
        match &point.energy {
            Some(energy) if self.ranks_charge() => energy.current(),
            _ if self.question == PredictQuestion::Profiles => point.with_doubts().p99,
            _ => point.p99,
        }
    }

    /// Returns the place of each point among all: by the 99th percentile of the latency or the charge, of those
    /// that keep the limits.
    #[must_use]
    pub fn standings(&self) -> Vec<RowStanding> {
        if let PredictQuestion::LargestFleet(search) = &self.question {
            let is_best = |it: &PointEstimates| Some(it.setting.devices) == search.largest.best;
            let standing = |it| match is_best(it) {
                true => RowStanding::Best,
                false => RowStanding::Unranked,
            };
            return self.points.iter().map(standing).collect();
        }
        if let PredictQuestion::Range(wanted) = &self.question {
            let standing = |it| match wanted.is_reached(it) {
                Some(true) => RowStanding::Unranked,
                Some(false) | None => RowStanding::LeftOut,
            };
            return self.points.iter().map(standing).collect();
        }
        if !self.is_ranked() || self.lacks_rooms() {
            return alloc::vec![RowStanding::Unranked; self.points.len()];
        }
        let allowed = |it: &&PointEstimates| {
            it.p99.value.is_some() && self.keeps(it) && !self.lacks_pulses(it)
        };
        let rank = |it: &PointEstimates| self.rank(it).value.unwrap_or(0.0);
        let best = (self.points.iter().filter(allowed)).min_by(|a, b| rank(a).total_cmp(&rank(b)));
        let standing = |it: &PointEstimates| match best {
            _ if !allowed(&it) => RowStanding::LeftOut,
            Some(best) if best.setting == it.setting => RowStanding::Best,
            Some(best) if overlap(&self.rank(best), &self.rank(it)) => RowStanding::Tied,
            _ => RowStanding::Behind,
        };
        self.points.iter().map(standing).collect()
    }

    /// Returns the points with their places; those that are ranked in the order of what ranks them, and behind them
    /// those without a place.
    pub(super) fn ranked(&self) -> Vec<(&PointEstimates, RowStanding)> {
        let mut all: Vec<_> = self.points.iter().zip(self.standings()).collect();
        if self.is_ranked() {
            let rank = |it: &PointEstimates| self.rank(it).value.unwrap_or(f64::INFINITY);
            let is_out = |it: RowStanding| it == RowStanding::LeftOut;
            all.sort_by(|a, b| {
                is_out(a.1).cmp(&is_out(b.1)).then_with(|| rank(a.0).total_cmp(&rank(b.0)))
            });
        }
        all
    }

    /// Returns the rows in that order.
    pub(super) fn rows(&self) -> Vec<PredictionRow> {
        let mut has_behind = false;
        let row = |(it, standing)| {
            has_behind |= standing == RowStanding::Behind;
            let is_less_certain = has_behind && standing == RowStanding::Tied;
            PredictionRow { is_less_certain, ..self.row(it, standing) }
        };
        self.ranked().into_iter().map(row).collect()
    }

    /// Returns whether the battery cannot give what a profile's chip draws while it sends.
    fn lacks_pulses(&self, point: &PointEstimates) -> bool {
        let battery = self.battery.as_ref().zip(point.setting.peak_ma);
        battery.is_some_and(|(battery, peak_ma)| battery.warning(peak_ma).is_some())
    }

    /// Says of which profiles the battery cannot give the pulses: they have no place.
    pub(super) fn profiles_without_pulses(&self) -> Option<String> {
        let without: Vec<&str> =
            self.points.iter().filter(|it| self.lacks_pulses(it)).map(|it| self.name(it)).collect();
        let battery = self.battery.as_ref().filter(|_| !without.is_empty())?;
        Some(format!(
            "{} cannot give the pulses of {} while they send: put a large capacitor beside it, or take another battery.",
            battery.name,
            without.join(", ")
        ))
    }

    /// Returns the largest part of what ranks a profile.
    pub(super) fn limits_rank(&self, point: &PointEstimates) -> Option<LimitShare> {
        if self.question != PredictQuestion::Profiles {
            return None;
        }
        let charge = || limit::share_of_charge(point, self.battery.as_ref());
        if self.ranks_charge() { charge() } else { limit::share_of_latency(point) }
    }

    /// Returns the parts of a profile's charge that rest on constants of low confidence, where they matter.
    pub(super) fn little_known(&self, point: &PointEstimates) -> Vec<String> {
        let energy = point.energy.as_ref().filter(|_| self.question == PredictQuestion::Profiles);
        energy.map(|it| it.little_known().map(String::from).collect()).unwrap_or_default()
    }

    /// Returns what the points are, of which one is the best.
    const fn noun(&self) -> &'static str {
        if matches!(self.question, PredictQuestion::Profiles) { "profile" } else { "rate" }
    }

    /// Returns the name of a point among these.
    fn name<'a>(&self, point: &'a PointEstimates) -> &'a str {
        match self.question {
            PredictQuestion::Profiles => &point.setting.profile,
            _ => &point.setting.rate,
        }
    }

    /// Says why a point is the best.
    fn lead_words(&self, best: &PointEstimates) -> String {
        let name = match self.question {
            PredictQuestion::Profiles => format!("the {}", self.name(best)),
            _ => self.name(best).to_string(),
        };
        if let (Some(battery), Some(energy), true) =
            (&self.battery, &best.energy, self.ranks_charge())
        {
            let days = energy.days(battery).value.map_or_else(|| "?".into(), digits::two);
            return format!("{name} lasts longest, {days} days");
        }
        let shown = self.p99_in_places(best).map(|it| format!("{} ms", it.0));
        format!("{name} has the lowest p99, {}", shown.unwrap_or_else(|| p99(best)))
    }

    pub(super) fn ranking(&self) -> Vec<String> {
        // The best may be among those that were not tried.
        if self.lacks_rooms() {
            return Vec::new();
        }
        let standings = self.standings();
        let of = |wanted: &[RowStanding]| -> Vec<&PointEstimates> {
            let all = self.points.iter().zip(&standings);
            all.filter(|it| wanted.contains(it.1)).map(|it| it.0).collect()
        };
        let mut left_out = of(&[RowStanding::LeftOut]);
        let ranked = self.points.len() - left_out.len();
        // Of these it is said already what they lack.
        left_out.retain(|it| !self.lacks_pulses(it));
        let is_of_profiles = matches!(self.question, PredictQuestion::Profiles);
        let forbids = match self.limits.text() {
            text if text.is_empty() && is_of_profiles => "Nothing arrives with".to_string(),
            text if text.is_empty() => "Nothing arrives at".to_string(),
            text => format!("The limit ({text}) forbids"),
        };
        let out = match left_out.len() {
            0 => None,
            n => Some(format!("{forbids} {}.", count(n, self.noun()))),
        };
        let Some(best) = of(&[RowStanding::Best]).first().copied() else {
            let limits = self.limits.text();
            let noun = self.noun();
            if left_out.len() < self.points.len() || limits.is_empty() {
                return out.into_iter().collect();
            }
            let none = match self.points.as_slice() {
                [one] => format!("{} does not keep {limits}.", self.name(one)),
                [_, _] => format!("neither {noun} keeps {limits}."),
                all => format!("none of the {} {noun}s keeps {limits}.", all.len()),
            };
            return alloc::vec![none];
        };
        let mut tied = of(&[RowStanding::Tied]);
        let rank = |it: &PointEstimates| self.rank(it).value.unwrap_or(0.0);
        tied.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let names: Vec<&str> = tied.iter().take(NAMED).map(|it| self.name(it)).collect();
        let more = tied.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let (lowest, noun) = (self.lead_words(best), self.noun());
        // Life is shown with what is not known of the battery, too: it is the same for all, and ranks none.
        let [its, their] = match self.ranks_charge() {
            true => {
                ["the interval of its current overlaps", "the intervals of their currents overlap"]
            }
            false => ["its interval overlaps", "their intervals overlap"],
        };
        let mut lines = alloc::vec![match tied.len() {
            0 => format!("{lowest}."),
            1 if ranked == 2 => format!("Both {noun}s tie: {their}. {}.", capitalized(&lowest)),
            n if n + 1 == ranked => {
                format!(
                    "All {ranked} {noun}s tie: {their} the best one's. {}.",
                    capitalized(&lowest)
                )
            }
            1 => format!("{lowest}; {} ties with it, since {its}.", names[0]),
            _ => format!("{lowest}; {}{more} tie with it, since {their}.", names.join(", ")),
        }];
        let behind = of(&[RowStanding::Behind]);
        lines.extend(self.overlapping_lives(best, &behind));
        let first = of(&[RowStanding::Best, RowStanding::Tied]);
        lines.extend(self.farthest(&first));
        lines.extend(out);
        lines
    }

    /// Says why profiles do not tie whose lives overlap the best one's.
    fn overlapping_lives(
        &self,
        best: &PointEstimates,
        behind: &[&PointEstimates],
    ) -> Option<String> {
        let battery = self.battery.as_ref().filter(|_| self.ranks_charge())?;
        let days = |it: &PointEstimates| it.energy.as_ref().map(|it| it.days(battery));
        let longest = days(best)?;
        let overlaps = |it: &&PointEstimates| days(it).is_some_and(|it| overlap(&longest, &it));
        let count = behind.iter().copied().filter(overlaps).count();
        let whose = match count {
            0 => return None,
            1 => "The days of another overlap",
            _ => "The days of others overlap",
        };
        Some(format!(
            "{whose} by what is not known of the battery, which is the same for all and does not rank."
        ))
    }

    /// Says which of the best reaches farthest.
    fn farthest(&self, best: &[&PointEstimates]) -> Option<String> {
        let known = || best.iter().filter_map(|it| Some((*it, it.setting.range_m?)));
        let (point, metres) = known().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let bounded = known().filter(|it| it.0.setting.range_is_bounded).count();
        let end = "nothing is known beyond, where the model of the place ends";
        let (far, metres) = (range_words(metres, false), metres_of(metres));
        Some(match bounded {
            0 if best.len() == 1 => format!("It reaches {far} m."),
            0 if best.len() == 2 => {
                format!("Of both {} reaches farther, {far} m.", self.name(point))
            }
            0 => format!("Of these {} reaches farthest, {far} m.", self.name(point)),
            1 if best.len() == 1 => format!("It reaches {metres} m; {end}."),
            2 if best.len() == 2 => format!("Both reach {metres} m; {end}."),
            n if n == best.len() => format!("All of these reach {metres} m; {end}."),
            1 => format!("One of these reaches {metres} m; {end}."),
            n => format!("{n} of these reach {metres} m; {end}."),
        })
    }
}
