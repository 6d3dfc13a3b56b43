//! Throughput of the ranks of settings that Espressif's guide recommends, in the lab beside the guide's.

use super::error::TuneError;
use super::lab::{THROUGHPUTS, TuneLab};
use super::setup::TuneSetup;
use crate::measured::{self, MeasuredRow};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::WifiMode;
use espbench_dot11::wifi::DataRates;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::{Metric, Want};
use espbench_model::sdkconfig::{Chip, RANKS, Rank};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::scene::ProgramStyle;

/// A chip whose ranks are simulated, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct RankSetup {
    /// The chip.
    pub chip: Chip,
    /// Name of the lab in the library.
    pub lab: String,
    /// Mode in which router and device send data frames; without, the lab's.
    pub phy_rate: Option<WifiMode>,
    /// Load that UDP offers to the device, in Mbit/s.
    pub offered_mbit_s: f64,
    /// Time for which each throughput is measured.
    pub time: Duration,
    /// Number of seeds; each figure is their mean.
    pub seeds: u32,
}

/// A rank with the throughput that the lab finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedRank {
    /// The rank, with the published throughput.
    pub rank: &'static Rank,
    /// Throughput of TCP sending, TCP receiving, UDP sending and UDP receiving, in Mbit/s.
    pub mbit_s: [f64; 4],
}

impl SimulatedRank {
    /// Returns by how many per cent each simulated figure is above the published one.
    #[must_use]
    pub fn errors_percent(&self) -> [f64; 4] {
        core::array::from_fn(|at| (self.mbit_s[at] / self.rank.mbit_s[at] - 1.0) * 100.0)
    }
}

/// Simulates all ranks of a chip, each with the firmware that it was measured with ([`measured`](crate::measured)), at the fastest
/// clock.
///
/// # Errors
/// The chip has no ranks or no profile; the lab is wrong; the user stopped it.
pub fn simulate_ranks(
    setup: &RankSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<SimulatedRank>, TuneError> {
    let known = || RANKS.iter().map(|it| it.chip);
    if !known().any(|it| it == setup.chip) {
        let mut known: Vec<_> = known().map(|it| it.name()).collect();
        known.dedup();
        return Err(TuneError::NoRanks { chip: setup.chip, known });
    }
    let rows = measured::built_in();
    let row = |rank: &Rank| rows.iter().find(|it| it.is_of(rank));
    let pairs = Rank::of(setup.chip).filter_map(|rank| Some((rank, row(rank)?)));
    pairs.map(|(rank, row)| simulate(rank, row, setup, library, stop)).collect()
}

impl TuneLab {
    /// Lets the device have another profile of its chip, with programs that are written so.
    pub(crate) fn install(&mut self, profile: &Arc<Profile>, program: ProgramStyle) {
        for it in self.scene.devices.iter_mut().take(1) {
            it.profile = profile.clone();
            it.program = program;
        }
    }

    /// Lets router and device send their data frames in these modes.
    fn send_in(&mut self, rates: &DataRates) {
        for it in &mut self.scene.access_points {
            it.rates = rates.clone();
        }
        for it in &mut self.scene.devices {
            it.rates = rates.clone();
        }
    }
}

fn tune_setup(setup: &RankSetup) -> TuneSetup {
    TuneSetup {
        lab: setup.lab.clone(),
        variant: None,
        file: None,
        chip: Some(setup.chip),
        release: None,
        heap: None,
        psram: false,
        rtt: None,
        streams: 1,
        time: setup.time,
        message_every: Duration::from_secs(1),
        battery: Battery::usual(),
        wants: vec![Want {
            metric: Metric::UdpRx,
            value: setup.offered_mbit_s / super::lab::OFFERED,
        }],
        budget: 1,
        seed: 1,
    }
}

/// Simulates a rank with the firmware that it was measured with.
fn simulate(
    rank: &'static Rank,
    row: &MeasuredRow,
    setup: &RankSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<SimulatedRank, TuneError> {
    let mut lab = TuneLab::new(tune_setup(setup), library)?;
    if let Some(mode) = setup.phy_rate {
        lab.send_in(&DataRates::Fixed(mode));
    }
    let candidate = measured::installed(row, &mut lab, library)?;
    let mut sums = [0.0; 4];
    for seed in 0..setup.seeds.max(1) {
        let found = lab.evaluate(&candidate, seed, &THROUGHPUTS, stop)?;
        let found = [found.tcp_tx, found.tcp_rx, found.udp_tx, found.udp_rx];
        for (sum, rate) in sums.iter_mut().zip(found) {
            *sum += rate.unwrap_or(0.0);
        }
    }
    Ok(SimulatedRank { rank, mbit_s: sums.map(|it| it / f64::from(setup.seeds.max(1))) })
}
