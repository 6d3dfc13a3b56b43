//! A plan, a lab and a seed to a report: the virtual lab of espbench as functions.
//!
//! | module | contents |
//! |---|---|
//! | [`beside`] | what of a measured run is simulated, to stand beside it |
//! | [`boards`] | one cell, carried out on real boards over whatever carries bytes |
//! | [`cells`] | the cells of a plan, each with its seeds |
//! | [`simulator`] | one cell, carried out in a lab |
//! | [`mod@run`] | all cells of a plan to a report, in memory |
//! | [`report`] | recorded cells to a report, with published figures beside them |
//! | [`published`] | the published figures |
//! | [`constants`] | all constants of the lab, each with its origin |
//! | [`sensitivity`] | what figures change by with a constant |
//! | [`traces`] | traces of links from captures, console logs and tables |
//! | [`measured`] | what others measured on chips, beside what the lab says |
//! | [`truth`] | errors of the lab over ten seeds |
//! | [`predict`] | what if: questions to a lab of many senders, and their answers |
//! | [`proof`] | a cause of trouble and its remedy, before and after in the lab |
//! | [`tune`] | which settings a firmware should have: candidates are tried in the lab |
//! | [`mod@fit`] | constants of profile and environment from a measured run |
//!
//! No I/O, no clock, no threads: the same input gives the same report to the byte, in a command, in a
//! page in a browser, or on any machine of a sweep. The host decides where cells are carried out and
//! where their samples go; how a plan becomes cells, which seed a cell has and what is done in
//! the lab is known here alone.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod beside;
pub mod boards;
pub mod cells;
pub mod constants;
pub mod fit;
pub mod measured;
pub mod predict;
pub mod proof;
pub mod published;
pub mod report;
pub mod run;
pub mod sensitivity;
pub mod simulator;
pub mod traces;
pub mod truth;
pub mod tune;

pub use cells::{SeededCell, seeded_cells};
pub use report::ReportBuilder;
pub use run::{Refused, RunListener, Simulation, run};
pub use simulator::{CellError, Simulator};

/// The tool and its version, as runs and captures keep them.
pub const TOOL: &str = concat!("espbench ", env!("CARGO_PKG_VERSION"));

/// The examples of the crate's README, which are tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
