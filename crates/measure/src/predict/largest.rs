//! The answer of a search for the largest fleet, in sentences.

use super::answer::{devices, fate};
use super::limit;
use super::point::PointEstimates;
use super::report::PredictAnswer;
use crate::digits;
use crate::search::fleet::{FleetBound, Largest, SearchEnd};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::speech::FlagName;

/// A search for the largest fleet: what it has come to, and why it went no further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetSearched {
    /// The largest numbers.
    pub largest: Largest,
    /// Bound above which nothing was tried.
    pub bound: FleetBound,
    /// End of the search.
    pub end: SearchEnd,
}

impl PredictAnswer {
    /// Returns the answer in sentences: the number, how far it is known, and what breaks beyond it.
    pub(super) fn largest_fleet(&self, search: &FleetSearched) -> Vec<String> {
        if self.points.is_empty() {
            return Vec::new();
        }
        let FleetSearched { largest, bound, end } = search;
        let mut lines = match largest.best {
            _ if *end != SearchEnd::Found => self.not_finished(largest, *end),
            None if largest.last.is_none() => self.impossible(largest),
            Some(best) if largest.open => self.unlimited(best, largest, bound),
            best => alloc::vec![self.found(best.unwrap_or(0), largest)],
        };
        let above = |it: &&PointEstimates| largest.last.is_some_and(|n| it.setting.devices > n);
        lines.extend(self.points.iter().find(above).and_then(|it| self.beyond(it)));
        lines
    }

    /// Names the number, or the range of those of which the rooms do not tell more.
    fn found(&self, best: u32, largest: &Largest) -> String {
        let (surely, most) = (largest.surely.unwrap_or(0), largest.at_most.unwrap_or(0));
        let text = self.limits.text();
        let last = largest.last.unwrap_or(best);
        let untried = largest.fails.unwrap_or(last).saturating_sub(last + 1);
        let within =
            if untried == 0 { String::new() } else { format!(", or up to {untried} more") };
        let (named, why) = match last > best {
            true => (format!("{best} to {}", devices(last)), self.broken_below(best, last)),
            false => (devices(best), String::new()),
        };
        let of = format!("the largest fleet that keeps {text} has {named}{within}");
        if surely == best && most == last {
            return format!("{of}{why}.");
        }
        format!("{of}; the intervals allow from {surely} to {}{why}.", most.max(last + untried))
    }

    /// Says which number below one that holds does not, and what would tell more.
    fn broken_below(&self, best: u32, last: u32) -> String {
        let is_between = |it: &&PointEstimates| (best + 1..last).contains(&it.setting.devices);
        let Some(broken) = self.points.iter().find(is_between) else { return String::new() };
        let fewer = broken.setting.devices;
        let rooms = FlagName("--rooms");
        format!(". By the estimates {last} keep it and {fewer} do not: more {rooms} tell more")
    }

    /// Says what was and what was not shown by then.
    fn not_finished(&self, largest: &Largest, end: SearchEnd) -> Vec<String> {
        let text = self.limits.text();
        let (over, more) = match end {
            SearchEnd::OutOfTime => (
                "The time that was left was too short for the next number",
                format!("{} gives it more.", FlagName("--time-limit")),
            ),
            SearchEnd::Found | SearchEnd::Interrupted => {
                ("The search was stopped", "Ask again and let it end.".to_string())
            }
        };
        let first = match (largest.best, largest.last) {
            (best, Some(last)) if best < Some(last) => {
                let but = self.broken_below(best.unwrap_or(0), last);
                format!(
                    "of the numbers tried by then, {last} is the largest that keeps {text}{but}."
                )
            }
            (Some(best), _) => {
                format!("of the numbers tried by then, {best} is the largest that keeps {text}.")
            }
            (None, _) => format!("none of the numbers tried by then keeps {text}."),
        };
        let open = match (largest.last, largest.fails) {
            (best, Some(fails)) => {
                let best = best.unwrap_or(0);
                match fails.saturating_sub(best + 1) {
                    0 => "its interval is not known as well as it could be".to_string(),
                    1 if best == 0 => "whether 1 device does is not known".to_string(),
                    1 => format!("whether {} do is not known", devices(best + 1)),
                    _ => format!(
                        "what is from {} to {} devices is not known",
                        best + 1,
                        fails.saturating_sub(1)
                    ),
                }
            }
            (Some(best), None) => format!("whether more than {best} do is not known"),
            (None, None) => "nothing is known".to_string(),
        };
        alloc::vec![first, format!("{over}: {open}. {more}")]
    }

