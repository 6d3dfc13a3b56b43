//! Which settings a firmware should have: candidates are tried in the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `error` | reasons for which there is no answer |
//! | `lab` | the lab as what candidates are tried in |
//! | `search` | from wants to the answer |
//! | `setup` | the lab, the device, and what is wanted of it |
//!
//! An answer takes some hundred evaluations. A [`TrialRunner`] makes them: [`InTurn`], or the host's
//! with its threads and its progress. The answer is the same.

mod error;
mod lab;
mod search;
mod setup;

pub use error::TuneError;
pub use lab::TuneLab;
pub use search::{InTurn, TrialRunner, TuneStage, search};
pub use setup::TuneSetup;
