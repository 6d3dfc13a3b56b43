//! Rows of `esp_now_send` without the component, by addressing, PHY rate, and whether a call waits for the callback.

use super::rows::MeasuredRow;
use super::{Fault, MeasuredSetup};
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::overrides::LabOverrides;
use espbench_model::sample::{Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{Name, RawEspNow, Workload};
use espbench_sim::lab::file::{FileKind, Library};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{self, Seeds};
use espbench_stats::quantile::Sorted;

/// Bytes of each frame's body.
const BYTES: u32 = 250;

/// Time for which calls are counted that the driver takes.
const COUNTED: Duration = Duration::from_secs(1);

/// Frames of ESP-NOW that the driver of ESP-IDF v3.3 takes before it has sent them, as the rows of `-free` show: at each rate they
/// are as far apart as where the calls wait.
const FRAMES_OF_V3: f64 = 1.0;

/// Probes of a test.
struct Probes<'s> {
    probes: Vec<Probe>,
    stop: &'s dyn Fn() -> bool,
}

impl Record for Probes<'_> {
    fn sample(&mut self, sample: Sample) {
        if let Sample::Probe(probe) = sample {
            self.probes.push(probe);
        }
    }

    fn count(&mut self, _: &str, _: u64) {}

    fn fact(&mut self, _: &str, _: alloc::string::String) {}

    fn cancelled(&self) -> bool {
        (self.stop)()
    }
}

/// Returns the test of a row.
fn workload(row: &MeasuredRow) -> Result<RawEspNow, Fault> {
    let wrong = || Fault(format!("`{}` is no addressing with a rate", row.variant));
    let (cast, rest) = row.variant.split_once('-').ok_or_else(wrong)?;
    let (rate, calls) = rest.rsplit_once('-').ok_or_else(wrong)?;
    let phy_rate = Some(Name::new(rate).ok_or_else(wrong)?);
    Ok(RawEspNow {
        is_broadcast: cast == "broadcast",
        size: BYTES,
        count: if calls == "accepted" { 5000 } else { 1000 },
        awaits_callback: calls == "wait",
        distance_m: 1.0,
        lab: LabOverrides { phy_rate, ..LabOverrides::NONE },
    })
}

/// Returns the median from one frame's arrival to the next, in microseconds, or the bytes of the calls that the driver
/// took in a second.
pub(super) fn simulate(
    row: &MeasuredRow,
    setup: MeasuredSetup,
    library: &Library,
    stop: &dyn Fn() -> bool,
) -> Result<f64, Fault> {
    let work = Workload::RawEspNow(workload(row)?);
    let mut library = library.clone();
    if row.variant.ends_with("-free") {
        library.tune(FileKind::Profile, &row.profile, "buffers.tx", FRAMES_OF_V3)?;
    }
    setup.mean(|seed| {
        let mut kept = Probes { probes: Vec::new(), stop };
        suite::run(&work, &library, None, Seeds::both(1 + u64::from(seed)), &mut kept)?;
        Ok(match &*row.metric {
            "accepted" => accepted(&kept.probes),
            _ => interarrival(&kept.probes),
        })
    })
}

fn interarrival(probes: &[Probe]) -> f64 {
    let mut arrivals: Vec<Instant> = probes.iter().filter_map(|it| it.received).collect();
    arrivals.sort_unstable();
    let gaps = arrivals.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() * 1e6);
    Sorted::new(gaps.collect()).quantile(0.5).value.unwrap_or_default()
}

fn accepted(probes: &[Probe]) -> f64 {
    let begins = probes.iter().map(|it| it.due).min().unwrap_or(Instant::ZERO);
    let taken = probes.iter().filter_map(|it| it.queued);
    let within = taken.filter(|it| it.since(begins) < COUNTED).count();
    within as f64 * f64::from(BYTES)
}
