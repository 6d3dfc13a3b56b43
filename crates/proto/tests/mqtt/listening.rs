//! Listening to a device that numbers its own messages.

use crate::rig::{MS, settings};
use espbench_model::sample::{Cause, Fate, Interval, Link, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::listener::{ListenerStorage, SubscriberStorage};
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::topics::{FARTHEST_AHEAD, FARTHEST_BEHIND, TopicNumbers};
use espbench_proto::node::mqtt::{Listener, MqttFault, MqttSettings};
use espbench_proto::wire::mqtt::{ConnAck, ControlPacket, Publish, RawPacket, SubAck, Version};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Topics whose numbers are kept.
const TOPICS: usize = 3;

/// A listener and a broker, on virtual time.
struct Radio {
    listener: Listener<'static>,
    now: Instant,
    samples: Vec<Sample>,
    sent: Vec<String>,
    pongs: bool,
    next_id: u16,
    done: bool,
}

fn seconds(time: u64) -> MqttSettings<'static> {
    MqttSettings { time: Duration::from_secs(time), version: Version::V311, ..settings(0) }
}

impl Radio {
    fn new(settings: MqttSettings<'static>) -> Self {
        let subscriber = SubscriberStorage {
            packet: vec![0; 256].leak(),
            answers: vec![PendingAck::default(); 64].leak(),
            seen: Box::leak(Box::new([0; SEEN])),
        };
        let topics = vec![TopicNumbers::EMPTY; TOPICS].leak();
        let memory = ListenerStorage { subscriber, topics };
        let mut radio = Self {
            listener: Listener::new(settings, memory),
            now: Instant::from_nanos(3_000_000),
            samples: Vec::new(),
            sent: Vec::new(),
            pongs: true,
            next_id: 0,
            done: false,
        };
        radio.listener.connected(radio.now);
        radio.drain();
        radio
    }

    fn answer(&mut self, bytes: &[u8]) {
        let (frame, len) = RawPacket::cut(bytes).unwrap().unwrap();
        assert_eq!(len, bytes.len(), "one packet at a time");
        let packet = ControlPacket::parse(Version::V311, &frame).unwrap();
        self.sent.push(format!("{packet:?}").split(['(', ' ']).next().unwrap().to_string());
        match packet {
            ControlPacket::Connect(_) => self.give(&ControlPacket::ConnAck(ConnAck::ACCEPTED)),
            ControlPacket::Subscribe(s) => {
                let [("t", options)] = s.filters.collect::<Vec<_>>()[..] else {
                    panic!("one topic")
                };
                self.give(&ControlPacket::SubAck(SubAck { id: s.id, codes: &[options.qos] }));
            }
            ControlPacket::PingReq if self.pongs => self.give(&ControlPacket::PingResp),
            ControlPacket::PubRec(ack) => self.give(&ControlPacket::PubRel(ack)),
            _ => {}
        }
    }

    fn give(&mut self, packet: &ControlPacket<'_>) {
        let mut buf = [0; 256];
        let len = packet.emit(Version::V311, &mut buf).unwrap();
        let mut chunk = &buf[..len];
        while let Some(sample) = self.listener.receive(self.now, &mut chunk) {
            self.samples.push(sample);
        }
        assert!(chunk.is_empty());
    }

    /// Polls until nothing more is wanted at this instant; returns when it next is.
    fn drain(&mut self) -> Instant {
        let mut buf = [0; 256];
        for _ in 0..100_000 {
            match self.listener.poll(self.now, &mut buf) {
                Output::Send { len } => {
                    self.listener.written();
                    self.answer(&buf[..len]);
                }
                Output::Sample(sample) => self.samples.push(sample),
                Output::WaitUntil(until) => return until,
                Output::Done => {
                    self.done = true;
                    return Instant::NEVER;
                }
            }
        }
        panic!("a machine must come to an end");
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let wake = self.drain();
            assert!(wake > self.now, "a machine must not want to be asked again at once");
            if wake >= until {
                break;
            }
            self.now = wake;
        }
        self.now = until;
        self.drain();
    }

    fn message(&mut self, qos: u8, retain: bool, payload: &str) {
        self.message_on("t", qos, retain, payload);
    }

    fn message_on(&mut self, topic: &str, qos: u8, retain: bool, payload: &str) {
        self.next_id += 1;
        let id = if qos > 0 { self.next_id } else { 0 };
        let payload = payload.as_bytes();
        let publish = Publish { qos, retain, id, ..Publish::new(topic, payload) };
        self.give(&ControlPacket::Publish(publish));
        self.drain();
    }

    fn samples_numbered(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.message(0, false, &format!("Sample #{number}"));
            self.pass(MS * 10);
        }
    }

    fn probes(&self) -> impl Iterator<Item = &Probe> {
        self.samples.iter().filter_map(|sample| match sample {
            Sample::Probe(probe) => Some(probe),
            Sample::Interval(_) => None,
        })
    }

    fn seqs(&self, fate: Fate) -> Vec<u64> {
        self.probes().filter(|p| p.fate == fate).map(|p| p.seq).collect()
    }

    fn intervals(&self, total: bool) -> Vec<Interval> {
        let of = |sample: &Sample| match sample {
            Sample::Interval(i) if i.total == total => Some(*i),
            _ => None,
        };
        self.samples.iter().filter_map(of).collect()
    }

    fn counter(&self, name: &str) -> u64 {
        self.listener.counters().iter().find(|(n, _)| *n == name).unwrap().1
    }
}

