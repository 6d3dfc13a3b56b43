//! The blocks of pcapng (draft-ietf-opsawg-pcapng).
//!
//! | block | type | body |
//! |---|---|---|
//! | section header | 0x0A0D0D0A | 0x1A2B3C4D in the section's order of bytes, version, length, options; option 3: operating system |
//! | interface description | 1 | link type, 0, longest packet; option 9: resolution of time, 13: octets of the FCS, 14: offset of time in seconds |
//! | packet (old) | 2 | interface, drops, time, lengths, packet |
//! | simple packet | 3 | length, packet; of interface 0, without a time |
//! | enhanced packet | 6 | interface, time, lengths, packet; option 2: flags, bits 5 to 8 octets of the FCS, bit 24 a wrong checksum |
//!
//! Other blocks (names, statistics, keys, those of vendors) are passed over.

use super::{
    CaptureError, CaptureFault, CaptureReader, CapturedPacket, FileForm, LinkType, MOST_PACKET,
    Sink, VIRTUAL_TIME, half, word,
};

/// Type of a section header, the same in both orders of bytes.
pub(super) const SECTION: u32 = 0x0A0D_0D0A;
const SECTION_ORDER: u32 = 0x1A2B_3C4D;

/// The most interfaces of a section.
const MOST_INTERFACES: usize = 256;

/// A block has at least its type and twice its length.
const LEAST_BLOCK: usize = 12;

/// The longest block with a packet that is read: the packet and its options.
const MOST_BLOCK: usize = MOST_PACKET + (1 << 17);

const CRC_ERROR: u32 = 1 << 24;

/// An interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    link: LinkType,
    /// Longest packet; 0 is any.
    most: u32,
    /// Ticks a second.
    ticks: u64,
    offset_s: i64,
    fcs: Option<u8>,
}

impl CaptureReader {
    /// Reads a block, and returns its length; `None` where more bytes are needed.
    pub(super) fn block(
        &mut self,
        data: &[u8],
        mut swapped: bool,
        sink: &mut Sink<'_>,
    ) -> Result<Option<usize>, CaptureError> {
        let Some(kind) = word(data, 0, swapped) else { return Ok(None) };
        if kind == SECTION {
            let Some(order) = word(data, 8, false) else { return Ok(None) };
            swapped = order != SECTION_ORDER;
            if swapped && order.swap_bytes() != SECTION_ORDER {
                return Err(self.wrong(CaptureFault::Order));
            }
            self.form = FileForm::Pcapng { swapped };
        }
        let Some(length) = word(data, 4, swapped) else { return Ok(None) };
        let length = length as usize;
        if length < LEAST_BLOCK || !length.is_multiple_of(4) {
            return Err(self.wrong(CaptureFault::Block));
        }
        let is_read = matches!(kind, SECTION | 1 | 2 | 3 | 6);
        if length > MOST_BLOCK && is_read {
            return Err(self.wrong(CaptureFault::Length));
        }
        if !is_read {
            self.skip = length as u64;
            self.skipped += u64::from(length > MOST_BLOCK);
            return Ok(Some(0));
        }
        let Some(block) = data.get(..length) else { return Ok(None) };
        let body = block.get(8..length - 4).unwrap_or_default();
        match kind {
            SECTION => {
                let before = self.interfaces.len() as u32;
                self.earlier_interfaces = self.earlier_interfaces.saturating_add(before);
                self.interfaces.clear();
                let system = option(body, 16, 3, swapped).unwrap_or_default();
                let is_virtual = system == VIRTUAL_TIME.as_bytes();
                self.simulated = Some(is_virtual && self.simulated != Some(false));
            }
            1 if self.interfaces.len() < MOST_INTERFACES => {
                self.interfaces.push(Interface::parse(body, swapped));
            }
            1 => {}
            _ => self.packet(kind, body, swapped, sink)?,
        }
        Ok(Some(length))
    }

