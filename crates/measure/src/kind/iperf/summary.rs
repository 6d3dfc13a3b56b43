//! Result cells of the `iperf` workload.
//!
//! Directions are the device's: what this host sends is the device's RX. A stream's bytes are its
//! payload. Over UDP what the device received is only known from its closing report; what was sent
//! to it is a metric of its own (`throughput_sent`), never taken for what arrived. Over TCP this host's
//! system tells what the device's application took ([`Observer::Peer`]); `throughput_sent` is what
//! the kernel here took, which may wait in buffers, and `in_flight_end` how much of it did when the
//! sending was over. Where nothing tells what the device took, or it took nothing, its rate is
//! unknown, as it is over UDP where no report came. A device whose console is read tells itself what it took ([`Observer::Peer`]), and what its
//! socket took where only it sends (`throughput_sent`).
//!
//! Of a device over Wi-Fi ([`Workload::Wifi`](espbench_model::workload::Workload::Wifi)), what the
//! device itself counted is [`Observer::Peer`]: over TCP too, and with its intervals. Where only it
//! sends, `throughput_tx` is still what arrived, and `throughput_sent` what its socket took.
//!
//! `throughput_*` is the octets of the test over its time: of a test of an amount those of its total, else those of its
//! intervals, the part of one in which it ended among them. Its spread is Student's t interval over the whole intervals, of
//! which there are at least three: the intervals of one test are taken as independent, which a drifting link is not. Of several devices, and where
//! streams lack intervals, an interval has the octets that all of them moved in one time, and those of the time in which the
//! devices sent count, from when the first began: what comes out of a queue afterwards is delivered, but at no rate of the test. Where that time holds no whole
//! interval, the rate is the octets of all over the time until the last of them came. Over UDP what was sent is that, too, where
//! the device's report has no intervals: the two figures are of one time, and no more arrives than was sent.
//!
//! Over UDP a sender that counts what it sent makes the loss that of its datagrams. ESP-IDF's iperf uses up a number
//! for each datagram that its driver refused, so that by numbers these would be lost on the way: they are
//! `packets_refused`. `loss_of_offered` is against the rate that was to be sent.
//! `throughput_*_best_second` is the highest sum of any whole second; published ESP-IDF figures are
//! such best seconds.

mod bounce;
mod in_time;
mod usual;

pub(super) use in_time::place_of;
pub(super) use usual::usual_line;

use super::KIND;
use super::sent::SentDatagrams;
use crate::cell::Cell;
use crate::kind::TestKind;
use crate::live::figures::SeenRate;
use crate::report::stations::Stations;
use crate::run::Recorded;
use crate::series::{IntervalPlace, SendingSlots, WHOLE, lasted};
use crate::summary::{CellColumns, IN_FLIGHT, IN_FLIGHT_END, SummaryContext};
use crate::units::{megabits, print_duration};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_stats::Estimate;
use espbench_stats::interval::{fairness, mean, mean_t, wilson};
use in_time::{mean_of_test, total_rate};

/// Whole intervals that have a spread, at least: with two the quantile of Student's t is 12.7.
const LEAST_INTERVALS: usize = 3;

