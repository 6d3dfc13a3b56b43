//! Rooms simulated on all cores, with progress.

use super::options::Common;
use crate::cli::flow;
use crate::cli::pool;
use crate::cli::progress::ProgressLine;
use crate::say::say;
use crate::user_error::UserError;
use espbench_dot11::radio::{RadioChip, WifiMode};
use espbench_engine::predict::{
    FramesCase, PredictError, PredictSetup, Predictor, RoomCase, RoomRunner, SearchPlan,
};
use espbench_measure::predict::frames::MessageTrial;
use espbench_measure::predict::{RoomTrial, devices as count};
use espbench_model::speech::{CommandWith, FlagName, FlagValue};
use espbench_sim::lab::file::FileKind;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Loads the lab, and makes what simulates its rooms.
///
/// # Errors
/// A flag or a file of the lab is wrong; the channel is one in 5 GHz, which the component's frames cannot name.
pub(super) fn bench(common: &Common) -> anyhow::Result<(Predictor, RoomPool)> {
    Ok((checked(common)?, RoomPool::new(common.threads(), common.quiet)?))
}

/// Loads the lab of a question whose messages the component sends.
///
/// # Errors
/// A flag or a file of the lab is wrong; the channel is one in 5 GHz, which the component's frames cannot name.
pub(super) fn checked(common: &Common) -> anyhow::Result<Predictor> {
    common.check()?;
    let predictor = predictor(common.setup()?)?;
    if let Some(channel) = common.place.channel.filter(|it| *it > 14) {
        return Err(UserError::new(format!(
            "{} cannot be used here",
            FlagValue("--channel", channel)
        ))
        .because(
            "a frame of the esp-now component has four bits for its channel: its receivers drop \
                 what comes on one in 5 GHz",
        )
        .remedy(format!(
            "{}, which sends by esp_now_send alone",
            CommandWith("predict frames", FlagValue("--channel", channel))
        ))
        .into());
    }
    Ok(predictor)
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
            Err(UserError::new(format!("{} is too long", FlagValue("--payload", payload)))
                .because(format!("the firmware of lab {lab} sends at most {most} bytes{sealed}"))
                .remedy(format!("{}, or several messages", FlagValue("--payload", most)))
                .into())
        }
        Err(PredictError::NoBand { chip, channel }) => {
            let asked = FlagValue("--channel", channel);
            Err(UserError::new(format!("{asked} is not for an {}", chip.name()))
                .because(format!("it is in 5 GHz, and an {} has 2.4 GHz alone", chip.name()))
                .remedy(format!(
                    "{}, or {}",
                    FlagValue("--channel", "1 to 14"),
                    FlagValue("--profile", names(|it| it.has_5_ghz()))
                ))
                .into())
        }
        made => Ok(made?),
    }
}

/// Returns the names of the chips of which something holds.
fn names(holds: impl Fn(&RadioChip) -> bool) -> String {
    let all: Vec<&str> = RadioChip::ALL.iter().filter(|it| holds(it)).map(|it| it.name()).collect();
    all.join(", ")
}

/// Returns the rate that was asked for, or the default on the devices' channel.
///
/// # Errors
/// The devices' radio does not send it, or their band does not have it; none was asked for, and the lab has several.
pub(super) fn sent(predictor: &Predictor, asked: Option<WifiMode>) -> Result<WifiMode, UserError> {
    let own = || {
        let several = |it: PredictError| {
            UserError::new(it.to_string()).remedy(FlagValue("--phy-rate", "RATE").to_string())
        };
        predictor.own_mode().map_err(several)
    };
    let mode = asked.map_or_else(own, Ok)?;
    if predictor.sends(mode) {
        return Ok(mode);
    }
    let refused =
        UserError::new(format!("{} is not for these devices", FlagValue("--phy-rate", mode)));
    let usual = FlagValue("--phy-rate", predictor.usual_mode());
    if !predictor.band_has(mode) {
        let why = "5 GHz has no DSSS, CCK and Long Range";
        return Err(refused.because(why).remedy(format!("{usual}, or a channel from 1 to 14")));
    }
    let chip = predictor.chip_name();
    Err(refused
        .because(format!("an {chip} does not send it"))
        .remedy(format!("{usual}, or {}", FlagValue("--profile", names(|it| it.sends(mode))))))
}

/// Rounds a time that is known from a machine's pace to multiples of so many seconds.
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

impl RoomPool {
    /// Makes the pool; Ctrl-C ends its work.
    ///
    /// # Errors
    /// Ctrl-C cannot be caught.
    pub(super) fn new(threads: usize, quiet: bool) -> anyhow::Result<Self> {
        let cancel = flow::on_interrupt()?;
        Ok(Self { threads, cancel, quiet, progress: None, deadline: None, is_late: false })
    }

    /// Ends the progress: the answer follows.
    pub(super) fn end(&mut self) {
        self.progress = None;
    }

    /// Returns the exit status: that of the whole, unless Ctrl-C stopped it.
    pub(super) fn status(&self, whole: ExitCode) -> ExitCode {
        // Where time is over, nobody has stopped it.
        if self.is_late { whole } else { flow::status(&self.cancel, whole) }
    }

