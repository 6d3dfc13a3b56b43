//! Load that applications offer: the times of their messages, and the form of these.

use super::sleep::{SleepMode, SleepPlan};
use crate::lab::scene::Scene;
use core::time::Duration;
use esp_now::component::{FrameConfig, HEADER_LEN};
use esp_now::frame::mpdu_len;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::workload::EspNowCast;

/// Bytes at the front of a payload that number the message.
pub const PAYLOAD_MIN: u32 = 4;

/// The longest payload of ESP-NOW v2.0 with the component's header.
pub const PAYLOAD_MAX: u32 = (esp_now::frame::DATA_MAX - HEADER_LEN) as u32;

/// A crystal's tolerance, in parts of a million: "Hardware Design Guidelines" of the ESP32 series
/// ("the accuracy of the crystal is ±10 ppm").
pub(in crate::lab) const CRYSTAL_PPM: f64 = 10.0;

/// Error of the RTC timer in deep and light sleep, in parts of a million: an assumption, what the
/// temperature makes of the internal RC oscillator after ESP-IDF has calibrated it by the crystal at the
/// last boot (ESP-IDF Programming Guide, System Time: its frequency drifts with the temperature).
pub(in crate::lab) const RTC_PPM: f64 = 500.0;

/// Returns the component's settings for the cast.
#[must_use]
pub(super) const fn config(cast: EspNowCast, encrypted: bool) -> FrameConfig {
    let (broadcast, copies, ack) = match cast {
        EspNowCast::Unicast => (false, 0, false),
        EspNowCast::Broadcast { copies, ack } => (true, copies, ack),
    };
    FrameConfig { broadcast, copies, ack, security: encrypted, ..FrameConfig::UNICAST }
}

/// Process by which messages come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Every so often, by the device's own crystal; each device began at another time.
    Periodic,
    /// By chance: a Poisson process.
    Poisson,
    /// The next one as soon as the last one has left.
    Always,
}

/// Load that the applications of all devices but the first offer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// To whom: unicast to the listener, broadcast in so many copies to all, or, with the component's
    /// own acknowledgement, to the listener in so many attempts at most.
    pub cast: EspNowCast,
    /// Whether they are encrypted, with a key that all have from the start. The scene's devices must
    /// have been built for that (`Overrides::encrypted`).
    pub encrypted: bool,
    /// Process by which they come.
    pub arrival: Arrival,
    /// The time between two messages of a device, in the mean; [`Arrival::Always`] ignores it.
    pub every: Duration,
    /// Bytes of a message, from [`PAYLOAD_MIN`] to [`PAYLOAD_MAX`].
    pub payload: u32,
    /// Messages that wait in the application while one is being sent; further ones are lost there.
    pub queue: u16,
    /// Sleep of the devices between their messages, which they send with `esp_now_send` alone, unless
    /// they are encrypted or acknowledged, which are the component's; `None`: they run the component and
    /// are always awake.
    pub sleep: Option<SleepPlan>,
    /// Time at the start that is not recorded.
    pub warm_up: Duration,
    /// Recorded.
    pub time: Duration,
    /// Time in which messages may still arrive afterwards.
    pub drain: Duration,
}

impl Load {
    /// Returns the bytes of ESP-NOW data: the component's header, the message, and the part that
    /// encryption adds; without the component the message alone.
    pub(super) fn data_len(&self, scene: &Scene) -> usize {
        if self.sleep.is_some() && !self.encrypted && !self.ack() {
            return self.payload as usize;
        }
        let seal = scene.nodes.first().map_or(0, |it| it.settings.compat.seal_overhead());
        HEADER_LEN + self.payload as usize + if self.encrypted { seal } else { 0 }
    }

    /// Returns the octets of the MPDU, with FCS.
    #[must_use]
    pub fn octets(&self, scene: &Scene) -> u32 {
        mpdu_len(self.data_len(scene)) as u32
    }

    /// Copies of a broadcast, or attempts at most where it is acknowledged.
    pub(super) fn copies(&self) -> Option<u16> {
        match self.cast {
            EspNowCast::Unicast => None,
            EspNowCast::Broadcast { copies, .. } => Some(u16::from(copies.max(1))),
        }
    }

    /// Returns how many frames carry a message at most, where the radio makes so many attempts.
    #[must_use]
    pub fn frames(&self, attempts: u8) -> u16 {
        self.copies().unwrap_or(u16::from(attempts))
    }

    /// Returns whether the listener acknowledges in the component's own way.
    #[must_use]
    pub const fn ack(&self) -> bool {
        matches!(self.cast, EspNowCast::Broadcast { ack: true, .. })
    }
}

/// The times at which the messages of one device are due.
#[derive(Clone, Debug)]
pub(super) struct MessageClock {
    arrival: Arrival,
    every_ns: f64,
    random: RngStream,
    /// Exactly, in nanoseconds: adding up rounded times would drift.
    next: f64,
}

impl MessageClock {
    pub(super) fn new(load: &Load, seed: u64, device: u32) -> Self {
        let mut random = RngStream::stream(seed, device, Purpose::Arrival);
        let mean = load.every.as_nanos() as f64;
        let (every_ns, next) = match load.arrival {
            Arrival::Periodic => {
                let ppm = match load.sleep {
                    Some(SleepPlan { mode: SleepMode::Light | SleepMode::Deep, .. }) => RTC_PPM,
                    _ => CRYSTAL_PPM,
                };
                let off = (2.0 * random.positive() - 1.0) * ppm * 1e-6;
                (mean * (1.0 + off), random.positive() * mean)
            }
            Arrival::Poisson => (mean, random.exponential() * mean),
            // Not all in the same nanosecond.
            Arrival::Always => (0.0, random.positive() * 1e6),
        };
        Self { arrival: load.arrival, every_ns, random, next }
    }

    /// Returns when the next message is due, in nanoseconds.
    pub(super) const fn due(&self) -> u64 {
        self.next as u64
    }

    pub(super) fn advance(&mut self) {
        self.next += match self.arrival {
            Arrival::Periodic => self.every_ns,
            Arrival::Poisson => self.random.exponential() * self.every_ns,
            Arrival::Always => 0.0,
        };
    }
}
