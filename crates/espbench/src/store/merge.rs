//! Stores that are put together: shards of runs in the virtual lab become whole runs.
//!
//! A cell of such a run is a pure function of tool, library, plan, target, seed and place in the plan. So runs
//! of equal facts are one run, the union of their cells is its cells, and a cell that two stores have must be
//! equal in both.

use super::{CellStatus, Recorder, Store, StoreError, StoredCell, StoredRun};
use crate::user_error::{ForUser as _, UserError};
use espbench_measure::cell::Origin;
use espbench_measure::label;
use espbench_measure::plan::PlanSet;
use espbench_measure::run::{Recorded, RunFacts};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run that was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedRun {
    /// Name of the run in the new store.
    pub name: String,
    /// Runs that it was made of.
    pub parts: usize,
    /// Cells planned.
    pub planned: usize,
    /// Cells measured.
    pub done: usize,
    /// Cells that failed wherever they were tried.
    pub failed: usize,
}

/// A run in one of the stores.
struct Part<'a> {
    store: &'a Store,
    run: StoredRun,
}

/// Parts of one run.
struct Union<'a>(Vec<Part<'a>>);

/// Puts all runs of the stores into another store, which has none of them. `cancel` stops it: then what
/// is in the new store is not whole.
///
/// # Errors
/// A run is measured, of another tool or library than its like; two parts differ in a cell; a store's.
pub fn merge(
    stores: &[Store],
    into: &mut Store,
    cancel: &Arc<AtomicBool>,
) -> Result<Vec<MergedRun>, UserError> {
    let mut unions: Vec<Union<'_>> = Vec::new();
    for store in stores {
        for listed in told(store.list())? {
            let part = Part { store, run: told(store.run(&listed.name))? };
            part.check()?;
            match unions.iter_mut().find(|it| it.is_of(&part.run.facts)) {
                Some(union) => union.add(part)?,
                None => unions.push(Union(vec![part])),
            }
        }
    }
    unions.iter().map(|it| it.write(into, cancel)).collect()
}

fn told<T>(result: Result<T, StoreError>) -> Result<T, UserError> {
    result.map_err(|error| UserError::from(&error))
}

impl Part<'_> {
    /// Returns the run with its store, in words.
    fn words(&self) -> String {
        format!("{} of {}", self.run.facts.name, self.store.path().display())
    }

    fn check(&self) -> Result<(), UserError> {
        let facts = &self.run.facts;
        if facts.origin != Origin::Simulated || facts.beside.is_some() {
            return Err(UserError::new(format!("{} is not of shards", self.words()))
                .because(
                    "only what the virtual lab alone gives is the same wherever it is carried out",
                )
                .remedy("leave that store out, or remove the run: espbench runs --remove RUN"));
        }
        if facts.library.is_none() {
            return Err(UserError::new(format!("{} does not say which labs it had", self.words()))
                .because("an older espbench made it")
                .remedy("carry it out again"));
        }
        Ok(())
    }

    /// Returns what was recorded of the cell at a position, and how it ended; `None` while it is open.
    fn recorded(&self, position: usize) -> Result<Option<(CellStatus, Recorded)>, UserError> {
        let cell = self.run.cells.get(position).filter(|it| it.status != CellStatus::Stopped);
        let Some(cell) = cell else { return Ok(None) };
        Ok(told(self.store.recorded(cell))?.map(|it| (cell.status, it)))
    }
}

