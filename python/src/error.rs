//! Errors as Python's exceptions.

use espbench::cli::told;
use espbench::user_error::UserError;
use pyo3::prelude::*;

/// Module and name of the exception.
const MODULE: &str = "espbench._errors";
const CLASS: &str = "EspbenchError";

/// Returns the exception of an error: what failed, why, and what to do are attributes of it.
pub(crate) fn of(py: Python<'_>, error: &UserError) -> PyErr {
    let [what, why, remedy] = error.shown();
    let parts = (what, why, remedy);
    let made = py.import(MODULE).and_then(|it| it.getattr(CLASS)).and_then(|it| it.call1(parts));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns the exception of any error of the command's.
pub(crate) fn any(py: Python<'_>, error: &anyhow::Error) -> PyErr {
    of(py, &told::error(error))
}
