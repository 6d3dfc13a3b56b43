//! A client of DHCP, the device's side.

use super::{App, Endpoint, SocketId, Sockets, Wait, opened};
use crate::wire::dhcp::{self, DhcpKind, DhcpMessage};
use core::fmt::Write as _;
use espbench_model::time::{Duration, Instant};

/// Longest pause between two tries, as lwIP doubles them (`dhcp_discover`).
const BACK_OFF: Duration = Duration::from_secs(60);

/// Everybody in the network.
const ALL: Endpoint = Endpoint::new([255; 4], dhcp::SERVER_PORT);

/// Asks for an address as lwIP does (`dhcp.c`): it looks for servers, takes the first offer, and asks again
/// once half of the lease is over. What comes is printed as ESP-IDF's log has it (`sta ip:`).
///
/// The device's stack has the address from the start: an offer of another one is taken note of and not used
/// (`dhcp-other`). Counters: `dhcp-bound`, leases; `dhcp-refused`; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct DhcpClient {
    hardware: [u8; 6],
    own: [u8; 4],
    host: heapless::Vec<u8, 32>,
    begins: Instant,
    /// When the device's clock began.
    clock: Instant,
    socket: Option<SocketId>,
    step: DhcpStep,
    /// Number of the exchange.
    exchange: u32,
    tries: u32,
    /// When it is tried again.
    again: Instant,
}

/// State of a client (RFC 2131 section 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DhcpStep {
    Selecting,
    Requesting { server: [u8; 4], offered: [u8; 4] },
    Bound { server: [u8; 4] },
}

impl DhcpClient {
    /// Creates a client of a host with that hardware address, name and address, whose clock began at the
    /// first of these times and which begins at the second.
    #[must_use]
    pub fn new(
        hardware: [u8; 6],
        own: [u8; 4],
        host: &str,
        (clock, begins): (Instant, Instant),
    ) -> Self {
        let mut name = heapless::Vec::new();
        let _ = name.extend_from_slice(&host.as_bytes()[..host.len().min(32)]);
        let [.., a, b, c, d] = hardware;
        Self {
            hardware,
            own,
            host: name,
            begins,
            clock,
            socket: None,
            step: DhcpStep::Selecting,
            exchange: u32::from_be_bytes([a, b, c, d]),
            tries: 0,
            again: begins,
        }
    }

    fn message(&self) -> (Endpoint, DhcpMessage<'_>) {
        let asked = DhcpMessage {
            exchange: self.exchange,
            hardware: self.hardware,
            host: &self.host,
            ..DhcpMessage::default()
        };
        match self.step {
            DhcpStep::Selecting => (ALL, asked),
            DhcpStep::Requesting { server, offered } => {
                let (server, requested) = (Some(server), Some(offered));
                (ALL, DhcpMessage { kind: DhcpKind::Request, server, requested, ..asked })
            }
            DhcpStep::Bound { server } => (
                Endpoint::new(server, dhcp::SERVER_PORT),
                DhcpMessage { kind: DhcpKind::Request, client: self.own, ..asked },
            ),
        }
    }

    fn send(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: SocketId) {
        let mut out = [0; dhcp::LONGEST];
        let (to, message) = self.message();
        if let Some(len) = message.emit(&mut out) {
            // One that the driver has no room for is tried again as one that is lost.
            let _ = sockets.udp_send(socket, to, &out[..len]);
        }
        self.tries = self.tries.saturating_add(1);
        let pause = Duration::from_secs(1 << self.tries.min(6)).min(BACK_OFF);
        self.again = now + pause;
    }

    fn take(&mut self, now: Instant, sockets: &mut dyn Sockets, octets: &[u8]) {
        let Some(it) = DhcpMessage::parse(octets) else { return };
        if it.exchange != self.exchange || it.hardware != self.hardware {
            return;
        }
        match (self.step, it.kind, it.server) {
            (DhcpStep::Selecting, DhcpKind::Offer, Some(server)) => {
                self.step = DhcpStep::Requesting { server, offered: it.yours };
                (self.tries, self.again) = (0, now);
            }
            (
                DhcpStep::Requesting { server, .. } | DhcpStep::Bound { server },
                DhcpKind::Ack,
                _,
            ) => {
                let lease = Duration::from_secs(it.lease.unwrap_or(u32::MAX).into());
                let is_first = self.step != DhcpStep::Bound { server };
                self.step = DhcpStep::Bound { server };
                (self.tries, self.again) = (0, now + lease / 2);
                self.exchange = self.exchange.wrapping_add(1);
                sockets.count("dhcp-bound", 1);
                sockets.count("dhcp-other", u64::from(it.yours != self.own));
                if is_first {
                    let mut line = heapless::String::<160>::new();
                    let _ = write!(
                        line,
                        "I ({}) esp_netif_handlers: sta ip: {}, mask: {}, gw: {}\r\n",
                        now.since(self.clock).as_millis(),
                        Dotted(it.yours),
                        Dotted(it.mask.unwrap_or_default()),
                        Dotted(it.router.unwrap_or_default()),
                    );
                    sockets.print(line.as_bytes());
                }
            }
            (_, DhcpKind::Nak, _) => {
                self.step = DhcpStep::Selecting;
                (self.tries, self.again) = (0, now + Duration::from_secs(1));
                sockets.count("dhcp-refused", 1);
            }
            _ => {}
        }
    }
}

/// An address in words.
struct Dotted([u8; 4]);

impl core::fmt::Display for Dotted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [a, b, c, d] = self.0;
        write!(f, "{a}.{b}.{c}.{d}")
    }
}

impl App for DhcpClient {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if now < self.begins {
            return Wait::Sleep(self.begins);
        }
        let socket = match opened(&mut self.socket, sockets, |it| it.udp_bind(dhcp::CLIENT_PORT)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        let mut octets = [0; dhcp::LONGEST];
        if let Some(datagram) = sockets.udp_receive(socket, &mut octets) {
            self.take(now, sockets, &octets[..datagram.len]);
            return Wait::Again;
        }
        if now >= self.again {
            self.send(now, sockets, socket);
            return Wait::Again;
        }
        Wait::Until(self.again)
    }
}
