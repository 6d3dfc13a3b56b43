//! The devices of a lab, each a whole node, under applications of ours.

use super::FrameSource;
use super::ledger::{AirKind, MessageLog, OnAir};
use super::load::{Arrival, Load, config};
use super::outcome::Outcome;
use crate::lab::nodes::note::{self, FrameOnAir as Frame, Note, Watch};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::{Content, Lab, Livelock, Tap};
use crate::lab::scene::Scene;
use crate::lab::trace::{AirtimeKind, Flight};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;
use esp_now::component::sealed::NONCE_LEN;
use esp_now::component::{DataType, Header};
use esp_now::node::security::{KEY_LEN, Secret};
use esp_now::node::task::{EspNowEvent, SendRequest, TransmitOutcome as Sent};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// The device that listens.
const LISTENER: NodeId = NodeId(0);

/// Devices are switched on within this time of the start.
const STAGGER: Duration = Duration::from_millis(200);

/// Five seconds after its start the component takes note that it runs, and with a remote log it
/// broadcasts the line: all devices that were switched on together do so at once.
const START_UP: Duration = Duration::from_secs(6);

/// Devices are at rest when none has sent for so long.
const QUIET: Duration = Duration::from_secs(1);

/// The applications begin after this time even if devices still send of their own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two tries of an application whose node is busy with something else.
const AGAIN: Duration = Duration::from_millis(1);

/// The key of all devices, where they encrypt. Any will do.
const KEY: [u8; KEY_LEN] = [0x5A; KEY_LEN];

/// The devices of a lab, and their applications.
pub(super) struct Nodes {
    lab: Lab<'static, NodeWatch>,
    applications: Applications,
}

impl Nodes {
    pub(super) fn new(mut scene: Scene, load: &Load, seed: u64) -> Result<Self, Livelock> {
        for device in scene.nodes.iter_mut().skip(1) {
            // Their applications only send: what they would do with others' messages is not asked.
            device.services.data = false;
        }
        let senders = scene.nodes.len() as u32;
        let boot = scene.nodes.iter().map(|it| it.profile.boot).max().unwrap_or_default();
        let mut lab = Lab::new(&scene, seed, NodeWatch::new(&scene, load, seed));
        if load.encrypted {
            lab.install_key((0..senders).map(|device| NodeId(device as u16)), &KEY);
        }
        settle(&mut lab, boot)?;
        let start = lab.now();
        lab.watch.ledger.begin(start);
        let mut applications = Applications { load: *load, due: BinaryHeap::new() };
        for device in 1..senders {
            applications.due.push(Reverse((lab.watch.ledger.due(device), device, WakeReason::Due)));
        }
        Ok(Self { lab, applications })
    }
}

impl FrameSource for Nodes {
    fn now(&self) -> Instant {
        self.lab.now()
    }

    fn ledger(&self) -> &MessageLog {
        &self.lab.watch.ledger
    }

    fn go_on(&mut self, until: Instant) -> Result<(), Livelock> {
        self.applications.go_on(&mut self.lab, until)
    }

    fn watch(&mut self, most: usize) {
        self.lab.watch.ledger.watch(most);
    }

    fn close(self) -> Outcome {
        // What its queue did not drop its filter of repetitions did: two messages had the same id, of
        // 16 bits, among the last ones that it remembers.
        let full = self.lab.counters(LISTENER).queue_full > 0;
        let cause = if full { Cause::ReceiveQueue } else { Cause::Unknown };
        self.lab.watch.ledger.close(cause)
    }
}

/// Runs until the devices have started and have sent the frames of their start.
fn settle(lab: &mut Lab<NodeWatch>, boot: Duration) -> Result<(), Livelock> {
    lab.run_for(boot + STAGGER + START_UP)?;
    let until = lab.now() + PATIENCE;
    let mut before = None;
    while lab.now() < until && before != Some(lab.watch.frames) {
        before = Some(lab.watch.frames);
        lab.run_for(QUIET)?;
    }
    Ok(())
}

/// Reason for which an application is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WakeReason {
    /// A message is due.
    Due,
    /// The node was busy.
    Again,
}

struct Applications {
    load: Load,
    due: BinaryHeap<Reverse<(Instant, u32, WakeReason)>>,
}

