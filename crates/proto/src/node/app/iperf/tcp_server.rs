//! Streams: reads of what came, counted.

use super::send_back::{BackRequest, StreamHead};
use super::{IperfSetup, IperfStyle};
use crate::node::app::{Endpoint, SocketId, Sockets, StreamState, Wait, opened};
use crate::wire::iperf2::TestMode;
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Link, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::Transport;

/// Receiver of `FLOWS` streams at a time, of which `BACK` may ask for a stream that is sent back.
#[derive(Clone, Debug)]
pub(super) struct TcpServer<const FLOWS: usize, const BACK: usize> {
    setup: IperfSetup,
    port: u16,
    listener: Option<SocketId>,
    flows: [Option<TcpServerFlow>; FLOWS],
    heads: [Option<StreamHead>; BACK],
    pub(super) requests: heapless::Vec<BackRequest, BACK>,
    begun: u16,
    ended: u16,
    /// Whose turn it is to be read.
    turn: usize,
    /// When an interval or a stream's patience ends.
    wake: Instant,
}

#[derive(Clone, Copy, Debug)]
struct TcpServerFlow {
    socket: SocketId,
    link: Link,
    /// Meter of the stream, from the first byte on.
    meter: Option<FlowMeter>,
    counts: FlowCounts,
    heard: Instant,
}

impl<const FLOWS: usize, const BACK: usize> TcpServer<FLOWS, BACK> {
    pub(super) const fn new(setup: IperfSetup, port: u16) -> Self {
        Self {
            setup,
            port,
            listener: None,
            flows: [None; FLOWS],
            heads: [const { None }; BACK],
            requests: heapless::Vec::new(),
            begun: 0,
            ended: 0,
            turn: 0,
            wake: Instant::NEVER,
        }
    }

