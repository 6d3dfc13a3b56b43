//! The steps of a transmission.

use super::job::{SendFunction, SendStatus, SendStep, Transmission};
use super::{Action, DriverState, EngineCounters, PendingAcks, Sender, Tail, bump};
use crate::node::board::CpuWork;
use crate::node::engine::SEND_MAX_MS;
use crate::node::task::{Cx, TransmitOutcome};

/// Returns the number of slices of the back-off after which attempt 0, 1, … is given up: 2 ms each,
/// at most 100 ms.
const fn slices(count: u8) -> u8 {
    if count < 6 { 1 << count } else { 50 }
}

/// Number of times that a full driver is asked for one copy (`send_retry_num`, July 2022).
const RETRIES: u8 = 10;

/// Time between two of these requests, in ms.
const FULL_MS: u32 = 10;

/// Length of a slice of the back-off, in ms (`SEND_DELAY_UNIT_MSECS`).
const SLICE_MS: u32 = 2;

/// Result of a step.
enum StepResult {
    /// Go to the next step at once.
    Go(SendStep),
    /// Make this request to the radio, then go to the next step.
    Act(Action, SendStep),
    /// Wait until something happens.
    Wait,
}

impl<const FRAME: usize> Sender<FRAME> {
    pub(in super::super) fn poll(
        &mut self,
        cx: &mut Cx<'_>,
        counters: &mut EngineCounters,
        acks: &mut PendingAcks,
        buf: &mut [u8],
    ) -> Option<Action> {
        // Every attempt returns an action or waits, so this ends.
        while let Some(job) = &mut self.job {
            match turn(&mut self.driver, &self.frame, cx, counters, acks, buf, job) {
                StepResult::Wait => break,
                StepResult::Go(SendStep::End) => {
                    self.end(cx);
                    break;
                }
                StepResult::Go(step) => job.step = step,
                StepResult::Act(action, step) => {
                    job.step = step;
                    return Some(action);
                }
            }
        }
        self.last_wait(cx, counters, acks);
        None
    }

    /// Ends the transmission, and releases the lock.
    fn end(&mut self, cx: &Cx<'_>) {
        let Some(job) = self.job.take() else { return };
        if job.awaited {
            let (magic, attempts) = (job.magic, job.attempts);
            self.tail = Some(Tail { magic, until: job.patience(cx), attempts });
        } else if job.kind != SendFunction::Relay {
            self.outcome = Some(job.outcome());
        }
    }

    /// Waits for the acknowledgement after the lock was released.
    fn last_wait(&mut self, cx: &Cx<'_>, counters: &mut EngineCounters, acks: &mut PendingAcks) {
        let Some(Tail { magic, until, attempts }) = self.tail else { return };
        if take(acks, counters, magic) {
            self.outcome = Some(TransmitOutcome::Done { attempts });
        } else if cx.now >= until {
            self.outcome = Some(TransmitOutcome::TimedOut);
        } else {
            return;
        }
        self.tail = None;
    }
}

/// Makes a step of a transmission.
#[inline(always)]
fn turn(
    driver: &mut DriverState,
    frame: &[u8],
    cx: &mut Cx<'_>,
    counters: &mut EngineCounters,
    acks: &mut PendingAcks,
    buf: &mut [u8],
    job: &mut Transmission,
) -> StepResult {
    match job.step {
        SendStep::Open => open(cx, job),
        SendStep::Round => round(driver, cx, job),
        SendStep::Attempt => attempt(frame, cx, buf, job),
        SendStep::Ready => hand_over(frame, buf, job),
        SendStep::Handed => StepResult::Go(driver.took(cx, counters, job)),
        SendStep::Taken => StepResult::Go(taken(cx, counters, acks, job)),
        SendStep::Refused => StepResult::Go(refused(cx, job)),
        SendStep::Full | SendStep::Slice if cx.now < job.until => StepResult::Wait,
        SendStep::Full => StepResult::Go(again(job)),
        SendStep::Callback => callback(driver, cx, job),
        SendStep::Slice => StepResult::Go(after_slice(cx, counters, acks, job)),
        SendStep::Judge => StepResult::Go(judge(cx, job)),
        SendStep::Close => close(cx, job),
        SendStep::End => StepResult::Go(SendStep::End),
    }
}

/// Begins the next copy: on the next channel, if the transmission goes over all.
fn round(driver: &mut DriverState, cx: &mut Cx<'_>, job: &mut Transmission) -> StepResult {
    if job.kind == SendFunction::Send {
        // Answers to earlier frames are forgotten here, but those that are still to come are
        // not (trap 8).
        (driver.ok, driver.failed) = (false, false);
        if job.config.ack {
            job.count = 0;
        }
    }
    job.retries = RETRIES;
    let swept = cx.shared.air.country.first.saturating_add(job.index);
    match job.sweeps(cx) {
        true => tune(cx, swept, SendStep::Attempt),
        false => StepResult::Go(SendStep::Attempt),
    }
}

