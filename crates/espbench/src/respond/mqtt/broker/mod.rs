//! The broker as a machine: connections' bytes and time go in, bytes come out. No I/O. The driver's
//! calls are those of [`Broker`], in this file.
//!
//! | module | contents |
//! |---|---|
//! | `connect`, `leave` | sessions begin, resume, are taken over, end; wills |
//! | `publish`, `subscribe` | messages and subscriptions from clients |
//! | `deliver` | from a message to those who want it, at the pace at which they take it |
//! | `connection`, `session`, `flight`, `outbox` | the state of a client |
//! | `tree`, `retained`, `message` | subscriptions, retained messages, messages |
//! | `slab` | values by small numbers, which are used again |
//! | [`limits`], [`account`] | limits of what is held, counts of what was dropped |
//!
//! # The law of the driver
//! After any call, look at every connection of [`Broker::news`]: write its [`Broker::output`], read
//! from it while [`Broker::wants_read`], close it once [`Broker::is_done`] and say so with
//! [`Broker::closed`]. Call [`Broker::tick`] when its time has come, or at once where it says so.
//!
//! The folder refers to nothing else of this crate, so that `fuzz/` compiles it by itself.

pub mod account;
mod connect;
mod connection;
mod deliver;
mod flight;
mod leave;
pub mod limits;
mod message;
mod outbox;
mod publish;
mod retained;
mod session;
mod slab;
mod subscribe;
#[cfg(test)]
mod tests;
mod tree;

use account::{Account, Accounts};
use connection::{BrokerConnection, ConnectionPhase};
use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::mqtt::{Fault, Protocol, RawPacket, kind, reason};
use limits::{BrokerCounter, BrokerCounts, BrokerLimits};
use retained::Retained;
use session::Session;
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::IoSlice;
use std::net::SocketAddr;
use std::rc::Rc;
use tree::{TopicMatches, Tree};

/// A notice that people want to read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerNotice {
    /// A TLS ClientHello came to the plain port.
    Tls(SocketAddr),
    /// An HTTP request came to the plain port.
    Http(SocketAddr),
    /// The bytes are not MQTT; and why.
    NotMqtt(SocketAddr, &'static str),
    /// A protocol level that is not spoken.
    Level(SocketAddr),
    /// A client broke the standard.
    Fault(SocketAddr, &'static str),
    /// A limit was reached for the first time.
    Limit(BrokerCounter),
}

/// An event that is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// A connection's packets are due, or it has had time enough to leave.
    Connection(u32),
    /// A publisher has waited long enough.
    Pause(u32),
    /// A session's will is published.
    Will(u32),
    /// A session ends.
    Session(u32),
}

/// Notes kept until the driver fetches them.
const NOTES: usize = 64;

/// MQTT broker.
#[derive(Debug)]
pub struct Broker {
    limits: BrokerLimits,
    counts: BrokerCounts,
    accounts: Accounts,
    connections: Slab<BrokerConnection>,
    sessions: Slab<Session>,
    names: HashMap<Rc<str>, u32>,
    /// Sessions of clients that are away, the longest first.
    away: BTreeMap<u64, u32>,
    tree: Tree,
    found: TopicMatches,
    retained: Retained,
    timers: BTreeSet<(Instant, Timer)>,
    /// Connections that the driver has to look at.
    dirty: Vec<u32>,
    /// Publishers that go on.
    resumed: Vec<u32>,
    /// Sessions with more to send than one turn's worth.
    again: VecDeque<u32>,
    /// Connections that have no memory for an answer.
    broken: Vec<u32>,
    notes: VecDeque<BrokerNotice>,
    /// Properties of the message that is dealt with.
    scratch: Vec<u8>,
    /// Numbers given to client identifiers, and to places among those away.
    given: u64,
}

impl Broker {
    /// Makes a broker without clients.
    #[must_use]
    pub fn new(limits: BrokerLimits) -> Self {
        let accounts = Accounts::new(&limits);
        let retained = Account::new(limits.retained, Some(&accounts.memory));
        Self {
            limits,
            counts: BrokerCounts::default(),
            connections: Slab::new(),
            sessions: Slab::new(),
            names: HashMap::new(),
            away: BTreeMap::new(),
            tree: Tree::new(&accounts.state),
            found: TopicMatches::default(),
            retained: Retained::new(&retained),
            timers: BTreeSet::new(),
            dirty: Vec::new(),
            resumed: Vec::new(),
            again: VecDeque::new(),
            broken: Vec::new(),
            notes: VecDeque::new(),
            scratch: Vec::new(),
            given: 0,
            accounts,
        }
    }

