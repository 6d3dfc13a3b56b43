//! UDP round trips to a device that echoes: sockets and time for [`Prober`].

use super::{Sink, Target, TargetError, noted};
use crate::clock::Clock;
use crate::sys::stamp::StampedUdp;
use crate::sys::timer;
use espbench_measure::run::Site;
use espbench_proto::fact;
use espbench_proto::node::Output;
use espbench_proto::node::echo::Prober;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;
use espbench_proto::workload::{UdpEcho, Workload};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;

/// Time-outs without any reply after which a cell is given up: fewer if nothing ever came.
const SILENT_FROM_START: u32 = 3;
const SILENT_LATER: u32 = 10;

/// A device, or a program, that echoes UDP datagrams.
#[derive(Debug)]
pub struct EchoTarget {
    /// Where it listens.
    pub peer: SocketAddr,
    /// The port that replies come to; 0 is any. The published sketch replies to 10001 only.
    pub local_port: u16,
    /// What is known of the device and the place.
    pub site: Site,
}

impl Target for EchoTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        match workload.plain() {
            Workload::UdpEcho(_) => Ok(()),
            other => Err(TargetError::Unsupported {
                target: format!("udp:{}", self.peer),
                kind: other.kind(),
                hint: "this target echoes UDP; use --on tcp:, iperf: or mqtt: for other plans"
                    .into(),
            }),
        }
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let Workload::UdpEcho(work) = noted(workload, sink) else { return Ok(()) };
        let clock = Clock::start();
        let udp = StampedUdp::connect(self.peer, self.local_port, clock)
            .map_err(|e| self.cannot_open(e))?;
        sink.fact("receive_timestamps", stamps(&udp).into());
        Exchange::new(self.peer, work, udp, clock).run(sink)
    }
}

fn stamps(udp: &StampedUdp) -> &'static str {
    if udp.has_stamps() { "kernel (SO_TIMESTAMPNS)" } else { "application" }
}

impl EchoTarget {
    fn cannot_open(&self, source: io::Error) -> TargetError {
        let hint = match source.kind() {
            io::ErrorKind::AddrInUse => {
                "another program has that port: stop it, or choose one with --local-port"
            }
            _ => "check the address and the network",
        };
        TargetError::Local {
            what: format!("UDP socket on port {} to {}", self.local_port, self.peer),
            source,
            hint: hint.into(),
        }
    }
}

/// One cell being carried out.
struct Exchange {
    peer: SocketAddr,
    work: UdpEcho,
    udp: StampedUdp,
    clock: Clock,
    prober: Prober,
    /// The last reply, or the start.
    heard: Instant,
    any: bool,
    refused: u64,
}

impl Exchange {
    fn new(peer: SocketAddr, work: UdpEcho, udp: StampedUdp, clock: Clock) -> Self {
        // Unique enough that a reply from an earlier run is not taken for one of this run.
        let session = RandomState::new().hash_one(std::process::id()) as u32;
        let now = clock.now();
        let prober = Prober::new(work, session, now);
        Self { peer, work, udp, clock, prober, heard: now, any: false, refused: 0 }
    }

    fn run(mut self, sink: &mut dyn Sink) -> Result<(), TargetError> {
        timer::precise_wakeups();
        let mut out = vec![0; self.prober.datagram_len()];
        // One byte more than any whole reply: a longer one is seen to be longer.
        let mut buf = vec![0; self.prober.datagram_len() + 1];
        let mut result = Ok(());
        loop {
            match self.prober.poll(self.clock.now(), &mut out) {
                Output::Send { len } => result = self.send(&out[..len]),
                Output::Sample(sample) => sink.sample(sample),
                Output::WaitUntil(until) => result = self.wait(&mut buf, until),
                Output::Done => break,
            }
            if sink.cancelled() && result.is_ok() {
                result = Err(TargetError::Cancelled);
            }
            if result.is_err() {
                self.drain(&mut out, sink);
                break;
            }
        }
        for (name, value) in [
            ("stray-datagrams", self.prober.stray()),
            (fact::DUPLICATES_NOT_KEPT, self.prober.duplicates_not_kept()),
            ("socket-overflow", self.udp.overflow().into()),
            ("refused-datagrams", self.refused),
        ] {
            sink.count(name, value);
        }
        result
    }

    /// Records what was outstanding when the cell was cut short.
    fn drain(&mut self, out: &mut [u8], sink: &mut dyn Sink) {
        self.prober.stop();
        while let Output::Sample(sample) = self.prober.poll(self.clock.now(), out) {
            sink.sample(sample);
        }
    }

    fn wait(&mut self, buf: &mut [u8], until: Instant) -> Result<(), TargetError> {
        match self.udp.receive(buf, until) {
            Ok(Some(arrival)) => {
                (self.heard, self.any) = (arrival.at, true);
                self.prober.handle(arrival.at, &buf[..arrival.len], arrival.stamped);
                Ok(())
            }
            Ok(None) => self.silence(),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => self.unreachable(e),
            Err(e) => Err(self.failed("receiving", e)),
        }
    }

    /// Gives a silent peer up.
    fn silence(&self) -> Result<(), TargetError> {
        let allowed = if self.any { SILENT_LATER } else { SILENT_FROM_START };
        if self.clock.now().since(self.heard) <= self.work.timeout * allowed {
            return Ok(());
        }
        let what = if self.any {
            format!("no reply any more ({} probes sent)", self.prober.sent())
        } else {
            "no reply at all".into()
        };
        Err(TargetError::Protocol {
            peer: format!("udp:{}", self.peer),
            what,
            hint: "check that the device is up, that it echoes on this port, and where it sends \
                   its replies (the published sketch: to port 10001; see --local-port)"
                .into(),
        })
    }

    fn send(&mut self, datagram: &[u8]) -> Result<(), TargetError> {
        let error = match self.udp.send(datagram) {
            Ok(_) => return Ok(()),
            Err(e) => e,
        };
        if error.kind() == io::ErrorKind::ConnectionRefused {
            // That was the refusal of an earlier datagram: this one has yet to be sent.
            self.unreachable(error)?;
            return self.udp.send(datagram).map(drop).map_err(|e| self.failed("sending", e));
        }
        if !out_of_buffers(&error) {
            return Err(self.failed("sending", error));
        }
        self.prober.refused(Cause::NoBuffers);
        Ok(())
    }

    /// ICMP said that nothing listens there. A device that restarts says so for a while.
    fn unreachable(&mut self, source: io::Error) -> Result<(), TargetError> {
        self.refused += 1;
        if self.any {
            return self.silence();
        }
        Err(TargetError::Peer {
            peer: format!("udp:{}", self.peer),
            what: "probing",
            source,
            hint: "nothing listens on that port: start the echo there, or give HOST:PORT".into(),
        })
    }

    fn failed(&self, what: &'static str, source: io::Error) -> TargetError {
        TargetError::Peer {
            peer: format!("udp:{}", self.peer),
            what,
            source,
            hint: "check the address, the route and the size of the datagrams".into(),
        }
    }
}

fn out_of_buffers(error: &io::Error) -> bool {
    #[cfg(unix)]
    if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::ENOMEM)) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}
