//! An echo over ESP-NOW between two boards of which one sleeps, beside no network.
//!
//! The device listens for a window in each interval (`esp_now_set_wake_window`,
//! `esp_wifi_connectionless_module_set_wake_interval`), and can send at any time. The other board is
//! always awake; it sends a request at a random time of each of the plan's intervals, by unicast, and
//! the device sends it back. What the MAC's retries do not bring into a window is lost.

use super::Failed;
use super::told::{self, charged};
use crate::lab::net_scene::{NetDevice, NetScene};
use crate::lab::record::Record;
use crate::mac::{Done, Heard, Host, Missed, OnAir, Packet, Room};
use crate::power::{Cpu, Modem, Modulation, State, Times};
use crate::radio::Mode;
use crate::random::{Purpose, Random};
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::sample::{Cause, Fate, Probe, Sample};
use espbench_proto::time::Instant;
use espbench_proto::workload::UdpEcho;

/// Octets of an ESP-NOW frame beside its body: MAC header 24, category 1, organization 3, random 4,
/// vendor element 7, FCS 4 (ESP-IDF Programming Guide, ESP-NOW, Frame Format).
const OVERHEAD: u32 = 43;
/// The longest body (`ESP_NOW_MAX_DATA_LEN`).
const MOST_BODY: u32 = 250;

/// Tokens: of a request with its number, and these.
const ANSWER: u64 = 1 << 40;
const OPEN: u64 = 1 << 41;
const CLOSE: u64 = OPEN + 1;

/// The two boards at work.
struct Pair<'s> {
    device: &'s NetDevice,
    /// Their numbers in the room.
    stations: [u32; 2],
    octets: u32,
    /// How long the device works for each request.
    work_ns: u64,
    timeout: Duration,
    probes: Vec<Probe>,
    /// Answers that are not yet sent or given up.
    owed: u32,
    busy_ns: u64,
    /// Whether the radio would be on if nothing were owed.
    window: bool,
}

impl Pair<'_> {
    /// Whether the radio ever sleeps.
    const fn sleeps(&self) -> bool {
        self.device.disconnected_sleep
    }

    fn settle(&self, room: &mut Room) {
        let device = self.stations[0];
        if self.sleeps() && !self.window && self.owed == 0 {
            room.doze(device);
        } else {
            room.rouse(device);
        }
    }

    fn send(&self, room: &mut Room, from: usize, number: u64) -> bool {
        let packet =
            Packet::new(self.stations[1 - from], self.octets, self.device.esp_now_mode, number);
        room.send(self.stations[from], packet).is_ok()
    }
}

impl Host for Pair<'_> {
    fn wake(&mut self, room: &mut Room, token: u64) {
        match token {
            OPEN => {
                let Some(it) = self.device.connectionless else { return };
                self.window = true;
                room.wake_in(it.window, CLOSE);
                room.wake_in(it.interval, OPEN);
                self.settle(room);
            }
            CLOSE => {
                // A window as long as its interval never closes.
                self.window = self.device.connectionless.is_some_and(|it| it.window >= it.interval);
                self.settle(room);
            }
            token if token & ANSWER != 0 => {
                self.busy_ns += self.work_ns;
                if !self.send(room, 0, token & !ANSWER) {
                    self.owed -= 1;
                    self.settle(room);
                }
            }
            number => {
                let sent = self.send(room, 1, number);
                let now = room.now();
                let probe = &mut self.probes[number as usize];
                probe.sent = sent.then_some(now);
                probe.fate = Fate::Lost(if sent { Cause::Unknown } else { Cause::NoBuffers });
            }
        }
    }

    fn heard(&mut self, room: &mut Room, frame: &OnAir, heard: &[Heard], _: &[Missed]) {
        let by = |station: u32| heard.iter().any(|it| it.station == station);
        if frame.from == self.stations[1] && by(self.stations[0]) {
            self.owed += 1;
            room.wake_in(Duration::from_nanos(self.work_ns), ANSWER | frame.tag);
            self.settle(room);
        } else if frame.from == self.stations[0] && by(self.stations[1]) {
            let now = room.now();
            let probe = &mut self.probes[frame.tag as usize];
            probe.received = Some(now);
            let late = probe.sent.is_some_and(|sent| now.since(sent) > self.timeout);
            probe.fate = if late { Fate::Late } else { Fate::Delivered };
        }
    }

    fn done(&mut self, room: &mut Room, station: u32, done: Done) {
        if station == self.stations[0] {
            self.owed -= 1;
            self.settle(room);
        }
        let unheard = Fate::Lost(Cause::Unknown);
        let asleep = station != self.stations[0] && self.sleeps();
        let probe = self.probes.get_mut(done.tag as usize);
        if let Some(probe) = probe.filter(|it| !done.delivered && it.fate == unheard) {
            probe.fate = Fate::Lost(if asleep { Cause::Asleep } else { Cause::RetryLimit });
        }
    }
}

