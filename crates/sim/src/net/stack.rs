//! The limits and choices of a host's TCP/IP stack: lwIP on an ESP, or Linux on a PC.

use core::time::Duration;
use espbench_model::sdkconfig::SdkConfig;

/// The rule by which received segments are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// lwIP: every second segment that carries data, whatever its length, and the rest at the next
    /// tick (`tcp_ack`, `tcp_fasttmr`; lwIP `tcp_priv.h`, `tcp.c`).
    EverySecond,
    /// Linux: the first segments at once, later ones when more than a full segment waits, or after
    /// a delay (`__tcp_ack_snd_check`, `tcp_enter_quickack_mode`; `net/ipv4/tcp_input.c`).
    Quick {
        /// The number acknowledged at once, in the beginning and after a pause
        /// (`TCP_MAX_QUICKACKS`).
        first: u16,
        /// The longest delay of an acknowledgement (`TCP_DELACK_MIN`).
        delay: Duration,
        /// The time for which a network adapter holds an interrupt back: segments that come meanwhile are joined
        /// (generic receive offload) and acknowledged as one.
        together: Duration,
    },
}

/// The kind of a host's TCP timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpTimers {
    /// lwIP: ticks. The fast timer runs every tick, the slow one every second tick, and
    /// retransmission counts slow ticks (`tcp_tmr`, `tcp_slowtmr`).
    Ticks {
        /// The tick, `TCP_TMR_INTERVAL`.
        tick: Duration,
    },
    /// Timers that expire when they are due (RFC 6298, with a lower limit below its second).
    Exact {
        /// The least retransmission timeout beyond the round trip (`TCP_RTO_MIN`).
        least: Duration,
    },
}

/// The congestion control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionAlgorithm {
    /// lwIP: Reno with appropriate byte counting (RFC 5681, RFC 3465; `tcp_receive`).
    Reno,
    /// Linux: CUBIC (RFC 9438), with `NewReno`'s recovery (RFC 6582).
    Cubic,
}

/// The costs in heap, in bytes; zero where the heap is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapCosts {
    /// The cost of a queued segment or datagram beyond its payload: structures, headers, the
    /// allocator.
    pub packet: u32,
    /// The cost of a received packet beyond its bytes: structures, and the rest of the driver's
    /// buffer, which is kept until the packet is read.
    pub held: u32,
    /// The cost of a socket with its mailbox.
    pub socket: u32,
    /// The cost of a connection.
    pub connection: u32,
}

impl HeapCosts {
    /// Returns the cost of received packets with that many bytes in all.
    pub(super) const fn received(&self, packets: u32, bytes: u32) -> u32 {
        if self.held == 0 { 0 } else { packets * self.held + bytes }
    }

    /// Returns estimates from the fields of lwIP's structures on a 32-bit machine (`pbuf.h`,
    /// `tcp_priv.h`, `api.h`, `tcp.h`), with 4 bytes of the allocator for each block. Confidence:
    /// within a third.
    const fn esp(mailbox: u16) -> Self {
        Self {
            // The sum of pbuf 16, headers of TCP, IP and Ethernet 54, tcp_seg 16, and two blocks.
            packet: 96,
            // The sum of the pbuf of the driver's buffer 28, and one block.
            held: 32,
            // A netconn, its protocol's block, and a FreeRTOS queue with a pointer for each entry.
            socket: 180 + 4 * mailbox as u32,
            connection: 204,
        }
    }
}

/// The limits and choices of a host's TCP/IP stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The maximum segment size in bytes of payload.
    pub mss: u16,
    /// The receive window in bytes.
    pub tcp_window: u32,
    /// The bytes that a connection keeps until they are acknowledged.
    pub tcp_send_buffer: u32,
    /// The segments that a connection keeps until they are acknowledged (`TCP_SND_QUEUELEN`).
    pub tcp_send_segments: u16,
    /// The received segments that wait for a connection's reader; 0: as many as the window holds.
    pub tcp_mailbox: u16,
    /// The segments out of order that a connection keeps (`TCP_OOSEQ_MAX_PBUFS`); 0: no limit.
    pub tcp_out_of_order: u16,
    /// The growth of the window that is announced at once (`TCP_WND_UPDATE_THRESHOLD`), in bytes.
    pub tcp_window_update: u32,
    /// Whether a call that reads goes on with what comes meanwhile, until its buffer is full or nothing is
    /// left, and opens the window only then (lwIP: `lwip_recv_tcp`, `netconn_tcp_recvd`).
    pub reads_on: bool,
    /// The connections that wait to be accepted, for each listener.
    pub backlog: u16,
    /// The limit on connections, including those that are closing.
    pub connections: u16,
    /// The datagrams that wait for a socket's reader; 0: limited by [`Stack::udp_buffer`] alone.
    pub udp_mailbox: u16,
    /// The bytes of datagrams that wait for a socket's reader; 0: limited by the mailbox alone.
    pub udp_buffer: u32,
    /// The fragments that wait for the others of their packets (`IP_REASS_MAX_PBUFS`); 0: none are put
    /// together, and each is dropped, as ESP-IDF does without `CONFIG_LWIP_IP4_REASSEMBLY`.
    pub reassembly: u16,
    /// The limit on the sockets of all programs together.
    pub sockets: u16,
    /// The rule by which received segments are acknowledged.
    pub acks: AckPolicy,
    /// Whether a new connection has Nagle's algorithm.
    pub nagle: bool,
    /// Whether the host's programs can connect to each other: packets to its own address come back.
    pub loopback: bool,
    /// The congestion control algorithm.
    pub congestion: CongestionAlgorithm,
    /// The initial congestion window, in full segments; 0 stands for RFC 3390.
    pub first_window: u8,
    /// The first retransmission timeout.
    pub first_timeout: Duration,
    /// The kind of timers.
    pub timers: TcpTimers,
    /// The retransmissions of one segment before a connection is given up.
    pub retries: u8,
    /// The retransmissions of a SYN.
    pub syn_retries: u8,
    /// The time in `TIME-WAIT`.
    pub time_wait: Duration,
    /// The time in `FIN-WAIT-2` after a socket was closed.
    pub fin_wait: Duration,
    /// Whether a segment that the driver had no room for goes out as soon as there is some. lwIP
    /// tries again with the next acknowledgement, write or slow tick.
    pub sends_on_room: bool,
    /// The costs in heap.
    pub heap: HeapCosts,
}

