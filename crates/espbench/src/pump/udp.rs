//! One UDP flow, in one direction.

use super::{PumpContext, SLICE, is_pause};
use crate::sys::{timer, udp as sys};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::iperf::{UdpReceiver, UdpSender};
use espbench_proto::wire::iperf2::{CLIENT_HEADER, DATAGRAM_HEADER, REPORT};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};

/// A wait shorter than this is spun, as a sleep would overshoot it.
const SPIN: Duration = Duration::from_micros(20);
/// Datagrams of one receive.
pub const SLOTS: usize = 64;
/// Bytes kept of a received datagram: an Ethernet frame's worth. Longer ones are counted whole.
pub const SLOT: usize = 2048;

/// The counts of a sender's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpSendResult {
    /// Sends that the system refused for want of buffers (`ENOBUFS`, `ENOMEM`).
    pub refused: u64,
    /// True where the kernel or the card cut batches into datagrams.
    pub segmented: bool,
}

/// A bound on what is sent to an address.
pub trait SendGate {
    /// Returns the bytes that may go now; `None` ends the flow.
    fn most(&mut self, now: Instant) -> Option<u64>;
    /// Notes that so many bytes went.
    fn went(&mut self, bytes: u64);
}

/// No bound: this side began the test.
#[derive(Clone, Copy, Debug)]
pub struct OpenGate;

impl SendGate for OpenGate {
    fn most(&mut self, _: Instant) -> Option<u64> {
        Some(u64::MAX)
    }

    fn went(&mut self, _: u64) {}
}

/// Pause before a shut gate is asked again.
const SHUT: std::time::Duration = std::time::Duration::from_millis(1);

/// Runs a sender to its end. `to` is for a socket that is not connected; such a socket is read by
/// someone else, no report can be awaited on it, and its ICMP errors may be another client's: the gate knows.
///
/// # Errors
/// The system's, other than a want of buffers; the machine is abandoned, and its samples are out.
pub fn send(
    socket: &UdpSocket,
    to: Option<SocketAddr>,
    sender: &mut UdpSender,
    length: usize,
    gate: &mut dyn SendGate,
    control: &mut PumpContext<'_>,
) -> io::Result<UdpSendResult> {
    timer::precise_wakeups();
    let mut out = BatchSender::new(socket, to, length);
    sender.prepare(&mut out.buffer);
    let mut failure = None;
    let mut refusals = Refusals::default();
    loop {
        let now = control.clock.now();
        let result = match sender.poll(now, &mut out.buffer) {
            Output::Sample(sample) => {
                (control.emit)(sample);
                continue;
            }
            Output::Send { len } if gate.most(now).is_none_or(|most| most < len as u64) => Ok(()),
            Output::Send { len } => {
                gate.went(len as u64);
                out.send_one(len)
            }
            Output::Done => return failure.map_or(Ok(out.sent), Err),
            Output::WaitUntil(at) => {
                if control.stopped() {
                    sender.stop(now);
                }
                let sending = !sender.is_closing();
                let count = sender.fill(now, &mut out.buffer);
                if sending && sender.is_closing() {
                    // That was the end: there is more to do at once.
                    continue;
                }
                let most = (gate.most(now)).map(|most| most / out.length as u64);
                match (count, most) {
                    (_, None) => {
                        sender.abandon(now);
                        Ok(())
                    }
                    (0, _) => out.wait(sender, at, now, control),
                    (_, Some(0)) => {
                        std::thread::sleep(SHUT);
                        Ok(())
                    }
                    (count, Some(most)) => {
                        let count = count.min(usize::try_from(most).unwrap_or(usize::MAX));
                        out.send_batch(count).map(|taken| {
                            gate.went((taken * out.length) as u64);
                            sender.sent(taken);
                        })
                    }
                }
            }
        };
        match result {
            Ok(()) => {}
            // On a socket that others share an error is of any client; sending to one that is gone ends at the gate.
            Err(error) if to.is_some() && is_of_a_peer(&error) => std::thread::sleep(SHUT),
            Err(error) if is_gone(&error) && !refusals.are_final(now) => {}
            Err(error) => {
                // The flow ends here; what was counted is kept.
                sender.abandon(now);
                failure.get_or_insert(error);
            }
        }
    }
}

