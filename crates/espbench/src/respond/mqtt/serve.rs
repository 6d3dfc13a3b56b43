//! Sockets and time for the broker: one thread that waits for readiness.

use super::SharedCounts;
use super::broker::limits::{BrokerCounter, BrokerLimits};
use super::broker::{Broker, BrokerNotice};
use crate::clock::Clock;
use crate::respond::ServiceLog;
use crate::respond::served::{ServedPart, ServedRate};
use crate::sys;
use espbench_model::text::counted;
use espbench_model::time::{Duration, Instant};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind, IoSlice, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes read at once.
const READ: usize = 64 * 1024;
/// Pieces written at once.
const PIECES: usize = 64;
/// Writes to one connection before others have their turn.
const WRITES: usize = 4;
/// Connections accepted before others have their turn.
const ACCEPTS: usize = 64;
/// Longest wait without a look at the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// Wait after a connection could not be accepted: the process has no descriptor for it.
const RETRY: Duration = Duration::from_millis(100);
/// Notes printed; further ones are only counted.
const NOTES: usize = 100;

const LISTENER: Token = Token(usize::MAX - 1);

/// Socket that listens, registered for readiness.
pub(super) struct ListenSocket {
    socket: TcpListener,
    poll: Poll,
}

impl ListenSocket {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let mut socket = TcpListener::bind(address)?;
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, LISTENER, Interest::READABLE)?;
        Ok(Self { socket, poll })
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

struct ClientSocket {
    socket: TcpStream,
    /// Whether there are bytes, as far as is known.
    readable: bool,
    writable: bool,
    /// Whether the client is among those to be read from, or written to, in the next turn.
    is_reading: bool,
    is_writing: bool,
}

struct BrokerServer<'a> {
    listener: ListenSocket,
    broker: Broker,
    clients: Vec<Option<ClientSocket>>,
    reading: Vec<u32>,
    writing: Vec<u32>,
    clock: Clock,
    /// When to accept again; `None` where the listener is not ready.
    accept_at: Option<Instant>,
    log: &'a ServiceLog,
    tally: &'a SharedCounts,
    notes: usize,
    /// Messages received, and how many of them are counted in it.
    rate: ServedRate,
    rated: u64,
}

/// Serves until `stop`.
pub(super) fn run(
    listener: ListenSocket,
    limits: BrokerLimits,
    stop: &AtomicBool,
    log: &ServiceLog,
    tally: &SharedCounts,
) {
    sys::files::allow_many();
    let mut server = BrokerServer {
        listener,
        broker: Broker::new(limits),
        clients: Vec::new(),
        reading: Vec::new(),
        writing: Vec::new(),
        clock: Clock::start(),
        accept_at: None,
        log,
        tally,
        notes: 0,
        rate: ServedRate::default(),
        rated: 0,
    };
    let (mut events, mut buf) = (Events::with_capacity(1024), vec![0; READ]);
    let mut next = Instant::NEVER;
    while !stop.load(Ordering::Relaxed) {
        if let Err(e) = server.wait(&mut events, next) {
            log(&format!("ended: {e}"));
            break;
        }
        next = server.turn(&mut buf);
        server.share_counts();
        server.tell_rate();
    }
    let rest = server.rate.take_rest();
    server.tell_part(rest);
    server.broker.shut_down(server.clock.now());
    server.look_at_news();
    server.write();
    server.tell_counts();
}

