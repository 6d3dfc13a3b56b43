//! The PPI header (Per-Packet Information, version 0; link type 192 of captures), as AirPcap, Kismet and others write
//! it before a frame.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | version, 0 |
//! | 1 | 1 | flags: bit 0, fields are aligned to 32 bits |
//! | 2 | 2 | length of the header, fields included |
//! | 4 | 4 | link type of what follows: 105 is IEEE 802.11 |
//! | 8 | … | fields: type, length, value |
//!
//! | field | value |
//! |---|---|
//! | 2, 802.11 common | TSFT (8), flags (2: FCS at the end, TSFT in milliseconds, FCS wrong, PHY error), rate (2, 500 kbit/s), frequency (2), channel flags (2), hop set and pattern (2), signal and noise in dBm (2) |
//! | 4, 802.11n MAC and PHY | flags (4: 0x02 40 MHz, 0x04 short guard interval, 0x10 aggregate), A-MPDU number (4), delimiters (1), MCS (1), … |

use crate::radiotap::{AmpduField, ChannelField, McsField, Radiotap};

/// Link type of bare frames, which a header of 802.11 names.
pub const IEEE80211: u32 = 105;

/// Parses the header and returns the link type of what is behind it, its fields as radiotap has them, and the frame.
/// `None` for another version, and for a length that is not the packet's.
#[must_use]
pub fn parse(packet: &[u8]) -> Option<(u32, Radiotap, &[u8])> {
    let &[version, flags, l0, l1, d0, d1, d2, d3] = packet.first_chunk()?;
    let (head, frame) = packet.split_at_checked(u16::from_le_bytes([l0, l1]).into())?;
    if version != 0 {
        return None;
    }
    let mut rest = head.get(8..)?;
    let mut found = Radiotap::default();
    while let [t0, t1, n0, n1, after @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*n0, *n1]));
        let value = after.get(..length)?;
        match u16::from_le_bytes([*t0, *t1]) {
            2 => common(value, &mut found),
            4 => high_throughput(value, &mut found),
            _ => {}
        }
        let padded = if flags & 1 == 0 { length } else { length.next_multiple_of(4) };
        rest = after.get(padded..).unwrap_or_default();
    }
    Some((u32::from_le_bytes([d0, d1, d2, d3]), found, frame))
}

/// Takes the fields of "802.11 common"; a shorter one tells nothing.
fn common(value: &[u8], found: &mut Radiotap) {
    let Some(value) = value.first_chunk::<20>() else { return };
    let half = |at: usize| u16::from_le_bytes([value[at], value[at + 1]]);
    let flags = half(8);
    let tsft = value.first_chunk().copied().map(u64::from_le_bytes).unwrap_or_default();
    // 0 is unknown, and so is a signal of -128 or 0.
    found.tsft =
        Some(if flags & 2 == 0 { tsft } else { tsft.saturating_mul(1000) }).filter(|it| *it != 0);
    let fcs = if flags & 1 == 0 { 0 } else { Radiotap::FCS_AT_END };
    found.flags = Some(fcs | if flags & 4 == 0 { 0 } else { Radiotap::BAD_FCS });
    found.rate = u8::try_from(half(10)).ok().filter(|it| *it != 0);
    let channel = ChannelField { mhz: half(12), flags: half(14) };
    found.channel = Some(channel).filter(|it| it.mhz != 0);
    let dbm = |at: usize| Some(value[at] as i8).filter(|it| !matches!(it, 0 | -128));
    (found.signal, found.noise) = (dbm(18), dbm(19));
}

/// Takes the fields of "802.11n MAC and PHY".
fn high_throughput(value: &[u8], found: &mut Radiotap) {
    let Some(&[f0, _, _, _, a, b, c, d, _, mcs]) = value.first_chunk::<10>() else { return };
    found.mcs = Some(McsField::mixed(mcs, f0 & 0x02 != 0, f0 & 0x04 != 0));
    if f0 & 0x10 != 0 {
        let reference = u32::from_le_bytes([a, b, c, d]);
        found.ampdu = Some(AmpduField { reference, flags: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_by_hand() {
        let mut packet = std::vec![0, 0, 32, 0, 105, 0, 0, 0, 2, 0, 20, 0];
        packet.extend([
            0x10, 0x27, 0, 0, 0, 0, 0, 0, 5, 0, 12, 0, 0x6C, 0x09, 0x80, 0, 0, 0, 0xC4, 0xA0,
        ]);
        packet.extend([0x80, 0]);
        let (link, head, frame) = parse(&packet).unwrap();
        assert_eq!((link, frame), (IEEE80211, &[0x80, 0][..]));
        assert_eq!(
            (head.tsft, head.rate, head.signal, head.noise),
            (Some(10_000), Some(12), Some(-60), Some(-96))
        );
        assert_eq!(head.channel.and_then(ChannelField::number), Some(1));
        assert!(head.fcs_at_end() && head.bad_fcs());
        packet[10] = 40;
        assert_eq!(parse(&packet), None, "a field that runs over the header");
    }

    proptest! {
        #[test]
        fn any_bytes(bytes: std::vec::Vec<u8>) {
            if let Some((_, _, frame)) = parse(&bytes) {
                prop_assert!(bytes.ends_with(frame));
            }
        }
    }
}
