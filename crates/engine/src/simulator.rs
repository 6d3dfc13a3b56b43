//! One cell, carried out in a lab.

use crate::cells::SeededCell;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use espbench_measure::plan::{DEFAULT_SEED, placed};
use espbench_measure::run::{LabFit, Site};
use espbench_model::overrides::OpenPlaces;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::{FileError, FitRecord, Library, is_path};
use espbench_sim::lab::record::Record;
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::suite::{self, LabNotice, SuiteError, Witness};
use espbench_sim::lab::trace::{Limits, Tracer};

/// A lab that shows what devices are there, where none is named and cells may have different ones.
const USUAL_LAB: &str = "two-boards";

/// Carries out cells in a lab of its library.
#[derive(Debug)]
pub struct Simulator {
    library: Library,
    /// The lab for all cells; for each that of its test, where none is named.
    lab: Option<String>,
}

/// The reason for which a cell was not carried out to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum CellError {
    /// The lab cannot do this work at all.
    Unsupported {
        /// The lab, as [`Simulator::target`] names it.
        target: String,
        /// The workload's kind.
        kind: &'static str,
        /// Advice to the user.
        hint: String,
    },
    /// A file of the lab is wrong or missing.
    File {
        /// The lab, as [`Simulator::target`] names it.
        target: String,
        /// The mistake.
        why: FileError,
    },
    /// The simulation ended early.
    Failed {
        /// The lab, as [`Simulator::target`] names it.
        target: String,
        /// Reason of the failure.
        why: Box<SuiteError>,
    },
    /// The caller wanted to stop.
    Cancelled,
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { target, kind, hint } => {
                write!(f, "{target} cannot run {kind}: {hint}")
            }
            Self::Failed { target, why } => write!(f, "{target}: {why}"),
            Self::File { target, why } => write!(f, "{target}: {why}"),
            Self::Cancelled => f.write_str("stopped"),
        }
    }
}

impl core::error::Error for CellError {}

impl Simulator {
    /// Creates the simulator of the library's lab of that name; without a name each cell is in the
    /// lab that its test's document describes.
    #[must_use]
    pub fn new(library: Library, lab: Option<&str>) -> Self {
        Self { library, lab: lab.map(ToOwned::to_owned) }
    }

    /// Returns the name of the lab as a target of runs: `sim`, `sim:LAB`.
    #[must_use]
    pub fn target(&self) -> String {
        self.lab.as_ref().map_or_else(|| "sim".into(), |lab| format!("sim:{lab}"))
    }

    /// Returns the device and the place, as far as they are the same for all cells.
    #[must_use]
    pub fn site(&self) -> Site {
        let lab = self.lab.as_deref().unwrap_or(USUAL_LAB);
        // Any test will do: what a lab's devices are does not depend on it.
        let scene = self.library.scene(lab, &Default::default(), DEFAULT_SEED);
        let chip = scene.as_ref().ok().and_then(|it| it.nodes.first());
        Site {
            chip: chip.map_or_else(|| "unstated".into(), |it| it.profile.chip_name.clone()),
            environment: scene.as_ref().ok().map(|it| it.environment.name.clone()),
            ..Site::default()
        }
    }

    /// Returns the SHA-256 of the library's files, as far as the lab may be of them.
    #[must_use]
    pub fn library_digest(&self) -> String {
        self.library.digest(self.lab.as_deref())
    }

    /// Returns whether the lab is a file of the user's.
    #[must_use]
    pub fn is_own_lab(&self) -> bool {
        self.lab.as_deref().is_some_and(is_path)
    }

    /// Returns the runs that the lab was fitted to.
    #[must_use]
    pub fn fits(&self) -> Vec<LabFit> {
        let records = self.lab.as_deref().map_or(&[][..], |lab| self.library.fit_records(lab));
        let fit = |it: &FitRecord| LabFit {
            run: it.run.clone(),
            plan_text: it.plan.clone(),
            constants: it.constants.clone(),
            cells: it.cells.clone(),
        };
        records.iter().map(fit).collect()
    }

