//! An MPDU of any type as a capture shows it (IEEE Std 802.11-2020, 9.2 and 9.3).
//!
//! | type | addresses after frame control and duration |
//! |---|---|
//! | management | receiver, transmitter, BSSID, sequence control |
//! | control | receiver; a transmitter too, but in ACK and CTS |
//! | data | receiver, transmitter, third, sequence control; a fourth where both DS bits are set; QoS Control in QoS frames |
//!
//! With the order bit, management and QoS frames have four octets of HT Control before their body.

use crate::mac::Mac;
use crate::mpdu::FrameControl;
use crate::wlan::LLC_SNAP;

/// Type of an MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MpduType {
    /// Management: beacons, joining, action frames.
    Management,
    /// Control: ACK, RTS, block ack.
    Control,
    /// Data and null frames.
    Data,
    /// Extension (DMG, S1G).
    Extension,
}

/// View of an MPDU without its FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpduView<'a> {
    /// Frame control.
    pub control: FrameControl,
    /// Duration/ID field.
    pub duration: u16,
    /// Address 1.
    pub receiver: Mac,
    /// Address 2, where the frame has one.
    pub transmitter: Option<Mac>,
    /// Address 3, where the frame has one.
    pub third: Option<Mac>,
    /// Sequence number, where the frame has one.
    pub sequence: Option<u16>,
    /// Fragment number.
    pub fragment: u8,
    /// QoS Control, of QoS data and QoS null frames.
    pub qos: Option<u16>,
    /// Octets behind the header, encrypted where the protected bit is set.
    pub body: &'a [u8],
}

/// Subtypes of control frames that have no transmitter: CTS and ACK.
const WITHOUT_TRANSMITTER: [u8; 2] = [12, 13];

impl<'a> MpduView<'a> {
    /// Parses a frame without its FCS; `None` for another protocol version, an extension frame, or a frame that is
    /// shorter than its header.
    #[must_use]
    pub fn parse(frame: &'a [u8]) -> Option<Self> {
        let word = |at: usize| frame.get(at..)?.first_chunk().copied().map(u16::from_le_bytes);
        let control = FrameControl(word(0)?);
        if control.0 & 3 != 0 {
            return None;
        }
        let (duration, receiver) = (word(2)?, Mac::at(frame, 4)?);
        let view = Self {
            control,
            duration,
            receiver,
            transmitter: None,
            third: None,
            sequence: None,
            fragment: 0,
            qos: None,
            body: &[],
        };
        match view.kind() {
            MpduType::Extension => None,
            MpduType::Control => {
                if WITHOUT_TRANSMITTER.contains(&view.subtype()) {
                    return Some(Self { body: frame.get(10..)?, ..view });
                }
                Some(Self {
                    transmitter: Some(Mac::at(frame, 10)?),
                    body: frame.get(16..)?,
                    ..view
                })
            }
            kind @ (MpduType::Management | MpduType::Data) => {
                let number = word(22)?;
                let is_data = kind == MpduType::Data;
                let mut at = if is_data && control.0 & 0x0300 == 0x0300 { 30 } else { 24 };
                let mut qos = None;
                if is_data && control.0 & 0x0080 != 0 {
                    qos = Some(word(at)?);
                    at += 2;
                }
                if control.0 & 0x8000 != 0 && (qos.is_some() || !is_data) {
                    at += 4;
                }
                Some(Self {
                    transmitter: Some(Mac::at(frame, 10)?),
                    third: Some(Mac::at(frame, 16)?),
                    sequence: Some(number >> 4),
                    fragment: (number & 0x0F) as u8,
                    qos,
                    body: frame.get(at..)?,
                    ..view
                })
            }
        }
    }

    /// Returns the type.
    #[must_use]
    pub const fn kind(&self) -> MpduType {
        match self.control.0 >> 2 & 3 {
            0 => MpduType::Management,
            1 => MpduType::Control,
            2 => MpduType::Data,
            _ => MpduType::Extension,
        }
    }

    /// Returns the subtype, four bits.
    #[must_use]
    pub const fn subtype(&self) -> u8 {
        (self.control.0 >> 4 & 0x0F) as u8
    }

    /// Returns whether the frame is for one receiver.
    #[must_use]
    pub const fn is_unicast(&self) -> bool {
        self.receiver.0[0] & 1 == 0
    }

