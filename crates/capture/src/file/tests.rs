//! Files by hand, in all orders of bytes and chunks.

use super::*;
use alloc::string::String;
use alloc::vec;
use proptest::prelude::*;
use std::format;

/// Bytes of words in one order.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pub(crate) swapped: bool,
}

impl Order {
    fn word(self, it: u32) -> [u8; 4] {
        if self.swapped { it.to_be_bytes() } else { it.to_le_bytes() }
    }

    fn half(self, it: u16) -> [u8; 2] {
        if self.swapped { it.to_be_bytes() } else { it.to_le_bytes() }
    }

    /// Returns a pcap file.
    pub(crate) fn pcap(self, link: u16, nanoseconds: bool, packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let magic = if nanoseconds { 0xA1B2_3C4D } else { 0xA1B2_C3D4 };
        let mut file = self.word(magic).to_vec();
        file.extend([self.half(2), self.half(4)].concat());
        for word in [0, 0, 65_535, u32::from(link)] {
            file.extend(self.word(word));
        }
        let unit = if nanoseconds { 1 } else { 1000 };
        for (ns, packet) in packets {
            let length = packet.len() as u32;
            let fraction = (ns % 1_000_000_000 / unit) as u32;
            for word in [(ns / 1_000_000_000) as u32, fraction, length, length] {
                file.extend(self.word(word));
            }
            file.extend(packet);
        }
        file
    }

