//! A cell while it is measured: counts and figures of the samples so far, in bounded memory. The result
//! is computed from all samples again, by [`summary`](crate::summary).
//!
//! | module | contents |
//! |---|---|
//! | [`event`] | events while a run goes: one value for each line of `--format jsonl` |
//! | `histogram` | quantiles of times as they come, in bounded memory |
//! | `meter` | the figures of a cell so far |
//! | `pace` | how far work has come, and how long the rest will take |
//! | `tally` | what became of the probes of a cell so far, and whether anything was measured at all |

pub mod event;
mod histogram;
mod meter;
mod pace;
mod tally;

pub use histogram::Histogram;
pub use meter::{Meter, StreamCounts, Times};
pub use pace::{Pace, Present, WorkTime};
pub use tally::FateCounts;
