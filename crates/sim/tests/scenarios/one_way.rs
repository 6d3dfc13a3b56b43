//! One-way delay by two pins, as the published test measures it with an oscilloscope: the
//! initiator's falls when it sends, the responder's when it answers.

use crate::ping::MODES;
use crate::rig::{Talk, plays, settings, talk_with};
use esp_now::node::board::{Board, NvsKey};
use esp_now::node::task::{Encrypt, NodeSettings};
use espbench_model::time::{Duration, Instant};
use espbench_sim::lab::ideal::IdealMediumConfig;
use espbench_sim::lab::ideal::dsss_1m;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use std::fmt::Write as _;

const COUNT: usize = 20;

#[test]
fn pins_fall_one_air_time_apart() {
    let mut table = String::new();
    for secure in [false, true] {
        for (mode, options) in MODES {
            for len in [8, 218] {
                let mut fleet = fleet(secure);
                let script = format!(
                    "wait 200ms\nnode1> espnow_iperf -s -G 4{options}\n\
                     node0> espnow_iperf -c {{node1}} -p -C {COUNT} -l {len} -G 4{options}\n\
                     wait until node0 prints \"packets transmitted\" max 60s"
                );
                plays(&mut fleet, &script);
                let delays = delays(&fleet);
                let (least, most) = (delays.iter().min(), delays.iter().max());
                let _ = writeln!(
                    table,
                    "{mode:16} {} {len:3} B: {} of {COUNT}, {:?} to {:?}",
                    if secure { "secure" } else { "plain " },
                    delays.len(),
                    least.unwrap(),
                    most.unwrap(),
                );
                let air = dsss_1m(20 + len + if secure { 12 } else { 0 }, mode == "unicast");
                // The acknowledgement goes out before the handler has the ping.
                let ack = if mode.ends_with("ack") { dsss_1m(20, false) } else { Duration::ZERO };
                assert_eq!((delays.len(), least), (COUNT, Some(&(air + ack))), "{mode} {len}");
            }
        }
    }
    insta::assert_snapshot!(table);
}

fn fleet(secure: bool) -> Talk {
    let encrypt = Encrypt { enabled: secure, debug: secure, ..Encrypt::default() };
    let settings = move |_| NodeSettings { encrypt, ..settings() };
    let mut fleet = talk_with(2, IdealMediumConfig::default(), settings);
    for node in [0, 1].map(NodeId) {
        for key in [NvsKey::EncryptKey, NvsKey::DecryptKey] {
            fleet.board_mut(node).save(key, &crate::rig::KEY);
        }
    }
    fleet
}

/// Returns the times from each fall of the initiator's pin to the next of the responder's.
fn delays(fleet: &Talk) -> Vec<Duration> {
    let falls = |node| -> Vec<Instant> {
        let edges = fleet.board(NodeId(node)).edges.iter();
        edges.filter(|edge| edge.pin == 4 && !edge.high).map(|edge| edge.at).collect()
    };
    let (sent, answered) = (falls(0), falls(1));
    let next = |at: &Instant| answered.iter().find(|fall| *fall >= at).map(|fall| fall.since(*at));
    sent.iter().filter_map(next).collect()
}
