use super::*;
use crate::cell::Origin;
use crate::run::Site;
use core::time::Duration;
use espbench_model::sample::Link;
use espbench_model::workload::{MqttVersion, Workload};

fn workload(mode: MqttMode) -> MqttRate {
    MqttRate {
        version: MqttVersion::V5,
        qos: 1,
        size: 64,
        mode,
        in_flight: 100,
        time: Duration::from_secs(2),
        count: None,
        queue: 10,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn recorded(mode: MqttMode, samples: Vec<Sample>) -> Recorded {
    Recorded {
        ordinal: 0,
        repetition: 0,
        workload: Workload::MqttRate(workload(mode)),
        samples,
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

fn summarized(recorded: &Recorded) -> Vec<Cell> {
    let Workload::MqttRate(workload) = recorded.workload else { unreachable!() };
    let context = SummaryContext { site: &Site::default(), origin: Origin::Measured, seed: 1 };
    summarize(&workload, recorded, &context)
}

fn cells(mode: MqttMode, samples: Vec<Sample>) -> Vec<Cell> {
    summarized(&recorded(mode, samples))
}

fn cell<'a>(cells: &'a [Cell], metric: &str) -> &'a Cell {
    cells.iter().find(|c| c.id.metric == metric).unwrap_or_else(|| panic!("no {metric}"))
}

/// The document's loss: 20 a second are offered, and every fourth never enters the queue.
#[test]
fn drops_at_the_queue_are_a_rate_of_their_own() {
    let samples = (0..40).map(|seq| {
        let due = at(50 * seq);
        let dropped = seq % 4 == 3;
        let later = |ms| (!dropped).then(|| due + Duration::from_millis(ms));
        let fate = if dropped { Fate::Lost(Cause::ApplicationQueue) } else { Fate::Delivered };
        Sample::Probe(Probe {
            seq,
            bytes: 64,
            due,
            queued: later(1),
            sent: later(3),
            acked: later(1044),
            received: later(8),
            fate,
            ..Probe::default()
        })
    });
    let cells = cells(MqttMode::Offered(20.0), samples.collect());
    let value = |metric| cell(&cells, metric).value;
    assert_eq!(value("message_rate_offered"), Some(20.0));
    assert_eq!(value("message_rate"), Some(15.0));
    assert_eq!(value("queue_drop_rate"), Some(5.0));
    assert_eq!(value("loss"), Some(25.0));
    assert_eq!(cell(&cells, "loss").note.as_deref(), Some("10 application-queue"));
    assert_eq!((value("messages_lost"), value("messages_duplicate")), (Some(10.0), Some(0.0)));
    assert_eq!(value("messages_out_of_order"), None, "nobody counted: unknown is not 0");
    assert_eq!((value("stage_enqueue_p50"), value("stage_write_p99")), (Some(1.0), Some(2.0)));
    assert_eq!((value("stage_subscriber_max"), value("latency_p90")), (Some(5.0), Some(8.0)));
    let ack = cell(&cells, "stage_ack_p50").note.clone().unwrap();
    assert!(ack.contains("multiples of 1000 ms"), "{ack}");
    let words = crate::label::result(&cell(&cells, "loss").settings);
    assert_eq!(words.as_deref(), Some("MQTT 5, QoS 1, 100 in flight, offered 20/s"));
}

/// Each of ten clients sends once a second, and its time ends a second after its last message. Devices of a lab offer the rate
/// each, and several clients share it.
#[test]
fn a_rate_of_several_clients_is_over_the_periods_of_all() {
    let message = |seq: u64| {
        let due = at(16 + 100 * seq);
        let received = Some(due + Duration::from_millis(1));
        let (link, sent) = (Link((seq % 10) as u16), Some(due));
        Sample::Probe(Probe { link, seq, bytes: 64, due, sent, received, ..Probe::default() })
    };
    let whole = Interval {
        total: true,
        observer: Observer::Sender,
        end: at(16 + 1900 + 1000),
        ..Interval::default()
    };
    // A copy that nobody waits for any more is due when it comes.
    let (due, fate) = (at(5000), Fate::Duplicate);
    let copy = Sample::Probe(Probe { due, received: Some(due), fate, ..Probe::default() });
    let samples = (0..20).map(message).chain([copy, Sample::Interval(whole)]);
    let samples: Vec<Sample> = samples.collect();
    for (clients, rate) in [(10, 10.0), (1, 1.0)] {
        let mut all = recorded(MqttMode::Offered(rate), samples.clone());
        let Workload::MqttRate(work) = &mut all.workload else { panic!("{:?}", all.workload) };
        work.clients = clients;
        if clients == 1 {
            all.facts.insert(espbench_model::fact::DEVICES.name().into(), "10".into());
        }
        let cells = summarized(&all);
        let value = |metric| cell(&cells, metric).value.unwrap();
        assert_eq!((value("message_rate_offered"), value("message_rate")), (10.0, 10.0));
        assert_eq!(value("client_fairness"), 1.0);
    }
}

/// The rate of several devices is the sum of each one's own: one that joins late offers no less, and one that stalls delivers
/// until its last message, while the others go on.
#[test]
fn a_rate_of_several_devices_is_the_sum_of_their_own() {
    let message = |link: u16, from: u64, seq: u64| {
        let due = at(from + 100 * seq);
        // The second device's messages wait for a link that is away for 2 s.
        let later = if link == 1 { 2000 } else { 1 };
        let (sent, received) = (Some(due), Some(due + Duration::from_millis(later)));
        let link = Link(link);
        Sample::Probe(Probe { link, seq, bytes: 64, due, sent, received, ..Probe::default() })
    };
    let starts = [(0, 0), (1, 0), (2, 5000)];
    let samples =
        starts.iter().flat_map(|(link, from)| (0..20).map(|seq| message(*link, *from, seq)));
    let mut all = recorded(MqttMode::Offered(10.0), samples.collect());
    // The fourth never sent anything.
    all.facts.insert(espbench_model::fact::DEVICES.name().into(), "4".into());
    let cells = summarized(&all);
    let value = |metric| cell(&cells, metric).value.unwrap();
    assert_eq!(value("message_rate_offered"), 30.0);
    assert_eq!(value("message_rate"), 10.0 + 20.0 / 3.9 + 10.0);
    assert_eq!(value("queue_drop_rate"), 0.0);
    let kind = crate::kind::of(&all.workload);
    let pace = kind.pace(&all).unwrap();
    assert_eq!((pace.asked, pace.kept), (30.0, 30.0), "who sent nothing kept no pace");
    let mut meter = crate::live::Meter::new(&all.workload, Origin::Simulated);
    all.samples.iter().for_each(|it| meter.add(it));
    let live = meter.figures().into_iter().find(|it| it.metric == "message_rate").unwrap();
    assert_eq!(live.value, value("message_rate"));
}

fn step(link: u16, rate: f64, lost: u64) -> [Sample; 2] {
    let due = (rate * 2.0) as u64;
    let total = Interval {
        link: Link(link),
        total: true,
        start: at(0),
        end: at(2000),
        ..Interval::default()
    };
    let sender = Interval { observer: Observer::Sender, datagrams: Some(due), ..total };
    let receiver = Interval {
        observer: Observer::Receiver,
        datagrams: Some(due - lost),
        lost: Some(lost),
        ..total
    };
    [Sample::Interval(sender), Sample::Interval(receiver)]
}

#[test]
fn a_search_is_replayed_from_its_totals() {
    let mut search = RateSearch::new(10.0, 1000.0);
    let mut samples = Vec::new();
    let mut link = 0;
    while let Some((rate, _)) = search.next() {
        let lost = if rate > 300.0 { 7 } else { 0 };
        samples.extend(step(link, rate, lost));
        search.record(lost == 0);
        link += 1;
    }
    let cells = cells(MqttMode::Search { low: 10.0, high: 1000.0 }, samples.clone());
    let reliable = cell(&cells, "message_rate_reliable");
    assert_eq!(reliable.value, search.passed());
    assert_eq!((reliable.ci_low, reliable.ci_high), (search.passed(), search.failed()));
    let rate = reliable.value.unwrap();
    assert!((285.0..=300.0).contains(&rate), "{rate}");
    assert_eq!(reliable.n, Some(3 * (rate * 2.0) as u64));
    let note = reliable.note.clone().unwrap();
    assert!(note.contains("3 of 3 runs of 2 s") && !note.contains("cut short"), "{note}");

    assert_eq!(
        caveats(&recorded(MqttMode::Search { low: 10.0, high: 1000.0 }, samples.clone())),
        [""; 0]
    );

    samples.truncate(4);
    let cut = super::tests::cells(MqttMode::Search { low: 10.0, high: 1000.0 }, samples);
    let cut = cell(&cut, "message_rate_reliable");
    assert_eq!(cut.value, None);
    assert!(cut.note.as_deref().unwrap().contains("cut short"));
}

#[test]
fn a_rate_that_even_the_lowest_fails_is_unknown() {
    let samples = step(0, 10.0, 3).to_vec();
    let cells = cells(MqttMode::Search { low: 10.0, high: 1000.0 }, samples);
    let reliable = cell(&cells, "message_rate_reliable");
    assert_eq!((reliable.value, reliable.ci_high), (None, Some(10.0)));
    assert!(reliable.note.as_deref().unwrap().contains("no rate came through"));
}

#[test]
fn the_end_of_a_search_is_no_answer() {
    let of = |samples| recorded(MqttMode::Search { low: 10.0, high: 5000.0 }, samples);
    let passed: Vec<Sample> = (0..REPETITIONS)
        .flat_map(|link| step(link, 10.0, 0))
        .chain((0..REPETITIONS).flat_map(|link| step(link, 5000.0, 0)))
        .collect();
    let reliable = summarized(&of(passed.clone()));
    let reliable = cell(&reliable, "message_rate_reliable");
    assert_eq!((reliable.value, reliable.ci_high), (Some(5000.0), None));
    let told = |samples| caveats(&of(samples)).remove(0);
    let end = told(passed.clone());
    assert!(
        end.starts_with("The end of the search was reached: 5000/s came without loss"),
        "{end}"
    );
    let plan = "offered = \"search 5000 /s to 50000 /s\".";
    assert!(end.contains("--search 5000..50000") && end.ends_with(plan), "{end}");
    let start = told(step(0, 10.0, 3).to_vec());
    assert!(start.contains("10/s lost messages") && start.contains("--search 1..10"), "{start}");
    // No range is proposed that the key would refuse.
    let of =
        |low, high, samples| caveats(&recorded(MqttMode::Search { low, high }, samples)).remove(0);
    let high = [2e7, 5e7].map(|rate| (0..REPETITIONS).flat_map(move |link| step(link, rate, 0)));
    let end = of(2e7, 5e7, high.into_iter().flatten().collect());
    assert!(end.contains("search 50000000 /s to 100000000 /s"), "{end}");
    assert_eq!(super::range(0.001, 0.001), None);
    assert_eq!(
        told(passed[..6].to_vec()),
        "The search was cut short: 10/s came without loss so far."
    );
    // That no rate was tried to its end stands beside the figure, and once is enough.
    let search = MqttMode::Search { low: 10.0, high: 5000.0 };
    let none = recorded(search, Vec::new());
    assert_eq!(caveats(&none), [""; 0]);
    let summed = summarized(&none);
    let note = cell(&summed, "message_rate_reliable").note.clone().unwrap();
    assert_eq!(note, "no rate was tried to the end; the search was cut short");
}

/// A device that skips numbers, repeats one, and sends two messages without any.
#[test]
fn listening_knows_rate_and_gaps_and_nothing_of_the_sender() {
    let probe = |link, seq, ms, fate| {
        let received = (!matches!(fate, Fate::Lost(_))).then(|| at(ms));
        let link = Link(link);
        Sample::Probe(Probe { link, seq, due: at(ms), received, fate, ..Probe::default() })
    };
    let mut samples: Vec<Sample> = (0..40)
        .map(|i| match i {
            7 | 9 => probe(0, i, 100 * i, Fate::Lost(Cause::Unknown)),
            _ => probe(0, i, 100 * i, Fate::Delivered),
        })
        .collect();
    samples.push(probe(0, 12, 1250, Fate::Duplicate));
    samples.push(probe(1, 0, 3950, Fate::Delivered));
    samples.push(probe(1, 1, 3960, Fate::Delivered));
    let second = |seq, count| Interval {
        seq,
        observer: Observer::Receiver,
        start: at(1000 * seq),
        end: at(1000 * seq + 1000),
        datagrams: Some(count),
        ..Interval::default()
    };
    let counts = [8, 10, 10, 12];
    samples.extend((0..4).map(|i| Sample::Interval(second(i as u64, counts[i]))));
    let total = Interval { total: true, end: at(4000), out_of_order: Some(0), ..second(0, 40) };
    samples.push(Sample::Interval(total));
    let mut recorded = recorded(MqttMode::Listen, samples);
    recorded.counters.insert("unnumbered".into(), 2);
    recorded.facts.insert("missing_sequence_numbers".into(), "7, 9".into());
    let cells = summarized(&recorded);
    let value = |metric| cell(&cells, metric).value;
    // 37 periods between 38 numbered messages, the copy not counted, and one between those without a number.
    assert_eq!(value("message_rate"), Some(37.0 / 3.9 + 1.0 / 0.01));
    assert_eq!((value("message_rate_min"), value("message_rate_max")), (Some(8.0), Some(12.0)));
    let rate = cell(&cells, "message_rate");
    assert!(rate.ci_low <= rate.value && rate.value <= rate.ci_high);
    assert_eq!(rate.note.as_deref(), Some("2 without a number"));
    assert_eq!(value("loss"), Some(5.0), "2 of 40 numbers");
    assert_eq!(cell(&cells, "loss").n, Some(40));
    assert_eq!(cell(&cells, "loss").note.as_deref(), Some("missing: 7, 9"));
    assert_eq!((value("messages_lost"), value("messages_duplicate")), (Some(2.0), Some(1.0)));
    assert_eq!((value("interarrival_p50"), value("interarrival_max")), (Some(100.0), Some(200.0)));
    let unknown = ["latency", "stage", "message_rate_offered", "queue_drop_rate"];
    assert!(!cells.iter().any(|c| unknown.iter().any(|name| c.id.metric.starts_with(name))));
    assert!(cells.iter().all(|c| c.id.payload_bytes.is_none()));
    let words = crate::label::result(&cells[0].settings);
    assert_eq!(words.as_deref(), Some("MQTT 5, QoS 1, listening"));
}

#[test]
fn without_numbers_the_loss_is_not_known() {
    let probe = Probe { link: Link(1), received: Some(at(1)), ..Probe::default() };
    let mut recorded = recorded(MqttMode::Listen, alloc::vec![Sample::Probe(probe)]);
    recorded.counters.insert("unnumbered".into(), 1);
    let cells = summarized(&recorded);
    assert!(!cells.iter().any(|c| c.id.metric == "loss"));
    assert_eq!(cell(&cells, "message_rate").value, None, "no total: no time");
}

/// Records what a listener does of messages that came at these milliseconds, with the numbers that end them.
fn listened(times: &[u64], number: impl Fn(u64) -> u64, end: u64) -> Recorded {
    let mut seen = alloc::collections::BTreeSet::new();
    let mut samples: Vec<Sample> = (0_u64..)
        .zip(times)
        .map(|(n, ms)| {
            let seq = number(n);
            let fate = if seen.insert(seq) { Fate::Delivered } else { Fate::Duplicate };
            let (due, received) = (at(*ms), Some(at(*ms)));
            Sample::Probe(Probe { seq, due, received, fate, ..Probe::default() })
        })
        .collect();
    let total = Interval {
        total: true,
        observer: Observer::Receiver,
        start: at(times[0]),
        end: at(end),
        ..Interval::default()
    };
    samples.push(Sample::Interval(total));
    recorded(MqttMode::Listen, samples)
}

fn caveats(recorded: &Recorded) -> Vec<String> {
    crate::kind::of(&recorded.workload).caveats(recorded)
}

/// n + 1 messages in n periods.
#[test]
fn the_rate_is_that_of_periods_and_not_of_messages() {
    for (period, time, rate) in [
        (20, 1000, 50.0),
        (20, 2000, 50.0),
        (20, 4000, 50.0),
        (20, 8000, 50.0),
        (100, 4000, 10.0),
        (4000, 10_000, 0.25),
        (30_000, 30_000, 1.0 / 30.0),
    ] {
        let times: Vec<u64> = (0..=time / period).map(|n| 5 + n * period).collect();
        let recorded = listened(&times, |n| 100 + n, 5 + time);
        let cells = summarized(&recorded);
        assert_eq!(cell(&cells, "message_rate").value, Some(rate), "{period} ms for {time} ms");
        assert_eq!(cell(&cells, "loss").value, Some(0.0));
        assert_eq!(caveats(&recorded), [""; 0], "{period} ms for {time} ms");
    }
}

#[test]
fn a_device_that_falls_silent_and_one_message_are_told() {
    let times: Vec<u64> = (0..20).map(|n| n * 100).collect();
    let silent = listened(&times, |n| n, 10_000);
    assert_eq!(cell(&summarized(&silent), "message_rate").value, Some(10.0));
    assert_eq!(
        caveats(&silent),
        ["The last message came 8.1 s before the end of 10 s: the rate is that until then."]
    );
    // The second in which it falls silent is none of its rate.
    let times: Vec<u64> = (0..53).map(|n| n * 100).collect();
    let mut silent = listened(&times, |n| n, 12_000);
    for second in 0..12_u64 {
        let came = times.iter().filter(|it| **it / 1000 == second).count() as u64;
        silent.samples.push(Sample::Interval(Interval {
            seq: second,
            observer: Observer::Receiver,
            start: at(1000 * second),
            end: at(1000 * second + 1000),
            datagrams: Some(came),
            ..Interval::default()
        }));
    }
    let cells = summarized(&silent);
    assert_eq!(cell(&cells, "message_rate_min").value, Some(10.0));
    let rate = cell(&cells, "message_rate");
    assert_eq!((rate.ci_low, rate.ci_high), (Some(10.0), Some(10.0)));
    let one = listened(&[0], |n| n, 4000);
    assert_eq!(cell(&summarized(&one), "message_rate").value, None);
    let told = caveats(&one);
    assert!(told[0].starts_with("One number came: loss cannot be told"), "{told:?}");
    assert!(
        told[1].starts_with("One message came in 4 s: a rate takes two, some time apart."),
        "{told:?}"
    );
}

/// A device that counts and loses one, one whose messages end in a humidity, and topics beyond.
#[test]
fn loss_and_copies_are_those_of_topics_that_count() {
    let mut samples = Vec::new();
    for n in 0..20_u64 {
        let probe = |link, seq, fate| {
            let (link, due) = (Link(link), at(100 * n));
            Sample::Probe(Probe { link, seq, due, received: Some(due), fate, ..Probe::default() })
        };
        let counted = if n == 7 { Fate::Lost(Cause::Unknown) } else { Fate::Delivered };
        let value = if n == 0 { Fate::Delivered } else { Fate::Duplicate };
        samples.extend([probe(0, n, counted), probe(2, 55, value), probe(1, n, Fate::Delivered)]);
    }
    let mut recorded = recorded(MqttMode::Listen, samples);
    recorded.counters.insert("untracked".into(), 20);
    recorded.counters.insert("restarts".into(), 1);
    let cells = summarized(&recorded);
    let value = |metric| cell(&cells, metric).value;
    assert_eq!((value("loss"), value("messages_duplicate")), (Some(5.0), Some(0.0)));
    assert_eq!(cell(&cells, "loss").n, Some(20));
    let told = caveats(&recorded);
    assert_eq!(
        told[..2],
        [
            "Loss and copies are those of 1 topic: 1 of 2 topics with numbers counts its messages, and 20 messages came on \
             topics beyond the first 2. The rate is that of all that came.",
            "A device's numbers began again 1 time, as after a restart: what was lost meanwhile is not in the loss."
        ]
    );
    let losses = crate::report::Losses::of(&recorded);
    assert_eq!((losses.probes, losses.lost()), (20, 1));
    // The figures so far have the same definition.
    let mut meter = crate::live::Meter::new(&recorded.workload, Origin::Measured);
    recorded.samples.iter().for_each(|it| meter.add(it));
    assert_eq!(meter.figures()[0].value, value("message_rate").unwrap());
    assert_eq!(meter.told(), "59 messages");
}

/// Topics of one device each, whose first messages come at one time: a rate over all of them would be of 19 periods in place
/// of 16. Each message comes twice, and counts once.
#[test]
fn the_rate_of_several_topics_is_the_sum_of_their_own() {
    for (topics, period, copies) in
        [(4, 1000, 1), (8, 2000, 1), (2, 500, 1), (1, 100, 2), (3, 250, 2)]
    {
        let mut samples = Vec::new();
        for n in 0..=4000 / period {
            for (link, copy) in
                (0..topics).flat_map(|link| (0..copies).map(move |copy| (link, copy)))
            {
                let fate = if copy == 0 { Fate::Delivered } else { Fate::Duplicate };
                // The link after the first is that of messages in no sequence.
                let link = Link(if link == 0 { 0 } else { link + 1 });
                let due = at(n * period);
                let probe =
                    Probe { link, seq: 7 + n, due, received: Some(due), fate, ..Probe::default() };
                samples.push(Sample::Probe(probe));
            }
        }
        let recorded = recorded(MqttMode::Listen, samples);
        let wanted = f64::from(topics) * 1000.0 / period as f64;
        assert_eq!(cell(&summarized(&recorded), "message_rate").value, Some(wanted));
        assert_eq!(caveats(&recorded), [""; 0], "{topics} topics");
        let mut meter = crate::live::Meter::new(&recorded.workload, Origin::Measured);
        recorded.samples.iter().for_each(|it| meter.add(it));
        assert_eq!(meter.figures()[0].value, wanted);
    }
}

/// One topic with numbers, and one without: the loss is that of the former alone.
#[test]
fn messages_without_a_number_are_told_beside_a_topic_that_counts() {
    let probe = |link, n: u64| {
        let received = Some(at(100 * n));
        Sample::Probe(Probe {
            link: Link(link),
            seq: n,
            due: at(100 * n),
            received,
            ..Probe::default()
        })
    };
    let samples = (0..40).flat_map(|n| [probe(0, n), probe(1, n)]).collect();
    let mut recorded = recorded(MqttMode::Listen, samples);
    recorded.counters.insert("unnumbered".into(), 40);
    assert_eq!(
        caveats(&recorded),
        [
            "Loss and copies are those of 1 topic: 40 messages hold no number. The rate is that of all that came."
        ]
    );
    assert_eq!(cell(&summarized(&recorded), "message_rate").value, Some(20.0));
}

/// Messages that end in a humidity: each came, at its own time, and none is a copy.
#[test]
fn values_that_are_no_counter_give_the_rate_of_arrivals_and_no_loss() {
    let times: Vec<u64> = (0..20).map(|n| n * 100).collect();
    for (number, quoted) in [
        ((|_| 55) as fn(u64) -> u64, "55, over and over"),
        (|n| 53 + n * 7 % 5, "53, 55, 57, 54, …"),
    ] {
        let recorded = listened(&times, number, 2000);
        let cells = summarized(&recorded);
        assert_eq!(cell(&cells, "message_rate").value, Some(10.0));
        assert_eq!(cell(&cells, "interarrival_p50").value, Some(100.0));
        let tells = ["loss", "messages_lost", "messages_duplicate"];
        assert!(!cells.iter().any(|it| tells.contains(&it.id.metric.as_str())));
        let told = caveats(&recorded);
        let expected = alloc::format!("do not look numbered (their last digits are {quoted})");
        assert!(told.len() == 1 && told[0].contains(&expected), "{told:?}");
        let losses = crate::report::Losses::of(&recorded);
        assert_eq!((losses.probes, losses.is_clean()), (0, true), "nothing counts as a copy");
    }
}
