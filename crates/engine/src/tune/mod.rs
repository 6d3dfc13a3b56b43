//! Which settings a firmware should have: candidates are tried in the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `check` | what the lab adds to a check of an sdkconfig |
//! | `error` | reasons for which there is no answer |
//! | `lab` | the lab as what candidates are tried in |
//! | `limits` | limits of a firmware: windows, the processor, the air, and what the lab does without each |
//! | `search` | from wants to the answer |
//! | `setup` | the lab, the device, and what is wanted of it |
//!
//! An answer takes some hundred evaluations. A [`TrialRunner`] makes them: [`InTurn`], or the host's
//! with its threads and its progress. The answer is the same.

mod check;
mod error;
mod lab;
mod limits;
mod search;
mod setup;
#[cfg(test)]
mod tests;

pub use check::simulate;
pub use error::TuneError;
pub use lab::TuneLab;
pub use search::{InTurn, TrialRunner, TuneStage, search};
pub use setup::{TuneFile, TuneSetup};
