//! Settings that people typed as words: in a plan's threshold, in the column `variant` of a table of
//! results. They are read once, and compared as values from then on.
//!
//! The words are those of a result, in any order, with commas between them: `binary, 8 in flight`.

use crate::plan::{self, cast};
use crate::settings::{Setting, Settings};
use crate::tune::space::Power;
use crate::units::{self, Dimension};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use espbench_ieee80211::mac::Mac;
use espbench_model::sdkconfig::ConfigOption;
use espbench_model::workload::{Direction, EchoFormat, MqttVersion, Name};

/// Words that are no setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no setting that is known: write settings as reports do, with commas between \
             them, such as `binary, 8 in flight` or `device home, Nagle off`",
            self.0
        )
    }
}

impl core::error::Error for Unknown {}

/// Reads settings from words.
///
/// # Errors
/// The first words that are no setting.
pub fn read(text: &str) -> Result<Settings, Unknown> {
    let mut settings = Settings::default();
    let mut words = text.split(',').map(str::trim).filter(|it| !it.is_empty()).peekable();
    while let Some(word) = words.next() {
        // The beacons for which a radio sleeps stand after a comma.
        if word == "max modem"
            && let Some(beacons) = words.next().and_then(|it| it.parse().ok())
        {
            settings.set(Setting::PowerSave(Power::MaxModem(beacons)));
            continue;
        }
        let known = fixed(word).or_else(|| counted(word)).or_else(|| named(word));
        match known.map(|it| alloc::vec![it]).or_else(|| several(word)) {
            Some(read) => settings.extend(read),
            None => return Err(Unknown(word.into())),
        }
    }
    Ok(settings)
}

/// Reads words that hold no number.
fn fixed(word: &str) -> Option<Setting> {
    Some(match word {
        "ASCII" => Setting::Format(EchoFormat::Ascii),
        "binary" => Setting::Format(EchoFormat::Binary),
        "saturated" => Setting::Saturated(true),
        "listening" => Setting::Listening(true),
        "retained" => Setting::Retained(true),
        "session resumed" => Setting::CleanStart(false),
        "session kept for ever" => Setting::SessionExpiry(u32::MAX),
        "reverse" => Setting::Direction(Direction::Reverse),
        "full duplex" => Setting::Direction(Direction::FullDuplex),
        "tradeoff" => Setting::Direction(Direction::Tradeoff),
        "dual" => Setting::Direction(Direction::Dual),
        "Nagle on" => Setting::Nagle(true),
        "Nagle off" => Setting::Nagle(false),
        "trip times" => Setting::TripTimes(true),
        "requests back to back" => Setting::RequestPeriod(core::time::Duration::ZERO),
        "no quick ack" => Setting::QuickAck(false),
        "at once again" => Setting::AwaitsCallback(false),
        "radio scheduled" => Setting::RadioScheduled(true),
        "key known" => Setting::KeyKnown(true),
        "encrypted" => Setting::Encrypted(true),
        "MQTT 3.1.1" => Setting::MqttVersion(MqttVersion::V311),
        "MQTT 5" => Setting::MqttVersion(MqttVersion::V5),
        "discarded" => Setting::Discarded(true),
        "prints on every send" => Setting::Prints(true),
        "periodic" => Setting::Poisson(false),
        "Poisson" => Setting::Poisson(true),
        "radios alone" => Setting::RadiosAlone(true),
        "awake" => Setting::PowerSave(Power::Awake),
        "min modem" => Setting::PowerSave(Power::MinModem),
        _ => return None,
    })
}

/// Reads words after a number, or a quantity.
fn counted(word: &str) -> Option<Setting> {
    fn before<T: FromStr>(word: &str, rest: &str) -> Option<T> {
        word.strip_suffix(rest)?.parse().ok()
    }
    let of = |rest| before::<u16>(word, rest);
    let many = |rest| before::<u32>(word, rest);
    of(" in flight")
        .map(Setting::InFlight)
        .or_else(|| of(" clients").map(Setting::Clients))
        .or_else(|| of(" streams").map(Setting::Streams))
        .or_else(|| many(" devices").or_else(|| many(" device")).map(Setting::Devices))
        .or_else(|| many(" hops").or_else(|| many(" hop")).map(Setting::Hops))
        .or_else(|| before::<f64>(word, " dBm").map(Setting::TxPower))
        .or_else(|| many(" MHz").map(Setting::Clock))
        .or_else(|| many(" MHz idle").map(Setting::IdleClock))
        .or_else(|| many(" packets").map(Setting::Packets))
        .or_else(|| many(" pings").map(Setting::Pings))
        .or_else(|| many(" times").map(Setting::Encryptions))
        .or_else(|| {
            let rate = units::parse(word.strip_suffix(" offered")?, Dimension::BitRate).ok()?;
            Some(Setting::OfferedBits(libm::round(rate) as u64))
        })
        .or_else(|| units::duration(word).ok().map(Setting::Time))
        .or_else(|| cast(word).ok().map(Setting::Cast))
}

