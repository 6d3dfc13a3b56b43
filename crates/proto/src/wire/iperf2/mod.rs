//! iperf 2 on the wire, as version 2.1.8 speaks it; older versions where they differ.
//!
//! | module | contents |
//! |---|---|
//! | `ack` | the TCP server's answer to an extended client header |
//! | `bounce` | requests and replies of `--bounceback` (`bounceback_hdr` of `payloads.h`) |
//! | `burst` | the head of each write of a TCP stream with `--trip-times` |
//! | [`console`] | lines that ESP-IDF's `iperf` example prints |
//! | `client` | the client's request to the server, in the first bytes of a TCP stream and in every UDP datagram |
//! | `datagram` | the header of every UDP datagram: its number and when it was sent |
//! | `iperf3` | how to tell an iperf3 peer, which shares the name and nothing of the protocol |
//! | `report` | the UDP server's closing report |
//! | [`tos`] | names of the type of service, as `-S` of iperf 2.1.8 takes them (`dscp.c`) |
//!
//! All fields are big-endian. Facts are from iperf 2.1.8 (`include/payloads.h`, `Settings.cpp`,
//! `Listener.cpp`, `Client.cpp`) and were checked against captures of Debian's package.
//!
//! ```text
//! UDP, client to server:   Datagram (16) | ClientHeader (24, +36 extension, …) | pattern
//! UDP, server to client:   Datagram (16) | ServerReport (40, +60, +12)   after the last datagram
//! TCP, client to server:   ClientHeader (24, +36 extension, …) | pattern …
//!          with trip times: ClientHeader (80) | [Burst (92) | pattern] …
//!          bounce back:     [Bounce (60) | payload] …, and the same back
//! TCP, server to client:   Ack (28 or 52), where the client's header has an extension
//! ```
//!
//! With trip times (`--trip-times`) a server that sends (`-R`, `--full-duplex`) writes a client header
//! too, over TCP first and over UDP in every datagram: it says when the stream began.
//!
//! ESP-IDF's `iperf` speaks less: a datagram of it carries its number in the first four bytes and
//! zeros behind (no time, no header), it has no last datagram with a negative number, and as a
//! server it sends no report and no ack (`iperf.c` of the `espressif/iperf` component).

mod ack;
mod bounce;
mod burst;
mod client;
pub mod console;
mod datagram;
mod iperf3;
mod report;
pub mod tos;

pub use ack::{AckTimes, HeaderAck};
pub use bounce::{BOUNCE_HEADER, BOUNCE_LENGTH, BOUNCE_SMALLEST, Bounce, bounce_flags};
pub use burst::{BURST_HEADER, Burst};
pub use client::{Amount, Carrier, ClientHeader, Extension, Start, TestMode};
pub use datagram::{Datagram, Stamp, Width};
pub use iperf3::{Iperf3, client_greeting, server_greeting};
pub use report::ServerReport;

/// The port of iperf 2, UDP and TCP. (iperf3 uses 5201.)
pub const PORT: u16 = 5001;
/// Bytes of the datagram header: number, time, high half of the number.
pub const DATAGRAM_HEADER: usize = 16;
/// Bytes of the client header's oldest part.
pub const CLIENT_HEADER_V1: usize = 24;
/// Bytes of the client header with its extension, as 2.1.8 sends it.
pub const CLIENT_HEADER: usize = 60;
/// Bytes of the client header of a TCP stream with trip times.
pub const CLIENT_HEADER_START: usize = 80;
/// The shortest datagram that carries the whole client header with trip times.
pub const TRIP_TIMES_LENGTH: u32 = 128;
/// The shortest datagram with trip times: it carries a mark instead of the client header.
pub const TRIP_TIMES_SMALLEST: u32 = 18;
/// The longest client header that iperf 2 accepts.
pub const CLIENT_HEADER_MAX: usize = 256;
/// Bytes of the server's closing report with its datagram header, as 2.1.8 sends it.
pub const REPORT: usize = DATAGRAM_HEADER + 112;
/// Length of a UDP datagram where none is given: fills an Ethernet frame over IPv4.
pub const UDP_LENGTH: u32 = 1470;
/// Length of a UDP datagram where none is given: fills an Ethernet frame over IPv6.
pub const UDP_LENGTH_V6: u32 = 1450;
/// Offered rate of UDP where none is given, bits a second (2^20, as iperf 2 has it).
pub const UDP_RATE: u64 = 1024 * 1024;

