//! The table of results: its columns with their units and meanings, and the value of each in a cell.
//!
//! The head of CSV, the fields of cells in JSON and the table in `docs/data.md` are made of it, and
//! files are read by it. A row is one figure: a metric of a test. So tables of several runs can be put
//! one after the other, and filtered, grouped or pivoted by any column (Wickham, "Tidy data", Journal
//! of Statistical Software 59, 2014).
//!
//! | module | contents |
//! |---|---|
//! | `compared` | columns of comparisons and of a simulator's errors |
//! | `json` | cells in JSON: an object of these fields |
//! | `markdown` | the tables of `docs/data.md` |
//! | `samples` | the tables of raw samples |
//! | `test_row` | columns that tell of which test a sample is |
//! | `value` | values of fields, and their types |

mod compared;
mod json;
mod markdown;
mod samples;
mod test_row;
#[cfg(test)]
mod tests;
mod value;

pub use compared::{
    COMPARED, FurtherColumn, FurtherRows, POWER, TRUTH, compared, errors, power_rows,
};
pub use markdown::{fixed, further, samples, settings};
pub use samples::{SampleColumn, SampleTable};
pub use test_row::{RunColumn, TestRow};
pub(crate) use value::ColumnContent;
pub use value::{ColumnType, ColumnValue};

use crate::cell::{Cell, LabFigure, Origin, PublishedFigure};
use crate::settings::SettingKey;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::ConfigOption;

/// Confidence level of all intervals.
pub const CI_LEVEL: f64 = 0.95;

/// A column of the table of results.
#[derive(Clone, Copy, Debug)]
pub enum ResultColumn {
    /// Column that every file has.
    Fixed(&'static FixedColumn),
    /// Column of a setting.
    Setting(SettingKey),
}

/// A column that every file has.
#[derive(Debug)]
pub struct FixedColumn {
    name: &'static str,
    unit: &'static str,
    field_type: ColumnType,
    doc: &'static str,
    value: fn(&Cell) -> Option<ColumnValue>,
    set: fn(&mut Cell, &ColumnValue) -> bool,
}

/// A place in a cell that holds the value of a column.
trait ColumnPlace {
    fn field(&self) -> Option<ColumnValue>;
    /// Takes a value; answers false where it is of another type, or no word of the list.
    fn put(&mut self, value: &ColumnValue) -> bool;
}

impl<T: ColumnContent> ColumnPlace for Option<T> {
    fn field(&self) -> Option<ColumnValue> {
        self.as_ref().map(T::to_value)
    }

