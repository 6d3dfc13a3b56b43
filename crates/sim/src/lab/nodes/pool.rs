//! Frames on the air, and where each comes from.

use super::device::NodeId;
use crate::lab::pool::PacketPool;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// The origin of a frame, as it was handed to a driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameOrigin {
    /// Time at which it was handed to the driver.
    pub(crate) at: Instant,
    /// Number of the frame in the conversation.
    pub(crate) number: u64,
    /// Sender of the frame.
    pub(crate) node: NodeId,
    /// Number of the sender's life.
    pub(crate) life: u32,
    /// Receiver's address.
    pub(crate) to: Mac,
    /// Channel on which it is sent.
    pub(crate) channel: u8,
    /// Number of the frame in a test without the component; `None` for a node's.
    pub(crate) raw: Option<u32>,
}

/// Frames that are on the air, or wait for it.
pub(crate) type FramePool = PacketPool<FrameOrigin>;
