//! Reports with their cells and samples.

use crate::error;
use crate::table::PyTable;
use espbench::batches::{self, SampleBatches};
use espbench::cli::common::Format;
use espbench::cli::output;
use espbench::render;
use espbench::render::glance::Screen;
use espbench::store::Store;
use espbench_doctor::finding::Diagnosis;
use espbench_doctor::stored::RunLosses;
use espbench_measure::columns::{SampleTable, TestRow};
use espbench_measure::compare::{KeptFigure, Tolerance, baseline, to_keep};
use espbench_measure::label;
use espbench_measure::metric;
use espbench_measure::report::Report;
use espbench_measure::run::Recorded;
use espbench_measure::warning::Warning;
use espbench_stats::Estimate;
use espbench_stats::interval;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Where the raw samples of a report are.
enum RawSamples {
    /// In memory.
    Kept(Vec<Recorded>),
    /// In a store: its file, and the run's name.
    Stored(PathBuf, String),
    /// Nowhere: the report was read from a file.
    Gone,
}

/// A report, with its raw samples where there are some.
#[pyclass(frozen, name = "Report", module = "espbench._espbench")]
pub(crate) struct PyReport {
    report: Report,
    raw: RawSamples,
}

/// Reads the report of a stored run.
#[pyfunction]
pub(crate) fn read_store(py: Python<'_>, path: PathBuf, run: &str) -> PyResult<PyReport> {
    let read = || {
        let store = Store::read(&path)?;
        let report = output::report(&store, run)?;
        let name = report.run.name.clone();
        Ok(PyReport { report, raw: RawSamples::Stored(path.clone(), name) })
    };
    py.detach(read).map_err(|wrong| error::any(py, &wrong))
}

