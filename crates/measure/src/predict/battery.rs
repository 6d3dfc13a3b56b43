//! Batteries, and what stands between them and the chip.
//!
//! Cells lose charge by themselves: a share of what is left, so an unused one is never quite empty. With a
//! current `I` and a rate `r` the charge that is left falls as `dQ/dt = -I - r Q`, and the battery is empty
//! after `ln(1 + r Q0 / I) / r`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
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

/// The battery where none is named.
const USUAL: &str = "18650";

/// Chemistry of a cell, as far as it loses charge by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chemistry {
    name: &'static str,
    /// Part of what is left that it loses in a year.
    self_discharge: f64,
    /// Factor by which others publish more, or less.
    doubt: f64,
    source: &'static str,
}

const ALKALINE: Chemistry = Chemistry {
    name: "alkaline",
    self_discharge: 0.025,
    doubt: 1.3,
    source: "Battery University BU-802b: 2 to 3 % a year, as quoted by several shops; Energizer gives its cells 10 \
             years of shelf life",
};
const LITHIUM_MANGANESE: Chemistry = Chemistry {
    name: "lithium-manganese-dioxide",
    self_discharge: 0.015,
    doubt: 1.5,
    source: "Rayovac, Specialty Batteries FAQ: 1.5 % a year for its Li-MnO2 cells; Battery University BU-802b: 10 % in \
             5 years",
};
const LITHIUM_ION: Chemistry = Chemistry {
    name: "lithium-ion",
    self_discharge: 0.24,
    doubt: 1.8,
    source: "Battery University BU-802b: 1 to 2 % a month, and up to 3 % more with a protection circuit; Wikipedia, \
             Self-discharge: 2 to 3 % a month. Here 24 % of what is left in a year, which is 2.3 % a month",
};

/// One kind of cell.
struct CellKind {
    name: &'static str,
    chemistry: Chemistry,
    capacity_mah: f64,
    /// The mean while it is emptied.
    volts: f64,
    /// Largest pulse, in milliamperes.
    pulse_ma: f64,
}

/// Capacities and voltages by datasheet: Energizer E91 (AA) and E92 (AAA) at 25 mA, Energizer 123,
/// Panasonic NCR18650B, CR2032 of Energizer and Panasonic; those of Li-ion are an assumption within what is
/// sold under the name.
const CELLS: [CellKind; 6] = [
    cell("AA", ALKALINE, 2500.0, 1.25, 2000.0),
    cell("AAA", ALKALINE, 1100.0, 1.25, 1000.0),
    cell("CR123A", LITHIUM_MANGANESE, 1500.0, 2.9, 2500.0),
    cell("CR2032", LITHIUM_MANGANESE, 220.0, 2.9, 15.0),
    cell("18650", LITHIUM_ION, 3000.0, 3.6, 6000.0),
    cell("LiPo", LITHIUM_ION, 1000.0, 3.7, 1000.0),
];

const fn cell(
    name: &'static str,
    chemistry: Chemistry,
    capacity_mah: f64,
    volts: f64,
    pulse_ma: f64,
) -> CellKind {
    CellKind { name, chemistry, capacity_mah, volts, pulse_ma }
}

/// A number of the table of cells and regulators, for the list of all constants.
#[derive(Clone, Debug, PartialEq)]
pub struct BatteryConstant {
    /// Name of the constant, with its unit at the end.
    pub key: String,
    /// Value.
    pub value: f64,
    /// Document that has it, or the reason for an assumption.
    pub source: &'static str,
    /// Whether nothing but an assumption stands behind it.
    pub is_assumed: bool,
}

/// Returns all numbers that stand behind the life of a battery.
#[must_use]
pub fn constants() -> Vec<BatteryConstant> {
    let mut all = Vec::new();
    let mut add = |key: String, value, source, is_assumed| {
        all.push(BatteryConstant { key, value, source, is_assumed });
    };
    let sheet = "datasheets: Energizer E91, E92 and 123, Panasonic NCR18650B and CR2032";
    let of_lithium = "an assumption within what is sold under the name";
    for it in &CELLS {
        let is_assumed = it.chemistry == LITHIUM_ION;
        let source = if is_assumed { of_lithium } else { sheet };
        add(format!("battery.{}.capacity_mah", it.name), it.capacity_mah, source, is_assumed);
        add(format!("battery.{}.mean_volts", it.name), it.volts, sheet, false);
        add(format!("battery.{}.pulse_ma", it.name), it.pulse_ma, sheet, false);
    }
    for it in [ALKALINE, LITHIUM_MANGANESE, LITHIUM_ION] {
        let key = format!("battery.{}.self_discharge_percent", it.name);
        add(key, 100.0 * it.self_discharge, it.source, false);
    }
    let boost =
        "an assumption: the usual of the datasheets of MCP1640 and TPS61021A at 50 to 100 mA";
    add("battery.boost.efficiency_percent".into(), 100.0 * BOOST_EFFICIENCY, boost, true);
    let quiescent = "MCP1640 datasheet, quiescent current";
    add("battery.boost.quiescent_ua".into(), 1e3 * BOOST_QUIESCENT_MA, quiescent, false);
    let linear = "HT7333 datasheet, 4 uA, rounded up";
    add("battery.linear.quiescent_ua".into(), 1e3 * LINEAR_QUIESCENT_MA, linear, false);
    all
}

