//! ICMP round trips to anything that speaks IP: `icmp:HOST`.

use super::round_trips::{Hints, ProbeCarrier, ProbeExchange, out_of_buffers};
use super::udp_echo::stamps;
use super::{Sink, Target, TargetError, noted};
use crate::clock::Clock;
use crate::live_mark::LiveMark;
use crate::sys::icmp::{IcmpSocket, IpFields, OpenError, QuotedFailure};
use crate::sys::stamp::StampedDatagram;
use espbench_measure::run::Site;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::Workload;
use espbench_proto::node::echo::Prober;
use std::io;
use std::net::SocketAddr;

/// A host whose IP stack answers ICMP echo requests.
#[derive(Debug)]
pub struct PingTarget {
    /// The host; the port does not matter.
    pub peer: SocketAddr,
    /// Facts about the device and the place.
    pub site: Site,
}

impl PingTarget {
    fn name(&self) -> String {
        format!("icmp:{}", self.peer.ip())
    }
}

impl Target for PingTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn live_lab(&self) -> Option<LiveMark> {
        LiveMark::of_peer(self.peer.ip())
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        match workload.plain() {
            Workload::Ping(_) => Ok(()),
            other => Err(TargetError::Unsupported {
                target: self.name(),
                kind: other.kind(),
                hint:
                    "this target answers ICMP echo requests; use --on udp:, tcp:, iperf: or mqtt: \
                       for other plans"
                        .into(),
            }),
        }
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let Workload::Ping(work) = noted(workload, sink) else { return Ok(()) };
        let clock = Clock::start();
        let options = IpFields { tos: work.tos, ttl: work.ttl };
        let socket = open(self.peer, options, clock)?;
        sink.fact("receive_timestamps", stamps(socket.has_stamps()).into());
        let kind = if socket.is_raw() { "raw (CAP_NET_RAW)" } else { "unprivileged" };
        sink.fact("icmp_socket", kind.into());
        let prober = Prober::ping(work, socket.version(), socket.identifier(), clock.now());
        ProbeExchange::new(self.name(), prober, work.timeout, Icmp(socket), clock).run(sink)
    }
}

/// Opens a socket for echo requests to `peer`.
///
/// # Errors
/// The reason for which the socket cannot be opened, with advice.
pub(super) fn open(
    peer: SocketAddr,
    options: IpFields,
    clock: Clock,
) -> Result<IcmpSocket, TargetError> {
    let what = format!("ICMP socket to {}", peer.ip());
    IcmpSocket::open(peer, options, clock).map_err(|error| match error {
        OpenError::NotPermitted(source) => TargetError::Local {
            what,
            source,
            hint: "this user may not send echo requests: allow it to everybody with \
                   `sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"` (for IPv6, too), or to this \
                   program with `setcap cap_net_raw+ep PATH-OF-ESPBENCH`"
                .into(),
        },
        OpenError::System(source) => {
            let hint = match source.kind() {
                io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
                    "this host has no route to that network: check the address, and `ip route get`"
                }
                io::ErrorKind::PermissionDenied => {
                    "broadcast addresses and networks that the routes prohibit cannot be pinged"
                }
                _ => "check the address and the network",
            };
            TargetError::Local { what, source, hint: hint.into() }
        }
    })
}

/// An ICMP socket that carries probes.
pub(super) struct Icmp(pub(super) IcmpSocket);

impl ProbeCarrier for Icmp {
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        self.0.send(datagram)
    }

    fn receive(&mut self, buf: &mut [u8], until: Instant) -> io::Result<Option<StampedDatagram>> {
        self.0.receive(buf, until)
    }

    fn overflow(&self) -> u32 {
        self.0.overflow()
    }

    fn refusal(&self, error: &io::Error) -> Option<Cause> {
        if out_of_buffers(error) {
            return Some(Cause::NoBuffers);
        }
        #[cfg(unix)]
        if error.raw_os_error() == Some(libc::EMSGSIZE) {
            return Some(Cause::TooBig);
        }
        Some(match error.kind() {
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown => {
                Cause::NetworkUnreachable
            }
            io::ErrorKind::HostUnreachable => Cause::HostUnreachable,
            // Of a firewall of this host (EPERM), or of a route that prohibits (EACCES).
            io::ErrorKind::PermissionDenied => Cause::Prohibited,
            _ => return None,
        })
    }

    fn failure(&mut self) -> Option<QuotedFailure> {
        self.0.failure()
    }

    fn hints(&self) -> Hints {
        Hints {
            refused: "check that the host speaks IP",
            silent: "check that the host is up and answers echo requests (firewalls may not let \
                     them pass); a device that sleeps may need a longer --timeout",
            failed: "check the address and the route",
        }
    }
}
