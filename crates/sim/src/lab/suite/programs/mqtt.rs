//! MQTT messages: the devices publish, the PC has their brokers and who subscribes.
//!
//! A step offers messages at one rate, or as fast as they go, and gives for each message one sample of
//! what both ends saw of it ([`join`](espbench_proto::node::app::mqtt::join)); the arrivals of each
//! second; and two totals. Of several devices each offers the rate, and has a link of its own. A search
//! for the highest rate without loss gives the totals of its steps, link n those of the n-th, and no
//! samples of messages, as with a real broker. Losses are counted by cause there (`lost-CAUSE`).

mod record;
#[cfg(test)]
mod tests;

use super::Cell;
use crate::lab::nodes::Conversation as _;
use crate::lab::scene::{ProgramStyle, Scene};
use crate::lab::suite::SuiteError;
use crate::lab::wifi::MachineId;
use crate::lab::wifi::setup::Program;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use espbench_model::sample::{Fate, Link, Probe, Sample};
use espbench_model::search::RateSearch;
use espbench_model::time::Instant;
use espbench_model::workload::{MqttMode, MqttRate};
use espbench_proto::node::app::mqtt::SmoothSetup;
use espbench_proto::node::app::{App, LabBroker, Mqtt, MqttListener, SmoothMqtt, Sockets, Wait};
use espbench_proto::node::mqtt::listener::{ListenerStorage, SubscriberStorage};
use espbench_proto::node::mqtt::publisher::InFlightSlot;
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::topics::TopicNumbers;
use espbench_proto::node::mqtt::tracker::MessageRecord;
use espbench_proto::node::mqtt::{MqttSettings, OfferedLoad, PublisherStorage, payload};
use espbench_proto::wire::mqtt::Version;
use record::ExchangeRecord;

/// The port that is assigned to MQTT.
const PORT: u16 = 1883;
/// The topic of Smooth's example.
const TOPIC: &str = "network_test";
/// Client identifiers: that of Smooth's example, and the subscriber's.
const CLIENTS: [&str; 2] = ["ESP32", "espbench"];
/// Time that broker and subscriber have before the device begins.
const READY: Duration = Duration::from_millis(100);
/// Quiet time after which what is missing counts as lost, as with a real broker.
const DRAIN: Duration = Duration::from_secs(2);
/// Time for which the broker may owe an answer, as with a real one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time of a step beyond its own: connecting, and the longest draining.
const MARGIN: Duration = Duration::from_secs(120);
/// Time after which a subscriber asks again whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of a packet that the broker takes, and what it has for each client.
const PACKET: usize = 8192;
const OUT: usize = 4 * PACKET;
/// Room for a packet's header, topic and properties.
const HEADER: usize = 64;
/// Bytes handed to the device's socket at a time: a TCP segment.
const SEGMENT: usize = 1460;
/// Messages whose fate may be open at once, at most.
const MOST_OPEN: usize = 1 << 16;
/// Acknowledgements that the subscriber may owe.
const ANSWERS: usize = 1 << 12;
/// Exchanges of a cell at most: one for each device that is measured, or for each step of a search, of which bisection of
/// the widest range that a plan can name takes 36.
const EXCHANGES: usize = 1024;

/// Memory of the programs of a cell's exchanges, each of which is lent for as long as the lab is there.
#[derive(Debug, Default)]
pub(super) struct MqttBuffers(Vec<Option<EndBuffers>>);

impl MqttBuffers {
    /// Creates places enough for any cell; they take no memory until an exchange needs them.
    pub(super) fn new() -> Self {
        Self((0..EXCHANGES).map(|_| None).collect())
    }

    pub(super) fn places(&mut self) -> Places<'_> {
        self.0.iter_mut()
    }
}

/// Buffers that are left.
pub(super) type Places<'a> = core::slice::IterMut<'a, Option<EndBuffers>>;

