//! `espnow_iperf`: throughput and ping, as initiator and as responder (`cmd_iperf.c` of the
//! component; section 7.4 of the protocol reference).
//!
//! | module | contents |
//! |---|---|
//! | `figure` | numbers as C's `printf` writes them |
//! | `options` | options of the command, and its errors |
//! | `ping` | the initiator with `-p`: one ping after the other, and the report |
//! | `responder` | the responder: answers pings, counts messages, answers STOP |
//! | `stream` | the initiator of a throughput test: messages as fast as possible, STOP, and the report |
//!
//! All roles are one part, since the device has one running flag, one queue and one task. Its lines
//! are the component's, with the component's ways of counting; its samples are what really
//! happened.
//!
//! # What is recorded
//!
//! | role | samples |
//! |---|---|
//! | ping | one `Probe` for each ping; a late answer makes it late; each further answer is a duplicate of its own |
//! | throughput, unicast or `-A` | one `Probe` for each attempt, numbered by attempt, since a failed one is tried again with the same number; intervals and total as `Sender` |
//! | throughput, broadcast | intervals and total as `Sender`; no probes: the sender does not learn the fate of a message, and neither delivered nor lost would be true |
//! | responder | intervals and total as `Receiver`, with losses by gaps in the numbers up to the number in STOP; no probes, since their times are of the sender's clock |
//!
//! A message that the MAC acknowledged counts as delivered to the sender; whether it reached the
//! application is in the receiver's intervals. Jitter is never recorded: the messages carry no
//! time, and the figure that the component prints under that name is the mean spacing.
//!
//! # Where it differs from the component
//!
//! | component | here |
//! |---|---|
//! | `-l` below 8 corrupts memory, above the limit fails every send | refused with a line |
//! | answers to a ping carry the ping's filler | the filler is zeros, which is what initiators send |
//! | a frame below 8 bytes is read beyond its end | it is counted in [`IperfDropped::short`] |
//! | after `-a` a new test can start while the old one still waits, and both share a queue | "is running" until it has ended |
//! | a send that is refused at once is tried again without a pause | one tick's pause |
//! | `-t` above 2147 overflows | lasts as requested |
//! | never encrypted | encrypted where `Settings::encrypt.debug` says so, as the published test report measured it |

mod figure;
mod options;
mod ping;
mod responder;
mod stream;
#[cfg(test)]
mod tests;

pub use options::{IperfDropped, IperfOptions, StartError};

