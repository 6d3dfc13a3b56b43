//! Whatever happens in whatever order: no panic, an end, and one fate a message.

use crate::rig::{exchange, settings};
use espbench_model::sample::{Fate, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::{Exchange, MqttInput, MqttSettings, OfferedLoad, Side};
use espbench_proto::wire::mqtt::{ConnAck, ControlPacket, Publish, PublishAck, SubAck, Version};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Advance(u32),
    Connected,
    Closed,
    Written,
    Bytes(Vec<u8>),
    ConnAck { session: bool, receive_maximum: Option<u16> },
    SubAck(u8),
    Ack { kind: u8, id: u16, reason: u8 },
    Message { qos: u8, id: u16, seq: u64, len: usize },
    Pong,
    Poll { room: usize },
    Stop,
}

fn op() -> impl Strategy<Value = (bool, Op)> {
    let op = prop_oneof![
        8 => (0..30_000_000u32).prop_map(Op::Advance),
        2 => Just(Op::Connected),
        1 => Just(Op::Closed),
        8 => Just(Op::Written),
        1 => prop::collection::vec(any::<u8>(), 0..20).prop_map(Op::Bytes),
        6 => (any::<bool>(), prop::option::of(1..9u16))
            .prop_map(|(session, receive_maximum)| Op::ConnAck { session, receive_maximum }),
        4 => prop_oneof![Just(2u8), any::<u8>()].prop_map(Op::SubAck),
        10 => (4..8u8, 0..12u16, prop_oneof![9 => Just(0u8), 1 => any::<u8>()])
            .prop_map(|(kind, id, reason)| Op::Ack { kind, id, reason }),
        10 => (0..3u8, 1..40u16, 0..60u64, 14..50usize)
            .prop_map(|(qos, id, seq, len)| Op::Message { qos, id, seq, len }),
        2 => Just(Op::Pong),
        20 => (0..600usize).prop_map(|room| Op::Poll { room }),
    ];
    (any::<bool>(), prop_oneof![60 => op, 1 => Just(Op::Stop)])
}

struct World {
    exchange: Exchange<'static>,
    now: Instant,
    version: Version,
    samples: Vec<Sample>,
}

impl World {
    fn received(&mut self, side: Side, packet: &ControlPacket<'_>) {
        let mut buf = [0; 128];
        if let Ok(len) = packet.emit(self.version, &mut buf) {
            self.exchange.handle(self.now, side, MqttInput::Received(&buf[..len]));
        }
    }

    fn step(&mut self, side: Side, op: &Op) {
        match *op {
            Op::Advance(nanos) => self.now = self.now + Duration::from_nanos(nanos.into()),
            Op::Connected => self.exchange.handle(self.now, side, MqttInput::Connected),
            Op::Closed => self.exchange.handle(self.now, side, MqttInput::Closed),
            Op::Written => self.exchange.handle(self.now, side, MqttInput::Written),
            Op::Stop => self.exchange.handle(self.now, side, MqttInput::Stop),
            Op::Bytes(ref bytes) => {
                self.exchange.handle(self.now, side, MqttInput::Received(bytes))
            }
            Op::ConnAck { session, receive_maximum } => {
                let ack =
                    ConnAck { session_present: session, receive_maximum, ..ConnAck::ACCEPTED };
                self.received(side, &ControlPacket::ConnAck(ack));
            }
            Op::SubAck(code) => {
                self.received(side, &ControlPacket::SubAck(SubAck { id: 1, codes: &[code] }));
            }
            Op::Ack { kind, id, reason } => {
                let ack = PublishAck { id, reason };
                let packet = match kind {
                    4 => ControlPacket::PubAck(ack),
                    5 => ControlPacket::PubRec(ack),
                    6 => ControlPacket::PubRel(ack),
                    _ => ControlPacket::PubComp(ack),
                };
                self.received(side, &packet);
            }
            Op::Message { qos, id, seq, len } => {
                let mut body = [0; 50];
                espbench_proto::node::mqtt::payload::fill(&mut body, seq, self.now);
                let payload = &body[..len];
                let packet = Publish { qos, id, ..Publish::new("t", payload) };
                self.received(side, &ControlPacket::Publish(packet));
            }
            Op::Pong => self.received(side, &ControlPacket::PingResp),
            Op::Poll { room } => {
                self.drain(side, room);
            }
        }
    }

    fn drain(&mut self, side: Side, room: usize) -> bool {
        let mut buf = vec![0; room];
        let mut sends = 0;
        for _ in 0..10_000 {
            match self.exchange.poll(self.now, side, &mut buf) {
                Output::Send { len } => {
                    assert!(len > 0 && len <= room);
                    self.exchange.handle(self.now, side, MqttInput::Written);
                    sends += 1;
                    // At saturation only the connection's end stops it: here the system is full.
                    if sends > 20 {
                        buf.clear();
                    }
                }
                Output::Sample(sample) => self.samples.push(sample),
                Output::WaitUntil(_) => return false,
                Output::Done => return true,
            }
        }
        panic!("poll never ends");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_panic_an_end_and_one_fate_a_message(
        ops in prop::collection::vec(op(), 0..150),
        qos in 0..3u8, resume: bool, saturate: bool, v5: bool, entries in 1..40usize, queue in 0..9u32,
    ) {
        let version = if v5 { Version::V5 } else { Version::V311 };
        let pace = if saturate { OfferedLoad::Saturate } else { OfferedLoad::Rate(200.0) };
        let settings = MqttSettings { version, pace, queue, resume, in_flight: 5, ..settings(qos) };
        let mut world = World {
            exchange: exchange(settings, entries),
            now: Instant::ZERO,
            version,
            samples: Vec::new(),
        };
        for side in Side::BOTH {
            world.exchange.handle(world.now, side, MqttInput::Connected);
            world.drain(side, 600);
            world.received(side, &ControlPacket::ConnAck(ConnAck::ACCEPTED));
            world.drain(side, 600);
        }
        world.received(Side::Subscriber, &ControlPacket::SubAck(SubAck { id: 1, codes: &[2] }));
        for (publisher, op) in &ops {
            let side = if *publisher { Side::Publisher } else { Side::Subscriber };
            world.step(side, op);
        }
        world.exchange.handle(world.now, Side::Publisher, MqttInput::Stop);
        prop_assert!(world.drain(Side::Publisher, 600));
        prop_assert!(world.drain(Side::Subscriber, 600));

        let mut seqs: Vec<u64> = world.samples.iter().filter_map(|sample| match sample {
            Sample::Probe(p) if !matches!(p.fate, Fate::Duplicate | Fate::Late) => Some(p.seq),
            _ => None,
        }).collect();
        seqs.sort_unstable();
        prop_assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
        // Those that the stop kept from being sent have none.
        prop_assert!(seqs.last().is_none_or(|last| *last < world.exchange.due()));
        let due = world.samples.iter().find_map(|sample| match sample {
            Sample::Interval(i) if i.total => i.datagrams,
            _ => None,
        });
        prop_assert_eq!(due.unwrap_or(0), seqs.len() as u64);
    }
}
