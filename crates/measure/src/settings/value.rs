//! Settings in JSON: an object of fields.

use super::{Setting, SettingKey, Settings};
use crate::plan::{latency_by, print_latency};
use crate::tune::space::Power;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_model::sdkconfig::{self, ConfigOption};
use espbench_model::workload::{
    Direction, EchoFormat, EspNowCast, EspNowTest, LatencyBy, MqttVersion, Name, Transport,
};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SettingValue {
    Flag(bool),
    Count(u64),
    Number(f64),
    Text(String),
}

/// A type that a setting's value has.
pub(super) trait SettingType: Sized {
    fn to_value(&self) -> SettingValue;
    fn from_value(value: &SettingValue) -> Option<Self>;
}

impl SettingType for bool {
    fn to_value(&self) -> SettingValue {
        SettingValue::Flag(*self)
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        if let SettingValue::Flag(flag) = value { Some(*flag) } else { None }
    }
}

/// Has whole numbers as fields.
macro_rules! counts {
    ($($type:ty)*) => {
        $(impl SettingType for $type {
            fn to_value(&self) -> SettingValue {
                SettingValue::Count((*self).into())
            }

            fn from_value(value: &SettingValue) -> Option<Self> {
                if let SettingValue::Count(count) = value { (*count).try_into().ok() } else { None }
            }
        })*
    };
}

counts! { u8 u16 u32 u64 }

impl SettingType for f64 {
    fn to_value(&self) -> SettingValue {
        SettingValue::Number(*self)
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Number(number) => Some(*number),
            SettingValue::Count(count) => Some(*count as f64),
            _ => None,
        }
    }
}

/// In milliseconds, exact to a nanosecond up to 100 days.
impl SettingType for Duration {
    fn to_value(&self) -> SettingValue {
        SettingValue::Number(self.as_nanos() as f64 / 1e6)
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        let nanos = libm::round(f64::from_value(value)? * 1e6);
        (0.0..u64::MAX as f64).contains(&nanos).then(|| Self::from_nanos(nanos as u64))
    }
}

impl SettingType for Name {
    fn to_value(&self) -> SettingValue {
        SettingValue::Text(self.as_str().into())
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        if let SettingValue::Text(text) = value { Self::new(text) } else { None }
    }
}

impl SettingType for Mac {
    fn to_value(&self) -> SettingValue {
        SettingValue::Text(self.to_string())
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        if let SettingValue::Text(text) = value { Self::parse(text.as_bytes()) } else { None }
    }
}

/// Has the values of an enumeration as words of JSON.
macro_rules! words {
    ($($type:ty { $($value:expr => $word:literal,)* })*) => {
        $(impl SettingType for $type {
            fn to_value(&self) -> SettingValue {
                let known = [$(($value, $word),)*];
                let word = known.iter().find(|(it, _)| it == self).map_or("", |it| it.1);
                SettingValue::Text(word.into())
            }

            fn from_value(value: &SettingValue) -> Option<Self> {
                let SettingValue::Text(text) = value else { return None };
                [$(($value, $word),)*].into_iter().find(|(_, word)| word == text).map(|it| it.0)
            }
        })*
    };
}

words! {
    Transport { Self::Udp => "udp", Self::Tcp => "tcp", }
    Direction {
        Self::Forward => "forward",
        Self::Reverse => "reverse",
        Self::FullDuplex => "full-duplex",
        Self::Tradeoff => "tradeoff",
        Self::Dual => "dual",
    }
    MqttVersion { Self::V311 => "3.1.1", Self::V5 => "5", }
    EchoFormat { Self::Ascii => "ascii", Self::Binary => "binary", }
    EspNowTest {
        Self::OneWay => "one-way",
        Self::Ping => "ping",
        Self::Throughput => "throughput",
        Self::Crypto => "crypto",
        Self::MultiPing => "multi-ping",
        Self::Ota => "ota",
        Self::Handshake => "handshake",
        Self::Provisioning => "provisioning",
    }
}

