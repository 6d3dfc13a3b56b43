//! IP hosts in virtual time: `smoltcp` with the limits of lwIP on an ESP's side and a PC's on the
//! other.
//!
//! ```text
//! programs ─ Api (proto::node::app::Sockets) ─▶ Host ─ Lower::send ─▶ driver, air
//!                                                 ◀─ Host::receive ─
//! ```
//!
//! A [`Host`] has one static IPv4 address and any number of programs. It answers pings, refuses
//! connections that nobody listens for and tells senders of datagrams that a port is closed.
//! There is no DHCP, ARP, DNS or fragmentation: addresses are static, and a datagram fits a packet.
//!
//! **Who drives it**: [`Host::receive`] takes a packet, [`Host::poll`] goes on when the time of
//! [`Host::wait`] has come or the driver has room again, and [`Host::api`] gives a program its
//! sockets. All three send through a [`Lower`] at once: what it takes is the driver's.
mod api;
mod count;
mod device;
mod host;
mod lower;
mod stack;
mod tcp;
mod udp;

pub use api::Api;
pub use count::{Counters, Flow, Heap};
pub use host::{Host, Program};
pub use lower::{Around, Lower};
pub use stack::{Acks, Congestion, HeapCosts, Stack, Timers};

#[cfg(test)]
mod tests;
