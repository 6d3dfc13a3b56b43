//! Searches: for the highest rate without loss, and for the largest fleet that keeps its limits.

pub mod fleet;

pub use espbench_proto::search::{REPETITIONS, RESOLUTION, RateSearch};
