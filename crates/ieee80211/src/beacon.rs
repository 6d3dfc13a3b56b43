//! The beacon of an access point, as captures show it (IEEE Std 802.11-2020, 9.3.3.2).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 24 | header; addresses 2 and 3 are the BSSID |
//! | 24 | 8 | timestamp, microseconds |
//! | 32 | 2 | beacon interval, in units of 1024 us |
//! | 34 | 2 | capabilities: 0x0001 ESS, 0x0010 privacy, 0x0020 short preamble, 0x0400 short slot |
//! | 36 | … | elements, each with id, length and body (9.4.2) |
//!
//! | id | element |
//! |---|---|
//! | 0 | SSID (9.4.2.2) |
//! | 1 | supported rates, in 500 kbit/s; the high bit marks basic rates (9.4.2.3) |
//! | 3 | DSSS parameter set: the channel (9.4.2.4) |
//! | 5 | TIM: the stations for which frames are buffered (9.4.2.5) |
//! | 48 | RSN: CCMP with a passphrase (9.4.2.24), where there is a password |
//! | 50 | extended supported rates (9.4.2.12) |
//! | 221 | vendor-specific, of no real vendor: fills the beacon up to its length (9.4.2.25) |

use crate::mac::Mac;
use crate::mpdu::{FCS_LEN, FrameControl, HEADER_LEN, MacHeader, append_fcs};

/// Greatest length of an element's body.
const BODY_MAX: usize = 255;
/// Locally administered company id, which belongs to no vendor.
const NOBODY: [u8; 3] = [0x02, 0x00, 0x00];
/// Length of a vendor-specific element with nothing but the company id.
const FILL_MIN: usize = 2 + NOBODY.len();
/// Supported rates: 1, 2, 5.5 and 11 Mbit/s (basic), 6, 9, 12 and 18.
const RATES: [u8; 8] = [0x82, 0x84, 0x8B, 0x96, 12, 18, 24, 36];
/// Extended supported rates: 24, 36, 48 and 54 Mbit/s.
const MORE_RATES: [u8; 4] = [48, 72, 96, 108];
/// RSN version 1; group cipher CCMP; one pairwise cipher, CCMP; one AKM, PSK; no capabilities.
const RSN: [u8; 20] =
    [1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 2, 0, 0];

/// Contents of a beacon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// BSSID of the access point.
    pub bssid: Mac,
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Clock of the access point, in microseconds.
    pub timestamp: u64,
    /// Time between beacons, in units of 1024 us.
    pub interval: u16,
    /// Name of the network; its first 32 octets are sent.
    pub ssid: &'a str,
    /// Number of the channel.
    pub channel: u8,
    /// Whether the network has a password.
    pub protected: bool,
    /// Traffic indication map: frames that are buffered for sleeping stations.
    pub tim: Tim,
}

/// The traffic indication map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tim {
    /// Number of beacons before the next DTIM.
    pub count: u8,
    /// Number of beacons from DTIM to DTIM.
    pub period: u8,
    /// Whether group-addressed frames follow.
    pub group: bool,
    /// The first octet of the map: bit `n` is for the association identifier `n`.
    pub map: u8,
}

impl Default for Tim {
    /// Returns a map with nothing buffered, where each beacon is a DTIM.
    fn default() -> Self {
        Self { count: 0, period: 1, group: false, map: 0 }
    }
}

