//! `SocketDispatcher`'s task, with the one socket of the client.

use super::client::{Client, KEEP_ALIVE, PATIENCE};
use super::{Event, Outgoing, SmoothMqtt, SmoothSetup, ticks_after};
use crate::node::app::{Endpoint, Handle, Sockets, Stream, Wait};
use crate::sample::{Cause, Fate};
use crate::time::Instant;
use crate::wire::mqtt::{
    Ack, Connect, Disconnect, Frame, NoRoom, Packet, Publish, Subscribe, Version, bytes,
};
use heapless::Deque;

/// Packets that the transmit buffer holds (`BufferContainer`).
const BUFFER: usize = 5;
/// Bytes of a packet: `CONFIG_SMOOTH_MAX_MQTT_MESSAGE_SIZE` and its header.
pub(super) const PACKET: usize = 512 + 5;
/// Connections that were tried in vain before it gives up.
const TRIES: u8 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// Not before then.
    Down(Instant),
    Connecting(Handle),
    Up(Handle),
}

#[derive(Clone, Debug)]
pub(super) struct Dispatcher {
    link: Link,
    tries: u8,
    buffer: Deque<Outgoing, BUFFER>,
    /// The packet that is being sent: its bytes, from, to.
    current: Option<(Outgoing, usize, usize)>,
    out: [u8; PACKET],
    /// What came of a packet.
    packet: [u8; PACKET],
    held: usize,
    /// It sits in `select` until then, and whether it asks for writing.
    select: Option<(Instant, bool)>,
}

impl Dispatcher {
    pub(super) const fn new() -> Self {
        Self {
            link: Link::Down(Instant::ZERO),
            tries: 0,
            buffer: Deque::new(),
            current: None,
            out: [0; PACKET],
            packet: [0; PACKET],
            held: 0,
            select: None,
        }
    }

    /// `PacketSendBuffer::put`.
    pub(super) fn put(&mut self, packet: Outgoing) -> bool {
        self.buffer.push_back(packet).is_ok()
    }

    /// `DisconnectState`: whatever was to be sent, a DISCONNECT is.
    pub(super) fn disconnect(&mut self) {
        self.buffer.clear();
        self.put(Outgoing::Disconnect);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.current.is_none()
    }

    /// What was to be sent will not be. A message of QoS 0 is on no list any more.
    fn abandon(&mut self, sockets: &mut dyn Sockets, setup: &SmoothSetup, cause: Cause) {
        let current = self.current.take().map(|(packet, ..)| packet);
        for packet in current.into_iter().chain(core::mem::take(&mut self.buffer)) {
            if let Outgoing::Publish { message, id: 0 } = packet {
                sockets.sample(setup.sample(&message, None, Fate::Lost(cause)));
            }
        }
    }

    pub(super) fn close(&mut self, sockets: &mut dyn Sockets, setup: &SmoothSetup, cause: Cause) {
        self.abandon(sockets, setup, cause);
        if let Link::Up(socket) | Link::Connecting(socket) = self.link {
            sockets.close(socket);
        }
        self.link = Link::Down(Instant::NEVER);
    }

    /// One round: `select`, and what it finds.
    pub(super) fn poll(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        broker: Endpoint,
        client: &mut Client,
    ) -> Wait {
        match self.link {
            Link::Down(until) if now < until => Wait::Until(until),
            Link::Down(_) => self.connect(now, sockets, broker, client),
            Link::Connecting(socket) => self.connecting(now, sockets, client, socket),
            Link::Up(socket) => self.transfer(now, sockets, setup, client, socket),
        }
    }

    fn connect(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        broker: Endpoint,
        client: &mut Client,
    ) -> Wait {
        if self.tries >= TRIES {
            client.tell(Event::Accepted(u8::MAX));
            self.link = Link::Down(Instant::NEVER);
            return Wait::Again;
        }
        match sockets.tcp_connect(broker) {
            Ok(socket) => {
                sockets.tcp_no_delay(socket, true);
                self.link = Link::Connecting(socket);
            }
            Err(_) => self.down(now),
        }
        Wait::Again
    }

    fn down(&mut self, now: Instant) {
        self.tries += 1;
        self.link = Link::Down(now + PATIENCE);
    }

    fn connecting(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut Client,
        socket: Handle,
    ) -> Wait {
        match sockets.tcp_stream(socket) {
            Stream::Connecting => return Wait::Until(Instant::NEVER),
            Stream::Open | Stream::HalfClosed => {
                (self.current, self.held, self.select) = (None, 0, None);
                self.buffer.clear();
                self.link = Link::Up(socket);
                client.tell(Event::Connected);
            }
            Stream::Closed => {
                sockets.close(socket);
                self.down(now);
            }
        }
        Wait::Again
    }

