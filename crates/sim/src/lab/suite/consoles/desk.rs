//! The person at the desk: types at consoles, reads what they print, keeps the record.

use super::SuiteError;
use crate::lab::nodes::conversation::read_up_to;
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::record::Record;
use crate::lab::run::{Lab, Tap};
use crate::lab::scene::Scene;
use crate::lab::suite::mark::{AwaitedLine, LineMark, MarkedLine};
use crate::lab::suite::notes::DeskNotes;
use crate::lab::suite::procedure::{self, PROMPT_MOST, SETTLED};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::fact;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// The device that the document calls the initiator.
pub(super) const INITIATOR: NodeId = NodeId(procedure::INITIATOR);
/// The device of tests with one device.
pub(super) const DEVICE: NodeId = NodeId(procedure::DEVICE);

/// Time after which samples are handed on, and a test may be stopped.
const SLICE: Duration = Duration::from_secs(1);

/// Choice of a node's samples for the record, and their form there.
pub(super) type Take = fn(NodeId, Sample) -> Option<Sample>;

/// The consoles of a lab, and somebody who types at them.
pub(super) struct Desk<'a, W> {
    pub(super) lab: &'a mut Lab<'static, W>,
    pub(super) scene: &'a Scene,
    pub(super) notes: DeskNotes<'a, dyn Record + 'a>,
    /// Lines of each console that were read.
    seen: Vec<usize>,
    /// Choice of the samples that go into the record; with `None` they stay where they are.
    take: Option<Take>,
}

/// Returns the probes of a node, on the link of its number.
pub(super) fn probes(node: NodeId, sample: Sample) -> Option<Sample> {
    procedure::probe_of(node.0, sample)
}

/// Returns the intervals of a node. Its probes would add one sample for each message.
pub(super) fn intervals(_: NodeId, sample: Sample) -> Option<Sample> {
    matches!(sample, Sample::Interval(_)).then_some(sample)
}

impl<'a, W: Tap> Desk<'a, W> {
    pub(super) fn new(
        lab: &'a mut Lab<'static, W>,
        scene: &'a Scene,
        seed: u64,
        record: &'a mut dyn Record,
    ) -> Self {
        let seen = lab.nodes().map(|_| 0).collect();
        Self { lab, scene, notes: DeskNotes::new(record, seed), seen, take: None }
    }

    /// Returns the devices beside the initiator.
    pub(super) fn devices(&self) -> Vec<NodeId> {
        self.lab.nodes().skip(1).collect()
    }

    pub(super) fn now(&self) -> Instant {
        self.lab.now()
    }

    /// Lets samples go into the record from now on.
    pub(super) fn keep(&mut self, take: Take) {
        for node in self.lab.nodes() {
            self.lab.take_samples(node);
        }
        self.take = Some(take);
    }

    /// Types a command as soon as the prompt is there, and presses return.
    pub(super) fn command(&mut self, node: NodeId, text: &str) -> Result<(), SuiteError> {
        self.notes.typed(node, text);
        for node in self.lab.nodes() {
            self.seen[node.index()] = self.lab.lines(node).len();
        }
        let lost = |desk: &Self| desk.lab.dropped(node).console_in;
        let before = lost(self);
        self.lab.command(node, text);
        let typed = self.until(PROMPT_MOST, |lab| lab.pending(node) == 0)?;
        self.notes.count(fact::TYPED_LOST, lost(self).saturating_sub(before) as usize);
        if typed { Ok(()) } else { Err(SuiteError::NoPrompt(node, text.into())) }
    }

    /// Waits for a line on each of the consoles, behind what was read before; gives those without.
    pub(super) fn wait(
        &mut self,
        nodes: &[NodeId],
        line: AwaitedLine,
        most: Duration,
    ) -> Result<Vec<NodeId>, SuiteError> {
        let mut missing = nodes.to_vec();
        let mut seen = core::mem::take(&mut self.seen);
        let result = self.until(most, |lab| {
            missing.retain(|node| {
                let seen = &mut seen[node.index()];
                !read_up_to(lab.lines(*node), seen, |it| (line.is)(LineMark::of_text(&it.text)))
            });
            missing.is_empty()
        });
        self.seen = seen;
        result.map(|_| missing)
    }

    /// Waits for a line on one console, and gives it.
    pub(super) fn line(
        &mut self,
        node: NodeId,
        line: AwaitedLine,
        most: Duration,
    ) -> Result<MarkedLine, SuiteError> {
        let missing = self.wait(&[node], line, most)?;
        let lines = self.lab.lines(node);
        match lines.get(self.seen[node.index()].wrapping_sub(1)) {
            Some(it) if missing.is_empty() => Ok(MarkedLine {
                at: it.at,
                mark: LineMark::of_text(&it.text),
                text: it.text.clone(),
            }),
            _ => Err(self.not_printed(missing, line, most)),
        }
    }

    pub(super) fn not_printed(
        &self,
        nodes: Vec<NodeId>,
        line: AwaitedLine,
        most: Duration,
    ) -> SuiteError {
        let last = nodes.first().and_then(|node| self.lab.lines(*node).last());
        let last = last.map_or_else(String::new, |line| line.text.clone());
        SuiteError::NotPrinted {
            nodes,
            what: line.what,
            most,
            after: self.notes.last_typed().into(),
            last,
        }
    }

    /// Waits until something is so; whether it is, after that time at most. It is asked when
    /// something was printed or told, not at each frame.
    pub(super) fn until(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Lab<'static, W>) -> bool,
    ) -> Result<bool, SuiteError> {
        let end = self.now() + most;
        loop {
            if self.notes.is_cancelled() {
                return Err(SuiteError::Cancelled);
            }
            let slice = SLICE.min(end.since(self.now()));
            let so = self.lab.run_till_told(slice, &mut is_so)?;
            self.hand_on();
            if so || self.now() >= end {
                return Ok(so);
            }
        }
    }

    /// Lets time pass.
    pub(super) fn pause(&mut self, time: Duration) -> Result<(), SuiteError> {
        self.until(time, |_| false).map(|_| ())
    }

    /// Waits until devices that have just started say nothing more by themselves.
    pub(super) fn settle(&mut self) -> Result<(), SuiteError> {
        self.pause(SETTLED)
    }

    /// Lets the time until the next command pass.
    pub(super) fn linger(&mut self, most: Duration) -> Result<(), SuiteError> {
        let time = self.notes.pause(most);
        self.pause(time)
    }

    fn hand_on(&mut self) {
        let Some(take) = self.take else { return };
        for node in self.lab.nodes() {
            if self.lab.samples(node).is_empty() {
                continue;
            }
            for sample in self.lab.take_samples(node) {
                if let Some(sample) = take(node, sample) {
                    self.notes.sample(sample);
                }
            }
        }
    }

    /// Hands on the last samples, and the typed commands as a fact.
    pub(super) fn close(mut self) {
        self.hand_on();
        self.notes.close();
    }
}