impl Beacon<'_> {
    /// Writes a beacon of `octets` octets with its FCS and returns its length; `None` if `buf` is
    /// too short. A beacon that is to be shorter than its elements lacks the last ones.
    pub fn emit_with_fcs(&self, octets: usize, buf: &mut [u8]) -> Option<usize> {
        let limit = octets.checked_sub(FCS_LEN)?.max(HEADER_LEN + 12);
        let out = buf.get_mut(..limit)?;
        let (head, body) = out.split_first_chunk_mut::<HEADER_LEN>()?;
        *head = self.header().emit();
        let (fixed, elements) = body.split_first_chunk_mut::<12>()?;
        fixed[..8].copy_from_slice(&self.timestamp.to_le_bytes());
        fixed[8..10].copy_from_slice(&self.interval.to_le_bytes());
        let privacy = if self.protected { 0x0010 } else { 0 };
        fixed[10..].copy_from_slice(&(0x0421_u16 | privacy).to_le_bytes());
        let used = self.elements(elements);
        let filled = fill(elements.get_mut(used..)?);
        append_fcs(buf, HEADER_LEN + 12 + used + filled)
    }

    const fn header(&self) -> MacHeader {
        MacHeader {
            control: FrameControl::BEACON,
            duration: 0,
            receiver: Mac::BROADCAST,
            transmitter: self.bssid,
            bssid: self.bssid,
            sequence: self.sequence & 0x0FFF,
            fragment: 0,
        }
    }

    /// Writes the elements for which there is room and returns their length.
    fn elements(&self, out: &mut [u8]) -> usize {
        let rsn = if self.protected { &RSN[..] } else { &[] };
        let Tim { count, period, group, map } = self.tim;
        let elements: [(u8, &[u8]); 6] = [
            (0, name(self.ssid)),
            (1, &RATES),
            (3, &[self.channel]),
            (5, &[count, period, u8::from(group), map]),
            (48, rsn),
            (50, &MORE_RATES),
        ];
        put(&elements, out)
    }
}

fn name(ssid: &str) -> &[u8] {
    let name = ssid.as_bytes();
    &name[..name.len().min(32)]
}

/// Writes elements as far as there is room and returns their length.
fn put(elements: &[(u8, &[u8])], out: &mut [u8]) -> usize {
    let mut at = 0;
    for &(id, body) in elements {
        // An empty SSID is sent as an element; an empty RSN is left out.
        if body.is_empty() && id != 0 {
            continue;
        }
        let Some(element) = out.get_mut(at..at + 2 + body.len()) else { break };
        element[..2].copy_from_slice(&[id, body.len() as u8]);
        element[2..].copy_from_slice(body);
        at += element.len();
    }
    at
}

/// Writes the elements of another management frame with a name, as far as there is room, and
/// returns their length.
pub(super) fn describe(ssid: &str, channel: Option<u8>, protected: bool, out: &mut [u8]) -> usize {
    let channel = channel.map(|it| [it]);
    let channel = channel.as_ref().map_or(&[][..], |it| &it[..]);
    let rsn = if protected { &RSN[..] } else { &[] };
    put(&[(0, name(ssid)), (1, &RATES), (3, channel), (48, rsn), (50, &MORE_RATES)], out)
}

/// Writes the rates alone and returns their length.
pub(super) fn rates(out: &mut [u8]) -> usize {
    put(&[(1, &RATES), (50, &MORE_RATES)], out)
}

/// Writes the RSN element alone and returns its length.
pub(super) fn security(out: &mut [u8]) -> usize {
    put(&[(48, &RSN)], out)
}

