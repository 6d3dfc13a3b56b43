//! Result cells of the `mqtt-rate` workload.
//!
//! # What the metrics count
//!
//! - `message_rate_offered`: messages that came due, over the time in which they did. Of several devices
//!   this and the next are the sum of each one's own: a device that begins late is not slow.
//! - `message_rate`: messages that reached the subscriber, over the time until the last one came, or
//!   until the last one was due where that is later. Its interval is the t interval of the seconds
//!   that the receiver counted, where there are three or more: about the rate itself where that lies
//!   outside of it.
//! - `queue_drop_rate`: messages a second that never entered the client's own queue (the "about 5 a
//!   second" of the published benchmark of Smooth's MQTT).
//! - `loss`: of the messages due, those that did not reach the subscriber, for whatever cause, with
//!   the Wilson interval; its note names the causes. `messages_lost`, `messages_duplicate`,
//!   `messages_out_of_order`: how many.
//! - `latency_*`: from due to the subscriber. With an offered rate a sender that falls behind sends
//!   late; the due time does not ("coordinated omission", see `udp_echo`). At saturation a message
//!   is due when there is room for it.
//! - `stage_enqueue_*`: due to queued. `stage_write_*`: queued to taken by the system.
//!   `stage_ack_*`: from there to PUBACK or PUBCOMP. `stage_subscriber_*`: from there to the
//!   subscriber. Messages that did not come are in no latency, and the note says how many.
//! - `message_rate_reliable`: the highest rate without loss that a search found. Its interval is the
//!   search's bracket, not a confidence interval: the highest rate that passed and the lowest that
//!   failed. The note says how sure it is.
//!
//! The figures of connections and of several clients are described in `connections.rs`.
//!
//! Where no message came there is no `message_rate`, and where none was sent no `loss` either: nothing
//! was measured, and the cell's error says why.
//!
//! What listening to a device gives is told in `listen.rs`.

mod connections;
mod listen;
mod numbering;

pub(super) use listen::HeardMessages;

use super::{KIND, OFFERED};
use crate::cell::Cell;
use crate::kind::TestKind;
use crate::run::Recorded;
use crate::search::{REPETITIONS, RateSearch};
use crate::series::{MOST_SLOTS, MessageRates, message_rate};
use crate::summary::{CellColumns, SummaryContext};
use crate::units::print_duration;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{MqttMode, MqttRate};
use espbench_stats::Estimate;
use espbench_stats::interval::{mean_t, wilson};
use espbench_stats::quantile::Sorted;

const RATE: &str = "messages/s";

/// The quantiles shown, and how metrics name them.
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

/// Fewest whole seconds that give the rate an interval.
const FEWEST_SECONDS: usize = 3;

type Stage = (&'static str, fn(&Probe) -> Option<Instant>, fn(&Probe) -> Option<Instant>);

const STAGES: [Stage; 5] = [
    ("latency", |p| Some(p.due), |p| p.received),
    ("stage_enqueue", |p| Some(p.due), |p| p.queued),
    ("stage_write", |p| p.queued, |p| p.sent),
    ("stage_ack", |p| p.sent, |p| p.acked),
    ("stage_subscriber", |p| p.sent, |p| p.received),
];

/// Returns the result cells of one recorded cell.
#[must_use]
pub(super) fn summarize(
    workload: &MqttRate,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "mqtt",
        payload_bytes: (workload.mode != MqttMode::Listen).then_some(workload.size),
        devices: u32::from(workload.clients),
        settings: workload.settings().beyond_columns(),
    };
    let mut out = MqttCells { place, context, cells: Vec::new() };
    if let MqttMode::Search { .. } = workload.mode {
        out.search(workload, recorded);
        return out.cells;
    }
    out.connections(recorded);
    if workload.mode == MqttMode::Listen {
        out.listened(recorded);
        return out.cells;
    }
    let tally = MessageCounts::of(recorded);
    out.rates(workload, &tally, recorded);
    out.fairness(workload, recorded);
    out.loss(&tally, recorded);
    for stage in STAGES {
        // At saturation a message is due when it enters the queue: there is no such stage.
        if stage.0 != "stage_enqueue" || workload.mode != MqttMode::Saturate {
            out.stage(stage, recorded, &tally);
        }
    }
    out.cells
}

/// Returns the total of each link as an observer has it.
fn totals(recorded: &Recorded, observer: Observer) -> impl Iterator<Item = &Interval> {
    recorded.samples.iter().filter_map(move |sample| match sample {
        Sample::Interval(i) if i.total && i.observer == observer => Some(i),
        _ => None,
    })
}