/// Buffers that publisher and subscriber of a step are lent.
#[derive(Debug)]
pub(super) struct EndBuffers {
    packets: [Vec<u8>; 2],
    out: Vec<u8>,
    flights: Vec<InFlightSlot>,
    entries: Vec<MessageRecord>,
    answers: Vec<PendingAck>,
    seen: Box<[u64; SEEN]>,
    topics: Vec<TopicNumbers>,
}

impl EndBuffers {
    fn new(work: &MqttRate, pace: OfferedLoad) -> Self {
        let window = if work.qos > 0 { usize::from(work.in_flight) } else { 0 };
        let open = match pace {
            OfferedLoad::Saturate => window + work.queue as usize + SEGMENT,
            OfferedLoad::Rate(rate) => (rate * work.time.as_secs_f64()) as usize + 1,
        };
        let packet = work.size as usize + HEADER;
        Self {
            packets: [vec![0; PACKET], vec![0; PACKET]],
            out: vec![0; packet.max(SEGMENT)],
            flights: vec![InFlightSlot::EMPTY; window],
            entries: vec![MessageRecord::EMPTY; open.min(MOST_OPEN)],
            answers: vec![PendingAck::default(); ANSWERS],
            seen: Box::new([0; SEEN]),
            topics: vec![TopicNumbers::EMPTY],
        }
    }
}

/// A subscriber that is told when to stop.
struct Listening<'a> {
    listener: MqttListener<'a>,
    over: Arc<AtomicBool>,
}

impl App for Listening<'_> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if self.over.load(Ordering::Relaxed) {
            self.listener.stop(now);
        }
        match self.listener.poll(now, sockets) {
            Wait::Change => Wait::Until(now + LOOK),
            Wait::Until(at) => Wait::Until(at.min(now + LOOK)),
            other => other,
        }
    }
}

