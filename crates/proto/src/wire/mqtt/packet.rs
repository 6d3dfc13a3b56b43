//! One packet, of whichever type.

use super::bytes::Writer;
use super::message::{Publish, PublishAck, SubAck, Subscribe};
use super::session::{ConnAck, Connect, Disconnect};
use super::{MalformedPacket, NoRoom, RawPacket, Version, kind};

/// A control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlPacket<'a> {
    /// Client asks to connect.
    Connect(Connect<'a>),
    /// Broker answers.
    ConnAck(ConnAck),
    /// A message.
    Publish(Publish<'a>),
    /// Acknowledgement of a QoS 1 message.
    PubAck(PublishAck),
    /// QoS 2, first answer.
    PubRec(PublishAck),
    /// QoS 2, release.
    PubRel(PublishAck),
    /// QoS 2, complete.
    PubComp(PublishAck),
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

impl<'a> ControlPacket<'a> {
    /// Parses the packet of `frame`. A CONNECT carries its own version.
    ///
    /// # Errors
    /// Flags or a body that the standard does not allow for its type.
    pub fn parse(version: Version, frame: &RawPacket<'a>) -> Result<Self, MalformedPacket> {
        let reserved = match frame.kind() {
            kind::PUBLISH => frame.flags(),
            // 2.2.2, 5: 2.1.3; UNSUBSCRIBE (10) has them too.
            kind::PUBREL | kind::SUBSCRIBE | 10 => 2,
            _ => 0,
        };
        if frame.flags() != reserved {
            return Err(MalformedPacket("reserved flags are set"));
        }
        Ok(match frame.kind() {
            kind::CONNECT => Self::Connect(Connect::parse(frame)?),
            kind::CONNACK => Self::ConnAck(ConnAck::parse(version, frame)?),
            kind::PUBLISH => Self::Publish(Publish::parse(version, frame)?),
            kind::PUBACK => Self::PubAck(PublishAck::parse(version, frame)?),
            kind::PUBREC => Self::PubRec(PublishAck::parse(version, frame)?),
            kind::PUBREL => Self::PubRel(PublishAck::parse(version, frame)?),
            kind::PUBCOMP => Self::PubComp(PublishAck::parse(version, frame)?),
            kind::SUBSCRIBE => Self::Subscribe(Subscribe::parse(version, frame)?),
            kind::SUBACK => Self::SubAck(SubAck::parse(version, frame)?),
            kind::PINGREQ => empty(frame, Self::PingReq)?,
            kind::PINGRESP => empty(frame, Self::PingResp)?,
            kind::DISCONNECT => Self::Disconnect(Disconnect::parse(version, frame)?),
            0 => return Err(MalformedPacket("packet type 0")),
            15 if version == Version::V311 => return Err(MalformedPacket("packet type 15")),
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

fn empty<'a>(
    frame: &RawPacket<'_>,
    packet: ControlPacket<'a>,
) -> Result<ControlPacket<'a>, MalformedPacket> {
    if frame.body.is_empty() { Ok(packet) } else { Err(MalformedPacket("a ping with a body")) }
}
