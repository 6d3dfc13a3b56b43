//! Tells a counter from other numbers at the end of messages.
//!
//! A counter rises by one from message to message, but for what is lost, doubled or late. A temperature stays or goes
//! up and down; an uptime rises by more than one.

use crate::series::NumberSteps;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Numbers that a sentence quotes.
const QUOTED: usize = 4;

/// Numbers of messages, as far as they tell whether the messages are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kind::mqtt_rate) enum MessageNumbering {
    /// No message ends in a number, or holds one.
    Absent,
    /// One number came: nothing tells what it counts.
    Single,
    /// They count the messages.
    Counted,
    /// They are no counter; the first of them, and how many came.
    Other(Vec<u64>, usize),
}

impl MessageNumbering {
    /// Judges the numbers of a topic's messages in the order in which they came.
    pub(in crate::kind::mqtt_rate) fn of(numbers: &[u64]) -> Self {
        let mut steps = NumberSteps::default();
        numbers.iter().for_each(|number| steps.add(*number));
        match numbers {
            [] => Self::Absent,
            [_] => Self::Single,
            _ if steps.is_counter() => Self::Counted,
            _ => Self::Other(numbers.iter().take(QUOTED).copied().collect(), numbers.len()),
        }
    }

    /// Returns whether loss and copies can be told.
    pub(in crate::kind::mqtt_rate) const fn tells_loss(&self) -> bool {
        matches!(self, Self::Counted)
    }

    /// Says why loss cannot be told; `None` where it can.
    pub(in crate::kind::mqtt_rate) fn caveat(&self) -> Option<String> {
        let why = match self {
            Self::Counted => return None,
            Self::Absent => "These messages hold no number".to_string(),
            Self::Single => "One number came".to_string(),
            Self::Other(numbers, came) => {
                let all: Vec<String> = numbers.iter().map(u64::to_string).collect();
                let last = if numbers.iter().all(|it| *it == numbers[0]) {
                    format!("are {}, over and over", all[0])
                } else if *came > all.len() {
                    format!("are {}, …", all.join(", "))
                } else {
                    format!("are {}", all.join(", "))
                };
                format!("These messages do not look numbered (their last digits {last})")
            }
        };
        Some(format!(
            "{why}: loss cannot be told. Let the device put a counter last in each message, which rises by 1; the rate \
             is that of all that came."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u64]) -> MessageNumbering {
        MessageNumbering::of(numbers)
    }

    #[test]
    fn counters_are_known_whatever_the_network_does_to_them() {
        for numbers in [
            &[5, 6][..],
            &[500, 502, 503, 0, 1, 2, 3, 4],
            &[1, 1, 2, 2, 3, 3, 4, 4],
            &[1, 3, 4, 7, 8, 12, 13, 15, 16],
        ] {
            assert_eq!(of(numbers), MessageNumbering::Counted, "{numbers:?}");
        }
    }

    #[test]
    fn values_are_no_counter() {
        let constant = [55; 20];
        let humidity = [53, 55, 54, 54, 55, 53, 52, 53, 52, 54];
        let uptime = [1000, 2000, 3000, 4000, 5001];
        let two_devices = [500, 9000, 501, 9001, 502, 9002];
        for numbers in [&constant[..], &humidity, &uptime, &two_devices] {
            assert!(!of(numbers).tells_loss(), "{numbers:?}");
        }
        assert!(
            of(&constant).caveat().unwrap().contains("(their last digits are 55, over and over)")
        );
        assert!(
            of(&humidity).caveat().unwrap().contains("(their last digits are 53, 55, 54, 54, …)")
        );
        assert!(
            MessageNumbering::of(&[])
                .caveat()
                .unwrap()
                .starts_with("These messages hold no number:")
        );
        assert!(of(&[5, 7]).caveat().unwrap().contains("(their last digits are 5, 7)"));
        assert!(of(&[7]).caveat().unwrap().starts_with("One number came:"));
        assert_eq!(of(&[1, 2, 3]).caveat(), None);
    }
}
