//! How much of a TCP stream the peer's application has taken, as the sender's own TCP can tell.
//!
//! Octets that the peer has acknowledged stand in its receive buffer until its application reads them, and
//! the window that it advertises says how much more has room there. The window's right edge (the
//! octets acknowledged plus the window, RFC 9293 section 3.8.6) therefore moves by one octet for
//! each octet that the application reads, and stands still while it reads none. What was taken is
//! the edge less what the receive buffer holds when it is full.
//!
//! Three things blur that, and are dealt with here:
//!
//! - **The edge moves in steps.** A receiver that was full waits until a good part of its buffer is
//!   free before it opens the window (silly window avoidance, RFC 9293 section 3.8.6.2.2; Linux
//!   counts the memory of whole packets, and opens a small buffer only when it is empty). The sender
//!   fills the room at once, so that one step is a burst of small ones. A count is exact at the ends
//!   of bursts, and rates are to be taken from one such [`PeerReadStep`] to another.
//! - **A buffer may hold more than the largest window that was seen**: the window is advertised
//!   carefully at first. Where the edge stands when the window is closed for the first time is what
//!   the buffer holds.
//! - **A window may grow without being read** (auto-tuning). A larger window is taken for a larger
//!   buffer, never for octets taken.

use espbench_model::time::{Duration, Instant};

/// A window at most this part of the largest one is closed: a sender no longer fills it.
const CLOSED: u64 = 4;
/// A buffer is full for the first time before the edge has moved by this many of the largest windows;
/// afterwards the reader has kept up for so long that a closed window tells little about its size.
const FILLING: u64 = 4;
/// A pause of less than this part of the mean one is within a burst.
const WITHIN: u32 = 4;
/// Pauses of so many nanoseconds in all are remembered, older ones less and less.
const FADE: u64 = 1_000_000_000;

/// A moment up to which the count is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerReadStep {
    /// When the edge came to rest.
    pub at: Instant,
    /// Octets that the peer's application had taken by then.
    pub octets: u64,
}

/// The record of what a peer has taken of one stream.
#[derive(Clone, Copy, Debug)]
pub struct PeerReads {
    acknowledged: u64,
    /// Largest window seen.
    largest: u64,
    /// Octets that the peer's receive buffer holds; raised by `largest`.
    holds: u64,
    /// When the window was first seen closed.
    closed: Option<Instant>,
    /// The newest change, and the newest one that a pause has followed.
    newest: PeerReadStep,
    whole: PeerReadStep,
    /// Sum in nanoseconds and number of the pauses between changes. Both fade.
    pauses: (u64, u64),
}

impl PeerReads {
    /// Returns the count of a stream that begins at `start` with nothing sent.
    #[must_use]
    pub const fn new(start: Instant) -> Self {
        let nothing = PeerReadStep { at: start, octets: 0 };
        Self {
            acknowledged: 0,
            largest: 0,
            holds: 0,
            closed: None,
            newest: nothing,
            whole: nothing,
            pauses: (0, 0),
        }
    }

    /// Takes note of the octets acknowledged so far and of the window that the peer advertises now;
    /// `None` where the system does not tell: then all that was acknowledged counts as taken.
    pub fn observe(&mut self, now: Instant, acknowledged: u64, window: Option<u64>) {
        self.acknowledged = self.acknowledged.max(acknowledged);
        let mut octets = acknowledged;
        if let Some(window) = window {
            self.largest = self.largest.max(window);
            self.holds = self.holds.max(self.largest);
            if self.closed.is_none() && window <= self.largest / CLOSED && acknowledged > 0 {
                self.full(now, acknowledged + window);
            }
            octets = acknowledged.saturating_sub(self.holds.saturating_sub(window));
        }
        if octets > self.newest.octets {
            self.moved(PeerReadStep { at: now, octets });
        }
    }

    /// Takes note that the peer's buffer is full for the first time. What was taken for read while it filled was
    /// not, so the count begins again; nothing was said of it yet, or little.
    fn full(&mut self, now: Instant, edge: u64) {
        self.closed = Some(now);
        if edge <= FILLING * self.largest {
            self.holds = self.holds.max(edge);
            let nothing = |step: PeerReadStep| PeerReadStep { octets: 0, ..step };
            (self.newest, self.whole) = (nothing(self.newest), nothing(self.whole));
        }
    }

    fn moved(&mut self, step: PeerReadStep) {
        let pause = step.at.since(self.newest.at);
        let (sum, count) = self.pauses;
        let fade = if sum > FADE { 2 } else { 1 };
        let nanos = u64::try_from(pause.as_nanos()).unwrap_or(FADE);
        self.pauses = (sum / fade + nanos, count / fade + 1);
        if pause * WITHIN >= self.usual() {
            self.whole = self.newest;
        }
        self.newest = step;
    }

    /// Returns the mean pause between changes.
    fn usual(&self) -> Duration {
        let (sum, count) = self.pauses;
        Duration::from_nanos(sum.checked_div(count).unwrap_or(0))
    }

    /// Returns whether the newest step is whole by `now`: a pause has followed it.
    #[must_use]
    pub fn is_at_rest(&self, now: Instant) -> bool {
        now.since(self.newest.at) * WITHIN >= self.usual()
    }

    /// Returns the newest whole step. At the beginning it is the start, with nothing taken.
    #[must_use]
    pub fn step(&self, now: Instant) -> PeerReadStep {
        if self.is_at_rest(now) { self.newest } else { self.whole }
    }

    /// Returns the octets that the peer is known to have taken by now.
    #[must_use]
    pub const fn octets(&self) -> u64 {
        self.newest.octets
    }

    /// Returns the octets that the peer has acknowledged.
    #[must_use]
    pub const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns when the peer's window was first closed: from then on its application is what limits
    /// the stream.
    #[must_use]
    pub const fn closed(&self) -> Option<Instant> {
        self.closed
    }

    /// Takes note that the peer has taken all of `octets`: it closed in good order, or it has
    /// acknowledged them with a window that is open.
    pub fn all(&mut self, now: Instant, octets: u64) {
        self.acknowledged = octets;
        if octets > self.newest.octets {
            self.newest = PeerReadStep { at: now, octets };
        }
        self.whole = self.newest;
    }

    /// Returns whether the peer's window, of which `window` is advertised now, is at least half open:
    /// its application keeps up. A receiver tells of a window that grows only when it has doubled.
    #[must_use]
    pub const fn is_open(&self, window: Option<u64>) -> bool {
        match window {
            Some(window) => window * 2 >= self.holds,
            None => true,
        }
    }
}

#[cfg(test)]
#[path = "peer_reads/tests.rs"]
mod tests;
