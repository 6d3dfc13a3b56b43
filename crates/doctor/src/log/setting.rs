//! Settings that a boot log prints.

use super::event::{LogEvent, number};
use super::search::SearchText;
use espbench_model::sdkconfig::ConfigOption;

/// A setting that the boot log prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootSetting {
    /// `Init static rx buffer num`
    StaticRx,
    /// `Init dynamic rx buffer num`
    DynamicRx,
    /// `Init dynamic tx buffer num`
    DynamicTx,
    /// `Init static tx buffer num`
    StaticTx,
    /// `rx ba win`
    RxBaWindow,
    /// `tcpip mbox`
    TcpipMailbox,
    /// `udp mbox`
    UdpMailbox,
    /// `tcp mbox`
    TcpMailbox,
    /// `tcp tx win`, in bytes
    TcpSendBuffer,
    /// `tcp rx win`, in bytes
    TcpWindow,
    /// `tcp mss`, in bytes
    TcpMss,
    /// `Init tx cache buffer num`
    CacheTx,
    /// `WiFi IRAM OP enabled`; 1
    WifiIram,
    /// `WiFi RX IRAM OP enabled`; 1
    WifiRxIram,
    /// `LWIP IRAM OP enabled`; 1
    LwipIram,
}

impl BootSetting {
    /// All settings, with the words in front of their value.
    const WORDS: [(&'static str, Self); 12] = [
        ("Init static rx buffer num: ", Self::StaticRx),
        ("Init dynamic rx buffer num: ", Self::DynamicRx),
        ("Init dynamic tx buffer num: ", Self::DynamicTx),
        ("Init static tx buffer num: ", Self::StaticTx),
        ("rx ba win: ", Self::RxBaWindow),
        ("tcpip mbox: ", Self::TcpipMailbox),
        ("udp mbox: ", Self::UdpMailbox),
        ("tcp mbox: ", Self::TcpMailbox),
        ("tcp tx win: ", Self::TcpSendBuffer),
        ("tcp rx win: ", Self::TcpWindow),
        ("tcp mss: ", Self::TcpMss),
        ("Init tx cache buffer num: ", Self::CacheTx),
    ];

    /// Flags, with the words that stand there where they are set.
    const FLAGS: [(&'static str, Self); 3] = [
        ("WiFi IRAM OP enabled", Self::WifiIram),
        ("WiFi RX IRAM OP enabled", Self::WifiRxIram),
        ("LWIP IRAM OP enabled", Self::LwipIram),
    ];

    /// Returns the option of sdkconfig that sets it.
    #[must_use]
    pub const fn option(self) -> ConfigOption {
        match self {
            Self::StaticRx => ConfigOption::StaticRx,
            Self::DynamicRx => ConfigOption::DynamicRx,
            Self::DynamicTx => ConfigOption::DynamicTx,
            Self::StaticTx => ConfigOption::StaticTx,
            Self::CacheTx => ConfigOption::CacheTx,
            Self::RxBaWindow => ConfigOption::RxBaWindow,
            Self::TcpipMailbox => ConfigOption::TcpipMailbox,
            Self::UdpMailbox => ConfigOption::UdpMailbox,
            Self::TcpMailbox => ConfigOption::TcpMailbox,
            Self::TcpSendBuffer => ConfigOption::SendBuffer,
            Self::TcpWindow => ConfigOption::Window,
            Self::TcpMss => ConfigOption::TcpMss,
            Self::WifiIram => ConfigOption::WifiIram,
            Self::WifiRxIram => ConfigOption::WifiRxIram,
            Self::LwipIram => ConfigOption::LwipIram,
        }
    }
}

/// Returns the settings that a record tells.
pub(super) fn settings(text: &SearchText<'_>) -> impl Iterator<Item = LogEvent> {
    let flags = BootSetting::FLAGS.iter().filter(|it| text.contains(it.0));
    let numbers = BootSetting::WORDS.iter().filter_map(move |(words, setting)| {
        let at = text.find(words)?;
        // "tcp mbox" is the end of no other word, but "udp mbox" and "rx ba win" follow others.
        let whole = text[..at].chars().next_back().is_none_or(|it| !it.is_alphanumeric());
        let value = number(&text[at + words.len()..])?;
        whole.then_some(LogEvent::Setting(*setting, value))
    });
    flags.map(|it| LogEvent::Setting(it.1, 1)).chain(numbers)
}
