//! Messages and subscriptions.

use super::*;

/// Makes a world with a publisher and a subscriber of version 5.
fn pair() -> (BrokerTestbed, u32, u32) {
    let mut world = BrokerTestbed::with_default_limits();
    let publisher = world.connect(&connect_5("p", true, 0, b""));
    let subscriber = world.connect(&connect_5("s", true, 0, b""));
    (world, publisher, subscriber)
}

#[test]
fn a_message_at_each_qos_goes_through() {
    let (mut world, publisher, subscriber) = pair();
    assert_eq!(world.ask(subscriber, &subscribe("a/+", 2, Some(b""))), b"\x90\x04\0\x01\0\x02");
    assert_eq!(world.ask(publisher, &publish(0, "a/b", 0, Some(b""), b"0")), b"");
    assert_eq!(world.ask(publisher, &publish(2, "a/b", 1, Some(b""), b"1")), b"\x40\x02\0\x01");
    let two = publish(4, "a/b", 2, Some(b""), b"2");
    assert_eq!(world.ask(publisher, &two), b"\x50\x02\0\x02");
    // Sent again before it is released: not a second message (4.3.3).
    assert_eq!(world.ask(publisher, &[&[two[0] | 8], &two[1..]].concat()), b"\x50\x02\0\x02");
    assert_eq!(world.ask(publisher, b"\x62\x02\0\x02"), b"\x70\x02\0\x02");
    assert_eq!(world.ask(publisher, b"\x62\x02\0\x02"), b"\x70\x03\0\x02\x92", "unknown by now");
    let seen = b"\x30\x07\0\x03a/b\x000\x32\x09\0\x03a/b\0\x01\x001\x34\x09\0\x03a/b\0\x02\x002";
    assert_eq!(world.read(subscriber), seen);
    assert_eq!(world.ask(subscriber, b"\x40\x02\0\x01\x50\x02\0\x02"), b"\x62\x02\0\x02");
    assert_eq!(world.ask(subscriber, b"\x70\x02\0\x02"), b"");
    // Nobody wants this one.
    assert_eq!(world.ask(publisher, &publish(2, "b", 3, Some(b""), b"")), b"\x40\x03\0\x03\x10");
    assert_eq!(world.ask(subscriber, b"\xa2\x0a\0\x02\0\0\x03a/+\0\0"), b"\xb0\x05\0\x02\0\0\x11");
    world.send(publisher, &publish(0, "a/b", 0, Some(b""), b"0"));
    assert_eq!(world.read(subscriber), b"");
}

#[test]
fn properties_go_on_and_aliases_do_not() {
    let (mut world, publisher, subscriber) = pair();
    // Subscription identifier 5.
    world.ask(subscriber, &subscribe("t", 0, Some(b"\x0b\x05")));
    let list = b"\x23\0\x02\x03\0\x01x\x26\0\x01k\0\x01v\x09\0\x01c";
    world.send(publisher, &publish(0, "t", 0, Some(list), b"!"));
    world.send(publisher, &publish(0, "", 0, Some(b"\x23\0\x02"), b"?"));
    assert_eq!(
        world.read(subscriber),
        b"\x30\x16\0\x01t\x11\x0b\x05\x03\0\x01x\x26\0\x01k\0\x01v\x09\0\x01c!\x30\x07\0\x01t\x02\x0b\x05?"
    );
    assert_eq!(world.ask(publisher, &publish(0, "", 0, Some(b"\x23\0\x03"), b"")), b"\xe0\x01\x94");
    let other = world.connect(&connect_5("q", true, 0, b""));
    assert_eq!(world.ask(other, &publish(0, "t", 0, Some(b"\x23\0\x11"), b"")), b"\xe0\x01\x94");
}

#[test]
fn overlapping_subscriptions_give_one_message_with_all_their_numbers() {
    let (mut world, publisher, subscriber) = pair();
    world.ask(subscriber, &subscribe("a/#", 0, Some(b"\x0b\x01")));
    world.ask(subscriber, &subscribe("a/b", 1, Some(b"\x0b\x02")));
    world.send(publisher, &publish(2, "a/b", 1, Some(b""), b"x"));
    let seen = world.read(subscriber);
    assert_eq!(seen, b"\x32\x0d\0\x03a/b\0\x01\x04\x0b\x01\x0b\x02x");
}

#[test]
fn no_local_and_retain_as_published() {
    let (mut world, publisher, subscriber) = pair();
    world.ask(publisher, &subscribe("t", 4, Some(b"")));
    world.ask(subscriber, &subscribe("t", 8, Some(b"")));
    assert_eq!(world.ask(publisher, &publish(1, "t", 0, Some(b""), b"x")), b"");
    assert_eq!(world.read(subscriber), b"\x31\x05\0\x01t\0x");
}

