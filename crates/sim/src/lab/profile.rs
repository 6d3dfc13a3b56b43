//! What an ESP adds to physics: the time its processor takes, its buffers, its flash.
//!
//! A profile is a TOML file in `profiles/`; each constant there names its source.

use crate::radio::Chip;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// A time that grows with a length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Whatever the length.
    pub fixed_ns: u64,
    /// For each byte, in picoseconds.
    pub per_byte_ps: u64,
    /// Lengths count in whole blocks of so many bytes: AES's, or a sector of flash. 0: as they are.
    pub block: u32,
}

impl Cost {
    /// For so many bytes.
    #[must_use]
    pub const fn of(self, bytes: u32) -> Duration {
        Duration::from_nanos(self.ns(bytes))
    }

    /// The same in nanoseconds.
    #[must_use]
    #[inline]
    pub const fn ns(self, bytes: u32) -> u64 {
        let bytes = match self.block {
            0 | 1 => bytes as u64,
            block => bytes.div_ceil(block) as u64 * block as u64,
        };
        self.fixed_ns + self.per_byte_ps * bytes / 1000
    }
}

/// Where a constant comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Key of the constant in the file.
    pub key: String,
    /// Standard and clause, datasheet, or the cells it was fitted on.
    pub text: String,
    /// Whether it was fitted to published cells.
    pub fitted: bool,
}

/// The constants of a chip with its firmware.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name of the file, without its ending.
    pub name: String,
    /// Identity column `chip` of results.
    pub chip_name: String,
    /// Its radio.
    pub chip: Chip,
    /// The receive callback, in the Wi-Fi task.
    pub receive: Cost,
    /// Handing a frame to a service.
    pub dispatch: Cost,
    /// Handing a frame to the driver.
    pub transmit: Cost,
    /// From the driver's taking a frame to its contending for the medium.
    pub send_latency: Cost,
    /// From the end of a transmission to the send callback.
    pub sent_latency: Cost,
    /// Encrypting (AES-CCM).
    pub seal: Cost,
    /// Decrypting.
    pub open: Cost,
    /// What work takes longer whose code must be fetched from flash first: encrypting and
    /// decrypting between other work, and a frame's way after a pause.
    pub cold_ns: u64,
    /// X25519 with the base point.
    pub key_pair: Cost,
    /// X25519.
    pub shared_secret: Cost,
    /// SHA-256.
    pub hash: Cost,
    /// Erasing flash.
    pub erase: Cost,
    /// Writing flash.
    pub write: Cost,
    /// Reading flash.
    pub read: Cost,
    /// Bits a second of the console's UART; each byte is ten bits, and printing blocks.
    pub uart_baud: u32,
    /// Bytes of the UART's FIFO: printing blocks from there on.
    pub uart_fifo: u16,
    /// `CONFIG_FREERTOS_HZ`.
    pub tick_hz: u32,
    /// TX buffers of the driver.
    pub tx_buffers: u16,
    /// RX buffers of the driver: frames that wait for the receive callback.
    pub rx_buffers: u16,
    /// Transmit power, dBm.
    pub tx_power_dbm: f64,
    /// Attempts of the MAC for a unicast frame, in all.
    pub attempts: u8,
    /// The smallest and largest contention window.
    pub window: (u16, u16),
    /// How long a hop to another channel takes.
    pub hop: Duration,
    /// From a reset until the application runs.
    pub boot: Duration,
    /// From a beacon's being heard until the station has an address: authentication, association,
    /// four-way handshake, DHCP.
    pub join: Duration,
    /// How long a scan listens on a channel.
    pub scan_dwell: Duration,
    /// Where each constant comes from.
    pub sources: Vec<Source>,
}

impl Profile {
    /// The same radio and buffers, with a processor and a console that take no time.
    #[must_use]
    pub fn at_once(&self) -> Self {
        Self {
            chip_name: self.chip_name.clone(),
            uart_baud: 0,
            tick_hz: self.tick_hz,
            tx_buffers: self.tx_buffers,
            rx_buffers: self.rx_buffers,
            tx_power_dbm: self.tx_power_dbm,
            attempts: self.attempts,
            window: self.window,
            ..Self::free(&self.name, self.chip)
        }
    }

    /// One of ESP-IDF's default settings that costs nothing.
    #[must_use]
    pub fn free(name: &str, chip: Chip) -> Self {
        let free = Cost::default();
        Self {
            name: name.into(),
            chip_name: chip.name().into(),
            chip,
            receive: free,
            dispatch: free,
            transmit: free,
            send_latency: free,
            sent_latency: free,
            seal: free,
            open: free,
            cold_ns: 0,
            key_pair: free,
            shared_secret: free,
            hash: free,
            erase: free,
            write: free,
            read: free,
            uart_baud: 115_200,
            uart_fifo: 128,
            tick_hz: 100,
            tx_buffers: 32,
            rx_buffers: 10,
            tx_power_dbm: 20.0,
            attempts: 7,
            window: (31, 1023),
            hop: Duration::ZERO,
            boot: Duration::ZERO,
            join: Duration::ZERO,
            scan_dwell: Duration::ZERO,
            sources: Vec::new(),
        }
    }
}
