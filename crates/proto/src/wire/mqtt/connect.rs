//! CONNECT with all that a client may say (3.1), and CONNACK (3.2).

use super::bytes::{Reader, Writer};
use super::property::{self, Properties, PropertyValue, id};
use super::{Fault, NoRoom, Protocol, RawPacket, kind, reason, topic};

/// CONNECT (3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
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
    /// Version 5: seconds for which the session outlives the connection; 0 where absent, `u32::MAX` is
    /// for ever (5: 3.1.2.11.2).
    pub session_expiry: Option<u32>,
    /// Version 5: QoS 1 and 2 messages that the client takes before it has acknowledged one.
    pub receive_maximum: Option<u16>,
    /// Version 5: largest packet that the client takes.
    pub maximum_packet_size: Option<u32>,
    /// Version 5: extended authentication that the client asks for (5: 4.12).
    pub authentication_method: Option<&'a str>,
    /// Version 5: data of that method.
    pub authentication_data: Option<&'a [u8]>,
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
    /// Properties of version 5.
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

impl<'a> Connect<'a> {
    /// Creates one that starts a new session without a name, a will or limits, and is never taken for gone.
    #[must_use]
    pub fn new(protocol: impl Into<Protocol>, client_id: &'a str) -> Self {
        Self {
            protocol: protocol.into(),
            client_id,
            clean: true,
            keep_alive: 0,
            username: None,
            password: None,
            will: None,
            session_expiry: None,
            receive_maximum: None,
            maximum_packet_size: None,
            authentication_method: None,
            authentication_data: None,
        }
    }

    /// Returns for how many seconds the session outlives the connection: in 3.1 and 3.1.1, 0 with a clean
    /// session and for ever, `u32::MAX`, without.
    #[must_use]
    pub fn session_expiry_interval(&self) -> u32 {
        match self.protocol {
            Protocol::V5 => self.session_expiry.unwrap_or(0),
            _ if self.clean => 0,
            _ => u32::MAX,
        }
    }

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
        let mut connect = Self { clean, keep_alive, ..Self::new(protocol, "") };
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

    fn properties(&mut self, list: Properties<'a>) -> Result<(), Fault> {
        for property in list {
            match (property.id, property.value) {
                (id::SESSION_EXPIRY, PropertyValue::Number(n)) => self.session_expiry = Some(n),
                (id::RECEIVE_MAXIMUM, PropertyValue::Number(n)) => {
                    self.receive_maximum = Some(n as u16)
                }
                (id::MAXIMUM_PACKET_SIZE, PropertyValue::Number(n)) => {
                    self.maximum_packet_size = Some(n)
                }
                (id::AUTHENTICATION_METHOD, PropertyValue::Text(name)) => {
                    self.authentication_method = Some(name)
                }
                (id::AUTHENTICATION_DATA, PropertyValue::Data(data)) => {
                    self.authentication_data = Some(data)
                }
                _ => {}
            }
        }
        if self.authentication_data.is_some() && self.authentication_method.is_none() {
            return Err(Fault::protocol("authentication data without a method"));
        }
        Ok(())
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        let (name, level): (&[u8], u8) = match self.protocol {
            Protocol::V31 => (b"MQIsdp", 3),
            Protocol::V311 => (b"MQTT", 4),
            Protocol::V5 => (b"MQTT", 5),
        };
        writer.binary(name)?;
        writer.put(&[level, self.flags()])?;
        writer.put(&self.keep_alive.to_be_bytes())?;
        if self.protocol.is_5() {
            self.emit_properties(&mut writer)?;
        }
        writer.binary(self.client_id.as_bytes())?;
        if let Some(will) = &self.will {
            if self.protocol.is_5() {
                will.properties.emit(&mut writer)?;
            }
            writer.binary(will.topic.as_bytes())?;
            writer.binary(will.payload)?;
        }
        if let Some(name) = self.username {
            writer.binary(name.as_bytes())?;
        }
        if let Some(password) = self.password {
            writer.binary(password)?;
        }
        writer.finish(kind::CONNECT << 4)
    }

