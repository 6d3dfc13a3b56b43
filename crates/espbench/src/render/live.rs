//! The figures of a cell while it is measured, in a few words for one line of a terminal.

use espbench_measure::digits::three;
use espbench_measure::live::Meter;

/// Returns the figures so far, such as `p50 6.1 ms`, `lost 0.2 %`, `device receives 21 Mbit/s`: those that the
/// result has, too; nothing before the first sample.
#[must_use]
pub fn figures(meter: &Meter) -> Vec<String> {
    let words = |name: &str, value: f64, unit: &str| match name {
        "" => format!("{} {unit}", three(value)),
        name => format!("{name} {} {unit}", three(value)),
    };
    meter.figures().iter().map(|it| words(it.name, it.value, it.unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_measure::cell::Origin;
    use espbench_measure::plan::defaults;
    use espbench_model::sample::{Cause, Fate, Interval, Observer, Probe, Sample};
    use espbench_model::time::Instant;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn round_trips_have_percentiles_and_loss() {
        let mut meter = Meter::new(&defaults("udp-echo").unwrap(), Origin::Measured);
        assert!(figures(&meter).is_empty());
        for number in 0..8 {
            let (sent, received) = (Some(at(number * 10)), Some(at(number * 10 + 4)));
            meter.add(&Sample::Probe(Probe { sent, received, ..Probe::default() }));
        }
        for fate in [Fate::Lost(Cause::Unknown), Fate::Late] {
            meter.add(&Sample::Probe(Probe { fate, ..Probe::default() }));
        }
        // A late reply is not lost.
        assert_eq!(figures(&meter), ["p50 4 ms", "p99 4 ms", "lost 10 %"]);
    }

    #[test]
    fn streams_have_the_mean_of_whole_intervals_and_the_receivers_loss() {
        let mut meter = Meter::new(&defaults("iperf").unwrap(), Origin::Measured);
        let mut add = |seq, observer, bytes, lost| {
            meter.add(&Sample::Interval(Interval {
                seq,
                observer,
                start: at(seq * 1000),
                end: at(seq * 1000 + 1000),
                bytes,
                datagrams: Some(400),
                lost,
                ..Interval::default()
            }));
            figures(&meter)
        };
        assert_eq!(add(0, Observer::Sender, 500_000, None), ["this host sends 4 Mbit/s"]);
        assert_eq!(add(1, Observer::Sender, 250_000, None), ["this host sends 3 Mbit/s"]);
        assert_eq!(
            add(0, Observer::Peer, 250_000, Some(100)),
            ["device receives 2 Mbit/s", "lost 20 %"]
        );
    }

    #[test]
    fn what_is_not_measured_is_not_shown_as_0() {
        let Some(espbench_model::workload::Workload::MqttRate(mut work)) = defaults("mqtt-rate")
        else {
            unreachable!()
        };
        work.mode = espbench_model::workload::MqttMode::Listen;
        let work = espbench_model::workload::Workload::MqttRate(work);
        let mut meter = Meter::new(&work, Origin::Measured);
        for number in 0..3 {
            let due = at(number * 100);
            meter.add(&Sample::Probe(Probe { due, received: Some(due), ..Probe::default() }));
        }
        assert_eq!(figures(&meter), ["10 messages/s"]);
    }
}
