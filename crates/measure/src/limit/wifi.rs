//! Frames of tests over Wi-Fi, from whose air times their limits are made.
//!
//! All frames are in the one PHY mode of the cell's facts, which is the fastest of both directions.
//! If the facts give no number of frames in an A-MPDU, it is the standard's limit.

use super::TheoreticalLimit;
use crate::run::told;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_dot11::radio::airtime::{ACK_OCTETS, airtime, psdu_airtime};
use espbench_dot11::radio::name::PHY_MODE;
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{BasicRates, WifiMode};
use espbench_dot11::wifi::{MEMBERSHIPS, WifiSecurity};
use espbench_model::fact;

/// Returns the number of channels that the stations of a test have together, 1 where one is all there is: each channel
/// carries what one does.
pub(crate) fn channels(facts: &BTreeMap<String, String>) -> usize {
    told(facts, MEMBERSHIPS).map_or(1, |it| it.channels().len().max(1))
}

/// LLC and SNAP (RFC 1042), IPv4 and UDP or TCP without options, octets.
pub(crate) const SNAP: u32 = 8;
pub(crate) const IP: u32 = 20;
pub(crate) const UDP: u32 = 8;
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
/// The largest UDP payload of an Ethernet frame: a longer one comes in fragments, and has no limit
/// here.
pub(crate) const DATAGRAM: u32 = 1472;
/// The UDP payload of iperf by default.
pub(crate) const DATAGRAM_OF_IPERF: u32 = 1470;

/// The settings of a cell on which its limits depend, beside the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataFrames {
    /// The mode of frames with payload.
    pub(crate) mode: WifiMode,
    /// The limit on the frames of an A-MPDU.
    pub(crate) frames: u32,
    /// The octets that the cipher adds to a frame.
    pub(crate) cipher: u32,
    /// The security of the network.
    pub(crate) security: WifiSecurity,
}

impl DataFrames {
    /// Returns the settings in a cell's facts; `None` if they give no PHY mode.
    pub(crate) fn from_facts(facts: &BTreeMap<String, String>) -> Option<Self> {
        let mode = told(facts, PHY_MODE)?;
        let most = if matches!(mode, WifiMode::Ht(_)) { AMPDU_FRAMES } else { 1 };
        let frames = told(facts, fact::AGGREGATED).unwrap_or(most).clamp(1, most);
        let cipher = told(facts, fact::CIPHER_OCTETS).unwrap_or(0).min(64);
        let security = match facts.get(fact::SECURITY).map(String::as_str) {
            Some("wpa3") => WifiSecurity::Wpa3,
            _ if cipher == 0 => WifiSecurity::Open,
            _ => WifiSecurity::Wpa2,
        };
        Some(Self { mode, frames, cipher, security })
    }

    /// Returns the air time of a single frame with a body of that length above LLC.
    pub(crate) fn frame(self, body: u32) -> u64 {
        airtime(self.mode, MAC + self.cipher + SNAP + body)
    }

    /// Returns the air time of such a frame with its ACK.
    pub(crate) fn acknowledged(self, body: u32) -> u64 {
        let response = BasicRates::NONE.response_to(self.mode);
        self.frame(body) + SIFS_NS + airtime(response, ACK_OCTETS)
    }

    /// Returns the air time in nanoseconds for each of many aggregated frames with such bodies.
    pub(crate) fn each(self, body: u32) -> f64 {
        let mpdu = (DELIMITER + MAC + self.cipher + SNAP + body).next_multiple_of(4);
        let frames = (AMPDU_OCTETS / mpdu).min(self.frames);
        if frames < 2 {
            return self.acknowledged(body) as f64;
        }
        let response = BasicRates::NONE.response_to(self.mode);
        let all =
            psdu_airtime(self.mode, frames * mpdu) + SIFS_NS + airtime(response, BLOCK_ACK_OCTETS);
        all as f64 / f64::from(frames)
    }

    /// Returns the payload octets in a nanosecond over TCP in full segments.
    pub(crate) fn stream(self) -> f64 {
        let data = self.each(IP + TCP + SEGMENT);
        f64::from(SEGMENT) / (data + self.each(IP + TCP) / 2.0)
    }
}

