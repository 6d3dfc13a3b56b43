//! Makes the report of a run, one recorded cell at a time.

use super::digest::{Digest, Material, shorten};
use super::fitted::FittedFigures;
use super::glance::{self, Evidence, PlanPart};
use super::set_of_lab::SetOfLab;
use super::{
    Caveat, CellFailure, Check, Losses, OfCell, Overhead, RepetitionAt, Report, SCHEMA,
    StoppedCell, pool, test_facts,
};
use crate::air::{self, AirChapter};
use crate::bounds;
use crate::cell::{Cell, Identity, TestFacts};
use crate::compare::{Comparison, compare};
use crate::figure::{self, Figure};
use crate::kind;
use crate::label;
use crate::plan::PlanSet;
use crate::predict::battery::Battery;
use crate::run::{Recorded, RunFacts};
use crate::summary::{SummaryContext, summarize};
use crate::table::{self, Table};
use crate::truth::{CellDeviation, Documents, Truth, truth};
use crate::units::conversion;
use crate::warning::{self, Advice, Warning};
use crate::wifi;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::text::count;
use espbench_model::workload::Workload;

/// Target of a run in the labs of its tests.
const USUAL_LAB: &str = "sim";

/// Takes the recorded cells of a run one after the other, so that only one cell's samples need to
/// be in memory, and makes the report of them.
#[derive(Debug)]
pub struct Builder {
    facts: RunFacts,
    /// Which positions are of which plan.
    plans: Vec<PlanPart>,
    digests: Vec<Digest>,
    losses: Vec<(Workload, OfCell)>,
    air: AirChapter,
    warnings: Vec<((u32, u32), Vec<Warning>)>,
    failures: Vec<((u32, u32), CellFailure)>,
    caveats: Vec<((u32, u32), Caveat)>,
    pulses: Vec<Pulses>,
    stopped: Vec<((u32, u32), StoppedCell)>,
    /// Theoretical limits of published cells.
    published: Vec<(Identity, f64)>,
    /// Figures that the lab was fitted to.
    fitted: FittedFigures,
    /// Values that cells set of the lab that somebody has named, in words.
    overridden: SetOfLab,
}

/// Largest current of a cell's device, for the caveat that its battery cannot give it.
#[derive(Debug)]
struct Pulses {
    cell: (u32, u32),
    peak_ma: f64,
    /// The caveat, still without its text.
    caveat: Caveat,
}

/// Returns the position of a cell in the order of work: repetition after repetition.
const fn of_work((ordinal, repetition): (u32, u32)) -> (u32, u32) {
    (repetition, ordinal)
}

impl Builder {
    /// Creates a builder for the run of these facts.
    #[must_use]
    pub fn new(facts: &RunFacts) -> Self {
        Self {
            facts: facts.clone(),
            plans: plan_parts(&facts.plan_text),
            digests: Vec::new(),
            losses: Vec::new(),
            air: AirChapter::default(),
            warnings: Vec::new(),
            failures: Vec::new(),
            caveats: Vec::new(),
            pulses: Vec::new(),
            stopped: Vec::new(),
            published: Vec::new(),
            fitted: FittedFigures::of(facts),
            overridden: SetOfLab::default(),
        }
    }

    /// Adds a recorded cell, with the work as it was carried out. Its samples are not needed afterwards.
    pub fn add(&mut self, mut recorded: Recorded) {
        recorded.workload = recorded.placed();
        self.add_placed(&recorded);
    }