    /// Returns the address of the sender. That of a control frame may have its group bit set, which tells of a bandwidth
    /// (9.2.4.3.8).
    #[must_use]
    pub fn sender(&self) -> Option<Mac> {
        let mut from = self.transmitter?;
        if self.kind() == MpduType::Control {
            from.0[0] &= !1;
        }
        Some(from)
    }

    /// Returns whether the frame is a beacon.
    #[must_use]
    pub const fn is_beacon(&self) -> bool {
        matches!(self.kind(), MpduType::Management) && self.subtype() == 8
    }

    /// Returns whether the frame is a probe request.
    #[must_use]
    pub const fn is_probe_request(&self) -> bool {
        matches!(self.kind(), MpduType::Management) && self.subtype() == 4
    }

    /// Returns whether the frame is a QoS null frame, whose sequence number may be any (10.3.2.14.2).
    #[must_use]
    pub const fn is_qos_null(&self) -> bool {
        matches!(self.kind(), MpduType::Data) && self.subtype() == 12
    }

    /// Returns the traffic identifier whose sequence numbers are counted by themselves for each receiver: that of QoS
    /// data to one receiver (10.3.2.14.2). All else of a sender shares one counter.
    #[must_use]
    pub fn own_counter(&self) -> Option<u8> {
        self.qos.filter(|_| self.is_unicast()).map(|it| (it & 0x0F) as u8)
    }

    /// Returns whether its sender waits for an acknowledgement: not with the ack policy "no ack" (9.2.4.5.4), nor of the
    /// action frames that ask for none (9.3.3.14).
    #[must_use]
    pub const fn asks_for_ack(&self) -> bool {
        let is_no_ack = matches!(self.qos, Some(qos) if qos >> 5 & 3 == 1);
        let is_action_no_ack = matches!(self.kind(), MpduType::Management) && self.subtype() == 14;
        !is_no_ack && !is_action_no_ack
    }

    /// Returns whether the frame goes to the distribution system.
    #[must_use]
    pub const fn to_ds(&self) -> bool {
        self.control.0 & 0x0100 != 0
    }

    /// Returns whether the frame comes from the distribution system.
    #[must_use]
    pub const fn from_ds(&self) -> bool {
        self.control.0 & 0x0200 != 0
    }

    /// Returns whether the sender says that it dozes after the exchange.
    #[must_use]
    pub const fn power_management(&self) -> bool {
        self.control.0 & 0x1000 != 0
    }

    /// Returns whether the body is a data frame's MSDU: a null frame has none.
    #[must_use]
    pub const fn has_msdu(&self) -> bool {
        matches!(self.kind(), MpduType::Data) && self.subtype() & 4 == 0
    }

    /// Returns the EtherType and the packet of an unencrypted data frame; of an A-MSDU, those of its first part.
    /// `None` for all other frames, and for fragments behind the first.
    #[must_use]
    pub fn packet(&self) -> Option<(u16, &'a [u8])> {
        self.packets().next()
    }

    /// Returns the EtherTypes and the packets of an unencrypted data frame: of an A-MSDU all that are of SNAP, of another
    /// frame one. None for all other frames, and for fragments behind the first.
    pub fn packets(&self) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
        let is_read = self.has_msdu() && !self.control.protected() && self.fragment == 0;
        let is_aggregated = matches!(self.qos, Some(qos) if qos & 0x0080 != 0);
        let mut rest = if is_read { self.body } else { &[] };
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            if !is_aggregated {
                return Some(core::mem::take(&mut rest));
            }
            // Each part has two addresses and a length before it, and begins at a multiple of four (9.3.2.2.2).
            let (head, behind) = rest.split_first_chunk::<14>()?;
            let length = usize::from(u16::from_be_bytes([head[12], head[13]]));
            let next = (head.len() + length).next_multiple_of(4);
            rest = rest.get(next..).unwrap_or_default();
            Some(behind.get(..length).unwrap_or(behind))
        })
        .filter_map(|msdu| {
            let (kind, packet) = msdu.strip_prefix(&LLC_SNAP)?.split_first_chunk()?;
            Some((u16::from_be_bytes(*kind), packet))
        })
    }
}

