//! Moves bytes between one socket and a [`Listener`], and tells it the time.

use super::MqttTarget;
use super::pump::{ANSWERS, ExchangeOutcome, MqttJob, RunNames, hint, missing};
use super::wire::{self, LOOK, packet_room};
use crate::clock::Clock;
use crate::sys::ready::{self, Interest};
use crate::target::{Sink, TargetError};
use crate::transport::BrokerStream;
use crate::transport::stream::Scratch;
use espbench_measure::units::print_duration;
use espbench_model::sample::Link;
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::MqttRate;
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::listener::{ListenerStorage, NAMED, SubscriberStorage};
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::topics::{TopicName, TopicNumbers};
use espbench_proto::node::mqtt::{Listener, OfferedLoad, Side};
use std::io;
use std::ops::Range;

/// Longest topic and largest message taken from a device.
const LARGEST: usize = (1 << 16) + (1 << 20);

/// Topics whose numbers are kept: 1.7 KiB each.
const TOPICS: usize = 64;

/// Listens as long as the work says.
pub(super) fn run(
    target: &MqttTarget,
    work: &MqttRate,
    sink: &mut dyn Sink,
) -> Result<ExchangeOutcome, TargetError> {
    let names = RunNames::new(target);
    // Nothing is published, so at no pace.
    let job = MqttJob { target, work, pace: OfferedLoad::Saturate, link: Link(0) };
    let mut packet = vec![0; packet_room("", LARGEST)];
    let mut answers = vec![PendingAck::default(); if work.qos > 0 { ANSWERS } else { 1 }];
    let mut seen = Box::new([0; SEEN]);
    let mut topics = vec![TopicNumbers::EMPTY; TOPICS];
    let subscriber =
        SubscriberStorage { packet: &mut packet, answers: &mut answers, seen: &mut seen };
    let memory = ListenerStorage { subscriber, topics: &mut topics };
    let listener = Listener::new(job.settings(&names), memory);
    let clock = Clock::start();
    let wire = wire::open(target, 0, &clock, sink)?;
    wire::note(&wire, sink);
    let scratch = Scratch::default();
    let clean_start = work.clean_start;
    let mut pump = ListenPump {
        listener,
        wire,
        clock,
        scratch,
        recorded: false,
        clean_start,
        cancelled: false,
    };
    pump.run(sink).map_err(|source| TargetError::Peer {
        peer: target.endpoint.to_string(),
        what: "listening",
        source,
        hint: "check that the broker is still up".into(),
    })?;
    Ok(pump.outcome(work, &names.topic))
}

struct ListenPump<'a> {
    listener: Listener<'a>,
    wire: BrokerStream,
    clock: Clock,
    scratch: Scratch,
    /// The connection was recorded.
    recorded: bool,
    clean_start: bool,
    cancelled: bool,
}

impl ListenPump<'_> {
    fn run(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        self.listener.connected(self.clock.now());
        while let Some(wake) = self.drain(sink) {
            if sink.cancelled() && !self.cancelled {
                self.cancelled = true;
                self.listener.stop(self.clock.now());
                continue;
            }
            let (read, write) = self.wire.interest();
            let interest = Interest { socket: self.wire.socket(), read, write };
            let timeout = wake.since(self.clock.now()).min(LOOK);
            let [ready] = ready::wait([interest], timeout)?;
            if self.wire.is_open() && ready.read {
                self.read(sink);
            }
        }
        Ok(())
    }

    /// Does what the listener wants. Answers when it wants to be asked again, `None` once it is done.
    fn drain(&mut self, sink: &mut dyn Sink) -> Option<Instant> {
        loop {
            self.flush();
            match self.listener.poll(self.clock.now(), self.wire.room()) {
                Output::Send { len } => self.wire.give(len),
                Output::Sample(sample) => sink.sample(sample),
                Output::WaitUntil(until) => return Some(until),
                Output::Done => {
                    // Nothing waits for a goodbye that the broker does not take.
                    self.flush();
                    return None;
                }
            }
        }
    }

    fn flush(&mut self) {
        if !self.wire.is_pending() {
            return;
        }
        match self.wire.flush() {
            Ok(true) => self.listener.written(),
            Ok(false) => {}
            Err(_) => self.close(),
        }
    }

    fn close(&mut self) {
        self.wire.close();
        self.listener.closed();
    }

    fn read(&mut self, sink: &mut dyn Sink) {
        let Self { listener, wire, clock, scratch, recorded, clean_start, .. } = self;
        let now = clock.now();
        let open = wire.read(scratch, &mut |mut bytes| {
            while let Some(sample) = listener.receive(now, &mut bytes) {
                sink.sample(sample);
            }
        });
        if let Some(accepted) = listener.accepted().filter(|_| !*recorded) {
            *recorded = true;
            sink.sample(wire::connection(0, wire.opened(), accepted));
            if let (false, Some(present)) = (*clean_start, listener.session_present()) {
                wire::note_session(Side::Subscriber, present, sink);
            }
        }
        if !open {
            self.close();
        }
    }

    fn outcome(&self, work: &MqttRate, topic: &str) -> ExchangeOutcome {
        let counters = self.listener.counters().into_iter().filter(|(_, count)| *count > 0);
        let describe = |fault| match self.wire.trouble() {
            Some(trouble) => (trouble.what.clone(), trouble.hint.clone()),
            None => (format!("the broker {fault}"), hint(fault, work)),
        };
        let fault =
            self.listener.fault().map(describe).map(|(what, hint)| (self.cut(&what, work), hint));
        let silence = || {
            let time = print_duration(self.listener.patience());
            let what = format!("no message came on `{topic}` within {time}");
            let hint = "check that the device is on and publishes to this topic on this broker";
            (what, hint.to_string())
        };
        ExchangeOutcome {
            counters: counters.collect(),
            missing: self.missing(),
            fault: fault.or_else(|| self.listener.is_silent().then(silence)),
            cancelled: self.cancelled,
        }
    }

    /// Says of a fault how long was listened before, which is the time that the figures are of.
    fn cut(&self, what: &str, work: &MqttRate) -> String {
        if self.listener.topics().next().is_none() && self.listener.listened() == Duration::ZERO {
            return what.to_owned();
        }
        let (heard, all) = (self.listener.listened().as_secs_f64(), print_duration(work.time));
        format!("{what} after {heard:.3} s of {all}: the figures are of that time")
    }

    /// Names the missing numbers, with their topics where there are several.
    fn missing(&self) -> String {
        let (lost, several) = (self.listener.lost(), self.listener.topics().nth(1).is_some());
        let named: Vec<(&TopicName, Range<u64>)> = self.listener.named().take(NAMED).collect();
        let all = named.iter().map(|(_, it)| it.end - it.start).sum::<u64>() == lost;
        if !several {
            return missing(named.into_iter().map(|it| it.1), all, lost);
        }
        let of_topic = |part: &[(&TopicName, Range<u64>)]| {
            let ranges = missing(part.iter().map(|it| it.1.clone()), true, lost);
            format!("{}: {ranges}", part[0].0.text())
        };
        let mut words: Vec<String> = named.chunk_by(|a, b| a.0 == b.0).map(of_topic).collect();
        if !all {
            words.push(missing(std::iter::empty(), false, lost));
        }
        words.join("; ")
    }
}
