//! iperf 2 in both roles and over both transports, as four programs have it.
//!
//! What each does, from its source:
//!
//! | [`Style`] | UDP client | TCP client | server |
//! |---|---|---|---|
//! | [`Pc`](Style::Pc) | numbers of 64 bits, times, client header; a last datagram with a negative number, repeated until the report comes | client header, then writes of `length` | answers UDP with the report; ends a flow on its last datagram or at the stream's end |
//! | [`EspIdf`](Style::EspIdf) | numbers of 32 bits from 0, else zeros; a number is used up by a refused send, and the next follows at once; no last datagram | blocking writes of `length` | counts; ends after 10 s of silence |
//! | [`EspIdfV4`](Style::EspIdfV4) | the same from 1; a refused one is tried again after 1, 2, 4 … 64 ticks | the same | the same |
//! | [`EspConn`](Style::EspConn) | zeros, one after the other without a pause; what is refused is lost | Nagle off; `length` bytes, and the next once all of them are acknowledged | counts |
//!
//! Sources: iperf 2.1.8; `examples/common_components/iperf/iperf.c` of ESP-IDF v5.0
//! (`socket_send`: "ENOMEM is expected under heavy load") and `examples/wifi/iperf` of v4.2
//! (`IPERF_MAX_DELAY`); `user/user_main.c` of pansila/ESP8266-Iperf-Test (`user_udp_send`,
//! `user_tcp_sent_cb`, `ESPCONN_NODELAY`).

mod client;
mod server;

pub use client::IperfClient;
pub use server::IperfServer;

use crate::node::iperf::Limit;
use crate::sample::Link;
use crate::time::Duration;
use crate::workload::{Iperf, Transport};

/// Whose program it is. See the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// iperf 2 on a PC.
    #[default]
    Pc,
    /// ESP-IDF's example since v5.0.
    EspIdf,
    /// ESP-IDF's example up to v4.2.
    EspIdfV4,
    /// ESP8266-Iperf-Test over espconn, of the ESP8266's RTOS SDK.
    EspConn,
}

/// A test, as either end is told it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IperfSetup {
    /// Whose program it is.
    pub style: Style,
    /// UDP or TCP.
    pub transport: Transport,
    /// The stream named in the samples; a server numbers further ones from here.
    pub link: Link,
    /// Bytes of a datagram or of a write; of a read, on a server.
    pub length: u32,
    /// Offered bits of payload a second; `None` is as fast as it goes.
    pub rate: Option<u64>,
    /// When the client stops. ESP-IDF's knows the time only.
    pub limit: Limit,
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// Nagle's algorithm off (`-N`); `EspConn` always has it off.
    pub no_delay: bool,
    /// FreeRTOS ticks a second, for `EspIdfV4`'s waits.
    pub tick_hz: u32,
    /// A server ends after so many streams; 0: never.
    pub streams: u16,
}

impl IperfSetup {
    /// What a cell asks of a program of that style. Where the cell names no length (0), the
    /// program's own is taken.
    #[must_use]
    pub fn of(work: &Iperf, style: Style) -> Self {
        let length = if work.length == 0 { style.length(work.transport) } else { work.length };
        Self {
            style,
            transport: work.transport,
            link: Link(0),
            length,
            rate: work.bandwidth,
            limit: work.bytes.map_or(Limit::Time(work.time), Limit::Bytes),
            interval: work.interval,
            no_delay: work.no_delay,
            tick_hz: 100,
            streams: work.parallel.max(1),
        }
    }
}

impl Style {
    /// Bytes of a client's datagram or write where nothing else is said.
    #[must_use]
    pub const fn length(self, transport: Transport) -> u32 {
        match (self, transport) {
            (Self::Pc, Transport::Udp) => crate::wire::iperf2::UDP_LENGTH,
            (Self::Pc, Transport::Tcp) => crate::wire::iperf2::TCP_LENGTH,
            // `IPERF_UDP_TX_LEN`, `IPERF_TCP_TX_LEN`.
            (Self::EspIdf | Self::EspIdfV4, Transport::Udp) => 1472,
            (Self::EspIdf | Self::EspIdfV4, Transport::Tcp) => 16 << 10,
            // `buf` of user_main.c.
            (Self::EspConn, Transport::Udp) => 1460,
            (Self::EspConn, Transport::Tcp) => 2 * 1440,
        }
    }
}
