//! Plans in the virtual lab, in memory: nothing is stored.

use crate::attend::attended;
use crate::error;
use crate::report::PyReport;
use espbench::cli::{builtin, flow, pool};
use espbench::embed::{HostProgram, WorkDone};
use espbench::{labs, sys};
use espbench_engine::run::{FAILURES_IN_A_ROW, RunListener, Simulation};
use espbench_measure::plan::{Plan, PlanSet};
use espbench_measure::run::Recorded;
use espbench_sim::lab::file::{FileKind, Library, is_path};
use espbench_sim::lab::suite;
use pyo3::prelude::*;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Name of a lab whose text is given.
const OWN: &str = "own.toml";

/// The labs that come with espbench: reading them takes longer than a small room.
static LIBRARY: LazyLock<Library> = LazyLock::new(Library::built_in);

/// Stops a cell on a flag.
struct StopListener<'a>(&'a AtomicBool);

impl RunListener for StopListener<'_> {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Names and titles of the built-in plans.
#[pyfunction]
pub(crate) fn plans(py: Python<'_>) -> PyResult<Vec<(String, String)>> {
    let all = builtin::all().map(|(name, _)| {
        let plan = builtin::plan(name)?;
        Ok((name.to_owned(), plan.title.unwrap_or_default()))
    });
    all.collect::<anyhow::Result<_>>().map_err(|wrong| error::any(py, &wrong))
}

/// Returns the built-in plan that does in the lab what the plan of that name does with real devices.
#[pyfunction]
pub(crate) fn of_lab(name: &str) -> &str {
    builtin::of_lab(name)
}

/// Reads plans, each of which is a text, or the name of a built-in plan or of a file.
fn read(plans: &[(String, bool)]) -> anyhow::Result<PlanSet> {
    let plan = |(plan, is_text): &(String, bool)| {
        if *is_text { Ok(Plan::parse(plan)?) } else { builtin::plan(plan) }
    };
    flow::set_of(plans.iter().map(plan).collect::<anyhow::Result<_>>()?)
}

/// Tells whether all of these plans are carried out in the lab where no target is named.
#[pyfunction]
pub(crate) fn are_for_lab(py: Python<'_>, plans: Vec<(String, bool)>) -> PyResult<bool> {
    let set = py.detach(|| read(&plans)).map_err(|wrong| error::any(py, &wrong))?;
    Ok(set.plans.iter().flat_map(|it| &it.workloads).all(suite::is_for_lab))
}

/// Returns a library with the lab, which is a text, a file, or the name of a built-in one.
fn library(lab: Option<&(String, bool)>) -> anyhow::Result<(Library, Option<&str>)> {
    Ok(match lab {
        None => (LIBRARY.clone(), None),
        Some((text, true)) => {
            let mut library = LIBRARY.clone();
            library.add(FileKind::Lab, OWN, text)?;
            (library, Some(OWN))
        }
        Some((name, false)) if is_path(name) => (labs::library(FileKind::Lab, name)?, Some(name)),
        Some((name, false)) => {
            LIBRARY.knows(FileKind::Lab, name)?;
            (LIBRARY.clone(), Some(name))
        }
    })
}

/// Where a run is to be carried out, and how.
type Asked<'a> = (&'a [(String, bool)], Option<&'a (String, bool)>, Option<u64>);

fn simulation((plans, lab, seed): Asked<'_>, started: &str) -> anyhow::Result<Simulation> {
    let set = read(plans)?;
    let (library, lab) = library(lab)?;
    let simulation = Simulation::new(set, library, lab, seed)?;
    let name = simulation.facts().name.clone();
    Ok(simulation.named(&name, started))
}

/// Carries plans out in the virtual lab, on so many threads, which do not change the result. `progress` is called
/// with the cells done, all, and both in words.
#[pyfunction]
#[pyo3(signature = (plans, lab, seed, started, threads, progress))]
pub(crate) fn simulate(
    py: Python<'_>,
    plans: Vec<(String, bool)>,
    lab: Option<(String, bool)>,
    seed: Option<u64>,
    started: &str,
    threads: Option<u16>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyReport> {
    let asked = (&*plans, lab.as_ref(), seed);
    let made = py.detach(|| simulation(asked, started));
    let simulation = made.map_err(|wrong| error::any(py, &wrong))?;
    let host = HostProgram::default();
    let cells = simulation.cells();
    let (count, done) = (cells.len(), AtomicUsize::new(0));
    let look = |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        let now = WorkDone::pieces(done.load(Ordering::Relaxed) as u64, count as u64);
        progress.call1(py, (now.done, now.total, now.to_string())).map(drop)
    };
    let job = || {
        let threads = sys::threads(threads).get();
        let one = |at: usize| simulation.carry_out(&cells[at], &StopListener(&host.cancel));
        let ended = |_| {
            done.fetch_add(1, Ordering::Relaxed);
        };
        let recorded = pool::each(count, threads, &host.cancel, one, ended);
        let recorded = until_given_up(recorded.into_iter().flatten().flatten());
        (simulation.report(&recorded), recorded)
    };
    let (report, recorded) = attended(py, &host, look, job)?;
    Ok(PyReport::kept(report, recorded))
}

/// Returns the cells up to those after which a run is given up, as the command does.
fn until_given_up(cells: impl Iterator<Item = Recorded>) -> Vec<Recorded> {
    let (mut kept, mut failures) = (Vec::new(), 0);
    for cell in cells {
        failures = if cell.error.is_some() { failures + 1 } else { 0 };
        kept.push(cell);
        if failures >= FAILURES_IN_A_ROW {
            break;
        }
    }
    kept
}
