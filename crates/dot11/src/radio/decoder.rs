//! The error model together with the noise of a receiver, for a medium that counts in factors, not
//! decibels.
//!
//! Two parts of a frame can fail: its header, in the slowest mode of its PHY, and its data.
//! Interference during a part adds the hazard of the bits that it covers. The preamble carries no
//! bits; [`FrameCapture`](super::FrameCapture) decides whether it is detected.

use alloc::boxed::Box;
use alloc::sync::Arc;
use once_cell::race::OnceBox;

use super::airtime::Airtime;
use super::error::{Curve, ErrorTable};
use super::he::{He, HeFormat, HeGuard};
use super::mode::{Hr, LongRange, Ofdm, Preamble, WifiMode};
use super::power::{decibels, exp2, factor};
use super::receiver::Receiver;

/// BPSK 1/2 whose bits are sent twice.
const TWICE: WifiMode = match He::of(0, HeGuard::Us16, HeFormat::Su, true) {
    Some(he) => WifiMode::He(he),
    None => WifiMode::Ofdm(Ofdm::M6),
};

/// Returns a mode with the modulation of the frame's header, and the number of bits that must be
/// right: 48 with HR (16.2.3), the 24 of L-SIG with OFDM (17.3.4), 48 more of HT-SIG with HT
/// (19.3.9.4.3), 52 more of HE-SIG-A with HE (27.3.11.7.2). An ER SU frame has L-SIG and HE-SIG-A twice, as HE MCS 0 has
/// its bits with DCM.
#[must_use]
pub const fn header(mode: WifiMode) -> (WifiMode, u32) {
    match mode {
        WifiMode::Hr(hr) => match hr.preamble() {
            Preamble::Long => (WifiMode::Hr(Hr::M1), 48),
            Preamble::Short => (WifiMode::Hr(Hr::M2Short), 48),
        },
        WifiMode::Ofdm(_) => (WifiMode::Ofdm(Ofdm::M6), 24),
        WifiMode::Ht(_) => (WifiMode::Ofdm(Ofdm::M6), 72),
        WifiMode::He(he) if he.is_extended() => (TWICE, 76),
        WifiMode::He(_) => (WifiMode::Ofdm(Ofdm::M6), 76),
        WifiMode::Lr(_) => (WifiMode::Lr(LongRange::K250), 48),
    }
}

/// A decoder that follows the error model and the noise of a receiver.
#[derive(Clone, Debug)]
pub struct ErrorModelDecoder {
    errors: Arc<ErrorTable>,
    receiver: Receiver,
    /// By mode, the factor over noise and interference from which a frame is never lost.
    sure: [f64; WifiMode::COUNT],
    floor_dbm: f64,
}

impl ErrorModelDecoder {
    /// Returns the decoder of a receiver; the table may be shared.
    #[must_use]
    pub fn new(errors: Arc<ErrorTable>, receiver: Receiver) -> Self {
        let clean = |mode| errors.clean_db(Curve::of(mode)) + receiver.correction_db(mode);
        let sure = WifiMode::ALL.map(|mode| factor(clean(mode).max(clean(header(mode).0))));
        Self { errors, receiver, sure, floor_dbm: f64::NEG_INFINITY }
    }

    /// Returns the decoder with a lower limit on the power of frames that it detects. The standard
    /// asks for no more than -82 dBm with OFDM (17.3.10.6), which ns-3 takes for all modes.
    #[must_use]
    pub fn with_floor(self, floor_dbm: f64) -> Self {
        Self { floor_dbm, ..self }
    }

    /// Returns the noise and corrections of the receiver.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Returns the factor over noise and interference from which no frame of up to 4095 octets is
    /// lost.
    #[must_use]
    pub const fn sure(&self, mode: WifiMode) -> f64 {
        self.sure[mode.index()]
    }

    /// Returns the power in dBm at which half of the headers of this mode can be read. A weaker
    /// frame is not detected.
    #[must_use]
    pub fn found_dbm(&self, mode: WifiMode) -> f64 {
        // A search in the error model, once for a process.
        static NEEDED_DB: OnceBox<[f64; WifiMode::COUNT]> = OnceBox::new();
        let needed = NEEDED_DB.get_or_init(|| {
            Box::new(WifiMode::ALL.map(|mode| {
                let (like, bits) = header(mode);
                Curve::of(like).required_db(bits / 8, 0.5)
            }))
        });
        let (like, needed_db) = (header(mode).0, needed[mode.index()]);
        let noise_dbm = decibels(self.receiver.noise_mw(like));
        (noise_dbm + needed_db + self.receiver.correction_db(like)).max(self.floor_dbm)
    }

