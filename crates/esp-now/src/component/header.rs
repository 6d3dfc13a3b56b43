//! The component's 20-byte header (`espnow_data_t`, `espnow_frame_head_t`).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | bits 0-3 type, bits 4-5 version (2), bits 6-7 reserved (uninitialised memory on air) |
//! | 1 | 1 | payload length mod 256 |
//! | 2 | 2 | magic: packet id, for duplicates and acknowledgements |
//! | 4 | 4 | flags, see [`FrameConfig`] |
//! | 8 | 6 | destination: address, broadcast, or group id |
//! | 14 | 6 | source: the originator, unchanged by those who forward |
//! | 20 | … | payload |

use crate::frame::ELEMENT_MAX;
use espbench_ieee80211::mac::Mac;

/// Length of the header, in bytes.
pub const HEADER_LEN: usize = 20;

/// Version that every release writes.
pub const VERSION: u8 = 2;

/// Type of a frame's payload (`espnow_data_type_t`), four bits on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DataType {
    /// Acknowledgement by the application layer.
    Ack = 0,
    /// Forwarded frame; never on the air.
    Forward = 1,
    /// Joining and leaving of groups.
    Group = 2,
    /// Provisioning.
    Prov = 3,
    /// Control: bind and unbind.
    ControlBind = 4,
    /// Control: attribute values.
    ControlData = 5,
    /// OTA messages from responder to initiator.
    OtaStatus = 6,
    /// OTA messages from initiator to responder.
    OtaData = 7,
    /// Remote log.
    DebugLog = 8,
    /// Remote command.
    DebugCommand = 9,
    /// The user's own data.
    Data = 10,
    /// Handshake: information about a responder.
    SecurityStatus = 11,
    /// Handshake: requests, exchange and key.
    Security = 12,
    /// Unused; `espnow_iperf` of component 1.0.
    SecurityData = 13,
    /// Time synchronization; `espnow_iperf` of components 2.0 to 2.5.2.
    TimeSync = 14,
    /// `espnow_iperf` since component 2.5.3.
    Reserved = 15,
}

impl DataType {
    /// All types, by number.
    pub const ALL: [Self; 16] = [
        Self::Ack,
        Self::Forward,
        Self::Group,
        Self::Prov,
        Self::ControlBind,
        Self::ControlData,
        Self::OtaStatus,
        Self::OtaData,
        Self::DebugLog,
        Self::DebugCommand,
        Self::Data,
        Self::SecurityStatus,
        Self::Security,
        Self::SecurityData,
        Self::TimeSync,
        Self::Reserved,
    ];

    /// Returns the type of the low four bits of `byte`.
    #[must_use]
    #[inline]
    pub const fn from_bits(byte: u8) -> Self {
        Self::ALL[(byte & 0x0F) as usize]
    }

    /// Returns the type's bit in a mask of enabled types.
    #[must_use]
    #[inline]
    pub const fn mask(self) -> u16 {
        1 << self as u8
    }
}

/// How a frame is to be sent, and how it is to be treated on its way (`espnow_frame_head_t`, the
/// flags word of the header).
///
/// | bits | field |
/// |---|---|
/// | 0-3 | `channel` |
/// | 4 | `filter_adjacent` |
/// | 5 | `filter_weak` |
/// | 6 | `security` |
/// | 11 | `broadcast` |
/// | 12 | `group` |
/// | 13 | `ack` |
/// | 14-18 | `copies` |
/// | 19-23 | `ttl` |
/// | 24-31 | `rssi` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameConfig {
    /// Channel 1 to 14; 0 the current one (never on the air); 15 all of the country's channels.
    pub channel: u8,
    /// Receivers drop the frame unless they heard it on `channel`.
    pub filter_adjacent: bool,
    /// Receivers drop the frame if they heard it weaker than `rssi`.
    pub filter_weak: bool,
    /// The payload is encrypted.
    pub security: bool,
    /// Sent to the broadcast address, whatever the destination in the header.
    pub broadcast: bool,
    /// The destination is a group id.
    pub group: bool,
    /// The destination's application layer shall acknowledge.
    pub ack: bool,
    /// Number of copies to send, or of attempts where the result is known (`retransmit_count`), at
    /// most 31.
    pub copies: u8,
    /// Number of hops left (`forward_ttl`); 31 is never counted down.
    pub ttl: u8,
    /// Threshold in dBm: weaker frames are not forwarded, and not accepted with `filter_weak`
    /// (`forward_rssi`).
    pub rssi: i8,
}

