//! The numbers of links, by their pairs of addresses.

use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Link;
use heapless::Vec;

/// Ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEnds {
    /// Sender; `None` if no line has named it.
    pub from: Option<Mac>,
    /// Receiver; `None` if no line has named it.
    pub to: Option<Mac>,
}

#[derive(Clone, Copy, Debug)]
struct LinkRow {
    ends: LinkEnds,
    /// Next sequence numbers: of probes, of intervals at the sender, of intervals at the receiver.
    next: [u64; 3],
}

/// Sequence of numbers on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Probe,
    SenderInterval,
    ReceiverInterval,
}

#[derive(Clone, Debug)]
pub(super) struct LinkTable<const N: usize>(Vec<LinkRow, N>);

impl<const N: usize> LinkTable<N> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = LinkEnds> + '_ {
        self.0.iter().map(|row| row.ends)
    }

    /// Returns the link between these ends; a new one if there is room.
    pub(super) fn get(&mut self, from: Option<Mac>, to: Option<Mac>) -> Option<Link> {
        let ends = LinkEnds { from, to };
        let known = self.0.iter().position(|row| row.ends == ends);
        let at = known.or_else(|| {
            self.0.push(LinkRow { ends, next: [0; 3] }).ok()?;
            self.0.len().checked_sub(1)
        });
        u16::try_from(at?).ok().map(Link)
    }

    /// Returns the next number of a sequence.
    pub(super) fn next(&self, link: Link, what: Count) -> u64 {
        self.0.get(usize::from(link.0)).map_or(0, |row| row.next[what as usize])
    }

    /// Marks a number of a sequence as used.
    pub(super) fn used(&mut self, link: Link, what: Count, seq: u64) {
        if let Some(row) = self.0.get_mut(usize::from(link.0)) {
            let next = &mut row.next[what as usize];
            *next = (*next).max(seq.saturating_add(1));
        }
    }
}