/// Returns the result cells of one recorded cell.
#[must_use]
pub(super) fn summarize(
    workload: &Iperf,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = place(workload);
    if workload.bounceback.is_some() {
        return bounce::summarize(place, recorded, context);
    }
    let failed = recorded.error.is_some();
    let mut out = IperfCells { place, context, failed, cells: Vec::new() };
    let (mut sent, mut received, mut reported) = (
        ObserverCounts::of(Observer::Sender, workload, recorded),
        ObserverCounts::of(Observer::Receiver, workload, recorded),
        ObserverCounts::of(Observer::Peer, workload, recorded),
    );
    if workload.transport == Transport::Udp {
        sent.count_as(&reported);
        match one_way(workload.direction) {
            Some(true) => sent.bound(&mut reported, Observer::Peer, recorded),
            Some(false) => reported.bound(&mut received, Observer::Receiver, recorded),
            None => {}
        }
    }
    if let (Some(_), Some(ours)) = (recorded.workload.variant(), one_way(workload.direction)) {
        out.device(workload, ours, [&sent, &received, &reported]);
        out.fairness(&Stations::of(recorded));
        return out.cells;
    }
    if workload.trip_times {
        let both = workload.direction != Direction::Forward && !sent.is_empty();
        out.latency(&reported, if both { "_rx" } else { "" });
        out.latency(&received, if both { "_tx" } else { "" });
    }
    match workload.transport {
        Transport::Tcp => {
            out.taken(&sent, &reported, recorded);
            out.throughput("throughput_tx", &received);
            if sent.is_empty() {
                out.throughput("throughput_sent", &reported);
            }
            out.retransmits(&sent);
        }
        Transport::Udp => {
            out.throughput("throughput_sent", &sent);
            // A report of some of the streams only is not the test's.
            if reported.totals.len() == sent.totals.len() {
                out.throughput("throughput_rx", &reported);
                out.datagrams(&reported, if received.is_empty() { "" } else { "_rx" });
            } else if !sent.is_empty() && recorded.error.is_none() {
                out.unknown(
                    "the server sent no report: only its own output tells what it received",
                );
                if !received.is_empty() {
                    out.push("loss_rx", "percent", Estimate::default());
                }
            }
            out.throughput("throughput_tx", &received);
            if sent.is_empty() {
                out.throughput("throughput_sent", &reported);
            }
            out.datagrams(&received, if sent.is_empty() { "" } else { "_tx" });
        }
    }
    out.cells
}

/// Returns the identity columns of a test.
pub(super) fn place(workload: &Iperf) -> CellColumns<'static> {
    CellColumns {
        table: KIND,
        transport: match workload.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
        },
        payload_bytes: Some(workload.length),
        devices: 1,
        settings: workload.settings().beyond_columns(),
    }
}

/// Returns whether this end sends, where only one end does.
const fn one_way(direction: Direction) -> Option<bool> {
    match direction {
        Direction::Forward => Some(true),
        Direction::Reverse => Some(false),
        Direction::FullDuplex | Direction::Tradeoff | Direction::Dual => None,
    }
}

/// Counts of one observer, all streams together.
#[derive(Debug, Default)]
struct ObserverCounts {
    /// Mbit/s of the whole intervals, in order.
    rates: Vec<f64>,
    /// Mbit/s of all octets over their time, where that of the intervals is not the rate.
    over: Option<f64>,
    /// Mbit/s over the test's own time where that is not the mean of whole intervals.
    mean: Option<f64>,
    /// Mbit/s of the best second.
    best: Option<f64>,
    /// The streams' totals.
    totals: Vec<Interval>,
}