    /// Takes a new connection and returns its number; `None` where there are too many, or no memory
    /// is left for it: the driver closes it.
    pub fn open(&mut self, now: Instant, peer: SocketAddr) -> Option<u32> {
        let fits = self.connections.len() < self.limits.connections;
        let made = fits.then(|| BrokerConnection::new(now, peer, &self.accounts)).flatten();
        let Some(made) = made else {
            self.limit(BrokerCounter::ConnectionsRefused);
            return None;
        };
        let id = self.connections.insert(made);
        self.set_deadline(id, Some(now + self.limits.patience));
        Some(id)
    }

    /// Takes bytes from a connection. The driver reads from those only that
    /// [want it](Self::wants_read).
    pub fn receive(&mut self, now: Instant, id: u32, bytes: &[u8]) {
        let rest = self.complete(now, id, bytes);
        let taken = if self.holds(id) { 0 } else { self.frames(now, id, rest) };
        self.keep(now, id, &rest[taken..]);
        self.settle(now);
    }

    /// Takes note that a connection is gone, whoever closed it, and forgets it.
    pub fn closed(&mut self, now: Instant, id: u32) {
        self.detach(now, id, leave::Leave::Broken);
        self.set_deadline(id, None);
        self.unpause(id);
        self.connections.remove(id);
        self.settle(now);
    }

    /// Fills `slices` with what is to be written to a connection and returns how many were used.
    pub fn output<'a>(&'a self, id: u32, slices: &mut [IoSlice<'a>]) -> usize {
        self.connections.get(id).map_or(0, |c| c.outbox.slices(slices))
    }

