//! The header in which each end describes the test to the other.

use super::Limit;
use crate::wire::iperf2::{ClientHeader, Extension, Stamp, Start, UDP_RATE, flags, upper};
use espbench_model::time::Duration;
use espbench_model::workload::{Direction, Iperf, Transport};

/// The version that the header names: what iperf 2 servers decide by.
const VERSION: (u32, u32) = (0x0002_0001, 0x0008_0003);
/// A rate that no UDP sender reaches: an iperf 2 server that sends takes 0 for its default of
/// 1 Mbit/s.
const UNLIMITED: u64 = 100_000_000_000;

/// Longest time that a server sends for.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Returns the header of each stream of a test. `port` is where `-r` and `-d` are awaited, and
/// otherwise the server's. `now` is the time of day: with `--trip-times`, when the stream began.
#[must_use]
pub fn client_header(work: &Iperf, port: u16, now: Stamp) -> ClientHeader {
    let udp = work.transport == Transport::Udp;
    let mut bits = if udp { flags::SEQNO_64 } else { 0 };
    let mut wants = 0;
    match work.direction {
        Direction::Forward => {}
        Direction::Reverse => (bits, wants) = (bits | flags::VERSION2, upper::REVERSE),
        Direction::FullDuplex => {
            // Both ends send data: there is no room for a report.
            let quiet = if udp { upper::NO_UDP_FIN } else { 0 };
            (bits, wants) = (bits | flags::VERSION2, upper::FULL_DUPLEX | quiet);
        }
        Direction::Tradeoff => bits |= flags::VERSION1,
        Direction::Dual => bits |= flags::VERSION1 | flags::RUN_NOW,
    }
    if work.trip_times {
        wants |= upper::TRIP_TIMES;
    }
    if udp && wants != 0 {
        bits |= flags::UDP_TESTS;
    }
    ClientHeader {
        flags: bits,
        threads: u32::from(work.parallel),
        port: u32::from(port),
        length: work.length,
        window: 0,
        amount: work.bytes.map_or(Limit::Time(work.time), Limit::Bytes).amount(),
        extension: Some(Extension {
            upper: wants,
            version: VERSION,
            tos: u16::from(work.tos),
            rate: work.bandwidth.unwrap_or(if udp { UNLIMITED } else { 0 }),
            ..Extension::default()
        }),
        start: work.trip_times.then_some(Start { at: now, fq_rate: 0 }),
    }
}

/// Returns when a server stops that a header asks to send: after a day at most, since a client may have gone.
#[must_use]
pub fn asked_limit(header: &ClientHeader) -> Limit {
    match Limit::of(header.amount) {
        Limit::Time(time) => Limit::Time(time.min(LONGEST)),
        bytes @ Limit::Bytes(_) => bytes,
    }
}

/// Returns the bits a second that a header asks a server to send; `None` is as fast as it goes.
#[must_use]
pub fn asked_rate(header: &ClientHeader, transport: Transport) -> Option<u64> {
    let usual = (transport == Transport::Udp).then_some(UDP_RATE);
    header.extension.map(|it| it.rate).filter(|rate| *rate > 0).or(usual)
}

/// Returns the header of a server that sends to a client with trip times: it says when its stream
/// began.
#[must_use]
pub fn server_header(asked: &ClientHeader, udp: bool, now: Stamp) -> ClientHeader {
    ClientHeader {
        flags: if udp { flags::SEQNO_64 | flags::UDP_TESTS } else { 0 },
        threads: 1,
        extension: Some(Extension {
            upper: upper::TRIP_TIMES,
            version: VERSION,
            rate: asked.extension.map_or(0, |e| e.rate),
            ..Extension::default()
        }),
        start: Some(Start { at: now, fq_rate: 0 }),
        ..*asked
    }
}
