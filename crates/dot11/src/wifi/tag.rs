//! The MAC's tags for data frames. A tag holds all that a receiver must know, so that a frame needs
//! no place in a list, and may be handed up late, from a reorder buffer, when its sender is done
//! with it.
//!
//! | bits | contents |
//! |---|---|
//! | 63 | set: the tag is this layer's ([`MARK`]) |
//! | 62 | set: a data frame with a packet; else a place in [`FrameStore`](super::frame::FrameStore) |
//! | 61 | the more data bit |
//! | 57 to 60 | the index of the sender's mode |
//! | 44 to 54 | the association identifier of the access point's station, 0 for a group |
//! | 0 to 43 | the packet's tag |

use super::frame::MARK;

const DATA: u64 = 1 << 62;
const MORE: u64 = 1 << 61;
const RATE: u32 = 57;
const AID: u32 = 44;
/// The limit on tags of packets.
pub(super) const TAGS: u64 = 1 << AID;
/// The largest association identifier (9.4.1.8).
pub(super) const LARGEST_AID: u16 = 2007;

/// The contents of a data frame's tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataTag {
    /// The packet's tag.
    pub(super) packet: u64,
    /// The association identifier of the access point's station; 0 for a group.
    pub(super) aid: u16,
    /// The index of the sender's mode, 0 to 15.
    pub(super) rate: u8,
    /// The more data bit.
    pub(super) more: bool,
}

impl DataTag {
    pub(super) const fn pack(self) -> u64 {
        let more = if self.more { MORE } else { 0 };
        let rate = (self.rate as u64 & 15) << RATE;
        let aid = (self.aid as u64 & 0x7FF) << AID;
        MARK | DATA | more | rate | aid | (self.packet % TAGS)
    }

    /// Returns the contents of a data frame's tag; `None` for other tags.
    pub(super) const fn unpack(tag: u64) -> Option<Self> {
        if tag & (MARK | DATA) != MARK | DATA {
            return None;
        }
        Some(Self {
            packet: tag % TAGS,
            aid: ((tag >> AID) & 0x7FF) as u16,
            rate: ((tag >> RATE) & 15) as u8,
            more: tag & MORE != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_what_they_were_made_of() {
        for packet in [0, 1, TAGS - 1] {
            for aid in [0, 1, LARGEST_AID] {
                for (rate, more) in [(0, false), (15, true), (7, false)] {
                    let tag = DataTag { packet, aid, rate, more };
                    assert_eq!(DataTag::unpack(tag.pack()), Some(tag));
                }
            }
        }
        assert_eq!(DataTag::unpack(MARK | 5), None);
        assert_eq!(DataTag::unpack(DATA | 5), None);
    }
}
