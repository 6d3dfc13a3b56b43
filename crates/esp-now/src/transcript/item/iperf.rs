//! Lines of `espnow_iperf` (`cmd_iperf.c`; reference, section 7.4).
//!
//! The figures are given as printed; the [session](super::super::session) corrects them.

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;
use espbench_ieee80211::mac::Mac;

/// Role of a device in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IperfRole {
    /// Initiator, `-c`: it sends.
    Initiator,
    /// Responder, `-s`: it receives.
    Responder,
}

/// A line of `espnow_iperf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IperfLine<'a> {
    /// `initiator <MAC> send to <MAC>`
    Initiator {
        /// Address of the device itself.
        own: Mac,
        /// Address of the responder.
        peer: Mac,
    },
    /// `espnow channel: %d`
    Channel(u8),
    /// `time: %d, interval: %d, len: %d`
    Settings {
        /// Duration in seconds.
        time: u32,
        /// Seconds between two lines.
        interval: u32,
        /// Length of the payload in bytes, with the eight bytes of iperf's own header.
        len: i64,
    },
    /// `responder <MAC> listening`
    Responder(Mac),
    /// `ESP-NOW window size: 230 bytes`. A fixed text, whatever the real limit is.
    Window(u32),
    /// Head of the table of periodic lines.
    Heading(IperfRole),
    /// `[<MAC>]  %2d-%2d sec  %2.2f MBytes   %0.2f Hz  %0.2f Mbps`
    Sent(IntervalLine, MessageRate),
    /// `[<MAC>]  %2d-%2d sec  %2.2f MBytes  %0.2f Mbps  %d dbm`
    Received(IntervalLine, i16),
    /// `initiator Report:`
    Report,
    /// `[ ID] Interval … Datagrams`: the head of a final report.
    FinalHeading(IperfRole),
    /// `[000] …`: the final report.
    Final(Final),
    /// W `<%s> Receive responder response failed`: no answer to STOP, so no final report.
    NoAnswer(&'a str),
    /// `%d bytes from <MAC>: seq=%d rssi=%d time=%d ms`
    Reply {
        /// Length of the payload, in bytes.
        bytes: u32,
        /// Address of the device that answered.
        from: Mac,
        /// Number of the ping.
        seq: u32,
        /// Signal strength of the answer, in dBm.
        rssi: i16,
        /// Round-trip time, cut to whole milliseconds.
        ms: u32,
    },
    /// W `seq=%d Destination Host Unreachable`
    Unreachable(u32),
    /// W `data_size: %d, send_seq: %d, recv_seq: %d`: an answer to an earlier ping.
    Stale {
        /// Length of the payload, in bytes.
        bytes: u32,
        /// Number of the ping that waits.
        waiting: u32,
        /// Number of the ping that was answered.
        answered: u32,
    },
    /// `initiator ping report:`
    PingReport,
    /// `ping statistics for <MAC>`
    PingOf(Mac),
    /// `%d packets transmitted, …`
    Statistics(Statistics),
    /// W `ESPNOW iperf is running`
    Running,
    /// W `Should specific initiator/responder mode`
    NoRole,
    /// W `Send iperf recv queue failed`: the test's queue of ten is full.
    QueueFull,
    /// D `edges: seq=%u, low=%llu us, high=%llu us`: when the pin of `-G` fell and rose. Only the node of
    /// this crate prints it.
    Edges {
        /// Number of the ping.
        seq: u32,
        /// Time at which the pin fell, in microseconds since the start.
        low_us: u64,
        /// Time at which it rose; it does not where no answer came.
        high_us: Option<u64>,
    },
}

/// Begin and end of both kinds of periodic line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalLine {
    /// Address of the other end.
    pub peer: Mac,
    /// Begin, in seconds since the start of the test.
    pub from: i32,
    /// End, in seconds since the start of the test.
    pub to: i32,
    /// Payload bytes; printed in steps of 10,000.
    pub bytes: i64,
    /// Bits per second; printed in steps of 10,000.
    pub bits_per_second: i64,
}

/// Messages in a thousand seconds (printed as Hz in steps of a hundredth).
pub type MessageRate = i64;

