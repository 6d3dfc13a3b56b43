//! One packet, of whichever type.

use super::bytes::Writer;
use super::message::{Ack, Publish, SubAck, Subscribe};
use super::session::{ConnAck, Connect, Disconnect};
use super::{Frame, Malformed, NoRoom, Version, kind};

/// A control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// Client asks to connect.
    Connect(Connect<'a>),
    /// Broker answers.
    ConnAck(ConnAck),
    /// A message.
    Publish(Publish<'a>),
    /// Acknowledgement of a QoS 1 message.
    PubAck(Ack),
    /// QoS 2, first answer.
    PubRec(Ack),
    /// QoS 2, release.
    PubRel(Ack),
    /// QoS 2, complete.
    PubComp(Ack),
    /// Client subscribes.
    Subscribe(Subscribe<'a>),
    /// Broker answers.
    SubAck(SubAck<'a>),
    /// Are you there?
    PingReq,
    /// I am.
    PingResp,
    /// The connection ends.
    Disconnect(Disconnect),
    /// A type that espbench has no use for (UNSUBSCRIBE, UNSUBACK, AUTH), unparsed.
    Other(u8),
}

impl<'a> Packet<'a> {
    /// Parses the packet of `frame`. A CONNECT carries its own version.
    ///
    /// # Errors
    /// Flags or a body that the standard does not allow for its type.
    pub fn parse(version: Version, frame: &Frame<'a>) -> Result<Self, Malformed> {
        let reserved = match frame.kind() {
            kind::PUBLISH => frame.flags(),
            // 2.2.2, 5: 2.1.3; UNSUBSCRIBE (10) has them too.
            kind::PUBREL | kind::SUBSCRIBE | 10 => 2,
            _ => 0,
        };
        if frame.flags() != reserved {
            return Err(Malformed("reserved flags are set"));
        }
        Ok(match frame.kind() {
            kind::CONNECT => Self::Connect(Connect::parse(frame)?),
            kind::CONNACK => Self::ConnAck(ConnAck::parse(version, frame)?),
            kind::PUBLISH => Self::Publish(Publish::parse(version, frame)?),
            kind::PUBACK => Self::PubAck(Ack::parse(version, frame)?),
            kind::PUBREC => Self::PubRec(Ack::parse(version, frame)?),
            kind::PUBREL => Self::PubRel(Ack::parse(version, frame)?),
            kind::PUBCOMP => Self::PubComp(Ack::parse(version, frame)?),
            kind::SUBSCRIBE => Self::Subscribe(Subscribe::parse(version, frame)?),
            kind::SUBACK => Self::SubAck(SubAck::parse(version, frame)?),
            kind::PINGREQ => empty(frame, Self::PingReq)?,
            kind::PINGRESP => empty(frame, Self::PingResp)?,
            kind::DISCONNECT => Self::Disconnect(Disconnect::parse(version, frame)?),
            0 => return Err(Malformed("packet type 0")),
            15 if version == Version::V311 => return Err(Malformed("packet type 15")),
            other => Self::Other(other),
        })
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small; or it is of a type that is not emitted. Of a subscription only the
    /// first filter is written.
    pub fn emit(&self, version: Version, buf: &mut [u8]) -> Result<usize, NoRoom> {
        match self {
            Self::Connect(p) => p.emit(buf),
            Self::ConnAck(p) => p.emit(version, buf),
            Self::Publish(p) => p.emit(version, buf),
            Self::PubAck(p) => p.emit(version, kind::PUBACK, buf),
            Self::PubRec(p) => p.emit(version, kind::PUBREC, buf),
            Self::PubRel(p) => p.emit(version, kind::PUBREL, buf),
            Self::PubComp(p) => p.emit(version, kind::PUBCOMP, buf),
            Self::Subscribe(p) => {
                let (filter, qos) = { p.filters }.next().ok_or(NoRoom)?;
                Subscribe::emit(version, p.id, filter, qos, buf)
            }
            Self::SubAck(p) => p.emit(version, buf),
            Self::PingReq => Writer::new(buf).finish(kind::PINGREQ << 4),
            Self::PingResp => Writer::new(buf).finish(kind::PINGRESP << 4),
            Self::Disconnect(p) => p.emit(version, buf),
            Self::Other(_) => Err(NoRoom),
        }
    }
}

fn empty<'a>(frame: &Frame<'_>, packet: Packet<'a>) -> Result<Packet<'a>, Malformed> {
    if frame.body.is_empty() { Ok(packet) } else { Err(Malformed("a ping with a body")) }
}
