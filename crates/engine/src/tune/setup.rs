//! The lab, the device, and what is wanted of it.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::tune::Want;
use espbench_model::sdkconfig::{Chip, IdfRelease};

/// The lab, the device, what is wanted of it, and how much is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneSetup {
    /// Name of the lab in the library.
    pub lab: String,
    /// Name of its variant; the first one without.
    pub variant: Option<String>,
    /// Another chip in its place.
    pub chip: Option<Chip>,
    /// The release of ESP-IDF whose names, ranges and defaults hold.
    pub release: Option<IdfRelease>,
    /// Heap before Wi-Fi starts, where somebody said it.
    pub heap: Option<u64>,
    /// Round trip to the other side; that of the lab without.
    pub rtt: Option<Duration>,
    /// TCP streams at a time.
    pub streams: u16,
    /// Time for which each throughput is measured.
    pub time: Duration,
    /// Time between two messages while the current is measured.
    pub message_every: Duration,
    /// Capacity of the battery that can be used, in mAh.
    pub battery_mah: f64,
    /// Goals.
    pub wants: Vec<Want>,
    /// Evaluations of the search.
    pub budget: usize,
    /// Seed of everything random.
    pub seed: u64,
}
