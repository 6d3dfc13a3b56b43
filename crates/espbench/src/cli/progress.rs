//! Progress on stderr: how far the work has come, how long the rest takes where that can be told, and the
//! figures so far, drawn again in place on a terminal. The result is computed from the store.
//!
//! The measuring thread adds samples to a meter of its own, without a lock; when the drawing thread has
//! asked, a few times a second, it hands a copy on with the next sample.

use crate::embed::{WorkDone, WorkListener};
use crate::render;
use crate::say::{self, say};
use crate::store::SampleObserver;
use crate::sys::terminal;
use espbench_measure::cell::Origin;
use espbench_measure::label;
use espbench_measure::live::{Meter, Pace, Present, WorkTime};
use espbench_measure::plan::probes;
use espbench_model::sample::Sample;
use espbench_model::workload::Workload;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two drawings.
const REDRAW: Duration = Duration::from_millis(250);

/// Columns of the bar.
const BAR: usize = 24;

/// Places where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressMode {
    /// Nowhere: only what failed is printed.
    Quiet,
    /// In place on a terminal, and nowhere else: lines of another kind tell of the work.
    InPlace,
    /// In place on a terminal, and a line for each cell elsewhere.
    Lines,
}

impl ProgressMode {
    /// Returns the usual mode, or that of `--quiet`.
    #[must_use]
    pub const fn new(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Lines }
    }
}

