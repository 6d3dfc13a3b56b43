//! Classes of packets that cost a processor different amounts of work.

use crate::lab::profile::IpCosts;

/// Class of a packet, which decides its costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Udp,
    Tcp,
    /// TCP without data.
    Ack,
}

/// Returns the class of an IPv4 packet: RFC 791 section 3.1, RFC 9293 section 3.1.
pub(super) fn classify(packet: &[u8]) -> Class {
    let byte = |at: usize| packet.get(at).copied().map_or(0, usize::from);
    if byte(9) != 6 {
        return Class::Udp;
    }
    let ip = (byte(0) & 0xF) * 4;
    let tcp = (byte(ip + 12) >> 4) * 4;
    let total = byte(2) << 8 | byte(3);
    if total > ip + tcp { Class::Tcp } else { Class::Ack }
}

impl Class {
    pub(super) const fn receive_ns(self, costs: &IpCosts, bytes: u32) -> u64 {
        match self {
            Self::Udp => costs.udp_receive.ns(bytes),
            Self::Tcp => costs.tcp_receive.ns(bytes),
            Self::Ack => costs.ack_receive.ns(bytes),
        }
    }

    pub(super) const fn send_ns(self, costs: &IpCosts, bytes: u32) -> u64 {
        costs.wifi_send.ns(bytes)
            + match self {
                Self::Udp => costs.udp_send.ns(bytes),
                Self::Tcp => costs.tcp_send.ns(bytes),
                Self::Ack => costs.ack_send.ns(bytes),
            }
    }
}
