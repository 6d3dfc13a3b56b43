//! What becomes of a frame at a hearer, part by part: the medium says how strong the interference
//! was from when to when, and gets the chance that the frame is lost.
//!
//! A frame has two parts that can fail: its header, in the slowest mode of its PHY, and its data.
//! A change of interference cuts them into pieces; each piece adds its share of bits times the
//! hazard of one. Which frame a receiver is locked on is settled before, by [`Capture`].

use super::airtime::Airtime;
use super::error::{Curve, ErrorTable, loss};
use super::mode::{Mode, Preamble};
use crate::random::Chance;

/// The bits of a frame's header that must be right, and how they are modulated: 48 bits with HR
/// (16.2.3), 24 of L-SIG with OFDM (17.3.4), 48 of HT-SIG more with HT (19.3.9.4.3).
#[must_use]
pub const fn header(mode: Mode) -> (Curve, u32) {
    match mode {
        Mode::Hr(hr) => match hr.preamble() {
            Preamble::Long => (Curve::Dbpsk, 48),
            Preamble::Short => (Curve::Dqpsk, 48),
        },
        Mode::Ofdm(_) => (Curve::Bpsk12, 24),
        Mode::Ht(_) => (Curve::Bpsk12, 72),
    }
}

/// One part of a frame: when it is, in nanoseconds from the frame's start, and what it carries.
#[derive(Clone, Copy, Debug)]
struct Part {
    from_ns: u64,
    to_ns: u64,
    curve: Curve,
    bits_per_ns: f64,
    hazard: f64,
}

impl Part {
    fn new(from_ns: u64, length_ns: u64, curve: Curve, bits: u32) -> Self {
        let bits_per_ns = if length_ns == 0 { 0.0 } else { f64::from(bits) / length_ns as f64 };
        Self { from_ns, to_ns: from_ns + length_ns, curve, bits_per_ns, hazard: 0.0 }
    }

    fn hear(&mut self, errors: &ErrorTable, from_ns: u64, to_ns: u64, sinr_db: f64) {
        let (from_ns, to_ns) = (from_ns.max(self.from_ns), to_ns.min(self.to_ns));
        if from_ns < to_ns {
            let bits = (to_ns - from_ns) as f64 * self.bits_per_ns;
            self.hazard += bits * errors.hazard(self.curve, sinr_db);
        }
    }
}

/// A frame that a receiver listens to.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    header: Part,
    data: Part,
}

impl Reception {
    /// A frame of `octets` octets from its start.
    #[must_use]
    pub fn new(mode: Mode, octets: u32) -> Self {
        let air = Airtime::of(mode, octets);
        let (curve, bits) = header(mode);
        let lead_ns = air.lead_ns();
        let data_bits = octets.saturating_mul(8);
        Self {
            header: Part::new(air.preamble_ns.into(), air.header_ns.into(), curve, bits),
            data: Part::new(lead_ns, air.data_ns, Curve::of(mode), data_bits),
        }
    }

    /// From `from_ns` to `to_ns` after the frame's start, the ratio of signal to noise and
    /// interference ([`Receiver::sinr_db`](super::receiver::Receiver::sinr_db)) was `sinr_db`. Pieces may come in any order,
    /// and must not overlap. A piece that no one reports was clean.
    pub fn hear(&mut self, errors: &ErrorTable, from_ns: u64, to_ns: u64, sinr_db: f64) {
        self.header.hear(errors, from_ns, to_ns, sinr_db);
        self.data.hear(errors, from_ns, to_ns, sinr_db);
    }

    /// The chance that the header cannot be read: the receiver then does not know how long the
    /// frame is, and only energy tells it that the medium is busy.
    #[must_use]
    pub fn header_loss(&self) -> Chance {
        loss(self.header.hazard)
    }

    /// The chance that the data fails its check, where the header was read.
    #[must_use]
    pub fn data_loss(&self) -> Chance {
        loss(self.data.hazard)
    }

    /// The chance that the frame is lost, one way or the other.
    #[must_use]
    pub fn frame_loss(&self) -> Chance {
        loss(self.header.hazard + self.data.hazard)
    }
}

/// Which of several frames a receiver listens to.
///
/// The numbers are the defaults of ns-3 (`ThresholdPreambleDetectionModel`,
/// `SimpleFrameCaptureModel`); they are for the lab to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// How much a preamble must stand out from all other frames together to be found. Noise is
    /// not counted: against it, the error model and the sensitivity of the chip decide.
    pub detect_db: f64,
    /// How much stronger a later frame must be to take the receiver over.
    pub relock_db: f64,
    /// For how long after the start of the first frame a later one can.
    pub relock_ns: u64,
}

impl Default for Capture {
    fn default() -> Self {
        Self { detect_db: 4.0, relock_db: 5.0, relock_ns: 16_000 }
    }
}

impl Capture {
    /// A receiver that never lets go of the first frame.
    pub const NONE: Self = Self { detect_db: 4.0, relock_db: f64::INFINITY, relock_ns: 0 };

