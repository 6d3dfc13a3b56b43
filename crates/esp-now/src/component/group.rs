//! GROUP frames: devices join or leave a group (`espnow_group_info_t` of the esp-now component).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 1 join (any value but 0), 0 leave |
//! | 1 | 6 | group id |
//! | 7 | 1 | number n of addresses |
//! | 8 | 6·n | addresses of the members |
//!
//! The single address `ff:ff:ff:ff:ff:ff` means every receiver. A GROUP frame is a broadcast, is
//! never encrypted and never acknowledged. Bytes after the addresses are ignored. For more than
//! [`MEMBERS_MAX`] addresses several frames are sent, each with its own [`magic`].

use espbench_ieee80211::mac::Mac;

/// Greatest number of addresses in one frame.
pub const MEMBERS_MAX: usize = 32;

/// Group id of the devices that take part in an upgrade.
pub const OTA: Mac = Mac(*b"OTA\0\0\0");
/// Group id of the devices that take part in provisioning.
pub const PROV: Mac = Mac(*b"PROV\0\0");
/// Group id of the devices that take part in a handshake.
pub const SEC: Mac = Mac(*b"SEC\0\0\0");

/// Computes the magic of frame `n`, counted from 0, of several for one list; that of frame 0 is
/// `first`. They grow by 1, then 2, then 3 (section 2.10 of the protocol reference). The result is
/// never 0, for which the engine would draw a random one.
#[must_use]
pub fn magic(first: u16, n: u16) -> u16 {
    let n = u32::from(n);
    first.wrapping_add((n * (n + 1) / 2) as u16).max(1)
}

const HEAD: usize = 8;
const ADDRESS: usize = 6;

/// The payload of a GROUP frame, a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupPayload<'a> {
    /// Whether the members join, or leave.
    pub join: bool,
    /// Group id.
    pub id: Mac,
    /// Addresses of the members, six bytes each.
    members: &'a [u8],
}

impl<'a> GroupPayload<'a> {
    /// Parses a payload; `None` if it holds fewer addresses than it announces.
    #[must_use]
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        let (&[join, id @ .., count], rest) = payload.split_first_chunk::<HEAD>()?;
        let members = rest.get(..usize::from(count) * ADDRESS)?;
        Some(Self { join: join != 0, id: Mac(id), members })
    }

    /// Returns the addresses of the members.
    pub fn members(&self) -> impl Iterator<Item = Mac> + 'a {
        self.members.as_chunks::<ADDRESS>().0.iter().copied().map(Mac)
    }

    /// Returns whether the frame concerns this node: by its address, or by that of everybody.
    #[must_use]
    pub fn means(&self, node: Mac) -> bool {
        self.members == Mac::BROADCAST.0 || self.members().any(|member| member == node)
    }

    /// Writes a payload and returns its length; `None` if `buf` is too short or there are more than
    /// [`MEMBERS_MAX`] members.
    #[must_use]
    pub fn emit(
        join: bool,
        id: Mac,
        members: impl IntoIterator<Item = Mac>,
        buf: &mut [u8],
    ) -> Option<usize> {
        let (head, rest) = buf.split_first_chunk_mut::<HEAD>()?;
        let (mut places, mut count) = (rest.as_chunks_mut::<ADDRESS>().0.iter_mut(), 0);
        for member in members {
            *places.next().filter(|_| count < MEMBERS_MAX)? = member.0;
            count += 1;
        }
        head[0] = u8::from(join);
        head[1..7].copy_from_slice(&id.0);
        head[7] = count as u8;
        Some(HEAD + count * ADDRESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::tests::vectors::{D, bytes, header};
    use crate::component::{DataType, Header};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn vector_7_of_the_protocol_reference() {
        let wire = bytes(
            "22 14 02 01 01 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 01 4f 54 41 00 00 00 02 \
             24 0a c4 00 00 02 24 0a c4 00 00 03",
        );
        let (head, payload) = Header::parse(&wire).unwrap();
        assert_eq!(head, header(DataType::Group, 20, 0x0102));
        let group = GroupPayload::parse(payload).unwrap();
        let e = Mac([0x24, 0x0A, 0xC4, 0, 0, 3]);
        assert!(group.join && group.id == OTA && group.means(D) && group.means(e));
        assert!(!group.means(head.src));
        let mut buf = [0; 20];
        assert_eq!(GroupPayload::emit(true, OTA, [D, e], &mut buf), Some(20));
        assert_eq!(buf, payload);
        assert_eq!(GroupPayload::emit(true, OTA, [D, e], &mut buf[..19]), None);
    }

    #[test]
    fn captured_join_and_leave() {
        let rest = "ff ff ff ff ff ff cc 50 e3 80 10 bc";
        for (head, join) in [("62 0e da ba 01 88 02 00", 1), ("62 0e f6 67 01 88 02 00", 0)] {
            let wire = bytes(&std::format!(
                "{head} {rest} 0{join} 53 45 43 00 00 00 01 30 ae a4 1e 8d 6c"
            ));
            let (head, payload) = Header::parse(&wire).unwrap();
            let magic = if join == 1 { 0xBADA } else { 0x67F6 };
            let src = Mac([0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC]);
            assert_eq!(head, Header { src, ..header(DataType::Group, 14, magic) });
            let group = GroupPayload::parse(payload).unwrap();
            let member = Mac([0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C]);
            assert_eq!((group.join, group.id), (join == 1, SEC));
            assert!(group.members().eq([member]));
        }
    }

    #[test]
    fn everybody_is_meant_by_the_broadcast_address_alone() {
        let mut buf = [0; 64];
        for (members, all) in
            [(&[Mac::BROADCAST][..], true), (&[Mac::BROADCAST; 2], false), (&[], false)]
        {
            let len = GroupPayload::emit(false, PROV, members.iter().copied(), &mut buf).unwrap();
            assert_eq!(GroupPayload::parse(&buf[..len]).unwrap().means(D), all);
            assert_eq!(GroupPayload::parse(&buf[..len - 1]), None, "cut off");
        }
        assert_eq!(GroupPayload::emit(true, PROV, [D; 33], &mut [0; 300]), None);
    }

    #[test]
    fn magics_of_a_long_list() {
        assert_eq!([0, 1, 2, 3].map(|n| magic(0x1000, n)), [0x1000, 0x1001, 0x1003, 0x1006]);
        assert_eq!([0, 1, 2].map(|n| magic(0xFFFF, n)), [0xFFFF, 1, 2], "0 would be drawn anew");
        assert_eq!(magic(0, u16::MAX), 0x8000);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(payload: Vec<u8>) {
            if let Some(group) = GroupPayload::parse(&payload) {
                prop_assert_eq!(group.members().count(), usize::from(payload[7]));
                prop_assert!(group.members().all(|member| group.means(member)));
            }
        }

        #[test]
        fn what_is_written_reads_back(join: bool, id: [u8; 6], list in prop::collection::vec(any::<[u8; 6]>(), 0..=32)) {
            let members: Vec<Mac> = list.into_iter().map(Mac).collect();
            let mut buf = [0; 200];
            let len = GroupPayload::emit(join, Mac(id), members.iter().copied(), &mut buf).unwrap();
            let group = GroupPayload::parse(&buf[..len]).unwrap();
            prop_assert_eq!((group.join, group.id), (join, Mac(id)));
            prop_assert!(group.members().eq(members));
        }
    }
}
