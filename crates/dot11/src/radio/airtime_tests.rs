use core::fmt::Write as _;
use std::string::String;

use super::super::mode::{ChannelWidth, Hr, Mcs, Ofdm};
use super::*;

const fn ofdm(rate: Ofdm) -> WifiMode {
    WifiMode::Ofdm(rate)
}

/// Modes, octets and TXTIME in us, each computed by hand from its clause.
const BY_HAND: [(WifiMode, u32, u64); 18] = [
    // 192 + 112; the ACK all 802.11b texts have as 304 us.
    (WifiMode::Hr(Hr::M1), 14, 304),
    // 192 + 2344: baselines of the project, ns-3 has the same.
    (WifiMode::Hr(Hr::M1), 293, 2_536),
    (WifiMode::Hr(Hr::M2), 14, 248),
    // 112 / 5.5 = 20.36 -> 21.
    (WifiMode::Hr(Hr::M5), 14, 213),
    // 112 / 11 = 10.18 -> 11.
    (WifiMode::Hr(Hr::M11), 14, 203),
    // 12000 / 11 = 1090.9 -> 1091.
    (WifiMode::Hr(Hr::M11), 1500, 1_283),
    (WifiMode::Hr(Hr::M11Short), 1500, 1_187),
    (WifiMode::Hr(Hr::M2Short), 14, 152),
    // 20 + 4 ceil(134 / 24 = 5.6) + 6, and so on: the ACKs of 11g.
    (ofdm(Ofdm::M6), 14, 50),
    (ofdm(Ofdm::M12), 14, 38),
    (ofdm(Ofdm::M24), 14, 34),
    // 20 + 4 ceil(12022 / 216 = 55.7) + 6.
    (ofdm(Ofdm::M54), 1500, 250),
    // 36 + 4 ceil(134 / 26 = 5.2) + 6.
    (WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Long), 14, 66),
    // 36 + 4 ceil(12022 / 260 = 46.2) + 6.
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long), 1500, 230),
    // 47 symbols of 3.6 = 169.2 -> 172.
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Short), 1500, 214),
    // 36 + 4 ceil(12022 / 540 = 22.3) + 6.
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Long), 1500, 134),
    // 23 symbols of 3.6 = 82.8 -> 84.
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Short), 1500, 126),
    // 10 symbols of 3.6 are 36 us: nothing to round. 10 x 26 - 22 = 238 bits: 29 octets.
    (WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Short), 29, 78),
];

#[test]
fn air_times_are_those_computed_by_hand() {
    for (mode, octets, us) in BY_HAND {
        assert_eq!(airtime(mode, octets), us * 1_000, "{mode:?}, {octets} octets");
    }
}

/// HE modes, octets of the PSDU and TXTIME in ns, each computed by hand from 27.4.3: 20 us, RL-SIG 4 us, HE-SIG-A 8 us (ER
/// SU 16 us), HE-STF 4 us, one HE-LTF (7.2, 8 or 16 us), the symbols, and 6 us of signal extension.
const HE_BY_HAND: [(&str, u32, u64); 12] = [
    // 20 + 4 + 8 + 4 + 8 + ceil((16 + 12000 + 6) / 117 = 102.8) x 14.4 + 6.
    ("HE20-MCS0", 1500, 50_000 + 103 * 14_400),
    ("HE20-MCS0-SGI", 1500, 49_200 + 103 * 13_600),
    ("HE20-MCS0-GI3.2", 1500, 58_000 + 103 * 16_000),
    // 12022 / 1560 = 7.7.
    ("HE20-MCS9", 1500, 50_000 + 8 * 14_400),
    ("HE20-MCS9-SGI", 1500, 49_200 + 8 * 13_600),
    // 134 bits of an ACK in 1404.
    ("HE20-MCS8-SGI", 14, 49_200 + 13_600),
    // Half of the subcarriers: 12022 / 58 = 207.3.
    ("HE20-MCS0-DCM", 1500, 50_000 + 208 * 14_400),
    // 12022 / 351 = 34.3.
    ("HE20-MCS4-DCM-SGI", 1500, 49_200 + 35 * 13_600),
    ("HE20-ER-MCS0", 1500, 58_000 + 103 * 14_400),
    // 12022 / 117 once more: QPSK on half of the subcarriers.
    ("HE20-ER-MCS1-DCM-GI3.2", 1500, 66_000 + 103 * 16_000),
    // 102 data subcarriers: 12022 / 51 = 235.7, and 12022 / 25 = 480.9.
    ("HE20-ER106-MCS0", 1500, 58_000 + 236 * 14_400),
    ("HE20-ER106-MCS0-DCM-SGI", 1500, 57_200 + 481 * 13_600),
];