use super::print::LogLevel;
use super::task::{Cx, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use crate::component::FrameConfig;
use crate::component::iperf::{IPERF_LEN, IperfHead};
use crate::console::command::BadMac;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use heapless::Deque;
use ping::PingTask;
use responder::IperfResponder;
use stream::StreamTask;

/// Log tag of the component.
const TAG: &str = "iperf_cmd";
/// Greatest number of messages that wait to be handled (`IPERF_QUEUE_SIZE`).
pub const QUEUE: usize = 10;
/// Rule between the lines at the start.
const RULE: &str = "------------------------------------------------------------";

/// Options that both roles use.
#[derive(Clone, Copy, Debug)]
struct TestSetup {
    /// Address of the other end; as on the device, the sender of the last message.
    peer: Mac,
    len: u16,
    interval: u16,
    time: u16,
    count: u32,
    gpio: Option<u8>,
    config: FrameConfig,
    /// Whether the sender learns the fate of a message: unicast, or with acknowledgements.
    told: bool,
}

impl TestSetup {
    const OFF: Self = Self {
        peer: Mac::ZERO,
        len: 0,
        interval: 3,
        time: 60,
        count: 64,
        gpio: None,
        config: FrameConfig::UNICAST,
        told: false,
    };

    fn pin(&self, cx: &mut Cx<'_>, high: bool) {
        if let Some(number) = self.gpio {
            cx.board.pin(number, high);
        }
    }

    /// Logs when the pin fell and rose for a ping, in microseconds since the start: once the ping is over,
    /// so that the line takes no time of it. The component does not; on a device's console it needs
    /// the level DEBUG.
    fn log_edges(&self, cx: &mut Cx<'_>, seq: u32, low: Instant, high: Option<Instant>) {
        if self.gpio.is_none() {
            return;
        }
        let us = |at: Instant| at.as_nanos() / 1000;
        let low = us(low);
        match high {
            Some(high) => {
                let text = format_args!("edges: seq={seq}, low={low} us, high={} us", us(high));
                cx.log(LogLevel::Debug, TAG, text);
            }
            None => cx.log(LogLevel::Debug, TAG, format_args!("edges: seq={seq}, low={low} us")),
        }
    }

    fn outgoing(&self, cx: &Cx<'_>, config: FrameConfig, len: usize) -> SendRequest {
        let security = cx.shared.settings.encrypt.debug;
        SendRequest {
            data_type: cx.shared.settings.compat.iperf_type(),
            dest: self.peer,
            config: FrameConfig { security, ..config },
            magic: 0,
            len,
            wait: Duration::MAX,
        }
    }
}

/// A message in the queue, without its filler.
#[derive(Clone, Copy, Debug)]
struct QueuedMessage {
    head: IperfHead,
    from: Mac,
    len: u16,
    rssi: i8,
    channel: u8,
    at: Instant,
}

type MessageQueue = Deque<QueuedMessage, QUEUE>;

/// Current activity of the part.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "as large as its largest role: nothing allocates")]
enum Activity {
    Off,
    /// Started with a bad address: nothing runs, and the running flag is set.
    Stuck,
    Responding,
    Ping(PingTask),
    Stream(StreamTask),
}

/// Part of a node that implements `espnow_iperf`.
#[derive(Debug)]
pub struct IperfTask {
    activity: Activity,
    setup: TestSetup,
    /// Whether `-a` was given: an initiator ends at the next message.
    finish: bool,
    queue: MessageQueue,
    responder: IperfResponder,
    /// Counts of messages that were not handled.
    pub dropped: IperfDropped,
}

impl Default for IperfTask {
    fn default() -> Self {
        Self {
            activity: Activity::Off,
            setup: TestSetup::OFF,
            finish: false,
            queue: MessageQueue::new(),
            responder: IperfResponder::default(),
            dropped: IperfDropped::default(),
        }
    }
}

impl IperfTask {
    /// Executes the command. Run the part after it.
    pub fn start(&mut self, cx: &mut Cx<'_>, options: &IperfOptions) -> Result<(), StartError> {
        if self.is_running() {
            cx.log(LogLevel::Warn, TAG, format_args!("ESPNOW iperf is running"));
            return Err(StartError::Running);
        }
        if options.initiator.is_some() == options.responder {
            cx.log(LogLevel::Warn, TAG, format_args!("Should specific initiator/responder mode"));
            return Err(StartError::Role);
        }
        let most = cx.shared.settings.compat.data_max();
        let len = options.len.map_or(most, usize::from);
        if options.initiator.is_some() && !(IPERF_LEN..=most).contains(&len) {
            let text = format_args!("len: {len} is not within {IPERF_LEN} and {most}");
            cx.log(LogLevel::Error, TAG, text);
            return Err(StartError::Length);
        }
        self.configure(cx, options, len as u16);
        match options.initiator {
            None => self.respond(cx),
            Some(to) => return self.initiate(cx, to, options.ping),
        }
        Ok(())
    }

    fn configure(&mut self, cx: &mut Cx<'_>, options: &IperfOptions, len: u16) {
        let copies = options.broadcast.unwrap_or(0) & 0x1F;
        let broadcast = options.broadcast.is_some();
        let config = FrameConfig {
            broadcast,
            copies,
            group: options.group,
            ack: options.ack,
            ..FrameConfig::UNICAST
        };
        self.setup = TestSetup {
            peer: self.setup.peer,
            len,
            interval: options.interval,
            time: options.time,
            count: options.count,
            gpio: options.gpio,
            config,
            told: !broadcast || options.ack,
        };
        self.setup.pin(cx, true);
        self.finish = false;
        self.queue.clear();
    }

    fn respond(&mut self, cx: &mut Cx<'_>) {
        let own = cx.shared.air.mac;
        cx.log(LogLevel::Info, TAG, format_args!("{RULE}"));
        cx.log(LogLevel::Info, TAG, format_args!("responder {own} listening"));
        // A fixed text of the component, whatever the limit is.
        cx.log(LogLevel::Info, TAG, format_args!("ESP-NOW window size: 230 bytes"));
        cx.log(LogLevel::Info, TAG, format_args!("{RULE}"));
        listen(cx, true);
        let head = "[  Initiator MAC  ] Interval       Transfer     Bandwidth   RSSI";
        cx.log(LogLevel::Info, TAG, format_args!("{head}"));
        self.activity = Activity::Responding;
        self.responder.open(self.setup.interval);
    }

    fn initiate(
        &mut self,
        cx: &mut Cx<'_>,
        to: Result<Mac, BadMac>,
        ping: bool,
    ) -> Result<(), StartError> {
        let Ok(peer) = to else {
            let text = "[espnow_iperf_func, 643] <ESP_ERR_INVALID_ARG> not an address";
            cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
            self.activity = Activity::Stuck;
            return Err(StartError::Address);
        };
        self.setup.peer = peer;
        let (own, channel) = (cx.shared.air.mac, cx.shared.air.channel);
        let TestSetup { time, interval, len, .. } = self.setup;
        cx.log(LogLevel::Info, TAG, format_args!("{RULE}"));
        cx.log(LogLevel::Info, TAG, format_args!("initiator {own} send to {peer}"));
        cx.log(LogLevel::Info, TAG, format_args!("espnow channel: {channel}"));
        cx.log(LogLevel::Info, TAG, format_args!("{RULE}"));
        let text = format_args!("time: {time}, interval: {interval}, len: {len}");
        cx.log(LogLevel::Info, TAG, text);
        listen(cx, true);
        self.activity = if ping {
            Activity::Ping(PingTask::new(cx.now))
        } else {
            Activity::Stream(StreamTask::new(cx.now))
        };
        Ok(())
    }

    /// Executes `-a`: a responder stops at once; an initiator ends after the message or wait that
    /// it is in, with its report. Run the part after it.
    pub fn abort(&mut self) {
        match self.activity {
            Activity::Off => {}
            // The type stays enabled, as on the device.
            Activity::Stuck | Activity::Responding => self.activity = Activity::Off,
            Activity::Ping(_) | Activity::Stream(_) => self.finish = true,
        }
    }

    /// Returns whether a test is running: a new one is refused.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        !matches!(self.activity, Activity::Off)
    }

    /// Returns whether the part is a responder. A responder works inside the component's main task:
    /// run the part until it is idle before the next frame is handled. An initiator has a task of
    /// its own.
    #[must_use]
    pub const fn is_responder(&self) -> bool {
        matches!(self.activity, Activity::Responding)
    }

    /// Takes a frame of `Compat::iperf_type`. Run the part after it.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if matches!(self.activity, Activity::Off | Activity::Stuck) {
            return;
        }
        let Some(head) = IperfHead::parse(frame.data) else {
            self.dropped.short = self.dropped.short.saturating_add(1);
            return;
        };
        let heard = QueuedMessage {
            head,
            from: frame.from,
            len: u16::try_from(frame.data.len()).unwrap_or(u16::MAX),
            rssi: frame.rssi,
            channel: frame.channel,
            at: frame.at,
        };
        if self.queue.push_back(heard).is_err() {
            self.dropped.queue = self.dropped.queue.saturating_add(1);
            if !self.is_responder() {
                let text = "[espnow_iperf_initiator_recv, 233] Send iperf recv queue failed";
                cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
            }
        }
    }

    /// Ends the initiator's task.
    fn end(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.activity = Activity::Off;
        self.queue.clear();
        listen(cx, false);
        TaskStep::Idle
    }
}

