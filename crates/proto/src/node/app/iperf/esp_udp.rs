//! A flow of datagrams as the programs on ESP chips send it. See the [module](super) for the
//! sources.

use super::{IperfSetup, IperfStyle};
use crate::node::app::{Endpoint, ProgramWork, SocketError, SocketId, Sockets, Wait};
use crate::node::iperf::Limit;
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::{Duration, Instant};

/// `IPERF_MAX_DELAY`: from here on a wait of ticks no longer doubles.
const LONGEST: u64 = 64;
/// A line of the log, some 60 characters over a serial line of 115200 baud.
const PRINTING: Duration = Duration::from_millis(5);

#[derive(Clone, Debug)]
pub(super) struct EspUdp {
    setup: IperfSetup,
    to: Endpoint,
    flow: Option<EspUdpFlow>,
    refused: u64,
    /// Of these, those that intervals have told of.
    told: u64,
}

#[derive(Clone, Debug)]
struct EspUdpFlow {
    socket: SocketId,
    meter: FlowMeter,
    counts: FlowCounts,
    /// The number of the datagram that is sent next.
    id: u32,
    /// Ticks for which the next refusal is waited out.
    ticks: u64,
    pace: Option<SendPace>,
}

/// How `socket_send` holds an offered rate. After a send it is busy for what the last round was
/// faster than the period; what a round was slower is taken off the waits that follow, until a send
/// is refused. Unlike ESP-IDF's, it waits after a refusal as well: each call offers one datagram.
#[derive(Clone, Copy, Debug)]
struct SendPace {
    period_ns: i64,
    /// Time that is still to be waited, below zero where the sender is behind.
    owed_ns: i64,
    /// The last send, and whether it was taken.
    last: Option<(Instant, bool)>,
    /// The wait that is due.
    delay: Option<Duration>,
}

impl SendPace {
    fn sent(&mut self, now: Instant, taken: bool) {
        self.owed_ns = match self.last {
            Some((before, before_taken)) => {
                let took = i64::try_from(now.since(before).as_nanos()).unwrap_or(i64::MAX);
                let owed = if before_taken { self.owed_ns } else { self.owed_ns.max(0) };
                owed.saturating_add(self.period_ns).saturating_sub(took)
            }
            None => 0,
        };
        self.last = Some((now, taken));
        self.delay =
            u64::try_from(self.owed_ns).ok().filter(|&owed| owed > 0).map(Duration::from_nanos);
    }
}

impl EspUdp {
    pub(super) const fn new(setup: IperfSetup, to: Endpoint) -> Self {
        Self { setup, to, flow: None, refused: 0, told: 0 }
    }

    fn begin(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let Ok(socket) = sockets.udp_bind(0) else {
            sockets.count("failed", 1);
            return Wait::Done;
        };
        let work = &self.setup.work;
        let period_ns = |rate: u64| {
            let nanos = u128::from(work.length) * 8 * 1_000_000_000 / u128::from(rate.max(1));
            i64::try_from(nanos).unwrap_or(i64::MAX)
        };
        self.flow = Some(EspUdpFlow {
            socket,
            meter: FlowMeter::new(self.setup.link, Observer::Sender, work.interval, now),
            counts: FlowCounts { datagrams: Some(0), ..FlowCounts::default() },
            id: u32::from(self.setup.style == IperfStyle::EspIdfV4),
            ticks: 1,
            pace: work.bandwidth.map(|rate| SendPace {
                period_ns: period_ns(rate),
                owed_ns: 0,
                last: None,
                delay: None,
            }),
        });
        Wait::Again
    }

    pub(super) fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, buf: &mut [u8]) -> Wait {
        let (length, limit) = (self.setup.work.length as usize, self.setup.limit());
        let Some(flow) = &mut self.flow else { return self.begin(now, sockets) };
        while let Some(interval) = flow.meter.ended(now, &flow.counts) {
            let new = self.refused - core::mem::replace(&mut self.told, self.refused);
            sockets.sample(with_refused(interval, new));
        }
        if let Some(delay) = flow.pace.as_mut().and_then(|pace| pace.delay.take()) {
            sockets.spend(ProgramWork::Delay(delay));
            return Wait::Again;
        }
        let over = match limit {
            Limit::Time(time) => now.since(flow.meter.start()) >= time,
            Limit::Bytes(bytes) => flow.counts.bytes >= bytes,
        };
        if over {
            return self.finish(now, sockets);
        }
        let length = length.min(buf.len());
        self.send(now, sockets, &mut buf[..length])
    }

    fn send(&mut self, now: Instant, sockets: &mut dyn Sockets, datagram: &mut [u8]) -> Wait {
        let Some(flow) = &mut self.flow else { return Wait::Done };
        let style = self.setup.style;
        if let (Some(number), true) = (datagram.first_chunk_mut(), style != IperfStyle::EspConn) {
            *number = flow.id.to_be_bytes();
        }
        let result = sockets.udp_send(flow.socket, self.to, datagram);
        if let Some(pace) = &mut flow.pace {
            pace.sent(now, result.is_ok());
        }
        if result.is_ok() || style == IperfStyle::EspIdf {
            // Back to 0 after the highest of 31 bits.
            flow.id = (flow.id + 1) & 0x7FFF_FFFF;
        }
        match result {
            Ok(()) => {
                flow.ticks = 1;
                flow.counts.bytes += datagram.len() as u64;
                flow.counts.datagrams = flow.counts.datagrams.map(|n| n + 1);
                Wait::Again
            }
            Err(SocketError::NoMemory) => {
                self.refused += 1;
                if style != IperfStyle::EspIdfV4 {
                    return Wait::Again;
                }
                let wake = self.setup.ticks_after(now, flow.ticks);
                if flow.ticks < LONGEST {
                    flow.ticks *= 2;
                }
                Wait::Sleep(wake)
            }
            // v4 gives up; the others go on, and print why, which takes about so long.
            Err(_) if style == IperfStyle::EspIdfV4 => {
                sockets.count("failed", 1);
                self.finish(now, sockets)
            }
            Err(_) => Wait::Sleep(now + PRINTING),
        }
    }

    fn finish(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if let Some(mut flow) = self.flow.take() {
            if let Some(rest) = flow.meter.rest(now, &flow.counts) {
                sockets.sample(with_refused(rest, self.refused - self.told));
            }
            sockets.sample(with_refused(flow.meter.total(now, &flow.counts), self.refused));
            sockets.count("no-buffers", self.refused);
            sockets.close(flow.socket);
        }
        Wait::Done
    }
}

/// Returns the interval with the sends that were refused in it.
fn with_refused(interval: Interval, refused: u64) -> Sample {
    let errors = Some(u32::try_from(refused).unwrap_or(u32::MAX));
    Sample::Interval(Interval { errors, ..interval })
}
