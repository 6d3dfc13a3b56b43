//! Findings: cause, evidence, confidence, confirmation and remedy.

use crate::log::LogPlace;
use crate::matcher::RuleBook;
use crate::matcher::cause::{CauseRecord, NamedCause};
use crate::reason::ReasonGroup;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::tune::check::SettingChange;
use espbench_model::sample::Cause;
use serde::{Deserialize, Serialize, Serializer};

/// A cause of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleCause {
    /// The supply falls too low when the radio sends.
    Brownout,
    /// The program is stopped by an exception, an assertion or `abort()`.
    Panic,
    /// A task's stack is too small.
    StackOverflow,
    /// A task does not let others run.
    Watchdog,
    /// The heap or a stack is overwritten.
    MemoryCorrupted,
    /// The ROM or the bootloader finds no firmware that it can start.
    Flash,
    /// The heap is used up, or nearly.
    Heap,
    /// The link ends, or is not made, for reasons of this kind.
    Disconnections(ReasonGroup),
    /// The program sends faster than the driver takes packets.
    SendBuffers,
    /// The device is associated, and gets no IP address.
    NoAddress,
    /// Addresses of names cannot be had.
    Names,
    /// TLS cannot be set up.
    Tls,
    /// The MQTT broker refuses the client.
    BrokerRefused,
    /// The program calls the Wi-Fi driver at a wrong time.
    WifiCalls,
    /// Connections end or cannot be made although the device is in the network.
    Connections,
    /// Settings of the firmware do not fit, or are small, by this rule of the check (its stable name).
    Settings(&'static str),
    /// The firmware on the board was not built with the sdkconfig that was given.
    OtherBuild,
    /// Power save delays what comes for the device.
    PowerSave,
    /// The association has an old PHY, or frames go at a low rate.
    SlowPhy,
    /// The station followed its access point to another channel than its ESP-NOW peers'.
    ChannelMoved,
    /// No peer acknowledges ESP-NOW frames.
    EspNowUnheard,
    /// Probes of a stored run were lost for that cause.
    Losses(Cause),
    /// Cells of a stored run were not measured.
    CellsFailed,
    /// Stations that do not hear each other send at the same time.
    HiddenNodes,
    /// The channel is nearly full.
    BusyChannel,
    /// Frames are sent again and again, and the signal is weak.
    WeakSignal,
    /// Frames are sent again and again, although the signal is strong.
    Interference,
    /// A TCP receiver offers no window: its program does not read.
    TcpZeroWindow,
    /// The window of a TCP receiver limits.
    TcpWindow,
    /// TCP segments are lost.
    TcpLosses,
    /// The storage of keys and values (NVS) is not started, is full or does not fit, or the file system of the flash cannot be
    /// mounted.
    Storage,
    /// External memory (PSRAM) does not answer.
    ExternalMemory,
    /// An update over the air is refused or breaks off.
    Update,
    /// A cause that files of rules name.
    Named(NamedCause),
}