    /// Does a job in each of these rooms for each case, with progress by the cases' weights.
    fn each<T: Send>(
        &mut self,
        weights: &[Duration],
        rooms: std::ops::Range<u32>,
        job: impl Fn(usize, u32) -> Result<T, PredictError> + Sync,
        label: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Vec<T>>, PredictError> {
        let each = rooms.len();
        let mut left: Vec<usize> = vec![each; weights.len()];
        let mut shown = None;
        let in_room = |at: usize| job(at / each, rooms.start + (at % each) as u32);
        let progress = &mut self.progress;
        let done = |at: usize| {
            let Some(progress) = progress else { return };
            let case = at / each;
            if shown.replace(case) != Some(case) {
                progress.begin(&label(case));
            }
            progress.advance(weights[case]);
            left[case] -= 1;
            if left[case] == 0 {
                progress.end(None);
            }
        };
        let results = pool::each(weights.len() * each, self.threads, &self.cancel, in_room, done);
        let mut trials: Vec<Vec<T>> = weights.iter().map(|_| Vec::new()).collect();
        for (at, result) in results.into_iter().enumerate() {
            match result {
                // A room that was broken off is none.
                Some(Err(PredictError::Stopped)) => {}
                other => trials[at / each].extend(other.transpose()?),
            }
        }
        Ok(trials)
    }
}

/// Work from which on it is said beforehand how long it takes, of one core.
const LONG: Duration = Duration::from_secs(5);

/// Devices of the rooms that tell how fast this machine is, or messages of two boards.
const SAMPLE: u32 = 50;

impl RoomPool {
    /// Says how long much work takes, by the pace of a sample that is simulated: in as many rooms as there are
    /// threads, each of that weight.
    fn foretell(
        &mut self,
        all: Duration,
        weight: Duration,
        sample: impl FnOnce(&mut Self, std::ops::Range<u32>) -> Result<(), PredictError>,
    ) {
        if self.quiet || all <= LONG {
            return;
        }
        let rooms = self.threads as u32;
        let begun = Instant::now();
        if sample(self, 0..rooms).is_err() {
            // The work itself says what is wrong.
            return;
        }
        let pace = begun.elapsed().as_secs_f64() / (weight * rooms).as_secs_f64().max(1e-9);
        let takes = about(all.mul_f64(pace));
        say!("This takes about {takes}; fewer {} take less.", FlagName("--rooms"));
    }
}

impl RoomRunner for RoomPool {
    fn begin(&mut self, predictor: &Predictor, cases: &[RoomCase], rooms: u32) {
        let times: Vec<Duration> =
            cases.iter().map(|case| predictor.weight(case) * rooms).collect();
        if let Some(first) = cases.first() {
            let sample = predictor.case(first.devices.min(SAMPLE), first.mode);
            self.foretell(times.iter().sum(), predictor.weight(&sample), |pool, rooms| {
                pool.trials(predictor, &[sample], rooms, &|_| String::new()).map(drop)
            });
        }
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
            let most = match bound.is_capacity() {
                true => ", all that the channel carries".to_owned(),
                false => format!(" ({})", FlagName("--most")),
            };
            say!(
                "The largest fleet is looked for up to {}{most}: {takes} ({})",
                count(bound.devices),
                FlagName("--time-limit")
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
        let weights: Vec<Duration> = cases.iter().map(|it| predictor.weight(it)).collect();
        let work: Duration = weights.iter().map(|it| *it * each as u32).sum();
        if self.deadline.is_some_and(|it| it.forbids(work)) {
            self.is_late = true;
            self.cancel.store(true, Ordering::Relaxed);
        }
        let begun = Instant::now();
        let cancel = Arc::clone(&self.cancel);
        let stop = || cancel.load(Ordering::Relaxed);
        let job = |case: usize, room: u32| predictor.trial_until(&cases[case], room, &stop);
        let trials = self.each(&weights, rooms, job, &|case| label(&cases[case]));
        if let Some(deadline) = &mut self.deadline {
            deadline.pace = begun.elapsed().as_secs_f64() / work.as_secs_f64().max(1e-9);
            deadline.has_looked = true;
        }
        trials
    }

    fn message_trials(
        &mut self,
        predictor: &Predictor,
        cases: &[FramesCase],
        rooms: std::ops::Range<u32>,
        label: &dyn Fn(&FramesCase) -> String,
    ) -> Result<Vec<Vec<MessageTrial>>, PredictError> {
        let weights: Vec<Duration> = cases.iter().map(|it| predictor.message_weight(it)).collect();
        let all: Vec<Duration> = weights.iter().map(|it| *it * rooms.len() as u32).collect();
        if let Some(first) = cases.first() {
            let sample = FramesCase { messages: first.messages.min(SAMPLE), ..*first };
            self.foretell(all.iter().sum(), predictor.message_weight(&sample), |pool, rooms| {
                let job = |_, room: u32| predictor.message_trial(&sample, room);
                pool.each(&[Duration::ZERO], rooms, job, &|_| String::new()).map(drop)
            });
        }
        self.progress = Some(ProgressLine::guessed(&all, self.quiet));
        let job = |case: usize, room: u32| predictor.message_trial(&cases[case], room);
        self.each(&weights, rooms, job, &|case| label(&cases[case]))
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn is_late(&self) -> bool {
        self.is_late
    }
}
