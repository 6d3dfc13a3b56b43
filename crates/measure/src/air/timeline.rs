//! Stretches of time on the air: who sent what.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

pub use espbench_model::excerpt::AirtimeKind;

/// Fate of a frame with those that it was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameFate {
    /// Read by all.
    #[default]
    Read,
    /// Read by some.
    Partly,
    /// Read by nobody: another frame was on the air.
    Collided,
    /// Read by nobody: it was too weak.
    Weak,
    /// Taken by nobody: its receivers were out of reach, off, on another channel, or had it already.
    Unheard,
}

impl FrameFate {
    /// All fates, in the order of a legend.
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Partly, Self::Collided, Self::Weak, Self::Unheard];

    /// Returns the words of a legend.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Read => "read by all that it was for",
            Self::Partly => "read by some",
            Self::Collided => "collided",
            Self::Weak => "too weak",
            Self::Unheard => "taken by nobody",
        }
    }
}

/// A frame on the air. Times are nanoseconds on the lab's clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AirFrame {
    /// A word of [`AirtimeKind`].
    pub kind: String,
    /// Sender of the frame: a place in the list of stations.
    pub from: usize,
    /// Whom it was for; `None` is everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<usize>,
    /// Time at which it began.
    pub begin_ns: u64,
    /// Time for which it was on the air.
    pub took_ns: u64,
    /// Time for which it had been first in its sender's queue: the back-off, and everything that
    /// held it up.
    pub waited_ns: u64,
    /// Time for which it had waited in the queue before that.
    pub queued_ns: u64,
    /// On which channel.
    pub channel: u8,
    /// How it was sent.
    pub mode: String,
    /// Octets of the MPDU with FCS.
    pub octets: u32,
    /// Sequence number of the station.
    pub sequence: u16,
    /// Attempt, from 1: later ones are retries.
    pub attempt: u8,
    /// Fate of the frame.
    pub fate: FrameFate,
    /// Stations for which it was and that read it.
    pub heard: u32,
    /// Stations for which it was and for which another frame spoiled it.
    pub collided: u32,
    /// Stations for which it was and that it reached too weakly.
    pub noise: u32,
    /// Frames in the sender's queue when it began, with it.
    pub queue: u16,
    /// MPDUs in an A-MPDU; 0 or 1 where it is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mpdus: u8,
    /// MPDUs of these that the addressee could not read, or had no buffer for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(it: &u8) -> bool {
    *it == 0
}

/// A probe of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineProbe {
    /// Station: a place in the list of stations.
    pub station: usize,
    /// Number of the probe.
    pub sequence: u64,
    /// Time at which it was sent.
    pub begin_ns: u64,
    /// Time at which it was answered or given up.
    pub end_ns: u64,
    /// `delivered`, `late`, `duplicate`, `corrupt`, or the cause of its loss.
    pub fate: String,
    /// Whether it was lost.
    pub lost: bool,
}

/// A frame that was lost at a station.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Place in the list of stations.
    pub station: usize,
    /// Time of the loss.
    pub at_ns: u64,
    /// Cause of the loss.
    pub cause: String,
}

/// When a level became what: it stays so until the next point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// Time of the point.
    pub at_ns: u64,
    /// Height from then on.
    pub value: u64,
}

/// Course of a window, a queue or a memory of a station: see
/// [`espbench_model::excerpt::StationLevel`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineLevel {
    /// Station: a place in the list of stations.
    pub station: usize,
    /// Name of the quantity: `cwnd`, `in-flight`, `heap`, ….
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Points in the order of time.
    pub points: Vec<TimelinePoint>,
}

impl TimelineLevel {
    /// Returns the largest height.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.points.iter().map(|it| it.value).max().unwrap_or_default()
    }
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineWindow {
    /// Reason why the window is shown.
    pub why: String,
    /// Begin of the stretch.
    pub begin_ns: u64,
    /// End of the stretch.
    pub end_ns: u64,
    /// Frames, in the order of their ends.
    pub frames: Vec<AirFrame>,
    /// Probes that were under way.
    pub probes: Vec<TimelineProbe>,
    /// Losses, each with its place.
    pub losses: Vec<Loss>,
    /// Courses of windows, queues and memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<TimelineLevel>,
    /// Frames that are not in this list for lack of room.
    pub missing: u64,
}

