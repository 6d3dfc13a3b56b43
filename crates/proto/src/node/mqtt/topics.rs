//! Topics of devices' messages: each has a sequence of numbers of its own.

use super::gaps::Gaps;

/// Octets of a topic's name that are kept to be shown.
pub const SHOWN: usize = 48;

/// A number so much higher than the last one is no gap: the device was restarted, or another took
/// its place.
pub const FARTHEST_AHEAD: u64 = 10_000;

/// A number so much lower than the highest is no latecomer: the device was restarted.
pub const FARTHEST_BEHIND: u64 = 100;

/// A number that came before, and is below this part of the highest, is no copy: counters of restarted devices begin
/// near 0 again.
const NEAR_START: u64 = 3;

/// The name of a topic, as far as it is told apart and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicName {
    /// FNV-1a of the whole name.
    hash: u64,
    len: u8,
    text: [u8; SHOWN],
}

impl TopicName {
    const EMPTY: Self = Self { hash: 0, len: 0, text: [0; SHOWN] };

    /// Takes the name of a topic.
    pub(super) fn of(topic: &str) -> Self {
        let mut len = topic.len().min(SHOWN);
        while !topic.is_char_boundary(len) {
            len -= 1;
        }
        let mut text = [0; SHOWN];
        text[..len].copy_from_slice(&topic.as_bytes()[..len]);
        let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = topic.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
        Self { hash, len: len as u8, text }
    }

    /// Returns the name, of a long one the first [`SHOWN`] octets.
    #[must_use]
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.text[..usize::from(self.len)]).unwrap_or_default()
    }
}

/// The numbers of one topic's messages.
#[derive(Clone, Debug)]
pub struct TopicNumbers {
    pub(super) name: TopicName,
    /// The first number since the device's start.
    pub(super) first: u64,
    /// `None` until that came.
    pub(super) gaps: Option<Gaps>,
}

impl TopicNumbers {
    /// The numbers of no topic yet.
    pub const EMPTY: Self = Self { name: TopicName::EMPTY, first: 0, gaps: None };

    pub(super) const fn new(name: TopicName) -> Self {
        Self { name, ..Self::EMPTY }
    }

    /// Tells whether a device that sends `seq` now was restarted. A number that `is_ours` is no device's counter, which
    /// begins again: one that came before is a copy.
    pub(super) fn is_restart(&self, seq: u64, is_ours: bool) -> bool {
        let Some(gaps) = &self.gaps else { return false };
        let next = gaps.next();
        let came = || seq < self.first || !gaps.is_missing(seq);
        seq.saturating_sub(next) > FARTHEST_AHEAD
            || next.saturating_sub(seq) > FARTHEST_BEHIND
            || (!is_ours && seq < next / NEAR_START && came())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn long_names_are_told_apart_by_what_is_not_shown() {
        let long = "é".repeat(40);
        let [a, b] = ["a", "b"].map(|end| TopicName::of(&(long.clone() + end)));
        assert_ne!(a, b);
        assert_eq!(a.text(), "é".repeat(24).to_string());
        assert_eq!(TopicName::of("sensor/a").text(), "sensor/a");
    }
}
