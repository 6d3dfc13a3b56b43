use super::*;
use crate::cell::Origin;
use crate::label;
use crate::run::Site;
use alloc::string::String;
use espbench_model::fact;
use espbench_model::sample::Link;
use espbench_model::time::Instant;
use espbench_model::workload::{IpTest, Name, Wifi, Workload};

const UDP: Iperf = Iperf {
    transport: Transport::Udp,
    direction: Direction::Forward,
    time: Duration::from_secs(3),
    bytes: None,
    interval: Duration::from_secs(1),
    length: 1470,
    bandwidth: Some(40_000_000),
    parallel: 1,
    window: None,
    no_delay: false,
    ..Iperf::DEFAULT
};

const fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

fn part(observer: Observer, seq: u64, from: u64, to: u64, bytes: u64) -> Interval {
    Interval { observer, seq, start: ms(from), end: ms(to), bytes, ..Interval::default() }
}

fn cells(work: Iperf, samples: &[Interval]) -> BTreeMap<String, Cell> {
    cells_of(Workload::Iperf(work), &work, samples)
}

/// Summarizes a test of a device of a lab.
fn variant_cells(work: Iperf, samples: &[Interval]) -> BTreeMap<String, Cell> {
    let wifi = Wifi::new(Name::new("v").unwrap(), IpTest::Iperf(work));
    cells_of(Workload::Wifi(wifi), &work, samples)
}

