//! The figures of a cell while it is measured, in a few words for one line of a terminal.

use espbench_measure::digits::three;
use espbench_measure::live::{Meter, StreamCounts};
use espbench_model::sample::Observer;

/// Returns percentiles, loss and rate so far, such as `p50 6.1 ms`, `lost 0.2 %`, `161/s`; nothing before
/// the first sample.
#[must_use]
pub fn figures(meter: &Meter) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(times) = meter.times() {
        parts.push(format!("p50 {} ms", three(times.p50)));
        parts.push(format!("p99 {} ms", three(times.p99)));
    }
    parts.extend(meter.loss().map(lost));
    parts.extend(meter.delivered_per_s().map(|rate| format!("{}/s", three(rate))));
    // Who receives knows what came through.
    let seen = [Observer::Receiver, Observer::Peer, Observer::Sender];
    if let Some(streams) = seen.iter().find_map(|it| Some((it, meter.streams.get(it)?))) {
        parts.extend(stream(*streams.0, streams.1));
    }
    parts
}

fn stream(observer: Observer, counts: &StreamCounts) -> Vec<String> {
    let word = if observer == Observer::Sender { "sent" } else { "received" };
    let moved = format!("{} MB", three(counts.bytes as f64 / 1e6));
    let mut parts = match counts.bits_per_s {
        Some(rate) => vec![format!("{word} {} Mbit/s", three(rate / 1e6)), moved],
        None => vec![format!("{word} {moved}")],
    };
    let datagrams = counts.datagrams + counts.lost;
    if observer != Observer::Sender && datagrams > 0 {
        parts.push(lost(counts.lost as f64 / datagrams as f64));
    }
    parts
}

fn lost(share: f64) -> String {
    format!("lost {} %", three(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_measure::plan::defaults;
    use espbench_model::sample::{Cause, Fate, Interval, Probe, Sample};
    use espbench_model::time::Instant;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn round_trips_have_percentiles_loss_and_rate() {
        let mut meter = Meter::new(&defaults("udp-echo").unwrap());
        assert!(figures(&meter).is_empty());
        for number in 0..9 {
            let (sent, received) = (Some(at(number * 10)), Some(at(number * 10 + 4)));
            meter.add(&Sample::Probe(Probe { sent, received, ..Probe::default() }));
        }
        let lost = Probe { fate: Fate::Lost(Cause::Unknown), ..Probe::default() };
        meter.add(&Sample::Probe(lost));
        assert_eq!(figures(&meter), ["p50 4 ms", "p99 4 ms", "lost 10 %", "100/s"]);
    }

    #[test]
    fn streams_have_rate_bytes_and_the_receivers_loss() {
        let mut meter = Meter::new(&defaults("iperf").unwrap());
        let mut add = |seq, observer, lost| {
            meter.add(&Sample::Interval(Interval {
                seq,
                observer,
                start: at(seq * 1000),
                end: at(seq * 1000 + 1000),
                bytes: 500_000,
                datagrams: Some(400),
                lost,
                ..Interval::default()
            }));
            figures(&meter)
        };
        assert_eq!(add(0, Observer::Sender, None), ["sent 0.5 MB"]);
        assert_eq!(add(1, Observer::Sender, None), ["sent 4 Mbit/s", "1 MB"]);
        assert_eq!(add(0, Observer::Receiver, Some(100)), ["received 0.5 MB", "lost 20 %"]);
    }
}
