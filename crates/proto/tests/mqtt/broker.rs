//! A broker for one publisher and one subscriber that does what the test tells it.

use espbench_proto::node::mqtt::{Side, payload};
use espbench_proto::wire::mqtt::{
    ConnAck, ControlPacket, Publish, PublishAck, RawPacket, SubAck, Version,
};

/// Fate of a message on its way to the subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Pass,
    Drop,
    Twice,
    /// After the next one that passes.
    Hold,
    /// With one byte changed.
    Damage,
}

/// The broker. Bytes for either side go into `to`.
pub struct Broker {
    pub version: Version,
    pub connack: ConnAck<'static>,
    pub granted: Vec<u8>,
    pub way: fn(u64) -> Way,
    /// Answer PUBLISH and PUBREL of the publisher.
    pub acks: bool,
    pub pongs: bool,
    pub qos: u8,
    pub to: [Vec<u8>; 2],
    /// Every packet that the publisher sent, in words.
    pub seen: Vec<String>,
    /// Acknowledgements of the subscriber, in words.
    pub acked: Vec<String>,
    held: Vec<(u64, Vec<u8>)>,
    next_id: u16,
}

impl Broker {
    pub fn new(version: Version, qos: u8) -> Self {
        Self {
            version,
            connack: ConnAck::ACCEPTED,
            granted: vec![qos],
            way: |_| Way::Pass,
            acks: true,
            pongs: true,
            qos,
            to: [Vec::new(), Vec::new()],
            seen: Vec::new(),
            acked: Vec::new(),
            held: Vec::new(),
            next_id: 0,
        }
    }

    /// Takes what a side sent: whole packets.
    pub fn take(&mut self, side: Side, mut bytes: &[u8]) {
        while let Some((frame, len)) = RawPacket::cut(bytes).expect("well formed") {
            let packet =
                ControlPacket::parse(self.version, &frame).expect("a packet that is allowed");
            self.packet(side, &packet);
            bytes = &bytes[len..];
        }
        assert!(bytes.is_empty(), "a machine sends whole packets");
    }

    fn packet(&mut self, side: Side, packet: &ControlPacket<'_>) {
        match (side, packet) {
            (_, ControlPacket::Connect(_)) => {
                self.send(side, &ControlPacket::ConnAck(self.connack))
            }
            (_, ControlPacket::PingReq) if self.pongs => self.send(side, &ControlPacket::PingResp),
            (Side::Subscriber, ControlPacket::Subscribe(s)) => {
                let codes = self.granted.clone();
                self.send(side, &ControlPacket::SubAck(SubAck { id: s.id, codes: &codes }));
            }
            (Side::Publisher, ControlPacket::Publish(p)) => self.publish(p),
            (Side::Publisher, ControlPacket::PubRel(ack)) => {
                self.seen.push(format!("PUBREL {}", ack.id));
                if self.acks {
                    self.send(side, &ControlPacket::PubComp(*ack));
                }
            }
            (Side::Subscriber, ControlPacket::PubAck(ack)) => {
                self.acked.push(format!("PUBACK {}", ack.id))
            }
            (Side::Subscriber, ControlPacket::PubRec(ack)) => {
                self.acked.push(format!("PUBREC {}", ack.id));
                self.send(side, &ControlPacket::PubRel(*ack));
            }
            (Side::Subscriber, ControlPacket::PubComp(ack)) => {
                self.acked.push(format!("PUBCOMP {}", ack.id));
            }
            _ => {}
        }
    }

    fn publish(&mut self, p: &Publish<'_>) {
        let head = payload::read(p.payload).expect("a numbered message");
        assert!(head.whole && p.topic == "t");
        let dup = if p.dup { " DUP" } else { "" };
        self.seen.push(format!("PUBLISH {} #{}{dup}", p.id, head.seq));
        let ack = PublishAck { id: p.id, reason: 0 };
        match (self.acks, p.qos) {
            (true, 1) => self.send(Side::Publisher, &ControlPacket::PubAck(ack)),
            (true, 2) => self.send(Side::Publisher, &ControlPacket::PubRec(ack)),
            _ => {}
        }
        let mut body = p.payload.to_vec();
        match (self.way)(head.seq) {
            Way::Drop => return,
            Way::Hold => return self.held.push((head.seq, body)),
            Way::Damage => *body.last_mut().unwrap() ^= 1,
            Way::Twice => self.pass(&body),
            Way::Pass => {}
        }
        self.pass(&body);
        for (_, body) in std::mem::take(&mut self.held) {
            self.pass(&body);
        }
    }

    fn pass(&mut self, body: &[u8]) {
        self.next_id = self.next_id % 60_000 + 1;
        let id = if self.qos > 0 { self.next_id } else { 0 };
        let publish = Publish { qos: self.qos, id, ..Publish::new("t", body) };
        self.send(Side::Subscriber, &ControlPacket::Publish(publish));
    }

    pub fn send(&mut self, side: Side, packet: &ControlPacket<'_>) {
        let mut buf = [0; 1024];
        let len = packet.emit(self.version, &mut buf).expect("room");
        self.to[side as usize].extend_from_slice(&buf[..len]);
    }
}
