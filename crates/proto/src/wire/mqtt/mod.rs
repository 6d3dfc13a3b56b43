//! MQTT 3.1.1 and 5.0 packets: values that borrow from the bytes they were parsed from, and emit.
//!
//! Section numbers marked "3.1.1" are of the OASIS standard of 29 October 2014, those marked "5"
//! of the OASIS standard of 7 March 2019; unmarked ones are the same in both.
//!
//! | module | what |
//! |---|---|
//! | [`stream`] | cuts a byte stream, fed in any chunks, into [`RawPacket`]s |
//! | [`packet`] | [`ControlPacket`]: one frame parsed, and emitted again |
//! | [`session`] | the packets that open and close a connection |
//! | [`message`] | the packets that carry and acknowledge messages |
//! | [`property`] | the property list of version 5 |
//! | [`server`] | packets as a broker needs them: wills, options, all properties, MQTT 3.1 |
//! | [`topic`] | topic names and topic filters |
//! | [`reason`] | what a return or reason code says, in words |
//! | [`bytes`] | the data types of section 1.5 |
//!
//! # Panics
//!
//! Nothing here panics, whatever the bytes: parsing answers [`MalformedPacket`], emitting [`NoRoom`].

pub mod bytes;
pub mod message;
pub mod packet;
pub mod property;
pub mod reason;
pub mod server;
pub mod session;
pub mod stream;
#[cfg(test)]
mod tests;
pub mod topic;

pub use espbench_model::workload::MqttVersion as Version;
pub use message::{Filters, Publish, PublishAck, SubAck, Subscribe};
pub use packet::ControlPacket;
pub use session::{ConnAck, Connect, Disconnect};
pub use stream::{RawPacket, Splitter};

/// The bytes are not what the standard allows. The text says what is wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedPacket(pub &'static str);

/// The buffer is too small for the packet, or the packet too large for the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

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
