//! The side that sends echo probes, over UDP or ICMP, and times the replies.
//!
//! The procedure is that of the published ESP32 benchmark (smellbomb-udp): send, wait for the
//! whole reply, compare the content, next. The binary form adds sequence numbers, so that several
//! probes may be outstanding and late and duplicate replies are told apart.
//!
//! **One sample a probe.** A probe whose time-out has passed is not yet recorded as lost: it stays
//! known until its slot is needed ([`SLOTS`] probes later) or the run ends, and a reply that comes
//! by then makes it [`Fate::Late`]. A second reply is a sample of its own, [`Fate::Duplicate`]; a flood
//! of them is only counted ([`Prober::duplicates_not_kept`]).
//!
//! **What the ASCII form cannot tell.** It carries no number, only a first digit that comes again after nine
//! probes. So after a time-out the prober keeps still for one more time-out; a reply in that time is late. A reply, or
//! a second copy of one, that comes nine probes later is taken for the reply to the probe that is then
//! outstanding, unless its arrival was stamped before that probe was sent.
//!
//! **ICMP** carries 16 bits of the number: a reply is to the latest probe that has them. An ICMP error
//! that quotes a probe ([`Prober::failed`]) is that probe's end, with its cause.

mod form;

use super::Output;
use crate::wire::icmp::{IcmpFailure, IcmpVersion};
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{EchoFormat, Ping, UdpEcho};
use form::{ProbeFormat, ProbeMatch};

/// Probes that are remembered, outstanding or not: the window of duplicates and late replies.
pub const SLOTS: usize = 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProbeState {
    #[default]
    Empty,
    /// Sent, its time-out not passed.
    Outstanding,
    /// The time-out passed, and the loss is not yet recorded.
    TimedOut,
    /// Recorded.
    Answered,
    /// Recorded as lost, since the network said so.
    Failed,
}

/// When probes are sent, and of what size.
#[derive(Clone, Copy, Debug)]
struct ProbeSchedule {
    size: u32,
    count: u32,
    discard: u32,
    in_flight: u16,
    interval: Option<Duration>,
    timeout: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct ProbeSlot {
    index: u64,
    due: Instant,
    sent: Instant,
    state: ProbeState,
}

/// Sends probes and records their fates. About 32 KiB; it allocates nothing.
#[derive(Clone, Debug)]
pub struct Prober {
    work: ProbeSchedule,
    form: ProbeFormat,
    start: Instant,
    slots: [ProbeSlot; SLOTS],
    /// Index of the next probe to send, warm-up probes included.
    next: u64,
    /// No probe below this index is outstanding.
    tail: u64,
    outstanding: u16,
    /// End of the time in which late replies may come, in the ASCII form: no probe is sent before
    /// it.
    quiet_until: Instant,
    pending: Option<Sample>,
    flushed: u64,
    last_timeout: Option<Instant>,
    stopped: bool,
    stray: u64,
    duplicates: u64,
    duplicates_not_kept: u64,
}

impl Prober {
    /// Creates a prober over UDP that starts at `start`; `session` marks its binary probes.
    ///
    /// The window is held to [`SLOTS`], and to one probe in the ASCII form.
    #[must_use]
    pub fn new(work: UdpEcho, session: u32, start: Instant) -> Self {
        let UdpEcho { size, count, discard, format, in_flight, interval, timeout } = work;
        let form = match format {
            EchoFormat::Ascii => ProbeFormat::Ascii,
            EchoFormat::Binary => ProbeFormat::Binary { session },
        };
        let work = ProbeSchedule { size, count, discard, in_flight, interval, timeout };
        Self::with(work, form, start)
    }

    /// Creates a prober over ICMP that starts at `start`; `identifier` marks its requests. A
    /// request is sent when it is due, whatever became of those before, unless [`SLOTS`] are
    /// outstanding.
    #[must_use]
    pub fn ping(work: Ping, version: IcmpVersion, identifier: u16, start: Instant) -> Self {
        let Ping { size, count, discard, interval, timeout, .. } = work;
        let in_flight = SLOTS as u16;
        let interval = Some(interval);
        let work = ProbeSchedule { size, count, discard, in_flight, interval, timeout };
        Self::with(work, ProbeFormat::Icmp { version, identifier }, start)
    }

    fn with(mut work: ProbeSchedule, form: ProbeFormat, start: Instant) -> Self {
        let most = if form.is_numbered() { SLOTS as u16 } else { 1 };
        work.in_flight = work.in_flight.clamp(1, most);
        Self {
            work,
            form,
            start,
            slots: [ProbeSlot::default(); SLOTS],
            next: 0,
            tail: 0,
            outstanding: 0,
            quiet_until: start,
            pending: None,
            flushed: 0,
            last_timeout: None,
            stopped: false,
            stray: 0,
            duplicates: 0,
            duplicates_not_kept: 0,
        }
    }

