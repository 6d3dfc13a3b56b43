//! Devices with their boards and consoles, whatever medium they are on: starts and resets, typing
//! and printing, their requests and records.
//!
//! The host of the devices is a [`DeviceHost`]: the ideal medium of a
//! [`Fleet`](crate::lab::ideal::Fleet), or the room of a [`Lab`](crate::lab::run::Lab).

use super::board::{MemoryBoard, POWER_ON, SOFTWARE};
use super::device::{Birth, DeviceModel, NodeId};
use super::livelock::{Livelock, POLLS_MAX};
use super::note::{Note, Watch};
use super::terminal::Terminal;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::console::editor::INPUT;
use esp_now::node::board::Board;
use esp_now::node::task::EspNowEvent;
use esp_now::node::{Input, NodeOutput, ParsedFrame, Payload, ReceivedFrame, Then};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// Bytes that a device may send or print with one poll.
const BUFFER: usize = 2048;

/// First byte of an answer to a cursor query.
const ESC: u8 = 0x1B;

/// Time of a character on the console's line: ten bits at 115200 baud.
const CHARACTER: Duration = Duration::from_nanos(86_806);

/// A line of a console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// When it was complete, on the clock of all.
    pub at: Instant,
    /// Without prompt and line end.
    pub text: String,
}

/// An event at a console, or of a device that is off. See [`DeviceSet::cue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cue {
    /// The device is switched on.
    Start,
    /// The console has answers to cursor queries.
    Answer,
    /// The command at the head of the console's queue is typed, or the rest of a long one.
    Type,
    /// The carriage return after the command is typed.
    Enter,
}

/// The host of the devices: medium, timers and watch. `life` counts a device's starts: what was
/// asked for by an earlier life must not happen.
pub(crate) trait DeviceHost {
    /// Witness of what happens.
    type Watch: Watch;

    /// Returns the witness of what happens.
    fn watch(&mut self) -> &mut Self::Watch;

    /// Hands a frame of a device to its driver, tuned to that channel; false if the driver has no
    /// buffer left.
    fn transmit(&mut self, node: NodeId, life: u32, channel: u8, to: Mac, data: &[u8]) -> bool;

    /// Tunes the radio of a device.
    fn tune(&mut self, node: NodeId, channel: u8);

    /// Lets a device wait until then, and no longer for what it waited for before.
    fn wait(&mut self, node: NodeId, life: u32, until: Option<Instant>);

    /// Schedules a call of [`DeviceSet::cue`].
    fn schedule(&mut self, at: Instant, node: NodeId, life: u32, cue: Cue);

    /// Switches a device off: the frames of its radio are gone. `life` is that of its next start.
    fn silence(&mut self, node: NodeId, life: u32);

    /// Notes that a device is switched on, on channel 1.
    fn switched_on(&mut self, node: NodeId) {
        let _ = node;
    }

    /// Judges a sample that a device records, before it is kept.
    fn explain(&mut self, node: NodeId, zero: Instant, sample: &mut Sample) {
        let _ = (node, zero, sample);
    }

    /// Notes that a device tells its application something.
    fn application_event(
        &mut self,
        node: NodeId,
        life: u32,
        event: EspNowEvent,
        board: &mut MemoryBoard,
    ) {
        let _ = (node, life, event, board);
    }
}

/// A device with its board and its console.
// In this order what every poll touches stands together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct DeviceSlot<D> {
    /// `None` while it is off.
    pub(crate) device: Option<D>,
    /// Time at which its clock was zero.
    zero: Instant,
    polled_at: Instant,
    /// Polls since time last went on.
    polls: u32,
    /// Starts that were asked for.
    pub(crate) life: u32,
    pub(crate) board: MemoryBoard,
    pub(crate) mac: Mac,
    pub(crate) channel: u8,
    resets: u32,
    /// Time from a reset until the clock starts again.
    pub(crate) restart: Duration,
    pub(crate) terminal: Terminal,
    /// Whether the console's cursor queries are answered here.
    pub(crate) answers: bool,
    pub(crate) lines: Vec<Printed>,
    pub(crate) events: Vec<(Instant, EspNowEvent)>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) data: Vec<(Instant, Mac, Vec<u8>)>,
}

