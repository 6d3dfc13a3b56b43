//! The person at the desk: types at consoles, reads what they print, keeps the record.

use super::SuiteError;
use crate::lab::nodes::conversation::read_up_to;
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::record::Record;
use crate::lab::run::{Lab, Printed, Tap};
use crate::lab::scene::Scene;
use crate::lab::suite::procedure::{self, MOMENT, PROMPT_MOST, SETTLED, TypedCommands};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::sample::{Link, Sample};
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
    record: &'a mut dyn Record,
    random: RngStream,
    /// Lines of each console that were read.
    seen: Vec<usize>,
    /// Choice of the samples that go into the record; with `None` they stay where they are.
    take: Option<Take>,
    typed: TypedCommands,
}

/// Returns the probes of a node, on the link of its number; those of the initiator are about device
/// 1.
pub(super) fn probes(node: NodeId, sample: Sample) -> Option<Sample> {
    let Sample::Probe(mut probe) = sample else { return None };
    probe.link = Link(node.0.max(1));
    Some(Sample::Probe(probe))
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
        let random = RngStream::stream(seed, 0, Purpose::Person);
        let typed = TypedCommands::default();
        Self { lab, scene, record, random, seen, take: None, typed }
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

    /// Puts a sample into the record.
    pub(super) fn sample(&mut self, sample: Sample) {
        self.record.sample(sample);
    }

    /// Adds to a counter; one that stays zero is not there.
    pub(super) fn count(&mut self, name: &str, by: usize) {
        if by > 0 {
            self.record.count(name, by as u64);
        }
    }

    pub(super) fn fact(&mut self, name: &str, value: String) {
        self.record.fact(name, value);
    }

    /// Types a command as soon as the prompt is there, and presses return.
    pub(super) fn command(&mut self, node: NodeId, text: &str) -> Result<(), SuiteError> {
        self.typed.add(node, text);
        for node in self.lab.nodes() {
            self.seen[node.index()] = self.lab.lines(node).len();
        }
        self.lab.command(node, text);
        if self.until(PROMPT_MOST, |lab| lab.pending(node) == 0)? {
            Ok(())
        } else {
            Err(SuiteError::NoPrompt(node, text.into()))
        }
    }

    /// Waits for a line with one of these texts on each of the consoles, behind what was read
    /// before; gives those without.
    pub(super) fn wait(
        &mut self,
        nodes: &[NodeId],
        texts: &[&str],
        most: Duration,
    ) -> Result<Vec<NodeId>, SuiteError> {
        let mut missing = nodes.to_vec();
        let mut seen = core::mem::take(&mut self.seen);
        let result = self.until(most, |lab| {
            missing.retain(|node| !read_up_to(lab.lines(*node), &mut seen[node.index()], texts));
            missing.is_empty()
        });
        self.seen = seen;
        result.map(|_| missing)
    }

    /// Waits for a line on one console, and gives it.
    pub(super) fn line(
        &mut self,
        node: NodeId,
        text: &'static [&'static str],
        most: Duration,
    ) -> Result<Printed, SuiteError> {
        let missing = self.wait(&[node], text, most)?;
        let lines = self.lab.lines(node);
        match lines.get(self.seen[node.index()].wrapping_sub(1)) {
            Some(line) if missing.is_empty() => Ok(line.clone()),
            _ => Err(self.not_printed(missing, text, most)),
        }
    }

    pub(super) fn not_printed(
        &self,
        nodes: Vec<NodeId>,
        text: &'static [&'static str],
        most: Duration,
    ) -> SuiteError {
        let last = nodes.first().and_then(|node| self.lab.lines(*node).last());
        let last = last.map_or_else(String::new, |line| line.text.clone());
        SuiteError::NotPrinted { nodes, text, most, after: self.typed.last().into(), last }
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
            if self.record.cancelled() {
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

    /// Lets a moment pass, and a time below this: nobody types in step with a tick, nor at once.
    pub(super) fn linger(&mut self, most: Duration) -> Result<(), SuiteError> {
        let time = self.random.time_below(most);
        self.pause(MOMENT + time)
    }

    fn hand_on(&mut self) {
        let Some(take) = self.take else { return };
        for node in self.lab.nodes() {
            if self.lab.samples(node).is_empty() {
                continue;
            }
            for sample in self.lab.take_samples(node) {
                if let Some(sample) = take(node, sample) {
                    self.record.sample(sample);
                }
            }
        }
    }

    /// Hands on the last samples, and the typed commands as a fact.
    pub(super) fn close(mut self) {
        self.hand_on();
        self.record.fact("commands", self.typed.into_text());
    }
}