impl ObserverCounts {
    fn of(observer: Observer, workload: &Iperf, recorded: &Recorded) -> Self {
        let mine = recorded.samples.iter().filter_map(|s| match s {
            Sample::Interval(i) if i.observer == observer => Some(*i),
            _ => None,
        });
        let (totals, parts): (Vec<_>, Vec<_>) = mine.partition(|i| i.total);
        let streams = totals.len().max(usize::from(workload.parallel));
        let whole = whole_intervals(&parts, workload, streams);
        let best = best_second(&whole, workload.interval);
        let several = totals.len() > usize::from(workload.parallel);
        let is_told = !parts.is_empty() || several;
        let lacks = || several || lacks_intervals(&whole, workload, recorded);
        // A server's own clock starts when it reads the first datagram, and what waited until then would make its rate higher
        // than the sender's.
        let is_report = observer == Observer::Peer && whole.is_empty() && !totals.is_empty();
        if !is_report && (streams < 2 || !is_told || !lacks()) {
            let mean = mean_of_test(&parts, workload, &totals).filter(|_| !whole.is_empty());
            return Self { best, rates: whole, mean, over: None, totals };
        }
        if let Some(slots) = SendingSlots::of(workload, observer, recorded) {
            let rates = slots.megabits(parts.iter().map(Into::into));
            let best = best_second(&rates, workload.interval);
            return Self { best, rates, totals, ..Self::default() };
        }
        let octets = MovedOctets::of(observer, [&parts, &totals], recorded);
        Self { best, over: octets.rate(), totals, ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.rates.is_empty() && self.totals.is_empty()
    }

    /// Returns whether nothing was moved.
    fn is_still(&self) -> bool {
        self.totals.iter().all(|total| total.bytes == 0)
            && self.rates.iter().all(|&rate| rate == 0.0)
    }

    /// Makes this sender's rate, and that of its receiver, all octets over the time of the test where more would arrive
    /// than was sent: a receiver's intervals begin with the first datagram, and what waited for the link until then is in
    /// the first of them.
    fn bound(&mut self, received: &mut Self, observer: Observer, recorded: &Recorded) {
        let is_told = !self.totals.is_empty() && self.totals.len() == received.totals.len();
        let rates = self.rate().zip(received.rate());
        if is_told && rates.is_some_and(|(sent, received)| received > sent) {
            self.over = self.total_rate();
            received.over = MovedOctets::of(observer, [&[], &received.totals], recorded).rate();
        }
    }

    /// Returns the rate that is shown.
    fn rate(&self) -> Option<f64> {
        self.over.or(self.mean).or_else(|| mean(&self.rates)).or_else(|| self.total_rate())
    }

    /// Returns whether the rate is that of the whole intervals alone.
    fn is_of_whole(&self) -> bool {
        self.over.or(self.mean).is_none() && !self.rates.is_empty()
    }

    /// Returns the rate with its spread.
    fn estimate(&self) -> Option<Estimate> {
        let n = self.rates.len().max(1) as u64;
        let rate = Estimate::exact(self.rate()?, n);
        let has_spread = self.rates.len() >= LEAST_INTERVALS;
        Some(if has_spread { rate.with_spread_of(&mean_t(&self.rates)) } else { rate })
    }

    /// Makes the rate that of all octets over their time where the other end has no other: what was sent in the intervals
    /// could be less than what came in all the time.
    fn count_as(&mut self, other: &Self) {
        if other.rates.is_empty() && !other.totals.is_empty() && self.over.is_none() {
            self.over = self.total_rate();
        }
    }

    fn sum(&self, count: impl Fn(&Interval) -> Option<u64>) -> Option<u64> {
        self.totals.iter().map(count).sum()
    }

    /// Returns the rate of the totals: the sum of each stream's own rate.
    fn total_rate(&self) -> Option<f64> {
        total_rate(&self.totals)
    }
}

/// Returns the rates that are made of what observers told. `own_count`: the device tells its own counts.
pub(super) fn seen(
    workload: &Iperf,
    own_count: bool,
    told: &dyn Fn(Observer) -> bool,
) -> Vec<SeenRate> {
    // TCP's sender tells what is still on its way.
    let sent_by = |it| Some(it).filter(|it| workload.transport == Transport::Udp && told(*it));
    let rate = |metric, observer, name| SeenRate { metric, observer, name, sent_by: None };
    let receives = |observer| rate("throughput_rx", observer, "device receives");
    let back = told(Observer::Receiver).then(|| SeenRate {
        sent_by: sent_by(Observer::Peer).filter(|_| workload.direction == Direction::Reverse),
        ..rate("throughput_tx", Observer::Receiver, "device delivers")
    });
    let to_it = match (told(Observer::Peer), told(Observer::Sender)) {
        // A device that alone sends tells what its socket took.
        (_, false) => None,
        (true, true) => Some(SeenRate {
            sent_by: sent_by(Observer::Sender).filter(|_| workload.direction == Direction::Forward),
            ..receives(Observer::Peer)
        }),
        // What TCP took is as much as arrived, but for what is on its way.
        (false, true) if own_count && workload.transport == Transport::Tcp => {
            Some(receives(Observer::Sender))
        }
        (false, true) => Some(rate("throughput_sent", Observer::Sender, "this host sends")),
    };
    to_it.into_iter().chain(back).collect()
}

/// Returns whether some of the test's intervals are whole in some of the streams only.
///
/// What comes after the test's time, out of buffers on the way, is no interval of the test: a console that
/// prints lines of a second prints one more for it, which is nearly empty.
fn lacks_intervals(whole: &[f64], workload: &Iperf, recorded: &Recorded) -> bool {
    whole.len() < slots(workload, lasted(recorded.samples.iter()))
}

/// Returns the number of whole intervals of that length in a time; none where they have none.
fn intervals_in(time: Duration, length: Duration) -> usize {
    let number = libm::floor(time.as_secs_f64() / length.as_secs_f64() + 1.0 - WHOLE);
    if number.is_finite() { number as usize } else { 0 }
}

/// Octets that all streams moved, as one observer saw them, and the time in which they did.
struct MovedOctets {
    octets: u64,
    time: Duration,
}

impl MovedOctets {
    fn of(observer: Observer, [parts, totals]: [&[Interval]; 2], recorded: &Recorded) -> Self {
        let sum = |all: &[Interval]| all.iter().map(|it| it.bytes).sum::<u64>();
        let is_sent =
            |it: &&Sample| matches!(it, Sample::Interval(it) if it.observer == Observer::Sender);
        // A receiver's time is at least the sender's: what it got no later than that was sent in that time.
        let receives = match observer {
            Observer::Sender => false,
            Observer::Receiver => true,
            Observer::Peer => recorded.samples.iter().any(|it| is_sent(&it)),
        };
        let is_own = |it: &&Sample| matches!(it, Sample::Interval(it) if it.observer == observer);
        let told = lasted(recorded.samples.iter().filter(|it| receives || is_own(it)));
        let begin = parts.iter().map(|it| it.start).min().unwrap_or_default();
        let end = parts.iter().map(|it| it.end).max().unwrap_or_default();
        let time = if told.is_zero() { end.since(begin) } else { told };
        // What came after the last interval is in totals alone.
        Self { octets: sum(totals).max(sum(parts)), time }
    }

