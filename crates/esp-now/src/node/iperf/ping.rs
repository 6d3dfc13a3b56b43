//! The initiator with `-p`: one ping after the other, and the report.

use super::figure::{Fixed2, int};
use super::{MessageQueue, QueuedMessage, TAG, TestSetup, error_name, micros, millis_since};
use crate::component::iperf::{IperfHead, IperfKind};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest, TaskStep, TransmitOutcome};
use espbench_model::sample::{Cause, Fate, Link, Probe, Sample};
use espbench_model::time::Instant;

/// Number of pings that are remembered: an answer to one of them is told from a stray one.
const SLOTS: usize = 4;
/// Time to wait for an answer, in ms; it starts anew with each wrong answer.
const TIMEOUT_MS: u32 = 3000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PingPhase {
    /// Begin the next ping, or report.
    Next,
    /// Waits for the lock.
    Wanted,
    /// The ping is being sent.
    InFlight,
    /// The send has ended: its outcome, and when.
    Sent(TransmitOutcome, Instant),
    /// Waits for the answer until this instant.
    Waiting(Instant),
    /// Pauses after a refusal.
    Pause(Instant),
    /// Prints the report after the last ping.
    Report,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PingState {
    Empty,
    /// Not yet recorded; the cause is recorded if no answer comes.
    Open(Cause),
    Recorded,
}

/// State of one ping.
#[derive(Clone, Copy, Debug)]
struct PingSlot {
    seq: u32,
    due: Instant,
    sent: Option<Instant>,
    acked: Option<Instant>,
    state: PingState,
}

const EMPTY: PingSlot =
    PingSlot { seq: 0, due: Instant::ZERO, sent: None, acked: None, state: PingState::Empty };

/// Task `espnow_iperf_ping_task`.
#[derive(Debug)]
pub(super) struct PingTask {
    phase: PingPhase,
    begun: Instant,
    start: Instant,
    /// Number of the current ping, and of the pings that were begun before it.
    seq: u32,
    /// Number in the buffer: that of the last message that came, until the next ping is begun.
    buffer_seq: u32,
    received: u32,
    spent_ms: u32,
    max_ms: u32,
    min_ms: u32,
    slots: [PingSlot; SLOTS],
}

impl PingTask {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            phase: PingPhase::Next,
            begun: now,
            start: now,
            seq: 0,
            buffer_seq: 0,
            received: 0,
            spent_ms: 0,
            max_ms: 0,
            min_ms: u32::MAX,
            slots: [EMPTY; SLOTS],
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
        // Each turn leaves a phase for a later one; only a failed send comes back to the first.
        loop {
            match self.phase {
                PingPhase::Next if self.seq >= setup.count || finish => {
                    self.phase = PingPhase::Report
                }
                PingPhase::Next => return Some(self.begin(cx, setup)),
                PingPhase::Wanted => return Some(TaskStep::Send),
                PingPhase::InFlight => return Some(TaskStep::Idle),
                PingPhase::Sent(outcome, at) => self.settle(cx, setup, outcome, at),
                PingPhase::Waiting(until) => {
                    if let Some(step) = self.wait(cx, setup, queue, until) {
                        return Some(step);
                    }
                }
                PingPhase::Pause(until) if cx.now < until => return Some(TaskStep::Until(until)),
                PingPhase::Pause(_) => self.phase = PingPhase::Next,
                PingPhase::Report => {
                    return if self.flush(cx, setup.len) {
                        self.report(cx, setup);
                        None
                    } else {
                        Some(TaskStep::Until(cx.now))
                    };
                }
            }
        }
    }

    /// Begins a ping, once the record of the one that had its slot is taken.
    fn begin(&mut self, cx: &mut Cx<'_>, setup: &TestSetup) -> TaskStep {
        if let Some(slot) = self.slots.get_mut(self.seq as usize % SLOTS) {
            if !evict(slot, cx, setup.len) {
                return TaskStep::Until(cx.now);
            }
            *slot = PingSlot { seq: self.seq, due: cx.now, ..EMPTY };
        }
        // The pin stays low after a ping that was not answered: no edge for the next one then.
        setup.pin(cx, false);
        self.start = cx.now;
        self.buffer_seq = self.seq;
        self.phase = PingPhase::Wanted;
        TaskStep::Send
    }

    pub(super) fn compose(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &TestSetup,
        payload: &mut [u8],
    ) -> Option<SendRequest> {
        if self.phase != PingPhase::Wanted {
            return None;
        }
        let head = IperfHead { kind: IperfKind::Ping, seq: self.seq };
        let Some(len) = head.emit(payload, usize::from(setup.len)) else {
            self.phase = PingPhase::Sent(TransmitOutcome::Refused, cx.now);
            return None;
        };
        self.phase = PingPhase::InFlight;
        if let Some(slot) = self.slot(self.seq) {
            slot.sent = Some(cx.now);
            slot.state = PingState::Open(Cause::Unknown);
        }
        Some(setup.outgoing(cx, setup.config, len))
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        if self.phase == PingPhase::InFlight {
            self.phase = PingPhase::Sent(outcome, cx.now);
        }
    }

    /// Acts on the outcome of `espnow_send`: waits for the answer, or goes on to the next ping.
    fn settle(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &TestSetup,
        outcome: TransmitOutcome,
        at: Instant,
    ) {
        let told = setup.told;
        if let Some(slot) = self.slot(self.seq) {
            match outcome {
                TransmitOutcome::Done { .. } => slot.acked = Some(at).filter(|_| told),
                TransmitOutcome::TimedOut => slot.state = PingState::Open(Cause::Unknown),
                TransmitOutcome::Failed => slot.state = PingState::Open(Cause::RetryLimit),
                TransmitOutcome::Refused => {
                    slot.sent = None;
                    slot.state = PingState::Open(Cause::NoBuffers);
                }
            }
        }
        if outcome.is_done() {
            self.phase = PingPhase::Waiting(cx.shared.settings.tick.delay_ms(at, TIMEOUT_MS));
            return;
        }
        let name = error_name(outcome);
        let text = format_args!("[espnow_iperf_ping_task, 469]: <{name}> espnow_send");
        cx.log(LogLevel::Warn, TAG, text);
        self.seq = self.seq.saturating_add(1);
        // A driver without a buffer answers at once; on the device time passes all the same.
        self.phase = if outcome == TransmitOutcome::Refused || at <= self.start {
            PingPhase::Pause(cx.now + cx.shared.settings.tick.period())
        } else {
            PingPhase::Next
        };
    }

    /// Handles the messages that came; returns a step if the ping still waits.
    fn wait(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &mut TestSetup,
        queue: &mut MessageQueue,
        until: Instant,
    ) -> Option<TaskStep> {
        if !queue.is_empty() && !cx.sample_room() {
            return Some(TaskStep::Until(cx.now));
        }
        if let Some(heard) = queue.pop_front() {
            self.record(cx, setup, &heard);
            setup.peer = heard.from;
            self.buffer_seq = heard.head.seq;
            if heard.head == (IperfHead { kind: IperfKind::PingAck, seq: self.seq }) {
                self.answered(cx, setup, &heard);
            } else {
                let (size, seq, got) = (heard.len, int(self.seq), int(heard.head.seq));
                let text = format_args!("data_size: {size}, send_seq: {seq}, recv_seq: {got}");
                cx.log(LogLevel::Warn, TAG, text);
                let wait = cx.shared.settings.tick.delay_ms(cx.now, TIMEOUT_MS);
                self.phase = PingPhase::Waiting(wait);
            }
            // The line is printed before the clock is read for the next ping.
            return Some(TaskStep::Until(cx.now));
        }
        if cx.now < until {
            return Some(TaskStep::Until(until));
        }
        let seq = int(self.buffer_seq);
        cx.log(LogLevel::Warn, TAG, format_args!("seq={seq} Destination Host Unreachable"));
        setup.log_edges(cx, self.seq, self.start, None);
        self.seq = self.seq.saturating_add(1);
        self.phase = PingPhase::Next;
        Some(TaskStep::Until(cx.now))
    }

    fn answered(&mut self, cx: &mut Cx<'_>, setup: &TestSetup, heard: &QueuedMessage) {
        setup.pin(cx, true);
        let ms = millis_since(cx.now, self.start);
        self.spent_ms = self.spent_ms.wrapping_add(ms);
        self.max_ms = self.max_ms.max(ms);
        self.min_ms = self.min_ms.min(ms);
        self.received = self.received.saturating_add(1);
        let (len, from, seq) = (heard.len, heard.from, int(heard.head.seq));
        let (rssi, time) = (heard.rssi, int(ms));
        let text = format_args!("{len} bytes from {from}: seq={seq} rssi={rssi} time={time} ms");
        cx.log(LogLevel::Info, TAG, text);
        setup.log_edges(cx, heard.head.seq, self.start, Some(cx.now));
        self.seq = self.seq.saturating_add(1);
        self.phase = PingPhase::Next;
    }

    /// Records the answer to a ping that is remembered.
    fn record(&mut self, cx: &mut Cx<'_>, setup: &TestSetup, heard: &QueuedMessage) {
        let current = heard.head.seq == self.seq;
        let now = cx.now;
        if heard.head.kind != IperfKind::PingAck {
            return;
        }
        let Some(slot) = self.slot(heard.head.seq) else { return };
        let fate = match slot.state {
            PingState::Empty => return,
            PingState::Open(_) if current => Fate::Delivered,
            PingState::Open(_) => Fate::Late,
            PingState::Recorded => Fate::Duplicate,
        };
        slot.state = PingState::Recorded;
        let probe = Probe {
            received: Some(now),
            stamped: Some(heard.at),
            fate,
            ..probe_of(slot, setup.len)
        };
        cx.sample(Sample::Probe(probe));
    }

    fn slot(&mut self, seq: u32) -> Option<&mut PingSlot> {
        self.slots.get_mut(seq as usize % SLOTS).filter(|slot| slot.seq == seq)
    }

    /// Records the pings that are still open; returns false if there was no room for all.
    fn flush(&mut self, cx: &mut Cx<'_>, len: u16) -> bool {
        // In the order of their numbers: the oldest slot is the one that would be used next.
        (0..SLOTS).all(|i| {
            let at = (self.seq as usize + i) % SLOTS;
            self.slots.get_mut(at).is_none_or(|slot| evict(slot, cx, len))
        })
    }

    fn report(&self, cx: &mut Cx<'_>, setup: &TestSetup) {
        let level = cx.shared.settings.ping_report;
        let (sent, received) = (self.seq, self.received);
        let lost = Fixed2(f64::from(sent.wrapping_sub(received)) * 100.0 / f64::from(sent));
        let total = ((micros(cx.now).wrapping_sub(micros(self.begun))) / 1000) as i32;
        let (max, min) = (int(self.max_ms), int(self.min_ms));
        let average = Fixed2(f64::from(self.spent_ms) / f64::from(received));
        cx.log(LogLevel::Info, TAG, format_args!("initiator ping report:"));
        cx.log(LogLevel::Info, TAG, format_args!("ping statistics for {}", setup.peer));
        let text = format_args!(
            "{sent} packets transmitted, {received} received, {lost}% packet loss, \
             time: total {total} ms, max: {max}, min: {min}, average {average} ms"
        );
        cx.log(level, TAG, text);
    }
}

/// Records a ping that was not answered; returns false if there is no room.
fn evict(slot: &mut PingSlot, cx: &mut Cx<'_>, len: u16) -> bool {
    let PingState::Open(cause) = slot.state else { return true };
    if !cx.sample_room() {
        return false;
    }
    let probe = Probe { fate: Fate::Lost(cause), ..probe_of(slot, len) };
    cx.sample(Sample::Probe(probe));
    slot.state = PingState::Recorded;
    true
}

fn probe_of(slot: &PingSlot, len: u16) -> Probe {
    Probe {
        link: Link(0),
        seq: u64::from(slot.seq),
        bytes: u32::from(len),
        due: slot.due,
        sent: slot.sent,
        acked: slot.acked,
        ..Probe::default()
    }
}