/// Factors by which what is known of a battery may be larger or smaller, at 95 %; 1: somebody has said it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatteryDoubts {
    /// Factor of the charge.
    pub capacity: f64,
    /// Factor of the self-discharge.
    pub self_discharge: f64,
    /// Factor of a boost converter's efficiency.
    pub efficiency: f64,
    /// Factor of the regulator's own current.
    pub quiescent: f64,
}

impl BatteryDoubts {
    /// Nothing is in doubt.
    pub const NONE: Self =
        Self { capacity: 1.0, self_discharge: 1.0, efficiency: 1.0, quiescent: 1.0 };
}

/// Factor of the charge of a cell of the table: makes, temperatures and the voltage at which a device ends.
const CAPACITY_DOUBT: f64 = 1.15;

/// Factor of a boost converter's efficiency: 79 to 92 % for 85 %, as datasheets have it by current and voltage.
const EFFICIENCY_DOUBT: f64 = 1.08;

/// Factor of a regulator's own current: there are some of half and of twice as much.
const QUIESCENT_DOUBT: f64 = 2.0;

/// Current of a battery by what it goes to, in the mean over its life, in milliamperes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatteryDrain {
    /// Current of the chip: with a boost converter, if that lost nothing.
    pub chip_ma: f64,
    /// Current of the regulator: what it takes itself, and what a boost converter loses.
    pub regulator_ma: f64,
    /// Current that the cells lose by themselves.
    pub self_ma: f64,
}

