//! SUBSCRIBE (3.8), UNSUBSCRIBE (3.10), their answers, acknowledgements and DISCONNECT (3.14).

use super::super::bytes::{Reader, Writer};
use super::super::property::PropertyValue;
use super::super::{NoRoom, PublishAck, RawPacket, kind};
use super::property::{self, Properties, id};
use super::{Fault, Protocol, code};

/// Options of a subscription (5: 3.8.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionOptions {
    /// Highest QoS at which messages are delivered.
    pub qos: u8,
    /// Messages of the client itself are not delivered.
    pub no_local: bool,
    /// Messages keep their retain flag.
    pub retain_as_published: bool,
    /// Which retained messages are sent: 0 all, 1 only to a new subscription, 2 none.
    pub retain_handling: u8,
}

impl SubscriptionOptions {
    fn parse(protocol: Protocol, byte: u8) -> Result<Self, Fault> {
        let options = Self {
            qos: byte & 3,
            no_local: byte & 4 != 0,
            retain_as_published: byte & 8 != 0,
            retain_handling: byte >> 4 & 3,
        };
        if options.qos == 3 {
            return Err(Fault::malformed("QoS 3"));
        }
        match protocol {
            Protocol::V31 => Ok(Self { qos: options.qos, ..Self::default() }),
            Protocol::V311 if byte & 0xfc != 0 => Err(Fault::malformed("a reserved bit is set")),
            Protocol::V5 if byte & 0xc0 != 0 => Err(Fault::malformed("a reserved bit is set")),
            Protocol::V5 if options.retain_handling == 3 => {
                Err(Fault::protocol("retain handling 3"))
            }
            _ => Ok(options),
        }
    }
}

/// SUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscribeRequest<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Number that its messages carry.
    pub subscription: Option<u32>,
    /// Topic filters with their options, checked.
    pub filters: RequestedFilters<'a>,
}

/// Topic filters with their options. They are strings; whether they are filters is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedFilters<'a> {
    bytes: &'a [u8],
    protocol: Protocol,
}

impl<'a> Iterator for RequestedFilters<'a> {
    type Item = (&'a str, SubscriptionOptions);

    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = Reader(self.bytes);
        let filter = reader.string().ok()?;
        let options = SubscriptionOptions::parse(self.protocol, reader.u8().ok()?).ok()?;
        self.bytes = reader.0;
        Some((filter, options))
    }
}

impl<'a> SubscribeRequest<'a> {
    /// Parses a SUBSCRIBE.
    ///
    /// # Errors
    /// Flags, no filter, an option that may not be, or a field that is cut off.
    pub fn parse(protocol: Protocol, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        flags_of_2(protocol, frame)?;
        let mut body = Reader(frame.body);
        let id = body.packet_id()?;
        let mut subscription = None;
        if protocol.is_5() {
            for property in Properties::take(&mut body, property::SUBSCRIBE)? {
                if let (id::SUBSCRIPTION_ID, PropertyValue::Number(n)) =
                    (property.id, property.value)
                {
                    subscription = Some(n);
                }
            }
        }
        let filters = RequestedFilters { bytes: body.0, protocol };
        if body.0.is_empty() {
            return Err(Fault::protocol("a SUBSCRIBE without a topic filter"));
        }
        while !body.0.is_empty() {
            let filter = body.string()?;
            let options = SubscriptionOptions::parse(protocol, body.u8()?)?;
            if options.no_local && filter.starts_with("$share/") {
                return Err(Fault::protocol("no local on a shared subscription"));
            }
        }
        Ok(Self { id, subscription, filters })
    }
}

/// UNSUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Topic filters, one after the other.
    list: &'a [u8],
}

