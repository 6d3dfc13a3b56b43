//! A device that speaks ESP-NOW as Espressif's esp-now component does.
//!
//! | module | contents |
//! |---|---|
//! | [`task`] | parts of a node, and what they share: [`Task`](task::Task), [`Cx`](task::Cx) |
//! | [`board`] | services of a node's board: randomness, flash, pins, the cost of work |
//! | [`engine`] | frames: sending, receiving, acknowledgement, forwarding |
//! | [`print`] | the console's output and the remote log |
//! | [`tick`] | the FreeRTOS tick |
//! | [`debug`] | remote log and remote command |
//! | [`device`] | the whole node |
//! | [`schedule`] | order in which the parts run |
//! | [`air`] | radio settings: channel, country, data types received, groups |
//! | [`control`] | binding, and values for attributes |
//! | [`iperf`] | `espnow_iperf`: throughput and ping |
//! | [`ota`] | upgrade over the air, both roles, and the image |
//! | [`prov`] | provisioning: the holder of Wi-Fi credentials, and a device that wants them |
//! | [`security`] | keys, policy, handshake |
//! | [`time_sync`] | time synchronization: initiator and responder |
//!
//! # Two nodes
//!
//! The driver of a [`Node`] moves bytes and keeps the time. Here the medium is a loop: a frame that
//! one node transmits reaches the other at once.
//!
//! ```
//! use esp_now::node::board::BareBoard;
//! use esp_now::node::device::{Setup, SmallNode};
//! use esp_now::node::task::{EspNowEvent, TransmitOutcome, SendRequest, NodeSettings};
//! use esp_now::node::tick::Tick;
//! use esp_now::node::{ReceivedFrame, Input, NodeOutput};
//! use espbench_model::time::{Duration, Instant};
//! use esp_now::component::{DataType, FrameConfig};
//! use espbench_ieee80211::mac::Mac;
//!
//! let macs = [Mac([0x24, 0x0a, 0xc4, 0, 0, 1]), Mac([0x24, 0x0a, 0xc4, 0, 0, 2])];
//! let mut boards = [BareBoard(1), BareBoard(2)];
//! let mut now = Instant::ZERO;
//! // At 100 Hz, ESP-IDF's default, all three attempts below would leave in one burst.
//! let settings = NodeSettings { tick: Tick::from_hz(1000), ..NodeSettings::default() };
//! let mut nodes = [0, 1].map(|i| {
//!     SmallNode::new(now, &mut boards[i], macs[i], settings.clone(), &Setup::default())
//! });
//!
//! // The application of node 0 sends to that of node 1, which shall acknowledge.
//! let out = SendRequest {
//!     data_type: DataType::Data,
//!     dest: macs[1],
//!     config: FrameConfig { ack: true, copies: 3, ..FrameConfig::UNICAST },
//!     magic: 0,
//!     len: 0,
//!     wait: Duration::from_secs(1),
//! };
//! nodes[0].send(now, &mut boards[0], &out, b"hello").expect("nothing else is being sent");
//!
//! let mut buf = [0; 1500];
//! let mut due = [now; 2];
//! let (mut heard, mut outcome) = (false, None);
//! while !heard || outcome.is_none() {
//!     // The node whose turn is next, and its time.
//!     let me = usize::from(due[1] < due[0]);
//!     let other = 1 - me;
//!     now = now.max(due[me]);
//!     match nodes[me].poll(now, &mut boards[me], &mut buf) {
//!         NodeOutput::Transmit { len, to } => {
//!             let data = &buf[..len];
//!             let frame = ReceivedFrame { data, transmitter: macs[me], receiver: to, rssi: -40, channel: 1 };
//!             nodes[other].handle(now, &mut boards[other], Input::Frame(frame));
//!             nodes[me].handle(now, &mut boards[me], Input::Sent { delivered: true });
//!             due[other] = now;
//!         }
//!         NodeOutput::Data { len, from, .. } => {
//!             heard = true;
//!             assert_eq!((me, from, &buf[..len]), (1, macs[0], &b"hello"[..]));
//!         }
//!         NodeOutput::Print { len } => print!("{}", String::from_utf8_lossy(&buf[..len])),
//!         NodeOutput::Event(EspNowEvent::Sent(result)) => outcome = Some(result),
//!         NodeOutput::Tune(_) | NodeOutput::Sample(_) | NodeOutput::Event(_) => {}
//!         NodeOutput::WaitUntil(at) => due[me] = at,
//!         NodeOutput::Idle => due[me] = Instant::NEVER,
//!     }
//! }
//! assert_eq!(outcome, Some(TransmitOutcome::Done { attempts: 1 }));
//! ```

