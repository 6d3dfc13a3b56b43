//! Samples to result cells. Those of each kind of test are made in its folder; here is what kinds share.

pub(crate) mod round_trips;

use crate::cell::{Cell, Identity, Origin};
use crate::kind;
use crate::run::{Recorded, Site};
use crate::settings::Settings;
use crate::wifi;
use alloc::vec::Vec;
use espbench_model::random;
use espbench_stats::Estimate;

/// Counter of a cell in which this host sent over TCP: octets that were written and that the peer had
/// not taken when the sender stopped, summed over streams or runs.
pub const IN_FLIGHT: &str = "in-flight-at-end";
/// The metric made of it.
pub(crate) const IN_FLIGHT_END: &str = "in_flight_end";

/// Facts that a summary needs besides the samples.
#[derive(Clone, Copy, Debug)]
pub struct SummaryContext<'a> {
    /// The device and the place.
    pub site: &'a Site,
    /// Measured or simulated.
    pub origin: Origin,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl SummaryContext<'_> {
    /// Returns the seed of a recorded cell's resamples.
    pub(crate) fn seed_of_cell(&self, recorded: &Recorded) -> u64 {
        self.seed_of(u64::from(recorded.ordinal) << 32 | u64::from(recorded.repetition))
    }

    /// Returns a seed for each test by its number, so that no two tests share their resamples.
    pub(crate) fn seed_of(&self, number: u64) -> u64 {
        let mut state = self.seed;
        random::split_mix(&mut state) ^ number
    }

    /// Makes a cell of `estimate`, with the identity columns that the site knows.
    #[must_use]
    pub fn cell(
        &self,
        place: &CellColumns<'_>,
        metric: &str,
        unit: &str,
        estimate: Estimate,
    ) -> Cell {
        debug_assert!(!unit.is_empty(), "{metric} has no unit, and no reader takes it");
        let id = Identity {
            table: place.table.into(),
            chip: self.site.chip.clone(),
            transport: place.transport.into(),
            mode: self.site.mode.clone(),
            metric: metric.into(),
            payload_bytes: place.payload_bytes,
            devices: Some(place.devices),
            distance_m: self.site.distance_m,
            security: self.site.security.clone(),
            environment: self.site.environment.clone(),
        };
        Cell { settings: place.settings.clone(), ..Cell::of(estimate, id, unit, self.origin) }
    }
}

/// The identity columns that a workload knows.
#[derive(Clone, Debug)]
pub struct CellColumns<'a> {
    /// The table.
    pub table: &'a str,
    /// The transport.
    pub transport: &'a str,
    /// Payload in bytes, where one number describes it.
    pub payload_bytes: Option<u32>,
    /// Devices or parallel streams.
    pub devices: u32,
    /// Settings beyond the identity columns.
    pub settings: Settings,
}

/// Returns the result cells of one recorded cell.
#[must_use]
pub fn summarize(recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
    let mut cells = kind::of(&recorded.workload).summarize(recorded, context);
    let power = wifi::power::cells(recorded, &cells);
    cells.extend(power);
    let heap = wifi::heap::cells(recorded, cells.first());
    cells.extend(heap);
    wifi::told(recorded, &mut cells);
    cells
}
