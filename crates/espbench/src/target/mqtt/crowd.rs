//! Many publishers and one subscriber, in one thread: [`Exchange`]s that share a [`Gatherer`].
//!
//! All connections are opened first, [`AT_ONCE`] at a time; then messages come due on all of them. What
//! is done for a connection is done when it can be read or written, or when its time has come, so that a
//! thousand idle ones cost nothing.

mod memory;

use super::MqttTarget;
use super::pump::{ExchangeOutcome, MqttJob, hint, nothing, role};
use super::wire::{self, LOOK, failure, packet_room};
use crate::clock::Clock;
use crate::sys::{files, timer};
use crate::target::{Sink, TargetError};
use crate::transport::stream::Scratch;
use crate::transport::{BrokerStream, TransportError};
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::{Exchange, Gatherer, MqttInput, OfferedLoad, Side};
use memory::CrowdMemory;
use mio::{Events, Poll, Token};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

/// Connections that are being opened at a time.
const AT_ONCE: usize = 64;
/// Files that a process has open beside its connections.
const OTHER_FILES: u64 = 64;
/// Memory for what is on its way to the broker, on all connections.
const MOST_PENDING: usize = 256 << 20;
/// Smallest batch of a connection.
const BATCH: usize = 4096;
/// Times that one connection is read before another has its turn.
const READS: usize = 16;

/// Carries out the work with as many publishers as it names.
pub(super) fn run(job: &MqttJob<'_>, sink: &mut dyn Sink) -> Result<ExchangeOutcome, TargetError> {
    timer::precise_wakeups();
    let count = usize::from(job.work.clients);
    check(job.target, count, job.work.size as usize)?;
    let mut memory = CrowdMemory::new(job);
    let (members, gatherer) = memory.lend(job);
    let mut crowd = Crowd::new(job, members, gatherer)?;
    crowd.open(sink)?;
    crowd.note_sessions(sink);
    crowd
        .exchange(sink)
        .map_err(|e| failure(&job.target.endpoint, &TransportError::connecting(e)))?;
    Ok(crowd.outcome(job))
}

fn check(target: &MqttTarget, count: usize, size: usize) -> Result<(), TargetError> {
    let refused = |hint: String| TargetError::Unsupported {
        target: target.endpoint.to_string(),
        kind: "mqtt-rate",
        hint,
    };
    let pending = count * packet_room("", size).max(BATCH);
    if pending > MOST_PENDING {
        return Err(refused(format!(
            "{count} clients with messages of {size} bytes want {} MiB of memory, and {} MiB is the \
             most: use fewer --clients or a smaller --size",
            pending >> 20,
            MOST_PENDING >> 20
        )));
    }
    let needed = count as u64 + 1 + OTHER_FILES;
    files::allow(needed).map_err(|limit| {
        refused(format!(
            "{count} clients need {needed} open files, and this system allows {limit}: raise it \
             (`ulimit -n`, LimitNOFILE), or use fewer --clients"
        ))
    })
}

/// A connection, as far as it has come.
struct CrowdLine {
    stream: Option<BrokerStream>,
    /// Whether the connection was opened; it may be closed again.
    opened: bool,
    /// The broker accepted it, and that was recorded.
    recorded: bool,
    done: bool,
    /// When it wants to be asked again.
    wake: Instant,
    /// Whether the line is in the queue of those that go on at once.
    queued: bool,
}

struct Crowd<'a> {
    job: &'a MqttJob<'a>,
    members: Vec<Exchange<'a>>,
    gatherer: Gatherer<'a>,
    /// The members' connections, then the subscriber's.
    lines: Vec<CrowdLine>,
    poll: Poll,
    clock: Clock,
    scratch: Scratch,
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    again: VecDeque<usize>,
    touched: Vec<usize>,
    ended: usize,
    cancelled: bool,
    /// The subscriber's connection is gone.
    abandoned: bool,
}

