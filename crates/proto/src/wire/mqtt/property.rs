//! Property lists of version 5 (5: 2.2.2), with which of them a packet may have (5: table 2-4).

use super::bytes::{Reader, Writer};
use super::{Fault, MalformedPacket, NoRoom, reason};

/// Identifiers of the properties that are read or written here (5: table 2-4).
pub mod id {
    /// Seconds for which a message is worth delivering.
    pub const MESSAGE_EXPIRY: u8 = 0x02;
    /// Number that a subscription gives to its messages.
    pub const SUBSCRIPTION_ID: u8 = 0x0b;
    /// Seconds for which the session outlives its connection.
    pub const SESSION_EXPIRY: u8 = 0x11;
    /// Client identifier that the server chose.
    pub const ASSIGNED_CLIENT_ID: u8 = 0x12;
    /// Seconds after which the broker wants to hear from the client.
    pub const SERVER_KEEP_ALIVE: u8 = 0x13;
    /// Name of an extended authentication.
    pub const AUTHENTICATION_METHOD: u8 = 0x15;
    /// Data of an extended authentication.
    pub const AUTHENTICATION_DATA: u8 = 0x16;
    /// Seconds between the end of a connection and its will.
    pub const WILL_DELAY: u8 = 0x18;
    /// Text for people.
    pub const REASON_STRING: u8 = 0x1f;
    /// QoS 1 and 2 messages that the other side takes before it has acknowledged one.
    pub const RECEIVE_MAXIMUM: u8 = 0x21;
    /// Highest topic alias that the other side may use.
    pub const TOPIC_ALIAS_MAXIMUM: u8 = 0x22;
    /// Number that stands for a topic.
    pub const TOPIC_ALIAS: u8 = 0x23;
    /// Highest QoS that the broker supports.
    pub const MAXIMUM_QOS: u8 = 0x24;
    /// Pair of strings for applications; it may come several times.
    pub const USER: u8 = 0x26;
    /// Largest packet that the other side takes.
    pub const MAXIMUM_PACKET_SIZE: u8 = 0x27;
}

/// Value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyValue<'a> {
    /// A number: byte, two or four bytes, or variable byte integer.
    Number(u32),
    /// A string.
    Text(&'a str),
    /// Binary data.
    Data(&'a [u8]),
    /// A pair of strings (user property).
    Pair(&'a str, &'a str),
}

/// Set of property identifiers, a bit for each.
pub type PropertySet = u64;

const fn set(ids: &[u8]) -> PropertySet {
    let (mut set, mut at) = (0, 0);
    while at < ids.len() {
        set |= 1 << ids[at];
        at += 1;
    }
    set
}

/// Properties of a CONNECT.
pub const CONNECT: PropertySet = set(&[0x11, 0x15, 0x16, 0x17, 0x19, 0x21, 0x22, 0x26, 0x27]);
/// Properties of a CONNACK.
pub const CONNACK: PropertySet = set(&[
    0x11, 0x12, 0x13, 0x15, 0x16, 0x1a, 0x1c, 0x1f, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29,
    0x2a,
]);
/// Properties of a will.
pub const WILL: PropertySet = set(&[0x01, 0x02, 0x03, 0x08, 0x09, 0x18, 0x26]);
/// Properties of a PUBLISH.
pub const PUBLISH: PropertySet = set(&[0x01, 0x02, 0x03, 0x08, 0x09, 0x0b, 0x23, 0x26]);
/// Properties of a PUBLISH from a client, which may not send a subscription identifier (3.3.4).
pub const PUBLISH_OF_CLIENT: PropertySet = set(&[0x01, 0x02, 0x03, 0x08, 0x09, 0x23, 0x26]);
/// Properties of a PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK or UNSUBACK.
pub const ACK: PropertySet = set(&[0x1f, 0x26]);
/// Properties of a SUBSCRIBE.
pub const SUBSCRIBE: PropertySet = set(&[0x0b, 0x26]);
/// Properties of an UNSUBSCRIBE.
pub const UNSUBSCRIBE: PropertySet = set(&[0x26]);
/// Properties of a DISCONNECT.
pub const DISCONNECT: PropertySet = set(&[0x11, 0x1c, 0x1f, 0x26]);
/// Properties of a DISCONNECT from a client.
pub const DISCONNECT_OF_CLIENT: PropertySet = set(&[0x11, 0x1f, 0x26]);

/// Properties that a server passes on as they came (5: 3.3.2.3): of a message, all but its expiry
/// and its topic alias; of a will, not its delay.
const FORWARDED: PropertySet = set(&[0x01, 0x03, 0x08, 0x09, 0x26]);

/// Property list, checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties<'a>(&'a [u8]);

/// One property of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property<'a> {
    /// Identifier, of [`id`].
    pub id: u8,
    /// Value.
    pub value: PropertyValue<'a>,
    /// Identifier and value as they came.
    pub raw: &'a [u8],
}

