//! What a cell tells beside its samples.

use super::Cell;
use crate::lab::net_scene::{Link, NetRole, NetScene};
use crate::lab::record::Record;
use crate::lab::wifi::{MachineId, World};
use crate::power::{CurrentDraw, ElectricCharge, PowerState, StateTimes};
use crate::radio::{BasicRates, WifiMode};
use alloc::format;
use alloc::string::ToString;
use espbench_proto::fact;
use espbench_proto::sdkconfig::memory::{Memory, Traffic};
use espbench_proto::sdkconfig::{Context, Settings};
use espbench_proto::workload::{Direction, IpTest, Wifi};

/// How things were as a test began.
#[derive(Clone, Debug)]
pub(super) struct Began {
    times: StateTimes,
}

/// In which mode its data was to be answered, and how many MPDUs an A-MPDU of it could hold.
pub(super) fn on_air(work: &Wifi, scene: &NetScene, record: &mut dyn Record) {
    let device = &scene.devices[0];
    let to_device = match &work.test {
        IpTest::Iperf(it) => it.direction == Direction::Forward,
        IpTest::UdpEcho(_) | IpTest::Ping(_) => true,
        IpTest::TcpRate(_) | IpTest::MqttRate(_) | IpTest::Join(_) => false,
    };
    let peer = match (&scene.access_point, &scene.pc.link) {
        (Some(it), _) => Some((&it.rates, it.ampdu)),
        (None, Link::Air(it)) => Some((&it.rates, it.ampdu)),
        (None, Link::Wire { .. }) => None,
    };
    let Some((its, ampdu)) = peer else { return };
    let rates = if to_device { its } else { &device.rates };
    let Some(mode) = rates.fastest() else { return };
    record.fact(fact::RESPONSE_MODE, BasicRates::BG.response_to(mode).to_string());
    let sdk = &device.sdk;
    let most = if to_device { ampdu.min(sdk.rx_ba_window.into()) } else { sdk.tx_ba_window.into() };
    let ht = matches!(mode, WifiMode::Ht(_));
    record.fact(fact::AGGREGATED, if ht { most.max(1) } else { 1 }.to_string());
}

/// What the cell was of.
pub(super) fn facts(scene: &NetScene, seed: u64, record: &mut dyn Record) {
    let device = &scene.devices[0];
    let rates = match (device.role, &scene.access_point) {
        (NetRole::Station, Some(it)) => &it.rates,
        _ => &device.rates,
    };
    let mode = rates.fastest();
    for (name, value) in [
        ("lab", scene.lab.clone()),
        ("seed", format!("{seed}")),
        (fact::VARIANT, scene.variant.clone()),
        (fact::CHIP, device.profile.chip_name.clone()),
        (fact::MODE, scene.columns.mode.clone()),
        (fact::SECURITY, scene.columns.security.clone()),
        (fact::ENVIRONMENT, scene.columns.environment.clone()),
        (fact::CIPHER_OCTETS, if scene.security.encrypts() { "16" } else { "0" }.into()),
        (fact::PHY_MODE, mode.map(|it| it.to_string()).unwrap_or_default()),
    ] {
        if !value.is_empty() {
            record.fact(name, value);
        }
    }
}

impl Cell<'_, '_> {
    /// What the device's layers have counted, and what its programs have; the charge, where it counts
    /// from the beginning on.
    pub(super) fn count(&mut self, began: Option<&Began>) {
        if let Some(began) = began {
            self.charge(began);
        }
        let Self { world, scene, device, pc, record, .. } = self;
        for machine in [*device, *pc] {
            let told = world.take_told(machine);
            for (name, by) in told.counts {
                record.count(name, by);
            }
        }
        let drops = world.drops(*device);
        let ip = world.ip_counters(*device);
        let counters = [
            ("rx-static-full", drops.static_rx),
            ("rx-dynamic-full", drops.dynamic_rx),
            ("rx-heap-full", drops.heap_rx),
            ("tcpip-mailbox-full", drops.tcpip_mailbox),
            ("tx-not-sent", drops.not_sent),
            ("tx-lost", drops.lost),
            ("no-memory", ip.no_memory),
            ("udp-mailbox-full", ip.udp_mailbox_full),
            ("tcp-mailbox-full", ip.tcp_mailbox_full),
            ("tcp-retransmitted", ip.retransmitted),
            ("tcp-timeouts", ip.timeouts),
            ("tcp-blocked", ip.blocked),
            ("tcp-heap-full", ip.starved),
        ];
        let others = others(world, *pc, scene);
        for (name, by) in counters.into_iter().chain(others).filter(|it| it.1 > 0) {
            record.count(name, by);
        }
        self.heap();
    }

    /// The heap, beside the guide's formula.
    fn heap(&mut self) {
        let Some(heap) = self.world.heap(self.device) else { return };
        let settings = Settings::from(&self.scene.devices[0].sdk);
        let memory = Memory::of(&settings, &Context::default(), Traffic::default());
        for (name, bytes) in [
            (fact::HEAP_STARTED, heap.started.into()),
            (fact::HEAP_PEAK, heap.peak.into()),
            (fact::HEAP_DRIVER_PEAK, heap.driver_peak.into()),
            (fact::HEAP_DRIVER_BOUND, memory.driver_peak),
        ] {
            self.record.count(name, bytes);
        }
    }

    /// How things are as the test begins.
    pub(super) fn begin(&self) -> Began {
        Began { times: self.world.times(self.device).unwrap_or(StateTimes::NONE) }
    }

    /// The charge that the device has drawn since the test began, by state.
    fn charge(&mut self, began: &Began) {
        let draw = self.scene.devices[0].draw();
        let Some(times) = self.world.times(self.device) else { return };
        charged(self.record, &draw, &times.since(&began.times));
    }
}

/// What the other end and the router have dropped.
fn others(world: &World<'_>, pc: MachineId, scene: &NetScene) -> [(&'static str, u64); 5] {
    let (drops, ip) = (world.drops(pc), world.ip_counters(pc));
    let router = scene.access_point.as_ref().map(|_| world.wifi_counters(scene.ap()));
    let router = router.unwrap_or_default();
    [
        ("pc-tx-not-sent", drops.not_sent),
        ("pc-udp-mailbox-full", ip.udp_mailbox_full),
        ("router-refused", router.refused),
        ("router-aged", router.aged),
        ("router-lost", router.lost),
    ]
}

/// What that charge is, in all and by state.
pub(super) fn charged(record: &mut dyn Record, draw: &CurrentDraw, times: &StateTimes) {
    let nanocoulombs = |charge: ElectricCharge| (charge.picocoulombs() / 1000) as u64;
    record.count(fact::CHARGE_NC, nanocoulombs(draw.charge(times)));
    record.count(fact::TIME_NS, times.total_ns());
    for state in PowerState::all().filter(|it| times.ns(*it) > 0) {
        let charge = nanocoulombs(draw.charge_of(times, state));
        record.count(&format!("{}-{}", fact::CHARGE_NC, state.name()), charge);
        record.count(&format!("{}-{}", fact::TIME_NS, state.name()), times.ns(state));
    }
}
