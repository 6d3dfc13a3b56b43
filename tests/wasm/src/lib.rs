//! The engine as a module of WebAssembly: a plan, a lab and a seed in, a report as JSON out. Nothing is
//! imported. `ci/wasm.sh` builds it; `run.mjs` shows how a page calls it.

use espbench_engine::run;
use espbench_measure::plan::PlanSet;
use espbench_sim::lab::file::{FileKind, Library};
use std::error::Error;
use std::slice;

/// Name of a lab whose text is given.
const OWN: &str = "own.toml";

/// Allocates memory for a text.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(len: usize) -> *mut u8 {
    Box::leak(vec![0; len].into_boxed_slice()).as_mut_ptr()
}

/// Frees memory.
///
/// # Safety
/// It is of [`allocate`] or [`report`], with its length, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(at: *mut u8, len: usize) {
    // SAFETY: the caller promises it.
    drop(unsafe { Box::from_raw(slice::from_raw_parts_mut(at, len)) });
}

/// Returns the report as JSON, or a sentence that says why there is none: a length in four bytes, little
/// end first, and the text behind it. `lab` is the name of a built-in lab, the text of one, or empty:
/// then each test is in the lab of its document. `seed` 0 stands for the plan's own.
///
/// # Safety
/// The texts are where they are said to be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn report(
    plan: *const u8,
    plan_len: usize,
    lab: *const u8,
    lab_len: usize,
    seed: u64,
) -> *const u8 {
    // SAFETY: the caller promises it.
    let texts = unsafe {
        [slice::from_raw_parts(plan, plan_len), slice::from_raw_parts(lab, lab_len)]
    };
    let [plan, lab] = texts.map(String::from_utf8_lossy);
    let text = json(&plan, &lab, seed).unwrap_or_else(|error| error.to_string());
    let mut answer = u32::try_from(text.len()).unwrap_or(0).to_le_bytes().to_vec();
    answer.extend(text.into_bytes());
    Box::leak(answer.into_boxed_slice()).as_ptr()
}

fn json(plan: &str, lab: &str, seed: u64) -> Result<String, Box<dyn Error>> {
    let mut library = Library::built_in();
    let lab = match lab {
        "" => None,
        text if text.contains('\n') => {
            library.add(FileKind::Lab, OWN, text)?;
            Some(OWN)
        }
        name => Some(name),
    };
    let seed = (seed > 0).then_some(seed);
    let report = run(PlanSet::parse(plan)?, library, lab, seed, &mut ())?;
    Ok(serde_json::to_string(&report)?)
}
