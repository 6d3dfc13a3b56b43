//! Charge of devices that sleep between their messages.

use super::battery::{Battery, BatteryDrain};
use super::card::EnergyBudget;
use super::doubt::{self, ChargeDoubts, DoubtRemark, NormalDraws};
use super::trial::RoomTrial;
use alloc::vec::Vec;
use espbench_model::energy::EnergyPart;
use espbench_stats::Estimate;
use espbench_stats::cluster;
use espbench_stats::quantile::Sorted;

/// Percent of a battery's life by which a device must be empty sooner to be named.
const LITTLE_SOONER: f64 = 0.5;

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
    /// Mean current of a device, in milliamperes: the interval is that of the rooms alone, by which settings are
    /// compared that share their constants.
    pub mean_ma: Estimate,
    /// Mean current of the device that draws more than 19 in 20, in milliamperes.
    pub most_ma: f64,
    /// Charge of a message by part, in millicoulombs; of sleep, until the next message.
    pub message_mc: [f64; 6],
    /// Time of a message by part, in milliseconds.
    pub message_ms: [f64; 6],
    /// How far the constants behind it are known.
    pub doubts: ChargeDoubts,
}

/// A part of the charge that a message takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChargePart {
    /// Name of the part: one of [`EnergyPart`], the regulator, or self-discharge.
    pub name: &'static str,
    /// Time of one message, in milliseconds; none of what goes on all the time.
    pub message_ms: f64,
    /// Charge of one message, in millicoulombs: the battery's, where there is one.
    pub message_mc: f64,
    /// Share of the charge, 0 to 1.
    pub share: f64,
}

/// Share of the charge from which on it matters how far a part is known.
const MATTERS: f64 = 0.1;

/// Name of what the cells lose by themselves.
const SELF_DISCHARGE: &str = "self-discharge";

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
            mean_ma: cluster::mean(&means).not_negative(),
            most_ma: Sorted::new(all).quantile(0.95).value.unwrap_or_default(),
            message_mc: sum(|it| &it.mc),
            message_ms: sum(|it| &it.ms),
            doubts: ChargeDoubts::default(),
        })
    }

    /// Returns the mean current with an interval that holds the rooms and what is not known of the constants.
    #[must_use]
    pub fn current(&self) -> Estimate {
        self.doubted(|ma, _| ma)
    }

    /// Returns how long a battery lasts, in days: longer where less is drawn. The interval holds the rooms and
    /// what is not known of the constants and of the battery.
    #[must_use]
    pub fn days(&self, battery: &Battery) -> Estimate {
        let life = |ma: f64, normal: &mut NormalDraws| {
            let battery = battery.deviating(|| normal.next());
            // An interval of few rooms may reach to where nothing is drawn, which says nothing.
            if ma > 0.0 { battery.days(ma) } else { f64::INFINITY }
        };
        let mut days = self.doubted(life);
        days.value = self.mean_ma.value.map(|it| battery.days(it.max(0.0)));
        days
    }

    /// Returns the remarks on constants that are known least, where they matter.
    #[must_use]
    pub fn remarks(&self) -> Vec<&str> {
        self.mattering().map(|it| it.text.as_str()).collect()
    }

    /// Returns the parts of the charge that these remarks are of, each once.
    pub fn little_known(&self) -> impl Iterator<Item = &'static str> {
        let is_of = |part: &EnergyPart| self.mattering().any(|it| it.parts.contains(part));
        EnergyPart::ALL.into_iter().filter(is_of).map(EnergyPart::name)
    }

    fn mattering(&self) -> impl Iterator<Item = &DoubtRemark> {
        let share = |parts: &[EnergyPart]| parts.iter().map(|it| self.share(*it)).sum::<f64>();
        self.doubts.remarks.iter().filter(move |it| share(&it.parts) >= MATTERS)
    }

    /// Returns a figure of the current with an interval from draws of all that is in doubt; without ends where
    /// the rooms have none.
    fn doubted(&self, of: impl Fn(f64, &mut NormalDraws) -> f64) -> Estimate {
        let mean = self.mean_ma;
        if mean.low.is_none() || mean.high.is_none() {
            return Estimate { low: None, high: None, ..mean };
        }
        let shares = EnergyPart::ALL.map(|part| self.share(part));
        let has_parts = shares.iter().sum::<f64>() > 0.0;
        doubt::widened(&mean, |ma, normal| {
            let factors = self.doubts.factors(normal);
            let parts: f64 = shares.iter().zip(factors).map(|(share, by)| share * by).sum();
            of(ma * if has_parts { parts } else { 1.0 }, normal)
        })
    }

    /// Returns the part that most of the charge goes to.
    #[must_use]
    pub fn largest_part(&self, battery: Option<&Battery>) -> Option<ChargePart> {
        self.parts(battery).into_iter().max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Returns what the charge of a message goes to; that of the battery, where there is one.
    #[must_use]
    pub fn parts(&self, battery: Option<&Battery>) -> Vec<ChargePart> {
        let mean = self.mean_ma.value.unwrap_or_default();
        let of_chip = BatteryDrain { chip_ma: mean, ..BatteryDrain::default() };
        let drain = battery.map_or(of_chip, |it| it.drain(mean));
        let all_ma = drain.chip_ma + drain.regulator_ma + drain.self_ma;
        let chip_mc: f64 = self.message_mc.iter().sum();
        let part = |name, message_ms, ma: f64| ChargePart {
            name,
            message_ms,
            message_mc: if mean > 0.0 { chip_mc * ma / mean } else { 0.0 },
            share: if all_ma > 0.0 { ma / all_ma } else { 0.0 },
        };
        let own = EnergyPart::ALL.map(|it| {
            part(it.name(), self.message_ms[it as usize], drain.chip_ma * self.share(it))
        });
        let regulator = battery.and_then(Battery::regulator);
        let regulator = regulator.map(|name| part(name, 0.0, drain.regulator_ma));
        let lost = (drain.self_ma > 0.0).then(|| part(SELF_DISCHARGE, 0.0, drain.self_ma));
        own.into_iter().chain(regulator).chain(lost).collect()
    }

    /// Returns a part's share of the chip's charge, 0 to 1.
    #[must_use]
    fn share(&self, part: EnergyPart) -> f64 {
        let all: f64 = self.message_mc.iter().sum();
        if all > 0.0 { self.message_mc[part as usize] / all } else { 0.0 }
    }
}

