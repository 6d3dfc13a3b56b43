//! The memory of the clients in one piece, for who has nothing better to lend.

use crate::node::mqtt::PublisherStorage;
use crate::node::mqtt::listener::{ListenerStorage, SubscriberStorage};
use crate::node::mqtt::publisher::InFlightSlot;
use crate::node::mqtt::subscriber::{PendingAck, SEEN};
use crate::node::mqtt::topics::TopicNumbers;
use crate::node::mqtt::tracker::MessageRecord;

/// The memory of an [`MqttListener`](super::MqttListener), for the numbers of `TOPICS` topics.
#[derive(Clone, Debug)]
pub struct ListenerMemory<
    const PACKET: usize = 2048,
    const ANSWERS: usize = 256,
    const TOPICS: usize = 1,
> {
    packet: [u8; PACKET],
    answers: [PendingAck; ANSWERS],
    seen: [u64; SEEN],
    topics: [TopicNumbers; TOPICS],
}

impl<const PACKET: usize, const ANSWERS: usize, const TOPICS: usize>
    ListenerMemory<PACKET, ANSWERS, TOPICS>
{
    /// Returns memory for packets of `PACKET` bytes and `ANSWERS` acknowledgements that are owed.
    #[must_use]
    pub fn new() -> Self {
        Self {
            packet: [0; PACKET],
            answers: [PendingAck::default(); ANSWERS],
            seen: [0; SEEN],
            topics: [const { TopicNumbers::EMPTY }; TOPICS],
        }
    }

    /// Lends it.
    pub fn lend(&mut self) -> ListenerStorage<'_> {
        let Self { packet, answers, seen, topics } = self;
        ListenerStorage { subscriber: SubscriberStorage { packet, answers, seen }, topics }
    }
}

impl<const PACKET: usize, const ANSWERS: usize, const TOPICS: usize> Default
    for ListenerMemory<PACKET, ANSWERS, TOPICS>
{
    fn default() -> Self {
        Self::new()
    }
}

/// The memory of an [`Mqtt`](super::Mqtt) publisher.
#[derive(Clone, Debug)]
pub struct PublisherMemory<
    const PACKET: usize = 1460,
    const WINDOW: usize = 64,
    const OPEN: usize = 1024,
> {
    packet: [u8; PACKET],
    out: [u8; PACKET],
    flights: [InFlightSlot; WINDOW],
    entries: [MessageRecord; OPEN],
}

impl<const PACKET: usize, const WINDOW: usize, const OPEN: usize>
    PublisherMemory<PACKET, WINDOW, OPEN>
{
    /// Returns memory for packets of `PACKET` bytes, `WINDOW` messages without an acknowledgement,
    /// and `OPEN` whose fate is not known: those in flight and those queued.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            packet: [0; PACKET],
            out: [0; PACKET],
            flights: [InFlightSlot::EMPTY; WINDOW],
            entries: [MessageRecord::EMPTY; OPEN],
        }
    }

    /// Lends it: the storage, and what is handed to the socket at a time.
    pub fn lend(&mut self) -> (PublisherStorage<'_>, &mut [u8]) {
        let Self { packet, out, flights, entries } = self;
        (PublisherStorage { packet, flights, entries }, out)
    }
}

impl<const PACKET: usize, const WINDOW: usize, const OPEN: usize> Default
    for PublisherMemory<PACKET, WINDOW, OPEN>
{
    fn default() -> Self {
        Self::new()
    }
}
