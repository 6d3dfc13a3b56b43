//! The whole device: engine, services and console, driven as one machine.
//!
//! | module | contents |
//! |---|---|
//! | `parts` | the services, and the setup of a node |
//! | `dispatch` | delivery of payloads to the services |
//! | `commands` | execution of console commands by the parts |
//! | `execute` | when commands run, and when they return |
//! | `job` | work on many devices: one upgrade or one distribution of keys at a time |
//! | `counts` | counts of what was dropped |
//! | `calm` | short cuts for the most frequent cases |
//!
//! # The rule for a driver
//!
//! After [`Node::handle`], call [`Node::poll`] until it answers [`NodeOutput::WaitUntil`] or
//! [`NodeOutput::Idle`]; then nothing is wanted before that instant, unless something happens.
//!
//! # Time of the processor
//!
//! Work costs as much time as the [`Board`] states ([`Board::cost_ns`]). While work lasts the parts
//! stand still, but frames still enter the queue, as with the device's Wi-Fi task.
//!
//! # Commands
//!
//! A command that waits for something (a scan, a download, a transmission) holds its console, as on
//! the device; bytes typed meanwhile wait. A command that another device sent runs inside the main
//! task, so frames wait in the queue until it has returned: answers to its own scan, too, as on the
//! device. Every command ends by itself; should its part ever be idle without a result, the command
//! fails and the console is free again.

mod calm;
mod commands;
mod counts;
mod dispatch;
mod execute;
mod job;
mod parts;
#[cfg(test)]
mod tests;

pub use counts::Dropped;
pub use job::DeviceJob;
pub use parts::{Parts, Services, Setup, TimeRole};

use super::board::Board;
use super::engine::{Action, Delivery, Engine, EngineCounters, FRAME_MAX, Next, QUEUE};
use super::print::LogLevel;
use super::schedule::{NodePart, Schedule};
use super::security;
use super::task::{Cx, EspNowEvent, NodeSettings, SendRequest, Shared, TaskStep, TransmitOutcome};
use super::{Input, NodeOutput, Then};
use crate::component::DataType;
use core::fmt;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// Number of turns of parts in one [`Node::poll`], so that parts that only yield to each other do
/// not keep the driver waiting.
const TURNS: usize = 64;

/// A device.
///
/// | parameter | bound |
/// |---|---|
/// | `DEVICES` | number of devices that it can update, or hand a key to, in one job |
/// | `SESSIONS` | number of them with which it agrees on a key in one round, at most 100 |
/// | `ARENA` | bytes of frames that wait for the main task |
/// | `FRAME` | the longest frame that it sends: 250 bytes with ESP-NOW v1.0 |
/// | `EVENTS` | frames that wait for the main task, whatever the settings say, and the one being handled |
///
/// The defaults are the component's own bounds; [`SmallNode`] is for a chip.
// The order keeps the fields that every frame touches together.
#[derive(Debug)]
#[repr(C)]
pub struct Node<
    const DEVICES: usize = 128,
    const SESSIONS: usize = { security::initiator::ROUND_MAX },
    const ARENA: usize = 8192,
    const FRAME: usize = { FRAME_MAX },
    const EVENTS: usize = { QUEUE as usize + 1 },
> {
    /// Service that the main task is in.
    handler: Option<NodePart>,
    /// Whether the last transmission was a relayed frame: then one of the node's own comes first.
    relayed: bool,
    /// Commands that have not returned yet.
    running: execute::PendingCommands,
    /// Time until which the processor is at work.
    busy_until: Instant,
    /// Channel that the driver was told.
    tuned: u8,
    /// Whether all was checked and found at rest, except for waiting frames and the processor, and
    /// nothing has happened since but plain data and the passing of time. Every other call resets
    /// it.
    quiet: bool,
    /// Time until which the device is as quiet, but for a transmission that waits for the driver's
    /// answer. Every other call resets it.
    awaits_until: Instant,
    schedule: Schedule,
    shared: Shared,
    engine: Engine<ARENA, FRAME, EVENTS>,
    parts: Parts<DEVICES, SESSIONS, FRAME>,
}

/// A device whose main task may have as many frames waiting as a hundred others can send at once
/// (`NodeSettings::queue`).
pub type RoomyNode = Node<128, { security::initiator::ROUND_MAX }, 32_768, { FRAME_MAX }, 129>;

