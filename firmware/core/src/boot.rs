//! The record of starts, and the guard that goes back to the image of before.
//!
//! An image that was just loaded is on trial: it is confirmed once it has run for
//! [`CONFIRM_AFTER`]. If it was started [`TRIES`] times without reaching that, the image of before is
//! selected. The same happens to a confirmed image after [`SHORT_MAX`] starts in a row that were each
//! shorter than that time, as Espressif's component does.

use espbench_model::time::Duration;

/// Time after which a start counts as good.
pub const CONFIRM_AFTER: Duration = Duration::from_secs(10);
/// Starts that an image on trial has.
pub const TRIES: u8 = 3;
/// Starts in a row without a good one after which any image is given up.
pub const SHORT_MAX: u8 = 30;

/// Length of a record in flash, in bytes.
pub const RECORD_LEN: usize = 8;

/// A record of starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootRecord {
    /// Number of starts.
    pub count: u32,
    /// Starts in a row that were not good.
    pub short: u8,
    /// Whether the image that runs is on trial.
    pub trial: bool,
}

/// Order at a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootOrder {
    /// Go on with this image.
    GoOn,
    /// Select the other image and restart.
    FallBack,
}

impl BootRecord {
    /// Reads a record; anything that is none counts as no start at all.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        match *bytes {
            [a, b, c, d, short, trial @ 0..=1, _, check] if check == sum(&bytes[..7]) => {
                let count = u32::from_le_bytes([a, b, c, d]);
                Self { count, short, trial: trial == 1 }
            }
            _ => Self::default(),
        }
    }

    /// Writes the record.
    #[must_use]
    pub fn emit(self) -> [u8; RECORD_LEN] {
        let [a, b, c, d] = self.count.to_le_bytes();
        let mut bytes = [a, b, c, d, self.short, u8::from(self.trial), 0, 0];
        bytes[7] = sum(&bytes[..7]);
        bytes
    }

    /// Notes a start; `other` tells whether there is another image to go back to. The record is to
    /// be stored before the order is followed.
    pub fn start(&mut self, other: bool) -> BootOrder {
        self.count = self.count.saturating_add(1);
        self.short = self.short.saturating_add(1);
        let limit = if self.trial { TRIES } else { SHORT_MAX };
        if self.short <= limit || !other {
            return BootOrder::GoOn;
        }
        self.short = 0;
        self.trial = false;
        BootOrder::FallBack
    }

    /// Notes that this start is good; returns whether the record has changed.
    pub fn confirm(&mut self) -> bool {
        let changed = self.short > 0 || self.trial;
        self.short = 0;
        self.trial = false;
        changed
    }

    /// Notes that another image was selected for the next start.
    pub fn selected_other(&mut self) {
        self.short = 0;
        self.trial = true;
    }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xA7, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte))
}

/// Returns `esp_reset_reason_t` of a reset, by the chip's own code (`soc_reset_reason_t`) and by
/// whether the program had crashed or asked for it.
#[must_use]
pub const fn reason(soc: u32, crashed: bool) -> u32 {
    match soc {
        // Power-on; on C6 brown-out may come as it.
        1 => 1,
        // Software reset of the digital core or of the CPU.
        3 | 12 => {
            if crashed {
                4
            } else {
                3
            }
        }
        // Deep sleep.
        5 => 8,
        // Watchdogs of the timer groups: 7, 8 (core), 11, 17 (CPU).
        7 | 8 | 11 | 17 => 6,
        // Watchdogs of the RTC and the super watchdog.
        9 | 13 | 16 | 18 => 7,
        // Brown-out.
        15 => 9,
        // USB.
        21 | 22 => 11,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_and_rubbish_is_none() {
        let record = BootRecord { count: 70_000, short: 2, trial: true };
        assert_eq!(BootRecord::parse(&record.emit()), record);
        for i in 0..RECORD_LEN * 8 {
            let mut bytes = record.emit();
            bytes[i / 8] ^= 1 << (i % 8);
            assert_eq!(BootRecord::parse(&bytes), BootRecord::default(), "bit {i}");
        }
        assert_eq!(BootRecord::parse(&[0xFF; 8]), BootRecord::default());
        assert_eq!(BootRecord::parse(&[]), BootRecord::default());
    }

    #[test]
    fn an_image_on_trial_that_does_not_last_is_left() {
        let mut record = BootRecord::default();
        assert_eq!(record.start(true), BootOrder::GoOn);
        assert!(record.confirm());
        record.selected_other();
        for _ in 0..TRIES {
            assert_eq!(record.start(true), BootOrder::GoOn);
        }
        assert_eq!(record.start(true), BootOrder::FallBack);
        assert_eq!(record, BootRecord { count: 5, short: 0, trial: false });
        // The image of before is no trial.
        for _ in 0..SHORT_MAX {
            assert_eq!(record.start(true), BootOrder::GoOn);
        }
        assert_eq!(record.start(true), BootOrder::FallBack);
    }

    #[test]
    fn an_image_that_lasts_is_confirmed_once() {
        let mut record = BootRecord::default();
        record.selected_other();
        assert_eq!(record.start(true), BootOrder::GoOn);
        assert!(record.confirm());
        assert!(!record.confirm(), "nothing to store");
        for _ in 0..SHORT_MAX {
            assert_eq!(record.start(true), BootOrder::GoOn);
            record.confirm();
        }
        assert_eq!(record.count, 31);
    }

    #[test]
    fn without_another_image_there_is_nothing_to_go_back_to() {
        let mut record = BootRecord { trial: true, ..BootRecord::default() };
        for _ in 0..100 {
            assert_eq!(record.start(false), BootOrder::GoOn);
        }
    }

    #[test]
    fn a_crash_is_told_from_a_restart() {
        assert_eq!(
            [reason(1, false), reason(3, false), reason(3, true), reason(9, false)],
            [1, 3, 4, 7]
        );
    }
}
