//! `espnow_iperf`: throughput in the published modes.

use crate::ping::MODES;
use crate::rig::{LOSSES, last, plays, talk};
use std::fmt::Write as _;

#[test]
fn throughput_in_all_modes() {
    let mut table = String::new();
    for (mode, options) in MODES {
        for loss in LOSSES {
            let mut fleet = talk(2, loss);
            let script = format!(
                "node1> espnow_iperf -s{options}\nwait 100ms\n\
                 node0> espnow_iperf -c {{node1}} -t 10 -i 5{options}\nwait 25s"
            );
            plays(&mut fleet, &script);
            let _ = writeln!(table, "{mode} {loss} %");
            for (node, name) in [(0, "initiator"), (1, "responder")] {
                let _ = writeln!(table, "  {name} {}", last(&fleet, node, "[000]"));
            }
        }
    }
    insta::assert_snapshot!(table);
}