impl<D> DeviceSlot<D> {
    fn new(node: NodeId, board: MemoryBoard, restart: Duration) -> Self {
        Self {
            device: None,
            board,
            mac: node.mac(),
            channel: 1,
            life: 0,
            resets: 0,
            restart,
            zero: Instant::ZERO,
            terminal: Terminal::default(),
            answers: true,
            lines: Vec::new(),
            events: Vec::new(),
            samples: Vec::new(),
            data: Vec::new(),
            polls: 0,
            polled_at: Instant::ZERO,
        }
    }

    /// Converts a time of the clock of all to the device's clock.
    #[inline]
    const fn local(&self, now: Instant) -> Instant {
        Instant::from_nanos(now.as_nanos().saturating_sub(self.zero.as_nanos()))
    }

    /// Converts a time of the device's clock to the clock of all.
    #[inline]
    const fn global(&self, local: Instant) -> Instant {
        Instant::from_nanos(self.zero.as_nanos().saturating_add(local.as_nanos()))
    }
}

type Maker<D> = Box<dyn FnMut(&Birth, &mut MemoryBoard) -> D>;

/// Devices, and the time.
pub(crate) struct DeviceSet<D> {
    pub(crate) now: Instant,
    pub(crate) members: Vec<DeviceSlot<D>>,
    /// Lines printed by all.
    pub(crate) printed: u64,
    /// Lines, events, payloads and samples of all: whatever somebody may wait for.
    pub(crate) news: u64,
    pub(crate) keep_samples: bool,
    pub(crate) keep_data: bool,
    /// Whether printed lines and told events are kept.
    pub(crate) keep_lines: bool,
    buffer: Vec<u8>,
    make: Maker<D>,
}

impl<D: DeviceModel> DeviceSet<D> {
    /// Creates a set without devices. `make` builds one whenever it is switched on.
    pub(crate) fn new(make: Maker<D>, keep_samples: bool) -> Self {
        Self {
            now: Instant::ZERO,
            members: Vec::new(),
            printed: 0,
            news: 0,
            keep_samples,
            keep_data: true,
            keep_lines: true,
            buffer: vec![0; BUFFER],
            make,
        }
    }

    /// Adds a device, to be switched on with [`Cue::Start`].
    pub(crate) fn add(&mut self, board: MemoryBoard, restart: Duration) -> NodeId {
        let node = NodeId(self.members.len() as u16);
        self.members.push(DeviceSlot::new(node, board, restart));
        node
    }

    /// Returns the slot of that device.
    #[inline]
    pub(crate) fn member(&self, node: NodeId) -> &DeviceSlot<D> {
        &self.members[node.index()]
    }

    /// Finds the device with that address.
    #[inline]
    pub(crate) fn node_of(&self, mac: Mac) -> Option<NodeId> {
        NodeId::of(mac).filter(|node| node.index() < self.members.len())
    }

    /// Tells a device that something happened; false if it is off. [`DeviceSet::settle`] must follow.
    #[inline]
    pub(crate) fn handle(&mut self, node: NodeId, input: Input<'_>) -> bool {
        self.with(node, |now, device, board| device.handle(now, board, input)).is_some()
    }

    /// Does something with a device for its application; `None` if it is off. [`DeviceSet::settle`] must
    /// follow.
    pub(crate) fn with<T>(
        &mut self,
        node: NodeId,
        act: impl FnOnce(Instant, &mut D, &mut MemoryBoard) -> T,
    ) -> Option<T> {
        let now = self.now;
        let member = &mut self.members[node.index()];
        let local = member.local(now);
        let device = member.device.as_mut()?;
        member.board.now = now;
        Some(act(local, device, &mut member.board))
    }

