//! The TCP side of the server: a thread for each connection.

use super::{IDLE, LONGEST_WRITE, Shared, Test, limit};
use crate::pump::{self, SLICE, is_pause, tcp as stream};
use espbench_proto::node::iperf::Limit;
use espbench_proto::sample::Link;
use espbench_proto::time::{Duration, Instant};
use espbench_proto::wire::iperf2::{
    Ack, CLIENT_HEADER_MAX, ClientHeader, Mode, TCP_LENGTH, client_greeting,
};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Most connections at once; further ones are closed at once, and said.
const MOST: usize = 64;
/// Bytes of a read.
const READ: usize = 128 * 1024;
/// How long the connection back to a client (`-r`, `-d`) may take.
const CONNECT: Duration = Duration::from_secs(5);
/// Bytes of an iperf3 client's greeting.
const COOKIE: usize = 37;
/// The version that the ack names.
const VERSION: (u32, u32) = (0x0002_0001, 0x0008_0003);

/// Accepts until the service stops.
pub(super) fn serve(listener: &TcpListener, shared: &Shared) {
    let mut threads: Vec<std::thread::JoinHandle<()>> = Vec::new();
    while !shared.stop.load(std::sync::atomic::Ordering::Relaxed) {
        threads.retain(|thread| !thread.is_finished());
        match listener.accept() {
            Ok((stream, peer)) if threads.len() < MOST => {
                let shared = shared.clone();
                threads.push(std::thread::spawn(move || {
                    if let Err(error) = connection(&stream, peer, &shared) {
                        (shared.log)(&format!("{peer}: {error}"));
                    }
                }));
            }
            Ok((_, peer)) => {
                (shared.log)(&format!("{peer}: refused, {MOST} tests are running"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// What a connection begins with.
enum Opening {
    /// This many bytes of payload, or of a header.
    Bytes(Option<ClientHeader>, usize),
    /// Nothing: a connection test.
    Closed,
    /// An iperf3 client.
    Iperf3,
}

fn connection(stream: &TcpStream, peer: SocketAddr, shared: &Shared) -> io::Result<()> {
    let start = shared.clock.now();
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SLICE))?;
    let (header, before) = match opening(stream, shared, start)? {
        Opening::Closed => return Ok(()),
        Opening::Bytes(header, count) => (header, count),
        Opening::Iperf3 => {
            (shared.log)(&format!(
                "{peer}: this is an iperf3 client, and iperf3 cannot talk to an iperf 2 server: \
                 use iperf 2 (`iperf -c`, or `espbench iperf -c`) there, or start `iperf3 -s` here"
            ));
            return Ok(());
        }
    };
    let Some(header) = header else {
        let test = shared.begin(peer, false, Mode::Forward);
        receive(&test, stream, start, before);
        return Ok(());
    };
    let test = shared.begin(peer, false, header.mode());
    if header.wants_ack() {
        acknowledge(stream)?;
    }
    match header.mode() {
        Mode::Forward => receive(&test, stream, start, before),
        Mode::Reverse => send(&test, stream, &header, start, false),
        Mode::FullDuplex => std::thread::scope(|scope| {
            scope.spawn(|| send(&test, stream, &header, start, true));
            receive(&test, stream, start, before);
        }),
        Mode::Dual => std::thread::scope(|scope| {
            scope.spawn(|| send_back(&test, &header));
            receive(&test, stream, start, before);
        }),
        Mode::Tradeoff => {
            receive(&test, stream, start, before);
            send_back(&test, &header);
        }
        Mode::Bounceback => test.note("--bounceback is not served here: closed"),
    }
    Ok(())
}

/// Reads no more than the header, so that the payload stays in the socket.
fn opening(mut stream: &TcpStream, shared: &Shared, start: Instant) -> io::Result<Opening> {
    let mut bytes = [0; CLIENT_HEADER_MAX];
    let mut count = 0;
    let mut wanted = 4;
    loop {
        match stream.read(&mut bytes[count..wanted]) {
            Ok(0) if count == 0 => return Ok(Opening::Closed),
            Ok(0) => return Ok(Opening::Bytes(None, count)),
            Ok(more) => count += more,
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        if shared.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(Opening::Closed);
        }
        let greeting = client_greeting(&bytes[..count]).is_some();
        if greeting && count >= COOKIE {
            return Ok(Opening::Iperf3);
        }
        if shared.clock.now().since(start) > IDLE {
            return if greeting {
                Ok(Opening::Iperf3)
            } else {
                Err(io::Error::other(format!(
                    "sent {count} bytes in {} s, not even a header: closed",
                    IDLE.as_secs()
                )))
            };
        }
        if count < wanted {
            continue;
        }
        if greeting {
            wanted = COOKIE;
            continue;
        }
        let flags = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match ClientHeader::length_of(flags) {
            Ok(length) if length > count => wanted = length,
            // What is no header is payload: iperf 2 takes it so.
            Ok(0) | Err(_) => return Ok(Opening::Bytes(None, count)),
            Ok(length) => {
                let header = ClientHeader::parse(&bytes[..length]).ok().flatten();
                return Ok(Opening::Bytes(header, count));
            }
        }
    }
}

fn acknowledge(mut stream: &TcpStream) -> io::Result<()> {
    let mut ack = [0; Ack::LEN];
    Ack { version: VERSION }.emit(&mut ack);
    stream.write_all(&ack)
}

fn receive(test: &Test, stream: &TcpStream, start: Instant, before: usize) {
    let plan = stream::Receiving {
        link: Link(0),
        interval: test.shared.options.interval,
        before: before as u64,
        start,
        idle: IDLE,
        until: Instant::NEVER,
        asked: None,
    };
    let mut buffer = vec![0; READ];
    let ended = test.pump(|control| stream::receive(stream, &plan, &mut buffer, control));
    say(test, &ended);
}

fn send(test: &Test, stream: &TcpStream, header: &ClientHeader, start: Instant, duplex: bool) {
    let length = if header.length == 0 { TCP_LENGTH } else { header.length };
    let plan = stream::Sending {
        link: Link(0),
        interval: test.shared.options.interval,
        length: length.min(LONGEST_WRITE),
        rate: header.extension.map(|e| e.rate).filter(|&rate| rate > 0),
        limit: limit(header),
        before: 0,
        start,
        duplex,
    };
    let sent = test.pump(|control| stream::send(stream, &plan, control, &mut |_| true));
    say(test, &sent.ended);
}

/// The connection that `-r` and `-d` ask for.
fn send_back(test: &Test, header: &ClientHeader) {
    let Ok(port @ 1..) = u16::try_from(header.port) else {
        return test.note("names no port to connect back to");
    };
    if matches!(limit(header), Limit::Time(time) if time.is_zero()) {
        return;
    }
    let to = SocketAddr::new(test.peer.ip(), port);
    let window = test.shared.options.window;
    match pump::tcp::connect(to, None, window, CONNECT, &test.shared.stop) {
        Ok(stream) => send(test, &stream, header, test.shared.clock.now(), false),
        Err(error) => {
            test.note(&format!("cannot connect back to its port {port} for -r or -d: {error}"));
        }
    }
}

fn say(test: &Test, ended: &stream::Ended) {
    match ended {
        stream::Ended::Normally | stream::Ended::Early(_) | stream::Ended::Stopped => {}
        stream::Ended::Silent => {
            test.note(&format!("fell silent for {} s without closing: given up", IDLE.as_secs()));
        }
        stream::Ended::Unread(octets) => {
            test.note(&format!("read none of the {octets} bytes that it acknowledged"));
        }
        stream::Ended::Broken(error) => test.note(&format!("the connection broke: {error}")),
    }
}
