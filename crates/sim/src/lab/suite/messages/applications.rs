//! The applications of the nodes: firmware that sends messages at once, or in slots after a beacon.
//!
//! What is assumed of this firmware, as no document has it: a queue of [`QUEUE`] messages before
//! `espnow_send`; a sender that finds the component busy tries again after [`AGAIN`]; a radio that is on by
//! schedule is switched on by the profile's lead (`wifi.early`) before it is needed.

use super::flow::{MessageContent, MessageFlow};
use super::slots::SlotClock;
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::record::Record;
use crate::lab::run::{Lab, Livelock, Tap};
use crate::lab::scene::Scene;
use crate::lab::suite::SuiteError;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;
use esp_now::component::{DataType, FrameConfig, HEADER_LEN};
use esp_now::frame::mpdu_len;
use esp_now::node::task::{SendRequest, TransmitOutcome};
use espbench_dot11::radio::airtime::airtime;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_ieee80211::mac::Mac;
use espbench_model::messages::{BeaconSlots, EspNowMessages, MessagePattern};
use espbench_model::time::Instant;
use espbench_model::workload::EspNowCast;

/// Messages that wait in an application; one more is dropped.
const QUEUE: usize = 16;
/// Time after which an application whose node was busy tries again.
const AGAIN: Duration = Duration::from_millis(1);
/// Time after the last message in which the rest may arrive, and for each hop and copy.
const DRAIN: Duration = Duration::from_secs(3);
const DRAIN_HOP: Duration = Duration::from_millis(20);
/// The coordinator: the node that sends beacons.
const COORDINATOR: NodeId = NodeId(0);
/// Time after which the test asks again whether to stop.
const SLICE: Duration = Duration::from_secs(1);

/// An event of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ApplicationEvent {
    /// The coordinator's beacon is due.
    Beacon(u32),
    /// A node has its next message.
    Due(u16),
    /// A node whose radio was off, or that was busy, sends.
    Send(u16),
    /// A node's radio is needed soon for its slot in that interval.
    WakeForSlot(u16, u32),
    /// A node's slot in that interval has begun, and its guard interval is over.
    Slot(u16, u32),
    /// A node begins to listen for a beacon.
    Listen(u16, u32),
    /// The beacon that a node has listened for did not come.
    Missed(u16, u32),
}

/// The application of a node.
struct Application {
    queue: VecDeque<u32>,
    sending: Option<u32>,
    /// Messages that it has had.
    had: u32,
    random: RngStream,
    arrivals: RngStream,
    clock: SlotClock,
    /// Whether it waits for a beacon: its radio stays on.
    listens: bool,
    is_awake: bool,
    lead: Duration,
}

/// The applications of all nodes.
pub(super) struct Applications<'w> {
    work: &'w EspNowMessages,
    config: FrameConfig,
    /// Time of the first beacon.
    first_beacon: Instant,
    /// Time from which on applications have messages.
    begin: Instant,
    applications: Vec<Application>,
    events: BinaryHeap<Reverse<(Instant, u64, ApplicationEvent)>>,
    /// Number of events so far: those of one time come in their order.
    number: u64,
    payload: Vec<u8>,
    /// Whether the coordinator sends a beacon.
    in_beacon: bool,
    /// Beacons that it has sent.
    beacon: u32,
    beacon_air: Duration,
    dropped: u64,
    missed: u64,
}

type Watched<'a, W> = Lab<'a, (MessageFlow, W)>;

impl<'w> Applications<'w> {
    pub(super) fn new(work: &'w EspNowMessages, scene: &Scene, seed: u64, begin: Instant) -> Self {
        let ppm = work.schedule().map_or(0.0, |it| f64::from(it.drift_ppm));
        let applications = (0..).zip(&scene.nodes).map(|(node, device)| {
            let mut random = RngStream::stream(seed, node, Purpose::Application);
            // The coordinator's clock is what the others' are measured by.
            let drift = if node == 0 { 0.0 } else { (2.0 * random.unit() - 1.0) * ppm * 1e-6 };
            Application {
                queue: VecDeque::new(),
                sending: None,
                had: 0,
                random,
                arrivals: RngStream::stream(seed, node, Purpose::Arrival),
                clock: SlotClock::new(drift),
                listens: work.in_slots && node > 0 || work.pattern.listens(node as u16),
                is_awake: true,
                lead: Duration::from_nanos(device.profile.wifi.early_ns),
            }
        });
        let octets = mpdu_len(HEADER_LEN + MessageContent::LEN) as u32;
        let mode = scene.nodes[0].mode;
        let mut it = Self {
            work,
            config: config(work),
            first_beacon: begin,
            begin,
            applications: applications.collect(),
            events: BinaryHeap::new(),
            number: 0,
            payload: alloc::vec![0; work.size as usize],
            in_beacon: false,
            beacon: 0,
            beacon_air: Duration::from_nanos(airtime(mode, octets)),
            dropped: 0,
            missed: 0,
        };
        it.plan_first();
        it
    }