impl TroubleCause {
    /// Finds a cause of a log by its stable name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = [
            Self::Brownout,
            Self::Panic,
            Self::StackOverflow,
            Self::Watchdog,
            Self::MemoryCorrupted,
            Self::Flash,
            Self::Heap,
            Self::SendBuffers,
            Self::NoAddress,
            Self::Names,
            Self::Tls,
            Self::BrokerRefused,
            Self::WifiCalls,
            Self::Connections,
            Self::PowerSave,
            Self::SlowPhy,
            Self::ChannelMoved,
            Self::EspNowUnheard,
            Self::Storage,
            Self::ExternalMemory,
            Self::Update,
        ];
        let groups = ReasonGroup::ALL.into_iter().map(Self::Disconnections);
        plain.into_iter().chain(groups).find(|it| it.name() == name)
    }

    /// Returns the record of the cause; of several that have its stable name the first.
    #[must_use]
    pub fn record(self) -> Option<&'static CauseRecord> {
        if let Self::Named(it) = self {
            return Some(it.0);
        }
        let name = self.name();
        RuleBook::built_in().causes().find(|it| it.stable_name() == name)
    }

    /// Returns the stable name, for JSON and tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Brownout => "brown-out".into(),
            Self::Panic => "panic".into(),
            Self::StackOverflow => "stack-overflow".into(),
            Self::Watchdog => "watchdog".into(),
            Self::MemoryCorrupted => "memory-corruption".into(),
            Self::Flash => "flash".into(),
            Self::Heap => "heap".into(),
            Self::Disconnections(group) => format!("link-{}", group.name()),
            Self::SendBuffers => "send-buffers".into(),
            Self::NoAddress => "no-address".into(),
            Self::Names => "dns".into(),
            Self::Tls => "tls".into(),
            Self::BrokerRefused => "mqtt-refused".into(),
            Self::WifiCalls => "wifi-calls".into(),
            Self::Connections => "connections".into(),
            Self::Settings(rule) => format!("settings-{rule}"),
            Self::OtherBuild => "other-build".into(),
            Self::PowerSave => "power-save".into(),
            Self::SlowPhy => "slow-phy".into(),
            Self::ChannelMoved => "channel-moved".into(),
            Self::EspNowUnheard => "esp-now-unheard".into(),
            Self::Losses(cause) => format!("loss-{}", cause.name()),
            Self::CellsFailed => "cells-failed".into(),
            Self::HiddenNodes => "hidden-nodes".into(),
            Self::BusyChannel => "busy-channel".into(),
            Self::WeakSignal => "weak-signal".into(),
            Self::Interference => "interference".into(),
            Self::TcpZeroWindow => "tcp-zero-window".into(),
            Self::TcpWindow => "tcp-window".into(),
            Self::TcpLosses => "tcp-losses".into(),
            Self::Storage => "nvs".into(),
            Self::ExternalMemory => "psram".into(),
            Self::Update => "ota".into(),
            Self::Named(it) => it.0.stable_name().into(),
        }
    }
}

impl Serialize for TroubleCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Other causes are as likely.
    Low,
    /// Other causes are less likely.
    Medium,
    /// The file says so.
    High,
}

impl Certainty {
    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseFinding {
    /// The cause.
    pub cause: TroubleCause,
    /// Record that it was found by: of several that have the cause's stable name, its own weight counts.
    #[serde(skip)]
    pub record: Option<NamedCause>,
    /// The cause in words, as a sentence without its full stop.
    pub title: String,
    /// How sure it is.
    pub certainty: Certainty,
    /// Number of incidents that it explains.
    pub incidents: u64,
    /// Share of all incidents of the file that it explains, from 0 to 1.
    pub share: f64,
    /// The first places that show it.
    pub evidence: Vec<LogPlace>,
    /// Remedy, as a sentence.
    pub remedy: String,
    /// Observation that would confirm it.
    pub confirm: String,
    /// Page that tells more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Cause of another finding, from which this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows_from: Option<TroubleCause>,
    /// Settings to change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SettingChange>,
}

impl CauseFinding {
    /// Returns the record that it was found by, or the first one of its cause.
    #[must_use]
    pub fn record(&self) -> Option<&'static CauseRecord> {
        self.record.map(|it| it.0).or_else(|| self.cause.record())
    }

    /// Returns the finding with another certainty.
    #[must_use]
    pub(crate) fn sure(self, certainty: Certainty) -> Self {
        Self { certainty, ..self }
    }

    /// Returns the finding with another title.
    #[must_use]
    pub(crate) fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }
}

/// Verdict of the doctor on a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosisVerdict {
    /// Causes were found; the first explains most.
    Causes,
    /// The file shows a link that works, and nothing wrong.
    NothingWrong,
    /// The file shows nothing of a link.
    CannotTell,
}

/// The findings of a file, those first that explain most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The verdict.
    pub verdict: DiagnosisVerdict,
    /// Findings, ranked.
    pub findings: Vec<CauseFinding>,
    /// Contradictions between files, each a sentence with its lines.
    pub contradictions: Vec<String>,
    /// Observations that are no trouble by themselves.
    pub notes: Vec<String>,
}
