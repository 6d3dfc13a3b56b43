//! MQTT programs: two publishers, a subscriber, a broker.
//!
//! The clients are the machines of [`node::mqtt`](crate::node::mqtt) over a socket, with memory that
//! is lent to them. What a publisher records is one sample a message with its stages as far as that
//! end knows them: due, queued, sent, acked; the message that never entered the queue is lost for
//! [`Cause::ApplicationQueue`](crate::sample::Cause). What became of it at the subscriber is the
//! [`MqttListener`]'s to record. [`join`] makes one sample of both, where they share a clock.

mod broker;
mod listen;
mod memory;
mod pipe;
mod publish;
mod smooth;

pub use broker::Broker;
pub use listen::MqttListener;
pub use memory::{ListenerMemory, PublisherMemory};
pub use publish::Mqtt;
pub use smooth::{SmoothMqtt, SmoothSetup};

use crate::sample::{Cause, Fate, Probe};

/// The sample of a message from what its publisher and its subscriber recorded, on one clock.
///
/// A message that arrived is delivered (or came twice, or changed), whatever the publisher heard of
/// it. One that did not is lost: for the publisher's cause, or, where that end saw the broker take
/// it, in the broker.
#[must_use]
pub fn join(published: &Probe, received: Option<&Probe>) -> Probe {
    match (received, published.fate) {
        (Some(arrived), _) if !matches!(arrived.fate, Fate::Lost(_)) => Probe {
            received: arrived.received,
            stamped: arrived.stamped,
            fate: arrived.fate,
            ..*published
        },
        (_, Fate::Lost(_)) => *published,
        _ => Probe { fate: Fate::Lost(Cause::Broker), ..*published },
    }
}
