//! Figures while a cell goes are those of its summary, in every kind of test.

use super::Meter;
use crate::cell::{Cell, Origin};
use crate::kind;
use crate::run::{Recorded, Site};
use crate::summary::{SummaryContext, summarize};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::random;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{
    Bounceback, Direction, EspNowTest, Iperf, MqttMode, Transport, Workload,
};

/// Works of every kind, with those of its forms that are counted otherwise.
fn works() -> Vec<Workload> {
    let mut works: Vec<Workload> =
        kind::all().filter_map(|it| kind::default_of(it.name())).collect();
    for work in works.clone() {
        match work {
            Workload::Iperf(work) => {
                for transport in [Transport::Tcp, Transport::Udp] {
                    for direction in [Direction::Forward, Direction::Reverse, Direction::FullDuplex]
                    {
                        works.push(Workload::Iperf(espbench_model::workload::Iperf {
                            transport,
                            direction,
                            parallel: 2,
                            ..work
                        }));
                    }
                }
                let bounceback = Some(Bounceback::DEFAULT);
                works.push(Workload::Iperf(espbench_model::workload::Iperf { bounceback, ..work }));
            }
            Workload::MqttRate(work) => {
                for mode in [MqttMode::Saturate, MqttMode::Search { low: 10.0, high: 100.0 }] {
                    works.push(Workload::MqttRate(espbench_model::workload::MqttRate {
                        mode,
                        ..work
                    }));
                }
            }
            Workload::EspNow(work) => {
                for test in [
                    EspNowTest::OneWay,
                    EspNowTest::Ping,
                    EspNowTest::MultiPing,
                    EspNowTest::Throughput,
                    EspNowTest::Crypto,
                    EspNowTest::Ota,
                ] {
                    works.push(Workload::EspNow(espbench_model::workload::EspNow { test, ..work }));
                }
            }
            _ => {}
        }
    }
    works
}

fn at(ms: f64) -> Instant {
    Instant::from_nanos((ms * 1e6) as u64)
}

