use super::*;
use crate::cell::{Cell, Identity, Origin};
use crate::plan::{Goal, defaults};
use crate::run::{Recorded, RunFacts};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::fact::{self, CertificateCheck};
use espbench_model::random::Xoshiro256PlusPlus;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{Iperf, MqttMode, MqttRate, Transport, UdpEcho, Workload};
use espbench_stats::Estimate;

fn at(ms: f64) -> Instant {
    Instant::from_nanos((ms * 1e6) as u64)
}

fn echo() -> UdpEcho {
    let Some(Workload::UdpEcho(echo)) = defaults("udp-echo") else { panic!("no default") };
    echo
}

/// Makes probes from (due, sent, received) in milliseconds.
fn probes(workload: UdpEcho, times: impl IntoIterator<Item = (f64, f64, f64)>) -> Recorded {
    let sample = |(due, sent, received)| {
        Sample::Probe(Probe {
            due: at(due),
            sent: Some(at(sent)),
            received: Some(at(received)),
            ..Probe::default()
        })
    };
    recorded(Workload::UdpEcho(workload), times.into_iter().map(sample).collect())
}

fn recorded(workload: Workload, samples: Vec<Sample>) -> Recorded {
    Recorded {
        ordinal: 0,
        repetition: 0,
        workload,
        samples,
        counters: BTreeMap::new(),
        facts: BTreeMap::new(),
        error: None,
    }
}

/// Makes one probe after the other, each with that round trip.
fn closed(round_trips: impl IntoIterator<Item = f64>) -> Recorded {
    let mut now = 0.0;
    probes(
        echo(),
        round_trips.into_iter().map(move |rtt| {
            let sent = now;
            now += rtt;
            (sent, sent, now)
        }),
    )
}

fn kinds(recorded: &Recorded) -> Vec<Advice> {
    advise(recorded).into_iter().map(|w| w.advice).collect()
}

fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    -libm::log(1.0 - random.unit())
}

#[test]
fn a_healthy_cell_has_no_advice() {
    let mut random = Xoshiro256PlusPlus::new(1);
    let healthy = closed((0..1000).map(|_| 3.0 + exponential(&mut random)));
    assert_eq!(kinds(&healthy), []);
    assert_eq!(kinds(&closed([])), []);
    assert_eq!(kinds(&closed([5.0; 100])), []);
}

#[test]
fn a_quantile_that_its_samples_do_not_enclose_is_named_with_its_value() {
    let cell = |metric: &str, n| {
        let id = Identity { metric: metric.into(), ..Identity::default() };
        Cell::of(Estimate::exact(5.0, n), id, "ms", Origin::Measured)
    };
    let of = |metric: &str, n| few_samples("round trip p99", &cell(metric, n));
    assert_eq!(
        of("rtt_p99", 200).unwrap().text(),
        "round trip p99, 5.000 ms: 200 samples are too few to enclose it from both sides. \
         The tail may be much longer than the figure says. \
         Take 368 samples or more, or read a lower quantile."
    );
    assert_eq!(
        of("rtt_p50", 1).unwrap().parts()[1..],
        ["The true median may be far from it.", "Take 6 samples or more."],
        "no quantile is lower in need"
    );
    assert_eq!(of("rtt_p99", 400), None, "enough");
    assert_eq!(of("rtt_p50", 6), None);
    assert_eq!(of("rtt_max", 3), None, "the largest of three is that");
    let pooled = Cell { ci_low: Some(4.0), ci_high: Some(6.0), ..cell("rtt_p99", 200) };
    assert_eq!(few_samples("", &pooled), None, "enclosed by the scatter of repetitions");
}

