//! A node's radio, as the ideal medium knows it.

use crate::lab::nodes::device::NodeId;
use crate::lab::pool::Handle;
use alloc::collections::VecDeque;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;

/// The counters of a node's radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdealRadioCounters {
    /// Frames handed to the driver and taken.
    pub sent: u64,
    /// Frames that the driver refused.
    pub refused: u64,
    /// Attempts on the air: frames and their retries by the MAC.
    pub attempts: u64,
    /// Unicast frames given up after the last retry.
    pub failed: u64,
    /// Frames handed up to the node.
    pub received: u64,
    /// Frames lost on their way to this node.
    pub lost: u64,
    /// Frames that came twice.
    pub doubled: u64,
}

/// The streams of chance on the way to a node.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) loss: RngStream,
    pub(super) ack: RngStream,
    pub(super) duplicate: RngStream,
    pub(super) delay: RngStream,
}

/// The frame at the head of a driver's queue, on the air.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TxState {
    /// Attempts that have begun; 0 while nothing is on the air.
    pub(super) attempt: u8,
    pub(super) started: Instant,
    /// An earlier attempt has reached its receiver.
    pub(super) through: bool,
}

#[derive(Debug)]
pub(super) struct IdealRadio {
    pub(super) tx_buffers: usize,
    pub(super) wake: Option<Instant>,
    pub(super) waiting: VecDeque<Handle>,
    pub(super) sending: TxState,
    pub(super) sequence: u16,
    pub(super) streams: Streams,
    pub(super) counters: IdealRadioCounters,
}

impl IdealRadio {
    pub(super) fn new(seed: u64, node: NodeId, tx_buffers: usize) -> Self {
        let stream = |purpose| RngStream::stream(seed, u32::from(node.0), purpose);
        Self {
            tx_buffers,
            wake: None,
            waiting: VecDeque::new(),
            sending: TxState::default(),
            sequence: 0,
            streams: Streams {
                loss: stream(Purpose::Loss),
                ack: stream(Purpose::Ack),
                duplicate: stream(Purpose::Duplicate),
                delay: stream(Purpose::Delay),
            },
            counters: IdealRadioCounters::default(),
        }
    }
}
