//! The lines that iperf 2 users know, one for each interval and total as it comes.
//!
//! Units are iperf 2's: Bytes in powers of 1024, bits in powers of 1000. With `-e` the columns are those
//! of 2.1.8; [`csv`] has its rows. Of a stream that this host sends over TCP, the lines say what the peer
//! took, where the system tells; iperf 2's say what this host's kernel took, which here is one line at
//! the end, and the rows of `-y C`.

pub mod csv;
mod text;
pub mod unit;

use super::summary::best_second;
use crate::series::WHOLE;
use crate::units::megabits;
use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Link, Observer};
use espbench_model::text::count;
use espbench_model::time::{Duration, Instant};
use text::{LineColumns, text};
use unit::Unit;

/// Form of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// `-u`.
    pub udp: bool,
    /// `-e`: the columns of 2.1.8.
    pub enhanced: bool,
    /// `--bounceback`.
    pub bounceback: bool,
    /// `-d` and `--full-duplex`: a total of both directions.
    pub both: bool,
    /// `-f`.
    pub unit: Unit,
}

impl Default for Style {
    fn default() -> Self {
        Self { udp: false, enhanced: false, bounceback: false, both: false, unit: unit::ADAPTIVE }
    }
}

/// Makes lines of intervals, sums over parallel streams, and keeps the best second.
#[derive(Clone, Debug, Default)]
pub struct IperfLines {
    streams: usize,
    style: Style,
    headed: BTreeSet<LineColumns>,
    length: Duration,
    sums: BTreeMap<(Observer, bool, u64), Sum>,
    rates: BTreeMap<Observer, Vec<f64>>,
    /// Mean Mbit/s of what this host sends and of what it receives, once told.
    means: [Option<f64>; 2],
    starts: BTreeMap<(Observer, u32), Instant>,
    /// Bytes that the peer acknowledged of each stream, where this host's TCP tells them: the
    /// kernel's count is then not printed.
    taken: BTreeMap<Link, u64>,
    /// Bytes that the peer acknowledged of each stream in an interval, until this host's side of it comes.
    held: BTreeMap<Link, Interval>,
}

/// Intervals of equal number, added up.
#[derive(Clone, Copy, Debug)]
struct Sum {
    count: usize,
    /// Number of intervals that are whole.
    whole: usize,
    interval: Interval,
    /// The sum of the streams' own rates in Mbit/s, as the report has it: they need not begin and end
    /// together.
    rate: Option<f64>,
}

impl IperfLines {
    /// Creates the printer for `streams` streams in each direction, with intervals of `length`.
    #[must_use]
    pub fn new(streams: u16, length: Duration, style: Style) -> Self {
        Self { streams: usize::from(streams.max(1)), length, style, ..Self::default() }
    }

    /// Returns the lines that one more interval adds: its own line, and that of the sum where it is
    /// the last stream's interval of its number. Behind the sum of the totals come the mean and the
    /// best second, each with its name. Times count from the first interval of the stream.
    pub fn add(&mut self, interval: &Interval) -> Vec<String> {
        self.add_as(u32::from(interval.link.0) + 1, interval)
    }

    /// Returns the lines that one more interval adds, under the number `id`.
    pub fn add_as(&mut self, id: u32, interval: &Interval) -> Vec<String> {
        let mut lines = Vec::new();
        let interval = &self.counted_from_start(id, interval);
        match (interval.observer, interval.datagrams) {
            (Observer::Peer, Some(_)) => lines.push(format!("[{id:3}] Server Report:")),
            (Observer::Peer, None) => {
                self.taken.insert(interval.link, interval.bytes);
                if self.style.enhanced {
                    self.held.insert(interval.link, *interval);
                    return lines;
                }
            }
            (Observer::Sender, _) => {
                if let Some(taken) = self.taken.get(&interval.link).copied() {
                    if let Some(held) = self.held.remove(&interval.link) {
                        lines.extend(self.counted(id, &with_calls(&held, interval)));
                    }
                    let told = interval.total.then(|| in_flight(interval, taken));
                    lines.extend(told.map(|t| format!("[{id:3}] {t}")));
                    return lines;
                }
            }
            (Observer::Receiver, _) => {}
        }
        lines.extend(self.counted(id, interval));
        lines
    }

