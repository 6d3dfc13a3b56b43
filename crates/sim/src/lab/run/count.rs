//! Counters of a lab, by name.

use super::Lab;
use super::tap::Tap;
use crate::lab::nodes::Conversation as _;
use crate::lab::record::Record;
use espbench_dot11::mac::MacCounters;

/// One of the MAC's counters.
type Of = fn(&MacCounters) -> u64;

/// Counters of the MAC, by name.
const OF_MAC: [(&str, Of); 8] = [
    ("frames-sent", |it| it.sent),
    ("retries", |it| it.retries),
    ("acknowledged", |it| it.acknowledged),
    ("given-up", |it| it.given_up),
    ("received", |it| it.received),
    ("duplicates", |it| it.duplicates),
    ("collided", |it| it.collided),
    ("noise", |it| it.noise),
];

impl<W: Tap> Lab<'_, W> {
    /// Adds what all devices have counted to a record: of the MAC `frames-sent`, `retries`,
    /// `acknowledged`, `given-up`, `received`, `duplicates`, `collided`, `noise`; of the driver
    /// `refused` and `receive-drops`; of the nodes since their last start `queue-drops`.
    pub fn count_all<R: Record + ?Sized>(&self, record: &mut R) {
        for (name, of) in OF_MAC {
            let all = self.nodes().map(|node| of(&self.mac_counters(u32::from(node.0))));
            record.count(name, all.sum());
        }
        record.count("refused", self.nodes().map(|node| self.drops(node).refused).sum());
        record.count("receive-drops", self.nodes().map(|node| self.drops(node).receive).sum());
        let dropped = self.nodes().map(|node| u64::from(self.dropped(node).total()));
        record.count("queue-drops", dropped.sum());
    }
}