/// A battery with its regulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Battery {
    /// Name as it was typed: `2xAA`.
    pub name: String,
    /// Charge that can be taken, in mAh.
    pub capacity_mah: f64,
    /// The mean voltage while it is emptied; `None`: its charge is taken at the chip's supply.
    pub volts: Option<f64>,
    /// Part of what is left that it loses in a year by itself.
    pub self_discharge: f64,
    /// Part of the energy that a boost converter hands on, where the voltage is below the chip's.
    pub efficiency: f64,
    /// Current that the regulator takes itself, in milliamperes.
    pub quiescent_ma: f64,
    /// Largest pulse that the cells give, in milliamperes; `None`: not known.
    pub pulse_ma: Option<f64>,
    /// How far that is known.
    pub doubts: BatteryDoubts,
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
            self_discharge: kind.chemistry.self_discharge,
            efficiency: if is_low { BOOST_EFFICIENCY } else { 1.0 },
            quiescent_ma: if is_low { BOOST_QUIESCENT_MA } else { LINEAR_QUIESCENT_MA },
            pulse_ma: Some(kind.pulse_ma),
            doubts: BatteryDoubts {
                capacity: CAPACITY_DOUBT,
                self_discharge: kind.chemistry.doubt,
                efficiency: if is_low { EFFICIENCY_DOUBT } else { 1.0 },
                quiescent: QUIESCENT_DOUBT,
            },
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
            doubts: BatteryDoubts::NONE,
        }
    }

    /// Returns the battery where none is named: an 18650.
    #[must_use]
    pub fn usual() -> Self {
        USUAL.parse().unwrap_or_else(|_| Self::plain(USUAL, 3000.0))
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

    /// Returns the part of what is left that it loses in an hour by itself.
    fn lost_an_hour(&self) -> f64 {
        -libm::log1p(-self.self_discharge.clamp(0.0, 0.999_999)) / YEAR_H
    }

    /// Returns how long it lasts, in hours, where the chip draws so much in the mean.
    #[must_use]
    pub fn hours(&self, chip_ma: f64) -> f64 {
        let (given, rate) = (self.gives_ma(chip_ma), self.lost_an_hour());
        if rate <= 0.0 {
            return self.capacity_mah / given;
        }
        libm::log1p(rate * self.capacity_mah / given) / rate
    }

    /// Returns how long it lasts, in days, where the chip draws so much in the mean.
    #[must_use]
    pub fn days(&self, chip_ma: f64) -> f64 {
        self.hours(chip_ma) / 24.0
    }

    /// Returns what its charge goes to where the chip draws so much in the mean.
    #[must_use]
    pub fn drain(&self, chip_ma: f64) -> BatteryDrain {
        let given = self.gives_ma(chip_ma);
        let chip = match self.volts {
            Some(volts) if volts < SUPPLY_V => chip_ma * SUPPLY_V / volts,
            _ => chip_ma,
        };
        let hours = self.hours(chip_ma);
        let loses = self.lost_an_hour() > 0.0 && hours.is_finite();
        let self_ma = if loses { (self.capacity_mah / hours - given).max(0.0) } else { 0.0 };
        BatteryDrain { chip_ma: chip, regulator_ma: given - chip, self_ma }
    }

    /// Returns the name of what stands between it and the chip; `None` where nothing does.
    #[must_use]
    pub fn regulator(&self) -> Option<&'static str> {
        self.volts.map(|_| if self.is_boosted() { "converter" } else { "regulator" })
    }

    /// Returns it as it is if what is in doubt of it differs by so many deviations of a normal distribution.
    #[must_use]
    pub fn deviating(&self, mut deviation: impl FnMut() -> f64) -> Self {
        let doubts = self.doubts;
        let mut by = |factor: f64| super::doubt::factor(factor, deviation());
        Self {
            capacity_mah: self.capacity_mah * by(doubts.capacity),
            self_discharge: (self.self_discharge * by(doubts.self_discharge)).min(0.999_999),
            efficiency: (self.efficiency * by(doubts.efficiency)).min(1.0),
            quiescent_ma: self.quiescent_ma * by(doubts.quiescent),
            ..self.clone()
        }
    }

    /// Says where its cells cannot give the pulses of a radio that draws so much while it sends.
    #[must_use]
    pub fn warning(&self, send_ma: f64) -> Option<String> {
        let drawn = self.gives_ma(send_ma);
        let pulse = self.pulse_ma.filter(|it| *it < drawn)?;
        Some(format!(
            "{} cannot give the pulses: {drawn:.0} mA while the chip sends, and its cells give {pulse:.0} mA. \
             It needs a large capacitor, or another battery",
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
            let percent = 100.0 * self.self_discharge;
            text.push_str(&format!(", loses {percent:.1} % of what is left a year"));
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
        assert_eq!(plain.warning(500.0), None);
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

    /// Without a load nothing but the regulator empties it: half a year of self-discharge is no longer as
    /// much as one at the start.
    #[test]
    fn self_discharge_is_a_share_of_what_is_left() {
        let cell = battery("18650");
        let rate = -libm::log(1.0 - 0.24) / 8766.0;
        let hours = libm::log(1.0 + rate * 3000.0 / (0.032 + 0.005)) / rate;
        assert!((cell.hours(0.032) - hours).abs() < 1e-6);
        // A load of 0.037 mA: 1682 days, and not the 1050 that a constant share of the full charge gives.
        assert!((cell.days(0.032) - 1682.0).abs() < 1.0, "{}", cell.days(0.032));
        // What is drawn and what is lost is the charge.
        let drain = cell.drain(0.032);
        let all = drain.chip_ma + drain.regulator_ma + drain.self_ma;
        assert!((all * hours - 3000.0).abs() < 1e-6);
        assert!(drain.self_ma > drain.chip_ma, "most of it is lost by itself: {drain:?}");
        // Where little is lost, both say the same.
        let coin = battery("CR2032");
        let linear = 220.0 / (coin.gives_ma(0.5) + 220.0 * 0.015 / 8766.0);
        assert!((coin.hours(0.5) / linear - 1.0).abs() < 1e-3);
        // Without self-discharge it is charge over current: 10,200 days for 12.3 uA.
        let kept = Battery { self_discharge: 0.0, ..cell };
        assert!((kept.days(0.0073) - 3000.0 / 0.0123 / 24.0).abs() < 1e-6);
    }

    #[test]
    fn there_is_one_18650() {
        assert_eq!(Battery::usual(), battery("18650"));
    }

    /// 335 mA at 3.3 V are 448 mA of 2.9 V through a converter of 85 %.
    #[test]
    fn a_coin_cell_is_warned_of_with_the_converter_that_the_answer_has() {
        let warning = battery("CR2032").warning(335.0).unwrap();
        assert!(warning.starts_with("CR2032 cannot give the pulses: 448 mA"), "{warning}");
        assert!(warning.contains("15 mA"), "{warning}");
        assert_eq!(battery("CR123A").warning(335.0), None);
        assert_eq!(battery("2500mAh").warning(335.0), None);
    }

    #[test]
    fn a_converter_loses_and_takes_its_own() {
        let drain = battery("2xAA").drain(0.034);
        assert!((drain.chip_ma - 0.034 * 3.3 / 2.5).abs() < 1e-12);
        let lost = 0.034 * 3.3 / 2.5 * (1.0 / 0.85 - 1.0) + 0.019;
        assert!((drain.regulator_ma - lost).abs() < 1e-12);
        assert_eq!(battery("2500mAh").drain(1.0).regulator_ma, 0.0);
    }

    #[test]
    fn every_number_is_among_the_constants_with_a_source() {
        let all = constants();
        for cell in &CELLS {
            let of = |it: &&BatteryConstant| it.key.starts_with(&format!("battery.{}.", cell.name));
            assert_eq!(all.iter().filter(of).count(), 3, "{}", cell.name);
        }
        assert!(all.iter().all(|it| it.value > 0.0 && !it.source.is_empty()));
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