impl<'a> Cell<'a, '_> {
    pub(super) fn mqtt_rate(&mut self, work: &MqttRate) -> Result<(), SuiteError> {
        // Each device has a broker of its own on the PC, which is as fast with one as with many.
        for (device, _) in self.measured() {
            self.lab.start(self.pc, Box::new(LabBroker::<4, PACKET, OUT>::new(PORT + device.0)));
        }
        match work.mode {
            // Others are refused before.
            MqttMode::Listen | MqttMode::Saturate => self.publish_once(work, OfferedLoad::Saturate),
            MqttMode::Offered(rate) => self.publish_once(work, OfferedLoad::Rate(rate)),
            MqttMode::Search { low, high } => self.search(work, RateSearch::new(low, high)),
        }
    }

    /// Lets all measured devices publish, each on a link of its own, and records the samples.
    fn publish_once(&mut self, work: &MqttRate, pace: OfferedLoad) -> Result<(), SuiteError> {
        let all: Vec<_> =
            self.measured().map(|(device, link)| (device, link.unwrap_or(Link(0)))).collect();
        let exchanged = self.exchange(work, pace, &all)?;
        for it in &exchanged {
            it.record(self.record);
        }
        // A device that did not get through is named in the report, beside the figures of the others.
        if exchanged.iter().any(ExchangeRecord::is_whole) {
            return Ok(());
        }
        exchanged.into_iter().try_for_each(|it| it.result(&self.scene.variant))
    }

    fn search(&mut self, work: &MqttRate, mut search: RateSearch) -> Result<(), SuiteError> {
        let mut link = 0;
        while let Some((rate, _)) = search.next() {
            let alone = [(self.device, Link(link))];
            let exchanged = self.exchange(work, OfferedLoad::Rate(rate), &alone)?;
            let mut lossless = true;
            for it in exchanged {
                it.record_totals(self.record);
                lossless &= it.lost() == 0;
                it.result(&self.scene.variant)?;
            }
            search.record(lossless);
            link += 1;
        }
        Ok(())
    }

    /// Runs an exchange: devices and their subscribers connect, messages are offered, and late ones are waited for.
    fn exchange(
        &mut self,
        work: &MqttRate,
        pace: OfferedLoad,
        ends: &[(MachineId, Link)],
    ) -> Result<Vec<ExchangeRecord>, SuiteError> {
        let pc = self.pc;
        let over = Arc::new(AtomicBool::new(false));
        let mut publishers: Vec<Box<dyn Program + 'a>> = Vec::new();
        for &(device, link) in ends {
            let [listener, publisher] = self.programs(work, pace, (device, link), &over)?;
            self.lab.start(pc, listener);
            publishers.push(publisher);
        }
        self.lab.run_for(READY)?;
        let (begin, apart) = (self.lab.now(), apart(work, pace, ends.len() as u32));
        for ((number, (device, _)), program) in (0..).zip(ends).zip(publishers) {
            self.lab.start_at(begin + apart * number, *device, program);
        }
        let devices: Vec<MachineId> = ends.iter().map(|it| it.0).collect();
        let mut result = self.until_all_idle(&devices, work.time * 2 + MARGIN);
        let published: Vec<Vec<Sample>> =
            devices.iter().map(|it| self.lab.take_program_samples(*it)).collect();
        if result.is_ok() {
            result = self.arrive(published.iter().flatten());
        }
        over.store(true, Ordering::Relaxed);
        // The brokers go on.
        let brokers = usize::from(self.scene.measured);
        self.lab.run_till(PATIENCE, |it| it.running(pc) <= brokers)?;
        let mut received: BTreeMap<Link, Vec<Sample>> = BTreeMap::new();
        for sample in self.lab.take_program_samples(pc) {
            let link = match &sample {
                Sample::Probe(it) => it.link,
                Sample::Interval(it) => it.link,
            };
            received.entry(link).or_default().push(sample);
        }
        let failed = result.err();
        let record = |((_, link), published): (&(MachineId, Link), &Vec<Sample>)| {
            let own = received.get(link).map_or(&[][..], Vec::as_slice);
            ExchangeRecord::new(*link, published, own, failed.clone())
        };
        Ok(ends.iter().zip(&published).map(record).collect())
    }

    /// Returns the programs of an exchange: the subscriber's and the device's.
    fn programs(
        &mut self,
        work: &MqttRate,
        pace: OfferedLoad,
        (device, link): (MachineId, Link),
        over: &Arc<AtomicBool>,
    ) -> Result<[Box<dyn Program + 'a>; 2], SuiteError> {
        let Some(place) = self.lent.next() else {
            return self.unable("an exchange has no more than 1024 ends: use fewer devices");
        };
        let EndBuffers {
            packets: [to_device, to_pc],
            out,
            flights,
            entries,
            answers,
            seen,
            topics,
        } = place.insert(EndBuffers::new(work, pace));
        let broker = Self::at(self.pc, PORT + device.0);
        let settings = settings(work, pace, link);
        let subscriber = SubscriberStorage { packet: to_pc, answers, seen };
        let memory = ListenerStorage { subscriber, topics };
        // It listens for as long as the last of the devices has something to say.
        let listener = MqttSettings { time: work.time * 2 + MARGIN, ..settings };
        let listener = MqttListener::new(listener, broker, memory);
        let listening = Box::new(Listening { listener, over: over.clone() });
        if is_smooth(self.scene) {
            let example = self.program() == ProgramStyle::SmoothExample;
            let seed = self.seed.wrapping_add(u64::from(link.0));
            let setup = SmoothSetup { draws: example.then_some(seed), ..smooth(work, pace, link) };
            return Ok([listening, Box::new(SmoothMqtt::new(setup, broker))]);
        }
        let storage = PublisherStorage { packet: to_device, flights, entries };
        Ok([listening, Box::new(Mqtt::new(settings, broker, storage, out))])
    }

    /// Lets time go on until the subscribers have what the devices have got rid of, or until nothing
    /// comes any more.
    fn arrive<'s>(
        &mut self,
        published: impl Iterator<Item = &'s Sample>,
    ) -> Result<(), SuiteError> {
        let pc = self.pc;
        let left = |it: &&Sample| matches!(it, Sample::Probe(Probe { fate: Fate::Delivered, .. }));
        let wanted = published.filter(left).count();
        let (mut came, mut quiet) = (0, Duration::ZERO);
        while came < wanted && quiet < DRAIN {
            if self.record.cancelled() {
                return Err(SuiteError::Cancelled);
            }
            self.lab.run_for(LOOK)?;
            let there = self.lab.told(pc).map_or(0, |it| it.samples.iter().filter(left).count());
            quiet = if there > came { Duration::ZERO } else { quiet + LOOK };
            came = there;
        }
        Ok(())
    }
}

