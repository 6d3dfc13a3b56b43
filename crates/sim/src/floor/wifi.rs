//! Bounds for tests over Wi-Fi; [`floor`](super) gives the rules.
//!
//! | test | frames |
//! |---|---|
//! | UDP round trip | request with its ACK, answer |
//! | iperf over UDP | datagrams, aggregated as far as both ends allow, with a block ack for each A-MPDU (one ACK for one frame) |
//! | iperf over TCP | full segments aggregated like datagrams, and a segment without data back for every second one (RFC 5681, 4.2), aggregated as well |
//! | joining | one probe request and its answer; authentication, association and keys, each with its ACK, at 1 Mbit/s |
//! | short messages over TCP | as over TCP: Nagle's algorithm may fill segments |
//!
//! All frames are in the one PHY mode of the cell's facts, which is the fastest of both directions.
//! If the facts give no number of frames in an A-MPDU, it is the standard's limit. MQTT has no
//! bound: its rate is given, not reached.

use super::PhyBound;
use alloc::vec::Vec;
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime};
use espbench_dot11::radio::mode::{ChannelWidth, GuardInterval, Mcs};
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{BasicRates, Hr, WifiMode};
use espbench_dot11::wifi::{Capabilities, WifiSecurity, joining_octets};
use espbench_model::fact;
use espbench_model::workload::{Direction, IpTest, Iperf, Transport, Wifi};

/// LLC and SNAP (RFC 1042), IPv4 and UDP or TCP without options, octets.
const SNAP: u32 = 8;
const IP: u32 = 20;
const UDP: u32 = 8;
const TCP: u32 = 20;
/// Header of a QoS data frame, and FCS (IEEE 802.11-2020, 9.3.2.1).
const MAC: u32 = 26 + 4;
/// The delimiter of a frame in an A-MPDU; each frame but the last is padded to four octets (9.7.1).
const DELIMITER: u32 = 4;
/// A compressed block ack with its FCS (9.3.1.8.2).
const BLOCK_ACK_OCTETS: u32 = 32;
/// The limit on the octets of an HT A-MPDU, and on its frames (9.4.2.55.3, 10.24.7.3).
const AMPDU_OCTETS: u32 = 65_535;
const AMPDU_FRAMES: u32 = 64;
/// The default of `CONFIG_LWIP_TCP_MSS`.
const SEGMENT: u32 = 1440;
/// The largest UDP payload of an Ethernet frame: a longer one comes in fragments, and has no bound
/// here.
const DATAGRAM: u32 = 1472;
/// The limit on the frames of the ESP32-C3's A-MPDU, and the body of a frame, when it sends raw
/// 802.11.
const RAW_FRAMES: u32 = 32;
const RAW_BODY: u32 = 1500;
/// The octets of the SSID.
const SSID: u8 = 8;

/// The settings of a cell on which its bound depends, beside the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WifiParams {
    /// The mode of frames with payload.
    pub mode: WifiMode,
    /// The limit on the frames of an A-MPDU.
    pub frames: u32,
    /// The octets that the cipher adds to a frame.
    pub cipher: u32,
    /// The security of the network.
    pub security: WifiSecurity,
}

impl WifiParams {
    /// Returns the settings in a cell's facts; `None` if they give no PHY mode.
    #[must_use]
    pub fn from_facts<'a>(told: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let number = |name: &str| told(name)?.parse::<u32>().ok();
        let mode: WifiMode = told(fact::PHY_MODE)?.parse().ok()?;
        let most = if matches!(mode, WifiMode::Ht(_)) { AMPDU_FRAMES } else { 1 };
        let frames = number(fact::AGGREGATED).unwrap_or(most).clamp(1, most);
        let cipher = number(fact::CIPHER_OCTETS).unwrap_or(0).min(64);
        let security = match told(fact::SECURITY) {
            Some("wpa3") => WifiSecurity::Wpa3,
            _ if cipher == 0 => WifiSecurity::Open,
            _ => WifiSecurity::Wpa2,
        };
        Some(Self { mode, frames, cipher, security })
    }

    /// Returns the air time of a single frame with a body of that length above LLC.
    fn frame(self, body: u32) -> u64 {
        airtime(self.mode, MAC + self.cipher + SNAP + body)
    }

    fn acknowledged(self, body: u32) -> u64 {
        let response = BasicRates::NONE.response_to(self.mode);
        self.frame(body) + SIFS_NS + airtime(response, ACK_OCTETS)
    }

    /// Returns the air time in nanoseconds for each of many aggregated frames with such bodies.
    fn each(self, body: u32) -> f64 {
        let mpdu = (DELIMITER + MAC + self.cipher + SNAP + body).next_multiple_of(4);
        let frames = (AMPDU_OCTETS / mpdu).min(self.frames);
        if frames < 2 {
            return self.acknowledged(body) as f64;
        }
        let response = BasicRates::NONE.response_to(self.mode);
        let all = airtime(self.mode, frames * mpdu) + SIFS_NS + airtime(response, BLOCK_ACK_OCTETS);
        all as f64 / f64::from(frames)
    }

    /// Returns the payload octets in a nanosecond over TCP in full segments.
    fn stream(self) -> f64 {
        let data = self.each(IP + TCP + SEGMENT);
        f64::from(SEGMENT) / (data + self.each(IP + TCP) / 2.0)
    }
}