    /// Returns the chance that a stretch of a frame of `octets` octets survives, where the signal
    /// is `sinr` times noise and interference. `span_ns` is the stretch from and to, in nanoseconds
    /// after the start of the frame. The chances of several stretches multiply.
    #[must_use]
    pub fn survival(&self, mode: WifiMode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64 {
        if sinr >= self.sure(mode) {
            return 1.0;
        }
        let sinr_db = decibels(sinr);
        let air = Airtime::of(mode, octets);
        let (like, header_bits) = header(mode);
        let parts = [
            (like, header_bits, u64::from(air.preamble_ns), u64::from(air.header_ns)),
            (mode, octets.saturating_mul(8), air.lead_ns(), air.data_ns),
        ];
        let mut hazard = 0.0;
        for (mode, bits, begin, length) in parts {
            let from = span_ns.0.max(begin);
            let to = span_ns.1.min(begin + length);
            if from < to {
                let bits = f64::from(bits) * (to - from) as f64 / length as f64;
                let sinr_db = sinr_db - self.receiver.correction_db(mode);
                hazard += bits * self.errors.hazard(Curve::of(mode), sinr_db);
            }
        }
        // e^-h as a power of two.
        exp2(-hazard * core::f64::consts::LOG2_E)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::chip::RadioChip;
    use crate::radio::mode::{ChannelWidth, GuardInterval, Mcs};
    use crate::radio::power::milliwatts;
    use proptest::prelude::*;

    const WHOLE: (u64, u64) = (0, u64::MAX);

    #[test]
    fn frames_at_the_sensitivity_of_the_chip_are_lost_as_its_datasheet_says() {
        let errors = ErrorTable::shared();
        for chip in RadioChip::ALL {
            let reader = ErrorModelDecoder::new(errors.clone(), Receiver::of(chip));
            for mode in WifiMode::ALL {
                let Some(dbm) = chip.sensitivity_dbm(mode) else { continue };
                let (octets, loss) = super::super::receiver::reference_frame(mode);
                let sinr = milliwatts(dbm) / reader.receiver().noise_mw(mode);
                let survival = reader.survival(mode, octets, sinr, WHOLE);
                // The header has part of the loss: 48 bits beside 8192 in the same mode.
                assert!((survival - (1.0 - loss)).abs() < 2e-3, "{chip:?} {mode}: {survival}");
                assert!(reader.found_dbm(mode) < dbm, "{chip:?} {mode}");
                let sure = reader.sure(mode);
                assert!(reader.survival(mode, octets, sure * 0.999, WHOLE) > 0.999_999);
                assert_eq!(reader.survival(mode, octets, sure, WHOLE), 1.0);
                assert_eq!(reader.survival(mode, octets, 0.0, WHOLE), 0.0);
            }
        }
    }

    #[test]
    fn one_mbit_is_found_below_the_noise() {
        let reader = ErrorModelDecoder::new(ErrorTable::shared(), Receiver::of(RadioChip::Esp32));
        let mode = WifiMode::ESP_NOW;
        let noise = decibels(reader.receiver().noise_mw(mode));
        let found = reader.found_dbm(mode);
        assert!((-103.0..-98.0).contains(&found) && found < noise, "{found} {noise}");
    }

    #[test]
    fn only_what_is_hit_is_spoiled() {
        let reader = ErrorModelDecoder::new(ErrorTable::shared(), Receiver::ideal(7.0));
        let lost = |mode, from, to| reader.survival(mode, 293, 1e-3, (from, to)) < 1e-3;
        // Long preamble: 144 us, header up to 192 us, data up to 2536 us.
        let one = WifiMode::Hr(Hr::M1);
        assert!(!lost(one, 0, 144_000) && lost(one, 144_000, 192_000));
        assert!(lost(one, 1_000_000, 2_536_000) && !lost(one, 2_536_000, 9_999_999));
        let ht = WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long);
        // Preamble and training 24 us, signal fields up to 36 us.
        assert!(!lost(ht, 0, 24_000) && lost(ht, 24_000, 36_000));
        // The silence at the end carries nothing.
        let end = Airtime::of(WifiMode::Ofdm(Ofdm::M54), 293).energy_ns();
        assert!(!lost(WifiMode::Ofdm(Ofdm::M54), end, end + 6_000));
    }

    static READER: std::sync::OnceLock<ErrorModelDecoder> = std::sync::OnceLock::new();

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn stretches_multiply(at in 0..WifiMode::COUNT, octets in 1..1500_u32, cut in 0..3_000_000_u64, db in -5.0..30.0_f64) {
            let reader = READER
                .get_or_init(|| ErrorModelDecoder::new(ErrorTable::shared(), Receiver::ideal(7.0)));
            let mode = WifiMode::ALL[at];
            let part = |db, from, to| reader.survival(mode, octets, factor(db), (from, to));
            let whole = part(db, 0, u64::MAX);
            let parts = part(db, 0, cut) * part(db, cut, u64::MAX);
            prop_assert!((whole - parts).abs() <= 1e-9);
            prop_assert!(part(db - 3.0, 0, cut) * part(db, cut, u64::MAX) <= whole + 1e-9);
        }
    }
}
