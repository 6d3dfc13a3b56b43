//! Rooms in trouble: full buffers, hidden senders, resets, other channels.

use crate::rig::{Flights, instant, micros, row, says};
use esp_now::component::{DataType, FrameConfig};
use esp_now::node::task::SendRequest;
use espbench_dot11::mac::MacCounters;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::profile::Profile;
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::trace::AirtimeKind;
use std::sync::Arc;

/// Makes a room whose devices listen to data, all switched on.
fn listening(mut scene: Scene) -> Lab<'static> {
    for device in &mut scene.nodes {
        device.services.data = true;
    }
    let mut lab = Lab::new(&scene, 1, ());
    lab.run_for(Duration::from_secs(1)).unwrap();
    lab
}

/// Lets these nodes broadcast as fast as they can, for so long.
fn busy(lab: &mut Lab, senders: &[u16], time: Duration) {
    let out = SendRequest {
        data_type: DataType::Data,
        dest: Mac::BROADCAST,
        config: FrameConfig { copies: 1, ..FrameConfig::default() },
        magic: 0,
        len: 0,
        wait: Duration::MAX,
    };
    let until = lab.now() + time;
    while lab.now() < until {
        for sender in senders {
            let _ = lab.send(NodeId(*sender), &out, &[7; 200]);
        }
        lab.run_for(Duration::from_millis(1)).unwrap();
    }
}

fn mac(lab: &Lab, node: u16) -> MacCounters {
    lab.mac_counters(u32::from(node))
}

/// A unicast command over 147 m, where HT20-MCS7 of a C3 (93 dB) is not read and 6 Mbit/s (113 dB) is.
#[test]
fn attempts_fall_back_to_modes_that_are_read() {
    let run = |fallback: &[&str]| {
        let mut scene = row(2, 147.0, instant());
        for device in &mut scene.nodes {
            device.mode = "HT20-MCS7".parse().unwrap();
            device.fallback = fallback.iter().map(|mode| mode.parse().unwrap()).collect();
        }
        let mut lab = Lab::new(&scene, 1, Flights::default());
        lab.run_for(Duration::from_secs(1)).unwrap();
        lab.command(NodeId(0), &format!("command {} \"ping\"", NodeId(1).mac()));
        lab.run_for(Duration::from_secs(2)).unwrap();
        let sent = lab.watch.0.iter().filter(|it| it.from == 0 && it.what != AirtimeKind::Ack);
        let modes: Vec<_> = sent.map(|it| (it.attempt, it.mode.to_string())).collect();
        (modes, lab.mac_counters(0).acknowledged, lab.mac_counters(0).given_up)
    };
    let (modes, acknowledged, given_up) = run(&[]);
    assert!(modes.iter().all(|(_, mode)| mode == "HT20-MCS7"), "{modes:?}");
    assert!(acknowledged == 0 && given_up > 0, "{modes:?}");
    let (modes, acknowledged, given_up) = run(&["HT20-MCS5", "6M"]);
    let first: Vec<_> = modes[..3].iter().map(|(at, mode)| (*at, mode.as_str())).collect();
    assert_eq!(first, [(1, "HT20-MCS7"), (2, "HT20-MCS5"), (3, "6M")]);
    assert!(acknowledged > 0 && given_up == 0, "{modes:?}");
}

#[test]
fn frames_that_find_no_receive_buffer_are_counted() {
    let mut scene = row(3, 1.0, instant());
    let slow = Profile { receive: micros(20_000), rx_buffers: 4, ..instant() };
    scene.nodes[0].profile = Arc::new(slow);
    let mut lab = listening(scene);
    busy(&mut lab, &[1], Duration::from_secs(2));
    let (drops, handed) = (lab.drops(NodeId(0)).receive, lab.counters(NodeId(0)).received);
    assert!(drops > 100 && handed > 50, "{drops} {handed}");
    assert_eq!(drops + u64::from(handed), mac(&lab, 0).received, "every frame is one or the other");
    assert_eq!(lab.drops(NodeId(2)).receive, 0, "a fast one takes all");
    assert_eq!(u64::from(lab.counters(NodeId(2)).received), mac(&lab, 2).received);
}

#[test]
fn senders_that_do_not_hear_each_other_collide() {
    let collided = |metres| {
        let mut lab = listening(row(3, metres, instant()));
        busy(&mut lab, &[0, 2], Duration::from_secs(2));
        let it = mac(&lab, 1);
        assert!(it.received + it.collided > 500, "{it:?}");
        it.collided as f64 / (it.received + it.collided) as f64
    };
    let (near, hidden) = (collided(1.0), collided(300.0));
    assert!(near < 0.15, "{near}");
    assert!(hidden > 0.5, "{hidden}");
}

#[test]
fn a_device_on_another_channel_hears_nothing() {
    let mut scene = row(3, 1.0, instant());
    scene.nodes[1].channel = 11;
    let mut lab = listening(scene);
    busy(&mut lab, &[0], Duration::from_secs(1));
    assert_eq!(lab.channel(NodeId(1)), 11);
    assert_eq!((mac(&lab, 1).received, lab.counters(NodeId(1)).received), (0, 0));
    assert!(lab.data(NodeId(2)).len() > 200);
}

#[test]
fn a_reset_in_the_midst_of_traffic_leaves_nothing_behind() {
    let mut lab = listening(row(4, 1.0, instant()));
    for round in 0..5 {
        busy(&mut lab, &[0, 1, 2, 3], Duration::from_millis(50 + round));
        lab.reset(NodeId(1));
        assert!(lab.device(NodeId(1)).is_none());
        let before = mac(&lab, 1);
        busy(&mut lab, &[0, 2], Duration::from_millis(100));
        let after = mac(&lab, 1);
        assert!(after.sent - before.sent <= 1 && after.received == before.received, "it is off");
        lab.run_for(Duration::from_secs(1)).unwrap();
        assert!(lab.device(NodeId(1)).is_some());
    }
    says(&mut lab, 1, "espnow_iperf -s", "responder");
    let command = format!("espnow_iperf -c {} -p -C 5", NodeId(1).mac());
    let said = says(&mut lab, 0, &command, "packets transmitted");
    assert!(said.contains("5 received"), "{said}");
}
