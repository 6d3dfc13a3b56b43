//! A node with all that the fleet knows of it.

use super::board::MemoryBoard;
use super::device::NodeId;
use super::pool::Handle;
use super::terminal::Terminal;
use crate::random::{Purpose, Random};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_proto::node::esp_now::task::Event;
use espbench_proto::sample::Sample;
use espbench_proto::time::Instant;
use espbench_proto::wire::mac::Mac;

/// A line of a console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// When it was complete, on the fleet's clock.
    pub at: Instant,
    /// Without prompt and line end.
    pub text: String,
}

/// What a node has done on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
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
    pub(super) loss: Random,
    pub(super) ack: Random,
    pub(super) duplicate: Random,
    pub(super) delay: Random,
    pub(super) start: Random,
}

/// The frame at the head of a driver's queue, on the air.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sending {
    /// Attempts that have begun; 0 while nothing is on the air.
    pub(super) attempt: u8,
    pub(super) started: Instant,
    /// An earlier attempt has reached its receiver.
    pub(super) through: bool,
}

#[derive(Debug)]
pub(super) struct Station<D> {
    /// `None` while it is off.
    pub(super) device: Option<D>,
    pub(super) board: MemoryBoard,
    pub(super) mac: Mac,
    pub(super) channel: u8,
    pub(super) tx_buffers: usize,
    /// Starts that were asked for; what is scheduled for an earlier life does not happen.
    pub(super) life: u32,
    pub(super) resets: u32,
    /// When its clock was zero.
    pub(super) zero: Instant,
    pub(super) wake: Option<Instant>,
    pub(super) waiting: VecDeque<Handle>,
    pub(super) sending: Sending,
    pub(super) sequence: u16,
    pub(super) streams: Streams,
    pub(super) terminal: Terminal,
    pub(super) lines: Vec<Printed>,
    pub(super) events: Vec<(Instant, Event)>,
    pub(super) samples: Vec<Sample>,
    pub(super) data: Vec<(Instant, Mac, Vec<u8>)>,
    pub(super) counters: Counters,
    /// Polls since time last went on.
    pub(super) polls: u32,
    pub(super) polled_at: Instant,
}

impl<D> Station<D> {
    pub(super) fn new(seed: u64, node: NodeId) -> Self {
        let stream = |purpose| Random::stream(seed, u32::from(node.0), purpose);
        Self {
            device: None,
            board: MemoryBoard::new(seed, node),
            mac: node.mac(),
            channel: 1,
            tx_buffers: 32,
            life: 0,
            resets: 0,
            zero: Instant::ZERO,
            wake: None,
            waiting: VecDeque::new(),
            sending: Sending::default(),
            sequence: 0,
            streams: Streams {
                loss: stream(Purpose::Loss),
                ack: stream(Purpose::Ack),
                duplicate: stream(Purpose::Duplicate),
                delay: stream(Purpose::Delay),
                start: stream(Purpose::Start),
            },
            terminal: Terminal::default(),
            lines: Vec::new(),
            events: Vec::new(),
            samples: Vec::new(),
            data: Vec::new(),
            counters: Counters::default(),
            polls: 0,
            polled_at: Instant::ZERO,
        }
    }

    /// The node's clock at a time of the fleet's.
    pub(super) const fn local(&self, now: Instant) -> Instant {
        Instant::ZERO.after(now.since(self.zero))
    }
}