    fn put(&mut self, value: &ColumnValue) -> bool {
        *self = T::from_value(value);
        self.is_some()
    }
}

/// Has places that always hold a value; empty text is none.
macro_rules! plain {
    ($($type:ty)*) => {
        $(impl ColumnPlace for $type {
            fn field(&self) -> Option<ColumnValue> {
                Some(self.to_value()).filter(|it| *it != ColumnValue::Text(String::new()))
            }

            fn put(&mut self, value: &ColumnValue) -> bool {
                Self::from_value(value).map(|it| *self = it).is_some()
            }
        })*
    };
}

plain! { String Origin bool }

/// Makes columns of: name, unit, type, the place in a cell (or two functions, to read and to write),
/// and the meaning.
macro_rules! columns {
    ($($name:literal $unit:literal $type:ident $access:tt $doc:literal)*) => {
        static FIXED: &[FixedColumn] = &[$(FixedColumn {
            name: $name,
            unit: $unit,
            field_type: ColumnType::$type,
            doc: $doc,
            value: columns!(@value $access),
            set: columns!(@set $access),
        },)*];
    };
    (@value (|$cell:ident| $place:expr)) => { |$cell| ColumnPlace::field(&$place) };
    (@set (|$cell:ident| $place:expr)) => { |$cell, value| ColumnPlace::put(&mut $place, value) };
    (@value ($value:expr, $set:expr)) => { $value };
    (@set ($value:expr, $set:expr)) => { $set };
}

columns! {
    "run" "" Text (|cell| own_source(cell, false), set_source)
        "Name of the run, as `espbench runs` lists it; empty in published rows."
    "origin" "" Text (|cell| cell.origin)
        "`measured` on real hosts and devices, `simulated` in the virtual lab, or `published` in a document."
    "suite" "" Text (|cell| cell.test.suite) "Name of the plan."
    "kind" "" Text (|cell| cell.test.kind) "Kind of test, as a plan's `kind` names it."
    "cell" "" Count (|cell| cell.test.number)
        "Number of the test in the run, from 1; with `run` and `repetition` it leads to the samples."
    "repetition" "" Count (|cell| cell.test.repetition)
        "Number of the repetition, from 1; empty where the value is of several."
    "repetitions" "" Count (|cell| cell.test.repetitions) "Repetitions behind the value."
    "trial" "" Count (|cell| cell.test.trial)
        "Number of the trial within the test, from 1, where each has a row of its own (`tcp-rate`)."
    "source" "" Text (|cell| own_source(cell, true), set_source)
        "Document of a published row; empty in others."
    "table" "" Text (|cell| cell.id.table)
        "Published table that the test follows, or else its kind."
    "chip" "" Text (|cell| cell.id.chip) "Device under test: `esp32`, `esp32c3`, `host`."
    "transport" "" Text (|cell| cell.id.transport) "`udp`, `tcp`, `mqtt`, `icmp` or `esp-now`."
    "mode" "" Text (|cell| cell.id.mode)
        "How the device is attached or addressed: `station`, `softap`, `unicast`, `broadcast-3-ack`, `loopback`."
    "metric" "" Text (|cell| cell.id.metric)
        "Quantity and, as its ending, the statistic: `rtt_avg`, `rtt_p99`, `loss`, `throughput_rx`."
    "payload_bytes" "B" Count (|cell| cell.id.payload_bytes)
        "Payload; empty where no one number describes it."
    "devices" "" Count (|cell| cell.id.devices) "Devices, or parallel streams."
    "distance_m" "m" Number (|cell| cell.id.distance_m) "Distance."
    "distance_from_m" "m" Number (|cell| distances(cell, |it| it.0), |cell, value| put_distance(cell, value, |it| &mut it.0))
        "Distance of the nearest of several devices, where they have no one distance."
    "distance_to_m" "m" Number (|cell| distances(cell, |it| it.1), |cell, value| put_distance(cell, value, |it| &mut it.1))
        "Distance of the farthest of them."
    "security" "" Text (|cell| cell.id.security) "`off`, `open`, `wpa2`, `app-data`."
    "environment" "" Text (|cell| cell.id.environment)
        "The place: `office`, `home`, `shield-box`, `loopback`."
    "value" "`unit`" Number (|cell| cell.value) "The figure; empty where it could not be determined."
    "unit" "" Text (|cell| cell.unit)
        "Unit of value, interval, published value and limit: `ms`, `Mbit/s`, `messages/s`, `percent`."
    "ci_low" "`unit`" Number (|cell| cell.ci_low)
        "Lower end of the confidence interval; empty where there is none, or too little to bound it."
    "ci_high" "`unit`" Number (|cell| cell.ci_high) "Upper end of the confidence interval, likewise."
    "ci_level" "" Number (ci_level, |_, value| matches!(value, ColumnValue::Number(_)))
        "Confidence level of the interval; empty where there is none."
    "n" "" Count (|cell| cell.n) "Observations behind the value."
    "probes" "" Count (|cell| cell.test.probes)
        "Probes, messages or datagrams sent or due in the whole test."
    "lost" "" Count (|cell| cell.test.lost) "Those of them that were lost."
    "phy_rate" "" Text (|cell| cell.test.phy_rate)
        "PHY mode of the frames that carried the payload, where it is known and one: `1M`, `54M`, `HT20-MCS7`."
    "phy_rate_bit_per_s" "bit/s" Count (phy_rate, |_, value| matches!(value, ColumnValue::Count(_)))
        "Data rate of that PHY mode."
    "firmware" "" Text (|cell| cell.firmware) "Firmware of the device, where results are told apart by it."
    "esp_now_release" "" Text (|cell| cell.test.esp_now_release) "Release of the esp-now component."
    "idf_release" "" Text (|cell| cell.test.idf_release) "Release of ESP-IDF under that component."
    "seed" "" Count (|cell| cell.test.seed) "Seed of the run."
    "published" "`unit`" Number (|cell| figure(cell, |it| it.value), |cell, value| put(cell, value, |it| &mut it.value))
        "Published value that the row was held against."
    "ratio" "" Number (|cell| figure(cell, |it| it.ratio), |cell, value| put(cell, value, |it| &mut it.ratio))
        "Value / published value; empty where that is of something else."
    "verdict" "" Text (|cell| figure(cell, |it| it.verdict), |cell, value| put(cell, value, |it| &mut it.verdict))
        "Outcome of that comparison: `better`, `worse`, `differs`, `no-difference-shown` or `not-comparable`."
    "lab" "`unit`" Number (|cell| of_lab(cell, |it| it.value), |cell, value| put_lab(cell, value, |it| &mut it.value))
        "Simulated value of the same test, where a run has a lab beside it (`--beside`)."
    "lab_ci_low" "`unit`" Number (|cell| of_lab(cell, |it| it.ci_low), |cell, value| put_lab(cell, value, |it| &mut it.ci_low))
        "Lower end of the simulated value's interval."
    "lab_ci_high" "`unit`" Number (|cell| of_lab(cell, |it| it.ci_high), |cell, value| put_lab(cell, value, |it| &mut it.ci_high))
        "Upper end of it."
    "lab_ratio" "" Number (|cell| of_lab(cell, |it| it.ratio), |cell, value| put_lab(cell, value, |it| &mut it.ratio))
        "Value / simulated value."
    "lab_ratio_low" "" Number (|cell| of_lab(cell, |it| it.ratio_low), |cell, value| put_lab(cell, value, |it| &mut it.ratio_low))
        "Lower end of that ratio's interval."
    "lab_ratio_high" "" Number (|cell| of_lab(cell, |it| it.ratio_high), |cell, value| put_lab(cell, value, |it| &mut it.ratio_high))
        "Upper end of it."
    "lab_verdict" "" Text (|cell| of_lab(cell, |it| it.verdict), |cell, value| put_lab(cell, value, |it| &mut it.verdict))
        "Outcome of that comparison: `as-predicted`, `off` or `unsure`; empty of counts."
    "limit" "`unit`" Number (|cell| cell.limit)
        "Theoretical limit: the air time of the frames that must be sent or, of a rate, the most that it allows."
    "times_limit" "" Number (|cell| cell.times_limit().field(), |_, value| matches!(value, ColumnValue::Number(_)))
        "Value / limit; of a rate limit / value. 2 means twice the time, or half the rate."
    "fitted" "" Flag (|cell| cell.fitted)
        "Whether a constant of the simulator was fitted to that published value."
    "fitted_constant" "" Text (|cell| cell.fitted_constant) "Name of that constant."
    "standing" "" Text (|cell| cell.standing)
        "Of a published value: `fitted`, `neighbour` (a constant was fitted to the next size or the next row of its table) or `independent`."
    "fitted_run" "" Text (|cell| cell.test.fitted_run)
        "Run to whose measurement of this figure a constant of the lab was fitted (`espbench fit`)."
}

/// Columns that a file has only where a row has a value.
const OCCASIONAL: [&str; 10] = [
    "distance_from_m",
    "distance_to_m",
    "lab",
    "lab_ci_low",
    "lab_ci_high",
    "lab_ratio",
    "lab_ratio_low",
    "lab_ratio_high",
    "lab_verdict",
    "fitted_run",
];

/// Settings that have a column in every file.
const USUAL: [SettingKey; 4] =
    [SettingKey::LabVariant, SettingKey::Offered, SettingKey::OfferedBits, SettingKey::Interval];

/// Columns whose field JSON always has, null where it is not known.
const REQUIRED: [&str; 17] = [
    "table",
    "chip",
    "transport",
    "mode",
    "metric",
    "payload_bytes",
    "devices",
    "distance_m",
    "security",
    "environment",
    "value",
    "unit",
    "n",
    "ci_low",
    "ci_high",
    "origin",
    "fitted",
];

/// Returns the source of a cell: of a published one the document, of others the run.
fn own_source(cell: &Cell, published: bool) -> Option<ColumnValue> {
    cell.source.field().filter(|_| (cell.origin == Origin::Published) == published)
}

fn set_source(cell: &mut Cell, value: &ColumnValue) -> bool {
    cell.source.put(value)
}

fn distances(cell: &Cell, end: fn((f64, f64)) -> f64) -> Option<ColumnValue> {
    cell.test.distances_m.map(end).field()
}

/// Puts one end of a range of distances; until the other one is read, it is both.
fn put_distance(
    cell: &mut Cell,
    value: &ColumnValue,
    end: fn(&mut (f64, f64)) -> &mut f64,
) -> bool {
    let ColumnValue::Number(metres) = *value else { return false };
    *end(cell.test.distances_m.get_or_insert((metres, metres))) = metres;
    true
}

fn ci_level(cell: &Cell) -> Option<ColumnValue> {
    (cell.ci_low.is_some() || cell.ci_high.is_some()).then_some(ColumnValue::Number(CI_LEVEL))
}

fn phy_rate(cell: &Cell) -> Option<ColumnValue> {
    cell.test.phy_rate.map(|mode| ColumnValue::Count(u64::from(mode.kbit_s()) * 1000))
}

fn figure<T: ColumnContent>(
    cell: &Cell,
    part: fn(&PublishedFigure) -> Option<T>,
) -> Option<ColumnValue> {
    part(cell.test.published.as_ref()?).field()
}

fn put<T: ColumnContent>(
    cell: &mut Cell,
    value: &ColumnValue,
    part: fn(&mut PublishedFigure) -> &mut Option<T>,
) -> bool {
    part(cell.test.published.get_or_insert_default()).put(value)
}

fn of_lab<T: ColumnContent>(cell: &Cell, part: fn(&LabFigure) -> Option<T>) -> Option<ColumnValue> {
    part(cell.test.lab.as_ref()?).field()
}

fn put_lab<T: ColumnContent>(
    cell: &mut Cell,
    value: &ColumnValue,
    part: fn(&mut LabFigure) -> &mut Option<T>,
) -> bool {
    part(cell.test.lab.get_or_insert_default()).put(value)
}

impl ResultColumn {
    /// Goes through the columns that are of no single test's settings, in their order. Every file has them,
    /// but for [occasional](Self::is_occasional) ones.
    pub fn usual() -> impl Iterator<Item = Self> {
        FIXED.iter().map(Self::Fixed).chain(USUAL.into_iter().map(Self::Setting))
    }

