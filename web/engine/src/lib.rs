//! The engine for a page in a browser: questions as JSON in, answers as JSON out. Nothing is imported. Plans
//! are carried out with the feature `plans` alone, for a test: suites and their reports make the module larger.
//!
//! | module | contents |
//! |---|---|
//! | `answer` | a question by its name, and the answer or the error in three parts |
//! | `fleet` | predictions: which rooms an answer needs, and the answer of those that were simulated |
//! | `files` | logs, captures and sdkconfig files, and their diagnosis |
//! | `plans` | plans, with their reports |
//! | `room` | a lab as it is drawn, and frames on the air of it |
//! | `trial` | a simulated room as bytes, from one worker to another |
//! | `versus` | two answers, compared |
//! | `json` | reports as the command writes them: its own file |
//!
//! A text of the page goes into memory of [`allocate`]; each answer is freed with [`free`].

mod answer;
mod files;
mod fleet;
#[path = "../../../crates/espbench/src/render/json.rs"]
mod json;
#[cfg(feature = "plans")]
mod plans;
mod room;
mod trial;
mod versus;

use answer::Session;
use std::cell::RefCell;
use std::{ptr, slice};

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
}

/// Allocates memory.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(len: usize) -> *mut u8 {
    Box::leak(vec![0; len].into_boxed_slice()).as_mut_ptr()
}

/// Frees memory.
///
/// # Safety
/// It is of [`allocate`] or an answer, with its length, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(at: *mut u8, len: usize) {
    // SAFETY: the caller promises it.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(at, len)) });
}

/// Returns the answer to a question in JSON: a length in four bytes, little end first, and the answer
/// behind it. A simulated room is in bytes of its own; all else is JSON.
///
/// # Safety
/// The question is where it is said to be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(at: *const u8, len: usize) -> *const u8 {
    // SAFETY: the caller promises it.
    let question = unsafe { slice::from_raw_parts(at, len) };
    leak(SESSION.with_borrow_mut(|session| session.ask(question)))
}

/// Takes bytes of the file that was opened last, or of a room that another worker has simulated for the
/// question in hand. Returns 0 where they are of neither.
///
/// # Safety
/// The bytes are where they are said to be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn put(at: *const u8, len: usize) -> u32 {
    // SAFETY: the caller promises it.
    let bytes = unsafe { slice::from_raw_parts(at, len) };
    SESSION.with_borrow_mut(|session| u32::from(session.put(bytes)))
}

/// Hands an answer out, with its length before it.
fn leak(answer: Vec<u8>) -> *const u8 {
    let mut bytes = u32::try_from(answer.len()).unwrap_or(0).to_le_bytes().to_vec();
    bytes.extend(answer);
    Box::leak(bytes.into_boxed_slice()).as_ptr()
}
