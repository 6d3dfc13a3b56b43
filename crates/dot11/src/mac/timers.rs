//! A timer for each station, outside the heap of events.
//!
//! In a busy network every frame stops the timers of all its receivers and starts them again at its
//! end. A heap would fill with timers that no longer count; here a timer is one word, and the
//! earliest one is searched once a step, in those blocks of 64 that have changed.

use alloc::vec;
use alloc::vec::Vec;

/// The time that never comes.
pub(crate) const NEVER: u64 = u64::MAX;
const BLOCK: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct StationTimers {
    due: Vec<u64>,
    /// The earliest time of each block, if it is not stale.
    earliest: Vec<u64>,
    stale: Vec<bool>,
    any_stale: bool,
    next: u64,
}

impl StationTimers {
    pub(crate) fn new(count: usize) -> Self {
        let blocks = count.div_ceil(BLOCK);
        Self {
            due: vec![NEVER; count],
            earliest: vec![NEVER; blocks],
            stale: vec![false; blocks],
            any_stale: false,
            next: NEVER,
        }
    }

    /// Sets the timer of a station; [`NEVER`] stops it.
    #[inline]
    pub(crate) fn set(&mut self, station: u32, at: u64) {
        let station = station as usize;
        if self.due[station] == at {
            return;
        }
        self.due[station] = at;
        self.stale[station / BLOCK] = true;
        self.any_stale = true;
    }

    /// Returns whether the timer of a station runs.
    pub(crate) fn runs(&self, station: u32) -> bool {
        self.due[station as usize] != NEVER
    }

    /// Returns the earliest time at which a timer is due.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        if self.any_stale {
            self.look();
        }
        self.next
    }

    fn look(&mut self) {
        let blocks = self.due.chunks(BLOCK).zip(&mut self.earliest).zip(&mut self.stale);
        let mut next = NEVER;
        for ((due, earliest), stale) in blocks {
            if *stale {
                *earliest = due.iter().copied().fold(NEVER, u64::min);
                *stale = false;
            }
            next = next.min(*earliest);
        }
        self.next = next;
        self.any_stale = false;
    }

    /// Takes all timers due at `at`, which is [`StationTimers::next`], in the order of station
    /// numbers.
    pub(crate) fn take(&mut self, at: u64, out: &mut Vec<u32>) {
        for (block, due) in self.due.chunks_mut(BLOCK).enumerate() {
            if self.earliest[block] != at {
                continue;
            }
            let mut earliest = NEVER;
            for (i, due) in due.iter_mut().enumerate() {
                if *due == at {
                    *due = NEVER;
                    out.push((block * BLOCK + i) as u32);
                }
                earliest = earliest.min(*due);
            }
            self.earliest[block] = earliest;
            self.any_stale = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, RngStream};

    #[test]
    fn the_same_as_a_plain_search() {
        let mut random = RngStream::stream(1, 0, Purpose::Board);
        let count = 150;
        let mut timers = StationTimers::new(count);
        let mut plain = vec![NEVER; count];
        for _ in 0..2000 {
            let station = (random.bits() % count as u64) as usize;
            let at = if random.bits().is_multiple_of(4) { NEVER } else { random.bits() % 50 };
            timers.set(station as u32, at);
            plain[station] = at;
            let next = plain.iter().copied().min().unwrap_or(NEVER);
            assert_eq!(timers.next(), next);
            if random.bits().is_multiple_of(8) && next != NEVER {
                let mut taken = Vec::new();
                timers.take(next, &mut taken);
                let expected: Vec<u32> =
                    (0..count as u32).filter(|&i| plain[i as usize] == next).collect();
                assert_eq!(taken, expected);
                for station in taken {
                    plain[station as usize] = NEVER;
                }
            }
        }
    }
}
