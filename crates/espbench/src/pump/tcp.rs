//! One TCP stream, in one direction.

use super::{Control, SLICE, is_pause};
use crate::sys;
use espbench_proto::node::iperf::{Counts, Limit, Meter, Pacer};
use espbench_proto::sample::{Link, Observer, Sample};
use espbench_proto::time::{Duration, Instant};
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// How long the peer may take to acknowledge the rest, and to close.
const CLOSING: Duration = Duration::from_secs(2);
/// How long to wait for the peer's close once it has acknowledged everything: ESP-IDF's server
/// closes at the end of its own time only.
const LINGER: Duration = Duration::from_millis(200);

/// When a sender first looks at what the peer answered.
const FIRST_LOOK: Duration = Duration::from_millis(20);

/// Connects within `patience`, from `bind` where given, with socket buffers of `window` bytes.
///
/// # Errors
/// The system's; `Interrupted` where `stop` was set, `TimedOut` where the time was up.
pub fn connect(
    peer: SocketAddr,
    bind: Option<SocketAddr>,
    window: Option<u32>,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM, None)?;
    if let Some(window) = window {
        // Before the connection opens: the window scale is agreed on then.
        socket.set_send_buffer_size(window as usize)?;
        socket.set_recv_buffer_size(window as usize)?;
    }
    if let Some(bind) = bind {
        socket.bind(&bind.into())?;
    }
    socket.set_nonblocking(true)?;
    let deadline = std::time::Instant::now() + patience;
    loop {
        match socket.connect(&peer.into()) {
            Ok(()) => break,
            Err(error) if is_connected(&error) => break,
            Err(error) if !is_connecting(&error) => return Err(error),
            Err(_) => {}
        }
        if stop.load(Ordering::Relaxed) {
            return Err(ErrorKind::Interrupted.into());
        }
        if std::time::Instant::now() >= deadline {
            return Err(ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    socket.set_nonblocking(false)?;
    Ok(socket.into())
}

fn is_connected(error: &io::Error) -> bool {
    #[cfg(unix)]
    let connected = error.raw_os_error() == Some(libc::EISCONN);
    #[cfg(not(unix))]
    let connected = error.raw_os_error() == Some(10_056); // WSAEISCONN
    connected
}

fn is_connecting(error: &io::Error) -> bool {
    #[cfg(unix)]
    let connecting = matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EALREADY));
    #[cfg(not(unix))]
    let connecting = matches!(error.raw_os_error(), Some(10_036 | 10_037 | 10_022)); // WSAEALREADY
    connecting || is_pause(error)
}

/// What a sending stream is told.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The stream.
    pub link: Link,
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// Bytes of a write.
    pub length: u32,
    /// Offered bits a second.
    pub rate: Option<u64>,
    /// When it stops.
    pub limit: Limit,
    /// Payload that was written already: the header.
    pub before: u64,
    /// When the stream began.
    pub start: Instant,
    /// True where the peer sends too: the connection is left open for that.
    pub duplex: bool,
}

/// What a receiving stream is told.
#[derive(Clone, Copy, Debug)]
pub struct Receiving {
    /// The stream.
    pub link: Link,
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// Payload that was read already: the header.
    pub before: u64,
    /// When the stream began.
    pub start: Instant,
    /// Silence after which the peer is taken to have vanished.
    pub idle: Duration,
    /// When it is over at the latest.
    pub until: Instant,
}

/// How a stream ended.
#[derive(Debug)]
pub enum Ended {
    /// As planned: the limit was reached, or the peer closed.
    Normally,
    /// By this side's stop.
    Stopped,
    /// The receiver's peer fell silent.
    Silent,
    /// The connection broke.
    Broken(io::Error),
}

/// Takes what the peer says; false stops the stream.
pub type Listen<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

