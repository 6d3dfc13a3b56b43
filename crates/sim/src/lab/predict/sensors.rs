//! Devices on batteries: they sleep, wake, boot, start Wi-Fi, send, and sleep again.

use super::FrameSource;
use super::ledger::{AirKind, MessageLog, OnAir};
use super::load::Load;
use super::outcome::Outcome;
use super::sleep::{EnergyPart, EnergyUse, SleepMode, SleepPlan};
use crate::lab::profile::{Profile, WakeTimes};
use crate::lab::run::Livelock;
use crate::lab::run::Others;
use crate::lab::scene::Scene;
use crate::lab::token::Wake;
use crate::power::{
    CpuState, CurrentDraw, ModemState, Modulation, PowerSettings, PowerState, StateTimes,
};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::mac::{
    FrameKind, GROUP, MacUser, MissedReception, Ppdu, Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_dot11::radio::{ChannelWidth, WifiMode};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::EspNowCast;

/// The device that listens; it is on the mains.
const LISTENER: u32 = 0;

/// Tokens of steps, and tags of messages, beside those of other people's stations.
const OURS: u64 = 1 << 63;

/// Sleeping devices, the one that listens, and everyone else on the air.
pub(super) struct Sensors {
    room: WirelessMedium,
    host: Host,
    /// Devices' times at the beginning of the recorded time.
    before: Option<Vec<[StateTimes; PARTS]>>,
    /// Devices' times at its end.
    after: Option<Vec<[StateTimes; PARTS]>>,
}

const PARTS: usize = EnergyPart::ALL.len();

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

/// Time of a device by part and state.
#[derive(Clone, Copy, Debug)]
struct PartMeter {
    part: EnergyPart,
    state: PowerState,
    since: Instant,
    times: [StateTimes; PARTS],
}

impl PartMeter {
    fn set(&mut self, now: Instant, part: EnergyPart, state: PowerState) {
        self.times = self.read(now);
        (self.part, self.state, self.since) = (part, state, now.max(self.since));
    }

    fn read(&self, now: Instant) -> [StateTimes; PARTS] {
        let mut times = self.times;
        let ns = now.as_nanos().saturating_sub(self.since.as_nanos());
        times[self.part as usize].add(self.state, ns);
        times
    }
}

/// Step of a device's firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Asleep,
    Wake,
    Boot,
    /// `esp_wifi_init`: the radio is off.
    Init,
    /// `esp_wifi_start`: calibration, the radio is on.
    Start,
    /// `esp_now_send` composes the frame.
    Compose,
    /// The driver takes it from its queue.
    Queue,
    /// On the air.
    Air,
    /// The callback is on its way.
    Told(bool),
    /// Wi-Fi stops.
    Stop,
}

impl Step {
    /// Returns whether the radio is on, or will be right away.
    const fn listens(self) -> bool {
        !matches!(self, Self::Asleep | Self::Wake | Self::Boot | Self::Stop)
    }
}

/// Returns the time from a wake until Wi-Fi starts.
fn lead(plan: &SleepPlan, wake: &WakeTimes) -> Duration {
    let validation = if plan.validates { wake.validate } else { Duration::ZERO };
    match plan.mode {
        SleepMode::Deep => wake.rom + validation + wake.application,
        _ => Duration::ZERO,
    }
}

struct Sensor {
    profile: Arc<Profile>,
    mode: WifiMode,
    draw: CurrentDraw,
    meter: PartMeter,
    step: Step,
    number: Option<u32>,
    attempt: u8,
    copies: u16,
    /// Time at which its radio will be on, while it boots.
    radio_at: Instant,
}

impl Sensor {
    fn new(device: &crate::lab::scene::Device, mode: SleepMode) -> Self {
        let profile = device.profile.clone();
        let width = match device.mode {
            WifiMode::Ht(ht) => ht.width,
            _ => ChannelWidth::Mhz20,
        };
        let settings = PowerSettings {
            clock_mhz: profile.processor.clock_mhz,
            width,
            power_dbm: [device.power_dbm(); Modulation::ALL.len()],
        };
        let draw = CurrentDraw::new(&profile.currents, &settings);
        let meter = PartMeter {
            part: EnergyPart::Sleep,
            state: between(mode),
            since: Instant::ZERO,
            times: [StateTimes::NONE; PARTS],
        };
        let (mode, step) = (device.mode, Step::Asleep);
        Self {
            profile,
            mode,
            draw,
            meter,
            step,
            number: None,
            attempt: 0,
            copies: 0,
            radio_at: Instant::ZERO,
        }
    }

    /// Returns the part that sending belongs to now.
    const fn sending(&self) -> EnergyPart {
        if self.attempt > 1 { EnergyPart::Retries } else { EnergyPart::Send }
    }
}

