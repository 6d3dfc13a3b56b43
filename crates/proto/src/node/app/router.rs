//! A router's services for its network beside forwarding: names and addresses.

use super::{App, Endpoint, SocketError, SocketId, Sockets, Wait, opened};
use crate::wire::dhcp::{self, DhcpKind, DhcpMessage};
use crate::wire::dns::{self, DnsAnswer, DnsQuestion, DnsSubject};
use espbench_model::time::Instant;

/// Seconds of a lease, what home routers have.
const LEASE: u32 = 7200;

/// The hosts of a network, whoever keeps them.
pub trait HostDirectory {
    /// Returns the address of the host that a question is for.
    fn address_of(&self, question: &DnsQuestion<'_>) -> Option<[u8; 4]>;
    /// Returns the name of the host that has an address.
    fn name_of(&self, address: [u8; 4]) -> Option<&str>;
    /// Returns the address that a client gets.
    fn address_for(&self, hardware: [u8; 6]) -> [u8; 4];
    /// Takes note that a client has got its address.
    fn leased(&mut self, now: Instant, hardware: [u8; 6], address: [u8; 4]);
}

/// Answers what names and addresses of hosts are (DNS over UDP). It never ends.
///
/// Counters: `dns-questions`, `dns-unknown`; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct NameServer<D> {
    hosts: D,
    socket: Option<SocketId>,
    out: [u8; dns::LONGEST],
    reply: Option<(usize, Endpoint)>,
}

impl<D: HostDirectory> NameServer<D> {
    /// Creates a server for these hosts.
    #[must_use]
    pub const fn new(hosts: D) -> Self {
        Self { hosts, socket: None, out: [0; dns::LONGEST], reply: None }
    }

    fn answer(&mut self, sockets: &mut dyn Sockets, message: &[u8]) -> Option<usize> {
        let question = DnsQuestion::parse(message)?;
        sockets.count("dns-questions", 1);
        let known = self.hosts.address_of(&question);
        let answer = match (question.subject, known) {
            (None, _) => DnsAnswer::NotImplemented,
            (Some(DnsSubject::Address), Some(address)) => DnsAnswer::Address(address),
            (Some(DnsSubject::NameOf(address)), _) => match self.hosts.name_of(address) {
                Some(name) => DnsAnswer::Name(name),
                None => DnsAnswer::NoName,
            },
            (Some(DnsSubject::Other), Some(_)) => DnsAnswer::NoRecord,
            (Some(DnsSubject::Address | DnsSubject::Other), None) => DnsAnswer::NoName,
        };
        sockets.count("dns-unknown", u64::from(answer == DnsAnswer::NoName));
        question.answer(answer, &mut self.out)
    }
}

impl<D: HostDirectory> App for NameServer<D> {
    fn poll(&mut self, _: Instant, sockets: &mut dyn Sockets) -> Wait {
        let socket = match opened(&mut self.socket, sockets, |it| it.udp_bind(dns::PORT)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if let Some((len, to)) = self.reply.take() {
            // One that is lost is asked for again.
            let _ = sockets.udp_send(socket, to, &self.out[..len]);
            return Wait::Again;
        }
        let mut message = [0; dns::LONGEST];
        let Some(datagram) = sockets.udp_receive(socket, &mut message) else { return Wait::Change };
        let len = self.answer(sockets, &message[..datagram.len]);
        self.reply = len.map(|len| (len, datagram.from));
        Wait::Again
    }
}

/// Gives addresses to those who ask (DHCP). It never ends.
///
/// Counters: `dhcp-leases`; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct AddressServer<D> {
    hosts: D,
    own: [u8; 4],
    mask: [u8; 4],
    socket: Option<SocketId>,
    out: [u8; dhcp::LONGEST],
    reply: Option<(usize, Endpoint)>,
}

impl<D: HostDirectory> AddressServer<D> {
    /// Creates a server with that address, in a network of that mask. It calls itself router and name server.
    #[must_use]
    pub const fn new(hosts: D, own: [u8; 4], mask: [u8; 4]) -> Self {
        Self { hosts, own, mask, socket: None, out: [0; dhcp::LONGEST], reply: None }
    }

    fn answer(&mut self, now: Instant, sockets: &mut dyn Sockets, message: &[u8]) {
        let Some(asked) = DhcpMessage::parse(message) else { return };
        let address = self.hosts.address_for(asked.hardware);
        let is_ours = asked.server.is_none_or(|it| it == self.own);
        let wanted = asked.requested.unwrap_or(asked.client);
        let kind = match asked.kind {
            DhcpKind::Discover => DhcpKind::Offer,
            DhcpKind::Request if is_ours && wanted == address => DhcpKind::Ack,
            DhcpKind::Request if is_ours => DhcpKind::Nak,
            DhcpKind::Inform => DhcpKind::Ack,
            _ => return,
        };
        let is_refused = kind == DhcpKind::Nak;
        let gives = !is_refused && asked.kind != DhcpKind::Inform;
        let told = |it: [u8; 4]| (!is_refused).then_some(it);
        let reply = DhcpMessage {
            kind,
            exchange: asked.exchange,
            broadcast: asked.broadcast,
            client: if is_refused { [0; 4] } else { asked.client },
            yours: if gives { address } else { [0; 4] },
            hardware: asked.hardware,
            server: Some(self.own),
            lease: gives.then_some(LEASE),
            mask: told(self.mask),
            router: told(self.own),
            dns: told(self.own),
            ..DhcpMessage::default()
        };
        // RFC 2131 section 4.1: to the address that the client has, otherwise as it wants it.
        let to = match asked.client {
            [0, 0, 0, 0] if asked.broadcast || is_refused => [255; 4],
            [0, 0, 0, 0] => address,
            client => client,
        };
        if kind == DhcpKind::Ack && gives {
            sockets.count("dhcp-leases", 1);
            self.hosts.leased(now, asked.hardware, address);
        }
        let to = Endpoint::new(to, dhcp::CLIENT_PORT);
        self.reply = reply.emit(&mut self.out).map(|len| (len, to));
    }
}

impl<D: HostDirectory> App for AddressServer<D> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let socket = match opened(&mut self.socket, sockets, |it| it.udp_bind(dhcp::SERVER_PORT)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if let Some((len, to)) = self.reply {
            match sockets.udp_send(socket, to, &self.out[..len]) {
                Err(SocketError::NoMemory) => return Wait::Until(now + RETRY),
                _ => self.reply = None,
            }
            return Wait::Again;
        }
        let mut message = [0; dhcp::LONGEST];
        let Some(datagram) = sockets.udp_receive(socket, &mut message) else { return Wait::Change };
        self.answer(now, sockets, &message[..datagram.len]);
        Wait::Again
    }
}

/// Wait of a reply that the driver had no room for.
const RETRY: core::time::Duration = core::time::Duration::from_millis(1);