    /// Returns the lines of an interval that is shown, and of the sum where it is the last of its
    /// number.
    fn counted(&mut self, id: u32, interval: &Interval) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.heading(interval));
        let rate = megabits(interval.bytes, interval.end.since(interval.start));
        lines.push(format!("[{id:3}] {}", text(interval, &self.style, rate, false)));
        lines.extend(trouble(interval).map(|t| format!("[{id:3}] {t}")));
        // The streams' totals may have different numbers where they ended apart.
        let number = if interval.total { 0 } else { interval.seq };
        let key = (interval.observer, interval.total, number);
        let whole = usize::from(is_whole(interval, self.length));
        let sum = match self.sums.remove(&key) {
            Some(sum) => Sum {
                count: sum.count + 1,
                whole: sum.whole + whole,
                interval: add(&sum.interval, interval),
                rate: sum.rate.zip(rate).map(|(a, b)| a + b),
            },
            None => Sum { count: 1, whole, interval: *interval, rate },
        };
        if sum.count < self.streams {
            self.sums.insert(key, sum);
            return lines;
        }
        if self.streams > 1 {
            lines.push(format!("[SUM] {}", text(&sum.interval, &self.style, sum.rate, true)));
        }
        if self.style.bounceback {
            return lines;
        }
        if interval.total {
            lines.extend(self.summary(interval.observer));
            lines.extend(self.both_ways(interval.observer));
        } else if sum.whole == sum.count {
            self.rates.entry(interval.observer).or_default().extend(sum.rate);
        }
        lines
    }

    /// Returns the interval with times from the beginning of its stream.
    #[must_use]
    pub fn counted_from_start(&mut self, id: u32, interval: &Interval) -> Interval {
        let start = *self.starts.entry((interval.observer, id)).or_insert(interval.start);
        let since = |at: Instant| {
            Instant::from_nanos(u64::try_from(at.since(start).as_nanos()).unwrap_or_default())
        };
        Interval { start: since(interval.start), end: since(interval.end), ..*interval }
    }

    /// Returns the heading of the interval's columns, unless it was printed before.
    fn heading(&mut self, interval: &Interval) -> Option<String> {
        let columns = LineColumns::of(interval, &self.style);
        self.headed.insert(columns).then_some(())?;
        columns.heading().map(Into::into)
    }

    /// Returns the line of both directions at once, behind the second one's.
    fn both_ways(&mut self, observer: Observer) -> Option<String> {
        let mean = espbench_stats::interval::mean(self.rates.get(&observer)?)?;
        let was_told = self.means.iter().all(Option::is_some);
        self.means[usize::from(observer == Observer::Receiver)] = Some(mean);
        let [sent, received] = self.means;
        let both = sent.zip(received).filter(|_| self.style.both && !was_told);
        both.map(|(sent, received)| format!("both ways: {} Mbits/sec", number(sent + received)))
    }

    fn summary(&self, observer: Observer) -> Option<String> {
        let what = match observer {
            Observer::Sender => "this host sends",
            Observer::Receiver => "device delivers",
            Observer::Peer => "device receives",
        };
        let rates = self.rates.get(&observer)?;
        let mean = number(espbench_stats::interval::mean(rates)?);
        let best = best_second(rates, self.length).map_or_else(
            || "unknown (intervals do not divide it)".into(),
            |b| format!("{} Mbits/sec", number(b)),
        );
        let intervals = count(rates.len(), "interval");
        Some(format!("{what}: mean of {intervals} {mean} Mbits/sec, best second {best}"))
    }
}

