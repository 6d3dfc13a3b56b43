//! Profiles of chips: what an ESP adds to physics, which is processor time, buffers and flash.
//!
//! A profile is a TOML file in `profiles/`; each constant there names its source.
//!
//! | module | contents |
//! |---|---|
//! | `cache` | caches, flash, PSRAM and compiler: how much longer or shorter work takes with them |
//! | `ip` | [`IpCosts`], [`WifiLimits`], [`LightSleepCosts`], [`Memory`]: a frame's way on a device that speaks IP |

mod cache;
mod ip;
#[cfg(test)]
mod tests;

use cache::MemoryTimes;
pub use ip::{IpCosts, LightSleepCosts, Memory, Processor, WifiLimits};

pub(in crate::lab) use cache::{PSRAM_BYTES, cache_constants};
pub(in crate::lab) use ip::tcp_code_bytes;

pub use crate::lab::nodes::chip::Cost;
use crate::power::{Currents, Modulation};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::RadioChip;
use espbench_model::sdkconfig::{Chip, MemoryOptions, SdkConfig};

/// Confidence in a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A guess, or what holds for a relative.
    Low,
    /// Computed from published figures of this chip, or measured on a relative much like it.
    Medium,
    /// A figure that a document gives for this chip.
    High,
}

impl Confidence {
    /// All grades, with the words of files.
    pub const NAMED: [(&str, Self); 3] =
        [("high", Self::High), ("medium", Self::Medium), ("low", Self::Low)];

    /// Returns the word that files use.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// Returns the grade of the same constant for another chip.
    #[must_use]
    pub const fn elsewhere(self) -> Self {
        match self {
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }
}

/// Origin of a constant: where its value is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConstantOrigin {
    /// A document gives it: a datasheet, sources of a firmware, a paper, a measurement of others.
    Published,
    /// A standard sets it.
    Standard,
    /// A fit to published cells, or to a measurement that its source names, gave it.
    Fitted,
    /// A person chose it after a look at published cells.
    ByHand,
    /// Nobody knows: a guess, or a choice of the scenario.
    Assumed,
}

impl ConstantOrigin {
    /// All origins.
    pub const ALL: [Self; 5] =
        [Self::Published, Self::Standard, Self::Fitted, Self::ByHand, Self::Assumed];

    /// Words that a file may give to a table, and their meanings.
    pub const NAMED: [(&str, Self); 4] = [
        ("published", Self::Published),
        ("standard", Self::Standard),
        ("by-hand", Self::ByHand),
        ("assumed", Self::Assumed),
    ];

    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Standard => "standard",
            Self::Fitted => "fitted",
            Self::ByHand => "by-hand",
            Self::Assumed => "assumed",
        }
    }
}

/// Source of a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Key of the constant in the file.
    pub key: String,
    /// Standard and clause, datasheet, or the cells it was fitted on.
    pub text: String,
    /// Origin of the value, where that is stated.
    pub origin: Option<ConstantOrigin>,
    /// Cells that were looked at, where a person chose the value after that.
    pub looked_at: Option<String>,
    /// Confidence in it, where that is stated.
    pub confidence: Option<Confidence>,
}

impl Source {
    /// Returns whether the constant was fitted.
    #[must_use]
    pub fn fitted(&self) -> bool {
        self.origin == Some(ConstantOrigin::Fitted)
    }
}

/// Times of a wake from deep sleep, in the order in which they pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeTimes {
    /// From the timer's alarm until the bootloader starts the application: ROM and bootloader.
    pub rom: Duration,
    /// Checking the application's image, if the bootloader is to.
    pub validate: Duration,
    /// From there until `app_main` has read its settings.
    pub application: Duration,
    /// `esp_wifi_init`: memory and settings, with the radio off.
    pub wifi_init: Duration,
    /// `esp_wifi_start` and `esp_now_init`, with the radio on.
    pub wifi_start: Duration,
    /// `esp_wifi_stop`, until deep sleep begins.
    pub wifi_stop: Duration,
}