impl Applications {
    /// Lets time go on to `until`, with all that is due.
    fn go_on(&mut self, lab: &mut Lab<NodeWatch>, until: Instant) -> Result<(), Livelock> {
        loop {
            let next = self.due.peek().map_or(until, |it| it.0.0).min(until);
            let wait = next.since(lab.now());
            lab.run_till_told(wait, |lab| !lab.watch.free.is_empty())?;
            while let Some((device, refused)) = lab.watch.free.pop() {
                if refused {
                    // Not in the same instant again and again.
                    self.due.push(Reverse((lab.now() + AGAIN, device, WakeReason::Again)));
                } else {
                    self.pump(lab, device)?;
                }
            }
            if lab.now() < next {
                continue;
            }
            let Some(Reverse((at, device, why))) = self.due.peek().copied() else { return Ok(()) };
            if at > until {
                return Ok(());
            }
            self.due.pop();
            if why == WakeReason::Due && self.load.arrival != Arrival::Always {
                lab.watch.ledger.arrive(device);
                self.due.push(Reverse((lab.watch.ledger.due(device), device, WakeReason::Due)));
            }
            self.pump(lab, device)?;
        }
    }

    /// Sends the next message of a device, unless it is sending one.
    fn pump(&mut self, lab: &mut Lab<NodeWatch>, device: u32) -> Result<(), Livelock> {
        if lab.watch.sending[device as usize].is_some() {
            return Ok(());
        }
        let now = lab.now();
        let Some(number) = lab.watch.ledger.take(now, device) else { return Ok(()) };
        // Events may come before the call returns.
        lab.watch.sending[device as usize] = Some(number);
        let mut payload = alloc::vec![0; self.load.payload as usize];
        payload[..4].copy_from_slice(&number.to_le_bytes());
        let out = self.load.outgoing(LISTENER.mac());
        let node = NodeId(device as u16);
        let taken =
            lab.apply(node, |device, now, board| device.send(now, board, &out, &payload))?;
        if taken != Some(Ok(())) {
            lab.watch.sending[device as usize] = None;
            lab.watch.ledger.put_back(device, number);
            self.due.push(Reverse((now + AGAIN, device, WakeReason::Again)));
        }
        Ok(())
    }
}

impl Load {
    /// Returns the request to send: an acknowledged message is for one device, even where all hear
    /// it.
    fn outgoing(&self, listener: Mac) -> SendRequest {
        let config = config(self.cast, self.encrypted);
        let all = config.broadcast && !config.ack;
        SendRequest {
            data_type: DataType::Data,
            dest: if all { Mac::BROADCAST } else { listener },
            config,
            magic: 0,
            len: 0,
            wait: Duration::MAX,
        }
    }
}

/// Follows the messages through the lab.
struct NodeWatch {
    ledger: MessageLog,
    /// The listener's.
    channel: u8,
    /// Times from when the driver has a frame until it contends for the medium, by device.
    latencies: Vec<Duration>,
    /// Message that each device is sending.
    sending: Vec<Option<u32>>,
    /// Devices that are done with a message, and whether it was refused before it was sent.
    free: Vec<(u32, bool)>,
    /// Time at which the driver had the frame whose end is being told.
    queued: Instant,
    /// The message whose frame ended last.
    last: Option<u32>,
    /// Frames of devices.
    frames: u64,
    unseal: Unseal,
}

/// Reads what devices have encrypted.
struct Unseal {
    secret: Secret,
    /// The nonce of a release that has but one for each key.
    constant: Option<[u8; NONCE_LEN]>,
    payload: Vec<u8>,
}

impl Unseal {
    fn of(scene: &Scene) -> Self {
        let secret = Secret::new(KEY);
        let trails = scene.nodes.first().is_none_or(|it| it.settings.compat.nonce_trails());
        let constant = (!trails).then(|| secret.constant_nonce());
        Self { secret, constant, payload: Vec::new() }
    }

