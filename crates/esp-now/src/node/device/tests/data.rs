//! The application's own data, and the order in which parts get the lock.

use super::*;
use crate::node::security::Policy;
use crate::node::task::TransmitOutcome;

const UNICAST: FrameConfig = FrameConfig { copies: 3, ..FrameConfig::UNICAST };

#[test]
fn data_in_clear_and_its_outcome() {
    let mut world = World::new(vec![settings(1000), settings(1000)]);
    assert!(world.send(0, mac(1), UNICAST, b"unicast"));
    assert!(!world.send(0, mac(1), UNICAST, b"too soon"), "one at a time");
    world.run(10);
    assert!(world.send(0, Mac::BROADCAST, FrameConfig::default(), b"to all"));
    world.run(100);
    assert!(world.send(0, mac(1), FrameConfig { ack: true, ..UNICAST }, b"acknowledged"));
    world.run(100);
    assert!(world.send(0, mac(1), UNICAST, &[0; 219]), "one byte too long");
    world.run(1);
    assert!(world.send(0, mac(7), UNICAST, b"nobody"));
    world.run(100);
    let heard: Vec<&[u8]> = world.places[1].data.iter().map(|(_, data)| &data[..]).collect();
    assert_eq!(heard, [&b"unicast"[..], b"to all", b"acknowledged"]);
    let outcomes = [
        EspNowEvent::Sent(TransmitOutcome::Done { attempts: 1 }),
        EspNowEvent::Sent(TransmitOutcome::Done { attempts: 10 }),
        EspNowEvent::Sent(TransmitOutcome::Done { attempts: 1 }),
        EspNowEvent::Sent(TransmitOutcome::Refused),
        EspNowEvent::Sent(TransmitOutcome::Failed),
    ];
    assert_eq!(world.places[0].events, outcomes);
    assert_eq!(world.places[0].node.dropped().total(), 0);
}

#[test]
fn data_is_encrypted_where_the_frame_says_so() {
    let mut world = World::with(vec![sealed(1000); 3], Setup::default(), |n, board| {
        if n < 2 {
            with_key(n, board);
        }
    });
    let secret = FrameConfig { security: true, ..FrameConfig::default() };
    assert!(world.send(0, Mac::BROADCAST, secret, b"secret"));
    world.run(100);
    assert!(world.send(0, Mac::BROADCAST, FrameConfig::default(), b"open"));
    world.run(100);
    let heard = |n: usize| world.places[n].data.iter().map(|d| d.1.clone()).collect::<Vec<_>>();
    assert_eq!(heard(1), [b"secret".to_vec(), b"open".to_vec()]);
    assert_eq!(heard(2), [b"open".to_vec()], "it has no key");
    assert_eq!(world.places[2].node.counters().no_key, 1);
    assert!(world.aired[0].2.config.security && world.aired[0].2.size == 6 + 12);
}

#[test]
fn a_strict_node_takes_nothing_in_clear_from_a_compatible_one() {
    let mut strict = sealed(1000);
    strict.policy = Policy::STRICT;
    let mut world = World::with(vec![sealed(1000), strict], Setup::default(), with_key);
    let secret = FrameConfig { security: true, ..FrameConfig::default() };
    assert!(world.send(0, Mac::BROADCAST, FrameConfig::default(), b"open"));
    world.run(100);
    assert!(world.send(0, Mac::BROADCAST, secret, b"secret"));
    world.run(100);
    assert!(world.send(1, Mac::BROADCAST, secret, b"and back"));
    world.run(100);
    assert_eq!(world.places[1].data, [(mac(0), b"secret".to_vec())]);
    assert_eq!(world.places[0].data, [(mac(1), b"and back".to_vec())]);
    assert_eq!(world.places[1].node.counters().policy, 10, "all copies");
}

/// Checks that a flood of one part does not keep the others from the send lock: neither the remote
/// log, nor forwarded frames or acknowledgements.
#[test]
fn the_lock_goes_round() {
    let mut world = World::new(vec![settings(1000); 3]);
    world.types(0, "log -l INFO -m espnow", 50);
    let line = std::format!("espnow_iperf -c {} -t 5", mac(1));
    world.types(1, "espnow_iperf -s", 50);
    world.types(0, &line, 500);
    world.aired.clear();
    // Frames of another node with hops left, and some to be acknowledged, in the middle of the
    // flood.
    for i in 0..10 {
        let hop = FrameConfig { ttl: 5, copies: 1, rssi: -90, ..FrameConfig::default() };
        assert!(world.send(2, Mac::BROADCAST, hop, &[i]));
        world.run(20);
        assert!(world.send(2, mac(0), FrameConfig { ack: true, ..UNICAST }, &[i]));
        world.run(30);
    }
    let printed = world.types(0, "heap", 300);
    assert!(printed.contains("Free heap"), "{printed}");
    assert!(world.count(0, DataType::Reserved) > 500, "the flood goes on");
    assert_eq!(world.count(0, DataType::Data), 10, "relayed");
    assert!(world.count(0, DataType::Ack) >= 10);
    assert!(world.count(0, DataType::DebugLog) >= 10, "the line of the remote log");
    assert!(world.places[2].printed.contains("esp_mem: Free heap"), "{}", world.places[2].printed);
    let events = &world.places[2].events;
    let done =
        |event: &EspNowEvent| matches!(event, EspNowEvent::Sent(TransmitOutcome::Done { .. }));
    assert!(events.len() == 20 && events.iter().all(done), "{events:?}");
}
