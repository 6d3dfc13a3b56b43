//! Port through which a test gives back its results while it runs.

use alloc::string::{String, ToString as _};
use core::fmt::Display;
use espbench_model::fact::TypedFact;
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

impl dyn Record + '_ {
    /// Takes a finding whose name says the type of its value.
    pub fn typed<T: Display>(&mut self, fact: TypedFact<T>, value: T) {
        let (name, value) = fact.of(value);
        self.fact(name, value.to_string());
    }
}

/// Record of a test in memory.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct KeptRecord {
    pub(crate) samples: alloc::vec::Vec<Sample>,
    pub(crate) counters: alloc::collections::BTreeMap<String, u64>,
    pub(crate) facts: alloc::collections::BTreeMap<String, String>,
    /// Whether the test is told to stop.
    pub(crate) stop: bool,
}

#[cfg(test)]
impl Record for KeptRecord {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }

    fn cancelled(&self) -> bool {
        self.stop
    }
}