    fn rate(&self) -> Option<f64> {
        megabits(self.octets, self.time)
    }
}

/// Returns the number of whole intervals in the time in which a test's devices sent.
pub(super) fn slots(workload: &Iperf, sending: Duration) -> usize {
    let span = if workload.bytes.is_none() { sending.min(workload.time) } else { sending };
    intervals_in(span, workload.interval)
}

/// Says of which part of its time the rates of a test are, where they are those of whole intervals, and these are not all of it.
pub(super) fn part_of_time(workload: &Iperf, recorded: &Recorded) -> Option<String> {
    let of = |observer| ObserverCounts::of(observer, workload, recorded).is_of_whole();
    let is_of_whole = [Observer::Sender, Observer::Receiver, Observer::Peer].into_iter().any(of);
    let number = slots(workload, workload.time);
    let whole = workload.interval * u32::try_from(number).ok()?;
    let is_part = number > 0 && whole.as_secs_f64() < WHOLE * workload.time.as_secs_f64();
    (is_of_whole && is_part && workload.bytes.is_none()).then(|| {
        format!(
            "Rates are of {} of {}: the mean of the whole intervals. Give a time that is a multiple of the interval, {}.",
            print_duration(whole),
            print_duration(workload.time),
            print_duration(workload.interval)
        )
    })
}

/// Returns the sums over the streams of each interval that is whole in all of them.
fn whole_intervals(parts: &[Interval], workload: &Iperf, streams: usize) -> Vec<f64> {
    let begin = parts.iter().map(|it| it.start).min().unwrap_or_default();
    let mut sums: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
    let is_whole = |it: &&Interval| place_of(workload, begin, it) == IntervalPlace::Whole;
    for part in parts.iter().filter(is_whole) {
        let span = part.end.since(part.start);
        if let Some(rate) = megabits(part.bytes, span) {
            let sum = sums.entry(part.seq).or_default();
            *sum = (sum.0 + 1, sum.1 + rate);
        }
    }
    sums.into_values().filter(|sum| sum.0 == streams).map(|sum| sum.1).collect()
}

/// Returns the best mean over one second of consecutive intervals; `None` where intervals do not
/// divide a second.
pub(super) fn best_second(rates: &[f64], length: Duration) -> Option<f64> {
    let nanos = length.as_nanos();
    if nanos == 0 || !1_000_000_000u128.is_multiple_of(nanos) {
        return None;
    }
    let count = usize::try_from(1_000_000_000 / nanos).ok()?;
    rates.windows(count).filter_map(mean).max_by(f64::total_cmp)
}

struct IperfCells<'a> {
    place: CellColumns<'a>,
    context: &'a SummaryContext<'a>,
    /// Whether the test failed: then that nothing was moved is no figure.
    failed: bool,
    cells: Vec<Cell>,
}

