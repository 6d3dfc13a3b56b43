//! The plans that the tool carries.

use anyhow::bail;
use espbench_measure::plan::{Plan, guess};
use std::path::Path;

/// Name and text of each, in the order in which `espbench run` goes through them.
pub const PLANS: [(&str, &str); 5] = [
    ("udp-echo", include_str!("../../../../plans/udp-echo.toml")),
    ("udp-window", include_str!("../../../../plans/udp-window.toml")),
    ("iperf", include_str!("../../../../plans/iperf.toml")),
    ("tcp-rate", include_str!("../../../../plans/tcp-rate.toml")),
    ("mqtt-rate", include_str!("../../../../plans/mqtt-rate.toml")),
];

/// Name and text of the plans of Espressif's ESP-NOW test report, in its order. A plan's name is also
/// that of the published table that it is held against; the lab follows from the test.
pub const SUITES: [(&str, &str); 10] = [
    ("one-way-latency", include_str!("../../../../plans/esp-now-one-way-latency.toml")),
    ("round-trip", include_str!("../../../../plans/esp-now-round-trip.toml")),
    ("throughput", include_str!("../../../../plans/esp-now-throughput.toml")),
    ("crypto-time", include_str!("../../../../plans/esp-now-crypto-time.toml")),
    (
        "one-way-latency-secure",
        include_str!("../../../../plans/esp-now-one-way-latency-secure.toml"),
    ),
    ("round-trip-secure", include_str!("../../../../plans/esp-now-round-trip-secure.toml")),
    (
        "multi-device-round-trip",
        include_str!("../../../../plans/esp-now-multi-device-round-trip.toml"),
    ),
    ("ota", include_str!("../../../../plans/esp-now-ota.toml")),
    ("handshake", include_str!("../../../../plans/esp-now-handshake.toml")),
    ("provisioning", include_str!("../../../../plans/esp-now-provisioning.toml")),
];

/// Every plan that the tool carries: the suites first.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUITES.into_iter().chain(PLANS)
}

/// A plan by its name, or from a file.
///
/// # Errors
/// There is no such plan, or its text has a mistake: file, line and column are named.
pub fn plan(name: &str) -> anyhow::Result<Plan> {
    let text = match all().find(|(known, _)| *known == name) {
        Some((_, text)) => text.to_owned(),
        None => read(name)?,
    };
    Plan::parse(&text).map_err(|e| anyhow::anyhow!("{name}: {e}"))
}

fn read(name: &str) -> anyhow::Result<String> {
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        let names: Vec<&str> = all().map(|(name, _)| name).collect();
        bail!(
            "no plan `{name}`.{} Built in are {}; a plan of your own is a .toml file",
            guess(name, &names),
            names.join(", ")
        );
    }
    crate::texts::read(path, "plan")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_reads_and_bears_its_name() {
        for (name, text) in all() {
            let plan = Plan::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(plan.name, name);
            assert!(plan.title.is_some(), "{name} has a title");
        }
    }

    #[test]
    fn a_name_that_is_nearly_one_is_guessed() {
        let said = |name: &str| plan(name).unwrap_err().to_string();
        assert!(
            said("round-tripp").starts_with("no plan `round-tripp`. Did you mean `round-trip`?")
        );
        assert!(said("handshakes").contains("Did you mean `handshake`?"));
        assert!(!said("something-else").contains("Did you mean"));
    }

    /// Each published cell of the report is of a cell of the suite of its table.
    #[test]
    fn the_suites_have_the_reports_matrix() {
        let cells = |name: &str| plan(name).unwrap().workloads.len();
        let sizes = SUITES.map(|(name, _)| (name, cells(name)));
        assert_eq!(
            sizes,
            [
                ("one-way-latency", 6),
                ("round-trip", 18),
                ("throughput", 24),
                ("crypto-time", 6),
                ("one-way-latency-secure", 6),
                ("round-trip-secure", 6),
                ("multi-device-round-trip", 12),
                ("ota", 13),
                ("handshake", 10),
                ("provisioning", 10),
            ]
        );
    }

    #[test]
    fn the_published_sizes_are_all_there() {
        use espbench_proto::workload::Workload;
        let sizes: Vec<u32> = plan("udp-echo")
            .unwrap()
            .workloads
            .iter()
            .filter_map(|w| if let Workload::UdpEcho(w) = w { Some(w.size) } else { None })
            .collect();
        assert_eq!(sizes, espbench_measure::plan::ECHO_SIZES);
    }
}
