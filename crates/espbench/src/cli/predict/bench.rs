//! Rooms simulated on all cores, with progress.

use super::options::Common;
use crate::cli::flow;
use crate::cli::pool;
use crate::cli::progress::ProgressLine;
use crate::say::say;
use crate::user_error::UserError;
use espbench_engine::predict::{
    PredictError, PredictSetup, Predictor, RoomCase, RoomRunner, SearchPlan,
};
use espbench_measure::predict::{RoomTrial, devices as count};
use espbench_sim::lab::file::FileKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Loads the lab, and makes what simulates its rooms.
///
/// # Errors
/// A flag or a file of the lab is wrong.
pub(super) fn bench(common: &Common) -> anyhow::Result<(Predictor, RoomPool)> {
    common.check()?;
    let predictor = predictor(common.setup()?)?;
    let (cancel, threads, quiet) = (flow::on_interrupt()?, common.threads(), common.quiet);
    let pool = RoomPool { threads, cancel, quiet, progress: None, deadline: None, is_late: false };
    Ok((predictor, pool))
}

/// Loads the lab of a prediction.
///
/// # Errors
/// A file of the lab is wrong, or its devices do not send so long a message.
pub(super) fn predictor(setup: PredictSetup) -> anyhow::Result<Predictor> {
    let library = crate::labs::library(FileKind::Lab, &setup.lab)?;
    match Predictor::new(setup, library) {
        Err(PredictError::TooLong { payload, most, lab, encrypted }) => {
            let sealed = if encrypted { ", encrypted" } else { "" };
            Err(UserError::new(format!("--payload {payload} is too long"))
                .because(format!("the firmware of lab {lab} sends at most {most} bytes{sealed}"))
                .remedy(format!("--payload {most}, or several messages"))
                .into())
        }
        made => Ok(made?),
    }
}

/// Time that is known from a machine's pace is rounded to so many seconds' multiples.
fn about(time: Duration) -> String {
    match time.as_secs_f64() {
        it if it < 1.0 => "a second".into(),
        it if it < 10.0 => format!("{it:.0} s"),
        it if it < 60.0 => format!("{:.0} s", (it / 5.0).ceil() * 5.0),
        it => format!("{:.0} min", (it / 60.0).ceil()),
    }
}

/// End of the time that a search may take.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    until: Instant,
    /// Time that this machine takes for a unit of work: in the rooms before.
    pace: f64,
    /// A first look at a number was taken, without which there is no answer.
    has_looked: bool,
}

impl Deadline {
    /// Returns whether so much work would end behind it.
    fn forbids(&self, work: Duration) -> bool {
        let ends = Instant::now().checked_add(work.mul_f64(self.pace));
        self.has_looked && ends.is_none_or(|it| it > self.until)
    }
}

/// Simulates rooms on all cores.
pub(super) struct RoomPool {
    threads: usize,
    cancel: Arc<AtomicBool>,
    quiet: bool,
    progress: Option<ProgressLine>,
    deadline: Option<Deadline>,
    is_late: bool,
}

impl RoomRunner for RoomPool {
    fn begin(&mut self, predictor: &Predictor, cases: &[RoomCase], rooms: u32) {
        let times: Vec<Duration> =
            cases.iter().map(|case| predictor.weight(case) * rooms).collect();
        self.progress = Some(ProgressLine::guessed(&times, self.quiet));
    }

    fn begin_search(
        &mut self,
        predictor: &Predictor,
        sample: &RoomCase,
        search: &SearchPlan,
    ) -> Result<(), PredictError> {
        let begun = Instant::now();
        let rooms = self.threads as u32 * 2;
        self.trials(predictor, &[*sample], 0..rooms, &|_| String::new())?;
        let pace = begun.elapsed().as_secs_f64()
            / (predictor.weight(sample) * rooms).as_secs_f64().max(1e-9);
        self.deadline = begun.checked_add(search.time_limit).map(|until| Deadline {
            until,
            pace,
            has_looked: false,
        });
        let (takes, limit) = (search.expected.mul_f64(pace), search.time_limit);
        let takes = match takes < limit {
            true => format!("about {}, {} at most", about(takes), about(limit)),
            false => format!("up to {}", about(limit)),
        };
        if !self.quiet {
            let bound = &search.bound;
            say!(
                "The largest fleet is looked for up to {}{}: {takes} (--time-limit)",
                count(bound.devices),
                if bound.is_capacity() { ", all that the channel carries" } else { " (--most)" },
            );
        }
        self.begin(predictor, &[], 0);
        Ok(())
    }

    fn expect(&mut self, left: Duration) {
        if let Some(progress) = &self.progress {
            progress.expect(left);
        }
    }

    fn trials(
        &mut self,
        predictor: &Predictor,
        cases: &[RoomCase],
        rooms: std::ops::Range<u32>,
        label: &dyn Fn(&RoomCase) -> String,
    ) -> Result<Vec<Vec<RoomTrial>>, PredictError> {
        let each = rooms.len();
        let mut left: Vec<usize> = vec![each; cases.len()];
        let mut shown = None;
        let work: Duration = cases.iter().map(|it| predictor.weight(it) * each as u32).sum();
        if self.deadline.is_some_and(|it| it.forbids(work)) {
            self.is_late = true;
            self.cancel.store(true, Ordering::Relaxed);
        }
        let begun = Instant::now();
        let job = |at: usize| predictor.trial(&cases[at / each], rooms.start + (at % each) as u32);
        let progress = &mut self.progress;
        let done = |at: usize| {
            let Some(progress) = progress else { return };
            let case = at / each;
            if shown.replace(case) != Some(case) {
                progress.begin(&label(&cases[case]));
            }
            progress.advance(predictor.weight(&cases[case]));
            left[case] -= 1;
            if left[case] == 0 {
                progress.end(None);
            }
        };
        let results = pool::each(cases.len() * each, self.threads, &self.cancel, job, done);
        if let Some(deadline) = &mut self.deadline {
            deadline.pace = begun.elapsed().as_secs_f64() / work.as_secs_f64().max(1e-9);
            deadline.has_looked = true;
        }
        let mut trials: Vec<Vec<RoomTrial>> = vec![Vec::new(); cases.len()];
        for (at, result) in results.into_iter().enumerate() {
            trials[at / each].extend(result.transpose()?);
        }
        Ok(trials)
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn is_late(&self) -> bool {
        self.is_late
    }
}
