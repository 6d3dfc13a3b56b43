//! Many UDP flows that arrive on one socket, told apart by their sender's address.
//!
//! One socket rather than one for each flow: no datagram can fall between an old and a new socket,
//! and it works the same on every system.

use super::udp::{SLOT, SLOTS, arrival};
use super::{PumpContext, SLICE, is_pause};
use crate::sys::udp::{self, Batch};
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::iperf::{DatagramKind, ReceiverSetup, UdpReceiver};
use espbench_proto::wire::iperf2::{Datagram, REPORT, Width};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Most flows at once. Datagrams of further ones are counted as strays.
pub const MOST: usize = 256;
/// Age at which a flow of one datagram makes room for another where there are too many: a forged sender sends no more.
const ALONE: Duration = Duration::from_secs(1);
/// Most bytes of reports for each byte that came: what asks for a report may have a forged sender (RFC 9000, section 8.1).
const ANSWERED_MOST: u64 = 3;
/// First numbers beyond this are no flow's beginning: garbage, or an end whose flow is over.
const FIRST_MOST: i64 = 1 << 20;

/// The owner of the flows: it decides which begin, and takes their samples.
pub trait FlowHandler {
    /// Returns whether such a datagram begins a flow, for which there must be room.
    fn needs_room(&mut self, _from: SocketAddr, _first: &[u8]) -> bool {
        true
    }
    /// Begins a flow with a datagram of a sender that has none. `None`: the datagram is none of
    /// ours.
    fn begin(&mut self, from: SocketAddr, first: &[u8]) -> Option<ReceiverSetup>;
    /// Notes that a further datagram of a flow came, of that length.
    fn heard(&mut self, _from: SocketAddr, _length: usize) {}
    /// Notes that a flow was refused, since there are [`MOST`].
    fn full(&mut self, _from: SocketAddr) {}
    /// Takes a sample of a flow.
    fn sample(&mut self, from: SocketAddr, sample: Sample);
    /// Notes that a flow is over.
    fn end(&mut self, from: SocketAddr, flow: &UdpReceiver);
    /// Returns whether the loop is to end; asked between batches.
    fn is_over(&mut self) -> bool;
}

/// Datagrams that the loop saw and that belong to no flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strays {
    /// Datagrams that are not iperf's, or of more flows than [`MOST`].
    pub datagrams: u64,
    /// Datagrams that the kernel dropped from the full socket buffer, where it says.
    pub dropped: Option<u32>,
}

struct Flow {
    from: SocketAddr,
    receiver: UdpReceiver,
    wake: Instant,
    began: Instant,
    datagrams: u64,
    /// Bytes that came, and bytes of reports.
    came: u64,
    answered: u64,
}

/// Receives until the policy or the stop flag ends it.
///
/// # Errors
/// The system's, other than pauses and errors that a single peer caused.
pub fn serve(
    socket: &UdpSocket,
    handler: &mut dyn FlowHandler,
    control: &PumpContext<'_>,
) -> io::Result<Strays> {
    socket.set_read_timeout(Some(SLICE))?;
    let mut server = FlowServer { socket, flows: Vec::new(), last: 0, strays: Strays::default() };
    let mut batch = Batch::new(SLOTS, SLOT);
    loop {
        let received = batch.receive(socket);
        let now = control.clock.now();
        server.wake(now, handler);
        match received {
            Ok(count) => {
                for nth in 0..count {
                    server.take(&batch, nth, now, handler);
                }
            }
            Err(error) if is_pause(&error) || super::udp::is_of_a_peer(&error) => {}
            Err(error) => return Err(error),
        }
        if control.stopped() || handler.is_over() {
            server.stop(now, handler);
            server.strays.dropped = udp::dropped(socket);
            return Ok(server.strays);
        }
    }
}

struct FlowServer<'a> {
    socket: &'a UdpSocket,
    flows: Vec<Flow>,
    last: usize,
    strays: Strays,
}