/// The constants of a chip with its firmware.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name of the file, without its ending.
    pub name: String,
    /// Identity column `chip` of results.
    pub chip_name: String,
    /// Radio of the chip.
    pub chip: RadioChip,
    /// The receive callback, in the Wi-Fi task.
    pub receive: Cost,
    /// Handing a frame to a service.
    pub dispatch: Cost,
    /// The component's part of sending: `espnow_send` composes a frame.
    pub transmit: Cost,
    /// The call of `esp_now_send`, which copies a frame into a buffer of the driver's and wakes its task.
    pub esp_now_send: Cost,
    /// Time from the driver's taking a frame to its contending for the medium.
    pub send_latency: Cost,
    /// Time from the end of a transmission to the send callback. The driver's task looks at the next frame
    /// after it.
    pub sent_latency: Cost,
    /// Mean of the random time that each of these two turns of the driver's task takes longer, which is
    /// exponentially distributed.
    pub jitter_ns: u64,
    /// Time that raising the processor's clock takes, where it is lower while nothing runs (DFS).
    pub clock_switch_ns: u64,
    /// Clock of the processor while nothing runs, where it is lower then.
    pub idle_clock_mhz: Option<u32>,
    /// Time from the send callback until the component's task goes on.
    pub resume: Cost,
    /// Encrypting (AES-CCM).
    pub seal: Cost,
    /// Decrypting.
    pub open: Cost,
    /// Further time of work whose code must be fetched from flash first: encrypting and decrypting
    /// between other work, and a frame's way after a pause.
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
    /// Mean effective gain of the board's antenna, dBi.
    pub antenna_dbi: f64,
    /// Attempts of the MAC for a unicast frame, in all.
    pub attempts: u8,
    /// The smallest and largest contention window.
    pub window: (u16, u16),
    /// Time of a hop to another channel.
    pub hop: Duration,
    /// Time from a reset until the application runs.
    pub boot: Duration,
    /// Times of a wake from deep sleep.
    pub wake: WakeTimes,
    /// Time from a beacon's being heard until the station has an address: authentication, association,
    /// four-way handshake, DHCP.
    pub join: Duration,
    /// Time for which a scan listens on a channel.
    pub scan_dwell: Duration,
    /// Processor of the chip.
    pub processor: Processor,
    /// Costs of a packet's way in processor time.
    pub ip: IpCosts,
    /// Limits of radio and driver.
    pub wifi: WifiLimits,
    /// Events that wake the processor in light sleep, and their cost.
    pub light: LightSleepCosts,
    /// Heap of the chip.
    pub memory: Memory,
    /// Current that the chip draws in each state.
    pub currents: Currents,
    /// Sources of the constants.
    pub sources: Vec<Source>,
}

impl Profile {
    /// Returns the chip whose sdkconfig its firmware has; `None` for one without.
    #[must_use]
    pub fn sdk_chip(&self) -> Option<Chip> {
        self.chip.name().parse().ok()
    }

    /// Returns the largest current while it sends, in milliamperes; `None` where none is known.
    #[must_use]
    pub fn peak_ma(&self) -> Option<f64> {
        let of = |it: Modulation| self.currents.transmit_na(it, self.tx_power_dbm);
        let most = Modulation::ALL.into_iter().map(of).max().unwrap_or(0);
        (most > 0).then(|| f64::from(most) / 1e6)
    }

    /// Returns the costs of IP with a firmware's code and packets where its settings have them.
    #[must_use]
    pub fn costs(&self, sdk: &SdkConfig) -> IpCosts {
        let speed = self.processor.speed();
        let times = match self.sdk_chip() {
            Some(chip) => MemoryTimes::of(chip, sdk, speed),
            None => MemoryTimes::of_esp8266(sdk, speed),
        };
        self.ip.with(sdk, &times)
    }

    /// Returns the heap with the caches of a firmware: what they have more than the chip's default ones is
    /// missing there.
    #[must_use]
    pub fn memory_with(&self, sdk: &SdkConfig) -> Memory {
        let caches = self.sdk_chip().map_or(0, |it| sdk.memory.cache_bytes(it));
        let heap = i64::from(self.memory.heap_bytes).saturating_sub(caches);
        Memory { heap_bytes: u32::try_from(heap.max(0)).unwrap_or(u32::MAX), ..self.memory }
    }

    /// Returns the chip at another clock: the costs of IP change with it. Those of ESP-NOW stay as
    /// they were measured.
    #[must_use]
    pub fn at_clock(&self, clock_mhz: u32) -> Self {
        let from = self.processor.clock_mhz;
        Self {
            processor: Processor { clock_mhz, ..self.processor },
            ip: self.ip.at_clock(from, clock_mhz),
            light: LightSleepCosts {
                work_ns: self.light.work_ns * u64::from(from) / u64::from(clock_mhz.max(1)),
                ..self.light
            },
            ..self.clone()
        }
    }

    /// Returns a node's chip at another clock: what the processor computes takes longer or shorter, the
    /// turns of the driver's task as well. Flash stays as it was measured.
    #[must_use]
    pub fn node_at_clock(&self, clock_mhz: u32) -> Self {
        let from = self.processor.clock_mhz;
        let at = |cost: Cost| cost.times(from.into(), clock_mhz.max(1).into());
        Self {
            receive: at(self.receive),
            dispatch: at(self.dispatch),
            transmit: at(self.transmit),
            esp_now_send: at(self.esp_now_send),
            send_latency: at(self.send_latency),
            sent_latency: at(self.sent_latency),
            jitter_ns: self.jitter_ns * u64::from(from) / u64::from(clock_mhz.max(1)),
            resume: at(self.resume),
            seal: at(self.seal),
            open: at(self.open),
            key_pair: at(self.key_pair),
            shared_secret: at(self.shared_secret),
            hash: at(self.hash),
            ..self.at_clock(clock_mhz)
        }
    }

