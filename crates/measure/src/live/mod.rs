//! A cell while it is measured: counts and figures of the samples so far, in bounded memory. The result
//! is computed from all samples again, by [`summary`](crate::summary).
//!
//! | module | contents |
//! |---|---|
//! | [`event`] | events while a run goes: one value for each line of `--format jsonl` |
//! | `figures` | figures so far, each under the metric of the summary that it becomes |
//! | `histogram` | quantiles of times as they come, in bounded memory |
//! | `meter` | the figures of a cell so far |
//! | `pace` | how far work has come, and how long the rest will take |
//! | `rates` | rates of a cell so far, by the definitions of the summaries |
//! | `tally` | what became of the probes of a cell so far, and whether anything was measured at all |

pub mod event;
pub(crate) mod figures;
mod histogram;
mod meter;
mod pace;
mod rates;
mod tally;
#[cfg(test)]
mod tests;

pub use figures::LiveFigure;
pub use histogram::Histogram;
pub use meter::{Meter, StreamCounts, Times};
pub use pace::{Pace, Present, WorkTime};
pub(crate) use tally::loss_of;
pub use tally::{FateCounts, LateProbes};
