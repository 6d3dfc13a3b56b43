//! The words of each setting.

use super::{LabelWords, devices};
use crate::digits;
use crate::kind;
use crate::plan::{print_cast, print_latency};
use crate::settings::{Setting, SettingKey, Settings};
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::transcript::session::LinkEnds;
use espbench_model::workload::{Direction, EchoFormat, EspNowTest, MqttVersion, Transport};

/// The order in which a plan's cell is told.
const PLAN: [SettingKey; 56] = [
    SettingKey::Test,
    SettingKey::Pattern,
    SettingKey::Transport,
    SettingKey::MqttVersion,
    SettingKey::Qos,
    SettingKey::Cast,
    SettingKey::Size,
    SettingKey::Format,
    SettingKey::Saturated,
    SettingKey::Offered,
    SettingKey::SearchLow,
    SettingKey::Listening,
    SettingKey::OfferedBits,
    SettingKey::InFlight,
    SettingKey::Interval,
    SettingKey::Clients,
    SettingKey::Hops,
    SettingKey::Devices,
    SettingKey::Nearest,
    SettingKey::Encrypted,
    SettingKey::Retained,
    SettingKey::CleanStart,
    SettingKey::SessionExpiry,
    SettingKey::Streams,
    SettingKey::Window,
    SettingKey::Nagle,
    SettingKey::Tos,
    SettingKey::Ttl,
    SettingKey::Mss,
    SettingKey::Congestion,
    SettingKey::TripTimes,
    SettingKey::RequestPeriod,
    SettingKey::Hold,
    SettingKey::QuickAck,
    SettingKey::Echoes,
    SettingKey::ForwardRssi,
    SettingKey::BeaconInterval,
    SettingKey::Slot,
    SettingKey::Guard,
    SettingKey::Drift,
    SettingKey::TaskJitter,
    SettingKey::MissedBeacons,
    SettingKey::RadioScheduled,
    SettingKey::Bluetooth,
    SettingKey::AwaitsCallback,
    SettingKey::KeyKnown,
    SettingKey::LabVariant,
    SettingKey::Profile,
    SettingKey::Environment,
    SettingKey::PhyRate,
    SettingKey::TxPower,
    SettingKey::Clock,
    SettingKey::IdleClock,
    SettingKey::Time,
    SettingKey::Packets,
    SettingKey::Pings,
];

/// The order in which a result's settings are told.
const RESULT: [SettingKey; 69] = [
    SettingKey::LabVariant,
    SettingKey::Pattern,
    SettingKey::LossLimit,
    SettingKey::P99Limit,
    SettingKey::PhyRate,
    SettingKey::MqttVersion,
    SettingKey::Qos,
    SettingKey::OfferedBits,
    SettingKey::Format,
    SettingKey::InFlight,
    SettingKey::Interval,
    SettingKey::Poisson,
    SettingKey::Cast,
    SettingKey::Hops,
    SettingKey::Devices,
    SettingKey::Encrypted,
    SettingKey::Queue,
    SettingKey::Nearest,
    SettingKey::Walls,
    SettingKey::WallLoss,
    SettingKey::Sleep,
    SettingKey::RadiosAlone,
    SettingKey::Clients,
    SettingKey::Retained,
    SettingKey::CleanStart,
    SettingKey::SessionExpiry,
    SettingKey::Saturated,
    SettingKey::Offered,
    SettingKey::SearchLow,
    SettingKey::Listening,
    SettingKey::Streams,
    SettingKey::Direction,
    SettingKey::Window,
    SettingKey::Nagle,
    SettingKey::RunTime,
    SettingKey::Tos,
    SettingKey::Ttl,
    SettingKey::Mss,
    SettingKey::Congestion,
    SettingKey::TripTimes,
    SettingKey::RequestPeriod,
    SettingKey::Hold,
    SettingKey::QuickAck,
    SettingKey::ForwardRssi,
    SettingKey::BeaconInterval,
    SettingKey::Slot,
    SettingKey::Guard,
    SettingKey::Drift,
    SettingKey::TaskJitter,
    SettingKey::MissedBeacons,
    SettingKey::RadioScheduled,
    SettingKey::Bluetooth,
    SettingKey::AwaitsCallback,
    SettingKey::KeyKnown,
    SettingKey::Time,
    SettingKey::Image,
    SettingKey::Packets,
    SettingKey::Pings,
    SettingKey::Encryptions,
    SettingKey::From,
    SettingKey::Discarded,
    SettingKey::Prints,
    SettingKey::StaticRx,
    SettingKey::PowerSave,
    SettingKey::Profile,
    SettingKey::Environment,
    SettingKey::TxPower,
    SettingKey::Clock,
    SettingKey::IdleClock,
];