/// Bits of the first word of a client header or a server report.
pub mod flags {
    /// Version 1 fields are valid: a request for a `-d` or `-r` test (client), or a report.
    pub const VERSION1: u32 = 0x8000_0000;
    /// The extension follows.
    pub const EXTEND: u32 = 0x4000_0000;
    /// The extension's upper flags matter for UDP.
    pub const UDP_TESTS: u32 = 0x2000_0000;
    /// A permit key follows the header.
    pub const KEY_CHECK: u32 = 0x1000_0000;
    /// Datagram numbers are 64 bits wide; a report's counts too.
    pub const SEQNO_64: u32 = 0x0800_0000;
    /// The extension asks for a reverse or full duplex test.
    pub const VERSION2: u32 = 0x0400_0000;
    /// The client waits for a [`HeaderAck`](super::HeaderAck).
    pub const PEER_DETECT: u32 = 0x0200_0000;
    /// A request and response test, which is another protocol.
    pub const BOUNCEBACK: u32 = 0x0080_0000;
    /// Trip times of datagrams too short for a client header; their first time is the start.
    pub const SMALL_TRIP_TIMES: u32 = 0x0002_0000;
    /// The header's length is in bits 1 to 8.
    pub const LENGTH: u32 = 0x0001_0000;
    /// Where that length is.
    pub const LENGTH_MASK: u32 = 0x0000_01FE;
    /// `-d`: the server's sender starts at once; without it (`-r`) after the client's end.
    pub const RUN_NOW: u32 = 0x0000_0001;
}

/// Bits of the extension's upper flags.
pub mod upper {
    /// `--isochronous`: frames at a steady rate.
    pub const ISOCHRONOUS: u16 = 0x0001;
    /// `--l2checks`: the server is to look at whole frames.
    pub const L2_LENGTH: u16 = 0x0004;
    /// The sender awaits no report.
    pub const NO_UDP_FIN: u16 = 0x0008;
    /// One-way times can be computed: the clocks agree.
    pub const TRIP_TIMES: u16 = 0x0010;
    /// `--fq-rate`: the sender's socket is paced.
    pub const FQ_RATE: u16 = 0x0200;
    /// `-R`.
    pub const REVERSE: u16 = 0x0400;
    /// `--full-duplex`.
    pub const FULL_DUPLEX: u16 = 0x0800;
    /// `--txstart-time`: the header's time is when sending begins.
    pub const EPOCH_START: u16 = 0x1000;
    /// `--burst-period`: bursts at a steady rate.
    pub const PERIODIC_BURST: u16 = 0x2000;
}

/// The bytes are not what they were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedHeader;

/// Returns the big-endian word at `at`; `None` where the bytes end before.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([field[0], field[1], field[2], field[3]]))
}

/// Returns the big-endian half word at `at`; `None` where the bytes end before.
pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([field[0], field[1]]))
}

/// Writes words one after another, as far as the buffer goes: datagrams shorter than their headers
/// carry as much of them as fits, as iperf 2 does it.
pub(crate) fn put_words(out: &mut [u8], words: &[u32]) {
    for (slot, value) in out.chunks_exact_mut(4).zip(words) {
        slot.copy_from_slice(&value.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_2_1_8() {
        assert_eq!((UDP_RATE, REPORT), (1_048_576, 128));
        assert_eq!((UDP_LENGTH, UDP_LENGTH_V6), (1470, 1450));
    }

    #[test]
    fn words_are_big_endian_and_end_with_the_buffer() {
        let bytes = [0, 1, 2, 3, 4, 5];
        assert_eq!(
            (word(&bytes, 1), word(&bytes, 2), word(&bytes, 3)),
            (Some(0x0102_0304), Some(0x0203_0405), None)
        );
        assert_eq!(
            (half(&bytes, 3), half(&bytes, 4), half(&bytes, 5)),
            (Some(0x0304), Some(0x0405), None)
        );
        let mut out = [0xEE; 6];
        put_words(&mut out, &[0x0A0B_0C0D, 1]);
        assert_eq!(out, [10, 11, 12, 13, 0xEE, 0xEE]);
    }
}
