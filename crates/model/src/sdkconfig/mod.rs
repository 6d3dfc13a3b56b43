//! The options of a firmware's `sdkconfig` that shape its wireless links.
//!
//! | module | contents |
//! |---|---|
//! | `settings` | [`OptionValues`]: values for some of the options |
//! | `key` | [`ConfigOption`], [`Fact`]: the names, meaning and memory cost of each option |
//! | `chip` | [`Chip`], [`IdfRelease`], [`SdkContext`]: what ranges and defaults depend on |
//! | `hosted` | [`HostedOptions`]: a host whose radio is on a chip beside it (ESP-Hosted), and that chip |
//! | `limits` | ranges and defaults, as Kconfig has them |
//! | `read` | [`read()`], [`ParsedSdkConfig`]: parses the text of a file |
//! | `write` | [`fragment`]: options as text for a file, each with a comment |
//! | [`memory`] | [`MemoryOptions`]: caches, flash, PSRAM; heap that the options take |
//! | `ranks` | [`Rank`]: combinations that Espressif's documents recommend, with their measured throughput |
//!
//! [`SdkConfig`] holds the buffers and windows of a firmware, as the lab takes them.

mod chip;
mod hosted;
mod key;
mod limits;
pub mod memory;
mod ranks;
mod read;
mod settings;
mod write;

#[cfg(test)]
mod tests;

pub use chip::{Chip, ChipWithoutWifi, IdfRelease, SdkContext, UnknownChip, UnknownRelease};
pub use hosted::{HostedBus, HostedBusOptions, HostedOptions};
pub use key::{BUFFER_BYTES, ConfigOption, FACTS, Fact, OptionText, Price, ValueType};
pub use memory::{MEMORY_OPTIONS, MemoryOptions};
pub use ranks::{RANKS, Rank};
pub use read::{
    ParseError, ParseErrorKind, ParsedSdkConfig, SCALES_CLOCK, SKIPS_CHECK, SdkConfigWarning,
    TX_POWER, WARNINGS, read, read_beside,
};
pub use settings::OptionValues;
pub use write::{Line, clock, comment, fragment};

/// Options of ESP-IDF's Wi-Fi driver and of lwIP, with the numbers and units of the file.
///
/// The default is that of ESP-IDF v5's Kconfig for a chip without PSRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SdkConfig {
    /// `CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM`: buffers that the hardware writes received frames to.
    pub static_rx: u16,
    /// `CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM`: frames between driver and lwIP; 0 is no limit.
    pub dynamic_rx: u16,
    /// `CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, or the static one: frames to send in the driver.
    pub tx: u16,
    /// `CONFIG_ESP_WIFI_TX_BA_WIN`, the block ack window for sending; 0 (no A-MPDU is sent) without
    /// `CONFIG_ESP_WIFI_AMPDU_TX_ENABLED`.
    pub tx_ba_window: u8,
    /// `CONFIG_ESP_WIFI_RX_BA_WIN`, the block ack window for receiving; 0 (no A-MPDU is received)
    /// without `CONFIG_ESP_WIFI_AMPDU_RX_ENABLED`.
    pub rx_ba_window: u8,
    /// `CONFIG_ESP_WIFI_IRAM_OPT`: the driver's send path runs from IRAM.
    pub wifi_iram: bool,
    /// `CONFIG_ESP_WIFI_RX_IRAM_OPT`: the driver's receive path runs from IRAM.
    pub wifi_rx_iram: bool,
    /// `CONFIG_LWIP_IRAM_OPTIMIZATION`: lwIP's send and receive paths run from IRAM.
    pub lwip_iram: bool,
    /// `CONFIG_LWIP_TCP_MSS`: maximum segment size, in bytes.
    pub tcp_mss: u16,
    /// `CONFIG_LWIP_TCP_SND_BUF_DEFAULT`: send buffer of a TCP socket, in bytes.
    pub tcp_send_buffer: u32,
    /// `CONFIG_LWIP_TCP_WND_DEFAULT`: receive window of a TCP socket, in bytes.
    pub tcp_window: u32,
    /// `CONFIG_LWIP_TCP_RECVMBOX_SIZE`: segments that wait for a socket's reader.
    pub tcp_mailbox: u16,
    /// `CONFIG_LWIP_UDP_RECVMBOX_SIZE`: datagrams that wait for a socket's reader.
    pub udp_mailbox: u16,
    /// `CONFIG_LWIP_TCPIP_RECVMBOX_SIZE`: packets and calls that wait for lwIP's task.
    pub tcpip_mailbox: u16,
    /// `CONFIG_LWIP_MAX_SOCKETS`: greatest number of open sockets.
    pub sockets: u16,
    /// `CONFIG_FREERTOS_HZ`: FreeRTOS ticks in a second.
    pub tick_hz: u32,
    /// Caches, flash and PSRAM, and what the compiler makes of the code.
    pub memory: MemoryOptions,
}

impl Default for SdkConfig {
    fn default() -> Self {
        Self {
            static_rx: 10,
            dynamic_rx: 32,
            tx: 32,
            tx_ba_window: 6,
            rx_ba_window: 6,
            wifi_iram: true,
            wifi_rx_iram: true,
            lwip_iram: false,
            tcp_mss: 1440,
            tcp_send_buffer: 5760,
            tcp_window: 5760,
            tcp_mailbox: 6,
            udp_mailbox: 6,
            tcpip_mailbox: 32,
            sockets: 10,
            tick_hz: 100,
            memory: MemoryOptions::default(),
        }
    }
}
