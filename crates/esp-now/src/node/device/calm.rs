//! Short cuts for the most frequent cases in a room full of frames, which are answered without a
//! look at every part. They change nothing but the time that it takes; a test compares both ways.

use super::Node;
use crate::node::board::{Board, CpuWork};
use crate::node::engine::Delivery;
use crate::node::task::Cx;
use crate::node::{NodeOutput, ParsedFrame, Payload, Then};
use espbench_model::time::Instant;

impl<
    const DEVICES: usize,
    const SESSIONS: usize,
    const ARENA: usize,
    const FRAME: usize,
    const EVENTS: usize,
> Node<DEVICES, SESSIONS, ARENA, FRAME, EVENTS>
{
    /// Takes a frame as [`Node::handle`] with [`Input::Frame`] does, and returns the next answer of
    /// [`Node::poll`] where it is known already: in a room of many devices this is so for most
    /// frames.
    ///
    /// [`Input::Frame`]: crate::node::Input::Frame
    #[inline]
    pub fn hear<B: Board>(
        &mut self,
        now: Instant,
        board: &mut B,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
    ) -> Then {
        let own = self.shared.air.mac;
        if self.quiet
            && let Some(len) = self.engine.hear_plain(own, now, frame, rssi, channel)
        {
            let receive = CpuWork::Receive { bytes: frame.data.len() as u32 };
            self.work_for(now, board.cost_ns(receive));
            // The main task takes it at once.
            self.work_for(now, board.cost_ns(CpuWork::Dispatch { bytes: len as u32 }));
            let works = now < self.busy_until;
            return if works { Then::WaitUntil(self.busy_until) } else { Then::Poll };
        }
        if now < self.awaits_until && self.engine.hear_plain_later(own, now, frame, rssi, channel) {
            let receive = CpuWork::Receive { bytes: frame.data.len() as u32 };
            self.work_for(now, board.cost_ns(receive));
            let works = now < self.busy_until;
            return if works { Then::WaitUntil(self.busy_until) } else { Then::Poll };
        }
        self.hear_any(now, board, frame, rssi, channel)
    }

    /// Takes a frame without a short cut.
    #[inline(never)]
    fn hear_any(
        &mut self,
        now: Instant,
        board: &mut dyn Board,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
    ) -> Then {
        self.stir();
        let mut cx = Cx { now, board: &mut *board, shared: &mut self.shared };
        let changed = self.engine.hear(&mut cx, frame, rssi, channel);
        self.charge(now);
        if !changed {
            Then::AsBefore
        } else if self.has_news() {
            Then::Poll
        } else {
            self.at_work(now, board).map_or(Then::Poll, Then::WaitUntil)
        }
    }

    /// Returns the payload for the application that [`Node::poll`] would return next, in place and
    /// without a copy. Does nothing and returns `None` where the answer is another one, or is not
    /// known at once.
    #[inline]
    pub fn take_data(&mut self, now: Instant) -> Option<Payload<'_>> {
        if now < self.awaits_until || !self.is_calm(now) || !self.quiet {
            return None;
        }
        let Self { engine, schedule, .. } = self;
        let (Delivery { from, rssi, channel, .. }, data, empty) = engine.show_data()?;
        let soonest = schedule.earliest().unwrap_or(Instant::NEVER);
        let then = match soonest {
            _ if !empty || soonest <= now => Then::Poll,
            Instant::NEVER => Then::Idle,
            _ => Then::WaitUntil(soonest),
        };
        Some(Payload { data, from, rssi, channel, then })
    }

    /// Answers the two most frequent polls in a room full of frames: there is nothing to do, or the
    /// main task has finished a payload for the application. [`Node::poll_any`] would answer the
    /// same.
    #[inline]
    pub(super) fn poll_calm(
        &mut self,
        now: Instant,
        board: &mut dyn Board,
        buf: &mut [u8],
    ) -> Option<NodeOutput> {
        if now < self.awaits_until {
            return if now < self.busy_until { None } else { self.poll_awaiting(now, board, buf) };
        }
        if !self.is_calm(now) {
            return None;
        }
        if let Some(rest) = self.rest_calm(now) {
            return Some(rest.map_or(NodeOutput::Idle, NodeOutput::WaitUntil));
        }
        let Delivery { len, from, rssi, channel, .. } =
            self.engine.finish_data(&self.shared, buf)?;
        let then = self.rest_calm(now);
        let then = then.map_or(Then::Poll, |rest| rest.map_or(Then::Idle, Then::WaitUntil));
        Some(NodeOutput::Data { len, from, rssi, channel, then })
    }

    /// Answers a poll while a transmission waits for the driver: the main task takes a payload, or
    /// has finished it, or there is nothing to do.
    fn poll_awaiting(
        &mut self,
        now: Instant,
        board: &mut dyn Board,
        buf: &mut [u8],
    ) -> Option<NodeOutput> {
        if !self.schedule.rests(now) {
            return None;
        }
        let rest = self.schedule.earliest().unwrap_or(Instant::NEVER).min(self.awaits_until);
        if self.engine.is_empty() {
            return Some(NodeOutput::WaitUntil(rest));
        }
        if let Some(len) = self.engine.take_plain()? {
            self.work_for(now, board.cost_ns(CpuWork::Dispatch { bytes: len as u32 }));
            if now < self.busy_until {
                return Some(NodeOutput::WaitUntil(self.busy_until));
            }
        }
        let Delivery { len, from, rssi, channel, .. } =
            self.engine.finish_data(&self.shared, buf)?;
        let then = if self.engine.is_empty() { Then::WaitUntil(rest) } else { Then::Poll };
        Some(NodeOutput::Data { len, from, rssi, channel, then })
    }

    /// Takes note that something has happened that the short cuts know nothing of.
    #[inline]
    pub(super) const fn stir(&mut self) {
        self.quiet = false;
        self.awaits_until = Instant::ZERO;
    }

    /// Returns whether nothing waits to be reported, nothing is being sent, no work is being done,
    /// and the main task waits for frames.
    #[inline]
    fn is_calm(&mut self, now: Instant) -> bool {
        now >= self.busy_until && (self.quiet || self.becomes_calm())
    }

    /// Checks all the conditions of calm. Once all hold, they need not be checked again until
    /// something happens other than plain data and the passing of time.
    #[inline(never)]
    fn becomes_calm(&mut self) -> bool {
        let rests = self.shared.busy_ns == 0
            && self.handler.is_none()
            && !self.running.remote()
            && !self.shared.print.has_line()
            && !self.has_news();
        let plain = rests && !self.schedule.is_wanted() && self.engine.takes_plain(&self.shared);
        let free = self.engine.is_free();
        self.quiet = plain && free;
        self.awaits_until = match self.engine.callback_until() {
            Some(until) if plain => until,
            _ => Instant::ZERO,
        };
        rests && free
    }

    /// Returns the time until which a calm device waits (`Some(None)`: without a limit); `None` if
    /// it does not wait.
    #[inline]
    fn rest_calm(&self, now: Instant) -> Option<Option<Instant>> {
        let rests = self.engine.is_empty() && self.schedule.rests(now);
        rests.then(|| self.schedule.earliest())
    }
}
