//! The extension module of the Python package `espbench`: everything that is not Python.
//!
//! | module | contents |
//! |---|---|
//! | [`attend`] | work on a thread of its own, while Python looks for Ctrl-C and shows progress |
//! | [`command`] | the command `espbench`, and its subcommands as functions |
//! | [`error`] | errors as Python's exceptions |
//! | [`report`] | reports with their cells and samples |
//! | [`simulate`] | plans in the virtual lab, in memory |
//! | [`table`] | tables over Arrow's C interface |
//!
//! What a user sees is `python/espbench`; nothing here is public but to it. Without the feature `full` nothing is here.

#![cfg(feature = "full")]

mod attend;
mod command;
mod error;
mod report;
mod simulate;
mod table;

use espbench_model::speech::{self, Asker};
use pyo3::prelude::*;

#[pymodule]
fn _espbench(m: &Bound<'_, PyModule>) -> PyResult<()> {
    speech::speak_to(Asker::Caller);
    m.add("TOOL", espbench::TOOL)?;
    m.add_class::<report::PyReport>()?;
    m.add_class::<table::PyTable>()?;
    m.add_class::<command::PyFlag>()?;
    m.add_function(wrap_pyfunction!(command::main, m)?)?;
    m.add_function(wrap_pyfunction!(command::ask, m)?)?;
    m.add_function(wrap_pyfunction!(command::flags, m)?)?;
    m.add_function(wrap_pyfunction!(simulate::simulate, m)?)?;
    m.add_function(wrap_pyfunction!(simulate::plans, m)?)?;
    m.add_function(wrap_pyfunction!(simulate::are_for_lab, m)?)?;
    m.add_function(wrap_pyfunction!(simulate::of_lab, m)?)?;
    m.add_function(wrap_pyfunction!(report::read_store, m)?)?;
    m.add_function(wrap_pyfunction!(report::runs, m)?)?;
    m.add_function(wrap_pyfunction!(report::metrics, m)?)?;
    m.add_function(wrap_pyfunction!(report::difference, m)?)?;
    Ok(())
}
