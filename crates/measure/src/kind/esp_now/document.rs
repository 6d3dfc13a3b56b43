//! Cells of Espressif's ESP-NOW test report, as published.

use super::KIND;
use crate::cell::{Cell, Identity};
use crate::kind::around;
use crate::metric::{self, Statistic};
use crate::truth::CellGroup;

/// The document.
const SOURCE: &str = "espressif-esp-now-report";

/// Returns whether a published cell is one of the report.
pub(super) fn publishes(cell: &Cell) -> bool {
    cell.source.as_deref() == Some(SOURCE)
}

/// Returns the group of a cell of the report.
pub(super) fn group(id: &Identity) -> CellGroup {
    match metric::parse(&id.metric) {
        (_, Statistic::Min) => CellGroup::Minima,
        (_, Statistic::Max) => CellGroup::Maxima,
        ("packets_lost" | "packets_total", _) => CellGroup::Others,
        ("loss", _) if id.table != "multi-device-round-trip" => CellGroup::Others,
        _ => CellGroup::Middle,
    }
}

/// Returns the metric of ours that has not the console's rounding.
pub(super) fn exact(metric: &str) -> Option<&'static str> {
    Some(match metric {
        "rtt_avg" => "rtt_exact_avg",
        "rtt_min" => "rtt_exact_min",
        "rtt_max" => "rtt_exact_max",
        "throughput" => "throughput_sent",
        "encrypt_time" => "encrypt_time_exact",
        "decrypt_time" => "decrypt_time_exact",
        "ota_time" => "ota_time_exact",
        _ => return None,
    })
}

/// Returns the metric of ours that is held against a published one. Means of round trips are of times that
/// the console had cut, and so are those of the document.
pub(super) fn unrounded(metric: &str) -> Option<&'static str> {
    exact(metric).filter(|_| metric != "rtt_avg")
}

/// Returns the decimals of a figure that a console has printed: it has no more digits than these.
pub(crate) fn decimals(cell: &Cell) -> Option<usize> {
    let is_single = cell.ci_low.is_none() && cell.ci_high.is_none();
    if !is_single || cell.id.transport != KIND {
        return None;
    }
    match cell.id.metric.as_str() {
        "rtt_min" | "rtt_max" | "encrypt_time" | "decrypt_time" | "ota_time" => Some(0),
        "throughput" => Some(2),
        "handshake_time" => Some(3),
        _ => None,
    }
}

/// Returns the smallest and the largest value that the document prints as `value`.
///
/// Extremes of round trips, times of encryption and of updates are whole numbers that the console
/// cut. What it prints with two decimals, it rounds; the oscilloscope's readings have two, too.
/// Handshakes are given to 0.1 s, and the authors timed provisioning by eye, to the second.
pub(super) fn printed(metric: &str, value: f64) -> (f64, f64) {
    match metric {
        "rtt_min" | "rtt_max" | "encrypt_time" | "decrypt_time" | "ota_time" => {
            (value, value + 1.0)
        }
        "packets_lost" | "packets_total" => (value, value),
        "handshake_time" => around(value, 0.05),
        "provisioning_time" => around(value, 0.5),
        _ => around(value, 0.005),
    }
}
