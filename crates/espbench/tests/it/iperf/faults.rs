//! Peers that are something else, vanish, refuse, or send garbage.

use super::{Server, TCP, UDP, bytes, client, rate};
use crate::util::{PATIENCE, Paced, peer};
use espbench_model::sample::Observer;
use espbench_model::workload::{Direction, Iperf};
use espbench_proto::wire::iperf2::{Datagram, ServerReport, Stamp};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

fn patient() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

#[test]
fn nothing_listens() {
    let port = crate::util::free_port();
    for work in [TCP, UDP] {
        let (_, result) = client(([127, 0, 0, 1], port).into(), work);
        let text = result.unwrap_err().to_string();
        assert!(text.contains("listens on that") && text.contains("iperf -s"), "{text}");
    }
}

#[test]
fn an_iperf3_server_is_named() {
    if !peer("iperf3") {
        return;
    }
    for direction in [Direction::Forward, Direction::Reverse] {
        let port = crate::util::free_port();
        let mut iperf3 = Command::new("iperf3")
            .args(["-s", "-1", "-B", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        super::wait_for_port(port, false);
        let address = ([127, 0, 0, 1], port).into();
        let (seen, result) = client(address, Iperf { direction, ..TCP });
        assert!(seen.samples.is_empty(), "no figure of a peer that does not speak iperf 2");
        let _ = iperf3.kill();
        let _ = iperf3.wait();
        let text = result.unwrap_err().to_string();
        assert!(text.contains("this is an iperf3 server"), "{direction:?}: {text}");
    }
}

#[test]
fn an_iperf3_client_is_named_and_let_go() {
    if !peer("iperf3") {
        return;
    }
    let server = Server::start();
    let args = ["-c", "127.0.0.1", "-p", &server.port(), "-t", "1"];
    let ran = crate::util::Ran::of(Command::new("iperf3").args(args).stdin(Stdio::null()));
    assert_ne!(ran.status, Some(0));
    server.says("this is an iperf3 client");
}

#[test]
fn an_esp_server_sends_no_report() {
    // ESP-IDF's server: it reads, and says nothing.
    let socket = patient();
    let address = socket.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        let mut count = 0;
        while let Ok(length) = socket.recv(&mut buffer) {
            count += 1;
            let last = Datagram::new(&buffer[..length]).unwrap();
            if last.id(espbench_proto::wire::iperf2::Width::Wide) < 0 {
                return (count, socket);
            }
        }
        panic!("no last datagram");
    });
    let (seen, result) = client(address, Iperf { bytes: Some(14_700), ..UDP });
    result.unwrap();
    let (count, _socket) = reader.join().unwrap();
    assert_eq!(count, 11);
    assert!(seen.totals(Observer::Peer).is_empty());
    assert!(seen.facts["server-report"].contains("none came"));
}

#[test]
fn without_a_report_the_answer_begins_with_what_is_not_known() {
    let sink = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = sink.local_addr().unwrap().port().to_string();
    let bench = crate::util::TestDir::new();
    let args = ["iperf", "-c", "127.0.0.1", "-p", &port, "-u", "-n", "14700", "-q"];
    let answer = bench.run(&args).ok();
    assert!(answer.lines().count() <= 15, "{answer}");
    let first = answer.lines().nth(1).unwrap();
    assert!(first.contains("! Device receives: unknown: the server sent no report"), "{answer}");
    assert!(answer.contains("this host sends (Mbit/s)"), "{answer}");
}

#[test]
fn respond_tells_the_rate_of_each_test() {
    let bench = crate::util::TestDir::new();
    let port = crate::util::free_port();
    let iperf = format!("--iperf-port={port}");
    let others =
        ["echo", "plain-echo", "sink", "source", "mqtt"].map(|it| format!("--{it}-port=0"));
    let args: Vec<&str> = ["respond", "--for", "900 s", &iperf]
        .into_iter()
        .chain(others.iter().map(String::as_str))
        .collect();
    let respond = crate::util::ChildProcess::start(&mut bench.command(&args), true);
    super::wait_for_port(port, false);
    let address = ([127, 0, 0, 1], port).into();
    client(address, Iperf { bytes: Some(131_072), ..TCP }).1.unwrap();
    // Each line names service and port, as those of the other services do; addresses are as iperf 2 prints them.
    let service = format!("iperf 2, port {port}: ");
    let came = respond.line("TCP, client sends");
    let ends = respond.line(" connected with ");
    assert!(
        ends.contains(&format!("local 127.0.0.1 port {port} connected with 127.0.0.1 port ")),
        "{ends}"
    );
    let total = respond.line(" KBytes ");
    assert!(total.contains(" sec ") && total.contains("bits/sec"), "{total}");
    assert!(
        [&came, &ends, &total].iter().all(|it| it.starts_with(&service)),
        "{came} {ends} {total}"
    );
    client(address, Iperf { bytes: Some(14_700), ..UDP }).1.unwrap();
    respond.line("UDP, client sends");
    // With jitter and loss.
    let total = respond.line("%)");
    assert!(total.contains("bits/sec") && total.contains(" ms "), "{total}");
}