/// A final report, as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Final {
    /// Role of the device that printed it.
    pub role: IperfRole,
    /// Begin, in seconds since the start of the test.
    pub from: i32,
    /// End, in seconds since the start of the test.
    pub to: i32,
    /// Payload bytes of all messages **sent**, at both ends; in steps of 10,000.
    pub bytes: i64,
    /// Bytes sent over the time, in bits per second; in steps of 10,000.
    pub bits_per_second: Option<i64>,
    /// Mean spacing in nanoseconds, the time divided by the messages; printed as "Jitter".
    pub spacing_ns: Option<i64>,
    /// Messages lost, one too many at both ends.
    pub lost: i64,
    /// Messages sent; one too many at the responder, which counts STOP.
    pub total: i64,
    /// Quotient of the two, in hundredths of a per cent.
    pub loss: Option<i64>,
    /// Signal strength and channel, at the initiator only.
    pub heard: Option<(i16, u8)>,
}

/// The last line of a ping report, as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Number of pings sent.
    pub transmitted: u32,
    /// Number of answers in time.
    pub received: u32,
    /// Loss in hundredths of a per cent.
    pub loss: Option<i64>,
    /// Sum of the round-trip times, each cut to whole milliseconds.
    pub total_ms: i64,
    /// Longest round-trip time, in milliseconds.
    pub max_ms: i64,
    /// Shortest round-trip time, in milliseconds; `None` where the line says -1, for no answer.
    pub min_ms: Option<u32>,
    /// Mean round-trip time in nanoseconds, printed to a hundredth of a millisecond; `None` for
    /// `nan`, no answer.
    pub average_ns: Option<i64>,
}

/// Decimal places between the printed unit (MBytes, Mbps, ms) and the unit here (bytes, bit/s, ns).
const MEGA: u32 = 6;

pub(super) fn read<'a>(line: &ConsoleLine<'a>) -> Option<IperfLine<'a>> {
    fixed(line.text)
        .or_else(|| ping(line.text))
        .or_else(|| start(line.text))
        .or_else(|| periodic(line.text))
        .or_else(|| report(line.text).map(IperfLine::Final))
        .or_else(|| no_answer(line.text))
}

fn fixed(text: &str) -> Option<IperfLine<'static>> {
    let is = |wanted: &str| {
        let mut s = LineCursor::new(text);
        s.lit(wanted).is_some() && s.end().is_some()
    };
    Some(match text.as_bytes().first()? {
        b'i' if is("initiator Report:") => IperfLine::Report,
        b'i' if is("initiator ping report:") => IperfLine::PingReport,
        b'E' if is("ESPNOW iperf is running") => IperfLine::Running,
        b'S' if is("Should specific initiator/responder mode") => IperfLine::NoRole,
        b'S' if is("Send iperf recv queue failed") => IperfLine::QueueFull,
        b'[' if is("[ Responder MAC ] Interval Transfer Frame_rate Bandwidth") => {
            IperfLine::Heading(IperfRole::Initiator)
        }
        b'[' if is("[ Initiator MAC ] Interval Transfer Bandwidth RSSI") => {
            IperfLine::Heading(IperfRole::Responder)
        }
        b'[' if is(
            "[ ID] Interval Transfer Bandwidth Jitter Lost/Total Datagrams RSSI Channel",
        ) =>
        {
            IperfLine::FinalHeading(IperfRole::Initiator)
        }
        b'[' if is("[ ID] Interval Transfer Bandwidth Jitter Lost/Total Datagrams") => {
            IperfLine::FinalHeading(IperfRole::Responder)
        }
        _ => return None,
    })
}

fn start(text: &str) -> Option<IperfLine<'static>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("initiator ") {
        let own = s.mac()?;
        s.lit(" send to ")?;
        IperfLine::Initiator { own, peer: s.mac()? }
    } else if s.maybe("responder ") {
        let own = s.mac()?;
        s.lit(" listening")?;
        IperfLine::Responder(own)
    } else if s.maybe("espnow channel: ") {
        IperfLine::Channel(s.int()?)
    } else if s.maybe("time: ") {
        let time = s.int()?;
        s.lit(", interval: ")?;
        let interval = s.int()?;
        s.lit(", len: ")?;
        IperfLine::Settings { time, interval, len: s.int()? }
    } else {
        s.lit("ESP-NOW window size: ")?;
        let bytes = s.int()?;
        s.lit(" bytes")?;
        IperfLine::Window(bytes)
    };
    s.end()?;
    Some(found)
}

