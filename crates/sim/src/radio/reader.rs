//! What a chip makes of a frame, as one question: the error model and the receiver together, for
//! a medium that thinks in factors, not decibels, and takes a frame as one piece.

use alloc::sync::Arc;

use super::airtime::Airtime;
use super::error::{Curve, ErrorTable};
use super::mode::Mode;
use super::power::{decibels, exp2, factor};
use super::receiver::Receiver;

/// A receiver with the error model.
#[derive(Clone, Debug)]
pub struct Reader {
    errors: Arc<ErrorTable>,
    receiver: Receiver,
    /// By mode: a signal this many times noise and interference is never lost.
    sure: [f64; Mode::COUNT],
}

impl Reader {
    /// A receiver; the table may be shared with others.
    #[must_use]
    pub fn new(errors: Arc<ErrorTable>, receiver: Receiver) -> Self {
        let sure = Mode::ALL
            .map(|mode| factor(errors.clean_db(Curve::of(mode)) + receiver.correction_db(mode)));
        Self { errors, receiver, sure }
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

    /// The chance that a stretch of `span_ns` of a frame of `octets` octets survives where the
    /// signal is `sinr` times noise and interference. The frame's bits count as spread evenly over
    /// its time. Chances of stretches multiply.
    #[must_use]
    pub fn survival(&self, mode: Mode, octets: u32, sinr: f64, span_ns: u64) -> f64 {
        if sinr >= self.sure(mode) {
            return 1.0;
        }
        let sinr_db = decibels(sinr) - self.receiver.correction_db(mode);
        let bits = f64::from(octets) * 8.0 * span_ns as f64;
        let bits = bits / Airtime::of(mode, octets).energy_ns() as f64;
        // e^-h as a power of two.
        exp2(-self.errors.hazard(Curve::of(mode), sinr_db) * bits * core::f64::consts::LOG2_E)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::chip::Chip;
    use crate::radio::power::milliwatts;

    #[test]
    fn frames_at_the_sensitivity_of_the_chip_are_lost_as_its_datasheet_says() {
        let errors = Arc::new(ErrorTable::new());
        for chip in Chip::ALL {
            let reader = Reader::new(errors.clone(), Receiver::of(chip));
            for mode in Mode::ALL {
                let Some(dbm) = chip.sensitivity_dbm(mode) else { continue };
                let (octets, loss) = super::super::receiver::reference_frame(mode);
                let air_ns = Airtime::of(mode, octets).energy_ns();
                let sinr = milliwatts(dbm) / reader.receiver().noise_mw(mode);
                let survival = reader.survival(mode, octets, sinr, air_ns);
                assert!((survival - (1.0 - loss)).abs() < 1e-3, "{chip:?} {mode}: {survival}");
                // Two halves are the whole.
                let half = reader.survival(mode, octets, sinr, air_ns / 2);
                assert!((half * half - survival).abs() < 1e-5, "{mode}");
                assert!(
                    reader.survival(mode, octets, reader.sure(mode) * 0.999, air_ns) > 0.999_999
                );
                assert_eq!(reader.survival(mode, octets, reader.sure(mode), air_ns), 1.0);
                assert_eq!(reader.survival(mode, octets, 0.0, air_ns), 0.0);
            }
        }
    }
}