impl<'a> Crowd<'a> {
    fn new(
        job: &'a MqttJob<'a>,
        members: Vec<Exchange<'a>>,
        gatherer: Gatherer<'a>,
    ) -> Result<Self, TargetError> {
        let line = |_| CrowdLine {
            stream: None,
            opened: false,
            recorded: false,
            done: false,
            wake: Instant::NEVER,
            queued: false,
        };
        let poll = Poll::new()
            .map_err(|e| failure(&job.target.endpoint, &TransportError::connecting(e)))?;
        Ok(Self {
            job,
            lines: (0..=members.len()).map(line).collect(),
            members,
            gatherer,
            poll,
            clock: Clock::start(),
            scratch: Scratch::default(),
            timers: BinaryHeap::new(),
            again: VecDeque::new(),
            touched: Vec::new(),
            ended: 0,
            cancelled: false,
            abandoned: false,
        })
    }

    /// Returns the number of the subscriber's connection.
    fn subscriber(&self) -> usize {
        self.members.len()
    }

    /// Opens all connections, the subscriber's first.
    fn open(&mut self, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.open_some(self.subscriber()..self.subscriber() + 1, sink)?;
        while !self.gatherer.is_ready() {
            self.turn(sink).map_err(|e| self.failed(&TransportError::connecting(e)))?;
            self.check_opening(self.subscriber(), sink)?;
        }
        if let Some(stream) = &self.lines[self.subscriber()].stream {
            wire::note(stream, sink);
        }
        self.open_some(0..self.subscriber(), sink)
    }

    /// Notes how many of the sessions that were to be resumed the broker had.
    fn note_sessions(&self, sink: &mut dyn Sink) {
        if self.job.work.clean_start {
            return;
        }
        let present =
            |member: &&Exchange<'a>| member.session_present(Side::Publisher) == Some(true);
        let count = self.members.iter().filter(present).count();
        sink.fact("session_present_publishers", format!("{count} of {}", self.members.len()));
        wire::note_session(Side::Subscriber, self.gatherer.session_present() == Some(true), sink);
    }

    fn open_some(
        &mut self,
        mut which: std::ops::Range<usize>,
        sink: &mut dyn Sink,
    ) -> Result<(), TargetError> {
        let mut opening: Vec<usize> = Vec::new();
        loop {
            while opening.len() < AT_ONCE
                && let Some(line) = which.next()
            {
                self.begin(line)?;
                opening.push(line);
            }
            if opening.is_empty() {
                return Ok(());
            }
            self.turn(sink).map_err(|e| self.failed(&TransportError::connecting(e)))?;
            for &line in &opening {
                self.check_opening(line, sink)?;
            }
            opening.retain(|&line| !self.lines[line].recorded);
        }
    }

    fn begin(&mut self, line: usize) -> Result<(), TargetError> {
        let target = self.job.target;
        let batch = BATCH.max(packet_room("", self.job.work.size as usize));
        let stream =
            BrokerStream::begin(&target.endpoint, batch, target.patience, self.clock.now());
        let stream = stream.map_err(|fault| self.failed(&fault))?;
        register(&self.poll, &stream, line)
            .map_err(|e| self.failed(&TransportError::connecting(e)))?;
        self.lines[line].stream = Some(stream);
        self.soon(line);
        Ok(())
    }

    /// Goes on opening a connection; a fault of it, or a stop, ends the cell.
    fn check_opening(&mut self, line: usize, sink: &dyn Sink) -> Result<(), TargetError> {
        if sink.cancelled() {
            return Err(TargetError::Cancelled);
        }
        let now = self.clock.now();
        let endpoint = &self.job.target.endpoint;
        let CrowdLine { stream, done, .. } = &mut self.lines[line];
        if let Some(stream) = stream.as_mut().filter(|stream| !stream.is_open() && !*done) {
            match stream.advance(endpoint, now) {
                Ok(true) => {
                    self.lines[line].opened = true;
                    self.handle(line, MqttInput::Connected);
                    self.soon(line);
                }
                Ok(false) => {}
                Err(fault) => {
                    let error = self.failed(&fault);
                    return Err(self.numbered(line, error));
                }
            }
        }
        match self.fault(line) {
            None => Ok(()),
            Some((what, hint)) => {
                let peer = self.job.target.endpoint.to_string();
                let error = TargetError::Protocol { peer, what, hint };
                Err(self.numbered(line, error))
            }
        }
    }

