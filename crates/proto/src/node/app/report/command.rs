//! Commands and their answers.

use super::{RETRY, ReportSetup};
use crate::node::Output;
use crate::node::app::{App, Echo, EchoProbe, Endpoint, Handle, Sockets, Stream, Wait};
use crate::node::echo::{Prober, SLOTS};
use crate::sample::Cause;
use crate::time::Instant;
use crate::wire::echo::HEADER_LEN;
use crate::workload::{EchoFormat, Transport, UdpEcho};

/// Sends a command every so often and times its answer: an echo probe in binary form. Over TCP the
/// connection stays open, and is opened again where it broke.
///
/// It records a sample for each command. Counters: `stray-datagrams`; `reconnects`.
#[derive(Clone, Debug)]
pub struct Commander<const N: usize = 1460> {
    first: Option<Instant>,
    setup: ReportSetup,
    over: Over<N>,
}

#[derive(Clone, Debug)]
enum Over<const N: usize> {
    Udp(EchoProbe<N>),
    Tcp(TcpProbe<N>),
}

impl<const N: usize> Commander<N> {
    /// Commands to `to`, of `N` bytes at most. `session` marks them.
    #[must_use]
    pub fn new(mut setup: ReportSetup, to: Endpoint, session: u32) -> Self {
        setup.size = setup.size.clamp(HEADER_LEN as u32, (N as u32).max(HEADER_LEN as u32));
        let work = UdpEcho {
            size: setup.size,
            count: setup.count,
            discard: 0,
            format: EchoFormat::Binary,
            in_flight: SLOTS as u16,
            interval: Some(setup.every),
            timeout: setup.timeout,
        };
        let over = match setup.transport {
            Transport::Udp => Over::Udp(EchoProbe::new(work, session, 0, to)),
            Transport::Tcp => Over::Tcp(TcpProbe::new(work, session, to)),
        };
        Self { first: None, setup, over }
    }
}

impl<const N: usize> App for Commander<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let first = *self.first.get_or_insert(now + self.setup.first);
        match &mut self.over {
            Over::Udp(_) if now < first => Wait::Sleep(first),
            Over::Udp(probe) => probe.poll(now, sockets),
            Over::Tcp(probe) => probe.poll(now, sockets, first),
        }
    }
}

/// [`Prober`] over a stream: each probe and each answer is as long as the next.
#[derive(Clone, Debug)]
struct TcpProbe<const N: usize> {
    work: UdpEcho,
    session: u32,
    to: Endpoint,
    prober: Option<Prober>,
    socket: Option<Handle>,
    retry: Instant,
    opened: u32,
    /// Since when there is no connection.
    down: Option<Instant>,
    /// What was received is to be worked off before more is.
    drain: bool,
    out: [u8; N],
    /// Bytes of the probe that are yet to be handed over: from, to.
    waiting: (usize, usize),
    answer: [u8; N],
    held: usize,
}

impl<const N: usize> TcpProbe<N> {
    const fn new(work: UdpEcho, session: u32, to: Endpoint) -> Self {
        Self {
            work,
            session,
            to,
            prober: None,
            socket: None,
            retry: Instant::ZERO,
            opened: 0,
            down: None,
            drain: false,
            out: [0; N],
            waiting: (0, 0),
            answer: [0; N],
            held: 0,
        }
    }

