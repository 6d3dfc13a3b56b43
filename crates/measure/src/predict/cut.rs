//! Predictions that were stopped before their end: what was due, and what of it is missing.

use super::report::{PredictAnswer, PredictQuestion};
use alloc::format;
use alloc::string::String;
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

/// Says of a prediction without a room that nothing is known.
const NOTHING: &str = "Stopped before the first room was done: nothing is known.";

/// Says that rooms were simulated until somebody stopped: so many for each setting, of so many that were due.
pub(super) fn stopped(rooms: impl Iterator<Item = u32>, due: u32) -> String {
    let (least, most) =
        rooms.fold((u32::MAX, 0), |(least, most), it| (least.min(it), most.max(it)));
    match (least, most) {
        (0, _) | (_, 0) => NOTHING.into(),
        // What is there is whole.
        (least, _) if least >= due => "Stopped: this is not all that was asked.".into(),
        (1, 1) => format!("Stopped: each figure is of 1 of {due} rooms, and its interval is wide."),
        (least, most) if least == most => {
            format!("Stopped: each figure is of {least} of {due} rooms, and its interval is wider.")
        }
        (least, most) => format!(
            "Stopped: figures are of {least} to {most} of {due} rooms, and intervals of fewer rooms are wider."
        ),
    }
}

/// Says how many of those that were due were tried: `1 of 5 changes was tried`.
fn tried(number: usize, due: u32, one: &str) -> String {
    let verb = if number == 1 { "was" } else { "were" };
    format!("{number} of {} {verb} tried", count(due as usize, one))
}

impl PredictAnswer {
    /// Tells whether a setting was not tried, or not in all of its rooms.
    pub(super) fn lacks_rooms(&self) -> bool {
        let is_short = |rooms: u32| rooms < self.due.rooms;
        self.stopped
            && (self.points.len() < self.due.settings as usize
                || self.points.iter().any(|it| is_short(it.rooms)))
    }

    /// Tells whether a change was not tried: then none of the others is the best.
    pub(super) fn lacks_changes(&self) -> bool {
        self.stopped && self.changes.len() < self.due.changes as usize
    }

    /// Says that the prediction was stopped, and what of it is missing.
    pub(super) fn cut_short(&self) -> Option<String> {
        let settings = match self.question {
            // A search says itself how far it came.
            PredictQuestion::LargestFleet(_) if !self.points.is_empty() => return None,
            PredictQuestion::Rate | PredictQuestion::OnAir(_) => "rate",
            _ => "fleet",
        };
        // Of a range no rooms are simulated.
        let is_range = matches!(self.question, PredictQuestion::Range(_));
        let rooms = || self.points.iter().map(|it| it.rooms);
        let short = rooms().filter(|it| *it < self.due.rooms).count();
        self.stopped.then(|| match self.points.len() {
            0 if is_range => "Stopped before the first PHY rate was done: nothing is known.".into(),
            n if is_range => {
                format!("Stopped: this is of {}; others may reach farther.", count(n, "PHY rate"))
            }
            0 => NOTHING.into(),
            n if n < self.due.settings as usize => {
                let few = match short {
                    0 => String::new(),
                    short => format!(", {short} of them in fewer than {} rooms", self.due.rooms),
                };
                let none = match self.question {
                    PredictQuestion::Rate => "; no best can be named",
                    _ => "",
                };
                format!("Stopped: {}{few}{none}.", tried(n, self.due.settings, settings))
            }
            _ if short > 0 => {
                let none = match self.question {
                    PredictQuestion::Rate => " No best can be named.",
                    PredictQuestion::Fleet if self.lacks_changes() => " No change was tried.",
                    _ => "",
                };
                stopped(rooms(), self.due.rooms) + none
            }
            _ if self.lacks_changes() => {
                format!("Stopped: {}.", tried(self.changes.len(), self.due.changes, "change"))
            }
            _ if settings == "rate" => {
                "Stopped: the throughput of one device is missing in part.".into()
            }
            _ => stopped(rooms(), self.due.rooms),
        })
    }
}
