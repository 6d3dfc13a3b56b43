//! Control: binding of a button to a lamp, and values for its attributes (types 4 and 5; esp-now
//! component, `espnow_ctrl.h`).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | attribute of the initiator |
//! | 4 | 4 | attribute of the responder; 0 when binding |
//! | 8 | 4 | value, see [`AttributeValue`]; when binding, 1 binds and 0 unbinds |
//! | 12 | n | text, where the value says that there is one |
//!
//! In builds with `CONFIG_ESPNOW_CONTROL_AUTO_CHANNEL_SENDING`
//! ([`Compat::auto_channel`](super::Compat::auto_channel)) eight bytes come first, and the two forms
//! do not understand each other:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | magic, as in the frame's header |
//! | 2 | 4 | flags word, as the initiator handed it over: the header's, but no copies counted |
//! | 6 | 2 | padding |
//! | 8 | … | the layout above |
//!
//! A responder repeats the first six of them as the payload of an acknowledgement.

use super::FrameConfig;

/// Length of a control payload without text, in bytes.
pub const CONTROL_LEN: usize = 12;
/// Length of the additional bytes that come first in the form for automatic channels.
pub const LINK_LEN: usize = 8;
/// Length of an acknowledgement's payload in that form, in bytes.
pub const ACK_LEN: usize = 6;

/// Attribute of an initiator or a responder (`espnow_attribute_t`): the class of device in bits 8
/// to 15, the property in bits 0 to 7. Any number may be on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attribute(pub u32);

/// Names of the component's attributes, without their prefix.
const NAMES: [(u32, &str); 39] = [
    (0x0000, "base"),
    (0x0001, "power"),
    (0x0002, "power_add"),
    (0x0003, "attribute"),
    (0x0100, "light_base"),
    (0x0101, "brightness"),
    (0x0102, "brightness_add"),
    (0x0103, "hue"),
    (0x0104, "hue_add"),
    (0x0105, "saturation"),
    (0x0106, "saturation_add"),
    (0x0107, "warm"),
    (0x0108, "warm_add"),
    (0x0109, "cold"),
    (0x010A, "cold_add"),
    (0x010B, "red"),
    (0x010C, "red_add"),
    (0x010D, "green"),
    (0x010E, "green_add"),
    (0x010F, "blue"),
    (0x0110, "blue_add"),
    (0x0111, "mode"),
    (0x0112, "mode_add"),
    (0x0200, "button_base"),
    (0x0201, "key_1"),
    (0x0202, "key_2"),
    (0x0203, "key_3"),
    (0x0204, "key_4"),
    (0x0205, "key_5"),
    (0x0206, "key_6"),
    (0x0207, "key_7"),
    (0x0208, "key_8"),
    (0x0209, "key_9"),
    (0x020A, "key_10"),
    // Early releases have these.
    (0x0210, "key_10"),
    (0x0300, "battery_base"),
    (0x0301, "low_battery"),
    (0x0302, "battery_level"),
    (0x0303, "charging_state"),
];

impl Attribute {
    /// Attribute `ESPNOW_ATTRIBUTE_POWER`.
    pub const POWER: Self = Self(0x0001);
    /// Attribute `ESPNOW_ATTRIBUTE_KEY_1`.
    pub const KEY_1: Self = Self(0x0201);

    /// Returns the attribute's name, if it has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(number, _)| *number == self.0).map(|(_, name)| *name)
    }

    /// Finds the attribute of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(number, _)| Self(*number))
    }
}

/// Four bytes whose type depends on the attribute; the frame does not state it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AttributeValue(pub u32);

impl AttributeValue {
    /// Returns the value as a C `bool`, which is the first byte.
    #[must_use]
    pub const fn as_bool(self) -> bool {
        self.0 & 0xFF != 0
    }

    /// Returns the value as a signed number.
    #[must_use]
    pub const fn as_i32(self) -> i32 {
        self.0 as i32
    }

    /// Returns the value as a floating-point number, IEEE 754 single precision.
    #[must_use]
    pub const fn as_f32(self) -> f32 {
        f32::from_bits(self.0)
    }

    /// Returns the length of the text that would follow: the last byte, if the first three are
    /// zero; 0 for other values. A number that is a multiple of 2²⁴ looks like such a length.
    #[must_use]
    pub const fn text_len(self) -> u8 {
        if self.0 & 0x00FF_FFFF == 0 { (self.0 >> 24) as u8 } else { 0 }
    }

    /// Returns the value that announces a text of length `len`.
    #[must_use]
    pub const fn text(len: u8) -> Self {
        Self((len as u32) << 24)
    }
}

