//! Figures of each station of a test that several carry out at once.

use crate::kind;
use crate::live::{FateCounts, LateProbes};
use crate::run::Recorded;
use crate::series::SendingSlots;
use crate::units::megabits;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::wifi::{MEMBERSHIPS, Membership};
use espbench_model::fact;
use espbench_model::sample::{Cause, Fate, Interval, Observer, Probe, Sample};
use espbench_stats::interval::mean;

/// Stations that are named.
const NAMED: usize = 8;

/// Figures of a station.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Station {
    /// The access point that it is in.
    pub(crate) member: Option<Membership>,
    /// Mbit/s that arrived, over the time in which the stations sent.
    pub(crate) delivered: Option<f64>,
    /// Messages a second that arrived of a stream of them, over the station's own time.
    pub(crate) messages: Option<f64>,
    /// Datagrams or messages that were sent and lost, where the sender counts; else those that numbers tell of.
    pub(crate) lost: Option<(u64, u64)>,
    /// Datagrams that the sender's driver refused.
    pub(crate) refused: Option<u64>,
    /// Messages that found a queue of the sender full, and were never sent.
    pub(crate) unsent: Option<u64>,
    /// Mean round trip in milliseconds.
    pub(crate) round_trip: Option<f64>,
    /// Whether anything of it came through.
    pub(crate) came: bool,
}

/// Returns whether a probe found no room before it was sent: it is not lost on the way.
const fn is_unsent(probe: &Probe) -> bool {
    matches!(probe.fate, Fate::Lost(Cause::ApplicationQueue | Cause::NoBuffers))
}

/// Figures of all stations, by their numbers; none where one device is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stations(pub(crate) Vec<Station>);

/// Samples of a station.
#[derive(Clone, Default)]
struct StationSamples<'a> {
    totals: Vec<&'a Interval>,
    parts: Vec<&'a Interval>,
    probes: Vec<&'a Probe>,
    /// Fates of the probes that were sent.
    fates: FateCounts,
}

impl Stations {
    /// Returns the figures of a recorded test.
    pub(crate) fn of(recorded: &Recorded) -> Self {
        let devices = recorded.told(fact::DEVICES).filter(|it| *it > 1).unwrap_or(0);
        let Ok(devices) = u16::try_from(devices) else { return Self::default() };
        let mut samples: BTreeMap<u16, StationSamples<'_>> =
            (0..devices).map(|it| (it, StationSamples::default())).collect();
        for sample in &recorded.samples {
            match sample {
                Sample::Interval(it) => {
                    let station = samples.entry(it.link.0).or_default();
                    if it.total { station.totals.push(it) } else { station.parts.push(it) }
                }
                Sample::Probe(it) => {
                    let station = samples.entry(it.link.0).or_default();
                    station.probes.push(it);
                    if !is_unsent(it) {
                        station.fates.add(sample);
                    }
                }
            }
        }
        samples.retain(|number, _| *number < devices);
        let totals = || samples.values().flat_map(|it| &it.totals);
        let all_parts = || samples.values().flat_map(|it| it.totals.iter().chain(&it.parts));
        let (sender, receiver) = if all_parts().any(|it| it.observer == Observer::Sender) {
            (Observer::Sender, Observer::Peer)
        } else {
            (Observer::Peer, Observer::Receiver)
        };
        let kind = kind::of(&recorded.workload);
        let slots = SendingSlots::of(kind, receiver, recorded);
        let lasted = totals().map(|it| it.end.since(it.start)).max();
        // Of a stream of messages each is told of by itself.
        let has_messages = all_parts().next().is_some()
            && all_parts().all(|it| it.observer != receiver)
            && samples.values().any(|it| !it.probes.is_empty());
        let rate = |it: &StationSamples<'_>| {
            let came = |it: &&Interval| it.observer == receiver;
            match &slots {
                Some(slots) => {
                    let parts = || it.parts.iter().copied().filter(came);
                    // A station's own rate is of its own time, however late it began.
                    let Some(begin) = parts().map(|it| it.start).min() else { return Some(0.0) };
                    let own = slots.beginning(begin);
                    mean(&own.megabits(parts().map(Into::into)))
                }
                None => {
                    let sum = |all: &[&Interval]| {
                        all.iter().copied().filter(came).map(|it| it.bytes).sum()
                    };
                    // Runs have no total: each is of a time of its own.
                    let runs = || {
                        let time = it.parts.iter().copied().filter(came);
                        time.map(|it| it.end.since(it.start)).sum::<Duration>()
                    };
                    match lasted {
                        Some(lasted) => megabits(sum(&it.totals), lasted),
                        None => megabits(sum(&it.parts), runs()),
                    }
                }
            }
        };
        let members = recorded.told(MEMBERSHIPS).unwrap_or_default().0;
        let all = members.len() == usize::from(devices);
        let mut members = members.into_iter().filter(|_| all);
        let late = kind.late();
        let station = |it: &StationSamples<'_>| Station {
            member: members.next(),
            delivered: rate(it).filter(|_| !has_messages),
            messages: it.message_rate().filter(|_| has_messages),
            ..it.station([sender, receiver], late)
        };
        Self(samples.values().map(station).collect())
    }

    /// Says for which stations nothing came through; `None` where something came for each.
    pub(crate) fn silent(&self) -> Option<String> {
        let all = self.0.len();
        let silent = self.0.iter().enumerate().filter(|(_, it)| !it.came);
        let names: Vec<String> = silent.map(|(number, it)| it.name(number)).collect();
        let number = names.len();
        match number {
            0 => return None,
            _ if number == all => {
                return Some(format!("Nothing came through for any of the {all} stations."));
            }
            _ => {}
        }
        let more = match number.saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names[..number.min(NAMED)].join(", ");
        Some(format!("Nothing came through for {number} of {all} stations: {names}{more}."))
    }
}

