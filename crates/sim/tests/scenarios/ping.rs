//! `espnow_iperf -p` in the published modes.

use crate::rig::{LOSSES, frames, last, plays, talk};
use espbench_model::sample::{Fate, Sample};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use std::fmt::Write as _;

/// Name of a mode in the published tables, and the options of both ends.
pub const MODES: [(&str, &str); 4] = [
    ("unicast", ""),
    ("broadcast-0", " -b 0"),
    ("broadcast-3", " -b 3"),
    ("broadcast-3-ack", " -b 3 -A"),
];

#[test]
fn ping_in_all_modes() {
    let mut table = String::new();
    for (mode, options) in MODES {
        for loss in LOSSES {
            let mut fleet = talk(2, loss);
            let script = format!(
                "node1> espnow_iperf -s{options}\nwait 100ms\n\
                 node0> espnow_iperf -c {{node1}} -p -C 64{options}\n\
                 wait until node0 prints \"packets transmitted\" max 10min\nwait 100ms"
            );
            plays(&mut fleet, &script);
            let line = last(&fleet, 0, "64 packets transmitted");
            let _ = writeln!(table, "{mode:16} {loss:2} %  {line}; {} frames", frames(&fleet));
            check_samples(&fleet, &line, loss);
        }
    }
    insta::assert_snapshot!(table);
}

/// Checks that every probe is a sample, and that the samples agree with the console's report.
fn check_samples(fleet: &crate::rig::Talk, line: &str, loss: u32) {
    let samples = fleet.samples(NodeId(0));
    let fates = samples.iter().filter_map(|sample| match sample {
        Sample::Probe(probe) => Some(probe.fate),
        Sample::Interval(_) => None,
    });
    let (mut delivered, mut lost) = (0, 0);
    for fate in fates {
        match fate {
            Fate::Delivered => delivered += 1,
            // An answer that came when the next ping was under way counts as none.
            Fate::Lost(_) | Fate::Late => lost += 1,
            _ => {}
        }
    }
    assert_eq!(delivered + lost, 64, "{line}");
    assert!(line.contains(&format!(" {delivered} received")), "{line}: {delivered}");
    assert!(loss > 0 || lost == 0, "{line}");
}