    /// Datagrams that were no reply to any probe of this session.
    #[must_use]
    pub fn stray(&self) -> u64 {
        self.stray
    }

    /// Returns how many further copies of replies are no samples, because there were more copies
    /// than probes: what a peer sends unasked must not fill the record.
    #[must_use]
    pub fn duplicates_not_kept(&self) -> u64 {
        self.duplicates_not_kept
    }

    /// Returns the number of probes sent so far, warm-up included.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.next
    }

    /// Returns the bytes of the longest datagram that `poll` writes and that a reply may have.
    #[must_use]
    pub fn datagram_len(&self) -> usize {
        self.form.datagram_len(self.work.size as usize)
    }

    /// Stops: nothing more is sent, what is outstanding is recorded as lost by the stop.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Sends no more; what is outstanding is still waited for.
    pub fn close(&mut self) {
        let sent = self.next.saturating_sub(u64::from(self.work.discard));
        self.work.count = self.work.count.min(u32::try_from(sent).unwrap_or(u32::MAX));
    }

    /// Notes that the operating system or driver refused the probe that `poll` just asked to send.
    pub fn refused(&mut self, cause: Cause) {
        let Some(index) = self.next.checked_sub(1) else { return };
        let slot = self.slots[slot_of(index)];
        if slot.index == index && slot.state == ProbeState::Outstanding {
            self.settle(index, ProbeState::Answered);
            let probe = Probe { sent: None, ..self.probe(slot, Fate::Lost(cause)) };
            self.record(probe);
        }
    }

    /// Handles a datagram; `stamped` is the kernel's or radio's own time of its arrival.
    pub fn handle(&mut self, now: Instant, datagram: &[u8], stamped: Option<Instant>) {
        let (mut index, whole) = match self.form.read(datagram, self.work.size as usize, self.next)
        {
            ProbeMatch::Reply { index, whole } => (index, whole),
            ProbeMatch::Stray => return self.stray += 1,
            ProbeMatch::Others => return,
        };
        let arrived = stamped.unwrap_or(now);
        if !self.form.is_numbered() && arrived < self.slots[slot_of(index)].sent {
            // It came before that probe was sent: a second copy for the one before that looks the same.
            let Some(before) = index.checked_sub(self.form.period(self.work.size)) else {
                return self.stray += 1;
            };
            index = before;
        }
        let slot = self.slots[slot_of(index)];
        if slot.index != index || slot.state == ProbeState::Empty {
            return self.stray += 1;
        }
        let fate = match (slot.state, whole) {
            (ProbeState::Answered, true) => Fate::Duplicate,
            // In the ASCII form nothing says what a strange datagram answers.
            (ProbeState::Answered, false) | (ProbeState::Failed, _) => return self.stray += 1,
            (_, false) => Fate::Corrupt,
            (ProbeState::TimedOut, true) => Fate::Late,
            // A reply that arrived after the deadline but before `poll` noticed is late all the
            // same: the fate must not depend on when the driver looks.
            _ if arrived.since(slot.sent) > self.work.timeout => Fate::Late,
            _ => Fate::Delivered,
        };
        if fate == Fate::Duplicate {
            if self.duplicates >= self.next {
                return self.duplicates_not_kept += 1;
            }
            self.duplicates += 1;
        }
        self.settle(index, ProbeState::Answered);
        self.quiet_until = self.start;
        self.record(Probe { received: Some(now), stamped, ..self.probe(slot, fate) });
    }

    /// Handles an ICMP error, which quotes the beginning of the request that it answers.
    pub fn failed(&mut self, quoted: &[u8], failure: IcmpFailure) {
        let Some(index) = self.form.quoted(quoted, self.next) else { return };
        let slot = self.slots[slot_of(index)];
        let open = matches!(slot.state, ProbeState::Outstanding | ProbeState::TimedOut);
        if slot.index == index && open {
            self.settle(index, ProbeState::Failed);
            self.record(self.probe(slot, Fate::Lost(cause(failure))));
        }
    }