/// Returns the same limit of several metrics. The documents do not describe their networks, so that of
/// the published cell is ours.
pub(crate) fn of_metrics<const N: usize>(
    metrics: [&'static str; N],
    limit: f64,
) -> Vec<TheoreticalLimit> {
    metrics.map(|metric| TheoreticalLimit { metric, ours: limit, published: limit }).into()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes the frames of an open network.
    pub(crate) fn frames(mode: &str, frames: u32) -> DataFrames {
        DataFrames { mode: mode.parse().unwrap(), frames, cipher: 0, security: WifiSecurity::Open }
    }

    #[test]
    fn facts_tell_what_a_cell_was_done_with() {
        let of = |facts: &[(&str, &str)]| {
            let facts =
                facts.iter().map(|(name, value)| (String::from(*name), String::from(*value)));
            DataFrames::from_facts(&facts.collect())
        };
        let told = of(&[
            (PHY_MODE.name(), "HT20-MCS7"),
            (fact::AGGREGATED.name(), "6"),
            (fact::CIPHER_OCTETS.name(), "16"),
        ]);
        let wanted =
            DataFrames { cipher: 16, security: WifiSecurity::Wpa2, ..frames("HT20-MCS7", 6) };
        assert_eq!(told, Some(wanted));
        assert_eq!(of(&[]), None);
        let alone = of(&[(PHY_MODE.name(), "54M")]).unwrap();
        assert_eq!(alone.frames, 1, "nothing is aggregated there");
    }

    const US: u64 = 1000;

    /// Compares with TXTIME of 17.4.3 and 19.4.3 by hand. At 65 Mbit/s a symbol of 4 us has 260 bits,
    /// and preamble, header and signal extension are 42 us; at 54 Mbit/s 216 bits and 26 us.
    #[test]
    fn a_frame_has_its_headers_its_cipher_and_its_acknowledgement() {
        // 1500 octets above LLC are an MPDU of 1538: 12,326 bits with service and tail, 48 symbols.
        let ht = frames("HT20-MCS7", 6);
        assert_eq!(ht.frame(1500), (42 + 48 * 4) * US);
        // 8 octets of a CCMP header and 8 of its MIC: 12,454 bits are 48 symbols still, 62 octets of
        // a WEP of one's own would not be.
        let sealed = DataFrames { cipher: 16, security: WifiSecurity::Wpa2, ..ht };
        assert_eq!(sealed.frame(1500), (42 + 48 * 4) * US);
        assert_eq!(DataFrames { cipher: 62, ..ht }.frame(1500), (42 + 50 * 4) * US);
        // SIFS, and an ACK of 14 octets at 24 Mbit/s: 134 bits in symbols of 96.
        assert_eq!(ht.acknowledged(1500), ht.frame(1500) + (10 + 26 + 2 * 4) * US);
        let ofdm = frames("54M", 1);
        assert_eq!(ofdm.frame(1500), (26 + 58 * 4) * US);
        assert_eq!(ofdm.acknowledged(1500), ofdm.frame(1500) + 44 * US);
    }

    /// Six MPDUs of 1544 octets with delimiter and padding are 74,134 bits in 286 symbols; the block
    /// acknowledgement of 32 octets has 278 bits in 3 symbols at 24 Mbit/s.
    #[test]
    fn aggregated_frames_share_one_preamble_and_one_answer() {
        let ht = frames("HT20-MCS7", 6);
        let all = (42 + 286 * 4 + 10 + 26 + 3 * 4) as f64 * 1e3;
        assert!((ht.each(1500) - all / 6.0).abs() < 1e-6);
        assert!(ht.each(1500) < ht.acknowledged(1500) as f64);
        // A single one has no delimiter and an ACK, as in modes without A-MPDU.
        assert_eq!(frames("HT20-MCS7", 1).each(1500), ht.acknowledged(1500) as f64);
        assert_eq!(frames("54M", 1).each(1500), frames("54M", 1).acknowledged(1500) as f64);
        // An A-MPDU has at most 65,535 octets: 42 of these MPDUs, however many are allowed.
        assert_eq!(frames("HT20-MCS7", 64).each(1500), frames("HT20-MCS7", 42).each(1500));
        assert!(frames("HT20-MCS7", 42).each(1500) < frames("HT20-MCS7", 41).each(1500));
    }

    /// Two segments of 1440 octets have one acknowledgement (RFC 1122, 4.2.3.2).
    #[test]
    fn a_stream_has_an_acknowledgement_for_two_segments() {
        let ht = frames("HT20-MCS7", 6);
        let two = 2.0 * ht.each(1480) + ht.each(40);
        assert!((ht.stream() - 2880.0 / two).abs() < 1e-12);
        // Octets in a nanosecond are at most what the mode carries.
        for mode in ["HT20-MCS0", "HT20-MCS7", "HT40-MCS7-SGI", "54M", "6M", "11M"] {
            let Ok(parsed) = mode.parse::<WifiMode>() else { panic!("{mode}") };
            let most = f64::from(parsed.kbit_s()) / 8e6;
            let stream = frames(mode, 64).stream();
            let aggregates = matches!(parsed, WifiMode::Ht(_));
            assert!(stream < most && stream > most * if aggregates { 0.85 } else { 0.4 }, "{mode}");
        }
    }

    #[test]
    fn facts_beyond_the_standard_are_cut_to_it() {
        let of = |mode: &str, facts: &[(&str, &str)]| {
            let facts =
                facts.iter().map(|(name, value)| (String::from(*name), String::from(*value)));
            let mode = (String::from(PHY_MODE.name()), String::from(mode));
            DataFrames::from_facts(&facts.chain([mode]).collect())
        };
        let frames = |facts: &[(&str, &str)]| of("HT20-MCS7", facts).map(|it| it.frames);
        assert_eq!(frames(&[]), Some(64));
        assert_eq!(frames(&[(fact::AGGREGATED.name(), "900")]), Some(64));
        assert_eq!(frames(&[(fact::AGGREGATED.name(), "0")]), Some(1));
        assert_eq!(frames(&[(fact::AGGREGATED.name(), "many")]), Some(64));
        assert_eq!(of("54M", &[(fact::AGGREGATED.name(), "6")]).map(|it| it.frames), Some(1));
        assert_eq!(of("HT20-MCS99", &[]), None);
        for (facts, security) in [
            (&[][..], WifiSecurity::Open),
            (&[(fact::CIPHER_OCTETS.name(), "16")], WifiSecurity::Wpa2),
            (&[(fact::SECURITY, "wpa3")], WifiSecurity::Wpa3),
            (&[(fact::CIPHER_OCTETS.name(), "0")], WifiSecurity::Open),
        ] {
            assert_eq!(of("54M", facts).map(|it| it.security), Some(security), "{facts:?}");
        }
        let cipher = of("54M", &[(fact::CIPHER_OCTETS.name(), "4000")]).map(|it| it.cipher);
        assert_eq!(cipher, Some(64));
    }
}
