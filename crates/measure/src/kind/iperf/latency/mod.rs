//! Echo probes around an iperf test: their keys, and what is made of them.

pub(super) mod figure;
pub(super) mod summary;
pub(super) mod table;

use crate::plan::{Scalar, latency_by, print_latency, quoted};
use crate::units::print_duration;
use alloc::string::String;
use espbench_model::workload::Latency;

/// Sets a key; the first one that is named brings the probes with it.
pub(super) fn set(latency: &mut Option<Latency>, key: &str, value: &Scalar) -> Result<(), String> {
    let probes = latency.get_or_insert(Latency::DEFAULT);
    match key {
        "latency" => probes.by = latency_by(value.text()?)?,
        "latency_idle" => probes.idle = value.duration()?,
        _ => probes.interval = value.duration()?,
    }
    Ok(())
}

/// Prints a key's value.
pub(super) fn get(latency: Latency, key: &str) -> String {
    match key {
        "latency" => quoted(&print_latency(latency.by)),
        "latency_idle" => quoted(&print_duration(latency.idle)),
        _ => quoted(&print_duration(latency.interval)),
    }
}
