//! Theoretical limits of iperf. Over UDP: datagrams, aggregated as far as both ends allow, with a block ack
//! for each A-MPDU (one ACK for one frame). Over TCP: full segments aggregated like datagrams, and a
//! segment without data back for every second one (RFC 5681, 4.2), aggregated as well.

use crate::limit::TheoreticalLimit;
use crate::limit::wifi::{DATAGRAM, DataFrames, IP, SNAP, UDP, of_metrics};
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_dot11::radio::mode::{ChannelWidth, GuardInterval, Mcs};
use espbench_dot11::wifi::WifiSecurity;
use espbench_model::workload::{Direction, Iperf, Transport};

/// The limit on the frames of the ESP32-C3's A-MPDU, and the body of a frame, when it sends raw
/// 802.11.
const RAW_FRAMES: u32 = 32;
const RAW_BODY: u32 = 1500;

/// Returns the limits of a cell's figures; of several stations those of their channels together.
pub(super) fn limits(w: &Iperf, frames: DataFrames, channels: usize) -> Vec<TheoreticalLimit> {
    let (mean, best) = match w.direction {
        Direction::Forward => ("throughput_rx", "throughput_rx_best_second"),
        Direction::Reverse => ("throughput_tx", "throughput_tx_best_second"),
        Direction::FullDuplex | Direction::Tradeoff | Direction::Dual => return Vec::new(),
    };
    let megabits = match w.transport {
        Transport::Tcp => frames.stream() * 8e3,
        Transport::Udp if w.length <= DATAGRAM => {
            f64::from(w.length) * 8e3 / frames.each(IP + UDP + w.length)
        }
        Transport::Udp => return Vec::new(),
    };
    of_metrics([mean, best], megabits * channels.max(1) as f64)
}

/// Returns the rate in Mbit/s of an ESP32-C3 that sends raw 802.11 and nothing else: bodies of 1500
/// octets in A-MPDUs of 32, each with its block ack, at HT40 MCS7 with the long guard interval (135
/// Mbit/s). The document's measurement with an internal tool is without a network, too.
pub(super) fn raw() -> f64 {
    let mode = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Long);
    let frames = DataFrames { mode, frames: RAW_FRAMES, cipher: 0, security: WifiSecurity::Open };
    // Raw frames have no LLC header.
    f64::from(RAW_BODY) * 8e3 / frames.each(RAW_BODY - SNAP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::wifi::tests::frames;
    use core::time::Duration;

    fn iperf(transport: Transport, direction: Direction, frames: DataFrames) -> f64 {
        let work = Iperf {
            transport,
            direction,
            time: Duration::from_secs(10),
            bytes: None,
            interval: Duration::from_secs(1),
            length: 1470,
            bandwidth: None,
            parallel: 1,
            window: None,
            no_delay: false,
            ..Iperf::DEFAULT
        };
        let of = |channels| limits(&work, frames, channels)[0].ours;
        assert_eq!((of(0), of(3)), (of(1), 3.0 * of(1)));
        of(1)
    }

    /// Checks frames without aggregation. At 54 Mbit/s a symbol of 4 us carries 216 bits. A
    /// datagram of 1470 octets is a frame of 1536 with headers: 57 symbols, 254 us with preamble
    /// and extension. SIFS, and 34 us for an ACK of 14 octets at 24 Mbit/s, follow.
    #[test]
    fn without_aggregation_each_frame_has_its_ack() {
        let rate = iperf(Transport::Udp, Direction::Forward, frames("54M", 1));
        let wanted = 1470.0 * 8.0 / (254.0 + 10.0 + 34.0);
        assert!((rate - wanted).abs() < 1e-9, "{rate}, wanted {wanted}");
    }

    #[test]
    fn aggregates_are_shorter_and_tcp_pays_for_its_acks() {
        let rate =
            |transport, most| iperf(transport, Direction::Reverse, frames("HT20-MCS7", most));
        let (one, six, many) =
            (rate(Transport::Udp, 1), rate(Transport::Udp, 6), rate(Transport::Udp, 64));
        assert!(one < six && six < many && many < 65.0, "{one} {six} {many}");
        assert!(rate(Transport::Tcp, 64) < many);
        // An A-MPDU holds no more.
        assert!((many - rate(Transport::Udp, 42)).abs() < 1e-9);
    }

    /// Checks 135 Mbit/s less preamble, headers, SIFS and block ack.
    #[test]
    fn raw_packets_come_near_to_the_phy_rate() {
        let rate = raw();
        assert!((125.0..135.0).contains(&rate), "{rate}");
    }
}
