//! A run that was measured, beside a simulation of its plan in a lab.

use super::flow;
use super::progress::{ProgressLine, ProgressMode};
use crate::labs;
use crate::say::say;
use crate::store::{Recorder, SampleObserver, Store, StoredCell, StoredRun};
use crate::sys;
use crate::target::sim::SimTarget;
use crate::target::{Target as _, TargetError};
use crate::user_error::UserError;
use espbench_engine::beside::{MeasuredDevice, on_device, refused, with_releases};
use espbench_engine::run::site_of;
use espbench_engine::{SeededCell, Simulator, TOOL};
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::live::WorkTime;
use espbench_measure::plan::{self, PlanSet};
use espbench_measure::run::RunFacts;
use espbench_model::sample::Sample;
use espbench_model::speech::{CommandName, FlagName, FlagValue};
use espbench_sim::lab::file::{FileKind, Library};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Times that the lab carries out a plan at least: their scatter is that of a run.
const REPETITIONS: u32 = 5;

/// The lab that is made of what was found.
const AUTO: &str = "auto";

/// Flags.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Beside a lab")]
pub struct BesideArgs {
    /// Simulate the same plan in this lab, too, and show measured, lab, published and limit side by side: a
    /// built-in lab or a TOML file; without LAB (or `auto`) the lab of each test, with the chip that was found
    #[arg(long, value_name = "LAB", num_args = 0..=1, default_missing_value = AUTO)]
    pub beside: Option<String>,
    /// Variant of a lab that tests over IP are simulated in (`espbench lab list` shows all)
    #[arg(long, value_name = "VARIANT", requires = "beside")]
    pub variant: Option<String>,
}

/// A lab that is to stand beside a run.
#[derive(Debug)]
pub struct SideLab {
    /// Name or file; `None` for the lab of each test, on the chip that was found.
    lab: Option<String>,
    library: Library,
    variant: Option<String>,
    /// Threads that simulate; one for each core where it is not said.
    threads: Option<u16>,
}

impl SideLab {
    /// Returns the lab that these flags ask for, and whether it can carry out any of the plans; `None` where
    /// they ask for none.
    ///
    /// # Errors
    /// There is no such lab, or it can carry out none of the tests.
    pub fn of(
        args: &BesideArgs,
        set: &PlanSet,
        threads: Option<u16>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(name) = &args.beside else { return Ok(None) };
        let lab = Some(name.clone()).filter(|it| it != AUTO);
        let library = match &lab {
            Some(lab) => labs::library(FileKind::Lab, lab)?,
            None => Library::built_in(),
        };
        let side = Self { lab, library, variant: args.variant.clone(), threads };
        let set = side.plans(set.clone())?;
        if let Some(error) = refused(&set, &side.simulator(side.library.clone())) {
            let wants_variant = args.variant.is_none()
                && set.plans.iter().flat_map(|it| &it.workloads).all(|it| it.ip().is_some());
            let remedy = if wants_variant {
                format!(
                    "name the variant of the lab that your device is: {} (`espbench lab list`)",
                    FlagValue("--variant", "VARIANT")
                )
            } else {
                let beside = FlagName("--beside");
                format!("name another lab (`espbench lab list`), or leave out {beside}")
            };
            let what = "no test of the plan can be simulated beside it";
            return Err(UserError::new(what).because(error).remedy(remedy).into());
        }
        Ok(Some(side))
    }

    fn simulator(&self, library: Library) -> Simulator {
        Simulator::new(library, self.lab.as_deref())
    }

    /// Returns the plans with their tests over IP in the variant that was named.
    fn plans(&self, set: PlanSet) -> anyhow::Result<PlanSet> {
        match &self.variant {
            Some(variant) => Ok(set.in_variant(variant).map_err(UserError::new)?),
            None => Ok(set),
        }
    }

