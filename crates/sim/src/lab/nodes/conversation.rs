//! Verbs for devices in conversation, whatever the medium between them: those of a
//! [`Fleet`](crate::lab::ideal::Fleet) and of a [`Lab`](crate::lab::run::Lab).

use super::board::MemoryBoard;
use super::device::{DeviceModel, NodeId};
use super::device_set::{DeviceHost, DeviceSet, Printed};
use super::livelock::Livelock;
use crate::lab::ideal::IdealMediumConfig;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::board::{Board as _, NvsKey};
use esp_now::node::task::EspNowEvent;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// The parts of a conversation: devices, and their host.
pub(crate) trait ConversationParts {
    type Device: DeviceModel;
    type Around<'a>: DeviceHost
    where
        Self: 'a;

    fn device_set(&self) -> &DeviceSet<Self::Device>;

    fn device_set_mut(&mut self) -> &mut DeviceSet<Self::Device>;

    /// Returns the devices, whose clock is right, and their host.
    fn parts(&mut self) -> (&mut DeviceSet<Self::Device>, Self::Around<'_>);

    /// Returns the time, on the clock of all.
    fn clock(&self) -> Instant;

    /// Does what is next if it is not after `until`; else it is `until`, and the answer is false.
    fn next(&mut self, until: Instant) -> Result<bool, Livelock>;

    /// Returns the settings of the medium, where it is one that can be told what to lose.
    fn ideal_medium(&mut self) -> Option<&mut IdealMediumConfig>;
}

/// Devices in conversation on virtual time. A node that is not there is a panic, in all of this.
#[expect(private_bounds, reason = "it is for what this crate simulates")]
pub trait Conversation: ConversationParts {
    /// Returns the time, on the clock of all.
    fn now(&self) -> Instant {
        self.clock()
    }

    /// Returns how many nodes there are.
    fn count(&self) -> usize {
        self.device_set().members.len()
    }

    /// Lists the nodes.
    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<Self> {
        (0..self.count() as u16).map(NodeId)
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Livelock`].
    fn run_until(&mut self, until: Instant) -> Result<(), Livelock> {
        while self.next(until)? {}
        Ok(())
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// [`Livelock`].
    fn run_for(&mut self, time: Duration) -> Result<(), Livelock> {
        self.run_until(self.now() + time)
    }

    /// Lets time go on until something is so, at most for that long. Says whether it is so. It is
    /// asked before each event.
    ///
    /// # Errors
    /// [`Livelock`].
    fn run_till(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Livelock>
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

    /// Lets time go on as [`run_till`](Self::run_till) does, for a condition on what devices tell:
    /// it is asked only when one has printed, told its application something, handed it a payload,
    /// recorded a sample, joined a router or given up to.
    ///
    /// # Errors
    /// [`Livelock`].
    fn run_till_told(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Livelock>
    where
        Self: Sized,
    {
        let mut asked = None;
        let told = self.run_till(most, |it| {
            let news = it.device_set().news;
            asked.replace(news) != Some(news) && is_so(it)
        })?;
        Ok(told || is_so(self))
    }

    /// Types a command at a node's console, as soon as its prompt is there.
    fn command(&mut self, node: NodeId, text: &str) {
        let (device_set, mut around) = self.parts();
        device_set.command(&mut around, node, text);
    }

    /// Returns how many commands of a node are not typed to their end.
    fn pending(&self, node: NodeId) -> usize {
        self.device_set().member(node).terminal.pending()
    }

    /// Returns the lines that a node has printed, without prompts and echoes.
    fn lines(&self, node: NodeId) -> &[Printed] {
        &self.device_set().member(node).lines
    }

    /// Returns the events that a node has told its application.
    fn events(&self, node: NodeId) -> &[(Instant, EspNowEvent)] {
        &self.device_set().member(node).events
    }

    /// Returns the payloads that a node has handed to its application, each with when and from
    /// whom.
    fn data(&self, node: NodeId) -> &[(Instant, Mac, Vec<u8>)] {
        &self.device_set().member(node).data
    }

    /// Returns the samples that a node has recorded since they were last taken; on its own clock.
    /// In a lab, a lost probe has the cause that the lab knows.
    fn samples(&self, node: NodeId) -> &[Sample] {
        &self.device_set().member(node).samples
    }

    /// Takes the samples of a node.
    fn take_samples(&mut self, node: NodeId) -> Vec<Sample> {
        core::mem::take(&mut self.device_set_mut().members[node.index()].samples)
    }

    /// Returns a node's board: its pins' edges, its flash, its stored values.
    fn board(&self, node: NodeId) -> &MemoryBoard {
        &self.device_set().member(node).board
    }

    /// Returns a node's board, to put an image or a key into it.
    fn board_mut(&mut self, node: NodeId) -> &mut MemoryBoard {
        &mut self.device_set_mut().members[node.index()].board
    }

    /// Stores a key of the application layer on these nodes; they have it from their next start on,
    /// so this is for before time goes on, or before a reset.
    fn install_key(&mut self, nodes: impl IntoIterator<Item = NodeId>, key: &[u8; 32]) {
        for node in nodes {
            let board = self.board_mut(node);
            // A broken board stores nothing, as its device will say.
            let _ = board.save(NvsKey::EncryptKey, key);
            let _ = board.save(NvsKey::DecryptKey, key);
        }
    }

    /// Switches a node off and on: what it had in RAM is gone, its board stays. It starts again
    /// after the time that a start takes.
    fn reset(&mut self, node: NodeId) {
        let (device_set, mut around) = self.parts();
        device_set.reset(&mut around, node);
    }
}

impl<T: ConversationParts> Conversation for T {}

/// Tells whether the awaited line is among those that were not read yet; then they are read up to it, else
/// all.
pub(crate) fn read_up_to(
    lines: &[Printed],
    seen: &mut usize,
    is_it: impl Fn(&Printed) -> bool,
) -> bool {
    let new = lines.get(*seen..).unwrap_or_default();
    let found = new.iter().position(is_it);
    *seen = found.map_or(lines.len(), |at| *seen + at + 1);
    found.is_some()
}
