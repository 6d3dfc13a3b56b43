//! Numbered messages through an MQTT broker: a publisher, a subscriber, and the ledger between.
//!
//! [`Exchange`] is the whole test as one machine without I/O and without a clock. Whoever drives it
//! keeps two byte streams, one a [`Side`]: it gives what arrived to [`Exchange::handle`] and sends
//! what [`Exchange::poll`] asks for.
//!
//! Each message passes stages, and [`Probe`](crate::sample::Probe) holds the time of each: due,
//! queued (it entered the client's own queue), sent (the system took its last byte), acked (PUBACK
//! or PUBCOMP), received (by the subscriber). A message that finds the queue full never enters it:
//! that is the loss of the published benchmark of Smooth's MQTT, and is told apart
//! ([`Cause::ApplicationQueue`](crate::sample::Cause)) from one that the broker took and did not
//! pass on ([`Cause::Broker`](crate::sample::Cause)).
//!
//! | module | what |
//! |---|---|
//! | [`exchange`] | both sides together: begin, offer, drain, end |
//! | [`publisher`] | the client's queue and its window of unacknowledged messages |
//! | [`subscriber`] | what comes back, and its acknowledgements |
//! | [`connection`] | what both sides share: handshake, keep-alive, faults |
//! | [`ledger`] | the stages of each message until its fate is known |
//! | [`gatherer`] | the common subscriber of several publishers |
//! | [`listener`] | a subscriber alone, for a device that numbers its own messages |
//! | [`gaps`] | missing, repeated and reordered sequence numbers, by name |
//! | [`payload`] | the bytes of a message |

pub mod connection;
pub mod exchange;
pub mod gaps;
pub mod gatherer;
pub mod ledger;
pub mod listener;
mod meter;
pub mod payload;
pub mod publisher;
pub mod subscriber;

pub use connection::KEEP_ALIVE;
pub use exchange::{Exchange, PublisherStorage, Storage};
pub use gaps::Gaps;
pub use gatherer::Gatherer;
pub use listener::Listener;

use crate::sample::Link;
use crate::time::{Duration, Instant};
use crate::wire::mqtt::{Malformed, Version, reason};

/// How messages come due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As fast as the window and the connection allow: each is due when there is room for it.
    Saturate,
    /// So many a second, evenly, whatever becomes of them.
    Offered(f64),
}

/// What to do, and as whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings<'a> {
    /// 3.1.1 or 5.
    pub version: Version,
    /// Quality of service of publication and subscription, 0 to 2.
    pub qos: u8,
    /// Payload bytes, at least [`payload::HEAD`].
    pub size: u32,
    /// Topic; nobody else may publish on it. A [`Listener`]'s is a filter: the device's.
    pub topic: &'a str,
    /// Client identifiers of publisher and subscriber.
    pub client_ids: [&'a str; 2],
    /// User name.
    pub username: Option<&'a str>,
    /// Password.
    pub password: Option<&'a [u8]>,
    /// How messages come due.
    pub pace: Pace,
    /// Most QoS 1 or 2 messages without an acknowledgement; the broker's receive maximum, the
    /// number of flights lent and this, whichever is least.
    pub in_flight: u16,
    /// Messages that the client's own queue holds.
    pub queue: u32,
    /// How long messages come due.
    pub time: Duration,
    /// Stop after so many, where set.
    pub count: Option<u64>,
    /// Once all are due: how long nothing may happen before what is missing counts as lost.
    pub drain: Duration,
    /// How long the broker may owe an answer, and the system may take no byte.
    pub patience: Duration,
    /// Ask for a session that outlives the connection, and go on with it after
    /// [`Input::Closed`] and another [`Input::Connected`].
    pub resume: bool,
    /// Messages are published to be kept by the broker for later subscribers (3.3.1.3).
    pub retain: bool,
    /// Keep-alive seconds asked of the broker (3.1.2.10). A ping goes out after half of that; 0 is
    /// never.
    pub keep_alive: u16,
    /// Which of several publishers with a common subscriber: it is in the upper bits of the sequence
    /// numbers that they send (see [`payload::sender`]).
    pub sender: u16,
    /// The link named in the samples.
    pub link: Link,
}

/// One of the two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends messages.
    Publisher,
    /// Receives them.
    Subscriber,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Publisher, Self::Subscriber];
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The transport is there.
    Connected,
    /// Bytes came.
    Received(&'a [u8]),
    /// The system took some of the bytes that `poll` gave out, but not the last one.
    Writing,
    /// The system took the last byte of everything that `poll` gave out.
    Written,
    /// The transport is gone.
    Closed,
    /// The user wants to stop: nothing further comes due, and what is outstanding stays so.
    Stop,
}

/// Why the test ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
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
        /// What was asked.
        asked: u8,
        /// What it grants.
        granted: u8,
    },
    /// The broker takes no packets of that size.
    TooLarge {
        /// Bytes of a packet.
        packet: u32,
        /// What it takes.
        limit: u32,
    },
    /// The broker sent what the standard does not allow.
    Malformed(Malformed),
    /// The broker said goodbye (version 5).
    Dismissed {
        /// Reason code.
        code: u8,
    },
    /// The connection broke.
    Disconnected,
    /// The broker closed the connection before it accepted it.
    NotAccepted,
    /// The first bytes are those of another protocol.
    Foreign(Foreign),
    /// The broker owes an answer and is silent.
    Silent {
        /// The answer.
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
    /// The protocol that begins with `first`; `None` where that is not one of these.
    pub(crate) const fn of(first: u8) -> Option<Self> {
        match first {
            0x15 | 0x16 => Some(Self::Tls),
            b'H' => Some(Self::Http),
            _ => None,
        }
    }
}

impl core::fmt::Display for Fault {
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
            Self::Malformed(Malformed(what)) => {
                write!(f, "sent what MQTT does not allow: {what}")
            }
            Self::Dismissed { code } => {
                write!(f, "ended the connection: {} (code {code:#04x})", reason::name(code))
            }
            Self::Disconnected => write!(f, "closed the connection"),
            Self::NotAccepted => write!(f, "closed the connection before its CONNACK"),
            Self::Foreign(Foreign::Tls) => write!(f, "answers in TLS"),
            Self::Foreign(Foreign::Http) => write!(f, "answers in HTTP"),
            Self::Silent { awaiting } => write!(f, "is silent: no {awaiting} came"),
            Self::Stalled => write!(f, "takes no further bytes"),
        }
    }
}

/// An instant that may not have come yet: [`Instant::NEVER`] is "not known".
const fn known(at: Instant) -> Option<Instant> {
    if at.as_nanos() == Instant::NEVER.as_nanos() { None } else { Some(at) }
}
