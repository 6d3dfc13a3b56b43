//! Table of all metrics: unit, direction of "better", and whether a value is a share. Programs above the engine ask it in
//! place of a list of their own.

use super::{Better, better, is_proportion, known};
use alloc::string::String;
use alloc::vec::Vec;

/// Facts of a metric, whatever it was measured on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricFacts {
    /// Name, as in cells.
    pub name: String,
    /// Unit of its cells.
    pub unit: &'static str,
    /// Direction of "better".
    pub better: Better,
    /// True of parts of a whole, whose values are compared by their difference.
    pub is_share: bool,
}

/// Metrics of predictions beside those of tests.
const PREDICTED: [&str; 6] = [
    "acknowledged",
    "acknowledgement_p50",
    "acknowledgement_p99",
    "channel_busy",
    "largest_fleet",
    "range",
];

/// Units by the longest beginning of a metric's name.
const UNITS: [(&str, &str); 52] = [
    ("rtt", "ms"),
    ("response", "ms"),
    ("latency", "ms"),
    ("stage", "ms"),
    ("interarrival", "ms"),
    ("interarrival_p05", "us"),
    ("interarrival_p95", "us"),
    ("interarrival_avg", "us"),
    ("connect", "ms"),
    ("connect_rate", "connections/s"),
    ("callback_time", "us"),
    ("hop_time", "ms"),
    ("hops_reached", "hops"),
    ("client_fairness", "index"),
    ("fairness", "index"),
    ("loss", "percent"),
    ("jitter", "ms"),
    ("device_rtt", "ms"),
    ("device_time", "s"),
    ("message_rate", "messages/s"),
    ("throughput", "Mbit/s"),
    ("packets", "packets"),
    ("messages", "messages"),
    ("probes", "probes"),
    ("join_time", "ms"),
    ("scan_time", "ms"),
    ("authentication_time", "ms"),
    ("association_time", "ms"),
    ("handshake_time", "s"),
    ("handshake_time_avg", "ms"),
    ("ota_time", "s"),
    ("provisioning_time", "s"),
    ("encrypt_time", "us"),
    ("decrypt_time", "us"),
    ("effective_rate", "bit/s"),
    ("frames_per_message", "frames"),
    ("queue_drop_rate", "messages/s"),
    ("retransmits", "segments"),
    ("in_flight_end", "B"),
    ("requests_rate", "/s"),
    ("devices_served", "devices"),
    ("current_mean", "mA"),
    ("charge_per_message", "uC"),
    ("battery_life", "h"),
    ("heap", "KB"),
    ("free_heap", "KB"),
    ("available_heap", "KB"),
    ("acknowledged", "percent"),
    ("acknowledgement", "ms"),
    ("channel_busy", "percent"),
    ("largest_fleet", "devices"),
    ("range", "m"),
];

/// Returns the facts of every metric that a cell of a test or of a prediction may have.
#[must_use]
pub fn registry() -> Vec<MetricFacts> {
    let predicted = PREDICTED.iter().map(|it| String::from(*it));
    known().into_iter().chain(predicted).map(facts).collect()
}

fn facts(name: String) -> MetricFacts {
    let unit = unit(&name);
    MetricFacts { better: better(&name, unit), is_share: is_proportion(unit), name, unit }
}

/// Returns the unit of a metric; nothing where the table has none, which a test refuses.
fn unit(name: &str) -> &'static str {
    let begins = |it: &&(&str, &str)| {
        name.strip_prefix(it.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    UNITS.iter().filter(begins).max_by_key(|it| it.0.len()).map_or("", |it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_unit_and_a_direction() {
        let all = registry();
        let without: Vec<&str> =
            all.iter().filter(|it| it.unit.is_empty()).map(|it| it.name.as_str()).collect();
        assert!(without.is_empty(), "{without:?}");
        let of = |name: &str| all.iter().find(|it| it.name == name).unwrap();
        for (name, wanted) in [
            ("acknowledged", Better::Higher),
            ("client_fairness", Better::Higher),
            ("fairness", Better::Higher),
            ("devices_served", Better::Higher),
            ("largest_fleet", Better::Higher),
            ("queue_drop_rate", Better::Lower),
            ("message_rate_stddev", Better::Lower),
            ("heap_peak", Better::Neither),
            ("message_rate_offered", Better::Neither),
        ] {
            assert_eq!(of(name).better, wanted, "{name}");
        }
        assert!(of("loss_rx").is_share && !of("rtt_p99").is_share);
    }
}
