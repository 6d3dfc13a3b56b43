//! Rooms full of senders, and what is counted in them.

use espbench_proto::time::Instant;
use espbench_sim::air::{Links, Receiver};
use espbench_sim::mac::source::{Poisson, Saturated};
use espbench_sim::mac::{Done, GROUP, Heard, Host, Kind, Missed, OnAir, Packet, Room, Settings};
use espbench_sim::radio::Mode;

/// An ESP-NOW frame of 250 bytes of body, as in the baselines.
pub(crate) const OCTETS: u32 = 293;
const DBM: f64 = -40.0;

/// What a room did in a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// Frames that each receiver got.
    pub(crate) good: f64,
    /// Data frames sent.
    pub(crate) sent: f64,
    /// Of these, the share that overlapped another one.
    pub(crate) collide: f64,
    /// Of all frames taken from the queues, the share that was given up.
    pub(crate) dropped: f64,
}

/// A room of `stations` that all hear each other.
pub(crate) fn room(seed: u64, stations: u32) -> Room {
    room_of(seed, Links::uniform(stations, DBM), &Settings::default())
}

/// Stations that are all alike.
pub(crate) fn room_of(seed: u64, links: Links, settings: &Settings) -> Room {
    room_with(seed, links, settings, Receiver::default())
}

/// With another receiver.
pub(crate) fn room_with(seed: u64, links: Links, settings: &Settings, receiver: Receiver) -> Room {
    let count = links.stations();
    let settings = (0..count).map(|_| settings.clone());
    Room::new(seed, links, &[receiver], settings)
}

/// A frame to everybody, or to a station.
pub(crate) const fn packet(to: u32) -> Packet {
    Packet { to, octets: OCTETS, mode: Mode::ESP_NOW, tag: 0 }
}

/// Counts what a host's frames do to each other.
pub(crate) struct Observer<H> {
    inner: H,
    count: Count,
}

#[derive(Clone, Copy, Default)]
struct Count {
    sent: u64,
    collided: u64,
    received: u64,
    finished: u64,
    given_up: u64,
    /// Of the busy period that goes on, on each channel: its end and its frames.
    busy: [(u64, u64); 15],
}

impl<H: Host> Host for Observer<H> {
    fn wake(&mut self, room: &mut Room, token: u64) {
        self.inner.wake(room, token);
    }

    fn heard(&mut self, room: &mut Room, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        self.count.received += heard.len() as u64;
        self.inner.heard(room, frame, heard, missed);
    }

    fn done(&mut self, room: &mut Room, station: u32, done: Done) {
        self.count.finished += 1;
        self.count.given_up += u64::from(!done.delivered);
        self.inner.done(room, station, done);
    }

    fn began(&mut self, frame: &OnAir) {
        if frame.kind != Kind::Data {
            return;
        }
        let count = &mut self.count;
        count.sent += 1;
        let (end, together) = &mut count.busy[usize::from(frame.channel)];
        if frame.begin >= *end {
            *together = 0;
        }
        *together += 1;
        count.collided += match together {
            1 => 0,
            2 => 2,
            _ => 1,
        };
        *end = frame.end;
    }
}

fn observe<H: Host>(room: &mut Room, inner: H, receivers: u32, seconds: u32) -> Rates {
    let mut host = Observer { inner, count: Count::default() };
    let from = room.now().as_nanos();
    room.run(&mut host, Instant::from_nanos(from + u64::from(seconds) * 1_000_000_000));
    let count = host.count;
    let rate = |count: u64| count as f64 / f64::from(seconds);
    Rates {
        good: if receivers == 0 {
            rate(count.sent)
        } else {
            rate(count.received) / f64::from(receivers)
        },
        sent: rate(count.sent),
        collide: count.collided as f64 / count.sent as f64,
        dropped: count.given_up as f64 / count.finished as f64,
    }
}

/// Stations that broadcast without rest.
pub(crate) fn broadcast(seed: u64, stations: u32, seconds: u32) -> Rates {
    let mut room = room(seed, stations);
    let host = Saturated { packet: packet(GROUP) };
    host.start(&mut room, 0..stations);
    observe(&mut room, host, stations - 1, seconds)
}

/// Stations that send to one more without rest.
pub(crate) fn unicast(seed: u64, senders: u32, seconds: u32) -> Rates {
    let mut room = room(seed, senders + 1);
    let host = Saturated { packet: packet(0) };
    host.start(&mut room, 1..=senders);
    observe(&mut room, host, 1, seconds)
}

/// Stations that broadcast now and then, `rate` frames a second in all, spread over channels that
/// do not hear each other: 1, 6, 11.
pub(crate) fn crowd(seed: u64, stations: u32, channels: u8, rate: f64, seconds: u32) -> Rates {
    let settings = (0..stations).map(|station| {
        let channel = 1 + (station % u32::from(channels)) as u8 * 5;
        Settings { channel, ..Settings::default() }
    });
    let links = Links::uniform(stations, DBM);
    let mut room = Room::new(seed, links, &[Receiver::default()], settings);
    let mut host = Poisson::new(seed, packet(GROUP), stations, rate / f64::from(stations));
    host.start(&mut room);
    observe(&mut room, host, stations / u32::from(channels) - 1, seconds)
}