const LOST: Fate = Fate::Lost(Cause::Unknown);

/// The figure of the published document: #10282 "was never sent nor received".
#[test]
fn a_skipped_number_is_a_loss_and_is_named() {
    let mut radio = Radio::new(seconds(2));
    radio.samples_numbered(&[10_280, 10_281, 10_283, 10_287, 10_285, 10_285]);
    radio.pass(Duration::from_secs(2));
    assert!(radio.done);
    assert_eq!(radio.seqs(Fate::Delivered), [10_280, 10_281, 10_283, 10_287, 10_285]);
    assert_eq!(radio.seqs(Fate::Duplicate), [10_285]);
    assert_eq!(radio.seqs(LOST), [10_282, 10_284, 10_286]);
    let named: Vec<_> = radio.listener.named().map(|it| it.1).collect();
    assert_eq!(named, [10_282..10_283, 10_284..10_285, 10_286..10_287]);
    let [total] = radio.intervals(true)[..] else { panic!("one total") };
    assert_eq!(total.end.since(total.start), Duration::from_secs(2));
    let counts = (total.datagrams, total.lost, total.out_of_order, total.duplicates);
    assert_eq!(counts, (Some(5), Some(3), Some(1), Some(1)));
    assert_eq!(total.bytes, 5 * 13);
    assert_eq!(radio.sent.first().map(String::as_str), Some("Connect"));
    assert_eq!(radio.sent.last().map(String::as_str), Some("Disconnect"));
    assert!(!radio.sent.iter().any(|packet| packet == "Publish"));
}

#[test]
fn a_restarted_device_is_no_loss() {
    let mut radio = Radio::new(seconds(5));
    radio.samples_numbered(&[500, 502, 0, 1, 3, 1_000_000, 1_000_001]);
    radio.pass(Duration::from_secs(5));
    assert_eq!(radio.counter("restarts"), 2);
    assert_eq!(radio.seqs(LOST), [501, 2]);
    assert_eq!(radio.seqs(Fate::Delivered), [500, 502, 0, 1, 3, 1_000_000, 1_000_001]);
    assert!(radio.seqs(Fate::Duplicate).is_empty());
}

/// Two devices to one filter, each with a counter of its own: one loses a number, the other none.
#[test]
fn each_topic_has_a_sequence_of_its_own() {
    let mut radio = Radio::new(seconds(2));
    for n in 0..20 {
        radio.message_on("sensor/a", 0, false, &format!("{{\"seq\":{n}}}"));
        if n != 7 {
            radio.message_on("sensor/b", 0, false, &format!("{{\"seq\":{n}}}"));
        }
        radio.pass(MS * 10);
    }
    radio.pass(Duration::from_secs(2));
    assert_eq!((radio.seqs(LOST), radio.seqs(Fate::Duplicate)), (vec![7], vec![]));
    let named: Vec<_> = radio.listener.named().map(|(name, it)| (name.text(), it)).collect();
    assert_eq!(named, [("sensor/b", 7..8)]);
    let of = |link| radio.probes().filter(|it| it.link == Link(link)).count();
    assert_eq!((of(3), of(4), of(5)), (20, 0, 20), "link 4 is that of messages without a number");
    let total = radio.intervals(true)[0];
    assert_eq!((total.datagrams, total.lost, total.duplicates), (Some(39), Some(1), Some(0)));
}

#[test]
fn topics_beyond_the_memory_are_counted_apart() {
    let mut radio = Radio::new(seconds(2));
    for (n, topic) in ["a", "b", "c", "d", "e", "d"].into_iter().enumerate() {
        radio.message_on(topic, 0, false, "5");
        assert_eq!(radio.listener.topics().count(), (n + 1).min(TOPICS));
    }
    radio.pass(Duration::from_secs(2));
    assert_eq!(radio.counter("untracked"), 3);
    assert!(radio.seqs(Fate::Duplicate).is_empty());
    assert_eq!(radio.seqs(Fate::Delivered), [5, 5, 5, 0, 1, 2]);
}

