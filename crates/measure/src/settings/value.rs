//! Settings as fields of JSON and CSV.

use super::{Setting, SettingKey, Settings};
use crate::columns::{ColumnContent, ColumnType, ColumnValue};
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

/// In seconds, exact to a nanosecond up to 26 days.
impl ColumnContent for Duration {
    const TYPE: ColumnType = ColumnType::Number;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Number(self.as_nanos() as f64 / 1e9)
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        let nanos = libm::round(f64::from_value(value)? * 1e9);
        (0.0..u64::MAX as f64).contains(&nanos).then(|| Self::from_nanos(nanos as u64))
    }
}

impl ColumnContent for Name {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(self.as_str().into())
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        if let ColumnValue::Text(text) = value { Self::new(text) } else { None }
    }
}

impl ColumnContent for Mac {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(self.to_string())
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        if let ColumnValue::Text(text) = value { Self::parse(text.as_bytes()) } else { None }
    }
}

/// Has the values of an enumeration as words of JSON.
macro_rules! words {
    ($($type:ty { $($value:expr => $word:literal,)* })*) => {
        $(impl ColumnContent for $type {
            const TYPE: ColumnType = ColumnType::Text;

            fn to_value(&self) -> ColumnValue {
                let known = [$(($value, $word),)*];
                let word = known.iter().find(|(it, _)| it == self).map_or("", |it| it.1);
                ColumnValue::Text(word.into())
            }

            fn from_value(value: &ColumnValue) -> Option<Self> {
                let ColumnValue::Text(text) = value else { return None };
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
impl ColumnContent for EspNowCast {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(match self {
            Self::Unicast => "unicast".into(),
            Self::Broadcast { copies, ack } => {
                format!("broadcast-{copies}{}", if *ack { "-ack" } else { "" })
            }
        })
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        let ColumnValue::Text(text) = value else { return None };
        let Some(rest) = text.strip_prefix("broadcast-") else {
            return (text == "unicast").then_some(Self::Unicast);
        };
        let (copies, ack) = rest.strip_suffix("-ack").map_or((rest, false), |it| (it, true));
        Some(Self::Broadcast { copies: copies.parse().ok()?, ack })
    }
}

impl ColumnContent for LatencyBy {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(print_latency(*self))
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        if let ColumnValue::Text(text) = value { latency_by(text).ok() } else { None }
    }
}

/// `awake`, `min-modem`, or `max-modem-10`: it wakes every ten beacons.
impl ColumnContent for Power {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(match self {
            Self::Awake => "awake".into(),
            Self::MinModem => "min-modem".into(),
            Self::MaxModem(beacons) => format!("max-modem-{beacons}"),
        })
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        let ColumnValue::Text(text) = value else { return None };
        match text.as_str() {
            "awake" => Some(Self::Awake),
            "min-modem" => Some(Self::MinModem),
            other => other.strip_prefix("max-modem-")?.parse().ok().map(Self::MaxModem),
        }
    }
}

/// Returns an option's number as the field of JSON: a flag is true or false.
pub(super) fn value_of_option(option: ConfigOption, value: u32) -> ColumnValue {
    match option.fact().kind {
        sdkconfig::ValueType::Flag => ColumnValue::Flag(value != 0),
        sdkconfig::ValueType::Number => ColumnValue::Count(value.into()),
        sdkconfig::ValueType::Choice(_) => ColumnValue::Text(option.text(value).to_string()),
    }
}

/// Returns the type of an option's field.
pub(super) const fn type_of_option(option: ConfigOption) -> ColumnType {
    match option.fact().kind {
        sdkconfig::ValueType::Flag => ColumnType::Flag,
        sdkconfig::ValueType::Number => ColumnType::Count,
        sdkconfig::ValueType::Choice(_) => ColumnType::Text,
    }
}

/// Returns an option's number; `None` for a value of another type.
pub(super) fn option_value(option: ConfigOption, value: &ColumnValue) -> Option<u32> {
    match option.fact().kind {
        sdkconfig::ValueType::Flag => bool::from_value(value).map(u32::from),
        sdkconfig::ValueType::Number => u32::from_value(value),
        sdkconfig::ValueType::Choice(_) => option.of_word(&String::from_value(value)?),
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
            let value: ColumnValue = map.next_value()?;
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