    fn block(self, kind: u32, mut body: Vec<u8>) -> Vec<u8> {
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.word(body.len() as u32 + 12);
        [&self.word(kind)[..], &length, &body, &length].concat()
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut out = [self.half(code), self.half(value.len() as u16)].concat();
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    /// Returns a pcapng file with a section and an interface whose times have this resolution.
    pub(crate) fn pcapng(self, link: u16, resolution: u8, packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let order =
            [&self.word(0x1A2B_3C4D)[..], &self.half(1), &self.half(0), &[0xFF; 8]].concat();
        let options = [self.option(9, &[resolution]), self.option(0, &[])].concat();
        let interface = [&self.half(link)[..], &self.half(0), &self.word(0), &options].concat();
        let names = self.block(4, vec![0; 40]);
        let mut file = [self.block(0x0A0D_0D0A, order), self.block(1, interface), names].concat();
        for (ticks, packet) in packets {
            let length = self.word(packet.len() as u32);
            let times = [self.word((ticks >> 32) as u32), self.word(*ticks as u32)].concat();
            let mut body = [&self.word(0)[..], &times, &length, &length, packet].concat();
            body.resize(body.len().next_multiple_of(4), 0);
            body.extend(self.option(2, &self.word(CRC)));
            file.extend(self.block(6, body));
        }
        file
    }

    /// Returns a section of pcapng with an interface for each link type, and packets with their interfaces and times in
    /// nanoseconds.
    pub(crate) fn section(self, links: &[u16], packets: &[(u32, u64, Vec<u8>)]) -> Vec<u8> {
        let mut file = self.pcapng(links[0], 9, &[]);
        for link in &links[1..] {
            let options = [self.option(9, &[9]), self.option(13, &[4]), self.option(0, &[])];
            let head = [&self.half(*link)[..], &self.half(0), &self.word(0)].concat();
            file.extend(self.block(1, [head, options.concat()].concat()));
        }
        for (interface, ns, packet) in packets {
            let length = self.word(packet.len() as u32);
            let times = [self.word((ns >> 32) as u32), self.word(*ns as u32)].concat();
            let body = [&self.word(*interface)[..], &times, &length, &length, packet].concat();
            file.extend(self.block(6, body));
        }
        file
    }
}

const CRC: u32 = 1 << 24;

/// Reads a file in chunks and returns each packet as a line, then how it ended.
fn lines(file: &[u8], chunk: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut reader = CaptureReader::default();
    for part in file.chunks(chunk.max(1)) {
        let line = |it: &CapturedPacket<'_>| out.push(format!("{it:?}"));
        if let Err(wrong) = reader.push(part, &mut { line }) {
            out.push(format!("{wrong}"));
            return out;
        }
    }
    out.push(format!("{:?}", reader.finish()));
    out
}

fn times(file: &[u8]) -> Vec<(u64, Option<u64>, bool)> {
    let mut out = Vec::new();
    let mut reader = CaptureReader::default();
    reader.push(file, &mut |it| out.push((it.number, it.at_ns, it.bad))).unwrap();
    assert_eq!(reader.finish(), Ok(false));
    out
}

#[test]
fn both_orders_and_all_resolutions_tell_the_same_times() {
    let packets = [(1_500_000_000, vec![1; 9]), (1_500_001_000, vec![2; 3])];
    let expected = |bad| vec![(1, Some(1_500_000_000), bad), (2, Some(1_500_001_000), bad)];
    for swapped in [false, true] {
        let order = Order { swapped };
        for nanoseconds in [false, true] {
            assert_eq!(times(&order.pcap(127, nanoseconds, &packets)), expected(false));
        }
        assert_eq!(times(&order.pcapng(127, 9, &packets)), expected(true));
        let micro = packets.clone().map(|(ns, packet)| (ns / 1000, packet));
        assert_eq!(times(&order.pcapng(1, 6, &micro)), expected(true));
        // Units of 1/1024 s: resolution 2^-10.
        let binary = [(1536, vec![0; 4])];
        assert_eq!(times(&order.pcapng(1, 0x8A, &binary)), [(1, Some(1_500_000_000), true)]);
    }
}

#[test]
fn link_types_have_their_numbers() {
    for number in [105, 127, 192] {
        assert!(LinkType::of(number).is_air());
    }
    for number in [0, 1, 12, 101, 113, 228, 229, 276] {
        assert!(!LinkType::of(number).is_air() && LinkType::of(number) != LinkType::Other(number));
    }
    assert_eq!(LinkType::of(195), LinkType::Other(195));
}

#[test]
fn simple_and_old_packets_are_read() {
    let order = Order { swapped: false };
    let mut file = order.pcapng(101, 6, &[]);
    file.extend(order.block(3, [&order.word(3)[..], &[7, 8, 9, 0]].concat()));
    let old =
        [&[0; 4][..], &order.word(0), &order.word(5), &order.word(2), &order.word(60), &[1, 2]];
    file.extend(order.block(2, old.concat()));
    let mut seen = Vec::new();
    let mut reader = CaptureReader::default();
    reader.push(&file, &mut |it| seen.push((it.at_ns, it.octets, it.bytes.to_vec()))).unwrap();
    assert_eq!(seen, [(None, 3, vec![7, 8, 9]), (Some(5000), 60, vec![1, 2])]);
}

/// Interfaces have a link type each, and their numbers begin again in each section.
#[test]
fn interfaces_are_told_apart_over_sections() {
    for swapped in [false, true] {
        let order = Order { swapped };
        let one = order.section(&[127, 1], &[(1, 5, vec![1]), (0, 6, vec![2])]);
        let file = [one, order.section(&[105, 105], &[(1, 7, vec![3])])].concat();
        let mut seen = Vec::new();
        let mut take = |it: &CapturedPacket<'_>| seen.push((it.interface, it.link, it.fcs));
        CaptureReader::default().push(&file, &mut take).unwrap();
        let ethernet = (1, LinkType::Ethernet, Some(4));
        let bare = (3, LinkType::Ieee80211, Some(4));
        assert_eq!(seen, [ethernet, (0, LinkType::Radiotap, None), bare]);
    }
}

/// The length of the FCS is in the upper bits of pcap's link type, and in a packet's flags.
#[test]
fn files_tell_of_the_fcs() {
    let fcs = |file: &[u8]| {
        let mut seen = Vec::new();
        CaptureReader::default().push(file, &mut |it| seen.push(it.fcs)).unwrap();
        seen
    };
    let order = Order { swapped: false };
    let mut file = order.pcap(105, false, &[(0, vec![1])]);
    assert_eq!(fcs(&file), [None]);
    file[23] = 0x24;
    assert_eq!(fcs(&file), [Some(4)]);
    file[23] = 0x04;
    assert_eq!(fcs(&file), [Some(0)]);
    let mut file = order.pcapng(105, 9, &[(0, vec![1])]);
    assert_eq!(fcs(&file), [None]);
    let flags = file.len() - 8;
    file[flags] = 0x80;
    assert_eq!(fcs(&file), [Some(4)]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let order = Order { swapped: false };
    assert_eq!(lines(b"GIF89a..", 3), ["byte 0: neither pcap nor pcapng begins so"]);
    let mut long = order.pcap(127, false, &[(0, vec![1])]);
    long.extend([[0; 8], [0xFF; 8]].concat());
    assert_eq!(lines(&long, 5)[1], "byte 41: a packet is longer than a megabyte");
    let mut none = order.pcapng(1, 6, &[]);
    none.extend(order.block(6, [&order.word(3)[..], &[0; 16]].concat()));
    assert!(lines(&none, 64)[0].ends_with("names an interface that was not described"));
    let short = order.pcap(127, false, &[(0, vec![1; 40])]);
    assert_eq!(lines(&short[..50], 7), ["Ok(true)"], "a cut file");
    assert!(lines(&short[..11], 7)[0].starts_with("Err"));
}

#[test]
fn a_block_of_four_gigabytes_is_passed_over_without_memory() {
    let order = Order { swapped: false };
    let mut file = order.pcapng(1, 6, &[(1, vec![1])]);
    file.extend([order.word(0xBAD), order.word(0xFFFF_FFF0)].concat());
    let mut reader = CaptureReader::default();
    reader.push(&file, &mut |_| {}).unwrap();
    for _ in 0..100 {
        reader.push(&[0; 10_000], &mut |_| panic!("no packet is here")).unwrap();
    }
    assert!(reader.left.is_empty() && reader.finish() == Ok(true) && reader.skipped() == 1);
}

proptest! {
    /// Chunks do not matter, whatever was damaged.
    #[test]
    fn chunks_do_not_matter(
        swapped: bool,
        ng: bool,
        sizes in prop::collection::vec(0_usize..300, 0..12),
        damage in prop::option::of((0_usize..4000, any::<u8>())),
        cut in 0_usize..4000,
        chunk in 1_usize..400,
    ) {
        let packets: Vec<(u64, Vec<u8>)> =
            sizes.iter().enumerate().map(|(at, len)| (at as u64, vec![at as u8; *len])).collect();
        let order = Order { swapped };
        let mut file = if ng { order.pcapng(127, 9, &packets) } else { order.pcap(1, true, &packets) };
        if let Some((at, value)) = damage && let Some(byte) = file.get_mut(at) {
            *byte = value;
        }
        file.truncate(file.len().saturating_sub(cut % 50));
        prop_assert_eq!(lines(&file, usize::MAX), lines(&file, chunk));
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>, ng: bool) {
        let head = Order { swapped: ng };
        let mut file = if ng { head.pcapng(1, 6, &[]) } else { head.pcap(1, false, &[]) };
        file.extend(bytes);
        let _ = lines(&file, 11);
    }
}
