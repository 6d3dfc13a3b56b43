//! The initiator of a throughput test: messages as fast as possible, STOP, and the report.

use super::figure::{Fixed2, int};
use super::{MessageQueue, TAG, TestSetup, error_name, micros, millis_since};
use crate::component::iperf::{IperfHead, IperfKind};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest, TaskStep, TransmitOutcome};
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Cause, Fate, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};

/// Time to wait for the answer to STOP, in ms.
const STOP_WAIT_MS: u32 = 1000;
/// Greatest number of times that STOP is repeated.
const STOP_RETRIES: u8 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamPhase {
    /// Prints the head of the table.
    Head,
    /// Sends the next message, or ends.
    Next,
    /// Waits for the lock to send a message or a STOP.
    Wanted { stop: bool },
    /// A message or a STOP is being sent.
    InFlight { stop: bool },
    /// The send of a message has ended: its outcome, and when.
    Sent(TransmitOutcome, Instant),
    /// The send of a STOP has ended: its outcome, and when.
    StopSent(TransmitOutcome, Instant),
    /// Pauses after a refusal.
    Pause(Instant),
    /// Records the rest and the total.
    Total(Instant),
    /// Waits for the answer to STOP until this instant.
    Waiting(Instant),
    /// Prints the report: signal and channel of the answer, or the error.
    Report(Result<(i8, u8), &'static str>),
}

/// Task `espnow_iperf_initiator_task`.
#[derive(Debug)]
pub(super) struct StreamTask {
    phase: StreamPhase,
    start: Instant,
    /// Header of the next message.
    head: IperfHead,
    total: u32,
    /// Variables `report_time` and `report_count` of the component.
    report_at: Instant,
    report_count: u32,
    spent_ms: u32,
    retries: u8,
    attempts: u64,
    due: Instant,
    handed: Instant,
    meter: FlowMeter,
    counts: FlowCounts,
}

impl StreamTask {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            phase: StreamPhase::Head,
            start: now,
            head: IperfHead { kind: IperfKind::Bandwidth, seq: 0 },
            total: 0,
            report_at: now,
            report_count: 0,
            spent_ms: 0,
            retries: STOP_RETRIES,
            attempts: 0,
            due: now,
            handed: now,
            meter: FlowMeter::new(Link(0), Observer::Sender, Duration::ZERO, now),
            counts: FlowCounts { datagrams: Some(0), ..FlowCounts::default() },
        }
    }

    /// Runs the task; returns `None` when it has ended.
    pub(super) fn run(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &mut TestSetup,
        queue: &mut MessageQueue,
        finish: bool,
    ) -> Option<TaskStep> {
        loop {
            let step = match self.phase {
                StreamPhase::Head => self.begin(cx, setup),
                StreamPhase::Next => self.next(cx, setup, finish),
                StreamPhase::Wanted { .. } => Some(TaskStep::Send),
                StreamPhase::InFlight { .. } => Some(TaskStep::Idle),
                StreamPhase::Sent(outcome, at) => self.settle(cx, setup, outcome, at),
                StreamPhase::StopSent(outcome, at) => self.stop_settle(cx, outcome, at),
                StreamPhase::Pause(until) if cx.now < until => Some(TaskStep::Until(until)),
                StreamPhase::Pause(_) => {
                    self.phase = StreamPhase::Next;
                    None
                }
                StreamPhase::Total(at) => self.record_total(cx, at),
                StreamPhase::Waiting(until) => self.wait(cx, setup, queue, until),
                StreamPhase::Report(answer) => {
                    self.report(cx, setup, answer);
                    return None;
                }
            };
            if step.is_some() {
                return step;
            }
        }
    }

    fn begin(&mut self, cx: &mut Cx<'_>, setup: &TestSetup) -> Option<TaskStep> {
        let head = "[  Responder MAC  ]   Interval     Transfer     Frame_rate     Bandwidth";
        let interval = seconds(setup.interval);
        self.start = cx.now;
        self.report_at = cx.now + interval;
        self.meter = FlowMeter::new(Link(0), Observer::Sender, interval, cx.now);
        cx.log(LogLevel::Info, TAG, format_args!("{head}"));
        self.phase = StreamPhase::Next;
        None
    }

    fn next(&mut self, cx: &mut Cx<'_>, setup: &TestSetup, finish: bool) -> Option<TaskStep> {
        if cx.now < self.start + seconds(setup.time) && !finish {
            self.due = cx.now;
            self.phase = StreamPhase::Wanted { stop: false };
        } else {
            self.head.kind = IperfKind::Stop;
            self.spent_ms = millis_since(cx.now, self.start);
            self.phase = StreamPhase::Total(cx.now);
        }
        None
    }

    pub(super) fn compose(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &TestSetup,
        payload: &mut [u8],
    ) -> Option<SendRequest> {
        let StreamPhase::Wanted { stop } = self.phase else { return None };
        self.handed = cx.now;
        self.phase = StreamPhase::InFlight { stop };
        let Some(len) = self.head.emit(payload, usize::from(setup.len)) else {
            self.sent(cx, TransmitOutcome::Refused);
            return None;
        };
        Some(setup.outgoing(cx, setup.config, len))
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        if let StreamPhase::InFlight { stop } = self.phase {
            let ended = if stop { StreamPhase::StopSent } else { StreamPhase::Sent };
            self.phase = ended(outcome, cx.now);
        }
    }

    /// Records and counts a message after its `espnow_send`.
    fn settle(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &TestSetup,
        outcome: TransmitOutcome,
        at: Instant,
    ) -> Option<TaskStep> {
        if !close_intervals(&mut self.meter, cx, at, &self.counts) {
            return Some(TaskStep::Until(cx.now));
        }
        if setup.told {
            self.record(cx, setup, outcome, at);
        }
        self.attempts += 1;
        self.phase = StreamPhase::Next;
        if !matches!(outcome, TransmitOutcome::Done { .. } | TransmitOutcome::TimedOut) {
            let name = error_name(outcome);
            let text = format_args!("[espnow_iperf_initiator_task, 264]: <{name}> espnow_send");
            cx.log(LogLevel::Warn, TAG, text);
            // A driver without a buffer answers at once; on the device time passes all the same.
            if outcome == TransmitOutcome::Refused || cx.now <= self.handed {
                self.phase = StreamPhase::Pause(cx.now + cx.shared.settings.tick.period());
            }
            return None;
        }
        self.head.seq = self.head.seq.wrapping_add(1);
        self.total = self.total.wrapping_add(1);
        self.counts.bytes += u64::from(setup.len);
        self.counts.datagrams = self.counts.datagrams.map(|n| n + 1);
        if cx.now >= self.report_at {
            self.print_interval(cx, setup);
        }
        None
    }

    fn record(&self, cx: &mut Cx<'_>, setup: &TestSetup, outcome: TransmitOutcome, at: Instant) {
        let (acked, fate) = match outcome {
            TransmitOutcome::Done { .. } => (Some(at), Fate::Delivered),
            TransmitOutcome::TimedOut => (None, Fate::Lost(Cause::Unknown)),
            TransmitOutcome::Failed => (None, Fate::Lost(Cause::RetryLimit)),
            TransmitOutcome::Refused => (None, Fate::Lost(Cause::NoBuffers)),
        };
        cx.sample(Sample::Probe(Probe {
            link: Link(0),
            seq: self.attempts,
            bytes: u32::from(setup.len),
            due: self.due,
            sent: Some(self.handed).filter(|_| outcome != TransmitOutcome::Refused),
            acked,
            fate,
            ..Probe::default()
        }));
    }

    fn print_interval(&mut self, cx: &mut Cx<'_>, setup: &TestSetup) {
        let interval = i64::from(setup.interval);
        let end = (micros(self.report_at).wrapping_sub(micros(self.start))) / 1_000_000;
        let messages = i64::from(self.head.seq) - i64::from(self.report_count);
        let size = (messages * i64::from(setup.len)) as f64 / 1e6;
        let rate = Fixed2(messages as f64 / interval as f64);
        let (bits, size) = (Fixed2(size * 8.0 / interval as f64), Fixed2(size));
        let (from, to) = (end - interval, end);
        let peer = setup.peer;
        let text =
            format_args!("[{peer}]  {from:2}-{to:2} sec  {size} MBytes   {rate} Hz  {bits} Mbps");
        cx.log(LogLevel::Info, TAG, text);
        self.report_at = cx.now + seconds(setup.interval);
        self.report_count = self.head.seq;
    }

    /// Records the rest of the stream, then wants to send STOP.
    fn record_total(&mut self, cx: &mut Cx<'_>, at: Instant) -> Option<TaskStep> {
        if !close_stream(&mut self.meter, cx, at, &self.counts) {
            return Some(TaskStep::Until(cx.now));
        }
        self.phase = StreamPhase::Wanted { stop: true };
        None
    }

    /// Acts on the outcome of the `espnow_send` of a STOP. Only a STOP that went out is waited for;
    /// the buffer is then zeroed, so that the frame repeated after a silent second is no STOP but
    /// message 0.
    fn stop_settle(
        &mut self,
        cx: &mut Cx<'_>,
        outcome: TransmitOutcome,
        at: Instant,
    ) -> Option<TaskStep> {
        if outcome.is_done() {
            self.head = IperfHead { kind: IperfKind::Bandwidth, seq: 0 };
            self.phase = StreamPhase::Waiting(cx.shared.settings.tick.delay_ms(at, STOP_WAIT_MS));
        } else {
            let name = error_name(outcome);
            let text = format_args!("[espnow_iperf_initiator_task, 289]: <{name}> espnow_send");
            cx.log(LogLevel::Warn, TAG, text);
            self.retry(name);
        }
        None
    }

    fn wait(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &mut TestSetup,
        queue: &mut MessageQueue,
        until: Instant,
    ) -> Option<TaskStep> {
        // Any message counts as the answer.
        if let Some(heard) = queue.pop_front() {
            self.head = heard.head;
            setup.peer = heard.from;
            self.phase = StreamPhase::Report(Ok((heard.rssi, heard.channel)));
        } else if cx.now < until {
            return Some(TaskStep::Until(until));
        } else {
            self.retry("ESP_FAIL");
        }
        None
    }

    fn retry(&mut self, error: &'static str) {
        self.phase = match self.retries.checked_sub(1) {
            Some(left) => {
                self.retries = left;
                StreamPhase::Wanted { stop: true }
            }
            None => StreamPhase::Report(Err(error)),
        };
    }

    fn report(&self, cx: &mut Cx<'_>, setup: &TestSetup, answer: Result<(i8, u8), &'static str>) {
        let (rssi, channel) = match answer {
            Ok(signal) => signal,
            Err(name) => {
                let text = format_args!("<{name}> Receive responder response failed");
                return cx.log(LogLevel::Warn, TAG, text);
            }
        };
        let (total, ms) = (self.total, self.spent_ms);
        // One too few: the responder's counter has left out message 0 and counted STOP.
        let written = self.head.seq.saturating_sub(1);
        if total == 0 || written == 0 || ms == 0 {
            return;
        }
        let lost = total.wrapping_sub(written);
        let size = f64::from(total.wrapping_mul(u32::from(setup.len))) / 1e6;
        let bits = Fixed2(size * 8.0 * 1000.0 / f64::from(ms));
        let spacing = Fixed2(f64::from(ms) / f64::from(written));
        let percent = Fixed2(f64::from(lost) * 100.0 / f64::from(total));
        let (size, seconds) = (Fixed2(size), ms / 1000);
        let (lost, total) = (int(lost), int(total));
        cx.log(LogLevel::Info, TAG, format_args!("initiator Report:"));
        let head = "[ ID] Interval      Transfer       Bandwidth      Jitter   \
                    Lost/Total Datagrams  RSSI  Channel";
        cx.log(LogLevel::Info, TAG, format_args!("{head}"));
        let text = format_args!(
            "[000] {:2}-{seconds:2} sec    {size} MBytes    {bits} Mbps    {spacing} ms    \
             {lost}/{total} ({percent}%)    {rssi}    {channel}",
            0
        );
        cx.log(LogLevel::Info, TAG, text);
    }
}

fn seconds(n: u16) -> Duration {
    Duration::from_secs(u64::from(n))
}

/// Records the intervals that have ended by `at`; returns false if there is no room for all and for
/// one sample more.
pub(super) fn close_intervals(
    meter: &mut FlowMeter,
    cx: &mut Cx<'_>,
    at: Instant,
    counts: &FlowCounts,
) -> bool {
    while cx.sample_room() {
        match meter.ended(at, counts) {
            Some(interval) => cx.sample(Sample::Interval(interval)),
            None => return true,
        }
    }
    false
}

/// Records the last interval and the total of a stream that ended at `end`; returns false if there
/// was no room for all of it. Not to be called again once it has returned true.
pub(super) fn close_stream(
    meter: &mut FlowMeter,
    cx: &mut Cx<'_>,
    end: Instant,
    counts: &FlowCounts,
) -> bool {
    if !close_intervals(meter, cx, end, counts) {
        return false;
    }
    if let Some(rest) = meter.rest(end, counts) {
        cx.sample(Sample::Interval(rest));
    }
    if !cx.sample_room() {
        return false;
    }
    cx.sample(Sample::Interval(meter.total(end, counts)));
    true
}