    /// Returns the number at the front of a payload.
    fn number(&mut self, header: &Header, payload: &[u8]) -> Option<u32> {
        let mut number = *payload.first_chunk::<4>()?;
        if header.config.security {
            self.payload.clear();
            self.payload.extend_from_slice(payload);
            self.secret.sealer().open(self.constant.as_ref(), &mut self.payload)?;
            number = *self.payload.first_chunk::<4>()?;
        }
        Some(u32::from_le_bytes(number))
    }
}

/// Returns the cause for which a radio could not read a frame.
const fn cause(why: note::MissReason) -> Cause {
    match why {
        note::MissReason::Collision => Cause::Collision,
        note::MissReason::Noise => Cause::Noise,
        _ => Cause::Unknown,
    }
}

impl NodeWatch {
    fn new(scene: &Scene, load: &Load, seed: u64) -> Self {
        let bytes = load.data_len(scene) as u32;
        let devices = scene.nodes.len();
        Self {
            ledger: MessageLog::new(load, seed, devices.saturating_sub(1) as u32),
            channel: scene.nodes.first().map_or(1, |it| it.channel),
            latencies: scene.nodes.iter().map(|it| it.profile.send_mean(bytes)).collect(),
            sending: alloc::vec![None; devices],
            free: Vec::new(),
            queued: Instant::ZERO,
            last: None,
            frames: 0,
            unseal: Unseal::of(scene),
        }
    }

    fn air(&mut self, frame: &Frame<'_>) {
        let end = frame.started + frame.took;
        let read = frame.heard.contains(&LISTENER);
        let missed = |it: &&(NodeId, note::MissReason)| {
            it.0 == LISTENER && it.1 != note::MissReason::Duplicate
        };
        let missed = frame.missed.iter().find(missed).map(|it| cause(it.1));
        let header = Header::parse(frame.data);
        let number = header
            .filter(|it| it.0.data_type == DataType::Data)
            .and_then(|(header, payload)| self.unseal.number(&header, payload));
        self.frames += 1;
        self.last = number;
        let mut kind = match header {
            Some((Header { data_type: DataType::Ack, .. }, _)) => AirKind::Ack,
            _ if frame.attempt > 1 => AirKind::Retry,
            _ => AirKind::First,
        };
        if let Some(number) = number {
            let latency = self.latencies.get(frame.node.index()).copied().unwrap_or_default();
            self.ledger.driver(self.queued + latency, number);
            if self.ledger.attempt(frame.started, end, number, read, missed) > 1 {
                kind = AirKind::Retry;
            }
        }
        if frame.channel == self.channel {
            let on_air = OnAir { kind, begin: frame.started, end };
            self.ledger.on_air(on_air, missed.is_some());
        }
    }

    fn sent(&mut self, at: Instant, node: NodeId, outcome: Sent) {
        let Some(number) = self.sending.get_mut(node.index()).and_then(Option::take) else {
            return;
        };
        self.ledger.done(at, number, outcome.is_done());
        self.free.push((u32::from(node.0), outcome == Sent::Refused));
    }
}

impl Watch for NodeWatch {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        match note {
            Note::Air(frame) => self.air(frame),
            Note::Event { node, event: EspNowEvent::Sent(outcome) } => {
                self.sent(at, *node, *outcome)
            }
            Note::Data { node: LISTENER, data, .. } => {
                if let Some(number) = data.first_chunk::<4>() {
                    self.ledger.received(at, u32::from_le_bytes(*number));
                }
            }
            _ => {}
        }
    }
}

impl Tap for NodeWatch {
    fn flight(&mut self, flight: &Flight, _: Option<Content<'_>>) {
        self.queued = flight.queued;
        self.ledger.see(|| *flight);
        let kind = match flight.what {
            AirtimeKind::Data => return,
            // Other people's are theirs.
            AirtimeKind::Ack if (flight.from as usize) < self.latencies.len() => AirKind::Ack,
            _ => AirKind::Other,
        };
        if flight.channel == self.channel {
            self.ledger.on_air(OnAir { kind, begin: flight.begin, end: flight.end }, false);
        }
    }

    fn lost(&mut self, _: Instant, node: u32, cause: Cause) {
        // Told right after the frame's end, where its radio had read it.
        if let (0, Cause::ReceiveQueue, Some(number)) = (node, cause, self.last) {
            self.ledger.lose(number, cause);
        }
    }
}
