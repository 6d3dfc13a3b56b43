//! Lines that tell nothing, whatever their digits: a program prints the same ones again and again.

use super::format::next_head;
use super::prefix::numbered;
use super::record::LogRecord;
use super::{driver, scan, silence, traceback};
use crate::matcher::rule::SubjectFamily;
use crate::matcher::{RecordReading, Subject, masked};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Lines that are kept, a power of two.
const LINES: usize = 2048;

/// Longest line that is kept, in bytes.
const LONGEST: usize = 256;

/// Knowledge of lines that differ in their digits alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuietLine {
    /// Width, in characters.
    pub(super) columns: usize,
    /// Place of the record's head; none of a line in no known format.
    pub(super) head: Option<usize>,
    /// Subject of the line; the second, where a line before it has ended the link.
    pub(super) subjects: [Option<Subject>; 2],
}

/// A line with 0 in place of each digit.
#[derive(Clone, Debug)]
struct Kept {
    line: Box<[u8]>,
    /// None of lines that have to be read each time.
    quiet: Option<QuietLine>,
}

/// Lines that were read: at most 2048 of at most 256 bytes. A new one takes the place of an old one.
#[derive(Clone, Debug, Default)]
pub(super) struct QuietLines {
    lines: Vec<Option<Kept>>,
    /// Whether each line is read, for a test.
    #[cfg(test)]
    pub(super) is_off: bool,
    /// Lines that were passed.
    #[cfg(test)]
    pub(super) passed: u64,
}

impl QuietLines {
    /// Returns what is known of a line that tells nothing.
    pub(super) fn of(&self, line: &str) -> Option<QuietLine> {
        self.kept(line)?.quiet
    }

    /// Returns whether a line of that kind was read before.
    pub(super) fn knows(&self, line: &str) -> bool {
        line.len() > LONGEST || self.kept(line).is_some()
    }

    /// Keeps what is known of a line.
    pub(super) fn keep(&mut self, line: &str, quiet: Option<QuietLine>) {
        if self.lines.is_empty() {
            self.lines.resize(LINES, None);
        }
        let masked = line.bytes().map(masked).collect();
        self.lines[place(line)] = Some(Kept { line: masked, quiet });
    }

    /// Returns the number of lines that are kept.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lines.iter().flatten().filter(|it| it.quiet.is_some()).count()
    }

    fn kept(&self, line: &str) -> Option<&Kept> {
        #[cfg(test)]
        if self.is_off {
            return None;
        }
        if line.len() > LONGEST {
            return None;
        }
        let kept = self.lines.get(place(line))?.as_ref()?;
        let is_alike = || line.bytes().zip(&kept.line).all(|(a, b)| masked(a) == *b);
        (kept.line.len() == line.len() && is_alike()).then_some(kept)
    }
}

/// Returns the place of a line, by the line without its digits.
fn place(line: &str) -> usize {
    (hash(line.bytes().map(masked)) >> 32) as usize % LINES
}

/// Returns FNV-1a of bytes (draft-eastlake-fnv).
pub(super) fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, it| {
        (hash ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns what is known of a line of one record that tells nothing, where it does so whatever its digits, its time and the lines
/// before it.
pub(super) fn quiet(
    line: &str,
    reading: &RecordReading<'_>,
    record: &LogRecord<'_>,
) -> Option<QuietLine> {
    let concerns = silence::concerns(record)
        || scan::concerns(record)
        || traceback::concerns(record)
        || driver::concerns(record);
    let head = next_head(line, 0);
    let is_found = head.as_ref().map(|it| (Some(it.level), it.uptime_ms))
        == record.level.map(|it| (Some(it), record.uptime_ms));
    let is_quiet = !concerns
        && is_found
        && numbered(line).is_none()
        && reading.is_alike_for_all_digits()
        && reading.is_silent();
    let restarting = Subject { family: SubjectFamily::Wifi, pending: false, restarts: true };
    is_quiet.then(|| QuietLine {
        columns: line.chars().count(),
        head: head.map(|it| it.start),
        subjects: [None, Some(restarting)].map(|it| reading.subject(it)),
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::LogReader;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use std::sync::OnceLock;

    /// Returns the logs of all cases.
    fn logs() -> &'static [String] {
        static LOGS: OnceLock<Vec<String>> = OnceLock::new();
        LOGS.get_or_init(|| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
            let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
            let logs = files.filter(|it| it.extension().is_some_and(|it| it == "log"));
            logs.map(|it| String::from_utf8_lossy(&std::fs::read(it).unwrap()).into_owned())
                .collect()
        })
    }

    /// Returns a log with other digits.
    fn with_digits(log: &str, seed: u32) -> String {
        let mut state = seed;
        let other = |it: char| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Most stay, so that numbers which rules know come.
            if it.is_ascii_digit() && state >> 30 == 0 {
                char::from_digit((state >> 24) % 10, 10).unwrap_or(it)
            } else {
                it
            }
        };
        log.chars().map(other).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn lines_that_are_passed_tell_what_they_told(
            picks in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..12),
        ) {
            let (mut quick, mut slow) = (LogReader::new(), LogReader::new());
            slow.read_each_line();
            for (pick, seed) in picks {
                let log = &logs()[pick.index(logs().len())];
                for log in [log.clone(), with_digits(log, seed), with_digits(log, !seed)] {
                    quick.push(log.as_bytes());
                    slow.push(log.as_bytes());
                }
            }
            prop_assert_eq!(slow.kinds_and_passed().1, 0);
            prop_assert_eq!(quick.finish(), slow.finish());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn lines_of_logs_in_any_order_are_read(
            picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..80),
        ) {
            let mut reader = LogReader::new();
            for (log, line) in picks {
                let lines: Vec<&str> = logs()[log.index(logs().len())].lines().collect();
                reader.push(lines[line.index(lines.len())].as_bytes());
                reader.push(b"\n");
            }
            let log = reader.finish();
            prop_assert!(log.events.values().all(|it| it.count >= it.places.len() as u64));
        }
    }

    #[test]
    fn lines_of_the_cases_are_passed_where_they_come_again() {
        let mut reader = LogReader::new();
        for log in logs().iter().chain(logs()) {
            reader.push(log.as_bytes());
        }
        let (kinds, passed) = reader.kinds_and_passed();
        assert!(passed > 1000 && kinds > 100, "{passed} lines passed, of {kinds} kinds");
    }

    #[test]
    fn an_application_that_says_the_same_is_passed() {
        let mut reader = LogReader::new();
        for time in 1000..1200 {
            let line =
                std::format!("I ({time}) http_app: GET /api/state 200 in {} ms\n", time % 10);
            reader.push(line.as_bytes());
        }
        assert_eq!(reader.kinds_and_passed(), (1, 199));
        assert_eq!(reader.finish().last_ms, Some(1199));
    }
}
