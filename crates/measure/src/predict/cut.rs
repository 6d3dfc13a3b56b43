//! Predictions that were stopped before their end: what was due, and what of it is missing.

use super::frames::FramesAnswer;
use super::report::{PredictAnswer, PredictQuestion};
use super::tables::capitalized;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::text::count;

/// Settings, rooms and changes that were due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettingsDue {
    /// Settings: numbers of devices, or PHY rates.
    pub settings: u32,
    /// Rooms for each.
    pub rooms: u32,
    /// Changes that were to be tried.
    pub changes: u32,
}

/// Says what follows where the best may be among those that were not tried.
const NO_BEST: &str = "no best can be named";

/// Says of a prediction without a room that nothing is known.
const NOTHING: &str = "Stopped before the first room was done: nothing is known.";

/// Says how many of those that were due were tried: `1 of 5 changes was tried`.
fn tried(number: usize, due: u32, one: &str) -> String {
    let verb = if number == 1 { "was" } else { "were" };
    format!("{number} of {} {verb} tried", count(due as usize, one))
}

impl SettingsDue {
    /// Tells whether a setting was not tried, or not in all of its rooms.
    fn lacks(self, rooms: &[u32]) -> bool {
        rooms.len() < self.settings as usize || rooms.iter().any(|it| *it < self.rooms)
    }

    /// Says of settings with so many rooms each that the prediction was stopped, what is missing and what follows from
    /// that. `one` names a setting.
    pub(super) fn cut(self, rooms: &[u32], one: &str, follows: Option<&str>) -> String {
        let (least, most) = (rooms.iter().min().copied(), rooms.iter().max().copied());
        let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
        let due = self.rooms;
        let is_short = rooms.len() < self.settings as usize;
        let first = match (least, most) {
            (_, 0) => return NOTHING.into(),
            _ if is_short => {
                let few = match rooms.iter().filter(|it| **it < due).count() {
                    0 => String::new(),
                    short => format!(", {short} of them in fewer than {due} rooms"),
                };
                let follows = follows.map(|it| format!("; {it}")).unwrap_or_default();
                return format!(
                    "Stopped: {}{few}{follows}.",
                    tried(rooms.len(), self.settings, one)
                );
            }
            (0, _) => return NOTHING.into(),
            // What is there is whole.
            (least, _) if least >= due => return "Stopped: this is not all that was asked.".into(),
            (1, 1) => {
                format!("Stopped: each figure is of 1 of {due} rooms, and its interval is wide.")
            }
            (least, most) if least == most => {
                format!(
                    "Stopped: each figure is of {least} of {due} rooms, and its interval is wider."
                )
            }
            (least, most) => format!(
                "Stopped: figures are of {least} to {most} of {due} rooms, and intervals of fewer rooms are wider."
            ),
        };
        match follows {
            Some(it) => format!("{first} {}.", capitalized(it)),
            None => first,
        }
    }
}

impl PredictAnswer {
    /// Tells whether it was stopped before each setting had its rooms.
    pub(super) fn lacks_rooms(&self) -> bool {
        self.stopped && self.due.lacks(&self.rooms())
    }

    /// Returns how many rooms are behind each setting.
    fn rooms(&self) -> Vec<u32> {
        self.points.iter().map(|it| it.rooms).collect()
    }

    /// Tells whether a change was not tried: then none of the others is the best.
    pub(super) fn lacks_changes(&self) -> bool {
        self.stopped && self.changes.len() < self.due.changes as usize
    }

    /// Says that the prediction was stopped, and what of it is missing.
    pub(super) fn cut_short(&self) -> Option<String> {
        // A search says itself how far it came.
        if matches!(self.question, PredictQuestion::LargestFleet(_)) && !self.points.is_empty() {
            return None;
        }
        self.stopped.then(|| self.missing())
    }

    fn missing(&self) -> String {
        let is_of_rates =
            matches!(self.question, PredictQuestion::Rate | PredictQuestion::OnAir(_));
        // Of a range no rooms are simulated.
        let is_range = matches!(self.question, PredictQuestion::Range(_));
        match self.points.len() {
            0 if is_range => "Stopped before the first PHY rate was done: nothing is known.".into(),
            0 => NOTHING.into(),
            n if is_range => {
                format!("Stopped: this is of {}; others may reach farther.", count(n, "PHY rate"))
            }
            _ if self.lacks_rooms() => {
                let follows = match self.question {
                    PredictQuestion::Rate | PredictQuestion::Profiles => Some(NO_BEST),
                    PredictQuestion::Fleet if self.lacks_changes() => Some("no change was tried"),
                    _ => None,
                };
                let one = match self.question {
                    _ if is_of_rates => "rate",
                    PredictQuestion::Profiles => "profile",
                    _ => "fleet",
                };
                self.due.cut(&self.rooms(), one, follows)
            }
            _ if self.lacks_changes() => {
                format!("Stopped: {}.", tried(self.changes.len(), self.due.changes, "change"))
            }
            _ if is_of_rates => "Stopped: the throughput of one device is missing in part.".into(),
            _ => self.due.cut(&self.rooms(), "fleet", None),
        }
    }
}

impl FramesAnswer {
    /// Tells whether it was stopped before each division had its rooms: then none of the others is the best.
    pub(super) fn lacks_rooms(&self) -> bool {
        self.stopped && self.due.lacks(&self.rooms())
    }

    /// Returns how many rooms are behind each division.
    fn rooms(&self) -> Vec<u32> {
        self.points.iter().map(|it| it.rooms).collect()
    }

    /// Says that the prediction was stopped, and what of it is missing.
    pub(super) fn cut_short(&self) -> Option<String> {
        let follows = self.lacks_rooms().then_some(NO_BEST);
        self.stopped.then(|| self.due.cut(&self.rooms(), "division", follows))
    }
}
