//! When each piece of advice is given.

use super::{Advice, BEACON_PERIOD, Warning, in_phase};
use crate::cell::Cell;
use crate::label;
use crate::metric::{self, Statistic};
use crate::quantile::{Sorted, needed};
use crate::run::Recorded;
use crate::units::conversion;
use crate::{modes, series, trend};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact;
use espbench_model::sample::{Fate, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{Direction, IpTest, Iperf, MqttMode};

/// A sender that keeps less than this part of the rate asked fell behind.
const KEPT: f64 = 0.98;

/// A clock whose step is more than this part of the median is too coarse.
const COARSE: f64 = 0.05;

/// What there is to say about one recorded cell and the result cells made of it.
#[must_use]
pub fn advise(recorded: &Recorded, cells: &[Cell]) -> Vec<Warning> {
    let rules = [
        few_samples(cells),
        bimodal(recorded),
        drifting(recorded),
        overflow(recorded),
        sender_behind(recorded),
        beacon_comb(recorded),
        not_verified(recorded),
    ];
    let place = label::of(recorded);
    let warning = |advice| {
        let (place, workload) = (place.clone(), recorded.workload.kind().into());
        Warning { place, workload, advice }
    };
    rules.into_iter().flatten().map(warning).collect()
}

/// The same for what only the calibration of the host knows: the step of its clock. `cells` are the
/// result cells of one recorded cell; `kind` is of its workload, and `place` names it.
#[must_use]
pub fn clock(kind: &str, place: &str, cells: &[Cell], step_ns: u64) -> Option<Warning> {
    let medians = cells.iter().filter(|c| metric::of(c).1 == Statistic::P50);
    let in_ns = medians.filter_map(|c| Some(c.value? * conversion(&c.unit, "ns")?));
    let median = in_ns.filter(|ns| ns.is_finite()).reduce(f64::min)?;
    (step_ns as f64 > COARSE * median).then(|| Warning {
        place: place.into(),
        workload: kind.into(),
        advice: Advice::ClockTooCoarse { step_ns, median_ns: libm::round(median) as u64 },
    })
}

/// The quantile that a metric's name stands for.
const fn level(statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::P50 => Some(0.5),
        Statistic::P90 => Some(0.9),
        Statistic::P95 => Some(0.95),
        Statistic::P99 => Some(0.99),
        Statistic::P999 => Some(0.999),
        _ => None,
    }
}

/// A quantile with a value, but without both ends of its interval. All of a cell's are one advice.
fn few_samples(cells: &[Cell]) -> Option<Advice> {
    let mut found: Option<(String, u64, u64)> = None;
    for cell in cells {
        let Some(q) = level(metric::of(cell).1) else { continue };
        let (Some(n), Some(_)) = (cell.n, cell.value) else { continue };
        let wanted = needed(q);
        if n >= wanted {
            continue;
        }
        found = Some(match found {
            None => (cell.id.metric.clone(), n, wanted),
            Some((metrics, least, most)) => {
                (format!("{metrics}, {}", cell.id.metric), least.min(n), most.max(wanted))
            }
        });
    }
    found.map(|(metrics, n, needed)| Advice::FewSamples { metrics, n, needed })
}

/// Latencies of single probes, in milliseconds; empty where the cell has none, or where a search
/// varies the load under way.
fn latencies(recorded: &Recorded) -> Vec<f64> {
    match recorded.workload.ip() {
        Some(IpTest::UdpEcho(_) | IpTest::Ping(_)) => series::round_trips_ms(recorded),
        Some(IpTest::MqttRate(w)) if !searches(w.mode) => series::to_subscriber_ms(recorded),
        _ => Vec::new(),
    }
}

const fn searches(mode: MqttMode) -> bool {
    matches!(mode, MqttMode::Search { .. })
}

fn bimodal(recorded: &Recorded) -> Option<Advice> {
    let sorted = Sorted::new(latencies(recorded));
    let modes = modes::two_modes(sorted.values(), u64::from(recorded.ordinal))?;
    Some(Advice::Bimodal { low: modes.low, high: modes.high, unit: "ms".into() })
}

