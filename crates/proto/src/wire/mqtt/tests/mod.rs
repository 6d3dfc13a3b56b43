//! The standards' own examples, and properties over all packets.

mod server;

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

fn parse(version: Version, bytes: &[u8]) -> Result<ControlPacket<'_>, MalformedPacket> {
    let (frame, len) = RawPacket::cut(bytes)?.expect("whole");
    assert_eq!(len, bytes.len());
    ControlPacket::parse(version, &frame)
}

/// 3.1.1: figure 3.6 (variable header), with the payload that its flags ask for.
#[test]
fn connect_of_the_standard_3_1_1() {
    let bytes = b"\x10\x20\0\x04MQTT\x04\xce\0\x0a\0\x02id\0\x01w\0\x03bye\0\x04user\0\x02pw";
    let Ok(ControlPacket::Connect(connect)) = parse(Version::V5, bytes) else { panic!() };
    assert_eq!(connect.protocol, Protocol::V311);
    assert_eq!((connect.client_id, connect.keep_alive, connect.clean), ("id", 10, true));
    assert_eq!((connect.username, connect.password), (Some("user"), Some(&b"pw"[..])));
}

/// 5: figure 3-6: the property is a session expiry interval of 10 s.
#[test]
fn connect_of_the_standard_5() {
    let bytes = b"\x10\x14\0\x04MQTT\x05\x02\0\x0a\x05\x11\0\0\0\x0a\0\x02id";
    let Ok(ControlPacket::Connect(connect)) = parse(Version::V311, bytes) else { panic!() };
    assert_eq!((connect.protocol, connect.client_id), (Protocol::V5, "id"));
    assert_eq!((connect.session_expiry, connect.session_expiry_interval()), (Some(10), 10));
}

