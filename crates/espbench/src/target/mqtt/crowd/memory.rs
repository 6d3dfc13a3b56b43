//! The memory of many publishers and their common subscriber: names and buffers, bounded in sum.

use crate::target::mqtt::pump::{ANSWERS, MOST_OPEN, MqttJob, RunNames};
use crate::target::mqtt::wire::packet_room;
use espbench_model::sample::Link;
use espbench_proto::node::mqtt::listener;
use espbench_proto::node::mqtt::publisher::InFlightSlot;
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::tracker::MessageRecord;
use espbench_proto::node::mqtt::{Exchange, Gatherer, MqttSettings, OfferedLoad, PublisherStorage};

/// Fewest messages of a publisher whose fate may be open.
const FEWEST_OPEN: usize = 64;

struct MemberMemory {
    topic: String,
    client: String,
    packet: Vec<u8>,
    flights: Vec<InFlightSlot>,
    entries: Vec<MessageRecord>,
}

pub(super) struct CrowdMemory {
    names: RunNames,
    filter: String,
    members: Vec<MemberMemory>,
    packet: Vec<u8>,
    answers: Vec<PendingAck>,
    seen: Box<[u64; SEEN]>,
}

impl CrowdMemory {
    pub(super) fn new(job: &MqttJob<'_>) -> Self {
        let (work, names) = (job.work, RunNames::new(job.target));
        let clients = usize::from(work.clients).max(1);
        let each = match job.pace {
            OfferedLoad::Saturate => MOST_OPEN,
            OfferedLoad::Rate(rate) => {
                (rate * work.time.as_secs_f64() / clients as f64) as usize + 2
            }
        };
        let most = each.min(MOST_OPEN / clients).max(FEWEST_OPEN);
        let flights = if work.qos > 0 { usize::from(work.in_flight) } else { 0 };
        let member = |number: usize| MemberMemory {
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

    /// Makes the machines, which borrow the memory.
    pub(super) fn lend<'m>(
        &'m mut self,
        job: &'m MqttJob<'_>,
    ) -> (Vec<Exchange<'m>>, Gatherer<'m>) {
        let Self { names, filter, members, packet, answers, seen } = self;
        let names: &'m RunNames = names;
        let common = job.settings(names);
        let clients = members.len() as u64;
        let pace = match common.pace {
            OfferedLoad::Rate(rate) => OfferedLoad::Rate(rate / clients as f64),
            OfferedLoad::Saturate => OfferedLoad::Saturate,
        };
        let member = |(number, one): (usize, &'m mut MemberMemory)| {
            let MemberMemory { topic, client, packet, flights, entries } = one;
            // The first few share what is left of the count.
            let share = |count: u64| count / clients + u64::from((number as u64) < count % clients);
            let settings = MqttSettings {
                topic,
                client_ids: [client, client],
                pace,
                count: common.count.map(share),
                queue: common.queue.min(entries.len() as u32 / 2).max(1),
                sender: number as u16,
                link: Link(number as u16),
                ..common
            };
            Exchange::member(settings, PublisherStorage { packet, flights, entries })
        };
        let gathering = MqttSettings { topic: filter, ..common };
        let memory = listener::SubscriberStorage { packet, answers, seen };
        (members.iter_mut().enumerate().map(member).collect(), Gatherer::new(gathering, memory))
    }
}
