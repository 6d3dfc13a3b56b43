//! Settings that a boot log prints.

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
