//! The file format of Wireshark: pcapng (draft-ietf-opsawg-pcapng), little-endian, one section.
//!
//! Written here and not with the crate `pcap-file`: its 2.0 is of 2023, and its 3.0, which changes
//! all of pcapng, has had release candidates only; what is needed are four kinds of blocks.
//!
//! A block is its type, its length, its body padded to 32 bits, options, and its length again.
//!
//! | block | type | body |
//! |---|---|---|
//! | section header | 0x0A0D0D0A | 0x1A2B3C4D, version 1.0, length not given |
//! | interface description | 1 | link type 127 (radiotap, then IEEE 802.11), longest packet |
//! | name resolution | 4 | records: kind 3, a 48-bit address and its name |
//! | enhanced packet | 6 | interface, time (two words, the high one first), lengths, the packet |
//!
//! An option is its code, its length, and its value padded to 32 bits; code 0 ends the list.

use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use std::io::{self, Write};

/// `LINKTYPE_IEEE802_11_RADIOTAP`.
const LINK_TYPE: u16 = 127;
/// Longest packet that is kept: far more than radiotap and the longest frame have.
const SNAP_LEN: u32 = 65_535;
/// Longest text of an option.
const TEXT_MAX: usize = 1024;

/// Types of blocks.
mod block {
    pub(super) const SECTION: u32 = 0x0A0D_0D0A;
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const NAMES: u32 = 4;
    pub(super) const PACKET: u32 = 6;
}

/// Codes of options; what a code means depends on its block, but for the comment.
mod code {
    pub(super) const COMMENT: u16 = 1;
    /// Of a section.
    pub(super) const HARDWARE: u16 = 2;
    pub(super) const OS: u16 = 3;
    pub(super) const APPLICATION: u16 = 4;
    /// Of an interface.
    pub(super) const NAME: u16 = 2;
    pub(super) const DESCRIPTION: u16 = 3;
    /// Of an interface: units of time as a power of ten, negated.
    pub(super) const TSRESOL: u16 = 9;
    /// Of a packet: bits 0 and 1 its direction, bit 24 a wrong checksum.
    pub(super) const FLAGS: u16 = 2;
    /// A record of names, not an option: an address and its name.
    pub(super) const EUI48: u16 = 3;
}

/// The description that a file gives of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PcapngSection<'a> {
    /// Hardware that the file was captured on.
    pub(super) hardware: &'a str,
    /// The operating system.
    pub(super) os: &'a str,
    /// Application that wrote the file.
    pub(super) application: &'a str,
    /// Anything else.
    pub(super) comment: &'a str,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PcapngPacket<'a> {
    /// When it was captured.
    pub(super) at: Instant,
    /// Radiotap and the frame.
    pub(super) parts: [&'a [u8]; 2],
    /// Whether its checksum is wrong.
    pub(super) bad: bool,
    /// A remark for whoever reads it; empty: none.
    pub(super) comment: &'a str,
}

/// Writes a file with one interface.
#[derive(Debug)]
pub(super) struct PcapngWriter<W> {
    out: W,
    body: Vec<u8>,
    /// Packets written.
    pub(super) packets: u64,
}

impl<W: Write> PcapngWriter<W> {
    pub(super) fn new(out: W, section: &PcapngSection<'_>) -> io::Result<Self> {
        let mut writer = Self { out, body: Vec::new(), packets: 0 };
        writer.body.extend(0x1A2B_3C4D_u32.to_le_bytes());
        writer.body.extend([1, 0, 0, 0]);
        writer.body.extend([0xFF; 8]);
        let PcapngSection { hardware, os, application, comment } = section;
        writer.texts(&[
            (code::COMMENT, comment),
            (code::HARDWARE, hardware),
            (code::OS, os),
            (code::APPLICATION, application),
        ]);
        writer.block(block::SECTION)?;
        Ok(writer)
    }

    /// Describes the interface that all packets are from.
    pub(super) fn interface(&mut self, name: &str, description: &str) -> io::Result<()> {
        self.body.extend(LINK_TYPE.to_le_bytes());
        self.body.extend([0, 0]);
        self.body.extend(SNAP_LEN.to_le_bytes());
        self.option(code::TSRESOL, &[9]);
        self.texts(&[(code::NAME, name), (code::DESCRIPTION, description)]);
        self.block(block::INTERFACE)
    }

    /// Tells the names of addresses. Not every reader takes them: tshark 4.0 passes over them.
    pub(super) fn names<'a>(
        &mut self,
        names: impl Iterator<Item = (Mac, &'a str)>,
    ) -> io::Result<()> {
        for (mac, name) in names {
            let mut value = mac.0.to_vec();
            // The name ends with a zero, so it has none.
            value.extend(cut(name).bytes().filter(|&it| it != 0));
            value.push(0);
            self.option(code::EUI48, &value);
        }
        self.body.extend([0; 4]);
        self.block(block::NAMES)
    }

    pub(super) fn packet(&mut self, packet: &PcapngPacket<'_>) -> io::Result<()> {
        let nanos = packet.at.as_nanos();
        let len: usize = packet.parts.iter().map(|part| part.len()).sum();
        let kept = len.min(SNAP_LEN as usize);
        for word in [0, (nanos >> 32) as u32, nanos as u32, kept as u32, len as u32] {
            self.body.extend(word.to_le_bytes());
        }
        let end = self.body.len() + kept;
        for part in packet.parts {
            self.body.extend_from_slice(part);
        }
        self.body.truncate(end);
        self.pad();
        if packet.bad {
            self.option(code::FLAGS, &(1_u32 << 24).to_le_bytes());
        }
        self.texts(&[(code::COMMENT, packet.comment)]);
        self.packets += 1;
        self.block(block::PACKET)
    }

    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.packets)
    }

    /// Writes options that are texts, without the empty ones, and the end of the block's list.
    fn texts(&mut self, texts: &[(u16, &str)]) {
        for (code, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            self.option(*code, cut(text).as_bytes());
        }
        self.body.extend([0; 4]);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.body.extend(code.to_le_bytes());
        self.body.extend((value.len() as u16).to_le_bytes());
        self.body.extend_from_slice(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn block(&mut self, kind: u32) -> io::Result<()> {
        let len = (self.body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&len)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&len)?;
        self.body.clear();
        Ok(())
    }
}

