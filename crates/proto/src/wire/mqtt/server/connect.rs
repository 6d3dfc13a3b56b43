//! CONNECT with all that a client may say (3.1), and CONNACK (3.2).

use super::super::bytes::{Reader, Writer};
use super::super::property::PropertyValue;
use super::super::{NoRoom, RawPacket, kind, topic};
use super::property::{self, Properties, id};
use super::{Fault, Protocol, code};

/// CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectRequest<'a> {
    /// Protocol that the client speaks.
    pub protocol: Protocol,
    /// Client identifier; empty where the client leaves it to the server.
    pub client_id: &'a str,
    /// Start without the state of an earlier connection.
    pub clean: bool,
    /// Seconds after which the client may be taken for gone, half as many more; 0 is never.
    pub keep_alive: u16,
    /// User name.
    pub username: Option<&'a str>,
    /// Password.
    pub password: Option<&'a [u8]>,
    /// Message to publish when the connection breaks.
    pub will: Option<Will<'a>>,
    /// Seconds for which the session outlives the connection; `u32::MAX` is for ever (5:
    /// 3.1.2.11.2). In 3.1 and 3.1.1, 0 with a clean session and for ever without.
    pub session_expiry: u32,
    /// QoS 1 and 2 messages that the client takes before it has acknowledged one.
    pub receive_maximum: u16,
    /// Largest packet that the client takes.
    pub maximum_packet_size: Option<u32>,
    /// The client asks for an extended authentication.
    pub authentication: bool,
}

/// Will of a client (3.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// QoS with which it is published.
    pub qos: u8,
    /// Whether the will is retained.
    pub retain: bool,
    /// Topic name.
    pub topic: &'a str,
    /// Message.
    pub payload: &'a [u8],
    /// Seconds between the end of the connection and the message.
    pub delay: u32,
    /// Seconds for which the message is worth delivering.
    pub expiry: Option<u32>,
    /// Properties.
    pub properties: Properties<'a>,
}

/// Reason why a connection is refused before its CONNECT is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The first packet is not a CONNECT, or has another protocol name than MQTT's: the server
    /// closes without an answer (3.1.2.1).
    NotMqtt(&'static str),
    /// MQTT, but of a protocol level that is not spoken. `true` where it is above those known, so
    /// that the answer is one of version 5.
    Level(bool),
    /// A breach of a protocol that is spoken.
    Fault(Protocol, Fault),
}

const USERNAME: u8 = 0x80;
const PASSWORD: u8 = 0x40;
const WILL_RETAIN: u8 = 0x20;
const WILL_QOS: u8 = 0x18;
const WILL: u8 = 0x04;
const CLEAN: u8 = 0x02;
const RESERVED: u8 = 0x01;

impl<'a> ConnectRequest<'a> {
    /// Parses the first packet of a connection.
    ///
    /// # Errors
    /// The [`Refusal`] that the standards ask for.
    pub fn parse(frame: &RawPacket<'a>) -> Result<Self, Refusal> {
        if frame.kind() != kind::CONNECT {
            return Err(Refusal::NotMqtt("the first packet is not a CONNECT"));
        }
        let mut body = Reader(frame.body);
        let name =
            body.string().map_err(|_| Refusal::NotMqtt("a CONNECT without a protocol name"))?;
        let level =
            body.u8().map_err(|_| Refusal::NotMqtt("a CONNECT without a protocol level"))?;
        let protocol = match (name, level) {
            ("MQIsdp", 3) => Protocol::V31,
            ("MQTT", 4) => Protocol::V311,
            ("MQTT", 5) => Protocol::V5,
            // Mosquitto's bridges set the high bit at first, and ask again without.
            ("MQTT", 6..0x80) => return Err(Refusal::Level(true)),
            ("MQTT" | "MQIsdp", _) => return Err(Refusal::Level(false)),
            _ => return Err(Refusal::NotMqtt("a protocol name other than MQTT and MQIsdp")),
        };
        Self::body(protocol, frame, body).map_err(|fault| Refusal::Fault(protocol, fault))
    }

    fn body(
        protocol: Protocol,
        frame: &RawPacket<'_>,
        mut body: Reader<'a>,
    ) -> Result<Self, Fault> {
        let flags = body.u8()?;
        check(protocol, frame.flags(), flags)?;
        let keep_alive = body.u16()?;
        let clean = flags & CLEAN != 0;
        let mut connect = Self {
            protocol,
            client_id: "",
            clean,
            keep_alive,
            username: None,
            password: None,
            will: None,
            session_expiry: if clean || protocol.is_5() { 0 } else { u32::MAX },
            receive_maximum: u16::MAX,
            maximum_packet_size: None,
            authentication: false,
        };
        if protocol.is_5() {
            connect.properties(Properties::take(&mut body, property::CONNECT)?)?;
        }
        connect.client_id = body.string()?;
        if flags & WILL != 0 {
            let will = Will::take(protocol, &mut body)?;
            let (qos, retain) = ((flags & WILL_QOS) >> 3, flags & WILL_RETAIN != 0);
            connect.will = Some(Will { qos, retain, ..will });
        }
        // In 3.1 name and password may be missing in spite of their flags (3.1: 3.1).
        let missing = |body: &Reader<'_>| protocol == Protocol::V31 && body.0.is_empty();
        if flags & USERNAME != 0 && !missing(&body) {
            connect.username = Some(body.string()?);
        }
        if flags & PASSWORD != 0 && !missing(&body) {
            connect.password = Some(body.binary()?);
        }
        body.end()?;
        Ok(connect)
    }

