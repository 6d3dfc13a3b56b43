//! A broker for the lab.

mod session;

use crate::node::app::{App, SocketId, Sockets, StreamState, Wait, opened};
use crate::wire::mqtt::{
    ConnAck, Connect, ControlPacket, MalformedPacket, Publish, PublishAck, RawPacket, SubAck,
    Version, kind,
};
use espbench_model::time::Instant;
use session::ClientSession;

/// A broker for the lab: MQTT 3.1.1 and 5, QoS 0 to 2, `CLIENTS` connections of four subscriptions
/// each, packets of up to `PACKET` bytes, and `OUT` bytes on their way to a client. It never ends.
///
/// A message is handed on when its PUBLISH comes (method B of 4.3.3). No retained messages, no wills,
/// no UNSUBSCRIBE, no names and passwords; a session ends with its connection. Nagle's algorithm is
/// on, as in mosquitto.
///
/// What a client has no room for, and what is beyond its receive maximum (version 5), is dropped and
/// counted: `broker-dropped`. Further counters:
/// `broker-refused`, connections beyond `CLIENTS`; `broker-malformed`, clients that did not keep to
/// the standard; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct LabBroker<const CLIENTS: usize = 4, const PACKET: usize = 2048, const OUT: usize = 16384>
{
    port: u16,
    listener: Option<SocketId>,
    sessions: [Option<ClientSession<OUT>>; CLIENTS],
    /// Bytes that came of each client's incomplete packet.
    packets: [[u8; PACKET]; CLIENTS],
    held: [usize; CLIENTS],
    /// Whose turn it is.
    turn: usize,
}

/// The future of a client's connection after a packet.
enum AfterPacket {
    Stay,
    /// The client sent DISCONNECT, or was refused.
    Leave,
}

impl<const CLIENTS: usize, const PACKET: usize, const OUT: usize> LabBroker<CLIENTS, PACKET, OUT> {
    /// Creates a broker on `port` (1883).
    ///
    /// # Panics
    /// Where `OUT` is less than twice `PACKET`: at compile time.
    #[must_use]
    pub const fn new(port: u16) -> Self {
        const { assert!(OUT >= 2 * PACKET, "no room for messages beside answers") };
        Self {
            port,
            listener: None,
            sessions: [const { None }; CLIENTS],
            packets: [[0; PACKET]; CLIENTS],
            held: [0; CLIENTS],
            turn: 0,
        }
    }

    fn accept(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: SocketId) {
        match self.sessions.iter().position(Option::is_none) {
            Some(nth) => {
                self.sessions[nth] = Some(ClientSession::new(socket, now));
                self.held[nth] = 0;
            }
            None => {
                sockets.close(socket);
                sockets.count("broker-refused", 1);
            }
        }
    }

    fn close(&mut self, nth: usize, sockets: &mut dyn Sockets) {
        if let Some(session) = self.sessions[nth].take() {
            sockets.close(session.socket);
        }
    }

    /// Sends what waits for a client; true where it took something, or is gone.
    fn send(&mut self, nth: usize, sockets: &mut dyn Sockets) -> bool {
        let Some(session) = &mut self.sessions[nth] else { return false };
        if session.waiting().is_empty() {
            if session.leaving {
                self.close(nth, sockets);
            }
            return false;
        }
        match sockets.tcp_send(session.socket, session.waiting()) {
            Ok(0) => false,
            Ok(len) => {
                session.sent(len);
                true
            }
            Err(_) => {
                self.close(nth, sockets);
                true
            }
        }
    }

    /// Reads from a client, where answers have room, and deals with its packets.
    fn receive(&mut self, nth: usize, now: Instant, sockets: &mut dyn Sockets) -> bool {
        let Some(session) = &mut self.sessions[nth] else { return false };
        if session.leaving || session.room() < PACKET {
            return false;
        }
        let socket = session.socket;
        let buf = &mut self.packets[nth][self.held[nth]..];
        match sockets.tcp_receive(socket, buf) {
            Ok(0) if sockets.tcp_stream(socket) == StreamState::Open => false,
            Ok(0) | Err(_) => {
                self.close(nth, sockets);
                true
            }
            Ok(len) => {
                session.heard = now;
                self.held[nth] += len;
                self.packets(nth, sockets);
                true
            }
        }
    }

    fn packets(&mut self, nth: usize, sockets: &mut dyn Sockets) {
        // Taken out, so that its packets can be read while others are written to.
        let packets = core::mem::replace(&mut self.packets[nth], [0; PACKET]);
        let (held, mut at) = (self.held[nth], 0);
        let ended = loop {
            match RawPacket::cut(&packets[at..held]) {
                Ok(Some((frame, len))) => {
                    at += len;
                    match self.packet(nth, &frame, sockets) {
                        Ok(AfterPacket::Stay) => {}
                        Ok(AfterPacket::Leave) => break true,
                        Err(MalformedPacket(_)) => {
                            sockets.count("broker-malformed", 1);
                            break true;
                        }
                    }
                }
                // One that can never be complete.
                Ok(None) if at == 0 && held == PACKET => {
                    sockets.count("broker-malformed", 1);
                    break true;
                }
                Ok(None) => break false,
                Err(MalformedPacket(_)) => {
                    sockets.count("broker-malformed", 1);
                    break true;
                }
            }
        };
        self.packets[nth] = packets;
        self.packets[nth].copy_within(at..held, 0);
        self.held[nth] = held - at;
        if let (true, Some(session)) = (ended, &mut self.sessions[nth]) {
            session.leaving = true;
        }
    }

