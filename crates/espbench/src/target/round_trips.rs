//! One cell of round trips: a [`Prober`] over whatever carries its probes.

use super::{Sink, TargetError};
use crate::clock::Clock;
use crate::sys::icmp::QuotedFailure;
use crate::sys::stamp::StampedDatagram;
use crate::sys::timer;
use espbench_model::fact;
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::echo::Prober;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Time-outs without any reply after which a cell is given up: fewer if nothing ever came.
const SILENT_FROM_START: u32 = 3;
const SILENT_LATER: u32 = 10;

/// A carrier of probes to a peer and of replies back.
pub(super) trait ProbeCarrier {
    /// Sends one probe.
    fn send(&mut self, datagram: &[u8]) -> io::Result<()>;
    /// Waits for a reply until about `until`, at most 50 ms; `None` where none came.
    fn receive(&mut self, buf: &mut [u8], until: Instant) -> io::Result<Option<StampedDatagram>>;
    /// Datagrams that this host dropped because the socket's buffer was full.
    fn overflow(&self) -> u32;
    /// Returns the cause by which a probe counts as lost that could not be sent; `None` ends the
    /// cell.
    fn refusal(&self, error: &io::Error) -> Option<Cause>;
    /// Takes the next probe that the network said to have failed.
    fn failure(&mut self) -> Option<QuotedFailure> {
        None
    }
    /// Returns the advice for when nothing listens, when nothing answers, and when the system
    /// refuses.
    fn hints(&self) -> Hints;
}

/// Advice to the user.
pub(super) struct Hints {
    /// The peer says that nothing listens.
    pub(super) refused: &'static str,
    /// The peer says nothing.
    pub(super) silent: &'static str,
    /// The system cannot send or receive.
    pub(super) failed: &'static str,
}

/// One cell being carried out.
pub(super) struct ProbeExchange<'a, C> {
    /// The target as it is typed.
    peer: String,
    timeout: Duration,
    carrier: C,
    clock: Clock,
    prober: Prober,
    /// The last reply, or the start.
    heard: Instant,
    any: bool,
    refused: u64,
    /// Words of the network or the system about lost probes.
    causes: BTreeMap<Cause, u64>,
    /// Beside other work: no probe is sent once that is set, and silence is a result.
    over: Option<&'a AtomicBool>,
}

impl<'a, C: ProbeCarrier> ProbeExchange<'a, C> {
    /// Prepares a cell against that peer; a probe is lost after `timeout`.
    pub(super) fn new(
        peer: String,
        prober: Prober,
        timeout: Duration,
        carrier: C,
        clock: Clock,
    ) -> Self {
        let (heard, causes) = (clock.now(), BTreeMap::new());
        let (any, refused, over) = (false, 0, None);
        Self { peer, timeout, carrier, clock, prober, heard, any, refused, causes, over }
    }

    /// Runs the cell beside other work, until `over` is set: then no further probe is sent. Loss is
    /// what such a cell measures, however much.
    pub(super) fn until(self, over: Option<&'a AtomicBool>) -> Self {
        Self { over, ..self }
    }

    /// Carries it out. A cell without a single reply is none.
    pub(super) fn run(mut self, sink: &mut dyn Sink) -> Result<(), TargetError> {
        timer::precise_wakeups();
        let mut out = vec![0; self.prober.datagram_len()];
        // One byte more than any whole reply: a longer one is seen to be longer.
        let mut buf = vec![0; self.prober.datagram_len() + 1];
        let mut result = Ok(());
        loop {
            if self.over.is_some_and(|over| over.load(Ordering::Relaxed)) {
                self.prober.close();
            }
            match self.prober.poll(self.clock.now(), &mut out) {
                Output::Send { len } => result = self.send(&out[..len]),
                Output::Sample(sample) => self.record(sample, sink),
                Output::WaitUntil(until) => result = self.wait(&mut buf, until),
                Output::Done => break,
            }
            if sink.cancelled() && result.is_ok() {
                result = Err(TargetError::Cancelled);
            }
            if result.is_err() {
                self.drain(&mut out, sink);
                break;
            }
        }
        for (name, value) in [
            ("stray-datagrams", self.prober.stray()),
            (fact::DUPLICATES_NOT_KEPT, self.prober.duplicates_not_kept()),
            ("socket-overflow", self.carrier.overflow().into()),
            ("refused-datagrams", self.refused),
        ] {
            sink.count(name, value);
        }
        if result.is_ok() && !self.any && self.over.is_none() {
            return Err(self.silent());
        }
        result
    }

