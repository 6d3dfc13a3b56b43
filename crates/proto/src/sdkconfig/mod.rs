//! What of a firmware's `sdkconfig` shapes its wireless links.
//!
//! | module | what |
//! |---|---|
//! | [`SdkConfig`] | the limits of a firmware, as the lab takes them |
//! | [`Key`], [`Fact`] | each setting: its names, range, default, meaning and price |
//! | [`Chip`], [`Release`], [`Context`] | what ranges and defaults depend on |
//! | [`Settings`] | values for some of the settings |
//! | [`read()`], [`Reading`] | a file's text to settings |
//! | [`memory`] | what settings take of the heap |
//! | [`Rank`] | what Espressif's documents recommend, and what they measured with it |
//! | [`fragment`] | settings to a file's text, with a comment for each |

mod chip;
mod key;
mod limits;
pub mod memory;
mod ranks;
mod read;
mod settings;
mod write;

#[cfg(test)]
mod tests;

pub use chip::{Chip, Context, NoRelease, Release, UnknownChip};
pub use key::{BUFFER_BYTES, FACTS, Fact, Key, Kind, Price};
pub use ranks::{RANKS, Rank};
pub use read::{Fault, Reading, WARNINGS, Warning, Wrong, read};
pub use settings::Settings;
pub use write::{Line, comment, fragment};

/// Settings of ESP-IDF's Wi-Fi driver and of lwIP. Numbers are those of the file, in its units.
///
/// The default is that of ESP-IDF v5's Kconfig for a chip without PSRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SdkConfig {
    /// `CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM`: frames that the hardware can write to.
    pub static_rx: u16,
    /// `CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM`: frames between driver and lwIP; 0: no limit.
    pub dynamic_rx: u16,
    /// `CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, or the static one: frames in the driver.
    pub tx: u16,
    /// `CONFIG_ESP_WIFI_AMPDU_TX_ENABLED` with `CONFIG_ESP_WIFI_TX_BA_WIN`; 0: no A-MPDU is sent.
    pub tx_ba_window: u8,
    /// `CONFIG_ESP_WIFI_AMPDU_RX_ENABLED` with `CONFIG_ESP_WIFI_RX_BA_WIN`; 0: none is received.
    pub rx_ba_window: u8,
    /// `CONFIG_ESP_WIFI_IRAM_OPT`: the driver's send path is in IRAM.
    pub wifi_iram: bool,
    /// `CONFIG_ESP_WIFI_RX_IRAM_OPT`: its receive path is.
    pub wifi_rx_iram: bool,
    /// `CONFIG_LWIP_IRAM_OPTIMIZATION`: lwIP's paths are.
    pub lwip_iram: bool,
    /// `CONFIG_LWIP_TCP_MSS`, bytes.
    pub tcp_mss: u16,
    /// `CONFIG_LWIP_TCP_SND_BUF_DEFAULT`, bytes.
    pub tcp_send_buffer: u32,
    /// `CONFIG_LWIP_TCP_WND_DEFAULT`, bytes.
    pub tcp_window: u32,
    /// `CONFIG_LWIP_TCP_RECVMBOX_SIZE`: segments that wait for a socket's reader.
    pub tcp_mailbox: u16,
    /// `CONFIG_LWIP_UDP_RECVMBOX_SIZE`: datagrams that wait for a socket's reader.
    pub udp_mailbox: u16,
    /// `CONFIG_LWIP_TCPIP_RECVMBOX_SIZE`: packets and calls that wait for lwIP's task.
    pub tcpip_mailbox: u16,
    /// `CONFIG_LWIP_MAX_SOCKETS`.
    pub sockets: u16,
    /// `CONFIG_FREERTOS_HZ`.
    pub tick_hz: u32,
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
        }
    }
}
