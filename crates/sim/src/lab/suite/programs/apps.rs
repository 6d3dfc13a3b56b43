//! Programs of device and PC for each kind of test.

use super::Cell;
use crate::lab::scene::ProgramStyle;
use crate::lab::suite::{SuiteError, Unable};
use crate::lab::wifi::MachineId;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Observer, Probe, Sample};
use espbench_model::workload::{Direction, Iperf, TcpRate, UdpEcho};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{
    ArduinoEcho, EchoProbe, EchoServer, Endpoint, IperfClient, IperfServer, IperfSetup, TcpSender,
    TcpSink,
};
use espbench_proto::wire::iperf2;

/// Ports of the published sketch: the device's, and the PC's.
const ECHO: (u16, u16) = (10_000, 10_001);
/// The limited broadcast address (RFC 919).
const BROADCAST: [u8; 4] = [255; 4];
/// The port of ESP-IDF's `tcp_client` example.
const SINK: u16 = 3333;
/// Time beyond a test's own time, for connecting, time-outs and closing reports.
const MARGIN: Duration = Duration::from_secs(30);
/// Line that the document's first two runs print with every send. Its text is on a picture. Both
/// runs counted 684 lines, and a console of 115200 baud with a FIFO of 128 bytes lets through that
/// many lines of 17 bytes: (11520 + 128) / 17 = 685.
const LINE: &str = "Message sent...\r\n";

impl Cell<'_, '_> {
    pub(super) fn program(&self) -> ProgramStyle {
        self.scene.devices[0].program
    }

    fn tick_hz(&self) -> u32 {
        self.scene.devices[0].sdk.tick_hz
    }

    pub(super) fn unable<T>(&self, why: &str) -> Result<T, SuiteError> {
        Err(SuiteError::Unable(Unable::Variant(self.scene.variant.clone()), why.to_string()))
    }

    pub(super) fn udp_echo(&mut self, work: &UdpEcho) -> Result<(), SuiteError> {
        let pc = self.pc;
        for (device, link) in self.measured() {
            let port = ECHO.1 + device.0;
            match self.program() {
                ProgramStyle::Arduino => {
                    let it = ArduinoEcho::new(ECHO.0, Self::at(pc, port));
                    self.start(device, link, Box::new(it));
                }
                _ => self.start(device, link, Box::new(EchoServer::<1472>::new(ECHO.0))),
            }
            let to = match self.scene.pc.as_ref().is_some_and(|it| it.multicast) {
                true => Endpoint::new(BROADCAST, ECHO.0),
                false => Self::at(device, ECHO.0),
            };
            let session = (self.seed as u32).wrapping_add(device.0.into());
            let probe = EchoProbe::<1472>::new(*work, session, port, to);
            let interval = work.interval.unwrap_or_default();
            self.start_prober((device, link), interval, Box::new(probe));
        }
        let each = work.interval.unwrap_or_default().max(work.timeout * 2);
        let most = each * (work.count + work.discard) + MARGIN;
        let result = self.until_idle(pc, most);
        for sample in self.lab.take_program_samples(pc) {
            let sample = match sample {
                Sample::Probe(it) => Sample::Probe(self.with_cause(it)),
                other => other,
            };
            self.record.sample(sample);
        }
        result
    }

    /// Sets the place where a probe was lost, if it is known: it is that of the first drop after
    /// its sending.
    fn with_cause(&self, probe: Probe) -> Probe {
        let (Fate::Lost(Cause::Unknown), Some(sent)) = (probe.fate, probe.sent) else {
            return probe;
        };
        let lost = self.lab.lost_after(sent);
        Probe { fate: Fate::Lost(lost.unwrap_or_default()), ..probe }
    }

    pub(super) fn iperf(&mut self, work: &Iperf) -> Result<(), SuiteError> {
        let pc = self.pc;
        let style = match self.program() {
            ProgramStyle::Callback => IperfStyle::EspConn,
            ProgramStyle::PlainV4 => IperfStyle::EspIdfV4,
            _ => IperfStyle::EspIdf,
        };
        let own = IperfSetup { tick_hz: self.tick_hz(), ..IperfSetup::of(work, style) };
        let its = IperfSetup::of(work, IperfStyle::Pc);
        let port = iperf2::PORT;
        // As `IpTest::Iperf` has it: forward is towards the device. Others are refused before.
        let from_device = work.direction != Direction::Forward;
        let (served, sent) = if from_device { (its, own) } else { (own, its) };
        for (device, link) in self.measured() {
            let (server, client) = if from_device { (pc, device) } else { (device, pc) };
            // A server on the PC has a port for each device.
            let port = if from_device { port + device.0 } else { port };
            self.start(server, link, Box::new(IperfServer::<16384>::new(served, port)));
            for _ in 0..work.parallel.max(1) {
                let it = IperfClient::<16384>::new(sent, Self::at(server, port));
                self.start(client, link, Box::new(it));
            }
        }
        let devices: Vec<MachineId> = self.measured().map(|it| it.0).collect();
        let (clients, servers) =
            if from_device { (&devices[..], &[pc][..]) } else { (&[pc][..], &devices[..]) };
        let mut result = self.until_all_idle(clients, work.time + MARGIN);
        if result.is_ok() {
            // A server hears of the end, or does not.
            result = self.until_all_idle(servers, MARGIN);
        }
        for sample in self.lab.take_program_samples(pc) {
            self.record.sample(sample);
        }
        for device in devices {
            for sample in self.lab.take_program_samples(device) {
                self.record.sample(own_count(sample));
            }
        }
        result
    }

    pub(super) fn tcp_rate(&mut self, work: &TcpRate) -> Result<(), SuiteError> {
        let pc = self.pc;
        let print = (self.program() == ProgramStyle::Printing).then_some(LINE);
        for (device, link) in self.measured() {
            let port = SINK + device.0;
            self.start(pc, link, Box::new(TcpSink::<16384>::new(port)));
            let sender = TcpSender::<1460>::new(*work, Self::at(pc, port), print);
            self.start(device, link, Box::new(sender));
        }
        let devices: Vec<MachineId> = self.measured().map(|it| it.0).collect();
        let runs = u32::from(work.runs) + u32::from(work.discard);
        let each = work.run_time + Duration::from_secs(2);
        let result = self.until_all_idle(&devices, each * runs + MARGIN);
        let mut any = false;
        for device in devices {
            for sample in self.lab.take_program_samples(device) {
                any = true;
                self.record.sample(sample);
            }
        }
        result.and(any.then_some(()).ok_or(SuiteError::NoConnection))
    }
}

/// Turns the device's own count into that of the peer.
fn own_count(sample: Sample) -> Sample {
    match sample {
        Sample::Interval(it) => Sample::Interval(Interval { observer: Observer::Peer, ..it }),
        other => other,
    }
}