impl BrokerServer<'_> {
    /// Lets others see the counts.
    fn share_counts(&self) {
        for &what in BrokerCounter::ALL {
            self.tally.set(what, self.broker.counts().get(what));
        }
    }

    /// Counts the messages that came, and tells their rate where it is due.
    fn tell_rate(&mut self) {
        let (now, came) = (self.clock.now(), self.broker.counts().get(BrokerCounter::Received));
        if came > self.rated {
            self.rate.add(now, came - self.rated);
            self.rated = came;
        }
        let part = self.rate.take_due(now);
        self.tell_part(part);
    }

    fn tell_part(&self, part: Option<ServedPart>) {
        if let Some(part) = part {
            (self.log)(&part.things("message", "messages"));
        }
    }

    /// Waits until something can be done.
    fn wait(&mut self, events: &mut Events, next: Instant) -> io::Result<()> {
        let now = self.clock.now();
        let wake = next.min(self.accept_at.unwrap_or(Instant::NEVER));
        let busy = !self.reading.is_empty() || !self.writing.is_empty();
        let timeout = if busy { Duration::ZERO } else { wake.since(now).min(LOOK) };
        if let Err(e) = self.listener.poll.poll(events, Some(timeout))
            && e.kind() != ErrorKind::Interrupted
        {
            return Err(e);
        }
        for event in events.iter() {
            if event.token() == LISTENER {
                self.accept_at = Some(now);
                continue;
            }
            let id = event.token().0 as u32;
            let Some(Some(client)) = self.clients.get_mut(id as usize) else { continue };
            client.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
            client.writable |= event.is_writable() || event.is_error();
            self.look_at(id);
        }
        Ok(())
    }

    /// Does once all that can be done and returns when the broker wants to be called again.
    fn turn(&mut self, buf: &mut [u8]) -> Instant {
        if self.accept_at.is_some_and(|at| at <= self.clock.now()) {
            self.accept();
        }
        for id in std::mem::take(&mut self.reading) {
            if let Some(Some(client)) = self.clients.get_mut(id as usize) {
                client.is_reading = false;
                self.read(id, buf);
                // Answers leave before the next client is read from, and no client's messages fill
                // another's outbox while it could be written to.
                self.look_at_news();
                self.write();
            }
        }
        let next = self.broker.tick(self.clock.now());
        self.look_at_news();
        self.write();
        self.tell_notes();
        next
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            match self.listener.socket.accept() {
                Ok((socket, peer)) => self.open(socket, peer),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    self.accept_at = None;
                    return;
                }
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                    ) => {}
                Err(e) => {
                    self.say(&format!("a connection cannot be accepted: {e}"));
                    self.accept_at = Some(self.clock.now() + RETRY);
                    return;
                }
            }
        }
    }

    fn open(&mut self, mut socket: TcpStream, peer: SocketAddr) {
        let Some(id) = self.broker.open(self.clock.now(), peer) else { return };
        let _ = socket.set_nodelay(true);
        let both = Interest::READABLE | Interest::WRITABLE;
        let registry = self.listener.poll.registry();
        if registry.register(&mut socket, Token(id as usize), both).is_err() {
            self.broker.closed(self.clock.now(), id);
            return;
        }
        let at = id as usize;
        if self.clients.len() <= at {
            self.clients.resize_with(at + 1, || None);
        }
        let (is_reading, is_writing) = (false, false);
        self.clients[at] =
            Some(ClientSocket { socket, readable: true, writable: true, is_reading, is_writing });
        self.look_at(id);
    }

    /// Reads once.
    fn read(&mut self, id: u32, buf: &mut [u8]) {
        if !self.broker.wants_read(id) {
            return;
        }
        let Some(Some(client)) = self.clients.get_mut(id as usize) else { return };
        match client.socket.read(buf) {
            Ok(0) => self.close(id),
            Ok(len) => {
                self.broker.receive(self.clock.now(), id, &buf[..len]);
                self.look_at(id);
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => client.readable = false,
            Err(e) if e.kind() == ErrorKind::Interrupted => self.look_at(id),
            Err(_) => self.close(id),
        }
    }

    /// Takes up the connections that the broker has news of.
    fn look_at_news(&mut self) {
        let mut news = Vec::new();
        self.broker.news(&mut news);
        for id in news {
            self.look_at(id);
        }
    }

    /// Puts a connection among those to be read from and written to, where that can be done.
    fn look_at(&mut self, id: u32) {
        let Some(Some(client)) = self.clients.get_mut(id as usize) else { return };
        if client.readable && !client.is_reading && self.broker.wants_read(id) {
            client.is_reading = true;
            self.reading.push(id);
        }
        if !client.is_writing {
            client.is_writing = true;
            self.writing.push(id);
        }
    }

    /// Writes to those that have something to be written, and closes those that are done.
    fn write(&mut self) {
        // Who gets the last message may look at them at once.
        self.share_counts();
        for id in std::mem::take(&mut self.writing) {
            if let Some(Some(client)) = self.clients.get_mut(id as usize) {
                client.is_writing = false;
                self.write_to(id);
            }
        }
    }

    fn write_to(&mut self, id: u32) {
        for _ in 0..WRITES {
            let Some(Some(client)) = self.clients.get_mut(id as usize) else { return };
            if !client.writable && !self.broker.is_done(id) {
                return;
            }
            let mut slices = [IoSlice::new(&[]); PIECES];
            let used = self.broker.output(id, &mut slices);
            if used == 0 {
                if self.broker.is_done(id) {
                    self.close(id);
                }
                return;
            }
            match client.socket.write_vectored(&slices[..used]) {
                Ok(len) => self.broker.written(self.clock.now(), id, len),
                Err(e) if e.kind() == ErrorKind::WouldBlock => client.writable = false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.close(id),
            }
        }
        // There may be more, and it may be read from again.
        self.look_at(id);
    }

    fn close(&mut self, id: u32) {
        if let Some(mut client) = self.clients.get_mut(id as usize).and_then(Option::take) {
            let _ = self.listener.poll.registry().deregister(&mut client.socket);
            self.broker.closed(self.clock.now(), id);
        }
    }

    fn say(&mut self, line: &str) {
        self.notes += 1;
        match self.notes {
            ..=NOTES => (self.log)(line),
            n if n == NOTES + 1 => (self.log)("the rest is only counted"),
            _ => {}
        }
    }

    fn tell_notes(&mut self) {
        while let Some(note) = self.broker.note() {
            let line = match note {
                BrokerNotice::Tls(peer) => format!("{peer} speaks TLS to the plain port"),
                BrokerNotice::Http(peer) => {
                    format!("{peer} speaks HTTP or another text protocol, not MQTT")
                }
                BrokerNotice::NotMqtt(peer, why) => format!("{peer} does not speak MQTT: {why}"),
                BrokerNotice::Level(peer) => {
                    format!("{peer} wants another version of MQTT than 3.1, 3.1.1 and 5")
                }
                BrokerNotice::Fault(peer, what) => format!("{peer} breaks the standard: {what}"),
                BrokerNotice::Limit(what) => {
                    format!("a limit is reached; from now on: {}", what.words())
                }
            };
            self.say(&line);
        }
    }

    fn tell_counts(&self) {
        let counts = self.broker.counts();
        let (came, went) = (counts.get(BrokerCounter::Received), counts.get(BrokerCounter::Sent));
        if came + went > 0 {
            let came = counted(came, "message", "messages");
            (self.log)(&format!("{came} received, {went} passed on"));
        }
        for &what in &BrokerCounter::ALL[2..] {
            if counts.get(what) > 0 {
                (self.log)(&format!("{} {}", counts.get(what), what.words()));
            }
        }
    }
}