impl Default for FrameConfig {
    /// Returns `ESPNOW_FRAME_CONFIG_DEFAULT`: a broadcast in ten copies.
    fn default() -> Self {
        Self { broadcast: true, copies: 10, ..Self::UNICAST }
    }
}

impl FrameConfig {
    /// Value of [`channel`](Self::channel) for every channel of the country.
    pub const ALL_CHANNELS: u8 = 15;

    /// All fields zero: to one peer, one attempt, on the current channel.
    pub const UNICAST: Self = Self {
        channel: 0,
        filter_adjacent: false,
        filter_weak: false,
        security: false,
        broadcast: false,
        group: false,
        ack: false,
        copies: 0,
        ttl: 0,
        rssi: 0,
    };

    /// Returns the fields of a flags word; reserved bits are ignored.
    #[must_use]
    #[inline]
    pub const fn from_word(word: u32) -> Self {
        Self {
            channel: (word & 0x0F) as u8,
            filter_adjacent: bit_of(word, 4),
            filter_weak: bit_of(word, 5),
            security: bit_of(word, 6),
            broadcast: bit_of(word, 11),
            group: bit_of(word, 12),
            ack: bit_of(word, 13),
            copies: (word >> 14 & 0x1F) as u8,
            ttl: (word >> 19 & 0x1F) as u8,
            rssi: (word >> 24) as u8 as i8,
        }
    }

    /// Returns the flags word; fields are cut to their width.
    #[must_use]
    pub const fn to_word(self) -> u32 {
        self.channel as u32 & 0x0F
            | (self.filter_adjacent as u32) << 4
            | (self.filter_weak as u32) << 5
            | (self.security as u32) << 6
            | (self.broadcast as u32) << 11
            | (self.group as u32) << 12
            | (self.ack as u32) << 13
            | (self.copies as u32 & 0x1F) << 14
            | (self.ttl as u32 & 0x1F) << 19
            | (self.rssi as u8 as u32) << 24
    }
}

const fn bit_of(word: u32, n: u32) -> bool {
    word >> n & 1 != 0
}

/// The component's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the payload.
    pub data_type: DataType,
    /// Two bits; [`VERSION`] in every release.
    pub version: u8,
    /// Payload length mod 256, as the sender wrote it.
    pub size: u8,
    /// Packet id.
    pub magic: u16,
    /// Flags word.
    pub config: FrameConfig,
    /// Destination: address, broadcast, or group id.
    pub dest: Mac,
    /// Source: the originator.
    pub src: Mac,
}

impl Header {
    /// Parses the header and returns it with the payload; `None` below 20 bytes.
    #[must_use]
    #[inline]
    pub fn parse(data: &[u8]) -> Option<(Self, &[u8])> {
        let (head, payload) = data.split_first_chunk::<HEADER_LEN>()?;
        let [kind, size, m0, m1, w0, w1, w2, w3, addresses @ ..] = *head;
        let header = Self {
            data_type: DataType::from_bits(kind),
            version: kind >> 4 & 3,
            size,
            magic: u16::from_le_bytes([m0, m1]),
            config: FrameConfig::from_word(u32::from_le_bytes([w0, w1, w2, w3])),
            dest: Mac::at(&addresses, 0)?,
            src: Mac::at(&addresses, 6)?,
        };
        Some((header, payload))
    }

    /// Parses only the originator and the channel, and returns them with the payload.
    #[must_use]
    #[inline]
    pub fn origin(data: &[u8]) -> Option<((Mac, u8), &[u8])> {
        let (head, payload) = data.split_first_chunk::<HEADER_LEN>()?;
        let [.., s0, s1, s2, s3, s4, s5] = *head;
        Some(((Mac([s0, s1, s2, s3, s4, s5]), head[4] & 0x0F), payload))
    }

    /// Returns whether this is the header of an application payload of `len` bytes that every
    /// release accepts and that asks for nothing else: it is not encrypted, it is meant for
    /// everybody who hears it (a unicast frame is accepted whatever its destination here), and it
    /// is neither to be acknowledged nor forwarded.
    #[must_use]
    pub fn is_plain_data(&self, len: usize) -> bool {
        let FrameConfig { filter_adjacent, filter_weak, security, group, ack, .. } = self.config;
        self.data_type == DataType::Data
            && self.version == VERSION
            && (1..=ELEMENT_MAX.saturating_sub(HEADER_LEN)).contains(&len)
            && usize::from(self.size) == len
            && !(filter_adjacent || filter_weak || security || group || ack)
            && self.config.ttl == 0
            && (!self.config.broadcast || self.dest.is_broadcast())
    }

