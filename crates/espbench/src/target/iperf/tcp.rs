//! The TCP side of the client.

use super::{
    BACK, CONNECT, IDLE, IperfCell, StreamDirection, StreamEvent, StreamOutbox, back, beside,
};
use crate::pump::{PumpContext, SLICE, is_pause, tcp as pump};
use crate::sys::tcp_window::with_window;
use crate::target::TargetError;
use espbench_measure::summary::IN_FLIGHT;
use espbench_model::sample::{Link, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::Direction;
use espbench_proto::node::iperf::{BurstWriter, Limit};
use espbench_proto::wire::iperf2::{
    CLIENT_HEADER_MAX, CLIENT_HEADER_START, Carrier, ClientHeader, HeaderAck, Iperf3,
    server_greeting,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

/// Bytes of a read where the user names no length. Larger reads fall out of the cache.
const READ: usize = 128 * 1024;

/// Runs all streams of a cell.
pub(super) fn run(
    cell: &IperfCell<'_>,
    events: &SyncSender<StreamEvent>,
) -> Result<(), TargetError> {
    let outbox = StreamOutbox(events.clone());
    let direction = cell.work.direction;
    let back = match direction {
        Direction::Tradeoff | Direction::Dual => Some(back::tcp_listener(cell)?),
        _ => None,
    };
    let port = back.as_ref().and_then(|l| l.local_addr().ok()).map(|a| a.port());
    // All connect before the first one sends, as in iperf 2.
    let streams = (0..cell.work.parallel)
        .map(|_| connect(cell))
        .collect::<Result<Vec<TcpStream>, TargetError>>()?;
    std::thread::scope(|scope| {
        if let (Some(listener), Direction::Dual) = (&back, direction) {
            let own = outbox.clone();
            outbox.needs(beside(scope, move || accept(cell, listener, &own)));
        }
        for (nth, stream) in (0u16..).zip(&streams) {
            let own = outbox.clone();
            outbox.needs(beside(scope, move || {
                if let Err(error) = one_stream(cell, stream, Link(nth), port, &own) {
                    own.failed(error);
                }
            }));
        }
    });
    drop(streams);
    if let (Some(listener), Direction::Tradeoff, false) = (&back, direction, cell.stopped()) {
        accept(cell, listener, &outbox);
    }
    Ok(())
}

pub(super) fn connect(cell: &IperfCell<'_>) -> Result<TcpStream, TargetError> {
    let (target, work) = (cell.target, cell.work);
    let options = cell.socket_options();
    let stream = pump::connect(target.peer, target.bind, &options, CONNECT, &cell.stop);
    let stream = stream.map_err(|source| match source.kind() {
        ErrorKind::Interrupted => TargetError::Cancelled,
        ErrorKind::ConnectionRefused => cell.peer_error(
            "connecting",
            source,
            "no iperf 2 server listens on that TCP port: start `iperf -s` there (on the ESP32 \
             console too), or name its port with -p",
        ),
        _ => cell.peer_error("connecting", source, "check the address and the route to it"),
    })?;
    stream
        .set_nodelay(work.no_delay)
        .map_err(|e| cell.peer_error("setting TCP_NODELAY", e, "leave out -N"))?;
    Ok(stream)
}

/// The bytes of the server's answer so far.
#[derive(Default)]
struct ServerAnswer(Vec<u8>);

impl ServerAnswer {
    fn iperf3(&self) -> Option<Iperf3> {
        server_greeting(&self.0)
    }

    fn describe(&self) -> String {
        match HeaderAck::parse(&self.0) {
            Ok(ack) => {
                let (major, minor, patch) = ack.release();
                format!("iperf {major}.{minor}.{patch}")
            }
            Err(_) => "does not name its version (ESP-IDF, or iperf before 2.0.10)".into(),
        }
    }
}

fn iperf3_error(cell: &IperfCell<'_>, what: Iperf3) -> TargetError {
    cell.is_foreign.store(true, Ordering::Relaxed);
    let busy = if what == Iperf3::BusyServer { " (and it is busy)" } else { "" };
    cell.protocol_error(
        format!("this is an iperf3 server{busy}, and iperf 2 and iperf3 cannot talk to each other"),
        "ESP32 devices speak iperf 2, port 5001: start `iperf -s` of iperf 2 or \
         `espbench iperf -s` there, or use iperf3 as the client",
    )
}

fn one_stream(
    cell: &IperfCell<'_>,
    stream: &TcpStream,
    link: Link,
    listen: Option<u16>,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    let start = cell.clock.now();
    if let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) {
        cell.target.ends.note(link, StreamDirection::Forward, local, peer);
    }
    let mut head = [0; CLIENT_HEADER_START];
    let header = cell.header(listen, start);
    header.emit(&mut head, Carrier::Stream);
    let mut writer = stream;
    writer
        .write_all(&head[..header.buffer_len(Carrier::Stream)])
        .map_err(|e| cell.peer_error("sending the test's header", e, "is it an iperf 2 server?"))?;
    match cell.work.direction {
        Direction::Forward | Direction::Tradeoff | Direction::Dual => {
            send(cell, stream, link, start, false, outbox)
        }
        Direction::Reverse => receive(cell, stream, link, start, outbox),
        Direction::FullDuplex => std::thread::scope(|scope| {
            let back = beside(scope, || {
                let back = receive(cell, stream, link, start, outbox);
                if back.is_err() {
                    // A server that is gone takes no more either.
                    cell.stop.store(true, Ordering::Relaxed);
                }
                back
            })?;
            let sent = send(cell, stream, link, start, true, outbox);
            let back = back.join().unwrap_or(Ok(()));
            sent.and(back)
        }),
    }
}

fn send(
    cell: &IperfCell<'_>,
    stream: &TcpStream,
    link: Link,
    start: Instant,
    duplex: bool,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    let plan = pump::SendPlan {
        link,
        interval: cell.work.interval,
        length: cell.work.length,
        rate: cell.work.bandwidth,
        limit: cell.limit,
        before: cell.header(None, start).buffer_len(Carrier::Stream) as u64,
        start,
        duplex,
        bursts: cell.work.trip_times.then(|| pump::Bursts {
            writer: BurstWriter::new(cell.stamp(start)),
            epoch_ns: cell.epoch_ns,
        }),
    };
    let mut answer = ServerAnswer::default();
    let mut emit = |sample: Sample| outbox.sample(with_window(stream, sample));
    let mut control = PumpContext { clock: &cell.clock, stop: &cell.stop, emit: &mut emit };
    let mut listen = |bytes: &[u8]| {
        let room = 64usize.saturating_sub(answer.0.len());
        answer.0.extend(bytes.iter().take(room));
        let is_foreign = answer.iperf3().is_some();
        cell.is_foreign.fetch_or(is_foreign, Ordering::Relaxed);
        !is_foreign
    };
    let sent = pump::send(stream, &plan, &mut control, &mut listen);
    if let Some(what) = answer.iperf3() {
        return Err(iperf3_error(cell, what));
    }
    if link == Link(0) && !duplex {
        outbox.fact("peer", answer.describe());
    }
    if let Some(octets) = sent.in_flight {
        outbox.count(IN_FLIGHT, octets);
    }
    broken(cell, sent.ended)
}

/// Receives what the server sends.
fn receive(
    cell: &IperfCell<'_>,
    stream: &TcpStream,
    link: Link,
    start: Instant,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    first_bytes(cell, stream, start)?;
    let (times, before) = begin_times(cell, stream, start)?;
    if cell.work.trip_times && times.is_none() {
        outbox.fact("trip-times", "the server says no times, or its clock is another");
    }
    let plan = pump::ReceivePlan {
        link,
        interval: cell.work.interval,
        before,
        start: times.map_or(start, |times| times.0),
        idle: IDLE,
        until: start + cell.latest(),
        asked: Some(cell.limit),
        epoch_ns: times.map(|times| times.1),
    };
    let mut emit = |sample: Sample| outbox.sample(sample);
    let mut control = PumpContext { clock: &cell.clock, stop: &cell.stop, emit: &mut emit };
    let mut buffer = vec![0; READ];
    broken(cell, pump::receive(stream, &plan, &mut buffer, &mut control))
}

/// Reads, with trip times, the header that a server of 2.1.8 begins with. Answers when its stream
/// began, and the bytes read.
fn begin_times(
    cell: &IperfCell<'_>,
    mut stream: &TcpStream,
    start: Instant,
) -> Result<(Option<(Instant, u64)>, u64), TargetError> {
    if !cell.work.trip_times {
        return Ok((None, 0));
    }
    let mut bytes = [0; CLIENT_HEADER_MAX];
    let (mut have, mut wanted) = (0, 4);
    while have < wanted {
        match stream.read(&mut bytes[have..wanted]) {
            // What is left to say is what the stream's own end says.
            Ok(0) => return Ok((None, have as u64)),
            Ok(count) => have += count,
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(cell.peer_error("reading its header", error, "again?")),
        }
        if cell.stopped() || cell.clock.now().since(start) > IDLE {
            return Ok((None, have as u64));
        }
        if have == 4 && wanted == 4 {
            let flags = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            wanted = ClientHeader::length_of(flags).unwrap_or_default().max(4);
        }
    }
    let header = ClientHeader::parse(&bytes[..have], Carrier::Stream).ok().flatten();
    let sent = header.and_then(|header| header.start).map(|start| start.at);
    Ok((cell.began(sent, cell.clock.now()), have as u64))
}

/// Waits for the server's first bytes: they tell an iperf3 server, and a server that does not know
/// `-R`.
fn first_bytes(
    cell: &IperfCell<'_>,
    stream: &TcpStream,
    start: Instant,
) -> Result<(), TargetError> {
    let failed = |e| cell.peer_error("waiting for the server's data", e, "is it iperf 2?");
    stream.set_read_timeout(Some(SLICE)).map_err(failed)?;
    let mut first = [0; 4];
    loop {
        match stream.peek(&mut first) {
            Ok(count) => {
                in_time(cell, start)?;
                let alone = count == 1;
                return match server_greeting(&first[..count]).filter(|_| alone) {
                    Some(what) => Err(iperf3_error(cell, what)),
                    None => Ok(()),
                };
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(failed(error)),
        }
        if cell.stopped() {
            return Err(TargetError::Cancelled);
        }
        if cell.clock.now().since(start) > IDLE {
            return Err(cell.protocol_error(
                format!("the server sent nothing within {} s", IDLE.as_secs()),
                "it may not know -R and --full-duplex (ESP-IDF's iperf and iperf before 2.0.13 do \
                 not): run the device as the client and `espbench iperf -s` here",
            ));
        }
    }
}

/// Refuses a stream that begins when its test is over.
fn in_time(cell: &IperfCell<'_>, start: Instant) -> Result<(), TargetError> {
    let after = cell.clock.now().since(start);
    match cell.limit {
        Limit::Time(time) if after > time => Err(cell.protocol_error(
            format!(
                "the server sent its first byte after {:.1} s, when the test of {} s was over",
                after.as_secs_f64(),
                time.as_secs_f64()
            ),
            "it is busy with another client, or no iperf 2 server; take a longer test (-t)",
        )),
        _ => Ok(()),
    }
}

fn broken(cell: &IperfCell<'_>, ended: pump::Ended) -> Result<(), TargetError> {
    match ended {
        pump::Ended::Normally | pump::Ended::Stopped => Ok(()),
        pump::Ended::Silent => Err(cell.protocol_error(
            format!("the server fell silent for {} s before the end", IDLE.as_secs()),
            "it vanished, or the link broke; what came before is kept",
        )),
        pump::Ended::Stalled(came) => Err(cell.protocol_error(
            format!("the server fell silent {}", early(cell.limit, came)),
            "it is no iperf 2 server, it vanished, or the link broke; what came before is kept",
        )),
        pump::Ended::Early(came) => Err(cell.protocol_error(
            format!("the server ended the test early, {}", early(cell.limit, came)),
            "it crashed, was stopped, has a limit of its own, or serves somebody else; what came \
             before is kept",
        )),
        pump::Ended::Unread(octets) => Err(cell.protocol_error(
            format!(
                "the server took nothing: it acknowledged {octets} bytes into its receive buffer and \
                 read none of them"
            ),
            "check that it is an iperf 2 server and not busy with another client",
        )),
        pump::Ended::Broken(source) => Err(cell.peer_error(
            "in the middle of the test",
            source,
            "the server ended the test early (a second client, a reset, a limit of its own?); \
             what came before is kept",
        )),
    }
}

/// Describes an end that came before the amount that was asked for.
fn early(asked: Limit, came: pump::ReceivedAmount) -> String {
    let time = came.time.as_secs_f64();
    match asked {
        Limit::Time(asked) => {
            format!("after {time:.3} of {} s, with {} bytes", asked.as_secs_f64(), came.bytes)
        }
        Limit::Bytes(asked) => format!("with {} of {asked} bytes, after {time:.3} s", came.bytes),
    }
}

/// Takes the connections that the server opens for `-r` and `-d`, one for each stream.
fn accept(cell: &IperfCell<'_>, listener: &TcpListener, outbox: &StreamOutbox) {
    let deadline = cell.clock.now() + BACK;
    std::thread::scope(|scope| {
        let mut accepted = 0;
        while accepted < cell.work.parallel && !cell.stopped() {
            match listener.accept() {
                Ok((stream, from)) if from.ip() == cell.target.peer.ip() => {
                    let link = Link(accepted);
                    if let Ok(local) = stream.local_addr() {
                        cell.target.ends.note(link, StreamDirection::Reverse, local, from);
                    }
                    accepted += 1;
                    outbox.needs(beside(scope, move || {
                        let start = cell.clock.now();
                        let ready = stream.set_nonblocking(false);
                        let ready = ready.map_err(|e| cell.peer_error("accepting", e, "again?"));
                        let result =
                            ready.and_then(|()| receive(cell, &stream, link, start, outbox));
                        if let Err(error) = result {
                            outbox.failed(error);
                        }
                    }));
                }
                Ok(_) => outbox.count("stray-connections", 1),
                Err(_) if cell.clock.now() > deadline => {
                    outbox.failed(back::no_connection(cell, accepted));
                    return;
                }
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    });
}
