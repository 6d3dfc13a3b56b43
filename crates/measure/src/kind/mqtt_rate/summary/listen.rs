//! Result cells of listening to a device that numbers its own messages.
//!
//! - `message_rate`: messages that came, those without a number too, over the time listened to from
//!   the first one on; with the t interval of its whole seconds, where there are three or more.
//!   `message_rate_min`, `message_rate_max`: the slowest and the fastest of those seconds.
//! - `loss`: of the numbers from the first to the last, those that did not come, with the Wilson
//!   interval. What is lost at the end, or across a restart of the device, no number shows.
//!   Not known where no message had a number.
//! - `interarrival_*`: from one message to the next. Messages that come in one packet come at once.
//!
//! What was offered, and when, only the device knows: there is no offered rate and no latency.

use super::{FEWEST_SECONDS, MqttCells, RATE, probes, seconds, total};
use crate::cell::Estimate;
use crate::interval::{mean_t, wilson};
use crate::quantile::Sorted;
use crate::run::Recorded;
use crate::series::{milliseconds, span};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Fate, Interval, Observer};
use espbench_model::time::Instant;

impl MqttCells<'_> {
    pub(super) fn listened(&mut self, recorded: &Recorded) {
        let mut arrivals: Vec<Instant> = probes(recorded)
            .filter(|probe| probe.fate == Fate::Delivered)
            .filter_map(|probe| probe.received)
            .collect();
        arrivals.sort_unstable();
        self.heard(recorded, arrivals.len() as u64);
        self.missed(recorded, arrivals.len() as u64);
        let gaps: Vec<f64> =
            arrivals.windows(2).map(|pair| milliseconds(pair[0], pair[1])).collect();
        if !gaps.is_empty() {
            let gaps = Sorted::new(gaps);
            self.push("interarrival_p50", "ms", gaps.quantile(0.5), None);
            self.push("interarrival_p99", "ms", gaps.quantile(0.99), None);
            self.push("interarrival_max", "ms", gaps.max(), None);
        }
    }

    fn heard(&mut self, recorded: &Recorded, received: u64) {
        let time = total(recorded, Observer::Receiver).map(|i| span(i).as_secs_f64());
        let seconds = seconds(recorded);
        let enough = seconds.len() >= FEWEST_SECONDS;
        let spread = if enough { mean_t(&seconds) } else { Estimate::default() };
        let value = time.filter(|time| *time > 0.0).map(|time| received as f64 / time);
        // Of a few messages the interval would reach below none at all.
        let low = spread.low.map(|low| low.max(0.0));
        let rate = Estimate { value, n: received, low, high: spread.high };
        self.push("message_rate", RATE, rate, counted(recorded));
        if enough {
            let seconds = Sorted::new(seconds);
            self.push("message_rate_min", RATE, seconds.min(), None);
            self.push("message_rate_max", RATE, seconds.max(), None);
        }
    }

    fn missed(&mut self, recorded: &Recorded, received: u64) {
        let unnumbered = recorded.counters.get("unnumbered").copied().unwrap_or(0);
        let numbered = received.saturating_sub(unnumbered);
        if numbered == 0 {
            return;
        }
        let count = |wanted: fn(Fate) -> bool| {
            probes(recorded).filter(|probe| wanted(probe.fate)).count() as u64
        };
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

/// Returns the listener's other counts in words.
fn counted(recorded: &Recorded) -> Option<String> {
    let words: Vec<String> = [
        ("unnumbered", "without a number"),
        ("restarts", "restarts of the device's numbers"),
        ("retained", "kept by the broker from before, not counted"),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some(format!("{} {text}", recorded.counters.get(name)?)))
    .collect();
    (!words.is_empty()).then(|| words.join(", "))
}