    /// Plans the first events of all.
    fn plan_first(&mut self) {
        if let Some(slots) = self.work.schedule() {
            self.at(self.first_beacon, ApplicationEvent::Beacon(0));
            // All nodes have heard a beacon by then, unless they cannot.
            self.begin = self.first_beacon + slots.beacon_interval * 2;
        }
        let senders = match self.work.pattern {
            MessagePattern::RelayLine => 0..=0,
            MessagePattern::ManyToOne => 1..=self.work.devices,
            MessagePattern::ManyToMany | MessagePattern::ManyToAny => 0..=self.work.devices,
        };
        for node in senders {
            self.plan_message(node);
        }
    }

    fn at(&mut self, at: Instant, event: ApplicationEvent) {
        self.number += 1;
        self.events.push(Reverse((at, self.number, event)));
    }

    /// Plans a node's next message: one in each interval, at a moment drawn there where many send.
    fn plan_message(&mut self, node: u16) {
        let interval = self.work.interval;
        let application = &mut self.applications[usize::from(node)];
        if application.had == self.work.count {
            return;
        }
        let mut at = self.begin + interval * application.had;
        if self.work.pattern != MessagePattern::RelayLine {
            at = at + application.arrivals.time_below(interval);
        }
        application.had += 1;
        self.at(at, ApplicationEvent::Due(node));
    }

    /// Runs until all messages have arrived, or cannot any more.
    pub(super) fn run<W: Tap>(
        mut self,
        lab: &mut Watched<'_, W>,
        record: &mut dyn Record,
    ) -> Result<(), SuiteError> {
        let end = self.end();
        let all = self.work.probes();
        if self.work.radio_scheduled {
            (0..=self.work.devices).for_each(|node| self.rest(lab, node));
        }
        while lab.now() < end && lab.watch.0.delivered() < all {
            if record.cancelled() {
                return Err(SuiteError::Cancelled);
            }
            let slice = (lab.now() + SLICE).min(end);
            let next = self.events.peek().map_or(slice, |it| it.0.0.min(slice));
            lab.run_till(next.since(lab.now()), |lab| lab.watch.0.has_news())?;
            self.told(lab)?;
            while let Some(Reverse((at, _, event))) = self.events.peek().copied() {
                if at > lab.now() {
                    break;
                }
                self.events.pop();
                self.happen(lab, at, event)?;
            }
        }
        for (name, by) in
            [("application-queue-full", self.dropped), ("beacons-missed", self.missed)]
        {
            if by > 0 {
                record.count(name, by);
            }
        }
        Ok(())
    }

    /// Returns when the test ends at the latest.
    fn end(&self) -> Instant {
        let copies = match self.work.cast {
            EspNowCast::Broadcast { copies, .. } => u32::from(copies.max(1)),
            EspNowCast::Unicast => 1,
        };
        let hops = u32::from(if self.work.ttl > 0 { self.work.devices } else { 1 });
        let mut drain = DRAIN + DRAIN_HOP * (hops * copies);
        if let Some(slots) = self.work.schedule() {
            drain += slots.beacon_interval * (QUEUE as u32 + 1);
        }
        self.begin + self.work.interval * self.work.count + drain
    }

    /// Hands on what the nodes have told their applications.
    fn told<W: Tap>(&mut self, lab: &mut Watched<'_, W>) -> Result<(), Livelock> {
        for (at, node) in core::mem::take(&mut lab.watch.0.beacons) {
            if node != COORDINATOR {
                self.heard_beacon(lab, at, node.0);
            }
        }
        for (at, node, outcome) in core::mem::take(&mut lab.watch.0.sent) {
            if node == COORDINATOR && core::mem::take(&mut self.in_beacon) {
                // Slot 0 goes on with the coordinator's own messages.
                self.pump(lab, node.0)?;
                continue;
            }
            let application = &mut self.applications[node.index()];
            let Some(number) = application.sending.take() else { continue };
            let answers = self.config.ack || !self.config.broadcast;
            lab.watch.0.ended(at, number, outcome, answers);
            if outcome == TransmitOutcome::Refused {
                self.at(at + AGAIN, ApplicationEvent::Send(node.0));
            } else if !self.work.in_slots {
                self.pump(lab, node.0)?;
            }
            self.rest(lab, node.0);
        }
        Ok(())
    }