/// Figure 3.11 (5: 3-9): topic a/b, packet identifier 10.
#[test]
fn publish_of_the_standard() {
    let publish = Publish { qos: 1, id: 10, ..Publish::new("a/b", b"Q") };
    let mut buf = [0; 32];
    let len = publish.emit(Version::V311, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\x32\x08\0\x03a/b\0\x0aQ");
    assert_eq!(parse(Version::V311, &buf[..len]), Ok(ControlPacket::Publish(publish)));
    let len = publish.emit(Version::V5, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\x32\x09\0\x03a/b\0\x0a\0Q");
    assert_eq!(parse(Version::V5, &buf[..len]), Ok(ControlPacket::Publish(publish)));
}

/// Figure 3.23 (5: 3-21): a/b at QoS 1, c/d at QoS 2.
#[test]
fn subscribe_of_the_standard() {
    let bytes = b"\x82\x0e\0\x0a\0\x03a/b\x01\0\x03c/d\x02";
    let Ok(ControlPacket::Subscribe(subscribe)) = parse(Version::V311, bytes) else { panic!() };
    assert_eq!(subscribe.id, 10);
    assert_eq!(subscribe.filters.collect::<Vec<_>>(), [("a/b", qos(1)), ("c/d", qos(2))]);
    // Every filter is emitted again.
    let mut buf = [0; 16];
    assert_eq!(subscribe.emit(Version::V311, &mut buf), Ok(16));
    assert_eq!(&buf, bytes);
}

/// 5: 3.4.2.1: with no reason code the answer is success; and 3.5 to 3.7 likewise.
#[test]
fn acknowledgements_short_and_long() {
    let full = b"\x40\x0a\0\x07\x10\x06\x1f\0\x03why";
    assert_eq!(
        parse(Version::V5, full),
        Ok(ControlPacket::PubAck(PublishAck { id: 7, reason: 0x10 }))
    );
    assert!(parse(Version::V311, full).is_err());
    for version in [Version::V311, Version::V5] {
        let short = ControlPacket::PubRel(PublishAck { id: 0x1234, reason: 0 });
        assert_eq!(parse(version, b"\x62\x02\x12\x34"), Ok(short));
        assert!(parse(version, b"\x60\x02\x12\x34").is_err(), "PUBREL needs flags 0010");
    }
}

/// As mosquitto 2.0 answers a version 5 client: topic alias maximum 10 and receive maximum 20.
#[test]
fn limits_of_a_version_5_broker() {
    let bytes = b"\x20\x09\0\0\x06\x22\0\x0a\x21\0\x14";
    let Ok(ControlPacket::ConnAck(ack)) = parse(Version::V5, bytes) else { panic!() };
    assert_eq!((ack.code, ack.receive_maximum, ack.maximum_qos), (0, Some(20), 2));
    assert_eq!(ack.topic_alias_maximum, 10);
    assert!(parse(Version::V5, b"\x20\x06\0\0\x03\x21\0\0").is_err(), "receive maximum 0");
    // A 3.1.1 broker refuses version 5 in its own words.
    let Ok(ControlPacket::ConnAck(ack)) = parse(Version::V5, b"\x20\x02\0\x01") else { panic!() };
    assert_eq!(reason::connect(Version::V311, ack.code), "unacceptable protocol version");
}

/// 3.2 (5: 3.2.2.3): every property that is read, at its greatest or with its bounds.
#[test]
fn connack_by_its_bytes() {
    let bytes = b"\x20\x10\x01\x00\x0d\x21\0\x14\x24\x01\x27\0\x01\0\0\x13\0\x3c";
    let ack = ConnAck {
        session_present: true,
        code: 0,
        receive_maximum: Some(20),
        maximum_qos: 1,
        maximum_packet_size: Some(0x1_0000),
        server_keep_alive: Some(60),
        ..ConnAck::ACCEPTED
    };
    assert_eq!(parse(Version::V5, bytes), Ok(ControlPacket::ConnAck(ack)));
    let mut buf = [0xEE; 32];
    assert_eq!(ack.emit(Version::V5, &mut buf), Ok(18));
    assert_eq!(&buf[..18], bytes);
    assert_eq!(ack.emit(Version::V311, &mut buf), Ok(4));
    assert_eq!(&buf[..4], b"\x20\x02\x01\x00", "3.1.1 has no properties");
    assert_eq!(ConnAck::ACCEPTED.emit(Version::V5, &mut buf), Ok(5));
    assert_eq!(&buf[..5], b"\x20\x03\0\0\0", "QoS 2 is said by leaving it out");
    assert_eq!(parse(Version::V5, b"\x20\x03\0\x89\0").map(code), Ok(0x89));
    for wrong in [
        &b"\x20\x02\x02\0"[..],          // reserved flags
        b"\x20\x05\0\0\x02\x24\x02",     // maximum QoS 2, which is said by leaving it out
        b"\x20\x08\0\0\x05\x27\0\0\0\0", // maximum packet size 0
        b"\x20\x04\0\0\0\0",             // bytes behind the properties
        b"\x20\x01\0",                   // cut off
    ] {
        assert!(parse(Version::V5, wrong).is_err(), "{wrong:x?}");
    }
    assert!(parse(Version::V311, b"\x20\x03\0\0\0").is_err(), "3.1.1 has no properties");
}

fn code(packet: ControlPacket<'_>) -> u8 {
    if let ControlPacket::ConnAck(ack) = packet { ack.code } else { panic!("{packet:?}") }
}

/// 3.1 in both versions: flags, and the properties of version 5.
#[test]
fn connect_by_its_bytes() {
    let connect = Connect {
        keep_alive: 0x0102,
        username: Some("u"),
        password: Some(b"pw"),
        session_expiry: Some(10),
        receive_maximum: Some(20),
        maximum_packet_size: Some(30),
        ..Connect::new(Version::V5, "id")
    };
    let bytes = b"\x10\x23\0\x04MQTT\x05\xc2\x01\x02\x0d\x11\0\0\0\x0a\x21\0\x14\x27\0\0\0\x1e\
        \0\x02id\0\x01u\0\x02pw";
    let mut buf = [0xEE; 64];
    assert_eq!(connect.emit(&mut buf), Ok(bytes.len()));
    assert_eq!(&buf[..bytes.len()], bytes);
    assert_eq!(parse(Version::V311, bytes), Ok(ControlPacket::Connect(connect)));
    let bare = Connect { clean: false, keep_alive: 0x0102, ..Connect::new(Version::V311, "id") };
    assert_eq!(bare.emit(&mut buf), Ok(16));
    assert_eq!(&buf[..16], b"\x10\x0e\0\x04MQTT\x04\x00\x01\x02\0\x02id");
    assert_eq!(parse(Version::V5, &buf[..16]), Ok(ControlPacket::Connect(bare)));
    // A will of version 5 has properties of its own: here a delay of 5 s.
    let will = b"\x10\x1d\0\x04MQTT\x05\x06\0\0\0\0\x02id\x05\x18\0\0\0\x05\0\x01w\0\x03bye";
    let Ok(ControlPacket::Connect(read)) = parse(Version::V5, will) else { panic!() };
    assert_eq!((read.client_id, read.clean, read.username), ("id", true, None));
    assert_eq!(read.will.map(|it| (it.topic, it.payload, it.delay())), Some(("w", &b"bye"[..], 5)));
    assert_eq!(read.emit(&mut buf), Ok(will.len()));
    assert_eq!(&buf[..will.len()], will, "the will is emitted with its properties");
    for wrong in [
        &b"\x10\x10\0\x04MQTX\x04\x02\0\0\0\x02id\0\0"[..], // another protocol
        b"\x10\x0e\0\x04MQTT\x04\x03\0\0\0\x02id",          // a reserved flag
        b"\x10\x0f\0\x04MQTT\x04\x02\0\0\0\x02id!",         // a byte too many
        b"\x10\x12\0\x04MQTT\x05\x02\0\0\x03\x21\0\0\0\x02id", // receive maximum 0
    ] {
        assert!(parse(Version::V5, wrong).is_err(), "{wrong:x?}");
    }
}

/// 3.4 to 3.7 and 3.14: reason codes are version 5's alone, and success is left out.
#[test]
fn reasons_are_told_in_version_5_alone() {
    let mut buf = [0xEE; 8];
    let ack = PublishAck { id: 0x0102, reason: 0x97 };
    assert_eq!(ack.emit(Version::V5, kind::PUBREL, &mut buf), Ok(5));
    assert_eq!(buf[..5], [0x62, 3, 1, 2, 0x97]);
    assert_eq!(ack.emit(Version::V311, kind::PUBCOMP, &mut buf), Ok(4));
    assert_eq!(buf[..4], [0x70, 2, 1, 2]);
    let well = PublishAck { reason: 0, ..ack };
    assert_eq!(well.emit(Version::V5, kind::PUBACK, &mut buf), Ok(4));
    assert_eq!(buf[..4], [0x40, 2, 1, 2]);
    let gone = Disconnect { reason: 0x8B, session_expiry: None };
    assert_eq!(gone.emit(Version::V5, &mut buf), Ok(3));
    assert_eq!(buf[..3], [0xE0, 1, 0x8B]);
    assert_eq!(gone.emit(Version::V311, &mut buf), Ok(2));
    assert_eq!(buf[..2], [0xE0, 0]);
    assert_eq!(Disconnect::default().emit(Version::V5, &mut buf), Ok(2));
    let later = Disconnect { reason: 0, session_expiry: Some(1) };
    let mut long = [0xEE; 9];
    assert_eq!(later.emit(Version::V5, &mut long), Ok(9));
    assert_eq!(long, [0xE0, 7, 0, 5, 0x11, 0, 0, 0, 1]);
    let reason = |version, bytes| match parse(version, bytes) {
        Ok(ControlPacket::Disconnect(it)) => Ok(it.reason),
        Ok(other) => panic!("{other:?}"),
        Err(wrong) => Err(wrong.0),
    };
    assert_eq!(reason(Version::V5, b"\xe0\x01\x8b"), Ok(0x8B));
    assert_eq!(reason(Version::V5, b"\xe0\x07\x8b\x05\x11\0\0\0\x01"), Ok(0x8B));
    assert_eq!(reason(Version::V5, b"\xe0\x00"), Ok(0));
    assert_eq!(reason(Version::V311, b"\xe0\x00"), Ok(0));
    assert!(reason(Version::V311, b"\xe0\x01\x00").is_err());
    assert!(reason(Version::V5, b"\xe0\x03\x8b\x00\x00").is_err(), "bytes behind its properties");
}

/// 3.8 and 3.9 in both versions.
#[test]
fn subscriptions_by_their_bytes() {
    let mut buf = [0xEE; 16];
    assert_eq!(Subscribe::emit_one(Version::V311, 10, "a/b", qos(1), &mut buf), Ok(10));
    assert_eq!(&buf[..10], b"\x82\x08\0\x0a\0\x03a/b\x01");
    assert_eq!(Subscribe::emit_one(Version::V5, 10, "a/b", qos(2), &mut buf), Ok(11));
    assert_eq!(&buf[..11], b"\x82\x09\0\x0a\0\0\x03a/b\x02");
    let Ok(ControlPacket::Subscribe(read)) = parse(Version::V5, &buf[..11]) else { panic!() };
    assert_eq!((read.id, read.filters.collect::<Vec<_>>()), (10, std::vec![("a/b", qos(2))]));
    let ack = SubAck { id: 10, codes: &[1, 0x80] };
    assert_eq!(ack.emit(Version::V311, &mut buf), Ok(6));
    assert_eq!(buf[..6], [0x90, 4, 0, 10, 1, 0x80]);
    assert_eq!(parse(Version::V311, &buf[..6]), Ok(ControlPacket::SubAck(ack)));
    assert_eq!(ack.emit(Version::V5, &mut buf), Ok(7));
    assert_eq!(buf[..7], [0x90, 5, 0, 10, 0, 1, 0x80]);
    for wrong in [&b"\x90\x02\0\x0a"[..], b"\x82\x08\0\x0a\0\x03a/b\x03"] {
        assert!(parse(Version::V311, wrong).is_err(), "{wrong:x?}");
    }
    // The subscription options of version 5 are above the QoS (5: 3.8.3.1).
    let options = b"\x82\x09\0\x0a\0\0\x03a/b\x2d";
    let Ok(ControlPacket::Subscribe(mut read)) = parse(Version::V5, options) else { panic!() };
    let (filter, read_options) = read.filters.next().unwrap();
    assert_eq!((filter, read_options.qos, read_options.no_local), ("a/b", 1, true));
    assert_eq!(Subscribe::emit_one(Version::V5, 10, filter, read_options, &mut buf), Ok(11));
    assert_eq!(&buf[..11], options);
}

/// 2.2.2 (5: 2.1.3): the types that are not parsed, and the flags of each.
#[test]
fn packets_of_other_types() {
    assert_eq!(parse(Version::V5, b"\xf0\x00"), Ok(ControlPacket::Other(15)), "AUTH");
    assert!(parse(Version::V311, b"\xf0\x00").is_err());
    assert_eq!(ControlPacket::Other(15).emit(Version::V311, &mut [0; 8]), Err(NoRoom));
    for first in [4, 5, 7] {
        let bytes = [first << 4, 2, 0, 9];
        let read = match parse(Version::V311, &bytes) {
            Ok(ControlPacket::PubAck(ack)) => (4, ack.id),
            Ok(ControlPacket::PubRec(ack)) => (5, ack.id),
            Ok(ControlPacket::PubComp(ack)) => (7, ack.id),
            other => panic!("{other:?}"),
        };
        assert_eq!(read, (first, 9));
    }
}

/// 3.3.1: the flags of a PUBLISH, and version 5's properties, which are checked and not kept.
#[test]
fn flags_and_properties_of_a_publish() {
    let publish = Publish { dup: true, qos: 2, retain: true, id: 1, ..Publish::new("t", b"!") };
    let mut buf = [0; 16];
    assert_eq!(publish.emit(Version::V311, &mut buf), Ok(8));
    assert_eq!(&buf[..8], b"\x3d\x06\0\x01t\0\x01!");
    assert_eq!(parse(Version::V311, &buf[..8]), Ok(ControlPacket::Publish(publish)));
    let plain = Publish::new("t", b"!");
    assert_eq!(plain.emit(Version::V5, &mut buf), Ok(7));
    assert_eq!(&buf[..7], b"\x30\x05\0\x01t\0!");
    let every =
        b"\x30\x20\0\x01t\x1b\x26\0\x01k\0\x01v\x01\x01\x02\0\0\0\x09\x03\0\x01c\x09\0\x01d\x0b\x05\x23\0\x01!";
    let Ok(ControlPacket::Publish(read)) = parse(Version::V5, every) else { panic!() };
    assert_eq!(
        (read.topic_alias(), read.message_expiry(), read.payload),
        (Some(1), Some(9), &b"!"[..])
    );
    let mut long = [0; 34];
    assert_eq!(read.emit(Version::V5, &mut long), Ok(34));
    assert_eq!(&long, every, "properties are emitted as they came");
    // One identifier for each subscription that it matches (5: 3.3.2.3.8), of a server alone.
    let ids = b"\x30\x08\0\x01t\x04\x0b\x05\x0b\x06";
    assert!(parse(Version::V5, ids).is_ok());
    let (frame, _) = RawPacket::cut(ids).unwrap().unwrap();
    assert_eq!(
        Publish::of_client(Version::V5, &frame).map_err(|it| it.reason),
        Err(reason::PROTOCOL_ERROR)
    );
    assert!(parse(Version::V5, b"\x30\x06\0\x01t\x02\x7f\x00").is_err(), "an unknown property");
    assert!(parse(Version::V311, b"\x30\x05\0\x03a+b").is_err());
    assert!(parse(Version::V311, b"\x30\x05\0\x03a\0b").is_err(), "U+0000 (1.5.3)");
}

#[test]
fn what_the_standard_forbids_is_malformed() {
    for bytes in [
        &b"\x36\x07\0\x03a/b\0\x0a"[..],     // QoS 3
        b"\x32\x07\0\x03a/b\0\0",            // packet identifier 0
        b"\x30\x05\0\x03a/#",                // wildcard in a topic name
        b"\x30\x04\0\x02\xff\xfe",           // not UTF-8
        b"\x82\x02\0\x0a",                   // no filter
        b"\xd0\x01\0",                       // a ping with a body
        b"\x00\x00",                         // type 0
        b"\x10\x0a\0\x04MQTT\x03\x02\0\x0a", // level 3
    ] {
        assert!(parse(Version::V311, bytes).is_err(), "{bytes:x?}");
    }
}

fn qos(qos: u8) -> SubscriptionOptions {
    SubscriptionOptions::of_qos(qos)
}

/// 3.10 and 3.11 in both versions: an UNSUBACK has codes in version 5 alone.
#[test]
fn unsubscriptions_by_their_bytes() {
    let bytes = b"\xa2\x0b\0\x0a\0\0\x01a\0\x03b/c";
    let Ok(ControlPacket::Unsubscribe(read)) = parse(Version::V5, bytes) else { panic!() };
    assert_eq!((read.id, read.filters().collect::<Vec<_>>()), (10, std::vec!["a", "b/c"]));
    let mut buf = [0xEE; 16];
    assert_eq!(read.emit(Version::V5, &mut buf), Ok(13));
    assert_eq!(&buf[..13], bytes);
    assert_eq!(read.emit(Version::V311, &mut buf), Ok(12));
    assert_eq!(&buf[..12], b"\xa2\x0a\0\x0a\0\x01a\0\x03b/c");
    let ack = UnsubAck { id: 10, codes: &[0, reason::NO_SUBSCRIPTION] };
    assert_eq!(ack.emit(Version::V5, &mut buf), Ok(7));
    assert_eq!(buf[..7], [0xB0, 5, 0, 10, 0, 0, 0x11]);
    assert_eq!(parse(Version::V5, &buf[..7]), Ok(ControlPacket::UnsubAck(ack)));
    assert_eq!(ack.emit(Version::V311, &mut buf), Ok(4));
    let bare = UnsubAck { id: 10, codes: &[] };
    assert_eq!(parse(Version::V311, &buf[..4]), Ok(ControlPacket::UnsubAck(bare)));
    for wrong in
        [&b"\xa0\x05\0\x0a\0\x01a"[..], b"\xa2\x02\0\x0a", b"\xb0\x03\0\x0a\0", b"\xb0\x00"]
    {
        assert!(parse(Version::V311, wrong).is_err(), "{wrong:x?}");
    }
    assert!(parse(Version::V5, b"\xb0\x03\0\x0a\0").is_err(), "a code for each filter");
}

fn text() -> impl Strategy<Value = std::string::String> {
    "[a-z/é]{0,40}"
}

fn publish() -> impl Strategy<Value = Vec<u8>> {
    (
        "[a-z/é]{1,40}",
        0..3u8,
        1..=u16::MAX,
        any::<(bool, bool)>(),
        prop::collection::vec(any::<u8>(), 0..300),
    )
        .prop_map(|(topic, qos, id, (dup, retain), payload)| {
            let id = if qos > 0 { id } else { 0 };
            // 3.3.1.1: what is sent once at most is not sent again.
            let dup = dup && qos > 0;
            let p = Publish { dup, qos, retain, id, ..Publish::new(&topic, &payload) };
            written(ControlPacket::Publish(p))
        })
}

fn written(packet: ControlPacket<'_>) -> Vec<u8> {
    let mut buf = std::vec![0; 700];
    let len = packet.emit(Version::V5, &mut buf).expect("room");
    buf.truncate(len);
    let mut exact = std::vec![0; len];
    assert_eq!(packet.emit(Version::V5, &mut exact), Ok(len), "an exact buffer is enough");
    assert_eq!(exact, buf);
    assert_eq!(packet.emit(Version::V5, &mut exact[..len - 1]), Err(NoRoom));
    assert_eq!(parse(Version::V5, &buf), Ok(packet));
    buf
}

fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    let ack = (1..=u16::MAX, any::<u8>()).prop_map(|(id, reason)| PublishAck { id, reason });
    let connack = (
        any::<(bool, u8)>(),
        prop::option::of(1..=u16::MAX),
        0..3u8,
        prop::option::of(1..u32::MAX),
    )
        .prop_map(
            |((session_present, code), receive_maximum, maximum_qos, maximum_packet_size)| {
                let server_keep_alive = receive_maximum;
                written(ControlPacket::ConnAck(ConnAck {
                    session_present,
                    code,
                    receive_maximum,
                    maximum_qos,
                    maximum_packet_size,
                    topic_alias_maximum: receive_maximum.unwrap_or(0),
                    server_keep_alive,
                    assigned_client_id: session_present.then_some("espbench-00000001"),
                }))
            },
        );
    let connect =
        (text(), prop::option::of(text()), any::<(bool, u16)>(), prop::option::of(1..=u16::MAX))
            .prop_map(|(id, name, (clean, keep_alive), receive_maximum)| {
                let properties = Properties::of_parsed(b"\x18\0\0\0\x05\x26\0\x01k\0\x01v");
                let topic = "gone";
                let will = Will { qos: 1, retain: clean, topic, payload: b"bye", properties };
                written(ControlPacket::Connect(Connect {
                    clean,
                    will: clean.then_some(will),
                    authentication_method: clean.then_some("SCRAM"),
                    authentication_data: clean.then_some(&[0, 1]),
                    keep_alive,
                    username: name.as_deref(),
                    password: name.as_deref().map(str::as_bytes),
                    session_expiry: clean.then_some(u32::from(keep_alive) << 16),
                    receive_maximum,
                    maximum_packet_size: receive_maximum.map(u32::from),
                    ..Connect::new(Version::V5, &id)
                }))
            });
    prop_oneof![
        3 => publish(),
        1 => connack,
        1 => connect,
        1 => (ack, 0..4).prop_map(|(ack, which)| written(match which {
            0 => ControlPacket::PubAck(ack),
            1 => ControlPacket::PubRec(ack),
            2 => ControlPacket::PubRel(ack),
            _ => ControlPacket::PubComp(ack),
        })),
        1 => (1..=u16::MAX, prop::collection::vec(any::<u8>(), 1..5))
            .prop_map(|(id, codes)| written(ControlPacket::SubAck(SubAck { id, codes: &codes }))),
        1 => (0..3).prop_map(|which| written(match which {
            0 => ControlPacket::PingReq,
            1 => ControlPacket::PingResp,
            _ => ControlPacket::Disconnect(Disconnect { reason: 0x8b, session_expiry: Some(7) }),
        })),
    ]
}

proptest! {
    #[test]
    fn any_chunks_give_the_same_packets(
        packets in prop::collection::vec(any_packet(), 0..12),
        cuts in prop::collection::vec(1..50usize, 1..200),
    ) {
        let bytes = packets.concat();
        let mut buf = [0; 700];
        let mut splitter = Splitter::new(&mut buf);
        let mut seen = Vec::new();
        let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (mut chunk, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            while let Some(frame) = splitter.next(&mut chunk).unwrap() {
                seen.push((frame.first, frame.body.to_vec()));
            }
            prop_assert!(chunk.is_empty());
            rest = after;
        }
        let whole: Vec<_> = packets.iter().map(|p| {
            let frame = RawPacket::cut(p).unwrap().unwrap().0;
            (frame.first, frame.body.to_vec())
        }).collect();
        prop_assert_eq!(seen, whole);
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1..20usize) {
        for version in [Version::V311, Version::V5] {
            let mut buf = [0; 64];
            let mut splitter = Splitter::new(&mut buf);
            'stream: for chunk in bytes.chunks(step) {
                let mut chunk = chunk;
                loop {
                    match splitter.next(&mut chunk) {
                        Ok(Some(frame)) => {
                            prop_assert!(frame.body.len() <= 64);
                            if let Ok(ControlPacket::Subscribe(s)) = ControlPacket::parse(version, &frame) {
                                prop_assert!(s.filters.count() > 0);
                            }
                        }
                        Ok(None) => break,
                        Err(_) => break 'stream,
                    }
                }
            }
        }
    }

    /// Every packet type, with a header that is right and a body that is not.
    #[test]
    fn mangled_packets_never_panic(packet in any_packet(), at in 0..700usize, to: u8, first: u8) {
        let mut packet = packet;
        let at = at % packet.len();
        packet[at] = to;
        for version in [Version::V311, Version::V5] {
            if let Ok(Some((frame, _))) = RawPacket::cut(&packet) {
                let _ = ControlPacket::parse(version, &frame);
                let _ = ControlPacket::parse(version, &RawPacket { first, body: frame.body });
            }
        }
    }
}