    fn emit_properties(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        let method = self.authentication_method.map(str::as_bytes);
        let texts = [
            (id::AUTHENTICATION_METHOD, method),
            (id::AUTHENTICATION_DATA, self.authentication_data),
        ];
        let len = self.session_expiry.map_or(0, |_| 5)
            + texts.iter().map(|(_, text)| text.map_or(0, |text| 3 + text.len())).sum::<usize>()
            + self.receive_maximum.map_or(0, |_| 3)
            + self.maximum_packet_size.map_or(0, |_| 5);
        writer.varint(len)?;
        if let Some(seconds) = self.session_expiry {
            property::emit(writer, id::SESSION_EXPIRY, &seconds.to_be_bytes())?;
        }
        for (id, text) in texts {
            if let Some(text) = text {
                writer.put(&[id])?;
                writer.binary(text)?;
            }
        }
        if let Some(count) = self.receive_maximum {
            property::emit(writer, id::RECEIVE_MAXIMUM, &count.to_be_bytes())?;
        }
        if let Some(size) = self.maximum_packet_size {
            property::emit(writer, id::MAXIMUM_PACKET_SIZE, &size.to_be_bytes())?;
        }
        Ok(())
    }

    fn flags(&self) -> u8 {
        let set = |on, flag| if on { flag } else { 0 };
        let will =
            self.will.map_or(0, |will| WILL | (will.qos & 3) << 3 | set(will.retain, WILL_RETAIN));
        will | set(self.clean, CLEAN)
            | set(self.username.is_some(), USERNAME)
            | set(self.password.is_some(), PASSWORD)
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
        let mut properties = Properties::default();
        if protocol.is_5() {
            properties = Properties::take(body, property::WILL)?;
        }
        let topic = body.string()?;
        let payload = body.binary()?;
        if !topic::is_name(topic) {
            return Err(Fault {
                reason: reason::TOPIC,
                what: "a will's topic that is no topic name",
            });
        }
        Ok(Self { qos: 0, retain: false, topic, payload, properties })
    }

    /// Returns the seconds between the end of the connection and the message.
    #[must_use]
    pub fn delay(&self) -> u32 {
        self.properties.number(id::WILL_DELAY).unwrap_or(0)
    }

    /// Returns the seconds for which the message is worth delivering.
    #[must_use]
    pub fn message_expiry(&self) -> Option<u32> {
        self.properties.number(id::MESSAGE_EXPIRY)
    }
}

/// CONNACK (3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAck<'a> {
    /// The broker kept the state of an earlier connection.
    pub session_present: bool,
    /// Return code (3.1.1) or reason code (5); 0 is accepted.
    pub code: u8,
    /// Version 5: QoS 1 and 2 messages that the broker takes before it has acknowledged one.
    pub receive_maximum: Option<u16>,
    /// Version 5: highest QoS that the broker supports; 2 where it does not say.
    pub maximum_qos: u8,
    /// Version 5: client identifier that the broker chose.
    pub assigned_client_id: Option<&'a str>,
    /// Version 5: largest packet that the broker takes.
    pub maximum_packet_size: Option<u32>,
    /// Version 5: highest topic alias that the client may use; 0 is none.
    pub topic_alias_maximum: u16,
    /// Version 5: keep-alive seconds that the broker wants instead of the client's.
    pub server_keep_alive: Option<u16>,
}

impl<'a> ConnAck<'a> {
    /// One that accepts, without limits.
    pub const ACCEPTED: Self = Self {
        session_present: false,
        code: 0,
        receive_maximum: None,
        maximum_qos: 2,
        assigned_client_id: None,
        maximum_packet_size: None,
        topic_alias_maximum: 0,
        server_keep_alive: None,
    };

    /// Bytes that it has at most, without the assigned client identifier.
    pub const MOST: usize = 28;

