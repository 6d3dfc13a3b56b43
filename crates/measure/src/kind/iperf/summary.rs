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
//! `throughput_*` is the mean of the whole intervals, with Student's t interval over them: the
//! intervals of one test are taken as independent, which a drifting link is not.
//! `throughput_*_best_second` is the highest sum of any whole second; published ESP-IDF figures are
//! such best seconds.

mod bounce;

use super::KIND;
use crate::cell::{Cell, Estimate};
use crate::interval::{mean, mean_t, wilson};
use crate::kind::TestKind;
use crate::run::Recorded;
use crate::summary::{CellColumns, IN_FLIGHT, IN_FLIGHT_END, SummaryContext};
use crate::units::megabits;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Direction, Iperf, Transport};

/// An interval counts as whole from this share of its length.
pub(super) const WHOLE: f64 = 0.95;

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
    let mut out = IperfCells { place, context, cells: Vec::new() };
    let (sent, received, reported) = (
        ObserverCounts::of(Observer::Sender, workload, recorded),
        ObserverCounts::of(Observer::Receiver, workload, recorded),
        ObserverCounts::of(Observer::Peer, workload, recorded),
    );
    if let (Some(_), Some(ours)) = (recorded.workload.variant(), one_way(workload.direction)) {
        out.device(workload, ours, [&sent, &received, &reported]);
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
                out.unknown("the server sent no report, so only the device knows (ESP-IDF's iperf: read its console)");
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
        let rates = whole_intervals(&parts, workload, streams);
        Self { best: best_second(&rates, workload.interval), rates, totals }
    }

    fn is_empty(&self) -> bool {
        self.rates.is_empty() && self.totals.is_empty()
    }

    fn sum(&self, count: impl Fn(&Interval) -> Option<u64>) -> Option<u64> {
        self.totals.iter().map(count).sum()
    }

    /// Returns the rate of the totals: the sum of each stream's own rate.
    fn total_rate(&self) -> Option<f64> {
        if self.totals.is_empty() {
            return None;
        }
        self.totals.iter().map(|t| megabits(t.bytes, t.end.since(t.start))).sum()
    }
}

/// Returns whether a stream's interval is whole, and of the test, which began then.
///
/// What comes after the test's time, out of buffers on the way, is no interval of the test: a console that
/// prints lines of a second prints one more for it, which is nearly empty.
pub(super) fn is_whole(workload: &Iperf, begin: Instant, part: &Interval) -> bool {
    let length = workload.interval;
    let end = match workload.bytes {
        None => begin + workload.time + length.mul_f64(1.0 - WHOLE),
        Some(_) => Instant::NEVER,
    };
    let span = part.end.since(part.start);
    part.end <= end && span.as_secs_f64() >= WHOLE * length.as_secs_f64()
}

/// Returns the rates that are made of what observers told: metric, observer, and a name. `own_count`: the
/// device tells its own counts.
pub(super) fn seen(
    workload: &Iperf,
    own_count: bool,
    told: &dyn Fn(Observer) -> bool,
) -> Vec<(&'static str, Observer, &'static str)> {
    const RECEIVES: (&str, &str) = ("throughput_rx", "device receives");
    let back = ("throughput_tx", Observer::Receiver, "device sends");
    let to_it = match (told(Observer::Peer), told(Observer::Sender)) {
        // A device that alone sends tells what its socket took.
        (_, false) => None,
        (true, true) => Some((RECEIVES.0, Observer::Peer, RECEIVES.1)),
        // What TCP took is as much as arrived, but for what is on its way.
        (false, true) if own_count && workload.transport == Transport::Tcp => {
            Some((RECEIVES.0, Observer::Sender, RECEIVES.1))
        }
        (false, true) => Some(("throughput_sent", Observer::Sender, "this host sends")),
    };
    let back = told(Observer::Receiver).then_some(back);
    to_it.into_iter().chain(back).collect()
}