impl Task for IperfTask {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let Self { activity, setup, finish, queue, responder, dropped } = self;
        let step = match activity {
            Activity::Off | Activity::Stuck => return responder.close(cx),
            Activity::Responding => return responder.run(cx, setup, queue, dropped),
            Activity::Ping(ping) => ping.run(cx, setup, queue, *finish),
            // A flow that an earlier responder recorded is closed first: the samples of one node do
            // not overlap.
            Activity::Stream(stream) => match responder.close(cx) {
                TaskStep::Idle => stream.run(cx, setup, queue, *finish),
                other => Some(other),
            },
        };
        step.unwrap_or_else(|| self.end(cx))
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        match &mut self.activity {
            Activity::Off | Activity::Stuck => self.responder.compose(cx, &self.setup, payload),
            Activity::Responding => self.responder.compose(cx, &self.setup, payload),
            Activity::Ping(ping) => ping.compose(cx, &self.setup, payload),
            Activity::Stream(stream) => stream.compose(cx, &self.setup, payload),
        }
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        match &mut self.activity {
            Activity::Ping(ping) => ping.sent(cx, outcome),
            Activity::Stream(stream) => stream.sent(cx, outcome),
            _ => self.responder.sent(cx, &self.setup, outcome),
        }
    }
}

/// Enables or disables the reception of the type.
fn listen(cx: &mut Cx<'_>, on: bool) {
    let data_type = cx.shared.settings.compat.iperf_type();
    cx.shared.air.listen(data_type, on);
}

/// Returns whole microseconds since start, as `esp_timer_get_time` does.
fn micros(now: Instant) -> i64 {
    (now.as_nanos() / 1000).cast_signed()
}

/// Returns the whole milliseconds between two readings of `esp_timer_get_time`, in 32 bits.
fn millis_since(now: Instant, start: Instant) -> u32 {
    (micros(now).wrapping_sub(micros(start)) / 1000) as u32
}

/// Returns the name of a send's result, as `esp_err_to_name` does.
fn error_name(outcome: TransmitOutcome) -> &'static str {
    match outcome {
        TransmitOutcome::Done { .. } => "ESP_OK",
        TransmitOutcome::TimedOut => "ESP_ERR_WIFI_TIMEOUT",
        TransmitOutcome::Failed => "ESP_FAIL",
        TransmitOutcome::Refused => "ESP_ERR_INVALID_ARG",
    }
}
