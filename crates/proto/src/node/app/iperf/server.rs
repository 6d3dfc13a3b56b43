//! The receiving end.

use super::IperfSetup;
use crate::node::app::{App, Sockets, Wait};
use crate::time::Instant;

/// Receives streams of UDP or TCP, `FLOWS` at a time, reads of `N` bytes, and records what came.
///
/// Counters: `stray-datagrams`, `refused-streams` (more than `FLOWS` at once).
#[derive(Clone, Debug)]
pub struct IperfServer<const N: usize = 16384, const FLOWS: usize = 4> {
    setup: IperfSetup,
    port: u16,
    buf: [u8; N],
}

impl<const N: usize, const FLOWS: usize> IperfServer<N, FLOWS> {
    /// A server on `port` ([`PORT`](crate::wire::iperf2::PORT)). Of the setup it takes the style,
    /// the transport, the interval, the length of a read and how many streams it serves.
    #[must_use]
    pub const fn new(setup: IperfSetup, port: u16) -> Self {
        Self { setup, port, buf: [0; N] }
    }
}

impl<const N: usize, const FLOWS: usize> App for IperfServer<N, FLOWS> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}
