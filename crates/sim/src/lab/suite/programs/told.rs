//! Facts and counters that a cell records beside its samples.

use super::Cell;
use crate::lab::record::Record;
use crate::lab::run::Lab;
use crate::lab::scene::{NetRole, PcLink, Scene};
use crate::lab::wifi::{DriverDrops, MachineId};
use crate::net::NetCounters;
use crate::power::{CurrentDraw, ElectricCharge, PowerState, StateTimes};
use alloc::format;
use alloc::vec::Vec;
use espbench_dot11::radio::BasicRates;
use espbench_dot11::radio::name::{PHY_MODE, RESPONSE_MODE};
use espbench_dot11::wifi::{MEMBERSHIPS, WifiCounters};
use espbench_model::fact;
use espbench_model::sdkconfig::memory::{HeapDemand, Traffic};
use espbench_model::sdkconfig::{OptionValues, SdkContext};

/// State at the beginning of a test.
#[derive(Clone, Debug)]
pub(super) struct StartState {
    times: StateTimes,
}

/// Records the mode in which its data should be answered, and how many MPDUs an A-MPDU of it could
/// hold.
pub(super) fn on_air(to_device: bool, scene: &Scene, record: &mut dyn Record) {
    let device = &scene.devices[0];
    let peer = match (scene.access_points.first(), scene.pc.as_ref().map(|it| &it.link)) {
        (Some(it), _) => Some((&it.rates, it.ampdu)),
        (None, Some(PcLink::Air(it))) => Some((&it.rates, it.ampdu)),
        (None, Some(PcLink::Wire { .. }) | None) => None,
    };
    let Some((its, ampdu)) = peer else { return };
    let rates = if to_device { its } else { &device.rates };
    let Some(mode) = rates.fastest() else { return };
    record.typed(RESPONSE_MODE, BasicRates::BG.response_to(mode));
    let sdk = &device.sdk;
    let most = if to_device { ampdu.min(sdk.rx_ba_window.into()) } else { sdk.tx_ba_window.into() };
    let ht = mode.aggregates();
    record.typed(fact::AGGREGATED, if ht { most.max(1).into() } else { 1 });
}

/// Records the facts of the cell: lab, devices and settings.
pub(super) fn facts(scene: &Scene, seed: u64, record: &mut dyn Record) {
    let device = &scene.devices[0];
    let rates = match (device.role, scene.access_points.first()) {
        (NetRole::Station, Some(it)) => &it.rates,
        _ => &device.rates,
    };
    for (name, value) in [
        (fact::LAB, scene.name.clone()),
        ("seed", format!("{seed}")),
        (fact::VARIANT, scene.variant.clone()),
        (fact::CHIP, device.profile.chip_name.clone()),
        (fact::MODE, scene.columns.mode.clone()),
        (fact::SECURITY, scene.columns.security.clone()),
        (fact::ENVIRONMENT, scene.columns.environment.clone()),
    ] {
        if !value.is_empty() {
            record.fact(name, value);
        }
    }
    record.typed(fact::CIPHER_OCTETS, if scene.security.encrypts() { 16 } else { 0 });
    if let Some(mode) = rates.fastest() {
        record.typed(PHY_MODE, mode);
    }
    if scene.measured > 1 {
        record.typed(fact::DEVICES, scene.measured as u32);
        let members = scene.measured_memberships(seed);
        if !members.0.is_empty() {
            record.typed(MEMBERSHIPS, members);
        }
    }
}