    /// Simulates the plans of a run and stores that beside it, in place of what stood there.
    ///
    /// # Errors
    /// The store's.
    pub fn simulate(
        &self,
        store: &Store,
        run: &StoredRun,
        cells: &[Cell],
        mode: ProgressMode,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<()> {
        let mut set = self.plans(PlanSet::parse(&run.facts.plan_text)?)?;
        let mut library = self.library.clone();
        if self.lab.is_none() {
            let found = MeasuredDevice::of(cells);
            set = on_device(set, &library, &found);
            with_releases(&mut library, &found);
        }
        set.repeat(REPETITIONS);
        let simulator = self.simulator(library);
        let facts = RunFacts {
            name: String::new(),
            tool: TOOL.into(),
            started: store.utc_now()?,
            target: simulator.target(),
            origin: Origin::Simulated,
            seed: run.facts.seed,
            plan_name: set.name(),
            plan_text: set.text(),
            site: site_of(&set, || simulator.site()),
            beside: Some(run.facts.name.clone()),
            fitted: simulator.fits(),
            library: Some(simulator.library_digest()),
            own_lab: simulator.is_own_lab(),
            host: BTreeMap::new(),
        };
        let lab_run = Store::open(store.path())?.begin(facts, None, &set)?;
        if mode != ProgressMode::Quiet {
            let (name, target) = (&lab_run.facts.name, &lab_run.facts.target);
            say!("the same plan in {target}, stored as {name}");
        }
        let _lock = store.lock(&lab_run)?;
        let target = SimTarget::of(simulator, sys::threads(self.threads));
        carry_out(store, &lab_run, target, mode, cancel)
    }
}

/// Shows the progress of a lab.
struct Watch(ProgressLine);

impl SampleObserver for Watch {
    fn sample(&mut self, sample: &Sample) {
        self.0.sample(sample);
    }
}

/// Carries out all cells; one that the lab cannot do says why.
fn carry_out(
    store: &Store,
    run: &StoredRun,
    mut target: SimTarget,
    mode: ProgressMode,
    cancel: &Arc<AtomicBool>,
) -> anyhow::Result<()> {
    let cells: Vec<_> =
        run.cells.iter().map(|cell| (cell, target.check(&cell.step.workload))).collect();
    let seeded = |it: &StoredCell| SeededCell::new(it.position, it.step, run.facts.seed);
    let possible = cells.iter().filter(|it| it.1.is_ok());
    target.prepare(&possible.map(|it| seeded(it.0)).collect::<Vec<_>>());
    let time = |cell: &_| WorkTime::Guessed(plan::expected(cell));
    let times: Vec<WorkTime> = cells.iter().map(|it| time(&it.0.step.workload)).collect();
    let mut watch = Watch(ProgressLine::new(&times, mode));
    let recorder = Recorder::new(store, Arc::clone(cancel))?;
    for ((cell, checked), time) in cells.into_iter().zip(times) {
        let work = &cell.step.workload;
        watch.0.begin_cell(&target.placed(&seeded(cell)), Origin::Simulated, time);
        let result = recorder.cell(run, cell, &mut watch, |sink| -> Result<(), TargetError> {
            checked?;
            target.run(work, sink)
        })?;
        if cancel.load(Ordering::Relaxed) && result.is_err() {
            break;
        }
        watch.0.end(result.err().map(|it| it.to_string()).as_deref());
    }
    Ok(())
}

/// Simulates the plan of a stored run, as `espbench report --beside` does.
///
/// # Errors
/// The run is simulated itself; the lab cannot carry it out; the store's.
pub fn beside_stored(args: &BesideArgs, store: &Store, name: &str) -> anyhow::Result<()> {
    let run = store.run(name)?;
    if run.facts.origin == Origin::Simulated {
        let what = format!("{} is simulated itself", run.facts.name);
        let remedy = format!("compare two simulated runs: {}", CommandName("compare"));
        return Err(UserError::new(what)
            .because(format!("{} sets a lab beside what was measured", FlagName("--beside")))
            .remedy(remedy)
            .into());
    }
    let set = PlanSet::parse(&run.facts.plan_text)?;
    let Some(side) = SideLab::of(args, &set, None)? else { return Ok(()) };
    let report = super::output::report(store, name)?;
    let cancel = flow::on_interrupt()?;
    side.simulate(store, &run, &report.cells, ProgressMode::new(false), &cancel)
}