/// Sends until the limit, then closes this direction and waits for the peer to have it all. The
/// total counts up to the last acknowledgement. What the peer sends meanwhile goes to `listen`,
/// where the stream is not a duplex one; an answer of false stops the stream.
pub fn send(
    mut stream: &TcpStream,
    plan: &Sending,
    control: &mut Control<'_>,
    listen: Listen<'_>,
) -> Ended {
    let mut meter = Meter::new(plan.link, Observer::Sender, plan.interval, plan.start);
    let mut counts = Counts { bytes: plan.before, datagrams: Some(0), ..Counts::default() };
    let mut pacer = Pacer::new(plan.start, plan.length, plan.rate, plan.interval / 2);
    let length = plan.length.max(1) as usize;
    let pattern: Vec<u8> = (0..length).map(|at| b'0' + (at % 10) as u8).collect();
    if let Err(error) = stream.set_write_timeout(Some(SLICE)) {
        return Ended::Broken(error);
    }
    let mut look = Look { next: plan.start + FIRST_LOOK, every: FIRST_LOOK };
    // A write cut short by its time-out is continued, so that the stream's pattern holds.
    let mut offset: usize = 0;
    let ended = loop {
        let now = control.clock.now();
        if now >= meter.next() {
            observe(stream, &mut counts);
            while let Some(interval) = meter.ended(now, &counts) {
                (control.emit)(Sample::Interval(interval));
            }
        }
        if look.is_due(now) && !listen_now(stream, plan, listen) {
            break Ended::Stopped;
        }
        let left = match plan.limit {
            Limit::Time(time) if now.since(plan.start) >= time => 0,
            Limit::Time(_) => usize::MAX,
            Limit::Bytes(all) => {
                usize::try_from(all.saturating_sub(counts.bytes)).unwrap_or(length)
            }
        };
        if left == 0 {
            break Ended::Normally;
        }
        if control.stopped() {
            break Ended::Stopped;
        }
        if offset == 0 && pacer.due(now) == 0 {
            std::thread::sleep(pacer.next().since(now).min(SLICE));
            continue;
        }
        match stream.write(&pattern[offset..length.min(offset.saturating_add(left))]) {
            Ok(0) => break Ended::Broken(ErrorKind::WriteZero.into()),
            Ok(written) => {
                counts.bytes += written as u64;
                offset = (offset + written) % length;
                if offset == 0 {
                    counts.datagrams = counts.datagrams.map(|n| n + 1);
                    pacer.sent(1);
                }
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => break Ended::Broken(error),
        }
    };
    let mut end = control.clock.now();
    if !matches!(ended, Ended::Broken(_)) && stream.shutdown(Shutdown::Write).is_ok() {
        end = drain(stream, plan, control, listen);
    }
    observe(stream, &mut counts);
    finish(&mut meter, end, &counts, control);
    listen_now(stream, plan, listen);
    ended
}

fn finish(meter: &mut Meter, end: Instant, counts: &Counts, control: &mut Control<'_>) {
    while let Some(interval) = meter.ended(end, counts) {
        (control.emit)(Sample::Interval(interval));
    }
    if let Some(interval) = meter.rest(end, counts) {
        (control.emit)(Sample::Interval(interval));
    }
    (control.emit)(Sample::Interval(meter.total(end, counts)));
}

fn observe(stream: &TcpStream, counts: &mut Counts) {
    if let Some(info) = sys::tcp::info(stream) {
        counts.retransmits = Some(info.retransmits);
        counts.tcp_rtt_ns = Some(info.rtt_ns);
    }
}

/// When to look at what the peer sends: soon after the start, then less and less often.
struct Look {
    next: Instant,
    every: Duration,
}

impl Look {
    fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            self.every = (self.every * 2).min(Duration::from_secs(1));
            self.next = now + self.every;
        }
        due
    }
}

/// Takes what the peer has sent, without waiting; false where `listen` says so.
fn listen_now(mut stream: &TcpStream, plan: &Sending, listen: Listen<'_>) -> bool {
    if plan.duplex || stream.set_nonblocking(true).is_err() {
        return true;
    }
    let mut bytes = [0; 4096];
    let mut go_on = true;
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        go_on &= listen(&bytes[..count]);
    }
    let _ = stream.set_nonblocking(false);
    go_on
}

/// Waits until the peer has acknowledged everything, and then a little for its close. Answers when
/// it had everything: the acknowledgement of the last two segments may be held back (RFC 1122
/// section 4.2.3.2; Linux does so by 40 ms), so it is not waited for to tell the time.
fn drain(
    mut stream: &TcpStream,
    plan: &Sending,
    control: &Control<'_>,
    listen: Listen<'_>,
) -> Instant {
    let closed = control.clock.now();
    let held_back = 2 * sys::tcp::info(stream).map_or(0, |info| info.segment) + 1;
    let (mut delivered, mut acknowledged) = (None, None);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
    let mut bytes = [0; 4096];
    loop {
        let now = control.clock.now();
        let left = sys::tcp::unacknowledged(stream);
        if left.is_some_and(|left| left <= held_back) {
            delivered.get_or_insert(now);
        }
        if left == Some(0) {
            acknowledged.get_or_insert(now);
        }
        let over = acknowledged.is_some_and(|at| plan.duplex || now.since(at) >= LINGER);
        if over || now.since(closed) >= CLOSING || control.stopped() {
            return delivered.unwrap_or(now);
        }
        if plan.duplex {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        match stream.read(&mut bytes) {
            Ok(0) => return delivered.unwrap_or(now),
            Ok(count) => {
                listen(&bytes[..count]);
            }
            Err(error) if is_pause(&error) => {}
            Err(_) => return delivered.unwrap_or(now),
        }
    }
}

/// Receives until the peer closes.
pub fn receive(
    mut stream: &TcpStream,
    plan: &Receiving,
    buffer: &mut [u8],
    control: &mut Control<'_>,
) -> Ended {
    let mut meter = Meter::new(plan.link, Observer::Receiver, plan.interval, plan.start);
    let mut counts = Counts { bytes: plan.before, datagrams: Some(0), ..Counts::default() };
    if let Err(error) = stream.set_read_timeout(Some(SLICE)) {
        return Ended::Broken(error);
    }
    let mut heard = plan.start.max(control.clock.now());
    let (ended, end) = loop {
        let result = stream.read(buffer);
        let now = control.clock.now();
        if now >= meter.next() {
            while let Some(interval) = meter.ended(now, &counts) {
                (control.emit)(Sample::Interval(interval));
            }
        }
        match result {
            Ok(0) => break (Ended::Normally, now),
            Ok(count) => {
                counts.bytes += count as u64;
                counts.datagrams = counts.datagrams.map(|n| n + 1);
                heard = now;
            }
            Err(error) if is_pause(&error) => {
                if now.since(heard) >= plan.idle {
                    break (Ended::Silent, heard);
                }
            }
            Err(error) => break (Ended::Broken(error), heard),
        }
        if now >= plan.until {
            break (Ended::Normally, now);
        }
        if control.stopped() {
            break (Ended::Stopped, now);
        }
    };
    finish(&mut meter, end, &counts, control);
    ended
}
