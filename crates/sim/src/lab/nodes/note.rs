//! The events of a fleet, as its watch is told them.

use super::device::NodeId;
use core::time::Duration;
use esp_now::node::task::EspNowEvent;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Cause, Sample};
use espbench_model::time::Instant;

/// A frame that has been on the air: one copy, one attempt of the MAC.
#[derive(Clone, Copy, Debug)]
pub struct FrameOnAir<'a> {
    /// Number of the frame in this conversation, from 1. Retries by the MAC keep it.
    pub number: u64,
    /// Attempt of the MAC, from 1.
    pub attempt: u8,
    /// Sequence number of the station (IEEE 802.11-2020, 9.2.4.4), 12 bits.
    pub sequence: u16,
    /// When it began.
    pub started: Instant,
    /// Time that it took, with the acknowledgement.
    pub took: Duration,
    /// Sender of the frame.
    pub node: NodeId,
    /// Address of the sender (address 2).
    pub from: Mac,
    /// Address of the receiver (address 1).
    pub to: Mac,
    /// Channel of the frame.
    pub channel: u8,
    /// ESP-NOW data.
    pub data: &'a [u8],
    /// Nodes that get it.
    pub heard: &'a [NodeId],
    /// Nodes that could have got it, and why they did not.
    pub missed: &'a [(NodeId, MissReason)],
    /// Unicast: whether the acknowledgement came back; in a lab, whether the receiver read the frame
    /// and so answers.
    pub acknowledged: Option<bool>,
}

/// The reason for which a frame did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MissReason {
    /// Drawn by the medium's loss.
    Loss,
    /// Too far: no link.
    Range,
    /// Tuned to another channel.
    Channel,
    /// Switched off, or starting.
    Off,
    /// The receiver's MAC has the frame already.
    Duplicate,
    /// Another frame was there, or the receiver was sending.
    Collision,
    /// Too weak.
    Noise,
}

impl MissReason {
    /// Converts the cause of a loss in a room.
    pub(crate) const fn of(cause: Cause) -> Self {
        match cause {
            Cause::Collision => Self::Collision,
            Cause::Noise => Self::Noise,
            Cause::Asleep => Self::Off,
            _ => Self::Loss,
        }
    }

    /// Returns the reason as a transcript prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "lost",
            Self::Range => "out of range",
            Self::Channel => "on another channel",
            Self::Off => "off",
            Self::Duplicate => "a duplicate to the MAC",
            Self::Collision => "collided",
            Self::Noise => "too weak",
        }
    }
}

/// An event that has happened.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// A frame was on the air. Arrivals that it causes are later.
    Air(FrameOnAir<'a>),
    /// A frame was handed to a node: for media that delay or double.
    Arrived {
        /// The receiver.
        node: NodeId,
        /// Number of the frame.
        number: u64,
    },
    /// A node's driver had no buffer left for a frame of that length.
    Refused {
        /// The sender.
        node: NodeId,
        /// Bytes of ESP-NOW data.
        len: usize,
    },
    /// A line stands on a console, without its line end and without prompt.
    Printed {
        /// Number of the node.
        node: NodeId,
        /// The line.
        text: &'a str,
    },
    /// Bytes came out of a console, as they are.
    Console {
        /// Number of the node.
        node: NodeId,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// A command was typed.
    Typed {
        /// Node of the event.
        node: NodeId,
        /// The command.
        text: &'a str,
    },
    /// A node told its application something.
    Event {
        /// The node.
        node: NodeId,
        /// Event that the application was told.
        event: EspNowEvent,
    },
    /// A payload reached a node's application.
    Data {
        /// The node.
        node: NodeId,
        /// The originator.
        from: Mac,
        /// The payload.
        data: &'a [u8],
        /// Signal strength, dBm.
        rssi: i8,
        /// Channel.
        channel: u8,
    },
    /// A node recorded a sample. Its timestamps are on the node's clock.
    Sample {
        /// The node.
        node: NodeId,
        /// The sample.
        sample: &'a Sample,
    },
    /// A node tuned its radio.
    Tuned {
        /// The node.
        node: NodeId,
        /// The channel.
        channel: u8,
    },
    /// A node was switched on.
    Started {
        /// The node.
        node: NodeId,
        /// Starts before this one.
        resets: u32,
    },
    /// A node was reset.
    Reset {
        /// The node.
        node: NodeId,
    },
}

/// A witness of what happens, told with the time on the fleet's clock.
pub trait Watch {
    /// Takes note of an event.
    fn note(&mut self, at: Instant, note: &Note<'_>);
}

/// Nobody watches.
impl Watch for () {
    fn note(&mut self, _: Instant, _: &Note<'_>) {}
}

impl<W: Watch + ?Sized> Watch for &mut W {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        (**self).note(at, note);
    }
}

impl<W: Watch> Watch for Option<W> {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        if let Some(watch) = self {
            watch.note(at, note);
        }
    }
}

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        self.0.note(at, note);
        self.1.note(at, note);
    }
}
