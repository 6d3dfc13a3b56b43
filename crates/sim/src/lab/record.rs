//! Port through which a test gives back its results while it runs.

use alloc::string::String;
use espbench_model::sample::Sample;

/// Takes what a test finds.
pub trait Record {
    /// Takes a sample.
    fn sample(&mut self, sample: Sample);
    /// Adds to a counter of the cell.
    fn count(&mut self, name: &str, by: u64);
    /// Takes a finding that is not a number.
    fn fact(&mut self, name: &str, value: String);
    /// Returns whether to stop; asked often.
    fn cancelled(&self) -> bool {
        false
    }
}
