//! Rows of throughput: a firmware with the row's settings sends and receives as fast as it can, in the shield box.

use super::rows::MeasuredRow;
use super::{Fault, MeasuredSetup};
use crate::tune::{TuneLab, TuneSetup};
use alloc::format;
use core::time::Duration;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::{Candidate, Metric, Power, Want};
use espbench_model::sdkconfig::{IdfRelease, SdkContext};
use espbench_sim::lab::file::{FileError, Library};
use espbench_sim::lab::scene::ProgramStyle;

/// Throughput that is wanted of UDP towards the device, in Mbit/s: more than any of these chips receives. A tenth more is
/// offered.
const WANTED_MBIT_S: f64 = 120.0;

/// Time for which each throughput is measured.
const TIME: Duration = Duration::from_secs(3);

fn tune_setup(row: &MeasuredRow) -> TuneSetup {
    TuneSetup {
        lab: row.table.lab().into(),
        variant: None,
        file: None,
        chip: Some(row.chip),
        release: None,
        heap: None,
        psram: false,
        rtt: None,
        streams: 1,
        time: TIME,
        message_every: Duration::from_secs(1),
        battery: Battery::usual(),
        wants: [Want { metric: Metric::UdpRx, value: WANTED_MBIT_S }].into(),
        budget: 1,
        seed: 1,
    }
}

/// Lets the device have the row's firmware, and returns that at the chip's fastest clock.
pub(crate) fn installed(
    row: &MeasuredRow,
    lab: &mut TuneLab,
    library: &Library,
) -> Result<Candidate, FileError> {
    let (given, release) = (row.firmware.settings, row.firmware.release.unwrap_or_default());
    let context = given.context(SdkContext { chip: row.chip, release, ..SdkContext::default() });
    let is_v4 = release < IdfRelease::new(5, 0);
    let program = if is_v4 { ProgramStyle::PlainV4 } else { ProgramStyle::Plain };
    lab.install(&library.profile(&row.profile)?, program);
    Ok(Candidate {
        config: given.config(&context).resolved(&context),
        clock_mhz: lab.fastest_mhz(),
        power: Power::Awake,
    })
}

/// Returns the throughput in Mbit/s.
pub(super) fn simulate(
    row: &MeasuredRow,
    setup: MeasuredSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<f64, Fault> {
    let mut lab = TuneLab::new(tune_setup(row), library)?;
    let candidate = installed(row, &mut lab, library)?;
    let metric = match &*row.metric {
        "tcp-tx" => Metric::TcpTx,
        "tcp-rx" => Metric::TcpRx,
        "udp-tx" => Metric::UdpTx,
        "udp-rx" => Metric::UdpRx,
        other => return Err(Fault(format!("`{other}` is no throughput"))),
    };
    setup.mean(|seed| {
        let found = lab.evaluate(&candidate, seed, &[metric], stop)?;
        Ok(found.value(metric).unwrap_or_default())
    })
}
