//! Connections, sessions, wills.

use super::*;

#[test]
fn three_protocols_on_one_port() {
    let mut world = BrokerTestbed::with_default_limits();
    let id = world.open();
    let old = packet(0x10, &[&b"\0\x06MQIsdp\x03\x02\0\0"[..], &string("old")].concat());
    assert_eq!(world.ask(id, &old), b"\x20\x02\0\0");
    let id = world.open();
    assert_eq!(world.ask(id, &connect("new", true)), b"\x20\x02\0\0");
    let id = world.open();
    // Maximum packet size 2,000,000 and 16 topic aliases.
    let answer = b"\x20\x0b\0\0\x08\x27\0\x1e\x84\x80\x22\0\x10";
    assert_eq!(world.ask(id, &connect_5("newest", true, 0, b"")), answer);
    assert_eq!(world.ask(id, b"\xc0\0"), b"\xd0\0", "a ping is answered");
}

#[test]
fn what_a_connect_is_refused_with() {
    let rows: [(&[u8], &[u8]); 11] = [
        // 3.1.1: 3.1.2.2: an unacceptable level is answered with code 1.
        (b"\x10\x0e\0\x04MQTT\x03\x02\0\0\0\x02me", b"\x20\x02\0\x01"),
        (b"\x10\x0c\0\x04MQTT\x84\x02\0\0\0\0", b"\x20\x02\0\x01"),
        (b"\x10\x0e\0\x06MQIsdp\x04\x02\0\0\0\0", b"\x20\x02\0\x01"),
        // 5: 3.1.2.2: and one above with 0x84.
        (b"\x10\x0d\0\x04MQTT\x06\x02\0\0\0\0\0", b"\x20\x03\0\x84\0"),
        // Another protocol name is not answered.
        (b"\x10\x0c\0\x04AMQP\x04\x02\0\0\0\0", b""),
        // 3.1: 3.1; 3.1.1: 3.1.3.1: a client without a name.
        (b"\x10\x0e\0\x06MQIsdp\x03\x02\0\0\0\0", b"\x20\x02\0\x02"),
        (b"\x10\x0c\0\x04MQTT\x04\x00\0\0\0\0", b"\x20\x02\0\x02"),
        // A reserved flag: 3.1.1 closes, 5 says why.
        (b"\x10\x0c\0\x04MQTT\x04\x03\0\0\0\0", b""),
        (b"\x10\x0d\0\x04MQTT\x05\x03\0\0\0\0\0", b"\x20\x03\0\x81\0"),
        // A receive maximum of 0 is a protocol error.
        (b"\x10\x10\0\x04MQTT\x05\x02\0\0\x03\x21\0\0\0\0", b"\x20\x03\0\x82\0"),
        // An authentication method.
        (b"\x10\x11\0\x04MQTT\x05\x02\0\0\x04\x15\0\x01a\0\0", b"\x20\x03\0\x8c\0"),
    ];
    for (bytes, answer) in rows {
        let mut world = BrokerTestbed::with_default_limits();
        let id = world.open();
        assert_eq!(world.ask(id, bytes), answer, "{bytes:02x?}");
        assert!(world.broker.is_done(id), "{bytes:02x?}");
    }
}

#[test]
fn a_client_without_a_name_gets_one() {
    let mut world = BrokerTestbed::with_default_limits();
    let id = world.open();
    assert_eq!(world.ask(id, &connect("", true)), b"\x20\x02\0\0");
    let id = world.open();
    let answer = world.ask(id, &connect_5("", true, 0, b""));
    assert_eq!(&answer[5..8], b"\x12\0\x11");
    assert_eq!(&answer[8..25], b"espbench-00000002");
}

