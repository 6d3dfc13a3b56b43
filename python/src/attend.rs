//! Work on a thread of its own, while Python looks for Ctrl-C and shows progress.

use espbench::embed::HostProgram;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of the worker's stack: as the main thread of a command has.
const STACK: usize = 8 << 20;

/// Does a job without the interpreter's lock. `look` is called now and then with the lock: where it fails, or
/// a signal's handler does (Ctrl-C), the job is told to stop, and the exception is that.
///
/// # Errors
/// The exception; the job panicked; there is no thread for it.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    host: &HostProgram,
    look: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync,
    job: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, ended) = sync_channel(1);
            let work = move || {
                // Who waits has gone only where this thread is told to stop.
                let _ = done.send(job());
            };
            thread::Builder::new()
                .name("espbench".into())
                .stack_size(STACK)
                .spawn_scoped(scope, work)
                .map_err(|why| PyRuntimeError::new_err(format!("no thread for espbench: {why}")))?;
            loop {
                match ended.recv_timeout(LOOK) {
                    Ok(result) => {
                        Python::attach(&look)?;
                        return Ok(result);
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err(
                            "espbench has a defect: its work panicked, and stderr says where",
                        ));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        let seen = Python::attach(|py| py.check_signals().and_then(|()| look(py)));
                        if let Err(exception) = seen {
                            host.cancel.store(true, Ordering::Relaxed);
                            // The scope waits for the worker, which looks at the flag ten times a second.
                            return Err(exception);
                        }
                    }
                }
            }
        })
    })
}

/// Hands the lines that wait to a function of Python's.
pub(crate) fn hand_on(
    py: Python<'_>,
    host: &HostProgram,
    listener: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let lines = host.said.take();
    let Some(listener) = listener else { return Ok(()) };
    lines.into_iter().try_for_each(|line| listener.call1(py, (line,)).map(drop))
}
