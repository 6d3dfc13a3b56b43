//! The lab, the device, and what is wanted of it.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::{RoundTrip, Want};
use espbench_model::sdkconfig::{Chip, IdfRelease, ParsedSdkConfig};

/// An sdkconfig that a search begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneFile {
    /// Name of the file, for people.
    pub name: String,
    /// Contents of the file.
    pub reading: ParsedSdkConfig,
}

/// The lab, the device, what is wanted of it, and how much is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneSetup {
    /// Name of the lab in the library.
    pub lab: String,
    /// Name of its variant; the first one without.
    pub variant: Option<String>,
    /// The firmware to begin with; without, one with the build's defaults.
    pub file: Option<TuneFile>,
    /// Another chip in the place of the variant's device; without, that of the file.
    pub chip: Option<Chip>,
    /// The release of ESP-IDF whose names, ranges and defaults hold; without, that of the file.
    pub release: Option<IdfRelease>,
    /// Heap before Wi-Fi starts, where somebody said it.
    pub heap: Option<u64>,
    /// Whether the board has PSRAM, as somebody said; without, the file's `CONFIG_SPIRAM` says it.
    pub psram: bool,
    /// Round trip to the other side; that of the lab without.
    pub rtt: Option<RoundTrip>,
    /// TCP streams at a time.
    pub streams: u16,
    /// Time for which each throughput is measured.
    pub time: Duration,
    /// Time between two messages while the current is measured.
    pub message_every: Duration,
    /// Battery of the device.
    pub battery: Battery,
    /// Goals.
    pub wants: Vec<Want>,
    /// Evaluations of the search.
    pub budget: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl TuneSetup {
    /// Returns the chip that somebody said, or that of the file.
    #[must_use]
    pub fn chip(&self) -> Option<Chip> {
        self.chip.or_else(|| self.file.as_ref()?.reading.chip)
    }

    /// Returns the release that somebody said, that of the file, or the usual one.
    #[must_use]
    pub fn release(&self) -> IdfRelease {
        let of_file = || self.file.as_ref()?.reading.release;
        self.release.or_else(of_file).unwrap_or_default()
    }
}
