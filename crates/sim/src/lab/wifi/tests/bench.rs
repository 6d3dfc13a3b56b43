//! An ESP and a PC: behind an access point, or with the ESP as access point.

use super::super::MachineId;
use super::super::setup::{
    EspSetup, HeapSetup, MachineKind, MachinePlace, MachineSetup, NetworkSetup, PcSetup,
};
use crate::lab::file::Library;
use crate::lab::run::{Lab, LabSetup};
use crate::net::Stack;
use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::mac::{AmpduConfig, MacConfig, WirelessMedium};
use espbench_dot11::radio::{BasicRates, Timing};
use espbench_dot11::wifi::{ApConfig, StationConfig, WifiRole, WifiSecurity};
use espbench_model::sdkconfig::SdkConfig;
use espbench_proto::node::app::Endpoint;
use std::vec;

pub(super) const ESP: MachineId = MachineId(0);
pub(super) const PC: MachineId = MachineId(1);

/// Returns an address of a machine.
pub(super) const fn at(machine: MachineId, port: u16) -> Endpoint {
    Endpoint::new([10, 0, 0, machine.0 as u8 + 1], port)
}

/// Parameters of a test's lab.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) soft_ap: bool,
    pub(super) security: WifiSecurity,
    pub(super) limits: SdkConfig,
    pub(super) profile: &'static str,
    pub(super) pc: PcSetup,
    pub(super) ampdu: bool,
    /// Whether its station starts associated.
    pub(super) joined: bool,
    pub(super) signal_dbm: f64,
    pub(super) heap: HeapSetup,
    pub(super) rx_in_place: bool,
}

impl Default for Bench {
    fn default() -> Self {
        Self {
            soft_ap: false,
            security: WifiSecurity::Wpa2,
            limits: SdkConfig::default(),
            profile: "esp32c3",
            pc: PcSetup::default(),
            ampdu: true,
            joined: true,
            signal_dbm: -40.0,
            heap: HeapSetup::default(),
            rx_in_place: false,
        }
    }
}

impl Bench {
    /// Makes a lab of an ESP (machine 0) and a PC (machine 1).
    pub(super) fn lab(&self, seed: u64) -> Lab<'static> {
        let links = RadioLinks::new(2, -98.0, |_, _| self.signal_dbm);
        let limits = self.limits;
        let settings = |receive| MacConfig {
            timing: Timing::ERP_SHORT_SLOT,
            basic: BasicRates::BG,
            ampdu: self.ampdu.then_some(AmpduConfig { receive, ..AmpduConfig::MOST }),
            buffers: 256,
            ..MacConfig::default()
        };
        let room = WirelessMedium::new(
            seed,
            links,
            &[ReceiverConfig::default()],
            [settings(64), settings(limits.rx_ba_window.max(1))],
        );
        let station = StationConfig {
            joined: self.joined,
            security: self.security,
            ..StationConfig::default()
        };
        let ap = ApConfig { security: self.security, ..ApConfig::default() };
        // Station 0 of the room is the access point, station 1 the other.
        let roles = vec![WifiRole::AccessPoint(ap), WifiRole::Station(station)];
        let (esp, pc) = if self.soft_ap {
            (MachinePlace::Air(0), MachinePlace::Air(1))
        } else {
            (MachinePlace::Air(1), MachinePlace::Wire(0))
        };
        let profile = Library::built_in().profile(self.profile).unwrap();
        let costs = profile.costs(&limits);
        let wire = self.pc.wire.filter(|_| !self.soft_ap);
        let machines = vec![
            MachineSetup {
                place: esp,
                stack: Stack::esp(&limits),
                kind: MachineKind::Esp(std::boxed::Box::new(EspSetup {
                    costs,
                    cores: profile.processor.cores,
                    clock_switch_ns: 0,
                    limits,
                    uart_baud: profile.uart_baud,
                    uart_fifo: profile.uart_fifo,
                    heap: self.heap,
                    rx_in_place: self.rx_in_place,
                    in_lwip: false,
                    light: None,
                })),
            },
            MachineSetup {
                place: pc,
                stack: Stack::pc(),
                kind: MachineKind::Pc(PcSetup { wire, ..self.pc }),
            },
        ];
        let network = NetworkSetup { roles, machines, forward: core::time::Duration::ZERO };
        Lab::of(LabSetup { network, ..LabSetup::new(room) }, seed, ())
    }
}
