//! An MQTT broker that needs no set-up: MQTT 3.1, 3.1.1 and 5 on one port, QoS 0 to 2, anyone may
//! connect.
//!
//! | module | contents |
//! |---|---|
//! | [`broker`] | the protocol, without I/O |
//! | `serve` | sockets and time for it: one thread, and readiness |
//!
//! The broker has retained messages, wills (with delay in version 5), wildcards, shared subscriptions (in
//! all versions, as mosquitto), sessions that outlive their connections, take-over, topic aliases from
//! clients, expiry of messages and sessions. It has no users and no TLS, stores nothing on disk, and
//! forgets all when it ends.
//!
//! # Limits, and what is dropped
//!
//! The broker's memory has limits in bytes ([`BrokerLimits`]). All that is dropped is counted by cause
//! ([`BrokerCounter`]).
//! - A message for a client whose queue is full is dropped: QoS 0 messages that wait, the oldest first,
//!   where the new one is of QoS 1 or 2; otherwise the new one. A queue holds what waits for a client
//!   that is slow or, at QoS 1 and 2, away.
//! - Before that, a publisher of QoS 1 or 2 messages waits (nothing is read from it) while a connected
//!   subscriber's queue is more than half full, for up to 2 s. Then nobody waits for that subscriber until
//!   its queue is down to a quarter.
//! - A retained message that does not fit is passed on and not retained, nor is its predecessor.
//! - Where there are too many sessions, the one whose client has been away longest is given up.
//! - Connections, subscriptions and packets beyond the limits are refused.

pub mod broker;
mod serve;

use super::{Service, ServiceLog};
use broker::limits::BrokerCounter;
pub use broker::limits::BrokerLimits;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The port by default (IANA).
pub const PORT: u16 = 1883;

/// Counts of a running broker.
#[derive(Clone, Debug)]
pub struct SharedCounts(Arc<[AtomicU64; BrokerCounter::ALL.len()]>);

impl SharedCounts {
    fn new() -> Self {
        Self(Arc::new([const { AtomicU64::new(0) }; BrokerCounter::ALL.len()]))
    }

    /// Returns a count.
    #[must_use]
    pub fn get(&self, what: BrokerCounter) -> u64 {
        self.0[what as usize].load(Ordering::Relaxed)
    }

    fn set(&self, what: BrokerCounter, to: u64) {
        self.0[what as usize].store(to, Ordering::Relaxed);
    }
}

/// Name of the service.
const NAME: &str = "MQTT broker";

/// Starts the broker on `address`, with the default limits.
///
/// # Errors
/// The system's, from bind.
pub fn start(address: SocketAddr, log: &ServiceLog) -> io::Result<Service> {
    start_with(address, BrokerLimits::default(), log).map(|(service, _)| service)
}

/// Starts the broker on `address`.
///
/// # Errors
/// The system's, from bind.
pub fn start_with(
    address: SocketAddr,
    limits: BrokerLimits,
    log: &ServiceLog,
) -> io::Result<(Service, SharedCounts)> {
    let listener = serve::ListenSocket::bind(address)?;
    let bound = listener.address()?;
    let (stop, tally) = (Arc::new(AtomicBool::new(false)), SharedCounts::new());
    let (stopped, counts) = (Arc::clone(&stop), tally.clone());
    let log = super::named(NAME, bound.port(), log);
    let thread = std::thread::Builder::new()
        .name("mqtt-broker".into())
        .spawn(move || serve::run(listener, limits, &stopped, &log, &counts))?;
    Ok((Service::new(NAME, bound, stop, vec![thread]), tally))
}
