//! Scenes: one room with devices that speak ESP-NOW, devices that speak IP, and all other stations.
//!
//! A [`Scene`] is a plain value. It is read from a lab's file, with profiles looked up, or a test
//! builds it.
//!
//! | module | content |
//! |---|---|
//! | `barrier` | walls and floors |
//! | `link_trace` | measured links, which drive those of a room |
//! | `machine` | devices that speak IP, their routers, and the PC |
//! | `stations` | the stations of a scene as the medium has them |
//! | `network` | a scene's machines, and the Wi-Fi between them |

mod barrier;
mod link_trace;
mod machine;
mod network;
mod stations;

pub(in crate::lab) use barrier::FLOORS;
pub use barrier::{Barriers, Floor, Wall};
pub use link_trace::{LinkTrace, TraceFrame, TracePoint};
pub(in crate::lab) use link_trace::{TracedLinks, link_trace_constants};
pub use machine::{
    AccessPoint, Application, Coexistence, Columns, Connectionless, Delay, Dongle, Gather,
    NetDevice, NetRole, Pc, PcLink, ProgramStyle, Scan,
};
pub(in crate::lab) use stations::esp_now_timing;
pub use stations::{HeardAccessPoints, StationNumbers};

use super::profile::{Profile, Source};
use super::suite::Overridden;
use crate::power::{CurrentDraw, Modulation, PowerSettings};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::device::Setup;
use esp_now::node::print::LogLevel;
use esp_now::node::task::NodeSettings;
use espbench_dot11::radio::{ChannelWidth, WifiMode};
use espbench_dot11::wifi::WifiSecurity;
use espbench_model::overrides::OpenPlaces;

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
    /// Returns the distance to another place in metres.
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
    /// Position in the room.
    pub at: Point,
    /// Constants of its chip and firmware.
    pub profile: Arc<Profile>,
    /// Settings of its firmware.
    pub settings: NodeSettings,
    /// Services of its firmware.
    pub services: Setup,
    /// Mode in which it sends ESP-NOW frames.
    pub mode: WifiMode,
    /// Modes of the second and later attempts of a unicast frame; the last mode is kept. Where it
    /// is empty they are sent as the first.
    pub fallback: Vec<WifiMode>,
    /// Channel at its start.
    pub channel: u8,
    /// Transmit power that its firmware asks for, dBm; `None`: that of the profile.
    pub power_dbm: Option<f64>,
    /// Mean effective gain of its antenna, dBi; `None`: that of the profile.
    pub antenna_dbi: Option<f64>,
    /// Loss in the walls between its side of the place and that of node 0, in dB.
    pub walls_db: f64,
    /// Down to which severity its lines go to the UART.
    pub log: LogLevel,
    /// Down to which severity they go to the remote log, on the air.
    pub remote_log: LogLevel,
    /// Slices in which Wi-Fi has its radio, where Bluetooth is on.
    pub coexistence: Option<Coexistence>,
    /// Work of its application while others are measured: none, or reports to node 0.
    pub application: Application,
    /// Whether its application hands the key out at each start, as the initiator of the component's
    /// example `security` does.
    pub hands_out_key: bool,
    /// Whether its address is printed when it has joined a network, as ESP-IDF does.
    pub prints_address: bool,
}

impl Device {
    /// Creates a board with that profile and the firmware's default settings.
    #[must_use]
    pub fn new(group: &str, profile: Arc<Profile>, at: Point) -> Self {
        Self {
            group: group.into(),
            at,
            profile,
            settings: NodeSettings::default(),
            services: Setup::default(),
            mode: WifiMode::ESP_NOW,
            fallback: Vec::new(),
            channel: 1,
            power_dbm: None,
            antenna_dbi: None,
            coexistence: None,
            walls_db: 0.0,
            log: LogLevel::Info,
            remote_log: LogLevel::None,
            application: Application::None,
            hands_out_key: false,
            prints_address: false,
        }
    }

    /// Returns the mean effective gain of its antenna, in dBi.
    #[must_use]
    pub fn antenna_dbi(&self) -> f64 {
        self.antenna_dbi.unwrap_or(self.profile.antenna_dbi)
    }

    /// Returns the power that it sends with, in dBm: the most that the chip can in this mode, if
    /// nothing less is asked for.
    #[must_use]
    pub fn power_dbm(&self) -> f64 {
        let asked = self.power_dbm.unwrap_or(self.profile.tx_power_dbm);
        asked.min(self.profile.chip.power_on_dbm(self.mode, self.channel))
    }

