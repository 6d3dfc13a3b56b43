//! What a host's TCP/IP is like: lwIP on an ESP, or a PC's.

use core::time::Duration;
use espbench_proto::sdkconfig::SdkConfig;

/// When a received segment is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// lwIP: every second segment that carries data, whatever its length, and what is left at the
    /// next tick (`tcp_ack`, `tcp_fasttmr`; lwIP `tcp_priv.h`, `tcp.c`).
    EverySecond,
    /// Linux: the first segments at once, then when more than a full segment waits, or after a
    /// while (`__tcp_ack_snd_check`, `tcp_enter_quickack_mode`; `net/ipv4/tcp_input.c`).
    Quick {
        /// That many at once, in the beginning and after a pause (`TCP_MAX_QUICKACKS`).
        first: u16,
        /// The longest that one is held back (`TCP_DELACK_MIN`).
        delay: Duration,
    },
}

/// What a host's TCP timers are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timers {
    /// lwIP: ticks. The fast timer runs every tick, the slow one every second tick, and
    /// retransmission counts slow ticks (`tcp_tmr`, `tcp_slowtmr`).
    Ticks {
        /// `TCP_TMR_INTERVAL`.
        tick: Duration,
    },
    /// Timers that expire when they are due (RFC 6298, with a floor below its second).
    Exact {
        /// The least retransmission timeout beyond the round trip (`TCP_RTO_MIN`).
        least: Duration,
    },
}

/// Who limits a sender before the receiver's window does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// lwIP's: Reno with appropriate byte counting (RFC 5681, RFC 3465; `tcp_receive`).
    Reno,
    /// Linux's: CUBIC (RFC 9438), with `NewReno`'s recovery (RFC 6582).
    Cubic,
}

/// What things cost in heap, bytes. Where it is zero nobody counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapCosts {
    /// A queued segment or datagram beyond its payload: structures, headers, the allocator's own.
    pub packet: u32,
    /// A received packet beyond its bytes: structures, and what the driver's buffer has beside the
    /// packet in it. Until it is read it keeps that buffer.
    pub held: u32,
    /// A socket with its mailbox.
    pub socket: u32,
    /// A connection.
    pub connection: u32,
}

impl HeapCosts {
    /// What received packets take that have so many bytes in all; nothing where nobody counts.
    pub(super) const fn received(&self, packets: u32, bytes: u32) -> u32 {
        if self.held == 0 { 0 } else { packets * self.held + bytes }
    }

    /// Estimated from the fields of lwIP's structures on a 32-bit machine (`pbuf.h`, `tcp_priv.h`,
    /// `api.h`, `tcp.h`), with 4 bytes of the allocator for each block. Confidence: within a third.
    const fn esp(mailbox: u16) -> Self {
        Self {
            // pbuf 16, headers of TCP, IP and Ethernet 54, tcp_seg 16, two blocks.
            packet: 96,
            // pbuf of the driver's buffer 28, one block.
            held: 32,
            // netconn, its protocol's block, and a FreeRTOS queue with a pointer for each entry.
            socket: 180 + 4 * mailbox as u32,
            connection: 204,
        }
    }
}

/// A host's TCP/IP: limits, and how it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The longest segment, bytes of payload.
    pub mss: u16,
    /// The receive window, bytes.
    pub tcp_window: u32,
    /// Bytes that a connection keeps until they are acknowledged.
    pub tcp_send_buffer: u32,
    /// Segments that a connection keeps until then (`TCP_SND_QUEUELEN`).
    pub tcp_send_segments: u16,
    /// Received segments that wait for a connection's reader; 0: as many as the window has.
    pub tcp_mailbox: u16,
    /// Segments out of order that a connection keeps (`TCP_OOSEQ_MAX_PBUFS`); 0: no limit.
    pub tcp_out_of_order: u16,
    /// How much the window must have grown to be told at once (`TCP_WND_UPDATE_THRESHOLD`), bytes.
    pub tcp_window_update: u32,
    /// Connections that wait to be accepted, for each listener.
    pub backlog: u16,
    /// Connections in all, those that end included.
    pub connections: u16,
    /// Datagrams that wait for a socket's reader; 0: limited by [`Stack::udp_buffer`] alone.
    pub udp_mailbox: u16,
    /// Bytes of datagrams that wait for a socket's reader; 0: limited by the mailbox alone.
    pub udp_buffer: u32,
    /// Sockets of all programs together.
    pub sockets: u16,
    /// When segments are acknowledged.
    pub acks: Acks,
    /// Whether a new connection has Nagle's algorithm.
    pub nagle: bool,
    /// Whether its programs can connect to each other: what it sends to its own address comes back.
    pub loopback: bool,
    /// Who limits a sender before the window does.
    pub congestion: Congestion,
    /// Congestion window of a new connection, segments of full length.
    pub first_window: u8,
    /// The first retransmission timeout.
    pub first_timeout: Duration,
    /// How its timers run.
    pub timers: Timers,
    /// Retransmissions of one segment before a connection is given up.
    pub retries: u8,
    /// Retransmissions of a SYN.
    pub syn_retries: u8,
    /// How long an ended connection is remembered (`TIME-WAIT`).
    pub time_wait: Duration,
    /// How long the peer's end is waited for after a socket was closed (`FIN-WAIT-2`).
    pub fin_wait: Duration,
    /// Whether a segment that the driver had no room for goes out as soon as there is some. lwIP
    /// tries again with the next acknowledgement, write or slow tick.
    pub sends_on_room: bool,
    /// What things cost in heap.
    pub heap: HeapCosts,
}

