//! A direction of a UART: bytes with the times at which they have arrived.

use alloc::collections::VecDeque;
use core::time::Duration;
use espbench_model::time::Instant;

/// Bits of a byte on the line: start, eight, stop.
const BITS: u64 = 10;

/// Bytes on their way over a line, one after the other at its rate. They wait at its end until they are
/// taken.
#[derive(Clone, Debug)]
pub(super) struct UartQueue {
    byte: Duration,
    /// Time at which the last byte has arrived.
    free: Instant,
    waiting: VecDeque<(Instant, u8)>,
    room: usize,
    carried: u64,
    lost: u64,
}

impl UartQueue {
    /// Creates a line at rest that holds up to `room` bytes.
    pub(super) fn new(baud: u32, room: usize) -> Self {
        Self {
            byte: Duration::from_nanos(BITS * 1_000_000_000 / u64::from(baud.max(1))),
            free: Instant::ZERO,
            waiting: VecDeque::new(),
            room,
            carried: 0,
            lost: 0,
        }
    }

    /// Returns how many more bytes it holds.
    pub(super) fn room(&self) -> usize {
        self.room - self.waiting.len()
    }

    /// Puts a byte on the line. Where there is no room it takes its time, is lost and counted.
    pub(super) fn push(&mut self, now: Instant, byte: u8) {
        self.free = self.free.max(now) + self.byte;
        if self.room() == 0 {
            self.lost += 1;
        } else {
            self.waiting.push_back((self.free, byte));
        }
    }

    /// Returns when the next byte arrives, or has arrived.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waiting.front().map(|(at, _)| *at)
    }

    /// Takes the next byte, if it has arrived by then.
    pub(super) fn pop(&mut self, by: Instant) -> Option<(Instant, u8)> {
        let byte = self.waiting.pop_front_if(|(at, _)| *at <= by)?;
        self.carried += 1;
        Some(byte)
    }

    /// Forgets what waits.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Returns the number of bytes that were taken at its end.
    pub(super) const fn carried(&self) -> u64 {
        self.carried
    }

    /// Returns the number of bytes that found no room.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn bytes_come_one_after_the_other_at_the_line_s_rate() {
        let mut line = UartQueue::new(115_200, 8);
        b"ab".iter().for_each(|byte| line.push(at(1000), *byte));
        line.push(at(1_000_000), b'c');
        assert_eq!((line.due(), line.pop(at(87_804))), (Some(at(87_805)), None));
        let all: Vec<_> = core::iter::from_fn(|| line.pop(at(2_000_000))).collect();
        assert_eq!(all, [(at(87_805), b'a'), (at(174_610), b'b'), (at(1_086_805), b'c')]);
        assert_eq!((line.carried(), line.lost(), line.due()), (3, 0, None));
    }

    #[test]
    fn a_full_line_counts_what_it_loses_and_goes_on_with_what_it_holds() {
        let mut line = UartQueue::new(1_000_000, 2);
        b"abcd".iter().for_each(|byte| line.push(at(0), *byte));
        assert_eq!((line.room(), line.lost()), (0, 2));
        assert_eq!(line.pop(at(10_000)), Some((at(10_000), b'a')));
        line.push(at(10_000), b'e');
        let rest: Vec<_> = core::iter::from_fn(|| line.pop(at(1_000_000))).collect();
        assert_eq!(rest, [(at(20_000), b'b'), (at(50_000), b'e')], "lost bytes took their time");
    }
}
