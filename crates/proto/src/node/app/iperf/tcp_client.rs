//! A stream as the clients send it.

use super::{IperfSetup, IperfStyle};
use crate::node::app::{Endpoint, SocketId, Sockets, StreamState, Wait};
use crate::node::iperf::{Limit, Pacer, client_header};
use crate::wire::iperf2::{CLIENT_HEADER, Carrier, Stamp};
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Observer, Sample};
use espbench_model::time::{Duration, Instant};

/// Longest time for a connection to open, and the time between two tries where there is no network.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(100));
/// Longest wait for the acknowledgement of the rest.
const CLOSING: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub(super) struct TcpClient {
    setup: IperfSetup,
    to: Endpoint,
    begun: Option<Instant>,
    step: TcpClientStep,
}

#[derive(Clone, Debug)]
enum TcpClientStep {
    Begin,
    Connecting(SocketId),
    Sending(TcpClientFlow),
    /// All is handed over; until then, the rest is to be acknowledged.
    Closing(TcpClientFlow, Instant),
}

#[derive(Clone, Debug)]
struct TcpClientFlow {
    socket: SocketId,
    meter: FlowMeter,
    counts: FlowCounts,
    pacer: Pacer,
    /// Bytes of the current write that are handed over.
    at: usize,
    /// Bytes of the client header that are not.
    header: usize,
    /// Whether the connection is left open at the end, for who else has it.
    stays: bool,
}

impl TcpClient {
    pub(super) const fn new(setup: IperfSetup, to: Endpoint) -> Self {
        Self { setup, to, begun: None, step: TcpClientStep::Begin }
    }

    /// Creates the sender of a server on a client's connection, which stays open at the end where
    /// the client sends, too.
    pub(super) fn of_server(
        setup: IperfSetup,
        (from, socket): (Endpoint, SocketId),
        now: Instant,
        stays: bool,
    ) -> Self {
        let mut sender = Self::new(setup, from);
        let flow = sender.flow(now, socket, &mut []);
        sender.step = TcpClientStep::Sending(TcpClientFlow { header: 0, stays, ..flow });
        sender
    }

