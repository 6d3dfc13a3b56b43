//! Who limits a direction (Zhang and others, "On the Characteristics and Origins of Internet Flow Rates", 2002).
//!
//! The time between two segments of a connection is charged to what kept the sender from sending:
//!
//! | limit | where |
//! |---|---|
//! | window | one segment more would not fit the window, or it is zero |
//! | network | segments are lost and not yet acknowledged, or data is in flight and the window has room |
//! | sender | nothing is in flight, or the last segment was not full: the program had no more |
//!
//! Time counts only where data follows: a program that is done limits nothing.

use super::end::TcpEnd;
use serde::Serialize;

/// Limit of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpLimit {
    /// The program that sends.
    Sender,
    /// The window of the receiver.
    Window,
    /// The way: its rate, its delay, its losses.
    Network,
}

impl TcpLimit {
    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Window => "window",
            Self::Network => "network",
        }
    }
}

/// Times for which a direction was limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitClock {
    last_ns: Option<u64>,
    /// By sender, window, network; and what the next data makes count.
    charged: [u64; 3],
    open: [u64; 3],
}

impl LimitClock {
    /// Makes the time count that was charged since the last data.
    pub(super) fn commit(&mut self) {
        for (sum, open) in self.charged.iter_mut().zip(&mut self.open) {
            *sum = sum.saturating_add(core::mem::take(open));
        }
    }

    /// Returns the share of time of each limit; `None` without time.
    #[must_use]
    pub fn shares(&self) -> Option<[f64; 3]> {
        let all: u64 = self.charged.iter().fold(0, |sum, it| sum.saturating_add(*it));
        (all > 0).then(|| self.charged.map(|it| it as f64 / all as f64))
    }

    /// Returns the limit with the most time, and its share.
    #[must_use]
    pub fn most(&self) -> Option<(TcpLimit, f64)> {
        let shares = self.shares()?;
        let all = [TcpLimit::Sender, TcpLimit::Window, TcpLimit::Network];
        all.into_iter().zip(shares).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Charges the time since the last segment to both directions, before the next one is taken.
pub(super) fn charge(at_ns: Option<u64>, one: &mut TcpEnd, other: &mut TcpEnd) {
    let Some(now) = at_ns else { return };
    let limits = [limit(one, other), limit(other, one)];
    for (end, limit) in [one, other].into_iter().zip(limits) {
        let since = end.limits.last_ns.map_or(0, |it| now.saturating_sub(it));
        end.limits.last_ns = Some(now);
        // Before the first data nothing is limited.
        if end.octets > 0
            && let Some(it) = end.limits.open.get_mut(limit as usize)
        {
            *it = it.saturating_add(since);
        }
    }
}

fn limit(fwd: &TcpEnd, rev: &TcpEnd) -> TcpLimit {
    let in_flight = fwd.in_flight(rev);
    let segment = fwd.longest.max(1);
    if rev.offered().is_some_and(|it| in_flight.saturating_add(segment) > it) {
        return TcpLimit::Window;
    }
    if fwd.recover.is_some() {
        return TcpLimit::Network;
    }
    if in_flight == 0 || fwd.last_length < segment { TcpLimit::Sender } else { TcpLimit::Network }
}
