//! The plans that the tool carries.

use anyhow::{Context as _, bail};
use espbench_measure::plan::Plan;
use std::path::Path;

/// Name and text of each, in the order in which `espbench run` goes through them.
pub const PLANS: [(&str, &str); 5] = [
    ("udp-echo", include_str!("../../../../plans/udp-echo.toml")),
    ("udp-window", include_str!("../../../../plans/udp-window.toml")),
    ("iperf", include_str!("../../../../plans/iperf.toml")),
    ("tcp-rate", include_str!("../../../../plans/tcp-rate.toml")),
    ("mqtt-rate", include_str!("../../../../plans/mqtt-rate.toml")),
];

/// A plan by its name, or from a file.
///
/// # Errors
/// There is no such plan, or its text has a mistake: file, line and column are named.
pub fn plan(name: &str) -> anyhow::Result<Plan> {
    let known = PLANS.iter().find(|(known, _)| *known == name);
    let text = match known {
        Some((_, text)) => (*text).to_owned(),
        None => read(name)?,
    };
    Plan::parse(&text).map_err(|e| anyhow::anyhow!("{name}: {e}"))
}

fn read(name: &str) -> anyhow::Result<String> {
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        let names: Vec<&str> = PLANS.iter().map(|(name, _)| *name).collect();
        bail!(
            "no plan `{name}`: built in are {}; a plan of your own is a .toml file",
            names.join(", ")
        );
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the plan {name}"))?;
    String::from_utf8(bytes).with_context(|| format!("the plan {name} is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_reads_and_bears_its_name() {
        for (name, text) in PLANS {
            let plan = Plan::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(plan.name, name);
            assert!(plan.title.is_some(), "{name} has a title");
        }
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