/// Carries it out.
///
/// # Errors
/// The scene has no second board, or a message is too long.
pub(super) fn echo(
    work: &UdpEcho,
    scene: &NetScene,
    seed: u64,
    record: &mut dyn Record,
) -> Result<(), Failed> {
    let unable = |why: &str| Err(Failed::Unable(scene.variant.clone(), why.into()));
    let [device, _] = &scene.devices[..] else {
        return unable("ESP-NOW needs a second board, [other]");
    };
    if work.size > MOST_BODY {
        return unable(&format!("ESP-NOW carries {MOST_BODY} bytes at the most"));
    }
    told::facts(scene, seed, record);
    record.fact(espbench_proto::fact::TRANSPORT, "esp-now".into());
    let mut room = scene.room(seed).with_meters();
    let first = u32::from(scene.access_point.is_some());
    let every = work.interval.unwrap_or(work.timeout);
    let mut random = Random::stream(seed, 0, Purpose::Arrival);
    let count = work.count + work.discard;
    let due: Vec<Instant> = (0..count)
        .map(|number| room.now() + every * number + random.time_below(every / 2))
        .collect();
    for (number, at) in (0..).zip(&due) {
        room.wake_at(*at, number);
    }
    let costs = [device.profile.receive, device.profile.dispatch, device.profile.transmit];
    let probe = |(seq, due): (u64, &Instant)| Probe {
        seq: seq.saturating_sub(work.discard.into()),
        bytes: work.size,
        due: *due,
        fate: Fate::Lost(Cause::Stopped),
        ..Probe::default()
    };
    let mut pair = Pair {
        device,
        stations: [first, first + 1],
        octets: work.size + OVERHEAD,
        work_ns: costs.iter().map(|it| it.ns(work.size)).sum(),
        timeout: work.timeout,
        probes: (0..).zip(&due).map(probe).collect(),
        owed: 0,
        busy_ns: 0,
        window: device.connectionless.is_none() && !device.disconnected_sleep,
    };
    room.wake_at(room.now(), OPEN);
    pair.settle(&mut room);
    let end = room.now() + every * count + work.timeout;
    while room.now() < end {
        if record.cancelled() {
            return Err(Failed::Cancelled);
        }
        let until = (room.now() + Duration::from_secs(1)).min(end);
        room.run(&mut pair, until);
    }
    for probe in &pair.probes[work.discard as usize..] {
        record.sample(Sample::Probe(*probe));
    }
    charged(record, &device.draw(), &times(&room, &pair));
    Ok(())
}

/// In which states the device spent its time.
fn times(room: &Room, pair: &Pair<'_>) -> Times {
    let station = pair.stations[0];
    let mut times = Times::NONE;
    let Some(spent) = room.spent(station) else { return times };
    let ns = |it: Duration| it.as_nanos() as u64;
    let awake = |modem| State::Awake(modem, Cpu::Idle);
    let listen = ns(spent.listen);
    // It works while the radio is on: the answer is owed.
    let busy = pair.busy_ns.min(listen);
    times.add(State::Awake(Modem::Listen, Cpu::Busy), busy);
    times.add(awake(Modem::Listen), listen - busy);
    times.add(awake(Modem::Receive), ns(spent.receive));
    for mode in Mode::ALL {
        let sent = room.spent_sending(station, mode).map_or(0, ns);
        times.add(awake(Modem::Send(Modulation::of(mode))), sent);
    }
    let pause = pair.device.connectionless.map(|it| it.interval.saturating_sub(it.window));
    let light = pair.device.light_sleep.is_some_and(|least| pause.is_none_or(|it| it >= least));
    let off = if light { State::LightSleep } else { awake(Modem::Off) };
    times.add(off, ns(spent.doze) + ns(spent.off));
    times
}
