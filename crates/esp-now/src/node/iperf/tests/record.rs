//! The responder's record of messages that come late, twice, or from elsewhere.

use super::*;
use espbench_model::time::Duration;

fn hear(world: &mut TaskTestbed<IperfTask>, from: usize, kind: IperfKind, seq: u32) {
    world.run_for(Duration::from_millis(10));
    let mut data = [0; 50];
    IperfHead { kind, seq }.emit(&mut data, 50).unwrap();
    let at = world.now;
    world.with(1, |iperf, cx| {
        let data_type = cx.shared.settings.compat.iperf_type();
        let frame = Received { from: mac(from), data_type, data: &data, rssi: -60, channel: 1, at };
        iperf.receive(cx, &frame);
    });
}

fn totals(world: &TaskTestbed<IperfTask>) -> Vec<Interval> {
    intervals(world, 1).into_iter().filter(|i| i.total).collect()
}

#[test]
fn wrong_numbers() {
    let mut world = world();
    respond(&mut world, IperfOptions::default());
    for seq in [0, 1, 2, 5, 4, 4, 3_000_000_000, 6] {
        hear(&mut world, 0, IperfKind::Bandwidth, seq);
    }
    hear(&mut world, 0, IperfKind::Stop, 8);
    let [total] = totals(&world)[..] else { panic!() };
    assert_eq!((total.datagrams, total.lost), (Some(6), Some(2)), "3 and 7 are missing");
    assert_eq!((total.out_of_order, total.duplicates), (Some(1), Some(1)));
    assert_eq!((total.bytes, total.observer), (300, Observer::Receiver));
    assert_eq!(total.end.since(total.start), Duration::from_millis(80), "first message to STOP");
    // The component has counted seven after message 0, the stray one and STOP among them.
    assert!(world.lines(1).last().unwrap().contains("1/9 (11.11%)"), "{:?}", world.lines(1));
}

#[test]
fn a_second_stop_answers_again_and_records_nothing() {
    let mut world = world();
    respond(&mut world, IperfOptions::default());
    (0..4).for_each(|seq| hear(&mut world, 0, IperfKind::Bandwidth, seq));
    hear(&mut world, 0, IperfKind::Stop, 4);
    hear(&mut world, 0, IperfKind::Stop, 4);
    assert_eq!(totals(&world).len(), 1);
    let acks: Vec<_> = world.log.iter().map(|l| head(&l.2)).collect();
    let ack = |seq| IperfHead { kind: IperfKind::StopAck, seq };
    assert_eq!(acks, [ack(4), ack(5)], "the component counts the second one too");
}

#[test]
fn a_stop_that_claims_too_much_is_not_believed() {
    let mut world = world();
    respond(&mut world, IperfOptions::default());
    hear(&mut world, 0, IperfKind::Bandwidth, 0);
    hear(&mut world, 0, IperfKind::Stop, u32::MAX);
    let [total] = totals(&world)[..] else { panic!() };
    assert_eq!((total.datagrams, total.lost), (Some(1), Some(0)));
}

#[test]
fn another_initiator_is_not_mixed_in() {
    let mut world = world();
    respond(&mut world, IperfOptions::default());
    (0..3).for_each(|seq| hear(&mut world, 0, IperfKind::Bandwidth, seq));
    hear(&mut world, 2, IperfKind::Bandwidth, 70);
    hear(&mut world, 2, IperfKind::Stop, 71);
    assert!(totals(&world).is_empty());
    assert_eq!(world.nodes[1].part.dropped.strangers, 1);
    // After a silence the first flow is over.
    world.run_for(Duration::from_secs(4));
    hear(&mut world, 2, IperfKind::Bandwidth, 0);
    hear(&mut world, 2, IperfKind::Bandwidth, 1);
    let [total] = totals(&world)[..] else { panic!() };
    assert_eq!((total.datagrams, total.lost), (Some(3), Some(0)));
    hear(&mut world, 2, IperfKind::Stop, 2);
    assert_eq!(totals(&world).len(), 2);
}

#[test]
fn what_is_no_message_changes_only_the_counter() {
    let mut world = world();
    respond(&mut world, IperfOptions::default());
    (0..3).for_each(|seq| hear(&mut world, 0, IperfKind::Bandwidth, seq));
    hear(&mut world, 0, IperfKind::Other(77), 9);
    hear(&mut world, 0, IperfKind::PingAck, 9);
    hear(&mut world, 0, IperfKind::Stop, 3);
    let [total] = totals(&world)[..] else { panic!() };
    assert_eq!((total.datagrams, total.lost), (Some(3), Some(0)));
    assert!(world.lines(1).last().unwrap().contains("-1/4 "), "counted five of four");
}
