//! The command `espbench`, and its subcommands as functions.

use crate::attend::{attended, hand_on};
use crate::error;
use espbench::cli;
use espbench::embed::HostProgram;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the command with these words, the first of which is its own name; returns the exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| {
        let status = cli::main_of(&words);
        // A library is not told that the process ends, so that what waits for a line's end is written here.
        let _ = std::io::stdout().flush();
        (0..=u8::MAX).find(|it| ExitCode::from(*it) == status).unwrap_or(2)
    })
}

/// Runs a subcommand inside this process; returns the exit status and what it prints to stdout. `said` is called
/// with each line for people.
#[pyfunction]
#[pyo3(signature = (words, said = None))]
pub(crate) fn ask(
    py: Python<'_>,
    words: Vec<OsString>,
    said: Option<Py<PyAny>>,
) -> PyResult<(u8, String)> {
    let host = HostProgram::default();
    let words: Vec<OsString> = std::iter::once("espbench".into()).chain(words).collect();
    let look = |py: Python<'_>| hand_on(py, &host, said.as_ref());
    let asked = attended(py, &host, look, || cli::ask(&host, &words))?;
    asked.map_err(|wrong| error::of(py, &wrong))
}
