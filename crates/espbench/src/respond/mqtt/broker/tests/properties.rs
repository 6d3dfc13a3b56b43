//! Sessions under any sequence of breaks.

use super::*;
use proptest::prelude::*;

/// A subscriber that checks what it gets: messages are numbered from 0.
struct Subscriber {
    id: Option<u32>,
    qos: u8,
    /// Messages handed to the application.
    seen: Vec<u32>,
    /// QoS 2 packet identifiers that came and are not released.
    open: Vec<u16>,
}

impl Subscriber {
    fn connect(&mut self, world: &mut BrokerTestbed) {
        let id = world.open();
        world.send(id, &connect("s", false));
        self.id = Some(id);
    }

    /// Reads all that is there, and answers as far as `answers` allows.
    fn read(&mut self, world: &mut BrokerTestbed, answers: &mut usize) {
        let Some(id) = self.id else { return };
        let bytes = world.read(id);
        let mut rest = &bytes[..];
        while let Some((&first, _)) = rest.split_first() {
            let len = 2 + usize::from(rest[1]);
            let (packet, after) = rest.split_at(len);
            rest = after;
            let mut answer = |world: &mut BrokerTestbed, kind: u8, packet: u16| {
                if *answers > 0 {
                    *answers -= 1;
                    let [high, low] = packet.to_be_bytes();
                    world.send(id, &[kind, 2, high, low]);
                }
            };
            match first >> 4 {
                2 => {}
                3 => {
                    let packet_id = u16::from_be_bytes([packet[7], packet[8]]);
                    let number = u32::from_be_bytes(packet[9..13].try_into().expect("a number"));
                    if self.qos == 1 {
                        self.seen.push(number);
                        answer(world, 0x40, packet_id);
                    } else {
                        if !self.open.contains(&packet_id) {
                            self.open.push(packet_id);
                            self.seen.push(number);
                        }
                        answer(world, 0x50, packet_id);
                    }
                }
                6 => {
                    let packet_id = u16::from_be_bytes([packet[2], packet[3]]);
                    self.open.retain(|open| *open != packet_id);
                    answer(world, 0x70, packet_id);
                }
                other => panic!("packet type {other}"),
            }
        }
    }
}

proptest! {
    /// Whenever connections break and acknowledgements are lost, a session's client gets each message
    /// in order: at QoS 1 at least once, at QoS 2 exactly once.
    #[test]
    fn a_session_loses_nothing(
        qos in 1u8..3,
        steps in proptest::collection::vec((0u8..6, 0usize..12), 1..120),
    ) {
        let mut world = BrokerTestbed::with_default_limits();
        let publisher = world.connect(&connect("p", true));
        let mut subscriber = Subscriber { id: None, qos, seen: Vec::new(), open: Vec::new() };
        let id = world.connect(&connect("s", false));
        world.ask(id, &subscribe("t/t", qos, None));
        subscriber.id = Some(id);
        let mut sent = 0u32;
        for (step, n) in steps {
            match step {
                0..=2 => for _ in 0..n {
                    let packet = publish(qos << 1, "t/t", 1, None, &sent.to_be_bytes());
                    world.send(publisher, &packet);
                    world.ask(publisher, b"\x62\x02\0\x01");
                    sent += 1;
                },
                3 => subscriber.read(&mut world, &mut { n }),
                4 => if let Some(id) = subscriber.id.take() {
                    world.cut(id);
                },
                _ => if subscriber.id.is_none() {
                    subscriber.connect(&mut world);
                },
            }
        }
        if let Some(id) = subscriber.id.take() {
            world.cut(id);
        }
        subscriber.connect(&mut world);
        for _ in 0..10 {
            subscriber.read(&mut world, &mut usize::MAX.clone());
        }
        let mut first = subscriber.seen.clone();
        if qos == 1 {
            let mut known = std::collections::BTreeSet::new();
            first.retain(|number| known.insert(*number));
        }
        prop_assert_eq!(first, (0..sent).collect::<Vec<_>>());
        prop_assert_eq!(world.count(BrokerCounter::DroppedQueue) + world.count(BrokerCounter::DroppedMemory), 0);
    }

    /// Bytes may come in any pieces.
    #[test]
    fn pieces_make_no_difference(step in 1usize..40) {
        let mut bytes = connect_5("me", true, 0, b"");
        bytes.extend(subscribe("a/#", 1, Some(b"")));
        for nth in 0..20u16 {
            bytes.extend(publish(2, "a/b", nth + 1, Some(b""), &vec![7; usize::from(nth) * 20]));
        }
        let mut whole = BrokerTestbed::with_default_limits();
        let id = whole.open();
        let expected = whole.ask(id, &bytes);
        let mut world = BrokerTestbed::with_default_limits();
        let id = world.open();
        for piece in bytes.chunks(step) {
            world.send(id, piece);
        }
        prop_assert_eq!(world.read(id), expected);
    }
}
