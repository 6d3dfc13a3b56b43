//! The notes of whoever types a test's commands: its record, what was typed, and when the next command
//! is.

use super::procedure::{MOMENT, TypedCommands};
use crate::lab::record::Record;
use alloc::string::String;
use core::fmt::Display;
use core::time::Duration;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::sample::Sample;

/// The notes of the person at the desk, whether the consoles are simulated or those of boards.
pub struct DeskNotes<'a, R: ?Sized> {
    record: &'a mut R,
    random: RngStream,
    typed: TypedCommands,
}

impl<'a, R: Record + ?Sized> DeskNotes<'a, R> {
    /// Creates empty notes. The seed is that of the person's pauses.
    #[must_use]
    pub fn new(record: &'a mut R, seed: u64) -> Self {
        let random = RngStream::stream(seed, 0, Purpose::Person);
        Self { record, random, typed: TypedCommands::default() }
    }

    /// Returns the record itself.
    pub fn record(&mut self) -> &mut R {
        self.record
    }

    /// Returns whether the test is to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.record.cancelled()
    }

    /// Puts a sample into the record.
    pub fn sample(&mut self, sample: Sample) {
        self.record.sample(sample);
    }

    /// Adds to a counter; one that stays zero is not there.
    pub fn count(&mut self, name: &str, by: usize) {
        if by > 0 {
            self.record.count(name, by as u64);
        }
    }

    /// Puts a finding that is not a number into the record.
    pub fn fact(&mut self, name: &str, value: String) {
        self.record.fact(name, value);
    }

    /// Notes a command that is typed at the console of this name.
    pub fn typed(&mut self, console: impl Display, command: &str) {
        self.typed.add(console, command);
    }

    /// Returns the last command with its console, empty where none was typed.
    #[must_use]
    pub fn last_typed(&self) -> &str {
        self.typed.last()
    }

    /// Returns the time until the next command: a moment, and a time below this. Nobody types in step with
    /// a tick, nor at once.
    pub fn pause(&mut self, most: Duration) -> Duration {
        MOMENT + self.random.time_below(most)
    }

    /// Ends the notes: records the typed commands.
    pub fn close(self) {
        self.record.fact("commands", self.typed.into_text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::record::KeptRecord;
    use alloc::vec::Vec;

    #[test]
    fn notes_keep_what_is_not_zero_and_every_command() {
        let mut kept = KeptRecord::default();
        let mut notes = DeskNotes::new(&mut kept, 1);
        notes.count("rounds", 0);
        notes.count("searches", 2);
        notes.count("searches", 1);
        notes.fact("printed", "done".into());
        assert_eq!(notes.last_typed(), "");
        notes.typed("node0", "help");
        notes.typed("node1", "restart");
        assert_eq!(notes.last_typed(), "node1> restart");
        notes.close();
        assert_eq!(kept.counters.into_iter().collect::<Vec<_>>(), [("searches".into(), 3)]);
        assert_eq!(kept.facts["printed"], "done");
        assert_eq!(kept.facts["commands"], "node0> help\nnode1> restart\n");
    }

    #[test]
    fn a_person_pauses_as_the_seed_has_it_and_never_under_a_moment() {
        let pauses = |seed| {
            let mut kept = KeptRecord::default();
            let mut notes = DeskNotes::new(&mut kept, seed);
            [0; 50].map(|_| notes.pause(Duration::from_secs(1)))
        };
        let (first, other) = (pauses(1), pauses(2));
        assert_eq!(first, pauses(1));
        assert_ne!(first, other);
        assert!(first.iter().all(|it| (MOMENT..MOMENT + Duration::from_secs(1)).contains(it)));
        assert!(first.iter().max() > first.iter().min());
    }
}