#[test]
fn retained_messages() {
    let (mut world, publisher, subscriber) = pair();
    for (topic, payload) in [("a", "1"), ("a/b", "2"), ("b", "3"), ("a/b", "4"), ("$a", "5")] {
        world.send(publisher, &publish(1, topic, 0, Some(b""), payload.as_bytes()));
    }
    let (a, b) = (&b"\x31\x05\0\x01a\x001"[..], &b"\x31\x07\0\x03a/b\x004"[..]);
    let ack = b"\x90\x04\0\x01\0\0";
    let want = [ack, a, b].concat();
    assert_eq!(world.ask(subscriber, &subscribe("a/#", 0, Some(b""))), want);
    // Retain handling: 0 sends them again, 1 only to a new subscription, 2 never.
    assert_eq!(world.ask(subscriber, &subscribe("a/#", 0, Some(b""))), want);
    assert_eq!(world.ask(subscriber, &subscribe("a/#", 0x10, Some(b""))), ack);
    assert_eq!(world.ask(subscriber, &subscribe("a", 0x10, Some(b""))), [ack, a].concat());
    assert_eq!(world.ask(subscriber, &subscribe("a/b", 0x20, Some(b""))), ack);
    // An empty one forgets it.
    world.send(publisher, &publish(1, "a", 0, Some(b""), b""));
    assert_eq!(world.read(subscriber), b"\x30\x04\0\x01a\0");
    assert_eq!(
        world.ask(subscriber, &subscribe("+", 0, Some(b""))),
        b"\x90\x04\0\x01\0\0\x31\x05\0\x01b\x003"
    );
}

#[test]
fn shared_subscriptions_take_turns() {
    let mut world = BrokerTestbed::with_default_limits();
    let publisher = world.connect(&connect("p", true));
    let members: Vec<u32> =
        ["a", "b", "c"].iter().map(|name| world.connect(&connect_5(name, true, 0, b""))).collect();
    for &member in &members {
        assert_eq!(world.ask(member, &subscribe("$share/g/t/#", 0, Some(b"")))[4..], [0, 0]);
    }
    for _ in 0..4 {
        world.send(publisher, &publish(0, "t", 0, None, b"x"));
    }
    let seen: Vec<usize> = members.iter().map(|&id| world.read(id).len() / 6).collect();
    assert_eq!(seen, [2, 1, 1]);
    world.cut(members[1]);
    for _ in 0..4 {
        world.send(publisher, &publish(0, "t", 0, None, b"x"));
    }
    let seen: Vec<usize> = [0, 2].map(|nth: usize| world.read(members[nth]).len() / 6).to_vec();
    assert_eq!(seen, [2, 2]);
    assert_eq!(world.ask(members[0], &subscribe("$share/g", 0, Some(b"")))[4..], [0, 0x8f]);
    assert_eq!(world.ask(members[0], &subscribe("a/#/b", 0, Some(b"")))[4..], [0, 0x8f]);
}

#[test]
fn messages_expire_where_they_wait() {
    let mut world = BrokerTestbed::with_default_limits();
    let publisher = world.connect(&connect_5("p", true, 0, b""));
    let away = world.connect(&connect_5("s", true, 1000, b""));
    world.ask(away, &subscribe("t", 1, Some(b"")));
    world.cut(away);
    for seconds in [5, 100] {
        let list = [&[2], &u32::to_be_bytes(seconds)[..]].concat();
        world.send(publisher, &publish(3, "t", 1, Some(&list), b"x"));
    }
    world.pass(Duration::from_secs(10));
    let back = world.open();
    let seen = world.ask(back, &connect_5("s", false, 1000, b""));
    assert_eq!(seen[13..], *b"\x32\x0c\0\x01t\0\x01\x05\x02\0\0\0\x5ax", "90 s are left");
    assert_eq!(world.count(BrokerCounter::DroppedExpired), 1);
    // The retained one is the later, and it goes as well.
    world.pass(Duration::from_secs(100));
    let late = world.connect(&connect_5("u", true, 0, b""));
    assert_eq!(world.ask(late, &subscribe("t", 0, Some(b""))), b"\x90\x04\0\x01\0\0");
}

#[test]
fn a_client_says_how_much_it_takes() {
    let mut world = BrokerTestbed::with_default_limits();
    let publisher = world.connect(&connect("p", true));
    // Receive maximum 2, maximum packet size 20.
    let id = world.connect(&connect_5("s", true, 0, b"\x21\0\x02\x27\0\0\0\x14"));
    world.ask(id, &subscribe("t", 1, Some(b"")));
    for nth in 1..=4 {
        world.send(publisher, &publish(2, "t", nth, None, &[nth as u8]));
    }
    world.send(publisher, &publish(2, "t", 5, None, &[0; 20]));
    assert_eq!(world.read(id), b"\x32\x07\0\x01t\0\x01\0\x01\x32\x07\0\x01t\0\x02\0\x02");
    assert_eq!(world.ask(id, b"\x40\x02\0\x02"), b"\x32\x07\0\x01t\0\x03\0\x03");
    assert_eq!(world.ask(id, b"\x40\x02\0\x01"), b"\x32\x07\0\x01t\0\x04\0\x04");
    assert_eq!(world.ask(id, b"\x40\x02\0\x03"), b"");
    assert_eq!(world.count(BrokerCounter::DroppedSize), 1);
}

#[test]
fn a_message_of_a_megabyte_in_small_pieces_goes_through() {
    let (mut world, publisher, subscriber) = pair();
    world.ask(subscriber, &subscribe("t", 0, Some(b"")));
    let payload: Vec<u8> = (0..1_048_576).map(|at: usize| (at / 7) as u8).collect();
    let bytes = publish(0, "t", 0, Some(b""), &payload);
    for piece in bytes.chunks(1000) {
        world.send(publisher, piece);
    }
    assert_eq!(world.read(subscriber), bytes);
    let idle = world.broker.memory().used();
    assert!(idle < 10_000, "nothing is held when it is through: {idle}");
}