    fn packet(
        &mut self,
        kind: u32,
        body: &[u8],
        swapped: bool,
        sink: &mut Sink<'_>,
    ) -> Result<(), CaptureError> {
        let at = |offset| word(body, offset, swapped);
        let number = match kind {
            2 => half(body, 0, swapped).map(u32::from),
            3 => Some(0),
            _ => at(0),
        };
        let number = number.ok_or_else(|| self.wrong(CaptureFault::Block))?;
        let Some(&interface) = self.interfaces.get(number as usize) else {
            return Err(self.wrong(CaptureFault::Interface));
        };
        let (kept, octets, from) = if kind == 3 {
            let most = if interface.most == 0 { u32::MAX } else { interface.most };
            (at(0).map(|it| it.min(most)), at(0), 4)
        } else {
            (at(12), at(16), 20)
        };
        let found = kept.zip(octets).and_then(|(kept, octets)| {
            let end = from + kept as usize;
            Some((body.get(from..end)?, octets, end.next_multiple_of(4)))
        });
        let Some((bytes, octets, options)) = found else {
            return Err(self.wrong(CaptureFault::Block));
        };
        let time = at(4).zip(at(8)).filter(|_| kind != 3);
        let at_ns = time.and_then(|(high, low)| interface.nanoseconds(high, low));
        let flags = if kind == 6 { option(body, options, 2, swapped) } else { None };
        let flags = flags.and_then(|it| word(it, 0, swapped)).unwrap_or_default();
        let fcs = Some((flags >> 5 & 0x0F) as u8).filter(|it| *it > 0);
        self.packets += 1;
        sink(&CapturedPacket {
            number: self.packets,
            at_ns,
            interface: self.earlier_interfaces.saturating_add(number),
            link: interface.link,
            octets,
            bad: flags & CRC_ERROR != 0,
            fcs: fcs.or(interface.fcs),
            simulated: self.is_simulated(),
            bytes,
        });
        Ok(())
    }
}

impl Interface {
    fn parse(body: &[u8], swapped: bool) -> Self {
        let link = LinkType::of(half(body, 0, swapped).unwrap_or(u16::MAX));
        let resolution = option(body, 8, 9, swapped).and_then(|it| it.first().copied());
        let ticks = resolution.map_or(1_000_000, |it| {
            let base: u64 = if it & 0x80 == 0 { 10 } else { 2 };
            base.checked_pow(u32::from(it & 0x7F)).unwrap_or(1_000_000)
        });
        let offset = option(body, 8, 14, swapped).and_then(|it| it.first_chunk().copied());
        let offset_s = offset
            .map_or(0, |it| if swapped { i64::from_be_bytes(it) } else { i64::from_le_bytes(it) });
        let fcs = option(body, 8, 13, swapped).and_then(|it| it.first().copied());
        Self { link, most: word(body, 4, swapped).unwrap_or_default(), ticks, offset_s, fcs }
    }

    /// Returns the time of a packet; `None` for one that 64 bits do not hold.
    fn nanoseconds(self, high: u32, low: u32) -> Option<u64> {
        let time = u64::from(high) << 32 | u64::from(low);
        let ns = match self.ticks {
            1_000_000_000 => i128::from(time),
            1_000_000 => i128::from(time) * 1000,
            ticks => i128::from(time) * 1_000_000_000 / i128::from(ticks),
        };
        u64::try_from(ns + i128::from(self.offset_s) * 1_000_000_000).ok()
    }
}

/// Returns the value of an option, of those that begin at `at`.
fn option(body: &[u8], mut at: usize, wanted: u16, swapped: bool) -> Option<&[u8]> {
    loop {
        let (code, length) = (half(body, at, swapped)?, half(body, at + 2, swapped)?);
        if code == 0 {
            return None;
        }
        let begin = at + 4;
        if code == wanted {
            return body.get(begin..begin + usize::from(length));
        }
        at = begin + usize::from(length).next_multiple_of(4);
    }
}
