//! A simulation of a network for some seconds.

use super::scenario::Scenario;
use crate::air::ReceiverConfig;
use crate::mac::source::{Poisson, Saturated};
use crate::mac::{
    FrameKind, GROUP, MacConfig, MacUser, MissedReception, Ppdu, Reception, TxFrame, TxStatus,
    WirelessMedium,
};
use crate::radio::{ErrorModelDecoder, ErrorTable, FrameCapture, receiver};
use espbench_model::time::Instant;

/// Counters of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// The duration.
    pub seconds: u32,
    /// The number of stations that each frame should have reached.
    pub hearers: u32,
    /// The data frames sent, including repetitions.
    pub sent: u64,
    /// The frames that another one overlapped, anywhere on the same channel.
    pub overlapped: u64,
    /// The frames received, counted at each receiver.
    pub received: u64,
    /// The frames that left their queue.
    pub finished: u64,
    /// The frames without an acknowledgement after the last attempt.
    pub given_up: u64,
}

impl RunCounts {
    fn rate(&self, count: u64) -> f64 {
        count as f64 / f64::from(self.seconds)
    }

    /// Returns the frames that a receiver got, a second; for unicast, all of them.
    #[must_use]
    pub fn good(&self) -> f64 {
        if self.hearers == 0 {
            return self.sent();
        }
        self.rate(self.received) / f64::from(self.hearers)
    }

    /// Returns the frames sent, a second.
    #[must_use]
    pub fn sent(&self) -> f64 {
        self.rate(self.sent)
    }

    /// Returns the share of frames that overlapped.
    #[must_use]
    pub fn collide(&self) -> f64 {
        self.overlapped as f64 / self.sent as f64
    }

    /// Returns the share of frames that was given up.
    #[must_use]
    pub fn dropped(&self) -> f64 {
        self.given_up as f64 / self.finished as f64
    }
}

/// Returns a receiver as in ns-3: noise figure of 7 dB, preambles from -82 dBm, energy from -62
/// dBm.
fn receiver_of_ns3(capture: bool) -> ReceiverConfig {
    let errors = ErrorTable::shared();
    let reader = ErrorModelDecoder::new(errors, receiver::Receiver::ideal(7.0)).with_floor(-82.0);
    let capture = if capture { FrameCapture::EARLY } else { FrameCapture::default() };
    ReceiverConfig::new(reader, -62.0, capture)
}

/// Returns the configuration of a station of the scenario.
pub(super) fn settings(scenario: &Scenario, station: u32) -> MacConfig {
    MacConfig {
        channel: scenario.channel(station),
        timing: scenario.standard.timing(),
        buffers: 1000,
        ampdu: scenario.ampdu,
        ..MacConfig::default()
    }
}

/// Runs a scenario for some seconds, with ns-3's receivers.
#[must_use]
pub fn run(scenario: &Scenario, seed: u64, seconds: u32) -> RunCounts {
    let stations = scenario.stations;
    let settings = (0..stations).map(|station| settings(scenario, station));
    let receiver = receiver_of_ns3(scenario.capture);
    let mut medium = WirelessMedium::new(seed, scenario.links(), &[receiver], settings);
    let packet = TxFrame::new(scenario.to, scenario.octets, scenario.mode, 0);
    let packet = if scenario.ampdu.is_some() { packet.aggregated() } else { packet };
    let count = RunCounts { seconds, hearers: scenario.hearers(), ..RunCounts::default() };
    let Some(rate) = scenario.rate else {
        let frames = scenario.ampdu.map_or(2, |it| 2 * u32::from(it.send));
        let inner = Saturated { packet, frames };
        inner.start(&mut medium, scenario.first..stations);
        return observe(&mut medium, inner, count);
    };
    let mut inner = Poisson::new(seed, packet, stations, rate);
    inner.start(&mut medium);
    observe(&mut medium, inner, count)
}

/// Runs a medium with its own user for `counts.seconds`, and counts.
pub fn observe<H: MacUser>(medium: &mut WirelessMedium, inner: H, counts: RunCounts) -> RunCounts {
    let until = medium.now().as_nanos() + u64::from(counts.seconds) * 1_000_000_000;
    let mut user = CountingUser { inner, counts, busy: [(0, 0); 15] };
    medium.run(&mut user, Instant::from_nanos(until));
    user.counts
}

/// A user of the MAC that counts what the frames of another user do to each other.
struct CountingUser<H> {
    inner: H,
    counts: RunCounts,
    /// The end of the current busy period on each channel, and the number of its frames.
    busy: [(u64, u64); 15],
}

impl<H: MacUser> MacUser for CountingUser<H> {
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        self.inner.on_wake(medium, token);
    }

    fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.counts.received += heard.len() as u64;
        self.inner.on_data(medium, frame, heard, missed);
    }

    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, done: TxStatus) {
        self.counts.finished += 1;
        self.counts.given_up += u64::from(!done.delivered);
        self.inner.on_tx_status(medium, station, done);
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        if frame.kind != FrameKind::Data {
            return;
        }
        self.counts.sent += 1;
        let (end, together) = &mut self.busy[usize::from(frame.channel).min(14)];
        if frame.begin >= *end {
            *together = 0;
        }
        *together += 1;
        self.counts.overlapped += match together {
            1 => 0,
            2 => 2,
            _ => 1,
        };
        *end = frame.end.max(*end);
    }
}

/// Runs stations that broadcast now and then, `rate` frames a second in all, spread over the
/// independent channels 1, 6 and 11. All stations hear each other equally.
#[must_use]
pub fn crowd(seed: u64, stations: u32, channels: u8, rate: f64, seconds: u32) -> RunCounts {
    let settings = (0..stations).map(|station| {
        let channel = 1 + (station % u32::from(channels)) as u8 * 5;
        MacConfig { channel, ..MacConfig::default() }
    });
    let links = crate::air::RadioLinks::uniform(stations, -40.0);
    let mut medium = WirelessMedium::new(seed, links, &[ReceiverConfig::default()], settings);
    let packet = TxFrame::new(GROUP, super::OCTETS, crate::radio::WifiMode::ESP_NOW, 0);
    let mut user = Poisson::new(seed, packet, stations, rate / f64::from(stations));
    user.start(&mut medium);
    let hearers = stations / u32::from(channels) - 1;
    observe(&mut medium, user, RunCounts { seconds, hearers, ..RunCounts::default() })
}
