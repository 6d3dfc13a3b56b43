//! What stands where.

use super::profile::{Profile, Source};
use crate::radio::WifiMode;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::device::Setup;
use esp_now::node::print::Level;
use esp_now::node::task::Settings;

/// A place in the room, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Away.
    pub y: f64,
    /// Above the floor.
    pub z: f64,
}

impl Point {
    /// The distance to another place.
    #[must_use]
    pub fn to(self, other: Self) -> f64 {
        let (x, y, z) = (self.x - other.x, self.y - other.y, self.z - other.z);
        libm::sqrt(x * x + y * y + z * z)
    }
}

/// A device that speaks ESP-NOW.
#[derive(Clone, Debug)]
pub struct Device {
    /// The group that it is one of.
    pub group: String,
    /// Where it is.
    pub at: Point,
    /// Its chip and firmware's constants.
    pub profile: Arc<Profile>,
    /// Settings of its firmware.
    pub settings: Settings,
    /// Services of its firmware.
    pub services: Setup,
    /// How it sends ESP-NOW frames.
    pub mode: WifiMode,
    /// How it sends the second and later attempts of a unicast frame; the last mode is kept. Empty:
    /// as the first.
    pub fallback: Vec<WifiMode>,
    /// Channel at its start.
    pub channel: u8,
    /// Transmit power that its firmware asks for, dBm; `None`: that of the profile.
    pub power_dbm: Option<f64>,
    /// Down to which severity its lines go to the UART.
    pub log: Level,
    /// Down to which severity they go to the remote log, on the air.
    pub remote_log: Level,
}

impl Device {
    /// A board with that profile, with the firmware's usual settings.
    #[must_use]
    pub fn new(group: &str, profile: Arc<Profile>, at: Point) -> Self {
        Self {
            group: group.into(),
            at,
            profile,
            settings: Settings::default(),
            services: Setup::default(),
            mode: WifiMode::ESP_NOW,
            fallback: Vec::new(),
            channel: 1,
            power_dbm: None,
            log: Level::Info,
            remote_log: Level::None,
        }
    }

    /// The power that it sends with: what the chip can in this mode, if nothing less is asked for.
    #[must_use]
    pub fn power_dbm(&self) -> f64 {
        let asked = self.power_dbm.unwrap_or(self.profile.tx_power_dbm);
        asked.min(self.profile.chip.power_dbm(self.mode))
    }
}

/// An access point: it sends beacons, and lets stations join that know its password.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Its name in the lab.
    pub name: String,
    /// Its SSID.
    pub ssid: String,
    /// Its password.
    pub password: String,
    /// Where it is.
    pub at: Point,
    /// Its channel.
    pub channel: u8,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Time between beacons; 102.4 ms where nothing else is said.
    pub beacon: Duration,
    /// Octets of a beacon.
    pub beacon_octets: u32,
}

/// A station that is none of ours, with a load of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    /// Its name in the lab.
    pub name: String,
    /// Where it is.
    pub at: Point,
    /// Its channel.
    pub channel: u8,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Frames a second, in the mean.
    pub rate: f64,
    /// Frames that come at once, in the mean (geometric; 1: each by itself).
    pub burst: f64,
    /// Octets of an MPDU.
    pub octets: u32,
    /// How they are sent.
    pub mode: WifiMode,
    /// As [`Device::fallback`].
    pub fallback: Vec<WifiMode>,
    /// The station in `background` that they are for and that acknowledges them; `None`: to all.
    pub to: Option<u16>,
}

/// A place: what it does to radio.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Identity column `environment` of results.
    pub name: String,
    /// Path loss exponent beyond 1 m.
    pub exponent: f64,
    /// Deviation of the shadowing.
    pub shadow_db: f64,
    /// By what the shadowing is drawn; the seed of what happens in it, if nothing is said.
    pub place: Option<u64>,
    /// Energy from which on a station finds the medium busy, dBm.
    pub energy_dbm: f64,
    /// How far a preamble must stand out from everything else, dB.
    pub detect_db: f64,
    /// How far a later frame must stand out to take its place; `None`: never.
    pub capture_db: Option<f64>,
    /// Where each constant comes from.
    pub sources: Vec<Source>,
}

/// A room with all that is in it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The place.
    pub environment: Environment,
    /// Devices: the first is node 0.
    pub devices: Vec<Device>,
    /// Access points.
    pub routers: Vec<Router>,
    /// Other people's stations.
    pub background: Vec<Background>,
}