/// Returns samples with every fate and observer: what a kind does not record says nothing of it.
fn samples(work: &Workload, seed: u64) -> Vec<Sample> {
    let mut state = seed;
    let mut chance = || (random::split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64;
    let mut samples = Vec::new();
    for seq in 0..400u64 {
        let due = seq as f64 * 10.0;
        let sent = due + chance();
        let received = sent + 1.0 + 50.0 * chance() * chance();
        let fate = match chance() {
            it if it < 0.8 => Fate::Delivered,
            it if it < 0.86 => Fate::Late,
            it if it < 0.9 => Fate::Corrupt,
            it if it < 0.92 => Fate::Duplicate,
            _ => Fate::Lost(Cause::Unknown),
        };
        let came = matches!(fate, Fate::Delivered | Fate::Late | Fate::Duplicate);
        // Of a raw frame nothing comes late, or twice.
        let came = came && (fate == Fate::Delivered || !matches!(work, Workload::RawEspNow(_)));
        samples.push(Sample::Probe(Probe {
            seq,
            bytes: 100,
            due: at(due),
            queued: Some(at(due)),
            sent: Some(at(sent)),
            acked: Some(at(received)),
            received: came.then(|| at(received)),
            fate,
            ..Probe::default()
        }));
    }
    let (streams, own) = match work {
        Workload::Iperf(work) => {
            let observers: &[Observer] = match work.direction {
                Direction::Forward => &[Observer::Sender, Observer::Peer],
                Direction::Reverse => &[Observer::Receiver],
                _ => &[Observer::Sender, Observer::Peer, Observer::Receiver],
            };
            (work.parallel, observers)
        }
        _ => (1, &[Observer::Sender, Observer::Peer, Observer::Receiver][..]),
    };
    // TCP loses nothing that its ends could count.
    let is_tcp = matches!(work, Workload::Iperf(it) if it.transport == Transport::Tcp);
    let counts_lost = |observer| observer != Observer::Sender && !is_tcp;
    for observer in own.iter().copied() {
        let mut totals = alloc::vec![(0, 0, 0); usize::from(streams)];
        for seq in 0..6u64 {
            for (link, total) in (0u16..).zip(&mut totals) {
                // The last interval is a short rest.
                let end = if seq == 5 { 5.3 } else { seq as f64 + 1.0 };
                let bytes = (1e6 * (0.2 + chance()) * (end - seq as f64)) as u64;
                let (datagrams, lost) = (bytes / 1000, (10.0 * chance()) as u64);
                *total = (total.0 + bytes, total.1 + datagrams, total.2 + lost);
                samples.push(Sample::Interval(Interval {
                    link: Link(link),
                    seq,
                    observer,
                    start: at(seq as f64 * 1e3),
                    end: at(end * 1e3),
                    bytes,
                    datagrams: Some(datagrams),
                    lost: counts_lost(observer).then_some(lost),
                    ..Interval::default()
                }));
            }
        }
        for (link, (bytes, datagrams, lost)) in (0u16..).zip(totals) {
            samples.push(Sample::Interval(Interval {
                link: Link(link),
                seq: 6,
                total: true,
                observer,
                end: at(5300.0),
                bytes,
                datagrams: Some(datagrams),
                lost: counts_lost(observer).then_some(lost),
                ..Interval::default()
            }));
        }
    }
    samples
}

/// Returns what was recorded of a work.
fn recorded(work: &Workload, samples: Vec<Sample>) -> Recorded {
    Recorded {
        ordinal: 0,
        repetition: 0,
        workload: *work,
        samples,
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

/// Returns the summary, and the meter that has seen the same samples.
fn summed_and_shown(recorded: &Recorded, origin: Origin) -> (Vec<Cell>, Meter) {
    let mut meter = Meter::new(&recorded.workload, origin);
    recorded.samples.iter().for_each(|it| meter.add(it));
    let site = Site::default();
    (summarize(recorded, &SummaryContext { site: &site, origin, seed: 1 }), meter)
}

/// Returns a figure of the summary and the same one of the meter.
fn both(metric: &str, (cells, meter): (Vec<Cell>, Meter)) -> [Option<f64>; 2] {
    let cell = cells.iter().find(|it| it.id.metric == metric);
    let shown = meter.figures().into_iter().find(|it| it.metric == metric);
    [cell.and_then(|it| it.value), shown.map(|it| it.value)]
}

fn is_quantile(metric: &str) -> bool {
    use crate::metric::Statistic::{P50, P90, P95, P99, P999};
    matches!(crate::metric::parse(metric).1, P50 | P90 | P95 | P99 | P999)
}

#[test]
fn progress_and_result_are_the_same_figures_in_every_kind() {
    let mut compared: BTreeMap<String, usize> = BTreeMap::new();
    for work in works() {
        for (origin, seed) in [(Origin::Measured, 1), (Origin::Simulated, 2), (Origin::Measured, 3)]
        {
            let (cells, meter) = summed_and_shown(&recorded(&work, samples(&work, seed)), origin);
            for shown in meter.figures() {
                let cell = cells.iter().find(|it| it.id.metric == shown.metric);
                let value = cell.and_then(|it| it.value);
                let place = format!("{work:?}, {}: {} {:?}", shown.metric, shown.value, value);
                let metrics: Vec<&str> = cells.iter().map(|it| it.id.metric.as_str()).collect();
                let value = value.unwrap_or_else(|| panic!("no result of {place}: {metrics:?}"));
                // Quantiles so far are the middle of a bucket.
                let off = if is_quantile(&shown.metric) { 1.0 / 2048.0 } else { 1e-9 };
                assert!((shown.value - value).abs() <= off * value.abs() + 1e-9, "{place}");
                *compared.entry(shown.metric).or_default() += 1;
            }
        }
    }
    for metric in [
        "rtt_p50",
        "rtt_p99",
        "latency_p50",
        "latency_avg",
        "latency_max",
        "rtt_exact_p99",
        "response_p99",
        "join_time_p50",
        "loss",
        "message_rate",
        "message_rate_avg",
        "throughput_rx",
        "throughput_tx",
        "throughput",
        "throughput_received",
    ] {
        assert!(compared.contains_key(metric), "{metric} is not compared: {compared:?}");
    }
}

/// Stations that begin apart move their octets in one time, in progress as in the result.
#[test]
fn stations_that_begin_apart_are_shown_as_they_are_summed_up() {
    let Some(Workload::Iperf(work)) = kind::default_of("iperf") else { unreachable!() };
    for (late, transport) in [(0.0, Transport::Tcp), (0.4, Transport::Tcp), (1.0, Transport::Udp)] {
        let direction = Direction::Reverse;
        let time = Duration::from_secs(6);
        let work = Workload::Iperf(Iperf { transport, direction, parallel: 1, time, ..work });
        let mut samples = Vec::new();
        for link in 0..12 {
            let begin = late * f64::from(link) * 1e3;
            let part = |seq: u64, total| Interval {
                link: Link(link),
                seq,
                total,
                observer: Observer::Receiver,
                start: at(begin + if total { 0.0 } else { seq as f64 * 1e3 }),
                end: at(begin + if total { 6e3 } else { (seq + 1) as f64 * 1e3 }),
                bytes: if total { 600_000 } else { 100_000 },
                ..Interval::default()
            };
            samples.extend((0..6).map(|seq| Sample::Interval(part(seq, false))));
            samples.push(Sample::Interval(part(6, true)));
        }
        let told = summed_and_shown(&recorded(&work, samples), Origin::Simulated);
        let [value, shown] = both("throughput_tx", told).map(Option::unwrap);
        assert!((shown - value).abs() < 1e-9 * value, "{late}: {shown} {value}");
    }
}

#[test]
fn what_was_stopped_at_any_moment_is_shown_and_summed_up_alike() {
    let Some(Workload::UdpEcho(work)) = kind::default_of("udp-echo") else { unreachable!() };
    let work = Workload::UdpEcho(work);
    let all = samples(&work, 5);
    for n in [1, 2, 10, 57, 200] {
        let mut recorded = recorded(&work, all[..n].to_vec());
        recorded.facts.insert("stopped".into(), "before its end".into());
        let (cells, meter) = summed_and_shown(&recorded, Origin::Measured);
        let cell = cells.iter().find(|it| it.id.metric == "loss").unwrap();
        assert_eq!(meter.loss().map(|it| it * 100.0), cell.value);
        assert!(recorded.is_stopped());
    }
}

#[test]
fn a_search_and_a_device_that_is_listened_to_have_no_latency() {
    let Some(Workload::MqttRate(mut work)) = kind::default_of("mqtt-rate") else { unreachable!() };
    for (mode, wanted) in
        [(MqttMode::Listen, &["message_rate"][..]), (MqttMode::Search { low: 1.0, high: 2.0 }, &[])]
    {
        work.mode = mode;
        let mut meter = Meter::new(&Workload::MqttRate(work), Origin::Measured);
        for ms in [0, 100, 200] {
            let (due, received) = (at(f64::from(ms)), Some(at(f64::from(ms))));
            meter.add(&Sample::Probe(Probe { due, received, ..Probe::default() }));
        }
        let shown: Vec<String> = meter.figures().into_iter().map(|it| it.metric).collect();
        assert_eq!(shown, wanted);
        assert_eq!(meter.times(), None);
    }
}

#[test]
fn several_devices_that_lack_intervals_are_shown_as_their_sum() {
    let Some(Workload::Iperf(work)) = kind::default_of("iperf") else { unreachable!() };
    let work = Workload::Iperf(espbench_model::workload::Iperf {
        transport: Transport::Udp,
        direction: Direction::Reverse,
        time: core::time::Duration::from_secs(5),
        interval: core::time::Duration::from_secs(1),
        ..work
    });
    let interval = |link, seq, (start, end), bytes| {
        Sample::Interval(Interval {
            link: Link(link),
            seq,
            observer: Observer::Receiver,
            start: at(start),
            end: at(end),
            bytes,
            ..Interval::default()
        })
    };
    let mut samples = Vec::new();
    for (link, seq) in (0..3).flat_map(|link| (0..5).map(move |seq| (link, seq))) {
        // One of them is silent for a second.
        if (link, seq) != (1, 2) {
            let start = 1e3 * seq as f64;
            samples.push(interval(link, seq, (start, start + 1e3), 100_000 * u64::from(link + 1)));
        }
    }
    for link in 0..3 {
        let Sample::Interval(total) = interval(link, 5, (0.0, 5e3), 1) else { unreachable!() };
        samples.push(Sample::Interval(Interval { total: true, ..total }));
    }
    let told =
        both("throughput_tx", summed_and_shown(&recorded(&work, samples), Origin::Simulated));
    // 5 s of 0.8, 1.6 and 2.4 Mbit/s, without a second of the middle one.
    assert!(told.iter().all(|it| (it.unwrap() - 4.48).abs() < 1e-9), "{told:?}");
    // Of a test that has no whole interval there are totals alone: 0.3 Mbit in the longest time, 0.1 s.
    let mut samples = Vec::new();
    for (link, ms) in [(0, 100.0), (1, 10.0), (2, 1.0)] {
        let Sample::Interval(total) = interval(link, 0, (0.0, ms), 12_500) else { unreachable!() };
        samples.push(Sample::Interval(Interval { total: true, ..total }));
    }
    let told =
        both("throughput_tx", summed_and_shown(&recorded(&work, samples), Origin::Simulated));
    assert!(told.iter().all(|it| (it.unwrap() - 3.0).abs() < 1e-9), "{told:?}");
}
