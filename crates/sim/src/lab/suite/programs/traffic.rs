//! The traffic of devices that are not measured, from the beginning of a test to its end.
//!
//! Reports are datagrams to an echo on the PC, or those of a node payloads of ESP-NOW to node 0; a stream
//! is iperf's, between the device and the PC.
//! The samples are added up by group, as counters of the cell: `GROUP-sent`, `GROUP-delivered`,
//! `GROUP-waited-us` (the times until the answers) and `GROUP-bytes`.

use super::Cell;
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::{Lab, Tap};
use crate::lab::scene::{Application, Scene};
use crate::lab::wifi::machine::address;
use crate::lab::wifi::{MachineId, TrafficSums};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::workload::{Direction, EchoFormat, Iperf, Transport, UdpEcho};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{
    EchoProbe, EchoServer, Endpoint, IperfClient, IperfServer, IperfSetup,
};

/// The port of the echo protocol (RFC 862).
const ECHO: u16 = 7;
/// The first port of streams to the PC, and the port of a device that a stream goes to.
const UPLOADS: u16 = 5101;
const DOWNLOAD: u16 = 5100;
/// A report that is not answered in this time is lost.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Longer than any test.
const ENDLESS: Duration = Duration::from_hours(24);

/// Lets the devices begin that are not measured.
pub(in crate::lab) fn begin_traffic<W: Tap>(lab: &mut Lab<'_, W>, scene: &Scene, seed: u64) {
    begin_reports(lab, scene, seed);
    let pc = MachineId(scene.devices.len() as u16);
    let at = |machine: MachineId, port| Endpoint::new(address(machine.0.into()), port);
    let mut reports = false;
    for (number, device) in scene.devices.iter().enumerate().skip(scene.measured.into()) {
        let machine = MachineId(number as u16);
        match device.application {
            Application::None => {}
            Application::Reports { bytes, every } => {
                if !core::mem::replace(&mut reports, true) {
                    lab.start_beside(pc, Box::new(EchoServer::<1472>::new(ECHO)));
                }
                let work = UdpEcho {
                    size: bytes,
                    count: u32::MAX,
                    discard: 0,
                    format: EchoFormat::Binary,
                    in_flight: 16,
                    interval: Some(every),
                    timeout: TIMEOUT,
                };
                let session = (seed as u32).wrapping_add(number as u32);
                let probe = EchoProbe::<1472>::new(work, session, 0, at(pc, ECHO));
                // They do not all report in the same moment.
                let mut random = RngStream::stream(seed, number as u32, Purpose::Arrival);
                let begin = lab.now() + random.time_below(every);
                lab.start_beside_at(begin, machine, Box::new(probe));
            }
            Application::Upload => {
                let to = at(pc, UPLOADS + number as u16);
                stream(lab, (pc, IperfStyle::Pc), (machine, IperfStyle::EspIdf), to);
            }
            Application::Download => {
                let to = at(machine, DOWNLOAD);
                stream(lab, (machine, IperfStyle::EspIdf), (pc, IperfStyle::Pc), to);
            }
        }
    }
}

/// Lets the nodes of ESP-NOW begin.
fn begin_reports<W: Tap>(lab: &mut Lab<'_, W>, scene: &Scene, seed: u64) {
    for (number, node) in (0..).zip(&scene.nodes) {
        // Node 0 is the one that they report to.
        if let (Application::Reports { bytes, every }, 1..) = (node.application, number) {
            let mut random = RngStream::stream(seed, number, Purpose::Arrival);
            let begin = lab.now() + random.time_below(every);
            lab.report(begin, NodeId(number as u16), bytes, every);
        }
    }
}

/// Starts a TCP stream from a client to a server, where it has its end, that lasts for good.
fn stream<W: Tap>(
    lab: &mut Lab<'_, W>,
    (server, serves): (MachineId, IperfStyle),
    (client, sends): (MachineId, IperfStyle),
    to: Endpoint,
) {
    let work = Iperf {
        transport: Transport::Tcp,
        direction: Direction::Forward,
        time: ENDLESS,
        ..Iperf::DEFAULT
    };
    let setup = |style| IperfSetup::of(&work, style);
    lab.start_beside(server, Box::new(IperfServer::<16384>::new(setup(serves), to.port)));
    lab.start_beside(client, Box::new(IperfClient::<16384>::new(setup(sends), to)));
}

impl Cell<'_, '_> {
    /// Adds up what the devices of each group have done that are not measured.
    pub(super) fn count_traffic(&mut self) {
        let first = usize::from(self.scene.measured);
        let mut groups: BTreeMap<&str, TrafficSums> = BTreeMap::new();
        for (number, device) in self.scene.devices.iter().enumerate().skip(first) {
            if device.application != Application::None {
                let sums = self.lab.sums(MachineId(number as u16));
                groups.entry(&device.group).or_default().add_all(&sums);
            }
        }
        for (number, node) in self.scene.nodes.iter().enumerate().skip(1) {
            if node.application != Application::None {
                let sums = self.lab.reports(NodeId(number as u16));
                groups.entry(&node.group).or_default().add_all(&sums);
            }
        }
        for (name, sums) in groups {
            for (what, value) in [
                ("sent", sums.sent),
                ("delivered", sums.delivered),
                ("waited-us", sums.waited_ns / 1000),
                ("bytes", sums.bytes),
            ] {
                if value > 0 {
                    let counter: String = format!("{name}-{what}");
                    self.record.count(&counter, value);
                }
            }
        }
    }
}