    /// Takes note that `len` bytes were written to a connection.
    pub fn written(&mut self, now: Instant, id: u32, len: usize) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.outbox.written(len);
        // It may have had to take its answers first.
        if !connection.input.is_empty() && connection.wants_read() {
            self.go_on(now, id);
        }
        let Some(connection) = self.connections.get(id) else { return };
        if let ConnectionPhase::Open(session) = connection.phase {
            self.pump(now, session);
        }
        self.settle(now);
    }

    /// Returns whether bytes of a connection are wanted.
    #[must_use]
    pub fn wants_read(&self, id: u32) -> bool {
        self.connections.get(id).is_some_and(BrokerConnection::wants_read)
    }

    /// Returns whether a connection is to be closed.
    #[must_use]
    pub fn is_done(&self, id: u32) -> bool {
        let done =
            |c: &BrokerConnection| c.phase == ConnectionPhase::Leaving && c.outbox.is_empty();
        self.connections.get(id).is_none_or(done)
    }

    /// Moves the connections that have news to the end of `to`.
    pub fn news(&mut self, to: &mut Vec<u32>) {
        for &id in &self.dirty {
            if let Some(connection) = self.connections.get_mut(id) {
                connection.is_dirty = false;
            }
        }
        to.append(&mut self.dirty);
    }

    /// Does what is due and returns when it wants to be called again.
    pub fn tick(&mut self, now: Instant) -> Instant {
        while let Some(&(at, timer)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, timer));
            match timer {
                Timer::Connection(id) => self.is_due(now, id),
                Timer::Pause(id) => self.is_patient_no_more(id),
                Timer::Will(session) => self.publish_will(now, session),
                Timer::Session(session) => self.end_session(now, session),
            }
        }
        for _ in 0..self.again.len() {
            let Some(number) = self.again.pop_front() else { break };
            if let Some(session) = self.sessions.get_mut(number) {
                session.is_again = false;
                self.pump(now, number);
            }
        }
        self.settle(now);
        if !self.again.is_empty() {
            return now;
        }
        self.timers.first().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// Says goodbye to all: the driver writes what it can, and ends.
    pub fn shut_down(&mut self, now: Instant) {
        for id in self.connections.numbers() {
            self.dismiss(now, id, reason::SHUTTING_DOWN);
        }
    }

    /// Returns the next note.
    pub fn note(&mut self) -> Option<BrokerNotice> {
        self.notes.pop_front()
    }

    /// Returns the counts.
    #[must_use]
    pub const fn counts(&self) -> &BrokerCounts {
        &self.counts
    }

    /// Returns the account of all memory.
    #[must_use]
    pub const fn memory(&self) -> &Rc<Account> {
        &self.accounts.memory
    }

    fn say(&mut self, note: BrokerNotice) {
        if self.notes.len() < NOTES {
            self.notes.push_back(note);
        }
    }

    /// Counts what a limit refused, and says so the first time.
    fn limit(&mut self, what: BrokerCounter) {
        if self.counts.get(what) == 0 {
            self.say(BrokerNotice::Limit(what));
        }
        self.counts.add(what, 1);
    }

    /// Tells whether none of a connection's bytes may be handled now.
    fn holds(&self, id: u32) -> bool {
        self.connections.get(id).is_none_or(|c| c.paused.is_some() || !c.input.is_empty())
    }

    /// Gives a packet that is not complete what it lacks; returns the bytes that are left.
    fn complete<'a>(&mut self, now: Instant, id: u32, mut bytes: &'a [u8]) -> &'a [u8] {
        while let Some(connection) = self.connections.get_mut(id)
            && !connection.input.is_empty()
            && connection.paused.is_none()
            && !bytes.is_empty()
        {
            let held = connection.input.len();
            // Its length is in its first five bytes.
            let lacking = match length(&connection.input) {
                Some(whole) if whole > held => whole - held,
                _ => 1,
            };
            let (head, rest) = bytes.split_at(lacking.min(bytes.len()));
            bytes = rest;
            let whole = length(&connection.input);
            if !connection.keep(head, whole) {
                self.no_memory(now, id);
                return &[];
            }
            self.go_on(now, id);
        }
        bytes
    }

    /// Deals with the packets that are complete in a connection's input.
    fn go_on(&mut self, now: Instant, id: u32) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let input = std::mem::take(&mut connection.input);
        let taken = self.frames(now, id, &input);
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.input = input;
        if taken == connection.input.len() || connection.phase == ConnectionPhase::Leaving {
            connection.input.clear();
            if connection.input.capacity() > 4096 {
                connection.forget_input();
            }
        } else {
            connection.input.drain(..taken);
        }
    }

    /// Keeps what cannot be dealt with yet.
    fn keep(&mut self, now: Instant, id: u32, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if bytes.is_empty() || connection.phase == ConnectionPhase::Leaving {
            return;
        }
        let whole = if connection.input.is_empty() { length(bytes) } else { None };
        let whole = whole.filter(|&whole| whole > bytes.len());
        if !connection.keep(bytes, whole) {
            self.no_memory(now, id);
        }
    }

    fn no_memory(&mut self, now: Instant, id: u32) {
        self.limit(BrokerCounter::InputRefused);
        self.dismiss(now, id, reason::QUOTA);
    }

    /// Deals with the packets at the start of `bytes` and returns how many bytes they took.
    fn frames(&mut self, now: Instant, id: u32, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(connection) = self.connections.get(id) {
            if !connection.wants_read() {
                break;
            }
            if self.broken.contains(&id) {
                // The connection ends for want of memory: nothing is dealt with that came after,
                // however much of it came at once.
                return bytes.len();
            }
            let rest = &bytes[at..];
            if connection.phase == ConnectionPhase::New && !self.looks_like_connect(now, id, rest) {
                break;
            }
            match RawPacket::cut(rest) {
                Ok(_) if length(rest).is_some_and(|whole| whole > self.limits.packet) => {
                    self.fault(now, id, TOO_LARGE);
                    break;
                }
                Ok(Some((frame, len))) => {
                    at += len;
                    self.packet(now, id, &frame);
                }
                Ok(None) => break,
                Err(malformed) => {
                    self.fault(now, id, malformed.into());
                    break;
                }
            }
        }
        at
    }

    fn packet(&mut self, now: Instant, id: u32, frame: &RawPacket<'_>) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.heard = now;
        let protocol = connection.protocol;
        let ConnectionPhase::Open(session) = connection.phase else {
            return self.connect(now, id, frame);
        };
        let done = match frame.kind() {
            kind::PUBLISH => self.publish(now, id, session, frame),
            kind::PUBACK | kind::PUBREC | kind::PUBREL | kind::PUBCOMP => {
                self.acknowledge(now, id, session, frame)
            }
            kind::SUBSCRIBE => self.subscribe(now, id, session, frame),
            kind::UNSUBSCRIBE => self.unsubscribe(id, session, frame),
            // 3.1 sets no flags on a ping, but says that they are not used.
            kind::PINGREQ if !frame.body.is_empty() => Err(PING),
            kind::PINGREQ if frame.flags() != 0 && protocol != Protocol::V31 => Err(PING),
            kind::PINGREQ => {
                self.answer(id, &[kind::PINGRESP << 4, 0]);
                Ok(())
            }
            kind::DISCONNECT => self.disconnect(now, id, session, frame),
            _ => Err(UNEXPECTED),
        };
        if let Err(fault) = done {
            self.fault(now, id, fault);
        }
    }

    /// Adds an answer to a connection's outbox.
    fn answer(&mut self, id: u32, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if !connection.outbox.put(bytes) {
            self.broken.push(id);
        }
        self.touch(id);
    }

    /// Tells the driver to look at a connection.
    fn touch(&mut self, id: u32) {
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push(id);
        }
    }

    /// Does what could not be done in the middle of something else.
    fn settle(&mut self, now: Instant) {
        // Each turn ends a connection, or deals with bytes that are there.
        while let Some(id) = self.broken.pop() {
            self.no_memory(now, id);
        }
        while let Some(id) = self.resumed.pop() {
            self.go_on(now, id);
            self.touch(id);
        }
    }

    /// Sets when a connection is looked at by the clock.
    fn set_deadline(&mut self, id: u32, at: Option<Instant>) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if let Some(old) = std::mem::replace(&mut connection.deadline, at) {
            self.timers.remove(&(old, Timer::Connection(id)));
        }
        if let Some(at) = at {
            self.timers.insert((at, Timer::Connection(id)));
        }
    }

    /// Handles a connection whose time has come: for its CONNECT, its next packet, or to be gone.
    fn is_due(&mut self, now: Instant, id: u32) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.deadline = None;
        match connection.phase {
            ConnectionPhase::Leaving => {
                connection.outbox.clear();
                self.touch(id);
            }
            ConnectionPhase::New => {
                self.counts.add(BrokerCounter::TimedOut, 1);
                self.dismiss(now, id, reason::KEEP_ALIVE);
            }
            // A publisher that has to wait is not heard.
            ConnectionPhase::Open(_) if connection.paused.is_some() => {
                connection.heard = now;
                let at = now + keep_alive(connection.keep_alive);
                self.set_deadline(id, Some(at));
            }
            ConnectionPhase::Open(_) => {
                let at = connection.heard + keep_alive(connection.keep_alive);
                if at <= now {
                    self.counts.add(BrokerCounter::TimedOut, 1);
                    self.dismiss(now, id, reason::KEEP_ALIVE);
                } else {
                    self.set_deadline(id, Some(at));
                }
            }
        }
    }
}

/// Returns one and a half times the seconds of a keep-alive (3.1.2.10).
fn keep_alive(seconds: u16) -> Duration {
    Duration::from_secs(seconds.into()) * 3 / 2
}

/// Returns the whole length of the packet at the start of `bytes`, where it is known.
fn length(bytes: &[u8]) -> Option<usize> {
    let (body, digits) = espbench_proto::wire::mqtt::bytes::varint(bytes.get(1..)?).ok()??;
    Some(1 + digits + body)
}

const TOO_LARGE: Fault =
    Fault { reason: reason::TOO_LARGE, what: "a packet above the maximum packet size" };
const PING: Fault = Fault { reason: reason::MALFORMED, what: "a PINGREQ with flags or a body" };
const UNEXPECTED: Fault =
    Fault { reason: reason::PROTOCOL_ERROR, what: "a packet that a client does not send here" };