    /// Whether a receiver that listens to nothing finds a preamble among the other frames on the
    /// air, whose powers are added up. Where there are none it does.
    #[must_use]
    pub fn finds(&self, signal_mw: f64, others_mw: f64) -> bool {
        others_mw <= 0.0 || super::power::decibels(signal_mw / others_mw) >= self.detect_db
    }

    /// Whether a receiver that has listened to one frame for `since_ns` turns to a new one.
    /// `others_mw` is all that is on the air but the new frame, the old one included.
    #[must_use]
    pub fn turns(&self, since_ns: u64, old_mw: f64, new_mw: f64, others_mw: f64) -> bool {
        since_ns <= self.relock_ns
            && super::power::decibels(new_mw / old_mw) >= self.relock_db
            && self.finds(new_mw, others_mw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{Guard, Hr, Mcs, Ofdm, Width};
    use crate::radio::power::factor;
    use proptest::prelude::*;

    static ERRORS: std::sync::OnceLock<ErrorTable> = std::sync::OnceLock::new();

    fn whole(errors: &ErrorTable, mode: Mode, octets: u32, sinr_db: f64) -> Reception {
        let mut reception = Reception::new(mode, octets);
        reception.hear(errors, 0, u64::MAX, sinr_db);
        reception
    }

    #[test]
    fn a_frame_in_one_piece_is_lost_as_the_model_says() {
        let errors = ErrorTable::new();
        for mode in Mode::ALL {
            let curve = Curve::of(mode);
            let db = curve.required_db(293, 0.5);
            let reception = whole(&errors, mode, 293, db);
            let exact = curve.hazard(factor(db)) * 293.0 * 8.0;
            assert!((reception.data.hazard / exact - 1.0).abs() < 2e-3, "{mode}");
            assert_eq!(whole(&errors, mode, 293, 40.0).frame_loss(), Chance::NEVER);
            assert_eq!(whole(&errors, mode, 293, -30.0).data_loss(), Chance::ALWAYS);
        }
    }

    #[test]
    fn a_frame_that_no_one_disturbs_is_clean() {
        let reception = Reception::new(Mode::ESP_NOW, 293);
        assert_eq!(reception.frame_loss(), Chance::NEVER);
        assert_eq!(Reception::new(Mode::ESP_NOW, 0).data.bits_per_ns, 0.0);
    }

    #[test]
    fn only_what_is_hit_is_spoiled() {
        let errors = ErrorTable::new();
        let hit = |mode, from_ns, to_ns| {
            let mut reception = Reception::new(mode, 293);
            reception.hear(&errors, from_ns, to_ns, -30.0);
            [reception.header_loss(), reception.data_loss()].map(|chance| chance == Chance::ALWAYS)
        };
        // Long preamble: 144 us, header up to 192 us, data up to 2536 us.
        let one = Mode::Hr(Hr::M1);
        assert_eq!(hit(one, 0, 144_000), [false, false]);
        assert_eq!(hit(one, 1_000_000, 2_536_000), [false, true]);
        assert_eq!(hit(one, 2_536_000, 9_999_999), [false, false]);
        let ht = Mode::ht(Mcs::Mcs7, Width::Mhz20, Guard::Long);
        // Preamble and training 24 us, signal fields up to 36 us.
        assert_eq!(hit(ht, 24_000, 36_000), [true, false]);
        // The silence at the end carries nothing.
        let end = Airtime::of(Mode::Ofdm(Ofdm::M54), 293).energy_ns();
        assert_eq!(hit(Mode::Ofdm(Ofdm::M54), end, end + 6_000), [false, false]);
    }

    #[test]
    fn receivers_turn_to_stronger_frames_in_time() {
        let capture = Capture::default();
        assert!(capture.finds(1.0, 0.0) && capture.finds(1.0, 0.39) && !capture.finds(1.0, 0.41));
        assert!(capture.turns(16_000, 1.0, 3.2, 1.0));
        assert!(!capture.turns(16_001, 1.0, 3.2, 1.0) && !capture.turns(0, 1.0, 3.1, 1.0));
        // Stronger than the old one, but not than all others.
        assert!(!capture.turns(0, 1.0, 3.2, 2.0));
        assert!(!Capture::NONE.turns(0, 1.0, 1e9, 1.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_add_up(at in 0..47_usize, octets in 1..1500_u32, cut in 0..3_000_000_u64, db in -5.0..30.0_f64) {
            let errors = ERRORS.get_or_init(ErrorTable::new);
            let mode = Mode::ALL[at];
            let one = whole(errors, mode, octets, db);
            let mut two = Reception::new(mode, octets);
            two.hear(errors, cut, u64::MAX, db);
            two.hear(errors, 0, cut, db);
            for (one, two) in [(one.header, two.header), (one.data, two.data)] {
                prop_assert!((one.hazard - two.hazard).abs() <= 1e-9 * one.hazard.max(1e-9));
            }
            let mut worse = Reception::new(mode, octets);
            worse.hear(errors, 0, cut, db - 3.0);
            worse.hear(errors, cut, u64::MAX, db);
            prop_assert!(worse.data.hazard >= one.data.hazard * (1.0 - 1e-9));
        }
    }
}
