//! Sensitivity of the lab's headline figures to its constants: the same plans and seeds with one constant
//! a tenth higher and a tenth lower.

mod table;

pub use table::{SensitivityRow, built_in, csv, parse};

use crate::constants::LabConstant;
use crate::run::{Refused, RunListener, Simulation};
use crate::simulator::Simulator;
use crate::{SeededCell, seeded_cells};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::plan::{Plan, PlanSet};
use espbench_measure::report::Report;
use espbench_sim::lab::file::Library;
use espbench_sim::lab::scene::Scene;

/// Part by which a constant is moved up and down.
pub const STEP: f64 = 0.1;

/// Standard deviations of the difference of two runs from which on an effect is more than chance.
const TOLD: f64 = 3.0;

/// A headline figure of a suite.
#[derive(Clone, Debug, PartialEq)]
struct HeadlineFigure {
    cell: String,
    metric: String,
    value: f64,
}

/// Effect of a constant on one headline figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantEffect {
    /// Percent by which the figure changes for a percent of the constant: the elasticity.
    pub elasticity: f64,
    /// Name of the suite.
    pub suite: String,
    /// The cell with its metric.
    pub figure: String,
    /// Whether the change is more than that of another seed: beyond three standard deviations.
    pub told: bool,
}

/// A suite with its headline figures as they are.
#[derive(Debug)]
pub struct SuiteBaseline {
    set: PlanSet,
    seed: u64,
    cells: Vec<SeededCell>,
    scenes: Vec<Scene>,
    figures: Vec<HeadlineFigure>,
    /// Standard deviation of each figure's logarithm over seeds; `None` where a seed has no such figure.
    scatter: Vec<Option<f64>>,
}

impl SuiteBaseline {
    /// Runs a suite as it is, with the plan's seed and as many further ones. `None` where the listener
    /// stopped it.
    ///
    /// # Errors
    /// The lab cannot carry the plan out.
    pub fn new(
        plan: Plan,
        library: &Library,
        further: u32,
        listener: &dyn RunListener,
    ) -> Result<Option<Self>, Refused> {
        let set = PlanSet { plans: [plan].into() };
        let seed = set.seed();
        let Some(figures) = figures(&set, library, seed, listener)? else { return Ok(None) };
        let mut logarithms: Vec<Vec<f64>> =
            figures.iter().map(|it| [libm::log(it.value)].into()).collect();
        for other in 1..=u64::from(further) {
            let Some(others) = self::figures(&set, library, seed + other, listener)? else {
                return Ok(None);
            };
            for (own, list) in figures.iter().zip(&mut logarithms) {
                list.extend(value_of(&others, own).map(libm::log));
            }
        }
        let full = 1 + further as usize;
        let scatter = logarithms.iter().map(|it| deviation(it).filter(|_| it.len() == full));
        let scatter = scatter.collect();
        let cells = seeded_cells(&set, seed);
        let scenes = scenes(&cells, library).unwrap_or_default();
        Ok(Some(Self { set, seed, cells, scenes, figures, scatter }))
    }

    fn is_like(&self, scenes: &[Scene]) -> bool {
        let pairs = self.scenes.iter().zip(scenes);
        self.scenes.len() == scenes.len() && pairs.into_iter().all(|(a, b)| a.has_numbers_of(b))
    }

    /// Returns the largest effect of a constant on the suite's figures; `None` where it has none: no room
    /// of the suite has it, or the listener stopped.
    ///
    /// # Errors
    /// The lab cannot carry the plan out with the constant moved.
    pub fn effect(
        &self,
        library: &Library,
        constant: &LabConstant,
        listener: &dyn RunListener,
    ) -> Result<Option<ConstantEffect>, Refused> {
        let Some((up, down)) = moved(library, constant) else { return Ok(None) };
        let mut sides = Vec::new();
        for (library, value) in [up, down] {
            let same = scenes(&self.cells, &library).is_none_or(|it| self.is_like(&it));
            let figures = if same {
                self.figures.clone()
            } else {
                let Some(figures) = figures(&self.set, &library, self.seed, listener)? else {
                    return Ok(None);
                };
                figures
            };
            sides.push((figures, value, same));
        }
        if sides.iter().all(|it| it.2) {
            return Ok(None);
        }
        let constant_log = libm::log(sides[0].1 / sides[1].1);
        let effects = self.figures.iter().zip(&self.scatter).filter_map(|(own, scatter)| {
            let log = |at: usize| value_of(&sides[at].0, own).map(libm::log);
            let change = log(0)? - log(1)?;
            Some(ConstantEffect {
                elasticity: change / constant_log,
                suite: self.set.name(),
                figure: figure_name(own),
                told: scatter.is_some_and(|it| {
                    change.abs() > TOLD * core::f64::consts::SQRT_2 * it && change != 0.0
                }),
            })
        });
        Ok(effects.reduce(worse))
    }
}

