//! A network of stations that hear each other, and a log of all events.

use crate::air::{RadioLinks, ReceiverConfig};
use crate::mac::{self, MacConfig, MissedReception, Ppdu, Reception, TxStatus, WirelessMedium};
use crate::radio::{BasicRates, Timing};
use crate::wifi::{
    DisconnectReason, FrameInfo, Joined, Msdu, ReceivedPacket, SendError, SentPacket, UpperLayer,
    WifiLayer, WifiRole,
};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use std::fmt::Write as _;
use std::string::String;
use std::vec::Vec;

/// The log of events, by time.
#[derive(Default)]
pub(super) struct EventLog {
    pub(super) text: String,
    pub(super) received: Vec<(u64, u32, ReceivedPacket)>,
    pub(super) sent: Vec<(u64, u32, SentPacket)>,
    pub(super) joined: Vec<(u64, u32, Joined)>,
    pub(super) left: Vec<(u64, u32, DisconnectReason)>,
    pub(super) awake: Vec<(u64, u32, bool)>,
    /// The end of a TIM after which a station stopped, and the time at which that is told.
    pub(super) stopped: Vec<(u64, u64)>,
    pub(super) windows: Vec<(u64, u32)>,
    pub(super) missed: Vec<(u64, u32, u64, Cause)>,
}

impl EventLog {
    fn line(&mut self, medium: &WirelessMedium, what: core::fmt::Arguments<'_>) {
        let at = medium.now().as_nanos();
        let _ = writeln!(self.text, "{:>10}.{:03} us  {what}", at / 1000, at % 1000);
    }
}

impl UpperLayer for EventLog {
    fn on_received(&mut self, medium: &mut WirelessMedium, station: u32, it: ReceivedPacket) {
        self.line(medium, format_args!("{station} received {} from {}", it.tag, it.from));
        self.received.push((medium.now().as_nanos(), station, it));
    }

    fn on_sent(&mut self, medium: &mut WirelessMedium, station: u32, it: SentPacket) {
        match it.lost {
            None => self.line(medium, format_args!("{station} sent {}", it.tag)),
            Some(cause) => self.line(medium, format_args!("{station} lost {}: {cause:?}", it.tag)),
        }
        self.sent.push((medium.now().as_nanos(), station, it));
    }

    fn on_missed(&mut self, medium: &mut WirelessMedium, station: u32, tag: u64, cause: Cause) {
        self.line(medium, format_args!("{station} missed {tag}: {cause:?}"));
        self.missed.push((medium.now().as_nanos(), station, tag, cause));
    }

    fn on_joined(&mut self, medium: &mut WirelessMedium, station: u32, it: Joined) {
        self.line(medium, format_args!("{station} joined {} as {}", it.ap, it.aid));
        self.joined.push((medium.now().as_nanos(), station, it));
    }

    fn on_left(&mut self, medium: &mut WirelessMedium, station: u32, why: DisconnectReason) {
        self.line(medium, format_args!("{station} left: {why:?}"));
        self.left.push((medium.now().as_nanos(), station, why));
    }

    fn on_window(&mut self, medium: &mut WirelessMedium, station: u32) {
        self.windows.push((medium.now().as_nanos(), station));
    }

    fn on_stopped(&mut self, medium: &mut WirelessMedium, _station: u32, at: Instant) {
        self.stopped.push((at.as_nanos(), medium.now().as_nanos()));
    }

    fn on_awake(&mut self, medium: &mut WirelessMedium, station: u32, awake: bool) {
        self.line(medium, format_args!("{station} {}", if awake { "wakes" } else { "sleeps" }));
        self.awake.push((medium.now().as_nanos(), station, awake));
    }
}

/// A medium, its Wi-Fi, and the layer above.
pub(super) struct WifiBench {
    pub(super) medium: WirelessMedium,
    pub(super) host: BenchUser,
}

/// The user of the MAC.
pub(super) struct BenchUser {
    pub(super) wifi: WifiLayer,
    pub(super) log: EventLog,
    /// Whether frames on the air are logged.
    pub(super) frames: bool,
}

impl WifiBench {
    /// Returns a bench whose stations all hear each other, with access points on channel 1.
    pub(super) fn new(roles: impl IntoIterator<Item = WifiRole>) -> Self {
        Self::on(1, roles)
    }

    /// Returns a bench whose stations all hear each other, with access points on a channel,
    /// stations on 1 at first.
    pub(super) fn on(channel: u8, roles: impl IntoIterator<Item = WifiRole>) -> Self {
        Self::with(channel, roles, |_, _| -50.0)
    }

    /// Returns a bench where `dbm` gives the power at which a station hears another.
    pub(super) fn with(
        channel: u8,
        roles: impl IntoIterator<Item = WifiRole>,
        power: impl FnMut(u32, u32) -> f64,
    ) -> Self {
        let roles: Vec<WifiRole> = roles.into_iter().collect();
        let links = RadioLinks::new(roles.len() as u32, -98.0, power);
        let timing = Timing::ERP_SHORT_SLOT;
        let settings = MacConfig { timing, basic: BasicRates::BG, ..MacConfig::default() };
        let settings = roles.iter().map(|role| MacConfig {
            channel: if matches!(role, WifiRole::AccessPoint(_)) { channel } else { 1 },
            ..settings.clone()
        });
        let mut medium = WirelessMedium::new(1, links, &[ReceiverConfig::default()], settings);
        let mut wifi = WifiLayer::new(1, roles);
        let mut log = EventLog::default();
        wifi.start(&mut medium, &mut log);
        Self { medium, host: BenchUser { wifi, log, frames: false } }
    }

    pub(super) fn send(
        &mut self,
        from: u32,
        to: u32,
        octets: u32,
        tag: u64,
    ) -> Result<(), SendError> {
        self.host.wifi.send(&mut self.medium, from, Msdu { to, octets, tag })
    }

    pub(super) fn call(
        &mut self,
        what: impl FnOnce(&mut WifiLayer, &mut WirelessMedium, &mut EventLog),
    ) {
        what(&mut self.host.wifi, &mut self.medium, &mut self.host.log);
    }

    pub(super) fn run_ms(&mut self, until_ms: u64) {
        self.medium.run(&mut self.host, Instant::from_nanos(until_ms * 1_000_000));
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

impl mac::MacUser for BenchUser {
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        self.wifi.on_wake(medium, token, &mut self.log);
    }

    fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.wifi.on_data(medium, frame, heard, missed, &mut self.log);
    }

    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, done: TxStatus) {
        self.wifi.on_tx_status(medium, station, done, &mut self.log);
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
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
