//! What can be done with devices in conversation, whatever the medium between them: the verbs of a
//! [`Fleet`](super::Fleet) and of a [`Lab`](crate::lab::run::Lab).

use super::board::MemoryBoard;
use super::crew::{Crew, Outside, Printed, Stuck};
use super::device::{Device, NodeId};
use super::medium::Medium;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::node::esp_now::board::{Board as _, Key};
use espbench_proto::node::esp_now::task::Event;
use espbench_proto::sample::Sample;
use espbench_proto::time::Instant;
use espbench_proto::wire::mac::Mac;

/// What a conversation is made of: devices, and what lies outside of them.
pub(crate) trait Parts {
    type Device: Device;
    type Around<'a>: Outside
    where
        Self: 'a;

    fn crew(&self) -> &Crew<Self::Device>;

    fn crew_mut(&mut self) -> &mut Crew<Self::Device>;

    /// Both; the crew's clock is right.
    fn parts(&mut self) -> (&mut Crew<Self::Device>, Self::Around<'_>);

    /// Now, on the clock of all.
    fn clock(&self) -> Instant;

    /// Does what is next if it is not after `until`; else it is `until`, and the answer is false.
    fn next(&mut self, until: Instant) -> Result<bool, Stuck>;

    /// The medium, where it is one that can be told what to lose.
    fn ideal_medium(&mut self) -> Option<&mut Medium>;
}

/// Devices in conversation on virtual time. A node that is not there is a panic, in all of this.
#[expect(private_bounds, reason = "it is for what this crate simulates")]
pub trait Conversation: Parts {
    /// Now, on the clock of all.
    fn now(&self) -> Instant {
        self.clock()
    }

    /// How many nodes there are.
    fn count(&self) -> usize {
        self.crew().members.len()
    }

    /// The nodes.
    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<Self> {
        (0..self.count() as u16).map(NodeId)
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Stuck`].
    fn run_until(&mut self, until: Instant) -> Result<(), Stuck> {
        while self.next(until)? {}
        Ok(())
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// [`Stuck`].
    fn run_for(&mut self, time: Duration) -> Result<(), Stuck> {
        self.run_until(self.now() + time)
    }

    /// Lets time go on until something is so, at most for that long. Says whether it is so. It is
    /// asked before each event.
    ///
    /// # Errors
    /// [`Stuck`].
    fn run_till(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Stuck>
    where
        Self: Sized,
    {
        let until = self.now() + most;
        loop {
            if is_so(self) {
                return Ok(true);
            }
            if !self.next(until)? {
                return Ok(is_so(self));
            }
        }
    }

    /// The same, for what devices tell: it is asked only when one has printed, told its application
    /// something, handed it a payload, recorded a sample, joined a router or given up to.
    ///
    /// # Errors
    /// [`Stuck`].
    fn run_till_told(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Stuck>
    where
        Self: Sized,
    {
        let mut asked = None;
        let told = self.run_till(most, |it| {
            let news = it.crew().news;
            asked.replace(news) != Some(news) && is_so(it)
        })?;
        Ok(told || is_so(self))
    }

    /// Types a command at a node's console, as soon as its prompt is there.
    fn command(&mut self, node: NodeId, text: &str) {
        let (crew, mut around) = self.parts();
        crew.command(&mut around, node, text);
    }

    /// Commands of a node that are not typed to their end.
    fn pending(&self, node: NodeId) -> usize {
        self.crew().member(node).terminal.pending()
    }

    /// The lines that a node has printed, without prompts and echoes.
    fn lines(&self, node: NodeId) -> &[Printed] {
        &self.crew().member(node).lines
    }

    /// What a node has told its application.
    fn events(&self, node: NodeId) -> &[(Instant, Event)] {
        &self.crew().member(node).events
    }

    /// Payloads that a node has handed to its application, each with when and from whom.
    fn data(&self, node: NodeId) -> &[(Instant, Mac, Vec<u8>)] {
        &self.crew().member(node).data
    }

    /// The samples that a node has recorded since they were last taken; its own clock. In a lab, a
    /// lost probe has the cause that the lab knows.
    fn samples(&self, node: NodeId) -> &[Sample] {
        &self.crew().member(node).samples
    }

    /// Takes the samples of a node.
    fn take_samples(&mut self, node: NodeId) -> Vec<Sample> {
        core::mem::take(&mut self.crew_mut().members[node.index()].samples)
    }

    /// A node's board: its pins' edges, its flash, what it stores.
    fn board(&self, node: NodeId) -> &MemoryBoard {
        &self.crew().member(node).board
    }

    /// A node's board, to put an image or a key into it.
    fn board_mut(&mut self, node: NodeId) -> &mut MemoryBoard {
        &mut self.crew_mut().members[node.index()].board
    }

    /// Stores a key of the application layer on these nodes; they have it from their next start on,
    /// so this is for before time goes on, or before a reset.
    fn install_key(&mut self, nodes: impl IntoIterator<Item = NodeId>, key: &[u8; 32]) {
        for node in nodes {
            let board = self.board_mut(node);
            // A broken board stores nothing, as its device will say.
            let _ = board.save(Key::EncryptKey, key);
            let _ = board.save(Key::DecryptKey, key);
        }
    }

    /// Switches a node off and on: what it had in RAM is gone, its board stays. It starts again
    /// after the time that a start takes.
    fn reset(&mut self, node: NodeId) {
        let (crew, mut around) = self.parts();
        crew.reset(&mut around, node);
    }
}

impl<T: Parts> Conversation for T {}

/// Whether one of these texts stands in lines that were not read yet; then they are read up to it,
/// else all.
pub(crate) fn read_up_to(lines: &[Printed], seen: &mut usize, texts: &[&str]) -> bool {
    let new = lines.get(*seen..).unwrap_or_default();
    let found = new.iter().position(|line| texts.iter().any(|text| line.text.contains(text)));
    *seen = found.map_or(lines.len(), |at| *seen + at + 1);
    found.is_some()
}
