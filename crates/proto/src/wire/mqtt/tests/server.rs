//! Packets as a server takes and passes them on, and what the standards forbid a client.

use crate::wire::mqtt::bytes::MAX_REMAINING;
use crate::wire::mqtt::*;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

fn frame(bytes: &[u8]) -> RawPacket<'_> {
    let (frame, len) = RawPacket::cut(bytes).expect("a length").expect("whole");
    assert_eq!(len, bytes.len());
    frame
}

#[test]
fn connect_in_three_protocols() {
    let old = b"\x10\x10\0\x06MQIsdp\x03\x02\0\x0a\0\x02id";
    let old = Connect::parse(&frame(old)).unwrap();
    assert_eq!(
        (old.protocol, old.client_id, old.session_expiry_interval()),
        (Protocol::V31, "id", 0)
    );
    let kept = b"\x10\x20\0\x04MQTT\x04\xec\0\x0a\0\x02id\0\x01w\0\x03bye\0\x04user\0\x02pw";
    let kept = Connect::parse(&frame(kept)).unwrap();
    assert_eq!((kept.clean, kept.session_expiry_interval()), (false, u32::MAX));
    let will = kept.will.unwrap();
    assert_eq!((will.qos, will.retain, will.topic, will.payload), (1, true, "w", &b"bye"[..]));
    assert_eq!((kept.username, kept.password), (Some("user"), Some(&b"pw"[..])));
    let new = b"\x10\x14\0\x04MQTT\x05\x02\0\x0a\x05\x11\0\0\0\x0a\0\x02id";
    let new = Connect::parse(&frame(new)).unwrap();
    assert_eq!((new.protocol, new.session_expiry_interval()), (Protocol::V5, 10));
}

#[test]
fn connects_that_are_refused() {
    let level = |level: &[u8]| Connect::parse(&RawPacket { first: 0x10, body: level }).unwrap_err();
    assert_eq!(level(b"\0\x04MQTT\x03\x02\0\0\0\0"), Refusal::Level(false));
    assert_eq!(level(b"\0\x04MQTT\x06\x02\0\0\0\0"), Refusal::Level(true));
    assert_eq!(level(b"\0\x06MQIsdp\x04\x02\0\0\0\0"), Refusal::Level(false));
    assert!(matches!(level(b"\0\x04AMQP\x04\x02\0\0\0\0"), Refusal::NotMqtt(_)));
    assert!(matches!(level(b"\0\x04MQ"), Refusal::NotMqtt(_)));
    for body in [
        &b"\0\x04MQTT\x04\x03\0\0\0\0"[..],          // reserved flag
        b"\0\x04MQTT\x04\x1e\0\0\0\0\0\0\0\0",       // will QoS 3
        b"\0\x04MQTT\x04\x22\0\0\0\0",               // retained will without a will
        b"\0\x04MQTT\x04\x42\0\0\0\0\0\0",           // password without a user name
        b"\0\x04MQTT\x04\x02\0\0\0\0\0",             // a byte too many
        b"\0\x04MQTT\x05\x02\0\0\x03\x21\0\0\0\0",   // receive maximum 0
        b"\0\x04MQTT\x05\x02\0\0\x03\x23\0\x01\0\0", // a topic alias
        b"\0\x04MQTT\x05\x02\0\0\x0a\x11\0\0\0\x01\x11\0\0\0\x01\0\0", // twice
        b"\0\x04MQTT\x05\x06\0\0\0\0\0\0\0\x01#\0\0", // a will to a filter
    ] {
        let refusal = Connect::parse(&RawPacket { first: 0x10, body });
        assert!(matches!(refusal, Err(Refusal::Fault(..))), "{body:x?}: {refusal:?}");
    }
}

