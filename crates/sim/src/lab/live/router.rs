//! The router of a live network: it answers pings, gives addresses (DHCP) and tells names (DNS).

use super::network::{LiveHost, LiveRole};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use espbench_model::time::Instant;
use espbench_proto::node::app::HostDirectory;
use espbench_proto::wire::dns::DnsQuestion;

/// Name of the router, for its address.
pub const ROUTER_NAME: &str = "router";

/// Domain that names may have behind them.
pub const DOMAIN: &str = "lab";

/// Mask of the network: 10.0.0.0/16.
pub(super) const MASK: [u8; 4] = [255, 255, 0, 0];

/// An address that a host has got from the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveLease {
    /// Number of the host.
    pub host: usize,
    /// When it got the address, for the first time or again.
    pub at: Instant,
}

/// The hosts, and when each got its address last: the router's two servers share them.
#[derive(Clone, Debug)]
pub(super) struct LabDirectory {
    hosts: Arc<Vec<LiveHost>>,
    /// In nanoseconds; 0: never.
    leased: Arc<Vec<AtomicU64>>,
}

impl LabDirectory {
    pub(super) fn new(hosts: &[LiveHost]) -> Self {
        let leased = hosts.iter().map(|_| AtomicU64::new(0)).collect();
        Self { hosts: Arc::new(hosts.to_vec()), leased: Arc::new(leased) }
    }

    /// Takes the leases that were given since the last call, in virtual time.
    pub(super) fn take(&self) -> impl Iterator<Item = LiveLease> + '_ {
        self.leased.iter().enumerate().filter_map(|(host, it)| {
            let at = it.swap(0, Ordering::Relaxed);
            (at > 0).then(|| LiveLease { host, at: Instant::from_nanos(at) })
        })
    }

    /// Returns the host with a hardware address; the PC for one that no device has.
    fn client(&self, hardware: [u8; 6]) -> Option<usize> {
        let device = self.hosts.iter().position(|it| it.hardware == Some(hardware));
        device.or_else(|| self.hosts.iter().position(|it| it.role == LiveRole::Pc))
    }
}

impl HostDirectory for LabDirectory {
    fn address_of(&self, question: &DnsQuestion<'_>) -> Option<[u8; 4]> {
        let is_meant = |it: &&LiveHost| {
            question.is_for(&it.name) || question.is_for(&alloc::format!("{}.{DOMAIN}", it.name))
        };
        self.hosts.iter().find(is_meant).map(|it| it.address)
    }

    fn name_of(&self, address: [u8; 4]) -> Option<&str> {
        self.hosts.iter().find(|it| it.address == address).map(|it| it.name.as_str())
    }

    fn address_for(&self, hardware: [u8; 6]) -> [u8; 4] {
        self.client(hardware).map_or([0; 4], |it| self.hosts[it].address)
    }

    fn leased(&mut self, now: Instant, hardware: [u8; 6], _: [u8; 4]) {
        if let Some(it) = self.client(hardware).and_then(|it| self.leased.get(it)) {
            it.store(now.as_nanos().max(1), Ordering::Relaxed);
        }
    }
}
