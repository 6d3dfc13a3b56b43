//! Messages: stages, window, queue, gaps, retransmission.

use crate::broker::Way;
use crate::rig::{MS, Rig, settings};
use espbench_model::sample::{Cause, Fate, Observer};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::mqtt::{MqttInput, MqttSettings, OfferedLoad, Side};
use espbench_proto::wire::mqtt::{ConnAck, ControlPacket, Publish, PublishAck, Version};

#[test]
fn every_stage_of_every_message_in_both_versions_and_all_qualities() {
    for version in [Version::V311, Version::V5] {
        for qos in 0..=2 {
            let mut rig = Rig::new(MqttSettings { version, ..settings(qos) });
            rig.run();
            let probes = rig.probes();
            assert_eq!(probes.len(), 20, "{version:?} {qos}");
            for (seq, probe) in (0..).zip(&probes) {
                assert_eq!((probe.seq, probe.fate, probe.link.0), (seq, Fate::Delivered, 3));
                let [queued, sent, received] =
                    [probe.queued, probe.sent, probe.received].map(Option::unwrap);
                assert_eq!(probe.due.since(probes[0].due), 10 * MS * seq as u32);
                assert!(probe.due <= queued && queued <= sent && sent < received);
                assert_eq!(probe.acked.is_some(), qos > 0);
                // PUBACK after one way from the broker; PUBCOMP after two, as PUBREL is between.
                let trips = probe.acked.map_or(0, |acked| acked.since(sent).as_millis());
                assert_eq!(trips, qos.into());
            }
            let sender = rig.total(Observer::Sender);
            assert_eq!(sender.datagrams, Some(20));
            assert_eq!(sender.end.since(sender.start), Duration::from_millis(200));
            let receiver = rig.total(Observer::Receiver);
            assert_eq!((receiver.datagrams, receiver.lost), (Some(20), Some(0)));
            assert!(rig.exchange.fault().is_none());
        }
    }
}

#[test]
fn no_more_messages_in_flight_than_the_window() {
    let mut rig =
        Rig::new(MqttSettings { in_flight: 3, pace: OfferedLoad::Saturate, ..settings(1) });
    rig.broker.acks = false;
    rig.run_for(100 * MS);
    assert_eq!(rig.broker.seen, ["PUBLISH 1 #0", "PUBLISH 2 #1", "PUBLISH 3 #2"]);
    assert_eq!(rig.exchange.in_flight(), 3);
    rig.broker.send(Side::Publisher, &ControlPacket::PubAck(PublishAck { id: 2, reason: 0 }));
    rig.run_for(10 * MS);
    assert_eq!(rig.broker.seen[3..], ["PUBLISH 4 #3"]);
}

#[test]
fn the_brokers_receive_maximum_narrows_the_window() {
    let mut rig = Rig::new(MqttSettings { pace: OfferedLoad::Saturate, ..settings(2) });
    rig.broker.connack = ConnAck { receive_maximum: Some(2), ..ConnAck::ACCEPTED };
    rig.broker.acks = false;
    rig.run_for(100 * MS);
    assert_eq!(rig.broker.seen.len(), 2);
}

#[test]
fn what_finds_the_queue_full_never_enters_it() {
    let mut rig = Rig::new(MqttSettings { in_flight: 2, queue: 3, ..settings(1) });
    rig.broker.acks = false;
    rig.run();
    let probes = rig.probes();
    // Two in flight, three queued, the other fifteen dropped.
    let dropped: Vec<u64> = probes
        .iter()
        .filter(|p| p.fate == Fate::Lost(Cause::ApplicationQueue))
        .map(|p| p.seq)
        .collect();
    assert_eq!(dropped, (5..20).collect::<Vec<_>>());
    assert!(probes[5..].iter().all(|p| p.queued.is_none() && p.sent.is_none()));
    // They came, though nobody acknowledged them.
    assert!(probes[..2].iter().all(|p| p.fate == Fate::Delivered && p.acked.is_none()));
    // Never left: nothing is known of them.
    assert_eq!(rig.lost()[..3], [2, 3, 4].map(|seq| (seq, Cause::Unknown)));
    assert!(probes[2].queued.is_some() && probes[2].sent.is_none());
}

#[test]
fn a_broker_that_drops_is_named_with_the_numbers() {
    for qos in 0..=2 {
        let mut rig = Rig::new(settings(qos));
        rig.broker.way = |seq| if matches!(seq, 7 | 8 | 19) { Way::Drop } else { Way::Pass };
        rig.run();
        assert_eq!(rig.lost(), [7, 8, 19].map(|seq| (seq, Cause::Broker)));
        let gaps: Vec<_> = rig.exchange.gaps().unwrap().ranges().collect();
        assert_eq!(gaps.len(), 1, "19 is the last: no later one shows that it is missing");
        assert_eq!(gaps[0], 7..9);
        assert_eq!(rig.total(Observer::Receiver).lost, Some(3));
    }
}

#[test]
fn duplicates_reordering_and_damage_are_told_apart() {
    let mut rig = Rig::new(settings(1));
    rig.broker.way = |seq| match seq {
        3 => Way::Hold,
        6 => Way::Twice,
        9 => Way::Damage,
        _ => Way::Pass,
    };
    rig.run();
    let fates: Vec<(u64, Fate)> = rig
        .probes()
        .iter()
        .filter(|p| p.fate != Fate::Delivered)
        .map(|p| (p.seq, p.fate))
        .collect();
    assert_eq!(fates, [(6, Fate::Duplicate), (9, Fate::Corrupt)]);
    let total = rig.total(Observer::Receiver);
    assert_eq!((total.out_of_order, total.duplicates, total.lost), (Some(1), Some(1), Some(0)));
    assert_eq!(rig.probes().len(), 21);
}

