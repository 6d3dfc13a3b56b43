//! Conversations in small labs.

mod bench;
mod echo;
mod full;
mod heap;
mod iperf;
mod join;
mod order;
mod power;
mod rooms;
mod shared;

use crate::lab::record::Record;
use espbench_model::sample::Sample;
use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

/// Keeps what a cell tells.
#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    counts: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
}

impl Record for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counts.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }
}
