//! The throughput of a saturated network, by equations.
//!
//! The model is that of G. Bianchi, "Performance analysis of the IEEE 802.11 distributed
//! coordination function", IEEE JSAC 18(3), 2000: a station sends in a slot with probability tau,
//! whatever happened before, and tau follows from the probability p that others do. The retry limit
//! is that of H. Wu et al., "Performance of reliable transport protocol over IEEE 802.11 wireless
//! LAN", INFOCOM 2002. The refinement is that of I. Tinnirello, G. Bianchi and Y. Xiao,
//! "Refinements on IEEE 802.11 distributed coordination function modeling approaches", IEEE
//! Transactions on Vehicular Technology 59(3), 2010: a counter that is frozen above zero cannot
//! reach zero in the first slot after a busy medium, so in that slot only stations send that have
//! just sent and draw zero.

use super::ModelPrediction;
use alloc::vec;
use alloc::vec::Vec;

/// The times in microseconds, and the windows, of 802.11b with the long preamble at 1 Mbit/s.
pub(crate) const SLOT: f64 = 20.0;
pub(crate) const SIFS: f64 = 10.0;
pub(crate) const PLCP: f64 = 192.0;
pub(crate) const DIFS: f64 = SIFS + 2.0 * SLOT;
pub(crate) const ACK: f64 = PLCP + 14.0 * 8.0;
pub(crate) const CW_MIN: u32 = 31;
pub(crate) const CW_MAX: u32 = 1023;
pub(crate) const ATTEMPTS: usize = 7;

/// Returns the prediction for `stations` saturated stations that send MPDUs of `octets` to all (no
/// answer, no repetition) or, if `unicast`, to one more station.
#[must_use]
pub fn refined(stations: usize, octets: u32, unicast: bool) -> ModelPrediction {
    let windows: Vec<f64> = (0..if unicast { ATTEMPTS } else { 1 })
        .map(|stage| f64::from(((CW_MIN + 1) << stage).min(CW_MAX + 1)))
        .collect();
    let tau = solve(stations, &windows);
    let air = PLCP + f64::from(octets) * 8.0;
    let alone = air + DIFS + if unicast { SIFS + ACK } else { 0.0 };
    let bursts = bursts(stations, &windows, [alone, air + DIFS]);
    let (mut time, mut good, mut sent, mut collide) = (0.0, 0.0, 0.0, 0.0);
    for (senders, chance) in binomial(stations, tau).into_iter().enumerate() {
        time += chance * SLOT;
        if let Some(burst) = senders.checked_sub(1).and_then(|at| bursts.get(at)) {
            time += chance * burst[0];
            good += chance * burst[1];
            sent += chance * burst[2];
            collide += chance * burst[3];
        }
    }
    ModelPrediction { good: good / time * 1e6, sent: sent / time * 1e6, collide: collide / sent }
}

/// Returns the probability of sending in a slot that is open to all. There a counter is at least 1:
/// a window of W has W - 1 values.
fn solve(stations: usize, windows: &[f64]) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..200 {
        let tau = (low + high) / 2.0;
        let p = 1.0 - power(1.0 - tau, stations - 1);
        let (mut attempts, mut slots) = (0.0, 0.0);
        for (stage, window) in windows.iter().enumerate() {
            attempts += power(p, stage);
            slots += power(p, stage) * window / 2.0;
        }
        *if attempts / slots > tau { &mut low } else { &mut high } = tau;
    }
    low
}

/// Returns time, good frames, frames, and collided frames from the moment when 1, 2, … stations
/// begin to send to the first slot that is open to all.
fn bursts(stations: usize, windows: &[f64], times: [f64; 2]) -> Vec<[f64; 4]> {
    let mut bursts: Vec<[f64; 4]> = Vec::new();
    for senders in 1..=stations {
        let one = senders == 1;
        // After a collision most stations are in the second window.
        let zero = 1.0 / windows[if one { 0 } else { 1.min(windows.len() - 1) }];
        let count = senders as f64;
        let mut burst = if one { [times[0], 1.0, 1.0, 0.0] } else { [times[1], 0.0, count, count] };
        let again = binomial(senders, zero);
        for (senders, chance) in again.iter().enumerate().take(senders).skip(1) {
            for (sum, value) in burst.iter_mut().zip(bursts[senders - 1]) {
                *sum += chance * value;
            }
        }
        // If all of them send again, the burst repeats.
        bursts.push(burst.map(|value| value / (1.0 - again[senders])));
    }
    bursts
}

/// Returns the probabilities of 0 to `n` hits.
fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut chances = vec![1.0];
    for _ in 0..n {
        chances.push(0.0);
        for hits in (1..chances.len()).rev() {
            chances[hits] = chances[hits] * (1.0 - p) + chances[hits - 1] * p;
        }
        chances[0] *= 1.0 - p;
    }
    chances
}

/// Returns a whole power; `powi` is not in core.
fn power(base: f64, exponent: usize) -> f64 {
    libm::pow(base, exponent as f64)
}
