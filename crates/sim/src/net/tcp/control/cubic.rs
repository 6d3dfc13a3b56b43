//! CUBIC (RFC 9438).

use super::AckedData;
use espbench_model::time::Instant;

/// The multiplicative decrease of the window after a loss (section 4.6).
const BETA: f64 = 0.7;
/// The growth constant, in segments per second cubed (section 4.1).
const C: f64 = 0.4;
/// The growth of the Reno-friendly window for each window acknowledged (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cubic {
    /// The window before the last loss, in segments (`W_max`).
    most: f64,
    /// The current growth epoch.
    climb: Option<CubicEpoch>,
}

#[derive(Clone, Copy, Debug)]
struct CubicEpoch {
    begin: Instant,
    /// The seconds until the window reaches [`Cubic::most`] again.
    k: f64,
    /// The window that Reno would have, in segments (`W_est`).
    friendly: f64,
    /// The fraction of a byte left over.
    rest: f64,
}

impl Cubic {
    pub(super) fn grow(&mut self, window: u32, threshold: u32, mss: u32, ack: &AckedData) -> u32 {
        if window < threshold {
            // A sender that does not fill its window does not open it (RFC 9438 section 5.8).
            let limited = u64::from(window) < 2 * u64::from(ack.flight);
            return if limited { window.saturating_add(ack.bytes).min(threshold) } else { window };
        }
        if ack.flight + mss < window {
            return window;
        }
        let segment = f64::from(mss);
        let now = f64::from(window) / segment;
        let most = self.most.max(now);
        let climb = self.climb.get_or_insert_with(|| CubicEpoch {
            begin: ack.now,
            k: libm::cbrt((most - now) / C),
            friendly: now,
            rest: 0.0,
        });
        let acked = f64::from(ack.bytes) / segment;
        let alpha = if climb.friendly >= most { 1.0 } else { ALPHA };
        climb.friendly += alpha * acked / now;
        let since = ack.now.since(climb.begin).as_nanos() as u64 + ack.round_trip;
        let t = since as f64 / 1e9 - climb.k;
        let target = (C * t * t * t + most).clamp(now, 1.5 * now);
        let by_cubic = now + (target - now) / now * acked;
        let bytes = by_cubic.max(climb.friendly) * segment + climb.rest;
        climb.rest = bytes - libm::floor(bytes);
        (bytes as u32).max(window)
    }

    pub(super) fn reduced(&mut self, window: u32, mss: u32) -> u32 {
        let now = f64::from(window) / f64::from(mss);
        // Section 4.7: a sender that loses below the last peak leaves room for others.
        self.most = if now < self.most { now * (1.0 + BETA) / 2.0 } else { now };
        self.climb = None;
        (f64::from(window) * BETA) as u32
    }

    pub(super) const fn timed_out(&mut self) {
        self.climb = None;
    }
}
