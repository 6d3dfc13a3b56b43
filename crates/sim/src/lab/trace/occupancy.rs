//! Shares of a channel's time, by kind of frame.
//!
//! The room is taken as one place: time with two frames on a channel at once is "collided", even if
//! no station is in reach of both. Adjacent channels count apart. A frame's time is its TXTIME,
//! which with OFDM ends with 6 us of silence (the signal extension).

use super::{AirtimeKind, Flight};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use espbench_model::time::Instant;

/// Shares of a channel's time: one for each [`AirtimeKind`], and the last for two or more frames at once.
pub const SHARES: usize = AirtimeKind::ALL.len() + 1;
/// Place in a list of shares of the time in which frames overlapped.
pub const COLLIDED: usize = SHARES - 1;

/// Frames are told of at their ends; one that began that long ago is not waited for. A frame of
/// 2304 octets (the longest MSDU, 9.2.4.7) takes 19 ms at 1 Mbit/s.
const HORIZON_NS: u64 = 25_000_000;
/// Most steps of the course; when they are used up, two and two become one.
const STEPS: usize = 128;
/// The first length of a step.
const STEP_NS: u64 = 1 << 20;

/// The time of one channel, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Usage {
    /// By what it was taken.
    pub totals: [u64; SHARES],
    /// Shares of each step of time.
    pub course: Vec<[u64; SHARES]>,
    /// Length of a step.
    pub step_ns: u64,
    open: VecDeque<Stretch>,
}

/// A stretch of time in which the same was on a channel; they do not overlap.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: u64,
    end: u64,
    share: u8,
}

impl Default for Usage {
    fn default() -> Self {
        Self { totals: [0; SHARES], course: Vec::new(), step_ns: STEP_NS, open: VecDeque::new() }
    }
}

impl Usage {
    /// Returns the time in nanoseconds during which the channel was taken at all.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.totals.iter().sum()
    }

    fn add(&mut self, share: u8, begin: u64, end: u64) {
        let floor = end.saturating_sub(HORIZON_NS);
        while self.open.front().is_some_and(|it| it.end <= floor) {
            self.settle();
        }
        // What is settled stays: of a frame longer than the horizon only the rest counts.
        let begin = begin.max(self.open.front().map_or(floor, |it| it.begin.min(floor)));
        let mut at = self.open.len();
        while at > 0 && self.open[at - 1].end > begin {
            at -= 1;
        }
        let Some(first) = self.open.get(at).copied() else {
            self.open.push_back(Stretch { begin, end, share });
            return;
        };
        self.overlap(at, first, Stretch { begin, end, share });
    }

    /// Splits the stretches that a new frame overlaps, from the one at `at` on.
    fn overlap(&mut self, at: usize, first: Stretch, new: Stretch) {
        let others: Vec<Stretch> = self.open.drain(at..).collect();
        let mut now = new.begin;
        if first.begin < now {
            self.open.push_back(Stretch { end: now, ..first });
        }
        for other in others {
            if other.begin > now {
                self.open.push_back(Stretch { begin: now, end: other.begin, share: new.share });
            }
            let begin = other.begin.max(now);
            self.open.push_back(Stretch { begin, end: other.end, share: COLLIDED as u8 });
            now = other.end;
        }
        if new.end > now {
            self.open.push_back(Stretch { begin: now, ..new });
        }
    }

    /// Adds the oldest stretch, which nothing can overlap any more, to the sums.
    fn settle(&mut self) {
        let Some(Stretch { begin, end, share }) = self.open.pop_front() else { return };
        let share = usize::from(share);
        self.totals[share] += end - begin;
        while end.div_ceil(self.step_ns) > STEPS as u64 {
            self.halve();
        }
        let mut begin = begin;
        while begin < end {
            let step = begin / self.step_ns;
            let until = end.min((step + 1) * self.step_ns);
            if self.course.len() <= step as usize {
                self.course.resize(step as usize + 1, [0; SHARES]);
            }
            self.course[step as usize][share] += until - begin;
            begin = until;
        }
    }

    fn halve(&mut self) {
        self.step_ns *= 2;
        let pair = |two: &[[u64; SHARES]]| {
            core::array::from_fn(|share| two.iter().map(|step| step[share]).sum())
        };
        self.course = self.course.chunks(2).map(pair).collect();
    }
}