/// Returns the body of the first element with this id among elements; `None` if there is none.
#[must_use]
pub fn element(mut elements: &[u8], wanted: u8) -> Option<&[u8]> {
    while let [id, len, rest @ ..] = elements {
        let (body, after) = rest.split_at_checked(usize::from(*len))?;
        if *id == wanted {
            return Some(body);
        }
        elements = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan::{self, ControlFrame, DataFrame, DsDirection};
    use proptest::prelude::*;

    const AP: Mac = Mac([2, 0, 0, 1, 0, 0]);
    const STATION: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);

    #[test]
    fn a_qos_frame_has_its_packet() {
        let frame = DataFrame {
            way: DsDirection::Up,
            qos: true,
            retry: true,
            power_management: true,
            more_data: false,
            duration: 44,
            receiver: AP,
            transmitter: STATION,
            third: AP,
            sequence: 77,
        };
        let mut buf = [0; 64];
        let len = frame.emit(Some((wlan::IPV4, b"packet")), &mut buf).unwrap();
        let view = MpduView::parse(&buf[..len - 4]).unwrap();
        assert_eq!((view.kind(), view.subtype()), (MpduType::Data, 8));
        assert_eq!((view.transmitter, view.sequence), (Some(STATION), Some(77)));
        assert!(view.control.retry() && view.power_management() && view.to_ds() && !view.from_ds());
        assert_eq!(view.packet(), Some((wlan::IPV4, &b"packet"[..])));
        let null = frame.emit(None, &mut buf).unwrap();
        let view = MpduView::parse(&buf[..null - 4]).unwrap();
        assert!(!view.has_msdu() && view.packet().is_none() && view.is_unicast());
    }

    /// Two parts, the first filled up to a multiple of four; a third that is cut.
    #[test]
    fn an_a_msdu_has_several_packets() {
        let part = |packet: &[u8], length: usize| {
            let head = [&[0; 12][..], &(8 + length as u16).to_be_bytes(), &LLC_SNAP].concat();
            [&head[..], &[8, 0], packet].concat()
        };
        let mut frame = [0; 26].to_vec();
        (frame[0], frame[1], frame[24]) = (0x88, 2, 0x80);
        frame.extend(part(b"first", 5));
        frame.resize(frame.len() + 1, 0);
        frame.extend([part(b"it's second!!", 13), [0].into(), part(b"cut", 40)].concat());
        let view = MpduView::parse(&frame).unwrap();
        let packets: std::vec::Vec<_> = view.packets().map(|it| it.1).collect();
        assert_eq!(packets, [&b"first"[..], b"it's second!!", b"cut"]);
        assert_eq!(view.packet(), Some((wlan::IPV4, &b"first"[..])));
        frame[1] |= 0x40;
        assert_eq!(MpduView::parse(&frame).unwrap().packets().count(), 0, "encrypted");
    }

    #[test]
    fn control_frames_have_the_addresses_of_their_subtype() {
        let mut buf = [0; ControlFrame::LONGEST];
        for (frame, from) in [(ControlFrame::Rts, Some(STATION)), (ControlFrame::Cts, None)] {
            let len = frame.emit(9, AP, STATION, &mut buf).unwrap();
            let view = MpduView::parse(&buf[..len - 4]).unwrap();
            assert_eq!((view.kind(), view.receiver), (MpduType::Control, AP));
            assert_eq!((view.transmitter, view.duration), (from, 9));
            assert_eq!(MpduView::parse(&buf[..9]), None);
        }
    }

    #[test]
    fn an_element_is_found_and_a_cut_one_is_not() {
        let all = [0, 2, b'a', b'b', 5, 1, 9];
        assert_eq!(element(&all, 5), Some(&[9][..]));
        assert_eq!(element(&all, 0), Some(&b"ab"[..]));
        assert_eq!((element(&all, 7), element(&all[..6], 5)), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_view_or_none(bytes: std::vec::Vec<u8>) {
            if let Some(view) = MpduView::parse(&bytes) {
                let _ = (view.packet(), view.has_msdu(), view.sender());
                prop_assert!(view.packets().count() <= bytes.len());
                prop_assert!(bytes.ends_with(view.body) && bytes.len() >= 10);
            }
            let _ = element(&bytes, 5);
        }
    }
}