#[test]
fn at_saturation_it_ends_at_the_count() {
    for qos in 0..=2 {
        let mut rig = Rig::new(MqttSettings {
            pace: OfferedLoad::Saturate,
            count: Some(500),
            ..settings(qos)
        });
        rig.run();
        assert_eq!(rig.probes().len(), 500);
        assert!(rig.lost().is_empty());
    }
}

#[test]
fn a_subscriber_acknowledges_by_the_quality_of_service() {
    let mut rig = Rig::new(MqttSettings { count: Some(2), ..settings(2) });
    rig.run();
    assert_eq!(rig.broker.acked[..3], ["PUBREC 1", "PUBCOMP 1", "PUBREC 2"]);
    let mut rig = Rig::new(MqttSettings { count: Some(2), ..settings(1) });
    rig.run();
    assert_eq!(rig.broker.acked, ["PUBACK 1", "PUBACK 2"]);
}

/// 4.3.3: a QoS 2 message that comes again before it is released is not delivered twice.
#[test]
fn exactly_once_holds_at_the_subscriber() {
    let mut rig = Rig::new(MqttSettings { count: Some(1), ..settings(2) });
    rig.drain();
    while rig.broker.to[Side::Subscriber as usize].first().map(|b| b >> 4) != Some(3) {
        assert!(rig.turn(Instant::NEVER));
        rig.drain();
    }
    let again = rig.broker.to[Side::Subscriber as usize].repeat(2);
    rig.broker.to[Side::Subscriber as usize] = again;
    rig.run();
    assert_eq!(rig.probes().len(), 1);
    assert_eq!(rig.exchange.counters()[2], ("redelivered", 1));
}

fn reconnect(rig: &mut Rig, session_present: bool) {
    rig.exchange.handle(rig.now, Side::Publisher, MqttInput::Closed);
    rig.drain();
    rig.broker.to[Side::Publisher as usize].clear();
    rig.broker.connack = ConnAck { session_present, ..ConnAck::ACCEPTED };
    rig.broker.acks = true;
    rig.broker.seen.clear();
    rig.exchange.handle(rig.now, Side::Publisher, MqttInput::Connected);
}

/// 4.4: what was not acknowledged goes again, in its order, marked as a duplicate.
#[test]
fn a_resumed_session_sends_unacknowledged_messages_again() {
    let mut rig = Rig::new(MqttSettings { resume: true, count: Some(3), ..settings(2) });
    rig.broker.acks = false;
    rig.run_for(100 * MS);
    // The first one gets as far as PUBREL, of which no answer comes.
    rig.broker.send(Side::Publisher, &ControlPacket::PubRec(PublishAck { id: 1, reason: 0 }));
    rig.run_for(10 * MS);
    assert_eq!(rig.broker.seen.last().unwrap(), "PUBREL 1");
    reconnect(&mut rig, true);
    rig.broker.way = |_| Way::Drop;
    rig.run();
    let seen: Vec<&str> = rig.broker.seen.iter().map(String::as_str).collect();
    assert_eq!(seen, ["PUBREL 1", "PUBLISH 2 #1 DUP", "PUBLISH 3 #2 DUP", "PUBREL 2", "PUBREL 3"]);
    let probes = rig.probes();
    assert_eq!(probes.len(), 3);
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered && p.acked.is_some()));
}

#[test]
fn a_session_that_the_broker_forgot_is_told_as_a_disconnection() {
    let mut rig = Rig::new(MqttSettings { resume: true, count: Some(3), ..settings(1) });
    (rig.broker.acks, rig.broker.way) = (false, |_| Way::Drop);
    rig.run_for(100 * MS);
    reconnect(&mut rig, false);
    rig.run();
    assert_eq!(rig.lost(), [0, 1, 2].map(|seq| (seq, Cause::Disconnected)));
}

#[test]
fn a_full_ledger_gives_up_the_oldest_and_says_when_it_comes_late() {
    let mut rig = Rig::with_entries(settings(0), 4);
    rig.broker.way = |seq| if seq == 0 { Way::Drop } else { Way::Pass };
    rig.run_for(100 * MS);
    assert_eq!(rig.lost(), [(0, Cause::Broker)]);
    // As the broker would send it after all.
    let mut body = [0; 40];
    espbench_proto::node::mqtt::payload::fill(&mut body, 0, Instant::ZERO);
    let late = Publish::new("t", &body);
    rig.broker.send(Side::Subscriber, &ControlPacket::Publish(late));
    rig.run();
    let late: Vec<_> = rig.probes().into_iter().filter(|p| p.fate == Fate::Late).collect();
    assert_eq!((late.len(), late[0].seq), (1, 0));
    assert_eq!(rig.probes().len(), 21);
}

#[test]
fn messages_of_others_on_the_topic_are_counted_and_not_taken_for_ours() {
    let mut rig = Rig::new(settings(0));
    rig.run_for(50 * MS);
    for payload in [&b"Sample #10282"[..], &[0xff; 40]] {
        let foreign = Publish { retain: true, ..Publish::new("t", payload) };
        rig.broker.send(Side::Subscriber, &ControlPacket::Publish(foreign));
    }
    rig.run();
    assert_eq!(rig.exchange.counters()[1], ("foreign-messages", 2));
    assert_eq!((rig.probes().len(), rig.lost().len()), (20, 0));
}
