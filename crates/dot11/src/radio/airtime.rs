//! Air time of frames, by the TXTIME clauses of the standard.
//!
//! | PHY | preamble | header | data | after |
//! |---|---|---|---|---|
//! | HR, long (16.2.2.2) | 144 us | 48 us | octets x 8 / rate, rounded up to whole microseconds (16.3.4) | |
//! | HR, short (16.2.2.3) | 72 us | 24 us | the same | |
//! | ERP-OFDM (17.4.3, 18.5.3) | 16 us | L-SIG 4 us | 4 us x symbols | 6 us |
//! | HT mixed (19.4.3) | 16 us + HT-STF 4 us + one HT-LTF 4 us | L-SIG 4 us + HT-SIG 8 us | symbols x 4 us, or 3.6 us rounded up to 4 us | 6 us |
//!
//! | HE SU (27.4.3) | 16 us + HE-STF 4 us + one HE-LTF of 7.2, 8 or 16 us | L-SIG 4 us + RL-SIG 4 us + HE-SIG-A 8 us, with ER SU 16 us | symbols of 12.8 us and the guard interval | 6 us |
//! | Long Range (an assumption) | 576 us | 192 us | octets x 8 / rate | |
//!
//! An HE frame has no packet extension here: the nominal packet padding is taken as 0 (27.3.13). Of Long Range only the
//! rates are published; preamble and header are assumed to be those of HR, sent at 250 kbit/s. The signal extension is of
//! 2.4 GHz alone: in 5 GHz the standard has none and a SIFS that is as much longer, 16 us (17.4.4), so that frames and
//! answers follow one another at the same times there.
//!
//! The symbols carry a SERVICE field of 16 bits, the octets, and 6 tail bits. The signal extension
//! at the end (6 us in 2.4 GHz; 18.3.2.4, 19.3.2) is silence in which a receiver finishes decoding.
//! The interframe spaces begin after it.

use super::mode::{GuardInterval, Preamble, WifiMode};

/// The octets of an ACK frame with its FCS (9.3.1.4).
pub const ACK_OCTETS: u32 = 14;
/// The octets of a CTS frame with its FCS (9.3.1.3).
pub const CTS_OCTETS: u32 = 14;
/// The octets of an RTS frame with its FCS (9.3.1.2).
pub const RTS_OCTETS: u32 = 20;
/// The octets of a compressed block acknowledgement with its FCS (9.3.1.8.2).
pub const BLOCK_ACK_OCTETS: u32 = 32;
/// The octets of a block acknowledgement request with its FCS (9.3.1.7.2).
pub const BLOCK_ACK_REQUEST_OCTETS: u32 = 24;
/// The octets of the delimiter before each MPDU of an A-MPDU (9.7.1).
pub const DELIMITER_OCTETS: u32 = 4;

const MICROSECOND: u32 = 1_000;
/// The length of an OFDM symbol with the long guard interval; HT frames end on a multiple of it
/// (19.4.3).
const SYMBOL_NS: u64 = 4_000;
const SERVICE_BITS: u64 = 16;
/// The tail bits: six for each encoder (`N_ES`), and one stream needs one encoder.
const TAIL_BITS: u64 = 6;
/// `aSignalExtension` in the 2.4 GHz band (18.5.4 and 19.4.4).
const SIGNAL_EXTENSION_NS: u32 = 6 * MICROSECOND;

/// The air time of a frame by parts, in the order of transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// The preamble, which a receiver locks on to.
    pub preamble_ns: u32,
    /// The PHY header, which gives rate and length, in the slowest mode of its PHY.
    pub header_ns: u32,
    /// The PSDU.
    pub data_ns: u64,
    /// The signal extension: silence that still belongs to the frame.
    pub extension_ns: u32,
}

impl Airtime {
    /// Returns the air time of a frame whose PSDU (the MPDU with its FCS, or an A-MPDU) has `octets` octets.
    #[must_use]
    pub const fn of(mode: WifiMode, octets: u32) -> Self {
        let (preamble_us, header_us) = match mode {
            WifiMode::Hr(hr) => match hr.preamble() {
                Preamble::Long => (144, 48),
                Preamble::Short => (72, 24),
            },
            WifiMode::Ofdm(_) => (16, 4),
            // The parts follow in this order on the air: legacy preamble, L-SIG, HT-SIG, HT-STF,
            // HT-LTF. They are counted together, because nothing here looks inside.
            WifiMode::Ht(_) => (16 + 4 + 4, 4 + 8),
            WifiMode::He(_) => (16 + 4, 4 + 4),
            WifiMode::Lr(_) => (4 * 144, 4 * 48),
        };
        let (training_ns, signal_ns) = match mode {
            WifiMode::He(he) => (he.guard().ltf_ns(), he.signal_ns()),
            _ => (0, 0),
        };
        Self {
            preamble_ns: preamble_us * MICROSECOND + training_ns,
            header_ns: header_us * MICROSECOND + signal_ns,
            data_ns: data_ns(mode, octets),
            extension_ns: match mode {
                WifiMode::Hr(_) | WifiMode::Lr(_) => 0,
                WifiMode::Ofdm(_) | WifiMode::Ht(_) | WifiMode::He(_) => SIGNAL_EXTENSION_NS,
            },
        }
    }

    /// Returns the time from the start of the frame to the end of its header, when a receiver knows
    /// mode and length.
    #[must_use]
    pub const fn lead_ns(self) -> u64 {
        self.preamble_ns as u64 + self.header_ns as u64
    }

