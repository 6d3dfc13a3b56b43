//! A node's clock between beacons: when its slot begins, and when it listens for the next beacon.

use core::time::Duration;
use espbench_model::messages::BeaconSlots;
use espbench_model::time::Instant;

/// The clock of a node that has heard a beacon.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotClock {
    /// Deviation of its rate, in parts of one: positive is fast.
    drift: f64,
    /// Time at which it had a beacon, or would have had the last one by its own clock; `None` before the
    /// first one, and after too many were missed.
    beacon: Option<Instant>,
    /// Beacons missed in a row.
    missed: u8,
    /// Number of the interval: what was planned in an earlier one is void.
    pub(super) period: u32,
}

impl SlotClock {
    /// Creates the clock of a node that has heard no beacon yet.
    pub(super) const fn new(drift: f64) -> Self {
        Self { drift, beacon: None, missed: 0, period: 0 }
    }

    /// Takes note of a beacon.
    pub(super) const fn heard(&mut self, at: Instant) {
        self.beacon = Some(at);
        self.missed = 0;
        self.period += 1;
    }

    /// Takes note that the beacon that was due did not come: the node goes on by its own clock, or, after
    /// too many, is silent. Returns whether it goes on.
    pub(super) fn missed(&mut self, slots: &BeaconSlots) -> bool {
        self.missed = self.missed.saturating_add(1);
        self.period += 1;
        self.beacon =
            (self.missed <= slots.missed_most).then(|| self.after(slots.beacon_interval)).flatten();
        self.beacon.is_some()
    }

    /// Returns whether the node may send.
    pub(super) const fn is_synchronized(&self) -> bool {
        self.beacon.is_some()
    }

    /// Returns the moment that comes so long after the last beacon by this clock.
    fn after(&self, time: Duration) -> Option<Instant> {
        let nanos = time.as_nanos() as f64 / (1.0 + self.drift);
        Some(self.beacon? + Duration::from_nanos(libm::round(nanos) as u64))
    }

    /// Returns when the node of that number sends in this interval: after its slot's guard interval.
    pub(super) fn slot(&self, node: u16, slots: &BeaconSlots) -> Option<Instant> {
        self.after(slots.slot * u32::from(node) + slots.guard)
    }

    /// Returns from when until when it listens for the next beacon, whose frame takes `air` and is read at
    /// its end: a guard interval before it can come, and for a slot after that. Both clocks' drifts since the last
    /// beacon that was heard widen it.
    pub(super) fn listening(
        &self,
        slots: &BeaconSlots,
        air: Duration,
    ) -> Option<(Instant, Instant)> {
        let next = self.after(slots.beacon_interval)?;
        let since = slots.beacon_interval * (u32::from(self.missed) + 1);
        let apart = since.mul_f64(2e-6 * f64::from(slots.drift_ppm));
        let before = (air + slots.guard + slots.task_jitter + apart).as_nanos() as u64;
        let from = Instant::from_nanos(next.as_nanos().saturating_sub(before));
        Some((from, next + slots.slot + apart))
    }
}
