//! One TCP stream, in one direction.

mod send;

pub use send::{TcpSendResult, send};

use super::reads::Reads;
use super::{PumpContext, SLICE, is_pause};
use crate::sys::options::SocketOptions;
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Link, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::iperf::{BurstWriter, Limit};
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// A sender that kept this part of its time, but for [`SLACK`], has kept it.
const IN_TIME: f64 = 0.9;
/// Longest time by which this end may have begun to count later than the peer.
const SLACK: Duration = Duration::from_millis(300);
/// The share of the bytes that such a sender has sent.
const ALL_BYTES: f64 = 0.99;

/// Connects within `patience`, from `bind` where given, with those options of the socket.
///
/// # Errors
/// The system's; `Interrupted` where `stop` was set, `TimedOut` where the time was up.
pub fn connect(
    peer: SocketAddr,
    bind: Option<SocketAddr>,
    options: &SocketOptions,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM, None)?;
    options.apply(&socket)?;
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

/// The settings of a sending stream.
#[derive(Clone, Copy, Debug)]
pub struct SendPlan {
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
    /// Marks of the times at which writes were written, with trip times.
    pub bursts: Option<Bursts>,
}

/// The marks in a stream with trip times of when each write was written.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// Writes their heads.
    pub writer: BurstWriter,
    /// Nanoseconds since the epoch at the clock's zero.
    pub epoch_ns: u64,
}

/// The settings of a receiving stream.
#[derive(Clone, Copy, Debug)]
pub struct ReceivePlan {
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
    /// Amount that the peer was asked to send, so that a close before it is noticed.
    pub asked: Option<Limit>,
    /// Nanoseconds since the epoch at the clock's zero, where each write says when it was written.
    pub epoch_ns: Option<u64>,
}

/// The amount that was received before an early end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedAmount {
    /// Payload bytes.
    pub bytes: u64,
    /// Time in which they came.
    pub time: Duration,
}

/// The end of a stream.
#[derive(Debug)]
pub enum Ended {
    /// The stream ended as planned: the limit was reached, or the peer closed.
    Normally,
    /// The receiver's peer closed before the end that it was asked for.
    Early(ReceivedAmount),
    /// A stop by this side.
    Stopped,
    /// The receiver's peer fell silent.
    Silent,
    /// The receiver's peer kept the connection and sent no more, before the end that it was asked for.
    Stalled(ReceivedAmount),
    /// The sender's peer has read nothing: so many octets stand in its receive buffer.
    Unread(u64),
    /// The connection broke.
    Broken(io::Error),
}

/// Takes what the peer says; false stops the stream.
pub type Listen<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

fn finish(meter: &mut FlowMeter, end: Instant, counts: &FlowCounts, emit: &mut dyn FnMut(Sample)) {
    while let Some(interval) = meter.ended(end, counts) {
        emit(Sample::Interval(interval));
    }
    if let Some(interval) = meter.rest(end, counts) {
        emit(Sample::Interval(interval));
    }
    emit(Sample::Interval(meter.total(end, counts)));
}

/// Receives until the peer closes.
pub fn receive(
    mut stream: &TcpStream,
    plan: &ReceivePlan,
    buffer: &mut [u8],
    control: &mut PumpContext<'_>,
) -> Ended {
    let mut meter = FlowMeter::new(plan.link, Observer::Receiver, plan.interval, plan.start);
    let mut counts = FlowCounts { bytes: plan.before, datagrams: Some(0), ..FlowCounts::default() };
    if let Err(error) = stream.set_read_timeout(Some(SLICE)) {
        return Ended::Broken(error);
    }
    let mut heard = plan.start.max(control.clock.now());
    let mut reads = Reads::new(buffer.len(), plan.epoch_ns);
    let (ended, end) = loop {
        let result = stream.read(buffer);
        let now = control.clock.now();
        if now >= meter.next() {
            while let Some(interval) = meter.ended(now, &counts) {
                (control.emit)(Sample::Interval(reads.with(interval)));
            }
        }
        match result {
            Ok(0) => {
                let came = ReceivedAmount { bytes: counts.bytes, time: now.since(plan.start) };
                let early = plan.asked.is_some_and(|asked| is_early(asked, came));
                break (if early { Ended::Early(came) } else { Ended::Normally }, now);
            }
            Ok(count) => {
                reads.take(&buffer[..count], now);
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
            let came = ReceivedAmount { bytes: counts.bytes, time: heard.since(plan.start) };
            let early = plan.asked.is_some_and(|asked| is_early(asked, came));
            break if early { (Ended::Stalled(came), heard) } else { (Ended::Normally, now) };
        }
        if control.stopped() {
            break (Ended::Stopped, now);
        }
    };
    let mut emit = |sample| {
        (control.emit)(match sample {
            Sample::Interval(interval) => Sample::Interval(reads.with(interval)),
            other => other,
        });
    };
    finish(&mut meter, end, &counts, &mut emit);
    ended
}

/// Tells whether that is less than what was asked for. A sender counts its time from other moments
/// than this end, and its bytes in whole writes, with or without its header.
fn is_early(asked: Limit, came: ReceivedAmount) -> bool {
    let enough = match asked {
        Limit::Time(time) => came.time + SLACK >= time.mul_f64(IN_TIME),
        Limit::Bytes(bytes) => came.bytes >= (bytes as f64 * ALL_BYTES) as u64,
    };
    came.bytes == 0 || !enough
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_early() {
        let came = |bytes, millis| ReceivedAmount { bytes, time: Duration::from_millis(millis) };
        let time = Limit::Time(Duration::from_secs(4));
        assert!(is_early(time, came(1 << 30, 1200)) && !is_early(time, came(1, 3900)));
        assert!(is_early(time, came(0, 4000)), "a server that sent nothing");
        let bytes = Limit::Bytes(1_000_000);
        assert!(is_early(bytes, came(900_000, 1)) && !is_early(bytes, came(999_900, 1)));
    }
}
