//! A publisher as Smooth's MQTT client is one.
//!
//! | module | contents |
//! |---|---|
//! | `client` | the client task: the list of messages, and the answers that it waits for |
//! | `dispatcher` | the dispatcher's task: the transmit buffer, and the socket |

mod client;
mod dispatcher;

use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::node::mqtt::payload;
use client::ClientTask;
use dispatcher::Dispatcher;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{MqttMode, MqttRate};

/// The settings of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothSetup {
    /// The cell: quality of service, size, offered rate, time, count. Version and queue are
    /// Smooth's own. At saturation it publishes whenever the list has room.
    pub work: MqttRate,
    /// The link named in the samples.
    pub link: Link,
    /// Topic.
    pub topic: &'static str,
    /// Client identifier.
    pub client_id: &'static str,
    /// Whether it also subscribes to its own topic, as the example does.
    pub subscribes: bool,
    /// With this seed, the quality of service of each message is drawn, each as likely, as in the
    /// example's `send_message`; that of the cell is then the subscription's alone.
    pub draws: Option<u64>,
    /// Once all are due: how long the list may take to empty.
    pub drain: Duration,
}

/// Numbered messages through Smooth's MQTT client (`lib/smooth` of PerMalmberg/Smooth, v1).
///
/// Its rate comes from this mechanism, and from no constant of a rate:
///
/// - `publish` puts a message on a list of ten (`SMOOTH_MAX_MQTT_OUTGOING_MESSAGES`), or refuses it:
///   then it is lost for [`Cause::ApplicationQueue`].
/// - Only the client task's `tick` sends a message, the first on the list. It stays there until
///   PUBACK or PUBCOMP comes (QoS 0: until it is in the transmit buffer), and the next one goes with
///   a later tick (`Publication::publish_next`).
/// - The tick comes when the task has waited 50 ms without an event, or finds after an event that
///   more than 50 ms have passed since the last one (`Task::exec`). Each event begins the wait anew:
///   a packet that was sent, one that came, a timer.
/// - All sockets belong to another task of a higher priority, which sits in `select` for up to 10 ms
///   and asks whether a socket can be written to only where there was something to send when it sat
///   down (`SocketDispatcher::build_sets`). What is put into the transmit buffer meanwhile waits.
///   It reads a packet in three steps: its first byte, its length, the rest.
///
/// - FreeRTOS counts milliseconds, and both tasks wake with a tick: `select` after its tenth
///   (`xSemaphoreTake`), the client task with the first that is not before its 50 ms are over
///   (`condition_variable::wait_until` asks the clock again, and waits on).
///
/// So the next tick finds the dispatcher 9 ms before the end of a `select` that began without
/// anything to send, PUBREL waits for another, and a message of QoS 2 takes 51 + 9 + 10 ms and two
/// round trips; one of QoS 1 takes 60 ms and one, one of QoS 0 takes 60 ms.
///
/// Where both tasks could go on at once, the dispatcher does: it has the higher priority. Nagle's
/// algorithm is off (`set_no_delay`). After five seconds without an answer it disconnects, and it
/// connects again five seconds after a connection is gone; sessions are clean, so what was on its
/// way then is lost.
///
/// Packets of up to 512 bytes; with longer ones it ends at once. It records a sample a message, and the sender's total. Counters: `failed`, no connection;
/// `disconnects`.
#[derive(Clone, Debug)]
pub struct SmoothMqtt {
    setup: SmoothSetup,
    broker: Endpoint,
    publisher: PublisherTask,
    client: ClientTask,
    dispatcher: Dispatcher,
}

/// The application's own task, which calls `publish`.
#[derive(Clone, Copy, Debug)]
struct PublisherTask {
    /// When the first message was due; from the broker's CONNACK on.
    start: Option<Instant>,
    /// Messages that came due.
    due: u64,
    /// When the last one did.
    last: Instant,
}

/// A message on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SmoothMessage {
    seq: u64,
    qos: u8,
    due: Instant,
    queued: Instant,
    sent: Option<Instant>,
}

/// A packet in the transmit buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueuedPacket {
    Connect,
    Subscribe,
    Publish {
        message: SmoothMessage,
        id: u16,
    },
    /// PUBACK, PUBREC, PUBREL or PUBCOMP.
    Answer {
        kind: u8,
        id: u16,
    },
    Ping,
    Disconnect,
}

/// An event that the dispatcher tells the client task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DispatcherEvent {
    Connected,
    Disconnected,
    /// A packet left, as a whole.
    Sent,
    /// CONNACK, with its code.
    Accepted(u8),
    /// SUBACK.
    Subscribed,
    /// PUBLISH.
    Message {
        qos: u8,
        id: u16,
    },
    /// PUBACK, PUBREC, PUBREL or PUBCOMP.
    Answer {
        kind: u8,
        id: u16,
    },
    /// PINGRESP, and what the client has no use for.
    Other,
    KeepAlive,
}

impl SmoothMqtt {
    /// `CONFIG_SMOOTH_MAX_MQTT_OUTGOING_MESSAGES`.
    pub const QUEUE: usize = 10;
    /// The client task's tick (`MqttClient`'s constructor).
    pub const TICK: Duration = Duration::from_millis(50);
    /// Bytes of a packet: `CONFIG_SMOOTH_MAX_MQTT_MESSAGE_SIZE` and its header.
    pub const PACKET: usize = dispatcher::PACKET;
    /// Longest time that the dispatcher sits in `select` (`set_timeout`).
    pub const SELECT: Duration = Duration::from_millis(10);