/// Spends the work of handing the frame over, after which the driver gets it.
fn attempt(frame: &[u8], cx: &mut Cx<'_>, buf: &mut [u8], job: &mut Transmission) -> StepResult {
    job.attempts = job.attempts.saturating_add(1);
    cx.spend(CpuWork::Transmit { bytes: u32::from(job.len) });
    if cx.shared.busy_ns > 0 {
        job.step = SendStep::Ready;
        return StepResult::Wait;
    }
    hand_over(frame, buf, job)
}

fn hand_over(frame: &[u8], buf: &mut [u8], job: &mut Transmission) -> StepResult {
    let len = usize::from(job.len);
    let frame = frame.get(..len).unwrap_or_default();
    let Some(place) = buf.get_mut(..frame.len()) else {
        // A buffer too short for the frame counts as a driver without a buffer.
        job.status = SendStatus::NoMemory;
        return StepResult::Go(SendStep::Judge);
    };
    place.copy_from_slice(frame);
    StepResult::Act(Action::Transmit { len, to: job.to }, SendStep::Handed)
}

/// Evaluates the driver's answer, once it is there or too late.
fn callback(driver: &mut DriverState, cx: &Cx<'_>, job: &mut Transmission) -> StepResult {
    let (ok, failed) = (driver.ok, driver.failed);
    if !ok && !failed && cx.now < job.until {
        return StepResult::Wait;
    }
    (driver.ok, driver.failed) = (false, false);
    job.status = if ok { SendStatus::Ok } else { SendStatus::Fail };
    StepResult::Go(if !ok {
        SendStep::Judge
    } else if job.kind == SendFunction::Send && !job.config.broadcast && !job.config.ack {
        SendStep::Close
    } else if job.awaited && !cx.shared.settings.compat.sends_ahead() {
        job.slices = slices(job.count);
        begin_slice(cx, job)
    } else {
        SendStep::Judge
    })
}

impl DriverState {
    /// Counts a frame that the driver has accepted, and returns the next step.
    pub(super) fn took(
        &mut self,
        cx: &Cx<'_>,
        counters: &mut EngineCounters,
        job: &mut Transmission,
    ) -> SendStep {
        bump(&mut counters.transmitted);
        self.buffered = self.buffered.saturating_add(1);
        if cx.shared.settings.compat.sends_ahead() {
            job.status = SendStatus::Ok;
            return SendStep::Taken;
        }
        let full = self.buffered >= u16::from(cx.shared.settings.tx_buffers / 2);
        if full || job.config.ack || !job.config.broadcast {
            return await_callback(cx, job);
        }
        job.status = SendStatus::Ok;
        SendStep::Judge
    }
}

/// Returns the step after a copy that is not waited for: the end if the acknowledgement is there
/// already; else the next copy, and after the last one of a unicast frame the driver's answer.
fn taken(
    cx: &Cx<'_>,
    counters: &mut EngineCounters,
    acks: &mut PendingAcks,
    job: &mut Transmission,
) -> SendStep {
    if job.awaited && take(acks, counters, job.magic) {
        job.awaited = false;
        return SendStep::Close;
    }
    let last = !job.config.ack || job.count.saturating_add(1) >= job.config.copies;
    if last && job.kind == SendFunction::Send && !job.config.broadcast {
        return await_callback(cx, job);
    }
    SendStep::Judge
}

/// Returns the step after a refusal of the driver. Only the component of July 2022 waits for a
/// place.
fn refused(cx: &Cx<'_>, job: &mut Transmission) -> SendStep {
    if cx.shared.settings.compat.sends_ahead() {
        // Where 10 ms have no tick the device only yields; here time would stand still.
        job.until = cx.shared.settings.tick.pause_ms(cx.now, FULL_MS);
        return SendStep::Full;
    }
    SendStep::Judge
}

/// Returns the step after 10 ms with a full driver: copies of a frame to be acknowledged are
/// attempts themselves.
fn again(job: &mut Transmission) -> SendStep {
    if job.kind == SendFunction::Send
        && job.config.ack
        && job.count.saturating_add(1) < job.config.copies
    {
        job.count += 1;
        return SendStep::Attempt;
    }
    job.retries = job.retries.saturating_sub(1);
    if job.retries > 0 { SendStep::Attempt } else { SendStep::Judge }
}

