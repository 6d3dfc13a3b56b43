//! A world of stations that hear each other, and a log of all that happens.

use crate::air::{Links, Receiver};
use crate::mac::{self, Done, Heard, Missed, OnAir, Room, Settings};
use crate::radio::{BasicRates, Timing};
use crate::wifi::{Above, FrameInfo, Joined, Left, Msdu, Received, Refused, Role, Sent, Wifi};
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;
use std::fmt::Write as _;
use std::string::String;
use std::vec::Vec;

/// What happened, by time.
#[derive(Default)]
pub(super) struct Log {
    pub(super) text: String,
    pub(super) received: Vec<(u64, u32, Received)>,
    pub(super) sent: Vec<(u64, u32, Sent)>,
    pub(super) joined: Vec<(u64, u32, Joined)>,
    pub(super) left: Vec<(u64, u32, Left)>,
    pub(super) awake: Vec<(u64, u32, bool)>,
    pub(super) windows: Vec<(u64, u32)>,
    pub(super) missed: Vec<(u64, u32, u64, Cause)>,
}

impl Log {
    fn line(&mut self, room: &Room, what: core::fmt::Arguments<'_>) {
        let at = room.now().as_nanos();
        let _ = writeln!(self.text, "{:>10}.{:03} us  {what}", at / 1000, at % 1000);
    }
}

impl Above for Log {
    fn received(&mut self, room: &mut Room, station: u32, it: Received) {
        self.line(room, format_args!("{station} received {} from {}", it.tag, it.from));
        self.received.push((room.now().as_nanos(), station, it));
    }

    fn sent(&mut self, room: &mut Room, station: u32, it: Sent) {
        match it.lost {
            None => self.line(room, format_args!("{station} sent {}", it.tag)),
            Some(cause) => self.line(room, format_args!("{station} lost {}: {cause:?}", it.tag)),
        }
        self.sent.push((room.now().as_nanos(), station, it));
    }

    fn missed(&mut self, room: &mut Room, station: u32, tag: u64, cause: Cause) {
        self.line(room, format_args!("{station} missed {tag}: {cause:?}"));
        self.missed.push((room.now().as_nanos(), station, tag, cause));
    }

    fn joined(&mut self, room: &mut Room, station: u32, it: Joined) {
        self.line(room, format_args!("{station} joined {} as {}", it.ap, it.aid));
        self.joined.push((room.now().as_nanos(), station, it));
    }

    fn left(&mut self, room: &mut Room, station: u32, why: Left) {
        self.line(room, format_args!("{station} left: {why:?}"));
        self.left.push((room.now().as_nanos(), station, why));
    }

    fn window(&mut self, room: &mut Room, station: u32) {
        self.windows.push((room.now().as_nanos(), station));
    }

    fn awake(&mut self, room: &mut Room, station: u32, awake: bool) {
        self.line(room, format_args!("{station} {}", if awake { "wakes" } else { "sleeps" }));
        self.awake.push((room.now().as_nanos(), station, awake));
    }
}

/// A room, its Wi-Fi, and what is above.
pub(super) struct Bench {
    pub(super) room: Room,
    pub(super) host: Host,
}

/// The room's host.
pub(super) struct Host {
    pub(super) wifi: Wifi,
    pub(super) log: Log,
    /// Frames on the air are logged.
    pub(super) frames: bool,
}

impl Bench {
    /// All in reach of each other, access points on channel 1.
    pub(super) fn new(roles: impl IntoIterator<Item = Role>) -> Self {
        Self::on(1, roles)
    }

    /// All in reach of each other, access points on that channel, stations on 1 at first.
    pub(super) fn on(channel: u8, roles: impl IntoIterator<Item = Role>) -> Self {
        Self::with(channel, roles, |_, _| -50.0)
    }

    /// With what power a station is heard by another, dBm.
    pub(super) fn with(
        channel: u8,
        roles: impl IntoIterator<Item = Role>,
        power: impl FnMut(u32, u32) -> f64,
    ) -> Self {
        let roles: Vec<Role> = roles.into_iter().collect();
        let links = Links::new(roles.len() as u32, -98.0, power);
        let timing = Timing::ERP_SHORT_SLOT;
        let settings = Settings { timing, basic: BasicRates::BG, ..Settings::default() };
        let settings = roles.iter().map(|role| Settings {
            channel: if matches!(role, Role::AccessPoint(_)) { channel } else { 1 },
            ..settings.clone()
        });
        let mut room = Room::new(1, links, &[Receiver::default()], settings);
        let mut wifi = Wifi::new(1, roles);
        let mut log = Log::default();
        wifi.start(&mut room, &mut log);
        Self { room, host: Host { wifi, log, frames: false } }
    }

    pub(super) fn send(
        &mut self,
        from: u32,
        to: u32,
        octets: u32,
        tag: u64,
    ) -> Result<(), Refused> {
        self.host.wifi.send(&mut self.room, from, Msdu { to, octets, tag })
    }

    pub(super) fn call(&mut self, what: impl FnOnce(&mut Wifi, &mut Room, &mut Log)) {
        what(&mut self.host.wifi, &mut self.room, &mut self.host.log);
    }

    pub(super) fn run_ms(&mut self, until_ms: u64) {
        self.room.run(&mut self.host, Instant::from_nanos(until_ms * 1_000_000));
    }
}

fn name(info: &FrameInfo) -> String {
    let mut text = std::format!("{:?}", info.subtype);
    for (set, name) in
        [(info.protected, " protected"), (info.power_management, " pm"), (info.more_data, " more")]
    {
        if set {
            text += name;
        }
    }
    if let Some(tim) = info.tim {
        let _ = write!(text, " dtim {}/{}", tim.dtim_count, tim.dtim_period);
        if tim.group || tim.stations > 0 {
            let _ = write!(text, " tim {}{}", tim.stations, if tim.group { "+group" } else { "" });
        }
    }
    text
}

impl mac::Host for Host {
    fn wake(&mut self, room: &mut Room, token: u64) {
        self.wifi.wake(room, token, &mut self.log);
    }

    fn heard(&mut self, room: &mut Room, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        self.wifi.heard(room, frame, heard, missed, &mut self.log);
    }

    fn done(&mut self, room: &mut Room, station: u32, done: Done) {
        self.wifi.done(room, station, done, &mut self.log);
    }

    fn began(&mut self, frame: &OnAir) {
        if let (true, Some(info)) = (self.frames, self.wifi.info(frame)) {
            let (us, ns) = (frame.begin / 1000, frame.begin % 1000);
            let to = if frame.is_group() { "all".into() } else { std::format!("{}", frame.to) };
            let (from, name, octets) = (frame.from, name(&info), frame.octets);
            let _ = writeln!(
                self.log.text,
                "{us:>10}.{ns:03} us  {from} > {to}  {name}, {octets} octets"
            );
        }
    }
}