/// D6 of the review: version 3.1.1 has no DISCONNECT from a server.
#[test]
fn taking_over_closes_3_1_1_and_tells_5_why() {
    let mut world = BrokerTestbed::with_default_limits();
    let old = world.connect(&connect("me", true));
    world.connect(&connect("me", true));
    assert_eq!(world.read(old), b"");
    assert!(world.broker.is_done(old));
    let old = world.connect(&connect_5("you", false, 60, b""));
    let new = world.open();
    assert_eq!(world.ask(new, &connect("you", false))[2], 1, "the session goes on");
    assert_eq!(world.read(old), b"\xe0\x01\x8e");
    assert!(world.broker.is_done(old));
    assert_eq!(world.count(BrokerCounter::TakenOver), 2);
}

/// D9 of the review: messages for a client that is away are kept, and the session is present.
#[test]
fn a_session_keeps_messages_and_qos() {
    let mut world = BrokerTestbed::with_default_limits();
    let publisher = world.connect(&connect("p", true));
    let away = world.connect(&connect("s", false));
    assert_eq!(world.ask(away, &subscribe("t/#", 2, None)), b"\x90\x03\0\x01\x02");
    assert_eq!(world.ask(away, b"\xe0\0"), b"");
    world.cut(away);
    world.pass(Duration::from_secs(1_000_000));
    for (flags, id) in [(0, 0), (2, 7), (4, 8)] {
        world.send(publisher, &publish(flags, "t/x", id, None, &[flags]));
    }
    assert_eq!(world.read(publisher), b"\x40\x02\0\x07\x50\x02\0\x08");
    let back = world.open();
    assert_eq!(
        world.ask(back, &connect("s", false)),
        b"\x20\x02\x01\0\x32\x08\0\x03t/x\0\x01\x02\x34\x08\0\x03t/x\0\x02\x04"
    );
    assert_eq!(world.count(BrokerCounter::DroppedAway), 1, "QoS 0");
    // Not acknowledged: sent again, as duplicates and in order (4.4), once it was released only that.
    assert_eq!(world.ask(back, b"\x50\x02\0\x02"), b"\x62\x02\0\x02");
    world.cut(back);
    let back = world.open();
    assert_eq!(
        world.ask(back, &connect("s", false)),
        b"\x20\x02\x01\0\x3a\x08\0\x03t/x\0\x01\x02\x62\x02\0\x02"
    );
    assert_eq!(world.ask(back, b"\x40\x02\0\x01\x70\x02\0\x02"), b"");
    world.cut(back);
    let back = world.open();
    assert_eq!(world.ask(back, &connect("s", false)), b"\x20\x02\x01\0");
    world.cut(back);
    // A clean session forgets it all.
    let back = world.open();
    assert_eq!(world.ask(back, &connect("s", true)), b"\x20\x02\0\0");
    assert_eq!(world.ask(publisher, &publish(2, "t/x", 9, None, b"")), b"\x40\x02\0\x09");
    assert_eq!(world.read(back), b"");
}

#[test]
fn a_session_of_5_ends_with_its_time() {
    let mut world = BrokerTestbed::with_default_limits();
    for (wait, present) in [(9, 1), (11, 0)] {
        let id = world.connect(&connect_5("s", false, 10, b""));
        world.cut(id);
        world.pass(Duration::from_secs(wait));
        let id = world.open();
        assert_eq!(world.ask(id, &connect_5("s", false, 10, b""))[2], present, "after {wait} s");
        // DISCONNECT can make it end at once.
        world.send(id, b"\xe0\x07\0\x05\x11\0\0\0\0");
        world.cut(id);
    }
    let id = world.connect(&connect_5("t", false, 0, b""));
    assert_eq!(world.ask(id, b"\xe0\x07\0\x05\x11\0\0\0\x05"), b"\xe0\x01\x82", "but not later");
}