    fn properties(&mut self, list: Properties<'_>) -> Result<(), Fault> {
        let (mut method, mut data) = (false, false);
        for property in list {
            match (property.id, property.value) {
                (id::SESSION_EXPIRY, PropertyValue::Number(n)) => self.session_expiry = n,
                (id::RECEIVE_MAXIMUM, PropertyValue::Number(n)) => self.receive_maximum = n as u16,
                (id::MAXIMUM_PACKET_SIZE, PropertyValue::Number(n)) => {
                    self.maximum_packet_size = Some(n)
                }
                (id::AUTHENTICATION_METHOD, _) => method = true,
                (0x16, _) => data = true,
                _ => {}
            }
        }
        if data && !method {
            return Err(Fault::protocol("authentication data without a method"));
        }
        self.authentication = method;
        Ok(())
    }
}

fn check(protocol: Protocol, header: u8, flags: u8) -> Result<(), Fault> {
    // In 3.1 the header's flags of a CONNECT are "not used" and may be anything (3.1: 3.1).
    if (header != 0 && protocol != Protocol::V31) || flags & RESERVED != 0 {
        return Err(Fault::malformed("a reserved flag is set"));
    }
    let will = flags & WILL != 0;
    if flags & WILL_QOS == WILL_QOS || (!will && flags & (WILL_QOS | WILL_RETAIN) != 0) {
        return Err(Fault::malformed("flags of a will that cannot be"));
    }
    if protocol == Protocol::V311 && flags & PASSWORD != 0 && flags & USERNAME == 0 {
        return Err(Fault::malformed("a password without a user name"));
    }
    Ok(())
}

impl<'a> Will<'a> {
    fn take(protocol: Protocol, body: &mut Reader<'a>) -> Result<Self, Fault> {
        let (mut delay, mut expiry, mut properties) = (0, None, Properties::default());
        if protocol.is_5() {
            properties = Properties::take(body, property::WILL)?;
            for property in properties {
                match (property.id, property.value) {
                    (id::WILL_DELAY, PropertyValue::Number(n)) => delay = n,
                    (id::MESSAGE_EXPIRY, PropertyValue::Number(n)) => expiry = Some(n),
                    _ => {}
                }
            }
        }
        let topic = body.string()?;
        let payload = body.binary()?;
        if !topic::is_name(topic) {
            return Err(Fault {
                reason: code::TOPIC,
                what: "a will's topic that is no topic name",
            });
        }
        Ok(Self { qos: 0, retain: false, topic, payload, delay, expiry, properties })
    }
}

/// Returns the return code of 3.1 and 3.1.1 for a reason code of version 5 (3.1.1: table 3.1).
#[must_use]
pub const fn return_code(reason: u8) -> u8 {
    match reason {
        code::SUCCESS => 0,
        code::UNSUPPORTED_VERSION => 1,
        code::CLIENT_ID => 2,
        0x86 => 4,
        0x87 => 5,
        _ => 3,
    }
}

/// CONNACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectReply<'a> {
    /// The server kept the state of an earlier connection.
    pub session_present: bool,
    /// Reason code of version 5, which other versions are told as a return code.
    pub reason: u8,
    /// Version 5: client identifier that the server chose.
    pub assigned: Option<&'a str>,
    /// Version 5: largest packet that the server takes.
    pub maximum_packet_size: Option<u32>,
    /// Version 5: highest topic alias that the client may use; 0 is none.
    pub topic_alias_maximum: u16,
}

impl ConnectReply<'_> {
    /// Bytes that it has at most, without the assigned client identifier.
    pub const MOST: usize = 24;

    /// Writes it and returns its length in bytes.
    ///
    /// # Errors
    /// The buffer is too small, or the assigned identifier longer than 64 bytes.
    pub fn emit(&self, protocol: Protocol, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        let present = u8::from(self.session_present);
        if !protocol.is_5() {
            writer.put(&[present, return_code(self.reason)])?;
            return writer.finish(kind::CONNACK << 4);
        }
        let assigned = self.assigned.unwrap_or_default();
        if assigned.len() > 64 {
            return Err(NoRoom);
        }
        let len = if assigned.is_empty() { 0 } else { 3 + assigned.len() }
            + self.maximum_packet_size.map_or(0, |_| 5)
            + if self.topic_alias_maximum == 0 { 0 } else { 3 };
        writer.put(&[present, self.reason, len as u8])?;
        if !assigned.is_empty() {
            writer.put(&[id::ASSIGNED_CLIENT_ID])?;
            writer.binary(assigned.as_bytes())?;
        }
        if let Some(size) = self.maximum_packet_size {
            writer.put(&[id::MAXIMUM_PACKET_SIZE])?;
            writer.put(&size.to_be_bytes())?;
        }
        if self.topic_alias_maximum != 0 {
            writer.put(&[id::TOPIC_ALIAS_MAXIMUM])?;
            writer.put(&self.topic_alias_maximum.to_be_bytes())?;
        }
        writer.finish(kind::CONNACK << 4)
    }
}