/// Returns the sums over the streams of each interval that is whole in all of them, in Mbit/s.
fn whole_intervals(parts: &[Interval], workload: &Iperf, streams: usize) -> Vec<f64> {
    let begin = parts.iter().map(|it| it.start).min().unwrap_or_default();
    let mut sums: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
    for part in parts.iter().filter(|it| is_whole(workload, begin, it)) {
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
    cells: Vec<Cell>,
}

impl IperfCells<'_> {
    fn push(&mut self, metric: &str, unit: &str, estimate: Estimate) {
        self.cells.push(self.context.cell(&self.place, metric, unit, estimate));
    }

    fn throughput(&mut self, metric: &str, seen: &ObserverCounts) {
        let estimate = if seen.rates.is_empty() {
            // A report has no intervals, a short test no whole one.
            match seen.total_rate() {
                Some(rate) => Estimate::exact(rate, 1),
                None => return,
            }
        } else {
            mean_t(&seen.rates)
        };
        self.push(metric, "Mbit/s", estimate);
        if let Some(best) = seen.best {
            let best = Estimate::exact(best, seen.rates.len() as u64);
            self.push(&format!("{metric}_best_second"), "Mbit/s", best);
        }
    }

    /// Adds the rate at which the device received as one that is not known, with the reason.
    fn unknown(&mut self, why: &str) {
        self.push("throughput_rx", "Mbit/s", Estimate::default());
        if let Some(cell) = self.cells.last_mut() {
            cell.note = Some(format!("unknown: {why}"));
        }
    }

    /// Adds the rate at which the device received over TCP, and the rate at which this host sent.
    fn taken(&mut self, sent: &ObserverCounts, taken: &ObserverCounts, recorded: &Recorded) {
        if sent.is_empty() {
            return;
        }
        let nothing = taken.totals.iter().all(|t| t.bytes == 0);
        if nothing && taken.rates.iter().all(|&rate| rate == 0.0) {
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
                self.datagrams(received, "");
            }
            return;
        }
        // What TCP took is as much as arrived, but for what is on its way.
        self.throughput("throughput_rx", if udp || !told.is_empty() { told } else { sent });
        if udp {
            self.throughput("throughput_sent", sent);
            self.datagrams(told, "");
        } else {
            self.retransmits(sent);
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

    fn datagrams(&mut self, seen: &ObserverCounts, direction: &str) {
        let (Some(received), Some(lost)) = (seen.sum(|t| t.datagrams), seen.sum(|t| t.lost)) else {
            return;
        };
        if seen.totals.is_empty() {
            return;
        }
        let total = received + lost;
        let named = |metric: &str| format!("{metric}{direction}");
        self.push(&named("loss"), "%", wilson(lost, total).scaled(100.0));
        let mut count = |metric: &str, value: Option<u64>| {
            if let Some(value) = value {
                self.push(&named(metric), "packets", Estimate::exact(value as f64, total));
            }
        };
        count("packets_lost", Some(lost));
        count("packets_total", Some(total));
        count("packets_out_of_order", seen.sum(|t| t.out_of_order));
        count("packets_duplicate", seen.sum(|t| t.duplicates));
        let jitters: Vec<f64> =
            seen.totals.iter().filter_map(|t| Some(t.jitter_ns? as f64 / 1e6)).collect();
        if let Some(jitter) = mean(&jitters) {
            self.push(&named("jitter"), "ms", Estimate::exact(jitter, received));
        }
    }

    fn retransmits(&mut self, seen: &ObserverCounts) {
        if let (Some(count), false) = (seen.sum(|t| t.retransmits), seen.totals.is_empty()) {
            self.push("retransmits", "segments", Estimate::exact(count as f64, 1));
        }
    }
}

/// Returns the megabits a second that the slowest stream of ours sent; `None` where the other side sends too,
/// as its rate is not this sender's.
pub(super) fn slowest_stream(w: &Iperf, recorded: &Recorded) -> Option<f64> {
    if w.direction != Direction::Forward {
        return None;
    }
    let totals = recorded.samples.iter().filter_map(|s| match s {
        Sample::Interval(i) if i.total && i.observer == Observer::Sender => Some(i),
        _ => None,
    });
    let rates = totals.filter_map(|i| {
        let seconds = i.end.since(i.start).as_secs_f64();
        (seconds > 0.0).then(|| i.bytes as f64 * 8e-6 / seconds)
    });
    rates.reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::label;
    use crate::run::Site;
    use alloc::string::String;
    use espbench_model::sample::Link;
    use espbench_model::workload::Workload;

    const UDP: Iperf = Iperf {
        transport: Transport::Udp,
        direction: Direction::Forward,
        time: Duration::from_secs(3),
        bytes: None,
        interval: Duration::from_secs(1),
        length: 1470,
        bandwidth: Some(40_000_000),
        parallel: 1,
        window: None,
        no_delay: false,
        ..Iperf::DEFAULT
    };

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn part(observer: Observer, seq: u64, from: u64, to: u64, bytes: u64) -> Interval {
        Interval { observer, seq, start: ms(from), end: ms(to), bytes, ..Interval::default() }
    }

    fn cells(work: Iperf, samples: &[Interval]) -> BTreeMap<String, Cell> {
        let recorded = Recorded {
            ordinal: 0,
            repetition: 0,
            workload: Workload::Iperf(work),
            samples: samples.iter().copied().map(Sample::Interval).collect(),
            counters: BTreeMap::new(),
            facts: BTreeMap::new(),
            error: None,
        };
        let site = Site::default();
        let context = SummaryContext { site: &site, origin: Origin::Measured, seed: 1 };
        let cells = summarize(&work, &recorded, &context);
        cells.into_iter().map(|c| (c.id.metric.clone(), c)).collect()
    }

    #[test]
    fn a_udp_test_with_the_servers_report() {
        let total = Interval {
            total: true,
            datagrams: Some(990),
            lost: Some(10),
            out_of_order: Some(2),
            jitter_ns: Some(1_500_000),
            ..part(Observer::Peer, 0, 0, 3000, 3_000_000)
        };
        let got = cells(
            UDP,
            &[
                part(Observer::Sender, 0, 0, 1000, 1_000_000),
                part(Observer::Sender, 1, 1000, 2000, 1_250_000),
                part(Observer::Sender, 2, 2000, 2500, 10),
                Interval { total: true, ..part(Observer::Sender, 3, 0, 2500, 2_250_010) },
                total,
            ],
        );
        let value = |metric: &str| got[metric].value.unwrap();
        assert_eq!(value("throughput_sent"), 9.0);
        assert_eq!(value("throughput_sent_best_second"), 10.0);
        assert_eq!(value("throughput_rx"), 8.0);
        assert_eq!(got["throughput_rx"].ci_low, None, "one figure has no spread");
        assert_eq!(
            (value("loss"), value("packets_lost"), value("packets_total")),
            (1.0, 10.0, 1000.0)
        );
        assert!(got["loss"].ci_low.unwrap() > 0.5 && got["loss"].ci_high.unwrap() < 1.9);
        assert_eq!((value("jitter"), value("packets_out_of_order")), (1.5, 2.0));
        assert!(!got.contains_key("packets_duplicate"), "the report does not say");
        assert_eq!(label::result(&got["loss"].settings).as_deref(), Some("40 Mbit/s offered"));
    }

    #[test]
    fn without_a_report_nothing_is_claimed_of_the_device() {
        let got = cells(
            UDP,
            &[
                part(Observer::Sender, 0, 0, 1000, 1_000_000),
                Interval { total: true, ..part(Observer::Sender, 1, 0, 1000, 1_000_000) },
            ],
        );
        assert!(got.contains_key("throughput_sent"));
        assert_eq!(got["throughput_rx"].value, None);
        assert!(got["throughput_rx"].note.as_deref().unwrap().contains("no report"));
        assert!(!got.contains_key("loss"));
    }

    #[test]
    fn over_tcp_the_headline_is_what_the_device_took() {
        let tcp = Iperf { transport: Transport::Tcp, bandwidth: None, ..UDP };
        let sent = [
            part(Observer::Sender, 0, 0, 1000, 3_600_000),
            Interval { total: true, ..part(Observer::Sender, 1, 0, 1000, 3_600_000) },
        ];
        let taken = [
            part(Observer::Peer, 0, 0, 980, 1_960_000),
            Interval { total: true, ..part(Observer::Peer, 1, 0, 980, 1_960_000) },
        ];
        let got = cells(tcp, &[taken, sent].concat());
        assert_eq!(got["throughput_rx"].value, Some(16.0));
        assert_eq!(got["throughput_rx_best_second"].value, Some(16.0));
        assert_eq!(got["throughput_sent"].value, Some(28.8));
        // A device that took nothing, and a system that tells nothing.
        let none = taken.map(|it| Interval { bytes: 0, ..it });
        for (samples, why) in [([none, sent].concat(), "took nothing"), (sent.to_vec(), "tells")] {
            let got = cells(tcp, &samples);
            assert_eq!(got["throughput_rx"].value, None);
            assert!(got["throughput_rx"].note.as_deref().unwrap().contains(why));
            assert!(!got.contains_key("throughput_rx_best_second"));
        }
    }

    #[test]
    fn a_device_that_sends_tells_what_its_socket_took() {
        for transport in [Transport::Tcp, Transport::Udp] {
            let work = Iperf { transport, direction: Direction::Reverse, ..UDP };
            let got = cells(
                work,
                &[
                    part(Observer::Receiver, 0, 0, 1000, 1_000_000),
                    Interval { total: true, ..part(Observer::Receiver, 1, 0, 1000, 1_000_000) },
                    part(Observer::Peer, 0, 0, 1000, 1_125_000),
                    Interval { total: true, ..part(Observer::Peer, 1, 0, 1000, 1_125_000) },
                ],
            );
            assert_eq!(got["throughput_tx"].value, Some(8.0));
            assert_eq!(got["throughput_sent"].value, Some(9.0));
            assert!(!got.contains_key("throughput_rx"), "{transport:?}");
        }
    }

    #[test]
    fn streams_are_added_up() {
        let work = Iperf { transport: Transport::Tcp, parallel: 2, bandwidth: None, ..UDP };
        let stream =
            |link| move |i: Interval| Interval { link: Link(link), retransmits: Some(3), ..i };
        let mut samples = Vec::new();
        for link in 0..2 {
            let named = stream(link);
            for observer in [Observer::Peer, Observer::Sender] {
                samples.push(named(part(observer, 0, 0, 1000, 500_000)));
                samples.push(named(part(observer, 1, 1000, 2000, 750_000)));
                let total = part(observer, 2, 0, 2000, 1_250_000);
                samples.push(named(Interval { total: true, ..total }));
            }
        }
        let got = cells(work, &samples);
        assert_eq!(got["throughput_rx"].value, Some(10.0));
        assert_eq!(got["throughput_rx"].n, Some(2));
        assert_eq!(got["throughput_rx_best_second"].value, Some(12.0));
        assert_eq!(got["retransmits"].value, Some(6.0));
        assert_eq!(label::result(&got["throughput_rx"].settings).as_deref(), Some("2 streams"));
    }

    #[test]
    fn both_directions_are_told_apart() {
        let totals = |observer| Interval {
            total: true,
            datagrams: Some(100),
            lost: Some(0),
            ..part(observer, 0, 0, 1000, 1000)
        };
        let work = Iperf { direction: Direction::Dual, ..UDP };
        let got = cells(
            work,
            &[totals(Observer::Sender), totals(Observer::Peer), totals(Observer::Receiver)],
        );
        assert!(got.contains_key("loss_rx") && got.contains_key("loss_tx"));
    }

    #[test]
    fn a_best_second_of_half_seconds_and_none_of_two_seconds() {
        let rates = [1.0, 5.0, 4.0, 1.0];
        assert_eq!(best_second(&rates, Duration::from_millis(500)), Some(4.5));
        assert_eq!(best_second(&rates, Duration::from_secs(2)), None);
        assert_eq!(best_second(&rates, Duration::ZERO), None);
        assert_eq!(best_second(&[], Duration::from_secs(1)), None);
    }

    proptest::proptest! {
        /// A test of any length, whose last bytes come out of buffers after its end, and whose observer
        /// counts by whole intervals: the mean is the rate.
        #[test]
        fn what_comes_after_the_test_is_no_second_of_it(
            time_ms in 1000u64..20_000,
            late_ms in 1u64..900,
            interval_ms in 100u64..1500,
        ) {
            let work = Iperf {
                time: Duration::from_millis(time_ms),
                interval: Duration::from_millis(interval_ms),
                direction: Direction::Reverse,
                ..UDP
            };
            let flow_ends = time_ms + late_ms;
            let parts: Vec<Interval> = (0..flow_ends.div_ceil(interval_ms))
                .map(|seq| {
                    let (from, to) = (seq * interval_ms, (seq + 1) * interval_ms);
                    // A Mbit/s while the flow lasts.
                    part(Observer::Receiver, seq, from, to, (to.min(flow_ends) - from) * 125)
                })
                .collect();
            let total = part(Observer::Receiver, 99, 0, flow_ends, flow_ends * 125);
            let got = cells(work, &[parts, [Interval { total: true, ..total }].to_vec()].concat());
            let rate = got["throughput_tx"].value.unwrap();
            // An interval may end as much after the test as one may be short.
            proptest::prop_assert!((0.94..=1.0001).contains(&rate), "{rate}");
        }
    }
}
