//! Short messages over TCP, counted for a second at a time.

use super::{App, Endpoint, SocketId, Sockets, StreamState, Wait, opened};
use espbench_model::sample::{Interval, Link, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::TcpRate;

/// Longest time for a connection to open.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two runs, and before it connects again where there is no network.
const PAUSE: Duration = Duration::from_millis(200);

/// Sends short messages for the length of a run and counts them, each run on a connection of its
/// own: ESP-IDF's `tcp_client` example as the published benchmark of Smooth's MQTT changed it
/// (nothing is received, and a counter is printed when the second is over).
///
/// A `send` blocks until the whole message is in the send buffer; one that is not in it when the run
/// ends is not counted. With a text to print, each send is followed by it, as in the document's
/// first two runs. Each run is an interval of what was handed over (observer sender) and one of what
/// the peer had acknowledged of it by then (observer peer); runs to be discarded are made and not
/// recorded. Counter: `failed`, runs that found no connection or lost it.
#[derive(Clone, Debug)]
pub struct TcpSender<const N: usize = 1460> {
    work: TcpRate,
    to: Endpoint,
    print: Option<&'static str>,
    message: [u8; N],
    run: u32,
    step: SenderStep,
}

#[derive(Clone, Copy, Debug)]
enum SenderStep {
    /// The next run begins; it was first tried then.
    Begin(Option<Instant>),
    Connecting(SocketId, Instant),
    Sending(TcpRun),
    Printing(TcpRun),
}

#[derive(Clone, Copy, Debug)]
struct TcpRun {
    socket: SocketId,
    start: Instant,
    /// Messages handed over.
    sent: u64,
    /// Bytes of the next one that are.
    part: usize,
}

impl<const N: usize> TcpSender<N> {
    /// Creates a sender of messages to `to`. Each send prints `print`, where that is given.
    /// Messages of more than `N` bytes, and of none, are not sent: the program ends at once.
    #[must_use]
    pub const fn new(work: TcpRate, to: Endpoint, print: Option<&'static str>) -> Self {
        let mut message = [0; N];
        let mut at = 0;
        while at < N {
            message[at] = b'0' + (at % 10) as u8;
            at += 1;
        }
        Self { work, to, print, message, run: 0, step: SenderStep::Begin(None) }
    }

    fn begin(&mut self, now: Instant, sockets: &mut dyn Sockets, since: Option<Instant>) -> Wait {
        let all = u32::from(self.work.discard) + u32::from(self.work.runs);
        if self.run >= all || !(1..=N).contains(&(self.work.size as usize)) {
            return Wait::Done;
        }
        let since = since.unwrap_or(now);
        match sockets.tcp_connect(self.to) {
            Ok(socket) => {
                if self.work.no_delay {
                    sockets.tcp_no_delay(socket, true);
                }
                self.step = SenderStep::Connecting(socket, since);
                Wait::Again
            }
            Err(_) if now < since + PATIENCE => {
                self.step = SenderStep::Begin(Some(since));
                Wait::Sleep(now + PAUSE)
            }
            Err(_) => self.fail(now, sockets, None),
        }
    }

    fn connecting(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        (socket, since): (SocketId, Instant),
    ) -> Wait {
        match sockets.tcp_stream(socket) {
            StreamState::Connecting if now < since + PATIENCE => Wait::Until(since + PATIENCE),
            StreamState::Open | StreamState::HalfClosed => {
                self.step = SenderStep::Sending(TcpRun { socket, start: now, sent: 0, part: 0 });
                Wait::Again
            }
            StreamState::Connecting | StreamState::Closed => self.fail(now, sockets, Some(socket)),
        }
    }

    fn sending(&mut self, now: Instant, sockets: &mut dyn Sockets, mut run: TcpRun) -> Wait {
        let end = run.start + self.work.run_time;
        if now >= end {
            return self.finish(now, sockets, run);
        }
        let size = self.work.size as usize;
        let message = self.message.get(run.part..size).unwrap_or_default();
        match sockets.tcp_send(run.socket, message) {
            Ok(0) => return Wait::Until(end),
            Ok(len) => run.part += len,
            Err(_) => return self.fail(now, sockets, Some(run.socket)),
        }
        let whole = run.part >= size;
        if whole {
            (run.sent, run.part) = (run.sent + 1, 0);
        }
        self.step = if whole && self.print.is_some() {
            SenderStep::Printing(run)
        } else {
            SenderStep::Sending(run)
        };
        Wait::Again
    }

    fn finish(&mut self, now: Instant, sockets: &mut dyn Sockets, run: TcpRun) -> Wait {
        let size = u64::from(self.work.size);
        if let Some(seq) = self.run.checked_sub(self.work.discard.into()) {
            let bytes = run.sent * size;
            let waiting = sockets.tcp_unacknowledged(run.socket) as u64;
            let acknowledged = (bytes + run.part as u64).saturating_sub(waiting).min(bytes);
            for (observer, bytes) in [(Observer::Sender, bytes), (Observer::Peer, acknowledged)] {
                sockets.sample(Sample::Interval(Interval {
                    link: Link(0),
                    seq: seq.into(),
                    observer,
                    start: run.start,
                    end: now,
                    bytes,
                    datagrams: Some(bytes / size),
                    ..Interval::default()
                }));
            }
        }
        sockets.close(run.socket);
        self.next(now)
    }

    fn fail(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: Option<SocketId>) -> Wait {
        sockets.count("failed", 1);
        if let Some(socket) = socket {
            sockets.close(socket);
        }
        self.next(now)
    }

    fn next(&mut self, now: Instant) -> Wait {
        self.run += 1;
        self.step = SenderStep::Begin(None);
        Wait::Sleep(now + PAUSE)
    }
}

impl<const N: usize> App for TcpSender<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        match self.step {
            SenderStep::Begin(since) => self.begin(now, sockets, since),
            SenderStep::Connecting(socket, since) => self.connecting(now, sockets, (socket, since)),
            SenderStep::Sending(run) => self.sending(now, sockets, run),
            SenderStep::Printing(run) => {
                sockets.print(self.print.unwrap_or_default().as_bytes());
                self.step = SenderStep::Sending(run);
                Wait::Again
            }
        }
    }
}

