//! What many publishers and their common subscriber work in: names and buffers, bounded in sum.

use crate::target::mqtt::pump::{ANSWERS, Job, MOST_OPEN, Names};
use crate::target::mqtt::wire::packet_room;
use espbench_proto::node::mqtt::listener;
use espbench_proto::node::mqtt::publisher::InFlightSlot;
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::tracker::MessageRecord;
use espbench_proto::node::mqtt::{Exchange, Gatherer, MqttSettings, OfferedLoad, PublisherStorage};
use espbench_proto::sample::Link;

/// Fewest messages of a publisher whose fate may be open.
const FEWEST_OPEN: usize = 64;

struct One {
    topic: String,
    client: String,
    packet: Vec<u8>,
    flights: Vec<InFlightSlot>,
    entries: Vec<MessageRecord>,
}

pub(super) struct Memory {
    names: Names,
    filter: String,
    members: Vec<One>,
    packet: Vec<u8>,
    answers: Vec<PendingAck>,
    seen: Box<[u64; SEEN]>,
}

impl Memory {
    pub(super) fn new(job: &Job<'_>) -> Self {
        let (work, names) = (job.work, Names::new(job.target));
        let clients = usize::from(work.clients).max(1);
        let each = match job.pace {
            OfferedLoad::Saturate => MOST_OPEN,
            OfferedLoad::Rate(rate) => {
                (rate * work.time.as_secs_f64() / clients as f64) as usize + 2
            }
        };
        let most = each.min(MOST_OPEN / clients).max(FEWEST_OPEN);
        let flights = if work.qos > 0 { usize::from(work.in_flight) } else { 0 };
        let member = |number: usize| One {
            topic: format!("{}/{number}", names.topic),
            client: format!("{}x{number:x}", names.clients[0]),
            packet: vec![0; 1024],
            // Each is open as long as its message is.
            flights: vec![InFlightSlot::EMPTY; flights.min(most)],
            entries: vec![MessageRecord::EMPTY; most],
        };
        Self {
            filter: format!("{}/+", names.topic),
            members: (0..clients).map(member).collect(),
            packet: vec![0; packet_room(&names.topic, work.size as usize)],
            answers: vec![PendingAck::default(); if work.qos > 0 { ANSWERS } else { 1 }],
            seen: Box::new([0; SEEN]),
            names,
        }
    }

    /// The machines, which borrow it.
    pub(super) fn lend<'m>(&'m mut self, job: &'m Job<'_>) -> (Vec<Exchange<'m>>, Gatherer<'m>) {
        let Self { names, filter, members, packet, answers, seen } = self;
        let names: &'m Names = names;
        let usual = job.settings(names);
        let clients = members.len() as u64;
        let pace = match usual.pace {
            OfferedLoad::Rate(rate) => OfferedLoad::Rate(rate / clients as f64),
            OfferedLoad::Saturate => OfferedLoad::Saturate,
        };
        let member = |(number, one): (usize, &'m mut One)| {
            let One { topic, client, packet, flights, entries } = one;
            // The first few share what is left of the count.
            let share = |count: u64| count / clients + u64::from((number as u64) < count % clients);
            let settings = MqttSettings {
                topic,
                client_ids: [client, client],
                pace,
                count: usual.count.map(share),
                queue: usual.queue.min(entries.len() as u32 / 2).max(1),
                sender: number as u16,
                link: Link(number as u16),
                ..usual
            };
            Exchange::member(settings, PublisherStorage { packet, flights, entries })
        };
        let gathering = MqttSettings { topic: filter, ..usual };
        let memory = listener::SubscriberStorage { packet, answers, seen };
        (members.iter_mut().enumerate().map(member).collect(), Gatherer::new(gathering, memory))
    }
}
