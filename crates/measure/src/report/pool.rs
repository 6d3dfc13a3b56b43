//! Repetitions of a cell as one, where a document's figures come from one test each: the means of several,
//! with the interval of their scatter.

use super::OfCell;
use super::digest::{Digest, Distribution};
use crate::cell::Cell;
use crate::compare;
use crate::kind;
use crate::label;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Workload;

fn is_pooled(workload: &Workload) -> bool {
    kind::of(workload).is_pooled()
}

/// Puts the repetitions of each cell together, in the place of the first. The digests stand in the
/// order of the plan.
pub(super) fn digests(all: Vec<Digest>) -> Vec<Digest> {
    let mut pooled: Vec<Digest> = Vec::new();
    for same in all.chunk_by(|a, b| a.ordinal == b.ordinal) {
        match same {
            [first, _, ..] if is_pooled(&first.workload) => {
                pooled.push(one(&same.iter().collect::<Vec<_>>()));
            }
            _ => pooled.extend_from_slice(same),
        }
    }
    pooled
}

/// Pools at least one repetition into one digest.
pub(crate) fn one(repetitions: &[&Digest]) -> Digest {
    let first = repetitions[0];
    if repetitions.len() == 1 {
        return first.clone();
    }
    let kind = kind::of(&first.workload);
    let of_metric = |cell: &Cell| -> Cell {
        let metric = cell.id.metric.as_str();
        let same: Vec<&Cell> = repetitions.iter().filter_map(|d| d.cell(metric)).collect();
        // Where not all have it there is none: the others do not stand for these.
        let lacks = |it: &&Cell| it.value.is_none();
        if let Some(lacking) = same.iter().copied().find(lacks).filter(|_| kind.is_of_all(metric)) {
            return Cell { test: compare::facts_of_all(&same), ..lacking.clone() };
        }
        let Some(mut mean) = compare::pool(&same) else { return cell.clone() };
        mean.note = join(cell.note.clone(), mean.note);
        mean
    };
    let few: Vec<f64> = repetitions.iter().flat_map(|d| d.few.iter().copied()).collect();
    let distribution =
        if few.is_empty() { first.distribution.clone() } else { Distribution::new(few) };
    Digest {
        // They are all repetitions at once.
        repetition: 0,
        repetitions: repetitions.iter().map(|it| it.repetitions).sum(),
        cells: first.cells.iter().map(of_metric).collect(),
        few: Vec::new(),
        usual_line: None,
        distribution,
        ..first.clone()
    }
}

fn join(a: Option<String>, b: Option<String>) -> Option<String> {
    match (a, b) {
        (Some(a), Some(b)) => Some(alloc::format!("{a}; {b}")),
        (a, b) => a.or(b),
    }
}

/// Pools losses: the fates of the probes of all repetitions.
pub(super) fn losses(all: Vec<(Workload, OfCell)>) -> Vec<OfCell> {
    let mut pooled: Vec<OfCell> = Vec::new();
    for (workload, ((ordinal, repetition), losses)) in all {
        let same = pooled.iter_mut().find(|((other, _), _)| *other == ordinal);
        match same.filter(|_| is_pooled(&workload)) {
            Some((cell, sum)) => {
                *cell = (ordinal, 0);
                sum.place = label::of_workload(&workload);
                sum.add(&losses);
            }
            None => pooled.push(((ordinal, repetition), losses)),
        }
    }
    pooled
}
