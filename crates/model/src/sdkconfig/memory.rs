//! Memories of a firmware: the options of caches, flash and PSRAM, and the heap that settings take.
//!
//! Of the heap there are two sources: the Wi-Fi guide's peak of the driver's dynamic buffers, p = b_rx m_rx +
//! b_tx m_tx (ESP-IDF Programming Guide, "Wi-Fi Dynamic Buffer Peak"), and its data path: a
//! received frame is handed on by reference; a packet to send is copied, first to lwIP, then to the
//! driver, and lwIP keeps its copy until it is acknowledged ("Protocol Stack Operation Mode").

use super::chip::{Chip, SdkContext};
use super::key::{BUFFER_BYTES, ConfigOption, Price};
use super::settings::OptionValues;
use core::fmt;

/// Options of what is behind the processor's caches, and of the compiler.
pub const MEMORY_OPTIONS: [ConfigOption; 12] = [
    ConfigOption::LwipExtraIram,
    ConfigOption::FlashMode,
    ConfigOption::FlashClock,
    ConfigOption::InstructionCache,
    ConfigOption::InstructionLine,
    ConfigOption::DataCache,
    ConfigOption::DataLine,
    ConfigOption::Psram,
    ConfigOption::PsramMode,
    ConfigOption::PsramClock,
    ConfigOption::PsramWifi,
    ConfigOption::Optimization,
];

/// Values of the [`MEMORY_OPTIONS`]; one that is not given is the chip's default.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct MemoryOptions {
    values: [Option<u32>; MEMORY_OPTIONS.len()],
}

impl fmt::Debug for MemoryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.given()).finish()
    }
}

impl MemoryOptions {
    /// Returns the value of an option, where it is given.
    #[must_use]
    pub fn get(&self, key: ConfigOption) -> Option<u32> {
        self.given().find(|it| it.0 == key).map(|it| it.1)
    }

    /// Returns the value of an option for a chip: the given one or the default.
    #[must_use]
    pub fn value(&self, key: ConfigOption, chip: Chip) -> u32 {
        let context = SdkContext { chip, ..SdkContext::default() };
        self.get(key).unwrap_or_else(|| key.default_in(&context))
    }

    /// Sets an option, or takes it back to the chip's default. Others than [`MEMORY_OPTIONS`] stay.
    pub fn set(&mut self, key: ConfigOption, value: Option<u32>) {
        if let Some(at) = MEMORY_OPTIONS.iter().position(|it| *it == key) {
            self.values[at] = value;
        }
    }

    /// Returns the values that are given.
    pub fn given(&self) -> impl Iterator<Item = (ConfigOption, u32)> {
        MEMORY_OPTIONS.into_iter().zip(self.values).filter_map(|(key, value)| Some((key, value?)))
    }

    /// Returns whether buffers of Wi-Fi and lwIP are in PSRAM.
    #[must_use]
    pub fn buffers_in_psram(&self) -> bool {
        self.get(ConfigOption::PsramWifi) == Some(1) && self.get(ConfigOption::Psram) != Some(0)
    }

    /// Returns the bytes of RAM that larger caches than the chip's default take from the heap; smaller
    /// ones give them (`components/esp_system/port/soc/CHIP/Kconfig.cache`).
    #[must_use]
    pub fn cache_bytes(&self, chip: Chip) -> i64 {
        let context = SdkContext { chip, ..SdkContext::default() };
        let more = |key: ConfigOption| {
            i64::from(self.value(key, chip)) - i64::from(key.default_in(&context))
        };
        1024 * (more(ConfigOption::InstructionCache) + more(ConfigOption::DataCache))
    }
}

/// Computes the peak of the driver's dynamic buffers, in bytes: `b_rx` receive buffers of the
/// largest frame that can arrive, `m_rx`, and `b_tx` send buffers of the largest that can be sent,
/// `m_tx`.
#[must_use]
pub const fn driver_peak(b_rx: u32, m_rx: u32, b_tx: u32, m_tx: u32) -> u64 {
    b_rx as u64 * m_rx as u64 + b_tx as u64 * m_tx as u64
}

/// Connections and sockets that are open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traffic {
    /// Number of TCP connections with data in flight.
    pub streams: u16,
    /// Number of UDP sockets.
    pub udp_sockets: u16,
}

impl Default for Traffic {
    /// Returns one TCP connection and one UDP socket.
    fn default() -> Self {
        Self { streams: 1, udp_sockets: 1 }
    }
}

