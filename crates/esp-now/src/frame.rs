//! The ESP-NOW frame: a vendor-specific action frame with one or more vendor elements.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 24 | MAC header, [`mpdu::MacHeader`]: action; address 3 is broadcast |
//! | 24 | 1 | category: 127, vendor-specific (IEEE 802.11-2020, 9.6.5) |
//! | 25 | 3 | OUI 18:FE:34 |
//! | 28 | 4 | random value |
//! | 32 | … | elements |
//! | end | 4 | FCS, where it was captured |
//!
//! An element (9.4.2.25; ESP-IDF programming guide, "ESP-NOW", "Frame Format"):
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | id: 221, vendor-specific |
//! | 1 | 1 | length of what follows: 5 + n |
//! | 2 | 3 | OUI 18:FE:34 |
//! | 5 | 1 | type: 4 |
//! | 6 | 1 | bits 0-3 version; with v2.0 bit 4 "more data" |
//! | 7 | n ≤ 250 | body |
//!
//! ESP-NOW v1.0 has one element; v2.0 as many as the data needs, each but the last with 250 bytes
//! and with "more data" set. The guide names the bit and does not say more; that version 2 stands
//! in the field, and the bit in all elements but the last, is inferred. So reading does not lean
//! on it: the bodies of all of a frame's elements are put together, and [`VendorElements::complete`] tells
//! what the last one's bit said.
//!
//! Reading is tolerant as the devices are: address 3, the version and other elements do not
//! matter (an ESP8266 repeats the receiver in address 3).

use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::{self, FCS_LEN, FrameControl, HEADER_LEN};

/// Category of an action frame: vendor-specific.
pub const CATEGORY: u8 = 127;
/// Espressif's organizationally unique identifier.
pub const OUI: [u8; 3] = [0x18, 0xFE, 0x34];
/// Id of a vendor-specific element.
pub const ELEMENT_ID: u8 = 221;
/// Type of ESP-NOW among Espressif's elements.
pub const ELEMENT_TYPE: u8 = 4;
/// Greatest length of an element's body, in bytes.
pub const ELEMENT_MAX: usize = 250;
/// Greatest length of ESP-NOW data in any release of ESP-IDF, in bytes.
pub const DATA_MAX: usize = 1490;

/// Bytes from the frame's start to its first element.
const PREFIX_LEN: usize = HEADER_LEN + 8;
/// Bytes of an element before its body.
const ELEMENT_HEAD: usize = 7;
/// Duration of a short interframe space and an acknowledgement of 14 bytes at 1 Mbit/s with the
/// long preamble, in microseconds: 10 + 192 + 8 × 14 (IEEE 802.11-2020, clause 15).
const ACK_DURATION_US: u16 = 314;
/// "More data" bit of the version octet.
const MORE_DATA: u8 = 1 << 4;

/// Version of ESP-NOW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EspNowVersion {
    /// v1.0: one element, at most 250 bytes.
    #[default]
    V1,
    /// v2.0: several elements, at most 1490 bytes.
    V2,
}

impl EspNowVersion {
    /// Returns the older of the versions that can carry `len` bytes of data.
    #[must_use]
    pub const fn of_data(len: usize) -> Self {
        if len > Self::V1.data_max() { Self::V2 } else { Self::V1 }
    }

    /// Returns the greatest length of ESP-NOW data, in bytes.
    #[must_use]
    pub const fn data_max(self) -> usize {
        match self {
            Self::V1 => ELEMENT_MAX,
            Self::V2 => DATA_MAX,
        }
    }

    const fn octet(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

/// Returns the length of a frame with `data` bytes of ESP-NOW data, in bytes, with its FCS and
/// without encryption by the MAC.
#[must_use]
pub const fn mpdu_len(data: usize) -> usize {
    let elements = if data == 0 { 1 } else { data.div_ceil(ELEMENT_MAX) };
    PREFIX_LEN + data + ELEMENT_HEAD * elements + FCS_LEN
}

/// Length of the longest frame, in bytes with its FCS.
pub const MPDU_MAX: usize = mpdu_len(DATA_MAX);

/// Fields of a frame other than its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionFrame {
    /// Address 1: a peer, or broadcast.
    pub receiver: Mac,
    /// Address 2: the radio that sends.
    pub transmitter: Mac,
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Retry bit: the MAC retransmits the frame.
    pub retry: bool,
    /// Random value, new in every frame.
    pub random: [u8; 4],
    /// Version of ESP-NOW.
    pub version: EspNowVersion,
}

impl ActionFrame {
    /// Writes the frame without FCS and returns its length; `None` if the data is longer than the
    /// version allows or `buf` is too short.
    pub fn emit(&self, data: &[u8], buf: &mut [u8]) -> Option<usize> {
        if data.len() > self.version.data_max() {
            return None;
        }
        let len = mpdu_len(data.len()) - FCS_LEN;
        let (head, elements) = buf.get_mut(..len)?.split_first_chunk_mut::<PREFIX_LEN>()?;
        head[..HEADER_LEN].copy_from_slice(&self.header().emit());
        head[24] = CATEGORY;
        head[25..28].copy_from_slice(&OUI);
        head[28..].copy_from_slice(&self.random);
        let mut rest = elements;
        let mut left = data;
        loop {
            let (part, more) = left.split_at(left.len().min(ELEMENT_MAX));
            let (element, after) = rest.split_at_mut_checked(ELEMENT_HEAD + part.len())?;
            let (head, body) = element.split_first_chunk_mut::<ELEMENT_HEAD>()?;
            let version = self.version.octet() | if more.is_empty() { 0 } else { MORE_DATA };
            let [o0, o1, o2] = OUI;
            *head = [ELEMENT_ID, 5 + part.len() as u8, o0, o1, o2, ELEMENT_TYPE, version];
            body.copy_from_slice(part);
            (rest, left) = (after, more);
            if left.is_empty() {
                return Some(len);
            }
        }
    }