/// The first bytes of the form for automatic channels: how the initiator sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlLink {
    /// Packet id of the whole operation.
    pub magic: u16,
    /// Send options of the frame; the channel is the one that is being tried.
    pub config: FrameConfig,
}

impl ControlLink {
    /// Parses the six bytes that are the payload of an acknowledgement.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let [m0, m1, word @ ..] = payload.first_chunk::<ACK_LEN>()?;
        let config = FrameConfig::from_word(u32::from_le_bytes(*word));
        Some(Self { magic: u16::from_le_bytes([*m0, *m1]), config })
    }

    /// Returns the six bytes.
    #[must_use]
    pub fn emit(&self) -> [u8; ACK_LEN] {
        let ([m0, m1], [a, b, c, d]) =
            (self.magic.to_le_bytes(), self.config.to_word().to_le_bytes());
        [m0, m1, a, b, c, d]
    }
}

/// A control payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlMessage<'a> {
    /// How the initiator sends, in the form for automatic channels only.
    pub link: Option<ControlLink>,
    /// Attribute of the initiator.
    pub initiator: Attribute,
    /// Attribute of the responder.
    pub responder: Attribute,
    /// Value of the attribute.
    pub value: AttributeValue,
    /// Text, at most as long as the value announces.
    pub text: &'a [u8],
}

impl<'a> ControlMessage<'a> {
    /// Parses a payload in the form of the build. `None` if it is too short (the component reads on
    /// regardless). A text that is cut short yields the bytes that are there.
    #[must_use]
    pub fn parse(auto_channel: bool, payload: &'a [u8]) -> Option<Self> {
        let (link, rest) = if auto_channel {
            let (head, rest) = payload.split_first_chunk::<LINK_LEN>()?;
            (Some(ControlLink::parse(head)?), rest)
        } else {
            (None, payload)
        };
        let (&[i0, i1, i2, i3, r0, r1, r2, r3, v0, v1, v2, v3], rest) =
            rest.split_first_chunk::<CONTROL_LEN>()?;
        let value = AttributeValue(u32::from_le_bytes([v0, v1, v2, v3]));
        Some(Self {
            link,
            initiator: Attribute(u32::from_le_bytes([i0, i1, i2, i3])),
            responder: Attribute(u32::from_le_bytes([r0, r1, r2, r3])),
            value,
            text: rest.get(..value.text_len().into()).unwrap_or(rest),
        })
    }

    /// Writes the payload and returns its length; `None` if `buf` is too short, or the text longer
    /// than the value announces.
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        if self.text.len() > usize::from(self.value.text_len()) {
            return None;
        }
        let start = if self.link.is_some() { LINK_LEN } else { 0 };
        let end = start + CONTROL_LEN + self.text.len();
        let (head, rest) = buf.get_mut(..end)?.split_at_mut_checked(start)?;
        if let (Some(link), Some(head)) = (&self.link, head.first_chunk_mut::<LINK_LEN>()) {
            head[..ACK_LEN].copy_from_slice(&link.emit());
            head[ACK_LEN..].fill(0);
        }
        let (fields, text) = rest.split_first_chunk_mut::<CONTROL_LEN>()?;
        fields[..4].copy_from_slice(&self.initiator.0.to_le_bytes());
        fields[4..8].copy_from_slice(&self.responder.0.to_le_bytes());
        fields[8..].copy_from_slice(&self.value.0.to_le_bytes());
        text.copy_from_slice(self.text);
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{DataType, Header};
    use proptest::prelude::*;

