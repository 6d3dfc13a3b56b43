//! A publisher as Smooth's MQTT client is one.

use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::sample::Link;
use crate::time::{Duration, Instant};
use crate::workload::MqttRate;

/// What the program publishes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothSetup {
    /// The cell: quality of service, size, offered rate, time. The queue is Smooth's own.
    pub work: MqttRate,
    /// The link named in the samples.
    pub link: Link,
    /// Topic.
    pub topic: &'static str,
    /// Client identifier.
    pub client_id: &'static str,
    /// Whether it also subscribes to its own topic, as the example does.
    pub subscribes: bool,
}

/// Numbered messages through Smooth's MQTT client (`lib/smooth` of PerMalmberg/Smooth).
///
/// Its rate comes from this mechanism, and from no constant of a rate:
///
/// - `publish` puts a message on a list of ten (`SMOOTH_MAX_MQTT_OUTGOING_MESSAGES`) or refuses it.
/// - Only the client task's `tick` sends, one message: the first on the list, which leaves it when
///   PUBACK or PUBCOMP comes (QoS 0: at once). The next goes with a later tick.
/// - The tick comes when the task has waited 50 ms without an event, or when more than 50 ms have
///   passed since the last. Each event (a packet that was sent or came) begins the wait anew.
/// - All sockets belong to another task, which sits in `select` for up to 10 ms; what is put into
///   the transmit buffer meanwhile leaves after that.
#[derive(Clone, Debug)]
pub struct SmoothMqtt {
    setup: SmoothSetup,
    broker: Endpoint,
}

impl SmoothMqtt {
    /// `CONFIG_SMOOTH_MAX_MQTT_OUTGOING_MESSAGES`.
    pub const QUEUE: usize = 10;
    /// The client task's tick (`MqttClient`'s constructor).
    pub const TICK: Duration = Duration::from_millis(50);
    /// How long `SocketDispatcher` sits in `select` (`set_timeout`).
    pub const SELECT: Duration = Duration::from_millis(10);

    /// A client of the broker at `broker`.
    #[must_use]
    pub const fn new(setup: SmoothSetup, broker: Endpoint) -> Self {
        Self { setup, broker }
    }
}

impl App for SmoothMqtt {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}