/// Returns the time between the beginnings of two devices: nobody switches all of them on at once, and all are on together for a
/// while.
fn apart(work: &MqttRate, pace: OfferedLoad, devices: u32) -> Duration {
    let OfferedLoad::Rate(rate) = pace else { return Duration::ZERO };
    Duration::from_secs_f64((1.0 / rate).min(work.time.as_secs_f64())) / devices.max(1)
}

fn is_smooth(scene: &Scene) -> bool {
    matches!(scene.devices[0].program, ProgramStyle::Smooth | ProgramStyle::SmoothExample)
}

/// Checks that devices of the room can do the test.
///
/// # Errors
/// The reason why they cannot.
pub(super) fn able(work: &MqttRate, scene: &Scene) -> Result<(), &'static str> {
    let smooth = is_smooth(scene);
    let packet = work.size as usize + HEADER;
    let reasons = [
        (
            work.mode == MqttMode::Listen,
            "a device publishes on its own account on a real broker only (mqtt:)",
        ),
        (
            matches!(work.mode, MqttMode::Search { .. }) && scene.measured > 1,
            "a search is of one device: offer a rate, which is that of each device",
        ),
        (
            (work.size as usize) < payload::HEADER_LEN,
            "sequence number and time need 16 bytes: use a size of 16 or more",
        ),
        (
            work.clients > 1 || work.retain,
            "several clients and retained messages are for mqtt: targets",
        ),
        (
            !work.clean_start || work.session_expiry.is_some(),
            "sessions that are kept are for mqtt: targets",
        ),
        (
            smooth && work.version != Version::V311,
            "Smooth's client speaks MQTT 3.1.1: leave out `version`",
        ),
        (
            smooth && packet > SmoothMqtt::PACKET,
            "Smooth's client sends messages of up to 448 bytes",
        ),
        (packet > PACKET, "messages have up to 8128 bytes in the lab"),
    ];
    reasons.into_iter().find(|it| it.0).map_or(Ok(()), |it| Err(it.1))
}

/// Returns the settings of both ends.
pub(in crate::lab) const fn settings(
    work: &MqttRate,
    pace: OfferedLoad,
    link: Link,
) -> MqttSettings<'static> {
    let MqttRate { version, qos, size, in_flight, time, count, queue, .. } = *work;
    MqttSettings {
        version,
        qos,
        size,
        topic: TOPIC,
        client_ids: CLIENTS,
        username: None,
        password: None,
        pace,
        in_flight,
        queue,
        time,
        count: match count {
            Some(count) => Some(count as u64),
            None => None,
        },
        drain: DRAIN,
        patience: PATIENCE,
        resume: false,
        sender: 0,
        retain: false,
        clean_start: true,
        session_expiry: None,
        keep_alive: espbench_proto::node::mqtt::KEEP_ALIVE,
        link,
    }
}

/// Returns the settings of Smooth's client, with its own queue.
const fn smooth(work: &MqttRate, pace: OfferedLoad, link: Link) -> SmoothSetup {
    let mode = match pace {
        OfferedLoad::Saturate => MqttMode::Saturate,
        OfferedLoad::Rate(rate) => MqttMode::Offered(rate),
    };
    SmoothSetup {
        work: MqttRate { mode, ..*work },
        link,
        topic: TOPIC,
        client_id: CLIENTS[0],
        subscribes: false,
        draws: None,
        drain: DRAIN,
    }
}