    fn happen<W: Tap>(
        &mut self,
        lab: &mut Watched<'_, W>,
        at: Instant,
        event: ApplicationEvent,
    ) -> Result<(), Livelock> {
        match event {
            ApplicationEvent::Beacon(number) => self.send_beacon(lab, number)?,
            ApplicationEvent::Due(node) => self.due(lab, at, node)?,
            ApplicationEvent::Send(node) => self.send(lab, node)?,
            ApplicationEvent::WakeForSlot(node, period) => {
                let application = &self.applications[usize::from(node)];
                if application.clock.period == period && !application.queue.is_empty() {
                    self.wake(lab, node);
                }
            }
            ApplicationEvent::Slot(node, period) => {
                if self.applications[usize::from(node)].clock.period == period {
                    self.wake(lab, node);
                    self.send(lab, node)?;
                    self.rest(lab, node);
                }
            }
            ApplicationEvent::Listen(node, period) => {
                if self.applications[usize::from(node)].clock.period == period {
                    self.applications[usize::from(node)].listens = true;
                    self.wake(lab, node);
                }
            }
            ApplicationEvent::Missed(node, period) => self.missed_beacon(lab, node, period),
        }
        Ok(())
    }

    /// Lets a message come due at a node.
    fn due<W: Tap>(
        &mut self,
        lab: &mut Watched<'_, W>,
        at: Instant,
        node: u16,
    ) -> Result<(), Livelock> {
        self.plan_message(node);
        let devices = self.work.devices;
        let application = &mut self.applications[usize::from(node)];
        let to = match self.work.pattern {
            MessagePattern::RelayLine => Some(devices),
            MessagePattern::ManyToOne => Some(COORDINATOR.0),
            MessagePattern::ManyToMany => None,
            MessagePattern::ManyToAny => {
                let other = (application.random.unit() * f64::from(devices)) as u16;
                Some(other + u16::from(other >= node))
            }
        };
        let number = lab.watch.0.add(at, node, to);
        if application.queue.len() == QUEUE {
            self.dropped += 1;
            return Ok(());
        }
        application.queue.push_back(number);
        if !self.work.in_slots { self.pump(lab, node) } else { Ok(()) }
    }

    /// Begins to send a node's next message, with its radio on.
    fn pump<W: Tap>(&mut self, lab: &mut Watched<'_, W>, node: u16) -> Result<(), Livelock> {
        let application = &self.applications[usize::from(node)];
        if application.sending.is_some() || application.queue.is_empty() {
            return Ok(());
        }
        if application.is_awake {
            return self.send(lab, node);
        }
        let lead = application.lead;
        self.wake(lab, node);
        self.at(lab.now() + lead, ApplicationEvent::Send(node));
        Ok(())
    }

    /// Sends a node's next message, unless the node is busy.
    fn send<W: Tap>(&mut self, lab: &mut Watched<'_, W>, node: u16) -> Result<(), Livelock> {
        let now = lab.now();
        let application = &mut self.applications[usize::from(node)];
        if application.sending.is_some() {
            return Ok(());
        }
        let Some(number) = application.queue.pop_front() else { return Ok(()) };
        // How it ends may be told before the call returns.
        application.sending = Some(number);
        lab.watch.0.taken(now, number);
        let to = lab.watch.0.receiver(number).map_or(Mac::BROADCAST, NodeId::mac);
        let request = request(to, self.config);
        MessageContent::Message(number).emit(&mut self.payload);
        let payload = &self.payload;
        let taken =
            lab.apply(NodeId(node), |it, now, board| it.send(now, board, &request, payload))?;
        if taken != Some(Ok(())) {
            let application = &mut self.applications[usize::from(node)];
            application.sending = None;
            application.queue.push_front(number);
            lab.watch.0.put_back(number);
            if !self.work.in_slots {
                self.at(now + AGAIN, ApplicationEvent::Send(node));
            }
        }
        Ok(())
    }