/// Makes a CONNECT of 5 with a will to `w` after `delay` seconds.
fn with_will(expiry: u32, delay: u32, clean: bool) -> Vec<u8> {
    let flags = 4 | if clean { 2 } else { 0 };
    let list = [&[5, 0x11], &expiry.to_be_bytes()[..]].concat();
    let will = [&[5, 0x18], &delay.to_be_bytes()[..], &string("w"), &string("gone")].concat();
    let body = [b"\0\x04MQTT\x05", &[flags, 0, 0][..], &list, &string("me"), &will].concat();
    packet(0x10, &body)
}

#[test]
fn wills_and_when_they_are_published() {
    const GONE: &[u8] = b"\x30\x07\0\x01wgone";
    let fresh = || {
        let mut world = BrokerTestbed::with_default_limits();
        let watcher = world.connect(&connect("watcher", true));
        world.ask(watcher, &subscribe("w", 0, None));
        (world, watcher)
    };
    // The connection breaks.
    let (mut world, watcher) = fresh();
    let id = world.connect(&with_will(0, 0, true));
    world.cut(id);
    assert_eq!(world.read(watcher), GONE);
    // It ends in order: none; or with reason 4.
    for (goodbye, seen) in [(&b"\xe0\0"[..], &b""[..]), (b"\xe0\x01\x04", GONE)] {
        let (mut world, watcher) = fresh();
        let id = world.connect(&with_will(0, 0, true));
        world.send(id, goodbye);
        world.cut(id);
        assert_eq!(world.read(watcher), seen);
    }
    // It waits, and not where the client comes back in time.
    for back in [false, true] {
        let (mut world, watcher) = fresh();
        let id = world.connect(&with_will(60, 10, true));
        world.cut(id);
        world.pass(Duration::from_secs(9));
        assert_eq!(world.read(watcher), b"");
        if back {
            world.connect(&connect_5("me", false, 60, b""));
        }
        world.pass(Duration::from_secs(2));
        assert_eq!(world.read(watcher), if back { b"" } else { GONE });
    }
    // The session ends before.
    let (mut world, watcher) = fresh();
    let id = world.connect(&with_will(5, 10, true));
    world.cut(id);
    world.pass(Duration::from_secs(6));
    assert_eq!(world.read(watcher), GONE);
    // Taken over by one that goes on with the session, after a delay, or with a session of its own.
    for (delay, clean, seen) in [(10, false, &b""[..]), (0, false, GONE), (10, true, GONE)] {
        let (mut world, watcher) = fresh();
        world.connect(&with_will(60, delay, true));
        world.connect(&connect_5("me", clean, 60, b""));
        assert_eq!(world.read(watcher), seen, "delay {delay}, clean {clean}");
    }
}

#[test]
fn a_silent_client_is_dismissed_after_one_and_a_half_keep_alives() {
    let mut world = BrokerTestbed::with_default_limits();
    let old = world.connect(b"\x10\x0e\0\x04MQTT\x04\x02\0\x0a\0\x02me");
    let new = world.connect(b"\x10\x0e\0\x04MQTT\x05\x02\0\x0a\0\0\x01y");
    world.pass(Duration::from_secs(14));
    assert_eq!(world.ask(old, b"\xc0\0"), b"\xd0\0");
    assert_eq!(world.ask(new, b"\xc0\0"), b"\xd0\0");
    // Half a packet is none.
    world.pass(Duration::from_secs(14));
    world.send(old, b"\xc0");
    world.pass(Duration::from_secs(2));
    assert!(world.broker.is_done(old));
    assert_eq!(world.read(old), b"");
    assert_eq!(world.read(new), b"\xe0\x01\x8d");
    assert_eq!(world.count(BrokerCounter::TimedOut), 2);
}

#[test]
fn a_second_connect_is_an_error() {
    let mut world = BrokerTestbed::with_default_limits();
    let id = world.connect(&connect_5("me", true, 0, b""));
    assert_eq!(world.ask(id, &connect_5("me", true, 0, b"")), b"\xe0\x01\x82");
    assert!(world.broker.is_done(id));
}
