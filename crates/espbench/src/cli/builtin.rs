//! The plans that the tool carries.

use crate::named_file;
use crate::target::spec;
use crate::user_error::UserError;
use espbench_measure::plan::{Plan, guess};
use espbench_measure::wifi::PREFIX;
use espbench_model::speech::FlagValue;
use std::path::Path;

/// Name and text of each, in the order in which `espbench run` goes through them.
pub const PLANS: [(&str, &str); 14] = [
    ("udp-echo", include_str!("../../plans/udp-echo.toml")),
    ("udp-window", include_str!("../../plans/udp-window.toml")),
    ("iperf", include_str!("../../plans/iperf.toml")),
    ("tcp-rate", include_str!("../../plans/tcp-rate.toml")),
    ("mqtt-rate", include_str!("../../plans/mqtt-rate.toml")),
    ("power-save", include_str!("../../plans/power-save.toml")),
    ("wifi-join", include_str!("../../plans/wifi-join.toml")),
    ("forty-stations", include_str!("../../plans/forty-stations.toml")),
    ("raw-esp-now", include_str!("../../plans/raw-esp-now.toml")),
    ("shared-channel", include_str!("../../plans/shared-channel.toml")),
    ("relay-line", include_str!("../../plans/relay-line.toml")),
    ("many-to-many", include_str!("../../plans/many-to-many.toml")),
    ("bluetooth-beside", include_str!("../../plans/bluetooth-beside.toml")),
    ("beacon-slots", include_str!("../../plans/beacon-slots.toml")),
];

/// Name and text of the suites, in the order in which `espbench run` goes through them where nothing is
/// named: first those of Espressif's ESP-NOW test report, in its order, whose labs follow from the test;
/// then those of the documents of devices over Wi-Fi.
///
/// A plan's name is also that of the published table that it is held against. Where a plan for real
/// devices has the name of the table, `wifi-` stands before it: `udp-echo` in the lab is `wifi-udp-echo`
/// ([`of_lab`]).
pub const SUITES: [(&str, &str); 16] = [
    ("one-way-latency", include_str!("../../plans/esp-now-one-way-latency.toml")),
    ("round-trip", include_str!("../../plans/esp-now-round-trip.toml")),
    ("throughput", include_str!("../../plans/esp-now-throughput.toml")),
    ("crypto-time", include_str!("../../plans/esp-now-crypto-time.toml")),
    ("one-way-latency-secure", include_str!("../../plans/esp-now-one-way-latency-secure.toml")),
    ("round-trip-secure", include_str!("../../plans/esp-now-round-trip-secure.toml")),
    ("multi-device-round-trip", include_str!("../../plans/esp-now-multi-device-round-trip.toml")),
    ("ota", include_str!("../../plans/esp-now-ota.toml")),
    ("handshake", include_str!("../../plans/esp-now-handshake.toml")),
    ("provisioning", include_str!("../../plans/esp-now-provisioning.toml")),
    ("wifi-udp-echo", include_str!("../../plans/wifi-udp-echo.toml")),
    ("esp8266-iperf", include_str!("../../plans/esp8266-iperf.toml")),
    ("esp32c3-best", include_str!("../../plans/esp32c3-best.toml")),
    ("esp32c3-rank", include_str!("../../plans/esp32c3-rank.toml")),
    ("wifi-tcp-rate", include_str!("../../plans/wifi-tcp-rate.toml")),
    ("wifi-mqtt-rate", include_str!("../../plans/wifi-mqtt-rate.toml")),
];

/// Returns every plan that the tool carries, the suites first.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUITES.into_iter().chain(PLANS)
}

/// Returns the suite that does in the lab what the plan of that name does with real devices; the
/// name itself where there is none.
#[must_use]
pub fn of_lab(name: &str) -> &str {
    let own = SUITES.iter().find(|(suite, _)| suite.strip_prefix(PREFIX) == Some(name));
    own.map_or(name, |(suite, _)| suite)
}

/// Returns a plan by its name, or from a file.
///
/// # Errors
/// There is no such plan, or its text has a mistake: file, line and column are named.
pub fn plan(name: &str) -> anyhow::Result<Plan> {
    let text = match all().find(|(known, _)| *known == name) {
        Some((_, text)) => text.to_owned(),
        None => read(name)?,
    };
    Plan::parse(&text).map_err(|e| {
        let remedy = &format!(
            "docs/plans.md has every key of a plan; a lab goes behind {}",
            FlagValue("--on", "sim:FILE")
        );
        UserError::new(format!("{name}: {e}")).remedy(remedy).into()
    })
}

fn read(name: &str) -> anyhow::Result<String> {
    let path = Path::new(name);
    let is_target = spec::is_one(name);
    if (is_target || path.extension().is_none()) && !path.exists() {
        let names: Vec<&str> = all().map(|(name, _)| name).collect();
        let what = UserError::new(format!("no plan `{name}`"));
        let guess = guess(name, &names);
        return Err(if is_target {
            what.because("it is a target")
                .remedy(format!("name a target with its flag: --on {name}"))
        } else if guess.is_empty() {
            what.because(format!("built in are {}", names.join(", ")))
                .remedy("name one of these, or a .toml file of your own")
        } else {
            what.because("it is no built-in plan, and no .toml file").remedy(guess.trim())
        }
        .into());
    }
    crate::texts::read(path, "plan", named_file::WRITTEN)
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
        assert!(said("round-tripp").ends_with("no .toml file; Did you mean `round-trip`?"));
        assert!(said("handshakes").contains("Did you mean `handshake`?"));
        assert!(!said("something-else").contains("Did you mean"));
    }

    /// Counts the cells of the suites: each published cell of the ESP-NOW report is of one. Over Wi-Fi
    /// `tcp-rate` has its runs in few cells, and two rows of `esp32c3-best` are of raw 802.11.
    #[test]
    fn the_suites_have_the_documents_matrix() {
        use espbench_measure::wifi::Document;
        let sizes = SUITES.map(|(name, _)| (name, plan(name).unwrap().workloads.len()));
        let wanted = [
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
            ("wifi-udp-echo", 23),
            ("esp8266-iperf", 27),
            ("esp32c3-best", 8),
            ("esp32c3-rank", 12),
            ("wifi-tcp-rate", 3),
            ("wifi-mqtt-rate", 5),
        ];
        assert_eq!(sizes, wanted);
        for (name, _) in SUITES {
            let all = plan(name).unwrap().workloads;
            let of = |w: &espbench_model::workload::Workload| {
                w.ip().is_none()
                    || w.variant().is_some() && Document::of_plan(name, w.kind()).is_some()
            };
            assert!(all.iter().all(of), "{name}");
        }
        assert_eq!(of_lab("udp-echo"), "wifi-udp-echo");
        assert_eq!(of_lab("udp-window"), "udp-window");
        let sizes = |name: &str| -> Vec<_> {
            plan(name).unwrap().workloads.iter().filter_map(|w| w.ip()).collect()
        };
        assert_eq!(sizes("wifi-udp-echo"), sizes("udp-echo"), "the same but for the variant");
    }

    #[test]
    fn the_published_sizes_are_all_there() {
        use espbench_model::workload::Workload;
        let sizes: Vec<u32> = plan("udp-echo")
            .unwrap()
            .workloads
            .iter()
            .filter_map(|w| if let Workload::UdpEcho(w) = w { Some(w.size) } else { None })
            .collect();
        assert_eq!(sizes, espbench_measure::kind::udp_echo::ECHO_SIZES);
    }
}
