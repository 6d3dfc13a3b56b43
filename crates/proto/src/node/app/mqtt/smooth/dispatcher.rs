//! `SocketDispatcher`'s task, with the one socket of the client.

use super::client::{ClientTask, KEEP_ALIVE, PATIENCE};
use super::{DispatcherEvent, QueuedPacket, SmoothMqtt, SmoothSetup, ticks_after};
use crate::node::app::{Endpoint, SocketId, Sockets, StreamState, Wait};
use crate::wire::mqtt::{
    Connect, ControlPacket, Disconnect, NoRoom, Publish, PublishAck, RawPacket, Subscribe,
    SubscriptionOptions, Version, bytes,
};
use espbench_model::sample::{Cause, Fate};
use espbench_model::time::Instant;
use heapless::Deque;

/// Packets that the transmit buffer holds (`BufferContainer`).
const BUFFER: usize = 5;
/// Bytes of a packet: `CONFIG_SMOOTH_MAX_MQTT_MESSAGE_SIZE` and its header.
pub(super) const PACKET: usize = 512 + 5;
/// Connections that were tried in vain before it gives up.
const TRIES: u8 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DispatcherLink {
    /// No connection; the next try is not before this instant.
    Down(Instant),
    Connecting(SocketId),
    Up(SocketId),
}

#[derive(Clone, Debug)]
pub(super) struct Dispatcher {
    link: DispatcherLink,
    tries: u8,
    buffer: Deque<QueuedPacket, BUFFER>,
    /// The packet that is being sent: its bytes, from, to.
    current: Option<(QueuedPacket, usize, usize)>,
    out: [u8; PACKET],
    /// Bytes that came of a packet.
    packet: [u8; PACKET],
    held: usize,
    /// End of the `select` in which the task sits, and whether it asks for writing.
    select: Option<(Instant, bool)>,
}

impl Dispatcher {
    pub(super) const fn new() -> Self {
        Self {
            link: DispatcherLink::Down(Instant::ZERO),
            tries: 0,
            buffer: Deque::new(),
            current: None,
            out: [0; PACKET],
            packet: [0; PACKET],
            held: 0,
            select: None,
        }
    }

    /// Queues a packet, as `PacketSendBuffer::put` does.
    pub(super) fn put(&mut self, packet: QueuedPacket) -> bool {
        self.buffer.push_back(packet).is_ok()
    }

    /// Replaces whatever was to be sent with a DISCONNECT (`DisconnectState`).
    pub(super) fn disconnect(&mut self) {
        self.buffer.clear();
        self.put(QueuedPacket::Disconnect);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.current.is_none()
    }

    /// Gives up the packets that were to be sent. A message of QoS 0 is on no list any more.
    fn abandon(&mut self, sockets: &mut dyn Sockets, setup: &SmoothSetup, cause: Cause) {
        let current = self.current.take().map(|(packet, ..)| packet);
        for packet in current.into_iter().chain(core::mem::take(&mut self.buffer)) {
            if let QueuedPacket::Publish { message, id: 0 } = packet {
                sockets.sample(setup.sample(&message, None, Fate::Lost(cause)));
            }
        }
    }

    pub(super) fn close(&mut self, sockets: &mut dyn Sockets, setup: &SmoothSetup, cause: Cause) {
        self.abandon(sockets, setup, cause);
        if let DispatcherLink::Up(socket) | DispatcherLink::Connecting(socket) = self.link {
            sockets.close(socket);
        }
        self.link = DispatcherLink::Down(Instant::NEVER);
    }

    /// Runs one round: `select`, and what it finds.
    pub(super) fn poll(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        broker: Endpoint,
        client: &mut ClientTask,
    ) -> Wait {
        match self.link {
            DispatcherLink::Down(until) if now < until => Wait::Until(until),
            DispatcherLink::Down(_) => self.connect(now, sockets, broker, client),
            DispatcherLink::Connecting(socket) => self.connecting(now, sockets, client, socket),
            DispatcherLink::Up(socket) => self.transfer(now, sockets, setup, client, socket),
        }
    }

    fn connect(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        broker: Endpoint,
        client: &mut ClientTask,
    ) -> Wait {
        if self.tries >= TRIES {
            client.tell(DispatcherEvent::Accepted(u8::MAX));
            self.link = DispatcherLink::Down(Instant::NEVER);
            return Wait::Again;
        }
        match sockets.tcp_connect(broker) {
            Ok(socket) => {
                sockets.tcp_no_delay(socket, true);
                self.link = DispatcherLink::Connecting(socket);
            }
            Err(_) => self.down(now),
        }
        Wait::Again
    }

    fn down(&mut self, now: Instant) {
        self.tries += 1;
        self.link = DispatcherLink::Down(now + PATIENCE);
    }

