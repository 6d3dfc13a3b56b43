//! The content behind a packet's first header: a frame of IEEE 802.11 with what the radio knew of it, or an IP packet.

use crate::file::{CapturedPacket, LinkType};
use espbench_ieee80211::mpdu;
use espbench_ieee80211::ppi;
use espbench_ieee80211::radiotap::Radiotap;
use espbench_ieee80211::view::MpduView;

/// EtherTypes of IP, and of a VLAN's tag.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const TAGS: [u16; 2] = [0x8100, 0x88A8];

/// Content of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkContent<'a> {
    /// A frame of IEEE 802.11.
    Air(AirCapture80211<'a>),
    /// An IP packet, of version 4 or 6.
    Ip(&'a [u8]),
    /// Anything else.
    Other,
}

/// A frame as a radio captured it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AirCapture80211<'a> {
    /// Interface that captured it, counted over the file's sections.
    pub interface: u32,
    /// Knowledge of the capturing radio.
    pub radio: Radiotap,
    /// Octets of the MPDU with its FCS.
    pub octets: u32,
    /// Whether its FCS is wrong.
    pub bad: bool,
    /// Whether octets of the frame are missing, those of its FCS aside.
    pub cut: bool,
    /// Whether its FCS, or what a cut left of it, was found and left out.
    pub had_fcs: bool,
    /// Frame without its FCS.
    pub frame: &'a [u8],
}

impl<'a> AirCapture80211<'a> {
    /// Returns the view of the frame, without what a driver puts between header and body.
    #[must_use]
    pub fn view(&self) -> Option<MpduView<'a>> {
        let view = MpduView::parse(self.frame)?;
        let head = self.frame.len() - view.body.len();
        let pad = if self.radio.is_padded() { head.next_multiple_of(4) - head } else { 0 };
        Some(MpduView { body: view.body.get(pad..).unwrap_or_default(), ..view })
    }
}

/// Octets of the longest MPDU, which VHT and later PHYs carry (IEEE 802.11-2020, Table 9-25).
const MOST_MPDU: u32 = 11_454;

/// Returns what is behind the first header.
#[must_use]
pub fn content<'a>(packet: &CapturedPacket<'a>) -> LinkContent<'a> {
    found(packet).unwrap_or(LinkContent::Other)
}

fn found<'a>(packet: &CapturedPacket<'a>) -> Option<LinkContent<'a>> {
    let bytes = packet.bytes;
    let half = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes);
    Some(match packet.link {
        LinkType::Ieee80211 => air(packet, Radiotap::default(), bytes),
        LinkType::Radiotap => {
            let (radio, frame) = Radiotap::parse(bytes)?;
            air(packet, radio, frame)
        }
        LinkType::Ppi => match ppi::parse(bytes)? {
            (ppi::IEEE80211, radio, frame) => air(packet, radio, frame),
            _ => return None,
        },
        LinkType::Ethernet => {
            let (mut at, mut kind) = (14, half(12)?);
            while TAGS.contains(&kind) {
                (at, kind) = (at + 4, half(at + 2)?);
            }
            of_type(kind, bytes.get(at..)?)?
        }
        LinkType::RawIp => ip(bytes)?,
        LinkType::Loopback => ip(bytes.get(4..)?)?,
        LinkType::LinuxSll => of_type(half(14)?, bytes.get(16..)?)?,
        LinkType::LinuxSll2 => of_type(half(0)?, bytes.get(20..)?)?,
        LinkType::Other(_) => return None,
    })
}

fn of_type(kind: u16, bytes: &[u8]) -> Option<LinkContent<'_>> {
    if matches!(kind, IPV4 | IPV6) { ip(bytes) } else { None }
}

fn ip(bytes: &[u8]) -> Option<LinkContent<'_>> {
    matches!(bytes.first()? >> 4, 4 | 6).then_some(LinkContent::Ip(bytes))
}

fn air<'a>(packet: &CapturedPacket<'a>, radio: Radiotap, bytes: &'a [u8]) -> LinkContent<'a> {
    let head = packet.bytes.len() - bytes.len();
    let stated = packet.octets.saturating_sub(head as u32) as usize;
    let lost = stated.saturating_sub(bytes.len());
    // A file may state any length. One that no frame has is not believed, and the frame counts as long as what was kept.
    let octets = if stated as u32 <= MOST_MPDU { stated } else { 0 }.max(bytes.len()) as u32;
    let told = match (radio.flags, packet.fcs) {
        (Some(_), _) => Some(radio.fcs_at_end()),
        (None, told) => told.map(|it| usize::from(it) == mpdu::FCS_LEN),
    };
    // Where nothing tells whether the FCS is there, a right one tells it.
    let has_fcs = told.unwrap_or_else(|| ends_with_fcs(bytes, lost));
    let left = if has_fcs { mpdu::FCS_LEN.saturating_sub(lost) } else { 0 };
    let octets = if has_fcs { octets } else { octets.saturating_add(mpdu::FCS_LEN as u32) };
    LinkContent::Air(AirCapture80211 {
        interface: packet.interface,
        radio,
        octets,
        bad: radio.bad_fcs() || packet.bad,
        cut: lost > if has_fcs { mpdu::FCS_LEN } else { 0 },
        had_fcs: has_fcs,
        frame: bytes.get(..bytes.len().saturating_sub(left)).unwrap_or_default(),
    })
}

