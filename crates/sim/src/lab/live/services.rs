//! Services of the devices of a live network, and the programs that report.

use crate::lab::run::{Lab, Tap};
use crate::lab::scene::ProgramStyle;
use crate::lab::wifi::MachineId;
use crate::lab::wifi::setup::Program;
use crate::net::Stack;
use alloc::boxed::Box;
use core::time::Duration;
use espbench_model::sample::Link;
use espbench_model::time::Instant;
use espbench_model::workload::{Iperf, Transport};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::{
    App, ArduinoEcho, EchoServer, Endpoint, HttpPage, IperfServer, IperfSetup, Sockets, TcpSink,
    Wait,
};
use espbench_proto::wire::{iperf2, sockperf};

/// A program of a device in a live network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceService {
    /// UDP echo.
    UdpEcho,
    /// A sink of TCP, as ESP-IDF's `tcp_server` example has its port.
    TcpSink,
    /// A page over HTTP.
    Http,
    /// Replies to the messages of sockperf, over UDP.
    Sockperf,
    /// Receiver of iperf 2 over UDP.
    IperfUdp,
    /// Receiver of iperf 2 over TCP.
    IperfTcp,
}

impl DeviceService {
    /// The services that every device has.
    pub const ALL: [Self; 6] =
        [Self::UdpEcho, Self::TcpSink, Self::Http, Self::Sockperf, Self::IperfUdp, Self::IperfTcp];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UdpEcho => "udp-echo",
            Self::TcpSink => "tcp-sink",
            Self::Http => "http",
            Self::Sockperf => "sockperf",
            Self::IperfUdp => "iperf-udp",
            Self::IperfTcp => "iperf-tcp",
        }
    }

    /// Returns the port.
    #[must_use]
    pub const fn port(self) -> u16 {
        match self {
            Self::UdpEcho => 10_000,
            Self::TcpSink => 3333,
            Self::Http => 80,
            Self::Sockperf => sockperf::PORT,
            Self::IperfUdp | Self::IperfTcp => iperf2::PORT,
        }
    }

    /// Returns whether it is over TCP.
    #[must_use]
    pub const fn is_tcp(self) -> bool {
        matches!(self, Self::TcpSink | Self::Http | Self::IperfTcp)
    }
}

/// A program of a device that reports what it has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceProgram {
    /// A service.
    Service(DeviceService),
    /// A sender of iperf 2, which was typed.
    IperfClient,
    /// A publisher of MQTT messages, which was typed.
    MqttPublisher,
}

impl DeviceProgram {
    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service(it) => it.name(),
            Self::IperfClient => "iperf-client",
            Self::MqttPublisher => "mqtt-publisher",
        }
    }

    /// Returns the link that the samples of it are of.
    pub(super) const fn link(self) -> Link {
        match self {
            Self::Service(it) => Link(it as u16),
            Self::IperfClient => Link(100),
            Self::MqttPublisher => Link(101),
        }
    }

    /// Returns the program whose samples are of that link.
    pub(super) fn of(link: Link) -> Option<Self> {
        let services = DeviceService::ALL.into_iter().map(Self::Service);
        services.chain([Self::IperfClient, Self::MqttPublisher]).find(|it| it.link() == link)
    }
}

/// Port of the PC at which the published sketch of device 0 answers; that of device 1 at the next one.
const ECHO_REPLY: u16 = 10_001;

/// Bytes of the longest datagram that is answered: as many as `IP_REASS_MAX_PBUFS` fragments carry.
const ECHO_MAX: usize = Stack::REASSEMBLED as usize * 1480 - 8;

/// Pause before a program begins anew.
const AGAIN: Duration = Duration::from_secs(1);

/// A program that begins anew whenever it has ended.
struct Endless<P> {
    make: fn(IperfStyle) -> P,
    style: IperfStyle,
    program: P,
}

impl<P: App> Endless<P> {
    fn new(style: IperfStyle, make: fn(IperfStyle) -> P) -> Self {
        Self { make, style, program: make(style) }
    }
}

impl<P: App> App for Endless<P> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let wait = self.program.poll(now, sockets);
        if wait != Wait::Done {
            return wait;
        }
        self.program = (self.make)(self.style);
        // It was ended by a stream, or by a port that was not free, which takes time to become so.
        Wait::Sleep(now + AGAIN)
    }
}

/// Returns a receiver of any number of streams, which sends where a client asks for it.
fn iperf(transport: Transport, style: IperfStyle) -> IperfServer<16384, 4, 4> {
    let work = Iperf { transport, parallel: u16::MAX, ..Iperf::DEFAULT };
    IperfServer::new(IperfSetup::of(&work, style), iperf2::PORT)
}

/// Starts a service on a device.
pub(super) fn start<W: Tap>(
    lab: &mut Lab<'_, W>,
    device: MachineId,
    (style_of, page): (ProgramStyle, &str),
    pc: [u8; 4],
    service: DeviceService,
) {
    let style = iperf_style(style_of);
    let udp = |style| iperf(Transport::Udp, style);
    let tcp = |style| iperf(Transport::Tcp, style);
    let port = service.port();
    let program: Box<dyn Program> = match service {
        DeviceService::UdpEcho if style_of == ProgramStyle::Arduino => {
            // As the published sketch: it answers at one port of the PC, whoever asks.
            let to = Endpoint::new(pc, ECHO_REPLY + device.0);
            Box::new(ArduinoEcho::new(port, to))
        }
        DeviceService::UdpEcho => Box::new(EchoServer::<ECHO_MAX>::new(port)),
        DeviceService::TcpSink => Box::new(TcpSink::<1460>::new(port)),
        DeviceService::Http => Box::new(<HttpPage>::new(port, page)),
        DeviceService::Sockperf => Box::new(EchoServer::<1472>::answering(port, sockperf::answer)),
        DeviceService::IperfUdp => Box::new(Endless::new(style, udp)),
        DeviceService::IperfTcp => Box::new(Endless::new(style, tcp)),
    };
    lab.start_on(DeviceProgram::Service(service).link(), device, program);
}

/// Returns how a device's iperf is written.
pub(super) const fn iperf_style(program: ProgramStyle) -> IperfStyle {
    match program {
        ProgramStyle::Callback => IperfStyle::EspConn,
        _ => IperfStyle::EspIdf,
    }
}
