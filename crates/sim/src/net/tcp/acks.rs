//! When received data is acknowledged, and which window is told.

use super::super::stack::{Acks, Stack};
use super::after;
use super::clock::Clock;
use core::time::Duration;
use espbench_proto::time::Instant;

/// What a receiver owes its peer.
#[derive(Clone, Debug)]
pub(super) struct Owed {
    /// Data has come since the last acknowledgement: so many bytes.
    bytes: u32,
    /// And so many segments.
    segments: u32,
    /// The acknowledgement must go out with the next packet, or as one.
    pub(super) at_once: bool,
    /// When it must go out at the latest.
    pub(super) due: Option<Instant>,
    /// How many more go out at once.
    quick: u16,
    /// Data answers data: acknowledgements go with it.
    talks: bool,
    /// When data last came.
    last: Option<Instant>,
    /// The window that the peer may use, which an acknowledgement tells (`rcv_ann_wnd`).
    window: u32,
    /// Where what it was told ends (`rcv_ann_right_edge`).
    edge: u32,
}

impl Owed {
    pub(super) const fn new(stack: &Stack) -> Self {
        let quick = match stack.acks {
            Acks::EverySecond => 0,
            Acks::Quick { first, .. } => first,
        };
        Self {
            bytes: 0,
            segments: 0,
            at_once: false,
            due: None,
            quick,
            talks: false,
            last: None,
            window: stack.tcp_window,
            edge: 0,
        }
    }

    /// A segment brought new data in order.
    pub(super) fn data(
        &mut self,
        now: Instant,
        clock: &Clock,
        stack: &Stack,
        bytes: u32,
        timeout: Duration,
    ) {
        self.bytes += bytes;
        self.segments += 1;
        let pause = self.last.replace(now).is_some_and(|last| now.since(last) > timeout);
        match stack.acks {
            Acks::EverySecond if self.segments > 1 => self.at_once = true,
            Acks::EverySecond => self.due = Some(clock.fast(now)),
            Acks::Quick { first, delay } => {
                if pause {
                    self.quick = first;
                }
                if self.quick > 0 && !self.talks || self.bytes > u32::from(stack.mss) {
                    self.at_once = true;
                } else if self.due.is_none() {
                    self.due = Some(now + delay);
                }
            }
        }
    }

    /// What is read and not told is so much that it is told, `free` bytes from `next` on.
    pub(super) fn read(&mut self, stack: &Stack, next: u32, free: u32) {
        let grown = self.open(stack, next, free);
        match stack.acks {
            Acks::EverySecond => self.at_once |= grown >= stack.tcp_window_update.max(1),
            // tcp_cleanup_rbuf: when it has doubled.
            Acks::Quick { .. } => {
                let told = self.edge.wrapping_sub(next);
                self.at_once |= grown > 0 && free / 2 >= told;
            }
        }
    }

    /// Moves the window's edge if that is worth it; by how much (`tcp_update_rcv_ann_wnd`; RFC 9293
    /// section 3.8.6.2.2).
    pub(super) fn open(&mut self, stack: &Stack, next: u32, free: u32) -> u32 {
        let edge = next.wrapping_add(free);
        let step = (stack.tcp_window / 2).min(u32::from(stack.mss));
        if !after(self.edge.wrapping_add(step), edge) {
            self.window = free;
            return edge.wrapping_sub(self.edge);
        }
        self.window = if after(next, self.edge) { 0 } else { self.edge.wrapping_sub(next) };
        0
    }

    /// The window that goes into the next packet.
    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    /// A packet has gone out that acknowledges up to `next`, with that window.
    pub(super) fn told(&mut self, next: u32, window: u32) {
        let edge = next.wrapping_add(window);
        self.edge = edge;
        self.at_once = false;
        self.due = None;
        if self.segments > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        self.bytes = 0;
        self.segments = 0;
    }

    /// It could not go out: with the next tick.
    pub(super) fn put_off(&mut self, now: Instant, clock: &Clock, stack: &Stack) {
        self.at_once = false;
        self.due = Some(match stack.acks {
            Acks::EverySecond => clock.fast(now),
            Acks::Quick { delay, .. } => now + delay,
        });
    }

    /// Data goes out soon after data came: a conversation.
    pub(super) fn answered(&mut self, now: Instant, stack: &Stack) {
        if let Acks::Quick { delay, .. } = stack.acks
            && self.last.is_some_and(|last| now.since(last) < delay)
        {
            self.talks = true;
        }
    }
}
