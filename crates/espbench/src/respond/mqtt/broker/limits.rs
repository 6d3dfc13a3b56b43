//! Limits of the broker, and the counts of what did not fit.

use std::time::Duration;

/// Most that the broker holds. Bytes are counted with an allowance for what surrounds the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerLimits {
    /// Bytes in all; all others are within it.
    pub memory: usize,
    /// Bytes of retained messages.
    pub retained: usize,
    /// Bytes of messages that wait for clients, in all.
    pub queues: usize,
    /// Bytes of messages that wait for one client, whether it is connected or away.
    pub queue: usize,
    /// Bytes of a packet from a client.
    pub packet: usize,
    /// Clients connected at once.
    pub connections: usize,
    /// Sessions, of clients connected or away.
    pub sessions: usize,
    /// Subscriptions of all sessions.
    pub subscriptions: usize,
    /// Time that a connection has for its CONNECT, and a leaving one to take what it is owed.
    pub patience: Duration,
    /// Time for which a publisher of QoS 1 and 2 messages waits for a slow subscriber.
    pub backpressure: Duration,
}

impl BrokerLimits {
    /// Bytes in all where nothing else is said.
    pub const MEMORY: usize = 192_000_000;

    /// Divides so many bytes: a third for retained messages, a third for queues, the rest for all else.
    #[must_use]
    pub const fn of(memory: usize) -> Self {
        Self {
            memory,
            retained: memory / 3,
            queues: memory / 3,
            queue: memory / 12,
            packet: 2_000_000,
            connections: 2_000,
            sessions: 10_000,
            subscriptions: 100_000,
            patience: Duration::from_secs(10),
            backpressure: Duration::from_secs(2),
        }
    }
}

impl Default for BrokerLimits {
    fn default() -> Self {
        Self::of(Self::MEMORY)
    }
}

macro_rules! counts {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// The counters of the broker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum BrokerCounter { $(#[doc = $doc] $variant,)* }

        impl BrokerCounter {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns its name in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns what is counted, in words.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

counts! {
    Received "broker-received" "messages received",
    Sent "broker-sent" "messages passed on",
    DroppedQueue "broker-dropped-queue" "messages dropped: the subscriber's queue was full",
    DroppedMemory "broker-dropped-memory" "messages dropped: no memory was left for queues",
    DroppedAway "broker-dropped-away" "messages dropped: QoS 0, and the subscriber away",
    DroppedGone "broker-dropped-gone" "messages dropped: the subscriber left before they were sent",
    DroppedSize "broker-dropped-size" "messages dropped: above the subscriber's maximum packet size",
    DroppedExpired "broker-dropped-expired" "messages dropped: they expired",
    RetainedRefused "broker-retained-refused" "messages not retained: no memory was left for them",
    ConnectionsRefused "broker-connections-refused" "connections refused: too many",
    SessionsRefused "broker-sessions-refused" "clients refused: no room for their session",
    SessionsDiscarded "broker-sessions-discarded" "sessions of clients away given up for others",
    SubscriptionsRefused "broker-subscriptions-refused" "subscriptions refused: too many, or too long",
    InputRefused "broker-input-refused" "connections closed: no memory was left for their packet",
    NotMqtt "broker-not-mqtt" "connections that did not speak MQTT",
    Faults "broker-faults" "clients that broke the standard",
    TakenOver "broker-taken-over" "connections closed: another used the client identifier",
    TimedOut "broker-timed-out" "connections closed: no packet came in time",
    Paused "broker-paused" "times that a publisher had to wait for a slow subscriber",
}

/// Counts of one broker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokerCounts([u64; BrokerCounter::ALL.len()]);

impl BrokerCounts {
    /// Adds `by`.
    pub const fn add(&mut self, what: BrokerCounter, by: u64) {
        self.0[what as usize] += by;
    }

    /// Returns one.
    #[must_use]
    pub const fn get(&self, what: BrokerCounter) -> u64 {
        self.0[what as usize]
    }
}