#[test]
fn two_groups_and_growth_are_told() {
    let mut random = Xoshiro256PlusPlus::new(1);
    let two = closed((0..600).map(|_| {
        let base = if random.unit() < 0.3 { 40.0 } else { 5.0 };
        base + random.unit()
    }));
    let got = kinds(&two);
    let [Advice::Bimodal { metric, low, high, unit }] = got.as_slice() else { panic!("{got:?}") };
    assert!((5.0..6.0).contains(low) && (40.0..41.0).contains(high) && unit == "ms");
    assert_eq!(metric, "round trip");
    // Devices at different places make groups of their own.
    let mut several = two.clone();
    for (number, sample) in several.samples.iter_mut().enumerate() {
        let Sample::Probe(probe) = sample else { continue };
        probe.link = Link((number % 2) as u16);
    }
    assert_eq!(kinds(&several).len(), 1, "clients at one place are one group");
    several.facts.insert(fact::DEVICES.name().into(), "2".into());
    assert_eq!(kinds(&several), []);

    let growing = closed((0..600).map(|i| (5.0 + f64::from(i) * 0.02) * (1.0 + random.unit())));
    let got = kinds(&growing);
    let [advice @ Advice::Drifting { first, last, .. }] = got.as_slice() else { panic!("{got:?}") };
    assert!(*last > 2.0 * first, "{got:?}");
    let seen = &advice.parts()[0];
    assert!(seen.starts_with("round trip: it grows during the cell, from "), "{seen}");
}

/// A queue that a sender without a pace fills grows by itself.
#[test]
fn latency_grows_where_messages_have_a_pace() {
    let Some(Workload::MqttRate(mqtt)) = defaults("mqtt-rate") else { panic!("no default") };
    let growing = |mode| {
        let sample = |n: u32| {
            let sent = f64::from(n);
            let (due, received) = (at(sent), Some(at(sent + 5.0 + 0.5 * sent)));
            Sample::Probe(Probe { due, sent: Some(due), received, ..Probe::default() })
        };
        let workload = Workload::MqttRate(MqttRate { mode, ..mqtt });
        kinds(&recorded(workload, (0..600).map(sample).collect()))
    };
    let drifts = |mode| growing(mode).iter().any(|it| matches!(it, Advice::Drifting { .. }));
    assert!(drifts(MqttMode::Offered(1000.0)));
    assert!(!drifts(MqttMode::Saturate), "the queue is full by intent");
}

/// Nobody can mend what a host's own wake-ups make of a round trip.
#[test]
fn stages_of_microseconds_raise_no_advice() {
    let mut random = Xoshiro256PlusPlus::new(1);
    let two = closed((0..600).map(|_| {
        let base = if random.unit() < 0.3 { 0.055 } else { 0.004 };
        base + 0.001 * random.unit()
    }));
    assert_eq!(kinds(&two), []);
    let falling = closed((0..600).map(|i| 0.030 - 0.00003 * f64::from(i) + 0.001 * random.unit()));
    assert_eq!(kinds(&falling), []);
}

#[test]
fn a_stream_that_slows_down_drifts() {
    let Some(Workload::Iperf(iperf)) = defaults("iperf") else { panic!("no default") };
    let second = |seq: u64, bytes: u64| {
        Sample::Interval(Interval {
            seq,
            start: at(1000.0 * seq as f64),
            end: at(1000.0 * (seq + 1) as f64),
            bytes,
            ..Interval::default()
        })
    };
    let falling = (0..20).map(|i| second(i, 5_000_000 - 200_000 * i)).collect();
    let got = kinds(&recorded(Workload::Iperf(iperf), falling));
    let [Advice::Drifting { metric, first, last, unit }] = got.as_slice() else {
        panic!("{got:?}")
    };
    assert!(*last < 0.5 * first, "{got:?}");
    assert_eq!((metric.as_str(), unit.as_str()), ("throughput", "Mbit/s"));
    // Only the last, short interval is slow.
    let steady = (0..20).map(|i| second(i, if i == 19 { 10 } else { 5_000_000 })).collect();
    assert_eq!(kinds(&recorded(Workload::Iperf(iperf), steady)), []);
}

#[test]
fn an_overflow_is_this_hosts_loss() {
    let mut cell = closed([5.0; 3]);
    cell.counters.insert("socket-overflow".into(), 0);
    assert_eq!(kinds(&cell), []);
    cell.counters.insert("socket-overflow".into(), 7);
    assert_eq!(kinds(&cell), [Advice::SocketBufferOverflow { dropped: 7 }]);
}