    /// Returns the time from the start of the frame to the end of its energy, without the
    /// extension.
    #[must_use]
    pub const fn energy_ns(self) -> u64 {
        self.lead_ns() + self.data_ns
    }

    /// Returns the whole air time, TXTIME.
    #[must_use]
    pub const fn total_ns(self) -> u64 {
        self.energy_ns() + self.extension_ns as u64
    }
}

/// Returns the air time (TXTIME) in nanoseconds of a frame with one MPDU of `octets` octets, its FCS included.
#[must_use]
pub const fn airtime(mode: WifiMode, octets: u32) -> u64 {
    psdu_airtime(mode, psdu_octets(mode, octets))
}

/// Returns the air time (TXTIME) in nanoseconds of a frame with one MPDU of `octets` octets on a channel: in 5 GHz it has
/// no signal extension.
#[must_use]
pub const fn airtime_on(mode: WifiMode, octets: u32, channel: u8) -> u64 {
    let air = Airtime::of(mode, psdu_octets(mode, octets));
    if channel > 14 { air.energy_ns() } else { air.total_ns() }
}

/// Returns the air time (TXTIME) in nanoseconds of a frame whose PSDU has `octets` octets.
#[must_use]
pub const fn psdu_airtime(mode: WifiMode, octets: u32) -> u64 {
    Airtime::of(mode, octets).total_ns()
}

/// Returns the octets of the PSDU with one MPDU: an HE frame has an A-MPDU always, so a delimiter precedes the MPDU
/// (10.12.8, "S-MPDU").
#[must_use]
pub const fn psdu_octets(mode: WifiMode, mpdu: u32) -> u32 {
    match mode {
        WifiMode::He(_) => with_mpdu(0, mpdu),
        WifiMode::Hr(_) | WifiMode::Ofdm(_) | WifiMode::Ht(_) | WifiMode::Lr(_) => mpdu,
    }
}

/// Returns the octets of an A-MPDU of `ampdu` octets after one more MPDU: the A-MPDU is padded to a
/// multiple of four octets, and a delimiter precedes the new MPDU (9.7.1).
#[must_use]
pub const fn with_mpdu(ampdu: u32, mpdu: u32) -> u32 {
    ampdu.next_multiple_of(4) + DELIMITER_OCTETS + mpdu
}

/// Returns the time from the start of a frame until `octets` of its octets have been sent; within a
/// symbol, in proportion.
#[must_use]
pub const fn elapsed_ns(mode: WifiMode, octets: u32) -> u64 {
    let lead_ns = Airtime::of(mode, 0).lead_ns();
    let bits = octets as u64 * 8;
    lead_ns
        + match mode {
            WifiMode::Hr(hr) => bits * 2 * MICROSECOND as u64 / hr.half_mbit() as u64,
            WifiMode::Ofdm(ofdm) => {
                (SERVICE_BITS + bits) * SYMBOL_NS / ofdm.bits_per_symbol() as u64
            }
            WifiMode::Ht(ht) => {
                (SERVICE_BITS + bits) * ht.symbol_ns() as u64 / ht.bits_per_symbol() as u64
            }
            WifiMode::He(he) => {
                (SERVICE_BITS + bits) * he.symbol_ns() as u64 / he.bits_per_symbol() as u64
            }
            WifiMode::Lr(rate) => bits * 1_000_000 / rate.kbit_s() as u64,
        }
}

/// Returns the octets of the longest HT or HE frame that fits into `ns` nanoseconds without its signal
/// extension; 0 for other modes, which have no A-MPDU.
#[must_use]
pub const fn most_octets(mode: WifiMode, ns: u64) -> u32 {
    let ns = ns.saturating_sub(Airtime::of(mode, 0).lead_ns());
    let (symbols, per_symbol) = match mode {
        WifiMode::Ht(ht) => {
            (ns / SYMBOL_NS * SYMBOL_NS / ht.symbol_ns() as u64, ht.bits_per_symbol())
        }
        WifiMode::He(he) => (ns / he.symbol_ns() as u64, he.bits_per_symbol()),
        _ => return 0,
    };
    let bits = symbols * per_symbol as u64;
    (bits.saturating_sub(SERVICE_BITS + TAIL_BITS) / 8) as u32
}

const fn data_ns(mode: WifiMode, octets: u32) -> u64 {
    let bits = octets as u64 * 8;
    match mode {
        // The LENGTH field of the header counts whole microseconds (16.2.3.5).
        WifiMode::Hr(hr) => (bits * 2).div_ceil(hr.half_mbit() as u64) * MICROSECOND as u64,
        WifiMode::Ofdm(ofdm) => symbols(bits, ofdm.bits_per_symbol()) * SYMBOL_NS,
        WifiMode::Ht(ht) => {
            let ns = symbols(bits, ht.bits_per_symbol()) * ht.symbol_ns() as u64;
            match ht.guard {
                GuardInterval::Long => ns,
                GuardInterval::Short => ns.div_ceil(SYMBOL_NS) * SYMBOL_NS,
            }
        }
        WifiMode::He(he) => symbols(bits, he.bits_per_symbol()) * he.symbol_ns() as u64,
        WifiMode::Lr(rate) => bits * 1_000_000 / rate.kbit_s() as u64,
    }
}

/// Returns `N_SYM`, the number of symbols (Equations 17-11, 19-32 and 27-66, without space-time block
/// code).
const fn symbols(bits: u64, per_symbol: u32) -> u64 {
    (SERVICE_BITS + bits + TAIL_BITS).div_ceil(per_symbol as u64)
}

#[cfg(test)]
#[path = "airtime_tests.rs"]
mod tests;
