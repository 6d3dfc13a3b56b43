//! A table of the hazards of all curves, for a medium that asks for millions of them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use once_cell::race::OnceBox;

use super::Curve;
use crate::radio::power::{exp2, factor};
use crate::random::Chance;

/// The lowest ratio in the table, where every frame is lost.
const LOWEST_DB: f64 = -20.0;
const STEPS_PER_DB: f64 = 16.0;
/// The number of steps: the table ends at 44 dB, where no frame is lost.
const STEPS: usize = 64 * STEPS_PER_DB as usize;
/// A stand-in for the logarithm of zero.
const NIL: f64 = -200.0;

/// The longest frame for which a loss of "nil" is promised; below it, the shortest for which a loss
/// of "certain" is.
const LONGEST_BITS: f64 = 4095.0 * 8.0;
const SHORTEST_BITS: f64 = 14.0 * 8.0;
/// A frame with less hazard than this is never lost.
const NIL_HAZARD: f64 = 1e-9;
/// A frame with more hazard than this is always lost: less than one in 10^17 would survive.
const CERTAIN_HAZARD: f64 = 40.0;

/// The hazard of each [`Curve`] in steps of 1/16 dB, stored as binary logarithms and interpolated
/// linearly. A hazard is off by at most 0.2 %, and the loss of a frame by at most 0.0002; a test
/// measures both. The table takes about 61 KB and some milliseconds to compute.
#[derive(Clone, Debug)]
pub struct ErrorTable {
    log2_hazards: Box<[f32]>,
    clean_db: [f64; Curve::COUNT],
    lost_db: [f64; Curve::COUNT],
}

impl Default for ErrorTable {
    fn default() -> Self {
        Self::new()
    }
}

impl ErrorTable {
    /// Returns the table of this process, which all receivers share.
    #[must_use]
    pub fn shared() -> Arc<Self> {
        static TABLE: OnceBox<Arc<ErrorTable>> = OnceBox::new();
        TABLE.get_or_init(|| Box::new(Arc::new(Self::new()))).clone()
    }

    /// Computes the table.
    #[must_use]
    pub fn new() -> Self {
        let mut hazards = Vec::with_capacity(Curve::COUNT * (STEPS + 1));
        let (mut clean_db, mut lost_db) = ([0.0; Curve::COUNT], [0.0; Curve::COUNT]);
        for (at, curve) in Curve::ALL.into_iter().enumerate() {
            clean_db[at] = LOWEST_DB + STEPS as f64 / STEPS_PER_DB;
            lost_db[at] = LOWEST_DB;
            for step in (0..=STEPS).rev() {
                let db = LOWEST_DB + step as f64 / STEPS_PER_DB;
                let hazard = curve.hazard(factor(db));
                if hazard * LONGEST_BITS < NIL_HAZARD {
                    clean_db[at] = db;
                }
                if hazard * SHORTEST_BITS > CERTAIN_HAZARD {
                    lost_db[at] = lost_db[at].max(db);
                }
                hazards.push(if hazard > 0.0 { libm::log2(hazard).max(NIL) } else { NIL } as f32);
            }
            let from = at * (STEPS + 1);
            hazards[from..].reverse();
        }
        Self { log2_hazards: hazards.into_boxed_slice(), clean_db, lost_db }
    }

    /// Returns the hazard of one bit.
    #[must_use]
    pub fn hazard(&self, curve: Curve, snr_db: f64) -> f64 {
        if snr_db >= self.clean_db(curve) {
            return 0.0;
        }
        let place = ((snr_db - LOWEST_DB) * STEPS_PER_DB).max(0.0);
        let step = (place as usize).min(STEPS - 1);
        let at = curve as usize * (STEPS + 1) + step;
        let (below, above) =
            (f64::from(self.log2_hazards[at]), f64::from(self.log2_hazards[at + 1]));
        exp2(below + (above - below) * (place - step as f64))
    }

    /// Returns the ratio from which on no frame of up to 4095 octets is lost, so that neither
    /// interference nor chance need be computed.
    #[must_use]
    pub const fn clean_db(&self, curve: Curve) -> f64 {
        self.clean_db[curve as usize]
    }

    /// Returns the ratio up to which every frame of at least 14 octets is lost.
    #[must_use]
    pub const fn lost_db(&self, curve: Curve) -> f64 {
        self.lost_db[curve as usize]
    }

