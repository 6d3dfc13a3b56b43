//! Tests of the trace: a history is told frame by frame, and the kept part is checked.

use super::*;
use crate::lab::nodes::NodeId;
use crate::lab::nodes::note::{Note, Watch as _};
use crate::lab::record::Record;
use crate::lab::run::Tap as _;
use alloc::string::ToString;
use espbench_model::excerpt::{ExcerptLine, FACT, StationLevel};
use espbench_model::sample::{Cause, Fate, Probe as Sampled, Sample};

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// Makes a tracer of three stations without names of their own.
fn tracer(limits: Limits) -> Tracer {
    let names = ["node0", "node1", "node2"].map(String::from);
    Tracer::named(names.into(), 3, limits)
}

fn data(from: u32, to: Option<u32>, queued: u64, begin: u64, took: u64) -> Flight {
    Flight {
        what: AirtimeKind::Data,
        from,
        to,
        queued: at(queued),
        begin: at(begin),
        end: at(begin + took),
        channel: 1,
        mode: WifiMode::ESP_NOW,
        octets: 82,
        sequence: 7,
        attempt: 1,
        heard: 1,
        collided: 0,
        noise: 0,
        queue: 1,
        mpdus: 1,
        lost: 0,
    }
}

fn ack(from: u32, to: u32, begin: u64) -> Flight {
    Flight { what: AirtimeKind::Ack, octets: 14, ..data(from, Some(to), begin, begin, 304) }
}

fn pinged(seq: u64, sent: u64, received: Option<u64>) -> Sample {
    Sample::Probe(Sampled {
        seq,
        sent: Some(at(sent)),
        due: at(sent),
        received: received.map(at),
        fate: if received.is_some() { Fate::Delivered } else { Fate::Lost(Cause::Collision) },
        ..Sampled::default()
    })
}

/// Tells of a ping, its answer, and two frames that collide.
fn story(tracer: &mut Tracer) {
    let node = NodeId(0);
    tracer.note(at(100), &Note::Started { node, resets: 0 });
    tracer.flight(&data(0, Some(1), 1000, 1050, 848), None);
    tracer.flight(&ack(1, 0, 1908), None);
    tracer.flight(&data(1, Some(0), 2300, 2400, 848), None);
    tracer.flight(&ack(0, 1, 3258), None);
    // On the node's clock, which began 100 us later than the lab's.
    tracer.note(at(3600), &Note::Sample { node, sample: &pinged(0, 900, Some(3500)) });
    let collided = |from| Flight { heard: 0, collided: 2, ..data(from, None, 5000, 5000, 848) };
    tracer.flight(&collided(1), None);
    tracer.flight(&collided(2), None);
    tracer.lost(at(5848), 0, Cause::Collision);
    tracer.flight(&Flight { attempt: 2, sequence: 8, ..data(1, Some(0), 5000, 6500, 848) }, None);
    tracer.note(at(6400), &Note::Sample { node, sample: &pinged(1, 4800, None) });
}

#[test]
fn a_ping_and_a_collision_as_text() {
    let mut tracer = tracer(Limits::default());
    story(&mut tracer);
    insta::assert_snapshot!(tracer.finish(at(10_000)).text());
}

#[test]
fn every_line_is_read_back() {
    let mut tracer = tracer(Limits::default());
    story(&mut tracer);
    let text = tracer.finish(at(10_000)).text();
    for line in text.lines() {
        assert_eq!(ExcerptLine::read(line).map(|it| it.to_string()).as_deref(), Some(line));
    }
}

#[derive(Default)]
struct KeptFacts(Vec<(String, u64)>, Vec<(String, String)>);

impl Record for KeptFacts {
    fn sample(&mut self, _: Sample) {}

    fn count(&mut self, name: &str, by: u64) {
        self.0.push((name.into(), by));
    }

    fn fact(&mut self, name: &str, value: String) {
        self.1.push((name.into(), value));
    }
}

#[test]
fn a_channels_counters_add_up_to_the_time() {
    let mut tracer = tracer(Limits::default());
    story(&mut tracer);
    let mut kept = KeptFacts::default();
    tracer.finish(at(10_000)).record(&mut kept);
    let of = |name: &str| kept.0.iter().find(|it| it.0 == name).map(|it| it.1);
    assert_eq!(of("air-ns-ch1-data"), Some(3 * 848_000));
    assert_eq!(of("air-ns-ch1-ack"), Some(2 * 304_000));
    assert_eq!(of("air-ns-ch1-collided"), Some(848_000));
    assert_eq!(kept.0.iter().map(|it| it.1).sum::<u64>(), 10_000_000);
    assert_eq!(kept.1.len(), 1);
    assert_eq!(kept.1[0].0, FACT);
}