/// Numbers begin again near 0, a few behind the last: neither a copy nor a loss.
#[test]
fn a_device_that_restarts_after_a_few_messages_sends_no_copies() {
    let mut radio = Radio::new(seconds(5));
    radio.samples_numbered(&[3, 4, 5, 7, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 5, 7, 1]);
    radio.pass(Duration::from_secs(5));
    assert_eq!(radio.counter("restarts"), 2);
    assert_eq!((radio.seqs(LOST), radio.seqs(Fate::Duplicate)), (vec![6], vec![7, 5]));
}

#[test]
fn messages_without_a_number_count_for_the_rate_alone() {
    let mut radio = Radio::new(seconds(2));
    for text in ["Q", "Sample #4", "Q", ""] {
        radio.message(0, false, text);
    }
    radio.pass(Duration::from_secs(2));
    assert_eq!((radio.counter("unnumbered"), radio.seqs(LOST).len()), (3, 0));
    let links: Vec<u16> = radio.probes().map(|probe| probe.link.0).collect();
    assert_eq!(links, [4, 3, 4, 4], "link 3 has the numbered ones");
    assert_eq!(radio.probes().filter(|p| p.link == Link(4)).count(), 3);
    assert_eq!(radio.intervals(true)[0].datagrams, Some(4));
}

#[test]
fn what_the_broker_had_kept_is_passed_over() {
    let mut radio = Radio::new(seconds(2));
    radio.message(0, true, "Sample #100");
    radio.pass(MS * 1500);
    radio.samples_numbered(&[200]);
    radio.pass(Duration::from_secs(3));
    assert_eq!((radio.counter("retained"), radio.probes().count()), (1, 1));
    let total = radio.intervals(true)[0];
    assert_eq!(total.end.since(total.start), Duration::from_secs(2), "from the first new one on");
}

#[test]
fn every_second_has_its_interval_and_silence_keeps_the_connection() {
    let mut radio = Radio::new(seconds(30));
    radio.samples_numbered(&[1, 2]);
    radio.pass(Duration::from_secs(25));
    radio.samples_numbered(&[3]);
    radio.pass(Duration::from_secs(6));
    assert!(radio.done && radio.listener.fault().is_none());
    let counts: Vec<_> = radio.intervals(false).iter().map(|i| i.datagrams.unwrap()).collect();
    assert_eq!(counts.len(), 29, "from between the first two on, each whole second of 30");
    assert_eq!((counts[0], counts[25], counts.iter().sum::<u64>()), (1, 1, 2));
    assert!(radio.sent.iter().filter(|packet| *packet == "PingReq").count() >= 4);
}

/// n + 1 messages in n periods: the first one opens the time and is in no second. A device's clock wavers, which puts
/// no message into another second.
#[test]
fn each_second_of_a_steady_device_holds_its_rate() {
    for (rate, time) in [(50, 1), (50, 2), (50, 4), (50, 8), (10, 4)] {
        let mut radio = Radio::new(seconds(time));
        for number in 0..=rate * time {
            radio.message(0, false, &format!("Sample #{number}"));
            let waver = if number % 2 == 0 { MS } else { Duration::ZERO };
            radio.pass(Duration::from_secs(1) / rate as u32 + waver - MS / 2);
        }
        radio.pass(Duration::from_secs(1));
        let counts: Vec<_> = radio.intervals(false).iter().map(|i| i.datagrams.unwrap()).collect();
        let (rest, whole) = counts.split_last().unwrap();
        assert!(whole.len() as u64 == time - 1 && whole.iter().all(|n| *n == rate), "{counts:?}");
        assert!(*rest < rate, "{counts:?}");
        let [total] = radio.intervals(true)[..] else { panic!("one total") };
        assert!((rate * time..=rate * time + 1).contains(&total.datagrams.unwrap()), "{total:?}");
    }
    // Slower than a message a second.
    let mut radio = Radio::new(seconds(10));
    for number in 0..3 {
        radio.message(0, false, &format!("Sample #{number}"));
        radio.pass(Duration::from_secs(4));
    }
    let counts: Vec<_> = radio.intervals(false).iter().map(|i| i.datagrams.unwrap()).collect();
    assert_eq!(counts.iter().sum::<u64>(), 2, "{counts:?}");
    assert!(radio.intervals(false).iter().all(|i| i.end.since(i.start) <= Duration::from_secs(1)));
}

#[test]
fn a_dead_broker_is_noticed_in_the_silence() {
    let mut radio = Radio::new(seconds(60));
    radio.samples_numbered(&[1, 3]);
    radio.pongs = false;
    radio.pass(Duration::from_secs(20));
    assert_eq!(radio.listener.fault(), Some(MqttFault::Silent { awaiting: "PINGRESP" }));
    assert!(radio.done);
    assert_eq!(radio.seqs(LOST), [2], "what is known so far is kept");
}

