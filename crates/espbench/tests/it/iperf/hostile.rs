//! Clients and servers that lie: in headers, times, sizes and reports.

use super::{Collect, Server, TCP, UDP, bytes, client};
use crate::util::{PATIENCE, TestDir};
use espbench_model::sample::{Fate, Observer};
use espbench_model::time::Duration as ProtoDuration;
use espbench_model::workload::{Bounceback, Direction, Iperf};
use espbench_proto::wire::iperf2::{
    Bounce, Burst, CLIENT_HEADER_START, Datagram, REPORT, ServerReport, Stamp, Width,
};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// Starts a UDP server that takes everything and answers the last datagram with `report`, made of
/// what came.
fn reporter(report: impl Fn(ServerReport) -> ServerReport + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        let mut count = 0;
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            count += 1;
            let id = Datagram::new(&buffer[..length]).unwrap().id(Width::Wide);
            if id < 0 {
                let truth = ServerReport {
                    bytes: count * length as u64,
                    time: ProtoDuration::from_millis(100),
                    datagrams: count,
                    ..ServerReport::default()
                };
                let mut out = [0; REPORT];
                report(truth).emit(&mut out);
                socket.send_to(&out, from).unwrap();
                return;
            }
        }
    });
    address
}

#[test]
fn a_report_that_cannot_be_true_is_not_a_result() {
    let minus_one = |_| ServerReport {
        bytes: u64::MAX,
        lost: u64::MAX,
        datagrams: u64::MAX,
        ..ServerReport::default()
    };
    let narrow = |_| ServerReport {
        bytes: 0xFFFF_FFFF,
        lost: 0xFFFF_FFFF,
        datagrams: 2,
        ..ServerReport::default()
    };
    type Lie = Box<dyn Fn(ServerReport) -> ServerReport + Send>;
    let lies: [(&str, Lie); 5] = [
        ("datagrams, and 11 were sent", Box::new(minus_one)),
        ("4294967295 lost of 2 datagrams", Box::new(narrow)),
        ("datagrams, and 11 were sent", Box::new(|t| ServerReport { datagrams: 12, ..t })),
        ("bytes, and the datagrams", Box::new(|t| ServerReport { bytes: t.bytes * 100, ..t })),
        (
            "and the test took",
            Box::new(|t| ServerReport { time: ProtoDuration::from_secs(1 << 31), ..t }),
        ),
    ];
    for (why, lie) in lies {
        let bench = TestDir::new();
        let port = reporter(lie).port().to_string();
        let ran = bench.run(&["iperf", "-c", "127.0.0.1", "-p", &port, "-u", "-n", "14700"]);
        assert_eq!(ran.status, Some(2), "{why}: {ran:?}");
        assert!(ran.err.contains("cannot be true") && ran.err.contains(why), "{why}: {}", ran.err);
        assert!(!ran.out.contains("Server Report"), "{why}: {}", ran.out);
        let report = bench.run(&["report", "iperf-1", "--format", "json"]).out;
        assert!(!report.contains("\"throughput_rx\""), "{why}: {report}");
    }
    // The truth is a result.
    let (seen, result) = client(reporter(|truth| truth), Iperf { bytes: Some(14_700), ..UDP });
    result.unwrap();
    assert_eq!(seen.totals(Observer::Peer)[0].datagrams, Some(11));
}

/// Starts a UDP server that sends `count` datagrams to whoever asks, and then nothing.
fn dying(count: i64) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        let (_, from) = socket.recv_from(&mut buffer).unwrap();
        for id in 1..=count {
            let mut out = [0; 1000];
            let head = out.first_chunk_mut().unwrap();
            Datagram::emit(head, id, Stamp { seconds: 1, micros: id as u32 });
            socket.send_to(&out, from).unwrap();
        }
        // It lives on and says nothing: no ICMP error tells the client.
        std::thread::sleep(Duration::from_secs(60));
    });
    address
}

#[test]
fn a_udp_server_that_dies_in_reverse_is_a_failure_with_its_cause() {
    let bench = TestDir::new();
    let port = dying(20).port().to_string();
    let args = ["iperf", "-c", "127.0.0.1", "-p", &port, "-u", "-R", "-t", "4", "-b", "1m"];
    let ran = bench.run(&args);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.err.contains("the server fell silent after 0."), "{}", ran.err);
    let port = dying(0).port().to_string();
    let args = ["iperf", "-c", "127.0.0.1", "-p", &port, "-u", "-R", "-t", "1"];
    let ran = bench.run(&args);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.err.contains("the server sent nothing"), "{}", ran.err);
}