/// Makes the words of a plan's cell.
pub(super) fn of_plan(kind: &str, settings: &Settings) -> Vec<LabelWords> {
    let keys = PLAN.into_iter().chain(options(settings));
    keys.filter_map(|key| of_plan_only(kind, settings, settings.get(key)?)).collect()
}

/// Makes the words of a result.
pub(super) fn of_result(settings: &Settings) -> Vec<LabelWords> {
    let known = |key: &SettingKey| of_result_only(settings, settings.get(*key)?);
    let word = |key: &SettingKey| match (key, settings.get(*key)) {
        // A receiver alone is told with a sender that no line has named.
        (SettingKey::From, None) => settings.get(SettingKey::To).map(|_| ends(settings)),
        _ => known(key),
    };
    let keys: Vec<SettingKey> = RESULT.into_iter().chain(options(settings)).collect();
    keys.iter().filter_map(word).collect()
}

/// Returns the keys of the options of sdkconfig that are set: they are told last.
fn options(settings: &Settings) -> impl Iterator<Item = SettingKey> {
    settings.iter().map(Setting::key).filter(|key| matches!(key, SettingKey::Sdkconfig(_)))
}

/// Says a setting as a plan's cell does.
fn of_plan_only(kind: &str, settings: &Settings, setting: &Setting) -> Option<LabelWords> {
    let key = setting.key();
    match kind::named(kind).and_then(|it| it.word(setting)) {
        Some(kind::SettingWords::Unsaid) => return None,
        Some(kind::SettingWords::Said(text)) => return Some(LabelWords::new(&[key], text)),
        None => {}
    }
    let text: String = match setting {
        Setting::Test(test) => name(*test).into(),
        Setting::Transport(_) => return case(settings),
        Setting::LabVariant(name) => name.as_str().into(),
        Setting::Size(bytes) => format!("{bytes} B"),
        // The published form, one at a time, is not named.
        Setting::Format(EchoFormat::Ascii) => return None,
        Setting::Saturated(_) => "as fast as it goes".into(),
        Setting::Offered(rate) => format!("{rate} messages/s offered"),
        Setting::SearchLow(_) => {
            let (low, high) = search(settings)?;
            let text = format!("search {low} to {high} messages/s");
            return Some(LabelWords::new(&[SettingKey::SearchLow, SettingKey::SearchHigh], text));
        }
        Setting::OfferedBits(bits) => format!("{} Mbit/s offered", *bits as f64 / 1e6),
        Setting::KeyKnown(false) => "cold".into(),
        Setting::Echoes(by) => format!("echoes by {}", print_latency(*by)),
        _ => return common(settings, setting),
    };
    Some(LabelWords::new(&[key], text))
}

/// Says a setting as a result does.
fn of_result_only(settings: &Settings, setting: &Setting) -> Option<LabelWords> {
    let key = setting.key();
    let text: String = match setting {
        Setting::LabVariant(name) => format!("device {}", name.as_str()),
        Setting::Format(EchoFormat::Ascii) => "ASCII".into(),
        Setting::Saturated(_) => "saturated".into(),
        Setting::Offered(rate) => format!("offered {rate}/s"),
        Setting::SearchLow(_) => {
            let (low, high) = search(settings)?;
            let text = format!("search {low}/s to {high}/s");
            return Some(LabelWords::new(&[SettingKey::SearchLow, SettingKey::SearchHigh], text));
        }
        Setting::OfferedBits(bits) => format!("{} offered", bit_rate(*bits)),
        Setting::Direction(direction) => match direction {
            Direction::Forward => return None,
            Direction::Reverse => "reverse".into(),
            Direction::FullDuplex => "full duplex".into(),
            Direction::Tradeoff => "tradeoff".into(),
            Direction::Dual => "dual".into(),
        },
        Setting::KeyKnown(false) => return None,
        Setting::RunTime(time) => format!("runs of {}", print_duration(*time)),
        Setting::Image(bytes) => format!("image of {bytes} bytes"),
        Setting::Encryptions(count) => format!("{count} times"),
        Setting::From(_) => return Some(ends(settings)),
        Setting::Discarded(_) => "discarded".into(),
        Setting::Prints(_) => "prints on every send".into(),
        Setting::Poisson(chance) => if *chance { "Poisson" } else { "periodic" }.into(),
        Setting::Queue(messages) => format!("queue of {messages}"),
        Setting::Walls(number) => format!("walls: {number}"),
        Setting::WallLoss(db) => format!("wall of {db} dB"),
        Setting::Sleep(mode) => format!("sleep {}", mode.as_str()),
        Setting::RadiosAlone(_) => "radios alone".into(),
        Setting::LossLimit(most) => loss_limit(*most),
        Setting::P99Limit(most) => p99_limit(most.as_nanos() as f64 / 1e6),
        Setting::StaticRx(_) => return buffers(settings),
        Setting::PowerSave(power) => power.to_string(),
        _ => return common(settings, setting),
    };
    Some(LabelWords::new(&[key], text))
}