impl<'a> Unsubscribe<'a> {
    /// Parses an UNSUBSCRIBE.
    ///
    /// # Errors
    /// Flags, no filter, or a field that is cut off.
    pub fn parse(protocol: Protocol, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        flags_of_2(protocol, frame)?;
        let mut body = Reader(frame.body);
        let id = body.packet_id()?;
        if protocol.is_5() {
            Properties::take(&mut body, property::UNSUBSCRIBE)?;
        }
        let list = body.0;
        if list.is_empty() {
            return Err(Fault::protocol("an UNSUBSCRIBE without a topic filter"));
        }
        while !body.0.is_empty() {
            body.string()?;
        }
        Ok(Self { id, list })
    }

    /// Returns its topic filters.
    pub fn filters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut reader = Reader(self.list);
        core::iter::from_fn(move || reader.string().ok())
    }
}

/// Checks the flags 0010 of PUBREL, SUBSCRIBE and UNSUBSCRIBE. In 3.1 the bit DUP may be set, too.
fn flags_of_2(protocol: Protocol, frame: &RawPacket<'_>) -> Result<(), Fault> {
    match frame.flags() {
        2 => Ok(()),
        10 if protocol == Protocol::V31 => Ok(()),
        _ => Err(Fault::malformed("reserved flags are set")),
    }
}

/// Parses a PUBACK, PUBREC, PUBREL or PUBCOMP.
///
/// # Errors
/// Flags, properties that may not be, or a body that is cut off or too long.
pub fn acknowledgement(protocol: Protocol, frame: &RawPacket<'_>) -> Result<PublishAck, Fault> {
    if frame.kind() == kind::PUBREL {
        flags_of_2(protocol, frame)?;
    } else if frame.flags() != 0 && protocol != Protocol::V31 {
        return Err(Fault::malformed("reserved flags are set"));
    }
    let mut body = Reader(frame.body);
    let mut ack = PublishAck { id: body.packet_id()?, reason: 0 };
    if protocol.is_5() && !body.0.is_empty() {
        ack.reason = body.u8()?;
        if !body.0.is_empty() {
            Properties::take(&mut body, property::ACK)?;
        }
    }
    body.end()?;
    Ok(ack)
}

/// DISCONNECT from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisconnectRequest {
    /// Reason code; 0 in 3.1 and 3.1.1, which have none.
    pub reason: u8,
    /// Seconds for which the session outlives the connection, where that changes.
    pub session_expiry: Option<u32>,
}

impl DisconnectRequest {
    /// Parses a DISCONNECT.
    ///
    /// # Errors
    /// Flags, properties that may not be, or a body that is cut off or too long.
    pub fn parse(protocol: Protocol, frame: &RawPacket<'_>) -> Result<Self, Fault> {
        if frame.flags() != 0 && protocol != Protocol::V31 {
            return Err(Fault::malformed("reserved flags are set"));
        }
        let mut body = Reader(frame.body);
        let mut disconnect = Self { reason: 0, session_expiry: None };
        if protocol.is_5() && !body.0.is_empty() {
            disconnect.reason = body.u8()?;
            if !body.0.is_empty() {
                for property in Properties::take(&mut body, property::DISCONNECT)? {
                    if let (id::SESSION_EXPIRY, PropertyValue::Number(n)) =
                        (property.id, property.value)
                    {
                        disconnect.session_expiry = Some(n);
                    }
                }
            }
        }
        body.end()?;
        Ok(disconnect)
    }
}

/// SUBACK or UNSUBACK: a packet identifier and a code for each filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Reason codes of version 5, one a filter.
    pub codes: &'a [u8],
}

impl Codes<'_> {
    /// Writes it as the packet type `kind`, SUBACK or UNSUBACK, and returns its length in bytes. In 3.1
    /// and 3.1.1 every failure of a SUBACK is 0x80, and an UNSUBACK has no codes.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: Protocol, kind: u8, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if protocol.is_5() {
            writer.put(&[0])?;
            writer.put(self.codes)?;
        } else if kind == kind::SUBACK {
            let to = writer.reserve(self.codes.len())?;
            for (to, &code) in to.iter_mut().zip(self.codes) {
                *to = code.min(code::FAILURE);
            }
        }
        writer.finish(kind << 4)
    }
}