    /// Says which of the connections it was.
    fn numbered(&self, line: usize, error: TargetError) -> TargetError {
        match error {
            TargetError::Protocol { peer, what, hint } => {
                let open = self.lines.iter().filter(|line| line.recorded).count();
                let of = self.lines.len();
                let what = format!("{what} (connection {} of {of}; {open} are open)", line + 1);
                TargetError::Protocol { peer, what, hint }
            }
            other => other,
        }
    }

    fn failed(&self, fault: &TransportError) -> TargetError {
        failure(&self.job.target.endpoint, fault)
    }

    /// Describes the fault of a connection, with advice.
    fn fault(&self, line: usize) -> Option<(String, String)> {
        let fault = match self.members.get(line) {
            Some(member) => member.fault().map(|(_, fault)| fault),
            None => self.gatherer.fault(),
        }?;
        let trouble = self.lines[line].stream.as_ref().and_then(BrokerStream::trouble);
        if let Some(trouble) = trouble {
            return Some((trouble.what.clone(), trouble.hint.clone()));
        }
        let side = if line < self.members.len() { Side::Publisher } else { Side::Subscriber };
        let what = format!("the broker {fault} (to the {})", role(side));
        Some((what, hint(fault, self.job.work)))
    }

    /// Lets messages come due, until the last one's fate is known.
    fn exchange(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let start = self.clock.now();
        self.gatherer.begin(start);
        for (line, member) in self.members.iter_mut().enumerate() {
            // The members take turns.
            let offset = match self.job.pace {
                OfferedLoad::Rate(rate) => Duration::from_nanos((line as f64 * 1e9 / rate) as u64),
                OfferedLoad::Saturate => Duration::ZERO,
            };
            member.begin(start + offset);
        }
        for line in 0..self.lines.len() {
            self.soon(line);
        }
        while self.ended < self.members.len() {
            if sink.cancelled() && !self.cancelled {
                self.cancelled = true;
                self.each(|member, now| member.handle(now, Side::Publisher, MqttInput::Stop));
            }
            if self.gatherer.fault().is_some() && !self.abandoned {
                self.abandoned = true;
                self.each(|member, _| member.abandoned());
            } else if self.gatherer.is_receiving() {
                // A long message is on its way: nothing is given up meanwhile.
                let now = self.clock.now();
                self.members.iter_mut().for_each(|member| member.wait_on(now));
            }
            self.turn(sink)?;
            while let Some(interval) = self.gatherer.interval(self.clock.now()) {
                sink.sample(Sample::Interval(interval));
            }
        }
        self.totals(start, sink);
        self.handle(self.subscriber(), MqttInput::Stop);
        self.soon(self.subscriber());
        while !self.lines[self.subscriber()].done {
            self.turn(sink)?;
        }
        Ok(())
    }