    /// Returns the current that it draws in each state.
    #[must_use]
    pub fn draw(&self) -> CurrentDraw {
        let width = match self.mode {
            WifiMode::Ht(ht) => ht.width,
            _ => ChannelWidth::Mhz20,
        };
        let settings = PowerSettings {
            clock_mhz: self.profile.processor.clock_mhz,
            idle_clock_mhz: self.profile.idle_clock_mhz,
            width,
            power_dbm: [self.power_dbm(); Modulation::ALL.len()],
        };
        CurrentDraw::new(&self.profile.currents, &settings)
    }
}

/// An access point: it sends beacons, and lets stations join that know its password.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Name in the lab.
    pub name: String,
    /// SSID of the network.
    pub ssid: String,
    /// Password of the network.
    pub password: String,
    /// Position in the room.
    pub at: Point,
    /// Channel of the network.
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
    /// Name in the lab.
    pub name: String,
    /// Position in the room.
    pub at: Point,
    /// Channel of the stations.
    pub channel: u8,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Frames a second, in the mean.
    pub rate: f64,
    /// Frames that come at once, in the mean (geometric; 1: each by itself).
    pub burst: f64,
    /// Octets of an MPDU.
    pub octets: u32,
    /// Mode in which they are sent.
    pub mode: WifiMode,
    /// As [`Device::fallback`].
    pub fallback: Vec<WifiMode>,
    /// The station in `background` that they are for and that acknowledges them; `None`: to all.
    pub to: Option<u16>,
    /// Where it is no station of a network but emits noise: when, and on which channels. It sends no
    /// frames then.
    pub noise: Option<NoiseBursts>,
}

/// Noise that comes and goes, as that of a microwave oven: its magnetron works in one half of each period
/// of the mains, and its frequency moves meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseBursts {
    /// Time from the beginning of one burst to that of the next.
    pub period: Duration,
    /// Part of that time for which a burst lasts.
    pub duty: f64,
    /// Channel at the end of a burst: all from the station's channel on have had an equal part of it.
    pub last_channel: u8,
}

/// Path loss of a place whose own is in sight, for places that do not see each other; what is `None` is as in
/// sight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BehindWalls {
    /// As [`Environment::exponent`].
    pub exponent: Option<f64>,
    /// As [`Environment::breakpoint_m`].
    pub breakpoint_m: Option<f64>,
    /// As [`Environment::far_exponent`].
    pub far_exponent: Option<f64>,
    /// As [`Environment::shadow_db`].
    pub shadow_db: Option<f64>,
    /// As [`Environment::valid_m`].
    pub valid_m: Option<f64>,
}

/// A place: what it does to radio.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Identity column `environment` of results.
    pub name: String,
    /// Path loss exponent beyond 1 m.
    pub exponent: f64,
    /// Distance in metres beyond which another exponent holds; `None`: none.
    pub breakpoint_m: Option<f64>,
    /// Path loss exponent beyond that distance.
    pub far_exponent: Option<f64>,
    /// Height above flat ground of a station at 0, in metres: two rays hold. `None`: no ground.
    pub antenna_height_m: Option<f64>,
    /// Loss in a wall of this place, in dB; `None`: that of a light one.
    pub wall_db: Option<f64>,
    /// Farthest distance for which the source of the path loss holds, in metres; `None`: not known.
    pub valid_m: Option<f64>,
    /// Deviation of the shadowing.
    pub shadow_db: f64,
    /// The way of a wave between places that do not see each other, where it differs.
    pub behind_walls: BehindWalls,
    /// Shape of the distribution of the power that fades within a second; `None`: it does not.
    pub nakagami_m: Option<f64>,
    /// Coherence time of that fading in milliseconds.
    pub fast_coherence_ms: Option<f64>,
    /// Deviation of what moves over minutes, in dB; `None`: nothing does.
    pub slow_fading_db: Option<f64>,
    /// Coherence time of that fading in seconds.
    pub slow_coherence_s: Option<f64>,
    /// Walls and floors of the room.
    pub barriers: Arc<Barriers>,
    /// By what the shadowing is drawn; the seed of what happens in it, if nothing is said.
    pub place: Option<u64>,
    /// Energy from which on a station finds the medium busy, dBm.
    pub energy_dbm: f64,
    /// Ratio by which a preamble must stand out from everything else, dB.
    pub detect_db: f64,
    /// Ratio by which a later frame must stand out to take its place, dB; `None`: never.
    pub capture_db: Option<f64>,
    /// Sources of the constants.
    pub sources: Vec<Source>,
}

