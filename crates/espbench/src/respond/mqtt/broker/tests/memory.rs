//! The attacks of a review that filled the memory, scaled down together with the limits.

use super::*;

/// Returns a hundredth of the default limits.
fn small() -> BrokerLimits {
    BrokerLimits {
        memory: 1_920_000,
        retained: 640_000,
        queues: 640_000,
        queue: 160_000,
        packet: 20_000,
        connections: 200,
        sessions: 100,
        subscriptions: 300,
        ..BrokerLimits::default()
    }
}

#[track_caller]
fn within(world: &BrokerTestbed) {
    let memory = world.broker.memory();
    assert!(memory.most() <= small().memory, "{} bytes", memory.most());
}

#[test]
fn retained_messages_without_end() {
    let mut world = BrokerTestbed::new(small());
    let id = world.connect(&connect("p", true));
    for nth in 0..3000 {
        world.send(id, &publish(1, &format!("t/{nth}"), 0, None, &[0; 10_000]));
    }
    within(&world);
    let refused = world.count(BrokerCounter::RetainedRefused);
    assert!((2937..2945).contains(&refused), "{refused}");
    assert!(matches!(world.notes()[..], [BrokerNotice::Limit(BrokerCounter::RetainedRefused)]));
    // A later one takes the place of its predecessor, and all that are kept come.
    world.send(id, &publish(1, "t/0", 0, None, &[1; 10_000]));
    let seen = world.ask(id, &subscribe("t/#", 0, None));
    assert_eq!(seen.len() as u64 / 10_000, 3000 - refused);
    assert_eq!(seen[13], 1, "the first is the new one");
}

#[test]
fn a_subscriber_that_does_not_read() {
    for qos in [0, 1] {
        let mut world = BrokerTestbed::new(small());
        let publisher = world.connect(&connect("p", true));
        let deaf = world.connect(&connect("deaf", true));
        let ears = world.connect(&connect("ears", true));
        for id in [deaf, ears] {
            world.ask(id, &subscribe("t", qos, None));
        }
        let mut heard = 0;
        for _ in 0..3000 {
            while !world.broker.wants_read(publisher) {
                world.pass(Duration::from_millis(100));
            }
            world.send(publisher, &publish(qos << 1, "t", 1, None, &[0; 1000]));
            world.read(publisher);
            let bytes = world.read(ears);
            heard += bytes.len() / 1000;
            if qos > 0 && bytes.len() > 8 {
                world.send(ears, &[&[0x40, 2], &bytes[6..8]].concat());
            }
        }
        within(&world);
        assert_eq!(heard, 3000, "who reads gets all, at QoS {qos}");
        let dropped = world.count(BrokerCounter::DroppedQueue);
        assert!((2650..2850).contains(&dropped), "{dropped} at QoS {qos}");
        // The publisher waited once, and then no more.
        assert_eq!(world.count(BrokerCounter::Paused), u64::from(qos));
        // What is left comes when the deaf one reads: the oldest, in order.
        let left = world.read(deaf).len() / 1000;
        assert!((150..350).contains(&left), "{left}");
    }
}

#[test]
fn a_publisher_waits_for_a_subscriber_that_reads_at_last() {
    let mut world = BrokerTestbed::new(small());
    let publisher = world.connect(&connect("p", true));
    let slow = world.connect(&connect("s", true));
    world.ask(slow, &subscribe("t", 1, None));
    let mut sent = 0;
    while world.broker.wants_read(publisher) {
        world.send(publisher, &publish(2, "t", 1, None, &[0; 1000]));
        sent += 1;
    }
    // What it sent in the meantime is kept until it goes on.
    for _ in 0..3 {
        world.send(publisher, &publish(2, "t", 1, None, &[0; 1000]));
        sent += 1;
    }
    assert_eq!(world.read(publisher).len(), (sent - 3) * 4);
    let mut seen = 0;
    loop {
        let bytes = world.read(slow);
        let packets = bytes.len() / 1007;
        seen += packets;
        for nth in 0..packets {
            let id = &bytes[nth * 1008 + 6..nth * 1008 + 8];
            world.send(slow, &[&[0x40, 2], id].concat());
        }
        if packets == 0 {
            break;
        }
    }
    assert!(world.broker.wants_read(publisher));
    assert_eq!(world.read(publisher).len(), 12);
    assert_eq!((seen, world.count(BrokerCounter::DroppedQueue)), (sent, 0));
}

#[test]
fn sessions_with_messages_for_clients_that_never_come_back() {
    let mut world = BrokerTestbed::new(small());
    let publisher = world.connect(&connect("p", true));
    for nth in 0..300 {
        let id = world.connect(&connect(&format!("away {nth}"), false));
        world.ask(id, &subscribe(&format!("t/{nth}"), 1, None));
        world.cut(id);
        for _ in 0..5 {
            world.send(publisher, &publish(2, &format!("t/{nth}"), 1, None, &[0; 1000]));
        }
        world.read(publisher);
    }
    within(&world);
    assert_eq!(world.count(BrokerCounter::SessionsDiscarded), 201, "the longest away first");
    // 99 sessions of 5 messages of 1.3 kB.
    assert_eq!(world.count(BrokerCounter::DroppedGone), 201 * 5);
    let id = world.open();
    assert_eq!(world.ask(id, &connect("away 0", false))[2], 0);
    let id = world.open();
    assert_eq!(world.ask(id, &connect("away 299", false)).len() / 1000, 5);
    world.pass(Duration::from_secs(1));
}