    /// Hands a frame off the air to a device.
    #[inline]
    pub(crate) fn hear<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
        frame: &ReceivedFrame<'_>,
        read: &ParsedFrame<'_>,
    ) -> Result<(), Livelock> {
        match self.with(node, |now, device, board| device.hear(now, board, frame, read)) {
            Some(Then::Poll) => return self.wake(out, node),
            Some(Then::WaitUntil(local)) => self.rest(out, node, Some(local)),
            Some(Then::Idle) => self.rest(out, node, None),
            Some(Then::AsBefore) | None => {}
        }
        Ok(())
    }

    /// Wakes a device: the time that it waited for has come.
    #[inline]
    pub(crate) fn wake<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
    ) -> Result<(), Livelock> {
        let now = self.now;
        let member = &mut self.members[node.index()];
        member.board.now = now;
        let local = member.local(now);
        // Nearly always a payload for the application, and nothing else.
        let taken = member.device.as_mut().and_then(|device| device.take_data(local));
        let Some(Payload { data, from, rssi, channel, then }) = taken else {
            return self.settle(out, node);
        };
        self.news += 1;
        if self.keep_data {
            member.data.push((now, from, data.into()));
        }
        out.watch().note(now, &Note::Data { node, from, data, rssi, channel });
        match then {
            Then::Poll => return self.settle(out, node),
            Then::WaitUntil(local) => self.rest(out, node, Some(local)),
            Then::Idle => self.rest(out, node, None),
            Then::AsBefore => {}
        }
        Ok(())
    }

    /// Tells a device that something happened, and lets it come to rest.
    pub(crate) fn input<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
        input: Input<'_>,
    ) -> Result<(), Livelock> {
        if self.handle(node, input) { self.settle(out, node) } else { Ok(()) }
    }

    /// Does something with a device as its application would; `None` if it is off.
    pub(crate) fn apply<O: DeviceHost, R>(
        &mut self,
        out: &mut O,
        node: NodeId,
        act: impl FnOnce(&mut D, Instant, &mut dyn Board) -> R,
    ) -> Result<Option<R>, Livelock> {
        let done = self.with(node, |now, device, board| act(device, now, board));
        if done.is_some() {
            self.settle(out, node)?;
        }
        Ok(done)
    }

    /// Types a command at a device's console, as soon as its prompt is there.
    pub(crate) fn command<O: DeviceHost>(&mut self, out: &mut O, node: NodeId, text: &str) {
        self.members[node.index()].terminal.command(text);
        self.type_next(out, node);
    }

    /// Hands a device a byte from outside, and whoever sent it answers its cursor queries if they are not
    /// answered here; false if it is off.
    pub(crate) fn type_byte<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
        byte: u8,
    ) -> Result<bool, Livelock> {
        let member = &mut self.members[node.index()];
        if !member.answers && byte == ESC {
            member.terminal.take_answers();
        }
        let is_on = member.device.is_some();
        self.input(out, node, Input::Console(&[byte])).map(|()| is_on)
    }

    /// Sets whether a device's cursor queries are answered here; a query that nobody has answered is.
    pub(crate) fn answer_cursor<O: DeviceHost>(&mut self, out: &mut O, node: NodeId, answer: bool) {
        let member = &mut self.members[node.index()];
        member.answers = answer;
        if answer && member.terminal.has_answers() {
            out.schedule(self.now, node, member.life, Cue::Answer);
        }
    }

    /// Switches a device off and on; it starts again after its [`DeviceSlot::restart`].
    pub(crate) fn reset<O: DeviceHost>(&mut self, out: &mut O, node: NodeId) {
        if self.switch_off(out, node, POWER_ON) {
            self.switch_on(out, node);
        }
    }

    /// Switches a device off; false if it is off. `reason` is what its next start is told.
    pub(crate) fn switch_off<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
        reason: u32,
    ) -> bool {
        let member = &mut self.members[node.index()];
        if member.device.take().is_none() {
            return false;
        }
        out.wait(node, member.life, None);
        member.life += 1;
        member.terminal.reset();
        member.board.reset(reason);
        member.resets += 1;
        out.silence(node, self.members[node.index()].life);
        out.watch().note(self.now, &Note::Reset { node });
        true
    }

    /// Lets a device that is off start after its [`DeviceSlot::restart`].
    pub(crate) fn switch_on<O: DeviceHost>(&self, out: &mut O, node: NodeId) {
        let member = self.member(node);
        out.schedule(self.now + member.restart, node, member.life, Cue::Start);
    }

    /// Carries out a scheduled event.
    pub(crate) fn cue<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
        cue: Cue,
    ) -> Result<(), Livelock> {
        let member = &mut self.members[node.index()];
        match cue {
            Cue::Start => self.start(out, node),
            Cue::Answer => match member.terminal.take_answers() {
                Some(answer) => self.input(out, node, Input::Console(&answer)),
                None => Ok(()),
            },
            Cue::Type => self.begin_typing(out, node),
            Cue::Enter => {
                if !member.terminal.enters(self.now) {
                    return Ok(());
                }
                self.input(out, node, Input::Console(b"\r"))
            }
        }
    }

    fn start<O: DeviceHost>(&mut self, out: &mut O, node: NodeId) -> Result<(), Livelock> {
        let member = &mut self.members[node.index()];
        (member.zero, member.channel) = (self.now, 1);
        let (mac, resets) = (member.mac, member.resets);
        member.board.now = self.now;
        let device = (self.make)(&Birth { node, mac, resets }, &mut member.board);
        member.device = Some(device);
        out.switched_on(node);
        out.watch().note(self.now, &Note::Started { node, resets });
        self.input(out, node, Input::Tick)
    }

    /// Types the next command, if there is one and the prompt is there.
    fn type_next<O: DeviceHost>(&self, out: &mut O, node: NodeId) {
        let member = self.member(node);
        if member.terminal.pending() > 0 && member.terminal.is_ready() {
            out.schedule(self.now, node, member.life, Cue::Type);
        }
    }

    fn begin_typing<O: DeviceHost>(&mut self, out: &mut O, node: NodeId) -> Result<(), Livelock> {
        let now = self.now;
        let member = &mut self.members[node.index()];
        if let Some((text, due)) = member.terminal.begin(now) {
            out.watch().note(now, &Note::Typed { node, text });
            out.schedule(due, node, member.life, Cue::Enter);
        }
        let Some(piece) = member.terminal.piece(INPUT).map(Vec::from) else { return Ok(()) };
        if piece.len() == INPUT {
            // The rest follows when the line has carried this: until then the device has read it.
            out.schedule(now + CHARACTER * INPUT as u32, node, member.life, Cue::Type);
        }
        self.input(out, node, Input::Console(&piece))
    }

    /// Polls a device until it waits, and does what it wants.
    pub(crate) fn settle<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
    ) -> Result<(), Livelock> {
        let now = self.now;
        loop {
            let member = &mut self.members[node.index()];
            let local = member.local(now);
            let Some(device) = &mut member.device else { return Ok(()) };
            let output = device.poll(local, &mut member.board, &mut self.buffer);
            if member.polled_at < now {
                (member.polled_at, member.polls) = (now, 0);
            }
            member.polls += 1;
            if member.polls > POLLS_MAX {
                return Err(Livelock { node, at: now, last: Box::new(output) });
            }
            let then = match &output {
                &NodeOutput::WaitUntil(local) => Then::WaitUntil(local),
                NodeOutput::Idle => Then::Idle,
                &NodeOutput::Data { len, from, rssi, channel, then } => {
                    let data = &self.buffer[..len.min(BUFFER)];
                    self.news += 1;
                    if self.keep_data {
                        member.data.push((now, from, data.into()));
                    }
                    out.watch().note(now, &Note::Data { node, from, data, rssi, channel });
                    then
                }
                _ => {
                    self.obey(out, node, &output);
                    Then::Poll
                }
            };
            match then {
                Then::Poll => {}
                Then::WaitUntil(local) => {
                    self.rest(out, node, Some(local));
                    return Ok(());
                }
                Then::Idle => {
                    self.rest(out, node, None);
                    return Ok(());
                }
                Then::AsBefore => return Ok(()),
            }
        }
    }

    /// Lets a device rest until that time of its clock.
    #[inline]
    fn rest<O: DeviceHost>(&self, out: &mut O, node: NodeId, until: Option<Instant>) {
        let member = &self.members[node.index()];
        let at = until.map(|local| member.global(local).max(self.now));
        out.wait(node, member.life, at);
    }

    /// Does what a device wants that has not come to rest.
    // What is rare stays out of the loop that every frame goes through.
    #[inline(never)]
    fn obey<O: DeviceHost>(&mut self, out: &mut O, node: NodeId, output: &NodeOutput) {
        let buffer = core::mem::take(&mut self.buffer);
        self.obey_with(out, node, output, &buffer);
        self.buffer = buffer;
    }

    fn obey_with<O: DeviceHost>(
        &mut self,
        out: &mut O,
        node: NodeId,
        output: &NodeOutput,
        buffer: &[u8],
    ) {
        let now = self.now;
        let member = &mut self.members[node.index()];
        match *output {
            NodeOutput::Transmit { len, to } => {
                self.transmit(out, node, to, &buffer[..len.min(BUFFER)])
            }
            NodeOutput::Tune(channel) => {
                member.channel = channel;
                out.tune(node, channel);
                out.watch().note(now, &Note::Tuned { node, channel });
            }
            NodeOutput::Print { len } => self.print(out, node, &buffer[..len.min(BUFFER)]),
            NodeOutput::Sample(mut sample) => {
                out.explain(node, member.zero, &mut sample);
                self.news += 1;
                if self.keep_samples {
                    member.samples.push(sample);
                }
                out.watch().note(now, &Note::Sample { node, sample: &sample });
            }
            NodeOutput::Event(event) => self.event(out, node, event),
            NodeOutput::Data { .. } | NodeOutput::WaitUntil(_) | NodeOutput::Idle => {}
        }
    }

    /// Hands a frame of a device to its driver. It leaves on the channel of this moment.
    fn transmit<O: DeviceHost>(&mut self, out: &mut O, node: NodeId, to: Mac, data: &[u8]) {
        let now = self.now;
        let member = &mut self.members[node.index()];
        if out.transmit(node, member.life, member.channel, to, data) {
            return;
        }
        out.watch().note(now, &Note::Refused { node, len: data.len() });
        let local = member.local(now);
        if let Some(device) = &mut member.device {
            device.handle(local, &mut member.board, Input::Refused);
        }
    }

    fn event<O: DeviceHost>(&mut self, out: &mut O, node: NodeId, event: EspNowEvent) {
        self.news += 1;
        let member = &mut self.members[node.index()];
        if self.keep_lines {
            member.events.push((self.now, event));
        }
        out.watch().note(self.now, &Note::Event { node, event });
        out.application_event(node, member.life, event, &mut member.board);
        if event == EspNowEvent::Restart && self.switch_off(out, node, SOFTWARE) {
            self.switch_on(out, node);
        }
    }

    fn print<O: DeviceHost>(&mut self, out: &mut O, node: NodeId, bytes: &[u8]) {
        let now = self.now;
        out.watch().note(now, &Note::Console { node, bytes });
        let member = &mut self.members[node.index()];
        for &byte in bytes {
            let Some(line) = member.terminal.feed(byte) else { continue };
            if line.echo {
                continue;
            }
            out.watch().note(now, &Note::Printed { node, text: &line.text });
            if self.keep_lines {
                member.lines.push(Printed { at: now, text: line.text });
            }
            self.printed += 1;
            self.news += 1;
        }
        if let Some(due) = member.terminal.echoed(now) {
            out.schedule(due, node, member.life, Cue::Enter);
        }
        if member.answers && member.terminal.has_answers() {
            out.schedule(now, node, member.life, Cue::Answer);
        }
        self.type_next(out, node);
    }
}