/// Reads words before a value.
fn named(word: &str) -> Option<Setting> {
    let after = |name: &str| word.strip_prefix(name);
    let time = |name: &str| units::duration(after(name)?).ok();
    let number = |name: &str, end: &str| after(name)?.strip_suffix(end)?.parse::<u32>().ok();
    let octet = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let name = |text: &str| Name::new(text).filter(|_| plan::is_name(text));
    after("device ")
        .and_then(name)
        .map(Setting::LabVariant)
        .or_else(|| after("rate ").and_then(name).map(Setting::PhyRate))
        .or_else(|| after("profile ").and_then(name).map(Setting::Profile))
        .or_else(|| after("environment ").and_then(name).map(Setting::Environment))
        .or_else(|| after("sleep ").and_then(Name::new).map(Setting::Sleep))
        .or_else(|| after("walls: ")?.parse().ok().map(Setting::Walls))
        .or_else(|| after("wall of ")?.strip_suffix(" dB")?.parse().ok().map(Setting::WallLoss))
        .or_else(|| option(word))
        .or_else(|| after("congestion control ").and_then(name).map(Setting::Congestion))
        .or_else(|| after("QoS ")?.parse().ok().map(Setting::Qos))
        .or_else(|| after("TOS ").and_then(octet).map(Setting::Tos))
        .or_else(|| after("TTL ")?.parse().ok().map(Setting::Ttl))
        .or_else(|| after("MSS ")?.strip_suffix(" B")?.parse().ok().map(Setting::Mss))
        .or_else(|| number("window ", " B").map(Setting::Window))
        .or_else(|| number("image of ", " bytes").map(Setting::Image))
        .or_else(|| number("session kept ", " s").map(Setting::SessionExpiry))
        .or_else(|| number("queue of ", "").map(Setting::Queue))
        .or_else(|| after("Bluetooth ").and_then(name).map(Setting::Bluetooth))
        .or_else(|| after("pattern ").and_then(name).map(Setting::Pattern))
        .or_else(|| {
            after("relayed from ")?.strip_suffix(" dBm")?.parse().ok().map(Setting::ForwardRssi)
        })
        .or_else(|| after("drift ")?.strip_suffix(" ppm")?.parse().ok().map(Setting::Drift))
        .or_else(|| {
            let count = after("silent after ")?.strip_suffix(" missed beacons")?;
            count.parse().ok().map(Setting::MissedBeacons)
        })
        .or_else(|| time("slot ").map(Setting::Slot))
        .or_else(|| time("guard ").map(Setting::Guard))
        .or_else(|| time("beacon every ").map(Setting::BeaconInterval))
        .or_else(|| time("task jitter ").map(Setting::TaskJitter))
        .or_else(|| time("one every ").map(Setting::Interval))
        .or_else(|| time("held ").map(Setting::Hold))
        .or_else(|| time("runs of ").map(Setting::RunTime))
        .or_else(|| after("offered ")?.strip_suffix("/s")?.parse().ok().map(Setting::Offered))
        .or_else(|| percent(after("loss at most ")?.strip_suffix(" %")?).map(Setting::LossLimit))
        .or_else(|| time("p99 at most ").map(Setting::P99Limit))
}

/// Parses `CONFIG_FREERTOS_HZ=1000`.
fn option(word: &str) -> Option<Setting> {
    let (name, value) = word.split_once('=')?;
    let option = ConfigOption::find(name)?;
    let value = option.of_text(value)?;
    Some(Setting::Sdkconfig(option, value))
}

/// Reads a percentage as a part of one, through its digits: 2.9 over 100 is not always 0.029.
fn percent(digits: &str) -> Option<f64> {
    alloc::format!("{digits}e-2").parse().ok()
}

/// Reads words that say several settings.
fn several(word: &str) -> Option<Vec<Setting>> {
    search(word)
        .or_else(|| requests(word))
        .or_else(|| ends(word))
        .or_else(|| distance(word))
        .or_else(|| buffers(word))
}

fn search(word: &str) -> Option<Vec<Setting>> {
    let (low, high) = word.strip_prefix("search ")?.split_once(" to ")?;
    let rate = |text: &str| text.strip_suffix("/s")?.parse().ok();
    Some(alloc::vec![Setting::SearchLow(rate(low)?), Setting::SearchHigh(rate(high)?)])
}

fn requests(word: &str) -> Option<Vec<Setting>> {
    let (burst, period) = word.split_once(" requests every ")?;
    let period = units::duration(period).ok()?;
    let burst = Setting::RequestBurst(burst.parse().ok()?);
    Some(alloc::vec![burst, Setting::RequestPeriod(period)])
}

fn ends(word: &str) -> Option<Vec<Setting>> {
    let (from, to) = word.split_once(" to ")?;
    let mac = |text: &str| match text {
        "?" => Some(None),
        text => Mac::parse(text.as_bytes()).map(Some),
    };
    let (from, to) = (mac(from)?.map(Setting::From), mac(to)?.map(Setting::To));
    Some(from.into_iter().chain(to).collect())
}

fn distance(word: &str) -> Option<Vec<Setting>> {
    let metres = |text: &str| text.strip_suffix(" m")?.parse().ok();
    let (near, far) = word.split_once(" to ").unwrap_or((word, word));
    Some(alloc::vec![Setting::Nearest(metres(near)?), Setting::Farthest(metres(far)?)])
}

/// Parses `8/16/16 BA 16/6 16K/16K`.
fn buffers(word: &str) -> Option<Vec<Setting>> {
    let (counts, rest) = word.split_once(" BA ")?;
    let (windows, octets) = rest.split_once(' ')?;
    let (static_rx, others) = counts.split_once('/')?;
    let (dynamic_rx, tx) = others.split_once('/')?;
    let (rx_window, tx_window) = windows.split_once('/')?;
    let (window, send) = octets.split_once('/')?;
    let bytes = |text: &str| match text.strip_suffix('K') {
        Some(kb) => kb.parse::<u32>().ok()?.checked_mul(1024),
        None => text.parse().ok(),
    };
    Some(alloc::vec![
        Setting::StaticRx(static_rx.parse().ok()?),
        Setting::DynamicRx(dynamic_rx.parse().ok()?),
        Setting::Tx(tx.parse().ok()?),
        Setting::RxBaWindow(rx_window.parse().ok()?),
        Setting::TxBaWindow(tx_window.parse().ok()?),
        Setting::TcpWindow(bytes(window)?),
        Setting::TcpSendBuffer(bytes(send)?),
    ])
}
