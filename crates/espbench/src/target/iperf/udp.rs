//! The UDP side of the client.

use super::{
    BACK, IDLE, IperfCell, StreamDirection, StreamEvent, StreamOutbox, back, beside,
    is_received_total,
};
use crate::pump::{PumpContext, SLICE, flows, is_pause, udp as pump};
use crate::sys::{buffers, udp as sys};
use crate::target::TargetError;
use espbench_model::sample::{Link, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::Direction;
use espbench_proto::node::iperf::{
    Ending, Finish, Limit, ReceiverSetup, SenderSetup, UdpReceiver, UdpSender,
};
use espbench_proto::wire::iperf2::{Carrier, ClientHeader, DATAGRAM_HEADER, Width};
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::SyncSender;

/// Number of times that a server is asked to send before it is given up, and the time between.
const ASKS: (u32, Duration) = (100, Duration::from_millis(20));

/// Runs all streams of a cell.
pub(super) fn run(
    cell: &IperfCell<'_>,
    events: &SyncSender<StreamEvent>,
) -> Result<(), TargetError> {
    let outbox = StreamOutbox(events.clone());
    let direction = cell.work.direction;
    let listener = match direction {
        Direction::Tradeoff | Direction::Dual => Some(listener(cell)?),
        _ => None,
    };
    let port = listener.as_ref().and_then(|l| l.local_addr().ok()).map(|a| a.port());
    let sockets = (0..cell.work.parallel)
        .map(|_| connect(cell))
        .collect::<Result<Vec<UdpSocket>, TargetError>>()?;
    std::thread::scope(|scope| {
        if let (Some(listener), Direction::Dual) = (&listener, direction) {
            let own = outbox.clone();
            outbox.needs(beside(scope, move || come_back(cell, listener, &own)));
        }
        for (nth, socket) in (0u16..).zip(&sockets) {
            let own = outbox.clone();
            outbox.needs(beside(scope, move || {
                if let Err(error) = one_flow(cell, socket, Link(nth), port, &own) {
                    own.failed(error);
                }
            }));
        }
    });
    if let (Some(listener), Direction::Tradeoff, false) = (&listener, direction, cell.stopped()) {
        come_back(cell, listener, &outbox);
    }
    Ok(())
}

fn connect(cell: &IperfCell<'_>) -> Result<UdpSocket, TargetError> {
    let any = SocketAddr::new(back::address(cell).ip(), 0);
    let socket =
        UdpSocket::bind(cell.target.bind.unwrap_or(any)).map_err(|source| TargetError::Local {
            what: "opening a UDP socket".into(),
            source,
            hint: "check the address given with -B".into(),
        })?;
    socket
        .connect(cell.target.peer)
        .map_err(|e| cell.peer_error("finding a route", e, "check the address"))?;
    tune(cell, &socket);
    Ok(socket)
}

fn tune(cell: &IperfCell<'_>, socket: &UdpSocket) {
    if let Some(window) = cell.work.window {
        let _ = SockRef::from(socket).set_send_buffer_size(window as usize);
    }
    let _ = cell.socket_options().apply_marks(&SockRef::from(socket));
    let receive = cell.work.window.map_or(buffers::UDP_RECEIVE, |w| w as usize);
    buffers::set_receive(SockRef::from(socket), receive);
    sys::set_arrival_times(socket);
}

fn sender(cell: &IperfCell<'_>, link: Link, listen: Option<u16>, start: Instant) -> UdpSender {
    let finish = match cell.work.direction {
        Direction::FullDuplex => Finish::Once,
        _ => Finish::AwaitReport,
    };
    let setup = SenderSetup {
        link,
        interval: cell.work.interval,
        length: cell.work.length,
        rate: cell.work.bandwidth,
        limit: cell.limit,
        header: Some(cell.header(listen, start)),
        finish,
        epoch_ns: cell.epoch_ns,
    };
    UdpSender::new(setup, start)
}

/// Makes the receiver of a flow. `first` is the first datagram of the sender, as far as it is
/// known: with trip times it says when the flow began.
fn receiver(
    cell: &IperfCell<'_>,
    link: Link,
    width: Width,
    start: Instant,
    first: &[u8],
) -> ReceiverSetup {
    let body = first.get(DATAGRAM_HEADER..).unwrap_or_default();
    let header = ClientHeader::parse(body, Carrier::Datagram).ok().flatten();
    let sent = header.and_then(|header| header.start).map(|start| start.at);
    let times = cell.began(sent, cell.clock.now());
    ReceiverSetup {
        began: times.map(|times| times.0),
        epoch_ns: times.map(|times| times.1),
        link,
        interval: cell.work.interval,
        answer: false,
        idle: IDLE,
        width,
        until: start + cell.latest(),
    }
}

fn one_flow(
    cell: &IperfCell<'_>,
    socket: &UdpSocket,
    link: Link,
    listen: Option<u16>,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    let start = cell.clock.now();
    if let (Ok(local), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) {
        cell.target.ends.note(link, StreamDirection::Forward, local, peer);
    }
    let mut flow = sender(cell, link, listen, start);
    match cell.work.direction {
        Direction::Forward | Direction::Tradeoff | Direction::Dual => {
            send(cell, socket, &mut flow, outbox)
        }
        Direction::Reverse => {
            ask(cell, socket, &flow)?;
            receive(cell, socket, link, cell.clock.now(), outbox)
        }
        Direction::FullDuplex => std::thread::scope(|scope| {
            let back = beside(scope, || receive(cell, socket, link, start, outbox))?;
            let sent = send(cell, socket, &mut flow, outbox);
            let back = back.join().unwrap_or(Ok(()));
            sent.and(back)
        }),
    }
}

fn send(
    cell: &IperfCell<'_>,
    socket: &UdpSocket,
    flow: &mut UdpSender,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    let mut emit = |sample: Sample| outbox.sample(sample);
    let mut control = PumpContext { clock: &cell.clock, stop: &cell.stop, emit: &mut emit };
    let length = cell.work.length as usize;
    let sent = pump::send(socket, None, flow, length, &mut pump::OpenGate, &mut control)
        .map_err(|e| refused(cell, e))?;
    outbox.count("no-buffers", sent.refused);
    outbox.count("late-sends", flow.skipped());
    let way = if sent.segmented { "segmented by the kernel" } else { "one by one" };
    outbox.fact("datagrams", way);
    if let Some(why) = flow.implausible() {
        outbox.fact("server-report", format!("not believed: {why}"));
        return Err(cell.protocol_error(
            format!("the server's closing report cannot be true: {why}"),
            "what it received is not known; look at the server's own figures",
        ));
    }
    if flow.has_report() {
        outbox.fact("server-report", "received");
    } else if cell.work.direction != Direction::FullDuplex && !cell.stopped() {
        outbox.fact(
            "server-report",
            "none came: what arrived is known to the server only (ESP-IDF's iperf sends none)",
        );
    }
    Ok(())
}

fn refused(cell: &IperfCell<'_>, source: io::Error) -> TargetError {
    if pump::is_gone(&source) {
        return cell.peer_error(
            "sending datagrams",
            source,
            "nothing listens on that UDP port, or the server ended: start `iperf -s -u` there \
             (on the ESP32 console too); an iperf3 server cannot be measured with iperf 2",
        );
    }
    cell.peer_error("sending datagrams", source, "try shorter datagrams (-l) or a lower rate (-b)")
}

/// Asks until the server's first datagram is there.
fn ask(cell: &IperfCell<'_>, socket: &UdpSocket, flow: &UdpSender) -> Result<(), TargetError> {
    let mut emit = |_| {};
    let control = PumpContext { clock: &cell.clock, stop: &cell.stop, emit: &mut emit };
    let failed = |e| refused(cell, e);
    socket.set_read_timeout(Some(ASKS.1)).map_err(failed)?;
    let mut refusals = pump::Refusals::default();
    for _ in 0..ASKS.0 {
        if cell.stopped() {
            return Err(TargetError::Cancelled);
        }
        let asked = pump::ask(socket, flow, cell.work.length as usize, &control);
        match asked.and_then(|()| socket.peek(&mut [0; 16])) {
            Ok(_) => return Ok(()),
            Err(error) if is_pause(&error) => {}
            Err(error) if pump::is_gone(&error) && !refusals.are_final(cell.clock.now()) => {
                std::thread::sleep(ASKS.1);
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Err(cell.protocol_error(
        "the server sent nothing",
        "it may not know -R (ESP-IDF's iperf and iperf before 2.0.13 do not): run the device as \
         the client and `espbench iperf -s` here",
    ))
}

fn receive(
    cell: &IperfCell<'_>,
    socket: &UdpSocket,
    link: Link,
    start: Instant,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    let first = first_datagram(cell, socket)?;
    let mut flow = UdpReceiver::new(receiver(cell, link, Width::Wide, start, &first), start);
    let mut emit = |sample: Sample| outbox.sample(sample);
    let mut control = PumpContext { clock: &cell.clock, stop: &cell.stop, emit: &mut emit };
    let dropped = pump::receive(socket, &mut flow, &mut control).map_err(|e| refused(cell, e))?;
    outbox.count("socket-overflow", dropped.unwrap_or_default().into());
    ended(cell, &flow, outbox)
}

/// Looks at the first datagram, where it says something that must be known before; leaves it where it
/// is. Empty where nothing came in time.
fn first_datagram(cell: &IperfCell<'_>, socket: &UdpSocket) -> Result<Vec<u8>, TargetError> {
    if !cell.work.trip_times {
        return Ok(Vec::new());
    }
    let mut first = vec![0; 256];
    let deadline = cell.clock.now() + IDLE;
    socket.set_read_timeout(Some(SLICE)).map_err(|e| refused(cell, e))?;
    while !cell.stopped() && cell.clock.now() < deadline {
        match socket.peek(&mut first) {
            Ok(count) => {
                first.truncate(count);
                return Ok(first);
            }
            Err(error) if is_pause(&error) || pump::is_gone(&error) => {}
            Err(error) => return Err(refused(cell, error)),
        }
    }
    Ok(Vec::new())
}

fn ended(
    cell: &IperfCell<'_>,
    flow: &UdpReceiver,
    outbox: &StreamOutbox,
) -> Result<(), TargetError> {
    outbox.count("stray-datagrams", flow.strays());
    if flow.received() == 0 && !cell.stopped() {
        return Err(cell.protocol_error(
            "the server sent nothing",
            "it may not know -R and --full-duplex (ESP-IDF's iperf does not)",
        ));
    }
    if let Some(other) = not_iperf(flow) {
        return Err(cell.protocol_error(other, "see what listens there: it is no iperf 2 server"));
    }
    if flow.ending() == Some(Ending::Silence) && !cell.stopped() {
        if flow.received() == 1 && matches!(cell.limit, Limit::Time(_)) {
            return Err(cell.protocol_error(
                "the server sent one datagram and no end, and no rate follows from one",
                "it may be an echo that sent the question back: see what listens there",
            ));
        }
        if let Some(missing) = cut_short(cell, flow) {
            return Err(cell.protocol_error(
                format!("the server fell silent {missing}"),
                "it vanished, or the link broke; what came before is kept",
            ));
        }
        outbox.fact("server-end", "the server's last datagram was lost, or it vanished");
    }
    Ok(())
}

/// Says that most of what came for a flow was not iperf's: then the rest is no figure, either.
fn not_iperf(flow: &UdpReceiver) -> Option<String> {
    let (strays, received) = (flow.strays(), flow.received());
    let all = strays + received;
    (strays > received).then(|| {
        format!("{strays} of the {all} datagrams that came are not those of an iperf 2 server")
    })
}

/// Describes a flow that ended by silence before its end: one whose last datagram alone was lost is
/// whole.
fn cut_short(cell: &IperfCell<'_>, flow: &UdpReceiver) -> Option<String> {
    match cell.limit {
        Limit::Time(time) => {
            let span = flow.span();
            // A slow rate leaves pauses of its own: a datagram may be due only seconds later.
            let gap = cell.work.bandwidth.map_or(Duration::ZERO, |rate| {
                Duration::from_secs_f64(
                    2.0 * 8.0 * f64::from(cell.work.length) / rate.max(1) as f64,
                )
            });
            let slack = Duration::from_millis(500).max(time / 20).max(gap);
            (span + slack < time)
                .then(|| format!("after {:.2} of {:.2} s", span.as_secs_f64(), time.as_secs_f64()))
        }
        Limit::Bytes(all) => {
            let sent = flow.highest().saturating_mul(cell.work.length.into());
            (sent < all).then(|| format!("after {sent} of {all} bytes"))
        }
    }
}

fn listener(cell: &IperfCell<'_>) -> Result<UdpSocket, TargetError> {
    let socket = UdpSocket::bind(back::address(cell)).map_err(back::local)?;
    tune(cell, &socket);
    Ok(socket)
}

/// Takes the flows that the server opens for `-r` and `-d`, one for each stream.
fn come_back(cell: &IperfCell<'_>, socket: &UdpSocket, outbox: &StreamOutbox) {
    let now = cell.clock.now();
    let mut policy = Back {
        cell,
        outbox,
        local: socket.local_addr().ok(),
        begun: 0,
        ended: 0,
        deadline: now + BACK,
        until: now + cell.latest(),
    };
    let mut emit = |_| {};
    let control = PumpContext { clock: &cell.clock, stop: &cell.stop, emit: &mut emit };
    match flows::serve(socket, &mut policy, &control) {
        Ok(strays) => {
            outbox.count("stray-datagrams", strays.datagrams);
            outbox.count("socket-overflow", strays.dropped.unwrap_or_default().into());
        }
        Err(error) => outbox.failed(back::local(error)),
    }
    if policy.begun < cell.work.parallel && !cell.stopped() {
        outbox.failed(back::no_connection(cell, policy.begun));
    }
}

struct Back<'a> {
    cell: &'a IperfCell<'a>,
    outbox: &'a StreamOutbox,
    local: Option<SocketAddr>,
    begun: u16,
    ended: u16,
    deadline: Instant,
    until: Instant,
}

impl flows::FlowHandler for Back<'_> {
    fn begin(&mut self, from: SocketAddr, first: &[u8]) -> Option<ReceiverSetup> {
        if from.ip() != self.cell.target.peer.ip() || self.begun >= self.cell.work.parallel {
            return None;
        }
        let link = Link(self.begun);
        self.begun += 1;
        if let Some(local) = self.local {
            self.cell.target.ends.note(link, StreamDirection::Reverse, local, from);
        }
        let setup = receiver(self.cell, link, Width::Told, self.cell.clock.now(), first);
        // This server awaits a report, as any client does.
        Some(ReceiverSetup { answer: true, until: self.until, ..setup })
    }

    fn sample(&mut self, _from: SocketAddr, sample: Sample) {
        // The report may still have to be repeated, but the figures are there.
        self.ended += u16::from(is_received_total(&sample));
        self.outbox.sample(sample);
    }

    fn end(&mut self, _from: SocketAddr, flow: &UdpReceiver) {
        self.outbox.count("stray-datagrams", flow.strays());
        if let Some(other) = not_iperf(flow) {
            let remedy = "see what listens there: it is no iperf 2 server";
            self.outbox.failed(self.cell.protocol_error(other, remedy));
        }
    }

    fn is_over(&mut self) -> bool {
        let late = self.cell.clock.now() > self.deadline && self.begun < self.cell.work.parallel;
        self.ended >= self.cell.work.parallel || late
    }
}
