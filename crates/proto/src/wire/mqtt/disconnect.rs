//! DISCONNECT (3.14).

use super::bytes::{Reader, Writer};
use super::property::{self, Properties, PropertySet, id};
use super::{Fault, NoRoom, Protocol, RawPacket, kind};

/// DISCONNECT (3.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disconnect {
    /// Reason code; 0 (normal) in 3.1 and 3.1.1, which have none.
    pub reason: u8,
    /// Version 5: seconds for which the session outlives the connection, where that changes.
    pub session_expiry: Option<u32>,
}

impl Disconnect {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Flags, properties that may not be, or a body that is cut off or too long.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'_>) -> Result<Self, Fault> {
        Self::take(protocol.into(), frame, property::DISCONNECT)
    }

    /// Parses one that a client sent.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and a property that a server alone may send.
    pub fn of_client(protocol: impl Into<Protocol>, frame: &RawPacket<'_>) -> Result<Self, Fault> {
        Self::take(protocol.into(), frame, property::DISCONNECT_OF_CLIENT)
    }

    fn take(
        protocol: Protocol,
        frame: &RawPacket<'_>,
        allowed: PropertySet,
    ) -> Result<Self, Fault> {
        if frame.flags() != 0 && protocol != Protocol::V31 {
            return Err(Fault::malformed("reserved flags are set"));
        }
        let mut body = Reader(frame.body);
        let mut disconnect = Self::default();
        // Reason code and properties may be left out (5: 3.14.2.1).
        if protocol.is_5() && !body.0.is_empty() {
            disconnect.reason = body.u8()?;
            if !body.0.is_empty() {
                let list = Properties::take(&mut body, allowed)?;
                disconnect.session_expiry = list.number(id::SESSION_EXPIRY);
            }
        }
        body.end()?;
        Ok(disconnect)
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        if protocol.into().is_5() && (self.reason != 0 || self.session_expiry.is_some()) {
            writer.put(&[self.reason])?;
            if let Some(seconds) = self.session_expiry {
                writer.varint(5)?;
                property::emit(&mut writer, id::SESSION_EXPIRY, &seconds.to_be_bytes())?;
            }
        }
        writer.finish(kind::DISCONNECT << 4)
    }
}