fn ping(text: &str) -> Option<IperfLine<'static>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("seq=") {
        let seq = s.int()?;
        s.lit(" Destination Host Unreachable")?;
        IperfLine::Unreachable(seq)
    } else if s.maybe("data_size: ") {
        let bytes = s.int()?;
        s.lit(", send_seq: ")?;
        let waiting = s.int()?;
        s.lit(", recv_seq: ")?;
        IperfLine::Stale { bytes, waiting, answered: s.int()? }
    } else if s.maybe("edges: seq=") {
        let seq = s.int()?;
        s.lit(", low=")?;
        let low_us = s.int()?;
        s.lit(" us")?;
        let high_us = if s.maybe(", high=") {
            let high = s.int()?;
            s.lit(" us")?;
            Some(high)
        } else {
            None
        };
        IperfLine::Edges { seq, low_us, high_us }
    } else if s.maybe("ping statistics for ") {
        IperfLine::PingOf(s.mac()?)
    } else {
        let count = s.int()?;
        if s.maybe(" packets transmitted, ") {
            return statistics(count, s).map(IperfLine::Statistics);
        }
        s.lit(" bytes from ")?;
        let from = s.mac()?;
        s.lit(": seq=")?;
        let seq = s.int()?;
        s.lit(" rssi=")?;
        let rssi = s.int()?;
        s.lit(" time=")?;
        let ms = s.int()?;
        s.lit(" ms")?;
        IperfLine::Reply { bytes: count, from, seq, rssi, ms }
    };
    s.end()?;
    Some(found)
}

fn statistics(transmitted: u32, mut s: LineCursor<'_>) -> Option<Statistics> {
    let received = s.int()?;
    s.lit(" received, ")?;
    let loss = s.decimal_or_nan(2)?;
    s.lit("% packet loss, time: total ")?;
    let total_ms = s.int()?;
    s.lit(" ms, max: ")?;
    let max_ms = s.int()?;
    s.lit(", min: ")?;
    let min: i64 = s.int()?;
    s.lit(", average ")?;
    let average_ns = s.decimal_or_nan(MEGA)?;
    s.lit(" ms")?;
    s.end()?;
    let min_ms = u32::try_from(min).ok();
    Some(Statistics { transmitted, received, loss, total_ms, max_ms, min_ms, average_ns })
}

/// Parses `%2d-%2d sec %2.2f MBytes`.
fn span(s: &mut LineCursor<'_>) -> Option<(i32, i32, i64)> {
    let from = s.int()?;
    s.lit("-")?;
    let to = s.int()?;
    s.lit(" sec ")?;
    let bytes = s.decimal(MEGA)?;
    s.lit(" MBytes ")?;
    Some((from, to, bytes))
}

fn periodic(text: &str) -> Option<IperfLine<'static>> {
    let mut s = LineCursor::new(text);
    s.lit("[")?;
    let peer = s.mac()?;
    s.lit("] ")?;
    let (from, to, bytes) = span(&mut s)?;
    let figure = s.decimal(MEGA)?;
    let found = if s.maybe(" Hz ") {
        let bits_per_second = s.decimal(MEGA)?;
        s.lit(" Mbps")?;
        IperfLine::Sent(IntervalLine { peer, from, to, bytes, bits_per_second }, figure / 1000)
    } else {
        s.lit(" Mbps ")?;
        let rssi = s.int()?;
        s.lit(" dbm")?;
        IperfLine::Received(IntervalLine { peer, from, to, bytes, bits_per_second: figure }, rssi)
    };
    s.end()?;
    Some(found)
}

fn report(text: &str) -> Option<Final> {
    let mut s = LineCursor::new(text);
    s.lit("[000] ")?;
    let (from, to, bytes) = span(&mut s)?;
    let bits_per_second = s.decimal_or_nan(MEGA)?;
    s.lit(" Mbps ")?;
    let spacing_ns = s.decimal_or_nan(MEGA)?;
    s.lit(" ms ")?;
    let lost = s.int()?;
    s.lit("/")?;
    let total = s.int()?;
    s.lit(" (")?;
    let loss = s.decimal_or_nan(2)?;
    s.lit("%)")?;
    let heard = if s.end().is_some() {
        None
    } else {
        let rssi = s.int()?;
        s.lit(" ")?;
        let channel = s.int()?;
        s.end()?;
        Some((rssi, channel))
    };
    let role = if heard.is_some() { IperfRole::Initiator } else { IperfRole::Responder };
    Some(Final { role, from, to, bytes, bits_per_second, spacing_ns, lost, total, loss, heard })
}

fn no_answer(text: &str) -> Option<IperfLine<'_>> {
    let mut s = LineCursor::new(text);
    s.until("<")?;
    let name = s.until(">")?;
    s.lit(" Receive responder response failed")?;
    Some(IperfLine::NoAnswer(name))
}
