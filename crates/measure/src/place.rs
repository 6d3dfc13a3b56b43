//! A cell of a plan in words: `udp-echo, 100 B`.

use crate::plan::{print_cast, print_distance, print_latency};
use crate::run::Recorded;
use crate::summary::ping;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_proto::workload::{
    Direction, EchoFormat, EspNow, EspNowTest, IpTest, Iperf, MqttMode, MqttRate, MqttVersion,
    TcpRate, Transport, UdpEcho, Workload,
};

/// The cell in words, with everything that tells it from the plan's other cells.
#[must_use]
pub fn of(recorded: &Recorded) -> String {
    let place = format!("{}, {}", recorded.workload.kind(), settings(&recorded.workload));
    if recorded.repetition == 0 {
        return place;
    }
    format!("{place}, repetition {}", recorded.repetition + 1)
}

/// The settings of a workload in words; usual ones are not named.
#[must_use]
pub fn settings(workload: &Workload) -> String {
    let mut words = match workload {
        Workload::EspNow(w) => esp_now(w),
        other => other.ip().map_or_else(Vec::new, |test| ip(&test)),
    };
    words.extend(workload.variant().map(|name| name.as_str().to_string()));
    words.join(", ")
}

fn ip(test: &IpTest) -> Vec<String> {
    match test {
        IpTest::UdpEcho(w) => udp_echo(w),
        IpTest::Ping(w) => alloc::vec![format!("{} B", w.size), ping::variant(w)],
        IpTest::Iperf(w) => iperf(w),
        IpTest::TcpRate(w) => tcp_rate(w),
        IpTest::MqttRate(w) => mqtt_rate(w),
        IpTest::Join(w) => alloc::vec![if w.cold { "cold" } else { "key known" }.into()],
    }
}

fn udp_echo(w: &UdpEcho) -> Vec<String> {
    let mut words = alloc::vec![format!("{} B", w.size)];
    if w.format == EchoFormat::Binary {
        words.push("binary".into());
    }
    if w.in_flight > 1 {
        words.push(format!("{} in flight", w.in_flight));
    }
    if let Some(interval) = w.interval {
        words.push(format!("every {} ms", interval.as_micros() as f64 / 1000.0));
    }
    words
}

/// The test case as the published tables name it: transport and direction as the device sees it,
/// so that what this host sends is the device's RX.
#[must_use]
pub fn test_case(w: &Iperf) -> String {
    if w.bounceback.is_some() {
        return "TCP bounceback".into();
    }
    let transport = match w.transport {
        Transport::Udp => "UDP",
        Transport::Tcp => "TCP",
    };
    let direction = match w.direction {
        Direction::Forward => "RX",
        Direction::Reverse => "TX",
        Direction::FullDuplex => "RX+TX (full duplex)",
        Direction::Tradeoff => "RX then TX",
        Direction::Dual => "RX+TX (dual)",
    };
    format!("{transport} {direction}")
}

fn iperf(w: &Iperf) -> Vec<String> {
    let mut words = alloc::vec![test_case(w), format!("{} B", w.length)];
    if let Some(bandwidth) = w.bandwidth {
        words.push(format!("{} Mbit/s offered", bandwidth as f64 / 1e6));
    }
    if w.parallel > 1 {
        words.push(format!("{} streams", w.parallel));
    }
    if let Some(window) = w.window {
        words.push(format!("window {window} B"));
    }
    if w.no_delay {
        words.push("Nagle off".into());
    }
    words.extend(iperf_options(w));
    if let Some(probes) = w.latency {
        words.push(format!("echoes by {}", print_latency(probes.by)));
    }
    words
}

/// Words for the options of iperf that set one test apart from another of the same direction.
pub(crate) fn iperf_options(w: &Iperf) -> Vec<String> {
    let mut words = Vec::new();
    if w.tos != 0 {
        words.push(format!("TOS {:#04x}", w.tos));
    }
    words.extend(w.mss.map(|mss| format!("MSS {mss} B")));
    words.extend(w.congestion.map(|name| name.as_str().to_string()));
    if w.trip_times {
        words.push("trip times".into());
    }
    let Some(bounceback) = w.bounceback else { return words };
    words.push(if bounceback.period.is_zero() {
        "requests back to back".into()
    } else {
        let period = print_duration(bounceback.period);
        format!("{} requests every {period}", bounceback.burst)
    });
    if !bounceback.hold.is_zero() {
        words.push(format!("held {}", print_duration(bounceback.hold)));
    }
    if !bounceback.quick_ack {
        words.push("no quick ack".into());
    }
    words
}

fn tcp_rate(w: &TcpRate) -> Vec<String> {
    alloc::vec![format!("{} B", w.size), nagle(w).to_string()]
}

fn nagle(w: &TcpRate) -> &'static str {
    if w.no_delay { "Nagle off" } else { "Nagle on" }
}

fn mqtt_rate(w: &MqttRate) -> Vec<String> {
    let version = match w.version {
        MqttVersion::V311 => "MQTT 3.1.1",
        MqttVersion::V5 => "MQTT 5",
    };
    let mut words = alloc::vec![version.to_string(), format!("QoS {}", w.qos)];
    // What a device publishes, and with what window, is its own affair.
    let ours = w.mode != MqttMode::Listen;
    if ours {
        words.push(format!("{} B", w.size));
    }
    words.push(match w.mode {
        MqttMode::Saturate => "as fast as it goes".into(),
        MqttMode::Offered(rate) => format!("{rate} messages/s offered"),
        MqttMode::Search { low, high } => format!("search {low} to {high} messages/s"),
        MqttMode::Listen => "listening".into(),
    });
    if ours && w.qos > 0 {
        words.push(format!("{} in flight", w.in_flight));
    }
    if w.clients > 1 {
        words.push(format!("{} clients", w.clients));
    }
    if w.retain {
        words.push("retained".into());
    }
    if !w.clean_start {
        words.push("session resumed".into());
    }
    match w.session_expiry {
        None => {}
        Some(u32::MAX) => words.push("session kept for ever".into()),
        Some(seconds) => words.push(format!("session kept {seconds} s")),
    }
    words
}

/// The test of Espressif's report, and what tells its cells apart.
pub(crate) fn esp_now(w: &EspNow) -> Vec<String> {
    let test = match w.test {
        EspNowTest::OneWay => "one way",
        EspNowTest::Ping => "round trip",
        EspNowTest::Throughput => "throughput",
        EspNowTest::Crypto => "encryption",
        EspNowTest::MultiPing => "round trips at once",
        EspNowTest::Ota => "OTA",
        EspNowTest::Handshake => "handshake",
        EspNowTest::Provisioning => "provisioning",
    };
    let mut words = alloc::vec![test.to_string()];
    let grouped =
        matches!(w.test, EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning);
    let alone = w.test == EspNowTest::Crypto;
    if !grouped && !alone {
        words.push(print_cast(w.cast));
    }
    if !matches!(w.test, EspNowTest::Handshake | EspNowTest::Provisioning) {
        words.push(format!("{} B", w.size));
    }
    if grouped || w.test == EspNowTest::MultiPing {
        words.push(devices(w.devices.into()));
    }
    if !alone {
        words.push(print_distance(w.distance_m));
    }
    if w.encrypted && !alone {
        words.push("encrypted".into());
    }
    words
}

/// `1 device`, `10 devices`.
pub(crate) fn devices(number: u64) -> String {
    format!("{number} device{}", if number == 1 { "" } else { "s" })
}
