//! Arrivals in phase with an access point's beacons.

use crate::run::Recorded;
use crate::series;
use alloc::vec::Vec;
use core::f64::consts::TAU;
use core::time::Duration;
use espbench_model::time::Instant;
use espbench_stats::interval::mean;
use espbench_stats::quantile::Sorted;

/// The usual period of beacons: 100 time units of 1024 us (IEEE 802.11-2020, 9.4.1.3 and 3.1).
pub const BEACON_PERIOD: Duration = Duration::from_micros(102_400);

/// Fewer arrivals than this are not tested.
const FEWEST: usize = 30;

/// Arrivals this close to one phase count as in phase. Of arrivals spread evenly, 30 keep a phase
/// so well with a probability of exp(-30 x 0.6^2), one in 50,000 (Rayleigh's test: Mardia and Jupp
/// 2000, "Directional Statistics", section 6.3.1).
const STRONG: f64 = 0.6;

/// A station that waits for beacons has round trips of some tens of milliseconds. Below this median
/// the phase means nothing.
const SLOWEST_AWAKE_MS: f64 = 20.0;

/// Access point and host count time apart; over this window 100 ppm between them is 6 ms.
const WINDOW: Duration = Duration::from_secs(60);

/// Arrivals that keep one phase of the beacons' period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeaconPhase {
    /// Median of the round trips in milliseconds.
    pub median_ms: f64,
    /// How closely they keep it, from 0 (not at all) to 1 (exactly).
    pub strength: f64,
}

/// Returns how closely the arrivals of the probes keep one phase of the beacons' period; `None`
/// where they do not, or where it can be otherwise explained.
///
/// The round trips need not show it: probes that are sent at any time wait evenly between 0 and one
/// period. The arrivals do, as a station that sleeps answers right after a beacon. Probes that were
/// themselves sent in phase, by an offered interval that is a multiple of the period, tell nothing.
#[must_use]
pub fn in_phase(recorded: &Recorded, paced: bool) -> Option<BeaconPhase> {
    let probes: Vec<(Instant, Instant)> =
        series::delivered(recorded).filter_map(|p| Some((p.sent?, p.received?))).collect();
    if probes.len() < FEWEST {
        return None;
    }
    let median_ms = Sorted::new(series::round_trips_ms(recorded)).quantile(0.5).value?;
    let arrivals = strength(probes.iter().map(|p| p.1), BEACON_PERIOD)?;
    let sendings = strength(probes.iter().map(|p| p.0), BEACON_PERIOD)?;
    let explained = paced && sendings > arrivals - 0.2;
    let is_found = median_ms >= SLOWEST_AWAKE_MS && arrivals >= STRONG && !explained;
    is_found.then_some(BeaconPhase { median_ms, strength: arrivals })
}

/// Returns the mean resultant length of the phases (Mardia and Jupp 2000, section 2.3), over
/// windows that are short against the drift of two clocks: 1 where all are equal, near 0 where they
/// are spread.
fn strength(times: impl Iterator<Item = Instant>, period: Duration) -> Option<f64> {
    let period = period.as_nanos() as u64;
    let mut windows: Vec<(u128, f64, f64, f64)> = Vec::new();
    for time in times {
        let number = u128::from(time.as_nanos()) / WINDOW.as_nanos();
        let angle = TAU * (time.as_nanos() % period) as f64 / period as f64;
        let (sin, cos) = libm::sincos(angle);
        match windows.last_mut() {
            Some(w) if w.0 == number => *w = (number, w.1 + 1.0, w.2 + sin, w.3 + cos),
            _ => windows.push((number, 1.0, sin, cos)),
        }
    }
    // A window of a few arrivals is in phase by chance.
    let full = windows.iter().filter(|w| w.1 >= FEWEST as f64);
    let lengths: Vec<f64> = full.map(|w| libm::hypot(w.2, w.3) / w.1).collect();
    mean(&lengths)
}
