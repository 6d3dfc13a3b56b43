//! Heap memory that settings take.
//!
//! There are two sources: the Wi-Fi guide's peak of the driver's dynamic buffers, p = b_rx m_rx +
//! b_tx m_tx (ESP-IDF Programming Guide, "Wi-Fi Dynamic Buffer Peak"), and its data path: a
//! received frame is handed on by reference; a packet to send is copied, first to lwIP, then to the
//! driver, and lwIP keeps its copy until it is acknowledged ("Protocol Stack Operation Mode").

use super::chip::{Chip, SdkContext};
use super::key::{BUFFER_BYTES, ConfigOption, Price};
use super::settings::OptionValues;

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
        Self {
            buffers: frame * (value(ConfigOption::StaticRx) + if fixed { send_buffers } else { 0 }),
            code: ConfigOption::all().map(|key| code(key, settings, context)).sum(),
            mailboxes: mailbox(ConfigOption::TcpipMailbox, 1)
                + mailbox(ConfigOption::TcpMailbox, streams)
                + mailbox(ConfigOption::UdpMailbox, traffic.udp_sockets.into()),
            tcp_send: streams * send + frame * segments(send).min(dynamic_tx),
            tcp_receive: frame * rx,
            udp: match traffic.udp_sockets {
                0 => 0,
                _ => frame * receive_buffers.max(dynamic_tx),
            },
            driver_peak: driver_peak(
                u32::try_from(receive_buffers).unwrap_or(u32::MAX),
                BUFFER_BYTES,
                u32::try_from(dynamic_tx).unwrap_or(u32::MAX),
                BUFFER_BYTES,
            ),
            send_buffers: streams * send,
        }
    }

    /// Returns the heap in use from the start of Wi-Fi on, without traffic, in bytes.
    #[must_use]
    pub const fn idle(&self) -> u64 {
        self.buffers + self.code + self.mailboxes
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
