//! `MqttClient`'s task: the list of messages, the tick, the answers.

use super::dispatcher::Dispatcher;
use super::{DispatcherEvent, QueuedPacket, SmoothMessage, SmoothMqtt, SmoothSetup, tick_from};
use crate::node::app::{Sockets, Wait};
use crate::wire::mqtt::kind;
use espbench_model::sample::{Cause, Fate};
use espbench_model::time::{Duration, Instant};
use heapless::Deque;

/// Without an answer for so long the client disconnects (`publish_next`), and after so long it
/// connects again (`reconnect_timer`).
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The example's keep-alive, of which a PINGREQ goes out every half (`set_keep_alive_timer`).
pub(super) const KEEP_ALIVE: u16 = 10;
/// Events of each sort that the task's queues hold (`BufferContainer`); the sum of them.
const EVENTS: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientTaskState {
    /// No connection.
    Idle,
    /// CONNECT was sent.
    Opening,
    /// The first tick has yet to come, which sends nothing.
    Fresh,
    Running,
    /// The broker refused the connection.
    Refused,
}

#[derive(Clone, Debug)]
pub(super) struct ClientTask {
    state: ClientTaskState,
    events: Deque<DispatcherEvent, EVENTS>,
    list: Deque<SmoothMessage, { SmoothMqtt::QUEUE }>,
    /// The first on the list was sent then, and waits for an answer of that kind.
    awaits: Option<(u8, Instant)>,
    id: u16,
    /// `delayed`: the last tick.
    ticked: Instant,
    /// The task waits for an event until then.
    waits: Option<Instant>,
    ping: Instant,
    subscribed: Option<bool>,
    progress: Instant,
}

impl ClientTask {
    pub(super) const fn new() -> Self {
        Self {
            state: ClientTaskState::Idle,
            events: Deque::new(),
            list: Deque::new(),
            awaits: None,
            id: 0,
            ticked: Instant::ZERO,
            waits: None,
            ping: Instant::NEVER,
            subscribed: None,
            progress: Instant::ZERO,
        }
    }