#[test]
fn a_sender_that_keeps_half_the_rate_is_behind() {
    let paced = UdpEcho { interval: Some(Duration::from_millis(10)), ..echo() };
    let every = |ms: f64| {
        probes(
            paced,
            (0..100).map(move |i| {
                let sent = f64::from(i) * ms;
                (f64::from(i) * 10.0, sent, sent + 2.0)
            }),
        )
    };
    let got = kinds(&every(20.0));
    let [Advice::SenderBehind { asked, kept, unit, response_ms, simulated: false }] =
        got.as_slice()
    else {
        panic!("{got:?}")
    };
    assert_eq!((*asked, unit.as_str()), (100.0, "probes/s"));
    assert!(libm::fabs(kept - 50.0) < 1e-6, "{kept}");
    // Each is sent 10 ms later than the one before, and round trips are 2 ms.
    assert!(response_ms.is_some_and(|it| libm::fabs(it - 497.0) < 1e-6), "{response_ms:?}");
    assert!(got[0].text().contains("a reply took 497.0 ms in the mean"), "{}", got[0].text());
    assert_eq!(kinds(&every(10.1)), []);
    assert!(got[0].text().contains("other load"));
    // A lab has no other load.
    let mut of_lab = every(20.0);
    of_lab.facts.insert("lab".into(), "office".into());
    assert!(!kinds(&of_lab)[0].text().contains("other load"));
    // A sender that waited for replies which never came was not held up by its host.
    let mut lost = every(20.0);
    for (at, sample) in lost.samples.iter_mut().enumerate() {
        let Sample::Probe(probe) = sample else { continue };
        if at % 3 > 0 {
            (probe.fate, probe.received) = (Fate::Lost(Cause::Unknown), None);
        }
    }
    assert_eq!(kinds(&lost), []);
    // What it never sent it did not wait for.
    let mut dropped = every(20.0);
    for (at, sample) in dropped.samples.iter_mut().enumerate() {
        let Sample::Probe(probe) = sample else { continue };
        if at % 3 > 0 {
            (probe.fate, probe.sent) = (Fate::Lost(Cause::ApplicationQueue), None);
        }
    }
    assert_eq!(kinds(&dropped).len(), 1);

    let Some(Workload::Iperf(iperf)) = defaults("iperf") else { panic!("no default") };
    let limited = Iperf { bandwidth: Some(40_000_000), ..iperf };
    let offered = Iperf { transport: Transport::Udp, ..limited };
    let total = |bytes| {
        Sample::Interval(Interval {
            total: true,
            observer: Observer::Sender,
            end: at(1000.0),
            bytes,
            ..Interval::default()
        })
    };
    let slow = recorded(Workload::Iperf(offered), vec![total(2_500_000)]);
    let wanted = Advice::SenderBehind {
        asked: 40.0,
        kept: 20.0,
        unit: "Mbit/s".into(),
        response_ms: None,
        simulated: false,
    };
    assert_eq!(kinds(&slow), [wanted]);
    assert_eq!(kinds(&recorded(Workload::Iperf(offered), vec![total(5_000_000)])), []);
    // Of several streams the advice is of all together, as the result is.
    let two = recorded(Workload::Iperf(offered), vec![total(2_500_000), total(5_000_000)]);
    let [Advice::SenderBehind { asked, kept, .. }] = kinds(&two)[..] else { panic!() };
    assert_eq!((asked, kept), (80.0, 60.0));
    // Of a test that failed the cause is told, and nothing else to do.
    let failed = Recorded { error: Some("Connection refused".into()), ..slow.clone() };
    assert_eq!(kinds(&failed), []);
    let over_tcp = recorded(Workload::Iperf(limited), vec![total(2_500_000)]);
    assert_eq!(kinds(&over_tcp), [], "over TCP a rate is a limit");
}

