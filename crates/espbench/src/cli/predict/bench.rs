//! Rooms simulated on all cores, with progress.

use super::options::Common;
use crate::cli::flow;
use crate::cli::pool;
use crate::cli::progress::ProgressLine;
use anyhow::bail;
use espbench_engine::predict::{PredictError, Predictor, RoomCase, RoomRunner, weight};
use espbench_measure::predict::RoomTrial;
use espbench_sim::lab::file::FileKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Loads the lab, and makes what simulates its rooms.
///
/// # Errors
/// A flag or a file of the lab is wrong.
pub(super) fn bench(common: &Common) -> anyhow::Result<(Predictor, RoomPool)> {
    common.check()?;
    let library = crate::labs::library(FileKind::Lab, common.lab_name())?;
    let predictor = match Predictor::new(common.setup(), library) {
        Err(PredictError::TooLong { payload, most, lab, encrypted }) => {
            let sealed = if encrypted { ", encrypted" } else { "" };
            bail!(
                "--payload {payload}: the firmware of lab {lab} sends at most {most} bytes{sealed}"
            )
        }
        made => made?,
    };
    let (cancel, threads, quiet) = (flow::on_interrupt()?, common.threads(), common.quiet);
    Ok((predictor, RoomPool { threads, cancel, quiet, progress: None }))
}

/// Simulates rooms on all cores.
pub(super) struct RoomPool {
    threads: usize,
    cancel: Arc<AtomicBool>,
    quiet: bool,
    progress: Option<ProgressLine>,
}

impl RoomRunner for RoomPool {
    fn begin(&mut self, cases: &[RoomCase], rooms: u32) {
        let times: Vec<Duration> = cases.iter().map(|case| weight(case) * rooms).collect();
        self.progress = Some(ProgressLine::guessed(&times, self.quiet));
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
        let job = |at: usize| predictor.trial(&cases[at / each], rooms.start + (at % each) as u32);
        let progress = &mut self.progress;
        let done = |at: usize| {
            let Some(progress) = progress else { return };
            let case = at / each;
            if shown.replace(case) != Some(case) {
                progress.begin(&label(&cases[case]));
            }
            progress.advance(weight(&cases[case]));
            left[case] -= 1;
            if left[case] == 0 {
                progress.end(None);
            }
        };
        let results = pool::each(cases.len() * each, self.threads, &self.cancel, job, done);
        let mut trials: Vec<Vec<RoomTrial>> = vec![Vec::new(); cases.len()];
        for (at, result) in results.into_iter().enumerate() {
            trials[at / each].extend(result.transpose()?);
        }
        Ok(trials)
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
