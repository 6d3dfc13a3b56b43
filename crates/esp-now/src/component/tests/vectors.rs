//! Help for tests against the byte vectors of section 13 of the protocol reference.

use crate::component::header::{DataType, FrameConfig, Header, VERSION};
use espbench_ieee80211::mac::Mac;
use std::vec::Vec;

/// Decodes hexadecimal, with spaces anywhere.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Address A of the vectors.
pub(crate) const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
/// Address D of the vectors.
pub(crate) const D: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// Returns the header of a broadcast from A with the default configuration on channel 1.
pub(crate) fn header(data_type: DataType, size: u8, magic: u16) -> Header {
    let config = FrameConfig { channel: 1, ..FrameConfig::default() };
    Header { data_type, version: VERSION, size, magic, config, dest: Mac::BROADCAST, src: A }
}

/// The vectors as whole frames: header and payload put together by the formats, and the header
/// read back. Each format's own file tests its payload in detail.
mod whole_frames {
    use super::*;
    use crate::component::control::{Attribute, AttributeValue, ControlMessage};
    use crate::component::handshake::{SecurityInfo, SecurityMessage};
    use crate::component::iperf::{IperfHead, IperfKind};
    use crate::component::ota::{Chunk, OtaStatus};
    use crate::component::prov::{FixedText, ProvIdentity, ProvMessage};
    use crate::component::time_sync::{self, TimeSyncMessage};
    use crate::component::{Compat, ComponentRelease, GroupPayload, HEADER_LEN, Idf, debug, group};
    use std::format;

    /// Configuration of binding (section 6.1); frames with values also have ten hops.
    const CONTROL: FrameConfig =
        FrameConfig { channel: 15, broadcast: true, copies: 10, rssi: -25, ..FrameConfig::UNICAST };
    /// Common configuration of all frames of an upgrade's initiator (section 4.3).
    const OTA: FrameConfig =
        FrameConfig { channel: 1, broadcast: true, copies: 2, rssi: -65, ..FrameConfig::UNICAST };

