//! A frame in an excerpt.

use super::{Kind, Words};
use core::fmt;

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// What it was.
    pub kind: Kind,
    /// Who sent it.
    pub from: u32,
    /// To whom; `None` is to all.
    pub to: Option<u32>,
    /// When it began.
    pub begin: u64,
    /// How long it was on the air.
    pub took: u64,
    /// How long it had been first in its sender's queue.
    pub waited: u64,
    /// How long it had been in the queue before that.
    pub queued: u64,
    /// On which channel.
    pub channel: u8,
    /// How it was sent: a name without spaces.
    pub mode: &'a str,
    /// Octets of the MPDU with FCS.
    pub octets: u32,
    /// Sequence number of the station.
    pub sequence: u16,
    /// Attempt, from 1.
    pub attempt: u8,
    /// Stations for which it was and that read it.
    pub heard: u32,
    /// Stations for which it was and for which another frame spoiled it.
    pub collided: u32,
    /// Stations for which it was and that it reached too weakly.
    pub noise: u32,
    /// Frames in the sender's queue when it began, with it.
    pub queue: u16,
    /// MPDUs in it: from 2 on it is an A-MPDU.
    pub mpdus: u8,
    /// Of these, those that its addressee could not read or had no buffer for.
    pub lost: u8,
}

impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.kind.name(), self.from)?;
        match self.to {
            Some(to) => write!(f, "{to}")?,
            None => f.write_str("*")?,
        }
        let Self { begin, took, waited, queued, channel, mode, octets, sequence, .. } = self;
        write!(f, " {begin} {took} {waited} {queued} {channel} {mode} {octets} {sequence}")?;
        let Self { attempt, heard, collided, noise, queue, .. } = self;
        write!(f, " {attempt} {heard} {collided} {noise} {queue}")?;
        if self.mpdus > 1 { write!(f, " {} {}", self.mpdus, self.lost) } else { Ok(()) }
    }
}

impl<'a> Frame<'a> {
    pub(super) fn read(words: &mut Words<'a>) -> Option<Self> {
        let frame = Self {
            kind: Kind::from_name(words.next()?)?,
            from: words.number()?,
            to: match words.next()? {
                "*" => None,
                number => Some(number.parse().ok()?),
            },
            begin: words.number()?,
            took: words.number()?,
            waited: words.number()?,
            queued: words.number()?,
            channel: words.number()?,
            mode: words.next()?,
            octets: words.number()?,
            sequence: words.number()?,
            attempt: words.number()?,
            heard: words.number()?,
            collided: words.number()?,
            noise: words.number()?,
            queue: words.number()?,
            mpdus: 1,
            lost: 0,
        };
        let Some(mpdus) = words.next() else { return Some(frame) };
        // One alone is written without.
        let mpdus = mpdus.parse().ok().filter(|it| *it > 1)?;
        Some(Self { mpdus, lost: words.number()?, ..frame })
    }
}
