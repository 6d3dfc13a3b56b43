//! What a chip makes of a frame: the error model and the receiver together, for a medium that
//! thinks in factors, not decibels.
//!
//! A frame has two parts that can fail: its header, in the slowest mode of its PHY, and its data.
//! Whatever interferes with a part adds the share of its bits times the hazard of one. The
//! preamble before them carries no bits: whether it is found is settled by
//! [`Capture`](super::Capture).

use alloc::sync::Arc;

use super::airtime::Airtime;
use super::error::{Curve, ErrorTable};
use super::mode::{Hr, Mode, Ofdm, Preamble};
use super::power::{decibels, exp2, factor};
use super::receiver::Receiver;

/// The bits of a frame's header that must be right, and a mode that is modulated as they are: 48
/// bits with HR (16.2.3), 24 of L-SIG with OFDM (17.3.4), 48 of HT-SIG more with HT (19.3.9.4.3).
#[must_use]
pub const fn header(mode: Mode) -> (Mode, u32) {
    match mode {
        Mode::Hr(hr) => match hr.preamble() {
            Preamble::Long => (Mode::Hr(Hr::M1), 48),
            Preamble::Short => (Mode::Hr(Hr::M2Short), 48),
        },
        Mode::Ofdm(_) => (Mode::Ofdm(Ofdm::M6), 24),
        Mode::Ht(_) => (Mode::Ofdm(Ofdm::M6), 72),
    }
}

/// A receiver with the error model.
#[derive(Clone, Debug)]
pub struct Reader {
    errors: Arc<ErrorTable>,
    receiver: Receiver,
    /// By mode: a signal this many times noise and interference is never lost.
    sure: [f64; Mode::COUNT],
    floor_dbm: f64,
}

impl Reader {
    /// A receiver; the table may be shared with others.
    #[must_use]
    pub fn new(errors: Arc<ErrorTable>, receiver: Receiver) -> Self {
        let clean = |mode| errors.clean_db(Curve::of(mode)) + receiver.correction_db(mode);
        let sure = Mode::ALL.map(|mode| factor(clean(mode).max(clean(header(mode).0))));
        Self { errors, receiver, sure, floor_dbm: f64::NEG_INFINITY }
    }

    /// The same, for a receiver that does not look for weaker frames than that. The standard asks
    /// for no more than -82 dBm with OFDM (17.3.10.6), which is ns-3's floor for all modes.
    #[must_use]
    pub fn with_floor(self, floor_dbm: f64) -> Self {
        Self { floor_dbm, ..self }
    }

    /// The receiver.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// From this many times noise and interference on, no frame of up to 4095 octets is lost.
    #[must_use]
    pub const fn sure(&self, mode: Mode) -> f64 {
        self.sure[mode.index()]
    }

    /// The power at which half of the headers of frames of this mode can be read. A weaker frame
    /// counts as not found.
    #[must_use]
    pub fn found_dbm(&self, mode: Mode) -> f64 {
        let (like, bits) = header(mode);
        let needed_db = Curve::of(like).required_db(bits / 8, 0.5);
        let noise_dbm = decibels(self.receiver.noise_mw(like));
        (noise_dbm + needed_db + self.receiver.correction_db(like)).max(self.floor_dbm)
    }

    /// The chance that what lies between two times after the start of a frame of `octets` octets
    /// (`span_ns`: from, to) survives where the signal is `sinr` times noise and interference.
    /// Chances of stretches multiply.
    #[must_use]
    pub fn survival(&self, mode: Mode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64 {
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
    use crate::radio::chip::Chip;
    use crate::radio::mode::{Guard, Mcs, Width};
    use crate::radio::power::milliwatts;
    use proptest::prelude::*;

    const WHOLE: (u64, u64) = (0, u64::MAX);

    #[test]
    fn frames_at_the_sensitivity_of_the_chip_are_lost_as_its_datasheet_says() {
        let errors = ErrorTable::shared();
        for chip in Chip::ALL {
            let reader = Reader::new(errors.clone(), Receiver::of(chip));
            for mode in Mode::ALL {
                let Some(dbm) = chip.sensitivity_dbm(mode) else { continue };
                let (octets, loss) = super::super::receiver::reference_frame(mode);
                let sinr = milliwatts(dbm) / reader.receiver().noise_mw(mode);
                let survival = reader.survival(mode, octets, sinr, WHOLE);
                // The header has some of the loss: 48 bits beside 8192 in the same mode.
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
        let reader = Reader::new(ErrorTable::shared(), Receiver::of(Chip::Esp32));
        let mode = Mode::ESP_NOW;
        let noise = decibels(reader.receiver().noise_mw(mode));
        let found = reader.found_dbm(mode);
        assert!((-103.0..-98.0).contains(&found) && found < noise, "{found} {noise}");
    }

    #[test]
    fn only_what_is_hit_is_spoiled() {
        let reader = Reader::new(ErrorTable::shared(), Receiver::ideal(7.0));
        let lost = |mode, from, to| reader.survival(mode, 293, 1e-3, (from, to)) < 1e-3;
        // Long preamble: 144 us, header up to 192 us, data up to 2536 us.
        let one = Mode::Hr(Hr::M1);
        assert!(!lost(one, 0, 144_000) && lost(one, 144_000, 192_000));
        assert!(lost(one, 1_000_000, 2_536_000) && !lost(one, 2_536_000, 9_999_999));
        let ht = Mode::ht(Mcs::Mcs7, Width::Mhz20, Guard::Long);
        // Preamble and training 24 us, signal fields up to 36 us.
        assert!(!lost(ht, 0, 24_000) && lost(ht, 24_000, 36_000));
        // The silence at the end carries nothing.
        let end = Airtime::of(Mode::Ofdm(Ofdm::M54), 293).energy_ns();
        assert!(!lost(Mode::Ofdm(Ofdm::M54), end, end + 6_000));
    }

    static READER: std::sync::OnceLock<Reader> = std::sync::OnceLock::new();

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn stretches_multiply(at in 0..47_usize, octets in 1..1500_u32, cut in 0..3_000_000_u64, db in -5.0..30.0_f64) {
            let reader = READER
                .get_or_init(|| Reader::new(ErrorTable::shared(), Receiver::ideal(7.0)));
            let mode = Mode::ALL[at];
            let part = |db, from, to| reader.survival(mode, octets, factor(db), (from, to));
            let whole = part(db, 0, u64::MAX);
            let parts = part(db, 0, cut) * part(db, cut, u64::MAX);
            prop_assert!((whole - parts).abs() <= 1e-9);
            prop_assert!(part(db - 3.0, 0, cut) * part(db, cut, u64::MAX) <= whole + 1e-9);
        }
    }
}
