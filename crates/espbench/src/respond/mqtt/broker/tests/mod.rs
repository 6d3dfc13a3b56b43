//! Conversations on virtual time, as bytes.
//!
//! | module | contents |
//! |---|---|
//! | `hostile` | clients that do not keep to the standard |
//! | `memory` | the attacks of a review that filled the memory, scaled down together with the limits |
//! | `messages` | messages and subscriptions |
//! | `properties` | sessions under any sequence of breaks |
//! | `sessions` | connections, sessions, wills |

mod hostile;
mod memory;
mod messages;
mod properties;
mod sessions;

use super::limits::{BrokerCounter, BrokerLimits};
use super::{Broker, BrokerNotice};
use espbench_model::time::{Duration, Instant};
use std::io::IoSlice;
use std::net::SocketAddr;

/// A broker, and a clock.
pub(super) struct BrokerTestbed {
    pub(super) broker: Broker,
    pub(super) now: Instant,
}

impl BrokerTestbed {
    pub(super) fn new(limits: BrokerLimits) -> Self {
        Self { broker: Broker::new(limits), now: Instant::ZERO }
    }

    pub(super) fn with_default_limits() -> Self {
        Self::new(BrokerLimits::default())
    }

    /// Opens a connection.
    pub(super) fn open(&mut self) -> u32 {
        let peer = SocketAddr::from(([127, 0, 0, 1], 4000));
        self.broker.open(self.now, peer).expect("room for a connection")
    }

    /// Gives bytes to the broker, whether it wants them or not.
    pub(super) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.broker.receive(self.now, id, bytes);
    }

    /// Returns what a client reads when it reads all.
    #[track_caller]
    pub(super) fn read(&mut self, id: u32) -> Vec<u8> {
        let mut read = Vec::new();
        loop {
            let mut slices = [IoSlice::new(&[]); 7];
            let used = self.broker.output(id, &mut slices);
            let piece: Vec<u8> = slices[..used].iter().flat_map(|s| s.to_vec()).collect();
            self.broker.written(self.now, id, piece.len());
            self.broker.tick(self.now);
            if piece.is_empty() {
                return read;
            }
            read.extend_from_slice(&piece);
        }
    }

    /// Gives bytes and returns what a client reads then.
    #[track_caller]
    pub(super) fn ask(&mut self, id: u32, bytes: &[u8]) -> Vec<u8> {
        self.send(id, bytes);
        self.read(id)
    }

    /// Opens a connection with this CONNECT; the answer has to accept it.
    #[track_caller]
    pub(super) fn connect(&mut self, connect: &[u8]) -> u32 {
        let id = self.open();
        let answer = self.ask(id, connect);
        assert_eq!((answer[0], answer[3]), (0x20, 0), "{answer:02x?}");
        id
    }

    /// Lets time go by, with all that happens in it.
    pub(super) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let next = self.broker.tick(self.now);
            if next > end {
                break;
            }
            self.now = self.now.max(next);
        }
        self.now = end;
        self.broker.tick(end);
    }

    /// Breaks the network.
    pub(super) fn cut(&mut self, id: u32) {
        self.broker.closed(self.now, id);
    }

    pub(super) fn count(&self, what: BrokerCounter) -> u64 {
        self.broker.counts().get(what)
    }

    pub(super) fn notes(&mut self) -> Vec<BrokerNotice> {
        std::iter::from_fn(|| self.broker.note()).collect()
    }
}

/// Makes a packet of this first byte and body.
pub(super) fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let (mut bytes, mut len) = (vec![first], body.len());
    loop {
        let digit = (len % 128) as u8;
        len /= 128;
        bytes.push(if len > 0 { digit | 0x80 } else { digit });
        if len == 0 {
            break;
        }
    }
    bytes.extend_from_slice(body);
    bytes
}

/// Makes a string with its length.
pub(super) fn string(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u16).to_be_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// Makes a CONNECT of 3.1.1.
pub(super) fn connect(name: &str, clean: bool) -> Vec<u8> {
    let flags = if clean { 2 } else { 0 };
    packet(0x10, &[b"\0\x04MQTT\x04", &[flags, 0, 0][..], &string(name)].concat())
}

/// Makes a CONNECT of 5 with a session expiry in seconds, and further properties.
pub(super) fn connect_5(name: &str, clean: bool, expiry: u32, more: &[u8]) -> Vec<u8> {
    let flags = if clean { 2 } else { 0 };
    let list = [&[0x11], &expiry.to_be_bytes()[..], more].concat();
    let list = [&[list.len() as u8], &list[..]].concat();
    packet(0x10, &[b"\0\x04MQTT\x05", &[flags, 0, 0][..], &list, &string(name)].concat())
}

/// Makes a SUBSCRIBE with packet identifier 1 to one filter; in version 5 with these properties.
pub(super) fn subscribe(filter: &str, options: u8, list: Option<&[u8]>) -> Vec<u8> {
    let list = list.map(|list| [&[list.len() as u8], list].concat()).unwrap_or_default();
    packet(0x82, &[&[0, 1], &list[..], &string(filter), &[options]].concat())
}

/// Makes a PUBLISH with these flags; in version 5 with these properties.
pub(super) fn publish(
    flags: u8,
    topic: &str,
    id: u16,
    list: Option<&[u8]>,
    payload: &[u8],
) -> Vec<u8> {
    let list = list.map(|list| [&[list.len() as u8], list].concat()).unwrap_or_default();
    let id = if flags & 6 == 0 { vec![] } else { id.to_be_bytes().to_vec() };
    packet(0x30 | flags, &[string(topic), id, list, payload.to_vec()].concat())
}