    fn transfer(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        client: &mut Client,
        socket: Handle,
    ) -> Wait {
        let Some((until, writes)) = self.select else {
            self.select = Some((ticks_after(now, SmoothMqtt::SELECT), !self.is_empty()));
            return Wait::Again;
        };
        let did = match self.read(sockets, client, socket) {
            Some(false) if writes => self.write(now, sockets, setup, client, socket),
            did => did,
        };
        let Some(did) = did else { return self.lost(now, sockets, setup, client, socket) };
        if did || now >= until {
            self.select = None;
            return Wait::Again;
        }
        Wait::Until(until)
    }

    fn lost(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        client: &mut Client,
        socket: Handle,
    ) -> Wait {
        self.abandon(sockets, setup, Cause::Disconnected);
        sockets.close(socket);
        self.down(now);
        client.tell(Event::Disconnected);
        Wait::Again
    }

    /// One `recv` of what the packet lacks next; false where nothing has come, `None` where the
    /// connection is gone, or what came is no MQTT.
    fn read(
        &mut self,
        sockets: &mut dyn Sockets,
        client: &mut Client,
        socket: Handle,
    ) -> Option<bool> {
        let want = self.lacks()?;
        let chunk = self.packet.get_mut(self.held..self.held + want)?;
        match sockets.tcp_receive(socket, chunk) {
            Ok(0) if sockets.tcp_stream(socket) == Stream::Open => return Some(false),
            Ok(0) | Err(_) => return None,
            Ok(len) => self.held += len,
        }
        if let Some((frame, _)) = Frame::cut(&self.packet[..self.held]).ok()? {
            let event = event(&Packet::parse(Version::V311, &frame).ok()?);
            client.tell(event);
            self.tries = 0;
            self.held = 0;
        }
        Some(true)
    }

    /// `MQTTProtocol::get_wanted_amount`: the first byte, the length byte by byte, the rest.
    fn lacks(&self) -> Option<usize> {
        let Some((_, length)) = self.packet[..self.held].split_first() else { return Some(1) };
        match bytes::varint(length).ok()? {
            None => Some(1),
            Some((body, digits)) => Some(1 + digits + body - self.held),
        }
    }

    /// One `send`; false where the socket takes nothing, `None` where the connection is gone.
    fn write(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        client: &mut Client,
        socket: Handle,
    ) -> Option<bool> {
        if self.current.is_none() {
            let Some(packet) = self.buffer.pop_front() else { return Some(false) };
            let len = emit(&packet, setup, &mut self.out).ok()?;
            self.current = Some((packet, 0, len));
        }
        let (packet, from, to) = self.current?;
        let len = sockets.tcp_send(socket, &self.out[from..to]).ok()?;
        if len == 0 {
            return Some(false);
        }
        self.current = Some((packet, from + len, to));
        if from + len >= to {
            self.current = None;
            if packet == Outgoing::Disconnect {
                return None;
            }
            client.tell(Event::Sent);
            if let Outgoing::Publish { message, id } = packet {
                client.left(message.seq, now);
                if id == 0 {
                    let message = super::Message { sent: Some(now), ..message };
                    sockets.sample(setup.sample(&message, None, Fate::Delivered));
                }
            }
        }
        Some(true)
    }
}

fn event(packet: &Packet<'_>) -> Event {
    use crate::wire::mqtt::kind;
    match *packet {
        Packet::ConnAck(ack) => Event::Accepted(ack.code),
        Packet::SubAck(_) => Event::Subscribed,
        Packet::Publish(Publish { qos, id, .. }) => Event::Message { qos, id },
        Packet::PubAck(ack) => Event::Answer { kind: kind::PUBACK, id: ack.id },
        Packet::PubRec(ack) => Event::Answer { kind: kind::PUBREC, id: ack.id },
        Packet::PubRel(ack) => Event::Answer { kind: kind::PUBREL, id: ack.id },
        Packet::PubComp(ack) => Event::Answer { kind: kind::PUBCOMP, id: ack.id },
        _ => Event::Other,
    }
}

fn emit(packet: &Outgoing, setup: &SmoothSetup, out: &mut [u8]) -> Result<usize, NoRoom> {
    let version = Version::V311;
    match *packet {
        Outgoing::Connect => Connect {
            version,
            client_id: setup.client_id,
            clean: true,
            keep_alive: KEEP_ALIVE,
            username: None,
            password: None,
            receive_maximum: None,
            maximum_packet_size: None,
        }
        .emit(out),
        Outgoing::Subscribe => Subscribe::emit(version, 1, setup.topic, setup.work.qos, out),
        Outgoing::Publish { message, id } => {
            let (qos, topic) = (message.qos, setup.topic);
            let publish = Publish { dup: false, qos, retain: false, topic, id, payload: &[] };
            let size = setup.work.size as usize;
            publish.emit_with(version, out, size, |to| setup.fill(to, &message))
        }
        Outgoing::Answer { kind, id } => Ack { id, reason: 0 }.emit(version, kind, out),
        Outgoing::Ping => Packet::PingReq.emit(version, out),
        Outgoing::Disconnect => Disconnect { reason: 0 }.emit(version, out),
    }
}
