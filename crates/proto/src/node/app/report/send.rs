//! Who sends.

use super::{RETRY, ReportSetup, TRIES};
use crate::node::app::{App, Endpoint, Handle, SocketError, Sockets, Stream, Wait};
use crate::node::mqtt::payload;
use crate::time::Instant;
use crate::workload::Transport;

/// A device that sends a message every so often (a sensor), and sleeps meanwhile. Messages are those
/// of [`payload`]: number, the time at which they were due, a pattern.
///
/// Over TCP the connection stays open, and is opened again where it broke; the message that was on
/// its way then is lost. Counters: `no-buffers`, messages given up for want of a buffer;
/// `reconnects`; `unsent`, messages that found no connection until the next was due.
#[derive(Clone, Debug)]
pub struct Reporter<const N: usize = 1460> {
    setup: ReportSetup,
    to: Endpoint,
    start: Option<Instant>,
    socket: Option<Handle>,
    /// Connections opened.
    opened: u32,
    seq: u32,
    refused: u8,
    /// Bytes of the current message that are handed over.
    at: usize,
    buf: [u8; N],
}

impl<const N: usize> Reporter<N> {
    /// Messages to `to`, of `N` bytes at most.
    #[must_use]
    pub fn new(mut setup: ReportSetup, to: Endpoint) -> Self {
        setup.size = setup.size.clamp(payload::HEAD as u32, (N as u32).max(payload::HEAD as u32));
        Self {
            setup,
            to,
            start: None,
            socket: None,
            opened: 0,
            seq: 0,
            refused: 0,
            at: 0,
            buf: [0; N],
        }
    }

    fn due(&self, start: Instant, seq: u32) -> Instant {
        start + self.setup.first + self.setup.every * seq
    }

    fn next(&mut self) -> Wait {
        (self.seq, self.at, self.refused) = (self.seq + 1, 0, 0);
        Wait::Again
    }

    fn open(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let socket = match self.setup.transport {
            Transport::Udp => sockets.udp_bind(0),
            Transport::Tcp => sockets.tcp_connect(self.to),
        };
        match socket {
            Ok(socket) => {
                if self.setup.transport == Transport::Tcp {
                    sockets.tcp_no_delay(socket, true);
                    sockets.count("reconnects", u64::from(self.opened > 0));
                }
                self.opened += 1;
                self.socket = Some(socket);
                Wait::Again
            }
            Err(_) => Wait::Sleep(now + RETRY.1),
        }
    }

    fn datagram(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: Handle) -> Wait {
        let size = (self.setup.size as usize).min(N);
        match sockets.udp_send(socket, self.to, &self.buf[..size]) {
            Ok(()) => self.next(),
            Err(SocketError::NoMemory) if self.refused < TRIES => {
                self.refused += 1;
                Wait::Sleep(now + RETRY.0)
            }
            Err(SocketError::NoMemory) => {
                sockets.count("no-buffers", 1);
                self.next()
            }
            Err(_) => {
                sockets.count("unsent", 1);
                self.next()
            }
        }
    }

    fn stream(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: Handle) -> Wait {
        match sockets.tcp_stream(socket) {
            Stream::Connecting => return Wait::Change,
            Stream::Open => {}
            Stream::HalfClosed | Stream::Closed => return self.lost(now, sockets, socket),
        }
        let size = (self.setup.size as usize).min(N);
        match sockets.tcp_send(socket, &self.buf[self.at..size]) {
            Ok(0) => Wait::Change,
            Ok(len) => {
                self.at += len;
                if self.at >= size { self.next() } else { Wait::Again }
            }
            Err(_) => self.lost(now, sockets, socket),
        }
    }

    fn lost(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: Handle) -> Wait {
        sockets.close(socket);
        self.socket = None;
        if self.at > 0 {
            self.next();
        }
        Wait::Sleep(now + RETRY.1)
    }

    /// All are handed over; the last ones may have to be sent again before the socket is closed.
    fn end(&mut self, sockets: &mut dyn Sockets, until: Instant, now: Instant) -> Wait {
        let Some(socket) = self.socket else { return Wait::Done };
        let tcp = self.setup.transport == Transport::Tcp;
        let open = tcp && sockets.tcp_stream(socket) == Stream::Open;
        if open && now < until && sockets.tcp_unacknowledged(socket) > 0 {
            return Wait::Until(until);
        }
        sockets.close(socket);
        Wait::Done
    }
}

impl<const N: usize> App for Reporter<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let start = *self.start.get_or_insert(now);
        if self.seq >= self.setup.count {
            let last = self.due(start, self.setup.count);
            return self.end(sockets, last + self.setup.timeout, now);
        }
        let Some(socket) = self.socket else {
            // One that waits for a connection is overtaken by the next.
            while self.seq < self.setup.count && now >= self.due(start, self.seq + 1) {
                sockets.count("unsent", 1);
                self.seq += 1;
            }
            return if self.seq < self.setup.count { self.open(now, sockets) } else { Wait::Again };
        };
        let due = self.due(start, self.seq);
        if now < due {
            return match self.setup.transport {
                Transport::Udp => Wait::Sleep(due),
                Transport::Tcp => Wait::Until(due),
            };
        }
        if self.at == 0 {
            let size = (self.setup.size as usize).min(N);
            payload::fill(&mut self.buf[..size], self.seq.into(), due);
        }
        match self.setup.transport {
            Transport::Udp => self.datagram(now, sockets, socket),
            Transport::Tcp => self.stream(now, sockets, socket),
        }
    }
}
