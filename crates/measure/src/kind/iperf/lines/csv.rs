//! `-y C`: rows as iperf 2.1.8 writes them.

use alloc::format;
use alloc::string::String;
use espbench_model::sample::{Interval, Observer};

/// Facts about a stream that its rows repeat.
#[derive(Clone, Copy, Debug)]
pub struct CsvStream<'a> {
    /// Time of day of the interval's end: `20261122190625`, and with `-e` milliseconds behind it.
    pub time: &'a str,
    /// Address and port of the end that sends, then of the end that receives.
    pub ends: [(&'a str, u16); 2],
    /// Number of the stream or of the test.
    pub id: u32,
    /// Whether datagrams are counted.
    pub udp: bool,
}

/// Returns one row; `None` for a peer's report, for which iperf 2.1.8 prints no row. Start and end
/// count from the stream's beginning.
///
/// Fields: time, sender's address and port, receiver's address and port, number, start-end in
/// seconds, bytes, bits a second; of datagrams also jitter in ms, lost, all, percent lost, out of
/// order.
#[must_use]
pub fn row(row: &CsvStream<'_>, interval: &Interval) -> Option<String> {
    if interval.observer == Observer::Peer {
        return None;
    }
    let span = interval.end.since(interval.start).as_secs_f64();
    let rate = if span > 0.0 { interval.bytes as f64 * 8.0 / span } else { 0.0 };
    let [(from, from_port), (to, to_port)] = row.ends;
    let mut line = format!(
        "{},{from},{from_port},{to},{to_port},{},{:.1}-{:.1},{},{rate:.0}",
        row.time,
        row.id,
        interval.start.as_nanos() as f64 / 1e9,
        interval.end.as_nanos() as f64 / 1e9,
        interval.bytes,
        rate = libm::floor(rate),
    );
    if row.udp {
        let lost = interval.lost.unwrap_or_default();
        let all = interval.datagrams.unwrap_or_default() + lost;
        let percent = if all == 0 { 0.0 } else { 100.0 * lost as f64 / all as f64 };
        line += &format!(
            ",{:.3},{lost},{all},{percent:.3},{}",
            interval.jitter_ns.unwrap_or_default() as f64 / 1e6,
            interval.out_of_order.unwrap_or_default(),
        );
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::time::Instant;

    #[test]
    fn rows_as_iperf_2_writes_them() {
        let interval = Interval {
            end: Instant::from_nanos(500_000_000),
            bytes: 1_048_636,
            ..Interval::default()
        };
        let head = CsvStream {
            time: "20261122190625",
            ends: [("127.0.0.1", 59462), ("127.0.0.1", 7906)],
            id: 1,
            udp: false,
        };
        let tcp = row(&head, &interval);
        let expected = "20261122190625,127.0.0.1,59462,127.0.0.1,7906,1,0.0-0.5,1048636,16778176";
        assert_eq!(tcp.as_deref(), Some(expected));
        let udp = Interval {
            observer: Observer::Receiver,
            datagrams: Some(357),
            lost: Some(3),
            out_of_order: Some(1),
            jitter_ns: Some(4_000),
            ..interval
        };
        let udp = row(&CsvStream { udp: true, ..head }, &udp).unwrap();
        assert!(udp.ends_with(",16778176,0.004,3,360,0.833,1"), "{udp}");
        let peer = Interval { observer: Observer::Peer, ..interval };
        assert_eq!(row(&head, &peer), None);
    }
}
