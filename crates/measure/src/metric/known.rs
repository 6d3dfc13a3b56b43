//! The names of all metrics, so that a slip of the pen is told before hours are measured.

use super::parse;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::text::meant;

/// Quantities, and how their metrics' names end.
const METRICS: &[(&[&str], &[&str])] = &[
    (
        &["rtt", "rtt_exact", "response", "latency"],
        &["_avg", "_max", "_min", "_p50", "_p90", "_p99", "_p999"],
    ),
    (
        &[
            "stage_enqueue",
            "stage_write",
            "stage_ack",
            "stage_subscriber",
            "rtt_kernel",
            "interarrival",
        ],
        &["_p50", "_p90", "_p99", "_max"],
    ),
    (
        &["connect", "connect_tcp", "connect_tls", "connect_websocket", "connect_mqtt"],
        &["_p50", "_p90", "_p99", "_max"],
    ),
    (&["interarrival"], &["_p05", "_p95", "_avg"]),
    (&["callback_time", "hop_time"], &["_p50", "_p99"]),
    (&["hops_reached"], &["_avg"]),
    (&["connect_rate", "client_fairness"], &[""]),
    (&["rtt"], &["_3sigma", "_6sigma"]),
    (&["rtt_idle", "rtt_loaded", "rtt_added"], &["_p50", "_p95", "_p99"]),
    (&["loss"], &["_idle", "_loaded", "_of_offered"]),
    (&["packets"], &["_refused"]),
    (&["rtt", "latency", "device_rtt", "message_rate"], &["_stddev"]),
    (
        &["throughput", "throughput_rx", "throughput_tx", "throughput_sent", "throughput_received"],
        &["", "_best_second"],
    ),
    (
        &[
            "loss",
            "jitter",
            "packets_lost",
            "packets_total",
            "packets_out_of_order",
            "packets_duplicate",
        ],
        &["", "_rx", "_tx"],
    ),
    (
        &["message_rate"],
        &[
            "",
            "_avg",
            "_min",
            "_max",
            "_offered",
            "_reliable",
            "_acked_avg",
            "_sent_avg",
            "_station",
        ],
    ),
    (&["messages"], &["_lost", "_duplicate", "_out_of_order", "_corrupt"]),
    (&["probes"], &["_late", "_duplicate", "_corrupt"]),
    (&["join_time"], &["_avg", "_min", "_p50", "_p99", "_max"]),
    (&["scan_time", "authentication_time", "association_time", "handshake_time"], &["_avg"]),
    (&["device_rtt", "device_time"], &["_min", "_max", "_avg"]),
    (
        &["ota_time", "handshake_time", "provisioning_time", "encrypt_time", "decrypt_time"],
        &["", "_exact"],
    ),
    (
        &[
            "effective_rate",
            "frames_per_message",
            "queue_drop_rate",
            "retransmits",
            "fairness",
            "in_flight_end",
            "requests_rate",
            "devices_served",
            "current_mean",
            "charge_per_message",
            "battery_life",
            "heap_started",
            "heap_peak",
            "heap_driver_peak",
            "heap_driver_bound",
            "free_heap_min",
            "available_heap",
        ],
        &[""],
    ),
];

/// Returns every metric that a cell may have.
#[must_use]
pub fn known() -> Vec<String> {
    let mut names = Vec::new();
    for (quantities, endings) in METRICS {
        for quantity in *quantities {
            names.extend(endings.iter().map(|ending| format!("{quantity}{ending}")));
        }
    }
    names
}

/// Checks that cells may have that metric.
///
/// # Errors
/// A sentence that says what may have been meant.
pub fn check(metric: &str) -> Result<(), String> {
    let known = known();
    if known.iter().any(|it| it == metric) {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    // Of the same quantity, first: `rtt_p95` is meant to be a round trip.
    let quantity = parse(metric).0.split('_').next().unwrap_or_default();
    let of_it: Vec<&str> =
        names.iter().copied().filter(|it| it.split('_').next() == Some(quantity)).collect();
    Err(match (meant(metric, &names), of_it.is_empty()) {
        (Some(other), _) => format!("no metric `{metric}`; did you mean `{other}`?"),
        (None, false) => format!("no metric `{metric}`; there are {}", of_it.join(", ")),
        (None, true) => format!(
            "no metric `{metric}`; a run's JSON or CSV names them, such as rtt_p99, loss, \
             throughput_rx, message_rate"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        let mut all = known();
        let before = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), before);
        assert!(all.iter().all(|it| check(it).is_ok()));
    }

    #[test]
    fn what_was_meant_is_told() {
        for (word, said) in [
            ("rtt_p9", "did you mean `rtt_p90`?"),
            ("throughput_xr", "did you mean `throughput_rx`?"),
            ("jiter", "did you mean `jitter`?"),
            ("speed", "such as rtt_p99"),
        ] {
            let wrong = check(word).unwrap_err();
            assert!(wrong.contains(said), "{wrong}");
        }
        assert!(check("rtt_quantile_of_99").unwrap_err().contains("there are rtt_avg"));
    }
}
