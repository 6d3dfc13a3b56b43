//! Slot times, interframe spaces, time-outs and contention windows.
//!
//! | | HR (Table 16-4) | ERP, HT (Tables 18-5, 19-25) |
//! |---|---|---|
//! | SIFS | 10 us | 10 us |
//! | slot | 20 us | 9 us, or 20 us with a station that knows the long one only |
//! | `CWmin` | 31 | 15; 31 where no ERP rate is in use (10.3.3) |
//! | `CWmax` | 1023 | 1023 |
//!
//! In 5 GHz (Table 17-21) SIFS is 16 us, which is what SIFS and the signal extension of 6 us are in 2.4 GHz: frames end 6 us
//! earlier there and what follows comes 6 us later, so both are counted as in 2.4 GHz here, and [`Timing::BAND_5_GHZ`] has
//! the slot of 9 us, `CWmin` 15 and an EIFS with an ACK at 6 Mbit/s.
//!
//! DIFS = SIFS + 2 slots; EIFS = SIFS + an ACK at the lowest mandatory rate + DIFS (10.3.2.3).

use super::airtime::{ACK_OCTETS, Airtime, airtime};
use super::mode::{Hr, Ofdm, WifiMode};

const MICROSECOND: u64 = 1_000;

/// SIFS in the 2.4 GHz band, for every PHY.
pub const SIFS_NS: u64 = 10 * MICROSECOND;
/// The slot time of clause 16, also used by a clause 18 station next to stations of clause 16.
pub const LONG_SLOT_NS: u64 = 20 * MICROSECOND;
/// The slot time where every station knows the short slot (18.4.5,
/// `dot11ShortSlotTimeOptionActivated`).
pub const SHORT_SLOT_NS: u64 = 9 * MICROSECOND;

/// The times of a station's medium access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// `aSlotTime`.
    pub slot_ns: u64,
    /// `aSIFSTime`.
    pub sifs_ns: u64,
    /// Slots between SIFS and the first slot of a back-off: 2 for DIFS; with EDCA, the AIFSN of the
    /// access category (10.23.2.4).
    pub aifsn: u8,
    /// The first contention window, in slots.
    pub cw_min: u16,
    /// The largest contention window, in slots.
    pub cw_max: u16,
    /// The lowest mandatory rate of the band, for an EIFS.
    pub lowest: WifiMode,
}

impl Timing {
    /// Times of clause 16 alone: 802.11b, and ESP-NOW at 1 Mbit/s.
    pub const HR: Self = Self {
        slot_ns: LONG_SLOT_NS,
        sifs_ns: SIFS_NS,
        aifsn: 2,
        cw_min: 31,
        cw_max: 1023,
        lowest: WifiMode::Hr(Hr::M1),
    };
    /// Times of ERP and HT outside a BSS, or where some station knows only the long slot (18.4.5).
    pub const ERP_LONG_SLOT: Self = Self { cw_min: 15, ..Self::HR };
    /// Times of ERP and HT in a BSS in which all stations know the short slot.
    pub const ERP_SHORT_SLOT: Self = Self { slot_ns: SHORT_SLOT_NS, ..Self::ERP_LONG_SLOT };
    /// Times of 11a, HT and HE in 5 GHz, in a network or in none.
    pub const BAND_5_GHZ: Self = Self { lowest: WifiMode::Ofdm(Ofdm::M6), ..Self::ERP_SHORT_SLOT };

    /// Returns DIFS in nanoseconds (10.3.2.3.5), or the AIFS of an access category.
    #[must_use]
    pub const fn difs_ns(self) -> u64 {
        self.sifs_ns + self.aifsn as u64 * self.slot_ns
    }

    /// Returns EIFS in nanoseconds (10.3.2.3.7).
    #[must_use]
    pub const fn eifs_ns(self) -> u64 {
        self.sifs_ns + airtime(self.lowest, ACK_OCTETS) + self.difs_ns()
    }

    /// Returns the ACK timeout in nanoseconds from the end of the frame (10.3.2.11). `ack` is the
    /// mode of the expected answer. The answer has failed if its header has not been received by
    /// then.
    ///
    /// The timer stops when reception begins: from SIFS to its end, an ACK takes longer than this.
    #[must_use]
    pub const fn ack_timeout_ns(self, ack: WifiMode) -> u64 {
        self.sifs_ns + self.slot_ns + rx_start_delay_ns(ack)
    }

    /// Returns the contention window after one more failure: doubled, up to `CWmax` (10.3.3).
    #[must_use]
    pub const fn wider(self, cw: u16) -> u16 {
        let next = cw.saturating_mul(2).saturating_add(1);
        if next < self.cw_max { next } else { self.cw_max }
    }
}

/// Returns `aRxPHYStartDelay` in nanoseconds, the time from the start of a frame until the receiver
/// reports it: 192 us or 96 us with HR (Table 16-4), 20 us with ERP-OFDM (Table 18-5), which is the
/// end of the header. The end of the header is used for HT, too, although no timeout waits for an
/// HT frame here.
#[must_use]
pub const fn rx_start_delay_ns(mode: WifiMode) -> u64 {
    Airtime::of(mode, 0).lead_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_add_up() {
        assert_eq!(Timing::HR.difs_ns(), 50_000);
        assert_eq!(Timing::ERP_SHORT_SLOT.difs_ns(), 28_000);
        // 10 + 304 + 50, the figure that all texts on 802.11b give.
        assert_eq!(Timing::HR.eifs_ns(), 364_000);
        assert_eq!(Timing::ERP_SHORT_SLOT.eifs_ns(), 342_000);
        // 16 + 44 + 34, and the signal extension that frames have here.
        assert_eq!(Timing::BAND_5_GHZ.eifs_ns(), 88_000);
        // Best effort in EDCA: SIFS + 3 slots.
        assert_eq!(Timing { aifsn: 3, ..Timing::ERP_SHORT_SLOT }.difs_ns(), 37_000);
    }

    #[test]
    fn ack_timeouts_are_shorter_than_acks() {
        // ns-3 has this sum for 802.11b: 10 + 20 + 192.
        assert_eq!(Timing::HR.ack_timeout_ns(WifiMode::Hr(Hr::M1)), 222_000);
        assert_eq!(Timing::HR.ack_timeout_ns(WifiMode::Hr(Hr::M11Short)), 126_000);
        let ofdm = WifiMode::Ofdm(Ofdm::M24);
        assert_eq!(Timing::ERP_SHORT_SLOT.ack_timeout_ns(ofdm), 39_000);
    }

    #[test]
    fn windows_double_up_to_the_largest() {
        let mut windows = std::vec![Timing::ERP_SHORT_SLOT.cw_min];
        for _ in 0..7 {
            windows.push(Timing::ERP_SHORT_SLOT.wider(windows[windows.len() - 1]));
        }
        assert_eq!(windows, [15, 31, 63, 127, 255, 511, 1023, 1023]);
        assert_eq!(Timing::HR.wider(u16::MAX), 1023);
    }
}