    fn add_placed(&mut self, recorded: &Recorded) {
        // Where no lab is named there is none that the plan would differ from.
        if self.facts.target != USUAL_LAB {
            self.overridden.add((recorded.ordinal, recorded.repetition), &recorded.facts);
        }
        let context = SummaryContext {
            site: &self.facts.site,
            origin: self.facts.origin,
            seed: self.facts.seed,
        };
        let mut cells = summarize(recorded, &context);
        let plan = self.plans.iter().find(|it| it.cells.contains(&recorded.ordinal));
        if let Some(plan) = plan {
            wifi::own_table(recorded, &plan.name, &mut cells);
            wifi::power::lasts(&plan.battery, &mut cells);
            if let Some(peak_ma) = wifi::power::peak_ma(recorded) {
                let cell = (recorded.ordinal, recorded.repetition);
                let caveat = Caveat::of(recorded, String::new());
                self.pulses.push(Pulses { cell, peak_ma, caveat });
            }
        }
        let kind = kind::of(&recorded.workload);
        let limits = kind.limits(recorded);
        cells.extend(kind.without_network(&cells, &recorded.facts));
        for cell in &mut cells {
            if let Some(limit) = limits.iter().find(|it| it.metric == cell.id.metric) {
                // What a console cut may lie below the limit: the exact figure has it.
                cell.limit = kind.exact(&cell.id.metric).is_none().then_some(limit.ours);
                self.published.push((cell.id.clone(), limit.published));
            }
            cell.source = Some(self.facts.name.clone());
            let suite = plan.map(|it| it.name.as_str());
            let (trial, distances_m) = (cell.test.trial, cell.test.distances_m);
            let fitted = self.fitted.run(&recorded.workload, &cell.id.metric);
            cell.test = TestFacts {
                trial,
                distances_m,
                fitted_run: fitted.map(Into::into),
                ..test_facts::of(recorded, &self.facts, suite)
            };
            known(cell);
        }
        let cell = (recorded.ordinal, recorded.repetition);
        let mut warnings = warning::advise(recorded);
        let goal = plan.and_then(|it| it.goal);
        warnings.retain(|it| !it.advice.is_idle(goal, self.facts.origin));
        self.warnings.push((cell, warnings));
        let losses = Losses::of(recorded);
        self.air.add(recorded, &losses);
        self.losses.push((recorded.workload, (cell, losses)));
        let digest = Digest::new(recorded, cells);
        let silent = digest.stations.silent().filter(|_| recorded.error.is_none());
        let caveats = kind.caveats(recorded).into_iter().chain(silent);
        self.caveats.extend(caveats.map(|text| (cell, Caveat::of(recorded, text))));
        if let Some(error) = &recorded.error {
            let place = label::of(recorded);
            let at = Some(RepetitionAt::of(recorded));
            self.failures.push((cell, CellFailure { place, error: error.clone(), at }));
        }
        self.stopped.extend(StoppedCell::of(recorded).map(|it| (cell, it)));
        self.digests.push(digest);
    }

    /// Says of which cells the battery cannot give the pulses: in one sentence for a plan, with its largest.
    fn weak_batteries(&mut self) {
        for plan in &self.plans {
            let is_weak = |it: &Pulses| plan.battery.warning(it.peak_ma);
            let weak = self.pulses.iter().filter(|it| plan.cells.contains(&it.cell.0));
            let weak: Vec<&Pulses> = weak.filter(|it| is_weak(it).is_some()).collect();
            let most = weak.iter().max_by(|a, b| a.peak_ma.total_cmp(&b.peak_ma));
            let Some(text) = most.and_then(|it| is_weak(it)) else { continue };
            let told =
                |it: &&Pulses| (it.cell, Caveat { text: format!("{text}."), ..it.caveat.clone() });
            self.caveats.extend(weak.iter().map(told));
        }
    }