/// Returns the bounds of a cell's figures: lower bounds of times, upper bounds of rates.
#[must_use]
pub fn of(work: &Wifi, means: WifiParams) -> Vec<PhyBound> {
    match &work.test {
        IpTest::UdpEcho(w) if w.size < DATAGRAM => {
            // The line feed is on the air as well.
            let body = IP + UDP + w.size + 1;
            let once = (means.acknowledged(body) + means.frame(body)) as f64 / 1e6;
            ["rtt_min", "rtt_avg", "rtt_p50", "rtt_max"].map(|metric| (metric, once)).into()
        }
        IpTest::Iperf(w) => iperf(w, means),
        IpTest::TcpRate(w) => {
            let rate = means.stream() * 1e9 / f64::from(w.size.max(1));
            ["message_rate", "message_rate_min", "message_rate_max", "message_rate_avg"]
                .map(|metric| (metric, rate))
                .into()
        }
        IpTest::Join(_) => {
            let once = joining(means.security) as f64 / 1e6;
            ["join_time_min", "join_time_avg", "join_time_p50", "join_time_max"]
                .map(|metric| (metric, once))
                .into()
        }
        IpTest::UdpEcho(_) | IpTest::Ping(_) | IpTest::MqttRate(_) => Vec::new(),
    }
}

/// Returns the air time of the frames of joining, in nanoseconds.
fn joining(security: WifiSecurity) -> u64 {
    let mode = WifiMode::Hr(Hr::M1);
    let ack = SIFS_NS + airtime(mode, ACK_OCTETS);
    let frames = joining_octets(security, Capabilities::default(), SSID);
    let all: u64 = frames.map(|octets| airtime(mode, octets) + ack).sum();
    // The first frame goes to all, and has no ACK.
    all - ack
}

fn iperf(w: &Iperf, means: WifiParams) -> Vec<PhyBound> {
    let (mean, best) = match w.direction {
        Direction::Forward => ("throughput_rx", "throughput_rx_best_second"),
        Direction::Reverse => ("throughput_tx", "throughput_tx_best_second"),
        _ => return Vec::new(),
    };
    let megabits = match w.transport {
        Transport::Tcp => means.stream() * 8e3,
        Transport::Udp if w.length <= DATAGRAM => {
            f64::from(w.length) * 8e3 / means.each(IP + UDP + w.length)
        }
        Transport::Udp => return Vec::new(),
    };
    [(mean, megabits), (best, megabits)].into()
}

