//! What a host counts, and what can be seen of a connection.

use core::time::Duration;

/// What became of packets at a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// IP packets handed to the driver.
    pub sent: u64,
    /// IP packets received.
    pub received: u64,
    /// Received packets that are none, or for nobody here.
    pub strange: u64,
    /// Sends of datagrams refused because the driver had no room (`ENOMEM`).
    pub no_memory: u64,
    /// Datagrams dropped because their socket's mailbox was full.
    pub udp_mailbox_full: u64,
    /// TCP segments dropped because the mailbox had been full and one had been refused.
    pub tcp_mailbox_full: u64,
    /// TCP segments of data that had been sent before.
    pub retransmitted: u64,
    /// Timeouts among the reasons for that.
    pub timeouts: u64,
    /// Third duplicate acknowledgements among them.
    pub fast_retransmits: u64,
    /// TCP segments that came out of order.
    pub out_of_order: u64,
    /// Those among them that there was no place for.
    pub out_of_order_dropped: u64,
    /// TCP segments of data received a second time.
    pub duplicates: u64,
    /// Acknowledgements sent without data.
    pub acks: u64,
    /// Times that TCP had a segment and the driver no room.
    pub blocked: u64,
    /// Connections that were reset or given up.
    pub broken: u64,
    /// Writes to a connection of which less was taken because the heap had run out (`ERR_MEM`).
    pub starved: u64,
}

/// How a connection is at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Congestion window, bytes.
    pub congestion_window: u32,
    /// Slow start's threshold, bytes.
    pub threshold: u32,
    /// The peer's window, bytes.
    pub send_window: u32,
    /// Bytes sent and not acknowledged.
    pub in_flight: u32,
    /// Bytes handed over and not yet sent.
    pub unsent: u32,
    /// Bytes received and not yet read.
    pub receive_queue: u32,
    /// The window that the peer was last told, bytes.
    pub receive_window: u32,
    /// Segments in the mailbox.
    pub mailbox: u32,
    /// Smoothed round trip; none before the first.
    pub round_trip: Option<Duration>,
    /// Retransmission timeout.
    pub timeout: Duration,
}

/// Bytes of heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// In use.
    pub now: u32,
    /// The most that was.
    pub peak: u32,
    /// Of what is in use: received packets that their readers have not taken.
    pub received: u32,
}