/// Lists the runs of a store: name, start, target, cells planned, done and failed.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "Python makes a class of it")]
pub(crate) fn runs(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<Vec<(String, String, String, u64, u64, u64)>> {
    let listed = py.detach(|| Ok(Store::read(&path)?.list()?));
    let listed = listed.map_err(|wrong: anyhow::Error| error::any(py, &wrong))?;
    let row = |it: espbench::store::Listed| {
        (it.name, it.facts.started, it.facts.target, it.planned, it.done, it.failed)
    };
    Ok(listed.into_iter().map(row).collect())
}

/// Lists all metrics: name, unit, which direction is better (`lower`, `higher` or `neither`), whether values are shares.
#[pyfunction]
pub(crate) fn metrics() -> Vec<(String, &'static str, &'static str, bool)> {
    let row = |it: metric::MetricFacts| (it.name, it.unit, it.better.name(), it.is_share);
    metric::registry().into_iter().map(row).collect()
}

/// Figure with its interval and the number of observations.
type Ends = (Option<f64>, Option<f64>, Option<f64>, u64);

/// Returns the difference of two figures in one unit, with the interval that follows from both.
#[pyfunction]
pub(crate) fn difference(a: Ends, b: Ends) -> (Option<f64>, Option<f64>, Option<f64>) {
    let of = |(value, low, high, n): Ends| Estimate { value, n, low, high };
    let found = interval::difference(&of(a), &of(b));
    (found.value, found.low, found.high)
}

impl PyReport {
    /// Creates a report whose samples are in memory.
    pub(crate) const fn kept(report: Report, recorded: Vec<Recorded>) -> Self {
        Self { report, raw: RawSamples::Kept(recorded) }
    }

    fn table(&self, table: SampleTable) -> anyhow::Result<PyTable> {
        match &self.raw {
            RawSamples::Kept(recorded) => {
                let tests = recorded.iter().map(|it| (it.ordinal, it.repetition, &it.workload));
                let tests = TestRow::all(&self.report.run, tests);
                let mut rows = SampleBatches::new(table, &tests);
                for (cell, test) in recorded.iter().zip(&tests) {
                    let shared = rows.shared(test);
                    cell.samples.iter().try_for_each(|it| rows.push(&shared, it))?;
                }
                Ok(PyTable::new(rows.finish()?))
            }
            RawSamples::Stored(path, name) => stored(path, name, table),
            RawSamples::Gone => {
                let tests: [TestRow; 0] = [];
                Ok(PyTable::new(SampleBatches::new(table, &tests).finish()?))
            }
        }
    }

    /// Returns what the losses of the run tell of their causes.
    fn diagnose(&self) -> anyhow::Result<Diagnosis> {
        let mut losses = RunLosses::default();
        let mut add = |it: &Recorded| {
            losses.begin(&label::of(it), it.error.as_deref());
            it.samples.iter().for_each(|sample| losses.add(sample));
        };
        match &self.raw {
            RawSamples::Kept(recorded) => recorded.iter().for_each(&mut add),
            RawSamples::Stored(path, name) => {
                let store = Store::read(path)?;
                for cell in &store.run(name)?.cells {
                    store.recorded(cell)?.iter().for_each(&mut add);
                }
            }
            RawSamples::Gone => {}
        }
        Ok(losses.finish(self.report.warnings.iter().map(Warning::text).collect()))
    }
}

/// Returns the samples of a stored run, one cell after the other.
fn stored(path: &Path, name: &str, table: SampleTable) -> anyhow::Result<PyTable> {
    let store = Store::read(path)?;
    let run = store.run(name)?;
    let steps = run.cells.iter().map(|it| &it.step);
    let tests = steps.map(|it| (it.ordinal, it.repetition, &it.workload));
    let tests = TestRow::all(&run.facts, tests);
    let mut rows = SampleBatches::new(table, &tests);
    for (cell, test) in run.cells.iter().zip(&tests) {
        let shared = rows.shared(test);
        let mut pushed = Ok(());
        store.each_sample(cell, table, |sample| {
            pushed = rows.push(&shared, sample);
            if pushed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        pushed?;
    }
    Ok(PyTable::new(rows.finish()?))
}

#[pymethods]
impl PyReport {
    /// Reads a report that was written as JSON.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = py.detach(|| serde_json::from_str::<Report>(text));
        let report = read.map_err(|wrong| {
            PyValueError::new_err(format!("this JSON is no report of espbench: {wrong}"))
        })?;
        Ok(Self { report, raw: RawSamples::Gone })
    }

    /// Draws the report: `json`, `csv`, `markdown`, `html`, `text` (the answer in a few lines) or `full`.
    fn draw(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        let format = match form {
            "json" => Format::Json,
            "csv" => Format::Csv,
            "markdown" => Format::Markdown,
            "html" => Format::Html,
            "text" | "full" => Format::Text,
            _ => return Err(PyValueError::new_err(format!("there is no form `{form}`"))),
        };
        let report = &self.report;
        let has_answer = !report.glance.is_empty() || report.has_only_causes();
        Ok(py.detach(|| match &report.prediction {
            Some(card) if form == "text" => {
                render::predict::render(report, card, Screen::default())
            }
            None if form == "text" && has_answer => {
                render::glance::render(report, Screen::default())
            }
            None if form == "text" && report.tuning.is_some() => {
                let origin = Some(report.run.origin);
                let card = report.tuning.as_ref();
                card.map(|it| render::tune::first_screen(it, origin, "", Screen::default()))
                    .unwrap_or_default()
            }
            _ => output::draw(report, format),
        }))
    }

    /// Returns the result cells.
    fn cells(&self, py: Python<'_>) -> PyResult<PyTable> {
        let made = py.detach(|| batches::of_cells(&self.report.cells));
        let batch = made.map_err(|wrong| error::any(py, &wrong.into()))?;
        Ok(PyTable::new((batch.schema(), vec![batch])))
    }

    /// Returns the raw samples: probes, or intervals of streams.
    fn samples(&self, py: Python<'_>, intervals: bool) -> PyResult<PyTable> {
        let table = if intervals { SampleTable::Intervals } else { SampleTable::Probes };
        py.detach(|| self.table(table)).map_err(|wrong| error::any(py, &wrong))
    }

    /// Returns as JSON what the losses of the run tell of their causes, ranked.
    fn diagnosis(&self, py: Python<'_>) -> PyResult<String> {
        let made = py.detach(|| Ok(serde_json::to_string(&self.diagnose()?)?));
        made.map_err(|wrong: anyhow::Error| error::any(py, &wrong))
    }

    /// Returns as JSON the figures that a baseline keeps: of these metrics, or of all.
    fn to_keep(&self, py: Python<'_>, metrics: Vec<String>) -> PyResult<String> {
        let made = || Ok(serde_json::to_string(&to_keep(&self.report.cells, &metrics))?);
        py.detach(made).map_err(|wrong: anyhow::Error| error::any(py, &wrong))
    }

    /// Returns as JSON what became of the figures of a baseline: `part` is the tolerance as a part of a value, `points` that
    /// of shares in percentage points.
    fn against(
        &self,
        py: Python<'_>,
        before: &str,
        metrics: Vec<String>,
        part: f64,
        points: f64,
    ) -> PyResult<String> {
        let before: Vec<KeptFigure> = serde_json::from_str(before).map_err(|wrong| {
            PyValueError::new_err(format!("these are no figures of a baseline: {wrong}"))
        })?;
        let tolerance = Tolerance { part, points: Some(points) };
        let held = || {
            let rows = baseline(&self.report.cells, &before, &metrics, &tolerance);
            Ok(serde_json::to_string(&rows)?)
        };
        py.detach(held).map_err(|wrong: anyhow::Error| error::any(py, &wrong))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.report.run.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.report.run.seed
    }

    /// Exit status that the command has: 0 fine, 1 a threshold failed, 2 something could not be measured,
    /// 130 stopped.
    #[getter]
    fn status(&self) -> u8 {
        let report = &self.report;
        if !report.stopped.is_empty() {
            return 130;
        }
        if report.incomplete || !report.failures.is_empty() {
            return 2;
        }
        u8::from(!report.checks.iter().all(|check| check.passed))
    }

    #[getter]
    fn has_samples(&self) -> bool {
        !matches!(self.raw, RawSamples::Gone)
    }
}
