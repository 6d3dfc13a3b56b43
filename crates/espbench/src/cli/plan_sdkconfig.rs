//! An sdkconfig in a plan: its options become keys of each block, so that the plan's text says all that was simulated.

use super::sdkconfig;
use crate::user_error::{ForUser as _, UserError};
use espbench_measure::plan::Plan;
use espbench_model::sdkconfig::{ConfigOption, ParsedSdkConfig, ValueType};
use espbench_model::speech::FlagName;
use espbench_sim::lab::file::OF_NODES;
use std::path::Path;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// Returns the plan with the firmware of an sdkconfig: chip, clock and the options that shape links. What a block says itself stays.
///
/// # Errors
/// The file cannot be read; a block cannot have one of its settings.
pub(super) fn with_sdkconfig(plan: &Plan, path: &Path) -> anyhow::Result<Plan> {
    let reading = sdkconfig::file(path)?;
    let what = || format!("{} cannot take {}", plan.name, path.display());
    let remedy = &format!(
        "leave {} out, or write the options into the plan: docs/plans.md",
        FlagName("--sdkconfig")
    );
    let mut text: DocumentMut = plan.text.parse().for_user(what, remedy)?;
    let blocks = text.get_mut("measure").and_then(Item::as_array_of_tables_mut);
    for block in blocks.into_iter().flat_map(|it| it.iter_mut()) {
        let over_wifi = is_over_wifi(block);
        add(block, &reading, |option| over_wifi || OF_NODES.contains(&option));
    }
    let plan = Plan::parse(&text.to_string());
    plan.map_err(|why| UserError::new(what()).because(why).remedy(remedy).into())
}

/// Returns whether the devices of a block speak IP; nodes of ESP-NOW are simulated with fewer options. A block that is wrong is
/// told as part of its plan.
fn is_over_wifi(block: &Table) -> bool {
    let mut alone = DocumentMut::new();
    alone["name"] = value("block");
    let mut blocks = ArrayOfTables::new();
    blocks.push(block.clone());
    alone["measure"] = Item::ArrayOfTables(blocks);
    let plan = Plan::parse(&alone.to_string());
    plan.is_ok_and(|it| it.workloads.iter().any(|work| work.ip().is_some()))
}

/// Adds what a block does not say, under any of an option's names.
fn add(block: &mut Table, reading: &ParsedSdkConfig, takes: impl Fn(ConfigOption) -> bool) {
    let said: Vec<ConfigOption> = block.iter().filter_map(|it| ConfigOption::find(it.0)).collect();
    let chip = reading.chip.map(|it| value(it.name()));
    let clock = reading.clock_mhz.map(|it| value(i64::from(it)));
    for (key, setting) in [("profile", chip), ("clock_mhz", clock)] {
        if let (Some(setting), false) = (setting, block.contains_key(key)) {
            block.insert(key, setting);
        }
    }
    for (option, number) in
        reading.settings.given().filter(|it| takes(it.0) && !said.contains(&it.0))
    {
        let setting = match option.fact().kind {
            ValueType::Flag => value(number != 0),
            ValueType::Number => value(i64::from(number)),
            ValueType::Choice(_) => value(option.text(number).to_string()),
        };
        block.insert(option.name(), setting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::workload::Workload;

    #[test]
    fn options_become_keys_and_what_a_block_says_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sdkconfig");
        let config = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_FREERTOS_HZ=1000\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n";
        std::fs::write(&path, config).unwrap();
        let plan = "name = \"a\"\n# kept\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\n\
                    [[measure]]\nkind = \"udp-echo\"\nvariant = \"ps-none\"\nCONFIG_FREERTOS_HZ = 100\n[[threshold]]\nmetric = \"loss\"\nmax = \"1 %\"\n";
        let plan = with_sdkconfig(&Plan::parse(plan).unwrap(), &path).unwrap();
        assert!(
            plan.text.contains("# kept") && plan.text.contains("max = \"1 %\""),
            "{}",
            plan.text
        );
        let of = |work: &Workload, option| work.lab().sdkconfig.get(option);
        let [node, device] = &*plan.workloads else { panic!("{}", plan.text) };
        assert_eq!(of(node, ConfigOption::TickHz), Some(1000));
        assert_eq!(of(node, ConfigOption::Window), None, "a node of ESP-NOW has no TCP");
        assert_eq!(of(device, ConfigOption::TickHz), Some(100), "what the block says");
        assert_eq!(of(device, ConfigOption::Window), Some(5744));
    }
}