impl Stack {
    /// lwIP as ESP-IDF v5 has it, with these settings.
    #[must_use]
    pub fn esp(sdkconfig: &SdkConfig) -> Self {
        let mss = sdkconfig.tcp_mss.max(1);
        let send = sdkconfig.tcp_send_buffer.max(1);
        Self {
            mss,
            tcp_window: sdkconfig.tcp_window.max(1),
            tcp_send_buffer: send,
            // opt.h: (4 * TCP_SND_BUF + TCP_MSS - 1) / TCP_MSS; ESP-IDF's lwipopts.h leaves it.
            tcp_send_segments: (4 * u64::from(send)).div_ceil(u64::from(mss)).min(0xFFFF) as u16,
            tcp_mailbox: sdkconfig.tcp_mailbox.max(1),
            // CONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS.
            tcp_out_of_order: 4,
            // opt.h: LWIP_MIN(TCP_WND / 4, TCP_MSS * 4).
            tcp_window_update: (sdkconfig.tcp_window / 4).min(4 * u32::from(mss)),
            // DEFAULT_ACCEPTMBOX_SIZE.
            backlog: 6,
            // CONFIG_LWIP_MAX_ACTIVE_TCP.
            connections: 16,
            udp_mailbox: sdkconfig.udp_mailbox.max(1),
            udp_buffer: 0,
            sockets: sdkconfig.sockets,
            acks: Acks::EverySecond,
            nagle: true,
            // `LWIP_NETIF_LOOPBACK` is not there: no program here needs it.
            loopback: false,
            congestion: Congestion::Reno,
            // LWIP_TCP_CALC_INITIAL_CWND is in bytes: see `tcp::control`.
            first_window: 0,
            // CONFIG_LWIP_TCP_RTO_TIME.
            first_timeout: Duration::from_millis(1500),
            // CONFIG_LWIP_TCP_TMR_INTERVAL.
            timers: Timers::Ticks { tick: Duration::from_millis(250) },
            // CONFIG_LWIP_TCP_MAXRTX, CONFIG_LWIP_TCP_SYNMAXRTX.
            retries: 12,
            syn_retries: 12,
            // 2 * CONFIG_LWIP_TCP_MSL.
            time_wait: Duration::from_secs(120),
            // CONFIG_LWIP_TCP_FIN_WAIT_TIMEOUT.
            fin_wait: Duration::from_secs(20),
            sends_on_room: false,
            heap: HeapCosts::esp(sdkconfig.udp_mailbox),
        }
    }

    /// Whether it scales windows (RFC 7323 section 2): where its own does not fit the field.
    pub(super) const fn scales(&self) -> bool {
        self.tcp_window > 0xFFFF
    }

    /// A PC with Linux.
    #[must_use]
    pub const fn pc() -> Self {
        Self {
            mss: 1460,
            tcp_window: 65_535,
            tcp_send_buffer: 262_144,
            tcp_send_segments: u16::MAX,
            tcp_mailbox: 0,
            tcp_out_of_order: 0,
            tcp_window_update: 2 * 1460,
            backlog: 4096,
            connections: 4096,
            udp_mailbox: 0,
            // net.core.rmem_default.
            udp_buffer: 212_992,
            sockets: 1024,
            // TCP_MAX_QUICKACKS, TCP_DELACK_MIN.
            acks: Acks::Quick { first: 16, delay: Duration::from_millis(40) },
            nagle: true,
            loopback: true,
            congestion: Congestion::Cubic,
            // TCP_INIT_CWND (RFC 6928).
            first_window: 10,
            // TCP_TIMEOUT_INIT.
            first_timeout: Duration::from_secs(1),
            // TCP_RTO_MIN.
            timers: Timers::Exact { least: Duration::from_millis(200) },
            // net.ipv4.tcp_retries2, tcp_syn_retries.
            retries: 15,
            syn_retries: 6,
            // TCP_TIMEWAIT_LEN.
            time_wait: Duration::from_secs(60),
            // net.ipv4.tcp_fin_timeout.
            fin_wait: Duration::from_secs(60),
            sends_on_room: true,
            heap: HeapCosts { packet: 0, held: 0, socket: 0, connection: 0 },
        }
    }
}