fn recorded_of(workload: Workload, samples: &[Interval]) -> Recorded {
    Recorded {
        ordinal: 0,
        repetition: 0,
        workload,
        samples: samples.iter().copied().map(Sample::Interval).collect(),
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

fn cells_of(workload: Workload, work: &Iperf, samples: &[Interval]) -> BTreeMap<String, Cell> {
    let recorded = recorded_of(workload, samples);
    let site = Site::default();
    let context = SummaryContext { site: &site, origin: Origin::Measured, seed: 1 };
    let cells = summarize(work, &recorded, &context);
    cells.into_iter().map(|c| (c.id.metric.clone(), c)).collect()
}

#[test]
fn a_udp_test_with_the_servers_report() {
    let total = Interval {
        total: true,
        datagrams: Some(990),
        lost: Some(10),
        out_of_order: Some(2),
        jitter_ns: Some(1_500_000),
        ..part(Observer::Peer, 0, 0, 2500, 2_500_000)
    };
    let got = cells(
        UDP,
        &[
            part(Observer::Sender, 0, 0, 1000, 1_000_000),
            part(Observer::Sender, 1, 1000, 2000, 1_250_000),
            part(Observer::Sender, 2, 2000, 2500, 562_500),
            Interval { total: true, ..part(Observer::Sender, 3, 0, 2500, 2_812_500) },
            total,
        ],
    );
    let value = |metric: &str| got[metric].value.unwrap();
    assert_eq!(value("throughput_sent"), 9.0);
    assert_eq!(value("throughput_sent_best_second"), 10.0);
    assert_eq!(value("throughput_rx"), 8.0);
    assert_eq!(got["throughput_rx"].ci_low, None, "one figure has no spread");
    assert_eq!((value("loss"), value("packets_lost"), value("packets_total")), (1.0, 10.0, 1000.0));
    assert!(got["loss"].ci_low.unwrap() > 0.5 && got["loss"].ci_high.unwrap() < 1.9);
    assert_eq!((value("jitter"), value("packets_out_of_order")), (1.5, 2.0));
    assert!(!got.contains_key("packets_duplicate"), "the report does not say");
    assert_eq!(label::result(&got["loss"].settings).as_deref(), Some("40 Mbit/s offered"));
}

/// The first datagrams wait for the link, and come at once in the receiver's first interval: 2.04 Mbit/s arrived of 2.00.
#[test]
fn no_more_arrives_over_udp_than_was_sent() {
    let work = Iperf { bandwidth: Some(2_000_000), ..UDP };
    for (workload, ends) in [
        (work, [Observer::Sender, Observer::Peer]),
        (Iperf { direction: Direction::Reverse, ..work }, [Observer::Peer, Observer::Receiver]),
    ] {
        let [sender, receiver] = ends;
        let total = |it: Interval| Interval {
            total: true,
            datagrams: Some(511),
            lost: Some(0),
            errors: Some(0),
            ..it
        };
        let samples = [
            part(sender, 0, 0, 1000, 250_000),
            part(sender, 1, 1000, 2000, 250_000),
            part(sender, 2, 2000, 3000, 250_000),
            total(part(sender, 3, 0, 3000, 751_470)),
            part(receiver, 0, 70, 1070, 267_500),
            part(receiver, 1, 1070, 2070, 250_000),
            part(receiver, 2, 2070, 3070, 250_000),
            total(part(receiver, 3, 70, 3000, 751_470)),
        ];
        let got = variant_cells(workload, &samples);
        let arrived = if receiver == Observer::Peer { "throughput_rx" } else { "throughput_tx" };
        let value = |metric: &str| got[metric].value.unwrap();
        assert!((value(arrived) - 2.003_92).abs() < 1e-9, "{}", value(arrived));
        assert_eq!(value(arrived), value("throughput_sent"));
        let cell = &got[arrived];
        assert!(cell.ci_low <= cell.value && cell.value <= cell.ci_high, "{cell:?}");
    }
}

/// Firmware of ESP8266 puts one number into each datagram: all but the first were taken for copies, and 99.9 % for lost.
#[test]
fn datagrams_with_one_number_are_not_lost() {
    let sent = Interval {
        total: true,
        datagrams: Some(9391),
        errors: Some(0),
        ..part(Observer::Peer, 0, 0, 3000, 13_804_770)
    };
    let came = Interval {
        datagrams: Some(1),
        duplicates: Some(9380),
        lost: Some(0),
        out_of_order: Some(0),
        observer: Observer::Receiver,
        errors: None,
        ..sent
    };
    let work = Iperf { direction: Direction::Reverse, bandwidth: None, ..UDP };
    // Of a lab's device the sender counts.
    let got = variant_cells(work, &[sent, came]);
    assert_eq!(got["packets_lost"].value, Some(10.0));
    assert_eq!(got["packets_total"].value, Some(9391.0));
    assert!(!got.contains_key("packets_duplicate"));
    // Of another nothing tells what it sent.
    let got = cells(work, &[came]);
    assert_eq!(got["loss"].value, None);
    let why = got["loss"].note.as_deref().unwrap();
    assert!(why.contains("all datagrams have one number"), "{why}");
}

/// The last part of a second counts at both ends: the mean of the whole intervals would be less than what arrived.
#[test]
fn what_was_sent_is_of_the_time_of_the_report() {
    let got = cells(
        UDP,
        &[
            part(Observer::Sender, 0, 0, 1000, 500_000),
            part(Observer::Sender, 1, 1000, 2000, 500_000),
            part(Observer::Sender, 2, 2000, 2500, 1_500_000),
            Interval { total: true, ..part(Observer::Sender, 3, 0, 2500, 2_500_000) },
            Interval { total: true, ..part(Observer::Peer, 0, 0, 2500, 2_500_000) },
        ],
    );
    let value = |metric: &str| got[metric].value;
    assert_eq!((value("throughput_rx"), value("throughput_sent")), (Some(8.0), Some(8.0)));
}

/// A server that waits for its turn reads a part late, and its own time is too short.
#[test]
fn no_more_arrives_than_was_sent() {
    let seconds =
        (0..3).map(|it| part(Observer::Sender, it, 1000 * it, 1000 * (it + 1), 1_000_000));
    let sent = Interval { total: true, ..part(Observer::Sender, 3, 0, 3000, 3_000_000) };
    let (datagrams, lost) = (Some(2041), Some(0));
    let report = part(Observer::Peer, 0, 60, 3000, 3_000_000);
    let report = Interval { total: true, datagrams, lost, ..report };
    let got = cells(UDP, &seconds.chain([sent, report]).collect::<Vec<_>>());
    let value = |metric: &str| got[metric].value;
    assert_eq!((value("throughput_rx"), value("throughput_sent")), (Some(8.0), Some(8.0)));
}

#[test]
fn without_a_report_nothing_is_claimed_of_the_device() {
    let got = cells(
        UDP,
        &[
            part(Observer::Sender, 0, 0, 1000, 1_000_000),
            Interval { total: true, ..part(Observer::Sender, 1, 0, 1000, 1_000_000) },
        ],
    );
    assert!(got.contains_key("throughput_sent"));
    assert_eq!(got["throughput_rx"].value, None);
    assert!(got["throughput_rx"].note.as_deref().unwrap().contains("no report"));
    assert!(!got.contains_key("loss"));
}

#[test]
fn over_tcp_the_headline_is_what_the_device_took() {
    let tcp = Iperf { transport: Transport::Tcp, bandwidth: None, ..UDP };
    let sent = [
        part(Observer::Sender, 0, 0, 1000, 3_600_000),
        Interval { total: true, ..part(Observer::Sender, 1, 0, 1000, 3_600_000) },
    ];
    let taken = [
        part(Observer::Peer, 0, 0, 980, 1_960_000),
        Interval { total: true, ..part(Observer::Peer, 1, 0, 980, 1_960_000) },
    ];
    let got = cells(tcp, &[taken, sent].concat());
    assert_eq!(got["throughput_rx"].value, Some(16.0));
    assert_eq!(got["throughput_rx_best_second"].value, Some(16.0));
    assert_eq!(got["throughput_sent"].value, Some(28.8));
    // A device that took nothing, and a system that tells nothing.
    let none = taken.map(|it| Interval { bytes: 0, ..it });
    for (samples, why) in [([none, sent].concat(), "took nothing"), (sent.to_vec(), "tells")] {
        let got = cells(tcp, &samples);
        assert_eq!(got["throughput_rx"].value, None);
        assert!(got["throughput_rx"].note.as_deref().unwrap().contains(why));
        assert!(!got.contains_key("throughput_rx_best_second"));
    }
}

#[test]
fn a_device_that_sends_tells_what_its_socket_took() {
    for transport in [Transport::Tcp, Transport::Udp] {
        let work = Iperf { transport, direction: Direction::Reverse, ..UDP };
        let got = cells(
            work,
            &[
                part(Observer::Receiver, 0, 0, 1000, 1_000_000),
                Interval { total: true, ..part(Observer::Receiver, 1, 0, 1000, 1_000_000) },
                part(Observer::Peer, 0, 0, 1000, 1_125_000),
                Interval { total: true, ..part(Observer::Peer, 1, 0, 1000, 1_125_000) },
            ],
        );
        assert_eq!(got["throughput_tx"].value, Some(8.0));
        assert_eq!(got["throughput_sent"].value, Some(9.0));
        assert!(!got.contains_key("throughput_rx"), "{transport:?}");
    }
}

#[test]
fn streams_are_added_up() {
    let work = Iperf { transport: Transport::Tcp, parallel: 2, bandwidth: None, ..UDP };
    let stream = |link| move |i: Interval| Interval { link: Link(link), retransmits: Some(3), ..i };
    let mut samples = Vec::new();
    for link in 0..2 {
        let named = stream(link);
        for observer in [Observer::Peer, Observer::Sender] {
            samples.push(named(part(observer, 0, 0, 1000, 500_000)));
            samples.push(named(part(observer, 1, 1000, 2000, 750_000)));
            let total = part(observer, 2, 0, 2000, 1_250_000);
            samples.push(named(Interval { total: true, ..total }));
        }
    }
    let got = cells(work, &samples);
    assert_eq!(got["throughput_rx"].value, Some(10.0));
    assert_eq!(got["throughput_rx"].n, Some(2));
    assert_eq!(got["throughput_rx_best_second"].value, Some(12.0));
    assert_eq!(got["retransmits"].value, Some(6.0));
    assert_eq!(label::result(&got["throughput_rx"].settings).as_deref(), Some("2 streams"));
}

/// The octets of a stream that lacks intervals, and of its parts of one, count over the time of the test.
#[test]
fn delivered_is_octets_over_time_and_never_above_sent() {
    let work = Iperf { direction: Direction::Reverse, ..UDP };
    let on = |link, it: Interval| Interval { link: Link(link), ..it };
    let total = |observer, bytes| Interval { total: true, ..part(observer, 9, 0, 3000, bytes) };
    let mut samples = Vec::new();
    for link in 0..3 {
        samples.extend(
            (0..3).map(|s| on(link, part(Observer::Peer, s, s * 1000, s * 1000 + 1000, 250_000))),
        );
        samples.push(on(link, total(Observer::Peer, 750_000)));
    }
    // One has all, one ends early, and one only begins in the last second.
    samples.extend((0..3).map(|s| part(Observer::Receiver, s, s * 1000, s * 1000 + 1000, 250_000)));
    samples.push(on(1, part(Observer::Receiver, 0, 0, 1000, 250_000)));
    samples.push(on(1, part(Observer::Receiver, 1, 1000, 1400, 125_000)));
    samples.push(on(2, part(Observer::Receiver, 0, 0, 500, 125_000)));
    for (link, bytes) in [(0, 750_000), (1, 375_000), (2, 125_000)] {
        samples.push(on(link, total(Observer::Receiver, bytes)));
    }
    let got = variant_cells(work, &samples);
    assert_eq!(got["throughput_sent"].value, Some(6.0));
    let rate = got["throughput_tx"].value.unwrap();
    assert!((rate - 1_250_000.0 * 8e-6 / 3.0).abs() < 1e-9, "{rate}");
    assert_eq!(got["throughput_tx"].n, Some(3), "over all seconds");
}

/// Two stations, each of 1 Mbit/s and counted by seconds: whatever the time of the test, and its limit, the rate is 2 Mbit/s
/// where all comes in time, and less where queues empty themselves after it.
#[test]
fn the_rate_of_several_devices_is_that_of_their_time() {
    let on = |link, it: Interval| Interval { link: Link(link), ..it };
    let counted = |transport, (sent_ms, came_ms): (u64, u64), bytes: Option<u64>| {
        let time = Duration::from_millis(sent_ms);
        let work = Iperf { direction: Direction::Reverse, transport, time, bytes, ..UDP };
        let mut samples = Vec::new();
        for link in 0..2 {
            for (observer, end) in [(Observer::Peer, sent_ms), (Observer::Receiver, came_ms)] {
                let all = sent_ms * 125;
                let second = |s| all * 1000 / end * (1000.min(end - s * 1000)) / 1000;
                let seconds = (0..end.div_ceil(1000))
                    .map(|s| part(observer, s, s * 1000, end.min(s * 1000 + 1000), second(s)));
                samples.extend(seconds.map(|it| on(link, it)));
                let total = Interval { total: true, ..part(observer, 99, 0, end, all) };
                samples.push(on(link, total));
            }
        }
        let got = variant_cells(work, &samples);
        let tx = &got["throughput_tx"];
        assert!(tx.ci_low.is_none_or(|it| Some(it) <= tx.value), "{tx:?}");
        // What a device's TCP took is told nowhere.
        let sent = got.get("throughput_sent").map_or(Some(2.0), |it| it.value);
        (tx.value.unwrap(), sent.unwrap())
    };
    for transport in [Transport::Udp, Transport::Tcp] {
        for sent_ms in [1500, 2000, 2500, 3200] {
            for bytes in [None, Some(250 * sent_ms)] {
                let (came, sent) = counted(transport, (sent_ms, sent_ms), bytes);
                assert!(
                    (came - 2.0).abs() < 1e-9 && (sent - 2.0).abs() < 1e-9,
                    "{sent_ms}: {came}, {sent}"
                );
                let (came, sent) = counted(transport, (sent_ms, 2 * sent_ms), bytes);
                assert!(
                    (came - 1.0).abs() < 1e-9 && (sent - 2.0).abs() < 1e-9,
                    "{sent_ms}: {came}, {sent}"
                );
            }
        }
    }
}

/// Stations that begin apart share no second by its number: what all moved in one time counts, and no best second is below
/// the mean of all.
#[test]
fn stations_that_begin_apart_are_added_up_in_one_time() {
    let on = |link, it: Interval| Interval { link: Link(link), ..it };
    let work =
        Iperf { transport: Transport::Tcp, direction: Direction::Reverse, bandwidth: None, ..UDP };
    for (late, wanted) in [(0, [2.0, 2.0, 2.0]), (1000, [1.0, 2.0, 2.0]), (500, [1.5, 2.0, 2.0])] {
        let mut samples = Vec::new();
        for (link, begin) in [(0, 0), (1, late)] {
            let seconds = (0..3).map(|s| (s, begin + s * 1000));
            samples.extend(seconds.map(|(s, from)| {
                on(link, part(Observer::Receiver, s, from, from + 1000, 125_000))
            }));
            let total = part(Observer::Receiver, 9, begin, begin + 3000, 375_000);
            samples.push(on(link, Interval { total: true, ..total }));
        }
        let got = variant_cells(work, &samples);
        let [mean, best] = ["throughput_tx", "throughput_tx_best_second"].map(|it| &got[it]);
        let rate = wanted.iter().sum::<f64>() / 3.0;
        assert!((mean.value.unwrap() - rate).abs() < 1e-9, "{late}: {mean:?}");
        assert!((best.value.unwrap() - 2.0).abs() < 1e-9, "{late}: {best:?}");
    }
}

/// The rate is of all octets over the time in which they moved, as iperf's own line has it: also of a test that was stopped
/// within an interval, or that is no multiple of one.
#[test]
fn the_part_of_an_interval_at_the_end_counts_for_its_time() {
    for time in [10_000, 1500] {
        let time = Duration::from_millis(time);
        let work = Iperf { transport: Transport::Tcp, bandwidth: None, time, ..UDP };
        let samples = [
            part(Observer::Peer, 0, 0, 1000, 250_000),
            part(Observer::Peer, 1, 1000, 1500, 500_000),
            Interval { total: true, ..part(Observer::Peer, 9, 0, 1500, 750_000) },
        ];
        let recorded = recorded_of(Workload::Iperf(work), &samples);
        let line = usual_line(&work, &recorded).unwrap();
        assert!(line.ends_with(" in 1.5 s, 4.00 Mbits/sec"), "{line}");
        let rate = &cells(work, &samples)["throughput_sent"];
        assert_eq!((rate.value, rate.ci_low), (Some(4.0), None), "too few intervals for a spread");
    }
}

/// A peer that keeps the connection of an amount has empty intervals until it is given up.
#[test]
fn the_rate_of_an_amount_is_that_of_its_total() {
    let work = Iperf { transport: Transport::Tcp, bytes: Some(1_000_000), ..UDP };
    let second = |at| part(Observer::Peer, at, 1000 * at, 1000 * at + 1000, 0);
    let first = Interval { bytes: 1_000_000, ..second(0) };
    let total = Interval { total: true, ..part(Observer::Peer, 9, 0, 40, 1_000_000) };
    let got = cells(work, &[first, second(1), second(2), second(3), total]);
    assert_eq!(got["throughput_sent"].value, Some(200.0));
}

/// A station whose queue empties itself long after the sending draws the time out, and no rate down.
#[test]
fn a_straggler_lowers_no_rate() {
    let on = |link, it: Interval| Interval { link: Link(link), ..it };
    let work = Iperf { direction: Direction::Reverse, ..UDP };
    let mut samples = Vec::new();
    for link in 0..2 {
        let seconds = |observer, bytes| {
            (0..3).map(move |s| on(link, part(observer, s, s * 1000, s * 1000 + 1000, bytes)))
        };
        samples
            .extend(seconds(Observer::Peer, 150_000).chain(seconds(Observer::Receiver, 125_000)));
        let total = |observer, end, bytes| {
            on(link, Interval { total: true, ..part(observer, 9, 0, end, bytes) })
        };
        samples.push(total(Observer::Peer, 3000, 450_000));
        let late = if link == 1 { 60_000 } else { 0 };
        samples.push(total(Observer::Receiver, 3000 + late / 64, 375_000 + late));
    }
    samples.push(on(1, part(Observer::Receiver, 3, 3000, 3940, 60_000)));
    let got = variant_cells(work, &samples);
    let value = |metric: &str| got[metric].value.unwrap();
    assert_eq!((value("throughput_tx"), value("throughput_sent")), (2.0, 2.4));
    // The stations' rates are parts of it.
    let wifi = Wifi::new(Name::new("v").unwrap(), IpTest::Iperf(work));
    let recorded = Recorded {
        facts: [(fact::DEVICES.name().into(), "2".into())].into(),
        ..recorded_of(Workload::Wifi(wifi), &samples)
    };
    let stations: Vec<_> = Stations::of(&recorded).0.iter().map(|it| it.delivered).collect();
    assert_eq!(stations, [Some(1.0), Some(1.0)]);
    // What came late in the last interval is no rate of its own.
    let curves = crate::series::megabits(&recorded);
    let received = curves.iter().find(|it| it.observer == Observer::Receiver.name()).unwrap();
    let rates: Vec<_> = received.points.iter().map(|it| it.y).collect();
    assert_eq!(rates[..3], [2.0; 3]);
}

#[test]
fn what_sendto_refused_is_no_loss() {
    let work = Iperf { direction: Direction::Reverse, bandwidth: Some(400_000), ..UDP };
    let total = |observer| Interval { total: true, ..part(observer, 9, 0, 3000, 90 * 1470) };
    let sent = Interval { datagrams: Some(90), errors: Some(12), ..total(Observer::Peer) };
    // Of the numbers 12 were used up by refusals, and 3 were lost.
    let got = Interval { datagrams: Some(87), lost: Some(15), ..total(Observer::Receiver) };
    let cells = variant_cells(work, &[sent, got]);
    let value = |metric: &str| cells[metric].value.unwrap();
    assert!((value("loss") - 300.0 / 90.0).abs() < 1e-9);
    assert_eq!((value("packets_lost"), value("packets_total")), (3.0, 90.0));
    assert_eq!(value("packets_refused"), 12.0);
    assert!((value("loss_of_offered") - 1500.0 / 102.0).abs() < 1e-9);
    // A receiver that heard nothing of all that was sent.
    let cells = variant_cells(work, &[sent]);
    assert_eq!(cells["loss"].value, Some(100.0));
    // A sender that does not count leaves the numbers.
    let cells = variant_cells(work, &[Interval { errors: None, ..sent }, got]);
    assert_eq!(cells["packets_lost"].value, Some(15.0));
    assert!(!cells.contains_key("packets_refused"));
}

/// A station that nothing came to has no report: all that was sent to it is lost. By its numbers the other one's last datagram,
/// which ends the test, would count, too.
#[test]
fn what_was_sent_to_a_silent_station_is_lost() {
    let work = Iperf { direction: Direction::Forward, bandwidth: Some(400_000), ..UDP };
    let total = |observer| Interval { total: true, ..part(observer, 9, 0, 3000, 90 * 1470) };
    let sent = |link| Interval {
        link: Link(link),
        datagrams: Some(90),
        errors: Some(0),
        ..total(Observer::Sender)
    };
    let got = Interval { datagrams: Some(90), lost: Some(1), ..total(Observer::Peer) };
    let samples = [sent(0), sent(1), got];
    let cells = variant_cells(work, &samples);
    let value = |metric: &str| cells[metric].value.unwrap();
    assert_eq!((value("packets_lost"), value("packets_total"), value("loss")), (90.0, 180.0, 50.0));
    let wifi = Wifi::new(Name::new("v").unwrap(), IpTest::Iperf(work));
    let mut meter = crate::live::Meter::new(&Workload::Wifi(wifi), Origin::Simulated);
    samples.iter().for_each(|it| meter.add(&Sample::Interval(*it)));
    let live = meter.figures().into_iter().find(|it| it.metric == "loss").unwrap();
    assert_eq!(live.value, 50.0);
}

/// A rate of the whole intervals alone is that of a part of a time that is no multiple of them, which is said.
#[test]
fn a_rate_of_a_part_of_the_time_is_named() {
    let told = |time, (from, to), is_told_to_the_end: bool| {
        let work = Iperf { time: Duration::from_millis(time), ..UDP };
        let mut parts = alloc::vec![part(Observer::Sender, 0, from, to, 1_000_000)];
        if is_told_to_the_end {
            parts.push(part(Observer::Sender, 1, to, time, 1_000_000));
        }
        let recorded = recorded_of(Workload::Iperf(work), &parts);
        crate::kind::of(&recorded.workload).caveats(&recorded)
    };
    let said = "Rates are of 1 s of 1900 ms: the mean of the whole intervals. Give a time that is a multiple of the interval, 1 s.";
    assert_eq!(told(1900, (0, 1000), false), [said]);
    assert!(told(1900, (0, 1000), true).is_empty());
    assert!(told(2000, (0, 1000), false).is_empty() && told(500, (0, 500), false).is_empty());
}

#[test]
fn both_directions_are_told_apart() {
    let totals = |observer| Interval {
        total: true,
        datagrams: Some(100),
        lost: Some(0),
        ..part(observer, 0, 0, 1000, 1000)
    };
    let work = Iperf { direction: Direction::Dual, ..UDP };
    let got = cells(
        work,
        &[totals(Observer::Sender), totals(Observer::Peer), totals(Observer::Receiver)],
    );
    assert!(got.contains_key("loss_rx") && got.contains_key("loss_tx"));
}

#[test]
fn a_best_second_of_half_seconds_and_none_of_two_seconds() {
    let rates = [1.0, 5.0, 4.0, 1.0];
    assert_eq!(best_second(&rates, Duration::from_millis(500)), Some(4.5));
    assert_eq!(best_second(&rates, Duration::from_secs(2)), None);
    assert_eq!(best_second(&rates, Duration::ZERO), None);
    assert_eq!(best_second(&[], Duration::from_secs(1)), None);
}

proptest::proptest! {
    /// A test of any length, whose last bytes come out of buffers after its end, and whose observer
    /// counts by whole intervals: the mean is the rate.
    #[test]
    fn what_comes_after_the_test_is_no_second_of_it(
        time_ms in 1000u64..20_000,
        late_ms in 1u64..900,
        interval_ms in 100u64..1500,
    ) {
        let work = Iperf {
            time: Duration::from_millis(time_ms),
            interval: Duration::from_millis(interval_ms),
            direction: Direction::Reverse,
            ..UDP
        };
        let flow_ends = time_ms + late_ms;
        let parts: Vec<Interval> = (0..flow_ends.div_ceil(interval_ms))
            .map(|seq| {
                let (from, to) = (seq * interval_ms, (seq + 1) * interval_ms);
                // A Mbit/s while the flow lasts.
                part(Observer::Receiver, seq, from, to, (to.min(flow_ends) - from) * 125)
            })
            .collect();
        let total = part(Observer::Receiver, 99, 0, flow_ends, flow_ends * 125);
        let got = cells(work, &[parts, [Interval { total: true, ..total }].to_vec()].concat());
        let rate = got["throughput_tx"].value.unwrap();
        // An interval may end as much after the test as one may be short.
        proptest::prop_assert!((0.94..=1.0001).contains(&rate), "{rate}");
    }
}
