//! The lab, and what its devices send.

use super::firmware::NodeFirmware;
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use espbench_measure::predict::FleetLimits;
use espbench_measure::predict::battery::Battery;
use espbench_measure::predict::effort::Effort;
use espbench_measure::settings::{Setting, Settings};
use espbench_measure::units::print_duration;
use espbench_model::workload::{EspNowCast, Name};
use espbench_sim::lab::predict::sleep::{SleepMode, SleepPlan};
use espbench_sim::lab::predict::{Arrival, Load};

/// Messages that wait in the application, if nothing else is said.
pub const QUEUE: u16 = 16;

/// The lab, what its devices send, and how much is simulated: what all settings of an answer share.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictSetup {
    /// Name of the lab in the library.
    pub lab: String,
    /// Another profile for all its devices.
    pub profile: Option<String>,
    /// Settings of their sdkconfig, in place of the profile's.
    pub firmware: NodeFirmware,
    /// Name of the place for people, such as `office`.
    pub place: String,
    /// Walls between the listener and the devices.
    pub walls: u8,
    /// Loss in one of them, in dB; that of the place's without.
    pub wall_db: Option<f64>,
    /// Somebody has said that loss in decibels, and not a material: it is not in doubt.
    pub wall_is_said: bool,
    /// Metres from the listener to the nearest and the farthest device; the lab's places without.
    pub distance_m: Option<(f64, f64)>,
    /// Channel of the devices; the lab's without.
    pub channel: Option<u8>,
    /// Radios alone: processors take no time, and nobody else is on the air.
    pub bare: bool,
    /// How messages are sent.
    pub cast: EspNowCast,
    /// Messages are encrypted, with a key that all have from the start.
    pub encrypted: bool,
    /// The lab's file says whether messages are encrypted, where nobody else does.
    pub encrypts_as_lab: bool,
    /// When messages come due.
    pub arrival: Arrival,
    /// Time between two messages of a device.
    pub every: Duration,
    /// Bytes of a message.
    pub payload: u32,
    /// Messages that wait in the application while one is being sent; further ones are lost.
    pub queue: u16,
    /// Sleep of the devices between their messages; `None`: they run the component, always awake.
    pub sleep: Option<SleepPlan>,
    /// Their battery.
    pub battery: Option<Battery>,
    /// Limits that the fleet should keep.
    pub limits: FleetLimits,
    /// Rooms and messages for each figure.
    pub effort: Effort,
    /// Seed of everything random.
    pub seed: u64,
}

impl PredictSetup {
    /// Returns the load of so many devices.
    #[must_use]
    pub fn load(&self, devices: u32) -> Load {
        self.load_every(devices, self.every)
    }

    /// Returns the load of so many devices with another time between messages.
    #[must_use]
    pub fn load_every(&self, devices: u32, every: Duration) -> Load {
        let span = self.effort.span(devices, every);
        Load {
            cast: self.cast,
            encrypted: self.encrypted,
            arrival: self.arrival,
            every,
            payload: self.payload,
            queue: self.queue,
            sleep: self.sleep,
            warm_up: span.warm_up,
            time: span.time,
            drain: span.drain,
        }
    }

    /// Returns the fleet and its place in a few words: `what` says how many and at which rates.
    #[must_use]
    pub fn title(&self, devices: &str, rates: &str) -> String {
        let cast = match self.cast {
            EspNowCast::Unicast => String::new(),
            EspNowCast::Broadcast { .. } => format!(" {}", self.cast_text()),
        };
        let mut text = format!(
            "{devices}, {} B every {}, ESP-NOW{cast} {rates}, {}",
            self.payload,
            print_duration(self.every),
            self.place
        );
        if let Some(distance) = self.distance_text() {
            text.push_str(&format!(", {distance}"));
        }
        if let Some(plan) = self.sleep {
            text.push_str(match plan.mode {
                SleepMode::None => ", no sleep",
                SleepMode::Modem => ", modem sleep",
                SleepMode::Light => ", light sleep",
                SleepMode::Deep => ", deep sleep",
            });
        }
        let firmware = self.firmware.words();
        if !firmware.is_empty() {
            text.push_str(&format!(", {firmware}"));
        }
        text + &self.walls_text()
    }

