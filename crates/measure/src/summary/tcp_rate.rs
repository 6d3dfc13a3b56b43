//! Result cells of the `tcp-rate` workload: the published procedure (smooth-mqtt-benchmark, tables 1
//! and 2).
//!
//! `message_rate` is one run, as the document lists them: send calls that took a whole message, over
//! the length of the run. The statistics over the runs are the document's; the mean has a Student t
//! interval, which assumes that runs are independent and near to normal.
//!
//! On a PC a completed send call says only that the kernel took the bytes. Where the system tells,
//! `message_rate_acked_avg` is the rate of what the peer had acknowledged at the end of each run.

use super::{Context, Place};
use crate::cell::{Cell, Estimate};
use crate::interval::{mean_t, stddev};
use crate::quantile::Sorted;
use crate::run::Recorded;
use crate::units::print_duration;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::sample::{Interval, Observer, Sample};
use espbench_proto::workload::TcpRate;

const UNIT: &str = "messages/s";

/// The result cells of one recorded cell.
#[must_use]
pub fn summarize(workload: &TcpRate, recorded: &Recorded, context: &Context<'_>) -> Vec<Cell> {
    let place = Place {
        table: "tcp-rate",
        transport: "tcp",
        payload_bytes: Some(workload.size),
        devices: 1,
        variant: Some(variant(workload)),
    };
    let cell = |metric: &str, estimate| context.cell(&place, metric, UNIT, estimate);
    let rates = rates(recorded, Observer::Sender);
    let mut cells: Vec<Cell> = rates
        .iter()
        .zip(1..)
        .map(|(&rate, run): (&f64, u32)| Cell {
            note: Some(format!("run {run}")),
            ..cell("message_rate", Estimate::exact(rate, 1))
        })
        .collect();
    let taken = "send calls that the kernel took; what the peer saw may lag";
    cells.extend(over_runs(&rates).map(|(metric, estimate)| Cell {
        note: (metric == MEAN).then(|| taken.into()),
        ..cell(metric, estimate)
    }));
    let acked = self::rates(recorded, Observer::Peer);
    if !acked.is_empty() {
        cells.push(Cell {
            note: Some("acknowledged by the peer at the end of each run".into()),
            ..cell("message_rate_acked_avg", mean_t(&acked))
        });
    }
    cells
}

const MEAN: &str = "message_rate_avg";

/// The document's statistics over runs.
pub(crate) fn over_runs(rates: &[f64]) -> [(&'static str, Estimate); 4] {
    let sorted = Sorted::new(rates.to_vec());
    let spread = Estimate { value: stddev(rates), n: rates.len() as u64, ..Estimate::default() };
    [
        ("message_rate_min", sorted.min()),
        ("message_rate_max", sorted.max()),
        (MEAN, mean_t(rates)),
        ("message_rate_stddev", spread),
    ]
}

/// Messages a second of each run, in order.
fn rates(recorded: &Recorded, observer: Observer) -> Vec<f64> {
    let runs = recorded.samples.iter().filter_map(|sample| match sample {
        Sample::Interval(i) if !i.total && i.observer == observer => Some(i),
        _ => None,
    });
    runs.filter_map(rate).collect()
}

/// Messages a second; `None` where there was no time.
pub(super) fn rate(interval: &Interval) -> Option<f64> {
    let seconds = interval.end.since(interval.start).as_secs_f64();
    let messages = interval.datagrams? as f64;
    (seconds > 0.0).then(|| messages / seconds)
}

/// `Nagle off`, and the length of a run where it is not the document's second.
fn variant(workload: &TcpRate) -> String {
    let nagle = if workload.no_delay { "Nagle off" } else { "Nagle on" };
    if workload.run_time == Duration::from_secs(1) {
        return nagle.to_string();
    }
    format!("{nagle}, runs of {}", print_duration(workload.run_time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Origin;
    use crate::run::Site;
    use alloc::collections::BTreeMap;
    use espbench_proto::time::Instant;
    use espbench_proto::workload::Workload;

    /// Table 1 of the document, runs 3 to 12, gives table 2: its deviation, 674, is that with n - 1.
    #[test]
    fn the_documents_runs_give_its_statistics() {
        let runs = [3166, 4087, 3837, 4066, 4230, 2920, 4654, 3418, 4982, 4642];
        let samples = (0..).zip(runs).map(|(seq, messages)| {
            let at = |n| Instant::from_nanos(n * 1_000_000_000);
            Sample::Interval(Interval {
                seq,
                start: at(seq),
                end: at(seq + 1),
                datagrams: Some(messages),
                ..Interval::default()
            })
        });
        let workload = TcpRate {
            size: 16,
            runs: 10,
            discard: 2,
            run_time: Duration::from_secs(1),
            no_delay: false,
        };
        let recorded = Recorded {
            ordinal: 0,
            repetition: 0,
            workload: Workload::TcpRate(workload),
            samples: samples.collect(),
            counters: BTreeMap::new(),
            facts: BTreeMap::new(),
            error: None,
        };
        let context = Context { site: &Site::default(), origin: Origin::Measured, seed: 1 };
        let cells = summarize(&workload, &recorded, &context);
        let value = |metric| cells.iter().find(|c| c.id.metric == metric).and_then(|c| c.value);
        assert_eq!(value("message_rate_min"), Some(2920.0));
        assert_eq!(value("message_rate_max"), Some(4982.0));
        assert!((value("message_rate_avg").unwrap() - 4000.2).abs() < 0.01);
        assert!((value("message_rate_stddev").unwrap() - 674.0).abs() < 1.0, "{cells:?}");
        assert_eq!(cells.iter().filter(|c| c.id.metric == "message_rate").count(), 10);
        assert_eq!(cells[9].note.as_deref(), Some("run 10"));
        assert_eq!(value("message_rate_acked_avg"), None);
    }
}
