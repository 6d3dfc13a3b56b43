//! The numbers by which the room hands back what a lab gave it: tokens of what it is to be woken for,
//! and tags of frames.

use crate::lab::nodes::NodeId;
use crate::lab::nodes::device_set::Cue;
use crate::lab::pool::Handle;
use espbench_dot11::wifi;

/// The bits of a token's kind, behind it those of a life and of a number.
const KIND: u32 = 56;
const LIFE: u64 = 0xFF_FFFF;
/// The bits of a tag's kind, behind it a number.
const TAG_KIND: u32 = 32;

/// A reason for which a lab asked the room to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// Something of a node: its start, or at its console.
    Cue(Cue, NodeId, u32),
    /// A frame of a node reaches the MAC.
    Send(Handle),
    /// A node learns what became of its frame.
    Sent(NodeId, u32, bool),
    /// A router's beacon is due.
    Beacon(u32),
    /// A background station has frames.
    Load(u32),
    /// A node goes on with joining a router.
    Join(NodeId, u32),
    /// A node's report is due.
    Report(NodeId),
    /// A call of `esp_now_send` without the component is over.
    RawCall,
    /// The send callback of such a frame, by its number, and whether it was acknowledged.
    RawSent(u32, bool),
    /// Bluetooth's turn with a node's radio begins, or ends.
    Coexist(NodeId, bool),
    /// A request of the echo over ESP-NOW is due.
    Echo(u32),
    /// The connectionless interval of the board that asks for an echo has begun.
    EchoInterval,
    /// Something has come to the end of its wire.
    Wire(u32),
    /// A machine is due.
    Machine(u16),
    /// A token of the Wi-Fi layer.
    Wifi(u64),
}

impl Wake {
    /// Packs it: 8 bits of its kind, 24 of a life, 32 of a number. The Wi-Fi layer marks its own.
    pub(super) fn token(self) -> u64 {
        let of = |kind: u64, life: u32, number: u32| {
            kind << KIND | (u64::from(life) & LIFE) << 32 | u64::from(number)
        };
        let node = |node: NodeId| u32::from(node.0);
        match self {
            Self::Cue(cue, it, life) => of(cue as u64, life, node(it)),
            Self::Send(handle) => of(8, 0, handle.number()),
            Self::Sent(it, life, false) => of(9, life, node(it)),
            Self::Sent(it, life, true) => of(10, life, node(it)),
            Self::Beacon(router) => of(11, 0, router),
            Self::Load(station) => of(12, 0, station),
            Self::Join(it, life) => of(13, life, node(it)),
            Self::Echo(request) => of(14, 0, request),
            Self::EchoInterval => of(15, 0, 0),
            Self::Wire(slot) => of(16, 0, slot),
            Self::Machine(number) => of(17, 0, u32::from(number)),
            Self::Report(it) => of(18, 0, node(it)),
            Self::RawCall => of(19, 0, 0),
            Self::RawSent(number, delivered) => of(20, delivered.into(), number),
            Self::Coexist(it, away) => of(21, away.into(), node(it)),
            Self::Wifi(token) => token,
        }
    }

    /// Unpacks a token.
    #[inline]
    pub(super) fn of(token: u64) -> Self {
        if wifi::is_ours(token) {
            return Self::Wifi(token);
        }
        let (life, number) = ((token >> 32 & LIFE) as u32, token as u32);
        let node = NodeId(number as u16);
        match token >> KIND {
            0 => Self::Cue(Cue::Start, node, life),
            1 => Self::Cue(Cue::Answer, node, life),
            2 => Self::Cue(Cue::Type, node, life),
            3 => Self::Cue(Cue::Enter, node, life),
            8 => Self::Send(Handle::of(number)),
            9 => Self::Sent(node, life, false),
            10 => Self::Sent(node, life, true),
            11 => Self::Beacon(number),
            12 => Self::Load(number),
            13 => Self::Join(node, life),
            14 => Self::Echo(number),
            15 => Self::EchoInterval,
            16 => Self::Wire(number),
            17 => Self::Machine(number as u16),
            18 => Self::Report(node),
            19 => Self::RawCall,
            20 => Self::RawSent(number, life > 0),
            _ => Self::Coexist(node, life > 0),
        }
    }
}

/// The origin of a frame, by which the medium knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameTag {
    /// A frame of a node, in the pool of frames.
    Node(Handle),
    /// A beacon of a router that does nothing else.
    Beacon(u32),
    /// A frame of a background station.
    Load(u32),
    /// A request of the echo over ESP-NOW, or its answer.
    Echo(u32),
    /// A frame of the Wi-Fi layer.
    Wifi(u64),
}

impl FrameTag {
    /// Packs it: 32 bits of its kind, 32 of a number. The Wi-Fi layer marks its own.
    pub(super) const fn tag(self) -> u64 {
        match self {
            Self::Node(handle) => handle.number() as u64,
            Self::Beacon(router) => 1 << TAG_KIND | router as u64,
            Self::Load(station) => 2 << TAG_KIND | station as u64,
            Self::Echo(request) => 3 << TAG_KIND | request as u64,
            Self::Wifi(tag) => tag,
        }
    }

    /// Unpacks a tag.
    #[inline]
    pub(super) const fn of(tag: u64) -> Self {
        if wifi::is_ours(tag) {
            return Self::Wifi(tag);
        }
        let number = tag as u32;
        match tag >> TAG_KIND {
            0 => Self::Node(Handle::of(number)),
            1 => Self::Beacon(number),
            2 => Self::Load(number),
            _ => Self::Echo(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIFI: u64 = u64::MAX;

    #[test]
    fn tokens_read_back() {
        let node = NodeId(40_000);
        let cues = [Cue::Start, Cue::Answer, Cue::Type, Cue::Enter];
        let cues = cues.map(|cue| Wake::Cue(cue, node, 7));
        let others = [
            Wake::Send(Handle::of(123_456)),
            Wake::Sent(node, 7, true),
            Wake::Sent(node, 7, false),
            Wake::Beacon(9),
            Wake::Load(70_000),
            Wake::Join(node, 1),
            Wake::Echo(u32::MAX),
            Wake::EchoInterval,
            Wake::Wire(3),
            Wake::Machine(u16::MAX),
            Wake::Report(node),
            Wake::RawCall,
            Wake::RawSent(u32::MAX, true),
            Wake::RawSent(7, false),
            Wake::Wifi(WIFI),
        ];
        for wake in cues.into_iter().chain(others) {
            assert_eq!(Wake::of(wake.token()), wake);
        }
    }

    #[test]
    fn tags_read_back() {
        for tag in [
            FrameTag::Node(Handle::of(u32::MAX)),
            FrameTag::Beacon(1),
            FrameTag::Load(70_000),
            FrameTag::Echo(u32::MAX),
            FrameTag::Wifi(WIFI),
        ] {
            assert_eq!(FrameTag::of(tag.tag()), tag);
        }
    }
}
