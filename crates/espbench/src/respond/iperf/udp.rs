//! The UDP side of the server: one thread for everything that comes, one more for each client that
//! is sent to.

use super::allowance::{ClientFacts, ClientGate, Shut};
use super::{ClientRequest, IDLE, ServerContext, ServerTest, trip_times};
use crate::pump::udp as pump;
use crate::pump::{PumpContext, epoch_ns, flows};
use crate::sys::options::set_tos;
use crate::sys::udp::{MAX_SEND, TELLS_ERRORS, next_error};
use espbench_model::sample::{Link, Sample};
use espbench_model::time::{Duration, Instant};
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
use std::sync::Arc;
use std::thread::JoinHandle;

/// Refused clients that are remembered, so that each is named once.
const REFUSED_MOST: usize = 1024;

/// Tests of one address at once, and tests that send at once.
const BY_ADDRESS: usize = 128;
const SENDERS_MOST: usize = 128;
/// Tests that send to one address at once.
const SENDERS_BY_ADDRESS: usize = 64;

/// The longest wait for a proof that a flow makes up for: after a longer one a burst would be.
const MADE_UP: Duration = Duration::from_millis(10);

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
    for (_, sending) in server.senders {
        let _ = sending.thread.join();
    }
}

struct UdpTests<'a> {
    socket: &'a UdpSocket,
    shared: &'a ServerContext,
    tests: HashMap<SocketAddr, UdpTest>,
    senders: HashMap<SocketAddr, UdpSending>,
    /// Clients that were refused, and were told so in the log.
    refused: HashSet<SocketAddr>,
}

/// A test whose datagrams come.
struct UdpTest {
    test: ServerTest,
    header: Option<ClientHeader>,
    facts: Arc<ClientFacts>,
}

/// A test whose datagrams go.
struct UdpSending {
    thread: JoinHandle<()>,
    facts: Arc<ClientFacts>,
}

/// Returns the header of a first datagram, and what it asks for.
fn asked_by(first: &[u8]) -> (Option<ClientHeader>, TestMode) {
    let body = first.get(DATAGRAM_HEADER..).unwrap_or_default();
    // What is no header is payload: ESP-IDF's zeros, or a compatible client's pattern.
    let header = ClientHeader::parse(body, Carrier::Datagram).ok().flatten();
    (header, header.map_or(TestMode::Forward, |h| h.mode()))
}

