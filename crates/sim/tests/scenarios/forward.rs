//! Frames over three hops: node0 - node1 - node2 - node3, where only neighbours hear each other.

use crate::rig::{Talk, plays, settings, talk_with};
use esp_now::node::task::{EspNowEvent, NodeSettings};
use espbench_dot11::random::Chance;
use espbench_sim::lab::ideal::IdealMediumConfig;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use std::fmt::Write as _;

fn chain(loss: u32, forward: bool, rssi: i8) -> Talk {
    let nodes = [0, 1, 2, 3].map(NodeId);
    let medium =
        IdealMediumConfig { loss: Chance::percent(loss), ..IdealMediumConfig::chain(&nodes, rssi) };
    talk_with(4, medium, move |_| NodeSettings { forward, ..settings() })
}

#[test]
fn control_frames_go_over_three_hops() {
    let mut table = String::new();
    for (loss, forward, rssi, ttl) in [
        (0, true, -50, 3),
        (5, true, -50, 3),
        (30, true, -50, 3),
        (0, true, -50, 2),
        (0, true, -50, 1),
        (0, true, -50, 0),
        (0, true, -80, 3),
        (0, false, -50, 3),
    ] {
        let mut fleet = chain(loss, forward, rssi);
        // Bound from next door; what is sent then needs no more than to arrive.
        let script = format!(
            "wait 200ms
            link all all -40
            node0> control -b 1
            wait 2s
            link all all off
            link node0 node1 {rssi}
            link node1 node2 {rssi}
            link node2 node3 {rssi}
            node0> control -c 1 -t 2 -v 1 --forward_ttl {ttl} -r -65
            wait 3s"
        );
        plays(&mut fleet, &script);
        let reached = |node: &NodeId| {
            let mut events = fleet.events(*node).iter();
            events.any(|(_, event)| matches!(event, EspNowEvent::Control { value: 1, .. }))
        };
        let reached: Vec<String> =
            fleet.nodes().skip(1).filter(reached).map(|node| node.to_string()).collect();
        let sent: Vec<u64> = fleet.nodes().map(|node| fleet.counters(node).sent).collect();
        let _ = writeln!(
            table,
            "ttl {ttl}, {rssi} dBm, forwarding {}, loss {loss:2} %: reached {}; frames {sent:?}",
            if forward { "on " } else { "off" },
            if reached.is_empty() { "nobody".into() } else { reached.join(" ") },
        );
    }
    insta::assert_snapshot!(table);
}
