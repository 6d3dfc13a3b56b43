//! Plans, carried out whole: for the test that holds their reports against those of this machine.

use crate::answer::PageError;
use espbench_engine::run;
use espbench_measure::plan::PlanSet;
use espbench_sim::lab::file::{FileKind, Library};

/// Name of a lab whose text is given.
const OWN: &str = "own.toml";

/// Returns the report of a plan as JSON. `lab` is the name of a built-in lab, the text of one, or empty: then each test
/// is in the lab of its document. `seed` 0 stands for the plan's own.
pub(crate) fn report(plan: &str, lab: &str, seed: u64) -> Result<String, PageError> {
    let failed = |why: &dyn std::fmt::Display| {
        PageError::new("the plan was not carried out", why, "see docs/measure.md")
    };
    let mut library = Library::built_in();
    let lab = match lab {
        "" => None,
        text if text.contains('\n') => {
            library.add(FileKind::Lab, OWN, text).map_err(|why| failed(&why))?;
            Some(OWN)
        }
        name => Some(name),
    };
    let plan = PlanSet::parse(plan).map_err(|why| failed(&why))?;
    let seed = (seed > 0).then_some(seed);
    let report = run(plan, library, lab, seed, &mut ()).map_err(|why| failed(&why))?;
    serde_json::to_string(&report).map_err(|why| failed(&why))
}
