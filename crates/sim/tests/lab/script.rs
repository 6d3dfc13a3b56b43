//! Scripts in rooms: the same text as on an ideal medium.

use crate::rig::{instant, row};
use espbench_dot11::random::Chance;
use espbench_model::time::Instant;
use espbench_sim::lab::ideal::{Fleet, FleetSetup, IdealMediumConfig};
use espbench_sim::lab::nodes::node::{Node, fleet};
use espbench_sim::lab::nodes::{Conversation, NodeId};
use espbench_sim::lab::run::Lab;
use espbench_sim::talk::script::PlayError;
use espbench_sim::talk::transcript::TalkFilter;
use espbench_sim::talk::{Transcript, play};

/// Makes three devices in a row, each a metre from the next.
fn lab() -> Lab<'static, Transcript> {
    let show = TalkFilter { frames: true, channels: true, events: true, ..TalkFilter::TALK };
    Lab::new(&row(3, 1.0, instant()), 1, Transcript::new(show))
}

fn ideal() -> Fleet<Box<Node>, ()> {
    let settings = row(1, 1.0, instant()).nodes[0].settings.clone();
    let mut fleet = fleet(FleetSetup::default(), (), settings);
    fleet.add_many(3);
    fleet
}

const PING: &str = "wait 200ms
node1> espnow_iperf -s
node0> espnow_iperf -c {node1} -p -C 3
wait until node0 prints \"packets transmitted\"
reset node2
node0> command {node1} \"wifi_config -i\"
wait until node1 prints \"channel: 1\"";

#[test]
fn a_script_runs_in_a_room_as_on_an_ideal_medium() {
    fn said<C: Conversation>(mut talk: C) -> Vec<String> {
        play(&mut talk, PING).unwrap_or_else(|failed| panic!("{failed}"));
        // Times are the medium's; the words are the devices' own.
        let words = |line: &str| line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let all = talk.nodes().flat_map(|node| talk.lines(node).iter().map(|it| words(&it.text)));
        all.filter(|line| !line.contains("time")).collect()
    }
    let (in_room, alone) = (said(lab()), said(ideal()));
    assert!(in_room.len() > 10, "{in_room:?}");
    assert_eq!(in_room, alone);
}

#[test]
fn a_script_in_a_room_repeats_to_the_byte() {
    let run = || {
        let mut lab = lab();
        play(&mut lab, PING).unwrap();
        lab.watch.to_string()
    };
    let text = run();
    assert_eq!(text, run());
    insta::assert_snapshot!(text);
}

#[test]
fn a_command_that_prints_nothing_does_not_hold_a_script_up() {
    let mut lab = lab();
    play(&mut lab, "wait 1s\nnode0> espnow_iperf -a\nnode1> espnow_iperf -a").unwrap();
    let took = lab.now().since(Instant::ZERO);
    assert!(took.as_millis() < 1200, "typed, and no more: {took:?}");
}

#[test]
fn a_key_an_image_and_an_address_to_download_from_are_put_on_boards() {
    let mut lab = lab();
    let script = "key node1,node2\nimage node0 spare 65536 \"2.0.0\"\n\
                  offer node1 \"http://a/b\" 65536 \"3.0.0\"\nwait 1s\nnode1> ota -d http://a/b\n\
                  wait until node1 prints \"download firmware is complete\"\n\
                  node0> ota -f 500\nwait until node0 prints \"info, num: \" max 1min";
    play(&mut lab, script).unwrap_or_else(|failed| panic!("{failed}\n{}", lab.watch));
    let key = |lab: &mut Lab<Transcript>, node: u16| {
        use esp_now::node::board::{Board as _, NvsKey};
        let mut out = [0; 32];
        lab.board_mut(NodeId(node)).load(NvsKey::EncryptKey, &mut out).map(|_| out)
    };
    let (none, one, other) = (key(&mut lab, 0), key(&mut lab, 1), key(&mut lab, 2));
    assert!(none.is_none() && one.is_some() && one == other);
}

#[test]
fn a_room_has_no_loss_to_be_set() {
    for text in ["node0> version\nloss 5%", "wait 1s\nlink node0 node1 off"] {
        let mut lab = lab();
        let failed = play(&mut lab, text).unwrap_err();
        assert_eq!(failed, PlayError::NotIdeal { line: 2 });
        assert!(failed.to_string().contains("line 2: in a lab"), "{failed}");
        assert_eq!(lab.now(), Instant::ZERO, "nothing was done before");
        play(&mut ideal(), text).unwrap();
    }
    let mut fleet = ideal();
    play(&mut fleet, "loss 5%\nlink node0 node1 -70").unwrap();
    assert_eq!(fleet.medium.config.loss, Chance::percent(5));
    let wanted = IdealMediumConfig::default().between(NodeId(1), NodeId(2)).map(|(rssi, _)| rssi);
    assert_ne!(fleet.medium.config.between(NodeId(0), NodeId(1)).map(|(rssi, _)| rssi), wanted);
}