/// Checks that a server that answers each datagram with noise and a forged end is no result: of both ways it was "0 Mbit/s".
#[test]
fn noise_in_place_of_a_flow_is_not_a_result() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut buffer, mut state) = ([0; 2000], 1_u64);
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let mut noise: Vec<u8> = (0..200)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect();
            let _ = socket.send_to(&noise, from);
            noise[..16].copy_from_slice(&buffer[..length.min(16)]);
            noise[..4].copy_from_slice(&(-1_i32).to_be_bytes());
            let _ = socket.send_to(&noise, from);
        }
    });
    for direction in [Direction::FullDuplex, Direction::Reverse] {
        let (seen, result) = client(address, Iperf { direction, ..UDP });
        let error = result.expect_err("no result").to_string();
        assert!(error.contains("iperf") || error.contains("nothing"), "{direction:?}: {error}");
        assert!(seen.counts.get("stray-datagrams").is_some_and(|it| *it > 0), "{:?}", seen.counts);
    }
}

#[test]
fn a_refused_connection_says_why_on_stderr() {
    let bench = TestDir::new();
    let port = crate::util::free_port().to_string();
    let ran = bench.run(&["iperf", "-c", "127.0.0.1", "-p", &port, "-t", "1"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.err.contains("no iperf 2 server listens on that TCP port"), "{}", ran.err);
}

/// Every flag and length that fits into a header's first word, cut at every length.
#[test]
fn headers_of_all_flags_lengths_and_cuts_do_not_stop_the_server() {
    let server = Server::start();
    let address = server.service.address;
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    for bit in 0..32 {
        for (other, cut) in
            [(0u32, 4), (0x4001_00A0, 80), (0x4400_0000, 60), (0x0001_01FE, 256), (0xFFFF_FFFF, 92)]
        {
            let flags = (1u32 << bit) ^ other;
            let mut header = vec![0xFF; 300];
            header[..4].copy_from_slice(&flags.to_be_bytes());
            // Ports and amounts of -1, upper flags of every bit, times at the end of their field.
            let mut stream = TcpStream::connect(address).unwrap();
            let _ = stream.write_all(&header[..cut]);
            let _ = stream.shutdown(Shutdown::Write);
            let mut datagram = vec![0; 16];
            datagram[3] = 1;
            datagram.extend(&header);
            udp.send_to(&datagram[..16 + cut], address).unwrap();
        }
    }
    // As long as 64 of these connections are open, the server refuses another one.
    let end = Instant::now() + PATIENCE;
    let seen = loop {
        let (seen, result) = client(address, Iperf { bytes: Some(200_000), ..TCP });
        match result {
            Ok(()) => break seen,
            Err(why) => assert!(Instant::now() < end, "{why}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(bytes(&seen.totals(Observer::Sender)), 200_000);
}

/// Opens a stream with trip times that begins like a client's of 2.1.8.
fn timed(address: SocketAddr, start: Stamp) -> TcpStream {
    let work = Iperf { trip_times: true, ..TCP };
    let header = espbench_proto::node::iperf::client_header(&work, 5001, start);
    let mut bytes = [0; CLIENT_HEADER_START];
    header.emit(&mut bytes, espbench_proto::wire::iperf2::Carrier::Stream);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&bytes).unwrap();
    stream
}

#[test]
fn absurd_times_and_bursts_give_no_absurd_figures() {
    let server = Server::start();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = Stamp::from_nanos(now.as_nanos() as u64);
    // A clock of long ago, and one of the far future: no common clock.
    for start in [Stamp::default(), Stamp { seconds: u32::MAX, micros: u32::MAX }] {
        drop(timed(server.service.address, start));
    }
    server.says("--trip-times is ignored");
    let totals = server.totals(Observer::Receiver, 2);
    assert!(totals.iter().all(|t| t.end.since(t.start) < Duration::from_secs(600)));
    // Bursts of size zero, of four gigabytes, and one cut short: counted, not timed.
    for (nth, burst) in [
        Burst { size: 0, id: 1, written: now, ..Burst::default() },
        Burst { size: u32::MAX, id: 1, written: now, ..Burst::default() },
    ]
    .into_iter()
    .enumerate()
    {
        let mut stream = timed(server.service.address, now);
        let mut bytes = [0; 500];
        burst.emit(&mut bytes);
        stream.write_all(&bytes).unwrap();
        drop(stream);
        let totals = server.totals(Observer::Receiver, 3 + nth);
        assert_eq!((totals[2 + nth].bytes, totals[2 + nth].transit), (580, None));
    }
}

#[test]
fn hostile_bounceback_clients() {
    let server = Server::start();
    let address = server.service.address;
    let send = |bounce: Bounce, length: usize| {
        let mut bytes = vec![0; length];
        bounce.emit(&mut bytes);
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&bytes).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    };
    let usual = Bounce { size: 100, id: 1, ..Bounce::default() };
    for bounce in [Bounce { size: 63, ..usual }, Bounce { size: u32::MAX, ..usual }] {
        let mut stream = send(bounce, 100);
        assert_eq!(stream.read(&mut [0; 10]).unwrap_or(0), 0, "closed without a reply");
    }
    server.says("its request is malformed, or longer than");
    // A second request of another size ends the test.
    let mut stream = send(usual, 100);
    stream.read_exact(&mut [0; 100]).unwrap();
    let mut second = [0; 100];
    Bounce { size: 70, ..usual }.emit(&mut second);
    stream.write_all(&second).unwrap();
    server.says("a further request is malformed, or of another size");
    // A hold of an hour does not keep the service from ending.
    let held = send(Bounce { hold: u32::MAX, ..usual }, 100);
    server.says("bounce back");
    drop(server);
    drop(held);
}

/// Starts a TCP server that answers each request of 100 bytes with what `answer` makes of it.
fn bouncer(answer: impl Fn(usize, &mut Vec<u8>) -> bool + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut nth = 0;
        let mut bytes = vec![0; 100];
        while stream.read_exact(&mut bytes).is_ok() {
            let mut reply = bytes.clone();
            if !answer(nth, &mut reply) || stream.write_all(&reply).is_err() {
                return;
            }
            nth += 1;
        }
    });
    address
}

