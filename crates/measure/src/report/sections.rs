//! The order in which a report is read, the same in every drawing.

use super::Report;
use crate::air::Timeline;
use crate::figure::Figure;
use crate::kind;
use crate::table::{Table, power, status, truth};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A chapter: tables, then figures.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Stable name, usable as an anchor.
    pub id: &'static str,
    /// Title.
    pub title: &'static str,
    /// Tables of the chapter.
    pub tables: Vec<Cow<'a, Table>>,
    /// Figures of the chapter.
    pub figures: Vec<&'a Figure>,
    /// Timelines of the medium.
    pub timelines: &'a [Timeline],
}

/// Names and titles of the chapters before those of the kinds of test, in order.
const FIRST: [(&str, &str); 4] = [
    ("warnings", "Read this first"),
    (crate::beside::SECTION, "Measured and simulated"),
    ("overview", "At a glance"),
    (truth::SECTION, "How true the simulation is"),
];

/// Name and title of the chapter after those of the kinds over IP.
const POWER: (&str, &str) = (power::SECTION, "Current and battery");

/// Name of the chapter of causes that the doctor has found.
pub const DIAGNOSIS: &str = "diagnosis";

/// Name of the chapter of what a capture tells.
pub const CAPTURE: &str = "capture";

/// Names and titles of the chapters after those of all kinds.
const LAST: [(&str, &str); 8] = [
    (DIAGNOSIS, "Causes"),
    (CAPTURE, "What the capture tells"),
    (crate::predict::SECTION, "Prediction"),
    (crate::tune::SECTION, "Settings"),
    ("losses", "Losses and findings"),
    (crate::air::SECTION, "On the air"),
    ("comparison", "Comparison"),
    ("run", "The run"),
];

impl Report {
    /// Returns the chapters that have something to show: what went wrong, then results, then the
    /// facts.
    #[must_use]
    pub fn sections(&self) -> Vec<Section<'_>> {
        let made: Vec<Table> = [
            status::failures(self),
            status::checks(self),
            status::warnings(self),
            status::losses(self),
            status::counters(self),
            truth::over_seeds(&self.lab_truth),
            self.truth.as_ref().map(truth::groups),
            self.truth.as_ref().map(|t| truth::cells(t, truth::FEW)),
            self.truth_wifi.as_ref().map(|t| truth::of_wifi(truth::groups(t))),
            self.truth_wifi.as_ref().map(|t| truth::of_wifi(truth::cells(t, truth::FEW))),
            Some(status::facts(self)),
            status::overhead(self.overhead.as_ref()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let section = |(id, title)| {
            let made = made.iter().filter(|t| t.section == id).cloned().map(Cow::Owned);
            let stored = self.tables.iter().filter(|t| t.section == id).map(Cow::Borrowed);
            Section {
                id,
                title,
                tables: made.chain(stored).collect(),
                figures: self.figures.iter().filter(|f| f.section == id).collect(),
                timelines: if id == crate::air::SECTION { &self.timelines } else { &[] },
            }
        };
        let documented = self.truth.is_some();
        FIRST
            .into_iter()
            .chain(kind::over_ip().flat_map(|it| it.chapters(documented)))
            .chain([POWER])
            .chain(kind::others().flat_map(|it| it.chapters(documented)))
            .chain(LAST)
            .map(section)
            .filter(|s: &Section<'_>| {
                !s.tables.is_empty() || !s.figures.is_empty() || !s.timelines.is_empty()
            })
            .collect()
    }
}
