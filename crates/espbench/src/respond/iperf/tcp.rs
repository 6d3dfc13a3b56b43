//! The TCP side of the server: a thread for each connection.

use super::{ClientRequest, IDLE, LONGEST_WRITE, ServerContext, ServerTest, bounce, trip_times};
use crate::pump::{self, PumpContext, SLICE, epoch_ns, is_pause, tcp as stream};
use crate::sys::options::set_tos;
use crate::sys::tcp_window::with_window;
use espbench_model::sample::Link;
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Iperf, Transport};
use espbench_proto::node::iperf::{BurstWriter, Limit, asked_limit, asked_rate, server_header};
use espbench_proto::wire::iperf2::{
    AckTimes, BURST_HEADER, CLIENT_HEADER_MAX, CLIENT_HEADER_START, Carrier, ClientHeader,
    HeaderAck, Stamp, TestMode, client_greeting,
};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// Most connections at once; further ones are closed at once, and said.
const MOST: usize = 64;
/// Bytes of a read.
const READ: usize = 128 * 1024;
/// Longest time for the connection back to a client (`-r`, `-d`).
const CONNECT: Duration = Duration::from_secs(5);
/// Bytes of an iperf3 client's greeting.
const COOKIE: usize = 37;
/// The version that the ack names.
const VERSION: (u32, u32) = (0x0002_0001, 0x0008_0003);

/// Accepts until the service stops.
pub(super) fn serve(listener: &TcpListener, shared: &ServerContext) {
    let mut threads: Vec<std::thread::JoinHandle<()>> = Vec::new();
    while !shared.stop.load(std::sync::atomic::Ordering::Relaxed) {
        threads.retain(|thread| !thread.is_finished());
        match listener.accept() {
            Ok((stream, peer)) if threads.len() < MOST => {
                let own = shared.clone();
                let named = std::thread::Builder::new().name("iperf-client".into());
                let spawned = named.spawn(move || {
                    if let Err(error) = connection(&stream, peer, &own) {
                        (own.log)(&format!("{peer}: {error}"));
                    }
                });
                match spawned {
                    Ok(thread) => threads.push(thread),
                    Err(error) => (shared.log)(&format!("{peer}: refused, no thread: {error}")),
                }
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

/// The beginning of a connection.
enum Opening {
    /// So many bytes of payload, or of a header.
    Bytes(Option<ClientHeader>, usize),
    /// Nothing: a connection test.
    Closed,
    /// An iperf3 client.
    Iperf3,
}

fn connection(stream: &TcpStream, peer: SocketAddr, shared: &ServerContext) -> io::Result<()> {
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
    let local = stream.local_addr().unwrap_or(shared.local);
    let Some(header) = header else {
        let test = shared.begin(peer, local, false, ClientRequest::PLAIN);
        receive(&test, stream, StreamStart { start, before, epoch_ns: None });
        return Ok(());
    };
    if let Some(option) = header.unsupported() {
        (shared.log)(&format!("{peer}: asks for {option}, which is not served here: closed"));
        return Ok(());
    }
    let test = shared.begin(peer, local, false, ClientRequest::of(&header));
    let sent = header.start.filter(|_| header.trip_times()).map(|start| start.at);
    let times = trip_times(&test, sent, start);
    if header.wants_ack() {
        acknowledge(&test, stream, sent.filter(|_| times.is_some()), start)?;
    }
    reflect(&test, stream, &header);
    let came = StreamStart {
        start: times.map_or(start, |times| times.0),
        before,
        epoch_ns: times.map(|times| times.1),
    };
    match header.mode() {
        TestMode::Forward => receive(&test, stream, came),
        TestMode::Reverse => send(&test, stream, &header, start, false),
        TestMode::FullDuplex => {
            both(&test, stream, came, || send(&test, stream, &header, start, true));
        }
        TestMode::Dual => both(&test, stream, came, || send_back(&test, &header)),
        TestMode::Tradeoff => {
            receive(&test, stream, came);
            // The client waits for this close before it takes the connection back.
            let _ = stream.shutdown(Shutdown::Both);
            send_back(&test, &header);
        }
        TestMode::Bounceback => bounce::serve(&test, stream, before),
    }
    Ok(())
}

/// Receives, and sends beside it; one that cannot have both is refused.
fn both(test: &ServerTest, stream: &TcpStream, came: StreamStart, send: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        match std::thread::Builder::new().name("iperf-send".into()).spawn_scoped(scope, send) {
            Ok(_) => receive(test, stream, came),
            Err(error) => test.note(&format!("refused, no thread: {error}")),
        }
    });
}

/// The beginning of a stream.
#[derive(Clone, Copy)]
struct StreamStart {
    start: Instant,
    /// Bytes read already: the header.
    before: usize,
    /// Nanoseconds since the epoch at the clock's zero, with trip times.
    epoch_ns: Option<u64>,
}

/// Sends with the type of service that the client asks for, as 2.1.5 and later do, unless `-S` sets
/// another here.
fn reflect(test: &ServerTest, stream: &TcpStream, header: &ClientHeader) {
    let asked = header.extension.map_or(0, |e| (e.tos & 0xFF) as u8);
    if asked == 0 || test.shared.options.socket.tos != 0 {
        return;
    }
    if let Err(error) = set_tos(&SockRef::from(stream), asked) {
        test.note(&format!("its type of service {asked:#04x} cannot be set: {error}"));
    }
}

/// Reads no more than the header, so that the payload stays in the socket.
fn opening(mut stream: &TcpStream, shared: &ServerContext, start: Instant) -> io::Result<Opening> {
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
                let header = ClientHeader::parse(&bytes[..length], Carrier::Stream).ok().flatten();
                return Ok(Opening::Bytes(header, count));
            }
        }
    }
}