    /// Returns the report: a pure function of what was added, of the published cells and of the
    /// calibration. `planned` is the number of cells (with repetitions) that the plan has.
    #[must_use]
    pub fn finish(
        mut self,
        overhead: Option<Overhead>,
        planned: usize,
        published: &[Cell],
    ) -> Report {
        self.digests.sort_by_key(|d| (d.ordinal, d.repetition));
        self.losses.sort_by_key(|(_, (cell, _))| of_work(*cell));
        self.warnings.sort_by_key(|(cell, _)| of_work(*cell));
        self.failures.sort_by_key(|(cell, _)| of_work(*cell));
        self.weak_batteries();
        self.caveats.sort_by_key(|(cell, _)| of_work(*cell));
        self.stopped.sort_by_key(|(cell, _)| of_work(*cell));
        let cut: BTreeSet<(u32, u32)> = self.stopped.iter().map(|it| it.0).collect();
        let stopped: Vec<StoppedCell> = self.stopped.into_iter().map(|it| it.1).collect();
        let mut warnings: Vec<Warning> = self.warnings.into_iter().flat_map(|it| it.1).collect();
        let failed: BTreeSet<(u32, u32)> = self.failures.iter().map(|it| it.0).collect();
        let failures = self.failures.into_iter().map(|it| it.1).collect();
        // Where a sentence says already why, or that the cell was stopped, it has no figure without a further word.
        let explained: BTreeSet<(u32, u32)> = self.caveats.iter().map(|it| it.0).collect();
        let is_explained = |it: &Digest| {
            let cell = (it.ordinal, it.repetition);
            failed.contains(&cell) || explained.contains(&cell) || cut.contains(&cell)
        };
        let mut caveats: Vec<Caveat> = self.caveats.into_iter().map(|it| it.1).collect();
        caveats.extend(self.digests.iter().filter(|it| !is_explained(it)).filter_map(empty));
        caveats.extend(partly_served(&self.digests));
        let done = self.digests.len() - stopped.len();
        self.digests = pool::digests(self.digests);
        let losses = pool::losses(self.losses);
        test_facts::add_losses(&mut self.digests, &losses);
        shorten(&mut self.digests, &mut warnings);
        let mut ours: Vec<Cell> = self.digests.iter().flat_map(|d| d.cells.clone()).collect();
        let over_cells: Vec<Cell> = kind::all().flat_map(|it| it.over_cells(&ours)).collect();
        ours.extend(over_cells);
        let over_tests = wifi::heap::over_tests(ours.iter());
        ours.extend(over_tests);
        test_facts::add_run(&mut ours, &self.facts);
        // No document is of a room of the user's.
        let published = if self.facts.own_lab { &[] } else { published };
        let published = &limited(published, &self.published);
        let comparisons = compare(&ours, published);
        let truth_of = |documents| truth(&ours, published, documents);
        let (truth, truth_wifi) = (truth_of(Documents::EspNow), truth_of(Documents::Wifi));
        let truths: Vec<&Truth> = truth.iter().chain(&truth_wifi).collect();
        warnings.retain(|it| !is_of_document(it, &truths));
        let evidence = Evidence { truths: &truths, comparisons: &comparisons };
        let step_ns = overhead.map(|it| it.clock_step_ns);
        let checks = Checks::of(&self.facts.plan_text, &self.digests);
        let look =
            glance::first_look(&self.plans, &self.digests, evidence, step_ns, &checks.failed);
        warnings.extend(look.advice.into_iter().chain(checks.advice));
        let material = Material { origin: self.facts.origin, digests: &self.digests, published };
        let (occupancy, timelines) = self.air.finish();
        let mut tables = tables(&material, &comparisons);
        let mut figures = figures(&material, &losses);
        tables.extend(air::occupancy::table(&occupancy, material.origin));
        figures.extend(air::occupancy::figures(&occupancy, &timelines, material.origin));
        let missing = planned.saturating_sub(done);
        test_facts::add_published(&mut ours, &comparisons);
        Report {
            prediction: None,
            tuning: None,
            overridden: self.overridden.words(),
            schema: SCHEMA.into(),
            run: self.facts,
            incomplete: missing > 0,
            missing,
            stopped,
            glance: look.groups,
            cells: ours,
            comparisons,
            tables,
            figures,
            losses: losses.into_iter().map(|(_, losses)| losses).collect(),
            occupancy,
            timelines,
            warnings,
            checks: checks.all,
            failures,
            caveats,
            overhead,
            lab_truth: Vec::new(),
            truth,
            truth_wifi,
            beside: None,
            stored: None,
        }
    }
}

/// Returns whether advice asks the lab for another rate than a document's: what the devices kept of it is the figure that
/// stands beside the document's.
fn is_of_document(warning: &Warning, truths: &[&Truth]) -> bool {
    let Advice::SenderBehind { unit, .. } = &warning.advice else { return false };
    let is_beside = |it: &CellDeviation| {
        it.number == Some(warning.cell) && conversion(&it.unit, unit).is_some()
    };
    truths.iter().flat_map(|it| &it.rows).any(is_beside)
}

