//! Threads of a command. One that cannot be had is an error, where `std::thread::spawn` panics.

use crate::user_error::{ForUser as _, UserError};
use std::thread::{Builder, JoinHandle};

/// Starts a thread; `name` says what it is for.
///
/// # Errors
/// The system gives no further thread.
pub(super) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, UserError> {
    let remedy = "end other programs of this user, or let it have more threads (ulimit -u) and memory (ulimit -v)";
    let thread = Builder::new().name(name.into()).spawn(work);
    thread.for_user(|| format!("cannot start a thread for {name}"), remedy)
}