#[test]
fn an_esp_server_keeps_tcp_open() {
    // ESP-IDF's server reads on after the end, and closes when its own time is over.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        (stream, all.len() as u64)
    });
    let interval = Duration::from_millis(20);
    let work = Iperf { bytes: Some(100_000), interval, ..TCP };
    let (seen, result) = client(address, work);
    result.unwrap();
    let (_stream, read) = reader.join().unwrap();
    assert_eq!((read, bytes(&seen.totals(Observer::Sender))), (100_000, 100_000));
    for observer in [Observer::Peer, Observer::Sender] {
        let end = seen.totals(observer)[0].end;
        let last = seen.samples.iter().rfind(|it| it.observer == observer && !it.total);
        assert!(last.is_none_or(|it| it.end <= end), "no interval of an open connection: {last:?}");
    }
    assert_eq!(bytes(&seen.totals(Observer::Peer)), 100_000);
    assert!(seen.facts["peer"].contains("ESP-IDF"));
}

#[test]
fn a_server_that_does_not_know_reverse() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let reverse = Iperf { direction: Direction::Reverse, ..TCP };
    let (_, result) = client(listener.local_addr().unwrap(), reverse);
    let text = result.unwrap_err().to_string();
    assert!(text.contains("sent nothing") && text.contains("ESP-IDF"), "{text}");
}

#[test]
fn a_server_that_vanishes_in_the_middle() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 100_000]).unwrap();
    });
    let (seen, result) = client(address, Iperf { time: Duration::from_secs(3600), ..TCP });
    reader.join().unwrap();
    let text = result.unwrap_err().to_string();
    assert!(text.contains("in the middle of the test"), "{text}");
    assert!(bytes(&seen.totals(Observer::Sender)) >= 100_000);
    // UDP: the socket closes, and the kernel says so to the sender.
    let socket = patient();
    let address = socket.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        for _ in 0..10 {
            socket.recv(&mut [0; 2000]).unwrap();
        }
    });
    let (seen, result) = client(address, Iperf { time: Duration::from_secs(3600), ..UDP });
    reader.join().unwrap();
    assert!(result.unwrap_err().to_string().contains("or the server ended"));
    assert!(seen.totals(Observer::Sender)[0].datagrams.unwrap() >= 10);
}

/// D4: a server that dies while it sends, at once or in the middle.
#[test]
fn a_server_that_ends_a_reverse_test_early() {
    for (direction, amount) in
        [(Direction::Reverse, 0), (Direction::Reverse, 100_000), (Direction::FullDuplex, 100_000)]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 60]).unwrap();
            stream.write_all(&vec![0; amount]).unwrap();
        });
        let work = Iperf { direction, time: Duration::from_secs(3600), ..TCP };
        let (seen, result) = client(address, work);
        server.join().unwrap();
        let text = result.unwrap_err().to_string();
        assert!(text.contains("early") || text.contains("in the middle of the test"), "{text}");
        if direction == Direction::Reverse {
            assert!(text.contains(&format!("of 3600 s, with {amount} bytes")), "{text}");
            assert_eq!(bytes(&seen.totals(Observer::Receiver)), amount as u64, "what came is kept");
        }
    }
}

#[test]
fn a_server_that_sends_too_few_bytes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 60]).unwrap();
        stream.write_all(&[0; 50_000]).unwrap();
    });
    let work = Iperf { direction: Direction::Reverse, bytes: Some(100_000), ..TCP };
    let (_, result) = client(address, work);
    server.join().unwrap();
    let text = result.unwrap_err().to_string();
    assert!(text.contains("with 50000 of 100000 bytes"), "{text}");
}