    fn each(&mut self, act: impl Fn(&mut Exchange<'a>, Instant)) {
        for line in 0..self.members.len() {
            act(&mut self.members[line], self.clock.now());
            self.soon(line);
        }
    }

    /// Waits for what happens next, and does it.
    fn turn(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let now = self.clock.now();
        let wake = self.timers.peek().map_or(Instant::NEVER, |Reverse((at, _))| *at);
        let wait = if self.again.is_empty() { wake.since(now).min(LOOK) } else { Duration::ZERO };
        let mut events = Events::with_capacity(1024);
        match self.poll.poll(&mut events, Some(wait)) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        for event in &events {
            let Token(line) = event.token();
            let open = self.lines[line].stream.as_ref().is_some_and(BrokerStream::is_open);
            if open && (event.is_readable() || event.is_read_closed() || event.is_error()) {
                self.read(line, sink);
            }
            self.soon(line);
        }
        let now = self.clock.now();
        while let Some(Reverse((at, line))) = self.timers.peek().copied()
            && at <= now
        {
            self.timers.pop();
            if self.lines[line].wake == at {
                self.lines[line].wake = Instant::NEVER;
                self.soon(line);
            }
        }
        for _ in 0..self.again.len() {
            let Some(line) = self.again.pop_front() else { break };
            self.lines[line].queued = false;
            self.drain(line, sink);
        }
        Ok(())
    }

    /// Puts a connection in the queue of those that go on in their turn.
    fn soon(&mut self, line: usize) {
        if !std::mem::replace(&mut self.lines[line].queued, true) {
            self.again.push_back(line);
        }
    }

    /// Does what a connection wants, up to one batch of bytes.
    fn drain(&mut self, line: usize, sink: &mut dyn Sink) {
        if self.lines[line].done || !self.lines[line].opened {
            return;
        }
        self.flush(line);
        loop {
            let now = self.clock.now();
            let mut none = [0; 0];
            let room = self.lines[line].stream.as_mut().map_or(&mut none[..], BrokerStream::room);
            let wanted = match self.members.get_mut(line) {
                Some(member) => member.poll(now, Side::Publisher, room),
                None => self.gatherer.poll(now, room),
            };
            match wanted {
                Output::Send { len } => {
                    if let Some(stream) = &mut self.lines[line].stream {
                        stream.give(len);
                    }
                    self.flush(line);
                    if !self.lines[line].stream.as_ref().is_some_and(BrokerStream::is_pending) {
                        return self.soon(line);
                    }
                }
                Output::Sample(sample) => sink.sample(sample),
                Output::WaitUntil(until) => {
                    if until != self.lines[line].wake && until != Instant::NEVER {
                        self.lines[line].wake = until;
                        self.timers.push(Reverse((until, line)));
                    }
                    return;
                }
                Output::Done => {
                    self.lines[line].done = true;
                    self.lines[line].stream = None;
                    self.ended += usize::from(line < self.members.len());
                    return;
                }
            }
        }
    }

    fn flush(&mut self, line: usize) {
        let Some(stream) = self.lines[line].stream.as_mut().filter(|stream| stream.is_pending())
        else {
            return;
        };
        let before = stream.taken();
        match stream.flush() {
            Ok(true) => self.handle(line, MqttInput::Written),
            Ok(false) if stream.taken() > before => self.handle(line, MqttInput::Writing),
            Ok(false) => {}
            Err(_) => self.close(line),
        }
    }

    fn close(&mut self, line: usize) {
        if let Some(stream) = &mut self.lines[line].stream {
            stream.close();
        }
        self.handle(line, MqttInput::Closed);
        self.soon(line);
    }

    fn handle(&mut self, line: usize, input: MqttInput<'_>) {
        let now = self.clock.now();
        match self.members.get_mut(line) {
            Some(member) => member.handle(now, Side::Publisher, input),
            None => self.gatherer.handle(now, input),
        }
    }

    /// Reads a connection until nothing is left, or others have to have their turn.
    fn read(&mut self, line: usize, sink: &mut dyn Sink) {
        for _ in 0..READS {
            let Self { lines, members, gatherer, scratch, touched, clock, .. } = self;
            let CrowdLine { stream, recorded, .. } = &mut lines[line];
            let Some(stream) = stream.as_mut() else { return };
            let now = clock.now();
            let mut came = 0;
            let open = if line < members.len() {
                let member = &mut members[line];
                stream.read(scratch, &mut |bytes| {
                    came += bytes.len();
                    member.handle(now, Side::Publisher, MqttInput::Received(bytes));
                })
            } else {
                stream.read(scratch, &mut |bytes| {
                    came += bytes.len();
                    gather(gatherer, members, touched, now, bytes);
                })
            };
            let accepted = match members.get(line) {
                Some(member) => member.accepted(Side::Publisher),
                None => gatherer.accepted(),
            };
            if let Some(accepted) = accepted.filter(|_| !*recorded) {
                *recorded = true;
                sink.sample(wire::connection(line as u64, stream.opened(), accepted));
            }
            for line in std::mem::take(touched) {
                self.soon(line);
            }
            if !open {
                return self.close(line);
            }
            if came == 0 {
                return;
            }
        }
        // The system tells of bytes once: what is left has to be asked for.
        self.reread(line);
    }

    /// Asks the system to tell again what can be read.
    fn reread(&mut self, line: usize) {
        let Some(stream) = &self.lines[line].stream else { return };
        if reregister(&self.poll, stream, line).is_err() {
            self.close(line);
        }
    }

    fn totals(&mut self, start: Instant, sink: &mut dyn Sink) {
        if let Some(rest) = self.gatherer.rest() {
            sink.sample(Sample::Interval(rest));
        }
        let sum = |of: fn(&Exchange<'a>) -> u64| self.members.iter().map(of).sum::<u64>();
        let due = sum(Exchange::counted);
        let came = sum(|member| member.received().unwrap_or(0));
        let of_gaps = |of: fn(&espbench_proto::node::mqtt::Gaps) -> u64| -> u64 {
            self.members.iter().filter_map(Exchange::gaps).map(of).sum()
        };
        let (size, link) = (u64::from(self.job.work.size), self.job.link);
        let end = self.members.iter().map(|member| member.offered().1).max().unwrap_or(start);
        let total = Interval { link, total: true, start, ..Interval::default() };
        sink.sample(Sample::Interval(Interval {
            observer: Observer::Sender,
            end,
            bytes: due * size,
            datagrams: Some(due),
            ..total
        }));
        sink.sample(Sample::Interval(Interval {
            observer: Observer::Receiver,
            end: self.gatherer.last().max(start),
            bytes: came * size,
            datagrams: Some(came),
            lost: Some(due.saturating_sub(came + sum(Exchange::unknown))),
            out_of_order: Some(of_gaps(|gaps| gaps.reordered())),
            duplicates: Some(of_gaps(|gaps| gaps.duplicates())),
            ..total
        }));
    }

    fn outcome(&self, job: &MqttJob<'_>) -> ExchangeOutcome {
        let mut counters: Vec<(&'static str, u64)> = Vec::new();
        let of_members = self.members.iter().flat_map(Exchange::counters);
        for (name, by) in of_members.chain(self.gatherer.counters()) {
            match counters.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += by,
                None => counters.push((name, by)),
            }
        }
        counters.retain(|(_, by)| *by > 0);
        let broken: Vec<usize> =
            (0..self.lines.len()).filter(|&line| self.fault(line).is_some()).collect();
        let fault = broken.first().and_then(|&line| {
            let (what, hint) = self.fault(line)?;
            let (count, of) = (broken.len(), self.lines.len());
            Some((format!("{what} ({count} of {of} connections broke)"), hint))
        });
        let sum = |of: fn(&Exchange<'a>) -> u64| self.members.iter().map(of).sum::<u64>();
        let counts =
            [sum(Exchange::due), sum(Exchange::sent), sum(|member| member.received().unwrap_or(0))];
        ExchangeOutcome {
            counters,
            // Numbers are each client's own.
            missing: String::new(),
            fault: fault.or_else(|| nothing(counts, job.work, "espbench/#")),
            cancelled: self.cancelled,
        }
    }
}

/// Hands what the subscriber got to those who sent it.
fn gather(
    gatherer: &mut Gatherer<'_>,
    members: &mut [Exchange<'_>],
    touched: &mut Vec<usize>,
    now: Instant,
    mut bytes: &[u8],
) {
    while let Some(arrival) = gatherer.next(now, &mut bytes) {
        let sender = usize::from(arrival.sender);
        let Some(member) = members.get_mut(sender).filter(|member| arrival.seq < member.due())
        else {
            gatherer.count_foreign();
            continue;
        };
        if member.arrived(now, arrival.seq, arrival.whole) {
            gatherer.count(now);
        }
        if touched.last() != Some(&sender) {
            touched.push(sender);
        }
    }
}

#[cfg(unix)]
fn register(poll: &Poll, stream: &BrokerStream, line: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let both = mio::Interest::READABLE | mio::Interest::WRITABLE;
    let socket = stream.socket().as_raw_fd();
    poll.registry().register(&mut mio::unix::SourceFd(&socket), Token(line), both)
}

#[cfg(unix)]
fn reregister(poll: &Poll, stream: &BrokerStream, line: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let both = mio::Interest::READABLE | mio::Interest::WRITABLE;
    let socket = stream.socket().as_raw_fd();
    poll.registry().reregister(&mut mio::unix::SourceFd(&socket), Token(line), both)
}

#[cfg(not(unix))]
fn register(_: &Poll, _: &BrokerStream, _: usize) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "several clients need a Unix system"))
}

#[cfg(not(unix))]
fn reregister(poll: &Poll, stream: &BrokerStream, line: usize) -> io::Result<()> {
    register(poll, stream, line)
}
