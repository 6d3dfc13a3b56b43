//! MQTT: the packet stream, and the exchange under any sequence of operations.

use espbench_model::sample::{Fate, Link, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::publisher::InFlightSlot;
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::tracker::MessageRecord;
use espbench_proto::node::mqtt::{
    Exchange, ExchangeStorage, MqttInput, MqttSettings, OfferedLoad, Side, payload,
};
use espbench_proto::wire::mqtt::reason::FAILURE;
use espbench_proto::wire::mqtt::{
    ConnAck, ControlPacket, Publish, PublishAck, RawPacket, Splitter, SubAck, Version,
};

/// Splits a byte stream in chunks as long as its first byte says: the packets are the same as
/// uncut, and each parsed one is emitted and parsed to the same value.
pub fn mqtt_stream(data: &[u8]) {
    let [step, bytes @ ..] = data else { return };
    let whole = frames(bytes, bytes.len().max(1));
    assert_eq!(frames(bytes, usize::from(*step) + 1), whole, "chunks make no difference");
    for (first, body) in whole {
        for version in [Version::V311, Version::V5] {
            let frame = RawPacket { first, body: &body };
            let Ok(packet) = ControlPacket::parse(version, &frame) else { continue };
            let mut buf = [0; 4096];
            // What is not kept (properties that nobody here asks for) is not emitted either, so a
            // packet need not give back the same bytes, but must give back the same value.
            let Ok(len) = packet.emit(version, &mut buf) else { continue };
            let (again, _) = RawPacket::cut(&buf[..len]).expect("a length").expect("whole");
            let again = ControlPacket::parse(version, &again).expect("our own packet");
            match (packet, again) {
                // A broker of 3.1.1 may say failures that this version does not have; ours says one.
                (ControlPacket::SubAck(read), ControlPacket::SubAck(again))
                    if version == Version::V311 =>
                {
                    let told: Vec<u8> = read.codes.iter().map(|it| (*it).min(FAILURE)).collect();
                    assert_eq!((read.id, &told[..]), (again.id, again.codes));
                }
                (packet, again) => assert_eq!(packet, again),
            }
        }
    }
}

/// Returns the packets up to the first that is malformed.
fn frames(bytes: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
    let mut buf = [0; 1024];
    let mut splitter = Splitter::new(&mut buf);
    let mut frames = Vec::new();
    for mut chunk in bytes.chunks(step) {
        loop {
            match splitter.next(&mut chunk) {
                Ok(Some(frame)) => frames.push((frame.first, frame.body.to_vec())),
                Ok(None) => break,
                Err(_) => return frames,
            }
        }
    }
    frames
}

/// Runs publisher and subscriber: the first bytes choose the settings, then each byte is an
/// operation: its low three bits say which, the next the side, the others a number.
pub fn mqtt_exchange(data: &[u8]) {
    let [kind, places, window, rest @ ..] = data else { return };
    let settings = settings(*kind, *window);
    let (mut a, mut b) = ([0; 128], [0; 128]);
    let mut flights = [InFlightSlot::EMPTY; 8];
    let mut entries = vec![MessageRecord::EMPTY; usize::from(places % 64) + 1];
    let mut answers = [PendingAck::default(); 32];
    let mut seen = [0; SEEN];
    let storage = ExchangeStorage {
        packets: [&mut a, &mut b],
        flights: &mut flights,
        entries: &mut entries,
        answers: &mut answers,
        seen: &mut seen,
    };
    let mut world = World {
        exchange: Exchange::new(settings, storage),
        version: settings.version,
        now: Instant::ZERO,
        samples: Vec::new(),
    };
    world.open();
    for (at, byte) in rest.iter().enumerate() {
        let side = if byte & 8 == 0 { Side::Publisher } else { Side::Subscriber };
        world.step(side, byte & 7, u16::from(byte >> 4), &rest[at..rest.len().min(at + 16)]);
    }
    world.end();
}

fn settings(kind: u8, window: u8) -> MqttSettings<'static> {
    MqttSettings {
        version: if kind & 8 == 0 { Version::V311 } else { Version::V5 },
        qos: kind & 3 & !(kind >> 1 & 1),
        size: 24,
        topic: "t",
        client_ids: ["p", "s"],
        username: None,
        password: None,
        pace: if kind & 4 == 0 { OfferedLoad::Rate(300.0) } else { OfferedLoad::Saturate },
        in_flight: u16::from(window % 10),
        queue: u32::from(window >> 4),
        time: Duration::from_millis(500),
        count: None,
        drain: Duration::from_millis(100),
        patience: Duration::from_secs(1),
        resume: kind & 16 != 0,
        clean_start: kind & 32 != 0,
        session_expiry: (kind & 64 != 0).then_some(60),
        sender: 0,
        retain: kind & 32 != 0,
        keep_alive: u16::from(kind >> 6),
        link: Link(0),
    }
}

