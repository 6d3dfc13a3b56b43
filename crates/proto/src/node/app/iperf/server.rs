//! The receiving end.

use super::tcp_server::TcpServer;
use super::udp_server::UdpServer;
use super::{IperfSetup, IperfStyle};
use crate::node::app::{App, Sockets, Wait};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Iperf, Transport};

/// Receives streams of UDP or TCP, `FLOWS` at a time, `N` bytes a read at most, and records what
/// came in intervals and a total of each (observer receiver). It ends after as many streams as the
/// setup's test has.
///
/// Counters: `stray-datagrams`; `refused-streams`, more than `FLOWS` at once; `failed`, where the
/// port is taken.
#[derive(Clone, Debug)]
pub struct IperfServer<const N: usize = 16384, const FLOWS: usize = 4> {
    buf: [u8; N],
    part: ServerProgram<FLOWS>,
}

#[derive(Clone, Debug)]
enum ServerProgram<const FLOWS: usize> {
    Udp(UdpServer<FLOWS>),
    Tcp(TcpServer<FLOWS>),
}

impl<const N: usize, const FLOWS: usize> IperfServer<N, FLOWS> {
    /// Creates a server on `port` ([`PORT`](crate::wire::iperf2::PORT)). Of the setup it takes the
    /// style, the transport, the interval and the number of streams; a read is as long as the
    /// program's own, and `N` bytes at most.
    #[must_use]
    pub fn new(mut setup: IperfSetup, port: u16) -> Self {
        setup.work.length = setup.style.read_length().min(N as u32);
        let part = match setup.work.transport {
            Transport::Udp => ServerProgram::Udp(UdpServer::new(setup, port)),
            Transport::Tcp => ServerProgram::Tcp(TcpServer::new(setup, port)),
        };
        Self { buf: [0; N], part }
    }
}

impl<const N: usize, const FLOWS: usize> App for IperfServer<N, FLOWS> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        match &mut self.part {
            ServerProgram::Udp(server) => server.poll(now, sockets, &mut self.buf),
            ServerProgram::Tcp(server) => server.poll(now, sockets, &mut self.buf),
        }
    }
}

impl IperfStyle {
    /// Returns the bytes of a server's read: `IPERF_TCP_RX_LEN`; espconn hands on segment by
    /// segment.
    const fn read_length(self) -> u32 {
        match self {
            Self::Pc => Iperf::TCP_LENGTH,
            Self::EspIdf | Self::EspIdfV4 => 16 << 10,
            Self::EspConn => 1460,
        }
    }

    /// Returns the silence that ends a stream: `IPERF_SOCKET_RX_TIMEOUT`. The PC's is for UDP,
    /// whose sender may be an ESP without a last datagram; a stream it awaits to its end.
    pub(super) const fn patience(self, transport: Transport) -> Duration {
        match (self, transport) {
            (Self::Pc, Transport::Tcp) => Duration::from_secs(60),
            (Self::Pc, Transport::Udp) => Duration::from_secs(5),
            _ => Duration::from_secs(10),
        }
    }
}