/// Says that jobs for all devices served a part of them, of which there is no time for all: in one sentence, of the cell
/// in which most repetitions did.
fn partly_served(digests: &[Digest]) -> Option<Caveat> {
    let part = |digest: &Digest| {
        let cell = digest.cell("devices_served")?;
        let (served, all) = (cell.value?, cell.n? as f64);
        (served < all).then_some((served, all))
    };
    let of_cell = |same: &'_ [Digest]| {
        let parts: Vec<(f64, f64)> = same.iter().filter_map(part).collect();
        let least = parts.iter().map(|it| it.0).reduce(f64::min)?;
        let most = parts.iter().map(|it| it.0).reduce(f64::max)?;
        let served = if least < most { format!("{least} to {most}") } else { format!("{least}") };
        let often = match same.len() {
            1 => String::new(),
            all => format!(" in {} of {all} repetitions", parts.len()),
        };
        let text = format!("Served {served} of {} devices{often}", parts[0].1);
        let place = label::place(same[0].workload.kind(), &same[0].settings, 0);
        Some((parts.len(), place, text))
    };
    let mut cells: Vec<(usize, String, String)> =
        digests.chunk_by(|a, b| a.ordinal == b.ordinal).filter_map(of_cell).collect();
    cells.sort_by_key(|it| core::cmp::Reverse(it.0));
    let more = match cells.len() {
        0 | 1 => String::new(),
        n => format!(", and a part in {}", count(n - 1, "more cell")),
    };
    let (_, place, text) = cells.into_iter().next()?;
    Some(Caveat {
        place,
        text: format!("{text}{more}: the time until all are served is not known."),
        at: None,
    })
}

/// Says that a cell that did not fail has no figure.
fn empty(digest: &Digest) -> Option<Caveat> {
    let is_empty = !digest.cells.iter().any(|it| it.value.is_some());
    let text = "No figure came of this cell.".into();
    let at = Some(RepetitionAt { cell: digest.ordinal, repetition: digest.repetition });
    is_empty.then(|| Caveat { place: digest.place(), text, at })
}

/// Returns the plans of a text, with the positions of their cells. A plan that cannot be read (by a
/// later version) has none.
fn plan_parts(text: &str) -> Vec<PlanPart> {
    let Ok(set) = PlanSet::parse(text) else { return Vec::new() };
    let mut first = 0;
    let mut parts = Vec::new();
    for plan in &set.plans {
        let next = first + u32::try_from(plan.workloads.len()).unwrap_or(u32::MAX - first);
        let battery = plan.battery.clone().unwrap_or_else(Battery::usual);
        let name = plan.name.clone();
        parts.push(PlanPart { cells: first..next, name, goal: plan.goal, battery });
        first = next;
    }
    parts
}

/// Makes the report of a run whose cells are all at hand.
#[must_use]
pub fn report(
    facts: &RunFacts,
    overhead: Option<Overhead>,
    recorded: &[Recorded],
    planned: usize,
    published: &[Cell],
) -> Report {
    let mut builder = Builder::new(facts);
    recorded.iter().for_each(|r| builder.add(r.clone()));
    builder.finish(overhead, planned, published)
}

/// Returns the published cells with the limits that are known of the very same cells.
fn limited<'a>(published: &'a [Cell], limits: &[(Identity, f64)]) -> Cow<'a, [Cell]> {
    let limit = |cell: &Cell| limits.iter().find(|(id, _)| *id == cell.id).map(|it| it.1);
    let limits: Vec<_> = published.iter().map(limit).collect();
    let mut published = Cow::Borrowed(published);
    for (at, limit) in limits.into_iter().enumerate() {
        if published[at].limit != limit {
            published.to_mut()[at].limit = limit;
        }
    }
    published
}

