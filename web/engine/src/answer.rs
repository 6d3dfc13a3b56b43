//! A question by its name, and the answer or the error in three parts.

use crate::files::OpenFiles;
use crate::fleet::{FleetDesk, FleetQuestion};
use crate::{files, room, trial, versus};
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// Questions of the page.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
enum Question {
    /// What there is: version, labs, profiles, environments.
    Library,
    /// A lab as it is drawn.
    Room { name: String, text: String, seed: Option<u64> },
    /// The rooms that a prediction takes; the desk holds it from then on.
    Fleet { fleet: Box<FleetQuestion> },
    /// The answer of the rooms that have come so far.
    Predicted,
    /// One simulated room of a prediction, as bytes.
    Trial { fleet: Box<FleetQuestion>, case: usize, room: u32 },
    /// Frames on the air of its first room.
    Watch { fleet: Box<FleetQuestion>, seconds: f64, most: usize },
    /// Two answers, compared.
    Versus { ours: String, other: String },
    /// A file whose bytes will come.
    Open { name: String },
    /// The diagnosis of all files since the last one.
    Diagnose,
    /// All files are forgotten.
    Forget,
    /// The report of a plan, carried out in the lab.
    #[cfg(feature = "plans")]
    Report { plan: String, lab: String, seed: u64 },
}

/// What one worker has in hand.
#[derive(Default)]
pub(crate) struct Session {
    desk: Option<FleetDesk>,
    files: OpenFiles,
}

/// An error as the command tells it: what failed, why, and what to do.
#[derive(Debug, Serialize)]
pub(crate) struct PageError {
    /// Action or thing that failed.
    pub(crate) what: String,
    /// Cause.
    pub(crate) why: String,
    /// Advice.
    pub(crate) remedy: String,
    /// Line of a file, from 1; 0 where there is none.
    pub(crate) line: usize,
}

impl PageError {
    /// Creates an error with its cause.
    pub(crate) fn new(what: impl Display, why: impl Display, remedy: impl Display) -> Self {
        let (what, why, remedy) = (what.to_string(), why.to_string(), remedy.to_string());
        Self { what, why, remedy, line: 0 }
    }
}

/// An answer, or an error.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer<T> {
    Ok(T),
    Error(PageError),
}

/// Writes an answer as JSON.
fn written<T: Serialize>(answer: Result<T, PageError>) -> Vec<u8> {
    let answer = match answer {
        Ok(it) => Answer::Ok(it),
        Err(error) => Answer::Error(error),
    };
    serde_json::to_vec(&answer).unwrap_or_default()
}

impl Session {
    /// Answers a question.
    pub(crate) fn ask(&mut self, question: &[u8]) -> Vec<u8> {
        let question = match serde_json::from_slice::<Question>(question) {
            Ok(question) => question,
            Err(why) => {
                let remedy = "load the page again: it and its engine are of two versions, or a link is wrong";
                return written::<()>(Err(PageError::new(
                    "the engine cannot read this question",
                    why,
                    remedy,
                )));
            }
        };
        match question {
            Question::Library => written(Ok(room::library())),
            Question::Room { name, text, seed } => written(room::drawn(&name, &text, seed)),
            Question::Fleet { fleet } => {
                let desk = FleetDesk::new(*fleet);
                let needed = desk.as_ref().map(FleetDesk::needed);
                let answer = written(needed.map_err(PageError::copy));
                self.desk = desk.ok();
                answer
            }
            Question::Predicted => {
                written(self.desk.as_ref().ok_or_else(nothing).and_then(FleetDesk::answer))
            }
            Question::Trial { fleet, case, room } => match self.simulated(*fleet, case, room) {
                Ok(bytes) => bytes,
                Err(error) => written::<()>(Err(error)),
            },
            Question::Watch { fleet, seconds, most } => {
                written(FleetDesk::new(*fleet).and_then(|desk| room::flights(&desk, seconds, most)))
            }
            Question::Versus { ours, other } => written(versus::versus(&ours, &other)),
            Question::Open { name } => written(self.files.open(name)),
            Question::Diagnose => written(files::diagnose(std::mem::take(&mut self.files))),
            Question::Forget => {
                self.files = OpenFiles::default();
                written(Ok(()))
            }
            #[cfg(feature = "plans")]
            Question::Report { plan, lab, seed } => {
                written(crate::plans::report(&plan, &lab, seed))
            }
        }
    }

    /// Takes bytes: a simulated room, or a piece of a file.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> bool {
        if self.files.is_open() {
            self.files.push(bytes);
            return true;
        }
        let (Some(desk), Some(room)) = (&mut self.desk, trial::read(bytes)) else { return false };
        desk.add(room);
        true
    }

    /// Simulates one room. The worker keeps the question, since more of its rooms will be asked for.
    fn simulated(
        &mut self,
        fleet: FleetQuestion,
        case: usize,
        room: u32,
    ) -> Result<Vec<u8>, PageError> {
        if self.desk.as_ref().is_none_or(|desk| desk.question != fleet) {
            self.desk = Some(FleetDesk::new(fleet)?);
        }
        self.desk.as_ref().ok_or_else(nothing)?.simulate(case, room)
    }
}

impl PageError {
    /// Returns a copy.
    fn copy(&self) -> Self {
        Self { line: self.line, ..Self::new(&self.what, &self.why, &self.remedy) }
    }
}

fn nothing() -> PageError {
    PageError::new("nothing is being predicted", "the question has not been asked", "ask it first")
}