#[test]
fn memory_and_text_stay_bounded() {
    let mut tracer = tracer(Limits::default());
    for frame in 0..200_000_u64 {
        // A queue that grows for ever: each frame waits longer than the one before.
        let begin = frame * 1000;
        tracer.flight(&data((frame % 3) as u32, None, begin / 2, begin, 900), None);
        let sample = pinged(frame, begin / 2, Some(begin));
        tracer.note(at(begin), &Note::Sample { node: NodeId(0), sample: &sample });
    }
    let trace = tracer.finish(at(200_000_000));
    for window in &trace.windows {
        assert!(window.flights.len() <= 240 && window.probes.len() <= 256, "{}", window.why);
        assert!(window.flights.iter().all(|it| it.flight.end >= window.begin));
    }
    assert_eq!(trace.windows.len(), 2);
    assert!(trace.text().len() < 64 << 10, "{}", trace.text().len());
}

#[test]
fn what_was_before_the_measurement_is_forgotten() {
    let mut tracer = tracer(Limits::default());
    story(&mut tracer);
    tracer.restart(at(6000), Limits::default());
    tracer.flight(&data(0, None, 7000, 7000, 848), None);
    let trace = tracer.finish(at(8000));
    assert_eq!(trace.time, core::time::Duration::from_millis(2));
    assert_eq!(trace.channels[&1].busy(), 848_000);
    assert_eq!(trace.windows[0].flights.len(), 1);
}

#[test]
fn of_a_lost_probe_its_frame_is_shown_and_of_a_late_frame_its_end() {
    let mut tracer = tracer(Limits { first: 5, around: 20, ..Limits::default() });
    // Before the first probe there is a chat that does not matter.
    for i in 0..10 {
        tracer.flight(&data(2, None, 100 * i, 100 * i, 90), None);
    }
    tracer.flight(&data(0, Some(1), 10_000, 10_100, 500), None);
    for i in 1..2000 {
        let begin = 10_000 + 1500 * i;
        tracer.flight(&data(2, None, begin, begin, 800), None);
    }
    let node = NodeId(0);
    let sample = pinged(1, 10_000, None);
    tracer.note(at(3_010_000), &Note::Sample { node, sample: &sample });
    let windows = tracer.finish(at(3_020_000)).windows;
    let whys: Vec<&str> = windows.iter().map(|it| it.why.as_str()).collect();
    assert_eq!(whys, ["The first probe", "The first probe that was lost"]);
    for window in &windows {
        let own = window.flights.iter().filter(|it| it.flight.from == 0);
        assert_eq!((own.count(), window.probes.len()), (1, 1), "{}", window.why);
    }
    assert!(windows[0].flights.iter().all(|it| it.flight.begin >= at(7_000)));

    let mut late = self::tracer(Limits { around: 20, ..Limits::default() });
    for i in 0..400 {
        late.flight(&data(2, None, 1000 * i, 1000 * i, 800), None);
    }
    late.flight(&data(0, Some(1), 0, 400_000, 800), None);
    let windows = late.finish(at(500_000)).windows;
    let last = windows.last().unwrap();
    assert_eq!((last.why.as_str(), last.flights.len()), ("The frame that took longest", 20));
    assert_eq!(last.flights.last().unwrap().flight.from, 0, "it is there itself");
    assert!(last.begin >= at(380_000) && last.missing > 300);
}

#[test]
fn levels_are_told_with_the_window_that_they_changed_in() {
    let mut tracer = tracer(Limits::default());
    tracer.level(at(100), 0, StationLevel::CongestionWindow, 1440);
    tracer.level(at(150), 0, StationLevel::CongestionWindow, 2880);
    tracer.flight(&data(0, Some(1), 900, 1000, 848), None);
    tracer.level(at(1500), 0, StationLevel::InFlight, 1440);
    tracer.level(at(1500), 0, StationLevel::InFlight, 1440);
    tracer.level(at(2000), 0, StationLevel::InFlight, 0);
    tracer.level(at(900_000), 2, StationLevel::Heap, 5);
    let text = tracer.finish(at(1_000_000)).text();
    let series: Vec<&str> = text.lines().filter(|line| line.starts_with("series")).collect();
    // Once for the start, once for the frame that took longest.
    assert_eq!(
        series,
        [
            "series 0 cwnd 900000:2880",
            "series 0 in-flight 1500000:1440,500000:0",
            "series 0 cwnd 100000:1440,50000:2880",
            "series 0 in-flight 1500000:1440,500000:0",
        ]
    );
}