    /// Returns the next request to the driver. A probe is written to `buf`, which must hold
    /// [`datagram_len`](Self::datagram_len) bytes; `now` becomes its time of sending.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        if let Some(sample) = self.pending.take() {
            return Output::Sample(sample);
        }
        self.expire(now);
        if self.stopped || self.finished() {
            return self.wind_up(now);
        }
        let due = self.due(now);
        if let Some(wake) = self.blocked(now, due) {
            return Output::WaitUntil(wake);
        }
        if let Some(lost) = self.evict(self.next) {
            return Output::Sample(lost);
        }
        let len = self.form.emit(self.next, self.work.size as usize, buf);
        // A buffer or size that no probe fits is a fault of the driver; end rather than spin.
        let Some(len) = len else {
            self.stopped = true;
            return self.wind_up(now);
        };
        let slot = ProbeSlot { index: self.next, due, sent: now, state: ProbeState::Outstanding };
        self.slots[slot_of(self.next)] = slot;
        self.next += 1;
        self.outstanding += 1;
        Output::Send { len }
    }

    fn total(&self) -> u64 {
        u64::from(self.work.count) + u64::from(self.work.discard)
    }

    fn finished(&self) -> bool {
        self.next >= self.total() && self.outstanding == 0
    }

    /// Returns when the next probe is due: with an offered rate, the time that the plan gave it;
    /// else now.
    fn due(&self, now: Instant) -> Instant {
        self.work.interval.map_or(now, |interval| {
            let nanos = (interval.as_nanos() as u64).saturating_mul(self.next);
            self.start + Duration::from_nanos(nanos)
        })
    }

    /// Returns when to look again, if the next probe may not be sent now.
    fn blocked(&self, now: Instant, due: Instant) -> Option<Instant> {
        let slot = &self.slots[slot_of(self.next)];
        let window_full = self.outstanding >= self.work.in_flight
            || (slot.state == ProbeState::Outstanding)
            || self.next >= self.total();
        if window_full {
            let oldest = self.slots[slot_of(self.tail)].sent;
            // One nanosecond past the time-out, so that it has passed when we are polled then.
            return Some(oldest + self.work.timeout + Duration::from_nanos(1));
        }
        let wake = due.max(self.quiet_until);
        (now < wake).then_some(wake)
    }

    /// Marks probes whose time-out has passed.
    fn expire(&mut self, now: Instant) {
        while self.tail < self.next {
            let slot = self.slots[slot_of(self.tail)];
            if slot.state == ProbeState::Outstanding {
                if now.since(slot.sent) <= self.work.timeout {
                    return;
                }
                self.settle(self.tail, ProbeState::TimedOut);
                self.last_timeout = Some(now);
                if !self.form.is_numbered() {
                    self.quiet_until = now + self.work.timeout;
                }
            }
            self.tail += 1;
        }
    }

    fn settle(&mut self, index: u64, state: ProbeState) {
        let slot = &mut self.slots[slot_of(index)];
        if slot.state == ProbeState::Outstanding {
            self.outstanding -= 1;
        }
        slot.state = state;
    }

    /// Frees the slot that probe `index` will use; the loss of its last user is recorded now.
    fn evict(&mut self, index: u64) -> Option<Sample> {
        let slot = self.slots[slot_of(index)];
        self.slots[slot_of(index)].state = ProbeState::Empty;
        (slot.state == ProbeState::TimedOut && self.is_recorded(slot.index))
            .then(|| Sample::Probe(self.probe(slot, Fate::Lost(Cause::Unknown))))
    }

    /// Waits for late replies, then records what is still missing.
    fn wind_up(&mut self, now: Instant) -> Output {
        let cause = if self.stopped { Cause::Stopped } else { Cause::Unknown };
        if !self.stopped
            && let Some(last) = self.last_timeout
        {
            let until = last + self.work.timeout;
            let waiting = self.slots.iter().any(|s| s.state == ProbeState::TimedOut);
            if waiting && now < until {
                return Output::WaitUntil(until);
            }
        }
        self.flushed = self.flushed.max(self.next.saturating_sub(SLOTS as u64));
        while self.flushed < self.next {
            let index = self.flushed;
            self.flushed += 1;
            let slot = self.slots[slot_of(index)];
            let cause = match slot.state {
                _ if slot.index != index => continue,
                ProbeState::Outstanding => cause,
                ProbeState::TimedOut => Cause::Unknown,
                ProbeState::Empty | ProbeState::Answered | ProbeState::Failed => continue,
            };
            self.settle(index, ProbeState::Answered);
            if self.is_recorded(index) {
                return Output::Sample(Sample::Probe(self.probe(slot, Fate::Lost(cause))));
            }
        }
        Output::Done
    }

    fn is_recorded(&self, index: u64) -> bool {
        index >= u64::from(self.work.discard)
    }

    fn record(&mut self, probe: Probe) {
        // `seq` of a warm-up probe would be below zero: those are not recorded.
        if probe.seq != u64::MAX {
            self.pending = Some(Sample::Probe(probe));
        }
    }

    fn probe(&self, slot: ProbeSlot, fate: Fate) -> Probe {
        Probe {
            seq: slot.index.checked_sub(u64::from(self.work.discard)).unwrap_or(u64::MAX),
            bytes: self.work.size,
            due: slot.due,
            sent: Some(slot.sent),
            fate,
            ..Probe::default()
        }
    }
}

fn slot_of(index: u64) -> usize {
    (index % SLOTS as u64) as usize
}

const fn cause(failure: IcmpFailure) -> Cause {
    match failure {
        IcmpFailure::NetworkUnreachable => Cause::NetworkUnreachable,
        IcmpFailure::HostUnreachable => Cause::HostUnreachable,
        IcmpFailure::Prohibited => Cause::Prohibited,
        IcmpFailure::TooBig => Cause::TooBig,
        IcmpFailure::HopLimit => Cause::HopLimit,
    }
}
