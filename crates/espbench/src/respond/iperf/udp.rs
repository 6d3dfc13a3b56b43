//! The UDP side of the server: one thread for everything that comes, one more for each client that
//! is sent to.

use super::{ClientRequest, IDLE, ServerContext, ServerTest, trip_times};
use crate::pump::{PumpContext, epoch_ns, flows, udp as pump};
use crate::sys::options::set_tos;
use crate::sys::udp::MAX_SEND;
use espbench_model::sample::{Link, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::Transport;
use espbench_proto::node::iperf::{
    Ending, Finish, ReceiverSetup, SenderSetup, UdpReceiver, UdpSender, asked_limit, asked_rate,
    server_header,
};
use espbench_proto::wire::iperf2::{
    Carrier, ClientHeader, DATAGRAM_HEADER, Datagram, Stamp, TRIP_TIMES_LENGTH, TestMode,
    UDP_LENGTH, UDP_LENGTH_V6, Width,
};
use socket2::SockRef;
use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, UdpSocket};
use std::thread::JoinHandle;

/// Refused clients that are remembered, so that each is named once.
const REFUSED_MOST: usize = 1024;

/// Receives until the service stops.
pub(super) fn serve(socket: &UdpSocket, shared: &ServerContext) {
    let mut server = UdpTests {
        socket,
        shared,
        tests: HashMap::new(),
        senders: HashMap::new(),
        refused: HashSet::new(),
    };
    let mut emit = |_| {};
    let control = PumpContext { clock: &shared.clock, stop: &shared.stop, emit: &mut emit };
    match flows::serve(socket, &mut server, &control) {
        Ok(strays) => {
            if strays.datagrams > 0 {
                (shared.log)(&format!("{} datagrams were not iperf's", strays.datagrams));
            }
            if let Some(dropped @ 1..) = strays.dropped {
                (shared.log)(&format!(
                    "{dropped} datagrams were dropped from this host's full socket buffer: that \
                     loss is not the link's (a larger -w holds more)"
                ));
            }
        }
        Err(error) => (shared.log)(&format!("the UDP side ended: {error}")),
    }
    for (_, thread) in server.senders {
        let _ = thread.join();
    }
}

struct UdpTests<'a> {
    socket: &'a UdpSocket,
    shared: &'a ServerContext,
    tests: HashMap<SocketAddr, (ServerTest, Option<ClientHeader>)>,
    senders: HashMap<SocketAddr, JoinHandle<()>>,
    /// Clients that asked for what is not served, and were told so in the log.
    refused: HashSet<SocketAddr>,
}

impl flows::FlowHandler for UdpTests<'_> {
    fn begin(&mut self, from: SocketAddr, first: &[u8]) -> Option<ReceiverSetup> {
        let body = first.get(DATAGRAM_HEADER..).unwrap_or_default();
        // What is no header is payload: ESP-IDF's zeros, or a compatible client's pattern.
        let header = ClientHeader::parse(body, Carrier::Datagram).ok().flatten();
        let mode = header.map_or(TestMode::Forward, |h| h.mode());
        if mode == TestMode::Reverse && self.senders.contains_key(&from) {
            // It asks until the first datagram reaches it.
            return None;
        }
        if self.senders.len() >= flows::MOST {
            return None;
        }
        if let Some(option) = header.and_then(|h| h.unsupported()) {
            self.refuse(from, option);
            return None;
        }
        let small = Datagram::new(first).is_ok_and(|d| d.small_trip_times());
        let asked = match &header {
            Some(header) => ClientRequest::of(header),
            None => ClientRequest { trip_times: small, ..ClientRequest::PLAIN },
        };
        let test = self.shared.begin(from, self.shared.local, true, asked);
        match (mode, header) {
            (TestMode::Reverse, Some(header)) => {
                self.send(from, &test, header, None);
                return None;
            }
            (TestMode::FullDuplex, Some(header)) => self.send(from, &test, header, None),
            (TestMode::Dual, Some(header)) => self.send(from, &test, header, Some(header.port)),
            _ => {}
        }
        let now = self.shared.clock.now();
        let sent = match &header {
            Some(header) => header.start.filter(|_| header.trip_times()).map(|start| start.at),
            None => Datagram::new(first).ok().filter(|_| small).map(|d| d.stamp()),
        };
        let times = trip_times(&test, sent, now);
        let enhanced = self.shared.options.enhanced.then(|| epoch_ns(&self.shared.clock));
        self.tests.insert(from, (test, header));
        Some(ReceiverSetup {
            link: Link(0),
            interval: self.shared.options.interval,
            answer: !header.is_some_and(|h| h.no_report()),
            idle: IDLE,
            width: Width::Told,
            until: Instant::NEVER,
            began: times.map(|times| times.0),
            epoch_ns: times.map(|times| times.1).or(enhanced),
        })
    }

    fn sample(&mut self, from: SocketAddr, sample: Sample) {
        let Some((test, header)) = self.tests.get(&from) else { return };
        test.sample(sample);
        let total = matches!(sample, Sample::Interval(i) if i.total);
        let tradeoff = header.filter(|h| total && h.mode() == TestMode::Tradeoff);
        if let Some(header) = tradeoff {
            let test = test.clone();
            self.send(from, &test, header, Some(header.port));
        }
    }

    fn end(&mut self, from: SocketAddr, flow: &UdpReceiver) {
        let Some((test, _)) = self.tests.remove(&from) else { return };
        if flow.ending() == Some(Ending::Silence) {
            test.note(&format!(
                "silent for {} s without a last datagram: no report was sent (ESP-IDF's iperf \
                 ends so; otherwise it vanished)",
                IDLE.as_secs()
            ));
        }
        if flow.strays() > 0 {
            test.note(&format!("{} datagrams were not iperf's", flow.strays()));
        }
    }

    fn is_over(&mut self) -> bool {
        self.senders.retain(|_, thread| !thread.is_finished());
        false
    }
}

