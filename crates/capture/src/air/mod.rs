//! Facts from frames of IEEE 802.11: who sent what to whom, what was acknowledged, how long the medium was busy.
//!
//! | module | contents |
//! |---|---|
//! | [`class`] | kinds of frames, modes and times on the air |
//! | [`link`] | sender and receiver: messages by their sequence numbers, retries, rates |
//! | [`esp_now`] | ESP-NOW and the component's frames of a pair; keys |
//! | [`network`] | networks: beacons, stations that sleep, joining and leaving |
//! | [`overlap`] | frames at the same time, and who does not hear whom |
//! | `radios` | the radios that captured: channels, copies |
//! | `heard` | the analysis of a frame |

pub mod class;
pub mod esp_now;
mod heard;
pub mod link;
pub mod network;
pub mod overlap;
mod radios;

use crate::course::CaptureCourse;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use class::FrameClass;
use esp_now::{CaptureKeys, EspNowFrames};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::view::MpduView;
use espbench_measure::air::timeline::AirFrame;
use link::{LinkKey, LinkRecord};
use network::Networks;
use overlap::Overlaps;

/// The most stations, and the most links.
pub(crate) const MOST_STATIONS: usize = 4096;
pub(crate) const MOST_LINKS: usize = 4096;

/// Frames that a timeline shows, and for how long, in nanoseconds.
const SHOWN: usize = 600;
const SHOWN_NS: u64 = 200_000_000;

/// Counts of a kind of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCount {
    /// Frames.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// Octets with FCS.
    pub octets: u64,
    /// Time on the air, of those whose rate is known.
    pub air_ns: u64,
}

impl ClassCount {
    const fn add(&mut self, octets: u32, retry: bool, air_ns: u64) {
        self.frames += 1;
        self.retries += retry as u64;
        self.octets += octets as u64;
        self.air_ns += air_ns;
    }
}

/// Counts of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationRecord {
    /// Frames that it sent.
    pub sent: ClassCount,
    /// Time that its acknowledgements and other responses took.
    pub responses_ns: u64,
    /// Strength at which its frames were captured.
    pub rssi: link::RssiSpread,
}

/// Analysis of the frames of a capture, in bounded memory.
#[derive(Debug, Default)]
pub struct AirAnalysis {
    /// Frames.
    pub frames: u64,
    /// Frames with a wrong FCS, and their time on the air.
    pub bad: ClassCount,
    /// Frames that are shorter than their header, or of another version.
    pub malformed: u64,
    /// Frames whose rate the capture does not tell, or that no mode here has: without a time on the air.
    pub unrated: u64,
    /// Records that found no room.
    pub dropped: u64,
    /// Frames that another radio had captured before: they count nowhere else.
    pub copies: u64,
    /// Probe requests of addresses that are made up for them: they count as frames, not as stations.
    pub randomised: u64,
    /// Block acknowledgements that are not read: not compressed, or with a bitmap of another length.
    pub unread_block_acks: u64,
    /// Frames by channel; 0 is unknown.
    pub channels: BTreeMap<u8, ClassCount>,
    /// Frames by type and subtype: `0x1A` is type 1, subtype 10.
    pub subtypes: BTreeMap<u8, u64>,
    /// Frames by kind.
    pub classes: BTreeMap<FrameClass, ClassCount>,
    /// Senders.
    pub stations: BTreeMap<Mac, StationRecord>,
    /// Links.
    pub links: BTreeMap<LinkKey, LinkRecord>,
    /// Acknowledgements whose frame was not captured.
    pub orphans: u64,
    /// Networks.
    pub networks: Networks,
    /// Frames at the same time.
    pub overlaps: Overlaps,
    /// Decoded frames of the component.
    pub esp_now: EspNowFrames,
    /// Course of the time on the air.
    pub course: CaptureCourse,
    /// First frames, for a timeline, with the places of stations in `shown_stations`.
    pub shown: Vec<AirFrame>,
    /// Stations of `shown`.
    pub shown_stations: Vec<Mac>,
    shown_radio: Option<radios::RadioId>,
    keys: CaptureKeys,
    counters: BTreeMap<SequenceCounter, (u16, Option<u64>)>,
    pending: BTreeMap<heard::AirPlace, heard::Pending>,
    ampdus: BTreeMap<radios::RadioId, heard::Aggregate>,
    pub(crate) radios: radios::HeardRadios,
}

/// Counter of sequence numbers: QoS data of a receiver and traffic identifier has one of its own.
type SequenceCounter = (Mac, Option<(Mac, u8)>);

impl AirAnalysis {
    /// Begins an analysis that decrypts with these keys.
    #[must_use]
    pub fn new(keys: CaptureKeys) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Ends it: what waits for an acknowledgement has none.
    pub fn finish(&mut self, last_ns: Option<u64>) {
        while let Some(radio) = self.ampdus.keys().next().copied() {
            self.end_aggregate(radio);
        }
        self.networks.finish(last_ns);
        self.links.values_mut().for_each(LinkRecord::finish);
    }

    /// Returns the time for which a channel was heard: less than the capture's where a radio changed its channel.
    #[must_use]
    pub fn heard_ns(&self, channel: u8) -> Option<u64> {
        self.radios.heard_ns(channel)
    }

    /// Returns how often a radio changed its channel.
    #[must_use]
    pub fn channel_changes(&self) -> u64 {
        self.radios.changes()
    }

    /// Returns the time that the frames of the busiest channel took, in nanoseconds.
    #[must_use]
    pub fn busy_ns(&self) -> u64 {
        self.channels.values().map(|it| it.air_ns).max().unwrap_or_default()
    }

    /// Returns whether an access point passes on what was heard from its sender before.
    pub(crate) fn is_relayed(&self, view: &MpduView<'_>) -> bool {
        let source = view.third.filter(|_| view.from_ds() && !view.to_ds());
        source.is_some_and(|it| Some(it) != view.transmitter && self.stations.contains_key(&it))
    }

    /// Returns whether acknowledgements are heard at all.
    #[must_use]
    pub fn hears_acknowledgements(&self) -> bool {
        let count = |class| self.classes.get(&class).map_or(0, |it| it.frames);
        count(FrameClass::Ack) + count(FrameClass::BlockAck) > 0
    }

    /// Returns the place of a station in the timeline.
    fn place(&mut self, mac: Mac) -> usize {
        let known = self.shown_stations.iter().position(|it| *it == mac);
        known.unwrap_or_else(|| {
            self.shown_stations.push(mac);
            self.shown_stations.len() - 1
        })
    }

    /// Adds a frame to the timeline, while there is room.
    fn show(&mut self, mut frame: AirFrame, from: Mac, to: Option<Mac>) {
        let first = self.shown.first().map_or(frame.begin_ns, |it| it.begin_ns);
        let late = frame.begin_ns.saturating_sub(first) > SHOWN_NS || frame.begin_ns < first;
        if late || self.shown.len() >= SHOWN {
            return;
        }
        frame.from = self.place(from);
        frame.to = to.map(|it| self.place(it));
        self.shown.push(frame);
    }
}

#[cfg(test)]
mod tests;
