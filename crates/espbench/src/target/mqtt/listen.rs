//! Moves bytes between one socket and a [`Listener`], and tells it the time.

use super::MqttTarget;
use super::pump::{ANSWERS, Job, LOOK, Names, Outcome, hint, missing};
use super::wire::{BATCH, Wire, packet_room};
use crate::clock::Clock;
use crate::sys::ready::{self, Interest};
use crate::target::{Sink, TargetError};
use espbench_measure::units::print_duration;
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::listener::{Memory, NAMED};
use espbench_proto::node::mqtt::subscriber::{Answer, SEEN};
use espbench_proto::node::mqtt::{Listener, Pace};
use espbench_proto::sample::Link;
use espbench_proto::time::Instant;
use espbench_proto::workload::MqttRate;
use std::io::{self, ErrorKind, Read as _};

/// Longest topic and largest message taken from a device.
const LARGEST: usize = (1 << 16) + (1 << 20);

/// Listens as long as the work says.
pub(super) fn run(
    target: &MqttTarget,
    work: &MqttRate,
    sink: &mut dyn Sink,
) -> Result<Outcome, TargetError> {
    let names = Names::new(target.topic.as_deref());
    // Nothing is published, so at no pace.
    let job = Job { target, work, pace: Pace::Saturate, link: Link(0) };
    let mut packet = vec![0; packet_room("", LARGEST)];
    let mut answers = vec![Answer::default(); if work.qos > 0 { ANSWERS } else { 1 }];
    let mut seen = Box::new([0; SEEN]);
    let memory = Memory { packet: &mut packet, answers: &mut answers, seen: &mut seen };
    let listener = Listener::new(job.settings(&names), memory);
    let wire = Wire::connect(target, 0)?;
    let mut pump = Pump { listener, wire, clock: Clock::start(), cancelled: false };
    pump.run(sink).map_err(|source| TargetError::Peer {
        peer: format!("mqtt:{}", target.peer),
        what: "listening",
        source,
        hint: "check that the broker is still up".into(),
    })?;
    Ok(pump.outcome(work, &names.topic))
}

struct Pump<'a> {
    listener: Listener<'a>,
    wire: Wire,
    clock: Clock,
    cancelled: bool,
}

impl Pump<'_> {
    fn run(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let mut buf = vec![0; BATCH];
        self.listener.connected(self.clock.now());
        while let Some(wake) = self.drain(sink) {
            if sink.cancelled() && !self.cancelled {
                self.cancelled = true;
                self.listener.stop(self.clock.now());
                continue;
            }
            let interest = Interest {
                socket: &self.wire.socket,
                read: self.wire.open,
                write: self.wire.open && self.wire.is_pending(),
            };
            let timeout = wake.since(self.clock.now()).min(LOOK);
            let [ready] = ready::wait([interest], timeout)?;
            if self.wire.open && ready.read {
                self.read(&mut buf, sink);
            }
        }
        Ok(())
    }

    /// Does what the listener wants. Answers when it wants to be asked again, `None` once it is done.
    fn drain(&mut self, sink: &mut dyn Sink) -> Option<Instant> {
        loop {
            self.flush();
            let pending = self.wire.is_pending();
            let room = if pending { &mut [][..] } else { &mut self.wire.out[..] };
            match self.listener.poll(self.clock.now(), room) {
                Output::Send { len } => (self.wire.from, self.wire.to) = (0, len),
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
        (self.wire.open, self.wire.from, self.wire.to) = (false, 0, 0);
        self.listener.closed();
    }

    fn read(&mut self, buf: &mut [u8], sink: &mut dyn Sink) {
        match self.wire.socket.read(buf) {
            Ok(0) => self.close(),
            Ok(len) => {
                let (now, mut chunk) = (self.clock.now(), &buf[..len]);
                while let Some(sample) = self.listener.receive(now, &mut chunk) {
                    sink.sample(sample);
                }
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.close(),
        }
    }

    fn outcome(&self, work: &MqttRate, topic: &str) -> Outcome {
        let counters = self.listener.counters().into_iter().filter(|(_, count)| *count > 0);
        let told = |fault| (format!("the broker {fault}"), hint(fault, work));
        let fault = self.listener.fault().map(told);
        let silence = || {
            let time = print_duration(self.listener.patience());
            let what = format!("no message came on `{topic}` within {time}");
            let hint = "check that the device is on and publishes to this topic on this broker";
            (what, hint.to_string())
        };
        let named = || self.listener.named();
        let lost = self.listener.lost();
        let all = named().map(|range| range.end - range.start).sum::<u64>() == lost;
        Outcome {
            counters: counters.collect(),
            missing: missing(named().take(NAMED), all, lost),
            fault: fault.or_else(|| self.listener.is_silent().then(silence)),
            cancelled: self.cancelled,
        }
    }
}
