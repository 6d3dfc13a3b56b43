//! How long a cell is likely to take: for progress only.

use crate::live::Span;
use core::time::Duration;
use espbench_model::workload::{Direction, EspNow, EspNowTest, IpTest, Iperf, MqttMode, Workload};

/// Round trip assumed where nothing is known: that of the published ESP32 benchmark.
const ROUND_TRIP: Duration = Duration::from_millis(7);
/// Steps that a search for the highest rate usually takes.
const SEARCH_STEPS: u32 = 14;
/// Opening and closing connections.
const SET_UP: Duration = Duration::from_millis(200);

/// A rough guess at the time that a cell takes.
#[must_use]
pub fn expected(workload: &Workload) -> Duration {
    SET_UP
        + match workload {
            Workload::EspNow(w) => esp_now(w),
            other => other.ip().map_or(Duration::ZERO, |test| ip(&test)),
        }
}

/// How long a cell of a real target takes: told, where the plan says when it ends.
#[must_use]
pub fn span(workload: &Workload) -> Span {
    let is_told = match workload.ip() {
        // The next probe goes when the last is answered, unless an interval says when.
        Some(IpTest::UdpEcho(w)) => w.interval.is_some(),
        Some(IpTest::Iperf(w)) => w.bytes.is_none(),
        Some(IpTest::Ping(_) | IpTest::TcpRate(_)) => true,
        Some(IpTest::MqttRate(w)) => !matches!(w.mode, MqttMode::Search { .. }),
        Some(IpTest::Join(_)) | None => false,
    };
    let time = expected(workload);
    if is_told { Span::Told(time) } else { Span::Guessed(time) }
}

/// How many probes a cell sends and records, where the plan says that.
#[must_use]
pub fn probes(workload: &Workload) -> Option<u64> {
    match workload.ip()? {
        IpTest::UdpEcho(w) => Some(w.count.into()),
        IpTest::Ping(w) => Some(w.count.into()),
        IpTest::Join(w) => Some(w.count.into()),
        IpTest::Iperf(_) | IpTest::TcpRate(_) | IpTest::MqttRate(_) => None,
    }
}

fn ip(test: &IpTest) -> Duration {
    match test {
        IpTest::UdpEcho(w) => {
            let each = w.interval.unwrap_or(ROUND_TRIP / u32::from(w.in_flight.max(1)));
            each.saturating_mul(w.count.saturating_add(w.discard))
        }
        IpTest::Ping(w) => w.interval.saturating_mul(w.count.saturating_add(w.discard)),
        IpTest::Iperf(w) => iperf(w),
        IpTest::TcpRate(w) => w.run_time * (u32::from(w.runs) + u32::from(w.discard)),
        IpTest::Join(w) => w.interval.saturating_mul(w.count.saturating_add(w.discard)),
        IpTest::MqttRate(w) => match w.mode {
            MqttMode::Search { .. } => w.time.saturating_mul(SEARCH_STEPS),
            MqttMode::Saturate | MqttMode::Offered(_) | MqttMode::Listen => w.time,
        },
    }
}

fn iperf(w: &Iperf) -> Duration {
    let one = match (w.bytes, w.bandwidth) {
        (Some(bytes), Some(rate)) => Duration::from_secs(bytes.saturating_mul(8) / rate.max(1)),
        (Some(_), None) => Duration::from_secs(1),
        (None, _) => w.time,
    };
    let load = if w.direction == Direction::Tradeoff { one.saturating_mul(2) } else { one };
    load + w.latency.map_or(Duration::ZERO, |probes| probes.idle)
}

/// By the figures of Espressif's report; a lab takes less, but in the same proportions.
fn esp_now(w: &EspNow) -> Duration {
    let devices = u32::from(w.devices);
    match w.test {
        EspNowTest::OneWay | EspNowTest::Ping => Duration::from_millis(10) * w.count,
        EspNowTest::Throughput => w.time,
        EspNowTest::Crypto => Duration::from_millis(1) * w.count,
        EspNowTest::MultiPing => Duration::from_millis(10) * devices * w.count,
        EspNowTest::Ota => Duration::from_secs(25) + Duration::from_millis(200) * devices,
        EspNowTest::Handshake => Duration::from_secs(3) + Duration::from_millis(350) * devices,
        EspNowTest::Provisioning => Duration::from_secs(5) + Duration::from_millis(130) * devices,
    }
}