/// A status on a terminal, a line a cell elsewhere; with `--quiet` only what failed.
pub struct ProgressLine {
    work: Arc<Mutex<WorkShown>>,
    /// Samples of the cell so far, which only the measuring thread has.
    meter: Meter,
    /// Set by the drawing thread, which wants to see the meter.
    asked: Arc<AtomicBool>,
    lines: bool,
    /// The program that wants to hear of it, and whether pieces are what it counts.
    listener: Option<WorkListener>,
    counts_pieces: bool,
    told: Option<WorkDone>,
    stop: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

/// Where the work stands; written where it is done, read by the drawing thread.
#[derive(Debug)]
struct WorkShown {
    pace: Pace,
    meter: Meter,
    cell: String,
    /// The cell before this one with its figures; empty without.
    before: String,
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
    pub fn new(pieces: &[WorkTime], mode: ProgressMode) -> Self {
        let work = Arc::new(Mutex::new(WorkShown {
            pace: Pace::new(pieces),
            meter: Meter::default(),
            cell: String::new(),
            before: String::new(),
            present: None,
            probes: None,
            begun: Instant::now(),
            done: 0,
            total: pieces.len(),
        }));
        let draws = mode != ProgressMode::Quiet && terminal::can_redraw();
        let (stop, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let drawer = draws.then(|| {
            let (work, stop, asked) = (Arc::clone(&work), Arc::clone(&stop), Arc::clone(&asked));
            let named = std::thread::Builder::new().name("progress".into());
            named.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let lines = lock(&work).lines(Instant::now());
                    say::status(&lines);
                    asked.store(true, Ordering::Relaxed);
                    std::thread::park_timeout(REDRAW);
                }
                say::status(&[]);
            })
        });
        // Without a thread to spare nothing is drawn.
        let drawer = drawer.and_then(Result::ok);
        let lines = mode == ProgressMode::Lines && !draws;
        let listener = WorkListener::find();
        let meter = Meter::default();
        Self { work, meter, asked, lines, listener, counts_pieces: true, told: None, stop, drawer }
    }

    /// Creates the progress of pieces of which only the proportions are known. It is shown on terminals alone: its lines would
    /// hold no figure.
    #[must_use]
    pub fn guessed(weights: &[Duration], quiet: bool) -> Self {
        let pieces: Vec<WorkTime> = weights.iter().map(|it| WorkTime::Guessed(*it)).collect();
        let mode = if quiet { ProgressMode::Quiet } else { ProgressMode::InPlace };
        let mut line = Self::new(&pieces, mode);
        line.counts_pieces = false;
        line
    }

    /// Tells the program that listens, where something has changed.
    fn tell(&mut self) {
        let Some(listener) = &self.listener else { return };
        let work = lock(&self.work);
        let now = match self.counts_pieces {
            true => WorkDone::pieces(work.done as u64, work.total as u64),
            false => WorkDone::share(work.pace.share(None)),
        };
        drop(work);
        if self.told.replace(now) != Some(now) {
            listener.hear(now);
        }
    }

    /// Begins a piece, whose parts [`Self::advance`] reports.
    pub fn begin(&mut self, label: &str) {
        self.start(label, Meter::default(), None, None);
    }

    /// Begins a cell that takes that span.
    pub fn begin_cell(&mut self, work: &Workload, origin: Origin, span: WorkTime) {
        self.start(&label::of_workload(work), Meter::new(work, origin), Some(span), probes(work));
    }

    fn start(&mut self, label: &str, meter: Meter, span: Option<WorkTime>, probes: Option<u64>) {
        self.meter = meter.clone();
        let mut work = lock(&self.work);
        work.cell = label.to_owned();
        work.meter = meter;
        (work.present, work.probes) = (span, probes);
        // What has no span is timed from one part to the next.
        if span.is_some() {
            work.begun = Instant::now();
        }
    }

    /// Counts a part of that weight as done.
    pub fn advance(&mut self, part: Duration) {
        lock(&self.work).advance(WorkTime::Guessed(part));
        self.tell();
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
        work.meter = std::mem::take(&mut self.meter);
        let line = format!("{} {}", work.number(), work.told());
        let figures = render::live::figures(&work.meter);
        work.done += 1;
        if !figures.is_empty() {
            work.before = format!("before: {}: {}", work.cell, figures.join("   "));
        }
        drop(work);
        self.tell();
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
        self.meter.add(sample);
        // A load of what seldom changes; the copy is made a few times a second at most.
        if self.asked.load(Ordering::Relaxed) {
            // While the other thread looks, the next sample will do.
            if let Ok(mut work) = self.work.try_lock() {
                work.meter.clone_from(&self.meter);
                self.asked.store(false, Ordering::Relaxed);
            }
        }
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

    /// Returns the number of the cell, such as `[2/4]`.
    fn number(&self) -> String {
        match (self.done + 1, self.total) {
            (number, 0) => format!("[{number}]"),
            // Of work whose pieces are a guess there may be more.
            (number, total) => format!("[{}/{total}]", number.min(total)),
        }
    }

    /// Returns the cell's label with its counts and figures.
    fn told(&self) -> String {
        let counts = self.meter.told();
        if counts.is_empty() {
            return self.cell.clone();
        }
        let figures = render::live::figures(&self.meter);
        let parts: Vec<String> = std::iter::once(counts).chain(figures).collect();
        format!("{}: {}", self.cell, parts.join(", "))
    }

    /// Returns the lines of the status: how far all has come, and the figures of the cell so far, or of
    /// the one before it.
    fn lines(&self, now: Instant) -> Vec<String> {
        let known = self.meter.tally.known();
        let present = self.present.map(|span| Present {
            span,
            elapsed: now.saturating_duration_since(self.begun),
            part: self.probes.filter(|n| *n > 0).map(|n| known as f64 / n as f64),
        });
        let share = self.pace.share(present);
        let full = (share * BAR as f64) as usize;
        let bar = format!("{}{}", "#".repeat(full), "-".repeat(BAR.saturating_sub(full)));
        let left = self.pace.left(present).map(words).unwrap_or_default();
        let percent = (share * 100.0) as u64;
        let mut lines =
            vec![format!("{bar} {percent:>3} %  {}{left}  {}", self.number(), self.cell)];
        let mut figures = render::live::figures(&self.meter);
        if let Some(probes) = self.probes.filter(|_| known > 0) {
            figures.push(format!("{known} of {probes}"));
        }
        if !figures.is_empty() {
            lines.push(format!("  {}", figures.join("   ")));
        } else if !self.before.is_empty() {
            lines.push(format!("  {}", self.before));
        }
        lines
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
    use espbench_measure::plan::defaults;
    use espbench_model::sample::{Fate, Probe};
    use espbench_model::time::Instant as At;

    fn probe(fate: Fate) -> Sample {
        let (sent, received) = (At::from_nanos(0), At::from_nanos(2_000_000));
        Sample::Probe(Probe {
            fate,
            sent: Some(sent),
            received: Some(received),
            ..Probe::default()
        })
    }

    /// Returns the work in its first cell of two, after some samples that the drawing thread asked for.
    fn work(span: WorkTime, count: u32) -> WorkShown {
        let Some(Workload::UdpEcho(mut echo)) = defaults("udp-echo") else { unreachable!() };
        (echo.count, echo.discard) = (count, 0);
        let mut progress = ProgressLine::new(&[span, span], ProgressMode::Quiet);
        progress.begin_cell(&Workload::UdpEcho(echo), Origin::Measured, span);
        progress.asked.store(true, Ordering::Relaxed);
        progress.sample(&probe(Fate::Delivered));
        progress.sample(&probe(Fate::Corrupt));
        assert_eq!(lock(&progress.work).meter.tally.corrupt, 0, "nothing is copied unasked");
        progress.asked.store(true, Ordering::Relaxed);
        progress.sample(&probe(Fate::Duplicate));
        let inner = Arc::clone(&progress.work);
        drop(progress);
        Arc::into_inner(inner).unwrap().into_inner().unwrap()
    }

    #[test]
    fn nothing_is_promised_where_nothing_is_known() {
        let unknown = work(WorkTime::Guessed(Duration::from_secs(7)), 1000);
        let lines = unknown.lines(unknown.begun);
        assert!(
            lines[0].starts_with("------------------------   0 %  [1/2]  udp-echo"),
            "{lines:?}"
        );
        assert!(!lines[0].contains("left"), "{lines:?}");
        assert_eq!(lines[1], "  p50 2 ms   p99 2 ms   lost 50 %   2 of 1000");
        assert!(unknown.told().ends_with(
            ": 1 delivered, 0 lost, 1 corrupt, 1 duplicate, p50 2 ms, p99 2 ms, lost 50 %"
        ));
    }

    #[test]
    fn what_is_known_is_told() {
        let told = work(WorkTime::Told(Duration::from_secs(90)), 4);
        let later = |work: &WorkShown, s| work.lines(work.begun + Duration::from_secs(s)).remove(0);
        assert!(later(&told, 45).starts_with("######------------------  25 %"), "{told:?}");
        assert!(later(&told, 45).contains("(about 3 min left)  udp-echo"), "{told:?}");
        // Two of four probes, of two cells, in ten seconds.
        let counted = work(WorkTime::Guessed(Duration::from_secs(1)), 4);
        let text = later(&counted, 10);
        assert!(text.contains(" 25 %") && text.contains("(about 30 s left)"), "{text}");
        assert_eq!(words(Duration::from_millis(1)), "  (about 1 s left)");
    }

    #[test]
    fn the_cell_before_is_told_until_the_next_has_figures() {
        let Some(echo) = defaults("udp-echo") else { unreachable!() };
        let span = WorkTime::Guessed(Duration::from_secs(1));
        let mut progress = ProgressLine::new(&[span, span], ProgressMode::Quiet);
        progress.begin_cell(&echo, Origin::Measured, span);
        progress.sample(&probe(Fate::Delivered));
        progress.end(None);
        progress.begin_cell(&echo, Origin::Measured, span);
        let lines = lock(&progress.work).lines(Instant::now());
        assert!(lines[0].contains("[2/2]"), "{lines:?}");
        assert!(lines[1].starts_with("  before: udp-echo"), "{lines:?}");
        assert!(lines[1].ends_with(": p50 2 ms   p99 2 ms   lost 0 %"), "{lines:?}");
    }
}
