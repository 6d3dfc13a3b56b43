//! Devices on batteries: they sleep, wake, boot, start Wi-Fi, send, and sleep again.

use super::FrameSource;
use super::gateway::{self, Gateway};
use super::ledger::{AirKind, MessageLog, OnAir};
use super::load::Load;
use super::outcome::Outcome;
use super::sensor::{PARTS, Sensor, Step, between, lead, sealing};
use super::sleep::{EnergyUse, SleepMode, SleepPlan};
use crate::lab::run::Livelock;
use crate::lab::run::Others;
use crate::lab::scene::Scene;
use crate::lab::token::Wake;
use crate::lab::trace::{AirtimeKind, Flight, missed_by_cause};
use crate::power::{CpuState, ModemState, Modulation, PowerState, StateTimes};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::mac::{
    FrameKind, GROUP, MacUser, MissedReception, Ppdu, Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_model::energy::EnergyPart;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::EspNowCast;

/// The device that listens; it is on the mains.
const LISTENER: u32 = 0;

/// Tokens of steps, and tags of messages, beside those of other people's stations.
const OURS: u64 = 1 << 63;

/// Tags of the listener's acknowledgements, which have their message's number.
const ACK: u64 = 1 << 62;

/// Tokens of the ends of steps; those of messages that come due have 0.
const STEP: u64 = 1;

/// Tokens of acknowledgements that the listener sends.
const OWED: u64 = 2;

/// Sleeping devices, the one that listens, and everyone else on the air.
pub(super) struct Sensors {
    room: WirelessMedium,
    host: Host,
    /// Devices' times at the beginning of the recorded time.
    before: Option<Vec<[StateTimes; PARTS]>>,
    /// Devices' times at its end.
    after: Option<Vec<[StateTimes; PARTS]>>,
}

impl Sensors {
    pub(super) fn new(scene: &Scene, load: &Load, plan: SleepPlan, seed: u64) -> Self {
        let radio = scene.radio(seed);
        let numbers = scene.numbers();
        let senders = scene.nodes.len() as u32;
        let mut room = WirelessMedium::new(seed, radio.links, &radio.receivers, radio.settings)
            .with_config(radio.medium);
        let mut others = Others::new(
            (numbers.routers.start, scene.routers.clone()),
            (numbers.background.start, &scene.background),
            seed,
        );
        let (beacons, loads) = others.starts(seed);
        for (number, at) in (0..).zip(beacons) {
            room.wake_at(at, Wake::Beacon(number).token());
        }
        for (number, at) in (0..).zip(loads) {
            if let Some(at) = at {
                room.wake_at(at, Wake::Load(number).token());
            }
        }
        let host = Host {
            listening: 0,
            silent_until: Instant::ZERO,
            silent: Duration::ZERO,
            plan,
            load: *load,
            octets: load.octets(scene),
            ledger: MessageLog::new(load, seed, senders.saturating_sub(1)),
            channel: scene.nodes.first().map_or(1, |it| it.channel),
            sensors: scene.nodes.iter().map(|it| Sensor::new(it, plan.mode)).collect(),
            listener: Gateway::new(scene, load),
            others,
        };
        for device in 1..senders {
            room.wake_at(host.ledger.due(device), OURS | u64::from(device));
        }
        Self { room, host, before: None, after: None }
    }

    /// Returns the times of all devices until now.
    fn read(&self) -> Vec<[StateTimes; PARTS]> {
        let now = self.room.now();
        self.host.sensors.iter().map(|it| it.meter.read(now)).collect()
    }
}

impl FrameSource for Sensors {
    fn now(&self) -> Instant {
        self.room.now()
    }

    fn ledger(&self) -> &MessageLog {
        &self.host.ledger
    }

    fn go_on(&mut self, until: Instant) -> Result<(), Livelock> {
        if self.before.is_none() {
            let from = self.host.ledger.from();
            self.room.run(&mut self.host, from);
            self.before = Some(self.read());
        }
        let end = self.host.ledger.until();
        if self.after.is_none() && until >= end {
            self.room.run(&mut self.host, end);
            self.after = Some(self.read());
        }
        self.room.run(&mut self.host, until);
        Ok(())
    }

    fn watch(&mut self, most: usize) {
        self.host.ledger.watch(most);
    }

    fn close(self) -> Outcome {
        let (before, after) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        let times = before.iter().zip(&after).zip(&self.host.sensors);
        let energy = times.skip(1).map(|((before, after), sensor)| EnergyUse {
            times: core::array::from_fn(|part| after[part].since(&before[part])),
            draw: sensor.draw,
        });
        let energy = energy.collect();
        let mut outcome = self.host.ledger.close(Cause::ReceiveQueue);
        // What was left out was as busy with others as the rest.
        let (window, silent) = (outcome.air.window, self.host.silent);
        let rest = window.saturating_sub(silent).as_secs_f64();
        if rest > 0.0 {
            let more = outcome.air.others.mul_f64(silent.as_secs_f64() / rest);
            outcome.air.others += more;
            outcome.air.busy = (outcome.air.busy + more).min(window);
        }
        Outcome { energy, ..outcome }
    }
}

/// Time for which other people's stations send before a device listens.
pub(in crate::lab) const AHEAD: Duration = Duration::from_millis(50);

struct Host {
    /// Devices whose radio is on, or will be right away.
    listening: u32,
    /// Time until which other people's stations are left out, since nobody listens.
    silent_until: Instant,
    /// Recorded time in which they were left out.
    silent: Duration,
    plan: SleepPlan,
    load: Load,
    octets: u32,
    ledger: MessageLog,
    /// The listener's.
    channel: u8,
    /// The first one listens.
    sensors: Vec<Sensor>,
    listener: Gateway,
    others: Others,
}

impl Host {
    /// Returns until when nobody will listen, where nobody does now: other people's frames are left
    /// out until shortly before that, which spares hours of simulation between two messages.
    fn nobody_until(&mut self, now: Instant) -> Option<Instant> {
        if self.listening > 0 || self.plan.mode == SleepMode::None {
            return None;
        }
        if self.silent_until > now {
            return Some(self.silent_until);
        }
        let listens = |(device, it): (u32, &Sensor)| match it.step {
            Step::Wake | Step::Boot => it.radio_at,
            _ => self.ledger.due(device) + lead(&self.plan, &it.profile.wake),
        };
        let first = (0..).zip(&self.sensors).skip(1).map(listens).min()?;
        let until = Instant::from_nanos(first.as_nanos().saturating_sub(AHEAD.as_nanos() as u64));
        if until <= now {
            return None;
        }
        let (from, to) = (now.max(self.ledger.from()), until.min(self.ledger.until()));
        self.silent += to.since(from);
        self.silent_until = until;
        Some(until)
    }

    /// Lets a device's message come due, and wakes the device for it.
    fn due(&mut self, room: &mut WirelessMedium, device: u32) {
        self.ledger.arrive(device);
        room.wake_at(self.ledger.due(device), OURS | u64::from(device));
        if self.sensors[device as usize].step == Step::Asleep {
            self.next_message(room, device);
        }
    }

    /// Begins the next message of a device, or lets it sleep.
    fn next_message(&mut self, room: &mut WirelessMedium, device: u32) {
        let now = room.now();
        let taken = self.ledger.take(now, device);
        let sensor = &mut self.sensors[device as usize];
        let was_asleep = sensor.step == Step::Asleep;
        (sensor.number, sensor.is_acked) = (taken, false);
        (sensor.attempt, sensor.copies) = (1, self.load.copies().unwrap_or(1));
        let step = match (taken, was_asleep, self.plan.mode) {
            (None, true, _) => return,
            (None, false, _) => Step::Stop,
            (Some(_), true, SleepMode::Deep | SleepMode::Light) => Step::Wake,
            (Some(_), true, SleepMode::Modem) => Step::Start,
            (Some(_), true, SleepMode::None) | (Some(_), false, _) => Step::Compose,
        };
        self.enter(room, device, step);
    }

    /// Enters a step: sets what the device draws, and when the step is over.
    fn enter(&mut self, room: &mut WirelessMedium, device: u32, step: Step) {
        let now = room.now();
        let bytes = self.octets;
        let (plan, is_deep) = (self.plan, self.plan.mode == SleepMode::Deep);
        let seals = self.load.encrypted.then_some(self.load.payload);
        let sensor = &mut self.sensors[device as usize];
        let (it, wake) = (&sensor.profile, &sensor.profile.wake);
        let busy = |modem| PowerState::Awake(modem, CpuState::Busy);
        let idle = |modem| PowerState::Awake(modem, CpuState::Idle);
        let validation = if plan.validates { wake.validate } else { Duration::ZERO };
        let early = Duration::from_nanos(it.wifi.early_ns);
        let (part, state, takes) = match step {
            Step::Asleep => (EnergyPart::Sleep, between(plan.mode), None),
            Step::Wake if is_deep => {
                (EnergyPart::Wake, busy(ModemState::Off), Some(wake.rom + validation))
            }
            Step::Wake => {
                let time = Duration::from_nanos(it.wifi.wake_ns);
                (EnergyPart::Wake, busy(ModemState::Off), Some(time))
            }
            Step::Boot => (EnergyPart::Boot, busy(ModemState::Off), Some(wake.application)),
            Step::Init => (EnergyPart::RadioOn, busy(ModemState::Off), Some(wake.wifi_init)),
            Step::Start => {
                let time = if is_deep { wake.wifi_start } else { early };
                (EnergyPart::RadioOn, busy(ModemState::Listen), Some(time))
            }
            Step::Compose => {
                // After a boot the code is in flash. What is repeated is sealed already.
                let seals = seals.filter(|_| sensor.attempt == 1);
                let seal = seals.map_or(Duration::ZERO, |bytes| sealing(it, bytes));
                (sensor.sending(), busy(ModemState::Listen), Some(seal + it.sending().of(bytes)))
            }
            Step::Queue => (sensor.sending(), idle(ModemState::Listen), Some(it.send_mean(bytes))),
            Step::Air => (sensor.sending(), idle(ModemState::Listen), None),
            Step::Told(_) => {
                (sensor.sending(), idle(ModemState::Listen), Some(it.sent_mean(bytes)))
            }
            Step::Await => {
                let time = gateway::patience(it, sensor.attempt);
                (sensor.sending(), idle(ModemState::Listen), Some(time))
            }
            Step::LastWait => {
                (EnergyPart::Retries, idle(ModemState::Listen), Some(gateway::LAST_WAIT))
            }
            Step::Stop => {
                let time = if is_deep { wake.wifi_stop } else { Duration::ZERO };
                (EnergyPart::RadioOn, busy(ModemState::Off), Some(time))
            }
        };
        sensor.meter.set(now, part, state);
        let (before, after) = (sensor.step.listens(), step.listens());
        self.listening = self.listening + u32::from(after) - u32::from(before);
        if step == Step::Wake {
            sensor.radio_at = now + lead(&plan, &sensor.profile.wake);
        }
        sensor.step = step;
        if let (Step::Compose, Some(number)) = (step, sensor.number) {
            self.ledger.ready(now, number);
        }
        if let Some(takes) = takes {
            sensor.step_ends = now + takes;
            room.wake_at(now + takes, OURS | STEP << 32 | u64::from(device));
        }
    }

    /// Goes on from a step that is over.
    fn advance(&mut self, room: &mut WirelessMedium, device: u32) {
        let sensor = &mut self.sensors[device as usize];
        if room.now() < sensor.step_ends {
            // The end of a wait that was over before.
            return;
        }
        let is_deep = self.plan.mode == SleepMode::Deep;
        let next = match sensor.step {
            Step::Wake if is_deep => Step::Boot,
            Step::Boot => Step::Init,
            Step::Init | Step::Wake => Step::Start,
            Step::Start => Step::Compose,
            Step::Compose => Step::Queue,
            Step::Queue => Step::Air,
            Step::Told(_) if self.load.ack() && !sensor.is_acked => Step::Await,
            Step::Await if sensor.copies > 1 => return self.again(room, device),
            Step::Await => Step::LastWait,
            Step::LastWait => return self.end(room, device, false),
            Step::Told(delivered) => return self.told(room, device, delivered),
            Step::Stop => Step::Asleep,
            Step::Asleep | Step::Air => return,
        };
        self.enter(room, device, next);
        match next {
            Step::Air => self.send(room, device),
            // A message came due while Wi-Fi stopped.
            Step::Asleep => self.next_message(room, device),
            _ => {}
        }
    }

    fn send(&mut self, room: &mut WirelessMedium, device: u32) {
        let sensor = &self.sensors[device as usize];
        let Some(number) = sensor.number else { return };
        let to = if self.load.cast == EspNowCast::Unicast { LISTENER } else { GROUP };
        self.ledger.driver(room.now(), number);
        let frame = TxFrame::new(to, self.octets, sensor.mode, OURS | u64::from(number));
        // One frame at a time: there is always a buffer.
        let _ = room.send(device, frame);
    }

    /// Sends a message once more that nobody has acknowledged.
    fn again(&mut self, room: &mut WirelessMedium, device: u32) {
        let sensor = &mut self.sensors[device as usize];
        sensor.copies -= 1;
        sensor.attempt = sensor.attempt.saturating_add(1);
        self.enter(room, device, Step::Compose);
    }

    /// Takes the listener's acknowledgement of a message, where its device listens and waits for it.
    fn acknowledged(&mut self, room: &mut WirelessMedium, number: u32, heard: &[Reception]) {
        let waits = |it: &&Reception| {
            let sensor = self.sensors.get(it.station as usize);
            sensor.is_some_and(|it| it.number == Some(number) && it.step.listens())
        };
        let Some(device) = heard.iter().find(waits).map(|it| it.station) else { return };
        let sensor = &mut self.sensors[device as usize];
        sensor.is_acked = true;
        if matches!(sensor.step, Step::Await | Step::LastWait) {
            self.end(room, device, true);
        }
    }

    /// Ends a message, of which its device knows so much.
    fn end(&mut self, room: &mut WirelessMedium, device: u32, delivered: bool) {
        let Some(number) = self.sensors[device as usize].number else { return };
        self.ledger.done(room.now(), number, delivered);
        self.next_message(room, device);
    }

    /// Sends an acknowledgement of the component, whose time it is.
    fn acknowledge(&mut self, room: &mut WirelessMedium, number: u32) {
        let mode = self.sensors[LISTENER as usize].mode;
        let tag = OURS | ACK | u64::from(number);
        // A full driver drops it: the message is sent again.
        let _ = room.send(LISTENER, TxFrame::new(GROUP, gateway::ack_octets(), mode, tag));
    }

    /// Goes on when the application knows what became of its frame.
    fn told(&mut self, room: &mut WirelessMedium, device: u32, delivered: bool) {
        let sensor = &mut self.sensors[device as usize];
        if !delivered && sensor.attempt < self.plan.attempts {
            sensor.attempt += 1;
            return self.enter(room, device, Step::Compose);
        }
        if sensor.copies > 1 && !self.load.ack() {
            sensor.copies -= 1;
            return self.enter(room, device, Step::Compose);
        }
        self.end(room, device, delivered);
    }
}

impl MacUser for Host {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        if token & OURS != 0 {
            let device = token as u32;
            return match token >> 32 & 3 {
                STEP => self.advance(room, device),
                OWED => self.acknowledge(room, device),
                _ => self.due(room, device),
            };
        }
        if let Some(until) = self.nobody_until(room.now()) {
            // Bursts come by chance and have no memory: they may as well begin anew.
            let at = match Wake::of(token) {
                Wake::Load(number) => self.others.next_load(number, until),
                Wake::Beacon(number) => self.others.next_beacon(number, room.now(), until),
                _ => None,
            };
            if let Some(at) = at {
                room.wake_at(at, token);
            }
            return;
        }
        let again = match Wake::of(token) {
            Wake::Beacon(number) => self.others.beacon(room, number),
            Wake::Load(number) => self.others.load(room, number),
            _ => None,
        };
        if let Some(at) = again {
            room.wake_at(at, token);
        }
    }

    fn accepts(&mut self, station: u32, frame: &Ppdu) -> bool {
        station != LISTENER || self.listener.has_buffer(Instant::from_nanos(frame.end))
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        if frame.kind != FrameKind::Data || frame.tag & OURS == 0 {
            return;
        }
        let Some(sensor) = self.sensors.get_mut(frame.from as usize) else { return };
        let part = if frame.attempt > 1 { EnergyPart::Retries } else { sensor.sending() };
        let state = PowerState::Awake(ModemState::Send(Modulation::of(frame.mode)), CpuState::Idle);
        sensor.meter.set(Instant::from_nanos(frame.begin), part, state);
    }

    fn on_tx_end(&mut self, frame: &Ppdu) {
        let (begin, end) = (Instant::from_nanos(frame.begin), Instant::from_nanos(frame.end));
        if frame.kind == FrameKind::Data && frame.tag & OURS != 0 {
            if let Some(sensor) = self.sensors.get_mut(frame.from as usize) {
                let part = sensor.meter.part;
                let state = PowerState::Awake(ModemState::Listen, CpuState::Idle);
                sensor.meter.set(end, part, state);
            }
            return;
        }
        let is_ack = frame.kind == FrameKind::Ack;
        let what = if is_ack { AirtimeKind::Ack } else { AirtimeKind::Background };
        self.ledger.see(|| Flight { what, ..Flight::of(frame) });
        // Other people's acknowledgements are theirs.
        let is_ours = (frame.from as usize) < self.sensors.len();
        let kind = if is_ack && is_ours { AirKind::Ack } else { AirKind::Other };
        if frame.channel == self.channel {
            self.ledger.on_air(OnAir { kind, begin, end }, false);
        }
    }

    fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        if frame.tag & OURS == 0 {
            return;
        }
        let is_ack = frame.tag & ACK != 0;
        let (collided, noise) = missed_by_cause(missed);
        let heard_by = heard.len() as u32;
        self.ledger.see(|| Flight {
            what: if is_ack { AirtimeKind::Ack } else { AirtimeKind::Data },
            heard: heard_by,
            collided,
            noise,
            ..Flight::of(frame)
        });
        let (now, number) = (room.now(), frame.tag as u32);
        if is_ack {
            let begin = Instant::from_nanos(frame.begin);
            self.ledger.on_air(OnAir { kind: AirKind::Ack, begin, end: now }, false);
            return self.acknowledged(room, number, heard);
        }
        let read = heard.iter().any(|it| it.station == LISTENER);
        let missed = missed.iter().find(|it| it.station == LISTENER).map(|it| it.cause);
        let begin = Instant::from_nanos(frame.begin);
        let attempts = self.ledger.attempt(begin, now, number, read, missed);
        if read {
            self.ledger.received(self.listener.receive(now), number);
            if self.load.ack() {
                let at = self.listener.acknowledge();
                room.wake_at(at, OURS | OWED << 32 | u64::from(number));
            }
        }
        let kind = if attempts == 1 { AirKind::First } else { AirKind::Retry };
        if frame.channel == self.channel {
            self.ledger.on_air(OnAir { kind, begin, end: now }, missed.is_some());
        }
    }

    fn on_tx_status(&mut self, room: &mut WirelessMedium, station: u32, done: TxStatus) {
        if done.tag & OURS != 0 && station != LISTENER {
            self.enter(room, station, Step::Told(done.delivered));
        }
    }
}
