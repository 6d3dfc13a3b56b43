//! How far messages reach.

use super::rooms::{Predictor, RoomCase};
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::point::{DistanceRow, PlaceSpread};
use espbench_measure::predict::{PointEstimates, PredictAnswer, PredictQuestion, RangeWanted};
use espbench_model::text::count as plural;
use espbench_sim::lab::predict::range::DistanceProspects;

/// Returns how far messages reach at each of these PHY rates. Rates that the chip does not read are left
/// out. Nothing is simulated: it follows from the path loss, the walls, the shadowing, the fading and the receiver.
/// Where `is_stopped` tells so, the answer has the rates that were done by then.
#[must_use]
pub fn range(
    predictor: &Predictor,
    wanted: RangeWanted,
    modes: &[WifiMode],
    is_stopped: &dyn Fn() -> bool,
) -> PredictAnswer {
    let is_read = |mode: &&WifiMode| predictor.reads(**mode);
    let goes_on = |_: &&WifiMode| !is_stopped();
    let cases = modes.iter().take_while(goes_on).filter(is_read);
    let cases = cases.map(|mode| predictor.case(1, *mode));
    let point = |case: RoomCase| PointEstimates {
        setting: predictor.with_range(&case, predictor.setting(&case)),
        ..PointEstimates::default()
    };
    let mut points: Vec<PointEstimates> = cases.map(point).collect();
    let metres = |it: &PointEstimates| it.setting.range_m.unwrap_or(0.0);
    // The farthest first; of those that reach as far the fastest.
    points.sort_by(|a, b| {
        metres(b).total_cmp(&metres(a)).then(b.setting.kbit_s.cmp(&a.setting.kbit_s))
    });
    let rates = match points.as_slice() {
        [only] => format!("at {}", only.setting.rate),
        all => format!("at {}", plural(all.len(), "rate")),
    };
    add_distances(predictor, &mut points, modes, is_stopped);
    let mut answer = predictor.answer(PredictQuestion::Range(wanted), "", &rates);
    answer.notes.push(predictor.range_doubts(false).words());
    PredictAnswer { points, stopped: is_stopped(), ..answer }
}

/// Distances that are told.
const DISTANCES: u32 = 8;
/// Nearest of them, as a part of the farthest.
const NEAREST: f64 = 1.0 / 8.0;
/// Farthest of them, as a multiple of the distance that the farthest rate reaches without fading.
const FARTHEST: f64 = 1.5;

/// Throughput that counts as none, in Mbit/s.
const LEAST: f64 = 1e-4;

/// Adds what becomes of messages by distance, at the rate that reaches farthest and at the fastest, up to where
/// nothing arrives or the model of the place ends.
fn add_distances(
    predictor: &Predictor,
    points: &mut [PointEstimates],
    modes: &[WifiMode],
    is_stopped: &dyn Fn() -> bool,
) {
    let Some(typical) = points.first().and_then(|it| it.setting.range_median_m) else { return };
    let most = predictor.valid_m().min(FARTHEST * typical);
    let step = |it: u32| most * libm::pow(NEAREST, 1.0 - f64::from(it) / f64::from(DISTANCES - 1));
    let metres: Vec<f64> = (0..DISTANCES).map(|it| two_digits(step(it)).min(most)).collect();
    let fastest = points.iter().map(|it| it.setting.kbit_s).max();
    for (at, point) in points.iter_mut().enumerate() {
        let named = |mode: &&WifiMode| mode.to_string() == point.setting.rate;
        let Some(mode) = modes.iter().find(named) else { continue };
        if at > 0 && Some(point.setting.kbit_s) != fastest {
            continue;
        }
        if is_stopped() {
            return;
        }
        let prospects = predictor.prospects_of(&predictor.case(1, *mode), &metres);
        let row = |(metres, it): (&f64, DistanceProspects)| DistanceRow {
            metres: *metres,
            delivery_percent: spread(it.delivery.map(|share| Some(100.0 * share))),
            throughput_mbit_s: spread(it.mbit_s.map(|it| Some(if it < LEAST { 0.0 } else { it }))),
            round_trip_ms: spread(it.round_trip_ms),
        };
        point.setting.distances = metres.iter().zip(prospects).map(row).collect();
    }
}

const fn spread([worst, median, best]: [Option<f64>; 3]) -> PlaceSpread {
    PlaceSpread { worst, median, best }
}

/// Rounds a distance to two digits.
fn two_digits(metres: f64) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(metres.max(1e-3))) - 1.0);
    libm::round(metres / unit) * unit
}
