//! An excerpt of the medium's history as text: what the virtual lab stores with a cell, and what a
//! report draws again. One line for each thing, so that it can be cut, joined and looked at.
//!
//! | line | what |
//! |---|---|
//! | `station N NAME` | a station of the room |
//! | `window BEGIN END WHY` | a stretch of time; the lines up to the next one are within it |
//! | `frame KIND FROM TO BEGIN TOOK WAITED QUEUED CHANNEL MODE OCTETS SEQUENCE ATTEMPT HEARD COLLIDED NOISE QUEUE` | a frame on the air; of an A-MPDU ` MPDUS LOST` follows |
//! | `probe N SEQUENCE SENT END FATE` | a probe of station N; FATE is that of a sample, or the cause of its loss |
//! | `lost N AT CAUSE` | a frame that was lost at station N |
//! | `missing COUNT` | frames that found no room |
//! | `series N WHAT POINTS` | how a [`Level`] of station N went within the window: see [`Points`] |
//! | `share CHANNEL KIND STEP PERMILLE,…` | for how much of each step of time a channel was taken |
//!
//! Times are whole nanoseconds on the lab's clock; TOOK, WAITED and QUEUED are differences: how
//! long the frame was on the air, how long it had been first in its sender's queue before that, and
//! how long it had been in the queue before that. `TO` is `*` for a frame to all. MPDUS is how many
//! frames an A-MPDU holds, LOST how many of them its addressee could not read or had no buffer for.

mod frame;
mod level;
#[cfg(test)]
mod tests;

pub use frame::Frame;
pub use level::{Level, Point, Points, Written};

use crate::sample::{Cause, Fate};
use core::fmt;

/// Under this name a cell keeps its excerpt among its facts.
pub const FACT: &str = "air-excerpt";

/// What a channel's time goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Frames of devices.
    Data,
    /// Acknowledgements.
    Ack,
    /// Beacons.
    Beacon,
    /// Frames of other people's stations.
    Background,
    /// Block acknowledgements, and requests for them.
    BlockAck,
    /// Requests to send, and clearances.
    Clearance,
    /// Management frames but beacons: authentication, association, and EAPOL's, which is data.
    Management,
    /// Frames without a body, and PS-Poll: what tells of sleep.
    Null,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Data,
        Self::Ack,
        Self::Beacon,
        Self::Background,
        Self::BlockAck,
        Self::Clearance,
        Self::Management,
        Self::Null,
    ];

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ack => "ack",
            Self::Beacon => "beacon",
            Self::Background => "background",
            Self::BlockAck => "block-ack",
            Self::Clearance => "rts-cts",
            Self::Management => "management",
            Self::Null => "null",
        }
    }

    /// The kind of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line<'a> {
    /// A station of the room.
    Station {
        /// Its number.
        number: u32,
        /// Its name.
        name: &'a str,
    },
    /// A stretch of time begins.
    Window {
        /// From.
        begin: u64,
        /// Until.
        end: u64,
        /// What is to be seen in it.
        why: &'a str,
    },
    /// A frame on the air.
    Frame(Frame<'a>),
    /// A probe.
    Probe {
        /// Whose.
        station: u32,
        /// Its number.
        sequence: u64,
        /// When it was sent.
        begin: u64,
        /// When its fate was known.
        end: u64,
        /// What became of it.
        fate: Fate,
    },
    /// A frame that was lost.
    Lost {
        /// Where.
        station: u32,
        /// When.
        at: u64,
        /// Why.
        cause: Cause,
    },
    /// How a level went within the window.
    Series {
        /// Whose.
        station: u32,
        /// Of what.
        level: Level,
        /// When it became what.
        points: Points<'a>,
    },
    /// Frames that found no room in the excerpt.
    Missing(u64),
    /// For how much of each step of time a channel was taken.
    Share {
        /// The channel.
        channel: u8,
        /// By what: a word of [`Kind`], or `collided`.
        kind: &'a str,
        /// How long a step is.
        step: u64,
        /// Shares in thousandths, joined by commas.
        permille: &'a str,
    },
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Station { number, name } => write!(f, "station {number} {}", OneLine(name)),
            Self::Window { begin, end, why } => {
                write!(f, "window {begin} {end} {}", OneLine(why))
            }
            Self::Frame(frame) => write!(f, "frame {frame}"),
            Self::Probe { station, sequence, begin, end, fate } => {
                write!(f, "probe {station} {sequence} {begin} {end} {}", fate_name(fate))
            }
            Self::Lost { station, at, cause } => write!(f, "lost {station} {at} {}", cause.name()),
            Self::Series { station, level, points } => {
                write!(f, "series {station} {} {points}", level.name())
            }
            Self::Missing(count) => write!(f, "missing {count}"),
            Self::Share { channel, kind, step, permille } => {
                write!(f, "share {channel} {kind} {step} {permille}")
            }
        }
    }
}

impl<'a> Line<'a> {
    /// Reads a line without its end; `None` for what is not one, or not of this version.
    #[must_use]
    pub fn read(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        let mut words = Words(rest);
        let line = match word {
            "station" => Self::Station { number: words.number()?, name: words.rest() },
            "window" => {
                Self::Window { begin: words.number()?, end: words.number()?, why: words.rest() }
            }
            "frame" => Self::Frame(Frame::read(&mut words)?),
            "probe" => Self::Probe {
                station: words.number()?,
                sequence: words.number()?,
                begin: words.number()?,
                end: words.number()?,
                fate: fate_of(words.next()?)?,
            },
            "lost" => Self::Lost {
                station: words.number()?,
                at: words.number()?,
                cause: Cause::from_name(words.next()?)?,
            },
            "series" => Self::Series {
                station: words.number()?,
                level: Level::from_name(words.next()?)?,
                points: Points::read(words.next()?)?,
            },
            "missing" => Self::Missing(words.number()?),
            "share" => Self::Share {
                channel: words.number()?,
                kind: words.next()?,
                step: words.number()?,
                permille: words.next()?,
            },
            _ => return None,
        };
        words.0.is_empty().then_some(line)
    }
}

/// The words of a line that are still to be read.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    fn number<T: core::str::FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn rest(&mut self) -> &'a str {
        core::mem::take(&mut self.0)
    }
}

/// A text without line ends and other control characters: spaces stand for them.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        self.0.chars().try_for_each(|c| f.write_char(if c.is_control() { ' ' } else { c }))
    }
}

/// A lost probe says its cause: no cause has the name of another fate.
const fn fate_name(fate: Fate) -> &'static str {
    match fate {
        Fate::Lost(cause) => cause.name(),
        _ => fate.name(),
    }
}

fn fate_of(name: &str) -> Option<Fate> {
    Cause::from_name(name)
        .map(Fate::Lost)
        .or_else(|| Fate::from_name(name, None).filter(|it| !matches!(it, Fate::Lost(_))))
}
