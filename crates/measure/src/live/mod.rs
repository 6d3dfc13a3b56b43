//! A cell while it is measured: counts and figures of the samples so far, in bounded memory. The result
//! is computed from all samples again, by [`summary`](crate::summary).

pub mod event;
mod histogram;
mod meter;
mod pace;
mod tally;

pub use histogram::Histogram;
pub use meter::{Meter, StreamCounts, Times};
pub use pace::{Pace, Present, WorkTime};
pub use tally::FateCounts;