impl<'a> Properties<'a> {
    /// Takes a list with its length from the front of `reader`.
    ///
    /// # Errors
    /// A list that is cut off or holds what no list may; a property that is not in `allowed`, or
    /// comes twice.
    pub fn take(reader: &mut Reader<'a>, allowed: PropertySet) -> Result<Self, Fault> {
        let len = reader.varint()?;
        let list = reader.take(len)?;
        let (mut rest, mut seen) = (Reader(list), 0);
        while !rest.0.is_empty() {
            let property = next(&mut rest)?;
            let bit = 1 << property.id;
            if allowed & bit == 0 {
                return Err(Fault::protocol("a property that this packet may not have"));
            }
            // A message is for each subscription that it matches (5: 3.3.2.3.8).
            let may_repeat = match property.id {
                id::USER => true,
                id::SUBSCRIPTION_ID => allowed == PUBLISH,
                _ => false,
            };
            if seen & bit != 0 && !may_repeat {
                return Err(Fault::protocol("a property that comes twice"));
            }
            seen |= bit;
            check(property)?;
        }
        Ok(Self(list))
    }

    /// Returns the list in bytes that were parsed before, such as those of [`forwarded`](Self::forwarded).
    #[must_use]
    pub const fn of_parsed(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the list as it came, without its length.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the number that a property of the list has.
    #[must_use]
    pub fn number(mut self, id: u8) -> Option<u32> {
        self.find_map(|property| match property.value {
            PropertyValue::Number(number) if property.id == id => Some(number),
            _ => None,
        })
    }

    /// Appends the list with its length.
    pub(super) fn emit(self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        writer.varint(self.0.len())?;
        writer.put(self.0)
    }

    /// Returns the pieces of the list that go on to subscribers, in their order.
    pub fn forwarded(self) -> impl Iterator<Item = &'a [u8]> {
        self.filter(|property| FORWARDED & 1 << property.id != 0).map(|property| property.raw)
    }
}

impl<'a> Iterator for Properties<'a> {
    type Item = Property<'a>;

    fn next(&mut self) -> Option<Property<'a>> {
        let mut reader = Reader(self.0);
        let property = if self.0.is_empty() { None } else { next(&mut reader).ok() };
        self.0 = reader.0;
        property
    }
}

fn next<'a>(reader: &mut Reader<'a>) -> Result<Property<'a>, Fault> {
    let before = reader.0;
    // Identifiers are variable byte integers, of which only one-byte ones are assigned.
    let id = reader.u8()?;
    let value = value(id, reader)?;
    Ok(Property { id, value, raw: &before[..before.len() - reader.0.len()] })
}

/// Refuses values that are an error whatever the packet.
fn check(property: Property<'_>) -> Result<(), Fault> {
    match (property.id, property.value) {
        (
            id::RECEIVE_MAXIMUM | id::MAXIMUM_PACKET_SIZE | id::SUBSCRIPTION_ID,
            PropertyValue::Number(0),
        ) => Err(Fault::protocol("a property that may not be 0 is 0")),
        (id::MAXIMUM_QOS, PropertyValue::Number(2..)) => {
            Err(Fault::protocol("a maximum QoS other than 0 and 1"))
        }
        // Payload format, request for problem and for response information.
        (0x01 | 0x17 | 0x19, PropertyValue::Number(2..)) => {
            Err(Fault::protocol("a property that is 0 or 1 is more"))
        }
        (id::TOPIC_ALIAS, PropertyValue::Number(0)) => {
            Err(Fault { reason: reason::TOPIC_ALIAS, what: "topic alias 0" })
        }
        // Response topic (3.3.2.3.5).
        (0x08, PropertyValue::Text(topic)) if topic.contains(['#', '+']) => {
            Err(Fault::protocol("a response topic with a wildcard"))
        }
        _ => Ok(()),
    }
}

/// Reads a value by the types of table 2-4.
fn value<'a>(id: u8, list: &mut Reader<'a>) -> Result<PropertyValue<'a>, MalformedPacket> {
    Ok(match id {
        0x01 | 0x17 | 0x19 | 0x24 | 0x25 | 0x28 | 0x29 | 0x2a => {
            PropertyValue::Number(list.u8()?.into())
        }
        0x13 | 0x21 | 0x22 | 0x23 => PropertyValue::Number(list.u16()?.into()),
        0x02 | 0x11 | 0x18 | 0x27 => PropertyValue::Number(list.u32()?),
        0x0b => PropertyValue::Number(list.varint()? as u32),
        0x03 | 0x08 | 0x12 | 0x15 | 0x1a | 0x1c | 0x1f => PropertyValue::Text(list.string()?),
        0x09 | 0x16 => PropertyValue::Data(list.binary()?),
        0x26 => PropertyValue::Pair(list.string()?, list.string()?),
        _ => return Err(MalformedPacket("an unknown property")),
    })
}

/// Appends a property that is a number, in the bytes that its type has.
pub(super) fn emit(writer: &mut Writer<'_>, id: u8, value: &[u8]) -> Result<(), NoRoom> {
    writer.put(&[id])?;
    writer.put(value)
}
