//! iperf 2 in both roles and over both transports, as four programs have it.
//!
//! | module | contents |
//! |---|---|
//! | `client`, `server` | the programs: each chooses by style and transport among the modules below |
//! | `pc_udp`, `esp_udp` | a client over UDP, on a PC and on an ESP |
//! | `tcp_client`, `tcp_server`, `udp_server` | the other ends, of every style |
//! | `send_back` | streams that a server sends where a client's header asks for them |
//!
//! The behaviour of each style, from its source:
//!
//! | [`IperfStyle`] | UDP client | TCP client | server |
//! |---|---|---|---|
//! | [`Pc`](IperfStyle::Pc) | numbers of 64 bits, times, client header; a last datagram with a negative number, repeated until the report comes | client header, then writes of `length` | answers UDP with the report; ends a flow on its last datagram or at the stream's end |
//! | [`EspIdf`](IperfStyle::EspIdf) | numbers of 32 bits from 0, else zeros; a number is used up by a refused send, and the next follows at once, or with an offered rate after its period; no last datagram | blocking writes of `length` | counts; ends after 10 s of silence |
//! | [`EspIdfV4`](IperfStyle::EspIdfV4) | the same from 1; a refused one is tried again after 1, 2, 4 … 64 ticks | the same | the same |
//! | [`EspConn`](IperfStyle::EspConn) | zeros, one after the other without a pause; what is refused is lost | Nagle off; `length` bytes, and the next once all of them are acknowledged | counts |
//!
//! In one thing [`EspIdf`](IperfStyle::EspIdf) is not as its source. There a refusal sets the delay of an
//! offered rate to zero (`delay_us = 0`), so that a client without memory calls `sendto` thousands of times a second,
//! and each call uses up a number. Here it waits for its period: what is refused is a part of what was offered.
//!
//! Sources: iperf 2.1.8; `examples/common_components/iperf/iperf.c` of ESP-IDF v5.0
//! (`socket_send`: "ENOMEM is expected under heavy load") and `examples/wifi/iperf` of v4.2
//! (`IPERF_MAX_DELAY`); `user/user_main.c` of pansila/ESP8266-Iperf-Test (`user_udp_send`,
//! `user_tcp_sent_cb`, `ESPCONN_NODELAY`).

mod client;
mod esp_udp;
mod pc_udp;
mod send_back;
mod server;
mod tcp_client;
mod tcp_server;
mod udp_server;

pub use client::IperfClient;
pub use server::IperfServer;

use crate::node::iperf::Limit;
use espbench_model::sample::Link;
use espbench_model::time::Instant;
use espbench_model::workload::{Iperf, Transport};

/// Whose program it is. See the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IperfStyle {
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
    pub style: IperfStyle,
    /// The test. A client is one stream of it; a server ends after `parallel` of them. Its direction
    /// is the order of the two programs, and not looked at.
    pub work: Iperf,
    /// The stream named in the samples; a server numbers further ones from here.
    pub link: Link,
    /// FreeRTOS ticks a second, for the waits of [`IperfStyle::EspIdfV4`].
    pub tick_hz: u32,
}

impl IperfSetup {
    /// Returns the setup of a program of that style for a cell. Where the cell names no length (0),
    /// the program's own is taken.
    #[must_use]
    pub fn of(work: &Iperf, style: IperfStyle) -> Self {
        let length = if work.length == 0 { style.length(work.transport) } else { work.length };
        Self { style, work: Iperf { length, ..*work }, link: Link(0), tick_hz: 100 }
    }

    /// Returns when the client stops.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.work.bytes.map_or(Limit::Time(self.work.time), Limit::Bytes)
    }

    /// Returns the end of `vTaskDelay(ticks)`: it comes with a tick, not so long after the call.
    fn ticks_after(&self, now: Instant, ticks: u64) -> Instant {
        let tick = 1_000_000_000 / u64::from(self.tick_hz.max(1));
        Instant::from_nanos((now.as_nanos() / tick + ticks) * tick)
    }
}

impl IperfStyle {
    /// Returns the bytes of a client's datagram or write where nothing else is said.
    #[must_use]
    pub const fn length(self, transport: Transport) -> u32 {
        match (self, transport) {
            (Self::Pc, Transport::Udp) => crate::wire::iperf2::UDP_LENGTH,
            (Self::Pc, Transport::Tcp) => Iperf::TCP_LENGTH,
            // `IPERF_UDP_TX_LEN`, `IPERF_TCP_TX_LEN`.
            (Self::EspIdf | Self::EspIdfV4, Transport::Udp) => 1472,
            (Self::EspIdf | Self::EspIdfV4, Transport::Tcp) => 16 << 10,
            // `buf` of user_main.c.
            (Self::EspConn, Transport::Udp) => 1460,
            (Self::EspConn, Transport::Tcp) => 2 * 1440,
        }
    }
}
