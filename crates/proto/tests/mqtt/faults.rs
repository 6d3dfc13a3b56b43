//! Brokers that refuse, lower, hang, babble or leave.

use crate::rig::{MS, Rig, settings};
use espbench_model::sample::{Cause, Fate, Observer};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::connection::ClientConnection;
use espbench_proto::node::mqtt::{Foreign, MqttFault, MqttInput, MqttSettings, OfferedLoad, Side};
use espbench_proto::wire::mqtt::{ConnAck, ControlPacket, Disconnect, Version};

#[track_caller]
fn fault(rig: &mut Rig) -> (Side, MqttFault) {
    rig.run();
    rig.exchange.fault().expect("a fault")
}

#[test]
fn a_refusal_is_said_in_the_words_of_the_standard() {
    let mut rig = Rig::new(MqttSettings { version: Version::V311, ..settings(0) });
    rig.broker.connack = ConnAck { code: 4, ..ConnAck::ACCEPTED };
    let (_, fault_) = fault(&mut rig);
    assert_eq!(fault_.to_string(), "refused the connection: bad user name or password (code 4)");
    assert!(rig.samples.is_empty(), "nothing was measured");

    let mut rig = Rig::new(settings(0));
    rig.broker.connack = ConnAck { code: 0x87, ..ConnAck::ACCEPTED };
    assert!(fault(&mut rig).1.to_string().contains("not authorized"));
}

#[test]
fn a_lower_quality_of_service_is_said_by_whoever_lowers_it() {
    let lowered = MqttFault::QosLowered { asked: 2, granted: 1 };
    let mut rig = Rig::new(settings(2));
    rig.broker.granted = vec![1];
    assert_eq!(fault(&mut rig), (Side::Subscriber, lowered));

    let mut rig = Rig::new(settings(2));
    rig.broker.connack = ConnAck { maximum_qos: 1, ..ConnAck::ACCEPTED };
    assert_eq!(fault(&mut rig), (Side::Publisher, lowered));

    let mut rig = Rig::new(settings(1));
    rig.broker.granted = vec![0x87];
    assert_eq!(fault(&mut rig), (Side::Subscriber, MqttFault::SubscriptionRefused { code: 0x87 }));
}

#[test]
fn a_message_that_the_broker_does_not_take_is_said_before_it_is_sent() {
    let mut rig = Rig::new(settings(1));
    rig.broker.connack = ConnAck { maximum_packet_size: Some(40), ..ConnAck::ACCEPTED };
    assert!(matches!(fault(&mut rig), (Side::Publisher, MqttFault::TooLarge { limit: 40, .. })));
    assert!(rig.broker.seen.is_empty());
}

#[test]
fn garbage_is_no_broker() {
    for bytes in [&b"220 mail ESMTP\r\n"[..], &[0xff; 300], b"\xd0\0", b"\x10\x02\0\0"] {
        let mut rig = Rig::new(settings(0));
        rig.broker.to[0] = bytes.to_vec();
        rig.drain();
        rig.broker.to[0] = bytes.to_vec();
        let (side, fault) = fault(&mut rig);
        assert!(matches!(fault, MqttFault::Malformed(_)), "{fault}");
        assert_eq!(side, Side::Publisher);
    }
}

#[test]
fn another_protocol_is_named_where_its_first_byte_shows_it() {
    for (bytes, foreign) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], Foreign::Http),
        (b"\x15\x03\x01\0\x02\x02\x46", Foreign::Tls),
    ] {
        let mut rig = Rig::new(settings(0));
        rig.drain();
        rig.broker.to[0] = bytes.to_vec();
        assert_eq!(fault(&mut rig), (Side::Publisher, MqttFault::Foreign(foreign)));
    }
}

#[test]
fn a_broker_that_closes_before_it_accepts_is_told_apart() {
    let mut rig = Rig::new(settings(0));
    rig.drain();
    rig.broker.to = [Vec::new(), Vec::new()];
    rig.exchange.handle(rig.now, Side::Publisher, MqttInput::Closed);
    assert_eq!(fault(&mut rig), (Side::Publisher, MqttFault::NotAccepted));
}