/// Cuts a text between characters, and returns its beginning.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A block as it is read: its kind, its fixed part and content, and its options.
    #[derive(Debug, PartialEq, Eq)]
    pub(in super::super) struct PcapngBlock {
        pub(in super::super) kind: u32,
        pub(in super::super) body: Vec<u8>,
        pub(in super::super) options: Vec<(u16, Vec<u8>)>,
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Reads by the draft, as strictly as one can; panics where a file is wrong.
    pub(in super::super) fn read(mut rest: &[u8]) -> Vec<PcapngBlock> {
        let mut blocks = Vec::new();
        while !rest.is_empty() {
            let (kind, len) = (word(rest, 0), word(rest, 4) as usize);
            assert!(len.is_multiple_of(4), "blocks end on 32 bits");
            let (block, after) = rest.split_at(len);
            assert_eq!(word(block, len - 4) as usize, len, "the length again");
            let inner = &block[8..len - 4];
            let fixed = match kind {
                block::SECTION => {
                    assert_eq!((word(inner, 0), word(inner, 4)), (0x1A2B_3C4D, 1));
                    16
                }
                block::INTERFACE => 8,
                block::PACKET => 20 + (word(inner, 12) as usize).next_multiple_of(4),
                block::NAMES => 0,
                _ => panic!("an unknown block {kind:#x}"),
            };
            let (body, options) = inner.split_at(fixed);
            blocks.push(PcapngBlock { kind, body: body.into(), options: read_options(options) });
            rest = after;
        }
        assert_eq!(blocks[0].kind, block::SECTION);
        blocks
    }

    fn read_options(mut rest: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut options = Vec::new();
        loop {
            let half = |at: usize| u16::from_le_bytes([rest[at], rest[at + 1]]);
            let (code, len) = (half(0), usize::from(half(2)));
            let (value, after) = rest[4..].split_at(len.next_multiple_of(4));
            rest = after;
            if code == 0 {
                assert!(rest.is_empty() && len == 0, "the end of the options ends them");
                return options;
            }
            assert!(value[len..].iter().all(|&it| it == 0));
            options.push((code, value[..len].into()));
        }
    }

    proptest! {
            #[test]
            fn what_is_written_reads_back(
                texts in prop::array::uniform4("\\PC{0,12}"),
                name in "\\PC{0,1100}",
                packets in prop::collection::vec(
                    (any::<u64>(), prop::collection::vec(any::<u8>(), 0..70), any::<bool>(), "\\PC{0,9}"),
                    0..6,
                ),
            ) {
                let mut bytes = Vec::new();
                let [hardware, os, application, comment] = &texts;
                let mut writer =
                    PcapngWriter::new(&mut bytes, &PcapngSection { hardware, os, application, comment }).unwrap();
                writer.interface(&name, "here").unwrap();
                writer.names([(Mac([2, 0, 0, 0, 0, 1]), name.as_str())].into_iter()).unwrap();
                for (nanos, data, bad, comment) in &packets {
                    let at = Instant::from_nanos(*nanos);
                    let parts = data.split_at(data.len() / 3);
                    let parts = [parts.0, parts.1];
                    writer.packet(&PcapngPacket { at, parts, bad: *bad, comment }).unwrap();
                }
                prop_assert_eq!(writer.finish().unwrap(), packets.len() as u64);
                let blocks = read(&bytes);
                let text = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
                let of = |block: &PcapngBlock, code: u16| {
                    block.options.iter().find(|it| it.0 == code).map(|it| it.1.clone())
                };
                for (code, wanted) in [
     (code::COMMENT, comment), (code::HARDWARE, hardware), (code::OS, os), (code::APPLICATION, application),
    ] {
                    prop_assert_eq!(of(&blocks[0], code), text(wanted));
                }
                prop_assert_eq!(of(&blocks[1], code::NAME), text(cut(&name)));
                prop_assert_eq!(of(&blocks[1], code::TSRESOL), Some(vec![9]));
                prop_assert_eq!(&blocks[2].options[0].1[..6], &[2, 0, 0, 0, 0, 1]);
                prop_assert_eq!(blocks.len(), 3 + packets.len());
                for (block, (nanos, data, bad, comment)) in blocks[3..].iter().zip(&packets) {
                    let time = u64::from(word(&block.body, 4)) << 32 | u64::from(word(&block.body, 8));
                    prop_assert_eq!(time, *nanos);
                    prop_assert_eq!(word(&block.body, 16) as usize, data.len());
                    prop_assert_eq!(&block.body[20..20 + data.len()], &data[..]);
                    prop_assert_eq!(of(block, code::FLAGS).is_some(), *bad);
                    prop_assert_eq!(of(block, code::COMMENT), text(comment));
                }
            }
        }
}
