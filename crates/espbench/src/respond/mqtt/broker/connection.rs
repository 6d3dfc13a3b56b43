//! A client's connection, as the broker knows it.

use super::account::{Accounts, Charge};
use super::outbox::{self, ClientOutbox};
use espbench_model::time::Instant;
use espbench_proto::wire::mqtt::Protocol;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;

/// Bytes charged for a connection beside its buffers.
const AROUND: usize = 1024 + outbox::FREE;

/// Own bytes on their way to a client up to which messages are added; more wait in its session.
pub(super) const AHEAD: usize = 96 * 1024;
/// Smaller limit, for when many clients are slow.
const AHEAD_OF_MANY: usize = 16 * 1024;
/// Payloads on their way beside these.
pub(super) const PAYLOADS: usize = 16;
/// Own bytes from which on nothing is read from a client that does not take its answers.
const UNREAD: usize = AHEAD + 64 * 1024;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionPhase {
    /// The client's CONNECT is awaited.
    New,
    /// The client is accepted; the number is that of its session.
    Open(u32),
    /// The connection ends when its last bytes are written.
    Leaving,
}

#[derive(Debug)]
pub(super) struct BrokerConnection {
    pub(super) peer: SocketAddr,
    pub(super) phase: ConnectionPhase,
    pub(super) protocol: Protocol,
    /// Bytes that came and are not dealt with: a packet that is not complete, or what a publisher
    /// sent before it had to wait.
    pub(super) input: Vec<u8>,
    pub(super) input_charge: Charge,
    pub(super) outbox: ClientOutbox,
    /// When its last packet came.
    pub(super) heard: Instant,
    /// Seconds of keep-alive; 0 is none.
    pub(super) keep_alive: u16,
    /// Place of the connection among the timers.
    pub(super) deadline: Option<Instant>,
    pub(super) maximum_packet_size: usize,
    /// Messages in flight to it at most.
    pub(super) receive_maximum: usize,
    pub(super) aliases: BTreeMap<u16, Rc<str>>,
    pub(super) aliases_charge: Charge,
    /// The session that it waits for, and until when.
    pub(super) paused: Option<(u32, Instant)>,
    /// The driver has to look at it.
    pub(super) is_dirty: bool,
    pub(super) _charge: Charge,
}

impl BrokerConnection {
    pub(super) fn new(now: Instant, peer: SocketAddr, accounts: &Accounts) -> Option<Self> {
        Some(Self {
            peer,
            phase: ConnectionPhase::New,
            protocol: Protocol::V311,
            input: Vec::new(),
            input_charge: Charge::empty(&accounts.input),
            outbox: ClientOutbox::new(&accounts.outboxes),
            heard: now,
            keep_alive: 0,
            deadline: None,
            maximum_packet_size: usize::MAX,
            receive_maximum: super::flight::MOST,
            aliases: BTreeMap::new(),
            aliases_charge: Charge::empty(&accounts.state),
            paused: None,
            is_dirty: false,
            _charge: Charge::new(&accounts.memory, AROUND)?,
        })
    }

    /// Returns whether its bytes are wanted now.
    pub(super) fn wants_read(&self) -> bool {
        self.paused.is_none()
            && self.phase != ConnectionPhase::Leaving
            && self.outbox.own() < UNREAD
    }

    /// Returns whether messages may be added to its outbox.
    pub(super) fn has_room(&self) -> bool {
        let ahead = if self.outbox.is_one_of_many() { AHEAD_OF_MANY } else { AHEAD };
        self.outbox.own() < ahead && self.outbox.payloads() < PAYLOADS
    }

    /// Keeps bytes for later; false where there is no memory for them. `whole` is the length of the
    /// packet that they begin, where it is known: no more than that is allocated for it.
    pub(super) fn keep(&mut self, bytes: &[u8], whole: Option<usize>) -> bool {
        let wanted = self.input.len() + bytes.len();
        let capacity = self.input.capacity();
        if wanted > capacity {
            let larger = wanted.max(2 * capacity);
            let larger = larger.min(whole.unwrap_or(usize::MAX)).max(wanted);
            if !self.input_charge.resize(larger) {
                return false;
            }
            self.input.reserve_exact(larger - self.input.len());
        }
        self.input.extend_from_slice(bytes);
        true
    }

    /// Gives the memory of its input back.
    pub(super) fn forget_input(&mut self) {
        self.input = Vec::new();
        self.input_charge.resize(0);
    }
}
