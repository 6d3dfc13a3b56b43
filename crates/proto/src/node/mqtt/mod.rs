//! Numbered messages through an MQTT broker: a publisher, a subscriber, and the tracker between.
//!
//! [`Exchange`] is the whole test as one machine without I/O and without a clock. Whoever drives it
//! keeps two byte streams, one a [`Side`]: it gives what arrived to [`Exchange::handle`] and sends
//! what [`Exchange::poll`] asks for.
//!
//! Each message passes stages, and [`Probe`](espbench_model::sample::Probe) holds the time of each: due,
//! queued (it entered the client's own queue), sent (the system took its last byte), acked (PUBACK
//! or PUBCOMP), received (by the subscriber). A message that finds the queue full never enters it:
//! that is the loss of the published benchmark of Smooth's MQTT, and is told apart
//! ([`Cause::ApplicationQueue`](espbench_model::sample::Cause)) from one that the broker took and did not
//! pass on ([`Cause::Broker`](espbench_model::sample::Cause)).
//!
//! | module | contents |
//! |---|---|
//! | [`exchange`] | publisher and subscriber together: begin, offer, drain, end |
//! | [`publisher`] | the client's queue and its window of unacknowledged messages |
//! | [`subscriber`] | the receiving side: messages, and the acknowledgements that they are owed |
//! | [`connection`] | a connection to the broker: handshake, keep-alive, faults |
//! | [`tracker`] | the stages of each message until its fate is known |
//! | [`gatherer`] | the common subscriber of several publishers |
//! | [`listener`] | a subscriber alone, for a device that numbers its own messages |
//! | [`gaps`] | missing, repeated and reordered sequence numbers, by name |
//! | [`topics`] | topics of devices, each with numbers of its own |
//! | [`payload`] | the bytes of a message |
//! | `meter` | arrivals of each second, as intervals of the receiver |

pub mod connection;
pub mod exchange;
pub mod gaps;
pub mod gatherer;
pub mod listener;
mod meter;
pub mod payload;
pub mod publisher;
pub mod subscriber;
pub mod topics;
pub mod tracker;

pub use connection::KEEP_ALIVE;
pub use exchange::{Exchange, ExchangeStorage, PublisherStorage};
pub use gaps::Gaps;
pub use gatherer::Gatherer;
pub use listener::Listener;

use crate::wire::mqtt::{MalformedPacket, Version, reason};
use espbench_model::sample::Link;
use espbench_model::time::{Duration, Instant};

/// The load that a publisher offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfferedLoad {
    /// As fast as the window and the connection allow: a message is due when there is room for it.
    Saturate,
    /// So many messages a second, evenly, whatever becomes of them.
    Rate(f64),
}

/// The settings of one test: the messages, the clients, the limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MqttSettings<'a> {
    /// 3.1.1 or 5.
    pub version: Version,
    /// Quality of service of publication and subscription, 0 to 2.
    pub qos: u8,
    /// Payload bytes, at least [`payload::HEADER_LEN`].
    pub size: u32,
    /// Topic; nobody else may publish on it. A [`Listener`]'s is a filter: the device's.
    pub topic: &'a str,
    /// Client identifiers of publisher and subscriber.
    pub client_ids: [&'a str; 2],
    /// User name.
    pub username: Option<&'a str>,
    /// Password.
    pub password: Option<&'a [u8]>,
    /// Load that the publisher offers.
    pub pace: OfferedLoad,
    /// Most QoS 1 or 2 messages without an acknowledgement; the broker's receive maximum, the
    /// number of flights lent and this, whichever is least.
    pub in_flight: u16,
    /// Messages that the client's own queue holds.
    pub queue: u32,
    /// Time during which messages come due.
    pub time: Duration,
    /// Number of messages after which the test stops, where set.
    pub count: Option<u64>,
    /// Time without any event, once all messages are due, after which missing ones count as lost.
    pub drain: Duration,
    /// Longest time for which the broker may owe an answer, and the system may take no byte.
    pub patience: Duration,
    /// Whether to ask for a session that outlives the connection, and to go on with it after
    /// [`MqttInput::Closed`] and another [`MqttInput::Connected`].
    pub resume: bool,
    /// Whether to start without the state that the broker may have of these client identifiers (3.1.2.4).
    pub clean_start: bool,
    /// Version 5: seconds for which the broker keeps the sessions after the connections.
    pub session_expiry: Option<u32>,
    /// Whether the broker is asked to keep messages for later subscribers (3.3.1.3).
    pub retain: bool,
    /// Keep-alive seconds asked of the broker (3.1.2.10). A ping goes out after half of that; 0 is
    /// never.
    pub keep_alive: u16,
    /// Number of this publisher among those with a common subscriber, put into the upper bits of
    /// the sequence numbers (see [`payload::sender`]).
    pub sender: u16,
    /// The link named in the samples.
    pub link: Link,
}