fn is_whole(interval: &Interval, length: Duration) -> bool {
    interval.end.since(interval.start).as_secs_f64() >= WHOLE * length.as_secs_f64()
}

fn add(a: &Interval, b: &Interval) -> Interval {
    let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    Interval {
        start: a.start.min(b.start),
        end: a.end.max(b.end),
        bytes: a.bytes + b.bytes,
        datagrams: both(a.datagrams, b.datagrams),
        lost: both(a.lost, b.lost),
        out_of_order: both(a.out_of_order, b.out_of_order),
        duplicates: both(a.duplicates, b.duplicates),
        retransmits: both(a.retransmits, b.retransmits),
        jitter_ns: None,
        tcp_rtt_ns: None,
        tcp_rtt_var_us: None,
        tcp_cwnd: None,
        errors: a.errors.zip(b.errors).map(|(a, b)| a.saturating_add(b)),
        read_sizes: a
            .read_sizes
            .zip(b.read_sizes)
            .map(|(a, b)| core::array::from_fn(|class| a[class].saturating_add(b[class]))),
        transit: a.transit.zip(b.transit).map(|(a, b)| a.join(&b)),
        ..*a
    }
}

/// Returns how much the kernel took, and how much of it had not arrived at the end.
fn in_flight(sent: &Interval, taken: u64) -> String {
    let amount = |bytes: u64| -> String { unit::ADAPTIVE.amount(bytes as f64).trim_start().into() };
    match sent.bytes.saturating_sub(taken) {
        0 => format!("sent {}, all of it received", amount(sent.bytes)),
        left => format!(
            "sent {}, of which {} were on the way at the end",
            amount(sent.bytes),
            amount(left)
        ),
    }
}

/// Returns what the peer acknowledged, with the facts that only this end knows: calls, errors and
/// the kernel's window.
fn with_calls(taken: &Interval, sent: &Interval) -> Interval {
    Interval {
        datagrams: sent.datagrams,
        errors: sent.errors,
        tcp_cwnd: sent.tcp_cwnd,
        tcp_rtt_var_us: sent.tcp_rtt_var_us,
        ..*taken
    }
}

/// Datagrams out of order or received twice, where there are any.
fn trouble(interval: &Interval) -> Option<String> {
    let (late, twice) =
        (interval.out_of_order.unwrap_or_default(), interval.duplicates.unwrap_or_default());
    (late + twice > 0)
        .then(|| format!("{late} datagrams received out-of-order, {twice} received twice"))
}

