//! A short conversation, whole: what a transcript looks like.

use crate::rig::{plays, settings, talk_with};
use espbench_dot11::random::Chance;
use espbench_model::time::Duration;
use espbench_sim::lab::ideal::IdealMediumConfig;
use espbench_sim::talk::transcript::TalkFilter;

#[test]
fn a_ping_and_a_command_word_by_word() {
    let medium = IdealMediumConfig {
        delay: Duration::from_micros(50),
        jitter: Duration::from_micros(100),
        duplicate: Chance::percent(10),
        ..IdealMediumConfig::lossy(Chance::percent(30))
    };
    let run = || {
        let mut fleet = talk_with(3, medium.clone(), |_| settings());
        fleet.watch.show = TalkFilter { frames: true, channels: true, ..TalkFilter::TALK };
        plays(
            &mut fleet,
            "wait 200ms
            node1> espnow_iperf -s
            node0> espnow_iperf -c {node1} -p -C 3
            wait until node0 prints \"packets transmitted\"
            reset node2
            node0> command {node1} \"wifi_config -i\"
            wait until node1 prints \"channel: 1\"
            wait 600ms",
        );
        fleet.watch.to_string()
    };
    let text = run();
    assert_eq!(text, run(), "the same seed gives the same bytes");
    insta::assert_snapshot!(text);
}