const BOUNCE: Iperf = Iperf {
    length: 100,
    bandwidth: None,
    bounceback: Some(Bounceback { period: Duration::ZERO, ..Bounceback::DEFAULT }),
    ..TCP
};

fn bounced(address: SocketAddr) -> (Collect, String) {
    let (seen, result) = client(address, BOUNCE);
    (seen, result.unwrap_err().to_string())
}

#[test]
fn hostile_bounceback_servers() {
    // One that closes after three replies: three round trips, the fourth lost, and the cause.
    let (seen, why) = bounced(bouncer(|nth, _| nth < 3));
    assert!(why.contains("in the midst of the bounce-back test"), "{why}");
    let delivered = seen.probes.iter().filter(|p| p.fate == Fate::Delivered).count();
    assert_eq!((delivered, seen.probes.len()), (3, 4));
    // One that answers with another request's reply.
    let (seen, why) = bounced(bouncer(|_, reply| {
        reply[11] ^= 1;
        true
    }));
    assert!(why.contains("a reply is not its request"), "{why}");
    assert_eq!(seen.probes[0].fate, Fate::Corrupt);
    // One that does not know bounce back: an iperf 2.0 server reads, and says nothing until it closes.
    let (_, why) = bounced(bouncer(|_, _| false));
    assert!(why.contains("does not know --bounceback"), "{why}");
}

#[test]
fn a_reverse_test_of_tcp_with_trip_times_and_a_server_without() {
    // It sends plain payload: counted, and no time is told.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut header = [0; CLIENT_HEADER_START];
        stream.read_exact(&mut header).unwrap();
        stream.write_all(&[b'7'; 100_000]).unwrap();
    });
    let work =
        Iperf { direction: Direction::Reverse, trip_times: true, bytes: Some(100_000), ..TCP };
    let (seen, _) = client(address, work);
    let total = seen.totals(Observer::Receiver)[0];
    assert_eq!((total.bytes, total.transit), (100_000, None));
    assert!(seen.facts.contains_key("trip-times"));
}