impl flows::FlowHandler for UdpTests<'_> {
    fn needs_room(&mut self, from: SocketAddr, first: &[u8]) -> bool {
        let (_, mode) = asked_by(first);
        // Of a test that only sends nothing comes, and one that is refused anyway drives nobody out.
        mode != TestMode::Reverse && self.has_room(from, mode).is_ok()
    }

    fn begin(&mut self, from: SocketAddr, first: &[u8]) -> Option<ReceiverSetup> {
        let (header, mode) = asked_by(first);
        if let Some(sending) = self.senders.get(&from).filter(|_| mode == TestMode::Reverse) {
            // It asks until the first datagram reaches it.
            sending.facts.came(first.len());
            return None;
        }
        if let Some(option) = header.and_then(|h| h.unsupported()) {
            self.refuse(from, &format!("asks for {option}, which is not served here: not counted"));
            return None;
        }
        if let Err(why) = self.has_room(from, mode) {
            self.refuse(from, &format!("refused, {why}"));
            return None;
        }
        let small = Datagram::new(first).is_ok_and(|d| d.small_trip_times());
        let asked = match &header {
            Some(header) => ClientRequest::of(header),
            None => ClientRequest { trip_times: small, ..ClientRequest::PLAIN },
        };
        let test = self.shared.begin(from, self.shared.local, true, asked);
        let facts = Arc::new(ClientFacts::default());
        facts.came(first.len());
        match (mode, header) {
            (TestMode::Reverse, Some(header)) => {
                self.send(from, &test, header, &facts, None);
                return None;
            }
            (TestMode::FullDuplex, Some(header)) => self.send(from, &test, header, &facts, None),
            (TestMode::Dual, Some(header)) => {
                self.send(from, &test, header, &facts, Some(header.port));
            }
            _ => {}
        }
        let now = self.shared.clock.now();
        let sent = match &header {
            Some(header) => header.start.filter(|_| header.trip_times()).map(|start| start.at),
            None => Datagram::new(first).ok().filter(|_| small).map(|d| d.stamp()),
        };
        let times = trip_times(&test, sent, now);
        let enhanced = self.shared.options.enhanced.then(|| epoch_ns(&self.shared.clock));
        self.tests.insert(from, UdpTest { test, header, facts });
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

    fn heard(&mut self, from: SocketAddr, length: usize) {
        if let Some(sending) = self.senders.get(&from) {
            sending.facts.came(length);
        }
    }

    fn full(&mut self, from: SocketAddr) {
        self.refuse(from, &format!("refused, {} UDP tests are running", flows::MOST));
    }

    fn sample(&mut self, from: SocketAddr, sample: Sample) {
        let Some(UdpTest { test, header, facts }) = self.tests.get(&from) else { return };
        test.sample(sample);
        let Sample::Interval(interval) = sample else { return };
        let tradeoff = header.filter(|h| interval.total && h.mode() == TestMode::Tradeoff);
        if let Some(header) = tradeoff {
            facts.came(usize::try_from(interval.bytes).unwrap_or(usize::MAX));
            let (test, facts) = (test.clone(), Arc::clone(facts));
            self.send(from, &test, header, &facts, Some(header.port));
        }
    }

    fn end(&mut self, from: SocketAddr, flow: &UdpReceiver) {
        let Some(UdpTest { test, .. }) = self.tests.remove(&from) else { return };
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
        if !self.senders.is_empty() {
            self.senders.retain(|_, sending| !sending.thread.is_finished());
            while let Some(error) = next_error(self.socket, &mut []) {
                let sending = error.unreachable.and_then(|it| self.senders.get(&it));
                sending.inspect(|it| it.facts.gone());
            }
        }
        false
    }
}