/// A station that answers right after the next beacon, to probes sent at any time.
#[test]
fn a_sleeping_station_keeps_the_beacons_phase() {
    let mut random = Xoshiro256PlusPlus::new(3);
    let paced = UdpEcho { interval: Some(Duration::from_millis(250)), ..echo() };
    let mut asleep = |interval: f64| {
        (0..200)
            .map(|i| {
                let sent = f64::from(i) * interval;
                let beacon = libm::ceil(sent / 102.4) * 102.4;
                (sent, sent, beacon + 2.0 + 2.0 * exponential(&mut random))
            })
            .collect::<Vec<_>>()
    };
    let got = kinds(&probes(paced, asleep(250.0)));
    let comb = |a: &Advice| matches!(a, Advice::BeaconComb { strength, .. } if *strength > 0.9);
    assert!(got.iter().any(comb), "{got:?}");
    // It names the figure that it is about.
    let text = got.iter().find(|it| comb(it)).unwrap().text();
    assert!(text.starts_with("round trip p50, 5") && text.contains(" ms: replies come"), "{text}");
    // Of a plan that is about the battery it is no news, nor is it where a lab's file has the sleep.
    let cell = [probes(paced, asleep(250.0))];
    let is_told = |goal: &str, origin: Origin| {
        let plan_text = format!("name = \"sleep\"\n{goal}\n[[measure]]\nkind = \"udp-echo\"\n");
        let facts = RunFacts { plan_text, origin, ..RunFacts::default() };
        let report = crate::report::report(&facts, None, &cell, 1, &[]);
        report.warnings.iter().any(|it| comb(&it.advice))
    };
    for goal in ["", "goal = \"latency\""] {
        assert!(is_told(goal, Origin::Measured) && !is_told(goal, Origin::Simulated), "{goal}");
    }
    assert!(!is_told("goal = \"battery\"", Origin::Measured));
    // Two groups are told where a mean or a median is shown.
    let groups =
        Advice::Bimodal { metric: "latency".into(), low: 5.0, high: 40.0, unit: "ms".into() };
    assert!(groups.is_idle(Some(Goal::Battery), Origin::Measured));
    assert!(!groups.is_idle(None, Origin::Simulated));
    // Probes sent in phase prove nothing.
    let in_step = UdpEcho { interval: Some(Duration::from_millis(1024)), ..echo() };
    let got = kinds(&probes(in_step, asleep(1024.0)));
    assert!(!got.iter().any(comb), "{got:?}");
    // Nor do slow but wakeful stations.
    let mut random = Xoshiro256PlusPlus::new(4);
    let slow = closed((0..300).map(|_| 30.0 + 10.0 * exponential(&mut random)));
    assert!(!kinds(&slow).iter().any(|a| matches!(a, Advice::BeaconComb { .. })));
}

#[test]
fn a_coarse_clock_is_told_from_the_calibration() {
    let cell = |metric: &str, unit: &str, value| {
        let id = Identity { metric: metric.into(), ..Identity::default() };
        Cell::of(Estimate::exact(value, 9), id, unit, Origin::Measured)
    };
    let time = cell("rtt_p50", "ms", 0.02);
    assert_eq!(clock("round trip p50", &time, 1000), None);
    let coarse = clock("round trip p50", &time, 15_000).unwrap();
    assert_eq!(
        coarse.parts()[0],
        "round trip p50, 20.00 us: the clock moves in steps of 15.00 us."
    );
    assert_eq!(clock("lost", &cell("loss", "percent", 1.0), 15_000), None);
    assert_eq!(
        clock("added", &cell("rtt_added_p50", "ms", 0.0), 20),
        None,
        "a difference of nothing"
    );
}

#[test]
fn a_certificate_that_was_not_checked_is_told() {
    let mut recorded = closed((0..9).map(|_| 1.0));
    let mut told = |certificate: CertificateCheck| {
        let (name, value) = fact::TLS_CERTIFICATE.of(certificate);
        recorded.facts.insert(name.into(), format!("{value}"));
        kinds(&recorded).contains(&Advice::CertificateNotVerified)
    };
    assert!(told(CertificateCheck::NotVerified));
    assert!(!told(CertificateCheck::Verified));
}

#[test]
fn a_device_beyond_the_model_of_its_place_is_told() {
    let mut recorded = closed((0..9).map(|_| 1.0));
    recorded.facts.insert(fact::FARTHEST_M.name().into(), "10000".into());
    assert!(!kinds(&recorded).iter().any(|it| matches!(it, Advice::BeyondModel { .. })));
    recorded.facts.insert(fact::MODEL_ENDS_M.name().into(), "10".into());
    let told = Advice::BeyondModel { farthest_m: 10_000.0, valid_m: 10.0 };
    assert!(kinds(&recorded).contains(&told));
    assert_eq!(
        told.parts()[0],
        "A device is 10000 m away, and the model of this place ends at 10 m."
    );
}