    /// Returns the 20 bytes; reserved bits are zero.
    #[must_use]
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[0] = self.data_type as u8 | (self.version & 3) << 4;
        out[1] = self.size;
        out[2..4].copy_from_slice(&self.magic.to_le_bytes());
        out[4..8].copy_from_slice(&self.config.to_word().to_le_bytes());
        out[8..14].copy_from_slice(&self.dest.0);
        out[14..20].copy_from_slice(&self.src.0);
        out
    }

    /// Decrements the hop count of a frame that is forwarded, except where it is 0 or 31.
    /// Everything else stays as it is, reserved bits, too.
    pub fn count_hop(frame: &mut [u8]) {
        let Some(word) = frame.get_mut(4..).and_then(<[u8]>::first_chunk_mut) else { return };
        let flags = u32::from_le_bytes(*word);
        if !matches!(FrameConfig::from_word(flags).ttl, 0 | 31) {
            *word = flags.wrapping_sub(1 << 19).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::tests::vectors::{A, D, bytes, header};
    use proptest::prelude::*;

    /// Reads `wire`, which must be `want` and `payload`, and writes it again.
    fn same(wire: &str, want: Header, payload: &[u8]) {
        let wire = bytes(wire);
        assert_eq!(Header::parse(&wire), Some((want, payload)));
        let mut clean = wire[..HEADER_LEN].to_vec();
        clean[0] &= 0x3F;
        assert_eq!(want.emit()[..], clean, "but for the reserved bits");
    }

    #[test]
    fn vector_1_a_broadcast() {
        same(
            "2a 05 34 12 01 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 68 65 6c 6c 6f",
            header(DataType::Data, 5, 0x1234),
            b"hello",
        );
    }

    #[test]
    fn vectors_2_and_3_a_unicast_frame_and_its_acknowledgement() {
        let config = FrameConfig { channel: 6, ack: true, copies: 5, ..FrameConfig::UNICAST };
        let sent = Header { config, dest: D, ..header(DataType::Data, 3, 0xBEEF) };
        same(
            "2a 03 ef be 06 60 01 00 24 0a c4 00 00 02 24 0a c4 00 00 01 01 02 03",
            sent,
            &[1, 2, 3],
        );
        let config = FrameConfig { copies: 1, broadcast: true, ..config };
        let back = Header { config, dest: A, src: D, ..header(DataType::Ack, 0, 0xBEEF) };
        same("20 00 ef be 06 68 00 00 24 0a c4 00 00 01 24 0a c4 00 00 02", back, &[]);
    }

    #[test]
    fn vector_4_all_flags() {
        let config = FrameConfig {
            channel: 6,
            filter_adjacent: true,
            filter_weak: false,
            security: true,
            broadcast: true,
            group: false,
            ack: true,
            copies: 10,
            ttl: 3,
            rssi: -65,
        };
        let (dest, src) = (Mac([1, 2, 3, 4, 5, 6]), Mac([7, 8, 9, 10, 11, 12]));
        let want = Header { config, dest, src, ..header(DataType::Data, 5, 0x1234) };
        same("2a 05 34 12 56 a8 1a bf 01 02 03 04 05 06 07 08 09 0a 0b 0c", want, &[]);
    }

    #[test]
    fn vector_16_the_size_is_cut_to_a_byte() {
        let head = Header { size: 300u16 as u8, ..header(DataType::Data, 0, 1) };
        assert_eq!(head.emit()[..2], [0x2A, 0x2C]);
    }

    #[test]
    fn captured_frames_with_reserved_bits_set() {
        let mine = Mac([0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC]);
        let config = FrameConfig {
            channel: 1,
            filter_adjacent: true,
            broadcast: true,
            copies: 10,
            rssi: -65,
            ..FrameConfig::UNICAST
        };
        let request = Header { config, src: mine, ..header(DataType::Security, 1, 0xD1B8) };
        same("6c 01 b8 d1 11 88 02 bf ff ff ff ff ff ff cc 50 e3 80 10 bc 00", request, &[0]);
        let config = FrameConfig { channel: 1, copies: 1, ..FrameConfig::UNICAST };
        let src = Mac([0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C]);
        let info = header(DataType::SecurityStatus, 8, 0xF776);
        let info = Header { config, dest: mine, src, ..info };
        same(
            "eb 08 76 f7 01 40 00 00 cc 50 e3 80 10 bc 30 ae a4 1e 8d 6c 01 00 00 00 00 00 00 00",
            info,
            &[1, 0, 0, 0, 0, 0, 0, 0],
        );
    }

    #[test]
    fn types_are_numbered_as_on_the_air() {
        for (number, data_type) in DataType::ALL.into_iter().enumerate() {
            assert_eq!(data_type as usize, number);
            assert_eq!(DataType::from_bits(0xF0 | number as u8), data_type);
            assert_eq!(data_type.mask(), 1 << number);
        }
    }

    /// Checks every condition of data that any release takes for what it is and nothing else.
    #[test]
    fn plain_data_asks_for_nothing() {
        let plain = header(DataType::Data, 100, 1);
        assert!(plain.is_plain_data(100));
        let longest = Header { size: 230, ..plain };
        let shortest = Header { size: 1, ..plain };
        assert!(longest.is_plain_data(230) && shortest.is_plain_data(1));
        assert!(!Header { size: 231, ..plain }.is_plain_data(231), "beyond an element");
        assert!(!Header { size: 0, ..plain }.is_plain_data(0), "nothing");
        assert!(!plain.is_plain_data(99) && !plain.is_plain_data(356), "another size than told");
        let config = plain.config;
        for asks in [
            FrameConfig { filter_adjacent: true, ..config },
            FrameConfig { filter_weak: true, ..config },
            FrameConfig { security: true, ..config },
            FrameConfig { group: true, ..config },
            FrameConfig { ack: true, ..config },
            FrameConfig { ttl: 1, ..config },
        ] {
            assert!(!Header { config: asks, ..plain }.is_plain_data(100), "{asks:?}");
        }
        assert!(!Header { data_type: DataType::DebugLog, ..plain }.is_plain_data(100));
        assert!(!Header { version: 1, ..plain }.is_plain_data(100));
        assert!(!Header { dest: D, ..plain }.is_plain_data(100), "a broadcast to one device");
        let unicast = FrameConfig { broadcast: false, ..config };
        assert!(Header { dest: D, config: unicast, ..plain }.is_plain_data(100));
    }

    /// Writes each field of the flags word alone, and one bit too wide.
    #[test]
    fn fields_of_the_flags_word_by_hand() {
        let none = FrameConfig::UNICAST;
        for (config, word) in [
            (FrameConfig { channel: 0x1F, ..none }, 0x0000_000F),
            (FrameConfig { filter_adjacent: true, ..none }, 0x0000_0010),
            (FrameConfig { filter_weak: true, ..none }, 0x0000_0020),
            (FrameConfig { security: true, ..none }, 0x0000_0040),
            (FrameConfig { broadcast: true, ..none }, 0x0000_0800),
            (FrameConfig { group: true, ..none }, 0x0000_1000),
            (FrameConfig { ack: true, ..none }, 0x0000_2000),
            (FrameConfig { copies: 0x3F, ..none }, 0x0007_C000),
            (FrameConfig { ttl: 0x3F, ..none }, 0x00F8_0000),
            (FrameConfig { rssi: -128, ..none }, 0x8000_0000),
            (none, 0),
        ] {
            assert_eq!(config.to_word(), word, "{config:?}");
            assert_eq!(FrameConfig::from_word(word).to_word(), word);
        }
        assert_eq!(FrameConfig::from_word(0x0000_0780), none, "reserved bits");
        assert_eq!(FrameConfig::from_word(0x0008_4000), FrameConfig { copies: 1, ttl: 1, ..none });
    }

    #[test]
    fn a_hop_changes_nothing_but_the_hops() {
        for (ttl, left) in [(0, 0), (1, 0), (3, 2), (30, 29), (31, 31)] {
            let word = |ttl: u32| (!(0x1F << 19) | ttl << 19).to_le_bytes();
            let mut frame = [0xFF; HEADER_LEN];
            frame[4..8].copy_from_slice(&word(ttl));
            Header::count_hop(&mut frame);
            assert_eq!((&frame[..4], &frame[4..8]), (&[0xFF; 4][..], &word(left)[..]));
        }
        Header::count_hop(&mut [0xFF; 7]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_written_back(head: [u8; HEADER_LEN], cut in 0..HEADER_LEN) {
            let (read, _) = Header::parse(&head).unwrap();
            let again = read.emit();
            prop_assert_eq!(Header::parse(&again), Some((read, &[][..])));
            prop_assert_eq!(&again[8..], &head[8..]);
            prop_assert_eq!(Header::parse(&head[..cut]), None);
            let origin = (read.src, read.config.channel);
            prop_assert_eq!(Header::origin(&head), Some((origin, &[][..])));
            prop_assert_eq!(Header::origin(&head[..cut]), None);
        }
    }
}