/// A node for a chip with little memory, all services on: up to 100 devices, 48 of them in one
/// round of the handshake, ESP-NOW v1.0. At most 24 KiB.
pub type SmallNode = Node<100, 48, 4096, 250, 33>;

const _: () = assert!(size_of::<SmallNode>() <= 24 * 1024);

/// Error: the send lock is taken; try again after the next [`NodeOutput::WaitUntil`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl<
    const DEVICES: usize,
    const SESSIONS: usize,
    const ARENA: usize,
    const FRAME: usize,
    const EVENTS: usize,
> Node<DEVICES, SESSIONS, ARENA, FRAME, EVENTS>
{
    /// Creates the device at a start at `now`. Keys, bindings and an unfinished upgrade are loaded
    /// from the board.
    #[must_use]
    pub fn new(
        now: Instant,
        board: &mut dyn Board,
        mac: Mac,
        settings: NodeSettings,
        setup: &Setup,
    ) -> Self {
        let mut shared = Shared::new(mac, settings);
        let parts = Parts::new(&mut Cx { now, board, shared: &mut shared }, setup);
        let tuned = shared.air.channel;
        Self {
            shared,
            engine: Engine::new(),
            parts,
            schedule: Schedule::default(),
            handler: None,
            relayed: false,
            running: execute::PendingCommands::default(),
            busy_until: now,
            tuned,
            quiet: false,
            awaits_until: Instant::ZERO,
        }
    }

    /// Returns the state that all parts share: settings, radio, printer, keys.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns the shared state, to be set up by the application.
    pub fn shared_mut(&mut self) -> &mut Shared {
        self.stir();
        &mut self.shared
    }

    /// Returns the services.
    #[must_use]
    pub fn parts(&self) -> &Parts<DEVICES, SESSIONS, FRAME> {
        &self.parts
    }

    /// Returns the services, for requests of an application; see [`Node::wake`].
    pub fn parts_mut(&mut self) -> &mut Parts<DEVICES, SESSIONS, FRAME> {
        self.stir();
        &mut self.parts
    }

    /// Gives a service its turn, after the application has asked something of it.
    pub fn wake(&mut self, part: NodePart) {
        self.stir();
        self.schedule.wake(part);
    }

    /// Returns the counters of the engine.
    #[must_use]
    pub fn counters(&self) -> EngineCounters {
        self.engine.counters()
    }

    /// Takes an event that the driver reports.
    pub fn handle(&mut self, now: Instant, board: &mut dyn Board, input: Input<'_>) {
        self.stir();
        let mut cx = Cx { now, board, shared: &mut self.shared };
        match input {
            Input::Frame(frame) => {
                self.engine.receive(&mut cx, frame);
            }
            Input::Sent { delivered } => self.engine.sent(&mut cx, delivered),
            Input::Refused => self.engine.refused(),
            Input::Console(bytes) => {
                self.parts.console.receive(bytes);
                self.schedule.wake(NodePart::Console);
            }
            Input::ChannelLocked(locked) => cx.shared.air.locked = locked,
            Input::Tick => {}
        }
        self.charge(now);
    }

    /// Returns the next request of the device; see the rule for a driver.
    #[inline]
    pub fn poll(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> NodeOutput {
        self.poll_calm(now, board, buf).unwrap_or_else(|| self.poll_any(now, board, buf))
    }

    fn poll_any(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> NodeOutput {
        self.stir();
        for _ in 0..TURNS {
            if self.has_news()
                && let Some(output) = self.tell(buf)
            {
                return output;
            }
            self.charge(now);
            if let Some(until) = self.at_work(now, board) {
                return NodeOutput::WaitUntil(until);
            }
            if self.shared.print.has_line() {
                self.schedule.wake(NodePart::Log);
            }
            match self.turn(now, board, buf) {
                TurnResult::Took => {}
                TurnResult::Gave(Gave::Transmit { len, to }) => {
                    return NodeOutput::Transmit { len, to };
                }
                TurnResult::Gave(Gave::Tune(channel)) => return NodeOutput::Tune(channel),
                TurnResult::Gave(Gave::Data { len, from, rssi, channel }) => {
                    return NodeOutput::Data { len, from, rssi, channel, then: Then::Poll };
                }
                // The engine may have produced output, though it found nothing to do.
                TurnResult::Nothing if self.has_news() => {
                    return self.tell(buf).unwrap_or_else(|| self.rest(now));
                }
                TurnResult::Nothing => return self.rest(now),
            }
        }
        self.tell(buf).unwrap_or(NodeOutput::WaitUntil(now))
    }

    /// Sends a payload of the application's own at once, if the send lock is free. The outcome
    /// comes as [`EspNowEvent::Sent`].
    ///
    /// # Errors
    ///
    /// [`Busy`] if something else is being sent.
    pub fn send(
        &mut self,
        now: Instant,
        board: &mut dyn Board,
        out: &SendRequest,
        payload: &[u8],
    ) -> Result<(), Busy> {
        self.stir();
        if !self.engine.is_free() || !self.schedule.try_lock(NodePart::Application) {
            return Err(Busy);
        }
        let mut cx = Cx { now, board, shared: &mut self.shared };
        let place = self.engine.payload_mut(&cx);
        let whole = place.get_mut(..payload.len()).map(|place| place.copy_from_slice(payload));
        let out = SendRequest { len: payload.len(), ..*out };
        if whole.is_none() || !self.engine.start(&mut cx, &out) {
            self.finish(now, board, TransmitOutcome::Refused);
        }
        Ok(())
    }

    /// Finds devices and hands the key to all of them, as the component's examples `security` and
    /// `solution` do at their start; draws a new key if none is stored. Returns false while another
    /// job runs.
    pub fn hand_out_keys(&mut self, now: Instant, board: &mut dyn Board) -> bool {
        self.stir();
        let mut cx = Cx { now, board, shared: &mut self.shared };
        let it = &mut self.parts.services;
        let Some(initiator) = it.job.security() else { return false };
        let begun = initiator.hand_out(&mut cx, "app_main", &it.pop);
        self.schedule.wake(NodePart::SecurityInitiator);
        begun
    }

    /// Logs a line of the application's own.
    pub fn log(
        &mut self,
        now: Instant,
        board: &mut dyn Board,
        level: LogLevel,
        tag: &str,
        text: fmt::Arguments<'_>,
    ) {
        self.stir();
        Cx { now, board, shared: &mut self.shared }.log(level, tag, text);
    }

    /// Runs one step of one part. A frame to send or a payload for the application is written to
    /// `buf`.
    fn turn(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> TurnResult {
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        if let Some(action) = self.engine.poll(&mut cx, buf) {
            return TurnResult::Gave(match action {
                Action::Transmit { len, to } => Gave::Transmit { len, to },
                Action::Tune(channel) => {
                    self.tuned = channel;
                    Gave::Tune(channel)
                }
            });
        }
        if self.shared.busy_ns > 0 {
            return TurnResult::Took;
        }
        if let Some(outcome) = self.engine.outcome() {
            self.finish(now, board, outcome);
            return TurnResult::Took;
        }
        let main = self.main_task(now, board, buf);
        if main != TurnResult::Nothing {
            return main;
        }
        if self.engine.is_free()
            && let Some(part) = self.schedule.take_lock()
        {
            self.compose(now, board, part);
            return TurnResult::Took;
        }
        let Some(part) = self.schedule.ready(now) else { return TurnResult::Nothing };
        self.run(now, board, part);
        TurnResult::Took
    }

    fn run(&mut self, now: Instant, board: &mut dyn Board, part: NodePart) {
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        let step = match part {
            NodePart::Console => self.console_turn(now, board),
            NodePart::Remote => TaskStep::Idle,
            NodePart::Local => self.parts.services.local.run(&mut cx),
            _ => self.parts.task(part).map_or(TaskStep::Idle, |task| task.run(&mut cx)),
        };
        self.schedule.answered(part, step);
        self.after(now, board, part);
    }

    fn compose(&mut self, now: Instant, board: &mut dyn Board, part: NodePart) {
        self.relayed = false;
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        let place = self.engine.payload_mut(&cx);
        let out = self.parts.task(part).and_then(|task| task.compose(&mut cx, place));
        match out {
            // A part that has nothing to send after all gets its turn again.
            None => {
                self.schedule.release();
            }
            Some(out) if self.engine.start(&mut cx, &out) => {}
            Some(_) => self.finish(now, board, TransmitOutcome::Refused),
        }
    }

    /// Ends a transmission and tells its outcome to the holder of the lock.
    fn finish(&mut self, now: Instant, board: &mut dyn Board, outcome: TransmitOutcome) {
        let Some(part) = self.schedule.release() else { return };
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        match self.parts.task(part) {
            Some(task) => task.sent(&mut cx, outcome),
            None if part == NodePart::Application => cx.event(EspNowEvent::Sent(outcome)),
            // The holder's job was stopped, and another one has its place.
            None => {}
        }
        self.after(now, board, part);
    }

    /// Lets the main task handle the next frame that waits, unless a service still works on the
    /// last.
    fn main_task(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> TurnResult {
        let serves = self.handler.is_some_and(|part| !self.schedule.is_idle(part));
        if serves || self.running.remote() {
            return TurnResult::Nothing;
        }
        self.handler = None;
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        match self.engine.next(&mut cx, buf) {
            None if cx.shared.busy_ns > 0 => TurnResult::Took,
            None => TurnResult::Nothing,
            Some(Next::Relay) => {
                let own_first = self.relayed && self.engine.is_free() && self.schedule.is_wanted();
                if own_first || !self.engine.can_relay() {
                    return TurnResult::Nothing;
                }
                self.relayed = true;
                if self.engine.relay(&mut cx) { TurnResult::Took } else { TurnResult::Nothing }
            }
            Some(Next::Deliver(delivery)) if delivery.data_type == DataType::Data => {
                let Delivery { len, from, rssi, channel, .. } = delivery;
                TurnResult::Gave(Gave::Data { len, from, rssi, channel })
            }
            Some(Next::Deliver(delivery)) => {
                self.deliver(now, board, &delivery.with(buf));
                TurnResult::Took
            }
        }
    }

    /// Returns the time until which the processor is at work, if it is. The main task's next work
    /// is added, if it is certain: so the driver has one wait less. The order is that of
    /// [`Node::turn`].
    #[inline]
    fn at_work(&mut self, now: Instant, board: &mut dyn Board) -> Option<Instant> {
        if now >= self.busy_until {
            return None;
        }
        if self.handler.is_none() && !self.running.remote() {
            let mut cx = Cx { now, board, shared: &mut self.shared };
            self.engine.take_early(&mut cx);
            self.charge(now);
        }
        Some(self.busy_until)
    }

    /// Returns whether [`Node::tell`] has something to report.
    #[inline]
    fn has_news(&self) -> bool {
        let it = &self.shared;
        it.has_news() || it.print.has_output() || it.air.channel != self.tuned
    }

    /// Returns the next report for the driver apart from frames.
    fn tell(&mut self, buf: &mut [u8]) -> Option<NodeOutput> {
        let len = self.shared.print.take_output(buf);
        if len > 0 {
            return Some(NodeOutput::Print { len });
        }
        if let Some(sample) = self.shared.take_sample() {
            return Some(NodeOutput::Sample(sample));
        }
        if let Some(event) = self.shared.take_event() {
            return Some(NodeOutput::Event(event));
        }
        let channel = self.shared.air.channel;
        (channel != self.tuned).then(|| {
            self.tuned = channel;
            NodeOutput::Tune(channel)
        })
    }

    /// Turns processor time that was spent into a wait.
    #[inline]
    fn charge(&mut self, now: Instant) {
        let busy_ns = core::mem::take(&mut self.shared.busy_ns);
        self.work_for(now, busy_ns);
    }

    /// Keeps the processor at work for `busy_ns` nanoseconds more.
    #[inline]
    fn work_for(&mut self, now: Instant, busy_ns: u64) {
        if busy_ns > 0 {
            self.busy_until = self.busy_until.max(now).after_nanos(busy_ns);
        }
    }

    fn rest(&self, now: Instant) -> NodeOutput {
        let wake = [self.engine.wake(), self.schedule.earliest()].into_iter().flatten().min();
        wake.map_or(NodeOutput::Idle, |at| NodeOutput::WaitUntil(at.max(now)))
    }
}

/// Result of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TurnResult {
    /// Something was done.
    Took,
    /// Something is for the driver.
    Gave(Gave),
    /// Nothing could be done.
    Nothing,
}

/// Output of a turn. An [`NodeOutput`] is as large as a sample, and would be moved from hand to hand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gave {
    Transmit { len: usize, to: Mac },
    Tune(u8),
    Data { len: usize, from: Mac, rssi: i8, channel: u8 },
}
