//! MQTT 3.1.1 and 5.0 packets: values that borrow from the bytes they were parsed from, and emit.
//!
//! Section numbers marked "3.1.1" are of the OASIS standard of 29 October 2014, those marked "5"
//! of the OASIS standard of 7 March 2019; unmarked ones are the same in both.
//!
//! | module | what |
//! |---|---|
//! | [`stream`] | cuts a byte stream, fed in any chunks, into [`RawPacket`]s |
//! | [`packet`] | [`ControlPacket`]: one frame parsed, and emitted again |
//! | [`connect`] | CONNECT, with its will, and CONNACK |
//! | [`disconnect`] | DISCONNECT |
//! | [`publish`] | PUBLISH, and its four acknowledgements |
//! | [`subscribe`] | SUBSCRIBE, UNSUBSCRIBE and their answers |
//! | [`property`] | property lists of version 5, with which of them a packet may have |
//! | [`topic`] | topic names and topic filters |
//! | [`reason`] | return and reason codes: their names, and what they say in words |
//! | [`bytes`] | the data types of section 1.5 |
//!
//! There is one type for each packet, for both ends: a client and a broker parse and emit the same values. "3.1" is
//! IBM's and Eurotech's "MQTT V3.1 Protocol Specification" of 2010, whose clients a broker takes as they are.
//!
//! # Panics
//!
//! Nothing here panics, whatever the bytes: parsing answers [`Fault`], [`Refusal`] or [`MalformedPacket`], emitting
//! [`NoRoom`].

pub mod bytes;
pub mod connect;
pub mod disconnect;
pub mod packet;
pub mod property;
pub mod publish;
pub mod reason;
pub mod stream;
pub mod subscribe;
#[cfg(test)]
mod tests;
pub mod topic;

pub use connect::{ConnAck, Connect, Refusal, Will};
pub use disconnect::Disconnect;
pub use espbench_model::workload::MqttVersion as Version;
pub use packet::ControlPacket;
pub use property::Properties;
pub use publish::{AddedProperties, Publish, PublishAck};
pub use stream::{RawPacket, Splitter};
pub use subscribe::{Filters, SubAck, Subscribe, SubscriptionOptions, UnsubAck, Unsubscribe};

/// The bytes are not what the standard allows. The text says what is wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedPacket(pub &'static str);

/// The buffer is too small for the packet, or the packet too large for the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// Protocols that one port speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// MQTT 3.1: protocol name `MQIsdp`, level 3.
    V31,
    /// MQTT 3.1.1: protocol name `MQTT`, level 4.
    V311,
    /// MQTT 5: protocol name `MQTT`, level 5.
    V5,
}

impl Protocol {
    /// Returns the version whose packets it has: those of 3.1 are those of 3.1.1.
    #[must_use]
    pub const fn version(self) -> Version {
        match self {
            Self::V31 | Self::V311 => Version::V311,
            Self::V5 => Version::V5,
        }
    }

    /// Returns the code that a CONNACK has for a reason code of version 5: in 3.1 and 3.1.1 a return code
    /// (3.1.1: table 3.1).
    #[must_use]
    pub const fn connack_code(self, reason: u8) -> u8 {
        match (self, reason) {
            (Self::V5, _) => reason,
            (_, reason::SUCCESS) => 0,
            (_, reason::UNSUPPORTED_VERSION) => 1,
            (_, reason::CLIENT_ID) => 2,
            (_, 0x86) => 4,
            (_, 0x87) => 5,
            _ => 3,
        }
    }

    /// Returns whether it is version 5.
    #[must_use]
    pub const fn is_5(self) -> bool {
        matches!(self, Self::V5)
    }
}

impl From<Version> for Protocol {
    fn from(version: Version) -> Self {
        match version {
            Version::V311 => Self::V311,
            Version::V5 => Self::V5,
        }
    }
}

/// Breach of the standard by the other end: the reason code that version 5 has for it, and in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// One of [`reason`].
    pub reason: u8,
    /// Words for a log.
    pub what: &'static str,
}

impl Fault {
    pub(crate) const fn protocol(what: &'static str) -> Self {
        Self { reason: reason::PROTOCOL_ERROR, what }
    }

    pub(crate) const fn malformed(what: &'static str) -> Self {
        Self { reason: reason::MALFORMED, what }
    }
}

impl From<MalformedPacket> for Fault {
    fn from(MalformedPacket(what): MalformedPacket) -> Self {
        Self::malformed(what)
    }
}

impl From<Fault> for MalformedPacket {
    fn from(fault: Fault) -> Self {
        Self(fault.what)
    }
}

impl From<Refusal> for MalformedPacket {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotMqtt(what) => Self(what),
            Refusal::Level(_) => Self("a protocol level that is not known"),
            Refusal::Fault(_, fault) => fault.into(),
        }
    }
}

/// Control packet types (2.2.1, 5: 2.1.2): the high four bits of a packet's first byte.
pub mod kind {
    /// Client asks to connect.
    pub const CONNECT: u8 = 1;
    /// Broker answers.
    pub const CONNACK: u8 = 2;
    /// A message.
    pub const PUBLISH: u8 = 3;
    /// Acknowledgement of a QoS 1 message.
    pub const PUBACK: u8 = 4;
    /// QoS 2, first answer.
    pub const PUBREC: u8 = 5;
    /// QoS 2, release.
    pub const PUBREL: u8 = 6;
    /// QoS 2, complete.
    pub const PUBCOMP: u8 = 7;
    /// Client subscribes.
    pub const SUBSCRIBE: u8 = 8;
    /// Broker answers.
    pub const SUBACK: u8 = 9;
    /// Client ends subscriptions.
    pub const UNSUBSCRIBE: u8 = 10;
    /// Broker answers.
    pub const UNSUBACK: u8 = 11;
    /// Are you there?
    pub const PINGREQ: u8 = 12;
    /// I am.
    pub const PINGRESP: u8 = 13;
    /// The connection ends in good order; in version 5 with a reason, and from either side.
    pub const DISCONNECT: u8 = 14;
    /// Version 5: extended authentication.
    pub const AUTH: u8 = 15;
}
