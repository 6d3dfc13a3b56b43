//! Properties: what version 5 adds to most packets (5: 2.2.2).

use super::MalformedPacket;
use super::bytes::Reader;

/// Identifiers of the properties that espbench reads or writes (5: table 2-4).
pub mod id {
    /// Seconds for which the broker keeps a session without a connection.
    pub const SESSION_EXPIRY: u8 = 0x11;
    /// Seconds after which the broker wants to hear from the client.
    pub const SERVER_KEEP_ALIVE: u8 = 0x13;
    /// Text for people.
    pub const REASON_STRING: u8 = 0x1f;
    /// QoS 1 and 2 messages that the other side takes before it has acknowledged one.
    pub const RECEIVE_MAXIMUM: u8 = 0x21;
    /// Highest QoS that the broker supports.
    pub const MAXIMUM_QOS: u8 = 0x24;
    /// Largest packet that the other side takes.
    pub const MAXIMUM_PACKET_SIZE: u8 = 0x27;
}

/// One property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyValue<'a> {
    /// A number: byte, two or four bytes, or variable byte integer.
    Number(u32),
    /// A string or binary data.
    Data(&'a [u8]),
    /// A pair of strings (user property).
    Pair(&'a str, &'a str),
}

/// Reads a property length and gives each property of the list to `each`.
///
/// # Errors
/// An unknown identifier, or a list that is cut off.
pub fn read<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(u8, PropertyValue<'a>) -> Result<(), MalformedPacket>,
) -> Result<(), MalformedPacket> {
    let len = reader.varint()?;
    let mut list = Reader(reader.take(len)?);
    while !list.0.is_empty() {
        let (id, value) = next(&mut list)?;
        each(id, value)?;
    }
    Ok(())
}

/// Reads one property: its identifier and its value.
///
/// # Errors
/// An unknown identifier, or a property that is cut off.
pub fn next<'a>(list: &mut Reader<'a>) -> Result<(u8, PropertyValue<'a>), MalformedPacket> {
    // Identifiers are variable byte integers, of which only one-byte ones are assigned.
    let id = list.u8()?;
    Ok((id, value(id, list)?))
}

/// Reads and checks a property list, and forgets it.
///
/// # Errors
/// As [`read`].
pub fn skip(reader: &mut Reader<'_>) -> Result<(), MalformedPacket> {
    read(reader, |_, _| Ok(()))
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
        0x03 | 0x08 | 0x12 | 0x15 | 0x1a | 0x1c | 0x1f => {
            PropertyValue::Data(list.string()?.as_bytes())
        }
        0x09 | 0x16 => PropertyValue::Data(list.binary()?),
        0x26 => PropertyValue::Pair(list.string()?, list.string()?),
        _ => return Err(MalformedPacket("an unknown property")),
    })
}