/// A room with all that is in it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of the lab.
    pub name: String,
    /// Name of the variant; empty where the lab has none.
    pub variant: String,
    /// Title of the lab.
    pub title: String,
    /// Identity columns of its cells over Wi-Fi.
    pub columns: Columns,
    /// The place.
    pub environment: Environment,
    /// Measurements that drive links in place of the environment.
    pub link_trace: Option<Arc<LinkTrace>>,
    /// Devices that run the esp-now component: the first is node 0.
    pub nodes: Vec<Device>,
    /// Access points that only send beacons, and that nodes join.
    pub routers: Vec<Router>,
    /// Security of the access points' network.
    pub security: WifiSecurity,
    /// The routers of devices that speak IP, which are all on one LAN; none: a device is the access
    /// point.
    pub access_points: Vec<AccessPoint>,
    /// Devices that speak IP: those that are measured, then the others.
    pub devices: Vec<NetDevice>,
    /// The number of devices, from the first, on which a test is carried out at once.
    pub measured: u16,
    /// The other end of the tests over IP.
    pub pc: Option<Pc>,
    /// Stations of other people.
    pub background: Vec<Background>,
    /// Sources of the lab's constants.
    pub sources: Vec<Source>,
    /// Properties that a plan has set to another value than the lab's file.
    pub overridden: Vec<Overridden>,
    /// Numbers that a plan leaves to the lab's file, of a lab that somebody has named.
    pub open: OpenPlaces,
}

impl Scene {
    /// Returns how far the nearest and the farthest device are from the initiator, in metres.
    #[must_use]
    pub fn reach_m(&self) -> (f64, f64) {
        let origin = self.nodes.first().map_or_else(Point::default, |it| it.at);
        let all = || self.nodes.iter().skip(1).map(|it| it.at.to(origin));
        let round = |metres: f64| libm::round(metres * 1e2) / 1e2;
        let (near, far) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        (round(near), round(far))
    }

    /// Returns what a plan leaves open to this room: the number of devices, and the distances of the nearest and the
    /// farthest one in metres.
    #[must_use]
    pub fn open_places(&self) -> (Option<u16>, Option<(f32, f32)>) {
        let beside = self.nodes.len().saturating_sub(1);
        let devices = u16::try_from(beside).unwrap_or(u16::MAX);
        let (near, far) = self.reach_m();
        let OpenPlaces { devices: any, distance } = self.open;
        (any.then_some(devices), distance.then_some((near as f32, far as f32)))
    }

    /// Returns how far the farthest device is from whom it talks to (node 0, or the nearest access
    /// point), and where the model of the place ends, in metres; `None` where all are nearer, or no
    /// more than a tenth farther: no source of a path loss is exact to that, and boards that stand in a
    /// grid around a distance are partly beyond it.
    #[must_use]
    pub fn beyond_model(&self) -> Option<(f64, f64)> {
        let valid = self.environment.valid_m?;
        let nodes = self.nodes.iter().skip(1).map(|it| it.at.to(self.nodes[0].at));
        let nearest = |at: Point| {
            let points = self.access_points.iter().map(|it| it.at.to(at));
            points.min_by(f64::total_cmp)
        };
        let devices = self.devices.iter().filter_map(|it| nearest(it.at));
        let farthest = nodes.chain(devices).max_by(f64::total_cmp)?;
        (farthest > 1.1 * valid).then_some((farthest, valid))
    }

    /// Returns whether all numbers of two rooms are the same. Services and settings of the component have
    /// none that a constant decides.
    #[must_use]
    pub fn has_numbers_of(&self, other: &Self) -> bool {
        let node = |one: &Device, other: &Device| {
            let radio = |it: &Device| {
                (it.at, it.power_dbm, it.antenna_dbi, it.walls_db, it.channel, it.mode)
            };
            radio(one) == radio(other)
                && one.profile == other.profile
                && one.application == other.application
        };
        self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(one, other)| node(one, other))
            && self.environment == other.environment
            && self.routers == other.routers
            && self.access_points == other.access_points
            && self.devices == other.devices
            && self.pc == other.pc
            && self.background == other.background
            && self.link_trace == other.link_trace
    }

    /// Returns an empty room.
    #[must_use]
    pub fn new(name: &str, environment: Environment) -> Self {
        Self {
            name: name.into(),
            variant: String::new(),
            title: String::new(),
            columns: Columns::default(),
            environment,
            link_trace: None,
            nodes: Vec::new(),
            routers: Vec::new(),
            security: WifiSecurity::Open,
            access_points: Vec::new(),
            devices: Vec::new(),
            measured: 0,
            pc: None,
            background: Vec::new(),
            sources: Vec::new(),
            overridden: Vec::new(),
            open: OpenPlaces::default(),
        }
    }
}