    fn record(&mut self, sample: Sample, sink: &mut dyn Sink) {
        if let Sample::Probe(probe) = &sample
            && let Fate::Lost(cause) = probe.fate
            && cause != Cause::Unknown
        {
            *self.causes.entry(cause).or_default() += 1;
        }
        sink.sample(sample);
    }

    /// Records what was outstanding when the cell was cut short.
    fn drain(&mut self, out: &mut [u8], sink: &mut dyn Sink) {
        self.prober.stop();
        while let Output::Sample(sample) = self.prober.poll(self.clock.now(), out) {
            sink.sample(sample);
        }
    }

    fn wait(&mut self, buf: &mut [u8], until: Instant) -> Result<(), TargetError> {
        if let Some((quoted, failure)) = self.carrier.failure() {
            self.prober.failed(&quoted, failure);
            return Ok(());
        }
        match self.carrier.receive(buf, until) {
            Ok(Some(arrival)) => {
                (self.heard, self.any) = (arrival.at, true);
                self.prober.handle(arrival.at, &buf[..arrival.len], arrival.stamped);
                Ok(())
            }
            Ok(None) => self.silence(),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => self.unreachable(e),
            Err(e) => Err(self.failed("receiving", e)),
        }
    }

    /// Gives a silent peer up.
    fn silence(&self) -> Result<(), TargetError> {
        let allowed = if self.any { SILENT_LATER } else { SILENT_FROM_START };
        let patient = self.over.is_some();
        if patient || self.clock.now().since(self.heard) <= self.timeout * allowed {
            return Ok(());
        }
        Err(self.silent())
    }

    fn silent(&self) -> TargetError {
        let mut what = if self.any { "no reply any more" } else { "no reply at all" }.to_owned();
        what += &format!(" ({} probes sent", self.prober.sent());
        for (cause, count) in &self.causes {
            what += &format!(", {count} lost: {}", cause.name());
        }
        what.push(')');
        TargetError::Protocol {
            peer: self.peer.clone(),
            what,
            hint: self.carrier.hints().silent.into(),
        }
    }

    fn send(&mut self, datagram: &[u8]) -> Result<(), TargetError> {
        let error = match self.carrier.send(datagram) {
            Ok(()) => return Ok(()),
            Err(e) => e,
        };
        if error.kind() == io::ErrorKind::ConnectionRefused {
            // That was the refusal of an earlier datagram: this one has yet to be sent.
            self.unreachable(error)?;
            return self.carrier.send(datagram).map_err(|e| self.failed("sending", e));
        }
        let Some(cause) = self.carrier.refusal(&error) else {
            return Err(self.failed("sending", error));
        };
        self.prober.refused(cause);
        Ok(())
    }

    /// Handles an ICMP error that says that nothing listens there. A device that restarts says so
    /// for a while.
    fn unreachable(&mut self, source: io::Error) -> Result<(), TargetError> {
        self.refused += 1;
        if self.any || self.over.is_some() {
            return self.silence();
        }
        let hint = self.carrier.hints().refused.into();
        Err(TargetError::Peer { peer: self.peer.clone(), what: "probing", source, hint })
    }

    fn failed(&self, what: &'static str, source: io::Error) -> TargetError {
        let hint = self.carrier.hints().failed.into();
        TargetError::Peer { peer: self.peer.clone(), what, source, hint }
    }
}

/// Tells whether the system is out of buffers, which passes.
pub(super) fn out_of_buffers(error: &io::Error) -> bool {
    #[cfg(unix)]
    if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::ENOMEM)) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}
