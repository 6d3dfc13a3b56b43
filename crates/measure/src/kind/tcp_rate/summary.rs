//! Result cells of the `tcp-rate` workload: the published procedure (smooth-mqtt-benchmark, tables 1
//! and 2).
//!
//! `message_rate` is one run, as the document lists them: messages that the peer's application took,
//! over the time until it had. The document counts send calls that took a whole message, on a device
//! whose send buffer is a few messages long; in the virtual lab that is what is counted. On a PC such
//! a call says only that the kernel took the bytes: `message_rate_sent_avg` is that figure, and
//! `in_flight_end` what of it the peer had not taken when a run was over. Where nothing tells what
//! the peer took, its rate is unknown.
//!
//! Of several devices a run has the messages of all; `message_rate_station` is the mean of one, and `fairness` Jain's
//! index of them.
//!
//! The statistics over the runs are the document's; the mean has a Student t interval, which assumes
//! that runs are independent and near to normal.

use super::KIND;
use crate::cell::{Cell, Origin, TestFacts};
use crate::kind::TestKind;
use crate::run::Recorded;
use crate::series::{ByLink, devices, message_rate};
use crate::summary::{CellColumns, IN_FLIGHT, IN_FLIGHT_END, SummaryContext};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use espbench_model::sample::{Observer, Sample};
use espbench_model::workload::TcpRate;
use espbench_stats::Estimate;
use espbench_stats::interval::{fairness, mean_t, stddev};
use espbench_stats::quantile::Sorted;

const UNIT: &str = "messages/s";

/// Returns the result cells of one recorded cell.
#[must_use]
pub(super) fn summarize(
    workload: &TcpRate,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let place = CellColumns {
        table: KIND,
        transport: "tcp",
        payload_bytes: Some(workload.size),
        devices: 1,
        settings: workload.settings().beyond_columns(),
    };
    let cell = |metric: &str, estimate| context.cell(&place, metric, UNIT, estimate);
    let simulated = context.origin == Origin::Simulated;
    let headline = if simulated { Observer::Sender } else { Observer::Peer };
    let rates = rates(recorded, headline);
    let mut cells: Vec<Cell> = rates
        .iter()
        .zip(1..)
        .map(|(&rate, run): (&f64, u32)| Cell {
            note: Some(format!("run {run}")),
            test: TestFacts { trial: Some(run), ..TestFacts::default() },
            ..cell("message_rate", Estimate::exact(rate, 1))
        })
        .collect();
    let said = match (simulated, rates.is_empty()) {
        (true, _) => "send calls that the kernel took; what the peer saw may lag",
        (false, true) if recorded.is_stopped() => "unknown: stopped before the first run was over",
        (false, true) => "unknown: nothing tells what the peer took",
        (false, false) => "messages that the peer took",
    };
    cells.extend(over_runs(&rates).map(|(metric, estimate)| Cell {
        note: (metric == MEAN).then(|| said.into()),
        ..cell(metric, estimate)
    }));
    let links = by_link(recorded, headline);
    let runs = rates.len().max(1) as f64;
    let mean = |it: &BTreeMap<u64, f64>| it.values().take(rates.len()).sum::<f64>() / runs;
    let mut stations: Vec<f64> = links.values().map(mean).collect();
    // A device that did not come through has sent nothing.
    stations.resize(stations.len().max(usize::from(devices(recorded))), 0.0);
    if stations.len() > 1 {
        let of = |value| Estimate { value, n: stations.len() as u64, ..Estimate::default() };
        let mean = Estimate { n: stations.len() as u64, ..mean_t(&stations) };
        cells.push(cell("message_rate_station", mean));
        cells.push(context.cell(&place, "fairness", "index", of(fairness(&stations))));
    }
    let (metric, others, note) = if simulated {
        (ACKED, Observer::Peer, "acknowledged by the peer at the end of each run")
    } else {
        (SENT, Observer::Sender, "what this host's kernel took; it may wait in buffers")
    };
    let others = self::rates(recorded, others);
    if !others.is_empty() {
        cells.push(Cell { note: Some(note.into()), ..cell(metric, mean_t(&others)) });
    }
    let in_flight = recorded.counters.get(IN_FLIGHT).filter(|_| !others.is_empty());
    if let (Some(&octets), false) = (in_flight, simulated) {
        let runs = others.len() as u64;
        let mean = Estimate::exact(octets as f64 / runs as f64, runs);
        cells.push(Cell {
            note: Some("written and not taken when a run was over, mean of the runs".into()),
            ..context.cell(&place, IN_FLIGHT_END, "B", mean)
        });
    }
    cells
}