    /// Says the walls between, with the loss of each: then nobody is in sight. Empty without walls.
    pub(super) fn walls_text(&self) -> String {
        let each = self.wall_db.map(|db| format!(" of {db} dB")).unwrap_or_default();
        match self.walls {
            0 => String::new(),
            1 => format!(", 1 wall{each}, not in sight"),
            walls => format!(", {walls} walls{each}, not in sight"),
        }
    }

    /// Returns the message and the place of a question about its range, in a few words.
    pub(super) fn range_title(&self, rates: &str) -> String {
        let walls = self.walls_text();
        let mut text = format!("{}, ESP-NOW {rates}, {}{walls}", self.message(), self.place);
        let firmware = self.firmware.words();
        if !firmware.is_empty() {
            text.push_str(&format!(", {firmware}"));
        }
        text
    }

    /// Describes one message.
    pub(super) fn message(&self) -> String {
        let sealed = if self.encrypted { ", encrypted" } else { "" };
        format!("{} B {}{sealed}", self.payload, self.cast_text())
    }

    fn distance_text(&self) -> Option<String> {
        let (near, far) = self.distance_m?;
        Some(if near == far { format!("{far} m") } else { format!("{near} to {far} m") })
    }

    /// Returns what all settings share, as values.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let mut settings: Settings = [
            Setting::Interval(self.every),
            Setting::Poisson(self.arrival == Arrival::Poisson),
            Setting::Cast(self.cast),
        ]
        .into_iter()
        .collect();
        settings.extend(self.encrypted.then_some(Setting::Encrypted(true)));
        settings.extend((self.queue != QUEUE).then(|| Setting::Queue(self.queue.into())));
        if let Some((near, far)) = self.distance_m {
            settings.extend([Setting::Nearest(near), Setting::Farthest(far)]);
        }
        let sleep = self.sleep.and_then(|it| Name::new(it.mode.name()));
        settings.extend(sleep.map(Setting::Sleep));
        settings.extend((self.walls > 0).then_some(Setting::Walls(self.walls)));
        settings.extend(self.wall_db.filter(|_| self.walls > 0).map(Setting::WallLoss));
        settings.extend(self.bare.then_some(Setting::RadiosAlone(true)));
        settings.extend(self.firmware.settings());
        settings
    }

    /// Describes the settings that all points share.
    #[must_use]
    pub fn shared(&self) -> String {
        let arrivals = match self.arrival {
            Arrival::Poisson => "Poisson",
            Arrival::Periodic | Arrival::Always => "periodic",
        };
        let mut text = format!(
            "{} B every {}, {arrivals}, {}",
            self.payload,
            print_duration(self.every),
            self.cast_text()
        );
        if self.encrypted {
            text.push_str(", encrypted");
        }
        if self.queue != QUEUE {
            text.push_str(&format!(", queue of {}", self.queue));
        }
        if let Some(distance) = self.distance_text() {
            text.push_str(&format!(", {distance} apart"));
        }
        if let Some(channel) = self.channel {
            text.push_str(&format!(", channel {channel}"));
        }
        if let Some(plan) = self.sleep {
            text.push_str(&format!(
                ", sleep {}, at most {} attempts",
                plan.mode.name(),
                plan.attempts
            ));
            if plan.mode == SleepMode::Deep && !plan.validates {
                text.push_str(", image not checked at wake");
            }
        }
        text.push_str(&self.walls_text());
        if self.bare {
            text.push_str(", radios alone");
        }
        text
    }

    fn cast_text(&self) -> String {
        let EspNowCast::Broadcast { copies, ack } = self.cast else { return "unicast".into() };
        match (copies, ack) {
            (0 | 1, false) => "broadcast".into(),
            (copies, false) => format!("broadcast in {copies} copies"),
            (0 | 1, true) => "broadcast with acknowledgement, one attempt".into(),
            (copies, true) => format!("broadcast with acknowledgement, up to {copies} attempts"),
        }
    }
}