    fn packet(
        &mut self,
        nth: usize,
        frame: &RawPacket<'_>,
        sockets: &mut dyn Sockets,
    ) -> Result<AfterPacket, MalformedPacket> {
        let Some(session) = &mut self.sessions[nth] else { return Ok(AfterPacket::Leave) };
        let Some(version) = session.version else {
            return match frame.kind() {
                kind::CONNECT => self.connect(nth, &Connect::parse(frame)?, sockets),
                _ => Err(MalformedPacket("a packet before CONNECT")),
            };
        };
        let fits = match ControlPacket::parse(version, frame)? {
            ControlPacket::Publish(message) => return self.publish(nth, &message, sockets),
            ControlPacket::PubRel(ack) => {
                session.unreleased.set(ack.id, false);
                session.answer(&ControlPacket::PubComp(PublishAck { id: ack.id, reason: 0 }))
            }
            ControlPacket::PubAck(ack) => session.acknowledged(kind::PUBACK, ack),
            ControlPacket::PubRec(ack) => session.acknowledged(kind::PUBREC, ack),
            ControlPacket::PubComp(ack) => session.acknowledged(kind::PUBCOMP, ack),
            ControlPacket::Subscribe(subscribe) => {
                let mut codes = heapless::Vec::<u8, 32>::new();
                for (filter, options) in subscribe.filters {
                    let code = session.subscribe(filter, options.qos);
                    codes
                        .push(code)
                        .map_err(|_| MalformedPacket("more filters than there is room for"))?;
                }
                session.answer(&ControlPacket::SubAck(SubAck { id: subscribe.id, codes: &codes }))
            }
            ControlPacket::PingReq => session.answer(&ControlPacket::PingResp),
            ControlPacket::Disconnect(_) => return Ok(AfterPacket::Leave),
            _ => {
                return Err(MalformedPacket(
                    "a packet that a client does not send, or UNSUBSCRIBE",
                ));
            }
        };
        if fits { Ok(AfterPacket::Stay) } else { Err(MalformedPacket("no room for its answer")) }
    }

    fn connect(
        &mut self,
        nth: usize,
        connect: &Connect<'_>,
        sockets: &mut dyn Sockets,
    ) -> Result<AfterPacket, MalformedPacket> {
        // 3.1.4: an older connection of the same client ends.
        for other in (0..CLIENTS).filter(|&other| other != nth) {
            let same = |s: &ClientSession<OUT>| s.version.is_some() && s.name == connect.client_id;
            if !connect.client_id.is_empty() && self.sessions[other].as_ref().is_some_and(same) {
                self.close(other, sockets);
            }
        }
        let Some(session) = &mut self.sessions[nth] else { return Ok(AfterPacket::Leave) };
        let Connect { client_id, keep_alive, receive_maximum, .. } = *connect;
        let version = connect.protocol.version();
        let named = session.open(version, client_id, keep_alive, receive_maximum);
        // Identifier rejected: 2, and in version 5 0x85.
        let code = if named { 0 } else { [2, 0x85][usize::from(version == Version::V5)] };
        session.answer(&ControlPacket::ConnAck(ConnAck { code, ..ConnAck::ACCEPTED }));
        Ok(if named { AfterPacket::Stay } else { AfterPacket::Leave })
    }

    fn publish(
        &mut self,
        nth: usize,
        message: &Publish<'_>,
        sockets: &mut dyn Sockets,
    ) -> Result<AfterPacket, MalformedPacket> {
        let Some(session) = &mut self.sessions[nth] else { return Ok(AfterPacket::Leave) };
        let ack = PublishAck { id: message.id, reason: 0 };
        let (new, fits) = match message.qos {
            0 => (true, true),
            1 => (true, session.answer(&ControlPacket::PubAck(ack))),
            _ => (
                session.unreleased.set(message.id, true),
                session.answer(&ControlPacket::PubRec(ack)),
            ),
        };
        if !fits {
            return Err(MalformedPacket("no room for its answer"));
        }
        for session in self.sessions.iter_mut().flatten().filter(|_| new) {
            let Some(qos) = session.wants(message.topic) else { continue };
            if !session.deliver(message, qos.min(message.qos), PACKET) {
                sockets.count("broker-dropped", 1);
            }
        }
        Ok(AfterPacket::Stay)
    }
}

impl<const CLIENTS: usize, const PACKET: usize, const OUT: usize> App
    for LabBroker<CLIENTS, PACKET, OUT>
{
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let listener = match opened(&mut self.listener, sockets, |it| it.tcp_listen(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if let Some((socket, _)) = sockets.tcp_accept(listener) {
            self.accept(now, sockets, socket);
            return Wait::Again;
        }
        if (0..CLIENTS).any(|nth| self.send(nth, sockets)) {
            return Wait::Again;
        }
        for _ in 0..CLIENTS {
            let nth = self.turn;
            self.turn = (self.turn + 1) % CLIENTS;
            if self.receive(nth, now, sockets) {
                return Wait::Again;
            }
        }
        let mut wake = Instant::NEVER;
        for nth in 0..CLIENTS {
            let Some(session) = &self.sessions[nth] else { continue };
            if now >= session.deadline() {
                self.close(nth, sockets);
            } else {
                wake = wake.min(session.deadline());
            }
        }
        if wake == Instant::NEVER { Wait::Change } else { Wait::Until(wake) }
    }
}
