//! From a scene over Wi-Fi to a lab.

use super::setup::{EspSetup, HeapSetup, Kind, MachineSetup, NetworkSetup, PcSetup, Place, Wire};
use crate::air::AdjacentChannels;
use crate::lab::net_scene::{AccessPoint, Dongle, Link, NetDevice, NetRole, NetScene, Program};
use crate::lab::radio::{Stand, receivers};
use crate::lab::run::{Lab, LabSetup};
use crate::mac::{AmpduConfig, MacConfig, MediumConfig, WirelessMedium};
use crate::net::Stack;
use crate::radio::{BasicRates, ErrorTable, Overlap, RadioChip, Timing, TxPower};
use crate::wifi::{
    ApConfig, Capabilities, CoexistenceConfig, ConnectionlessWindow, DataRates, StationConfig,
    WifiRole,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sdkconfig::SdkConfig;

/// Best effort, as all data here: AIFSN 3 and windows of 15 to 1023 slots (Table 9-155).
const BEST_EFFORT: Timing = Timing { aifsn: 3, cw_min: 15, cw_max: 1023, ..Timing::ERP_SHORT_SLOT };

/// The number of PCs' and routers' A-MPDU windows where nothing limits them.
const MOST: u8 = 64;

/// The stations of a scene in their order: routers, devices, a PC's radio, other people's.
struct Stations<'a> {
    routers: &'a [AccessPoint],
    devices: &'a [NetDevice],
    dongle: Option<&'a Dongle>,
}

impl Stations<'_> {
    fn first_device(&self) -> u32 {
        self.routers.len() as u32
    }

    fn dongle_station(&self) -> u32 {
        self.first_device() + self.devices.len() as u32
    }

    fn first_other(&self) -> u32 {
        self.dongle_station() + u32::from(self.dongle.is_some())
    }
}