impl EnergyBudget {
    /// Returns by how many percent of the battery's life the device that draws more than 19 in 20 is empty sooner;
    /// `None` where that is little.
    #[must_use]
    pub fn weakest_sooner_percent(&self) -> Option<f64> {
        let sooner = 100.0 * (1.0 - self.weakest_days? / self.life_days?.value);
        (sooner >= LITTLE_SOONER).then_some(sooner)
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
        let of_chip = all.parts(None);
        assert_eq!(
            of_chip.iter().map(|it| it.name).collect::<Vec<_>>(),
            EnergyPart::ALL.map(EnergyPart::name)
        );
        close(of_chip.iter().map(|it| it.message_mc).sum(), 4.0 * 2.0);
        close(of_chip[3].share, 0.4);
        // Without a message the charge is that of one.
        let none = EnergyEstimates::of(&[room(0, vec![one])]).unwrap();
        close(none.message_mc[3], 8.0);
        let nothing = EnergyEstimates::of(&[room(1, vec![DeviceCharge::default()])]).unwrap();
        assert_eq!((nothing.share(EnergyPart::Send), nothing.parts(None)[3].share), (0.0, 0.0));
    }

    /// Two alkaline cells in series give 2500 mAh at 2.5 V through a boost converter, which hands on
    /// 85 % and takes 19 uA; they lose 2.5 % of what is left in a year.
    #[test]
    fn a_battery_lasts_as_its_charge_and_its_regulator_say() {
        let cells = Battery::from_str("2xAA").unwrap();
        let chip_ma = 1.0;
        let given = chip_ma * 3.3 / (2.5 * 0.85) + 0.019;
        let rate = -libm::log(0.975) / 8766.0;
        close(cells.days(chip_ma), libm::log(1.0 + rate * 2500.0 / given) / rate / 24.0);
        let plain = Battery::from_str("2400mAh").unwrap();
        close(plain.days(1.0), 100.0);
        let mean_ma = Estimate { value: Some(1.0), n: 4, low: Some(0.8), high: Some(1.25) };
        let all = EnergyEstimates { mean_ma, ..EnergyEstimates::default() };
        let days = all.days(&plain);
        close(days.value.unwrap(), 100.0);
        // Who draws least lasts longest; without doubts the interval is that of the rooms.
        assert!((days.low.unwrap() - 80.0).abs() < 3.0, "{days:?}");
        assert!((days.high.unwrap() - 125.0).abs() < 4.0, "{days:?}");
        assert_eq!(days.n, 4);
        assert_eq!(EnergyEstimates::default().days(&plain).value, None);
        let open = EnergyEstimates { mean_ma: Estimate { low: None, ..mean_ma }, ..all };
        assert_eq!((open.days(&plain).low, open.current().high), (None, None));
    }