pub mod air;
pub mod board;
pub mod control;
pub mod debug;
pub mod device;
pub mod engine;
pub mod iperf;
pub mod ota;
pub mod print;
pub mod prov;
pub mod schedule;
pub mod security;
pub mod task;
#[cfg(test)]
pub(crate) mod tests;
pub mod tick;
pub mod time_sync;

use crate::component::Header;
pub use device::Node;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

use task::EspNowEvent;

/// An event that the driver reports to a node.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// ESP-NOW data came off the air (the body of the vendor elements).
    Frame(ReceivedFrame<'a>),
    /// The driver is done with the oldest frame it was handed (the send callback).
    Sent {
        /// Whether a unicast frame was acknowledged by the other MAC; true for broadcast.
        delivered: bool,
    },
    /// The driver refused the frame it was just handed: it has no buffer left.
    Refused,
    /// Bytes from the console.
    Console(&'a [u8]),
    /// The channel may not be changed any more, or may again be changed.
    ChannelLocked(bool),
    /// Nothing happened except that time has passed.
    Tick,
}

/// ESP-NOW data as the radio delivers it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedFrame<'a> {
    /// Header and payload of the component.
    pub data: &'a [u8],
    /// Sender on the air (address 2): the originator, or the node that forwarded it.
    pub transmitter: Mac,
    /// Receiver on the air (address 1).
    pub receiver: Mac,
    /// Signal strength, in dBm.
    pub rssi: i8,
    /// Channel to which the radio was tuned.
    pub channel: u8,
}

/// ESP-NOW data whose header has been parsed once, for all the nodes that hear it.
#[derive(Clone, Copy, Debug)]
pub struct ParsedFrame<'a> {
    data: &'a [u8],
    /// Header; `None` where the data is too short for one.
    header: Option<Header>,
    /// Result of [`Header::is_plain_data`].
    plain: bool,
}

impl<'a> ParsedFrame<'a> {
    /// Parses the component's header.
    #[must_use]
    #[inline]
    pub fn new(data: &'a [u8]) -> Self {
        let read = Header::parse(data);
        let plain = read.is_some_and(|(header, payload)| header.is_plain_data(payload.len()));
        Self { data, header: read.map(|(header, _)| header), plain }
    }
}

/// A payload for the application, in place in the node's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    /// Bytes of the payload.
    pub data: &'a [u8],
    /// Originator of the frame.
    pub from: Mac,
    /// Signal strength, in dBm.
    pub rssi: i8,
    /// Channel of the frame.
    pub channel: u8,
    /// Next answer of the node, as with [`NodeOutput::Data`].
    pub then: Then,
}

/// Next answer of [`Node::poll`], where it is known without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The answer is not known: poll.
    Poll,
    /// The last answer still holds.
    AsBefore,
    /// The answer is [`NodeOutput::WaitUntil`].
    WaitUntil(Instant),
    /// The answer is [`NodeOutput::Idle`].
    Idle,
}

/// Request of a node to its driver.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the large one on")]
pub enum NodeOutput {
    /// Hand the first `len` bytes of the buffer to the radio (`esp_now_send`). Answer with
    /// [`Input::Sent`] when the transmission is over, or at once with [`Input::Refused`].
    Transmit {
        /// Bytes of ESP-NOW data.
        len: usize,
        /// Receiver on the air: a peer, or broadcast.
        to: Mac,
    },
    /// Tune the radio to this channel, before anything that follows.
    Tune(u8),
    /// Print the first `len` bytes of the buffer on the console.
    Print {
        /// Number of bytes to print.
        len: usize,
    },
    /// A payload of [`DataType::Data`](crate::component::DataType::Data) for the application
    /// stands at the front of the buffer.
    Data {
        /// Length of the payload, in bytes.
        len: usize,
        /// Originator of the frame.
        from: Mac,
        /// Signal strength, in dBm.
        rssi: i8,
        /// Channel of the frame.
        channel: u8,
        /// Next answer of the node; a driver may ignore it and poll again.
        then: Then,
    },
    /// Record this sample.
    Sample(Sample),
    /// Report this event to the application.
    Event(EspNowEvent),
    /// Wait: there is nothing to do before this instant unless something happens.
    WaitUntil(Instant),
    /// Wait: there is nothing to do unless something happens.
    Idle,
}
