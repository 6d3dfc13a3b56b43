//! Time of the processor, ticks, and the values that survive a reset.

use super::*;
use crate::node::task::Encrypt;

#[test]
fn a_slow_processor_makes_the_node_wait_and_its_queue_overflows() {
    let mut world = World::new(vec![settings(1000), settings(1000)]);
    world.places[1].board.cost = |work| match work {
        CpuWork::Dispatch { .. } => Duration::from_millis(100),
        _ => Duration::ZERO,
    };
    let once = FrameConfig { copies: 1, ..FrameConfig::default() };
    for i in 0..60 {
        assert!(world.send(0, Mac::BROADCAST, once, &[i]));
        world.run(1);
    }
    let node = &world.places[1].node;
    assert_eq!((world.places[1].data.len(), node.counters().received), (0, 60), "it is at work");
    let lost = node.dropped().frames;
    // The first is being handled and 32 wait.
    assert_eq!((lost, node.counters().queued, node.dropped().total()), (27, 33, 27));
    world.run(100 * 33);
    let heard: Vec<u8> = world.places[1].data.iter().map(|(_, data)| data[0]).collect();
    assert_eq!(heard, (0..33).collect::<Vec<u8>>(), "in order, the last ones are lost");
    assert!(world.places[1].wake.is_none_or(|at| at > world.now));
}

#[test]
fn pings_at_both_ticks() {
    for hz in [100, 1000] {
        let mut world = World::new(vec![settings(hz), settings(hz)]);
        world.types(1, "espnow_iperf -s", 50);
        for how in ["", " -A", " -b 3", " -b 3 -A"] {
            let line = std::format!("espnow_iperf -c {} -p -C 5{how}", mac(1));
            let printed = world.types(0, &line, 2000);
            let report = "5 packets transmitted, 5 received, 0.00% packet loss";
            assert!(printed.contains(report), "{hz} Hz, {how}: {printed}");
        }
        assert_eq!(world.places[0].samples, 20, "every probe is a sample");
        assert_eq!(world.places[0].node.dropped().total(), 0);
    }
}

#[test]
fn keys_and_bindings_outlive_a_reset() {
    let mut settings = sealed(1000);
    settings.encrypt = Encrypt { enabled: true, control: true, ..Encrypt::default() };
    let mut world = World::new(vec![settings.clone(), settings]);
    let place = &mut world.places[0];
    assert!(place.node.hand_out_keys(world.now, &mut place.board));
    place.wake = Some(world.now);
    world.run(20_000);
    assert!(world.places[1].events.contains(&EspNowEvent::Secured(mac(0))));
    world.types(0, "control -b 513", 500);
    assert!(world.places[1].events.contains(&EspNowEvent::Bound(mac(0), 513)));
    world.restart(1);
    world.restart(0);
    world.types(0, "control -c 513 -t 1 -v 7", 500);
    let control = EspNowEvent::Control { from: mac(0), initiator: 513, responder: 1, value: 7 };
    assert_eq!(world.places[1].events, [control], "encrypted, and bound still");
    let sent = world.aired.iter().rev().find(|(_, n, h)| *n == 0 && h.data_type.mask() != 0);
    assert!(sent.is_some_and(|(_, _, head)| head.config.security));
    // Without the key for sending, its commands reach no other node.
    world.types(0, "security -e", 10);
    assert_eq!(world.places[0].events, [EspNowEvent::Restart]);
    world.restart(0);
    world.places[1].events.clear();
    world.types(0, "control -c 513 -t 1 -v 8", 500);
    assert_eq!(world.places[1].events, []);
}

#[test]
fn an_upgrade_goes_on_after_a_reset() {
    let new = image(40_000);
    let mut world = World::with(vec![settings(1000); 2], Setup::default(), |n, board| {
        board.slots = [image(5_008), vec![]];
        if n == 0 {
            board.slots[1] = image(40_000);
        }
    });
    world.types(0, &std::format!("ota -s {}", mac(1)), 0);
    let half = |world: &World| world.places[1].events.contains(&EspNowEvent::UpgradeProgress(50));
    for _ in 0..1000 {
        world.run(10);
        if half(&world) {
            break;
        }
    }
    assert!(half(&world));
    // It is no longer in the group, so the job ends without it; the next one asks for the rest
    // only.
    world.restart(1);
    world.run(10_000);
    let whole = world.count(0, DataType::OtaData);
    let printed = world.types(0, &std::format!("ota -s {}", mac(1)), 30_000);
    assert!(printed.contains("successed_num: 1, unfinished_num: 0"), "{printed}");
    let rest = world.count(0, DataType::OtaData) - whole;
    assert!(rest < whole * 2 / 3, "{rest} after {whole}");
    let place = &world.places[1];
    assert!(place.events.contains(&EspNowEvent::UpgradeFinished), "{:?}", place.events);
    assert!(place.board.slots[1] == new && place.board.next == Slot::Spare);
}
