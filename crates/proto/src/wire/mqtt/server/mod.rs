//! Packets as a server (a broker) needs them: MQTT 3.1, 3.1.1 and 5, with wills, subscription
//! options and all properties, checked as the standards ask.
//!
//! Section numbers are those of the parent module. "3.1" is IBM's and Eurotech's "MQTT V3.1 Protocol
//! Specification" of 2010.
//!
//! | module | what |
//! |---|---|
//! | [`property`] | property lists, with which of them a packet may have |
//! | [`connect`] | CONNECT, and the CONNACK that answers it |
//! | [`publish`] | PUBLISH, as it comes and as it is passed on |
//! | [`subscribe`] | SUBSCRIBE, UNSUBSCRIBE and their answers; DISCONNECT |

pub mod connect;
pub mod property;
pub mod publish;
pub mod subscribe;
#[cfg(test)]
mod tests;

use super::{MalformedPacket, Version};

/// Reason codes of version 5 that a server decides on (5: table 2-6).
pub mod code {
    /// Success, normal disconnection, QoS 0 granted.
    pub const SUCCESS: u8 = 0x00;
    /// The client leaves, and its will is to be published.
    pub const WITH_WILL: u8 = 0x04;
    /// Nobody subscribed to the topic.
    pub const NO_SUBSCRIBERS: u8 = 0x10;
    /// There was no such subscription.
    pub const NO_SUBSCRIPTION: u8 = 0x11;
    /// A packet that cannot be parsed; in a SUBACK of 3.1.1, the failure.
    pub const FAILURE: u8 = 0x80;
    /// A packet that cannot be parsed.
    pub const MALFORMED: u8 = 0x81;
    /// A packet that may not come here, or not like this.
    pub const PROTOCOL_ERROR: u8 = 0x82;
    /// A protocol name or level that the server does not speak.
    pub const UNSUPPORTED_VERSION: u8 = 0x84;
    /// A client identifier that the server does not take.
    pub const CLIENT_ID: u8 = 0x85;
    /// The server has no room for another client.
    pub const BUSY: u8 = 0x89;
    /// The server ends.
    pub const SHUTTING_DOWN: u8 = 0x8b;
    /// An authentication method that the server does not know.
    pub const AUTHENTICATION: u8 = 0x8c;
    /// Nothing came for one and a half times the keep-alive.
    pub const KEEP_ALIVE: u8 = 0x8d;
    /// Another connection uses the client identifier.
    pub const TAKEN_OVER: u8 = 0x8e;
    /// A topic filter that is not allowed.
    pub const FILTER: u8 = 0x8f;
    /// A topic name that is not allowed.
    pub const TOPIC: u8 = 0x90;
    /// A packet identifier that nothing is known of.
    pub const NO_PACKET_ID: u8 = 0x92;
    /// A topic alias of 0, above the maximum, or never set.
    pub const TOPIC_ALIAS: u8 = 0x94;
    /// A packet above the maximum packet size.
    pub const TOO_LARGE: u8 = 0x95;
    /// A limit of the server is reached.
    pub const QUOTA: u8 = 0x97;
}

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

    /// Returns whether it is version 5.
    #[must_use]
    pub const fn is_5(self) -> bool {
        matches!(self, Self::V5)
    }
}

/// Breach of the standard by a client: the reason code that version 5 has for it, and in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// One of [`code`].
    pub reason: u8,
    /// Words for a log.
    pub what: &'static str,
}

impl Fault {
    pub(crate) const fn protocol(what: &'static str) -> Self {
        Self { reason: code::PROTOCOL_ERROR, what }
    }

    pub(crate) const fn malformed(what: &'static str) -> Self {
        Self { reason: code::MALFORMED, what }
    }
}

impl From<MalformedPacket> for Fault {
    fn from(MalformedPacket(what): MalformedPacket) -> Self {
        Self::malformed(what)
    }
}
