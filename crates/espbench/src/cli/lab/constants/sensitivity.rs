//! The effect of each constant: all suites with each constant a tenth up and down.

use super::plans::SHORT;
use super::{Args, no_suite};
use crate::cli::progress::ProgressLine;
use crate::cli::{builtin, file, flow, output, pool};
use crate::sys;
use anyhow::{Context as _, bail};
use espbench_engine::RunListener;
use espbench_engine::constants::LabConstant;
use espbench_engine::sensitivity::{
    ConstantEffect, SensitivityRow, SuiteBaseline, csv, is_movable, worse,
};
use espbench_measure::plan::Plan;
use espbench_sim::lab::file::Library;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Further seeds by which an effect is told from chance.
const FURTHER: u32 = 3;

/// Stops a run when the user asks for it.
struct Stop<'a>(&'a AtomicBool);

impl RunListener for Stop<'_> {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns a row for each constant that can be moved, the largest effect first.
///
/// # Errors
/// There is no such suite, the user stopped it, or the file cannot be written.
pub(super) fn run(args: &Args, all: &[LabConstant]) -> anyhow::Result<Vec<SensitivityRow>> {
    let plans = plans(args)?;
    let library = Library::built_in();
    let cancel = flow::on_interrupt()?;
    let threads = sys::threads(args.threads).get();
    let moved: Vec<&LabConstant> = all.iter().filter(|it| is_movable(&library, it)).collect();
    let each = Duration::from_secs(1);
    let pieces = vec![each; plans.len() + moved.len()];
    let mut progress = ProgressLine::guessed(&pieces, args.quiet);
    progress.begin("suites as they are");
    let stop = Stop(&cancel);
    let baseline = |at: usize| SuiteBaseline::new(plans[at].clone(), &library, FURTHER, &stop);
    let suites = pool::each(plans.len(), threads, &cancel, baseline, |_| progress.advance(each));
    let mut found = Vec::new();
    for suite in suites.into_iter().flatten() {
        found.extend(suite?);
    }
    progress.begin("suites with one constant moved");
    let job = |at: usize| effect(&found, &library, moved[at], &stop);
    let effects = pool::each(moved.len(), threads, &cancel, job, |_| progress.advance(each));
    progress.end(None);
    drop(progress);
    if cancel.load(Ordering::Relaxed) {
        bail!("stopped: nothing was written");
    }
    let mut rows = Vec::new();
    for (constant, effect) in moved.iter().zip(effects.into_iter().flatten()) {
        rows.push(SensitivityRow::new(constant, effect?));
    }
    let rank = |it: &SensitivityRow| {
        it.effect.as_ref().map_or((false, 0.0), |it| (it.told, it.elasticity.abs()))
    };
    rows.sort_by(|a, b| {
        let ((told, size), (other_told, other)) = (rank(a), rank(b));
        other_told.cmp(&told).then(other.total_cmp(&size))
    });
    if let Some(path) = &args.output {
        file::replace(path, csv(&rows).as_bytes()).with_context(|| output::cannot_write(path))?;
    }
    Ok(rows)
}

/// Returns the plans of the suites.
fn plans(args: &Args) -> anyhow::Result<Vec<Plan>> {
    let known = |name: &str| SHORT.iter().any(|it| it.0 == name);
    if let Some(other) = args.suite.iter().find(|it| !known(it)) {
        return Err(no_suite(other).into());
    }
    let wanted = SHORT
        .iter()
        .filter(|(name, _)| args.suite.is_empty() || args.suite.iter().any(|it| it == name));
    let plan = |(name, text): &(&str, &str)| match args.all {
        true => builtin::plan(name),
        false => Plan::parse(text).with_context(|| format!("the short plan of {name}")),
    };
    wanted.map(plan).collect()
}

/// Returns the largest effect of a constant on the figures of all suites.
fn effect(
    suites: &[SuiteBaseline],
    library: &Library,
    constant: &LabConstant,
    stop: &Stop<'_>,
) -> anyhow::Result<Option<ConstantEffect>> {
    let mut largest = None;
    for suite in suites {
        let effect = suite.effect(library, constant, stop)?;
        largest = match (largest, effect) {
            (Some(one), Some(other)) => Some(worse(one, other)),
            (one, other) => one.or(other),
        };
    }
    Ok(largest)
}
