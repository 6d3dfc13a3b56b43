//! Searches: for the highest rate without loss, and for the largest fleet that keeps its limits.

pub mod fleet;

pub use espbench_model::search::{REPETITIONS, RESOLUTION, RateSearch};
