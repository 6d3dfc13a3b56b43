//! Charge of devices that sleep between their messages.

use super::battery::Battery;
use super::trial::RoomTrial;
use crate::cell::Estimate;
use crate::cluster;
use crate::quantile::Sorted;
use alloc::vec::Vec;
use espbench_model::energy::EnergyPart;

/// Time and charge of one device in one room.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceCharge {
    /// Charge by part, in millicoulombs, in the order of [`EnergyPart::ALL`].
    pub mc: [f64; 6],
    /// Time by part, in milliseconds.
    pub ms: [f64; 6],
}

impl DeviceCharge {
    /// Returns the mean current, in milliamperes.
    #[must_use]
    pub fn mean_ma(&self) -> f64 {
        let (mc, ms): (f64, f64) = (self.mc.iter().sum(), self.ms.iter().sum());
        if ms > 0.0 { 1e3 * mc / ms } else { 0.0 }
    }
}

/// Charge of the devices of all rooms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyEstimates {
    /// Mean current of a device, in milliamperes.
    pub mean_ma: Estimate,
    /// Mean current of the device that draws more than 19 in 20, in milliamperes.
    pub most_ma: f64,
    /// Charge of a message by part, in millicoulombs; of sleep, until the next message.
    pub message_mc: [f64; 6],
    /// Time of a message by part, in milliseconds.
    pub message_ms: [f64; 6],
}

impl EnergyEstimates {
    /// Estimates from the rooms; `None` where no device of them sleeps.
    #[must_use]
    pub fn of(trials: &[RoomTrial]) -> Option<Self> {
        let devices = || trials.iter().flat_map(|it| &it.energy);
        devices().next()?;
        let room = |it: &RoomTrial| -> (f64, u64) {
            let sum: f64 = it.energy.iter().map(DeviceCharge::mean_ma).sum();
            (sum, it.energy.len() as u64)
        };
        let means: Vec<(f64, u64)> = trials.iter().map(room).collect();
        let all: Vec<f64> = devices().map(DeviceCharge::mean_ma).collect();
        let messages = trials.iter().map(|it| it.messages).sum::<u64>().max(1) as f64;
        let sum = |of: fn(&DeviceCharge) -> &[f64; 6]| {
            core::array::from_fn(|part| devices().map(|it| of(it)[part]).sum::<f64>() / messages)
        };
        Some(Self {
            mean_ma: cluster::mean(&means),
            most_ma: Sorted::new(all).quantile(0.95).value.unwrap_or_default(),
            message_mc: sum(|it| &it.mc),
            message_ms: sum(|it| &it.ms),
        })
    }

    /// Returns how long a battery lasts, in days: longer where less is drawn.
    #[must_use]
    pub fn days(&self, battery: &Battery) -> Estimate {
        let days = |ma: Option<f64>| ma.map(|it| battery.days(it.max(0.0)));
        let Estimate { value, n, low, high } = self.mean_ma;
        Estimate { value: days(value), n, low: days(high), high: days(low) }
    }

    /// Returns a part's share of the charge, 0 to 1.
    #[must_use]
    pub fn share(&self, part: EnergyPart) -> f64 {
        let all: f64 = self.message_mc.iter().sum();
        if all > 0.0 { self.message_mc[part as usize] / all } else { 0.0 }
    }

    /// Returns the part that takes most, and its share.
    #[must_use]
    pub fn largest(&self) -> (EnergyPart, f64) {
        let parts = EnergyPart::ALL.map(|part| (part, self.share(part)));
        parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((EnergyPart::Sleep, 0.0))
    }
}