/// Shares of each step of time in which a channel was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// The channel.
    pub channel: u8,
    /// By what: a word of [`AirtimeKind`], or `collided`.
    pub kind: String,
    /// Length of a step.
    pub step_ns: u64,
    /// Thousandths of each step.
    pub permille: Vec<u16>,
}

/// Stretches of the medium's history in one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Stable name, usable as an anchor.
    pub id: String,
    /// Name of the cell, in words.
    pub place: String,
    /// Names of the stations that have a part in it.
    pub stations: Vec<String>,
    /// Windows that are shown.
    pub windows: Vec<TimelineWindow>,
    /// The channels' time over all of the cell.
    pub course: Vec<Course>,
}

impl TimelineWindow {
    /// Returns the window in words, for those who cannot see it.
    #[must_use]
    pub fn alt(&self) -> String {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for frame in &self.frames {
            *kinds.entry(&frame.kind).or_default() += 1;
        }
        let kinds: Vec<String> = AirtimeKind::ALL
            .into_iter()
            .filter_map(|kind| Some(format!("{} {}", kinds.get(kind.name())?, plural(kind))))
            .collect();
        let count = |of: fn(&AirFrame) -> bool| self.frames.iter().filter(|it| of(it)).count();
        let (retries, collided) = (count(|it| it.attempt > 1), count(|it| it.collided > 0));
        let lost = self.probes.iter().filter(|it| it.lost).count();
        let ms = (self.end_ns - self.begin_ns.min(self.end_ns)) as f64 / 1e6;
        let mut text = format!(
            "{} ms: {}; {retries} of them retries, {collided} spoiled by another frame for somebody.",
            crate::digits::six(ms),
            kinds.join(", ")
        );
        if !self.probes.is_empty() {
            text.push_str(&format!(" {} probes, {lost} of them lost.", self.probes.len()));
        }
        for level in &self.levels {
            text.push_str(&format!(" {} up to {} {}.", level.name, level.most(), level.unit));
        }
        if self.missing > 0 {
            text.push_str(&format!(" {} frames more than are kept.", self.missing));
        }
        text
    }
}

fn plural(kind: AirtimeKind) -> &'static str {
    match kind {
        AirtimeKind::Data => "frames of devices",
        AirtimeKind::Ack => "acknowledgements",
        AirtimeKind::Beacon => "beacons",
        AirtimeKind::Background => "frames of others",
        AirtimeKind::BlockAck => "block acknowledgements",
        AirtimeKind::Clearance => "RTS and CTS",
        AirtimeKind::Management => "management frames",
        AirtimeKind::Null => "frames without a body",
    }
}

impl AirFrame {
    /// Returns the frame in words.
    #[must_use]
    pub fn words(&self, stations: &[String]) -> String {
        let name = |at: usize| stations.get(at).map_or("?", String::as_str);
        let to = self.to.map_or("all", name);
        let mut text = format!("{} {} to {to}", self.kind, name(self.from));
        if self.kind != AirtimeKind::Ack.name() {
            text.push_str(&format!(", number {}", self.sequence));
        }
        if self.mpdus > 1 {
            text.push_str(&format!(", an A-MPDU of {}", self.mpdus));
        }
        if self.lost > 0 {
            text.push_str(&format!(" of which {} were not taken", self.lost));
        }
        if self.attempt > 1 {
            text.push_str(&format!(", attempt {}", self.attempt));
        }
        let us = |ns: u64| (ns as f64 / 1000.0).to_string();
        text.push_str(&format!(
            ": {} B at {}, channel {}, {} us on the air",
            self.octets,
            self.mode,
            self.channel,
            us(self.took_ns)
        ));
        if self.waited_ns > 0 {
            text.push_str(&format!(", {} us of waiting for the medium", us(self.waited_ns)));
        }
        if self.queued_ns > 0 && self.attempt <= 1 {
            text.push_str(&format!(", {} us in the queue", us(self.queued_ns)));
        }
        if self.queue > 1 {
            text.push_str(&format!(", {} in the queue", self.queue));
        }
        let of = self.heard + self.collided + self.noise;
        text.push_str(&match self.fate {
            // Its MPDUs have been told.
            FrameFate::Partly if self.lost > 0 => String::new(),
            FrameFate::Read if of > 1 => format!("; read by all {of}"),
            FrameFate::Read => "; read".into(),
            FrameFate::Partly => format!(
                "; read by {} of {of} ({} collisions, {} too weak)",
                self.heard, self.collided, self.noise
            ),
            fate => format!("; {}", fate.words()),
        });
        text
    }
}