#[test]
fn a_device_that_is_off_is_given_up() {
    for (time, patience) in [(2, 10), (30, 30)] {
        let mut radio = Radio::new(seconds(time));
        radio.pass(Duration::from_secs(patience) - MS);
        assert!(!radio.done);
        radio.pass(MS * 2);
        assert!(radio.done && radio.listener.is_silent());
        assert_eq!(radio.listener.patience(), Duration::from_secs(patience));
        assert!(radio.samples.is_empty());
    }
}

#[test]
fn higher_qualities_are_acknowledged() {
    let mut radio = Radio::new(MqttSettings { qos: 2, ..seconds(1) });
    radio.message(1, false, "1");
    radio.message(2, false, "2");
    radio.pass(Duration::from_secs(2));
    let sent: Vec<&str> = radio.sent.iter().map(String::as_str).collect();
    assert_eq!(sent, ["Connect", "Subscribe", "PubAck", "PubRec", "PubComp", "Disconnect"]);
    assert_eq!(radio.seqs(Fate::Delivered), [1, 2]);
}

#[test]
fn a_stop_and_a_broken_connection_end_it() {
    let mut radio = Radio::new(seconds(60));
    radio.samples_numbered(&[1, 3]);
    radio.listener.stop(radio.now);
    radio.pass(MS);
    assert!(radio.done);
    assert_eq!(radio.seqs(LOST), [2]);
    let mut radio = Radio::new(seconds(60));
    radio.samples_numbered(&[1, 3]);
    radio.listener.closed();
    radio.pass(MS);
    assert!(radio.done);
    assert_eq!(radio.listener.fault(), Some(MqttFault::ConnectionLost));
    assert_eq!(radio.seqs(LOST), [2]);
}

proptest! {
    /// Without restarts: each number of the span is delivered once or lost once, and never both.
    #[test]
    fn agrees_with_a_set(steps in prop::collection::vec(-20_i64..30, 1..400)) {
        let mut radio = Radio::new(seconds(60));
        let (mut top, mut seen) = (1_000_i64, BTreeSet::new());
        let mut numbers = vec![1_000_u64];
        for step in steps {
            let number = top + step;
            top = top.max(number);
            numbers.push(number.max(1_000) as u64);
        }
        for number in &numbers {
            radio.message(0, false, &number.to_string());
            seen.insert(*number);
        }
        radio.pass(Duration::from_secs(61));
        prop_assert_eq!(radio.counter("restarts"), 0);
        let sorted = |mut seqs: Vec<u64>| { seqs.sort_unstable(); seqs };
        let last = *seen.last().unwrap();
        let missing: Vec<u64> = (1_000..=last).filter(|n| !seen.contains(n)).collect();
        let lost = sorted(radio.seqs(LOST));
        prop_assert_eq!(radio.listener.lost(), lost.len() as u64);
        // A range that was forgotten is lost, also where one of its numbers comes after all.
        prop_assert!(missing.iter().all(|n| lost.binary_search(n).is_ok()));
        let delivered = sorted(radio.seqs(Fate::Delivered));
        let accounted = sorted(delivered.iter().chain(&lost).copied().collect());
        prop_assert_eq!(accounted, (1_000..=last).collect::<Vec<_>>());
        let arrived = delivered.len() + radio.seqs(Fate::Duplicate).len();
        prop_assert_eq!(arrived, numbers.len());
    }

    /// Whatever the numbers: it ends, nothing is counted twice, and losses stay within bounds.
    #[test]
    fn any_numbers_at_all(numbers in prop::collection::vec(prop_oneof![
        any::<u64>(), 0..300_u64, (u64::MAX - 5)..=u64::MAX,
    ], 1..60)) {
        let mut radio = Radio::new(seconds(60));
        for number in &numbers {
            radio.message(0, false, &number.to_string());
        }
        radio.pass(Duration::from_secs(61));
        prop_assert!(radio.done);
        let came = radio.probes().filter(|p| p.received.is_some()).count();
        prop_assert_eq!(came, numbers.len());
        prop_assert_eq!(radio.intervals(true)[0].lost, Some(radio.listener.lost()));
        prop_assert!(radio.listener.lost() <= (FARTHEST_AHEAD + FARTHEST_BEHIND) * numbers.len() as u64);
    }

    /// Bytes of any kind from the broker end in a fault or in nothing, never in a panic.
    #[test]
    fn any_bytes_at_all(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut radio = Radio::new(seconds(1));
        let mut chunk = &bytes[..];
        while radio.listener.receive(radio.now, &mut chunk).is_some() {}
        radio.pass(Duration::from_secs(30));
        prop_assert!(radio.done);
    }
}
