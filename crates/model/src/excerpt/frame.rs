//! A frame in an excerpt.

use super::{AirtimeKind, WordReader};
use core::fmt;

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExcerptFrame<'a> {
    /// Kind of frame.
    pub kind: AirtimeKind,
    /// Number of the sending station.
    pub from: u32,
    /// Number of the addressed station; `None` for a broadcast.
    pub to: Option<u32>,
    /// Time at which it began, in nanoseconds on the lab's clock.
    pub begin: u64,
    /// Air time in nanoseconds.
    pub took: u64,
    /// Time for which it was first in its sender's queue, in nanoseconds.
    pub waited: u64,
    /// Time for which it was further back in the queue before that, in nanoseconds.
    pub queued: u64,
    /// Number of the channel.
    pub channel: u8,
    /// Name of the PHY mode, without spaces.
    pub mode: &'a str,
    /// Octets of the MPDU with FCS.
    pub octets: u32,
    /// Sequence number that the station gave it.
    pub sequence: u16,
    /// Number of the attempt, from 1.
    pub attempt: u8,
    /// Number of addressed stations that read it.
    pub heard: u32,
    /// Number of addressed stations for which another frame spoiled it.
    pub collided: u32,
    /// Number of addressed stations that it reached too weakly.
    pub noise: u32,
    /// Length of the sender's queue when the frame began, this frame included.
    pub queue: u16,
    /// Number of MPDUs in it; 2 or more make it an A-MPDU.
    pub mpdus: u8,
    /// Number of MPDUs that the addressee could not read or had no buffer for.
    pub lost: u8,
}

impl fmt::Display for ExcerptFrame<'_> {
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

impl<'a> ExcerptFrame<'a> {
    pub(super) fn read(words: &mut WordReader<'a>) -> Option<Self> {
        let frame = Self {
            kind: AirtimeKind::from_name(words.next()?)?,
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
        // An A-MPDU of one is written without these two words.
        let mpdus = mpdus.parse().ok().filter(|it| *it > 1)?;
        Some(Self { mpdus, lost: words.number()?, ..frame })
    }
}
