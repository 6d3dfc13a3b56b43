//! The medium: any script of sending, hopping and waking in any small room.

use core::time::Duration;
use espbench_proto::time::Instant;
use espbench_sim::air::{Adjacent, Cutoff, Links, Ratio, Receiver};
use espbench_sim::mac::{
    Done, GROUP, Heard, Host, Kind, Medium, Missed, OnAir, Packet, Room, Settings,
};
use espbench_sim::radio::{Capture, Mode};
use std::collections::BTreeSet;

const STATIONS: u32 = 6;

/// Carries a script out, four bytes a step, and keeps the books.
struct Script<'a> {
    steps: std::slice::Chunks<'a, u8>,
    now: u64,
    /// Sent by each station until then.
    until: [u64; STATIONS as usize],
    queued: u64,
    done: u64,
}

impl Script<'_> {
    fn passes(&mut self, now: Instant) {
        assert!(now.as_nanos() >= self.now, "time goes on");
        self.now = now.as_nanos();
    }
}

impl Host for Script<'_> {
    fn wake(&mut self, room: &mut Room, token: u64) {
        self.passes(room.now());
        let Some(&[what, who, more, wait]) = self.steps.next() else { return };
        let station = u32::from(who) % (STATIONS + 1);
        if what < 40 {
            let hop = Duration::from_micros(u64::from(wait) * 20);
            room.tune(station, more % 16, hop);
        } else {
            let to = if more & 0x80 == 0 { GROUP } else { u32::from(more & 0x07) };
            let mode = Mode::ALL[usize::from(what) % Mode::COUNT];
            let packet = Packet::new(to, 14 + u32::from(wait) * 6, mode, 0);
            self.queued += u64::from(room.send(station, packet).is_ok());
        }
        room.wake_in(Duration::from_micros(u64::from(wait) * u64::from(what & 0x1F)), token);
    }

    fn heard(&mut self, room: &mut Room, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        self.passes(room.now());
        let fates = heard.iter().map(|it| it.station).chain(missed.iter().map(|it| it.station));
        let fates: Vec<u32> = fates.collect();
        let stations: BTreeSet<u32> = fates.iter().copied().collect();
        assert_eq!(stations.len(), fates.len(), "one fate for each hearer");
        assert!(!stations.contains(&frame.from), "nobody hears himself");
        assert!(frame.is_group() || stations.iter().all(|&it| it == frame.to));
        assert_eq!((frame.kind, frame.end), (Kind::Data, room.now().as_nanos()));
    }

    fn done(&mut self, room: &mut Room, _: u32, done: Done) {
        self.passes(room.now());
        self.done += 1;
        assert!((1..=7).contains(&done.attempts));
    }

    fn began(&mut self, frame: &OnAir) {
        let until = &mut self.until[frame.from as usize];
        assert!(*until <= frame.begin && frame.begin < frame.end, "one frame at a time");
        *until = frame.end;
    }
}

/// The first byte chooses the receivers, the next 36 are the powers between stations, the rest is
/// the script.
pub fn room(data: &[u8]) {
    let [kind, rest @ ..] = data else { return };
    let pairs = (STATIONS * STATIONS) as usize;
    let Some((powers, script)) = rest.split_at_checked(pairs) else { return };
    let dbm = |from: u32, to: u32| -30.0 - f64::from(powers[(from * STATIONS + to) as usize]) / 2.0;
    let capture = match kind % 3 {
        0 => Capture::default(),
        1 => Capture::EARLY,
        _ => Capture::any_time(8.0),
    };
    let receiver = Receiver::new(Cutoff::from_db(f64::from(kind / 16)), -75.0, capture);
    let settings = (0..STATIONS).map(|_| Settings { buffers: 3, ..Settings::default() });
    let adjacent = Adjacent::by_distance(&[12.0, 40.0].map(Ratio::from_db));
    let mut room = Room::new(1, Links::new(STATIONS, -110.0, dbm), &[receiver], settings)
        .with_medium(Medium { adjacent, ..Medium::default() });
    let steps = script[..script.len() / 4 * 4].chunks(4);
    let count = steps.len() as u64;
    let until = [0; STATIONS as usize];
    let mut host = Script { steps, now: 0, until, queued: 0, done: 0 };
    room.wake_at(Instant::ZERO, 0);
    // Long enough for every frame to be tried seven times, one after the other.
    room.run(&mut host, Instant::from_nanos((count + 10) * 1_000_000_000));
    assert_eq!(host.done, host.queued, "every frame ends");
    let sum = |of: fn(&espbench_sim::mac::Counters) -> u64| -> u64 {
        (0..STATIONS).map(|station| of(&room.counters(station))).sum()
    };
    assert_eq!(sum(|it| it.queued), host.queued);
    assert!(sum(|it| it.acknowledged) <= sum(|it| it.acks));
    for station in 0..STATIONS {
        assert_eq!(room.queued(station), 0);
    }
}