struct World<'a> {
    exchange: Exchange<'a>,
    version: Version,
    now: Instant,
    samples: Vec<Sample>,
}

impl World<'_> {
    fn open(&mut self) {
        for side in Side::BOTH {
            self.exchange.handle(self.now, side, MqttInput::Connected);
            self.drain(side, 200);
            self.packet(side, &ControlPacket::ConnAck(ConnAck::ACCEPTED));
            self.drain(side, 200);
        }
        self.packet(Side::Subscriber, &ControlPacket::SubAck(SubAck { id: 1, codes: &[2] }));
    }

    fn packet(&mut self, side: Side, packet: &ControlPacket<'_>) {
        let mut buf = [0; 128];
        if let Ok(len) = packet.emit(self.version, &mut buf) {
            self.exchange.handle(self.now, side, MqttInput::Received(&buf[..len]));
        }
    }

    fn step(&mut self, side: Side, operation: u8, number: u16, bytes: &[u8]) {
        match operation {
            0 => self.now = self.now + Duration::from_micros(u64::from(number) * 3000),
            1 => {
                let input = if number < 12 { MqttInput::Connected } else { MqttInput::Closed };
                self.exchange.handle(self.now, side, input);
            }
            2 => {
                let session_present = number & 1 == 1;
                self.packet(
                    side,
                    &ControlPacket::ConnAck(ConnAck { session_present, ..ConnAck::ACCEPTED }),
                );
            }
            3 => {
                self.drain(side, usize::from(number) * 20);
            }
            4 => self.message(number, bytes.get(1).copied().unwrap_or(0)),
            5 => self.packet(side, &ControlPacket::PubAck(PublishAck { id: number, reason: 0 })),
            6 => {
                let ack = PublishAck { id: number & 7, reason: 0 };
                let packet = match number >> 3 {
                    0 => ControlPacket::PubRec(ack),
                    _ if side == Side::Publisher => ControlPacket::PubComp(ack),
                    _ => ControlPacket::PubRel(ack),
                };
                self.packet(side, &packet);
            }
            _ => self.exchange.handle(self.now, side, MqttInput::Received(bytes)),
        }
    }

    fn message(&mut self, number: u16, seq: u8) {
        let mut body = [0; 24];
        payload::fill(&mut body, seq.into(), self.now);
        let (qos, id) = ((number % 3) as u8, number + 1);
        let id = if qos == 0 { 0 } else { id };
        let publish = Publish { qos, id, ..Publish::new("t", &body) };
        self.packet(Side::Subscriber, &ControlPacket::Publish(publish));
    }

    fn drain(&mut self, side: Side, room: usize) -> bool {
        let mut buf = vec![0; room];
        let mut sends = 0;
        for _ in 0..4096 {
            // At saturation only a connection that is full ends the sending.
            if sends > 64 {
                buf.clear();
            }
            match self.exchange.poll(self.now, side, &mut buf) {
                Output::Send { len } => {
                    assert!(len > 0 && len <= room);
                    sends += 1;
                    self.exchange.handle(self.now, side, MqttInput::Written);
                }
                Output::Sample(sample) => self.samples.push(sample),
                Output::WaitUntil(_) => return false,
                Output::Done => return true,
            }
        }
        panic!("poll never ends");
    }

    /// Checks that after a stop the exchange is over at once, and that no message has two fates.
    fn end(mut self) {
        self.exchange.handle(self.now, Side::Publisher, MqttInput::Stop);
        assert!(self.drain(Side::Publisher, 200) && self.drain(Side::Subscriber, 200));
        let mut seqs: Vec<u64> = self
            .samples
            .iter()
            .filter_map(|sample| match sample {
                Sample::Probe(p) if !matches!(p.fate, Fate::Duplicate | Fate::Late) => Some(p.seq),
                _ => None,
            })
            .collect();
        seqs.sort_unstable();
        assert!(seqs.windows(2).all(|it| it[0] < it[1]), "one fate a message");
        // A message that the stop kept from being sent has none, and is in no total.
        let total = self.samples.iter().find_map(|sample| match sample {
            Sample::Interval(it) if it.total => it.datagrams,
            _ => None,
        });
        assert_eq!(total.unwrap_or(0), seqs.len() as u64, "a fate each");
    }
}
