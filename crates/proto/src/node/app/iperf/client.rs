//! The sending end.

use super::esp_udp::EspUdp;
use super::pc_udp::PcUdp;
use super::tcp_client::TcpClient;
use super::{IperfSetup, IperfStyle};
use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::wire::iperf2::DATAGRAM_HEADER;
use espbench_model::time::Instant;
use espbench_model::workload::Transport;

/// Sends one stream of UDP or TCP, records what it sent in intervals and a total (observer sender),
/// and, where it asks for it, what the server reported (observer peer).
///
/// Counters: `no-buffers`, datagrams refused for want of a buffer; `late-sends`, those that an
/// offered rate asked for and that were not sent; `failed`, no connection, or one that broke.
#[derive(Clone, Debug)]
pub struct IperfClient<const N: usize = 16384> {
    buf: [u8; N],
    part: ClientProgram,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the large one on")]
enum ClientProgram {
    Pc(PcUdp),
    Esp(EspUdp),
    Tcp(TcpClient),
}

impl<const N: usize> IperfClient<N> {
    /// Creates a client of the server at `to`. Datagrams and writes are `N` bytes long at most.
    #[must_use]
    pub fn new(mut setup: IperfSetup, to: Endpoint) -> Self {
        let udp = setup.work.transport == Transport::Udp;
        let least = if udp { DATAGRAM_HEADER as u32 } else { 1 };
        setup.work.length = setup.work.length.max(least).min(N as u32);
        let part = match (setup.work.transport, setup.style) {
            (Transport::Tcp, _) => ClientProgram::Tcp(TcpClient::new(setup, to)),
            (Transport::Udp, IperfStyle::Pc) => ClientProgram::Pc(PcUdp::new(setup, to)),
            (Transport::Udp, _) => ClientProgram::Esp(EspUdp::new(setup, to)),
        };
        Self { buf: [0; N], part }
    }
}

impl<const N: usize> App for IperfClient<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        match &mut self.part {
            ClientProgram::Pc(flow) => flow.poll(now, sockets, &mut self.buf),
            ClientProgram::Esp(flow) => flow.poll(now, sockets, &mut self.buf),
            ClientProgram::Tcp(stream) => stream.poll(now, sockets, &mut self.buf),
        }
    }
}
