//! The UDP side of the server: one thread for everything that comes, one more for each client that
//! is sent to.

use super::{IDLE, Shared, Test, limit};
use crate::pump::{Control, epoch_ns, flows, udp as pump};
use crate::sys::udp::MAX_SEND;
use espbench_proto::node::iperf::{
    Ending, Finish, ReceiverSetup, SenderSetup, UdpReceiver, UdpSender,
};
use espbench_proto::sample::{Link, Sample};
use espbench_proto::time::Instant;
use espbench_proto::wire::iperf2::{
    ClientHeader, DATAGRAM_HEADER, Mode, UDP_LENGTH, UDP_LENGTH_V6, UDP_RATE, Width,
};
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::thread::JoinHandle;

/// Receives until the service stops.
pub(super) fn serve(socket: &UdpSocket, shared: &Shared) {
    let mut server = Server { socket, shared, tests: HashMap::new(), senders: HashMap::new() };
    let mut emit = |_| {};
    let control = Control { clock: &shared.clock, stop: &shared.stop, emit: &mut emit };
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

struct Server<'a> {
    socket: &'a UdpSocket,
    shared: &'a Shared,
    tests: HashMap<SocketAddr, (Test, Option<ClientHeader>)>,
    senders: HashMap<SocketAddr, JoinHandle<()>>,
}

impl flows::Policy for Server<'_> {
    fn begin(&mut self, from: SocketAddr, first: &[u8]) -> Option<ReceiverSetup> {
        let body = first.get(DATAGRAM_HEADER..).unwrap_or_default();
        // What is no header is payload: ESP-IDF's zeros, or a compatible client's pattern.
        let header = ClientHeader::parse(body).ok().flatten();
        let mode = header.map_or(Mode::Forward, |h| h.mode());
        if mode == Mode::Reverse && self.senders.contains_key(&from) {
            // It asks until the first datagram reaches it.
            return None;
        }
        if self.senders.len() >= flows::MOST {
            return None;
        }
        let test = self.shared.begin(from, true, mode);
        match (mode, header) {
            (Mode::Reverse, Some(header)) => {
                self.send(from, &test, header, None);
                return None;
            }
            (Mode::FullDuplex, Some(header)) => self.send(from, &test, header, None),
            (Mode::Dual, Some(header)) => self.send(from, &test, header, Some(header.port)),
            _ => {}
        }
        self.tests.insert(from, (test, header));
        Some(ReceiverSetup {
            link: Link(0),
            interval: self.shared.options.interval,
            answer: !header.is_some_and(|h| h.no_report()),
            idle: IDLE,
            width: Width::Told,
            until: Instant::NEVER,
        })
    }

    fn sample(&mut self, from: SocketAddr, sample: Sample) {
        let Some((test, header)) = self.tests.get(&from) else { return };
        test.sample(sample);
        let total = matches!(sample, Sample::Interval(i) if i.total);
        let tradeoff = header.filter(|h| total && h.mode() == Mode::Tradeoff);
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

impl Server<'_> {
    /// Sends what a client asks for: over this socket, or from one of its own to `port`.
    fn send(&mut self, from: SocketAddr, test: &Test, header: ClientHeader, port: Option<u32>) {
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

fn connect_back(from: SocketAddr, port: u32) -> std::io::Result<UdpSocket> {
    let port = u16::try_from(port).map_err(std::io::Error::other)?;
    let any = if from.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(SocketAddr::new(from.ip(), port))?;
    Ok(socket)
}

fn send(test: &Test, socket: &UdpSocket, to: Option<SocketAddr>, header: &ClientHeader) {
    let usual = if test.peer.is_ipv4() { UDP_LENGTH } else { UDP_LENGTH_V6 };
    let length = if header.length == 0 { usual } else { header.length };
    let length = length.clamp(DATAGRAM_HEADER as u32, MAX_SEND as u32);
    let setup = SenderSetup {
        link: Link(0),
        interval: test.shared.options.interval,
        length,
        rate: Some(header.extension.map_or(0, |e| e.rate))
            .map(|r| if r == 0 { UDP_RATE } else { r }),
        limit: limit(header),
        header: None,
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
