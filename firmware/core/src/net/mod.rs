//! TCP/IP over an Ethernet-like interface, by smoltcp, and the programs of `espbench-proto` over it.
//!
//! | module | contents |
//! |---|---|
//! | `sockets` | the port of programs: sockets that never block |
//! | `lease` | addresses for stations of the device's own access point (DHCP server) |
//! | [`programs`] | which programs there are, and their run |

mod lease;
pub mod programs;
mod sockets;
#[cfg(test)]
mod tests;

pub use programs::{Order, ProgramRun};
pub use sockets::{HostSockets, Out};

use alloc::vec::Vec;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use lease::LeaseServer;
use smoltcp::iface::{Config, Interface, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::Device;
use smoltcp::socket::{dhcpv4, tcp};
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Address, Ipv4Cidr};
use sockets::Entry;

/// Address of a device with an access point of its own, as ESP-IDF has it.
pub const ACCESS_POINT: [u8; 4] = [192, 168, 4, 1];
/// Length of the network's prefix there.
const PREFIX: u8 = 24;

/// Sizes of the buffers of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSizes {
    /// Datagrams that wait in either direction of a UDP socket (`UDP_RECVMBOX_SIZE`).
    pub datagrams: u16,
    /// Bytes of a TCP connection's send buffer (`TCP_SND_BUF_DEFAULT`).
    pub send: u32,
    /// Bytes of its receive window (`TCP_WND_DEFAULT`).
    pub window: u32,
}

impl Default for BufferSizes {
    /// Returns ESP-IDF's defaults.
    fn default() -> Self {
        Self { datagrams: 6, send: 5760, window: 5760 }
    }
}

/// Source of the host's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// A DHCP server of the network.
    Dhcp,
    /// The host's own, [`ACCESS_POINT`], from which it gives others theirs.
    AccessPoint,
}

/// A host: an interface, its address, and its sockets.
pub struct IpHost {
    interface: Interface,
    set: SocketSet<'static>,
    entries: Vec<(u16, Entry)>,
    /// Connections that were closed and still have something to say.
    closing: Vec<SocketHandle>,
    /// Number of the last socket.
    last: u16,
    /// Local port of the last connection.
    port: u16,
    dhcp: Option<SocketHandle>,
    lease: Option<LeaseServer>,
    sizes: BufferSizes,
    /// Sockets for which there was no memory.
    pub(crate) no_memory: u32,
}

impl core::fmt::Debug for IpHost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IpHost").field("sockets", &self.entries.len()).finish_non_exhaustive()
    }
}

fn stack_time(now: Instant) -> StackInstant {
    StackInstant::from_micros((now.as_nanos() / 1000) as i64)
}

impl IpHost {
    /// Creates a host on a device that has this address.
    #[must_use]
    pub fn new(
        now: Instant,
        device: &mut impl Device,
        mac: Mac,
        source: AddressSource,
        sizes: BufferSizes,
        seed: u64,
    ) -> Self {
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(mac.0)));
        config.random_seed = seed;
        let mut host = Self {
            interface: Interface::new(config, device, stack_time(now)),
            set: SocketSet::new(Vec::new()),
            entries: Vec::new(),
            closing: Vec::new(),
            last: 0,
            // As RFC 6335 has it for connections of a host's own; where it begins is chance.
            port: 49_152 + (seed % 16_000) as u16,
            dhcp: None,
            lease: None,
            sizes,
            no_memory: 0,
        };
        match source {
            AddressSource::Dhcp => host.dhcp = Some(host.set.add(dhcpv4::Socket::new())),
            AddressSource::AccessPoint => {
                let address = Ipv4Address::from(ACCESS_POINT);
                host.set_address(Some((Ipv4Cidr::new(address, PREFIX), None)));
                host.lease = LeaseServer::new(&mut host.set, ACCESS_POINT);
            }
        }
        host
    }

    /// Returns the address, once there is one.
    #[must_use]
    pub fn address(&self) -> Option<[u8; 4]> {
        self.interface.ipv4_addr().map(|it| it.octets())
    }

    /// Moves packets; returns whether a socket may have changed.
    pub fn poll(&mut self, now: Instant, device: &mut impl Device) -> bool {
        let polled = self.interface.poll(stack_time(now), device, &mut self.set);
        self.configure();
        if let Some(lease) = &mut self.lease {
            lease.serve(&mut self.set);
        }
        let set = &mut self.set;
        self.closing.retain(|handle| {
            let over = !set.get::<tcp::Socket<'_>>(*handle).is_open();
            if over {
                set.remove(*handle);
            }
            !over
        });
        polled == PollResult::SocketStateChanged
    }

    fn configure(&mut self) {
        let Some(handle) = self.dhcp else { return };
        let event = self.set.get_mut::<dhcpv4::Socket<'_>>(handle).poll();
        let place = match event {
            None => return,
            Some(dhcpv4::Event::Configured(config)) => Some((config.address, config.router)),
            Some(dhcpv4::Event::Deconfigured) => None,
        };
        self.set_address(place);
    }

    fn set_address(&mut self, place: Option<(Ipv4Cidr, Option<Ipv4Address>)>) {
        self.interface.update_ip_addrs(|addresses| {
            addresses.clear();
            if let Some((address, _)) = place {
                // There is room: the list was just emptied.
                let _ = addresses.push(IpCidr::Ipv4(address));
            }
        });
        let routes = self.interface.routes_mut();
        routes.remove_default_ipv4_route();
        if let Some((_, Some(router))) = place {
            // The one route is the default.
            let _ = routes.add_default_ipv4_route(router);
        }
    }

    /// Returns the number of sockets for which there was no memory.
    #[must_use]
    pub const fn no_memory(&self) -> u32 {
        self.no_memory
    }
}