/// Sets the channel that the frame is to be sent on (sections 2.4, step 5, and 2.9).
fn open(cx: &mut Cx<'_>, job: &mut Transmission) -> StepResult {
    if job.kind == SendFunction::Group && job.config.copies == 0 {
        return StepResult::Go(SendStep::Close);
    }
    let wanted = job.config.channel;
    let here = !(1..=14).contains(&wanted) || wanted == cx.shared.air.channel;
    if job.kind == SendFunction::Relay || here {
        return StepResult::Go(SendStep::Round);
    }
    if cx.shared.air.locked {
        job.warn_locked(cx);
    } else if cx.shared.air.country.channels().contains(&wanted) {
        return tune(cx, wanted, SendStep::Round);
    } else {
        job.warn_country(cx);
    }
    // Above the country's channels the component returns ESP_OK without having sent anything.
    let locked = cx.shared.air.locked;
    job.status =
        if !locked && job.beyond_country(cx) { SendStatus::Ok } else { SendStatus::NoChannel };
    StepResult::Go(SendStep::Close)
}

fn tune(cx: &mut Cx<'_>, channel: u8, next: SendStep) -> StepResult {
    if cx.shared.air.channel == channel {
        return StepResult::Go(next);
    }
    cx.shared.air.channel = channel;
    StepResult::Act(Action::Tune(channel), next)
}

/// Begins to wait for the driver's answer, and returns the step that does.
fn await_callback(cx: &Cx<'_>, job: &mut Transmission) -> SendStep {
    job.until = job.patience(cx);
    SendStep::Callback
}

/// Begins a slice, and returns the step that waits for its end. Below 500 Hz a slice has no ticks
/// at all, and the whole back-off collapses to nothing (trap 1).
fn begin_slice(cx: &Cx<'_>, job: &mut Transmission) -> SendStep {
    job.until = cx.shared.settings.tick.delay_ms(cx.now, SLICE_MS);
    SendStep::Slice
}

/// Returns the step after a slice: the end if the acknowledgement is there, else the next slice,
/// if one is left.
fn after_slice(
    cx: &Cx<'_>,
    counters: &mut EngineCounters,
    acks: &mut PendingAcks,
    job: &mut Transmission,
) -> SendStep {
    if take(acks, counters, job.magic) {
        (job.awaited, job.status) = (false, SendStatus::Ok);
        return SendStep::Close;
    }
    job.slices = job.slices.saturating_sub(1);
    if job.slices == 0 {
        job.status = SendStatus::Timeout;
        return SendStep::Judge;
    }
    begin_slice(cx, job)
}

/// Takes acknowledgements until one has this magic; the others are lost.
fn take(acks: &mut PendingAcks, counters: &mut EngineCounters, magic: u16) -> bool {
    while let Some(ack) = acks.pop_front() {
        if ack == magic {
            return true;
        }
        bump(&mut counters.late_acks);
    }
    false
}

/// Returns the step after an attempt: the next attempt, the next channel, the next copy, or the
/// end.
fn judge(cx: &mut Cx<'_>, job: &mut Transmission) -> SendStep {
    let attempts = job.kind == SendFunction::Send && job.config.ack;
    if attempts {
        job.count = job.count.saturating_add(1);
        if job.count < job.config.copies {
            return SendStep::Attempt;
        }
    }
    // Since August 2022 the component reports a unicast frame that was not delivered.
    let told = !cx.shared.settings.compat.sends_ahead() || job.status == SendStatus::NoMemory;
    if job.status != SendStatus::Ok && told {
        job.warn(cx);
    }
    job.index = job.index.saturating_add(1);
    if job.sweeps(cx) && job.index < cx.shared.air.country.count {
        return SendStep::Round;
    }
    job.index = 0;
    if attempts {
        return SendStep::Close;
    }
    job.count = job.count.saturating_add(1);
    let in_time = job.kind != SendFunction::Relay || job.elapsed(cx) < forward_ticks(cx);
    if job.count < job.config.copies && in_time { SendStep::Round } else { SendStep::Close }
}

/// Returns for how many ticks frames are forwarded: `send_max_timeout`, which is in ticks,
/// converted to ticks once more (section 2.8): 3 s at 1000 Hz, 0.3 s at 100 Hz.
fn forward_ticks(cx: &Cx<'_>) -> u64 {
    let tick = cx.shared.settings.tick;
    u64::from(tick.ticks(tick.ticks(SEND_MAX_MS)))
}

/// Returns to the former channel where the component does.
fn close(cx: &mut Cx<'_>, job: &Transmission) -> StepResult {
    let moved = job.config.channel != job.primary && !cx.shared.air.locked;
    let back = match job.kind {
        SendFunction::Send => moved && cx.shared.settings.restore_channel,
        SendFunction::Group => moved,
        SendFunction::Relay => job.sweeps(cx),
    };
    if back { tune(cx, job.primary, SendStep::End) } else { StepResult::Go(SendStep::End) }
}
