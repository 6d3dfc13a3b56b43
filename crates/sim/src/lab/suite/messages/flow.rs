//! The fate of each message: who has it, and where it was lost.

use crate::lab::nodes::NodeId;
use crate::lab::nodes::note::{FrameOnAir, MissReason, Note, Watch};
use crate::lab::record::Record;
use crate::lab::run::Tap;
use alloc::vec::Vec;
use core::ops::Range;
use esp_now::component::{DataType, Header};
use esp_now::node::task::{EspNowEvent, TransmitOutcome};
use espbench_model::messages::{EspNowMessages, MessagePattern};
use espbench_model::sample::{Cause, Fate, Link, Probe, Sample};
use espbench_model::time::Instant;

/// Content of a payload: what it is, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageContent {
    /// A message of an application.
    Message(u32),
    /// The coordinator's beacon.
    Beacon(u32),
}

impl MessageContent {
    /// Octets at the front of a payload.
    pub(super) const LEN: usize = 5;

    /// Writes it to the front of a payload.
    pub(super) fn emit(self, payload: &mut [u8]) {
        let (kind, number) = match self {
            Self::Message(number) => (0, number),
            Self::Beacon(number) => (1, number),
        };
        payload[0] = kind;
        payload[1..Self::LEN].copy_from_slice(&number.to_le_bytes());
    }