/// Makes values unknown that are not numbers, since JSON has no word for them, and measured values
/// without an observation. Limits intervals to what the quantities can be.
pub(crate) fn known(cell: &mut Cell) {
    if cell.n == Some(0) && cell.origin.is_real_time() {
        (cell.value, cell.ci_low, cell.ci_high) = (None, None, None);
    }
    bounds::limit(cell, cell.n);
    for value in [&mut cell.value, &mut cell.ci_low, &mut cell.ci_high] {
        *value = value.filter(|v| v.is_finite());
    }
}

/// Outcomes of the plan's thresholds.
#[derive(Default)]
struct Checks {
    all: Vec<Check>,
    /// Positions of cells with a figure that broke one.
    failed: BTreeSet<u32>,
    /// Advice on figures that have too few samples for their limits.
    advice: Vec<Warning>,
}

impl Checks {
    /// Holds the thresholds of a plan against its cells. A plan that cannot be read (by a later version) has
    /// none.
    fn of(plan_text: &str, digests: &[Digest]) -> Self {
        let Ok(plans) = PlanSet::parse(plan_text) else { return Self::default() };
        let mut found = Self::default();
        for (cells, threshold) in plans.thresholds() {
            let its = || digests.iter().filter(|d| cells.contains(&d.ordinal));
            found.all.extend(threshold.check(its().map(|d| (d.place(), d.cells.as_slice()))));
            for digest in its() {
                let limited = || threshold.limited(&digest.cells);
                if limited().any(|cell| !threshold.holds(cell)) {
                    found.failed.insert(digest.ordinal);
                }
                let few = limited().filter_map(|it| warning::few_samples(&it.id.metric, it));
                found.advice.extend(few.map(|advice| Warning {
                    place: digest.place(),
                    cell: digest.ordinal + 1,
                    workload: digest.workload.kind().into(),
                    advice,
                }));
            }
        }
        found
    }
}

fn tables(material: &Material<'_>, comparisons: &[Comparison]) -> Vec<Table> {
    let mut tables = Vec::new();
    tables.extend(table::overview::table(material));
    tables.extend(kind::all().filter_map(|it| it.first_table(material)));
    tables.extend(kind::over_ip().flat_map(|it| it.tables(material)));
    tables.extend(table::stations::tables(material));
    tables.extend(table::power::table(material));
    tables.extend(table::heap::tables(material));
    tables.extend(kind::others().flat_map(|it| it.tables(material)));
    tables.extend(table::findings::table(material));
    tables.extend(kind::all().flat_map(|it| it.findings(material)));
    tables.extend(table::compared::table(material, comparisons));
    tables
}

fn figures(material: &Material<'_>, losses: &[OfCell]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = kind::over_ip().flat_map(|it| it.figures(material)).collect();
    figures.extend(figure::power::figures(material));
    figures.extend(kind::others().flat_map(|it| it.figures(material)));
    figures.extend(figure::losses::figures(material, losses));
    for point in figures.iter_mut().flat_map(|f| &mut f.series).flat_map(|s| &mut s.points) {
        *point = point.rounded();
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use espbench_stats::Estimate;
    use espbench_stats::interval::mean_t;

    fn of(estimate: Estimate, unit: &str) -> Cell {
        let mut cell = Cell::of(estimate, Identity::default(), unit, Origin::Measured);
        known(&mut cell);
        cell
    }

    #[test]
    fn no_bound_of_a_rate_or_a_time_is_below_zero() {
        let wide = mean_t(&[1.0, 1.0, 40.0]);
        assert!(wide.low.unwrap() < 0.0);
        for unit in ["ms", "Mbit/s", "messages/s"] {
            let cell = of(wide, unit);
            assert_eq!((cell.ci_low, cell.ci_high), (Some(0.0), wide.high), "{unit}");
        }
        assert_eq!(of(wide, "dBm").ci_low, wide.low, "a level may be negative");
        let below = of(wide.scaled(-1.0), "ms");
        assert!(below.ci_low.unwrap() < below.value.unwrap(), "a difference of times");
    }

    #[test]
    fn what_has_no_observation_is_unknown() {
        let none = of(Estimate::exact(0.0, 0), "probes");
        assert_eq!((none.value, none.n), (None, Some(0)));
    }
}
