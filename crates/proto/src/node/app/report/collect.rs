//! Who takes reports.

use super::ReportSetup;
use crate::node::app::{App, Handle, Sockets, Stream, Wait};
use crate::node::mqtt::Gaps;
use crate::node::mqtt::gaps::{Arrival, Missing};
use crate::node::mqtt::payload;
use crate::sample::{Cause, Fate, Probe, Sample};
use crate::time::Instant;
use crate::workload::Transport;

/// Takes a [`Reporter`](super::Reporter)'s messages and records a sample for each, from due to
/// received, on one clock; what is missing at the end is lost. It ends when all have come, or none
/// has for as long as one period and the timeout.
///
/// Counters: `stray-messages`; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct Collector<const N: usize = 1460> {
    setup: ReportSetup,
    port: u16,
    listener: Option<Handle>,
    stream: Option<Handle>,
    gaps: Gaps,
    received: u32,
    strays: u64,
    heard: Option<Instant>,
    /// Bytes of a message that came over TCP.
    held: usize,
    buf: [u8; N],
}

impl<const N: usize> Collector<N> {
    /// Messages that come to `port`, of `N` bytes at most.
    #[must_use]
    pub fn new(mut setup: ReportSetup, port: u16) -> Self {
        setup.size = setup.size.clamp(payload::HEAD as u32, (N as u32).max(payload::HEAD as u32));
        Self {
            setup,
            port,
            listener: None,
            stream: None,
            gaps: Gaps::new(0),
            received: 0,
            strays: 0,
            heard: None,
            held: 0,
            buf: [0; N],
        }
    }

    fn take(&mut self, now: Instant, sockets: &mut dyn Sockets, len: usize) {
        let head = payload::read(&self.buf[..len]);
        let Some(head) = head.filter(|head| head.seq < self.setup.count.into()) else {
            self.strays += 1;
            return;
        };
        self.heard = Some(now);
        let arrival = self.gaps.arrive(now, head.seq);
        if let Some(lost) = self.gaps.take_forgotten() {
            self.lose(sockets, &lost);
        }
        let fate = match arrival {
            Arrival::Duplicate => Fate::Duplicate,
            _ if head.whole && len == self.setup.size as usize => Fate::Delivered,
            _ => Fate::Corrupt,
        };
        self.received += u32::from(arrival != Arrival::Duplicate);
        sockets.sample(Sample::Probe(Probe {
            link: self.setup.link,
            seq: head.seq,
            bytes: self.setup.size,
            due: head.at,
            received: Some(now),
            fate,
            ..Probe::default()
        }));
    }

    fn lose(&self, sockets: &mut dyn Sockets, missing: &Missing) {
        for seq in missing.from..missing.to {
            sockets.sample(Sample::Probe(Probe {
                link: self.setup.link,
                seq,
                bytes: self.setup.size,
                due: missing.noticed,
                fate: Fate::Lost(Cause::Unknown),
                ..Probe::default()
            }));
        }
    }

    fn finish(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        while let Some(missing) = self.gaps.take_first() {
            self.lose(sockets, &missing);
        }
        let tail = Missing { from: self.gaps.next(), to: self.setup.count.into(), noticed: now };
        self.lose(sockets, &tail);
        sockets.count("stray-messages", self.strays);
        for socket in [self.stream, self.listener].into_iter().flatten() {
            sockets.close(socket);
        }
        Wait::Done
    }

    /// One datagram, or a part of a stream; false where nothing has come.
    fn receive(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: Handle) -> bool {
        if self.setup.transport == Transport::Udp {
            let Some(datagram) = sockets.udp_receive(socket, &mut self.buf) else { return false };
            self.take(now, sockets, datagram.len);
            return true;
        }
        if let Some((stream, _)) = sockets.tcp_accept(socket) {
            // The device has begun anew.
            if let Some(old) = self.stream.replace(stream) {
                sockets.close(old);
            }
            self.held = 0;
            return true;
        }
        let Some(stream) = self.stream else { return false };
        let size = (self.setup.size as usize).min(N);
        match sockets.tcp_receive(stream, &mut self.buf[self.held..size]) {
            Ok(0) if sockets.tcp_stream(stream) == Stream::Open => return false,
            Ok(0) | Err(_) => {
                self.stream = None;
                sockets.close(stream);
            }
            Ok(len) => {
                self.held += len;
                if self.held >= size {
                    self.held = 0;
                    self.take(now, sockets, size);
                }
            }
        }
        true
    }
}

impl<const N: usize> App for Collector<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.listener else {
            let socket = match self.setup.transport {
                Transport::Udp => sockets.udp_bind(self.port),
                Transport::Tcp => sockets.tcp_listen(self.port),
            };
            let Ok(socket) = socket else {
                sockets.count("failed", 1);
                return Wait::Done;
            };
            self.listener = Some(socket);
            self.heard = Some(now + self.setup.first);
            return Wait::Again;
        };
        if self.received >= self.setup.count {
            return self.finish(now, sockets);
        }
        if self.receive(now, sockets, socket) {
            return Wait::Again;
        }
        let until = self.heard.unwrap_or(now) + self.setup.every + self.setup.timeout;
        if now >= until { self.finish(now, sockets) } else { Wait::Until(until) }
    }
}