    fn impossible(&self, largest: &Largest) -> Vec<String> {
        let text = self.limits.text();
        let alone = self.points.iter().find(|it| it.setting.devices == 1);
        let first = match largest.at_most {
            None => format!("no fleet keeps {text}, not even one device."),
            Some(most) => format!(
                "by its estimates not even one device keeps {text}; the intervals allow {most}."
            ),
        };
        let why = alone.map(|it| {
            let loss = self.limits.broken(it).contains(&"loss");
            let why = limit::advice(it, loss).map(|why| format!(" {why}")).unwrap_or_default();
            format!("Of a single device {}.{why}", fate(it))
        });
        core::iter::once(first).chain(why).collect()
    }

    /// Says that no limit was met up to the largest number.
    fn unlimited(&self, best: u32, largest: &Largest, bound: &FleetBound) -> Vec<String> {
        let text = self.limits.text();
        let surely = largest.surely.unwrap_or(0);
        let with = devices(best);
        let by = if surely == best {
            String::new()
        } else if surely == 0 {
            " by their estimates, not by all of their intervals".into()
        } else {
            format!(" by their estimates, {surely} by their intervals too")
        };
        let exchange = digits::three(bound.exchange_us / 1000.0);
        if bound.is_capacity() {
            return alloc::vec![
                format!("{with} keep {text}{by}: the channel is full before the limit is reached."),
                format!(
                    "A message takes {exchange} ms of the channel at least, so the messages of more than {} \
                     do not get through.",
                    devices(bound.capacity)
                ),
            ];
        }
        alloc::vec![
            format!(
                "{with} keep {text}{by}, the most that were tried ({}): the limit is not reached.",
                FlagName("--most")
            ),
            format!(
                "The channel carries the messages of at most {}, {exchange} ms each.",
                devices(bound.capacity)
            ),
        ]
    }