#[test]
fn air_times_of_he_are_those_computed_by_hand() {
    for (name, octets, ns) in HE_BY_HAND {
        assert_eq!(psdu_airtime(name.parse().unwrap(), octets), ns, "{name}, {octets} octets");
    }
    // One MPDU is an A-MPDU of one, with a delimiter before it.
    let mode: WifiMode = "HE20-MCS0".parse().unwrap();
    assert_eq!(airtime(mode, 1496), psdu_airtime(mode, 1500));
}

#[test]
fn long_range_takes_what_its_rates_say() {
    let [slow, fast] = ["LR-250K", "LR-500K"].map(|name| name.parse().unwrap());
    // Four times the 192 us of 1 Mbit/s before 293 octets of 32 and 16 us.
    assert_eq!(airtime(slow, 293), (768 + 293 * 32) * 1000);
    assert_eq!(airtime(fast, 293), (768 + 293 * 16) * 1000);
}

#[test]
fn the_longest_frame_fits_and_one_more_octet_does_not() {
    for mode in WifiMode::ALL.into_iter().filter(|mode| mode.aggregates()) {
        for ns in [300_000, 1_000_000, 5_484_000] {
            let most = most_octets(mode, ns);
            let length = |octets| Airtime::of(mode, octets).energy_ns();
            assert!(most > 0 && length(most) <= ns && length(most + 1) > ns, "{mode} {ns} {most}");
        }
    }
}

#[test]
fn air_times_of_all_modes() {
    let mut table = String::new();
    for mode in WifiMode::ALL {
        let us = [14, 60, 293, 1500].map(|octets| airtime(mode, octets) / 1_000);
        let [a, b, c, d] = us;
        writeln!(table, "{:<24} {a:>6} {b:>6} {c:>6} {d:>6}", std::format!("{mode}")).unwrap();
    }
    insta::assert_snapshot!(table);
}

/// Modes, octets and air times in us from the tests of ns-3 (`tx-duration-test.cc`). The HT frames
/// of ns-3 are in the 5 GHz band: they have no signal extension, and ns-3 does not round up the end
/// of a frame with the short guard interval, as the standard does.
const NS3: [(WifiMode, u32, f64); 24] = [
    (WifiMode::Hr(Hr::M1), 1023, 8_376.0),
    (WifiMode::Hr(Hr::M1), 1026, 8_400.0),
    (WifiMode::Hr(Hr::M11), 1536, 1_310.0),
    (WifiMode::Hr(Hr::M11), 76, 248.0),
    (WifiMode::Hr(Hr::M11), 14, 203.0),
    (ofdm(Ofdm::M54), 1536, 254.0),
    (ofdm(Ofdm::M54), 76, 38.0),
    (ofdm(Ofdm::M54), 14, 30.0),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long), 1536, 228.0),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long), 76, 48.0),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long), 14, 40.0),
    (WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Short), 1536, 1_742.4),
    (WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Short), 76, 126.0),
    (WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Short), 14, 57.6),
    (WifiMode::ht(Mcs::Mcs6, ChannelWidth::Mhz20, GuardInterval::Short), 1536, 226.8),
    (WifiMode::ht(Mcs::Mcs6, ChannelWidth::Mhz20, GuardInterval::Short), 76, 46.8),
    (WifiMode::ht(Mcs::Mcs6, ChannelWidth::Mhz20, GuardInterval::Short), 14, 39.6),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Long), 1536, 128.0),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Long), 76, 44.0),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Long), 14, 40.0),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Short), 1536, 118.8),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Short), 76, 43.2),
    (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz40, GuardInterval::Short), 14, 39.6),
    (WifiMode::Hr(Hr::M1), 14, 304.0),
];

#[test]
fn air_times_are_those_of_ns3() {
    for (mode, octets, us) in NS3 {
        let ns = libm::round(us * 1000.0) as u64;
        let expected = match mode {
            WifiMode::Hr(_) | WifiMode::Ofdm(_) => ns,
            _ => ns.div_ceil(4_000) * 4_000 + 6_000,
        };
        assert_eq!(airtime(mode, octets), expected, "{mode}, {octets} octets");
    }
}
