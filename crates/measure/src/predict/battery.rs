//! Batteries, and what stands between them and the chip.

use alloc::format;
use alloc::string::String;
use core::str::FromStr;

/// Supply of the chips, in volts.
const SUPPLY_V: f64 = 3.3;

/// Hours of a year.
const YEAR_H: f64 = 8766.0;

/// Part of the battery's energy that a boost converter hands on: an assumption, the usual of the
/// datasheets of small ones (MCP1640, TPS61021A) at 50 to 100 mA.
pub const BOOST_EFFICIENCY: f64 = 0.85;

/// Current that a boost converter takes itself, in milliamperes: MCP1640 datasheet, quiescent current.
const BOOST_QUIESCENT_MA: f64 = 0.019;

/// Current that a linear regulator takes itself, in milliamperes: HT7333 datasheet, 4 uA, rounded up.
const LINEAR_QUIESCENT_MA: f64 = 0.005;

/// Peak that a chip draws while it sends, in milliamperes: the datasheets' currents at full power.
const PEAK_MA: f64 = 380.0;

/// Charge that a device gets of an 18650 of 2600 mAh, in mAh: the battery where none is named. 85 % of it is an
/// assumption, to compare by.
pub const USUAL_MAH: f64 = 2210.0;

/// One kind of cell.
struct CellKind {
    name: &'static str,
    capacity_mah: f64,
    /// The mean while it is emptied.
    volts: f64,
    /// Part that it loses in a year by itself.
    self_discharge: f64,
    /// Largest pulse, in milliamperes.
    pulse_ma: f64,
}

/// Capacities and voltages by datasheet: Energizer E91 (AA) and E92 (AAA) at 25 mA, Energizer 123,
/// Panasonic NCR18650B, CR2032 of Energizer and Panasonic. Self-discharge: alkaline cells keep 85 % in
/// seven to ten years, lithium ones lose about 1 % a year, Li-ion about 2 % a month.
const CELLS: [CellKind; 6] = [
    CellKind {
        name: "AA",
        capacity_mah: 2500.0,
        volts: 1.25,
        self_discharge: 0.025,
        pulse_ma: 2000.0,
    },
    CellKind {
        name: "AAA",
        capacity_mah: 1100.0,
        volts: 1.25,
        self_discharge: 0.025,
        pulse_ma: 1000.0,
    },
    CellKind {
        name: "CR123A",
        capacity_mah: 1500.0,
        volts: 2.9,
        self_discharge: 0.01,
        pulse_ma: 2500.0,
    },
    CellKind {
        name: "CR2032",
        capacity_mah: 220.0,
        volts: 2.9,
        self_discharge: 0.01,
        pulse_ma: 15.0,
    },
    CellKind {
        name: "18650",
        capacity_mah: 3000.0,
        volts: 3.6,
        self_discharge: 0.24,
        pulse_ma: 6000.0,
    },
    CellKind {
        name: "LiPo",
        capacity_mah: 1000.0,
        volts: 3.7,
        self_discharge: 0.24,
        pulse_ma: 1000.0,
    },
];

/// A battery with its regulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Battery {
    /// Name as it was typed: `2xAA`.
    pub name: String,
    /// Charge that can be taken, in mAh.
    pub capacity_mah: f64,
    /// The mean voltage while it is emptied; `None`: its charge is taken at the chip's supply.
    pub volts: Option<f64>,
    /// Part that it loses in a year by itself.
    pub self_discharge: f64,
    /// Part of the energy that a boost converter hands on, where the voltage is below the chip's.
    pub efficiency: f64,
    /// Current that the regulator takes itself, in milliamperes.
    pub quiescent_ma: f64,
    /// Largest pulse that the cells give, in milliamperes; `None`: not known.
    pub pulse_ma: Option<f64>,
}

impl FromStr for Battery {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let none = || {
            let names: alloc::vec::Vec<&str> = CELLS.iter().map(|it| it.name).collect();
            format!(
                "`{text}` is no battery: use cells ({}), several as 2xAA, LiPo-500 with its mAh, or a \
                 charge such as 2500mAh",
                names.join(", ")
            )
        };
        let amount = |text: &str| text.parse::<f64>().ok().filter(|it| (1.0..=1e6).contains(it));
        if let Some(mah) = text.strip_suffix("mAh") {
            let capacity_mah = amount(mah.trim()).ok_or_else(none)?;
            return Ok(Self::plain(text, capacity_mah));
        }
        let (count, cell) = match text.split_once('x') {
            Some((count, cell)) => (count.parse::<u8>().map_err(|_| none())?, cell),
            None => (1, text),
        };
        let (name, mah) = match cell.split_once('-') {
            Some((name, mah)) => (name, Some(amount(mah).ok_or_else(none)?)),
            None => (cell, None),
        };
        let kind = CELLS.iter().find(|it| it.name.eq_ignore_ascii_case(name)).ok_or_else(none)?;
        let volts = f64::from(count) * kind.volts;
        if !(1..=8).contains(&count) || volts > 16.0 {
            return Err(format!("`{text}`: use 1 to 8 cells in series, of 16 V at most"));
        }
        let is_low = volts < SUPPLY_V;
        Ok(Self {
            name: text.into(),
            capacity_mah: mah.unwrap_or(kind.capacity_mah),
            volts: Some(volts),
            self_discharge: kind.self_discharge,
            efficiency: if is_low { BOOST_EFFICIENCY } else { 1.0 },
            quiescent_ma: if is_low { BOOST_QUIESCENT_MA } else { LINEAR_QUIESCENT_MA },
            pulse_ma: Some(kind.pulse_ma),
        })
    }
}

