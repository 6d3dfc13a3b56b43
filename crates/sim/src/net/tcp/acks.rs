//! Acknowledgements of received data: which go out at once, and when the others do.

use super::super::stack::{AckPolicy, Stack};
use super::clock::TickClock;
use core::time::Duration;
use espbench_model::time::Instant;

/// The acknowledgement that a receiver owes its peer.
#[derive(Clone, Debug)]
pub(super) struct AckState {
    /// The bytes of data since the last acknowledgement.
    bytes: u32,
    /// The segments since the last acknowledgement.
    segments: u32,
    /// Whether the acknowledgement must go out at once, with the next packet or alone.
    pub(super) at_once: bool,
    /// The latest time of the acknowledgement.
    pub(super) due: Option<Instant>,
    /// The number of further acknowledgements that go out at once.
    quick: u16,
    /// Whether data answers data, so that acknowledgements go with it.
    talks: bool,
    /// The time of the last data.
    last: Option<Instant>,
}

impl AckState {
    pub(super) const fn new(stack: &Stack) -> Self {
        let quick = match stack.acks {
            AckPolicy::EverySecond => 0,
            AckPolicy::Quick { first, .. } => first,
        };
        Self { bytes: 0, segments: 0, at_once: false, due: None, quick, talks: false, last: None }
    }

    /// Takes note that a segment brought new data in order.
    pub(super) fn data(
        &mut self,
        now: Instant,
        clock: &TickClock,
        stack: &Stack,
        bytes: u32,
        timeout: Duration,
    ) {
        self.bytes += bytes;
        self.segments += 1;
        let pause = self.last.replace(now).is_some_and(|last| now.since(last) > timeout);
        match stack.acks {
            AckPolicy::EverySecond if self.segments > 1 => self.at_once = true,
            AckPolicy::EverySecond => self.due = Some(clock.fast(now)),
            AckPolicy::Quick { first, delay, together } => {
                if pause {
                    self.quick = first;
                }
                let soon = self.quick > 0 && !self.talks || self.bytes > u32::from(stack.mss);
                if soon && together > Duration::ZERO {
                    let at = now + together;
                    self.due = Some(self.due.map_or(at, |due| due.min(at)));
                } else if soon {
                    self.at_once = true;
                } else if self.due.is_none() {
                    self.due = Some(now + delay);
                }
            }
        }
    }

    /// Asks for a window update if enough was read since the last one: the window has `grown` by so
    /// many bytes, `free` are free in all, and the peer was `told` of so many.
    pub(super) fn read(&mut self, stack: &Stack, grown: u32, free: u32, told: u32) {
        match stack.acks {
            AckPolicy::EverySecond => self.at_once |= grown >= stack.tcp_window_update.max(1),
            // tcp_cleanup_rbuf updates the window when it has doubled.
            AckPolicy::Quick { .. } => self.at_once |= grown > 0 && free / 2 >= told,
        }
    }

    /// Takes note that an acknowledgement has gone out, alone or with data.
    pub(super) const fn sent(&mut self) {
        self.at_once = false;
        self.due = None;
        if self.segments > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        self.bytes = 0;
        self.segments = 0;
    }

    /// Postpones an acknowledgement that could not go out to the next tick.
    pub(super) fn postpone(&mut self, now: Instant, clock: &TickClock, stack: &Stack) {
        self.at_once = false;
        self.due = Some(match stack.acks {
            AckPolicy::EverySecond => clock.fast(now),
            AckPolicy::Quick { delay, .. } => now + delay,
        });
    }

    /// Takes note that data goes out soon after data came, as in a conversation.
    pub(super) fn on_data_sent(&mut self, now: Instant, stack: &Stack) {
        if let AckPolicy::Quick { delay, .. } = stack.acks
            && self.last.is_some_and(|last| now.since(last) < delay)
        {
            self.talks = true;
        }
    }
}