/// ICMP's word that nothing listens there. An iperf 2 server has no listening socket for a moment
/// after each new client, so one refusal is no end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals {
    first: Option<(Instant, Instant)>,
    count: u32,
}

impl Refusals {
    /// Takes one more; whether they have gone on for half a second.
    pub fn are_final(&mut self, now: Instant) -> bool {
        let first = match self.first {
            Some((first, last)) if now.since(last) < Duration::from_secs(2) => first,
            _ => {
                self.count = 0;
                now
            }
        };
        self.first = Some((first, now));
        self.count += 1;
        self.count >= 3 && now.since(first) >= Duration::from_millis(500)
    }
}

struct BatchSender<'a> {
    socket: &'a UdpSocket,
    to: Option<SocketAddr>,
    length: usize,
    buffer: Vec<u8>,
    batch: usize,
    sent: UdpSendResult,
}

impl<'a> BatchSender<'a> {
    fn new(socket: &'a UdpSocket, to: Option<SocketAddr>, length: usize) -> Self {
        let length = length.max(DATAGRAM_HEADER);
        let batch = (sys::MAX_SEND / length).clamp(1, sys::MAX_SEGMENTS);
        Self {
            socket,
            to,
            length,
            buffer: vec![0; batch * length],
            batch,
            sent: UdpSendResult::default(),
        }
    }