    /// Sends the coordinator's beacon, and plans the next one.
    fn send_beacon<W: Tap>(
        &mut self,
        lab: &mut Watched<'_, W>,
        number: u32,
    ) -> Result<(), Livelock> {
        let Some(slots) = self.work.schedule() else { return Ok(()) };
        if self.beacon == number {
            self.beacon += 1;
            let late = self.applications[0].random.time_below(slots.task_jitter);
            let next = self.first_beacon + slots.beacon_interval * (number + 1);
            self.at(next + late, ApplicationEvent::Beacon(number + 1));
        }
        let request = request(Mac::BROADCAST, FrameConfig { copies: 1, ..FrameConfig::default() });
        let mut payload = [0; MessageContent::LEN];
        MessageContent::Beacon(number).emit(&mut payload);
        self.in_beacon = true;
        let taken =
            lab.apply(COORDINATOR, |it, now, board| it.send(now, board, &request, &payload))?;
        if taken != Some(Ok(())) {
            self.in_beacon = false;
            self.at(lab.now() + AGAIN, ApplicationEvent::Beacon(number));
        }
        Ok(())
    }

    fn heard_beacon<W: Tap>(&mut self, lab: &mut Watched<'_, W>, at: Instant, node: u16) {
        let Some(slots) = self.work.schedule() else { return };
        self.applications[usize::from(node)].clock.heard(at);
        self.plan_interval(&slots, node);
        self.rest(lab, node);
    }

    fn missed_beacon<W: Tap>(&mut self, lab: &mut Watched<'_, W>, node: u16, period: u32) {
        let Some(slots) = self.work.schedule() else { return };
        let application = &mut self.applications[usize::from(node)];
        if application.clock.period != period {
            return;
        }
        self.missed += 1;
        if application.clock.missed(&slots) {
            self.plan_interval(&slots, node);
            self.rest(lab, node);
        }
    }

    /// Plans a node's slot and its listening in the interval that has begun.
    fn plan_interval(&mut self, slots: &BeaconSlots, node: u16) {
        let air = self.beacon_air;
        let application = &mut self.applications[usize::from(node)];
        application.listens = self.work.pattern.listens(node);
        let (clock, lead) = (application.clock, application.lead);
        let late = application.random.time_below(slots.task_jitter);
        let before =
            |at: Instant| Instant::from_nanos(at.as_nanos().saturating_sub(lead.as_nanos() as u64));
        if let Some(slot) = clock.slot(node, slots) {
            self.at(before(slot), ApplicationEvent::WakeForSlot(node, clock.period));
            self.at(slot + late, ApplicationEvent::Slot(node, clock.period));
        }
        if let Some((from, until)) = clock.listening(slots, air) {
            self.at(before(from), ApplicationEvent::Listen(node, clock.period));
            self.at(until, ApplicationEvent::Missed(node, clock.period));
        }
    }

    /// Switches a node's radio on.
    fn wake<W: Tap>(&mut self, lab: &mut Watched<'_, W>, node: u16) {
        let application = &mut self.applications[usize::from(node)];
        if !application.is_awake {
            application.is_awake = true;
            lab.wake_up(NodeId(node));
        }
    }

    /// Switches a node's radio off by schedule, unless it is needed.
    fn rest<W: Tap>(&mut self, lab: &mut Watched<'_, W>, node: u16) {
        let silent = self.work.in_slots;
        let application = &mut self.applications[usize::from(node)];
        let listens = application.listens
            || silent && node > 0 && !application.clock.is_synchronized()
            || silent && node == 0;
        if !self.work.radio_scheduled
            || listens
            || application.sending.is_some()
            || !silent && !application.queue.is_empty()
        {
            return;
        }
        if application.is_awake {
            application.is_awake = false;
            lab.doze(NodeId(node));
        }
    }
}

/// Returns the options of a message on the air.
fn config(work: &EspNowMessages) -> FrameConfig {
    match work.cast {
        EspNowCast::Unicast => FrameConfig::UNICAST,
        EspNowCast::Broadcast { copies, ack } => FrameConfig {
            copies: copies.max(1),
            ack,
            ttl: work.ttl,
            rssi: work.forward_rssi,
            ..FrameConfig::default()
        },
    }
}

fn request(dest: Mac, config: FrameConfig) -> SendRequest {
    SendRequest { data_type: DataType::Data, dest, config, magic: 0, len: 0, wait: Duration::MAX }
}

/// Pattern that tells which nodes listen.
trait Listens {
    /// Returns whether a node gets messages, and so must always listen.
    fn listens(self, node: u16) -> bool;
}

impl Listens for MessagePattern {
    fn listens(self, node: u16) -> bool {
        self != Self::ManyToOne || node == 0
    }
}