/// Says a setting for which plans and results have the same words.
fn common(settings: &Settings, setting: &Setting) -> Option<LabelWords> {
    let text: String = match setting {
        Setting::Time(time) => print_duration(*time),
        Setting::Packets(count) => format!("{count} packets"),
        Setting::Pings(count) => format!("{count} pings"),
        Setting::PhyRate(rate) => format!("rate {}", rate.as_str()),
        Setting::Profile(name) => format!("profile {}", name.as_str()),
        Setting::Environment(name) => format!("environment {}", name.as_str()),
        Setting::TxPower(dbm) => format!("{dbm} dBm"),
        Setting::Clock(mhz) => format!("{mhz} MHz"),
        Setting::IdleClock(mhz) => format!("{mhz} MHz idle"),
        Setting::Sdkconfig(option, value) => format!("{}={}", option.name(), option.text(*value)),
        Setting::MqttVersion(MqttVersion::V311) => "MQTT 3.1.1".into(),
        Setting::MqttVersion(MqttVersion::V5) => "MQTT 5".into(),
        Setting::Qos(qos) => format!("QoS {qos}"),
        Setting::Cast(cast) => print_cast(*cast),
        Setting::Format(EchoFormat::Binary) => "binary".into(),
        Setting::Listening(_) => "listening".into(),
        Setting::InFlight(count) => format!("{count} in flight"),
        Setting::Interval(interval) => format!("one every {}", print_duration(*interval)),
        Setting::Clients(count) => format!("{count} clients"),
        Setting::Devices(count) => devices((*count).into()),
        Setting::Nearest(near) => {
            let far = match settings.get(SettingKey::Farthest) {
                Some(Setting::Farthest(far)) => *far,
                _ => *near,
            };
            let text =
                if *near == far { format!("{near} m") } else { format!("{near} m to {far} m") };
            return Some(LabelWords::new(&[SettingKey::Nearest, SettingKey::Farthest], text));
        }
        Setting::Encrypted(_) => "encrypted".into(),
        Setting::Retained(_) => "retained".into(),
        Setting::CleanStart(_) => "session resumed".into(),
        Setting::SessionExpiry(u32::MAX) => "session kept for ever".into(),
        Setting::SessionExpiry(seconds) => format!("session kept {seconds} s"),
        Setting::Streams(count) => format!("{count} streams"),
        Setting::Window(bytes) => format!("window {bytes} B"),
        Setting::Nagle(on) => if *on { "Nagle on" } else { "Nagle off" }.into(),
        Setting::Tos(octet) => format!("TOS {octet:#04x}"),
        Setting::Ttl(hops) => format!("TTL {hops}"),
        Setting::Mss(bytes) => format!("MSS {bytes} B"),
        Setting::Congestion(name) => format!("congestion control {}", name.as_str()),
        Setting::TripTimes(_) => "trip times".into(),
        Setting::RequestPeriod(period) => return Some(requests(settings, *period)),
        Setting::Hold(time) => format!("held {}", print_duration(*time)),
        Setting::QuickAck(_) => "no quick ack".into(),
        Setting::AwaitsCallback(_) => "at once again".into(),
        Setting::KeyKnown(_) => "key known".into(),
        _ => return among_nodes(setting),
    };
    Some(LabelWords::new(&[setting.key()], text))
}

/// Says a setting of messages among nodes.
fn among_nodes(setting: &Setting) -> Option<LabelWords> {
    let text: String = match setting {
        Setting::Pattern(name) => format!("pattern {}", name.as_str()),
        Setting::Hops(1) => "1 hop".into(),
        Setting::Hops(hops) => format!("{hops} hops"),
        Setting::ForwardRssi(dbm) => format!("relayed from {dbm} dBm"),
        Setting::Slot(time) => format!("slot {}", print_duration(*time)),
        Setting::Guard(time) => format!("guard {}", print_duration(*time)),
        Setting::BeaconInterval(time) => format!("beacon every {}", print_duration(*time)),
        Setting::Drift(ppm) => format!("drift {ppm} ppm"),
        Setting::TaskJitter(time) => format!("task jitter {}", print_duration(*time)),
        Setting::MissedBeacons(count) => format!("silent after {count} missed beacons"),
        Setting::Bluetooth(name) => format!("Bluetooth {}", name.as_str()),
        Setting::RadioScheduled(_) => "radio scheduled".into(),
        // Every other one is said with one of the above, or in one of the two lists only.
        _ => return None,
    };
    Some(LabelWords::new(&[setting.key()], text))
}