    fn send_one(&mut self, len: usize) -> io::Result<()> {
        let result = match self.to {
            Some(to) => self.socket.send_to(&self.buffer[..len], to),
            None => self.socket.send(&self.buffer[..len]),
        };
        match result {
            Err(error) if !is_pause(&error) && !no_buffers(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends the first `count` datagrams of the buffer; answers how many were taken.
    fn send_batch(&mut self, count: usize) -> io::Result<usize> {
        let count = count.min(self.batch);
        let bytes = &self.buffer[..count * self.length];
        match sys::send_segments(self.socket, self.to, bytes, self.length) {
            Ok(taken) => {
                self.sent.segmented |= taken > 1;
                Ok(taken)
            }
            Err(error) if no_buffers(&error) => {
                self.sent.refused += 1;
                std::thread::sleep(Duration::from_micros(100));
                Ok(0)
            }
            Err(error) if is_pause(&error) => Ok(0),
            // A path that cannot segment (longer than its MTU, no checksum offload) says EINVAL,
            // EMSGSIZE or EIO: one by one from here on. One by one, the error is the datagram's.
            Err(error) if count > 1 && !is_gone(&error) => {
                self.batch = 1;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Sleeps while nothing is due, or listens for the report once the flow is closed.
    fn wait(
        &self,
        sender: &mut UdpSender,
        at: Instant,
        now: Instant,
        control: &PumpContext<'_>,
    ) -> io::Result<()> {
        let left = at.since(now).min(SLICE);
        if sender.is_closing() && self.to.is_none() {
            self.socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let mut report = [0; 2 * REPORT];
            match self.socket.recv(&mut report) {
                Ok(count) => {
                    sender.handle(&report[..count]);
                }
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error),
            }
        } else if left > SPIN {
            std::thread::sleep(left.checked_sub(SPIN).unwrap_or_default());
        } else if left > Duration::ZERO {
            timer::wait_until(control.clock, now + left);
        }
        Ok(())
    }
}

fn no_buffers(error: &io::Error) -> bool {
    #[cfg(unix)]
    let refused = matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::ENOMEM));
    #[cfg(not(unix))]
    let refused = error.kind() == ErrorKind::OutOfMemory;
    refused
}

/// Tells whether the other side answered that nothing listens there.
#[must_use]
pub fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

/// Tells whether an error is about something that was sent to one address, and the socket goes on: what ICMP and the system's own
/// search for a neighbour report.
#[must_use]
pub fn is_of_a_peer(error: &io::Error) -> bool {
    let is_told = |it: i32| crate::sys::udp::PEER_ERRORS.contains(&it);
    is_gone(error)
        || matches!(error.kind(), ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable)
        || error.raw_os_error().is_some_and(is_told)
}

/// Asks the server to send (`-R`): one datagram that holds the whole client header, however short
/// the others are. Repeated by the caller until data comes.
///
/// # Errors
/// The system's.
pub fn ask(
    socket: &UdpSocket,
    sender: &UdpSender,
    length: usize,
    control: &PumpContext<'_>,
) -> io::Result<()> {
    let mut first = vec![0; length.max(DATAGRAM_HEADER + CLIENT_HEADER)];
    sender.ask(control.clock.now(), &mut first);
    match socket.send(&first) {
        Err(error) if !is_pause(&error) && !no_buffers(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Runs a receiver on a connected socket to its end. Answers how many datagrams the kernel dropped
/// from this socket's full buffer, where it says.
///
/// # Errors
/// The system's; the receiver is stopped, and its samples are out.
pub fn receive(
    socket: &UdpSocket,
    receiver: &mut UdpReceiver,
    control: &mut PumpContext<'_>,
) -> io::Result<Option<u32>> {
    let mut batch = sys::Batch::new(SLOTS, SLOT);
    let mut report = [0; REPORT];
    let mut failure = None;
    socket.set_read_timeout(Some(SLICE))?;
    loop {
        let now = control.clock.now();
        match receiver.poll(now, &mut report) {
            Output::Sample(sample) => (control.emit)(sample),
            Output::Send { len } => {
                let _ = socket.send(&report[..len]);
            }
            Output::Done => return failure.map_or(Ok(sys::dropped(socket)), Err),
            Output::WaitUntil(at) => {
                if control.stopped() {
                    receiver.stop();
                    continue;
                }
                let wait = at.since(now).clamp(Duration::from_millis(1), SLICE);
                if wait < SLICE {
                    socket.set_read_timeout(Some(wait))?;
                }
                let result = batch.receive(socket);
                let now = control.clock.now();
                match result {
                    Ok(count) => take(receiver, &batch, count, now),
                    Err(error) if is_pause(&error) => {}
                    Err(error) => {
                        receiver.stop();
                        failure.get_or_insert(error);
                    }
                }
                if wait < SLICE {
                    socket.set_read_timeout(Some(SLICE))?;
                }
            }
        }
    }
}

/// Gives a batch that was read at `now` to a receiver.
fn take(receiver: &mut UdpReceiver, batch: &sys::Batch, count: usize, now: Instant) {
    for nth in 0..count {
        let datagram = batch.get(nth);
        receiver.datagram(arrival(now, datagram.age_ns), datagram.bytes, datagram.length);
    }
}

/// Returns when the kernel had a datagram that was read at `now`. An age of more than a second is a
/// step of the wall clock, not an age.
#[must_use]
pub fn arrival(now: Instant, age_ns: Option<u64>) -> Instant {
    match age_ns {
        Some(age @ ..1_000_000_000) => Instant::from_nanos(now.as_nanos().saturating_sub(age)),
        _ => now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_told_of_one_address_ends_no_server() {
        let of = |it: i32| is_of_a_peer(&io::Error::from_raw_os_error(it));
        let told = [libc::ECONNREFUSED, libc::EHOSTUNREACH, libc::ENETUNREACH, libc::EMSGSIZE];
        assert!(told.into_iter().all(of));
        assert!(![libc::EBADF, libc::ENOMEM, libc::ENETDOWN].into_iter().any(of));
    }
}
