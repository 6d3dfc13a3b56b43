//! Result cells of listening to a device that numbers its own messages.
//!
//! - `message_rate`: one less than the messages that came, those without a number too, over the time from the
//!   first to the last: n messages have n - 1 periods between them. With the t interval of the whole seconds
//!   until the last came, where there are three or more. Messages that came together with the first had waited for
//!   the link: time and seconds begin with the last of them ([`SteadyRate`]), and the note counts them.
//!   `message_rate_min`, `message_rate_max`: the slowest and the fastest of those seconds.
//! - `loss`: of the numbers from the first to the last, those that did not come, with the Wilson
//!   interval. What is lost at the end, or across a restart of the device, no number shows.
//!   Not known where messages are not counted ([`MessageNumbering`]).
//! - `interarrival_*`: from one message to the next. Messages that come in one packet come at once.
//!
//! What was offered, and when, only the device knows: there is no offered rate and no latency.

use super::numbering::MessageNumbering;
use super::{FEWEST_SECONDS, MqttCells, RATE, probes, total};
use crate::cell::Estimate;
use crate::interval::{mean_t, wilson};
use crate::quantile::Sorted;
use crate::run::Recorded;
use crate::series::{SteadyRate, message_rate, milliseconds, span};
use crate::units::print_duration;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Fate, Interval, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};

/// Messages that came, in their order.
pub(in crate::kind::mqtt_rate) struct HeardMessages {
    pub(in crate::kind::mqtt_rate) numbering: MessageNumbering,
    /// Times of all messages that count for the rate.
    times: Vec<Instant>,
}

impl HeardMessages {
    /// Collects what came. Where numbers are no counter, one that came before is no copy.
    pub(in crate::kind::mqtt_rate) fn of(recorded: &Recorded) -> Self {
        let unnumbered = recorded.counters.get("unnumbered").copied().unwrap_or(0);
        // Messages without a number are on a link of their own.
        let first_link = probes(recorded).map(|it| it.link).min();
        let is_numbered = |it: &&Probe| unnumbered == 0 || Some(it.link) == first_link;
        let came = |it: &&Probe| matches!(it.fate, Fate::Delivered | Fate::Duplicate);
        let numbered = probes(recorded).filter(came).filter(is_numbered);
        let all_unnumbered =
            unnumbered > 0 && unnumbered == probes(recorded).filter(came).count() as u64;
        let numbers: Vec<u64> =
            if all_unnumbered { Vec::new() } else { numbered.map(|it| it.seq).collect() };
        let numbering = MessageNumbering::of(&numbers, unnumbered);
        let counts = |it: &&Probe| it.fate == Fate::Delivered || !numbering.tells_loss();
        let mut times: Vec<Instant> =
            probes(recorded).filter(came).filter(counts).filter_map(|it| it.received).collect();
        times.sort_unstable();
        Self { numbering, times }
    }

    /// Returns the time from the first to the last; `None` before the second.
    fn spanned(&self) -> Option<Duration> {
        let (first, last) = (self.times.first()?, self.times.last()?);
        Some(last.since(*first)).filter(|it| *it > Duration::ZERO)
    }

    /// Returns the rate; `None` before the second.
    fn rate(&self) -> Option<SteadyRate> {
        SteadyRate::of(&self.times, *self.times.last()?, self.times.len() as u64)
    }

    /// Returns the times from one message to the next, in milliseconds.
    fn gaps(&self) -> Vec<f64> {
        self.times.windows(2).map(|pair| milliseconds(pair[0], pair[1])).collect()
    }

    /// Says what a reader must know before the rate: whether loss can be told, and whether the device fell silent.
    pub(in crate::kind::mqtt_rate) fn caveats(&self, recorded: &Recorded) -> Vec<String> {
        let listened = total(recorded, Observer::Receiver);
        let mut caveats: Vec<String> = self.numbering.caveat().into_iter().collect();
        let Some((listened, last)) = listened.zip(self.times.last()) else { return caveats };
        let (time, rest) = (print_duration(span(listened)), listened.end.since(*last));
        match self.spanned() {
            None => caveats.push(format!(
                "One message came in {time}: a rate takes two. Listen for longer (`time`)."
            )),
            Some(_) => {
                let longest = self.gaps().into_iter().fold(0.0, f64::max) / 1e3;
                if rest.as_secs_f64() > SILENT * longest.max(1.0) {
                    caveats.push(format!(
                        "The last message came {:.1} s before the end of {time}: the rate is that until then.",
                        rest.as_secs_f64()
                    ));
                }
            }
        }
        caveats
    }
}

/// A device fell silent where nothing came for this many times its longest pause, or as many seconds.
const SILENT: f64 = 3.0;

