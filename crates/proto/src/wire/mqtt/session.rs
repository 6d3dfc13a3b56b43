//! The packets that open and close a connection: CONNECT, CONNACK, DISCONNECT.

use super::bytes::{Reader, Writer};
use super::property::{self, PropertyValue, id};
use super::{MalformedPacket, NoRoom, RawPacket, Version, kind};

/// CONNECT (3.1). Wills are checked and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Version that the client speaks.
    pub version: Version,
    /// Client identifier.
    pub client_id: &'a str,
    /// Start without the state of an earlier connection.
    pub clean: bool,
    /// Seconds after which the broker may take the client for gone; 0 is never.
    pub keep_alive: u16,
    /// User name.
    pub username: Option<&'a str>,
    /// Password.
    pub password: Option<&'a [u8]>,
    /// Version 5: seconds for which the broker keeps the session once the connection is closed; 0
    /// where absent, `u32::MAX` is for ever (3.1.2.11.2).
    pub session_expiry: Option<u32>,
    /// Version 5: QoS 1 and 2 messages that the client takes before it has acknowledged one.
    pub receive_maximum: Option<u16>,
    /// Version 5: largest packet that the client takes.
    pub maximum_packet_size: Option<u32>,
}

const USERNAME: u8 = 0x80;
const PASSWORD: u8 = 0x40;
const WILL: u8 = 0x04;
const CLEAN: u8 = 0x02;

impl<'a> Connect<'a> {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Another protocol or version, reserved flags, or a field that is cut off.
    pub fn parse(frame: &RawPacket<'a>) -> Result<Self, MalformedPacket> {
        let mut body = Reader(frame.body);
        if body.string()? != "MQTT" {
            return Err(MalformedPacket("a protocol name other than MQTT"));
        }
        let version = match body.u8()? {
            4 => Version::V311,
            5 => Version::V5,
            _ => return Err(MalformedPacket("a protocol level other than 4 and 5")),
        };
        let flags = body.u8()?;
        if flags & 1 != 0 {
            return Err(MalformedPacket("a reserved flag is set"));
        }
        let keep_alive = body.u16()?;
        let (mut receive_maximum, mut maximum_packet_size) = (None, None);
        let mut session_expiry = None;
        if version == Version::V5 {
            property::read(&mut body, |id, value| {
                if let (id::SESSION_EXPIRY, PropertyValue::Number(seconds)) = (id, value) {
                    session_expiry = Some(seconds);
                }
                limit(id, value, &mut receive_maximum, &mut maximum_packet_size)
            })?;
        }
        let client_id = body.string()?;
        if flags & WILL != 0 {
            skip_will(version, &mut body)?;
        }
        let username = if flags & USERNAME != 0 { Some(body.string()?) } else { None };
        let password = if flags & PASSWORD != 0 { Some(body.binary()?) } else { None };
        body.end()?;
        let clean = flags & CLEAN != 0;
        Ok(Self {
            version,
            client_id,
            clean,
            keep_alive,
            username,
            password,
            session_expiry,
            receive_maximum,
            maximum_packet_size,
        })
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        let (level, flags) = (if self.version == Version::V5 { 5 } else { 4 }, self.flags());
        writer.binary(b"MQTT")?;
        writer.put(&[level, flags])?;
        writer.put(&self.keep_alive.to_be_bytes())?;
        if self.version == Version::V5 {
            let receive = self.receive_maximum.map(u16::to_be_bytes);
            let packet = self.maximum_packet_size.map(u32::to_be_bytes);
            let expiry = self.session_expiry.map(u32::to_be_bytes);
            let len = expiry.map_or(0, |_| 5) + receive.map_or(0, |_| 3) + packet.map_or(0, |_| 5);
            writer.put(&[len])?;
            if let Some(value) = expiry {
                writer.put(&[id::SESSION_EXPIRY])?;
                writer.put(&value)?;
            }
            if let Some(value) = receive {
                writer.put(&[id::RECEIVE_MAXIMUM])?;
                writer.put(&value)?;
            }
            if let Some(value) = packet {
                writer.put(&[id::MAXIMUM_PACKET_SIZE])?;
                writer.put(&value)?;
            }
        }
        writer.binary(self.client_id.as_bytes())?;
        if let Some(name) = self.username {
            writer.binary(name.as_bytes())?;
        }
        if let Some(password) = self.password {
            writer.binary(password)?;
        }
        writer.finish(kind::CONNECT << 4)
    }

    fn flags(&self) -> u8 {
        let set = |on, flag| if on { flag } else { 0 };
        set(self.clean, CLEAN)
            | set(self.username.is_some(), USERNAME)
            | set(self.password.is_some(), PASSWORD)
    }
}

fn skip_will(version: Version, body: &mut Reader<'_>) -> Result<(), MalformedPacket> {
    if version == Version::V5 {
        property::skip(body)?;
    }
    body.string()?;
    body.binary().map(|_| ())
}

