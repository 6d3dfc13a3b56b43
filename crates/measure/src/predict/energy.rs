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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use core::str::FromStr;

    fn device(mc: [f64; 6], ms: [f64; 6]) -> DeviceCharge {
        DeviceCharge { mc, ms }
    }

    /// Makes a device that draws so much in the mean over an hour, half of it asleep.
    fn drawing(ma: f64) -> DeviceCharge {
        let half = 1_800_000.0;
        device([0.0, 0.0, 0.0, ma * 3600.0, 0.0, 0.0], [half, 0.0, 0.0, 0.0, 0.0, half])
    }

    fn room(messages: u64, energy: Vec<DeviceCharge>) -> RoomTrial {
        RoomTrial { messages, energy, ..RoomTrial::default() }
    }

    fn close(is: f64, should: f64) {
        assert!((is - should).abs() <= 1e-9 * should.abs(), "{is}, should be {should}");
    }

    #[test]
    fn the_mean_current_is_charge_over_time() {
        // 30 mC in 2 s are 15 mA, whatever the parts.
        let one =
            device([1.0, 2.0, 3.0, 4.0, 5.0, 15.0], [100.0, 100.0, 100.0, 50.0, 50.0, 1600.0]);
        close(one.mean_ma(), 15.0);
        close(drawing(80.0).mean_ma(), 80.0);
        assert_eq!(DeviceCharge::default().mean_ma(), 0.0, "no time has gone by");
    }

    /// Rooms are the groups of the estimate: between four with equal means there is no spread.
    #[test]
    fn estimates_are_of_rooms() {
        let pair = |a, b| room(10, vec![drawing(a), drawing(b)]);
        let of = |rooms: &[RoomTrial]| EnergyEstimates::of(rooms).expect("they sleep");
        let even = of(&[pair(1.0, 3.0), pair(2.0, 2.0), pair(0.5, 3.5), pair(1.5, 2.5)]);
        close(even.mean_ma.value.unwrap(), 2.0);
        assert_eq!(even.mean_ma.n, 8);
        let (low, high) = (even.mean_ma.low.unwrap(), even.mean_ma.high.unwrap());
        close(low, 2.0);
        close(high, 2.0);
        let uneven = of(&[pair(1.0, 1.0), pair(3.0, 3.0), pair(1.0, 1.0), pair(3.0, 3.0)]);
        close(uneven.mean_ma.value.unwrap(), 2.0);
        assert!(uneven.mean_ma.low.unwrap() < 1.2 && uneven.mean_ma.high.unwrap() > 2.8);
        // One room tells no spread.
        let one = of(&[pair(1.0, 3.0)]);
        assert_eq!((one.mean_ma.low, one.mean_ma.high), (None, None));
        assert_eq!(EnergyEstimates::of(&[room(10, vec![])]), None, "nobody sleeps");
        assert_eq!(EnergyEstimates::of(&[]), None);
    }

    /// Of a hundred devices, more than 95 draw no more than that.
    #[test]
    fn the_most_is_what_nineteen_in_twenty_do_not_exceed() {
        let devices = (1..=100).map(|ma| drawing(f64::from(ma))).collect();
        let all = EnergyEstimates::of(&[room(1, devices)]).unwrap();
        assert!((94.9..=96.1).contains(&all.most_ma), "{}", all.most_ma);
        close(all.mean_ma.value.unwrap(), 50.5);
    }

    #[test]
    fn parts_are_shared_out_over_the_messages() {
        let one = device([1.0, 2.0, 3.0, 8.0, 2.0, 4.0], [10.0, 20.0, 30.0, 40.0, 50.0, 850.0]);
        let all = EnergyEstimates::of(&[room(2, vec![one]), room(3, vec![one])]).unwrap();
        for (part, mc) in [0.4, 0.8, 1.2, 3.2, 0.8, 1.6].into_iter().enumerate() {
            close(all.message_mc[part], mc);
        }
        close(all.message_ms[5], 340.0);
        close(all.share(EnergyPart::Send), 0.4);
        let shares: f64 = EnergyPart::ALL.iter().map(|part| all.share(*part)).sum();
        close(shares, 1.0);
        let (part, share) = all.largest();
        assert_eq!(part, EnergyPart::Send);
        close(share, 0.4);
        // Without a message the charge is that of one.
        let none = EnergyEstimates::of(&[room(0, vec![one])]).unwrap();
        close(none.message_mc[3], 8.0);
        let nothing = EnergyEstimates::of(&[room(1, vec![DeviceCharge::default()])]).unwrap();
        assert_eq!((nothing.share(EnergyPart::Send), nothing.largest().1), (0.0, 0.0));
    }

    /// Two alkaline cells in series give 2500 mAh at 2.5 V through a boost converter, which hands on
    /// 85 % and takes 19 uA; they lose 2.5 % a year.
    #[test]
    fn a_battery_lasts_as_its_charge_and_its_regulator_say() {
        let cells = Battery::from_str("2xAA").unwrap();
        let chip_ma = 1.0;
        let given = chip_ma * 3.3 / (2.5 * 0.85) + 0.019 + 2500.0 * 0.025 / 8766.0;
        close(cells.days(chip_ma), 2500.0 / given / 24.0);
        let plain = Battery::from_str("2400mAh").unwrap();
        close(plain.days(1.0), 100.0);
        let mean_ma = Estimate { value: Some(1.0), n: 4, low: Some(0.5), high: Some(2.0) };
        let all = EnergyEstimates { mean_ma, ..EnergyEstimates::default() };
        let days = all.days(&plain);
        close(days.value.unwrap(), 100.0);
        // Who draws least lasts longest.
        close(days.low.unwrap(), 50.0);
        close(days.high.unwrap(), 200.0);
        assert_eq!(days.n, 4);
        let below = Estimate { low: Some(-3.0), ..mean_ma };
        let below = EnergyEstimates { mean_ma: below, ..all }.days(&plain);
        assert!(below.high.unwrap().is_infinite(), "nothing is drawn");
        assert_eq!(EnergyEstimates::default().days(&plain).value, None);
    }
}