#[test]
fn connack_in_both_forms() {
    let mut buf = [0; 64];
    let refused = |protocol: Protocol| {
        let code = protocol.connack_code(reason::UNSUPPORTED_VERSION);
        ConnAck { code, ..ConnAck::ACCEPTED }
    };
    let len = refused(Protocol::V311).emit(Protocol::V311, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\x20\x02\0\x01");
    let len = refused(Protocol::V5).emit(Protocol::V5, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\x20\x03\0\x84\0");
    let full = ConnAck {
        session_present: true,
        assigned_client_id: Some("me"),
        maximum_packet_size: Some(256),
        topic_alias_maximum: 16,
        ..ConnAck::ACCEPTED
    };
    let len = full.emit(Protocol::V5, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\x20\x10\x01\0\x0d\x12\0\x02me\x27\0\0\x01\0\x22\0\x10");
}

#[test]
fn publish_with_its_properties() {
    // The payload format, 0x01, comes twice.
    let body = b"\0\x01t\0\x07\x04\x01\x01\x01\x01!";
    assert_eq!(
        Publish::of_client(Protocol::V5, &RawPacket { first: 0x33, body }),
        Err(Fault::protocol("a property that comes twice"))
    );
    let body = b"\0\x01t\0\x07\x11\x02\0\0\0\x09\x23\0\x02\x26\0\x01k\0\x01v\x01\x01!!";
    let message = Publish::of_client(Protocol::V5, &RawPacket { first: 0x33, body }).unwrap();
    assert_eq!((message.topic, message.id, message.qos, message.retain), ("t", 7, 1, true));
    assert_eq!(
        (message.topic_alias(), message.message_expiry(), message.payload),
        (Some(2), Some(9), &b"!!"[..])
    );
    let forwarded: Vec<u8> = message.properties.forwarded().flatten().copied().collect();
    assert_eq!(forwarded, b"\x26\0\x01k\0\x01v\x01\x01");
}

#[test]
fn publishes_that_are_refused() {
    let parse = |protocol, first, body| {
        Publish::of_client(protocol, &RawPacket { first, body }).map_err(|fault| fault.reason)
    };
    assert_eq!(parse(Protocol::V5, 0x36, b"\0\x01t\0\x01\0"), Err(reason::MALFORMED));
    assert_eq!(parse(Protocol::V5, 0x38, b"\0\x01t\0"), Err(reason::MALFORMED));
    assert_eq!(parse(Protocol::V5, 0x32, b"\0\x01t\0\0\0"), Err(reason::MALFORMED));
    assert_eq!(parse(Protocol::V5, 0x30, b"\0\x01#\0"), Err(reason::TOPIC));
    assert_eq!(parse(Protocol::V5, 0x30, b"\0\0\0"), Err(reason::PROTOCOL_ERROR));
    assert_eq!(parse(Protocol::V5, 0x30, b"\0\0\x03\x23\0\0"), Err(reason::TOPIC_ALIAS));
    assert_eq!(parse(Protocol::V5, 0x30, b"\0\x01t\x02\x0b\x01"), Err(reason::PROTOCOL_ERROR));
    assert_eq!(parse(Protocol::V311, 0x30, b"\0\0"), Err(reason::PROTOCOL_ERROR));
    assert_eq!(parse(Protocol::V311, 0x30, b"\0\x02t\0"), Err(reason::MALFORMED));
}

#[test]
fn subscribe_with_options() {
    let body = b"\0\x0a\x02\x0b\x05\0\x01a\x2d";
    let subscribe = Subscribe::parse(Protocol::V5, &RawPacket { first: 0x82, body }).unwrap();
    assert_eq!((subscribe.id, subscribe.subscription), (10, Some(5)));
    let options = SubscriptionOptions {
        qos: 1,
        no_local: true,
        retain_as_published: true,
        retain_handling: 2,
    };
    assert_eq!(subscribe.filters.collect::<Vec<_>>(), [("a", options)]);
    let reason = |protocol, first, body| {
        Subscribe::parse(protocol, &RawPacket { first, body }).map_err(|fault| fault.reason)
    };
    assert_eq!(reason(Protocol::V311, 0x82, b"\0\x0a\0\x01a\x04"), Err(reason::MALFORMED));
    assert_eq!(reason(Protocol::V311, 0x80, b"\0\x0a\0\x01a\x00"), Err(reason::MALFORMED));
    assert!(reason(Protocol::V31, 0x8a, b"\0\x0a\0\x01a\x00").is_ok());
    assert_eq!(reason(Protocol::V5, 0x82, b"\0\x0a\0"), Err(reason::PROTOCOL_ERROR));
    assert_eq!(reason(Protocol::V5, 0x82, b"\0\x0a\0\0\x01a\x30"), Err(reason::PROTOCOL_ERROR));
    assert_eq!(
        reason(Protocol::V5, 0x82, b"\0\x0a\0\0\x0a$share/a/b\x04"),
        Err(reason::PROTOCOL_ERROR)
    );
    assert_eq!(
        reason(Protocol::V5, 0x82, b"\0\x0a\x02\x0b\0\0\x01a\0"),
        Err(reason::PROTOCOL_ERROR)
    );
}

#[test]
fn unsubscribe_acknowledgement_and_disconnect() {
    let unsubscribe = RawPacket { first: 0xa2, body: b"\0\x01\0\0\x01a\0\x03b/c" };
    let unsubscribe = Unsubscribe::parse(Protocol::V5, &unsubscribe).unwrap();
    assert_eq!(unsubscribe.filters().collect::<Vec<_>>(), ["a", "b/c"]);
    for body in [&b"\0\x01\0\0\x01a\0\x03b/"[..], b"\0\x01\0\0", b"\0\x01\0"] {
        let cut_off = Unsubscribe::parse(Protocol::V5, &RawPacket { first: 0xa2, body });
        assert!(cut_off.is_err(), "{body:?}");
    }
    let ack = PublishAck::parse(Protocol::V5, &RawPacket { first: 0x40, body: b"\0\x07\x10\0" });
    assert_eq!(ack.map(|ack| (ack.id, ack.reason)), Ok((7, 0x10)));
    assert!(
        PublishAck::parse(Protocol::V311, &RawPacket { first: 0x60, body: b"\0\x07" }).is_err()
    );
    let gone = RawPacket { first: 0xe0, body: b"\x04\x05\x11\0\0\0\x01" };
    let gone = Disconnect::of_client(Protocol::V5, &gone).unwrap();
    assert_eq!(gone, Disconnect { reason: 4, session_expiry: Some(1) });
    let mut buf = [0; 16];
    let codes = &[1, reason::QUOTA];
    let len = SubAck { id: 3, codes }.emit(Protocol::V311, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\x90\x04\0\x03\x01\x80");
    let len = UnsubAck { id: 3, codes }.emit(Protocol::V5, &mut buf).unwrap();
    assert_eq!(&buf[..len], b"\xb0\x05\0\x03\0\x01\x97");
}

/// Compares a message with expiry and subscription identifiers by its bytes (5: 3.3.2.3).
#[test]
fn a_message_passed_on_by_its_bytes() {
    let out = Publish {
        dup: true,
        qos: 2,
        retain: true,
        id: 0x0102,
        properties: Properties::of_parsed(b"\x01\x01"),
        ..Publish::new("t", b"abc")
    };
    let added = AddedProperties { message_expiry: Some(9), subscription_ids: &[5, 200] };
    let new = b"\x3d\x15\0\x01t\x01\x02\x0c\x02\0\0\0\x09\x0b\x05\x0b\xc8\x01\x01\x01";
    let mut buf = [0xEE; 32];
    assert_eq!(out.head(Protocol::V5, &added, &mut buf), Ok(new.len()));
    assert_eq!(&buf[..new.len()], new);
    assert_eq!(out.len(Protocol::V5, &added), new.len() + 3);
    assert_eq!(out.head(Protocol::V5, &added, &mut buf[..new.len() - 1]), Err(NoRoom));
    let old = b"\x3d\x08\0\x01t\x01\x02";
    assert_eq!(out.head(Protocol::V311, &added, &mut buf), Ok(7));
    assert_eq!((&buf[..7], out.len(Protocol::V311, &added)), (&old[..], 10));
    let once = Publish { qos: 0, dup: false, retain: false, ..out };
    assert_eq!(once.head(Protocol::V311, &added, &mut buf), Ok(5));
    assert_eq!(&buf[..5], b"\x30\x06\0\x01t");
    // The longest packet has a remaining length of 268,435,455 bytes (2.2.3).
    let payload = vec![0; MAX_REMAINING - 2];
    let longest = Publish { payload: &payload[1..], ..once };
    assert_eq!(longest.head(Protocol::V311, &added, &mut buf), Ok(8));
    assert_eq!(&buf[..5], b"\x30\xff\xff\xff\x7f");
    let longer = Publish { payload: &payload, ..once };
    assert_eq!(longer.head(Protocol::V311, &added, &mut buf), Err(NoRoom));
}

/// Compares the answers to CONNECT of 3.1.1 (table 3.1) with version 5's reason codes.
#[test]
fn return_codes_of_the_old_versions() {
    let codes = [
        reason::SUCCESS,
        reason::UNSUPPORTED_VERSION,
        reason::CLIENT_ID,
        reason::BUSY,
        0x86, // bad user name or password
        0x87, // not authorized
        reason::QUOTA,
    ];
    assert_eq!(codes.map(|code| Protocol::V311.connack_code(code)), [0, 1, 2, 3, 4, 5, 3]);
    assert_eq!(codes.map(|code| Protocol::V31.connack_code(code)), [0, 1, 2, 3, 4, 5, 3]);
    assert_eq!(codes.map(|code| Protocol::V5.connack_code(code)), codes);
    assert_eq!(Protocol::V31.version(), Version::V311);
    assert_eq!((Protocol::V311.version(), Protocol::V5.version()), (Version::V311, Version::V5));
}

/// Reads what every property of a CONNECT and of a will says (5: 3.1.2.11, 3.1.3.2).
#[test]
fn properties_of_a_connect_and_of_its_will() {
    let body =
        b"\0\x04MQTT\x05\xf6\0\x3c\x15\x11\0\0\0\x0a\x15\0\x01m\x16\0\x01d\x21\0\x14\x27\0\0\x01\0\
        \0\x02id\x0a\x18\0\0\0\x05\x02\0\0\0\x07\0\x01w\0\x03bye\0\x01u\0\x01p";
    let read = Connect::parse(&RawPacket { first: 0x10, body }).unwrap();
    assert_eq!((read.session_expiry, read.receive_maximum), (Some(10), Some(20)));
    assert_eq!((read.maximum_packet_size, read.authentication_method), (Some(256), Some("m")));
    assert_eq!(read.authentication_data, Some(&b"d"[..]));
    assert_eq!((read.keep_alive, read.clean, read.client_id), (60, true, "id"));
    let will = read.will.unwrap();
    assert_eq!((will.qos, will.retain, will.delay(), will.message_expiry()), (2, true, 5, Some(7)));
    assert_eq!((will.topic, will.payload), ("w", &b"bye"[..]));
    assert_eq!((read.username, read.password), (Some("u"), Some(&b"p"[..])));
    let plain =
        Connect::parse(&RawPacket { first: 0x10, body: b"\0\x04MQTT\x05\x40\0\0\0\0\0\0\x01p" });
    let plain = plain.unwrap();
    assert_eq!((plain.session_expiry_interval(), plain.receive_maximum), (0, None));
    assert_eq!(
        (plain.authentication_method, plain.password),
        (None, Some(&b"p"[..])),
        "5: 3.1.2.9"
    );
    assert!(!plain.clean && plain.will.is_none());
}

/// Checks what the flags of a CONNECT say of a will, and which of them cannot be (3.1.2.3 to 3.1.2.6).
#[test]
fn flags_of_a_will() {
    let parse = |body| Connect::parse(&RawPacket { first: 0x10, body });
    let what = |body| match parse(body) {
        Err(Refusal::Fault(_, fault)) => fault.what,
        other => panic!("{other:?}"),
    };
    let will = parse(b"\0\x04MQTT\x04\x0c\0\0\0\0\0\x01w\0\0").unwrap().will.unwrap();
    assert_eq!((will.qos, will.retain, will.topic), (1, false, "w"));
    assert_eq!((will.delay(), will.message_expiry(), will.payload), (0, None, &b""[..]));
    let nothing = parse(b"\0\x04MQTT\x04\x00\0\0\0\0").unwrap();
    assert_eq!(
        (nothing.will, nothing.clean, nothing.session_expiry_interval()),
        (None, false, u32::MAX)
    );
    let cannot = "flags of a will that cannot be";
    assert_eq!(what(b"\0\x04MQTT\x04\x1c\0\0\0\0\0\x01w\0\0"), cannot, "QoS 3");
    assert_eq!(what(b"\0\x04MQTT\x04\x08\0\0\0\0"), cannot, "a QoS without a will");
    assert_eq!(what(b"\0\x04MQTT\x04\x20\0\0\0\0"), cannot, "retained without a will");
    assert_eq!(what(b"\0\x04MQTT\x04\x01\0\0\0\0"), "a reserved flag is set");
    let alone = b"\0\x04MQTT\x05\x02\0\0\x04\x16\0\x01d\0\0";
    assert_eq!(what(alone), "authentication data without a method");
}

/// Checks values of properties that are an error in any packet (5: 3.3.2.3).
#[test]
fn values_that_no_property_has() {
    let parse = |list: &[u8]| {
        let body = [&[0, 1, b't', list.len() as u8], list].concat();
        Publish::of_client(Protocol::V5, &RawPacket { first: 0x30, body: &body })
            .map(|message| message.payload.len())
            .map_err(|fault| fault.reason)
    };
    assert_eq!((parse(&[1, 0]), parse(&[1, 1])), (Ok(0), Ok(0)));
    assert_eq!(parse(&[1, 2]), Err(reason::PROTOCOL_ERROR), "the payload format is 0 or 1");
    assert_eq!(parse(b"\x08\0\x03a/b"), Ok(0));
    assert_eq!(parse(b"\x08\0\x03a/#"), Err(reason::PROTOCOL_ERROR), "a response topic");
    assert_eq!(parse(b"\x26\0\x01k\0\x01v\x26\0\x01k\0\x01v"), Ok(0), "user properties");
    let body = b"\0\x01t\0\x02\0";
    let message = Publish::of_client(Protocol::V5, &RawPacket { first: 0x32, body }).unwrap();
    assert_eq!((message.dup, message.qos, message.retain, message.id), (false, 1, false, 2));
}

/// Checks the options of a subscription in each protocol (3.8.3, 5: 3.8.3.1).
#[test]
fn options_bit_by_bit() {
    let parse = |protocol: Protocol, filter: &[u8], byte: u8| {
        let properties: &[u8] = if protocol.is_5() { &[0] } else { &[] };
        let body = [&[0, 10], properties, &[0, filter.len() as u8], filter, &[byte]].concat();
        Subscribe::parse(protocol, &RawPacket { first: 0x82, body: &body })
            .map(|it| it.filters.clone().next().map(|(_, options)| options))
            .map_err(|fault| fault.reason)
    };
    let none = SubscriptionOptions::default();
    for (byte, options) in [
        (0x00, none),
        (0x02, SubscriptionOptions { qos: 2, ..none }),
        (0x04, SubscriptionOptions { no_local: true, ..none }),
        (0x08, SubscriptionOptions { retain_as_published: true, ..none }),
        (0x10, SubscriptionOptions { retain_handling: 1, ..none }),
    ] {
        assert_eq!(parse(Protocol::V5, b"a", byte), Ok(Some(options)), "{byte:x}");
    }
    for byte in [0x40, 0x80, 0x03] {
        assert_eq!(parse(Protocol::V5, b"a", byte), Err(reason::MALFORMED), "{byte:x}");
    }
    let second = SubscriptionOptions { qos: 2, ..none };
    assert_eq!(parse(Protocol::V311, b"a", 2), Ok(Some(second)));
    assert_eq!(parse(Protocol::V311, b"a", 0x10), Err(reason::MALFORMED));
    assert_eq!(parse(Protocol::V5, b"$share/a/b", 2), Ok(Some(second)));
}

/// Checks acknowledgements and DISCONNECT, whose reason and properties may be left out (5: 3.4.2.1).
#[test]
fn what_may_be_left_out() {
    let ack = |protocol, body| {
        PublishAck::parse(protocol, &RawPacket { first: 0x40, body }).map(|ack| ack.reason)
    };
    assert_eq!(ack(Protocol::V5, b"\0\x07"), Ok(0));
    assert_eq!(ack(Protocol::V5, b"\0\x07\x10"), Ok(0x10));
    assert!(ack(Protocol::V5, b"\0\x07\x10\0\0").is_err(), "bytes behind");
    assert_eq!(ack(Protocol::V311, b"\0\x07"), Ok(0));
    assert!(ack(Protocol::V311, b"\0\x07\x10").is_err(), "3.1.1 has no reasons");
    let gone = |protocol, body| {
        Disconnect::of_client(protocol, &RawPacket { first: 0xE0, body }).map(|it| it.reason)
    };
    assert_eq!(gone(Protocol::V5, b""), Ok(0));
    assert_eq!(gone(Protocol::V5, b"\x04"), Ok(4));
    assert!(gone(Protocol::V5, b"\x04\0\0").is_err(), "bytes behind");
    assert_eq!(gone(Protocol::V311, b""), Ok(0));
    assert!(gone(Protocol::V311, b"\x04").is_err());
    let mut buf = [0; 96];
    let codes = UnsubAck { id: 3, codes: &[0, 0x87] };
    assert_eq!(codes.emit(Protocol::V311, &mut buf), Ok(4));
    assert_eq!(&buf[..4], b"\xb0\x02\0\x03", "3.1.1 has no codes");
    let name = "x".repeat(64);
    let ack = ConnAck { assigned_client_id: Some(&name), ..ConnAck::ACCEPTED };
    assert_eq!(ack.emit(Protocol::V5, &mut buf), Ok(72));
    assert_eq!(buf[..8], [0x20, 70, 0, 0, 67, 0x12, 0, 64]);
    assert_eq!(ack.emit(Protocol::V5, &mut buf[..71]), Err(NoRoom));
    // A client may not name another server, as a server may (5: 3.14.2.2).
    let elsewhere = RawPacket { first: 0xE0, body: b"\x9c\x04\x1c\0\x01s" };
    assert!(Disconnect::parse(Protocol::V5, &elsewhere).is_ok());
    assert!(Disconnect::of_client(Protocol::V5, &elsewhere).is_err());
}

/// Reads CONNECTs of 3.1, which may lack what their flags announce and whose own flags are free.
#[test]
fn the_old_protocol_is_taken_as_it_is() {
    let parse = |first, body| Connect::parse(&RawPacket { first, body });
    let short = parse(0x1F, b"\0\x06MQIsdp\x03\xc2\0\0\0\x02id").unwrap();
    assert_eq!((short.username, short.password), (None, None));
    let name = parse(0x10, b"\0\x06MQIsdp\x03\xc2\0\0\0\x02id\0\x01u").unwrap();
    assert_eq!((name.username, name.password), (Some("u"), None));
    let alone = parse(0x10, b"\0\x06MQIsdp\x03\x42\0\0\0\x02id\0\x01p").unwrap();
    assert_eq!(alone.password, Some(&b"p"[..]), "a password without a user name");
    assert!(matches!(parse(0x11, b"\0\x04MQTT\x04\x02\0\0\0\0"), Err(Refusal::Fault(..))));
    assert!(matches!(parse(0x10, b"\0\x04MQTT\x04\xc2\0\0\0\x02id"), Err(Refusal::Fault(..))));
    assert!(matches!(parse(0x20, b"\0\x04MQTT\x04\x02\0\0\0\0"), Err(Refusal::NotMqtt(_))));
    assert_eq!(parse(0x10, b"\0\x04MQTT\x84\x02\0\0\0\0"), Err(Refusal::Level(false)));
    let message =
        |protocol, first| Publish::of_client(protocol, &RawPacket { first, body: b"\0\x01t!" });
    assert!(message(Protocol::V31, 0x38).is_ok_and(|it| it.dup && it.qos == 0 && !it.retain));
    assert!(message(Protocol::V311, 0x38).is_err());
    let ack = |protocol, first| PublishAck::parse(protocol, &RawPacket { first, body: b"\0\x07" });
    assert!(ack(Protocol::V31, 0x48).is_ok() && ack(Protocol::V311, 0x48).is_err());
    assert!(ack(Protocol::V31, 0x6A).is_ok() && ack(Protocol::V5, 0x6A).is_err());
    assert!(ack(Protocol::V31, 0x68).is_err() && ack(Protocol::V311, 0x62).is_ok());
    let gone = |protocol, first| Disconnect::of_client(protocol, &RawPacket { first, body: b"" });
    assert!(gone(Protocol::V31, 0xE1).is_ok() && gone(Protocol::V311, 0xE1).is_err());
    let all = |byte| {
        let body = [0, 10, 0, 1, b'a', byte];
        Subscribe::parse(Protocol::V31, &RawPacket { first: 0x82, body: &body })
            .map(|it| it.filters.clone().next().map(|(_, options)| options))
    };
    assert_eq!(
        all(0xFD),
        Ok(Some(SubscriptionOptions { qos: 1, ..SubscriptionOptions::default() }))
    );
}

proptest! {
    /// Checks that a message that is passed on parses as it was meant, in every version.
    #[test]
    fn a_message_passed_on_is_read_as_it_was(
        qos in 0u8..3, retain: bool, topic in "[a-z/]{1,200}", id in 1u16.., expiry: Option<u32>,
        payload in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        for protocol in [Protocol::V311, Protocol::V5] {
            let properties = Properties::of_parsed(b"\x26\0\x01k\0\x01v");
            let out = Publish {
                dup: qos > 0, qos, retain, id, properties, ..Publish::new(&topic, &payload)
            };
            let added = AddedProperties { message_expiry: expiry, subscription_ids: &[] };
            let mut bytes = vec![0; out.len(protocol, &added) - payload.len()];
            prop_assert_eq!(out.head(protocol, &added, &mut bytes), Ok(bytes.len()));
            bytes.extend_from_slice(&payload);
            let read = Publish::of_client(protocol, &frame(&bytes)).unwrap();
            prop_assert_eq!((read.qos, read.retain, read.topic), (qos, retain, &topic[..]));
            prop_assert_eq!(read.payload, &payload[..]);
            if protocol.is_5() {
                prop_assert_eq!(read.message_expiry(), expiry);
                prop_assert_eq!(read.properties.forwarded().count(), 1);
            }
        }
    }
}
