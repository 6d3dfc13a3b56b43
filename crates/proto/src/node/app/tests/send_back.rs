use crate::node::app::iperf::IperfStyle;
use crate::node::app::tests::testing::{Faults, Net, ms, run};
use crate::node::app::{
    App, Endpoint, IperfClient, IperfServer, IperfSetup, SocketId, Sockets, StreamState, Wait,
};
use crate::node::iperf::client_header;
use crate::wire::iperf2::{CLIENT_HEADER, Carrier, DATAGRAM_HEADER, Datagram, Stamp, Width};
use espbench_model::sample::{Interval, Observer};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Direction, Iperf, Transport};
use std::vec::Vec;

const TCP: Iperf = Iperf {
    transport: Transport::Tcp,
    time: Duration::from_millis(300),
    interval: Duration::from_millis(100),
    bandwidth: Some(2_000_000),
    length: 1000,
    parallel: 1,
    ..Iperf::DEFAULT
};
const UDP: Iperf = Iperf { transport: Transport::Udp, ..TCP };
const SERVER: Endpoint = Endpoint::new([10, 0, 0, 2], 5001);

/// A server as a device of a live lab has it.
type Served = IperfServer<16384, 4, 4>;

fn served(work: Iperf) -> Served {
    let work = Iperf { parallel: u16::MAX, ..work };
    IperfServer::new(IperfSetup::of(&work, IperfStyle::EspIdf), SERVER.port)
}

/// A client of `iperf -R` or `--full-duplex`, over TCP.
struct Asker {
    work: Iperf,
    start: Instant,
    socket: Option<SocketId>,
    /// Bytes of the header, and of what follows it, that are to be sent.
    left: usize,
    /// Bytes that go out at a time.
    piece: usize,
    received: usize,
}

impl Asker {
    fn new(direction: Direction, more: usize, piece: usize) -> Self {
        let work = Iperf { direction, ..TCP };
        let left = CLIENT_HEADER + more;
        Self { work, start: Instant::ZERO, socket: None, left, piece, received: 0 }
    }
}

impl App for Asker {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if now < self.start {
            return Wait::Until(self.start);
        }
        let Some(socket) = self.socket else {
            self.socket = sockets.tcp_connect(SERVER).ok();
            return Wait::Again;
        };
        let state = sockets.tcp_stream(socket);
        if state == StreamState::Connecting {
            return Wait::Change;
        }
        if self.left > 0 {
            let mut header = [b'x'; 4096];
            client_header(&self.work, SERVER.port, Stamp::default())
                .emit(&mut header, Carrier::Stream);
            let at = CLIENT_HEADER.saturating_sub(self.left);
            let end = header.len().min(at + self.left.min(self.piece));
            self.left -= sockets.tcp_send(socket, &header[at..end]).unwrap();
            return Wait::Again;
        }
        match sockets.tcp_receive(socket, &mut [0; 1000]) {
            Ok(0) if state == StreamState::Open => Wait::Change,
            Ok(0) | Err(_) => {
                sockets.close(socket);
                Wait::Done
            }
            Ok(len) => {
                self.received += len;
                Wait::Again
            }
        }
    }
}

fn total(net: &Net, host: usize, observer: Observer) -> Option<Interval> {
    let all = net.hosts[host].intervals();
    all.into_iter().find(|it| it.total && it.observer == observer)
}

#[test]
fn a_client_that_only_receives_gets_what_it_asked_for() {
    // However its header is cut.
    for piece in [1, 7, CLIENT_HEADER] {
        let mut net = Net::new(2, Faults::default());
        let (mut asker, mut server) = (Asker::new(Direction::Reverse, 0, piece), served(TCP));
        let done = run(&mut net, &mut [&mut asker, &mut server], ms(5_000));
        assert_eq!(done, [true, false]);
        let sent = total(&net, 1, Observer::Sender).unwrap();
        assert_eq!(sent.bytes, asker.received as u64);
        // 2 Mbit/s for 0.3 s.
        assert!((70_000..80_000).contains(&sent.bytes), "{sent:?}");
        assert_eq!(sent.end.since(sent.start).as_millis() / 10, 30);
        assert_eq!(total(&net, 1, Observer::Receiver), None);
        assert!(net.hosts[1].tcp.is_empty(), "the connection is closed");
    }
}

#[test]
fn writes_are_as_long_as_those_of_the_client_program() {
    let work = Iperf { length: 0, bandwidth: None, ..TCP };
    let asked = Iperf { direction: Direction::Reverse, ..work };
    let mut net = Net::new(2, Faults::default());
    let mut asker = Asker { work: asked, ..Asker::new(Direction::Reverse, 0, CLIENT_HEADER) };
    run(&mut net, &mut [&mut asker, &mut served(work)], ms(5_000));
    let back = net.hosts[1].longest_write;
    let mut net = Net::new(2, Faults::default());
    let setup = IperfSetup::of(&work, IperfStyle::EspIdf);
    let mut client = IperfClient::<16384>::new(setup, SERVER);
    run(&mut net, &mut [&mut client, &mut served(work)], ms(5_000));
    assert_eq!((back, net.hosts[0].longest_write), (16_384, 16_384));
}

