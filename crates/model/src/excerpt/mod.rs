//! An excerpt of the medium's history as text. The virtual lab stores it with a cell, and a report
//! draws it again. Each event has its own line, so that an excerpt can be cut, joined and read.
//!
//! | line | meaning |
//! |---|---|
//! | `station N NAME` | a station of the lab |
//! | `window BEGIN END WHY` | a stretch of time; the lines up to the next one are within it |
//! | `frame KIND FROM TO BEGIN TOOK WAITED QUEUED CHANNEL MODE OCTETS SEQUENCE ATTEMPT HEARD COLLIDED NOISE QUEUE` | a frame on the air; an A-MPDU adds ` MPDUS LOST` |
//! | `probe N SEQUENCE SENT END FATE` | a probe of station N; FATE is that of a sample, or the cause of its loss |
//! | `lost N AT CAUSE` | a frame that was lost at station N |
//! | `missing COUNT` | number of frames that found no room in the excerpt |
//! | `series N WHAT POINTS` | course of a [`StationLevel`] of station N within the window: see [`Points`] |
//! | `share CHANNEL KIND STEP PERMILLE,…` | share of each step of time for which a channel was occupied |
//!
//! Times are whole nanoseconds on the lab's clock. TOOK, WAITED and QUEUED are differences: the
//! time for which the frame was on the air, the time before that for which it was first in its
//! sender's queue, and the time before that for which it stood further back in the queue. `TO` is
//! `*` for a broadcast frame. MPDUS is the number of frames in an A-MPDU; LOST is the number of
//! these that the addressee could not read or had no buffer for.

mod frame;
mod level;
#[cfg(test)]
mod tests;

pub use frame::ExcerptFrame;
pub use level::{LevelPoint, Points, StationLevel, Written};

use crate::sample::{Cause, Fate};
use crate::untrusted::Untrusted;
use core::fmt;

/// Name of the fact in which a cell keeps its excerpt.
pub const FACT: &str = "air-excerpt";

/// Use of a channel's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AirtimeKind {
    /// Data frames of the lab's devices.
    Data,
    /// Acknowledgements.
    Ack,
    /// Beacons.
    Beacon,
    /// Frames of other people's stations.
    Background,
    /// Block acknowledgements and block acknowledgement requests.
    BlockAck,
    /// RTS and CTS frames.
    Clearance,
    /// Management frames other than beacons: authentication and association; also EAPOL, although
    /// it is carried in data frames.
    Management,
    /// Null-data frames and PS-Poll, which announce or end sleep.
    Null,
}

impl AirtimeKind {
    /// All kinds, in the order of their numbers.
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

    /// Returns the word for it in an excerpt.
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

    /// Returns the kind of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One line of an excerpt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExcerptLine<'a> {
    /// A station of the lab.
    Station {
        /// Number of the station.
        number: u32,
        /// Name of the station.
        name: &'a str,
    },
    /// A stretch of time begins.
    Window {
        /// Begin of the stretch, in nanoseconds on the lab's clock.
        begin: u64,
        /// End of the stretch, in nanoseconds on the lab's clock.
        end: u64,
        /// Reason why the stretch is shown.
        why: &'a str,
    },
    /// A frame on the air.
    Frame(ExcerptFrame<'a>),
    /// A probe.
    Probe {
        /// Number of the station that sent the probe.
        station: u32,
        /// Sequence number of the probe.
        sequence: u64,
        /// Time at which it was sent, in nanoseconds on the lab's clock.
        begin: u64,
        /// Time at which its fate was known, in nanoseconds on the lab's clock.
        end: u64,
        /// Fate of the probe.
        fate: Fate,
    },
    /// A frame that was lost.
    Lost {
        /// Number of the station at which the frame was lost.
        station: u32,
        /// Time of the loss, in nanoseconds on the lab's clock.
        at: u64,
        /// Cause of the loss.
        cause: Cause,
    },
    /// Course of a level within the window.
    Series {
        /// Number of the station.
        station: u32,
        /// Level that is shown.
        level: StationLevel,
        /// Values of the level over time.
        points: Points<'a>,
    },
    /// Number of frames that found no room in the excerpt.
    Missing(u64),
    /// Shares of steps of time for which a channel was occupied.
    Share {
        /// Number of the channel.
        channel: u8,
        /// Use of the time: a word of [`AirtimeKind`], or `collided`.
        kind: &'a str,
        /// Length of a step, in nanoseconds.
        step: u64,
        /// Shares in thousandths, joined by commas.
        permille: &'a str,
    },
}

impl fmt::Display for ExcerptLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Station { number, name } => {
                write!(f, "station {number} {}", Untrusted::line(name))
            }
            Self::Window { begin, end, why } => {
                write!(f, "window {begin} {end} {}", Untrusted::line(why))
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

impl<'a> ExcerptLine<'a> {
    /// Parses a line without its line end; `None` for a line of another form or version.
    #[must_use]
    pub fn read(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        let mut words = WordReader(rest);
        let line = match word {
            "station" => Self::Station { number: words.number()?, name: words.rest() },
            "window" => {
                Self::Window { begin: words.number()?, end: words.number()?, why: words.rest() }
            }
            "frame" => Self::Frame(ExcerptFrame::read(&mut words)?),
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
                level: StationLevel::from_name(words.next()?)?,
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

/// Words of a line that are still to be read.
struct WordReader<'a>(&'a str);

impl<'a> WordReader<'a> {
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

/// Returns the word for a fate: a lost probe is named by its cause, which differs from every fate.
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