/// `unicast`, `broadcast-0`, or `broadcast-3-ack`: with three copies, acknowledged by the component.
impl SettingType for EspNowCast {
    fn to_value(&self) -> SettingValue {
        SettingValue::Text(match self {
            Self::Unicast => "unicast".into(),
            Self::Broadcast { copies, ack } => {
                format!("broadcast-{copies}{}", if *ack { "-ack" } else { "" })
            }
        })
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        let SettingValue::Text(text) = value else { return None };
        let Some(rest) = text.strip_prefix("broadcast-") else {
            return (text == "unicast").then_some(Self::Unicast);
        };
        let (copies, ack) = rest.strip_suffix("-ack").map_or((rest, false), |it| (it, true));
        Some(Self::Broadcast { copies: copies.parse().ok()?, ack })
    }
}

impl SettingType for LatencyBy {
    fn to_value(&self) -> SettingValue {
        SettingValue::Text(print_latency(*self))
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        if let SettingValue::Text(text) = value { latency_by(text).ok() } else { None }
    }
}

/// `awake`, `min-modem`, or `max-modem-10`: it wakes every ten beacons.
impl SettingType for Power {
    fn to_value(&self) -> SettingValue {
        SettingValue::Text(match self {
            Self::Awake => "awake".into(),
            Self::MinModem => "min-modem".into(),
            Self::MaxModem(beacons) => format!("max-modem-{beacons}"),
        })
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        let SettingValue::Text(text) = value else { return None };
        match text.as_str() {
            "awake" => Some(Self::Awake),
            "min-modem" => Some(Self::MinModem),
            other => other.strip_prefix("max-modem-")?.parse().ok().map(Self::MaxModem),
        }
    }
}

/// Returns an option's number as the field of JSON: a flag is true or false.
pub(super) fn value_of_option(option: ConfigOption, value: u32) -> SettingValue {
    match option.fact().kind {
        sdkconfig::ValueType::Flag => SettingValue::Flag(value != 0),
        sdkconfig::ValueType::Number => SettingValue::Count(value.into()),
    }
}

/// Returns an option's number; `None` for a value of another type.
pub(super) fn option_value(option: ConfigOption, value: &SettingValue) -> Option<u32> {
    match option.fact().kind {
        sdkconfig::ValueType::Flag => bool::from_value(value).map(u32::from),
        sdkconfig::ValueType::Number => u32::from_value(value),
    }
}

impl Serialize for SettingValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "`{text}`"),
        }
    }
}

struct AnyValue;

impl Visitor<'_> for AnyValue {
    type Value = SettingValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a number or a text")
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<SettingValue, E> {
        Ok(SettingValue::Flag(flag))
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<SettingValue, E> {
        Ok(SettingValue::Count(count))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<SettingValue, E> {
        Ok(SettingValue::Number(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SettingValue, E> {
        Ok(SettingValue::Text(text.into()))
    }
}

impl<'de> Deserialize<'de> for SettingValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for setting in self {
            map.serialize_entry(setting.key().name(), &setting.value())?;
        }
        map.end()
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Settings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
        let mut settings = Settings::default();
        while let Some(name) = map.next_key::<String>()? {
            let known = SettingKey::ALL.iter().copied().find(|key| key.name() == name);
            let option =
                || ConfigOption::all().find(|it| it.name() == name).map(SettingKey::Sdkconfig);
            let key = known
                .or_else(option)
                .ok_or_else(|| de::Error::custom(format!("no setting `{name}`")))?;
            let value: SettingValue = map.next_value()?;
            let setting: Option<Setting> = key.setting(&value);
            settings.set(setting.ok_or_else(|| {
                de::Error::custom(format!("the setting `{name}` cannot be {value}"))
            })?);
        }
        Ok(settings)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}
