//! Files of rules, as people write them in TOML.

use super::cause::CauseRecord;
use super::mbedtls::TlsMeaning;
use crate::log::{LogEvent, RecordLevel, config_option};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::ConfigOption;
use serde::Deserialize;

/// A file of rules. Of the rules of one topic that meet a record, the one with the highest priority tells its event.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Topic of the rules.
    pub topic: String,
    /// Turn of the topic: one of a later turn is asked only where those before it tell nothing. A line of turn 0 is in order,
    /// whatever else it says.
    #[serde(default = "one")]
    pub turn: u8,
    /// Whether what the topic tells is beside the matter: later turns are asked all the same.
    #[serde(default)]
    pub aside: bool,
    /// Lists of patterns that rules name by `@list`.
    #[serde(default)]
    pub lists: BTreeMap<String, PatternList>,
    /// Rules.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
    /// Causes of a team's own.
    #[serde(default, rename = "cause")]
    pub causes: Vec<CauseRecord>,
}

const fn one() -> u8 {
    1
}

/// A list of patterns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternList {
    /// Patterns, and lists by `@list`.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// Words, each of which a word of the message begins with.
    #[serde(default)]
    pub words: Vec<String>,
    /// Whether a word counts only where nothing denies it: "no error", "errors: 0". `@list?` counts all.
    #[serde(default)]
    pub denied: bool,
    /// Whether a word counts only where no number behind it says that it is a setting: "timeout: 30".
    #[serde(default)]
    pub length: bool,
}

/// Who a line speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleRole {
    /// Device that wrote the log, as a station of a network.
    Station,
    /// Access point of that device, and its clients.
    AccessPoint,
    /// A device that this one speaks with: over ESP-NOW, or behind the network.
    Peer,
    /// The program that runs on this device.
    Program,
    /// Chip of that device, memory, flash and supply.
    Host,
    /// The chip beside this one that has the radio.
    CoProcessor,
}

impl RuleRole {
    /// Returns the role as rules name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Station => "station",
            Self::AccessPoint => "access-point",
            Self::Peer => "peer",
            Self::Program => "program",
            Self::Host => "host",
            Self::CoProcessor => "co-processor",
        }
    }
}

/// Meaning of the first number of a rule's pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleReading {
    /// Reason with which a client left this device's access point.
    ClientLeft,
    /// Error of mbedTLS, whose parts name the failure.
    TlsCode,
    /// Strength of something, in dBm.
    OtherStrength,
    /// Strength of the access point, in dBm.
    Strength,
    /// Setting that start-up prints.
    Setting(#[serde(deserialize_with = "config_option")] ConfigOption),
    /// Free heap, in bytes.
    FreeHeap,
    /// Clock of the processor, in Hz.
    Clock,
    /// Release of ESP-IDF: two numbers.
    Release,
    /// Chip: a word.
    Chip,
    /// DTIM period.
    Dtim,
    /// Block ack window for receiving.
    BlockAck,
    /// PHY rate, in kbit/s.
    PhyRate,
    /// Channel.
    Channel,
    /// Reason of a link that ended.
    Reason,
    /// Reason of a link that ended, by the name that is the first word.
    NamedReason,
    /// Error of a socket.
    SocketError,
}

/// Kind of subject that a text has. A clause without one has that of what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectFamily {
    /// The network.
    Wifi,
    /// A broker of MQTT.
    Broker,
    /// A server, or what speaks to it.
    Server,
    /// ESP-NOW.
    EspNow,
    /// Parts beside the link: Bluetooth, displays, files.
    Other,
}

impl SubjectFamily {
    /// Returns the name as rules have it behind `own:` and `context:`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wifi => "wifi",
            Self::Broker => "broker",
            Self::Server => "server",
            Self::EspNow => "esp-now",
            Self::Other => "other",
        }
    }
}

/// A rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name, one of a kind.
    pub name: String,
    /// File, by its name.
    #[serde(skip)]
    pub file: String,
    /// Topic: in a file only where it is another one than that of the file.
    pub topic: Option<String>,
    /// Log tags, of any case; `x*` stands for those that begin so, `*x*` for those with it, an empty one for lines without a
    /// tag. Without any the rule is of all.
    #[serde(default)]
    pub component: Vec<String>,
    /// Log tags of which the rule is not.
    #[serde(default)]
    pub not_component: Vec<String>,
    /// Levels. Without any the rule is of all, and of lines without a level.
    #[serde(default)]
    pub level: Vec<RecordLevel>,
    /// Levels of which the rule is not.
    #[serde(default)]
    pub not_level: Vec<RecordLevel>,
    /// Who the line speaks of.
    pub speaks_of: RuleRole,
    /// Patterns, of which the message has one: each a text, `@list`, or `tag:` and one of them, which the tag has then.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// Lists of patterns, of each of which the message has one, too.
    #[serde(default)]
    pub with: Vec<Vec<String>>,
    /// Patterns, of which the message has none.
    #[serde(default)]
    pub without: Vec<String>,
    /// Patterns beside which those of `without` do not count.
    #[serde(default)]
    pub excused_by: Vec<String>,
    /// Patterns, of which one stands behind the rule's own.
    #[serde(default)]
    pub behind: Vec<String>,
    /// Patterns, of which one stands in front of the rule's own.
    #[serde(default)]
    pub in_front: Vec<String>,
    /// Ranges, in one of which the first number of the pattern is.
    #[serde(default)]
    pub values: Vec<[i64; 2]>,
    /// Numbers of the pattern, from 1, that differ.
    pub differ: Option<[usize; 2]>,
    /// Numbers of the pattern, from 1, that are the same.
    pub equal: Option<[usize; 2]>,
    /// Numbers for the first word of the pattern, which is one of these.
    #[serde(default)]
    pub map: BTreeMap<String, i64>,
    /// Meaning of the number as an error of mbedTLS.
    pub tls: Option<TlsMeaning>,
    /// Time of the device from which on it is one, in milliseconds.
    pub from_ms: Option<u64>,
    /// Time of the device before which it is one, in milliseconds.
    pub until_ms: Option<u64>,
    /// Event. A rule with none of this, `reads` and `sign` says that the line is in order.
    pub event: Option<LogEvent>,
    /// Event whose value is the first number of the pattern.
    pub reads: Option<RuleReading>,
    /// Sign of a cause, by a name that the causes have.
    pub sign: Option<String>,
    /// Subject that the text has, for the reading by words.
    pub family: Option<SubjectFamily>,
    /// Rules of a higher priority come first; of two alike, the one that stands first.
    #[serde(default)]
    pub priority: i16,
    /// Lines that meet the rule. A team's rule has one; those of the doctor's own stand in its files alone, and `built_in()` has none.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Lines that do not.
    #[serde(default)]
    pub not: Vec<String>,
    /// Where such lines come from: file and releases, or program; it stands as the examples do.
    #[serde(default)]
    pub source: String,
}