    /// Wake times of another chip, by a factor of 1.4 that is nearly all of the charge, widen the days by as
    /// much, however exact the rooms are; of a part that is a tenth they hardly count.
    #[test]
    fn what_is_not_known_widens_the_interval() {
        let mean_ma = Estimate { value: Some(1.0), n: 20, low: Some(0.999), high: Some(1.001) };
        let with = |wake_mc: f64, wake_times: f64| EnergyEstimates {
            mean_ma,
            message_mc: [wake_mc, 0.0, 0.0, 10.0 - wake_mc, 0.0, 0.0],
            doubts: ChargeDoubts { wake_times, ..ChargeDoubts::default() },
            ..EnergyEstimates::default()
        };
        let plain = Battery::from_str("2400mAh").unwrap();
        let ends = |it: EnergyEstimates| {
            let days = it.days(&plain);
            (days.low.unwrap(), days.high.unwrap())
        };
        let (low, high) = ends(with(9.9, 1.4));
        assert!((70.0..74.0).contains(&low) && (136.0..142.0).contains(&high), "{low} {high}");
        let (low, high) = ends(with(1.0, 1.4));
        assert!((95.0..98.0).contains(&low) && (102.0..104.5).contains(&high), "{low} {high}");
        let (low, high) = ends(with(9.9, 1.0));
        assert!((99.8..100.0).contains(&low) && (100.0..100.2).contains(&high), "{low} {high}");
        // What is known of a cell is less than what is known of a charge that somebody has said.
        let cell = Battery::from_str("LiPo-500").unwrap().days(1.0);
        let cells = with(9.9, 1.0).days(&Battery::from_str("LiPo-500").unwrap());
        close(cells.value.unwrap(), cell);
        assert!(cells.low.unwrap() < 0.93 * cell && cells.high.unwrap() > 1.07 * cell, "{cells:?}");
        // The same to the last digit each time.
        assert_eq!(with(9.9, 1.4).days(&plain), with(9.9, 1.4).days(&plain));
    }

    /// A 18650 that gives 32 uA loses more by itself than the chip takes, and that is named.
    #[test]
    fn the_battery_has_parts_of_its_own() {
        let mean_ma = Estimate { value: Some(0.032), n: 20, low: Some(0.032), high: Some(0.032) };
        let all = EnergyEstimates {
            mean_ma,
            message_mc: [6.0, 1.0, 1.0, 1.0, 0.0, 0.6],
            ..EnergyEstimates::default()
        };
        let battery = Battery::from_str("18650").unwrap();
        let parts = all.parts(Some(&battery));
        let shares: f64 = parts.iter().map(|it| it.share).sum();
        close(shares, 1.0);
        let largest = parts.iter().max_by(|a, b| a.share.total_cmp(&b.share)).unwrap();
        assert_eq!(largest.name, SELF_DISCHARGE);
        let regulator = parts.iter().find(|it| it.name == "regulator").unwrap();
        close(regulator.share / parts[0].share, 0.005 / (0.032 * 6.0 / 9.6));
        // All of them are what the battery gives in its life.
        let mc: f64 = parts.iter().map(|it| it.message_mc).sum();
        let period_s = 9.6 / 0.032;
        close(mc / period_s * battery.hours(0.032), 3000.0);
    }
}
