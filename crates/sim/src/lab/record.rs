//! What a test gives back while it runs.

use alloc::string::String;
use espbench_model::sample::Sample;

/// Takes what a test finds.
pub trait Record {
    /// A sample.
    fn sample(&mut self, sample: Sample);
    /// Adds to a counter of the cell.
    fn count(&mut self, name: &str, by: u64);
    /// A finding that is not a number.
    fn fact(&mut self, name: &str, value: String);
    /// Whether to stop; asked often.
    fn cancelled(&self) -> bool {
        false
    }
}
