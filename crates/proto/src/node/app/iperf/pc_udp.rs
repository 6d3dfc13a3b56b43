//! A flow of datagrams as iperf 2 sends it: [`UdpSender`] over a socket.

use super::IperfSetup;
use crate::node::Output;
use crate::node::app::{Endpoint, SocketError, SocketId, Sockets, Wait};
use crate::node::iperf::{Finish, SenderSetup, UdpSender, client_header};
use crate::wire::iperf2::{REPORT, Stamp};
use espbench_model::time::{Duration, Instant};

/// Wait after a refusal: for a buffer, or for the network.
const REFUSED: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(10));
/// Refusals in a row, without a network, that end the flow.
const GONE: u32 = 100;

#[derive(Clone, Debug)]
pub(super) struct PcUdp {
    setup: IperfSetup,
    to: Endpoint,
    /// The server's socket, where a server sends.
    shared: Option<SocketId>,
    epoch_ns: u64,
    flow: Option<(SocketId, UdpSender)>,
    refused: u64,
    gone: u32,
}

impl PcUdp {
    pub(super) const fn new(setup: IperfSetup, to: Endpoint) -> Self {
        Self { setup, to, shared: None, epoch_ns: 0, flow: None, refused: 0, gone: 0 }
    }

    /// Creates the sender of a server over its own socket: without a header, and without a report to await.
    pub(super) const fn of_server(setup: IperfSetup, to: Endpoint, socket: SocketId) -> Self {
        Self { shared: Some(socket), ..Self::new(setup, to) }
    }

    /// Sets the nanoseconds since the epoch at this clock's zero, which the receiver sees.
    pub(super) const fn with_epoch(self, epoch_ns: u64) -> Self {
        Self { epoch_ns, ..self }
    }

    fn begin(&mut self, now: Instant, sockets: &mut dyn Sockets, datagram: &mut [u8]) -> Wait {
        let Ok(socket) = self.shared.map_or_else(|| sockets.udp_bind(0), Ok) else {
            sockets.count("failed", 1);
            return Wait::Done;
        };
        let work = &self.setup.work;
        let setup = SenderSetup {
            link: self.setup.link,
            interval: work.interval,
            length: work.length,
            rate: work.bandwidth,
            limit: self.setup.limit(),
            header: (self.shared.is_none())
                .then(|| client_header(work, self.to.port, Stamp::default())),
            finish: if self.shared.is_some() { Finish::Once } else { Finish::AwaitReport },
            epoch_ns: self.epoch_ns,
        };
        let sender = UdpSender::new(setup, now);
        sender.prepare(datagram);
        self.flow = Some((socket, sender));
        Wait::Again
    }

    pub(super) fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, buf: &mut [u8]) -> Wait {
        let length = (self.setup.work.length as usize).min(buf.len());
        let datagram = &mut buf[..length];
        let Some((socket, sender)) = &mut self.flow else {
            return self.begin(now, sockets, datagram);
        };
        let socket = *socket;
        let mut report = [0; REPORT];
        if self.shared.is_none()
            && let Some(heard) = sockets.udp_receive(socket, &mut report)
        {
            sender.handle(&report[..heard.len]);
            return Wait::Again;
        }
        loop {
            match sender.poll(now, datagram) {
                Output::Sample(sample) => sockets.sample(sample),
                Output::Send { len } => {
                    // The last one: it is repeated, whatever becomes of it.
                    let _ = sockets.udp_send(socket, self.to, &datagram[..len]);
                    return Wait::Again;
                }
                Output::WaitUntil(at) if sender.is_closing() => return Wait::Until(at),
                Output::WaitUntil(at) => {
                    if sender.fill(now, datagram) > 0 {
                        return self.send(now, sockets, datagram);
                    }
                    if !sender.is_closing() {
                        return Wait::Until(at);
                    }
                }
                Output::Done => {
                    sockets.count("no-buffers", self.refused);
                    sockets.count("late-sends", sender.skipped());
                    if self.shared.is_none() {
                        sockets.close(socket);
                    }
                    return Wait::Done;
                }
            }
        }
    }

    fn send(&mut self, now: Instant, sockets: &mut dyn Sockets, datagram: &[u8]) -> Wait {
        let Some((socket, sender)) = &mut self.flow else { return Wait::Done };
        match sockets.udp_send(*socket, self.to, datagram) {
            Ok(()) => {
                self.gone = 0;
                sender.sent(1);
                Wait::Again
            }
            Err(SocketError::NoMemory) => {
                self.refused += 1;
                Wait::Sleep(now + REFUSED.0)
            }
            Err(_) => {
                self.gone += 1;
                if self.gone >= GONE {
                    sockets.count("failed", 1);
                    sender.abandon(now);
                }
                Wait::Sleep(now + REFUSED.1)
            }
        }
    }
}
