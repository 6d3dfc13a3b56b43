//! How far messages reach.

use super::changes::SHORT;
use super::rooms::{Predictor, RoomCase};
use alloc::format;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::point::OperatingPoint;
use espbench_measure::predict::{PointEstimates, PredictAnswer, PredictQuestion, RangeWanted};

/// Returns how far messages reach at each of these PHY rates. Rates that the chip does not read are left
/// out. Nothing is simulated: it follows from the path loss, the walls, the shadowing, the fading and the receiver.
#[must_use]
pub fn range(predictor: &Predictor, wanted: RangeWanted, modes: &[WifiMode]) -> PredictAnswer {
    let has = |mode: &&WifiMode| predictor.range(**mode, SHORT).is_some_and(|metres| metres > 0.0);
    let cases = modes.iter().filter(has).map(|mode| predictor.case(1, *mode));
    let mut points: Vec<PointEstimates> =
        cases.map(|case| point(predictor, &case, wanted.loss)).collect();
    let metres = |it: &PointEstimates| it.setting.range_m.unwrap_or(0.0);
    // The farthest first; of those that reach as far the fastest.
    points.sort_by(|a, b| {
        metres(b).total_cmp(&metres(a)).then(b.setting.kbit_s.cmp(&a.setting.kbit_s))
    });
    let rates = match points.as_slice() {
        [only] => format!("at {}", only.setting.rate),
        all => format!("at {} rates", all.len()),
    };
    let answer = predictor.answer(PredictQuestion::Range(wanted), "", &rates);
    PredictAnswer { points, ..answer }
}

fn point(predictor: &Predictor, case: &RoomCase, loss: f64) -> PointEstimates {
    let reach = predictor.reach_of(case, loss);
    let setting = OperatingPoint {
        range_m: reach.map(|it| it.metres),
        range_is_bounded: reach.is_some_and(|it| it.is_bounded),
        range_median_m: reach.map(|it| it.median_m),
        ..predictor.setting(case)
    };
    PointEstimates { setting, ..PointEstimates::default() }
}
