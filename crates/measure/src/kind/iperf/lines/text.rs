//! The columns of one line, without the stream's number.

use super::Style;
use alloc::format;
use alloc::string::{String, ToString};
use espbench_model::sample::{Interval, Observer, Spread};

/// Columns that a line shows behind amount and rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineColumns {
    /// Nothing, or what the plain form has.
    Plain,
    /// Columns of a sender of TCP.
    Writes,
    /// Columns of a receiver of TCP: its reads.
    Reads,
    /// Columns of a receiver of TCP with one-way times.
    TimedReads,
    /// Columns of a sender of datagrams.
    Sent,
    /// Columns of a receiver of datagrams, with one-way times.
    Received,
    /// Round trips of requests.
    RoundTrips,
}

impl LineColumns {
    /// Returns the columns that an interval has in this style.
    pub(super) fn of(interval: &Interval, style: &Style) -> Self {
        let timed = interval.transit.is_some();
        if style.bounceback && interval.observer == Observer::Sender {
            return Self::RoundTrips;
        }
        if !style.enhanced {
            return Self::Plain;
        }
        match (style.udp, interval.observer) {
            (true, Observer::Sender) => Self::Sent,
            (true, _) => {
                if timed {
                    Self::Received
                } else {
                    Self::Plain
                }
            }
            (false, Observer::Receiver) if timed => Self::TimedReads,
            (false, Observer::Receiver) if interval.read_sizes.is_some() => Self::Reads,
            (false, Observer::Receiver) => Self::Plain,
            (false, _) => Self::Writes,
        }
    }

    /// Returns the heading over the columns; `None` for the plain form, which has no heading.
    pub(super) const fn heading(self) -> Option<&'static str> {
        Some(match self {
            Self::Plain => return None,
            Self::Writes => {
                "[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     \
                 Cwnd/RTT(var)        NetPwr"
            }
            Self::Reads => "[ ID] Interval            Transfer    Bandwidth       Reads=Dist",
            Self::TimedReads => {
                "[ ID] Interval            Transfer    Bandwidth    Burst Latency \
                 avg/min/max/stdev (cnt/size) inP NetPwr  Reads=Dist"
            }
            Self::Sent => "[ ID] Interval            Transfer     Bandwidth      Write/Err  PPS",
            Self::Received => {
                "[ ID] Interval            Transfer     Bandwidth        Jitter   Lost/Total  \
                 Latency avg/min/max/stdev PPS  Rx/inP  NetPwr"
            }
            Self::RoundTrips => {
                "[ ID] Interval            Transfer    Bandwidth         BB cnt=avg/min/max/stdev         \
                 Rtry  Cwnd/RTT    RPS"
            }
        })
    }
}

/// Returns one line; `rate` is in Mbit/s.
pub(super) fn text(interval: &Interval, style: &Style, rate: Option<f64>, sum: bool) -> String {
    let seconds = interval.end.since(interval.start).as_secs_f64();
    let rate = rate.map_or(0.0, |megabits| megabits * 1e6 / 8.0);
    let line = format!(
        "{:.4}-{:.4} sec  {}  {}/sec",
        interval.start.as_nanos() as f64 / 1e9,
        interval.end.as_nanos() as f64 / 1e9,
        style.unit.amount(interval.bytes as f64),
        style.unit.rate(rate),
    );
    let more = match LineColumns::of(interval, style) {
        LineColumns::Plain => plain(interval),
        LineColumns::Writes => writes(interval, rate, sum),
        LineColumns::Reads => format!("  {}", reads(interval)),
        LineColumns::TimedReads => timed_reads(interval, style, rate),
        LineColumns::Sent => sent(interval, seconds),
        LineColumns::Received => received(interval, seconds, rate),
        LineColumns::RoundTrips => round_trips(interval),
    };
    line + &more
}

fn plain(interval: &Interval) -> String {
    let mut more = String::new();
    if interval.lost.is_some() {
        more = loss(interval);
    }
    if let Some(retransmits) = interval.retransmits {
        more += &format!("  {retransmits} retransmits");
        if let Some(rtt) = interval.tcp_rtt_ns {
            more += &format!(", rtt {} us", rtt / 1000);
        }
    }
    more
}

fn loss(interval: &Interval) -> String {
    let lost = interval.lost.unwrap_or_default();
    let total = interval.datagrams.unwrap_or_default() + lost;
    let percent = if total == 0 { 0.0 } else { 100.0 * lost as f64 / total as f64 };
    let jitter = interval
        .jitter_ns
        .map_or_else(|| "      - ms".into(), |j| format!("{:7.3} ms", j as f64 / 1e6));
    format!(" {jitter}  {lost}/{total} ({}%)", super::number(percent))
}

