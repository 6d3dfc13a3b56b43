//! A scene to the machines of a lab and the Wi-Fi between them.

use super::{NetDevice, NetRole, Pc, PcLink, ProgramStyle, Scene, StationNumbers};
use crate::lab::profile::PSRAM_BYTES;
use crate::lab::wifi::INTERRUPT;
use crate::lab::wifi::setup::{
    EspSetup, HeapSetup, MachineKind, MachinePlace, MachineSetup, NetworkSetup, PcSetup, Wire,
};
use crate::net::{AckPolicy, Stack};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::wifi::{
    ApConfig, Capabilities, CoexistenceConfig, ConnectionlessWindow, DataRates, StationConfig,
    WifiRole,
};

impl Scene {
    /// Returns its machines and the Wi-Fi between them; `apart`: the measured devices are in no
    /// network yet. Machines are its devices, and then the PC.
    pub(in crate::lab) fn network(&self, seed: u64, apart: bool) -> NetworkSetup {
        if self.devices.is_empty() && self.access_points.is_empty() {
            return NetworkSetup::default();
        }
        let forward = self.access_points.first().map_or(Duration::ZERO, |it| it.forward.fixed);
        NetworkSetup { roles: self.roles(seed, apart), machines: self.machines(), forward }
    }

    /// Returns what each station is in the network; `apart`: the measured devices start in none.
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
        let apart_from_all = self.nodes.len() + self.routers.len();
        let foreign = (0..apart_from_all).map(|_| WifiRole::Foreign);
        let routers = self.access_points.iter().enumerate().map(|(number, it)| {
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
        let devices = self.devices.iter().enumerate().map(|(number, it)| {
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
        let dongle = self.dongle().map(|it| {
            let ht = it.ampdu > 1 || it.rates.is_ht();
            WifiRole::Station(station(capabilities(ht), &it.rates))
        });
        let others = self.background.iter().map(|_| WifiRole::Foreign);
        foreign.chain(routers).chain(devices).chain(dongle).chain(others).collect()
    }

    /// Returns the machines: the devices, then the PC.
    fn machines(&self) -> Vec<MachineSetup> {
        let StationNumbers { access_points, devices, dongle, .. } = self.numbers();
        let device = |(i, it): (usize, &NetDevice)| {
            let costs = it.profile.costs(&it.sdk);
            let memory = it.profile.memory_with(&it.sdk);
            // Where not even that is there, the suite says so.
            let free = match memory.started(&it.sdk) {
                Some(_) if it.sdk.memory.buffers_in_psram() => PSRAM_BYTES,
                free => free.unwrap_or(0),
            };
            let mut stack = Stack::esp(&it.sdk);
            // espconn hands each segment to the program in lwIP's own task (`tcp_recved`).
            stack.reads_on = it.program != ProgramStyle::Callback;
            stack.heap.held += memory.dynamic_rx_bytes;
            stack.heap.socket = memory.socket_bytes;
            stack.heap.connection = memory.tcp_bytes;
            MachineSetup {
                place: MachinePlace::Air(devices.start + i as u32),
                stack,
                kind: MachineKind::Esp(Box::new(EspSetup {
                    costs,
                    cores: it.cores,
                    clock_switch_ns: it
                        .profile
                        .idle_clock_mhz
                        .map_or(0, |_| it.profile.clock_switch_ns),
                    limits: it.sdk,
                    uart_baud: it.profile.uart_baud,
                    uart_fifo: it.profile.uart_fifo,
                    rx_in_place: it.profile.wifi.rx_in_place,
                    in_lwip: it.program == ProgramStyle::Callback,
                    heap: HeapSetup {
                        free,
                        dynamic_rx: memory.dynamic_rx_bytes,
                        tx: memory.tx_bytes,
                    },
                    light: it.auto_light_sleep(),
                })),
            }
        };
        let mut machines: Vec<_> = self.devices.iter().enumerate().map(device).collect();
        let Some(Pc { link, turn, .. }) = &self.pc else { return machines };
        let (place, wire) = match link {
            PcLink::Wire { delay, bits } => {
                let router = self.access_points.first();
                let forward = router.map(|it| it.forward).unwrap_or_default();
                let gather = router.map(|it| it.gather).unwrap_or_default();
                (
                    MachinePlace::Wire(access_points.start),
                    Some(Wire { delay: *delay, forward, gather, bits: *bits }),
                )
            }
            PcLink::Air(_) => (MachinePlace::Air(dongle.start), None),
        };
        let kind = MachineKind::Pc(PcSetup { turn: *turn, wire, queue: 1000 });
        let mut stack = Stack::pc();
        if let (Some(_), AckPolicy::Quick { together, .. }) = (wire, &mut stack.acks) {
            *together = INTERRUPT;
        }
        machines.push(MachineSetup { place, stack, kind });
        machines
    }
}

impl NetDevice {
    /// Returns when it listens for ESP-NOW: always, where nothing else is said.
    fn listening(&self) -> Option<ConnectionlessWindow> {
        let always = ConnectionlessWindow { window: Duration::MAX, interval: None };
        let said = self
            .connectionless
            .map(|it| ConnectionlessWindow { window: it.window, interval: Some(it.interval) });
        said.or_else(|| self.esp_now.then_some(always))
    }

    /// Returns when its radio is Wi-Fi's.
    fn slices(&self) -> Option<CoexistenceConfig> {
        let it = self.coexistence?;
        Some(CoexistenceConfig { period: it.period, wifi: it.wifi, ..CoexistenceConfig::default() })
    }
}

const fn capabilities(ht: bool) -> Capabilities {
    Capabilities { ht, qos: ht }
}