    /// Reads it from the front of a payload.
    fn read(payload: &[u8]) -> Option<Self> {
        let number = u32::from_le_bytes(*payload.get(1..)?.first_chunk()?);
        match payload[0] {
            0 => Some(Self::Message(number)),
            1 => Some(Self::Beacon(number)),
            _ => None,
        }
    }
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
struct Message {
    from: u16,
    /// Receiver of the message; `None` for all others.
    to: Option<u16>,
    /// The first of its probes.
    probe: u32,
    /// The farthest node of a relay line whose radio has read it.
    reached: u16,
    /// Why the next node after that did not.
    missed: Option<Cause>,
}

/// The messages of a cell, as the lab's watch.
pub(super) struct MessageFlow {
    pattern: MessagePattern,
    devices: u16,
    size: u32,
    hops_most: Option<u32>,
    messages: Vec<Message>,
    probes: Vec<Probe>,
    /// Probes that have arrived.
    delivered: u64,
    /// Frames with messages, and with beacons, that were on the air; attempts and copies count.
    frames: [u64; 2],
    repeated: u64,
    is_begun: bool,
    /// Beacons that applications have got since they were last asked for.
    pub(super) beacons: Vec<(Instant, NodeId)>,
    /// Applications whose sending has ended.
    pub(super) sent: Vec<(Instant, NodeId, TransmitOutcome)>,
}

impl MessageFlow {
    pub(super) fn new(work: &EspNowMessages) -> Self {
        Self {
            pattern: work.pattern,
            devices: work.devices,
            size: work.size,
            hops_most: work.hops_most(),
            messages: Vec::new(),
            probes: Vec::new(),
            delivered: 0,
            frames: [0; 2],
            repeated: 0,
            is_begun: false,
            beacons: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Begins to take note: what nodes send at their start is over.
    pub(super) fn begin(&mut self) {
        self.is_begun = true;
        self.sent.clear();
    }

    /// Returns whether an application is to be told something.
    pub(super) fn has_news(&self) -> bool {
        !self.beacons.is_empty() || !self.sent.is_empty()
    }

    /// Returns the number of probes that have arrived.
    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Adds a message that an application has now. Returns its number.
    pub(super) fn add(&mut self, due: Instant, from: u16, to: Option<u16>) -> u32 {
        let number = self.messages.len() as u32;
        let probe = self.probes.len() as u32;
        self.messages.push(Message { from, to, probe, reached: from, missed: None });
        let blank = |to: u16| Probe {
            link: Link(to),
            seq: number.into(),
            bytes: self.size,
            due,
            fate: Fate::Lost(Cause::ApplicationQueue),
            ..Probe::default()
        };
        match to {
            Some(to) => self.probes.push(blank(to)),
            None => {
                self.probes.extend((0..=self.devices).filter(|it| *it != from).map(blank));
            }
        }
        number
    }

    /// Returns the receiver of a message; `None` for all others.
    pub(super) fn receiver(&self, number: u32) -> Option<NodeId> {
        self.messages[number as usize].to.map(NodeId)
    }

    /// Notes that a node has taken a message for sending.
    pub(super) fn taken(&mut self, at: Instant, number: u32) {
        for at_probe in self.of(number) {
            let probe = &mut self.probes[at_probe];
            probe.sent = Some(at);
            if probe.received.is_none() {
                probe.fate = Fate::Lost(Cause::Unknown);
            }
        }
    }

    /// Notes that a node did not take it after all.
    pub(super) fn put_back(&mut self, number: u32) {
        for probe in self.of(number) {
            self.probes[probe].sent = None;
            self.probes[probe].fate = Fate::Lost(Cause::ApplicationQueue);
        }
    }

    /// Notes how sending a message has ended. `answers`: done means that its receiver has it.
    pub(super) fn ended(
        &mut self,
        at: Instant,
        number: u32,
        outcome: TransmitOutcome,
        answers: bool,
    ) {
        for probe in self.of(number) {
            let probe = &mut self.probes[probe];
            match outcome {
                TransmitOutcome::Done { .. } if answers => probe.acked = Some(at),
                TransmitOutcome::Failed if probe.received.is_none() => {
                    probe.fate = Fate::Lost(Cause::RetryLimit);
                }
                TransmitOutcome::Refused => probe.fate = Fate::Lost(Cause::NoBuffers),
                _ => {}
            }
        }
    }

    /// Returns the probes of a message.
    fn of(&self, number: u32) -> Range<usize> {
        let Some(message) = self.messages.get(number as usize) else { return 0..0 };
        let first = message.probe as usize;
        first..first + if message.to.is_some() { 1 } else { usize::from(self.devices) }
    }

    /// Returns the probe of a message at a node, if the node is a receiver of it.
    fn at(&mut self, number: u32, node: NodeId) -> Option<&mut Probe> {
        let message = self.messages.get(number as usize)?;
        let offset = match message.to {
            Some(to) => (to == node.0).then_some(0)?,
            None if node.0 == message.from => return None,
            None => usize::from(node.0) - usize::from(node.0 > message.from),
        };
        self.probes.get_mut(message.probe as usize + offset)
    }

    fn received(&mut self, at: Instant, node: NodeId, number: u32) {
        let Some(probe) = self.at(number, node) else { return };
        if probe.received.is_some() {
            self.repeated += 1;
            return;
        }
        probe.received = Some(at);
        probe.fate = Fate::Delivered;
        self.delivered += 1;
    }

    fn on_air(&mut self, frame: &FrameOnAir<'_>) {
        let Some((header, payload)) = Header::parse(frame.data) else { return };
        if header.data_type != DataType::Data {
            return;
        }
        match MessageContent::read(payload) {
            Some(MessageContent::Beacon(_)) => self.frames[1] += 1,
            Some(MessageContent::Message(number)) => {
                self.frames[0] += 1;
                if self.pattern == MessagePattern::RelayLine {
                    self.relayed(frame, number);
                } else {
                    self.read_by_radios(frame, number);
                }
            }
            None => {}
        }
    }

    /// Follows a message along a line.
    fn relayed(&mut self, frame: &FrameOnAir<'_>, number: u32) {
        let Some(message) = self.messages.get_mut(number as usize) else { return };
        let farthest = frame.heard.iter().map(|it| it.0).max().unwrap_or_default();
        if farthest > message.reached {
            message.reached = farthest;
            message.missed = None;
        }
        let missed = frame.missed.iter().find(|it| it.0.0 == message.reached + 1);
        if let Some((_, why)) = missed {
            message.missed = Some(cause(*why));
        }
    }

    /// Notes which receivers' radios have read a frame.
    fn read_by_radios(&mut self, frame: &FrameOnAir<'_>, number: u32) {
        for node in frame.heard {
            if let Some(probe) = self.at(number, *node).filter(|it| it.received.is_none()) {
                probe.fate = Fate::Lost(Cause::ReceiveQueue);
            }
        }
        for (node, why) in frame.missed {
            if let Some(probe) = self.at(number, *node)
                && probe.fate != Fate::Lost(Cause::ReceiveQueue)
                && probe.received.is_none()
            {
                probe.fate = Fate::Lost(cause(*why));
            }
        }
    }

    /// Gives all probes and counters to a record.
    pub(super) fn close(mut self, work: &EspNowMessages, record: &mut dyn Record) {
        if self.pattern == MessagePattern::RelayLine {
            for message in &self.messages {
                let probe = &mut self.probes[message.probe as usize];
                if probe.fate != Fate::Lost(Cause::Unknown) {
                    continue;
                }
                let ended = self.hops_most.is_some_and(|most| u32::from(message.reached) >= most);
                probe.fate = Fate::Lost(match (ended, message.reached == work.devices) {
                    (true, false) => Cause::HopLimit,
                    (_, true) => Cause::ReceiveQueue,
                    (false, false) => message.missed.unwrap_or(Cause::Unknown),
                });
            }
            let reached = self.messages.iter().map(|it| u64::from(it.reached)).sum();
            record.count("hops-reached", reached);
        }
        record.count("messages", self.messages.len() as u64);
        record.count("message-frames", self.frames[0]);
        for (name, by) in [("beacons", self.frames[1]), ("messages-repeated", self.repeated)] {
            if by > 0 {
                record.count(name, by);
            }
        }
        for probe in self.probes {
            record.sample(Sample::Probe(probe));
        }
    }
}

/// Returns the cause for which a radio could not read a frame.
const fn cause(why: MissReason) -> Cause {
    match why {
        MissReason::Collision => Cause::Collision,
        MissReason::Noise | MissReason::Range => Cause::Noise,
        MissReason::Off => Cause::Asleep,
        _ => Cause::Unknown,
    }
}

impl Watch for MessageFlow {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        if !self.is_begun {
            return;
        }
        match note {
            Note::Air(frame) => self.on_air(frame),
            Note::Event { node, event: EspNowEvent::Sent(outcome) } => {
                self.sent.push((at, *node, *outcome));
            }
            Note::Data { node, data, .. } => match MessageContent::read(data) {
                Some(MessageContent::Message(number)) => self.received(at, *node, number),
                Some(MessageContent::Beacon(_)) => self.beacons.push((at, *node)),
                None => {}
            },
            _ => {}
        }
    }
}

impl Tap for MessageFlow {}