/// Writes, errors, segments sent again, congestion window, round trip and its deviation. A sum has no
/// window and no round trip.
fn writes(interval: &Interval, rate: f64, sum: bool) -> String {
    let count = known(interval.datagrams);
    let errors = interval.errors.unwrap_or_default();
    let retries = known(interval.retransmits);
    if sum {
        return format!("  {count}/{errors}{retries:>10}");
    }
    let rtt = interval.tcp_rtt_ns.map(|ns| ns / 1000);
    let power = net_power(rate, rtt.map(|us| us as f64 / 1e6));
    let rtt = known(rtt);
    match interval.tcp_cwnd {
        Some(cwnd) if cwnd >= 1024 => {
            let var = known(interval.tcp_rtt_var_us.map(u64::from));
            format!("  {count}/{errors} {retries:>10} {:>8}K/{rtt}({var}) us  {power}", cwnd / 1024)
        }
        _ => format!("  {count}/{errors} {retries:>10}       NA/{rtt} us  {power}"),
    }
}

/// Reads, and how many of them fall into each of eight classes of size.
fn reads(interval: &Interval) -> String {
    let sizes = interval.read_sizes.unwrap_or_default();
    let all: u64 = sizes.iter().copied().map(u64::from).sum();
    let classes = sizes.map(|n| n.to_string()).join(":");
    format!("{all}={classes}")
}

fn timed_reads(interval: &Interval, style: &Style, rate: f64) -> String {
    let spread = interval.transit.unwrap_or_default();
    let size = interval.bytes.checked_div(spread.count).unwrap_or_default();
    let mean = spread.mean_ns / 1e9;
    format!(
        "  {} ms ({}/{size}) {} {}  {}",
        four(&spread, true),
        spread.count,
        // Little's law: what is under way is rate times time.
        style.unit.adaptive_bytes(rate * mean),
        net_power(rate, Some(mean)),
        reads(interval),
    )
}

fn sent(interval: &Interval, seconds: f64) -> String {
    let count = interval.datagrams.unwrap_or_default();
    let rate = if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    format!("  {count}/{} {rate:>8.0} pps", interval.errors.unwrap_or_default())
}

/// Latencies outside of these are those of clocks that do not agree (`UNREALISTIC_LATENCYMINMIN`,
/// `UNREALISTIC_LATENCYMINMAX` of iperf 2, in nanoseconds).
const REALISTIC_NS: core::ops::RangeInclusive<i64> = -10_000_000_000_000..=60_000_000_000_000_000;

fn received(interval: &Interval, seconds: f64, rate: f64) -> String {
    let spread = interval.transit.unwrap_or_default();
    let count = interval.datagrams.unwrap_or_default();
    let pps = if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    if !REALISTIC_NS.contains(&spread.min_ns) {
        return format!("{} -/-/-/- ms {pps:.0} pps", loss(interval));
    }
    let mean = spread.mean_ns / 1e9;
    let lambda = libm::round(pps);
    let under_way = libm::round(lambda * mean);
    let deviation = libm::round(lambda * spread.deviation_ns().unwrap_or_default() / 1e9);
    format!(
        "{} {} ms {pps:.0} pps {count}/{under_way:.0}({deviation:.0}) pkts {}",
        loss(interval),
        four(&spread, false),
        net_power(rate, Some(mean)),
    )
}

fn round_trips(interval: &Interval) -> String {
    let spread = interval.transit.unwrap_or_default();
    // Requests follow one another: in a second of waiting there are so many round trips.
    let rate = if spread.mean_ns > 0.0 { 1e9 / spread.mean_ns } else { 0.0 };
    let rate = if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    let window = interval.tcp_cwnd.map_or_else(|| "  NA".into(), |w| format!("{:4}K", w / 1024));
    format!(
        "    {}={} ms {:>4} {window}/{} us    {rate} rps",
        spread.count,
        four(&spread, true),
        known(interval.retransmits),
        known(interval.tcp_rtt_ns.map(|ns| ns / 1000)),
    )
}

/// Returns mean, least, most and deviation in milliseconds. With `few`, a single value has its mean
/// only.
fn four(spread: &Spread, few: bool) -> String {
    let alone = few && spread.count < 2;
    let extreme = |ns: i64| if alone { 0.0 } else { ns as f64 / 1e6 };
    format!(
        "{:.3}/{:.3}/{:.3}/{:.3}",
        spread.mean_ns / 1e6,
        extreme(spread.min_ns),
        extreme(spread.max_ns),
        spread.deviation_ns().unwrap_or_default() / 1e6,
    )
}

/// Returns the network power: megabytes a second for each second of delay.
fn net_power(rate: f64, delay: Option<f64>) -> String {
    let Some(delay) = delay.filter(|&d| d != 0.0) else { return "NAN".into() };
    let power = 1e-6 * rate / delay;
    if power < -1e7 {
        "OBL".into()
    } else if power > 100.0 {
        format!("{power:.0}")
    } else if power > 10.0 {
        format!("{power:.2}")
    } else {
        format!("{power:.6}")
    }
}

fn known(count: Option<u64>) -> String {
    count.map_or_else(|| "NA".into(), |n| n.to_string())
}