    /// Writes the frame as [`emit`](Self::emit) does, with the FCS at the end.
    pub fn emit_with_fcs(&self, data: &[u8], buf: &mut [u8]) -> Option<usize> {
        let len = self.emit(data, buf)?;
        mpdu::append_fcs(buf, len)
    }

    /// Returns the MAC header that [`emit`](Self::emit) writes. To a single receiver, the duration
    /// covers its acknowledgement (IEEE 802.11-2020, 9.2.5.2).
    #[must_use]
    pub const fn header(&self) -> mpdu::MacHeader {
        mpdu::MacHeader {
            control: FrameControl::ACTION.with_retry(self.retry),
            duration: if self.receiver.0[0] & 1 != 0 { 0 } else { ACK_DURATION_US },
            receiver: self.receiver,
            transmitter: self.transmitter,
            bssid: Mac::BROADCAST,
            sequence: self.sequence & 0x0FFF,
            fragment: 0,
        }
    }
}

/// Parses a frame without FCS (see [`mpdu::check_fcs`]); `None` if it is not ESP-NOW, if an
/// element is malformed or longer than the frame, or if the MAC has encrypted it.
#[must_use]
pub fn parse(frame: &[u8]) -> Option<(ActionFrame, VendorElements<'_>)> {
    let (header, body) = mpdu::MacHeader::parse(frame)?;
    if !header.control.is(FrameControl::ACTION) || header.control.protected() {
        return None;
    }
    let (&[category, o0, o1, o2, r0, r1, r2, r3], elements) = body.split_first_chunk::<8>()?;
    if category != CATEGORY || [o0, o1, o2] != OUI {
        return None;
    }
    let body = VendorElements::new(elements)?;
    let mpdu = ActionFrame {
        receiver: header.receiver,
        transmitter: header.transmitter,
        sequence: header.sequence,
        retry: header.control.retry(),
        random: [r0, r1, r2, r3],
        version: body.version(),
    };
    Some((mpdu, body))
}

/// Elements of a frame, checked: at least one is of ESP-NOW, and all fit into the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VendorElements<'a> {
    elements: &'a [u8],
    len: usize,
    last: u8,
}

impl<'a> VendorElements<'a> {
    /// Checks the elements of an action frame; `None` if one runs over the end or is malformed, or
    /// if none is of ESP-NOW.
    #[must_use]
    pub fn new(elements: &'a [u8]) -> Option<Self> {
        let (mut rest, mut len, mut last) = (elements, 0, None);
        while let [_, ..] = rest {
            let (element, after) = cut(rest)?;
            if let Element::EspNow(version, body) = element {
                len += body.len();
                last = Some(version);
            }
            rest = after;
        }
        Some(Self { elements, len, last: last? })
    }

    /// Returns the length of the ESP-NOW data, in bytes, all elements together.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no data.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the version that the last element gives; any number above 1 counts as v2.0.
    #[must_use]
    pub const fn version(&self) -> EspNowVersion {
        if self.last & 0x0F > 1 { EspNowVersion::V2 } else { EspNowVersion::V1 }
    }

    /// Returns whether the last element leaves "more data" clear, so that none is missing.
    #[must_use]
    pub const fn complete(&self) -> bool {
        matches!(self.version(), EspNowVersion::V1) || self.last & MORE_DATA == 0
    }

    /// Returns the data of each element.
    pub fn parts(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.elements;
        core::iter::from_fn(move || {
            while let Some((element, after)) = cut(rest) {
                rest = after;
                if let Element::EspNow(_, body) = element {
                    return Some(body);
                }
            }
            None
        })
    }

    /// Returns the data in place, if one element holds it all.
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        let mut parts = self.parts();
        let first = parts.next()?;
        parts.next().is_none().then_some(first)
    }

    /// Copies the data of all elements into `out` and returns it; `None` if `out` is too short.
    #[must_use]
    pub fn gather<'b>(&self, out: &'b mut [u8]) -> Option<&'b [u8]> {
        let out = out.get_mut(..self.len)?;
        let mut rest = &mut *out;
        for part in self.parts() {
            let (here, after) = rest.split_at_mut_checked(part.len())?;
            here.copy_from_slice(part);
            rest = after;
        }
        Some(out)
    }
}

enum Element<'a> {
    /// Version octet and body of an ESP-NOW element.
    EspNow(u8, &'a [u8]),
    Other,
}

/// Splits the first element off; `None` if it is malformed or none is left.
fn cut(elements: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let [id, len, rest @ ..] = elements else { return None };
    let (value, after) = rest.split_at_checked(usize::from(*len))?;
    if *id != ELEMENT_ID {
        return Some((Element::Other, after));
    }
    // Vendors put at least a type behind their OUI; ESP-NOW also puts a version.
    let element = match value {
        [a, b, c, kind, version, body @ ..] if [*a, *b, *c] == OUI && *kind == ELEMENT_TYPE => {
            Element::EspNow(*version, body)
        }
        [_, _, _, _, _, ..] => Element::Other,
        _ => return None,
    };
    Some((element, after))
}

#[cfg(test)]
mod tests;
