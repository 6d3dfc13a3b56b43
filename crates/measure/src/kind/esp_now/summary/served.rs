//! Services that one device gives to many: firmware, the key, a network's credentials.

use super::out::EspNowCells;
use crate::run::Recorded;
use crate::series;
use alloc::format;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Sample};
use espbench_model::workload::EspNowTest;
use espbench_stats::Estimate;
use espbench_stats::interval::mean;
use espbench_stats::quantile::Sorted;

/// Times from the start until all devices were served.
pub(crate) const TIMES_FOR_ALL: [&str; 4] =
    ["ota_time", "ota_time_exact", "handshake_time", "provisioning_time"];

/// Adds the time that the document gives, how many devices were served, and when each one was.
pub(super) fn served(out: &mut EspNowCells<'_>, test: EspNowTest, recorded: &Recorded) {
    let total = recorded.samples.iter().find_map(|sample| match sample {
        Sample::Interval(interval) if interval.total => Some(interval),
        _ => None,
    });
    let Some(total) = total else { return };
    let seconds = series::span(total).as_secs_f64();
    let (served, missed) = (total.datagrams.unwrap_or(0), total.lost.unwrap_or(0));
    let one = |value| Estimate::exact(value, 1);
    let (metric, value, note) = match test {
        // The console prints whole seconds, and of a handshake whole milliseconds.
        EspNowTest::Ota => ("ota_time", libm::floor(seconds), "printed in whole seconds, cut"),
        EspNowTest::Handshake => {
            ("handshake_time", libm::floor(seconds * 1000.0) / 1000.0, "with its scan")
        }
        _ => ("provisioning_time", seconds, "until the last device's light"),
    };
    let partly = format!(
        "the time until all are served is not known: {missed} of {} devices not served",
        served + missed
    );
    // The time for a part is not that for all: nothing published is held against it.
    let mut time = |metric, value, note| match missed {
        0 => out.push(metric, "s", one(value), note),
        _ => out.push(metric, "s", Estimate::default(), Some(&partly)),
    };
    if test == EspNowTest::Ota {
        time("ota_time_exact", seconds, None);
    }
    time(metric, value, Some(note));
    let devices = served + missed;
    out.exact("devices_served", "devices", served as f64, devices);
    let times = device_times(recorded, total);
    let sorted = Sorted::new(times.clone());
    let note = Some("from the start until the device was served");
    out.push("device_time_min", "s", sorted.min(), note);
    // They are served together, so their scatter is no measure of another run's mean.
    let average = Estimate { value: mean(&times), n: times.len() as u64, ..Estimate::default() };
    out.push("device_time_avg", "s", average, note);
    out.push("device_time_max", "s", sorted.max(), note);
}

fn device_times(recorded: &Recorded, total: &Interval) -> Vec<f64> {
    series::delivered(recorded)
        .filter_map(|probe| Some(probe.received?.since(total.start).as_secs_f64()))
        .collect()
}
