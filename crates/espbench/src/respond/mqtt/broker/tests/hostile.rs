//! Clients that do not keep to the standard.

use super::*;

#[test]
fn what_is_not_mqtt_is_said_and_closed() {
    type Is = fn(&BrokerNotice) -> bool;
    let rows: [(&[u8], Is); 7] = [
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", |note| matches!(note, BrokerNotice::Tls(_))),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", |note| matches!(note, BrokerNotice::Http(_))),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", |note| matches!(note, BrokerNotice::Http(_))),
        (b"\0\0\0\0", |note| matches!(note, BrokerNotice::NotMqtt(..))),
        (b"\xff\xff\xff\xff", |note| matches!(note, BrokerNotice::NotMqtt(..))),
        (b"\x30\x03\0\x01t", |note| matches!(note, BrokerNotice::NotMqtt(..))),
        (b"\x10\xff\xff\xff\xff\x01", |note| matches!(note, BrokerNotice::Fault(..))),
    ];
    for (bytes, is) in rows {
        for step in [1, 2, bytes.len()] {
            let mut world = BrokerTestbed::with_default_limits();
            let id = world.open();
            for piece in bytes.chunks(step) {
                world.send(id, piece);
            }
            assert_eq!(world.read(id), b"", "{bytes:02x?}");
            assert!(world.broker.is_done(id), "{bytes:02x?}");
            let notes = world.notes();
            assert!(matches!(&notes[..], [note] if is(note)), "{bytes:02x?}: {notes:?}");
        }
    }
}

/// After a CONNECT of version 5: the reason of the DISCONNECT. In 3.1.1 all just close.
#[test]
fn breaches_of_the_standard_and_their_reasons() {
    let rows: [(&[u8], u8); 26] = [
        (b"\x00\x00", 0x82),                    // type 0
        (b"\x20\x02\0\0", 0x82),                // CONNACK from a client
        (b"\x90\x03\0\x01\0", 0x82),            // SUBACK from a client
        (b"\xf0\0", 0x82),                      // AUTH without a method
        (b"\xc0\x01\0", 0x81),                  // a ping with a body
        (b"\xc1\0", 0x81),                      // a ping with flags
        (b"\x36\x06\0\x01t\0\x01\0", 0x81),     // QoS 3
        (b"\x38\x04\0\x01t\0", 0x81),           // a duplicate at QoS 0
        (b"\x32\x06\0\x01t\0\0\0", 0x81),       // packet identifier 0
        (b"\x30\x04\0\x01#\0", 0x90),           // a wildcard
        (b"\x30\x03\0\0\0", 0x82),              // no topic, no alias
        (b"\x30\x06\0\0\x03\x23\0\x01", 0x94),  // an alias that was never set
        (b"\x30\x04\0\x01\xff\0", 0x81),        // not UTF-8
        (b"\x30\x04\0\x01\0\0", 0x81),          // U+0000
        (b"\x30\x02\0\x05", 0x81),              // cut off
        (b"\x30\x06\0\x01t\x02\x0b\x01", 0x82), // a subscription identifier
        (b"\x30\x05\0\x01t\x01\x7f", 0x81),     // an unknown property
        (b"\x30\xff\xff\xff\xff\x01", 0x81),    // a length of five bytes
        (b"\x30\x80\x80\x80\x01", 0x95),        // 2 MiB
        (b"\x82\x03\0\x01\0", 0x82),            // no filter
        (b"\x80\x07\0\x01\0\0\x01t\0", 0x81),   // flags
        (b"\x82\x07\0\x01\0\0\x01t\x03", 0x81), // QoS 3
        (b"\x82\x07\0\x01\0\0\x01t\x40", 0x81), // reserved bits
        (b"\xa2\x03\0\x01\0", 0x82),            // no filter
        (b"\x60\x02\0\x01", 0x81),              // PUBREL without its flags
        (b"\xe1\0", 0x81),                      // DISCONNECT with flags
    ];
    for (bytes, reason) in rows {
        let mut world = BrokerTestbed::with_default_limits();
        let id = world.connect(&connect_5("me", true, 0, b""));
        assert_eq!(world.ask(id, bytes), [0xe0, 1, reason], "{bytes:02x?}");
        assert!(world.broker.is_done(id));
        let id = world.connect(&connect("me", true));
        world.send(id, bytes);
        if bytes[0] & 0xf0 == 0x80 || bytes[0] & 0xf0 == 0xa0 || bytes[0] == 0x30 {
            // Without properties these mean something else, or are not complete.
            continue;
        }
        assert_eq!(world.read(id), b"", "{bytes:02x?}");
        assert!(world.broker.is_done(id), "{bytes:02x?}");
    }
}

#[test]
fn acknowledgements_of_nothing_and_of_the_wrong_kind() {
    let mut world = BrokerTestbed::with_default_limits();
    let publisher = world.connect(&connect("p", true));
    let id = world.connect(&connect_5("s", true, 0, b""));
    world.ask(id, &subscribe("t", 2, Some(b"")));
    assert_eq!(world.ask(id, b"\x40\x02\0\x09"), b"");
    assert_eq!(world.ask(id, b"\x50\x02\0\x09"), b"\x62\x03\0\x09\x92");
    assert_eq!(world.ask(id, b"\x70\x02\0\x09"), b"");
    world.send(publisher, &publish(4, "t", 1, None, b""));
    world.read(id);
    assert_eq!(world.ask(id, b"\x40\x02\0\x01"), b"\xe0\x01\x82", "PUBACK of a QoS 2 message");
}

/// Found by fuzzing: what was asked for before an error was answered or not, by how bytes came.
#[test]
fn what_came_before_an_error_is_answered() {
    let mut world = BrokerTestbed::with_default_limits();
    let id = world.open();
    world.send(id, &[&connect("me", true)[..], b"\xc0\0\0\0"].concat());
    assert_eq!(world.read(id), b"\x20\x02\0\0\xd0\0");
    assert!(world.broker.is_done(id));
}

#[test]
fn topics_and_filters_without_end() {
    let mut world = BrokerTestbed::with_default_limits();
    let deep = "a/".repeat(199) + "a";
    let deeper = "a/".repeat(200) + "a";
    let id = world.connect(&connect_5("me", true, 0, b""));
    assert_eq!(world.ask(id, &subscribe(&deep, 0, Some(b"")))[4..], [0, 0]);
    assert_eq!(world.ask(id, &subscribe(&deeper, 0, Some(b"")))[4..], [0, 0x97]);
    assert_eq!(world.ask(id, &publish(0, &deep, 0, Some(b""), b"")).len(), deep.len() + 6);
    assert_eq!(world.ask(id, &publish(0, &deeper, 0, Some(b""), b"")), b"\xe0\x01\x90");
}

#[test]
fn a_connect_that_never_ends_is_given_up() {
    let mut world = BrokerTestbed::with_default_limits();
    let silent = world.open();
    let slow = world.open();
    for byte in connect("a client whose CONNECT takes its time", true) {
        world.send(slow, &[byte]);
        world.pass(Duration::from_millis(900));
    }
    for id in [silent, slow] {
        assert!(world.broker.is_done(id));
        assert_eq!(world.read(id), b"");
    }
    assert_eq!(world.count(BrokerCounter::TimedOut), 2);
}