impl<'a> Union<'a> {
    fn first(&self) -> Option<&Part<'a>> {
        self.0.first()
    }

    /// Returns whether a run is of the same work. Whoever made it, and of which labs, is not asked.
    fn is_of(&self, facts: &RunFacts) -> bool {
        self.first().is_some_and(|Part { run: StoredRun { facts: own, .. }, .. }| {
            (&own.plan_text, &own.target, own.seed) == (&facts.plan_text, &facts.target, facts.seed)
        })
    }

    /// Adds a part, if tool and library agree.
    fn add(&mut self, part: Part<'a>) -> Result<(), UserError> {
        let Some(first) = self.first() else { return Ok(()) };
        let refused = |why: String, remedy: &str| {
            let what = format!("{} and {} are not of one run", first.words(), part.words());
            Err(UserError::new(what).because(why).remedy(remedy))
        };
        let (ours, other) = (&first.run.facts, &part.run.facts);
        if ours.tool != other.tool {
            let why = format!("{} made the one, {} the other", ours.tool, other.tool);
            return refused(why, "carry all shards out with one version");
        }
        if ours.library != other.library {
            let why =
                format!("{} was not the same: labs, profiles or environments differ", ours.target);
            return refused(why, "carry all shards out with the same files");
        }
        self.0.push(part);
        Ok(())
    }

    /// Returns the facts of the whole: those of each part, from the start of the first.
    fn facts(&self) -> Option<RunFacts> {
        let started = self.0.iter().map(|it| it.run.facts.started.clone()).min()?;
        Some(RunFacts { started, ..self.first()?.run.facts.clone() })
    }

    fn write(&self, into: &mut Store, cancel: &Arc<AtomicBool>) -> Result<MergedRun, UserError> {
        let facts = self.facts().unwrap_or_default();
        let what = || format!("the plan of {} cannot be read", facts.name);
        let set = PlanSet::parse(&facts.plan_text).for_user(what, "")?;
        let run = told(into.begin(facts, None, &set))?;
        let name = run.facts.name.clone();
        let recorder = told(Recorder::new(into, Arc::clone(cancel)))?;
        let (mut done, mut failed) = (0, 0);
        for cell in &run.cells {
            let Some((status, recorded)) = self.cell(cell)? else { continue };
            match status {
                CellStatus::Done => done += 1,
                _ => failed += 1,
            }
            let stopped = || UserError::new("stopped").because("nothing was written");
            told(recorder.again(&run, cell, &recorded))?;
            if cancel.load(Ordering::Relaxed) {
                return Err(stopped());
            }
        }
        Ok(MergedRun { name, parts: self.0.len(), planned: run.cells.len(), done, failed })
    }

    /// Returns what was recorded of a cell, which is equal in all parts that have measured it.
    fn cell(&self, cell: &StoredCell) -> Result<Option<(CellStatus, Recorded)>, UserError> {
        let mut found: Option<(&Part<'a>, CellStatus, Recorded)> = None;
        for part in &self.0 {
            let Some((status, recorded)) = part.recorded(cell.position)? else { continue };
            match &found {
                Some((other, CellStatus::Done, first)) if status == CellStatus::Done => {
                    if *first != recorded {
                        return Err(conflict(cell, other, part));
                    }
                }
                // A cell may have failed where there was no memory for it, say.
                Some((_, first, _)) if *first == CellStatus::Done || status != CellStatus::Done => {
                }
                _ => found = Some((part, status, recorded)),
            }
        }
        Ok(found.map(|(_, status, recorded)| (status, recorded)))
    }
}

/// Returns the error of a cell that has two results.
fn conflict(cell: &StoredCell, one: &Part<'_>, other: &Part<'_>) -> UserError {
    let (number, what) = (cell.position + 1, label::of_workload(&cell.step.workload));
    let (one, other) = (one.words(), other.words());
    UserError::new(format!("cell {number} ({what}) differs: {one}, {other}"))
        .because(
            "one seed gives one result, so a store was changed, or another build has this version",
        )
        .remedy("carry the cell out again with one build, and leave the wrong store out")
}

/// Opens stores to read of them, each once.
///
/// # Errors
/// As [`Store::read`]; there is no such file.
pub fn open(paths: &[impl AsRef<Path>]) -> Result<Vec<Store>, UserError> {
    let open = |path: &Path| {
        if !path.exists() {
            let what = format!("there is no store {}", path.display());
            return Err(UserError::new(what).remedy("name the stores that the shards wrote"));
        }
        told(Store::read(path))
    };
    paths.iter().map(|path| open(path.as_ref())).collect()
}
