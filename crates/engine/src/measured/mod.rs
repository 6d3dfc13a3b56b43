//! Values that others measured on chips, beside what the lab says of the same settings.
//!
//! `reference/measured.csv` has one value a row, with the settings it was measured with, its source, and what it is worth. The
//! rows are data to fit to, and none is held back; the error of what a fit has not seen is that of [`cross()`].
//!
//! | module | contents |
//! |---|---|
//! | `rows` | the table, and its reader |
//! | `throughput` | rows of throughput: a firmware's settings in the shield box |
//! | `sleep` | rows of currents: a station that nobody asks anything |
//! | `frames` | rows of `esp_now_send` alone |
//! | `fit` | constants that were fitted to rows, and the fit |
//! | `cross` | errors of rows that a fit has not seen |
//! | `errors` | errors by chip and table |

mod cross;
mod errors;
mod fit;
mod frames;
mod rows;
mod sleep;
mod throughput;

pub use cross::{LeftOut, cross, plain};
pub use errors::{
    ErrorSummary, RowError, StoredErrors, built_in_errors, errors_csv, parse_errors, summaries,
};
pub use fit::{MeasuredConstant, MeasuredModel, built_in_constants, parse_constants};
pub use rows::{MeasuredRow, MeasuredTable, built_in, parse};

use crate::tune::TuneError;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use espbench_sim::lab::file::{FileError, Library};
use espbench_sim::lab::run::Livelock;
use espbench_sim::lab::suite::SuiteError;

pub(crate) use throughput::installed;

/// How a row is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredSetup {
    /// Seeds of which a figure is the mean.
    pub seeds: u32,
}

impl MeasuredSetup {
    /// Returns the mean of a figure over the seeds, from 0 on.
    fn mean(self, one: impl FnMut(u32) -> Result<f64, Fault>) -> Result<f64, Fault> {
        let seeds = self.seeds.max(1);
        let values: Vec<f64> = (0..seeds).map(one).collect::<Result<_, _>>()?;
        Ok(values.iter().sum::<f64>() / f64::from(seeds))
    }
}

/// The reason for which a row could not be simulated.
#[derive(Debug)]
pub struct MeasuredError {
    /// The row.
    pub row: String,
    /// Description of the fault.
    pub why: String,
}

impl fmt::Display for MeasuredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "measured.csv, {}: {}", self.row, self.why)
    }
}

impl core::error::Error for MeasuredError {}

/// Simulates a row, and returns the figure in the row's unit.
///
/// # Errors
/// The library lacks a file, or the lab could not carry the row out.
pub fn simulate(
    row: &MeasuredRow,
    setup: MeasuredSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<f64, MeasuredError> {
    let found = match row.table {
        MeasuredTable::Rank | MeasuredTable::RankPsram | MeasuredTable::Best => {
            throughput::simulate(row, setup, library, stop)
        }
        MeasuredTable::Sleep => sleep::simulate(row, setup, library, stop),
        MeasuredTable::EspNow => frames::simulate(row, setup, library, stop),
    };
    found.map_err(|why| MeasuredError { row: row.id.clone(), why: why.0 })
}

/// Description of what went wrong.
struct Fault(String);

impl From<TuneError> for Fault {
    fn from(why: TuneError) -> Self {
        Self(why.to_string())
    }
}

impl From<FileError> for Fault {
    fn from(why: FileError) -> Self {
        Self(why.to_string())
    }
}

impl From<SuiteError> for Fault {
    fn from(why: SuiteError) -> Self {
        Self(why.to_string())
    }
}

impl From<Livelock> for Fault {
    fn from(why: Livelock) -> Self {
        Self(why.to_string())
    }
}