    pub(super) fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, buf: &mut [u8]) -> Wait {
        let listener = match opened(&mut self.listener, sockets, |it| it.tcp_listen(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if now >= self.wake {
            self.look(now, sockets);
        }
        let streams = self.setup.work.parallel.max(1);
        if self.ended >= streams {
            sockets.close(listener);
            return Wait::Done;
        }
        if self.begun < streams
            && let Some((socket, from)) = sockets.tcp_accept(listener)
        {
            self.accept(now, sockets, socket, from);
            return Wait::Again;
        }
        let length = (self.setup.work.length as usize).min(buf.len());
        if self.read(now, sockets, &mut buf[..length]) {
            return Wait::Again;
        }
        Wait::Until(self.wake)
    }

    fn accept(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        socket: SocketId,
        from: Endpoint,
    ) {
        let Some(place) = self.flows.iter_mut().find(|place| place.is_none()) else {
            sockets.close(socket);
            return sockets.count("refused-streams", 1);
        };
        let link = Link(self.setup.link.0 + self.begun);
        let counts = FlowCounts { datagrams: Some(0), ..FlowCounts::default() };
        *place = Some(TcpServerFlow { socket, link, meter: None, counts, heard: now });
        if let Some(head) = self.heads.iter_mut().find(|it| it.is_none()) {
            *head = Some(StreamHead::new(socket, from));
        }
        self.begun += 1;
        self.wake = now;
    }

    /// Reads from the next stream that has something; false where none has.
    fn read(&mut self, now: Instant, sockets: &mut dyn Sockets, buf: &mut [u8]) -> bool {
        for _ in 0..FLOWS {
            let place = self.turn;
            self.turn = (self.turn + 1) % FLOWS;
            let Some(flow) = &mut self.flows[place] else { continue };
            match sockets.tcp_receive(flow.socket, buf) {
                Ok(0) if sockets.tcp_stream(flow.socket) == StreamState::Open => {}
                Ok(0) => {
                    self.end(place, now, sockets);
                    return true;
                }
                Ok(len) => {
                    let socket = flow.socket;
                    flow.take(now, self.setup.work.interval, len);
                    self.wake = self.wake.min(flow.wake(self.setup.style));
                    self.look_at(place, socket, &buf[..len]);
                    return true;
                }
                Err(_) => {
                    let heard = flow.heard;
                    self.end(place, heard, sockets);
                    return true;
                }
            }
        }
        false
    }

    /// Looks whether a stream's first bytes ask for one that is sent back.
    fn look_at(&mut self, place: usize, socket: SocketId, bytes: &[u8]) {
        let Some(head) = head(&mut self.heads, socket) else { return };
        let taken = head.take(bytes);
        if head.asks_nothing() {
            return self.forget(socket);
        }
        let Some(header) = taken else { return };
        let Some(request) = BackRequest::at_begin(&header, head.from, socket) else { return };
        if self.requests.push(request).is_err() {
            return;
        }
        match header.mode() {
            TestMode::Reverse => {
                // It is the sender's connection from here on.
                self.flows[place] = None;
                self.ended += 1;
                self.forget(socket);
            }
            TestMode::FullDuplex => head.is_shared = true,
            _ => {}
        }
    }

    fn forget(&mut self, socket: SocketId) {
        let of = self.heads.iter_mut().find(|it| it.as_ref().is_some_and(|it| it.socket == socket));
        if let Some(head) = of {
            *head = None;
        }
    }

    /// Takes notice that a sender has ended whose connection is shared: it is closed once neither end sends.
    pub(super) fn sender_ended(&mut self, sockets: &mut dyn Sockets, socket: SocketId) {
        let Some(head) = head(&mut self.heads, socket) else { return };
        head.is_shared = false;
        if head.is_over {
            self.forget(socket);
            sockets.close(socket);
        }
    }

    /// Closes intervals that have ended, and streams that are silent for too long.
    fn look(&mut self, now: Instant, sockets: &mut dyn Sockets) {
        self.wake = Instant::NEVER;
        for place in 0..FLOWS {
            let Some(flow) = &mut self.flows[place] else { continue };
            flow.intervals(now, sockets);
            if now >= flow.patience(self.setup.style) {
                let heard = flow.heard;
                self.end(place, heard, sockets);
            } else {
                self.wake = self.wake.min(flow.wake(self.setup.style));
            }
        }
    }

    fn end(&mut self, place: usize, at: Instant, sockets: &mut dyn Sockets) {
        let Some(mut flow) = self.flows[place].take() else { return };
        flow.intervals(at, sockets);
        if let Some(meter) = &mut flow.meter {
            if let Some(rest) = meter.rest(at, &flow.counts) {
                sockets.sample(Sample::Interval(rest));
            }
            sockets.sample(Sample::Interval(meter.total(at, &flow.counts)));
        }
        self.ended += 1;
        if let Some(head) = head(&mut self.heads, flow.socket) {
            if let Some(request) = head.at_end() {
                // One more than there is room for is not sent back, as by a server that cannot.
                let _ = self.requests.push(request);
            }
            if head.is_shared {
                head.is_over = true;
                return;
            }
            self.forget(flow.socket);
        }
        sockets.close(flow.socket);
    }
}

/// Returns the head of a stream that may ask for one that is sent back.
fn head(heads: &mut [Option<StreamHead>], socket: SocketId) -> Option<&mut StreamHead> {
    heads.iter_mut().flatten().find(|it| it.socket == socket)
}

impl TcpServerFlow {
    fn take(&mut self, now: Instant, interval: Duration, len: usize) {
        let link = self.link;
        self.meter.get_or_insert_with(|| FlowMeter::new(link, Observer::Receiver, interval, now));
        self.counts.bytes += len as u64;
        self.counts.datagrams = self.counts.datagrams.map(|n| n + 1);
        self.heard = now;
    }

    fn intervals(&mut self, now: Instant, sockets: &mut dyn Sockets) {
        let Some(meter) = &mut self.meter else { return };
        while let Some(interval) = meter.ended(now, &self.counts) {
            sockets.sample(Sample::Interval(interval));
        }
    }

    fn patience(&self, style: IperfStyle) -> Instant {
        self.heard + style.patience(Transport::Tcp)
    }

    fn wake(&self, style: IperfStyle) -> Instant {
        let next = self.meter.as_ref().map_or(Instant::NEVER, FlowMeter::next);
        next.min(self.patience(style))
    }
}
