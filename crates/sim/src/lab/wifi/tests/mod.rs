//! Conversations in small labs.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | an ESP and a PC: behind an access point, or with the ESP as access point |
//! | `echo` | UDP echo |
//! | `full` | where something is full |
//! | `heap` | a heap that is small, and one that runs out |
//! | `iperf` | iperf 2 between an ESP32-C3 and a PC |
//! | `join` | how long a chip takes into its network, and for what |
//! | `order` | what a reorder buffer keeps is there when its turn comes |
//! | `power` | what a device draws while nothing is asked of it, beside what ESP-IDF's guide has |
//! | `rooms` | rooms with several routers and many devices |
//! | `shared` | nodes of ESP-NOW and stations of Wi-Fi on one channel |

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
struct KeptRecord {
    samples: Vec<Sample>,
    counts: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
}

impl Record for KeptRecord {
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
