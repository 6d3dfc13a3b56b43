//! Repetitions of an ESP-NOW cell as one: the document's figures come from one test each, and the
//! simulated ones are the means of several, with the interval of their scatter.

use super::Losses;
use super::digest::{Digest, Distribution};
use crate::cell::Cell;
use crate::compare;
use crate::place;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_proto::workload::Workload;

const fn is_pooled(workload: &Workload) -> bool {
    matches!(workload, Workload::EspNow(_))
}

/// Puts the repetitions of each cell together, in the place of the first. The digests stand in the
/// order of the plan.
pub(super) fn digests(all: Vec<Digest>) -> Vec<Digest> {
    let mut pooled: Vec<Digest> = Vec::new();
    for same in all.chunk_by(|a, b| a.ordinal == b.ordinal) {
        match same {
            [first, _, ..] if is_pooled(&first.workload) => pooled.push(one(same)),
            _ => pooled.extend_from_slice(same),
        }
    }
    pooled
}

/// One digest of at least one repetition.
fn one(repetitions: &[Digest]) -> Digest {
    let first = &repetitions[0];
    let of_metric = |cell: &Cell| -> Cell {
        let metric = cell.id.metric.as_str();
        let same: Vec<&Cell> = repetitions.iter().filter_map(|d| d.cell(metric)).collect();
        let Some(mut mean) = compare::pool(&same) else { return cell.clone() };
        // None of these quantities can be negative.
        mean.ci_low = mean.ci_low.map(|low| low.max(0.0));
        mean.note = join(cell.note.clone(), mean.note);
        mean
    };
    let few: Vec<f64> = repetitions.iter().flat_map(|d| d.few.iter().copied()).collect();
    let distribution =
        if few.is_empty() { first.distribution.clone() } else { Distribution::new(few) };
    Digest {
        place: alloc::format!("{}, {}", first.workload.kind(), place::settings(&first.workload)),
        cells: first.cells.iter().map(of_metric).collect(),
        few: Vec::new(),
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

/// The same for losses: what became of the probes of all repetitions.
pub(super) fn losses(all: Vec<(Workload, u32, Losses)>) -> Vec<Losses> {
    let mut pooled: Vec<(u32, Losses)> = Vec::new();
    for (workload, ordinal, losses) in all {
        let same = pooled.iter_mut().find(|(other, _)| *other == ordinal);
        match same.filter(|_| is_pooled(&workload)) {
            Some((_, sum)) => {
                sum.place = alloc::format!("{}, {}", workload.kind(), place::settings(&workload));
                sum.add(&losses);
            }
            None => pooled.push((ordinal, losses)),
        }
    }
    pooled.into_iter().map(|(_, losses)| losses).collect()
}
