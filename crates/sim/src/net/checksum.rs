//! Checksums of packets that leave the lab. Within it there are none: it loses whole packets.

use smoltcp::wire::{Icmpv4Packet, IpAddress, IpProtocol, Ipv4Packet, TcpPacket, UdpPacket};

/// Writes the checksums of an IPv4 packet (RFC 791) and of the ICMP message, TCP segment or UDP
/// datagram in it. Octets that are no such packet stay as they are.
pub fn fill_checksums(packet: &mut [u8]) {
    let Ok(mut ip) = Ipv4Packet::new_checked(packet) else { return };
    ip.fill_checksum();
    let (from, to) = (IpAddress::Ipv4(ip.src_addr()), IpAddress::Ipv4(ip.dst_addr()));
    let protocol = ip.next_header();
    // The checksum of what is in fragments is that of the whole.
    let is_part = ip.more_frags() || ip.frag_offset() != 0;
    let body = ip.payload_mut();
    match protocol {
        _ if is_part => {}
        IpProtocol::Icmp => {
            if let Ok(mut it) = Icmpv4Packet::new_checked(body) {
                it.fill_checksum();
            }
        }
        IpProtocol::Tcp => {
            if let Ok(mut it) = TcpPacket::new_checked(body) {
                it.fill_checksum(&from, &to);
            }
        }
        IpProtocol::Udp => {
            if let Ok(mut it) = UdpPacket::new_checked(body) {
                it.fill_checksum(&from, &to);
            }
        }
        _ => {}
    }
}
