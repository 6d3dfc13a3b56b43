//! Wi-Fi credentials from one device to another.

use crate::rig::{LOSSES, last, now, plays, seconds, talk};
use esp_now::node::board::{Board, NvsKey};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use std::fmt::Write as _;

#[test]
fn credentials_reach_who_asks_for_them() {
    let mut table = String::new();
    for devices in [1_u16, 5] {
        for loss in LOSSES {
            let mut fleet = talk(usize::from(devices) + 1, loss);
            let all = format!("node1..node{devices}");
            let script = format!(
                "wait 200ms\nnode0> provisioning -i 30000 a_network a_password\n\
                 {all}> provisioning -r\n\
                 wait until {all} prints \"ssid: a_network, password: a_password\" max 60s\nwait 1s"
            );
            plays(&mut fleet, &script);
            let time = now(&fleet);
            for node in 1..=devices {
                let mut out = [0; 96];
                let stored = fleet.board_mut(NodeId(node)).load(NvsKey::Wifi, &mut out);
                let text = String::from_utf8_lossy(&out[..stored.unwrap_or(0)]).into_owned();
                assert!(text.starts_with("a_network") && text.contains("a_password"), "{text:?}");
            }
            let line = last(&fleet, devices, "MAC: ");
            let _ = writeln!(table, "{devices} devices {loss:2} %  {} s; {line}", seconds(time));
        }
    }
    insta::assert_snapshot!(table);
}
