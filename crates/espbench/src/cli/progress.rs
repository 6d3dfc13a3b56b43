//! Progress on stderr: counters only. What the numbers mean is read back from the store.

use crate::say::say;
use crate::store::Observer;
use espbench_proto::sample::{Fate, Sample};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Counts of the cell in progress; written in the measuring loop, read by the drawing thread.
#[derive(Debug, Default)]
struct Counts {
    delivered: AtomicU64,
    lost: AtomicU64,
    intervals: AtomicU64,
}

/// A progress bar on a terminal, a line a cell elsewhere, nothing with `--quiet`.
pub struct Progress {
    bar: ProgressBar,
    counts: Arc<Counts>,
    lines: bool,
    cell: Arc<std::sync::Mutex<String>>,
    stop: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
    done: usize,
    total: usize,
}

impl Progress {
    /// Progress over cells that are expected to take so long; none, where they are not known yet.
    #[must_use]
    pub fn new(expected: &[Duration], quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let whole: Duration = expected.iter().sum();
        let bar = ProgressBar::with_draw_target(
            Some(whole.as_millis() as u64),
            if quiet || !terminal {
                ProgressDrawTarget::hidden()
            } else {
                ProgressDrawTarget::stderr_with_hz(5)
            },
        );
        let template = "{bar:24} {percent:>3} %  {msg}  (about {eta} left)";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let counts = Arc::new(Counts::default());
        let cell = Arc::new(std::sync::Mutex::new(String::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let drawer = (!bar.is_hidden()).then(|| {
            let (bar, counts) = (bar.clone(), Arc::clone(&counts));
            let (cell, stop) = (Arc::clone(&cell), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if let Ok(cell) = cell.lock() {
                        bar.set_message(format!("{cell}{}", counts.text()));
                    }
                    std::thread::sleep(Duration::from_millis(250));
                }
            })
        });
        let lines = !quiet && !terminal;
        Self { bar, counts, lines, cell, stop, drawer, done: 0, total: expected.len() }
    }

    /// A cell begins.
    pub fn begin(&mut self, label: &str) {
        self.counts.reset();
        let number = match self.total {
            0 => format!("[{}]", self.done + 1),
            total => format!("[{}/{total}]", self.done + 1),
        };
        if let Ok(mut cell) = self.cell.lock() {
            *cell = format!("{number} {label}");
        }
    }

    /// A part of a cell is done.
    pub fn advance(&self, part: Duration) {
        self.bar.inc(part.as_millis() as u64);
    }

    /// What is still to come takes about so long: for work whose cells are not known before.
    pub fn expect(&self, left: Duration) {
        self.bar.set_length(self.bar.position() + left.as_millis() as u64);
    }

    /// The cell ended, well or not.
    pub fn end(&mut self, expected: Duration, error: Option<&str>) {
        self.done += 1;
        self.advance(expected);
        let cell = self.cell.lock().map(|c| c.clone()).unwrap_or_default();
        let counts = self.counts.text();
        match error {
            Some(error) if self.lines => say!("{cell}{counts}: failed: {error}"),
            Some(error) => self.bar.println(format!("{cell}: failed: {error}")),
            None if self.lines => say!("{cell}{counts}"),
            None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn sample(&mut self, sample: &Sample) {
        let counter = match sample {
            Sample::Probe(p) if matches!(p.fate, Fate::Lost(_)) => &self.counts.lost,
            Sample::Probe(_) => &self.counts.delivered,
            Sample::Interval(_) => &self.counts.intervals,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts {
    fn reset(&self) {
        for counter in [&self.delivered, &self.lost, &self.intervals] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    fn text(&self) -> String {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        match (read(&self.delivered), read(&self.lost), read(&self.intervals)) {
            (0, 0, 0) => String::new(),
            (0, 0, intervals) => format!(": {intervals} intervals"),
            (delivered, lost, _) => format!(": {delivered} delivered, {lost} lost"),
        }
    }
}
