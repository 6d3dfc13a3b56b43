//! Looks at what the peer has taken of a TCP stream that this end sends.

use crate::sys::tcp;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::peer_reads::PeerReads;
use std::net::TcpStream;

/// Between two looks: some hundred a second cost nothing, and time a step of the peer's window well.
pub const LOOK: Duration = Duration::from_micros(2500);

/// The record of what one stream's peer has taken, as this system tells.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The count.
    pub taken: PeerReads,
    /// Whether the system tells.
    pub known: bool,
    /// The window that the peer advertises now.
    pub window: Option<u64>,
    next: Instant,
    /// Octets that the kernel counts as acknowledged and that are none of the stream's: the SYN.
    besides: u64,
}

impl Peer {
    /// Returns the watch of a stream that began at `start`, of which `before` octets were written already.
    #[must_use]
    pub fn new(stream: &TcpStream, start: Instant, before: u64) -> Self {
        let besides = besides(stream, before);
        Self {
            taken: PeerReads::new(start),
            known: besides.is_some(),
            window: None,
            next: start,
            besides: besides.unwrap_or_default(),
        }
    }

    /// Returns whether it is time for a look.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Looks, and returns what the kernel knows; `written` octets were written so far.
    pub fn look(&mut self, stream: &TcpStream, now: Instant, written: u64) -> Option<tcp::Info> {
        self.next = now + LOOK;
        let info = tcp::info(stream)?;
        if let (true, Some(acknowledged)) = (self.known, info.acknowledged) {
            // The FIN counts too, at the end.
            let acknowledged = acknowledged.saturating_sub(self.besides).min(written);
            self.window = info.window;
            self.taken.observe(now, acknowledged, info.window);
        }
        Some(info)
    }

    /// Returns whether the peer has acknowledged all that was written, and its window is open.
    #[must_use]
    pub fn has_all(&self, written: u64) -> bool {
        self.known && self.taken.acknowledged() >= written && self.taken.is_open(self.window)
    }
}

/// Returns the octets that were acknowledged since `before`. Asks again when an acknowledgement
/// came between the system's answers, a hundred times at most.
fn besides(stream: &TcpStream, before: u64) -> Option<u64> {
    for _ in 0..100 {
        let (first, info, second) =
            (tcp::unacknowledged(stream)?, tcp::info(stream)?, tcp::unacknowledged(stream)?);
        if first == second {
            return Some((info.acknowledged? + first).saturating_sub(before));
        }
    }
    None
}
