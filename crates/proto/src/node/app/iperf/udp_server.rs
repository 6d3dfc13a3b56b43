//! Flows of datagrams: [`UdpReceiver`]s over one socket, one for each sender.

use super::send_back::BackRequest;
use super::{IperfSetup, IperfStyle};
use crate::node::Output;
use crate::node::app::{Endpoint, ReceivedDatagram, SocketId, Sockets, Wait, opened};
use crate::node::iperf::{DatagramKind, ReceiverSetup, UdpReceiver};
use crate::wire::iperf2::{self, Carrier, ClientHeader, DATAGRAM_HEADER, REPORT, TestMode, Width};
use espbench_model::sample::Link;
use espbench_model::time::Instant;
use espbench_model::workload::Transport;

/// Bytes of a datagram that say what it is: number, time, and the client header's first word.
const HEAD: usize = DATAGRAM_HEADER + 4;

/// Receiver of `FLOWS` flows at a time, of which `BACK` may ask for one that is sent back.
#[derive(Clone, Debug)]
pub(super) struct UdpServer<const FLOWS: usize, const BACK: usize> {
    setup: IperfSetup,
    port: u16,
    socket: Option<SocketId>,
    flows: [Option<(Endpoint, UdpReceiver)>; FLOWS],
    /// Streams to clients whose own flow is to be over first.
    afterwards: heapless::Vec<(Endpoint, BackRequest), BACK>,
    /// Clients that only receive.
    sent_to: heapless::Vec<Endpoint, BACK>,
    pub(super) requests: heapless::Vec<BackRequest, BACK>,
    begun: u16,
    ended: u16,
    /// When the flows want to be polled.
    wake: Instant,
    strays: u64,
}

impl<const FLOWS: usize, const BACK: usize> UdpServer<FLOWS, BACK> {
    pub(super) fn new(setup: IperfSetup, port: u16) -> Self {
        Self {
            setup,
            port,
            socket: None,
            flows: [const { None }; FLOWS],
            afterwards: heapless::Vec::new(),
            sent_to: heapless::Vec::new(),
            requests: heapless::Vec::new(),
            begun: 0,
            ended: 0,
            wake: Instant::NEVER,
            strays: 0,
        }
    }

    pub(super) fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, buf: &mut [u8]) -> Wait {
        let socket = match opened(&mut self.socket, sockets, |it| it.udp_bind(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if now >= self.wake && self.poll_flows(now, sockets, socket) {
            return Wait::Again;
        }
        if self.ended >= self.setup.work.parallel.max(1) {
            sockets.count("stray-datagrams", self.strays);
            sockets.close(socket);
            return Wait::Done;
        }
        match sockets.udp_receive(socket, buf) {
            Some(datagram) => {
                self.take(now, sockets, &datagram, buf);
                Wait::Again
            }
            None => Wait::Until(self.wake),
        }
    }

    fn take(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        datagram: &ReceivedDatagram,
        buf: &[u8],
    ) {
        let arrived = datagram.stamped.unwrap_or(now);
        let head = &buf[..datagram.len.min(HEAD)];
        let known = self.flows.iter().flatten().any(|(from, _)| *from == datagram.from);
        if self.sent_to.contains(&datagram.from) {
            // It asks until the first datagram reaches it.
            return;
        }
        let first = &buf[..datagram.len];
        if !known && !self.begin(arrived, sockets, datagram.from, first) {
            return;
        }
        let mut flows = self.flows.iter_mut().flatten();
        let Some((_, flow)) = flows.find(|(from, _)| *from == datagram.from) else { return };
        // The end, and its repetitions, are answered.
        if flow.datagram(arrived, head, datagram.len) != DatagramKind::Data || !known {
            self.wake = now;
        }
    }

    /// Begins a flow for a sender that is not known.
    fn begin(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        from: Endpoint,
        first: &[u8],
    ) -> bool {
        let last = iperf2::Datagram::new(first).is_ok_and(|d| d.id(Width::Told) < 0);
        if last || first.len() < 4 || self.begun >= self.setup.work.parallel.max(1) {
            // A repetition for a flow that is over, or none of iperf's.
            self.strays += 1;
            return false;
        }
        let body = first.get(DATAGRAM_HEADER..).unwrap_or_default();
        let header = ClientHeader::parse(body, Carrier::Datagram).ok().flatten();
        let told = iperf2::Datagram::new(first).map_or(0, |it| it.stamp().as_nanos());
        let epoch_ns = u64::try_from(told).unwrap_or(0).saturating_sub(now.as_nanos());
        if header.is_some_and(|it| it.mode() == TestMode::Reverse && self.asks(from, &it, epoch_ns))
        {
            return false;
        }
        let Some(place) = self.flows.iter().position(Option::is_none) else {
            sockets.count("refused-streams", 1);
            return false;
        };
        if let Some(header) = header {
            self.asks(from, &header, epoch_ns);
        }
        let setup = ReceiverSetup {
            link: Link(self.setup.link.0 + self.begun),
            interval: self.setup.work.interval,
            answer: self.setup.style == IperfStyle::Pc && !header.is_some_and(|h| h.no_report()),
            idle: self.setup.style.patience(Transport::Udp),
            width: Width::Told,
            until: Instant::NEVER,
            began: None,
            epoch_ns: None,
        };
        self.flows[place] = Some((from, UdpReceiver::new(setup, now)));
        self.begun += 1;
        true
    }

    /// Notes the stream that a client asks for, at once or afterwards; false where it asks for none, or there is no room:
    /// then it is served as by a server that cannot send.
    fn asks(&mut self, from: Endpoint, header: &ClientHeader, epoch_ns: u64) -> bool {
        if let Some(request) = BackRequest::at_end(header, from) {
            return self.afterwards.push((from, request.with_epoch(epoch_ns))).is_ok();
        }
        let begins = self.socket.and_then(|socket| BackRequest::at_begin(header, from, socket));
        let Some(request) = begins.filter(|_| !self.requests.is_full()) else { return false };
        if header.mode() == TestMode::Reverse && self.sent_to.push(from).is_err() {
            return false;
        }
        self.requests.push(request.with_epoch(epoch_ns)).is_ok()
    }

    /// Takes notice that a sender has ended.
    pub(super) fn sender_ended(&mut self, to: Endpoint) {
        self.sent_to.retain(|it| *it != to);
    }

    /// Polls each flow; true where one of them sent its report, and the rest is to be polled again.
    fn poll_flows(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: SocketId) -> bool {
        self.wake = Instant::NEVER;
        let mut report = [0; REPORT];
        for place in &mut self.flows {
            let Some((from, flow)) = place else { continue };
            loop {
                match flow.poll(now, &mut report) {
                    Output::Sample(sample) => sockets.sample(sample),
                    Output::Send { len } => {
                        // A report that does not leave is asked for again.
                        let _ = sockets.udp_send(socket, *from, &report[..len]);
                        self.wake = now;
                        return true;
                    }
                    Output::WaitUntil(at) => {
                        self.wake = self.wake.min(at);
                        break;
                    }
                    Output::Done => {
                        self.strays += flow.strays();
                        self.ended += 1;
                        let after = self.afterwards.iter().position(|it| it.0 == *from);
                        if let Some((_, it)) = after.map(|it| self.afterwards.swap_remove(it)) {
                            let _ = self.requests.push(it);
                            self.wake = now;
                        }
                        *place = None;
                        break;
                    }
                }
            }
        }
        false
    }
}
