//! Datagrams with a forged sender: the server is turned on nobody, and serves others meanwhile.

use super::{Server, UDP, client};
use crate::util::PATIENCE;
use espbench_model::sample::Observer;
use espbench_model::time::Duration as ProtoDuration;
use espbench_model::workload::{Direction, Iperf};
use espbench_proto::node::iperf::client_header;
use espbench_proto::wire::iperf2::{Carrier, DATAGRAM_HEADER, Datagram, Stamp};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Returns the first datagram of a client that wants a day of as much as goes, of that length.
fn asks(direction: Direction, port: u16, length: usize) -> Vec<u8> {
    let time = ProtoDuration::from_secs(86_400);
    let work = Iperf { direction, time, bandwidth: Some(1_000_000_000), ..UDP };
    let mut first = vec![0; length];
    client_header(&work, port, Stamp::from_nanos(0))
        .emit(&mut first[DATAGRAM_HEADER..], Carrier::Datagram);
    Datagram::emit(first.first_chunk_mut().unwrap(), 1, Stamp::from_nanos(0));
    first
}

/// Returns a socket of somebody who never asked: it takes all, and answers nothing.
fn bystander() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    socket
}

/// Returns the bytes that come until nothing does for a tenth of a second.
fn drained(socket: &UdpSocket) -> usize {
    let mut buffer = [0; 65_536];
    std::iter::from_fn(|| socket.recv(&mut buffer).ok()).sum()
}

#[test]
fn an_address_that_never_answers_gets_three_times_what_came_at_most() {
    let server = Server::start();
    for (direction, length) in [
        (Direction::Reverse, 100),
        (Direction::Reverse, 1470),
        (Direction::FullDuplex, 100),
        (Direction::FullDuplex, 1470),
        (Direction::Dual, 100),
        (Direction::Dual, 1470),
    ] {
        let (victim, back) = (bystander(), bystander());
        let port = back.local_addr().unwrap().port();
        let first = asks(direction, port, length);
        victim.send_to(&first, server.service.address).unwrap();
        server.says(&format!("{}: UDP", victim.local_addr().unwrap()));
        // A test that may go on under its bound has gone as far as it can by then.
        let (until, mut came) = (Instant::now() + Duration::from_millis(1500), 0);
        while Instant::now() < until {
            came += drained(&victim) + drained(&back);
        }
        assert!(came <= 3 * length, "{direction:?}: {length} bytes asked for {came}");
    }
    server.says("nothing proves that this address asked");
}

#[test]
fn a_report_is_no_longer_than_three_times_what_came() {
    let server = Server::start();
    let victim = bystander();
    let mut sent = 0;
    for id in [1, -2, -3, -4, -5] {
        let mut datagram = [0; DATAGRAM_HEADER];
        Datagram::emit(&mut datagram, id, Stamp::from_nanos(0));
        victim.send_to(&datagram, server.service.address).unwrap();
        sent += datagram.len();
    }
    let came = drained(&victim);
    assert!(came > 0 && came <= 3 * sent, "{sent} bytes asked for {came}");
}

#[test]
fn clients_that_are_gone_keep_nobody_out() {
    let server = Server::start();
    let first = asks(Direction::Reverse, 0, 1470);
    for _ in 0..200 {
        let gone = UdpSocket::bind("127.0.0.1:0").unwrap();
        gone.send_to(&first, server.service.address).unwrap();
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let work = Iperf { time: ProtoDuration::from_millis(200), ..UDP };
        let (seen, result) = client(server.service.address, work);
        if result.is_ok() && !seen.totals(Observer::Peer).is_empty() {
            return;
        }
    }
    panic!("no report: {:?}", server.log.lock().unwrap());
}

/// Linux has all of 127.0.0.0/8 for addresses of senders.
#[cfg(target_os = "linux")]
#[test]
fn one_address_takes_not_all_the_room_and_two_that_say_no_more_keep_nobody_out() {
    let server = Server::start();
    let first = asks(Direction::Forward, 0, 1470);
    let flood = |from: &str| {
        for _ in 0..130 {
            let socket = UdpSocket::bind((from, 0)).unwrap();
            socket.send_to(&first, server.service.address).unwrap();
        }
    };
    flood("127.0.0.2");
    server.says("refused, 128 UDP tests of its address are running");
    flood("127.0.0.3");
    let begun = Instant::now();
    let work = Iperf { time: ProtoDuration::from_millis(200), ..UDP };
    while begun.elapsed() < PATIENCE {
        let (seen, result) = client(server.service.address, work);
        if result.is_ok() && !seen.totals(Observer::Peer).is_empty() {
            return;
        }
    }
    panic!("no report: {:?}", server.log.lock().unwrap());
}
