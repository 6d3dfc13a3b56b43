//! Result cells of listening to devices that number their own messages, each topic by itself.
//!
//! - `message_rate`: the sum of the topics' own rates. That of a topic is one less than its messages over the time from the
//!   first to the last: n messages have n - 1 periods between them. A copy that its number tells counts once. Those
//!   in no sequence have one rate together. With the t interval of the whole seconds
//!   until the last came, where there are three or more. Messages that came together with the first of their topic had
//!   waited for the link: time and seconds begin with the last of them ([`SteadyRate`]), and the note counts them.
//!   `message_rate_min`, `message_rate_max`: the slowest and the fastest of those seconds.
//! - `loss`: of each topic's numbers from the first to the last, those that did not come, with the Wilson
//!   interval. What is lost at the end, or across a restart of the device, no number shows.
//!   Of topics whose messages are not counted ([`MessageNumbering`]) it is not known.
//! - `interarrival_*`: from one message to the next. Messages that come in one packet come at once.
//!
//! What was offered, and when, only the devices know: there is no offered rate and no latency.

use super::numbering::MessageNumbering;
use super::{FEWEST_SECONDS, MqttCells, RATE, probes, totals};
use crate::run::Recorded;
use crate::series::{ByLink, SteadyRate, milliseconds, span};
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::sample::{Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::text;
use espbench_model::time::Instant;
use espbench_stats::Estimate;
use espbench_stats::interval::{mean_t, wilson};
use espbench_stats::quantile::Sorted;

/// Messages that came.
pub(in crate::kind::mqtt_rate) struct HeardMessages {
    /// Numbers of each topic, each of which has a link.
    topics: ByLink<MessageNumbering>,
    /// Times of the messages of each link, in their order; without copies where these can be told.
    by_link: ByLink<Vec<Instant>>,
    /// Times of all of them, in their order.
    times: Vec<Instant>,
}

impl HeardMessages {
    /// Collects what came.
    pub(in crate::kind::mqtt_rate) fn of(recorded: &Recorded) -> Self {
        let came = |it: &&Probe| matches!(it.fate, Fate::Delivered | Fate::Duplicate);
        let all = probes(recorded).filter(came).count() as u64;
        let apart = ["unnumbered", "untracked"].map(|it| count_of(recorded, it));
        let first = probes(recorded).map(|it| it.link.0).min();
        // Messages in no sequence are on a link of their own, behind that of the first topic.
        let link_apart = match apart[0] + apart[1] {
            0 => None,
            n if n == all => first.map(Link),
            _ => first.map(|it| Link(it.saturating_add(1))),
        };
        let mut numbers = ByLink::<Vec<u64>>::default();
        for probe in probes(recorded).filter(came).filter(|it| Some(it.link) != link_apart) {
            numbers.of(probe.link).push(probe.seq);
        }
        let topics = numbers.map(|it| MessageNumbering::of(it));
        let tells_copies = |link| topics.get(link).is_some_and(MessageNumbering::tells_loss);
        let mut by_link = ByLink::<Vec<Instant>>::default();
        for probe in probes(recorded).filter(came) {
            if probe.fate == Fate::Delivered || !tells_copies(probe.link) {
                by_link.of(probe.link).extend(probe.received);
            }
        }
        by_link.values_mut().for_each(|times| times.sort_unstable());
        let mut times: Vec<Instant> = by_link.values().flatten().copied().collect();
        times.sort_unstable();
        Self { topics, by_link, times }
    }

    /// Returns whether loss and copies can be told, of one topic at least.
    fn tells_loss(&self) -> bool {
        self.topics.values().any(MessageNumbering::tells_loss)
    }

    /// Returns whether a sample is of a topic whose messages are counted.
    pub(in crate::kind::mqtt_rate) fn counts(&self, probe: &Probe) -> bool {
        self.topics.get(probe.link).is_some_and(MessageNumbering::tells_loss)
    }

    /// Says of what messages loss cannot be told; `None` where nothing came, and where it can be of all.
    fn unknown_loss(&self, recorded: &Recorded) -> Option<String> {
        if self.times.is_empty() {
            return None;
        }
        let Some(first) = self.topics.values().next() else {
            return MessageNumbering::Absent.caveat();
        };
        let [unnumbered, untracked] = ["unnumbered", "untracked"].map(|it| count_of(recorded, it));
        let (all, counted) =
            (self.topics.len(), self.topics.values().filter(|it| it.tells_loss()).count());
        if counted == 0 {
            return first.caveat();
        }
        let mut words = Vec::new();
        if counted < all {
            let count = if counted == 1 { "counts its" } else { "count their" };
            words.push(format!("{counted} of {all} topics with numbers {count} messages"));
        }
        if unnumbered > 0 {
            let messages = text::counted(unnumbered, "message holds", "messages hold");
            words.push(format!("{messages} no number"));
        }
        if untracked > 0 {
            let messages = text::counted(untracked, "message", "messages");
            words.push(format!("{messages} came on topics beyond the first {all}"));
        }
        (!words.is_empty()).then(|| {
            let words = words.join(", and ");
            format!(
                "Loss and copies are those of {}: {words}. The rate is that of all that came.",
                text::count(counted, "topic")
            )
        })
    }

    /// Returns how many came before that instant.
    fn before(&self, at: Instant) -> usize {
        self.times.partition_point(|it| *it < at)
    }

    /// Returns the rate of each link that has one: from its second message on.
    fn rates(&self) -> Vec<SteadyRate> {
        let rate = |times: &Vec<Instant>| SteadyRate::of(times, *times.last()?, times.len() as u64);
        self.by_link.values().filter_map(rate).collect()
    }

    /// Returns the times from one message to the next, in milliseconds.
    fn gaps(&self) -> Vec<f64> {
        self.times.windows(2).map(|pair| milliseconds(pair[0], pair[1])).collect()
    }

    /// Says what a reader must know before the rate: whether loss can be told, and whether the device fell silent.
    pub(in crate::kind::mqtt_rate) fn caveats(&self, recorded: &Recorded) -> Vec<String> {
        let listened = totals(recorded, Observer::Receiver).next();
        let mut caveats: Vec<String> = self.unknown_loss(recorded).into_iter().collect();
        let restarts = count_of(recorded, "restarts");
        if restarts > 0 && self.tells_loss() {
            caveats.push(format!(
                "A device's numbers began again {}, as after a restart: what was lost meanwhile is not in the loss.",
                text::counted(restarts, "time", "times")
            ));
        }
        let rates = self.rates().len();
        if (1..self.by_link.len()).contains(&rates) {
            let topics = text::count(self.by_link.len() - rates, "topic");
            caveats.push(format!(
                "The rate is without {topics}: of a single message, or of several at once, there is none. Listen for longer (`time`)."
            ));
        }
        let Some((listened, last)) = listened.zip(self.times.last()) else { return caveats };
        let (time, rest) = (print_duration(span(listened)), listened.end.since(*last));
        match rates {
            0 if self.by_link.len() > 1 => caveats.push(format!(
                "No topic had two messages, some time apart, in {time}: a rate takes them. Listen for longer (`time`)."
            )),
            0 => {
                let came = match self.times.len() {
                    1 => "One message came".to_string(),
                    n => format!("{n} messages came at once, and no further one"),
                };
                caveats.push(format!(
                    "{came} in {time}: a rate takes two, some time apart. Listen for longer (`time`)."
                ));
            }
            _ => {
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
        if arrivals.tells_loss() {
            self.missed(recorded, &arrivals);
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
        let seconds = seconds_until_last(recorded, arrivals);
        let enough = seconds.len() >= FEWEST_SECONDS;
        let spread = if enough { mean_t(&seconds) } else { Estimate::default() };
        let rates = arrivals.rates();
        let value = (!rates.is_empty()).then(|| rates.iter().map(|it| it.per_second).sum::<f64>());
        // Of a few messages the interval would reach below none at all.
        let rate = Estimate { value, n, ..Estimate::default() };
        let rate = rate.with_spread_of(&spread).not_negative();
        let burst = rates.iter().map(|it| it.burst as u64).sum();
        self.push("message_rate", RATE, rate, beside(recorded, arrivals, burst));
        if enough {
            let seconds = Sorted::new(seconds);
            self.push("message_rate_min", RATE, seconds.min(), None);
            self.push("message_rate_max", RATE, seconds.max(), None);
        }
    }

    fn missed(&mut self, recorded: &Recorded, arrivals: &HeardMessages) {
        let of = |wanted: fn(Fate) -> bool| {
            let is = |it: &&Probe| arrivals.counts(it) && wanted(it.fate);
            probes(recorded).filter(is).count() as u64
        };
        let numbered = of(|fate| fate == Fate::Delivered);
        let lost = of(|fate| matches!(fate, Fate::Lost(_)));
        let spanned = numbered + lost;
        let missing = recorded.facts.get("missing_sequence_numbers");
        let note = missing.map(|missing| format!("missing: {missing}"));
        self.push("loss", "percent", wilson(lost, spanned).scaled(100.0), note);
        // The listener counts what came out of order over all topics.
        let is_all = arrivals.topics.values().all(MessageNumbering::tells_loss);
        let total: Option<&Interval> =
            totals(recorded, Observer::Receiver).next().filter(|_| is_all);
        for (metric, count) in [
            ("messages_lost", Some(lost)),
            ("messages_duplicate", Some(of(|fate| fate == Fate::Duplicate))),
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
    let bursts = arrivals.rates().into_iter().filter(|it| it.burst > 0);
    let burst = bursts.map(|it| it.from).max();
    let is_after = |it: &&Interval| burst.is_none_or(|from| it.start >= from);
    // The listener's intervals count no numbers that come again, which may be no copies.
    let came = |it: &Interval| {
        let (from, to) = (arrivals.before(it.start), arrivals.before(it.end));
        (to - from) as f64 / span(it).as_secs_f64()
    };
    all.iter().filter(until_last).filter(is_after).map(came).collect()
}

/// Returns a counter of a cell; 0 where it has none.
fn count_of(recorded: &Recorded, counter: &str) -> u64 {
    recorded.counters.get(counter).copied().unwrap_or(0)
}

/// Returns the listener's other counts in words; so many messages came together with the first.
fn beside(recorded: &Recorded, arrivals: &HeardMessages, burst: u64) -> Option<String> {
    let restarts = if arrivals.tells_loss() { count_of(recorded, "restarts") } else { 0 };
    let told = [
        (burst, "that came together with the first of their topic, not in the rate"),
        (count_of(recorded, "unnumbered"), "without a number"),
        (count_of(recorded, "untracked"), "of topics whose numbers are not kept"),
        (restarts, "restarts of devices' numbers"),
        (count_of(recorded, "retained"), "kept by the broker from before, not counted"),
    ];
    let told = told.into_iter().filter(|it| it.0 > 0);
    let mut words: Vec<String> = told.map(|(n, text)| format!("{n} {text}")).collect();
    if arrivals.topics.len() > 1 {
        words.insert(0, format!("{} topics with numbers", arrivals.topics.len()));
    }
    (!words.is_empty()).then(|| words.join(", "))
}