/// Returns the rate in Mbit/s of an ESP32-C3 that sends raw 802.11 and nothing else: bodies of 1500
/// octets in A-MPDUs of 32, each with its block ack, at HT40 MCS7 with the long guard interval (135
/// Mbit/s). The document's measurement with an internal tool is without a network, too.
#[must_use]
pub fn raw() -> f64 {
    let mode = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Long);
    let means = WifiParams { mode, frames: RAW_FRAMES, cipher: 0, security: WifiSecurity::Open };
    // Raw frames have no LLC header.
    f64::from(RAW_BODY) * 8e3 / means.each(RAW_BODY - SNAP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use espbench_model::workload::{EchoFormat, Name, UdpEcho};

    fn means(mode: &str, frames: u32) -> WifiParams {
        WifiParams { mode: mode.parse().unwrap(), frames, cipher: 0, security: WifiSecurity::Open }
    }

    fn iperf(transport: Transport, direction: Direction, means: WifiParams) -> f64 {
        let test = IpTest::Iperf(Iperf {
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
        });
        of(&Wifi { variant: Name::new("x").unwrap(), test }, means)[0].1
    }

    /// Checks frames without aggregation. At 54 Mbit/s a symbol of 4 us carries 216 bits. A
    /// datagram of 1470 octets is a frame of 1536 with headers: 57 symbols, 254 us with preamble
    /// and extension. SIFS, and 34 us for an ACK of 14 octets at 24 Mbit/s, follow.
    #[test]
    fn without_aggregation_each_frame_has_its_ack() {
        let rate = iperf(Transport::Udp, Direction::Forward, means("54M", 1));
        let wanted = 1470.0 * 8.0 / (254.0 + 10.0 + 34.0);
        assert!((rate - wanted).abs() < 1e-9, "{rate}, wanted {wanted}");
    }

    #[test]
    fn aggregates_are_shorter_and_tcp_pays_for_its_acks() {
        let rate =
            |transport, frames| iperf(transport, Direction::Reverse, means("HT20-MCS7", frames));
        let (one, six, many) =
            (rate(Transport::Udp, 1), rate(Transport::Udp, 6), rate(Transport::Udp, 64));
        assert!(one < six && six < many && many < 65.0, "{one} {six} {many}");
        assert!(rate(Transport::Tcp, 64) < many);
        // An A-MPDU holds no more.
        assert!((many - rate(Transport::Udp, 42)).abs() < 1e-9);
    }

    #[test]
    fn a_round_trip_is_two_frames_and_an_ack() {
        let echo = UdpEcho {
            size: 100,
            count: 1,
            discard: 0,
            format: EchoFormat::Ascii,
            in_flight: 1,
            interval: None,
            timeout: Duration::from_secs(1),
        };
        let work = Wifi { variant: Name::new("x").unwrap(), test: IpTest::UdpEcho(echo) };
        // 30 + 8 + 28 + 101 octets at 6 Mbit/s take 57 symbols and 26 us, each way; the ACK takes
        // 44 us and SIFS.
        let floors = of(&work, means("6M", 1));
        let wanted = (2.0 * (57.0 * 4.0 + 26.0) + 10.0 + 50.0) / 1e3;
        assert!((floors[0].1 - wanted).abs() < 1e-9, "{} {wanted}", floors[0].1);
    }

    /// Checks an open network: 6 frames, of which five are acknowledged. Each takes 192 us of
    /// preamble and 8 us an octet; an ACK takes 304 us and SIFS.
    #[test]
    fn joining_is_its_frames_at_one_megabit() {
        let open: Vec<u32> =
            joining_octets(WifiSecurity::Open, Capabilities::default(), SSID).collect();
        let octets: u64 = open.iter().map(|it| u64::from(*it)).sum();
        assert_eq!(joining(WifiSecurity::Open), (6 * 192 + octets * 8 + 5 * 314) * 1000);
        let [open, wpa2, wpa3] =
            [WifiSecurity::Open, WifiSecurity::Wpa2, WifiSecurity::Wpa3].map(joining);
        assert!((6_000_000..10_000_000).contains(&open) && open < wpa2 && wpa2 < wpa3);
    }

    #[test]
    fn facts_tell_what_a_cell_was_done_with() {
        let facts =
            [(fact::PHY_MODE, "HT20-MCS7"), (fact::AGGREGATED, "6"), (fact::CIPHER_OCTETS, "16")];
        let told = |name: &str| facts.iter().find(|it| it.0 == name).map(|it| it.1);
        let wanted =
            WifiParams { cipher: 16, security: WifiSecurity::Wpa2, ..means("HT20-MCS7", 6) };
        assert_eq!(WifiParams::from_facts(told), Some(wanted));
        assert_eq!(WifiParams::from_facts(|_| None), None);
        let bare = |name: &str| (name == fact::PHY_MODE).then_some("54M");
        assert_eq!(WifiParams::from_facts(bare).unwrap().frames, 1, "nothing is aggregated there");
    }

    /// Checks 135 Mbit/s less preamble, headers, SIFS and block ack.
    #[test]
    fn raw_packets_come_near_to_the_phy_rate() {
        let rate = raw();
        assert!((125.0..135.0).contains(&rate), "{rate}");
    }
}
