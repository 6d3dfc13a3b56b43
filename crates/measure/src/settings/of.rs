//! The settings of a workload.

use super::{Key, Setting, Settings};
use crate::plan::{usual_count, usual_image};
use core::time::Duration;
use espbench_model::workload::{
    Direction, EchoFormat, EspNow, EspNowTest, IpTest, Iperf, MqttMode, MqttRate, Ping, TcpRate,
    UdpEcho, Workload,
};

/// Length of a run of the published benchmark of message rates.
const USUAL_RUN: Duration = Duration::from_secs(1);

/// `-t` of `espnow_iperf` where it is not given.
const USUAL_TIME: Duration = Duration::from_secs(60);

/// Settings that identity columns of a result hold, and echo probes, whose results have metrics of
/// their own.
const COLUMNS: [Key; 10] = [
    Key::Test,
    Key::Transport,
    Key::Bounceback,
    Key::Cast,
    Key::Size,
    Key::Devices,
    Key::Nearest,
    Key::Farthest,
    Key::Encrypted,
    Key::Echoes,
];

impl Settings {
    /// Takes a workload apart: everything that tells it from the others of its kind. Counts and
    /// lengths of tests are named only where they are not the usual ones.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let mut settings = match workload {
            Workload::EspNow(w) => esp_now(w),
            other => other.ip().map_or_else(Self::default, |test| Self::of_test(&test)),
        };
        settings.extend(workload.variant().map(|name| Setting::LabVariant(*name)));
        settings
    }

    /// Takes a test over IP apart, without its variant.
    #[must_use]
    pub fn of_test(test: &IpTest) -> Self {
        match test {
            IpTest::UdpEcho(w) => udp_echo(w),
            IpTest::Ping(w) => ping(w),
            IpTest::Iperf(w) => iperf(w),
            IpTest::TcpRate(w) => tcp_rate(w),
            IpTest::MqttRate(w) => mqtt_rate(w),
            IpTest::Join(w) => [Setting::KeyKnown(!w.cold)].into_iter().collect(),
        }
    }

    /// Returns what no identity column of a result says, and what is not the plain procedure.
    #[must_use]
    pub fn beyond_columns(&self) -> Self {
        let plain = [Setting::Direction(Direction::Forward), Setting::KeyKnown(false)];
        self.filter(|it| !COLUMNS.contains(&it.key()) && !plain.contains(it))
    }
}

fn udp_echo(w: &UdpEcho) -> Settings {
    let mut settings: Settings = [Setting::Size(w.size)].into_iter().collect();
    let one_by_one = w.in_flight <= 1;
    if w.format == EchoFormat::Ascii && one_by_one && w.interval.is_none() {
        return settings;
    }
    settings.set(Setting::Format(w.format));
    if w.format == EchoFormat::Binary || !one_by_one {
        settings.set(Setting::InFlight(w.in_flight));
    }
    settings.extend(w.interval.map(Setting::Interval));
    settings
}

fn ping(w: &Ping) -> Settings {
    let mut settings: Settings =
        [Setting::Size(w.size), Setting::Interval(w.interval)].into_iter().collect();
    settings.extend(w.tos.map(Setting::Tos));
    settings.extend(w.ttl.map(Setting::Ttl));
    settings
}

fn iperf(w: &Iperf) -> Settings {
    let mut settings: Settings = [
        Setting::Transport(w.transport),
        Setting::Direction(w.direction),
        Setting::Bounceback(w.bounceback.is_some()),
        Setting::Size(w.length),
    ]
    .into_iter()
    .collect();
    settings.extend(w.bandwidth.map(Setting::OfferedBits));
    settings.extend((w.parallel > 1).then_some(Setting::Streams(w.parallel)));
    settings.extend(w.window.map(Setting::Window));
    settings.extend(w.no_delay.then_some(Setting::Nagle(false)));
    settings.extend((w.tos != 0).then_some(Setting::Tos(w.tos)));
    settings.extend(w.mss.map(Setting::Mss));
    settings.extend(w.congestion.map(Setting::Congestion));
    settings.extend(w.trip_times.then_some(Setting::TripTimes(true)));
    settings.extend(w.latency.map(|probes| Setting::Echoes(probes.by)));
    let Some(bounceback) = w.bounceback else { return settings };
    settings.set(Setting::RequestPeriod(bounceback.period));
    if !bounceback.period.is_zero() {
        settings.set(Setting::RequestBurst(bounceback.burst));
    }
    settings.extend((!bounceback.hold.is_zero()).then_some(Setting::Hold(bounceback.hold)));
    settings.extend((!bounceback.quick_ack).then_some(Setting::QuickAck(false)));
    settings
}