#[test]
fn one_message_for_many_counts_once() {
    let mut world = BrokerTestbed::new(small());
    let publisher = world.connect(&connect("p", true));
    for nth in 0..90 {
        let id = world.connect(&connect(&format!("away {nth}"), false));
        world.ask(id, &subscribe("t", 1, None));
        world.cut(id);
    }
    for _ in 0..10 {
        world.send(publisher, &publish(2, "t", 1, None, &[0; 10_000]));
    }
    assert_eq!(
        world.count(BrokerCounter::DroppedQueue) + world.count(BrokerCounter::DroppedMemory),
        0
    );
    within(&world);
}

#[test]
fn subscriptions_without_end() {
    let mut world = BrokerTestbed::new(small());
    let id = world.connect(&connect_5("me", true, 0, b""));
    let mut granted = 0;
    for nth in 0..200 {
        let filters: Vec<u8> = (0..10)
            .flat_map(|part| [string(&format!("{nth}/{part}/+/#")), vec![0]].concat())
            .collect();
        let answer = world.ask(id, &packet(0x82, &[&[0, 1, 0], &filters[..]].concat()));
        granted += answer[5..].iter().filter(|code| **code == 0).count();
    }
    assert_eq!((granted, world.count(BrokerCounter::SubscriptionsRefused)), (300, 1700));
    within(&world);
    // Long ones stop at the memory.
    let mut world = BrokerTestbed::new(small());
    let id = world.connect(&connect_5("me", true, 0, b""));
    for nth in 0..900 {
        let filter = format!("{nth}/{}", "x".repeat(15_000));
        world.send(id, &subscribe(&filter, 0, Some(b"")));
        world.read(id);
    }
    assert!(world.count(BrokerCounter::SubscriptionsRefused) > 850);
    within(&world);
    // When the client leaves, all of it is free again.
    world.cut(id);
    assert_eq!(world.broker.memory().used(), 0);
}

#[test]
fn connections_and_packets_that_never_end() {
    let mut world = BrokerTestbed::new(small());
    let mut open = Vec::new();
    let peer = SocketAddr::from(([127, 0, 0, 1], 1));
    for nth in 0..300 {
        let Some(id) = world.broker.open(world.now, peer) else { continue };
        world.send(id, &connect(&nth.to_string(), true));
        open.push(id);
    }
    assert_eq!((open.len(), world.count(BrokerCounter::ConnectionsRefused)), (200, 100));
    // Sessions are limited as well; all others begin a packet of 19 kB, and do not end it.
    assert_eq!(world.count(BrokerCounter::SessionsRefused), 100);
    for id in open {
        world.send(id, &publish(0, "t", 0, None, &[0; 19_000])[..15_000]);
    }
    within(&world);
    assert!(world.count(BrokerCounter::InputRefused) > 70);
}

#[test]
fn who_does_not_read_his_answers_is_not_read_from() {
    let mut world = BrokerTestbed::new(small());
    let id = world.connect(&connect("p", true));
    let mut sent = 0;
    while world.broker.wants_read(id) && sent < 100_000 {
        world.send(id, &publish(2, "t", 1, None, b""));
        sent += 1;
    }
    assert!((30_000..50_000).contains(&sent), "{sent}");
    assert_eq!(world.read(id).len(), sent * 4);
    assert!(world.broker.wants_read(id));
    within(&world);
}

#[test]
fn many_slow_clients_leave_room_for_others() {
    let mut world = BrokerTestbed::new(small());
    let publisher = world.connect(&connect("p", true));
    let slow: Vec<u32> = (0..90)
        .map(|nth| {
            let id = world.connect(&connect(&nth.to_string(), true));
            world.ask(id, &subscribe("t", 0, None));
            id
        })
        .collect();
    for _ in 0..500 {
        world.send(publisher, &publish(0, "t", 0, None, &[7; 1000]));
    }
    within(&world);
    let late = world.connect(&connect("late", true));
    world.ask(late, &subscribe("u", 0, None));
    world.send(publisher, &publish(0, "u", 0, None, b"x"));
    assert_eq!(world.read(late), b"\x30\x04\0\x01ux");
    for id in slow {
        assert!(!world.read(id).is_empty());
        world.cut(id);
    }
}

#[test]
fn nothing_is_done_for_a_client_whose_memory_ran_out() {
    // A quarter is for sessions, too little for the packet identifiers of QoS 2.
    let refused = publish(4, "t", 1, None, b"");
    let bytes = [subscribe("a", 1, None), refused, subscribe("b", 1, None)].concat();
    for piece in 1..=bytes.len() {
        let mut world = BrokerTestbed::new(BrokerLimits::of(24_000));
        let id = world.connect(&connect("p", true));
        bytes.chunks(piece).for_each(|piece| world.send(id, piece));
        assert_eq!(world.read(id), b"\x90\x03\0\x01\x01", "in pieces of {piece}");
        assert!(world.broker.is_done(id));
        assert_eq!(world.count(BrokerCounter::InputRefused), 1);
    }
}