fn probes(recorded: &Recorded) -> impl Iterator<Item = &Probe> {
    recorded.samples.iter().filter_map(|sample| match sample {
        Sample::Probe(probe) if probe.link != Link::CONNECTIONS => Some(probe),
        _ => None,
    })
}

/// Counts of messages by their fate.
#[derive(Debug, Default)]
struct MessageCounts {
    /// Messages due, without those that the user's stop left open.
    due: u64,
    /// Messages that the system took.
    sent: u64,
    received: u64,
    duplicate: u64,
    corrupt: u64,
    lost: BTreeMap<Cause, u64>,
}

impl MessageCounts {
    fn of(recorded: &Recorded) -> Self {
        let mut tally = Self::default();
        for probe in probes(recorded) {
            tally.sent += u64::from(probe.sent.is_some());
            match probe.fate {
                // A latecomer was recorded as lost before: it is a further sample of that message.
                Fate::Duplicate => tally.duplicate += 1,
                Fate::Late | Fate::Lost(Cause::Stopped) => {}
                Fate::Lost(cause) => *tally.lost.entry(cause).or_default() += 1,
                Fate::Corrupt => tally.corrupt += 1,
                Fate::Delivered => tally.received += 1,
            }
        }
        tally.due = tally.received + tally.lost();
        tally
    }

    /// Returns the number of messages that did not come whole: a changed message counts as lost
    /// (RFC 7680 section 2.5).
    fn lost(&self) -> u64 {
        self.lost.values().sum::<u64>() + self.corrupt
    }

    /// Returns the causes in words, such as `12 application-queue, 3 broker`; `None` where none is
    /// lost.
    fn causes(&self) -> Option<String> {
        let mut words: Vec<String> =
            self.lost.iter().map(|(cause, n)| format!("{n} {}", cause.name())).collect();
        if self.corrupt > 0 {
            words.push(format!("{} {}", self.corrupt, Fate::Corrupt.name()));
        }
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// The cells as they are made.
struct MqttCells<'a> {
    place: CellColumns<'a>,
    context: &'a SummaryContext<'a>,
    cells: Vec<Cell>,
}

impl MqttCells<'_> {
    fn push(&mut self, metric: &str, unit: &str, estimate: Estimate, note: Option<String>) {
        let cell = self.context.cell(&self.place, metric, unit, estimate);
        self.cells.push(Cell { note, ..cell });
    }

    fn rates(&mut self, workload: &MqttRate, tally: &MessageCounts, recorded: &Recorded) {
        let rates = MessageRates::of(&recorded.samples, workload);
        let rate = |known: u64, value: Option<f64>| Estimate {
            value: value.filter(|_| known > 0),
            n: tally.due,
            ..Estimate::default()
        };
        let offered = rates.offered(workload);
        self.push("message_rate_offered", RATE, rate(tally.due, offered), None);
        let seconds = match crate::series::devices(recorded) {
            1 => seconds(recorded),
            _ => seconds_of_all(recorded, rates.delivering(workload)),
        };
        let spread =
            if seconds.len() < FEWEST_SECONDS { Estimate::default() } else { mean_t(&seconds) };
        // Where nothing came, nothing was measured.
        let delivered = rate(tally.received, rates.delivered(workload));
        self.push("message_rate", RATE, delivered.with_spread_of(&spread), None);
        let dropped = tally.lost.get(&Cause::ApplicationQueue).copied().unwrap_or(0);
        // A share of what was offered.
        let dropped = offered.map(|it| dropped as f64 * it / tally.due as f64);
        self.push("queue_drop_rate", RATE, rate(tally.due, dropped), None);
    }

    fn loss(&mut self, tally: &MessageCounts, recorded: &Recorded) {
        let (lost, due) = (tally.lost(), tally.due);
        let mut note = tally.causes();
        if let Some(missing) = recorded.facts.get("missing_sequence_numbers") {
            note = note.map(|causes| format!("{causes}; missing at the subscriber: {missing}"));
        }
        // Of messages that never left, the broker and the network have lost none.
        let loss = if tally.sent > 0 { wilson(lost, due) } else { wilson(0, 0) };
        self.push("loss", "percent", loss.scaled(100.0), note);
        let reordered = totals(recorded, Observer::Receiver).filter_map(|i| i.out_of_order);
        let reordered = reordered.reduce(|one, other| one + other);
        for (metric, count) in [
            ("messages_lost", Some(lost)),
            ("messages_duplicate", Some(tally.duplicate)),
            ("messages_out_of_order", reordered),
            ("messages_corrupt", Some(tally.corrupt)),
        ] {
            let value = count.filter(|_| tally.sent > 0).map(|count| count as f64);
            let estimate = Estimate { value, n: due, ..Estimate::default() };
            self.push(metric, "messages", estimate, None);
        }
    }