/// D1: the rate is that of the server's reads, whatever this host's buffers take.
#[test]
fn a_slow_server_is_measured_as_slow_as_it_reads() {
    let server = Paced::start(250_000);
    let work = Iperf { time: Duration::from_secs(2), bandwidth: None, ..TCP };
    let (seen, result) = client(server.address, work);
    result.unwrap();
    let truth = server.rate();
    let total = seen.totals(Observer::Peer)[0];
    let ours = rate(&total) * 125_000.0;
    assert!((ours / truth - 1.0).abs() < 0.1, "the headline {ours}, the server {truth}");
    let sent = seen.totals(Observer::Sender)[0];
    let in_flight = seen.counts["in-flight-at-end"];
    assert!(sent.bytes > total.bytes && in_flight > 0, "{sent:?}");
    assert!(in_flight <= sent.bytes - total.bytes, "{in_flight} of {sent:?} and {total:?}");
}

#[test]
fn a_server_that_never_reads_took_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    socket2::SockRef::from(&listener).set_recv_buffer_size(5744).unwrap();
    let (seen, result) = client(listener.local_addr().unwrap(), Iperf { bandwidth: None, ..TCP });
    let text = result.unwrap_err().to_string();
    assert!(text.contains("the server took nothing"), "{text}");
    assert_eq!(bytes(&seen.totals(Observer::Peer)), 0);
    assert!(bytes(&seen.totals(Observer::Sender)) > 0);
}

#[test]
fn an_esp_client_over_tcp() {
    // No header: four bytes of a number at the head of each write, and zeros.
    let server = Server::start();
    let mut stream = TcpStream::connect(server.service.address).unwrap();
    for number in 0..100u32 {
        let mut write = [0; 1460];
        write[..4].copy_from_slice(&number.to_be_bytes());
        stream.write_all(&write).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(bytes(&server.totals(Observer::Receiver, 1)), 146_000);
}

/// Returns one datagram as iperf 2 numbers it.
fn datagram(id: i64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let stamp = Stamp { seconds: 1, micros: 2 };
    Datagram::emit(bytes.first_chunk_mut().unwrap(), id, stamp);
    bytes
}

#[test]
fn reordered_duplicate_lost_and_garbage_datagrams() {
    let server = Server::start();
    let socket = patient();
    socket.connect(server.service.address).unwrap();
    // 4 is lost, 2 comes late, 5 comes twice.
    for id in [1, 3, 2, 5, 5, 6] {
        socket.send(&datagram(id, 100)).unwrap();
    }
    for garbage in [&b""[..], b"a", b"abc", &[0xFF; 40], &[0x7F; 1500], &[0; 9000]] {
        // Zeros are the number 0, which is a first datagram to ESP-IDF: one that may come.
        socket.send(garbage).unwrap();
    }
    let stranger = patient();
    for length in [0, 1, 3, 4, 16, 500, 60_000] {
        let noise: Vec<u8> = (0..length).map(|i| (i * 37 % 251) as u8 | 0x41).collect();
        stranger.send_to(&noise, server.service.address).unwrap();
    }
    socket.send(&datagram(-7, 100)).unwrap();
    let totals = server.totals(Observer::Receiver, 1);
    assert_eq!(totals.len(), 1, "a stranger's noise is no flow");
    let total = totals[0];
    assert_eq!((total.datagrams, total.lost), (Some(7), Some(1)));
    assert_eq!((total.out_of_order, total.duplicates), (Some(2), Some(1)));
    let mut answer = [0; 2000];
    let length = socket.recv(&mut answer).unwrap();
    let report = ServerReport::parse(&answer[..length]).unwrap();
    assert_eq!((report.lost, report.datagrams, report.out_of_order), (1, 8, 2));
    drop(server);
}

#[test]
fn half_open_garbage_and_closing_tcp_clients_do_not_stop_the_others() {
    let server = Server::start();
    let address = server.service.address;
    let silent = TcpStream::connect(address).unwrap();
    let mut started = TcpStream::connect(address).unwrap();
    started.write_all(&[0x40, 0x01]).unwrap();
    let mut cut = TcpStream::connect(address).unwrap();
    cut.write_all(&[0x40, 0x01, 0x00, 0x78, 0, 0]).unwrap();
    drop(cut);
    drop(TcpStream::connect(address).unwrap());
    let mut noise = TcpStream::connect(address).unwrap();
    noise.write_all(&[0xFF; 500]).unwrap();
    let mut bounce = TcpStream::connect(address).unwrap();
    bounce.write_all(&[0x00, 0x80, 0, 0, 0, 0, 0, 0]).unwrap();
    bounce.write_all(&[0; 60]).unwrap();
    server.says("its request is malformed");
    let (seen, result) = client(address, Iperf { bytes: Some(200_000), ..TCP });
    result.unwrap();
    assert_eq!(bytes(&seen.totals(Observer::Sender)), 200_000);
    drop((silent, started, noise));
}
