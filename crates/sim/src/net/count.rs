//! The counters of a host, and the observable state of a connection.

use core::time::Duration;

/// Counters of packets at a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetCounters {
    /// IP packets handed to the driver.
    pub sent: u64,
    /// IP packets received.
    pub received: u64,
    /// Received packets that are invalid, or that no socket here takes.
    pub strange: u64,
    /// Sends of datagrams refused because the driver had no room (`ENOMEM`).
    pub no_memory: u64,
    /// Datagrams dropped because their socket's mailbox was full.
    pub udp_mailbox_full: u64,
    /// Fragments of IPv4 that were dropped: the stack puts none together, there was no room, or they did
    /// not fit the others of their packet.
    pub fragments_dropped: u64,
    /// Packets of which fragments had come and that were given up.
    pub unassembled: u64,
    /// TCP segments dropped because the full mailbox had refused one.
    pub tcp_mailbox_full: u64,
    /// TCP data segments that were retransmitted.
    pub retransmitted: u64,
    /// Retransmissions because of a timeout.
    pub timeouts: u64,
    /// Retransmissions because of a third duplicate acknowledgement.
    pub fast_retransmits: u64,
    /// TCP segments that came out of order.
    pub out_of_order: u64,
    /// Segments out of order that were dropped for lack of room.
    pub out_of_order_dropped: u64,
    /// TCP data segments received a second time.
    pub duplicates: u64,
    /// Acknowledgements sent without data.
    pub acks: u64,
    /// Times that TCP had a segment and the driver had no room.
    pub blocked: u64,
    /// Connections that were reset or given up.
    pub broken: u64,
    /// Writes to a connection that were cut short because the heap had run out (`ERR_MEM`).
    pub starved: u64,
}

/// The state of a connection at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// The congestion window in bytes.
    pub congestion_window: u32,
    /// The slow start threshold in bytes.
    pub threshold: u32,
    /// The peer's window in bytes.
    pub send_window: u32,
    /// The bytes sent and not acknowledged.
    pub in_flight: u32,
    /// The bytes handed over and not yet sent.
    pub unsent: u32,
    /// The bytes received and not yet read.
    pub receive_queue: u32,
    /// The window last announced to the peer, in bytes.
    pub receive_window: u32,
    /// The number of segments in the mailbox.
    pub mailbox: u32,
    /// The smoothed round-trip time; none before the first measurement.
    pub round_trip: Option<Duration>,
    /// The retransmission timeout.
    pub timeout: Duration,
}

/// The use of the heap, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapStats {
    /// The bytes in use.
    pub now: u32,
    /// The highest number of bytes in use.
    pub peak: u32,
    /// The bytes in use for received packets that have not been read.
    pub received: u32,
}