impl Station {
    /// Names a station: as the lab's file does, or by its number.
    pub(crate) fn name(&self, number: usize) -> String {
        self.member.as_ref().map_or_else(|| number.to_string(), |it| it.station.clone())
    }
}

impl StationSamples<'_> {
    fn station(&self, [sender, receiver]: [Observer; 2], late: LateProbes) -> Station {
        let of = |observer| self.totals.iter().copied().filter(move |it| it.observer == observer);
        let sum = |observer, count: fn(&Interval) -> Option<u64>| -> Option<u64> {
            of(observer).next()?;
            of(observer).map(count).sum()
        };
        let (came, missing) = (sum(receiver, Interval::arrived), sum(receiver, |it| it.lost));
        let refused = sum(sender, |it| it.errors.map(u64::from));
        let by_number = came.zip(missing).map(|(came, lost)| (came + lost, lost));
        // Where nothing came, nothing tells of numbers.
        let counted = sum(sender, |it| it.datagrams)
            .filter(|_| refused.is_some() && (missing.is_some() || came.is_none()))
            .map(|sent| (sent, sent.saturating_sub(came.unwrap_or(0))));
        Station {
            lost: counted.or(by_number).or_else(|| self.lost_probes(late)),
            refused: refused.or_else(|| self.lost_for(Cause::NoBuffers)),
            unsent: self.lost_for(Cause::ApplicationQueue),
            round_trip: self.round_trip(),
            came: self.came(receiver),
            ..Station::default()
        }
    }

    /// Returns how many probes were lost for a cause before they were sent; `None` where none was.
    fn lost_for(&self, cause: Cause) -> Option<u64> {
        let is_of = |it: &&&Probe| it.fate == Fate::Lost(cause);
        Some(self.probes.iter().filter(is_of).count() as u64).filter(|it| *it > 0)
    }

    /// Returns the messages a second that came, from when the first was due until the last came.
    fn message_rate(&self) -> Option<f64> {
        let begin = self.probes.iter().map(|it| it.due).min()?;
        let came = self.probes.iter().filter(|it| it.fate == Fate::Delivered);
        let end = came.clone().filter_map(|it| it.received).max();
        let lasted = end.map_or(0.0, |end| end.since(begin).as_secs_f64());
        Some(if lasted > 0.0 { came.count() as f64 / lasted } else { 0.0 })
    }

    fn came(&self, receiver: Observer) -> bool {
        let moved = |it: &Interval| it.observer == receiver && it.bytes > 0;
        self.probes.iter().any(|it| it.received.is_some())
            || self.totals.iter().chain(&self.parts).any(|it| moved(it))
    }

    fn lost_probes(&self, late: LateProbes) -> Option<(u64, u64)> {
        let (lost, all) = self.fates.loss_of(late);
        (all > 0).then_some((all, lost))
    }

    fn round_trip(&self) -> Option<f64> {
        let whole = self.probes.iter().filter(|it| it.fate == Fate::Delivered);
        let times = whole.filter_map(|it| Some(it.received?.since(it.sent?).as_secs_f64() * 1e3));
        mean(&times.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of five messages two found the client's queue full, and the driver refused one; one of the two that were sent came, 2 s after the first was due.
    #[test]
    fn messages_that_were_never_sent_are_not_lost_on_the_way() {
        use espbench_model::time::Instant;
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let probe = |seq, sent, received, fate| Probe {
            seq,
            due: at(1000),
            sent,
            received,
            fate,
            ..Probe::default()
        };
        let full = Fate::Lost(Cause::ApplicationQueue);
        let all = [
            probe(0, Some(at(1000)), Some(at(3000)), Fate::Delivered),
            probe(1, Some(at(1000)), None, Fate::Lost(Cause::Unknown)),
            probe(2, None, None, full),
            probe(3, None, None, full),
            probe(4, None, None, Fate::Lost(Cause::NoBuffers)),
        ];
        let mut samples = StationSamples { probes: all.iter().collect(), ..Default::default() };
        for it in all.iter().filter(|it| !is_unsent(it)) {
            samples.fates.add(&Sample::Probe(*it));
        }
        let of = samples.station([Observer::Sender, Observer::Peer], LateProbes::Apart);
        assert_eq!((of.lost, of.unsent, of.refused), (Some((2, 1)), Some(2), Some(1)));
        assert_eq!(samples.message_rate(), Some(0.5));
    }

    #[test]
    fn stations_that_nothing_came_through_for_are_named() {
        let of = |came: &[bool]| {
            let station = |it: &bool| Station { came: *it, ..Station::default() };
            Stations(came.iter().map(station).collect()).silent()
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[true, true]), None);
        let said = of(&[true, false, true, false]).unwrap();
        assert_eq!(said, "Nothing came through for 2 of 4 stations: 1, 3.");
        let all = of(&[false, false]).unwrap();
        assert_eq!(all, "Nothing came through for any of the 2 stations.");
        let mut many = [false; 12];
        many[0] = true;
        let said = of(&many).unwrap();
        assert_eq!(
            said,
            "Nothing came through for 11 of 12 stations: 1, 2, 3, 4, 5, 6, 7, 8 and 3 more."
        );
    }
}
