//! A command to 30 devices.

use crate::rig::{LOSSES, frames, plays, talk};
use espbench_sim::lab::nodes::Conversation as _;
use std::fmt::Write as _;

#[test]
fn a_command_to_thirty() {
    let mut table = String::new();
    for loss in LOSSES {
        let mut fleet = talk(31, loss);
        // A console's line holds 13 addresses and a command.
        let script = "wait 200ms
            node0> command ff:ff:ff:ff:ff:ff \"heap\"
            wait 1s
            node0> command {node1..node10} \"version\"
            node0> command {node11..node20} \"version\"
            node0> command {node21..node30} \"version\"
            wait 2s
            node0> command {node1..node5} \"wifi_config -i\"
            wait 1s";
        plays(&mut fleet, script);
        let answered = |text: &str| {
            let has = |node: &_| fleet.lines(*node).iter().any(|line| line.text.contains(text));
            fleet.nodes().skip(1).filter(has).count()
        };
        let answers = ["Free heap", "IDF Version", "tx_power"].map(answered);
        let [all, groups, single] = answers;
        let _ = writeln!(
            table,
            "{loss:2} %  to all: {all} of 30; to groups of ten: {groups} of 30; one by one: {single} of 5; {} frames",
            frames(&fleet)
        );
        assert!(loss > 0 || answers == [30, 30, 5], "{answers:?}");
    }
    insta::assert_snapshot!(table);
}