#[test]
fn a_broker_that_never_answers_is_given_up() {
    let mut rig = Rig::new(settings(0));
    rig.drain();
    rig.broker.to = [Vec::new(), Vec::new()];
    assert_eq!(fault(&mut rig).1, MqttFault::Silent { awaiting: "CONNACK" });
    assert!(rig.now.as_nanos() < 11_000_000_000);
}

#[test]
fn a_half_open_connection_is_found_by_its_ping() {
    let mut rig = Rig::new(MqttSettings { time: Duration::from_secs(60), ..settings(0) });
    rig.run_for(100 * MS);
    // From here on the broker answers nothing, and passes nothing on.
    rig.broker.pongs = false;
    rig.broker.way = |_| crate::broker::Way::Drop;
    assert!(matches!(fault(&mut rig).1, MqttFault::Silent { awaiting: "PINGRESP" }));
    assert!(rig.now.as_nanos() < 20_000_000_000, "{:?}", rig.now);
    assert!(rig.lost().iter().all(|(_, cause)| *cause == Cause::Disconnected));
    assert!(!rig.lost().is_empty());
}

/// Mosquitto's WebSocket listener takes half a minute for a mebibyte, and answers no ping meanwhile.
#[test]
fn a_ping_whose_answer_waits_behind_a_long_message_is_no_silence() {
    let (mut room, mut out) = ([0; 4096], [0; 64]);
    let mut connection = ClientConnection::new(settings(0), Side::Subscriber, &mut room);
    let mut now = Instant::from_nanos(5_000_000);
    connection.connected(now);
    assert!(connection.poll(now, &mut out).is_some(), "a CONNECT");
    connection.written();
    connection.next(now, &mut &b"\x20\x03\0\0\0"[..]).expect("a CONNACK");
    // 3000 bytes of a PUBLISH, 50 a second.
    let long = [&b"\x30\xb5\x17\0\x01t\0"[..], &[0; 2993]].concat();
    let mut pings = Vec::new();
    let mut second = |connection: &mut ClientConnection<'_>, mut bytes: &[u8]| {
        now = now + Duration::from_secs(1);
        if !bytes.is_empty() {
            assert_eq!(connection.next(now, &mut bytes), None, "it is not whole");
        }
        connection.check(now);
        if let Some(len) = connection.poll(now, &mut out) {
            assert_eq!(out[..len], [0xc0, 0], "a PINGREQ");
            connection.written();
            pings.push(now);
        }
    };
    for piece in long[..2999].chunks(50) {
        second(&mut connection, piece);
    }
    assert_eq!(connection.fault(), None);
    // Silence, from here on, is one.
    for _ in 0..11 {
        second(&mut connection, &[]);
    }
    assert_eq!(connection.fault(), Some(MqttFault::Silent { awaiting: "PINGRESP" }));
    let gaps = pings.windows(2).map(|two| two[1].since(two[0]));
    assert!(pings.len() >= 12 && gaps.max() <= Some(Duration::from_secs(5)), "{pings:?}");
}

#[test]
fn pings_that_are_answered_keep_a_slow_exchange_alive() {
    let slow = MqttSettings {
        pace: OfferedLoad::Rate(0.05),
        time: Duration::from_secs(60),
        ..settings(1)
    };
    let mut rig = Rig::new(slow);
    rig.run();
    assert_eq!(rig.exchange.fault(), None);
    assert_eq!((rig.probes().len(), rig.lost().len()), (3, 0));
}

#[test]
fn a_publisher_that_loses_its_connection_still_hears_what_the_broker_had() {
    let mut rig = Rig::new(settings(1));
    rig.run_for(105 * MS);
    rig.broker.acks = false;
    rig.run_for(10 * MS);
    rig.exchange.handle(rig.now, Side::Publisher, MqttInput::Closed);
    rig.run();
    assert_eq!(rig.exchange.fault(), Some((Side::Publisher, MqttFault::ConnectionLost)));
    let probes = rig.probes();
    assert!((10..14).contains(&probes.len()), "later ones never came due: {}", probes.len());
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered));
    assert_eq!(rig.total(Observer::Sender).datagrams, Some(probes.len() as u64));
}