impl NetScene {
    fn stations(&self) -> Stations<'_> {
        let dongle = match &self.pc.link {
            Link::Air(dongle) => Some(dongle),
            Link::Wire { .. } => None,
        };
        Stations { routers: &self.access_points, devices: &self.devices, dongle }
    }

    /// The station of its first device.
    #[must_use]
    pub fn first_device(&self) -> u32 {
        self.stations().first_device()
    }

    /// Returns the access point of each device: the one that its file names, else the one that is
    /// strongest at its place. `None` for a device in no network, and where a device is the access
    /// point.
    #[must_use]
    pub fn networks(&self, seed: u64) -> Vec<Option<u16>> {
        let first = self.first_device();
        let stands = if self.access_points.len() > 1 { self.stands_of(&[]) } else { Vec::new() };
        let strongest = |device: u32| {
            let arrives = |ap: &u16| {
                self.environment.arriving_dbm(&stands, seed, u32::from(*ap), first + device)
            };
            let routers = 0..self.access_points.len() as u16;
            // The last of equal ones would be taken.
            routers.rev().max_by(|a, b| arrives(a).total_cmp(&arrives(b)))
        };
        let network = |(number, it): (usize, &NetDevice)| match it.role {
            NetRole::Station => it.access_point.or_else(|| strongest(number as u32)),
            NetRole::SoftAp | NetRole::Alone => None,
        };
        self.devices.iter().enumerate().map(network).collect()
    }

    /// Returns for each station the station that is its access point, and its number among the
    /// stations of that, from 1; an access point is its own, with number 0.
    #[must_use]
    pub fn memberships(&self, seed: u64) -> Vec<(u32, u16)> {
        let first = self.first_device();
        let soft_ap = self.devices.iter().position(|it| it.role == NetRole::SoftAp);
        let usual = soft_ap.filter(|_| first == 0).unwrap_or(0) as u32;
        let networks = self.networks(seed);
        let mut counts = BTreeMap::new();
        let stations = self.stands(seed).len() as u32;
        let of = |station: u32| {
            if station < first || first == 0 && station == usual {
                return (station, 0);
            }
            let network = networks.get((station - first) as usize).copied().flatten();
            let ap = network.map_or(usual, u32::from);
            let count = counts.entry(ap).or_insert(0);
            *count += 1;
            (ap, *count)
        };
        (0..stations).map(of).collect()
    }

    /// How strongly one station arrives at another, dBm: negative infinity for one that is not there.
    #[must_use]
    pub fn arriving_dbm(&self, seed: u64, from: u32, to: u32) -> f64 {
        self.environment.arriving_dbm(&self.stands(seed), seed, from, to)
    }

    /// Names of its stations, by their numbers in the room, and after them of a PC on a wire.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let routers = self.access_points.iter().map(|it| it.name.clone());
        let devices = self.devices.iter().map(|it| it.name.clone());
        let (dongle, wired) = match self.pc.link {
            Link::Air(_) => (Some("PC".into()), None),
            Link::Wire { .. } => (None, Some("PC".into())),
        };
        let others = self.background.iter().map(|it| it.name.clone());
        routers.chain(devices).chain(dongle).chain(others).chain(wired).collect()
    }

    /// Returns the channel of a network; without routers, that of the first device.
    fn channel(&self, network: Option<u16>) -> u8 {
        let router = self.access_points.get(usize::from(network.unwrap_or(0)));
        router.map_or_else(
            || self.devices.first().map_or(1, |it| it.channel),
            |router| router.channel,
        )
    }

    fn stands(&self, seed: u64) -> Vec<Stand> {
        self.stands_of(&self.networks(seed))
    }

    /// Returns the stations as radio sees them, with the devices in these networks.
    fn stands_of(&self, networks: &[Option<u16>]) -> Vec<Stand> {
        let flat = |at, power_dbm, channel| Stand {
            at,
            output: Arc::new(TxPower::flat(power_dbm)),
            channel,
            chip: RadioChip::Esp32,
        };
        let Stations { routers, devices, dongle } = self.stations();
        let routers = routers.iter().map(|it| flat(it.at, it.power_dbm, it.channel));
        let devices = devices.iter().enumerate().map(|(number, it)| Stand {
            at: it.at,
            output: Arc::new(TxPower::of(it.profile.chip, it.power_dbm)),
            channel: match it.role {
                NetRole::Alone => it.channel,
                _ => self.channel(networks.get(number).copied().flatten()),
            },
            chip: it.profile.chip,
        });
        let dongle = dongle.map(|it| flat(it.at, it.power_dbm, self.channel(None)));
        let others = self.background.iter().map(|it| flat(it.at, it.power_dbm, it.channel));
        routers.chain(devices).chain(dongle).chain(others).collect()
    }

    /// The MAC of each station, but for channel, receiver and power.
    fn macs(&self) -> Vec<MacConfig> {
        let Stations { routers, devices, dongle } = self.stations();
        let data = |ampdu, buffers| MacConfig {
            timing: BEST_EFFORT,
            basic: BasicRates::BG,
            ampdu,
            buffers,
            ..MacConfig::default()
        };
        let routers = routers.iter().map(|it| MacConfig {
            rts: it.rts,
            rts_threshold: if it.rts { 2346 } else { u32::MAX },
            ..data(window(it.ampdu, MOST.into()), usize::from(it.queue))
        });
        let devices = devices.iter().map(|it| {
            if it.role == NetRole::Alone {
                // As ESP-NOW's frames go, see `Scene::radio`.
                let profile = &it.profile;
                return MacConfig {
                    timing: Timing {
                        cw_min: profile.window.0,
                        cw_max: profile.window.1,
                        ..Timing::HR
                    },
                    short_retry_limit: profile.attempts,
                    long_retry_limit: profile.attempts,
                    buffers: usize::from(profile.tx_buffers),
                    ..MacConfig::default()
                };
            }
            let SdkConfig { tx, tx_ba_window, rx_ba_window, .. } = it.sdk;
            // Management frames do not take from the buffers for data.
            let buffers = usize::from(tx) + 8;
            data(window(tx_ba_window.into(), rx_ba_window.into()), buffers)
        });
        let dongle = dongle.map(|it| data(window(it.ampdu, MOST.into()), 1024));
        let others = self.background.iter().map(|it| MacConfig {
            timing: Timing::ERP_SHORT_SLOT,
            basic: BasicRates::BG,
            fallback: it.fallback.clone(),
            buffers: 256,
            ..MacConfig::default()
        });
        routers.chain(devices).chain(dongle).chain(others).collect()
    }

    pub(super) fn room(&self, seed: u64) -> WirelessMedium {
        let stands: Arc<[Stand]> = self.stands(seed).into();
        let links = self.environment.links(&stands, seed);
        let (kinds, receivers) = receivers(&self.environment, &stands, &ErrorTable::shared());
        let settings = self.macs().into_iter().zip(stands.iter()).zip(kinds).map(
            |((mac, stand), receiver)| MacConfig {
                channel: stand.channel,
                receiver,
                output: Some(stand.output.clone()),
                ..mac
            },
        );
        WirelessMedium::new(seed, links, &receivers, settings.collect::<Vec<_>>()).with_config(
            MediumConfig {
                adjacent: AdjacentChannels::new(&Overlap::new()),
                ..MediumConfig::default()
            },
        )
    }

    /// What each station is; `apart`: the first device starts in no network.
    fn roles(&self, seed: u64, apart: bool) -> Vec<WifiRole> {
        let networks = self.networks(seed);
        let security = self.security;
        let station = |capabilities, rates: &DataRates| StationConfig {
            joined: true,
            security,
            capabilities,
            rates: rates.clone(),
            ..StationConfig::default()
        };
        let Stations { routers, devices, dongle } = self.stations();
        let routers = routers.iter().enumerate().map(|(number, it)| {
            WifiRole::AccessPoint(ApConfig {
                network: number as u16,
                security,
                beacon_interval: it.beacon,
                dtim_period: it.dtim,
                rates: it.rates.clone(),
                multicast_buffer: it.multicast_buffer,
                capabilities: capabilities(it.ampdu > 1 || it.rates.is_ht()),
                ..ApConfig::default()
            })
        });
        let measured = usize::from(self.measured);
        let devices = devices.iter().enumerate().map(|(number, it)| {
            let ht = it.sdk.rx_ba_window > 0 || it.rates.is_ht();
            let network = networks[number];
            let channel = self.channel(network);
            match it.role {
                NetRole::Station | NetRole::Alone => {
                    let apart = it.role == NetRole::Alone || apart && number < measured;
                    WifiRole::Station(StationConfig {
                        network: network.unwrap_or(0),
                        joined: !apart,
                        apart,
                        join: it.joining(channel),
                        sleep: it.sleep,
                        times: it.sleep_times(),
                        disconnected_sleep: it.disconnected_sleep,
                        connectionless: it.listening(),
                        coexistence: it.slices(),
                        ..station(capabilities(ht), &it.rates)
                    })
                }
                NetRole::SoftAp => WifiRole::AccessPoint(ApConfig {
                    security,
                    rates: it.rates.clone(),
                    capabilities: capabilities(ht),
                    work: it.joining(channel).work,
                    ..ApConfig::soft_ap()
                }),
            }
        });
        let dongle = dongle.map(|it| {
            let ht = it.ampdu > 1 || it.rates.is_ht();
            WifiRole::Station(station(capabilities(ht), &it.rates))
        });
        let others = self.background.iter().map(|_| WifiRole::Foreign);
        routers.chain(devices).chain(dongle).chain(others).collect()
    }

    /// Machines: the devices, then the PC.
    fn machines(&self) -> Vec<MachineSetup> {
        let stations = self.stations();
        let device = |(i, it): (usize, &NetDevice)| {
            let SdkConfig { wifi_iram, wifi_rx_iram, lwip_iram, .. } = it.sdk;
            let costs = it.profile.ip.in_iram(wifi_iram, wifi_rx_iram, lwip_iram);
            let costs = costs.on_cores(it.cores);
            let memory = it.profile.memory;
            let mut stack = Stack::esp(&it.sdk);
            stack.heap.held += memory.dynamic_rx_bytes;
            stack.heap.socket = memory.socket_bytes;
            stack.heap.connection = memory.tcp_bytes;
            MachineSetup {
                place: Place::Air(stations.first_device() + i as u32),
                stack,
                kind: Kind::Esp(Box::new(EspSetup {
                    costs,
                    cores: it.cores,
                    limits: it.sdk,
                    uart_baud: it.profile.uart_baud,
                    uart_fifo: it.profile.uart_fifo,
                    rx_in_place: it.profile.wifi.rx_in_place,
                    in_lwip: it.program == Program::Callback,
                    heap: HeapSetup {
                        // Where not even that is there, the suite says so.
                        free: memory.started(&it.sdk).unwrap_or(0),
                        dynamic_rx: memory.dynamic_rx_bytes,
                        tx: memory.tx_bytes,
                    },
                    light_ns: it.light_sleep.map(|it| it.as_nanos() as u64),
                })),
            }
        };
        let mut machines: Vec<_> = self.devices.iter().enumerate().map(device).collect();
        let turn = self.pc.turn;
        let (place, wire) = match &self.pc.link {
            Link::Wire { delay, bits } => {
                let forward = self.access_points.first().map(|it| it.forward).unwrap_or_default();
                (Place::Wire(0), Some(Wire { delay: *delay, forward, bits: *bits }))
            }
            Link::Air(_) => (Place::Air(stations.dongle_station()), None),
        };
        let kind = Kind::Pc(PcSetup { turn, wire, queue: 1000 });
        machines.push(MachineSetup { place, stack: Stack::pc(), kind });
        machines
    }

    /// Returns the lab of this scene, in which nothing has happened yet. Machines are its devices, and
    /// then the PC.
    #[must_use]
    pub fn lab<'a>(&self, seed: u64) -> Lab<'a> {
        self.lab_of(seed, false)
    }

    /// Returns the lab of this scene with its measured devices in no network yet: they join theirs
    /// when they are told to.
    #[must_use]
    pub fn lab_apart<'a>(&self, seed: u64) -> Lab<'a> {
        self.lab_of(seed, true)
    }

    fn lab_of<'a>(&self, seed: u64, apart: bool) -> Lab<'a> {
        let forward = self.access_points.first().map_or(Duration::ZERO, |it| it.forward.fixed);
        let network =
            NetworkSetup { roles: self.roles(seed, apart), machines: self.machines(), forward };
        let background = self.stations().first_other();
        let setup = LabSetup {
            network,
            background: (background, self.background.clone()),
            ..LabSetup::new(self.room(seed))
        };
        Lab::of(setup, seed, ())
    }
}

impl NetDevice {
    /// When it listens for ESP-NOW: always, where nothing else is said.
    fn listening(&self) -> Option<ConnectionlessWindow> {
        let always = ConnectionlessWindow { window: Duration::MAX, interval: None };
        let said = self
            .connectionless
            .map(|it| ConnectionlessWindow { window: it.window, interval: Some(it.interval) });
        said.or_else(|| self.esp_now.then_some(always))
    }

    /// When its radio is Wi-Fi's.
    fn slices(&self) -> Option<CoexistenceConfig> {
        let it = self.coexistence?;
        Some(CoexistenceConfig { period: it.period, wifi: it.wifi, ..CoexistenceConfig::default() })
    }
}

/// What a station aggregates and takes; nothing where both are none.
fn window(send: u16, receive: u16) -> Option<AmpduConfig> {
    let within = |it: u16| it.clamp(1, MOST.into()) as u8;
    (send > 0 || receive > 0).then(|| AmpduConfig {
        send: within(send),
        receive: within(receive),
        ..AmpduConfig::MOST
    })
}

const fn capabilities(ht: bool) -> Capabilities {
    Capabilities { ht, qos: ht }
}