impl IperfCells<'_> {
    fn push(&mut self, metric: &str, unit: &str, estimate: Estimate) {
        self.cells.push(self.context.cell(&self.place, metric, unit, estimate));
    }

    fn throughput(&mut self, metric: &str, seen: &ObserverCounts) {
        if self.failed && seen.is_still() {
            return;
        }
        let Some(estimate) = seen.estimate() else { return };
        self.push(metric, "Mbit/s", estimate);
        if let Some(best) = seen.best {
            let best = Estimate::exact(best, seen.rates.len() as u64);
            self.push(&format!("{metric}_best_second"), "Mbit/s", best);
        }
    }

    /// Adds the rate at which the device received as one that is not known, with the reason.
    fn unknown(&mut self, why: &str) {
        self.push_unknown("throughput_rx", "Mbit/s", why);
    }

    fn push_unknown(&mut self, metric: &str, unit: &str, why: &str) {
        self.push(metric, unit, Estimate::default());
        if let Some(cell) = self.cells.last_mut() {
            cell.note = Some(format!("unknown: {why}"));
        }
    }

    /// Adds the rate at which the device received over TCP, and the rate at which this host sent.
    fn taken(&mut self, sent: &ObserverCounts, taken: &ObserverCounts, recorded: &Recorded) {
        if sent.is_empty() {
            return;
        }
        if taken.is_still() {
            self.unknown(if taken.is_empty() {
                "nothing tells what the device took"
            } else {
                "the device took nothing"
            });
        } else {
            self.throughput("throughput_rx", taken);
        }
        self.throughput("throughput_sent", sent);
        if let Some(&octets) = recorded.counters.get(IN_FLIGHT)
            && !taken.is_empty()
        {
            self.push(IN_FLIGHT_END, "B", Estimate::exact(octets as f64, 1));
        }
    }

    /// Adds the results of a test in one direction whose device reports its own counts.
    fn device(&mut self, workload: &Iperf, to_it: bool, seen: [&ObserverCounts; 3]) {
        let [sent, received, told] = seen;
        let udp = workload.transport == Transport::Udp;
        if !to_it {
            self.throughput("throughput_tx", received);
            if udp {
                self.throughput("throughput_sent", told);
                match SentDatagrams::of(&told.totals, &received.totals) {
                    Some(sent) => self.sent_datagrams(workload, &sent, told.totals.len(), received),
                    None => self.datagrams(received, ""),
                }
            }
            return;
        }
        // What TCP took is as much as arrived, but for what is on its way.
        self.throughput("throughput_rx", if udp || !told.is_empty() { told } else { sent });
        if udp {
            self.throughput("throughput_sent", sent);
            // A station that nothing came to has no report, and what was sent to it is lost.
            let counted = SentDatagrams::of(&sent.totals, &told.totals);
            match counted.filter(|_| !self.failed || !told.is_empty()) {
                Some(of) => self.counted(of.lost(), of.sent, told, ""),
                None => self.datagrams(told, ""),
            }
        } else {
            self.retransmits(sent);
        }
    }

    /// Adds how evenly the stations got to send or receive.
    fn fairness(&mut self, stations: &Stations) {
        let rates: Vec<f64> = stations.0.iter().filter_map(|it| it.delivered).collect();
        if rates.len() > 1 {
            let n = rates.len() as u64;
            self.push(
                "fairness",
                "index",
                Estimate { value: fairness(&rates), n, ..Estimate::default() },
            );
        }
    }

    /// Adds one-way times in milliseconds, all streams together: over UDP of datagrams, over TCP of
    /// bursts from their write to their last byte.
    fn latency(&mut self, seen: &ObserverCounts, direction: &str) {
        let spreads = seen.totals.iter().filter_map(|t| t.transit);
        let Some(spread) = spreads.reduce(|a, b| a.join(&b)) else { return };
        let n = spread.count;
        let ms = |ns: f64| Estimate::exact(ns / 1e6, n);
        let base = format!("latency{direction}");
        self.push(&format!("{base}_avg"), "ms", ms(spread.mean_ns));
        self.push(&format!("{base}_min"), "ms", ms(spread.min_ns as f64));
        self.push(&format!("{base}_max"), "ms", ms(spread.max_ns as f64));
        if let Some(deviation) = spread.deviation_ns() {
            self.push(&format!("{base}_stddev"), "ms", ms(deviation));
        }
    }

    /// Adds what became of the datagrams of senders that count what they sent.
    fn sent_datagrams(
        &mut self,
        w: &Iperf,
        of: &SentDatagrams,
        streams: usize,
        seen: &ObserverCounts,
    ) {
        self.counted(of.lost(), of.sent, seen, "");
        if let Some(offered) = of.offered(w, streams) {
            let refused = Estimate::exact(of.refused as f64, of.sent + of.refused);
            self.push("packets_refused", "packets", refused);
            let missing = offered.saturating_sub(of.received);
            self.push("loss_of_offered", "percent", wilson(missing, offered).scaled(100.0));
        }
    }

    /// Adds what became of datagrams as their numbers tell it.
    fn datagrams(&mut self, seen: &ObserverCounts, direction: &str) {
        let (Some(received), Some(lost)) = (seen.sum(|t| t.datagrams), seen.sum(|t| t.lost)) else {
            return;
        };
        if !seen.totals.iter().all(Interval::is_numbered) {
            let why = "all datagrams have one number, by which no loss is told";
            self.push_unknown(&format!("loss{direction}"), "percent", why);
            return;
        }
        if !seen.totals.is_empty() {
            self.counted(lost, received + lost, seen, direction);
        }
    }

    fn counted(&mut self, lost: u64, total: u64, seen: &ObserverCounts, direction: &str) {
        let named = |metric: &str| format!("{metric}{direction}");
        self.push(&named("loss"), "percent", wilson(lost, total).scaled(100.0));
        let mut count = |metric: &str, value: Option<u64>| {
            if let Some(value) = value {
                self.push(&named(metric), "packets", Estimate::exact(value as f64, total));
            }
        };
        count("packets_lost", Some(lost));
        count("packets_total", Some(total));
        if seen.totals.iter().all(Interval::is_numbered) {
            count("packets_out_of_order", seen.sum(|t| t.out_of_order));
            count("packets_duplicate", seen.sum(|t| t.duplicates));
        }
        let jitters: Vec<f64> =
            seen.totals.iter().filter_map(|t| Some(t.jitter_ns? as f64 / 1e6)).collect();
        if let Some(jitter) = mean(&jitters) {
            self.push(&named("jitter"), "ms", Estimate::exact(jitter, total - lost));
        }
    }

    fn retransmits(&mut self, seen: &ObserverCounts) {
        if let (Some(count), false) = (seen.sum(|t| t.retransmits), seen.totals.is_empty()) {
            self.push("retransmits", "segments", Estimate::exact(count as f64, 1));
        }
    }
}

/// Returns how many streams of ours there were, and the megabits a second that all of them sent; `None` where the other side
/// sends too, as its rate is not this sender's.
pub(super) fn sent_by_all(w: &Iperf, recorded: &Recorded) -> Option<(usize, f64)> {
    if w.direction != Direction::Forward {
        return None;
    }
    let total = |it: &Sample| match it {
        Sample::Interval(it) if it.total && it.observer == Observer::Sender => {
            megabits(it.bytes, it.end.since(it.start))
        }
        _ => None,
    };
    let rates: Vec<f64> = recorded.samples.iter().filter_map(total).collect();
    (!rates.is_empty()).then(|| (rates.len(), rates.iter().sum()))
}

#[cfg(test)]
mod tests;
