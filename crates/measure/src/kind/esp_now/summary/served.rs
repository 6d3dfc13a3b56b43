//! Services that one device gives to many: firmware, the key, a network's credentials.

use super::out::EspNowCells;
use crate::cell::Estimate;
use crate::interval::mean;
use crate::quantile::Sorted;
use crate::run::Recorded;
use crate::series;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Sample};
use espbench_model::workload::EspNowTest;

/// Adds the time that the document gives, how many devices were served, and when each one was.
pub(super) fn served(out: &mut EspNowCells<'_>, test: EspNowTest, recorded: &Recorded) {
    let total = recorded.samples.iter().find_map(|sample| match sample {
        Sample::Interval(interval) if interval.total => Some(interval),
        _ => None,
    });
    let Some(total) = total else { return };
    let seconds = series::span(total).as_secs_f64();
    let (served, missed) = (total.datagrams.unwrap_or(0), total.lost.unwrap_or(0));
    let unserved = if missed > 0 {
        format!("; not served: {}", crate::label::devices(missed))
    } else {
        String::new()
    };
    let one = |value| Estimate::exact(value, 1);
    match test {
        EspNowTest::Ota => {
            let note = format!("printed in whole seconds, cut{unserved}");
            out.push("ota_time", "s", one(libm::floor(seconds)), Some(&note));
            out.exact("ota_time_exact", "s", seconds, 1);
        }
        EspNowTest::Handshake => {
            let note = format!("with its scan{unserved}");
            // The console prints whole milliseconds.
            let cut = libm::floor(seconds * 1000.0) / 1000.0;
            out.push("handshake_time", "s", one(cut), Some(&note));
        }
        _ => {
            let note = format!("until the last device's light{unserved}");
            out.push("provisioning_time", "s", one(seconds), Some(&note));
        }
    }
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