    /// Returns a node's chip with dynamic frequency scaling (`esp_pm_configure`): while nothing runs its clock is
    /// that low. An interrupt raises it, which puts off what comes with a received and with a sent frame.
    #[must_use]
    pub fn node_with_idle_clock(&self, clock_mhz: u32) -> Self {
        let switch = Cost { fixed_ns: self.clock_switch_ns, ..Cost::default() };
        Self {
            receive: self.receive.and(switch),
            sent_latency: self.sent_latency.and(switch),
            idle_clock_mhz: Some(clock_mhz),
            ..self.clone()
        }
    }

    /// Returns the processor's work for sending a frame with the component, up to the driver's taking it.
    #[must_use]
    pub const fn sending(&self) -> Cost {
        self.transmit.and(self.esp_now_send)
    }

    /// Returns the mean time from the driver's taking a frame of so many bytes, while it rests, to its
    /// contending for the medium.
    #[must_use]
    pub const fn send_mean(&self, bytes: u32) -> Duration {
        Duration::from_nanos(self.send_latency.ns(bytes) + self.jitter_ns)
    }

    /// Returns the mean time from the end of a transmission until the component's task goes on.
    #[must_use]
    pub const fn sent_mean(&self, bytes: u32) -> Duration {
        Duration::from_nanos(self.sent_latency.ns(bytes) + self.jitter_ns + self.resume.ns(bytes))
    }

    /// Returns a node's chip with other flash: what it fetches after a pause, or between other work, takes as
    /// much longer or shorter as the flash does.
    #[must_use]
    pub fn node_with_flash(&self, memory: MemoryOptions) -> Self {
        let times = self.sdk_chip().map_or(1.0, |it| cache::flash_time(it, memory));
        Self { cold_ns: libm::round(self.cold_ns as f64 * times) as u64, ..self.clone() }
    }

    /// Returns a profile of the same radio and buffers, with a processor and a console that take no
    /// time.
    #[must_use]
    pub fn at_once(&self) -> Self {
        Self {
            chip_name: self.chip_name.clone(),
            uart_baud: 0,
            wake: self.wake,
            tick_hz: self.tick_hz,
            tx_buffers: self.tx_buffers,
            rx_buffers: self.rx_buffers,
            tx_power_dbm: self.tx_power_dbm,
            antenna_dbi: self.antenna_dbi,
            attempts: self.attempts,
            window: self.window,
            wifi: self.wifi,
            light: self.light,
            memory: self.memory,
            currents: self.currents,
            ..Self::free(&self.name, self.chip)
        }
    }

    /// Creates a profile of ESP-IDF's default settings whose work costs nothing.
    #[must_use]
    pub fn free(name: &str, chip: RadioChip) -> Self {
        let free = Cost::default();
        Self {
            name: name.into(),
            chip_name: chip.name().into(),
            chip,
            receive: free,
            dispatch: free,
            transmit: free,
            esp_now_send: free,
            send_latency: free,
            sent_latency: free,
            jitter_ns: 0,
            clock_switch_ns: 0,
            idle_clock_mhz: None,
            resume: free,
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
            antenna_dbi: 0.0,
            attempts: 7,
            window: (31, 1023),
            hop: Duration::ZERO,
            wake: WakeTimes::default(),
            boot: Duration::ZERO,
            join: Duration::ZERO,
            scan_dwell: Duration::ZERO,
            processor: Processor { clock_mhz: 160, cores: 1, coremark_milli: 0, work_permille: 0 },
            ip: IpCosts::default(),
            wifi: WifiLimits {
                ht40: true,
                ampdu_tx: true,
                ht_tx: true,
                rx_in_place: false,
                sae_ns: 0,
                pmk_ns: 0,
                wake_ns: 0,
                early_ns: 0,
                stop_at_tim: false,
            },
            light: LightSleepCosts::default(),
            memory: Memory {
                heap_bytes: 200_000,
                static_rx_bytes: 1600,
                dynamic_rx_bytes: 0,
                tx_bytes: 0,
                socket_bytes: 0,
                tcp_bytes: 0,
                wifi_iram_bytes: 0,
                wifi_rx_iram_bytes: 0,
                lwip_iram_bytes: 0,
            },
            currents: Currents::default(),
            sources: Vec::new(),
        }
    }
}