    /// Goes through the columns of further settings, which a file has where a row has a value.
    pub fn further() -> impl Iterator<Item = Self> {
        let others = SettingKey::ALL.iter().copied().filter(|key| !USUAL.contains(key));
        let options = ConfigOption::all().map(SettingKey::Sdkconfig);
        others.chain(options).map(Self::Setting)
    }

    /// Returns the columns of a file with these cells, in their order.
    #[must_use]
    pub fn of(cells: &[Cell]) -> Vec<Self> {
        let is_there = |it: &Self| cells.iter().any(|cell| it.value(cell).is_some());
        let usual = Self::usual().filter(|it| !it.is_occasional() || is_there(it));
        usual.chain(Self::further().filter(is_there)).collect()
    }

    /// Finds a column by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::usual().chain(Self::further()).find(|it| it.name() == name)
    }

    /// Returns the name: in the head of CSV, and of the field in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed(column) => column.name,
            Self::Setting(key) => key.name(),
        }
    }

    /// Returns the unit; empty where there is none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Fixed(column) => column.unit,
            Self::Setting(key) => key.unit(),
        }
    }

    /// Returns the meaning in a sentence.
    #[must_use]
    pub fn doc(self) -> &'static str {
        match self {
            Self::Fixed(column) => column.doc,
            Self::Setting(key) => key.doc(),
        }
    }

    /// Returns the type of the values.
    #[must_use]
    pub const fn field_type(self) -> ColumnType {
        match self {
            Self::Fixed(column) => column.field_type,
            Self::Setting(key) => key.field_type(),
        }
    }

    /// Returns whether JSON always has the field.
    #[must_use]
    pub fn is_required(self) -> bool {
        REQUIRED.contains(&self.name())
    }

    /// Returns whether a file has the column only where a row has a value.
    #[must_use]
    pub fn is_occasional(self) -> bool {
        OCCASIONAL.contains(&self.name())
    }

    /// Returns the value of the column in the row of a cell; `None` is an empty field.
    #[must_use]
    pub fn value(self, cell: &Cell) -> Option<ColumnValue> {
        match self {
            Self::Fixed(column) => (column.value)(cell),
            Self::Setting(key) => cell.settings.get(key).map(|it| it.value()),
        }
    }

    /// Puts a value into a cell; answers false where it is of another type, or no word of the column.
    pub(crate) fn set(self, cell: &mut Cell, value: &ColumnValue) -> bool {
        match self {
            Self::Fixed(column) => (column.set)(cell, value),
            Self::Setting(key) => key.setting(value).map(|it| cell.settings.set(it)).is_some(),
        }
    }
}