    /// Creates a client of the broker at `broker`.
    #[must_use]
    pub const fn new(setup: SmoothSetup, broker: Endpoint) -> Self {
        Self {
            setup,
            broker,
            publisher: PublisherTask { start: None, due: 0, last: Instant::ZERO },
            client: ClientTask::new(),
            dispatcher: Dispatcher::new(),
        }
    }

    /// Returns when the next message is due; `None` at saturation.
    fn due(&self, start: Instant) -> Option<Instant> {
        let MqttMode::Offered(rate) = self.setup.work.mode else { return None };
        let nanos = self.publisher.due as f64 * 1e9 / rate;
        Some(start + Duration::from_nanos(nanos as u64))
    }

    /// Publishes the messages that are due; answers when the next one is, `None` when all are
    /// published.
    fn publish(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Option<Instant> {
        let Some(start) = self.publisher.start else { return Some(Instant::NEVER) };
        let work = self.setup.work;
        loop {
            let end = start + work.time;
            if work.count.is_some_and(|count| self.publisher.due >= count.into()) {
                return None;
            }
            let due = match self.due(start) {
                Some(due) if due >= end => return None,
                Some(due) if due > now => return Some(due),
                Some(due) => due,
                None if now >= end => return None,
                None if !self.client.has_room() => return Some(end),
                None => now,
            };
            let seq = self.publisher.due;
            self.publisher.due += 1;
            self.publisher.last = due;
            let qos = self.setup.qos(seq);
            let message = SmoothMessage { seq, qos, due, queued: now, sent: None };
            if !self.client.publish(message) {
                let fate = Fate::Lost(Cause::ApplicationQueue);
                sockets.sample(self.setup.sample(&message, None, fate));
            }
        }
    }

    /// Ends it: what is on the list is lost.
    fn finish(&mut self, sockets: &mut dyn Sockets, cause: Cause) -> Wait {
        while let Some(message) = self.client.take() {
            sockets.sample(self.setup.sample(&message, None, Fate::Lost(cause)));
        }
        if let Some(start) = self.publisher.start {
            let due = self.publisher.due;
            let end = self
                .due(start)
                .map_or(self.publisher.last, |end| end.min(start + self.setup.work.time));
            sockets.sample(Sample::Interval(Interval {
                link: self.setup.link,
                total: true,
                observer: Observer::Sender,
                start,
                end,
                bytes: due * u64::from(self.setup.work.size),
                datagrams: Some(due),
                ..Interval::default()
            }));
        }
        self.dispatcher.close(sockets, &self.setup, cause);
        Wait::Done
    }

    /// Tells whether the test is over, and for what cause the remaining messages are lost.
    fn is_over(&self, now: Instant, more: bool) -> Option<Cause> {
        // First byte, length, topic, identifier, and the message.
        let packet = 1 + 4 + 2 + self.setup.topic.len() + 2 + self.setup.work.size as usize;
        let unfit = packet > dispatcher::PACKET || self.setup.work.mode == MqttMode::Listen;
        if unfit || self.client.refused() {
            return Some(Cause::Disconnected);
        }
        let drained = self.client.is_empty() && self.dispatcher.is_empty();
        let late = now >= self.publisher.last.max(self.client.progress()) + self.setup.drain;
        (!more && (drained || late)).then_some(Cause::Unknown)
    }
}

impl App for SmoothMqtt {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let due = self.publish(now, sockets);
        if let Some(cause) = self.is_over(now, due.is_some()) {
            return self.finish(sockets, cause);
        }
        let select =
            match self.dispatcher.poll(now, sockets, &self.setup, self.broker, &mut self.client) {
                Wait::Until(at) => at,
                wait => return wait,
            };
        let client = match self.client.poll(now, sockets, &self.setup, &mut self.dispatcher) {
            Wait::Until(at) => at,
            wait => return wait,
        };
        if self.publisher.start.is_none() && self.client.is_running() {
            self.publisher.start = Some(now);
            self.publisher.last = now;
            return Wait::Again;
        }
        let last = self.publisher.last.max(self.client.progress()) + self.setup.drain;
        Wait::Until(select.min(client).min(due.unwrap_or(last)))
    }
}

/// FreeRTOS's tick: Smooth does not build with another.
const TICK_NS: u64 = 1_000_000;

/// Returns the tick that ends a wait of so many ticks.
fn ticks_after(now: Instant, wait: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos() / TICK_NS * TICK_NS) + wait
}

/// Returns the first tick that is not before `at`.
fn tick_from(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().div_ceil(TICK_NS) * TICK_NS)
}

/// Scatters the bits of `state`: the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA
/// 2014).
const fn scatter(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}

impl SmoothSetup {
    /// Returns the quality of service of a message.
    fn qos(&self, seq: u64) -> u8 {
        let Some(seed) = self.draws else { return self.work.qos };
        (scatter(seed.wrapping_add(seq.wrapping_mul(0x9E37_79B9_7F4A_7C15))) % 3) as u8
    }

    /// Returns the sample of a message.
    fn sample(&self, message: &SmoothMessage, acked: Option<Instant>, fate: Fate) -> Sample {
        let dropped = fate == Fate::Lost(Cause::ApplicationQueue);
        Sample::Probe(Probe {
            link: self.link,
            seq: message.seq,
            bytes: self.work.size,
            due: message.due,
            queued: (!dropped).then_some(message.queued),
            sent: message.sent,
            acked,
            fate,
            ..Probe::default()
        })
    }

    /// Writes the bytes of a message.
    fn fill(&self, to: &mut [u8], message: &SmoothMessage) {
        payload::fill(to, message.seq, message.queued);
    }
}
