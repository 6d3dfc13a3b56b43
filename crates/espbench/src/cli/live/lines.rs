//! `--format jsonl`: a thread that prints lines at once, and once a second what became of the probes.

use super::Now;
use crate::cli::thread;
use crate::render::jsonl;
use crate::say::{self, say};
use crate::user_error::UserError;
use espbench_measure::live::event::LiveEvent;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Lines that may wait for the reader; further ones are dropped and counted.
const WAITING: usize = 4096;

/// Between two lines about probes.
const TICK: Duration = Duration::from_secs(1);

/// The way to the printing thread.
#[derive(Debug)]
pub(super) struct LineWriter {
    lines: Option<SyncSender<String>>,
    dropped: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl LineWriter {
    /// Starts the printing thread.
    ///
    /// # Errors
    /// There is no thread for it.
    pub(super) fn start(now: Arc<Now>) -> Result<Self, UserError> {
        let (lines, waiting) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&dropped);
        let thread = thread::start("--format jsonl", move || print(&waiting, &now, &count))?;
        Ok(Self { lines: Some(lines), dropped, thread: Some(thread) })
    }

    /// Hands a line on; a reader that is too slow holds nothing up.
    pub(super) fn tell(&self, event: &LiveEvent) {
        let full = self.lines.as_ref().is_some_and(|it| it.try_send(jsonl::line(event)).is_err());
        self.dropped.fetch_add(u64::from(full), Ordering::Relaxed);
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn print(waiting: &Receiver<String>, now: &Now, dropped: &AtomicU64) {
    let mut out = OutputThread { failed: false };
    let mut next = Instant::now() + TICK;
    let mut last = None;
    loop {
        let left = next.saturating_duration_since(Instant::now());
        match waiting.recv_timeout(left) {
            Ok(line) => out.line(&line),
            // Only where no line waits: they are of the cell that is told of.
            Err(RecvTimeoutError::Timeout) => {
                next = Instant::now() + TICK;
                if let Some(event) = now.probes().filter(|it| counts(it) != last) {
                    last = counts(&event);
                    out.line(&jsonl::line(&event));
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let lines = dropped.swap(0, Ordering::Relaxed);
        if lines > 0 {
            out.line(&jsonl::line(&LiveEvent::Dropped { run: now.run.run.clone(), lines }));
        }
    }
}

/// Returns the counts that tell one line about probes from the next, beside the time.
fn counts(event: &LiveEvent) -> Option<(usize, [u64; 5])> {
    match event {
        LiveEvent::Probes { at, delivered, lost, late, corrupt, duplicate, .. } => {
            Some((at.cell, [*delivered, *lost, *late, *corrupt, *duplicate]))
        }
        _ => None,
    }
}

/// Stdout, until it fails.
struct OutputThread {
    failed: bool,
}

impl OutputThread {
    fn line(&mut self, line: &str) {
        if self.failed {
            return;
        }
        if let Err(error) = say::out(line) {
            self.failed = true;
            say!("espbench: stdout: {error}: no further lines there; the run goes on");
        }
    }
}
