//! A cell while it is measured: counts and figures of the samples so far, in bounded memory. The result
//! is computed from all samples again, by [`summary`](crate::summary).

mod pace;
mod tally;

pub use pace::{Pace, Present, Span};
pub use tally::Tally;