/// Heap that settings take, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapDemand {
    /// Static buffers of the driver, from the start of Wi-Fi on.
    pub buffers: u64,
    /// Code in RAM, on chips where it takes RAM from the heap.
    pub code: u64,
    /// RAM of caches beyond the chip's default ones; negative where they are smaller.
    pub caches: i64,
    /// Mailboxes of lwIP's task and of the sockets.
    pub mailboxes: u64,
    /// Additional heap of TCP sending at full speed: segments in lwIP, and their copies in the
    /// driver.
    pub tcp_send: u64,
    /// Additional heap of TCP receiving at full speed: a window of frames that nobody reads.
    pub tcp_receive: u64,
    /// Additional heap of UDP at full speed: all dynamic buffers of the direction that has more.
    pub udp: u64,
    /// Peak p of the document: all dynamic buffers of both directions.
    pub driver_peak: u64,
    /// Send buffers of all streams.
    pub send_buffers: u64,
}

impl HeapDemand {
    /// Computes the heap that settings take with a traffic.
    #[must_use]
    pub fn of(settings: &OptionValues, context: &SdkContext, traffic: Traffic) -> Self {
        let value = |key| u64::from(settings.value(key, context));
        let frame = u64::from(BUFFER_BYTES);
        let fixed = settings.static_tx(context);
        let send_buffers = value(settings.tx_key(context));
        let streams = u64::from(traffic.streams);
        let segments = |bytes: u64| streams * bytes.div_ceil(value(ConfigOption::TcpMss).max(1));
        let send = value(ConfigOption::SendBuffer);
        let receive_buffers = match value(ConfigOption::DynamicRx) {
            // 0 is no limit: as many buffers as there may be frames in flight.
            0 => segments(value(ConfigOption::Window)).max(value(ConfigOption::TcpipMailbox)),
            limit => limit,
        };
        let dynamic_tx = if fixed { 0 } else { send_buffers };
        let mailbox = |key: ConfigOption, sockets: u64| match key.fact().price {
            Price::EachSocket(bytes) | Price::Always(bytes) => {
                sockets * u64::from(bytes) * value(key)
            }
            _ => 0,
        };
        let rx = segments(value(ConfigOption::Window)).min(receive_buffers);
        // With PSRAM packets and what lwIP keeps of them are there.
        let in_heap = |bytes: u64| if context.psram { 0 } else { bytes };
        Self {
            buffers: frame * (value(ConfigOption::StaticRx) + if fixed { send_buffers } else { 0 }),
            code: ConfigOption::all().map(|key| code(key, settings, context)).sum(),
            mailboxes: mailbox(ConfigOption::TcpipMailbox, 1)
                + mailbox(ConfigOption::TcpMailbox, streams)
                + mailbox(ConfigOption::UdpMailbox, traffic.udp_sockets.into()),
            caches: settings.config(context).memory.cache_bytes(context.chip),
            tcp_send: in_heap(streams * send + frame * segments(send).min(dynamic_tx)),
            tcp_receive: in_heap(frame * rx),
            udp: match traffic.udp_sockets {
                0 => 0,
                _ => in_heap(frame * receive_buffers.max(dynamic_tx)),
            },
            driver_peak: in_heap(driver_peak(
                u32::try_from(receive_buffers).unwrap_or(u32::MAX),
                BUFFER_BYTES,
                u32::try_from(dynamic_tx).unwrap_or(u32::MAX),
                BUFFER_BYTES,
            )),
            send_buffers: in_heap(streams * send),
        }
    }

    /// Returns the heap in use from the start of Wi-Fi on, without traffic, in bytes.
    #[must_use]
    pub const fn idle(&self) -> u64 {
        (self.buffers + self.code + self.mailboxes).saturating_add_signed(self.caches)
    }

    /// Returns the heap in use in the most demanding of four tests, in bytes: TCP or UDP,
    /// sending or receiving.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.idle() + self.tcp_send.max(self.tcp_receive).max(self.udp)
    }

    /// Returns the heap in use when every buffer is full at once, in bytes.
    #[must_use]
    pub const fn peak(&self) -> u64 {
        self.idle() + self.driver_peak + self.send_buffers
    }
}

/// Returns the heap that a flag's code takes, in bytes.
fn code(key: ConfigOption, settings: &OptionValues, context: &SdkContext) -> u64 {
    // Code in the ESP32's instruction RAM takes nothing from the heap (Technical Reference Manual,
    // "System and Memory").
    if context.chip == Chip::Esp32 || !settings.flag(key, context) {
        return 0;
    }
    let Price::Code(bytes) = key.fact().price else { return 0 };
    // The guide of the ESP32-C6 gives sizes of its own.
    let bytes = match (context.chip, key) {
        (Chip::Esp32c6, ConfigOption::WifiIram) => 13 * 1024,
        (Chip::Esp32c6, ConfigOption::WifiRxIram) => 7 * 1024,
        (Chip::Esp32c6, ConfigOption::LwipIram) => 14 * 1024,
        _ => bytes,
    };
    bytes.into()
}