    /// Returns the chance that a frame is lost whose ratio is the same from end to end.
    #[must_use]
    pub fn frame_loss(&self, curve: Curve, snr_db: f64, octets: u32) -> Chance {
        loss(self.hazard(curve, snr_db) * f64::from(octets) * 8.0)
    }
}

/// Returns the chance that a frame with this much hazard is lost: exactly 0 or 1 where the outcome
/// is certain, so that nothing is drawn.
#[must_use]
fn loss(hazard: f64) -> Chance {
    if hazard < NIL_HAZARD {
        Chance::NEVER
    } else if hazard > CERTAIN_HAZARD {
        Chance::ALWAYS
    } else {
        Chance::of(-libm::expm1(-hazard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::WifiMode;
    use crate::random::{Purpose, RngStream};
    use proptest::prelude::*;

    #[test]
    fn straight_lines_are_close_to_the_curves() {
        let table = ErrorTable::new();
        let (mut worst, mut worst_loss) = (0.0_f64, 0.0_f64);
        for curve in Curve::ALL {
            for step in 0..64 * 16 {
                // The middle of a step, where linear interpolation is worst.
                let db = LOWEST_DB + (f64::from(step) + 0.5) / STEPS_PER_DB;
                let (exact, got) = (curve.hazard(factor(db)), table.hazard(curve, db));
                for octets in [14, 293, 1500, 4095] {
                    let bits = f64::from(octets) * 8.0;
                    let gap = libm::exp(-exact * bits) - libm::exp(-got * bits);
                    worst_loss = worst_loss.max(gap.abs());
                }
                // Where the rate is capped there is a corner, but nothing gets through there.
                if exact * LONGEST_BITS > 1e-3 && exact * SHORTEST_BITS < CERTAIN_HAZARD {
                    worst = worst.max((got / exact - 1.0).abs());
                }
            }
        }
        assert!(worst < 2e-3, "hazard off by {worst}");
        assert!(worst_loss < 2e-4, "loss off by {worst_loss}");
    }

    #[test]
    fn limits_hold() {
        let table = ErrorTable::new();
        for curve in Curve::ALL {
            let (lost, clean) = (table.lost_db(curve), table.clean_db(curve));
            assert!(lost < clean && lost > LOWEST_DB && clean < 44.0, "{curve:?} {lost} {clean}");
            assert!(curve.frame_loss(factor(clean), 4095) < 1.1e-9, "{curve:?}");
            assert!(curve.frame_loss(factor(lost), 14) > 0.999_999_999, "{curve:?}");
            assert_eq!(table.frame_loss(curve, clean, 4095), Chance::NEVER);
            assert_eq!(table.frame_loss(curve, lost, 14), Chance::ALWAYS);
            assert_eq!(table.frame_loss(curve, -1e9, 14), Chance::ALWAYS);
            assert_eq!(table.frame_loss(curve, f64::NAN, 14), Chance::ALWAYS);
        }
    }

    #[test]
    fn certain_losses_draw_nothing() {
        let mut random = RngStream::stream(1, 0, Purpose::Loss);
        let before = random.clone().bits();
        assert!(!loss(1e-10).hit(&mut random) && loss(41.0).hit(&mut random));
        assert_eq!(random.bits(), before);
        let half = (0..10_000).filter(|_| loss(0.693).hit(&mut random)).count();
        assert!((4800..5200).contains(&half), "{half}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn more_signal_is_never_worse(db in -25.0..40.0_f64, step in 0.0..10.0_f64, at in 0..WifiMode::COUNT) {
            let curve = Curve::of(WifiMode::ALL[at]);
            let (low, high) = (curve.hazard(factor(db)), curve.hazard(factor(db + step)));
            prop_assert!(high <= low, "{curve:?}");
            prop_assert!((0.0..=1.0).contains(&curve.frame_loss(factor(db), 1500)));
        }
    }

    #[test]
    fn the_table_falls() {
        let table = ErrorTable::new();
        for curve in Curve::ALL {
            let all = (0..6000).map(|n| table.hazard(curve, -22.0 + f64::from(n) / 100.0));
            let all: Vec<f64> = all.collect();
            assert!(all.windows(2).all(|two| two[1] <= two[0] * (1.0 + 1e-9)), "{curve:?}");
        }
    }
}