    pub(super) fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, buf: &mut [u8]) -> Wait {
        match core::mem::replace(&mut self.step, TcpClientStep::Begin) {
            TcpClientStep::Begin => self.begin(now, sockets),
            TcpClientStep::Connecting(socket) => self.connecting(now, sockets, socket, buf),
            TcpClientStep::Sending(flow) => self.sending(now, sockets, flow, buf),
            TcpClientStep::Closing(flow, until) => self.closing(now, sockets, flow, until),
        }
    }

    fn begin(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let begun = *self.begun.get_or_insert(now);
        match sockets.tcp_connect(self.to) {
            Ok(socket) => {
                if self.setup.work.no_delay || self.setup.style == IperfStyle::EspConn {
                    sockets.tcp_no_delay(socket, true);
                }
                self.step = TcpClientStep::Connecting(socket);
                Wait::Again
            }
            Err(_) if now < begun + PATIENCE.0 => Wait::Sleep(now + PATIENCE.1),
            Err(_) => fail(sockets, None),
        }
    }

    fn connecting(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        socket: SocketId,
        buf: &mut [u8],
    ) -> Wait {
        let until = self.begun.unwrap_or(now) + PATIENCE.0;
        match sockets.tcp_stream(socket) {
            StreamState::Open | StreamState::HalfClosed => {
                self.step = TcpClientStep::Sending(self.flow(now, socket, buf));
                Wait::Again
            }
            StreamState::Connecting if now < until => {
                self.step = TcpClientStep::Connecting(socket);
                Wait::Until(until)
            }
            StreamState::Connecting | StreamState::Closed => fail(sockets, Some(socket)),
        }
    }

    fn flow(&self, now: Instant, socket: SocketId, buf: &mut [u8]) -> TcpClientFlow {
        let work = &self.setup.work;
        let pc = self.setup.style == IperfStyle::Pc;
        if pc {
            for (at, byte) in buf.iter_mut().enumerate() {
                *byte = b'0' + (at % 10) as u8;
            }
        }
        TcpClientFlow {
            socket,
            meter: FlowMeter::new(self.setup.link, Observer::Sender, work.interval, now),
            counts: FlowCounts { datagrams: Some(0), ..FlowCounts::default() },
            pacer: Pacer::new(now, work.length, work.bandwidth, work.interval / 2),
            at: 0,
            header: if pc { CLIENT_HEADER } else { 0 },
            stays: false,
        }
    }

    fn sending(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        mut flow: TcpClientFlow,
        buf: &[u8],
    ) -> Wait {
        flow.intervals(now, sockets);
        let end = match self.setup.limit() {
            Limit::Time(time) => flow.meter.start() + time,
            Limit::Bytes(_) => Instant::NEVER,
        };
        let length = (self.setup.work.length as usize).min(buf.len());
        let left = match self.setup.limit() {
            Limit::Time(_) => usize::from(now < end) * length,
            Limit::Bytes(all) => {
                usize::try_from(all.saturating_sub(flow.counts.bytes)).unwrap_or(length)
            }
        };
        let wake = flow.meter.next().min(end);
        if left == 0 {
            return self.close(now, sockets, flow);
        }
        let held = match self.setup.style {
            // The sent callback comes when all is acknowledged.
            IperfStyle::EspConn if flow.at == 0 && sockets.tcp_unacknowledged(flow.socket) > 0 => {
                Some(wake)
            }
            _ if flow.at == 0 && flow.header == 0 && flow.pacer.due(now) == 0 => {
                Some(wake.min(flow.pacer.next()))
            }
            _ => None,
        };
        if let Some(wake) = held {
            self.step = TcpClientStep::Sending(flow);
            return Wait::Until(wake);
        }
        match self.write(sockets, &mut flow, &buf[..length], left) {
            Some(0) => {
                self.step = TcpClientStep::Sending(flow);
                Wait::Until(wake)
            }
            Some(_) => {
                self.step = TcpClientStep::Sending(flow);
                Wait::Again
            }
            None => {
                sockets.count("failed", 1);
                flow.end(now, sockets);
                Wait::Done
            }
        }
    }

    /// Hands over what there is room for, the header first; `None` where the connection broke.
    fn write(
        &self,
        sockets: &mut dyn Sockets,
        flow: &mut TcpClientFlow,
        buf: &[u8],
        left: usize,
    ) -> Option<usize> {
        if flow.header > 0 {
            let mut header = [0; CLIENT_HEADER];
            client_header(&self.setup.work, self.to.port, Stamp::default())
                .emit(&mut header, Carrier::Stream);
            let rest = &header[CLIENT_HEADER - flow.header..];
            let len = sockets.tcp_send(flow.socket, rest).ok()?;
            flow.header -= len;
            flow.counts.bytes += len as u64;
            return Some(len);
        }
        let to = buf.len().min(flow.at.saturating_add(left));
        let len = sockets.tcp_send(flow.socket, &buf[flow.at..to]).ok()?;
        flow.counts.bytes += len as u64;
        flow.at += len;
        if flow.at >= buf.len() {
            flow.at = 0;
            flow.counts.datagrams = flow.counts.datagrams.map(|n| n + 1);
            flow.pacer.sent(1);
        }
        Some(len)
    }

    fn close(&mut self, now: Instant, sockets: &mut dyn Sockets, mut flow: TcpClientFlow) -> Wait {
        if self.setup.style == IperfStyle::Pc {
            // Its total counts to the last acknowledgement.
            return self.closing(now, sockets, flow, now + CLOSING);
        }
        flow.end(now, sockets);
        Wait::Done
    }

    fn closing(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        mut flow: TcpClientFlow,
        until: Instant,
    ) -> Wait {
        let open =
            matches!(sockets.tcp_stream(flow.socket), StreamState::Open | StreamState::HalfClosed);
        if open && now < until && sockets.tcp_unacknowledged(flow.socket) > 0 {
            self.step = TcpClientStep::Closing(flow, until);
            return Wait::Until(until);
        }
        flow.end(now, sockets);
        Wait::Done
    }
}

impl TcpClientFlow {
    fn intervals(&mut self, now: Instant, sockets: &mut dyn Sockets) {
        while let Some(interval) = self.meter.ended(now, &self.counts) {
            sockets.sample(Sample::Interval(interval));
        }
    }

    fn end(&mut self, now: Instant, sockets: &mut dyn Sockets) {
        self.intervals(now, sockets);
        if let Some(rest) = self.meter.rest(now, &self.counts) {
            sockets.sample(Sample::Interval(rest));
        }
        sockets.sample(Sample::Interval(self.meter.total(now, &self.counts)));
        sockets.count("late-sends", self.pacer.skipped());
        if !self.stays {
            sockets.close(self.socket);
        }
    }
}

fn fail(sockets: &mut dyn Sockets, socket: Option<SocketId>) -> Wait {
    sockets.count("failed", 1);
    if let Some(socket) = socket {
        sockets.close(socket);
    }
    Wait::Done
}