#[test]
fn a_packet_beyond_the_buffer_is_refused_whatever_the_chunks() {
    let bytes = written(ControlPacket::SubAck(SubAck { id: 1, codes: &[0; 100] }));
    for step in [1, 7, 200] {
        let mut buf = [0; 64];
        let mut splitter = Splitter::new(&mut buf);
        let refused = bytes.chunks(step).any(|mut chunk| splitter.next(&mut chunk).is_err());
        assert!(refused, "in steps of {step}");
    }
}

/// Checks that a packet is refused as soon as its length is known, and that one may fill the buffer.
#[test]
fn the_length_decides_before_the_body_comes() {
    let bytes = written(ControlPacket::SubAck(SubAck { id: 1, codes: &[0; 60] }));
    assert_eq!(bytes.len(), 65);
    let mut buf = [0; 64];
    let mut splitter = Splitter::new(&mut buf);
    assert!(splitter.next(&mut &bytes[..7]).is_err(), "its head is here");
    let mut splitter = Splitter::new(&mut buf);
    assert_eq!(splitter.next(&mut &bytes[..1]), Ok(None));
    assert!(splitter.next(&mut &bytes[1..2]).is_err());
    let mut room = [0; 65];
    let mut splitter = Splitter::new(&mut room);
    for at in 0..64 {
        assert_eq!(splitter.next(&mut &bytes[at..=at]), Ok(None));
        assert!(splitter.is_partial());
    }
    let whole = splitter.next(&mut &bytes[64..]).map(|packet| packet.map(|it| it.body.len()));
    assert_eq!(whole, Ok(Some(63)), "a packet as long as the buffer");
    assert!(!splitter.is_partial());
    let mut chunk = &bytes[..];
    let body = splitter.next(&mut chunk).map(|packet| packet.map(|it| it.body.as_ptr()));
    assert_eq!(body, Ok(Some(bytes[2..].as_ptr())), "a whole packet is cut where it lies");
    assert!(chunk.is_empty() && !splitter.is_partial());
    // A new connection begins with a packet, whatever the last one ended with.
    assert_eq!(splitter.next(&mut &bytes[..10]), Ok(None));
    splitter.reset();
    assert!(!splitter.is_partial());
    let mut ping = &b"\xd0\x00"[..];
    assert_eq!(splitter.next(&mut ping), Ok(Some(RawPacket { first: 0xD0, body: &[] })));
}
