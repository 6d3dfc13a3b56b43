//! Saturated networks busy period by busy period, by counters alone, without two assumptions of the
//! model:
//!
//! - all stations find an equal probability of a collision, whatever happened before. With few
//!   senders it is not so: those that collided both have a wide window, and meet less often;
//! - all go on counting at the same time. A station without its ACK notices only when the ACK
//!   timeout is over (10.3.2.11), 172 us after DIFS; the others are eight slots ahead by then.

use super::ModelPrediction;
use super::bianchi::{ACK, ATTEMPTS, CW_MAX, CW_MIN, DIFS, PLCP, SIFS, SLOT};
use crate::random::{Purpose, RngStream};
use alloc::vec::Vec;

/// The ACK timeout in microseconds, from the end of a frame.
pub(crate) const TIMEOUT: f64 = SIFS + SLOT + PLCP;

/// The rules of a walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkRules {
    /// The first contention window.
    pub cw_min: u32,
    /// The time at which a station whose ACK has not come begins to count slots, in microseconds
    /// from the end of its frame. The others begin after DIFS.
    pub resume: f64,
}

impl WalkRules {
    /// The rules of clause 10.3 for 802.11b: slots go by as soon as the timeout is over, because
    /// the medium has been idle for DIFS by then (10.3.4.3).
    pub const DSSS: Self = Self { cw_min: CW_MIN, resume: TIMEOUT };
    /// Rules without timeout: all stations go on together.
    pub const TOGETHER: Self = Self { cw_min: CW_MIN, resume: DIFS };
    /// The rules of ns-3: another DIFS after the timeout.
    pub const NS3_DSSS: Self = Self { cw_min: CW_MIN, resume: TIMEOUT + DIFS };
    /// The rules of OFDM outside a network: the timeout (10 + 20 + 20 us) is over just when DIFS
    /// is.
    pub const OFDM: Self = Self { cw_min: 15, resume: DIFS };
    /// The rules of OFDM in ns-3.
    pub const NS3_OFDM: Self = Self { cw_min: 15, resume: 2.0 * DIFS };
}

struct WalkSender {
    counter: u32,
    attempt: usize,
    /// The time from the end of the last busy period to the sender's first slot.
    wait: f64,
    /// The time from the end of the last busy period to the sender's transmission.
    due: f64,
}

impl WalkSender {
    fn set(&mut self, counter: u32, wait: f64) {
        (self.counter, self.wait) = (counter, wait);
        self.due = wait + f64::from(counter) * SLOT;
    }
}

/// Returns the result of a walk over that many frames. All times are whole numbers, so sums are
/// exact.
#[must_use]
pub fn walk(stations: usize, octets: u32, unicast: bool, frames: u64) -> ModelPrediction {
    with(WalkRules::DSSS, stations, octets, unicast, frames)
}

/// Returns the result of a walk by other rules. The frames keep their length: shares are true, but
/// rates are not if the mode is another one.
#[must_use]
pub fn with(
    rules: WalkRules,
    stations: usize,
    octets: u32,
    unicast: bool,
    frames: u64,
) -> ModelPrediction {
    let mut random = RngStream::stream(1, 0, Purpose::Board);
    let mut draw = |attempt: usize| {
        let window = ((rules.cw_min + 1) << attempt).min(CW_MAX + 1);
        (random.bits() >> 32) as u32 % window
    };
    let sender = |_| {
        let mut it = WalkSender { counter: 0, attempt: 0, wait: 0.0, due: 0.0 };
        it.set(draw(0), DIFS);
        it
    };
    let mut senders: Vec<WalkSender> = (0..stations).map(sender).collect();
    let air = PLCP + f64::from(octets) * 8.0;
    let (mut time, mut good, mut sent, mut collided) = (0.0, 0_u64, 0_u64, 0_u64);
    while sent < frames {
        let due = senders.iter().map(|it| it.due).fold(f64::INFINITY, f64::min);
        let now = senders.iter().filter(|it| it.due == due).count() as u64;
        let alone = now == 1;
        sent += now;
        good += u64::from(alone);
        collided += if alone { 0 } else { now };
        time += due + air + if alone && unicast { SIFS + ACK } else { 0.0 };
        for it in &mut senders {
            if it.due > due {
                let gone = ((due - it.wait) / SLOT).max(0.0);
                it.set(it.counter - gone as u32, DIFS);
                continue;
            }
            let again = unicast && !alone && it.attempt + 1 < ATTEMPTS;
            it.attempt = if again { it.attempt + 1 } else { 0 };
            it.set(draw(it.attempt), if unicast && !alone { rules.resume } else { DIFS });
        }
    }
    let rate = |count: u64| count as f64 / time * 1e6;
    ModelPrediction { good: rate(good), sent: rate(sent), collide: collided as f64 / sent as f64 }
}