impl UdpTests<'_> {
    /// Says once of a client that it is refused; there is no answer that it would know.
    fn refuse(&mut self, from: SocketAddr, why: &str) {
        if self.refused.len() >= REFUSED_MOST {
            self.refused.clear();
        }
        if self.refused.insert(from) {
            (self.shared.log)(&format!("{from}: {why}"));
        }
    }

    /// Returns why there is no room for a further test of that address, where there is none.
    fn has_room(&self, from: SocketAddr, mode: TestMode) -> Result<(), String> {
        let of = |client: &&SocketAddr| client.ip() == from.ip();
        let came = self.tests.keys().filter(of).count();
        // A test of one direction after the other sends once it has received.
        let is_to_send = |it: &UdpTest| it.header.is_some_and(|h| h.mode() == TestMode::Tradeoff);
        let to_send = || self.tests.iter().filter(|it| is_to_send(it.1)).map(|it| it.0);
        let goes = self.senders.len() + to_send().count();
        let there = self.senders.keys().chain(to_send()).filter(of).count();
        let sends = mode != TestMode::Forward;
        if came >= BY_ADDRESS {
            Err(format!("{BY_ADDRESS} UDP tests of its address are running"))
        } else if sends && goes >= SENDERS_MOST {
            Err(format!("{SENDERS_MOST} UDP tests that send are running"))
        } else if sends && there >= SENDERS_BY_ADDRESS {
            Err(format!("{SENDERS_BY_ADDRESS} UDP tests that send to its address are running"))
        } else {
            Ok(())
        }
    }

    /// Sends what a client asks for: over this socket, or from one of its own to `port`.
    fn send(
        &mut self,
        from: SocketAddr,
        test: &ServerTest,
        header: ClientHeader,
        facts: &Arc<ClientFacts>,
        port: Option<u32>,
    ) {
        let own = match port {
            None => self.socket.try_clone().map(|socket| (socket, Some(from))),
            Some(port) => connect_back(from, port).map(|socket| (socket, None)),
        };
        let sent = own.and_then(|(socket, to)| {
            let (test, facts) = (test.clone(), Arc::clone(facts));
            let named = std::thread::Builder::new().name("iperf-udp-send".into());
            named.spawn(move || send(&test, &socket, to, &header, &facts))
        });
        match sent {
            Ok(thread) => {
                let facts = Arc::clone(facts);
                self.senders.insert(from, UdpSending { thread, facts });
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

fn send(
    test: &ServerTest,
    socket: &UdpSocket,
    to: Option<SocketAddr>,
    header: &ClientHeader,
    facts: &ClientFacts,
) {
    let default = if test.peer.is_ipv4() { UDP_LENGTH } else { UDP_LENGTH_V6 };
    let length = if header.length == 0 { default } else { header.length };
    let least = if header.trip_times() { TRIP_TIMES_LENGTH } else { DATAGRAM_HEADER as u32 };
    let length = length.clamp(least, MAX_SEND as u32);
    reflect(test, socket, header);
    let clock = &test.shared.clock;
    let setup = SenderSetup {
        link: Link(0),
        interval: test.shared.options.interval,
        length,
        rate: asked_rate(header, Transport::Udp),
        limit: asked_limit(header),
        header: header.trip_times().then(|| {
            let now = epoch_ns(clock).saturating_add(clock.now().as_nanos());
            server_header(header, true, Stamp::from_nanos(now))
        }),
        // Over a connection of its own this side is a client, and has a report to await.
        finish: if to.is_some() { Finish::Once } else { Finish::AwaitReport },
        epoch_ns: epoch_ns(clock),
    };
    let mut sender = UdpSender::new(setup, clock.now());
    let mut gate = ClientGate::new(facts, length, to, test.shared.options.trusts_clients);
    if let Some(to) = to.filter(|_| gate.can_ask()) {
        let mut first = vec![0; length as usize];
        sender.prepare(&mut first);
        sender.fill(clock.now(), &mut first);
        let begun = clock.now();
        let mut open = |most: u64| {
            let most = usize::try_from(most).unwrap_or(usize::MAX).min(first.len());
            socket.send_to(&first[..most], to).map(|sent| sent as u64)
        };
        if let Err(error) = gate.prove(clock, &test.shared.stop, &mut open) {
            return test.note(&format!("cannot send to it: {error}"));
        }
        sender.sent(1);
        let now = clock.now();
        if now.since(begun) > MADE_UP {
            sender.restart(now);
        }
    }
    if header.mode() == TestMode::Reverse && !gate.is_proven(clock.now()) {
        return test.note(if facts.is_gone() { GONE } else { UNPROVEN });
    }
    let result = test
        .pump(|control| pump::send(socket, to, &mut sender, length as usize, &mut gate, control));
    match gate.shut() {
        Some(Shut::Gone) => test.note(GONE),
        Some(Shut::Unproven) => test.note(UNPROVEN),
        None => {}
    }
    match result {
        Ok(sent) if sent.refused > 0 => {
            test.note(&format!("the system refused {} sends for want of buffers", sent.refused));
        }
        Ok(_) => {}
        Err(error) => test.note(&format!("sending to it ended: {error}")),
    }
}

/// A client whose host says that nothing listens where it asked from.
const GONE: &str = "nothing listens there (ICMP): sending to it ended";
/// A client that could be anybody.
const UNPROVEN: &str = if TELLS_ERRORS {
    "nothing proves that this address asked: no more is sent (its host answers no datagram from another port: a firewall?); \
     --trust-clients sends all the same"
} else {
    "nothing proves that this address asked: no more is sent (this system tells a server of no ICMP error); \
     --trust-clients sends all the same"
};
