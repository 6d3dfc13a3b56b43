//! UDP echo, the side that measures.

use super::{App, Endpoint, SocketError, SocketId, Sockets, Wait};
use crate::node::Output;
use crate::node::echo::Prober;
use espbench_model::sample::Cause;
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::UdpEcho;

/// Wait where there is no network.
const NO_NETWORK: Duration = Duration::from_millis(10);

/// Sends the probes of a cell and times the replies: [`Prober`] over a socket. A probe that the
/// driver has no buffer for is lost for that cause.
///
/// It records a sample for each probe, and ends when all are known. Counters: `stray-datagrams`; `failed`, the
/// port is taken.
#[derive(Clone, Debug)]
pub struct EchoProbe<const N: usize = 1472> {
    work: UdpEcho,
    session: u32,
    port: u16,
    to: Endpoint,
    socket: Option<SocketId>,
    prober: Option<Prober>,
    /// Whether received datagrams are to be handled before more are read.
    drain: bool,
    buf: [u8; N],
}

impl<const N: usize> EchoProbe<N> {
    /// Creates a program that probes from `port` (0 for any) to `to`. `session` marks binary
    /// probes; one of more than `N` bytes cannot be sent, and the program ends at once.
    #[must_use]
    pub const fn new(work: UdpEcho, session: u32, port: u16, to: Endpoint) -> Self {
        Self { work, session, port, to, socket: None, prober: None, drain: false, buf: [0; N] }
    }
}

impl<const N: usize> App for EchoProbe<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let (Some(socket), Some(prober)) = (self.socket, &mut self.prober) else {
            let Ok(socket) = sockets.udp_bind(self.port) else {
                sockets.count("failed", 1);
                return Wait::Done;
            };
            self.socket = Some(socket);
            self.prober = Some(Prober::new(self.work, self.session, now));
            return Wait::Again;
        };
        if !self.drain
            && let Some(datagram) = sockets.udp_receive(socket, &mut self.buf)
        {
            prober.handle(now, &self.buf[..datagram.len], datagram.stamped);
            self.drain = true;
            return Wait::Again;
        }
        // There may be more to receive, of which no change will tell.
        let drained = core::mem::take(&mut self.drain);
        loop {
            match prober.poll(now, &mut self.buf) {
                Output::Sample(sample) => sockets.sample(sample),
                Output::WaitUntil(_) if drained => return Wait::Again,
                Output::WaitUntil(at) => return Wait::Until(at),
                Output::Send { len } => {
                    // What it says of a refused one is taken first, too.
                    self.drain = true;
                    match sockets.udp_send(socket, self.to, &self.buf[..len]) {
                        Ok(()) => self.drain = false,
                        Err(SocketError::NoMemory) => prober.refused(Cause::NoBuffers),
                        Err(_) => {
                            prober.refused(Cause::Disconnected);
                            return Wait::Sleep(now + NO_NETWORK);
                        }
                    }
                    return Wait::Again;
                }
                Output::Done => {
                    sockets.count("stray-datagrams", prober.stray());
                    sockets.close(socket);
                    return Wait::Done;
                }
            }
        }
    }
}
