//! The key is handed to 1, 10 and 100 devices.

use crate::rig::{KEY, LOSSES, Talk, last, now, plays, seconds, talk_with_key};
use espbench_proto::node::esp_now::board::{Board, Key};
use std::fmt::Write as _;

const SCRIPT: &str = "wait 200ms
    node0> security -f 1000
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
            plays(&mut fleet, SCRIPT);
            let have = have_the_key(&mut fleet);
            let line = last(&fleet, 0, "successed_num");
            let time = last(&fleet, 0, "Spend time");
            let _ = writeln!(
                table,
                "{devices:3} devices {loss:2} %  {have:3} have it; {line}; {time}; end {} s",
                seconds(now(&fleet))
            );
            assert!(loss > 0 || have == devices, "{have} of {devices}");
        }
    }
    insta::assert_snapshot!(table);
}

fn have_the_key(fleet: &mut Talk) -> usize {
    let nodes: Vec<_> = fleet.nodes().skip(1).collect();
    let has = |key| {
        let mut out = [0; 32];
        move |fleet: &mut Talk, node| {
            fleet.board_mut(node).load(key, &mut out) == Some(32) && out == KEY
        }
    };
    let (mut encrypts, mut decrypts) = (has(Key::EncryptKey), has(Key::DecryptKey));
    nodes.into_iter().filter(|node| encrypts(fleet, *node) && decrypts(fleet, *node)).count()
}