impl Stack {
    /// The fragments that wait at most where ESP-IDF puts them together (`CONFIG_LWIP_IP_REASS_MAX_PBUFS`).
    pub const REASSEMBLED: u16 = 10;

    /// Returns lwIP as in ESP-IDF v5, with these settings.
    #[must_use]
    pub fn esp(sdkconfig: &SdkConfig) -> Self {
        let mss = sdkconfig.tcp_mss.max(1);
        let send = sdkconfig.tcp_send_buffer.max(1);
        Self {
            mss,
            tcp_window: sdkconfig.tcp_window.max(1),
            tcp_send_buffer: send,
            // opt.h has (4 * TCP_SND_BUF + TCP_MSS - 1) / TCP_MSS; ESP-IDF's lwipopts.h keeps it.
            tcp_send_segments: (4 * u64::from(send)).div_ceil(u64::from(mss)).min(0xFFFF) as u16,
            tcp_mailbox: sdkconfig.tcp_mailbox.max(1),
            // CONFIG_LWIP_TCP_OOSEQ_MAX_PBUFS.
            tcp_out_of_order: 4,
            // opt.h: LWIP_MIN(TCP_WND / 4, TCP_MSS * 4).
            tcp_window_update: (sdkconfig.tcp_window / 4).min(4 * u32::from(mss)),
            reads_on: true,
            // DEFAULT_ACCEPTMBOX_SIZE.
            backlog: 6,
            // CONFIG_LWIP_MAX_ACTIVE_TCP.
            connections: 16,
            udp_mailbox: sdkconfig.udp_mailbox.max(1),
            udp_buffer: 0,
            // CONFIG_LWIP_IP4_REASSEMBLY is off.
            reassembly: 0,
            sockets: sdkconfig.sockets,
            acks: AckPolicy::EverySecond,
            nagle: true,
            // `LWIP_NETIF_LOOPBACK` is left out: no program here needs it.
            loopback: false,
            congestion: CongestionAlgorithm::Reno,
            // LWIP_TCP_CALC_INITIAL_CWND is in bytes: see `tcp::control`.
            first_window: 0,
            // CONFIG_LWIP_TCP_RTO_TIME.
            first_timeout: Duration::from_millis(1500),
            // CONFIG_LWIP_TCP_TMR_INTERVAL.
            timers: TcpTimers::Ticks { tick: Duration::from_millis(250) },
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

    /// Returns whether the host scales windows (RFC 7323 section 2), because its own does not fit
    /// the field.
    pub(super) const fn scales(&self) -> bool {
        self.tcp_window > 0xFFFF
    }

    /// Returns the scale of the host's windows, with which its own fits the field.
    pub(super) const fn window_shift(&self) -> u8 {
        (self.tcp_window.ilog2() + 1).saturating_sub(16) as u8
    }

    /// Returns a PC with Linux.
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
            reads_on: false,
            backlog: 4096,
            connections: 4096,
            udp_mailbox: 0,
            // net.core.rmem_default.
            udp_buffer: 212_992,
            // net.ipv4.ipfrag_high_thresh is 4 MiB.
            reassembly: 2048,
            sockets: 1024,
            // TCP_MAX_QUICKACKS, TCP_DELACK_MIN.
            acks: AckPolicy::Quick {
                first: 16,
                delay: Duration::from_millis(40),
                together: Duration::ZERO,
            },
            nagle: true,
            loopback: true,
            congestion: CongestionAlgorithm::Cubic,
            // TCP_INIT_CWND (RFC 6928).
            first_window: 10,
            // TCP_TIMEOUT_INIT.
            first_timeout: Duration::from_secs(1),
            // TCP_RTO_MIN.
            timers: TcpTimers::Exact { least: Duration::from_millis(200) },
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
