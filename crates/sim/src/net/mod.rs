//! IP hosts in virtual time, that behave as lwIP does on an ESP, or as Linux does on a PC.
//!
//! ```text
//! programs ─ Api (proto::node::app::Sockets) ─▶ Host ─ Lower::send ─▶ driver, air
//!                                                 ◀─ Host::receive ─
//! ```
//!
//! A [`IpHost`] has one static IPv4 address and any number of programs. It answers pings, refuses
//! connections to ports without a listener, and tells senders of datagrams that a port is closed.
//! There is no ARP: addresses are static. What is longer than a frame goes in fragments, and comes in fragments
//! where the stack puts them together.
//!
//! **Driving a host**: [`IpHost::receive`] takes a packet; [`IpHost::poll`] goes on when the time
//! of [`IpHost::wait`] has come (or, for a host that [`IpHost::waits_for_room`], when the driver
//! has room again); [`IpHost::api`] gives a program its sockets. All three send through a
//! [`NetDriver`] at once: a packet that it takes is the driver's. [`IpHost::changed`] tells which
//! program to ask again.
//!
//! **Division of work**: smoltcp has the formats of packets, the buffers of bytes, and answers pings
//! and what no socket takes. A TCP connection is `tcp`'s alone: its states, sequence numbers, windows
//! and timers are those of RFC 9293, decided as the host's [`Stack`] decides them.
//!
//! # As in lwIP, for [`Stack::esp`]
//!
//! - The send buffer has limits in bytes and in segments (`TCP_SND_BUF`, `TCP_SND_QUEUELEN`).
//!   Nagle's algorithm has lwIP's exceptions. Segments are whole: one that does not fit the window
//!   waits.
//! - A window opens when the program reads, and its edge moves by a segment at least. An update is
//!   sent at once when the window has grown by `TCP_WND_UPDATE_THRESHOLD`: with 5760 bytes, for
//!   each segment that is read. A part of a large window is always held back by that.
//! - Every second segment is acknowledged at once, a single one with the next tick of 250 ms. The
//!   seed chooses the moment at which a host's ticks begin.
//! - The mailbox of a connection takes segments; one more is refused and offered again with the
//!   next tick or segment, and until then segments with data are dropped. A mailbox of datagrams
//!   drops.
//! - Segments out of order are kept up to `TCP_OOSEQ_MAX_PBUFS`, and answered at once.
//! - Retransmission counts slow ticks of 500 ms, with Van Jacobson's estimate in whole ticks, and
//!   the first timeout, the back-off and the number of tries of ESP-IDF. After a timeout everything
//!   is sent again from the first unacknowledged byte, with slow start by single segments.
//! - Slow start and congestion avoidance count bytes (RFC 3465), the initial window is that of RFC
//!   3390, the third duplicate triggers fast retransmit, and any new acknowledgement ends recovery.
//! - A datagram that finds the driver without room fails with `ENOMEM`. A segment in that case
//!   waits for the next acknowledgement, write or slow tick.
//! - A closed window is probed with a byte, by lwIP's table. `TIME-WAIT` and `FIN-WAIT-2` last as
//!   in lwIP, and a connection in `TIME-WAIT` makes room for a new one. The backlog is lwIP's.
//!
//! # Not as in lwIP
//!
//! - A segment out of order that comes twice with another length may be kept twice or cut; kept
//!   segments are not discarded after `TCP_OOSEQ_TIMEOUT`; a FIN out of order is not kept.
//! - A segment that is dropped because the mailbox refuses it, or for lack of room out of order, is
//!   treated as if it had not come (in lwIP only the former is; lwIP reads the acknowledgement of
//!   the latter).
//! - A segment ends where the ring of the send buffer does, so that some are shorter than they need
//!   be. A copy of a SYN is ignored until its answer is repeated by the timer (lwIP and Linux repeat
//!   the answer at once).
//! - The SYN carries padding in place of a removed option. There is no keep-alive, urgent data, or
//!   simultaneous open. A fragment that overlaps another one is dropped.
//! - Heap is counted by estimated sizes of the structures of a 32-bit build; a pbuf that is longer
//!   than its data (`TCP_OVERSIZE`) is not counted.
//!
//! # A PC
//!
//! [`Stack::pc`] is Linux as a device sees it: CUBIC from ten segments on, `NewReno`'s recovery
//! (lwIP offers no selective acknowledgements), timeouts of 200 ms beyond the round trip, quick and
//! delayed acknowledgements. Left out: RACK, tail loss probes, timestamps, buffers that grow,
//! pacing, a reset for data that comes after a full close (it is taken and dropped, as lwIP does).
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `api` | the sockets of a program |
//! | `checksum` | checksums, for packets that leave the lab |
//! | `fragments` | packets in pieces |
//! | `host` | a host: its sockets, and the way of a packet to them |
//! | `lower` | the driver below a host, and the device around a program |
//! | `stack` | the limits and choices of a TCP/IP stack: lwIP's, Linux's |
//! | `tcp` | a TCP connection |
//! | `udp` | UDP sockets |
//! | `count` | counters, and the observable state of a connection |
//! | `device` | the device that smoltcp sees |
mod api;
mod checksum;
mod count;
mod device;
mod fragments;
mod host;
mod lower;
mod stack;
mod tcp;
mod udp;

pub use api::ProgramSockets;
pub use checksum::fill_checksums;
pub use count::{ConnectionInfo, HeapStats, NetCounters};
pub use fragments::REASSEMBLY_AGE;
pub use host::{EchoReply, IpHost, ProgramId};
pub use lower::{NetDriver, ProgramEnv};
pub use stack::{AckPolicy, CongestionAlgorithm, HeapCosts, Stack, TcpTimers};

#[cfg(test)]
mod tests;