/// Returns the effect that is told from chance before one that is not, and then the larger.
#[must_use]
pub fn worse(one: ConstantEffect, other: ConstantEffect) -> ConstantEffect {
    let rank = |it: &ConstantEffect| (it.told, it.elasticity.abs());
    let ((a, b), (c, d)) = (rank(&one), rank(&other));
    if (a, b) >= (c, d) { one } else { other }
}

/// Returns the libraries with a constant moved up and down, with its values; `None` where it has no tenth:
/// it is 0, or no number of a file that can be set.
fn moved(library: &Library, constant: &LabConstant) -> Option<((Library, f64), (Library, f64))> {
    let kind = constant.kind?;
    let value = constant.constant.value.filter(|it| *it != 0.0)?;
    let set = |factor: f64| -> Option<(Library, f64)> {
        let mut library = library.clone();
        let wanted = value * factor;
        let (file, key) = (&constant.file, &constant.constant.key);
        if library.tune(kind, file, key, wanted).is_ok() {
            return Some((library, wanted));
        }
        // Whole numbers move by one at least.
        let away = if factor > 1.0 { libm::ceil(wanted) } else { libm::floor(wanted) };
        let one = if factor > 1.0 { value + 1.0 } else { value - 1.0 };
        [libm::rint(wanted), away, one].into_iter().find_map(|it| {
            let moves = it != value && it != 0.0;
            (moves && library.tune(kind, file, key, it).is_ok()).then(|| (library.clone(), it))
        })
    };
    match (set(1.0 + STEP), set(1.0 - STEP)) {
        (Some(up), Some(down)) => Some((up, down)),
        // At an end of its range it moves the other way alone.
        (Some(up), None) => Some((up, (library.clone(), value))),
        (None, Some(down)) => Some(((library.clone(), value), down)),
        (None, None) => None,
    }
}

/// Returns whether a constant can be moved at all.
#[must_use]
pub fn is_movable(library: &Library, constant: &LabConstant) -> bool {
    moved(library, constant).is_some()
}

fn scenes(cells: &[SeededCell], library: &Library) -> Option<Vec<Scene>> {
    let simulator = Simulator::new(library.clone(), None);
    cells.iter().map(|it| simulator.scene(it).ok()).collect()
}

fn figures(
    set: &PlanSet,
    library: &Library,
    seed: u64,
    listener: &dyn RunListener,
) -> Result<Option<Vec<HeadlineFigure>>, Refused> {
    let simulation = Simulation::new(set.clone(), library.clone(), None, Some(seed))?;
    let mut recorded = Vec::new();
    for cell in simulation.cells() {
        let Some(one) = simulation.carry_out(&cell, listener) else { return Ok(None) };
        recorded.push(one);
    }
    Ok(Some(headlines(&simulation.report(&recorded))))
}

/// Returns the figures that lead a report. A figure of 0 has no elasticity, and is left out.
fn headlines(report: &Report) -> Vec<HeadlineFigure> {
    let mut list = Vec::new();
    for group in &report.glance {
        // Where a kind is divided, a row's place leaves out what its own part shares.
        let of_kind =
            report.glance.iter().filter(|it| it.kind == group.kind && it.name == group.name);
        let part = if of_kind.count() > 1 { group.shared.as_str() } else { "" };
        for row in &group.rows {
            for (metric, value) in group.metrics.iter().zip(&row.values) {
                let Some(value) = value.map(|it| it.value).filter(|it| *it > 0.0) else { continue };
                let words = [group.kind.as_str(), part, row.place.as_str()];
                let cell =
                    words.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
                let metric = format!("{} {}", metric.quantity, metric.statistic);
                list.push(HeadlineFigure { cell, metric: metric.trim().into(), value });
            }
        }
    }
    list
}

fn figure_name(figure: &HeadlineFigure) -> String {
    format!("{}: {}", figure.cell, figure.metric)
}

fn value_of(figures: &[HeadlineFigure], of: &HeadlineFigure) -> Option<f64> {
    let same = |it: &&HeadlineFigure| it.cell == of.cell && it.metric == of.metric;
    figures.iter().find(same).map(|it| it.value)
}

/// Returns the standard deviation of a sample; `None` of fewer than two.
fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|it| (it - mean) * (it - mean)).sum();
    (values.len() > 1).then(|| libm::sqrt(squares / (n - 1.0)))
}

#[cfg(test)]
mod tests;
