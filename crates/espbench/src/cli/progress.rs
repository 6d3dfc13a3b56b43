//! Progress on stderr: counts, how far the work has come, and how long the rest takes where that can be
//! told. What the numbers mean is read back from the store.

use crate::say::{self, say};
use crate::store::SampleObserver;
use crate::sys::terminal;
use espbench_measure::live::{FateCounts, Pace, Present, WorkTime};
use espbench_model::sample::Sample;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two drawings.
const REDRAW: Duration = Duration::from_millis(250);

/// Columns of the bar.
const BAR: usize = 24;

/// A status line on a terminal, a line a cell elsewhere; with `--quiet` only what failed.
pub struct ProgressLine {
    work: Arc<Mutex<WorkShown>>,
    lines: bool,
    stop: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

/// Where the work stands; written where it is done, read by the drawing thread.
#[derive(Debug)]
struct WorkShown {
    pace: Pace,
    tally: FateCounts,
    cell: String,
    present: Option<WorkTime>,
    /// How many probes the cell has, where that is known.
    probes: Option<u64>,
    begun: Instant,
    done: usize,
    total: usize,
}

impl ProgressLine {
    /// Progress over pieces of work; none, where they are not known yet.
    #[must_use]
    pub fn new(pieces: &[WorkTime], quiet: bool) -> Self {
        let work = Arc::new(Mutex::new(WorkShown {
            pace: Pace::new(pieces),
            tally: FateCounts::default(),
            cell: String::new(),
            present: None,
            probes: None,
            begun: Instant::now(),
            done: 0,
            total: pieces.len(),
        }));
        let draws = !quiet && terminal::can_redraw();
        let stop = Arc::new(AtomicBool::new(false));
        let drawer = draws.then(|| {
            let (work, stop) = (Arc::clone(&work), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let text = lock(&work).text(Instant::now());
                    say::status(&text);
                    std::thread::park_timeout(REDRAW);
                }
                say::status("");
            })
        });
        Self { work, lines: !quiet && !draws, stop, drawer }
    }

    /// Creates the progress of pieces of which only the proportions are known.
    #[must_use]
    pub fn guessed(weights: &[Duration], quiet: bool) -> Self {
        let pieces: Vec<WorkTime> = weights.iter().map(|it| WorkTime::Guessed(*it)).collect();
        Self::new(&pieces, quiet)
    }

    /// Begins a piece, whose parts [`Self::advance`] reports.
    pub fn begin(&mut self, label: &str) {
        self.begin_cell(label, None, None);
    }

    /// Begins a cell that takes that span, and has that number of probes where it is known.
    pub fn begin_cell(&mut self, label: &str, span: Option<WorkTime>, probes: Option<u64>) {
        let mut work = lock(&self.work);
        let number = work.done + 1;
        work.cell = match work.total {
            0 => format!("[{number}] {label}"),
            total => format!("[{number}/{total}] {label}"),
        };
        work.tally = FateCounts::default();
        (work.present, work.probes) = (span, probes);
        // What has no span is timed from one part to the next.
        if span.is_some() {
            work.begun = Instant::now();
        }
    }

    /// Counts a part of that weight as done.
    pub fn advance(&self, part: Duration) {
        lock(&self.work).advance(WorkTime::Guessed(part));
    }

    /// Sets the weight of what is still to come, for work whose pieces are not known before.
    pub fn expect(&self, left: Duration) {
        lock(&self.work).pace.expect(left);
    }

    /// Ends the piece. Returns its line, which is printed here unless it failed.
    pub fn end(&mut self, error: Option<&str>) -> String {
        let mut work = lock(&self.work);
        if let Some(span) = work.present.take() {
            work.advance(span);
        }
        work.done += 1;
        let line = work.counted();
        drop(work);
        match error {
            Some(error) => format!("{line}: failed: {error}"),
            None => {
                if self.lines {
                    say!("{line}");
                }
                line
            }
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            let _ = drawer.join();
        }
    }
}

impl SampleObserver for ProgressLine {
    fn sample(&mut self, sample: &Sample) {
        lock(&self.work).tally.add(sample);
    }
}

fn lock(work: &Mutex<WorkShown>) -> MutexGuard<'_, WorkShown> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WorkShown {
    fn advance(&mut self, span: WorkTime) {
        self.pace.advance(span, self.begun.elapsed());
        self.begun = Instant::now();
    }

    /// Returns the cell's label with its counts.
    fn counted(&self) -> String {
        if self.tally.is_empty() {
            return self.cell.clone();
        }
        format!("{}: {}", self.cell, self.tally)
    }

    /// Returns the status line.
    fn text(&self, now: Instant) -> String {
        let FateCounts { delivered, lost, late, corrupt, .. } = self.tally;
        let known = delivered + lost + late + corrupt;
        let present = self.present.map(|span| Present {
            span,
            elapsed: now.saturating_duration_since(self.begun),
            part: self.probes.filter(|n| *n > 0).map(|n| known as f64 / n as f64),
        });
        let share = self.pace.share(present);
        let full = (share * BAR as f64) as usize;
        let bar = format!("{}{}", "#".repeat(full), "-".repeat(BAR.saturating_sub(full)));
        let left = self.pace.left(present).map(words).unwrap_or_default();
        format!("{bar} {:>3} %  {}{left}", (share * 100.0) as u64, self.counted())
    }
}

/// Returns the remaining time in words: `  (about 3 min left)`.
fn words(left: Duration) -> String {
    let seconds = left.as_secs_f64().ceil().max(1.0) as u64;
    let about = match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    };
    format!("  (about {about} left)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::sample::{Fate, Probe};

    fn work(span: WorkTime, probes: Option<u64>) -> WorkShown {
        let mut progress = ProgressLine::new(&[span, span], true);
        progress.begin_cell("udp-echo, 1 B", Some(span), probes);
        for fate in [Fate::Delivered, Fate::Corrupt, Fate::Duplicate] {
            progress.sample(&Sample::Probe(Probe { fate, ..Probe::default() }));
        }
        let inner = Arc::clone(&progress.work);
        drop(progress);
        Arc::into_inner(inner).unwrap().into_inner().unwrap()
    }

    #[test]
    fn nothing_is_promised_where_nothing_is_known() {
        let unknown = work(WorkTime::Guessed(Duration::from_secs(7)), None);
        assert_eq!(
            unknown.text(unknown.begun),
            "------------------------   0 %  [1/2] udp-echo, 1 B: 1 delivered, 0 lost, 1 corrupt, 1 duplicates"
        );
    }

    #[test]
    fn what_is_known_is_told() {
        let told = work(WorkTime::Told(Duration::from_secs(90)), None);
        let later = told.begun + Duration::from_secs(45);
        assert!(
            told.text(later).starts_with("######------------------  25 %"),
            "{}",
            told.text(later)
        );
        assert!(told.text(later).ends_with("(about 3 min left)"), "{}", told.text(later));
        // Two of four probes, of two cells, in ten seconds.
        let counted = work(WorkTime::Guessed(Duration::from_secs(1)), Some(4));
        let text = counted.text(counted.begun + Duration::from_secs(10));
        assert!(text.contains(" 25 %") && text.ends_with("(about 30 s left)"), "{text}");
        assert_eq!(words(Duration::from_millis(1)), "  (about 1 s left)");
    }
}