const ACKED: &str = "message_rate_acked_avg";
const SENT: &str = "message_rate_sent_avg";
const MEAN: &str = "message_rate_avg";

/// Returns the document's statistics over runs.
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

/// Returns the messages per second of each run, in order: of several devices the sum, to which a device that did not do a
/// run adds nothing. What a stop cut is left out.
fn rates(recorded: &Recorded, observer: Observer) -> Vec<f64> {
    let links = by_link(recorded, observer);
    let runs: BTreeSet<u64> = links.values().flat_map(|it| it.keys().copied()).collect();
    let is_whole =
        |run: &u64| !recorded.is_stopped() || links.values().all(|it| it.contains_key(run));
    let sum = |run: u64| links.values().filter_map(|it| it.get(&run)).sum();
    runs.into_iter().filter(is_whole).map(sum).collect()
}

/// Returns the messages per second of each run by its number, by the device that sent them.
fn by_link(recorded: &Recorded, observer: Observer) -> ByLink<BTreeMap<u64, f64>> {
    let mut links = ByLink::<BTreeMap<u64, f64>>::default();
    for sample in &recorded.samples {
        let Sample::Interval(run) = sample else { continue };
        if let Some(rate) = message_rate(run).filter(|_| !run.total && run.observer == observer) {
            links.of(run.link).insert(run.seq, rate);
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Site;
    use alloc::collections::BTreeMap;
    use alloc::string::String;
    use alloc::vec;
    use core::time::Duration;
    use espbench_model::sample::{Interval, Link};
    use espbench_model::time::Instant;
    use espbench_model::workload::Workload;

    const WORK: TcpRate = TcpRate {
        size: 16,
        runs: 10,
        discard: 2,
        run_time: Duration::from_secs(1),
        no_delay: false,
    };

    fn second(observer: Observer, seq: u64, messages: u64) -> Sample {
        let at = |n| Instant::from_nanos(n * 1_000_000_000);
        Sample::Interval(Interval {
            seq,
            observer,
            start: at(seq),
            end: at(seq + 1),
            datagrams: Some(messages),
            ..Interval::default()
        })
    }

    fn cells(samples: Vec<Sample>, in_flight: Option<u64>, origin: Origin) -> Vec<Cell> {
        let counters = in_flight.map(|octets| (String::from(IN_FLIGHT), octets));
        let recorded = Recorded {
            ordinal: 0,
            repetition: 0,
            workload: Workload::TcpRate(WORK),
            samples,
            counters: counters.into_iter().collect(),
            facts: BTreeMap::new(),
            error: None,
        };
        summarize(&WORK, &recorded, &SummaryContext { site: &Site::default(), origin, seed: 1 })
    }

    fn value(cells: &[Cell], metric: &str) -> Option<f64> {
        cells.iter().find(|c| c.id.metric == metric).and_then(|c| c.value)
    }

    /// Table 1 of the document, runs 3 to 12, gives table 2: its deviation, 674, is that with n - 1.
    #[test]
    fn the_documents_runs_give_its_statistics() {
        let runs = [3166, 4087, 3837, 4066, 4230, 2920, 4654, 3418, 4982, 4642];
        for (observer, origin) in
            [(Observer::Peer, Origin::Measured), (Observer::Sender, Origin::Simulated)]
        {
            let samples = (0..).zip(runs).map(|(seq, n)| second(observer, seq, n)).collect();
            let cells = cells(samples, None, origin);
            let value = |metric| value(&cells, metric);
            assert_eq!(value("message_rate_min"), Some(2920.0));
            assert_eq!(value("message_rate_max"), Some(4982.0));
            assert!((value("message_rate_avg").unwrap() - 4000.2).abs() < 0.01);
            assert!((value("message_rate_stddev").unwrap() - 674.0).abs() < 1.0, "{cells:?}");
            assert_eq!(cells.iter().filter(|c| c.id.metric == "message_rate").count(), 10);
            assert_eq!(cells[9].note.as_deref(), Some("run 10"));
            assert_eq!((value(SENT), value(ACKED), value("in_flight_end")), (None, None, None));
        }
    }

    #[test]
    fn the_headline_is_what_the_peer_took_and_not_what_the_kernel_did() {
        let runs = |origin| {
            let both = |seq| {
                [(Observer::Sender, 20_000), (Observer::Peer, 4000)].map(|(o, n)| second(o, seq, n))
            };
            cells((0..2).flat_map(both).collect(), Some(300_000), origin)
        };
        let measured = runs(Origin::Measured);
        assert_eq!(value(&measured, "message_rate_avg"), Some(4000.0));
        assert_eq!(value(&measured, SENT), Some(20_000.0));
        assert_eq!(value(&measured, "in_flight_end"), Some(150_000.0));
        // A device's own count, as the document has it.
        let simulated = runs(Origin::Simulated);
        assert_eq!(value(&simulated, "message_rate_avg"), Some(20_000.0));
        assert_eq!(value(&simulated, ACKED), Some(4000.0));
    }

    /// A run of several devices has the messages of all.
    #[test]
    fn several_devices_are_summed_run_by_run() {
        let run = |link: u16, seq, n| match second(Observer::Sender, seq, n) {
            Sample::Interval(it) => Sample::Interval(Interval { link: Link(link), ..it }),
            other => other,
        };
        let samples = vec![run(0, 0, 100), run(1, 0, 300), run(0, 1, 100), run(1, 1, 300)];
        let cells = cells(samples, None, Origin::Simulated);
        let value = |metric| value(&cells, metric);
        assert_eq!(value("message_rate_avg"), Some(400.0));
        assert_eq!(value("message_rate_station"), Some(200.0));
        assert_eq!(value("fairness"), Some(0.8));
        assert_eq!(cells.iter().filter(|c| c.id.metric == "message_rate").count(), 2);
    }

    /// A device that stops early has sent nothing in the runs that it did not do.
    #[test]
    fn a_device_that_stops_early_counts_in_every_run() {
        let run = |link: u16, seq, n| match second(Observer::Sender, seq, n) {
            Sample::Interval(it) => Sample::Interval(Interval { link: Link(link), ..it }),
            other => other,
        };
        let samples = vec![run(0, 0, 100), run(1, 0, 300), run(1, 1, 300)];
        let cells = cells(samples, None, Origin::Simulated);
        let value = |metric| value(&cells, metric);
        assert_eq!(value("message_rate_avg"), Some(350.0));
        assert_eq!(value("message_rate_station"), Some(175.0));
    }

    #[test]
    fn what_the_peer_took_is_unknown_where_nothing_tells() {
        let cells = cells(vec![second(Observer::Sender, 0, 20_000)], None, Origin::Measured);
        let mean = cells.iter().find(|c| c.id.metric == MEAN).unwrap();
        assert_eq!(mean.value, None);
        assert!(mean.note.as_deref().unwrap().starts_with("unknown"));
        assert_eq!(value(&cells, SENT), Some(20_000.0));
    }
}