#[test]
fn without_its_subscriber_everything_outstanding_is_a_disconnection() {
    let mut rig = Rig::new(settings(0));
    rig.broker.way =
        |seq| if seq < 5 { crate::broker::Way::Pass } else { crate::broker::Way::Drop };
    rig.run_for(100 * MS);
    rig.exchange.handle(rig.now, Side::Subscriber, MqttInput::Closed);
    rig.run();
    let lost = rig.lost();
    assert_eq!(lost[0], (5, Cause::Disconnected));
    assert!(lost.iter().all(|(_, cause)| *cause == Cause::Disconnected));
}

#[test]
fn a_goodbye_has_its_reason() {
    let mut rig = Rig::new(settings(0));
    rig.run_for(50 * MS);
    rig.broker.send(
        Side::Subscriber,
        &ControlPacket::Disconnect(Disconnect { reason: 0x8b, session_expiry: None }),
    );
    let (side, fault) = fault(&mut rig);
    assert_eq!(side, Side::Subscriber);
    assert_eq!(fault.to_string(), "ended the connection: server shutting down (code 0x8b)");
}

#[test]
fn a_broker_that_takes_no_bytes_is_given_up() {
    let mut rig = Rig::new(MqttSettings { pace: OfferedLoad::Saturate, ..settings(1) });
    while rig.exchange.gaps().unwrap().missing() == 0 && rig.broker.seen.is_empty() {
        assert!(rig.turn(espbench_model::time::Instant::NEVER));
    }
    // Something is given out, and the system never says that it took it.
    let mut buf = [0; 512];
    loop {
        match rig.exchange.poll(rig.now, Side::Publisher, &mut buf) {
            Output::Send { .. } => break,
            Output::Sample(_) => {}
            other => panic!("{other:?}"),
        }
    }
    rig.writable = false;
    rig.run_for(Duration::from_secs(30));
    assert_eq!(rig.exchange.fault(), Some((Side::Publisher, MqttFault::Stalled)));
}

/// Messages that wait behind unacknowledged ones when the test is stopped are no samples: docs/data.md calls `lost` what
/// was sent or due and did not come.
#[test]
fn a_stop_leaves_messages_that_were_never_sent_out_of_the_record() {
    for pace in [OfferedLoad::Rate(1000.0), OfferedLoad::Saturate] {
        let wanted =
            MqttSettings { time: Duration::from_secs(60), in_flight: 2, pace, ..settings(1) };
        let mut rig = Rig::new(wanted);
        // After two that are not acknowledged nothing further may leave.
        rig.broker.acks = false;
        rig.broker.way = |_| crate::broker::Way::Drop;
        rig.run_for(15 * MS);
        rig.exchange.handle(rig.now, Side::Publisher, MqttInput::Stop);
        rig.run();
        let probes = rig.probes();
        assert!(!probes.is_empty());
        assert!(probes.iter().all(|probe| probe.sent.is_some()), "{pace:?}: {probes:?}");
        assert_eq!(rig.total(Observer::Sender).datagrams, Some(probes.len() as u64));
        let lost = rig.total(Observer::Receiver).lost;
        assert_eq!(lost, Some(0), "what was on its way is not known to be lost");
    }
}

#[test]
fn a_stop_ends_it_at_once_and_leaves_the_open_ones_open() {
    let mut rig = Rig::new(MqttSettings { time: Duration::from_secs(60), ..settings(1) });
    rig.broker.way =
        |seq| if seq < 3 { crate::broker::Way::Pass } else { crate::broker::Way::Drop };
    rig.run_for(55 * MS);
    rig.exchange.handle(rig.now, Side::Publisher, MqttInput::Stop);
    let stopped = rig.now;
    rig.run();
    assert_eq!(rig.now, stopped, "no drain");
    assert!(rig.lost().iter().all(|(_, cause)| *cause == Cause::Stopped));
    assert!(rig.probes().len() >= 5);
}
