//! The key is handed to 1, 10 and 100 devices.
//!
//! A job of the component sends its first message once a round and has two rounds, so that of a
//! hundred devices some are left where frames are lost. A second search and job is what a person
//! would do; who has the key ignores it.

use crate::rig::{KEY, LOSSES, Talk, frames, last, now, plays, seconds, talk_with_key};
use esp_now::node::board::{Board, NvsKey};
use espbench_sim::lab::nodes::Conversation as _;
use std::fmt::Write as _;

const JOB: &str = "node0> security -f 1000
    wait until node0 prints \"info, num\" max 60s
    node0> security -s ff:ff:ff:ff:ff:ff
    wait until node0 prints \"Devices security completed\" max 10min
    wait 1s";

#[test]
fn the_key_reaches_all() {
    let mut table = String::new();
    for devices in [1, 10, 100] {
        for loss in LOSSES {
            let mut fleet = talk_with_key(devices + 1, loss);
            plays(&mut fleet, "wait 200ms");
            let _ = writeln!(table, "{devices} devices, {loss} %");
            let mut jobs = 0;
            while have_the_key(&mut fleet) < devices && jobs < 4 {
                let before = (now(&fleet), frames(&fleet));
                plays(&mut fleet, JOB);
                let _ = writeln!(
                    table,
                    "  {} have it; {}; {}; with the search {} s, {} frames",
                    have_the_key(&mut fleet),
                    last(&fleet, 0, "successed_num"),
                    last(&fleet, 0, "Spend time"),
                    seconds(now(&fleet) - before.0),
                    frames(&fleet) - before.1,
                );
                jobs += 1;
            }
            assert!(loss > 0 || jobs == 1, "without loss one job is enough");
            assert_eq!(have_the_key(&mut fleet), devices, "in the end all have it\n{table}");
        }
    }
    insta::assert_snapshot!(table);
}

fn have_the_key(fleet: &mut Talk) -> usize {
    let nodes: Vec<_> = fleet.nodes().skip(1).collect();
    let mut holds = |node, key| {
        let mut out = [0; 32];
        fleet.board_mut(node).load(key, &mut out) == Some(32) && out == KEY
    };
    let mut both = |node: &_| holds(*node, NvsKey::EncryptKey) && holds(*node, NvsKey::DecryptKey);
    nodes.iter().filter(|node| both(node)).count()
}
