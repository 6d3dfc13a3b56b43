//! Addresses for the stations of the device's own access point: as much of RFC 2131 as a client
//! needs to get one.

use alloc::vec;
use smoltcp::iface::{SocketHandle, SocketSet};
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket, UdpMetadata};
use smoltcp::wire::{
    DHCP_CLIENT_PORT, DHCP_SERVER_PORT, DhcpMessageType, DhcpPacket, DhcpRepr, EthernetAddress,
    IpEndpoint, Ipv4Address,
};

/// Stations that have an address; the one that was given one first loses it to a further one.
const STATIONS: usize = 10;
/// Seconds of a lease.
const LEASE: u32 = 7200;
/// Longest message.
const MESSAGE: usize = 600;

/// A DHCP server.
#[derive(Debug)]
pub(super) struct LeaseServer {
    socket: SocketHandle,
    own: Ipv4Address,
    stations: [Option<EthernetAddress>; STATIONS],
    next: usize,
}

impl LeaseServer {
    /// Opens the server's socket.
    pub(super) fn new(set: &mut SocketSet<'static>, own: [u8; 4]) -> Option<Self> {
        let buffer = || PacketBuffer::new(vec![PacketMetadata::EMPTY; 2], vec![0; 2 * MESSAGE]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.bind(DHCP_SERVER_PORT).ok()?;
        let socket = set.add(socket);
        Some(Self { socket, own: own.into(), stations: [None; STATIONS], next: 0 })
    }

    /// Answers what has come.
    pub(super) fn serve(&mut self, set: &mut SocketSet<'static>) {
        loop {
            let socket = set.get_mut::<Socket<'_>>(self.socket);
            let mut message = [0; MESSAGE];
            let Ok((len, _)) = socket.recv_slice(&mut message) else { return };
            let asked = message.get(..len).unwrap_or_default();
            let Ok(packet) = DhcpPacket::new_checked(asked) else { continue };
            let Ok(asked) = DhcpRepr::parse(&packet) else { continue };
            let Some(answer) = self.answer(&asked) else { continue };
            let to = (Ipv4Address::BROADCAST, DHCP_CLIENT_PORT);
            if let Ok(room) =
                socket.send(answer.buffer_len(), UdpMetadata::from(IpEndpoint::from(to)))
                && let Ok(mut packet) = DhcpPacket::new_checked(room)
            {
                // A station asks again if this fails.
                let _ = answer.emit(&mut packet);
            }
        }
    }

    fn answer<'a>(&mut self, asked: &DhcpRepr<'a>) -> Option<DhcpRepr<'a>> {
        let message_type = match asked.message_type {
            DhcpMessageType::Discover => DhcpMessageType::Offer,
            DhcpMessageType::Request => {
                if asked.server_identifier.is_some_and(|it| it != self.own) {
                    return None;
                }
                DhcpMessageType::Ack
            }
            _ => return None,
        };
        let place = self.place_of(asked.client_hardware_address);
        let [a, b, c, d] = self.own.octets();
        let address = Ipv4Address::new(a, b, c, d + 1 + place as u8);
        let wanted = asked.requested_ip.filter(|_| message_type == DhcpMessageType::Ack);
        let refused = wanted.is_some_and(|it| it != address);
        let message_type = if refused { DhcpMessageType::Nak } else { message_type };
        let lease = (!refused).then_some(LEASE);
        Some(DhcpRepr {
            message_type,
            transaction_id: asked.transaction_id,
            secs: 0,
            client_hardware_address: asked.client_hardware_address,
            client_ip: Ipv4Address::UNSPECIFIED,
            your_ip: if refused { Ipv4Address::UNSPECIFIED } else { address },
            server_ip: self.own,
            router: lease.map(|_| self.own),
            subnet_mask: lease.map(|_| Ipv4Address::new(255, 255, 255, 0)),
            relay_agent_ip: Ipv4Address::UNSPECIFIED,
            broadcast: true,
            requested_ip: None,
            client_identifier: None,
            server_identifier: Some(self.own),
            parameter_request_list: None,
            dns_servers: None,
            max_size: None,
            lease_duration: lease,
            renew_duration: None,
            rebind_duration: None,
            additional_options: &[],
        })
    }

    pub(super) fn place_of(&mut self, station: EthernetAddress) -> usize {
        if let Some(known) = self.stations.iter().position(|it| *it == Some(station)) {
            return known;
        }
        let place = self.next;
        self.stations[place] = Some(station);
        self.next = (place + 1) % STATIONS;
        place
    }
}