impl Battery {
    /// Returns a plain charge, with neither regulator nor self-discharge.
    fn plain(name: &str, capacity_mah: f64) -> Self {
        Self {
            name: name.into(),
            capacity_mah,
            volts: None,
            self_discharge: 0.0,
            efficiency: 1.0,
            quiescent_ma: 0.0,
            pulse_ma: None,
        }
    }

    /// Returns the battery where none is named: [`USUAL_MAH`].
    #[must_use]
    pub fn usual() -> Self {
        Self::plain("an 18650 of 2600 mAh at 85 %", USUAL_MAH)
    }

    /// Returns whether a boost converter is needed.
    #[must_use]
    pub fn is_boosted(&self) -> bool {
        self.volts.is_some_and(|it| it < SUPPLY_V)
    }

    /// Returns the current that it gives where the chip draws so much at its supply, in milliamperes.
    #[must_use]
    pub fn gives_ma(&self, chip_ma: f64) -> f64 {
        let through = match self.volts {
            // Energy is handed on.
            Some(volts) if volts < SUPPLY_V => chip_ma * SUPPLY_V / (volts * self.efficiency),
            // A linear regulator hands charge on.
            _ => chip_ma,
        };
        through + self.quiescent_ma
    }

    /// Returns how long it lasts, in hours, where the chip draws so much in the mean.
    #[must_use]
    pub fn hours(&self, chip_ma: f64) -> f64 {
        let by_itself = self.capacity_mah * self.self_discharge / YEAR_H;
        self.capacity_mah / (self.gives_ma(chip_ma) + by_itself)
    }

    /// Returns how long it lasts, in days, where the chip draws so much in the mean.
    #[must_use]
    pub fn days(&self, chip_ma: f64) -> f64 {
        self.hours(chip_ma) / 24.0
    }

    /// Returns a warning where its cells cannot give the pulses of a radio.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let pulse = self.pulse_ma.filter(|it| *it < PEAK_MA)?;
        Some(format!(
            "{} gives pulses of {pulse:.0} mA and a chip that sends draws up to {PEAK_MA:.0} mA: it \
             needs a large capacitor, or another battery",
            self.name
        ))
    }

    /// Describes it with its regulator: `2xAA: 2500 mAh at 2.5 V, boost converter …`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut text = format!("{}: {:.0} mAh", self.name, self.capacity_mah);
        if let Some(volts) = self.volts {
            text.push_str(&format!(" at {volts:.2} V"));
        }
        let own_ua = 1e3 * self.quiescent_ma;
        match self.volts {
            None => {}
            Some(_) if self.is_boosted() => text.push_str(&format!(
                ", boost converter with {:.0} % and {own_ua:.0} uA of its own",
                100.0 * self.efficiency
            )),
            Some(_) => text.push_str(&format!(", linear regulator with {own_ua:.0} uA of its own")),
        }
        if self.self_discharge > 0.0 {
            text.push_str(&format!(", {:.1} % lost a year", 100.0 * self.self_discharge));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn battery(text: &str) -> Battery {
        text.parse().unwrap()
    }

    #[test]
    fn a_charge_lasts_capacity_over_current() {
        let plain = battery("2500mAh");
        assert!((plain.days(0.01) - 2500.0 / 0.01 / 24.0).abs() < 1e-6);
        assert_eq!(plain.warning(), None);
        assert_eq!(plain.words(), "2500mAh: 2500 mAh");
    }

    #[test]
    fn a_low_voltage_is_boosted_and_a_high_one_is_wasted() {
        let two = battery("2xAA");
        // 3.3 W for 3.3 V at 1 A take 1.553 A of 2.5 V at 85 %, and 19 uA.
        assert!((two.gives_ma(1000.0) - (1000.0 * 3.3 / (2.5 * 0.85) + 0.019)).abs() < 1e-9);
        assert!(two.is_boosted() && !battery("3xAA").is_boosted());
        assert_eq!(battery("LiPo-500").gives_ma(10.0), 10.005);
        assert_eq!(battery("LiPo-500").capacity_mah, 500.0);
        assert_eq!(battery("lipo").capacity_mah, 1000.0);
    }

    #[test]
    fn an_unused_battery_is_emptied_by_itself() {
        let years = battery("18650").days(0.0) / 365.25;
        // 24 % a year of 3000 mAh are 82 uA, and 5 uA of the regulator's.
        assert!((years - 3000.0 / (0.005 + 3000.0 * 0.24 / 8766.0) / 8766.0).abs() < 1e-9);
    }

    #[test]
    fn a_coin_cell_is_warned_of() {
        assert!(battery("CR2032").warning().unwrap().contains("15 mA"));
        assert_eq!(battery("CR123A").warning(), None);
    }

    #[test]
    fn what_is_no_battery_is_told() {
        for text in
            ["", "AAAA", "0xAA", "9xAA", "x", "2xx", "mAh", "0mAh", "-5mAh", "nanmAh", "LiPo-"]
        {
            assert!(text.parse::<Battery>().is_err(), "{text}");
        }
        assert!("6xLiPo".parse::<Battery>().unwrap_err().contains("16 V"));
    }
}
