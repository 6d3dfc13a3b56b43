//! Addresses of the streams of a test, for the lines that name them.

use espbench_model::sample::Link;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// A connection of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamDirection {
    /// The client's own.
    Forward,
    /// The one that the server opens (`-r`, `-d`).
    Reverse,
}

type AddressTable = BTreeMap<(Link, StreamDirection), (SocketAddr, SocketAddr)>;

/// The local and the peer's address of each stream, as they become known; shared with the printer.
#[derive(Clone, Debug, Default)]
pub struct StreamAddresses(Arc<Mutex<AddressTable>>);

impl StreamAddresses {
    /// Notes the local and the peer's address of a stream.
    pub fn note(
        &self,
        link: Link,
        direction: StreamDirection,
        local: SocketAddr,
        peer: SocketAddr,
    ) {
        self.known(|known| known.insert((link, direction), (local, peer)));
    }

    /// Returns the local and the peer's address of a stream.
    #[must_use]
    pub fn of(&self, link: Link, direction: StreamDirection) -> Option<(SocketAddr, SocketAddr)> {
        self.known(|known| known.get(&(link, direction)).copied())
    }

    /// Forgets all: another test begins.
    pub fn clear(&self) {
        self.known(AddressTable::clear);
    }

    fn known<T>(&self, work: impl FnOnce(&mut AddressTable) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