/// Reads one of the two limits that either side may state; 0 is a protocol error (5: 3.1.2.11.3 and
/// .4).
fn limit(
    which: u8,
    value: PropertyValue<'_>,
    receive_maximum: &mut Option<u16>,
    maximum_packet_size: &mut Option<u32>,
) -> Result<(), MalformedPacket> {
    match (which, value) {
        (id::RECEIVE_MAXIMUM | id::MAXIMUM_PACKET_SIZE, PropertyValue::Number(0)) => {
            return Err(MalformedPacket("a limit of 0"));
        }
        (id::RECEIVE_MAXIMUM, PropertyValue::Number(n)) => *receive_maximum = Some(n as u16),
        (id::MAXIMUM_PACKET_SIZE, PropertyValue::Number(n)) => *maximum_packet_size = Some(n),
        _ => {}
    }
    Ok(())
}

/// CONNACK (3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAck {
    /// The broker kept the state of an earlier connection.
    pub session_present: bool,
    /// Return code (3.1.1) or reason code (5); 0 is accepted.
    pub code: u8,
    /// QoS 1 and 2 messages that the broker takes before it has acknowledged one.
    pub receive_maximum: Option<u16>,
    /// Highest QoS that the broker supports; 2 where it does not say.
    pub maximum_qos: u8,
    /// Largest packet that the broker takes.
    pub maximum_packet_size: Option<u32>,
    /// Keep-alive seconds that the broker wants instead of the client's.
    pub server_keep_alive: Option<u16>,
}

impl ConnAck {
    /// One that accepts, without limits.
    pub const ACCEPTED: Self = Self {
        session_present: false,
        code: 0,
        receive_maximum: None,
        maximum_qos: 2,
        maximum_packet_size: None,
        server_keep_alive: None,
    };

    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Reserved flags, or a field that is cut off.
    pub fn parse(version: Version, frame: &RawPacket<'_>) -> Result<Self, MalformedPacket> {
        let mut body = Reader(frame.body);
        let flags = body.u8()?;
        if flags > 1 {
            return Err(MalformedPacket("a reserved flag is set"));
        }
        let mut ack = Self { session_present: flags == 1, code: body.u8()?, ..Self::ACCEPTED };
        // A broker that knows 3.1.1 only refuses version 5 with a CONNACK of its own version, two
        // bytes long and with code 1 (3.1.1: 3.2.2.3), so properties may be missing.
        if version == Version::V5 && !body.0.is_empty() {
            property::read(&mut body, |id, value| ack.property(id, value))?;
        }
        body.end().map(|()| ack)
    }

    fn property(&mut self, which: u8, value: PropertyValue<'_>) -> Result<(), MalformedPacket> {
        match (which, value) {
            (id::MAXIMUM_QOS, PropertyValue::Number(qos @ 0..=1)) => self.maximum_qos = qos as u8,
            (id::MAXIMUM_QOS, _) => {
                return Err(MalformedPacket("a maximum QoS other than 0 and 1"));
            }
            (id::SERVER_KEEP_ALIVE, PropertyValue::Number(n)) => {
                self.server_keep_alive = Some(n as u16)
            }
            _ => {}
        }
        limit(which, value, &mut self.receive_maximum, &mut self.maximum_packet_size)
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, version: Version, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&[u8::from(self.session_present), self.code])?;
        if version == Version::V5 {
            let mut list = [0; 13];
            let len = self.properties(&mut list);
            writer.put(&[len as u8])?;
            writer.put(&list[..len])?;
        }
        writer.finish(kind::CONNACK << 4)
    }

    /// Writes the property list: at most 3 + 2 + 5 + 3 bytes.
    fn properties(&self, list: &mut [u8; 13]) -> usize {
        let mut at = 0;
        let mut put = |id: u8, bytes: &[u8]| {
            list[at] = id;
            list[at + 1..at + 1 + bytes.len()].copy_from_slice(bytes);
            at += 1 + bytes.len();
        };
        if let Some(n) = self.receive_maximum {
            put(id::RECEIVE_MAXIMUM, &n.to_be_bytes());
        }
        if self.maximum_qos < 2 {
            put(id::MAXIMUM_QOS, &[self.maximum_qos]);
        }
        if let Some(n) = self.maximum_packet_size {
            put(id::MAXIMUM_PACKET_SIZE, &n.to_be_bytes());
        }
        if let Some(n) = self.server_keep_alive {
            put(id::SERVER_KEEP_ALIVE, &n.to_be_bytes());
        }
        at
    }
}

/// DISCONNECT (3.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnect {
    /// Reason code; 0 (normal) in version 3.1.1, which has none.
    pub reason: u8,
}

impl Disconnect {
    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// A body that is cut off or too long.
    pub fn parse(version: Version, frame: &RawPacket<'_>) -> Result<Self, MalformedPacket> {
        let mut body = Reader(frame.body);
        if version == Version::V311 || body.0.is_empty() {
            return body.end().map(|()| Self { reason: 0 });
        }
        let reason = body.u8()?;
        if !body.0.is_empty() {
            property::skip(&mut body)?;
        }
        body.end().map(|()| Self { reason })
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, version: Version, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        if version == Version::V5 && self.reason != 0 {
            writer.put(&[self.reason])?;
        }
        writer.finish(kind::DISCONNECT << 4)
    }
}