    /// Asserts that the frame with this header and the payload of `write` begins with `wire`.
    fn begins(wire: &str, head: Header, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> usize {
        let wire = bytes(wire);
        let mut buf = [0xEE; 320];
        let len = write(&mut buf[HEADER_LEN..]).expect("it fits");
        let head = Header { size: len as u8, ..head };
        buf[..HEADER_LEN].copy_from_slice(&head.emit());
        assert_eq!(buf[..wire.len()], wire, "{:?}", head.data_type);
        assert_eq!(Header::parse(&wire).map(|(read, _)| read), Some(head));
        HEADER_LEN + len
    }

    /// Asserts that `wire` is the whole frame.
    fn is(wire: &str, head: Header, write: impl FnOnce(&mut [u8]) -> Option<usize>) {
        assert_eq!(begins(wire, head, write), bytes(wire).len());
    }

    /// Returns the header of a frame from A with its own configuration; `begins` fills in the size.
    fn with(config: FrameConfig, dest: Mac, data_type: DataType, magic: u16) -> Header {
        Header { config, dest, ..header(data_type, 0, magic) }
    }

    #[test]
    fn vectors_5_and_6_control() {
        let key = |value, responder| ControlMessage {
            link: None,
            initiator: Attribute::KEY_1,
            responder: Attribute(responder),
            value: AttributeValue(value),
            text: &[],
        };
        is(
            "25 0c 0b 0a 0f 88 52 e7 ff ff ff ff ff ff 24 0a c4 00 00 01 \
             01 02 00 00 01 00 00 00 01 00 00 00",
            with(FrameConfig { ttl: 10, ..CONTROL }, Mac::BROADCAST, DataType::ControlData, 0x0A0B),
            |buf| key(1, 1).emit(buf),
        );
        is(
            "24 0c 0c 0a 0f 88 02 e7 ff ff ff ff ff ff 24 0a c4 00 00 01 \
             01 02 00 00 00 00 00 00 01 00 00 00",
            with(CONTROL, Mac::BROADCAST, DataType::ControlBind, 0x0A0C),
            |buf| key(1, 0).emit(buf),
        );
    }

    #[test]
    fn vectors_7_to_10_upgrade() {
        let third = Mac([0x24, 0x0A, 0xC4, 0, 0, 3]);
        is(
            "22 14 02 01 01 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 \
             01 4f 54 41 00 00 00 02 24 0a c4 00 00 02 24 0a c4 00 00 03",
            header(DataType::Group, 0, 0x0102),
            |buf| GroupPayload::emit(true, group::OTA, [D, third], buf),
        );
        let near = FrameConfig { filter_adjacent: true, ..OTA };
        is(
            "27 01 55 55 11 88 00 bf ff ff ff ff ff ff 24 0a c4 00 00 01 00",
            with(near, Mac::BROADCAST, DataType::OtaData, 0x5555),
            |buf| {
                buf[0] = 0;
                Some(1)
            },
        );
        let status = OtaStatus {
            digest: core::array::from_fn(|i| i as u8),
            packets: 481,
            total: 100_000,
            ..OtaStatus::default()
        };
        is(
            "27 1e 56 55 11 98 00 bf 4f 54 41 00 00 00 24 0a c4 00 00 01 \
             03 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 00 00 e1 01 a0 86 01 00 \
             00 00 00 00 00",
            with(FrameConfig { group: true, ..near }, group::OTA, DataType::OtaData, 0x5556),
            |buf| status.emit(&[], buf),
        );
        let len = begins(
            "27 d4 57 55 01 98 00 bf 4f 54 41 00 00 00 24 0a c4 00 00 01 02 00 00 d0",
            with(FrameConfig { group: true, ..OTA }, group::OTA, DataType::OtaData, 0x5557),
            |buf| Chunk::emit(0, 208, 208, buf, |_| true),
        );
        assert_eq!(len, 232);
    }

    #[test]
    fn vectors_11_to_13_command_time_and_beacon() {
        let once = FrameConfig { channel: 1, copies: 1, ..FrameConfig::UNICAST };
        is(
            "29 08 77 77 11 40 00 00 24 0a c4 00 00 02 24 0a c4 00 00 01 72 65 73 74 61 72 74 00",
            with(FrameConfig { filter_adjacent: true, ..once }, D, DataType::DebugCommand, 0x7777),
            |buf| debug::emit(b"restart", buf),
        );
        let time = TimeSyncMessage {
            version: 1,
            kind: time_sync::TimeSyncKind::Broadcast,
            timestamp_us: 12_345_678,
            utc_us: 1_700_000_000_000_000,
        };
        is(
            "2e 12 09 09 01 c8 00 00 ff ff ff ff ff ff 24 0a c4 00 00 01 \
             01 01 4e 61 bc 00 00 00 00 00 00 40 1e 18 24 0a 06 00",
            with(
                FrameConfig { broadcast: true, copies: 3, ..once },
                Mac::BROADCAST,
                DataType::TimeSync,
                0x0909,
            ),
            |buf| time.emit(buf),
        );
        let product_id = FixedText::new(b"responder_test").unwrap();
        let beacon =
            ProvMessage::Beacon(ProvIdentity { product_id, device_name: FixedText::default() });
        let config = FrameConfig { channel: 1, filter_adjacent: true, ..FrameConfig::default() };
        is(
            &format!(
                "23 21 03 03 11 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 \
                 00 72 65 73 70 6f 6e 64 65 72 5f 74 65 73 74 00 00 {}",
                "00".repeat(16)
            ),
            with(config, Mac::BROADCAST, DataType::Prov, 0x0303),
            |buf| beacon.emit(buf, Compat::default()),
        );
    }

    #[test]
    fn vectors_14_to_16_sealed_ping_and_long() {
        let once = FrameConfig { channel: 1, copies: 1, ..FrameConfig::UNICAST };
        let sealer = crate::component::sealed::Sealer::new(&core::array::from_fn(|i| i as u8));
        let config = FrameConfig { channel: 1, security: true, ..FrameConfig::default() };
        is(
            "2a 11 35 12 41 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 \
             fa 8f 15 fd 90 5f 11 f3 5c a0 a1 a2 a3 a4 a5 a6 a7",
            with(config, Mac::BROADCAST, DataType::Data, 0x1235),
            |buf| {
                buf[..5].copy_from_slice(b"hello");
                sealer.seal(&core::array::from_fn(|i| 0xA0 + i as u8), true, buf, 5)
            },
        );
        is(
            "2f 10 42 42 01 40 00 00 24 0a c4 00 00 02 24 0a c4 00 00 01 \
             03 00 00 00 07 00 00 00 00 00 00 00 00 00 00 00",
            with(once, D, DataType::Reserved, 0x4242),
            |buf| IperfHead { kind: IperfKind::Ping, seq: 7 }.emit(buf, 16),
        );
        let long = "2a 2c 01 00 01 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01";
        let len = begins(long, header(DataType::Data, 0, 1), |_| Some(300));
        let head =
            Compat { release: ComponentRelease::Head, idf: Idf::V5_4_2, ..Compat::default() };
        assert!(len <= head.frame_max() && !head.checks_size() && Compat::default().checks_size());
    }

    #[test]
    fn captured_request_and_information_are_what_we_would_send() {
        let mine = Mac([0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC]);
        let other = Mac([0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C]);
        let config = FrameConfig { filter_adjacent: true, copies: 10, ..OTA };
        let head = with(config, Mac::BROADCAST, DataType::Security, 0xD1B8);
        is(
            "2c 01 b8 d1 11 88 02 bf ff ff ff ff ff ff cc 50 e3 80 10 bc 00",
            Header { src: mine, ..head },
            |buf| SecurityMessage::Request.emit(buf),
        );
        let once = FrameConfig { channel: 1, copies: 1, ..FrameConfig::UNICAST };
        let head = with(once, mine, DataType::SecurityStatus, 0xF776);
        is(
            "2b 08 76 f7 01 40 00 00 cc 50 e3 80 10 bc 30 ae a4 1e 8d 6c 01 00 00 00 00 00 00 00",
            Header { src: other, ..head },
            |buf| SecurityMessage::Info(SecurityInfo::default()).emit(buf),
        );
    }
}
