//! A client's connection to the broker: bytes between its machine and a socket.

use crate::node::Output;
use crate::node::app::{Endpoint, SocketId, Sockets, StreamState, Wait};
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};

/// Longest time for a connection to open, and the time between two tries.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_millis(500));

/// The machine of a client.
pub(super) trait MqttMachine {
    /// Notes that the transport is connected.
    fn connected(&mut self, now: Instant);
    /// Handles bytes that came. Samples go to `emit`.
    fn received(&mut self, now: Instant, bytes: &[u8], emit: &mut dyn FnMut(Sample));
    /// Notes that the socket took all that `poll` gave out.
    fn written(&mut self, now: Instant);
    /// Notes that the transport is closed.
    fn closed(&mut self, now: Instant);
    /// Ends the machine: it cannot connect.
    fn give_up(&mut self, now: Instant);
    /// Returns the machine's next request. Nothing can be sent into an empty buffer.
    fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output;
    /// Reports the machine's counters, at the end.
    fn count(&self, sockets: &mut dyn Sockets);
}

/// The socket of a client, and what it is yet to take.
#[derive(Debug)]
pub(super) struct Pipe {
    broker: Endpoint,
    state: PipeState,
    /// Since when it tries to connect.
    since: Option<Instant>,
    /// Earliest instant of the next try.
    retry: Instant,
    /// Bytes of the outgoing buffer that are to be sent: from, to.
    waiting: (usize, usize),
    /// Whether received bytes are to be handled before more are read.
    drain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PipeState {
    Closed,
    Connecting(SocketId),
    Open(SocketId),
}

/// Bytes read at a time.
const CHUNK: usize = 1460;

impl Pipe {
    pub(super) const fn new(broker: Endpoint) -> Self {
        Self {
            broker,
            state: PipeState::Closed,
            since: None,
            retry: Instant::ZERO,
            waiting: (0, 0),
            drain: false,
        }
    }

    /// Carries out one poll of the program. `out` holds the bytes to be sent, from call to call.
    pub(super) fn poll(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
        out: &mut [u8],
    ) -> Wait {
        match self.state {
            PipeState::Closed => self.connect(now, sockets, client),
            PipeState::Connecting(socket) => self.connecting(now, sockets, client, socket),
            PipeState::Open(socket) => self.transfer(now, sockets, client, out, socket),
        }
    }

    /// Records the machine's samples while there is no connection, and answers when to ask it
    /// again; `None` where it has ended, and wants no further connection.
    fn offline(
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
    ) -> Option<Instant> {
        loop {
            match client.poll(now, &mut []) {
                Output::Sample(sample) => sockets.sample(sample),
                Output::Done => return None,
                Output::WaitUntil(at) => return Some(at),
                Output::Send { .. } => return Some(now),
            }
        }
    }

    fn connect(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
    ) -> Wait {
        let Some(wake) = Self::offline(now, sockets, client) else {
            client.count(sockets);
            return Wait::Done;
        };
        if now < self.retry {
            return Wait::Until(self.retry.min(wake));
        }
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= PATIENCE.0 {
            sockets.count("failed", 1);
            client.give_up(now);
            return Wait::Again;
        }
        match sockets.tcp_connect(self.broker) {
            Ok(socket) => {
                sockets.tcp_no_delay(socket, true);
                self.state = PipeState::Connecting(socket);
            }
            Err(_) => self.retry = now + PATIENCE.1,
        }
        Wait::Again
    }

    fn connecting(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
        socket: SocketId,
    ) -> Wait {
        let until = self.since.unwrap_or(now) + PATIENCE.0;
        match sockets.tcp_stream(socket) {
            StreamState::Open | StreamState::HalfClosed => {
                self.state = PipeState::Open(socket);
                (self.since, self.waiting, self.drain) = (None, (0, 0), false);
                client.connected(now);
            }
            StreamState::Connecting if now < until => {
                let wake = Self::offline(now, sockets, client);
                return Wait::Until(until.min(wake.unwrap_or(until)));
            }
            StreamState::Connecting | StreamState::Closed => {
                sockets.close(socket);
                self.state = PipeState::Closed;
                self.retry = now + PATIENCE.1;
            }
        }
        Wait::Again
    }

    fn transfer(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
        out: &mut [u8],
        socket: SocketId,
    ) -> Wait {
        if let Some(wait) = self.send(now, sockets, client, out, socket) {
            return wait;
        }
        if !self.drain
            && let Some(wait) = self.receive(now, sockets, client, socket)
        {
            return wait;
        }
        // There may be more to read, of which no change will tell.
        let drained = core::mem::take(&mut self.drain);
        let blocked = self.waiting.0 < self.waiting.1;
        loop {
            let room = if blocked { 0 } else { out.len() };
            match client.poll(now, &mut out[..room]) {
                Output::Sample(sample) => sockets.sample(sample),
                Output::WaitUntil(_) if drained => return Wait::Again,
                Output::WaitUntil(at) => return Wait::Until(at),
                Output::Send { len } => {
                    self.waiting = (0, len);
                    return self.send(now, sockets, client, out, socket).unwrap_or(Wait::Change);
                }
                Output::Done => {
                    client.count(sockets);
                    sockets.close(socket);
                    return Wait::Done;
                }
            }
        }
    }

    /// Sends on; `None` where nothing is to be sent, or the socket takes nothing now.
    fn send(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
        out: &[u8],
        socket: SocketId,
    ) -> Option<Wait> {
        let (from, to) = self.waiting;
        let bytes = out.get(from..to).filter(|bytes| !bytes.is_empty())?;
        match sockets.tcp_send(socket, bytes) {
            Ok(0) => return None,
            Ok(len) => {
                self.waiting.0 += len;
                if self.waiting.0 >= to {
                    self.waiting = (0, 0);
                    client.written(now);
                }
            }
            Err(_) => self.lost(now, sockets, client, socket),
        }
        Some(Wait::Again)
    }

    fn receive(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
        socket: SocketId,
    ) -> Option<Wait> {
        let mut chunk = [0; CHUNK];
        match sockets.tcp_receive(socket, &mut chunk) {
            Ok(0) if sockets.tcp_stream(socket) == StreamState::Open => return None,
            Ok(0) | Err(_) => self.lost(now, sockets, client, socket),
            Ok(len) => {
                let mut emit = |sample| sockets.sample(sample);
                client.received(now, &chunk[..len], &mut emit);
                self.drain = true;
            }
        }
        Some(Wait::Again)
    }

    fn lost(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        client: &mut dyn MqttMachine,
        socket: SocketId,
    ) {
        sockets.close(socket);
        client.closed(now);
        self.state = PipeState::Closed;
        self.retry = now + PATIENCE.1;
        self.waiting = (0, 0);
    }
}