    const KEY_TO_POWER: ControlMessage<'static> = ControlMessage {
        link: None,
        initiator: Attribute::KEY_1,
        responder: Attribute::POWER,
        value: AttributeValue(1),
        text: &[],
    };

    #[test]
    fn vectors_5_and_6_of_the_protocol_reference() {
        let data = [
            0x25, 0x0C, 0x0B, 0x0A, 0x0F, 0x88, 0x52, 0xE7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0x24, 0x0A, 0xC4, 0x00, 0x00, 0x01, 0x01, 0x02, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
            0x01, 0x00, 0x00, 0x00,
        ];
        let (header, payload) = Header::parse(&data).expect("a header");
        let sent = FrameConfig { channel: 15, ttl: 10, rssi: -25, ..FrameConfig::default() };
        assert_eq!((header.data_type, header.config), (DataType::ControlData, sent));
        assert_eq!(ControlMessage::parse(false, payload), Some(KEY_TO_POWER));
        let mut buf = [0xEE; 12];
        assert_eq!(KEY_TO_POWER.emit(&mut buf), Some(12));
        assert_eq!(buf, payload);

        let bind = ControlMessage { responder: Attribute(0), ..KEY_TO_POWER };
        assert_eq!(bind.emit(&mut buf), Some(12));
        assert_eq!(buf, [0x01, 0x02, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn the_form_for_automatic_channels_has_twenty_bytes() {
        let config =
            FrameConfig { channel: 6, ack: true, ttl: 10, rssi: -55, ..FrameConfig::default() };
        let link = ControlLink { magic: 0x0A0B, config: FrameConfig { copies: 0, ..config } };
        let control = ControlMessage { link: Some(link), ..KEY_TO_POWER };
        let mut buf = [0xEE; 20];
        assert_eq!(control.emit(&mut buf), Some(20));
        assert_eq!(buf[..8], [0x0B, 0x0A, 0x06, 0x28, 0x50, 0xC9, 0, 0]);
        assert_eq!(ControlMessage::parse(true, &buf), Some(control));
        assert_eq!(ControlLink::parse(&buf[..6]), Some(link));
        assert_ne!(ControlMessage::parse(false, &buf), Some(KEY_TO_POWER), "not understood");
        assert_eq!(ControlMessage::parse(true, &buf[..19]), None);
    }

    #[test]
    fn what_a_value_can_mean() {
        assert!(AttributeValue(1).as_bool() && !AttributeValue(0x100).as_bool());
        assert!(!AttributeValue(0).as_bool() && AttributeValue(0x80).as_bool());
        assert_eq!(
            (AttributeValue(u32::MAX).as_i32(), AttributeValue(70_000).as_i32()),
            (-1, 70_000)
        );
        assert_eq!(AttributeValue(0x4020_0000).as_f32().to_bits(), 2.5f32.to_bits());
        assert_eq!(AttributeValue(0x3F80_0000).as_f32().to_bits(), 1f32.to_bits());
        assert_eq!(
            (AttributeValue(0x0500_0001).text_len(), AttributeValue::text(5).text_len()),
            (0, 5)
        );
        let hello =
            ControlMessage { value: AttributeValue::text(5), text: b"hello", ..KEY_TO_POWER };
        let mut buf = [0; 17];
        assert_eq!(hello.emit(&mut buf), Some(17));
        assert_eq!(&buf[8..], b"\0\0\0\x05hello");
        assert_eq!(ControlMessage::parse(false, &buf), Some(hello));
        assert_eq!(ControlMessage::parse(false, &buf[..14]).map(|cut| cut.text), Some(&b"he"[..]));
        assert_eq!(ControlMessage { value: AttributeValue::text(4), ..hello }.emit(&mut buf), None);
        assert_eq!(hello.emit(&mut buf[..16]), None);
        let shorter = ControlMessage { text: b"hell", ..hello };
        assert_eq!(shorter.emit(&mut buf), Some(16), "a text may be shorter than announced");
        assert_eq!(&buf[8..16], b"\0\0\0\x05hell");
        assert_eq!(AttributeValue(0x0501_0000).text_len(), 0);
    }

    #[test]
    fn names_read_back() {
        for (number, name) in NAMES {
            assert_eq!(Attribute(number).name(), Some(name));
            assert_eq!(Attribute::named(name).and_then(Attribute::name), Some(name));
        }
        assert_eq!(Attribute::named("key_10"), Some(Attribute(0x020A)));
        assert_eq!((Attribute(4).name(), Attribute::named("")), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            auto: bool, bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            prop_assert_eq!(ControlMessage::parse(auto, &bytes).is_none(), bytes.len() < if auto { 20 } else { 12 });
        }

        #[test]
        fn what_is_emitted_reads_back(
            link: Option<(u16, u32)>, initiator: u32, responder: u32, number: u32,
            text in prop::option::of(prop::collection::vec(any::<u8>(), 0..=200)),
        ) {
            let link = link.map(|(magic, word)| ControlLink { magic, config: FrameConfig::from_word(word) });
            let text = text.as_deref();
            let control = ControlMessage {
                link,
                initiator: Attribute(initiator),
                responder: Attribute(responder),
                value: text.map_or(AttributeValue(number), |text| AttributeValue::text(text.len() as u8)),
                text: text.unwrap_or(&[]),
            };
            let mut buf = [0xEE; 230];
            let len = control.emit(&mut buf).expect("it fits");
            prop_assert_eq!(ControlMessage::parse(link.is_some(), &buf[..len]), Some(control));
        }
    }
}