/// Returns the heap that a firmware as small as the iperf example has before Wi-Fi starts, with
/// none of its code in RAM, in bytes; `None` where no document gives the figures.
///
/// Each chip has one fitted number: the mean over its ranks of "available memory" and of the heap
/// that the rank takes when busy ([`super::RANKS`]).
#[must_use]
pub const fn heap(chip: Chip) -> Option<u64> {
    Some(
        match chip {
            Chip::Esp32 => 199,
            Chip::Esp32s2 => 127,
            Chip::Esp32s3 => 329,
            Chip::Esp32c2 => 139,
            Chip::Esp32c3 => 235,
            Chip::Esp32c6 => 370,
            Chip::Esp32c5 | Chip::Esp32c61 => return None,
        } * 1024,
    )
}

#[cfg(test)]
mod tests {
    use super::super::ranks::{RANKS, Rank};
    use super::*;
    use std::vec::Vec;

    fn context(rank: &Rank) -> SdkContext {
        SdkContext { chip: rank.chip, ..SdkContext::default() }
    }

    /// Returns the heap that a rank takes when busy, and the free heap of the document, in KB.
    fn held(rank: &Rank) -> (f64, f64) {
        let memory = HeapDemand::of(&rank.settings(), &context(rank), Traffic::default());
        (memory.busy() as f64 / 1024.0, rank.free_kb)
    }

    #[test]
    fn the_peak_is_the_documents_formula() {
        assert_eq!(driver_peak(32, 1600, 32, 1600), 102_400);
        assert_eq!(driver_peak(40, 1638, 16, 1500), 40 * 1638 + 16 * 1500);
        assert_eq!(driver_peak(u32::MAX, u32::MAX, 0, 1), u64::from(u32::MAX).pow(2));
        let memory =
            HeapDemand::of(&OptionValues::default(), &SdkContext::default(), Traffic::default());
        assert_eq!(memory.driver_peak, driver_peak(32, 1638, 32, 1638));
    }

    #[test]
    fn the_heap_of_each_chip_is_the_mean_over_its_ranks() {
        for chip in Chip::ALL {
            let all: Vec<f64> = Rank::of(chip).map(|it| held(it).0 + held(it).1).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let wanted = (!all.is_empty()).then_some(mean.round() as u64);
            assert_eq!(heap(chip).map(|it| it / 1024), wanted, "{chip} {mean}");
        }
    }

    /// Compares with the document's ranks (59, 160 and 180 KB on the ESP32-C3). The document's step
    /// from "default" to "minimum" is smaller than that of the static buffers and the code alone,
    /// so no model of buffers fits all three.
    #[test]
    fn free_heap_of_the_ranks() {
        let off = |rank: &Rank| {
            let (takes, free) = held(rank);
            heap(rank.chip).unwrap() as f64 / 1024.0 - takes - free
        };
        let c3: Vec<f64> = Rank::of(Chip::Esp32c3).map(off).collect();
        assert!(c3.iter().all(|it| it.abs() < 18.0), "{c3:?}");
        let all: Vec<f64> = RANKS.iter().map(off).collect();
        let mean = all.iter().map(|it| it.abs()).sum::<f64>() / all.len() as f64;
        assert!(mean < 12.0 && all.iter().all(|it| it.abs() < 32.0), "{mean} {all:?}");
    }

    #[test]
    fn more_of_anything_never_takes_less() {
        let base =
            HeapDemand::of(&OptionValues::default(), &SdkContext::default(), Traffic::default());
        for key in [
            ConfigOption::StaticRx,
            ConfigOption::DynamicRx,
            ConfigOption::DynamicTx,
            ConfigOption::SendBuffer,
            ConfigOption::UdpMailbox,
        ] {
            let mut settings = OptionValues::default();
            settings.set(key, *key.range(&SdkContext::default()).end());
            let more = HeapDemand::of(&settings, &SdkContext::default(), Traffic::default());
            assert!(more.peak() > base.peak() && more.busy() >= base.busy(), "{key:?}");
        }
        let traffic = Traffic { streams: 4, udp_sockets: 2 };
        let more = HeapDemand::of(&OptionValues::default(), &SdkContext::default(), traffic);
        assert!(more.peak() > base.peak() && more.idle() > base.idle());
    }
}
