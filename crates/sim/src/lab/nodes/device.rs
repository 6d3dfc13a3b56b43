//! The behaviour of a device, as the fleet drives it.

use super::board::MemoryBoard;
use alloc::boxed::Box;
use core::fmt;
use esp_now::node::board::Board;
use esp_now::node::{Input, Node, NodeOutput, ParsedFrame, Payload, ReceivedFrame, Then};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// A device on the air, as the fleet drives it. Its clock starts at zero when it is switched on.
///
/// The law: after any [`handle`](Self::handle), [`poll`](Self::poll) is called until it answers
/// [`NodeOutput::WaitUntil`] or [`NodeOutput::Idle`].
pub trait DeviceModel {
    /// Tells the device that something happened.
    fn handle(&mut self, now: Instant, board: &mut dyn Board, input: Input<'_>);

    /// Hands the device a frame off the air: as [`handle`](Self::handle) with [`Input::Frame`].
    /// Where the answer says what [`poll`](Self::poll) would, that need not be called. `read` is
    /// the frame's data.
    fn hear(
        &mut self,
        now: Instant,
        board: &mut MemoryBoard,
        frame: &ReceivedFrame<'_>,
        read: &ParsedFrame<'_>,
    ) -> Then {
        let _ = read;
        self.handle(now, board, Input::Frame(*frame));
        Then::Poll
    }

    /// Polls as [`poll`](Self::poll) does, where that would give a payload for the application,
    /// which is shown where it stands; `None`, and nothing is done, where it is something else or
    /// not known at once.
    fn take_data(&mut self, now: Instant) -> Option<Payload<'_>> {
        let _ = now;
        None
    }

    /// Returns the device's next request. `buf` takes what is to be sent or printed.
    fn poll(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> NodeOutput;
}

impl<const D: usize, const S: usize, const A: usize, const F: usize, const E: usize> DeviceModel
    for Node<D, S, A, F, E>
{
    fn handle(&mut self, now: Instant, board: &mut dyn Board, input: Input<'_>) {
        self.handle(now, board, input);
    }

    #[inline]
    fn hear(
        &mut self,
        now: Instant,
        board: &mut MemoryBoard,
        frame: &ReceivedFrame<'_>,
        read: &ParsedFrame<'_>,
    ) -> Then {
        self.hear(now, board, read, frame.rssi, frame.channel)
    }

    #[inline]
    fn take_data(&mut self, now: Instant) -> Option<Payload<'_>> {
        self.take_data(now)
    }

    fn poll(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> NodeOutput {
        self.poll(now, board, buf)
    }
}

impl<D: DeviceModel + ?Sized> DeviceModel for Box<D> {
    fn handle(&mut self, now: Instant, board: &mut dyn Board, input: Input<'_>) {
        (**self).handle(now, board, input);
    }

    #[inline]
    fn hear(
        &mut self,
        now: Instant,
        board: &mut MemoryBoard,
        frame: &ReceivedFrame<'_>,
        read: &ParsedFrame<'_>,
    ) -> Then {
        (**self).hear(now, board, frame, read)
    }

    #[inline]
    fn take_data(&mut self, now: Instant) -> Option<Payload<'_>> {
        (**self).take_data(now)
    }

    fn poll(&mut self, now: Instant, board: &mut dyn Board, buf: &mut [u8]) -> NodeOutput {
        (**self).poll(now, board, buf)
    }
}

/// A place in the fleet, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// Returns the place as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the address that a node of this place has: Espressif's prefix 24:0a:c4, then the
    /// place counted from 1.
    #[must_use]
    pub const fn mac(self) -> Mac {
        let [high, low] = self.0.wrapping_add(1).to_be_bytes();
        Mac([0x24, 0x0A, 0xC4, 0, high, low])
    }

    /// Finds the node of that address; `None` for an address that is no node's.
    #[must_use]
    pub fn of(mac: Mac) -> Option<Self> {
        let [.., high, low] = mac.0;
        let node = Self(u16::from_be_bytes([high, low]).wrapping_sub(1));
        (node.mac() == mac).then_some(node)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node{}", self.0)
    }
}

/// The facts that a device is made from, at the first start and after each reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// Place of the device.
    pub node: NodeId,
    /// Address of the device.
    pub mac: Mac,
    /// Starts before this one.
    pub resets: u32,
}
