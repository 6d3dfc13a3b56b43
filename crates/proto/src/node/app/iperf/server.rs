//! The receiving end.

use super::send_back::BackStream;
use super::tcp_server::TcpServer;
use super::udp_server::UdpServer;
use super::{IperfSetup, IperfStyle};
use crate::node::app::{App, Sockets, Wait};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Iperf, Transport};

/// Receives streams of UDP or TCP, `FLOWS` at a time, `N` bytes a read at most, and records what
/// came in intervals and a total of each (observer receiver). It ends after as many streams as the
/// setup's test has.
///
/// Where a client's header asks for it (`-R`, `--full-duplex`, `-r`, `-d`), it sends, too: `BACK` streams at a time, and
/// as many wait, as iperf 2 does and the programs on ESP chips do not. Their samples have the observer sender.
///
/// Counters: `stray-datagrams`; `refused-streams`, more than `FLOWS` at once; `failed`, where the
/// port is taken, or a stream that was asked for could not be sent.
#[derive(Clone, Debug)]
pub struct IperfServer<const N: usize = 16384, const FLOWS: usize = 4, const BACK: usize = 0> {
    buf: [u8; N],
    setup: IperfSetup,
    part: ServerProgram<FLOWS, BACK>,
    back: [Option<BackStream<N>>; BACK],
    /// Whose turn it is: one of `back`, or behind them the receiver.
    turn: usize,
}

#[derive(Clone, Debug)]
enum ServerProgram<const FLOWS: usize, const BACK: usize> {
    Udp(UdpServer<FLOWS, BACK>),
    Tcp(TcpServer<FLOWS, BACK>),
}

impl<const N: usize, const FLOWS: usize, const BACK: usize> IperfServer<N, FLOWS, BACK> {
    /// Creates a server on `port` ([`PORT`](crate::wire::iperf2::PORT)). Of the setup it takes the
    /// style, the transport, the interval and the number of streams; a read is as long as the
    /// program's own, and `N` bytes at most.
    #[must_use]
    pub fn new(mut setup: IperfSetup, port: u16) -> Self {
        setup.work.length = setup.style.read_length().min(N as u32);
        let part = match setup.work.transport {
            Transport::Udp => ServerProgram::Udp(UdpServer::new(setup, port)),
            Transport::Tcp => ServerProgram::Tcp(TcpServer::new(setup, port)),
        };
        Self { buf: [0; N], setup, part, back: [const { None }; BACK], turn: BACK }
    }

    fn receive(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        match &mut self.part {
            ServerProgram::Udp(server) => server.poll(now, sockets, &mut self.buf),
            ServerProgram::Tcp(server) => server.poll(now, sockets, &mut self.buf),
        }
    }

    /// Begins streams that clients have asked for, as far as there are places: the others wait for one. Returns
    /// whether one begins.
    fn begin_back(&mut self, now: Instant) -> bool {
        let requests = match &mut self.part {
            ServerProgram::Udp(server) => &mut server.requests,
            ServerProgram::Tcp(server) => &mut server.requests,
        };
        let mut begins = false;
        for place in self.back.iter_mut().filter(|it| it.is_none()) {
            let Some(request) = requests.first().copied() else { break };
            requests.remove(0);
            *place = Some(BackStream::new(&request, &self.setup, now));
            begins = true;
        }
        begins
    }

    /// Lets one of the streams that are sent back go on.
    fn send_back(&mut self, place: usize, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(stream) = &mut self.back[place] else { return Wait::Change };
        let wait = stream.poll(now, sockets);
        if wait == Wait::Done {
            match (&mut self.part, stream.shared) {
                (ServerProgram::Udp(server), _) => server.sender_ended(stream.to),
                (ServerProgram::Tcp(server), Some(it)) => server.sender_ended(sockets, it),
                (ServerProgram::Tcp(_), None) => {}
            }
            self.back[place] = None;
        }
        wait
    }
}

/// Returns what comes first of two that a program waits for without being busy.
const fn sooner(one: Wait, other: Wait) -> Wait {
    match (one, other) {
        (Wait::Until(a), Wait::Until(b)) if a.as_nanos() < b.as_nanos() => one,
        (Wait::Until(_), Wait::Change) => one,
        _ => other,
    }
}

impl<const N: usize, const FLOWS: usize, const BACK: usize> App for IperfServer<N, FLOWS, BACK> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if BACK == 0 {
            return self.receive(now, sockets);
        }
        // In turn, since a poll does one thing that takes time.
        let mut wait = Wait::Change;
        for _ in 0..=BACK {
            let turn = self.turn;
            self.turn = (turn + 1) % (BACK + 1);
            let own = if turn < BACK {
                self.send_back(turn, now, sockets)
            } else {
                let own = self.receive(now, sockets);
                if own == Wait::Done && self.back.iter().all(Option::is_none) {
                    return own;
                }
                if self.begin_back(now) { Wait::Again } else { own }
            };
            match own {
                Wait::Change | Wait::Until(_) => wait = sooner(wait, own),
                _ => return Wait::Again,
            }
        }
        wait
    }
}

impl IperfStyle {
    /// Returns the bytes of a server's read: `IPERF_TCP_RX_LEN`; espconn hands on segment by
    /// segment.
    const fn read_length(self) -> u32 {
        match self {
            Self::Pc => Iperf::TCP_LENGTH,
            Self::EspIdf | Self::EspIdfV4 => 16 << 10,
            Self::EspConn => 1460,
        }
    }

    /// Returns the silence that ends a stream: `IPERF_SOCKET_RX_TIMEOUT`. The PC's is for UDP,
    /// whose sender may be an ESP without a last datagram; a stream it awaits to its end.
    pub(super) const fn patience(self, transport: Transport) -> Duration {
        match (self, transport) {
            (Self::Pc, Transport::Tcp) => Duration::from_secs(60),
            (Self::Pc, Transport::Udp) => Duration::from_secs(5),
            _ => Duration::from_secs(10),
        }
    }
}