    fn stage(&mut self, (name, from, to): Stage, recorded: &Recorded, tally: &MessageCounts) {
        let delivered = probes(recorded).filter(|p| p.fate == Fate::Delivered);
        let times: Vec<f64> = delivered
            .filter_map(|p| Some(to(p)?.since(from(p)?).as_nanos() as f64 / 1e6))
            .collect();
        if times.is_empty() {
            return;
        }
        let note = note(&times, tally);
        let sorted = Sorted::new(times);
        for (ending, q) in QUANTILES {
            self.push(&format!("{name}_{ending}"), "ms", sorted.quantile(q), note.clone());
        }
        self.push(&format!("{name}_max"), "ms", sorted.max(), note);
    }

    fn search(&mut self, workload: &MqttRate, recorded: &Recorded) {
        let Some(Replayed { search, tried, .. }) = Replayed::of(workload, recorded) else { return };
        let n = |rate| tried.iter().find(|(r, _)| Some(*r) == rate).map_or(0, |(_, n)| *n);
        let (passed, failed) = (search.passed(), search.failed());
        let estimate = Estimate { value: passed, n: n(passed), low: passed, high: failed };
        let mut note = sureness(workload, &search, n(passed));
        if search.next().is_some() {
            note += "; the search was cut short";
        }
        self.push("message_rate_reliable", RATE, estimate, Some(note));
    }
}

/// A search, replayed from what was recorded.
struct Replayed {
    search: RateSearch,
    /// Messages of each rate, by the rate that was tried.
    tried: Vec<(f64, u64)>,
    /// Totals that were recorded.
    tries: usize,
}

impl Replayed {
    fn of(workload: &MqttRate, recorded: &Recorded) -> Option<Self> {
        let MqttMode::Search { low, high } = workload.mode else { return None };
        let mut search = RateSearch::new(low, high);
        let receiver = recorded.samples.iter().filter_map(|sample| match sample {
            Sample::Interval(i) if i.total && i.observer == Observer::Receiver => Some(i),
            _ => None,
        });
        let (mut tried, mut tries): (Vec<(f64, u64)>, usize) = (Vec::new(), 0);
        for total in receiver {
            let Some((rate, _)) = search.next() else { break };
            let lost = total.lost.unwrap_or(0);
            let messages = total.datagrams.unwrap_or(0) + lost;
            match tried.iter_mut().find(|(r, _)| *r == rate) {
                Some((_, sum)) => *sum += messages,
                None => tried.push((rate, messages)),
            }
            search.record(lost == 0);
            tries += 1;
        }
        Some(Self { search, tried, tries })
    }
}

/// Returns how many tries of a search were made; `None` for other work.
pub(super) fn tries(workload: &MqttRate, recorded: &Recorded) -> Option<usize> {
    Replayed::of(workload, recorded).map(|it| it.tries)
}

/// Says where a search ended at an end of its range, which is then no answer; `None` where it found a border, and for
/// other work.
pub(super) fn end_of_range(workload: &MqttRate, recorded: &Recorded) -> Option<String> {
    let Replayed { search, .. } = Replayed::of(workload, recorded)?;
    if search.next().is_some() {
        let so_far = match (search.passed(), search.failed()) {
            (Some(rate), Some(lost)) => {
                format!("{rate}/s came without loss so far, and {lost}/s did not")
            }
            (Some(rate), None) => format!("{rate}/s came without loss so far"),
            (None, Some(lost)) => {
                format!("{lost}/s lost messages, and no rate came without loss so far")
            }
            // The figure itself says that no rate was tried to the end.
            (None, None) => return None,
        };
        return Some(format!("The search was cut short: {so_far}."));
    }
    match (search.passed(), search.failed()) {
        (Some(rate), None) => {
            let remedy = range(rate, (10.0 * rate).min(OFFERED.1));
            let remedy = remedy.map(|it| format!(" Raise the end: {it}.")).unwrap_or_default();
            Some(format!(
                "The end of the search was reached: {rate}/s came without loss, and the limit is higher.{remedy}"
            ))
        }
        (None, Some(rate)) => {
            let remedy = range((rate / 10.0).max(OFFERED.0), rate);
            let remedy = remedy.map(|it| format!(" Lower the start: {it}.")).unwrap_or_default();
            Some(format!(
                "The start of the search already fails: {rate}/s lost messages, and the limit is lower.{remedy}"
            ))
        }
        _ => None,
    }
}