impl MqttCells<'_> {
    pub(super) fn listened(&mut self, recorded: &Recorded) {
        let arrivals = HeardMessages::of(recorded);
        self.heard(recorded, &arrivals);
        if arrivals.numbering.tells_loss() {
            self.missed(recorded);
        }
        let gaps = arrivals.gaps();
        if !gaps.is_empty() {
            let gaps = Sorted::new(gaps);
            self.push("interarrival_p50", "ms", gaps.quantile(0.5), None);
            self.push("interarrival_p99", "ms", gaps.quantile(0.99), None);
            self.push("interarrival_max", "ms", gaps.max(), None);
        }
    }

    fn heard(&mut self, recorded: &Recorded, arrivals: &HeardMessages) {
        let n = arrivals.times.len() as u64;
        // Intervals leave further copies out, which are none where numbers are no counter.
        let is_whole = !matches!(arrivals.numbering, MessageNumbering::Other(..));
        let seconds = if is_whole { seconds_until_last(recorded, arrivals) } else { Vec::new() };
        let enough = seconds.len() >= FEWEST_SECONDS;
        let spread = if enough { mean_t(&seconds) } else { Estimate::default() };
        let steady = arrivals.rate();
        let value = steady.map(|it| it.per_second);
        // Of a few messages the interval would reach below none at all.
        let low = spread.low.map(|low| low.max(0.0));
        let rate = Estimate { value, n, low, high: spread.high };
        let burst = steady.map_or(0, |it| it.burst as u64);
        self.push("message_rate", RATE, rate, counted(recorded, burst));
        if enough {
            let seconds = Sorted::new(seconds);
            self.push("message_rate_min", RATE, seconds.min(), None);
            self.push("message_rate_max", RATE, seconds.max(), None);
        }
    }

    fn missed(&mut self, recorded: &Recorded) {
        let unnumbered = recorded.counters.get("unnumbered").copied().unwrap_or(0);
        let count = |wanted: fn(Fate) -> bool| {
            probes(recorded).filter(|probe| wanted(probe.fate)).count() as u64
        };
        let numbered = count(|fate| fate == Fate::Delivered).saturating_sub(unnumbered);
        let lost = count(|fate| matches!(fate, Fate::Lost(_)));
        let spanned = numbered + lost;
        let missing = recorded.facts.get("missing_sequence_numbers");
        let note = missing.map(|missing| format!("missing: {missing}"));
        self.push("loss", "percent", wilson(lost, spanned).scaled(100.0), note);
        let total: Option<&Interval> = total(recorded, Observer::Receiver);
        for (metric, count) in [
            ("messages_lost", Some(lost)),
            ("messages_duplicate", Some(count(|fate| fate == Fate::Duplicate))),
            ("messages_out_of_order", total.and_then(|total| total.out_of_order)),
        ] {
            let value = count.map(|count| count as f64);
            let estimate = Estimate { value, n: spanned, ..Estimate::default() };
            self.push(metric, "messages", estimate, None);
        }
    }
}

/// Returns the messages in each whole second until the last one came; without the one in which the device fell silent.
fn seconds_until_last(recorded: &Recorded, arrivals: &HeardMessages) -> Vec<f64> {
    let Some(&last) = arrivals.times.last() else { return Vec::new() };
    let of_receiver = |sample: &Sample| match sample {
        Sample::Interval(i) if !i.total && i.observer == Observer::Receiver => Some(*i),
        _ => None,
    };
    let all: Vec<Interval> = recorded.samples.iter().filter_map(of_receiver).collect();
    let whole = all.iter().map(span).max();
    // Of what was no whole second of messages, a rate would be of less than it says.
    let usual = Sorted::new(arrivals.gaps()).quantile(0.5).value.unwrap_or_default();
    let is_filled = |it: &Interval| milliseconds(last.min(it.end), it.end) <= usual;
    let until_last = |it: &&Interval| Some(span(it)) == whole && it.start < last && is_filled(it);
    let burst = arrivals.rate().filter(|it| it.burst > 0);
    let is_after = |it: &&Interval| burst.is_none_or(|burst| it.start >= burst.from);
    all.iter().filter(until_last).filter(is_after).filter_map(message_rate).collect()
}

/// Returns the listener's other counts in words; so many messages came together with the first.
fn counted(recorded: &Recorded, burst: u64) -> Option<String> {
    let together =
        (burst > 0).then(|| format!("{burst} that came together with the first, not in the rate"));
    let told = [
        ("unnumbered", "without a number"),
        ("restarts", "restarts of the device's numbers"),
        ("retained", "kept by the broker from before, not counted"),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some(format!("{} {text}", recorded.counters.get(name)?)));
    let words: Vec<String> = together.into_iter().chain(told).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