    /// Says what breaks with more devices.
    fn beyond(&self, point: &PointEstimates) -> Option<String> {
        let broken = self.limits.broken(point);
        let with = devices(point.setting.devices);
        if broken.is_empty() {
            return point.grows.then(|| {
                format!(
                    "With {with} messages take longer and longer: more are due than get through."
                )
            });
        }
        let loss = broken.contains(&"loss");
        let why = limit::advice(point, loss).map(|why| format!(" {why}")).unwrap_or_default();
        Some(format!(
            "With {with} the limit of {} is broken: {}.{why}",
            broken.join(" and "),
            fate(point)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::FleetLimits;
    use crate::predict::point::OperatingPoint;
    use crate::predict::report::PredictQuestion;
    use alloc::vec;
    use core::fmt::Write as _;
    use espbench_stats::Estimate;

    fn point(devices: u32, loss: f64, grows: bool) -> PointEstimates {
        let loss = Estimate { value: Some(loss), n: 8000, low: Some(loss), high: Some(loss) };
        let p99 = Estimate { value: Some(12.0), n: 8000, low: Some(11.0), high: Some(13.0) };
        PointEstimates {
            setting: OperatingPoint { devices, ..OperatingPoint::default() },
            rooms: 20,
            messages: 8000,
            loss,
            p99,
            stages_ms: [1.0, 0.0, 2.0, 5.0, 0.0, 2.0, 0.0],
            grows,
            ..PointEstimates::default()
        }
    }

    fn told(search: FleetSearched, points: Vec<PointEstimates>) -> String {
        let answer = PredictAnswer {
            question: PredictQuestion::LargestFleet(search),
            title: "some devices".into(),
            limits: FleetLimits { loss: Some(0.01), ..FleetLimits::default() },
            battery: None,
            peak_ma: None,
            beyond_m: None,
            shared: String::new(),
            settings: crate::settings::Settings::default(),
            payload_bytes: 50,
            points,
            changes: Vec::new(),
            notes: Vec::new(),
            remarks: Vec::new(),
            due: crate::predict::SettingsDue::default(),
            stopped: false,
        };
        answer.largest_fleet(&search).join("\n    ")
    }

    const fn found(
        surely: Option<u32>,
        best: Option<u32>,
        at_most: Option<u32>,
        fails: Option<u32>,
    ) -> Largest {
        Largest { surely, best, last: best, at_most, fails, open: false }
    }

    /// Where a number holds that is larger than one that does not, the answer is a range.
    #[test]
    fn a_larger_number_that_holds_is_in_the_answer() {
        let bound = FleetBound { devices: 500, capacity: 800, exchange_us: 1250.0 };
        let of = |best, end| {
            let known = found(None, best, Some(46), Some(50));
            let largest = Largest { last: Some(45), ..known };
            let points = [(41, 0.02), (45, 0.005), (50, 0.05)].map(|it| point(it.0, it.1, false));
            told(FleetSearched { largest, bound, end }, points.into())
        };
        let text = of(Some(40), SearchEnd::Found);
        let wanted = "the largest fleet that keeps loss at most 1 % has 40 to 45 devices, or up to 4 more; the \
                      intervals allow from 0 to 49. By the estimates 45 keep it and 41 do not: more --rooms \
                      tell more.\n    With 50 devices the limit of loss is broken";
        assert!(text.starts_with(wanted), "{text}");
        assert!(of(None, SearchEnd::Found).contains("has 0 to 45 devices, or up to 4 more;"));
        let late = of(Some(40), SearchEnd::OutOfTime);
        let wanted = "of the numbers tried by then, 45 is the largest that keeps loss at most 1 %. By the estimates \
                      45 keep it and 41 do not: more --rooms tell more.\n    The time that was left was too short for the next \
                      number: what is from 46 to 49 devices";
        assert!(late.starts_with(wanted), "{late}");
    }

    /// A search tells its end in sentences that name each number once and claim no more than was
    /// tried.
    #[test]
    fn every_end_of_a_search_is_told() {
        let bound = FleetBound { devices: 500, capacity: 800, exchange_us: 1250.0 };
        let full = FleetBound { devices: 800, ..bound };
        let open = |surely| Largest { open: true, ..found(surely, Some(500), Some(500), None) };
        let few = || vec![point(1, 0.0, false), point(40, 0.005, false), point(45, 0.05, false)];
        let lost = || vec![point(1, 0.05, false)];
        let late = || vec![point(40, 0.005, false), point(60, 0.009, true)];
        let mut text = String::new();
        for (what, largest, bound, end, points) in [
            (
                "known",
                found(Some(40), Some(40), Some(40), Some(41)),
                bound,
                SearchEnd::Found,
                few(),
            ),
            ("one", found(Some(1), Some(1), Some(1), Some(2)), bound, SearchEnd::Found, few()),
            (
                "between",
                found(Some(36), Some(40), Some(42), Some(41)),
                bound,
                SearchEnd::Found,
                few(),
            ),
            (
                "coarse",
                found(Some(36), Some(40), Some(41), Some(45)),
                bound,
                SearchEnd::Found,
                few(),
            ),
            (
                "queue",
                found(Some(40), Some(40), Some(40), Some(41)),
                bound,
                SearchEnd::Found,
                late(),
            ),
            ("none", found(None, None, None, Some(1)), bound, SearchEnd::Found, lost()),
            ("maybe", found(None, None, Some(3), Some(1)), bound, SearchEnd::Found, lost()),
            ("open", open(Some(500)), bound, SearchEnd::Found, few()),
            ("open, in part", open(Some(300)), bound, SearchEnd::Found, few()),
            ("open, by estimates", open(None), bound, SearchEnd::Found, few()),
            (
                "full",
                Largest { best: Some(800), last: Some(800), ..open(Some(800)) },
                full,
                SearchEnd::Found,
                few(),
            ),
            ("late", found(Some(30), Some(40), None, Some(45)), bound, SearchEnd::OutOfTime, few()),
            (
                "late, next",
                found(None, Some(40), None, Some(42)),
                bound,
                SearchEnd::OutOfTime,
                few(),
            ),
            (
                "late, done",
                found(None, Some(40), None, Some(41)),
                bound,
                SearchEnd::OutOfTime,
                few(),
            ),
            ("stopped", found(None, Some(40), None, None), bound, SearchEnd::Interrupted, few()),
            (
                "stopped, low",
                found(None, None, None, Some(2)),
                bound,
                SearchEnd::Interrupted,
                lost(),
            ),
            ("at once", found(None, None, None, None), bound, SearchEnd::Interrupted, lost()),
            ("nothing tried", found(None, None, None, None), bound, SearchEnd::Interrupted, vec![]),
        ] {
            let lines = told(FleetSearched { largest, bound, end }, points);
            writeln!(text, "{what}:\n    {lines}").unwrap();
        }
        insta::assert_snapshot!(text);
    }
}
