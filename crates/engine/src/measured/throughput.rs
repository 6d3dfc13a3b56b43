//! Rows of throughput: a firmware with the row's settings sends and receives as fast as it can, in the shield box.

use super::rows::MeasuredRow;
use super::{Fault, MeasuredSetup};
use crate::tune::{TuneLab, TuneSetup};
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::{Candidate, Metric, Power, Want};
use espbench_model::sdkconfig::{self, ParsedSdkConfig, SdkContext};
use espbench_sim::lab::file::Library;

/// The room.
const LAB: &str = "shield-box";

/// Load that UDP offers to the device, in Mbit/s: more than any of these chips receives.
const OFFERED_MBIT_S: f64 = 120.0;

/// Time for which each throughput is measured.
const TIME: Duration = Duration::from_secs(3);

/// Returns the row's settings as an sdkconfig is read.
fn settings(row: &MeasuredRow) -> Result<ParsedSdkConfig, Fault> {
    let lines = row.settings.split(' ').filter(|it| !it.is_empty());
    let text: String = lines.map(|it| format!("CONFIG_{it}\n")).collect();
    sdkconfig::read(&text).map_err(|why| Fault(format!("{why}")))
}

fn tune_setup(row: &MeasuredRow) -> TuneSetup {
    TuneSetup {
        lab: LAB.into(),
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
        wants: [Want { metric: Metric::UdpRx, value: OFFERED_MBIT_S }].into(),
        budget: 1,
        seed: 1,
    }
}

/// Returns the throughput in Mbit/s.
pub(super) fn simulate(
    row: &MeasuredRow,
    setup: MeasuredSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<f64, Fault> {
    let given = settings(row)?.settings;
    let context = given.context(SdkContext { chip: row.chip, ..SdkContext::default() });
    let lab = TuneLab::new(tune_setup(row), library)?;
    let candidate = Candidate {
        config: given.config(&context).resolved(&context),
        clock_mhz: lab.fastest_mhz(),
        power: Power::Awake,
    };
    let metric = match &*row.metric {
        "tcp-tx" => Metric::TcpTx,
        "tcp-rx" => Metric::TcpRx,
        "udp-tx" => Metric::UdpTx,
        "udp-rx" => Metric::UdpRx,
        other => return Err(Fault(format!("`{other}` is no throughput"))),
    };
    let mut sum = 0.0;
    for seed in 0..setup.seeds.max(1) {
        let found = lab.evaluate(&candidate, seed, &[metric], stop)?;
        sum += found.value(metric).unwrap_or_default();
    }
    Ok(sum / f64::from(setup.seeds.max(1)))
}