    pub(super) fn has_room(&self) -> bool {
        !self.list.is_full()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn is_running(&self) -> bool {
        self.state == ClientTaskState::Running
    }

    pub(super) fn refused(&self) -> bool {
        self.state == ClientTaskState::Refused
    }

    /// Returns when something last happened to a message.
    pub(super) const fn progress(&self) -> Instant {
        self.progress
    }

    /// Queues a message, as `Publication::publish` does.
    pub(super) fn publish(&mut self, message: SmoothMessage) -> bool {
        self.list.push_back(message).is_ok()
    }

    pub(super) fn take(&mut self) -> Option<SmoothMessage> {
        self.awaits = None;
        self.list.pop_front()
    }

    /// Puts an event of the dispatcher into the queue; without room for it, it is lost.
    pub(super) fn tell(&mut self, event: DispatcherEvent) {
        if event == DispatcherEvent::Disconnected {
            // `BufferContainer::clear`.
            self.events.clear();
        }
        let _ = self.events.push_back(event);
    }

    /// Notes that a message's packet left at `at`.
    pub(super) fn left(&mut self, seq: u64, at: Instant) {
        self.progress = at;
        if let Some(first) = self.list.front_mut()
            && first.seq == seq
        {
            first.sent = Some(at);
        }
    }

    /// Runs one round of the task (`Task::exec`).
    pub(super) fn poll(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        out: &mut Dispatcher,
    ) -> Wait {
        if now >= self.ping {
            self.ping = now + Duration::from_secs(KEEP_ALIVE.into()) / 2;
            self.tell(DispatcherEvent::KeepAlive);
        }
        let Some(until) = self.waits else {
            // Between two rounds.
            if now.since(self.ticked) > SmoothMqtt::TICK {
                self.tick(now, sockets, setup, out);
            } else {
                self.waits = Some(tick_from(now + SmoothMqtt::TICK));
            }
            return Wait::Again;
        };
        if let Some(event) = self.events.pop_front() {
            self.waits = None;
            self.take_event(now, sockets, setup, out, event);
            return Wait::Again;
        }
        if now >= until {
            self.waits = None;
            self.tick(now, sockets, setup, out);
            return Wait::Again;
        }
        Wait::Until(until.min(self.ping))
    }

    fn tick(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        out: &mut Dispatcher,
    ) {
        self.ticked = now;
        match self.state {
            ClientTaskState::Fresh => self.state = ClientTaskState::Running,
            ClientTaskState::Running => {
                self.publish_next(now, sockets, out);
                // `subscribe_next`: one at a time.
                if setup.subscribes && self.subscribed.is_none() && out.put(QueuedPacket::Subscribe)
                {
                    self.subscribed = Some(false);
                }
            }
            ClientTaskState::Idle | ClientTaskState::Opening | ClientTaskState::Refused => {}
        }
    }

    fn publish_next(&mut self, now: Instant, sockets: &mut dyn Sockets, out: &mut Dispatcher) {
        let Some(&message) = self.list.front() else { return };
        if let Some((_, since)) = self.awaits {
            if now.since(since) > PATIENCE {
                sockets.count("disconnects", 1);
                out.disconnect();
            }
            return;
        }
        let id = if message.qos == 0 { 0 } else { self.new_id() };
        if !out.put(QueuedPacket::Publish { message, id }) {
            return;
        }
        self.progress = now;
        match message.qos {
            // The dispatcher records it when it has left.
            0 => drop(self.list.pop_front()),
            1 => self.awaits = Some((kind::PUBACK, now)),
            _ => self.awaits = Some((kind::PUBREC, now)),
        }
    }

    fn new_id(&mut self) -> u16 {
        self.id = self.id.checked_add(1).unwrap_or(1);
        self.id
    }

    fn take_event(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        out: &mut Dispatcher,
        event: DispatcherEvent,
    ) {
        match event {
            DispatcherEvent::Connected => {
                self.state = ClientTaskState::Opening;
                self.ping = now + Duration::from_secs(KEEP_ALIVE.into()) / 2;
                out.put(QueuedPacket::Connect);
            }
            DispatcherEvent::Disconnected => self.disconnected(sockets, setup),
            DispatcherEvent::Accepted(0) => self.state = ClientTaskState::Fresh,
            DispatcherEvent::Accepted(_) => {
                sockets.count("failed", 1);
                self.state = ClientTaskState::Refused;
            }
            DispatcherEvent::Subscribed => self.subscribed = Some(true),
            DispatcherEvent::KeepAlive
                if matches!(self.state, ClientTaskState::Fresh | ClientTaskState::Running) =>
            {
                out.put(QueuedPacket::Ping);
            }
            DispatcherEvent::Message { qos: 0, .. } => {}
            DispatcherEvent::Message { qos: 1, id } => {
                out.put(QueuedPacket::Answer { kind: kind::PUBACK, id });
            }
            DispatcherEvent::Message { id, .. } => {
                out.put(QueuedPacket::Answer { kind: kind::PUBREC, id });
            }
            DispatcherEvent::Answer { kind: kind::PUBREL, id } => {
                out.put(QueuedPacket::Answer { kind: kind::PUBCOMP, id });
            }
            DispatcherEvent::Answer { kind, id } => {
                self.answer(now, sockets, setup, out, (kind, id))
            }
            DispatcherEvent::Sent | DispatcherEvent::Other | DispatcherEvent::KeepAlive => {}
        }
    }

    /// Handles PUBACK, PUBREC or PUBCOMP of the message that is on its way.
    fn answer(
        &mut self,
        now: Instant,
        sockets: &mut dyn Sockets,
        setup: &SmoothSetup,
        out: &mut Dispatcher,
        (kind, id): (u8, u16),
    ) {
        let Some((awaited, _)) = self.awaits else { return };
        if id != self.id || kind != awaited {
            return;
        }
        self.progress = now;
        if kind == kind::PUBREC {
            if out.put(QueuedPacket::Answer { kind: kind::PUBREL, id }) {
                self.awaits = Some((kind::PUBCOMP, now));
            }
            return;
        }
        if let Some(message) = self.take() {
            sockets.sample(setup.sample(&message, Some(now), Fate::Delivered));
        }
    }

    /// Handles the loss of a clean session: the message on its way is dropped, the rest goes later.
    fn disconnected(&mut self, sockets: &mut dyn Sockets, setup: &SmoothSetup) {
        self.state = ClientTaskState::Idle;
        self.ping = Instant::NEVER;
        self.subscribed = None;
        self.events.clear();
        if self.awaits.is_some()
            && let Some(message) = self.take()
        {
            sockets.sample(setup.sample(&message, None, Fate::Lost(Cause::Disconnected)));
        }
    }
}