#[test]
fn who_finds_no_place_waits_for_one() {
    let mut net = Net::new(4, Faults::default());
    let [mut one, mut two, mut three] = [0, 100, 150]
        .map(|at| Asker { start: ms(at), ..Asker::new(Direction::Reverse, 0, CLIENT_HEADER) });
    let work = Iperf { parallel: u16::MAX, ..TCP };
    let setup = IperfSetup::of(&work, IperfStyle::EspIdf);
    // One stream at a time, and one that waits: the third gets nothing.
    let mut server = IperfServer::<16384, 4, 1>::new(setup, SERVER.port);
    run(&mut net, &mut [&mut one, &mut server, &mut two, &mut three], ms(20_000));
    assert_eq!([one.received, two.received, three.received], [75_000, 75_000, 0]);
    assert!(net.hosts[1].tcp.is_empty(), "all connections are closed");
}

#[test]
fn both_ends_send_on_one_connection() {
    for more in [100_000, 0] {
        let mut net = Net::new(2, Faults::default());
        let (mut asker, mut server) = (Asker::new(Direction::FullDuplex, more, 4096), served(TCP));
        run(&mut net, &mut [&mut asker, &mut server], ms(20_000));
        let sent = total(&net, 1, Observer::Sender).unwrap();
        assert!((70_000..80_000).contains(&sent.bytes), "{sent:?}");
        let received = total(&net, 1, Observer::Receiver).unwrap();
        assert_eq!(received.bytes, (more + CLIENT_HEADER) as u64);
        assert!(net.hosts[1].tcp.is_empty(), "the connection is closed");
    }
}

/// A client, and beside it the server that it is connected back to.
struct Both {
    client: Option<IperfClient>,
    server: IperfServer,
    turn: bool,
}

impl App for Both {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        self.turn = !self.turn;
        let own = match &mut self.client {
            Some(client) if self.turn => client.poll(now, sockets),
            _ => self.server.poll(now, sockets),
        };
        if self.turn && own == Wait::Done {
            self.client = None;
        }
        // The other one has its turn a little later.
        if own == Wait::Again { own } else { Wait::Until(now + Duration::from_micros(50)) }
    }
}

#[test]
fn a_stream_is_sent_to_where_the_client_listens() {
    for (work, direction) in [
        (TCP, Direction::Tradeoff),
        (TCP, Direction::Dual),
        (UDP, Direction::Tradeoff),
        (UDP, Direction::Dual),
    ] {
        let work = Iperf { direction, ..work };
        let mut net = Net::new(2, Faults::default());
        let pc = IperfSetup::of(&work, IperfStyle::Pc);
        let client = Some(IperfClient::new(pc, SERVER));
        let mut both = Both { client, server: IperfServer::new(pc, SERVER.port), turn: false };
        let mut server = served(work);
        run(&mut net, &mut [&mut both, &mut server], ms(15_000));
        let there = total(&net, 1, Observer::Receiver).unwrap();
        let (sent, back) = (total(&net, 1, Observer::Sender), total(&net, 0, Observer::Receiver));
        let (sent, back) = (sent.unwrap(), back.unwrap());
        assert_eq!(sent.bytes, back.bytes, "{work:?}");
        assert!((70_000..80_000).contains(&back.bytes), "{back:?}");
        let after = sent.start >= there.end;
        assert_eq!(after, direction == Direction::Tradeoff, "{sent:?} {there:?}");
    }
}

/// A client of `iperf -u -R`: asks until the first datagram comes, and receives until the last.
struct UdpAsker {
    socket: Option<SocketId>,
    next: Instant,
    numbers: Vec<i64>,
    bytes: u64,
}

impl App for UdpAsker {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Some(socket) = self.socket else {
            self.socket = sockets.udp_bind(0).ok();
            return Wait::Again;
        };
        let mut buf = [0; 1470];
        if let Some(datagram) = sockets.udp_receive(socket, &mut buf) {
            self.bytes += datagram.len as u64;
            self.numbers.push(Datagram::new(&buf).unwrap().id(Width::Told));
            return Wait::Again;
        }
        if self.numbers.last().is_some_and(|it| *it < 0) {
            return Wait::Done;
        }
        if self.numbers.is_empty() && now >= self.next {
            self.next = now + Duration::from_millis(10);
            let work = Iperf { direction: Direction::Reverse, length: 1470, ..UDP };
            let header = client_header(&work, SERVER.port, Stamp::default());
            header.emit(&mut buf[DATAGRAM_HEADER..], Carrier::Datagram);
            buf[3] = 1;
            sockets.udp_send(socket, SERVER, &buf).unwrap();
            return Wait::Again;
        }
        if self.numbers.is_empty() { Wait::Until(self.next) } else { Wait::Change }
    }
}

#[test]
fn datagrams_are_sent_from_the_port_that_was_asked() {
    let mut net = Net::new(2, Faults::default());
    let mut asker = UdpAsker { socket: None, next: Instant::ZERO, numbers: Vec::new(), bytes: 0 };
    let mut server = served(UDP);
    let done = run(&mut net, &mut [&mut asker, &mut server], ms(20_000));
    assert!(done[0], "{:?}", asker.numbers.len());
    let sent = total(&net, 1, Observer::Sender).unwrap();
    assert_eq!(sent.bytes, asker.bytes);
    assert!((70_000..80_000).contains(&sent.bytes), "{sent:?}");
    let last = *asker.numbers.last().unwrap();
    assert_eq!(asker.numbers.len() as i64, -last, "{:?}", asker.numbers);
    assert_eq!(total(&net, 1, Observer::Receiver), None);
}
