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
//! [`Host::wait`] has come (or, for a host that [`Host::waits_for_room`], when the driver has room
//! again), and [`Host::api`] gives a program its sockets. All three send through a [`Lower`] at
//! once: what it takes is the driver's. [`Host::changed`] says which program to ask again.
//!
//! **Whose is what**: smoltcp reads and writes packets, answers pings, and its TCP socket has the
//! states, the sequence numbers and the bytes in order. Its clock stands still: every decision that
//! shapes throughput or latency is made in `tcp`, and smoltcp is asked for one segment at a time.
//! What it cannot be told through its interface it is told by packets that its peer never sent
//! (`tcp::header::Made`), and windows are written over its own on their way out.
//!
//! # As in lwIP, where [`Stack::esp`] says so
//!
//! - The send buffer in bytes and in segments (`TCP_SND_BUF`, `TCP_SND_QUEUELEN`). Nagle with lwIP's
//!   exceptions. Segments are whole: one that does not fit the window waits.
//! - A window opens when the program reads, its edge moves by a segment at least, and is told at
//!   once when it has grown by `TCP_WND_UPDATE_THRESHOLD`: with 5760 bytes, for each segment that is
//!   read. Of large windows a part is always held back by that.
//! - Every second segment is acknowledged at once, one alone with the next tick of 250 ms. A host's
//!   ticks begin at a moment that its seed chooses.
//! - The mailbox of a connection takes segments; one more is refused and offered again with the next
//!   tick or segment, and until then segments with data are dropped. A mailbox of datagrams drops.
//! - Segments out of order are kept up to `TCP_OOSEQ_MAX_PBUFS`, and answered at once.
//! - Retransmission in slow ticks of 500 ms, Van Jacobson's estimate in whole ticks, the first
//!   timeout, the back-off and the number of tries of ESP-IDF; after a timeout everything is sent
//!   again from the first byte that is not acknowledged; slow start after it by single segments.
//! - Slow start and congestion avoidance by bytes (RFC 3465), the initial window of RFC 3390, fast
//!   retransmit with the third duplicate, recovery that any new acknowledgement ends.
//! - A datagram that finds the driver without room fails with `ENOMEM`. A segment that does waits
//!   for the next acknowledgement, write or slow tick.
//! - A closed window is probed with a byte, by lwIP's table. `TIME-WAIT` and `FIN-WAIT-2` last as
//!   there, and a connection that is only remembered makes place for a new one. The backlog.
//!
//! # Not as in lwIP
//!
//! - A segment out of order that comes twice in another length may be kept twice or cut; what was
//!   kept is not thrown away after `TCP_OOSEQ_TIMEOUT`.
//! - A segment that is dropped because the mailbox refuses, or for which there is no place out of
//!   order, is as if it had not come (so in lwIP for the former); lwIP hears the acknowledgement of
//!   the latter.
//! - The SYN carries padding where an option was taken out. No keep-alive, urgent data, simultaneous
//!   open, IP fragments.
//! - Heap is counted by sizes of structures of a 32-bit build, estimated; a pbuf that is longer than
//!   its data (`TCP_OVERSIZE`) is not.
//!
//! # A PC
//!
//! [`Stack::pc`] is what a device sees of Linux: CUBIC from ten segments on, `NewReno`'s recovery
//! (lwIP offers no selective acknowledgements), timeouts of 200 ms beyond the round trip, quick and
//! delayed acknowledgements. Not there: RACK, tail loss probes, timestamps, buffers that grow,
//! pacing, a reset for data that comes after a full close (it is taken and dropped, as lwIP does).
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
