//! Keys of the echo probes around an iperf test.

use super::{DAY, MILLISECOND};
use crate::plan::print::quoted;
use crate::plan::read::Scalar;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use espbench_model::workload::{Latency, LatencyBy};

/// Port of the UDP echo of the published sketch, and of `espbench respond`.
pub const ECHO_PORT: u16 = 10_000;

/// Sets a key; the first one that is named brings the probes with it.
pub(super) fn set(latency: &mut Option<Latency>, key: &str, value: &Scalar) -> Result<(), String> {
    let probes = latency.get_or_insert(Latency::DEFAULT);
    match key {
        "latency" => probes.by = by(value.text()?)?,
        "latency_idle" => probes.idle = value.duration(MILLISECOND..=DAY)?,
        _ => probes.interval = value.duration(MILLISECOND..=DAY)?,
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

/// Reads `icmp`, `udp` or `udp:PORT`.
///
/// # Errors
/// A sentence that names them.
pub fn by(text: &str) -> Result<LatencyBy, String> {
    let wrong = || format!("`{text}` is no way to probe: use icmp, udp or udp:PORT");
    match text.split_once(':') {
        None if text == "icmp" => Ok(LatencyBy::Icmp),
        None if text == "udp" => Ok(LatencyBy::Udp(ECHO_PORT)),
        Some(("udp", port)) => {
            let port: u16 = port.parse().map_err(|_| wrong())?;
            if port == 0 { Err(wrong()) } else { Ok(LatencyBy::Udp(port)) }
        }
        _ => Err(wrong()),
    }
}

/// Prints what [`by`] reads.
#[must_use]
pub fn print_latency(by: LatencyBy) -> String {
    match by {
        LatencyBy::Icmp => "icmp".to_string(),
        LatencyBy::Udp(port) => format!("udp:{port}"),
    }
}