/// Returns whether a frame that was cut by `lost` octets ends with what is left of its FCS. One octet that is right may
/// be so by chance.
fn ends_with_fcs(bytes: &[u8], lost: usize) -> bool {
    let left = mpdu::FCS_LEN.saturating_sub(lost);
    let parts = bytes.len().checked_sub(left).and_then(|at| bytes.split_at_checked(at));
    left >= 2 && parts.is_some_and(|(frame, fcs)| mpdu::crc32(frame).to_le_bytes().starts_with(fcs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use espbench_ieee80211::mac::Mac;
    use espbench_ieee80211::mpdu::AckFrame;
    use proptest::prelude::*;

    fn packet(link: u16, bytes: &[u8]) -> CapturedPacket<'_> {
        let link = LinkType::of(link);
        CapturedPacket {
            number: 1,
            at_ns: None,
            interface: 0,
            link,
            octets: bytes.len() as u32,
            bad: false,
            fcs: None,
            simulated: false,
            bytes,
        }
    }

    #[test]
    fn an_ip_packet_is_behind_each_header() {
        let ip = [0x45, 0, 0, 20];
        let behind = |head: &[u8]| [head, &ip].concat();
        let ethernet = behind(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
        let tagged = behind(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 5, 8, 0]);
        let cooked = behind(&[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
        let cooked2 = behind(&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]);
        for (link, bytes) in [
            (1, ethernet),
            (1, tagged),
            (101, ip.to_vec()),
            (228, ip.to_vec()),
            (0, behind(&[2, 0, 0, 0])),
            (113, cooked),
            (276, cooked2),
        ] {
            assert_eq!(content(&packet(link, &bytes)), LinkContent::Ip(&ip), "{link}");
        }
        assert_eq!(content(&packet(195, &ip)), LinkContent::Other);
        assert_eq!(content(&packet(1, &[0; 14])), LinkContent::Other);
    }

    #[test]
    fn an_fcs_is_found_where_no_header_tells_of_it() {
        let ack = AckFrame { duration: 0, receiver: Mac([2; 6]) }.emit();
        for (bytes, octets) in [(&ack[..], 14), (&ack[..10], 14)] {
            let LinkContent::Air(air) = content(&packet(105, bytes)) else { panic!("of the air") };
            assert_eq!((air.frame, air.octets, air.bad), (&ack[..10], octets, false));
        }
        let mut head = [0; Radiotap::EMIT_MAX];
        let len = Radiotap::captured(5, 1, -40).emit(&mut head).unwrap();
        let bytes = [&head[..len], &ack].concat();
        let LinkContent::Air(air) = content(&packet(127, &bytes)) else { panic!("of the air") };
        assert_eq!((air.frame, air.octets, air.radio.signal), (&ack[..10], 14, Some(-40)));
        // One that was cut has its length.
        let cut = CapturedPacket { octets: 400, ..packet(127, &bytes) };
        let LinkContent::Air(air) = content(&cut) else { panic!("of the air") };
        assert_eq!((air.frame.len(), air.octets), (14, 400 - len as u32));
        // No frame is as long as this one is said to be.
        let endless = CapturedPacket { octets: u32::MAX, ..packet(127, &bytes) };
        let LinkContent::Air(air) = content(&endless) else { panic!("of the air") };
        assert_eq!((air.frame.len(), air.octets), (14, 14));
    }

    /// However much of it a cut left; one octet alone may be right by chance.
    #[test]
    fn a_part_of_an_fcs_is_no_part_of_the_frame() {
        let ack = AckFrame { duration: 0, receiver: Mac([2; 6]) }.emit();
        let mut head = [0; Radiotap::EMIT_MAX];
        let len = Radiotap::captured(5, 1, -40).emit(&mut head).unwrap();
        for lost in 0..=6 {
            let kept = &ack[..ack.len() - lost];
            let bytes = [&head[..len], kept].concat();
            let cut = CapturedPacket { octets: (len + 14) as u32, ..packet(127, &bytes) };
            let LinkContent::Air(air) = content(&cut) else { panic!("of the air") };
            assert_eq!((air.frame, air.octets), (&ack[..kept.len().min(10)], 14), "{lost}");
            assert_eq!((air.cut, air.had_fcs), (lost > 4, true));
            let bare = CapturedPacket { octets: 14, ..packet(105, kept) };
            let told = CapturedPacket { fcs: Some(4), ..bare };
            let LinkContent::Air(air) = content(&told) else { panic!("of the air") };
            assert_eq!((air.frame.len(), air.cut), (kept.len().min(10), lost > 4), "{lost}");
            let LinkContent::Air(air) = content(&bare) else { panic!("of the air") };
            assert_eq!((air.frame.len() == 10, air.cut), (lost <= 2 || lost == 4, lost > 2));
        }
    }

    /// Some drivers put the body of a frame at a multiple of four octets.
    #[test]
    fn padding_behind_a_header_is_no_part_of_the_body() {
        let mut frame = [0; 36];
        frame[0] = 0x88;
        frame[28..].copy_from_slice(b"\xAA\xAA\x03\0\0\0\x08\0");
        let mut air = AirCapture80211 { frame: &frame, ..AirCapture80211::default() };
        assert_eq!(air.view().unwrap().packet(), None);
        air.radio.flags = Some(Radiotap::PADDED);
        assert_eq!(air.view().unwrap().packet(), Some((IPV4, &[][..])));
    }

    proptest! {
        #[test]
        fn any_bytes(link in 0_u16..300, bytes: Vec<u8>, octets: u32) {
            if let LinkContent::Air(air) = content(&CapturedPacket { octets, ..packet(link, &bytes) }) {
                prop_assert!(air.view().is_none_or(|it| air.frame.ends_with(it.body)));
            }
        }
    }
}