    /// Returns it without the assigned client identifier, so that it outlives its packet.
    #[must_use]
    pub const fn without_client_id(&self) -> ConnAck<'static> {
        let Self { session_present, code, receive_maximum, maximum_qos, .. } = *self;
        let Self { maximum_packet_size, topic_alias_maximum, server_keep_alive, .. } = *self;
        ConnAck {
            session_present,
            code,
            receive_maximum,
            maximum_qos,
            assigned_client_id: None,
            maximum_packet_size,
            topic_alias_maximum,
            server_keep_alive,
        }
    }

    /// Parses the packet of `frame`.
    ///
    /// # Errors
    /// Reserved flags, a property that may not be, or a field that is cut off.
    pub fn parse(protocol: impl Into<Protocol>, frame: &RawPacket<'a>) -> Result<Self, Fault> {
        let mut body = Reader(frame.body);
        let flags = body.u8()?;
        if flags > 1 {
            return Err(Fault::malformed("a reserved flag is set"));
        }
        let mut ack = Self { session_present: flags == 1, code: body.u8()?, ..Self::ACCEPTED };
        // A broker that knows 3.1.1 only refuses version 5 with a CONNACK of its own version, two
        // bytes long and with code 1 (3.1.1: 3.2.2.3), so properties may be missing.
        if protocol.into().is_5() && !body.0.is_empty() {
            for property in Properties::take(&mut body, property::CONNACK)? {
                ack.property(property.id, property.value);
            }
        }
        body.end()?;
        Ok(ack)
    }

    fn property(&mut self, which: u8, value: PropertyValue<'a>) {
        match (which, value) {
            (id::RECEIVE_MAXIMUM, PropertyValue::Number(n)) => {
                self.receive_maximum = Some(n as u16)
            }
            (id::MAXIMUM_QOS, PropertyValue::Number(qos)) => self.maximum_qos = qos as u8,
            (id::ASSIGNED_CLIENT_ID, PropertyValue::Text(name)) => {
                self.assigned_client_id = Some(name)
            }
            (id::MAXIMUM_PACKET_SIZE, PropertyValue::Number(n)) => {
                self.maximum_packet_size = Some(n)
            }
            (id::TOPIC_ALIAS_MAXIMUM, PropertyValue::Number(n)) => {
                self.topic_alias_maximum = n as u16
            }
            (id::SERVER_KEEP_ALIVE, PropertyValue::Number(n)) => {
                self.server_keep_alive = Some(n as u16)
            }
            _ => {}
        }
    }

    /// Writes it and answers its length.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn emit(&self, protocol: impl Into<Protocol>, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(buf);
        writer.put(&[u8::from(self.session_present), self.code])?;
        if protocol.into().is_5() {
            self.emit_properties(&mut writer)?;
        }
        writer.finish(kind::CONNACK << 4)
    }

    fn emit_properties(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        let len = self.receive_maximum.map_or(0, |_| 3)
            + if self.maximum_qos < 2 { 2 } else { 0 }
            + self.assigned_client_id.map_or(0, |name| 3 + name.len())
            + self.maximum_packet_size.map_or(0, |_| 5)
            + if self.topic_alias_maximum == 0 { 0 } else { 3 }
            + self.server_keep_alive.map_or(0, |_| 3);
        writer.varint(len)?;
        if let Some(count) = self.receive_maximum {
            property::emit(writer, id::RECEIVE_MAXIMUM, &count.to_be_bytes())?;
        }
        if self.maximum_qos < 2 {
            property::emit(writer, id::MAXIMUM_QOS, &[self.maximum_qos])?;
        }
        if let Some(name) = self.assigned_client_id {
            writer.put(&[id::ASSIGNED_CLIENT_ID])?;
            writer.binary(name.as_bytes())?;
        }
        if let Some(size) = self.maximum_packet_size {
            property::emit(writer, id::MAXIMUM_PACKET_SIZE, &size.to_be_bytes())?;
        }
        if self.topic_alias_maximum != 0 {
            property::emit(
                writer,
                id::TOPIC_ALIAS_MAXIMUM,
                &self.topic_alias_maximum.to_be_bytes(),
            )?;
        }
        if let Some(seconds) = self.server_keep_alive {
            property::emit(writer, id::SERVER_KEEP_ALIVE, &seconds.to_be_bytes())?;
        }
        Ok(())
    }
}