/// Says how a search of that range is asked for, on the command line of `espbench mqtt-rate` and in a plan; `None` where
/// no rate is left to be tried.
fn range(low: f64, high: f64) -> Option<String> {
    (low < high).then(|| {
        format!("--search {low}..{high}, or in a plan offered = \"search {low} /s to {high} /s\"")
    })
}

/// Returns words on how sure the accepted rate is.
fn sureness(workload: &MqttRate, search: &RateSearch, messages: u64) -> String {
    let failed = match search.failed() {
        Some(rate) => format!("{rate}/s lost messages"),
        None => "no rate lost messages, so the limit is higher".to_string(),
    };
    let Some(rate) = search.passed() else {
        return if search.failed().is_some() {
            format!("no rate came through: {failed}")
        } else {
            "no rate was tried to the end".to_string()
        };
    };
    let bound = wilson(0, messages).high.unwrap_or(1.0) * 100.0;
    format!(
        "{REPETITIONS} of {REPETITIONS} runs of {} at {rate}/s without loss: of {messages} messages \
         less than {bound:.2} % are lost (95 %, Wilson); {failed}",
        print_duration(workload.time)
    )
}

/// Returns the messages received in each whole second of the receiver.
fn seconds(recorded: &Recorded) -> Vec<f64> {
    let all: Vec<&Interval> = recorded
        .samples
        .iter()
        .filter_map(|sample| match sample {
            Sample::Interval(i) if !i.total && i.observer == Observer::Receiver => Some(i),
            _ => None,
        })
        .collect();
    let whole = all.iter().map(|i| i.end.since(i.start)).max();
    all.into_iter()
        .filter(|i| Some(i.end.since(i.start)) == whole)
        .filter_map(message_rate)
        .collect()
}

/// Returns the messages of several devices that came in each whole second, from when the first one was due.
fn seconds_of_all(recorded: &Recorded, delivering: f64) -> Vec<f64> {
    let Some(begin) = probes(recorded).map(|it| it.due).min() else { return Vec::new() };
    let mut seconds =
        alloc::vec![0.0; Some(delivering as usize).filter(|it| *it <= MOST_SLOTS).unwrap_or(0)];
    for probe in probes(recorded).filter(|it| it.fate == Fate::Delivered) {
        let at = probe.received.map(|it| it.since(begin).as_secs() as usize);
        if let Some(count) = at.and_then(|it| seconds.get_mut(it)) {
            *count += 1.0;
        }
    }
    seconds
}

/// Returns the note on a stage's times: steps that they cluster at, and messages that they leave
/// out.
fn note(times: &[f64], tally: &MessageCounts) -> Option<String> {
    let mut words = Vec::new();
    if let Some((quantum, why)) = quantum(times) {
        words.push(format!("clustered at multiples of {quantum} ms: {why}"));
    }
    let missing = tally.lost();
    if missing > 0 {
        words.push(format!("{missing} of {} messages are not in it", tally.due));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// Waits that come in steps, and what makes them: esp-mqtt's task wakes once a second when nothing
/// else wakes it (`MQTT_POLL_READ_TIMEOUT_MS`, espressif/esp-mqtt issue 326: 1041 ms to PUBACK), and a
/// station in modem sleep hears its access point after a beacon.
const QUANTA: [(f64, &str); 2] = [
    (1000.0, "a task that looks once a second?"),
    (102.4, "a station in modem sleep, woken by beacons?"),
];

/// Times near a multiple (once or more) of a quantum, within a tenth of it, in per cent of all.
const CLUSTERED: usize = 80;
const FEWEST_TIMES: usize = 20;

fn quantum(times: &[f64]) -> Option<(f64, &'static str)> {
    if times.len() < FEWEST_TIMES {
        return None;
    }
    QUANTA.into_iter().find(|&(quantum, _)| {
        let near = times.iter().filter(|&&time| {
            let steps = libm::round(time / quantum);
            steps >= 1.0 && libm::fabs(time - steps * quantum) <= quantum / 10.0
        });
        near.count() * 100 >= times.len() * CLUSTERED
    })
}

#[cfg(test)]
mod tests;