/// One end of the test, with a connection of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends messages.
    Publisher,
    /// Receives messages.
    Subscriber,
}

impl Side {
    /// The two sides, publisher first.
    pub const BOTH: [Self; 2] = [Self::Publisher, Self::Subscriber];
}

/// An event on a connection, told by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MqttInput<'a> {
    /// The transport is connected.
    Connected,
    /// Bytes came.
    Received(&'a [u8]),
    /// The system took some of the bytes that `poll` gave out, but not the last one.
    Writing,
    /// The system took the last byte of everything that `poll` gave out.
    Written,
    /// The transport is closed.
    Closed,
    /// The user wants to stop: nothing further comes due, and what is outstanding stays so.
    Stop,
}

/// The reason for which a test ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MqttFault {
    /// The broker refused the connection.
    Refused {
        /// Version of the code.
        version: Version,
        /// Return or reason code.
        code: u8,
    },
    /// The broker refused the subscription.
    SubscriptionRefused {
        /// Reason code.
        code: u8,
    },
    /// The broker grants less than the quality of service asked for.
    QosLowered {
        /// QoS asked for.
        asked: u8,
        /// QoS that the broker grants.
        granted: u8,
    },
    /// The broker takes no packets of that size.
    TooLarge {
        /// Bytes of a packet.
        packet: u32,
        /// Most bytes of a packet that the broker takes.
        limit: u32,
    },
    /// The broker sent what the standard does not allow.
    Malformed(MalformedPacket),
    /// The broker sent a DISCONNECT (version 5).
    ServerDisconnect {
        /// Reason code.
        code: u8,
    },
    /// The connection broke.
    ConnectionLost,
    /// The broker closed the connection before it accepted it.
    NotAccepted,
    /// The first bytes are those of another protocol.
    Foreign(Foreign),
    /// The broker owes an answer and is silent.
    Silent {
        /// Packet that is awaited.
        awaiting: &'static str,
    },
    /// The other end has taken no byte for too long.
    Stalled,
}

/// A protocol that is not MQTT, as its first byte shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// An alert or a handshake record (RFC 8446, section 5.1).
    Tls,
    /// A status line (RFC 9112, section 4).
    Http,
}

impl Foreign {
    /// Recognizes the protocol that begins with `first`; `None` where that is not one of these.
    pub(crate) const fn of(first: u8) -> Option<Self> {
        match first {
            0x15 | 0x16 => Some(Self::Tls),
            b'H' => Some(Self::Http),
            _ => None,
        }
    }
}

impl core::fmt::Display for MqttFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::Refused { version, code } => {
                write!(
                    f,
                    "refused the connection: {} (code {code})",
                    reason::connect(version, code)
                )
            }
            Self::SubscriptionRefused { code } => {
                write!(f, "refused the subscription: {} (code {code:#04x})", reason::name(code))
            }
            Self::QosLowered { asked, granted } => {
                write!(f, "grants QoS {granted} where QoS {asked} was asked for")
            }
            Self::TooLarge { packet, limit } => {
                write!(f, "takes packets of up to {limit} bytes, and these have {packet}")
            }
            Self::Malformed(MalformedPacket(what)) => {
                write!(f, "sent what MQTT does not allow: {what}")
            }
            Self::ServerDisconnect { code } => {
                write!(f, "ended the connection: {} (code {code:#04x})", reason::name(code))
            }
            Self::ConnectionLost => write!(f, "closed the connection"),
            Self::NotAccepted => write!(f, "closed the connection before its CONNACK"),
            Self::Foreign(Foreign::Tls) => write!(f, "answers in TLS"),
            Self::Foreign(Foreign::Http) => write!(f, "answers in HTTP"),
            Self::Silent { awaiting } => write!(f, "is silent: no {awaiting} came"),
            Self::Stalled => write!(f, "takes no further bytes"),
        }
    }
}

/// Returns an instant that has come; [`Instant::NEVER`] means "not known".
const fn known(at: Instant) -> Option<Instant> {
    if at.as_nanos() == Instant::NEVER.as_nanos() { None } else { Some(at) }
}