impl Cell<'_, '_> {
    /// Records what the layers of the measured devices have counted, and what their programs have;
    /// and of the first of them the charge, where it counts from the beginning on, and the heap.
    pub(super) fn count(&mut self, began: Option<&StartState>) {
        if let Some(began) = began {
            self.charge(began);
        }
        let devices: Vec<MachineId> = self.measured().map(|it| it.0).collect();
        let Self { lab, scene, pc, record, .. } = self;
        for machine in devices.iter().chain([&*pc]).copied() {
            let told = lab.take_told(machine);
            for (name, by) in told.counts {
                record.count(name, by);
            }
        }
        let dropped = |of: fn(&DriverDrops) -> u64| -> u64 {
            devices.iter().map(|it| of(&lab.driver_drops(*it))).sum()
        };
        let ip = |of: fn(&NetCounters) -> u64| -> u64 {
            devices.iter().map(|it| of(&lab.ip_counters(*it))).sum()
        };
        let counters = [
            ("rx-static-full", dropped(|it| it.static_rx)),
            ("rx-dynamic-full", dropped(|it| it.dynamic_rx)),
            ("rx-heap-full", dropped(|it| it.heap_rx)),
            ("tcpip-mailbox-full", dropped(|it| it.tcpip_mailbox)),
            ("tx-not-sent", dropped(|it| it.not_sent)),
            ("tx-lost", dropped(|it| it.lost)),
            ("no-memory", ip(|it| it.no_memory)),
            ("udp-mailbox-full", ip(|it| it.udp_mailbox_full)),
            ("tcp-mailbox-full", ip(|it| it.tcp_mailbox_full)),
            ("tcp-retransmitted", ip(|it| it.retransmitted)),
            ("tcp-timeouts", ip(|it| it.timeouts)),
            ("tcp-blocked", ip(|it| it.blocked)),
            ("tcp-heap-full", ip(|it| it.starved)),
        ];
        let others = others(lab, *pc, scene);
        for (name, by) in counters.into_iter().chain(others).filter(|it| it.1 > 0) {
            record.count(name, by);
        }
        self.heap();
    }

    /// Records the heap, beside the result of the guide's formula.
    fn heap(&mut self) {
        let Some(heap) = self.lab.heap(self.device) else { return };
        let settings = OptionValues::from(&self.scene.devices[0].sdk);
        let memory = HeapDemand::of(&settings, &SdkContext::default(), Traffic::default());
        for (name, bytes) in [
            (fact::HEAP_STARTED, heap.started.into()),
            (fact::HEAP_PEAK, heap.peak.into()),
            (fact::HEAP_DRIVER_PEAK, heap.driver_peak.into()),
            (fact::HEAP_DRIVER_BOUND, memory.driver_peak),
        ] {
            self.record.count(name, bytes);
        }
    }

    /// Returns the state at the beginning of the test.
    pub(super) fn begin(&self) -> StartState {
        StartState { times: self.lab.times(self.device).unwrap_or(StateTimes::NONE) }
    }

    /// Records the charge that the device has drawn since the test began, by state.
    fn charge(&mut self, began: &StartState) {
        let draw = self.scene.devices[0].draw();
        let Some(times) = self.lab.times(self.device) else { return };
        charged(self.record, &draw, &times.since(&began.times));
    }
}

/// Returns the drops of the other end and of the router.
fn others(lab: &Lab<'_>, pc: MachineId, scene: &Scene) -> [(&'static str, u64); 5] {
    let (drops, ip) = (lab.driver_drops(pc), lab.ip_counters(pc));
    let routers = |of: fn(&WifiCounters) -> u64| -> u64 {
        scene.numbers().access_points.map(|it| of(&lab.wifi_counters(it))).sum()
    };
    [
        ("pc-tx-not-sent", drops.not_sent),
        ("pc-udp-mailbox-full", ip.udp_mailbox_full),
        ("router-refused", routers(|it| it.refused)),
        ("router-aged", routers(|it| it.aged)),
        ("router-lost", routers(|it| it.lost)),
    ]
}

/// Records a charge, in all and by state.
pub(in crate::lab::suite) fn charged(
    record: &mut dyn Record,
    draw: &CurrentDraw,
    times: &StateTimes,
) {
    let nanocoulombs = |charge: ElectricCharge| (charge.picocoulombs() / 1000) as u64;
    record.count(fact::CHARGE_NC, nanocoulombs(draw.charge(times)));
    record.count(fact::TIME_NS, times.total_ns());
    for state in PowerState::all().filter(|it| times.ns(*it) > 0) {
        let charge = nanocoulombs(draw.charge_of(times, state));
        record.count(&format!("{}-{}", fact::CHARGE_NC, state.name()), charge);
        record.count(&format!("{}-{}", fact::TIME_NS, state.name()), times.ns(state));
    }
}