/// Takes whatever comes over TCP, on `FLOWS` connections at a time, `N` bytes a read (netcat). It
/// never ends. Counters: `sink-bytes`; `refused-streams`, connections beyond `FLOWS`; `failed`, the port is
/// taken.
#[derive(Clone, Debug)]
pub struct TcpSink<const N: usize = 16384, const FLOWS: usize = 4> {
    port: u16,
    listener: Option<SocketId>,
    streams: [Option<SocketId>; FLOWS],
    /// Whose turn it is.
    turn: usize,
    buf: [u8; N],
}

impl<const N: usize, const FLOWS: usize> TcpSink<N, FLOWS> {
    /// Creates a sink on `port`.
    #[must_use]
    pub const fn new(port: u16) -> Self {
        Self { port, listener: None, streams: [None; FLOWS], turn: 0, buf: [0; N] }
    }
}

impl<const N: usize, const FLOWS: usize> App for TcpSink<N, FLOWS> {
    fn poll(&mut self, _now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let listener = match opened(&mut self.listener, sockets, |it| it.tcp_listen(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if let Some((stream, _)) = sockets.tcp_accept(listener) {
            match self.streams.iter_mut().find(|place| place.is_none()) {
                Some(place) => *place = Some(stream),
                None => {
                    sockets.close(stream);
                    sockets.count("refused-streams", 1);
                }
            }
            return Wait::Again;
        }
        for _ in 0..FLOWS {
            let place = self.turn;
            self.turn = (self.turn + 1) % FLOWS;
            let Some(stream) = self.streams[place] else { continue };
            match sockets.tcp_receive(stream, &mut self.buf) {
                Ok(0) if sockets.tcp_stream(stream) == StreamState::Open => {}
                Ok(0) | Err(_) => {
                    self.streams[place] = None;
                    sockets.close(stream);
                    return Wait::Again;
                }
                Ok(len) => {
                    sockets.count("sink-bytes", len as u64);
                    return Wait::Again;
                }
            }
        }
        Wait::Change
    }
}