#[test]
fn every_advice_has_three_parts_and_reads_back() {
    let all = [
        Advice::FewSamples {
            metric: "round trip p99".into(),
            value: 5.0,
            unit: "ms".into(),
            n: 20,
            needed: 368,
        },
        Advice::Bimodal { metric: "latency".into(), low: 5.0, high: 40.0, unit: "ms".into() },
        Advice::Drifting { metric: "rate".into(), first: 10.0, last: 15.0, unit: "Mbit/s".into() },
        Advice::ClockTooCoarse { metric: "delay".into(), step_ns: 15_000, value_ns: 20_000 },
        Advice::SocketBufferOverflow { dropped: 7 },
        Advice::SenderBehind {
            asked: 100.0,
            kept: 50.0,
            unit: "probes/s".into(),
            response_ms: Some(81.0),
            simulated: true,
        },
        Advice::BeaconComb { median_ms: Some(53.0), period_ms: 102.4, strength: 0.93 },
        Advice::CertificateNotVerified,
        Advice::BeyondModel { farthest_m: 40.0, valid_m: 30.0 },
    ];
    for advice in all {
        for part in advice.parts() {
            assert!(part.ends_with('.') && !part.contains("  "), "{part}");
        }
        let (place, workload) = ("udp-echo, 100 B".into(), "udp-echo".into());
        let warning = Warning { place, cell: 1, workload, advice };
        let json = serde_json::to_string(&warning).unwrap();
        assert_eq!(serde_json::from_str::<Warning>(&json).unwrap(), warning);
    }
    // An older report does not tell the median: it is unknown, and not zero.
    let comb = Advice::BeaconComb { median_ms: Some(53.0), period_ms: 102.4, strength: 0.93 };
    let mut older = serde_json::to_value(&comb).unwrap();
    let fields = older.as_object_mut().unwrap();
    assert!(fields.remove("median_ms").is_some());
    let read: Advice = serde_json::from_value(older).unwrap();
    assert!(read.text().starts_with("round trip: replies come"), "{read}");
}

#[test]
fn repetitions_of_a_cell_are_one_cell() {
    let of = |cell| Warning {
        place: "udp-echo, 100 B".into(),
        cell,
        workload: "udp-echo".into(),
        advice: Advice::CertificateNotVerified,
    };
    let all = [1, 1, 2, 1, 2].map(of);
    assert_eq!(Warning::cells(&all.iter().collect::<Vec<_>>()), 2);
}

#[test]
fn the_worst_cell_of_a_kind_is_named() {
    let of = |(cell, refused): (u32, u64)| Warning {
        place: String::new(),
        cell,
        workload: "iperf".into(),
        advice: Advice::SendsRefused { refused, offered: 100 },
    };
    let mut all: Vec<Warning> = [(1, 2), (2, 87), (3, 33)].map(of).into();
    all.insert(0, Warning { advice: Advice::CertificateNotVerified, ..all[0].clone() });
    let kinds = Warning::by_kind(&all);
    let told: Vec<(usize, u32, bool)> = kinds
        .iter()
        .map(|it| (it.len(), Warning::worst(it).cell, Warning::are_alike(it)))
        .collect();
    assert_eq!(told, [(3, 2, false), (1, 1, true)]);
    let grows =
        |first, last| Advice::Drifting { metric: String::new(), first, last, unit: "ms".into() };
    assert!(grows(0.0, 5.0).degree() > grows(1.0, 3.0).degree());
}

/// The figure that leads is the mean of the repetitions, and so is the advice on it.
#[test]
fn refused_sends_are_told_as_the_mean_of_the_repetitions() {
    let cells = |refused: f64, rate_offered: bool| -> Vec<Cell> {
        let metrics = [("packets_refused", refused), ("loss_of_offered", 1.0)];
        let offered = if rate_offered { 2 } else { 1 };
        metrics[..offered]
            .iter()
            .map(|(metric, value)| {
                let id = Identity { metric: (*metric).into(), ..Identity::default() };
                Cell::of(Estimate::exact(*value, 2052), id, "packets", Origin::Measured)
            })
            .collect()
    };
    let of = |refused: &[f64], rate_offered| {
        let all: Vec<Vec<Cell>> = refused.iter().map(|it| cells(*it, rate_offered)).collect();
        sends_refused(all.iter().map(Vec::as_slice))
    };
    let advice = |refused| Some(Advice::SendsRefused { refused, offered: 2052 });
    assert_eq!(of(&[100.0, 89.0, 0.0], true), advice(63));
    assert_eq!(of(&[1.0, 0.0, 0.0, 0.0], true), advice(1), "few are some");
    assert_eq!((of(&[0.0, 0.0], true), of(&[100.0], false)), (None, None));
}