/// Returns three significant digits, as iperf 2 prints them.
fn number(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(from: u64, to: u64, bytes: u64) -> Interval {
        let at = |s: u64| Instant::from_nanos(s * 1_000_000_000);
        Interval { start: at(from), end: at(to), bytes, seq: from, ..Interval::default() }
    }

    #[test]
    fn a_line_as_iperf_2_prints_it() {
        // iperf 2.1.8: "[  1] 0.0000-1.0000 sec  5.00 MBytes  41.9 Mbits/sec".
        let mut lines = IperfLines::new(1, Duration::from_secs(1), Style::default());
        assert_eq!(
            lines.add(&seconds(0, 1, 5_242_880)),
            ["[  1] 0.0000-1.0000 sec  5.00 MBytes  41.9 Mbits/sec"]
        );
        lines.add(&seconds(1, 2, 2_500_000));
        let total = Interval { total: true, ..seconds(0, 2, 7_742_880) };
        assert_eq!(
            lines.add(&total),
            [
                "[  1] 0.0000-2.0000 sec  7.38 MBytes  31.0 Mbits/sec",
                "this host sends: mean of 2 intervals 31.0 Mbits/sec, best second 41.9 Mbits/sec",
            ]
        );
    }

    #[test]
    fn a_server_report_with_losses() {
        let report = Interval {
            observer: Observer::Peer,
            total: true,
            datagrams: Some(990),
            lost: Some(10),
            out_of_order: Some(3),
            jitter_ns: Some(12_345),
            ..seconds(0, 10, 1_455_300)
        };
        assert_eq!(
            IperfLines::new(1, Duration::from_secs(1), Style::default()).add(&report),
            [
                "[  1] Server Report:",
                "[  1] 0.0000-10.0000 sec  1.39 MBytes  1.16 Mbits/sec   0.012 ms  10/1000 (1.00%)",
                "[  1] 3 datagrams received out-of-order, 0 received twice",
            ]
        );
    }

    #[test]
    fn sums_come_with_the_last_stream() {
        let mut lines = IperfLines::new(2, Duration::from_secs(1), Style::default());
        let first = seconds(0, 1, 1024);
        assert_eq!(lines.add(&first).len(), 1);
        let second = Interval { link: Link(1), ..first };
        assert_eq!(
            lines.add(&second),
            [
                "[  2] 0.0000-1.0000 sec  1.00 KBytes  8.19 Kbits/sec",
                "[SUM] 0.0000-1.0000 sec  2.00 KBytes  16.4 Kbits/sec",
            ]
        );
    }

    #[test]
    fn a_sum_is_the_sum_of_the_streams_rates_as_in_the_report() {
        let mut lines = IperfLines::new(2, Duration::from_secs(1), Style::default());
        lines.add(&Interval { total: true, ..seconds(0, 10, 25_000_000) });
        // It ended later: of all bytes over all the time that would be 37.5.
        let late = Interval { link: Link(1), total: true, ..seconds(0, 11, 27_500_000) };
        let sum = lines.add(&late)[1].clone();
        assert!(
            sum.starts_with("[SUM] 0.0000-11.0000 sec") && sum.ends_with("40.0 Mbits/sec"),
            "{sum}"
        );
    }

    #[test]
    fn directions_at_once_have_a_total() {
        let one = Duration::from_secs(1);
        let by = |observer, bytes| Interval { observer, ..seconds(0, 1, bytes) };
        let all = |style| {
            let mut lines = IperfLines::new(1, one, style);
            let mut told = Vec::new();
            for it in [by(Observer::Peer, 250_000), by(Observer::Receiver, 500_000)] {
                told.extend(lines.add(&it));
                told.extend(lines.add(&Interval { total: true, ..it }));
            }
            told
        };
        let told = all(Style { both: true, ..Style::default() });
        assert_eq!(told.last().map(String::as_str), Some("both ways: 6.00 Mbits/sec"));
        assert!(all(Style::default()).iter().all(|it| !it.starts_with("both")), "one by one");
    }

    #[test]
    fn lines_say_what_the_peer_took_and_the_end_what_is_in_flight() {
        let mut lines = IperfLines::new(1, Duration::from_secs(1), Style::default());
        let told =
            |i: Interval| [Observer::Peer, Observer::Sender].map(|o| Interval { observer: o, ..i });
        let [taken, _] = told(seconds(0, 1, 250_000));
        let [_, sent] = told(seconds(0, 1, 2_500_000));
        assert_eq!(lines.add(&taken).len(), 1);
        assert_eq!(lines.add(&sent), [""; 0]);
        let total = |i| Interval { total: true, ..i };
        assert_eq!(
            lines.add(&total(taken)),
            [
                "[  1] 0.0000-1.0000 sec   244 KBytes  2.00 Mbits/sec",
                "device receives: mean of 1 interval 2.00 Mbits/sec, best second 2.00 Mbits/sec",
            ]
        );
        assert_eq!(
            lines.add(&total(sent)),
            ["[  1] sent 2.38 MBytes, of which 2.15 MBytes were on the way at the end"]
        );
    }

    #[test]
    fn nothing_moved() {
        let none = text(&seconds(0, 0, 0), &Style::default(), None, false);
        assert_eq!(none, "0.0000-0.0000 sec  0.000 Bytes  0.000 bits/sec");
    }
}