/// Says a test of Espressif's report.
const fn name(test: EspNowTest) -> &'static str {
    match test {
        EspNowTest::OneWay => "one way",
        EspNowTest::Ping => "round trip",
        EspNowTest::Throughput => "throughput",
        EspNowTest::Crypto => "encryption",
        EspNowTest::MultiPing => "round trips at once",
        EspNowTest::Ota => "OTA",
        EspNowTest::Handshake => "handshake",
        EspNowTest::Provisioning => "provisioning",
    }
}

/// Says transport and direction of an iperf test at once.
fn case(settings: &Settings) -> Option<LabelWords> {
    let (Some(Setting::Transport(transport)), Some(Setting::Direction(direction))) =
        (settings.get(SettingKey::Transport), settings.get(SettingKey::Direction))
    else {
        return None;
    };
    let bounces = settings.has(&Setting::Bounceback(true));
    let keys = [SettingKey::Transport, SettingKey::Direction, SettingKey::Bounceback];
    Some(LabelWords::new(&keys, test_case(*transport, *direction, bounces)))
}

pub(crate) fn test_case(transport: Transport, direction: Direction, bounces: bool) -> String {
    if bounces {
        return "TCP bounceback".into();
    }
    let transport = match transport {
        Transport::Udp => "UDP",
        Transport::Tcp => "TCP",
    };
    let direction = match direction {
        Direction::Forward => "to the device",
        Direction::Reverse => "from the device",
        Direction::FullDuplex => "both ways (full duplex)",
        Direction::Tradeoff => "to, then from the device",
        Direction::Dual => "both ways (dual)",
    };
    format!("{transport} {direction}")
}

fn search(settings: &Settings) -> Option<(f64, f64)> {
    match (settings.get(SettingKey::SearchLow), settings.get(SettingKey::SearchHigh)) {
        (Some(Setting::SearchLow(low)), Some(Setting::SearchHigh(high))) => Some((*low, *high)),
        _ => None,
    }
}

fn bit_rate(bits: u64) -> String {
    if bits >= 1_000_000 {
        format!("{} Mbit/s", bits as f64 / 1e6)
    } else {
        format!("{} kbit/s", bits as f64 / 1e3)
    }
}

fn requests(settings: &Settings, period: Duration) -> LabelWords {
    let text = match settings.get(SettingKey::RequestBurst) {
        Some(Setting::RequestBurst(burst)) if !period.is_zero() => {
            format!("{burst} requests every {}", print_duration(period))
        }
        _ => "requests back to back".into(),
    };
    LabelWords::new(&[SettingKey::RequestPeriod, SettingKey::RequestBurst], text)
}

/// Says between which devices a link is, as far as a console told.
fn ends(settings: &Settings) -> LabelWords {
    let mac = |key| match settings.get(key) {
        Some(Setting::From(mac) | Setting::To(mac)) => Some(*mac),
        _ => None,
    };
    let ends = LinkEnds { from: mac(SettingKey::From), to: mac(SettingKey::To) };
    LabelWords::new(&[SettingKey::From, SettingKey::To], super::ends(ends))
}

/// Says a limit of a fleet's loss, given as a part of one.
fn loss_limit(most: f64) -> String {
    format!("loss at most {} %", digits::six(100.0 * most))
}

/// Says a limit of a fleet's latency, given in milliseconds.
fn p99_limit(most: f64) -> String {
    format!("p99 at most {} ms", digits::six(most))
}

/// Says buffers and windows of a firmware at once: `8/16/16 BA 16/6 16K/16K`.
fn buffers(settings: &Settings) -> Option<LabelWords> {
    let number = |key| match settings.get(key)? {
        Setting::StaticRx(n) | Setting::DynamicRx(n) | Setting::Tx(n) => Some(u32::from(*n)),
        Setting::RxBaWindow(n) | Setting::TxBaWindow(n) => Some(u32::from(*n)),
        Setting::TcpWindow(n) | Setting::TcpSendBuffer(n) => Some(*n),
        _ => None,
    };
    let kb = |bytes: u32| match bytes % 1024 {
        0 => format!("{}K", bytes / 1024),
        _ => bytes.to_string(),
    };
    let text = format!(
        "{}/{}/{} BA {}/{} {}/{}",
        number(SettingKey::StaticRx)?,
        number(SettingKey::DynamicRx)?,
        number(SettingKey::Tx)?,
        number(SettingKey::RxBaWindow)?,
        number(SettingKey::TxBaWindow)?,
        kb(number(SettingKey::TcpWindow)?),
        kb(number(SettingKey::TcpSendBuffer)?)
    );
    Some(LabelWords::new(&super::BUFFERS, text))
}
