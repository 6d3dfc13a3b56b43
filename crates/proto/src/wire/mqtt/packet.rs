//! One packet, of whichever type.

use super::bytes::Writer;
use super::connect::{ConnAck, Connect};
use super::disconnect::Disconnect;
use super::publish::{Publish, PublishAck};
use super::subscribe::{SubAck, Subscribe, UnsubAck, Unsubscribe};
use super::{Fault, MalformedPacket, NoRoom, Protocol, RawPacket, kind};

/// A control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlPacket<'a> {
    /// Client asks to connect.
    Connect(Connect<'a>),
    /// Broker answers.
    ConnAck(ConnAck<'a>),
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
    /// Client ends subscriptions.
    Unsubscribe(Unsubscribe<'a>),
    /// Broker answers.
    UnsubAck(UnsubAck<'a>),
    /// Are you there?
    PingReq,
    /// I am.
    PingResp,
    /// The connection ends.
    Disconnect(Disconnect),
    /// A type that espbench has no use for (AUTH), unparsed.
    Other(u8),
}

impl<'a> ControlPacket<'a> {
    /// Parses the packet of `frame`. A CONNECT carries its own version.
    ///
    /// # Errors
    /// Flags or a body that the standard does not allow for its type.
    pub fn parse(
        protocol: impl Into<Protocol>,
        frame: &RawPacket<'a>,
    ) -> Result<Self, MalformedPacket> {
        let protocol = protocol.into();
        let reserved = match frame.kind() {
            kind::PUBLISH => frame.flags(),
            // 2.2.2, 5: 2.1.3.
            kind::PUBREL | kind::SUBSCRIBE | kind::UNSUBSCRIBE => 2,
            _ => 0,
        };
        if frame.flags() != reserved {
            return Err(MalformedPacket("reserved flags are set"));
        }
        Ok(match frame.kind() {
            kind::CONNECT => Self::Connect(Connect::parse(frame)?),
            kind::PINGREQ => empty(frame, Self::PingReq)?,
            kind::PINGRESP => empty(frame, Self::PingResp)?,
            0 => return Err(MalformedPacket("packet type 0")),
            kind::AUTH if protocol.is_5() => Self::Other(kind::AUTH),
            kind::AUTH => return Err(MalformedPacket("packet type 15")),
            _ => Self::body(protocol, frame)?,
        })
    }

    fn body(protocol: Protocol, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        Ok(match frame.kind() {
            kind::CONNACK => Self::ConnAck(ConnAck::parse(protocol, frame)?),
            kind::PUBLISH => Self::Publish(Publish::parse(protocol, frame)?),
            kind::PUBACK => Self::PubAck(PublishAck::parse(protocol, frame)?),
            kind::PUBREC => Self::PubRec(PublishAck::parse(protocol, frame)?),
            kind::PUBREL => Self::PubRel(PublishAck::parse(protocol, frame)?),
            kind::PUBCOMP => Self::PubComp(PublishAck::parse(protocol, frame)?),
            kind::SUBSCRIBE => Self::Subscribe(Subscribe::parse(protocol, frame)?),
            kind::SUBACK => Self::SubAck(SubAck::parse(protocol, frame)?),
            kind::UNSUBSCRIBE => Self::Unsubscribe(Unsubscribe::parse(protocol, frame)?),
            kind::UNSUBACK => Self::UnsubAck(UnsubAck::parse(protocol, frame)?),
            kind::DISCONNECT => Self::Disconnect(Disconnect::parse(protocol, frame)?),
            other => Self::Other(other),
        })
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small; or it is of a type that is not emitted.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let protocol = protocol.into();
        match self {
            Self::Connect(p) => p.emit(buf),
            Self::ConnAck(p) => p.emit(protocol, buf),
            Self::Publish(p) => p.emit(protocol, buf),
            Self::PubAck(p) => p.emit(protocol, kind::PUBACK, buf),
            Self::PubRec(p) => p.emit(protocol, kind::PUBREC, buf),
            Self::PubRel(p) => p.emit(protocol, kind::PUBREL, buf),
            Self::PubComp(p) => p.emit(protocol, kind::PUBCOMP, buf),
            Self::Subscribe(p) => p.emit(protocol, buf),
            Self::SubAck(p) => p.emit(protocol, buf),
            Self::Unsubscribe(p) => p.emit(protocol, buf),
            Self::UnsubAck(p) => p.emit(protocol, buf),
            Self::PingReq => Writer::new(buf).finish(kind::PINGREQ << 4),
            Self::PingResp => Writer::new(buf).finish(kind::PINGRESP << 4),
            Self::Disconnect(p) => p.emit(protocol, buf),
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