fn tcp_rate(w: &TcpRate) -> Settings {
    let mut settings: Settings =
        [Setting::Size(w.size), Setting::Nagle(!w.no_delay)].into_iter().collect();
    settings.extend((w.run_time != USUAL_RUN).then_some(Setting::RunTime(w.run_time)));
    settings
}

fn mqtt_rate(w: &MqttRate) -> Settings {
    let mut settings: Settings =
        [Setting::MqttVersion(w.version), Setting::Qos(w.qos)].into_iter().collect();
    match w.mode {
        MqttMode::Saturate => settings.set(Setting::Saturated(true)),
        MqttMode::Offered(rate) => settings.set(Setting::Offered(rate)),
        MqttMode::Search { low, high } => {
            settings.extend([Setting::SearchLow(low), Setting::SearchHigh(high)]);
        }
        MqttMode::Listen => settings.set(Setting::Listening(true)),
    }
    // What a device publishes, and with what window, is its own affair.
    let ours = w.mode != MqttMode::Listen;
    settings.extend(ours.then_some(Setting::Size(w.size)));
    settings.extend((ours && w.qos > 0).then_some(Setting::InFlight(w.in_flight)));
    settings.extend((w.clients > 1).then_some(Setting::Clients(w.clients)));
    settings.extend(w.retain.then_some(Setting::Retained(true)));
    settings.extend((!w.clean_start).then_some(Setting::CleanStart(false)));
    settings.extend(w.session_expiry.map(Setting::SessionExpiry));
    settings
}

fn esp_now(w: &EspNow) -> Settings {
    let mut settings: Settings = [Setting::Test(w.test)].into_iter().collect();
    let grouped =
        matches!(w.test, EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning);
    let alone = w.test == EspNowTest::Crypto;
    if !grouped && !alone {
        settings.set(Setting::Cast(w.cast));
    }
    if !matches!(w.test, EspNowTest::Handshake | EspNowTest::Provisioning) {
        settings.set(Setting::Size(w.size));
    }
    if grouped || w.test == EspNowTest::MultiPing {
        settings.set(Setting::Devices(w.devices.into()));
    }
    if !alone {
        let (near, far) = w.distance_m;
        settings.extend([Setting::Nearest(metres(near)), Setting::Farthest(metres(far))]);
    }
    if w.encrypted && !alone {
        settings.set(Setting::Encrypted(true));
    }
    settings.extend(unusual(w));
    settings
}

/// Returns a distance in metres in 64 bits, rounded to a millimetre: 0.3 m in 32 bits is another
/// number in 64.
fn metres(metres: f32) -> f64 {
    libm::round(f64::from(metres) * 1e3) / 1e3
}

/// Returns what sets a test apart from the document's procedure; `None` for exactly that.
fn unusual(w: &EspNow) -> Option<Setting> {
    match w.test {
        EspNowTest::Throughput => (w.time != USUAL_TIME).then_some(Setting::Time(w.time)),
        EspNowTest::Ota => (w.size != usual_image()).then_some(Setting::Image(w.size)),
        EspNowTest::Handshake | EspNowTest::Provisioning => None,
        test => (w.count != usual_count(test)).then_some(match test {
            EspNowTest::OneWay => Setting::Packets(w.count),
            EspNowTest::Crypto => Setting::Encryptions(w.count),
            _ => Setting::Pings(w.count),
        }),
    }
}
