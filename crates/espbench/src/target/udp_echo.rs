//! UDP round trips to a device that echoes: sockets and time for [`Prober`].

use super::round_trips::{Hints, ProbeCarrier, ProbeExchange, out_of_buffers};
use super::{Sink, Target, TargetError, noted};
use crate::clock::Clock;
use crate::live_mark::LiveMark;
use crate::sys::stamp::{StampedDatagram, StampedSocket};
use espbench_measure::run::Site;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::Workload;
use espbench_proto::node::echo::Prober;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;

/// A device, or a program, that echoes UDP datagrams.
#[derive(Debug)]
pub struct EchoTarget {
    /// Address of the echo.
    pub peer: SocketAddr,
    /// The port that replies come to; 0 is any. The published sketch replies to 10001 only.
    pub local_port: u16,
    /// Facts about the device and the place.
    pub site: Site,
}

impl Target for EchoTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn live_lab(&self) -> Option<LiveMark> {
        LiveMark::of_peer(self.peer.ip())
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        match workload.plain() {
            Workload::UdpEcho(_) => Ok(()),
            other => Err(TargetError::Unsupported {
                target: format!("udp:{}", self.peer),
                kind: other.kind(),
                hint: "this target echoes UDP; use --on tcp:, iperf: or mqtt: for other plans"
                    .into(),
            }),
        }
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let Workload::UdpEcho(work) = noted(workload, sink) else { return Ok(()) };
        let clock = Clock::start();
        let udp = StampedSocket::udp(self.peer, self.local_port, clock)
            .map_err(|e| self.cannot_open(e))?;
        sink.fact("receive_timestamps", stamps(udp.has_stamps()).into());
        // Unique enough that a reply from an earlier run is not taken for one of this run.
        let session = RandomState::new().hash_one(std::process::id()) as u32;
        let prober = Prober::new(work, session, clock.now());
        let peer = format!("udp:{}", self.peer);
        ProbeExchange::new(peer, prober, work.timeout, UdpCarrier(udp), clock).run(sink)
    }
}

/// Returns the source of replies' times, for the report.
pub(super) fn stamps(kernel: bool) -> &'static str {
    if kernel { "kernel (SO_TIMESTAMPNS)" } else { "application" }
}

impl EchoTarget {
    fn cannot_open(&self, source: io::Error) -> TargetError {
        let hint = match source.kind() {
            io::ErrorKind::AddrInUse => {
                "another program has that port: stop it, or choose one with --local-port"
            }
            _ => "check the address and the network",
        };
        TargetError::Local {
            what: format!("UDP socket on port {} to {}", self.local_port, self.peer),
            source,
            hint: hint.into(),
        }
    }
}

/// A UDP socket that carries probes.
pub(super) struct UdpCarrier(pub(super) StampedSocket);

impl ProbeCarrier for UdpCarrier {
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        self.0.send(datagram).map(drop)
    }

    fn receive(&mut self, buf: &mut [u8], until: Instant) -> io::Result<Option<StampedDatagram>> {
        self.0.receive(buf, until)
    }

    fn overflow(&self) -> u32 {
        self.0.overflow()
    }

    fn refusal(&self, error: &io::Error) -> Option<Cause> {
        out_of_buffers(error).then_some(Cause::NoBuffers)
    }

    fn hints(&self) -> Hints {
        Hints {
            refused: "nothing listens on that port: start the echo there, or give HOST:PORT",
            silent: "check that the device is up, that it echoes on this port, and where it sends \
                     its replies (the sketch of the published benchmark: to port 10001; see --local-port)",
            failed: "check the address, the route and the size of the datagrams",
        }
    }
}
