//! Which settings a firmware should have: candidates are tried in the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `check` | what the lab adds to a check of an sdkconfig |
//! | `error` | reasons for which there is no answer |
//! | `fastest` | firmware as fast as its memories can be |
//! | `lab` | the lab as what candidates are tried in |
//! | `limits` | limits of a firmware: windows, the processor, the air, and what the lab does without each |
//! | `ranks` | the ranks of settings of Espressif's guide in the lab, beside the guide's figures |
//! | `search` | from wants to the answer |
//! | `setup` | the lab, the device, and what is wanted of it |
//!
//! An answer takes some hundred evaluations. A [`TrialRunner`] makes them: [`InTurn`], or the host's
//! with its threads and its progress. The answer is the same.

mod check;
mod error;
mod fastest;
mod lab;
mod limits;
mod ranks;
mod search;
mod setup;
#[cfg(test)]
mod tests;

pub use check::simulate;
pub use error::TuneError;
pub use lab::TuneLab;
pub use ranks::{RankSetup, SimulatedRank, simulate_ranks};
pub use search::{InTurn, TrialRunner, TuneStage, search};
pub use setup::{TuneFile, TuneSetup};
