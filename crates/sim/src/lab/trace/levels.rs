//! Courses of windows, queues and memory within the stretches of time that are kept.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use espbench_model::excerpt::{LevelPoint, StationLevel};
use espbench_model::time::Instant;

/// Changes that are remembered, so that the moments before something are known.
const RING: usize = 8192;
/// Points of one window, of all its levels together.
const POINTS: usize = 2048;

type Key = (u32, StationLevel);

/// A change.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    key: Key,
    value: u64,
}

/// A level as it is now.
#[derive(Clone, Copy, Debug)]
struct Level {
    value: u64,
    /// Time of its first change.
    first: Instant,
    /// Time of its last one.
    last: Instant,
}

/// The levels of a room, as time goes by.
#[derive(Debug, Default)]
pub(super) struct Levels {
    now: BTreeMap<Key, Level>,
    /// In the order of time.
    ring: VecDeque<Change>,
    /// Value of each level before the oldest change that is remembered.
    before: BTreeMap<Key, u64>,
}

/// Courses of levels within a window, each in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Courses {
    /// By station and level.
    pub of: BTreeMap<(u32, StationLevel), Vec<LevelPoint>>,
    points: usize,
}

impl Courses {
    /// Adds a change within the window; changes beyond the bound are left out.
    pub(super) fn change(&mut self, at: Instant, key: Key, value: u64) {
        if self.points < POINTS {
            self.points += 1;
            self.of.entry(key).or_default().push(LevelPoint { at: at.as_nanos(), value });
        }
    }

    /// Drops all points after the window's end.
    pub(super) fn end(&mut self, end: Instant) {
        for points in self.of.values_mut() {
            points.retain(|it| it.at <= end.as_nanos());
        }
        self.of.retain(|_, points| !points.is_empty());
    }
}

impl Levels {
    /// Takes a level's height; true where it is another than before.
    pub(super) fn set(&mut self, at: Instant, key: Key, value: u64) -> bool {
        match self.now.get_mut(&key) {
            Some(level) if level.value == value => return false,
            Some(level) => (level.value, level.last) = (value, at),
            None => {
                self.now.insert(key, Level { value, first: at, last: at });
            }
        }
        if self.ring.len() == RING
            && let Some(old) = self.ring.pop_front()
        {
            self.before.insert(old.key, old.value);
        }
        self.ring.push_back(Change { at, key, value });
        true
    }

    /// Returns the changes from `begin` on, with the value of each level at that time.
    pub(super) fn since(&self, begin: Instant, end: Instant) -> Courses {
        let old = self.ring.partition_point(|it| it.at <= begin);
        let known = self.now.iter().filter(|it| it.1.last <= begin);
        let mut first: BTreeMap<Key, u64> = known.map(|(key, it)| (*key, it.value)).collect();
        // Of those that have changed since, the last change before it counts.
        let all = self.now.values().filter(|it| it.first <= begin).count();
        for it in self.ring.range(..old).rev() {
            if first.len() == all {
                break;
            }
            first.entry(it.key).or_insert(it.value);
        }
        for (key, value) in &self.before {
            first.entry(*key).or_insert(*value);
        }
        let mut courses = Courses::default();
        first.into_iter().for_each(|(key, value)| courses.change(begin, key, value));
        let new = self.ring.range(old..).take_while(|it| it.at <= end).take(POINTS);
        new.for_each(|it| courses.change(it.at, it.key, it.value));
        courses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CWND: Key = (0, StationLevel::CongestionWindow);
    const HEAP: Key = (1, StationLevel::Heap);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn told(courses: &Courses, key: Key) -> Vec<(u64, u64)> {
        courses.of[&key].iter().map(|it| (it.at / 1_000_000, it.value)).collect()
    }

    #[test]
    fn a_window_begins_with_what_levels_were_then() {
        let mut levels = Levels::default();
        assert!(levels.set(at(1), CWND, 1440));
        assert!(!levels.set(at(2), CWND, 1440), "no change");
        levels.set(at(3), HEAP, 9);
        levels.set(at(5), CWND, 2880);
        levels.set(at(9), CWND, 720);
        let courses = levels.since(at(4), at(6));
        assert_eq!(told(&courses, CWND), [(4, 1440), (5, 2880)]);
        assert_eq!(told(&courses, HEAP), [(4, 9)]);
    }

    #[test]
    fn memory_is_bounded_and_what_was_long_ago_is_still_known() {
        let mut levels = Levels::default();
        levels.set(at(0), HEAP, 7);
        (1..3 * RING as u64).for_each(|n| {
            levels.set(at(n), CWND, n);
        });
        assert_eq!(levels.ring.len(), RING);
        let courses = levels.since(at(3 * RING as u64 - 10), at(u64::from(u32::MAX)));
        assert_eq!(told(&courses, HEAP)[0].1, 7);
        assert_eq!(courses.of[&CWND].len(), 10);
        let mut all = levels.since(at(0), at(u64::from(u32::MAX)));
        assert_eq!(all.of.values().map(Vec::len).sum::<usize>(), POINTS);
        all.end(at(2 * RING as u64 + 5));
        assert!(all.of[&CWND].len() < 10);
    }
}