impl FlowServer<'_> {
    fn take(&mut self, batch: &Batch, nth: usize, now: Instant, handler: &mut dyn FlowHandler) {
        let Some(from) = batch.from(nth) else { return };
        let Some(at) = self.flow_of(from) else {
            let datagram = batch.get(nth);
            if let Some(at) = self.begin(from, datagram.bytes, now, handler) {
                self.give(at, batch, nth, now, handler);
            }
            return;
        };
        handler.heard(from, batch.get(nth).length);
        self.give(at, batch, nth, now, handler);
    }

    fn give(
        &mut self,
        at: usize,
        batch: &Batch,
        nth: usize,
        now: Instant,
        handler: &mut dyn FlowHandler,
    ) {
        let datagram = batch.get(nth);
        let arrived = arrival(now, datagram.age_ns);
        self.flows[at].datagrams += 1;
        self.flows[at].came += datagram.length as u64;
        let heard = self.flows[at].receiver.datagram(arrived, datagram.bytes, datagram.length);
        match heard {
            DatagramKind::Data => {}
            DatagramKind::Last | DatagramKind::Closed => self.poll(at, now, handler),
            DatagramKind::Stray => self.strays.datagrams += 1,
        }
    }

    fn flow_of(&mut self, from: SocketAddr) -> Option<usize> {
        // Most datagrams come from the sender of the one before.
        if self.flows.get(self.last).is_none_or(|flow| flow.from != from) {
            self.last = self.flows.iter().position(|flow| flow.from == from)?;
        }
        Some(self.last)
    }

    fn begin(
        &mut self,
        from: SocketAddr,
        first: &[u8],
        now: Instant,
        handler: &mut dyn FlowHandler,
    ) -> Option<usize> {
        let id = Datagram::new(first).map(|d| d.id(Width::Told));
        if !id.is_ok_and(|id| (0..FIRST_MOST).contains(&id)) {
            // A negative number is the end of a flow that is over here, and no stray.
            self.strays.datagrams += u64::from(!id.is_ok_and(|id| id < 0));
            return None;
        }
        let is_full = self.flows.len() >= MOST && handler.needs_room(from, first);
        if is_full && !self.make_room(now, handler) {
            self.strays.datagrams += 1;
            handler.full(from);
            return None;
        }
        let setup = handler.begin(from, first)?;
        let receiver = UdpReceiver::new(setup, now);
        let (datagrams, came, answered) = (0, 0, 0);
        self.flows.push(Flow { from, receiver, wake: now, began: now, datagrams, came, answered });
        Some(self.flows.len() - 1)
    }

    /// Gives up the oldest flow of which one datagram came and no more; returns whether there was one.
    fn make_room(&mut self, now: Instant, handler: &mut dyn FlowHandler) -> bool {
        let alone = (0..self.flows.len()).filter(|&at| {
            self.flows[at].datagrams <= 1 && now.since(self.flows[at].began) >= ALONE
        });
        let Some(at) = alone.min_by_key(|&at| self.flows[at].began) else { return false };
        self.flows[at].receiver.stop();
        self.poll(at, now, handler);
        self.flows.len() < MOST
    }

    /// Polls the flows that have something to do.
    fn wake(&mut self, now: Instant, handler: &mut dyn FlowHandler) {
        for at in (0..self.flows.len()).rev() {
            if now >= self.flows[at].wake {
                self.poll(at, now, handler);
            }
        }
    }

    /// Polls one flow; takes it out where it is over.
    fn poll(&mut self, at: usize, now: Instant, handler: &mut dyn FlowHandler) {
        let Flow { from, receiver, wake, came, answered, .. } = &mut self.flows[at];
        let mut report = [0; REPORT];
        loop {
            match receiver.poll(now, &mut report) {
                Output::Sample(sample) => handler.sample(*from, sample),
                Output::Send { len } => {
                    if *answered + len as u64 <= *came * ANSWERED_MOST {
                        *answered += len as u64;
                        let _ = self.socket.send_to(&report[..len], *from);
                    }
                }
                Output::WaitUntil(until) => {
                    *wake = until;
                    return;
                }
                Output::Done => break,
            }
        }
        let flow = self.flows.swap_remove(at);
        handler.end(flow.from, &flow.receiver);
    }

    fn stop(&mut self, now: Instant, handler: &mut dyn FlowHandler) {
        for at in (0..self.flows.len()).rev() {
            self.flows[at].receiver.stop();
            self.poll(at, now, handler);
        }
    }
}