/// The time of all channels.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    begin: u64,
    channels: BTreeMap<u8, Usage>,
}

impl Occupancy {
    /// Counts from then on.
    #[must_use]
    pub fn since(begin: Instant) -> Self {
        Self { begin: begin.as_nanos(), channels: BTreeMap::new() }
    }

    /// Counts a frame that has ended.
    pub fn flight(&mut self, flight: &Flight) {
        let begin = flight.begin.as_nanos().saturating_sub(self.begin);
        let end = flight.end.as_nanos().saturating_sub(self.begin);
        if end > begin {
            self.channels.entry(flight.channel).or_default().add(flight.what as u8, begin, end);
        }
    }

    /// Returns the channels that were used, each with the shares of its time. Frames that are still
    /// on the air do not count.
    #[must_use]
    pub fn finish(mut self) -> BTreeMap<u8, Usage> {
        for usage in self.channels.values_mut() {
            while !usage.open.is_empty() {
                usage.settle();
            }
        }
        self.channels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usage(frames: &[(u8, u64, u64)]) -> Usage {
        let mut usage = Usage::default();
        for &(share, begin, end) in frames {
            usage.add(share, begin, end);
        }
        while !usage.open.is_empty() {
            usage.settle();
        }
        usage
    }

    fn totals(first: [u64; 4], collided: u64) -> [u64; SHARES] {
        let mut all = [0; SHARES];
        all[..4].copy_from_slice(&first);
        all[COLLIDED] = collided;
        all
    }

    #[test]
    fn frames_that_overlap_are_collided_while_they_do() {
        // Two one after the other; then one within another; then three that overlap in a chain.
        let all = usage(&[
            (0, 0, 10),
            (1, 10, 14),
            (2, 30, 40),
            (0, 20, 50),
            (0, 60, 80),
            (3, 70, 90),
            (0, 85, 100),
        ]);
        assert_eq!(all.totals, totals([10 + 10 + 10 + 10 + 10, 4, 0, 5], 10 + 10 + 5));
        assert_eq!(all.busy(), 84);
        // One over several, with time between them.
        let all = usage(&[(0, 10, 20), (0, 30, 40), (3, 5, 50)]);
        assert_eq!(all.totals, totals([0, 0, 0, 25], 20));
        // The same moment.
        assert_eq!(usage(&[(0, 10, 20), (0, 10, 20)]).totals, totals([0; 4], 10));
    }

    #[test]
    fn the_course_keeps_its_length() {
        let hour = 3_600_000_000_000;
        let frames: Vec<_> =
            (0..36_000).map(|at| (0, at * 100_000_000, at * 100_000_000 + 1_000_000)).collect();
        let all = usage(&frames);
        assert!(all.course.len() <= STEPS && all.course.len() > STEPS / 4);
        assert_eq!(all.busy(), hour / 100);
        assert_eq!(all.course.iter().flatten().sum::<u64>(), all.busy());
    }

    proptest! {
        /// Against a count of every nanosecond.
        #[test]
        fn as_counted_one_by_one(frames in prop::collection::vec((0..4u8, 0..200u64, 1..40u64), 0..30)) {
            let mut frames: Vec<(u8, u64, u64)> =
                frames.into_iter().map(|(share, begin, long)| (share, begin, begin + long)).collect();
            frames.sort_by_key(|&(_, _, end)| end);
            let mut totals = [0; SHARES];
            for now in 0..240 {
                let on: Vec<u8> = frames.iter().filter(|it| it.1 <= now && now < it.2).map(|it| it.0).collect();
                match on[..] {
                    [] => {}
                    [one] => totals[usize::from(one)] += 1,
                    _ => totals[COLLIDED] += 1,
                }
            }
            prop_assert_eq!(usage(&frames).totals, totals);
        }
    }
}