/// Fills `out` with vendor-specific elements and returns the length written: all of it, unless less
/// than a whole element is left.
pub(super) fn fill(out: &mut [u8]) -> usize {
    let mut at = 0;
    while out.len() - at >= FILL_MIN {
        let left = out.len() - at;
        let mut len = left.min(2 + BODY_MAX);
        // Leaves no rest that would be too short for an element.
        if left > len && left - len < FILL_MIN {
            len -= FILL_MIN;
        }
        let element = &mut out[at..at + len];
        element.fill(0);
        element[..2].copy_from_slice(&[221, (len - 2) as u8]);
        element[2..FILL_MIN].copy_from_slice(&NOBODY);
        at += len;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpdu::check_fcs;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn beacon(protected: bool) -> Beacon<'static> {
        Beacon {
            bssid: Mac([2, 0, 0, 0, 1, 0]),
            sequence: 3,
            timestamp: 102_400,
            interval: 100,
            ssid: "factory",
            channel: 11,
            protected,
            tim: Tim { count: 2, period: 3, group: true, map: 2 },
        }
    }

    /// Returns id and body of each element.
    fn elements(mut rest: &[u8]) -> Vec<(u8, &[u8])> {
        let mut all = Vec::new();
        while let [id, len, more @ ..] = rest {
            let (body, after) = more.split_at(usize::from(*len));
            all.push((*id, body));
            rest = after;
        }
        assert!(rest.is_empty());
        all
    }

    #[test]
    fn elements_of_a_beacon() {
        let mut buf = [0; 400];
        for (protected, capabilities) in [(true, 0x0431_u16), (false, 0x0421)] {
            let len = beacon(protected).emit_with_fcs(300, &mut buf).unwrap();
            assert_eq!(len, 300);
            let frame = check_fcs(&buf[..len]).unwrap();
            assert_eq!(MacHeader::parse(frame).unwrap().0, beacon(protected).header());
            assert_eq!(frame[32..36], [100, 0, capabilities as u8, (capabilities >> 8) as u8]);
            let all = elements(&frame[36..]);
            assert_eq!(all[0], (0, &b"factory"[..]));
            assert_eq!(all[2], (3, &[11][..]));
            assert_eq!(all[3], (5, &[2, 3, 1, 2][..]));
            assert_eq!(all.iter().any(|it| it.0 == 48), protected);
            assert_eq!(all.last().unwrap().0, 221);
        }
    }

    /// Compares a beacon octet by octet with one written by hand from clauses 9.3.3.2 and 9.4.2.
    #[test]
    fn a_beacon_by_hand() {
        let wire = [
            &[0x80, 0, 0, 0][..],
            &[0xFF; 6],
            &[2, 0, 0, 0, 1, 0],
            &[2, 0, 0, 0, 1, 0],
            &[0x30, 0],
            &[0, 0x90, 1, 0, 0, 0, 0, 0],
            &[100, 0, 0x31, 0x04],
            &[0, 7],
            b"factory",
            &[1, 8, 0x82, 0x84, 0x8B, 0x96, 12, 18, 24, 36],
            &[3, 1, 11],
            &[5, 4, 2, 3, 1, 2],
            &[48, 20, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 2, 0, 0],
            &[50, 4, 48, 72, 96, 108],
            &[221, 5, 2, 0, 0, 0, 0],
        ]
        .concat();
        let mut buf = [0xEE; 128];
        let octets = wire.len() + FCS_LEN;
        assert_eq!(beacon(true).emit_with_fcs(octets, &mut buf), Some(octets));
        assert_eq!(check_fcs(&buf[..octets]), Some(&wire[..]));
        assert_eq!(beacon(true).emit_with_fcs(octets, &mut buf[..octets - 1]), None);
        // A sequence number has 12 bits.
        let next = Beacon { sequence: 0x1003, ..beacon(true) };
        assert_eq!(next.emit_with_fcs(octets, &mut buf), Some(octets));
        assert_eq!(check_fcs(&buf[..octets]), Some(&wire[..]));
    }

    #[test]
    fn a_map_with_nothing_buffered_says_that_each_beacon_is_a_dtim() {
        assert_eq!(Tim::default(), Tim { count: 0, period: 1, group: false, map: 0 });
    }

    /// Fills every length with whole elements: at most 255 octets of a body, at least a company id.
    #[test]
    fn filling_is_by_whole_elements() {
        let lengths = |octets: usize| {
            let mut out = std::vec![0xEE; octets];
            let used = fill(&mut out);
            let lengths: Vec<usize> = elements(&out[..used])
                .iter()
                .map(|(id, body)| {
                    assert_eq!((*id, &body[..3]), (221, &NOBODY[..]));
                    assert!(body[3..].iter().all(|&octet| octet == 0));
                    body.len()
                })
                .collect();
            (used, lengths)
        };
        assert_eq!(lengths(4), (0, std::vec![]));
        assert_eq!(lengths(5), (5, std::vec![3]));
        assert_eq!(lengths(257), (257, std::vec![255]));
        assert_eq!(lengths(258), (258, std::vec![250, 4]));
        assert_eq!(lengths(261), (261, std::vec![250, 7]));
        assert_eq!(lengths(262), (262, std::vec![255, 3]));
        assert_eq!(lengths(514), (514, std::vec![255, 255]));
    }

    proptest! {
        #[test]
        fn as_long_as_wanted(octets in 0..2000_usize, ssid in ".{0,40}", protected: bool) {
            let beacon = Beacon { ssid: &ssid, ..beacon(protected) };
            let mut buf = [0xEE; 2048];
            let len = beacon.emit_with_fcs(octets, &mut buf);
            prop_assert_eq!(len.is_some(), octets >= FCS_LEN);
            let Some(len) = len else { return Ok(()) };
            let frame = check_fcs(&buf[..len]).expect("our own FCS");
            elements(&frame[36..]);
            if octets >= 130 {
                prop_assert_eq!(len, octets);
            }
            prop_assert!(len <= octets.max(40));
        }
    }
}