/// Returns the state between two messages.
const fn between(mode: SleepMode) -> PowerState {
    match mode {
        SleepMode::None => PowerState::Awake(ModemState::Listen, CpuState::Idle),
        SleepMode::Modem => PowerState::Awake(ModemState::Off, CpuState::Idle),
        SleepMode::Light => PowerState::LightSleep,
        SleepMode::Deep => PowerState::DeepSleep,
    }
}

/// The processor of the device that listens: one frame after the other.
struct Gateway {
    cost: Duration,
    buffers: usize,
    /// When each frame that waits will be done.
    busy: VecDeque<Instant>,
}

impl Gateway {
    fn new(scene: &Scene, load: &Load) -> Self {
        let bytes = load.data_len(scene) as u32;
        let of = |it: &Profile| it.receive.of(bytes) + it.dispatch.of(bytes);
        let first = scene.nodes.first();
        Self {
            cost: first.map_or(Duration::ZERO, |it| of(&it.profile)),
            buffers: first.map_or(1, |it| usize::from(it.profile.rx_buffers)),
            busy: VecDeque::new(),
        }
    }

    fn has_buffer(&mut self, now: Instant) -> bool {
        while self.busy.front().is_some_and(|it| *it <= now) {
            self.busy.pop_front();
        }
        self.busy.len() < self.buffers
    }

    /// Returns when the application has a frame that is read now.
    fn receive(&mut self, now: Instant) -> Instant {
        let done = self.busy.back().copied().unwrap_or(now).max(now) + self.cost;
        self.busy.push_back(done);
        done
    }
}

/// Time for which other people's stations send before a device listens.
const AHEAD: Duration = Duration::from_millis(50);

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
        sensor.number = taken;
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
                (sensor.sending(), busy(ModemState::Listen), Some(it.transmit.of(bytes)))
            }
            Step::Queue => {
                (sensor.sending(), idle(ModemState::Listen), Some(it.send_latency.of(bytes)))
            }
            Step::Air => (sensor.sending(), idle(ModemState::Listen), None),
            Step::Told(_) => {
                (sensor.sending(), idle(ModemState::Listen), Some(it.sent_latency.of(bytes)))
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
            room.wake_at(now + takes, OURS | 1 << 32 | u64::from(device));
        }
    }

    /// Goes on from a step that is over.
    fn advance(&mut self, room: &mut WirelessMedium, device: u32) {
        let sensor = &mut self.sensors[device as usize];
        let is_deep = self.plan.mode == SleepMode::Deep;
        let next = match sensor.step {
            Step::Wake if is_deep => Step::Boot,
            Step::Boot => Step::Init,
            Step::Init | Step::Wake => Step::Start,
            Step::Start => Step::Compose,
            Step::Compose => Step::Queue,
            Step::Queue => Step::Air,
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

    /// Goes on when the application knows what became of its frame.
    fn told(&mut self, room: &mut WirelessMedium, device: u32, delivered: bool) {
        let now = room.now();
        let sensor = &mut self.sensors[device as usize];
        let Some(number) = sensor.number else { return };
        if !delivered && sensor.attempt < self.plan.attempts {
            sensor.attempt += 1;
            return self.enter(room, device, Step::Compose);
        }
        if sensor.copies > 1 {
            sensor.copies -= 1;
            return self.enter(room, device, Step::Compose);
        }
        self.ledger.done(now, number, delivered);
        self.next_message(room, device);
    }
}

impl MacUser for Host {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        if token & OURS != 0 {
            let device = token as u32;
            return match token >> 32 & 1 {
                0 => self.due(room, device),
                _ => self.advance(room, device),
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
        let kind = if frame.kind == FrameKind::Ack { AirKind::Ack } else { AirKind::Other };
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
        let (now, number) = (room.now(), frame.tag as u32);
        let read = heard.iter().any(|it| it.station == LISTENER);
        let missed = missed.iter().find(|it| it.station == LISTENER).map(|it| it.cause);
        let begin = Instant::from_nanos(frame.begin);
        let attempts = self.ledger.attempt(begin, now, number, read, missed);
        if read {
            self.ledger.received(self.listener.receive(now), number);
        }
        let kind = if attempts == 1 { AirKind::First } else { AirKind::Retry };
        if frame.channel == self.channel {
            self.ledger.on_air(OnAir { kind, begin, end: now }, missed.is_some());
        }
    }

    fn on_tx_status(&mut self, room: &mut WirelessMedium, station: u32, done: TxStatus) {
        if done.tag & OURS != 0 {
            self.enter(room, station, Step::Told(done.delivered));
        }
    }
}