    fn connecting(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut ClientTask,
        socket: SocketId,
    ) -> Wait {
        match sockets.tcp_stream(socket) {
            StreamState::Connecting => return Wait::Until(Instant::NEVER),
            StreamState::Open | StreamState::HalfClosed => {
                (self.current, self.held, self.select) = (None, 0, None);
                self.buffer.clear();
                self.link = DispatcherLink::Up(socket);
                client.tell(DispatcherEvent::Connected);
            }
            StreamState::Closed => {
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
        client: &mut ClientTask,
        socket: SocketId,
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
        client: &mut ClientTask,
        socket: SocketId,
    ) -> Wait {
        self.abandon(sockets, setup, Cause::Disconnected);
        sockets.close(socket);
        self.down(now);
        client.tell(DispatcherEvent::Disconnected);
        Wait::Again
    }

    /// Calls `recv` once for what the packet lacks next; false where nothing has come, `None` where
    /// the connection is gone, or the bytes are no MQTT.
    fn read(
        &mut self,
        sockets: &mut dyn Sockets,
        client: &mut ClientTask,
        socket: SocketId,
    ) -> Option<bool> {
        let want = self.lacks()?;
        let chunk = self.packet.get_mut(self.held..self.held + want)?;
        match sockets.tcp_receive(socket, chunk) {
            Ok(0) if sockets.tcp_stream(socket) == StreamState::Open => return Some(false),
            Ok(0) | Err(_) => return None,
            Ok(len) => self.held += len,
        }
        if let Some((frame, _)) = RawPacket::cut(&self.packet[..self.held]).ok()? {
            let event = event(&ControlPacket::parse(Version::V311, &frame).ok()?);
            client.tell(event);
            self.tries = 0;
            self.held = 0;
        }
        Some(true)
    }

    /// Returns how many bytes the packet lacks (`MQTTProtocol::get_wanted_amount`): the first byte,
    /// the length byte by byte, the rest.
    fn lacks(&self) -> Option<usize> {
        let Some((_, length)) = self.packet[..self.held].split_first() else { return Some(1) };
        match bytes::varint(length).ok()? {
            None => Some(1),
            Some((body, digits)) => Some(1 + digits + body - self.held),
        }
    }

    /// Calls `send` once; false where the socket takes nothing, `None` where the connection is
    /// gone.
    fn write(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        client: &mut ClientTask,
        socket: SocketId,
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
            if packet == QueuedPacket::Disconnect {
                return None;
            }
            client.tell(DispatcherEvent::Sent);
            if let QueuedPacket::Publish { message, id } = packet {
                client.left(message.seq, now);
                if id == 0 {
                    let message = super::SmoothMessage { sent: Some(now), ..message };
                    sockets.sample(setup.sample(&message, None, Fate::Delivered));
                }
            }
        }
        Some(true)
    }
}

fn event(packet: &ControlPacket<'_>) -> DispatcherEvent {
    use crate::wire::mqtt::kind;
    match *packet {
        ControlPacket::ConnAck(ack) => DispatcherEvent::Accepted(ack.code),
        ControlPacket::SubAck(_) => DispatcherEvent::Subscribed,
        ControlPacket::Publish(Publish { qos, id, .. }) => DispatcherEvent::Message { qos, id },
        ControlPacket::PubAck(ack) => DispatcherEvent::Answer { kind: kind::PUBACK, id: ack.id },
        ControlPacket::PubRec(ack) => DispatcherEvent::Answer { kind: kind::PUBREC, id: ack.id },
        ControlPacket::PubRel(ack) => DispatcherEvent::Answer { kind: kind::PUBREL, id: ack.id },
        ControlPacket::PubComp(ack) => DispatcherEvent::Answer { kind: kind::PUBCOMP, id: ack.id },
        _ => DispatcherEvent::Other,
    }
}

fn emit(packet: &QueuedPacket, setup: &SmoothSetup, out: &mut [u8]) -> Result<usize, NoRoom> {
    let version = Version::V311;
    match *packet {
        QueuedPacket::Connect => {
            let connect = Connect::new(version, setup.client_id);
            Connect { keep_alive: KEEP_ALIVE, ..connect }.emit(out)
        }
        QueuedPacket::Subscribe => {
            let options = SubscriptionOptions::of_qos(setup.work.qos);
            Subscribe::emit_one(version, 1, setup.topic, options, out)
        }
        QueuedPacket::Publish { message, id } => {
            let (qos, topic) = (message.qos, setup.topic);
            let publish = Publish { qos, id, ..Publish::new(topic, &[]) };
            let size = setup.work.size as usize;
            publish.emit_with(version, out, size, |to| setup.fill(to, &message))
        }
        QueuedPacket::Answer { kind, id } => PublishAck { id, reason: 0 }.emit(version, kind, out),
        QueuedPacket::Ping => ControlPacket::PingReq.emit(version, out),
        QueuedPacket::Disconnect => Disconnect::default().emit(version, out),
    }
}