fn drifting(recorded: &Recorded) -> Option<Advice> {
    let values = match recorded.workload.ip() {
        Some(IpTest::UdpEcho(_) | IpTest::Ping(_) | IpTest::MqttRate(_)) => latencies(recorded),
        // One direction after the other, or each end's: their order is not that of time.
        Some(IpTest::Iperf(w)) if w.direction != Direction::Tradeoff => rates(recorded),
        Some(IpTest::Iperf(_)) => Vec::new(),
        Some(IpTest::TcpRate(_)) => rates(recorded),
        Some(IpTest::Join(_)) | None => Vec::new(),
    };
    trend::drift(&values).map(|ratio| Advice::Drifting { ratio })
}

/// The rate over time as the receiver saw it, or the peer, or whoever saw it; without the last interval, which
/// may be a short one.
fn rates(recorded: &Recorded) -> Vec<f64> {
    let lines = match recorded.workload.ip() {
        Some(IpTest::TcpRate(_)) => series::messages(recorded),
        _ => series::megabits(recorded),
    };
    let seen = |by: Observer| lines.iter().find(|l| l.observer == by.name());
    let mut rates: Vec<f64> = seen(Observer::Receiver)
        .or_else(|| seen(Observer::Peer))
        .or(lines.first())
        .map(|line| line.points.iter().map(|p| p.y).collect())
        .unwrap_or_default();
    rates.pop();
    rates
}

fn overflow(recorded: &Recorded) -> Option<Advice> {
    let dropped = *recorded.counters.get("socket-overflow")?;
    (dropped > 0).then_some(Advice::SocketBufferOverflow { dropped })
}

fn sender_behind(recorded: &Recorded) -> Option<Advice> {
    let (asked, kept, unit) = match recorded.workload.ip()? {
        IpTest::UdpEcho(w) => {
            let interval = w.interval?.as_secs_f64();
            (1.0 / interval, sent_rate(recorded)?, "probes/s")
        }
        IpTest::Ping(w) => (1.0 / w.interval.as_secs_f64(), sent_rate(recorded)?, "probes/s"),
        IpTest::MqttRate(w) => {
            let MqttMode::Offered(rate) = w.mode else { return None };
            (rate, sent_rate(recorded)?, "messages/s")
        }
        IpTest::Iperf(w) => (w.bandwidth? as f64 / 1e6, stream_rate(&w, recorded)?, "Mbit/s"),
        IpTest::TcpRate(_) | IpTest::Join(_) => return None,
    };
    let behind = asked.is_finite() && kept < KEPT * asked;
    behind.then(|| Advice::SenderBehind { asked, kept, unit: unit.into() })
}

/// Probes sent a second, from the first to the last one; `None` for fewer than ten.
fn sent_rate(recorded: &Recorded) -> Option<f64> {
    let probes = recorded.samples.iter().filter_map(|s| match s {
        Sample::Probe(p) if p.fate != Fate::Duplicate && p.link != Link::CONNECTIONS => Some(p),
        _ => None,
    });
    let sent: Vec<Instant> = probes.filter_map(|p: &Probe| p.sent).collect();
    let (first, last) = (sent.iter().min()?, sent.iter().max()?);
    let seconds = last.since(*first).as_secs_f64();
    (sent.len() >= 10 && seconds > 0.0).then(|| (sent.len() - 1) as f64 / seconds)
}

/// Megabits a second that the slowest stream of ours sent; `None` where the other side sends too,
/// as its rate is not this sender's.
fn stream_rate(w: &Iperf, recorded: &Recorded) -> Option<f64> {
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

fn beacon_comb(recorded: &Recorded) -> Option<Advice> {
    let paced = match recorded.workload.ip()? {
        IpTest::UdpEcho(w) => w.interval.is_some(),
        IpTest::Ping(_) => true,
        IpTest::MqttRate(w) => matches!(w.mode, MqttMode::Offered(_)),
        _ => return None,
    };
    let strength = in_phase(recorded, paced)?;
    let period_ms = BEACON_PERIOD.as_nanos() as f64 / 1e6;
    Some(Advice::BeaconComb { period_ms, strength })
}

fn not_verified(recorded: &Recorded) -> Option<Advice> {
    let certificate = recorded.facts.get(fact::TLS_CERTIFICATE)?;
    (certificate == fact::TLS_NOT_VERIFIED).then_some(Advice::CertificateNotVerified)
}
