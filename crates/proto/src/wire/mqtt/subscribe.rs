//! SUBSCRIBE (3.8), UNSUBSCRIBE (3.10) and their answers.

use super::bytes::{Reader, Writer, digits};
use super::property::{self, Properties, id};
use super::{Fault, NoRoom, Protocol, RawPacket, kind, reason};

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
    /// Returns those that ask for messages up to this QoS, and for nothing else.
    #[must_use]
    pub fn of_qos(qos: u8) -> Self {
        Self { qos, ..Self::default() }
    }

    fn byte(self) -> u8 {
        let set = |on, flag| if on { flag } else { 0 };
        (self.qos & 3)
            | set(self.no_local, 4)
            | set(self.retain_as_published, 8)
            | (self.retain_handling & 3) << 4
    }

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

/// SUBSCRIBE (3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Version 5: number that its messages carry.
    pub subscription: Option<u32>,
    /// Topic filters with their options, checked.
    pub filters: Filters<'a>,
}

/// Topic filters with their options. They are strings; whether they are filters is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters<'a> {
    bytes: &'a [u8],
    protocol: Protocol,
}

impl<'a> Iterator for Filters<'a> {
    type Item = (&'a str, SubscriptionOptions);

    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = Reader(self.bytes);
        let filter = reader.string().ok()?;
        let options = SubscriptionOptions::parse(self.protocol, reader.u8().ok()?).ok()?;
        self.bytes = reader.0;
        Some((filter, options))
    }
}

impl<'a> Subscribe<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Flags, no filter, an option that may not be, or a field that is cut off.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        let protocol = protocol.into();
        flags_of_2(protocol, frame)?;
        let mut body = Reader(frame.body);
        let id = body.packet_id()?;
        let mut subscription = None;
        if protocol.is_5() {
            let list = Properties::take(&mut body, property::SUBSCRIBE)?;
            subscription = list.number(id::SUBSCRIPTION_ID);
        }
        let filters = Filters { bytes: body.0, protocol };
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

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = head(protocol.into(), self.id, self.subscription, buf)?;
        for (filter, options) in self.filters {
            writer.binary(filter.as_bytes())?;
            writer.put(&[options.byte()])?;
        }
        // Reserved flags 0010 (3.8.1).
        writer.finish(kind::SUBSCRIBE << 4 | 2)
    }

    /// Writes a subscription to one filter and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit_one(
        protocol: impl Into<Protocol>,
        id: u16,
        filter: &str,
        options: SubscriptionOptions,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let mut writer = head(protocol.into(), id, None, buf)?;
        writer.binary(filter.as_bytes())?;
        writer.put(&[options.byte()])?;
        writer.finish(kind::SUBSCRIBE << 4 | 2)
    }
}

/// Begins a SUBSCRIBE: writes its packet identifier and its properties.
fn head<'b>(
    protocol: Protocol,
    packet: u16,
    subscription: Option<u32>,
    buf: &'b mut [u8],
) -> Result<Writer<'b>, NoRoom> {
    let mut writer = Writer::new(buf);
    writer.put(&packet.to_be_bytes())?;
    if protocol.is_5() {
        match subscription.map(|number| digits(number as usize)) {
            None => writer.put(&[0])?,
            Some((bytes, len)) => {
                writer.varint(1 + len)?;
                property::emit(&mut writer, id::SUBSCRIPTION_ID, &bytes[..len])?;
            }
        }
    }
    Ok(writer)
}

/// UNSUBSCRIBE (3.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Topic filters, one after the other.
    list: &'a [u8],
}

impl<'a> Unsubscribe<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Flags, no filter, or a field that is cut off.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        let protocol = protocol.into();
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

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if protocol.into().is_5() {
            writer.put(&[0])?;
        }
        writer.put(self.list)?;
        // Reserved flags 0010 (3.10.1).
        writer.finish(kind::UNSUBSCRIBE << 4 | 2)
    }

    /// Returns its topic filters.
    pub fn filters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut reader = Reader(self.list);
        core::iter::from_fn(move || reader.string().ok())
    }
}

/// Checks the flags 0010 of PUBREL, SUBSCRIBE and UNSUBSCRIBE. In 3.1 the bit DUP may be set, too.
pub(super) fn flags_of_2(protocol: Protocol, frame: &RawPacket<'_>) -> Result<(), Fault> {
    match frame.flags() {
        2 => Ok(()),
        10 if protocol == Protocol::V31 => Ok(()),
        _ => Err(Fault::malformed("reserved flags are set")),
    }
}

/// SUBACK (3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAck<'a> {
    /// Packet identifier.
    pub id: u16,
    /// One code a filter: the QoS granted, or a failure ([`reason::FAILURE`] and above).
    pub codes: &'a [u8],
}

impl<'a> SubAck<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// No code, a property that may not be, or a field that is cut off.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        let (id, codes) = answer(protocol.into(), frame)?;
        if codes.is_empty() {
            return Err(Fault::malformed("a SUBACK without a code"));
        }
        Ok(Self { id, codes })
    }

    /// Writes it and answers its length. In 3.1 and 3.1.1 every failure is 0x80.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if protocol.into().is_5() {
            writer.put(&[0])?;
            writer.put(self.codes)?;
        } else {
            let to = writer.reserve(self.codes.len())?;
            for (to, &code) in to.iter_mut().zip(self.codes) {
                *to = code.min(reason::FAILURE);
            }
        }
        writer.finish(kind::SUBACK << 4)
    }
}

/// UNSUBACK (3.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsubAck<'a> {
    /// Packet identifier.
    pub id: u16,
    /// Reason codes, one a filter; none in 3.1 and 3.1.1.
    pub codes: &'a [u8],
}

impl<'a> UnsubAck<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// A code too few or too many, a property that may not be, or a field that is cut off.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        let protocol = protocol.into();
        let (id, codes) = answer(protocol, frame)?;
        if codes.is_empty() == protocol.is_5() {
            return Err(Fault::malformed("codes of an UNSUBACK, which version 5 alone has"));
        }
        Ok(Self { id, codes })
    }

    /// Writes it and answers its length. In 3.1 and 3.1.1 it has no codes.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&self.id.to_be_bytes())?;
        if protocol.into().is_5() {
            writer.put(&[0])?;
            writer.put(self.codes)?;
        }
        writer.finish(kind::UNSUBACK << 4)
    }
}

/// Reads a SUBACK or UNSUBACK: its packet identifier and its codes.
fn answer<'a>(protocol: Protocol, frame: &RawPacket<'a>) -> Result<(u16, &'a [u8]), Fault> {
    let mut body = Reader(frame.body);
    let id = body.packet_id()?;
    if protocol.is_5() {
        Properties::take(&mut body, property::ACK)?;
    }
    Ok((id, body.0))
}