    /// Returns what cells set of their labs to other values than the labs' files, by lab.
    #[must_use]
    pub fn notices(&self, cells: &[Workload]) -> Vec<LabNotice> {
        // A cell that cannot be carried out is an error of its check.
        suite::notices(cells.iter(), &self.library, self.lab.as_deref()).unwrap_or_default()
    }

    /// Checks that the lab can do this work, before any of it is done.
    ///
    /// # Errors
    /// [`CellError::Unsupported`], [`CellError::File`].
    pub fn check(&self, workload: &Workload) -> Result<(), CellError> {
        let told = |failed: SuiteError| match failed {
            // A mistake with a place is one in the file; others are of what the plan asks of it.
            SuiteError::File(why) if why.line > 0 => CellError::File { target: self.target(), why },
            failed => {
                let (target, kind, hint) = (self.target(), workload.kind(), self.hint(&failed));
                CellError::Unsupported { target, kind, hint }
            }
        };
        suite::check(workload, &self.library, self.lab.as_deref()).map_err(told)
    }

    /// Returns what to do where the lab cannot do the work.
    fn hint(&self, failed: &SuiteError) -> String {
        let variants = self.lab.as_deref().map(|lab| self.library.variants(lab));
        match (failed, variants) {
            (SuiteError::NoDevice, Some(known)) if !known.is_empty() => {
                let first = known[0];
                let all = known.join(", ");
                format!(
                    "the plan names no device of this lab: add `variant = \"{first}\"` to the [[measure]]; known: {all}"
                )
            }
            _ => failed.to_string(),
        }
    }

    /// Returns the work of a cell at the places that its lab has for what the plan leaves open.
    #[must_use]
    pub fn placed(&self, cell: &SeededCell) -> Workload {
        let mut work = cell.step.workload;
        if work.lab().open == OpenPlaces::default() {
            return work;
        }
        // A cell that cannot be carried out says why when it is tried.
        let Ok(scene) = self.scene(cell) else { return work };
        let (devices, distance) = scene.open_places();
        if let Some(lab) = work.lab_mut() {
            lab.open.devices &= devices.is_none();
            lab.open.distance &= distance.is_none();
        }
        placed(work, devices, distance)
    }

    /// Returns the scene of a cell: its lab, with the place that the run's seed draws.
    ///
    /// # Errors
    /// As [`Self::carry_out`].
    pub fn scene(&self, cell: &SeededCell) -> Result<Scene, CellError> {
        let lab = self.lab.as_deref();
        let scene = suite::scene(&cell.step.workload, &self.library, lab, cell.seeds.place);
        scene.map_err(|failed| self.failed(failed))
    }

    /// Carries out a cell, and gives its samples, counters and facts to `record`, with what the report
    /// shows of the air.
    ///
    /// # Errors
    /// Why it was not carried out to its end. Samples that were given stay.
    pub fn carry_out(&self, cell: &SeededCell, record: &mut dyn Record) -> Result<(), CellError> {
        let scene = self.scene(cell)?;
        self.carry_out_in(cell, &scene, &mut (), record)
    }

    /// Carries out a cell in its scene, as [`Self::scene`] makes it, before a witness of each frame
    /// on the air.
    ///
    /// # Errors
    /// As [`Self::carry_out`].
    pub fn carry_out_in<W: Witness>(
        &self,
        cell: &SeededCell,
        scene: &Scene,
        witness: &mut W,
        record: &mut dyn Record,
    ) -> Result<(), CellError> {
        let mut both = (Tracer::new(scene, Limits::default()), witness);
        let done = suite::run_in(&cell.step.workload, scene, cell.seeds.cell, &mut both, record);
        both.0.ended().record(record);
        done.map_err(|failed| self.failed(failed))
    }

    fn failed(&self, failed: SuiteError) -> CellError {
        match failed {
            SuiteError::Cancelled => CellError::Cancelled,
            why => CellError::Failed { target: self.target(), why: Box::new(why) },
        }
    }
}