    /// The open connection; it is opened where there is none.
    fn open(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Option<Handle> {
        let Some(socket) = self.socket else {
            if now >= self.retry {
                self.retry = now + RETRY.1;
                if let Ok(socket) = sockets.tcp_connect(self.to) {
                    sockets.tcp_no_delay(socket, true);
                    sockets.count("reconnects", u64::from(self.opened > 0));
                    self.opened += 1;
                    self.socket = Some(socket);
                }
            }
            return None;
        };
        match sockets.tcp_stream(socket) {
            Stream::Open => Some(socket),
            Stream::Connecting => None,
            Stream::HalfClosed | Stream::Closed => {
                self.lost(now, sockets);
                None
            }
        }
    }

    fn lost(&mut self, now: Instant, sockets: &mut dyn Sockets) {
        if let Some(socket) = self.socket.take() {
            sockets.close(socket);
        }
        (self.waiting, self.held, self.retry) = ((0, 0), 0, now + RETRY.1);
    }

    /// Hands over and reads; true where it did something.
    fn transfer(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: Handle) -> bool {
        let (from, to) = self.waiting;
        if from < to {
            match sockets.tcp_send(socket, &self.out[from..to]) {
                Ok(0) => {}
                Ok(len) => {
                    self.waiting.0 += len;
                    return true;
                }
                Err(_) => {
                    self.lost(now, sockets);
                    return true;
                }
            }
        }
        let size = (self.work.size as usize).min(N);
        match sockets.tcp_receive(socket, &mut self.answer[self.held..size]) {
            Ok(0) => false,
            Ok(len) => {
                self.held += len;
                if self.held >= size
                    && let Some(prober) = &mut self.prober
                {
                    prober.handle(now, &self.answer[..size], None);
                    (self.held, self.drain) = (0, true);
                }
                true
            }
            Err(_) => {
                self.lost(now, sockets);
                true
            }
        }
    }

    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, first: Instant) -> Wait {
        let socket = self.open(now, sockets);
        if let Some(socket) = socket.filter(|_| !self.drain)
            && self.transfer(now, sockets, socket)
        {
            return Wait::Again;
        }
        // There may be more to receive, of which no change will tell.
        let drained = core::mem::take(&mut self.drain);
        let retry = if self.socket.is_none() { self.retry } else { Instant::NEVER };
        // A connection is waited for, and commands are late; after a while they are lost.
        match socket {
            Some(_) => self.down = None,
            None => {
                let patience = *self.down.get_or_insert(now) + self.work.timeout;
                if now < patience {
                    return Wait::Until(patience.min(retry.max(now)));
                }
            }
        }
        let (work, session) = (self.work, self.session);
        let prober = self.prober.get_or_insert_with(|| Prober::new(work, session, first));
        if self.waiting.0 < self.waiting.1 {
            // A probe that is yet to be handed over holds up the next.
            return Wait::Until(now + RETRY.1);
        }
        loop {
            match prober.poll(now, &mut self.out) {
                Output::Sample(sample) => sockets.sample(sample),
                Output::WaitUntil(_) if drained => return Wait::Again,
                Output::WaitUntil(at) => return Wait::Until(at.min(retry)),
                Output::Send { len } if socket.is_some() => {
                    self.waiting = (0, len);
                    return Wait::Again;
                }
                Output::Send { .. } => prober.refused(Cause::Disconnected),
                Output::Done => {
                    sockets.count("stray-datagrams", prober.stray());
                    if let Some(socket) = self.socket.take() {
                        sockets.close(socket);
                    }
                    return Wait::Done;
                }
            }
        }
    }
}

/// A device that answers each command with itself: over UDP an [`Echo`], over TCP what comes is sent
/// back on one connection at a time. It never ends.
#[derive(Clone, Debug)]
pub struct Answerer<const N: usize = 1460> {
    over: Answers<N>,
}

#[derive(Clone, Debug)]
enum Answers<const N: usize> {
    Udp(Echo<N>),
    Tcp(TcpEcho<N>),
}

#[derive(Clone, Debug)]
struct TcpEcho<const N: usize> {
    port: u16,
    listener: Option<Handle>,
    stream: Option<Handle>,
    buf: [u8; N],
    waiting: (usize, usize),
}

impl<const N: usize> Answerer<N> {
    /// Answers what comes to `port`.
    #[must_use]
    pub const fn new(transport: Transport, port: u16) -> Self {
        let over = match transport {
            Transport::Udp => Answers::Udp(Echo::new(port)),
            Transport::Tcp => Answers::Tcp(TcpEcho {
                port,
                listener: None,
                stream: None,
                buf: [0; N],
                waiting: (0, 0),
            }),
        };
        Self { over }
    }
}

impl<const N: usize> App for Answerer<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        match &mut self.over {
            Answers::Udp(echo) => echo.poll(now, sockets),
            Answers::Tcp(echo) => echo.poll(sockets),
        }
    }
}

impl<const N: usize> TcpEcho<N> {
    fn poll(&mut self, sockets: &mut dyn Sockets) -> Wait {
        let Some(listener) = self.listener else {
            let Ok(listener) = sockets.tcp_listen(self.port) else {
                sockets.count("failed", 1);
                return Wait::Done;
            };
            self.listener = Some(listener);
            return Wait::Again;
        };
        if let Some((stream, _)) = sockets.tcp_accept(listener) {
            // Who asked has begun anew.
            if let Some(old) = self.stream.replace(stream) {
                sockets.close(old);
            }
            sockets.tcp_no_delay(stream, true);
            self.waiting = (0, 0);
            return Wait::Again;
        }
        let Some(stream) = self.stream else { return Wait::Change };
        let (from, to) = self.waiting;
        let moved = if from < to {
            let sent = sockets.tcp_send(stream, &self.buf[from..to]);
            self.waiting.0 += sent.unwrap_or(0);
            sent
        } else {
            let came = sockets.tcp_receive(stream, &mut self.buf);
            self.waiting = (0, came.unwrap_or(0));
            came
        };
        match moved {
            Ok(0) if sockets.tcp_stream(stream) == Stream::Open => Wait::Change,
            Ok(0) | Err(_) => {
                self.stream = None;
                sockets.close(stream);
                Wait::Again
            }
            Ok(_) => Wait::Again,
        }
    }
}