impl UdpTests<'_> {
    /// Says once what a client asks for that is not served; there is no answer that it would know.
    fn refuse(&mut self, from: SocketAddr, option: &str) {
        if self.refused.len() >= REFUSED_MOST {
            self.refused.clear();
        }
        if self.refused.insert(from) {
            (self.shared.log)(&format!(
                "{from}: asks for {option}, which is not served here: not counted"
            ));
        }
    }

    /// Sends what a client asks for: over this socket, or from one of its own to `port`.
    fn send(
        &mut self,
        from: SocketAddr,
        test: &ServerTest,
        header: ClientHeader,
        port: Option<u32>,
    ) {
        let own = match port {
            None => self.socket.try_clone().map(|socket| (socket, Some(from))),
            Some(port) => connect_back(from, port).map(|socket| (socket, None)),
        };
        match own {
            Ok((socket, to)) => {
                let test = test.clone();
                let thread = std::thread::spawn(move || send(&test, &socket, to, &header));
                self.senders.insert(from, thread);
            }
            Err(error) => test.note(&format!("cannot send to it: {error}")),
        }
    }
}

/// Sends with the type of service that the client asks for, unless `-S` sets another here. All flows of
/// the server share the socket of the port, so that the last client's choice is that of all that are
/// sent to at the same time.
fn reflect(test: &ServerTest, socket: &UdpSocket, header: &ClientHeader) {
    let asked = header.extension.map_or(0, |e| (e.tos & 0xFF) as u8);
    if test.shared.options.socket.tos == 0
        && let Err(error) = set_tos(&SockRef::from(socket), asked)
    {
        test.note(&format!("its type of service {asked:#04x} cannot be set: {error}"));
    }
}

fn connect_back(from: SocketAddr, port: u32) -> std::io::Result<UdpSocket> {
    let port = u16::try_from(port).map_err(std::io::Error::other)?;
    let any = if from.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(SocketAddr::new(from.ip(), port))?;
    Ok(socket)
}

fn send(test: &ServerTest, socket: &UdpSocket, to: Option<SocketAddr>, header: &ClientHeader) {
    let default = if test.peer.is_ipv4() { UDP_LENGTH } else { UDP_LENGTH_V6 };
    let length = if header.length == 0 { default } else { header.length };
    let least = if header.trip_times() { TRIP_TIMES_LENGTH } else { DATAGRAM_HEADER as u32 };
    let length = length.clamp(least, MAX_SEND as u32);
    reflect(test, socket, header);
    let setup = SenderSetup {
        link: Link(0),
        interval: test.shared.options.interval,
        length,
        rate: asked_rate(header, Transport::Udp),
        limit: asked_limit(header),
        header: header.trip_times().then(|| {
            let clock = &test.shared.clock;
            let now = epoch_ns(clock).saturating_add(clock.now().as_nanos());
            server_header(header, true, Stamp::from_nanos(now))
        }),
        // Over a connection of its own this side is a client, and has a report to await.
        finish: if to.is_some() { Finish::Once } else { Finish::AwaitReport },
        epoch_ns: epoch_ns(&test.shared.clock),
    };
    let mut sender = UdpSender::new(setup, test.shared.clock.now());
    let result = test.pump(|control| pump::send(socket, to, &mut sender, length as usize, control));
    match result {
        Ok(sent) if sent.refused > 0 => {
            test.note(&format!("the system refused {} sends for want of buffers", sent.refused));
        }
        Ok(_) => {}
        Err(error) => test.note(&format!("sending to it ended: {error}")),
    }
}
