//! The rate of an ACK or CTS (10.6.6.5.2).
//!
//! The response has the highest rate of the basic rate set that is not above the rate of the frame
//! it answers, or, where the set has none, the highest such mandatory rate. An HT frame counts as
//! its non-HT reference rate, and the response to it is ERP-OFDM. The response stays in the
//! modulation class of the frame: a station that only heard CCK may only know CCK. An HE frame counts as its non-HT
//! reference rate, too. The answer to a frame of extended range is no such frame here, but 6 Mbit/s: an assumption.
//! Long Range is answered at its own rate, another: nothing else would carry as far.

use super::mode::{Hr, Ofdm, Preamble, WifiMode};

/// A basic rate set: rates that every station of a network can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicRates {
    /// One bit each for 1, 2, 5.5 and 11 Mbit/s.
    hr: u8,
    /// One bit for each of [`Ofdm::ALL`].
    ofdm: u8,
}

impl BasicRates {
    /// An empty set, so that only the mandatory rates count: outside a network.
    pub const NONE: Self = Self { hr: 0, ofdm: 0 };
    /// 1 and 2 Mbit/s, the set of an 11b access point.
    pub const B: Self = Self { hr: 0b0011, ofdm: 0 };
    /// 1, 2, 5.5 and 11 Mbit/s, the set of most access points of 11b/g/n.
    pub const BG: Self = Self { hr: 0b1111, ofdm: 0 };
    /// All mandatory rates of an ERP station: 1, 2, 5.5, 11, 6, 12 and 24 Mbit/s (18.2.1).
    pub const MANDATORY: Self = Self { hr: 0b1111, ofdm: 0b0001_0101 };

    /// Returns the set with one more rate. An HT or HE mode adds its non-HT reference rate, Long Range nothing.
    #[must_use]
    pub const fn with(self, mode: WifiMode) -> Self {
        match mode {
            WifiMode::Hr(hr) => Self { hr: self.hr | 1 << hr.with(Preamble::Long) as u8, ..self },
            WifiMode::Ofdm(ofdm) => Self { ofdm: self.ofdm | 1 << ofdm as u8, ..self },
            WifiMode::Ht(ht) => {
                Self { ofdm: self.ofdm | 1 << ht.mcs.non_ht_reference() as u8, ..self }
            }
            WifiMode::He(he) => Self { ofdm: self.ofdm | 1 << he.non_ht_reference() as u8, ..self },
            WifiMode::Lr(_) => self,
        }
    }

    /// Returns the mode of the ACK or CTS to a frame; its preamble is short if the frame's was.
    #[must_use]
    pub const fn response_to(self, frame: WifiMode) -> WifiMode {
        match frame {
            WifiMode::Hr(hr) => {
                let upto = hr.with(Preamble::Long) as u32;
                let at = highest(self.hr, Self::MANDATORY.hr, upto);
                WifiMode::Hr(Hr::ALL[at].with(hr.preamble()))
            }
            WifiMode::Ofdm(ofdm) => self.ofdm_response(ofdm),
            WifiMode::Ht(ht) => self.ofdm_response(ht.mcs.non_ht_reference()),
            WifiMode::He(he) if he.is_extended() => WifiMode::Ofdm(Ofdm::M6),
            WifiMode::He(he) => self.ofdm_response(he.non_ht_reference()),
            WifiMode::Lr(_) => frame,
        }
    }

    const fn ofdm_response(self, frame: Ofdm) -> WifiMode {
        WifiMode::Ofdm(Ofdm::ALL[highest(self.ofdm, Self::MANDATORY.ofdm, frame as u32)])
    }
}

/// Returns the highest bit set in `basic` that is not above bit `upto`; else in `mandatory`; else
/// 0.
const fn highest(basic: u8, mandatory: u8, upto: u32) -> usize {
    let mask = (2_u32 << upto) - 1;
    let (basic, mandatory) = (basic as u32 & mask, mandatory as u32 & mask);
    let from = if basic == 0 { mandatory } else { basic };
    if from == 0 { 0 } else { from.ilog2() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{ChannelWidth, GuardInterval, Mcs};

    #[test]
    fn without_a_network_the_mandatory_rates_answer() {
        let none = BasicRates::NONE;
        assert_eq!(none.response_to(WifiMode::Hr(Hr::M1)), WifiMode::Hr(Hr::M1));
        assert_eq!(none.response_to(WifiMode::Hr(Hr::M11)), WifiMode::Hr(Hr::M11));
        let answers = Ofdm::ALL.map(|ofdm| none.response_to(WifiMode::Ofdm(ofdm)));
        let [six, twelve, fast] = [Ofdm::M6, Ofdm::M12, Ofdm::M24].map(WifiMode::Ofdm);
        assert_eq!(answers, [six, six, twelve, twelve, fast, fast, fast, fast]);
    }

    #[test]
    fn an_ht_frame_is_answered_in_ofdm() {
        for width in [ChannelWidth::Mhz20, ChannelWidth::Mhz40] {
            for guard in [GuardInterval::Long, GuardInterval::Short] {
                let of = |mcs| BasicRates::BG.response_to(WifiMode::ht(mcs, width, guard));
                assert_eq!(of(Mcs::Mcs0), WifiMode::Ofdm(Ofdm::M6));
                assert_eq!(of(Mcs::Mcs2), WifiMode::Ofdm(Ofdm::M12));
                assert_eq!(of(Mcs::Mcs7), WifiMode::Ofdm(Ofdm::M24));
            }
        }
    }

    #[test]
    fn a_basic_set_limits_the_answer() {
        let set = BasicRates::B;
        assert_eq!(set.response_to(WifiMode::Hr(Hr::M11)), WifiMode::Hr(Hr::M2));
        assert_eq!(set.response_to(WifiMode::Hr(Hr::M11Short)), WifiMode::Hr(Hr::M2Short));
        let slow = BasicRates::NONE.with(WifiMode::Hr(Hr::M1));
        assert_eq!(slow.response_to(WifiMode::Hr(Hr::M11Short)), WifiMode::Hr(Hr::M1));
        let fast = BasicRates::NONE.with(WifiMode::Ofdm(Ofdm::M54));
        assert_eq!(fast.response_to(WifiMode::Ofdm(Ofdm::M54)), WifiMode::Ofdm(Ofdm::M54));
        // 54 Mbit/s alone cannot answer 48 Mbit/s; the mandatory 24 Mbit/s does.
        assert_eq!(fast.response_to(WifiMode::Ofdm(Ofdm::M48)), WifiMode::Ofdm(Ofdm::M24));
    }

    #[test]
    fn an_answer_is_never_faster_than_its_frame() {
        for set in [BasicRates::NONE, BasicRates::B, BasicRates::BG, BasicRates::MANDATORY] {
            for mode in WifiMode::ALL {
                // Nothing of OFDM is slower than 6 Mbit/s, and HE with DCM or in 106 tones is.
                let least = if matches!(mode, WifiMode::He(_)) { 6_000 } else { 0 };
                let most = mode.kbit_s().max(least);
                assert!(set.response_to(mode).kbit_s() <= most, "{mode:?}");
            }
        }
    }
}
