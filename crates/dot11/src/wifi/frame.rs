//! Frames on their way, and what captures show of them.

use alloc::vec::Vec;
use espbench_model::time::Instant;

/// The subtype of a frame (9.2.4.1.3, Table 9-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subtype {
    /// A beacon.
    Beacon,
    /// A data frame with a packet, QoS or not.
    Data {
        /// Whether the frame has a QoS Control field.
        qos: bool,
    },
    /// A data frame without a body, QoS or not, sent for its power management bit.
    Null {
        /// Whether the frame has a QoS Control field.
        qos: bool,
    },
    /// A PS-Poll, with which a sleeping station asks for one of its buffered frames.
    PsPoll,
    /// A probe request, with which a station looks for access points.
    ProbeRequest,
    /// A probe response, with which an access point announces itself.
    ProbeResponse,
    /// An authentication frame, open or SAE (12.4): the first frames of both sides, or the second.
    Authentication {
        /// Whether the frame belongs to SAE, where 1 is Commit and 2 Confirm.
        sae: bool,
        /// The authentication transaction sequence number.
        sequence: u8,
    },
    /// An association request of a station.
    AssociationRequest,
    /// An association response of an access point.
    AssociationResponse,
    /// A deauthentication of either side.
    Deauthentication,
    /// A message of the 4-way handshake, from 1 to 4, in a data frame (12.7.6).
    Eapol {
        /// The number of the message.
        message: u8,
        /// Whether the frame has a QoS Control field.
        qos: bool,
    },
}

impl Subtype {
    /// Returns type and subtype as in the Frame Control field.
    #[must_use]
    pub const fn codes(self) -> (u8, u8) {
        match self {
            Self::AssociationRequest => (0, 0),
            Self::AssociationResponse => (0, 1),
            Self::ProbeRequest => (0, 4),
            Self::ProbeResponse => (0, 5),
            Self::Beacon => (0, 8),
            Self::Authentication { .. } => (0, 11),
            Self::Deauthentication => (0, 12),
            Self::PsPoll => (1, 10),
            Self::Data { qos: false } | Self::Eapol { qos: false, .. } => (2, 0),
            Self::Null { qos: false } => (2, 4),
            Self::Data { qos: true } | Self::Eapol { qos: true, .. } => (2, 8),
            Self::Null { qos: true } => (2, 12),
        }
    }
}

/// The traffic indication map of a beacon (9.4.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimInfo {
    /// The number of beacons before the next DTIM, 0 in the DTIM itself.
    pub dtim_count: u8,
    /// The number of beacons from DTIM to DTIM.
    pub dtim_period: u8,
    /// Whether multicast follows.
    pub group: bool,
    /// The number of stations with buffered frames.
    pub stations: u16,
}

/// The properties of a frame that a capture shows, beside those that the MAC knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameInfo {
    /// The subtype.
    pub subtype: Subtype,
    /// Whether the frame is encrypted.
    pub protected: bool,
    /// The power management bit: the sender will sleep (9.2.4.1.7).
    pub power_management: bool,
    /// The more data bit: the sender has more for its addressee (9.2.4.1.8).
    pub more_data: bool,
    /// The traffic indication map of a beacon.
    pub tim: Option<TimInfo>,
    /// The tag and the octets of a data frame's packet.
    pub packet: Option<(u64, u32)>,
}

impl FrameInfo {
    /// Returns the properties of a frame that carries nothing but its subtype.
    pub(super) const fn bare(subtype: Subtype) -> Self {
        Self {
            subtype,
            protected: false,
            power_management: false,
            more_data: false,
            tim: None,
            packet: None,
        }
    }
}

/// The contents of a frame, as far as its receivers act on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameContents {
    /// No contents but the subtype.
    Nothing,
    /// The target beacon transmission time of a beacon.
    Tbtt(Instant),
    /// The network that is looked for.
    Network(u16),
    /// The association identifier of an accepted station, or `None` for a refusal.
    Verdict(Option<u16>),
}

/// A frame without a packet that was handed to a MAC.
#[derive(Clone, Copy, Debug)]
pub(super) struct WifiFrame {
    pub(super) info: FrameInfo,
    pub(super) says: FrameContents,
    /// The destination on the air.
    pub(super) to: u32,
}

/// The bit that marks the MAC's tags, and the medium's tokens, of this layer.
pub(super) const MARK: u64 = 1 << 63;

/// The frames in the queues of MACs, and the tags that stand for them.
#[derive(Debug, Default)]
pub(super) struct FrameStore {
    /// The frames, each with the number of earlier uses of its place, so that no tag is used twice.
    slots: Vec<(u32, Option<WifiFrame>)>,
    free: Vec<u32>,
}

impl FrameStore {
    /// Keeps a frame and returns its tag.
    pub(super) fn keep(&mut self, frame: WifiFrame) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            (self.slots.len() - 1) as u32
        });
        let (generation, kept) = &mut self.slots[slot as usize];
        *kept = Some(frame);
        MARK | u64::from(*generation) << 32 | u64::from(slot)
    }

    /// Returns the frame of a tag of ours, while it is kept.
    pub(super) fn get(&self, tag: u64) -> Option<&WifiFrame> {
        let (generation, frame) = self.slots.get(tag as u32 as usize)?;
        frame.as_ref().filter(|_| tag & MARK != 0 && *generation == generation_of(tag))
    }

    /// Removes a frame that its MAC is done with.
    pub(super) fn take(&mut self, tag: u64) -> Option<WifiFrame> {
        self.get(tag)?;
        let slot = tag as u32;
        let (generation, frame) = &mut self.slots[slot as usize];
        *generation = (*generation + 1) & GENERATIONS;
        self.free.push(slot);
        frame.take()
    }
}

const GENERATIONS: u32 = (1 << 31) - 1;

const fn generation_of(tag: u64) -> u32 {
    (tag >> 32) as u32 & GENERATIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_good_for_one_frame() {
        let info = FrameInfo::bare(Subtype::Beacon);
        let at = |ns| FrameContents::Tbtt(Instant::from_nanos(ns));
        let mut frames = FrameStore::default();
        let mut keep = |ns| (frames.keep(WifiFrame { info, says: at(ns), to: 9 }), at(ns));
        let (one, two) = (keep(1), keep(2));
        for (tag, says) in [one, two] {
            assert_eq!(frames.get(tag).map(|it| it.says), Some(says));
        }
        assert_eq!(frames.take(one.0).map(|it| it.says), Some(at(1)));
        let again = frames.keep(WifiFrame { info, says: at(3), to: 9 });
        assert_ne!(again, one.0, "the same place, another tag");
        assert!(frames.take(one.0).is_none() && frames.get(one.0).is_none());
        assert!(frames.get(again & !MARK).is_none(), "not ours");
        assert_eq!((frames.slots.len(), frames.get(again).map(|it| it.says)), (2, Some(at(3))));
    }
}