fn acknowledge(
    test: &ServerTest,
    mut stream: &TcpStream,
    sent: Option<Stamp>,
    accepted: Instant,
) -> io::Result<()> {
    let clock = &test.shared.clock;
    let stamp = |at: Instant| Stamp::from_nanos(epoch_ns(clock).saturating_add(at.as_nanos()));
    let times =
        sent.map(|sent| AckTimes { sent, accepted: stamp(accepted), answered: stamp(clock.now()) });
    let ack = HeaderAck { version: VERSION, times };
    let mut bytes = [0; HeaderAck::LEN_TIMES];
    ack.emit(&mut bytes);
    stream.write_all(&bytes[..ack.buffer_len()])
}

fn receive(test: &ServerTest, stream: &TcpStream, came: StreamStart) {
    let plan = stream::ReceivePlan {
        link: Link(0),
        interval: test.shared.options.interval,
        before: came.before as u64,
        start: came.start,
        idle: IDLE,
        until: Instant::NEVER,
        asked: None,
        epoch_ns: came.epoch_ns,
    };
    let mut buffer = vec![0; READ];
    let ended = test.pump(|control| stream::receive(stream, &plan, &mut buffer, control));
    say(test, &ended);
}

fn send(
    test: &ServerTest,
    stream: &TcpStream,
    header: &ClientHeader,
    start: Instant,
    duplex: bool,
) {
    let length =
        if header.length == 0 { Iperf::TCP_LENGTH } else { header.length.min(LONGEST_WRITE) };
    let (bursts, before) = match begin_bursts(test, stream, header, start) {
        Ok(Some((bursts, before))) => (Some(bursts), before),
        Ok(None) => (None, 0),
        Err(error) => return test.note(&format!("the connection broke: {error}")),
    };
    let length = if bursts.is_some() { length.max(BURST_HEADER as u32) } else { length };
    let plan = stream::SendPlan {
        link: Link(0),
        interval: test.shared.options.interval,
        length,
        rate: asked_rate(header, Transport::Tcp),
        limit: asked_limit(header),
        before,
        start,
        duplex,
        bursts,
    };
    let sent = test.pump(|control| {
        let mut emit = |sample| (control.emit)(with_window(stream, sample));
        let mut control = PumpContext { emit: &mut emit, ..*control };
        stream::send(stream, &plan, &mut control, &mut |_| true)
    });
    say(test, &sent.ended);
}

/// Tells the client of trip times when this stream begins, as 2.1.8 does; answers how its writes
/// are marked, and how many bytes that took.
fn begin_bursts(
    test: &ServerTest,
    mut stream: &TcpStream,
    header: &ClientHeader,
    start: Instant,
) -> io::Result<Option<(stream::Bursts, u64)>> {
    if !header.trip_times() {
        return Ok(None);
    }
    let epoch_ns = epoch_ns(&test.shared.clock);
    let now = Stamp::from_nanos(epoch_ns.saturating_add(start.as_nanos()));
    let own = server_header(header, false, now);
    let mut bytes = [0; CLIENT_HEADER_START];
    own.emit(&mut bytes, Carrier::Stream);
    stream.write_all(&bytes)?;
    Ok(Some((stream::Bursts { writer: BurstWriter::new(now), epoch_ns }, bytes.len() as u64)))
}

/// Opens the connection that `-r` and `-d` ask for.
fn send_back(test: &ServerTest, header: &ClientHeader) {
    let Ok(port @ 1..) = u16::try_from(header.port) else {
        return test.note("names no port to connect back to");
    };
    if matches!(asked_limit(header), Limit::Time(time) if time.is_zero()) {
        return;
    }
    let to = SocketAddr::new(test.peer.ip(), port);
    let options = &test.shared.options.socket;
    match pump::tcp::connect(to, None, options, CONNECT, &test.shared.stop) {
        Ok(stream) => send(test, &stream, header, test.shared.clock.now(), false),
        Err(error) => {
            test.note(&format!("cannot connect back to its port {port} for -r or -d: {error}"));
        }
    }
}

fn say(test: &ServerTest, ended: &stream::Ended) {
    match ended {
        stream::Ended::Normally | stream::Ended::Early(_) | stream::Ended::Stopped => {}
        stream::Ended::Silent | stream::Ended::Stalled(_) => {
            test.note(&format!("fell silent for {} s without closing: given up", IDLE.as_secs()));
        }
        stream::Ended::Unread(octets) => {
            test.note(&format!("read none of the {octets} bytes that it acknowledged"));
        }
        stream::Ended::Broken(error) => test.note(&format!("the connection broke: {error}")),
    }
}
