//! The command `espbench`, and its subcommands as functions.

use crate::attend::{attended, hand_on};
use crate::error;
use espbench::cli;
use espbench::embed::HostProgram;
use espbench_model::speech::{self, Asker};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the command with these words, the first of which is its own name; returns the exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| {
        speech::speak_to(Asker::Terminal);
        let status = cli::main_of(&words);
        speech::speak_to(Asker::Caller);
        // A library is not told that the process ends, so that what waits for a line's end is written here.
        let _ = std::io::stdout().flush();
        (0..=u8::MAX).find(|it| ExitCode::from(*it) == status).unwrap_or(2)
    })
}

/// A flag of a subcommand.
#[pyclass(name = "Flag", frozen, get_all)]
pub(crate) struct PyFlag {
    name: String,
    short: Option<char>,
    takes_value: bool,
    needs_value: bool,
    repeats: bool,
    meaning: String,
}

impl From<cli::FlagFacts> for PyFlag {
    fn from(facts: cli::FlagFacts) -> Self {
        let cli::FlagFacts { name, short, takes_value, needs_value, repeats, meaning } = facts;
        Self { name, short, takes_value, needs_value, repeats, meaning }
    }
}

/// Lists the flags of a subcommand.
#[pyfunction]
pub(crate) fn flags(words: Vec<String>) -> Vec<PyFlag> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    cli::flags(&words).into_iter().map(PyFlag::from).collect()
}

/// Runs a subcommand inside this process; returns the exit status and what it prints to stdout. `progress` is called
/// with what is done, all there is, and both in words; `said` with each line for people.
#[pyfunction]
#[pyo3(signature = (words, progress = None, said = None))]
pub(crate) fn ask(
    py: Python<'_>,
    words: Vec<OsString>,
    progress: Option<Py<PyAny>>,
    said: Option<Py<PyAny>>,
) -> PyResult<(u8, String)> {
    let host = HostProgram::default();
    let words: Vec<OsString> = std::iter::once("espbench".into()).chain(words).collect();
    let look = |py: Python<'_>| {
        hand_on(py, &host, said.as_ref())?;
        match (&progress, host.work.take()) {
            (Some(progress), Some(work)) => {
                progress.call1(py, (work.done, work.total, work.to_string())).map(drop)
            }
            _ => Ok(()),
        }
    };
    let asked = attended(py, &host, look, || cli::ask(&host, &words))?;
    asked.map_err(|wrong| error::of(py, &wrong))
}
